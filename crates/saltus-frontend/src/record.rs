//! Recording what names mean while they are looked up ([`References`]). Without that wish every hook is one comparison.
//!
//! Names in modifications are resolved when the model is complete: asking for their elements earlier would open components
//! before their turn.

use std::collections::HashMap;

use saltus_base::{Name, Span};
use saltus_flat::{BaseType, EnumId, Expr, FunctionId};
use saltus_syntax::ast;

use crate::Front;
use crate::instance::{CompId, CompKind, InstId, Member, Memo, SlotId};
use crate::lookup::imports;
use crate::references::{Definition, DefinitionKind, References};

/// What has been found so far.
#[derive(Default)]
pub struct Recorder<'a> {
    references: References,
    /// A component for every declaration that was met, to ask for its type at the end.
    components: HashMap<Span, CompId>,
    /// Modifications by their place, each with an instance of the class they modify.
    modifications: Vec<(InstId, &'a ast::ClassModification)>,
    met_modifications: HashMap<Span, ()>,
    /// Instances whose imports are looked at in the end.
    bodies: HashMap<Span, (InstId, &'a ast::LongClass)>,
}

impl<'a> Front<'a> {
    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// The name at `span` means this member.
    pub fn record(&mut self, span: Span, member: Member) {
        if self.recorder.is_none() || span.is_nowhere() {
            return;
        }
        match member {
            Member::Component(comp) => {
                let declared = self.tree[comp].declared.span;
                if let Some(recorder) = &mut self.recorder {
                    recorder.components.entry(declared).or_insert(comp);
                    recorder.references.add_use(span, declared);
                }
            }
            Member::Class(slot) => {
                let slot = self.declared_slot(slot);
                let declared = self.tree[slot].definition.name.span;
                self.define_class(slot);
                if let Some(recorder) = &mut self.recorder {
                    recorder.references.add_use(span, declared);
                }
            }
        }
    }

    /// A class that was redeclared is declared where it was replaceable first.
    fn declared_slot(&self, mut slot: SlotId) -> SlotId {
        while let Some(original) = self.tree[slot].original {
            slot = original;
        }
        slot
    }

    fn define_class(&mut self, slot: SlotId) {
        let definition = self.tree[slot].definition;
        let at = definition.name.span;
        let Some(recorder) = self.recorder.as_mut().filter(|r| !r.references.has_definition(at)) else { return };
        recorder.references.define(Definition {
            span: at,
            name: self.library.text(definition.name.name).to_owned(),
            kind: DefinitionKind::Class { qualified_name: self.library.qualified_name(self.tree[slot].class) },
            description: text_of(description(&definition.body)),
        });
    }

    /// A literal of an enumeration.
    pub fn record_literal(&mut self, span: Span, id: EnumId, literal: Name) {
        if self.recorder.is_none() {
            return;
        }
        let class = self.types.class_of_enum(id);
        let definition = class.and_then(|class| Some((class, self.library.definition(class)?)));
        let Some((class, ast::ClassDef { body: ast::ClassBody::Enumeration(body), .. })) = definition else { return };
        let literals = body.literals.as_deref().unwrap_or_default();
        let Some(found) = literals.iter().find(|l| l.name.name == literal) else { return };
        let owner = self.library.qualified_name(class);
        let Some(recorder) = &mut self.recorder else { return };
        recorder.references.add_use(span, found.name.span);
        recorder.references.define(Definition {
            span: found.name.span,
            name: self.library.text(literal).to_owned(),
            kind: DefinitionKind::EnumerationLiteral { owner },
            description: text_of(&found.comment.description),
        });
    }

    /// A field of a record value.
    pub fn record_field(&mut self, value: &Expr, field: ast::Ident) {
        if let (true, BaseType::Record(id)) = (self.is_recording(), value.ty.base) {
            let inst = self.slot_instance(self.types.record_slots[id]);
            self.record_element(inst, field);
        }
    }

    /// The input of a function, named in a call.
    pub fn record_input(&mut self, function: FunctionId, name: ast::Ident) {
        if self.is_recording() {
            self.record_element(self.functions[function].inst, name);
        }
    }

    /// An element of the body that redeclares an inherited one is a use of that, apart from being a declaration.
    pub fn record_redeclared(&mut self, span: Span, member: Member) {
        let is_itself = match member {
            Member::Component(comp) => self.tree[comp].declared.span == span,
            Member::Class(slot) => self.tree[self.declared_slot(slot)].definition.name.span == span,
        };
        if !is_itself {
            self.record(span, member);
        }
    }

    /// The instance was opened: its `end` names it, and its imports are looked at in the end.
    pub fn record_body(&mut self, inst: InstId, body: &'a ast::LongClass) {
        let Some(definition) = self.tree[inst].definition.filter(|_| self.is_recording()) else { return };
        if let Some(slot) = self.tree[inst].slot {
            self.define_class(slot);
        }
        let Some(recorder) = &mut self.recorder else { return };
        if recorder.bodies.contains_key(&definition.name.span) {
            return;
        }
        recorder.bodies.insert(definition.name.span, (inst, body));
        if let Some(end) = body.end_name {
            recorder.references.add_use(end.span, definition.name.span);
        }
    }

    /// The names in a modification are elements of `inst`.
    pub fn record_modification(&mut self, inst: InstId, modification: Option<&'a ast::ClassModification>) {
        if let (Some(recorder), Some(modification)) = (&mut self.recorder, modification)
            && recorder.met_modifications.insert(modification.span, ()).is_none()
        {
            recorder.modifications.push((inst, modification));
        }
    }

    /// The index, once the model is complete.
    pub fn finish_recording(&mut self) -> Option<References> {
        self.recorder.as_ref()?;
        self.record_imports();
        let mut next = 0;
        while let Some(&(inst, modification)) = self.recorder.as_ref()?.modifications.get(next) {
            self.record_modified_names(inst, modification);
            next += 1;
        }
        self.define_components();
        self.recorder.take().map(|recorder| recorder.references)
    }

    /// Imports that nobody needed mean something, too.
    fn record_imports(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        let mut bodies: Vec<(InstId, &'a ast::LongClass)> = recorder.bodies.values().copied().collect();
        bodies.sort_by_key(|&(inst, _)| inst);
        for (_, body) in bodies {
            for import in imports(body) {
                let package = self.record_path(&import.path.parts);
                if let (ast::ImportKind::Some(names), Some(Member::Class(package))) = (&import.kind, package) {
                    let inst = self.slot_instance(package);
                    for name in names {
                        if let Some(found) = self.member(inst, name.name) {
                            self.record(name.span, found);
                        }
                    }
                }
            }
        }
    }

    fn record_path(&mut self, parts: &[ast::Ident]) -> Option<Member> {
        let mut inst = self.tree.root;
        let mut found = None;
        for part in parts {
            if let Some(Member::Class(slot)) = found {
                inst = self.slot_instance(slot);
            }
            let member = self.member(inst, part.name)?;
            self.record(part.span, member);
            found = Some(member);
        }
        found
    }

    fn record_modified_names(&mut self, inst: InstId, modification: &'a ast::ClassModification) {
        for argument in &modification.arguments {
            match argument {
                ast::Argument::Modification(m) => {
                    let Some(inside) = self.record_modified(inst, &m.name.parts) else { continue };
                    let nested = m.modification.as_ref().and_then(|m| m.class.as_ref());
                    self.record_modification(inside, nested);
                }
                ast::Argument::Redeclaration(r) => match &r.kind {
                    ast::RedeclarationKind::Class(class) => self.record_element(inst, class.name),
                    ast::RedeclarationKind::Component(clause) => {
                        for component in &clause.components {
                            self.record_element(inst, component.name);
                        }
                    }
                },
                ast::Argument::BreakElement(name) => self.record_element(inst, *name),
                ast::Argument::BreakConnect { .. } | ast::Argument::Error(_) => {}
            }
        }
    }

    fn record_element(&mut self, inst: InstId, name: ast::Ident) {
        if let Some(member) = self.member(inst, name.name) {
            self.record(name.span, member);
        }
    }

    /// Records the parts of `a.b.c` in a modification; gives the instance behind the last one.
    fn record_modified(&mut self, inst: InstId, parts: &[ast::Ident]) -> Option<InstId> {
        let mut at = inst;
        for part in parts {
            let member = self.member(at, part.name)?;
            self.record(part.span, member);
            at = match member {
                Member::Class(slot) => self.slot_instance(slot),
                Member::Component(comp) => self.opened(comp)?,
            };
        }
        Some(at)
    }

    /// An element of a component that was opened.
    fn opened(&self, comp: CompId) -> Option<InstId> {
        match &self.tree[comp].memo.kind {
            Memo::Known(CompKind::Class(class)) => class.elements.first().copied(),
            _ => None,
        }
    }

    fn define_components(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        // Components are defined also where nobody uses them.
        for &(inst, _) in recorder.bodies.values() {
            for &comp in &self.tree[inst].members.components {
                recorder.components.entry(self.tree[comp].declared.span).or_insert(comp);
            }
        }
        let mut components: Vec<CompId> = recorder.components.values().copied().collect();
        components.sort_unstable();
        let definitions: Vec<Definition> = components.into_iter().map(|comp| self.component_definition(comp)).collect();
        if let Some(recorder) = &mut self.recorder {
            definitions.into_iter().for_each(|definition| recorder.references.define(definition));
        }
    }

    fn component_definition(&self, comp: CompId) -> Definition {
        let c = &self.tree[comp];
        // The scope of a redeclared component is where it was redeclared.
        let declared_in = if c.declared.constrained_to.is_some() { c.owner } else { c.declared.scope };
        let type_name = c.declared.clause.type_name.parts.last().map_or(Span::nowhere(), |part| part.span);
        let sizes = match &c.memo.dims {
            Memo::Known(sizes) => sizes.to_vec(),
            _ => Vec::new(),
        };
        Definition {
            span: c.declared.span,
            name: self.text(c.name).to_owned(),
            kind: DefinitionKind::Component {
                owner: self.library.qualified_name(self.tree[declared_in].class),
                prefixes: prefixes(c.declared.clause),
                type_name,
                sizes,
            },
            description: text_of(&c.declared.declaration.comment.description),
        }
    }
}

fn prefixes(clause: &ast::ComponentClause) -> Vec<&'static str> {
    let connection = clause.connection.map(|connection| match connection {
        ast::Connection::Flow => "flow",
        ast::Connection::Stream => "stream",
    });
    let variability = clause.variability.map(|variability| match variability {
        ast::Variability::Constant => "constant",
        ast::Variability::Parameter => "parameter",
        ast::Variability::Discrete => "discrete",
    });
    let direction = clause.direction.map(|direction| match direction {
        ast::Direction::Input => "input",
        ast::Direction::Output => "output",
    });
    [connection, variability, direction].into_iter().flatten().collect()
}

fn description(body: &ast::ClassBody) -> &ast::Description {
    match body {
        ast::ClassBody::Long(body) => &body.description,
        ast::ClassBody::Short(body) => &body.comment.description,
        ast::ClassBody::Enumeration(body) => &body.comment.description,
        ast::ClassBody::Derivative { comment, .. } => &comment.description,
    }
}

fn text_of(description: &ast::Description) -> String {
    description.parts.iter().map(|part| &*part.value).collect()
}
