//! Texts: upright however the component is turned, as large as the extent lets them be.

use std::fmt::Write;

use super::{Pen, escaped};
use crate::geometry::{Extent, Matrix, Point, centre, ordered};
use crate::scene::{Alignment, Text};

/// Height of a line of text, in sizes of its font.
const LINE: f64 = 1.15;

/// From the middle of a line of text down to its base, in sizes of the font.
const BASE: f64 = 0.36;

/// Units of the scene that a point of a font is, so that 10 points are legible where 200 units are 400 pixels.
const UNITS_PER_POINT: f64 = 2.0 / 3.0;

/// Widths of the characters from space to tilde in Helvetica, in thousandths of the size of the font.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// The width of a line of text, in sizes of its font.
pub fn width(line: &str) -> f64 {
    let thousandths: u32 = line
        .chars()
        .map(|c| {
            let known = (c as usize).checked_sub(32).and_then(|at| WIDTHS.get(at));
            u32::from(known.copied().unwrap_or(600))
        })
        .sum();
    f64::from(thousandths) / 1000.0
}

/// Where the lines of a text go, in the coordinates of the picture.
struct Layout<'t> {
    lines: Vec<&'t str>,
    /// Of the font.
    size: f64,
    /// Of the longest line.
    width: f64,
    /// Of the extent.
    box_width: f64,
    /// Clockwise, in degrees, around the middle of the extent.
    angle: f64,
    middle: Point,
}

impl<'t> Layout<'t> {
    /// `matrix` leads to coordinates whose y points down. `None` if there is nothing to see.
    fn new(text: &'t Text, matrix: &Matrix) -> Option<Layout<'t>> {
        let lines: Vec<&str> = text.text.split('\n').collect();
        let longest = lines.iter().map(|line| width(line)).fold(0.0, f64::max) * if text.bold { 1.08 } else { 1.0 };
        if longest == 0.0 {
            return None;
        }
        let [low, high] = ordered(text.extent);
        let (sx, sy) = matrix.stretches();
        let (box_width, box_height) = ((high[0] - low[0]) * sx, (high[1] - low[1]) * sy);
        let size = match text.font_size {
            0.0 => {
                let by_height = box_height / (LINE * lines.len() as f64);
                let by_width = if box_width > 0.0 { box_width / longest } else { f64::INFINITY };
                if box_height > 0.0 { by_height.min(by_width) } else { by_width.min(1e4) }
            }
            points => points * UNITS_PER_POINT,
        };
        if !(1e-3..1e6).contains(&size) {
            return None;
        }
        let mut angle = matrix.0[1].atan2(matrix.0[0]).to_degrees();
        // Upright, or readable from the right.
        if angle >= 90.0 - 1e-6 {
            angle -= 180.0;
        } else if angle < -90.0 - 1e-6 {
            angle += 180.0;
        }
        let middle = matrix.apply(centre(text.extent));
        Some(Layout { lines, size, width: longest * size, box_width, angle, middle })
    }
}

/// The smallest extent around the letters of a text, with y up.
pub(super) fn bounds(text: &Text, matrix: &Matrix) -> Option<Extent> {
    let layout = Layout::new(text, &Matrix::DOWN.after(matrix))?;
    let height = LINE * layout.size * layout.lines.len() as f64;
    let left = match text.alignment {
        Alignment::Left => -layout.box_width / 2.0,
        Alignment::Right => layout.box_width / 2.0 - layout.width,
        _ => -layout.width / 2.0,
    };
    let around = [[left, -height / 2.0], [left + layout.width, height / 2.0]];
    let turned = Matrix::translation(layout.middle).after(&Matrix::rotation(layout.angle)).bounds(around);
    Some(Matrix::DOWN.bounds(turned))
}

impl Pen<'_> {
    pub(super) fn text(&mut self, text: &Text, matrix: &Matrix) {
        let Some(Layout { lines, size, box_width, angle, middle, .. }) = Layout::new(text, matrix) else { return };
        let [mut x, y] = middle;
        let anchor = match text.alignment {
            Alignment::Left => {
                x -= box_width / 2.0;
                "start"
            }
            Alignment::Right => {
                x += box_width / 2.0;
                "end"
            }
            _ => "middle",
        };
        let mut style = String::new();
        if text.bold {
            style.push_str(" font-weight=\"bold\"");
        }
        if text.italic {
            style.push_str(" font-style=\"italic\"");
        }
        if text.underline {
            style.push_str(" text-decoration=\"underline\"");
        }
        if let Some(family) = family(&text.font_name) {
            let _ = write!(style, " font-family=\"{family}\"");
        }
        if angle.abs() > 1e-6 {
            let _ = write!(
                style,
                " transform=\"rotate({})\"",
                [angle, middle[0], middle[1]].map(|x| self.number(x)).join(" ")
            );
        }
        let [r, g, b] = text.color;
        let first = y - LINE * size * (lines.len() - 1) as f64 / 2.0 + BASE * size;
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            let [x, y, size] = [x, first + LINE * size * i as f64, size].map(|x| self.number(x));
            let _ = write!(
                self.out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"#{r:02x}{g:02x}{b:02x}\"{style}>{}</text>",
                escaped(line)
            );
        }
    }
}

/// One of the families that every browser has.
fn family(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let is_any = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if is_any(&["mono", "courier", "consol"]) {
        Some("monospace")
    } else if is_any(&["times", "georgia"]) || name == "serif" {
        Some("serif")
    } else {
        None
    }
}
