//! Graphical primitives, read from the records of an annotation.

use saltus_frontend::Scope;
use saltus_syntax::ast::{Expr, ExprKind};

use crate::attributes::Attributes;
use crate::bitmap;
use crate::geometry::{Extent, Matrix, Point};
use crate::macros::Subject;
use crate::notes;
use crate::painter::Painter;
use crate::scene::{Arrow, Fill, Line, Primitive, Shape, Smooth, Text, TextStyle};

const BLACK: [u8; 3] = [0, 0, 0];

impl<'a> Painter<'a> {
    /// The primitives of `graphics = {…}`.
    pub(crate) fn graphics(&mut self, scope: Scope, expr: &'a Expr, subject: &Subject) -> Vec<Primitive> {
        let ExprKind::Array(items) = &expr.kind else {
            self.note(notes::not_a_primitive(), expr.span);
            return Vec::new();
        };
        items.iter().filter_map(|item| self.graphic(scope, item, subject)).collect()
    }

    fn graphic(&mut self, scope: Scope, expr: &'a Expr, subject: &Subject) -> Option<Primitive> {
        let ExprKind::Call(call) = &expr.kind else {
            self.note(notes::not_a_primitive(), expr.span);
            return None;
        };
        if !self.count_part(expr.span) {
            return None;
        }
        let name = self.text(call.name.parts.last()?.name.name);
        let mut given = Attributes::of_call(self.library(), scope, call, expr.span);
        let shape = match name {
            "Line" => Shape::Line(self.line(&mut given)?),
            "Polygon" => {
                let points = self.required_points(&mut given, name)?;
                let smooth = given.word::<Smooth>(self, "smooth") == Smooth::Bezier;
                Shape::Polygon { points, smooth, fill: self.fill(&mut given) }
            }
            "Rectangle" => Shape::Rectangle {
                extent: self.required_extent(&mut given, name)?,
                radius: given.number(self, "radius", 0.0).max(0.0),
                border_pattern: given.word(self, "borderPattern"),
                fill: self.fill(&mut given),
            },
            "Ellipse" => Shape::Ellipse {
                extent: self.required_extent(&mut given, name)?,
                start_angle: given.number(self, "startAngle", 0.0),
                end_angle: given.number(self, "endAngle", 360.0),
                closure: given.word(self, "closure"),
                fill: self.fill(&mut given),
            },
            "Text" => Shape::Text(self.text_shape(&mut given, "textString", subject)?),
            "Bitmap" => {
                let extent = self.required_extent(&mut given, name)?;
                Shape::Bitmap { extent, source: bitmap::source(self, &mut given)? }
            }
            _ => {
                self.note(notes::unknown_primitive(name), call.name.span);
                return None;
            }
        };
        Some(self.finish(given, shape))
    }

    /// What all primitives have.
    pub(crate) fn finish(&mut self, mut given: Attributes<'a, 'a>, shape: Shape) -> Primitive {
        let visible = given.boolean(self, "visible", true);
        let origin = given.point(self, "origin", [0.0, 0.0]);
        let rotation = given.number(self, "rotation", 0.0);
        let matrix = Matrix::translation(origin).after(&Matrix::rotation(rotation));
        Primitive { shape, visible, matrix, source: self.place(given.span), dynamic: given.dynamic }
    }

    fn required_extent(&mut self, given: &mut Attributes<'a, 'a>, primitive: &str) -> Option<Extent> {
        let extent = given.extent(self, "extent");
        self.required(extent, given, primitive, "extent")
    }

    fn required_points(&mut self, given: &mut Attributes<'a, 'a>, primitive: &str) -> Option<Vec<Point>> {
        let points = given.points(self, "points");
        self.required(points, given, primitive, "points")
    }

    fn required<T>(&mut self, value: Option<T>, given: &Attributes<'a, 'a>, primitive: &str, name: &str) -> Option<T> {
        if value.is_none() {
            self.note(notes::missing_attribute(primitive, name), given.span);
        }
        value
    }

    pub(crate) fn line(&mut self, given: &mut Attributes<'a, 'a>) -> Option<Line> {
        let points = self.required_points(given, "Line")?;
        let arrows = given.words::<Arrow>(self, "arrow");
        Some(Line {
            points,
            color: given.color(self, "color", BLACK),
            pattern: given.word(self, "pattern"),
            thickness: given.number(self, "thickness", 0.25).max(0.0),
            arrow: [arrows.first().copied().unwrap_or_default(), arrows.get(1).copied().unwrap_or_default()],
            arrow_size: given.number(self, "arrowSize", 3.0).max(0.0),
            smooth: given.word::<Smooth>(self, "smooth") == Smooth::Bezier,
        })
    }

    fn fill(&mut self, given: &mut Attributes<'a, 'a>) -> Fill {
        Fill {
            line_color: given.color(self, "lineColor", BLACK),
            fill_color: given.color(self, "fillColor", BLACK),
            pattern: given.word(self, "pattern"),
            fill_pattern: given.word(self, "fillPattern"),
            line_thickness: given.number(self, "lineThickness", 0.25).max(0.0),
        }
    }

    pub(crate) fn text_shape(
        &mut self,
        given: &mut Attributes<'a, 'a>,
        attribute: &str,
        subject: &Subject,
    ) -> Option<Text> {
        let extent = self.required_extent(given, "Text")?;
        let text = given.string(self, attribute);
        let styles = given.words::<TextStyle>(self, "textStyle");
        // Older versions of the language gave the colour of the text as that of the line.
        let color = if given.expr("textColor").is_some() { "textColor" } else { "lineColor" };
        Some(Text {
            extent,
            text: self.expand_macros(&text, given.scope, subject),
            color: given.color(self, color, BLACK),
            font_size: given.number(self, "fontSize", 0.0).max(0.0),
            font_name: given.string(self, "fontName"),
            bold: styles.contains(&TextStyle::Bold),
            italic: styles.contains(&TextStyle::Italic),
            underline: styles.contains(&TextStyle::UnderLine),
            alignment: given.word(self, "horizontalAlignment"),
        })
    }
}
