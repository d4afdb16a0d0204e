//! Components on demand: what type, which sizes, present or not, which value (specification 4.4, 5.4, 7.2).

use std::rc::Rc;

use saltus_base::{Diagnostic, Severity};
use saltus_eval::Value;
use saltus_flat::{self as flat, BaseType, Dim, Type};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::diagnostics as d;
use crate::instance::{ClassComp, Comp, CompId, CompKind, InstId, Leaf, Member, Memo, SimpleType, SlotId};
use crate::modifier::{ModExpr, ModRef, ModValue, Position, merge};
use crate::redeclaration::direction_word;
use crate::{Front, Purpose};

/// Components nested more deeply than this are taken for an endless recursion.
const MOST_NESTED: u32 = 100;
/// A class inside itself more often than this is taken for one, too: conditions may end a recursion, but not so late.
const MOST_RECURSIVE: usize = 32;
/// More instances and components than this take gigabytes; arrays of numbers do not count, they stay arrays.
pub const MOST_INSTANCES: u64 = 600_000;
/// The same where plain variables are declared one by one, which take less.
pub const MOST_DECLARED: u64 = 1_000_000;

/// The element of an array that is written out, without a copy of the others.
fn element_at<'e>(mut value: &'e flat::Expr, indices: &[Position]) -> Option<&'e flat::Expr> {
    for index in indices {
        let &Position::At(index) = index else { return None };
        let flat::ExprKind::Array(items) = &value.kind else { return None };
        value = items.get((index as usize).checked_sub(1)?)?;
    }
    Some(value)
}

impl<'a> Front<'a> {
    /// Whether the component exists; a conditional component whose condition is false does not.
    pub fn is_present(&mut self, comp: CompId) -> bool {
        match self.tree[comp].memo.is_present {
            Memo::Known(is_present) => return is_present,
            Memo::InProgress => {
                let (name, span) = (self.comp_name(comp), self.tree[comp].declared.span);
                self.report(d::recursive_component(&name, span));
                return true;
            }
            Memo::Unknown => {}
        }
        let Some((condition, scope)) = self.tree[comp].declared.condition else {
            self.tree[comp].memo.is_present = Memo::Known(true);
            return true;
        };
        self.tree[comp].memo.is_present = Memo::InProgress;
        let expr = self.isolated(|front| front.expression(scope, condition));
        let is_present = match self.evaluate_structural(&expr) {
            Ok(Value::Boolean(b)) => b,
            Ok(_) => {
                if !expr.is_error() {
                    self.report(d::condition_not_boolean(condition.span));
                }
                true
            }
            Err(why) => {
                let name = self.comp_name(comp);
                self.report_eval(&expr, why, |w| d::condition_not_constant(&name, w, condition.span));
                true
            }
        };
        self.tree[comp].memo.is_present = Memo::Known(is_present);
        is_present
    }

    /// The component that `comp` really is: itself, or the `inner` one that an `outer` component stands for.
    pub fn actual(&mut self, comp: CompId) -> CompId {
        if !self.tree[comp].declared.is_outer {
            return comp;
        }
        match self.tree[comp].memo.outer {
            Memo::Known(Some(inner)) => return inner,
            Memo::Known(None) | Memo::InProgress => return comp,
            Memo::Unknown => {}
        }
        self.tree[comp].memo.outer = Memo::InProgress;
        let inner = self.find_inner(comp);
        self.tree[comp].memo.outer = Memo::Known(inner);
        if let Some(inner) = inner.filter(|&inner| inner != comp) {
            self.check_inner_type(comp, inner);
        }
        inner.unwrap_or(comp)
    }

    /// The type of an `inner` variable is that of the `outer` one, which an Integer is not where a Real is wanted (specification 5.4). What
    /// classes lack is found where it is used.
    fn check_inner_type(&mut self, outer: CompId, inner: CompId) {
        let (scope, clause) = (self.tree[outer].declared.scope, self.tree[outer].declared.clause);
        let wanted = self.lookup_class(scope, &clause.type_name).and_then(|slot| self.simple_type(slot));
        let (scope, clause) = (self.tree[inner].declared.scope, self.tree[inner].declared.clause);
        let found = self.lookup_class(scope, &clause.type_name).and_then(|slot| self.simple_type(slot));
        let (Some(wanted), Some(found)) = (wanted, found) else { return };
        if wanted.base != found.base {
            let types = [wanted.base, found.base].map(|base| typing::type_name(self, &Type::scalar(base)));
            let (span, declared) = (self.tree[outer].declared.span, self.tree[inner].declared.span);
            self.report_once(d::inner_type(self.text(self.tree[outer].name), &types, span, declared));
        }
    }

    /// Looks up the instance tree for an `inner` component of the same name (specification 5.4).
    fn find_inner(&mut self, comp: CompId) -> Option<CompId> {
        let name = self.tree[comp].name;
        let mut at = self.tree[comp].owner;
        while let Some(owner) = self.tree[at].owner {
            at = self.tree[owner].owner;
            match self.member(at, name) {
                Some(Member::Component(found)) if self.tree[found].declared.is_inner && found != comp => {
                    return Some(found);
                }
                Some(Member::Class(slot))
                    if self.library.element(self.tree[slot].class).is_some_and(|e| e.prefixes.is_inner) =>
                {
                    let (span, declared) = (self.tree[comp].declared.span, self.tree[slot].definition.name.span);
                    self.report(d::inner_kind(self.text(name), "component", "class", span, declared));
                    return None;
                }
                _ => {}
            }
        }
        if at != self.tree.model {
            return None;
        }
        if let Some(Member::Component(taken)) = self.member(at, name)
            && taken != comp
            && !self.tree[taken].declared.is_outer
        {
            let (span, declared) = (self.tree[comp].declared.span, self.tree[taken].declared.span);
            self.report(d::inner_name_taken(self.text(name), span, declared));
            return None;
        }
        if self.tree[comp].owner == self.tree.model && self.tree[comp].declared.is_inner {
            // Nothing around it: what it declares as `inner` is all there is.
            return Some(comp);
        }
        if self.request.purpose == Purpose::Simulate && self.tree[comp].owner == self.tree.model {
            let class = self.path_text(&self.tree[comp].declared.clause.type_name.parts);
            self.report(d::top_level_outer(self.text(name), &class, self.tree[comp].declared.span));
        }
        Some(self.implicit_inner(comp))
    }

    /// No `inner` anywhere: one with the declared type and no modification is added at the top.
    fn implicit_inner(&mut self, comp: CompId) -> CompId {
        let c = &self.tree[comp];
        let (name, clause, declaration, scope, span) =
            (c.name, c.declared.clause, c.declared.declaration, c.declared.scope, c.declared.span);
        if let Some(&(_, inner)) = self.tree.implicit_inners.iter().find(|(n, _)| *n == name) {
            self.check_unique_outer(comp, inner);
            return inner;
        }
        let message = self.missing_inner_message(scope, &clause.type_name);
        let type_name = self.path_text(&clause.type_name.parts);
        self.report(d::missing_inner(self.text(name), &type_name, message.as_deref(), span));
        let model = self.tree.model;
        let inner = self.new_comp(model, clause, declaration, None, false);
        let new = &mut self.tree[inner];
        new.declared.scope = scope;
        new.owner = model;
        new.declared.is_inner = true;
        new.declared.is_outer = false;
        new.declared.condition = None;
        new.modifier = None;
        self.tree.implicit_inners.push((name, inner));
        self.tree[model].members.components.push(inner);
        inner
    }

    /// An `inner` is only added if all that lack it are of one class (specification 5.4).
    fn check_unique_outer(&mut self, comp: CompId, inner: CompId) {
        let class_of = |front: &mut Self, comp: CompId| {
            let (scope, clause) = (front.tree[comp].declared.scope, front.tree[comp].declared.clause);
            let slot = front.lookup_class(scope, &clause.type_name)?;
            Some(front.tree[slot].class)
        };
        if let (Some(first), Some(second)) = (class_of(self, inner), class_of(self, comp))
            && first != second
        {
            let (span, other) = (self.tree[comp].declared.span, self.tree[inner].declared.span);
            let classes = [first, second].map(|class| self.library.qualified_name(class));
            self.report(d::outers_differ(self.text(self.tree[comp].name), &classes, span, other));
        }
    }

    pub fn comp_kind(&mut self, comp: CompId) -> CompKind {
        match &self.tree[comp].memo.kind {
            Memo::Known(kind) => return kind.clone(),
            Memo::InProgress => {
                let (name, span) = (self.comp_name(comp), self.tree[comp].declared.span);
                self.report(d::recursive_component(&name, span));
                return CompKind::Error;
            }
            Memo::Unknown => {}
        }
        self.tree[comp].memo.kind = Memo::InProgress;
        let kind = self.make_kind(comp).unwrap_or(CompKind::Error);
        self.tree[comp].memo.kind = Memo::Known(kind.clone());
        kind
    }

    fn make_kind(&mut self, comp: CompId) -> Option<CompKind> {
        let (scope, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
        let slot = self.lookup_class(scope, &clause.type_name)?;
        self.check_component_type(comp, slot)?;
        self.check_obsolete(comp, slot);
        self.check_test_case(comp, slot);
        self.check_single_instance(comp, slot);
        if let Some(simple) = self.simple_type(slot) {
            return Some(self.make_leaf(comp, &simple));
        }
        let definition = self.tree[slot].definition;
        if definition.kind == ast::ClassKind::Type {
            let inst = self.slot_instance(slot);
            self.expand(inst);
            if !self.tree[inst].members.is_incomplete && self.tree[inst].members.predefined_base.is_none() {
                let class = self.library.qualified_name(self.tree[slot].class);
                self.report(d::not_a_simple_type(&class, definition.name.span));
            }
        }
        self.make_class_component(comp, slot)
    }

    fn make_leaf(&mut self, comp: CompId, simple: &Rc<SimpleType<'a>>) -> CompKind {
        let var = self.tree.vars.push(comp);
        let (name, span) = (self.tree[comp].name, self.tree[comp].declared.span);
        if let BaseType::Enumeration(id) = simple.base
            && self.types.is_unspecified(id)
            && !self.request.allow_partial
        {
            self.report(d::unspecified_enumeration(self.text(name), span));
        }
        if let (Some(own), Some(of_type)) = (self.tree[comp].declared.clause.direction, simple.direction)
            && own != of_type
        {
            let (own, of_type) = (direction_word(own), direction_word(of_type));
            self.report_once(d::nested_prefix(own, self.text(name), of_type, span));
        }
        self.add_class_prefixes(comp, simple.variability, simple.connection);
        match (self.tree[comp].prefixes.connection, simple.base) {
            (Some(ast::Connection::Flow), BaseType::Real | BaseType::Integer | BaseType::Error) => {}
            (Some(ast::Connection::Stream), BaseType::Real | BaseType::Error) | (None, _) => {}
            (Some(ast::Connection::Flow), _) => {
                self.report_once(d::connection_type("flow", self.text(name), "Real or Integer", span));
            }
            (Some(ast::Connection::Stream), _) => {
                self.report_once(d::connection_type("stream", self.text(name), "Real", span));
            }
        }
        self.check_final(&self.tree[comp].modifier.clone(), &simple.modifier);
        let c = &mut self.tree[comp];
        c.modifier = merge(&c.modifier, &simple.modifier);
        c.prefixes.direction = c.prefixes.direction.or(simple.direction);
        c.var = Some(var);
        self.types.leaf_types.insert(comp, simple.clone());
        CompKind::Leaf(Rc::new(Leaf { base: simple.base, is_connector: simple.is_connector }))
    }

    /// The prefixes of a short class hold for its components (`type C = constant Real`).
    fn add_class_prefixes(
        &mut self,
        comp: CompId,
        variability: Option<ast::Variability>,
        connection: Option<ast::Connection>,
    ) {
        let prefixes = &mut self.tree[comp].prefixes;
        prefixes.connection = prefixes.connection.or(connection);
        prefixes.variability = match (prefixes.variability, variability) {
            (Some(ast::Variability::Constant), _) | (_, Some(ast::Variability::Constant)) => {
                Some(ast::Variability::Constant)
            }
            (own, of_class) => own.or(of_class),
        };
    }

    fn make_class_component(&mut self, comp: CompId, slot: SlotId) -> Option<CompKind> {
        let owner = self.tree[comp].owner;
        let depth = self.tree[owner].depth + 1;
        let span = self.tree[comp].declared.span;
        let class = self.tree[slot].class;
        let n_outside = self.tree.count_outside(owner, class);
        if self.budget.is_too_large || n_outside > 0 && self.checks.endless.contains(&class) {
            return None;
        }
        if depth > MOST_NESTED && n_outside == 0 {
            self.give_up(d::nested_too_deeply("components", MOST_NESTED as usize, span));
            return None;
        }
        if depth > MOST_NESTED || n_outside > MOST_RECURSIVE {
            self.checks.endless.insert(class);
            let class = self.library.qualified_name(class);
            let name = self.comp_name(comp);
            self.report_once(d::recursive_instantiation(&class, &name, span));
            return None;
        }
        let of_class = self.class_subscripts(slot);
        let class_rank = of_class.len();
        if class_rank > 0 {
            self.sizes.array_classes.insert(comp, of_class);
        }
        // A record that refers to itself while its sizes are being found must see a component without elements.
        let dims = self.comp_dims(comp);
        if self.sizes.wrong.contains(&comp) {
            return None;
        }
        let count: u64 = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).unwrap_or(u64::MAX);
        let counters = self.counters_of_alike(comp, slot, &dims, class_rank);
        if counters.is_empty() && self.tree.n_instances().saturating_add(count) > MOST_INSTANCES {
            let name = self.comp_name(comp);
            self.give_up(d::too_many_instances(&name, count, span));
            return None;
        }
        self.check_type_prefix(comp, self.tree[slot].definition.kind);
        let modifier = merge(&self.tree[comp].modifier, &self.tree[slot].modifier);
        if self.tree[comp].prefixes.direction.is_none() {
            self.tree[comp].prefixes.direction = self.class_direction(slot);
        }
        if let ast::ClassBody::Short(short) = &self.tree[slot].definition.body {
            self.add_class_prefixes(comp, short.variability, short.connection);
        }
        let mut elements = Vec::new();
        if counters.is_empty() {
            let mut index = vec![1u32; dims.len()];
            for _ in 0..count {
                elements.push(self.new_element(comp, slot, &modifier, &positions(&index), class_rank));
                advance(&mut index, &dims);
            }
        } else {
            let each: Vec<Position> = counters.iter().map(|c| Position::Each(c.local)).collect();
            elements.push(self.new_element(comp, slot, &modifier, &each, class_rank));
            self.tree[elements[0]].outer.extend_from_slice(&counters);
        }
        let kind = CompKind::Class(Rc::new(ClassComp { slot, elements: elements.clone(), counters }));
        self.tree[comp].memo.kind = Memo::Known(kind.clone());
        if let Some(&inst) = elements.first() {
            let modification = self.tree[comp].declared.declaration.modification.as_ref();
            self.record_modification(inst, modification.and_then(|m| m.class.as_ref()));
        }
        for inst in elements {
            self.expand(inst);
        }
        Some(kind)
    }

    /// One element of a component of class type, not opened yet; its class has the last `class_rank` dimensions.
    pub fn new_element(
        &mut self,
        comp: CompId,
        slot: SlotId,
        modifier: &ModRef<'a>,
        index: &[Position],
        class_rank: usize,
    ) -> InstId {
        let modifier = modifier.as_ref().map(|m| m.at_index(index));
        let inst = self.tree.new_inst(slot, modifier, Some(comp));
        let owner = self.tree[comp].owner;
        let name = self.text(self.tree[comp].name);
        let path = self.tree[owner].path.as_ref().map(|p| element_path(p, name, index).into());
        let (prefixes, depth, outer) =
            (self.tree[comp].prefixes, self.tree[owner].depth + 1, self.tree[owner].outer.clone());
        let new = &mut self.tree[inst];
        new.path = path;
        new.outer = outer;
        new.prefixes = prefixes;
        new.depth = depth;
        new.class_index = index.iter().copied().skip(index.len().saturating_sub(class_rank)).collect();
        inst
    }

    /// The model is too large: says so, and nothing more is instantiated.
    pub fn give_up(&mut self, diagnostic: Diagnostic) {
        if !std::mem::replace(&mut self.budget.is_too_large, true) {
            self.report(diagnostic);
        }
    }

    /// The type of a component must be a class that can be instantiated.
    fn check_component_type(&mut self, comp: CompId, slot: SlotId) -> Option<()> {
        let definition = self.tree[slot].definition;
        let span = self.tree[comp].declared.clause.type_name.span;
        let kind = match definition.kind {
            ast::ClassKind::Package => "package",
            ast::ClassKind::Function | ast::ClassKind::OperatorFunction => "function",
            ast::ClassKind::Operator => "operator",
            _ => return Some(()),
        };
        if kind == "function" && self.tree[self.tree[comp].owner].function.is_some() {
            return Some(());
        }
        let class = self.library.qualified_name(self.tree[slot].class);
        self.report(d::not_a_component_type(&class, kind, span));
        None
    }

    /// A size that cannot be found because the value it is taken from is wrong is a consequence, not a mistake.
    fn report_withholding(&mut self, comp: CompId, diagnostic: Diagnostic) {
        let is_consequence = self.has_value(comp)
            && matches!(&self.tree[comp].memo.written, Memo::Known(value) if value.as_ref().is_none_or(|v| v.is_error()));
        if is_consequence { self.messages.withhold(diagnostic) } else { self.report(diagnostic) }
    }

    /// Sizes of a component; reports and returns sizes of 0 where they cannot be found.
    pub fn comp_dims(&mut self, comp: CompId) -> Rc<[u64]> {
        match &self.tree[comp].memo.dims {
            Memo::Known(dims) => return dims.clone(),
            Memo::InProgress => return self.dims_so_far(comp),
            Memo::Unknown => {}
        }
        if matches!(self.tree[comp].memo.kind, Memo::Unknown) {
            self.comp_kind(comp);
            if let Memo::Known(dims) = &self.tree[comp].memo.dims {
                return dims.clone();
            }
        }
        let subscripts = self.comp_subscripts(comp);
        if subscripts.is_empty() {
            let none: Rc<[u64]> = Rc::new([]);
            self.tree[comp].memo.dims = Memo::Known(none.clone());
            return none;
        }
        self.tree[comp].memo.dims = Memo::InProgress;
        let own = self.tree[comp].name;
        let refers_to_itself = |subscript: &ast::Subscript| match subscript {
            ast::Subscript::Expr(e) => crate::deduce::mentions(e, own),
            ast::Subscript::Colon(_) => false,
        };
        let (mut later, now): (Vec<usize>, Vec<usize>) =
            (0..subscripts.len()).partition(|&k| refers_to_itself(subscripts[k].0));
        self.sizes.so_far.insert(comp, vec![None; subscripts.len()]);
        let mut is_wrong = false;
        for k in now {
            is_wrong |= !self.find_dim(comp, k, subscripts[k]);
        }
        // `Real x[size(x, 2), size(x, 3), 2]`: whichever can be found next, until none can.
        while let Some(found) = later.iter().position(|&k| self.quietly(|front| front.find_dim(comp, k, subscripts[k])))
        {
            later.remove(found);
        }
        // What depends on a size that was not found is a consequence.
        for k in later {
            is_wrong = is_wrong || !self.find_dim(comp, k, subscripts[k]);
        }
        if is_wrong {
            self.sizes.wrong.insert(comp);
        }
        let found = self.sizes.so_far.remove(&comp).unwrap_or_default();
        let dims: Rc<[u64]> = found.into_iter().map(|size| size.unwrap_or(0)).collect();
        self.tree[comp].memo.dims = Memo::Known(dims.clone());
        dims
    }

    /// Finds the size of one dimension; reports and returns false where there is none.
    fn find_dim(&mut self, comp: CompId, k: usize, (subscript, scope): (&'a ast::Subscript, InstId)) -> bool {
        let rank = self.sizes.so_far.get(&comp).map_or(k + 1, Vec::len);
        let size = match subscript {
            ast::Subscript::Expr(e) => {
                self.note_index_type(comp, k, scope, e);
                self.dimension(comp, e, scope)
            }
            ast::Subscript::Colon(span) => match self.dims_of_binding(comp).get(k) {
                Some(Dim::Known(n)) => Some(*n),
                _ if self.is_open_dimension(comp, k, rank) => Some(0),
                _ => {
                    let name = self.comp_name(comp);
                    let diagnostic = d::size_not_inferable(&name, *span);
                    if self.may_come_from_outside(comp) {
                        self.messages.open_values.push(diagnostic);
                    } else {
                        self.report_withholding(comp, diagnostic);
                    }
                    None
                }
            },
        };
        if let Some(sizes) = self.sizes.so_far.get_mut(&comp) {
            sizes[k] = size;
        }
        size.is_some()
    }

    fn note_index_type(&mut self, comp: CompId, k: usize, scope: InstId, expr: &'a ast::Expr) {
        let Some(base) = self.type_as_index(scope, expr) else { return };
        self.sizes.set_index_type(comp, k, base);
    }

    /// Sizes of an array that one of its own sizes refers to, as in `Real A[:, size(A, 1)]`.
    fn dims_so_far(&mut self, comp: CompId) -> Rc<[u64]> {
        let sizes = self.sizes.so_far.get(&comp).cloned().unwrap_or_default();
        if sizes.is_empty() || sizes.contains(&None) {
            let (name, span) = (self.comp_name(comp), self.tree[comp].declared.span);
            self.report(d::cyclic_size(&name, span));
        }
        sizes.into_iter().map(|size| size.unwrap_or(0)).collect()
    }

    /// All subscripts of a component, outermost first: of the name, of the type in the clause, of the type itself.
    pub fn comp_subscripts(&mut self, comp: CompId) -> Vec<(&'a ast::Subscript, InstId)> {
        let c = &self.tree[comp];
        let scope = c.declared.scope;
        let mut result: Vec<_> =
            c.declared.declaration.subscripts.iter().chain(&c.declared.clause.subscripts).map(|s| (s, scope)).collect();
        if result.is_empty()
            && let Some((own, of_type, scope)) = c.declared.dims_from
        {
            result = own.iter().chain(of_type).map(|s| (s, scope)).collect();
        }
        if let Some(simple) = self.types.leaf_types.get(&comp) {
            result.extend(simple.subscripts.iter().copied());
        }
        if let Some(of_class) = self.sizes.array_classes.get(&comp) {
            result.extend(of_class.iter().copied());
        }
        result
    }

    /// The value of a written size; reports when there is none.
    fn dimension(&mut self, comp: CompId, expr: &'a ast::Expr, scope: InstId) -> Option<u64> {
        if let Some(size) = self.type_as_size(scope, expr) {
            return Some(size);
        }
        let typed = self.isolated(|front| front.expression(scope, expr));
        if typed.is_error() {
            return None;
        }
        let mut needs_open_size = false;
        typed.walk(&mut |e| {
            needs_open_size |= matches!(e.kind, flat::ExprKind::Var(_)) && e.ty.dims.contains(&Dim::Unknown)
        });
        if needs_open_size {
            let (name, span) = (self.comp_name(comp), self.tree[comp].declared.span);
            self.report(d::cyclic_size(&name, span));
            return None;
        }
        match self.evaluate_structural(&typed) {
            Ok(Value::Integer(n)) if n >= 0 => return Some(n as u64),
            Ok(Value::Integer(n)) => {
                let name = self.comp_name(comp);
                self.report(d::negative_size(&name, n, expr.span));
            }
            Ok(_) => {
                let name = self.comp_name(comp);
                self.report(d::size_not_integer(&name, expr.span));
            }
            Err(why) => {
                let name = self.comp_name(comp);
                self.report_eval(&typed, why, |w| d::size_not_constant(&name, w, expr.span));
            }
        }
        None
    }

    /// `Real x[Boolean]` and `Real x[E]` for an enumeration `E`.
    pub fn type_as_size(&mut self, scope: InstId, expr: &ast::Expr) -> Option<u64> {
        match self.type_as_index(scope, expr)? {
            BaseType::Boolean => Some(2),
            BaseType::Enumeration(id) => Some(self.types.enums[id].literals.len() as u64),
            _ => None,
        }
    }

    fn type_as_index(&mut self, scope: InstId, expr: &ast::Expr) -> Option<BaseType> {
        let ast::ExprKind::Ref(reference) = &expr.kind else { return None };
        if reference.parts.iter().any(|p| !p.subscripts.is_empty()) {
            return None;
        }
        let Some(Member::Class(slot)) = self.lookup_reference_class(scope, reference) else { return None };
        let base = self.simple_type(slot)?.base;
        matches!(base, BaseType::Boolean | BaseType::Enumeration(_)).then_some(base)
    }

    fn dims_of_binding(&mut self, comp: CompId) -> Vec<Dim> {
        if let Some(binding) = self.written_value(comp) {
            return self.sizes_of_value(&binding);
        }
        // Without a value the start attribute is the next best witness of the size.
        let start = self.words.start;
        match self.tree[comp].sub_modifier(start).and_then(|m| m.value.clone()) {
            Some(value) => self.mod_value(&value, 0).map_or(Vec::new(), |e| e.ty.dims),
            None => Vec::new(),
        }
    }

    /// The declared type, sizes included. Components of class type are records here.
    pub fn comp_type(&mut self, comp: CompId) -> Type {
        let base = match self.comp_kind(comp) {
            CompKind::Leaf(leaf) => leaf.base,
            CompKind::Class(class) => match self.record_of_elements(&class) {
                Some(base) => base,
                None => return Type::ERROR,
            },
            CompKind::Error => return Type::ERROR,
        };
        if matches!(self.tree[comp].memo.dims, Memo::InProgress)
            && let Some(sizes) = self.sizes.so_far.get(&comp).filter(|sizes| sizes.iter().any(Option::is_some))
        {
            let dims = sizes.iter().map(|size| size.map_or(Dim::Unknown, Dim::Known));
            return Type::array(base, dims.collect::<Vec<_>>());
        }
        let dims = self.comp_dims(comp);
        if matches!(self.tree[comp].memo.dims, Memo::InProgress) || self.sizes.wrong.contains(&comp) {
            return Type::ERROR;
        }
        Type::array(base, dims.iter().map(|&n| Dim::Known(n)).collect::<Vec<_>>())
    }

    /// The value given to a component, brought to its type.
    pub fn comp_binding(&mut self, comp: CompId) -> Option<Rc<flat::Expr>> {
        match &self.tree[comp].memo.binding {
            Memo::Known(binding) => return binding.clone(),
            Memo::InProgress => {
                let (name, span) = (self.comp_name(comp), self.tree[comp].declared.span);
                self.report(d::cyclic_value(&name, span));
                return None;
            }
            Memo::Unknown => {}
        }
        self.tree[comp].memo.binding = Memo::InProgress;
        let mark = self.messages.mark();
        let written = self.written_value(comp);
        let binding = written.map(|value| {
            let value = (*value).clone();
            let ty = self.comp_type(comp);
            let name = self.comp_name(comp);
            Rc::new(typing::convert(self, value, &ty, typing::Place::Binding { variable: &name }))
        });
        self.tree[comp].memo.binding = Memo::Known(binding.clone());
        self.messages.remember_about(comp, mark);
        binding
    }

    /// The value given to a component as it was written; `:` sizes may still depend on it.
    fn written_value(&mut self, comp: CompId) -> Option<Rc<flat::Expr>> {
        match &self.tree[comp].memo.written {
            Memo::Known(value) => return value.clone(),
            Memo::InProgress => {
                let (name, span) = (self.comp_name(comp), self.tree[comp].declared.span);
                self.report(d::cyclic_value(&name, span));
                return None;
            }
            Memo::Unknown => {}
        }
        self.tree[comp].memo.written = Memo::InProgress;
        let mark = self.messages.mark();
        let value = self.find_written_value(comp).map(Rc::new);
        self.tree[comp].memo.written = Memo::Known(value.clone());
        self.messages.remember_about(comp, mark);
        value
    }

    fn find_written_value(&mut self, comp: CompId) -> Option<flat::Expr> {
        let own = self.tree[comp].modifier.as_ref().and_then(|m| m.value.clone());
        let element = self.tree[comp].owner;
        // What a record declares constant is not set by its constructor, nor by the value of the whole (specification 12.6).
        let is_constant = self.tree[comp].declared.clause.variability == Some(ast::Variability::Constant);
        if !own.as_ref().is_some_and(|v| v.beats_binding || is_constant)
            && let Some(record) = self.tree[element].owner
        {
            if let Some(value) = self.value_of_argument(comp, record) {
                return Some(value);
            }
            let Some(value) = self.value_from_record(comp, element, record) else { return self.own_value(comp, own) };
            self.check_final_field(comp, record, own.is_some());
            return Some(value);
        }
        self.own_value(comp, own)
    }

    fn own_value(&mut self, comp: CompId, own: Option<ModValue<'a>>) -> Option<flat::Expr> {
        let rank = self.comp_subscripts(comp).len();
        self.mod_value(&own?, rank)
    }

    /// The value of a whole record must not override what its class declares final (specification 7.2.3); where the class of the
    /// value declares the same, the two agree.
    fn check_final_field(&mut self, field: CompId, record: CompId, has_value: bool) {
        let is_final = |c: &Comp| c.declared.clause.prefixes.is_final;
        if !has_value || !is_final(&self.tree[field]) {
            return;
        }
        let Some(value) = self.written_value(record) else { return };
        let BaseType::Record(id) = value.ty.base else { return };
        let inst = self.slot_instance(self.types.record_slots[id]);
        if let Some(Member::Component(given)) = self.member(inst, self.tree[field].name)
            && !is_final(&self.tree[given])
        {
            let (name, declared) = (self.comp_name(field), self.tree[field].declared.span);
            self.report(d::record_overrides_final(&name, value.span, declared));
        }
    }

    /// `Rec r = e` gives `r.x` the value `e.x`.
    fn value_from_record(&mut self, comp: CompId, element: InstId, record: CompId) -> Option<flat::Expr> {
        if !self.has_value(record) {
            return None;
        }
        let CompKind::Class(class) = self.comp_kind(record) else { return None };
        let binding = self.written_value(record)?;
        if binding.is_error() {
            return None;
        }
        if !matches!(binding.ty.base, BaseType::Record(_)) {
            self.comp_binding(record);
            return None;
        }
        let span = binding.span;
        let position = class.elements.iter().position(|&e| e == element)?;
        let dims = self.comp_dims(record);
        let name = self.text(self.tree[comp].name);
        let of_element = self.element_of((*binding).clone(), &dims, position as u64);
        Some(typing::field(self, of_element, name, span))
    }

    /// Whether the component or the record around it is given a value.
    pub fn has_value(&self, comp: CompId) -> bool {
        if self.tree[comp].modifier.as_ref().is_some_and(|m| m.value.is_some()) {
            return true;
        }
        self.tree[self.tree[comp].owner].owner.is_some_and(|outer| self.has_value(outer))
    }

    /// The typed value of a modification for an element with `rank` dimensions of its own.
    pub fn mod_value(&mut self, value: &ModValue<'a>, rank: usize) -> Option<flat::Expr> {
        let ModExpr::Ast(expr, scope) = value.expr else { return None };
        if value.indices.is_empty() {
            return Some(self.isolated(|front| front.expression(scope, expr)));
        }
        let typed = self.shared_value(expr, scope);
        if typed.is_error() {
            return Some((*typed).clone());
        }
        if typed.ty.rank() < value.indices.len() + rank && typed.ty.rank() <= rank {
            if !value.may_be_each {
                let diagnostic = d::missing_each(value.span);
                let is_clear = typed.ty.is_scalar();
                self.report_once(if is_clear { diagnostic } else { diagnostic.severity(Severity::Error) });
            }
            return Some((*typed).clone());
        }
        let span = typed.span;
        let n = value.indices.len().min(typed.ty.rank());
        let indices = &value.indices[value.indices.len() - n..];
        if let Some(element) = element_at(&typed, indices) {
            return Some(element.clone());
        }
        let subscripts = indices.iter().map(|position| position.subscript(span)).collect();
        Some(self.index_by((*typed).clone(), subscripts, span))
    }

    /// The typed value of a modification of a component array, of which each element takes its part. It is kept: to type an array
    /// again for each of its elements takes time that grows with the square of their number.
    fn shared_value(&mut self, expr: &'a ast::Expr, scope: InstId) -> Rc<flat::Expr> {
        let key = (std::ptr::from_ref(expr), scope);
        if let Some(value) = self.tree.shared_values.get(&key) {
            return value.clone();
        }
        let typed = Rc::new(self.isolated(|front| front.expression(scope, expr)));
        let is_final = typed.ty.rank() > 0 && typed.ty.dims.iter().all(|dim| dim.known().is_some());
        let is_in_model = self.functions.current.is_none() && !self.context.in_initial_section;
        if is_final && is_in_model && !typed.is_error() {
            self.tree.shared_values.insert(key, typed.clone());
        }
        typed
    }

    /// Runs `f` outside the loops and subscripts that surround the present expression.
    pub fn isolated<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let inside = self.context.step_out();
        let result = f(self);
        self.context = inside;
        result
    }

    /// Tries something; where it fails, its messages are taken back.
    fn quietly(&mut self, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let mark = self.messages.mark();
        let succeeded = f(self);
        if !succeeded {
            self.messages.take_back(mark);
        }
        succeeded
    }

    /// The element at a row-major position of an array value.
    pub fn element_of(&mut self, value: flat::Expr, dims: &[u64], position: u64) -> flat::Expr {
        if dims.is_empty() || value.is_error() || value.ty.rank() < dims.len() {
            return value;
        }
        let span = value.span;
        let index = unravel(position, dims);
        let subscripts = index.iter().map(|&i| flat::Expr::integer(i as i64, span)).collect();
        self.index_by(value, subscripts, span)
    }

    /// Flat name of a component, for messages and for the flat model.
    pub fn comp_name(&self, comp: CompId) -> String {
        let c = &self.tree[comp];
        let name = self.text(c.name);
        match &self.tree[c.owner].path {
            Some(path) if !path.is_empty() => format!("{path}.{name}"),
            _ => name.to_owned(),
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.messages.report(diagnostic);
    }

    pub fn report_always(&mut self, diagnostic: Diagnostic) {
        self.messages.report_always(diagnostic);
    }

    pub fn report_once(&mut self, diagnostic: Diagnostic) {
        self.messages.report_once(diagnostic);
    }
}

fn element_path(outer: &str, name: &str, index: &[Position]) -> String {
    let at = |position: &Position| match position {
        Position::At(i) => i.to_string(),
        Position::Each(_) => ":".to_owned(),
    };
    let name = match index {
        [] => name.to_owned(),
        _ => format!("{name}[{}]", index.iter().map(at).collect::<Vec<_>>().join(",")),
    };
    if outer.is_empty() { name } else { format!("{outer}.{name}") }
}

/// Positions of one element.
pub fn positions(index: &[u32]) -> Vec<Position> {
    index.iter().map(|&i| Position::At(i)).collect()
}

/// The next index in row-major order, counting from 1.
pub fn advance(index: &mut [u32], dims: &[u64]) {
    for k in (0..index.len()).rev() {
        if u64::from(index[k]) < dims[k] {
            index[k] += 1;
            return;
        }
        index[k] = 1;
    }
}

/// The index (from 1) of a row-major position (from 0).
pub fn unravel(mut position: u64, dims: &[u64]) -> Vec<u64> {
    let mut index = vec![1; dims.len()];
    for k in (0..dims.len()).rev() {
        if dims[k] > 0 {
            index[k] = position % dims[k] + 1;
            position /= dims[k];
        }
    }
    index
}

/// `fill(value, sizes…)`.
pub fn fill(value: flat::Expr, sizes: &[u64]) -> flat::Expr {
    let span = value.span;
    let outer: Vec<Dim> = sizes.iter().map(|&n| Dim::Known(n)).collect();
    let ty = value.ty.with_outer(&outer);
    let mut arguments = vec![value];
    arguments.extend(sizes.iter().map(|&n| flat::Expr::integer(n as i64, span)));
    flat::Expr::builtin(flat::Builtin::Fill, arguments, ty, span)
}
