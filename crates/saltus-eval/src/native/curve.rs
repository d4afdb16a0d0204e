//! A column of a table as a function of its abscissa, with its derivatives: segments between the points, extrapolation
//! outside of them.
//!
//! ```text
//! table = [0, 0; 1, 10; 3, 30], linear segments, last two points      u = 4 ⇒ value 40, first derivative 10
//! ```
//!
//! Behaviour: documentation of `Modelica.Blocks.Tables.CombiTable1Ds` and `Modelica.Blocks.Sources.CombiTimeTable`.

use super::spline::{Jet, Spline, combine, hermite};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extrapolation {
    HoldLastPoint,
    LastTwoPoints,
    Periodic,
    Forbidden,
}

impl Extrapolation {
    /// By the ordinal of `Modelica.Blocks.Types.Extrapolation`.
    pub fn from_ordinal(ordinal: i64) -> Result<Extrapolation, String> {
        match ordinal {
            1 => Ok(Extrapolation::HoldLastPoint),
            2 => Ok(Extrapolation::LastTwoPoints),
            3 => Ok(Extrapolation::Periodic),
            4 => Ok(Extrapolation::Forbidden),
            _ => Err(format!("there is no extrapolation number {ordinal}")),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Smoothness {
    Linear,
    Constant,
    Spline(Spline),
}

impl Smoothness {
    /// By the ordinal of `Modelica.Blocks.Types.Smoothness`.
    pub fn from_ordinal(ordinal: i64) -> Result<Smoothness, String> {
        match ordinal {
            1 => Ok(Smoothness::Linear),
            3 => Ok(Smoothness::Constant),
            _ => Spline::from_ordinal(ordinal)
                .map(Smoothness::Spline)
                .ok_or_else(|| format!("there is no smoothness number {ordinal}")),
        }
    }
}

/// Which of two segments holds at the point between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The segment that ends there.
    Left,
    /// The segment that begins there.
    Right,
}

/// Where an argument lies relative to the points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Place {
    /// In the segment from point `index` to the next; the argument lies `offset` behind its beginning.
    Inside { index: usize, offset: f64 },
    /// `offset` (negative) before the first point.
    Before { offset: f64 },
    /// `offset` behind the last point.
    Behind { offset: f64 },
}

/// Rounding of a folded argument, relative to the sizes of the argument and of the table.
pub const ROUNDING: f64 = 1e-13;

/// Finds the place of `u`; points closer than `tie` count as reached from the right-hand segment.
pub fn locate(points: &[f64], u: f64, side: Side, tie: f64, extrapolation: Extrapolation) -> Result<Place, String> {
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return Err("the table is empty".into()) };
    let mut u = u;
    if extrapolation == Extrapolation::Periodic && last > first {
        u = folded(u, first, last, side, tie);
    } else if u < first {
        if extrapolation == Extrapolation::Forbidden && u < first - tie {
            return Err(format!("{u} is outside the table from {first} to {last}"));
        }
        return Ok(Place::Before { offset: u - first });
    } else if u > last || (u == last && side == Side::Right) {
        if extrapolation == Extrapolation::Forbidden && u > last + tie {
            return Err(format!("{u} is outside the table from {first} to {last}"));
        }
        return Ok(Place::Behind { offset: u - last });
    }
    let behind = match side {
        Side::Left => points.partition_point(|&p| p < u - tie),
        Side::Right => points.partition_point(|&p| p <= u + tie),
    };
    let index = behind.saturating_sub(1).min(points.len().saturating_sub(2));
    Ok(Place::Inside { index, offset: u - points.get(index).copied().unwrap_or(first) })
}

/// The argument moved into the first period; its end belongs to the left side, its beginning to the right side.
fn folded(u: f64, first: f64, last: f64, side: Side, tie: f64) -> f64 {
    let period = last - first;
    let rest = (u - first).rem_euclid(period);
    match side {
        Side::Left if rest <= tie => last,
        Side::Right if period - rest <= tie => first,
        _ => first + rest,
    }
}

/// The ordinates of one column.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    pub values: Vec<f64>,
    /// Derivatives at the points; empty unless the curve is a spline.
    slopes: Vec<f64>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
}

impl Curve {
    pub fn new(points: &[f64], values: Vec<f64>, smoothness: Smoothness, extrapolation: Extrapolation) -> Curve {
        let slopes = match smoothness {
            Smoothness::Spline(spline) => spline.slopes(points, &values, extrapolation == Extrapolation::Periodic),
            _ => Vec::new(),
        };
        Curve { values, slopes, smoothness, extrapolation }
    }

    pub fn at(&self, points: &[f64], place: Place) -> Jet {
        let n = self.values.len();
        if n < 2 {
            return Jet { value: self.value(0), ..Jet::default() };
        }
        match place {
            Place::Inside { index, offset } => self.inside(points, index, offset),
            Place::Before { offset } => self.outside(points, 0, offset),
            Place::Behind { offset } => self.outside(points, n - 1, offset),
        }
    }

    fn value(&self, i: usize) -> f64 {
        self.values.get(i).copied().unwrap_or(0.0)
    }

    fn inside(&self, points: &[f64], index: usize, offset: f64) -> Jet {
        let (left, right) = (self.value(index), self.value(index + 1));
        let width = width(points, index);
        if width <= 0.0 {
            return Jet { value: right, ..Jet::default() };
        }
        match self.smoothness {
            Smoothness::Constant => Jet { value: left, ..Jet::default() },
            Smoothness::Linear => {
                let slope = (right - left) / width;
                Jet { value: left + slope * offset, first: slope, second: 0.0 }
            }
            Smoothness::Spline(_) => {
                let slope = |i: usize| self.slopes.get(i).copied().unwrap_or(0.0);
                combine(&hermite(offset / width, width), [left, slope(index), right, slope(index + 1)])
            }
        }
    }

    /// Beyond the end with this number.
    fn outside(&self, points: &[f64], end: usize, offset: f64) -> Jet {
        let value = self.value(end);
        let holds = self.extrapolation != Extrapolation::LastTwoPoints && offset != 0.0;
        // At the last point itself constant segments have arrived at its value and go nowhere from there.
        if holds || (self.smoothness == Smoothness::Constant && offset == 0.0) {
            return Jet { value, ..Jet::default() };
        }
        let slope = match self.smoothness {
            Smoothness::Spline(_) => self.slopes.get(end).copied().unwrap_or(0.0),
            _ => {
                let index = end.saturating_sub(1);
                let width = width(points, index);
                if width > 0.0 { (self.value(index + 1) - self.value(index)) / width } else { 0.0 }
            }
        };
        Jet { value: value + slope * offset, first: slope, second: 0.0 }
    }
}

fn width(points: &[f64], index: usize) -> f64 {
    match points.get(index..index + 2) {
        Some(&[a, b]) => b - a,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 4] = [0.0, 1.0, 1.0, 2.0];

    fn at(u: f64, side: Side, smoothness: Smoothness, extrapolation: Extrapolation) -> (f64, f64) {
        let curve = Curve::new(&X, vec![0.0, 2.0, 5.0, 4.0], smoothness, extrapolation);
        let jet = curve.at(&X, locate(&X, u, side, 1e-13, extrapolation).expect("a place"));
        (jet.value, jet.first)
    }

    #[test]
    fn a_repeated_point_has_two_sides() {
        let linear = |u, side| at(u, side, Smoothness::Linear, Extrapolation::LastTwoPoints);
        assert_eq!((linear(1.0, Side::Left), linear(1.0, Side::Right)), ((2.0, 2.0), (5.0, -1.0)));
        assert_eq!((linear(-1.0, Side::Right), linear(4.0, Side::Right)), ((-2.0, 2.0), (2.0, -1.0)));
        let constant = |u, side| at(u, side, Smoothness::Constant, Extrapolation::HoldLastPoint).0;
        assert_eq!([constant(1.0, Side::Left), constant(1.0, Side::Right)], [0.0, 5.0]);
        assert_eq!(
            [constant(2.0, Side::Left), constant(2.0, Side::Right), constant(9.0, Side::Right)],
            [5.0, 4.0, 4.0]
        );
    }

    #[test]
    fn periods_repeat_in_both_directions() {
        let periodic = |u, side| at(u, side, Smoothness::Linear, Extrapolation::Periodic).0;
        assert_eq!([periodic(2.5, Side::Right), periodic(-0.5, Side::Right)], [1.0, 4.5]);
        assert_eq!([periodic(4.0, Side::Left), periodic(4.0, Side::Right)], [4.0, 0.0]);
        // 0.3 = 3·0.1 up to rounding is the end of the third period.
        let x = [0.0, 0.1];
        let curve = Curve::new(&x, vec![0.0, 1.0], Smoothness::Linear, Extrapolation::Periodic);
        let place = locate(&x, 0.1 + 0.2, Side::Right, 1e-13, Extrapolation::Periodic).expect("a place");
        assert!(curve.at(&x, place).value.abs() < 1e-12);
    }

    #[test]
    fn outside_of_a_strict_table_is_an_error() {
        assert!(locate(&X, 2.1, Side::Right, 1e-13, Extrapolation::Forbidden).is_err());
        assert!(locate(&X, -0.1, Side::Right, 1e-13, Extrapolation::Forbidden).is_err());
        assert_eq!(at(2.0, Side::Right, Smoothness::Linear, Extrapolation::Forbidden).0, 4.0);
    }
}
