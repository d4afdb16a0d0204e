//! A large library as material: every name leads somewhere.
//!
//! `SALTUS_EDITOR_LIBRARY=DIR` names a directory with packages; without it the library of the program is taken.
//! `SALTUS_EDITOR_FILES=200` takes more of it than the usual run.

mod common;

use std::collections::BTreeMap;

use common::{number, sample, session};
use saltus_ide::Analysis;

#[test]
fn every_name_leads_somewhere() {
    let session = session();
    let analysis = Analysis::new(&session);
    let (mut n_names, mut n_declared, mut n_predefined) = (0, 0, 0);
    let mut lost: BTreeMap<&str, usize> = BTreeMap::new();
    let mut examples = Vec::new();
    for path in sample(number("SALTUS_EDITOR_FILES", 40)) {
        let found = analysis.unresolved(&path);
        (n_names, n_declared) = (n_names + found.n_names, n_declared + found.n_declared);
        n_predefined += found.n_predefined;
        let text = analysis.text(&path).unwrap();
        for (start, end, role) in found.lost {
            *lost.entry(role).or_default() += 1;
            let line = text[..start as usize].matches('\n').count() + 1;
            examples.push(format!("{}:{line} {role} {}", path.display(), &text[start as usize..end as usize]));
        }
    }
    println!("{n_names} names, {n_declared} declared, {n_predefined} of the language, lost: {lost:?}");
    examples.iter().take(number("SALTUS_EDITOR_SHOW", 40)).for_each(|example| println!("{example}"));
    let n_lost: usize = lost.values().sum();
    assert!(n_lost * 100 <= n_names, "more than one name in a hundred leads nowhere");
}
