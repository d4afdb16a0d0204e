//! Machine code that arrives while a model is evaluated.

mod common;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use common::{Both, Random, sum_and_product};
use saltus_jit::{Background, Jit, JitOptions, Work};
use saltus_program::{Activation, SimProgram};
use saltus_runtime::Interpreter;

/// Keeps work until the test runs it.
#[derive(Default)]
struct Queue {
    work: Mutex<VecDeque<Work>>,
}

impl Queue {
    fn len(&self) -> usize {
        self.work.lock().unwrap().len()
    }

    fn run_next(&self) {
        let work = self.work.lock().unwrap().pop_front().expect("work was asked for");
        work();
    }
}

impl Background for Queue {
    fn run(&self, work: Work) -> Result<(), Work> {
        self.work.lock().unwrap().push_back(work);
        Ok(())
    }
}

/// No core is free.
struct Busy;

impl Background for Busy {
    fn run(&self, work: Work) -> Result<(), Work> {
        Err(work)
    }
}

fn beside(program: SimProgram, background: Arc<dyn Background>) -> Both {
    let program = Arc::new(program);
    let jit = Jit::new(JitOptions::default()).unwrap().with_background(background);
    Both { interpreter: Interpreter::new(program.clone()), compiled: jit.watch_program(program) }
}

/// Evaluates derivatives so many times; the loop goes on from its last solution.
fn evaluate(both: &mut Both, random: &mut Random, times: usize) {
    let (_, [a, b, ..]) = sum_and_product(true);
    for _ in 0..times {
        both.set(a, random.number());
        both.set(b, random.number());
        both.eval(Activation::Derivatives, "beside");
    }
}

#[test]
fn code_is_used_from_when_it_has_been_made_with_the_same_bits() {
    for waiting in [0, 1, 50, 1000] {
        let queue = Arc::new(Queue::default());
        let mut both = beside(sum_and_product(true).0, queue.clone());
        let mut random = Random(7);
        while queue.len() == 0 {
            evaluate(&mut both, &mut random, 1);
        }
        evaluate(&mut both, &mut random, waiting);
        assert!(!both.compiled.is_compiled(Activation::Derivatives));
        queue.run_next();
        evaluate(&mut both, &mut random, 1);
        assert!(both.compiled.is_compiled(Activation::Derivatives));
        evaluate(&mut both, &mut random, 200);
        assert_eq!(queue.len(), 0, "a section is compiled once");
    }
}

#[test]
fn work_that_is_lost_leaves_the_section_interpreted() {
    let queue = Arc::new(Queue::default());
    let mut both = beside(sum_and_product(true).0, queue.clone());
    let mut random = Random(7);
    while queue.len() == 0 {
        evaluate(&mut both, &mut random, 1);
    }
    // As if the thread had panicked.
    queue.work.lock().unwrap().clear();
    evaluate(&mut both, &mut random, 1000);
    assert!(!both.compiled.is_compiled(Activation::Derivatives));
    assert_eq!(queue.len(), 0, "it is not tried again");
}

#[test]
fn where_no_core_is_free_the_run_compiles_when_that_pays() {
    let mut both = beside(sum_and_product(true).0, Arc::new(Busy));
    let mut random = Random(7);
    evaluate(&mut both, &mut random, 1000);
    assert!(both.compiled.is_compiled(Activation::Derivatives));
}
