//! `ModelicaStandardTables_*` (package `Modelica.Blocks.Tables`): table objects and what is known of them before a
//! simulation. `getValue` interpolates linearly or piecewise constant; splines and time events belong to the simulator.

use super::arguments::{integer, integers, real, reals, string, value, write};
use super::table_files::read_table;
use super::{NativeContext, NativeError, NativeFunction, NativeResult, Object};
use crate::Value;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaStandardTables_CombiTimeTable_init", |c, a| init(c, a, TableKind::Time, 1)),
    ("ModelicaStandardTables_CombiTimeTable_init2", |c, a| init(c, a, TableKind::Time, 2)),
    ("ModelicaStandardTables_CombiTimeTable_init3", |c, a| init(c, a, TableKind::Time, 3)),
    ("ModelicaStandardTables_CombiTimeTable_minimumTime", |_, a| bound(a, 0, false)),
    ("ModelicaStandardTables_CombiTimeTable_maximumTime", |_, a| bound(a, 0, true)),
    ("ModelicaStandardTables_CombiTimeTable_close", |_, _| Ok(None)),
    ("ModelicaStandardTables_CombiTable1D_init", |c, a| init(c, a, TableKind::OneD, 1)),
    ("ModelicaStandardTables_CombiTable1D_init2", |c, a| init(c, a, TableKind::OneD, 2)),
    ("ModelicaStandardTables_CombiTable1D_init3", |c, a| init(c, a, TableKind::OneD, 3)),
    ("ModelicaStandardTables_CombiTable1D_minimumAbscissa", |_, a| bound(a, 0, false)),
    ("ModelicaStandardTables_CombiTable1D_maximumAbscissa", |_, a| bound(a, 0, true)),
    ("ModelicaStandardTables_CombiTable1D_getValue", value_1d),
    ("ModelicaStandardTables_CombiTable1D_close", |_, _| Ok(None)),
    ("ModelicaStandardTables_CombiTable2D_init", |c, a| init(c, a, TableKind::TwoD, 1)),
    ("ModelicaStandardTables_CombiTable2D_init2", |c, a| init(c, a, TableKind::TwoD, 2)),
    ("ModelicaStandardTables_CombiTable2D_init3", |c, a| init(c, a, TableKind::TwoD, 3)),
    ("ModelicaStandardTables_CombiTable2D_minimumAbscissa", |_, a| bounds_2d(a, false)),
    ("ModelicaStandardTables_CombiTable2D_maximumAbscissa", |_, a| bounds_2d(a, true)),
    ("ModelicaStandardTables_CombiTable2D_getValue", value_2d),
    ("ModelicaStandardTables_CombiTable2D_close", |_, _| Ok(None)),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableKind {
    /// First column is time.
    Time,
    /// First column is the abscissa.
    OneD,
    /// First column and first row are the abscissae.
    TwoD,
}

/// A table with all its settings; the numbers of `smoothness`, `extrapolation`, `time_events` are the ordinals of the
/// enumerations in `Modelica.Blocks.Types`.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    pub kind: TableKind,
    pub rows: usize,
    pub n_columns: usize,
    /// Row-major.
    pub items: Vec<f64>,
    /// Columns that are interpolated, counted from 1.
    pub columns: Vec<i64>,
    pub smoothness: i64,
    pub extrapolation: i64,
    pub start_time: f64,
    pub shift_time: f64,
    pub time_events: i64,
}

const LINEAR_SEGMENTS: i64 = 1;
const CONSTANT_SEGMENTS: i64 = 3;

impl Table {
    pub fn at(&self, row: usize, column: usize) -> Option<f64> {
        if column >= self.n_columns { None } else { self.items.get(row * self.n_columns + column).copied() }
    }

    fn check(&self) -> Result<(), String> {
        let least = if self.kind == TableKind::TwoD { 2 } else { 1 };
        if self.rows < least || self.n_columns < least {
            return Err(format!("a table of {}×{} is too small", self.rows, self.n_columns));
        }
        if let Some(column) = self.columns.iter().find(|&&c| c < 1 || c > self.n_columns as i64) {
            return Err(format!("column {column} does not exist: the table has {}", self.n_columns));
        }
        let first = usize::from(self.kind == TableKind::TwoD);
        let strict = self.kind != TableKind::Time;
        let rows: Vec<f64> = (first..self.rows).filter_map(|r| self.at(r, 0)).collect();
        increasing(&rows, strict, "first column")?;
        if self.kind == TableKind::TwoD {
            let columns: Vec<f64> = (1..self.n_columns).filter_map(|c| self.at(0, c)).collect();
            increasing(&columns, strict, "first row")?;
        }
        Ok(())
    }
}

fn increasing(values: &[f64], strict: bool, what: &str) -> Result<(), String> {
    for pair in values.windows(2) {
        if let &[a, b] = pair
            && (b < a || (strict && b == a))
        {
            return Err(format!("the {what} must increase, but {b} follows {a}"));
        }
    }
    Ok(())
}

/// Version 1: table name before file name, nothing about reading; version 3: delimiter and header lines at the end.
fn init(context: &mut NativeContext, args: &mut [Value], kind: TableKind, version: u32) -> NativeResult {
    let (file, name) =
        if version == 1 { (string(args, 1)?, string(args, 0)?) } else { (string(args, 0)?, string(args, 1)?) };
    // Position of `columns`, and of what follows it and its size.
    let (columns, options) = match kind {
        TableKind::Time => (Some(6), 8),
        TableKind::OneD => (Some(5), 7),
        TableKind::TwoD => (None, 5),
    };
    let is_time = kind == TableKind::Time;
    let extended = is_time && version > 1;
    let reading = options + if extended { 4 } else { 2 };
    let (rows, n_columns, items) = if file != "NoName" && !file.trim().is_empty() {
        let bytes = context.env.read_file(file).map_err(|why| format!("cannot read `{file}`: {why}"))?;
        let (delimiter, n_header_lines) =
            if version == 3 { (string(args, reading + 1)?, integer(args, reading + 2)?) } else { (",", 0) };
        let n_header_lines = usize::try_from(n_header_lines).unwrap_or(0);
        let matrix = read_table(file, &bytes, name, delimiter, n_header_lines, context.elements)
            .map_err(|why| format!("`{file}`: {why}"))?;
        (matrix.rows, matrix.columns, matrix.items)
    } else if name != "NoName" && !name.trim().is_empty() {
        // A table that C code of the user provides.
        return Err(NativeError::NotConstant);
    } else {
        let &[rows, n_columns] = value(args, 2)?.dims() else { return Err("argument 3 must be a matrix".into()) };
        (rows, n_columns, reals(args, 2)?)
    };
    let table = Table {
        kind,
        rows,
        n_columns,
        items,
        columns: columns.map_or(Ok(Vec::new()), |position| integers(args, position))?,
        smoothness: integer(args, options)?,
        extrapolation: integer(args, options + 1)?,
        start_time: if is_time { real(args, 5)? } else { 0.0 },
        shift_time: if extended { real(args, options + 2)? } else { 0.0 },
        time_events: if extended { integer(args, options + 3)? } else { 1 },
    };
    table.check()?;
    Ok(Some(Value::Object(Object::new(context.class, table))))
}

fn table(args: &[Value]) -> NativeResult<&Table> {
    match value(args, 0)? {
        Value::Object(object) => Ok(object.table()),
        _ => Err("argument 1 must be a table object".into()),
    }
}

fn bound(args: &[Value], first: usize, last: bool) -> NativeResult {
    let table = table(args)?;
    let row = if last { table.rows.saturating_sub(1) } else { first };
    Ok(Some(Value::Real(table.at(row, 0).unwrap_or(0.0))))
}

fn bounds_2d(args: &mut [Value], last: bool) -> NativeResult {
    let table = table(args)?;
    let (row, column) = if last { (table.rows - 1, table.n_columns - 1) } else { (1, 1) };
    let bounds = vec![table.at(row, 0).unwrap_or(0.0), table.at(0, column).unwrap_or(0.0)];
    write(args, 1, Value::reals(bounds))?;
    Ok(None)
}

/// An interval of the abscissa: index of its left end and how far the argument is into it (0 to 1 inside).
struct Place {
    index: usize,
    fraction: f64,
}

/// Where `u` lies among increasing points, after extrapolation (hold, last two points, periodic, none).
fn locate(points: &[f64], u: f64, extrapolation: i64) -> NativeResult<Place> {
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return Err("the table is empty".into()) };
    if points.len() == 1 {
        return Ok(Place { index: 0, fraction: 0.0 });
    }
    let mut u = u;
    if u < first || u > last {
        match extrapolation {
            1 => u = u.clamp(first, last),
            2 => {}
            3 => u = first + (u - first).rem_euclid(last - first),
            _ => return Err(format!("{u} is outside the table from {first} to {last}").into()),
        }
    }
    let index = points.partition_point(|&p| p <= u).saturating_sub(1).min(points.len() - 2);
    let (a, b) = (points[index], points[index + 1]);
    Ok(Place { index, fraction: (u - a) / (b - a) })
}

fn value_1d(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let table = table(args)?;
    let number = integer(args, 1)?;
    let u = real(args, 2)?;
    let column = usize::try_from(number - 1).ok().and_then(|i| table.columns.get(i)).copied();
    let column = column.ok_or_else(|| format!("there is no output {number}"))? as usize - 1;
    let points: Vec<f64> = (0..table.rows).filter_map(|r| table.at(r, 0)).collect();
    let place = locate(&points, u, table.extrapolation)?;
    let left = table.at(place.index, column).unwrap_or(0.0);
    let right = table.at(place.index + 1, column).unwrap_or(left);
    Ok(Some(Value::Real(match table.smoothness {
        LINEAR_SEGMENTS => left + place.fraction * (right - left),
        CONSTANT_SEGMENTS => {
            if place.fraction >= 1.0 {
                right
            } else {
                left
            }
        }
        _ if table.rows == 1 => left,
        _ => return Err(NativeError::NotConstant),
    })))
}

fn value_2d(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let table = table(args)?;
    let (u1, u2) = (real(args, 1)?, real(args, 2)?);
    let rows: Vec<f64> = (1..table.rows).filter_map(|r| table.at(r, 0)).collect();
    let columns: Vec<f64> = (1..table.n_columns).filter_map(|c| table.at(0, c)).collect();
    let mut row = locate(&rows, u1, table.extrapolation)?;
    let mut column = locate(&columns, u2, table.extrapolation)?;
    match table.smoothness {
        LINEAR_SEGMENTS => {}
        CONSTANT_SEGMENTS => {
            for place in [&mut row, &mut column] {
                place.fraction = if place.fraction >= 1.0 { 1.0 } else { 0.0 };
            }
        }
        _ => return Err(NativeError::NotConstant),
    }
    let corner = |r: usize, c: usize| table.at(row.index + 1 + r, column.index + 1 + c);
    let origin = corner(0, 0).unwrap_or(0.0);
    // With a single row or column there is no neighbour, and the fraction is 0.
    let along = |r: usize| {
        let left = corner(r, 0).unwrap_or(origin);
        left + column.fraction * (corner(r, 1).unwrap_or(left) - left)
    };
    let (low, high) = (along(0), along(1));
    Ok(Some(Value::Real(low + row.fraction * (high - low))))
}
