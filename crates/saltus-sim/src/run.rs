//! Runs from start to stop in one go, with results in memory.

use saltus_program::ModelFunctions;

use crate::{Options, Progress, Recorder, SimError, SimErrorKind, Simulation, Trajectory};

/// Simulates from start to stop time.
pub fn simulate(instance: Box<dyn ModelFunctions>, options: &Options) -> Result<Trajectory, SimError> {
    simulate_observed(instance, options, &mut |_| true)
}

/// Like [`simulate`]; `observer` learns of each step and event and says whether to go on.
pub fn simulate_observed(
    instance: Box<dyn ModelFunctions>,
    options: &Options,
    observer: &mut dyn FnMut(Progress) -> bool,
) -> Result<Trajectory, SimError> {
    let mut simulation = Simulation::new(instance, options.clone());
    let recorder = Recorder::new(options.max_result_bytes);
    simulation.set_sink(Box::new(recorder.clone()));
    let outcome = run(&mut simulation, observer);
    let trajectory = simulation.trajectory(&recorder);
    match outcome {
        Ok(()) => Ok(trajectory),
        Err(error) => Err(SimError { partial: Box::new(trajectory), ..error }),
    }
}

/// Runs a simulation to its end, the terminal event included.
pub fn run(simulation: &mut Simulation, observer: &mut dyn FnMut(Progress) -> bool) -> Result<(), SimError> {
    advance_to_end(simulation, observer)?;
    simulation.finish()
}

/// Runs a simulation up to its stop time; whoever saves its state there can go on from it with a later one.
pub fn advance_to_end(simulation: &mut Simulation, observer: &mut dyn FnMut(Progress) -> bool) -> Result<(), SimError> {
    advance_until(simulation, f64::INFINITY, observer)
}

/// Runs a simulation up to a time before its stop time, or up to that. The integrator does not feel it: what goes on from the state there
/// goes on as if there had been no pause.
pub fn advance_until(
    simulation: &mut Simulation,
    until: f64,
    observer: &mut dyn FnMut(Progress) -> bool,
) -> Result<(), SimError> {
    simulation.initialise()?;
    // Where a run ends it knows better than its stop time.
    let until = if until < simulation.options().stop_time { until } else { f64::INFINITY };
    while !simulation.is_over() && simulation.time() < until {
        if !observer(simulation.progress()) {
            return Err(simulation.stop(SimErrorKind::Interrupted));
        }
        simulation.advance(until)?;
    }
    Ok(())
}

impl Simulation {
    /// What was recorded, with what is known about the run.
    pub fn trajectory(&self, recorder: &Recorder) -> Trajectory {
        Trajectory {
            warnings: self.warnings().to_vec(),
            notes: self.notes().to_vec(),
            statistics: self.statistics(),
            detection: self.detection(),
            below_tolerance: self.below_tolerance(),
            of_one_digit: self.of_one_digit(),
            difference_functions: self.difference_functions(),
            end: self.end().clone(),
            ..recorder.take()
        }
    }
}
