//! What is told of a study at its end: pictures, linear models, the report, the summary.

use std::path::Path;

use saltus::diagnostics;
use saltus::study::{Method, Plot};
use saltus_plot::{Chart, Curve};
use serde_json::{Value, json};

use super::making::{All, Made};
use crate::summary::{duration, plural, short};
use crate::write::write;
use crate::{Exit, Screen, chart, linearize};

impl All<'_> {
    /// Pictures, linear models, the report and the summary.
    pub fn finish(&self, made: Made, is_quiet: bool, screen: &Screen) -> Result<Exit, Exit> {
        self.warn_of_gaps(&made, screen);
        if made.n_ok > 0 {
            self.study
                .plots
                .iter()
                .zip(&self.paths.plots)
                .try_for_each(|(plot, path)| self.draw(plot, path, &made, screen))?;
        }
        self.write_linearizations(&made, screen)?;
        if let Some(path) = &self.paths.report {
            write(path, &format!("{:#}\n", self.report(&made)), screen)?;
        }
        if !is_quiet {
            self.say(&made, screen);
        }
        for (i, why) in made.failures.iter().filter(|_| self.n > 1) {
            screen.note(&format!("run {i} with {} failed: {why}", self.label(&self.variation.points.at(*i))));
        }
        if made.n_failed > made.failures.len() {
            screen.note(&format!("… and {} more", made.n_failed - made.failures.len()));
        }
        let is_done = made.n_failed == 0 && !made.is_interrupted;
        Ok(if is_done { Exit::Success } else { Exit::RunTimeFailure })
    }

    fn write_linearizations(&self, made: &Made, screen: &Screen) -> Result<(), Exit> {
        for (i, path) in self.paths.linearizations.iter().enumerate() {
            let found: Vec<Value> = made
                .linearizations
                .iter()
                .filter(|(k, _)| *k == i)
                .map(|(_, found)| linearize::to_json(self.runner.model.name(), found))
                .collect();
            if found.is_empty() && made.n_ok > 0 {
                let why = "nothing was linearised: its times or events were not reached";
                screen.show(&diagnostics::not_found(self.study.linearizations[i].span, why), &self.study.sources);
            }
            if let Some(path) = path {
                write(path, &format!("{:#}\n", Value::Array(found)), screen)?;
            }
        }
        Ok(())
    }

    fn draw(&self, plot: &Plot, path: &Path, made: &Made, screen: &Screen) -> Result<(), Exit> {
        let title = plot.title.clone().unwrap_or_else(|| match self.study.title.as_str() {
            "" => self.runner.model.name().to_owned(),
            title => title.to_owned(),
        });
        let mut picture = match &plot.x {
            Some(x) => {
                let column = |name: &String| made.columns.iter().find(|(n, _)| n == name).map(|(_, c)| c.clone());
                let mut chart = Chart::new("");
                for name in &plot.y {
                    let pairs = column(x).unwrap_or_default().into_iter().zip(column(name).unwrap_or_default());
                    let mut pairs: Vec<(f64, f64)> = pairs.filter(|(x, _)| !x.is_nan()).collect();
                    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
                    let (xs, ys) = pairs.into_iter().unzip();
                    chart.add("", Curve::new(name, xs, ys));
                }
                chart.x_name = x.clone();
                chart
            }
            None => {
                let mut chart = Chart::new("");
                for (label, results) in &made.trajectories {
                    let one = chart::chart(results, &plot.y, self.n == 1, screen)?;
                    for panel in one.panels {
                        for mut curve in panel.curves {
                            if !label.is_empty() {
                                curve.name = format!("{} ({label})", curve.name);
                            }
                            chart.add(&panel.unit, curve);
                        }
                    }
                    if self.n == 1 {
                        (chart.events, chart.stretches) = (one.events, one.stretches);
                    }
                }
                chart
            }
        };
        picture.title = title;
        chart::draw(&picture, Some(path), screen)
    }

    fn report(&self, made: &Made) -> Value {
        let named = made.columns.iter().zip(&made.sums).filter(|(_, sum)| sum.n > 0);
        let columns: serde_json::Map<String, Value> = named
            .map(|((name, _), sum)| (name.clone(), if self.n == 1 { number(sum.low) } else { sum.to_json() }))
            .collect();
        let failures: Vec<Value> = made.failures.iter().map(|(i, why)| json!({ "run": i, "why": why })).collect();
        let linear: Vec<Value> =
            made.linearizations.iter().map(|(_, found)| linearize::to_json(self.runner.model.name(), found)).collect();
        json!({
            "title": self.study.title,
            "model": self.runner.model.name(),
            "points": self.n,
            "ok": made.n_ok,
            "failed": made.n_failed,
            "interrupted": made.is_interrupted,
            "simulations": made.n_simulations,
            "compilations": made.n_programs,
            "seconds": made.took.as_secs_f64(),
            "values": columns,
            "phase_ends": made.ends,
            "remarks": made.remarks.iter().map(|(i, why)| json!({ "run": i, "remark": why })).collect::<Vec<_>>(),
            "failures": failures,
            "linearizations": linear,
        })
    }

    fn say(&self, made: &Made, screen: &Screen) {
        if !self.study.title.is_empty() {
            screen.say(&self.study.title);
        }
        let width = made.columns.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for ((name, _), sum) in made.columns.iter().zip(&made.sums).filter(|(_, sum)| sum.n > 0) {
            let text = match self.n {
                1 => format!("{}", sum.low),
                _ => format!("{} … {}, mean {}", short(sum.low), short(sum.high), short(sum.mean())),
            };
            screen.say(&format!("  {name:width$}  {text}"));
        }
        for (i, why) in &made.remarks {
            screen.say(&format!("  run {i}: {why}"));
        }
        for (_, found) in &made.linearizations {
            let n = found.states.len() as u64;
            let values = found.eigenvalues.as_deref().unwrap_or_default();
            let values: Vec<String> = values.iter().map(|(re, im)| complex(*re, *im)).collect();
            screen.say(&format!(
                "  linear model at {}: {}, eigenvalues {}",
                short(found.time),
                plural(n, "state"),
                values.join(", ")
            ));
        }
        let how = match self.runner.method() {
            Method::CompiledOnce => plural(made.n_programs as u64, "compilation"),
            Method::CompiledEach { why } => format!("{} ({why})", plural(made.n_programs as u64, "compilation")),
        };
        let threads = if self.n > 1 { format!(" on {} threads", self.jobs) } else { String::new() };
        let runs = plural(made.n_simulations as u64, "run");
        let mut line = format!("{runs} in {}{threads}, {how}, {} failed", duration(made.took), made.n_failed);
        if made.is_interrupted {
            line.push_str(&format!(", interrupted after {} of {}", made.n_ok + made.n_failed, self.n));
        }
        screen.say(&line);
    }
}

fn complex(re: f64, im: f64) -> String {
    if im == 0.0 {
        short(re)
    } else {
        format!("{} {} {}i", short(re), if im < 0.0 { '-' } else { '+' }, short(im.abs()))
    }
}

pub fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}
