//! The balance of impulses where a configuration is entered: an equation as written, integrated over the instant.
//!
//! ```text
//! J1*der(w1) = -tau      ⇒      J1*(w1⁺ - w1⁻) = -Λ,   Λ the impulse of tau
//! ```
//!
//! In: an equation, the values before and after a jump, and the impulses of what was infinite in between. Out: the integrals of both
//! sides, and the size of their terms.
//!
//! What becomes infinite does so linearly. So nothing is differentiated here: the equation is evaluated with every derivative larger by
//! the same multiple of the jump of its variable, and every impulsive variable by that multiple of its impulse. What the difference of the
//! sides changes by, as a part of the terms, is its imbalance. An equation without derivatives or impulsive variables does not change.

use saltus_eval::{EvalError, EvalResult};
use saltus_procedure::Expression;

use crate::residuals::Residual;
use crate::term::{Amount, Term};
use crate::world::{UNKNOWN, World};

/// A jump at an instant, by slot.
pub(crate) struct Jump {
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    /// Impulses of the variables that became infinite.
    pub impulses: Vec<(usize, f64)>,
    /// How often jumps and impulses are added to what is evaluated.
    pub scale: f64,
}

/// Impulses below this part of the largest one are rounding: times the usual bound, 1e-14 of it.
const LEAST_IMPULSE: f64 = 1e-8;

/// Multiples of jumps and impulses, tried until they outweigh what is finite.
const SCALES: [f64; 3] = [(1u64 << 20) as f64, (1u64 << 40) as f64, (1u64 << 60) as f64];

impl Jump {
    pub fn new(before: Vec<f64>, after: Vec<f64>, impulses: Vec<(usize, f64)>) -> Jump {
        Jump { before, after, impulses, scale: 0.0 }
    }

    /// What a variable jumps by, and the size of the terms of that difference.
    pub fn distance(&self, slot: usize) -> (f64, f64) {
        let at = |memory: &[f64]| memory.get(slot).copied().unwrap_or(f64::NAN);
        let (before, after) = (at(&self.before), at(&self.after));
        (after - before, before.abs() + after.abs())
    }

    /// How accurate the impulses are.
    pub fn noise(&self, slot: usize) -> f64 {
        let is_impulsive = self.impulses.iter().any(|(of, _)| *of == slot);
        let largest = self.impulses.iter().fold(0.0, |most: f64, (_, impulse)| most.max(impulse.abs()));
        if is_impulsive { self.scale * LEAST_IMPULSE * largest } else { 0.0 }
    }

    /// The values after the jump, with so much of the impulses.
    pub fn memory(&self) -> Vec<f64> {
        let mut memory = self.after.clone();
        for (slot, impulse) in &self.impulses {
            if let Some(value) = memory.get_mut(*slot) {
                *value += self.scale * impulse;
            }
        }
        memory
    }
}

/// The integrals of both sides of an equation over the instant of the jump.
pub(crate) fn balance(left: &Term, right: &Term, world: &mut World) -> EvalResult<Residual> {
    world.set_scale(0.0);
    let rest = (left.evaluate(world)?, right.evaluate(world)?);
    for scale in SCALES {
        world.set_scale(scale);
        let more = (left.evaluate(world), right.evaluate(world));
        world.set_scale(-scale);
        let less = (left.evaluate(world), right.evaluate(world));
        world.set_scale(0.0);
        let sides = ((more.0?, more.1?), (less.0?, less.1?));
        if let Some(found) = compare(&rest, &sides.0, &sides.1, scale)? {
            return Ok(found);
        }
    }
    // Nothing in it becomes infinite.
    Err(EvalError::not_constant(saltus_base::Span::nowhere(), UNKNOWN))
}

/// `None` if what is finite outweighs the rest in some element that changes.
fn compare(
    rest: &(Amount, Amount),
    more: &(Amount, Amount),
    less: &(Amount, Amount),
    scale: f64,
) -> EvalResult<Option<Residual>> {
    let unknown = || EvalError::not_constant(saltus_base::Span::nowhere(), UNKNOWN);
    let n = rest.0.items.len();
    if [&rest.1, &more.0, &more.1, &less.0, &less.1].iter().any(|side| side.items.len() != n) {
        return Err(unknown());
    }
    let mut worst: Option<Residual> = None;
    for i in 0..n {
        let at = |sides: &(Amount, Amount)| (sides.0.items[i], sides.1.items[i]);
        let ((l0, r0), (l1, r1), (l2, r2)) = (at(rest), at(more), at(less));
        let (size, finite) = (l1.1 + r1.1, l0.1 + r0.1);
        if size == finite {
            continue;
        }
        if size < 2.0 * finite && scale < SCALES[SCALES.len() - 1] {
            return Ok(None);
        }
        let (up, down) = ((l1.0 - l0.0, r1.0 - r0.0), (l0.0 - l2.0, r0.0 - r2.0));
        // Not linear: then nothing is known of impulses.
        let bends = (up.0 - down.0).abs() + (up.1 - down.1).abs();
        if bends.is_nan() || bends > NONLINEAR * size {
            return Err(unknown());
        }
        let (left, right) = (up.0 / scale, up.1 / scale);
        let mut residual = Residual::of_numbers(left, right, size / scale);
        residual.element = (!rest.0.dims.is_empty()).then_some(i + 1);
        worst = Some(worst.map_or(residual.clone(), |worst| worst.or(residual)));
    }
    worst.map_or_else(|| Err(unknown()), |worst| Ok(Some(worst)))
}

/// Part of the size of an equation by which it may bend and still count as linear.
const NONLINEAR: f64 = 1e-9;

/// Is a condition of a branch true, whatever becomes infinite?
pub(crate) fn is_true(condition: &Expression, world: &mut World) -> EvalResult<bool> {
    let scale = world.set_scale(0.0);
    let holds = world.is_true(condition);
    world.set_scale(scale);
    holds
}
