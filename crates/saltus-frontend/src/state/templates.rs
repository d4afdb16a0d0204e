//! Arrays of alike components that are instantiated once.

#[derive(Default)]
pub struct Templates {
    /// Arrays with at least so many elements may be kept; none if all are taken apart.
    pub fewest: Option<u64>,
    pub n_kept: usize,
    /// Something in the model needs the elements one by one: it is flattened again with all arrays taken apart.
    pub are_refused: bool,
}
