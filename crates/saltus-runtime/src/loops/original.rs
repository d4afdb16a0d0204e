//! A loop that Newton's method does not solve, solved for all of its variables in the equations as they were before tearing.
//!
//! ```text
//! y = x^2;  y + x = 6;  x(start = 2)     torn over y, which starts at 0:  x := sqrt(y), whose slope is infinite there
//!                                        original:  x starts at 2, and y is 4 after the first step
//! ```
//!
//! In: a loop without a solution. Out: unknowns and inner variables in memory that fulfil every equation, beside its own terms. Three things
//! are done that other loops do without:
//!
//! - Inner variables begin with start values of their own, and no inverse of a function is taken.
//! - Variables that an equation states by a nonlinear expression (`v = sqrt(vr^2 + vi^2)`) follow that at each trial point: a step that is
//!   right for `vr` and `vi` may be wrong for `v`, and fail where it becomes negative.
//! - Once solved, the equations are solved again in units of what was found. At a short circuit of 1e-16 Ω a voltage is 1e-15 V, and the
//!   currents that follow from it count for nothing in units of 1 V.
//!
//! A loop that was solved like this is so first, until the usual way confirms the solution at an event.

use std::collections::{BTreeMap, BTreeSet};

use saltus_numerics::{Eval, NewtonSolver, NonlinearSystem, TrialFailure};
use saltus_program::{BinaryFn, Code, Loop, Op, SimProgram, SlotId, UnaryFn, Unknown, ValueId};

use super::untorn::{dependencies, pattern, solver};
use super::{Body, INACCURATE, LoopRecord, Reals, has_run_away, iterations, terms};
use crate::linear::usable_nominal;
use crate::state::OriginalState;

/// Solutions in units of the one before. The first finds the magnitudes that the second needs.
const MOST_ROUNDS: usize = 3;
/// Variables below this part of their nominal value have no smaller unit.
const SMALLEST_UNIT: f64 = f64::EPSILON;

/// What is known of the inner variables, and work space.
pub(super) struct OriginalWork {
    /// Values of the inner variables at the last accepted point.
    pub accepted: Vec<f64>,
    pub start: Vec<f64>,
    /// Was the last solution found here?
    pub is_needed: bool,
    nominal: Vec<f64>,
    /// Made when it is needed first.
    newton: Option<NewtonSolver>,
    explicit: Option<Explicit>,
}

impl OriginalWork {
    /// None for loops whose equations are linear or were not kept.
    pub fn of(l: &Loop, program: &SimProgram) -> Option<Self> {
        if l.is_linear || l.unknowns.is_empty() || (l.original.is_none() && !l.body.stores.is_empty()) {
            return None;
        }
        let initial = |u: &Unknown| program.memory.slots.get(u.slot).map_or(0.0, |s| s.initial);
        let start: Vec<f64> = inner(l).iter().map(initial).collect();
        let nominal = l.unknowns.iter().chain(inner(l)).map(|u| usable_nominal(u.nominal)).collect();
        Some(OriginalWork { accepted: start.clone(), start, is_needed: false, nominal, newton: None, explicit: None })
    }

    pub fn state(&self) -> OriginalState {
        let OriginalWork { accepted, start, is_needed, newton, .. } = self;
        // Factors that are not needed are not worth their memory.
        let newton = newton.as_ref().filter(|_| *is_needed).cloned();
        OriginalState { accepted: accepted.clone(), start: start.clone(), is_needed: *is_needed, newton }
    }

    pub fn go_back(&mut self, state: &OriginalState) {
        self.accepted.clone_from(&state.accepted);
        self.start.clone_from(&state.start);
        self.is_needed = state.is_needed;
        self.newton.clone_from(&state.newton);
    }
}

/// The variables that the body of the loop computes.
pub(super) fn inner(l: &Loop) -> &[Unknown] {
    l.original.as_ref().map_or(&[], |original| &original.inner)
}

/// The equations of a loop, which are those of its body if nothing was torn.
#[derive(Clone, Copy)]
struct Equations<'l> {
    code: &'l Code,
    residuals: &'l [ValueId],
}

impl Equations<'_> {
    fn of(l: &Loop) -> Equations<'_> {
        match &l.original {
            Some(original) => Equations { code: &original.code, residuals: &original.residuals },
            None => Equations { code: &l.body.code, residuals: &l.residuals },
        }
    }
}

/// Variables that equations state explicitly, with the operations that give their values.
struct Explicit {
    values: Vec<(usize, ValueId)>,
    /// Evaluations after which all of them have their values: the length of the longest chain.
    n_sweeps: usize,
}

impl Explicit {
    fn find(equations: Equations, variables: &[SlotId]) -> Explicit {
        let depends = dependencies(equations.code, variables, &[]).0;
        let nonlinear = nonlinear(equations.code, &depends);
        let column_of: BTreeMap<SlotId, usize> = variables.iter().copied().zip(0..).collect();
        let op = |id: ValueId| equations.code.ops.get(id.0 as usize);
        let mut found: BTreeMap<usize, ValueId> = BTreeMap::new();
        let mut level: BTreeMap<usize, usize> = BTreeMap::new();
        for &residual in equations.residuals {
            let Some(&Op::Binary(BinaryFn::Sub, left, right)) = op(residual) else { continue };
            for (variable, value) in [(left, right), (right, left)] {
                let Some(Op::Load(slot)) = op(variable) else { continue };
                let Some(&column) = column_of.get(slot).filter(|column| !found.contains_key(column)) else { continue };
                let Some(needs) = depends.get(value.0 as usize) else { continue };
                let is_nonlinear = nonlinear.get(value.0 as usize).copied().unwrap_or(false);
                if is_nonlinear && !reaches(needs, column, &found, &depends) {
                    found.insert(column, value);
                    break;
                }
            }
        }
        // Chains are short; a sweep for each link settles them.
        for _ in 0..found.len() {
            let mut has_changed = false;
            for (&column, value) in &found {
                let needs = depends.get(value.0 as usize).into_iter().flatten();
                let deepest = needs.filter_map(|c| level.get(c)).max().copied().unwrap_or(0) + 1;
                has_changed |= level.insert(column, deepest) != Some(deepest);
            }
            if !has_changed {
                break;
            }
        }
        let n_sweeps = level.values().max().copied().unwrap_or(0);
        Explicit { values: found.into_iter().collect(), n_sweeps }
    }
}

/// Does one of these variables follow from `column`?
fn reaches(
    needs: &BTreeSet<usize>,
    column: usize,
    found: &BTreeMap<usize, ValueId>,
    depends: &[BTreeSet<usize>],
) -> bool {
    let (mut open, mut seen): (Vec<usize>, BTreeSet<usize>) = (needs.iter().copied().collect(), needs.clone());
    while let Some(next) = open.pop() {
        if next == column {
            return true;
        }
        let Some(behind) = found.get(&next).and_then(|value| depends.get(value.0 as usize)) else { continue };
        open.extend(behind.iter().copied().filter(|&c| seen.insert(c)));
    }
    false
}

/// Which operations are not linear in the variables.
fn nonlinear(code: &Code, depends: &[BTreeSet<usize>]) -> Vec<bool> {
    let mut nonlinear: Vec<bool> = Vec::with_capacity(code.ops.len());
    for op in &code.ops {
        let is = |v: ValueId| nonlinear.get(v.0 as usize).copied().unwrap_or(false);
        let varies = |v: ValueId| depends.get(v.0 as usize).is_some_and(|d| !d.is_empty());
        nonlinear.push(match *op {
            Op::Const(_) | Op::Load(_) => false,
            Op::Unary(UnaryFn::Negate, a) => is(a),
            Op::Unary(_, a) => varies(a),
            Op::Binary(BinaryFn::Add | BinaryFn::Sub, a, b) => is(a) || is(b),
            Op::Binary(BinaryFn::Mul, a, b) => is(a) || is(b) || varies(a) && varies(b),
            Op::Binary(BinaryFn::Div, a, b) => is(a) || varies(b),
            Op::Binary(_, a, b) => varies(a) || varies(b),
            Op::Select(c, a, b) => varies(c) || is(a) || is(b),
            Op::Call(k) | Op::Result(k, _) => {
                code.calls.get(k as usize).is_some_and(|call| call.operands().any(varies))
            }
        });
    }
    nonlinear
}

struct System<'b, 'm> {
    body: &'b mut Body<'m>,
    equations: Equations<'b>,
    explicit: &'b Explicit,
}

impl System<'_, '_> {
    fn run(&mut self, z: &[f64]) {
        let l = self.body.l;
        for (unknown, &value) in l.unknowns.iter().chain(inner(l)).zip(z) {
            self.body.machine.set(unknown.slot, value);
        }
        self.body.machine.run(self.equations.code, l.body.span);
    }

    /// The sizes of the equations that have just been evaluated.
    fn sizes(&self) -> Vec<f64> {
        let sizes = terms::sizes(self.equations.code, |id| self.body.machine.value(id), |_| false);
        self.equations.residuals.iter().map(|id| sizes.get(id.0 as usize).copied().unwrap_or(f64::NAN)).collect()
    }
}

impl NonlinearSystem for System<'_, '_> {
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Eval {
        if self.body.machine.stop.is_wanted() {
            return Err(TrialFailure);
        }
        self.run(z);
        let (machine, Equations { code, residuals }) = (&mut *self.body.machine, self.equations);
        let mut is_number = true;
        for (value, &id) in r.iter_mut().zip(residuals) {
            *value = machine.value(id);
            is_number &= value.is_finite();
        }
        if is_number && !machine.depends_on_failure(code, residuals) { Ok(()) } else { Err(TrialFailure) }
    }

    fn settle(&mut self, z: &mut [f64]) {
        for _ in 0..self.explicit.n_sweeps {
            self.run(z);
            for &(column, id) in &self.explicit.values {
                let value = self.body.machine.value(id);
                if let Some(place) = z.get_mut(column).filter(|_| value.is_finite()) {
                    *place = value;
                }
            }
        }
    }

    fn terms(&mut self, z: &[f64], sizes: &mut [f64]) -> bool {
        self.run(z);
        sizes.copy_from_slice(&self.sizes());
        true
    }
}

/// Where the variables start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum From {
    /// The present values, those of the last accepted point among the inner ones.
    Accepted,
    /// Present values of all.
    Memory,
    Declared,
}

impl Reals {
    /// Solves all equations and stores all variables; true if that succeeded.
    pub(super) fn solves_original(&mut self, from: From, body: &mut Body, record: &mut LoopRecord) -> bool {
        let Some(mut work) = self.original.take() else { return false };
        let is_solved = self.solve_all(&mut work, from, body, record);
        work.is_needed |= is_solved;
        self.original = Some(work);
        is_solved
    }

    /// After a solution at an event: where variables have become nothing, equations like `0 = v*i` hold for each `i`, and a solution from the start values
    /// is preferred. A bus voltage of 1e-15 at a short circuit would not recover when that ends.
    pub(super) fn leave_collapse(&mut self, body: &mut Body, record: &mut LoopRecord) {
        let Some(work) = &self.original else { return };
        let l = body.l;
        let all = || l.unknowns.iter().chain(inner(l)).map(|u| u.slot);
        let found: Vec<f64> = all().map(|slot| body.machine.get(slot)).collect();
        let before = self.accepted.iter().chain(&work.accepted);
        let vanishes = |((found, before), nominal): ((&f64, &f64), &f64)| {
            let least = SMALLEST_UNIT * nominal;
            found.abs() < least && before.abs() >= least
        };
        if !found.iter().zip(before).zip(&work.nominal).any(vanishes) {
            return;
        }
        let (x, residuals) = (self.x.clone(), self.residuals.clone());
        if !self.solves_original(From::Declared, body, record) {
            (self.x, self.residuals) = (x, residuals);
            all().zip(found).for_each(|(slot, value)| body.machine.set(slot, value));
        }
    }

    fn solve_all(&mut self, work: &mut OriginalWork, from: From, body: &mut Body, record: &mut LoopRecord) -> bool {
        let (n, l) = (self.x.len(), body.l);
        let mut z = if from == From::Declared { self.start.clone() } else { self.entry.clone() };
        match from {
            From::Declared => z.extend(&work.start),
            From::Accepted => z.extend(&work.accepted),
            From::Memory => z.extend(inner(l).iter().map(|u| body.machine.get(u.slot))),
        }
        let equations = Equations::of(l);
        let variables = || -> Vec<SlotId> { l.unknowns.iter().chain(inner(l)).map(|u| u.slot).collect() };
        let newton = work.newton.get_or_insert_with(|| {
            solver(&pattern(equations.code, &variables(), &[], equations.residuals), true, true)
        });
        let explicit = work.explicit.get_or_insert_with(|| Explicit::find(equations, &variables()));
        let mut system = System { body, equations, explicit };
        let mut nominal = work.nominal.clone();
        let unit = |(z, nominal): (&f64, &f64)| z.abs().max(SMALLEST_UNIT * nominal);
        // A solution is near, and so are its magnitudes.
        if from == From::Memory {
            nominal = z.iter().zip(&work.nominal).map(unit).collect();
        } else {
            newton.forget_jacobian();
            system.settle(&mut z);
        }
        let begun = z.clone();
        let mut residuals = vec![0.0; z.len()];
        for _ in 0..MOST_ROUNDS {
            let outcome = newton.solve(&mut system, &mut z, &nominal);
            record.statistics.newton_iterations += iterations(&outcome);
            if outcome.is_err() || has_run_away(&z, &begun, &work.nominal) {
                newton.forget_jacobian();
                return false;
            }
            let is_evaluated = system.residual(&z, &mut residuals).is_ok();
            if is_evaluated && residuals.iter().zip(system.sizes()).all(|(r, size)| r.abs() <= INACCURATE * size) {
                self.x.copy_from_slice(&z[..n]);
                let torn = if inner(l).is_empty() { 0 } else { residuals.len() - n };
                self.residuals.copy_from_slice(&residuals[torn..]);
                return true;
            }
            nominal = z.iter().zip(&work.nominal).map(unit).collect();
            newton.forget_jacobian();
        }
        false
    }
}
