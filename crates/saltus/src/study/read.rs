//! Reads the file of a study.
//!
//! In: its text. Out: a [`Study`], or all that is wrong with it, each with its place. First every key and the kind of its value are checked
//! by the tables of [`super::schema`]; what is built then need not look at kinds any more.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use saltus_base::{Diagnostic, FileId, SourceMap, Span, nearest};
use saltus_program::MixedMethod;
use saltus_sim::{EventSearch, Solver, ZenoPolicy};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::expression::{self, Expr, Mistake};
use super::items::{as_number, fits, flag, get, is_value, literal, number, numbers, sub, tables, text, texts, whole};
use super::schema::{self, Key, Kind};
use super::variation::{Distribution, MOST_POINTS, Points, Variation, spread, spread_ratios};
use super::{
    Aim, Change, Goal, LinearizeAt, LinearizePlace, ModelChoice, Output, Phase, Plot, Recorded, Setting, Study, Target,
    Until, Value,
};
use crate::diagnostics;
use crate::pipeline::{self, Engine, Experiment};
use crate::search::Unknown;

/// Reads a study; `path` is its name in messages.
pub fn read(path: &str, text: &str) -> Result<Study, (Vec<Diagnostic>, SourceMap)> {
    let mut sources = SourceMap::new();
    let file = sources.add(path, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { text, file, found: Vec::new() };
    for error in errors {
        let span = reader.span(error.span().unwrap_or(text.len()..text.len()));
        reader.found.push(diagnostics::study_syntax(span, error.message()));
    }
    let table = table.get_ref();
    if reader.found.is_empty() {
        reader.check(table, schema::STUDY, "the study");
    }
    let study = reader.found.is_empty().then(|| reader.study(table));
    match study {
        Some(study) if reader.found.is_empty() => Ok(Study { sources, ..study }),
        _ => Err((reader.found, sources)),
    }
}

struct Reader<'a> {
    text: &'a str,
    file: FileId,
    found: Vec<Diagnostic>,
}

type Table<'a> = DeTable<'a>;
type Item<'a> = Spanned<DeValue<'a>>;

/// Where to find, and what.
#[derive(Clone, Copy)]
struct Named<'a, 't> {
    key: &'a Spanned<toml::de::DeString<'t>>,
    value: &'a Item<'t>,
}

impl<'t> Reader<'t> {
    fn span(&self, range: Range<usize>) -> Span {
        let limit = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span::new(self.file, limit(range.start), limit(range.end))
    }

    fn wrong(&mut self, range: Range<usize>, message: impl Into<String>, hint: &str) {
        let span = self.span(range);
        self.found.push(diagnostics::bad_study(span, &message.into(), hint));
    }

    // ---- kinds

    fn check(&mut self, table: &Table, keys: &[Key], name: &str) {
        for (key, value) in table.iter() {
            match keys.iter().find(|known| known.name == key.get_ref().as_ref()) {
                Some(known) => self.check_kind(value, known.kind, known.name),
                None => {
                    let similar = nearest(key.get_ref(), keys.iter().map(|k| k.name));
                    let all: Vec<&str> = keys.iter().map(|k| k.name).collect();
                    let span = self.span(key.span());
                    self.found.push(diagnostics::unknown_key(span, key.get_ref(), name, similar, &all));
                }
            }
        }
    }

    fn check_kind(&mut self, item: &Item, kind: Kind, name: &str) {
        match (kind, item.get_ref()) {
            (Kind::Table(keys), DeValue::Table(table)) => self.check(table, keys, &format!("`{name}`")),
            (Kind::Tables(keys), DeValue::Array(tables)) => {
                for item in tables.iter() {
                    match item.get_ref() {
                        DeValue::Table(table) => self.check(table, keys, &format!("`{name}`")),
                        _ => self.unfit(item, Kind::Table(keys), name),
                    }
                }
            }
            (Kind::Named(kind), DeValue::Table(table)) => self.check_named(table, *kind),
            (Kind::Either(kinds), value) => match kinds.iter().find(|kind| fits(**kind, value)) {
                Some(kind) => self.check_kind(item, *kind, name),
                None => self.unfit(item, kind, name),
            },
            (kind, value) if fits(kind, value) => {}
            _ => self.unfit(item, kind, name),
        }
    }

    /// A dot in a name makes a table of what is behind it.
    fn check_named(&mut self, table: &Table, kind: Kind) {
        for (key, item) in table.iter() {
            match item.get_ref() {
                DeValue::Table(inner) if !is_value(inner, kind) => self.check_named(inner, kind),
                _ => self.check_kind(item, kind, key.get_ref()),
            }
        }
    }

    fn unfit(&mut self, item: &Item, kind: Kind, name: &str) {
        let found = match item.get_ref() {
            DeValue::String(text) => format!("the text \"{text}\""),
            DeValue::Integer(n) => format!("{n}"),
            DeValue::Float(x) => format!("{x}"),
            DeValue::Boolean(value) => format!("{value}"),
            DeValue::Datetime(time) => format!("the date {time}"),
            DeValue::Array(_) => "an array of something else".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        let similar = match (kind, item.get_ref()) {
            (Kind::Choice(names), DeValue::String(text)) => nearest(text, names.iter().copied()),
            _ => None,
        };
        let span = self.span(item.span());
        self.found.push(diagnostics::wrong_kind(span, name, &kind.name(), &found, similar));
    }

    /// All names of a table with their values; dots are part of the names.
    fn named<'a>(table: &'a Table<'t>, kind: Kind, before: &str, all: &mut Vec<(String, Named<'a, 't>)>) {
        for (key, value) in table.iter() {
            let name = format!("{before}{}", key.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) if !is_value(inner, kind) => Self::named(inner, kind, &format!("{name}."), all),
                _ => all.push((name, Named { key, value })),
            }
        }
    }

    fn names<'a>(&self, table: &'a Table<'t>, key: &str, kind: Kind) -> Vec<(String, Named<'a, 't>)> {
        let mut all = Vec::new();
        if let Some(inner) = sub(table, key) {
            Self::named(inner, kind, "", &mut all);
        }
        // In the order of the file.
        all.sort_by_key(|(_, named)| named.key.span().start);
        all
    }

    // ---- the study

    fn study(&mut self, table: &Table<'t>) -> Study {
        let nothing = Table::new();
        let experiment_table = sub(table, "experiment").unwrap_or(&nothing);
        let (experiment, engine) = self.experiment(experiment_table);
        let variation = get(table, "vary").map(|item| self.variation(item));
        let goal = self.goal(table);
        let study = Study {
            title: text(table, "title").unwrap_or_default(),
            model: self.model(table),
            values: self.values(table),
            places: self.places(table),
            experiment,
            engine,
            jobs: whole(experiment_table, "jobs"),
            phases: tables(table, "phase").into_iter().map(|(t, range)| self.phase(t, range)).collect(),
            variation: variation.flatten(),
            goal,
            linearizations: tables(table, "linearize").into_iter().filter_map(|(t, r)| self.linearize(t, r)).collect(),
            record: self.record(table),
            output: self.output(table),
            plots: tables(table, "plot").into_iter().filter_map(|(t, range)| self.plot(t, range)).collect(),
            sources: SourceMap::new(),
        };
        self.check_jobs(&study, experiment_table);
        study
    }

    fn check_jobs(&mut self, study: &Study, table: &Table) {
        if let (Some(0), Some(item)) = (study.jobs, get(table, "jobs")) {
            self.wrong(item.span(), "expected at least one thread", "leave `jobs` out to use all cores");
        }
    }

    fn model(&mut self, table: &Table<'t>) -> ModelChoice {
        let Some(model) = sub(table, "model") else {
            let hint = "write `[model]` with `class = \"…\"`, and `files = [\"…\"]` if it is not in a library";
            self.wrong(0..0, "expected a table `model`, found none", hint);
            return ModelChoice::default();
        };
        let paths = |key: &str| texts(model, key).into_iter().map(PathBuf::from).collect::<Vec<_>>();
        let choice = ModelChoice {
            class: text(model, "class"),
            files: paths("files"),
            libraries: paths("libraries"),
            allow_io: flag(model, "allow-io"),
            allow_external: flag(model, "allow-external"),
        };
        if choice.class.is_none() && choice.files.is_empty() {
            let range = get(table, "model").map_or(0..0, Spanned::span);
            self.wrong(range, "expected `class` or `files` in `model`, found neither", "name the model to work on");
        }
        choice
    }

    /// Values as Modelica expressions.
    fn values(&mut self, table: &Table<'t>) -> Vec<(String, String)> {
        let all = self.names(table, "values", schema::VALUE);
        all.into_iter().map(|(name, named)| (name, literal(named.value.get_ref()))).collect()
    }

    /// Where parameters are named.
    fn places(&self, table: &Table<'t>) -> Vec<(String, Span)> {
        let mut all = self.names(table, "values", schema::VALUE);
        let axis = Kind::Either(&[Kind::Numbers, Kind::Table(schema::RANGE)]);
        for (key, kind) in
            [("vary", axis), ("search", Kind::Table(schema::UNKNOWN)), ("optimize", Kind::Table(schema::UNKNOWN))]
        {
            all.extend(sub(table, key).map(|inner| self.names(inner, "parameters", kind)).unwrap_or_default());
        }
        all.into_iter().map(|(name, named)| (name, self.span(named.key.span()))).collect()
    }

    fn experiment(&mut self, table: &Table<'t>) -> (Experiment, Engine) {
        let mut experiment = Experiment {
            start_time: number(table, "start-time"),
            stop_time: number(table, "stop-time"),
            ..Experiment::default()
        };
        for (name, setting) in self.settings(table) {
            apply_setting(&mut experiment, &name, &setting);
        }
        if let Some(item) = get(table, "time-limit") {
            let seconds = number(table, "time-limit").unwrap_or(0.0);
            match Duration::try_from_secs_f64(seconds) {
                Ok(limit) if seconds > 0.0 => experiment.time_limit = Some(limit),
                _ => self.wrong(item.span(), "expected seconds, more than 0", ""),
            }
        }
        let engine = match text(table, "engine").as_deref() {
            Some("jit") => Engine::Jit,
            Some("interp") => Engine::Interpreter,
            _ => Engine::Auto,
        };
        (experiment, engine)
    }

    /// Settings that an experiment and a phase have in common, checked.
    fn settings(&mut self, table: &Table<'t>) -> Vec<(String, Setting)> {
        let mut settings = Vec::new();
        for name in
            ["intervals", "interval", "tolerance", "solver", "max-step", "fixed-step", "on-zeno", "events", "mixed"]
        {
            let Some(item) = get(table, name) else { continue };
            let setting = match item.get_ref() {
                DeValue::String(text) => Setting::Text(text.to_string()),
                value => Setting::Number(as_number(value).unwrap_or(f64::NAN)),
            };
            match setting {
                Setting::Number(x) if name == "tolerance" && !(x > 0.0 && x < 1.0) => {
                    self.wrong(item.span(), "expected a tolerance between 0 and 1", "1e-6 is usual");
                }
                Setting::Number(x) if !(x > 0.0 && x.is_finite()) => {
                    self.wrong(item.span(), format!("expected `{name}` to be more than 0"), "");
                }
                _ => {}
            }
            settings.push((name.to_owned(), setting));
        }
        if get(table, "intervals").is_some()
            && let Some(item) = get(table, "interval")
        {
            self.wrong(item.span(), "expected `intervals` or `interval`, found both", "leave one of them out");
        }
        settings
    }

    fn phase(&mut self, table: &Table<'t>, range: Range<usize>) -> Phase {
        let until = match get(table, "until") {
            Some(item) => match item.get_ref() {
                DeValue::String(_) => self.condition(item),
                value => Until::Time(as_number(value).unwrap_or(f64::NAN)),
            },
            None => number(table, "duration").map_or(Until::Stop, Until::Duration),
        };
        let ends = ["until", "duration"].map(|key| get(table, key));
        if let [Some(_), Some(item)] = ends {
            self.wrong(item.span(), "expected `until` or `duration`, found both", "leave one of them out");
        }
        if let (Until::Duration(seconds), Some(item)) = (&until, get(table, "duration"))
            && !(*seconds > 0.0 && seconds.is_finite())
        {
            self.wrong(item.span(), "expected seconds, more than 0", "");
        }
        let values = self.names(table, "values", schema::VALUE);
        Phase {
            name: text(table, "name").unwrap_or_default(),
            until,
            stop_time: number(table, "stop-time"),
            settings: self.settings(table),
            values: values.into_iter().map(|(name, named)| self.change(name, named)).collect(),
            span: self.span(range),
        }
    }

    fn condition(&mut self, item: &Item) -> Until {
        let DeValue::String(text) = item.get_ref() else { return Until::Stop };
        match expression::parse_event(text) {
            Some(Ok(event)) => Until::Event(event),
            Some(Err(mistake)) => {
                self.mistake(item, text, mistake);
                Until::Stop
            }
            None => self.expression(item).map_or(Until::Stop, Until::Condition),
        }
    }

    fn change(&mut self, name: String, named: Named) -> Change {
        let value = match named.value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string(), expression::parse(text).ok()),
            DeValue::Boolean(value) => Value::Number(f64::from(u8::from(*value))),
            DeValue::Array(_) => {
                let hint = "write the elements one by one: `\"x[1]\" = 1`";
                self.wrong(named.value.span(), "expected a single value in a phase, found an array", hint);
                Value::Number(f64::NAN)
            }
            value => Value::Number(as_number(value).unwrap_or(f64::NAN)),
        };
        Change { name, value, span: self.span(named.key.span()) }
    }

    // ---- expressions

    fn expression(&mut self, item: &Item) -> Option<Expr> {
        let DeValue::String(text) = item.get_ref() else { return None };
        expression::parse(text).map_err(|mistake| self.mistake(item, text, mistake)).ok()
    }

    /// The mistake at its place, if the text stands in the file as it is.
    fn mistake(&mut self, item: &Item, text: &str, mistake: Mistake) {
        self.mistake_in(item.span(), text, mistake);
    }

    fn mistake_in(&mut self, range: Range<usize>, text: &str, Mistake { message, at }: Mistake) {
        let written = self.text.get(range.clone()).unwrap_or("");
        let at = match written.find(text) {
            Some(begin) if !text.is_empty() => {
                let from = range.start + begin + at;
                from..(from + 1).min(range.end)
            }
            _ => range,
        };
        let span = self.span(at);
        self.found.push(diagnostics::bad_expression(span, &message));
    }

    fn record(&mut self, table: &Table<'t>) -> Vec<Recorded> {
        let all = self.names(table, "record", Kind::Text);
        let of = |(name, named): (String, Named)| {
            let expression = self.expression(named.value)?;
            Some(Recorded { name, expression, span: self.span(named.value.span()) })
        };
        all.into_iter().filter_map(of).collect()
    }

    // ---- variations and searches

    fn variation(&mut self, item: &Item<'t>) -> Option<Variation> {
        let DeValue::Table(table) = item.get_ref() else { return None };
        let axes = self.names(table, "parameters", Kind::Either(&[Kind::Numbers, Kind::Table(schema::RANGE)]));
        if axes.is_empty() {
            let hint = "write for example `parameters.k = { from = 1, to = 5, number = 9 }`";
            self.wrong(item.span(), "expected `parameters` in `vary`, found none", hint);
            return None;
        }
        let names = axes.iter().map(|(name, _)| name.clone()).collect();
        let method = text(table, "method").unwrap_or_else(|| "grid".to_owned());
        let points = match method.as_str() {
            "grid" | "list" => {
                let columns: Vec<Vec<f64>> = axes.iter().filter_map(|(_, named)| self.axis(*named)).collect();
                if columns.len() < axes.len() {
                    return None;
                }
                let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
                if method == "list" && columns.iter().any(|c| c.len() != longest) {
                    let hint = "`method = \"grid\"` makes all combinations";
                    self.wrong(item.span(), "expected as many values of each parameter in a list", hint);
                }
                if method == "list" { Points::List(columns) } else { Points::Grid(columns) }
            }
            _ => {
                let distributions: Vec<Distribution> =
                    axes.iter().filter_map(|(_, named)| self.distribution(*named)).collect();
                let Some(n) = whole(table, "number").filter(|n| *n > 0) else {
                    self.wrong(item.span(), "expected `number`, the number of samples", "");
                    return None;
                };
                let seed = whole(table, "seed").unwrap_or(0) as u64;
                Points::Samples { distributions, n, seed, is_latin: method == "latin-hypercube" }
            }
        };
        if points.n().is_none_or(|n| n > MOST_POINTS) {
            let hint = "give fewer values; the numbers of values of a grid are multiplied";
            self.wrong(item.span(), format!("expected at most {MOST_POINTS} runs, found more"), hint);
            return None;
        }
        Some(Variation { names, points })
    }

    /// The values of a grid or a list.
    fn axis(&mut self, named: Named<'_, 't>) -> Option<Vec<f64>> {
        let range = named.value.span();
        let values = match named.value.get_ref() {
            DeValue::Table(table) => {
                let bounds = number(table, "from").zip(number(table, "to"));
                let (Some((from, to)), Some(n)) = (bounds, whole(table, "number")) else {
                    self.wrong(range, "expected `from`, `to` and `number`", "an array of values will do as well");
                    return None;
                };
                if n > MOST_POINTS {
                    self.wrong(range, format!("expected at most {MOST_POINTS} values, found {n}"), "");
                    return None;
                }
                if text(table, "scale").as_deref() == Some("logarithmic") {
                    if !(from * to > 0.0) {
                        self.wrong(range, "expected bounds of one sign, other than 0, for a logarithmic scale", "");
                        return None;
                    }
                    spread_ratios(from, to, n)
                } else {
                    spread(from, to, n)
                }
            }
            value => numbers(value),
        };
        if values.is_empty() || !values.iter().all(|v| v.is_finite()) {
            self.wrong(range, "expected at least one value, all finite", "");
            return None;
        }
        Some(values)
    }

    fn distribution(&mut self, named: Named<'_, 't>) -> Option<Distribution> {
        let range = named.value.span();
        let DeValue::Table(table) = named.value.get_ref() else {
            self.wrong(range, "expected `{ from = …, to = … }` or `{ mean = …, deviation = … }` for samples", "");
            return None;
        };
        let get = |key: &str| number(table, key).filter(|x| x.is_finite());
        let is_logarithmic = text(table, "scale").as_deref() == Some("logarithmic");
        match (get("from").zip(get("to")), get("mean").zip(get("deviation"))) {
            (Some((from, to)), None) if is_logarithmic && from * to > 0.0 => {
                Some(Distribution::LogUniform { from, to })
            }
            (Some((from, to)), None) if !is_logarithmic => Some(Distribution::Uniform { from, to }),
            (None, Some((mean, deviation))) if deviation >= 0.0 => Some(Distribution::Normal { mean, deviation }),
            _ => {
                let hint = "a logarithmic scale needs bounds of one sign";
                self.wrong(range, "expected either `from` and `to` or `mean` and `deviation`", hint);
                None
            }
        }
    }

    fn goal(&mut self, table: &Table<'t>) -> Option<Goal> {
        match (get(table, "search"), get(table, "optimize")) {
            (Some(_), Some(item)) => {
                self.wrong(item.span(), "expected `search` or `optimize`, found both", "make two studies of it");
                None
            }
            (Some(item), None) => self.search(item),
            (None, Some(item)) => self.optimize(item),
            (None, None) => None,
        }
    }

    fn unknowns(&mut self, table: &Table<'t>, range: Range<usize>) -> Vec<Unknown> {
        let all = self.names(table, "parameters", Kind::Table(schema::UNKNOWN));
        if all.is_empty() {
            let hint = "write for example `parameters.k = { min = 1, max = 5 }`";
            self.wrong(range, "expected `parameters` to search for, found none", hint);
        }
        all.into_iter().map(|(name, named)| self.unknown(name, named)).collect()
    }

    fn unknown(&mut self, name: String, named: Named<'_, 't>) -> Unknown {
        let nothing = Table::new();
        let table = if let DeValue::Table(table) = named.value.get_ref() { table } else { &nothing };
        let min = number(table, "min").unwrap_or(f64::NEG_INFINITY);
        let max = number(table, "max").unwrap_or(f64::INFINITY);
        let middle = 0.5 * (min + max);
        let start = number(table, "start").or(middle.is_finite().then_some(middle));
        if !(min < max) {
            self.wrong(named.value.span(), "expected `min` to be less than `max`", "");
        } else if start.is_none_or(|start| !(start >= min && start <= max)) {
            self.wrong(named.value.span(), "expected `start` within the bounds, or both bounds", "");
        }
        Unknown { name, start: start.unwrap_or(0.0), min, max }
    }

    fn search(&mut self, item: &Item<'t>) -> Option<Goal> {
        let DeValue::Table(table) = item.get_ref() else { return None };
        let unknowns = self.unknowns(table, item.span());
        let (tolerance, most_runs) = self.limits(table, 1e-9, 500);
        let mut targets = Vec::new();
        for (text, named) in self.names(table, "targets", Kind::Number) {
            let span = self.span(named.key.span());
            let value = as_number(named.value.get_ref()).unwrap_or(f64::NAN);
            if !value.is_finite() {
                self.wrong(named.value.span(), "expected a finite number", "");
            }
            match expression::parse(&text) {
                Ok(expression) => {
                    let within = tolerance * value.abs().max(1e-3);
                    targets.push(Target { text, expression, value, within, span });
                }
                Err(mistake) => self.mistake_in(named.key.span(), &text, mistake),
            }
        }
        if targets.len() < unknowns.len() && self.found.is_empty() {
            let message = format!(
                "expected at least {} targets, one for each parameter, found {}",
                unknowns.len(),
                targets.len()
            );
            self.wrong(item.span(), message, "write for example `targets = { x = 1 }`");
        }
        Some(Goal { unknowns, aim: Aim::Targets(targets), tolerance, most_runs, span: self.span(item.span()) })
    }

    fn optimize(&mut self, item: &Item<'t>) -> Option<Goal> {
        let DeValue::Table(table) = item.get_ref() else { return None };
        let unknowns = self.unknowns(table, item.span());
        let (objective, is_largest) = match (get(table, "minimize"), get(table, "maximize")) {
            (Some(item), None) => (item, false),
            (None, Some(item)) => (item, true),
            _ => {
                self.wrong(
                    item.span(),
                    "expected either `minimize` or `maximize`",
                    "write for example `minimize = \"max(abs(x))\"`",
                );
                return None;
            }
        };
        let span = self.span(objective.span());
        let text = if let DeValue::String(text) = objective.get_ref() { text.to_string() } else { String::new() };
        let objective = self.expression(objective)?;
        let (tolerance, most_runs) = self.limits(table, 1e-6, 2000);
        let aim = Aim::Smallest { objective, text, is_largest, span };
        Some(Goal { unknowns, aim, tolerance, most_runs, span: self.span(item.span()) })
    }

    fn limits(&mut self, table: &Table, tolerance: f64, most_runs: usize) -> (f64, usize) {
        let given = number(table, "tolerance").unwrap_or(tolerance);
        if let Some(item) = get(table, "tolerance")
            && !(given > 0.0 && given < 1.0)
        {
            self.wrong(item.span(), "expected a tolerance between 0 and 1", "");
        }
        (given, whole(table, "most-runs").unwrap_or(most_runs).max(1))
    }

    // ---- results

    fn linearize(&mut self, table: &Table<'t>, range: Range<usize>) -> Option<LinearizeAt> {
        let Some(item) = get(table, "at") else {
            self.wrong(range, "expected `at` in `linearize`, found none", "write for example `at = [0, 2.5]`");
            return None;
        };
        let place = match item.get_ref() {
            DeValue::String(text) => match expression::parse_event(text) {
                Some(Ok(event)) => LinearizePlace::Event(event),
                Some(Err(mistake)) => {
                    self.mistake(item, text, mistake);
                    return None;
                }
                None => {
                    let hint = "write for example `at = \"event(circle -> flight)\"`";
                    self.wrong(item.span(), "expected times or an event", hint);
                    return None;
                }
            },
            DeValue::Array(_) => LinearizePlace::Times(numbers(item.get_ref())),
            value => LinearizePlace::Times(as_number(value).into_iter().collect()),
        };
        let file = text(table, "file").map(PathBuf::from);
        Some(LinearizeAt { place, file, span: self.span(range) })
    }

    fn output(&mut self, table: &Table<'t>) -> Output {
        let Some(output) = sub(table, "output") else { return Output::default() };
        let path = |key: &str| text(output, key).map(PathBuf::from);
        let extensions: [(&str, &[&str]); 3] =
            [("table", &["csv", "parquet"]), ("trajectories", &["csv", "parquet", "mat"]), ("report", &["json"])];
        for (key, allowed) in extensions {
            if let (Some(path), Some(item)) = (path(key), get(output, key)) {
                self.extension(&path, allowed, item.span());
            }
        }
        Output {
            table: path("table"),
            trajectories: path("trajectories"),
            variables: texts(output, "variables"),
            events: path("events"),
            report: path("report"),
        }
    }

    fn extension(&mut self, path: &std::path::Path, allowed: &[&str], range: Range<usize>) {
        let extension = path.extension().map_or(String::new(), |e| e.to_string_lossy().to_ascii_lowercase());
        if !allowed.contains(&extension.as_str()) {
            self.wrong(range, format!("expected a file name that ends in .{}", allowed.join(", .")), "");
        }
    }

    fn plot(&mut self, table: &Table<'t>, range: Range<usize>) -> Option<Plot> {
        let Some(file) = text(table, "file").map(PathBuf::from) else {
            self.wrong(range, "expected `file` in `plot`, found none", "write for example `file = \"study.svg\"`");
            return None;
        };
        let place = get(table, "file").map_or(range.clone(), Spanned::span);
        self.extension(&file, &["svg", "png", "html"], place);
        let plot = Plot {
            file,
            title: text(table, "title"),
            y: texts(table, "y"),
            x: text(table, "x"),
            span: self.span(range.clone()),
        };
        if plot.x.is_some() && plot.y.is_empty() {
            self.wrong(range, "expected `y`, the columns to draw over `x`", "");
        }
        Some(plot)
    }
}

/// Replaces one setting.
pub fn apply_setting(experiment: &mut Experiment, name: &str, setting: &Setting) {
    match (name, setting) {
        ("intervals", Setting::Number(n)) => experiment.output = Some(pipeline::Output::Intervals(n.min(4e9) as u32)),
        ("interval", Setting::Number(seconds)) => experiment.output = Some(pipeline::Output::Interval(*seconds)),
        ("tolerance", Setting::Number(x)) => experiment.tolerance = Some(*x),
        ("max-step", Setting::Number(x)) => experiment.max_step = Some(*x),
        ("fixed-step", Setting::Number(x)) => experiment.fixed_step = Some(*x),
        ("solver", Setting::Text(name)) => experiment.solver = Solver::from_name(name).unwrap_or_default(),
        ("on-zeno", Setting::Text(name)) => experiment.on_zeno = ZenoPolicy::from_name(name).unwrap_or_default(),
        ("events", Setting::Text(name)) => experiment.events = EventSearch::from_name(name).unwrap_or_default(),
        ("mixed", Setting::Text(name)) => experiment.mixed = MixedMethod::from_name(name).unwrap_or_default(),
        _ => {}
    }
}
