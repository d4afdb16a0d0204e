//! Slopes of cubic Hermite splines through given points: what the smoothness of a table means.
//!
//! In: increasing abscissae and their ordinates. Out: the derivative at each point, from which [`hermite`] makes the
//! curve between two of them. Methods: Akima, J. ACM 17 (1970); Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5 (1984);
//! Steffen, Astron. Astrophys. 239 (1990); the modified weights of Akima's method as known from `makima`.

/// Value, first and second derivative at a place.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Jet {
    pub value: f64,
    pub first: f64,
    pub second: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spline {
    Akima,
    FritschButland,
    Steffen,
    ModifiedAkima,
}

impl Spline {
    /// By the ordinal of `Modelica.Blocks.Types.Smoothness`; linear and constant segments are not splines.
    pub fn from_ordinal(smoothness: i64) -> Option<Spline> {
        match smoothness {
            2 => Some(Spline::Akima),
            4 => Some(Spline::FritschButland),
            5 => Some(Spline::Steffen),
            6 => Some(Spline::ModifiedAkima),
            _ => None,
        }
    }

    /// The derivative at each point. A periodic curve continues behind its end as it began; others continue the trend of
    /// their last two differences.
    pub fn slopes(self, x: &[f64], y: &[f64], periodic: bool) -> Vec<f64> {
        let n = x.len().min(y.len());
        let differences = Differences::new(x, y, n, periodic);
        match n {
            0 | 1 => vec![0.0; n],
            2 => vec![differences.slope(0); 2],
            _ => (0..n).map(|i| self.slope(&differences, i as isize)).collect(),
        }
    }

    fn slope(self, d: &Differences, i: isize) -> f64 {
        let (before, after) = (d.slope(i - 1), d.slope(i));
        let is_end = !d.periodic && (i == 0 || i as usize == d.slopes.len());
        match self {
            Spline::Akima => before + d.akima_weight(i) * (after - before),
            Spline::ModifiedAkima => {
                let weight = |a: f64, b: f64| (a - b).abs() + 0.5 * (a + b).abs();
                let (left, right) = (weight(before, d.slope(i - 2)), weight(d.slope(i + 1), after));
                if left + right > 0.0 { weighted(before, after, left, right) } else { 0.0 }
            }
            _ if is_end => d.slope(if i == 0 { 0 } else { i - 1 }),
            Spline::FritschButland if before * after <= 0.0 => 0.0,
            Spline::FritschButland => {
                let (h0, h1) = (d.width(i - 1), d.width(i));
                3.0 * (h0 + h1) / ((h0 + 2.0 * h1) / before + (2.0 * h0 + h1) / after)
            }
            Spline::Steffen if before * after <= 0.0 => 0.0,
            Spline::Steffen => {
                let (h0, h1) = (d.width(i - 1), d.width(i));
                let parabola = (before * h1 + after * h0) / (h0 + h1);
                2.0 * before.signum() * before.abs().min(after.abs()).min(0.5 * parabola.abs())
            }
        }
    }
}

/// Akima's weights: how much of the difference behind a point, compared with the one before it, goes into its slope.
pub fn akima_weights(x: &[f64], y: &[f64], periodic: bool) -> Vec<f64> {
    let n = x.len().min(y.len());
    let differences = Differences::new(x, y, n, periodic);
    (0..n).map(|i| if n < 3 { 0.5 } else { differences.akima_weight(i as isize) }).collect()
}

fn weighted(before: f64, after: f64, left: f64, right: f64) -> f64 {
    before + left / (left + right) * (after - before)
}

/// Divided differences between neighbours, also for two intervals outside.
struct Differences {
    slopes: Vec<f64>,
    widths: Vec<f64>,
    periodic: bool,
}

impl Differences {
    fn new(x: &[f64], y: &[f64], n: usize, periodic: bool) -> Self {
        let widths: Vec<f64> = x[..n].windows(2).map(|p| p[1] - p[0]).collect();
        let slopes = y[..n].windows(2).zip(&widths).map(|(p, h)| (p[1] - p[0]) / h).collect();
        Differences { slopes, widths, periodic }
    }

    fn slope(&self, i: isize) -> f64 {
        continued(&self.slopes, i, self.periodic)
    }

    fn akima_weight(&self, i: isize) -> f64 {
        let left = (self.slope(i - 1) - self.slope(i - 2)).abs();
        let right = (self.slope(i + 1) - self.slope(i)).abs();
        if left + right > 0.0 { left / (left + right) } else { 0.5 }
    }

    fn width(&self, i: isize) -> f64 {
        let n = self.widths.len() as isize;
        self.widths.get(i.rem_euclid(n.max(1)) as usize).copied().unwrap_or(1.0)
    }
}

/// Number `i` of a sequence that goes on outside: from the beginning again, or by the trend of its last two numbers.
pub fn continued(numbers: &[f64], i: isize, periodic: bool) -> f64 {
    let n = numbers.len() as isize;
    let at = |i: isize| usize::try_from(i).ok().and_then(|i| numbers.get(i)).copied().unwrap_or(0.0);
    if (0..n).contains(&i) {
        at(i)
    } else if periodic {
        at(i.rem_euclid(n.max(1)))
    } else if n < 2 {
        at(0)
    } else if i < 0 {
        at(0) + (at(1) - at(0)) * i as f64
    } else {
        at(n - 1) + (at(n - 1) - at(n - 2)) * (i - n + 1) as f64
    }
}

/// The four cubic basis functions of Hermite interpolation over an interval of width `h`, at the fraction `s` of it:
/// weights of the left value, the left slope, the right value, the right slope.
pub fn hermite(s: f64, h: f64) -> [Jet; 4] {
    let jet = |value: f64, first: f64, second: f64| Jet { value, first: first / h, second: second / (h * h) };
    let scaled = |j: Jet| Jet { value: h * j.value, first: h * j.first, second: h * j.second };
    let right = jet(s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s), 6.0 - 12.0 * s);
    let left = Jet { value: 1.0 - right.value, first: -right.first, second: -right.second };
    let left_slope = scaled(jet(s * (1.0 - s) * (1.0 - s), (1.0 - s) * (1.0 - 3.0 * s), 6.0 * s - 4.0));
    let right_slope = scaled(jet(s * s * (s - 1.0), s * (3.0 * s - 2.0), 6.0 * s - 2.0));
    [left, left_slope, right, right_slope]
}

/// The sum of weights times numbers.
pub fn combine(weights: &[Jet; 4], numbers: [f64; 4]) -> Jet {
    let mut sum = Jet::default();
    for (w, x) in weights.iter().zip(numbers) {
        sum.value += w.value * x;
        sum.first += w.first * x;
        sum.second += w.second * x;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Spline; 4] = [Spline::Akima, Spline::FritschButland, Spline::Steffen, Spline::ModifiedAkima];

    #[test]
    fn a_line_keeps_its_slope() {
        for spline in ALL {
            let slopes = spline.slopes(&[0.0, 1.0, 3.0, 4.0], &[1.0, 3.0, 7.0, 9.0], false);
            assert!(slopes.iter().all(|s| (s - 2.0).abs() < 1e-15), "{spline:?}: {slopes:?}");
            assert_eq!(spline.slopes(&[0.0, 2.0], &[0.0, 1.0], true), [0.5, 0.5]);
        }
    }

    /// Differences 0, 1, 3 between unit steps; by hand from the definitions.
    #[test]
    fn slopes_by_hand() {
        let slopes = |spline: Spline| spline.slopes(&[0.0, 1.0, 2.0, 3.0], &[0.0, 0.0, 1.0, 4.0], false);
        // Continued differences are −2, −1 | 0, 1, 3 | 5, 7, so the weights of the inner points are 1:2 and 1:2.
        assert_eq!(slopes(Spline::Akima), [-0.5, 1.0 / 3.0, 1.0 + 2.0 / 3.0, 4.0]);
        // Weighted harmonic mean: 0 beside a flat piece, 2/(1/1 + 1/3) inside.
        assert_eq!(slopes(Spline::FritschButland), [0.0, 0.0, 1.5, 3.0]);
        // The least of twice the differences 1 and 3, and of their mean 2.
        assert_eq!(slopes(Spline::Steffen), [0.0, 0.0, 2.0, 3.0]);
    }

    #[test]
    fn a_periodic_curve_has_the_same_slope_at_both_ends() {
        for spline in ALL {
            let slopes = spline.slopes(&[0.0, 1.0, 2.0, 4.0], &[0.0, 1.0, 4.0, 0.0], true);
            assert_eq!(slopes.first(), slopes.last(), "{spline:?}");
        }
    }

    /// x³ over [1, 3] is its own Hermite interpolant: at x = 2 value 8, derivatives 12 and 12.
    #[test]
    fn hermite_reproduces_a_cubic() {
        let jet = combine(&hermite(0.5, 2.0), [1.0, 3.0, 27.0, 27.0]);
        assert_eq!(jet, Jet { value: 8.0, first: 12.0, second: 12.0 });
    }
}
