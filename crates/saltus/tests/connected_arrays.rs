//! Connections between elements of component arrays: as families and one by one they have the same equations and results.
//!
//! Every network is regular, however it is connected: a cell stores heat, and each of its ports leads there through a conductance, so a
//! connection set is a node whose temperature is a mean with positive weights.

#[path = "families/harness.rs"]
mod harness;
#[path = "families/random.rs"]
mod random;

use std::fmt::Write as _;

use random::Random;
use saltus::pipeline::Outcome;
use saltus_sim::Solver;

const CLASSES: &str = "
connector Port Real T; flow Real Q; end Port;
connector Pair Real T[2]; flow Real Q[2]; end Pair;
connector In = input Real;
connector Out = output Real;
model Cell
  Port a, b, p[2]; Pair q; In u; Out y;
  parameter Real C = 1, G = 2;
  Real T(start = 1, fixed = true);
equation
  C*der(T) = a.Q + b.Q + p[1].Q + p[2].Q + q.Q[1] + q.Q[2] + u;
  a.Q = G*(a.T - T); b.Q = 3*(b.T - T);
  p[1].Q = p[1].T - T; p[2].Q = 1.5*(p[2].T - T);
  q.Q[1] = q.T[1] - T; q.Q[2] = 0.5*(q.T[2] - T);
  y = 0.1*T;
end Cell;
model Chain
  Port a, b; Cell c[3](C = {1, 2, 3}); In u; Out y;
equation
  connect(a, c[1].a); connect(c[1].b, c[2].a); connect(c[2:3].p[1], c[1:2].p[2]); connect(c[3].b, b);
  connect(u, c[1].u); connect(c[1:2].y, c[2:3].u); connect(c[3].y, y);
end Chain;
";

impl Random {
    fn of<'s>(&mut self, choices: &[&'s str]) -> &'s str {
        choices[self.below(choices.len())]
    }
}

/// The grid has so many rows and columns.
const ROWS: usize = 8;
const COLUMNS: usize = 9;

struct Array {
    name: &'static str,
    n: usize,
    is_chain: bool,
}

struct Network {
    random: Random,
    arrays: Vec<Array>,
    connects: Vec<String>,
}

impl Network {
    fn new(seed: u64) -> Network {
        let mut random = Random(seed);
        random.below(2);
        let mut arrays: Vec<Array> =
            ["x", "y"].into_iter().map(|name| Array { name, n: 64 + random.below(4), is_chain: false }).collect();
        if random.chance(40) {
            arrays.push(Array { name: "z", n: 64 + random.below(3), is_chain: true });
        }
        Network { random, arrays, connects: Vec::new() }
    }

    fn array(&mut self) -> usize {
        self.random.below(self.arrays.len())
    }

    /// A port that elements of an array have.
    fn port(&mut self, array: usize) -> &'static str {
        match self.arrays[array].is_chain {
            true => self.random.of(&["a", "b"]),
            false => self.random.of(&["a", "b", "p[1]", "p[2]"]),
        }
    }

    fn scalar(&mut self) -> String {
        let port = self.random.of(&["a", "b", "p[1]", "p[2]"]);
        format!("{}.{port}", self.random.of(&["s", "t"]))
    }

    fn connect(&mut self) {
        let (a, b) = (self.array(), self.array());
        let (p, q) = (self.port(a), self.port(b));
        let (x, y) = (self.arrays[a].name, self.arrays[b].name);
        let least = self.arrays[a].n.min(self.arrays[b].n);
        let (i, j) = (1 + self.random.below(self.arrays[a].n), 1 + self.random.below(self.arrays[b].n));
        let shift = 1 + self.random.below(3);
        let text = match self.random.below(15) {
            0..=2 => format!("for i in 1:{} loop connect({x}[i].{p}, {y}[i + {shift}].{q}); end for;", least - shift),
            3 => format!("connect({x}[{shift}:{}].{p}, {y}[1:{}].{q});", least - 1, least - shift),
            4 => format!("for i in 1:{least} loop connect({x}[{least} - i + 1].a, {y}[i].b); end for;"),
            5 => format!("for i in {least}:-1:2 loop connect({x}[i].a, {y}[i - 1].b); end for;"),
            6 => format!("for i in {shift}:2:{least} loop connect({x}[i].{p}, {y}[i].b); end for;"),
            7 => {
                let scalar = self.scalar();
                format!("for i in {shift}:{least} loop connect({x}[i].{p}, {scalar}); end for;")
            }
            8 => format!("connect({x}[{i}].{p}, {});", self.scalar()),
            9 => format!("connect({x}[{i}].a, {y}[{j}].b);"),
            10 => format!("for i in {shift}:{} loop connect({x}[i].a, {x}[i].b); end for;", least - shift),
            11 => format!("for i in 5:4 loop connect({x}[i].a, {y}[i].b); end for;"),
            12 => format!("connect({x}[1:{least}].a, {y}[1:{least}].b);"),
            13 if self.arrays[a].is_chain || self.arrays[b].is_chain => format!("connect({x}[1].a, {x}[2].a);"),
            13 => format!("for i in 1:{} loop connect({x}[i].q, {y}[i + {shift}].q); end for;", least - shift),
            _ => self.grid(),
        };
        if self.random.chance(10) {
            self.connects.push(text.clone());
        }
        self.connects.push(text);
    }

    fn grid(&mut self) -> String {
        let (a, b) = (self.random.of(&["a", "p[1]"]), self.random.of(&["b", "p[2]"]));
        let (i, j) = (1 + self.random.below(ROWS), 1 + self.random.below(COLUMNS));
        match self.random.below(6) {
            0 => format!(
                "for i in 1:{ROWS} loop for j in 1:{} loop connect(g[i, j].{a}, g[i, j + 1].{b}); end for; end for;",
                COLUMNS - 1
            ),
            1 => format!(
                "for i in 1:{} loop for j in 1:{COLUMNS} loop connect(g[i, j].{a}, g[i + 1, j].{b}); end for; end for;",
                ROWS - 1
            ),
            2 => format!("connect(g[:, {j}].{a}, x[1:{ROWS}].b);"),
            3 => format!("connect(g[{i}, :].{a}, y[11:{}].b);", 10 + COLUMNS),
            4 => format!("connect(g[2:{ROWS}, 2:{COLUMNS}].{a}, g[1:{}, 1:{}].{b});", ROWS - 1, COLUMNS - 1),
            _ => format!("connect(g[{i}, {j}].{a}, {});", self.scalar()),
        }
    }

    /// Every input has one source.
    fn signals(&mut self) {
        for k in 0..self.arrays.len() {
            let Array { name, n, .. } = self.arrays[k];
            let source = self.random.of(&["s.y", "t.y", "y[3].y"]);
            if self.random.chance(50) {
                self.connects.push(format!("connect({source}, {name}[1].u);"));
                self.connects.push(format!("for i in 2:{n} loop connect({name}[i - 1].y, {name}[i].u); end for;"));
            } else {
                self.connects.push(format!("for i in 1:{n} loop connect({source}, {name}[i].u); end for;"));
            }
        }
        self.connects.push("connect(t.y, s.u); connect(s.y, t.u);".into());
        self.connects.push(format!(
            "for i in 1:{ROWS} loop for j in 1:{COLUMNS} loop connect(x[i + j].y, g[i, j].u); end for; end for;"
        ));
    }

    fn text(&mut self) -> String {
        let mut declarations = String::from("Cell s(C = 2, T.start = 3), t(G = 0.7);\n");
        for Array { name, n, is_chain } in &self.arrays {
            let _ = match is_chain {
                true => writeln!(declarations, "Chain {name}[{n}];"),
                false => {
                    writeln!(declarations, "Cell {name}[{n}](each C = 2, T.start = {{sin(i) for i in 1:{n}}});")
                }
            };
        }
        let _ = writeln!(declarations, "Cell g[{ROWS}, {COLUMNS}](each G = 1.5);");
        self.signals();
        for _ in 0..2 + self.random.below(7) {
            self.connect();
        }
        for k in (1..self.connects.len()).rev() {
            let other = self.random.below(k + 1);
            self.connects.swap(k, other);
        }
        let classes = match self.random.chance(25) {
            true => CLASSES.replace("T(start = 1, fixed = true)", "T(start = 1)"),
            false => CLASSES.into(),
        };
        format!("{classes} model Test {declarations} equation {} end Test;", self.connects.join("\n"))
    }
}

fn run(text: &str, scalars: bool) -> Outcome {
    harness::run(text, Solver::DormandPrince, 0.02, 2, scalars)
}

/// All numbers by name.
fn numbers(outcome: &Outcome) -> Vec<(String, Vec<f64>)> {
    let Some(trajectory) = &outcome.trajectory else { return Vec::new() };
    let [segment] = &trajectory.segments[..] else { panic!("one segment") };
    let mut found: Vec<(String, Vec<f64>)> =
        segment.variables.iter().map(|c| (c.name.clone(), segment.at(c.place).into_iter().collect())).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Norms of states are summed in another order, and nodes are eliminated in another one.
fn are_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * (1.0 + b.abs())
}

fn messages(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics.iter().map(|d| d.message.clone()).collect()
}

fn is_kept(outcome: &Outcome) -> bool {
    outcome.flat.as_ref().expect("a flat model").variables.values().any(|v| v.name.contains("[:"))
}

/// The same messages, counts and results with and without arrays; whether the arrays were kept.
fn compare(text: &str) -> bool {
    let [families, single] = [false, true].map(|scalars| run(text, scalars));
    assert_eq!(messages(&families), messages(&single), "{text}");
    let counts = |outcome: &Outcome| outcome.balance.as_ref().map(|b| (b.equations, b.unknowns));
    assert_eq!(counts(&families), counts(&single), "{text}");
    let (one, other) = (numbers(&families), numbers(&single));
    assert!(!one.is_empty(), "{:?} {text}", messages(&families));
    assert_eq!(one.len(), other.len(), "{text}");
    for ((name, one), (same_name, other)) in one.iter().zip(&other) {
        assert_eq!(name, same_name);
        assert!(one.iter().zip(other).all(|(a, b)| are_close(*a, *b)), "{name}: {text}");
    }
    is_kept(&families)
}

#[test]
fn random_networks_have_the_results_of_single_connections() {
    let n_models = 30;
    let n_kept = (1..=n_models).filter(|&seed| compare(&Network::new(seed).text())).count();
    // All but those with a connector that is connected to itself, which is a warning.
    assert!(n_kept * 10 > n_models as usize * 9, "{n_kept} of {n_models} are kept");
}

/// An array of cells without other connections than those of the test.
const PLAIN: &str = "
connector Port Real T; flow Real Q; end Port;
model Cell
  Port a, b; Real T(start = 1, fixed = true);
equation
  der(T) = a.Q + b.Q; a.Q = 2*(a.T - T); b.Q = 3*(b.T - T);
end Cell;
";

fn is_kept_alike(declarations: &str, connects: &str) -> bool {
    compare(&format!("{PLAIN} model Test {declarations} equation {connects} end Test;"))
}

#[test]
fn loops_of_any_range() {
    let chain = "for i in 1:n - 1 loop connect(c[i].b, c[i + 1].a); end for;";
    for (n, wants_kept) in [(63, false), (64, true), (65, true), (66, true)] {
        let declarations = format!("parameter Integer n = {n}; Cell c[n](T.start = {{cos(i) for i in 1:n}});");
        assert_eq!(is_kept_alike(&declarations, chain), wants_kept, "{n}");
    }
    let declarations = "parameter Integer n = 70, m = 2; Cell c[n](T.start = {cos(i) for i in 1:n}), s;";
    for connects in [
        "for i in 1:2:n - 1 loop connect(c[i].b, c[i + 1].a); end for;",
        "for i in n:-1:2 loop connect(c[i].a, c[i - 1].b); end for;",
        "for i in 1:n loop connect(c[i].b, c[n - i + 1].a); end for;",
        "for i in m:div(n, 2) loop connect(c[2*i - 1].b, c[m*i].a); end for;",
        "for i in 5:4 loop connect(c[i].b, c[i + 1].a); end for;",
        "for i in {1, 2, 40, 41, 50} loop connect(c[i].b, c[i + 1].a); end for;",
        "connect(c[1:n - 1].b, c[2:n].a); connect(c[1:n - 1].b, c[2:n].a); connect(c[n].b, c[1].a);",
        "connect(c[{1, 5, 3}].b, c[{2, 9, 4}].a);",
        "connect(c.a, c.b);",
        "connect(c[end].a, c[1].b); for i in 1:n loop connect(c[i].a, s.a); end for;",
        "for i in 1:n loop if i < n then connect(c[i].b, c[i + 1].a); end if; end for;",
        "for i in 1:n loop connect(c[i].a, c[mod(i, n) + 1].b); end for;",
        "for i in 1:n - 1 loop connect(c[i].b, c[i + 1].a); connect(c[i].b, c[i + 1].b); end for;",
    ] {
        assert!(is_kept_alike(declarations, connects), "{connects}");
    }
}

#[test]
fn connectors_of_classes_around_elements() {
    let row = "model Row Port l, r[2]; Cell c[3](T.start = {1, 2, 3}); equation
        connect(l, c[1].a); connect(c[1:2].b, c[2:3].a); connect(c[3].b, r[1]); connect(c[2].b, r[2]); end Row;";
    let rod = "model Rod Port l, r; Cell c[64](T.start = {sin(i) for i in 1:64}); equation
        connect(l, c[1].a); for i in 1:63 loop connect(c[i].b, c[i + 1].a); end for; connect(c[64].b, r); end Rod;";
    let strip =
        "model Strip Port p[64]; Cell c[64](T.start = {sin(i) for i in 1:64}); equation connect(p, c.a); end Strip;";
    for (class, declarations, connects) in [
        (
            row,
            "Row w[64]; Cell s;",
            "for i in 1:63 loop connect(w[i].r[2], w[i + 1].l); end for; connect(w[7].r[1], s.a);",
        ),
        (rod, "Rod w[3];", "connect(w[1:2].r, w[2:3].l);"),
        (rod, "Rod w[65];", "for i in 1:64 loop connect(w[i].r, w[i + 1].l); end for;"),
        (strip, "Strip w, v; Cell s;", "connect(w.p[2:64], v.p[1:63]); connect(w.p[1], s.a);"),
    ] {
        let text = format!("{PLAIN} {class} model Test {declarations} equation {connects} end Test;");
        assert!(compare(&text), "{text}");
    }
    let outer = "model Leaky Cell k; outer Port air; equation connect(k.b, air); end Leaky;";
    let text = format!(
        "{PLAIN} {outer} model Test inner Port air; Cell s; Leaky w[64](k(T(start = {{sin(i) for i in 1:64}}))); equation connect(air, s.a); end Test;"
    );
    assert!(compare(&text), "{text}");
}

#[test]
fn one_connector_that_many_elements_meet_counts_them() {
    let hub = "model Hub Port a; Real T(start = 1, fixed = true); parameter Real k = cardinality(a); equation
        der(T) = k + a.Q - T; a.Q = a.T - T; end Hub;";
    for connects in [
        "for i in 1:64 loop connect(w[i].a, s.a); end for; connect(w[3].b, s.a);",
        "connect(w[1].a, s.a); for i in 1:32 loop connect(w[i].b, s.a); connect(w[2*i].a, s.a); end for;",
    ] {
        let text = format!("{PLAIN} {hub} model Test Hub s; Cell w[64]; equation {connects} end Test;");
        assert!(compare(&text), "{text}");
    }
}

#[test]
fn what_takes_connected_arrays_apart() {
    let streams = "connector Fluid Real p; flow Real m; stream Real h_outflow; end Fluid;
        model Pipe Fluid a, b; Real T(start = 1, fixed = true); equation a.m + b.m = 0; a.m = a.p - b.p;
          a.h_outflow = T; b.h_outflow = T; der(T) = inStream(a.h_outflow) - T; end Pipe;
        model End Fluid f; parameter Real p = 1; equation f.p = p; f.h_outflow = 2; end End;";
    let options = "model Optional parameter Boolean has = true; extends Cell; Port h if has; equation if has then h.Q = h.T - T; end if; end Optional;";
    let bus = "expandable connector Bus end Bus; connector Out = output Real; model Sender Out y; Real x(start = 1, fixed = true); equation der(x) = -x; y = x; end Sender;";
    let sized = "connector Sized Real T; flow Real Q; parameter Integer n = 1; end Sized;
        model Block Sized a, b; Real T(start = 1, fixed = true); equation der(T) = a.Q + b.Q; a.Q = a.T - T; b.Q = b.T - T; end Block;";
    let counted =
        "model Counted Port a, b; Real T(start = 1, fixed = true); parameter Real k = cardinality(a); equation
        der(T) = k + a.Q + b.Q; a.Q = 2*(a.T - T); b.Q = 3*(b.T - T); end Counted;";
    for (class, declarations, connects) in [
        (
            streams,
            "Pipe w[64]; End l(p = 2), r;",
            "connect(l.f, w[1].a); for i in 1:63 loop connect(w[i].b, w[i + 1].a); end for; connect(w[64].b, r.f);",
        ),
        (
            options,
            "Optional w[64](has = {mod(i, 2) == 0 for i in 1:64}); Cell s;",
            "for i in 1:64 loop connect(w[i].h, s.a); end for;",
        ),
        (bus, "Sender w[64]; Bus bus; Real z = bus.y;", "connect(bus.y, w[3].y);"),
        (sized, "Block w[64];", "for i in 1:63 loop connect(w[i].b, w[i + 1].a); end for;"),
        (counted, "Counted w[64];", "for i in 1:63 loop connect(w[i].b, w[i + 1].a); end for;"),
        ("", "Cell w[64];", "for i in 1:64 loop connect(w[i].a, w[65 - i].a); end for; connect(w[1].b, w[1].b);"),
    ] {
        let text = format!("{PLAIN} {class} model Test {declarations} equation {connects} end Test;");
        assert!(!compare(&text), "{text}");
    }
    let once = "model Once Port a annotation(mayOnlyConnectOnce = \"it is\"); Real T(start = 1, fixed = true); equation
        der(T) = a.Q; a.Q = a.T - T; end Once;";
    let many = "Cell w[64]; Once s; equation for i in 1:64 loop connect(w[i].a, s.a); end for;";
    let text = format!("{PLAIN} {once} model Test {many} end Test;");
    let told = [false, true].map(|scalars| messages(&run(&text, scalars)));
    assert_eq!(told[0], told[1]);
    assert!(told[0].iter().any(|m| m.contains("`s.a`")), "{told:?}");
    // All elements have the component, or none.
    let alike = "model Alike Port a; parameter Boolean has = true; Cell core, side if has; equation connect(a, core.a); connect(side.a, core.b); end Alike;";
    for has in ["true", "false"] {
        let body = format!(
            "Alike w[64](each has = {has}); Cell s; equation for i in 1:64 loop connect(w[i].a, s.a); end for;"
        );
        let text = format!("{PLAIN} {alike} model Test {body} end Test;");
        assert!(compare(&text), "{text}");
    }
}

#[test]
fn start_values_that_are_taken_are_told_element_by_element() {
    let cell = "model Open Port a; Real T(start = 1), S; equation der(T) = a.Q + S - T; der(S) = T - S; a.Q = a.T - T; end Open;
        model Two Open c[70]; Open d; equation connect(d.a, c[1].a); end Two;";
    let body = "Two w; Open e[64]; Real x(start = 3), y; equation for i in 1:63 loop connect(e[i].a, e[i + 1].a); end for; der(x) = -y; der(y) = x;";
    let text = format!("{PLAIN} {cell} model Test {body} end Test;");
    assert!(compare(&text), "{text}");
    let told = messages(&run(&text, false));
    // States with a start value come first: 70 + 1 + 64 + 1 of 272.
    let first = "272 initial conditions are missing: the start values of w.c[1].T, w.c[2].T,";
    assert!(told.iter().any(|m| m.starts_with(first)), "{told:?}");
    // One condition is given, and it is open which start value it replaces.
    assert!(!compare(&text.replace("equation for", "initial equation e[1].T + e[2].T = 3; equation for")));
}

#[test]
fn elements_that_are_left_open_are_named() {
    let text = "model Test Cell c[64]; equation for i in 1:63 loop connect(c[i].b, c[i + 1].a); end for; end Test;";
    let outcome = run(&format!("{PLAIN} {text}"), false);
    assert!(is_kept(&outcome));
    let messages = messages(&outcome);
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("`c[1].a` is not connected, so `c[1].a.Q` is zero"), "{messages:?}");
    assert!(messages[1].contains("`c[64].b` is not connected, so `c[64].b.Q` is zero"), "{messages:?}");
    // Two connectors of each element: the first 25 elements are shown, element by element.
    assert!(is_kept_alike("Cell c[70];", "connect(c[3].a, c[4].a);"));
}
