//! Wrong use of clocks and state machines is reported with the clocks concerned; partitions are what the specification says.

use saltus_clocks::Rational;
use saltus_program::{BaseClock, SimProgram};

use crate::compile;
use crate::lower::tests::flat;

/// Code and message of each error.
fn errors(text: &str) -> Vec<(&'static str, String)> {
    match compile(&flat(text)) {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(|d| (d.code.0, d.message.clone())).collect(),
    }
}

fn codes(text: &str) -> Vec<&'static str> {
    errors(text).into_iter().map(|e| e.0).collect()
}

fn compiled(text: &str) -> SimProgram {
    match compile(&flat(text)) {
        Ok(program) => program,
        Err(found) => panic!("{:?}", found.iter().map(|d| &d.message).collect::<Vec<_>>()),
    }
}

/// Shift and interval of every sub-clock, by base-partition.
fn ticks(program: &SimProgram) -> Vec<Vec<(Rational, Rational)>> {
    let of = |p: &saltus_program::BasePartition| p.sub_clocks.iter().map(|c| (c.shift, c.interval)).collect();
    program.clocks.base_partitions.iter().map(of).collect()
}

fn r(numerator: i64, denominator: i64) -> Rational {
    Rational::new(numerator, denominator).unwrap()
}

#[test]
fn clocks_are_inferred_from_equations_as_written() {
    for term in ["n*0", "(n - n)", "(if n > 0 then 0 else 0)", "(if n < n then 1 else 0)", "n^0 - 1"] {
        let program = compiled(&format!(
            "model M
               Integer n(start = 0);
               Real m(start = 0);
             equation
               n = previous(n) + sample(1, Clock(1, 10));
               m = previous(m) + {term};
             end M;"
        ));
        assert_eq!(ticks(&program), [[(Rational::ZERO, r(1, 10))]], "{term}");
    }
}

#[test]
fn partitions_are_separated_by_conversions() {
    let program = compiled(
        "model M
           Real u, y(start = 0), slow, held, other;
         equation
           u = sample(time, Clock(1, 10));
           y = previous(y) + u;
           slow = 2*subSample(y, 3);
           held = hold(y);
           other = sample(held, Clock(0.5));
         end M;",
    );
    assert_eq!(program.clocks.base_partitions.len(), 2);
    let mut first = ticks(&program)[0].clone();
    first.sort();
    first.dedup();
    assert_eq!(first, [(Rational::ZERO, r(1, 10)), (Rational::ZERO, r(3, 10))]);
    assert!(matches!(program.clocks.base_partitions[1].clock, BaseClock::Period { .. }));
    assert!(program.events.relations.is_empty());
}

#[test]
fn clocked_relations_generate_no_events() {
    let text = "model M
                  Real u, x(start = 0, fixed = true);
                  Boolean b, c;
                equation
                  der(x) = 1;
                  u = sample(x, Clock(1, 10));
                  b = u > 0.35;
                  c = x > 0.5;
                end M;";
    let program = compiled(text);
    let relations: Vec<&str> = program.events.relations.values().map(|r| r.text.as_str()).collect();
    assert_eq!(relations, ["x > 0.5"]);
}

#[test]
fn elements_of_an_array_may_be_on_different_clocks() {
    let program = compiled(
        "model M
           Real a[3], b[3];
         equation
           a[1] = sample(time, Clock(1, 10));
           a[2] = sample(time, Clock(1, 3));
           a[3] = time;
           b = a;
         end M;",
    );
    let mut all: Vec<_> = ticks(&program).into_iter().flatten().collect();
    all.sort();
    assert_eq!(all, [(Rational::ZERO, r(1, 10)), (Rational::ZERO, r(1, 3))]);
}

#[test]
fn contradicting_clocks_are_named() {
    let text = "model M
                  Real u, y;
                equation
                  u = sample(time, Clock(1, 10));
                  y = subSample(u, 2) + sample(0.0, Clock(3, 10));
                end M;";
    let expected = "`Clock(3, 10)` ticks every 3/10 s, but conversions from `Clock(1, 10)` make it tick every 1/5 s";
    assert_eq!(errors(text), [("E0830", expected.to_owned())]);
    let inferred = "model M Real u, y; equation u = sample(time, Clock(1, 10));
                    y = subSample(u) + sample(0.0, Clock(1, 3)); end M;";
    assert_eq!(codes(inferred), ["E0830"]);
    let same = "model M Real u; equation u = sample(time, Clock(1, 10)) + sample(time, Clock(1, 5)); end M;";
    assert_eq!(codes(same), ["E0830"]);
}

#[test]
fn impossible_clocks_are_refused() {
    let real = "model M Real u; equation u = sample(time, Clock(0.1)) + sample(time, Clock(0.1)); end M;";
    assert_eq!(codes(real), ["E0831"]);
    let early = "model M Real u, y; equation u = sample(time, Clock(1, 10)); y = backSample(u, 1); end M;";
    assert_eq!(codes(early), ["E0832"]);
    let event = "model M Real u, y; equation u = sample(time, Clock(sin(time) > 0)); y = superSample(u, 2); end M;";
    assert_eq!(codes(event), ["E0833"]);
}

#[test]
fn a_derivative_needs_a_solver_method() {
    let text = "model M Real u, x; equation u = sample(time, Clock(1, 10)); der(x) = u; end M;";
    let found = errors(text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "E0839");
    assert!(found[0].1.starts_with("der(x) in a clocked partition"), "{}", found[0].1);
    let unknown = "model M Real u, x; equation u = sample(time, Clock(Clock(1, 10), \"Best\")); der(x) = u; end M;";
    assert_eq!(codes(unknown), ["E0840"]);
}

#[test]
fn a_loop_stays_on_one_clock() {
    let text = "model M
                  Real a, z, y;
                equation
                  a + z = sample(time, Clock(1, 100));
                  y = superSample(a + 2*z, 2);
                  0 = subSample(y, 2) + a;
                end M;";
    assert_eq!(codes(text), ["E0838"]);
}

#[test]
fn without_a_clock_a_warning_says_what_was_chosen() {
    let model = flat("model M Integer n(start = 0); equation n = previous(n) + 1; end M;");
    let sorted = crate::sort(&model).unwrap_or_else(|_| panic!("sorts"));
    let codes: Vec<&str> = sorted.warnings.iter().map(|d| d.code.0).collect();
    assert_eq!(codes, ["W0830"]);
    assert_eq!(ticks(&sorted.emit(&model)), [[(Rational::ZERO, Rational::ONE)]]);
}

#[test]
fn state_machines_are_checked() {
    let with = |equations: &str| {
        format!(
            "model M
               inner Integer v(start = 0);
               block S outer output Integer v; equation v = previous(v) + 1; end S;
               S a, b, c;
               Integer n = sample(1, Clock(1));
             equation
               {equations}
             end M;"
        )
    };
    assert_eq!(codes(&with("transition(a, b, n > 0); transition(b, c, n > 0);")), ["E0850"]);
    let twice = "initialState(a); initialState(b); transition(a, b, n > 0); transition(b, c, n > 0);";
    assert_eq!(codes(&with(twice)), ["E0850"]);
    let equal = "initialState(a); transition(a, b, n > 0); transition(a, c, n > 0);";
    assert_eq!(codes(&with(equal)), ["E0851"]);
    let parallel = "initialState(a); transition(a, b, n > 0); initialState(c);";
    assert_eq!(codes(&with(parallel)), ["E0855", "E0855"]);
    let outside = "initialState(a); transition(a, b, n > 0); transition(b, c, ticksInState() > n);";
    assert_eq!(codes(&with(outside)), Vec::<&str>::new());
}
