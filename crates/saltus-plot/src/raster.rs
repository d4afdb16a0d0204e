//! A canvas of pixels with smooth edges.
//!
//! A line covers a pixel by how far the pixel's middle lies inside of it. The points of one line are collected in a mask before
//! they are mixed into the picture, so that joints are not darker than the rest.

use crate::canvas::{Anchor, Canvas, Stroke};
use crate::font::{strokes, text_width};

/// Width of letters' strokes as a part of the font size.
const BOLDNESS: f64 = 0.085;
/// Larger pictures are cut.
const MOST_PIXELS: f64 = 40e6;

pub struct Raster {
    pub width: usize,
    pub height: usize,
    scale: f64,
    /// Red, green, blue of each pixel.
    pixels: Vec<[f32; 3]>,
    mask: Vec<f32>,
}

impl Raster {
    /// A white picture; `scale` pixels for each unit.
    pub fn new(width: f64, height: f64, scale: f64) -> Self {
        let width = (width * scale).ceil().clamp(1.0, 20_000.0);
        let height = (height * scale).ceil().clamp(1.0, MOST_PIXELS / width);
        let (width, height) = (width as usize, height as usize);
        Raster { width, height, scale, pixels: vec![[255.0; 3]; width * height], mask: vec![0.0; width * height] }
    }

    pub fn rgb(&self) -> Vec<u8> {
        self.pixels.iter().flatten().map(|v| v.round().clamp(0.0, 255.0) as u8).collect()
    }

    /// Adds a straight line to the mask; all in pixels. Returns the box it touches.
    fn cover(&mut self, a: (f64, f64), b: (f64, f64), radius: f64) -> Bounds {
        let bounds = Bounds::around(a, b, radius + 1.0, self.width, self.height);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = dx * dx + dy * dy;
        for row in bounds.top..bounds.bottom {
            for column in bounds.left..bounds.right {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let along = if length > 0.0 { ((x - a.0) * dx + (y - a.1) * dy) / length } else { 0.0 };
                let s = along.clamp(0.0, 1.0);
                let distance = (x - a.0 - s * dx).hypot(y - a.1 - s * dy);
                let part = (radius + 0.5 - distance).clamp(0.0, 1.0) as f32;
                let place = &mut self.mask[row * self.width + column];
                *place = place.max(part);
            }
        }
        bounds
    }

    /// Mixes a colour into the picture where the mask says so, and clears the mask.
    fn mix(&mut self, bounds: Bounds, colour: [f32; 3], strength: f32) {
        for row in bounds.top..bounds.bottom {
            for i in row * self.width + bounds.left..row * self.width + bounds.right {
                let part = std::mem::take(&mut self.mask[i]) * strength;
                if part > 0.0 {
                    for (old, new) in self.pixels[i].iter_mut().zip(colour) {
                        *old += part * (new - *old);
                    }
                }
            }
        }
    }

    fn draw(&mut self, points: &[(f64, f64)], width: f64, colour: [f32; 3]) {
        let radius = (width * self.scale / 2.0).max(0.35);
        let at = |p: &(f64, f64)| (p.0 * self.scale, p.1 * self.scale);
        let points: Vec<(f64, f64)> = points.iter().map(at).collect();
        let mut touched = Bounds::default();
        if let &[only] = points.as_slice() {
            touched = self.cover(only, only, radius);
        }
        for pair in points.windows(2) {
            touched = touched.with(self.cover(pair[0], pair[1], radius));
        }
        self.mix(touched, colour, 1.0);
    }
}

#[derive(Clone, Copy, Default)]
struct Bounds {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Bounds {
    fn around(a: (f64, f64), b: (f64, f64), margin: f64, width: usize, height: usize) -> Bounds {
        // Conversions to integers saturate, so points far outside are harmless.
        let range = |p: f64, q: f64, most: usize| {
            let low = (p.min(q) - margin).floor().max(0.0) as usize;
            let high = (p.max(q) + margin).ceil().max(0.0) as usize;
            (low.min(most), high.min(most))
        };
        let ((left, right), (top, bottom)) = (range(a.0, b.0, width), range(a.1, b.1, height));
        Bounds { left, top, right, bottom }
    }

    fn with(self, other: Bounds) -> Bounds {
        if self.right <= self.left || self.bottom <= self.top {
            return other;
        }
        Bounds {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// `#rrggbb`
fn rgb(colour: &str) -> [f32; 3] {
    let number = colour.strip_prefix('#').and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or(0);
    [16, 8, 0].map(|shift| (number >> shift & 255) as f32)
}

impl Canvas for Raster {
    fn line(&mut self, points: &[(f64, f64)], stroke: Stroke<'_>) {
        self.draw(points, stroke.width, rgb(stroke.colour));
    }

    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        let corner = |x: f64, y: f64| (x * self.scale, y * self.scale);
        let bounds = Bounds::around(corner(x, y), corner(x + width, y + height), 0.0, self.width, self.height);
        for row in bounds.top..bounds.bottom {
            self.pixels[row * self.width + bounds.left..row * self.width + bounds.right].fill(rgb(colour));
        }
    }

    fn area(&mut self, low: &[(f64, f64)], high: &[(f64, f64)], colour: &str) {
        let (Some(first), Some(last)) = (low.first(), low.last()) else { return };
        let from = (first.0 * self.scale).max(0.0) as usize;
        let to = ((last.0 * self.scale).max(0.0) as usize).min(self.width.saturating_sub(1));
        for column in from..=to {
            let x = (column as f64 + 0.5) / self.scale;
            let (a, b) = (height_at(low, x) * self.scale, height_at(high, x) * self.scale);
            let (top, bottom) = (a.min(b).max(0.0), a.max(b).min(self.height as f64));
            for row in top.floor() as usize..(bottom.ceil() as usize).min(self.height) {
                let part = (bottom.min(row as f64 + 1.0) - top.max(row as f64)).clamp(0.0, 1.0);
                self.mask[row * self.width + column] = part as f32;
            }
        }
        let all = Bounds { left: from.min(to), top: 0, right: to + 1, bottom: self.height };
        self.mix(all, rgb(colour), 1.0);
    }

    fn text(&mut self, x: f64, y: f64, text: &str, size: f64, anchor: Anchor, colour: &str) {
        let width = text_width(text, size);
        let x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        for stroke in strokes(text, x, y, size) {
            self.draw(&stroke, BOLDNESS * size, rgb(colour));
        }
    }
}

/// The line's y at this x.
fn height_at(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.partition_point(|p| p.0 <= x);
    match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
        (Some(a), Some(b)) if b.0 > a.0 => a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0),
        (Some(p), _) | (None, Some(p)) => p.1,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_covers_the_pixels_it_passes() {
        let mut raster = Raster::new(10.0, 10.0, 1.0);
        raster.line(&[(2.0, 5.0), (8.0, 5.0)], Stroke { colour: "#ff0000", width: 2.0, class: "curve" });
        let rgb = raster.rgb();
        let pixel = |x: usize, y: usize| &rgb[3 * (y * 10 + x)..3 * (y * 10 + x) + 3];
        assert_eq!((pixel(5, 4), pixel(5, 5)), (&[255, 0, 0][..], &[255, 0, 0][..]));
        assert_eq!((pixel(5, 2), pixel(5, 7)), (&[255, 255, 255][..], &[255, 255, 255][..]));
    }

    #[test]
    fn points_far_outside_do_no_harm() {
        let mut raster = Raster::new(4.0, 4.0, 1.0);
        raster.line(&[(-1e300, -1e300), (1e300, 1e300)], Stroke { colour: "#000000", width: 1.0, class: "curve" });
        assert_eq!(raster.rgb().len(), 48);
    }
}
