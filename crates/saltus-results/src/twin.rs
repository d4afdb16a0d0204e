//! A file that grows and is whole at every moment, also after the process was killed.
//!
//! No file format survives a torn write at its end: the last line of a CSV file is cut, a Parquet file has no footer, a MAT file has bytes
//! that look like another matrix. So there are two files. The *front* bears the visible name and is whole; nobody writes to it. The *back*
//! grows. When a block is complete and the back is a whole file again, the two change their names in one atomic step, and the new back
//! catches up. Whoever opens the visible name, at whatever moment, finds all blocks but the last.
//!
//! ```text
//! motor.mat          the result of an earlier run, untouched until this one is complete
//! motor.part.mat     the front
//! .motor.part.mat    the back
//! ```
//!
//! The price is the disk space of a second copy while the run lasts, and writing every byte twice.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::encode::Closing;

pub(crate) struct Twin {
    target: PathBuf,
    front_path: PathBuf,
    back_path: PathBuf,
    spare_path: PathBuf,
    front: Option<Half>,
    back: Half,
    /// The back has a name of its own now, or none.
    is_done: bool,
}

impl Drop for Twin {
    fn drop(&mut self) {
        if !self.is_done {
            // The front stays; there is nobody to tell should this fail.
            let _ = remove(&self.back_path);
        }
    }
}

struct Half {
    file: File,
    /// Bytes up to the end of the last block that was written.
    length: u64,
}

impl Twin {
    /// Opens the files beside `target`, which is left alone. Fails where it could not be replaced later.
    pub fn create(target: &Path) -> io::Result<Twin> {
        // A link is followed: the file it leads to is the one to be replaced.
        let target = if target.exists() { fs::canonicalize(target)? } else { target.to_owned() };
        let old = check_replaceable(&target)?;
        let (front_path, back_path, spare_path) =
            (beside(&target, "", ".part"), beside(&target, ".", ".part"), beside(&target, ".", ".spare"));
        if front_path.exists() {
            // Of a run that was killed, unless it still runs.
            lock(&File::open(&front_path)?)?;
        }
        let back = open(&back_path)?;
        if let Some(old) = old {
            back.set_permissions(old)?;
        }
        Ok(Twin {
            target,
            front_path,
            back_path,
            spare_path,
            front: None,
            back: Half { file: back, length: 0 },
            is_done: false,
        })
    }

    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.catch_up()?;
        self.back.file.seek(SeekFrom::Start(self.back.length))?;
        self.back.file.write_all(bytes)?;
        self.back.length += bytes.len() as u64;
        Ok(())
    }

    /// The back becomes a whole file and takes the visible name.
    pub fn commit(&mut self, closing: &Closing) -> io::Result<()> {
        self.catch_up()?;
        self.close_back(closing)?;
        match self.front.take() {
            None => {
                fs::rename(&self.back_path, &self.front_path)?;
                let next = Half { file: open(&self.back_path)?, length: 0 };
                next.file.set_permissions(self.back.file.metadata()?.permissions())?;
                self.front = Some(std::mem::replace(&mut self.back, next));
            }
            Some(front) => {
                self.exchange_names()?;
                self.front = Some(std::mem::replace(&mut self.back, front));
            }
        }
        Ok(())
    }

    /// Complete: the file takes the name that was asked for.
    pub fn finish(&mut self, closing: &Closing) -> io::Result<()> {
        self.catch_up()?;
        self.close_back(closing)?;
        // The old file goes only when the new one is on the disk.
        self.back.file.sync_all()?;
        fs::rename(&self.back_path, &self.target)?;
        self.is_done = true;
        remove(&self.front_path)
    }

    /// Not complete: returns where the rows of all committed blocks are now. The piece takes the name that was asked for if that is
    /// free, and keeps its own otherwise. `None` if nothing was committed.
    pub fn keep(&mut self) -> io::Result<Option<PathBuf>> {
        if !self.is_done {
            self.is_done = true;
            remove(&self.back_path)?;
        }
        if self.front.take().is_none() {
            return Ok(None);
        }
        if self.target.exists() {
            return Ok(Some(self.front_path.clone()));
        }
        fs::rename(&self.front_path, &self.target)?;
        Ok(Some(self.target.clone()))
    }

    /// Where the committed rows are while the run lasts.
    pub fn front_path(&self) -> &Path {
        &self.front_path
    }

    fn close_back(&mut self, closing: &Closing) -> io::Result<()> {
        let file = &mut self.back.file;
        file.seek(SeekFrom::Start(self.back.length))?;
        file.write_all(&closing.tail)?;
        file.set_len(self.back.length + closing.tail.len() as u64)?;
        for (at, patch) in &closing.patches {
            file.seek(SeekFrom::Start(*at))?;
            file.write_all(patch)?;
        }
        Ok(())
    }

    /// Copies the blocks that only the front has.
    fn catch_up(&mut self) -> io::Result<()> {
        let Some(front) = &mut self.front else { return Ok(()) };
        let missing = front.length.saturating_sub(self.back.length);
        if missing == 0 {
            return Ok(());
        }
        front.file.seek(SeekFrom::Start(self.back.length))?;
        self.back.file.seek(SeekFrom::Start(self.back.length))?;
        let copied = io::copy(&mut (&front.file).take(missing), &mut self.back.file)?;
        if copied != missing {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "another program truncated the file"));
        }
        self.back.length = front.length;
        Ok(())
    }

    fn exchange_names(&self) -> io::Result<()> {
        remove(&self.spare_path)?;
        // With a second name for the old front the visible name changes in one step. Where a file cannot have two names there is a moment
        // without a visible one.
        if fs::hard_link(&self.front_path, &self.spare_path).is_err() {
            fs::rename(&self.front_path, &self.spare_path)?;
        }
        fs::rename(&self.back_path, &self.front_path)?;
        fs::rename(&self.spare_path, &self.back_path)
    }
}

/// `motor.part.mat` for `motor.mat`: with the extension at its end, so that other programs know what it is.
fn beside(target: &Path, prefix: &str, infix: &str) -> PathBuf {
    let mut name = OsString::from(prefix);
    name.push(target.file_stem().unwrap_or_default());
    name.push(infix);
    if let Some(extension) = target.extension() {
        name.push(".");
        name.push(extension);
    }
    target.with_file_name(name)
}

/// Permissions of the file that will be replaced, if there is one.
fn check_replaceable(target: &Path) -> io::Result<Option<fs::Permissions>> {
    let Ok(found) = fs::metadata(target) else { return Ok(None) };
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    OpenOptions::new().write(true).open(target)?;
    Ok(Some(found.permissions()))
}

/// A new empty file that no other run writes to.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    lock(&file)?;
    file.set_len(0)?;
    Ok(file)
}

fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another run is writing to it"))
        }
        // Some network file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
