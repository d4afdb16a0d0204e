//! Numbers as people read them.

/// A number with at most ten significant digits, as short as it can be: events are located to about that.
///
/// ```
/// assert_eq!(saltus_base::digits(0.45152364098573095), "0.451523641");
/// assert_eq!(saltus_base::digits(-2.0), "-2");
/// assert_eq!(saltus_base::digits(6.02214076e23), "6.02214076e23");
/// ```
pub fn digits(value: f64) -> String {
    let rounded = format!("{value:.9e}").parse().unwrap_or(value);
    let size = f64::abs(rounded);
    if size != 0.0 && size.is_finite() && !(1e-5..1e15).contains(&size) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}
