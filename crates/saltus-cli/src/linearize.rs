//! `saltus linearize [FILE…] [CLASS] [--at TIME]`: A, B, C, D and eigenvalues.

use std::path::PathBuf;

use saltus::diagnostics;
use saltus::linearize::{Linearization, linearize};
use saltus::pipeline::{Engine, Experiment, Options, Stage};
use saltus_program::Stopwatch;
use saltus_sim::Simulation;
use serde_json::{Value, json};

use crate::numbers::finite;
use crate::summary::{plural, short};
use crate::target::Target;
use crate::write::write;
use crate::{Exit, Screen};

const EXAMPLES: &str = "\
Examples:
  saltus linearize Motor.mo
  saltus linearize Motor.mo --at 2.5 --output motor.json

Inputs and outputs are those of the model itself (`input Real u`, connectors included). States and values at the chosen time,
the matrices of der(x) = A x + B u, y = C x + D u, and the eigenvalues of A with frequency and damping.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// The time of the point; otherwise the start.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = finite)]
    at: Option<f64>,
    /// Write names, values, matrices and eigenvalues as JSON.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print nothing.
    #[arg(long)]
    quiet: bool,
}

/// Matrices with more columns are only written, not shown.
const WIDEST: usize = 12;

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    arguments.target.protect(&[arguments.output.as_ref()], &[], screen)?;
    let run = arguments.target.run(Options::until(Stage::Compile), screen)?;
    let Some(model) = &run.outcome.model else { return Ok(Exit::ModelError) };
    let program = model.program();
    if run.outcome.has_errors() {
        return Ok(Exit::ModelError);
    }
    let start = program.experiment.start_time.unwrap_or(0.0);
    let at = arguments.at.unwrap_or(start);
    if at < start {
        screen.fail(&diagnostics::backwards(start, at));
        return Err(Exit::Usage);
    }
    let settings = Experiment { stop_time: Some(at), ..Experiment::default() }.settings(program);
    let instance = model.instance(Engine::Auto, arguments.target.permissions());
    let mut simulation = Simulation::new(instance, settings);
    if let Some(maker) = model.configurations(Engine::Auto, arguments.target.permissions(), &Stopwatch::default()) {
        simulation.set_configurations(maker);
    }
    if let Err(wrong) = run.start.apply(&mut simulation, model) {
        wrong.iter().for_each(|d| screen.show(d, &model.sources()));
        return Ok(Exit::ModelError);
    }
    let found = match linearize(simulation) {
        Ok(found) => found,
        Err(error) => {
            let said = diagnostics::simulation_failed(&error);
            screen.show(&said, &model.sources());
            return Ok(Exit::RunTimeFailure);
        }
    };
    if found.time < at {
        screen.show(&diagnostics::ended_before(found.time, at), &model.sources());
    }
    if let Some(path) = &arguments.output {
        write(path, &format!("{:#}\n", to_json(&run.class_name, &found)), screen)?;
    }
    if !arguments.quiet {
        show(&run.class_name, &found, screen);
    }
    Ok(Exit::Success)
}

pub fn to_json(class: &str, found: &Linearization) -> Value {
    let values =
        |named: &[(String, f64)]| named.iter().map(|(n, v)| json!({"name": n, "value": v})).collect::<Vec<_>>();
    let eigenvalues =
        found.eigenvalues.as_ref().map(|all| all.iter().map(|(re, im)| json!([re, im])).collect::<Vec<_>>());
    json!({
        "class": class, "time": found.time,
        "states": values(&found.states), "inputs": values(&found.inputs), "outputs": values(&found.outputs),
        "A": found.a, "B": found.b, "C": found.c, "D": found.d, "eigenvalues": eigenvalues,
        "difference_columns": found.n_differences,
    })
}

fn show(class: &str, found: &Linearization, screen: &Screen) {
    let (n, m, p) = (found.states.len(), found.inputs.len(), found.outputs.len());
    screen.say(&format!("{class} at time {}: {n} states, {m} inputs, {p} outputs", short(found.time)));
    for (title, named) in [("states", &found.states), ("inputs", &found.inputs), ("outputs", &found.outputs)] {
        if !named.is_empty() {
            let texts: Vec<String> = named.iter().map(|(name, value)| format!("{name} = {}", short(*value))).collect();
            screen.say(&format!("{title:8} {}", texts.join(", ")));
        }
    }
    for (name, matrix) in [("A", &found.a), ("B", &found.b), ("C", &found.c), ("D", &found.d)] {
        show_matrix(name, matrix, screen);
    }
    if found.n_differences > 0 {
        screen.say(&format!("{} by differences: no exact derivative", plural(found.n_differences as u64, "column")));
    }
    match &found.eigenvalues {
        Some(values) => values.iter().for_each(|value| screen.say(&eigenvalue_line(*value))),
        None => screen.say("the eigenvalues could not be found"),
    }
}

fn show_matrix(name: &str, matrix: &[Vec<f64>], screen: &Screen) {
    let n_columns = matrix.first().map_or(0, Vec::len);
    if n_columns == 0 {
        return;
    }
    if n_columns > WIDEST || matrix.len() > WIDEST {
        screen.say(&format!("{name}  {}×{n_columns}: --output FILE writes it", matrix.len()));
        return;
    }
    let cells: Vec<Vec<String>> = matrix.iter().map(|row| row.iter().map(|v| short(clean(*v))).collect()).collect();
    let width = cells.iter().flatten().map(|c| c.chars().count()).max().unwrap_or(0);
    for (i, row) in cells.iter().enumerate() {
        let texts: Vec<String> = row.iter().map(|c| format!("{c:>width$}")).collect();
        screen.say(&format!("{} [ {} ]", if i == 0 { name } else { " " }, texts.join("  ")));
    }
}

/// What rounding leaves of a zero.
fn clean(value: f64) -> f64 {
    if value.abs() < 1e-10 { 0.0 } else { value }
}

fn eigenvalue_line((re, im): (f64, f64)) -> String {
    let size = re.hypot(im);
    let more = if im != 0.0 {
        format!("   {} Hz, damping {}", short(size / std::f64::consts::TAU), short(clean(-re / size)))
    } else if re < 0.0 {
        format!("   time constant {} s", short(-1.0 / re))
    } else {
        String::new()
    };
    let value = if im == 0.0 {
        short(clean(re))
    } else {
        format!("{} {} {}i", short(clean(re)), if im < 0.0 { '-' } else { '+' }, short(im.abs()))
    };
    format!("eigenvalue  {value}{more}")
}
