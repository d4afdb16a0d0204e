//! Archives: what is written comes back, and what is dangerous is refused.

use std::io::{Cursor, Write};

use saltus_fmi::archive::{Archive, ArchiveError, ArchiveWriter, Limits};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn archive() -> Vec<u8> {
    let mut writer = ArchiveWriter::new();
    writer.add("modelDescription.xml", b"<a/>").unwrap();
    writer.add("resources/data.bin", &[7; 100_000]).unwrap();
    writer.finish().unwrap()
}

/// An archive whose only entry has a name that our writer refuses.
fn foreign(name: &str) -> Vec<u8> {
    // A harmless name of the same length is replaced in the finished bytes, where it stands twice.
    let stand_in = "x".repeat(name.len());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(&stand_in, SimpleFileOptions::default()).unwrap();
    zip.write_all(b"evil").unwrap();
    let mut bytes = zip.finish().unwrap().into_inner();
    let places: Vec<usize> =
        (0..bytes.len() - name.len()).filter(|&at| bytes[at..].starts_with(stand_in.as_bytes())).collect();
    assert_eq!(places.len(), 2);
    for at in places {
        bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
    }
    bytes
}

#[test]
fn entries_come_back_and_bytes_are_the_same_every_time() {
    let bytes = archive();
    assert_eq!(bytes, archive());
    assert!(bytes.len() < 10_000, "compressed to {}", bytes.len());
    let mut read = Archive::new(Cursor::new(&bytes), Limits::default()).unwrap();
    assert_eq!(read.names(), ["modelDescription.xml", "resources/data.bin"]);
    assert_eq!(read.read("resources/data.bin").unwrap(), [7; 100_000]);
    assert!(matches!(read.read("other"), Err(ArchiveError::Missing(_))));
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = archive();
    for n in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        assert!(matches!(Archive::new(Cursor::new(&bytes[..n]), Limits::default()), Err(ArchiveError::Damaged(_))));
    }
}

#[test]
fn names_that_leave_the_directory_are_refused_before_anything_is_written() {
    for name in ["../outside.txt", "resources/../../up", "/absolute.txt", "C:\\windows", "a\\..\\..\\b"] {
        match Archive::new(Cursor::new(foreign(name)), Limits::default()) {
            Err(ArchiveError::UnsafePath(found)) => assert_eq!(found, name),
            Err(other) => panic!("{name}: {other}"),
            Ok(_) => panic!("{name} was accepted"),
        }
    }
}

#[test]
fn sizes_are_bounded() {
    let small = Limits { n_entries: 10, entry_size: 1000, total_size: 10_000 };
    assert!(matches!(Archive::new(Cursor::new(archive()), small), Err(ArchiveError::TooLarge(_))));
    let few = Limits { n_entries: 1, ..Limits::default() };
    assert!(matches!(Archive::new(Cursor::new(archive()), few), Err(ArchiveError::TooLarge(_))));
}

#[test]
fn a_lying_size_does_not_help_a_bomb() {
    let mut bytes = archive();
    // The sizes in the central directory are made small: four bytes, little endian.
    let (true_size, false_size) = (100_000u32.to_le_bytes(), 10u32.to_le_bytes());
    let places: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == true_size).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 4].copy_from_slice(&false_size);
    }
    let limits = Limits { n_entries: 10, entry_size: 1000, total_size: 10_000 };
    let mut read = Archive::new(Cursor::new(bytes), limits).unwrap();
    assert!(matches!(read.read("resources/data.bin"), Err(ArchiveError::TooLarge(_) | ArchiveError::Damaged(_))));
}
