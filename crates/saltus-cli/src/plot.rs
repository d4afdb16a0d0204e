//! `saltus plot RESULT [NAME…]`: signals over time, or over each other, as a picture, a page or on the terminal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saltus::chart::{SHOWN, curve, fitting, modes, unknown};
use saltus_check::units::Conversion;
use saltus_plot::{Chart, Curve, Panel};
use saltus_results::{Results, Run, Runs, Signal};

use crate::numbers::finite;
use crate::simulate::split_names;
use crate::{Exit, Screen, chart};

const EXAMPLES: &str = "\
Examples:
  saltus plot ball.mat h v                       on the terminal
  saltus plot ball.mat h v --output ball.svg     a picture; .png and .html (zoom, cursor) as well
  saltus plot robot.parquet 'axis?.motor.*'      `*` and `?` stand for any characters and for one
  saltus plot a.mat --with b.csv h -o both.html  the signals of several files over each other
  saltus plot pendulum.mat w --x phi -o w.svg    one signal over another
  saltus plot ball.mat --panel h,v --panel n     which signals share a panel
  saltus plot balls.parquet h -o balls.html      the runs of a sweep: a curve each, or the last values over the first parameter

Signals with the same unit share a panel. Thin lines mark events.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A file of results: .csv, .mat or .parquet.
    result: PathBuf,
    /// Signals, or patterns of signals; the first few otherwise.
    names: Vec<String>,
    /// Draw into this file: .svg, .png or .html.
    #[arg(long, short, value_name = "FILE", value_parser = chart::picture_file)]
    output: Option<PathBuf>,
    /// Draw the same signals of another file, too; may be given several times.
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Draw over this signal instead of over time.
    #[arg(long, value_name = "NAME")]
    x: Option<String>,
    /// A panel with these signals, whatever their units; may be given several times.
    #[arg(long, value_name = "NAME,…")]
    panel: Vec<String>,
    /// In the units in which the model displays its variables, where the file has them.
    #[arg(long)]
    display_units: bool,
    /// Begin at this time.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = finite)]
    from: Option<f64>,
    /// End at this time.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = finite)]
    to: Option<f64>,
    /// The line above the picture; otherwise the name of the file.
    #[arg(long)]
    title: Option<String>,
    /// What stands below the horizontal axis.
    #[arg(long, value_name = "TEXT")]
    x_label: Option<String>,
    /// What stands at the vertical axis instead of the unit, one for each panel from top to bottom.
    #[arg(long, value_name = "TEXT")]
    y_label: Vec<String>,
    /// Do not mark events.
    #[arg(long)]
    no_events: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let paths: Vec<&Path> = std::iter::once(&arguments.result).chain(&arguments.with).map(PathBuf::as_path).collect();
    let mut files = Vec::new();
    let mut x = arguments.x.clone();
    for (path, tag) in paths.iter().zip(tags(&paths)) {
        match chart::read_tables(path, screen)? {
            (results, None) => files.push(File { results, tag }),
            // The last values of runs are a curve over what differs between them.
            (table, Some(runs)) if runs.are_single_rows() => {
                x = x.or_else(|| runs.parameters.first().cloned());
                files.push(File { results: runs.table(&table.title), tag });
            }
            (_, Some(runs)) => files.extend(family(runs, &tag)),
        }
    }
    let picture = Drawing { arguments, x, files: &files, screen }.chart()?;
    chart::draw(&picture, arguments.output.as_deref(), screen)?;
    Ok(Exit::Success)
}

/// Results, and what tells their curves from those of the other files.
struct File {
    results: Results,
    tag: String,
}

/// The runs of a study, each with the values that tell it from the others.
fn family(runs: Runs, tag: &str) -> Vec<File> {
    let Runs { parameters, each } = runs;
    let file = |run: Run| {
        let values = parameters.iter().zip(&run.values).map(|(name, value)| format!("{name} = {value}"));
        let own = (!tag.is_empty()).then(|| tag.to_owned());
        let tag = own.into_iter().chain(values).collect::<Vec<_>>().join(", ");
        File { results: run.results, tag }
    };
    each.into_iter().map(file).collect()
}

/// Names of files without directories and endings, or as they were given if two of these are the same; nothing for a single one.
fn tags(paths: &[&Path]) -> Vec<String> {
    if paths.len() < 2 {
        return vec![String::new(); paths.len()];
    }
    let stems: Vec<String> =
        paths.iter().map(|p| p.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    let n_different = stems.iter().collect::<BTreeSet<_>>().len();
    if n_different == stems.len() { stems } else { paths.iter().map(|p| p.display().to_string()).collect() }
}

struct Drawing<'a> {
    arguments: &'a Arguments,
    /// What is drawn over; time if it is nothing.
    x: Option<String>,
    files: &'a [File],
    screen: &'a Screen,
}

/// A curve with the unit of its values.
struct Drawn {
    curve: Curve,
    unit: String,
}

impl Drawing<'_> {
    fn chart(&self) -> Result<Chart, Exit> {
        let arguments = self.arguments;
        let first = &self.files[0].results;
        let mut chart = Chart::new(arguments.title.as_deref().unwrap_or(&first.title));
        let is_x = |name: &str| self.x.as_deref() == Some(name);
        let shown = || first.series().filter(|s| !is_x(&s.name)).take(SHOWN).map(|s| s.name.clone()).collect();
        let is_chosen = !arguments.names.is_empty() || !arguments.panel.is_empty();
        let names: Vec<String> = if is_chosen { arguments.names.clone() } else { shown() };
        for Drawn { curve, unit } in self.curves(&names)? {
            chart.add(&unit, curve);
        }
        for panel in &arguments.panel {
            let names: Vec<String> = split_names(panel).into_iter().map(str::to_owned).collect();
            chart.panels.push(together(self.curves(&names)?));
        }
        for (panel, label) in chart.panels.iter_mut().zip(&arguments.y_label) {
            panel.label = label.clone();
        }
        match &self.x {
            Some(name) => {
                let (signal, _) = self.over(&self.files[0].results, name)?;
                let (_, unit) = self.shown(signal, Vec::new());
                chart.is_xy = true;
                chart.x_name = if unit.is_empty() { name.clone() } else { format!("{name} [{unit}]") };
            }
            None => self.mark(&mut chart),
        }
        if let Some(label) = &arguments.x_label {
            chart.x_name = label.clone();
        }
        Ok(chart)
    }

    /// Events and modes of the first file.
    fn mark(&self, chart: &mut Chart) {
        let first = &self.files[0].results;
        let (from, to) = self.span();
        chart.stretches = modes(first);
        for machine in &mut chart.stretches {
            machine.each.iter_mut().for_each(|(begin, end, _)| (*begin, *end) = (begin.max(from), end.min(to)));
            machine.each.retain(|(begin, end, _)| begin < end);
        }
        if !self.arguments.no_events {
            chart.events = first.event_times().into_iter().filter(|t| (from..=to).contains(t)).collect();
        }
    }

    fn span(&self) -> (f64, f64) {
        (self.arguments.from.unwrap_or(f64::NEG_INFINITY), self.arguments.to.unwrap_or(f64::INFINITY))
    }

    /// The curves of some signals: each one of all files that have it. A name that no file has is an error.
    fn curves(&self, names: &[String]) -> Result<Vec<Drawn>, Exit> {
        let mut drawn = Vec::new();
        let mut known = BTreeSet::new();
        for name in names {
            let mut is_found = false;
            for (i, file) in self.files.iter().enumerate() {
                for signal in fitting(&file.results, name) {
                    is_found = true;
                    if known.insert((i, signal.name.clone())) {
                        drawn.push((signal.name.clone(), i, self.drawn(file, signal)?));
                    }
                }
            }
            if !is_found {
                return Err(self.screen.fail(&unknown(&self.files[0].results, name)));
            }
        }
        // The curves of one signal beside each other.
        let order: Vec<String> = drawn.iter().map(|(name, ..)| name.clone()).collect();
        drawn.sort_by_key(|(name, i, _)| (order.iter().position(|n| n == name), *i));
        Ok(drawn.into_iter().map(|(_, _, drawn)| drawn).collect())
    }

    fn drawn(&self, file: &File, signal: &Signal) -> Result<Drawn, Exit> {
        let mut curve = curve(&file.results, signal);
        if let Some(name) = &self.x {
            let (x, values) = self.over(&file.results, name)?;
            curve.times = self.shown(x, values).0;
            curve.is_stepped = false;
        }
        let (from, to) = self.span();
        let is_inside: Vec<bool> = file.results.times.iter().map(|t| (from..=to).contains(t)).collect();
        let inside = |values: Vec<f64>| -> Vec<f64> {
            values.into_iter().zip(&is_inside).filter(|(_, is_inside)| **is_inside).map(|(v, _)| v).collect()
        };
        let (values, unit) = self.shown(signal, inside(curve.values));
        let name = if file.tag.is_empty() { curve.name } else { format!("{} ({})", curve.name, file.tag) };
        Ok(Drawn { curve: Curve { name, times: inside(curve.times), values, ..curve }, unit })
    }

    fn over<'r>(&self, results: &'r Results, name: &str) -> Result<(&'r Signal, Vec<f64>), Exit> {
        let signal = results.signal(name).ok_or_else(|| self.screen.fail(&unknown(results, name)))?;
        Ok((signal, results.values_of(signal).into_owned()))
    }

    /// Values in the unit that is wanted, and this unit.
    fn shown(&self, signal: &Signal, values: Vec<f64>) -> (Vec<f64>, String) {
        let shown = || Conversion::for_display(&signal.unit, &signal.display_unit, signal.is_difference);
        match self.arguments.display_units.then(shown).flatten() {
            Some(to) => (values.into_iter().map(|v| to.apply(v)).collect(), signal.display_unit.clone()),
            None => (values, signal.unit.clone()),
        }
    }
}

/// A panel whose curves may have different units; then their names have them.
fn together(drawn: Vec<Drawn>) -> Panel {
    let units: BTreeSet<String> = drawn.iter().map(|d| d.unit.clone()).collect();
    let is_mixed = units.len() > 1;
    let named = |Drawn { mut curve, unit }: Drawn| {
        if is_mixed && !unit.is_empty() {
            curve.name = format!("{} [{unit}]", curve.name);
        }
        curve
    };
    let unit = if is_mixed { String::new() } else { units.into_iter().next().unwrap_or_default() };
    Panel { unit, curves: drawn.into_iter().map(named).collect(), ..Panel::default() }
}
