//! Any text is loaded and each of its classes flattened and checked without a panic, a hang or a flood of memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus::pipeline::{self, Options, Stage};
use saltus::{Session, guard};
use saltus_library::{ClassId, MemoryFiles};

/// Classes of one text that are tried; more only repeat the work.
const MOST_CLASSES: usize = 8;

fuzz_target!(|text: &str| {
    // As in the program: recursion may go as deep as the limits of the front end allow.
    let done = guard::on_large_stack(|| flatten_all(text));
    assert!(done.is_ok());
});

fn flatten_all(text: &str) {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("fuzz.mo", text);
    for class in classes(&session) {
        let outcome = pipeline::run(&session, class, &Options::until(Stage::Check));
        if let Some(bug) = outcome.diagnostics.iter().find(|d| d.code.0 == "E9999") {
            panic!("{}", bug.message);
        }
        if let Some(model) = outcome.flat {
            let _ = saltus_flat::print(&model);
        }
    }
}

/// The classes of the text and those directly inside them.
fn classes(session: &Session) -> Vec<ClassId> {
    let own = session.own_classes().to_vec();
    let nested = own.iter().flat_map(|&class| session.library().children(class));
    own.iter().copied().chain(nested).take(MOST_CLASSES).collect()
}
