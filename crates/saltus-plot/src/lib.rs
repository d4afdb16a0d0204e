//! Pictures of signals over time, made of nothing but numbers and names.
//!
//! In: a [`Chart`]: panels above each other with a common time axis, curves in them, times of events. Out: an SVG text, the
//! bytes of a PNG, an HTML page that can be zoomed, or lines for a terminal.
//!
//! ```
//! use saltus_plot::{Chart, Curve};
//!
//! let mut chart = Chart::new("Ramp");
//! chart.add("m", Curve::new("x", vec![0.0, 1.0], vec![0.0, 2.0]));
//! assert!(saltus_plot::svg(&chart).starts_with("<svg"));
//! assert!(saltus_plot::png(&chart).starts_with(b"\x89PNG"));
//! ```
//!
//! SVG and PNG are the same drawing ([`layout`]) on two canvases. The letters of the PNG are strokes of this crate.

mod canvas;
pub mod decimate;
mod font;
mod html;
mod layout;
mod png;
mod raster;
mod reduce;
mod svg;
mod terminal;
mod ticks;

pub use html::{escape, html, script_json};
pub use terminal::terminal;

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Chart {
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Times that are marked by a thin line.
    pub events: Vec<f64>,
    /// Stretches of time with names, in rows above the curves.
    pub stretches: Vec<Stretches>,
    /// What the horizontal axis is; time if empty.
    pub x_name: String,
    /// Curves are one signal over another and may turn back: their `times` are values of the first one.
    pub is_xy: bool,
}

/// What something is from time to time: the active state of a machine.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Stretches {
    pub name: String,
    /// Begin, end and name of each.
    pub each: Vec<(f64, f64, String)>,
}

/// Curves with a common vertical axis.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Panel {
    pub unit: String,
    /// What the vertical axis is; the unit if empty.
    pub label: String,
    pub curves: Vec<Curve>,
    pub bands: Vec<Band>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    pub name: String,
    pub times: Vec<f64>,
    /// Gaps are not-a-number.
    pub values: Vec<f64>,
    /// Changes at rows only: drawn as steps.
    pub is_stepped: bool,
    /// Drawn thin and grey, behind the others.
    pub is_reference: bool,
}

/// An area between two curves.
#[derive(Clone, PartialEq, Debug)]
pub struct Band {
    pub times: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

/// One colour a curve, told apart also by people who see fewer colours.
pub const COLOURS: [&str; 8] = ["#2266cc", "#d9591c", "#1e9a5a", "#9b45c4", "#c29a10", "#0e93a8", "#cc2f6a", "#6b7280"];

impl Curve {
    pub fn new(name: impl Into<String>, times: Vec<f64>, values: Vec<f64>) -> Self {
        Curve { name: name.into(), times, values, is_stepped: false, is_reference: false }
    }
}

impl Chart {
    pub fn new(title: impl Into<String>) -> Self {
        Chart { title: title.into(), ..Default::default() }
    }

    /// Adds a curve to the panel of its unit.
    pub fn add(&mut self, unit: &str, curve: Curve) {
        match self.panels.iter_mut().find(|p| p.unit == unit) {
            Some(panel) => panel.curves.push(curve),
            None => self.panels.push(Panel { unit: unit.to_owned(), curves: vec![curve], ..Panel::default() }),
        }
    }

    /// What stands below the horizontal axis.
    pub(crate) fn x_label(&self) -> &str {
        if self.x_name.is_empty() { "time [s]" } else { &self.x_name }
    }

    /// First and last time of all curves; with a little room if it is another signal.
    pub fn time_span(&self) -> (f64, f64) {
        let times = self.panels.iter().flat_map(|p| &p.curves).flat_map(|c| &c.times);
        let (low, high) = range(times.copied());
        let room = if self.is_xy { 0.04 * (high - low) } else { 0.0 };
        if low < high { (low - room, high + room) } else { (low, low + 1.0) }
    }
}

impl Panel {
    /// What the vertical axis is, as it stands behind the names of the curves.
    pub(crate) fn axis_label(&self) -> String {
        match (self.label.is_empty(), self.unit.is_empty()) {
            (false, _) => self.label.clone(),
            (true, false) => format!("[{}]", self.unit),
            (true, true) => String::new(),
        }
    }

    /// Smallest and largest value, with a little room.
    pub(crate) fn value_range(&self) -> (f64, f64) {
        let curves = self.curves.iter().flat_map(|c| &c.values);
        let bands = self.bands.iter().flat_map(|b| b.low.iter().chain(&b.high));
        let (low, high) = range(curves.chain(bands).copied());
        let room = if high > low { 0.06 * (high - low) } else { 0.5 * high.abs().max(1e-3) };
        (low - room, high + room)
    }

    /// Curves without the references, with their colours.
    pub(crate) fn coloured(&self) -> impl Iterator<Item = (&Curve, &'static str)> {
        let own = self.curves.iter().filter(|c| !c.is_reference);
        own.enumerate().map(|(i, c)| (c, COLOURS[i % COLOURS.len()]))
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// The chart as an SVG text.
pub fn svg(chart: &Chart) -> String {
    let mut canvas = svg::SvgCanvas::new();
    let (width, height) = layout::draw(chart, &mut canvas);
    canvas.finish(width, height)
}

/// The chart as a PNG, two pixels for each unit of the SVG.
pub fn png(chart: &Chart) -> Vec<u8> {
    let (width, height) = layout::size(chart);
    let mut canvas = raster::Raster::new(width, height, 2.0);
    layout::draw(chart, &mut canvas);
    png::encode(canvas.width, canvas.height, &canvas.rgb())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let mut chart = Chart::new("Two <panels>");
        let times: Vec<f64> = (0..=1000).map(|i| f64::from(i) / 100.0).collect();
        let sine = times.iter().map(|t| t.sin()).collect();
        chart.add("m", Curve::new("body.x[1]", times.clone(), sine));
        chart.add("", Curve { is_stepped: true, ..Curve::new("on", vec![0.0, 3.0, 10.0], vec![0.0, 1.0, 1.0]) });
        chart.events = vec![3.0];
        chart
    }

    #[test]
    fn svg_has_curves_names_and_units() {
        let text = svg(&chart());
        assert!(text.contains("Two &lt;panels&gt;") && text.contains("body.x[1]") && text.contains("[m]"), "{text}");
        assert_eq!(text.matches("class=\"curve\"").count(), 2);
        assert!(text.contains("class=\"event\""));
    }

    #[test]
    fn modes_are_stretches_with_names() {
        let mut chart = chart();
        let each = vec![(0.0, 3.0, "circle".to_owned()), (3.0, 10.0, "flight <b>".to_owned())];
        chart.stretches = vec![Stretches { name: "mode".into(), each }];
        let plain = layout::size(&self::chart()).1;
        let text = svg(&chart);
        assert!(text.contains(">circle</text>") && text.contains(">flight &lt;b&gt;</text>"), "{text}");
        assert!(layout::size(&chart).1 > plain);
        let page = html(&chart);
        assert!(page.contains("[0,3,\"circle\"],[3,10,\"flight \\u003cb>\"]"), "{page}");
        assert!(!png(&chart).is_empty());
    }

    #[test]
    fn png_has_the_colours_of_the_curves() {
        let chart = chart();
        let (width, height) = layout::size(&chart);
        let mut canvas = raster::Raster::new(width, height, 2.0);
        layout::draw(&chart, &mut canvas);
        let pixels = canvas.rgb();
        // #2266cc, the first colour.
        assert!(pixels.chunks(3).filter(|p| **p == [0x22, 0x66, 0xcc]).count() > 200);
        assert_eq!(pixels.len(), 3 * canvas.width * canvas.height);
    }

    #[test]
    fn odd_numbers_draw_something_all_the_same() {
        let mut chart = Chart::new("");
        chart.add("", Curve::new("a", vec![], vec![]));
        chart.add("V", Curve::new("b", vec![1.0], vec![f64::NAN]));
        chart.add("A", Curve::new("c", vec![0.0, 1.0, 2.0], vec![f64::INFINITY, 1e308, -1e308]));
        chart.add("W", Curve::new("d", vec![0.0, 0.0], vec![5.0, 5.0]));
        assert!(svg(&chart).ends_with("</svg>\n"));
        assert!(!png(&chart).is_empty());
        assert!(!terminal(&chart, 80, false).is_empty());
        assert!(html(&chart).contains("</html>"));
        assert!(svg(&Chart::default()).starts_with("<svg"));
    }
}
