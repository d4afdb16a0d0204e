//! How long a derivative call of a chain of oscillators takes: machine code, interpreter, and the loop written by hand.
//!
//! ```text
//! der(x[i]) = v[i];  der(v[i]) = (k * (x[i-1] - 2 * x[i] + x[i+1]) - d * v[i]) / m
//! ```
//!
//! `cargo run --release -p saltus-jit --example chain [states=400] [chunk=1000] [group=8] [optimise=0]`

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use std::hint::black_box;
use std::time::Instant;

use common::{Writer, empty_program, slot};
use saltus_jit::{Jit, JitOptions};
use saltus_program::{Activation, BinaryFn, ModelFunctions, SimProgram, SlotId, SlotKind, State, ValueId};
use saltus_runtime::Interpreter;

fn chain(n: usize) -> SimProgram {
    let mut program = empty_program();
    let [k, d, m] = [100.0, 0.1, 2.0].map(|value| slot(&mut program, SlotKind::Parameter, value));
    let start = |i: usize| (i as f64 * 0.37).sin();
    let x: Vec<SlotId> = (0..n).map(|i| slot(&mut program, SlotKind::State, start(i))).collect();
    let v: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::State, 0.0)).collect();
    let der_x: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Derivative, 0.0)).collect();
    let der_v: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Derivative, 0.0)).collect();
    for i in 0..n {
        let mut w = Writer::default();
        let velocity = w.load(v[i]);
        w.store(velocity, der_x[i]);
        program.sections.derivatives.blocks.push(w.block());

        let mut w = Writer::default();
        let neighbour = |w: &mut Writer, j: Option<usize>| -> ValueId {
            match j.and_then(|j| x.get(j)) {
                Some(slot) => w.load(*slot),
                None => w.constant(0.0),
            }
        };
        let (left, right) = (neighbour(&mut w, i.checked_sub(1)), neighbour(&mut w, Some(i + 1)));
        let (two, own, stiffness) = (w.constant(2.0), w.load(x[i]), w.load(k));
        let twice = w.binary(BinaryFn::Mul, two, own);
        let difference = w.binary(BinaryFn::Sub, left, twice);
        let sum = w.binary(BinaryFn::Add, difference, right);
        let spring = w.binary(BinaryFn::Mul, stiffness, sum);
        let (damping, velocity, mass) = (w.load(d), w.load(v[i]), w.load(m));
        let friction = w.binary(BinaryFn::Mul, damping, velocity);
        let force = w.binary(BinaryFn::Sub, spring, friction);
        let acceleration = w.binary(BinaryFn::Div, force, mass);
        w.store(acceleration, der_v[i]);
        program.sections.derivatives.blocks.push(w.block());
    }
    let state = |(value, derivative): (&SlotId, &SlotId)| State {
        value: *value,
        derivative: *derivative,
        nominal: 1.0,
        unbounded: false,
    };
    program.states.extend(x.iter().zip(&der_x).chain(v.iter().zip(&der_v)).map(state));
    program
}

#[inline(never)]
fn by_hand(x: &[f64], v: &[f64], der_x: &mut [f64], der_v: &mut [f64], k: f64, d: f64, m: f64) {
    let n = x.len();
    let (v, der_x, der_v) = (&v[..n], &mut der_x[..n], &mut der_v[..n]);
    for i in 0..n {
        let left = if i > 0 { x[i - 1] } else { 0.0 };
        let right = if i + 1 < n { x[i + 1] } else { 0.0 };
        der_x[i] = v[i];
        der_v[i] = (k * (left - 2.0 * x[i] + right) - d * v[i]) / m;
    }
}

/// Nanoseconds a call: the best of several rounds, so that other work on the machine counts little.
fn measure(mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        let started = Instant::now();
        const CALLS: u32 = 1_000;
        for _ in 0..CALLS {
            call();
        }
        best = best.min(started.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    best
}

/// `name=value` on the command line.
fn argument(name: &str, otherwise: usize) -> usize {
    let value = |argument: String| argument.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
    std::env::args().skip(1).find_map(value).unwrap_or(otherwise)
}

fn main() {
    let n_states = argument("states", 400);
    let n = n_states / 2;
    let program = chain(n);
    let n_ops: usize = program.sections.derivatives.blocks.iter().flat_map(|b| b.codes()).map(|c| c.ops.len()).sum();

    let options = JitOptions {
        chunk_operations: argument("chunk", 1_000),
        group_stores: argument("group", 8),
        is_optimising: argument("optimise", 0) == 1,
        ..JitOptions::default()
    };
    let started = Instant::now();
    let jit = match Jit::new(options) {
        Ok(jit) => jit,
        Err(error) => return eprintln!("{error}"),
    };
    println!("code generator made in {:?}", started.elapsed());
    let compile = || jit.compile_program(Arc::new(program.clone())).expect("a program in order");
    let mut compile_time = f64::INFINITY;
    for _ in 0..10 {
        let started = Instant::now();
        black_box(compile());
        compile_time = compile_time.min(started.elapsed().as_secs_f64());
    }
    let mut compiled = compile();
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));

    let native = measure(|| {
        black_box(compiled.eval(Activation::Derivatives));
    });
    let mut dx = vec![0.0; n_states];
    let x: Vec<f64> = program.states.iter().map(|s| compiled.get(s.value)).collect();
    let native_call = measure(|| {
        compiled.set_continuous(0.0, black_box(&x));
        compiled.eval(Activation::Derivatives);
        compiled.get_derivatives(black_box(&mut dx));
    });
    let interpreted = measure(|| {
        black_box(interpreter.eval(Activation::Derivatives));
    });
    let (mut der_x, mut der_v) = (vec![0.0; n], vec![0.0; n]);
    let hand = measure(|| by_hand(black_box(&x[..n]), &x[n..], black_box(&mut der_x), &mut der_v, 100.0, 0.1, 2.0));
    let agree = der_x.iter().chain(&der_v).zip(&dx).all(|(a, b)| a == b);

    println!("{n_states} states, {n_ops} operations, same derivatives: {agree}");
    let per_operation = compile_time * 1e6 / n_ops as f64;
    println!("compiled in {:.2} ms: {per_operation:.2} µs an operation", compile_time * 1e3);
    println!("machine code      {native:9.0} ns a call, {:.2} of by hand", native / hand);
    println!("  with copies     {native_call:9.0} ns a call, {:.2} of by hand", native_call / hand);
    println!("interpreter       {interpreted:9.0} ns a call, {:.2} of by hand", interpreted / hand);
    println!("by hand           {hand:9.0} ns a call");
}
