//! Any text is loaded and each of its classes simulated for a moment without a panic, a hang or a flood of memory.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use saltus::pipeline::{self, Engine, Options, Output, Stage};
use saltus::{Session, guard};
use saltus_library::{ClassId, MemoryFiles};

/// Classes of one text that are tried; more only repeat the work.
const MOST_CLASSES: usize = 4;

fuzz_target!(|text: &str| {
    // As in the program: recursion may go as deep as the limits of the front end allow.
    let done = guard::on_large_stack(|| simulate_all(text));
    assert!(done.is_ok());
});

fn simulate_all(text: &str) {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("fuzz.mo", text);
    let classes: Vec<ClassId> = session.own_classes().iter().copied().take(MOST_CLASSES).collect();
    for class in classes {
        for engine in [Engine::Interpreter, Engine::Jit] {
            let mut options = Options::until(Stage::Simulate);
            options.engine = engine;
            options.experiment.stop_time = Some(1.0);
            options.experiment.output = Some(Output::Intervals(5));
            options.experiment.time_limit = Some(Duration::from_secs(1));
            let outcome = pipeline::run(&session, class, &options);
            if let Some(bug) = outcome.diagnostics.iter().find(|d| d.code.0 == "E9999") {
                panic!("{}", bug.message);
            }
        }
    }
}
