//! Which name was meant: the one search for "did you mean".

/// Longer names are compared up to here: the search takes the square of it for each candidate.
const LONGEST: usize = 64;

/// More names than this are no help.
const MOST: usize = 3;

/// The candidate that differs from `wanted` by the fewest edits, if these are few. Of several the first one.
///
/// Up to one edit and another for every four letters are few. Every name of one letter is close to every other, so it must be the same
/// but for letter case, which is never an edit.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    all_nearest(wanted, candidates).first().copied()
}

/// As [`nearest`], with the others that are as close.
pub fn all_nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let letters = lower(wanted);
    let mut least = if letters.len() < 2 { 0 } else { 1 + letters.len() / 4 };
    let mut best: Vec<&str> = Vec::new();
    for candidate in candidates {
        let other = lower(candidate);
        // Each letter more or less is an edit.
        if other.len().abs_diff(letters.len()) > least {
            continue;
        }
        let n = edits(&letters, &other);
        if n > least || candidate == wanted {
            continue;
        }
        if n < least {
            best.clear();
            least = n;
        }
        if best.len() < MOST && !best.contains(&candidate) {
            best.push(candidate);
        }
    }
    best
}

fn lower(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).take(LONGEST).collect()
}

/// Insertions, deletions and replacements between two words (Levenshtein).
fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        // By hand: one deletion; two replacements; letter case is free.
        let count = |a, b| edits(&lower(a), &lower(b));
        assert_eq!(count("Resistr", "Resistor"), 1);
        assert_eq!(count("gian", "gain"), 2);
        assert_eq!(count("realinput", "RealInput"), 0);
    }

    #[test]
    fn the_nearest_name_is_close() {
        let names = ["height", "weight", "velocity"];
        assert_eq!(nearest("hight", names), Some("height"));
        assert_eq!(nearest("eight", names), Some("height"), "the first of two");
        assert_eq!(all_nearest("eight", names), ["height", "weight"]);
        assert_eq!(nearest("temperature", names), None);
        assert_eq!(nearest("height", ["height"]), None, "the same name is not a suggestion");
        assert_eq!((nearest("x", ["y", "X"]), nearest("x", ["y"])), (Some("X"), None));
    }
}
