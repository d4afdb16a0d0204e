//! Pictures of classes, and edits of diagrams as steps of the document.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use saltus::Session;
use saltus_diagram::{Component, Layer, Placement, Point, Scene, Value as Drawn, svg};
use saltus_ide::{Analysis, Composition, Parameter, SourceChange};
use saltus_program::SlotType;
use serde_json::{Value, json};

use super::results::conversion;
use super::{Answer, internal, ok, parameter, text_of, texts};
use crate::http::{Request, Response};
use crate::runs::Run;
use crate::series;
use crate::studio::Studio;

/// Coordinates of a diagram.
const FARTHEST: f64 = 1e6;
/// Edits in one step.
const MOST_EDITS: usize = 1000;

fn layer(name: Option<&str>) -> Layer {
    if name == Some("icon") { Layer::Icon } else { Layer::Diagram }
}

fn unknown() -> (u16, String) {
    (404, "there is no such class".into())
}

/// The small picture of a class; nothing if it has none.
pub fn icon(studio: &Arc<Studio>, request: &Request) -> Answer {
    let class = parameter(request, "class")?.to_owned();
    let picture = studio.desk.ask(move |session| {
        let scene = Analysis::new(session).scene(&class, Layer::Icon)?;
        let is_empty = scene.primitives.is_empty() && scene.components.is_empty();
        let style = svg::Style { id: "i", thin_lines: true, sheet: false };
        Some(if is_empty { String::new() } else { svg::render(&scene, &style) })
    });
    let picture = picture.ok_or_else(internal)?.ok_or_else(unknown)?;
    Ok(Response::bytes("image/svg+xml", picture.into_bytes()))
}

/// The picture of a class, and what of it can be taken hold of.
pub fn scene(studio: &Arc<Studio>, request: &Request) -> Answer {
    let class = parameter(request, "class")?.to_owned();
    let layer = layer(request.parameter("layer"));
    let run = request.parameter("run").and_then(|id| studio.runs.get(id.parse().ok()?));
    // That of the text or an older one: what is asked for on this picture is refused where the text has become another.
    let path = request.parameter("path").map(PathBuf::from);
    let version = path.and_then(|path| studio.with_document(&path, |document| document.version));
    let moment = run.zip(request.parameter("time").and_then(|time| time.parse::<f64>().ok()));
    let found = studio.desk.ask(move |session| {
        let analysis = Analysis::new(session);
        let scene = match &moment {
            Some((run, time)) => analysis.scene_at(&class, layer, &|name| value_at(run, name, *time))?,
            None => analysis.scene(&class, layer)?,
        };
        let picture = svg::render(&scene, &svg::Style::default());
        let is_dynamic = scene.is_dynamic();
        Some(json!({
            "svg": picture, "scene": outline(&scene), "view": svg::view(&scene), "dynamic": is_dynamic, "version": version,
        }))
    });
    ok(&found.ok_or_else(internal)?.ok_or_else(unknown)?)
}

/// The value of a variable at a time of a run, as expressions of annotations see it.
fn value_at(run: &Run, name: &str, time: f64) -> Option<Drawn> {
    if name == "time" {
        return Some(Drawn::Number(time));
    }
    let (ty, value) = {
        let mut kept = run.recording().look();
        let times = kept.times();
        let (ty, values) = kept.values(name)?;
        (ty, *series::sample(&times, &values, &[time], ty != SlotType::Real).first()?)
    };
    Some(match ty {
        _ if value.is_nan() => return None,
        SlotType::Boolean => Drawn::Boolean(value != 0.0),
        SlotType::Enumeration => Drawn::Literal(run.literals(name)?.get((value as usize).checked_sub(1)?)?.clone()),
        SlotType::Real | SlotType::Integer => Drawn::Number(value),
    })
}

/// What a page needs besides the picture.
fn outline(scene: &Scene) -> Value {
    let connections = scene
        .connections
        .iter()
        .map(|c| json!({"from": c.from, "to": c.to, "points": c.points(), "inherited": c.inherited_from.is_some()}));
    json!({
        "system": scene.system,
        "components": scene.components.iter().map(component).collect::<Vec<_>>(),
        "connections": connections.collect::<Vec<_>>(),
        "notes": scene.notes.iter().map(|note| &note.message).collect::<Vec<_>>(),
    })
}

fn component(of: &Component) -> Value {
    let port = |port: &Component| {
        let centre = of.matrix.apply(port.anchor());
        json!({"name": port.name, "class": port.class, "at": centre, "visible": port.is_visible()})
    };
    json!({
        "name": of.name, "class": of.class, "description": of.description, "inherited": of.inherited_from.is_some(),
        "connector": of.is_connector, "placement": of.placement, "bounds": of.bounds, "visible": of.is_visible(),
        "at": of.anchor(), "ports": of.picture.ports.iter().map(port).collect::<Vec<_>>(),
    })
}

/// Do two connectors fit? If not, why, and which of their elements may be meant.
pub fn fits(studio: &Arc<Studio>, request: &Request) -> Answer {
    let name = |name| parameter(request, name).map(str::to_owned);
    let (class, from, to) = (name("class")?, name("from")?, name("to")?);
    let fits = studio.desk.ask(move |session| Analysis::new(session).can_connect(&class, &from, &to));
    let misfit = fits.ok_or_else(internal)?.err();
    let elements = misfit.iter().flat_map(|misfit| &misfit.elements);
    let elements: Vec<Value> = elements
        .map(|e| json!({"end": if e.is_from { "from" } else { "to" }, "texts": e.texts, "sizes": e.sizes}))
        .collect();
    ok(&json!({"why": misfit.as_ref().map(|misfit| &misfit.why), "elements": elements}))
}

/// The parameters of a class or of a component, for a dialog.
pub fn dialog(studio: &Arc<Studio>, request: &Request) -> Answer {
    let class = parameter(request, "class")?.to_owned();
    let component = request.parameter("component").filter(|c| !c.is_empty()).map(str::to_owned);
    let found = studio.desk.ask(move |session| Analysis::new(session).parameters(&class, component.as_deref()));
    let all = found.ok_or_else(internal)?.ok_or_else(unknown)?;
    let line = |p: &Parameter| {
        let choices: Vec<Value> = p.choices.iter().map(|c| json!({"value": c.value, "label": c.label})).collect();
        json!({
            "name": p.name, "description": p.description, "type": p.type_name, "base": p.base, "tab": p.tab, "group": p.group,
            "unit": p.unit, "display": conversion(&p.unit, &p.display_unit, p.is_difference), "value": p.value, "default": p.default, "evaluated": p.evaluated, "modified": p.is_modified, "final": p.is_final,
            "enabled": p.is_enabled, "choices": choices, "dimensions": p.dimensions,
        })
    };
    ok(&json!({"parameters": all.iter().map(line).collect::<Vec<_>>()}))
}

fn placement(value: &Value) -> Option<Placement> {
    // Nobody places anything farther away, and numbers stay readable.
    let coordinate = |value: &Value| value.as_f64().filter(|x| x.abs() <= FARTHEST);
    let point = |value: &Value| -> Option<Point> { Some([coordinate(&value[0])?, coordinate(&value[1])?]) };
    Some(Placement {
        visible: true,
        origin: point(&value["origin"])?,
        extent: [point(&value["extent"][0])?, point(&value["extent"][1])?],
        rotation: value["rotation"].as_f64().filter(|angle| angle.abs() <= 360.0)?,
    })
    .filter(|p| p.extent[0][0] != p.extent[1][0] && p.extent[0][1] != p.extent[1][1])
}

/// What is to be done, found for the texts that the session has.
fn edit(session: &Session, class: &str, body: &Value) -> Result<(String, SourceChange), String> {
    let analysis = Analysis::new(session);
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("expected `{name}`"));
    let place = || placement(&body["placement"]).ok_or_else(|| "expected a placement".to_owned());
    match body["action"].as_str().unwrap_or_default() {
        "place" => {
            let component = text("component")?;
            let change = analysis.place(class, component, layer(body["layer"].as_str()), &place()?)?;
            Ok((format!("Move {component}"), change))
        }
        "add" => Ok((
            format!("Add {}", text("name")?),
            analysis.add_component(class, text("type")?, text("name")?, &place()?)?,
        )),
        "delete" => {
            Ok((format!("Delete {}", text("component")?), analysis.delete_component(class, text("component")?)?))
        }
        "rename" => {
            let change = analysis.rename_component(class, text("component")?, text("name")?)?;
            Ok((format!("Rename {}", text("component")?), change))
        }
        "connect" => Ok(("Connect".into(), analysis.connect(class, text("from")?, text("to")?)?)),
        "disconnect" => Ok(("Disconnect".into(), analysis.disconnect(class, text("from")?, text("to")?)?)),
        "modify" => {
            let path = text("path")?;
            Ok((format!("Set {path}"), analysis.modify(class, path, body["value"].as_str())?))
        }
        other => Err(format!("there is no edit `{other}`")),
    }
}

/// What is asked for, all of it or nothing: one step of undo. Each edit is found for the text behind the one before.
struct Done {
    label: String,
    /// The text before, and the edits of it.
    files: BTreeMap<PathBuf, (String, Composition)>,
}

fn edit_all(session: &Session, class: &str, all: &[Value]) -> Result<Done, String> {
    let mut labels = Vec::new();
    let mut files = BTreeMap::new();
    let mut now = session.fork();
    for (i, asked) in all.iter().enumerate() {
        let is_last = i + 1 == all.len();
        let (label, change) = edit(&now, class, asked)?;
        labels.push(label);
        for (path, edits) in change.edits {
            let text = Analysis::new(&now).text(&path).unwrap_or_default().to_owned();
            let begin = || (text.clone(), Composition::of(text.len()));
            let (_, composition) = files.entry(path.clone()).or_insert_with(begin);
            composition.push(&edits);
            if !is_last {
                now.set_text(&path, &saltus_ide::apply(&text, &edits));
            }
        }
    }
    let label = label(labels);
    Ok(Done { label, files })
}

/// `Delete r1, r2`, where all do the same with different components.
fn label(labels: Vec<String>) -> String {
    let split: Option<Vec<(&str, &str)>> = labels.iter().map(|label| label.split_once(' ')).collect();
    match split.as_deref() {
        Some([(verb, first), rest @ ..]) if rest.iter().all(|(other, _)| other == verb) => match rest {
            [] => format!("{verb} {first}"),
            [(_, second)] => format!("{verb} {first}, {second}"),
            _ => format!("{verb} {first}, … ({} in all)", labels.len()),
        },
        _ => match labels.as_slice() {
            [one] => one.clone(),
            _ => format!("{} edits of the diagram", labels.len()),
        },
    }
}

/// One edit, or several in a list `edits`; with the `version` of the document, if they are about places of its picture.
pub fn change(studio: &Arc<Studio>, body: &Value) -> Answer {
    let class = text_of(body, "class")?.to_owned();
    let asked = body["edits"].as_array().cloned().unwrap_or_else(|| vec![body.clone()]);
    if asked.len() > MOST_EDITS {
        return Err((400, format!("expected at most {MOST_EDITS} edits")));
    }
    let found = studio.desk.ask(move |session| edit_all(session, &class, &asked));
    let done = found.ok_or_else(internal)?.map_err(|why| (422, why))?;
    let version = body["version"].as_u64();
    let mut answer = Response::json(200, &json!({}));
    for (path, (text, composition)) in done.files {
        studio.open_document(&path, &text);
        let made_of = texts::MadeOf { text: &text, version };
        answer = texts::apply(studio, &path, &made_of, &composition.edits(), &done.label)?;
    }
    Ok(answer)
}
