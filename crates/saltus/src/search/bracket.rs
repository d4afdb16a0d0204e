//! Boundary values: which parameter makes the last value of a variable meet a target?
//!
//! In: two values of the parameter between which the answer lies, and a function that runs the model. Out: the parameter, to
//! the resolution of numbers if need be.
//!
//! ```
//! let found = saltus::search::bracket::find([0.0, 3.0], 2.0, 1e-12, &mut |p| Ok(p * p)).unwrap();
//! assert!((found.parameter - 2.0_f64.sqrt()).abs() < 1e-9);
//! ```
//!
//! The method is that of the false position, in the form in which an end that stays counts half (Illinois), with a
//! bisection where the bracket does not shrink: as few runs as a smooth dependence allows, and no failure where it jumps.

/// Limit on the number of runs.
const MOST_RUNS: usize = 200;
/// After this many runs the bracket must be half as wide, or it is bisected.
const REVIEW: usize = 4;

#[derive(Clone, Copy, PartialEq)]
enum End {
    A,
    B,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    pub parameter: f64,
    /// What the variable is there.
    pub value: f64,
    pub runs: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub enum NotFound {
    /// The target is not between the values at the ends: parameter and value of each.
    NotBetween([(f64, f64); 2]),
    /// The value jumps over the target here.
    Jump { parameter: f64, values: [f64; 2] },
    /// A run failed.
    Failed { parameter: f64, why: String },
}

/// Searches for the parameter at which `run` gives `target`, up to `tolerance`.
pub fn find(
    ends: [f64; 2],
    target: f64,
    tolerance: f64,
    run: &mut dyn FnMut(f64) -> Result<f64, String>,
) -> Result<Found, NotFound> {
    let mut runs = 0;
    let mut miss = |parameter: f64| {
        runs += 1;
        let value = run(parameter).map_err(|why| NotFound::Failed { parameter, why })?;
        match value.is_finite() {
            true => Ok((value - target, runs)),
            false => Err(NotFound::Failed { parameter, why: "the value is not a number".to_owned() }),
        }
    };
    let done = |parameter: f64, miss: f64, runs: usize| Found { parameter, value: target + miss, runs };
    let [mut a, mut b] = ends;
    let (mut fa, _) = miss(a)?;
    let (mut fb, mut n) = miss(b)?;
    if fa.abs() <= tolerance || fb.abs() <= tolerance {
        return Ok(if fa.abs() <= fb.abs() { done(a, fa, n) } else { done(b, fb, n) });
    }
    if (fa > 0.0) == (fb > 0.0) {
        return Err(NotFound::NotBetween([(a, fa + target), (b, fb + target)]));
    }
    // What the ends count: one that stays twice counts half.
    let (mut wa, mut wb) = (fa, fb);
    let mut moved = None;
    let mut width = (b - a).abs();
    while n < MOST_RUNS {
        let middle = a + 0.5 * (b - a);
        if middle == a || middle == b {
            break;
        }
        let secant = b - wb * (b - a) / (wb - wa);
        let is_inside = secant > a.min(b) && secant < a.max(b);
        let is_reviewed = n % REVIEW == 0;
        let shrinks = !is_reviewed || (b - a).abs() <= 0.5 * width;
        let parameter = if is_inside && shrinks { secant } else { middle };
        if is_reviewed {
            width = (b - a).abs();
        }
        let (f, so_far) = miss(parameter)?;
        n = so_far;
        if f.abs() <= tolerance {
            return Ok(done(parameter, f, n));
        }
        if (f > 0.0) == (fa > 0.0) {
            wb *= if moved == Some(End::A) { 0.5 } else { 1.0 };
            (a, fa, wa, moved) = (parameter, f, f, Some(End::A));
        } else {
            wa *= if moved == Some(End::B) { 0.5 } else { 1.0 };
            (b, fb, wb, moved) = (parameter, f, f, Some(End::B));
        }
    }
    let (parameter, best) = if fa.abs() <= fb.abs() { (a, fa) } else { (b, fb) };
    // Next to each other and still far apart in value: a jump, not a root.
    if best.abs() > 1e3 * tolerance.max(f64::EPSILON * target.abs()) {
        return Err(NotFound::Jump { parameter, values: [fa + target, fb + target] });
    }
    Ok(done(parameter, best, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_dependence_takes_few_runs() {
        let found = find([0.0, 2.0], 1.0, 1e-12, &mut |p: f64| Ok(p.exp() - 1.0)).expect("a root");
        assert!((found.parameter - std::f64::consts::LN_2).abs() < 1e-12, "{found:?}");
        assert!(found.runs <= 15, "{found:?}");
    }

    #[test]
    fn a_root_between_flat_and_steep_is_found() {
        let found = find([0.0, 1.0], 0.5, 1e-9, &mut |p: f64| Ok(p.powi(60))).expect("a root");
        assert!((found.parameter - 0.5_f64.powf(1.0 / 60.0)).abs() < 1e-9, "{found:?}");
        assert!(found.runs <= 60, "{found:?}");
    }

    #[test]
    fn what_is_not_between_or_jumps_is_said() {
        let square = &mut |p: f64| Ok(p * p);
        assert_eq!(find([0.0, 1.0], 2.0, 1e-9, square), Err(NotFound::NotBetween([(0.0, 0.0), (1.0, 1.0)])));
        let step = &mut |p: f64| Ok(if p < 0.3 { 0.0 } else { 1.0 });
        let Err(NotFound::Jump { parameter, values }) = find([0.0, 1.0], 0.5, 1e-9, step) else { panic!("a jump") };
        assert!((parameter - 0.3).abs() < 1e-12);
        assert_eq!(values, [0.0, 1.0]);
        let fails = &mut |p: f64| if p < 0.5 { Ok(p) } else { Err("no".to_owned()) };
        assert_eq!(find([0.0, 1.0], 0.2, 1e-9, fails), Err(NotFound::Failed { parameter: 1.0, why: "no".into() }));
    }
}
