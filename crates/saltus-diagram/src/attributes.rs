//! The attributes of a graphical record, written as a call (`Line(points=…)` in `graphics`) or as a modification
//! (`annotation(Line(points=…))` of a `connect`).

use saltus_base::Span;
use saltus_frontend::Scope;
use saltus_library::Library;
use saltus_syntax::ast::{Argument, Call, ClassModification, ElementModification, Expr, ExprKind};

use crate::geometry::{Extent, Point, is_reasonable};
use crate::notes;
use crate::painter::Painter;
use crate::scene::{Color, Dynamic, Word};
use crate::value::{Evaluator, Value};

/// Named values with the class in whose text they stand.
pub struct Attributes<'e, 'a> {
    library: &'a Library,
    pub scope: Scope,
    items: Vec<(&'a str, &'e Expr)>,
    pub span: Span,
    pub dynamic: Vec<Dynamic>,
}

impl<'e, 'a> Attributes<'e, 'a> {
    pub fn of_call(library: &'a Library, scope: Scope, call: &'e Call, span: Span) -> Self {
        let items = call.named.iter().map(|argument| (library.text(argument.name.name), &argument.value)).collect();
        Self { library, scope, items, span, dynamic: Vec::new() }
    }

    pub fn of_modification(library: &'a Library, scope: Scope, given: &'e ClassModification) -> Self {
        let items = given.arguments.iter().filter_map(|argument| match argument {
            Argument::Modification(m) => {
                let [name] = m.name.parts.as_slice() else { return None };
                Some((library.text(name.name), value(m)?))
            }
            _ => None,
        });
        Self { library, scope, items: items.collect(), span: given.span, dynamic: Vec::new() }
    }

    pub fn expr(&self, name: &str) -> Option<&'e Expr> {
        self.items.iter().find(|(known, _)| *known == name).map(|(_, expr)| *expr)
    }

    pub fn value(&mut self, painter: &mut Painter<'a>, name: &str) -> Option<Value> {
        let expr = self.expr(name)?;
        if let Some(expression) = dynamic_part(self.library, expr) {
            self.dynamic.push(Dynamic { attribute: name.to_owned(), expression });
        }
        Evaluator::new(&mut painter.scopes).at(painter.moment.as_deref(), &painter.path).value(self.scope, expr)
    }

    /// The value brought to a form; its default with a note if it is given and has another one.
    fn form<T>(
        &mut self,
        painter: &mut Painter<'a>,
        name: &str,
        default: T,
        form: impl FnOnce(&Value) -> Option<T>,
    ) -> T {
        let Some(expr) = self.expr(name) else { return default };
        let found = self.value(painter, name).and_then(|value| form(&value));
        found.unwrap_or_else(|| {
            painter.note(notes::wrong_attribute(name), expr.span);
            default
        })
    }

    pub fn number(&mut self, painter: &mut Painter<'a>, name: &str, default: f64) -> f64 {
        self.form(painter, name, default, |value| value.number().filter(|x| is_reasonable(*x)))
    }

    /// What cannot be decided is visible.
    pub fn boolean(&mut self, painter: &mut Painter<'a>, name: &str, default: bool) -> bool {
        self.value(painter, name).and_then(|value| value.boolean()).unwrap_or(default)
    }

    pub fn string(&mut self, painter: &mut Painter<'a>, name: &str) -> String {
        self.form(painter, name, String::new(), |value| match value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        })
    }

    pub fn color(&mut self, painter: &mut Painter<'a>, name: &str, default: Color) -> Color {
        self.form(painter, name, default, color)
    }

    pub fn word<W: Word>(&mut self, painter: &mut Painter<'a>, name: &str) -> W {
        self.form(painter, name, W::default(), word)
    }

    pub fn words<W: Word>(&mut self, painter: &mut Painter<'a>, name: &str) -> Vec<W> {
        self.form(painter, name, Vec::new(), |value| value.array()?.iter().map(word).collect())
    }

    pub fn point(&mut self, painter: &mut Painter<'a>, name: &str, default: Point) -> Point {
        self.form(painter, name, default, point)
    }

    pub fn extent(&mut self, painter: &mut Painter<'a>, name: &str) -> Option<Extent> {
        self.value(painter, name).and_then(|value| extent(&value))
    }

    pub fn points(&mut self, painter: &mut Painter<'a>, name: &str) -> Option<Vec<Point>> {
        self.value(painter, name)?.array()?.iter().map(point).collect()
    }
}

fn color(value: &Value) -> Option<Color> {
    let [r, g, b] = value.array()? else { return None };
    let part = |value: &Value| value.number().map(|x| x.round().clamp(0.0, 255.0) as u8);
    Some([part(r)?, part(g)?, part(b)?])
}

fn word<W: Word>(value: &Value) -> Option<W> {
    match value {
        Value::Literal(text) => W::of(text),
        _ => None,
    }
}

fn point(value: &Value) -> Option<Point> {
    let [x, y] = value.array()? else { return None };
    let part = |value: &Value| value.number().filter(|x| is_reasonable(*x));
    Some([part(x)?, part(y)?])
}

fn extent(value: &Value) -> Option<Extent> {
    let [first, second] = value.array()? else { return None };
    Some([point(first)?, point(second)?])
}

/// What stands behind `=`.
pub fn value(m: &ElementModification) -> Option<&Expr> {
    m.modification.as_ref()?.value.as_ref()?.expr.as_ref()
}

/// The text of the second argument of `DynamicSelect`.
fn dynamic_part(library: &Library, expr: &Expr) -> Option<String> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    let [name] = call.name.parts.as_slice() else { return None };
    (library.text(name.name.name) == "DynamicSelect").then_some(())?;
    Some(source_text(library, call.arguments.get(1)?.span).to_owned())
}

/// A part of a text as it is written.
pub fn source_text(library: &Library, span: Span) -> &str {
    let text = library.source(span.file).map_or("", |source| &source.text);
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}
