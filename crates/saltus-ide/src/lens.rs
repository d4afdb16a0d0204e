//! What a model comes to when it is sorted: equations, states, index, loops, events. Shown above the model.

use std::path::Path;

use saltus::Session;
use saltus::pipeline::{self, Options, Stage};
use saltus_backend::describe::{BlockKind, Description};
use saltus_syntax::ast::{ClassDef, ClassKind};

use crate::diagnostics::qualified;
use crate::file::File;
use crate::walk;

/// Sizes of loops that are listed, the largest first.
const MOST_SIZES: usize = 5;

/// A model of a file that can be simulated as it is.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelPlace {
    pub class: String,
    /// Its name in the text, in bytes.
    pub start: u32,
    pub end: u32,
}

/// The models and blocks of a file that are complete, in the order of the text.
pub(crate) fn models(session: &Session, path: &Path) -> Vec<ModelPlace> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let names = walk::names(file.tree, None);
    let is_model = |class: &ClassDef| {
        matches!(class.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class) && !class.is_partial
    };
    let places = names.classes.iter().enumerate().filter(|(_, node)| node.is_element && is_model(node.definition));
    places
        .map(|(at, node)| {
            let span = node.definition.name.span;
            ModelPlace { class: qualified(&file, &names, at), start: span.start, end: span.end }
        })
        .collect()
}

/// How a model is sorted, in one line; `None` if it has mistakes. It may take long.
pub(crate) fn structure(session: &Session, class: &str) -> Option<String> {
    let id = session.library().find(class)?;
    let options = Options { describe: true, ..Options::until(Stage::Compile) };
    let outcome = pipeline::run(session, id, &options);
    Some(summary(outcome.description.as_ref()?))
}

fn summary(description: &Description) -> String {
    let (equations, unknowns) = description.sizes.scalar;
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = vec![match equations == unknowns {
        true => counted(equations, "equation"),
        false => format!("{equations} equations, {unknowns} unknowns"),
    }];
    parts.push(counted(description.states.len(), "state"));
    parts.push(format!("index {}", description.index));
    let loops = description.continuous.blocks.iter().filter(|block| block.kind != BlockKind::Assignment);
    let mut sizes: Vec<usize> = loops.map(|block| block.equations.len()).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    parts.push(match sizes.as_slice() {
        [] => "no loops".into(),
        [size] => format!("a loop of {}", counted(*size, "equation")),
        sizes => {
            let shown: Vec<String> = sizes.iter().take(MOST_SIZES).map(usize::to_string).collect();
            let more = if sizes.len() > MOST_SIZES { ", …" } else { "" };
            format!("{} loops of {}{more} equations", sizes.len(), shown.join(", "))
        }
    });
    let events = [
        (description.state_events.len(), "state event"),
        (description.time_events.len(), "time event"),
        (description.samples.len(), "sample"),
    ];
    let possible: Vec<String> = events.iter().filter(|(n, _)| *n > 0).map(|(n, what)| counted(*n, what)).collect();
    parts.push(if possible.is_empty() { "no events".into() } else { possible.join(", ") });
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    const BALL: &str = "package P partial model A end A; model Ball
        Real h(start = 1, fixed = true); Real v(start = 0, fixed = true);
        equation der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -0.7*pre(v)); end when; end Ball; end P;";

    #[test]
    fn a_ball_has_two_states_and_an_event() {
        let fixture = Fixture::new(BALL);
        let models = fixture.analysis().models(&fixture.path);
        assert_eq!(models.iter().map(|m| m.class.as_str()).collect::<Vec<_>>(), ["P.Ball"]);
        let line = fixture.analysis().structure("P.Ball").unwrap();
        assert!(
            line.contains("2 states")
                && line.contains("no loops")
                && line.contains("index 1")
                && line.contains("1 state event"),
            "{line}"
        );
        assert_eq!(fixture.analysis().structure("P.Missing"), None);
    }
}
