//! Points, extents and affine maps of the plane. The y axis points up, as in annotations.

use serde::Serialize;

/// `[x, y]`
pub type Point = [f64; 2];

/// Two opposite corners, `{{x1, y1}, {x2, y2}}` as written: a mirrored extent has its corners the other way round.
pub type Extent = [Point; 2];

pub const UNIT_EXTENT: Extent = [[-100.0, -100.0], [100.0, 100.0]];

/// Coordinates beyond this are mistakes; pictures with them cannot be shown.
const LARGEST: f64 = 1e7;

pub fn is_reasonable(x: f64) -> bool {
    x.is_finite() && x.abs() <= LARGEST
}

/// `x' = a x + c y + e`, `y' = b x + d y + f`; as JSON `[a, b, c, d, e, f]`, which is the order of SVG.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Matrix(pub [f64; 6]);

impl Matrix {
    pub const IDENTITY: Matrix = Matrix([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    /// From y up to y down.
    pub const DOWN: Matrix = Matrix([1.0, 0.0, 0.0, -1.0, 0.0, 0.0]);

    pub fn is_identity(&self) -> bool {
        *self == Matrix::IDENTITY
    }

    pub fn translation([x, y]: Point) -> Matrix {
        Matrix([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Counter-clockwise, in degrees; right angles are exact.
    pub fn rotation(degrees: f64) -> Matrix {
        let quarters = degrees / 90.0;
        let (sin, cos) = if quarters.fract() == 0.0 {
            [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][quarters.rem_euclid(4.0) as usize % 4]
        } else {
            degrees.to_radians().sin_cos()
        };
        Matrix([cos, sin, -sin, cos, 0.0, 0.0])
    }

    /// Maps a rectangle onto another one, mirrored if the corners of the second are the other way round.
    pub fn mapping(from: Extent, to: Extent) -> Matrix {
        let scale = |axis: usize| {
            let size = from[1][axis] - from[0][axis];
            if size == 0.0 { 1.0 } else { (to[1][axis] - to[0][axis]) / size }
        };
        let (sx, sy) = (scale(0), scale(1));
        Matrix([sx, 0.0, 0.0, sy, to[0][0] - sx * from[0][0], to[0][1] - sy * from[0][1]])
    }

    /// First `inner`, then this one.
    pub fn after(&self, inner: &Matrix) -> Matrix {
        let ([a, b, c, d, e, f], [p, q, r, s, t, u]) = (self.0, inner.0);
        Matrix([a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f])
    }

    pub fn apply(&self, [x, y]: Point) -> Point {
        let [a, b, c, d, e, f] = self.0;
        [a * x + c * y + e, b * x + d * y + f]
    }

    /// The smallest extent around the image of another one.
    pub fn bounds(&self, [[x1, y1], [x2, y2]]: Extent) -> Extent {
        bounding(&[[x1, y1], [x2, y1], [x2, y2], [x1, y2]].map(|p| self.apply(p)))
    }

    /// How much longer the unit vectors along x and y become.
    pub fn stretches(&self) -> (f64, f64) {
        let [a, b, c, d, ..] = self.0;
        (a.hypot(b), c.hypot(d))
    }
}

/// The smallest extent around some points.
pub fn bounding(points: &[Point]) -> Extent {
    let first = points.first().copied().unwrap_or_default();
    points.iter().fold([first, first], |[low, high], p| {
        [[low[0].min(p[0]), low[1].min(p[1])], [high[0].max(p[0]), high[1].max(p[1])]]
    })
}

/// The corners in order: low, high.
pub fn ordered(extent: Extent) -> Extent {
    bounding(&extent)
}

pub fn centre([[x1, y1], [x2, y2]]: Extent) -> Point {
    [(x1 + x2) / 2.0, (y1 + y2) / 2.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirrored_and_turned_extent() {
        // The icon's right end (100, 0) is first mirrored to (-10, 0), then turned by 90 degrees to (0, -10), then moved.
        let map = Matrix::mapping(UNIT_EXTENT, [[10.0, -10.0], [-10.0, 10.0]]);
        let placed = Matrix::translation([50.0, 20.0]).after(&Matrix::rotation(90.0)).after(&map);
        assert_eq!(placed.apply([100.0, 0.0]), [50.0, 10.0]);
        assert_eq!(placed.bounds(UNIT_EXTENT), [[40.0, 10.0], [60.0, 30.0]]);
        assert_eq!(placed.stretches(), (0.1, 0.1));
    }
}
