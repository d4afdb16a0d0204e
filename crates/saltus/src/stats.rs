//! What a run cost, as a JSON object for `--stats`.

use std::time::Duration;

use saltus_sim::{RelationDetection, Trajectory};
use serde_json::{Map, Value, json};

use crate::pipeline::Outcome;

/// Counts of the model, seconds and seconds of a processor for each stage, and the peak memory of this process.
pub fn of(outcome: &Outcome, load: Duration) -> Value {
    let mut stages = Map::new();
    stages.insert("load".into(), seconds(load));
    for (name, time) in &outcome.timings {
        stages.insert((*name).into(), seconds(*time));
    }
    let processor: Map<String, Value> =
        outcome.processor_times.iter().map(|(name, time)| ((*name).into(), seconds(*time))).collect();
    let mut all = json!({
        "equations": outcome.balance.as_ref().map(|b| b.equations),
        "unknowns": outcome.balance.as_ref().map(|b| b.unknowns),
        "variables": outcome.flat.as_ref().map(|m| m.variables.len()),
        "errors": outcome.diagnostics.n_errors(),
        "seconds": stages,
        "processor_seconds": processor,
        "peak_memory_bytes": peak_memory(),
    });
    if let (Value::Object(all), Some(trajectory)) = (&mut all, &outcome.trajectory) {
        all.extend(simulation(trajectory));
        all.insert("states".into(), json!(outcome.program().map(|p| p.states.len())));
    }
    all
}

fn simulation(trajectory: &Trajectory) -> Map<String, Value> {
    let statistics = &trajectory.statistics;
    let mut map = Map::new();
    map.insert("steps".into(), json!(statistics.steps));
    map.insert("rejected_steps".into(), json!(statistics.rejected_steps));
    map.insert("rhs_evaluations".into(), json!(statistics.derivative_evaluations));
    map.insert("jacobian_evaluations".into(), json!(statistics.jacobian_evaluations));
    map.insert("difference_jacobians".into(), json!(statistics.difference_jacobians));
    map.insert("difference_calls".into(), json!(statistics.difference_calls));
    map.insert("difference_functions".into(), json!(trajectory.difference_functions));
    map.insert("factorisations".into(), json!(statistics.factorisations));
    map.insert("crossing_evaluations".into(), json!(statistics.crossing_evaluations));
    map.insert("state_events".into(), json!(statistics.state_events));
    map.insert("time_events".into(), json!(statistics.time_events));
    map.insert("event_iterations".into(), json!(statistics.event_iterations));
    map.insert("restarts".into(), json!(statistics.restarts));
    map.insert("relations".into(), trajectory.detection.iter().map(detection).collect());
    map.insert("states_below_tolerance".into(), json!(trajectory.below_tolerance));
    map.insert("states_of_one_digit".into(), json!(trajectory.of_one_digit));
    let loops = &statistics.loops;
    map.insert("loops_solved".into(), json!(loops.solved));
    map.insert("newton_iterations".into(), json!(loops.newton_iterations));
    map.insert("loop_retries".into(), json!(loops.retries));
    map.insert("loop_failures".into(), json!(loops.failures));
    map.insert("function_calls".into(), json!(loops.calls));
    map
}

/// How the changes of a relation were found: steps, or searches ahead if it depends on time alone.
fn detection(relation: &RelationDetection) -> Value {
    json!({
        "relation": relation.relation,
        "time_alone": relation.is_time_alone,
        "proved": relation.proved,
        "sampled": relation.sampled,
        "coarse": relation.is_coarse,
    })
}

fn seconds(time: Duration) -> Value {
    json!((time.as_secs_f64() * 1e6).round() / 1e6)
}

/// How long this thread has had a processor so far, whatever else the machine does; known on Linux only.
pub fn processor_time() -> Option<Duration> {
    // The system brings its account up to date when another thread may run.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The largest resident size of this process so far; known on Linux only.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
