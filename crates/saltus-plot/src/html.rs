//! A page that needs nothing but a browser: the numbers of the chart and a script that draws them.

use std::fmt::Write;

use crate::{COLOURS, Chart, Curve};

const PAGE: &str = include_str!("page.html");

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

fn chart_json(chart: &Chart) -> String {
    let mut json = String::from("{\"title\":");
    string(&mut json, &chart.title);
    json.push_str(",\"events\":");
    numbers(&mut json, &chart.events);
    json.push_str(",\"stretches\":[");
    for (i, machine) in chart.stretches.iter().enumerate() {
        json.push_str(if i > 0 { ",{\"name\":" } else { "{\"name\":" });
        string(&mut json, &machine.name);
        json.push_str(",\"each\":[");
        for (k, (from, to, name)) in machine.each.iter().enumerate() {
            json.push_str(if k > 0 { ",[" } else { "[" });
            let mut both = String::new();
            numbers(&mut both, &[*from, *to]);
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
        json.push_str(",\"bands\":[");
        for (k, band) in panel.bands.iter().enumerate() {
            json.push_str(if k > 0 { ",{" } else { "{" });
            for (name, values) in [("\"t\":", &band.times), (",\"low\":", &band.low), (",\"high\":", &band.high)] {
                json.push_str(name);
                numbers(&mut json, values);
            }
            json.push('}');
        }
        json.push_str("],\"curves\":[");
        for (k, curve) in panel.curves.iter().enumerate() {
            json.push_str(if k > 0 { "," } else { "" });
            curve_json(&mut json, curve);
        }
        json.push_str("]}");
    }
    json.push_str("]}");
    json
}

fn curve_json(json: &mut String, curve: &Curve) {
    json.push_str("{\"name\":");
    string(json, &curve.name);
    let _ = write!(json, ",\"stepped\":{},\"reference\":{},\"t\":", curve.is_stepped, curve.is_reference);
    numbers(json, &curve.times);
    json.push_str(",\"y\":");
    numbers(json, &curve.values);
    json.push('}');
}

/// Nine digits are more than a screen can show at any zoom that makes sense.
fn numbers(json: &mut String, values: &[f64]) {
    json.push('[');
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            json.push(',');
        }
        if !value.is_finite() {
            json.push_str("null");
        } else if value.fract() == 0.0 && value.abs() < 1e9 {
            let _ = write!(json, "{value}");
        } else {
            let _ = write!(json, "{value:.9e}");
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
}
