//! Solves the loops of a program: linear ones in one step, others by Newton's method from several starts, mixed ones
//! together with their discrete variables.
//!
//! In: a [`Loop`] and memory whose unknowns hold the last solution (the start of the next). Out: memory with the
//! solution, or a [`Status`] and a description that names the unknowns, their values and the residuals.

mod continuation;
mod describe;
mod discrete;
mod original;
mod terms;
mod undetermined;
mod unfulfilled;
mod untorn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use saltus_base::Index;
use saltus_numerics::{
    Eval, Matrix, NewtonError, NewtonOptions, NewtonReport, NewtonSolver, NonlinearSystem, Sparsity, TrialFailure,
};
use saltus_program::{Loop, LoopStatistics, MixedMethod, MixedSolution, SimProgram, SlotId, Status, Unknown, ValueId};

use crate::linear::{LinearSolver, NotLinear, usable_nominal};
use crate::machine::Machine;
use crate::mixed::Concession;
use crate::native::NativeLoop;
use crate::state::LoopState;
use crate::switches::Switches;
use discrete::Discrete;
use original::{From, OriginalWork, inner};
use unfulfilled::Fulfilment;

/// Relative accuracy of nonlinear loops: their error is noise in the derivatives of the model.
const TOLERANCE: f64 = 1e-12;
const MOST_ITERATIONS: u32 = 100;
/// Interpreted this often, a loop is compiled. Loops of sections that run often have become machine code with these before.
const COLD_EVALUATIONS: u32 = 2_000;
/// Unknowns this many times larger than ever are not a solution.
const FARTHEST: f64 = 1e30;

/// A residual that is more than this part of its terms is not rounding. An audit has the same bound.
const INACCURATE: f64 = 1e-6;
/// A residual that is less than this part of the largest variable of its loop may be what rounding has left of it.
const NEGLIGIBLE: f64 = 1e-9;

/// Largest loop whose rank is looked at.
const LARGEST_RANK: usize = 300;

/// How much effort a solution is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// A trial point of an integrator: a smaller step is cheaper, and another solution would be a wrong one.
    Trial,
    /// An event or the start: there is no second chance.
    Event(Concession),
}

/// A loop with its storage.
pub(crate) struct LoopWork {
    l: Arc<Loop>,
    reals: Reals,
    discrete: Option<Discrete>,
    why: Why,
    /// Does another round of the event have to confirm the discrete values?
    is_provisional: bool,
}

/// Why the reals of a loop have no solution.
#[derive(Clone, Copy, PartialEq, Debug)]
enum NoSolution {
    Linear(NotLinear),
    Newton(NewtonError),
    /// The iteration ended where no solution can be.
    RanAway,
    /// Rounding errors have grown along the assignments to inner variables: the equations do not hold.
    Inaccurate,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Why {
    Nothing,
    Reals(NoSolution),
    /// No combination of discrete values was confirmed.
    Mixed {
        tried: u32,
    },
    /// The discrete part itself cannot be evaluated.
    Discrete(Status),
}

/// Discrete values that did not agree after so many solutions; another round of the event must confirm them.
struct Provisional {
    tried: u32,
}

struct Reals {
    /// Machine code of the equations, if they are compiled.
    native: Option<NativeLoop>,
    /// Evaluations by interpretation that are left before machine code is asked for; `None` if that has been done.
    patience: Option<u32>,
    newton: NewtonSolver,
    /// For loops whose torn form is too inaccurate.
    untorn: Option<Box<untorn::UntornWork>>,
    /// For loops whose torn form is not solved.
    original: Option<Box<OriginalWork>>,
    linear: Option<LinearSolver>,
    /// Where the entries of the Jacobian go.
    positions: Vec<usize>,
    nominal: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
    x: Vec<f64>,
    /// Values on entry.
    entry: Vec<f64>,
    /// Values at the last accepted point.
    accepted: Vec<f64>,
    start: Vec<f64>,
    /// Where and how far the first attempt failed.
    failed_x: Vec<f64>,
    failed_residuals: Vec<f64>,
    tried: Tried,
    fulfilment: Fulfilment,
    switches: Switches,
    /// Residuals and stored values of the body.
    used: Vec<ValueId>,
    residuals: Vec<f64>,
    scratch: Vec<f64>,
}

/// What has been done for a solution in vain.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Tried {
    /// Starts of Newton's method.
    starts: usize,
    /// How far paths from start values led at best, of 1.
    furthest: Option<f64>,
}

impl LoopWork {
    pub fn new(l: Arc<Loop>, program: &SimProgram) -> Self {
        let n = l.unknowns.len();
        let start = |u: &saltus_program::Unknown| program.memory.slots.get(u.slot).map_or(0.0, |s| s.initial);
        let start: Vec<f64> = l.unknowns.iter().map(start).collect();
        let options =
            NewtonOptions { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS, ..NewtonOptions::default() };
        let pattern = sparse_pattern(&l);
        let matrix = || pattern.as_ref().map_or_else(|| Matrix::dense(n), Matrix::sparse);
        // A mixed loop is entered with its solution in each round of an event; to move it by rounding would let relations
        // near their thresholds change for ever.
        let linear = |is_constant| {
            let mut linear = LinearSolver::new(matrix(), is_constant);
            linear.keeps_solution = l.discrete.is_some();
            linear
        };
        let reals = Reals {
            native: None,
            patience: Some(COLD_EVALUATIONS),
            positions: positions(&l, &matrix()),
            newton: NewtonSolver::with_matrix(matrix(), options),
            untorn: None,
            original: OriginalWork::of(&l, program).map(Box::new),
            linear: l.is_linear.then(|| linear(l.jacobian.as_ref().is_some_and(|j| j.is_constant))),
            nominal: l.unknowns.iter().map(|u| usable_nominal(u.nominal)).collect(),
            min: l.unknowns.iter().map(|u| u.min).collect(),
            max: l.unknowns.iter().map(|u| u.max).collect(),
            x: vec![0.0; n],
            entry: vec![0.0; n],
            accepted: start.clone(),
            start,
            failed_x: vec![0.0; n],
            failed_residuals: vec![0.0; n],
            tried: Tried::default(),
            fulfilment: Fulfilment::default(),
            switches: Switches::of(&l, program),
            used: l.residuals.iter().copied().chain(l.body.stores.iter().map(|s| s.0)).collect(),
            residuals: vec![0.0; n],
            scratch: vec![0.0; n],
        };
        let discrete = l.discrete.as_ref().map(|d| Discrete::new(&l, d, program));
        LoopWork { l, reals, discrete, why: Why::Nothing, is_provisional: false }
    }

    /// Start values that parameters determine have just been stored: those of the unknowns among `slots`.
    pub fn take_starts(&mut self, memory: &[f64], slots: &BTreeSet<SlotId>) {
        let is_among = |slot: SlotId| slots.contains(&slot);
        take(&mut self.reals.start, memory, &self.l.unknowns, is_among);
        if let Some(work) = &mut self.reals.original {
            take(&mut work.start, memory, inner(&self.l), is_among);
        }
    }

    /// Forgets everything but the machine code.
    pub fn renew(&mut self, program: &SimProgram) {
        let native = self.reals.native.take();
        *self = LoopWork::new(self.l.clone(), program);
        self.reals.native = native;
    }

    pub fn state(&self) -> LoopState {
        LoopState {
            newton: self.reals.newton.clone(),
            linear: self.reals.linear.clone(),
            accepted: self.reals.accepted.clone(),
            start: self.reals.start.clone(),
            mixed: self.discrete.as_ref().map(|d| d.solver.clone()),
            singular_at: self.reals.switches.singular_at.clone(),
            original: self.reals.original.as_ref().map(|work| work.state()),
        }
    }

    /// Is this a state of a loop with as many unknowns?
    pub fn fits(&self, state: &LoopState) -> bool {
        state.accepted.len() == self.reals.accepted.len()
            && state.start.len() == self.reals.start.len()
            && state.linear.is_some() == self.reals.linear.is_some()
            && state.mixed.is_some() == self.discrete.is_some()
            && state.original.as_ref().map(|o| o.start.len()) == self.reals.original.as_ref().map(|o| o.start.len())
    }

    pub fn go_back(&mut self, state: &LoopState) {
        self.reals.newton.clone_from(&state.newton);
        self.reals.linear.clone_from(&state.linear);
        self.reals.accepted.clone_from(&state.accepted);
        self.reals.start.clone_from(&state.start);
        self.reals.switches.singular_at.clone_from(&state.singular_at);
        if let (Some(work), Some(original)) = (&mut self.reals.original, &state.original) {
            work.go_back(original);
        }
        if let (Some(discrete), Some(mixed)) = (&mut self.discrete, &state.mixed) {
            discrete.solver.clone_from(mixed);
        }
    }

    /// From now on machine code evaluates the equations.
    pub fn set_native(&mut self, native: NativeLoop) {
        self.reals.native = Some(native);
    }

    pub fn set_mixed_method(&mut self, method: MixedMethod) {
        if let Some(discrete) = &mut self.discrete {
            discrete.solver.method = method;
        }
    }

    pub fn solve(&mut self, machine: &mut Machine, patience: Patience, record: &mut LoopRecord) -> Status {
        (self.why, self.is_provisional) = (Why::Nothing, false);
        self.reals.switches.begin();
        let factored = self.reals.linear.as_ref().map_or(0, |l| l.factorisations);
        let solved = match &mut self.discrete {
            None => self.reals.solve(machine, &self.l, patience, record).map(|()| None).map_err(Why::Reals),
            Some(discrete) => discrete.solve(machine, &self.l, &mut self.reals, patience, record),
        };
        let now_factored = self.reals.linear.as_ref().map_or(0, |l| l.factorisations);
        record.statistics.factorisations += now_factored - factored;
        match solved {
            Ok(None) => Status::Ok,
            Ok(Some(Provisional { tried })) => {
                (self.why, self.is_provisional) = (Why::Mixed { tried }, true);
                Status::Ok
            }
            Err(Why::Discrete(status)) => status,
            Err(why) => {
                record.statistics.failures += 1;
                self.why = why;
                Status::Failed
            }
        }
    }

    /// The unknowns, and whether they were found in the equations as they were before tearing.
    pub fn needs_original(&self) -> impl Iterator<Item = (SlotId, bool)> {
        let needs = self.reals.original.as_ref().map(|work| work.is_needed);
        needs.into_iter().flat_map(|needs| self.l.unknowns.iter().map(move |u| (u.slot, needs)))
    }

    pub fn take_need(&mut self, needs: &BTreeMap<SlotId, bool>) {
        if let Some(work) = &mut self.reals.original
            && let Some(&is_needed) = self.l.unknowns.iter().find_map(|u| needs.get(&u.slot))
        {
            work.is_needed = is_needed;
        }
    }

    /// Have no discrete values agreed in the last solution?
    pub fn disagrees(&self) -> bool {
        matches!(self.why, Why::Mixed { .. })
    }

    /// Is the matrix of a linear loop with switches singular at the present point?
    pub fn is_singular(&mut self, machine: &mut Machine) -> bool {
        let n = self.l.unknowns.len();
        if self.reals.switches.is_empty() || n > LARGEST_RANK {
            return false;
        }
        let Some(jacobian) = &self.l.jacobian else { return false };
        machine.run(&jacobian.code, self.l.body.span);
        let mut matrix = vec![0.0; n * n];
        for &(row, column, id) in &jacobian.entries {
            matrix[row as usize * n + column as usize] += machine.value(id);
        }
        saltus_numerics::RankRevealingLu::new(n).factor(&matrix) < n
    }

    pub fn is_provisional(&self) -> bool {
        self.is_provisional
    }

    /// The next solution of a linear loop depends on nothing that was solved before.
    pub fn forget_pivots(&mut self) {
        self.reals.linear.iter_mut().for_each(LinearSolver::forget_pivots);
        self.reals.newton.forget_jacobian();
    }

    /// A Jacobian from a point that does not count may lead to another solution.
    pub fn reject(&mut self) {
        self.reals.newton.forget_jacobian();
    }

    /// The values of the unknowns are part of the solution.
    pub fn accept(&mut self, memory: &[f64]) {
        self.accept_equations();
        take(&mut self.reals.accepted, memory, &self.l.unknowns, |_| true);
        if let Some(work) = &mut self.reals.original {
            take(&mut work.accepted, memory, inner(&self.l), |_| true);
        }
    }
}

/// Far out, overflow and underflow turn residuals into zeros that are not solutions: `y / (1 + y²)` at 1e157.
fn has_run_away(x: &[f64], from: &[f64], nominal: &[f64]) -> bool {
    let scales = nominal.iter().zip(from).map(|(nominal, from)| nominal.max(from.abs()));
    x.iter().zip(scales).any(|(x, scale)| x.abs() > FARTHEST * scale)
}

/// Reads those values that are wanted and are numbers.
fn take(values: &mut [f64], memory: &[f64], unknowns: &[Unknown], is_wanted: impl Fn(SlotId) -> bool) {
    for (value, unknown) in values.iter_mut().zip(unknowns).filter(|(_, u)| is_wanted(u.slot)) {
        match memory.get(unknown.slot.index()) {
            Some(x) if x.is_finite() => *value = *x,
            _ => {}
        }
    }
}

/// Loops from this size on are solved as sparse ones if their Jacobian is known and has few entries.
const SMALLEST_SPARSE: usize = 60;
/// Larger parts of a matrix are not worth it.
const MOST_FILLED: f64 = 0.2;

/// Where the Jacobian has entries, if that is worth knowing.
fn sparse_pattern(l: &Loop) -> Option<Sparsity> {
    let n = l.unknowns.len();
    let entries = &l.jacobian.as_ref()?.entries;
    let is_sparse = n >= SMALLEST_SPARSE && (entries.len() as f64) < MOST_FILLED * (n * n) as f64;
    is_sparse
        .then(|| Sparsity::from_entries(n, entries.iter().map(|&(row, column, _)| (row as usize, column as usize))))
}

fn positions(l: &Loop, matrix: &Matrix) -> Vec<usize> {
    let entries = l.jacobian.iter().flat_map(|j| &j.entries);
    entries.map(|&(row, column, _)| matrix.position(row as usize, column as usize).unwrap_or(usize::MAX)).collect()
}

/// What solving has cost and how mixed loops were solved.
#[derive(Default)]
pub(crate) struct LoopRecord {
    pub statistics: LoopStatistics,
    pub mixed: Vec<MixedSolution>,
}

impl LoopRecord {
    /// Loops that machine code solves by itself.
    pub fn count_in_line(&mut self, n: usize) {
        self.statistics.solved += n as u64;
        self.statistics.newton_iterations += n as u64;
    }
}

/// The residuals as evaluated by the machine.
struct Body<'m> {
    machine: &'m mut Machine,
    l: &'m Loop,
    native: Option<NativeLoop>,
    used: &'m [ValueId],
    /// Residuals that nobody asked for.
    scratch: &'m mut Vec<f64>,
    /// Where the entries of the Jacobian go.
    positions: &'m [usize],
    /// Do as if there were no Jacobian.
    differences: bool,
    /// Evaluations by interpretation.
    n_interpreted: u32,
}

impl Body<'_> {
    fn is_at(&self, x: &[f64]) -> bool {
        self.l.unknowns.iter().zip(x).all(|(u, x)| self.machine.get(u.slot).to_bits() == x.to_bits())
    }

    /// Are the residuals at the present point small beside the terms of their equations? Variables that the body computes count as
    /// terms. What is small beside the largest variable is rounding where all terms vanish, as in `sin(x) = 0`.
    fn holds(&mut self, residuals: &mut [f64]) -> bool {
        let negligible = self.negligible();
        residuals.iter().all(|r| r.abs() <= negligible) || self.unfulfilled(residuals, negligible).is_none()
    }

    /// A residual up to this may be what rounding has left of the variables.
    fn negligible(&self) -> f64 {
        let unknowns = self.l.unknowns.iter().map(|u| self.machine.get(u.slot).abs().max(usable_nominal(u.nominal)));
        let inner = self.l.body.stores.iter().map(|&(_, slot)| self.machine.get(slot).abs());
        NEGLIGIBLE * unknowns.chain(inner).fold(0f64, f64::max)
    }

    /// The equation whose residual is more than negligible and than a small part of its terms, the largest such part, and that part.
    fn unfulfilled(&mut self, residuals: &mut [f64], negligible: f64) -> Option<(usize, f64)> {
        let body = &self.l.body;
        self.machine.run(&body.code, body.span);
        for (residual, &id) in residuals.iter_mut().zip(&self.l.residuals) {
            *residual = self.machine.value(id);
        }
        let mut is_whole = vec![false; body.code.ops.len()];
        for (id, _) in &body.stores {
            if let Some(is_whole) = is_whole.get_mut(id.0 as usize) {
                *is_whole = true;
            }
        }
        let is_whole = |id: ValueId| is_whole.get(id.0 as usize).is_some_and(|whole| *whole);
        let sizes = terms::sizes(&body.code, |id| self.machine.value(id), is_whole);
        let size = |id: ValueId| sizes.get(id.0 as usize).copied().unwrap_or(f64::NAN);
        let parts = residuals.iter().zip(&self.l.residuals).map(|(r, &id)| (r.abs(), size(id))).enumerate();
        let worse = parts.filter(|&(_, (r, size))| r.is_nan() || r > (INACCURATE * size).max(negligible));
        worse.map(|(row, (r, size))| (row, r / size)).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// After machine code has evaluated the body.
    fn native_residual(&mut self, status: u32, r: &mut [f64]) -> Eval {
        for (value, &native) in r.iter_mut().zip(&self.machine.scratch) {
            *value = native;
        }
        let has_failed = self.machine.host.has_failed() && {
            let body = &self.l.body;
            self.machine.replay(&body.code, body.span);
            self.machine.depends_on_failure(&body.code, self.used)
        };
        // Machine code is quick to suspect: infinite values may have met in a sum.
        let is_number = |x: f64| !x.is_nan();
        let is_fine = status == 0
            || r.iter().all(|x| x.is_finite())
                && self.l.body.stores.iter().all(|&(_, slot)| is_number(self.machine.get(slot)));
        if is_fine && !has_failed { Ok(()) } else { Err(TrialFailure) }
    }
}

impl NonlinearSystem for Body<'_> {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
        if self.machine.stop.is_wanted() {
            return Err(TrialFailure);
        }
        for (unknown, &value) in self.l.unknowns.iter().zip(x) {
            self.machine.set(unknown.slot, value);
        }
        let body = &self.l.body;
        if let Some(native) = &self.native
            && let Some(unit) = native.units.body
        {
            let status = self.machine.run_native(&*native.code, unit, body.code.calls.len());
            return self.native_residual(status, r);
        }
        self.n_interpreted = self.n_interpreted.saturating_add(1);
        self.machine.run(&body.code, body.span);
        let mut is_number = true;
        for (value, &id) in r.iter_mut().zip(&self.l.residuals) {
            *value = self.machine.value(id);
            is_number &= value.is_finite();
        }
        for &(id, slot) in &body.stores {
            let value = self.machine.value(id);
            is_number &= !value.is_nan();
            self.machine.set(slot, value);
        }
        let has_failed = self.machine.depends_on_failure(&body.code, self.used);
        if is_number && !has_failed { Ok(()) } else { Err(TrialFailure) }
    }

    fn terms(&mut self, x: &[f64], sizes: &mut [f64]) -> bool {
        for (unknown, &value) in self.l.unknowns.iter().zip(x) {
            self.machine.set(unknown.slot, value);
        }
        let body = &self.l.body;
        self.machine.run(&body.code, body.span);
        for &(id, slot) in &body.stores {
            self.machine.set(slot, self.machine.value(id));
        }
        let terms = terms::sizes(&body.code, |id| self.machine.value(id), |_| false);
        for (size, id) in sizes.iter_mut().zip(&self.l.residuals) {
            *size = terms.get(id.0 as usize).copied().unwrap_or(f64::NAN);
        }
        true
    }

    fn jacobian(&mut self, x: &[f64], matrix: &mut Matrix) -> bool {
        let Some(jacobian) = self.l.jacobian.as_ref().filter(|_| !self.differences) else { return false };
        // The code of the Jacobian reads what the body has stored.
        if !self.is_at(x) {
            let mut scratch = std::mem::take(self.scratch);
            let evaluated = self.residual(x, &mut scratch);
            *self.scratch = scratch;
            if evaluated.is_err() {
                return false;
            }
        }
        let compiled = self.native.as_ref().and_then(|native| Some((&native.code, native.units.jacobian?)));
        // Where a formula for the derivative has a hole (`sqrt` at 0), a difference may do.
        let mut is_finite = true;
        let mut add = |position: usize, value: f64| {
            is_finite &= value.is_finite();
            if let Some(place) = matrix.values.get_mut(position) {
                *place += value;
            }
        };
        match compiled {
            Some((code, unit)) => {
                self.machine.run_native(&**code, unit, jacobian.code.calls.len());
                let values = self.machine.scratch.get(..self.positions.len()).unwrap_or(&[f64::NAN]);
                self.positions.iter().zip(values).for_each(|(&position, &value)| add(position, value));
            }
            None => {
                self.machine.run(&jacobian.code, self.l.body.span);
                let entries = self.positions.iter().zip(&jacobian.entries);
                entries.for_each(|(&position, &(_, _, id))| add(position, self.machine.value(id)));
            }
        }
        is_finite
    }
}

/// Where an attempt starts.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Start {
    Present,
    Accepted,
    Declared,
    Nominal,
    /// Declared values moved by this many nominal values.
    Moved(f64),
}

/// Start, and whether differences are taken even where there is an analytic Jacobian.
type Attempt = (Start, bool);

const TRIAL_ATTEMPTS: &[Attempt] = &[(Start::Present, false), (Start::Accepted, false), (Start::Accepted, true)];

const EVENT_ATTEMPTS: &[Attempt] = &[
    (Start::Present, false),
    (Start::Accepted, false),
    (Start::Declared, false),
    (Start::Nominal, false),
    (Start::Present, true),
    (Start::Declared, true),
    (Start::Moved(0.1), false),
    (Start::Moved(-0.1), false),
    (Start::Moved(1.0), false),
    (Start::Moved(-1.0), false),
    (Start::Moved(10.0), true),
    (Start::Moved(-10.0), true),
];

impl Reals {
    fn solve(
        &mut self,
        machine: &mut Machine,
        l: &Loop,
        patience: Patience,
        record: &mut LoopRecord,
    ) -> Result<(), NoSolution> {
        record.statistics.solved += 1;
        for (i, unknown) in l.unknowns.iter().enumerate() {
            let present = machine.get(unknown.slot);
            self.entry[i] = if present.is_finite() { present } else { self.accepted[i] };
        }
        let (used, mut scratch) = (std::mem::take(&mut self.used), std::mem::take(&mut self.scratch));
        let positions = std::mem::take(&mut self.positions);
        let mut body = Body {
            machine: &mut *machine,
            l,
            native: self.native.take(),
            used: &used,
            scratch: &mut scratch,
            positions: &positions,
            differences: false,
            n_interpreted: 0,
        };
        self.compile_if_hot(&mut body);
        let outcome = self.attempts(&mut body, patience, record);
        self.count_interpreted(&mut body);
        self.native = body.native.take();
        (self.used, self.scratch, self.positions) = (used, scratch, positions);
        if outcome.is_err() {
            // A failed attempt is not a start for the next one.
            for (unknown, &value) in l.unknowns.iter().zip(&self.entry) {
                machine.set(unknown.slot, value);
            }
        }
        outcome
    }

    /// Asks for machine code, once, after many evaluations by interpretation.
    fn compile_if_hot(&mut self, body: &mut Body) {
        self.count_interpreted(body);
        if self.patience == Some(0) && body.native.is_none() {
            self.patience = None;
            body.native = body.machine.native_loops.as_mut().and_then(|native| native.compile(body.l));
        }
    }

    fn count_interpreted(&mut self, body: &mut Body) {
        let n = std::mem::take(&mut body.n_interpreted);
        self.patience = self.patience.map(|left| left.saturating_sub(n));
    }

    fn attempts(&mut self, body: &mut Body, patience: Patience, record: &mut LoopRecord) -> Result<(), NoSolution> {
        let mut first_failure = None;
        if let Some(mut linear) = self.linear.take() {
            self.x.copy_from_slice(&self.entry);
            let solved = linear.solve(body, &self.nominal, &mut self.x);
            self.residuals.copy_from_slice(&linear.residuals);
            record.statistics.newton_iterations += 1;
            if solved == Err(NotLinear::Contradiction) {
                self.switches.remember_position(body.machine, &linear.redundant);
            }
            self.linear = Some(linear);
            let Err(why) = solved else { return Ok(()) };
            self.remember_failure();
            if why == NotLinear::Contradiction {
                return Err(NoSolution::Linear(why));
            }
            first_failure = Some(NoSolution::Linear(why));
        }
        self.tried = Tried::default();
        if self.original.as_ref().is_some_and(|work| work.is_needed) {
            let is_solved = self.solves_original(From::Memory, body, record);
            if is_solved && patience != Patience::Trial {
                self.leave_collapse(body, record);
                self.leave_original(body, record);
            }
            match patience {
                _ if is_solved => return Ok(()),
                // What is found in the usual way need not be the same solution.
                Patience::Trial => return Err(NoSolution::Newton(NewtonError::StartFails)),
                Patience::Event(_) => {}
            }
        }
        let attempts = if patience == Patience::Trial { TRIAL_ATTEMPTS } else { EVENT_ATTEMPTS };
        for (k, &(start, differences)) in attempts.iter().enumerate() {
            // A large loop may have been evaluated many times by then.
            self.compile_if_hot(body);
            self.begin_at(start);
            body.differences = differences;
            // Factors from elsewhere are no help in a retry.
            if k > 0 {
                self.newton.forget_jacobian();
            }
            self.tried.starts += 1;
            match self.newton_from_here(body, record) {
                Ok(()) => {
                    self.original.iter_mut().for_each(|work| work.is_needed = false);
                    record.statistics.retries += u64::from(k > 0);
                    self.residuals.copy_from_slice(self.newton.residuals());
                    if self.is_suspect(body) {
                        self.refine(body)?;
                        self.look_at_equations(body);
                    }
                    return self.confirm(body, record);
                }
                Err(_) if first_failure.is_some() => {}
                Err(why) => {
                    first_failure = Some(why);
                    self.remember_failure();
                }
            }
        }
        body.differences = false;
        if patience != Patience::Trial && body.l.discrete.is_none() && self.continues(body, record) {
            record.statistics.retries += 1;
            return Ok(());
        }
        let starts = if patience == Patience::Trial { &[][..] } else { &[From::Accepted, From::Declared][..] };
        if starts.iter().any(|&from| self.solves_original(from, body, record)) {
            record.statistics.retries += 1;
            return Ok(());
        }
        self.newton.forget_jacobian();
        Err(first_failure.unwrap_or(NoSolution::Newton(NewtonError::StartFails)))
    }

    /// Do the equations hold that are left over, with the inner variables as they were computed or as they are solved for?
    fn confirm(&mut self, body: &mut Body, record: &mut LoopRecord) -> Result<(), NoSolution> {
        if !body.l.may_grow || body.holds(&mut self.residuals) || self.solves_untorn(body, record) {
            return Ok(());
        }
        self.remember_failure();
        Err(NoSolution::Inaccurate)
    }

    /// From a solution of the original equations: may the next one be found in the usual way?
    fn leave_original(&mut self, body: &mut Body, record: &mut LoopRecord) {
        let l = body.l;
        let all = || l.unknowns.iter().chain(inner(l)).map(|u| u.slot);
        let found: Vec<f64> = all().map(|slot| body.machine.get(slot)).collect();
        self.newton.forget_jacobian();
        let outcome = self.newton.solve(body, &mut self.x.clone(), &self.nominal);
        record.statistics.newton_iterations += iterations(&outcome);
        let is_regular = outcome.is_ok_and(|report| !report.is_limited_by_rounding && report.iterations <= 1);
        for (slot, value) in all().zip(found) {
            body.machine.set(slot, value);
        }
        self.original.iter_mut().for_each(|work| work.is_needed = !is_regular);
    }

    fn newton_from_here(&mut self, body: &mut Body, record: &mut LoopRecord) -> Result<(), NoSolution> {
        let outcome = self.newton.solve(body, &mut self.x, &self.nominal);
        record.statistics.newton_iterations += iterations(&outcome);
        // The solver need not have looked at the solution last.
        let evaluated = (outcome.is_ok() && body.is_at(&self.x)) || body.residual(&self.x, &mut self.residuals).is_ok();
        match outcome {
            Ok(_) if evaluated && !self.has_run_away() => Ok(()),
            Ok(_) => Err(NoSolution::RanAway),
            Err(why) => Err(NoSolution::Newton(why)),
        }
    }

    fn has_run_away(&self) -> bool {
        has_run_away(&self.x, &self.entry, &self.nominal)
    }

    fn remember_failure(&mut self) {
        self.failed_x.copy_from_slice(&self.x);
        self.failed_residuals.copy_from_slice(&self.residuals);
    }

    fn begin_at(&mut self, start: Start) {
        for i in 0..self.x.len() {
            let nominal = self.nominal[i];
            let x = match start {
                Start::Present => self.entry[i],
                Start::Accepted => self.accepted[i],
                Start::Declared => self.start[i],
                Start::Nominal if self.start[i] < 0.0 => -nominal,
                Start::Nominal => nominal,
                Start::Moved(by) => self.start[i] + by * nominal,
            };
            // Bounds are hints for starts, not part of the equations.
            let (min, max) = (self.min[i], self.max[i]);
            let is_bounded = start != Start::Present && min <= max;
            self.x[i] = if is_bounded { x.clamp(min, max) } else { x };
        }
    }
}

fn iterations(outcome: &Result<NewtonReport, NewtonError>) -> u64 {
    match outcome {
        Ok(report)
        | Err(
            NewtonError::JacobianFails(report)
            | NewtonError::Stagnated(report)
            | NewtonError::TooManyIterations(report),
        ) => u64::from(report.iterations),
        Err(NewtonError::StartFails) => 0,
    }
}
