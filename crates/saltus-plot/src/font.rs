//! Letters as strokes, for canvases without fonts.
//!
//! A glyph is a width and strokes on a grid: a digit for x, a letter for y (`d` is the base line, `j` the height of small
//! letters, `m` that of capitals). A stroke with `~` is smooth: its inner points attract the line, which passes between them.

/// Height of capitals in units of the grid, and the distance between two letters.
const CAPITALS: f64 = 9.0;
const SPACING: f64 = 2.3;
/// Height of capitals as a part of the font size.
const CAPITAL_HEIGHT: f64 = 0.72;

#[rustfmt::skip]
const GLYPHS: &[(char, u8, &str)] = &[
    (' ', 2, ""), ('!', 0, "0m0g 0d0d"), ('"', 2, "0m0k 2m2k"), ('#', 6, "1d2m 4d5m 0g6g 0j6j"),
    ('$', 6, "~5l4m2m0m0i3i6h6d3d1d0e 3m3d"), ('%', 6, "0d6m ~0l0m2m2k0k0l ~4e4f6f6d4d4e"),
    ('&', 6, "6d1k ~1k0m3m3j0h0d5d6g"), ('\'', 0, "0m0k"), ('(', 2, "~2m0j0e2b"), (')', 2, "~0m2j2e0b"),
    ('*', 4, "2m2h 0l4i 4l0i"), ('+', 6, "0h6h 3e3k"), (',', 1, "1d0b"), ('-', 4, "0h4h"), ('.', 0, "0d0d"),
    ('/', 4, "0b4m"),
    ('0', 5, "~0h0m5m5d0d0h"), ('1', 3, "0k2m2d"), ('2', 5, "~0k0m5m5i2f 2f0d5d"), ('3', 5, "~0l0m5m5i2i ~2i5i5d0d0e"),
    ('4', 5, "4d4m0g5g"), ('5', 5, "5m0m0i2i ~2i5i5d0d0e"), ('6', 5, "~4m0m0g ~0g0j5j5d0d0g"), ('7', 5, "0m5m2d"),
    ('8', 5, "~0k0m5m5i0i0k ~0g0i5i5d0d0g"), ('9', 5, "~5j5m0m0g5g5j ~5j5d1d"),
    (':', 0, "0d0d 0i0i"), (';', 1, "1d0b 1i1i"), ('<', 5, "5k0h5e"), ('=', 5, "0f5f 0i5i"), ('>', 5, "0k5h0e"),
    ('?', 4, "~0k0m4m4j2i2g 2d2d"), ('@', 6, "~4g4i2i2f4f4g ~4g4e6e6h6m0m0c4c5d"),
    ('A', 6, "0d3m6d 1g5g"), ('B', 6, "3m0m0d3d 0i3i ~3m5m5i3i ~3i6i6d3d"), ('C', 6, "~6k6m0m0d6d6f"),
    ('D', 6, "3d0d0m3m ~3m6m6d3d"), ('E', 5, "5m0m0d5d 0i4i"), ('F', 5, "5m0m0d 0i4i"),
    ('G', 6, "~6k6m0m0d6d6g 6g6h3h"), ('H', 6, "0d0m 6d6m 0i6i"), ('I', 0, "0d0m"), ('J', 4, "4m4f ~4f4d0d0f"),
    ('K', 5, "0d0m 5m0h 2j5d"), ('L', 5, "0m0d5d"), ('M', 7, "0d0m4f7m7d"), ('N', 6, "0d0m6d6m"),
    ('O', 6, "~3m6m6d0d0m3m"), ('P', 6, "0d0m3m ~3m6m6h3h 3h0h"), ('Q', 6, "~3m6m6d0d0m3m 4f6d"),
    ('R', 6, "0d0m3m ~3m6m6h3h 3h0h 3h5d"), ('S', 5, "~5l4m0m0i5i5d1d0e"), ('T', 6, "0m6m 3m3d"),
    ('U', 6, "0m0g ~0g0d6d6g 6g6m"), ('V', 6, "0m3d6m"), ('W', 8, "0m2d4k6d8m"), ('X', 6, "0m6d 6m0d"),
    ('Y', 6, "0m3h6m 3h3d"), ('Z', 6, "0m6m0d6d"),
    ('[', 2, "2m0m0b2b"), ('\\', 4, "0m4b"), (']', 2, "0m2m2b0b"), ('^', 4, "0j2m4j"), ('_', 5, "0c5c"), ('`', 1, "0m1k"),
    ('a', 5, "5j5d ~5g5j0j0d5d5g"), ('b', 5, "0m0d ~0g0j5j5d0d0g"), ('c', 5, "~5h5j0j0d5d5f"),
    ('d', 5, "5m5d ~5g5j0j0d5d5g"), ('e', 5, "0g5g ~5g5j0j0d4d5e"), ('f', 3, "~3m1m1k 1k1d 0j3j"),
    ('g', 5, "5j5c ~5c5a0a0b ~5g5j0j0d5d5g"), ('h', 5, "0m0d ~0g0j5j5g 5g5d"), ('i', 0, "0j0d 0l0l"),
    ('j', 1, "1j1b ~1b1a0a 1l1l"), ('k', 4, "0m0d 4j0f 1g4d"), ('l', 0, "0m0d"),
    ('m', 8, "0j0d ~0g0j4j4g 4g4d ~4g4j8j8g 8g8d"), ('n', 5, "0j0d ~0g0j5j5g 5g5d"), ('o', 5, "~0g0j5j5d0d0g"),
    ('p', 5, "0j0a ~0g0j5j5d0d0g"), ('q', 5, "5j5a ~5g5j0j0d5d5g"), ('r', 3, "0j0d ~0g0j3j"), ('s', 4, "~4i4j0j0g4g4d0d0e"),
    ('t', 3, "1l1f ~1f1d3d 0j3j"), ('u', 5, "0j0g ~0g0d5d5g 5j5d"), ('v', 4, "0j2d4j"), ('w', 8, "0j2d4j6d8j"),
    ('x', 4, "0j4d 4j0d"), ('y', 4, "0j2d 4j1a0a"), ('z', 4, "0j4j0d4d"),
    ('{', 3, "~3m1m1k1h0h ~0h1h1e1b3b"), ('|', 0, "0m0b"), ('}', 3, "~0m2m2k2h3h ~3h2h2e2b0b"), ('~', 6, "~0h0j3j3f6f6h"),
    ('°', 2, "~0l0m2m2k0k0l"), ('·', 0, "0h0h"), ('…', 6, "0d0d 3d3d 6d6d"), ('–', 5, "0h5h"),
    ('µ', 5, "0j0a ~0g0d5d5g 5j5d"), ('Ω', 6, "0d2d2f ~2f0h0m6m6h4f 4f4d6d"),
];

/// What stands for a letter that is not in the table.
const UNKNOWN: (char, u8, &str) = ('\u{fffd}', 4, "0d4d4k0k0d");

fn glyph(c: char) -> &'static (char, u8, &'static str) {
    GLYPHS.iter().find(|g| g.0 == c).unwrap_or(&UNKNOWN)
}

fn scale(size: f64) -> f64 {
    size * CAPITAL_HEIGHT / CAPITALS
}

/// Width of a text; for real fonts a good guess.
pub fn text_width(text: &str, size: f64) -> f64 {
    let units: f64 = text.chars().map(|c| f64::from(glyph(c).1) + SPACING).sum();
    (units - SPACING).max(0.0) * scale(size)
}

/// The strokes of a text that begins at `x` on the base line `y`.
pub fn strokes(text: &str, x: f64, y: f64, size: f64) -> Vec<Vec<(f64, f64)>> {
    let unit = scale(size);
    let mut pen = x;
    let mut lines = Vec::new();
    for c in text.chars() {
        let (_, width, drawing) = glyph(c);
        for stroke in drawing.split_whitespace() {
            let (is_smooth, code) = match stroke.strip_prefix('~') {
                Some(rest) => (true, rest),
                None => (false, stroke),
            };
            let points: Vec<(f64, f64)> = code
                .as_bytes()
                .chunks_exact(2)
                .map(|p| (f64::from(p[0] - b'0'), f64::from(p[1]) - f64::from(b'd')))
                .map(|(gx, gy)| (pen + unit * gx, y - unit * gy))
                .collect();
            lines.push(if is_smooth { smooth(&points) } else { points });
        }
        pen += unit * (f64::from(*width) + SPACING);
    }
    lines
}

/// A line of quadratic arcs: from the first to the last point, inner points as controls, joined halfway between them.
fn smooth(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const PARTS: u32 = 6;
    let n = points.len();
    if n < 3 {
        return points.to_vec();
    }
    let middle = |a: (f64, f64), b: (f64, f64)| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let mut line = vec![points[0]];
    let mut from = points[0];
    for i in 1..n - 1 {
        let control = points[i];
        let to = if i + 2 == n { points[n - 1] } else { middle(control, points[i + 1]) };
        for k in 1..=PARTS {
            let s = f64::from(k) / f64::from(PARTS);
            let blend = |a: f64, b: f64, c: f64| (1.0 - s) * (1.0 - s) * a + 2.0 * s * (1.0 - s) * b + s * s * c;
            line.push((blend(from.0, control.0, to.0), blend(from.1, control.1, to.1)));
        }
        from = to;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_a_glyph_within_its_box() {
        for c in ' '..='~' {
            assert_eq!(glyph(c).0, c);
            let width = text_width(&c.to_string(), 9.0 / CAPITAL_HEIGHT);
            for (x, y) in strokes(&c.to_string(), 0.0, 0.0, 9.0 / CAPITAL_HEIGHT).concat() {
                assert!((-0.01..=width + 0.01).contains(&x) && (-9.01..=3.01).contains(&y), "{c}: {x} {y}");
            }
        }
    }
}
