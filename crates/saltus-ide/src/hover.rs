//! What there is to say about the name under the cursor: declaration, unit, value, description, documentation.

use std::fmt::Write;
use std::path::Path;

use saltus::Session;
use saltus_frontend::{Declaration, Scopes, Symbol};
use saltus_library::Library;
use saltus_library::annotations::{annotation_of, class_modification, named};
use saltus_syntax::ast::{self, ClassDef, ExprKind};

use crate::file::File;
use crate::html;
use crate::resolve::Meaning;
use crate::target::text_of;

/// What an editor shows beside the name.
#[derive(Clone, PartialEq, Debug)]
pub struct Hover {
    /// Markdown.
    pub text: String,
    /// The name, in bytes.
    pub start: u32,
    pub end: u32,
}

pub(crate) fn hover(session: &Session, path: &Path, offset: u32) -> Option<Hover> {
    let file = File::open(session, path)?;
    file.with_name_at(offset, |resolver, occurrence, meaning| {
        let text = match meaning? {
            Meaning::Symbol(symbol) => describe(&mut resolver.scopes, symbol)?,
            Meaning::Iterator(_) => code("Integer", file.library.text(occurrence.ident.name)) + "\nIndex of a loop",
            Meaning::Attribute(name) => format!("{}\n{}", code("", name), attribute_description(name)),
            Meaning::Builtin(builtin) => format!("{}\n{}", code("", builtin.signature), builtin.description),
        };
        Some(Hover { text, start: occurrence.ident.span.start, end: occurrence.ident.span.end })
    })
}

fn code(before: &str, text: &str) -> String {
    format!("```modelica\n{before}{}{text}\n```\n", if before.is_empty() { "" } else { " " })
}

/// The declaration as code, then what is known about it.
pub(crate) fn describe(scopes: &mut Scopes<'_>, symbol: Symbol) -> Option<String> {
    let library = scopes.library();
    let declaration = scopes.declaration(symbol)?;
    let description = text_of(declaration.description());
    let mut text = match declaration {
        Declaration::Class { id, definition, .. } => {
            code(&class_words(definition), &library.qualified_name(id)) + &class_details(library, definition)
        }
        Declaration::Component { owner, .. } => {
            let mut text = code("", &signature(scopes, symbol));
            text += &component_details(scopes, symbol);
            let _ = write!(text, "\nDeclared in `{}`", library.qualified_name(owner));
            text
        }
        Declaration::Literal { enumeration, literal } => {
            let owner = library.qualified_name(enumeration);
            code("", &format!("{owner}.{}", library.text(literal.name.name)))
        }
    };
    if !description.is_empty() {
        let end = text.find("```\n").and_then(|_| text.rfind("\n```\n")).map_or(text.len(), |at| at + 5);
        text.insert_str(end, &format!("\n{description}\n"));
    }
    Some(text.trim_end().to_owned())
}

/// Such as `partial model`.
pub(crate) fn class_words(class: &ClassDef) -> String {
    let words = [
        if class.is_encapsulated { "encapsulated" } else { "" },
        if class.is_partial { "partial" } else { "" },
        match class.kind {
            ast::ClassKind::Class => "class",
            ast::ClassKind::Model => "model",
            ast::ClassKind::Block => "block",
            ast::ClassKind::Connector => "connector",
            ast::ClassKind::ExpandableConnector => "expandable connector",
            ast::ClassKind::Record => "record",
            ast::ClassKind::OperatorRecord => "operator record",
            ast::ClassKind::Type => "type",
            ast::ClassKind::Package => "package",
            ast::ClassKind::Function => "function",
            ast::ClassKind::OperatorFunction => "operator function",
            ast::ClassKind::Operator => "operator",
        },
    ];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The documentation of a class as Markdown; empty without one.
pub(crate) fn documentation(library: &Library, class: &ClassDef) -> String {
    let info = annotation_of(class).and_then(|annotation| {
        let documentation = named(annotation, library.intern("Documentation")).next()?;
        let info = named(class_modification(documentation)?, library.intern("info")).next()?;
        match &info.modification.as_ref()?.value.as_ref()?.expr.as_ref()?.kind {
            ExprKind::String(text) => Some(html::to_markdown(text)),
            _ => None,
        }
    });
    info.unwrap_or_default()
}

fn class_details(library: &Library, class: &ClassDef) -> String {
    let documentation = documentation(library, class);
    if documentation.is_empty() { documentation } else { format!("\n{documentation}") }
}

/// `parameter Units.Resistance R = 2`, as written, with the value that holds.
pub(crate) fn signature(scopes: &mut Scopes<'_>, symbol: Symbol) -> String {
    let library = scopes.library();
    let Some(Declaration::Component { clause, component, .. }) = scopes.declaration(symbol) else {
        return String::new();
    };
    let mut text = String::new();
    for word in prefix_words(clause) {
        let _ = write!(text, "{word} ");
    }
    let class = scopes.class_of(symbol).and_then(|class| scopes.class_id(class));
    match class {
        Some(class) => text += &library.qualified_name(class),
        None => text += &path_text(library, &clause.type_name),
    }
    let _ = write!(text, " {}", library.text(component.name.name));
    let sizes: Vec<&str> =
        clause.subscripts.iter().chain(&component.subscripts).map(|s| subscript_text(library, s)).collect();
    if !sizes.is_empty() {
        let _ = write!(text, "[{}]", sizes.join(", "));
    }
    if let Some(value) = scopes.value(symbol, None) {
        let _ = write!(text, " = {}", shortened(expr_text(library, value)));
    }
    text
}

fn component_details(scopes: &mut Scopes<'_>, symbol: Symbol) -> String {
    let library = scopes.library();
    let mut text = String::new();
    for name in ["unit", "displayUnit", "min", "max", "start", "fixed", "nominal"] {
        if let Some(value) = scopes.value(symbol, Some(name)) {
            let _ = write!(
                text,
                "{}{name} = `{}`",
                if text.is_empty() { "\n" } else { ", " },
                shortened(expr_text(library, value))
            );
        }
    }
    text.push('\n');
    text
}

pub(crate) fn prefix_words(clause: &ast::ComponentClause) -> Vec<&'static str> {
    let mut words = Vec::new();
    let prefixes = clause.prefixes;
    let flags = [
        (prefixes.is_redeclare, "redeclare"),
        (prefixes.is_final, "final"),
        (prefixes.is_inner, "inner"),
        (prefixes.is_outer, "outer"),
        (prefixes.is_replaceable, "replaceable"),
    ];
    words.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word));
    words.extend(clause.connection.map(|connection| match connection {
        ast::Connection::Flow => "flow",
        ast::Connection::Stream => "stream",
    }));
    words.extend(clause.variability.map(|variability| match variability {
        ast::Variability::Constant => "constant",
        ast::Variability::Parameter => "parameter",
        ast::Variability::Discrete => "discrete",
    }));
    words.extend(clause.direction.map(|direction| match direction {
        ast::Direction::Input => "input",
        ast::Direction::Output => "output",
    }));
    words
}

pub(crate) fn path_text(library: &Library, path: &ast::Path) -> String {
    path.parts.iter().map(|part| library.text(part.name)).collect::<Vec<_>>().join(".")
}

/// An expression as it is written.
pub(crate) fn expr_text<'a>(library: &'a Library, expr: &ast::Expr) -> &'a str {
    let text = library.source(expr.span.file).map_or("", |source| &source.text);
    text.get(expr.span.start as usize..expr.span.end as usize).unwrap_or("")
}

fn subscript_text<'a>(library: &'a Library, subscript: &ast::Subscript) -> &'a str {
    match subscript {
        ast::Subscript::Colon(_) => ":",
        ast::Subscript::Expr(expr) => expr_text(library, expr),
    }
}

/// The beginning of a long text, on one line.
fn shortened(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn attribute_description(name: &str) -> &'static str {
    match name {
        "quantity" => "Physical quantity",
        "unit" => "Unit of equations",
        "displayUnit" => "Unit that is shown to people",
        "min" => "Smallest value allowed",
        "max" => "Largest value allowed",
        "start" => "Start value: guess, or with `fixed = true` the value at the start",
        "fixed" => "Whether `start` holds exactly; true by default for parameters and constants",
        "nominal" => "Typical size, for scaling",
        "unbounded" => "Whether the value may grow without limit, so that errors are judged absolutely",
        "stateSelect" => "Preference for the choice of states",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn hover(text: &str) -> String {
        let fixture = Fixture::new(text);
        let found = fixture.analysis().hover(&fixture.path, fixture.offset);
        found.map_or("nothing".into(), |hover| hover.text)
    }

    #[test]
    fn a_component_shows_its_type_unit_and_value() {
        let text = "type Length = Real(unit = \"m\", min = 0);
            model A parameter Length l = 1 \"How long\"; end A;
            model M A a(l = 2); equation a.$0l = 1; end M;";
        let expected =
            "```modelica\nparameter Length l = 2\n```\n\nHow long\n\nunit = `\"m\"`, min = `0`\n\nDeclared in `A`";
        assert_eq!(hover(text), expected);
    }

    #[test]
    fn a_class_shows_its_documentation() {
        let text = "partial model A \"Base\" annotation(Documentation(info=\"<html><p>More.</p></html>\")); end A; model M extends $0A; end M;";
        assert_eq!(hover(text), "```modelica\npartial model A\n```\n\nBase\n\nMore.");
    }

    #[test]
    fn attributes_and_operators() {
        assert_eq!(hover("model M Real x($0unit = \"m\"); end M;"), "```modelica\nunit\n```\n\nUnit of equations");
        assert_eq!(
            hover("model M Real x; equation $0der(x) = 1; end M;"),
            "```modelica\nder(x)\n```\n\nTime derivative"
        );
        assert_eq!(hover("model M equation $0 end M;"), "nothing");
    }
}
