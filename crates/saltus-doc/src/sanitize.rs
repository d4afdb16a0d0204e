//! The HTML of documentation annotations, reduced to what formats text.
//!
//! Elements and attributes that are not known to be harmless are left out: scripts, styles, event handlers, frames, forms and
//! everything that is loaded from elsewhere. Their text stays, except that of scripts and the like. Open elements are closed
//! at the end, so that the page around it stays whole.

use std::collections::BTreeSet;

/// What addresses become.
pub trait Links {
    /// The address of the page of a class; `None` if there is none.
    fn class(&mut self, name: &str) -> Option<String>;
    /// The address of a file of a package, by its `modelica://` address; `None` if it cannot be had.
    fn resource(&mut self, uri: &str, is_image: bool) -> Option<String>;
}

/// Elements that may be used.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "address",
    "b",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
];

/// Elements whose content is left out as well.
const HIDDEN: &[&str] = &[
    "script",
    "style",
    "title",
    "iframe",
    "object",
    "embed",
    "applet",
    "svg",
    "math",
    "template",
    "noscript",
    "textarea",
    "select",
    "audio",
    "video",
    "xmp",
    "noembed",
    "noframes",
    "plaintext",
];

const VOID: &[&str] = &["br", "hr", "img", "col"];

/// Attributes with plain values.
const PLAIN: &[&str] = &[
    "align",
    "valign",
    "border",
    "cellpadding",
    "cellspacing",
    "colspan",
    "rowspan",
    "width",
    "height",
    "alt",
    "title",
    "start",
    "type",
];

/// Elements that end a paragraph.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "ul",
    "ol",
    "dl",
    "table",
    "pre",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "hr",
    "center",
    "figure",
    "address",
];

/// Begins ids of the documentation, so that they are not those of the page.
const PREFIX: &str = "d-";

/// Harmless HTML.
pub fn sanitize(html: &str, links: &mut dyn Links) -> String {
    let ids = ids(html);
    let mut out = Output { text: String::new(), open: Vec::new() };
    let mut parts = Parts { rest: html };
    while let Some(part) = parts.next() {
        match part {
            Part::Text(text) => out.text.push_str(&plain(text)),
            Part::Close(name) => out.close(&name),
            Part::Open(name, _) if HIDDEN.contains(&name.as_str()) => parts.skip_behind(&name),
            Part::Open(name, attributes) if ELEMENTS.contains(&name.as_str()) => {
                out.open(&name, &attributes, &ids, links)
            }
            Part::Open(..) => {}
        }
    }
    while let Some(name) = out.open.pop() {
        out.text.push_str(&format!("</{name}>"));
    }
    out.text
}

struct Output {
    text: String,
    open: Vec<String>,
}

impl Output {
    fn open(&mut self, name: &str, attributes: &[(String, String)], ids: &BTreeSet<String>, links: &mut dyn Links) {
        if BLOCKS.contains(&name) && self.open.last().is_some_and(|open| open == "p") {
            self.close("p");
        }
        let mut written = String::new();
        let mut has_source = false;
        let mut has_id = false;
        for (key, value) in attributes {
            let address = match (name, key.as_str()) {
                ("a", "href") => link(value, ids, links),
                ("img", "src") => links.resource(value, true),
                (_, "id" | "name") if !has_id && !value.is_empty() => {
                    has_id = true;
                    written.push_str(&format!(" id=\"{}\"", escaped(&format!("{PREFIX}{value}"))));
                    continue;
                }
                (_, key) if PLAIN.contains(&key) => {
                    written.push_str(&format!(" {key}=\"{}\"", escaped(value)));
                    continue;
                }
                _ => None,
            };
            let Some(address) = address else { continue };
            has_source |= key == "src";
            written.push_str(&format!(" {key}=\"{}\"", escaped(&address)));
            if address.starts_with("http") {
                written.push_str(" rel=\"noopener noreferrer\"");
            }
        }
        if name == "img" && !has_source {
            // An image that cannot be had is its description.
            let alt = attributes.iter().find(|(key, _)| key == "alt").map_or("", |(_, value)| value.as_str());
            if !alt.is_empty() {
                self.text.push_str(&format!("[{}]", escaped(alt)));
            }
            return;
        }
        self.text.push_str(&format!("<{name}{written}>"));
        if !VOID.contains(&name) {
            self.open.push(name.to_owned());
        }
    }

    /// Closes the innermost element of this name and those in it; an end without a beginning is left out.
    fn close(&mut self, name: &str) {
        let Some(at) = self.open.iter().rposition(|open| open == name) else { return };
        while self.open.len() > at {
            if let Some(inner) = self.open.pop() {
                self.text.push_str(&format!("</{inner}>"));
            }
        }
    }
}

/// What an address becomes; `None` leaves it out.
fn link(address: &str, ids: &BTreeSet<String>, links: &mut dyn Links) -> Option<String> {
    let address = address.trim();
    if let Some(id) = address.strip_prefix('#') {
        return ids.contains(id).then(|| format!("#{PREFIX}{id}"));
    }
    let lower = address.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("mailto:") {
        return Some(address.to_owned());
    }
    let path = lower.strip_prefix("modelica:").map(|rest| &address[address.len() - rest.len()..])?;
    let path = path.trim_start_matches('/');
    let (path, fragment) = path.split_once('#').unwrap_or((path, ""));
    if path.contains('/') {
        return links.resource(address, false);
    }
    let page = links.class(path)?;
    match fragment {
        "info" | "revisions" | "diagram" => Some(format!("{page}#{fragment}")),
        _ => Some(page),
    }
}

/// The ids that links inside of the documentation can lead to.
fn ids(html: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut parts = Parts { rest: html };
    while let Some(part) = parts.next() {
        match part {
            Part::Open(name, _) if HIDDEN.contains(&name.as_str()) => parts.skip_behind(&name),
            Part::Open(name, attributes) if ELEMENTS.contains(&name.as_str()) && name != "img" => {
                let id =
                    attributes.into_iter().find(|(key, value)| (key == "id" || key == "name") && !value.is_empty());
                found.extend(id.map(|(_, value)| value));
            }
            _ => {}
        }
    }
    found
}

enum Part<'a> {
    Text(&'a str),
    /// Name in lower case, attributes with their values decoded.
    Open(String, Vec<(String, String)>),
    Close(String),
}

/// Splits HTML into texts and tags.
struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Parts<'a> {
    fn next(&mut self) -> Option<Part<'a>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let Some(at) = self.rest.find('<') else {
                return Some(Part::Text(std::mem::take(&mut self.rest)));
            };
            if at > 0 {
                let (text, rest) = self.rest.split_at(at);
                self.rest = rest;
                return Some(Part::Text(text));
            }
            if let Some(comment) = self.rest.strip_prefix("<!--") {
                self.rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            if self.rest.starts_with("<!") || self.rest.starts_with("<?") {
                self.rest = self.rest.find('>').map_or("", |end| &self.rest[end + 1..]);
                continue;
            }
            let is_close = self.rest.starts_with("</");
            let name_at = if is_close { 2 } else { 1 };
            if !self.rest[name_at..].starts_with(|c: char| c.is_ascii_alphabetic()) {
                // A smaller-than sign that somebody forgot to write as an entity.
                let (text, rest) = self.rest.split_at(1);
                self.rest = rest;
                return Some(Part::Text(text));
            }
            let (name, attributes) = self.tag(name_at);
            return Some(if is_close { Part::Close(name) } else { Part::Open(name, attributes) });
        }
    }

    /// Reads a tag from its name on; what is behind it is the rest.
    fn tag(&mut self, name_at: usize) -> (String, Vec<(String, String)>) {
        let rest = &self.rest[name_at..];
        let end = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(rest.len());
        let name = rest[..end].to_ascii_lowercase();
        let mut rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            if rest.is_empty() {
                break;
            }
            if let Some(behind) = rest.strip_prefix('>') {
                rest = behind;
                break;
            }
            let end = rest.find(|c: char| c.is_whitespace() || "=>/".contains(c)).unwrap_or(rest.len());
            // A sign that cannot begin a name is skipped.
            let end = if end == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { end };
            let key = rest[..end].to_ascii_lowercase();
            rest = rest[end..].trim_start();
            let mut value = "";
            if let Some(behind) = rest.strip_prefix('=') {
                let behind = behind.trim_start();
                let quote = behind.chars().next().filter(|c| "\"'".contains(*c));
                (value, rest) = match quote {
                    Some(quote) => match behind[1..].find(quote) {
                        Some(end) => (&behind[1..1 + end], &behind[end + 2..]),
                        None => (&behind[1..], ""),
                    },
                    None => {
                        let end = behind.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(behind.len());
                        behind.split_at(end)
                    }
                };
            }
            attributes.push((key, decoded(value)));
        }
        self.rest = rest;
        (name, attributes)
    }

    /// Goes behind the end of an element.
    fn skip_behind(&mut self, name: &str) {
        let lower = self.rest.to_ascii_lowercase();
        let end = format!("</{name}");
        self.rest = match lower.find(&end) {
            Some(at) => {
                let behind = &self.rest[at + end.len()..];
                behind.find('>').map_or("", |end| &behind[end + 1..])
            }
            None => "",
        };
    }
}

/// Text with entities left as they are, and everything else that could be a tag escaped.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' if entity_length(rest).is_none() => out.push_str("&amp;"),
            c if c.is_control() && !c.is_whitespace() => {}
            c => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The length of an entity at the beginning of a text.
fn entity_length(text: &str) -> Option<usize> {
    let end = text.char_indices().take(12).find(|(_, c)| *c == ';')?.0;
    let inner = text.get(1..end)?;
    let is_name = !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric());
    let is_number = inner
        .strip_prefix('#')
        .is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_hexdigit() || c == 'x' || c == 'X'));
    (is_name || is_number).then_some(end + 1)
}

/// The value of an attribute with its entities resolved, as a browser would see it.
fn decoded(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(length) = entity_length(rest) else {
            out.push('&');
            rest = &rest[1..];
            continue;
        };
        let inner = &rest[1..length - 1];
        let number = inner.strip_prefix('#').and_then(|n| match n.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => n.parse().ok(),
        });
        match (inner, number.and_then(char::from_u32)) {
            (_, Some(c)) => out.push(c),
            ("amp", _) => out.push('&'),
            ("lt", _) => out.push('<'),
            ("gt", _) => out.push('>'),
            ("quot", _) => out.push('"'),
            ("apos", _) => out.push('\''),
            // Entities that spell an address of another kind.
            ("colon", _) => out.push(':'),
            ("Tab" | "NewLine", _) => {}
            _ => out.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

pub(crate) fn escaped(text: &str) -> String {
    saltus_diagram::svg::escaped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pages;

    impl Links for Pages {
        fn class(&mut self, name: &str) -> Option<String> {
            (name == "P.M").then(|| "P.M.html".to_owned())
        }

        fn resource(&mut self, uri: &str, _: bool) -> Option<String> {
            uri.starts_with("modelica://P/").then(|| "resources/x.png".to_owned())
        }
    }

    fn clean(html: &str) -> String {
        sanitize(html, &mut Pages)
    }

    #[test]
    fn formatting_links_and_images_stay() {
        assert_eq!(clean("<html><p>a <em>b</em> &lt; c</p></html>"), "<p>a <em>b</em> &lt; c</p>");
        assert_eq!(clean("<a href=\"modelica://P.M#info\">M</a>"), "<a href=\"P.M.html#info\">M</a>");
        assert_eq!(clean("<a href='Modelica://P.Missing'>M</a>"), "<a>M</a>");
        assert_eq!(clean("<img src=\"modelica://P/x.png\" alt=\"x\">"), "<img src=\"resources/x.png\" alt=\"x\">");
        assert_eq!(
            clean("<a name=\"t\"></a><a href=\"#t\">up</a><a href=\"#u\">no</a>"),
            "<a id=\"d-t\"></a><a href=\"#d-t\">up</a><a>no</a>"
        );
        assert_eq!(
            clean("<a href=\"https://example.org/?a=1&amp;b=2\">x</a>"),
            "<a href=\"https://example.org/?a=1&amp;b=2\" rel=\"noopener noreferrer\">x</a>"
        );
    }

    #[test]
    fn nothing_runs_and_nothing_is_fetched() {
        let attacks = [
            "<script>alert(1)</script>",
            "<SCRIPT SRC=//evil></SCRIPT>",
            "<scr<script>ipt>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<img src=\"https://evil/track.png\">",
            "<a href=\"javascript:alert(1)\">x</a>",
            "<a href=\"  java&#10;script:alert(1)\">x</a>",
            "<a href=\"&#106;avascript&colon;alert(1)\">x</a>",
            "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
            "<svg onload=alert(1)><circle/></svg>",
            "<iframe src=https://evil></iframe>",
            "<p style=\"background:url(https://evil)\" onclick=\"alert(1)\">x</p>",
            "<style>@import url(https://evil)</style>",
            "<link rel=stylesheet href=https://evil><base href=https://evil><meta http-equiv=refresh content=0>",
            "<form action=https://evil><input onfocus=alert(1) autofocus></form>",
            "<!--><script>alert(1)</script>-->",
            "<p title=\"&quot; onmouseover=&quot;alert(1)\">x</p>",
            "<img alt='\"><script>alert(1)</script>' src=\"modelica://P/x.png\">",
            "<a href=\"https://ok\" name='\"><script>'>x</a>",
            "<table background=\"https://evil\"><td>",
            "<math><mtext><script>alert(1)</script></mtext></math>",
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
            "<a\u{0}href=\"javascript:alert(1)\">",
            "<a href=\"https://ok&quot; onclick=&quot;alert(1)\">x</a>",
            "<iframe srcdoc='<script>alert(1)</script>'>",
            "<object data=x></object><embed src=x>",
            "<![CDATA[<script>alert(1)</script>]]>",
            "<p/onclick=alert(1)>x",
            "<script>never closed",
            "</p><script x='</script>'>alert(1)</script>",
        ];
        for attack in attacks {
            let html = clean(attack);
            let tags: Vec<&str> = html.split('<').skip(1).filter_map(|tag| tag.split('>').next()).collect();
            for tag in tags {
                let lower = tag.to_ascii_lowercase();
                // Values are quoted; outside of them no handler and no foreign address may stand.
                let outside: String = lower.split('"').step_by(2).collect();
                assert!(
                    !outside.contains("on") || !outside.contains("on=") && !outside.contains("error"),
                    "{attack} ⇒ {html}"
                );
                assert!(!outside.contains("script"), "{attack} ⇒ {html}");
                let address = lower.split(" href=\"").nth(1).unwrap_or("");
                assert!(address.is_empty() || address.starts_with("https://ok"), "{attack} ⇒ {html}");
                assert!(!lower.contains("src=\"http") && !outside.contains("style"), "{attack} ⇒ {html}");
            }
            assert!(!html.contains("evil") || html.contains("&lt;") || !html.contains("<img"), "{attack} ⇒ {html}");
        }
    }

    #[test]
    fn broken_markup_stays_inside() {
        assert_eq!(clean("<div><p>a<p>b</div></div>"), "<div><p>a</p><p>b</p></div>");
        assert_eq!(clean("a < b && c > d <"), "a &lt; b &amp;&amp; c &gt; d &lt;");
        assert_eq!(clean("<b>x"), "<b>x</b>");
        assert_eq!(clean("<a href=\"x"), "<a></a>");
        for text in
            ["</", "<a", "<a href", "<a href=", "<a/", "&", "&#", "<!", "<!--", "<p\u{e4}=1>", "<p \u{e4}>", "<\u{e4}>"]
        {
            clean(text);
        }
    }
}
