//! A trajectory as a table of results: with the units and descriptions that the program knows.
//!
//! In: a program and a trajectory of it. Out: [`Results`], ready to be written or drawn.

use std::borrow::Cow;
use std::collections::HashMap;

use saltus_program::{SimProgram, SlotType, Variable};
use saltus_results::{Header, Kept, Kind, Results, Signal, Source};
use saltus_sim::Trajectory;
use saltus_sim::trajectory::Column;

/// All signals and parameters whose name `keeps` accepts.
pub fn of(program: &SimProgram, trajectory: &Trajectory, keeps: &dyn Fn(&str) -> bool) -> Results {
    let declared = declared(program);
    let times: Vec<f64> = trajectory.segments.iter().flat_map(|s| s.times.iter().copied()).collect();
    let mut results = Results::new(&program.name, times);
    for (name, ty, source) in columns(trajectory, keeps, &mut results) {
        results.push(signal(program, &declared, name, ty, source));
    }
    for (name, value) in trajectory.parameters.iter().filter(|(name, _)| keeps(name)) {
        results.push(parameter(program, &declared, name, *value));
    }
    results
}

/// What is known about the table of a run before its first row.
pub fn header(program: &SimProgram, header: &saltus_sim::Header, kept: &Kept) -> Header {
    let declared = declared(program);
    let column = |c: &Column| {
        let source = Source::Column { index: c.place, negated: false };
        signal(program, &declared, &c.name, c.ty, source)
    };
    let (columns, parameters) = (header.columns(), header.parameters());
    let columns = columns.iter().filter(|c| kept.keeps(&c.name)).map(column);
    let parameters = parameters.iter().filter(|(name, _)| kept.keeps(name));
    let parameters = parameters.map(|(name, value)| parameter(program, &declared, name, *value));
    let has_gaps = program.configuration.is_some();
    Header { is_choice: kept.is_choice(), has_gaps, ..Header::new(&program.name, columns.chain(parameters).collect()) }
}

/// The signal of a column, by itself.
pub fn signal_of(program: &SimProgram, column: &Column) -> Signal {
    let declared = program.find_variable(&column.name).map(|v| (v.name(), v)).into_iter().collect();
    let source = Source::Column { index: column.place, negated: false };
    signal(program, &declared, &column.name, column.ty, source)
}

type Declared<'a> = HashMap<Cow<'a, str>, Variable<'a>>;

fn declared(program: &SimProgram) -> Declared<'_> {
    program.variables.iter().map(|v| (v.name(), v)).collect()
}

fn signal(program: &SimProgram, declared: &Declared, name: &str, ty: SlotType, source: Source) -> Signal {
    let signal = Signal::new(name, kind(ty), source);
    let Some(variable) = declared.get(name) else { return signal };
    let enumeration = variable.enumeration.and_then(|id| program.routines.enumerations.get(id));
    Signal {
        display_unit: variable.display_unit.clone(),
        is_difference: variable.is_difference,
        literals: enumeration.map(|e| e.literals.clone()).unwrap_or_default(),
        ..signal.described(&variable.description, &variable.unit)
    }
}

fn parameter(program: &SimProgram, declared: &Declared, name: &str, value: f64) -> Signal {
    let ty = declared.get(name).map_or(SlotType::Real, |v| v.ty);
    signal(program, declared, name, ty, Source::Constant(value))
}

pub fn kind(ty: SlotType) -> Kind {
    match ty {
        SlotType::Real => Kind::Real,
        SlotType::Integer => Kind::Integer,
        SlotType::Enumeration => Kind::Enumeration,
        SlotType::Boolean => Kind::Boolean,
    }
}

/// Signals over all segments; where a segment does not have a variable its values are not-a-number.
fn columns<'a>(
    trajectory: &'a Trajectory,
    keeps: &dyn Fn(&str) -> bool,
    results: &mut Results,
) -> Vec<(&'a str, SlotType, Source)> {
    if let [segment] = trajectory.segments.as_slice() {
        let mut sources = vec![None; segment.rows.n_places()];
        let kept = segment.variables.iter().filter(|v| keeps(&v.name));
        let signal = |v: &'a Column| {
            let known = *sources.get(v.place)?;
            let source = known.unwrap_or_else(|| results.add_column(segment.at(v.place)));
            sources[v.place] = Some(source);
            Some((v.name.as_str(), v.ty, source))
        };
        return kept.filter_map(signal).collect();
    }
    let gathered = gather(trajectory, keeps);
    gathered.into_iter().map(|(name, ty, values)| (name, ty, results.add_column(values))).collect()
}

fn gather<'a>(trajectory: &'a Trajectory, keeps: &dyn Fn(&str) -> bool) -> Vec<(&'a str, SlotType, Vec<f64>)> {
    let mut columns: Vec<(&str, SlotType, Vec<f64>)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut n_before = 0;
    for segment in &trajectory.segments {
        for variable in segment.variables.iter().filter(|v| keeps(&v.name)) {
            let at = *positions.entry(&variable.name).or_insert_with(|| {
                columns.push((&variable.name, variable.ty, Vec::new()));
                columns.len() - 1
            });
            let values = &mut columns[at].2;
            values.resize(n_before, f64::NAN);
            values.extend(segment.at(variable.place));
        }
        n_before += segment.times.len();
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_sim::{Rows, Segment};

    fn rows(values: &[[f64; 2]]) -> Rows {
        let mut rows = Rows::new(2);
        for row in values {
            rows.push(row.iter().copied());
        }
        rows
    }

    #[test]
    fn segments_with_other_variables_leave_gaps() {
        let column = |name: &str, place| Column { name: name.into(), ty: SlotType::Real, place };
        let segments = vec![
            Segment {
                variables: vec![column("a", 0), column("b", 1)],
                times: vec![0.0, 1.0],
                rows: rows(&[[1.0, 2.0], [3.0, 4.0]]),
            },
            Segment { variables: vec![column("b", 0), column("c", 1)], times: vec![1.0], rows: rows(&[[5.0, 6.0]]) },
        ];
        let trajectory = Trajectory { segments, ..Default::default() };
        let found = gather(&trajectory, &|name| name != "a");
        assert_eq!(found[0], ("b", SlotType::Real, vec![2.0, 4.0, 5.0]));
        assert!(found[1].0 == "c" && found[1].2[0].is_nan() && found[1].2[2] == 6.0);
    }
}
