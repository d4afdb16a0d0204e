//! Opening a class instance: bases, components, redeclarations (specification chapters 5.6 and 7).
//!
//! ```text
//! model A                     Inst A   bases: [Inst B with x ↦ 3]
//!   extends B(x = 3);                  components: B's, then y
//!   Real y;
//! end A;
//! ```
//!
//! A `redeclare` element in the body is a modification of the base that declares the element; that way everything written
//! in the base sees the replacement.

use std::rc::Rc;

use saltus_base::{Name, Span};
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::Front;
use crate::component::{MOST_DECLARED, MOST_INSTANCES};
use crate::diagnostics as d;
use crate::instance::{Comp, CompId, CompMemo, Declared, InstId, Member, Memo, Prefixes, SlotId};
use crate::lookup::elements;
use crate::modifier::{Deselected, Mod, ModExpr, ModRef, ModValue, Position, Redeclare, final_violation, merge};
use crate::redeclaration::{Constraint, NewConstraint};

/// More nested bases than this means that a class extends itself in a way that lookup did not notice.
const MOST_BASES: usize = 100;

impl<'a> Front<'a> {
    /// Opens an instance; does nothing when that has happened or is happening.
    pub fn expand(&mut self, inst: InstId) {
        if !matches!(self.tree[inst].members.expansion, Memo::Unknown) {
            return;
        }
        self.tree[inst].members.expansion = Memo::InProgress;
        if let Some(definition) = self.tree[inst].definition {
            self.check_class(self.tree[inst].class, definition);
        }
        match self.tree[inst].definition.map(|c| &c.body) {
            Some(ast::ClassBody::Long(body)) => self.expand_long(inst, body),
            Some(ast::ClassBody::Short(short)) => self.expand_short(inst, short),
            Some(ast::ClassBody::Derivative { function, .. }) => self.expand_derivative(inst, function),
            Some(ast::ClassBody::Enumeration(_)) | None => {}
        }
        if let Some(span) = self.tree[inst].members.predefined_base
            && self.tree[inst].derived.is_none()
            && !self.tree[inst].members.components.is_empty()
        {
            let class = self.library.qualified_name(self.tree[inst].class);
            self.report(d::predefined_with_elements(&class, span));
        }
        self.tree[inst].members.expansion = Memo::Known(());
    }

    fn expand_short(&mut self, inst: InstId, short: &'a ast::ShortClass) {
        let scope = self.tree[inst].scope;
        if self.tree[inst].definition.is_some_and(|c| c.is_encapsulated) {
            self.check_encapsulated(inst, short);
        }
        let Some(base) = self.lookup_class(scope, &short.base) else {
            self.tree[inst].members.is_incomplete = true;
            return;
        };
        let own = short.modification.as_ref().and_then(|m| self.class_modifier_checked(m, scope));
        // The modification is about the array, this instance is one element of it.
        let own = own.map(|own| own.at_index(&self.tree[inst].class_index));
        self.check_final(&self.tree[inst].modifier.clone(), &own);
        let modifier = merge(&self.tree[inst].modifier, &merge(&own, &self.constraint_of(inst)));
        let base_inst = self.add_base(inst, base, modifier, false, short.base.span);
        if let Some(base_inst) = base_inst {
            self.record_modification(base_inst, short.modification.as_ref());
            // The attributes of types are looked at where a variable has the type.
            let is_type = self.tree[base_inst].members.predefined_base.is_some()
                || matches!(self.tree[base].definition.body, ast::ClassBody::Enumeration(_));
            if let Some(own) = own.filter(|_| !is_type) {
                self.check_modified_names(base_inst, &own);
            }
        }
    }

    /// A partial derivative has the inputs and variables of the function.
    fn expand_derivative(&mut self, inst: InstId, function: &'a ast::Path) {
        let scope = self.tree[inst].scope;
        let Some(base) = self.lookup_class(scope, function) else {
            self.tree[inst].members.is_incomplete = true;
            return;
        };
        if !self.is_function(base) {
            self.report(d::derivative_of_no_function(&self.path_text(&function.parts), function.span));
            self.tree[inst].members.is_incomplete = true;
            return;
        }
        let modifier = merge(&self.tree[inst].modifier, &self.constraint_of(inst));
        self.add_base(inst, base, modifier, false, function.span);
    }

    /// Which element of its array class the base class of `inst` is, once the dimensions that `inst` adds are taken off.
    fn base_index(&self, inst: InstId) -> Vec<Position> {
        match self.tree[inst].definition.map(|c| &c.body) {
            Some(ast::ClassBody::Short(short)) => {
                self.tree[inst].class_index.iter().copied().skip(short.subscripts.len()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What the constraining type says about the class of an instance.
    fn constraint_of(&self, inst: InstId) -> ModRef<'a> {
        self.tree[inst].slot.and_then(|slot| self.tree[slot].constraint.clone())
    }

    fn expand_long(&mut self, inst: InstId, body: &'a ast::LongClass) {
        self.record_body(inst, body);
        let outer = merge(&self.tree[inst].modifier, &self.constraint_of(inst));
        let redeclared = self.redeclared_elements(inst, body);
        if let (Some(modification), Some(original)) = (&body.extends, self.tree[inst].original) {
            let own = modification.as_ref().and_then(|m| self.class_modifier_checked(m, inst));
            let modifier = merge(&outer, &merge(&redeclared, &own));
            let span = self.tree[inst].definition.map_or(Span::nowhere(), |c| c.name.span);
            self.add_base(inst, original, modifier, false, span);
        } else if body.extends.is_some() {
            let definition = self.tree[inst].definition;
            if let Some(c) = definition {
                self.report_once(d::class_extends_nothing(self.text(c.name.name), c.name.span));
            }
        }
        for section in &body.sections {
            let ast::Section::Elements { visibility, elements, .. } = section else { continue };
            let is_protected = *visibility == ast::Visibility::Protected;
            for element in elements {
                match &element.kind {
                    ast::ElementKind::Extends(e) => self.expand_extends(inst, e, &outer, &redeclared, is_protected),
                    ast::ElementKind::Components(c) if !c.prefixes.is_redeclare => {
                        self.expand_components(inst, c, &outer, is_protected);
                    }
                    _ => {}
                }
            }
        }
        self.check_redeclared(inst, &redeclared);
        self.check_inherited_classes(inst, body);
        self.check_base_names(inst, body);
    }

    fn expand_extends(
        &mut self,
        inst: InstId,
        extends: &'a ast::Extends,
        outer: &ModRef<'a>,
        redeclared: &ModRef<'a>,
        is_protected: bool,
    ) {
        let Some(base) = self.lookup_base_class(inst, &extends.base) else {
            self.tree[inst].members.is_incomplete = true;
            return;
        };
        self.check_base_kind(inst, base, extends.base.span);
        let own = extends.modification.as_ref().and_then(|m| self.class_modifier_checked(m, inst));
        self.check_final(outer, &own);
        self.check_redeclared_once(&own, redeclared);
        let modifier = merge(outer, &merge(redeclared, &own));
        let Some(base_inst) = self.add_base(inst, base, modifier, is_protected, extends.base.span) else { return };
        self.record_modification(base_inst, extends.modification.as_ref());
        if let Some(own) = own {
            self.check_modified_names(base_inst, &own);
            self.check_deselected(base_inst, &own);
        }
    }

    /// Adds a base class and takes over its components.
    fn add_base(
        &mut self,
        inst: InstId,
        base: SlotId,
        modifier: ModRef<'a>,
        is_protected: bool,
        span: Span,
    ) -> Option<InstId> {
        let class = self.tree[base].class;
        if self.types.builtin_classes.contains_key(&class) {
            self.tree[inst].members.predefined_base = Some(span);
            return None;
        }
        if self.tree[base].definition.kind != ast::ClassKind::Package && self.is_around(class, self.tree[inst].class) {
            let name = self.library.qualified_name(class);
            self.report(d::cyclic_extends(&name, span));
            self.tree[inst].members.is_incomplete = true;
            return None;
        }
        let mut at = Some(inst);
        let mut depth = 0;
        while let Some(i) = at {
            let is_original = self.tree[inst].original == Some(base);
            if depth > MOST_BASES || self.budget.is_too_large || self.tree.n_instances() > MOST_INSTANCES {
                self.give_up(d::nested_too_deeply("base classes", MOST_BASES, span));
                self.tree[inst].members.is_incomplete = true;
                return None;
            }
            if self.tree[i].class == class && !is_original && self.tree[i].scope == self.tree[base].scope {
                let name = self.library.qualified_name(class);
                self.report(d::cyclic_extends(&name, span));
                self.tree[inst].members.is_incomplete = true;
                return None;
            }
            at = self.tree[i].derived;
            depth += 1;
        }
        let base_modifier = merge(&modifier, &self.tree[base].modifier);
        let base_inst = self.tree.new_inst(base, base_modifier, self.tree[inst].owner);
        self.tree[base_inst].derived = Some(inst);
        self.tree[base_inst].path = self.tree[inst].path.clone();
        self.tree[base_inst].outer = self.tree[inst].outer.clone();
        self.tree[base_inst].prefixes = self.tree[inst].prefixes;
        self.tree[base_inst].prefixes.is_protected |= is_protected;
        self.tree[base_inst].is_protected_base = is_protected || self.tree[inst].is_protected_base;
        self.tree[base_inst].function = self.tree[inst].function;
        self.tree[base_inst].depth = self.tree[inst].depth;
        self.tree[base_inst].class_index = self.base_index(inst);
        self.tree[inst].members.bases.push(base_inst);
        self.expand(base_inst);
        self.tree[inst].members.is_incomplete |= self.tree[base_inst].members.is_incomplete;
        if self.tree[base_inst].members.predefined_base.is_some() {
            self.tree[inst].members.predefined_base = Some(span);
        }
        for comp in self.tree[base_inst].members.components.clone() {
            let name = self.tree[comp].name;
            match self.tree[inst].members.names.get(&name).copied() {
                Some(Member::Component(first)) if first != comp => {
                    self.checks.duplicates.push((inst, first, comp));
                    self.unite(base_inst, name, first);
                }
                Some(_) => {}
                None => {
                    self.tree[inst].members.names.insert(name, Member::Component(comp));
                    self.tree[inst].members.components.push(comp);
                }
            }
        }
        Some(base_inst)
    }

    /// Whether a class is declared inside of `class`, at any depth: it would inherit itself.
    pub fn is_around(&self, class: ClassId, inner: ClassId) -> bool {
        let mut at = self.library.parent(inner);
        while let Some(outer) = at {
            if outer == class {
                return true;
            }
            at = self.library.parent(outer);
        }
        false
    }

    /// The same element inherited twice is one element.
    fn unite(&mut self, base: InstId, name: Name, comp: CompId) {
        let old = self.tree[base].members.names.insert(name, Member::Component(comp));
        if let Some(Member::Component(old)) = old
            && let Some(slot) = self.tree[base].members.components.iter_mut().find(|c| **c == old)
        {
            *slot = comp;
        }
        for base in self.tree[base].members.bases.clone() {
            if self.tree[base].members.names.contains_key(&name) {
                self.unite(base, name, comp);
            }
        }
    }

    fn expand_components(
        &mut self,
        inst: InstId,
        clause: &'a ast::ComponentClause,
        outer: &ModRef<'a>,
        is_protected: bool,
    ) {
        for declaration in &clause.components {
            let name = declaration.name.name;
            let from_outside = outer.as_ref().and_then(|m| m.sub(name));
            if self.deselects(inst, from_outside.as_deref(), clause) {
                self.tree[inst].members.deselected.push(name);
                continue;
            }
            if let Some(&Member::Component(first)) = self.tree[inst].members.names.get(&name) {
                let first_scope = self.tree[first].declared.scope;
                if first_scope == inst {
                    let (text, at) = (self.text(name), self.tree[first].declared.span);
                    self.report(d::duplicate_element(text, declaration.name.span, at));
                } else {
                    let second = self.new_comp(inst, clause, declaration, from_outside, is_protected);
                    self.checks.duplicates.push((inst, first, second));
                }
                continue;
            }
            if let Some(class) = self.library.child(self.tree[inst].class, name)
                && let Some(first) = self.library.definition(class)
            {
                self.report_once(d::duplicate_element(self.text(name), declaration.name.span, first.name.span));
            }
            if self.tree.n_instances() >= MOST_DECLARED {
                self.give_up(d::too_many_declarations(self.text(name), declaration.name.span));
                return;
            }
            let comp = self.new_comp(inst, clause, declaration, from_outside, is_protected);
            self.tree[inst].members.names.insert(name, Member::Component(comp));
            self.tree[inst].members.components.push(comp);
        }
    }

    /// A component with all that is said about it; a redeclaration from outside replaces its declaration here.
    pub fn new_comp(
        &mut self,
        inst: InstId,
        clause: &'a ast::ComponentClause,
        declaration: &'a ast::Component,
        from_outside: ModRef<'a>,
        is_protected: bool,
    ) -> CompId {
        let own = declaration.modification.as_ref().map(|m| self.modifier(m, inst));
        let mut owner = inst;
        while let Some(derived) = self.tree[owner].derived {
            owner = derived;
        }
        let inherited = self.tree[inst].prefixes;
        let hide_result = self.annotation_flag(declaration.comment.annotation.as_ref(), self.words.hide_result);
        let mut comp = Comp {
            name: declaration.name.name,
            owner,
            declared: Declared {
                scope: inst,
                clause,
                declaration,
                is_inner: clause.prefixes.is_inner,
                is_outer: clause.prefixes.is_outer,
                is_replaceable: clause.prefixes.is_replaceable,
                constraint: None,
                is_hidden: is_protected || self.tree[inst].is_protected_base,
                condition: declaration.condition.as_ref().map(|c| (c, inst)),
                constrained_to: None,
                dims_from: None,
                span: declaration.name.span,
            },
            modifier: None,
            given: None,
            prefixes: combine(inherited, clause, is_protected, hide_result),
            memo: CompMemo::UNKNOWN,
            var: None,
            local: None,
            is_structural: false,
        };
        self.check_nested_prefixes(inherited, clause, declaration);
        let mut inner = own;
        if comp.declared.is_outer && !comp.declared.is_inner {
            self.check_outer_unmodified(&comp, &inner, &from_outside);
        }
        // Without a constraining clause the modifications of the declaration constrain (specification 7.3.2).
        comp.declared.constraint = match &clause.constrained_by {
            Some(c) => c.modification.as_ref().map(|m| self.class_modifier(m, inst)),
            None => inner.clone(),
        };
        if clause.constrained_by.is_some() {
            inner = merge(&inner, &comp.declared.constraint);
        }
        if let Some(outside) = &from_outside {
            for redeclare in &outside.redeclares {
                inner = self.redeclare_component(&mut comp, inner, redeclare, inherited);
            }
        }
        let from_outside = from_outside.and_then(|m| m.without_redeclares());
        if comp.declared.clause.prefixes.is_final {
            let own = inner.map_or_else(|| Mod::empty(comp.declared.span), |m| (*m).clone());
            inner = Some(Rc::new(Mod { is_final: true, ..own }));
        }
        self.check_final(&from_outside, &inner);
        comp.modifier = merge(&from_outside, &inner);
        comp.given = comp.modifier.clone();
        if comp.modifier.as_ref().is_some_and(|m| m.is_final) {
            comp.prefixes.is_final = true;
        }
        self.tree.comps.push(comp)
    }

    /// Puts the declaration of a `redeclare` in the place of the original one; returns the modification that remains:
    /// the new one over the constraining one. The original value stays unless the new declaration has one.
    fn redeclare_component(
        &mut self,
        comp: &mut Comp<'a>,
        own: ModRef<'a>,
        redeclare: &Redeclare<'a>,
        inherited: Prefixes,
    ) -> ModRef<'a> {
        let Redeclare::Component { clause, component, scope, span, is_replaceable, constrained_by, indices } =
            redeclare
        else {
            if let &Redeclare::Class { span, .. } = redeclare {
                let text = self.text(comp.name);
                self.report(d::redeclare_kind(text, "component", "class", span, Some(comp.declared.span)));
            }
            return own;
        };
        let (clause, component, scope, span) = (*clause, *component, *scope, *span);
        self.check_redeclared_component(comp, clause, component, scope, span);
        let declared = &mut comp.declared;
        let original = declared.clause.constrained_by.as_ref().map_or(&declared.clause.type_name, |c| &c.base);
        let (path, at) = declared.constrained_to.map_or((original, declared.scope), |(path, at, _)| (path, at));
        if let Some(c) = constrained_by {
            let old = Constraint::Named(path, at);
            let new = NewConstraint { name: comp.name, old, new: (&c.base, scope), span: c.span };
            self.checks.new_constraints.push(new);
        }
        declared.constrained_to = match (constrained_by, declared.constrained_to) {
            (Some(c), _) => Some((&c.base, scope, span)),
            (None, Some((path, at, _))) => Some((path, at, span)),
            (None, None) => Some((original, declared.scope, span)),
        };
        let narrower = constrained_by.and_then(|c| c.modification.as_ref()).map(|m| self.class_modifier(m, scope));
        declared.constraint = merge(&narrower, &declared.constraint);
        declared.is_replaceable = *is_replaceable;
        let new = component.modification.as_ref().map(|m| self.modifier(m, scope).redeclared_at(indices));
        let old = comp.prefixes;
        if component.subscripts.is_empty() && clause.subscripts.is_empty() {
            comp.declared.dims_from =
                Some((&comp.declared.declaration.subscripts, &comp.declared.clause.subscripts, comp.declared.scope));
        }
        comp.declared.is_inner |= clause.prefixes.is_inner;
        comp.declared.is_outer |= clause.prefixes.is_outer;
        comp.declared.clause = clause;
        comp.declared.declaration = component;
        comp.declared.scope = scope;
        if let Some(condition) = &component.condition {
            comp.declared.condition = Some((condition, scope));
        }
        comp.prefixes = combine(inherited, clause, old.is_protected, old.hide_result);
        comp.prefixes.variability = comp.prefixes.variability.or(old.variability);
        comp.prefixes.direction = comp.prefixes.direction.or(old.direction);
        comp.prefixes.connection = comp.prefixes.connection.or(old.connection);
        merge(&merge(&new, &own.and_then(|m| m.value_alone())), &comp.declared.constraint)
    }

    /// The `redeclare` elements of a body as a modification for its bases.
    fn redeclared_elements(&mut self, inst: InstId, body: &'a ast::LongClass) -> ModRef<'a> {
        let mut subs: Vec<(Name, Rc<Mod<'a>>)> = Vec::new();
        for element in elements(body) {
            match &element.kind {
                ast::ElementKind::Class(c) if c.prefixes.is_redeclare => {
                    let name = c.class.name.name;
                    let Some(class) = self.library.child(self.tree[inst].class, name) else { continue };
                    let (span, constrained_by) = (c.class.name.span, c.constrained_by.as_ref());
                    let redeclare = Redeclare::Class { class, scope: inst, span, constrained_by };
                    subs.push((name, redeclaring(redeclare, c.class.name.span)));
                }
                ast::ElementKind::Components(c) if c.prefixes.is_redeclare => {
                    for component in &c.components {
                        let span = component.name.span;
                        let redeclare = Redeclare::Component {
                            clause: c,
                            component,
                            scope: inst,
                            span,
                            is_replaceable: c.prefixes.is_replaceable,
                            constrained_by: c.constrained_by.as_ref(),
                            indices: Vec::new(),
                        };
                        subs.push((component.name.name, redeclaring(redeclare, span)));
                    }
                }
                _ => {}
            }
        }
        (!subs.is_empty()).then(|| Rc::new(Mod { subs, ..Mod::empty(Span::nowhere()) }))
    }

    /// A `redeclare` element must replace something inherited.
    fn check_redeclared(&mut self, inst: InstId, redeclared: &ModRef<'a>) {
        let Some(redeclared) = redeclared else { return };
        for (name, modifier) in &redeclared.subs {
            let mut is_inherited = false;
            for base in self.tree[inst].members.bases.clone() {
                if let Some(member) = self.member(base, *name) {
                    is_inherited = true;
                    self.record_redeclared(modifier.span, member);
                }
            }
            if is_inherited || self.tree[inst].members.is_incomplete {
                continue;
            }
            let is_class_extends = modifier
                .redeclares
                .iter()
                .any(|r| matches!(r, Redeclare::Class { class, .. } if self.is_same_class_extends(*class)));
            let text = self.text(*name);
            self.report_once(if is_class_extends {
                d::class_extends_nothing(text, modifier.span)
            } else {
                d::nothing_to_redeclare(text, modifier.span)
            });
        }
    }

    pub fn check_final(&mut self, outer: &ModRef<'a>, inner: &ModRef<'a>) {
        if let Some((attempt, declared)) = final_violation(outer, inner) {
            self.report(d::modifies_final(attempt, declared));
        }
    }

    /// Every name in a modification must be a member of what it modifies.
    pub fn check_modified_names(&mut self, inst: InstId, modifier: &Mod<'a>) {
        for (name, sub) in modifier.subs.iter().filter(|(_, m)| !m.is_deselected) {
            let member = self.member(inst, *name);
            if member.is_none() && !self.tree[inst].members.is_incomplete {
                let class = self.library.qualified_name(self.tree[inst].class);
                let nearest = self.nearest_name(inst, self.text(*name), false);
                let old = self.text(*name);
                let diagnostic = d::no_such_element(old, &class, nearest.as_deref(), sub.span);
                let new = self.converter(&class).and_then(|converter| converter.element(&class, old));
                self.report(match new {
                    Some(new) => d::renamed(diagnostic, old, &new),
                    None => diagnostic,
                });
            }
            if let (Some(Member::Class(_)), Some(value)) = (member, &sub.value) {
                self.report(d::class_given_value(self.text(*name), value.span));
            }
        }
    }

    /// The modification behind a name, written in the scope of `scope`.
    pub fn modifier(&mut self, modification: &'a ast::Modification, scope: InstId) -> Rc<Mod<'a>> {
        let mut result = match &modification.class {
            Some(class) => self.class_modifier_mod(class, scope),
            None => Mod::empty(modification.span),
        };
        result.span = modification.span;
        if let Some(value) = &modification.value {
            let (expr, span) = match &value.expr {
                Some(e) => (ModExpr::Ast(e, scope), e.span),
                None => (ModExpr::Break, modification.span),
            };
            result.value = Some(ModValue {
                expr,
                indices: Vec::new(),
                beats_binding: false,
                replaces_value: false,
                may_be_each: false,
                span,
            });
        }
        Rc::new(result)
    }

    pub fn class_modifier(&mut self, modification: &'a ast::ClassModification, scope: InstId) -> Rc<Mod<'a>> {
        Rc::new(self.class_modifier_mod(modification, scope))
    }

    fn class_modifier_checked(&mut self, modification: &'a ast::ClassModification, scope: InstId) -> ModRef<'a> {
        (!modification.arguments.is_empty()).then(|| self.class_modifier(modification, scope))
    }

    fn class_modifier_mod(&mut self, modification: &'a ast::ClassModification, scope: InstId) -> Mod<'a> {
        let mut result = Mod::empty(modification.span);
        for argument in &modification.arguments {
            match argument {
                ast::Argument::Modification(m) => {
                    let mut leaf = match &m.modification {
                        Some(inner) => (*self.modifier(inner, scope)).clone(),
                        None => Mod::empty(m.span),
                    };
                    leaf.is_each = m.is_each;
                    leaf.is_final = m.is_final;
                    leaf.span = m.span;
                    self.add_modification(&mut result, &m.name.parts, leaf);
                }
                ast::Argument::Redeclaration(r) => self.add_redeclaration(&mut result, r, scope),
                ast::Argument::BreakElement(name) => {
                    let leaf = Mod { is_deselected: true, ..Mod::empty(name.span) };
                    result.subs.push((name.name, Rc::new(leaf)));
                }
                ast::Argument::BreakConnect { from, to, span } => {
                    let deselected = Deselected { from, to, span: *span };
                    result.deselected_connections.push(deselected);
                    if self.checks.deselected_connections.iter().all(|d| d.span != *span) {
                        self.checks.deselected_connections.push(deselected);
                    }
                }
                ast::Argument::Error(_) => {}
            }
        }
        result
    }

    fn add_modification(&mut self, target: &mut Mod<'a>, path: &[ast::Ident], leaf: Mod<'a>) {
        let Some((last, outer)) = path.split_last() else { return };
        let mut built = leaf;
        let mut name = last.name;
        for part in outer.iter().rev() {
            let span = built.span;
            let is_each = built.is_each;
            built = Mod { subs: vec![(name, Rc::new(built))], is_each, ..Mod::empty(span) };
            name = part.name;
        }
        match target.subs.iter_mut().find(|(n, _)| *n == name) {
            Some((_, existing)) => {
                if let Some((second, first)) = clash(&built, existing) {
                    let text = path.iter().map(|p| self.library.text(p.name)).collect::<Vec<_>>().join(".");
                    self.messages.diagnostics.push(d::modified_twice(&text, second, first));
                }
                *existing = merge(&Some(Rc::new(built)), &Some(existing.clone())).unwrap_or_else(|| existing.clone());
            }
            None => target.subs.push((name, Rc::new(built))),
        }
    }

    fn add_redeclaration(&mut self, target: &mut Mod<'a>, r: &'a ast::ElementRedeclaration, scope: InstId) {
        match &r.kind {
            ast::RedeclarationKind::Class(definition) => {
                let class = self.library.add_class(self.tree[scope].class, definition, None);
                let constrained_by = r.constrained_by.as_ref();
                let redeclare = Redeclare::Class { class, scope, span: r.span, constrained_by };
                self.add_replacement(target, definition.name, redeclare, r);
            }
            ast::RedeclarationKind::Component(clause) => {
                for component in &clause.components {
                    let redeclare = Redeclare::Component {
                        clause,
                        component,
                        scope,
                        span: r.span,
                        is_replaceable: r.is_replaceable,
                        constrained_by: r.constrained_by.as_ref(),
                        indices: Vec::new(),
                    };
                    self.add_replacement(target, component.name, redeclare, r);
                    if let Some(condition) = &component.condition {
                        self.report(d::redeclare_condition(self.text(component.name.name), condition.span));
                    }
                }
            }
        }
    }

    fn add_replacement(
        &mut self,
        target: &mut Mod<'a>,
        name: ast::Ident,
        redeclare: Redeclare<'a>,
        r: &'a ast::ElementRedeclaration,
    ) {
        if let Some((_, first)) = target.subs.iter().find(|(n, _)| *n == name.name) {
            self.report(d::modified_twice(self.text(name.name), r.span, first.span));
        }
        let modifier = Mod { is_final: r.is_final, is_each: r.is_each, ..(*redeclaring(redeclare, r.span)).clone() };
        target.subs.push((name.name, Rc::new(modifier)));
    }
}

fn redeclaring<'a>(redeclare: Redeclare<'a>, span: Span) -> Rc<Mod<'a>> {
    Rc::new(Mod { redeclares: vec![redeclare], ..Mod::empty(span) })
}

/// Two values for the same element in one modification.
fn clash(a: &Mod<'_>, b: &Mod<'_>) -> Option<(Span, Span)> {
    if a.value.is_some() && b.value.is_some() || !b.redeclares.is_empty() && a.says_something() {
        return Some((a.span, b.span));
    }
    a.subs.iter().find_map(|(name, m)| b.subs.iter().find(|(n, _)| n == name).and_then(|(_, o)| clash(m, o)))
}

/// The prefixes of a component: its own, or those of what it is part of.
fn combine(inherited: Prefixes, clause: &ast::ComponentClause, is_protected: bool, hide_result: bool) -> Prefixes {
    let variability = match (inherited.variability, clause.variability) {
        (Some(ast::Variability::Constant), _) | (_, Some(ast::Variability::Constant)) => {
            Some(ast::Variability::Constant)
        }
        (Some(ast::Variability::Parameter), _) => Some(ast::Variability::Parameter),
        (outer, own) => own.or(outer),
    };
    Prefixes {
        variability,
        direction: clause.direction.or(inherited.direction),
        connection: clause.connection.or(inherited.connection),
        is_protected: is_protected || inherited.is_protected,
        is_final: clause.prefixes.is_final || inherited.is_final,
        hide_result: inherited.hide_result || hide_result,
    }
}
