//! A unit as a product of powers of SI base units and a factor.
//!
//! `"kN/cm2"` is kg.m-1.s-2 with the factor 1e7. Exponents are rational, as in `"m(1/2)"`.

/// Base units in the order in which a unit is written.
const BASES: [&str; N] = ["kg", "m", "s", "A", "K", "mol", "cd"];
const N: usize = 7;

/// Exponents count in this part, so that halves, thirds, … eighths are whole numbers.
const PART: i32 = 840;

/// Dimension and factor. Radian is 1, as in the SI.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    exponents: [i32; N],
    /// Value in base units; `None` where an offset (`degC`) or an unknown number makes it meaningless.
    pub factor: Option<f64>,
}

impl Unit {
    pub const ONE: Unit = Unit { exponents: [0; N], factor: Some(1.0) };
    pub const SECOND: Unit = Unit::base([0, 0, 1, 0, 0, 0, 0]);

    /// A coherent unit: exponents of kg, m, s, A, K, mol, cd.
    pub const fn base(exponents: [i32; N]) -> Unit {
        let mut scaled = [0; N];
        let mut i = 0;
        while i < N {
            scaled[i] = exponents[i] * PART;
            i += 1;
        }
        Unit { exponents: scaled, factor: Some(1.0) }
    }

    /// Exponents of kg, m, s, A, K, mol, cd; `None` if one of them is not whole.
    pub fn exponents(self) -> Option<[i32; N]> {
        self.exponents.iter().all(|e| e % PART == 0).then(|| self.exponents.map(|e| e / PART))
    }

    pub fn scaled(self, factor: f64) -> Unit {
        Unit { factor: self.factor.map(|f| f * factor), ..self }
    }

    pub fn without_factor(self) -> Unit {
        Unit { factor: None, ..self }
    }

    pub fn times(self, other: Unit) -> Option<Unit> {
        self.combine(other, i32::checked_add, |a, b| a * b)
    }

    pub fn per(self, other: Unit) -> Option<Unit> {
        self.combine(other, i32::checked_sub, |a, b| a / b)
    }

    fn combine(self, other: Unit, add: fn(i32, i32) -> Option<i32>, multiply: fn(f64, f64) -> f64) -> Option<Unit> {
        let mut exponents = [0; N];
        for (i, e) in exponents.iter_mut().enumerate() {
            *e = add(self.exponents[i], other.exponents[i])?;
        }
        let factor = self.factor.zip(other.factor).map(|(a, b)| multiply(a, b));
        Some(Unit { exponents, factor })
    }

    /// This unit to the power of `numerator/denominator`; `None` where the exponents leave what can be written.
    pub fn power(self, numerator: i32, denominator: i32) -> Option<Unit> {
        if denominator == 0 {
            return None;
        }
        let mut exponents = [0; N];
        for (new, old) in exponents.iter_mut().zip(self.exponents) {
            let product = old.checked_mul(numerator)?;
            if product % denominator != 0 {
                return None;
            }
            *new = product / denominator;
        }
        let factor = self.factor.map(|f| f.powf(f64::from(numerator) / f64::from(denominator)));
        Some(Unit { exponents, factor })
    }

    /// Metres and millimetres have the same dimension; so have radian and 1.
    pub fn same_dimension(self, other: Unit) -> bool {
        self.exponents == other.exponents
    }

    pub fn is_dimensionless(self) -> bool {
        self.exponents == [0; N]
    }

    /// How many of `other` one of `self` is, where both factors are known and differ.
    pub fn ratio(self, other: Unit) -> Option<f64> {
        let ratio = self.factor? / other.factor?;
        ((ratio - 1.0).abs() > 1e-6).then_some(ratio)
    }

    /// In base units, without the factor: `kg.m2.s-3`.
    pub fn text(self) -> String {
        let mut parts = Vec::new();
        for (name, &exponent) in BASES.iter().zip(&self.exponents) {
            match (exponent % PART, exponent / PART) {
                (0, 0) => {}
                (0, 1) => parts.push((*name).to_owned()),
                (0, n) => parts.push(format!("{name}{n}")),
                _ => {
                    let common = gcd(exponent.unsigned_abs(), PART as u32) as i32;
                    parts.push(format!("{name}({}/{})", exponent / common, PART / common));
                }
            }
        }
        if parts.is_empty() { "1".to_owned() } else { parts.join(".") }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRE: Unit = Unit::base([0, 1, 0, 0, 0, 0, 0]);

    #[test]
    fn powers_and_text() {
        let speed = METRE.per(Unit::SECOND).unwrap();
        assert_eq!(speed.text(), "m.s-1");
        assert_eq!(speed.power(2, 1).unwrap().text(), "m2.s-2");
        assert_eq!(METRE.power(1, 2).unwrap().text(), "m(1/2)");
        assert_eq!(METRE.power(1, 2).unwrap().power(2, 1).unwrap(), METRE);
        assert_eq!(METRE.power(1, 11), None);
        assert_eq!(METRE.power(i32::MAX, 1), None);
        assert_eq!(Unit::ONE.text(), "1");
    }

    #[test]
    fn factors() {
        let millimetre = METRE.scaled(1e-3);
        assert!(millimetre.same_dimension(METRE));
        assert_eq!(METRE.ratio(METRE), None);
        assert!((METRE.ratio(millimetre).unwrap() - 1000.0).abs() < 1e-9);
        assert_eq!(METRE.ratio(METRE.without_factor()), None);
    }
}
