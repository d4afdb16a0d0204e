//! Numbers on the command line. What is not a number that makes sense is refused before anything else happens, with exit code 2.

/// Any number but infinite ones.
pub fn finite(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| "expected a number".to_owned())?;
    if value.is_finite() { Ok(value) } else { Err("expected a finite number".to_owned()) }
}

pub fn positive(text: &str) -> Result<f64, String> {
    finite(text).and_then(|value| if value > 0.0 { Ok(value) } else { Err("expected a positive number".to_owned()) })
}

/// Between 0 and 1.
pub fn part(text: &str) -> Result<f64, String> {
    positive(text).and_then(|value| if value < 1.0 { Ok(value) } else { Err("expected a number below 1".to_owned()) })
}

/// Threads; more than that only cost memory.
pub fn jobs(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    let n: usize = text.trim().parse().map_err(|_| "expected a whole number".to_owned())?;
    if (1..=MOST).contains(&n) { Ok(n) } else { Err(format!("expected a number from 1 to {MOST}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_make_sense_are_taken() {
        for wrong in ["nan", "inf", "-inf", "1e999", "", "x"] {
            assert!(finite(wrong).is_err() && positive(wrong).is_err() && part(wrong).is_err(), "{wrong}");
        }
        assert_eq!((finite("-2"), finite("1e-3"), positive("4"), part("0.5")), (Ok(-2.0), Ok(1e-3), Ok(4.0), Ok(0.5)));
        assert!(positive("0").is_err() && positive("-1").is_err() && part("1").is_err());
        assert!(jobs("0").is_err() && jobs("4294967296").is_err() && jobs("2") == Ok(2));
    }
}
