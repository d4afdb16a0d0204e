//! `modelica://` addresses in the text: classes and files of packages.

use std::path::{Path, PathBuf};

use saltus::Session;
use saltus_base::Span;

use crate::file::File;
use crate::target::FileRange;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    pub start: u32,
    pub end: u32,
    pub target: LinkTarget,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkTarget {
    /// The name in the declaration of a class.
    Class(FileRange),
    File(PathBuf),
}

const SCHEME: &str = "modelica://";

pub(crate) fn links(session: &Session, path: &Path) -> Vec<Link> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let begins = file.text.match_indices(SCHEME).map(|(at, _)| at);
    begins
        .filter_map(|start| {
            let rest = &file.text[start..];
            let length = rest.find(['"', '\\', '<', '>', ' ', '\n', ')', '#']).unwrap_or(rest.len());
            let address = &rest[..length];
            let target = target(&file, address)?;
            Some(Link { start: start as u32, end: (start + length) as u32, target })
        })
        .collect()
}

/// Parts of `modelica://` addresses that name a class, each with the place where the class is declared.
pub(crate) fn class_names(file: &File<'_>) -> Vec<(u32, u32, Span)> {
    let mut found = Vec::new();
    for (at, _) in file.text.match_indices(SCHEME) {
        let first = at + SCHEME.len();
        let rest = &file.text[first..];
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        let (mut class, mut start) = (file.library.root(), first);
        for part in rest[..length].split('.') {
            let Some(inner) = file.library.child(class, file.library.intern(part)) else { break };
            let declared = file.library.definition(inner).map(|definition| definition.name.span);
            found.extend(declared.map(|span| (start as u32, (start + part.len()) as u32, span)));
            (class, start) = (inner, start + part.len() + 1);
        }
    }
    found
}

fn target(file: &File<'_>, address: &str) -> Option<LinkTarget> {
    let name = address.strip_prefix(SCHEME)?;
    if name.contains('/') {
        return file.library.resolve_uri(address).map(LinkTarget::File);
    }
    let class = file.library.find(name)?;
    let declared = file.library.definition(class)?.name.span;
    FileRange::of(file.library, declared).map(LinkTarget::Class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn classes_and_files() {
        let text = "package P model A end A; annotation(Documentation(info=\"<a href=\\\"modelica://P.A\\\">A</a> <img src=\\\"modelica://P/x.png\\\"> modelica://Q\")); end P;";
        let fixture = Fixture::new(text);
        let found = fixture.analysis().links(&fixture.path);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(&text[found[0].start as usize..found[0].end as usize], "modelica://P.A");
        let LinkTarget::Class(place) = &found[0].target else { panic!("{found:?}") };
        assert_eq!(&text[place.start as usize..place.end as usize], "A");
        assert!(matches!(&found[1].target, LinkTarget::File(path) if path.ends_with("x.png")));
    }
}
