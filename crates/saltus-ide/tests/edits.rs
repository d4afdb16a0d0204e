//! Edits at random: after each the answers are those of a new session, and no text makes a question fail.
//!
//! `SALTUS_EDITS=500` makes more of them than the usual run.

mod common;

use std::path::{Path, PathBuf};

use common::Random;
use saltus::Session;
use saltus_ide::Analysis;

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library").canonicalize().unwrap()
}

fn session() -> Session {
    let mut session = Session::on_disk();
    session.add_library(&library());
    session
}

fn n_edits(usual: usize) -> usize {
    std::env::var("SALTUS_EDITS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

const FILES: [&str; 5] = [
    "Saltus/Electrical/Thyristor.mo",
    "Saltus/Electrical/TwoPin.mo",
    "Saltus/Blocks/package.mo",
    "Saltus/Units.mo",
    "Saltus/Electrical/DiodeBridge.mo",
];

const PIECES: [&str; 14] =
    ["Real z;", "x.", "(", ")", "end", "equation ", "\"", "= 1;", "extends TwoPin;", ";", " import ", "R(", "µ", "/*"];

/// Replaces a few characters by a piece of a model.
fn edit(text: &str, random: &mut Random) -> String {
    let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let start = random.below(boundaries.len());
    let end = (start + random.below(8)).min(boundaries.len() - 1);
    let piece = if random.below(3) == 0 { "" } else { PIECES[random.below(PIECES.len())] };
    format!("{}{piece}{}", &text[..boundaries[start]], &text[boundaries[end]..])
}

/// Everything there is to ask about a place, as text.
fn answers(session: &Session, path: &Path, offset: u32) -> String {
    let analysis = Analysis::new(session);
    let labels: Vec<String> =
        analysis.complete(path, offset).items.into_iter().map(|item| item.label + &item.detail).collect();
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        analysis.hover(path, offset),
        analysis.definition(path, offset),
        analysis.type_definition(path, offset),
        labels,
        analysis.outline(path),
        analysis.syntax_problems(path),
        analysis.signature_help(path, offset),
        analysis.folds(path),
        analysis.highlight(path, Some((offset, offset + 200))),
    )
}

#[test]
fn answers_do_not_depend_on_what_was_before() {
    let mut random = Random(0x5a17);
    let mut edited = session();
    let mut texts: Vec<(PathBuf, String)> = FILES
        .iter()
        .map(|file| (library().join(file), std::fs::read_to_string(library().join(file)).unwrap()))
        .collect();
    let originals = texts.clone();
    // The files of a user count in the order in which they were opened.
    texts.iter().for_each(|(path, text)| edited.set_text(path, text));
    for round in 0..n_edits(60) {
        let at = random.below(texts.len());
        // Ruins say little about the language: now and then a file is as it was.
        texts[at].1 = if round % 7 == 6 { originals[at].1.clone() } else { edit(&texts[at].1, &mut random) };
        edited.set_text(&texts[at].0, &texts[at].1);
        let mut fresh = session();
        texts.iter().for_each(|(path, text)| fresh.set_text(path, text));
        let asked = random.below(texts.len());
        let (path, text) = &texts[asked];
        let offset = random.below(text.len()) as u32;
        assert_eq!(answers(&edited, path, offset), answers(&fresh, path, offset), "round {round}, {offset}\n{text}");
    }
}

#[test]
fn the_intact_class_of_a_broken_file_has_answers() {
    let intact = "model A \"First\"\n  Real x \"Height\";\nequation\n  x = 1;\nend A;\n";
    let source = std::fs::read_to_string(library().join("Saltus/Electrical/DiodeBridge.mo")).unwrap();
    let mut random = Random(0xb0c);
    let mut session = session();
    let path = Path::new("half.mo");
    let mut broken = source.clone();
    for round in 0..n_edits(150) {
        broken = if round % 20 == 0 { source.clone() } else { edit(&broken, &mut random) };
        // A half-typed class behind an intact one.
        let cut: usize = broken.char_indices().map(|(at, _)| at).nth(random.below(broken.chars().count())).unwrap_or(0);
        session.set_text(path, &format!("{intact}{}", &broken[..cut]));
        let analysis = Analysis::new(&session);
        let at = intact.find("x = 1").unwrap() as u32;
        let hover = analysis.hover(path, at).map(|hover| hover.text).unwrap_or_default();
        assert!(hover.contains("Height"), "round {round}: {hover}\n{}", &broken[..cut]);
        assert_eq!(
            analysis.definition(path, at).map(|target| target.focus.start),
            Some(intact.find("x \"").unwrap() as u32)
        );
        let _ = answers(&session, path, (intact.len() + random.below(cut + 1)) as u32);
        let _ = analysis.rename(path, at, "y");
        let _ = analysis.references(path, at);
        let _ = analysis.format(path);
    }
}
