//! Random models with arrays: families as loops and as scalars have the same results.
//!
//! Each model is regular by construction: its arrays are defined one after the other from those before, by one of a few forms; then equations
//! are written with their sides swapped, moved and in any order, so that what determines what must be found.

#[path = "families/harness.rs"]
mod harness;
#[path = "families/random.rs"]
mod random;

use std::fmt::Write as _;

use random::Random;
use saltus::pipeline::Outcome;
use saltus_program::Section;
use saltus_sim::Solver;

const N: usize = 70;

impl Random {
    fn number(&mut self) -> String {
        format!("({})", (self.below(40) as f64 - 19.5) / 8.0)
    }
}

struct Model {
    random: Random,
    /// Arrays that are defined, all of the same length.
    arrays: Vec<String>,
    declarations: String,
    equations: Vec<String>,
    /// Some unknowns are determined together.
    has_groups: bool,
}

impl Model {
    fn new(seed: u64) -> Model {
        let declarations =
            "parameter Real g = 2.5, z = 0.75; parameter Real p[70] = {1 + 0.01*i for i in 1:70};\n".into();
        Model { random: Random(seed), arrays: Vec::new(), declarations, equations: Vec::new(), has_groups: false }
    }

    fn known(&mut self) -> String {
        let k = self.random.below(self.arrays.len());
        self.arrays[k].clone()
    }

    fn declare(&mut self, prefix: &str) -> String {
        let name = format!("{prefix}{}", self.arrays.len());
        let attributes = ["", "", "(each start = 3)", "(each nominal = 10)"][self.random.below(4)];
        let _ = writeln!(self.declarations, "Real {name}[{N}]{attributes};");
        name
    }

    /// Loops, with the sides as they come.
    fn each(&mut self, first: usize, last: usize, left: &str, right: &str) {
        let (left, right) = if self.random.chance(40) { (right, left) } else { (left, right) };
        self.equations.push(format!("for i in {first}:{last} loop {left} = {right}; end for;"));
    }

    fn scalar(&mut self, left: &str) {
        let (known, at, a) = (self.known(), 1 + self.random.below(N), self.random.number());
        self.equations.push(format!("{left} = {a}*{known}[{at}] + sin({at}*time);"));
    }

    fn state(&mut self) {
        let name = format!("x{}", self.arrays.len());
        let start = self.random.number();
        let _ = writeln!(self.declarations, "Real {name}[{N}](each start = {start}, each fixed = true);");
        self.arrays.push(name);
    }

    fn define(&mut self) {
        let (a, b) = (self.known(), self.known());
        let (f, g) = (self.random.number(), self.random.number());
        let name = self.declare("y");
        match self.random.below(8) {
            0 => {
                let sign = ["", "-"][self.random.below(2)];
                self.each(1, N, &format!("{name}[i]"), &format!("{sign}{a}[i]"));
            }
            1 => {
                self.each(1, N - 1, &format!("{name}[i] + {a}[i + 1]"), "0");
                self.scalar(&format!("{name}[{N}]"));
            }
            2 => {
                self.each(2, N, &format!("{name}[i]"), &format!("{a}[i - 1]"));
                self.scalar(&format!("{name}[1]"));
            }
            3 => self.each(1, N, &format!("z*{name}[i] - {a}[i]"), &format!("{f}*{b}[i] + {g}")),
            4 => self.each(1, N, &format!("p[i]*{name}[i]"), &format!("{a}[i] - {f}*{b}[{} - i]", N + 1)),
            5 => {
                self.each(2, N, &format!("{name}[i]"), &format!("0.5*{name}[i - 1] + {a}[i]"));
                self.scalar(&format!("{name}[1]"));
            }
            6 => {
                // Two unknowns at neighbouring places: a small system for each element.
                self.has_groups = true;
                let other = format!("{name}b");
                let _ = writeln!(self.declarations, "Real {other}[{N}];");
                self.each(2, N, &format!("{name}[i] - {a}[i]"), &format!("g*{other}[i - 1]"));
                self.each(1, N - 1, &format!("{name}[i + 1] + {f}*{b}[i]"), &format!("-{other}[i]/z"));
                self.scalar(&format!("{name}[1]"));
                self.scalar(&format!("{other}[{N}]"));
                self.arrays.push(other);
            }
            _ => self.each(1, N, &format!("{name}[i]"), &format!("{f}*{a}[i]*{b}[i] + time")),
        }
        self.arrays.push(name);
    }

    fn text(&mut self) -> String {
        let n_states = 1 + self.random.below(2);
        (0..n_states).for_each(|_| self.state());
        for _ in 0..2 + self.random.below(8) {
            self.define();
        }
        for k in 0..n_states {
            let (x, a, f) = (self.arrays[k].clone(), self.known(), self.random.number());
            self.each(1, N, &format!("z*der({x}[i])"), &format!("{f} - {x}[i] + sin({a}[i])"));
        }
        if self.random.chance(40) {
            let (a, at) = (self.known(), 1 + self.random.below(N));
            let _ = writeln!(self.declarations, "Real s, t;");
            self.equations.push(format!("s = {a}[{at}];"));
            self.equations.push(format!("s + t = sum({a});"));
        }
        for k in (1..self.equations.len()).rev() {
            let other = self.random.below(k + 1);
            self.equations.swap(k, other);
        }
        format!("model Test {} equation {} end Test;", self.declarations, self.equations.join("\n"))
    }
}

fn run(text: &str, scalars: bool) -> Outcome {
    harness::run(text, Solver::DormandPrince, 0.05, 2, scalars)
}

/// All numbers, as bits but for the sign of zero, which eliminating variables may change.
fn numbers(outcome: &Outcome) -> Vec<(String, Vec<u64>)> {
    let Some(trajectory) = &outcome.trajectory else { return Vec::new() };
    let [segment] = &trajectory.segments[..] else { panic!("one segment") };
    let bits = |value: f64| if value == 0.0 { 0 } else { value.to_bits() };
    let column =
        |c: &saltus_sim::trajectory::Column| (c.name.clone(), segment.at(c.place).into_iter().map(bits).collect());
    segment.variables.iter().map(column).collect()
}

/// Unknowns that are determined together are eliminated in the order of their slots, which scalars may have otherwise: differences are of the size of
/// rounding, and grow with the condition of the groups; 1e-12 is what 150 models have shown at most.
fn are_close(a: u64, b: u64) -> bool {
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    (a - b).abs() <= 1e-10 * (1.0 + b.abs())
}

fn messages(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics.iter().map(|d| d.message.clone()).collect()
}

#[test]
fn random_models_have_the_results_of_scalars() {
    let n_models = 60;
    let mut n_kept = 0;
    for seed in 1..=n_models {
        let mut model = Model::new(seed);
        let text = model.text();
        let [loops, scalars] = [false, true].map(|scalars| run(&text, scalars));
        assert_eq!(messages(&loops), messages(&scalars), "{seed}: {text}");
        let (one, other) = (numbers(&loops), numbers(&scalars));
        assert_eq!(one.len(), other.len(), "{seed}: {text}");
        for ((name, one), (_, other)) in one.iter().zip(&other) {
            let is_same = one == other || model.has_groups && one.iter().zip(other).all(|(a, b)| are_close(*a, *b));
            assert!(is_same, "{seed}: {name}: {text}");
        }
        let sections = &loops.program().expect("a program").sections;
        n_kept += usize::from([&sections.derivatives, &sections.outputs].into_iter().any(Section::has_repeats));
    }
    // Those of states alone always are; a model is not if its order cannot be that of loops.
    assert!(n_kept * 2 > n_models as usize, "{n_kept} of {n_models} are kept");
}
