//! The HTML of documentation annotations as Markdown: paragraphs, lists, code and links; everything else is its text.

use std::fmt::Write;

/// What fits into a tooltip.
const LONGEST: usize = 4_000;

pub fn to_markdown(html: &str) -> String {
    let mut out = Output::default();
    let mut rest = html;
    while !rest.is_empty() && out.text.len() < LONGEST {
        let next = rest.find(['<', '&']).unwrap_or(rest.len());
        out.words(&rest[..next]);
        rest = &rest[next..];
        if let Some(tag) = rest.strip_prefix("<!--") {
            rest = tag.find("-->").map_or("", |end| &tag[end + 3..]);
        } else if rest.starts_with('<') {
            let end = rest.find('>').map_or(rest.len(), |end| end + 1);
            out.tag(rest[..end].trim_matches(['<', '>']));
            rest = &rest[end..];
        } else if rest.starts_with('&') {
            let (text, length) = entity(rest);
            out.words(text);
            rest = &rest[length..];
        }
    }
    out.text.trim().to_owned()
}

#[derive(Default)]
struct Output {
    text: String,
    is_preformatted: bool,
    /// Address of the link that is open.
    link: Option<String>,
}

impl Output {
    fn words(&mut self, text: &str) {
        if self.is_preformatted {
            self.text.push_str(text);
            return;
        }
        for c in text.chars() {
            match c.is_whitespace() {
                false => self.text.push(c),
                true if self.text.is_empty() || self.text.ends_with([' ', '\n']) => {}
                true => self.text.push(' '),
            }
        }
    }

    fn begin(&mut self, with: &str) {
        let kept = self.text.trim_end().len();
        self.text.truncate(kept);
        if !self.text.is_empty() {
            self.text.push_str(with);
        }
    }

    fn tag(&mut self, tag: &str) {
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').find(|part| !part.is_empty()).unwrap_or("");
        let is_end = tag.starts_with('/');
        match (name.to_ascii_lowercase().as_str(), is_end) {
            ("p" | "div" | "table" | "ul" | "ol" | "dl" | "blockquote", _) => self.begin("\n\n"),
            ("br" | "tr" | "dd" | "dt", _) => self.begin("  \n"),
            ("li", false) => {
                let is_next = self.text.trim_end().rsplit('\n').next().is_some_and(|line| line.starts_with("- "));
                self.begin(if is_next { "\n" } else { "\n\n" });
                self.text.push_str("- ");
            }
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
                self.begin("\n\n");
                self.text.push_str("**");
            }
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", true) => self.text.push_str("**\n\n"),
            ("strong" | "b", _) => self.text.push_str("**"),
            ("em" | "i", _) => self.text.push('*'),
            ("code" | "var", _) if !self.is_preformatted => self.text.push('`'),
            ("pre", false) => {
                self.begin("\n\n");
                self.text.push_str("```\n");
                self.is_preformatted = true;
            }
            ("pre", true) => {
                self.is_preformatted = false;
                self.begin("\n");
                self.text.push_str("```\n\n");
            }
            ("a", false) => {
                self.link = attribute(tag, "href");
                if self.link.is_some() {
                    self.text.push('[');
                }
            }
            ("a", true) => {
                if let Some(link) = self.link.take() {
                    let _ = write!(self.text, "]({link})");
                }
            }
            _ => {}
        }
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let at = tag.to_ascii_lowercase().find(&format!("{name}="))? + name.len() + 1;
    let rest = tag.get(at..)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some(rest[1..].split(quote).next()?.replace(' ', "%20"))
}

/// The text of the entity at the beginning, and how many bytes it takes.
fn entity(text: &str) -> (&'static str, usize) {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&nbsp;", " "), ("&quot;", "\""), ("&deg;", "°")];
    known.iter().find(|(name, _)| text.starts_with(name)).map_or(("&", 1), |(name, c)| (c, name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_lists_and_links() {
        let html = "<html>\n<p>A <b>big</b>\nspring.</p><ul><li>one &lt; two</li><li><code>x</code></li></ul>\
            <p>See <a href=\"modelica://P.Q\">Q</a>.</p></html>";
        let expected = "A **big** spring.\n\n- one < two\n- `x`\n\nSee [Q](modelica://P.Q).";
        assert_eq!(to_markdown(html), expected);
    }

    #[test]
    fn broken_html_ends() {
        assert_eq!(to_markdown("a <b"), "a **");
        assert_eq!(to_markdown("a <!-- b"), "a");
        assert_eq!(to_markdown("&unknown; <"), "&unknown;");
    }
}
