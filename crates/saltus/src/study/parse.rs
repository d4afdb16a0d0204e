//! Reads an expression of a study: recursive descent, with the usual precedence.

use super::expression::{Binary, Event, Expr, Function, Mistake, Over, Pattern, Relation, Unary, What};

/// Deeper nesting is refused.
const DEEPEST: usize = 100;

pub fn parse(text: &str) -> Result<Expr, Mistake> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let e = parser.disjunction()?;
    parser.end()?;
    Ok(e)
}

/// `event(h < 0, 2)` alone, as the end of a phase; `None` if the text is something else.
pub fn parse_event(text: &str) -> Option<Result<Event, Mistake>> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let is_event = parser.name().is_some_and(|name| name == "event");
    let event = is_event.then(|| parser.event())?;
    parser.skip();
    // What follows makes it part of an expression.
    (parser.at == text.len() || event.is_err()).then_some(event)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake { message: message.into(), at: self.at })
    }

    fn end(&mut self) -> Result<(), Mistake> {
        self.skip();
        match self.rest() {
            "" => Ok(()),
            rest => self.wrong(format!("expected an operator or the end, found `{rest}`")),
        }
    }

    fn accept(&mut self, symbol: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Mistake> {
        if self.accept(symbol) {
            return Ok(());
        }
        let found = self.rest().chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"));
        self.wrong(format!("expected `{symbol}`, found {found}"))
    }

    /// A word that is not part of a longer one.
    fn word(&mut self, word: &str) -> bool {
        self.skip();
        let behind = self.rest().strip_prefix(word);
        let found = behind.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'));
        if found {
            self.at += word.len();
        }
        found
    }

    fn disjunction(&mut self) -> Result<Expr, Mistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.wrong("expected an expression that is less nested");
        }
        let mut left = self.conjunction()?;
        while self.word("or") {
            left = binary(Binary::Or, left, self.conjunction()?);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expr, Mistake> {
        let mut left = self.negation()?;
        while self.word("and") {
            left = binary(Binary::And, left, self.negation()?);
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expr, Mistake> {
        let mut is_negated = false;
        while self.word("not") {
            is_negated = !is_negated;
        }
        let e = self.relation()?;
        Ok(if is_negated { Expr::Unary(Unary::Not, Box::new(e)) } else { e })
    }

    fn relation(&mut self) -> Result<Expr, Mistake> {
        let left = self.sum()?;
        let operators =
            [("<=", Binary::LessEqual), (">=", Binary::GreaterEqual), ("<", Binary::Less), (">", Binary::Greater)];
        let found = operators.into_iter().find(|(symbol, _)| self.accept(symbol));
        match found {
            Some((_, op)) => Ok(binary(op, left, self.sum()?)),
            None => Ok(left),
        }
    }

    fn sum(&mut self) -> Result<Expr, Mistake> {
        let mut left = self.product()?;
        loop {
            self.skip();
            if self.rest().starts_with("->") {
                return Ok(left);
            }
            left = if self.accept("+") {
                binary(Binary::Add, left, self.product()?)
            } else if self.accept("-") {
                binary(Binary::Subtract, left, self.product()?)
            } else {
                return Ok(left);
            };
        }
    }

    fn product(&mut self) -> Result<Expr, Mistake> {
        let mut left = self.factor()?;
        loop {
            left = if self.accept("*") {
                binary(Binary::Multiply, left, self.factor()?)
            } else if self.accept("/") {
                binary(Binary::Divide, left, self.factor()?)
            } else {
                return Ok(left);
            };
        }
    }

    fn factor(&mut self) -> Result<Expr, Mistake> {
        let mut n_minus = 0;
        loop {
            if self.accept("-") {
                n_minus += 1;
            } else if !self.accept("+") {
                break;
            }
        }
        let mut e = self.primary()?;
        if self.accept("^") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return self.wrong("expected an expression that is less nested");
            }
            e = binary(Binary::Power, e, self.factor()?);
            self.depth -= 1;
        }
        Ok(if n_minus % 2 == 0 { e } else { negative(e) })
    }

    fn primary(&mut self) -> Result<Expr, Mistake> {
        if self.accept("(") {
            let e = self.disjunction()?;
            self.expect(")")?;
            return Ok(e);
        }
        self.skip();
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number().map(Expr::Number);
        }
        let begin = self.at;
        let Some(name) = self.name() else {
            let found = self.rest().chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"));
            return self.wrong(format!("expected a number, a name or `(`, found {found}"));
        };
        self.skip();
        if !self.rest().starts_with('(') {
            return Ok(Expr::Name(name.to_owned()));
        }
        self.call(name, begin)
    }

    fn number(&mut self) -> Result<f64, Mistake> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut n = 0;
        while n < bytes.len() {
            let is_exponent_sign = matches!(bytes[n], b'+' | b'-') && n > 0 && matches!(bytes[n - 1], b'e' | b'E');
            if !(bytes[n].is_ascii_digit() || matches!(bytes[n], b'.' | b'e' | b'E') || is_exponent_sign) {
                break;
            }
            n += 1;
        }
        let Ok(value) = rest[..n].parse() else {
            return self.wrong(format!("expected a number, found `{}`", &rest[..n]));
        };
        self.at += n;
        Ok(value)
    }

    /// A component reference: `body.r[2]`, `'odd name'`.
    fn name(&mut self) -> Option<&'a str> {
        self.skip();
        let begin = self.at;
        loop {
            let rest = self.rest();
            if let Some(quoted) = rest.strip_prefix('\'') {
                self.at += quoted.find('\'').map(|n| n + 2)?;
            } else {
                let n = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                if n == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
                    return None;
                }
                self.at += n;
            }
            if self.rest().starts_with('[') {
                self.at += self.rest().find(']').map(|n| n + 1)?;
            }
            let is_further = self.rest().starts_with('.')
                && self.rest()[1..].starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '\'');
            if !is_further {
                return Some(&self.text[begin..self.at]);
            }
            self.at += 1;
        }
    }

    fn call(&mut self, name: &str, begin: usize) -> Result<Expr, Mistake> {
        match name {
            "event" => return self.value_at_event(),
            "count" => {
                self.expect("(")?;
                let pattern = self.pattern()?;
                self.expect(")")?;
                return Ok(Expr::Count(pattern));
            }
            // Variables of the model that have such names.
            "der" | "active" | "mode" | "change" => {
                let rest = self.rest();
                let Some(n) = matching(rest) else { return self.expect(")").map(|()| Expr::Number(0.0)) };
                self.at += n;
                return Ok(Expr::Name(format!("{name}{}", &rest[..n])));
            }
            _ => {}
        }
        self.expect("(")?;
        let mut arguments = vec![self.disjunction()?];
        while self.accept(",") {
            arguments.push(self.disjunction()?);
        }
        self.expect(")")?;
        self.at = self.at.max(begin);
        let n = arguments.len();
        if name == "at" {
            return match <[Expr; 2]>::try_from(arguments) {
                Ok([e, Expr::Number(t)]) => Ok(Expr::At(Box::new(e), t)),
                _ => Err(Mistake { message: "expected `at(expression, seconds)`".into(), at: begin }),
            };
        }
        let over = Over::NAMES.iter().find(|(other, _)| *other == name && n == 1);
        if let (Some((_, over)), Some(e)) = (over, arguments.first()) {
            return Ok(Expr::Over(*over, Box::new(e.clone())));
        }
        match Function::NAMES.iter().find(|(other, _, arity)| *other == name && n == *arity) {
            Some((_, function, _)) => Ok(Expr::Call(*function, arguments)),
            None => Err(Mistake { message: unknown_function(name, n), at: begin }),
        }
    }

    fn event(&mut self) -> Result<Event, Mistake> {
        self.expect("(")?;
        let pattern = self.pattern()?;
        let mut number = 1;
        if self.accept(",") {
            let is_negative = self.accept("-");
            self.skip();
            let at = self.at;
            let value = self.number()?;
            if value.fract() != 0.0 || !(1.0..1e9).contains(&value) {
                let message = "expected the number of the event, from 1, or from -1 for the last one".into();
                return Err(Mistake { message, at });
            }
            number = if is_negative { -(value as i64) } else { value as i64 };
        }
        self.expect(")")?;
        Ok(Event { pattern, number })
    }

    fn value_at_event(&mut self) -> Result<Expr, Mistake> {
        let event = self.event()?;
        self.expect(".")?;
        let begin = self.at;
        let Some(name) = self.name() else {
            return self.wrong("expected `time`, the name of a variable or `pre(…)` behind `event(…).`");
        };
        let what = match name {
            "time" => What::Time,
            "pre" => {
                self.expect("(")?;
                let e = self.disjunction()?;
                self.expect(")")?;
                What::Before(Box::new(e))
            }
            name => {
                self.skip();
                let is_call = self.rest().starts_with('(');
                let e = if is_call { self.call(name, begin)? } else { Expr::Name(name.to_owned()) };
                What::After(Box::new(e))
            }
        };
        Ok(Expr::Event { event, what })
    }

    fn pattern(&mut self) -> Result<Pattern, Mistake> {
        self.skip();
        let begin = self.at;
        let e = self.disjunction()?;
        if self.accept("->") || self.accept("→") {
            let Expr::Name(from) = e else {
                return Err(Mistake { message: "expected the name of a state before `->`".into(), at: begin });
            };
            self.skip();
            let Some(to) = self.name() else { return self.wrong("expected the name of a state behind `->`") };
            return Ok(Pattern::Transition { from, to: to.to_owned() });
        }
        let (inner, value) = match &e {
            Expr::Unary(Unary::Not, inner) => (&**inner, false),
            e => (e, true),
        };
        let message = "expected a transition `a -> b`, a relation, a Boolean variable or `change(x)`";
        let found = match inner {
            Expr::Name(name) => match name.strip_prefix("change(").and_then(|rest| rest.strip_suffix(')')) {
                Some(changed) => Some(Pattern::Change(changed.to_owned())),
                None => Some(Pattern::Variable { name: name.clone(), value }),
            },
            e => Relation::of(e, value).map(Pattern::Relation),
        };
        found.ok_or(Mistake { message: message.to_owned(), at: begin })
    }
}

fn unknown_function(name: &str, n: usize) -> String {
    let functions = Function::NAMES.iter().map(|(name, ..)| *name);
    let all: Vec<&str> = functions.chain(Over::NAMES.iter().map(|(n, _)| *n)).chain(["at", "event", "count"]).collect();
    if all.contains(&name) {
        return format!("`{name}` does not take {n} arguments");
    }
    let similar = saltus_base::nearest(name, all.iter().copied());
    let hint = similar.map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"));
    format!("there is no function `{name}`{hint}")
}

/// The length of what begins with `(`, up to where that is closed.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(i + c.len_utf8());
        }
    }
    None
}

fn binary(op: Binary, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn negative(e: Expr) -> Expr {
    match e {
        Expr::Number(value) => Expr::Number(-value),
        e => Expr::Unary(Unary::Minus, Box::new(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        parse(text).map_or_else(|m| format!("{}: {}", m.at, m.message), |e| e.to_string())
    }

    #[test]
    fn expressions_are_read_as_usual() {
        assert_eq!(shown("a + b*c^2 - -3"), "((a + (b * (c ^ 2))) - -3)");
        assert_eq!(shown("-x^2"), "-(x ^ 2)");
        assert_eq!(shown("max(abs(body.r[2]))"), "max(abs(body.r[2]))");
        assert_eq!(shown("min(a, 1e-3)"), "min(a, 0.001)");
        assert_eq!(shown("der(x) + active(circle)"), "(der(x) + active(circle))");
        assert_eq!(shown("x<1 and not y >= 2"), "((x < 1) and not (y >= 2))");
    }

    #[test]
    fn events_are_transitions_relations_and_variables() {
        assert_eq!(shown("event(circle -> flight).time"), "event(circle -> flight).time");
        assert_eq!(shown("event(h < 0, 3).pre(v)"), "event(h < 0, 3).pre(v)");
        assert_eq!(shown("event(h > 0.0, -1).v"), "event(0 < h, -1).v");
        assert_eq!(shown("event(not locked).der(w)"), "event(not locked).der(w)");
        assert_eq!(shown("count(change(n)) + 1"), "(count(change(n)) + 1)");
        assert_eq!(shown("event(a -> b).time - event(b -> a).time"), "(event(a -> b).time - event(b -> a).time)");
    }

    /// `h < 0.0` that becomes false is `h > 0`.
    #[test]
    fn a_relation_is_known_by_its_opposite() {
        let of = |text: &str, value: bool| Relation::of(&parse(text).unwrap(), value);
        assert_eq!(of("h < 0.0", true), of("0 > h", true));
        assert_eq!(of("h < 0.0", false), of("h >= 0", true));
        assert_ne!(of("h < 0", true), of("h >= 0", true));
    }

    #[test]
    fn mistakes_have_a_place() {
        assert_eq!(shown("a + "), "4: expected a number, a name or `(`, found the end");
        assert_eq!(shown("a b"), "2: expected an operator or the end, found `b`");
        assert_eq!(shown("sinn(x)"), "0: there is no function `sinn`; did you mean `sin`?");
        assert_eq!(shown("event(h + 1).time").split_once(": ").unwrap().0, "6");
        assert_eq!(shown("event(h < 0)"), "12: expected `.`, found the end");
        assert_eq!(shown("event(h < 0, 0).time").split_once(": ").unwrap().0, "13");
        assert_eq!(shown("1.2.3"), "0: expected a number, found `1.2.3`");
        assert!(shown(&"(".repeat(100_000)).contains("less nested"));
        assert!(shown(&"-".repeat(100_000)).contains("expected a number"));
        assert!(shown(&"2^".repeat(100_000)).contains("less nested"));
    }
}
