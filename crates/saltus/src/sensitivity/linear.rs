//! The linear equation of sensitivities, s' = A s + B, over one step of a run that is long for its fastest modes.
//!
//! In: A and B at the beginning, in the middle and at the end of a step, between which they are parabolas. Out: s at any time of the step. The method is
//! a singly diagonally implicit one with three stages, of order 3 and L-stable (Alexander 1977): fast modes of stiff models die out as they should.
//! It evaluates no model, so that small steps cost little: their number is doubled until the result stays.

use saltus_numerics::lu::DenseLu;

/// Rows of equal length.
#[derive(Clone, Default, Debug)]
pub struct Matrix {
    pub n_columns: usize,
    pub data: Vec<f64>,
}

impl Matrix {
    pub fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Matrix { n_columns, data: vec![0.0; n_rows * n_columns] }
    }

    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.n_columns..(i + 1) * self.n_columns]
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.n_columns + j]
    }

    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.data[i * self.n_columns + j] = value;
    }

    pub fn set_column(&mut self, j: usize, values: &[f64]) {
        values.iter().enumerate().for_each(|(i, &value)| self.set(i, j, value));
    }

    pub fn is_finite(&self) -> bool {
        self.data.iter().all(|value| value.is_finite())
    }

    pub fn scaled(mut self, factor: f64) -> Self {
        self.data.iter_mut().for_each(|value| *value *= factor);
        self
    }

    /// Adds the product of this matrix and another one to `sum`.
    pub fn multiply_into(&self, other: &Matrix, sum: &mut Matrix) {
        let n = other.n_columns.max(1);
        for (row, own) in sum.data.chunks_exact_mut(n).zip(self.data.chunks_exact(self.n_columns.max(1))) {
            for (factor, theirs) in own.iter().zip(other.data.chunks_exact(n)).filter(|(factor, _)| **factor != 0.0) {
                row.iter_mut().zip(theirs).for_each(|(total, value)| *total += factor * value);
            }
        }
    }

    /// The largest sum of absolute values in a row.
    pub fn norm(&self, n_columns: usize) -> f64 {
        let rows = self.data.chunks_exact(n_columns.max(1));
        rows.map(|row| row.iter().map(|value| value.abs()).sum()).fold(0.0, f64::max)
    }

    /// The largest absolute value of each column.
    pub fn sizes(&self) -> Vec<f64> {
        let mut sizes = vec![0.0f64; self.n_columns];
        for row in self.data.chunks_exact(self.n_columns.max(1)) {
            sizes.iter_mut().zip(row).for_each(|(size, value)| *size = size.max(value.abs()));
        }
        sizes
    }

    /// Do all columns agree but for a part of their largest values?
    fn is_close(&self, other: &Matrix, part: f64) -> bool {
        let sizes: Vec<f64> = self.sizes().iter().zip(other.sizes()).map(|(a, b)| part * a.max(b)).collect();
        let mut rows = self.data.chunks_exact(self.n_columns).zip(other.data.chunks_exact(self.n_columns));
        rows.all(|(own, theirs)| own.iter().zip(theirs).zip(&sizes).all(|((a, b), size)| (a - b).abs() <= *size))
    }
}

/// The model at a time: x, f = x', A = ∂f/∂x and B, which is how f moves with each parameter while x stays.
#[derive(Clone)]
pub struct Node {
    pub time: f64,
    pub x: Vec<f64>,
    pub f: Vec<f64>,
    pub a: Matrix,
    pub b: Matrix,
}

/// A step with its beginning, middle and end.
pub struct Stretch<'a>(pub [&'a Node; 3]);

const GAMMA: f64 = 0.435_866_521_508_459;
const FIRST: f64 = -(6.0 * GAMMA * GAMMA - 16.0 * GAMMA + 1.0) / 4.0;
const SECOND: f64 = (6.0 * GAMMA * GAMMA - 20.0 * GAMMA + 5.0) / 4.0;
const NODES: [f64; 3] = [GAMMA, (1.0 + GAMMA) / 2.0, 1.0];
const WEIGHTS: [[f64; 3]; 3] = [[GAMMA, 0.0, 0.0], [(1.0 - GAMMA) / 2.0, GAMMA, 0.0], [FIRST, SECOND, GAMMA]];

/// Error of the small steps as a part of the result, which twice as many tell.
const ACCURACY: f64 = 1e-7;
/// Twice as many small steps have an eighth of the error: the difference is seven times what is left.
const GAINED: f64 = 7.0;
/// Small steps in one step of the run: what moves faster is stiff, and has died out.
const MOST_STEPS: usize = 64;

impl Stretch<'_> {
    /// Takes `s` from one time of the step to another; false if it is not finite there.
    pub fn take(&self, s: &mut Matrix, from: f64, to: f64) -> bool {
        let n_states = self.0[0].f.len();
        if n_states == 0 || to <= from {
            return true;
        }
        let mut lu = DenseLu::new(n_states);
        let mut rough = s.clone();
        if !self.steps(&mut rough, from, to, 1, &mut lu) {
            return false;
        }
        let mut n = 2;
        loop {
            let mut fine = s.clone();
            if !self.steps(&mut fine, from, to, n, &mut lu) || !fine.is_finite() {
                return false;
            }
            if n >= MOST_STEPS || rough.is_close(&fine, GAINED * ACCURACY) {
                // Richardson's extrapolation.
                let better = fine.data.iter().zip(&rough.data).map(|(fine, rough)| fine + (fine - rough) / GAINED);
                s.data = better.collect();
                return true;
            }
            rough = fine;
            n *= 2;
        }
    }

    fn steps(&self, s: &mut Matrix, from: f64, to: f64, n: usize, lu: &mut DenseLu) -> bool {
        let h = (to - from) / n as f64;
        (0..n).all(|k| self.step(s, from + k as f64 * h, h, lu))
    }

    fn step(&self, s: &mut Matrix, from: f64, h: f64, lu: &mut DenseLu) -> bool {
        let (n, n_parameters) = (self.0[0].f.len(), s.n_columns);
        let mut slopes: Vec<Matrix> = Vec::with_capacity(NODES.len());
        let mut column = vec![0.0; n];
        for (node, weights) in NODES.iter().zip(&WEIGHTS) {
            let (a, b) = self.at(from + node * h);
            let mut start = s.clone();
            for (slope, weight) in slopes.iter().zip(weights) {
                start.data.iter_mut().zip(&slope.data).for_each(|(value, k)| *value += h * weight * k);
            }
            let mut matrix: Vec<f64> = a.data.iter().map(|v| -h * GAMMA * v).collect();
            (0..n).for_each(|i| matrix[i * n + i] += 1.0);
            if lu.factor(&matrix).is_err() {
                return false;
            }
            let mut slope = Matrix::zeros(n, n_parameters);
            for p in 0..n_parameters {
                for (i, value) in column.iter_mut().enumerate() {
                    *value = b.at(i, p) + (0..n).map(|j| a.at(i, j) * start.at(j, p)).sum::<f64>();
                }
                lu.solve(&mut column);
                slope.set_column(p, &column);
            }
            slopes.push(slope);
        }
        for (slope, weight) in slopes.iter().zip(&WEIGHTS[2]) {
            s.data.iter_mut().zip(&slope.data).for_each(|(value, k)| *value += h * weight * k);
        }
        true
    }

    /// Coefficients of a matrix as a parabola, on a time that goes from 0 to 1 over the step; none if it is too short to have a middle.
    pub fn parabola(&self, of: fn(&Node) -> &Matrix) -> Option<[Matrix; 3]> {
        let [t0, t1, t2] = self.0.map(|node| node.time);
        if !(t0 < t1 && t1 < t2) {
            return None;
        }
        let middle = (t1 - t0) / (t2 - t0);
        let [v0, v1, v2] = self.0.map(of);
        let (mut linear, mut square) = (v0.clone(), v0.clone());
        for (i, (a, b, c)) in v0.data.iter().zip(&v1.data).zip(&v2.data).map(|((a, b), c)| (a, b, c)).enumerate() {
            square.data[i] = ((c - a) - (b - a) / middle) / (1.0 - middle);
            linear.data[i] = (c - a) - square.data[i];
        }
        Some([v0.clone(), linear, square])
    }

    /// A and B at a time, on parabolas.
    fn at(&self, t: f64) -> (Matrix, Matrix) {
        let [t0, t1, t2] = self.0.map(|node| node.time);
        let weights = if t0 < t1 && t1 < t2 {
            [
                (t - t1) * (t - t2) / ((t0 - t1) * (t0 - t2)),
                (t - t0) * (t - t2) / ((t1 - t0) * (t1 - t2)),
                (t - t0) * (t - t1) / ((t2 - t0) * (t2 - t1)),
            ]
        } else {
            // Too short to have a middle.
            [0.0, 0.0, 1.0]
        };
        let mean = |of: fn(&Node) -> &Matrix| {
            let mut sum = Matrix { n_columns: of(self.0[0]).n_columns, data: vec![0.0; of(self.0[0]).data.len()] };
            for (node, weight) in self.0.iter().zip(weights) {
                sum.data.iter_mut().zip(&of(node).data).for_each(|(value, part)| *value += weight * part);
            }
            sum
        };
        (mean(|node| &node.a), mean(|node| &node.b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(time: f64, a: f64, b: f64) -> Node {
        let one = |value| Matrix { n_columns: 1, data: vec![value] };
        Node { time, x: vec![0.0], f: vec![0.0], a: one(a), b: one(b) }
    }

    fn taken(nodes: [Node; 3], s: f64, to: f64) -> f64 {
        let [first, middle, last] = &nodes;
        let mut s = Matrix { n_columns: 1, data: vec![s] };
        assert!(Stretch([first, middle, last]).take(&mut s, first.time, to));
        s.at(0, 0)
    }

    #[test]
    fn constant_coefficients() {
        // s' = -2 s + 3 from 0: 1.5 (1 - exp(-2 t)).
        let nodes = [node(0.0, -2.0, 3.0), node(0.5, -2.0, 3.0), node(1.0, -2.0, 3.0)];
        assert!((taken(nodes.clone(), 0.0, 1.0) - 1.5 * (1.0 - (-2.0f64).exp())).abs() < 1e-5);
        assert!((taken(nodes, 0.0, 0.25) - 1.5 * (1.0 - (-0.5f64).exp())).abs() < 1e-5);
    }

    #[test]
    fn changing_coefficients() {
        // s' = -2 t s from 1: exp(-t²).
        let nodes = [node(0.0, 0.0, 0.0), node(0.5, -1.0, 0.0), node(1.0, -2.0, 0.0)];
        assert!((taken(nodes, 1.0, 1.0) - (-1.0f64).exp()).abs() < 1e-5);
    }

    #[test]
    fn stiff_modes_die_out() {
        // s' = -1e9 (s - 2): 2 at once.
        let nodes = [node(0.0, -1e9, 2e9), node(0.5, -1e9, 2e9), node(1.0, -1e9, 2e9)];
        assert!((taken(nodes, 0.0, 1.0) - 2.0).abs() < 1e-9);
    }
}
