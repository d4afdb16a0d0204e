//! HTML of documentation without anything that could run, load or leave: elements and attributes are those of a list, everything else is
//! left out. Links lead to classes of the same session (`modelica://`) or, marked as such, to the web, where only a click goes.

/// Elements of text, tables and lists.
const ELEMENTS: [&str; 45] = [
    "p",
    "br",
    "hr",
    "b",
    "i",
    "u",
    "em",
    "strong",
    "code",
    "tt",
    "pre",
    "sub",
    "sup",
    "small",
    "big",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "td",
    "th",
    "caption",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "cite",
    "span",
    "div",
    "center",
    "a",
    "kbd",
    "var",
    "samp",
    "s",
];
/// Elements whose content is not text of the document.
const DROPPED: [&str; 12] = [
    "script", "style", "iframe", "object", "embed", "noscript", "template", "svg", "math", "title", "textarea",
    "select",
];
const EMPTY: [&str; 2] = ["br", "hr"];
/// Attributes that say how something looks.
const ATTRIBUTES: [&str; 6] = ["colspan", "rowspan", "align", "valign", "border", "width"];

/// The same document, harmless.
pub fn sanitize(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut open: Vec<&'static str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        push_text(&mut out, &rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let Some((tag, behind)) = tag(rest) else {
            out.push_str("&lt;");
            rest = &rest[1..];
            continue;
        };
        rest = behind;
        if !tag.is_end && DROPPED.contains(&tag.name.as_str()) {
            rest = behind_element(rest, &tag.name);
            continue;
        }
        let Some(name) = ELEMENTS.iter().copied().find(|name| *name == tag.name) else { continue };
        if tag.is_end {
            close(&mut out, &mut open, name);
        } else {
            begin(&mut out, name, &tag);
            if !EMPTY.contains(&name) {
                open.push(name);
            }
        }
    }
    push_text(&mut out, rest);
    open.iter().rev().for_each(|name| out.push_str(&format!("</{name}>")));
    out
}

struct Tag {
    name: String,
    is_end: bool,
    attributes: Vec<(String, String)>,
}

/// The tag at the beginning and what follows it; `None` if it is not one.
fn tag(text: &str) -> Option<(Tag, &str)> {
    let mut rest = text.strip_prefix('<')?;
    let is_end = rest.starts_with('/');
    rest = rest.strip_prefix('/').unwrap_or(rest);
    let is_declaration = rest.starts_with(['!', '?']);
    let n = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    if !is_declaration && !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let name = rest[..n].to_ascii_lowercase();
    rest = &rest[n..];
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if let Some(behind) = rest.strip_prefix('>') {
            return Some((Tag { name, is_end, attributes }, behind));
        }
        if rest.is_empty() {
            return Some((Tag { name, is_end, attributes }, ""));
        }
        let n = rest.find(|c: char| c.is_whitespace() || "=>/".contains(c)).unwrap_or(rest.len());
        let (attribute, behind) = rest.split_at(n.max(rest.chars().next().map_or(1, char::len_utf8)));
        let behind = behind.trim_start();
        let Some(value) = behind.strip_prefix('=').filter(|_| n > 0) else {
            rest = behind;
            continue;
        };
        let value = value.trim_start();
        let (value, behind) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = &value[1..];
                inner.split_once(quote).unwrap_or((inner, ""))
            }
            _ => value.split_at(value.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(value.len())),
        };
        attributes.push((attribute.to_ascii_lowercase(), value.to_owned()));
        rest = behind;
    }
}

/// Behind the end of an element whose content is dropped.
fn behind_element<'a>(text: &'a str, name: &str) -> &'a str {
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.find(&format!("</{name}")) else { return "" };
    text[at..].find('>').map_or("", |end| &text[at + end + 1..])
}

fn begin(out: &mut String, name: &'static str, tag: &Tag) {
    out.push('<');
    out.push_str(name);
    for (attribute, value) in &tag.attributes {
        if ATTRIBUTES.contains(&attribute.as_str()) && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'%') {
            out.push_str(&format!(" {attribute}=\"{value}\""));
        }
        if name == "a" && attribute == "href" {
            let address = decoded(value);
            if is_harmless(&address) {
                out.push_str(&format!(" href=\"{}\" rel=\"noopener noreferrer\" target=\"_blank\"", escaped(&address)));
            }
        }
    }
    out.push('>');
}

/// Without the signs that browsers ignore and that hide a scheme, as in `java&#10;script:`.
fn decoded(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find(';').filter(|end| *end < 12);
        let code = end.and_then(|end| match rest[..end].strip_prefix('#') {
            Some(number) => {
                let hex = number.strip_prefix(['x', 'X']);
                let code = hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
                code.and_then(char::from_u32)
            }
            None => [
                ("amp", '&'),
                ("lt", '<'),
                ("gt", '>'),
                ("quot", '"'),
                ("colon", ':'),
                ("tab", '\t'),
                ("newline", '\n'),
            ]
            .iter()
            .find(|(name, _)| rest[..end].eq_ignore_ascii_case(name))
            .map(|(_, c)| *c),
        });
        match (code, end) {
            (Some(code), Some(end)) => {
                out.push(code);
                rest = &rest[end + 1..];
            }
            _ => out.push('&'),
        }
    }
    out.push_str(rest);
    out.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}

fn is_harmless(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    if address.contains(|c: char| c.is_whitespace() || "\"'<>`".contains(c)) {
        return false;
    }
    address.starts_with("modelica://") || address.starts_with("https://") || address.starts_with("http://")
}

fn close(out: &mut String, open: &mut Vec<&'static str>, name: &'static str) {
    // An end without a beginning is left out; what is open inside of the element ends with it.
    if !open.contains(&name) {
        return;
    }
    while let Some(last) = open.pop() {
        out.push_str(&format!("</{last}>"));
        if last == name {
            return;
        }
    }
}

/// Entities stay, as far as they are some.
fn push_text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_tables_stay() {
        let html = "<html>\n<p>A <b>bold</b> &amp; <i>small</i> thing</p><table border=\"1\"><tr><td>x</td></tr></table></html>";
        let expected = "\n<p>A <b>bold</b> &amp; <i>small</i> thing</p><table border=\"1\"><tr><td>x</td></tr></table>";
        assert_eq!(sanitize(html), expected);
        assert_eq!(sanitize("a < b <= c & d"), "a &lt; b &lt;= c & d");
        assert_eq!(sanitize("<ul><li>a<li>b</ul>c"), "<ul><li>a<li>b</li></li></ul>c");
        let link = "<a href=\"modelica://P.Q\">Q</a>";
        assert!(sanitize(link).starts_with("<a href=\"modelica://P.Q\" "));
    }

    /// Nothing of this may reach a page: elements, handlers, schemes, hidden in every way that browsers forgive.
    #[test]
    fn nothing_runs_loads_or_leaves() {
        let attacks = [
            "<script>alert(1)</script>",
            "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
            "<scr<script>ipt>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<svg onload=alert(1)><a href='javascript:1'>x</a></svg>",
            "<p onclick=\"alert(1)\" style=\"background:url(//evil.example)\">x</p>",
            "<a href=\"javascript:alert(1)\">x</a>",
            "<a href=\"java&#10;script:alert(1)\">x</a>",
            "<a href=\" &#x6A;avascript&colon;alert(1)\">x</a>",
            "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
            "<a href=\"http://x\" onmouseover=alert(1)>x</a>",
            "<a href=\"http://x&quot; onclick=&quot;alert(1)\">x</a>",
            "<iframe src=//evil.example></iframe>",
            "<iframe srcdoc='<script>alert(1)</script>'>",
            "<link rel=stylesheet href=//evil.example/x.css>",
            "<meta http-equiv=refresh content='0;url=//evil.example'>",
            "<base href=//evil.example/>",
            "<form action=//evil.example><input name=a></form>",
            "<object data=x></object><embed src=x>",
            "<!--><script>alert(1)</script>-->",
            "<![CDATA[<script>alert(1)</script>]]>",
            "<p/onclick=alert(1)>x",
            "<td background=//evil.example/x.png width='expression(alert(1))'>",
            "<style>@import '//evil.example'</style>",
            "<script>never closed",
            "<p title='<script>alert(1)</script>'>",
            "</p><script x='</script>'>alert(1)</script>",
        ];
        for attack in attacks {
            let clean = sanitize(attack);
            let lower = clean.to_lowercase();
            for bad in [
                "<script",
                "<img",
                "<svg",
                "<iframe",
                "<link",
                "<meta",
                "<base",
                "<form",
                "<object",
                "<style",
                "javascript:",
                "data:",
                "style=",
                "src=",
            ] {
                assert!(!lower.contains(bad), "{attack} gave {clean}");
            }
            // No tag has an attribute that is not from the list.
            for piece in clean.split('<').skip(1) {
                let tag = piece.split('>').next().unwrap_or("");
                let names = tag.split_whitespace().skip(1).filter_map(|a| a.split_once('=')).map(|(name, _)| name);
                for name in names {
                    assert!(
                        ["href", "rel", "target"].contains(&name) || ATTRIBUTES.contains(&name),
                        "{attack} gave {clean}"
                    );
                }
            }
        }
    }

    #[test]
    fn any_text_ends() {
        for text in [
            "<",
            "</",
            "<a",
            "<a href",
            "<a href=",
            "<a href=\"",
            "<a/",
            "&",
            "&#",
            "<!",
            "<!--",
            "<p\u{e4}=1>",
            "<p \u{e4}>",
            "<\u{e4}>",
        ] {
            sanitize(text);
        }
    }
}
