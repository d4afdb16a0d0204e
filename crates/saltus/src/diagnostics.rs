//! The messages of the pipeline itself: what to work on, and defects of the compiler.

use saltus_audit::Finding;
use saltus_base::{Code, Diagnostic, Span, digits};
use saltus_program::blame::number;
use saltus_sim::{SimError, SimErrorKind};

use crate::container::BadFile;
use crate::model::{Unchangeable, UnknownVariable};
use crate::search::NotFound;

fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code(code), Span::nowhere(), message)
}

/// A file or directory named on the command line cannot be read.
pub fn unreadable(path: &str, why: &str) -> Diagnostic {
    error("E0090", format!("expected a readable file or directory, found `{path}`: {why}"))
        .hint("check the spelling of the path and its permissions")
}

/// Only model exchange and co-simulation become components.
pub fn no_usable_interface(path: &str) -> Diagnostic {
    error("E1070", format!("`{path}` does not have the interface that a component needs"))
        .hint("`saltus import FILE --show` lists its interfaces; scheduled execution alone is not supported")
}

/// Modelica files are UTF-8 (specification, section 13.4).
pub fn not_utf8(path: &str, line: usize) -> Diagnostic {
    error("E0091", format!("expected a text in UTF-8, found another encoding in line {line} of `{path}`"))
        .hint("convert the file to UTF-8")
}

/// A command needs a class and neither a name nor a file with one obvious model was given.
pub fn no_class() -> Diagnostic {
    error("E0092", "expected a class to work on, found none")
        .hint("name a class such as `Motors.Examples.Start`, or a file with one model in it")
}

/// The files hold several models and no class name was given.
pub fn several_classes(names: &[String]) -> Diagnostic {
    error("E0093", format!("expected one model, found {}: {}", names.len(), names.join(", ")))
        .hint("name the class behind the files")
}

/// The annotation of a state names an integration method that does not exist.
pub fn unknown_solver(name: &str, span: Span) -> Diagnostic {
    let known = saltus_sim::Solver::NAMES.iter().filter(|(_, solver)| solver.fits_configurations());
    let known: Vec<&str> = known.map(|(name, _)| *name).collect();
    Diagnostic::new(Code("E0088"), span, format!("expected an integration method, found `{name}`"))
        .hint(format!("there are {}", known.join(", ")))
}

/// The annotation of a component is about states of state machines, and it is not one.
pub fn not_treated(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("W0070"), span, format!("the annotation `__Saltus` of {name} has no effect"))
        .hint("it is about states of state machines of continuous time")
}

/// Of several classes that are checked, the first one with this mistake.
pub fn found_in_class(diagnostic: Diagnostic, class: &str) -> Diagnostic {
    diagnostic.note(format!("found in the class `{class}`"))
}

/// A program holds on to a class from before an edit.
pub fn outdated_class() -> Diagnostic {
    error("E0096", "expected a class of the session as it is now, found one from before the last change")
        .hint("look the class up again by its name")
}

/// A package does not declare the class that was asked for.
pub fn unknown_class(name: &str, package: &str, similar: Option<&str>) -> Diagnostic {
    let d = error("E0094", format!("expected a class, found no `{name}` in `{package}`"));
    match similar {
        Some(similar) => d.hint(format!("did you mean `{package}.{similar}`?")),
        None => d.hint("names are case-sensitive"),
    }
}

/// The result file cannot be written.
pub fn unwritable(path: &str, why: &str) -> Diagnostic {
    unwritable_file(&format!("`{path}`: {why}"))
}

/// A part of the output is lost.
pub fn unwritable_output(why: &str) -> Diagnostic {
    error("E0095", format!("standard output cannot be written: {why}"))
}

/// A file cannot be written; one text gives the path and the reason.
fn unwritable_file(what: &str) -> Diagnostic {
    error("E0095", format!("expected a file that can be written, found {what}"))
        .hint("check that the directory exists and may be written to")
}

/// A compiled model or a saved state cannot be used.
pub fn bad_file(path: &str, why: &BadFile) -> Diagnostic {
    let said = error("E0082", format!("`{path}` cannot be used: {why}"));
    match why {
        BadFile::Version { .. } => said.hint("compile the model again with this program"),
        _ => said.hint("write it again with `saltus compile` or `--save-state`"),
    }
}

/// The state belongs to another model, or its external objects cannot be made again.
pub fn cannot_resume(why: &str) -> Diagnostic {
    error("E0081", format!("the run cannot go on from the saved state: {why}"))
        .hint("resume with the model, and the values of its structural parameters, with which the state was saved")
}

/// External objects of foreign code, and inputs that are functions, have no state that could be written.
pub fn cannot_save(why: &str) -> Diagnostic {
    error("E0080", why)
}

/// Characters of a value that a message shows: arrays may have millions of elements.
const MOST_SHOWN: usize = 60;

/// A value as a message shows it.
fn shown(value: &str) -> String {
    match value.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// A value cannot be set in a model that has been compiled.
pub fn cannot_set(name: &str, value: &str, why: &Unchangeable) -> Diagnostic {
    let value = shown(value);
    let said = error("E0074", format!("`{name}` cannot be set to `{value}`: {why}"));
    match why {
        Unchangeable::Structural | Unchangeable::Computed | Unchangeable::Text => {
            said.hint("set it when the model is compiled")
        }
        _ => said,
    }
}

/// A compiled model is complete: neither files nor classes go with it.
pub fn compiled_stands_alone(path: &str) -> Diagnostic {
    error("E0073", format!("expected source files and a class, or a compiled model alone, found `{path}`"))
}

/// A parameter of a compiled model cannot be varied.
pub fn cannot_vary(name: &str, path: &str, why: &Unchangeable) -> Diagnostic {
    error("E0072", format!("`{name}` cannot be varied in `{path}`: {why}")).hint("vary it in the source of the model")
}

/// A file that is something else would be overwritten.
pub fn not_ours(path: &str, expected: &str) -> Diagnostic {
    error("E0071", format!("`{path}` exists and is not {expected}")).hint("choose another name, or remove the file")
}

/// A variable cannot be set at this point of a run.
pub fn cannot_be_set(name: &str, why: &str) -> Diagnostic {
    error("E0075", format!("`{name}` cannot be set: {why}"))
}

/// The results of a run that was not completed are beside the file that was asked for.
pub fn piece_kept(path: &str) -> Diagnostic {
    let message = format!("the results until then are in `{path}`; the file of an earlier run was left as it was");
    Diagnostic::new(Code("W0079"), Span::nowhere(), message)
}

/// A file with values of parameters cannot be read.
pub fn bad_set_file(path: &str, why: &str) -> Diagnostic {
    error("E0078", format!("expected lines `name = value` in `{path}`: {why}"))
}

/// A table cannot drive the inputs of the model.
pub fn bad_input(path: &str, why: &str) -> Diagnostic {
    error("E0077", format!("expected a table of inputs in `{path}`: {why}"))
        .hint("it needs a column `time` and one for each input it drives")
}

/// The name of a result file does not say its format.
pub fn unknown_format(path: &str) -> Diagnostic {
    error("E0098", format!("expected a result that ends in .csv, .mat or .parquet, found `{path}`"))
}

/// A file holds no table of results.
pub fn no_results(path: &str, why: &str) -> Diagnostic {
    error("E0099", format!("expected results in `{path}`: {why}"))
}

/// All runs of a study failed.
pub fn no_good_run(path: &str) -> Diagnostic {
    error("E0099", format!("expected results in `{path}`: no run of the study went well"))
}

/// A result does not have the signal that was asked for.
pub fn unknown_signal(name: &str, similar: Option<&str>) -> Diagnostic {
    let d = error("E0089", format!("expected a signal of the result, found `{name}`"));
    match similar {
        Some(similar) => d.hint(format!("did you mean `{similar}`?")),
        None => d.hint("`*` stands for any characters and `?` for one, as in 'body.*'"),
    }
}

/// The combinations of `--vary` are more than can be kept.
pub fn too_many_runs(most: usize) -> Diagnostic {
    error("E0088", format!("expected at most {most} combinations of parameters, found more"))
        .hint("give fewer values; the numbers of values of all --vary are multiplied")
}

/// Some runs of a parameter study failed.
pub fn runs_failed(n: usize, first: &str, why: &str) -> Diagnostic {
    let message = match n {
        1 => format!("the run with {first} failed: {why}"),
        _ => format!("{n} runs failed, the first with {first}: {why}"),
    };
    error("E0903", message)
}

/// A search between two values of a parameter has found nothing.
pub fn search_failed(parameter: &str, variable: &str, target: f64, why: &NotFound) -> Diagnostic {
    match why {
        NotFound::NotBetween([(a, at_a), (b, at_b)]) => {
            let message = format!(
                "expected values of `{variable}` on both sides of {target}, found {at_a} with {parameter} = {a} and {at_b} with \
                 {parameter} = {b}"
            );
            error("E0087", message)
                .hint("give other bounds; `saltus sweep` shows how the value depends on the parameter")
        }
        NotFound::Jump { parameter: at, values: [a, b] } => {
            error("E0086", format!("`{variable}` is never {target}: it jumps from {a} to {b} at {parameter} = {at}"))
        }
        NotFound::Failed { parameter: at, why } => runs_failed(1, &format!("{parameter} = {at}"), why),
    }
}

/// A baseline is a list of what an earlier test of a library came to.
pub fn bad_baseline(path: &str, line: usize) -> Diagnostic {
    error(
        "E0083",
        format!(
            "expected a status and a class, as in `verified P.Ball`, found something else in line {line} of `{path}`"
        ),
    )
    .hint("`saltus test … --save FILE` writes such a file")
}

/// The file beside references that says how they were made is not as expected.
pub fn bad_settings(path: &str, why: &str) -> Diagnostic {
    error("E0084", format!("expected the settings of references in `{path}`: {why}"))
        .hint("write `{\"P.Ball\": {\"start\": 0, \"stop\": 3, \"interval\": 0.01, \"tolerance\": 1e-6}}`; each part may be left out")
}

/// A test needs models that say how long they run.
pub fn no_experiments() -> Diagnostic {
    error("E0085", "expected models with an `experiment` annotation or a reference, found none")
        .hint("write `annotation(experiment(StopTime = 1))` into the models to test")
}

/// The stop time on the command line is before the start time.
pub fn backwards(start: f64, stop: f64) -> Diagnostic {
    error("E0097", format!("expected a stop time after the start time {start}, found {stop}"))
}

/// A model ended by itself before the time that was asked for.
pub fn ended_before(end: f64, at: f64) -> Diagnostic {
    Diagnostic::new(
        Code("W0097"),
        Span::nowhere(),
        format!("the model ended at time {end}, before {at}: this is its last point"),
    )
}

/// Options of a run that do not fit to each other or to the model.
pub fn bad_experiment(what: &str) -> Diagnostic {
    error("E0070", format!("these options are impossible: {what}"))
}

/// An output is what the command reads.
pub fn overwrites_input(output: &str, input: &str) -> Diagnostic {
    let same = if output == input { String::new() } else { format!(" by way of `{input}`") };
    error("E0076", format!("`{output}` is read by this command{same} and would be overwritten"))
        .hint("choose another name for the output")
}

/// A pattern of variables to record fits none of the model, or a file of their names has one that is not there.
pub fn nothing_kept(pattern: &UnknownVariable) -> Diagnostic {
    let said = error("E0067", format!("expected variables that fit `{}`, found none", shown(&pattern.name)));
    match &pattern.similar {
        Some(similar) => said.hint(format!("did you mean `{similar}`?")),
        None => said.hint("`*` stands for any characters and `?` for one; brackets stand for themselves, and in a file of names everything does"),
    }
}

/// The file of a study is not TOML.
pub fn study_syntax(span: Span, why: &str) -> Diagnostic {
    Diagnostic::new(Code("E0060"), span, format!("the study cannot be read: {why}"))
        .hint("texts stand in quotes, tables begin with `[name]`; see https://toml.io")
}

/// ```toml
/// [experiment]
/// stoptime = 2    # expected `stop-time`
/// ```
pub fn unknown_key(span: Span, key: &str, table: &str, similar: Option<&str>, all: &[&str]) -> Diagnostic {
    let d = Diagnostic::new(Code("E0061"), span, format!("there is no key `{key}` in {table}"));
    match similar {
        Some(similar) => d.hint(format!("did you mean `{similar}`?")),
        None => d.hint(format!("its keys are `{}`", all.join("`, `"))),
    }
}

/// ```toml
/// stop-time = "2"    # expected a number
/// ```
pub fn wrong_kind(span: Span, key: &str, expected: &str, found: &str, similar: Option<&str>) -> Diagnostic {
    let d = Diagnostic::new(Code("E0062"), span, format!("expected {expected} for `{key}`, found {found}"));
    match similar {
        Some(similar) => d.hint(format!("did you mean `{similar}`?")),
        None => d,
    }
}

/// ```toml
/// [record]
/// t = "event(h < 0, 0).time"    # events are counted from 1
/// ```
pub fn bad_expression(span: Span, why: &str) -> Diagnostic {
    Diagnostic::new(Code("E0063"), span, why)
        .hint("for example `max(abs(x))`, `event(h < 0, 2).time`, `event(circle -> flight).pre(circle.w)`")
}

/// What stands in a study does not fit together, or something is missing.
pub fn bad_study(span: Span, why: &str, hint: &str) -> Diagnostic {
    let d = Diagnostic::new(Code("E0064"), span, why);
    if hint.is_empty() { d } else { d.hint(hint) }
}

/// A study names something that the model does not have.
pub fn unknown_in_study(span: Span, what: &str, name: &str, similar: Option<&str>) -> Diagnostic {
    let d = Diagnostic::new(Code("E0065"), span, format!("the model has no {what} `{name}`"));
    match similar {
        Some(similar) => d.hint(format!("did you mean `{similar}`?")),
        None => d.hint("`saltus explain` lists the variables of a model"),
    }
}

/// A search of a study has found nothing.
pub fn not_found(span: Span, why: &str) -> Diagnostic {
    Diagnostic::new(Code("E0066"), span, why)
}

/// A number that a study records has no value in some runs: its event did not happen, or its variable is not active.
pub fn no_value(span: Span, name: &str, n_without: usize, n_runs: usize) -> Diagnostic {
    Diagnostic::new(Code("W0067"), span, format!("`{name}` has no value in {n_without} of {n_runs} runs"))
        .hint("its event did not happen, or its variable has no value there; the table has a gap")
}

/// A library cannot convert from a version.
pub fn no_conversion(library: &str, version: &str, why: &str) -> Diagnostic {
    let message = format!("expected a script that converts from version {version} of `{library}`: {why}");
    Diagnostic::new(Code("E0069"), Span::nowhere(), message)
        .hint("give one of the versions that the annotation `conversion` of the package names")
}

/// A change that the script of a library leaves to its user.
pub fn convert_by_hand(text: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("W0068"), span, format!("to be converted by hand: {text}"))
}

/// The model compiles, and its simulation ends before the stop time.
pub fn simulation_failed(error: &SimError) -> Diagnostic {
    let SimError { time, kind, span, details, .. } = error;
    if let SimErrorKind::CannotRecord { why } = kind {
        return unwritable_file(why).note(format!("the simulation ended at time {}", digits(*time)));
    }
    let mut d =
        Diagnostic::new(Code("E0901"), *span, format!("the simulation failed at time {}: {kind}", digits(*time)));
    d = details.labels.iter().fold(d, |d, (span, text)| d.label(*span, text));
    d = details.notes.iter().fold(d, |d, text| d.note(text));
    if let SimErrorKind::CannotEnter { hints, .. } = kind {
        return hints.iter().fold(d, |d, text| d.hint(text));
    }
    match advice(kind) {
        Some(text) => d.hint(text),
        None => d,
    }
}

/// What to do about a failure, where there is something general to say.
fn advice(kind: &SimErrorKind) -> Option<&'static str> {
    Some(match kind {
        SimErrorKind::CannotEvaluate { message, .. } if message.contains("nonlinear loop of") => {
            "give the unknowns start values near the intended solution, or check that one exists"
        }
        SimErrorKind::NotANumber { why: Some(_), .. } => {
            "guard the expression, as in `if x > 0 then log(x) else 0`, or find out how the value gets there"
        }
        SimErrorKind::NotQuantised { .. } => {
            "leave `--solver` out, or name another one: `auto`, `dopri5`, `dop853`, `rodas` or `bdf`"
        }
        SimErrorKind::StepTooSmall { .. } => "look at this variable shortly before; a looser --tolerance may help",
        SimErrorKind::InitialContradiction { .. } => "drop one of the conditions, or `fixed = true` of a start value",
        _ => return None,
    })
}

/// An `assert` with level warning has become false; said for each of the first twenty times.
pub fn assertion_warning(time: f64, text: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("W0902"), span, format!("assertion violated at time {}: {text}", digits(time)))
}

/// ```modelica
/// when h < 0 then reinit(v, -0.7*pre(v)); end when; // bounces that become shorter and shorter: after the last one the ball falls
/// ```
pub fn tunnel(time: f64, relation: &str, span: Span) -> Diagnostic {
    let message = format!(
        "at time {} the model passes the threshold of `{relation}`, where an event should have turned it back",
        digits(time)
    );
    Diagnostic::new(Code("W0905"), span, message)
        .hint("events accumulate here and `--on-zeno continue` goes on without them; let the model come to rest, for example below a least speed")
}

/// ```modelica
/// (x - 1)*(y - 1) = 0; (x - 1)*(y - 2) = 0; // x = 1, and every y fulfils the equations
/// ```
pub fn undetermined(time: f64, variable: &str, span: Span) -> Diagnostic {
    let message = format!("at time {} the equations of a loop leave `{variable}` undetermined", digits(time));
    Diagnostic::new(Code("W0906"), span, message).hint(format!(
        "its value is one of many; the start value decides, or an equation that determines `{variable}` is missing"
    ))
}

/// ```modelica
/// y = tanh((x - 1)*1e18); x + y = 1.3; // y is 0.3 between two numbers of x
/// ```
pub fn unfulfilled(time: f64, part: &str, span: Span) -> Diagnostic {
    let message = format!(
        "at time {} an equation of a loop does not hold: its sides differ by {part} of its terms, and no number is nearer",
        digits(time)
    );
    Diagnostic::new(Code("W0909"), span, message)
        .hint("the loop is steeper than floating point numbers are close; make it less steep, or write a jump as an `if` with a relation")
}

/// ```modelica
/// 0 = if a then i1 else u; 0 = if b then i2 else u; // closed both: any part of the current may go through each
/// ```
pub fn free(time: f64, variable: &str, span: Span) -> Diagnostic {
    let message = format!(
        "from time {} on nothing determines `{variable}`: its ideal element has no effect beside others",
        digits(time)
    );
    Diagnostic::new(Code("W0908"), span, message).hint(
        "closed switches in parallel share a current in any proportion, open ones in series a voltage; this one is computed as if it were in its other position, and a small resistance or conductance determines it",
    )
}

/// ```modelica
/// x^3 - x = 1 - time; // the solution from x = 1.3 on ends at time 1.38; another one, below -1, goes on
/// ```
pub fn jump(time: f64, why: &str, span: Span) -> Diagnostic {
    let message =
        format!("at time {} the solution of the equations ends, and they jump to another one: {why}", digits(time));
    Diagnostic::new(Code("W0904"), span, message)
        .hint("a trigger or a stall is meant to jump; elsewhere look at this loop shortly before")
}

/// ```modelica
/// der(x) = if x > 0 then -1 else 1; // neither value of the relation lasts: x stays at 0
/// ```
pub fn simulation_note(time: f64, text: &str) -> Diagnostic {
    Diagnostic::new(Code("W0903"), Span::nowhere(), format!("from time {time} on the model {text}"))
        .hint("`--on-zeno stop` ends the simulation there instead")
}

/// An equation as written does not hold for the numbers of the simulation, which are wrong then; `saltus simulate --audit` looks
/// for that.
pub fn unsatisfied(finding: &Finding) -> Diagnostic {
    let Finding { residual, time, side, .. } = finding;
    let what = if finding.is_parameter { "the value of a parameter" } else { "an equation" };
    let mut d = match &residual.note {
        Some(note) => {
            let message = format!("{what} does not hold at time {time}, {}: {note}", side.name());
            Diagnostic::new(Code("E0921"), finding.span, message)
        }
        None => {
            let (left, right) = (number(residual.left), number(residual.right));
            let message = format!(
                "{what} does not hold at time {time}, {}: {left} = {right}, apart by {:.1e} of its terms",
                side.name(),
                residual.relative
            );
            Diagnostic::new(Code("E0921"), finding.span, message)
        }
    };
    if let Some(i) = residual.element {
        d = d.note(format!("element {i} of the array"));
    }
    if !finding.component.is_empty() {
        d = d.note(format!("in `{}`", finding.component));
    }
    d
}

/// A part has an integrator of its own where no variable of it appears in another one.
pub fn not_apart(why: &str) -> Diagnostic {
    Diagnostic::new(Code("W0907"), Span::nowhere(), format!("the model is not taken apart: {why}"))
        .hint("it is simulated as a whole; leave out `--apart`")
}

/// The file of a compiled model has no equations any more.
pub fn nothing_to_audit() -> Diagnostic {
    error("E0922", "a compiled model has no equations to audit")
        .hint("name the source of the model instead of the compiled file")
}

/// The model is right, the compiler is not: please report it.
pub fn internal_error(what: &str) -> Diagnostic {
    error("E9999", format!("internal error: {what}"))
        .hint("this is a defect of Saltus, not of the model; please report it with the model that shows it")
}
