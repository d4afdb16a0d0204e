//! What a drawing consists of. Coordinates in units of the picture, y downwards.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a line looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stroke<'a> {
    pub colour: &'a str,
    pub width: f64,
    /// What it stands for: `curve`, `grid`, `axis`, `event`, `reference`.
    pub class: &'static str,
}

pub trait Canvas {
    fn line(&mut self, points: &[(f64, f64)], stroke: Stroke<'_>);
    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str);
    /// Everything between two lines over the same x.
    fn area(&mut self, low: &[(f64, f64)], high: &[(f64, f64)], colour: &str);
    fn text(&mut self, x: f64, y: f64, text: &str, size: f64, anchor: Anchor, colour: &str);
}
