//! What outlives the server: its port and token, texts that were not saved, and runs ([`crate::archive`]).
//!
//! A page that is open when the server ends finds the next one under the same address, and what had been typed is there. The
//! files are in a directory that the user alone can read.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::archive::Archive;
use crate::documents::{Document, write_in_one_step};
use crate::runs::Run;

/// A text that was not saved.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Unsaved {
    pub path: PathBuf,
    pub text: String,
    /// The text of the file that it was made of; servers before this one did not keep it.
    pub base: Option<String>,
}

/// What is kept about one target.
#[derive(Clone)]
pub struct Memory {
    directory: Option<PathBuf>,
}

impl Memory {
    /// `directory` holds what is kept about all targets; without one nothing is.
    pub fn of(directory: Option<&Path>, target: &str) -> Memory {
        let directory = directory.map(|directory| directory.join(hash(target)));
        Memory { directory: directory.filter(|directory| make_private(directory).is_ok()) }
    }

    /// The address of the server before.
    pub fn address(&self) -> Option<(u16, String)> {
        let text = fs::read_to_string(self.directory.as_ref()?.join("address.json")).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let port = u16::try_from(value["port"].as_u64()?).ok()?;
        let token = value["token"].as_str()?;
        let is_token = token.len() == 32 && token.bytes().all(|b| b.is_ascii_hexdigit());
        is_token.then(|| (port, token.to_owned()))
    }

    /// The runs of earlier servers and where those of this one are kept; `None` without a directory, or if another server has it.
    pub fn archive(&self) -> Option<(Arc<Archive>, Vec<Run>)> {
        Archive::open(self.directory.as_ref()?).ok()
    }

    pub fn keep_address(&self, port: u16, token: &str) {
        let Some(directory) = &self.directory else { return };
        // Without it a restarted server has another address; nothing else is lost.
        let _ = write_private(&directory.join("address.json"), &json!({"port": port, "token": token}));
    }

    /// Keeps a text that is not saved, or forgets it when it is.
    pub fn keep(&self, path: &Path, document: &Document) {
        let Some(directory) = &self.directory else { return };
        let file = directory.join(format!("{}.document", hash(&path.to_string_lossy())));
        let _ = match document.is_dirty() {
            true => write_private(&file, &json!({"path": path, "text": document.text, "base": document.saved()})),
            false => fs::remove_file(&file),
        };
    }

    /// Texts that were not saved.
    pub fn unsaved(&self) -> Vec<Unsaved> {
        let Some(entries) = self.directory.as_ref().and_then(|directory| fs::read_dir(directory).ok()) else {
            return Vec::new();
        };
        let files = entries.flatten().map(|entry| entry.path());
        let texts = files.filter(|path| path.extension().is_some_and(|e| e == "document")).filter_map(|file| {
            let value: Value = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
            Some(Unsaved {
                path: PathBuf::from(value["path"].as_str()?),
                text: value["text"].as_str()?.to_owned(),
                base: value["base"].as_str().map(str::to_owned),
            })
        });
        let mut texts: Vec<Unsaved> = texts.collect();
        texts.sort();
        texts
    }
}

fn hash(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn write_private(path: &Path, value: &Value) -> io::Result<()> {
    write_in_one_step(path, value.to_string().as_bytes())
}

pub fn make_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsaved_texts_and_the_address_come_back() {
        let root = std::env::temp_dir().join(format!("saltus-memory-{}", std::process::id()));
        let memory = Memory::of(Some(&root), "here");
        assert_eq!(memory.address(), None);
        memory.keep_address(4711, "0123456789abcdef0123456789abcdef");
        assert_eq!(Memory::of(Some(&root), "here").address().unwrap().0, 4711);
        assert_eq!(Memory::of(Some(&root), "elsewhere").address(), None);
        let file = root.join("M.mo");
        fs::write(&file, "model M end M;").unwrap();
        let mut document = Document::read(&file).unwrap();
        document.replace(6, 7, "ä", "Typing", true);
        memory.keep(&file, &document);
        let unsaved = memory.unsaved().remove(0);
        assert_eq!((&unsaved.path, unsaved.text.as_str()), (&file, "model ä end M;"));
        assert_eq!(unsaved.base.as_deref(), Some("model M end M;"));
        // Somebody else has written the file since: that is told, and not overwritten.
        fs::write(&file, "model Other end Other;").unwrap();
        let mut recovered = Document::read(&file).unwrap();
        recovered.recover(&unsaved.text, unsaved.base.as_deref());
        assert!(recovered.is_changed_on_disk && recovered.is_dirty() && recovered.text == unsaved.text);
        assert!(recovered.save(&file, false).is_err());
        recovered.reload(&file).unwrap();
        assert_eq!(recovered.text, "model Other end Other;");
        document.undo();
        memory.keep(&file, &document);
        assert!(memory.unsaved().is_empty());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(root.join(hash("here"))).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "others may look into it");
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
