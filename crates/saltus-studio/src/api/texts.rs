//! Documents: edits, undo, saving, and what the editor asks about the text. Places are units of UTF-16.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_ide::{Analysis, HighlightKind};
use serde_json::{Value, json};

use super::{Answer, internal, ok, parameter, text_of};
use crate::documents::{Document, Unsaved};
use crate::http::Request;
use crate::offsets::Offsets;
use crate::studio::{Studio, status};

fn not_open() -> (u16, String) {
    (404, "the document is not open".into())
}

fn whole(path: &Path, document: &Document) -> Value {
    let mut value = status(path, document);
    value["text"] = json!(document.text);
    value
}

pub fn document(studio: &Arc<Studio>, request: &Request) -> Answer {
    let path = Path::new(parameter(request, "path")?);
    ok(&studio.with_document(path, |document| whole(path, document)).ok_or_else(not_open)?)
}

/// An edit of another version is refused with the present text, onto which the page brings it.
pub fn edit(studio: &Arc<Studio>, body: &Value) -> Answer {
    let path = Path::new(text_of(body, "path")?);
    let text = text_of(body, "text")?;
    let number = |name: &str| body[name].as_u64().ok_or_else(|| (400, format!("expected a number `{name}`")));
    let (version, start, end) = (number("version")?, number("start")? as usize, number("end")? as usize);
    let label = body["label"].as_str().unwrap_or("Typing");
    let done = studio.change(path, |document| {
        if let Some(why) = document.read_only() {
            return Err((403, json!({"error": why})));
        }
        if document.version != version {
            return Err((409, whole(path, document)));
        }
        let offsets = Offsets::new(&document.text);
        let (from, to) = (offsets.byte(start), offsets.byte(end));
        match document.replace(from, to, text, label, label == "Typing") {
            true => Ok(()),
            false => Err((400, json!({"error": "the edit is not inside of the text"}))),
        }
    });
    let (status, done) = done.ok_or_else(not_open)?;
    studio.want_check(path, body["class"].as_str());
    match done {
        Ok(()) => ok(&status),
        Err((code, value)) => Ok(crate::http::Response::json(code, &value)),
    }
}

pub fn undo(studio: &Arc<Studio>, body: &Value) -> Answer {
    step(studio, body, Document::undo)
}

pub fn redo(studio: &Arc<Studio>, body: &Value) -> Answer {
    step(studio, body, Document::redo)
}

fn step(studio: &Arc<Studio>, body: &Value, step: impl FnOnce(&mut Document) -> Option<(usize, usize)>) -> Answer {
    let path = Path::new(text_of(body, "path")?);
    let done = studio.change(path, |document| {
        let place = step(document);
        let offsets = Offsets::new(&document.text);
        let place = place.map(|(start, end)| json!([offsets.utf16(start as u32), offsets.utf16(end as u32)]));
        (document.text.clone(), place)
    });
    let (mut status, (text, place)) = done.ok_or_else(not_open)?;
    studio.want_check(path, body["class"].as_str());
    status["text"] = json!(text);
    status["place"] = json!(place);
    ok(&status)
}

pub fn save(studio: &Arc<Studio>, body: &Value) -> Answer {
    let path = Path::new(text_of(body, "path")?);
    let overwrites = body["overwrite"].as_bool().unwrap_or(false);
    let (status, saved) = studio.change(path, |document| document.save(path, overwrites)).ok_or_else(not_open)?;
    match saved {
        Ok(()) => ok(&status),
        Err(Unsaved::ReadOnly(why)) => Err((403, why.into())),
        Err(Unsaved::ChangedOnDisk) => Err((409, "the file was changed on disk".into())),
        Err(Unsaved::Failed(error)) => Err((500, format!("the file cannot be written: {error}"))),
    }
}

pub fn reload(studio: &Arc<Studio>, body: &Value) -> Answer {
    let path = Path::new(text_of(body, "path")?);
    let (status, done) = studio.change(path, |document| document.reload(path)).ok_or_else(not_open)?;
    done.map_err(|error| (500, format!("the file cannot be read: {error}")))?;
    studio.want_check(path, None);
    ok(&status)
}

/// Brings the text into the standard layout, as one step.
pub fn format(studio: &Arc<Studio>, body: &Value) -> Answer {
    let path = PathBuf::from(text_of(body, "path")?);
    let asked = path.clone();
    let edits = studio.desk.ask(move |session| {
        let analysis = Analysis::new(session);
        (analysis.text(&asked).unwrap_or("").to_owned(), analysis.format(&asked))
    });
    let (text, edits) = edits.ok_or_else(internal)?;
    apply(studio, &path, &MadeOf { text: &text, version: None }, &edits, "Format")
}

/// What edits were found for; and the version that the user has seen, where they depend on it.
pub struct MadeOf<'a> {
    pub text: &'a str,
    pub version: Option<u64>,
}

/// Makes edits that were found for a text, if the document still has it.
pub fn apply(
    studio: &Arc<Studio>,
    path: &Path,
    made_of: &MadeOf<'_>,
    edits: &[saltus_ide::TextEdit],
    label: &str,
) -> Answer {
    let done = studio.change(path, |document| {
        if let Some(why) = document.read_only() {
            return Err((403, why));
        }
        if document.text != made_of.text || made_of.version.is_some_and(|version| version != document.version) {
            return Err((409, "the text has changed meanwhile"));
        }
        if document.apply(edits, label) { Ok(document.text.clone()) } else { Err((400, "the edits do not fit")) }
    });
    let (mut status, done) = done.ok_or_else(not_open)?;
    status["text"] = json!(done.map_err(|(status, why)| (status, why.to_owned()))?);
    studio.want_check(path, None);
    ok(&status)
}

pub fn check(studio: &Arc<Studio>, body: &Value) -> Answer {
    studio.want_check(Path::new(text_of(body, "path")?), body["class"].as_str());
    ok(&json!({}))
}

/// Triples of start, length and kind, one after the other.
pub fn highlight(studio: &Arc<Studio>, request: &Request) -> Answer {
    let path = PathBuf::from(parameter(request, "path")?);
    let version = studio.with_document(&path, |document| document.version).ok_or_else(not_open)?;
    let words = studio.desk.ask(move |session| {
        let analysis = Analysis::new(session);
        let words = analysis.highlight(&path, None);
        let offsets = Offsets::new(analysis.text(&path).unwrap_or(""));
        let mut places = offsets.ascending();
        let mut out = Vec::new();
        for word in words {
            let start = places.utf16(word.start);
            let end = places.utf16(word.end);
            out.push(json!([start, end - start, kind(word.kind), word.is_declaration]));
        }
        out
    });
    ok(&json!({"version": version, "words": words.ok_or_else(internal)?}))
}

fn kind(kind: HighlightKind) -> String {
    match kind {
        HighlightKind::Keyword => "keyword".into(),
        HighlightKind::Number => "number".into(),
        HighlightKind::String => "string".into(),
        HighlightKind::Comment => "comment".into(),
        HighlightKind::Symbol(symbol) => format!("{symbol:?}").to_lowercase(),
    }
}

/// The path, and the byte that a page asks about.
fn place(request: &Request) -> Result<(PathBuf, usize), (u16, String)> {
    let offset = parameter(request, "offset")?.parse().map_err(|_| (400, "expected a place".to_owned()))?;
    Ok((PathBuf::from(parameter(request, "path")?), offset))
}

pub fn complete(studio: &Arc<Studio>, request: &Request) -> Answer {
    let (path, at) = place(request)?;
    studio.with_document(&path, |_| ()).ok_or_else(not_open)?;
    let found = studio.desk.ask(move |session| {
        let analysis = Analysis::new(session);
        let offsets = Offsets::new(analysis.text(&path).unwrap_or(""));
        let found = analysis.complete(&path, offsets.byte(at) as u32);
        let item = |item: &saltus_ide::Completion| {
            json!({
                "label": item.label, "kind": format!("{:?}", item.kind).to_lowercase(), "detail": item.detail,
                "description": item.description, "rank": item.rank,
            })
        };
        let items: Vec<Value> = found.items.iter().map(item).collect();
        json!({"start": offsets.utf16(found.start), "end": offsets.utf16(found.end), "items": items})
    });
    ok(&found.ok_or_else(internal)?)
}

pub fn hover(studio: &Arc<Studio>, request: &Request) -> Answer {
    let (path, at) = place(request)?;
    studio.with_document(&path, |_| ()).ok_or_else(not_open)?;
    let found = studio.desk.ask(move |session| {
        let analysis = Analysis::new(session);
        let offsets = Offsets::new(analysis.text(&path).unwrap_or(""));
        let hover = analysis.hover(&path, offsets.byte(at) as u32)?;
        Some(json!({"text": hover.text, "start": offsets.utf16(hover.start), "end": offsets.utf16(hover.end)}))
    });
    ok(&found.ok_or_else(internal)?.unwrap_or(Value::Null))
}

/// The class around the declaration, which a page can open, and the place in its file.
pub fn definition(studio: &Arc<Studio>, request: &Request) -> Answer {
    let (path, at) = place(request)?;
    studio.with_document(&path, |_| ()).ok_or_else(not_open)?;
    let found = studio.desk.ask(move |session| {
        let analysis = Analysis::new(session);
        let offsets = Offsets::new(analysis.text(&path).unwrap_or(""));
        let target = analysis.definition(&path, offsets.byte(at) as u32)?;
        let there = analysis.text(&target.focus.path).unwrap_or("").to_owned();
        let name = match target.container.is_empty() {
            true => target.name.clone(),
            false => format!("{}.{}", target.container, target.name),
        };
        let class = [name, target.container.clone()].into_iter().find(|c| session.library().find(c).is_some());
        let offsets = Offsets::new(&there);
        Some(json!({
            "class": class, "path": target.focus.path,
            "start": offsets.utf16(target.focus.start), "end": offsets.utf16(target.focus.end),
        }))
    });
    ok(&found.ok_or_else(internal)?.unwrap_or(Value::Null))
}
