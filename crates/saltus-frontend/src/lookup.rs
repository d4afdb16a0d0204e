//! Finding what a name means (specification chapter 5).
//!
//! A simple name is looked for in the members of the instance (own, then inherited), its imports, then in the enclosing
//! instance, up to the root. The further parts of a composite name are members of what was found. Members that are
//! classes come into being when they are asked for, so that a package of a thousand files costs only what is used.

use saltus_base::{Name, Span, all_nearest};
use saltus_convert::Converter;
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{InstId, Member, Memo, Slot, SlotId};
use crate::modifier::{Mod, ModRef, Redeclare, merge};
use crate::redeclaration::{Constraint, NewConstraint, RedeclaredClass};

/// Names that are compared for "did you mean" in one model; after thousands of mistakes a suggestion more helps nobody.
const MOST_COMPARED_NAMES: usize = 200_000;

impl<'a> Front<'a> {
    /// The member `name` of an instance, own or inherited; imports and enclosing scopes do not count.
    pub fn member(&mut self, inst: InstId, name: Name) -> Option<Member> {
        if let Some(&found) = self.tree[inst].members.names.get(&name) {
            return Some(found);
        }
        self.expand(inst);
        if let Some(&found) = self.tree[inst].members.names.get(&name) {
            return Some(found);
        }
        if self.tree[inst].members.absent.contains(&name) {
            return None;
        }
        let found = self.class_member(inst, name);
        let i = &mut self.tree[inst];
        match found {
            Some(member) => {
                i.members.names.insert(name, member);
            }
            None if matches!(i.members.expansion, Memo::Known(())) => {
                i.members.absent.insert(name);
            }
            None => {}
        }
        found
    }

    fn class_member(&mut self, inst: InstId, name: Name) -> Option<Member> {
        let own = self.library.child(self.tree[inst].class, name);
        let is_redeclare = own.and_then(|c| self.library.element(c)).is_some_and(|e| e.prefixes.is_redeclare)
            && !self.tree[inst].members.bases.is_empty();
        if let Some(class) = own
            && self.library.element(class).is_some_and(|e| e.prefixes.is_outer && !e.prefixes.is_inner)
            && let Some(inner) = self.inner_class(inst, name)
        {
            if let Some(element) = self.library.element(class) {
                let modifier = self.tree[inst].modifier.as_ref().and_then(|m| m.sub(name));
                self.check_outer_class(element, name, modifier.as_deref());
            }
            return Some(Member::Class(inner));
        }
        if let (Some(class), false) = (own, is_redeclare) {
            return Some(Member::Class(self.make_slot(inst, class, name)));
        }
        for i in 0..self.tree[inst].members.bases.len() {
            let base = self.tree[inst].members.bases[i];
            if let Some(found) = self.member(base, name) {
                return Some(found);
            }
        }
        own.map(|class| Member::Class(self.make_slot(inst, class, name)))
    }

    /// The `inner` class that an `outer` one of this name in `inst` stands for (specification 5.4).
    fn inner_class(&mut self, inst: InstId, name: Name) -> Option<SlotId> {
        let mut at = inst;
        while let Some(owner) = self.tree[at].owner {
            at = self.tree[owner].owner;
            match self.member(at, name) {
                Some(Member::Class(slot))
                    if self.library.element(self.tree[slot].class).is_some_and(|e| e.prefixes.is_inner) =>
                {
                    return Some(slot);
                }
                Some(Member::Component(comp)) if self.tree[comp].declared.is_inner => {
                    let declared = self.tree[comp].declared.span;
                    let own = self.library.child(self.tree[inst].class, name);
                    let span = own.and_then(|c| self.library.definition(c)).map_or(declared, |c| c.name.span);
                    self.report(d::inner_kind(self.text(name), "class", "component", span, declared));
                }
                _ => {}
            }
        }
        None
    }

    /// Makes the member for a class declared in `inst`, carrying out redeclarations.
    fn make_slot(&mut self, inst: InstId, class: ClassId, name: Name) -> SlotId {
        let modifier = self.tree[inst].modifier.as_ref().and_then(|m| m.sub(name));
        let element = self.library.element(class);
        let is_replaceable = element.is_some_and(|e| e.prefixes.is_replaceable);
        let is_protected = self.library.is_visibility_protected(class);
        self.check_modified_class(class, name, modifier.as_deref());
        let mut slot = self.new_slot(class, inst, None);
        self.tree[slot].is_replaceable = is_replaceable;
        self.tree[slot].is_protected = is_protected;
        let constrained_by = element.and_then(|e| e.constrained_by.as_ref());
        let constraint = match constrained_by {
            Some(c) => c.modification.as_ref().map(|m| self.class_modifier(m, inst)),
            None => None,
        };
        self.tree[slot].constraint = constraint.clone();
        if let Some(c) = constrained_by {
            let (base, span) = (Some(&c.base), self.tree[slot].definition.name.span);
            let declared = RedeclaredClass { name, new: slot, original: slot, constrained_by: base, scope: inst, span };
            self.checks.redeclared_classes.push(declared);
        }
        let Some(modifier) = modifier else { return slot };
        // Without a constraining clause the modifications of the declaration constrain (specification 7.3.2).
        let constraint = match (&self.tree[slot].definition.body, constrained_by) {
            (ast::ClassBody::Short(short), None) if !modifier.redeclares.is_empty() => {
                short.modification.as_ref().map(|m| self.class_modifier(m, inst))
            }
            _ => constraint,
        };
        let declared = slot;
        // The class that replacements must fit: one may narrow it for those further outside.
        let mut fitting = (constrained_by.map(|c| &c.base), inst);
        for redeclare in &modifier.redeclares {
            let &Redeclare::Class { class: new, scope, span, constrained_by: narrower } = redeclare else {
                let (text, at) = (self.text(name), self.library.definition(class).map(|c| c.name.span));
                if let &Redeclare::Component { span, .. } = redeclare {
                    self.report(d::redeclare_kind(text, "class", "component", span, at));
                }
                continue;
            };
            if !is_replaceable && !self.is_same_class_extends(new) && scope != inst {
                let at = self.tree[slot].definition.name.span;
                self.report(d::not_replaceable(self.text(name), span, at));
            }
            let previous = slot;
            slot = self.new_slot(new, scope, None);
            self.tree[slot].constraint = constraint.clone();
            self.tree[slot].original = Some(previous);
            self.tree[slot].is_protected = is_protected;
            self.tree[slot].is_replaceable = true;
            if !self.is_same_class_extends(new) {
                self.checks.redeclared_classes.push(RedeclaredClass {
                    name,
                    new: slot,
                    original: declared,
                    constrained_by: fitting.0,
                    scope: fitting.1,
                    span,
                });
            }
            if let Some(c) = narrower {
                let declared_by = Constraint::new(fitting.0, fitting.1, declared);
                self.checks.new_constraints.push(NewConstraint {
                    name,
                    old: declared_by,
                    new: (&c.base, scope),
                    span: c.span,
                });
                fitting = (Some(&c.base), scope);
            }
        }
        self.tree[slot].modifier = merge(&modifier.without_redeclares(), &self.tree[slot].modifier);
        slot
    }

    /// A final class is not modified, and an outer one stands for another.
    fn check_modified_class(&mut self, class: ClassId, name: Name, modifier: Option<&Mod<'a>>) {
        let Some(element) = self.library.element(class) else { return };
        let declared = element.class.name.span;
        if let Some(modifier) = modifier.filter(|m| m.says_something())
            && element.prefixes.is_final
        {
            self.report(d::modifies_final(modifier.span, declared));
        }
        self.check_outer_class(element, name, modifier);
    }

    fn check_outer_class(&mut self, element: &ast::ClassElement, name: Name, modifier: Option<&Mod<'a>>) {
        if !element.prefixes.is_outer || element.prefixes.is_inner {
            return;
        }
        let own = match &element.class.body {
            ast::ClassBody::Short(short) => {
                short.modification.as_ref().filter(|m| !m.arguments.is_empty()).map(|m| m.span)
            }
            _ => None,
        };
        let from_outside = modifier.filter(|m| m.says_something()).map(|m| m.span);
        for span in own.into_iter().chain(from_outside) {
            self.report(d::outer_modified(self.text(name), span));
        }
    }

    /// `redeclare model extends X` may extend a class that is replaceable only where it was first declared.
    pub fn is_same_class_extends(&self, class: ClassId) -> bool {
        self.library
            .definition(class)
            .is_some_and(|c| matches!(&c.body, ast::ClassBody::Long(l) if l.extends.is_some()))
    }

    pub fn new_slot(&mut self, class: ClassId, scope: InstId, modifier: ModRef<'a>) -> SlotId {
        let definition = self.library.definition(class).unwrap_or(self.tree.empty_class);
        self.tree.slots.push(Slot {
            class,
            definition,
            scope,
            modifier,
            constraint: None,
            original: None,
            is_protected: false,
            is_replaceable: false,
            instance: None,
            in_progress: false,
            simple: Memo::Unknown,
            function: None,
        })
    }

    /// What a simple name means in the scope of `inst`.
    pub fn lookup_name(&mut self, inst: InstId, name: Name) -> Option<Member> {
        let mut at = inst;
        loop {
            if let Some(found) = self.member(at, name) {
                return Some(found);
            }
            if let Some(found) = self.imported(at, name) {
                return Some(found);
            }
            if at == self.tree.root {
                return None;
            }
            if self.tree[at].definition.is_some_and(|c| c.is_encapsulated) {
                return self.member(self.tree.root, name).filter(|m| self.is_predefined(*m));
            }
            at = self.enclosing(at);
        }
    }

    /// What an encapsulated short class names is global or predefined (specification 4.6.1).
    pub fn check_encapsulated(&mut self, inst: InstId, short: &'a ast::ShortClass) {
        let is_visible = |front: &mut Self, name: Name| {
            let found = front.member(front.tree.root, name);
            found.is_some_and(|m| front.is_predefined(m))
        };
        if let Some(first) = short.base.parts.first().filter(|_| !short.base.is_global)
            && !is_visible(self, first.name)
        {
            let path = self.path_text(&short.base.parts);
            let meant = self.lookup_class(self.tree[inst].scope, &short.base);
            let meant = meant.map(|slot| format!(".{}", self.library.qualified_name(self.tree[slot].class)));
            self.report_always(d::class_not_found(&path, &path, None, meant.as_deref(), first.span));
        }
        let mut names: Vec<ast::Ident> = Vec::new();
        for argument in short.modification.iter().flat_map(|m| &m.arguments) {
            let ast::Argument::Modification(m) = argument else { continue };
            let Some(value) = crate::annotation::value(m) else { continue };
            crate::deduce::walk_expr(value, &mut |reference| {
                names.extend(reference.parts.first().filter(|_| !reference.is_global).map(|part| part.name));
            });
        }
        let class = self.library.qualified_name(self.tree[inst].class);
        for name in names {
            if name.name != self.words.time && !is_visible(self, name.name) {
                self.report_always(d::name_not_found(self.text(name.name), &class, None, name.span));
            }
        }
    }

    /// Of what lies outside, an encapsulated class sees the predefined types only (specification 5.3.1).
    fn is_predefined(&self, member: Member) -> bool {
        let Member::Class(slot) = member else { return false };
        let class = self.tree[slot].class;
        self.library.parent(class) == Some(self.library.root())
            && (self.types.builtin_classes.contains_key(&class)
                || self
                    .library
                    .name_of(class)
                    .is_some_and(|n| matches!(self.text(n), "StateSelect" | "AssertionLevel" | "ExternalObject")))
    }

    /// Whether the absence of a name has been explained: an import without a target, a library that could not be found or
    /// read, or a base class that is missing.
    pub fn is_explained(&mut self, inst: InstId, name: Name) -> bool {
        if self.library.has_errors_from(self.imports.n_library_messages) {
            self.imports.failed.insert(name);
        }
        self.imports.n_library_messages = self.library.n_messages();
        let mut at = inst;
        while at != self.tree.root {
            if self.tree[at].members.is_incomplete {
                return true;
            }
            at = self.enclosing(at);
        }
        self.imports.failed.contains(&name) || self.library.blame_broken_files()
    }

    fn enclosing(&self, inst: InstId) -> InstId {
        let inst = &self.tree[inst];
        if inst.definition.is_some_and(|c| c.is_encapsulated) { self.tree.root } else { inst.scope }
    }

    /// What the name of a base class means in the body of `inst`: inherited members do not count (specification 5.6.1).
    pub fn lookup_base_name(&mut self, inst: InstId, name: Name) -> Option<Member> {
        let own = self.library.child(self.tree[inst].class, name);
        if let Some(class) = own
            && !self.library.element(class).is_some_and(|e| e.prefixes.is_redeclare)
        {
            if let Some(&found) = self.tree[inst].members.names.get(&name) {
                return Some(found);
            }
            let found = Member::Class(self.make_slot(inst, class, name));
            self.tree[inst].members.names.insert(name, found);
            return Some(found);
        }
        if let Some(found) = self.imported(inst, name) {
            return Some(found);
        }
        let outside = self.enclosing(inst);
        self.lookup_name(outside, name)
    }

    fn imported(&mut self, inst: InstId, name: Name) -> Option<Member> {
        let class = self.tree[inst].class;
        let definition = self.tree[inst].definition?;
        if let Some(found) = self.imports.found.get(&(class, name)) {
            return *found;
        }
        let ast::ClassBody::Long(body) = &definition.body else { return None };
        self.imports.found.insert((class, name), None);
        self.check_imports_of(name, body);
        let mut found = None;
        let mut wildcards = Vec::new();
        for import in imports(body) {
            match &import.kind {
                ast::ImportKind::Qualified if import.path.parts.last().is_some_and(|p| p.name == name) => {
                    found = self.import_target(import, &import.path.parts);
                }
                ast::ImportKind::Renamed(alias) if alias.name == name => {
                    found = self.import_target(import, &import.path.parts);
                }
                ast::ImportKind::Some(names) => {
                    if let Some(last) = names.iter().find(|n| n.name == name) {
                        let parts: Vec<_> = import.path.parts.iter().chain([last]).copied().collect();
                        found = self.import_target(import, &parts);
                    }
                }
                ast::ImportKind::All => wildcards.push(import),
                _ => {}
            }
            if found.is_some() {
                break;
            }
        }
        if found.is_none() {
            found = self.imported_from_all(inst, &wildcards, name);
        }
        self.imports.found.insert((class, name), found);
        found
    }

    /// What `import P.*;` brings under this name; no two of them may bring different things.
    fn imported_from_all(&mut self, inst: InstId, imports: &[&ast::Import], name: Name) -> Option<Member> {
        let mut found: Vec<(Member, &ast::Import)> = Vec::new();
        for &import in imports {
            let Some(Member::Class(package)) = self.import_target(import, &import.path.parts) else {
                // Any name may come from there.
                self.tree[inst].members.is_incomplete = true;
                continue;
            };
            let package = self.slot_instance(package);
            if let Some(member) = self.member(package, name)
                && found.iter().all(|(other, _)| !self.is_same_member(*other, member))
            {
                found.push((member, import));
            }
        }
        if let [_, (_, second), ..] = found.as_slice() {
            let packages: Vec<String> = found.iter().map(|(_, i)| self.path_text(&i.path.parts)).collect();
            self.report(d::ambiguous_import(self.text(name), &packages, second.path.span));
        }
        found.first().map(|(member, _)| *member)
    }

    fn is_same_member(&self, a: Member, b: Member) -> bool {
        match (a, b) {
            (Member::Class(a), Member::Class(b)) => self.tree[a].class == self.tree[b].class,
            (a, b) => a == b,
        }
    }

    /// Imports that nobody needed name something, too (specification 13.2.1). Those of the classes that are opened on the way do not
    /// concern the model.
    pub fn check_unused_imports(&mut self) {
        for class in std::mem::take(&mut self.imports.classes) {
            let Some(ast::ClassBody::Long(body)) = self.library.definition(class).map(|d| &d.body) else { continue };
            for import in imports(body) {
                let parts = &import.path.parts;
                match &import.kind {
                    ast::ImportKind::Some(names) => {
                        for last in names {
                            let parts: Vec<_> = parts.iter().chain([last]).copied().collect();
                            self.import_target(import, &parts);
                        }
                    }
                    _ => {
                        self.import_target(import, parts);
                    }
                }
            }
        }
    }

    fn import_target(&mut self, import: &ast::Import, parts: &[ast::Ident]) -> Option<Member> {
        let found = self.walk_members(self.tree.root, parts);
        if found.is_none() {
            let is_in_library = parts.first().is_some_and(|p| self.lacks_library(p.name, parts.len(), p.span));
            if !is_in_library {
                let text = self.path_text(parts);
                self.report(d::import_not_found(&text, import.path.span));
            }
            self.imports.failed.extend(match &import.kind {
                ast::ImportKind::Renamed(alias) => Some(alias.name),
                _ => parts.last().map(|p| p.name),
            });
        }
        found
    }

    /// Members of members from `inst`.
    fn walk_members(&mut self, inst: InstId, parts: &[ast::Ident]) -> Option<Member> {
        let (first, rest) = parts.split_first()?;
        let mut found = self.member(inst, first.name)?;
        self.record(first.span, found);
        for part in rest {
            let Member::Class(slot) = found else { return None };
            let inst = self.slot_instance(slot);
            found = self.member(inst, part.name)?;
            self.record(part.span, found);
        }
        Some(found)
    }

    /// The class a path means in the scope of `inst`; reports when there is none.
    pub fn lookup_class(&mut self, inst: InstId, path: &ast::Path) -> Option<SlotId> {
        self.lookup_class_from(inst, path, false)
    }

    /// The class that the body of `inst` extends under this path; reports when there is none.
    pub fn lookup_base_class(&mut self, inst: InstId, path: &ast::Path) -> Option<SlotId> {
        self.lookup_class_from(inst, path, true)
    }

    fn lookup_class_from(&mut self, inst: InstId, path: &ast::Path, as_base: bool) -> Option<SlotId> {
        let (first, rest) = path.parts.split_first()?;
        let start = if path.is_global { self.tree.root } else { inst };
        let mut found = if as_base && !path.is_global {
            self.lookup_base_name(start, first.name)
        } else {
            self.lookup_name(start, first.name)
        };
        if found.is_none() {
            let is_told = !path.is_global && self.is_explained(inst, first.name);
            if !is_told && !self.lacks_library(first.name, path.parts.len(), first.span) {
                let diagnostic = self.class_not_found(inst, path, 0);
                self.report(diagnostic);
            }
            return None;
        }
        if let Some(member) = found {
            self.record(first.span, member);
        }
        for (k, part) in rest.iter().enumerate() {
            let around = match found {
                Some(Member::Class(slot)) => slot,
                Some(Member::Component(_)) => {
                    let (text, component) = (self.path_text(&path.parts), self.path_text(&path.parts[..=k]));
                    self.report(d::class_through_component(&text, &component, path.span));
                    return None;
                }
                None => return None,
            };
            if as_base {
                self.check_base_stays(around, &path.parts[..=k], path.span);
            }
            // The standard library extends models of a partial package from outside of it, so base classes are let pass.
            if !as_base {
                let text = self.path_text(&path.parts);
                self.check_inside_complete(inst, around, &text, path.span);
            }
            let inside = self.slot_instance(around);
            found = self.member(inside, part.name);
            if let Some(member) = found {
                self.record(part.span, member);
                self.check_visible_through(inst, around, member, part);
            }
            if found.is_none() {
                if !self.tree[inside].members.is_incomplete {
                    let diagnostic = self.class_not_found(inside, path, k + 1);
                    self.report(diagnostic);
                }
                return None;
            }
        }
        match found {
            Some(Member::Class(slot)) => {
                if as_base {
                    self.check_base_stays(slot, &path.parts, path.span);
                }
                Some(slot)
            }
            _ => {
                let text = self.path_text(&path.parts);
                self.report(d::not_a_class(&text, path.span));
                None
            }
        }
    }

    /// Does a name of `n_parts` begin with a library that is not there? That is reported once, for all names in it.
    pub fn lacks_library(&mut self, first: Name, n_parts: usize, span: Span) -> bool {
        let text = self.text(first);
        let is_package = n_parts > 1 && text.starts_with(char::is_uppercase);
        if !is_package
            || self.member(self.tree.root, first).is_some()
            || self.nearest(self.tree.root, text, false, true).is_some()
        {
            return false;
        }
        let diagnostic = d::library_not_found(text, span);
        if self.imports.failed.insert(first) {
            self.report(diagnostic.clone());
        }
        // The report may stand in something that is tried and taken back.
        self.messages.withhold(diagnostic);
        true
    }

    /// A base class, and every class that its name leads through, cannot be replaced (specification 6.3.1, 7.1.4).
    fn check_base_stays(&mut self, slot: SlotId, parts: &[ast::Ident], span: Span) {
        let (class, declared) = (self.tree[slot].class, self.tree[slot].definition.name.span);
        if self.library.element(class).is_some_and(|e| e.prefixes.is_replaceable) {
            let name = self.path_text(parts);
            self.report_always(d::replaceable_base(&name, span, declared));
        }
    }

    fn class_not_found(&mut self, inst: InstId, path: &ast::Path, part: usize) -> saltus_base::Diagnostic {
        let missing = &path.parts[part];
        let text = self.path_text(&path.parts);
        let name = self.text(missing.name).to_owned();
        let within = (part > 0).then(|| self.path_text(&path.parts[..part]));
        let nearest = self.nearest(inst, &name, part == 0, true);
        let diagnostic = d::class_not_found(&text, &name, within.as_deref(), nearest.as_deref(), missing.span);
        if part == 0 {
            return diagnostic;
        }
        let inside = self.library.qualified_name(self.tree[inst].class);
        let old = format!("{inside}.{}", self.path_text(&path.parts[part..]));
        match self.converter(&old).and_then(|converter| converter.class(&old)) {
            Some(new) => d::renamed(diagnostic, &old, &new),
            None => diagnostic,
        }
    }

    /// What the library of a class says about names of older versions; asked only about names that do not exist.
    pub fn converter(&self, class: &str) -> Option<Converter<'a>> {
        let library = self.library.find(class.split('.').next()?)?;
        Converter::new(self.library, library, None).ok()
    }

    /// The instance of a class as such, for lookup inside it. A short definition that changes nothing is the
    /// instance of its base, so that `redeclare package Medium = Medium` in a hundred pipes stays one package.
    pub fn slot_instance(&mut self, slot: SlotId) -> InstId {
        if let Some(inst) = self.tree[slot].instance {
            return inst;
        }
        if let Some(base) = self.plain_alias(slot) {
            let inst = self.slot_instance(base);
            self.tree[slot].instance = Some(inst);
            return inst;
        }
        let modifier = self.tree[slot].modifier.clone();
        let inst = self.tree.new_inst(slot, modifier, None);
        self.tree[slot].instance = Some(inst);
        inst
    }

    /// The slot that a short class definition without any modification stands for.
    pub fn plain_alias(&mut self, slot: SlotId) -> Option<SlotId> {
        let s = &self.tree[slot];
        let ast::ClassBody::Short(short) = &s.definition.body else { return None };
        let is_plain = short.modification.as_ref().is_none_or(|m| m.arguments.is_empty())
            && short.subscripts.is_empty()
            && short.direction.is_none()
            && [&s.modifier, &s.constraint].into_iter().all(|m| m.as_ref().is_none_or(|m| m.is_empty()));
        if !is_plain || s.in_progress {
            return None;
        }
        let scope = s.scope;
        self.tree[slot].in_progress = true;
        let base = self.lookup_class(scope, &short.base);
        self.tree[slot].in_progress = false;
        base.filter(|&b| b != slot && !self.tree[b].in_progress)
    }

    pub fn text(&self, name: Name) -> &'a str {
        self.library.text(name)
    }

    pub fn path_text(&self, parts: &[ast::Ident]) -> String {
        parts.iter().map(|p| self.text(p.name)).collect::<Vec<_>>().join(".")
    }

    pub fn ref_text(&self, reference: &ast::ComponentRef) -> String {
        reference.parts.iter().map(|p| self.text(p.name.name)).collect::<Vec<_>>().join(".")
    }

    /// The visible name most like `name`, for "did you mean".
    pub fn nearest_name(&mut self, inst: InstId, name: &str, with_enclosing: bool) -> Option<String> {
        self.nearest(inst, name, with_enclosing, false)
    }

    fn nearest(&mut self, inst: InstId, name: &str, with_enclosing: bool, classes_only: bool) -> Option<String> {
        if self.budget.n_compared_names > MOST_COMPARED_NAMES {
            return None;
        }
        let mut names = Vec::new();
        let mut at = inst;
        let mut n_scopes = 0;
        loop {
            // Those of inner scopes come first, which is what decides between equals.
            names.extend(self.member_names(at, classes_only));
            n_scopes += 1;
            if !with_enclosing || at == self.tree.root || n_scopes > 20 {
                self.budget.n_compared_names += names.len();
                let nearest = all_nearest(name, names.iter().map(String::as_str));
                return (!nearest.is_empty()).then(|| nearest.join("` or `"));
            }
            at = self.enclosing(at);
        }
    }

    fn member_names(&mut self, inst: InstId, classes_only: bool) -> Vec<String> {
        let mut names = Vec::new();
        if inst == self.tree.root {
            let classes = self.library.children(self.tree[inst].class);
            names.extend(classes.into_iter().filter_map(|c| self.library.name_of(c)).map(|n| self.text(n).to_owned()));
        }
        let mut todo = vec![inst];
        while let Some(at) = todo.pop() {
            if names.len() > 2_000 {
                break;
            }
            let members = self.tree[at].members.names.iter();
            let members = members.filter(|(_, m)| !classes_only || matches!(m, Member::Class(_)));
            names.extend(members.map(|(&n, _)| self.text(n).to_owned()));
            if let Some(ast::ClassBody::Long(body)) = self.tree[at].definition.map(|c| &c.body) {
                for element in elements(body) {
                    if let ast::ElementKind::Class(class) = &element.kind {
                        names.push(self.text(class.class.name.name).to_owned());
                    }
                }
            }
            todo.extend(self.tree[at].members.bases.iter().copied());
        }
        names.sort();
        names.dedup();
        names
    }
}

/// All elements of a class body with their visibility ignored.
pub fn elements(body: &ast::LongClass) -> impl Iterator<Item = &ast::Element> {
    body.sections.iter().flat_map(|s| match s {
        ast::Section::Elements { elements, .. } => elements.as_slice(),
        _ => &[],
    })
}

pub fn imports(body: &ast::LongClass) -> impl Iterator<Item = &ast::Import> {
    elements(body).filter_map(|e| match &e.kind {
        ast::ElementKind::Import(import) => Some(import),
        _ => None,
    })
}
