//! A directory of reference results, and how they were made.
//!
//! The reference of `P.Examples.Ball` is the first result of `P/Examples/Ball/`, or `P/Examples/Ball.csv` (`.mat`, `.parquet`),
//! or `P.Examples.Ball.csv`. A file `settings.json` in the directory says how the results were made:
//!
//! ```json
//! { "P.Examples.Ball": { "start": 0, "stop": 3, "interval": 0.006, "tolerance": 1e-6 } }
//! ```
//!
//! Every entry and every part of it is optional. Without them the times of the reference say what was run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saltus_results::{Format, Results};
use serde_json::Value;

use crate::pipeline::{Experiment, Output};

/// How one reference was made.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Settings {
    pub start: Option<f64>,
    pub stop: Option<f64>,
    /// Seconds between two rows, before rows on a straight line were left out.
    pub interval: Option<f64>,
    pub tolerance: Option<f64>,
}

pub struct References {
    dir: PathBuf,
    settings: BTreeMap<String, Settings>,
}

/// A run has at least as many intervals, however coarse its reference is: the tube is as long as four of them, so that what the
/// result does between two rows of the reference is inside.
const FEWEST_INTERVALS: f64 = 2000.0;

impl References {
    pub const SETTINGS: &'static str = "settings.json";

    /// The results below a directory; an error is what is wrong with its settings.
    pub fn open(dir: &Path) -> Result<References, String> {
        let path = dir.join(Self::SETTINGS);
        let settings = match std::fs::read(&path) {
            Ok(bytes) => read_settings(&bytes)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error.to_string()),
        };
        Ok(References { dir: dir.to_owned(), settings })
    }

    /// Classes that the settings name.
    pub fn listed(&self) -> impl Iterator<Item = &str> {
        self.settings.keys().map(String::as_str)
    }

    pub fn settings(&self, class: &str) -> Settings {
        self.settings.get(class).copied().unwrap_or_default()
    }

    /// The file of reference results for a class.
    pub fn file(&self, class: &str) -> Option<PathBuf> {
        let nested: PathBuf = class.split('.').collect();
        let extensions = Format::EXTENSIONS.map(|(extension, _)| extension);
        for stem in [self.dir.join(&nested), self.dir.join(class)] {
            for extension in extensions {
                let path = PathBuf::from(format!("{}.{extension}", stem.display()));
                if path.is_file() {
                    return Some(path);
                }
            }
        }
        let entries = std::fs::read_dir(self.dir.join(&nested)).ok()?;
        let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        files.sort();
        files.into_iter().find(|f| f.is_file() && Format::of(f).is_some())
    }

    /// The reference of a class; `None` if there is none and the settings do not promise one.
    pub fn read(&self, class: &str) -> Result<Option<Results>, String> {
        let Some(path) = self.file(class) else {
            let is_listed = self.settings.contains_key(class);
            return if is_listed { Err(format!("{} lists it without a result", Self::SETTINGS)) } else { Ok(None) };
        };
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let format = Format::of(&path).unwrap_or(Format::Csv);
        Results::read(&bytes, format, "reference").map(Some).map_err(|e| format!("{}: {e}", path.display()))
    }
}

impl Settings {
    /// The run that a reference is compared with: what the settings say, else what the times of the reference tell. The
    /// annotation of the model may have changed since.
    pub fn experiment(&self, reference: &Results) -> Experiment {
        let start = self.start.or(reference.times.first().copied());
        let stop = self.stop.or(reference.times.last().copied());
        let span = stop.zip(start).map_or(0.0, |(stop, start)| stop - start);
        let n_steps = reference.times.windows(2).filter(|w| w[0] < w[1]).count();
        let interval = self.interval.filter(|i| *i > 0.0).unwrap_or(span / n_steps.max(1) as f64);
        let interval = interval.min(span / FEWEST_INTERVALS);
        let output = (interval > 0.0).then_some(Output::Interval(interval));
        Experiment {
            start_time: start,
            stop_time: stop,
            output,
            // A reference may show at an event of its own what this run passes between two output points.
            step_rows: true,
            tolerance: self.tolerance,
            ..Experiment::default()
        }
    }
}

fn read_settings(bytes: &[u8]) -> Result<BTreeMap<String, Settings>, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    let all = value.as_object().ok_or("expected an object with an entry for each model")?;
    all.iter().map(|(class, value)| Ok((class.clone(), entry(class, value)?))).collect()
}

fn entry(class: &str, value: &Value) -> Result<Settings, String> {
    let parts = value.as_object().ok_or_else(|| format!("expected an object for `{class}`"))?;
    let mut settings = Settings::default();
    for (name, value) in parts {
        let place = match name.as_str() {
            "start" => &mut settings.start,
            "stop" => &mut settings.stop,
            "interval" => &mut settings.interval,
            "tolerance" => &mut settings.tolerance,
            _ => return Err(format!("expected start, stop, interval or tolerance for `{class}`, found `{name}`")),
        };
        let number = value.as_f64().filter(|n| n.is_finite());
        *place = Some(number.ok_or_else(|| format!("expected a number for `{name}` of `{class}`, found {value}"))?);
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_numbers_by_model() {
        let read =
            read_settings(br#"{"P.A": {"start": 0, "stop": 2.5, "tolerance": 1e-8}, "P.B": {}}"#).expect("settings");
        let expected = Settings { start: Some(0.0), stop: Some(2.5), interval: None, tolerance: Some(1e-8) };
        assert_eq!((read["P.A"], read["P.B"]), (expected, Settings::default()));
        let message = |text: &[u8]| read_settings(text).expect_err("no settings");
        assert_eq!(message(b"[]"), "expected an object with an entry for each model");
        assert_eq!(message(br#"{"A": 1}"#), "expected an object for `A`");
        assert!(message(br#"{"A": {"stopp": 1}}"#).ends_with("found `stopp`"));
        assert_eq!(message(br#"{"A": {"stop": "x"}}"#), "expected a number for `stop` of `A`, found \"x\"");
    }

    #[test]
    fn a_run_is_as_dense_as_its_reference() {
        let interval = |settings: Settings, times: Vec<f64>| match settings.experiment(&Results::new("R", times)).output
        {
            Some(Output::Interval(seconds)) => Some(seconds),
            _ => None,
        };
        let fine: Vec<f64> = (0..=2000).map(|i| f64::from(i) / 1000.0).collect();
        assert_eq!(interval(Settings::default(), fine.clone()), Some(1e-3));
        // Two rows at an event are one time; 2000 intervals at least.
        assert_eq!(interval(Settings::default(), vec![0.0, 0.5, 0.5, 1.0]), Some(1.0 / 2000.0));
        // Rows on a straight line were left out.
        let reduced = Settings { interval: Some(1e-4), ..Settings::default() };
        assert_eq!(interval(reduced, vec![0.0, 1.0]), Some(1e-4));
        assert_eq!(interval(Settings::default(), vec![1.0]), None);
    }
}
