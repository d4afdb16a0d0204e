//! Texts of tests: `$0` marks the cursor, a line `//- path` begins another file.

use std::path::PathBuf;

use saltus::Session;
use saltus_library::MemoryFiles;

use crate::Analysis;

pub(crate) struct Fixture {
    pub(crate) session: Session,
    /// The file with the cursor; the first one if there is none.
    pub(crate) path: PathBuf,
    pub(crate) offset: u32,
}

impl Fixture {
    pub(crate) fn new(text: &str) -> Self {
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        let mut cursor = None;
        let mut first = None;
        for (path, text) in files(text) {
            let at = text.find("$0");
            first.get_or_insert_with(|| path.clone());
            if let Some(at) = at {
                cursor = Some((path.clone(), at as u32));
            }
            session.set_text(&path, &text.replace("$0", ""));
        }
        let (path, offset) = cursor.unwrap_or_else(|| (first.unwrap_or_default(), 0));
        Self { session, path, offset }
    }

    pub(crate) fn analysis(&self) -> Analysis<'_> {
        Analysis::new(&self.session)
    }

    pub(crate) fn text(&self) -> String {
        self.analysis().text(&self.path).unwrap_or_default().to_owned()
    }
}

fn files(text: &str) -> Vec<(PathBuf, String)> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.trim().strip_prefix("//- ") {
            Some(path) => files.push((path.into(), String::new())),
            None if files.is_empty() => files.push(("test.mo".into(), line.to_owned())),
            None => files.last_mut().into_iter().for_each(|(_, text)| text.push_str(line)),
        }
    }
    files
}
