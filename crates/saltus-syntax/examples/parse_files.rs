//! Parses every `.mo` file below the given directories; prints the number of messages and the speed.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use saltus_base::{Interner, SourceMap};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for arg in std::env::args().skip(1) {
        if arg != "--roundtrip" {
            collect(Path::new(&arg), &mut files)?;
        }
    }
    files.sort();
    let begin = Instant::now();
    let (mut sources, mut names) = (SourceMap::new(), Interner::new());
    let (mut n_bytes, mut n_messages, mut parsing) = (0, 0, Duration::ZERO);
    for path in &files {
        let text = std::fs::read_to_string(path)?;
        let file = sources.add(path.display().to_string(), text.clone());
        let start = Instant::now();
        let parsed = saltus_syntax::parse(file, &text, &mut names);
        parsing += start.elapsed();
        n_bytes += text.len();
        n_messages += parsed.diagnostics.len();
        for d in &parsed.diagnostics {
            let place = d.span.and_then(|s| sources.location(s)).unwrap_or_default();
            println!("{place}: {}: {} {:?}", d.code.0, d.message, d.hints);
        }
    }
    let mb = n_bytes as f64 / 1e6;
    println!("{} files, {mb:.1} MB, {n_messages} messages", files.len());
    println!(
        "parsing {:.3} s ({:.1} MB/s), all {:.3} s",
        parsing.as_secs_f64(),
        mb / parsing.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|e| e == "mo") {
        files.push(path.to_owned());
    }
    Ok(())
}
