//! Tests of what simulations reach, in directories of their own.

use saltus_library::MemoryFiles;

use super::*;
use crate::Session;

fn resources(session: &Session) -> Resources {
    let library = session.library();
    Resources::new(Arc::new(library.packages()), library.file_source(), session.permissions())
}

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("saltus-resources-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn resources_are_found_beside_their_package() {
    let mut memory = MemoryFiles::new();
    memory.insert("lib/P/package.mo", "package P end P;");
    memory.insert("lib/P/Resources/data.txt", "#1");
    let mut session = Session::new(Box::new(memory));
    session.add_library(Path::new("lib"));
    let mut files = resources(&session);
    assert_eq!(files.read("modelica://P/Resources/data.txt"), Ok(b"#1".to_vec()));
    assert_eq!(files.resolve("modelica://P/Resources/data.txt").as_deref(), Some("lib/P/Resources/data.txt"));
    assert!(files.read("modelica://P/Resources/other.txt").is_err());
    assert!(files.read("modelica://Q/data.txt").is_err());
}

#[test]
fn files_and_directories_come_and_go() {
    let scratch = Scratch::new("come");
    let mut session = Session::on_disk();
    session.permit(Permissions { io: true, ..Default::default() });
    let mut files = resources(&session).within(&scratch.0);
    files.make_directory("d").unwrap();
    files.append("d/a.txt", b"one\n").unwrap();
    files.append("d/a.txt", b"two\n").unwrap();
    assert_eq!(fs::read(scratch.0.join("d/a.txt")).unwrap(), b"one\ntwo\n");
    files.set_work_directory("d").unwrap();
    assert_eq!(files.read("a.txt"), Ok(b"one\ntwo\n".to_vec()));
    files.rename("a.txt", "b.txt").unwrap();
    assert_eq!((files.kind("a.txt"), files.kind("b.txt")), (FileKind::NoFile, FileKind::RegularFile));
    assert_eq!(files.list("."), Ok(vec!["b.txt".to_owned()]));
    files.set_work_directory("..").unwrap();
    assert!(files.remove_directory("d").is_err(), "it is not empty");
    files.remove_file("d/b.txt").unwrap();
    files.remove_directory("d").unwrap();
    assert_eq!(files.kind("d"), FileKind::NoFile);
    let free = files.temporary_file_name().unwrap();
    assert_eq!(files.kind(&free), FileKind::NoFile);
    assert_eq!(Path::new(&files.full_path_name("x/../y.txt")), scratch.0.join("y.txt"));
}

#[test]
fn what_is_outside_stays_untouched_without_permission() {
    let scratch = Scratch::new("untouched");
    let inside = scratch.0.join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(scratch.0.join("secret.txt"), "s").unwrap();
    let session = Session::on_disk();
    let mut files = resources(&session).within(&inside);
    let secret = scratch.0.join("secret.txt").to_string_lossy().into_owned();
    for refused in [
        files.write("../new.txt", b""),
        files.append(&secret, b"x"),
        files.remove_file("../secret.txt"),
        files.make_directory("../d"),
        files.rename("../secret.txt", "mine.txt"),
        files.set_work_directory(".."),
        files.read(&secret).map(|_| ()),
        files.list("..").map(|_| ()),
        files.command("true").map(|_| ()),
    ] {
        assert!(refused.unwrap_err().contains("--allow-io"));
    }
    assert_eq!(fs::read(scratch.0.join("secret.txt")).unwrap(), b"s");
    files.write("own.txt", b"1").unwrap();
    assert_eq!(fs::read(inside.join("own.txt")).unwrap(), b"1");
}

#[test]
fn variables_and_commands_belong_to_the_simulation() {
    let mut session = Session::on_disk();
    session.permit(Permissions { io: true, ..Default::default() });
    let mut files = resources(&session);
    assert_eq!(files.environment_variable("SALTUS_TEST_VARIABLE"), None);
    assert_eq!(files.environment_variable("a=b"), None);
    files.set_environment_variable("SALTUS_TEST_VARIABLE", "7").unwrap();
    assert_eq!(files.environment_variable("SALTUS_TEST_VARIABLE").as_deref(), Some("7"));
    assert!(std::env::var_os("SALTUS_TEST_VARIABLE").is_none(), "the process keeps its own");
    if cfg!(unix) {
        assert_eq!(files.command("exit $SALTUS_TEST_VARIABLE"), Ok(7));
    }
    assert!(files.clock().year >= 2024);
}

#[test]
fn foreign_code_needs_permission() {
    let session = Session::on_disk();
    let mut files = resources(&session);
    let libraries = ["motor".to_owned()];
    let call = ForeignCall {
        function: "M.f",
        name: "f",
        language: "C",
        libraries: &libraries,
        directories: &[],
        is_output: &[],
        result: None,
    };
    let refusal = files.call(&call, &mut []).unwrap_err();
    assert!(["M.f", "motor", "--allow-external"].iter().all(|part| refusal.contains(part)), "{refusal}");
}
