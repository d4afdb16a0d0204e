//! `modelica://` addresses in the text: classes and files of packages.

use std::path::{Path, PathBuf};

use saltus::Session;

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
