//! Which file has which name: while a table is written, when it is complete, and when it is not.

mod common;

use std::fs;
use std::path::Path;

use common::{Folder, endless_rows, header, is_beginning};
use saltus_results::{Format, Results, Writer};

const OLD: &[u8] = b"an old result";

/// A run on another thread can own one.
#[test]
fn writers_can_be_sent() {
    fn is_send<T: Send>() {}
    is_send::<Writer>();
}

fn formats() -> impl Iterator<Item = (&'static str, Format)> {
    Format::EXTENSIONS.into_iter().filter(|(_, f)| *f != Format::Parquet || cfg!(feature = "parquet"))
}

/// A file with this many rows, not complete.
fn begun(path: &Path, n_rows: usize) -> Writer {
    let mut writer = Writer::create(path, Format::of(path).expect("a known extension"), &header()).expect("a file");
    for (time, row) in endless_rows().take(n_rows) {
        writer.row(time, &row).expect("a row");
    }
    writer
}

fn read(path: &Path) -> Results {
    let format = Format::of(path).expect("a known extension");
    Results::read(&fs::read(path).expect("a file"), format, "piece").expect("a table")
}

#[test]
fn a_complete_table_takes_the_name() {
    for (extension, format) in formats() {
        let folder = Folder::new("complete");
        let path = folder.path(&format!("run.{extension}"));
        fs::write(&path, OLD).expect("writing");
        // Enough for several blocks of every format.
        let mut writer = begun(&path, 150_000);
        writer.flush().expect("flushing");
        assert_eq!(fs::read(&path).expect("the old file"), OLD, "it stays while the new one is written");
        let part = read(writer.part_path());
        assert!(is_beginning(&part) && part.times.len() > 50_000, "{format:?}: {} rows", part.times.len());
        writer.finish().expect("finishing");
        let table = read(&path);
        assert!(is_beginning(&table) && table.times.len() == 150_000, "{format:?}: {} rows", table.times.len());
        assert_eq!(folder.names(), [format!("run.{extension}")]);
    }
}

#[test]
fn a_piece_takes_a_free_name_only() {
    for (extension, format) in formats() {
        let folder = Folder::new("piece");
        let (path, part) = (folder.path(&format!("run.{extension}")), folder.path(&format!("run.part.{extension}")));
        let kept = begun(&path, 100).keep().expect("keeping");
        assert_eq!(kept.as_deref(), Some(path.as_path()));
        assert_eq!(read(&path).times.len(), 100, "{format:?}");
        let before = fs::read(&path).expect("the first piece");
        let kept = begun(&path, 200).keep().expect("keeping");
        assert_eq!(kept.as_deref(), Some(part.as_path()));
        assert_eq!((fs::read(&path).expect("the first piece"), read(&part).times.len()), (before, 200), "{format:?}");
        // The next complete table does away with both.
        begun(&path, 300).finish().expect("finishing");
        assert_eq!(read(&path).times.len(), 300);
        assert_eq!(folder.names(), [format!("run.{extension}")]);
    }
}

#[test]
fn a_table_without_rows_leaves_nothing_behind() {
    let folder = Folder::new("empty");
    assert_eq!(begun(&folder.path("run.mat"), 0).keep().expect("keeping"), None);
    drop(begun(&folder.path("run.csv"), 0));
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

/// After a panic, say.
#[test]
fn a_writer_that_is_dropped_leaves_its_finished_blocks() {
    let folder = Folder::new("dropped");
    let mut writer = begun(&folder.path("run.csv"), 10);
    writer.flush().expect("flushing");
    writer.row(1.0, &[0.0; 4]).expect("a row");
    drop(writer);
    assert_eq!(folder.names(), ["run.part.csv"]);
    assert_eq!(read(&folder.path("run.part.csv")).times.len(), 10);
}

#[test]
fn a_path_that_cannot_be_written_fails_before_the_first_row() {
    let folder = Folder::new("unwritable");
    let fails = |name: &str| Writer::create(&folder.path(name), Format::Csv, &header()).err().expect("an error");
    assert_eq!(fails("missing/run.csv").path, folder.path("missing/run.csv"));
    fs::create_dir(folder.path("folder.csv")).expect("a folder");
    assert_eq!(fails("folder.csv").error.to_string(), "it is a directory");
    let _running = begun(&folder.path("run.csv"), 1);
    assert_eq!(fails("run.csv").error.to_string(), "another run is writing to it");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("link");
    let (path, link) = (folder.path("run.csv"), folder.path("link.csv"));
    fs::write(&path, OLD).expect("writing");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    begun(&link, 5).finish().expect("finishing");
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert_eq!(read(&path).times.len(), 5);
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
}

/// `mkfifo` and a reader at the other end, or `/dev/full`.
#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_are_written_to_as_they_are() {
    let folder = Folder::new("device");
    for (extension, _) in formats() {
        let path = folder.path(&format!("full.{extension}"));
        std::os::unix::fs::symlink("/dev/full", &path).expect("a link");
        let error = begun(&path, 10).finish().expect_err("an error");
        assert_eq!(error.error.kind(), std::io::ErrorKind::StorageFull);
    }
    let pipe = folder.path("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).expect("a pipe")
    });
    begun(&pipe, 10).finish().expect("finishing");
    let read = reader.join().expect("the reader");
    assert!(is_beginning(&Results::read(&read, Format::Csv, "pipe").expect("a table")));
}

#[cfg(feature = "parquet")]
#[test]
fn values_that_an_integer_does_not_have_are_an_error() {
    let folder = Folder::new("integer");
    let path = folder.path("run.parquet");
    let mut writer = begun(&path, 0);
    writer.row(0.0, &[0.0, 0.5, 0.0, 1.0]).expect("it is looked at later");
    let error = writer.finish().expect_err("an error");
    assert_eq!(error.error.to_string(), "expected integers in `n`, found 0.5");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[cfg(feature = "parquet")]
#[test]
fn unknown_values_of_integers_are_null() {
    let folder = Folder::new("null");
    let path = folder.path("run.parquet");
    let mut writer = begun(&path, 0);
    for value in [f64::NAN, 3.0] {
        writer.row(0.0, &[value, value, value, value]).expect("a row");
    }
    writer.finish().expect("finishing");
    let table = read(&path);
    for name in ["body.phi[1]", "n", "isOdd", "state"] {
        let values = table.values(name).expect("a column");
        assert!(values[0].is_nan() && values[1] != 0.0, "{name}: {values:?}");
    }
}
