//! Integration with events that shares nothing with the simulator: the classical Runge–Kutta method with a small fixed step,
//! and bisection on the length of the step in which something changes.

pub type State = Vec<f64>;

/// A root of `f` between `a` and `b`, where it has different signs, to the resolution of numbers.
pub fn bisect(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let rising = f(b) > 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (a + b);
        if middle <= a.min(b) || middle >= a.max(b) {
            break;
        }
        if (f(middle) > 0.0) == rising {
            b = middle;
        } else {
            a = middle;
        }
    }
    b
}

/// One step of the classical Runge–Kutta method of order 4.
pub fn rk4(f: &dyn Fn(f64, &[f64]) -> State, t: f64, x: &[f64], h: f64) -> State {
    let along = |k: &[f64], h: f64| -> State { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
    let k1 = f(t, x);
    let k2 = f(t + 0.5 * h, &along(&k1, 0.5 * h));
    let k3 = f(t + 0.5 * h, &along(&k2, 0.5 * h));
    let k4 = f(t + h, &along(&k3, h));
    (0..x.len()).map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])).collect()
}

/// Integrates up to `end`, or to the first instant at which `happens` is not negative any more. Says whether it came to that.
pub fn integrate(
    f: &dyn Fn(f64, &[f64]) -> State,
    happens: &dyn Fn(f64, &[f64]) -> f64,
    start: (f64, State),
    end: f64,
    h: f64,
) -> (f64, State, bool) {
    let (mut t, mut x) = start;
    while t < end {
        let h = h.min(end - t);
        let next = rk4(f, t, &x, h);
        if happens(t + h, &next) >= 0.0 {
            let length = bisect(|h| if happens(t + h, &rk4(f, t, &x, h)) >= 0.0 { 1.0 } else { -1.0 }, 0.0, h);
            let there = rk4(f, t, &x, length);
            return (t + length, there, true);
        }
        // Adding steps one by one would let the end drift.
        t = if end - t <= h * (1.0 + 1e-12) { end } else { t + h };
        x = next;
    }
    (t, x, false)
}

/// Solves a small dense system by elimination with row pivots; `None` if it is singular.
pub fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, pivot);
        b.swap(k, pivot);
        if a[k][k] == 0.0 {
            return None;
        }
        let (above, below) = a.split_at_mut(k + 1);
        for (row, i) in below.iter_mut().zip(k + 1..n) {
            let factor = row[k] / above[k][k];
            row.iter_mut().zip(&above[k]).skip(k).for_each(|(x, pivot)| *x -= factor * pivot);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    Some(b)
}

/// The output voltage of a rectifier at given times: source sin(100πt) with `ri` in series, ideal diode, capacitor `c`
/// parallel to `rl`; and the times at which the diode switches. Between these the voltage is a sum of an exponential and a
/// sine, so only the switching times are searched for.
pub fn rectifier(ri: f64, rl: f64, c: f64, times: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let omega = 100.0 * std::f64::consts::PI;
    let source = |t: f64| (omega * t).sin();
    // While it conducts: u' = (sin(ωt) - u)/(ri c) - u/(rl c) = (k sin(ωt) - u)/tau.
    let tau = c * ri * rl / (ri + rl);
    let k = rl / (ri + rl);
    let forced = |t: f64| {
        let d = 1.0 + (omega * tau).powi(2);
        k * ((omega * t).sin() - omega * tau * (omega * t).cos()) / d
    };
    let conducting = |t0: f64, u0: f64, t: f64| forced(t) + (u0 - forced(t0)) * (-(t - t0) / tau).exp();
    let blocking = |t0: f64, u0: f64, t: f64| u0 * (-(t - t0) / (rl * c)).exp();
    let (mut t0, mut u0, mut on) = (0.0, 0.0, true);
    let mut switching = Vec::new();
    let mut values = Vec::new();
    let mut pending = times.iter().peekable();
    let end = times.last().copied().unwrap_or(0.0);
    let dt = 1e-5;
    while t0 <= end {
        let voltage = |t: f64| if on { conducting(t0, u0, t) } else { blocking(t0, u0, t) };
        let excess = |t: f64| (source(t) - voltage(t)) * if on { -1.0 } else { 1.0 };
        let mut t1 = t0 + dt;
        while excess(t1) < 0.0 && t1 <= end {
            t1 += dt;
        }
        let next = if t1 > end { f64::INFINITY } else { bisect(excess, t1 - dt, t1) };
        while let Some(&&t) = pending.peek().filter(|t| ***t < next) {
            values.push(voltage(t));
            pending.next();
        }
        if next.is_infinite() {
            break;
        }
        let u1 = voltage(next);
        switching.push(next);
        (t0, u0, on) = (next, u1, !on);
    }
    (values, switching)
}
