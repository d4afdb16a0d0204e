//! What can be typed next.
//!
//! The kind of place comes from the tokens before the cursor ([`context`]), the names from the classes around it. Where a name
//! has a dot, only members of what stands before it are offered; in a modification only what can be modified; in a
//! `connect` only connectors.

pub(crate) mod context;
mod words;

use std::collections::HashSet;
use std::path::Path;

use saltus::Session;
use saltus_base::Name;
use saltus_frontend::{Declaration, Scope, Scopes, Symbol};
use saltus_library::Library;
use saltus_syntax::ast::{ClassBody, ClassKind, Direction, Section};

use self::context::{Context, FrameKind, Statement};
use crate::builtin;
use crate::file::File;
use crate::hover::{class_words, path_text, prefix_words};
use crate::resolve::{Resolver, called};
use crate::target::{SymbolKind, text_of};
use crate::walk;

#[derive(Clone, PartialEq, Debug)]
pub struct Completion {
    pub label: String,
    pub kind: SymbolKind,
    /// Such as the type of a component.
    pub detail: String,
    pub description: String,
    /// What is inserted, if that is not the label; `$1` and `$0` are places to go to.
    pub snippet: Option<String>,
    /// Better ones have smaller numbers.
    pub rank: u8,
}

/// Completions with the bytes that they replace.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Completions {
    pub start: u32,
    pub end: u32,
    pub items: Vec<Completion>,
}

pub(crate) fn complete(session: &Session, path: &Path, offset: u32) -> Completions {
    let Some(file) = File::open(session, path) else { return Completions::default() };
    let names = walk::names(file.tree, None);
    let class = file.class_at(&names, offset);
    let section = class.and_then(|class| section_at(&names.classes[class].definition.body, offset));
    let in_equations = matches!(section, Some(Section::Equations { .. } | Section::Algorithm { .. }));
    let context = context::context(file.text, offset, in_equations);
    let end = offset;
    let start = context.start.min(end);
    if context.in_text {
        return Completions { start, end, items: Vec::new() };
    }
    let mut resolver = Resolver::new(&file, &names);
    let Some(scope) = resolver.scope(class) else { return Completions { start, end, items: Vec::new() } };
    let mut completer = Completer {
        library: file.library,
        scopes: &mut resolver.scopes,
        scope,
        context: &context,
        in_equations,
        is_algorithm: matches!(section, Some(Section::Algorithm { .. })),
        is_top_level: class.is_none(),
        found: Vec::new(),
        seen: HashSet::new(),
    };
    completer.complete();
    Completions { start, end, items: completer.found }
}

/// The section of a class that a byte belongs to.
fn section_at(body: &ClassBody, offset: u32) -> Option<&Section> {
    let ClassBody::Long(body) = body else { return None };
    let begins_before = |section: &&Section| match section {
        Section::Elements { keyword, .. } => keyword.is_none_or(|keyword| keyword.end < offset),
        Section::Equations { keyword, .. } | Section::Algorithm { keyword, .. } => keyword.end < offset,
    };
    body.sections.iter().rev().find(begins_before)
}

struct Completer<'a, 's> {
    library: &'a Library,
    scopes: &'s mut Scopes<'a>,
    scope: Scope,
    context: &'s Context<'s>,
    in_equations: bool,
    is_algorithm: bool,
    is_top_level: bool,
    found: Vec<Completion>,
    seen: HashSet<String>,
}

impl<'a> Completer<'a, '_> {
    fn complete(&mut self) {
        let context = self.context;
        if let Some(path) = &context.before_dot {
            return self.behind_dot(path);
        }
        match context.statement {
            Statement::Import | Statement::Within => return self.top_level(),
            Statement::End => return self.end_name(),
            Statement::Extends if context.frames.is_empty() => return self.visible(true),
            _ => {}
        }
        match context.frames.last().map(|frame| &frame.kind) {
            Some(FrameKind::Modifies(_) | FrameKind::ModifiesPart(_)) if !context.in_value => self.modifiers(),
            Some(FrameKind::Annotation(outer)) if !context.in_value => {
                let names = words::annotation_names(outer);
                names.iter().for_each(|name| self.add_word(name, SymbolKind::Attribute, 0));
            }
            Some(FrameKind::Call(function)) if function.as_slice() == ["connect"] => self.connectors(),
            Some(FrameKind::Call(function)) => {
                if !context.in_value {
                    self.arguments(function);
                }
                self.expression();
            }
            Some(_) => {
                if self.in_annotation() {
                    words::ANNOTATION_ENUMERATIONS
                        .iter()
                        .for_each(|(name, _)| self.add_word(name, SymbolKind::Type, 0));
                }
                self.expression();
            }
            None if context.in_value && !self.in_equations => self.expression(),
            None if self.in_equations => {
                self.expression();
                self.keywords(if self.is_algorithm { words::IN_ALGORITHM } else { words::IN_EQUATIONS });
            }
            // A name for the new component: nothing that we know.
            None if context.after_path => {}
            None => {
                if !self.is_top_level {
                    self.visible(true);
                }
                self.keywords(if self.is_top_level { words::AT_TOP_LEVEL } else { words::IN_DECLARATIONS });
            }
        }
    }

    fn intern(&self, word: &str) -> Name {
        self.library.intern(word)
    }

    /// What a path of words means here.
    fn resolve(&mut self, path: &[&str]) -> Option<Symbol> {
        let (first, rest) = path.split_first()?;
        let name = self.intern(first);
        let mut found = match self.context.statement {
            Statement::Import | Statement::Within => self.scopes.member(self.scopes.root(), name)?,
            _ => self.scopes.lookup(self.scope, name)?,
        };
        for word in rest {
            let inside = self.scopes.inside(found)?;
            found = self.scopes.member(inside, self.library.intern(word))?;
        }
        Some(found)
    }

    fn behind_dot(&mut self, path: &[&str]) {
        if path.is_empty() {
            return self.top_level();
        }
        let Some(symbol) = self.resolve(path) else {
            if builtin::is_operator_package(path[0]) {
                let operators = ["branch", "root", "potentialRoot", "isRoot", "rooted", "uniqueRoot"];
                operators.iter().filter_map(|name| builtin::find(name)).for_each(|b| self.add_builtin(b));
            }
            if let [name] = path {
                let literals = words::literals(name, self.in_annotation());
                literals.iter().for_each(|word| self.add_word(word, SymbolKind::Literal, 0));
            }
            return;
        };
        let Some(inside) = self.scopes.inside(symbol) else { return };
        let wants_class = self.wants_class();
        let is_import = self.context.statement == Statement::Import;
        let is_class = self.scopes.class_id(symbol).is_some();
        for member in self.scopes.members(inside) {
            let Some(declaration) = self.scopes.declaration(member) else { continue };
            let is_offered = match declaration {
                _ if declaration.is_protected() => false,
                // Of the classes in a component its functions can be called.
                Declaration::Class { definition, .. } => {
                    is_class || !wants_class && definition.kind == ClassKind::Function
                }
                Declaration::Component { clause, .. } => {
                    let is_constant = SymbolKind::of_component(clause) == SymbolKind::Constant;
                    !wants_class && (!is_class || is_constant) || is_import && is_class && is_constant
                }
                Declaration::Literal { .. } => is_class && !wants_class,
            };
            if is_offered {
                self.add_symbol(member, None, 0);
            }
        }
    }

    fn in_annotation(&self) -> bool {
        self.context.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Annotation(_)))
    }

    /// Only a class can stand here.
    fn wants_class(&self) -> bool {
        match self.context.statement {
            Statement::Import | Statement::Within | Statement::Extends | Statement::ShortClass => {
                self.context.frames.is_empty()
            }
            _ => !self.in_equations && !self.context.in_value && self.context.frames.is_empty(),
        }
    }

    fn top_level(&mut self) {
        for name in self.library.top_level_names() {
            let text = self.library.text(name);
            // Not loaded for this: what it is, its file would tell.
            self.add_word(text, SymbolKind::Package, 1);
        }
    }

    fn end_name(&mut self) {
        let class = self.scopes.class_of_scope(self.scope);
        if let Some(name) = self.library.name_of(class) {
            self.add_word(self.library.text(name), SymbolKind::Class, 0);
        }
        ["if", "for", "when", "while"].iter().for_each(|word| self.add_word(word, SymbolKind::Keyword, 1));
    }

    /// All names that can be used here, those of inner classes first.
    fn visible(&mut self, classes_only: bool) {
        let mut at = Some(self.scope);
        let mut rank = 0;
        while let Some(scope) = at {
            if scope == self.scopes.root() {
                break;
            }
            for member in self.scopes.members(scope) {
                let is_class = self.scopes.class_id(member).is_some();
                // Variables of enclosing classes cannot be used, constants can.
                let is_usable = is_class || rank == 0 || self.is_constant(member);
                if is_usable && (is_class || !classes_only) {
                    self.add_symbol(member, None, rank.min(5));
                }
            }
            for (name, symbol) in self.scopes.imported(scope) {
                let alias = self.library.text(name);
                self.add_symbol(symbol, Some(alias), rank.min(5));
            }
            at = self.scopes.enclosing(scope);
            rank += 1;
        }
        for name in ["Real", "Integer", "Boolean", "String"] {
            self.add_word(name, SymbolKind::Type, 3);
        }
        for name in self.library.top_level_names() {
            self.add_word(self.library.text(name), SymbolKind::Package, 6);
        }
    }

    fn is_constant(&self, symbol: Symbol) -> bool {
        matches!(self.scopes.declaration(symbol), Some(Declaration::Component { clause, .. }) if SymbolKind::of_component(clause) == SymbolKind::Constant)
    }

    fn expression(&mut self) {
        self.visible(false);
        for builtin in builtin::all() {
            self.add_builtin(builtin);
        }
        self.keywords(words::IN_EXPRESSIONS);
    }

    /// What the innermost modification can say.
    fn modifiers(&mut self) {
        let context = self.context;
        let mut target: Option<Symbol> = None;
        for frame in &context.frames {
            target = match &frame.kind {
                FrameKind::Modifies(class) => self.resolve(class),
                FrameKind::ModifiesPart(parts) => parts
                    .iter()
                    .try_fold(target, |at, part| {
                        let inside = at.and_then(|at| self.scopes.inside(at))?;
                        Some(self.scopes.member(inside, self.library.intern(part)))
                    })
                    .flatten(),
                _ => target,
            };
        }
        let Some(target) = target else { return };
        let taken: Vec<&str> = context.frames.last().map(|frame| frame.named.clone()).unwrap_or_default();
        if let Some(inside) = self.scopes.inside(target) {
            for member in self.scopes.members(inside) {
                let Some(declaration) = self.scopes.declaration(member) else { continue };
                let name = self.library.text(declaration.ident().name);
                let is_modifiable = match declaration {
                    Declaration::Component { clause, .. } => {
                        !clause.prefixes.is_final && SymbolKind::of_component(clause) != SymbolKind::Constant
                    }
                    Declaration::Class { id, .. } => {
                        self.library.element(id).is_some_and(|element| element.prefixes.is_replaceable)
                    }
                    Declaration::Literal { .. } => false,
                };
                if is_modifiable && !declaration.is_protected() && !taken.contains(&name) {
                    let is_parameter = matches!(declaration, Declaration::Component { clause, .. } if SymbolKind::of_component(clause) == SymbolKind::Parameter);
                    self.add_symbol(member, None, u8::from(!is_parameter));
                }
            }
        }
        for name in self.scopes.attributes(target).iter().filter(|name| !taken.contains(name)) {
            self.add_word(name, SymbolKind::Attribute, 0);
        }
        self.keywords(words::IN_MODIFICATIONS);
    }

    /// Inputs of the function that is called, as named arguments.
    fn arguments(&mut self, function: &[&str]) {
        let function = self.resolve(function);
        let Some(inside) = function.and_then(|function| called(self.scopes, function)) else { return };
        let taken: Vec<&str> = self.context.frames.last().map(|frame| frame.named.clone()).unwrap_or_default();
        for member in self.scopes.members(inside) {
            if let Some(Declaration::Component { clause, component, .. }) = self.scopes.declaration(member)
                && clause.direction == Some(Direction::Input)
                && !taken.contains(&self.library.text(component.name.name))
            {
                let name = self.library.text(component.name.name);
                self.add_symbol(member, None, 0);
                if let Some(added) = self.found.last_mut().filter(|added| added.label == name) {
                    added.snippet = Some(format!("{name} = $0"));
                }
            }
        }
    }

    /// Connectors of the class and of its components; those like the first argument before others.
    fn connectors(&mut self) {
        let is_second = self.context.frames.last().is_some_and(|frame| frame.n_commas > 0);
        let mut all = Vec::new();
        for member in self.scopes.members(self.scope) {
            let Some(Declaration::Component { component, .. }) = self.scopes.declaration(member) else { continue };
            let name = self.library.text(component.name.name);
            if self.is_connector(member) {
                all.push((name.to_owned(), member));
                continue;
            }
            let Some(inside) = self.scopes.inside(member) else { continue };
            for part in self.scopes.members(inside) {
                let Some(declaration @ Declaration::Component { .. }) = self.scopes.declaration(part) else { continue };
                if !declaration.is_protected() && self.is_connector(part) {
                    all.push((format!("{name}.{}", self.library.text(declaration.ident().name)), part));
                }
            }
        }
        let first = self.first_argument().filter(|_| is_second).map(|first| self.connector_shape(first));
        for (label, symbol) in all {
            let fits = first.as_ref().is_none_or(|first| *first == self.connector_shape(symbol));
            self.add_symbol(symbol, Some(&label), if fits { 0 } else { 2 });
        }
    }

    fn is_connector(&mut self, symbol: Symbol) -> bool {
        let class = self.scopes.class_of(symbol).and_then(|class| self.scopes.declaration(class));
        matches!(class, Some(Declaration::Class { definition, .. })
            if matches!(definition.kind, ClassKind::Connector | ClassKind::ExpandableConnector))
    }

    /// The first argument of the open call, which the tokens before the cursor have.
    fn first_argument(&mut self) -> Option<Symbol> {
        let words = self.context.first_argument.clone();
        self.resolve(&words)
    }

    /// Names of the variables of a connector: what connectors have to have in common.
    fn connector_shape(&mut self, symbol: Symbol) -> Vec<String> {
        let inside = self.scopes.inside(symbol);
        let members = inside.map(|inside| self.scopes.members(inside)).unwrap_or_default();
        let declarations = members.into_iter().filter_map(|member| self.scopes.declaration(member));
        let components = declarations.filter(|d| matches!(d, Declaration::Component { .. }));
        let mut names: Vec<String> = components.map(|d| self.library.text(d.ident().name).to_owned()).collect();
        if names.is_empty() {
            names.extend(self.scopes.base_type(symbol).map(|base| format!("{base:?}")));
        }
        names.sort();
        names
    }

    fn keywords(&mut self, words: &[(&str, Option<&str>)]) {
        for (word, snippet) in words {
            self.add_word(word, if snippet.is_some() { SymbolKind::Snippet } else { SymbolKind::Keyword }, 7);
            if let Some(last) = self.found.last_mut().filter(|last| last.label == *word) {
                last.snippet = snippet.map(str::to_owned);
            }
        }
    }

    fn add_word(&mut self, word: &str, kind: SymbolKind, rank: u8) {
        self.add(Completion {
            label: word.to_owned(),
            kind,
            detail: String::new(),
            description: String::new(),
            snippet: None,
            rank,
        });
    }

    fn add_builtin(&mut self, builtin: &builtin::Builtin) {
        self.add(Completion {
            label: builtin.name.to_owned(),
            kind: SymbolKind::Builtin,
            detail: builtin.signature.to_owned(),
            description: builtin.description.to_owned(),
            snippet: builtin.is_function.then(|| format!("{}($0)", builtin.name)),
            rank: 6,
        });
    }

    fn add_symbol(&mut self, symbol: Symbol, alias: Option<&str>, rank: u8) {
        let Some(declaration) = self.scopes.declaration(symbol) else { return };
        let detail = match declaration {
            Declaration::Class { definition, .. } => class_words(definition),
            Declaration::Component { clause, .. } => {
                let mut words: Vec<String> = prefix_words(clause).into_iter().map(str::to_owned).collect();
                words.push(path_text(self.library, &clause.type_name));
                words.join(" ")
            }
            Declaration::Literal { .. } => String::new(),
        };
        let name = self.library.text(declaration.ident().name);
        self.add(Completion {
            label: alias.unwrap_or(name).to_owned(),
            kind: SymbolKind::of(declaration),
            detail,
            description: text_of(declaration.description()),
            snippet: None,
            rank,
        });
    }

    fn add(&mut self, completion: Completion) {
        if self.seen.insert(completion.label.clone()) {
            self.found.push(completion);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn labels(text: &str) -> Vec<String> {
        let fixture = Fixture::new(text);
        let found = fixture.analysis().complete(&fixture.path, fixture.offset);
        found.items.into_iter().map(|item| item.label).collect()
    }

    /// Those with the best rank.
    fn best(text: &str) -> Vec<String> {
        let fixture = Fixture::new(text);
        let found = fixture.analysis().complete(&fixture.path, fixture.offset);
        found.items.into_iter().filter(|item| item.rank == 0).map(|item| item.label).collect()
    }

    const PARTS: &str = "package P
      connector Pin Real v; flow Real i; end Pin;
      connector Flange Real phi; flow Real tau; end Flange;
      partial model TwoPin Pin p; Pin n; end TwoPin;
      model Resistor extends TwoPin; parameter Real R = 1; protected Real hidden; end Resistor;
      model Shaft Flange a; end Shaft;
      function f input Real u; input Real k; output Real y; algorithm y := u; end f;
      type E = enumeration(one, two); end P;\n";

    fn after_parts(text: &str) -> String {
        format!("{PARTS}{text}")
    }

    #[test]
    fn members_behind_a_dot() {
        assert_eq!(labels(&after_parts("model M P.Resistor r; equation r.$0 end M;")), ["p", "n", "R"]);
        assert_eq!(labels(&after_parts("model M P.Resistor r; equation r.p.$0 end M;")), ["v", "i"]);
        assert_eq!(labels(&after_parts("model M P.E e = P.E.$0; end M;")), ["one", "two"]);
        let classes = ["Pin", "Flange", "TwoPin", "Resistor", "Shaft", "f", "E"];
        assert_eq!(labels(&after_parts("model M P.$0 end M;")), classes);
        assert_eq!(labels(&after_parts("model M extends P.T$0; end M;")), classes);
        assert_eq!(labels(&after_parts("model M import P.$0")), classes);
    }

    /// A function can be called through a component that has it, its other classes cannot be used.
    #[test]
    fn functions_of_components() {
        let field = "model Field Real g; function at input Real x; output Real y; algorithm y := x; end at; model A end A; end Field; ";
        assert_eq!(labels(&format!("{field} model M Field field; Real y = field.$0; end M;")), ["g", "at"]);
        assert_eq!(labels(&format!("{field} model M Field field; equation field.$0 end M;")), ["g", "at"]);
    }

    #[test]
    fn the_typed_part_is_replaced() {
        let fixture = Fixture::new(&after_parts("model M P.Resistor res; equation res.R$0 = 1; end M;"));
        let found = fixture.analysis().complete(&fixture.path, fixture.offset);
        assert_eq!(fixture.text().get(found.start as usize..found.end as usize), Some("R"));
    }

    #[test]
    fn modifications_offer_what_can_be_modified() {
        assert_eq!(best(&after_parts("model M P.Resistor r($0); end M;")), ["R"]);
        assert!(best(&after_parts("model M P.Resistor r(R(st$0)); end M;")).contains(&"start".to_string()));
        assert!(!best(&after_parts("model M Real x(start = 1, $0); end M;")).contains(&"start".to_string()));
        assert!(best(&after_parts("model M Real x(start = 1, $0); end M;")).contains(&"fixed".to_string()));
        assert_eq!(best(&after_parts("model M extends P.Resistor($0")), ["R"]);
    }

    #[test]
    fn calls_offer_their_arguments() {
        assert_eq!(best(&after_parts("model M Real x = P.f($0); end M;"))[..2], ["u", "k"]);
        assert_eq!(best(&after_parts("model M Real x = P.f(u = 1, $0); end M;"))[..1], ["k"]);
    }

    #[test]
    fn connect_offers_connectors_that_fit() {
        let model = "model M P.Resistor r; P.Shaft s; P.Pin pin; equation connect(pin, $0); end M;";
        assert_eq!(best(&after_parts(model)), ["r.p", "r.n", "pin"]);
    }

    #[test]
    fn names_in_scope() {
        let found = labels("package P constant Real c = 1; model M Real x; Real y = $0; end M; end P;");
        for wanted in ["x", "y", "c", "M", "P", "der", "if", "time"] {
            assert!(found.contains(&wanted.to_string()), "{wanted}: {found:?}");
        }
        assert!(!found.contains(&"equation".to_string()));
        let found = labels("model M Real x; equation $0 end M;");
        assert!(found.contains(&"x".to_string()) && found.contains(&"connect".to_string()), "{found:?}");
        let found = labels("model M $0 end M;");
        assert!(found.contains(&"parameter".to_string()) && found.contains(&"Real".to_string()), "{found:?}");
    }

    #[test]
    fn nothing_in_texts_and_new_names() {
        assert_eq!(labels("model M Real x \"des$0\"; end M;"), [""; 0]);
        assert_eq!(labels("model M // com$0\n end M;"), [""; 0]);
        assert_eq!(labels("model M Real $0; end M;"), [""; 0]);
    }

    #[test]
    fn annotations_know_their_enumerations() {
        let text = "model M annotation(Icon(graphics = {Line(pattern = LinePattern.$0)})); end M;";
        assert!(labels(text).contains(&"DashDot".to_string()));
        let text = "model M annotation(Icon(graphics = {Line(pattern = $0)})); end M;";
        assert!(labels(text).contains(&"LinePattern".to_string()));
        assert!(labels("model M Real x = LinePattern.$0; end M;").is_empty());
        assert!(labels("model M Real x(stateSelect = StateSelect.$0); end M;").contains(&"prefer".to_string()));
    }

    #[test]
    fn constants_can_be_imported() {
        let package = "package P constant Real c = 1; parameter Real p = 1; model A end A; end P; ";
        assert_eq!(labels(&format!("{package} model M import P.$0; end M;")), ["c", "A"]);
    }

    #[test]
    fn imports_and_ends() {
        assert!(labels("package P end P; model M import $0; end M;").contains(&"P".to_string()));
        assert_eq!(labels("model M Real x; end $0;")[0], "M");
    }
}
