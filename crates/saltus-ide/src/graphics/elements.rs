//! Sizes of connectors, and which element of an array a connection may mean.
//!
//! ```text
//! Pin top[2]; Part b;          connect(top, b.n)  does not fit: `top` has 2 elements
//!                              connect(top[1], b.n), connect(top[2], b.n)  do
//! ```

use saltus_diagram::{Value, evaluate};
use saltus_frontend::{Scope, Scopes, Symbol};
use saltus_syntax::ast::{self, ExprKind};

/// A dimension of an array; `None` where the size is not known before the model is compiled.
pub(crate) type Size = Option<u32>;

/// Why two connectors do not fit, and elements of them that may be meant.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Misfit {
    pub why: String,
    pub elements: Vec<Elements>,
}

impl From<String> for Misfit {
    fn from(why: String) -> Self {
        Misfit { why, elements: Vec::new() }
    }
}

/// The elements of one end: an index for each size, between the texts: `top[`, 1 … 2, `].p`.
#[derive(Clone, PartialEq, Debug)]
pub struct Elements {
    pub is_from: bool,
    pub texts: Vec<String>,
    pub sizes: Vec<Option<u32>>,
}

/// The name of a connector with the dimensions that are open in it.
#[derive(Default)]
pub(crate) struct Shape {
    /// Each part with its subscripts as written, and what is open of it.
    parts: Vec<(String, Vec<Size>)>,
}

impl Shape {
    /// Takes the next part of a name; `Err` if it has more subscripts than dimensions, or one outside of them.
    pub fn push(
        &mut self,
        scopes: &mut Scopes<'_>,
        symbol: Symbol,
        part: &ast::RefPart,
        text: &str,
    ) -> Result<(), String> {
        let sizes = sizes(scopes, symbol);
        if part.subscripts.len() > sizes.len() {
            let found = if sizes.is_empty() { "not an array".to_owned() } else { described(&sizes) };
            return Err(format!("`{text}` has more subscripts than dimensions: it is {found}"));
        }
        let mut open = Vec::new();
        for (subscript, size) in part.subscripts.iter().zip(&sizes) {
            match subscript {
                ast::Subscript::Colon(_) => open.push(*size),
                ast::Subscript::Expr(index) => match (&index.kind, size) {
                    (ExprKind::Range { .. } | ExprKind::Array(_), _) => open.push(None),
                    (ExprKind::Integer(i), Some(size)) if *i < 1 || *i > i64::from(*size) => {
                        return Err(format!("`{text}` is not there: the size is {size}"));
                    }
                    _ => {}
                },
            }
        }
        open.extend(&sizes[part.subscripts.len()..]);
        self.parts.push((text.to_owned(), open));
        Ok(())
    }

    fn open(&self) -> Vec<Size> {
        self.parts.iter().flat_map(|(_, open)| open.iter().copied()).collect()
    }

    /// The name with room for an index in each of the first `n` open dimensions.
    fn elements(&self, is_from: bool, mut n: usize) -> Option<Elements> {
        let (mut texts, mut sizes, mut text) = (Vec::new(), Vec::new(), String::new());
        for (i, (part, open)) in self.parts.iter().enumerate() {
            if i > 0 {
                text.push('.');
            }
            let of_part = open.len().min(n);
            n -= of_part;
            if of_part == 0 {
                text += part;
                continue;
            }
            match part.strip_suffix(']') {
                Some(begun) => text += &format!("{begun},"),
                None => text += &format!("{part}["),
            }
            for (k, size) in open[..of_part].iter().enumerate() {
                texts.push(std::mem::take(&mut text));
                sizes.push(*size);
                text.push_str(if k + 1 < of_part { "," } else { "]" });
            }
        }
        texts.push(text);
        let has_all = !sizes.is_empty() && sizes.iter().all(|size| *size != Some(0));
        has_all.then_some(Elements { is_from, texts, sizes })
    }
}

/// Do the sizes of two ends agree? Those that are not known may.
pub(crate) fn compare((from, a): (&str, &Shape), (to, b): (&str, &Shape)) -> Result<(), Misfit> {
    let (open_a, open_b) = (a.open(), b.open());
    if agree(&open_a, &open_b) {
        return Ok(());
    }
    let why =
        format!("`{from}` and `{to}` do not fit: `{from}` is {}, `{to}` is {}", described(&open_a), described(&open_b));
    let (more_a, more_b) = (open_a.len().saturating_sub(open_b.len()), open_b.len().saturating_sub(open_a.len()));
    // Whole arrays that are left fit, or an element of each is meant.
    let (n_a, n_b) = match agree(&open_a[more_a..], &open_b[more_b..]) {
        true => (more_a, more_b),
        false => (open_a.len(), open_b.len()),
    };
    let wanted = [(n_a > 0).then(|| a.elements(true, n_a)), (n_b > 0).then(|| b.elements(false, n_b))];
    let elements: Option<Vec<Elements>> = wanted.into_iter().flatten().collect();
    Err(Misfit { why, elements: elements.unwrap_or_default() })
}

pub(crate) fn agree(a: &[Size], b: &[Size]) -> bool {
    let is_same = |(a, b): (&Size, &Size)| a.zip(*b).is_none_or(|(a, b)| a == b);
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}

/// `an array of 2 × ? elements`
pub(crate) fn described(sizes: &[Size]) -> String {
    if sizes.is_empty() {
        return "a scalar".into();
    }
    let written: Vec<String> = sizes.iter().map(|size| size.map_or("?".into(), |size| size.to_string())).collect();
    let noun = if sizes == [Some(1)] { "element" } else { "elements" };
    format!("an array of {} {noun}", written.join(" × "))
}

/// The dimensions of a component, as far as they are known now.
pub(crate) fn sizes(scopes: &mut Scopes<'_>, symbol: Symbol) -> Vec<Size> {
    let written = scopes.subscripts(symbol);
    written.into_iter().map(|(subscript, scope)| size(scopes, subscript, scope)).collect()
}

fn size(scopes: &mut Scopes<'_>, subscript: &ast::Subscript, scope: Scope) -> Size {
    let ast::Subscript::Expr(expr) = subscript else { return None };
    match evaluate(scopes, scope, expr)? {
        Value::Number(n) if n >= 0.0 && n.fract() == 0.0 && n <= f64::from(u32::MAX) => Some(n as u32),
        _ => None,
    }
}
