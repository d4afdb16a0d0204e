//! Pictures of classes, from their `Icon`, `Diagram`, `Placement` and `Line` annotations.
//!
//! The principal type is [`Painter`]. In: a library and a class. Out: a [`Scene`], plain data with everything evaluated
//! (parameters decide `visible` and colours, `%name` is the name), as JSON by `serde`, or as SVG by [`svg::render`]. What
//! cannot be understood is left out with a note; a picture never fails.
//!
//! ```
//! use saltus_diagram::{Layer, Painter, svg};
//! use saltus_library::{Library, MemoryFiles};
//!
//! let library = Library::new(Box::new(MemoryFiles::new()));
//! library.load_text("M.mo", "model M annotation(Icon(graphics={Line(points={{-10, 0}, {10, 0}})})); end M;");
//! let scene = Painter::new(&library).scene(library.find("M").unwrap(), Layer::Icon).unwrap();
//! assert!(svg::render(&scene, &svg::Style::default()).contains("<path d=\"M-10 0L10 0\""));
//! ```
//!
//! # JSON
//!
//! Coordinates are those of the annotations, y up. A matrix `[a, b, c, d, e, f]` maps `x' = a x + c y + e`,
//! `y' = b x + d y + f`. What is not there is left out (`source`, `condition`, `dynamic`, …).
//!
//! ```text
//! Scene       { class, layer: "icon" | "diagram", system, primitives: [Primitive], components: [Component],
//!               connections: [Connection], notes: [{message, source}] }
//! system      { extent: [[x1, y1], [x2, y2]], preserveAspectRatio, initialScale, grid: [dx, dy] }
//! source      { file, start, end }                                      bytes of the text
//! Primitive   { shape, visible, matrix, source, dynamic: [{attribute, expression}] }
//! shape       { kind: "line", points, color: [r, g, b], pattern: "solid" | "none" | "dash" | …, thickness,
//!               arrow: [start, end], arrowSize, smooth }
//!             { kind: "polygon", points, smooth, …fill }
//!             { kind: "rectangle", extent, radius, borderPattern, …fill }
//!             { kind: "ellipse", extent, startAngle, endAngle, closure, …fill }
//!             { kind: "text", extent, text, color, fontSize, fontName, bold, italic, underline, alignment }
//!             { kind: "bitmap", extent, source: "data:…" }
//! …fill       lineColor, fillColor, pattern, fillPattern: "none" | "solid" | "horizontalCylinder" | …, lineThickness
//! Component   { name, class, description, inheritedFrom, isConnector, direction: "input" | "output", isProtected,
//!               isReplaceable, dimensions: ["3"], condition, isPresent, placement: {visible, origin, extent, rotation},
//!               matrix, bounds: extent in the layer around it,
//!               picture: {system, primitives, ports: [Component]}, source }
//! Connection  { kind: "connect" | "transition" | "initialState", from: "r.p", to: "c.n", line: Primitive,
//!               texts: [Primitive], inheritedFrom, source }
//! ```
//!
//! `matrix` and `bounds` of a port are in the coordinates of its component's picture; a component without `placement` is not
//! drawn. The SVG has a group for each component, port and connection with its place in these lists ([`svg`]).
//!
//! Specification: section 18.6, "Annotations for Graphical Objects".

mod attributes;
mod bitmap;
mod components;
mod connections;
mod functions;
mod geometry;
mod junctions;
mod macros;
mod notes;
mod painter;
mod primitives;
pub mod route;
mod scene;
pub mod svg;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub use bitmap::media_type;
pub use geometry::{Extent, Matrix, Point};
pub use painter::Painter;
pub use scene::{
    Alignment, Arrow, BorderPattern, Closure, Color, Component, Connection, ConnectionKind, CoordinateSystem, Dynamic,
    Fill, FillPattern, Layer, Line, LinePattern, Note, Picture, Place, Placement, Primitive, Scene, Shape, Smooth,
    Text, TextStyle,
};
pub use value::{Value, shown, shown_number};

use saltus_frontend::{Scope, Scopes};
use saltus_syntax::ast::Expr;

/// The value of an expression in the text of a class, if parameters and constants with bindings decide it.
pub fn evaluate(scopes: &mut Scopes<'_>, scope: Scope, expr: &Expr) -> Option<Value> {
    value::Evaluator::new(scopes).value(scope, expr)
}
