//! Words of the language by the place where they can stand; those with a text insert that.

type Words = &'static [(&'static str, Option<&'static str>)];

pub(super) const AT_TOP_LEVEL: Words = &[
    ("model", Some("model $1\n  $0\nequation\nend $1;")),
    ("package", Some("package $1\n  $0\nend $1;")),
    ("block", Some("block $1\n  $0\nequation\nend $1;")),
    ("connector", Some("connector $1\n  $0\nend $1;")),
    ("record", Some("record $1\n  $0\nend $1;")),
    ("function", Some("function $1\n  input Real $2;\n  output Real $3;\nalgorithm\n  $0\nend $1;")),
    ("type", Some("type $1 = $0;")),
    ("within", None),
    ("partial", None),
    ("encapsulated", None),
    ("class", None),
    ("operator", None),
];

pub(super) const IN_DECLARATIONS: Words = &[
    ("parameter", None),
    ("constant", None),
    ("discrete", None),
    ("input", None),
    ("output", None),
    ("flow", None),
    ("stream", None),
    ("inner", None),
    ("outer", None),
    ("final", None),
    ("replaceable", None),
    ("redeclare", None),
    ("extends", None),
    ("import", None),
    ("public", None),
    ("protected", None),
    ("equation", None),
    ("algorithm", None),
    ("initial equation", None),
    ("initial algorithm", None),
    ("annotation", Some("annotation($0);")),
    ("end", None),
    ("model", Some("model $1\n  $0\nequation\nend $1;")),
    ("package", Some("package $1\n  $0\nend $1;")),
    ("block", Some("block $1\n  $0\nequation\nend $1;")),
    ("connector", Some("connector $1\n  $0\nend $1;")),
    ("record", Some("record $1\n  $0\nend $1;")),
    ("function", Some("function $1\n  input Real $2;\n  output Real $3;\nalgorithm\n  $0\nend $1;")),
    ("type", Some("type $1 = $0;")),
    ("partial", None),
    ("encapsulated", None),
    ("expandable", None),
    ("operator", None),
    ("external", None),
];

pub(super) const IN_EQUATIONS: Words = &[
    ("connect", Some("connect($1, $0);")),
    ("if", Some("if $1 then\n  $0\nelse\nend if;")),
    ("for", Some("for $1 in $2 loop\n  $0\nend for;")),
    ("when", Some("when $1 then\n  $0\nend when;")),
    ("elseif", None),
    ("else", None),
    ("elsewhen", None),
    ("end", None),
    ("equation", None),
    ("algorithm", None),
    ("initial equation", None),
    ("public", None),
    ("protected", None),
    ("annotation", Some("annotation($0);")),
];

pub(super) const IN_ALGORITHM: Words = &[
    ("if", Some("if $1 then\n  $0\nelse\nend if;")),
    ("for", Some("for $1 in $2 loop\n  $0\nend for;")),
    ("while", Some("while $1 loop\n  $0\nend while;")),
    ("when", Some("when $1 then\n  $0\nend when;")),
    ("elseif", None),
    ("else", None),
    ("elsewhen", None),
    ("break", None),
    ("return", None),
    ("end", None),
    ("equation", None),
    ("algorithm", None),
    ("annotation", Some("annotation($0);")),
];

pub(super) const IN_EXPRESSIONS: Words = &[
    ("if", None),
    ("then", None),
    ("else", None),
    ("and", None),
    ("or", None),
    ("not", None),
    ("true", None),
    ("false", None),
];

pub(super) const IN_MODIFICATIONS: Words =
    &[("each", None), ("final", None), ("redeclare", None), ("replaceable", None)];

/// Enumerations that only graphical annotations know (specification section 18.6).
pub(super) const ANNOTATION_ENUMERATIONS: &[(&str, &[&str])] = &[
    ("LinePattern", &["None", "Solid", "Dash", "Dot", "DashDot", "DashDotDot"]),
    (
        "FillPattern",
        &[
            "None",
            "Solid",
            "Horizontal",
            "Vertical",
            "Cross",
            "Forward",
            "Backward",
            "CrossDiag",
            "HorizontalCylinder",
            "VerticalCylinder",
            "Sphere",
        ],
    ),
    ("BorderPattern", &["None", "Raised", "Sunken", "Engraved"]),
    ("Smooth", &["None", "Bezier"]),
    ("EllipseClosure", &["None", "Chord", "Radial"]),
    ("Arrow", &["None", "Open", "Filled", "Half"]),
    ("TextStyle", &["Bold", "Italic", "UnderLine"]),
    ("TextAlignment", &["Left", "Center", "Right"]),
];

/// Enumerations that are part of the language.
const PREDEFINED_ENUMERATIONS: &[(&str, &[&str])] =
    &[("StateSelect", &["never", "avoid", "default", "prefer", "always"]), ("AssertionLevel", &["error", "warning"])];

/// The literals of an enumeration that no class declares.
pub(super) fn literals(enumeration: &str, in_annotation: bool) -> &'static [&'static str] {
    let graphical = ANNOTATION_ENUMERATIONS.iter().filter(|_| in_annotation);
    let mut known = PREDEFINED_ENUMERATIONS.iter().chain(graphical);
    known.find(|(name, _)| *name == enumeration).map_or(&[], |(_, literals)| literals)
}

/// Annotations of the specification (chapter 18), by the one around them; the empty name is `annotation` itself.
pub(super) fn annotation_names(outer: &str) -> &'static [&'static str] {
    match outer {
        "" => &[
            "Documentation",
            "Icon",
            "Diagram",
            "Dialog",
            "Placement",
            "experiment",
            "Evaluate",
            "HideResult",
            "choices",
            "choicesAllMatching",
            "defaultComponentName",
            "defaultComponentPrefixes",
            "preferredView",
            "uses",
            "version",
            "versionDate",
            "conversion",
            "Inline",
            "LateInline",
            "GenerateEvents",
            "smoothOrder",
            "derivative",
            "inverse",
            "Include",
            "IncludeDirectory",
            "Library",
            "LibraryDirectory",
            "missingInnerMessage",
            "obsolete",
            "unassignedMessage",
            "absoluteValue",
            "singleInstance",
            "TestCase",
            "Line",
            "__Saltus",
        ],
        "Documentation" => &["info", "revisions", "figures"],
        "Icon" | "Diagram" => &["coordinateSystem", "graphics"],
        "coordinateSystem" => &["extent", "preserveAspectRatio", "initialScale", "grid"],
        "Placement" => &["transformation", "iconTransformation", "visible", "iconVisible"],
        "transformation" | "iconTransformation" => &["extent", "rotation", "origin"],
        "Dialog" => &[
            "tab",
            "group",
            "enable",
            "showStartAttribute",
            "colorSelector",
            "loadSelector",
            "saveSelector",
            "directorySelector",
            "groupImage",
            "connectorSizing",
        ],
        "experiment" => &["StartTime", "StopTime", "Interval", "Tolerance"],
        "choices" => &["choice", "checkBox"],
        "Line" => &["points", "color", "pattern", "thickness", "arrow", "smooth"],
        "TestCase" => &["shouldPass"],
        _ => &[],
    }
}
