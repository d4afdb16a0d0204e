//! Test problems with reference solutions, and the integrators to try on them.
#![allow(dead_code)] // each test file uses some of them

use saltus_numerics::{
    Automatic, Bdf, DormandPrince, Eval, Integrator, OdeSystem, Order, Rosenbrock, RosenbrockMethod, Sparsity,
    Tolerances,
};

pub const METHODS: [&str; 6] = ["dormand-prince", "dormand-prince-8", "rodas4", "rodas5p", "bdf", "automatic"];
pub const STIFF_METHODS: [&str; 4] = ["rodas4", "rodas5p", "bdf", "automatic"];

pub fn integrator(method: &str, tolerances: Tolerances, max_step: f64) -> Box<dyn Integrator> {
    match method {
        "dormand-prince" => Box::new(DormandPrince::new(Order::Fifth, tolerances, max_step)),
        "dormand-prince-8" => Box::new(DormandPrince::new(Order::Eighth, tolerances, max_step)),
        "rodas4" => Box::new(Rosenbrock::new(RosenbrockMethod::Rodas4, tolerances, max_step)),
        "rodas5p" => Box::new(Rosenbrock::new(RosenbrockMethod::Rodas5P, tolerances, max_step)),
        "bdf" => Box::new(Bdf::new(tolerances, max_step)),
        "automatic" => Box::new(Automatic::new(tolerances, max_step)),
        _ => panic!("no method {method}"),
    }
}

pub fn uniform(n: usize, tolerance: f64) -> Tolerances {
    Tolerances { relative: tolerance, absolute: vec![tolerance; n], unbounded: vec![] }
}

/// Integrates to `t_end`; ends on it exactly.
pub fn run(solver: &mut dyn Integrator, system: &mut dyn OdeSystem, x: &[f64], t_end: f64) {
    solver.restart(system, 0.0, x).unwrap();
    advance(solver, system, t_end);
}

pub fn advance(solver: &mut dyn Integrator, system: &mut dyn OdeSystem, t_end: f64) {
    let mut steps = 0;
    while solver.time() < t_end {
        solver.step(system, t_end).unwrap();
        steps += 1;
        assert!(steps < 1_000_000, "too many steps at t = {}", solver.time());
    }
    assert_eq!(solver.time(), t_end);
}

pub fn relative_error(x: &[f64], reference: &[f64]) -> f64 {
    x.iter().zip(reference).fold(0f64, |m, (a, b)| m.max(((a - b) / b).abs()))
}

/// Chemical kinetics of Robertson (1966), x(0) = (1, 0, 0); x₁ + x₂ + x₃ = 1 always.
pub struct Robertson {
    pub has_jacobian: bool,
}

impl OdeSystem for Robertson {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
        dx[2] = 3e7 * x[1] * x[1];
        dx[1] = -dx[0] - dx[2];
        Ok(())
    }

    fn jacobian(&mut self, _: f64, x: &[f64], j: &mut [f64]) -> bool {
        j.copy_from_slice(&[
            -0.04,
            1e4 * x[2],
            1e4 * x[1],
            0.04,
            -1e4 * x[2] - 6e7 * x[1],
            -1e4 * x[1],
            0.0,
            6e7 * x[1],
            0.0,
        ]);
        self.has_jacobian
    }

    fn time_derivative(&mut self, _: f64, _: &[f64], dt: &mut [f64]) -> bool {
        dt.fill(0.0);
        self.has_jacobian
    }
}

/// Van der Pol's oscillator: ẋ = y, ẏ = ((1 − x²)·y − x)/ε, x(0) = (2, 0). With ε = 1e-6 it is the
/// equation with μ = 1000 in the time t/μ.
pub struct VanDerPol {
    pub epsilon: f64,
}

impl OdeSystem for VanDerPol {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = x[1];
        dx[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) / self.epsilon;
        Ok(())
    }

    fn jacobian(&mut self, _: f64, x: &[f64], j: &mut [f64]) -> bool {
        let e = self.epsilon;
        j.copy_from_slice(&[0.0, 1.0, (-2.0 * x[0] * x[1] - 1.0) / e, (1.0 - x[0] * x[0]) / e]);
        true
    }

    fn time_derivative(&mut self, _: f64, _: &[f64], dt: &mut [f64]) -> bool {
        dt.fill(0.0);
        true
    }
}

/// ẍ = −ω²·x.
pub struct Oscillator {
    pub omega: f64,
}

impl OdeSystem for Oscillator {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = x[1];
        dx[1] = -self.omega * self.omega * x[0];
        Ok(())
    }
}

/// Prothero and Robinson (1974): ẋ = λ·(x − cos t) − sin t has the solution cos t, however stiff.
pub struct ProtheroRobinson {
    pub lambda: f64,
}

impl OdeSystem for ProtheroRobinson {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = self.lambda * (x[0] - t.cos()) - t.sin();
        Ok(())
    }
}

/// Nonlinear and dependent on time: ẋ = −2·t·x², ẏ = y·cos t with x = 1/(1 + t²), y = exp(sin t).
pub struct Nonlinear;

impl Nonlinear {
    pub fn exact(t: f64) -> [f64; 2] {
        [1.0 / (1.0 + t * t), t.sin().exp()]
    }
}

impl OdeSystem for Nonlinear {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = -2.0 * t * x[0] * x[0];
        dx[1] = x[1] * t.cos();
        Ok(())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], j: &mut [f64]) -> bool {
        j.copy_from_slice(&[-4.0 * t * x[0], 0.0, 0.0, t.cos()]);
        true
    }

    fn time_derivative(&mut self, t: f64, x: &[f64], dt: &mut [f64]) -> bool {
        dt[0] = -2.0 * x[0] * x[0];
        dt[1] = -x[1] * t.sin();
        true
    }
}

/// Reaction and diffusion on a rod with `n` inner points (Hairer, Wanner II, section IV.1): u = x[2i], v = x[2i + 1],
/// ends at u = 1, v = 3.
pub struct Brusselator {
    pub pattern: Option<Sparsity>,
}

impl Brusselator {
    pub fn new(n_points: usize, is_sparse: bool) -> Self {
        let n = 2 * n_points;
        let entries = (0..n).flat_map(|i| {
            [i.checked_sub(2), Some(i), Some(i ^ 1), Some(i + 2)].into_iter().flatten().map(move |j| (i, j))
        });
        Brusselator { pattern: is_sparse.then(|| Sparsity::from_entries(n, entries)) }
    }

    pub fn start(n_points: usize) -> Vec<f64> {
        let place = |i: usize| (i + 1) as f64 / (n_points + 1) as f64;
        (0..n_points).flat_map(|i| [1.0 + (std::f64::consts::TAU * place(i)).sin(), 3.0]).collect()
    }
}

impl OdeSystem for Brusselator {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        let n = x.len() / 2;
        let diffusion = 0.02 * ((n + 1) * (n + 1)) as f64;
        for i in 0..n {
            let (u, v) = (x[2 * i], x[2 * i + 1]);
            let (ul, vl) = if i > 0 { (x[2 * i - 2], x[2 * i - 1]) } else { (1.0, 3.0) };
            let (ur, vr) = if i + 1 < n { (x[2 * i + 2], x[2 * i + 3]) } else { (1.0, 3.0) };
            dx[2 * i] = 1.0 + u * u * v - 4.0 * u + diffusion * (ul - 2.0 * u + ur);
            dx[2 * i + 1] = 3.0 * u - u * u * v + diffusion * (vl - 2.0 * v + vr);
        }
        Ok(())
    }

    fn sparsity(&self) -> Option<&Sparsity> {
        self.pattern.as_ref()
    }

    fn time_derivative(&mut self, _: f64, _: &[f64], dt: &mut [f64]) -> bool {
        dt.fill(0.0);
        true
    }
}
