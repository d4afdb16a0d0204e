//! What names mean: definitions, uses and types, as a person would say.

use saltus::Session;
use saltus_frontend::{DefinitionKind, References};

use crate::bench::session;

/// The place of the `n`th (from 0) `needle` in the present text of a file: its id and its first byte.
fn at(session: &Session, path: &str, needle: &str, n: usize) -> (saltus_base::FileId, u32) {
    let file = session.file_id(path).unwrap();
    let offset = session.with_sources(|sources| {
        let text = &sources.get(file).unwrap().text;
        text.match_indices(needle).nth(n).unwrap_or_else(|| panic!("no `{needle}` number {n} in {path}")).0
    });
    (file, offset as u32)
}

/// `path:line:column kind` of the definition of a name.
fn definition(session: &Session, references: &References, path: &str, needle: &str, n: usize) -> String {
    let (file, offset) = at(session, path, needle, n);
    let Some(found) = references.definition_at(file, offset) else { return "nothing".to_owned() };
    let place = session.with_sources(|sources| sources.location(found.span)).unwrap_or_default();
    match &found.kind {
        DefinitionKind::Class { qualified_name } => format!("{place} class {qualified_name}"),
        DefinitionKind::Component { owner, .. } => {
            let ty = references.type_of(found).map_or("?".to_owned(), |ty| ty.text);
            format!("{place} {ty} {owner}.{}", found.name)
        }
        DefinitionKind::EnumerationLiteral { owner } => format!("{place} literal {owner}.{}", found.name),
    }
}

const PARTS: &str = "package Parts
  type Voltage = Real(unit = \"V\");
  type Kind = enumeration(simple, hard);
  connector Pin Voltage v; flow Real i; end Pin;
  record Data parameter Real R = 1 \"resistance\"; end Data;
  partial model TwoPin Pin p, n; end TwoPin;
  model Resistor
    extends TwoPin;
    parameter Real R = 2;
    Data data(R = 5);
  equation
    p.v - n.v = R*p.i + data.R*0;
    p.i + n.i = 0;
  end Resistor;
  function scaled input Real u; input Real factor = 1; output Real y; algorithm y := factor*u; end scaled;
  model Holder replaceable Resistor r constrainedby TwoPin; replaceable model Part = Resistor; Part q; end Holder;
end Parts;
";

const MODEL: &str = "model M
  import Parts.Resistor;
  import E = Parts;
  Resistor r(R = 3, data(R = 7));
  Resistor s[2](each R = 4);
  parameter E.Kind kind = E.Kind.hard;
  Parts.Holder h(redeclare Resistor r(R = 8), redeclare model Part = E.Resistor(R = 9));
  Real y = E.scaled(u = time, factor = r.R);
equation
  connect(r.p, s[1].n);
  connect(r.n, s[2].p);
  s[1].p.v = 0;
  connect(s[1].p, s[2].n);
end M;
";

#[test]
fn names_mean_what_a_person_says() {
    let session = session(&[("Parts.mo", PARTS), ("M.mo", MODEL)]);
    let found = session.references("M");
    let references = found.references.as_ref().expect("references");
    let means = |needle: &str, n: usize| definition(&session, references, "M.mo", needle, n);
    // Places counted by hand in the two texts.
    for ((needle, n), expected) in [
        // import Parts.Resistor; import E = Parts;
        (("Parts", 0), "Parts.mo:1:9 class Parts"),
        (("Resistor", 0), "Parts.mo:7:9 class Parts.Resistor"),
        (("Parts", 1), "Parts.mo:1:9 class Parts"),
        // Resistor r(R = 3, data(R = 7));
        (("Resistor", 1), "Parts.mo:7:9 class Parts.Resistor"),
        (("R = 3", 0), "Parts.mo:9:20 parameter Real Parts.Resistor.R"),
        (("data", 0), "Parts.mo:10:10 Parts.Data Parts.Resistor.data"),
        (("R = 7", 0), "Parts.mo:5:30 parameter Real Parts.Data.R"),
        (("R = 4", 0), "Parts.mo:9:20 parameter Real Parts.Resistor.R"),
        // parameter E.Kind kind = E.Kind.hard;
        (("E.Kind", 0), "Parts.mo:1:9 class Parts"),
        (("Kind", 0), "Parts.mo:3:8 class Parts.Kind"),
        (("hard", 0), "Parts.mo:3:35 literal Parts.Kind.hard"),
        // Parts.Holder h(redeclare Resistor r(R = 8), redeclare model Part = E.Resistor(R = 9));
        (("Holder", 0), "Parts.mo:16:9 class Parts.Holder"),
        (("r(R = 8)", 0), "Parts.mo:16:37 Parts.Resistor Parts.Holder.r"),
        (("R = 8", 0), "Parts.mo:9:20 parameter Real Parts.Resistor.R"),
        (("Part =", 0), "Parts.mo:16:79 class Parts.Holder.Part"),
        (("R = 9", 0), "Parts.mo:9:20 parameter Real Parts.Resistor.R"),
        // Real y = E.scaled(u = time, factor = r.R);
        (("scaled", 0), "Parts.mo:15:12 class Parts.scaled"),
        (("u = time", 0), "Parts.mo:15:30 input Real Parts.scaled.u"),
        (("factor", 0), "Parts.mo:15:44 input Real Parts.scaled.factor"),
        (("r.R", 0), "M.mo:4:12 Parts.Resistor M.r"),
        (("R);", 0), "Parts.mo:9:20 parameter Real Parts.Resistor.R"),
        // connect(r.p, s[1].n); s[1].p.v = 0;
        (("r.p", 0), "M.mo:4:12 Parts.Resistor M.r"),
        (("p, s", 0), "Parts.mo:6:28 Parts.Pin Parts.TwoPin.p"),
        (("s[1]", 0), "M.mo:5:12 Parts.Resistor[2] M.s"),
        (("n);", 0), "Parts.mo:6:31 Parts.Pin Parts.TwoPin.n"),
        (("v = 0", 0), "Parts.mo:4:25 Parts.Voltage Parts.Pin.v"),
        // end M
        (("M;", 0), "M.mo:1:7 class M"),
    ] {
        assert_eq!(means(needle, n), expected, "`{needle}` number {n}");
    }
    let inside = |needle: &str, n: usize| definition(&session, references, "Parts.mo", needle, n);
    assert_eq!(inside("TwoPin;", 1), "Parts.mo:6:17 class Parts.TwoPin", "extends TwoPin");
    assert_eq!(inside("R*p.i", 0), "Parts.mo:9:20 parameter Real Parts.Resistor.R");
    assert_eq!(inside("R*0", 0), "Parts.mo:5:30 parameter Real Parts.Data.R");
    assert_eq!(inside("factor*u", 0), "Parts.mo:15:44 input Real Parts.scaled.factor");
}

#[test]
fn the_uses_of_a_definition_are_found_in_all_files() {
    let session = session(&[("Parts.mo", PARTS), ("M.mo", MODEL)]);
    let found = session.references("M");
    let references = found.references.as_ref().expect("references");
    let (file, offset) = at(&session, "Parts.mo", "R = 2", 0);
    let definition = references.definition_at(file, offset).expect("the declaration itself");
    let place = |span| session.with_sources(|sources| sources.location(span)).unwrap();
    let uses: Vec<String> = references.uses_of(definition).map(place).collect();
    // `R*p.i`, then the modifications and the argument in M, counted by hand.
    assert_eq!(uses, ["Parts.mo:12:17", "M.mo:4:14", "M.mo:5:22", "M.mo:7:39", "M.mo:7:81", "M.mo:8:42"]);
    let (file, offset) = at(&session, "Parts.mo", "R = 1 ", 0);
    assert_eq!(references.definition_at(file, offset).map(|d| d.description.as_str()), Some("resistance"));
}

#[test]
fn every_use_is_spelled_like_its_definition() {
    let session = session(&[("Parts.mo", PARTS), ("M.mo", MODEL)]);
    let found = session.references("M");
    let sources = found.sources();
    let mut n_uses = 0;
    for (span, definitions) in found.references.as_ref().expect("references").uses() {
        for definition in definitions {
            assert_eq!(sources.slice(definition.span), definition.name);
            // `E` is another name for `Parts`.
            let used = sources.slice(span);
            assert!(used == definition.name || used == "E", "{used} for {}", definition.name);
            n_uses += 1;
        }
    }
    assert!(n_uses > 60, "{n_uses}");
}

#[test]
fn an_edit_gives_another_index() {
    let mut session = session(&[("M.mo", "model M Real x = 1; Real y = x; end M;")]);
    let old = session.references("M");
    session.set_text("M.mo", "model M\n  Real x = 1;\n  Real y = x;\nend M;");
    let new = session.references("M");
    let means = |session: &Session, r: &saltus::Flattening| {
        definition(session, r.references.as_ref().unwrap(), "M.mo", "x;", 0)
    };
    assert_eq!(means(&session, &new), "M.mo:2:8 Real M.x");
    assert_eq!(means(&session, &old), "nothing", "the spans of the old text are not those of the new one");
}

#[test]
fn the_index_changes_nothing_else() {
    let session = session(&[("Parts.mo", PARTS), ("M.mo", MODEL)]);
    let (with, without) = (session.references("M"), session.flatten("M", &Default::default()));
    let text = |f: &saltus::Flattening| saltus_flat::print(f.model.as_ref().expect("a model"));
    assert_eq!(text(&with), text(&without));
    assert_eq!(with.diagnostics.len(), without.diagnostics.len());
}

/// On the Modelica standard library 4.1.0, if the environment variable `MSL` names its directory. The places are those that a
/// person finds in its files.
#[test]
fn names_in_a_model_of_the_standard_library() {
    let Some(directory) = std::env::var_os("MSL") else { return };
    let mut session = Session::on_disk();
    session.add_library(directory.as_ref());
    let found = session.references("Modelica.Mechanics.Rotational.Examples.CoupledClutches");
    let references = found.references.as_ref().expect("references");
    let own = found.files().find(|path| path.ends_with("CoupledClutches.mo")).expect("its file");
    let own = own.display().to_string();
    for (needle, expected) in [
        ("Example;", "Icons.mo:124:17 class Modelica.Icons.Example"),
        ("Frequency f", "Units.mo:270:10 class Modelica.Units.SI.Frequency"),
        ("Inertia J1", "Rotational/Components/Inertia.mo:2:7 class Modelica.Mechanics.Rotational.Components.Inertia"),
        (
            "J=1",
            "Components/Inertia.mo:4:24 parameter Modelica.Units.SI.Inertia Modelica.Mechanics.Rotational.Components.Inertia.J",
        ),
        (
            "phi(fixed",
            "Components/Inertia.mo:8:12 Modelica.Units.SI.Angle Modelica.Mechanics.Rotational.Components.Inertia.phi",
        ),
        ("useSupport=true", "Interfaces/PartialElementaryOneFlangeAndSupport2.mo:4:21 parameter Boolean Modelica."),
        ("fn_max=20", "Components/Clutch.mo:17:22 parameter Modelica.Units.SI.Force Modelica."),
        ("amplitude=10", "Blocks/Sources.mo:293:20 parameter Real Modelica.Blocks.Sources.Sine.amplitude"),
        ("startTime=T2", "Blocks/Interfaces.mo:480:23 parameter Modelica.Units.SI.Time Modelica.Blocks.Interfaces."),
        ("T2) annotation", "Examples/CoupledClutches.mo:6:21 parameter Modelica.Units.SI.Time Modelica."),
        ("f,\n    phase", "Examples/CoupledClutches.mo:4:26 parameter Modelica.Units.SI.Frequency Modelica."),
        ("flange, J1", "Interfaces/PartialElementaryOneFlangeAndSupport2.mo:10:12 Modelica."),
        (
            "flange_a)",
            "Interfaces/PartialTwoFlanges.mo:5:12 Modelica.Mechanics.Rotational.Interfaces.Flange_a Modelica.",
        ),
        ("y, torque.tau", "Blocks/Interfaces.mo:300:16 Modelica.Blocks.Interfaces.RealOutput Modelica."),
    ] {
        let found = definition(&session, references, &own, needle, 0);
        assert!(found.contains(expected), "`{needle}`: {found}");
    }
    let sources = found.sources();
    let others: Vec<String> = references
        .uses()
        .flat_map(|(span, definitions)| definitions.into_iter().map(move |definition| (span, definition)))
        .filter(|(span, definition)| sources.slice(*span) != definition.name)
        .map(|(span, definition)| format!("{} {}", sources.slice(span), definition.name))
        .collect();
    assert_eq!(others, [""; 0], "names that are spelled otherwise than their definitions");
}
