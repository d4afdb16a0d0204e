//! `saltus check [FILE…] [CLASS]`: every mistake of a model, then whether its equations balance. Of a package: every
//! mistake of every class in it. Of a file with several models, and no class named: every mistake of every class in the file.

use std::collections::HashSet;
use std::mem::ManuallyDrop;

use saltus::pipeline::{self, Options, Stage};
use saltus::{Session, diagnostics};
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
    if let Some((session, own)) = arguments.target.open_several() {
        let session = ManuallyDrop::new(session);
        let mut classes = Vec::new();
        for class in own {
            classes.push(class);
            collect_members(session.library(), class, &mut classes);
        }
        let n_wrong = check_all(&session, &classes, screen);
        screen.say(&format!("{} classes checked, {n_wrong} with mistakes", classes.len()));
        return Ok(if n_wrong > 0 { Exit::ModelError } else { Exit::Success });
    }
    let run = arguments.target.run(Options::until(Stage::Check), screen)?;
    if let Some(balance) = &run.outcome.balance {
        screen
            .say(&format!("Class {}: {} equations, {} unknowns", run.class_name, balance.equations, balance.unknowns));
    }
    let are_members_right = check_members(&run, screen);
    arguments.target.report_cost(&run, &[], screen)?;
    Ok(if run.outcome.has_errors() || !are_members_right { Exit::ModelError } else { Exit::Success })
}

/// Checks every class of a package; what several of them share is shown once. `true` also if it is not a package.
fn check_members(run: &Run, screen: &Screen) -> bool {
    let library = run.session.library();
    let Some(package) = library.find(&run.class_name) else { return true };
    if library.definition(package).is_none_or(|d| d.kind != ClassKind::Package) {
        return true;
    }
    let mut members = Vec::new();
    collect_members(library, package, &mut members);
    let n_wrong = check_all(&run.session, &members, screen);
    screen.say(&format!("Package {}: {} classes checked, {n_wrong} with mistakes", run.class_name, members.len()));
    n_wrong == 0
}

/// Shows the mistakes of several classes, and returns how many classes have some.
fn check_all(session: &Session, classes: &[ClassId], screen: &Screen) -> usize {
    let mut shown = HashSet::new();
    let mut n_wrong = 0;
    for &class in classes {
        let outcome = pipeline::run(session, class, &Options::until(Stage::Check));
        n_wrong += usize::from(outcome.has_errors());
        let name = session.library().qualified_name(class);
        let mut new = Diagnostics::new();
        new.extend(
            outcome
                .diagnostics
                .iter()
                .filter(|d| d.severity == Severity::Error)
                .filter(|d| shown.insert((d.code, d.span, d.message.clone())))
                .map(|d| diagnostics::found_in_class(d.clone(), &name)),
        );
        session.with_sources(|sources| screen.show_all(&new, sources));
    }
    n_wrong
}

/// All classes declared in a class, at any depth: also those inside of models, which nothing may use yet.
fn collect_members(library: &Library, class: ClassId, out: &mut Vec<ClassId>) {
    for child in library.children(class) {
        out.push(child);
        collect_members(library, child, out);
    }
}
