//! `ModelicaInternal_*` and `ModelicaIO_*` (packages `Modelica.Utilities.Files`, `Streams`, `System`): reading of files
//! is deterministic as far as the files are; the clock, the process environment and writing have no value.

use super::arguments::{integer, string, write};
use super::{NativeContext, NativeError, NativeFunction, NativeResult, mat};
use crate::array::Items;
use crate::{FileKind, Value};

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaInternal_stat", stat),
    ("ModelicaInternal_fullPathName", full_path_name),
    ("ModelicaInternal_readLine", read_line),
    ("ModelicaInternal_countLines", count_lines),
    ("ModelicaInternal_readFile", read_file),
    ("ModelicaInternal_print", print),
    ("ModelicaStreams_closeFile", |_, _| Ok(None)),
    ("ModelicaIO_readMatrixSizes", read_matrix_sizes),
    ("ModelicaIO_readRealMatrix", read_real_matrix),
    ("ModelicaError", error),
    ("ModelicaInternal_getTime", not_constant),
    ("ModelicaInternal_getpid", not_constant),
    ("ModelicaInternal_getcwd", not_constant),
    ("ModelicaInternal_getenv", not_constant),
    ("ModelicaInternal_temporaryFileName", not_constant),
];

fn not_constant(_: &mut NativeContext, _: &mut [Value]) -> NativeResult {
    Err(NativeError::NotConstant)
}

fn error(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Err(NativeError::Failed(string(args, 0)?.to_string()))
}

/// In the order of `Types.FileType`: NoFile, RegularFile, Directory, SpecialFile.
fn stat(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Ok(Some(Value::Integer(match context.env.file_kind(string(args, 0)?) {
        FileKind::NoFile => 1,
        FileKind::RegularFile => 2,
        FileKind::Directory => 3,
        FileKind::SpecialFile => 4,
    })))
}

/// Also of URIs, because the default `ExternalReferences.loadResource` of the standard library ends here.
fn full_path_name(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let name = string(args, 0)?;
    if name.starts_with("modelica:") || name.starts_with("file:") {
        let path = context.env.resolve_uri(name);
        return path.map(|p| Some(Value::string(&p))).ok_or_else(|| format!("cannot find `{name}`").into());
    }
    Ok(Some(Value::string(&context.env.full_path_name(name))))
}

fn contents(context: &mut NativeContext, name: &str) -> NativeResult<Vec<u8>> {
    let bytes =
        context.env.read_file(name).map_err(|why| NativeError::Failed(format!("cannot read `{name}`: {why}")))?;
    context.steps = context.steps.saturating_add(bytes.len() as u64 / 16);
    Ok(bytes)
}

/// Lines without their ends; a text that ends with a line end has no further empty line.
fn lines(context: &mut NativeContext, name: &str) -> NativeResult<Vec<String>> {
    let bytes = contents(context, name)?;
    Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect())
}

fn read_line(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let lines = lines(context, string(args, 0)?)?;
    let number = integer(args, 1)?;
    let line = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)).and_then(|i| lines.get(i));
    write(args, 2, Value::Boolean(line.is_none()))?;
    Ok(Some(Value::string(line.map_or("", String::as_str))))
}

fn count_lines(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Ok(Some(Value::Integer(lines(context, string(args, 0)?)?.len() as i64)))
}

fn read_file(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let lines = lines(context, string(args, 0)?)?;
    let n = usize::try_from(integer(args, 2)?).unwrap_or(0);
    let wanted: Vec<std::sync::Arc<str>> = lines.iter().take(n).map(|l| l.as_str().into()).collect();
    if wanted.len() != n {
        return Err(NativeError::Failed(format!("the file has {} lines, {n} were expected", lines.len())));
    }
    write(args, 1, Value::Array(crate::Array::vector(Items::String(wanted))))?;
    Ok(None)
}

/// Printing to the terminal is a message; writing to a file would be an effect.
fn print(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    if !string(args, 1)?.is_empty() {
        return Err(NativeError::NotConstant);
    }
    let text = string(args, 0)?.to_string();
    if context.messages.len() < 1_000 {
        context.messages.push(text);
    }
    Ok(None)
}

fn matrix(context: &mut NativeContext, args: &[Value]) -> NativeResult<mat::Matrix> {
    let (file, name) = (string(args, 0)?, string(args, 1)?);
    let bytes = contents(context, file)?;
    mat::read_matrix(&bytes, name, context.elements).map_err(|why| NativeError::Failed(format!("`{file}`: {why}")))
}

fn read_matrix_sizes(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let matrix = matrix(context, args)?;
    write(args, 2, Value::integers(vec![matrix.rows as i64, matrix.columns as i64]))?;
    Ok(None)
}

fn read_real_matrix(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let matrix = matrix(context, args)?;
    let wanted = (integer(args, 3)?, integer(args, 4)?);
    if wanted != (matrix.rows as i64, matrix.columns as i64) {
        let found = format!("{}×{}", matrix.rows, matrix.columns);
        return Err(NativeError::Failed(format!("the matrix is {found}, {}×{} was expected", wanted.0, wanted.1)));
    }
    let value = Value::from_parts(vec![matrix.rows, matrix.columns], Items::Real(matrix.items));
    write(args, 2, value.ok_or("the matrix is incomplete")?)?;
    Ok(None)
}
