//! A two-dimensional table as a function of two arguments, with its derivatives.
//!
//! The value is a product of weights in each direction: with linear segments those of the two nearest points, with
//! constant segments that of one point, with Akima splines those of values and slopes of the two nearest points.
//!
//! Behaviour: documentation of `Modelica.Blocks.Tables.CombiTable2Ds`.

use super::curve::{Extrapolation, Place, Side, Smoothness, locate};
use super::spline::{Jet, Spline, akima_weights, continued, hermite};

/// Value and derivatives with respect to the first and second argument.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SurfaceJet {
    pub value: f64,
    pub first: [f64; 2],
    /// By argument 1 twice, by both, by argument 2 twice.
    pub second: [f64; 3],
}

#[derive(Clone, PartialEq, Debug)]
pub struct Surface {
    pub rows: Vec<f64>,
    pub columns: Vec<f64>,
    /// Row-major: values, slopes along the rows' abscissa, along the columns' abscissa, and along both.
    data: [Vec<f64>; 4],
    smoothness: Smoothness,
    extrapolation: Extrapolation,
}

impl Surface {
    /// `values` are row-major, one for each pair of a row and a column.
    pub fn new(
        rows: Vec<f64>,
        columns: Vec<f64>,
        values: Vec<f64>,
        smoothness: Smoothness,
        extrapolation: Extrapolation,
    ) -> Result<Surface, String> {
        let data = match smoothness {
            Smoothness::Spline(Spline::Akima) => {
                let periodic = extrapolation == Extrapolation::Periodic;
                let by_row = slopes_by_row(&rows, &values, columns.len(), periodic);
                let by_column = slopes_by_column(&columns, &values, periodic);
                let by_both = cross_slopes(&rows, &columns, &values, periodic);
                [values, by_row, by_column, by_both]
            }
            Smoothness::Spline(_) => return Err("two-dimensional splines are of Akima's kind only".into()),
            _ => [values, Vec::new(), Vec::new(), Vec::new()],
        };
        Ok(Surface { rows, columns, data, smoothness, extrapolation })
    }

    pub fn at(&self, u1: f64, u2: f64) -> Result<SurfaceJet, String> {
        let smoothness = self.smoothness_at(u1, u2);
        let (row, across) = self.weights(&self.rows, u1, smoothness)?;
        let (column, along) = self.weights(&self.columns, u2, smoothness)?;
        let mut sum = SurfaceJet::default();
        for (i, w) in across.iter().enumerate() {
            for (j, v) in along.iter().enumerate() {
                let slopes = i % 2 + 2 * (j % 2);
                let place = (row + i / 2) * self.columns.len() + column + j / 2;
                // Weights of points that do not exist are 0.
                let number = if column + j / 2 < self.columns.len() { self.data[slopes].get(place) } else { None };
                let z = number.copied().unwrap_or(0.0);
                sum.value += w.value * v.value * z;
                sum.first[0] += w.first * v.value * z;
                sum.first[1] += w.value * v.first * z;
                sum.second[0] += w.second * v.value * z;
                sum.second[1] += w.first * v.first * z;
                sum.second[2] += w.value * v.second * z;
            }
        }
        Ok(sum)
    }

    /// Steps that are extrapolated by their last two points become bilinear, in both directions.
    fn smoothness_at(&self, u1: f64, u2: f64) -> Smoothness {
        let is_outside = |points: &[f64], u: f64| match points {
            [first, .., last] => u < *first || u > *last,
            _ => false,
        };
        let steps = self.smoothness == Smoothness::Constant && self.extrapolation == Extrapolation::LastTwoPoints;
        if steps && (is_outside(&self.rows, u1) || is_outside(&self.columns, u2)) {
            Smoothness::Linear
        } else {
            self.smoothness
        }
    }

    /// The left point of the segment, and the weights of its value, its slope, the right value, the right slope.
    fn weights(&self, points: &[f64], u: f64, smoothness: Smoothness) -> Result<(usize, [Jet; 4]), String> {
        let one = Jet { value: 1.0, ..Jet::default() };
        let none = Jet::default();
        let n = points.len();
        if n < 2 {
            return Ok((0, [one, none, none, none]));
        }
        let place = locate(points, u, Side::Right, 0.0, self.extrapolation)?;
        let (index, offset, outside) = match place {
            Place::Inside { index, offset } => (index, offset, false),
            Place::Before { offset } => (0, offset, true),
            Place::Behind { offset } => (n - 2, points[n - 1] - points[n - 2] + offset, true),
        };
        let at_end = matches!(place, Place::Behind { .. });
        let width = points[index + 1] - points[index];
        let end = if at_end { [none, none, one, none] } else { [one, none, none, none] };
        let beyond = if at_end { offset - width } else { offset };
        let goes_on = self.extrapolation == Extrapolation::LastTwoPoints;
        Ok((
            index,
            match smoothness {
                _ if outside && !goes_on => end,
                Smoothness::Constant if !outside || beyond == 0.0 => end,
                Smoothness::Spline(_) if outside => {
                    let slope = Jet { value: beyond, first: 1.0, second: 0.0 };
                    if at_end { [none, none, one, slope] } else { [one, slope, none, none] }
                }
                Smoothness::Spline(_) => hermite(offset / width, width),
                _ => {
                    let s = offset / width;
                    let right = Jet { value: s, first: 1.0 / width, second: 0.0 };
                    [Jet { value: 1.0 - s, first: -1.0 / width, second: 0.0 }, none, right, none]
                }
            },
        ))
    }
}

fn slopes_by_row(rows: &[f64], values: &[f64], n_columns: usize, periodic: bool) -> Vec<f64> {
    let mut slopes = vec![0.0; values.len()];
    for column in 0..n_columns {
        let ordinates: Vec<f64> = values.iter().skip(column).step_by(n_columns).copied().collect();
        let found = Spline::Akima.slopes(rows, &ordinates, periodic);
        for (slot, slope) in slopes.iter_mut().skip(column).step_by(n_columns).zip(found) {
            *slot = slope;
        }
    }
    slopes
}

fn slopes_by_column(columns: &[f64], values: &[f64], periodic: bool) -> Vec<f64> {
    values.chunks(columns.len().max(1)).flat_map(|row| Spline::Akima.slopes(columns, row, periodic)).collect()
}

/// Derivatives by both arguments: the mixed differences around a point, with the weights of the slopes there in both
/// directions (Akima, Commun. ACM 17, 1974).
fn cross_slopes(rows: &[f64], columns: &[f64], values: &[f64], periodic: bool) -> Vec<f64> {
    let m = columns.len();
    let z = |i: usize, j: usize| values.get(i * m + j).copied().unwrap_or(0.0);
    // By interval of the rows and of the columns, one more on each side.
    let mixed: Vec<Vec<f64>> = (1..rows.len())
        .map(|i| {
            let difference = |j: usize| {
                let area = (rows[i] - rows[i - 1]) * (columns[j] - columns[j - 1]);
                (z(i, j) - z(i, j - 1) - z(i - 1, j) + z(i - 1, j - 1)) / area
            };
            let inside: Vec<f64> = (1..m).map(difference).collect();
            (0..=m).map(|j| continued(&inside, j as isize - 1, periodic)).collect()
        })
        .collect();
    let grid: Vec<Vec<f64>> = (0..=m)
        .map(|j| {
            let column: Vec<f64> = mixed.iter().map(|row| row[j]).collect();
            (0..=rows.len()).map(|i| continued(&column, i as isize - 1, periodic)).collect()
        })
        .collect();
    let around = |i: usize, j: usize| grid[j][i];
    let by_rows: Vec<Vec<f64>> = (0..m)
        .map(|j| {
            let ordinates: Vec<f64> = (0..rows.len()).map(|i| z(i, j)).collect();
            akima_weights(rows, &ordinates, periodic)
        })
        .collect();
    let weight = |i: usize, j: usize| by_rows[j][i];
    let mut slopes = Vec::with_capacity(values.len());
    for i in 0..rows.len() {
        let ordinates: Vec<f64> = (0..m).map(|j| z(i, j)).collect();
        let by_columns = akima_weights(columns, &ordinates, periodic);
        for (j, v) in by_columns.into_iter().enumerate() {
            let w = weight(i, j);
            let before = (1.0 - v) * around(i, j) + v * around(i, j + 1);
            let after = (1.0 - v) * around(i + 1, j) + v * around(i + 1, j + 1);
            slopes.push((1.0 - w) * before + w * after);
        }
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three by four points of z(u1, u2).
    fn surface(z: fn(f64, f64) -> f64, smoothness: Smoothness, extrapolation: Extrapolation) -> Surface {
        let (rows, columns) = (vec![0.0, 1.0, 3.0], vec![0.0, 2.0, 3.0, 5.0]);
        let values = rows.iter().flat_map(|&a| columns.iter().map(move |&b| z(a, b))).collect();
        Surface::new(rows, columns, values, smoothness, extrapolation).expect("a surface")
    }

    /// z = 1 + 2·u1 − 3·u2 + u1·u2 is bilinear, so both interpolations reproduce it everywhere.
    #[test]
    fn a_bilinear_function_is_reproduced() {
        for smoothness in [Smoothness::Linear, Smoothness::Spline(Spline::Akima)] {
            let plane = surface(|a, b| 1.0 + 2.0 * a - 3.0 * b + a * b, smoothness, Extrapolation::LastTwoPoints);
            for (a, b) in [(0.5, 1.0), (2.0, 4.0), (-1.0, 6.0), (3.0, 5.0)] {
                let jet = plane.at(a, b).expect("a value");
                let expected = [1.0 + 2.0 * a - 3.0 * b + a * b, 2.0 + b, a - 3.0, 0.0, 1.0, 0.0];
                let [x, y] = jet.first;
                let [xx, xy, yy] = jet.second;
                for (found, expected) in [jet.value, x, y, xx, xy, yy].iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-12, "{smoothness:?} at {a}, {b}: {jet:?}");
                }
            }
        }
    }

    /// z = u1²·u2² on unit squares from -1 to 2, worked out by hand: mixed differences at (0, 0) are
    /// (2i + 1)(2j + 1), so -1·-1, -1·1, 1·-1, 1·1 around it; the weights are equal (second differences are constant), so the
    /// mixed derivative there is 0. At (1, 1) they are 1·1, 1·3, 3·1, 3·3 with the mean 4 = 2·u1·2·u2.
    #[test]
    fn mixed_derivatives_are_means_of_mixed_differences() {
        let points = vec![-1.0, 0.0, 1.0, 2.0];
        let values: Vec<f64> = points.iter().flat_map(|a| points.iter().map(move |b| a * a * b * b)).collect();
        let slopes = cross_slopes(&points, &points, &values, false);
        assert_eq!((slopes[5], slopes[10]), (0.0, 4.0));
    }

    #[test]
    fn constant_segments_and_extrapolation() {
        let sum: fn(f64, f64) -> f64 = |a, b| 10.0 * a + b;
        let steps = surface(sum, Smoothness::Constant, Extrapolation::HoldLastPoint);
        assert_eq!(steps.at(2.9, 4.9).map(|j| j.value), Ok(13.0));
        assert_eq!(steps.at(9.0, -1.0).map(|j| j.value), Ok(30.0));
        let goes_on = surface(sum, Smoothness::Constant, Extrapolation::LastTwoPoints);
        assert_eq!(goes_on.at(2.0, 4.0).map(|j| j.value), Ok(13.0));
        assert!(goes_on.at(2.0, 6.0).is_ok_and(|j| (j.value - 26.0).abs() < 1e-12));
        let periodic = surface(sum, Smoothness::Linear, Extrapolation::Periodic);
        assert_eq!(periodic.at(4.0, 6.0).map(|j| j.value), Ok(11.0));
        assert!(surface(sum, Smoothness::Linear, Extrapolation::Forbidden).at(4.0, 0.0).is_err());
    }
}
