//! A loop in which rounding errors grow along the assignments of its body, solved for all of its variables together.
//!
//! ```text
//! y1 := (x - 1)/1e-4;  y2 := (y1 - 1)/1e-4;  …;  0 = y9 - 2       unknown x; an error of 1e-16 in x is one of 1e20 in y9
//! 0 = y1 - (x - 1)/1e-4;  0 = y2 - (y1 - 1)/1e-4;  …              unknowns x, y1, y2, …: each equation holds up to rounding
//! ```
//!
//! In: the solution of the torn loop, whose equations do not hold well enough. Out: unknowns and inner variables in memory that
//! fulfil all equations, each variable with an error of its own instead of that of all before it.

use std::collections::{BTreeSet, HashMap};

use saltus_numerics::{Eval, Matrix, NewtonOptions, NewtonSolver, NonlinearSystem, Sparsity, TrialFailure};
use saltus_program::{Code, Loop, Op, SlotId, ValueId};

use super::{
    Body, INACCURATE, LoopRecord, MOST_FILLED, MOST_ITERATIONS, Reals, SMALLEST_SPARSE, TOLERANCE, iterations, terms,
};

/// Largest system: its Jacobian is made of differences, by interpretation.
const MOST_VARIABLES: usize = 5_000;

/// Work space, made when it is needed first.
pub(super) struct UntornWork {
    /// Operations whose value is an inner variable, in the order of evaluation.
    cuts: Vec<usize>,
    newton: NewtonSolver,
}

impl UntornWork {
    fn new(l: &Loop) -> Self {
        let cuts = cuts(l);
        let unknowns: Vec<SlotId> = l.unknowns.iter().map(|u| u.slot).collect();
        let pattern = pattern(&l.body.code, &unknowns, &cuts, &l.residuals);
        UntornWork { cuts, newton: solver(&pattern, false, false) }
    }
}

/// The body with a variable of its own for each value that it stores.
struct Untorn<'b, 'm> {
    body: &'b mut Body<'m>,
    /// Operations whose value is an inner variable, in the order of evaluation.
    cuts: &'b [usize],
}

impl NonlinearSystem for Untorn<'_, '_> {
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Eval {
        let (machine, l) = (&mut *self.body.machine, self.body.l);
        if machine.stop.is_wanted() {
            return Err(TrialFailure);
        }
        let (x, inner) = z.split_at(l.unknowns.len());
        for (unknown, &value) in l.unknowns.iter().zip(x) {
            machine.set(unknown.slot, value);
        }
        let code = &l.body.code;
        let (r_torn, r_inner) = r.split_at_mut(x.len());
        machine.host.begin(code.calls.len());
        let mut from = 0;
        for ((&cut, &value), r) in self.cuts.iter().zip(inner).zip(r_inner) {
            machine.run_range(code, from..cut + 1, l.body.span);
            if let Some(place) = machine.values.get_mut(cut) {
                *r = value - std::mem::replace(place, value);
            }
            from = cut + 1;
        }
        machine.run_range(code, from..code.ops.len(), l.body.span);
        for (r, &id) in r_torn.iter_mut().zip(&l.residuals) {
            *r = machine.value(id);
        }
        if machine.depends_on_failure(code, self.body.used) { Err(TrialFailure) } else { Ok(()) }
    }
}

impl Untorn<'_, '_> {
    /// Are these residuals, which have just been evaluated, small beside the terms of their equations?
    fn holds(&self, residuals: &[f64]) -> bool {
        let (machine, l) = (&*self.body.machine, self.body.l);
        let value = |id: ValueId| machine.value(id);
        let is_cut = |id: ValueId| self.cuts.binary_search(&(id.0 as usize)).is_ok();
        let sizes = terms::sizes(&l.body.code, value, is_cut);
        let inner = self.cuts.iter().map(|&cut| {
            let id = ValueId(cut as u32);
            value(id).abs() + terms::size(&l.body.code, id, &value, &sizes)
        });
        let torn = l.residuals.iter().map(|id| sizes.get(id.0 as usize).copied().unwrap_or(f64::NAN));
        residuals.iter().zip(torn.chain(inner)).all(|(r, size)| r.abs() <= INACCURATE * size)
    }
}

/// Operations that inner variables get their values from. One that only loads or is a constant leaves nothing to be solved.
fn cuts(l: &Loop) -> Vec<usize> {
    let computes = |id: &usize| !matches!(l.body.code.ops.get(*id), None | Some(Op::Load(_) | Op::Const(_)));
    let cuts: BTreeSet<usize> = l.body.stores.iter().map(|(id, _)| id.0 as usize).filter(computes).collect();
    cuts.into_iter().collect()
}

/// For a Jacobian with this pattern.
pub(super) fn solver(pattern: &Sparsity, reuse_jacobian: bool, scale_columns: bool) -> NewtonSolver {
    let n = pattern.n();
    let is_sparse = n >= SMALLEST_SPARSE && (pattern.n_entries() as f64) < MOST_FILLED * (n * n) as f64;
    let matrix = if is_sparse { Matrix::sparse(pattern) } else { Matrix::dense(n) };
    let options =
        NewtonOptions { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS, reuse_jacobian, scale_columns };
    NewtonSolver::with_matrix(matrix, options)
}

/// Which equations contain which variables: rows are `residuals`, columns `variables`, and each cut adds one of both.
pub(super) fn pattern(code: &Code, variables: &[SlotId], cuts: &[usize], residuals: &[ValueId]) -> Sparsity {
    let (depends, mut entries) = dependencies(code, variables, cuts);
    for (row, id) in residuals.iter().enumerate() {
        entries.extend(depends.get(id.0 as usize).into_iter().flatten().map(|&column| (row, column)));
    }
    Sparsity::from_entries(variables.len() + cuts.len(), entries)
}

/// The columns that each operation depends on, and the entries of the rows that the cuts add.
pub(super) fn dependencies(
    code: &Code,
    variables: &[SlotId],
    cuts: &[usize],
) -> (Vec<BTreeSet<usize>>, Vec<(usize, usize)>) {
    let n = variables.len();
    let column_of: HashMap<SlotId, usize> = variables.iter().copied().zip(0..).collect();
    let mut depends: Vec<BTreeSet<usize>> = Vec::with_capacity(code.ops.len());
    let mut entries = Vec::new();
    let mut next_cut = 0;
    for (i, op) in code.ops.iter().enumerate() {
        let of = |v: ValueId| depends.get(v.0 as usize).into_iter().flatten().copied();
        let mut here: BTreeSet<usize> = match *op {
            Op::Const(_) => BTreeSet::new(),
            Op::Load(slot) => column_of.get(&slot).copied().into_iter().collect(),
            Op::Unary(_, a) => of(a).collect(),
            Op::Binary(_, a, b) => of(a).chain(of(b)).collect(),
            Op::Select(c, a, b) => of(c).chain(of(a)).chain(of(b)).collect(),
            Op::Call(k) | Op::Result(k, _) => {
                code.calls.get(k as usize).into_iter().flat_map(|call| call.operands().flat_map(of)).collect()
            }
        };
        if cuts.get(next_cut) == Some(&i) {
            let row = n + next_cut;
            entries.extend(here.iter().map(|&column| (row, column)));
            entries.push((row, row));
            here = BTreeSet::from([row]);
            next_cut += 1;
        }
        depends.push(here);
    }
    (depends, entries)
}

impl Reals {
    /// Solves for the unknowns in `x` and the inner variables in memory together, and stores both; true if that succeeded.
    pub(super) fn solves_untorn(&mut self, body: &mut Body, record: &mut LoopRecord) -> bool {
        let l = body.l;
        if l.unknowns.len() + l.body.stores.len() > MOST_VARIABLES {
            return false;
        }
        let mut work = self.untorn.take().unwrap_or_else(|| Box::new(UntornWork::new(l)));
        let solved = self.solve_for_all(&mut work, body, record);
        self.untorn = Some(work);
        solved
    }

    fn solve_for_all(&mut self, work: &mut UntornWork, body: &mut Body, record: &mut LoopRecord) -> bool {
        let (l, n) = (body.l, self.x.len());
        let mut z = self.x.clone();
        let stores = &l.body.stores;
        for &cut in &work.cuts {
            let slot = stores.iter().find(|(id, _)| id.0 as usize == cut).map(|&(_, slot)| slot);
            z.push(slot.map_or(0.0, |slot| body.machine.get(slot)));
        }
        let mut nominal = self.nominal.clone();
        nominal.resize(z.len(), 1.0);
        let mut system = Untorn { body: &mut *body, cuts: &work.cuts };
        let outcome = work.newton.solve(&mut system, &mut z, &nominal);
        record.statistics.newton_iterations += iterations(&outcome);
        let mut residuals = vec![0.0; z.len()];
        if outcome.is_err() || system.residual(&z, &mut residuals).is_err() || !system.holds(&residuals) {
            return false;
        }
        // The values that the body stores are those of the cuts now.
        for &(id, slot) in stores {
            let value = body.machine.value(id);
            body.machine.set(slot, value);
        }
        self.x.copy_from_slice(&z[..n]);
        self.residuals.copy_from_slice(&residuals[..n]);
        true
    }
}
