//! `ModelicaStandardTables_*` (package `Modelica.Blocks.Tables`): table objects, their values and derivatives.
//!
//! A table is read and checked once, when its object is made, and its curves are prepared then; [`super::curve`],
//! [`super::time_table`] and [`super::surface`] know what its numbers mean.

use saltus_results::matlab::Matrix;

use super::arguments::{integer, integers, real, reals, string, value, write};
use super::curve::{Curve, Extrapolation, Side, Smoothness, locate};
use super::spline::Jet;
use super::surface::{Surface, SurfaceJet};
use super::table_files::read_table;
use super::time_table::{TimeEvents, TimeTable};
use super::{NativeContext, NativeFunction, NativeResult, Object};
use crate::Value;

/// Function, its directional derivative, and the positions of the arguments that it is differentiated by.
pub(super) const DERIVATIVES: &[(&str, &str, &[usize])] = &[
    ("ModelicaStandardTables_CombiTimeTable_getValue", "ModelicaStandardTables_CombiTimeTable_getDerValue", &[2]),
    ("ModelicaStandardTables_CombiTable1D_getValue", "ModelicaStandardTables_CombiTable1D_getDerValue", &[2]),
    ("ModelicaStandardTables_CombiTable2D_getValue", "ModelicaStandardTables_CombiTable2D_getDerValue", &[1, 2]),
];

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaStandardTables_CombiTimeTable_init", |c, a| init(c, a, TableKind::Time, 1)),
    ("ModelicaStandardTables_CombiTimeTable_init2", |c, a| init(c, a, TableKind::Time, 2)),
    ("ModelicaStandardTables_CombiTimeTable_init3", |c, a| init(c, a, TableKind::Time, 3)),
    ("ModelicaStandardTables_CombiTimeTable_minimumTime", |_, a| bound(a, 0, false)),
    ("ModelicaStandardTables_CombiTimeTable_maximumTime", |_, a| bound(a, 0, true)),
    ("ModelicaStandardTables_CombiTimeTable_getValue", |_, a| Ok(Some(Value::Real(jet_time(a)?.value)))),
    ("ModelicaStandardTables_CombiTimeTable_getDerValue", |_, a| derivative(jet_time(a)?, a, 5, 1)),
    ("ModelicaStandardTables_CombiTimeTable_getDer2Value", |_, a| derivative(jet_time(a)?, a, 5, 2)),
    ("ModelicaStandardTables_CombiTimeTable_nextTimeEvent", |_, a| next_time_event(a)),
    // The constructor has read the table.
    ("ModelicaStandardTables_CombiTimeTable_read", |_, _| Ok(Some(Value::Real(1.0)))),
    ("ModelicaStandardTables_CombiTimeTable_close", |_, _| Ok(None)),
    ("ModelicaStandardTables_CombiTable1D_init", |c, a| init(c, a, TableKind::OneD, 1)),
    ("ModelicaStandardTables_CombiTable1D_init2", |c, a| init(c, a, TableKind::OneD, 2)),
    ("ModelicaStandardTables_CombiTable1D_init3", |c, a| init(c, a, TableKind::OneD, 3)),
    ("ModelicaStandardTables_CombiTable1D_minimumAbscissa", |_, a| bound(a, 0, false)),
    ("ModelicaStandardTables_CombiTable1D_maximumAbscissa", |_, a| bound(a, 0, true)),
    ("ModelicaStandardTables_CombiTable1D_getValue", |_, a| Ok(Some(Value::Real(jet_1d(a)?.value)))),
    ("ModelicaStandardTables_CombiTable1D_getDerValue", |_, a| derivative(jet_1d(a)?, a, 3, 1)),
    ("ModelicaStandardTables_CombiTable1D_getDer2Value", |_, a| derivative(jet_1d(a)?, a, 3, 2)),
    // The constructor has read the table.
    ("ModelicaStandardTables_CombiTable1D_read", |_, _| Ok(Some(Value::Real(1.0)))),
    ("ModelicaStandardTables_CombiTable1D_close", |_, _| Ok(None)),
    ("ModelicaStandardTables_CombiTable2D_init", |c, a| init(c, a, TableKind::TwoD, 1)),
    ("ModelicaStandardTables_CombiTable2D_init2", |c, a| init(c, a, TableKind::TwoD, 2)),
    ("ModelicaStandardTables_CombiTable2D_init3", |c, a| init(c, a, TableKind::TwoD, 3)),
    ("ModelicaStandardTables_CombiTable2D_minimumAbscissa", |_, a| bounds_2d(a, false)),
    ("ModelicaStandardTables_CombiTable2D_maximumAbscissa", |_, a| bounds_2d(a, true)),
    ("ModelicaStandardTables_CombiTable2D_getValue", |_, a| Ok(Some(Value::Real(jet_2d(a)?.value)))),
    ("ModelicaStandardTables_CombiTable2D_getDerValue", |_, a| derivative_2d(a, 1)),
    ("ModelicaStandardTables_CombiTable2D_getDer2Value", |_, a| derivative_2d(a, 2)),
    // The constructor has read the table.
    ("ModelicaStandardTables_CombiTable2D_read", |_, _| Ok(Some(Value::Real(1.0)))),
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

/// A table, ready for use.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    pub kind: TableKind,
    pub rows: usize,
    pub n_columns: usize,
    /// Row-major.
    pub items: Vec<f64>,
    extrapolation: Extrapolation,
    /// The abscissae of the curves.
    points: Vec<f64>,
    /// One for each output.
    curves: Vec<Curve>,
    times: Option<TimeTable>,
    surface: Option<Surface>,
}

/// What a constructor says about a table beside its numbers.
struct Settings {
    /// Columns that are interpolated, counted from 1.
    columns: Vec<i64>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
    start_time: f64,
    shift_time: f64,
    time_events: TimeEvents,
}

impl Table {
    fn new(kind: TableKind, matrix: Matrix, settings: &Settings) -> Result<Table, String> {
        let (points, curves) = (Vec::new(), Vec::new());
        let Matrix { rows, columns: n_columns, items } = matrix;
        let extrapolation = settings.extrapolation;
        let mut table =
            Table { kind, rows, n_columns, items, extrapolation, points, curves, times: None, surface: None };
        table.check(settings)?;
        if kind == TableKind::TwoD {
            let abscissae = (table.column(0).split_off(1), table.items.get(1..n_columns).unwrap_or_default().to_vec());
            let values = table.items.chunks(n_columns).skip(1).flat_map(|row| row.iter().skip(1)).copied().collect();
            table.surface = Some(Surface::new(abscissae.0, abscissae.1, values, settings.smoothness, extrapolation)?);
            return Ok(table);
        }
        table.points = table.column(0);
        let column = |c: &i64| table.column(usize::try_from(c - 1).unwrap_or(0));
        table.curves = settings
            .columns
            .iter()
            .map(|c| Curve::new(&table.points, column(c), settings.smoothness, extrapolation))
            .collect();
        if kind == TableKind::Time {
            let (start, shift) = (settings.start_time, settings.shift_time);
            let times = TimeTable::new(start, shift, extrapolation, settings.time_events, &table.points, &table.curves);
            table.times = Some(times);
        }
        Ok(table)
    }

    pub fn at(&self, row: usize, column: usize) -> Option<f64> {
        if column >= self.n_columns { None } else { self.items.get(row * self.n_columns + column).copied() }
    }

    fn column(&self, column: usize) -> Vec<f64> {
        (0..self.rows).filter_map(|r| self.at(r, column)).collect()
    }

    fn curve(&self, output: usize) -> Result<&Curve, String> {
        self.curves.get(output).ok_or_else(|| format!("there is no output {}", output + 1))
    }

    fn check(&self, settings: &Settings) -> Result<(), String> {
        let least = if self.kind == TableKind::TwoD { 2 } else { 1 };
        if self.rows < least || self.n_columns < least {
            return Err(format!("a table of {}×{} is too small", self.rows, self.n_columns));
        }
        if let Some(column) = settings.columns.iter().find(|&&c| c < 1 || c > self.n_columns as i64) {
            return Err(format!("column {column} does not exist: the table has {}", self.n_columns));
        }
        let first = usize::from(self.kind == TableKind::TwoD);
        // Only segments can jump.
        let strict = self.kind != TableKind::Time || matches!(settings.smoothness, Smoothness::Spline(_));
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
    let matrix = if file != "NoName" && !file.trim().is_empty() {
        let bytes = context.env.read_file(file).map_err(|why| format!("cannot read `{file}`: {why}"))?;
        let (delimiter, n_header_lines) =
            if version == 3 { (string(args, reading + 1)?, integer(args, reading + 2)?) } else { (",", 0) };
        let n_header_lines = usize::try_from(n_header_lines).unwrap_or(0);
        read_table(file, &bytes, name, delimiter, n_header_lines, context.elements)
            .map_err(|why| format!("`{file}`: {why}"))?
    } else if name != "NoName" && !name.trim().is_empty() {
        let n_variables = match kind {
            TableKind::Time => 0,
            TableKind::OneD => 1,
            TableKind::TwoD => 2,
        };
        let table = context.env.user_table(name, n_variables)?;
        Matrix { rows: table.rows, columns: table.columns, items: table.items }
    } else {
        let &[rows, n_columns] = value(args, 2)?.dims() else { return Err("argument 3 must be a matrix".into()) };
        Matrix { rows, columns: n_columns, items: reals(args, 2)? }
    };
    let start_time = if is_time { real(args, 5)? } else { 0.0 };
    let settings = Settings {
        columns: columns.map_or(Ok(Vec::new()), |position| integers(args, position))?,
        smoothness: Smoothness::from_ordinal(integer(args, options)?)?,
        extrapolation: Extrapolation::from_ordinal(integer(args, options + 1)?)?,
        start_time,
        shift_time: if extended { real(args, options + 2)? } else { start_time },
        time_events: TimeEvents::from_ordinal(if extended { integer(args, options + 3)? } else { 1 })?,
    };
    let table = Table::new(kind, matrix, &settings)?;
    Ok(Some(Value::Object(Object::new(context.class, table))))
}

fn table(args: &[Value]) -> NativeResult<&Table> {
    match value(args, 0)? {
        Value::Object(object) => object.table().ok_or_else(|| "argument 1 is not a table".into()),
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

/// Position of an output among the interpolated columns.
fn output(args: &[Value], position: usize) -> NativeResult<usize> {
    let number = integer(args, position)?;
    usize::try_from(number - 1).map_err(|_| format!("there is no output {number}").into())
}

fn jet_1d(args: &[Value]) -> NativeResult<Jet> {
    let (table, u) = (table(args)?, real(args, 2)?);
    let curve = table.curve(output(args, 1)?)?;
    let place = locate(&table.points, u, Side::Right, 0.0, table.extrapolation)?;
    Ok(curve.at(&table.points, place))
}

/// Arguments: table, output, time, next event, `pre` of the next event. While an event is handled, the next one has been
/// determined already, so that it alone tells on which side of the event the simulation is.
fn jet_time(args: &[Value]) -> NativeResult<Jet> {
    let table = table(args)?;
    let Some(times) = &table.times else { return Err("argument 1 must be a time table".into()) };
    let curve = table.curve(output(args, 1)?)?;
    Ok(times.at(&table.points, curve, real(args, 2)?, real(args, 3)?)?)
}

/// The chain rule: first derivative of the argument, or first and second, behind the arguments of the value.
fn derivative(jet: Jet, args: &[Value], position: usize, order: u32) -> NativeResult {
    let first = real(args, position)?;
    Ok(Some(Value::Real(match order {
        1 => jet.first * first,
        _ => jet.second * first * first + jet.first * real(args, position + 1)?,
    })))
}

fn jet_2d(args: &[Value]) -> NativeResult<SurfaceJet> {
    let Some(surface) = &table(args)?.surface else { return Err("argument 1 must be a two-dimensional table".into()) };
    Ok(surface.at(real(args, 1)?, real(args, 2)?)?)
}

fn derivative_2d(args: &[Value], order: u32) -> NativeResult {
    let jet = jet_2d(args)?;
    let (a, b) = (real(args, 3)?, real(args, 4)?);
    let [x, y] = jet.first;
    if order == 1 {
        return Ok(Some(Value::Real(x * a + y * b)));
    }
    let [xx, xy, yy] = jet.second;
    let curved = xx * a * a + 2.0 * xy * a * b + yy * b * b;
    Ok(Some(Value::Real(curved + x * real(args, 5)? + y * real(args, 6)?)))
}

fn next_time_event(args: &[Value]) -> NativeResult {
    let table = table(args)?;
    let Some(times) = &table.times else { return Err("argument 1 must be a time table".into()) };
    Ok(Some(Value::Real(times.next_event(&table.points, real(args, 1)?))))
}
