//! Thresholds as surfaces in the space of states: how to move the states from one side of each to the other.
//!
//! In: relations whose functions are zero at the present point. Out: those among them that are surfaces of their own (`x > 0` and
//! `x <= 0` are one), and for each the shortest movement of the states that changes its function alone.

use saltus_numerics::DenseLu;
use saltus_program::{ModelFunctions, RelationId, SlotId};

use crate::constants::{MOST_STATES_APART, MOST_SURFACES, PARALLEL, RELATIVE_MOVE, SIDE_DISTANCE};
use crate::sliding::derivatives_and_crossings;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Surfaces {
    /// For each surface the movement of the states that changes its function by one and those of the others not.
    away: Vec<Vec<f64>>,
}

impl Surfaces {
    /// The surfaces of `relations` at the present point, and which of the relations they belong to. `None` if they are too
    /// many, cannot be evaluated, or meet in a way that leaves no region between some of them.
    pub fn find(
        model: &mut dyn ModelFunctions,
        relations: &[RelationId],
        nominal: &[f64],
    ) -> Option<(Surfaces, Vec<RelationId>)> {
        let gradients = gradients(model, relations, nominal)?;
        let (mut own, mut units): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for (i, gradient) in gradients.iter().enumerate() {
            let Some(unit) = unit(gradient) else { continue };
            if units.iter().any(|u| are_parallel(u, &unit)) {
                continue;
            }
            own.push(i);
            units.push(unit);
        }
        if own.is_empty() || own.len() > MOST_SURFACES {
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

    /// Moves the states into a region, whose bits say which functions are positive there; these are `z` now.
    pub fn move_into(&self, region: usize, z: &[f64], nominal: &[f64], x: &mut [f64]) {
        let distances: Vec<f64> = self.away.iter().map(|away| distance(away, nominal, x)).collect();
        for (i, away) in self.away.iter().enumerate() {
            let target = if region >> i & 1 == 1 { distances[i] } else { -distances[i] };
            x.iter_mut().zip(away).for_each(|(x, along)| *x += (target - z[i]) * along);
        }
    }

    /// Moves the states to where the functions, which are `z` now, are about zero.
    pub fn move_back(&self, z: &[f64], x: &mut [f64]) {
        for (away, z) in self.away.iter().zip(z) {
            x.iter_mut().zip(away).for_each(|(x, along)| *x -= z * along);
        }
    }

    /// These surfaces alone.
    pub fn reduced(&self, kept: &[usize]) -> Surfaces {
        Surfaces { away: kept.iter().map(|&i| self.away[i].clone()).collect() }
    }
}

/// A change of the function that moves no state by more than a small part of its magnitude.
fn distance(away: &[f64], nominal: &[f64], x: &[f64]) -> f64 {
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
