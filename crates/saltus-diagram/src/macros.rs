//! `%name`, `%class`, `%par` and `%{par}` in texts (specification 18.6.5.5).
//!
//! In a component they are its name, its class and the values that hold there. A class by itself has no name as a component:
//! there `%name` is the name of the class, and a parameter without a value is shown by its own name.

use saltus_check::units::Conversion;
use saltus_frontend::{Scope, Symbol};
use saltus_syntax::ast::Expr;

use crate::attributes::source_text;
use crate::painter::Painter;
use crate::value::{Evaluator, Value, shown};

/// What is pictured.
pub struct Subject {
    /// Of the component, or of the class.
    pub name: String,
    /// The last part of the name of the class.
    pub class: String,
    /// The outermost class, in which parameters are looked up.
    pub scope: Scope,
}

/// Texts of values are cut here.
const LONGEST: usize = 60;

impl<'a> Painter<'a> {
    pub(crate) fn expand_macros(&mut self, text: &str, scope: Scope, subject: &Subject) -> String {
        let mut out = String::new();
        let mut rest = text;
        let mut is_behind_macro = false;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            is_behind_macro &= at == 0;
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                out.push('%');
                (rest, is_behind_macro) = (after, false);
                continue;
            }
            let (word, length) = match rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                Some((inner, _)) => (inner.trim(), inner.len() + 2),
                None => {
                    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
                    let length = rest.find(is_end).unwrap_or(rest.len());
                    (&rest[..length], length)
                }
            };
            let is_braced = rest.starts_with('{');
            match word {
                // `%par%` ends the name; the pictures of libraries show nothing for it.
                "" if is_behind_macro => {}
                "" => out.push('%'),
                "name" if !is_braced => out.push_str(&subject.name),
                "class" if !is_braced => out.push_str(&subject.class),
                _ => out.push_str(&self.parameter_text(word, scope, subject)),
            }
            is_behind_macro = !word.is_empty();
            rest = &rest[length..];
        }
        out.push_str(rest);
        out
    }

    /// The value of a parameter as text; its name if it has none.
    fn parameter_text(&mut self, path: &str, scope: Scope, subject: &Subject) -> String {
        let found = [subject.scope, scope].into_iter().find_map(|scope| self.symbol_of(path, scope));
        let Some(symbol) = found else { return path.to_owned() };
        let Some((expr, _)) = self.scopes.binding(symbol, None) else { return path.to_owned() };
        match Evaluator::new(&mut self.scopes).value_of(symbol) {
            Some(Value::Number(x)) => self.with_unit(symbol, x),
            Some(value) => shortened(&shown(&value)),
            None => self.written(expr),
        }
    }

    /// The expression as it is written; of a literal only its name.
    fn written(&self, expr: &Expr) -> String {
        shortened(source_text(self.library(), expr.span))
    }

    fn symbol_of(&mut self, path: &str, scope: Scope) -> Option<Symbol> {
        let mut parts = path.split('.').map(str::trim);
        let first = self.library().intern(parts.next()?);
        let mut symbol = self.scopes.member(scope, first)?;
        for part in parts {
            let part = part.split('[').next().unwrap_or(part);
            let inside = self.scopes.inside(symbol)?;
            symbol = self.scopes.member(inside, self.library().intern(part))?;
        }
        Some(symbol)
    }

    /// The number in the unit that people read, with that unit.
    fn with_unit(&mut self, symbol: Symbol, value: f64) -> String {
        let mut unit = |name| {
            let (expr, scope) = self.scopes.binding(symbol, Some(name))?;
            match Evaluator::new(&mut self.scopes).value(scope, expr)? {
                Value::String(text) if !text.is_empty() => Some(text),
                _ => None,
            }
        };
        let (unit, display) = (unit("unit"), unit("displayUnit"));
        let converted = unit.as_deref().zip(display.as_deref()).and_then(|(unit, display)| {
            let conversion = Conversion::for_display(unit, display, self.scopes.is_difference(symbol))?;
            Some((conversion.apply(value), display.to_owned()))
        });
        let (value, unit) = converted.unwrap_or((value, unit.unwrap_or_default()));
        let number = shown(&Value::Number(value));
        match unit.as_str() {
            "" | "1" => number,
            unit => format!("{number} {}", unit_symbol(unit)),
        }
    }
}

/// A unit as people write it: `kg.m2` is kg·m².
fn unit_symbol(unit: &str) -> String {
    match unit {
        "deg" => return "°".into(),
        "degC" => return "°C".into(),
        "degF" => return "°F".into(),
        _ => {}
    }
    let mut out = String::new();
    let mut is_raised = false;
    for c in unit.replace("Ohm", "Ω").chars() {
        is_raised = match c {
            '0'..='9' | '-' => is_raised || out.chars().last().is_some_and(char::is_alphabetic),
            _ => false,
        };
        out.push(match c {
            '.' => '·',
            '-' if is_raised => '⁻',
            '0'..='9' if is_raised => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize],
            c => c,
        });
    }
    out
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::unit_symbol;

    #[test]
    fn units_are_written_as_in_print() {
        let shown = ["kg.m2", "m.s-2", "1/s", "Ohm", "W/(m2.K)", "degC", "m(1/2)"].map(unit_symbol);
        assert_eq!(shown, ["kg·m²", "m·s⁻²", "1/s", "Ω", "W/(m²·K)", "°C", "m(1/2)"]);
    }
}
