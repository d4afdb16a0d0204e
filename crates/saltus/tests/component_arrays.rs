//! Arrays of alike components: kept as arrays they give the bits of the model with all elements one by one, under the same names.

#[path = "families/harness.rs"]
mod harness;

use saltus::pipeline::Outcome;
use saltus_sim::{Solver, Trajectory};

fn run(text: &str, solver: Solver, scalars: bool) -> Outcome {
    harness::run(text, solver, 1.0, 20, scalars)
}

/// All numbers of the table, as bits, by name.
fn bits(trajectory: &Trajectory) -> Vec<(String, Vec<Vec<u64>>)> {
    let columns = trajectory.segments[0].variables.iter().map(|c| c.name.clone());
    let mut found: Vec<(String, Vec<Vec<u64>>)> = columns
        .enumerate()
        .map(|(k, name)| {
            let values = trajectory.segments.iter().map(|segment| {
                let column = &segment.variables[k];
                segment.at(column.place).into_iter().map(f64::to_bits).collect()
            });
            (name, values.collect())
        })
        .collect();
    found.sort();
    found
}

fn messages(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics.iter().map(|d| d.message.clone()).collect()
}

fn is_kept(outcome: &Outcome) -> bool {
    outcome.flat.as_ref().expect("a flat model").variables.values().any(|v| v.name.contains("[:"))
}

fn assert_same(text: &str, wants_kept: bool) {
    for solver in [Solver::DormandPrince, Solver::Bdf] {
        let [kept, single] = [false, true].map(|scalars| run(text, solver, scalars));
        assert_eq!(is_kept(&kept), wants_kept, "{text}");
        assert!(!is_kept(&single));
        assert_eq!(messages(&kept), messages(&single));
        let counts = |outcome: &Outcome| outcome.balance.as_ref().map(|b| (b.equations, b.unknowns));
        assert_eq!(counts(&kept), counts(&single));
        let trajectory =
            |outcome: &Outcome| outcome.trajectory.clone().unwrap_or_else(|| panic!("no run: {:?}", messages(outcome)));
        let (kept, single) = (trajectory(&kept), trajectory(&single));
        assert!(kept.segments[0].variables.iter().all(|c| !c.name.contains("[:")));
        assert_eq!(bits(&kept), bits(&single), "{solver:?}");
    }
}

/// Kept, with all numbers within 1e-12 of those of single elements.
fn assert_same_but_for_rounding(text: &str) {
    for solver in [Solver::DormandPrince, Solver::Bdf] {
        let [kept, single] = [false, true].map(|scalars| run(text, solver, scalars));
        assert!(is_kept(&kept) && !is_kept(&single));
        let columns = |outcome: &Outcome| bits(outcome.trajectory.as_ref().expect("a trajectory"));
        let (kept, single) = (columns(&kept), columns(&single));
        assert_eq!(kept.len(), single.len());
        for ((name, kept), (other, single)) in kept.iter().zip(&single) {
            assert_eq!(name, other);
            let values = |columns: &[Vec<u64>]| columns.concat().into_iter().map(f64::from_bits).collect::<Vec<_>>();
            let (kept, single) = (values(kept), values(single));
            assert_eq!(kept.len(), single.len(), "{name}");
            assert!(kept.iter().zip(&single).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0)), "{name}");
        }
    }
}

const BLOCKS: &str = "
  block Lag
    input Real u; output Real y;
    parameter Real T = 1;
    Real x(start = 0.5, fixed = true);
  equation
    T*der(x) = u - x;
    y = 2*x;
  end Lag;";

fn test(declarations: &str, body: &str) -> String {
    format!("model Test {declarations} {body} end Test;")
}

#[test]
fn a_chain_of_blocks() {
    let body = "parameter Integer n = 70; Lag b[n](each T = 0.1);
        equation b[1].u = sin(time); for i in 2:n loop b[i].u = b[i - 1].y/2; end for;";
    assert_same(&test(BLOCKS, body), true);
}

#[test]
fn values_for_each_element() {
    let body = "parameter Integer n = 64; parameter Real T0[n] = {0.1 + 0.01*i for i in 1:n};
        Lag b[n](T = T0, x(start = {i/100 for i in 1:n})); Real total = sum(b.y);
        equation b.u = {sin(i*time) for i in 1:n};";
    assert_same(&test(BLOCKS, body), true);
}

#[test]
fn arrays_in_two_dimensions_and_inside_of_each_other() {
    let row = "model Row Lag b[8]; input Real u; equation b[1].u = u; for i in 2:8 loop b[i].u = b[i - 1].y; end for; end Row;";
    let body = "Row r[9]; equation for i in 1:9 loop r[i].u = cos(i*time); end for;";
    assert_same(&test(&format!("{BLOCKS} {row}"), body), false);
    let body = "Lag g[9, 9](each T = 0.3);
        equation for i in 1:9 loop g[i, 1].u = cos(i*time); for j in 2:9 loop g[i, j].u = g[i, j - 1].y; end for; end for;";
    assert_same(&test(BLOCKS, body), true);
    let leaks = "model Leak Real x(start = 1, fixed = true); parameter Real k = 2; equation der(x) = -k*x; end Leak;
        model Row Leak b[8](k = linspace(1, 2, 8)); Real s; equation s = b[1].x + b[8].x; end Row;";
    let body =
        "Row r[70]; Real d[70]; equation for i in 1:70 loop d[i] = r[71 - i].b[2].x + cos(time)*r[i].s; end for;";
    // The states of one element do not follow each other: norms of all states are summed in another order.
    assert_same_but_for_rounding(&test(leaks, body));
}

#[test]
fn records_bases_and_replaceable_parts() {
    let parts = "
      record Data parameter Real k = 3; parameter Real c = 1/k; end Data;
      partial model Store Real x(start = 1, fixed = true); Real q; equation der(x) = -q; end Store;
      model Linear extends Store; parameter Real g = 2; equation q = g*x; end Linear;
      model Square extends Store; parameter Real g = 1; equation q = g*x^2; end Square;
      model Cell Data d; replaceable Linear s(g = d.k) constrainedby Store; Real w[3];
      equation for j in 1:3 loop w[j] = j*d.c*s.x; end for; end Cell;";
    let body = "Cell a[65](d(k = linspace(1, 2, 65))); Cell b[65](redeclare each Square s, each d.k = 4);";
    assert_same(&test(parts, body), true);
}

#[test]
fn connections_inside_of_elements() {
    let parts = "
      connector Pin Real v; flow Real i; end Pin;
      model Resistor Pin p, n; parameter Real R = 1; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Resistor;
      model Capacitor Pin p, n; Real v(start = 1, fixed = true); equation v = p.v - n.v; der(v) = p.i; p.i + n.i = 0; end Capacitor;
      model Ground Pin p; equation p.v = 0; end Ground;
      model Loop Resistor r[2](each R = 2); Capacitor c; Ground g;
      equation connect(c.p, r[1].p); connect(r[1].n, r[2].p); connect(r[2].n, c.n); connect(c.n, g.p); end Loop;";
    let body = "Loop l[64](r(each R = 3)); Real total = sum(l.c.v);";
    assert_same(&test(parts, body), true);
}

#[test]
fn what_needs_single_elements() {
    let events = "model Ball Real h(start = 1, fixed = true), v(start = 0, fixed = true);
      equation der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -0.7*pre(v)); end when; end Ball;";
    assert_same(&test(events, "Ball b[64](h(start = linspace(1, 2, 64)));"), false);
    let sizes = "model Cell parameter Integer n = 1; Real x[n](each start = 1, each fixed = true);
      equation for i in 1:n loop der(x[i]) = -x[i]; end for; end Cell;";
    assert_same(&test(sizes, "Cell c[64](n = {if i > 3 then 1 else 2 for i in 1:64});"), false);
    let initial =
        "model Cell Real x(fixed = false, start = 2); initial equation x = 3; equation der(x) = -x; end Cell;";
    assert_same(&test(initial, "Cell c[64];"), true);
    let outside = "model Cell input Real u; Real x(start = 2, fixed = true); equation der(x) = -u; end Cell;";
    let body = "Cell c[64]; equation for i in 1:64 loop c[i].u = c[i].x; end for;
        when time > 0.5 then reinit(c[3].x, 1); end when;";
    assert_same(&test(outside, body), false);
}
