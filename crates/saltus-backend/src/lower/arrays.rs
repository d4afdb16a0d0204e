//! The array functions of the language. (Specification: section 10.3.)

use saltus_base::Span;
use saltus_flat::{Builtin, Expr, ExprKind};
use saltus_program::BinaryFn;

use super::value::Value;
use super::{Lowered, Lowering};
use crate::dag::NodeId;
use crate::diagnostics;

impl<'a> Lowering<'a, '_> {
    pub fn array_builtin(&mut self, e: &'a Expr, function: Builtin, arguments: &'a [Expr]) -> Lowered<Value> {
        let span = e.span;
        match (function, arguments) {
            (Builtin::Zeros, sizes) => self.filled(0.0, sizes, span),
            (Builtin::Ones, sizes) => self.filled(1.0, sizes, span),
            (Builtin::Fill, [value, sizes @ ..]) => {
                let value = self.value(value)?;
                let outer = self.sizes(sizes, span)?;
                let n = outer.iter().product();
                let copies = vec![value.clone(); n];
                let dims: Vec<usize> = outer.iter().chain(value.dims()).copied().collect();
                self.shaped(dims, copies.iter().flat_map(Value::elements).collect(), span)
            }
            (Builtin::Identity, sizes) => {
                let &[n] = self.sizes(sizes, span)?.as_slice() else {
                    return self.broken("an identity matrix without one size", span);
                };
                let n = self.square(n, span)?;
                Ok(Value::numbers(vec![n, n], (0..n * n).map(|i| self.system.dag.boolean(i / n == i % n)).collect()))
            }
            (Builtin::Diagonal, [v]) => {
                let (v, zero) = (self.scalars(v)?, self.system.dag.constant(0.0));
                let n = self.square(v.len(), span)?;
                let items = (0..n * n).map(|i| if i / n == i % n { v[i % n] } else { zero }).collect();
                Ok(Value::numbers(vec![n, n], items))
            }
            (Builtin::Scalar, [x]) => {
                let value = self.value(x)?;
                self.shaped(vec![], value.elements(), span)
            }
            (Builtin::Vector, [x]) => {
                let elements = self.value(x)?.elements();
                self.shaped(vec![elements.len()], elements, span)
            }
            (Builtin::Matrix, [x]) => {
                let value = self.value(x)?;
                let dims = [value.dims().first().copied().unwrap_or(1), value.dims().get(1).copied().unwrap_or(1)];
                self.shaped(dims.to_vec(), value.elements(), span)
            }
            (Builtin::Promote, [x, rank]) => {
                let value = self.value(x)?;
                let Some(rank) = self.constant(rank)? else { return self.broken("a promotion to no rank", span) };
                let rank = rank as usize;
                let mut dims = value.dims().to_vec();
                dims.resize(rank.clamp(dims.len(), 64), 1);
                self.shaped(dims, value.elements(), span)
            }
            (Builtin::Transpose, [m]) => {
                let value = self.value(m)?;
                let &[rows, columns, ref inner @ ..] = value.dims() else {
                    return self.broken("the transpose of something that is not a matrix", span);
                };
                let width: usize = inner.iter().product();
                let elements = value.elements();
                let order = (0..columns).flat_map(|j| (0..rows).map(move |i| i * columns + j));
                let items = order.flat_map(|p| elements[p * width..(p + 1) * width].to_vec()).collect();
                let dims: Vec<usize> = [columns, rows].iter().chain(inner).copied().collect();
                self.shaped(dims, items, span)
            }
            (Builtin::Symmetric, [m]) => {
                let value = self.value(m)?;
                let (&[n, columns], items) = (value.dims(), value.scalars()) else {
                    return self.broken("symmetric() of something that is not a matrix", span);
                };
                let at = |i: usize| items[(i / n).min(i % n) * columns + (i / n).max(i % n)];
                Ok(Value::numbers(vec![n, n], if n == columns { (0..n * n).map(at).collect() } else { items }))
            }
            (Builtin::Size, [x, dimension]) => {
                let value = self.sized(x)?;
                let d = self.constant(dimension)?;
                match d.and_then(|d| value.dims().get((d as usize).wrapping_sub(1)).copied()) {
                    Some(size) => Ok(self.number(size as f64)),
                    None => self.unsupported("size() of this dimension", span),
                }
            }
            (Builtin::Size, [x]) => {
                let value = self.sized(x)?;
                let sizes = value.dims().iter().map(|&n| self.system.dag.constant(n as f64)).collect();
                Ok(Value::vector(sizes))
            }
            (Builtin::Ndims, [x]) => Ok(self.number(x.ty.rank() as f64)),
            (Builtin::OuterProduct, [a, b]) => {
                let (a, b) = (self.scalars(a)?, self.scalars(b)?);
                self.check_size(a.len().saturating_mul(b.len()), span)?;
                let pairs = a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y)));
                let items = pairs.map(|(x, y)| self.system.dag.binary(BinaryFn::Mul, x, y)).collect();
                Ok(Value::numbers(vec![a.len(), b.len()], items))
            }
            (Builtin::Cross, [a, b]) => self.cross(a, b, span),
            (Builtin::Skew, [a]) => self.skew(a, span),
            (Builtin::Linspace, [a, b, n]) => self.linspace(a, b, n, span),
            (Builtin::Cat, [dimension, parts @ ..]) => self.concatenation(dimension, parts, span),
            _ => self.unsupported(&format!("the operator {}", function.name()), span),
        }
    }

    /// A value whose size is asked for: it may have none yet.
    fn sized(&mut self, x: &'a Expr) -> Lowered<Value> {
        match x.kind {
            ExprKind::Local(id) => self.initialise_local(id, x.span),
            _ => self.value(x),
        }
    }

    fn shaped(&mut self, dims: Vec<usize>, items: Vec<Value>, span: Span) -> Lowered<Value> {
        self.check_size(items.len(), span)?;
        match Value::assemble(dims, items) {
            Some(value) => Ok(value),
            None => self.broken("an array whose items do not fit its sizes", span),
        }
    }

    fn sizes(&mut self, sizes: &'a [Expr], span: Span) -> Lowered<Vec<usize>> {
        let mut dims = Vec::with_capacity(sizes.len());
        for size in sizes {
            match self.constant(size)? {
                Some(n) if n >= 0.0 => dims.push(n as usize),
                _ => return self.unsupported("an array whose size is not constant", span),
            }
        }
        let n = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
        self.check_size(n, span)?;
        Ok(dims)
    }

    fn square(&self, n: usize, span: Span) -> Lowered<usize> {
        self.check_size(n.saturating_mul(n), span)?;
        Ok(n)
    }

    fn filled(&mut self, value: f64, sizes: &'a [Expr], span: Span) -> Lowered<Value> {
        let dims = self.sizes(sizes, span)?;
        let n = dims.iter().product();
        let node = self.system.dag.constant(value);
        Ok(Value::numbers(dims, vec![node; n]))
    }

    fn three(&mut self, e: &'a Expr, span: Span) -> Lowered<[NodeId; 3]> {
        let values = self.scalars(e)?;
        let wrong = |_| diagnostics::broken_expression("a vector of other than three elements", span).into();
        values.try_into().map_err(wrong)
    }

    fn cross(&mut self, a: &'a Expr, b: &'a Expr, span: Span) -> Lowered<Value> {
        let ([a1, a2, a3], [b1, b2, b3]) = (self.three(a, span)?, self.three(b, span)?);
        let mut minor = |p: NodeId, q: NodeId, r: NodeId, s: NodeId| {
            let (x, y) = (self.system.dag.binary(BinaryFn::Mul, p, q), self.system.dag.binary(BinaryFn::Mul, r, s));
            self.system.dag.binary(BinaryFn::Sub, x, y)
        };
        Ok(Value::vector(vec![minor(a2, b3, a3, b2), minor(a3, b1, a1, b3), minor(a1, b2, a2, b1)]))
    }

    fn skew(&mut self, a: &'a Expr, span: Span) -> Lowered<Value> {
        let [x, y, z] = self.three(a, span)?;
        let zero = self.system.dag.constant(0.0);
        let [nx, ny, nz] = [x, y, z].map(|n| self.system.dag.negate(n));
        Ok(Value::numbers(vec![3, 3], vec![zero, nz, y, z, zero, nx, ny, x, zero]))
    }

    fn linspace(&mut self, a: &'a Expr, b: &'a Expr, n: &'a Expr, span: Span) -> Lowered<Value> {
        let (a, b) = (self.scalar(a)?, self.scalar(b)?);
        let &[n] = self.sizes(std::slice::from_ref(n), span)?.as_slice() else {
            return self.broken("a linspace without a size", span);
        };
        let dag = &mut self.system.dag;
        let (width, intervals) = (dag.binary(BinaryFn::Sub, b, a), dag.constant((n.max(2) - 1) as f64));
        let step = dag.binary(BinaryFn::Div, width, intervals);
        let mut items = Vec::with_capacity(n);
        for i in 0..n {
            let i = self.system.dag.constant(i as f64);
            let part = self.system.dag.binary(BinaryFn::Mul, step, i);
            items.push(self.system.dag.binary(BinaryFn::Add, a, part));
        }
        // The last point is the end itself.
        if let Some(last) = items.last_mut() {
            *last = b;
        }
        Ok(Value::vector(items))
    }

    /// `cat(k, a, b, …)`: one behind the other along dimension k.
    fn concatenation(&mut self, dimension: &'a Expr, parts: &'a [Expr], span: Span) -> Lowered<Value> {
        let k = self.constant(dimension)?.map_or(0, |k| k as usize).wrapping_sub(1);
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            values.push(self.value(part)?);
        }
        let Some(mut dims) = values.first().map(|v| v.dims().to_vec()) else {
            return self.broken("cat() of nothing", span);
        };
        let fits = |v: &Value| {
            v.dims().len() == dims.len() && v.dims().iter().zip(&dims).enumerate().all(|(d, (a, b))| d == k || a == b)
        };
        if k >= dims.len() || !values.iter().all(fits) {
            return self.unsupported("cat() of arrays whose sizes do not fit", span);
        }
        let outer: usize = dims[..k].iter().product();
        let lists: Vec<(Vec<Value>, usize)> = values
            .iter()
            .map(|v| {
                let elements = v.elements();
                let width = elements.len() / outer.max(1);
                (elements, width)
            })
            .collect();
        let mut items = Vec::new();
        for block in 0..outer {
            for (elements, width) in &lists {
                items.extend_from_slice(&elements[block * width..(block + 1) * width]);
            }
        }
        dims[k] = values.iter().map(|v| v.dims()[k]).sum();
        self.shaped(dims, items, span)
    }
}
