//! A page that needs nothing but a browser: the numbers of the chart and a script that draws them.
//!
//! Long results are decimated so that a page stays below two megabytes, and it says so: the spikes of a curve are there, the rows between
//! them are not.

use std::fmt::Write;

use crate::{COLOURS, Chart, Curve, decimate};

const PAGE: &str = include_str!("page.html");
/// Points of all curves of a page together.
const MOST_POINTS: usize = 64_000;
/// Marks of events in a page, at most one in each of so many parts of the time span.
const MOST_EVENTS: usize = 5_000;
/// However many curves there are, each has that many columns.
const FEWEST_COLUMNS: usize = 200;

/// The chart as a page: drag to zoom, double-click to see all, move to read values, click a name to hide its curve.
pub fn html(chart: &Chart) -> String {
    let colours: Vec<String> = COLOURS.iter().map(|c| format!("\"{c}\"")).collect();
    let data = format!("{{\"colours\":[{}],\"chart\":{}}}", colours.join(","), chart_json(chart));
    PAGE.replace("{{title}}", &escape(&chart.title)).replace("{{data}}", &script_json(&data))
}

/// Text as it may stand between tags and in attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// JSON as it may stand inside of a script element.
pub fn script_json(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// How many columns each curve may have; a band counts as much as its two borders.
fn columns(chart: &Chart) -> usize {
    let n_lines: usize = chart.panels.iter().map(|p| p.curves.len() + 2 * p.bands.len()).sum();
    (MOST_POINTS / 4 / n_lines.max(1)).max(FEWEST_COLUMNS)
}

/// At most one event in each column of the page.
fn marks(chart: &Chart) -> Vec<f64> {
    let (from, to) = chart.time_span();
    let column = |t: f64| ((t - from) / (to - from) * MOST_EVENTS as f64).floor();
    let mut marks = chart.events.clone();
    if marks.len() > MOST_EVENTS {
        marks.dedup_by(|later, earlier| column(*later) == column(*earlier));
    }
    marks
}

fn chart_json(chart: &Chart) -> String {
    let columns = columns(chart);
    let longest = chart.panels.iter().flat_map(|p| &p.curves).map(|c| c.times.len()).max().unwrap_or(0);
    let mut json = String::from("{\"title\":");
    string(&mut json, &chart.title);
    json.push_str(",\"xName\":");
    string(&mut json, chart.x_label());
    let _ = write!(json, ",\"xy\":{},\"rows\":{longest},\"columns\":{columns}", chart.is_xy);
    let _ = write!(json, ",\"decimated\":{}", longest > 4 * columns);
    let _ = write!(json, ",\"nEvents\":{},\"events\":", chart.events.len());
    numbers(&mut json, marks(chart).into_iter());
    json.push_str(",\"stretches\":[");
    for (i, machine) in chart.stretches.iter().enumerate() {
        json.push_str(if i > 0 { ",{\"name\":" } else { "{\"name\":" });
        string(&mut json, &machine.name);
        json.push_str(",\"each\":[");
        for (k, (from, to, name)) in machine.each.iter().enumerate() {
            json.push_str(if k > 0 { ",[" } else { "[" });
            let mut both = String::new();
            numbers(&mut both, [*from, *to].into_iter());
            json.push_str(both.trim_start_matches('[').trim_end_matches(']'));
            json.push(',');
            string(&mut json, name);
            json.push(']');
        }
        json.push_str("]}");
    }
    json.push(']');
    json.push_str(",\"panels\":[");
    for (i, panel) in chart.panels.iter().enumerate() {
        json.push_str(if i > 0 { ",{\"unit\":" } else { "{\"unit\":" });
        string(&mut json, &panel.unit);
        json.push_str(",\"label\":");
        string(&mut json, &panel.axis_label());
        json.push_str(",\"bands\":[");
        for (k, band) in panel.bands.iter().enumerate() {
            json.push_str(if k > 0 { ",{" } else { "{" });
            let mut kept = kept_rows(chart, &band.times, &band.low, columns);
            kept.extend(kept_rows(chart, &band.times, &band.high, columns));
            kept.sort_unstable();
            kept.dedup();
            for (name, values) in [("\"t\":", &band.times), (",\"low\":", &band.low), (",\"high\":", &band.high)] {
                json.push_str(name);
                numbers(&mut json, kept.iter().map(|&i| values[i]));
            }
            json.push('}');
        }
        json.push_str("],\"curves\":[");
        for (k, curve) in panel.curves.iter().enumerate() {
            json.push_str(if k > 0 { "," } else { "" });
            curve_json(&mut json, curve, &kept_rows(chart, &curve.times, &curve.values, columns));
        }
        json.push_str("]}");
    }
    json.push_str("]}");
    json
}

fn kept_rows(chart: &Chart, times: &[f64], values: &[f64], columns: usize) -> Vec<usize> {
    let (from, to) = chart.time_span();
    match chart.is_xy {
        true => decimate::along(times, values, 4 * columns),
        false => decimate::rows(times, values, from, to, columns),
    }
}

fn curve_json(json: &mut String, curve: &Curve, kept: &[usize]) {
    json.push_str("{\"name\":");
    string(json, &curve.name);
    let _ = write!(json, ",\"stepped\":{},\"reference\":{},\"t\":", curve.is_stepped, curve.is_reference);
    numbers(json, kept.iter().map(|&i| curve.times[i]));
    json.push_str(",\"y\":");
    numbers(json, kept.iter().map(|&i| curve.values[i]));
    json.push('}');
}

/// Ten digits are more than a screen can show at any zoom that makes sense.
fn numbers(json: &mut String, values: impl Iterator<Item = f64>) {
    json.push('[');
    for (i, value) in values.enumerate() {
        if i > 0 {
            json.push(',');
        }
        if !value.is_finite() {
            json.push_str("null");
        } else if value.fract() == 0.0 && value.abs() < 1e9 {
            let _ = write!(json, "{value}");
        } else {
            let rounded = format!("{value:.9e}").parse().unwrap_or(value);
            let (plain, scientific) = (format!("{rounded}"), format!("{rounded:e}"));
            json.push_str(if plain.len() <= scientific.len() { &plain } else { &scientific });
        }
    }
    json.push(']');
}

fn string(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            c if (c as u32) < 0x20 => {
                let _ = write!(json, "\\u{:04x}", c as u32);
            }
            c => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_page() {
        let mut chart = Chart::new("</title><script>alert(1)</script>");
        chart.add("\"", Curve::new("'</script>\n", vec![0.0], vec![f64::NAN]));
        let page = html(&chart);
        assert_eq!(page.matches("</script>").count(), 1, "{page}");
        assert!(page.contains("\"y\":[null]") && page.contains("\\u003c/script>\\u000a"));
    }

    #[test]
    fn a_long_result_is_a_small_page_that_says_so() {
        let times: Vec<f64> = (0..720_000).map(|i| f64::from(i) * 0.01).collect();
        let mut chart = Chart::new("Long");
        for (name, frequency) in [("a", 1.0), ("b", 7.7), ("c", 91.3)] {
            let mut values: Vec<f64> = times.iter().map(|t| (frequency * t).sin()).collect();
            values[123_456] = 5.25;
            chart.add("", Curve::new(name, times.clone(), values));
        }
        chart.events = times.clone();
        let page = html(&chart);
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
        assert!(page.contains("\"decimated\":true") && page.contains("\"nEvents\":720000"));
        assert_eq!(page.matches(",5.25,").count(), 3, "the spike of each curve");
        chart.is_xy = true;
        assert!(html(&chart).len() < 2_000_000);
        let mut short = Chart::new("Short");
        short.add("", Curve::new("a", times[..100].to_vec(), times[..100].to_vec()));
        assert!(html(&short).contains("\"decimated\":false"));
    }
}
