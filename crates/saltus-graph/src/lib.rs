//! Graph algorithms on integer indices. No Modelica, no recursion: depth is bounded by memory, not by the stack. Results
//! depend only on the input and its order. Indices are zero-based; an index out of range is a mistake of the caller.
//!
//! | module | question it answers |
//! |---|---|
//! | [`incidence`] | which columns (variables) occur in which rows (equations) |
//! | [`matching`] | which row determines which column |
//! | [`decomposition`] | which rows are too many, which columns are left undetermined |
//! | [`components`] | in which order the rows can be solved, which only together |
//! | [`pantelides`] | which rows must be differentiated (index reduction) |
//! | [`dependence`] | which rows of integers are combinations of others |
//! | [`dummy_derivatives`] | which derivatives become plain unknowns |
//! | [`tearing`] | which columns of a loop to iterate on |
//! | [`disjoint_sets`] | what is connected with what |
//! | [`union_find`] | which variables are equal or opposite to each other |
//! | [`colouring`] | which columns of a sparse Jacobian can be found in one evaluation |

pub mod colouring;
pub mod components;
pub mod decomposition;
pub mod dependence;
pub mod disjoint_sets;
pub mod dummy_derivatives;
mod elimination;
pub mod incidence;
pub mod matching;
pub mod pantelides;
pub mod tearing;
pub mod union_find;

#[cfg(test)]
mod random;

pub use colouring::{Colouring, colour_columns};
pub use components::{Block, blocks, dependencies, strongly_connected_components, topological_order};
pub use decomposition::{Decomposition, Part};
pub use dependence::{Dependence, dependences};
pub use disjoint_sets::DisjointSets;
pub use dummy_derivatives::{DummyDerivatives, select_dummies};
pub use incidence::{Incidence, IncidenceBuilder, Rows};
pub use matching::{Matching, Reached};
pub use pantelides::{IndexReduction, reduce_index};
pub use tearing::{Tearing, TearingProblem, tear};
pub use union_find::{Contradiction, Sign, SignedUnionFind, Union};
