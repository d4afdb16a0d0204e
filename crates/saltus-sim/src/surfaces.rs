//! Thresholds as surfaces in the space of states: how to move the states from one side of each to the other.
//!
//! In: relations whose functions are zero at the present point. Out: those among them that are surfaces of their own (`x > 0` and
//! `x <= 0` are one), and for each the shortest movement of the states that changes its function alone.

use saltus_numerics::DenseLu;
use saltus_numerics::filippov::{Dependence, independent};
use saltus_program::{ModelFunctions, Relation, RelationId, SlotId};

use crate::constants::{ADDS_UP, MOST_STATES_APART, MOST_SURFACES, PARALLEL, RELATIVE_MOVE, SAME_POINT, SIDE_DISTANCE};
use crate::sliding::derivatives_and_crossings;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Surfaces {
    /// For each surface the movement of the states that changes its function by one and those of the others not.
    away: Vec<Vec<f64>>,
}

/// Thresholds that meet at a point.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    /// One relation for each surface.
    pub relations: Vec<RelationId>,
    pub dependence: Dependence,
    /// Of the independent ones.
    pub surfaces: Surfaces,
    /// Relations whose surface is that of one of `relations` (by position), which depends on others: is it positive on the same side?
    pub copies: Vec<(RelationId, usize, bool)>,
    /// All relations whose surface is that of one of `relations`.
    pub same: Vec<RelationId>,
}

impl Meeting {
    /// The surfaces of `relations` at the present point, with those of all other relations that are zero at the same point and determined by
    /// them. `None` if they are too many or cannot be evaluated.
    pub fn find(model: &mut dyn ModelFunctions, relations: &[RelationId], nominal: &[f64]) -> Option<Meeting> {
        let given = gradients(model, relations, nominal)?;
        let (own, mut units) = own_surfaces(&given);
        let n_given = own.len();
        let near = near_zero(model, relations, ADDS_UP);
        let at_point = near_zero(model, relations, SAME_POINT);
        let all: Vec<RelationId> = own.iter().map(|&i| relations[i]).chain(near).collect();
        let gradients = gradients(model, &all, nominal)?;
        let independent = |rows: &[&Vec<f64>]| independent(&rows.iter().map(|r| (*r).clone()).collect::<Vec<_>>());
        let first: Vec<&Vec<f64>> = gradients[..n_given].iter().collect();
        let rank = independent(&first).len();
        let mut own: Vec<usize> = (0..n_given).collect();
        let mut copies = Vec::new();
        for (i, gradient) in gradients.iter().enumerate().skip(n_given) {
            let Some(unit) = unit(gradient) else { continue };
            if let Some(place) = units.iter().position(|u| are_parallel(u, &unit)) {
                copies.push((all[i], place, dot(&units[place], &unit) > 0.0));
                continue;
            }
            let with: Vec<&Vec<f64>> = first.iter().copied().chain([gradient]).collect();
            if at_point.contains(&all[i]) && independent(&with).len() == rank {
                own.push(i);
                units.push(unit);
            }
        }
        let rows: Vec<Vec<f64>> = own.iter().map(|&i| gradients[i].clone()).collect();
        let dependence = Dependence::of(&rows)?;
        if own.is_empty() || !dependence.is_none() && own.len() > MOST_SURFACES {
            return None;
        }
        let free: Vec<&[f64]> = dependence.basis.iter().map(|&i| rows[i].as_slice()).collect();
        let surfaces = Surfaces { away: movements(&free, nominal)? };
        let same = copies.iter().map(|(id, _, _)| *id).collect();
        // Copies of independent ones follow them by themselves.
        copies.retain(|(_, place, _)| !dependence.basis.contains(place));
        Some(Meeting { relations: own.iter().map(|&i| all[i]).collect(), dependence, surfaces, copies, same })
    }
}

/// Other relations whose functions are zero at the present point.
fn near_zero(model: &dyn ModelFunctions, relations: &[RelationId], part: f64) -> Vec<RelationId> {
    let is_zero = |r: &Relation| model.get(r.crossing).abs() <= part * model.get(r.scale);
    let all = model.program().events.relations.iter();
    all.filter(|(id, r)| !relations.contains(id) && is_zero(r)).map(|(id, _)| id).collect()
}

/// Gradients that are surfaces of their own, and their directions.
fn own_surfaces(gradients: &[Vec<f64>]) -> (Vec<usize>, Vec<Vec<f64>>) {
    let (mut own, mut units): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for (i, gradient) in gradients.iter().enumerate() {
        let Some(unit) = unit(gradient) else { continue };
        if !units.iter().any(|u| are_parallel(u, &unit)) {
            own.push(i);
            units.push(unit);
        }
    }
    (own, units)
}

impl Surfaces {
    /// The surfaces of `relations` at the present point, and which of the relations they belong to; those that depend on others
    /// are left out. `None` if they cannot be evaluated.
    pub fn find(
        model: &mut dyn ModelFunctions,
        relations: &[RelationId],
        nominal: &[f64],
    ) -> Option<(Surfaces, Vec<RelationId>)> {
        let gradients = gradients(model, relations, nominal)?;
        let own = independent(&gradients);
        if own.is_empty() {
            return None;
        }
        let rows: Vec<&[f64]> = own.iter().map(|&i| gradients[i].as_slice()).collect();
        let away = movements(&rows, nominal)?;
        Some((Surfaces { away }, own.iter().map(|&i| relations[i]).collect()))
    }

    /// Is the surface of each of `others` that of one of `relations`? With very many states it is not worth to find out; so is usual.
    pub fn are_among(
        model: &mut dyn ModelFunctions,
        others: &[RelationId],
        relations: &[RelationId],
        nominal: &[f64],
    ) -> bool {
        if nominal.len() > MOST_STATES_APART {
            return true;
        }
        let all: Vec<RelationId> = relations.iter().chain(others).copied().collect();
        let Some(gradients) = gradients(model, &all, nominal) else { return false };
        let units: Vec<Option<Vec<f64>>> = gradients.iter().map(|g| unit(g)).collect();
        let (own, others) = units.split_at(relations.len());
        others.iter().flatten().all(|other| own.iter().flatten().any(|own| are_parallel(own, other)))
    }

    /// Moves the states to where those functions are positive that should be; these are `z` now.
    pub fn move_into(&self, is_positive: impl Fn(usize) -> bool, z: &[f64], nominal: &[f64], x: &mut [f64]) {
        let distances: Vec<f64> = self.away.iter().map(|away| distance(away, nominal, x)).collect();
        for (i, away) in self.away.iter().enumerate() {
            let target = if is_positive(i) { distances[i] } else { -distances[i] };
            x.iter_mut().zip(away).for_each(|(x, along)| *x += (target - z[i]) * along);
        }
    }

    /// Moves the states to where the functions, which are `z` now, are about zero.
    pub fn move_back(&self, z: &[f64], x: &mut [f64]) {
        for (away, z) in self.away.iter().zip(z) {
            x.iter_mut().zip(away).for_each(|(x, along)| *x -= z * along);
        }
    }

    /// For each surface the movement that changes its function alone.
    pub fn directions(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.away.iter()
    }

    /// These surfaces alone.
    pub fn reduced(&self, kept: &[usize]) -> Surfaces {
        Surfaces { away: kept.iter().map(|&i| self.away[i].clone()).collect() }
    }
}

/// A change of the function that moves no state by more than a small part of its magnitude.
pub(crate) fn distance(away: &[f64], nominal: &[f64], x: &[f64]) -> f64 {
    let magnitudes = x.iter().zip(nominal).zip(away);
    SIDE_DISTANCE * magnitudes.map(|((x, n), along)| x.abs().max(*n) / along.abs()).fold(f64::INFINITY, f64::min)
}

/// Gradients of the functions of relations, in terms of the nominal values of the states; `None` if they cannot be evaluated, or
/// there are too many states.
fn gradients(model: &mut dyn ModelFunctions, relations: &[RelationId], nominal: &[f64]) -> Option<Vec<Vec<f64>>> {
    let n = nominal.len();
    if n > MOST_STATES_APART {
        return None;
    }
    let program = model.program().clone();
    let crossing = |id: &RelationId| Some(program.events.relations.get(*id)?.crossing);
    let slots = relations.iter().map(crossing).collect::<Option<Vec<SlotId>>>()?;
    let now = model.snapshot();
    let time = model.get(model.program().memory.time);
    let (mut x, mut moved) = (vec![0.0; n], vec![0.0; n]);
    model.get_states(&mut x);
    let mut gradients = vec![vec![0.0; n]; slots.len()];
    for j in 0..n {
        let h = RELATIVE_MOVE * x[j].abs().max(nominal[j]);
        for sign in [1.0, -1.0] {
            moved.copy_from_slice(&x);
            moved[j] += sign * h;
            model.set_continuous(time, &moved);
            if !derivatives_and_crossings(model).is_ok() {
                model.restore(&now);
                return None;
            }
            for (gradient, &slot) in gradients.iter_mut().zip(&slots) {
                gradient[j] += sign * model.get(slot) / (2.0 * h) * nominal[j];
            }
        }
    }
    model.restore(&now);
    let is_finite = gradients.iter().flatten().all(|g| g.is_finite());
    is_finite.then_some(gradients)
}

/// `N·Gᵀ·(G·Gᵀ)⁻¹`, column by column: the shortest movements, measured by the nominal values, each of which changes one function by one.
fn movements(rows: &[&[f64]], nominal: &[f64]) -> Option<Vec<Vec<f64>>> {
    let k = rows.len();
    let gram: Vec<f64> = (0..k * k).map(|e| dot(rows[e / k], rows[e % k])).collect();
    let mut lu = DenseLu::new(k);
    lu.factor(&gram).ok()?;
    let movement = |i: usize| {
        let mut weights = vec![0.0; k];
        weights[i] = 1.0;
        lu.solve(&mut weights);
        let along = |j: usize| nominal[j] * rows.iter().zip(&weights).map(|(row, w)| row[j] * w).sum::<f64>();
        (0..nominal.len()).map(along).collect::<Vec<f64>>()
    };
    let all: Vec<Vec<f64>> = (0..k).map(movement).collect();
    all.iter().flatten().all(|x| x.is_finite()).then_some(all)
}

/// The direction of a gradient; `None` if it is zero.
fn unit(gradient: &[f64]) -> Option<Vec<f64>> {
    let length = dot(gradient, gradient).sqrt();
    (length > 0.0).then(|| gradient.iter().map(|g| g / length).collect())
}

fn are_parallel(a: &[f64], b: &[f64]) -> bool {
    dot(a, b).abs() > 1.0 - PARALLEL
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
