//! placeholder
use saltus_base::Diagnostics;
use saltus_flat::FlatModel;
pub fn check(_model: &FlatModel) -> Diagnostics {
    Diagnostics::new()
}
