//! What is on the disk when a run is killed, at whatever moment, and when the disk is full.
//!
//! The test program starts itself again with only the test `endless`, which writes rows until it is killed.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{Folder, endless_rows, header, is_beginning, python};
use saltus_results::{Format, Results, Writer};

const TARGET: &str = "SALTUS_TEST_TARGET";
/// Bytes that a file may have in the test with a limit.
const LIMIT: u64 = 4 << 20;

/// Not a test but the process that is killed, if this is the one; otherwise nothing.
#[test]
fn endless() {
    let Some(target) = std::env::var_os(TARGET).map(PathBuf::from) else { return };
    let format = Format::of(&target).expect("a known extension");
    let mut writer = Writer::create(&target, format, &header()).expect("a file");
    for (i, (time, row)) in endless_rows().enumerate() {
        let mut written = writer.row(time, &row);
        // Parquet waits for large groups; a caller who flushes sees rows sooner.
        if i % 5_000 == 4_999 {
            written = written.and_then(|()| writer.flush());
        }
        if let Err(error) = written {
            eprintln!("{error}");
            writer.keep().expect("the piece is kept");
            std::process::exit(3);
        }
    }
}

fn endless_command(target: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "endless", "--nocapture"]).env(TARGET, target).stdout(Stdio::null());
    command
}

fn wait_for(path: &Path, child: &mut Child) {
    while !path.exists() {
        assert!(child.try_wait().expect("a process").is_none(), "it ended before there was a file");
        sleep(Duration::from_millis(2));
    }
}

fn read(path: &Path) -> Results {
    let format = Format::of(path).expect("a known extension");
    Results::read(&fs::read(path).expect("a file"), format, "piece")
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn kill_and_read(extension: &str) {
    let folder = Folder::new(&format!("kill-{extension}"));
    let target = folder.path(&format!("run.{extension}"));
    fs::write(&target, "an old result").expect("writing");
    let part = folder.path(&format!("run.part.{extension}"));
    let mut state = 1u64;
    let mut pieces = Vec::new();
    for round in 0..20 {
        let mut child = endless_command(&target).spawn().expect("a process");
        wait_for(&part, &mut child);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(Duration::from_micros(state >> 47));
        child.kill().expect("killing");
        child.wait().expect("a dead process");
        let piece = read(&part);
        assert!(is_beginning(&piece), "round {round}: {} rows", piece.times.len());
        assert_eq!(fs::read(&target).expect("the old file"), b"an old result");
        let kept = folder.path(&format!("piece-{round}.{extension}"));
        fs::rename(&part, &kept).expect("renaming");
        pieces.push((kept.to_str().expect("a path").to_owned(), piece.times.len().to_string()));
    }
    let paths: Vec<&str> = pieces.iter().map(|(path, _)| path.as_str()).collect();
    let counts: Vec<&str> = pieces.iter().map(|(_, n)| n.as_str()).collect();
    python(&[&["beginning"], paths.as_slice()].concat(), &counts.join("\n"));
}

#[test]
fn csv_files_are_whole_when_killed() {
    kill_and_read("csv");
}

#[test]
fn mat_files_are_whole_when_killed() {
    kill_and_read("mat");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_whole_when_killed() {
    kill_and_read("parquet");
}

/// Every format until `folder` is full: one message, the old file as it was, the piece readable.
fn fill(folder: &Folder, start: impl Fn(&Path) -> Command) {
    for (extension, _) in Format::EXTENSIONS.iter().filter(|(_, f)| *f != Format::Parquet || cfg!(feature = "parquet"))
    {
        let target = folder.path(&format!("run.{extension}"));
        fs::write(&target, "an old result").expect("writing");
        let output = start(&target).output().expect("a process");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{extension}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(&format!("run.{extension}")), "{message}");
        assert_eq!(fs::read(&target).expect("the old file"), b"an old result");
        let part = folder.path(&format!("run.part.{extension}"));
        assert!(is_beginning(&read(&part)), "{extension}");
        let mut left = folder.names();
        left.retain(|name| name.contains("part") || name.contains("spare"));
        assert_eq!(left, [format!("run.part.{extension}")]);
        fs::remove_file(part).expect("removing");
        fs::remove_file(target).expect("removing");
    }
}

/// A limit of the size of a file fails like a full disk.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let folder = Folder::new("limit");
    fill(&folder, |target| {
        let endless = endless_command(target);
        let mut shell = Command::new("sh");
        // In blocks of 512 or 1024 bytes, which does not matter here.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", LIMIT / 1024);
        shell.args(["-c", &script, "sh"]).arg(endless.get_program()).args(endless.get_args()).env(TARGET, target);
        shell.stdout(Stdio::null());
        shell
    });
}

/// A file system of its own, while it is mounted.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: PathBuf) -> Option<Mounted> {
        let options = format!("size={}", 2 * LIMIT);
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at).output();
        mounted.is_ok_and(|m| m.status.success()).then_some(Mounted(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error() {
    let outer = Folder::new("full");
    let place = outer.path("disk");
    fs::create_dir(&place).expect("a folder");
    let Some(_mounted) = Mounted::new(place.clone()) else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    fill(&Folder::at(place), endless_command);
}
