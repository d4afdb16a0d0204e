//! Outlines as path data, mapped to the scene.

use std::f64::consts::TAU;

use super::Pen;
use crate::geometry::{Extent, Matrix, Point, centre, ordered};

/// A quarter of a circle as a cubic curve: how far its control points are from its ends.
const QUARTER: f64 = 0.552_284_749_831;

impl Pen<'_> {
    fn at(&self, matrix: &Matrix, point: Point) -> String {
        let [x, y] = matrix.apply(point);
        format!("{} {}", self.number(x), self.number(y))
    }

    pub(super) fn polyline(&self, points: &[Point], matrix: &Matrix) -> String {
        let mut path = String::new();
        for (i, &point) in points.iter().enumerate() {
            path.push(if i == 0 { 'M' } else { 'L' });
            path += &self.at(matrix, point);
        }
        path
    }

    /// Quadratic curves between the middles of the segments (specification 18.6.1.3).
    pub(super) fn curve(&self, points: &[Point], is_closed: bool, matrix: &Matrix) -> String {
        let middle = |a: Point, b: Point| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
        let mut points = points.to_vec();
        if is_closed && points.len() > 1 && points.first() == points.last() {
            points.pop();
        }
        let n = points.len();
        if n < 3 {
            return self.polyline(&points, matrix);
        }
        if is_closed {
            let mut path = format!("M{}", self.at(matrix, middle(points[n - 1], points[0])));
            for i in 0..n {
                let end = middle(points[i], points[(i + 1) % n]);
                path += &format!("Q{} {}", self.at(matrix, points[i]), self.at(matrix, end));
            }
            return path + "Z";
        }
        let mut path = format!("M{}L{}", self.at(matrix, points[0]), self.at(matrix, middle(points[0], points[1])));
        for i in 1..n - 1 {
            let end = middle(points[i], points[i + 1]);
            path += &format!("Q{} {}", self.at(matrix, points[i]), self.at(matrix, end));
        }
        path + &format!("L{}", self.at(matrix, points[n - 1]))
    }

    pub(super) fn rectangle(&self, extent: Extent, radius: f64, matrix: &Matrix) -> String {
        let [[x1, y1], [x2, y2]] = ordered(extent);
        let r = radius.min((x2 - x1) / 2.0).min((y2 - y1) / 2.0);
        if r <= 0.0 {
            return self.polyline(&[[x1, y1], [x2, y1], [x2, y2], [x1, y2]], matrix) + "Z";
        }
        let k = r * (1.0 - QUARTER);
        let corner = |a: Point, b: Point, c: Point| {
            format!("C{} {} {}", self.at(matrix, a), self.at(matrix, b), self.at(matrix, c))
        };
        let side = |p: Point| format!("L{}", self.at(matrix, p));
        let mut path = format!("M{}", self.at(matrix, [x1 + r, y1]));
        path += &side([x2 - r, y1]);
        path += &corner([x2 - k, y1], [x2, y1 + k], [x2, y1 + r]);
        path += &side([x2, y2 - r]);
        path += &corner([x2, y2 - k], [x2 - k, y2], [x2 - r, y2]);
        path += &side([x1 + r, y2]);
        path += &corner([x1 + k, y2], [x1, y2 - k], [x1, y2 - r]);
        path += &side([x1, y1 + r]);
        path += &corner([x1, y1 + k], [x1 + k, y1], [x1 + r, y1]);
        path + "Z"
    }

    /// An arc counter-clockwise from one angle to another, in degrees before the circle is stretched to the extent.
    pub(super) fn arc(&self, extent: Extent, start: f64, end: f64, matrix: &Matrix) -> (String, bool) {
        let ([low, high], [cx, cy]) = (ordered(extent), centre(extent));
        let (rx, ry) = ((high[0] - low[0]) / 2.0, (high[1] - low[1]) / 2.0);
        let mut sweep = (end - start) % 360.0;
        if sweep < 0.0 {
            sweep += 360.0;
        }
        let is_full = sweep == 0.0 && start != end;
        if is_full {
            sweep = 360.0;
        }
        let (start, sweep) = (start.to_radians(), sweep.to_radians());
        let n = (sweep / (TAU / 4.0) - 1e-9).ceil().max(1.0);
        let step = sweep / n;
        // For a quarter this is the usual constant.
        let reach = 4.0 / 3.0 * (step / 4.0).tan();
        let point = |angle: f64| [cx + rx * angle.cos(), cy + ry * angle.sin()];
        let tangent = |angle: f64| [-rx * angle.sin() * reach, ry * angle.cos() * reach];
        let mut path = format!("M{}", self.at(matrix, point(start)));
        for i in 0..n as usize {
            let (a, b) = (start + step * i as f64, start + step * (i + 1) as f64);
            let ([p, q], [ta, tb]) = ([point(a), point(b)], [tangent(a), tangent(b)]);
            let controls = [[p[0] + ta[0], p[1] + ta[1]], [q[0] - tb[0], q[1] - tb[1]], q];
            path += &format!("C{}", controls.map(|c| self.at(matrix, c)).join(" "));
        }
        (path, is_full)
    }

    pub(super) fn line_to(&self, point: Point, matrix: &Matrix) -> String {
        format!("L{}", self.at(matrix, point))
    }
}
