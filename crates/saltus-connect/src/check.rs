//! What the specification forbids about connections (9.3): each pair by itself, then each merged set.

use std::collections::HashSet;

use saltus_base::{Diagnostics, Span};
use saltus_flat::{BaseType, Variability};

use crate::diagnostics::{self, Place};
use crate::end::{dims_text, text, type_of, type_text};
use crate::sets::{Connect, Member, Set};
use crate::{Direction, End, Face, Kind, Variables};

/// The pairs that may be merged; elements of scalars are replaced by the scalar.
pub(crate) fn accepted_connects(
    connects: Vec<Connect>,
    vars: &dyn Variables,
    diagnostics: &mut Diagnostics,
) -> Vec<Connect> {
    let mut self_connections: HashSet<Span> = HashSet::new();
    let mut accepted = Vec::with_capacity(connects.len());
    for connect in connects {
        let a = normal_end(connect.a, connect.span, vars, diagnostics);
        let b = normal_end(connect.b, connect.span, vars, diagnostics);
        let (Some(a), Some(b)) = (a, b) else { continue };
        let is_within =
            [(a, 0), (b, 1)].into_iter().all(|(end, side)| stays_within(end, side, &connect, vars, diagnostics));
        if !is_within {
            continue;
        }
        let connect = Connect { a, b, ..connect };
        if let Some(a) = connected_with_itself(&connect) {
            // One message for a whole connector, not one for each of its variables.
            if connect.span.is_nowhere() || self_connections.insert(connect.span) {
                diagnostics.push(diagnostics::self_connection(&text(vars, a), connect.span));
            }
        } else if pair(a, b, connect.span, vars, diagnostics) {
            accepted.push(connect);
        }
    }
    accepted
}

/// Behind the end of every array.
const NO_ELEMENT: u64 = u64::MAX - 1;

/// Reports a box of pairs that reaches out of the array.
fn stays_within(end: End, side: usize, connect: &Connect, vars: &dyn Variables, diagnostics: &mut Diagnostics) -> bool {
    let Some(element) = end.element else { return true };
    let reach = |sign: i64| {
        let ends = connect.each.iter().map(|s| [s.a, s.b][side].saturating_mul(s.n.saturating_sub(1) as i64));
        ends.filter(|end| end.signum() == sign).fold(element as i64, i64::saturating_add)
    };
    [reach(-1), reach(1)].into_iter().all(|reached| {
        let element = u64::try_from(reached).unwrap_or(NO_ELEMENT);
        normal_end(end.at(element), connect.span, vars, diagnostics).is_some()
    })
}

/// The first end of the box that is connected with itself.
fn connected_with_itself(connect: &Connect) -> Option<End> {
    if (connect.a.var, connect.a.face) != (connect.b.var, connect.b.face) {
        return None;
    }
    let mut found = None;
    connect.for_each_pair(&mut |a, b| found = found.or((a == b).then_some(a)));
    found
}

/// The flow variables among `ends`.
pub(crate) fn accepted_flows(ends: Vec<End>, vars: &dyn Variables, diagnostics: &mut Diagnostics) -> Vec<End> {
    ends.into_iter()
        .filter(|end| vars.kind(end.var) == Kind::Flow)
        .filter_map(|end| normal_end(end, vars.span(end.var), vars, diagnostics))
        .collect()
}

fn normal_end(end: End, span: Span, vars: &dyn Variables, diagnostics: &mut Diagnostics) -> Option<End> {
    let Some(element) = end.element else { return Some(end) };
    let ty = vars.ty(end.var);
    if ty.n_elements().is_some_and(|n| element >= n) {
        let size = dims_text(&ty.dims);
        diagnostics.push(diagnostics::element_out_of_range(vars.name(end.var), element, &size, span));
        return None;
    }
    Some(if ty.is_scalar() { End { element: None, ..end } } else { end })
}

/// Whether `a` and `b` may be connected.
fn pair(a: End, b: End, span: Span, vars: &dyn Variables, diagnostics: &mut Diagnostics) -> bool {
    let (a_name, b_name) = (text(vars, a), text(vars, b));
    let a_place = Place { name: &a_name, span: vars.span(a.var) };
    let b_place = Place { name: &b_name, span: vars.span(b.var) };
    let (a_type, b_type) = (type_of(vars, a.var, a.element), type_of(vars, b.var, b.element));
    if a_type.is_error() || b_type.is_error() {
        return false;
    }
    let problem = match (vars.kind(a.var), vars.kind(b.var)) {
        (Kind::Flow, Kind::Potential | Kind::Stream { .. }) => {
            Some(diagnostics::flow_to_other(&a_place, &b_place, span))
        }
        (Kind::Potential | Kind::Stream { .. }, Kind::Flow) => {
            Some(diagnostics::flow_to_other(&b_place, &a_place, span))
        }
        (Kind::Stream { .. }, Kind::Potential) => Some(diagnostics::stream_to_other(&a_place, &b_place, span)),
        (Kind::Potential, Kind::Stream { .. }) => Some(diagnostics::stream_to_other(&b_place, &a_place, span)),
        _ if a_type.base != b_type.base => {
            Some(diagnostics::type_mismatch(&a_place, &type_text(&a_type), &b_place, &type_text(&b_type), span))
        }
        _ if a_type.rank() != b_type.rank() || a_type.dims.iter().zip(&b_type.dims).any(|(a, b)| !a.fits(*b)) => {
            let (a_size, b_size) = (dims_text(&a_type.dims), dims_text(&b_type.dims));
            Some(diagnostics::size_mismatch(&a_place, &a_size, &b_place, &b_size, span))
        }
        (Kind::Potential, Kind::Potential) => variability(a, &a_place, b, &b_place, span, vars)
            .or_else(|| direction(a, &a_place, b, &b_place, span, vars)),
        (Kind::Stream { .. }, Kind::Stream { .. }) => {
            carrier(a, &a_place, span, vars).or_else(|| carrier(b, &b_place, span, vars))
        }
        (Kind::Flow, Kind::Flow) => None,
    };
    let is_right = problem.is_none();
    diagnostics.extend(problem);
    is_right
}

fn variability(
    a: End,
    a_place: &Place,
    b: End,
    b_place: &Place,
    span: Span,
    vars: &dyn Variables,
) -> Option<saltus_base::Diagnostic> {
    let name = |end: End| match vars.variability(end.var) {
        Variability::Constant => "constant",
        Variability::Parameter => "parameter",
        Variability::Discrete | Variability::Continuous => "variable",
    };
    let (a, b) = (name(a), name(b));
    (a != b).then(|| diagnostics::variability_mismatch(a_place, a, b_place, b, span))
}

fn direction(
    a: End,
    a_place: &Place,
    b: End,
    b_place: &Place,
    span: Span,
    vars: &dyn Variables,
) -> Option<saltus_base::Diagnostic> {
    // What was added to an expandable connector by connecting two of them has no direction of its own.
    if vars.is_expandable(a.var) || vars.is_expandable(b.var) {
        return None;
    }
    match (vars.direction(a.var), vars.direction(b.var)) {
        (Direction::None, Direction::Input | Direction::Output) => {
            Some(diagnostics::causal_to_acausal(b_place, a_place, span))
        }
        (Direction::Input | Direction::Output, Direction::None) => {
            Some(diagnostics::causal_to_acausal(a_place, b_place, span))
        }
        _ => None,
    }
}

/// A stream needs one scalar flow variable that carries it.
fn carrier(end: End, place: &Place, span: Span, vars: &dyn Variables) -> Option<saltus_base::Diagnostic> {
    let Kind::Stream { flow } = vars.kind(end.var) else { return None };
    let ty = vars.ty(flow);
    if vars.kind(flow) == Kind::Flow && ty.is_scalar() && ty.base == BaseType::Real {
        return None;
    }
    let flow_place = Place { name: vars.name(flow), span: vars.span(flow) };
    let what = if vars.kind(flow) == Kind::Flow { type_text(ty) } else { "no flow variable".to_string() };
    Some(diagnostics::stream_without_scalar_flow(place, &flow_place, &what, span))
}

/// Checks that need the whole set: one source of a signal, one quantity.
pub(crate) fn set(set: &Set, connects: &[Connect], vars: &dyn Variables, diagnostics: &mut Diagnostics) {
    let Some(first) = set.members.first().filter(|_| set.members.len() > 1) else { return };
    quantities(set, connects, vars, diagnostics);
    protected_alone(set, connects, vars, diagnostics);
    let is_signal = vars.kind(first.end.var) == Kind::Potential
        && vars.variability(first.end.var) > Variability::Parameter
        && set.members.iter().any(|m| vars.direction(m.end.var) != Direction::None);
    if is_signal {
        sources(set, connects, vars, diagnostics);
    }
}

/// What makes an end give the value of a signal, if it does.
pub(crate) fn source_role(end: End, vars: &dyn Variables) -> Option<&'static str> {
    match (end.face, vars.direction(end.var)) {
        (Face::Inside, Direction::Output) => Some("output of a component"),
        (Face::Outside, Direction::Input) if !vars.is_protected(end.var) => Some("input of the class"),
        _ => None,
    }
}

fn sources(set: &Set, connects: &[Connect], vars: &dyn Variables, diagnostics: &mut Diagnostics) {
    let mut found: Vec<(&Member, &str)> =
        set.members.iter().filter_map(|member| source_role(member.end, vars).map(|role| (member, role))).collect();
    // In order of connection, so that the message stands at the `connect` that added the second source.
    found.sort_by_key(|(member, _)| member.connect);
    match found.as_slice() {
        [] => {
            let is_open = |m: &Member| {
                m.end.face == Face::Outside && (vars.is_protected(m.end.var) || vars.is_expandable(m.end.var))
            };
            if !set.members.iter().any(is_open) {
                diagnostics.push(diagnostics::no_source(&list(set, vars), span_of(set.connect, connects)));
            }
        }
        [_] => {}
        found if exclude_each_other(found.iter().map(|(m, _)| m.end), vars) => {}
        [first, second, ..] => {
            let (first_name, second_name) = (text(vars, first.0.end), text(vars, second.0.end));
            diagnostics.push(diagnostics::several_sources(
                &Place { name: &first_name, span: span_of(first.0.connect, connects) },
                first.1,
                &Place { name: &second_name, span: span_of(second.0.connect, connects) },
                second.1,
            ));
        }
    }
}

/// Sources in different states of one state machine: the active one gives the value (specification 17.3.6).
fn exclude_each_other(ends: impl Iterator<Item = End>, vars: &dyn Variables) -> bool {
    let mut machine = None;
    let mut states: Vec<&str> = Vec::new();
    for end in ends {
        let Some((number, state)) = vars.state(end.var) else { return false };
        if *machine.get_or_insert(number) != number || states.contains(&state) {
            return false;
        }
        states.push(state);
    }
    true
}

/// A protected connector of the class is connected to a component, or to a public connector that is declared (specification 9.3):
/// nothing else decides the direction of a member that a connection added to an expandable connector. Two protected connectors that
/// are connected with each other alone do no harm, and the standard library has such.
fn protected_alone(set: &Set, connects: &[Connect], vars: &dyn Variables, diagnostics: &mut Diagnostics) {
    let is_outside = |m: &&Member| m.end.face == Face::Outside && vars.is_protected(m.end.var);
    let Some(protected) = set.members.iter().find(is_outside).filter(|m| vars.kind(m.end.var) == Kind::Potential)
    else {
        return;
    };
    let is_enough = |m: &Member| match m.end.face {
        Face::Inside => true,
        Face::Outside => !vars.is_protected(m.end.var) && !vars.is_implied(m.end.var),
    };
    let has_implied = set.members.iter().any(|m| vars.is_implied(m.end.var));
    if has_implied && !set.members.iter().any(is_enough) {
        let place = Place { name: &text(vars, protected.end), span: vars.span(protected.end.var) };
        let span = span_of(protected.connect.or(set.connect), connects);
        diagnostics.push(diagnostics::protected_alone(&place, &list(set, vars), span));
    }
}

fn quantities(set: &Set, connects: &[Connect], vars: &dyn Variables, diagnostics: &mut Diagnostics) {
    let mut with_quantity =
        set.members.iter().filter_map(|m| Some((m, vars.quantity(m.end.var).filter(|q| !q.is_empty())?)));
    let Some((first, quantity)) = with_quantity.next() else { return };
    if let Some((other, other_quantity)) = with_quantity.find(|(_, q)| *q != quantity) {
        let (a, b) = (text(vars, first.end), text(vars, other.end));
        diagnostics.push(diagnostics::quantity_mismatch(
            &Place { name: &a, span: vars.span(first.end.var) },
            quantity,
            &Place { name: &b, span: vars.span(other.end.var) },
            other_quantity,
            span_of(other.connect.or(set.connect), connects),
        ));
    }
}

/// The first few members by name.
fn list(set: &Set, vars: &dyn Variables) -> String {
    const SHOWN: usize = 4;
    let mut names: Vec<String> = set.members.iter().take(SHOWN).map(|m| format!("`{}`", text(vars, m.end))).collect();
    names.dedup();
    if set.members.len() > SHOWN {
        names.push("…".to_string());
    }
    names.join(", ")
}

pub(crate) fn span_of(connect: Option<u32>, connects: &[Connect]) -> Span {
    connect.and_then(|i| connects.get(i as usize)).map_or(Span::nowhere(), |c| c.span)
}
