//! Edits of diagrams over all classes of the library that comes with the program: each changes its place alone, the picture
//! afterwards is the wanted one, and undo gives the same bytes.

use std::path::{Path, PathBuf};

use saltus::Session;
use saltus_diagram::{ConnectionKind, Layer, Placement, Scene};
use saltus_ide::{Analysis, SourceChange, TextEdit, apply, inverse};

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../library");

fn open() -> Session {
    let mut session = Session::on_disk();
    session.add_library(Path::new(LIBRARY));
    session
}

/// All classes with a diagram of their own.
fn scenes(session: &Session) -> Vec<Scene> {
    let library = session.library();
    let mut todo = vec![library.find("Saltus").unwrap()];
    let mut found = Vec::new();
    while let Some(class) = todo.pop() {
        todo.extend(library.children(class));
        let scene = Analysis::new(session).scene(&library.qualified_name(class), Layer::Diagram).unwrap();
        if !scene.components.is_empty() {
            found.push(scene);
        }
    }
    found
}

/// The one file of a change with its edits and its text before and after; undo is checked on the way.
fn applied(session: &Session, change: SourceChange) -> (PathBuf, Vec<TextEdit>, String, String) {
    let [(path, edits)] = change.edits.into_iter().collect::<Vec<_>>().try_into().unwrap();
    let before = Analysis::new(session).text(&path).unwrap().to_owned();
    let after = apply(&before, &edits);
    assert_eq!(apply(&after, &inverse(&before, &edits)), before);
    (path, edits, before, after)
}

fn scene_after(session: &Session, path: &Path, text: &str, class: &str) -> Scene {
    let mut changed = session.fork();
    changed.set_text(path, text);
    Analysis::new(&changed).scene(class, Layer::Diagram).unwrap()
}

#[test]
fn every_component_can_be_moved_and_nothing_else_moves() {
    let session = open();
    let mut n_moved = 0;
    for scene in scenes(&session) {
        let own = scene.components.iter().filter(|c| c.inherited_from.is_none());
        for (index, component) in own.enumerate() {
            let Some(placement) = &component.placement else { continue };
            let mut wanted: Placement = placement.clone();
            wanted.origin[0] += 2.0;
            wanted.rotation += 90.0;
            let change = Analysis::new(&session).place(&scene.class, &component.name, Layer::Diagram, &wanted).unwrap();
            let (path, edits, before, after) = applied(&session, change);
            let source = component.source.as_ref().unwrap();
            let begin = before[..edits[0].start as usize].rfind("Placement(").unwrap() as u32;
            let is_inside = |edit: &TextEdit| source.start <= begin && begin < edit.start && edit.end <= source.end;
            assert!(edits.iter().all(is_inside), "{} {}: {edits:?}", scene.class, component.name);
            // Pictures are compared for some, because opening a class again takes its time.
            if index == 0 {
                let moved = scene_after(&session, &path, &after, &scene.class);
                for (old, new) in scene.components.iter().zip(&moved.components) {
                    let expected = if old.name == component.name { Some(&wanted) } else { old.placement.as_ref() };
                    assert_eq!(new.placement.as_ref(), expected, "{} {}", scene.class, old.name);
                }
            }
            n_moved += 1;
        }
    }
    assert!(n_moved > 40, "{n_moved}");
}

#[test]
fn every_connection_can_be_removed_and_made_again() {
    let session = open();
    let mut n_made = 0;
    for scene in scenes(&session) {
        let own = scene.connections.iter().filter(|c| c.inherited_from.is_none() && c.kind == ConnectionKind::Connect);
        // Elements that an index of a loop chooses have no meaning outside of the loop.
        let plain = own.filter(|c| !c.from.contains('[') && !c.to.contains('['));
        for (index, connection) in plain.enumerate() {
            let (from, to) = (connection.from.as_str(), connection.to.as_str());
            let fits = Analysis::new(&session).can_connect(&scene.class, from, to);
            assert_eq!(fits, Ok(()), "{}", scene.class);
            n_made += 1;
            if index > 0 {
                continue;
            }
            let change = Analysis::new(&session).disconnect(&scene.class, from, to).unwrap();
            let (path, _, _, after) = applied(&session, change);
            let mut changed = session.fork();
            changed.set_text(&path, &after);
            let change = Analysis::new(&changed).connect(&scene.class, from, to).unwrap();
            let (path, _, _, again) = applied(&changed, change);
            let made = scene_after(&session, &path, &again, &scene.class);
            assert_eq!(made.connections.len(), scene.connections.len(), "{}", scene.class);
        }
    }
    assert!(n_made > 50, "{n_made}");
}
