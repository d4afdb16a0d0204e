//! Names of variables in the conventions of the standard.

/// What a flat name may not contain.
pub(crate) fn is_flat(name: &str) -> bool {
    !name.is_empty() && !name.contains(['\r', '\n', '\t'])
}

/// Is it `a.b[1,2].'quoted'` or `der(a.b)` or `der(a.b, 2)`?
pub fn is_structured(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
        if let Some(rest) = identifier(inner) {
            let order = rest.strip_prefix(',').map(|digits| digits.strip_prefix(' ').unwrap_or(digits));
            let is_order = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            return rest.is_empty() || order.is_some_and(is_order);
        }
        return false;
    }
    identifier(name) == Some("")
}

/// What follows a name of parts that dots separate.
fn identifier(text: &str) -> Option<&str> {
    let mut rest = subscripts(part(text)?)?;
    while let Some(after) = rest.strip_prefix('.') {
        rest = subscripts(part(after)?)?;
    }
    Some(rest)
}

fn part(text: &str) -> Option<&str> {
    if let Some(quoted) = text.strip_prefix('\'') {
        let mut escaped = false;
        for (at, c) in quoted.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\'' => return (at > 0).then(|| &quoted[at + 1..]),
                _ => {}
            }
        }
        return None;
    }
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let starts_well = text.chars().next().is_some_and(|c| is_word(c) && !c.is_ascii_digit());
    starts_well.then(|| &text[end..])
}

fn subscripts(text: &str) -> Option<&str> {
    let Some(inner) = text.strip_prefix('[') else { return Some(text) };
    let end = inner.find(']')?;
    let is_number = |word: &str| !word.trim().is_empty() && word.trim().bytes().all(|b| b.is_ascii_digit());
    inner[..end].split(',').all(is_number).then(|| &inner[end + 1..])
}

/// May it be the name of a function in C, and of a file?
pub(crate) fn is_c_identifier(text: &str) -> bool {
    let is_word = |b: u8| b == b'_' || b.is_ascii_alphanumeric();
    !text.is_empty() && text.bytes().all(is_word) && !text.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_names_follow_the_grammar_of_the_standard() {
        for name in ["a", "a.b", "a[1].b[2,3]", "der(a.b)", "der(a[1],2)", "der(x, 2)", "'a b'.c", "_x1", r"'it\'s'"] {
            assert!(is_structured(name), "{name}");
        }
        for name in ["", "a b", "1a", "a.", ".a", "a[", "a[x]", "der(a", "der(a,)", "''", "a[1]b", "der(a))"] {
            assert!(!is_structured(name), "{name}");
        }
    }
}
