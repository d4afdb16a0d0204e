//! Native functions with effects, on a file system in memory; without one they have no value.

use std::collections::BTreeMap;

use super::*;
use crate::native as natives;
use crate::{Clock, FileKind, Outside, Reached};

/// Files by name; directories are names that end with a slash.
#[derive(Default)]
struct Memory {
    files: BTreeMap<String, Vec<u8>>,
    variables: BTreeMap<String, String>,
    lines: Vec<String>,
    directory: String,
}

impl Outside for Memory {
    fn read(&mut self, name: &str) -> Reached<Vec<u8>> {
        self.files.get(name).cloned().ok_or_else(|| "no such file".into())
    }
    fn resolve(&mut self, uri: &str) -> Option<String> {
        Some(uri.into())
    }
    fn kind(&mut self, name: &str) -> Reached<FileKind> {
        Ok(match (self.files.contains_key(name), self.files.contains_key(&format!("{name}/"))) {
            (true, _) => FileKind::RegularFile,
            (_, true) => FileKind::Directory,
            _ => FileKind::NoFile,
        })
    }
    fn print(&mut self, line: &str) {
        self.lines.push(line.into());
    }
    fn write(&mut self, name: &str, bytes: &[u8]) -> Reached {
        self.files.insert(name.into(), bytes.into());
        Ok(())
    }
    fn append(&mut self, name: &str, bytes: &[u8]) -> Reached {
        self.files.entry(name.into()).or_default().extend(bytes);
        Ok(())
    }
    fn make_directory(&mut self, name: &str) -> Reached {
        self.write(&format!("{name}/"), b"")
    }
    fn remove_directory(&mut self, name: &str) -> Reached {
        self.remove_file(&format!("{name}/"))
    }
    fn remove_file(&mut self, name: &str) -> Reached {
        self.files.remove(name).map(|_| ()).ok_or_else(|| "no such file".into())
    }
    fn rename(&mut self, from: &str, to: &str) -> Reached {
        let bytes = self.read(from)?;
        self.remove_file(from)?;
        self.write(to, &bytes)
    }
    fn list(&mut self, _: &str) -> Reached<Vec<String>> {
        Ok(self.files.keys().cloned().collect())
    }
    fn temporary_file_name(&mut self) -> Reached<String> {
        Ok("t1".into())
    }
    fn work_directory(&mut self) -> Reached<String> {
        Ok(self.directory.clone())
    }
    fn set_work_directory(&mut self, name: &str) -> Reached {
        self.directory = name.into();
        Ok(())
    }
    fn environment_variable(&mut self, name: &str) -> Reached<Option<String>> {
        Ok(self.variables.get(name).cloned())
    }
    fn set_environment_variable(&mut self, name: &str, content: &str) -> Reached {
        self.variables.insert(name.into(), content.into());
        Ok(())
    }
    fn command(&mut self, text: &str) -> Reached<i64> {
        Ok(text.len() as i64)
    }
    fn clock(&mut self) -> Clock {
        Clock { year: 2024, month: 2, day: 29, hour: 12, minute: 30, second: 15, millisecond: 7 }
    }
    fn process_id(&mut self) -> i64 {
        42
    }
}

/// Calls a native function with effects.
fn act(memory: &mut Memory, name: &str, arguments: &mut [Value]) -> Result<Option<Value>, natives::NativeError> {
    struct Simulation<'a>(World, &'a mut Memory);
    impl Environment for Simulation<'_> {
        fn variable(&mut self, id: VarId, span: Span) -> EvalResult {
            self.0.variable(id, span)
        }
        fn procedure(&mut self, id: FunctionId) -> EvalResult<Arc<Procedure>> {
            self.0.procedure(id)
        }
        fn record_type(&self, id: RecordId) -> Arc<RecordType> {
            self.0.record_type(id)
        }
        fn enum_type(&self, id: EnumId) -> Arc<EnumType> {
            self.0.enum_type(id)
        }
        fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
            self.1.read(name)
        }
        fn resolve_uri(&mut self, uri: &str) -> Option<String> {
            self.1.resolve(uri)
        }
        fn instance_name(&self) -> String {
            self.0.instance_name()
        }
        fn file_kind(&mut self, name: &str) -> Result<FileKind, String> {
            self.1.kind(name)
        }
        fn outside(&mut self) -> Option<&mut dyn Outside> {
            Some(self.1)
        }
    }
    let mut simulation = Simulation(World::default(), memory);
    let mut messages = Vec::new();
    let mut context = natives::NativeContext {
        env: &mut simulation,
        messages: &mut messages,
        class: FunctionId::from_usize(0),
        elements: 1_000,
        steps: 0,
    };
    natives::find(name).unwrap()(&mut context, arguments)
}

fn text(text: &str) -> Value {
    Value::string(text)
}

#[test]
fn lines_are_printed_and_appended() {
    let mut memory = Memory::default();
    for line in ["one", "two"] {
        act(&mut memory, "ModelicaInternal_print", &mut [text(line), text("")]).unwrap();
        act(&mut memory, "ModelicaInternal_print", &mut [text(line), text("log")]).unwrap();
    }
    assert_eq!(memory.lines, ["one", "two"]);
    assert_eq!(memory.files["log"], b"one\ntwo\n");
    let lines = act(&mut memory, "ModelicaInternal_countLines", &mut [text("log")]);
    assert_eq!(lines, Ok(Some(Value::Integer(2))));
}

#[test]
fn files_are_copied_renamed_listed_and_removed() {
    let mut memory = Memory::default();
    memory.files.insert("a".into(), b"1".to_vec());
    act(&mut memory, "ModelicaInternal_copyFile", &mut [text("a"), text("b")]).unwrap();
    assert!(act(&mut memory, "ModelicaInternal_copyFile", &mut [text("a"), text("b")]).is_err(), "b exists");
    act(&mut memory, "ModelicaInternal_rename", &mut [text("a"), text("c")]).unwrap();
    act(&mut memory, "ModelicaInternal_mkdir", &mut [text("d")]).unwrap();
    let kind = |memory: &mut Memory, name| act(memory, "ModelicaInternal_stat", &mut [text(name)]);
    // NoFile, RegularFile, Directory are the first three of `FileType`.
    assert_eq!(kind(&mut memory, "a"), Ok(Some(Value::Integer(1))));
    assert_eq!(kind(&mut memory, "c"), Ok(Some(Value::Integer(2))));
    assert_eq!(kind(&mut memory, "d"), Ok(Some(Value::Integer(3))));
    let n = act(&mut memory, "ModelicaInternal_getNumberOfFiles", &mut [text(".")]);
    assert_eq!(n, Ok(Some(Value::Integer(3))));
    let mut arguments = [text("."), Value::Integer(3), text("")];
    act(&mut memory, "ModelicaInternal_readDirectory", &mut arguments).unwrap();
    assert_eq!(arguments[2].dims(), [3]);
    let mut wrong = [text("."), Value::Integer(2), text("")];
    assert!(act(&mut memory, "ModelicaInternal_readDirectory", &mut wrong).is_err());
    act(&mut memory, "ModelicaInternal_rmdir", &mut [text("d")]).unwrap();
    act(&mut memory, "ModelicaInternal_removeFile", &mut [text("b")]).unwrap();
    assert_eq!(memory.files.keys().collect::<Vec<_>>(), ["c"]);
}

#[test]
fn matrices_are_written_and_read_back() {
    let mut memory = Memory::default();
    let matrix = Value::from_parts(vec![2, 1], crate::Items::Real(vec![1.5, -2.0])).unwrap();
    for format in ["4", "6", "7"] {
        let sizes = [Value::Integer(2), Value::Integer(1)];
        let [rows, columns] = sizes.clone();
        let mut arguments =
            [text(format), text("m"), matrix.clone(), rows, columns, Value::Boolean(true), text(format)];
        assert_eq!(act(&mut memory, "ModelicaIO_writeRealMatrix", &mut arguments), Ok(Some(Value::Integer(1))));
        let [rows, columns] = sizes;
        let mut arguments = [text(format), text("m"), text(""), rows, columns, Value::Boolean(false)];
        act(&mut memory, "ModelicaIO_readRealMatrix", &mut arguments).unwrap();
        assert_eq!(arguments[2], matrix, "format {format}");
    }
}

#[test]
fn the_process_is_asked_and_told() {
    let mut memory = Memory::default();
    act(&mut memory, "ModelicaInternal_setenv", &mut [text("V"), text("x"), Value::Boolean(false)]).unwrap();
    let mut arguments = [text("V"), Value::Boolean(true), text(""), Value::Boolean(false)];
    act(&mut memory, "ModelicaInternal_getenv", &mut arguments).unwrap();
    assert_eq!(arguments[2..], [text("x"), Value::Boolean(true)]);
    act(&mut memory, "ModelicaInternal_chdir", &mut [text("/w")]).unwrap();
    assert_eq!(act(&mut memory, "ModelicaInternal_getcwd", &mut [Value::Integer(0)]), Ok(Some(text("/w"))));
    assert_eq!(act(&mut memory, "ModelicaInternal_getpid", &mut []), Ok(Some(Value::Integer(42))));
    assert_eq!(act(&mut memory, "system", &mut [text("abc")]), Ok(Some(Value::Integer(3))));
    assert_eq!(act(&mut memory, "ModelicaInternal_temporaryFileName", &mut []), Ok(Some(text("t1"))));
    let mut arguments = vec![Value::Integer(0); 7];
    act(&mut memory, "ModelicaInternal_getTime", &mut arguments).unwrap();
    assert_eq!(arguments, [7, 15, 30, 12, 29, 2, 2024].map(Value::Integer));
    assert!(act(&mut memory, "exit", &mut [Value::Integer(1)]).is_err());
}

#[test]
fn there_are_no_effects_at_compile_time() {
    let mut world = World::default();
    let mut try_it = |name: &str, arguments: &[Value]| native_with(&mut world, name, arguments, &[]);
    for (name, arguments) in [
        ("ModelicaInternal_print", vec![text("x"), text("file")]),
        ("ModelicaInternal_mkdir", vec![text("d")]),
        ("ModelicaInternal_removeFile", vec![text("d")]),
        ("ModelicaInternal_rename", vec![text("d"), text("e")]),
        ("system", vec![text("true")]),
    ] {
        assert!(matches!(try_it(name, &arguments), Err(EvalError::NotConstant { .. })), "{name}");
    }
}
