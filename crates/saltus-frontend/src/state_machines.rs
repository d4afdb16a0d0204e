//! Operators of state machines, and what annotations ask of states (specification chapter 17).

use saltus_base::{Name, Span};
use saltus_flat::{self as flat, Builtin, Expr, Type};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::annotation::{argument, literal_number, value};
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member, Memo, SlotId};
use crate::redeclaration::direction_word;
use crate::reference::Pick;

impl<'a> Front<'a> {
    /// State machine operators take block instances, which are not values; each is checked to be a component.
    pub fn state_machine_call(
        &mut self,
        scope: InstId,
        function: Builtin,
        call: &'a ast::Call,
        span: Span,
    ) -> Option<Expr> {
        let n_states = match function {
            Builtin::Transition => 2,
            Builtin::InitialState | Builtin::ActiveState | Builtin::Excursion => 1,
            _ => 0,
        };
        let names: &[&str] = match function {
            Builtin::Transition => &["from", "to", "condition", "immediate", "reset", "synchronize", "priority"],
            Builtin::InitialState | Builtin::ActiveState | Builtin::Excursion => &["state"],
            _ => &[],
        };
        let mut given: Vec<Option<&'a ast::Expr>> = call.arguments.iter().map(Some).collect();
        for named in &call.named {
            let Some(place) = names.iter().position(|n| *n == self.text(named.name.name)) else {
                let inputs: Vec<String> = names.iter().map(|n| n.to_string()).collect();
                let name = self.text(named.name.name);
                self.report(d::no_such_input(name, function.name(), &inputs, named.name.span));
                return Some(Expr::error(span));
            };
            given.resize(given.len().max(place + 1), None);
            given[place] = Some(&named.value);
        }
        let mut arguments = Vec::new();
        for (k, argument) in given.into_iter().enumerate() {
            let Some(argument) = argument else {
                // What `immediate`, `reset`, `synchronize` and `priority` are if they are not given.
                arguments.push(match k {
                    3 | 4 => Expr::boolean(true, span),
                    5 => Expr::boolean(false, span),
                    6 => Expr::integer(1, span),
                    _ => {
                        self.report(d::not_a_state(function.name(), span));
                        return Some(Expr::error(span));
                    }
                });
                continue;
            };
            if k >= n_states {
                let mut value = self.expression(scope, argument);
                if let (Builtin::Transition, Some(name)) = (function, names.get(k)) {
                    let wanted = if *name == "priority" { Type::INTEGER } else { Type::BOOLEAN };
                    let place = typing::Place::Argument { function: function.name(), position: k + 1, name };
                    value = typing::convert(self, value, &wanted, place);
                }
                arguments.push(value);
                continue;
            }
            let name = match &argument.kind {
                ast::ExprKind::Ref(reference) => self.state_instance(scope, reference),
                _ => None,
            };
            let Some(name) = name else {
                self.report(d::not_a_state(function.name(), argument.span));
                return Some(Expr::error(span));
            };
            arguments.push(Expr::string(&name, argument.span));
        }
        let ty = match function {
            Builtin::ActiveState => Type::BOOLEAN,
            Builtin::TicksInState => Type::INTEGER,
            Builtin::TimeInState | Builtin::Excursion => Type::REAL,
            _ => Type::UNIT,
        };
        Some(Expr::builtin(function, arguments, ty, span))
    }

    pub fn is_transition(&self, call: &ast::Call) -> bool {
        matches!(call.name.parts.as_slice(), [part] if part.name.name == self.words.transition)
    }

    /// Whether a call names states of a machine, of which there may be one alone.
    pub fn names_states(&self, call: &ast::Call) -> bool {
        let is_initial = matches!(call.name.parts.as_slice(), [part] if part.name.name == self.words.initial_state);
        is_initial || self.is_transition(call)
    }

    /// Which states are those of one machine; connections must know.
    pub fn note_transition(&mut self, scope: InstId, call: &'a ast::Call) {
        self.refuse_templates();
        let mut names = Vec::new();
        let named =
            call.named.iter().filter(|n| ["from", "to", "state"].contains(&self.text(n.name.name))).map(|n| &n.value);
        let states: Vec<&ast::Expr> = call.arguments.iter().take(2).chain(named).collect();
        for argument in states {
            if let ast::ExprKind::Ref(reference) = &argument.kind {
                names.extend(self.state_instance(scope, reference));
            }
        }
        self.network.connector_variables.add_states(names);
    }

    /// An `outer` declaration has no direction: the inner one decides. Only states of machines assign an `outer output`
    /// (specification 5.4), and the examples of chapter 17 read an `outer input` there.
    pub fn check_outer_directions(&mut self) {
        let is_directed = |comp: &CompId| {
            let declared = &self.tree[*comp].declared;
            declared.is_outer && declared.clause.direction.is_some()
        };
        let directed: Vec<CompId> = self.tree.comps.ids().filter(is_directed).collect();
        for comp in directed {
            // What nothing around it declares may be that of a state in another model.
            let Memo::Known(Some(inner)) = self.tree[comp].memo.outer else { continue };
            let is_implicit = self.tree.implicit_inners.iter().any(|(_, implicit)| *implicit == inner);
            if !is_implicit && !self.network.connector_variables.is_in_state(&self.comp_name(comp)) {
                let Some(direction) = self.tree[comp].declared.clause.direction else { continue };
                let word = direction_word(direction);
                let name = self.text(self.tree[comp].name);
                self.report_once(d::outer_direction(word, name, self.tree[comp].declared.span));
            }
        }
    }

    /// The name of the instance that a reference means, elements of arrays included.
    fn state_instance(&mut self, scope: InstId, reference: &'a ast::ComponentRef) -> Option<String> {
        let (first, _) = reference.parts.split_first()?;
        let mut found = self.lookup_name(scope, first.name.name)?;
        let mut path = String::new();
        for (k, part) in reference.parts.iter().enumerate() {
            let Member::Component(comp) = found else { return None };
            self.record(part.name.span, found);
            let comp = self.actual(comp);
            if !self.is_present(comp) {
                return None;
            }
            let CompKind::Class(class) = self.comp_kind(comp) else { return None };
            let dims = self.comp_dims(comp);
            let mut position = 0;
            for (pick, size) in
                self.picks(scope, comp, &dims, &part.subscripts, part.name.span)?.iter().zip(dims.iter())
            {
                let Pick::At(i) = pick else { return None };
                position = position * size + i - 1;
            }
            let inst = *class.elements.get(position as usize)?;
            path = self.component_path(inst).to_string();
            if let Some(next) = reference.parts.get(k + 1) {
                found = self.member(inst, next.name.name)?;
                self.check_visible_in(comp, found, &next.name);
            }
        }
        Some(path)
    }

    /// `external "builtin" y = excursion(state)`: its argument is a state, which is not a value.
    pub fn is_excursion(&self, slot: SlotId) -> bool {
        let ast::ClassBody::Long(body) = &self.tree[slot].definition.body else { return false };
        let Some(external) = &body.external else { return false };
        external.language.as_ref().is_some_and(|l| &*l.value == "builtin")
            && external.call.as_ref().is_some_and(|call| call.name.name == self.words.excursion)
    }

    /// `annotation(__Saltus(linearized = true, solver = "…", tolerance = …))` of a component.
    pub fn treatment_of(&mut self, comp: CompId) -> flat::Treatment {
        let mut treatment = flat::Treatment::default();
        let Some(annotation) = &self.tree[comp].declared.declaration.comment.annotation else { return treatment };
        let own = argument(&annotation.modification, self.words.vendor);
        let Some(class) = own.and_then(|m| m.modification.as_ref()?.class.as_ref()) else { return treatment };
        for item in &class.arguments {
            let ast::Argument::Modification(m) = item else { continue };
            let ([part], Some(e)) = (m.name.parts.as_slice(), value(m)) else { continue };
            if !self.take_wish(part.name, e, &mut treatment) {
                self.report(d::unknown_treatment(self.text(part.name), m.span));
            }
        }
        treatment
    }

    /// False if it is not known.
    fn take_wish(&self, name: Name, e: &ast::Expr, treatment: &mut flat::Treatment) -> bool {
        let words = self.words;
        match &e.kind {
            ast::ExprKind::Boolean(is_linearized) if name == words.linearized => {
                treatment.is_linearized = *is_linearized;
                true
            }
            ast::ExprKind::String(solver) if name == words.solver => {
                treatment.solver = Some(solver.to_string());
                true
            }
            _ if name == words.state_tolerance => {
                treatment.tolerance = literal_number(e).filter(|x| *x > 0.0 && *x < 1.0);
                treatment.tolerance.is_some()
            }
            _ => false,
        }
    }
}
