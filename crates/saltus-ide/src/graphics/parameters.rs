//! What a dialog for the parameters of a component, or of a class, shows (specification 18.7, `Dialog`).

use saltus::Session;
use saltus_base::Name;
use saltus_diagram::{Value, evaluate, shown};
use saltus_flat::BaseType;
use saltus_frontend::{Declaration, Scope, Scopes, Symbol};
use saltus_library::Library;
use saltus_library::annotations::{class_modification, named};
use saltus_syntax::ast::{self, Argument, ClassModification, Variability};

use crate::hover::expr_text;
use crate::target::text_of;

/// A parameter as a dialog shows it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Parameter {
    pub name: String,
    pub description: String,
    /// The qualified name of its class.
    pub type_name: String,
    /// `Real`, `Integer`, `Boolean`, `String`, `enumeration`; empty for records and other classes.
    pub base: &'static str,
    pub tab: String,
    pub group: String,
    pub unit: String,
    pub display_unit: String,
    /// A difference of two values, which has no offset in any unit.
    pub is_difference: bool,
    /// Sizes as written.
    pub dimensions: Vec<String>,
    /// The value that holds, as written; empty if there is none.
    pub value: String,
    /// The value without what is said about the component here.
    pub default: String,
    /// What the value amounts to, if it is known now.
    pub evaluated: String,
    /// The class that is shown says something about it.
    pub is_modified: bool,
    pub is_final: bool,
    /// Whether it can be set now; nothing where that depends on more than is known.
    pub is_enabled: Option<bool>,
    /// Of an enumeration its literals, else what the annotation offers.
    pub choices: Vec<Choice>,
    pub min: String,
    pub max: String,
    /// The class that declares it.
    pub owner: String,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Choice {
    pub value: String,
    pub label: String,
}

/// The public parameters of a component of a class, or of the class itself, in the order of declaration.
pub(crate) fn parameters(session: &Session, class: &str, component: Option<&str>) -> Option<Vec<Parameter>> {
    let library = session.library();
    let id = library.find(class)?;
    let mut scopes = Scopes::new(library);
    let scope = scopes.class_scope(id)?;
    let (inside, plain) = match component {
        None => (scope, None),
        Some(component) => {
            let symbol = scopes.member(scope, library.intern(component))?;
            let of = scopes.class_of(symbol)?;
            (scopes.inside(symbol)?, scopes.inside(of))
        }
    };
    let members = scopes.members(inside);
    Some(members.into_iter().filter_map(|member| parameter(&mut scopes, member, inside, plain)).collect())
}

fn parameter(scopes: &mut Scopes<'_>, symbol: Symbol, inside: Scope, plain: Option<Scope>) -> Option<Parameter> {
    let library = scopes.library();
    let declaration = scopes.declaration(symbol)?;
    let Declaration::Component { owner, clause, component, is_protected: false } = declaration else { return None };
    if clause.variability != Some(Variability::Parameter) {
        return None;
    }
    let name = component.name.name;
    let value = scopes.value(symbol, None);
    let before = plain.and_then(|plain| scopes.member(plain, name));
    let default = match plain {
        Some(_) => before.and_then(|before| scopes.value(before, None)),
        None => component.modification.as_ref().and_then(|m| m.value.as_ref()?.expr.as_ref()),
    };
    let text = |expr: Option<&ast::Expr>| {
        expr.map_or(String::new(), |e| expr_text(library, e).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let binding = scopes.binding(symbol, None);
    let evaluated = binding.and_then(|(expr, scope)| evaluate(scopes, scope, expr));
    let annotation = component.comment.annotation.as_ref().map(|annotation| &annotation.modification);
    let dialog = annotation.and_then(|a| named(a, library.intern("Dialog")).next()).and_then(class_modification);
    let class = scopes.class_of(symbol);
    let base = scopes.base_type(symbol);
    let mut attribute = |name: &str| match scopes.binding(symbol, Some(name)) {
        Some((expr, scope)) => evaluate(scopes, scope, expr).map_or_else(|| text(Some(expr)), |value| shown(&value)),
        None => String::new(),
    };
    let (unit, display_unit) = (attribute("unit"), attribute("displayUnit"));
    let (min, max) = (attribute("min"), attribute("max"));
    let (tab, group) = (dialog_text(scopes, inside, dialog, "tab"), dialog_text(scopes, inside, dialog, "group"));
    let class_id = class.and_then(|class| scopes.class_id(class));
    Some(Parameter {
        name: library.text(name).to_owned(),
        description: text_of(declaration.description()),
        type_name: class_id
            .map_or_else(|| crate::hover::path_text(library, &clause.type_name), |id| library.qualified_name(id)),
        base: base.map_or("", base_name),
        tab: tab.unwrap_or_else(|| "General".into()),
        group: group.unwrap_or_else(|| "Parameters".into()),
        unit,
        display_unit,
        is_difference: scopes.is_difference(symbol),
        dimensions: component.subscripts.iter().chain(&clause.subscripts).map(|s| subscript(library, s)).collect(),
        value: text(value),
        default: text(default),
        evaluated: evaluated.map_or(String::new(), |value| shown(&value)),
        is_modified: !same(value, default),
        is_final: clause.prefixes.is_final,
        is_enabled: dialog.and_then(|dialog| argument(library, dialog, "enable")).map_or(Some(true), |enable| {
            evaluate(scopes, inside, enable).and_then(|value| match value {
                Value::Boolean(is_enabled) => Some(is_enabled),
                _ => None,
            })
        }),
        choices: choices(scopes, symbol, class, annotation),
        min,
        max,
        owner: library.qualified_name(owner),
    })
}

/// The same expression at the same place.
fn same(a: Option<&ast::Expr>, b: Option<&ast::Expr>) -> bool {
    a.map(|a| a.span) == b.map(|b| b.span)
}

fn subscript(library: &Library, subscript: &ast::Subscript) -> String {
    match subscript {
        ast::Subscript::Colon(_) => ":".into(),
        ast::Subscript::Expr(expr) => expr_text(library, expr).to_owned(),
    }
}

fn base_name(base: BaseType) -> &'static str {
    match base {
        BaseType::Real => "Real",
        BaseType::Integer => "Integer",
        BaseType::Boolean => "Boolean",
        BaseType::String => "String",
        BaseType::Enumeration(_) => "enumeration",
        _ => "",
    }
}

fn argument<'a>(library: &Library, given: &'a ClassModification, name: &str) -> Option<&'a ast::Expr> {
    named(given, library.intern(name)).next()?.modification.as_ref()?.value.as_ref()?.expr.as_ref()
}

fn dialog_text(
    scopes: &mut Scopes<'_>,
    scope: Scope,
    dialog: Option<&ClassModification>,
    name: &str,
) -> Option<String> {
    let library = scopes.library();
    match evaluate(scopes, scope, argument(library, dialog?, name)?)? {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Literals of an enumeration, else `choices(choice=… "label")`.
fn choices(
    scopes: &mut Scopes<'_>,
    symbol: Symbol,
    class: Option<Symbol>,
    annotation: Option<&ClassModification>,
) -> Vec<Choice> {
    let library = scopes.library();
    let offered = annotation.and_then(|a| named(a, library.intern("choices")).next()).and_then(class_modification);
    let offered: Vec<Choice> = offered
        .into_iter()
        .flat_map(|offered| &offered.arguments)
        .filter_map(|argument| match argument {
            Argument::Modification(m) if is_choice(library, m.name.parts.first()?.name) => {
                let expr = m.modification.as_ref()?.value.as_ref()?.expr.as_ref()?;
                let value = expr_text(library, expr).to_owned();
                let label = text_of(&m.description);
                Some(Choice { label: if label.is_empty() { value.clone() } else { label }, value })
            }
            _ => None,
        })
        .collect();
    if !offered.is_empty() {
        return offered;
    }
    let type_name = class.and_then(|class| scopes.class_id(class)).map(|id| library.qualified_name(id));
    let inside = scopes.inside(symbol);
    let members = inside.map(|inside| scopes.members(inside)).unwrap_or_default();
    let literals = members.into_iter().filter_map(|member| match scopes.declaration(member)? {
        declaration @ Declaration::Literal { literal, .. } => {
            let name = library.text(literal.name.name);
            let label = text_of(declaration.description());
            let value = format!("{}.{name}", type_name.as_deref().unwrap_or(""));
            Some(Choice { value, label: if label.is_empty() { name.to_owned() } else { label } })
        }
        _ => None,
    });
    literals.collect()
}

fn is_choice(library: &Library, name: Name) -> bool {
    library.text(name) == "choice"
}
