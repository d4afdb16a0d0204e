//! Addresses of documents and the paths they stand for.

use std::path::{Path, PathBuf};

/// The path of a `file:` address. Any other one, such as that of a document without a file, stands for itself.
pub(crate) fn to_path(uri: &str) -> PathBuf {
    let Some(rest) = uri.strip_prefix("file://") else { return PathBuf::from(uri) };
    let path = decoded(&rest[rest.find('/').unwrap_or(0)..]);
    // `/c:/x` on Windows.
    let is_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    PathBuf::from(if is_drive { &path[1..] } else { &path })
}

pub(crate) fn of_path(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let text = absolute.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths() {
        assert_eq!(to_path("file:///a/b%20c/%C3%BC.mo"), Path::new("/a/b c/ü.mo"));
        assert_eq!(of_path(Path::new("/a/b c/ü.mo")), "file:///a/b%20c/%C3%BC.mo");
        assert_eq!(to_path("untitled:Untitled-1"), Path::new("untitled:Untitled-1"));
        assert_eq!(to_path("file:///100%"), Path::new("/100%"));
    }
}
