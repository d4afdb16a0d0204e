//! However connectors are connected, they get as many equations as a balanced model needs.

mod common;

use common::Case;

/// A small linear congruential generator (constants of Knuth's MMIX), so that failures can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// n connectors of components, one potential and one flow each: each flow set gives one equation and each potential set
/// one less than it has members, n in total whatever the sets are.
#[test]
fn n_inside_connectors_give_n_equations() {
    let mut random = Random(1);
    for round in 0..200 {
        let n = 1 + random.below(20);
        let mut text: String = (0..n).map(|i| format!("Real c{i}.v\nflow Real c{i}.i\n")).collect();
        for _ in 0..random.below(2 * n) {
            let (a, b) = (random.below(n), random.below(n));
            if a != b {
                text += &format!("connect c{a}.v c{b}.v\nconnect c{a}.i c{b}.i\n");
            }
        }
        let case = Case::new(&text);
        assert_eq!(case.messages(), "");
        assert_eq!(case.result.equations.len(), n, "round {round}:\n{text}");
    }
}

/// Arrays of 3, connected as a whole or by elements: three scalar equations a connector.
#[test]
fn partly_connected_arrays_give_as_many_scalar_equations() {
    let mut random = Random(2);
    for round in 0..200 {
        let n = 2 + random.below(8);
        let mut text: String = (0..n).map(|i| format!("Real[3] c{i}.v\nflow Real[3] c{i}.i\n")).collect();
        for _ in 0..random.below(2 * n) {
            let (a, b) = (random.below(n), random.below(n));
            let (i, j) = (1 + random.below(3), 1 + random.below(3));
            if a == b {
                continue;
            }
            text += &match random.below(2) {
                0 => format!("connect c{a}.v c{b}.v\nconnect c{a}.i c{b}.i\n"),
                _ => format!("connect c{a}.v[{i}] c{b}.v[{j}]\nconnect c{a}.i[{i}] c{b}.i[{j}]\n"),
            };
        }
        let case = Case::new(&text);
        assert_eq!(case.messages(), "");
        let n_scalars: u64 = case
            .result
            .equations
            .iter()
            .map(|e| match &e.kind {
                saltus_flat::EquationKind::Equality { left, .. } => left.ty.n_elements().unwrap(),
                other => panic!("{other:?}"),
            })
            .sum();
        assert_eq!(n_scalars, 3 * n as u64, "round {round}:\n{text}");
    }
}

/// The order of the connections changes neither which variables are equal nor which flows are added: the equations,
/// as sorted text, stay the same.
#[test]
fn the_order_of_connections_does_not_matter() {
    let mut random = Random(3);
    for _ in 0..100 {
        let n = 2 + random.below(10);
        let declarations: String = (0..n).map(|i| format!("Real c{i}.v\nflow Real c{i}.i\n")).collect();
        let mut lines: Vec<String> = Vec::new();
        for _ in 0..n {
            let (a, b) = (random.below(n), random.below(n));
            if a != b {
                lines.push(format!("connect c{a}.v c{b}.v\n"));
                lines.push(format!("connect c{a}.i c{b}.i\n"));
            }
        }
        let sorted = |lines: &[String]| {
            let case = Case::new(&(declarations.clone() + &lines.concat()));
            let mut equations: Vec<String> = case.equations().lines().map(str::to_string).collect();
            equations.sort();
            equations
        };
        let forward = sorted(&lines);
        for i in (1..lines.len()).rev() {
            lines.swap(i, random.below(i + 1));
        }
        assert_eq!(forward, sorted(&lines));
    }
}
