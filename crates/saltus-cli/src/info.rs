//! `saltus info CLASS`: what a class offers, with types, units, values and documentation.

use saltus::diagnostics;
use saltus_ide::{Analysis, ClassInfo, MemberInfo, SymbolKind};

use crate::list::Libraries;
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus info Saltus.Electrical\n  saltus info Motors.DC --library libraries\n  saltus info Ball --file Ball.mo"
)]
pub struct Arguments {
    /// The class, with its packages.
    class: String,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let session = arguments.libraries.open();
    session.class(Some(&arguments.class)).map_err(|error| screen.fail(&error))?;
    let info = Analysis::new(&session).info(&arguments.class);
    let info = info.ok_or_else(|| screen.fail(&diagnostics::no_class()))?;
    screen.print(&page(&info));
    Ok(Exit::Success)
}

fn page(info: &ClassInfo) -> String {
    let mut page = format!("{} {}\n", info.words, info.name);
    if !info.description.is_empty() {
        page += &format!("  {}\n", info.description);
    }
    if !info.bases.is_empty() {
        page += &format!("  extends {}\n", info.bases.join(", "));
    }
    let parameters = |m: &&MemberInfo| matches!(m.kind, SymbolKind::Parameter | SymbolKind::Constant);
    let is_value = |m: &&MemberInfo| parameters(m);
    let is_connector = |m: &&MemberInfo| m.is_connector && !parameters(m);
    let is_rest = |m: &&MemberInfo| !m.is_connector && !parameters(m);
    section(&mut page, "Parameters", info.members.iter().filter(is_value));
    section(&mut page, "Connectors", info.members.iter().filter(is_connector));
    section(&mut page, "Variables and components", info.members.iter().filter(is_rest));
    if !info.classes.is_empty() {
        page += "\nClasses\n";
        for class in &info.classes {
            page += format!("  {}  {}  {}", class.name, class.words, class.description).trim_end();
            page.push('\n');
        }
    }
    if !info.documentation.is_empty() {
        page += &format!("\n{}\n", info.documentation);
    }
    page
}

fn section<'a>(page: &mut String, title: &str, members: impl Iterator<Item = &'a MemberInfo>) {
    let rows: Vec<[String; 4]> = members
        .map(|m| {
            let value = if m.value.is_empty() { String::new() } else { format!("= {}", m.value) };
            let unit = if m.unit.is_empty() { String::new() } else { format!("[{}]", m.unit) };
            [m.name.clone(), m.type_text.clone(), format!("{value} {unit}").trim().to_owned(), m.description.clone()]
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    *page += &format!("\n{title}\n");
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name, kind, value) = (width(0), width(1), width(2));
    for row in &rows {
        let line = format!("  {:name$}  {:kind$}  {:value$}  {}", row[0], row[1], row[2], row[3]);
        *page += line.trim_end();
        page.push('\n');
    }
}
