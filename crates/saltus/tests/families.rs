//! Families of equations over arrays: computed as loops they give the bits of scalar equations.

#[path = "families/harness.rs"]
mod harness;

use saltus::pipeline::Outcome;
use saltus_program::Section;
use saltus_sim::{Solver, Trajectory};

fn run(text: &str, solver: Solver, scalars: bool) -> Outcome {
    harness::run(text, solver, 1.0, 20, scalars)
}

fn has_loops(outcome: &Outcome) -> bool {
    let sections = &outcome.program().expect("a program").sections;
    [&sections.initial, &sections.events, &sections.derivatives].into_iter().any(Section::has_repeats)
}

/// All numbers of the table, as bits.
fn bits(trajectory: &Trajectory) -> Vec<(String, Vec<u64>)> {
    let [segment] = &trajectory.segments[..] else { panic!("one segment") };
    let column = |c: &saltus_sim::trajectory::Column| {
        (c.name.clone(), segment.at(c.place).into_iter().map(f64::to_bits).collect())
    };
    segment.variables.iter().map(column).collect()
}

fn messages(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics.iter().map(|d| d.message.clone()).collect()
}

/// Runs with an explicit and a stiff method, with and without loops.
fn assert_same_bits(text: &str) {
    for solver in [Solver::DormandPrince, Solver::Bdf] {
        let [loops, scalars] = [false, true].map(|scalars| run(text, solver, scalars));
        assert!(has_loops(&loops), "no loop was kept");
        assert!(!has_loops(&scalars));
        assert_eq!(messages(&loops), messages(&scalars));
        let trajectory = |outcome: &Outcome| outcome.trajectory.clone().expect("a trajectory");
        let (loops, scalars) = (trajectory(&loops), trajectory(&scalars));
        assert_eq!(loops.statistics.steps, scalars.statistics.steps);
        assert_eq!(bits(&loops), bits(&scalars), "{solver:?}");
    }
}

/// The model is the same with and without families, of which none is kept.
fn assert_scalar(text: &str) {
    let [kept, scalars] = [false, true].map(|scalars| run(text, Solver::Auto, scalars));
    assert!(!has_loops(&kept));
    assert_eq!(messages(&kept), messages(&scalars));
    assert_eq!(kept.trajectory.as_ref().map(bits), scalars.trajectory.as_ref().map(bits));
}

#[test]
fn heat_in_a_rod() {
    assert_same_bits(
        "model Test
          parameter Integer n = 100;
          parameter Real k = 40, C = 1.5;
          Real T[n](each start = 300, each fixed = true), Q[n + 1], u;
        equation
          u = 400 + 20*sin(10*time);
          Q[1] = k*(u - T[1]);
          for i in 2:n loop Q[i] = k*(T[i - 1] - T[i]); end for;
          Q[n + 1] = 0;
          for i in 1:n loop C*der(T[i]) = Q[i] - Q[i + 1]; end for;
        end Test;",
    );
}

#[test]
fn a_wave_written_with_arrays() {
    assert_same_bits(
        "model Test
          parameter Integer n = 80;
          parameter Real c2 = 900;
          parameter Real shape[n] = {if i < 40 then i/40 else 2 - i/40 for i in 1:n};
          Real x[n](start = shape, each fixed = true), v[n](each start = 0, each fixed = true), a[n];
        equation
          der(x) = v;
          der(v) = a;
          a[1] = 0;
          a[2:n - 1] = c2*(x[3:n] - 2*x[2:n - 1] + x[1:n - 2]);
          a[n] = 0;
        end Test;",
    );
}

#[test]
fn heat_on_a_plate_with_a_border() {
    assert_same_bits(
        "model Test
          parameter Integer n = 12, m = 15;
          Real T[n, m](each start = 1, each fixed = true), D[n, m] = 2*T;
        equation
          for i in 2:n - 1 loop
            for j in 2:m - 1 loop
              der(T[i, j]) = 30*(T[i - 1, j] + T[i + 1, j] + T[i, j - 1] + T[i, j + 1] - 4*T[i, j]);
            end for;
          end for;
          for i in 1:n loop der(T[i, 1]) = -T[i, 1]; der(T[i, m]) = D[i, m - 1] - T[i, m]; end for;
          for j in 2:m - 1 loop der(T[1, j]) = T[2, j]; der(T[n, j]) = cos(time); end for;
        end Test;",
    );
}

#[test]
fn constants_beside_families() {
    assert_same_bits(
        "model Test
          parameter Integer n = 80;
          Real x[n](each start = 1, each fixed = true), y[n](each start = 2, each fixed = true), z[n];
        equation
          for i in 1:n loop der(x[i]) = 0; der(y[i]) = x[i] - y[i] + z[i]; z[i] = 0.5; end for;
        end Test;",
    );
}

#[test]
fn events_beside_families() {
    assert_same_bits(
        "model Test
          parameter Integer n = 70;
          Real T[n](each start = 20, each fixed = true);
          Boolean on(start = true, fixed = true);
          Integer switched(start = 0, fixed = true);
        equation
          der(T[1]) = (if on then 400 else 0) - 20*(T[1] - T[2]);
          for i in 2:n - 1 loop der(T[i]) = 20*(T[i - 1] - 2*T[i] + T[i + 1]); end for;
          der(T[n]) = -T[n];
          when {T[3] > 25, T[3] < 24} then
            on = T[3] < 24;
            switched = pre(switched) + 1;
          end when;
        end Test;",
    );
}

#[test]
fn missing_initial_conditions_are_told_as_of_scalars() {
    let text = "model Test
          Real x[90](each start = 2);
        equation
          for i in 1:90 loop der(x[i]) = -x[i]; end for;
        end Test;";
    assert_same_bits(text);
    let told = messages(&run(text, Solver::Auto, false));
    assert!(told.iter().any(|m| m.contains("90 initial conditions are missing")), "{told:?}");
}

#[test]
fn what_is_more_than_a_loop_is_scalars() {
    // A loop of equations, initial equations, a reinit.
    assert_scalar(
        "model Test
          Real y[80];
        equation
          y[1] = time;
          for i in 2:79 loop y[i] = 0.4*(y[i - 1] + y[i + 1]); end for;
          y[80] = 0;
        end Test;",
    );
    assert_scalar(
        "model Test
          Real x[80](each start = 1);
        initial equation
          der(x) = zeros(80);
        equation
          for i in 1:80 loop der(x[i]) = 3 - x[i]; end for;
        end Test;",
    );
    assert_scalar(
        "model Test
          Real x[80](each start = 1, each fixed = true);
        equation
          for i in 1:80 loop der(x[i]) = -x[i]; end for;
          when x[7] < 0.5 then reinit(x[7], 1); end when;
        end Test;",
    );
}

#[test]
fn only_the_elements_in_a_loop_of_equations_are_scalars() {
    assert_same_bits(
        "model Test
          Real x[80](each start = 1, each fixed = true), s;
        equation
          for i in 1:80 loop der(x[i]) = -s; end for;
          s = der(x[3]) + x[4];
        end Test;",
    );
}

#[test]
fn cells_that_are_connected() {
    // Each inner node is a loop of two unknowns, which is solved when the model is compiled; both ends are scalars.
    assert_same_bits(
        "model Test
          parameter Integer n = 90;
          parameter Real C = 0.5, G = 2;
          Real T[n](each start = 300, each fixed = true), Qa[n], Qb[n], aT[n], bT[n], aQ[n], bQ[n], source, entering, leaving;
        equation
          for i in 1:n loop
            aT[i] - T[i] = Qa[i]/G;
            bT[i] - T[i] = Qb[i]/G;
            aQ[i] = Qa[i];
            bQ[i] = Qb[i];
            C*der(T[i]) = Qa[i] + Qb[i];
          end for;
          for i in 1:n - 1 loop bT[i] = aT[i + 1]; bQ[i] + aQ[i + 1] = 0; end for;
          source = 300 + 50*sin(time);
          source = aT[1];
          entering + aQ[1] = 0;
          bT[n] = 280;
          leaving + bQ[n] = 0;
        end Test;",
    );
}

#[test]
fn a_ladder_of_resistors_and_capacitors() {
    assert_same_bits(
        "model Test
          parameter Integer n = 80;
          parameter Real R = 2, C = 0.05;
          Real v[n](each start = 0, each fixed = true), ic[n], pv[n], nv[n], pi[n], ni[n], uR[n], u;
        equation
          u = sin(time);
          for k in 1:n loop
            uR[k] = pv[k] - nv[k];
            R*pi[k] = uR[k];
            pi[k] + ni[k] = 0;
            C*der(v[k]) = ic[k];
            nv[k] = v[k];
          end for;
          pv[1] = u;
          for k in 2:n loop pv[k] = nv[k - 1]; end for;
          for k in 1:n - 1 loop ni[k] + ic[k] + pi[k + 1] = 0; end for;
          ni[n] + ic[n] = 0;
        end Test;",
    );
}

#[test]
fn masses_and_springs() {
    assert_same_bits(
        "model Test
          parameter Integer n = 70;
          parameter Real c = 100, d = 0.1, m[n] = {0.5 + 0.01*k for k in 1:n};
          Real s[n](each start = 0, each fixed = true), v[n](each start = 0, each fixed = true), a[n], f[n + 1], fa[n], fb[n];
        equation
          for k in 1:n loop
            v[k] = der(s[k]);
            a[k] = der(v[k]);
            m[k]*a[k] = fa[k] + fb[k];
            fb[k] - f[k + 1] = 0;
            0 = fa[k] + f[k];
          end for;
          f[1] = c*(s[1] - sin(time)) + d*v[1];
          for k in 2:n loop f[k] = c*(s[k] - s[k - 1]) + d*(v[k] - v[k - 1]); end for;
          f[n + 1] = -c*s[n];
        end Test;",
    );
}

#[test]
fn a_plate_of_flows() {
    let text = "model Test
          parameter Integer n = 12, m = 14;
          parameter Real g = 3, C = 0.1;
          Real T[n, m](each start = 1, each fixed = true), E[n, m], W[n, m], N[n, m], S[n, m];
        equation
          for i in 1:n loop for j in 1:m loop C*der(T[i, j]) = E[i, j] + W[i, j] + N[i, j] + S[i, j]; end for; end for;
          for i in 1:n loop for j in 1:m - 1 loop
            E[i, j] = g*(T[i, j + 1] - T[i, j]); E[i, j] + W[i, j + 1] = 0;
          end for; end for;
          for i in 1:n - 1 loop for j in 1:m loop
            S[i, j] = g*(T[i + 1, j] - T[i, j]); S[i, j] + N[i + 1, j] = 0;
          end for; end for;
          for i in 1:n loop W[i, 1] = sin(time) - T[i, 1]; E[i, m] = 0; end for;
          for j in 1:m loop N[1, j] = 0; S[n, j] = cos(time) - T[n, j]; end for;
        end Test;";
    // FIXME: no loop is kept: all of it is sorted as scalars.
    assert!(!has_loops(&run(text, Solver::DormandPrince, false)));
}

#[test]
fn mistakes_in_loops_are_told_of_one_element() {
    let text = "model Test
          Real x[80];
        equation
          for i in 1:80 loop x[i] = x[i + 1]; end for;
        end Test;";
    let told = messages(&run(text, Solver::Auto, false));
    assert!(told.iter().any(|m| m.contains("81")), "{told:?}");
}

/// The same numbers and messages as of scalars, be it as loops or not.
fn assert_alike(text: &str) {
    let [one, other] = [false, true].map(|scalars| run(text, Solver::Auto, scalars));
    assert_eq!(messages(&one), messages(&other), "{text}");
    assert_eq!(one.trajectory.as_ref().map(bits), other.trajectory.as_ref().map(bits), "{text}");
}

/// A model with a hundred states that decay, and more.
fn decay(declarations: &str, equations: &str) -> String {
    format!(
        "model Test {declarations}
        equation
          for i in 1:100 loop der(x[i]) = -x[i]; end for;
          {equations}
        end Test;"
    )
}

#[test]
fn attributes_of_what_equals_an_element_count() {
    assert_alike(&decay("Real x[100]; Real y(start = 3, fixed = true);", "y = x[7];"));
    assert_alike(&decay("Real x[100](each start = 2); Real y(start = 3, fixed = true);", "y = -x[7];"));
    assert_alike(&decay("Real x[100]; Real y(start = 3);", "y = x[7];"));
    assert_alike(&decay("Real x[100], y[100](each start = 3);", "y = x;"));
    assert_alike(&decay(
        "Real x[100](each start = 5), y[100](each start = 3, each fixed = true);",
        "for i in 1:100 loop y[i] = x[i]; end for;",
    ));
    assert_alike(&decay("Real x[100](each start = 1, each fixed = true), y[100](each nominal = 1e9);", "y = x;"));
    // Two conditions for one element contradict each other.
    assert_alike(&decay(
        "Real x[100](each start = 1, each fixed = true); Real y(start = 4, fixed = true);",
        "y = x[7];",
    ));
    assert_alike(&decay(
        "Real x[100](each start = 1, each fixed = true); Real e(stateSelect = StateSelect.always);",
        "e = sum(x);",
    ));
}

#[test]
fn conditions_elsewhere_may_determine_states_of_families() {
    assert_alike(&decay(
        "Real x[100](each start = 2); Real y(start = 1); Real s(start = 5, fixed = true);",
        "s = x[3] + y; der(y) = -1;",
    ));
    let with_initial = |fixed: &str| {
        format!(
            "model Test Real x[100](each start = 1{fixed}); Real y(start = 2);
            initial equation y + x[3] = 5;
            equation der(y) = -y; for i in 1:100 loop der(x[i]) = -x[i]; end for; end Test;"
        )
    };
    for fixed in ["", ", each fixed = false", ", each fixed = true"] {
        assert_alike(&with_initial(fixed));
    }
}

#[test]
fn terms_that_vanish_are_not_computed() {
    // The logarithm of zero is not a number, and the parameter switches it off.
    let switched = |k: &str| {
        format!(
            "model Test {k} Real x[100](each start = 0, each fixed = true), y[100]; equation
            for i in 1:100 loop der(x[i]) = 0.1*x[i]; y[i] = k*log(x[i]); end for; end Test;"
        )
    };
    for k in ["parameter Real k = 0;", "constant Real k = 0;", "Real k = 0;", "final parameter Real k = 0;"] {
        assert_alike(&switched(k));
    }
    assert_alike(
        "model Test parameter Real k[100] = zeros(100); Real x[100](each start = 0, each fixed = true), y[100]; equation
          for i in 1:100 loop der(x[i]) = 0.1*x[i]; y[i] = k[i]/x[i]; end for; end Test;",
    );
    assert_alike(
        "model Test Real z[100], w; Real x(start = 0, fixed = true); equation
          for i in 1:100 loop z[i] = 0; end for; der(x) = 1; w = z[6]*log(x); end Test;",
    );
    assert_alike(
        "model Test constant Real c[100] = {0.1*i for i in 1:100}; Real q, y[100]; equation
          q = time; for i in 1:100 loop y[i] = q*c[i]*0.3*c[i]/c[101 - i]; end for; end Test;",
    );
    // Where both are the same element, scalars have nothing to subtract.
    assert_alike(
        "model Test Real x[65](start = {abs(i - 33) for i in 1:65}, each fixed = true), y[65]; equation
          for i in 1:65 loop der(x[i]) = 0; y[i] = (x[i] - x[66 - i])*log(x[66 - i]); end for; end Test;",
    );
}

#[test]
fn empty_loops_have_no_equations() {
    let outcome = run(
        "model Test Real y[100, 5]; equation
          for i in 1:100, j in 1:5 loop y[i, j] = time; end for;
          for i in 1:100, j in 5:2:4 loop y[i, j] = 2*time; end for;
        end Test;",
        Solver::Auto,
        false,
    );
    assert_eq!(messages(&outcome), [""; 0]);
    assert!(outcome.trajectory.is_some());
}

#[test]
fn relations_in_loops_are_told_by_their_elements() {
    let outcome = run(
        "model Test Real x[70](start = linspace(0, 1, 70), each fixed = true); Boolean b[70]; equation
          for i in 1:70 loop der(x[i]) = 0.1; b[i] = x[i] > 1.02; end for; end Test;",
        Solver::Auto,
        false,
    );
    let events = outcome.trajectory.expect("a trajectory").events;
    let told = format!("{events:?}");
    assert!(told.contains("x[70] > 1.02") && !told.contains("x[i]"), "{told}");
}
