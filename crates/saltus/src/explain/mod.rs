//! How a model was sorted, for people: the listing of `saltus explain` as text, as JSON and as a page with a picture.
//!
//! In: a [`Description`] of the back end and the source files. Out: texts. The listing follows Elmqvist, Cellier and Otter (1993):
//!
//! ```text
//! equations between events
//!    1  [source.v] = source.V                                Circuit.mo:12
//!    2  loop of 3 equations, linear, over switch.i
//!       | [r.u] = source.v - switch.u                        Circuit.mo:20
//!       | 0 = if switch.open then switch.i else switch.u     Circuit.mo:31
//! ```

pub mod configurations;
mod html;
mod json;
mod picture;
mod text;

use saltus_backend::describe::{BlockKind, BlockNote, Description, Order};
use saltus_base::{SourceMap, Span};

use crate::Profile;

pub use html::page;
pub use json::to_json;
pub use text::listing;

/// File name without its directories, and line.
pub(crate) fn place(sources: &SourceMap, span: Span) -> Option<String> {
    let file = sources.get(span.file)?;
    let name = file.path.rsplit(['/', '\\']).next().unwrap_or(&file.path);
    Some(format!("{name}:{}", file.lines.line_column(&file.text, span.start).line))
}

/// The part of a run that went into a block, between events or at them: ` 12.3 %`; empty if nothing is known.
fn share(profile: Option<&Profile>, block: &BlockNote, is_event: bool) -> String {
    let Some(profile) = profile else { return String::new() };
    let time = block.determines.iter().find_map(|name| profile.of_variable(name, is_event));
    time.map_or_else(String::new, |time| format!("{:.1} %", 100.0 * profile.share(time)))
}

/// Loops of an order.
fn loops(order: &Order) -> impl Iterator<Item = &BlockNote> {
    order.blocks.iter().filter(|block| block.kind != BlockKind::Assignment)
}

/// The lines about sizes.
fn size_lines(description: &Description) -> Vec<String> {
    let sizes = &description.sizes;
    let pair = |(equations, unknowns): (usize, usize)| format!("{equations} equations for {unknowns} unknowns");
    let mut lines = vec![
        format!("{} in scalar form", pair(sizes.scalar)),
        format!("{} without {} aliases", pair(sizes.without_aliases), description.aliases.len()),
    ];
    if sizes.reduced != sizes.without_aliases {
        lines.push(format!("{} after the reduction of the index", pair(sizes.reduced)));
    }
    let order = &description.continuous;
    let n_loops = loops(order).count();
    let largest = loops(order).map(|block| block.equations.len()).max().unwrap_or(0);
    let torn = loops(order).map(|block| block.torn.len()).max().unwrap_or(0);
    let mut line = format!("{} blocks between events, {n_loops} of them loops", order.blocks.len());
    if n_loops > 0 {
        line.push_str(&format!(", of at most {largest} equations and {torn} iteration variables"));
    }
    lines.push(line);
    lines
}

/// `loop of 5 equations, mixed, linear in the reals, over s`
fn block_title(block: &BlockNote) -> String {
    const MOST: usize = 8;
    let n = block.equations.len();
    let mut title = format!("loop of {n} equation{}, {}", if n == 1 { "" } else { "s" }, block.kind.name());
    if !block.torn.is_empty() {
        let shown: Vec<&str> = block.torn.iter().take(MOST).map(String::as_str).collect();
        title.push_str(&format!(", over {}", shown.join(", ")));
        if block.torn.len() > MOST {
            title.push_str(&format!(" and {} more", block.torn.len() - MOST));
        }
    }
    title
}
