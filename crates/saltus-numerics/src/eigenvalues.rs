//! Eigenvalues of a dense real matrix: balancing, reduction to Hessenberg form, QR steps with Wilkinson shifts.
//!
//! In: a square matrix, row by row. Out: its eigenvalues as (real part, imaginary part), sorted. The QR steps work on complex
//! numbers, so that one rotation and one shift do for real and for complex pairs. (Golub and Van Loan, chapter 7.)

/// QR steps for one eigenvalue after which the matrix is given up.
const MOST_STEPS: usize = 60;
/// After this many steps without success a shift from elsewhere breaks a cycle.
const STUCK: usize = 10;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

    fn new(re: f64, im: f64) -> Self {
        Complex { re, im }
    }

    fn plus(self, o: Self) -> Self {
        Complex::new(self.re + o.re, self.im + o.im)
    }

    fn minus(self, o: Self) -> Self {
        Complex::new(self.re - o.re, self.im - o.im)
    }

    fn times(self, o: Self) -> Self {
        Complex::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }

    fn scaled(self, factor: f64) -> Self {
        Complex::new(self.re * factor, self.im * factor)
    }

    fn conjugate(self) -> Self {
        Complex::new(self.re, -self.im)
    }

    fn size(self) -> f64 {
        self.re.hypot(self.im)
    }

    fn root(self) -> Self {
        let size = self.size();
        let re = ((size + self.re.abs()) / 2.0).sqrt();
        if re == 0.0 {
            return Complex::ZERO;
        }
        let im = self.im.abs() / (2.0 * re);
        let (re, im) = if self.re >= 0.0 { (re, im) } else { (im, re) };
        Complex::new(re, if self.im < 0.0 { -im } else { im })
    }
}

/// The eigenvalues of the n×n matrix `a` (row-major); `None` if it has entries that are not finite, or the iteration fails.
pub fn eigenvalues(n: usize, a: &[f64]) -> Option<Vec<(f64, f64)>> {
    if a.len() != n * n || a.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut h = a.to_vec();
    balance(n, &mut h);
    reduce_to_hessenberg(n, &mut h);
    let mut c: Vec<Complex> = h.iter().map(|&v| Complex::new(v, 0.0)).collect();
    let norm = h.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut found = Vec::with_capacity(n);
    let (mut end, mut steps) = (n, 0);
    while end > 0 {
        let start = block_start(n, &mut c, end, norm);
        if start + 1 == end {
            found.push(c[(end - 1) * n + end - 1]);
            (end, steps) = (end - 1, 0);
            continue;
        }
        steps += 1;
        if steps > MOST_STEPS {
            return None;
        }
        let shift = if steps % STUCK == 0 {
            let last = c[(end - 1) * n + end - 2].size();
            c[(end - 1) * n + end - 1].plus(Complex::new(0.75 * last, 0.4375 * last))
        } else {
            wilkinson_shift(n, &c, end)
        };
        qr_step(n, &mut c, start, end, shift);
    }
    Some(tidy(found, norm))
}

/// Scales rows and columns by powers of two until they are of similar size; the eigenvalues stay.
fn balance(n: usize, a: &mut [f64]) {
    for _ in 0..20 {
        let mut is_done = true;
        for i in 0..n {
            let others = || (0..n).filter(|&j| j != i);
            let row: f64 = others().map(|j| a[i * n + j].abs()).sum();
            let column: f64 = others().map(|j| a[j * n + i].abs()).sum();
            if row == 0.0 || column == 0.0 {
                continue;
            }
            let exponent = (0.5 * (row / column).log2()).round();
            if exponent.abs() >= 1.0 {
                is_done = false;
                let factor = exponent.exp2();
                (0..n).for_each(|j| a[i * n + j] /= factor);
                (0..n).for_each(|j| a[j * n + i] *= factor);
            }
        }
        if is_done {
            break;
        }
    }
}

/// Similarity transformations by elimination with pivots; below the first subdiagonal zeros remain.
fn reduce_to_hessenberg(n: usize, a: &mut [f64]) {
    for k in 1..n.saturating_sub(1) {
        let pivot = (k..n).max_by(|&i, &j| a[i * n + k - 1].abs().total_cmp(&a[j * n + k - 1].abs())).unwrap_or(k);
        if a[pivot * n + k - 1] == 0.0 {
            continue;
        }
        if pivot != k {
            (0..n).for_each(|j| a.swap(pivot * n + j, k * n + j));
            (0..n).for_each(|j| a.swap(j * n + pivot, j * n + k));
        }
        for i in k + 1..n {
            let factor = a[i * n + k - 1] / a[k * n + k - 1];
            if factor != 0.0 {
                (0..n).for_each(|j| a[i * n + j] -= factor * a[k * n + j]);
                (0..n).for_each(|j| a[j * n + k] += factor * a[j * n + i]);
                a[i * n + k - 1] = 0.0;
            }
        }
    }
}

/// Where the last block without a negligible subdiagonal entry begins; that entry becomes zero.
fn block_start(n: usize, c: &mut [Complex], end: usize, norm: f64) -> usize {
    for k in (1..end).rev() {
        let around = c[(k - 1) * n + k - 1].size() + c[k * n + k].size();
        let scale = if around > 0.0 { around } else { norm };
        if c[k * n + k - 1].size() <= f64::EPSILON * scale {
            c[k * n + k - 1] = Complex::ZERO;
            return k;
        }
    }
    0
}

/// The eigenvalue of the last two rows and columns that is closer to the last entry.
fn wilkinson_shift(n: usize, c: &[Complex], end: usize) -> Complex {
    let (i, j) = (end - 2, end - 1);
    let (a, b, d, e) = (c[i * n + i], c[i * n + j], c[j * n + i], c[j * n + j]);
    let half = a.minus(e).scaled(0.5);
    let root = half.times(half).plus(b.times(d)).root();
    let mean = a.plus(e).scaled(0.5);
    let (p, q) = (mean.plus(root), mean.minus(root));
    if p.minus(e).size() < q.minus(e).size() { p } else { q }
}

/// One step on rows and columns `start..end`: rotations make it triangular, and are multiplied back.
fn qr_step(n: usize, c: &mut [Complex], start: usize, end: usize, shift: Complex) {
    for i in start..end {
        c[i * n + i] = c[i * n + i].minus(shift);
    }
    let mut rotations = Vec::with_capacity(end - start);
    for k in start..end - 1 {
        let (x, y) = (c[k * n + k], c[(k + 1) * n + k]);
        let length = x.size().hypot(y.size());
        let (cosine, sine) = if length == 0.0 {
            (Complex::new(1.0, 0.0), Complex::ZERO)
        } else {
            (x.scaled(1.0 / length), y.scaled(1.0 / length))
        };
        for j in k..end {
            let (p, q) = (c[k * n + j], c[(k + 1) * n + j]);
            c[k * n + j] = cosine.conjugate().times(p).plus(sine.conjugate().times(q));
            c[(k + 1) * n + j] = cosine.times(q).minus(sine.times(p));
        }
        rotations.push((cosine, sine));
    }
    for (k, (cosine, sine)) in (start..).zip(rotations) {
        for i in start..(k + 2).min(end) {
            let (p, q) = (c[i * n + k], c[i * n + k + 1]);
            c[i * n + k] = p.times(cosine).plus(q.times(sine));
            c[i * n + k + 1] = q.times(cosine.conjugate()).minus(p.times(sine.conjugate()));
        }
    }
    for i in start..end {
        c[i * n + i] = c[i * n + i].plus(shift);
    }
}

/// Imaginary parts of rounding errors vanish, pairs are exact, the order is fixed.
fn tidy(found: Vec<Complex>, norm: f64) -> Vec<(f64, f64)> {
    let negligible = 1e-13 * norm.max(f64::MIN_POSITIVE);
    let mut values: Vec<(f64, f64)> =
        found.iter().map(|c| (c.re, if c.im.abs() <= negligible { 0.0 } else { c.im })).collect();
    values.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[(f64, f64)], expected: &[(f64, f64)], tolerance: f64) {
        assert_eq!(found.len(), expected.len());
        for e in expected {
            let nearest = found.iter().map(|f| (f.0 - e.0).hypot(f.1 - e.1)).fold(f64::INFINITY, f64::min);
            assert!(nearest < tolerance, "{e:?} not among {found:?}");
        }
    }

    #[test]
    fn small_matrices_have_known_eigenvalues() {
        assert_eq!(eigenvalues(0, &[]), Some(vec![]));
        assert_eq!(eigenvalues(1, &[3.0]), Some(vec![(3.0, 0.0)]));
        // Closed form: ±i.
        close(&eigenvalues(2, &[0.0, 1.0, -1.0, 0.0]).unwrap(), &[(0.0, 1.0), (0.0, -1.0)], 1e-14);
        // Triangular: the diagonal.
        let a = [1.0, 5.0, 6.0, 0.0, 2.0, 7.0, 0.0, 0.0, -3.0];
        close(&eigenvalues(3, &a).unwrap(), &[(1.0, 0.0), (2.0, 0.0), (-3.0, 0.0)], 1e-13);
        assert_eq!(eigenvalues(2, &[f64::NAN, 0.0, 0.0, 1.0]), None);
    }

    #[test]
    fn the_roots_of_a_polynomial_are_those_of_its_companion_matrix() {
        // (x - 1)(x - 2)(x - 3)(x - 4) = x^4 - 10 x^3 + 35 x^2 - 50 x + 24
        let a = [10.0, -35.0, 50.0, -24.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        close(&eigenvalues(4, &a).unwrap(), &[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)], 1e-10);
    }

    #[test]
    fn a_chain_of_springs_has_the_eigenvalues_of_the_sine() {
        // The tridiagonal matrix (1, -2, 1) of size n: -4 sin²(kπ/(2(n + 1))).
        let n = 40;
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            a[i * n + i] = -2.0;
            if i + 1 < n {
                a[i * n + i + 1] = 1.0;
                a[(i + 1) * n + i] = 1.0;
            }
        }
        let angle = |k: usize| k as f64 * std::f64::consts::PI / (2.0 * (n + 1) as f64);
        let expected: Vec<(f64, f64)> = (1..=n).map(|k| (-4.0 * angle(k).sin().powi(2), 0.0)).collect();
        close(&eigenvalues(n, &a).unwrap(), &expected, 1e-12);
    }
}
