//! Binding the arguments of a call to the names of a signature, and checking one argument at a time.
//!
//! `homotopy(simplified = 0, actual = x)` with the signature `actual, simplified` gives `[x, 0]`.

use saltus_base::Span;
use saltus_flat::{BaseType, Builtin, Dim, Expr, Type, Variability};

use crate::diagnostics::calls;
use crate::operators::has_value;
use crate::shape::{merge_dims, to_real};
use crate::{Context, Place, convert, variability};

pub(super) struct Call<'a> {
    pub function: Builtin,
    pub positional: Vec<Expr>,
    pub named: Vec<(&'a str, Expr)>,
    pub span: Span,
}

impl Call<'_> {
    pub fn name(&self) -> &'static str {
        self.function.name()
    }

    /// The arguments in the order of `names`; the first `required` must be there, the others may be missing.
    pub fn bind(self, cx: &mut dyn Context, names: &[&str], required: usize) -> Option<Bound> {
        let function = self.name();
        let owned = || names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        if self.positional.len() > names.len() {
            let given = self.positional.len() + self.named.len();
            cx.report(calls::too_many_arguments(function, &owned(), given, self.span));
            return None;
        }
        let mut slots: Vec<Option<Expr>> = self.positional.into_iter().map(Some).collect();
        slots.resize(names.len(), None);
        let mut ok = true;
        for (name, value) in self.named {
            let Some(position) = names.iter().position(|n| *n == name) else {
                cx.report(calls::unknown_argument(function, name, &owned(), value.span));
                ok = false;
                continue;
            };
            if slots[position].is_some() {
                cx.report(calls::argument_given_twice(function, name, value.span));
                ok = false;
            }
            slots[position] = Some(value);
        }
        if !ok {
            return None;
        }
        if let Some(missing) = slots.iter().take(required).position(Option::is_none) {
            cx.report(calls::missing_argument(function, missing + 1, names[missing], &owned(), self.span));
            return None;
        }
        for value in slots.iter().flatten() {
            if !has_value(cx, value) {
                return None;
            }
        }
        Some(Bound { function, slots })
    }

    /// The only argument of a function with one.
    pub fn bind_one(self, cx: &mut dyn Context, name: &str) -> Option<Expr> {
        self.bind(cx, &[name], 1)?.take(0)
    }
}

/// Arguments in the order of the signature.
pub(super) struct Bound {
    pub function: &'static str,
    slots: Vec<Option<Expr>>,
}

impl Bound {
    /// The argument at `position` (from 0), if it was given.
    pub fn take(&mut self, position: usize) -> Option<Expr> {
        self.slots.get_mut(position).and_then(Option::take)
    }

    pub fn peek(&self, position: usize) -> Option<&Expr> {
        self.slots.get(position).and_then(Option::as_ref)
    }

    /// A scalar or array argument that must have exactly this type (an Integer becomes Real); `None` after a message,
    /// `Some(None)` where it is missing.
    pub fn take_as(&mut self, cx: &mut dyn Context, position: usize, name: &str, ty: &Type) -> Option<Option<Expr>> {
        let Some(value) = self.take(position) else {
            return Some(None);
        };
        let place = Place::Argument { function: self.function, position: position + 1, name };
        let value = convert(cx, value, ty, place);
        if value.is_error() { None } else { Some(Some(value)) }
    }

    /// The same for an argument that has a default.
    pub fn take_or(&mut self, cx: &mut dyn Context, position: usize, name: &str, default: Expr) -> Option<Expr> {
        let ty = default.ty.clone();
        Some(self.take_as(cx, position, name, &ty)?.unwrap_or(default))
    }

    /// A Real scalar or array of any size, converted from Integer.
    pub fn real(&mut self, cx: &mut dyn Context, position: usize, name: &str) -> Option<Expr> {
        self.numeric_as(cx, position, name, "Real").map(to_real)
    }

    /// A Real or Integer scalar or array of any size.
    pub fn numeric(&mut self, cx: &mut dyn Context, position: usize, name: &str) -> Option<Expr> {
        self.numeric_as(cx, position, name, "Real or Integer")
    }

    fn numeric_as(&mut self, cx: &mut dyn Context, position: usize, name: &str, expected: &str) -> Option<Expr> {
        let value = self.take(position)?;
        if value.ty.is_numeric() {
            return Some(value);
        }
        self.wrong_type(cx, position, name, expected, &value)
    }

    /// Reports that an argument is not what was expected.
    pub fn wrong_type<T>(
        &self,
        cx: &mut dyn Context,
        position: usize,
        name: &str,
        expected: &str,
        value: &Expr,
    ) -> Option<T> {
        let diagnostic = calls::argument_type(cx, self.function, position + 1, name, expected, value);
        cx.report(diagnostic);
        None
    }

    /// A numeric array of the given rank, described by `expected`.
    pub fn numeric_array(
        &mut self,
        cx: &mut dyn Context,
        position: usize,
        name: &str,
        rank: usize,
        expected: &str,
    ) -> Option<Expr> {
        let value = self.take(position)?;
        if value.ty.is_numeric() && value.ty.rank() == rank {
            return Some(value);
        }
        self.wrong_type(cx, position, name, expected, &value)
    }

    /// A scalar Integer.
    pub fn integer(&mut self, cx: &mut dyn Context, position: usize, name: &str) -> Option<Expr> {
        let value = self.take(position)?;
        if value.ty == Type::INTEGER {
            return Some(value);
        }
        self.wrong_type(cx, position, name, "a scalar Integer", &value)
    }
}

/// Reports a time-varying argument where a parameter expression is wanted.
pub(super) fn require_parameter(cx: &mut dyn Context, function: &str, name: &str, value: &Expr) -> Option<()> {
    let given = variability(cx, value);
    if given <= Variability::Parameter || cx.in_function() {
        return Some(());
    }
    let diagnostic = calls::parameter_expected(cx, function, name, value, given);
    cx.report(diagnostic);
    None
}

/// The common sizes of the array arguments of an element-wise function; scalars go with everything.
pub(super) fn spread(cx: &mut dyn Context, function: &str, arguments: &[&Expr]) -> Option<Vec<Dim>> {
    let mut dims: Option<(usize, Vec<Dim>)> = None;
    for (i, argument) in arguments.iter().enumerate().filter(|(_, a)| !a.ty.is_scalar()) {
        dims = Some(match dims {
            None => (i, argument.ty.dims.clone()),
            Some((first, dims)) => match merge_dims(&dims, &argument.ty.dims) {
                Some(merged) => (first, merged),
                None => {
                    let first_ty = &arguments[first].ty;
                    let diagnostic =
                        calls::argument_sizes_differ(cx, function, (first + 1, first_ty), (i + 1, argument));
                    cx.report(diagnostic);
                    return None;
                }
            },
        });
    }
    Some(dims.map(|(_, dims)| dims).unwrap_or_default())
}

/// The call with the given base type over the common sizes of its arguments.
pub(super) fn elementwise(
    cx: &mut dyn Context,
    function: Builtin,
    arguments: Vec<Expr>,
    base: BaseType,
    span: Span,
) -> Option<Expr> {
    let dims = spread(cx, function.name(), &arguments.iter().collect::<Vec<_>>())?;
    Some(Expr::builtin(function, arguments, Type::array(base, dims), span))
}
