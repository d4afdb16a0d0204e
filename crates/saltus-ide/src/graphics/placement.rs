//! Moves, turns and resizes a component: only what differs in its `Placement`.

use saltus::Session;
use saltus_diagram::{Extent, Layer, Painter, Placement};
use saltus_library::annotations::{class_modification, named};
use saltus_syntax::ast::{self, Argument};

use super::{Declared, Edited, insertion, number, point};
use crate::formatting::TextEdit;
use crate::rename::SourceChange;

pub(crate) fn place(
    session: &Session,
    class: &str,
    component: &str,
    layer: Layer,
    wanted: &Placement,
) -> Result<SourceChange, String> {
    let edited = Edited::open(session, class)?;
    let declared = edited.own_component(component)?;
    if wanted.extent.iter().flatten().chain(&wanted.origin).any(|x| !x.is_finite()) || !wanted.rotation.is_finite() {
        return Err("a place needs finite numbers".into());
    }
    let scene = Painter::new(edited.library).scene(edited.id, layer).ok_or("the class has no picture")?;
    let shown = scene.components.into_iter().find(|shown| shown.name == component);
    let current = shown.and_then(|shown| shown.placement);
    edited.change(edits(&edited, declared, layer, current.as_ref(), wanted))
}

fn edits(
    edited: &Edited<'_>,
    declared: Declared<'_>,
    layer: Layer,
    current: Option<&Placement>,
    wanted: &Placement,
) -> Vec<TextEdit> {
    let constraint = declared.clause.constrained_by.as_ref().map(|constraint| &constraint.comment);
    let comments = [Some(&declared.component.comment), constraint];
    let annotations: Vec<&ast::Annotation> =
        comments.into_iter().flatten().filter_map(|comment| comment.annotation.as_ref()).collect();
    let name = edited.library.intern("Placement");
    let placement = annotations.iter().find_map(|a| named(&a.modification, name).next());
    let (Some(placement), Some(current)) = (placement, current) else {
        return match (placement, annotations.first()) {
            (Some(broken), _) => vec![replacement(broken.span, placement_text(wanted))],
            (None, Some(annotation)) => {
                let separator = if annotation.modification.arguments.is_empty() { "" } else { ", " };
                let text = format!("{}{separator}", placement_text(wanted));
                vec![insertion(annotation.modification.span.start + 1, text)]
            }
            (None, None) => {
                let end = declared.clause.constrained_by.as_ref().map_or(declared.component.span.end, |c| c.span.end);
                vec![insertion(end, format!(" annotation({})", placement_text(wanted)))]
            }
        };
    };
    let Some(inside) = class_modification(placement) else {
        return vec![replacement(placement.span, placement_text(wanted))];
    };
    let part = |name: &str| named(inside, edited.library.intern(name)).next();
    let attribute = match layer {
        Layer::Icon => "iconTransformation",
        Layer::Diagram => "transformation",
    };
    match part(attribute) {
        Some(transformation) => match class_modification(transformation) {
            Some(given) => changed_parts(edited, given, current, wanted),
            None => vec![replacement(transformation.span, format!("{attribute}({})", arguments(wanted)))],
        },
        None => vec![append(inside, format!("{attribute}({})", arguments(wanted)))],
    }
}

/// New values where they differ, new arguments where there are none.
fn changed_parts(
    edited: &Edited<'_>,
    given: &ast::ClassModification,
    current: &Placement,
    wanted: &Placement,
) -> Vec<TextEdit> {
    let parts = [
        ("origin", current.origin != wanted.origin, point(wanted.origin)),
        ("extent", current.extent != wanted.extent, extent_text(wanted.extent)),
        ("rotation", current.rotation != wanted.rotation, number(wanted.rotation)),
    ];
    let mut edits = Vec::new();
    let mut missing = Vec::new();
    for (name, _, text) in parts.into_iter().filter(|(_, is_changed, _)| *is_changed) {
        let value = named(given, edited.library.intern(name)).next();
        match value.and_then(|value| value.modification.as_ref()?.value.as_ref()?.expr.as_ref()) {
            Some(expr) => edits.push(replacement(expr.span, text)),
            None => missing.push(format!("{name}={text}")),
        }
    }
    if !missing.is_empty() {
        edits.push(append(given, missing.join(", ")));
    }
    edits
}

/// A further argument behind the others.
pub(super) fn append(given: &ast::ClassModification, text: String) -> TextEdit {
    let last = given.arguments.last().map(argument_end);
    match last {
        Some(end) => insertion(end, format!(", {text}")),
        None => insertion(given.span.start + 1, text),
    }
}

pub(super) fn argument_end(argument: &Argument) -> u32 {
    match argument {
        Argument::Modification(m) => m.span.end,
        Argument::Redeclaration(r) => r.span.end,
        Argument::BreakElement(name) => name.span.end,
        Argument::BreakConnect { span, .. } | Argument::Error(span) => span.end,
    }
}

fn replacement(span: saltus_base::Span, text: String) -> TextEdit {
    TextEdit { start: span.start, end: span.end, text }
}

pub(super) fn placement_text(wanted: &Placement) -> String {
    format!("Placement(transformation({}))", arguments(wanted))
}

fn arguments(wanted: &Placement) -> String {
    let mut parts = Vec::new();
    if wanted.origin != [0.0; 2] {
        parts.push(format!("origin={}", point(wanted.origin)));
    }
    parts.push(format!("extent={}", extent_text(wanted.extent)));
    if wanted.rotation != 0.0 {
        parts.push(format!("rotation={}", number(wanted.rotation)));
    }
    parts.join(", ")
}

fn extent_text([a, b]: Extent) -> String {
    format!("{{{},{}}}", point(a), point(b))
}
