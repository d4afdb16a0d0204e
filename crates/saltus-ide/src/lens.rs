//! What a model comes to: equations and unknowns as the modeller wrote them, and states, index, loops, events as they are sorted.
//! Shown above the model.

use std::path::Path;

use saltus::Session;
use saltus::pipeline::{self, Options, Stage};
use saltus_backend::describe::{BlockKind, Description};
use saltus_flat::Balance;
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
    Some(summary(outcome.balance.as_ref()?, outcome.description.as_ref()?))
}

fn summary(balance: &Balance, description: &Description) -> String {
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = vec![match balance.equations == balance.unknowns {
        true => counted(balance.equations as usize, "equation"),
        false => format!("{} equations, {} unknowns", balance.equations, balance.unknowns),
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
        // The condition of the `when` and its `pre` are equations of the sorted system, not of the text.
        assert_eq!(line, "2 equations · 2 states · index 1 · no loops · 1 state event");
        assert_eq!(fixture.analysis().structure("P.Missing"), None);
    }

    /// The pendulum has 5 equations for x, y, vx, vy and f; its length must be differentiated twice.
    #[test]
    fn equations_that_are_differentiated_count_once() {
        let fixture = Fixture::new(
            "model Pendulum Real x(start = 1), y, vx, vy, f; equation
            der(x) = vx; der(y) = vy; der(vx) = f*x; der(vy) = f*y - 9.81; x^2 + y^2 = 1; end Pendulum;",
        );
        let line = fixture.analysis().structure("Pendulum").unwrap();
        assert!(line.starts_with("5 equations · 2 states · index 3 · "), "{line}");
    }
}
