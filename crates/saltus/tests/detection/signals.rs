//! Random signals with known zeros: sums and products of polynomials and sines, and thresholds on them.
//!
//! Zeros are isolated by the mean value theorem with bounds on magnitudes of the first two derivatives, which has nothing in
//! common with the intervals of the engine. A signal that comes so close to its threshold that rounding decides is refused.

use std::fmt::Write;

/// Random numbers, the same for the same seed (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 1
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// Between `a` and `b`, with few digits, so that the text of a model has the same number.
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        let x = a + (b - a) * (self.bits() % 1_000_000) as f64 / 1e6;
        format!("{x:.6}").parse().unwrap_or(x)
    }
}

/// A smooth function of time.
#[derive(Clone, Debug)]
pub enum Signal {
    /// `a*sin(w*t + p)`
    Sine {
        a: f64,
        w: f64,
        p: f64,
    },
    /// Σ cₖ (t - centre)ᵏ
    Polynomial {
        centre: f64,
        c: Vec<f64>,
    },
    Sum(Box<Signal>, Box<Signal>),
    Product(Box<Signal>, Box<Signal>),
}

/// Value and derivative at a point, or bounds of the magnitudes of value, first and second derivative.
type Jet = (f64, f64);
type Bounds = (f64, f64, f64);

impl Signal {
    pub fn random(random: &mut Random, end: f64, depth: u32) -> Signal {
        match random.below(if depth == 0 { 2 } else { 5 }) {
            0 => {
                // Slow and fast, as they occur in drives and converters.
                let w = *[3.0, 20.0, 100.0, 300.0].get(random.below(4) as usize).unwrap_or(&1.0);
                Signal::Sine {
                    a: random.between(0.2, 2.0),
                    w: random.between(0.5 * w, 1.5 * w),
                    p: random.between(0.0, 6.0),
                }
            }
            1 => {
                let n = 1 + random.below(4) as usize;
                let c = (0..=n).map(|k| random.between(-2.0, 2.0) / end.powi(k as i32)).collect();
                Signal::Polynomial { centre: random.between(0.0, end), c }
            }
            2 | 3 => Signal::Sum(Self::boxed(random, end, depth - 1), Self::boxed(random, end, depth - 1)),
            _ => Signal::Product(Self::boxed(random, end, depth - 1), Self::boxed(random, end, depth - 1)),
        }
    }

    fn boxed(random: &mut Random, end: f64, depth: u32) -> Box<Signal> {
        Box::new(Signal::random(random, end, depth))
    }

    /// In Modelica, of the variable `u`.
    pub fn text(&self, u: &str) -> String {
        match self {
            Signal::Sine { a, w, p } => format!("{a}*sin({w}*{u} + {p})"),
            Signal::Polynomial { centre, c } => {
                let mut text = String::from("(");
                for (k, c) in c.iter().enumerate() {
                    let _ = write!(text, "{}({c:e})*({u} - {centre})^{k}", if k > 0 { " + " } else { "" });
                }
                text + ")"
            }
            Signal::Sum(a, b) => format!("({} + {})", a.text(u), b.text(u)),
            Signal::Product(a, b) => format!("({})*({})", a.text(u), b.text(u)),
        }
    }

    pub fn at(&self, t: f64) -> Jet {
        match self {
            Signal::Sine { a, w, p } => (a * (w * t + p).sin(), a * w * (w * t + p).cos()),
            Signal::Polynomial { centre, c } => {
                let s = t - centre;
                c.iter().rev().fold((0.0, 0.0), |(v, d), c| (v * s + c, d * s + v))
            }
            Signal::Sum(a, b) => {
                let (a, b) = (a.at(t), b.at(t));
                (a.0 + b.0, a.1 + b.1)
            }
            Signal::Product(a, b) => {
                let (a, b) = (a.at(t), b.at(t));
                (a.0 * b.0, a.0 * b.1 + a.1 * b.0)
            }
        }
    }

    /// Over a stretch of time.
    pub fn bounds(&self, from: f64, to: f64) -> Bounds {
        match self {
            Signal::Sine { a, w, .. } => (a.abs(), (a * w).abs(), (a * w * w).abs()),
            Signal::Polynomial { centre, c } => {
                let r = (from - centre).abs().max((to - centre).abs());
                let sum = |factor: &dyn Fn(f64) -> f64, less: i32| -> f64 {
                    let terms = c.iter().enumerate().skip(less as usize);
                    terms.map(|(k, c)| c.abs() * factor(k as f64) * r.powi(k as i32 - less)).sum()
                };
                (sum(&|_| 1.0, 0), sum(&|k| k, 1), sum(&|k| k * (k - 1.0), 2))
            }
            Signal::Sum(a, b) => {
                let (a, b) = (a.bounds(from, to), b.bounds(from, to));
                (a.0 + b.0, a.1 + b.1, a.2 + b.2)
            }
            Signal::Product(a, b) => {
                let (a, b) = (a.bounds(from, to), b.bounds(from, to));
                (a.0 * b.0, a.0 * b.1 + a.1 * b.0, a.2 * b.0 + 2.0 * a.1 * b.1 + a.0 * b.2)
            }
        }
    }

    /// All times at which it passes `level`; `None` if it comes too close to it for certainty.
    pub fn crossings(&self, level: f64, from: f64, to: f64, doubt: f64) -> Option<Vec<f64>> {
        let mut found = Vec::new();
        self.isolate(level, from, to, doubt, &mut found).then_some(found)
    }

    fn isolate(&self, level: f64, from: f64, to: f64, doubt: f64, found: &mut Vec<f64>) -> bool {
        let (middle, r) = (0.5 * (from + to), 0.5 * (to - from));
        let (value, slope) = self.at(middle);
        let (size, _, bend) = self.bounds(from, to);
        let distance = (value - level).abs();
        if distance - slope.abs() * r - 0.5 * bend * r * r > doubt * (size + level.abs()) {
            return true;
        }
        if slope.abs() > bend * r {
            // Monotonic: at most one, and clearly so.
            let (a, b) = (self.at(from).0 - level, self.at(to).0 - level);
            if (a < 0.0) == (b < 0.0) {
                return a.abs().min(b.abs()) > doubt * (size + level.abs()) || r < 1e-3 * (to.abs() + 1e-9);
            }
            found.push(self.bisect(level, from, to));
            return true;
        }
        if r < 1e-7 {
            return false;
        }
        self.isolate(level, from, middle, doubt, found) && self.isolate(level, middle, to, doubt, found)
    }

    fn bisect(&self, level: f64, mut from: f64, mut to: f64) -> f64 {
        let is_below = self.at(from).0 < level;
        loop {
            let middle = 0.5 * (from + to);
            if middle <= from || middle >= to {
                return to;
            }
            *(if (self.at(middle).0 < level) == is_below { &mut from } else { &mut to }) = middle;
        }
    }
}

/// A condition on signals.
#[derive(Clone, Debug)]
pub enum Condition {
    Above(Signal, f64),
    /// `abs(s) > c`
    Apart(Signal, f64),
    /// `min(a, b) > c`, `max(a, b) > c`
    Both(Signal, Signal, f64),
    Either(Signal, Signal, f64),
    /// `(if time < at then a else b) > c`
    Switched(f64, Signal, Signal, f64),
}

impl Condition {
    pub fn random(random: &mut Random, end: f64) -> Condition {
        let signal = |random: &mut Random| Signal::random(random, end, 2);
        let a = signal(random);
        // Often near the top, where the stretches above it are short.
        let size = (0..200).map(|k| a.at(end * f64::from(k) / 200.0).0).fold(f64::NEG_INFINITY, f64::max);
        let level = format!("{:.6}", size * random.between(0.2, 1.0)).parse().unwrap_or(0.5);
        match random.below(6) {
            0 => Condition::Apart(a, level),
            1 => Condition::Both(a, signal(random), level),
            2 => Condition::Either(a, signal(random), level),
            3 => Condition::Switched(random.between(0.2 * end, 0.8 * end), a, signal(random), level),
            _ => Condition::Above(a, level),
        }
    }

    /// In Modelica, of the variable `u`, with both sides in this unit.
    pub fn text(&self, u: &str, unit: f64) -> String {
        let (signal, c) = match self {
            Condition::Above(a, c) => (a.text(u), c),
            Condition::Apart(a, c) => (format!("abs({})", a.text(u)), c),
            Condition::Both(a, b, c) => (format!("min({}, {})", a.text(u), b.text(u)), c),
            Condition::Either(a, b, c) => (format!("max({}, {})", a.text(u), b.text(u)), c),
            Condition::Switched(at, a, b, c) => (format!("(if time < {at} then {} else {})", a.text(u), b.text(u)), c),
        };
        format!("{unit:e}*({signal}) > {unit:e}*({c})")
    }

    fn holds(&self, t: f64) -> bool {
        match self {
            Condition::Above(a, c) => a.at(t).0 > *c,
            Condition::Apart(a, c) => a.at(t).0.abs() > *c,
            Condition::Both(a, b, c) => a.at(t).0.min(b.at(t).0) > *c,
            Condition::Either(a, b, c) => a.at(t).0.max(b.at(t).0) > *c,
            Condition::Switched(at, a, b, c) => (if t < *at { a } else { b }).at(t).0 > *c,
        }
    }

    /// All times before `end` at which the condition changes; `None` if that is not certain.
    pub fn changes(&self, end: f64, doubt: f64) -> Option<Vec<f64>> {
        let mut borders = match self {
            Condition::Above(a, c) => a.crossings(*c, 0.0, end, doubt)?,
            Condition::Apart(a, c) => [a.crossings(*c, 0.0, end, doubt)?, a.crossings(-c, 0.0, end, doubt)?].concat(),
            Condition::Both(a, b, c) | Condition::Either(a, b, c) => {
                [a.crossings(*c, 0.0, end, doubt)?, b.crossings(*c, 0.0, end, doubt)?].concat()
            }
            Condition::Switched(at, a, b, c) => {
                [a.crossings(*c, 0.0, *at, doubt)?, vec![*at], b.crossings(*c, *at, end, doubt)?].concat()
            }
        };
        borders.push(end);
        borders.sort_by(f64::total_cmp);
        // What happens at the same time, or at an end, is another test.
        let is_crowded = borders.windows(2).any(|pair| pair[1] - pair[0] < 1e-6 * end);
        if is_crowded || borders.first().is_some_and(|t| *t < 1e-6 * end) {
            return None;
        }
        let (mut changes, mut start, mut is) = (Vec::new(), 0.0, None);
        for border in borders {
            let holds = self.holds(0.5 * (start + border));
            if is.is_some_and(|is| is != holds) {
                changes.push(start);
            }
            (is, start) = (Some(holds), border);
        }
        Some(changes)
    }
}
