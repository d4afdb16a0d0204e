//! The drawing itself: where panels, axes, curves and legends lie.

use crate::canvas::{Anchor, Canvas, Stroke};
use crate::font::text_width;
use crate::reduce::pieces;
use crate::ticks::{labels, ticks};
use crate::{Chart, Curve, Panel, Stretches};

const WIDTH: f64 = 860.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 46.0;
/// Between two panels; the legend of the lower one is in it.
const GAP: f64 = 30.0;
const FONT: f64 = 12.0;
const TITLE: f64 = 15.0;
/// Height of a row of stretches.
const STRIP: f64 = 18.0;
const INK: &str = "#1f2733";
const QUIET: &str = "#5b6675";
const GRID: &str = "#e3e7ed";
const EVENT: &str = "#f4c4b0";
const MANY_EVENTS: &str = "#fae4da";
const BAND: &str = "#dcebdc";
const REFERENCE: &str = "#8a94a3";
/// With more events than this the marks would hide the curves.
const MOST_EVENTS: usize = 200;

/// Width and height of a chart.
pub fn size(chart: &Chart) -> (f64, f64) {
    let n = chart.panels.len().max(1) as f64;
    (WIDTH, TOP + BOTTOM + n * (panel_height(chart) + GAP) - GAP + 18.0 + strips(chart))
}

fn strips(chart: &Chart) -> f64 {
    STRIP * chart.stretches.len() as f64
}

fn panel_height(chart: &Chart) -> f64 {
    match chart.panels.len() {
        0 | 1 => 340.0,
        2 => 220.0,
        3 => 170.0,
        _ => 140.0,
    }
}

/// Maps values of one panel to the picture.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    time: (f64, f64),
    value: (f64, f64),
}

impl Frame {
    fn x(&self, t: f64) -> f64 {
        self.left + self.width * ((t - self.time.0) / (self.time.1 - self.time.0))
    }

    fn y(&self, value: f64) -> f64 {
        // Halves, because the difference of two huge numbers may be infinite.
        let part = (value / 2.0 - self.value.0 / 2.0) / (self.value.1 / 2.0 - self.value.0 / 2.0);
        self.top + self.height * (1.0 - part)
    }
}

/// Draws everything; returns the size of the picture.
pub fn draw(chart: &Chart, canvas: &mut dyn Canvas) -> (f64, f64) {
    let (width, height) = size(chart);
    canvas.rectangle(0.0, 0.0, width, height, "#ffffff");
    let time = chart.time_span();
    let tick_sets: Vec<Vec<f64>> = chart
        .panels
        .iter()
        .map(|p| {
            let (low, high) = p.value_range();
            ticks(low, high, (panel_height(chart) / 48.0).round() as usize)
        })
        .collect();
    let widest = tick_sets.iter().flat_map(|t| labels(t)).map(|l| text_width(&l, FONT)).fold(24.0, f64::max);
    let left = widest + 20.0;
    canvas.text(left, 24.0, &chart.title, TITLE, Anchor::Start, INK);
    let first = Frame { left, top: TOP, width: width - left - RIGHT, height: STRIP, time, value: (0.0, 1.0) };
    draw_strips(chart, &first, canvas);
    let mut top = TOP + 18.0 + strips(chart);
    for (i, (panel, tick_set)) in chart.panels.iter().zip(&tick_sets).enumerate() {
        let (low, high) = panel.value_range();
        let frame =
            Frame { left, top, width: width - left - RIGHT, height: panel_height(chart), time, value: (low, high) };
        draw_panel(panel, chart, &frame, tick_set, i + 1 == chart.panels.len(), canvas);
        top += frame.height + GAP;
    }
    (width, height)
}

/// One row a machine, with the names of its states where there is room.
fn draw_strips(chart: &Chart, frame: &Frame, canvas: &mut dyn Canvas) {
    for (row, machine) in chart.stretches.iter().enumerate() {
        let y = frame.top - 6.0 + STRIP * row as f64;
        for (from, to, name) in &machine.each {
            let (a, b) = (frame.x(*from), frame.x(*to));
            canvas.rectangle(a, y, b - a, STRIP - 2.0, pale(machine, name, row).1);
            if text_width(name, FONT) < b - a - 6.0 {
                canvas.text(a + 4.0, y + 12.0, name, FONT, Anchor::Start, INK);
            }
        }
    }
}

/// Pale colours of a stretch: of the panels and of the strip.
fn pale(machine: &Stretches, name: &str, row: usize) -> (&'static str, &'static str) {
    const PALE: [(&str, &str); 6] = [
        ("#eef3fb", "#cfdff5"),
        ("#fcf1ea", "#f6d8c5"),
        ("#ecf6f0", "#cae8d7"),
        ("#f6effa", "#e5d2ef"),
        ("#faf6e6", "#efe4b8"),
        ("#e9f5f7", "#c4e5ea"),
    ];
    let mut names: Vec<&str> = Vec::new();
    for (_, _, name) in &machine.each {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let position = names.iter().position(|n| *n == name).unwrap_or(0);
    PALE[(position + row) % PALE.len()]
}

fn draw_panel(panel: &Panel, chart: &Chart, frame: &Frame, tick_set: &[f64], is_last: bool, canvas: &mut dyn Canvas) {
    let (left, right, bottom) = (frame.left, frame.left + frame.width, frame.top + frame.height);
    let grid = Stroke { colour: GRID, width: 1.0, class: "grid" };
    // The first machine colours the panels.
    for machine in chart.stretches.iter().take(1) {
        for (from, to, name) in &machine.each {
            let (a, b) = (frame.x(*from), frame.x(*to));
            canvas.rectangle(a, frame.top, b - a, frame.height, pale(machine, name, 0).0);
        }
    }
    for (tick, label) in tick_set.iter().zip(labels(tick_set)) {
        let y = frame.y(*tick);
        canvas.line(&[(left, y), (right, y)], grid);
        canvas.text(left - 8.0, y + 4.0, &label, FONT, Anchor::End, QUIET);
    }
    let times = ticks(frame.time.0, frame.time.1, 8);
    for (tick, label) in times.iter().zip(labels(&times)) {
        let x = frame.x(*tick);
        canvas.line(&[(x, frame.top), (x, bottom)], grid);
        if is_last {
            canvas.text(x, bottom + 18.0, &label, FONT, Anchor::Middle, QUIET);
        }
    }
    draw_events(chart, frame, canvas);
    for band in &panel.bands {
        let at = |values: &[f64]| -> Vec<(f64, f64)> {
            band.times.iter().zip(values).map(|(t, v)| (frame.x(*t), frame.y(*v))).collect()
        };
        canvas.area(&at(&band.low), &at(&band.high), BAND);
    }
    let axis = Stroke { colour: "#b8c0cc", width: 1.0, class: "axis" };
    canvas.line(&[(left, frame.top), (left, bottom), (right, bottom)], axis);
    for curve in panel.curves.iter().filter(|c| c.is_reference) {
        draw_curve(curve, frame, Stroke { colour: REFERENCE, width: 2.6, class: "reference" }, canvas);
    }
    for (curve, colour) in panel.coloured() {
        draw_curve(curve, frame, Stroke { colour, width: 1.7, class: "curve" }, canvas);
    }
    draw_legend(panel, frame, canvas);
    if is_last {
        canvas.text(left + frame.width / 2.0, bottom + 36.0, chart.x_label(), FONT, Anchor::Middle, INK);
    }
}

fn draw_events(chart: &Chart, frame: &Frame, canvas: &mut dyn Canvas) {
    if chart.events.len() > MOST_EVENTS {
        return;
    }
    // The more marks, the paler.
    let colour = if chart.events.len() > 30 { MANY_EVENTS } else { EVENT };
    for &event in &chart.events {
        let x = frame.x(event);
        let stroke = Stroke { colour, width: 1.0, class: "event" };
        canvas.line(&[(x, frame.top), (x, frame.top + frame.height)], stroke);
    }
}

fn draw_curve(curve: &Curve, frame: &Frame, stroke: Stroke<'_>, canvas: &mut dyn Canvas) {
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(curve.times.len());
    for (&t, &value) in curve.times.iter().zip(&curve.values) {
        if let (true, Some(&(_, before))) = (curve.is_stepped, points.last()) {
            points.push((frame.x(t), before));
        }
        points.push((frame.x(t), frame.y(value)));
    }
    for piece in pieces(points.into_iter(), 2.0) {
        canvas.line(&piece, stroke);
    }
}

/// Names and unit above the panel, from the left.
fn draw_legend(panel: &Panel, frame: &Frame, canvas: &mut dyn Canvas) {
    let y = frame.top - 9.0;
    let limit = frame.left + frame.width;
    let mut x = frame.left;
    let reference = panel.curves.iter().find(|c| c.is_reference).map(|c| (c, REFERENCE));
    let all: Vec<_> = panel.coloured().chain(reference).collect();
    for (i, (curve, colour)) in all.iter().enumerate() {
        let width = 26.0 + text_width(&curve.name, FONT);
        if x + width > limit - 60.0 && i > 0 {
            canvas.text(x, y, &format!("+ {}", all.len() - i), FONT, Anchor::Start, QUIET);
            x += 36.0;
            break;
        }
        canvas.line(&[(x, y - 4.0), (x + 14.0, y - 4.0)], Stroke { colour, width: 2.4, class: "key" });
        canvas.text(x + 19.0, y, &curve.name, FONT, Anchor::Start, INK);
        x += width + 10.0;
    }
    canvas.text(x - 2.0, y, &panel.axis_label(), FONT, Anchor::Start, QUIET);
}
