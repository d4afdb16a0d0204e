//! Curves of dots on a terminal: each character cell holds two by four of them (Braille patterns).

use std::fmt::Write;

use crate::reduce::pieces;
use crate::ticks::{labels, ticks};
use crate::{Chart, Curve, Panel};

/// Colours of terminals in the order of the curves.
const COLOURS: [u8; 6] = [34, 33, 32, 35, 36, 31];
/// Bits of the dots in a cell, by column and row.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// The chart in lines of at most `width` characters.
pub fn terminal(chart: &Chart, width: usize, colours: bool) -> String {
    let rows = if chart.panels.len() > 1 { 8 } else { 14 };
    let mut text = String::new();
    let tick_sets: Vec<Vec<f64>> = chart.panels.iter().map(|p| value_ticks(p, rows)).collect();
    let margin = tick_sets.iter().flat_map(|t| labels(t)).map(|l| l.chars().count()).max().unwrap_or(1);
    let columns = width.saturating_sub(margin + 2).clamp(10, 200);
    for (panel, tick_set) in chart.panels.iter().zip(&tick_sets) {
        let _ = writeln!(text, "{:margin$}  {}", "", legend(panel, colours));
        let grid = Grid::of(panel, chart, columns, rows);
        let (low, high) = panel.value_range();
        for row in 0..rows {
            let label = tick_set.iter().zip(labels(tick_set)).find(|(tick, _)| row_of(**tick, low, high, rows) == row);
            let (label, axis) = label.map_or((String::new(), '│'), |(_, label)| (label, '┤'));
            let _ = writeln!(text, "{label:>margin$} {axis}{}", grid.line(row, colours));
        }
    }
    let _ = write!(text, "{:margin$} └{}\n{}", "", "─".repeat(columns), time_labels(chart, margin, columns));
    text
}

fn value_ticks(panel: &Panel, rows: usize) -> Vec<f64> {
    let (low, high) = panel.value_range();
    ticks(low, high, rows / 3)
}

fn row_of(value: f64, low: f64, high: f64, rows: usize) -> usize {
    let part = (high - value) / (high - low);
    ((part * rows as f64).max(0.0) as usize).min(rows.saturating_sub(1))
}

fn paint(text: &str, i: usize, colours: bool) -> String {
    if colours { format!("\x1b[{}m{text}\x1b[0m", COLOURS[i % COLOURS.len()]) } else { text.to_owned() }
}

fn legend(panel: &Panel, colours: bool) -> String {
    let names: Vec<String> =
        panel.coloured().enumerate().map(|(i, (c, _))| paint(&format!("━ {}", c.name), i, colours)).collect();
    format!("{}  {}", names.join("  "), panel.axis_label()).trim_end().to_owned()
}

fn time_labels(chart: &Chart, margin: usize, columns: usize) -> String {
    let (start, stop) = chart.time_span();
    let tick_set = ticks(start, stop, columns / 14);
    let mut line = vec![' '; margin + 2 + columns + 12];
    for (tick, label) in tick_set.iter().zip(labels(&tick_set)) {
        let at = margin + 2 + ((tick - start) / (stop - start) * columns as f64) as usize;
        let first = at.saturating_sub(label.chars().count() / 2);
        line.iter_mut().skip(first).zip(label.chars()).for_each(|(place, c)| *place = c);
    }
    let name = if chart.x_name.is_empty() { "s" } else { &chart.x_name };
    format!("{} {name}\n", line.iter().collect::<String>().trim_end())
}

struct Grid {
    columns: usize,
    /// Dots of each cell and the curve that set the last one.
    cells: Vec<(u8, usize)>,
}

impl Grid {
    fn of(panel: &Panel, chart: &Chart, columns: usize, rows: usize) -> Grid {
        let mut grid = Grid { columns, cells: vec![(0, 0); columns * rows] };
        let ((start, stop), (low, high)) = (chart.time_span(), panel.value_range());
        let (wide, tall) = ((2 * columns - 1) as f64, (4 * rows - 1) as f64);
        let place = |t: f64, v: f64| ((t - start) / (stop - start) * wide, (high - v) / (high - low) * tall);
        let own = panel.curves.iter().filter(|c| !c.is_reference);
        for (i, curve) in own.enumerate() {
            for piece in pieces(dots(curve).map(|(t, v)| place(t, v)), 1.0) {
                piece.first().into_iter().for_each(|p| grid.set(p.0, p.1, i));
                piece.windows(2).for_each(|pair| grid.connect(pair[0], pair[1], i));
            }
        }
        grid
    }

    fn connect(&mut self, a: (f64, f64), b: (f64, f64), curve: usize) {
        let n = (b.0 - a.0).abs().max((b.1 - a.1).abs()).ceil().clamp(1.0, 10_000.0);
        for k in 0..=n as u32 {
            let s = f64::from(k) / n;
            self.set(a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1), curve);
        }
    }

    fn set(&mut self, x: f64, y: f64, curve: usize) {
        let (x, y) = (x.round().max(0.0) as usize, y.round().max(0.0) as usize);
        if let (true, Some(cell)) = (x / 2 < self.columns, self.cells.get_mut(y / 4 * self.columns + x / 2)) {
            *cell = (cell.0 | DOTS[x % 2][y % 4], curve);
        }
    }

    fn line(&self, row: usize, colours: bool) -> String {
        let cells = self.cells.iter().skip(row * self.columns).take(self.columns);
        let shown = cells.map(|&(dots, curve)| match char::from_u32(0x2800 + u32::from(dots)) {
            Some(c) if dots != 0 => paint(&c.to_string(), curve, colours),
            _ => " ".to_owned(),
        });
        shown.collect::<String>().trim_end().to_owned()
    }
}

/// The corners of a curve.
fn dots(curve: &Curve) -> impl Iterator<Item = (f64, f64)> {
    let rows: Vec<(f64, f64)> = curve.times.iter().copied().zip(curve.values.iter().copied()).collect();
    let mut corners = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        if let (true, Some(before)) = (curve.is_stepped, i.checked_sub(1).and_then(|i| rows.get(i))) {
            corners.push((row.0, before.1));
        }
        corners.push(*row);
    }
    corners.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_goes_from_the_lower_left_to_the_upper_right() {
        let mut chart = Chart::new("");
        chart.add("m", Curve::new("x", vec![0.0, 1.0], vec![0.0, 1.0]));
        let text = terminal(&chart, 40, false);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("━ x  [m]"), "{text}");
        let rows: Vec<usize> =
            (1..=14).filter_map(|i| lines[i].find(|c| ('\u{2801}'..='\u{28ff}').contains(&c))).collect();
        assert!(rows.len() >= 12 && rows.windows(2).all(|w| w[0] >= w[1]), "{text}");
        assert!(lines.iter().all(|l| l.chars().count() <= 44), "{text}");
        assert!(terminal(&chart, 40, true).contains("\x1b[34m"));
    }
}
