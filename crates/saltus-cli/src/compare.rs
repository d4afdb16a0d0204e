//! `saltus compare REFERENCE RESULT`: which signals differ, where, and how that looks.

use std::path::PathBuf;

use saltus_plot::{Band, Chart, Panel};
use saltus_results::compare::half_width;
use saltus_results::{Comparison, Difference, Pattern, Results, Tube, compare};

use crate::numbers::positive;
use crate::summary::short;
use crate::{Exit, Screen, chart};

const EXAMPLES: &str = "\
Examples:
  saltus compare reference.csv result.mat
  saltus compare reference.csv result.mat --tube 1e-4 --keep 'body.*' --output difference.html

Each signal of the reference must lie in a tube around the result: as wide as a part of its size, as long as a part of the
time span. Exit code: 0 if all do, 1 if not.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The results that are taken for right.
    reference: PathBuf,
    /// The results in question.
    result: PathBuf,
    /// Half the width of the tube, as a part of a signal's size and of the time span.
    #[arg(long, value_name = "PART", default_value_t = 2e-3, allow_negative_numbers = true, value_parser = positive)]
    tube: f64,
    /// Compare only signals with these names; `*` and `?` stand for others.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Draw the signals that differ most into this file: .svg, .png or .html.
    #[arg(long, short, value_name = "FILE", value_parser = chart::picture_file)]
    output: Option<PathBuf>,
    /// Print nothing; the exit code tells.
    #[arg(long)]
    quiet: bool,
}

/// Most signals that are listed, and drawn.
const LISTED: usize = 30;
const DRAWN: usize = 6;

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let reference = chart::read_results(&arguments.reference, screen)?;
    let result = chart::read_results(&arguments.result, screen)?;
    let tube = Tube { relative: arguments.tube, ..Tube::default() };
    let patterns: Vec<Pattern> = arguments.keep.iter().map(|p| Pattern::new(p)).collect();
    let wants = |name: &str| patterns.is_empty() || patterns.iter().any(|p| p.matches(name));
    let comparison = compare(&reference, &result, tube, None, &wants);
    let worst = worst_first(&comparison);
    if !arguments.quiet {
        describe(&comparison, &worst, screen);
    }
    if let Some(path) = &arguments.output {
        let names = if worst.is_empty() { first_names(&comparison) } else { worst.iter().map(|w| w.0).collect() };
        chart::draw(&picture(&reference, &result, tube, &names), Some(path), screen)?;
    } else if !arguments.quiet && !worst.is_empty() {
        let names: Vec<&str> = worst.iter().take(1).map(|w| w.0).collect();
        let mut drawing = picture(&reference, &result, tube, &names);
        // Dots know no grey: on the terminal the reference is a curve like the other.
        drawing.panels.iter_mut().flat_map(|p| &mut p.curves).for_each(|c| c.is_reference = false);
        if !drawing.panels.is_empty() {
            chart::draw(&drawing, None, screen)?;
        }
    }
    Ok(if comparison.is_same() { Exit::Success } else { Exit::ModelError })
}

fn first_names(comparison: &Comparison) -> Vec<&str> {
    comparison.signals.iter().map(|(name, _)| name.as_str()).collect()
}

fn worst_first(comparison: &Comparison) -> Vec<(&str, &Difference)> {
    let badness = |d: &Difference| match d {
        Difference::None => 0.0,
        Difference::Missing => f64::INFINITY,
        Difference::Outside { worst, .. } => *worst,
    };
    let mut found: Vec<(&str, &Difference)> = comparison.different().map(|(n, d)| (n.as_str(), d)).collect();
    found.sort_by(|a, b| badness(b.1).total_cmp(&badness(a.1)));
    found
}

fn describe(comparison: &Comparison, worst: &[(&str, &Difference)], screen: &Screen) {
    let n = comparison.signals.len();
    match worst.len() {
        0 => screen.say(&format!("{n} signals, all within the tube")),
        k => screen.say(&format!("{n} signals, {k} differ")),
    }
    let width = worst.iter().take(LISTED).map(|w| w.0.chars().count()).max().unwrap_or(0);
    for (name, difference) in worst.iter().take(LISTED) {
        let text = match difference {
            Difference::Missing => "is missing".to_owned(),
            Difference::Outside { share, worst, at, since } => format!(
                "{:5.1} % outside, at most {} tube widths at time {}, first at {}",
                100.0 * share,
                short((worst * 10.0).round() / 10.0),
                short(*at),
                short(*since)
            ),
            Difference::None => String::new(),
        };
        screen.say(&format!("  {name:width$}  {text}"));
    }
    if worst.len() > LISTED {
        screen.say(&format!("  … and {} more", worst.len() - LISTED));
    }
}

/// For each signal a panel with the reference, its tube, and the result.
pub fn picture(reference: &Results, result: &Results, tube: Tube, names: &[&str]) -> Chart {
    let mut chart = Chart::new(format!("{} and its reference", result.title));
    for name in names.iter().filter(|n| result.signal(n).is_some()).take(DRAWN) {
        let (Some(expected), Some(found)) = (reference.signal(name), result.signal(name)) else { continue };
        let mut wanted = saltus::chart::curve(reference, expected);
        let width = half_width(&wanted.values, tube);
        let shifted = |by: f64| wanted.values.iter().map(|v| v + by).collect();
        let band = Band { times: wanted.times.clone(), low: shifted(-width), high: shifted(width) };
        wanted.is_reference = true;
        wanted.name = "reference".to_owned();
        let unit = if found.unit.is_empty() { expected.unit.clone() } else { found.unit.clone() };
        let curves = vec![wanted, saltus::chart::curve(result, found)];
        chart.panels.push(Panel { unit, curves, bands: vec![band], ..Panel::default() });
    }
    chart
}
