//! Tables of many runs, as sweeps write them.
//!
//! ```text
//! run  e    ok  time  h            time begins again with every run; a row for each run, or for each time of each run
//! 0    0.6  1   0.0   1.0
//! 0    0.6  1   1.0   0.3
//! 1    0.9  1   0.0   1.0
//! ```
//!
//! In: such a table. Out: its parameters, which stand between `run` and `ok`, and a table for each run that went well.

use crate::signal::{Kind, Signal, Source};
use crate::table::Results;

/// A table of runs, taken apart.
#[derive(Debug)]
pub struct Runs {
    /// What differs between runs.
    pub parameters: Vec<String>,
    pub each: Vec<Run>,
}

#[derive(Debug)]
pub struct Run {
    /// One for each parameter.
    pub values: Vec<f64>,
    /// Without the number, the parameters and `ok`.
    pub results: Results,
}

impl Runs {
    /// `None` if the table is one of a single run: it has no columns `run`, parameters and `ok` in front.
    pub fn of(table: &Results) -> Option<Runs> {
        let ok = table.signals.iter().position(|s| s.name == "ok")?;
        if ok < 2 || table.signals[0].name != "run" {
            return None;
        }
        let number = table.values_of(&table.signals[0]);
        let went_well = table.values_of(&table.signals[ok]);
        if !number.iter().zip(number.iter().skip(1)).all(|(a, b)| a <= b) {
            return None;
        }
        let (head, rest) = (&table.signals[1..ok], &table.signals[ok + 1..]);
        let parameters: Vec<_> = head.iter().map(|signal| table.values_of(signal)).collect();
        let columns: Vec<_> = rest.iter().map(|signal| table.values_of(signal)).collect();
        let mut each = Vec::new();
        let mut from = 0;
        for rows in number.chunk_by(|a, b| a == b) {
            let to = from + rows.len();
            if went_well.get(from).is_some_and(|ok| *ok != 0.0) {
                let mut results = Results::new(&table.title, table.times[from..to].to_vec());
                for (signal, column) in rest.iter().zip(&columns) {
                    let source = results.add_column(column[from..to].to_vec());
                    results.push(Signal { source, ..signal.clone() });
                }
                each.push(Run { values: parameters.iter().map(|p| p[from]).collect(), results });
            }
            from = to;
        }
        Some(Runs { parameters: head.iter().map(|s| s.name.clone()).collect(), each })
    }

    /// Does every run have one row alone? Then they are drawn over a parameter, and `table` is what to draw.
    pub fn are_single_rows(&self) -> bool {
        self.each.iter().all(|run| run.results.times.len() == 1)
    }

    /// The runs as one table, a row each; time is the number of the run.
    pub fn table(&self, title: &str) -> Results {
        let mut table = Results::new(title, (0..self.each.len()).map(|i| i as f64).collect());
        for (i, name) in self.parameters.iter().enumerate() {
            table.add_series(name, "", "", Kind::Real, self.each.iter().map(|run| run.values[i]).collect());
        }
        let Some(first) = self.each.first() else { return table };
        for signal in &first.results.signals {
            let value =
                |run: &Run| run.results.values(&signal.name).and_then(|v| v.first().copied()).unwrap_or(f64::NAN);
            let source: Source = table.add_column(self.each.iter().map(value).collect());
            table.push(Signal { source, ..signal.clone() });
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn a_table_of_runs_is_taken_apart() {
        let text =
            "\"run\",\"e\",\"ok\",\"time\",\"h\"\n0,0.6,1,0,1\n0,0.6,1,1,0.5\n1,0.7,0,,\n2,0.8,1,0,2\n2,0.8,1,2,3\n";
        let table = Results::read_any(text.as_bytes(), Format::Csv, "balls").unwrap();
        let runs = Runs::of(&table).unwrap();
        assert_eq!(runs.parameters, ["e"]);
        let seen: Vec<_> = runs
            .each
            .iter()
            .map(|r| (r.values[0], r.results.times.clone(), r.results.values("h").unwrap().to_vec()))
            .collect();
        assert_eq!(seen, [(0.6, vec![0.0, 1.0], vec![1.0, 0.5]), (0.8, vec![0.0, 2.0], vec![2.0, 3.0])]);
        assert!(!runs.are_single_rows());
        // Times that step back, and runs without any, are a mistake elsewhere.
        assert!(Results::read(text.as_bytes(), Format::Csv, "balls").is_err());
    }

    #[test]
    fn a_result_is_no_table_of_runs() {
        let mut results = Results::new("M", vec![0.0, 1.0]);
        for name in ["run", "ok"] {
            results.add_series(name, "", "", Kind::Real, vec![0.0, 1.0]);
        }
        assert!(Runs::of(&results).is_none());
    }

    #[test]
    fn single_rows_are_one_table() {
        let text = "\"run\",\"e\",\"ok\",\"time\",\"h\"\n0,0.6,1,1.5,1\n1,0.7,1,1.5,4\n";
        let runs = Runs::of(&Results::read_any(text.as_bytes(), Format::Csv, "balls").unwrap()).unwrap();
        assert!(runs.are_single_rows());
        let table = runs.table("balls");
        assert_eq!(
            (table.values("e").unwrap().to_vec(), table.values("h").unwrap().to_vec()),
            (vec![0.6, 0.7], vec![1.0, 4.0])
        );
    }
}
