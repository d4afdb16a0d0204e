//! Parses every `.mo` file below the given directories; prints the number of messages and the speed.
//! With `--roundtrip` also formats them and checks that tokens and comments survive and that formatting the
//! result changes nothing; with `--print` it prints the formatted text.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use saltus_base::{FileId, Index, Interner, SourceMap};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    let (mut roundtrip, mut print) = (false, false);
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--roundtrip" => roundtrip = true,
            "--print" => print = true,
            path => collect(Path::new(path), &mut files)?,
        }
    }
    files.sort();
    let begin = Instant::now();
    let (mut sources, mut names) = (SourceMap::new(), Interner::new());
    let (mut n_bytes, mut n_messages, mut parsing) = (0, 0, Duration::ZERO);
    let (mut n_changed, mut n_failed) = (0, 0);
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
        if roundtrip {
            let once = saltus_syntax::format(&parsed.tree, &text, &names);
            n_changed += usize::from(once != text);
            if let Some(defect) = defect(&text, &once, &mut names) {
                println!("{}: {defect}", path.display());
                n_failed += 1;
            }
        }
        if print {
            print!("{}", saltus_syntax::format(&parsed.tree, &text, &names));
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
    if roundtrip {
        println!("round trip: {n_failed} of {} files failed, {n_changed} changed their layout", files.len());
    }
    Ok(())
}

/// What is wrong with the formatted text, if anything.
fn defect(text: &str, once: &str, names: &mut Interner) -> Option<String> {
    if !saltus_syntax::same_tokens(text, once) {
        return Some("tokens differ".into());
    }
    if saltus_syntax::comment_texts(text) != saltus_syntax::comment_texts(once) {
        return Some("comments differ".into());
    }
    let again = saltus_syntax::parse(FileId::from_usize(0), once, names);
    let twice = saltus_syntax::format(&again.tree, once, names);
    if twice == once {
        return None;
    }
    let line = once.lines().zip(twice.lines()).position(|(a, b)| a != b).unwrap_or(0);
    Some(format!("not idempotent at line {} of the formatted text", line + 1))
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
