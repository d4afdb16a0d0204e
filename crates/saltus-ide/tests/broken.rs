//! Damaged and half-typed texts: names outside of the damaged class keep their meaning.
//!
//! `SALTUS_EDITOR_LIBRARY=DIR` names a directory with packages; without it the library of the program is taken.
//! `SALTUS_EDITOR_BROKEN=800` breaks more texts than the usual run, `SALTUS_EDITOR_SHOW=5` shows what was lost.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Random, number, sample, session};
use saltus::Session;
use saltus_ide::{Analysis, NavigationTarget, OutlineItem};

/// What is left of a class while it is being typed, or after a slip of the hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Damage {
    /// The class ends in the middle, without its `end`.
    HalfTyped,
    /// The middle is being typed; what was behind it is still there.
    HalfLine,
    Deleted,
    Inserted,
}

const DAMAGES: [Damage; 4] = [Damage::HalfTyped, Damage::HalfLine, Damage::Deleted, Damage::Inserted];

const PIECES: [&str; 20] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    " = ",
    " end",
    " end ",
    " if ",
    " for i in ",
    " when ",
    " equation ",
    "extends ",
    "model ",
    " x.",
    "annotation(",
    " algorithm ",
];

/// A part of a text with what stands there instead.
struct Cut {
    start: usize,
    end: usize,
    text: &'static str,
}

impl Cut {
    /// A place of the whole text in the broken one.
    fn moved(&self, at: u32) -> u32 {
        let at = at as usize;
        let moved = if at < self.end { at } else { at + self.text.len() + self.start - self.end };
        moved as u32
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn cut(text: &str, class: (u32, u32), damage: Damage, random: &mut Random) -> Cut {
    let (first, last) = (class.0 as usize, class.1 as usize);
    // Behind the head of the class, which says that there is one.
    let body = text[first..last].find('\n').map_or(first, |n| first + n);
    let start = boundary(text, body + random.below(last - body));
    match damage {
        Damage::HalfTyped => Cut { start, end: last, text: "" },
        Damage::HalfLine => {
            Cut { start, end: text[start..].find('\n').map_or(last, |n| (start + n).min(last)), text: "" }
        }
        Damage::Deleted => Cut { start, end: boundary(text, (start + 1 + random.below(8)).min(last)), text: "" },
        Damage::Inserted => Cut { start, end: start, text: PIECES[random.below(PIECES.len())] },
    }
}

/// Classes without classes in them, below the first level.
fn leaves(items: &[OutlineItem], is_top: bool, found: &mut Vec<(u32, u32)>) {
    for item in items.iter().filter(|item| item.detail.is_empty()) {
        let has_classes = item.children.iter().any(|child| child.detail.is_empty() && child.full.0 != child.focus.0);
        if !has_classes && !is_top && item.full.0 != item.focus.0 {
            found.push(item.full);
        }
        leaves(&item.children, false, found);
    }
}

fn answer(session: &Session, path: &Path, at: u32) -> Option<(std::path::PathBuf, u32)> {
    let NavigationTarget { focus, .. } = Analysis::new(session).definition(path, at)?;
    Some((focus.path, focus.start))
}

#[test]
fn names_outside_of_the_damage_keep_their_meaning() {
    let mut random = Random(0xdead);
    let mut session = session();
    let (wanted, mut n_texts, mut n_asked) = (number("SALTUS_EDITOR_BROKEN", 120), 0, 0);
    let mut lost: BTreeMap<Damage, usize> = BTreeMap::new();
    let mut shown = number("SALTUS_EDITOR_SHOW", 0);
    let files = sample(number("SALTUS_EDITOR_FILES", 400));
    while n_texts < wanted {
        let path = &files[random.below(files.len())];
        let text = std::fs::read_to_string(path).unwrap();
        session.set_text(path, &text);
        let mut classes = Vec::new();
        leaves(&Analysis::new(&session).outline(path), true, &mut classes);
        let words: Vec<u32> = text
            .char_indices()
            .filter(|&(at, c)| c.is_alphabetic() && !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            .map(|(at, _)| at as u32)
            .collect();
        if classes.len() < 3 || text.len() > 200_000 {
            session.remove_text(path);
            continue;
        }
        let damaged = classes[random.below(classes.len())];
        // Names with a meaning in other classes.
        let mut questions = Vec::new();
        for _ in 0..400 {
            let at = words[random.below(words.len())];
            let is_outside = |place: u32| place < damaged.0 || damaged.1 < place;
            let in_class = classes.iter().any(|class| class.0 < at && at < class.1);
            let before = answer(&session, path, at).filter(|(file, place)| file != path || is_outside(*place));
            if let Some(before) = before.filter(|_| in_class && is_outside(at)) {
                questions.push((at, before));
            }
            if questions.len() == 4 {
                break;
            }
        }
        let damage = DAMAGES[n_texts % DAMAGES.len()];
        let cut = cut(&text, damaged, damage, &mut random);
        let broken = format!("{}{}{}", &text[..cut.start], cut.text, &text[cut.end..]);
        session.set_text(path, &broken);
        for (at, (file, place)) in questions {
            let expected = Some((file.clone(), if file == *path { cut.moved(place) } else { place }));
            let found = answer(&session, path, cut.moved(at));
            n_asked += 1;
            if found != expected {
                *lost.entry(damage).or_default() += 1;
                if shown > 0 {
                    shown -= 1;
                    let around = &broken[boundary(&broken, cut.start.saturating_sub(250))..];
                    let around = &around[..boundary(around, around.len().min(600))];
                    let line = text[..at as usize].matches('\n').count() + 1;
                    println!(
                        "=== {damage:?} {:?} in {}: line {line}, {} bytes behind\n{around}",
                        cut.text,
                        path.display(),
                        at as i64 - cut.start as i64
                    );
                }
            }
        }
        session.remove_text(path);
        n_texts += 1;
    }
    println!("{n_asked} questions about {n_texts} texts, lost: {lost:?}");
    assert!(lost.values().sum::<usize>() * 100 <= n_asked, "more than one in a hundred is lost: {lost:?}");
}
