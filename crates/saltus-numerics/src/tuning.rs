//! Numbers that were chosen rather than derived, in one place: where each comes from and what goes wrong without it.

pub mod balance {
    /// The iteration ends long before; the bound is for matrices on which rounding makes it swing.
    pub const MOST_SWEEPS: usize = 100;
    /// A scaling must make the sum of the norms of row and column smaller by this factor (Parlett and Reinsch, 1969).
    pub const WORTHWHILE: f64 = 0.95;
    /// Powers of two beyond these come near overflow.
    pub const LARGEST_EXPONENT: f64 = 500.0;
}
