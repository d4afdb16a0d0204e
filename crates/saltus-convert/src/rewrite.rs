//! One source rewritten: names of classes, of elements and of modifiers, and the version in `uses`.

use saltus_base::Span;
use saltus_library::annotations::{class_modification, named};
use saltus_syntax::ast::{
    Annotation, Argument, Call, ClassBody, ClassDef, ClassModification, ComponentClause, ComponentRef, ConstrainedBy,
    Element, ElementKind, ElementModification, Equation, EquationKind, Expr, ExprKind, ForIndex, Ident, Import,
    ImportKind, LongClass, Modification, Path, RedeclarationKind, RefPart, Section, Statement, StatementKind,
    Subscript,
};

use crate::edits::Edits;
use crate::facts::{Written, inside};
use crate::resolve::{Meaning, Resolver};
use crate::script::ModifierRule;

/// Something that has to be done by hand.
#[derive(Clone, Debug)]
pub struct Remark {
    pub span: Span,
    pub text: String,
}

/// The library that the sources use, and the version of it that they will use.
pub struct Target<'a> {
    pub library: &'a str,
    pub version: Option<&'a str>,
}

pub struct Rewriter<'a> {
    pub resolver: &'a Resolver<'a>,
    pub target: &'a Target<'a>,
    pub text: &'a str,
    pub edits: Edits,
    pub remarks: Vec<Remark>,
}

impl Rewriter<'_> {
    pub fn class(&mut self, class: &ClassDef, scope: &str) {
        let full = inside(scope, self.resolver.names.text(class.name.name));
        match &class.body {
            ClassBody::Long(body) => self.long_class(body, &full),
            ClassBody::Short(short) => {
                let ty = self.class_name(&short.base, scope);
                self.subscripts(&short.subscripts, scope);
                self.modified(short.modification.as_ref(), ty.as_deref(), scope);
            }
            ClassBody::Derivative { function, .. } => {
                self.class_name(function, scope);
            }
            ClassBody::Enumeration(_) => {}
        }
    }

    fn long_class(&mut self, body: &LongClass, full: &str) {
        for section in &body.sections {
            match section {
                Section::Elements { elements, .. } => elements.iter().for_each(|e| self.element(e, full)),
                Section::Equations { equations, .. } => self.equations(equations, full),
                Section::Algorithm { statements, .. } => self.statements(statements, full),
            }
        }
        if let Some(annotation) = &body.annotation {
            self.uses(annotation);
        }
    }

    /// `uses(Modelica(version = "3.2.3"))`
    fn uses(&mut self, annotation: &Annotation) {
        let names = self.resolver.names;
        let find = || -> Option<Span> {
            let library = names.find(self.target.library)?;
            let uses = named(&annotation.modification, names.find("uses")?).filter_map(class_modification);
            let library = uses.flat_map(|uses| named(uses, library)).next()?;
            let version = named(class_modification(library)?, names.find("version")?).next()?;
            Some(version.modification.as_ref()?.value.as_ref()?.expr.as_ref()?.span)
        };
        if let (Some(version), Some(span)) = (self.target.version, find()) {
            let new = format!("\"{version}\"");
            if self.text.get(span.start as usize..span.end as usize) != Some(new.as_str()) {
                self.edits.replace(span, new);
            }
        }
    }

    fn element(&mut self, element: &Element, full: &str) {
        match &element.kind {
            ElementKind::Import(import) => self.import(import),
            ElementKind::Extends(extends) => {
                let ty = self.class_name(&extends.base, full);
                self.modified(extends.modification.as_ref(), ty.as_deref(), full);
            }
            ElementKind::Class(nested) => {
                self.class(&nested.class, full);
                self.constrained(nested.constrained_by.as_ref(), full);
            }
            ElementKind::Components(clause) => self.components(clause, full),
            ElementKind::Error => {}
        }
    }

    fn components(&mut self, clause: &ComponentClause, scope: &str) {
        let ty = self.class_name(&clause.type_name, scope);
        self.subscripts(&clause.subscripts, scope);
        for component in &clause.components {
            self.subscripts(&component.subscripts, scope);
            self.modification(component.modification.as_ref(), ty.as_deref(), scope);
            let class = component.modification.as_ref().and_then(|m| m.class.as_ref());
            if let Some(ty) = ty.as_deref().filter(|_| class.is_none()) {
                let behind = component.subscripts.last().map_or(component.name.span.end, |_| {
                    component.modification.as_ref().map_or(component.name.span.end, |m| m.span.start)
                });
                self.add_modifiers(ty, component.name.span, behind);
            }
            if let Some(condition) = &component.condition {
                self.expr(condition, scope);
            }
        }
        self.constrained(clause.constrained_by.as_ref(), scope);
    }

    fn constrained(&mut self, by: Option<&ConstrainedBy>, scope: &str) {
        if let Some(by) = by {
            let ty = self.class_name(&by.base, scope);
            self.modified(by.modification.as_ref(), ty.as_deref(), scope);
        }
    }

    fn import(&mut self, import: &Import) {
        let parts: Vec<&str> = import.path.parts.iter().map(|p| self.resolver.names.text(p.name)).collect();
        let old = parts.join(".");
        let new = self.resolver.script.class(&old);
        if let ImportKind::Some(list) = &import.kind {
            let moves_along = |ident: &Ident| {
                let name = self.resolver.names.text(ident.name);
                self.resolver.script.class(&inside(&old, name)) == inside(&new, name)
            };
            if !list.iter().all(moves_along) {
                self.remark(import.path.span, "the names of this list are not in one package any more".to_owned());
                return;
            }
        }
        if new == old {
            return;
        }
        let alias = parts.last().copied().unwrap_or("");
        let keeps_alias = !matches!(import.kind, ImportKind::Qualified) || new.rsplit('.').next() == Some(alias);
        self.edits.replace(import.path.span, if keeps_alias { new } else { format!("{alias} = {new}") });
    }

    /// Renames a class where it is used; its old name.
    fn class_name(&mut self, path: &Path, scope: &str) -> Option<String> {
        let old = self.resolver.class(scope, &Written::of(path))?;
        for message in self.resolver.messages(&old) {
            self.remark(path.span, format!("`{old}`: {message}"));
        }
        let idents: Vec<Ident> = path.parts.clone();
        self.rename_class(&idents, path.is_global, scope);
        Some(old)
    }

    /// Renames as many parts of a name as denote a class; what an import takes care of stays.
    fn rename_class(&mut self, parts: &[Ident], is_global: bool, scope: &str) {
        let Some((first, rest)) = parts.split_first() else { return };
        let Meaning::Class(start) = self.resolver.first(scope, is_global, first.name) else { return };
        let names = self.resolver.names;
        let below = |start: String| rest.iter().fold(start, |name, part| inside(&name, names.text(part.name)));
        let expected = below(self.resolver.script.class(&start));
        let new = self.resolver.script.class(&below(start));
        if new != expected {
            let span = first.span.to(parts.last().map_or(first.span, |p| p.span));
            self.edits.replace(span, new);
        }
    }

    fn modified(&mut self, modification: Option<&ClassModification>, ty: Option<&str>, scope: &str) {
        if let Some(modification) = modification {
            self.arguments(modification, ty, scope);
        }
    }

    fn modification(&mut self, modification: Option<&Modification>, ty: Option<&str>, scope: &str) {
        let Some(modification) = modification else { return };
        self.modified(modification.class.as_ref(), ty, scope);
        if let Some(value) = modification.value.as_ref().and_then(|v| v.expr.as_ref()) {
            self.expr(value, scope);
        }
    }

    fn arguments(&mut self, modification: &ClassModification, ty: Option<&str>, scope: &str) {
        for argument in &modification.arguments {
            match argument {
                Argument::Modification(m) => self.argument(m, ty, scope),
                Argument::Redeclaration(redeclaration) => {
                    match &redeclaration.kind {
                        RedeclarationKind::Class(class) => self.class(class, scope),
                        RedeclarationKind::Component(clause) => self.components(clause, scope),
                    }
                    self.constrained(redeclaration.constrained_by.as_ref(), scope);
                }
                Argument::BreakElement(_) | Argument::BreakConnect { .. } | Argument::Error(_) => {}
            }
        }
        if let Some(ty) = ty {
            self.convert_modifiers(modification, ty);
        }
    }

    fn argument(&mut self, m: &ElementModification, ty: Option<&str>, scope: &str) {
        let ty = ty.and_then(|class| self.elements_of(class, &m.name.parts));
        self.modification(m.modification.as_ref(), ty.as_deref(), scope);
    }

    /// Renames `a.b.c` in a class, where a rule may be about several parts at once; the type of it.
    fn elements_of(&mut self, class: &str, parts: &[Ident]) -> Option<String> {
        let names = self.resolver.names;
        let (mut class, mut at) = (class.to_owned(), 0);
        while at < parts.len() {
            let several = (at + 2..=parts.len()).rev().find_map(|end| {
                let name = parts[at..end].iter().map(|p| names.text(p.name)).collect::<Vec<_>>().join(".");
                let span = parts[at].span.to(parts[end - 1].span);
                // Subscripts or blanks in between stay for the reader.
                let is_plain = self.text.get(span.start as usize..span.end as usize) == Some(name.as_str());
                Some((span, self.resolver.element(&class, &name).filter(|_| is_plain)?))
            });
            if let Some((span, new)) = several {
                self.edits.replace(span, new);
                return None;
            }
            class = self.element_of(&class, &parts[at])?;
            at += 1;
        }
        Some(class)
    }

    /// Renames an element of a class; the type of it.
    fn element_of(&mut self, class: &str, part: &Ident) -> Option<String> {
        let name = self.resolver.names.text(part.name);
        if let Some(new) = self.resolver.element(class, name) {
            self.edits.replace(part.span, new);
        }
        self.resolver.type_of(class, part.name)
    }

    /// Modifiers that a class has got are added to a component without any.
    fn add_modifiers(&mut self, ty: &str, span: Span, behind: u32) {
        let rules = self.resolver.modifiers(ty);
        let added: Vec<String> =
            rules.iter().flat_map(|rule| self.converted(rule, &|_| None).unwrap_or_default()).collect();
        if !added.is_empty() && behind == span.end {
            self.edits.insert(behind, format!("({})", added.join(", ")));
        } else if !added.is_empty() {
            self.remark(span, format!("add the modifiers {}", added.join(", ")));
        }
    }

    fn convert_modifiers(&mut self, modification: &ClassModification, ty: &str) {
        let rules = self.resolver.modifiers(ty);
        let is_plain = |a: &Argument| matches!(a, Argument::Modification(_) | Argument::Redeclaration(_));
        if rules.is_empty() || !modification.arguments.iter().all(is_plain) {
            return;
        }
        let simple = |argument: &Argument| match argument {
            Argument::Modification(m) => match m.name.parts.as_slice() {
                [one] => Some(self.resolver.names.text(one.name).to_owned()),
                _ => None,
            },
            _ => None,
        };
        let value = |name: &str| {
            let argument = modification.arguments.iter().find(|a| simple(a).as_deref() == Some(name))?;
            let Argument::Modification(m) = argument else { return None };
            let span = m.modification.as_ref()?.value.as_ref()?.expr.as_ref()?.span;
            Some(self.edits.apply(self.text, span.start as usize, span.end as usize))
        };
        let applied: Vec<(&ModifierRule, Vec<String>)> =
            rules.iter().filter_map(|rule| Some((*rule, self.converted(rule, &value)?))).collect();
        if applied.is_empty() {
            return;
        }
        let is_gone = |name: &str| applied.iter().any(|(rule, _)| rule.old.iter().any(|(old, _)| old == name));
        let kept = modification.arguments.iter().filter(|a| !simple(a).is_some_and(|name| is_gone(&name)));
        let kept_text = kept.filter_map(span_of).map(|s| self.edits.apply(self.text, s.start as usize, s.end as usize));
        let mut all: Vec<String> = kept_text.collect();
        for text in applied.into_iter().flat_map(|(_, new)| new) {
            let name = text.split('=').next().unwrap_or("").trim().to_owned();
            if !all.iter().any(|old| old.split(['=', '(']).next().unwrap_or("").trim() == name) {
                all.push(text);
            }
        }
        self.edits.replace_all(modification.span, format!("({})", all.join(", ")));
    }

    /// The new modifiers of a rule, if it applies.
    fn converted(&self, rule: &ModifierRule, value: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
        let is_given = rule.old.iter().any(|(name, _)| value(name).is_some());
        let has_defaults = rule.old.iter().all(|(_, default)| default.is_some());
        if !is_given && !has_defaults {
            return None;
        }
        let mut new = Vec::new();
        for (name, pattern) in &rule.new {
            let mut text = pattern.clone();
            for (old, default) in &rule.old {
                let mark = format!("%{old}%");
                if text.contains(&mark) {
                    let value = value(old).or_else(|| default.clone())?;
                    let is_simple = value.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
                    let alone = text == mark;
                    text = text.replace(&mark, &if is_simple || alone { value } else { format!("({value})") });
                }
            }
            new.push(format!("{name}={text}"));
        }
        Some(new)
    }

    fn equations(&mut self, equations: &[Equation], scope: &str) {
        for equation in equations {
            match &equation.kind {
                EquationKind::Equality { left, right } => {
                    self.expr(left, scope);
                    self.expr(right, scope);
                }
                EquationKind::Connect { from, to } => {
                    self.reference(from, scope);
                    self.reference(to, scope);
                }
                EquationKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.expr(condition, scope);
                        self.equations(body, scope);
                    }
                    otherwise.iter().for_each(|body| self.equations(body, scope));
                }
                EquationKind::For { indices, body } => {
                    self.indices(indices, scope);
                    self.equations(body, scope);
                }
                EquationKind::When { branches } => {
                    for (condition, body) in branches {
                        self.expr(condition, scope);
                        self.equations(body, scope);
                    }
                }
                EquationKind::Call(call) => self.call(call, scope),
                EquationKind::Error => {}
            }
        }
    }

    fn statements(&mut self, statements: &[Statement], scope: &str) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.reference(target, scope);
                    self.expr(value, scope);
                }
                StatementKind::AssignTuple { targets, call } => {
                    targets.iter().flatten().for_each(|target| self.reference(target, scope));
                    self.call(call, scope);
                }
                StatementKind::Call(call) => self.call(call, scope),
                StatementKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.expr(condition, scope);
                        self.statements(body, scope);
                    }
                    otherwise.iter().for_each(|body| self.statements(body, scope));
                }
                StatementKind::For { indices, body } => {
                    self.indices(indices, scope);
                    self.statements(body, scope);
                }
                StatementKind::While { condition, body } => {
                    self.expr(condition, scope);
                    self.statements(body, scope);
                }
                StatementKind::When { branches } => {
                    for (condition, body) in branches {
                        self.expr(condition, scope);
                        self.statements(body, scope);
                    }
                }
                StatementKind::Break | StatementKind::Return | StatementKind::Error => {}
            }
        }
    }

    fn indices(&mut self, indices: &[ForIndex], scope: &str) {
        indices.iter().filter_map(|i| i.range.as_ref()).for_each(|range| self.expr(range, scope));
    }

    fn subscripts(&mut self, subscripts: &[Subscript], scope: &str) {
        for subscript in subscripts {
            if let Subscript::Expr(e) = subscript {
                self.expr(e, scope);
            }
        }
    }

    fn expr(&mut self, e: &Expr, scope: &str) {
        match &e.kind {
            ExprKind::Ref(reference) => self.reference(reference, scope),
            ExprKind::Call(call) | ExprKind::PartialFunction(call) => self.call(call, scope),
            ExprKind::Unary(_, a) => self.expr(a, scope),
            ExprKind::Binary(_, a, b) => {
                self.expr(a, scope);
                self.expr(b, scope);
            }
            ExprKind::If(branches, otherwise) => {
                for (condition, value) in branches {
                    self.expr(condition, scope);
                    self.expr(value, scope);
                }
                self.expr(otherwise, scope);
            }
            ExprKind::Range { start, step, stop } => {
                self.expr(start, scope);
                step.iter().for_each(|step| self.expr(step, scope));
                self.expr(stop, scope);
            }
            ExprKind::Array(items) => items.iter().for_each(|item| self.expr(item, scope)),
            ExprKind::Comprehension(body, indices) => {
                self.expr(body, scope);
                self.indices(indices, scope);
            }
            ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|item| self.expr(item, scope)),
            ExprKind::Parenthesised(items) => items.iter().flatten().for_each(|item| self.expr(item, scope)),
            ExprKind::Access { base, subscripts, .. } => {
                self.expr(base, scope);
                self.subscripts(subscripts, scope);
            }
            ExprKind::Integer(_)
            | ExprKind::Real(_)
            | ExprKind::String(_)
            | ExprKind::Boolean(_)
            | ExprKind::End
            | ExprKind::Error => {}
        }
    }

    fn call(&mut self, call: &Call, scope: &str) {
        self.reference(&call.name, scope);
        let written = Written {
            is_global: call.name.is_global,
            parts: call.name.parts.iter().map(|part| part.name.name).collect(),
        };
        let function = self.resolver.class(scope, &written);
        call.arguments.iter().for_each(|argument| self.expr(argument, scope));
        for argument in &call.named {
            if let Some(function) = &function {
                self.element_of(function, &argument.name);
            }
            self.expr(&argument.value, scope);
        }
        self.indices(&call.iterators, scope);
    }

    fn reference(&mut self, reference: &ComponentRef, scope: &str) {
        for part in &reference.parts {
            self.subscripts(&part.subscripts, scope);
        }
        let Some((first, rest)) = reference.parts.split_first() else { return };
        let name = self.resolver.names.text(first.name.name);
        if !reference.is_global
            && let Some(new) = self.resolver.element(scope, name)
        {
            self.edits.replace(first.name.span, new);
        }
        match self.resolver.first(scope, reference.is_global, first.name.name) {
            Meaning::Component(ty) => {
                let rest: Vec<Ident> = rest.iter().map(|part| part.name).collect();
                ty.and_then(|class| self.elements_of(&class, &rest));
            }
            Meaning::Class(start) => self.class_reference(start, &reference.parts, reference.is_global, scope),
        }
    }

    /// `P.Constants.pi`, `P.f`: a class, or an element of one.
    fn class_reference(&mut self, start: String, parts: &[RefPart], is_global: bool, scope: &str) {
        let idents: Vec<Ident> = parts.iter().map(|part| part.name).collect();
        let mut class = start;
        for (k, part) in idents.iter().enumerate().skip(1) {
            let name = self.resolver.names.text(part.name);
            if let Some(new) = self.resolver.element(&class, name) {
                self.rename_class(&idents[..k], is_global, scope);
                self.edits.replace(part.span, new);
                return;
            }
            class = inside(&class, name);
        }
        self.rename_class(&idents, is_global, scope);
    }

    fn remark(&mut self, span: Span, text: String) {
        self.remarks.push(Remark { span, text });
    }
}

fn span_of(argument: &Argument) -> Option<Span> {
    match argument {
        Argument::Modification(m) => Some(m.span),
        Argument::Redeclaration(r) => Some(r.span),
        Argument::BreakElement(_) | Argument::BreakConnect { .. } | Argument::Error(_) => None,
    }
}
