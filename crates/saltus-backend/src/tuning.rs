//! Numbers that were chosen rather than derived, in one place.
//!
//! Two kinds: *tolerances*, which decide about a model, and *bounds of work*, beyond which a pass does something simpler or reports
//! that it stops. A bound is a round number well above what models reach; its exact value decides nothing.

/// Tolerances.
pub mod tolerance {
    /// Coefficients of constraints, relative to the largest, for which these are not solved at the start: what is solved for would be found to
    /// the square root of the rounding error at best.
    pub const SINGULAR_AT_START: f64 = 1e-6;
    /// Coefficients below this share of the largest in their row are taken as zero when states are chosen: rounding of
    /// parameters leaves such remainders where a geometry cancels.
    pub const NEGLIGIBLE_COEFFICIENT: f64 = 1e-9;
    /// A pivot of a small loop that is smaller than this part of its terms may be what rounding has left of zero; the loop is then
    /// left to the solver, which can tell.
    pub const CANCELLED_PIVOT: f64 = 1e-6;
    /// Rounding errors may grow so much along the assignments of a torn linear loop. It is solved to 1e-14 of the terms that its matrix
    /// shows, which contain the growth: ten digits of the equations as they are written are left.
    pub const MOST_GROWTH: f64 = 1e4;
    /// Where the bound of the growth in a nonlinear loop exceeds this, its solutions are confirmed.
    pub const LOST_GROWTH: f64 = 1e10;
    /// Variables that have grown no more than this need no cut behind them.
    pub const LITTLE_GROWTH: f64 = 10.0;
    /// What a term of a constraint counts at least where it begins to hold: a zero is found to rounding errors of the numbers around it.
    pub const LEAST_SIZE: f64 = 1e-6;
    /// An impulse smaller than this part of its terms is what rounding has left of zero.
    pub const LEAST_IMPULSE: f64 = 1e-9;
    /// So is one smaller than this part of all impulses at an instant. Test: `an_impulse_of_rounding_errors_decides_nothing`.
    pub const IMPULSE_NOISE: f64 = 1e-14;
}

/// What is written out, and what is left to calls, loops and solvers.
pub mod form {
    /// Variables with more elements than this are not taken apart.
    pub const MOST_ELEMENTS: u64 = 2_000_000;
    /// Larger loops that are not linear are solved as they are, with a sparse matrix: to write the torn variables out in terms of the
    /// others takes time that grows with the square of the size.
    pub const LARGEST_TORN: usize = 400;
    /// Torn loops of more equations than this are not kept as they were.
    pub const MOST_ORIGINAL: usize = 5_000;
    /// Linear loops with more iteration variables than this get a sparse matrix.
    pub const LARGEST_DENSE: usize = 24;
    /// In those a variable that depends on more iteration variables than this becomes one itself.
    pub const LONGEST_CHAIN: usize = 8;
    /// Chains of fewer assignments are not looked at.
    pub const SHORTEST_CUT: usize = 16;
    /// The same for loops that call functions. Measured with 596 equations for water in pipes: torn, their initial values are found in
    /// a second; as they are, Newton's method does not converge.
    pub const LARGEST_TORN_WITH_CALLS: usize = 2_000;
    /// Linear loops of so many iteration variables are solved in closed form: beyond that, elimination with pivots is shorter.
    pub const LARGEST_SMALL_LOOP: usize = 3;
    /// Switches and nodes of a pivot of such a loop: each switch doubles the cases that must not be zero.
    pub const MOST_PIVOT_SWITCHES: usize = 4;
    pub const MOST_PIVOT_NODES: usize = 200;
    /// A call that takes more nodes than this is made at run time.
    pub const MOST_CALL_NODES: usize = 6_000;
    /// Calls nested deeper than this are made at run time.
    pub const MOST_NESTED_CALLS: u32 = 40;
    /// Arrays larger than this are not searched for an element with a subscript that is not constant: inside functions,
    /// which can be called instead, and in equations.
    pub const MOST_CHOICES_IN_FUNCTION: usize = 64;
    pub const MOST_CHOICES: usize = 4_096;
    /// Integer powers of matrices up to this one.
    pub const MOST_MATRIX_POWER: f64 = 64.0;
    /// Powers up to this are multiplications, which are quicker than the general function.
    pub const LARGEST_POWER: f64 = 4.0;
    /// Assignments in one block at most.
    pub const MOST_BLOCK_MEMBERS: usize = 512;
    /// Literals in the condition of a call at most, the outermost ones; and conditions in conditions. A call with fewer is made more
    /// often than it must be, never less.
    pub const MOST_LITERALS: usize = 8;
    pub const MOST_CONDITION_LEVELS: u32 = 16;
    /// Longest text of an equation in a description.
    pub const LONGEST_TEXT: usize = 300;
}

/// Bounds of work.
pub mod work {
    /// Expressions nested deeper than this are refused; each level takes a few kB of stack.
    pub const MOST_EXPRESSION_LEVELS: u32 = 500;
    /// Records nested deeper than this contain nothing.
    pub const MOST_RECORD_LEVELS: u32 = 20;
    /// So deep definitions of discrete variables are followed to the relations that they come from.
    pub const MOST_DEFINITIONS: usize = 50;
    /// A `while` with known conditions runs at most so often.
    pub const MOST_ITERATIONS: u32 = 100_000;
    /// Each elimination may turn other equations into aliases; what is left after this many rounds is not worth more.
    pub const MOST_ALIAS_ROUNDS: usize = 8;
    /// Parameters may depend on each other in any order, so their values are found in rounds.
    pub const MOST_PARAMETER_ROUNDS: usize = 12;
    /// An equation differentiated more often than this belongs to a singular system.
    pub const MOST_DIFFERENTIATIONS: usize = 6;
    /// Functions that call each other deeper than this are not differentiated.
    pub const MOST_DIFFERENTIATED_LEVELS: u32 = 30;
    /// Entries of integer matrices that the search for hidden constraints touches.
    pub const MOST_DEPENDENCE_WORK: usize = 300_000;
    /// Each hidden constraint that is written out may show another one.
    pub const MOST_COMBINATIONS: usize = 8;
    /// How often a model is lowered again with functions that were missing: parts of algorithms that are called, derivatives.
    pub const MOST_REWRITINGS: u32 = 12;
    /// Choices of states that are tried for a model.
    pub const MOST_STATE_CHOICES: u32 = 3;
    /// More switches in one loop are not looked at for changes of the index.
    pub const MOST_INDEX_SWITCHES: usize = 100;
}
