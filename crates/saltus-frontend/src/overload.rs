//! Overloaded operators of operator records (specification chapter 14).
//!
//! ```text
//! Complex a, b;   a + b   ⇒   Complex.'+'(a, b)
//!                 2 * a   ⇒   Complex.'*'.multiply(Complex.'constructor'.fromReal(2), a)
//! ```

use saltus_base::Span;
use saltus_flat::{self as flat, BaseType, Expr, FunctionId, RecordId, Type};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{InstId, Member, SlotId};

impl<'a> Front<'a> {
    pub fn overloaded_unary(&mut self, op: ast::UnaryOp, operand: Expr, span: Span) -> Expr {
        let name = match op {
            ast::UnaryOp::Plus | ast::UnaryOp::ElementPlus => return operand,
            ast::UnaryOp::Minus | ast::UnaryOp::ElementMinus => "'-'",
            ast::UnaryOp::Not => "'not'",
        };
        let BaseType::Record(id) = operand.ty.base else { return Expr::error(span) };
        let candidates = self.operator_functions(id, name);
        match self.apply_first(&candidates, std::slice::from_ref(&operand), span) {
            Some(call) => call,
            None if operand.ty.rank() > 0 => {
                self.map_elements(operand, span, &mut |front, e| front.overloaded_unary(op, e, span))
            }
            None => {
                let ty = typing::type_name(self, &operand.ty);
                self.report(d::no_operator(name, &[&ty], span));
                Expr::error(span)
            }
        }
    }

    pub fn overloaded_binary(&mut self, op: ast::BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        if left.is_error() || right.is_error() {
            return Expr::error(span);
        }
        let has_arrays = left.ty.rank() > 0 || right.ty.rank() > 0;
        if has_arrays && is_element_wise(op) {
            return self.overloaded_arrays(op, left, right, span);
        }
        let name = operator_name(op);
        let functions = [&left.ty, &right.ty].map(|ty| match ty.base {
            BaseType::Record(id) => self.operator_functions(id, name),
            _ => Vec::new(),
        });
        let mut candidates = functions[0].clone();
        candidates.extend(functions[1].iter().filter(|f| !functions[0].contains(f)));
        let arguments = [left, right];
        if let Some(call) = self.apply_first(&candidates, &arguments, span) {
            return call;
        }
        if let Some(call) = self.apply_converted(name, &functions, &arguments, span) {
            return call;
        }
        let [left, right] = arguments;
        // Vectors are not multiplied by the scalar product of real numbers: that would not be the one of complex ones.
        if has_arrays && !(op == ast::BinaryOp::Multiply && left.ty.rank() == 1 && right.ty.rank() > 0) {
            return self.overloaded_arrays(op, left, right, span);
        }
        let (l, r) = (typing::type_name(self, &left.ty), typing::type_name(self, &right.ty));
        self.report(d::no_operator(name, &[&l, &r], span));
        Expr::error(span)
    }

    /// Element by element, and products of vectors and matrices by sums of products.
    fn overloaded_arrays(&mut self, op: ast::BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        use ast::BinaryOp as B;
        let (l, r) = (left.ty.rank(), right.ty.rank());
        if op == B::Multiply && l > 0 && r > 0 {
            return self.overloaded_product(left, right, span);
        }
        match (l, r) {
            (0, _) => {
                self.map_elements(right, span, &mut |front, e| front.overloaded_binary(op, left.clone(), e, span))
            }
            (_, 0) => {
                self.map_elements(left, span, &mut |front, e| front.overloaded_binary(op, e, right.clone(), span))
            }
            _ => {
                let types = [left.ty.clone(), right.ty.clone()];
                let (ls, rs) = (self.array_elements(left, span), self.array_elements(right, span));
                let (Some(ls), Some(rs)) = (ls, rs) else { return Expr::error(span) };
                if ls.len() != rs.len() {
                    self.report(d::operand_sizes(operator_name(op), ls.len(), rs.len(), span));
                    return Expr::error(span);
                }
                if ls.is_empty() {
                    return self.overloaded_nothing(op, types, span);
                }
                let items = ls.into_iter().zip(rs).map(|(l, r)| self.overloaded_binary(op, l, r, span)).collect();
                typing::array(self, items, span)
            }
        }
    }

    fn overloaded_product(&mut self, left: Expr, right: Expr, span: Span) -> Expr {
        match (left.ty.rank(), right.ty.rank()) {
            (2, _) => {
                self.map_elements(left, span, &mut |front, row| front.overloaded_product(row, right.clone(), span))
            }
            (1, 1) => {
                let products = self.overloaded_arrays(ast::BinaryOp::ElementMultiply, left, right, span);
                self.overloaded_sum_of_array(products, span)
            }
            (1, 2) => {
                let columns = typing::builtin(self, flat::Builtin::Transpose, vec![right], Vec::new(), span);
                self.map_elements(columns, span, &mut |front, column| {
                    front.overloaded_product(left.clone(), column, span)
                })
            }
            _ => {
                self.report(d::operand_sizes("'*'", left.ty.rank(), right.ty.rank(), span));
                Expr::error(span)
            }
        }
    }

    pub fn overloaded_sum_of_array(&mut self, array: Expr, span: Span) -> Expr {
        let BaseType::Record(id) = array.ty.base else { return Expr::error(span) };
        if array.ty.rank() > 1 {
            let rows = self.map_elements(array, span, &mut |front, row| front.overloaded_sum_of_array(row, span));
            return self.overloaded_sum_of_array(rows, span);
        }
        let array_type = array.ty.clone();
        let Some(items) = self.array_elements(array, span) else { return Expr::error(span) };
        let mut items = items.into_iter();
        let Some(first) = items.next() else {
            let zero = self.operator_functions(id, "'0'");
            return self.apply_first(&zero, &[], span).unwrap_or_else(|| {
                let ty = typing::type_name(self, &array_type);
                self.report(d::no_operator("'0'", &[&ty], span));
                Expr::error(span)
            });
        };
        items.fold(first, |sum, e| self.overloaded_binary(ast::BinaryOp::Add, sum, e, span))
    }

    /// A sum over records whose range is known at run time only.
    pub fn overloaded_sum(&mut self, body: Expr, _iterators: Vec<flat::Iterator>, span: Span) -> Expr {
        let ty = typing::type_name(self, &body.ty);
        self.report(d::no_operator("sum", &[&ty], span));
        Expr::error(span)
    }

    pub fn overloaded_string(&mut self, arguments: &[Expr], span: Span) -> Option<Expr> {
        let BaseType::Record(id) = arguments.first()?.ty.base else { return None };
        let candidates = self.operator_functions(id, "'String'");
        self.apply_first(&candidates, arguments, span)
    }

    /// The functions of an operator: the operator function itself, or all functions of the operator class.
    fn operator_functions(&mut self, id: RecordId, name: &str) -> Vec<FunctionId> {
        let slot = self.types.record_slots[id];
        let inst = self.slot_instance(slot);
        let name = self.library.intern(name);
        match self.member(inst, name) {
            Some(Member::Class(operator)) => self.functions_of_operator(operator),
            _ => Vec::new(),
        }
    }

    fn functions_of_operator(&mut self, operator: SlotId) -> Vec<FunctionId> {
        if self.is_function(operator) {
            return vec![self.function_of(operator)];
        }
        let inst = self.slot_instance(operator);
        let class = self.tree[inst].class;
        let mut functions = Vec::new();
        for child in self.library.children(class) {
            let Some(name) = self.library.name_of(child) else { continue };
            if let Some(Member::Class(slot)) = self.member(inst, name)
                && self.is_function(slot)
            {
                functions.push(self.function_of(slot));
            }
        }
        functions
    }

    /// Calls the first function whose inputs take exactly these types.
    fn apply_first(&mut self, candidates: &[FunctionId], arguments: &[Expr], span: Span) -> Option<Expr> {
        let fitting: Vec<FunctionId> = candidates.iter().copied().filter(|&f| self.accepts(f, arguments)).collect();
        let exact: Vec<FunctionId> = fitting.iter().copied().filter(|&f| self.is_exact(f, arguments)).collect();
        let best = if exact.is_empty() { fitting } else { exact };
        let function = *best.first()?;
        if best.len() > 1 {
            let names: Vec<String> = best.iter().map(|&f| self.functions[f].name.clone()).collect();
            let operator = names[0].rsplit('.').nth(1).unwrap_or_default().to_owned();
            self.report(d::ambiguous_operator(&operator, &names, span));
        }
        Some(self.call_with_defaults(function, arguments, span))
    }

    fn accepts(&self, function: FunctionId, arguments: &[Expr]) -> bool {
        let entry = &self.functions[function];
        if arguments.len() > entry.inputs.len() {
            return false;
        }
        let fits = |(input, argument): (&flat::LocalId, &Expr)| {
            let ty = &entry.locals[*input].ty;
            let same_base = ty.base == argument.ty.base
                || (ty.base == BaseType::Real && argument.ty.base == BaseType::Integer)
                || self.types.same_record(ty.base, argument.ty.base);
            same_base && ty.rank() == argument.ty.rank()
        };
        let rest_has_defaults = entry.inputs[arguments.len()..].iter().all(|&input| {
            entry
                .components
                .iter()
                .find(|&&c| self.tree[c].local == Some(input))
                .is_some_and(|&c| self.tree[c].modifier.as_ref().is_some_and(|m| m.value.is_some()))
        });
        rest_has_defaults && entry.inputs.iter().zip(arguments).all(fits)
    }

    /// Whether no argument needs a conversion.
    fn is_exact(&self, function: FunctionId, arguments: &[Expr]) -> bool {
        let entry = &self.functions[function];
        entry.inputs.iter().zip(arguments).all(|(&input, argument)| {
            let base = entry.locals[input].ty.base;
            base == argument.ty.base || self.types.same_record(base, argument.ty.base)
        })
    }

    /// Tries again with one operand turned into a record by a constructor: the record that a function of the other operand takes
    /// in its place (specification 14.5). Several ways to do so are an error.
    fn apply_converted(
        &mut self,
        operator: &str,
        functions: &[Vec<FunctionId>; 2],
        arguments: &[Expr; 2],
        span: Span,
    ) -> Option<Expr> {
        let mut found: Vec<(usize, FunctionId, FunctionId)> = Vec::new();
        for k in 0..2 {
            for &function in &functions[1 - k] {
                let entry = &self.functions[function];
                let Some(wanted) = entry.inputs.get(k).map(|&input| entry.locals[input].ty.base) else { continue };
                let BaseType::Record(id) = wanted else { continue };
                if wanted == arguments[k].ty.base || self.types.same_record(wanted, arguments[k].ty.base) {
                    continue;
                }
                for constructor in self.operator_functions(id, "'constructor'") {
                    let converted = Expr::new(flat::ExprKind::Record(Vec::new()), Type::scalar(wanted), span);
                    let mut both = arguments.clone();
                    both[k] = converted;
                    if self.accepts(constructor, &arguments[k..=k]) && self.accepts(function, &both) {
                        found.push((k, function, constructor));
                    }
                }
            }
        }
        let exact = |front: &Self, (k, _, constructor): &(usize, FunctionId, FunctionId)| {
            front.is_exact(*constructor, &arguments[*k..=*k])
        };
        if found.iter().any(|way| exact(self, way)) {
            found.retain(|way| exact(self, way));
        }
        let &(k, function, constructor) = found.first()?;
        if found.len() > 1 {
            let names: Vec<String> = found.iter().map(|&(_, f, _)| self.functions[f].name.clone()).collect();
            self.report(d::ambiguous_operator(operator, &names, span));
        }
        let mut both = arguments.clone();
        both[k] = self.call_with_defaults(constructor, &arguments[k..=k], span);
        Some(self.call_with_defaults(function, &both, span))
    }

    /// A call with the first inputs given.
    fn call_with_defaults(&mut self, function: FunctionId, arguments: &[Expr], span: Span) -> Expr {
        let mut given: Vec<Option<Expr>> = arguments.iter().cloned().map(Some).collect();
        given.resize(self.functions[function].inputs.len(), None);
        self.typed_call(function, given, span)
    }

    /// `Complex(…)`: a matching function of `'constructor'`, or `None` for the record's own constructor.
    pub fn overloaded_constructor(
        &mut self,
        scope: InstId,
        slot: SlotId,
        call: &'a ast::Call,
        span: Span,
    ) -> Option<Expr> {
        let inst = self.slot_instance(slot);
        let name = self.library.intern("'constructor'");
        let Some(Member::Class(operator)) = self.member(inst, name) else { return None };
        let candidates = self.functions_of_operator(operator);
        self.check_operator_outputs(&candidates);
        let made = self.call_one_of(scope, &candidates, call, span);
        if made.is_none() && !candidates.is_empty() {
            let name = self.ref_text(&call.name);
            self.report(d::no_constructor(&name, span));
            return Some(Expr::error(span));
        }
        made
    }

    fn check_operator_outputs(&mut self, functions: &[FunctionId]) {
        for &function in functions {
            let entry = &self.functions[function];
            if entry.outputs.len() != 1 {
                let (name, span) = (entry.name.clone(), self.tree[entry.slot].definition.name.span);
                self.report(d::operator_outputs(&name, span));
            }
        }
    }

    /// `Complex.'*'(a, b)` or a call of an operator by name.
    pub fn operator_call(&mut self, scope: InstId, inst: InstId, call: &'a ast::Call, span: Span) -> Expr {
        let candidates = match self.tree[inst].slot {
            Some(slot) => self.functions_of_operator(slot),
            None => Vec::new(),
        };
        match self.call_one_of(scope, &candidates, call, span) {
            Some(expr) => expr,
            None => {
                let name = self.ref_text(&call.name);
                self.report(d::no_operator(&name, &[], span));
                Expr::error(span)
            }
        }
    }

    fn call_one_of(
        &mut self,
        scope: InstId,
        candidates: &[FunctionId],
        call: &'a ast::Call,
        span: Span,
    ) -> Option<Expr> {
        let positional: Vec<Expr> = call.arguments.iter().map(|e| self.expression(scope, e)).collect();
        let named: Vec<(ast::Ident, Expr)> =
            call.named.iter().map(|n| (n.name, self.expression(scope, &n.value))).collect();
        if positional.iter().chain(named.iter().map(|(_, e)| e)).any(Expr::is_error) {
            return Some(Expr::error(span));
        }
        let mut found: Vec<(FunctionId, Vec<Option<Expr>>, bool)> = Vec::new();
        for &function in candidates {
            let entry = &self.functions[function];
            if positional.len() + named.len() > entry.inputs.len() {
                continue;
            }
            let names_fit = named.iter().all(|(ident, _)| {
                entry.inputs[positional.len()..].iter().any(|&i| entry.locals[i].name == self.text(ident.name))
            });
            if !names_fit {
                continue;
            }
            let Some(arguments) = self.match_arguments(function, positional.clone(), named.clone(), span) else {
                continue;
            };
            let given: Vec<Expr> = arguments.iter().flatten().cloned().collect();
            let is_prefix = arguments.iter().take(given.len()).all(Option::is_some);
            // Arrays are spread over the calls of a function of scalars.
            let scalar = |e: &Expr| Expr::new(flat::ExprKind::Record(Vec::new()), Type::scalar(e.ty.base), span);
            let elements: Vec<Expr> = given.iter().map(scalar).collect();
            if is_prefix && (self.accepts(function, &given) || self.accepts(function, &elements)) {
                found.push((function, arguments, self.is_exact(function, &given)));
            }
        }
        // An Integer is taken for a Real where nothing takes it as what it is.
        if found.iter().any(|(_, _, is_exact)| *is_exact) {
            found.retain(|(_, _, is_exact)| *is_exact);
        }
        if found.len() > 1 {
            let names: Vec<String> = found.iter().map(|(f, ..)| self.functions[*f].name.clone()).collect();
            self.report(d::ambiguous_operator(&self.ref_text(&call.name), &names, span));
        }
        let (function, arguments, _) = found.into_iter().next()?;
        Some(self.typed_call(function, arguments, span))
    }

    /// The elements of an array along its first dimension.
    pub fn array_elements(&mut self, array: Expr, span: Span) -> Option<Vec<Expr>> {
        let n = array.ty.dims.first()?.known()?;
        match array.kind {
            // Rows without elements: `fill(c, 2, 0)`.
            flat::ExprKind::Array(items) if items.is_empty() && n > 0 => {
                let row = Expr::new(flat::ExprKind::Array(Vec::new()), array.ty.element(1), span);
                return Some(vec![row; usize::try_from(n).ok()?]);
            }
            flat::ExprKind::Array(items) => return Some(items),
            _ => {}
        }
        Some((1..=n).map(|i| self.index_by(array.clone(), vec![Expr::integer(i as i64, span)], span)).collect())
    }

    /// An array without elements, of the type that the operator gives for one.
    fn overloaded_nothing(&mut self, op: ast::BinaryOp, types: [Type; 2], span: Span) -> Expr {
        let dims = types[0].dims.clone();
        let [left, right] = types.map(|ty| Expr::new(flat::ExprKind::Record(Vec::new()), Type::scalar(ty.base), span));
        let one = self.overloaded_binary(op, left, right, span);
        if one.is_error() {
            return one;
        }
        Expr::new(flat::ExprKind::Array(Vec::new()), Type::array(one.ty.base, dims), span)
    }

    fn map_elements(&mut self, array: Expr, span: Span, f: &mut dyn FnMut(&mut Self, Expr) -> Expr) -> Expr {
        let ty: Type = array.ty.clone();
        let Some(items) = self.array_elements(array, span) else {
            self.report(d::operand_sizes("operator", 0, 0, span));
            return Expr::error(span);
        };
        if items.is_empty() {
            return Expr::new(flat::ExprKind::Array(Vec::new()), ty, span);
        }
        let items = items.into_iter().map(|e| f(self, e)).collect();
        typing::array(self, items, span)
    }
}

fn is_element_wise(op: ast::BinaryOp) -> bool {
    use ast::BinaryOp as B;
    matches!(op, B::ElementAdd | B::ElementSubtract | B::ElementMultiply | B::ElementDivide | B::ElementPower)
}

fn operator_name(op: ast::BinaryOp) -> &'static str {
    use ast::BinaryOp as B;
    match op {
        B::Add | B::ElementAdd => "'+'",
        B::Subtract | B::ElementSubtract => "'-'",
        B::Multiply | B::ElementMultiply => "'*'",
        B::Divide | B::ElementDivide => "'/'",
        B::Power | B::ElementPower => "'^'",
        B::Less => "'<'",
        B::LessEqual => "'<='",
        B::Greater => "'>'",
        B::GreaterEqual => "'>='",
        B::Equal => "'=='",
        B::NotEqual => "'<>'",
        B::And => "'and'",
        B::Or => "'or'",
    }
}
