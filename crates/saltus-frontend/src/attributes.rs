//! Attributes of variables: `start`, `fixed`, `nominal` and the like, from modifications and types.
//!
//! ```text
//! type T = Real[3](start = {1, 2, 3}); T x[2];    ⇒    x(start = {{1, 2, 3}, {1, 2, 3}})
//! ```

use saltus_base::Name;
use saltus_flat::{Attributes, BaseType, Confidence, Expr, ExprKind, Type, Variability};
use saltus_typing as typing;

use crate::Front;
use crate::assemble::attribute_names;
use crate::diagnostics as d;
use crate::instance::{CompId, Memo};
use crate::modifier::{Mod, ModExpr, ModValue};

/// Parameters that are equal to each other, at most, of which the start of a variable is the first.
const MOST_PARAMETERS_IN_A_ROW: u32 = 100;

impl<'a> Front<'a> {
    /// An array needs a value for each element, or `each` (specification 7.2.5). What its type says holds for elements.
    fn check_each(&mut self, comp: CompId, name: Name, sub: &Mod<'a>, value: &ModValue<'a>, expr: &Expr) {
        if expr.ty.is_scalar() && !sub.is_each && !self.is_said_by_type(comp, name, value) {
            self.report_once(d::missing_each(value.span));
        }
    }

    /// Does the type of a component give this value to the attribute `name`, not its declaration?
    fn is_said_by_type(&self, comp: CompId, name: Name, value: &ModValue<'_>) -> bool {
        let of_type = self.types.leaf_types.get(&comp).and_then(|t| t.modifier.as_ref()).and_then(|m| m.sub(name));
        of_type.and_then(|m| m.value.as_ref().map(|v| v.span)) == Some(value.span)
    }

    /// `type T = Real[3](start = {1, 2, 3}); T x[2]`: each element of `x` is a `T` and has all three.
    fn for_each_of_type(&self, comp: CompId, name: Name, value: &ModValue<'_>, expr: Expr, ty: &Type) -> Expr {
        let rank = expr.ty.rank();
        if rank == 0 || rank >= ty.rank() || !self.is_said_by_type(comp, name, value) {
            return expr;
        }
        let outer: Option<Vec<u64>> = ty.dims[..ty.rank() - rank].iter().map(|d| d.known()).collect();
        outer.map_or(expr.clone(), |sizes| crate::component::fill(expr, &sizes))
    }

    pub fn attributes(&mut self, comp: CompId, ty: &Type) -> Attributes {
        let mut attributes = Attributes::default();
        let Some(modifier) = self.tree[comp].modifier.clone() else { return attributes };
        for (name, sub) in &modifier.subs {
            let text = self.text(*name);
            if !attribute_names(ty.base).contains(&text) {
                if !ty.is_error() {
                    self.report(d::no_such_attribute(text, &self.comp_name(comp), ty.base, sub.span));
                }
                continue;
            }
            if !sub.subs.is_empty() || !sub.redeclares.is_empty() || sub.is_deselected {
                self.report(d::attribute_structure(text, &self.comp_name(comp), sub.span));
            }
            let Some(value) = sub.value.clone() else { continue };
            let Some(expr) = self.mod_value(&value, ty.rank()) else { continue };
            if expr.is_error() {
                continue;
            }
            if ty.rank() > 0 {
                self.check_each(comp, *name, sub, &value, &expr);
            }
            let expr = self.for_each_of_type(comp, *name, &value, expr, ty);
            let base = match text {
                "fixed" | "unbounded" => BaseType::Boolean,
                "unit" | "displayUnit" | "quantity" => BaseType::String,
                "stateSelect" => expr.ty.base,
                _ => ty.base,
            };
            let dims = if expr.ty.is_scalar() { Vec::new() } else { ty.dims.clone() };
            let variable = self.comp_name(comp);
            let place = typing::Place::Attribute { attribute: text, variable: &variable };
            let expr = typing::convert(self, expr, &Type::array(base, dims), place);
            if typing::variability(self, &expr) > Variability::Parameter && !expr.is_error() {
                self.report(d::attribute_varies(text, &variable, expr.span));
            }
            if text == "start" {
                let of_attribute = self.level(&value);
                attributes.confidence = Confidence { of_value: self.level_of_value(&expr, of_attribute), of_attribute };
            }
            if let Some(slot) = attributes.slot(text).filter(|_| !expr.is_error()) {
                *slot = Some(expr);
            }
        }
        attributes
    }

    /// The model component hierarchy level on which something is said; the model itself has 1, types of packages none.
    fn level(&self, value: &ModValue<'_>) -> u32 {
        match value.expr {
            ModExpr::Ast(_, scope) if self.tree[scope].path.is_some() => self.tree[scope].depth + 1,
            _ => u32::MAX,
        }
    }

    /// The outermost level on which one of the parameters has its value that `expr`, given on `level`, is equal to.
    fn level_of_value(&self, expr: &Expr, level: u32) -> u32 {
        let (mut outermost, mut expr) = (level, expr.clone());
        for _ in 0..MOST_PARAMETERS_IN_A_ROW {
            let ExprKind::Var(var) = expr.kind else { break };
            let Some(comp) = self.tree.vars.get(var).map(|&comp| &self.tree[comp]) else { break };
            if let Some(value) = comp.modifier.as_ref().and_then(|m| m.value.as_ref()) {
                outermost = outermost.min(self.level(value));
            }
            let Memo::Known(Some(binding)) = &comp.memo.binding else { break };
            expr = (**binding).clone();
        }
        outermost
    }
}
