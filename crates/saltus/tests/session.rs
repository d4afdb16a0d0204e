//! Sessions: texts that are set again and again, answers that are values, what names mean.

#[path = "session/bench.rs"]
mod bench;
#[path = "session/edits.rs"]
mod edits;
#[path = "session/files.rs"]
mod files;
#[path = "session/random.rs"]
mod random;
#[path = "session/references.rs"]
mod references;
