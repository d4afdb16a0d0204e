//! Annotations that matter to the meaning of a model (specification chapters 12.7, 12.8, 18).

use saltus_base::Name;
use saltus_flat as flat;
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, InstId, Member};

impl<'a> Front<'a> {
    /// `name = true` in an annotation.
    pub fn annotation_flag(&self, annotation: Option<&ast::Annotation>, name: Name) -> bool {
        annotation
            .and_then(|a| argument(&a.modification, name))
            .and_then(value)
            .is_some_and(|e| matches!(e.kind, ast::ExprKind::Boolean(true)))
    }

    /// `name = false` in an annotation.
    pub fn annotation_forbids(&self, annotation: Option<&ast::Annotation>, name: Name) -> bool {
        annotation
            .and_then(|a| argument(&a.modification, name))
            .and_then(value)
            .is_some_and(|e| matches!(e.kind, ast::ExprKind::Boolean(false)))
    }

    /// What `Evaluate` says about a parameter: the outermost component around it that says something decides, then its own
    /// declaration, then its type (specification 18.6).
    pub fn evaluate_annotation(&mut self, comp: CompId) -> Option<bool> {
        let mut found = None;
        let mut at = Some(comp);
        while let Some(comp) = at {
            let declared = &self.tree[comp].declared;
            found = self.evaluate_in(declared.declaration.comment.annotation.as_ref()).or(found);
            at = self.tree[self.tree[comp].owner].owner;
        }
        found.or_else(|| self.evaluate_annotation_of_type(comp))
    }

    fn evaluate_in(&self, annotation: Option<&ast::Annotation>) -> Option<bool> {
        let is_true = self.annotation_flag(annotation, self.words.evaluate);
        (is_true || self.annotation_forbids(annotation, self.words.evaluate)).then_some(is_true)
    }

    /// That of the type or of the next one that it is made from.
    fn evaluate_annotation_of_type(&mut self, comp: CompId) -> Option<bool> {
        let (mut scope, mut path) = (self.tree[comp].declared.scope, &self.tree[comp].declared.clause.type_name);
        let mut seen = Vec::new();
        loop {
            let slot = self.lookup_class(scope, path)?;
            let definition = self.tree[slot].definition;
            if let Some(wish) = self.evaluate_in(class_annotation(definition)) {
                return Some(wish);
            }
            let ast::ClassBody::Short(short) = &definition.body else { return None };
            if seen.contains(&slot) {
                return None;
            }
            seen.push(slot);
            (scope, path) = (self.tree[slot].scope, &short.base);
        }
    }

    /// Whether `absoluteValue` says that values are differences; nothing if it is not there.
    pub fn difference_in(&self, annotation: Option<&ast::Annotation>) -> Option<bool> {
        let is_difference = self.annotation_forbids(annotation, self.words.absolute_value);
        (is_difference || self.annotation_flag(annotation, self.words.absolute_value)).then_some(is_difference)
    }

    /// `name = "text"` or `name = {"text", "text"}` in an annotation.
    pub fn annotation_strings(&self, annotation: &ast::Annotation, name: Name) -> Vec<String> {
        let Some(e) = argument(&annotation.modification, name).and_then(value) else { return Vec::new() };
        match &e.kind {
            ast::ExprKind::String(text) => vec![text.to_string()],
            ast::ExprKind::Array(items) => items
                .iter()
                .filter_map(|e| match &e.kind {
                    ast::ExprKind::String(text) => Some(text.to_string()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The `experiment` annotation of a class.
    pub fn experiment_of(&mut self, definition: &ast::ClassDef) -> flat::Experiment {
        let mut given =
            class_annotation(definition).into_iter().flat_map(|a| &a.modification.arguments).filter_map(|a| match a {
                ast::Argument::Modification(m) if m.name.parts.first()?.name == self.words.experiment => Some(m.span),
                _ => None,
            });
        if let (Some(first), Some(second)) = (given.next(), given.next()) {
            self.report(d::second_experiment(second, first));
        }
        let number = |name: Name| {
            let annotation = class_annotation(definition)?;
            let experiment = argument(&annotation.modification, self.words.experiment)?;
            let class = experiment.modification.as_ref()?.class.as_ref()?;
            literal_number(argument(class, name).and_then(value)?)
        };
        flat::Experiment {
            start_time: number(self.words.start_time),
            stop_time: number(self.words.stop_time),
            interval: number(self.words.interval),
            tolerance: number(self.words.tolerance),
        }
    }

    /// What a class says to a user who forgot the `inner` component.
    pub fn missing_inner_message(&mut self, scope: InstId, path: &ast::Path) -> Option<String> {
        let slot = self.lookup_class(scope, path)?;
        let annotation = class_annotation(self.tree[slot].definition)?;
        self.annotation_strings(annotation, self.words.missing_inner_message).into_iter().next()
    }

    /// What a declaration says to a user whose equations do not determine the variable (specification 18.10); those around it count as well.
    pub fn unassigned_message(&self, comp: CompId) -> Option<String> {
        let mut at = Some(comp);
        while let Some(comp) = at {
            let annotation = self.tree[comp].declared.declaration.comment.annotation.as_ref();
            let texts = annotation.map(|a| self.annotation_strings(a, self.words.unassigned_message));
            if let Some(text) = texts.and_then(|texts| texts.into_iter().find(|text| !text.is_empty())) {
                return Some(text);
            }
            at = self.tree[self.tree[comp].owner].owner;
        }
        None
    }

    /// Inlining, smoothness, derivatives and inverses of a function.
    pub fn read_function_annotations(&mut self, inst: InstId, function: &mut flat::Function) {
        let Some(definition) = self.tree[inst].definition else { return };
        // What is said about a function does not hold for its partial derivative.
        if !matches!(definition.body, ast::ClassBody::Derivative { .. }) {
            for base in self.tree[inst].members.bases.clone() {
                self.read_function_annotations(base, function);
            }
        }
        let Some(annotation) = class_annotation(definition) else { return };
        let words = self.words;
        function.inline |= self.annotation_flag(Some(annotation), words.inline);
        function.late_inline |= self.annotation_flag(Some(annotation), words.late_inline);
        function.inline_after_index_reduction |= self.annotation_flag(Some(annotation), words.inline_after);
        function.generate_events |= self.annotation_flag(Some(annotation), words.generate_events);
        if let Some(order) = argument(&annotation.modification, words.smooth_order).and_then(value)
            && let ast::ExprKind::Integer(n) = order.kind
        {
            function.smooth_order = u32::try_from(n).ok();
        }
        for item in &annotation.modification.arguments {
            let ast::Argument::Modification(m) = item else { continue };
            let [part] = m.name.parts.as_slice() else { continue };
            if part.name == words.derivative {
                self.read_derivative(inst, m, function);
            } else if part.name == words.inverse {
                self.read_inverse(inst, m, function);
            }
        }
    }

    fn read_derivative(&mut self, inst: InstId, m: &'a ast::ElementModification, function: &mut flat::Function) {
        let Some(modification) = &m.modification else { return };
        let Some(ast::ExprKind::Ref(name)) = modification.value.as_ref().and_then(|v| v.expr.as_ref()).map(|e| &e.kind)
        else {
            return;
        };
        let Some(Member::Class(slot)) = self.lookup_reference_class(inst, name) else { return };
        let derivative = self.function_of(slot);
        let mut entry = flat::FunctionDerivative {
            function: derivative,
            order: 1,
            no_derivative: Vec::new(),
            zero_derivative: Vec::new(),
        };
        for item in modification.class.iter().flat_map(|c| &c.arguments) {
            let ast::Argument::Modification(m) = item else { continue };
            let (Some(part), Some(e)) = (m.name.parts.first(), value(m)) else { continue };
            match &e.kind {
                ast::ExprKind::Integer(n) if part.name == self.words.order => entry.order = (*n).clamp(1, 100) as u32,
                _ if part.name == self.words.order => self.report(d::derivative_order(e.span)),
                ast::ExprKind::Ref(r) if r.parts.len() == 1 => {
                    let name = r.parts[0].name.name;
                    let local = self.local_named(inst, name).filter(|local| function.inputs.contains(local));
                    let Some(local) = local else {
                        self.report(d::annotation_input("derivative", self.text(name), &function.name, e.span));
                        continue;
                    };
                    if part.name == self.words.no_derivative {
                        entry.no_derivative.push(local);
                    } else if part.name == self.words.zero_derivative {
                        entry.zero_derivative.push(local);
                    }
                }
                _ => {}
            }
        }
        if self.check_derivative_signature(function, &entry, m.span) {
            function.derivatives.push(entry);
        }
    }

    fn read_inverse(&mut self, inst: InstId, m: &'a ast::ElementModification, function: &mut flat::Function) {
        let Some(class) = m.modification.as_ref().and_then(|m| m.class.as_ref()) else { return };
        if function.outputs.len() != 1 {
            self.report(d::inverse_outputs(&function.name, m.span));
            return;
        }
        for item in &class.arguments {
            let ast::Argument::Modification(m) = item else { continue };
            let (Some(part), Some(e)) = (m.name.parts.first(), value(m)) else { continue };
            let ast::ExprKind::Call(call) = &e.kind else { continue };
            let input = self.local_named(inst, part.name).filter(|local| function.inputs.contains(local));
            let Some(input) = input else {
                self.report(d::annotation_input("inverse", self.text(part.name), &function.name, part.span));
                continue;
            };
            let Some(Member::Class(slot)) = self.lookup_reference_class(inst, &call.name) else { continue };
            let inverse = self.function_of(slot);
            let mut arguments = Vec::new();
            for argument in &call.arguments {
                if let ast::ExprKind::Ref(r) = &argument.kind
                    && let Some(local) = r.parts.first().and_then(|p| self.local_named(inst, p.name.name))
                {
                    arguments.push(local);
                }
            }
            if arguments.len() == call.arguments.len() {
                function.inverses.push(flat::FunctionInverse { input, function: inverse, arguments });
            }
        }
    }
}

pub fn class_annotation(definition: &ast::ClassDef) -> Option<&ast::Annotation> {
    match &definition.body {
        ast::ClassBody::Long(body) => body.annotation.as_ref(),
        ast::ClassBody::Short(short) => short.comment.annotation.as_ref(),
        ast::ClassBody::Enumeration(body) => body.comment.annotation.as_ref(),
        ast::ClassBody::Derivative { comment, .. } => comment.annotation.as_ref(),
    }
}

/// The argument of a modification with this simple name.
pub fn argument(modification: &ast::ClassModification, name: Name) -> Option<&ast::ElementModification> {
    modification.arguments.iter().find_map(|a| match a {
        ast::Argument::Modification(m) if m.name.parts.len() == 1 && m.name.parts[0].name == name => Some(m),
        _ => None,
    })
}

pub fn value(m: &ast::ElementModification) -> Option<&ast::Expr> {
    m.modification.as_ref()?.value.as_ref()?.expr.as_ref()
}

pub fn literal_number(e: &ast::Expr) -> Option<f64> {
    match &e.kind {
        ast::ExprKind::Real(x) => Some(*x),
        ast::ExprKind::Integer(n) => Some(*n as f64),
        ast::ExprKind::Unary(ast::UnaryOp::Minus, e) => literal_number(e).map(|x| -x),
        ast::ExprKind::Parenthesised(items) => match items.as_slice() {
            [Some(e)] => literal_number(e),
            _ => None,
        },
        _ => None,
    }
}
