//! The page of a test run: counts, what changed, a table that can be searched, pictures of differences.

use std::fmt::Write;
use std::time::Duration;

use saltus::suite::{Status, Verdict};
use saltus_plot::escape;
use saltus_results::{Difference, Tube};

use crate::compare;
use crate::summary::{duration, short};
use crate::test::Change;

const PAGE: &str = include_str!("report.html");
/// Differences that are drawn, and signals of each.
const MOST_PICTURES: usize = 200;
const SIGNALS: usize = 2;

pub fn page(verdicts: &[Verdict], changes: Option<&[Change]>, tube: Tube, took: Duration) -> String {
    let mut rows = String::new();
    let mut n_pictures = 0;
    // What is bad comes first; the sort keeps the order of names among the others.
    let mut ordered: Vec<&Verdict> = verdicts.iter().collect();
    ordered.sort_by_key(|v| if v.status.is_good() { Status::Checked } else { v.status });
    for verdict in ordered {
        let has_room = n_pictures < MOST_PICTURES;
        n_pictures += usize::from(verdict.tables.is_some());
        row(&mut rows, verdict, changes, tube, has_room);
    }
    let summary = format!("{} models in {}", verdicts.len(), duration(took));
    PAGE.replace("{{summary}}", &escape(&summary))
        .replace("{{bar}}", &bar(verdicts))
        .replace("{{changes}}", &changed(changes))
        .replace("{{rows}}", &rows)
}

fn bar(verdicts: &[Verdict]) -> String {
    let mut bar = String::new();
    for status in Status::ALL {
        let n = verdicts.iter().filter(|v| v.status == status).count();
        if n > 0 {
            let name = status.name();
            let _ = write!(
                bar,
                "<button class=\"{name}\" style=\"flex:{n}\" data-status=\"{name}\"><b>{n}</b> {name}</button>"
            );
        }
    }
    bar
}

fn changed(changes: Option<&[Change]>) -> String {
    let Some(changes) = changes else { return String::new() };
    if changes.is_empty() {
        return "<p class=\"quiet\">Nothing changed since the baseline.</p>".to_owned();
    }
    let mut text = String::from("<h2>Since the baseline</h2><ul class=\"changes\">");
    for change in changes {
        let word = if change.is_worse() { "worse" } else { "better" };
        let _ = write!(
            text,
            "<li class=\"{word}\"><b>{word}</b> {}: {} → {}</li>",
            escape(&change.class),
            change.before.name(),
            change.now.name()
        );
    }
    text + "</ul>"
}

fn row(rows: &mut String, verdict: &Verdict, changes: Option<&[Change]>, tube: Tube, has_room: bool) {
    let status = verdict.status.name();
    let change = changes.unwrap_or_default().iter().find(|c| c.class == verdict.class);
    let mark = change.map_or(String::new(), |c| format!(" <em>was {}</em>", c.before.name()));
    let message = verdict.message.as_deref().map_or(String::new(), escape);
    let _ = write!(
        rows,
        "<tr data-status=\"{status}\"><td><span class=\"tag {status}\">{status}</span></td><td class=\"name\">{}{mark}\
         <div class=\"quiet\">{message}</div>",
        escape(&verdict.class)
    );
    if let (Some((reference, found)), Some(comparison)) = (&verdict.tables, &verdict.comparison) {
        let mut different: Vec<_> = comparison.different().collect();
        different.sort_by(|a, b| badness(&b.1).total_cmp(&badness(&a.1)));
        let n = different.len();
        let differ = if n == 1 { "1 signal differs".to_owned() } else { format!("{n} signals differ") };
        let _ = write!(rows, "<details><summary>{differ}</summary><table class=\"inner\">");
        for (name, difference) in different.iter().take(20) {
            let _ = write!(rows, "<tr><td>{}</td><td>{}</td></tr>", escape(name), describe(difference));
        }
        rows.push_str("</table>");
        let names: Vec<&str> = different.iter().map(|d| d.0.as_str()).take(SIGNALS).collect();
        let picture = compare::picture(reference, found, tube, &names);
        if has_room && !picture.panels.is_empty() {
            rows.push_str(&saltus_plot::svg(&picture));
        }
        rows.push_str("</details>");
    }
    let _ = writeln!(rows, "</td><td class=\"time\">{}</td></tr>", duration(verdict.time));
}

fn badness(difference: &Difference) -> f64 {
    match difference {
        Difference::Outside { worst, .. } => *worst,
        Difference::Missing => f64::INFINITY,
        Difference::None => 0.0,
    }
}

fn describe(difference: &Difference) -> String {
    match difference {
        Difference::None => String::new(),
        Difference::Missing => "missing".to_owned(),
        Difference::Outside { share, worst, at, .. } => {
            let worst = short((10.0 * worst).round() / 10.0);
            format!("{:.1} % outside, at most {worst} tube widths, at time {}", 100.0 * share, short(*at))
        }
    }
}
