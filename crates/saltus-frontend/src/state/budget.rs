//! How much work a flattening may do and has done, so that no input keeps it busy without end.

use saltus_eval::Limits;

#[derive(Default)]
pub struct Budget {
    /// Work limits of one evaluation at compile time.
    pub limits: Limits,
    /// Set when the model turned out to be too large; nothing is instantiated any more.
    pub is_too_large: bool,
    /// How many terms of reductions have been written out.
    pub n_unrolled: usize,
    /// Names that were compared to find out which ones were meant.
    pub n_compared_names: usize,
}
