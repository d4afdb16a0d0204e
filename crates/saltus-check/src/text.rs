//! Expressions as they appear in messages: Modelica text, shortened where it is long.

use saltus_flat::{Expr, FlatModel, ModelNames, print_expr};

use crate::walk;

/// Longer texts say more to the compiler than to the reader.
const LONGEST: usize = 60;

/// Expressions with more parts are not printed at all: sums from connections are as deep as they are long.
const MOST_PARTS: usize = 1_000;

/// The Modelica text of an expression, at most about one half line.
pub fn text(model: &FlatModel, expr: &Expr) -> String {
    let mut n_parts = 0;
    walk::for_each_part_while(expr, &mut |_| {
        n_parts += 1;
        n_parts <= MOST_PARTS
    });
    if n_parts > MOST_PARTS {
        return "…".to_owned();
    }
    shorten(print_expr(&ModelNames::new(model), expr))
}

fn shorten(text: String) -> String {
    if text.chars().count() <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST - 2).collect();
    format!("{} …", head.trim_end())
}

/// `a`, `b` and 3 more
pub fn name_list<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    let shown = names.len().min(most.max(1));
    let (head, rest) = names.split_at(shown);
    match (head, rest.len()) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (_, n) => format!("{} and {n} more", head.join(", ")),
    }
}

/// `1 equation`, `2 equations`
pub fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_and_texts_are_cut() {
        assert_eq!(name_list(["a"], 3), "`a`");
        assert_eq!(name_list(["a", "b"], 3), "`a` and `b`");
        assert_eq!(name_list(["a", "b", "c", "d"], 2), "`a`, `b` and 2 more");
        assert_eq!(shorten("x".repeat(61)).chars().count(), 60);
        assert_eq!(shorten("µ".repeat(60)), "µ".repeat(60));
    }
}
