//! The process and its surroundings (external functions of the package `Modelica.Utilities.System`): work directory,
//! environment variables, clock, commands. Nothing of this has a value at compile time.
//!
//! `(content, exist) := getenv("HOME", true)` gives the path with slashes, whatever the operating system uses.

use super::arguments::{boolean, integer, string, write};
use super::{NativeContext, NativeError, NativeFunction, NativeResult, outside};
use crate::Value;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaInternal_getcwd", |c, _| Ok(Some(Value::string(&outside(c)?.work_directory()?)))),
    ("ModelicaInternal_chdir", change_directory),
    ("ModelicaInternal_getenv", get_variable),
    ("ModelicaInternal_setenv", set_variable),
    ("ModelicaInternal_getTime", get_time),
    ("ModelicaInternal_getpid", |c, _| Ok(Some(Value::Integer(outside(c)?.process_id())))),
    ("system", command),
    ("exit", exit),
];

fn change_directory(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    outside(context)?.set_work_directory(string(args, 0)?)?;
    Ok(None)
}

/// Arguments: name, whether to use slashes, content out, existence out.
fn get_variable(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let found = outside(context)?.environment_variable(string(args, 0)?)?;
    let slashes = boolean(args, 1)?;
    let exists = found.is_some();
    let content = found.unwrap_or_default();
    let content = if slashes { content.replace('\\', "/") } else { content };
    write(args, 2, Value::string(&content))?;
    write(args, 3, Value::Boolean(exists))?;
    Ok(None)
}

/// Arguments: name, content, whether slashes stand for what the operating system uses.
fn set_variable(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let content = string(args, 1)?;
    let native = if boolean(args, 2)? { content.replace('/', std::path::MAIN_SEPARATOR_STR) } else { content.into() };
    outside(context)?.set_environment_variable(string(args, 0)?, &native)?;
    Ok(None)
}

/// Arguments, all out: millisecond, second, minute, hour, day, month, year.
fn get_time(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let clock = outside(context)?.clock();
    let fields = [clock.millisecond, clock.second, clock.minute, clock.hour, clock.day, clock.month, clock.year];
    fields.into_iter().enumerate().try_for_each(|(i, field)| write(args, i, Value::Integer(field)))?;
    Ok(None)
}

fn command(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let code = outside(context)?.command(string(args, 0)?)?;
    Ok(Some(Value::Integer(code)))
}

/// A model cannot end the process it runs in; its simulation ends.
fn exit(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    outside(context)?;
    Err(NativeError::Failed(format!("the model ends the simulation with exit code {}", integer(args, 0)?)))
}
