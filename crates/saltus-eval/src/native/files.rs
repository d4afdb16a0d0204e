//! Texts and matrices in files, and `print` (external functions of the package `Modelica.Utilities.Streams`).
//!
//! ```text
//! (line, endOfFile) := readLine("data.txt", 3);       reading is deterministic as far as the files are
//! print("x = 1", "log.txt");                          writing is an effect, which only a simulation has
//! ```
//!
//! A file is opened and closed by each call, so `close` has nothing to do.

use saltus_results::matlab;

use super::arguments::{boolean, integer, reals, string, write};
use super::{NativeContext, NativeError, NativeFunction, NativeResult, outside};
use crate::array::Items;
use crate::{FileKind, Value};

/// Lines that are kept where nobody reads them at once.
const MOST_MESSAGES: usize = 1_000;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaInternal_readLine", read_line),
    ("ModelicaInternal_countLines", count_lines),
    ("ModelicaInternal_readFile", read_file),
    ("ModelicaInternal_print", print),
    ("ModelicaStreams_closeFile", |_, _| Ok(None)),
    ("ModelicaIO_readMatrixSizes", read_matrix_sizes),
    ("ModelicaIO_readRealMatrix", read_real_matrix),
    ("ModelicaIO_writeRealMatrix", write_real_matrix),
    ("ModelicaError", error),
];

fn error(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Err(NativeError::Failed(string(args, 0)?.to_string()))
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

/// Arguments: text, name of a file. Without a file the line is for the user.
fn print(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (text, file) = (string(args, 0)?, string(args, 1)?);
    if !file.is_empty() {
        let line = format!("{text}\n");
        outside(context)?.append(file, line.as_bytes())?;
    } else if let Some(outside) = context.env.outside() {
        outside.print(text);
    } else if context.messages.len() < MOST_MESSAGES {
        context.messages.push(text.to_owned());
    }
    Ok(None)
}

fn matrix(context: &mut NativeContext, args: &[Value]) -> NativeResult<matlab::Matrix> {
    let (file, name) = (string(args, 0)?, string(args, 1)?);
    let bytes = contents(context, file)?;
    matlab::read_matrix(&bytes, name, context.elements).map_err(|why| NativeError::Failed(format!("`{file}`: {why}")))
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

/// Arguments: file, name of the matrix, matrix, its sizes, whether to append, format (`4`, `6` or `7`).
fn write_real_matrix(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (file, name) = (string(args, 0)?, string(args, 1)?);
    let (rows, columns) = (integer(args, 3)?, integer(args, 4)?);
    let items = reals(args, 2)?;
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    let matrix = matlab::Matrix { rows: size(rows), columns: size(columns), items };
    if matrix.rows.checked_mul(matrix.columns) != Some(matrix.items.len()) {
        return Err("the sizes are not those of the matrix".into());
    }
    let format = matlab::Version::from_name(string(args, 6)?)?;
    let before = if boolean(args, 5)? && context.env.file_kind(file)? == FileKind::RegularFile {
        contents(context, file)?
    } else {
        Vec::new()
    };
    let bytes = matlab::with_matrix(&before, name, &matrix, format).map_err(|why| format!("`{file}`: {why}"))?;
    outside(context)?.write(file, &bytes)?;
    Ok(Some(Value::Integer(1)))
}
