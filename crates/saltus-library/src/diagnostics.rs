//! The wording of everything this crate says to the user: families E00xx and W00xx, files and libraries.

use std::path::Path;

use saltus_base::{Code, Diagnostic, Span};

use crate::annotations::Build;
use crate::files::MAX_FILE_SIZE;
use crate::version::Version;

pub(crate) fn unreadable_file(path: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot read `{}`: {error}", path.display());
    let diagnostic = Diagnostic::new(Code("E0001"), Span::nowhere(), message);
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            diagnostic.hint("check the spelling of the path; relative paths start at the current directory")
        }
        std::io::ErrorKind::PermissionDenied => diagnostic.hint("check the permissions of the file"),
        _ => diagnostic,
    }
}

pub(crate) fn not_utf8(path: &Path, span: Span, offset: usize) -> Diagnostic {
    let message =
        format!("`{}` is not UTF-8 text: the byte at offset {offset} does not belong to a character", path.display());
    Diagnostic::new(Code("E0002"), span, message)
        .hint("Modelica files are stored as UTF-8; convert an older file with `iconv -f LATIN1 -t UTF-8`")
}

pub(crate) fn missing_library(
    name: &str,
    wanted: Option<&Version>,
    searched: &[&Path],
    similar: Option<&str>,
    span: Span,
) -> Diagnostic {
    let version = wanted.map(|version| format!(" (version {version})")).unwrap_or_default();
    let mut diagnostic = Diagnostic::new(
        Code("E0003"),
        span,
        format!("library `{name}`{version} is not found; {}", searched_text(searched)),
    );
    if let Some(similar) = similar {
        let is_same_word = similar.eq_ignore_ascii_case(name);
        diagnostic = diagnostic.hint(match is_same_word {
            true => format!("names are case-sensitive; there is `{similar}`"),
            false => format!("did you mean `{similar}`?"),
        });
    }
    diagnostic.hint(format!(
        "name the directory that contains `{name}` with `--library DIR` or in the environment variable MODELICAPATH"
    ))
}

pub(crate) fn other_version(
    name: &str,
    wanted: &Version,
    loaded: Option<&Version>,
    found: &[String],
    searched: &[&Path],
    span: Span,
) -> Diagnostic {
    let loaded = loaded.map_or("one without a version".to_string(), |version| format!("version {version}"));
    let message = format!("version {wanted} of `{name}` is required here, but {loaded} is loaded");
    let diagnostic = Diagnostic::new(Code("W0004"), span, message);
    let diagnostic = if found.is_empty() {
        diagnostic
    } else {
        diagnostic.hint(format!("found: {}; {}", found.join(", "), searched_text(searched)))
    };
    diagnostic.hint(format!(
        "name the directory that contains version {wanted} with `--library DIR`, or update the `uses` annotation"
    ))
}

pub(crate) fn file_too_large(path: &Path, size: u64) -> Diagnostic {
    let limit = MAX_FILE_SIZE >> 20;
    let message = format!("`{}` has {size} bytes; files of more than {limit} MiB are not read", path.display());
    Diagnostic::new(Code("E0005"), Span::nowhere(), message)
        .hint("split the package into a directory with one file for each class")
}

pub(crate) fn directory_instead_of_file(path: &Path) -> Diagnostic {
    let message = format!(
        "`{}` is a directory without a file `package.mo`; expected a Modelica file or a package directory",
        path.display()
    );
    Diagnostic::new(Code("E0006"), Span::nowhere(), message)
        .hint("a directory that contains packages is named with `--library DIR`")
}

/// `expected` is empty for a file that is stored as a top-level class.
pub(crate) fn within_mismatch(expected: &str, found: &str, span: Span) -> Diagnostic {
    let clause = if found.is_empty() { "within;".to_string() } else { format!("within {found};") };
    let (reason, hint) = if expected.is_empty() {
        let hint = "write `within;`, or move the file into the directory of that package".to_string();
        ("it is stored as a top-level class".to_string(), hint)
    } else {
        (format!("its directory belongs to `{expected}`"), format!("write `within {expected};`, or move the file"))
    };
    Diagnostic::new(Code("E0007"), span, format!("`{clause}` does not fit this file: {reason}")).hint(hint)
}

pub(crate) fn missing_within(expected: &str, span: Span) -> Diagnostic {
    let message = format!("this file is part of the package `{expected}` but does not begin with a `within` clause");
    Diagnostic::new(Code("E0008"), span, message).hint(format!("begin the file with `within {expected};`"))
}

pub(crate) fn name_mismatch(stored_as: &str, class: &str, is_directory: bool, span: Span) -> Diagnostic {
    let storage = if is_directory { format!("directory `{stored_as}`") } else { format!("file `{stored_as}.mo`") };
    let message = format!("the {storage} should define a class `{stored_as}`, but defines `{class}`");
    Diagnostic::new(Code("E0009"), span, message).hint(format!(
        "rename the class to `{stored_as}`, or the {}",
        if is_directory { format!("directory to `{class}`") } else { format!("file to `{class}.mo`") }
    ))
}

pub(crate) fn duplicate_class(name: &str, scope: &str, second: Span, first: Span) -> Diagnostic {
    let scope = if scope.is_empty() { "at top level".to_string() } else { format!("in `{scope}`") };
    Diagnostic::new(Code("E0010"), second, format!("a second class `{name}` {scope}; the first one is used"))
        .label(first, "the first is here")
        .hint("rename or remove one of the two")
}

pub(crate) fn stored_twice(name: &str, scope: &str, path: &Path, first: Span) -> Diagnostic {
    let message = format!(
        "class `{name}` of `{scope}` is defined here and also stored in `{}`, which is ignored",
        path.display()
    );
    Diagnostic::new(Code("E0010"), first, message).hint("remove one of the two")
}

pub(crate) fn not_one_class(path: &Path, n_classes: usize, span: Span) -> Diagnostic {
    let count = if n_classes == 0 { "no class".to_string() } else { format!("{n_classes} classes") };
    let message = format!("`{}` defines {count}; a file of a package defines exactly one", path.display());
    Diagnostic::new(Code("E0011"), span, message)
        .hint("store every class in a file of its own, or put them into one package")
}

pub(crate) fn order_names_missing(name: &str, package: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code("W0012"),
        span,
        format!("`package.order` lists `{name}`, but `{package}` has no such class or constant"),
    )
    .hint("remove the line, or correct the spelling")
}

pub(crate) fn order_omits(name: &str, package: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("W0013"), span, format!("`package.order` of `{package}` does not list `{name}`"))
        .hint(format!("add a line `{name}` to `package.order`"))
}

pub(crate) fn within_not_found(package: &str, span: Span) -> Diagnostic {
    let message = format!(
        "`within {package};` names a package that is not found; \
         the classes of this file are taken as top-level classes"
    );
    Diagnostic::new(Code("E0014"), span, message)
        .hint("load the package first, or name its directory with `--library DIR`")
}

pub(crate) fn unreadable_search_path(dir: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(
        Code("W0015"),
        Span::nowhere(),
        format!("cannot list the library directory `{}`: {error}", dir.display()),
    )
    .hint("correct or remove it in `--library` or MODELICAPATH")
}

pub(crate) fn file_and_directory(name: &str, scope: &str, span: Span) -> Diagnostic {
    let message = format!(
        "class `{name}` of `{scope}` is stored twice: as the file `{name}.mo` and as the directory `{name}`; \
         the directory is used"
    );
    Diagnostic::new(Code("E0016"), span, message).hint("remove one of the two")
}

pub(crate) fn replaces_library(name: &str, path: &Path, span: Span) -> Diagnostic {
    let message =
        format!("class `{name}` was already loaded from `{}`; this one replaces it from now on", path.display());
    Diagnostic::new(Code("W0017"), span, message).hint("load this file before anything that uses the library")
}

pub(crate) fn short_class_with_files(name: &str, span: Span) -> Diagnostic {
    let message =
        format!("`{name}` is a short class definition, so the other files of its directory cannot be part of it");
    Diagnostic::new(Code("E0018"), span, message).hint(format!("write `package {name} … end {name};`"))
}

pub(crate) fn version_of_directory(name: &str, in_path: &Version, in_annotation: &Version, span: Span) -> Diagnostic {
    let message = format!("`{name}` is stored as version {in_path}, but its annotation says version {in_annotation}");
    Diagnostic::new(Code("W0019"), span, message)
        .hint(format!("rename the file or directory to `{name} {in_annotation}`"))
}

pub(crate) fn ignored_in_search(path: &Path, n_classes: usize, span: Span) -> Diagnostic {
    let count = if n_classes == 0 { "no class".to_string() } else { format!("{n_classes} classes") };
    let message = format!("`{}` is not a library: it defines {count} instead of exactly one", path.display());
    Diagnostic::new(Code("W0020"), span, message).hint("name the file on the command line to load all its classes")
}

pub(crate) fn other_build(name: &str, version: &Version, build: &Build, span: Span) -> Diagnostic {
    let Build { what, wanted, loaded } = build;
    let loaded = loaded.as_ref().map_or("none".to_string(), |loaded| format!("`{loaded}`"));
    let message =
        format!("`{what}` {wanted} of `{name}` {version} is required here, but the loaded library has {loaded}");
    Diagnostic::new(Code("W0021"), span, message).hint("install that build, or remove the requirement")
}

fn searched_text(searched: &[&Path]) -> String {
    if searched.is_empty() {
        return "no directory was searched".to_string();
    }
    format!("searched {}", quoted_list(searched.iter().map(|dir| dir.display())))
}

fn quoted_list(items: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    items.into_iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ")
}
