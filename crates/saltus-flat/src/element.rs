//! Names of the scalars of array variables, made where somebody asks for them.
//!
//! ```text
//! Real x[2, 3]                 element 4     ⇒   x[2,2]
//! Cell c[4], each with T       c[:].T        ⇒   c[3].T      element 2
//! Cell c[4], each with x[2]    c[:].x        ⇒   c[3].x[2]   element 5
//! ```
//!
//! A variable of the elements of a component array has the dimensions of the array first, then its own. Its name has a `:` for each of the
//! former, in the place of the subscript; nobody outside of the compiler sees it.

/// What stands in a name before the subscripts of a component array.
const OPEN: &str = "[:";
/// Arrays with no more dimensions get names without memory for their subscripts.
const FEW_DIMENSIONS: usize = 8;
/// Digits of the largest 64-bit number.
const MOST_DIGITS: usize = 20;

/// The name of the element at a row-major position, counting from 0.
pub fn element_name(name: &str, dims: &[u64], position: u64) -> String {
    if dims.is_empty() {
        return name.into();
    }
    let mut few = [0; FEW_DIMENSIONS];
    let mut many = Vec::new();
    let subscripts = match few.get_mut(..dims.len()) {
        Some(few) => few,
        None => {
            many.resize(dims.len(), 0);
            &mut many[..]
        }
    };
    let mut rest = position;
    for (subscript, &size) in subscripts.iter_mut().zip(dims).rev() {
        *subscript = rest % size.max(1) + 1;
        rest /= size.max(1);
    }
    subscripted_name(name, subscripts)
}

/// The row-major position of the element with this name, counting from 0; `None` if the array has no such element.
pub fn position_of(array: &str, dims: &[u64], name: &str) -> Option<u64> {
    if dims.is_empty() {
        return (array == name).then_some(0);
    }
    // Subscripts are numbers, in the places of the colons or at the end.
    let (mut rest, mut subscripts) = (name, Vec::with_capacity(dims.len()));
    for part in parts(array) {
        match part {
            Part::Text(part) => rest = rest.strip_prefix(part)?,
            Part::Subscript => subscripts.push(take_number(&mut rest)?),
        }
    }
    let mut separator = '[';
    while subscripts.len() < dims.len() {
        rest = rest.strip_prefix(separator)?;
        subscripts.push(take_number(&mut rest)?);
        separator = ',';
    }
    let is_over = if separator == ',' { rest == "]" } else { rest.is_empty() };
    let is_inside = subscripts.iter().zip(dims).all(|(subscript, size)| (1..=*size).contains(subscript));
    let position =
        || subscripts.iter().zip(dims).try_fold(0u64, |at, (k, &size)| at.checked_mul(size)?.checked_add(k - 1));
    if is_over && is_inside { position() } else { None }
}

/// The number that a text begins with, as names have it: without a zero in front.
fn take_number(text: &mut &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits.parse().ok().filter(|_| !digits.starts_with('0'))
}

/// The name of the element with these subscripts.
pub fn subscripted_name(name: &str, subscripts: &[u64]) -> String {
    let length: usize = subscripts.iter().map(|&subscript| 1 + n_digits(subscript)).sum();
    let mut text = String::with_capacity(name.len() + length + 1);
    let mut subscripts = subscripts.iter();
    for part in parts(name) {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Subscript => subscripts.next().into_iter().for_each(|&subscript| push_number(&mut text, subscript)),
        }
    }
    for (k, &subscript) in subscripts.as_slice().iter().enumerate() {
        text.push(if k == 0 { '[' } else { ',' });
        push_number(&mut text, subscript);
    }
    if !subscripts.as_slice().is_empty() {
        text.push(']');
    }
    text
}

fn n_digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |exponent| exponent as usize + 1)
}

/// Appends a number: names are made by the million, and formatting would be most of what they cost.
fn push_number(text: &mut String, number: u64) {
    let mut digits = [b'0'; MOST_DIGITS];
    let mut at = MOST_DIGITS;
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    digits[at..].iter().for_each(|&digit| text.push(char::from(digit)));
}

/// How many dimensions the component arrays in a name have.
pub fn n_outer_dimensions(name: &str) -> usize {
    parts(name).filter(|part| matches!(part, Part::Subscript)).count()
}

enum Part<'n> {
    Text(&'n str),
    Subscript,
}

/// The text between the colons of component arrays, and these. What stands in quotes is part of an identifier.
fn parts(name: &str) -> impl Iterator<Item = Part<'_>> {
    let (mut rest, mut is_inside) = (name, false);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if is_inside && let Some(behind) = rest.strip_prefix(':') {
            rest = behind;
            return Some(Part::Subscript);
        }
        let end = if is_inside { rest.find(':').filter(|&at| at < closing(rest)) } else { opening(rest) };
        // Up to behind the bracket, or to the next colon.
        let (length, inside_next) = match (is_inside, end) {
            (true, Some(at)) => (at, true),
            (true, None) => (closing(rest).max(1), false),
            (false, Some(at)) => (at + 1, true),
            (false, None) => (rest.len(), false),
        };
        let (text, behind) = rest.split_at(length.min(rest.len()));
        (rest, is_inside) = (behind, inside_next);
        Some(Part::Text(text))
    })
}

/// Where the next bracket with a colon opens, outside of quotes.
fn opening(name: &str) -> Option<usize> {
    if !name.contains(OPEN) {
        return None;
    }
    let (mut is_quoted, mut is_escaped) = (false, false);
    name.char_indices().find_map(|(at, c)| {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '\'' => is_quoted = !is_quoted,
            '[' if !is_quoted && name[at..].starts_with(OPEN) => return Some(at),
            _ => {}
        }
        None
    })
}

/// Where the bracket closes that is open.
fn closing(name: &str) -> usize {
    name.find(']').unwrap_or(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_arrays_are_row_major() {
        assert_eq!(element_name("x", &[2, 3], 4), "x[2,2]");
        assert_eq!(element_name("x", &[], 0), "x");
        assert_eq!(element_name("x", &[1; 9], 0), "x[1,1,1,1,1,1,1,1,1]");
        for position in [8, 9, 98, 99, 999, u64::from(u32::MAX), u64::MAX - 1] {
            assert_eq!(element_name("x", &[u64::MAX], position), format!("x[{}]", position + 1));
        }
    }

    #[test]
    fn elements_of_component_arrays_have_their_subscripts_where_the_array_is() {
        assert_eq!(element_name("c[:].T", &[4], 2), "c[3].T");
        assert_eq!(element_name("c[:].x", &[4, 2], 5), "c[3].x[2]");
        assert_eq!(element_name("g[:,:].c[:].x", &[2, 3, 2], 7), "g[2,1].c[2].x");
        assert_eq!(element_name("a.g[:,:].c.x", &[2, 3, 2, 2], 23), "a.g[2,3].c.x[2,2]");
        assert_eq!(n_outer_dimensions("g[:,:].c[:].x"), 3);
    }

    #[test]
    fn positions_are_found_by_names() {
        let arrays: [(&str, &[u64]); 6] = [
            ("x", &[2, 3]),
            ("x", &[]),
            ("c[:].T", &[4]),
            ("c[:].x", &[4, 2]),
            ("g[:,:].c[:].x", &[2, 3, 2]),
            ("'a\\'[:]'.c[:].x", &[3]),
        ];
        for (array, dims) in arrays {
            for position in 0..dims.iter().product() {
                assert_eq!(position_of(array, dims, &element_name(array, dims, position)), Some(position));
            }
        }
        for other in
            ["x[0]", "x[4]", "x[01]", "x[1", "x[1]]", "x", "x[1,1]", "xx[1]", "x[+1]", "x[99999999999999999999]"]
        {
            assert_eq!(position_of("x", &[3], other), None, "{other}");
        }
        assert_eq!(position_of("c[:].T", &[4], "c[2].T[1]"), None);
    }

    #[test]
    fn quotes_hide_what_looks_like_a_subscript() {
        assert_eq!(element_name("'a[:]'.x", &[3], 1), "'a[:]'.x[2]");
        assert_eq!(element_name("'a\\'[:]'.c[:].x", &[3], 1), "'a\\'[:]'.c[2].x");
        assert_eq!(n_outer_dimensions("'a[:]'.x"), 0);
    }
}
