//! `saltus check [FILE…] [CLASS]`: every mistake of a model, then whether its equations balance. Of a package: every
//! mistake of every class in it.

use std::collections::HashSet;

use saltus::pipeline::{self, Options, Stage};
use saltus_base::{Diagnostics, Severity};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::ClassKind;

use crate::target::{Run, Target};
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus check Circuit.mo\n  saltus check Motors.Examples.Start --library libraries\n  saltus check Circuit.mo --hints\n  saltus check Motors --library libraries      every class of a package"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let run = arguments.target.run(Options::until(Stage::Check), screen)?;
    if let Some(balance) = &run.outcome.balance {
        screen
            .say(&format!("Class {}: {} equations, {} unknowns", run.class_name, balance.equations, balance.unknowns));
    }
    let are_members_right = check_members(&run, screen);
    arguments.target.report_cost(&run, &[], screen)?;
    Ok(if run.outcome.has_errors() || !are_members_right { Exit::ModelError } else { Exit::Success })
}

/// Checks every class of a package; what several of them share is shown once. `true` also if it is no package.
fn check_members(run: &Run, screen: &Screen) -> bool {
    let library = run.session.library();
    let Some(package) = library.find(&run.class_name) else { return true };
    let mut members = Vec::new();
    collect_members(library, package, &mut members);
    if members.is_empty() {
        return true;
    }
    let mut shown = HashSet::new();
    let mut n_wrong = 0;
    for &class in &members {
        let outcome = pipeline::run(&run.session, class, &Options::until(Stage::Check));
        n_wrong += usize::from(outcome.has_errors());
        let mut new = Diagnostics::new();
        new.extend(
            outcome
                .diagnostics
                .iter()
                .filter(|d| d.severity == Severity::Error)
                .filter(|d| shown.insert((d.code, d.span, d.message.clone())))
                .cloned(),
        );
        run.session.with_sources(|sources| screen.show_all(&new, sources));
    }
    screen.say(&format!("Package {}: {} classes checked, {n_wrong} with mistakes", run.class_name, members.len()));
    n_wrong == 0
}

/// The classes of a package and of the packages in it. Classes inside of models are checked where they are used.
fn collect_members(library: &Library, class: ClassId, out: &mut Vec<ClassId>) {
    let is_package = |c| library.definition(c).is_some_and(|d| d.kind == ClassKind::Package);
    if !is_package(class) {
        return;
    }
    for child in library.children(class) {
        out.push(child);
        collect_members(library, child, out);
    }
}
