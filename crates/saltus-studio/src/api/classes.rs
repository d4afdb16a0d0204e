//! The tree of classes, and opening one of them.

use std::path::PathBuf;
use std::sync::Arc;

use saltus::Session;
use saltus_ide::{Analysis, ClassLine};
use saltus_library::annotations::{annotation_of, class_modification, named};
use saltus_syntax::ast::ExprKind;
use serde_json::{Value, json};

use super::{Answer, internal, ok, parameter};
use crate::http::Request;
use crate::offsets::Offsets;
use crate::studio::{Studio, status};

/// Lines of a search.
const MOST_FOUND: usize = 100;

/// What there is; with the class that is wanted first, where the page asks to open one.
pub fn state(studio: &Arc<Studio>, request: &Request) -> Answer {
    let target = studio.target.clone();
    let class = studio.desk.ask(move |session| target.first_class(session)).ok_or_else(internal)?;
    let wanted =
        request.parameter("open").map(|wanted| if wanted.is_empty() { class.as_deref() } else { Some(wanted) });
    let opened = wanted.flatten().and_then(|name| opened(studio, name).ok());
    ok(&json!({
        "opened": opened,
        "target": studio.target.name, "class": class, "documents": studio.all_documents(),
        "runs": studio.runs.all().iter().map(|run| run.describe()).collect::<Vec<_>>(),
        "searches": studio.searches.describe(), "version": env!("CARGO_PKG_VERSION"),
    }))
}

fn join(package: Option<&str>, name: &str) -> String {
    package.map_or(name.to_owned(), |package| format!("{package}.{name}"))
}

pub fn tree(studio: &Arc<Studio>, request: &Request) -> Answer {
    let package = request.parameter("package").filter(|p| !p.is_empty()).map(str::to_owned);
    let listed = studio.desk.ask(move |session| {
        let list = Analysis::new(session).list(package.as_deref())?;
        let own: Vec<String> =
            session.own_classes().iter().map(|&class| session.library().qualified_name(class)).collect();
        let entry = |line: &ClassLine| {
            let full = join(package.as_deref(), &line.name);
            json!({
                "name": line.name, "full": full, "words": line.words, "description": line.description,
                "children": has_children(session, &full, &line.words), "own": package.is_none() && own.contains(&full),
            })
        };
        // The predefined types are not in a file, and nothing to look at.
        let library = session.library();
        let is_shown = |line: &&ClassLine| {
            package.is_some() || library.find(&line.name).is_some_and(|id| library.file_of(id).is_some())
        };
        let mut entries: Vec<Value> = list.iter().filter(is_shown).map(entry).collect();
        // The user's own things first.
        entries.sort_by_key(|entry| entry["own"] != true);
        Some(entries)
    });
    let listed = listed.ok_or_else(internal)?;
    ok(&json!({"classes": listed.ok_or((404, "there is no such package".to_owned()))?}))
}

/// Packages are not opened to find out.
fn has_children(session: &Session, class: &str, words: &str) -> bool {
    let library = session.library();
    words.ends_with("package") || library.find(class).is_some_and(|id| !library.children(id).is_empty())
}

pub fn search(studio: &Arc<Studio>, request: &Request) -> Answer {
    let query = parameter(request, "query")?.to_owned();
    let found = studio.desk.ask(move |session| {
        let line = |(container, line): &(String, ClassLine)| {
            let full = join(Some(container).filter(|c| !c.is_empty()).map(String::as_str), &line.name);
            json!({"name": line.name, "full": full, "words": line.words, "description": line.description})
        };
        Analysis::new(session).search(&query).iter().take(MOST_FOUND).map(line).collect::<Vec<_>>()
    });
    ok(&json!({"classes": found.ok_or_else(internal)?}))
}

/// The document of a class, and where the class is in it.
pub fn open(studio: &Arc<Studio>, request: &Request) -> Answer {
    ok(&opened(studio, parameter(request, "name")?)?)
}

fn opened(studio: &Arc<Studio>, name: &str) -> Result<Value, (u16, String)> {
    let name = name.to_owned();
    let found = studio.desk.ask(move |session| {
        let id = session.class(Some(&name)).map_err(|unknown| unknown.message)?;
        let library = session.library();
        let no_file = || format!("`{name}` is not in a file");
        let path: PathBuf = library.file_of(id).ok_or_else(no_file)?.to_path_buf();
        let text = Analysis::new(session).text(&path).unwrap_or_default().to_owned();
        Ok::<_, String>((library.qualified_name(id), path, text))
    });
    let (name, path, text) = found.ok_or_else(internal)?.map_err(|why| (404, why))?;
    studio.open_document(&path, &text);
    // The document may have other line ends than the file, which the desk knows by now.
    let asked = path.clone();
    let described = studio.desk.ask(move |session| describe(session, &name, &asked));
    let mut described = described.ok_or_else(internal)?.ok_or((404, "the class is gone".to_owned()))?;
    let (status, text) = studio.with_document(&path, |d| (status(&path, d), d.text.clone())).ok_or_else(internal)?;
    described["document"] = status;
    described["text"] = json!(text);
    studio.want_check(&path, described["name"].as_str());
    Ok(described)
}

fn describe(session: &Session, name: &str, path: &std::path::Path) -> Option<Value> {
    let analysis = Analysis::new(session);
    let library = session.library();
    let id = library.find(name)?;
    let definition = library.definition(id)?;
    let text = analysis.text(path).unwrap_or("");
    let offsets = Offsets::new(text);
    let span = definition.span;
    let line = analysis.line(name);
    let words = line.as_ref().map(|l| l.words.clone()).unwrap_or_default();
    let is_model = ["model", "block", "class"].iter().any(|kind| words.ends_with(kind)) && !definition.is_partial;
    Some(json!({
        "name": name, "words": words, "description": line.map(|l| l.description).unwrap_or_default(),
        "start": offsets.utf16(span.start), "end": offsets.utf16(span.end),
        "line": text.as_bytes().iter().take(span.start as usize).filter(|b| **b == b'\n').count() + 1,
        "simulates": is_model,
    }))
}

/// The HTML of the annotation, without anything that could run or load.
pub fn documentation(studio: &Arc<Studio>, request: &Request) -> Answer {
    let name = parameter(request, "class")?.to_owned();
    let found = studio.desk.ask(move |session| {
        let library = session.library();
        let id = library.find(&name)?;
        let definition = library.definition(id)?;
        let text = |item: &str| {
            let annotation = annotation_of(definition)?;
            let documentation = named(annotation, library.intern("Documentation")).next()?;
            let item = named(class_modification(documentation)?, library.intern(item)).next()?;
            match &item.modification.as_ref()?.value.as_ref()?.expr.as_ref()?.kind {
                ExprKind::String(text) => Some(text.to_string()),
                _ => None,
            }
        };
        Some((text("info"), text("revisions")))
    });
    let (info, revisions) = found.ok_or_else(internal)?.ok_or((404, "there is no such class".to_owned()))?;
    let clean = |text: Option<String>| text.map(|text| saltus_doc::sanitize(&text, &mut SessionLinks));
    ok(&json!({"info": clean(info), "revisions": clean(revisions)}))
}

/// Links lead to classes of the session, which the page opens; files of packages are not served.
struct SessionLinks;

impl saltus_doc::Links for SessionLinks {
    fn class(&mut self, name: &str) -> Option<String> {
        Some(format!("modelica://{name}"))
    }

    fn resource(&mut self, _uri: &str, _is_image: bool) -> Option<String> {
        None
    }
}
