//! Shapes with their lines and fillings.

use std::f64::consts::SQRT_2;
use std::fmt::Write;

use super::{Pen, escaped};
use crate::geometry::{Extent, Matrix, Point, bounding, centre, ordered};
use crate::junctions::Junction;
use crate::scene::{Arrow, BorderPattern, Closure, Color, Fill, FillPattern, Line, LinePattern, Shape};

/// Width of a line of thickness 1, in units of the scene: 0.25, the usual thickness, is a fine line.
const UNITS_PER_THICKNESS: f64 = 2.0;

/// The same in pixels, for lines that do not grow with the picture.
const PIXELS_PER_THICKNESS: f64 = 4.0;

/// Distance of the lines of a hatching, in units of the scene.
const HATCHING: f64 = 4.0;

/// How far apart the two lines of a raised or sunken border are.
const BORDER: f64 = 1.5;

/// Least radius of the dot where lines branch, in units of the scene, and the least as a multiple of the width of the line.
const DOT: f64 = 1.5;

impl Pen<'_> {
    pub(super) fn junction(&mut self, dot: &Junction) {
        let [x, y] = Matrix::DOWN.apply(dot.at).map(|x| self.number(x));
        let r = self.number(DOT * (dot.thickness * UNITS_PER_THICKNESS).max(1.0));
        let fill = hex(dot.color);
        let _ = write!(self.out, "<circle class=\"junction\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\"/>");
    }

    pub(super) fn shape(&mut self, shape: &Shape, matrix: &Matrix) {
        match shape {
            Shape::Line(line) => self.line(line, matrix),
            Shape::Polygon { points, smooth, fill } => {
                let path = match smooth {
                    true => self.curve(points, true, matrix),
                    false => self.polyline(points, matrix) + "Z",
                };
                let box_of = bounding(points);
                if !points.is_empty() {
                    self.filled(&path, fill, box_of, SQRT_2, matrix);
                }
            }
            Shape::Rectangle { extent, radius, border_pattern, fill } => {
                let path = self.rectangle(*extent, *radius, matrix);
                self.filled(&path, fill, ordered(*extent), SQRT_2, matrix);
                self.border(*border_pattern, *extent, matrix);
            }
            Shape::Ellipse { extent, start_angle, end_angle, closure, fill } => {
                self.ellipse(*extent, [*start_angle, *end_angle], *closure, fill, matrix)
            }
            Shape::Text(text) => self.text(text, matrix),
            Shape::Bitmap { extent, source } => self.bitmap(*extent, source, matrix),
        }
    }

    fn width(&self, thickness: f64) -> f64 {
        let thickness = thickness.max(0.25);
        if self.style.thin_lines { thickness * PIXELS_PER_THICKNESS } else { thickness * UNITS_PER_THICKNESS }
    }

    /// Attributes of a line.
    fn stroke(&self, color: Color, pattern: LinePattern, thickness: f64) -> String {
        let width = self.width(thickness);
        let dashes: &[f64] = match pattern {
            LinePattern::None => return " stroke=\"none\"".into(),
            LinePattern::Solid => &[],
            LinePattern::Dash => &[6.0, 3.0],
            LinePattern::Dot => &[1.5, 3.0],
            LinePattern::DashDot => &[6.0, 3.0, 1.5, 3.0],
            LinePattern::DashDotDot => &[6.0, 3.0, 1.5, 3.0, 1.5, 3.0],
        };
        let mut text = format!(" stroke=\"{}\" stroke-width=\"{}\"", hex(color), self.number(width));
        if !dashes.is_empty() {
            let dashes: Vec<String> = dashes.iter().map(|d| self.number(d * width)).collect();
            let _ = write!(text, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
        if self.style.thin_lines {
            text.push_str(" vector-effect=\"non-scaling-stroke\"");
        }
        text
    }

    fn line(&mut self, line: &Line, matrix: &Matrix) {
        if line.points.len() < 2 || line.pattern == LinePattern::None {
            return;
        }
        let path = match line.smooth {
            true => self.curve(&line.points, false, matrix),
            false => self.polyline(&line.points, matrix),
        };
        let stroke = self.stroke(line.color, line.pattern, line.thickness);
        let _ = write!(self.out, "<path d=\"{path}\" fill=\"none\"{stroke} stroke-linejoin=\"round\"/>");
        let at = |i: usize| matrix.apply(line.points[i]);
        let n = line.points.len();
        let (sx, sy) = matrix.stretches();
        let size = line.arrow_size * sx.min(sy).clamp(0.3, 1.0);
        for (arrow, tip, before) in [(line.arrow[0], at(0), at(1)), (line.arrow[1], at(n - 1), at(n - 2))] {
            self.arrow(arrow, tip, before, size, line);
        }
    }

    /// An arrow with its tip at the end of a line; its length is one and a half times its width.
    fn arrow(&mut self, arrow: Arrow, tip: Point, before: Point, width: f64, line: &Line) {
        let (dx, dy) = (tip[0] - before[0], tip[1] - before[1]);
        let length = dx.hypot(dy);
        if arrow == Arrow::None || length == 0.0 || width == 0.0 {
            return;
        }
        let (ux, uy) = (dx / length, dy / length);
        let foot = [tip[0] - ux * width * 1.5, tip[1] - uy * width * 1.5];
        let side = |sign: f64| [foot[0] - sign * uy * width / 2.0, foot[1] + sign * ux * width / 2.0];
        let id = Matrix::IDENTITY;
        let (path, fill) = match arrow {
            Arrow::Filled => (self.polyline(&[side(1.0), tip, side(-1.0)], &id) + "Z", hex(line.color)),
            Arrow::Half => (self.polyline(&[tip, side(-1.0)], &id), "none".into()),
            _ => (self.polyline(&[side(1.0), tip, side(-1.0)], &id), "none".into()),
        };
        let stroke = self.stroke(line.color, LinePattern::Solid, line.thickness);
        let _ = write!(self.out, "<path d=\"{path}\" fill=\"{fill}\"{stroke}/>");
    }

    /// A connection without a line of its own.
    pub(super) fn guessed_line(&mut self, from: Point, to: Point) {
        let path = self.polyline(&[from, to], &Matrix::DOWN);
        let stroke = self.stroke([130, 130, 130], LinePattern::Dot, 0.25);
        let _ = write!(self.out, "<path d=\"{path}\" fill=\"none\"{stroke}/>");
    }

    fn ellipse(&mut self, extent: Extent, [start, end]: [f64; 2], closure: Closure, fill: &Fill, matrix: &Matrix) {
        let (mut path, is_full) = self.arc(extent, start, end, matrix);
        let closure = match closure {
            Closure::Automatic if start == 0.0 && end == 360.0 => Closure::Chord,
            Closure::Automatic => Closure::Radial,
            given => given,
        };
        match closure {
            Closure::None => {
                let stroke = self.stroke(fill.line_color, fill.pattern, fill.line_thickness);
                let _ = write!(self.out, "<path d=\"{path}\" fill=\"none\"{stroke}/>");
                return;
            }
            Closure::Radial if !is_full => path += &(self.line_to(centre(extent), matrix) + "Z"),
            _ => path.push('Z'),
        }
        self.filled(&path, fill, ordered(extent), 1.0, matrix);
    }

    /// A closed outline; `reach` is how much larger than the box the ellipse of a spherical filling is.
    fn filled(&mut self, path: &str, fill: &Fill, around: Extent, reach: f64, matrix: &Matrix) {
        let paint = self.paint(fill, around, reach, matrix);
        let stroke = match fill.fill_pattern {
            // The outline of a gradient would hide its border colour.
            FillPattern::HorizontalCylinder | FillPattern::VerticalCylinder | FillPattern::Sphere
                if fill.pattern == LinePattern::None =>
            {
                " stroke=\"none\"".into()
            }
            _ => self.stroke(fill.line_color, fill.pattern, fill.line_thickness),
        };
        if paint == "none" && fill.pattern == LinePattern::None {
            return;
        }
        let _ = write!(self.out, "<path d=\"{path}\" fill=\"{paint}\"{stroke}/>");
    }

    /// The value of `fill`; gradients and hatchings are written before it.
    fn paint(&mut self, fill: &Fill, [low, high]: Extent, reach: f64, matrix: &Matrix) -> String {
        let (line, inner) = (hex(fill.line_color), hex(fill.fill_color));
        let stops = |from: &str, middle: &str, to: &str| {
            format!(
                "<stop offset=\"0\" stop-color=\"{from}\"/><stop offset=\"0.5\" stop-color=\"{middle}\"/><stop offset=\"1\" stop-color=\"{to}\"/>"
            )
        };
        let ends = match fill.fill_pattern {
            FillPattern::None => return "none".into(),
            FillPattern::Solid => return inner,
            FillPattern::HorizontalCylinder => Some(([0.0, low[1]], [0.0, high[1]])),
            FillPattern::VerticalCylinder => Some(([low[0], 0.0], [high[0], 0.0])),
            _ => None,
        };
        let id = self.next_id();
        if let Some((a, b)) = ends {
            let [x1, y1, x2, y2] = [a[0], a[1], b[0], b[1]].map(|x| self.number(x));
            let (transform, stops) = (self.matrix(matrix), stops(&line, &inner, &line));
            let _ = write!(
                self.out,
                "<linearGradient id=\"{id}\" gradientUnits=\"userSpaceOnUse\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" gradientTransform=\"{transform}\">{stops}</linearGradient>"
            );
        } else if fill.fill_pattern == FillPattern::Sphere {
            let half = |axis: usize| ((high[axis] - low[axis]) / 2.0 * reach).max(1e-9);
            let [cx, cy] = centre([low, high]);
            let transform = self.matrix(&matrix.after(&Matrix([half(0), 0.0, 0.0, half(1), cx, cy])));
            let _ = write!(
                self.out,
                "<radialGradient id=\"{id}\" gradientUnits=\"userSpaceOnUse\" cx=\"0\" cy=\"0\" r=\"1\" gradientTransform=\"{transform}\"><stop offset=\"0\" stop-color=\"{inner}\"/><stop offset=\"1\" stop-color=\"{line}\"/></radialGradient>"
            );
        } else {
            self.hatching(&id, fill.fill_pattern, &line, &inner);
        }
        format!("url(#{id})")
    }

    fn hatching(&mut self, id: &str, pattern: FillPattern, line: &str, inner: &str) {
        let (h, s, m) = (self.number(HATCHING), self.number(0.5), self.number(HATCHING / 2.0));
        let (across, down) = (format!("M0 {m}H{h}"), format!("M{m} 0V{h}"));
        // With y down: forward is from upper left to lower right. The specification has no picture; other tools draw it like that.
        let (forward, backward) = (format!("M0 0L{h} {h}"), format!("M0 {h}L{h} 0"));
        let path = match pattern {
            FillPattern::Horizontal => across,
            FillPattern::Vertical => down,
            FillPattern::Cross => across + &down,
            FillPattern::Forward => forward,
            FillPattern::Backward => backward,
            _ => forward + &backward,
        };
        let _ = write!(
            self.out,
            "<pattern id=\"{id}\" patternUnits=\"userSpaceOnUse\" width=\"{h}\" height=\"{h}\"><rect width=\"{h}\" height=\"{h}\" fill=\"{inner}\"/><path d=\"{path}\" stroke=\"{line}\" stroke-width=\"{s}\"/></pattern>"
        );
    }

    fn next_id(&mut self) -> String {
        self.n_ids += 1;
        format!("{}{}", escaped(self.style.id), self.n_ids)
    }

    /// Light above and left, shadow below and right; the other way round if it is sunken.
    fn border(&mut self, border: BorderPattern, extent: Extent, matrix: &Matrix) {
        let (light, shadow) = ("#fff", "#808080");
        let colors: &[(f64, &str, &str)] = match border {
            BorderPattern::None => return,
            BorderPattern::Raised => &[(BORDER, light, shadow)],
            BorderPattern::Sunken => &[(BORDER, shadow, light)],
            BorderPattern::Engraved => &[(BORDER, shadow, light), (2.0 * BORDER, light, shadow)],
        };
        for (inset, above, below) in colors {
            let [[x1, y1], [x2, y2]] = ordered(extent);
            let (x1, y1, x2, y2) = (x1 + inset, y1 + inset, x2 - inset, y2 - inset);
            for (points, color) in [([[x1, y1], [x1, y2], [x2, y2]], above), ([[x1, y1], [x2, y1], [x2, y2]], below)] {
                let path = self.polyline(&points, matrix);
                let width = self.number(self.width(0.5));
                let _ =
                    write!(self.out, "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>");
            }
        }
    }

    fn bitmap(&mut self, extent: Extent, source: &str, matrix: &Matrix) {
        let [low, high] = ordered(extent);
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let flip = |axis: usize| if extent[1][axis] < extent[0][axis] { -1.0 } else { 1.0 };
        let [cx, cy] = centre(extent);
        // Images have y down, the shapes have it up.
        let placed = matrix.after(&Matrix([flip(0), 0.0, 0.0, -flip(1), cx, cy]));
        let [x, y, w, h] = [-width / 2.0, -height / 2.0, width, height].map(|x| self.number(x));
        let (transform, source) = (self.matrix(&placed), escaped(source));
        let _ = write!(
            self.out,
            "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" transform=\"{transform}\" href=\"{source}\"/>"
        );
    }
}

fn hex([r, g, b]: Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
