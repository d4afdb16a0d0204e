//! Sets that differ by a shift are made one with a range.
//!
//! ```text
//! {c[1].b.v, c[2].a.v}, {c[2].b.v, c[3].a.v}, … {c[99].b.v, c[100].a.v}
//!     ⇒   99 × {c[i].b.v, c[i + 1].a.v}       members of the first set, which move on by one element
//! ```
//!
//! In: sets in order. Out: sets in the same order, those that follow each other with the same members (variables, sides, places of their
//! `connect`) and whose subscripts move on evenly as one with a box, if that has at least [`Folding::fewest`] elements. Sets with
//! other members – at the ends of a range – stay as they are.

use saltus_flat::{BaseType, Variability};

use crate::check::source_role;
use crate::end::{subscript_steps, type_of};
use crate::sets::{Folding, Member, Set};
use crate::{End, Kind, Variables};

pub(crate) fn fold(sets: impl Iterator<Item = Set>, folding: &Folding, vars: &dyn Variables) -> Vec<Set> {
    let mut folded = fold_once(sets, vars);
    for _ in 1..folding.iterators.len() {
        folded = fold_once(folded.into_iter(), vars);
    }
    let mut out = Vec::with_capacity(folded.len());
    for set in folded {
        if set.dims.is_empty() || set.n() >= folding.fewest {
            out.push(set);
        } else {
            unfold(&set, &mut vec![0; set.members.len()], 0, &mut out);
        }
    }
    out
}

/// Adds an outer dimension where sets follow each other evenly.
fn fold_once(sets: impl Iterator<Item = Set>, vars: &dyn Variables) -> Vec<Set> {
    let mut out = Vec::new();
    let mut open: Option<Run> = None;
    for set in sets {
        if let Some(run) = &mut open
            && run.takes(&set, vars)
        {
            run.n += 1;
            continue;
        }
        out.extend(open.replace(Run { first: set, n: 1, steps: Vec::new() }).map(Run::close));
    }
    out.extend(open.map(Run::close));
    out
}

/// Sets that follow each other.
struct Run {
    first: Set,
    n: u64,
    /// By how much each member moves on from one set to the next.
    steps: Vec<i64>,
}

impl Run {
    /// Whether `next` goes on evenly.
    fn takes(&mut self, next: &Set, vars: &dyn Variables) -> bool {
        let is_alike = self.first.dims == next.dims
            && self.first.members.len() == next.members.len()
            && self.first.members.iter().zip(&next.members).all(|(a, b)| are_alike(a, b, vars))
            && may_fold(&self.first, vars);
        if !is_alike {
            return false;
        }
        if self.n == 1 {
            let pairs = self.first.members.iter().zip(&next.members);
            self.steps = pairs.map(|(a, b)| place(b) - place(a)).collect();
        }
        let n = self.n as i64;
        let mut members = self.first.members.iter().zip(&next.members).zip(&self.steps);
        members.all(|((a, b), &step)| place(b) == place(a) + n * step && is_even(a, n, step, vars))
    }

    fn close(mut self) -> Set {
        if self.n > 1 {
            self.first.dims.insert(0, self.n);
            for (member, step) in self.first.members.iter_mut().zip(self.steps) {
                member.steps.insert(0, step);
            }
        }
        self.first
    }
}

fn place(member: &Member) -> i64 {
    member.end.element.unwrap_or(0) as i64
}

/// Streams, parameters and signals with several sources have equations of other forms.
fn may_fold(set: &Set, vars: &dyn Variables) -> bool {
    let Some(End { var, element, .. }) = set.members.first().map(|m| m.end) else { return false };
    let ty = type_of(vars, var, element);
    let is_number = ty.base == BaseType::Real && ty.is_scalar();
    let n_sources = set.members.iter().filter(|m| source_role(m.end, vars).is_some()).count();
    is_number
        && n_sources < 2
        && !matches!(vars.kind(var), Kind::Stream { .. })
        && vars.variability(var) > Variability::Parameter
}

fn are_alike(a: &Member, b: &Member, vars: &dyn Variables) -> bool {
    let is_same = (a.end.var, a.end.face, a.connect) == (b.end.var, b.end.face, b.connect);
    is_same && a.steps == b.steps && {
        let ty = vars.ty(a.end.var);
        let moves = |m: &Member, step: i64| subscript_steps(ty, m.end.element.unwrap_or(0), step);
        ty.rank() < 2 || a.steps.iter().all(|&step| moves(a, step) == moves(b, step))
    }
}

/// Whether `n` steps change each subscript `n` times as much as one.
fn is_even(member: &Member, n: i64, step: i64, vars: &dyn Variables) -> bool {
    let ty = vars.ty(member.end.var);
    let Some(element) = member.end.element.filter(|_| ty.rank() > 1) else { return true };
    let (once, all) = (subscript_steps(ty, element, step), subscript_steps(ty, element, n * step));
    once.iter().zip(all).all(|(once, all)| once * n == all)
}

/// The sets that one stands for, one by one.
fn unfold(set: &Set, shifts: &mut [i64], dimension: usize, out: &mut Vec<Set>) {
    let Some(&n) = set.dims.get(dimension) else {
        let members = set.members.iter().zip(shifts.iter()).map(|(m, &shift)| {
            let element = m.end.element.map(|element| element.wrapping_add_signed(shift));
            Member { end: End { element, ..m.end }, connect: m.connect, steps: Vec::new() }
        });
        out.push(Set { members: members.collect(), connect: set.connect, dims: Vec::new() });
        return;
    };
    for _ in 0..n {
        unfold(set, &mut shifts.to_vec(), dimension + 1, out);
        for (shift, member) in shifts.iter_mut().zip(&set.members) {
            *shift += member.steps[dimension];
        }
    }
}
