//! The unnamed enclosing class of all top-level classes: predefined types, and where a model's instance begins
//! (specification 4.8, 4.9).

use saltus_base::{Diagnostic, FileId, Index, Interner, Severity};
use saltus_library::{ClassId, Library};
use saltus_syntax::{ast, parse_component_ref, parse_expression};

use crate::diagnostics as d;
use crate::instance::{Member, SlotId};
use crate::modifier::ModRef;
use crate::record::Recorder;
use crate::state::{
    Budget, Checks, Context, Functions, Imports, Messages, Network, Overconstrained, Request, Sizes, Templates, Tree,
    Types,
};
use crate::words::Words;
use crate::{Front, Options, Purpose};

/// The predefined types, as far as they can be said in the language itself.
const PREDEFINED: &str = "\
type Real end Real;
type Integer end Integer;
type Boolean end Boolean;
type String end String;
type Clock end Clock;
type StateSelect = enumeration(never, avoid, default, prefer, always);
type AssertionLevel = enumeration(warning, error);
partial class ExternalObject end ExternalObject;
";

impl<'a> Front<'a> {
    pub fn new(library: &'a Library, options: &Options) -> Front<'a> {
        let empty_class = predefined_class(library, "Real");
        Front {
            library,
            words: Words::new(library),
            request: Request { purpose: options.purpose, class: None, settings: None, allow_partial: false },
            budget: Budget { limits: options.limits, ..Budget::default() },
            messages: Messages::default(),
            recorder: options.references.then(Recorder::default),
            tree: Tree::new(library.root(), empty_class),
            imports: Imports::default(),
            sizes: Sizes::default(),
            types: Types::new(library),
            functions: Functions::default(),
            context: Context::default(),
            network: Network::default(),
            overconstrained: Overconstrained::default(),
            checks: Checks::default(),
            templates: Templates { fewest: options.kept_components, ..Templates::default() },
        }
    }

    /// The class as a member of the instance of its package.
    pub fn slot_of_class(&mut self, class: ClassId) -> Option<SlotId> {
        let mut path = Vec::new();
        let mut at = class;
        while let (Some(name), Some(parent)) = (self.library.name_of(at), self.library.parent(at)) {
            path.push(name);
            at = parent;
        }
        let mut inst = self.tree.root;
        let mut slot = None;
        while let Some(name) = path.pop() {
            let Some(Member::Class(found)) = self.member(inst, name) else {
                let text = self.library.qualified_name(class);
                let span = self.library.definition(class).map_or(saltus_base::Span::nowhere(), |c| c.name.span);
                self.report(d::not_a_class(&text, span));
                return None;
            };
            slot = Some(found);
            if !path.is_empty() {
                inst = self.slot_instance(found);
            }
        }
        slot
    }

    /// Only models, blocks and plain classes can be simulated; the others can be checked.
    pub fn check_model(&mut self, slot: SlotId) {
        let definition = self.tree[slot].definition;
        let kind = match definition.kind {
            ast::ClassKind::Package => "package",
            ast::ClassKind::Function | ast::ClassKind::OperatorFunction => "function",
            ast::ClassKind::Operator => "operator",
            _ => {
                if definition.kind == ast::ClassKind::Type && self.simple_type(slot).is_none() {
                    let class = self.library.qualified_name(self.tree[slot].class);
                    self.report(d::not_a_simple_type(&class, definition.name.span));
                }
                self.request.allow_partial = definition.is_partial;
                return;
            }
        };
        let class = self.library.qualified_name(self.tree[slot].class);
        self.report(d::not_a_model(&class, kind, definition.name.span));
    }

    /// A partial model is checked but not simulated. A short class made from a partial one is partial (specification 4.6.2).
    pub fn check_partial_model(&mut self, slot: SlotId) {
        self.expand(self.tree.model);
        if self.partial_class(self.tree.model).is_none() {
            return;
        }
        self.request.allow_partial = true;
        if self.request.purpose == Purpose::Simulate {
            let class = self.library.qualified_name(self.tree[slot].class);
            self.report(d::partial_model(&class, self.tree[slot].definition.name.span));
        }
    }

    /// Checks a function or a package, which have no equations; `false` for every other class.
    pub fn check_without_equations(&mut self, slot: SlotId) -> bool {
        let inst = match self.tree[slot].definition.kind {
            ast::ClassKind::Function | ast::ClassKind::OperatorFunction => {
                self.request.allow_partial = self.tree[slot].definition.is_partial;
                let function = self.function_of(slot);
                self.function_body(function);
                self.finish_checks();
                self.forget_open_values();
                return true;
            }
            ast::ClassKind::Package | ast::ClassKind::Operator => self.slot_instance(slot),
            _ => return false,
        };
        self.request.allow_partial = self.tree[slot].definition.is_partial;
        self.expand(inst);
        for comp in self.tree[inst].members.components.clone() {
            self.check_constant(comp);
        }
        self.finish_checks();
        self.forget_open_values();
        true
    }

    /// The rules that are looked at once everything else is there.
    pub fn finish_checks(&mut self) {
        self.check_unused_imports();
        self.check_duplicates();
        self.check_redeclarations();
        self.check_outer_directions();
        self.check_must_connect();
        self.check_connect_once();
    }

    /// Modifications from outside, as if the model were declared with them.
    pub fn overrides(&mut self, class: ClassId, overrides: &[(String, String)]) -> ModRef<'a> {
        let mut arguments = Vec::with_capacity(overrides.len());
        for (name, value) in overrides {
            match wrong_override(name, value) {
                Some(wrong) => self.report(wrong),
                None => arguments.push(format!("  {name} = {value}")),
            }
        }
        if arguments.is_empty() {
            return None;
        }
        let base = self.library.qualified_name(class);
        // A line each, because messages show the line.
        let text = format!("model '$set' = {base}(\n{}\n);\n", arguments.join(",\n"));
        let id = match self.request.settings {
            Some(known) => known,
            None => *self.library.load_text("--set", &text).first()?,
        };
        self.request.settings = Some(id);
        match &self.library.definition(id)?.body {
            ast::ClassBody::Short(short) => short.modification.as_ref().map(|m| self.class_modifier(m, self.tree.root)),
            _ => None,
        }
    }
}

/// The texts become part of a modification: a value that closes a bracket or begins another argument would change more than its
/// variable.
fn wrong_override(name: &str, value: &str) -> Option<Diagnostic> {
    let mut names = Interner::new();
    let nowhere = FileId::from_usize(0);
    let (reference, found) = parse_component_ref(nowhere, name, &mut names);
    if found.has_errors() || reference.parts.iter().any(|part| !part.subscripts.is_empty()) {
        return Some(d::override_name(name, value));
    }
    let (_, found) = parse_expression(nowhere, value, &mut names);
    let first = found.iter().find(|d| d.severity == Severity::Error)?;
    Some(d::override_value(name, value, &first.message))
}

/// Loads the predefined classes once per library.
fn predefined_class<'a>(library: &'a Library, name: &str) -> &'a ast::ClassDef {
    if library.find("ExternalObject").is_none() {
        library.load_text("<predefined>", PREDEFINED);
    }
    library
        .find(name)
        .and_then(|class| library.definition(class))
        .unwrap_or_else(|| unreachable!("the predefined text declares `{name}`"))
}
