//! Arrays of a function that is executed have the sizes of their declarations.
//!
//! ```text
//! function f  input Real a[:];  input Real b[size(a, 1)];  …       f({x, y}, {1, 2, 3})     ⇒     an error: 3 against 2
//! function g  input Integer n;  input Real b[n];  …                g(k, {1, 2, 3})          ⇒     assert(k == 3, …)
//! ```
//!
//! Sizes are those of the entry: what the body assigns later does not change them. (Specification: sections 12.4.4, 12.4.5, 10.6.1.)

use saltus_base::{Diagnostic, Index, Span};
use saltus_flat::{Expr, Function, LocalId, Type};
use saltus_program::BinaryFn;

use super::value::Value;
use super::{Lowered, Lowering, Problem};
use crate::dag::NodeId;
use crate::diagnostics;

/// By local and dimension: the size on entry, where the declaration states one that its type does not know.
pub type Sizes = Vec<Vec<Option<NodeId>>>;

impl<'a> Lowering<'a, '_> {
    /// What the declarations of a function that is entered say about sizes.
    pub fn entry_sizes(&mut self, function: &'a Function) -> Lowered<Sizes> {
        let mut sizes = Sizes::new();
        for (id, local) in function.locals.iter() {
            if !local.sizes.iter().any(Option::is_some) {
                continue;
            }
            sizes.resize(id.index(), Vec::new());
            let mut of_local = Vec::with_capacity(local.sizes.len());
            for size in &local.sizes {
                of_local.push(size.as_ref().map(|size| self.entry_size(size)).transpose()?);
            }
            sizes.push(of_local);
        }
        Ok(sizes)
    }

    fn entry_size(&mut self, size: &'a Expr) -> Lowered<NodeId> {
        let node = self.literally(|l| l.scalar(size))?;
        match self.system.dag.value(node) {
            Some(n) if n < 0.0 => Err(self.misfit(saltus_eval::negative_size(size.span, n as i64), size.span)),
            _ => Ok(node),
        }
    }

    /// A value that a local of the function gets has the sizes of its declaration.
    pub fn check_declared_sizes(
        &mut self,
        function: &'a Function,
        id: LocalId,
        value: &Value,
        span: Span,
    ) -> Lowered<()> {
        let Some(local) = function.locals.get(id).filter(|l| !l.ty.is_scalar()) else { return Ok(()) };
        let stated = self.sizes.get(id.index()).cloned().unwrap_or_default();
        let mut expected: Vec<Option<f64>> = known_sizes(&local.ty);
        for (size, stated) in expected.iter_mut().zip(&stated) {
            *size = size.or_else(|| self.system.dag.value((*stated)?));
        }
        for (d, ((&found, declared), size)) in value.dims().iter().zip(&local.sizes).zip(stated).enumerate() {
            let (Some(declared), Some(size), Some(expected)) = (declared, size, expected.get_mut(d)) else { continue };
            if *expected == Some(found as f64) {
                continue;
            }
            let by_number = function.inputs.contains(&id) && saltus_eval::names_number(declared);
            match *expected {
                // Other tools do not look at it: the user is told.
                Some(n) if by_number && self.is_entered && self.is_reached() => {
                    self.tell(saltus_eval::size_stated(span, &local.name, d, n as i64, found));
                }
                Some(_) if !by_number => continue,
                _ => {
                    let number = self.system.dag.constant(found as f64);
                    let is_it = self.system.dag.binary(BinaryFn::Equal, size, number);
                    let wording = diagnostics::size_stated(&local.name, d, found);
                    self.assert_reached_or_warn(is_it, by_number, span, |l| l.wording_with(size, wording, span))?;
                }
            }
            *expected = Some(found as f64);
        }
        self.compare(&expected, value, &local.name, span)
    }

    /// A warning, once.
    pub fn tell(&mut self, warning: Diagnostic) {
        if !self.diagnostics.iter().any(|d| *d == warning) {
            self.diagnostics.push(warning);
        }
    }

    /// A value has the sizes that the type of its place knows.
    pub fn check_known_sizes(&mut self, ty: &Type, value: &Value, name: &str, span: Span) -> Lowered<()> {
        if fits(ty, value) { Ok(()) } else { self.compare(&known_sizes(ty), value, name, span) }
    }

    /// The other sizes of an array without elements are not always kept.
    fn compare(&mut self, expected: &[Option<f64>], value: &Value, name: &str, span: Span) -> Lowered<()> {
        if value.dims().contains(&0) && expected.iter().any(|size| size.is_none_or(|n| n == 0.0)) {
            return Ok(());
        }
        for (d, (size, &found)) in expected.iter().zip(value.dims()).enumerate() {
            if let Some(n) = size.filter(|&n| n != found as f64) {
                return Err(self.misfit(saltus_eval::size_expected(span, name, d, n as i64, found), span));
            }
        }
        Ok(())
    }

    /// An array of the wrong size. Where a function does not get here in any case, the call finds out.
    pub fn misfit(&mut self, problem: Diagnostic, span: Span) -> Problem {
        if self.function.is_none() || self.is_reached() {
            return problem.into();
        }
        diagnostics::not_supported("an array of another size than declared", span).into()
    }
}

/// Has a value all sizes that a type knows?
pub fn fits(ty: &Type, value: &Value) -> bool {
    ty.dims.iter().zip(value.dims()).all(|(dim, &found)| dim.known().is_none_or(|n| n == found as u64))
}

fn known_sizes(ty: &Type) -> Vec<Option<f64>> {
    ty.dims.iter().map(|d| d.known().map(|n| n as f64)).collect()
}
