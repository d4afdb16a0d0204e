//! Files and directories by name (external functions of the package `Modelica.Utilities.Internal.FileSystem`).
//!
//! ```text
//! mkdir("results");  rename("a.txt", "results/a.txt");  names := readDirectory("results", 1);
//! ```
//!
//! What a path names and its full form are known at compile time too; everything else needs a simulation.

use super::arguments::{integer, string, write};
use super::{NativeContext, NativeFunction, NativeResult, outside};
use crate::array::Items;
use crate::{Array, FileKind, Value};

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaInternal_stat", stat),
    ("ModelicaInternal_fullPathName", full_path_name),
    ("ModelicaInternal_mkdir", |c, a| effect(c, a, |o, a| o.make_directory(string(a, 0)?).map_err(Into::into))),
    ("ModelicaInternal_rmdir", |c, a| effect(c, a, |o, a| o.remove_directory(string(a, 0)?).map_err(Into::into))),
    ("ModelicaInternal_removeFile", |c, a| effect(c, a, |o, a| o.remove_file(string(a, 0)?).map_err(Into::into))),
    ("ModelicaInternal_rename", |c, a| effect(c, a, |o, a| o.rename(string(a, 0)?, string(a, 1)?).map_err(Into::into))),
    ("ModelicaInternal_copyFile", copy_file),
    ("ModelicaInternal_getNumberOfFiles", number_of_files),
    ("ModelicaInternal_readDirectory", read_directory),
    ("ModelicaInternal_temporaryFileName", |c, _| Ok(Some(Value::string(&outside(c)?.temporary_file_name()?)))),
];

/// Something that gives no value.
fn effect(
    context: &mut NativeContext,
    args: &[Value],
    act: fn(&mut dyn crate::Outside, &[Value]) -> NativeResult<()>,
) -> NativeResult {
    act(outside(context)?, args).map(|()| None)
}

/// In the order of `Types.FileType`: NoFile, RegularFile, Directory, SpecialFile.
fn stat(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Ok(Some(Value::Integer(match context.env.file_kind(string(args, 0)?)? {
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

/// The copy must not exist before.
fn copy_file(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (from, to) = (string(args, 0)?, string(args, 1)?);
    let outside = outside(context)?;
    if outside.kind(to)? != FileKind::NoFile {
        return Err(format!("cannot copy `{from}` to `{to}`: there is such a file already").into());
    }
    let bytes = outside.read(from).map_err(|why| format!("cannot copy `{from}`: {why}"))?;
    outside.write(to, &bytes)?;
    Ok(None)
}

fn number_of_files(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let names = outside(context)?.list(string(args, 0)?)?;
    Ok(Some(Value::Integer(names.len() as i64)))
}

/// Arguments: directory, number of names, names.
fn read_directory(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let directory = string(args, 0)?;
    let names = outside(context)?.list(directory)?;
    let wanted = integer(args, 1)?;
    if names.len() as i64 != wanted {
        let found = names.len();
        return Err(format!("the directory `{directory}` has {found} entries, {wanted} were expected").into());
    }
    let names = names.iter().map(|name| name.as_str().into()).collect();
    write(args, 2, Value::Array(Array::vector(Items::String(names))))?;
    Ok(None)
}
