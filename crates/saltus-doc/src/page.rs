//! The HTML of pages.

use std::collections::BTreeMap;
use std::fmt::Write;

use saltus::Session;
use saltus_diagram::Scene;
use saltus_ide::{Analysis, ClassInfo, MemberInfo, SymbolKind};
use saltus_library::Library;

use crate::classes::Classes;
use crate::sanitize::escaped;

pub(crate) const STYLE: &str = include_str!("../web/style.css");
pub(crate) const SCRIPT: &str = include_str!("../web/site.js");

/// Widest diagrams, in pixels; a unit is two of them.
const WIDEST: f64 = 1100.0;

/// What a page shows.
pub(crate) struct Page<'p> {
    pub info: &'p ClassInfo,
    pub icons: &'p BTreeMap<String, String>,
    pub classes: &'p Classes,
    /// The file of the diagram, and what it shows.
    pub diagram: Option<(&'p str, &'p Scene)>,
    pub documentation: Option<&'p str>,
    pub revisions: Option<&'p str>,
}

impl Page<'_> {
    pub fn html(&self) -> String {
        let info = self.info;
        let mut body = self.path();
        let short = info.name.rsplit('.').next().unwrap_or(&info.name);
        let _ = write!(
            body,
            "<header class=\"class\">{}<div><p class=\"kind\">{}</p><h1>{}</h1><p class=\"description\">{}</p></div></header>",
            icon(self.icons, &info.name, &info.words, "large"),
            escaped(&info.words),
            escaped(short),
            escaped(&info.description)
        );
        if let Some((file, scene)) = self.diagram {
            let [low, high] = saltus_diagram::svg::view(scene);
            let width = ((high[0] - low[0]) * 2.0).clamp(200.0, WIDEST).round();
            let _ = write!(
                body,
                "<section id=\"diagram\"><h2>Diagram</h2><img class=\"sheet\" src=\"{file}\" alt=\"Diagram of {}\" width=\"{width}\"></section>",
                escaped(&info.name)
            );
        }
        if let Some(documentation) = self.documentation {
            let _ = write!(
                body,
                "<section id=\"info\" class=\"documentation\"><h2>Information</h2>{documentation}</section>"
            );
        } else {
            body.push_str("<span id=\"info\"></span>");
        }
        if !info.bases.is_empty() {
            let bases: Vec<String> = info.bases.iter().map(|base| self.class_link(base)).collect();
            let _ = write!(body, "<section><h2>Extends</h2><p>{}</p></section>", bases.join(", "));
        }
        self.members(&mut body);
        self.contents(&mut body);
        if let Some(revisions) = self.revisions {
            let _ = write!(
                body,
                "<section id=\"revisions\" class=\"documentation\"><h2>Revisions</h2>{revisions}</section>"
            );
        } else {
            body.push_str("<span id=\"revisions\"></span>");
        }
        if self.diagram.is_none() {
            body.push_str("<span id=\"diagram\"></span>");
        }
        document(&info.name, &body)
    }

    /// The packages around the class.
    fn path(&self) -> String {
        let mut html = String::from("<nav class=\"path\"><a href=\"index.html\">Contents</a>");
        let parts = split(&self.info.name);
        for n in 1..=parts.len() {
            let name = parts[..n].join(".");
            let text = escaped(parts[n - 1]);
            let _ = match self.classes.file(&name).filter(|_| n < parts.len()) {
                Some(file) => write!(html, " <span>›</span> <a href=\"{file}\">{text}</a>"),
                None => write!(html, " <span>›</span> {text}"),
            };
        }
        html + "</nav>"
    }

    fn class_link(&self, name: &str) -> String {
        match self.classes.file(name) {
            Some(file) => format!("<a href=\"{file}\"><code>{}</code></a>", escaped(name)),
            None => format!("<code>{}</code>", escaped(name)),
        }
    }

    fn members(&self, body: &mut String) {
        let members = &self.info.members;
        let is_function = self.info.words.ends_with("function");
        let kind = |m: &MemberInfo| match m.kind {
            SymbolKind::Parameter => "Parameters",
            SymbolKind::Constant => "Constants",
            SymbolKind::Input if is_function => "Inputs",
            SymbolKind::Output if is_function => "Outputs",
            _ if m.is_connector => "Connectors",
            _ => "Variables and components",
        };
        for title in ["Parameters", "Constants", "Inputs", "Outputs", "Connectors", "Variables and components"] {
            let of_kind: Vec<&MemberInfo> = members.iter().filter(|m| kind(m) == title).collect();
            if of_kind.is_empty() {
                continue;
            }
            let has = |field: fn(&MemberInfo) -> &str| of_kind.iter().any(|m| !field(m).is_empty());
            let (has_value, has_unit) = (has(|m| &m.value), has(|m| &m.unit));
            let _ =
                write!(body, "<section><h2>{title}</h2><table class=\"members\"><thead><tr><th>Name</th><th>Type</th>");
            if has_value {
                body.push_str("<th>Default</th>");
            }
            if has_unit {
                body.push_str("<th>Unit</th>");
            }
            body.push_str("<th>Description</th></tr></thead><tbody>");
            for m in of_kind {
                self.member(body, m, has_value, has_unit);
            }
            body.push_str("</tbody></table></section>");
        }
    }

    fn member(&self, body: &mut String, m: &MemberInfo, has_value: bool, has_unit: bool) {
        let (prefixes, class) = m.type_text.rsplit_once(' ').unwrap_or(("", &m.type_text));
        let from = match m.owner == self.info.name {
            true => String::new(),
            false => format!(" title=\"from {}\" class=\"inherited\"", escaped(&m.owner)),
        };
        let prefixes = prefixes.replace("parameter", "").replace("constant", "");
        let _ = write!(
            body,
            "<tr><td{from}><code>{}</code></td><td>{} {}</td>",
            escaped(&m.name),
            escaped(prefixes.trim()),
            self.type_link(class)
        );
        if has_value {
            let _ = write!(body, "<td><code>{}</code></td>", escaped(&m.value));
        }
        if has_unit {
            let _ = write!(body, "<td>{}</td>", escaped(&m.unit));
        }
        let _ = write!(body, "<td>{}</td></tr>", escaped(&m.description));
    }

    /// The class of a component by its short name, with the whole name as a hint.
    fn type_link(&self, name: &str) -> String {
        let short = escaped(split(name).last().copied().unwrap_or(name));
        match self.classes.file(name) {
            Some(file) => format!("<a href=\"{file}\" title=\"{}\"><code>{short}</code></a>", escaped(name)),
            None => format!("<code title=\"{}\">{short}</code>", escaped(name)),
        }
    }

    fn contents(&self, body: &mut String) {
        let classes: Vec<(String, &str, &str)> = self
            .info
            .classes
            .iter()
            .map(|class| {
                (format!("{}.{}", self.info.name, class.name), class.words.as_str(), class.description.as_str())
            })
            .filter(|(name, ..)| self.classes.file(name).is_some())
            .collect();
        if !classes.is_empty() {
            body.push_str("<section id=\"contents\"><h2>Contents</h2>");
            list(body, &classes, self.icons, self.classes);
            body.push_str("</section>");
        }
    }
}

/// The parts of a qualified name; dots in quotes do not count.
fn split(name: &str) -> Vec<&str> {
    let (mut parts, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, c) in name.char_indices() {
        match c {
            '\'' => is_quoted = !is_quoted,
            '.' if !is_quoted => {
                parts.push(&name[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&name[start..]);
    parts
}

/// The icon of a class, or the first letter of its kind.
fn icon(icons: &BTreeMap<String, String>, class: &str, words: &str, size: &str) -> String {
    match icons.get(class) {
        Some(file) => format!("<img class=\"icon {size}\" src=\"{file}\" alt=\"\">"),
        None => {
            let kind = words.rsplit(' ').next().unwrap_or(words);
            format!(
                "<span class=\"icon {size} letter {}\">{}</span>",
                escaped(kind),
                escaped(&kind[..kind.len().min(1)])
            )
        }
    }
}

/// Classes with icons, one a line.
fn list(body: &mut String, classes: &[(String, &str, &str)], icons: &BTreeMap<String, String>, files: &Classes) {
    body.push_str("<table class=\"contents\"><tbody>");
    for (name, words, description) in classes {
        let short = escaped(split(name).last().copied().unwrap_or(name));
        let file = files.file(name).unwrap_or("");
        let _ = write!(
            body,
            "<tr><td>{}</td><td><a href=\"{file}\">{short}</a></td><td class=\"kind\">{}</td><td>{}</td></tr>",
            icon(icons, name, words, "small"),
            escaped(words),
            escaped(description)
        );
    }
    body.push_str("</tbody></table>");
}

/// The first page.
pub(crate) fn index(
    packages: &[(String, String, String)],
    icons: &BTreeMap<String, String>,
    classes: &Classes,
) -> String {
    let mut body = String::from("<h1>Contents</h1>");
    let lines: Vec<(String, &str, &str)> =
        packages.iter().map(|(name, words, text)| (name.clone(), words.as_str(), text.as_str())).collect();
    list(&mut body, &lines, icons, classes);
    document("Contents", &body)
}

/// A whole page. The policy forbids everything that does not come with the site.
fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' data: file:; style-src 'self' file:; script-src 'self' file:\">\
         <title>{}</title><link rel=\"stylesheet\" href=\"style.css\"><script src=\"site.js\" defer></script></head>\
         <body><div class=\"top\"><a class=\"home\" href=\"index.html\">Contents</a><input id=\"search\" type=\"search\" placeholder=\"Search classes ( / )\" aria-label=\"Search classes\" autocomplete=\"off\"><ol id=\"found\" hidden></ol></div>\
         <main>{body}</main></body></html>\n",
        escaped(title)
    )
}

/// Names, kinds and descriptions of all classes, as a script that a page from the file system can load.
pub(crate) fn search_index(session: &Session, library: &Library, classes: &Classes) -> String {
    let analysis = Analysis::new(session);
    let mut lines: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut out = String::from("window.saltusClasses=[\n");
    for &id in &classes.ids {
        let name = library.qualified_name(id);
        let Some(file) = classes.file(&name) else { continue };
        let parts = split(&name);
        let (package, short) = (parts[..parts.len() - 1].join("."), parts[parts.len() - 1]);
        let known = lines.entry(package.clone()).or_insert_with(|| {
            let listed =
                analysis.list(Some(&package).filter(|p| !p.is_empty()).map(String::as_str)).unwrap_or_default();
            listed.into_iter().map(|line| (line.name, line.description)).collect()
        });
        let description = known.iter().find(|(name, _)| name == short).map_or("", |(_, text)| text.as_str());
        let _ = writeln!(out, "[{},{},{}],", js_string(&name), js_string(file), js_string(description));
    }
    out + "];\nwindow.saltusFound&&window.saltusFound();\n"
}

/// A string of JavaScript that can also stand in HTML.
fn js_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes_are_one_part() {
        assert_eq!(split("A.'b.c'.D"), ["A", "'b.c'", "D"]);
    }

    #[test]
    fn strings_of_scripts_end_where_they_should() {
        assert_eq!(js_string("a\"</script>\n"), "\"a\\\"\\u003c/script\\u003e\\u000a\"");
    }
}
