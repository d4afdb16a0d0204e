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
    assert_eq!((files.kind("a.txt"), files.kind("b.txt")), (Ok(FileKind::NoFile), Ok(FileKind::RegularFile)));
    assert_eq!(files.list("."), Ok(vec!["b.txt".to_owned()]));
    files.set_work_directory("..").unwrap();
    assert!(files.remove_directory("d").is_err(), "it is not empty");
    files.remove_file("d/b.txt").unwrap();
    files.remove_directory("d").unwrap();
    assert_eq!(files.kind("d"), Ok(FileKind::NoFile));
    let free = files.temporary_file_name().unwrap();
    assert_eq!(files.kind(&free), Ok(FileKind::NoFile));
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
        files.kind("../secret.txt").map(|_| ()),
        files.kind("../nothing.txt").map(|_| ()),
        files.environment_variable("PATH").map(|_| ()),
        files.environment_variable("SALTUS_TEST_NOTHING").map(|_| ()),
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
    assert_eq!(files.environment_variable("SALTUS_TEST_VARIABLE"), Ok(None));
    assert_eq!(files.environment_variable("a=b"), Ok(None));
    files.set_environment_variable("SALTUS_TEST_VARIABLE", "7").unwrap();
    assert_eq!(files.environment_variable("SALTUS_TEST_VARIABLE"), Ok(Some("7".to_owned())));
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
        includes: &[],
        include_directories: &[],
        passing: &[],
        is_output: &[],
        result: None,
    };
    let refusal = files.call(&call, &mut []).unwrap_err();
    assert!(["M.f", "motor", "--allow-external"].iter().all(|part| refusal.contains(part)), "{refusal}");
}

/// Links of all kinds lead out of the directory; each way through them is refused without permission, and works with it.
#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_working_directory() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new("links");
    let (inside, outside) = (scratch.0.join("inside"), scratch.0.join("outside"));
    fs::create_dir_all(inside.join("d")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), b"s").unwrap();
    symlink(&outside, inside.join("out")).unwrap();
    symlink("../outside/secret.txt", inside.join("file.txt")).unwrap();
    symlink("../outside/new.txt", inside.join("dangling.txt")).unwrap();
    symlink("out", inside.join("chain")).unwrap();
    symlink("loop", inside.join("loop")).unwrap();
    symlink("d", inside.join("harmless")).unwrap();
    let mut files = resources(&Session::on_disk()).within(&inside);
    for refused in [
        files.read(&text(&inside.join("out/secret.txt"))).map(|_| ()),
        files.read(&text(&inside.join("d/../out/../outside/secret.txt"))).map(|_| ()),
        files.read(&text(&inside.join("file.txt"))).map(|_| ()),
        files.read(&text(&inside.join("chain/secret.txt"))).map(|_| ()),
        files.kind("out/secret.txt").map(|_| ()),
        files.kind("out/nothing.txt").map(|_| ()),
        files.list("out").map(|_| ()),
        files.write("out/new.txt", b"x"),
        files.write("out/deeper/still/new.txt", b"x"),
        files.append("file.txt", b"x"),
        files.write("dangling.txt", b"x"),
        files.make_directory("chain/d"),
        files.remove_file("out/secret.txt"),
        files.rename("out/secret.txt", "mine.txt"),
        files.set_work_directory("out"),
    ] {
        assert!(refused.unwrap_err().contains("--allow-io"));
    }
    assert_eq!(fs::read(outside.join("secret.txt")).unwrap(), b"s");
    assert!(!outside.join("new.txt").exists() && !outside.join("d").exists());
    assert!(files.write("loop", b"x").is_err(), "a link to itself leads nowhere");
    files.write("harmless/own.txt", b"1").unwrap();
    assert_eq!(files.read(&text(&inside.join("harmless/own.txt"))), Ok(b"1".to_vec()));
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_also_with_permission() {
    let scratch = Scratch::new("pipes");
    let pipe = scratch.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut session = Session::on_disk();
    session.permit(Permissions { io: true, ..Default::default() });
    let mut files = resources(&session).within(&scratch.0);
    assert_eq!(files.kind("pipe"), Ok(FileKind::SpecialFile));
    assert!(files.read(&text(&pipe)).unwrap_err().contains("pipe"));
    assert!(files.read("/dev/zero").unwrap_err().contains("device"));
    assert!(files.append("pipe", b"x").unwrap_err().contains("regular"));
    assert!(files.write("/dev/full", b"x").unwrap_err().contains("regular"));
}

#[test]
fn a_run_does_not_fill_the_disk() {
    let scratch = Scratch::new("disk");
    let mut files = resources(&Session::on_disk()).within(&scratch.0);
    files.n_written = MOST_WRITTEN - 1;
    files.append("log.txt", b"x").unwrap();
    assert!(files.append("log.txt", b"x").unwrap_err().contains("1073741824 bytes"));
    assert_eq!(fs::read(scratch.0.join("log.txt")).unwrap(), b"x");
}
