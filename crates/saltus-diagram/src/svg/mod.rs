//! Scenes as SVG.
//!
//! All coordinates are those of the scene, with y turned down: lines are equally thin in large and small components, and texts
//! stay upright in turned and mirrored ones. Every text of a model is escaped; the only addresses are `data:` images.
//!
//! Groups carry what a page needs to find things again: `class="component" data-name="r"`, inside of it
//! `class="port" data-name="p"`, and `class="connection" data-from="r.p" data-to="c.n"`, each with its `data-index` in the
//! scene's lists. Dots where connections branch are circles of `class="junction"`.

mod path;
mod shapes;
mod text;

use std::fmt::Write;

use crate::geometry::{Extent, Matrix, Point, bounding, centre, ordered};
use crate::junctions::junctions;
use crate::scene::{Component, Layer, Picture, Primitive, Scene, Shape};

pub use text::width as text_width;

/// How a scene is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Style<'s> {
    /// Begins the ids in the picture; two pictures in one page need two of them.
    pub id: &'s str,
    /// Lines are as wide as on paper however large the picture is shown; for small icons.
    pub thin_lines: bool,
    /// A white sheet behind it.
    pub sheet: bool,
}

impl Default for Style<'_> {
    fn default() -> Self {
        Self { id: "s", thin_lines: false, sheet: false }
    }
}

/// The whole picture.
pub fn render(scene: &Scene, style: &Style<'_>) -> String {
    let mut pen = Pen::new(scene, style);
    let [low, high] = view(scene);
    let (width, height) = (high[0] - low[0], high[1] - low[1]);
    let view_box = [low[0], -high[1], width, height].map(|x| pen.number(x)).join(" ");
    let class = match scene.layer {
        Layer::Icon => "icon",
        Layer::Diagram => "diagram",
    };
    let _ = write!(
        pen.out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" viewBox=\"{view_box}\" font-family=\"Helvetica, Arial, sans-serif\">"
    );
    if style.sheet {
        let [x, y, w, h] = [low[0], -high[1], width, height].map(|x| pen.number(x));
        let _ =
            write!(pen.out, "<rect class=\"sheet\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>");
    }
    let frame = frame(scene);
    let is_seen = |primitive: &&Primitive| scene.layer == Layer::Diagram || !is_text_outside(primitive, frame);
    for primitive in scene.primitives.iter().filter(is_seen) {
        pen.primitives(std::slice::from_ref(primitive), &Matrix::DOWN);
    }
    // Lines end at connectors, and are seen up to their edges: other tools draw them behind, too.
    for index in 0..scene.connections.len() {
        pen.connection(scene, index);
    }
    for dot in junctions(scene) {
        pen.junction(&dot);
    }
    for (index, component) in scene.components.iter().enumerate() {
        pen.component("component", index, component, &Matrix::DOWN);
    }
    pen.out.push_str("</svg>");
    pen.out
}

/// One component as a group, in the coordinates of the scene.
pub fn component(scene: &Scene, index: usize, style: &Style<'_>) -> String {
    let mut pen = Pen::new(scene, style);
    if let Some(component) = scene.components.get(index) {
        pen.component("component", index, component, &Matrix::DOWN);
    }
    pen.out
}

/// The part of the plane that is shown: the coordinate system and what reaches beyond it, except for texts that icons have
/// outside.
pub fn view(scene: &Scene) -> Extent {
    let system = ordered(scene.system.extent);
    let frame = frame(scene);
    let mut points = frame.to_vec();
    let texts = scene.primitives.iter().filter(|p| p.visible && !is_text_outside(p, frame));
    points.extend(texts.filter_map(|text| text_bounds(text, &Matrix::IDENTITY)).flatten());
    let [low, high] = bounding(&points);
    // Something far away shall not make the rest a dot.
    let size = [system[1][0] - system[0][0], system[1][1] - system[0][1]];
    let margin = size[0].max(size[1]) * 0.015;
    let limit = |axis: usize| {
        let most = size[axis] * 2.0;
        [low[axis].max(system[0][axis] - most) - margin, high[axis].min(system[1][axis] + most) + margin]
    };
    let ([x1, x2], [y1, y2]) = (limit(0), limit(1));
    [[x1, y1], [x2, y2]]
}

/// The same without the texts of an icon.
fn frame(scene: &Scene) -> Extent {
    let mut points = scene.system.extent.to_vec();
    for component in scene.components.iter().filter(|component| component.is_visible()) {
        points.extend(component.bounds);
        let labels = component.picture.primitives.iter().filter(|p| p.visible && scene.layer == Layer::Diagram);
        points.extend(labels.filter_map(|label| text_bounds(label, &component.matrix)).flatten());
    }
    for connection in &scene.connections {
        points.extend(connection.points());
    }
    for primitive in scene.primitives.iter().filter(|primitive| primitive.visible) {
        if scene.layer == Layer::Diagram || !matches!(primitive.shape, Shape::Text(_)) {
            points.extend(primitive_points(primitive));
        }
    }
    bounding(&points)
}

/// Where the letters of a text stand.
fn text_bounds(primitive: &Primitive, outer: &Matrix) -> Option<Extent> {
    let Shape::Text(text) = &primitive.shape else { return None };
    text::bounds(text, &outer.after(&primitive.matrix))
}

/// A text that an icon has above or below itself, such as its name.
fn is_text_outside(primitive: &Primitive, [low, high]: Extent) -> bool {
    let Shape::Text(text) = &primitive.shape else { return false };
    let [x, y] = centre(primitive.matrix.bounds(text.extent));
    !(low[0] <= x && x <= high[0] && low[1] <= y && y <= high[1])
}

fn primitive_points(primitive: &Primitive) -> Vec<Point> {
    let points = match &primitive.shape {
        Shape::Line(line) => line.points.clone(),
        Shape::Polygon { points, .. } => points.clone(),
        Shape::Rectangle { extent, .. } | Shape::Ellipse { extent, .. } | Shape::Bitmap { extent, .. } => {
            return primitive.matrix.bounds(*extent).to_vec();
        }
        Shape::Text(_) => return text_bounds(primitive, &Matrix::IDENTITY).into_iter().flatten().collect(),
    };
    points.into_iter().map(|p| primitive.matrix.apply(p)).collect()
}

/// Writes SVG.
pub(crate) struct Pen<'s> {
    out: String,
    style: &'s Style<'s>,
    /// Digits behind the point.
    decimals: usize,
    n_ids: usize,
}

impl<'s> Pen<'s> {
    fn new(scene: &Scene, style: &'s Style<'s>) -> Self {
        let [low, high] = ordered(scene.system.extent);
        let size = (high[0] - low[0]).max(high[1] - low[1]).max(1e-9);
        let decimals = (4.0 - size.log10()).clamp(2.0, 9.0) as usize;
        Self { out: String::new(), style, decimals, n_ids: 0 }
    }

    fn number(&self, x: f64) -> String {
        let text = format!("{x:.*}", self.decimals);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".into() } else { text.to_owned() }
    }

    fn matrix(&self, matrix: &Matrix) -> String {
        let parts = matrix.0.map(|x| format!("{x:.6}").trim_end_matches('0').trim_end_matches('.').to_owned());
        format!("matrix({})", parts.join(" "))
    }

    fn primitives(&mut self, primitives: &[Primitive], outer: &Matrix) {
        for primitive in primitives.iter().filter(|primitive| primitive.visible) {
            self.shape(&primitive.shape, &outer.after(&primitive.matrix));
        }
    }

    fn picture(&mut self, picture: &Picture, outer: &Matrix) {
        self.primitives(&picture.primitives, outer);
        for (index, port) in picture.ports.iter().enumerate() {
            self.component("port", index, port, outer);
        }
    }

    fn component(&mut self, class: &str, index: usize, component: &Component, outer: &Matrix) {
        if !component.is_visible() {
            return;
        }
        let name = escaped(&component.name);
        let faded = if component.is_present == Some(false) { " opacity=\"0.35\"" } else { "" };
        let _ = write!(self.out, "<g class=\"{class}\" data-index=\"{index}\" data-name=\"{name}\"{faded}>");
        if class == "component" {
            let _ = write!(self.out, "<title>{name}: {}</title>", escaped(&component.class));
        }
        self.picture(&component.picture, &outer.after(&component.matrix));
        self.out.push_str("</g>");
    }

    fn connection(&mut self, scene: &Scene, index: usize) {
        let connection = &scene.connections[index];
        let (from, to) = (escaped(&connection.from), escaped(&connection.to));
        let _ = write!(
            self.out,
            "<g class=\"connection\" data-index=\"{index}\" data-from=\"{from}\" data-to=\"{to}\"><title>{from} – {to}</title>"
        );
        match &connection.line {
            Some(line) => self.primitives(std::slice::from_ref(line), &Matrix::DOWN),
            None => {
                if let (Some(a), Some(b)) = (scene.anchor(&connection.from), scene.anchor(&connection.to)) {
                    self.guessed_line(a, b);
                }
            }
        }
        self.primitives(&connection.texts, &Matrix::DOWN);
        self.out.push_str("</g>");
    }
}

/// Text that can stand in an element or in an attribute with double quotes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML has no way to write these.
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}
