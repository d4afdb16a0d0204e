//! Charts of results, and where they are drawn.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use saltus::diagnostics;
use saltus_base::printable;
use saltus_plot::Chart;
use saltus_results::{Format, ReadError, Results, Runs};

use crate::write::write_bytes;
use crate::{Exit, Screen, files};

/// Reads a file of results in the format of its name.
pub fn read_results(path: &Path, screen: &Screen) -> Result<Results, Exit> {
    read_by(path, screen, Results::read)
}

/// Also tables of many runs.
pub fn read_tables(path: &Path, screen: &Screen) -> Result<(Results, Option<Runs>), Exit> {
    let (table, runs) = read_by(path, screen, |bytes, format, title| {
        let table = Results::read_any(bytes, format, title)?;
        match Runs::of(&table) {
            Some(runs) => Ok((table, Some(runs))),
            None => Ok((table.in_order()?, None)),
        }
    })?;
    if runs.as_ref().is_some_and(|runs| runs.each.is_empty()) {
        return Err(screen.fail(&diagnostics::no_good_run(&path.display().to_string())));
    }
    Ok((table, runs))
}

fn read_by<T>(
    path: &Path,
    screen: &Screen,
    read: impl FnOnce(&[u8], Format, &str) -> Result<T, ReadError>,
) -> Result<T, Exit> {
    let shown = path.display().to_string();
    let Some(format) = Format::of(path) else {
        return Err(screen.fail(&diagnostics::unknown_format(&shown)));
    };
    let bytes = files::read_bytes(path).map_err(|error| screen.fail(&error))?;
    let title = path.file_stem().map_or(shown.clone(), |s| s.to_string_lossy().into_owned());
    read(&bytes, format, &title).map_err(|error| screen.fail(&diagnostics::no_results(&shown, &error.message)))
}

/// A chart of the signals whose names fit; one panel for each unit.
pub fn chart(results: &Results, names: &[String], with_events: bool, screen: &Screen) -> Result<Chart, Exit> {
    saltus::chart::chart(results, names, with_events).map_err(|unknown| screen.fail(&unknown))
}

/// A path of a picture.
pub fn picture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match extension(&path).as_str() {
        "svg" | "png" | "html" => Ok(path),
        _ => Err("expected a file name that ends in .svg, .png, .html".to_owned()),
    }
}

fn extension(path: &Path) -> String {
    path.extension().map_or(String::new(), |e| e.to_string_lossy().to_ascii_lowercase())
}

/// Draws into a file, or on the terminal without one.
pub fn draw(chart: &Chart, output: Option<&Path>, screen: &Screen) -> Result<(), Exit> {
    let Some(path) = output else {
        let drawn = saltus_plot::terminal(&plain(chart), terminal_width(), std::io::stdout().is_terminal());
        screen.draw(drawn.trim_end());
        return Ok(());
    };
    let bytes = match extension(path).as_str() {
        "svg" => saltus_plot::svg(chart).into_bytes(),
        "png" => saltus_plot::png(chart),
        _ => saltus_plot::html(chart).into_bytes(),
    };
    write_bytes(path, &bytes, screen)
}

/// Names and units as a terminal may get them.
fn plain(chart: &Chart) -> Chart {
    let mut chart = chart.clone();
    let plain = |text: &mut String| *text = printable(text).into_owned();
    plain(&mut chart.title);
    plain(&mut chart.x_name);
    for panel in &mut chart.panels {
        plain(&mut panel.unit);
        plain(&mut panel.label);
        panel.curves.iter_mut().for_each(|curve| plain(&mut curve.name));
    }
    chart.stretches.iter_mut().flat_map(|s| &mut s.each).for_each(|(_, _, name)| plain(name));
    chart
}

fn terminal_width() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    given.unwrap_or(96).clamp(40, 240)
}
