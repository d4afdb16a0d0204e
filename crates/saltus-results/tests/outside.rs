//! Files of ours for programs by others, and the other way round. Skipped where these programs are not installed.

#![cfg(feature = "parquet")]

mod common;

use std::fs;
use std::path::Path;

use common::{Folder, endless_rows, header, python};
use saltus_results::{Format, Kind, Results, Writer};

fn write(path: &Path) {
    let mut writer = Writer::create(path, Format::of(path).expect("a known extension"), &header()).expect("a file");
    for (time, row) in endless_rows().take(1_000) {
        writer.row(time, &row).expect("a row");
    }
    writer.finish().expect("finishing");
}

#[test]
fn others_see_types_units_and_descriptions() {
    let folder = Folder::new("outside");
    let (mat, parquet) = (folder.path("run.mat"), folder.path("run.parquet"));
    write(&mat);
    write(&parquet);
    python(
        &["describe", mat.to_str().expect("a path")],
        "body.phi[1] | 2 | Angle [rad|deg]\n\
         isOdd | 2 | [:#(type=Boolean)]\n\
         k | 1 | Gain [1/s]\n\
         minus | 2 | The opposite [rad]\n\
         n | 2 | Number of the row [:#(type=Integer)]\n\
         state | 2 | [:#(type=enumeration)]",
    );
    python(
        &["describe", parquet.to_str().expect("a path")],
        "time | double | {'description': 'Time', 'type': 'Real', 'unit': 's'}\n\
         body.phi[1] | double | {'description': 'Angle', 'displayUnit': 'deg', 'type': 'Real', 'unit': 'rad'}\n\
         minus | double | {'description': 'The opposite', 'type': 'Real', 'unit': 'rad'}\n\
         n | int64 | {'description': 'Number of the row', 'type': 'Integer'}\n\
         isOdd | bool | {'type': 'Boolean'}\n\
         state | int64 | {'literals': 'off\\non', 'type': 'enumeration'}\n\
         {'complete': 'true', 'description:k': 'Gain', 'parameter:k': '0.5', 'title': 'Endless', 'unit:k': '1/s'}\n\
         SNAPPY",
    );
}

/// Its decoder is not written in Rust.
#[test]
fn a_codec_that_is_missing_is_named() {
    let folder = Folder::new("codec");
    let path = folder.path("zstd.parquet");
    python(&["write", path.to_str().expect("a path"), "zstd"], "");
    if path.exists() {
        let read = Results::read(&fs::read(&path).expect("a file"), Format::Parquet, "others");
        let message = read.expect_err("an error").message;
        assert!(message.to_lowercase().contains("zstd"), "{message}");
    }
}

#[test]
fn tables_of_others_are_read() {
    let folder = Folder::new("others");
    for compression in ["none", "snappy", "gzip", "lz4"] {
        let path = folder.path(&format!("{compression}.parquet"));
        python(&["write", path.to_str().expect("a path"), compression], "");
        if !path.exists() {
            return;
        }
        let table = Results::read(&fs::read(&path).expect("a file"), Format::Parquet, "others").expect("a table");
        assert_eq!(table.times, [0.0, 0.5, 1.0]);
        let signals: Vec<(&str, Kind)> = table.signals.iter().map(|s| (s.name.as_str(), s.kind)).collect();
        assert_eq!(signals, [("u", Kind::Real), ("n", Kind::Integer), ("on", Kind::Boolean)]);
        let values = |name: &str| table.values(name).expect("a column").into_owned();
        assert_eq!(values("n"), [1.0, 2.0, 4e9]);
        assert!(values("u")[1].is_nan() && values("u")[2] == 2.5);
        assert!(values("on")[0] == 1.0 && values("on")[2].is_nan());
    }
}
