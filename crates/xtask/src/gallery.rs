//! `docs/gallery/`: a page with a picture and a few sentences for each example of the shipped library.
//!
//! In: the files below `library/Saltus/Examples`. Out: `README.md` and one SVG for each example. What is drawn stands in the
//! `figures` of the example's documentation, the sentences in its `info`:
//!
//! ```text
//! Documentation(info = "<html><p>It falls. It bounces.</p></html>",
//!   figures = {Figure(plots = {Plot(curves = {Curve(y = h), Curve(y = v)})})})
//! ```
//!
//! An example without figures is one with an intended error; its message is shown instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::coverage::build;

#[derive(clap::Args)]
pub struct Options {
    /// Run only examples whose name contains this text; the page is not written then.
    #[arg(long, default_value = "")]
    filter: String,
    /// The program to run instead of a fresh release build.
    #[arg(long)]
    saltus: Option<PathBuf>,
}

struct Example {
    /// As in `E1999.BouncingBall1`.
    name: String,
    title: String,
    /// Paragraphs of the documentation.
    text: String,
    curves: Vec<String>,
    /// Its experiment says where output points lie.
    has_interval: bool,
}

pub fn run(root: &Path, options: &Options) -> Result<()> {
    let program = match &options.saltus {
        Some(path) => path.clone(),
        None => build(root)?,
    };
    let gallery = root.join("docs/gallery");
    fs::create_dir_all(&gallery)?;
    let scratch = gallery.join("result.mat");
    let mut page = String::from(HEAD);
    for (package, title) in packages(root)? {
        page.push_str(&format!("\n## {package}: {title}\n"));
        for example in examples(root, &package)?.iter().filter(|e| e.name.contains(&options.filter)) {
            println!("{}", example.name);
            page.push_str(&entry(&program, example, &gallery, &scratch)?);
        }
    }
    let _ = fs::remove_file(&scratch);
    if options.filter.is_empty() {
        fs::write(gallery.join("README.md"), page)?;
    }
    Ok(())
}

const HEAD: &str = "\
# Gallery

Every example of the library that comes with `saltus`, with its picture. Thin vertical lines are events. Written by
`cargo xtask gallery`; the words are those of the examples' documentation.
";

/// The part of the page for one example; draws its picture.
fn entry(program: &Path, example: &Example, gallery: &Path, scratch: &Path) -> Result<String> {
    let class = format!("Saltus.Examples.{}", example.name);
    let mut text = format!("\n### {}\n\n{}\n\n{}\n\n", example.name, example.title, example.text);
    let mut simulate = Command::new(program);
    simulate.args(["simulate", &class, "--quiet", "--output"]).arg(scratch);
    // As many points as a picture of this size shows, unless the example knows better.
    if !example.has_interval {
        simulate.args(["--intervals", "200"]);
    }
    let run = simulate.output().with_context(|| format!("cannot run {}", program.display()))?;
    let said = String::from_utf8_lossy(&run.stderr);
    if example.curves.is_empty() {
        if run.status.success() {
            bail!("{class}: has no figures, but no error either");
        }
        text.push_str(&format!("```text\n$ saltus simulate {class}\n{}\n```\n", said.trim_end()));
        return Ok(text);
    }
    if !run.status.success() {
        bail!("{class}: {said}");
    }
    let picture = format!("{}.svg", example.name);
    let mut plot = Command::new(program);
    plot.arg("plot").arg(scratch).args(&example.curves).args(["--title", &example.name, "--output"]);
    let drawn = plot.arg(gallery.join(&picture)).output()?;
    if !drawn.status.success() {
        bail!("{class}: {}", String::from_utf8_lossy(&drawn.stderr));
    }
    text.push_str(&format!("![{}]({picture})\n", example.title));
    Ok(text)
}

/// The packages of examples in their order, with their descriptions.
fn packages(root: &Path) -> Result<Vec<(String, String)>> {
    let directory = root.join("library/Saltus/Examples");
    let with_title = |name: &String| {
        let text = read(&directory.join(name).join("package.mo"))?;
        Ok((name.clone(), description(&text, "package", name)?))
    };
    order(&directory)?.iter().map(with_title).collect()
}

fn examples(root: &Path, package: &str) -> Result<Vec<Example>> {
    let directory = root.join("library/Saltus/Examples").join(package);
    let mut found = Vec::new();
    for name in order(&directory)? {
        let text = read(&directory.join(&name).with_extension("mo"))?;
        if !text.contains("partial model") {
            found.push(example(package, &name, &text).with_context(|| format!("{package}.{name}"))?);
        }
    }
    Ok(found)
}

fn example(package: &str, name: &str, text: &str) -> Result<Example> {
    let (_, info) = text.split_once("info = \"<html>").context("no documentation")?;
    let (info, _) = info.split_once("</html>").context("the documentation has no end")?;
    let curves = text.split("Curve(y = ").skip(1).filter_map(|rest| rest.split(')').next());
    Ok(Example {
        name: format!("{package}.{name}"),
        title: description(text, "model", name)?,
        text: plain(info),
        curves: curves.map(str::to_owned).collect(),
        has_interval: text.contains(", Interval = "),
    })
}

/// The string behind the name of a class.
fn description(text: &str, kind: &str, name: &str) -> Result<String> {
    let (_, rest) =
        text.split_once(&format!("{kind} {name} \"")).with_context(|| format!("{name} has no description"))?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

/// HTML with paragraphs and code as Markdown in one paragraph.
fn plain(html: &str) -> String {
    let text = html.replace("<code>", "`").replace("</code>", "`").replace("&gt;", ">").replace("&lt;", "<");
    let text = ["<p>", "</p>"].iter().fold(text, |text, tag| text.replace(tag, " "));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn order(directory: &Path) -> Result<Vec<String>> {
    let text = read(&directory.join("package.order"))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_curves_come_from_the_documentation() {
        let text = "model Ball \"It falls\"\n Real h;\n annotation (Documentation(info = \"<html><p>It <code>falls</code>.\nOn.</p></html>\",\n\
                    figures = {Figure(plots = {Plot(curves = {Curve(y = h), Curve(y = a.b[1])})})}));\nend Ball;";
        let found = example("P", "Ball", text).expect("an example");
        assert_eq!((found.name.as_str(), found.title.as_str()), ("P.Ball", "It falls"));
        assert_eq!(found.text, "It `falls`. On.");
        assert_eq!(found.curves, ["h", "a.b[1]"]);
        assert!(example("P", "Ball", "model Ball \"It falls\" end Ball;").is_err());
    }
}
