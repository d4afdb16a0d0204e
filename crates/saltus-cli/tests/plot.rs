//! `saltus plot` and `saltus compare`: pictures of results, and what differs.

mod common;

use common::{Scratch, model, run};

/// The ball with a given part of the speed left after impacts.
fn ball(dir: &Scratch, name: &str, e: &str) -> String {
    let path = dir.path(name);
    run(&["simulate", &model("BouncingBall"), "--set", &format!("e={e}"), "--quiet", "--output", &path], 0);
    path
}

#[test]
fn pictures_of_all_kinds() {
    let dir = Scratch::new("pictures");
    let result = ball(&dir, "ball.mat", "0.7");
    run(&["plot", &result, "h", "v", "--output", &dir.path("p.svg"), "--title", "A & B"], 0);
    let svg = dir.read("p.svg");
    assert!(svg.contains("A &amp; B") && svg.contains("[m/s]") && svg.contains("class=\"event\""), "{svg}");
    run(&["plot", &result, "h", "-o", &dir.path("p.svg"), "--no-events"], 0);
    assert!(!dir.read("p.svg").contains("class=\"event\""));
    run(&["plot", &result, "--output", &dir.path("p.png")], 0);
    assert!(std::fs::read(dir.path("p.png")).unwrap().starts_with(b"\x89PNG\r\n"));
    run(&["plot", &result, "h", "--output", &dir.path("p.html")], 0);
    let page = dir.read("p.html");
    // Self-contained: nothing is loaded from elsewhere.
    assert!(page.contains("\"name\":\"h\"") && !page.contains("src=") && !page.contains("href="));
    let (said, _) = run(&["plot", &result, "h"], 0);
    assert!(said.contains("━ h  [m]") && said.lines().count() > 14, "{said}");
}

#[test]
fn signals_are_chosen_by_pattern_and_misspelt_ones_suggested() {
    let dir = Scratch::new("plot_names");
    let result = ball(&dir, "ball.csv", "0.7");
    run(&["plot", &result, "der(*)", "-o", &dir.path("p.html")], 0);
    let page = dir.read("p.html");
    assert!(
        page.contains("\"name\":\"der(h)\"")
            && page.contains("\"name\":\"der(v)\"")
            && !page.contains("\"name\":\"n\"")
    );
    let (_, said) = run(&["plot", &result, "der(g)"], 1);
    assert!(said.starts_with("error[E0089]") && said.contains("did you mean `der("), "{said}");
    run(&["plot", &result, "h", "-o", "p.gif"], 2);
    run(&["plot", &dir.file("x.txt", "nothing")], 1);
    let (_, said) = run(&["plot", &dir.file("x.mat", "nothing")], 1);
    assert!(said.starts_with("error[E0099]"), "{said}");
    run(&["plot", &dir.path("absent.csv")], 1);
}

#[test]
fn simulate_draws_on_the_terminal() {
    let (said, _) = run(&["simulate", &model("BouncingBall"), "--plot=h,der(v)", "--quiet"], 0);
    assert!(said.contains("━ h  [m]") && said.contains("━ der(v)") && !said.contains("BouncingBall"), "{said}");
    let (said, _) = run(&["simulate", &model("BouncingBall"), "--plot"], 0);
    assert!(said.contains("━ h") && said.contains("━ n"), "{said}");
    run(&["simulate", &model("BouncingBall"), "--plot=hh"], 1);
}

#[test]
fn compare_tells_by_its_exit_code() {
    let dir = Scratch::new("compare");
    let (a, b) = (ball(&dir, "a.csv", "0.7"), ball(&dir, "b.mat", "0.72"));
    let (said, _) = run(&["compare", &a, &a], 0);
    assert_eq!(said, "5 signals, all within the tube\n");
    let (said, _) = run(&["compare", &a, &b, "--output", &dir.path("d.svg")], 1);
    assert!(said.starts_with("5 signals, 4 differ\n") && said.contains("tube widths at time"), "{said}");
    assert!(dir.read("d.svg").contains("class=\"reference\""));
    // Before the first impact at 0.45 s the two balls are the same.
    assert!(!said.contains("first at 0.3"), "{said}");
    let (said, _) = run(&["compare", &a, &b, "--tube", "0.5"], 0);
    assert!(said.contains("all within"), "{said}");
    let (said, _) = run(&["compare", &a, &b, "--keep", "der(v)"], 0);
    assert!(said.starts_with("1 signals"), "{said}");
    let (said, _) = run(&["compare", &a, &b, "--quiet"], 1);
    assert_eq!(said, "");
    let (said, _) = run(&["compare", &a, &b], 1);
    assert!(said.contains("━ reference"), "{said}");
}

#[test]
fn a_missing_signal_is_a_difference() {
    let dir = Scratch::new("compare_missing");
    let reference = dir.file("r.csv", "\"time\",\"x\",\"y\"\n0,1,1\n1,2,1\n");
    let result = dir.file("s.csv", "\"time\",\"x\"\n0,1\n1,2\n");
    let (said, _) = run(&["compare", &reference, &result], 1);
    assert_eq!(said, "2 signals, 1 differ\n  y  is missing\n");
}
