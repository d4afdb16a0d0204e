//! A trajectory as a table of results: with the units and descriptions that the program knows.
//!
//! In: a program and a trajectory of it. Out: [`Results`], ready to be written or drawn.

use std::collections::HashMap;

use saltus_program::{SimProgram, SlotType, Variable};
use saltus_results::{Kind, Results};
use saltus_sim::Trajectory;

/// All signals and parameters whose name `keeps` accepts.
pub fn of(program: &SimProgram, trajectory: &Trajectory, keeps: &dyn Fn(&str) -> bool) -> Results {
    let declared: HashMap<&str, &Variable> = program.variables.iter().map(|v| (v.name.as_str(), v)).collect();
    let texts = |name: &str| declared.get(name).map_or(("", ""), |v| (v.description.as_str(), v.unit.as_str()));
    let times: Vec<f64> = trajectory.segments.iter().flat_map(|s| s.times.iter().copied()).collect();
    let mut results = Results::new(&program.name, times);
    for (name, ty, values) in columns(trajectory, keeps) {
        let (description, unit) = texts(name);
        results.add_series(name, description, unit, kind(ty), values);
    }
    for (name, value) in trajectory.parameters.iter().filter(|(name, _)| keeps(name)) {
        let (description, unit) = texts(name);
        let ty = declared.get(name.as_str()).map_or(SlotType::Real, |v| v.ty);
        results.add_constant(name, description, unit, kind(ty), *value);
    }
    results
}

fn kind(ty: SlotType) -> Kind {
    match ty {
        SlotType::Real => Kind::Real,
        SlotType::Integer | SlotType::Enumeration => Kind::Integer,
        SlotType::Boolean => Kind::Boolean,
    }
}

/// Columns over all segments; where a segment does not have a variable its values are not-a-number.
fn columns<'a>(trajectory: &'a Trajectory, keeps: &dyn Fn(&str) -> bool) -> Vec<(&'a str, SlotType, Vec<f64>)> {
    let mut columns: Vec<(&str, SlotType, Vec<f64>)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut n_before = 0;
    for segment in &trajectory.segments {
        for (i, variable) in segment.variables.iter().enumerate().filter(|(_, v)| keeps(&v.name)) {
            let at = *positions.entry(&variable.name).or_insert_with(|| {
                columns.push((&variable.name, variable.ty, Vec::new()));
                columns.len() - 1
            });
            let values = &mut columns[at].2;
            values.resize(n_before, f64::NAN);
            values.extend((0..segment.times.len()).map(|r| segment.row(r).get(i).copied().unwrap_or(f64::NAN)));
        }
        n_before += segment.times.len();
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_sim::Segment;
    use saltus_sim::trajectory::Column;

    #[test]
    fn segments_with_other_variables_leave_gaps() {
        let column = |name: &str| Column { name: name.into(), ty: SlotType::Real };
        let segments = vec![
            Segment {
                variables: vec![column("a"), column("b")],
                times: vec![0.0, 1.0],
                values: vec![1.0, 2.0, 3.0, 4.0],
            },
            Segment { variables: vec![column("b"), column("c")], times: vec![1.0], values: vec![5.0, 6.0] },
        ];
        let trajectory = Trajectory { segments, ..Default::default() };
        let found = columns(&trajectory, &|name| name != "a");
        assert_eq!(found[0], ("b", SlotType::Real, vec![2.0, 4.0, 5.0]));
        assert!(found[1].0 == "c" && found[1].2[0].is_nan() && found[1].2[2] == 6.0);
    }
}
