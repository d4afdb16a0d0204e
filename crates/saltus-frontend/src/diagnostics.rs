//! The wording of every message of the front end, one function each: E0201–E0233 names, classes and modifications,
//! E0234–E0246 components and sizes; the rest is in [`calls`], [`connections`], [`functions`],
//! [`rules`] and [`usage`].

pub mod calls;
pub mod connections;
pub mod functions;
pub mod rules;
pub mod usage;

pub use calls::*;
pub use connections::*;
pub use functions::*;
pub use rules::*;
pub use usage::*;

use saltus_base::{Code, Diagnostic, Fixes, Place, Severity, Span, nearest};
use saltus_flat::{BaseType, Variability};

fn message(code: &'static str, span: Span, text: String) -> Diagnostic {
    Diagnostic::new(Code(code), span, text)
}

/// `1 argument`, `2 arguments`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Several equally near names stand between the quotes.
fn names(nearest: Option<&str>) -> impl Iterator<Item = &str> {
    nearest.into_iter().flat_map(|names| names.split("` or `"))
}

trait DidYouMean {
    fn did_you_mean(self, nearest: Option<&str>, otherwise: &str) -> Diagnostic;

    /// The marked text is the misspelt name and nothing else.
    fn or_write(self, nearest: Option<&str>) -> Diagnostic;

    /// The marked argument of a modification begins with the misspelt name.
    fn or_write_in(self, nearest: Option<&str>, span: Span) -> Diagnostic;
}

impl DidYouMean for Diagnostic {
    fn did_you_mean(self, nearest: Option<&str>, otherwise: &str) -> Diagnostic {
        match nearest {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self.hint(otherwise),
        }
    }

    fn or_write(self, nearest: Option<&str>) -> Diagnostic {
        names(nearest).fold(self, |d, name| d.fix_by(name))
    }

    fn or_write_in(self, nearest: Option<&str>, span: Span) -> Diagnostic {
        names(nearest).fold(self, |d, name| d.fix_at(Place::ArgumentName, span, name))
    }
}

/// The type of a component or a base class is not known where it is used.
pub fn class_not_found(path: &str, part: &str, within: Option<&str>, nearest: Option<&str>, span: Span) -> Diagnostic {
    let text = match within {
        Some(package) => format!("there is no class `{part}` in `{package}`"),
        None => format!("class `{path}` not found"),
    };
    let found = message("E0201", span, text)
        .did_you_mean(nearest, "if it is in a library, give its directory with `--library DIR` or in MODELICAPATH")
        .or_write(nearest);
    // A simple name may be that of a class somewhere else.
    if within.is_none() && path == part { found.fix_at(Place::Import, span, part) } else { found }
}

/// A name that the library had in an older version.
pub fn renamed(diagnostic: Diagnostic, old: &str, new: &str) -> Diagnostic {
    Diagnostic { hints: Vec::new(), fixes: Fixes::default(), ..diagnostic }
        .hint(format!("`{old}` of older versions of the library is `{new}` now"))
        .hint("`saltus convert` rewrites sources for the version that is loaded")
}

/// A name that begins with a package that is not loaded.
pub fn library_not_found(library: &str, span: Span) -> Diagnostic {
    message("E0247", span, format!("the library `{library}` is not loaded"))
        .hint(format!("name the directory that contains `{library}` with `--library DIR` or in MODELICAPATH"))
        .hint("other names that begin with it are not reported again")
}

/// A name in an expression that nothing visible has.
pub fn name_not_found(name: &str, scope: &str, nearest: Option<&str>, span: Span) -> Diagnostic {
    let place = if scope.is_empty() { String::new() } else { format!(" in `{scope}` or around it") };
    message("E0202", span, format!("`{name}` is not declared{place}"))
        .did_you_mean(nearest, "declare it, or check the spelling; names are case-sensitive")
        .or_write(nearest)
}

/// `a.b` where `a` has no `b`.
pub fn no_member(name: &str, of: &str, nearest: Option<&str>, span: Span) -> Diagnostic {
    message("E0203", span, format!("`{of}` has no element `{name}`"))
        .did_you_mean(nearest, "look up the declared elements of its class")
        .or_write(nearest)
}

/// An import whose target does not exist.
pub fn import_not_found(path: &str, span: Span) -> Diagnostic {
    message("E0204", span, format!("imported `{path}` not found"))
        .hint("imports start at the top level: write the full name of a class or constant")
}

/// A component or a variable used as a type.
pub fn not_a_class(name: &str, span: Span) -> Diagnostic {
    message("E0205", span, format!("expected a class, but `{name}` is not one"))
        .hint("a type, base class or function must be declared as a class")
}

/// `extends` that leads back to the class itself.
pub fn cyclic_extends(class: &str, span: Span) -> Diagnostic {
    message("E0206", span, format!("`{class}` extends itself, directly or through its bases"))
        .hint("remove one of the `extends` clauses in the cycle")
}

/// A model that contains itself.
pub fn recursive_instantiation(class: &str, component: &str, span: Span) -> Diagnostic {
    let shown: String = component.chars().take(24).collect();
    message("E0207", span, format!("`{class}` contains itself without end (at `{shown}…`)"))
        .hint("give the inner component a condition that becomes false, or break the recursion")
}

/// Components or base classes on top of each other without an end in sight.
pub fn nested_too_deeply(what: &str, most: usize, span: Span) -> Diagnostic {
    message("E0246", span, format!("{what} are nested more than {most} deep"))
        .hint("flatten the hierarchy; if it is meant to end, check the condition that ends it")
}

/// A component whose type depends on itself.
pub fn recursive_component(name: &str, span: Span) -> Diagnostic {
    message("E0208", span, format!("the type of `{name}` depends on `{name}` itself"))
        .hint("a size, condition or type may not refer back to the component it belongs to")
}

/// `redeclare` of an element that is not replaceable.
pub fn not_replaceable(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0209", span, format!("`{name}` cannot be redeclared: it is not replaceable"))
        .label(declared, "declared here without `replaceable`")
        .hint("write `replaceable` in front of its declaration, or modify it instead of redeclaring it")
        .fix_at(Place::BeforeElement, declared, "replaceable ")
}

/// A replacement that lacks what the constraining type has.
pub fn wrong_replacement(name: &str, class: &str, constraint: &str, lacks: &str, span: Span) -> Diagnostic {
    let text = format!("`{name}` cannot be redeclared as `{class}`: it has no `{lacks}`, but `{constraint}` has");
    message("E0232", span, text).hint(format!("use a class that extends `{constraint}` or has all its public elements"))
}

/// A class redeclared as a component or the other way round.
pub fn redeclare_kind(name: &str, is: &str, given: &str, span: Span, declared: Option<Span>) -> Diagnostic {
    message("E0210", span, format!("`{name}` is a {is} and cannot be redeclared as a {given}"))
        .label(declared.unwrap_or(Span::nowhere()), "declared here")
        .hint(format!("redeclare it as a {is}"))
}

/// A `redeclare` element without an inherited element of that name.
pub fn nothing_to_redeclare(name: &str, span: Span) -> Diagnostic {
    message("E0211", span, format!("`redeclare {name}`: no base class has an element `{name}`"))
        .hint("remove `redeclare`, or check the name and the `extends` clause")
}

/// `model extends X` outside of a class that inherits `X`.
pub fn class_extends_nothing(name: &str, span: Span) -> Diagnostic {
    message("E0212", span, format!("`extends {name}`: no inherited class `{name}` to extend"))
        .hint("`redeclare model extends` extends a replaceable class that the enclosing class inherits")
}

/// A modification of something declared `final`.
pub fn modifies_final(span: Span, declared: Span) -> Diagnostic {
    message("E0213", span, "this modification changes a final element".to_string())
        .label(declared, "declared final here")
        .hint("remove the modification; a final value cannot be changed from outside")
}

/// A record whose value as a whole replaces a field that its class declares `final` (specification 7.2.3).
pub fn record_overrides_final(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0291", span, format!("this value gives the final field `{name}` another one"))
        .label(declared, "declared final here")
        .hint("use a value of the same record class, or modify the fields that are not final one by one")
}

/// Two `experiment` annotations in one class; the first one counts.
pub fn second_experiment(span: Span, first: Span) -> Diagnostic {
    message("W0292", span, "the class has an `experiment` annotation already; this one is ignored".to_string())
        .label(first, "this one counts")
        .hint("remove one of them")
}

/// A modification of an element that the class does not have.
pub fn no_such_element(name: &str, class: &str, nearest: Option<&str>, span: Span) -> Diagnostic {
    message("E0214", span, format!("modification of `{name}`: `{class}` has no such element"))
        .did_you_mean(nearest, "check the spelling, or the type of the component")
        .or_write_in(nearest, span)
}

/// The same element modified twice in one list.
pub fn modified_twice(name: &str, span: Span, first: Span) -> Diagnostic {
    message("E0215", span, format!("`{name}` is modified twice"))
        .label(first, "first modification")
        .hint("keep one of the two")
}

/// Two elements of one name in a class.
pub fn duplicate_element(name: &str, span: Span, first: Span) -> Diagnostic {
    message("E0216", span, format!("`{name}` is declared twice in the same class"))
        .label(first, "first declared here")
        .hint("rename or remove one of them")
}

/// A package, function or operator as the type of a component.
pub fn not_a_component_type(class: &str, kind: &str, span: Span) -> Diagnostic {
    message("E0217", span, format!("`{class}` is a {kind} and cannot be the type of a component"))
        .hint("use a model, block, connector, record or type")
}

/// A component of a partial class.
pub fn partial_component(name: &str, class: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0218", span, format!("component `{name}` has the partial class `{class}` as its type"))
        .label(declared, "declared partial here")
        .hint("redeclare it with a complete class, or extend the partial class and complete it")
}

/// A class name where a value is expected.
pub fn class_as_value(class: &str, span: Span) -> Diagnostic {
    message("E0219", span, format!("expected a value, but `{class}` is a class"))
        .hint("name a component or constant inside it, or call it if it is a function or record")
}

/// A component of class type where a value is expected.
pub fn not_a_value(name: &str, class: &str, span: Span) -> Diagnostic {
    message("E0220", span, format!("expected a value, but `{name}` is a component of class `{class}`"))
        .hint("only variables and records are values; name a variable inside it")
}

/// An enumeration has no such literal.
pub fn no_literal(name: &str, enumeration: &str, literals: &[String], span: Span) -> Diagnostic {
    message("E0221", span, format!("enumeration `{enumeration}` has no literal `{name}`"))
        .hint(format!("its literals are {}", literals.join(", ")))
}

/// A reference to a conditional component that is not there.
pub fn absent_component(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0222", span, format!("`{name}` does not exist here: its condition is false"))
        .label(declared, "declared conditionally here")
        .hint("conditional components may only be used in `connect`; use a variable or parameter instead")
}

/// The condition of a component is not a Boolean.
pub fn condition_not_boolean(span: Span) -> Diagnostic {
    message("E0223", span, "the condition of a component must be Boolean".to_string())
        .hint("compare with a relation, as in `if n > 0`")
}

/// The condition of a component has no value at compile time.
pub fn condition_not_constant(name: &str, what: &str, span: Span) -> Diagnostic {
    message("E0224", span, format!("the condition of `{name}` needs a value at compile time, but {what} has none"))
        .hint("use parameters and constants with values in the condition")
}

/// An `outer` component without an `inner` one.
pub fn missing_inner(name: &str, class: &str, advice: Option<&str>, span: Span) -> Diagnostic {
    let text = format!("no `inner` component `{name}` for this `outer` one; a default `{class}` was added at the top");
    message("W0225", span, text)
        .hint(advice.map_or_else(|| format!("declare `inner {class} {name};` in the model"), str::to_owned))
}

/// A class that cannot be checked as a model.
pub fn not_a_model(class: &str, kind: &str, span: Span) -> Diagnostic {
    message("E0226", span, format!("`{class}` is a {kind}, not a model")).hint("name a model or block inside it")
}

/// An attribute that the type does not have.
pub fn no_such_attribute(name: &str, variable: &str, base: BaseType, span: Span) -> Diagnostic {
    let ty = match base {
        BaseType::Real => "Real",
        BaseType::Integer => "Integer",
        BaseType::Boolean => "Boolean",
        BaseType::String => "String",
        BaseType::Enumeration(_) => "an enumeration",
        _ => "this type",
    };
    let known = crate::assemble::attribute_names(base);
    message("E0227", span, format!("`{variable}` is {ty}, which has no attribute `{name}`"))
        .hint(match known {
            [] => "it has no attributes".to_string(),
            names => format!("its attributes are {}", names.join(", ")),
        })
        .or_write_in(nearest(name, known.iter().copied()), span)
}

/// An attribute that changes during the simulation.
pub fn attribute_varies(attribute: &str, variable: &str, span: Span) -> Diagnostic {
    message("E0228", span, format!("the attribute `{attribute}` of `{variable}` varies during the simulation"))
        .hint("attributes are parameter expressions; give a `start` by an initial equation instead")
}

/// A constant without a value.
pub fn constant_without_value(name: &str, span: Span) -> Diagnostic {
    message("E0229", span, format!("the constant `{name}` has no value"))
        .hint("give it a value with `=`, or make it a parameter")
}

fn variability_word(variability: Variability) -> &'static str {
    match variability {
        Variability::Constant => "constant",
        Variability::Parameter => "parameter",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    }
}

/// A parameter with a value that varies.
pub fn value_varies(name: &str, own: Variability, value: Variability, span: Span, declared: Span) -> Diagnostic {
    let (own, value) = (variability_word(own), variability_word(value));
    message("E0230", span, format!("the value of the {own} `{name}` is a {value} expression"))
        .label(declared, format!("declared as {own} here"))
        .hint("its value may only depend on things that vary as little as itself")
}

/// A variable of the class around the one that uses it.
pub fn enclosing_variable(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0231", span, format!("`{name}` belongs to the enclosing class and is not a constant"))
        .label(declared, "declared here")
        .hint("hand it in with a modification, or declare it as a constant")
}

/// A component array that does not fit into memory.
pub fn too_many_instances(name: &str, count: u64, span: Span) -> Diagnostic {
    let elements = counted(usize::try_from(count).unwrap_or(usize::MAX), "element");
    let most = crate::component::MOST_INSTANCES;
    message(
        "E0234",
        span,
        format!("the model is too large: with the {elements} of `{name}` it has more than {most} parts"),
    )
    .hint("reduce the size, or use arrays of variables, which stay arrays, instead of arrays of components")
}

/// More declarations than fit into memory.
pub fn too_many_declarations(name: &str, span: Span) -> Diagnostic {
    let most = crate::component::MOST_DECLARED;
    message("E0234", span, format!("the model is too large: with `{name}` it has more than {most} parts"))
        .hint("declare arrays of variables, which stay arrays, instead of variables one by one")
}

/// Something else than a name before the equals sign of `--set`.
pub fn override_name(name: &str, value: &str) -> Diagnostic {
    let text =
        format!("`{name}` cannot be set to `{value}`: expected a name such as `a.b`, without subscripts or modifiers");
    message("E0255", Span::nowhere(), text)
        .hint("set NAME=VALUE; the elements of an array are set together: `a={1, 2}`")
}

/// More or less than one expression behind the equals sign of `--set`.
pub fn override_value(name: &str, value: &str, why: &str) -> Diagnostic {
    let text = format!("`{name}` cannot be set to `{value}`, which is not one expression: {why}");
    message("E0256", Span::nowhere(), text).hint("give each variable a `--set NAME=VALUE` of its own")
}

/// Sizes that depend on each other.
pub fn cyclic_size(name: &str, span: Span) -> Diagnostic {
    message("E0235", span, format!("the size of `{name}` depends on itself"))
        .hint("give one of the arrays in the cycle an explicit size")
}

/// A value that depends on itself.
pub fn cyclic_value(name: &str, span: Span) -> Diagnostic {
    message("E0236", span, format!("the value of `{name}` depends on itself"))
        .hint("break the cycle of parameter values")
}

/// `Real x[:]` without a value.
pub fn size_not_inferable(name: &str, span: Span) -> Diagnostic {
    message("E0237", span, format!("the size `:` of `{name}` cannot be found: it has no value to take it from"))
        .hint("give a size or a value")
}

/// A negative array size.
pub fn negative_size(name: &str, size: i64, span: Span) -> Diagnostic {
    message("E0238", span, format!("`{name}` has the negative size {size}"))
        .hint("sizes are 0 or more; check the parameters in this expression")
}

/// An array size that is not an Integer.
pub fn size_not_integer(name: &str, span: Span) -> Diagnostic {
    message("E0239", span, format!("an array size of `{name}` must be an Integer"))
        .hint("use `integer(…)` to round a Real, or an enumeration or Boolean type as the index")
}

/// An array size without a value at compile time.
pub fn size_not_constant(name: &str, what: &str, span: Span) -> Diagnostic {
    message("E0240", span, format!("an array size of `{name}` needs a value at compile time, but {what} has none"))
        .hint("use parameters and constants with values in sizes")
}

/// One value for all elements of an array, written without `each`: a mistake by the specification (7.2.5) that cannot be misunderstood and
/// that libraries make, so a warning. An array for each element of an array of components is an error: it could also be meant to be shared out.
pub fn missing_each(span: Span) -> Diagnostic {
    message("E0241", span, "one value for all elements of an array".to_string())
        .severity(Severity::Warning)
        .hint("write `each` in front of the modification, or give as many values as there are elements")
        .fix_at(Place::BeforeArgument, span, "each ")
}

/// A modification that does not give each element of an array of components its value.
pub fn modification_size(name: &str, given: &[u64], wanted: &[u64], span: Span) -> Diagnostic {
    let text = format!("this modification has sizes {}, but `{name}` has {}", sizes(given), sizes(wanted));
    message("E0245", span, text)
        .hint("without `each` every component takes its own element; give as many values as components")
}

/// More subscripts than dimensions.
pub fn too_many_subscripts(name: &str, given: usize, dims: usize, span: Span) -> Diagnostic {
    message("E0242", span, format!("`{name}` has {}, but {given} subscripts are given", counted(dims, "dimension")))
        .hint("remove the surplus subscripts")
}

/// A subscript outside of the array.
pub fn subscript_range(name: &str, index: i64, size: u64, dimension: usize, span: Span) -> Diagnostic {
    message("E0243", span, format!("subscript {index} of `{name}` is outside 1 to {size} (dimension {dimension})"))
        .hint("subscripts count from 1")
}

/// Messages about sizes, types of records, subscripts and conditions cannot be trusted where a size is not known yet.
pub fn follows_from_open_sizes(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code.0, "E0222" | "E0237" | "E0240" | "E0243") || saltus_typing::is_about_sizes(diagnostic)
}

/// `end` where there is no array.
pub fn end_outside_subscript(span: Span) -> Diagnostic {
    message("E0244", span, "`end` has a meaning only inside subscripts".to_string())
        .hint("write `size(x, 1)` for the size of an array elsewhere")
}
