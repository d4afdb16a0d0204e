//! A model with its loops and arrays of components, or with single elements.

use saltus::Session;
use saltus::pipeline::{self, Experiment, Options, Outcome, Output, Stage};
use saltus_sim::Solver;

/// Runs the model `Test` of a text.
pub fn run(text: &str, solver: Solver, stop_time: f64, n_intervals: u32, scalars: bool) -> Outcome {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(Some("Test")).expect("the model");
    let mut options = Options::until(Stage::Simulate);
    options.scalars = scalars;
    let (stop_time, output) = (Some(stop_time), Some(Output::Intervals(n_intervals)));
    options.experiment = Experiment { stop_time, output, solver, ..Experiment::default() };
    pipeline::run(&session, class, &options)
}
