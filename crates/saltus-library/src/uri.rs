//! External resources (specification chapter 13, "External Resources").
//!
//! `modelica:/Modelica/Resources/Data/table.txt` is `Resources/Data/table.txt` in the directory of the package
//! `Modelica`; the widespread `modelica://Modelica/…` means the same, with a host whose case does not matter.

use std::path::{Path, PathBuf};

use crate::library::{ClassId, Library, split_path};

impl Library {
    /// The path of a resource: `modelica:/Package/file`, `modelica://Package/file`, `file:///file` or a plain path.
    /// The file need not exist. `None` if the package is not found or the scheme is another one.
    pub fn resolve_uri(&self, uri: &str) -> Option<PathBuf> {
        match parse(uri)? {
            Target::Path(path) => Some(path),
            Target::Package(uri) => Some(uri.below(self.resource_directory(&uri.package, uri.is_host)?)),
        }
    }

    /// Like [`resolve_uri`](Self::resolve_uri); a plain relative path starts at the directory of the file of `class`.
    pub fn resolve_uri_from(&self, class: ClassId, uri: &str) -> Option<PathBuf> {
        let path = self.resolve_uri(uri)?;
        if split_scheme(uri).is_some() || path.has_root() {
            return Some(path);
        }
        Some(self.directory_of(class).unwrap_or_default().join(path))
    }

    /// The directory for resources of a package: that of its top-level package and the names of the packages inside,
    /// however those are stored.
    fn resource_directory(&self, package: &str, is_host: bool) -> Option<PathBuf> {
        let parts = split_path(package)?;
        let (&first, inner) = parts.split_first()?;
        let exact = self.child(self.root(), self.intern(first));
        let top = match exact {
            Some(top) => top,
            None if is_host => self.child(self.root(), self.top_level_name_ignoring_case(first)?)?,
            None => return None,
        };
        let mut directory = self.directory_of(top)?;
        let mut scope = Some(top);
        for &part in inner {
            let name = scope.and_then(|scope| self.declared_name(scope, part, is_host));
            directory.push(name.unwrap_or(part));
            scope = scope.zip(name).and_then(|(scope, name)| self.child(scope, self.intern(name)));
        }
        Some(directory)
    }

    /// The name of a class in `scope` as it is declared, if `part` names one; found without reading files.
    fn declared_name(&self, scope: ClassId, part: &str, is_host: bool) -> Option<&str> {
        let children = self.children_of(scope)?;
        let name = self.intern(part);
        if children.slot(name).is_some() {
            return Some(self.text(name));
        }
        if !is_host {
            return None;
        }
        let loaded = children.loaded().into_iter().filter_map(|id| self.name_of(id));
        let known = loaded.chain(children.stored.iter().copied());
        known.map(|name| self.text(name)).find(|text| text.eq_ignore_ascii_case(part))
    }
}

/// What a URI or a plain path refers to.
pub(crate) enum Target {
    Path(PathBuf),
    Package(PackageUri),
}

/// `modelica:/Package.Inner/file`, decoded.
pub(crate) struct PackageUri {
    pub package: String,
    pub resource: Option<String>,
    /// Written with `//`: the case of the package does not matter.
    pub is_host: bool,
}

impl PackageUri {
    /// The path of the resource in the directory of its package.
    pub fn below(&self, mut directory: PathBuf) -> PathBuf {
        // Joining an empty path keeps a separator at the end, as the specification wants it.
        if let Some(resource) = &self.resource {
            directory.push(resource.trim_start_matches('/'));
        }
        directory
    }
}

/// `None` if the scheme is another one or the text is malformed.
pub(crate) fn parse(uri: &str) -> Option<Target> {
    let Some((scheme, rest)) = split_scheme(uri) else { return Some(Target::Path(PathBuf::from(uri))) };
    match scheme.to_ascii_lowercase().as_str() {
        "modelica" => parse_package(rest).map(Target::Package),
        "file" => resolve_file_uri(rest).map(Target::Path),
        _ => None,
    }
}

fn parse_package(rest: &str) -> Option<PackageUri> {
    let rest = rest.split('#').next().unwrap_or(rest);
    let (package, is_host) = match rest.strip_prefix("//") {
        Some(rest) => (rest, true),
        None => (rest.strip_prefix('/')?, false),
    };
    let (package, resource) = match package.split_once('/') {
        Some((package, resource)) => (package, Some(percent_decoded(resource)?)),
        None => (package, None),
    };
    Some(PackageUri { package: percent_decoded(package)?, resource, is_host })
}

/// Splits `scheme:rest`. A single letter is not a scheme but a drive (`C:\data`).
fn split_scheme(uri: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (is_scheme && rest.starts_with('/')).then_some((scheme, rest))
}

fn resolve_file_uri(rest: &str) -> Option<PathBuf> {
    let path = match rest.strip_prefix("//") {
        Some(with_host) => {
            let (host, _) = with_host.split_once('/')?;
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return None;
            }
            &with_host[host.len()..]
        }
        None => rest,
    };
    let path = percent_decoded(path)?;
    let is_drive = matches!(path.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    Some(Path::new(if is_drive { &path[1..] } else { &path }).to_path_buf())
}

/// Resolves `%20` and the like; `None` if that is malformed or not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        bytes.push((digit(0)? * 16 + digit(1)?) as u8);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}
