//! Messages about what classes may contain, about redeclaration, visibility and inheritance: E0248–E0299.

use saltus_base::{Diagnostic, Place, Severity, Span};

use super::message;

/// Equations, algorithms or a protected section in a class that only declares.
pub fn section_not_allowed(section: &str, kind: &str, class: &str, span: Span) -> Diagnostic {
    message("E0287", span, format!("the {kind} `{class}` cannot have {section}"))
        .hint(format!("a {kind} only declares public elements; write this in a model or block that uses it"))
}

/// A variable in a package.
pub fn package_variable(name: &str, package: &str, span: Span) -> Diagnostic {
    message("E0248", span, format!("`{name}` of the package `{package}` is not a constant"))
        .hint("a package contains classes and constants; write `constant` in front of it, or move it into a model")
        .fix_at(Place::BeforeElement, span, "constant ")
}

/// `external` in a model.
pub fn external_outside_function(kind: &str, class: &str, span: Span) -> Diagnostic {
    message("E0249", span, format!("`external` in the {kind} `{class}`: only functions can be external"))
        .hint("declare a function with the `external` clause and call it")
}

/// A name that the language gives a meaning everywhere.
pub fn reserved_name(name: &str, span: Span) -> Diagnostic {
    message("E0250", span, format!("`{name}` is the name of a built-in variable and cannot be declared"))
        .hint("rename it")
}

/// Two literals of one name in an enumeration.
pub fn literal_twice(name: &str, span: Span, first: Span) -> Diagnostic {
    message("E0251", span, format!("the enumeration has two literals `{name}`"))
        .label(first, "first one")
        .hint("rename or remove one of them")
}

/// A literal called like an attribute of enumerations.
pub fn literal_is_attribute(name: &str, span: Span) -> Diagnostic {
    message("E0252", span, format!("`{name}` is an attribute of every enumeration and cannot be a literal"))
        .hint("rename the literal")
}

/// Two imports that give one name to different things.
pub fn import_conflict(name: &str, span: Span, first: Span) -> Diagnostic {
    message("E0253", span, format!("`{name}` is imported twice with different meanings"))
        .label(first, "first import")
        .hint("rename one of them: `import Other = A.B;`")
}

/// A name that several `import P.*;` bring.
pub fn ambiguous_import(name: &str, packages: &[String], span: Span) -> Diagnostic {
    message("E0254", span, format!("`{name}` is ambiguous: imported from `{}`", packages.join("` and from `")))
        .hint("import the one that is meant by its full name")
}

/// `flow` in an expandable connector.
pub fn expandable_flow(name: &str, span: Span) -> Diagnostic {
    message("E0288", span, format!("`flow {name}` cannot be declared in an expandable connector"))
        .hint("put it into a connector, and that connector into the expandable one")
}

/// A condition on a redeclaration.
pub fn redeclare_condition(name: &str, span: Span) -> Diagnostic {
    message("E0289", span, format!("the redeclaration of `{name}` cannot have a condition"))
        .hint("the condition of the original declaration stays; remove this one")
}

/// Something else than the two functions in a class of external objects.
pub fn external_object_element(element: &str, class: &str, span: Span) -> Diagnostic {
    message("E0257", span, format!("`{element}` in the external object class `{class}`"))
        .hint("such a class contains the functions `constructor` and `destructor` and nothing else")
}

/// An external object without one of its functions.
pub fn external_object_lacks(function: &str, class: &str, span: Span) -> Diagnostic {
    message("E0258", span, format!("the external object class `{class}` has no function `{function}`"))
        .hint("an external object needs a `constructor` and a `destructor`")
}

/// A replaceable constructor or destructor.
pub fn external_object_replaceable(function: &str, span: Span) -> Diagnostic {
    message("E0259", span, format!("the `{function}` of an external object cannot be replaceable"))
        .hint("remove `replaceable`")
}

/// An operator that sees the scope around it.
pub fn operator_not_encapsulated(name: &str, span: Span) -> Diagnostic {
    message("E0260", span, format!("the operator {name} is not encapsulated"))
        .hint("write `encapsulated` in front of it and import what it needs")
}

/// A `type` that is not built on a predefined type.
pub fn not_a_simple_type(class: &str, span: Span) -> Diagnostic {
    message("E0261", span, format!("the type `{class}` is not derived from a predefined type"))
        .hint("a type extends Real, Integer, Boolean, String or an enumeration; declare a record or a model otherwise")
}

/// A class that extends a predefined type and has elements of its own.
pub fn predefined_with_elements(class: &str, span: Span) -> Diagnostic {
    message("E0262", span, format!("`{class}` extends a predefined type and has other elements"))
        .hint("a class that extends a predefined type has no elements of its own; make the value a component")
}

/// An inherited element and another one of the same name that is not the same.
pub fn duplicate_differs(name: &str, class: &str, span: Span, first: Span) -> Diagnostic {
    message("E0263", span, format!("`{name}` is in `{class}` twice, and the two declarations differ"))
        .label(first, "the other declaration")
        .hint(
            "an element may be inherited twice only if both are identical; rename one, or redeclare the inherited one",
        )
}

/// `extends` of a class that can be replaced.
pub fn replaceable_base(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0264", span, format!("`extends` of the replaceable class `{name}`"))
        .label(declared, "declared replaceable here")
        .hint("extend a class that cannot change, or write `redeclare model extends`")
}

/// A base class whose name means something else once the bases are there.
pub fn base_name_inherited(name: &str, span: Span, inherited: Span) -> Diagnostic {
    message("E0265", span, format!("the base class name `{name}` is itself inherited, with another meaning"))
        .label(inherited, "inherited from here")
        .hint("write the full name of the class that is meant, beginning with a dot")
}

/// A class that is looked up inside a component.
pub fn class_through_component(path: &str, component: &str, span: Span) -> Diagnostic {
    message(
        "E0266",
        span,
        format!("`{path}`: `{component}` is a component, and classes are not found inside components"),
    )
    .hint("name the class of the component instead")
}

/// A name looked up inside a partial class.
pub fn inside_partial(path: &str, class: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0267", span, format!("`{path}`: `{class}` is partial, and nothing can be used from inside it"))
        .label(declared, "declared partial here")
        .hint("extend it in a complete class and use that one")
}

/// A partial model that shall be simulated.
pub fn partial_model(class: &str, span: Span) -> Diagnostic {
    message("E0268", span, format!("`{class}` is partial and cannot be simulated"))
        .hint("extend it and add what is missing; `saltus check` also checks partial classes")
}

/// `outer` in the model that shall be simulated.
pub fn top_level_outer(name: &str, class: &str, span: Span) -> Diagnostic {
    message("E0269", span, format!("`outer {name}` of the model itself: there is nothing around it"))
        .hint(format!("simulate a model that declares `inner {class} {name};` and contains this one"))
}

/// A modification of an outer element.
pub fn outer_modified(name: &str, span: Span) -> Diagnostic {
    message("E0270", span, format!("`{name}` is outer and cannot be modified"))
        .hint("modify the `inner` declaration; an outer one only refers to it")
}

/// `outer input` and `outer output`: an outer component stands for the inner one and has no direction of its own.
pub fn outer_direction(direction: &str, name: &str, span: Span) -> Diagnostic {
    message("E0398", span, format!("`outer {direction}` on `{name}`, which is not in a state of a state machine"))
        .hint(format!("remove `{direction}`; only states of state machines assign an `outer output`"))
}

/// An `inner` variable of another type than the `outer` one.
pub fn inner_type(name: &str, [wanted, found]: &[String; 2], span: Span, declared: Span) -> Diagnostic {
    message("E0271", span, format!("`outer {name}` is {wanted}, but the inner `{name}` is {found}"))
        .label(declared, "the inner declaration")
        .hint("give both the same type")
}

/// An `inner` class for an `outer` component or the other way round.
pub fn inner_kind(name: &str, wanted: &str, found: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0271", span, format!("`outer {name}` is a {wanted}, but the inner `{name}` is a {found}"))
        .label(declared, "the inner declaration")
        .hint("both must be components, or both classes")
}

/// No `inner`, and its name is taken.
pub fn inner_name_taken(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0272", span, format!("no `inner` declaration for the outer `{name}`, and none can be added"))
        .label(declared, format!("`{name}` is declared here without `inner`"))
        .hint("write `inner` in front of that declaration, or rename one of the two")
}

/// A protected element reached with a dot.
pub fn protected_access(name: &str, of: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0273", span, format!("`{name}` is a protected element of `{of}`"))
        .label(declared, "declared here")
        .hint("only public elements can be used from outside; make it public if that is meant")
}

/// A protected element modified from outside.
pub fn protected_modification(name: &str, class: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0274", span, format!("this modifies `{name}`, a protected element of `{class}`"))
        .label(declared, "declared here")
        .hint("only public elements can be modified; make it public, or modify it in an `extends`")
}

/// A redeclared constant.
pub fn redeclares_constant(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0275", span, format!("the constant `{name}` cannot be redeclared"))
        .label(declared, "declared here")
        .hint("give it another value with a modification")
}

/// A redeclaration with other prefixes.
pub fn redeclare_prefix(name: &str, given: &str, original: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0276", span, format!("`{name}` is redeclared as `{given}`, but was declared as `{original}`"))
        .label(declared, "declared here")
        .hint("keep the prefix, or leave it out: prefixes are inherited")
}

/// `break` of something that is not a component of class type.
pub fn deselects_no_component(name: &str, span: Span) -> Diagnostic {
    message(
        "E0277",
        span,
        format!("`break {name}`: only components that are models, blocks or connectors can be removed"),
    )
    .hint("modify or redeclare other elements instead")
}

/// `break connect` without such a connection.
pub fn deselects_no_connection(from: &str, to: &str, span: Span) -> Diagnostic {
    message("E0278", span, format!("`break connect({from}, {to})`: no base class has this connection"))
        .hint("write both connectors as the base class does")
}

/// `outer` components of one name and several classes without an `inner` one (specification 5.4).
pub fn outers_differ(name: &str, classes: &[String; 2], span: Span, other: Span) -> Diagnostic {
    let [first, second] = classes;
    message(
        "E0293",
        span,
        format!(
            "no `inner` declaration for the outer `{name}`, which is of class `{second}` here and `{first}` elsewhere"
        ),
    )
    .label(other, format!("of class `{first}` here"))
    .hint(format!("declare `inner … {name}` of a class that has everything these need"))
}

/// A class with a value, `a(B = C)`. The value is ignored: libraries have such modifications, and other tools read over them.
pub fn class_given_value(name: &str, span: Span) -> Diagnostic {
    message("E0279", span, format!("`{name}` is a class and cannot be given a value; the value is ignored"))
        .severity(Severity::Warning)
        .hint(format!("write `redeclare model {name} = …` to replace it"))
}

/// `Class.variable`.
pub fn variable_of_class(name: &str, class: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0280", span, format!("`{name}` is a variable of the class `{class}`, not a constant"))
        .label(declared, "declared here")
        .hint("only constants can be used through a class; declare a component of the class and use its variable")
}

/// `input` in an `input`, `flow` in a `flow`.
pub fn nested_prefix(prefix: &str, name: &str, outer: &str, span: Span) -> Diagnostic {
    message("E0281", span, format!("`{prefix}` on `{name}`, which is part of something declared `{outer}`"))
        .hint("these prefixes cannot be nested; remove one of the two")
}

/// `flow Boolean`, `stream Integer`.
pub fn connection_type(prefix: &str, name: &str, expected: &str, span: Span) -> Diagnostic {
    message("E0294", span, format!("the {prefix} variable `{name}` must be {expected}"))
        .hint("what cannot be added up or mixed does not flow: remove the prefix, or use another type")
}

/// A `when` under a condition that must not be evaluated at compile time.
pub fn when_not_evaluable(parameter: &str, span: Span, declared: Span) -> Diagnostic {
    let text = format!("whether this when-equation exists depends on `{parameter}`, which has `Evaluate = false`");
    message("E0290", span, text)
        .label(declared, "declared here")
        .hint("remove the annotation, or make the condition a part of the when-condition")
}

/// Branches with different numbers of equations under a condition that must not be evaluated at compile time.
pub fn count_not_evaluable(parameter: &str, span: Span, declared: Span) -> Diagnostic {
    let text = format!("how many equations there are depends on `{parameter}`, which has `Evaluate = false`");
    message("E0399", span, text)
        .label(declared, "declared here")
        .hint("remove the annotation, or write as many equations in each branch")
}

/// `parameter` or `constant` in front of a connector.
pub fn connector_prefix(prefix: &str, name: &str, span: Span) -> Diagnostic {
    message("E0282", span, format!("the connector `{name}` cannot be a {prefix}"))
        .hint(format!("remove `{prefix}`; variables inside of a connector may have it"))
}

/// An attribute with elements, or redeclared.
pub fn attribute_structure(attribute: &str, variable: &str, span: Span) -> Diagnostic {
    message("E0283", span, format!("the attribute `{attribute}` of `{variable}` can only be given a value"))
        .hint(format!("write `{attribute} = …`"))
}

/// A component of an enumeration without literals.
pub fn unspecified_enumeration(name: &str, span: Span) -> Diagnostic {
    message("E0284", span, format!("the enumeration type of `{name}` has no literals: it is `enumeration(:)`"))
        .hint("redeclare the type with an enumeration that has literals")
}

/// A constant with `fixed = false`.
pub fn constant_not_fixed(name: &str, span: Span) -> Diagnostic {
    message("E0285", span, format!("the constant `{name}` has `fixed = false`"))
        .hint("make it a parameter if the initial equations shall find its value")
}

/// A replaced type that is not a subtype of the original one.
pub fn wrong_type_replacement(name: &str, given: &str, wanted: &str, span: Span) -> Diagnostic {
    message("E0286", span, format!("the type `{name}` is redeclared as {given}, but must be {wanted}"))
        .hint("the replacement must be a subtype of the constraining type")
}

/// A replaced variable of another built-in type.
pub fn wrong_variable_replacement(name: &str, given: &str, wanted: &str, span: Span) -> Diagnostic {
    message("E0286", span, format!("`{name}` is redeclared as {given}, but must be {wanted}"))
        .hint("the replacement must be a subtype of the constraining type")
}

/// `input`, `flow` and the like in a record.
pub fn record_prefix(name: &str, record: &str, span: Span) -> Diagnostic {
    message("E0295", span, format!("the field `{name}` of the record `{record}` has a prefix that fields cannot have"))
        .hint("`input`, `output`, `flow`, `stream`, `inner` and `outer` belong to components that have the record as their type")
}

/// An operator outside of an operator record.
pub fn operator_outside_record(kind: &str, name: &str, span: Span) -> Diagnostic {
    message("E0296", span, format!("the {kind} `{name}` is not in an operator record"))
        .hint("declare it inside of the `operator record` that it belongs to, or make it a function")
}

/// `extends` of a class of another kind.
pub fn base_kind(derived: &str, kind: &str, base: &str, base_kind: &str, span: Span) -> Diagnostic {
    message("E0297", span, format!("the {kind} `{derived}` cannot extend the {base_kind} `{base}`"))
        .hint("extend a class of the same kind; what is useful in another kind can be a component, or be imported")
}

/// The same where nothing but a picture is inherited, or a block extends a model: everybody accepts that.
pub fn loose_base_kind(derived: &str, kind: &str, base: &str, base_kind: &str, span: Span) -> Diagnostic {
    message("W0297", span, format!("the {kind} `{derived}` should not extend the {base_kind} `{base}`"))
        .severity(Severity::Warning)
        .hint("extend a class of the same kind")
}

/// `final`, `each` or a redeclaration in an annotation.
pub fn annotation_prefix(span: Span) -> Diagnostic {
    message("E0298", span, "an annotation contains neither `final` or `each` nor redeclarations".to_owned())
        .hint("write the name and its value only")
}

/// `annotation(experiment(StopTime = 1))` at a component.
pub fn annotation_place(name: &str, here: &str, places: &str, span: Span) -> Diagnostic {
    message("W0298", span, format!("the annotation `{name}` has no meaning for {here}: it is one of {places}"))
        .severity(Severity::Warning)
        .hint(format!("move it to {places}, or remove it"))
}

/// `connectorSizing` of something that cannot count connections.
pub fn connector_sizing(name: &str, span: Span) -> Diagnostic {
    message(
        "E0299",
        span,
        format!("`{name}` has the annotation `connectorSizing`, but is not a scalar Integer parameter"),
    )
    .hint("declare it as `parameter Integer` with the value 0")
}

/// A class that its author wants replaced.
pub fn obsolete_class(class: &str, why: &str, span: Span) -> Diagnostic {
    message("W0299", span, format!("the class `{class}` is obsolete: {why}")).severity(Severity::Warning)
}

/// A redeclared component with another number of dimensions.
pub fn redeclared_rank(name: &str, given: usize, was: usize, span: Span, declared: Span) -> Diagnostic {
    message("E0233", span, format!("`{name}` is redeclared with {given} dimensions, but it has {was}"))
        .label(declared, "declared here")
        .hint("a replacement has as many dimensions as what it replaces")
}

/// `flow`, `parameter` or the like in front of a model. A warning for `constant`, `parameter` and `discrete`, which other tools take for
/// everything inside.
pub fn prefix_of_model(prefix: &str, name: &str, kind: &str, span: Span) -> Diagnostic {
    message("E0292", span, format!("`{prefix}` in front of `{name}`, which is a {kind}"))
        .hint("such prefixes are for variables, records and connectors; write it in front of the variables inside")
}
