//! Unit strings, after the grammar of the chapter on unit expressions of the specification.
//!
//! In: `"W/(m2.K)"`. Out: the [`Unit`] kg.s-3.K-1. Unknown symbols such as `"rpm"` are allowed by the language; the
//! result says so, and nothing is concluded from them.

use super::unit::Unit;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Parsed {
    Known(Unit),
    /// Well formed, but with a symbol that is not known here.
    Opaque,
    /// Not a unit expression.
    Malformed,
}

/// No real unit has deeper parentheses.
const DEEPEST: u32 = 20;

/// Symbols with exponents of kg, m, s, A, K, mol, cd.
const COHERENT: &[(&str, [i32; 7])] = &[
    ("m", [0, 1, 0, 0, 0, 0, 0]),
    ("s", [0, 0, 1, 0, 0, 0, 0]),
    ("A", [0, 0, 0, 1, 0, 0, 0]),
    ("K", [0, 0, 0, 0, 1, 0, 0]),
    ("mol", [0, 0, 0, 0, 0, 1, 0]),
    ("cd", [0, 0, 0, 0, 0, 0, 1]),
    ("rad", [0, 0, 0, 0, 0, 0, 0]),
    ("sr", [0, 0, 0, 0, 0, 0, 0]),
    ("Hz", [0, 0, -1, 0, 0, 0, 0]),
    ("N", [1, 1, -2, 0, 0, 0, 0]),
    ("Pa", [1, -1, -2, 0, 0, 0, 0]),
    ("J", [1, 2, -2, 0, 0, 0, 0]),
    ("W", [1, 2, -3, 0, 0, 0, 0]),
    ("var", [1, 2, -3, 0, 0, 0, 0]),
    ("C", [0, 0, 1, 1, 0, 0, 0]),
    ("V", [1, 2, -3, -1, 0, 0, 0]),
    ("F", [-1, -2, 4, 2, 0, 0, 0]),
    ("Ohm", [1, 2, -3, -2, 0, 0, 0]),
    ("S", [-1, -2, 3, 2, 0, 0, 0]),
    ("Wb", [1, 2, -2, -1, 0, 0, 0]),
    ("T", [1, 0, -2, -1, 0, 0, 0]),
    ("H", [1, 2, -2, -2, 0, 0, 0]),
    ("lm", [0, 0, 0, 0, 0, 0, 1]),
    ("lx", [0, -2, 0, 0, 0, 0, 1]),
    ("Bq", [0, 0, -1, 0, 0, 0, 0]),
    ("Gy", [0, 2, -2, 0, 0, 0, 0]),
    ("Sv", [0, 2, -2, 0, 0, 0, 0]),
    ("kat", [0, 0, -1, 0, 0, 1, 0]),
];

/// Symbols with a factor to a coherent unit. The numbers are those of the specification and the SI brochure.
const SCALED: &[(&str, f64, [i32; 7])] = &[
    ("g", 1e-3, [1, 0, 0, 0, 0, 0, 0]),
    ("min", 60.0, [0, 0, 1, 0, 0, 0, 0]),
    ("h", 3600.0, [0, 0, 1, 0, 0, 0, 0]),
    ("d", 86400.0, [0, 0, 1, 0, 0, 0, 0]),
    ("l", 1e-3, [0, 3, 0, 0, 0, 0, 0]),
    ("L", 1e-3, [0, 3, 0, 0, 0, 0, 0]),
    ("eV", 1.602_176_634e-19, [1, 2, -2, 0, 0, 0, 0]),
    ("deg", std::f64::consts::PI / 180.0, [0, 0, 0, 0, 0, 0, 0]),
    ("debye", 1e-21 / 299_792_458.0, [0, 1, 1, 1, 0, 0, 0]),
    ("bar", 1e5, [1, -1, -2, 0, 0, 0, 0]),
];

/// Temperatures with an offset: as differences they are kelvins, as values they are not.
const TEMPERATURES: &[&str] = &["degC", "degF", "degRk"];

/// `da` comes before `d`.
const PREFIXES: &[(&str, f64)] = &[
    ("da", 1e1),
    ("Q", 1e30),
    ("R", 1e27),
    ("Y", 1e24),
    ("Z", 1e21),
    ("E", 1e18),
    ("P", 1e15),
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("h", 1e2),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("u", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
    ("f", 1e-15),
    ("a", 1e-18),
    ("z", 1e-21),
    ("y", 1e-24),
    ("r", 1e-27),
    ("q", 1e-30),
];

pub fn parse(text: &str) -> Parsed {
    let mut parser = Parser { rest: text, is_opaque: false };
    match parser.expression(0) {
        Some(unit) if parser.rest.is_empty() && !parser.is_opaque => Parsed::Known(unit),
        Some(_) if parser.rest.is_empty() => Parsed::Opaque,
        _ => Parsed::Malformed,
    }
}

/// The unit that a symbol without prefix stands for.
pub fn symbol(name: &str) -> Option<Unit> {
    if let Some((_, exponents)) = COHERENT.iter().find(|s| s.0 == name) {
        return Some(Unit::base(*exponents));
    }
    if let Some((_, factor, exponents)) = SCALED.iter().find(|s| s.0 == name) {
        return Some(Unit::base(*exponents).scaled(*factor));
    }
    TEMPERATURES.contains(&name).then(|| Unit::base([0, 0, 0, 0, 1, 0, 0]).without_factor())
}

/// A symbol first, a prefix and a symbol second, as the specification says.
fn operand(name: &str) -> Option<Unit> {
    symbol(name).or_else(|| {
        PREFIXES.iter().find_map(|(prefix, factor)| Some(symbol(name.strip_prefix(prefix)?)?.scaled(*factor)))
    })
}

/// All functions give `None` for what is malformed.
struct Parser<'a> {
    rest: &'a str,
    is_opaque: bool,
}

impl Parser<'_> {
    fn accept(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expression(&mut self, depth: u32) -> Option<Unit> {
        let numerator = self.numerator(depth)?;
        if self.accept("/") { numerator.per(self.denominator(depth)?) } else { Some(numerator) }
    }

    fn numerator(&mut self, depth: u32) -> Option<Unit> {
        if self.rest.starts_with('(') {
            return self.parenthesis(depth);
        }
        if self.accept("1") {
            return Some(Unit::ONE);
        }
        let mut product = self.factor()?;
        while self.accept(".") {
            product = product.times(self.factor()?)?;
        }
        Some(product)
    }

    fn denominator(&mut self, depth: u32) -> Option<Unit> {
        if self.rest.starts_with('(') { self.parenthesis(depth) } else { self.factor() }
    }

    fn parenthesis(&mut self, depth: u32) -> Option<Unit> {
        if depth >= DEEPEST || !self.accept("(") {
            return None;
        }
        let inner = self.expression(depth + 1)?;
        self.accept(")").then_some(inner)
    }

    fn factor(&mut self) -> Option<Unit> {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return None;
        }
        self.rest = rest;
        let unit = operand(name).unwrap_or_else(|| {
            self.is_opaque = true;
            Unit::ONE
        });
        let (numerator, denominator) = self.exponent()?;
        unit.power(numerator, denominator)
    }

    /// `2`, `-1`, `+3`, `-(1/2)`; none is 1.
    fn exponent(&mut self) -> Option<(i32, i32)> {
        let is_negative = self.accept("-");
        let is_signed = is_negative || self.accept("+");
        if !is_signed && !self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '(') {
            return Some((1, 1));
        }
        let sign = if is_negative { -1 } else { 1 };
        if self.accept("(") {
            let numerator = self.unsigned()?;
            let denominator = if self.accept("/") { self.unsigned()? } else { return None };
            return self.accept(")").then_some((sign * numerator, denominator));
        }
        Some((sign * self.unsigned()?, 1))
    }

    fn unsigned(&mut self) -> Option<i32> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, base: &str, factor: f64) {
        let Parsed::Known(unit) = parse(text) else { panic!("{text}: {:?}", parse(text)) };
        assert_eq!(unit.text(), base, "{text}");
        let found = unit.factor.expect("a factor");
        assert!((found / factor - 1.0).abs() < 1e-12, "{text}: {found}");
    }

    #[test]
    fn units_of_the_specification_and_of_libraries() {
        reads("1", "1", 1.0);
        reads("N.m/rad", "kg.m2.s-2", 1.0);
        reads("kg/(m.s2)", "kg.m-1.s-2", 1.0);
        reads("W/(m2.K)", "kg.s-3.K-1", 1.0);
        reads("kg.m.s-2", "kg.m.s-2", 1.0);
        reads("1/rad", "1", 1.0);
        reads("mm/s", "m.s-1", 1e-3);
        reads("(J/kg)/(kg/m3)", "kg-1.m5.s-2", 1.0);
        reads("m4.s4/(K.s8)", "m4.s-4.K-1", 1.0);
        reads("V.s/(A.m)", "kg.m.s-2.A-2", 1.0);
        reads("m(1/2).s-(3/2)", "m(1/2).s(-3/2)", 1.0);
    }

    #[test]
    fn prefixes() {
        reads("mm2", "m2", 1e-6); // the exponent includes the prefix
        reads("m", "m", 1.0);
        reads("T", "kg.s-2.A-1", 1.0);
        reads("min", "s", 60.0);
        reads("cd", "cd", 1.0);
        reads("dag", "kg", 1e-2);
        reads("kW.h", "kg.m2.s-2", 3.6e6);
        reads("km/h", "m.s-1", 1.0 / 3.6);
        reads("hPa", "kg.m-1.s-2", 100.0);
        reads("uF", "kg-1.m-2.s4.A2", 1e-6);
    }

    #[test]
    fn temperatures_have_no_factor() {
        let Parsed::Known(celsius) = parse("degC") else { panic!() };
        assert_eq!((celsius.text().as_str(), celsius.factor), ("K", None));
    }

    #[test]
    fn unknown_and_malformed() {
        for text in ["rpm", "rev/min", "dB", "Nm", "phon"] {
            assert_eq!(parse(text), Parsed::Opaque, "{text}");
        }
        for text in
            ["", "N*m", "m^2", "m/s/s", "kg m", "m2)", "(m", "m/", "/s", "2", "m.", "%", "m(1/0)", "m99999999999"]
        {
            assert_eq!(parse(text), Parsed::Malformed, "{text}");
        }
        assert_eq!(parse(&"(".repeat(100_000)), Parsed::Malformed);
    }
}
