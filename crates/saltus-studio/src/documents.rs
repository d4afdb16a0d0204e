//! The texts that are open, with what was done to them.
//!
//! In: files and edits. Out: the present texts, undo and redo, and files on disk that are replaced in one step. A document is one text
//! for all pages that show it: an edit names the version it was made on, and one of an older version is refused with the present text.
//!
//! Pages know line feeds alone. A file with carriage returns in front of all of them, or with a byte order mark, is edited without these and
//! saved with them; one with both kinds of line ends can be read only, because its bytes could not be given back.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use saltus_ide::TextEdit;

/// Why a document cannot be edited.
pub const OF_LIBRARY: &str = "it belongs to a library";
const NOT_UTF8: &str = "it is not in UTF-8";
const TWO_LINE_ENDS: &str = "its lines end in two ways; `saltus fmt` makes them alike";

const BYTE_ORDER_MARK: &str = "\u{feff}";
/// Steps that can be undone.
const MOST_CHANGES: usize = 1000;

pub struct Document {
    pub text: String,
    /// The text that is on the disk.
    saved: String,
    /// Grows with every change, from a number that no earlier server began with: an edit of a page that knows another server's text is refused.
    pub version: u64,
    layout: Layout,
    /// Why it cannot be edited, if that is not because of what is in the file.
    locked: Option<&'static str>,
    /// Why the bytes of the file could not be given back.
    unfit: Option<&'static str>,
    undo: Vec<Change>,
    redo: Vec<Change>,
    stamp: Option<Stamp>,
    /// The file on disk is another one than what was read or saved.
    pub is_changed_on_disk: bool,
}

/// 2³² beginnings with room for 2¹⁶ changes between two of them, all of which JavaScript counts exactly.
fn first_version() -> u64 {
    u64::from(getrandom::u32().unwrap_or(0)) << 16
}

/// What of a file is not part of its text.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Layout {
    has_mark: bool,
    has_returns: bool,
}

/// A piece of the text that was replaced by another.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    pub start: usize,
    pub removed: String,
    pub inserted: String,
    pub label: String,
    pub is_typing: bool,
}

/// Tells two states of a file apart without reading it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
}

/// Why a document was not saved.
#[derive(Debug)]
pub enum Unsaved {
    ReadOnly(&'static str),
    /// Somebody else has written the file.
    ChangedOnDisk,
    Failed(io::Error),
}

impl Document {
    /// A text that is not a file of this machine.
    pub fn of_library(text: &str) -> Document {
        let text = text.replace("\r\n", "\n");
        let mut document = Document::new(text, Layout::default(), None, None);
        document.lock(OF_LIBRARY);
        document
    }

    /// The file as it is. One that is not UTF-8 can be looked at: what is no character is replaced.
    pub fn read(path: &Path) -> io::Result<Document> {
        let stamp = stamp(path);
        let (text, layout, unfit) = from_disk(&fs::read(path)?);
        Ok(Document::new(text, layout, unfit, stamp))
    }

    fn new(text: String, layout: Layout, unfit: Option<&'static str>, stamp: Option<Stamp>) -> Document {
        Document {
            saved: text.clone(),
            text,
            version: first_version(),
            layout,
            locked: None,
            unfit,
            undo: Vec::new(),
            redo: Vec::new(),
            stamp,
            is_changed_on_disk: false,
        }
    }

    /// Why it cannot be edited.
    pub fn read_only(&self) -> Option<&'static str> {
        self.locked.or(self.unfit)
    }

    /// Nobody edits it here, whatever is in the file.
    pub fn lock(&mut self, why: &'static str) {
        self.locked = Some(why);
    }

    /// An earlier server had this text, made of a file with the text `base`. If the file is another one by now, somebody has to decide.
    pub fn recover(&mut self, text: &str, base: Option<&str>) {
        if base.is_some_and(|base| base != self.saved) && text != self.saved {
            self.saved = base.unwrap_or_default().to_owned();
            self.is_changed_on_disk = true;
        }
        let (start, removed, inserted) = difference(&self.text, text);
        self.replace(start, start + removed, &text[start..start + inserted], "Recovered text", false);
    }

    /// The text that was read or saved last.
    pub fn saved(&self) -> &str {
        &self.saved
    }

    pub fn is_dirty(&self) -> bool {
        self.text != self.saved
    }

    /// What undo would take back.
    pub fn next_undo(&self) -> Option<&str> {
        self.undo.last().map(|change| change.label.as_str())
    }

    pub fn next_redo(&self) -> Option<&str> {
        self.redo.last().map(|change| change.label.as_str())
    }

    /// Replaces a piece; `false` if it is not one of this text.
    pub fn replace(&mut self, start: usize, end: usize, text: &str, label: &str, is_typing: bool) -> bool {
        let Some(removed) = self.text.get(start..end) else { return false };
        if removed == text {
            return true;
        }
        let change = Change {
            start,
            removed: removed.to_owned(),
            inserted: text.to_owned(),
            label: label.to_owned(),
            is_typing,
        };
        self.text.replace_range(start..end, text);
        self.version += 1;
        self.redo.clear();
        self.remember(change);
        true
    }

    /// Makes several edits at once, as one step; `false` if they do not fit.
    pub fn apply(&mut self, edits: &[TextEdit], label: &str) -> bool {
        let Some(start) = edits.iter().map(|edit| edit.start as usize).min() else { return true };
        let end = edits.iter().map(|edit| edit.end as usize).max().unwrap_or(start);
        if self.text.get(start..end).is_none() {
            return false;
        }
        let edited = saltus_ide::apply(&self.text, edits);
        let behind = self.text.len() - end;
        let Some(inserted) = edited.len().checked_sub(behind).and_then(|to| edited.get(start..to)) else {
            return false;
        };
        let inserted = inserted.to_owned();
        self.replace(start, end, &inserted, label, false)
    }

    /// Letters that are typed one after the other are one step up to the end of a word.
    fn remember(&mut self, change: Change) {
        if let Some(last) = self.undo.last_mut().filter(|last| last.is_typing && change.is_typing) {
            let goes_on = change.removed.is_empty() && change.start == last.start + last.inserted.len();
            let begins_word = last.inserted.ends_with(char::is_whitespace) && !change.inserted.starts_with(' ');
            if goes_on && !begins_word && !change.inserted.contains('\n') {
                last.inserted.push_str(&change.inserted);
                return;
            }
        }
        if self.undo.len() >= MOST_CHANGES {
            self.undo.remove(0);
        }
        self.undo.push(change);
    }

    /// Takes the last step back; where the text changed.
    pub fn undo(&mut self) -> Option<(usize, usize)> {
        let change = self.undo.pop()?;
        let place = self.exchange(change.start, change.inserted.len(), &change.removed);
        self.redo.push(change);
        place
    }

    pub fn redo(&mut self) -> Option<(usize, usize)> {
        let change = self.redo.pop()?;
        let place = self.exchange(change.start, change.removed.len(), &change.inserted);
        self.undo.push(change);
        place
    }

    fn exchange(&mut self, start: usize, length: usize, by: &str) -> Option<(usize, usize)> {
        self.text.get(start..start + length)?;
        self.text.replace_range(start..start + length, by);
        self.version += 1;
        Some((start, start + by.len()))
    }

    fn bytes(&self) -> String {
        let mark = if self.layout.has_mark { BYTE_ORDER_MARK } else { "" };
        match self.layout.has_returns {
            true => format!("{mark}{}", self.text.replace('\n', "\r\n")),
            false => format!("{mark}{}", self.text),
        }
    }

    /// Writes the file in one step: whoever reads it finds the old or the new text, also if the machine stops in between.
    pub fn save(&mut self, path: &Path, overwrites: bool) -> Result<(), Unsaved> {
        if let Some(why) = self.read_only() {
            return Err(Unsaved::ReadOnly(why));
        }
        match fs::read(path).map(|bytes| from_disk(&bytes)) {
            Ok((text, _, unfit)) if !overwrites && (text != self.saved || unfit.is_some()) => {
                self.is_changed_on_disk = true;
                return Err(Unsaved::ChangedOnDisk);
            }
            // The same text with other line ends: they were chosen by whoever wrote them last.
            Ok((_, layout, None)) => self.layout = layout,
            // What cannot be read is not replaced, unless there is nothing.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Unsaved::Failed(error)),
            Ok(_) | Err(_) => {}
        }
        write_in_one_step(path, self.bytes().as_bytes()).map_err(Unsaved::Failed)?;
        self.saved = self.text.clone();
        self.stamp = stamp(path);
        self.is_changed_on_disk = false;
        Ok(())
    }

    /// Looks whether the file is another one. If nothing is lost by it, its text is taken over: `true` if the text changed.
    pub fn look_at_disk(&mut self, path: &Path) -> bool {
        let now = stamp(path);
        if now == self.stamp {
            return false;
        }
        self.stamp = now;
        let Ok(bytes) = fs::read(path) else {
            self.is_changed_on_disk = true;
            return false;
        };
        let (text, layout, unfit) = from_disk(&bytes);
        if text == self.saved && unfit.is_none() {
            (self.layout, self.unfit, self.is_changed_on_disk) = (layout, None, false);
            return false;
        }
        if self.is_dirty() && text != self.text {
            self.is_changed_on_disk = true;
            return false;
        }
        self.take_over(text, layout, unfit);
        true
    }

    /// Gives up what was not saved.
    pub fn reload(&mut self, path: &Path) -> io::Result<()> {
        self.stamp = stamp(path);
        let (text, layout, unfit) = from_disk(&fs::read(path)?);
        self.take_over(text, layout, unfit);
        Ok(())
    }

    fn take_over(&mut self, text: String, layout: Layout, unfit: Option<&'static str>) {
        (self.layout, self.unfit) = (layout, unfit);
        let (old, new) = (self.text.clone(), text.clone());
        let (start, removed, inserted) = difference(&old, &new);
        self.replace(start, start + removed, &new[start..start + inserted], "Change on disk", false);
        self.saved = text;
        self.is_changed_on_disk = false;
    }
}

/// The text of a file, what is left out of it, and why it cannot be written back.
fn from_disk(bytes: &[u8]) -> (String, Layout, Option<&'static str>) {
    let whole = &*String::from_utf8_lossy(bytes);
    let (has_mark, text) = match whole.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (true, text),
        None => (false, whole),
    };
    let n_returns = text.matches('\r').count();
    let (n_pairs, n_feeds) = (text.matches("\r\n").count(), text.matches('\n').count());
    let is_mixed = n_returns > 0 && (n_pairs != n_returns || n_pairs != n_feeds);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    let why = match (is_utf8, is_mixed) {
        (false, _) => Some(NOT_UTF8),
        (true, true) => Some(TWO_LINE_ENDS),
        (true, false) => None,
    };
    (text, Layout { has_mark, has_returns: n_returns > 0 }, why)
}

/// Where two texts differ: the first byte, and how many bytes of each.
pub fn difference(old: &str, new: &str) -> (usize, usize, usize) {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let start = (0..=same).rev().find(|&at| old.is_char_boundary(at) && new.is_char_boundary(at)).unwrap_or(0);
    let (rest, new_rest) = (&old[start..], &new[start..]);
    let same = rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(|(a, b)| a == b).count();
    let fits = |n: &usize| rest.is_char_boundary(rest.len() - n) && new_rest.is_char_boundary(new_rest.len() - n);
    let same = (0..=same).rev().find(fits).unwrap_or(0);
    (start, rest.len() - same, new_rest.len() - same)
}

pub fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some(Stamp { modified: meta.modified().ok(), length: meta.len() })
}

/// Writes beside the file and renames. Links are followed, permissions kept.
pub fn write_in_one_step(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(format!(".{name}.{}.saving", std::process::id()));
    let written = write_through(&beside, bytes).and_then(|()| {
        if let Ok(meta) = fs::metadata(&path) {
            fs::set_permissions(&beside, meta.permissions())?;
        }
        fs::rename(&beside, &path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}

/// Open documents by their paths, as the session names them.
#[derive(Default)]
pub struct Documents {
    pub open: BTreeMap<PathBuf, Document>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: u32, end: u32, text: &str) -> TextEdit {
        TextEdit { start, end, text: text.into() }
    }

    #[test]
    fn undo_gives_the_same_bytes() {
        let text = "model M\n  Real x; // ä\nend M;\n";
        let mut document = Document::new(text.into(), Layout::default(), None, None);
        let first = document.version;
        assert!(document.replace(10, 14, "Integer", "Type", true));
        assert!(document.apply(&[edit(0, 5, "block"), edit(18, 19, "yy")], "Two places"));
        assert_eq!(document.text, "block M\n  Integer yy; // ä\nend M;\n");
        assert_eq!((document.version - first, document.is_dirty(), document.undo.len()), (2, true, 2));
        assert!(document.undo().is_some() && document.undo().is_some() && document.undo().is_none());
        assert_eq!((document.text.as_str(), document.is_dirty()), (text, false));
        assert!(document.redo().is_some() && document.redo().is_some());
        assert_eq!(document.text, "block M\n  Integer yy; // ä\nend M;\n");
        let inside = document.text.find('ä').unwrap() + 1;
        assert!(!document.replace(inside, inside + 1, "", "half a character", true), "{}", document.text);
        assert!(!document.apply(&[edit(0, 999, "")], "too long"));
    }

    #[test]
    fn typing_is_undone_by_words() {
        let mut document = Document::new(String::new(), Layout::default(), None, None);
        for (at, letter) in "one two".chars().enumerate() {
            assert!(document.replace(at, at, &letter.to_string(), "Typing", true));
        }
        assert_eq!(document.undo.len(), 2);
        document.undo();
        assert_eq!(document.text, "one ");
    }

    #[test]
    fn line_ends_and_marks_come_back() {
        let whole = "\u{feff}model M\r\nend M;\r\n";
        let (text, layout, why) = from_disk(whole.as_bytes());
        assert_eq!((text.as_str(), why), ("model M\nend M;\n", None));
        let document = Document::new(text, layout, None, None);
        assert_eq!(document.bytes(), whole);
        assert!(from_disk(b"a\r\nb\n").2.is_some() && from_disk(b"a\rb\n").2.is_some());
        assert_eq!(from_disk(b"a\xe4\n"), ("a\u{fffd}\n".into(), Layout::default(), Some(NOT_UTF8)));
    }

    #[test]
    fn saving_notices_what_others_wrote() {
        let directory = std::env::temp_dir().join(format!("saltus-documents-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("M.mo");
        fs::write(&path, "model M end M;").unwrap();
        let mut document = Document::read(&path).unwrap();
        assert!(document.replace(6, 7, "N", "Typing", true));
        document.save(&path, false).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "model N end M;");
        assert!(document.replace(6, 7, "K", "Typing", true));
        fs::write(&path, "model Other end Other;").unwrap();
        assert!(!document.look_at_disk(&path) && document.is_changed_on_disk, "what was typed stays");
        assert!(matches!(document.save(&path, false), Err(Unsaved::ChangedOnDisk)));
        document.reload(&path).unwrap();
        assert_eq!(document.text, "model Other end Other;");
        document.undo();
        assert_eq!(document.text, "model K end M;", "what was typed can be had back");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_others_wrote_in_another_encoding_or_with_other_line_ends_stays() {
        let directory = std::env::temp_dir().join(format!("saltus-encodings-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("M.mo");
        fs::write(&path, "model M\r\nend M;\r\n").unwrap();
        let mut document = Document::read(&path).unwrap();
        // The same lines with other ends.
        fs::write(&path, "model M\nend M;\n").unwrap();
        assert!(!document.look_at_disk(&path) && document.replace(0, 0, "// a\n", "Typing", true));
        document.save(&path, false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"// a\nmodel M\nend M;\n");
        // Bytes that are no text here.
        assert!(document.replace(0, 0, "// b\n", "Typing", true));
        fs::write(&path, b"model M \"\xe4\" end M;").unwrap();
        assert!(matches!(document.save(&path, false), Err(Unsaved::ChangedOnDisk)));
        assert_eq!(fs::read(&path).unwrap(), b"model M \"\xe4\" end M;");
        // Read only for what is in it, and no longer when that is mended.
        document.reload(&path).unwrap();
        assert_eq!(document.read_only(), Some(NOT_UTF8));
        fs::write(&path, "model M\r\nend M;\n").unwrap();
        document.look_at_disk(&path);
        assert_eq!(document.read_only(), Some(TWO_LINE_ENDS));
        fs::write(&path, "model M\nend M;\n").unwrap();
        document.look_at_disk(&path);
        assert_eq!((document.read_only(), document.text.as_str()), (None, "model M\nend M;\n"));
        document.lock(OF_LIBRARY);
        document.reload(&path).unwrap();
        assert_eq!(document.read_only(), Some(OF_LIBRARY), "whatever is in it");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn differences_do_not_cut_characters() {
        assert_eq!(difference("aäb", "aöb"), (1, 2, 2));
        assert_eq!(difference("ab", "ab"), (2, 0, 0));
        assert_eq!(difference("aaa", "aaaa"), (3, 0, 1));
    }
}
