//! Where connections end, and lines with right angles between them.

use crate::geometry::{Extent, Point, centre};
use crate::scene::{Color, Component, Scene, Shape};

/// How far a line goes straight away from a connector before it turns.
const STRAIGHT: f64 = 10.0;

/// The end of a connection: a connector of the class, or one of a component.
#[derive(Clone, Copy, Debug)]
pub struct End<'s> {
    pub component: &'s Component,
    /// `None` for a connector of the class itself.
    pub port: Option<&'s Component>,
}

impl End<'_> {
    /// The middle of the connector, in the coordinates of the scene.
    pub fn anchor(&self) -> Point {
        match self.port {
            Some(port) => self.component.matrix.apply(port.anchor()),
            None => self.component.anchor(),
        }
    }

    /// The way out of the component: the side of it that the connector is nearest to.
    fn direction(&self) -> Point {
        let Some(port) = self.port else {
            // A line to a connector of the class comes from the inside of the diagram.
            let [x, y] = self.component.anchor();
            return if x.abs() >= y.abs() { [-x.signum(), 0.0] } else { [0.0, -y.signum()] };
        };
        let ([x, y], [cx, cy]) = (self.component.matrix.apply(port.anchor()), centre(self.component.bounds));
        let [low, high] = self.component.bounds;
        let (dx, dy) = ((x - cx) / (high[0] - low[0]).max(1e-9), (y - cy) / (high[1] - low[1]).max(1e-9));
        if dx.abs() >= dy.abs() { [if dx < 0.0 { -1.0 } else { 1.0 }, 0.0] } else { [0.0, dy.signum()] }
    }

    /// The colour of lines to it: that of the border of its picture.
    pub fn color(&self) -> Color {
        let picture = &self.port.unwrap_or(self.component).picture;
        let colors = picture.primitives.iter().filter_map(|primitive| match &primitive.shape {
            Shape::Rectangle { fill, .. } | Shape::Ellipse { fill, .. } | Shape::Polygon { fill, .. } => {
                Some(fill.line_color)
            }
            Shape::Line(line) => Some(line.color),
            _ => None,
        });
        colors.into_iter().next().unwrap_or_default()
    }
}

impl Scene {
    /// The connector that `r.p`, `r[2].p` or `p` means.
    pub fn end(&self, name: &str) -> Option<End<'_>> {
        let mut parts = name.split('.').map(|part| part.split('[').next().unwrap_or(part).trim());
        let first = parts.next()?;
        let component = self.components.iter().find(|component| component.name == first && component.is_visible())?;
        let port = match parts.next() {
            Some(second) => component.picture.ports.iter().find(|port| port.name == second),
            None => None,
        };
        // A member of a bus is not a connector of its own in the picture: the line ends at the bus.
        (port.is_some() || component.is_connector || !name.contains('.')).then_some(End { component, port })
    }

    /// Where a connection to this connector ends.
    pub fn anchor(&self, name: &str) -> Option<Point> {
        Some(self.end(name)?.anchor())
    }
}

/// Points of a line with right angles that leaves both connectors straight.
pub fn route(from: &End<'_>, to: &End<'_>) -> Vec<Point> {
    let (a, b) = (from.anchor(), to.anchor());
    let (u, v) = (from.direction(), to.direction());
    let is_across = |direction: Point| direction[0] != 0.0;
    let facing =
        |p: Point, direction: Point, q: Point| (q[0] - p[0]) * direction[0] + (q[1] - p[1]) * direction[1] > 0.0;
    let inner = match (is_across(u), is_across(v)) {
        (true, true) | (false, false) => {
            let axis = usize::from(!is_across(u));
            if a[1 - axis] == b[1 - axis] && facing(a, u, b) && facing(b, v, a) {
                return vec![a, b];
            }
            let out = |p: Point, direction: Point| p[axis] + STRAIGHT * direction[axis];
            let corner = |along: f64, p: Point| if axis == 0 { [along, p[1]] } else { [p[0], along] };
            if facing(a, u, b) && facing(b, v, a) {
                let middle = snapped((a[axis] + b[axis]) / 2.0);
                vec![corner(middle, a), corner(middle, b)]
            } else if u[axis] == v[axis] {
                // Both to the same side: around the outer one.
                let far = if u[axis] > 0.0 { out(a, u).max(out(b, v)) } else { out(a, u).min(out(b, v)) };
                vec![corner(far, a), corner(far, b)]
            } else {
                // Back to back: out, across in the middle, and back.
                let (first, last) = (out(a, u), out(b, v));
                let across = snapped((a[1 - axis] + b[1 - axis]) / 2.0);
                let at = |along: f64| if axis == 0 { [along, across] } else { [across, along] };
                vec![corner(first, a), at(first), at(last), corner(last, b)]
            }
        }
        (first_across, _) => {
            let direct = if first_across { [b[0], a[1]] } else { [a[0], b[1]] };
            if facing(a, u, direct) && facing(b, v, direct) {
                vec![direct]
            } else {
                let p = [a[0] + STRAIGHT * u[0], a[1] + STRAIGHT * u[1]];
                let q = [b[0] + STRAIGHT * v[0], b[1] + STRAIGHT * v[1]];
                let corner = if first_across { [p[0], q[1]] } else { [q[0], p[1]] };
                vec![p, corner, q]
            }
        }
    };
    let mut points = vec![a];
    points.extend(inner);
    points.push(b);
    without_repetitions(points)
}

/// Leaves out points that lie on the line between their neighbours.
fn without_repetitions(points: Vec<Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        if kept.last() == Some(&point) {
            continue;
        }
        if let [.., p, q] = kept.as_slice()
            && (p[0] == q[0] && q[0] == point[0] || p[1] == q[1] && q[1] == point[1])
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

fn snapped(x: f64) -> f64 {
    (x / 2.0).round() * 2.0
}

/// The extents of two components overlap.
pub fn overlaps([a, b]: Extent, [c, d]: Extent) -> bool {
    a[0] < d[0] && c[0] < b[0] && a[1] < d[1] && c[1] < b[1]
}
