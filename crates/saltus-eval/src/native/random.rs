//! Random numbers (package `Modelica.Math.Random.Generators`): `(r, state) := Xorshift64star.random(state)`.
//!
//! The xorshift generators of Sebastiano Vigna (2014). A state is a vector of 32-bit Integers, two for each 64-bit word,
//! low half first. Two peculiarities of the Modelica library are kept, because its results depend on them: the first two
//! generators carry their *output* word over into the next state.

use super::arguments::{integers, write};
use super::{NativeContext, NativeError, NativeFunction, NativeResult};
use crate::Value;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaRandom_xorshift64star", |_, a| generate(a, 2, xorshift64star)),
    ("ModelicaRandom_xorshift128plus", |_, a| generate(a, 4, xorshift128plus)),
    ("ModelicaRandom_xorshift1024star", |_, a| generate(a, 33, xorshift1024star)),
    ("ModelicaRandom_automaticGlobalSeed", automatic_seed),
    ("ModelicaRandom_setInternalState_xorshift1024star", set_hidden_state),
    ("ModelicaRandom_impureRandom_xorshift1024star", impure_random),
];

/// What the impure generator remembers between calls. It belongs to one simulation, so that a simulation gives the same
/// numbers every time; without one there is no value.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct ImpureRandom {
    state: Vec<i64>,
    n_seeds: i64,
}

fn hidden<'a>(context: &'a mut NativeContext) -> NativeResult<&'a mut ImpureRandom> {
    context.env.impure_random().ok_or(NativeError::NotConstant)
}

/// In place of the clock: 1, 2, 3 … in the order of the calls.
fn automatic_seed(context: &mut NativeContext, _: &mut [Value]) -> NativeResult {
    let hidden = hidden(context)?;
    hidden.n_seeds = hidden.n_seeds.wrapping_add(1);
    Ok(Some(Value::Integer(hidden.n_seeds)))
}

/// Arguments: state, its size, identification.
fn set_hidden_state(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let state = integers(args, 0)?;
    check_size(&state, 33)?;
    hidden(context)?.state = state;
    Ok(None)
}

fn impure_random(context: &mut NativeContext, _: &mut [Value]) -> NativeResult {
    let hidden = hidden(context)?;
    if hidden.state.is_empty() {
        return Err("the impure random numbers have not been initialized".into());
    }
    let (next, number) = advance(&hidden.state, true, xorshift1024star);
    hidden.state = next;
    Ok(Some(Value::Real(number)))
}

fn check_size(state: &[i64], size: usize) -> NativeResult<()> {
    if state.len() < size {
        return Err(NativeError::Failed(format!("the state needs {size} elements, found {}", state.len())));
    }
    Ok(())
}

/// Arguments: state in, state out, number out.
fn generate(args: &mut [Value], size: usize, step: fn(&mut [u64], &mut i64) -> u64) -> NativeResult {
    let state = integers(args, 0)?;
    check_size(&state, size)?;
    let (next, number) = advance(&state, size % 2 == 1, step);
    write(args, 1, Value::integers(next))?;
    write(args, 2, Value::Real(number))?;
    Ok(None)
}

/// The next state and its number; a state of odd size ends with a position.
fn advance(state: &[i64], has_position: bool, step: fn(&mut [u64], &mut i64) -> u64) -> (Vec<i64>, f64) {
    let mut words: Vec<u64> =
        state.chunks_exact(2).map(|pair| pair.iter().rev().fold(0, |w, &i| w << 32 | u64::from(i as u32))).collect();
    let mut position = if has_position { state.last().copied().unwrap_or(0) } else { 0 };
    let output = step(&mut words, &mut position);
    let mut next: Vec<i64> =
        words.iter().flat_map(|&w| [i64::from(w as u32 as i32), i64::from((w >> 32) as u32 as i32)]).collect();
    if has_position {
        next.push(position);
    }
    (next, to_unit_interval(output))
}

/// The word as a signed number, scaled to (0, 1] around one half.
fn to_unit_interval(word: u64) -> f64 {
    (word as i64) as f64 * 2f64.powi(-64) + 0.5
}

fn xorshift64star(words: &mut [u64], _: &mut i64) -> u64 {
    let [x] = words else { return 0 };
    *x ^= *x >> 12;
    *x ^= *x << 25;
    *x ^= *x >> 27;
    *x = x.wrapping_mul(2_685_821_657_736_338_717);
    *x
}

fn xorshift128plus(words: &mut [u64], _: &mut i64) -> u64 {
    let [first, second] = words else { return 0 };
    let (mut a, b) = (*first, *second);
    a ^= a << 23;
    *first = b;
    *second = (a ^ b ^ (a >> 17) ^ (b >> 26)).wrapping_add(b);
    *second
}

fn xorshift1024star(words: &mut [u64], position: &mut i64) -> u64 {
    let at = (*position & 15) as usize;
    let next = (at + 1) & 15;
    *position = next as i64;
    let (Some(&s0), Some(&s1)) = (words.get(at), words.get(next)) else { return 0 };
    let mixed = s1 ^ (s1 << 31);
    let word = (mixed ^ (mixed >> 11)) ^ (s0 ^ (s0 >> 30));
    if let Some(slot) = words.get_mut(next) {
        *slot = word;
    }
    word.wrapping_mul(1_181_783_497_276_652_981)
}
