//! A canvas that writes SVG.

use std::fmt::Write;

use crate::canvas::{Anchor, Canvas, Stroke};
use crate::html::escape;

#[derive(Default)]
pub struct SvgCanvas {
    body: String,
}

impl SvgCanvas {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn finish(self, width: f64, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">\n{}</svg>\n",
            self.body
        )
    }
}

/// A tenth of a unit is enough for the eye.
fn coordinate(text: &mut String, value: f64) {
    let rounded = (10.0 * value).round() / 10.0;
    let _ = write!(text, "{}", if rounded == 0.0 { 0.0 } else { rounded });
}

fn points(points: &[(f64, f64)]) -> String {
    let mut text = String::with_capacity(10 * points.len());
    for (i, (x, y)) in points.iter().enumerate() {
        if i > 0 {
            text.push(' ');
        }
        coordinate(&mut text, *x);
        text.push(',');
        coordinate(&mut text, *y);
    }
    text
}

impl Canvas for SvgCanvas {
    fn line(&mut self, line: &[(f64, f64)], stroke: Stroke<'_>) {
        let Stroke { colour, width, class } = stroke;
        if let (&[(x1, y1), (x2, y2)], true) = (line, class != "curve") {
            let _ = writeln!(
                self.body,
                "<path class=\"{class}\" d=\"M{} L{}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
                points(&[(x1, y1)]),
                points(&[(x2, y2)])
            );
            return;
        }
        let _ = writeln!(
            self.body,
            "<polyline class=\"{class}\" points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
            points(line)
        )
        .map(|()| ());
    }

    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        let _ =
            writeln!(self.body, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>");
    }

    fn area(&mut self, low: &[(f64, f64)], high: &[(f64, f64)], colour: &str) {
        let all: Vec<(f64, f64)> = low.iter().chain(high.iter().rev()).copied().collect();
        let _ = writeln!(self.body, "<polygon points=\"{}\" fill=\"{colour}\"/>", points(&all));
    }

    fn text(&mut self, x: f64, y: f64, text: &str, size: f64, anchor: Anchor, colour: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let place = points(&[(x, y)]);
        let (x, y) = place.split_once(',').unwrap_or(("0", "0"));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
            escape(text)
        );
    }
}
