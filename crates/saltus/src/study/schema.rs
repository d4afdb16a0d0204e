//! What may stand in the file of a study: one table of keys, from which the reader checks a file and `saltus run --schema` prints a
//! JSON schema for editors.

use serde_json::{Map, Value, json};

/// A key of a table.
#[derive(Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
}

/// What its value is.
#[derive(Clone, Copy)]
pub enum Kind {
    Text,
    Number,
    /// Zero or more.
    Whole,
    Flag,
    Texts,
    Numbers,
    Choice(&'static [&'static str]),
    Table(&'static [Key]),
    /// `[[name]]`, any number of times.
    Tables(&'static [Key]),
    /// Names of the user's own choice, with values of this kind.
    Named(&'static Kind),
    Either(&'static [Kind]),
}

/// A value of a variable: a number, true or false, a text (an expression or the name of a literal), or an array of numbers.
pub const VALUE: Kind = Kind::Either(&[Kind::Number, Kind::Flag, Kind::Text, Kind::Numbers]);

pub const STUDY: &[Key] = &[
    Key { name: "title", kind: Kind::Text, about: "What the study is about; it stands above pictures and the report." },
    Key { name: "model", kind: Kind::Table(MODEL), about: "The model and where it is." },
    Key { name: "values", kind: Kind::Named(&VALUE), about: "Values of parameters and inputs in all runs." },
    Key { name: "experiment", kind: Kind::Table(EXPERIMENT), about: "Time span and method of all runs." },
    Key {
        name: "phase",
        kind: Kind::Tables(PHASE),
        about: "Runs that go on from the last state of the one before; without any there is one run.",
    },
    Key { name: "vary", kind: Kind::Table(VARY), about: "Parameters that differ from run to run." },
    Key { name: "search", kind: Kind::Table(SEARCH), about: "Parameters that are found so that targets are met." },
    Key {
        name: "optimize",
        kind: Kind::Table(OPTIMIZE),
        about: "Parameters that are found so that an expression is smallest or largest.",
    },
    Key { name: "linearize", kind: Kind::Tables(LINEARIZE), about: "Linear models at times or events." },
    Key { name: "record", kind: Kind::Named(&Kind::Text), about: "Numbers that are kept of each run, as expressions." },
    Key { name: "output", kind: Kind::Table(OUTPUT), about: "Files of results." },
    Key { name: "plot", kind: Kind::Tables(PLOT), about: "Pictures." },
];

pub const MODEL: &[Key] = &[
    Key { name: "class", kind: Kind::Text, about: "Its name; not needed where the files hold one model." },
    Key {
        name: "files",
        kind: Kind::Texts,
        about: "Files to load, or one compiled model; from the directory of the study.",
    },
    Key { name: "libraries", kind: Kind::Texts, about: "Directories of packages, searched before MODELICAPATH." },
    Key { name: "allow-io", kind: Kind::Flag, about: "Let the model read and write files and run commands." },
    Key {
        name: "allow-external",
        kind: Kind::Flag,
        about: "Let the model call shared libraries and C source of its own.",
    },
];

/// Settings of a run. Phases have them, too.
pub const EXPERIMENT: &[Key] = &[
    Key { name: "start-time", kind: Kind::Number, about: "Seconds." },
    Key { name: "stop-time", kind: Kind::Number, about: "Seconds." },
    SETTINGS[0],
    SETTINGS[1],
    SETTINGS[2],
    SETTINGS[3],
    SETTINGS[4],
    SETTINGS[5],
    SETTINGS[6],
    SETTINGS[7],
    SETTINGS[8],
    Key { name: "engine", kind: Kind::Choice(&["auto", "jit", "interp"]), about: "How equations are evaluated." },
    Key { name: "time-limit", kind: Kind::Number, about: "Seconds that one run may take." },
    Key { name: "jobs", kind: Kind::Whole, about: "Threads; otherwise as many as there are cores." },
];

const SETTINGS: [Key; 9] = [
    Key { name: "intervals", kind: Kind::Whole, about: "Number of parts of the time span between output points." },
    Key { name: "interval", kind: Kind::Number, about: "Seconds between output points." },
    Key { name: "tolerance", kind: Kind::Number, about: "Relative tolerance of the integration." },
    Key {
        name: "solver",
        kind: Kind::Choice(&["auto", "dopri5", "dop853", "rodas", "bdf", "liqss2", "euler", "rk4", "implicit-euler"]),
        about: "Integration method.",
    },
    Key { name: "max-step", kind: Kind::Number, about: "Longest step of the integration." },
    Key { name: "fixed-step", kind: Kind::Number, about: "Step of the methods without error control." },
    Key {
        name: "on-zeno",
        kind: Kind::Choice(&["auto", "stop", "slide", "continue"]),
        about: "What to do where events accumulate.",
    },
    Key {
        name: "events",
        kind: Kind::Choice(&["fast", "proved", "exhaustive"]),
        about: "How changes of relations are found.",
    },
    Key {
        name: "mixed",
        kind: Kind::Choice(&["auto", "fixed-point", "restricted", "pivot", "exhaustive"]),
        about: "How relations in algebraic loops are found.",
    },
];

pub const PHASE: &[Key] = &[
    Key { name: "name", kind: Kind::Text, about: "For messages and the report." },
    Key { name: "duration", kind: Kind::Number, about: "Seconds from where it begins." },
    Key {
        name: "until",
        kind: Kind::Either(&[Kind::Number, Kind::Text]),
        about: "The time at which it ends, or an event such as `event(h < 0)`, or a condition such as `h < 0.5`.",
    },
    Key { name: "stop-time", kind: Kind::Number, about: "The latest end of a phase that waits for an event." },
    Key {
        name: "values",
        kind: Kind::Named(&VALUE),
        about: "Parameters, inputs and states that change where it begins; a text is an expression of the values before.",
    },
    SETTINGS[0],
    SETTINGS[1],
    SETTINGS[2],
    SETTINGS[3],
    SETTINGS[4],
    SETTINGS[5],
    SETTINGS[6],
    SETTINGS[7],
    SETTINGS[8],
];

pub const VARY: &[Key] = &[
    Key {
        name: "method",
        kind: Kind::Choice(&["grid", "list", "samples", "latin-hypercube"]),
        about: "All combinations (grid), the first values, then the second ones, … (list), or random values.",
    },
    Key { name: "number", kind: Kind::Whole, about: "Number of random samples." },
    Key { name: "seed", kind: Kind::Whole, about: "Of the random numbers; the same seed gives the same samples." },
    Key { name: "parameters", kind: Kind::Named(&AXIS), about: "Names and values." },
];

const AXIS: Kind = Kind::Either(&[Kind::Numbers, Kind::Table(RANGE)]);

pub const RANGE: &[Key] = &[
    Key { name: "from", kind: Kind::Number, about: "First value, or lower bound of random ones." },
    Key { name: "to", kind: Kind::Number, about: "Last value, or upper bound." },
    Key { name: "number", kind: Kind::Whole, about: "Number of values." },
    Key { name: "scale", kind: Kind::Choice(&["linear", "logarithmic"]), about: "How values are spread." },
    Key { name: "mean", kind: Kind::Number, about: "Of normally distributed values." },
    Key { name: "deviation", kind: Kind::Number, about: "Standard deviation of normally distributed values." },
];

pub const UNKNOWN: &[Key] = &[
    Key { name: "start", kind: Kind::Number, about: "Where the search begins; otherwise between the bounds." },
    Key { name: "min", kind: Kind::Number, about: "Lower bound." },
    Key { name: "max", kind: Kind::Number, about: "Upper bound." },
];

const UNKNOWN_TABLE: Kind = Kind::Table(UNKNOWN);

pub const SEARCH: &[Key] = &[
    Key { name: "parameters", kind: Kind::Named(&UNKNOWN_TABLE), about: "What is searched for." },
    Key {
        name: "targets",
        kind: Kind::Named(&Kind::Number),
        about: "Expressions and what they shall be: as many as parameters (a root), or more (least squares).",
    },
    Key {
        name: "tolerance",
        kind: Kind::Number,
        about: "How close, relative to a target (to 0.001 if that is smaller); 1e-9 otherwise.",
    },
    Key { name: "most-runs", kind: Kind::Whole, about: "Limit on the number of runs; 500 otherwise." },
];

pub const OPTIMIZE: &[Key] = &[
    Key { name: "minimize", kind: Kind::Text, about: "An expression." },
    Key { name: "maximize", kind: Kind::Text, about: "An expression." },
    Key { name: "parameters", kind: Kind::Named(&UNKNOWN_TABLE), about: "What is searched for." },
    Key {
        name: "tolerance",
        kind: Kind::Number,
        about: "Of the parameters, relative to their bounds or start values; 1e-6 otherwise.",
    },
    Key { name: "most-runs", kind: Kind::Whole, about: "Limit on the number of runs; 2000 otherwise." },
];

pub const LINEARIZE: &[Key] = &[
    Key {
        name: "at",
        kind: Kind::Either(&[Kind::Number, Kind::Numbers, Kind::Text]),
        about: "Times, or an event such as `event(circle -> flight)`: after each of them.",
    },
    Key { name: "file", kind: Kind::Text, about: "Matrices and eigenvalues as JSON." },
];

pub const OUTPUT: &[Key] = &[
    Key {
        name: "table",
        kind: Kind::Text,
        about: "A row for each run: what was varied, found and recorded. .csv or .parquet",
    },
    Key {
        name: "trajectories",
        kind: Kind::Text,
        about: "Rows over time of all runs. .csv, .parquet, or for one run .mat",
    },
    Key {
        name: "variables",
        kind: Kind::Texts,
        about: "Names or patterns of what is in the trajectories; otherwise all.",
    },
    Key { name: "events", kind: Kind::Text, about: "The events of a single run: .jsonl, or .txt for paragraphs." },
    Key { name: "report", kind: Kind::Text, about: "All that was found, as JSON." },
];

pub const PLOT: &[Key] = &[
    Key { name: "file", kind: Kind::Text, about: ".svg, .png or .html" },
    Key { name: "title", kind: Kind::Text, about: "The line above the picture." },
    Key { name: "y", kind: Kind::Texts, about: "Signals over time, or with `x` columns of the table." },
    Key { name: "x", kind: Kind::Text, about: "A column of the table: a varied parameter or a recorded number." },
];

/// The table as a JSON schema.
pub fn json_schema() -> Value {
    let mut schema = table(STUDY);
    if let Value::Object(all) = &mut schema {
        all.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        all.insert("title".into(), json!("Study of a Modelica model with `saltus run`"));
    }
    schema
}

fn table(keys: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut value = schema_of(key.kind);
        if let Value::Object(all) = &mut value {
            all.insert("description".into(), json!(key.about));
        }
        properties.insert(key.name.into(), value);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn schema_of(kind: Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Whole => json!({ "type": "integer", "minimum": 0 }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Numbers => json!({ "type": "array", "items": { "type": "number" } }),
        Kind::Choice(names) => json!({ "enum": names }),
        Kind::Table(keys) => table(keys),
        Kind::Tables(keys) => json!({ "type": "array", "items": table(keys) }),
        // A dot in a name makes a table of what is behind it.
        Kind::Named(kind) => {
            json!({ "type": "object", "additionalProperties": { "anyOf": [schema_of(*kind), { "type": "object" }] } })
        }
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(|k| schema_of(*k)).collect::<Vec<_>>() }),
    }
}

impl Kind {
    /// In words, for messages.
    pub fn name(self) -> String {
        match self {
            Kind::Text => "a text".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Whole => "a whole number".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Texts => "an array of texts".to_owned(),
            Kind::Numbers => "an array of numbers".to_owned(),
            Kind::Choice(names) => format!("one of `{}`", names.join("`, `")),
            Kind::Table(_) | Kind::Named(_) => "a table".to_owned(),
            Kind::Tables(_) => "tables `[[…]]`".to_owned(),
            Kind::Either(kinds) => kinds.iter().map(|k| k.name()).collect::<Vec<_>>().join(" or "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_program::MixedMethod;
    use saltus_sim::{EventSearch, Solver, ZenoPolicy};

    /// The names here are those of the engine.
    #[test]
    fn choices_are_those_of_the_engine() {
        let choice = |name: &str| match SETTINGS.iter().find(|k| k.name == name).map(|k| k.kind) {
            Some(Kind::Choice(names)) => names.to_vec(),
            _ => panic!("{name}"),
        };
        assert_eq!(choice("solver"), Solver::NAMES.map(|(n, _)| n));
        assert_eq!(choice("on-zeno"), ZenoPolicy::NAMES.map(|(n, _)| n));
        assert_eq!(choice("events"), EventSearch::NAMES.map(|(n, _)| n));
        assert_eq!(choice("mixed"), MixedMethod::NAMES.iter().map(|(n, _)| *n).collect::<Vec<_>>());
    }
}
