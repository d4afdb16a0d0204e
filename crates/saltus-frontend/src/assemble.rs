//! From instances to the flat model: variables with attributes and values, and the functions they reach.
//!
//! Up to here a variable's id is its place in the order of discovery, packages included; the flat model numbers the
//! variables of the model in order of declaration, followed by constants of packages that are too large to be written
//! out.

use std::collections::{HashMap, HashSet};

use saltus_base::{IdVec, Index, Span};
use saltus_flat::{
    self as flat, Attributes, BaseType, Causality, Expr, ExprKind, FlatModel, FunctionId, Prefix, Type, VarId,
    Variability, Variable,
};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::diagnostics as d;
use crate::equation::Collected;
use crate::instance::{CompId, CompKind, InstId};
use crate::modifier::ModExpr;
use crate::state::Mark;
use crate::{Front, Purpose};

impl<'a> Front<'a> {
    /// Whether a component is part of the model as itself: present, and not a mere reference to an `inner` one.
    pub fn is_instantiated(&mut self, comp: CompId) -> bool {
        (!self.tree[comp].declared.is_outer || self.tree[comp].declared.is_inner) && self.is_present(comp)
    }

    /// Opens every component of an instance.
    pub fn instantiate(&mut self, inst: InstId) {
        self.expand(inst);
        self.check_stream_connector(inst);
        self.check_connector_balance(inst);
        let mut k = 0;
        while let Some(&comp) = self.tree[inst].members.components.get(k) {
            k += 1;
            if !self.is_instantiated(comp) {
                if self.tree[comp].declared.is_outer {
                    self.actual(comp);
                    self.check_inner_inputs(comp);
                }
                continue;
            }
            self.check_connector_prefix(comp);
            self.check_connector_component(comp);
            self.check_inner_inputs(comp);
            match self.comp_kind(comp) {
                CompKind::Error => {}
                CompKind::Leaf(leaf) => {
                    self.check_constraining_base(comp, leaf.base);
                    if self.is_overdetermined_variable(comp) {
                        self.refuse_in_template(inst);
                    }
                    self.comp_dims(comp);
                }
                CompKind::Class(class) => {
                    self.check_instance(comp, class.elements.first().copied());
                    self.note_must_connect(comp);
                    self.check_template_member(&class);
                    for &element in &class.elements {
                        self.instantiate(element);
                    }
                }
            }
        }
    }

    fn check_instance(&mut self, comp: CompId, element: Option<InstId>) {
        let Some(inst) = element else { return };
        self.check_constraining_type(comp, inst);
        if let Some(modifier) = self.tree[comp].modifier.clone()
            && !self.is_expandable(inst)
        {
            self.check_modified_names(inst, &modifier);
            self.check_modified_visible(inst, &modifier);
            self.check_modification_sizes(comp);
        }
        let partial = self.partial_class(inst);
        let may_become_complete = self.tree[comp].declared.is_replaceable
            || self.tree[inst].slot.is_some_and(|s| self.tree[s].is_replaceable);
        if partial.is_some() && may_become_complete && self.request.purpose == Purpose::Check {
            self.checks.has_partial_parts = true;
        } else if let Some(c) = partial
            && !self.request.allow_partial
        {
            let (name, class) = (self.comp_name(comp), self.library.qualified_name(self.tree[inst].class));
            self.report(d::partial_component(
                &name,
                &class,
                self.tree[comp].declared.clause.type_name.span,
                c.name.span,
            ));
        }
    }

    /// The partial class that makes an instance partial: its own, or the one that a short class is made from (specification 4.6.2).
    pub fn partial_class(&self, inst: InstId) -> Option<&'a ast::ClassDef> {
        let definition = self.tree[inst].definition?;
        match (&definition.body, self.tree[inst].members.bases.first()) {
            _ if definition.is_partial => Some(definition),
            (ast::ClassBody::Short(_), Some(&base)) => self.partial_class(base),
            _ => None,
        }
    }

    /// A connector varies with what it is connected to (specification 9.3).
    fn check_connector_prefix(&mut self, comp: CompId) {
        let prefix = match self.tree[comp].declared.clause.variability {
            Some(ast::Variability::Constant) => "constant",
            Some(ast::Variability::Parameter) => "parameter",
            _ => return,
        };
        let is_part = self.is_connector_inst(self.tree[comp].owner);
        if !is_part && self.is_connector(comp) {
            self.report(d::connector_prefix(prefix, &self.comp_name(comp), self.tree[comp].declared.span));
        }
    }

    /// A variable stays of the built-in type that it was declared with (specification 6.4).
    fn check_constraining_base(&mut self, comp: CompId, given: BaseType) {
        let Some((path, scope, span)) = self.tree[comp].declared.constrained_to else { return };
        let wanted = self.lookup_class(scope, path).and_then(|slot| self.simple_type(slot));
        let Some(wanted) = wanted.map(|simple| simple.base) else { return };
        let is_known = given != BaseType::Error && wanted != BaseType::Error;
        if is_known && !self.types.is_subtype(given, wanted) {
            let (given, wanted) = (self.types.base_text(given), self.types.base_text(wanted));
            self.report(d::wrong_variable_replacement(&self.comp_name(comp), &given, &wanted, span));
        }
    }

    /// The replacement of a component has everything that its constraining type promises (specification 7.3.2).
    fn check_constraining_type(&mut self, comp: CompId, inst: InstId) {
        let Some((path, scope, span)) = self.tree[comp].declared.constrained_to else { return };
        let Some(slot) = self.lookup_class(scope, path) else { return };
        let promised = self.slot_instance(slot);
        self.expand(promised);
        if self.check_same_value_class(&self.comp_name(comp), [promised, inst], span) {
            return;
        }
        for element in self.tree[promised].members.components.clone() {
            let e = &self.tree[element];
            if e.prefixes.is_protected || e.declared.condition.is_some() || self.tree[inst].members.is_incomplete {
                continue;
            }
            let name = e.name;
            if self.member(inst, name).is_none() {
                let (class, base) = (self.tree[inst].class, self.tree[slot].class);
                let (class, base) = (self.library.qualified_name(class), self.library.qualified_name(base));
                self.report(d::wrong_replacement(&self.comp_name(comp), &class, &base, self.text(name), span));
                self.tree[inst].members.is_incomplete = true;
            }
        }
        if !self.tree[inst].members.is_incomplete {
            self.check_promised_types(&self.comp_name(comp), [promised, inst], span);
        }
    }

    pub fn variability_of(&self, comp: CompId) -> Variability {
        let c = &self.tree[comp];
        match c.prefixes.variability {
            Some(ast::Variability::Constant) => Variability::Constant,
            Some(ast::Variability::Parameter) => Variability::Parameter,
            Some(ast::Variability::Discrete) => Variability::Discrete,
            None => match self.types.leaf_types.get(&comp).map(|s| s.base) {
                Some(BaseType::Real) | None => Variability::Continuous,
                Some(BaseType::ExternalObject(_)) => Variability::Parameter,
                Some(_) => Variability::Discrete,
            },
        }
    }

    /// All leaves of the model in order of declaration, with whether they belong to its interface.
    fn collect_leaves(&mut self, inst: InstId, is_interface: bool, out: &mut Vec<(CompId, bool)>) {
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) {
                continue;
            }
            match self.comp_kind(comp) {
                CompKind::Leaf(_) => out.push((comp, is_interface && !self.tree[comp].prefixes.is_protected)),
                CompKind::Class(class) => {
                    let inner = is_interface
                        && (self.is_connector(comp) || self.tree[comp].prefixes.direction.is_some())
                        && !self.tree[comp].prefixes.is_protected;
                    for &element in &class.elements {
                        self.collect_leaves(element, inner, out);
                    }
                }
                CompKind::Error => {}
            }
        }
    }

    pub fn assemble(&mut self, collected: Collected) -> FlatModel {
        let mut leaves = Vec::new();
        self.collect_leaves(self.tree.model, true, &mut leaves);
        let mut model = FlatModel {
            name: self.library.qualified_name(self.tree[self.tree.model].class),
            equations: collected.equations,
            initial_equations: collected.initial_equations,
            algorithms: collected.algorithms,
            initial_algorithms: collected.initial_algorithms,
            ..FlatModel::default()
        };
        if let Some(definition) = self.tree[self.tree.model].definition {
            model.description = class_description(definition);
            model.experiment = self.experiment_of(definition);
            let has_equations =
                !model.algorithms.is_empty() || model.equations.iter().any(|e| e.origin != flat::Origin::Connection);
            let is_model = match definition.kind {
                ast::ClassKind::Model | ast::ClassKind::Block => true,
                // Without equations it serves as a record.
                ast::ClassKind::Class => has_equations,
                _ => false,
            };
            model.must_balance = is_model && self.partial_class(self.tree.model).is_none();
        }
        model.is_closed = self.is_closed();
        model.components = self.components();
        model.from_roots = self.overconstrained.from_roots;
        let mut ids: HashMap<VarId, VarId> = HashMap::new();
        let mut of_comp: HashMap<CompId, VarId> = HashMap::new();
        for &(comp, is_interface) in &leaves {
            let mut variable = self.variable_of(comp, is_interface);
            if self.is_value_from_outside(comp) {
                variable.causality = Causality::Input;
            }
            let id = model.variables.push(variable);
            if let Some(message) = self.unassigned_message(comp) {
                model.unassigned_messages.push((id, message));
            }
            of_comp.insert(comp, id);
            if let Some(var) = self.tree[comp].var {
                ids.insert(var, id);
            }
        }
        for &(comp, _) in leaves.iter().filter(|(comp, _)| self.tree[*comp].declared.is_outer).collect::<Vec<_>>() {
            let outside = self.actual(comp);
            if let (Some(&inner), Some(&outer)) = (of_comp.get(&comp), of_comp.get(&outside)) {
                model.inner_outer.push((inner, outer));
            }
        }
        self.check_taken_apart();
        self.check_acyclic(leaves.iter().map(|&(comp, _)| comp));
        self.renumber(&mut model, &mut ids);
        // What is typed late may make a parameter structural that was written down early.
        for ((_, variable), (comp, _)) in model.variables.iter_mut().zip(leaves) {
            variable.is_structural |= self.tree[comp].is_structural;
        }
        model.records = with_unique_names(self.types.records.values().map(|r| (**r).clone()));
        model.enumerations = self.types.enums.values().map(|e| (**e).clone()).collect();
        model.iterators = std::mem::take(&mut self.functions.model_locals);
        self.settle_open_values(&model);
        model.must_balance &= !self.checks.has_partial_parts && !self.has_uncountable_connectors();
        model
    }

    /// Whether the class that is checked expects this variable around it, as `outer`: for its balance it is known (specification 4.8).
    fn is_value_from_outside(&mut self, comp: CompId) -> bool {
        if self.request.purpose != Purpose::Check || self.tree.implicit_inners.is_empty() {
            return false;
        }
        let mut at = comp;
        while self.tree[at].owner != self.tree.model {
            let owner = self.tree[at].owner;
            let is_model = self.is_model_inst(owner);
            let Some(outer) = self.tree[owner].owner.filter(|_| !is_model) else { return false };
            at = outer;
        }
        self.tree.is_implicit_inner(at)
    }

    /// A class with connectors or inputs is a part of something that gives its parameters values: sizes and conditions that wait for
    /// them are not mistakes, nor is what follows from them. A complete model has nobody else to give them.
    fn settle_open_values(&mut self, model: &FlatModel) {
        let open = std::mem::take(&mut self.messages.open_values);
        if open.is_empty() {
            return;
        }
        if model.must_balance && model.is_closed {
            open.into_iter().for_each(|diagnostic| self.report(diagnostic));
            return;
        }
        self.checks.has_partial_parts = true;
        self.forget_consequences();
    }

    /// Takes back what was only said because a size is left open.
    fn forget_consequences(&mut self) {
        self.messages.forget(d::follows_from_open_sizes);
    }

    /// Sizes that a function or package leaves to those who extend the package around it.
    pub fn forget_open_values(&mut self) {
        if !std::mem::take(&mut self.messages.open_values).is_empty() {
            self.forget_consequences();
        }
    }

    /// Whether a class that is checked has expandable connectors, whose members depend on its surroundings, or refers to connectors of
    /// something `outer` that is not there.
    fn has_uncountable_connectors(&mut self) -> bool {
        let components = self.tree[self.tree.model].members.components.clone();
        self.request.purpose == Purpose::Check
            && components.into_iter().any(|comp| {
                let is_outside = self.tree[comp].declared.is_outer || self.tree.is_implicit_inner(comp);
                self.is_instantiated(comp)
                    && (is_outside && self.has_connectors(comp) || !is_outside && self.is_bus(comp))
            })
    }

    /// Whether nothing outside of the model determines anything in it.
    fn is_closed(&mut self) -> bool {
        let leads_out = |front: &mut Self, comp: CompId| {
            let prefixes = front.tree[comp].prefixes;
            front.is_instantiated(comp)
                && !prefixes.is_protected
                && (prefixes.direction.is_some() || front.is_connector(comp))
        };
        let components = self.tree[self.tree.model].members.components.clone();
        self.tree.implicit_inners.is_empty() && !components.into_iter().any(|comp| leads_out(self, comp))
    }

    fn variable_of(&mut self, comp: CompId, is_interface: bool) -> Variable {
        let ty = self.comp_type(comp);
        let mark = self.messages.mark();
        let binding = self.comp_binding(comp).map(|b| (*b).clone()).filter(|b| !b.is_error());
        if binding.is_none() {
            self.messages.report_about(comp);
        }
        let is_difference = self.is_difference(comp);
        let attributes = Attributes { is_difference, ..self.attributes(comp, &ty) };
        self.check_variable(comp, binding.as_ref(), mark);
        let c = &self.tree[comp];
        let causality = match c.prefixes.direction {
            Some(ast::Direction::Input) if is_interface => Causality::Input,
            Some(ast::Direction::Output) if is_interface => Causality::Output,
            _ => Causality::Local,
        };
        let name = if self.tree[c.owner].path.is_some() {
            self.comp_name(comp)
        } else {
            format!("{}.{}", self.library.qualified_name(self.tree[c.owner].class), self.text(c.name))
        };
        let mut variable = Variable {
            name,
            ty,
            variability: self.variability_of(comp),
            causality,
            prefix: match c.prefixes.connection {
                Some(ast::Connection::Flow) => Prefix::Flow,
                Some(ast::Connection::Stream) => Prefix::Stream,
                None => Prefix::None,
            },
            attributes,
            binding,
            description: description_text(&c.declared.declaration.comment.description),
            is_protected: c.prefixes.is_protected,
            hide_result: c.prefixes.hide_result,
            is_structural: c.is_structural,
            is_final: c.prefixes.is_final,
            span: c.declared.span,
        };
        self.declare_for_all(comp, &mut variable);
        variable
    }

    /// The declaration decides, or else its type.
    fn is_difference(&self, comp: CompId) -> bool {
        let of_type = self.types.leaf_types.get(&comp).and_then(|simple| simple.is_difference);
        let annotation = self.tree[comp].declared.declaration.comment.annotation.as_ref();
        self.difference_in(annotation).or(of_type).unwrap_or(false)
    }

    /// A constant of a package, without a model around it. Of a partial one it may have no value yet.
    pub fn check_constant(&mut self, comp: CompId) {
        match self.comp_kind(comp) {
            CompKind::Leaf(_) if self.has_value(comp) => {
                self.comp_dims(comp);
                self.variable_of(comp, false);
            }
            CompKind::Class(class) => {
                for &element in &class.elements {
                    for inner in self.tree[element].members.components.clone() {
                        self.check_constant(inner);
                    }
                }
            }
            _ => {}
        }
    }

    /// The value of a parameter must not vary more than the parameter (specification 3.8).
    fn check_variable(&mut self, comp: CompId, binding: Option<&Expr>, mark: Mark) {
        let Some(binding) = binding else {
            let waits = self.has_value(comp) && !self.messages.open_values.is_empty();
            let is_missing =
                self.variability_of(comp) == Variability::Constant && !waits && !self.may_come_from_outside(comp);
            if is_missing && self.messages.is_quiet_since(mark) {
                let name = self.comp_name(comp);
                self.report(d::constant_without_value(&name, self.tree[comp].declared.span));
            }
            return;
        };
        if self.variability_of(comp) == Variability::Constant {
            self.report_failing_constant(comp);
            self.check_constant_fixed(comp);
        }
        let (own, mut value) = (self.variability_of(comp), typing::variability(self, binding));
        if own == Variability::Constant && value == Variability::Constant && self.has_parameter_ranges(comp) {
            value = Variability::Parameter;
        }
        if own <= Variability::Parameter && value > own && value > Variability::Parameter
            || own == Variability::Constant && value > Variability::Constant
        {
            let name = self.comp_name(comp);
            self.report(d::value_varies(&name, own, value, binding.span, self.tree[comp].declared.span));
        }
    }

    /// Whether iterators in the value of a component run over ranges that are not constant; such a value has been written out.
    fn has_parameter_ranges(&mut self, comp: CompId) -> bool {
        let value = self.tree[comp].modifier.as_ref().and_then(|m| m.value.as_ref());
        let Some(ModExpr::Ast(expr, scope)) = value.map(|value| value.expr) else { return false };
        let mut ranges = Vec::new();
        crate::deduce::walk_ranges(expr, &mut |range| ranges.push(range));
        let mark = self.messages.mark();
        let found = ranges.into_iter().any(|range| {
            let range = self.isolated(|front| front.range_expression(scope, range));
            !range.is_error() && typing::variability(self, &range) > Variability::Constant
        });
        self.messages.take_back(mark);
        found
    }

    fn check_constant_fixed(&mut self, comp: CompId) {
        let fixed = self.tree[comp].sub_modifier(self.words.fixed).and_then(|m| m.value.clone());
        let Some(fixed) = fixed.and_then(|value| self.mod_value(&value, 0)) else { return };
        if matches!(fixed.kind, ExprKind::Boolean(false)) {
            self.report(d::constant_not_fixed(&self.comp_name(comp), fixed.span));
        }
    }

    /// Numbers variables and functions as the flat model has them, adding what is reached on the way.
    fn renumber(&mut self, model: &mut FlatModel, ids: &mut HashMap<VarId, VarId>) {
        let mut renumbering = Renumbering {
            vars: std::mem::take(ids),
            functions: HashMap::new(),
            new_vars: Vec::new(),
            new_functions: Vec::new(),
            next_var: model.variables.len(),
        };
        for_each_expr(model, &mut |e| renumbering.expr(e));
        let mut function_at = 0;
        loop {
            if let Some(var) = renumbering.new_vars.pop() {
                let comp = self.tree.vars[var];
                let mut variable = self.variable_of(comp, false);
                if let Some(value) = self.constant_value(comp) {
                    let ty = variable.ty.clone();
                    variable.binding = Some(saltus_eval::to_expr(&value, &ty, variable.span));
                }
                // `new_vars` is a stack: a variable may be reached before its number is due, so places are reserved.
                let id = renumbering.vars[&var];
                while model.variables.len() <= id.index() {
                    model.variables.push(placeholder());
                }
                variable_exprs(&mut variable, &mut |e| renumbering.expr(e));
                model.variables[id] = variable;
                continue;
            }
            let Some(&function) = renumbering.new_functions.get(function_at) else { break };
            function_at += 1;
            let mut body = (*self.function_body(function)).clone();
            renumbering.function(&mut body);
            model.functions.push(body);
        }
    }

    /// Text of an expression for messages.
    pub fn expr_text(&self, expr: &Expr) -> String {
        let mut vars = HashMap::new();
        expr.walk(&mut |e| {
            if let ExprKind::Var(var) = e.kind {
                vars.insert(var, self.comp_name(self.tree.vars[var]));
            }
        });
        flat::print_expr(&Texts { front: self, vars }, expr)
    }

    pub fn record_at(&mut self, comp: CompId, inst: InstId, span: Span) -> Expr {
        self.refuse_in_template(inst);
        let elements = self.comp_elements(comp);
        let whole = self.whole_component(comp, span);
        let dims = self.comp_dims(comp);
        match elements.iter().position(|&e| e == inst) {
            Some(k) => self.element_of(whole, &dims, k as u64),
            None => whole,
        }
    }
}

struct Texts<'f, 'a> {
    front: &'f Front<'a>,
    vars: HashMap<VarId, String>,
}

impl flat::Names for Texts<'_, '_> {
    fn variable(&self, id: VarId) -> &str {
        self.vars.get(&id).map_or("?", |s| s)
    }
    fn local(&self, id: flat::LocalId) -> &str {
        let locals = self.front.functions.locals();
        locals.get(id).map_or("?", |l| &l.name)
    }
    fn function(&self, id: FunctionId) -> &str {
        &self.front.functions[id].name
    }
    fn record(&self, id: flat::RecordId) -> &str {
        &self.front.types.records[id].name
    }
    fn field(&self, record: flat::RecordId, field: u32) -> &str {
        self.front.types.records[record].fields.get(field as usize).map_or("?", |f| &f.name)
    }
    fn enumeration(&self, id: flat::EnumId) -> &str {
        &self.front.types.enums[id].name
    }
    fn literal(&self, id: flat::EnumId, ordinal: u32) -> &str {
        self.front.types.enums[id].literals.get((ordinal as usize).wrapping_sub(1)).map_or("?", |l| l)
    }
}

struct Renumbering {
    vars: HashMap<VarId, VarId>,
    functions: HashMap<FunctionId, FunctionId>,
    new_vars: Vec<VarId>,
    new_functions: Vec<FunctionId>,
    next_var: usize,
}

impl Renumbering {
    fn var(&mut self, var: VarId) -> VarId {
        *self.vars.entry(var).or_insert_with(|| {
            self.new_vars.push(var);
            self.next_var += 1;
            VarId::from_usize(self.next_var - 1)
        })
    }

    fn function_id(&mut self, function: FunctionId) -> FunctionId {
        *self.functions.entry(function).or_insert_with(|| {
            self.new_functions.push(function);
            FunctionId::from_usize(self.new_functions.len() - 1)
        })
    }

    fn ty(&mut self, ty: &mut Type) {
        if let BaseType::ExternalObject(function) = ty.base {
            ty.base = BaseType::ExternalObject(self.function_id(function));
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        self.ty(&mut e.ty);
        match &mut e.kind {
            ExprKind::Var(var) => *var = self.var(*var),
            ExprKind::Call { function, .. } | ExprKind::FunctionRef { function, .. } => {
                *function = self.function_id(*function);
            }
            _ => {}
        }
        e.for_each_child_mut(&mut |child| self.expr(child));
    }

    fn function(&mut self, f: &mut flat::Function) {
        for (_, local) in f.locals.iter_mut() {
            self.ty(&mut local.ty);
            local.sizes.iter_mut().flatten().chain(&mut local.default).for_each(|e| self.expr(e));
        }
        statements(&mut f.body, &mut |e| self.expr(e));
        if let Some(external) = &mut f.external {
            for argument in &mut external.arguments {
                if let flat::ExternalArgument::Input(e) = argument {
                    self.expr(e);
                }
            }
            external.destructor = external.destructor.map(|function| self.function_id(function));
        }
        for derivative in &mut f.derivatives {
            derivative.function = self.function_id(derivative.function);
        }
        for inverse in &mut f.inverses {
            inverse.function = self.function_id(inverse.function);
        }
    }
}

type VisitExpr<'v> = &'v mut dyn FnMut(&mut Expr);

fn for_each_expr(model: &mut FlatModel, visit: VisitExpr<'_>) {
    for (_, variable) in model.variables.iter_mut() {
        variable_exprs(variable, visit);
    }
    equations(&mut model.equations, visit);
    equations(&mut model.initial_equations, visit);
    for algorithm in model.algorithms.iter_mut().chain(&mut model.initial_algorithms) {
        statements(&mut algorithm.statements, visit);
    }
}

fn variable_exprs(variable: &mut Variable, visit: VisitExpr<'_>) {
    // The type of an external object names its constructor, so it is renumbered with the expressions.
    let mut ty = Expr::new(ExprKind::Error, variable.ty.clone(), variable.span);
    visit(&mut ty);
    variable.ty = ty.ty;
    variable.binding.iter_mut().chain(variable.attributes.iter_mut()).for_each(visit);
}

fn equations(list: &mut [flat::Equation], visit: VisitExpr<'_>) {
    use flat::EquationKind as K;
    for equation in list {
        match &mut equation.kind {
            K::Equality { left, right } => {
                visit(left);
                visit(right);
            }
            K::If { branches, otherwise } => {
                for (condition, body) in branches {
                    visit(condition);
                    equations(body, visit);
                }
                equations(otherwise, visit);
            }
            K::When { branches } => {
                for (condition, body) in branches {
                    visit(condition);
                    equations(body, visit);
                }
            }
            K::Assert { condition, message, level } => {
                visit(condition);
                visit(message);
                level.iter_mut().for_each(&mut *visit);
            }
            K::Terminate { message } => visit(message),
            K::Reinit { state, value } => {
                visit(state);
                visit(value);
            }
            K::Call(e) => visit(e),
        }
    }
}

fn statements(list: &mut [flat::Statement], visit: VisitExpr<'_>) {
    use flat::StatementKind as K;
    for statement in list {
        match &mut statement.kind {
            K::Assign { target, value } => {
                visit(target);
                visit(value);
            }
            K::If { branches, otherwise } => {
                for (condition, body) in branches {
                    visit(condition);
                    statements(body, visit);
                }
                statements(otherwise, visit);
            }
            K::For { range, body, .. } => {
                visit(range);
                statements(body, visit);
            }
            K::While { condition, body } => {
                visit(condition);
                statements(body, visit);
            }
            K::When { branches } => {
                for (condition, body) in branches {
                    visit(condition);
                    statements(body, visit);
                }
            }
            K::Assert { condition, message, level } => {
                visit(condition);
                visit(message);
                level.iter_mut().for_each(&mut *visit);
            }
            K::Terminate { message } => visit(message),
            K::Reinit { state, value } => {
                visit(state);
                visit(value);
            }
            K::Call(e) => visit(e),
            K::Break | K::Return => {}
        }
    }
}

/// The attributes of a predefined type (specification 4.9).
pub fn attribute_names(base: BaseType) -> &'static [&'static str] {
    match base {
        BaseType::Real => {
            &["quantity", "unit", "displayUnit", "min", "max", "start", "fixed", "nominal", "unbounded", "stateSelect"]
        }
        BaseType::Integer | BaseType::Enumeration(_) => &["quantity", "min", "max", "start", "fixed"],
        BaseType::Boolean | BaseType::String => &["quantity", "start", "fixed"],
        _ => &[],
    }
}

fn placeholder() -> Variable {
    Variable {
        name: String::new(),
        ty: Type::REAL,
        variability: Variability::Constant,
        causality: Causality::Local,
        prefix: Prefix::None,
        attributes: Attributes::default(),
        binding: None,
        description: String::new(),
        is_protected: true,
        hide_result: true,
        is_structural: true,
        is_final: true,
        span: Span::nowhere(),
    }
}

pub fn description_text(description: &ast::Description) -> String {
    description.parts.iter().map(|p| &*p.value).collect()
}

fn class_description(definition: &ast::ClassDef) -> String {
    match &definition.body {
        ast::ClassBody::Long(body) => description_text(&body.description),
        ast::ClassBody::Short(short) => description_text(&short.comment.description),
        ast::ClassBody::Enumeration(body) => description_text(&body.comment.description),
        ast::ClassBody::Derivative { comment, .. } => description_text(&comment.description),
    }
}

/// A record whose fields have other sizes in one place than in another is several types; the later ones get a number.
fn with_unique_names(
    records: impl std::iter::Iterator<Item = flat::RecordType>,
) -> IdVec<flat::RecordId, flat::RecordType> {
    let mut taken = HashSet::new();
    let renamed = records.map(|mut record| {
        let names = (2..).map(|k| format!("{}_{k}", record.name));
        let mut names = std::iter::once(record.name.clone()).chain(names);
        record.name = names.find(|name| taken.insert(name.clone())).unwrap_or_default();
        record
    });
    renamed.collect()
}
