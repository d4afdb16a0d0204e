//! Connections and transitions with their lines.

use saltus_library::annotations::{class_modification, named};
use saltus_syntax::ast::{self, Call, ClassBody, Equation, EquationKind, Expr, ExprKind, Section};

use crate::attributes::{Attributes, source_text};
use crate::geometry::Matrix;
use crate::macros::Subject;
use crate::painter::{Link, Painter};
use crate::scene::{Connection, ConnectionKind, Primitive, Shape};

impl<'a> Painter<'a> {
    /// The connections of a diagram, inherited ones first.
    pub(crate) fn connections(&mut self, lineage: &[Link<'a>], subject: &Subject) -> Vec<Connection> {
        let mut found = Vec::new();
        for link in lineage {
            let ClassBody::Long(body) = &link.definition.body else { continue };
            for section in &body.sections {
                if let Section::Equations { equations, .. } = section {
                    self.add_connections(equations, link, subject, &mut found);
                }
            }
        }
        found
    }

    fn add_connections(
        &mut self,
        equations: &'a [Equation],
        link: &Link<'a>,
        subject: &Subject,
        found: &mut Vec<Connection>,
    ) {
        for equation in equations {
            match &equation.kind {
                EquationKind::Connect { from, to } => {
                    let ends = [from.span, to.span].map(|span| source_text(self.library(), span).to_owned());
                    found.extend(self.connection(ConnectionKind::Connect, ends, equation, link, subject));
                }
                EquationKind::Call(call) => {
                    if let Some((kind, ends)) = self.transition(call) {
                        found.extend(self.connection(kind, ends, equation, link, subject));
                    }
                }
                EquationKind::If { branches, otherwise } => {
                    for (_, body) in branches {
                        self.add_connections(body, link, subject, found);
                    }
                    self.add_connections(otherwise.as_deref().unwrap_or_default(), link, subject, found);
                }
                EquationKind::For { body, .. } => self.add_connections(body, link, subject, found),
                _ => {}
            }
        }
    }

    /// `transition(from, to, …)` and `initialState(state)`.
    fn transition(&self, call: &Call) -> Option<(ConnectionKind, [String; 2])> {
        let [name] = call.name.parts.as_slice() else { return None };
        let end = |at: usize| match call.arguments.get(at) {
            Some(Expr { kind: ExprKind::Ref(state), .. }) => Some(source_text(self.library(), state.span).to_owned()),
            _ => None,
        };
        match self.text(name.name.name) {
            "transition" => Some((ConnectionKind::Transition, [end(0)?, end(1)?])),
            "initialState" => Some((ConnectionKind::InitialState, [end(0)?, String::new()])),
            _ => None,
        }
    }

    fn connection(
        &mut self,
        kind: ConnectionKind,
        [from, to]: [String; 2],
        equation: &'a Equation,
        link: &Link<'a>,
        subject: &Subject,
    ) -> Option<Connection> {
        if !self.count_part(equation.span) {
            return None;
        }
        let annotation = equation.comment.annotation.as_ref().map(|annotation| &annotation.modification);
        let line = annotation.and_then(|given| self.connection_line(given, link));
        let texts = match (annotation, &line) {
            (Some(given), Some(line)) => self.connection_texts(given, line, [&from, &to], link, subject),
            _ => Vec::new(),
        };
        Some(Connection {
            kind,
            line,
            texts,
            inherited_from: (!link.is_own).then(|| self.library().qualified_name(link.class)),
            source: self.place(equation.span),
            from,
            to,
        })
    }

    fn connection_line(&mut self, given: &'a ast::ClassModification, link: &Link<'a>) -> Option<Primitive> {
        let line = named(given, self.library().intern("Line")).next().and_then(class_modification)?;
        let mut attributes = Attributes::of_modification(self.library(), link.scope, line);
        let shape = Shape::Line(self.line(&mut attributes)?);
        let mut line = self.finish(attributes, shape);
        line.matrix = link.map.after(&line.matrix);
        Some(line)
    }

    /// Texts at points of the line.
    fn connection_texts(
        &mut self,
        given: &'a ast::ClassModification,
        line: &Primitive,
        [from, to]: [&str; 2],
        link: &Link<'a>,
        subject: &Subject,
    ) -> Vec<Primitive> {
        let Shape::Line(shape) = &line.shape else { return Vec::new() };
        let mut texts = Vec::new();
        for text in named(given, self.library().intern("Text")).filter_map(class_modification) {
            let mut attributes = Attributes::of_modification(self.library(), link.scope, text);
            let index = attributes.number(self, "index", 1.0) as i64;
            let n = shape.points.len() as i64;
            let at = if index < 0 { n + index } else { index - 1 };
            let Some(&point) = shape.points.get(at.clamp(0, (n - 1).max(0)) as usize) else { continue };
            let attribute = if attributes.expr("string").is_some() { "string" } else { "textString" };
            let Some(mut shape) = self.text_shape(&mut attributes, attribute, subject) else { continue };
            let last = |end: &str| end.rsplit('.').next().unwrap_or(end).to_owned();
            // The macros `%first` and `%second` are unknown names to the others, which leave them as their names.
            if let Some(expr) = attributes.expr(attribute)
                && let ExprKind::String(written) = &expr.kind
            {
                let ends = written.replace("%first", &last(from)).replace("%second", &last(to));
                shape.text = self.expand_macros(&ends, link.scope, subject);
            }
            let text = self.finish(attributes, Shape::Text(shape));
            let matrix = line.matrix.after(&Matrix::translation(point)).after(&text.matrix);
            texts.push(Primitive { matrix, ..text });
        }
        texts
    }
}
