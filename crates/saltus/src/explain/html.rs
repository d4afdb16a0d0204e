//! The description as one page without outside parts: sizes, picture, listing.

use std::fmt::Write;

use saltus_backend::describe::{BlockKind, BlockNote, Description, EventNote, Order, Role};
use saltus_base::{SourceMap, Span};

use super::{block_title, picture, place, share, size_lines};
use crate::Profile;

const STYLE: &str = "
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1d2129; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
details { margin: .5rem 0; } summary { cursor: pointer; font-weight: 600; }
table { border-collapse: collapse; width: 100%; } td { padding: .1rem .6rem .1rem 0; vertical-align: top; }
td.number, td.place { color: #6b7280; white-space: nowrap; } td.place { text-align: right; }
code { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
code b { color: #0b57d0; } tr.in td.number { border-right: 3px solid #c2410c; } tr.title td { color: #c2410c; }
svg { border: 1px solid #d1d5db; } svg .paper { fill: #fff; } svg path { fill: #334155; }
svg .loop { fill: #fde7d7; stroke: #c2410c; } svg .mixed { fill: #e7defa; stroke: #6d28d9; }
svg rect { stroke-width: 1px; vector-effect: non-scaling-stroke; }
p.key { color: #6b7280; }
@media (prefers-color-scheme: dark) { body { background: #14171c; color: #e5e7eb; } code b { color: #8ab4f8; } }
";

pub fn page(name: &str, description: &Description, sources: &SourceMap, profile: Option<&Profile>) -> String {
    let title = escape(name);
    let mut out = format!(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title>\
         <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n<ul>"
    );
    for line in size_lines(description) {
        let _ = write!(out, "<li>{}</li>", escape(&line));
    }
    out.push_str("</ul>\n");
    states(&mut out, description);
    if let Some(profile) = profile {
        let _ = writeln!(out, "<h2>Profile of a run</h2><pre>{}</pre>", escape(&profile.listing(sources)));
    }
    let between = |block: &BlockNote| share(profile, block, false);
    let at_events = |block: &BlockNote| share(profile, block, true);
    order(&mut out, "Equations between events", &description.continuous, sources, Some(&between));
    order(&mut out, "Equations at events", &description.events, sources, Some(&at_events));
    order(&mut out, "Initial system", &description.initial, sources, None);
    let decisions: Vec<_> =
        description.decisions.iter().map(|d| EventNote { text: d.text.clone(), span: d.span }).collect();
    notes(&mut out, "Initial conditions", &decisions, sources);
    notes(&mut out, "State events", &description.state_events, sources);
    notes(&mut out, "Time events", &description.time_events, sources);
    notes(&mut out, "Samples", &description.samples, sources);
    let aliases: Vec<_> = description
        .aliases
        .iter()
        .map(|a| EventNote { text: format!("{} = {}", a.name, a.value), span: Span::nowhere() })
        .collect();
    notes(&mut out, "Aliases", &aliases, sources);
    out.push_str("</body></html>\n");
    out
}

fn states(out: &mut String, description: &Description) {
    let _ = write!(out, "<h2>States ({})</h2><table>", description.states.len());
    for state in &description.states {
        row(out, "", "", &state.name, Some(&state.why));
    }
    for name in &description.dependent {
        row(out, "", "", name, Some("no state: constraints between states determine it"));
    }
    out.push_str("</table>\n");
}

/// Open if the shares of its blocks are of interest.
fn order(
    out: &mut String,
    title: &str,
    order: &Order,
    sources: &SourceMap,
    share: Option<&dyn Fn(&BlockNote) -> String>,
) {
    let n = order.blocks.len();
    let _ = write!(
        out,
        "<h2>{title}</h2>{}<p class='key'>Rows are equations, columns unknowns, in order of computation; frames are \
         loops.</p><details{}><summary>{n} blocks</summary><table>",
        picture::svg(order),
        if share.is_some() { " open" } else { "" }
    );
    for (i, block) in order.blocks.iter().enumerate() {
        let share = share.map_or_else(String::new, |share| share(block));
        let number = format!("{} {share}", i + 1).trim_end().to_owned();
        let is_loop = block.kind != BlockKind::Assignment;
        if is_loop {
            row(out, "title", &number, &block_title(block), None);
        }
        for equation in &block.equations {
            let role = match equation.role {
                Role::Solved => "",
                Role::Residual => "residual",
                Role::Discrete => "discrete",
                Role::Relation => "relation",
            };
            let (class, number) = if is_loop { ("in", role) } else { ("", number.as_str()) };
            row(out, class, number, &equation.text, place(sources, equation.span).as_deref());
        }
        if let (Some(coefficient), [unknown]) = (&block.coefficient, block.torn.as_slice()) {
            row(out, "in", "", &format!("coefficient of {unknown}: {coefficient}"), None);
        }
        for assignment in &block.solution {
            row(out, "in", "", &format!("solved: {assignment}"), None);
        }
    }
    out.push_str("</table></details>\n");
}

fn notes(out: &mut String, title: &str, notes: &[EventNote], sources: &SourceMap) {
    let _ = write!(out, "<details><summary>{title} ({})</summary><table>", notes.len());
    for note in notes {
        row(out, "", "", &note.text, place(sources, note.span).as_deref());
    }
    out.push_str("</table></details>\n");
}

/// One line; what is in brackets is set off.
fn row(out: &mut String, class: &str, number: &str, text: &str, place: Option<&str>) {
    let code = highlight(&escape(text));
    let place = escape(place.unwrap_or(""));
    let _ = write!(
        out,
        "<tr class='{class}'><td class='number'>{number}</td><td><code>{code}</code></td>\
         <td class='place'>{place}</td></tr>"
    );
}

/// `[x]` at the start of a name, not `a[1]`, is what an equation is solved for.
fn highlight(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut depth = 0usize;
    let mut is_marked = false;
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '[' if depth == 0 && !is_marked && !(before.is_alphanumeric() || matches!(before, '_' | ')' | '\'')) => {
                is_marked = true;
                out.push_str("<b>");
            }
            ']' if is_marked && depth == 0 => {
                is_marked = false;
                out.push_str("</b>");
            }
            _ => {
                depth = match c {
                    '[' => depth + 1,
                    ']' => depth.saturating_sub(1),
                    _ => depth,
                };
                out.push(c);
            }
        }
        before = c;
    }
    if is_marked {
        out.push_str("</b>");
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solved_variable_is_set_off_and_subscripts_are_not() {
        assert_eq!(highlight("[x[2]] = y[1] + 1"), "<b>x[2]</b> = y[1] + 1");
        assert_eq!(highlight("f(a)[2] = b"), "f(a)[2] = b");
    }
}
