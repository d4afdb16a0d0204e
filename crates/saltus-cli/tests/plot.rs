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

/// Tables of sweeps: a curve for each run, or the last values over the parameter.
#[test]
fn sweeps_are_families_or_curves_over_their_parameter() {
    let dir = Scratch::new("plot_sweeps");
    let sweep = |name: &str, more: &[&str]| {
        let path = dir.path(name);
        let ball = model("BouncingBall");
        let fixed = ["sweep", &ball, "--vary", "e=0.6,0.8", "--stop-time", "0.4", "--quiet", "--output", &path];
        run(&[&fixed[..], more].concat(), 0);
        path
    };
    let (last, all, binary) =
        (sweep("last.csv", &[]), sweep("all.csv", &["--trajectories"]), sweep("all.parquet", &["--trajectories"]));
    for (file, both) in [(&all, all.clone()), (&binary, all.clone())] {
        run(&["plot", file, "h", "-o", &dir.path("p.html")], 0);
        let page = dir.read("p.html");
        assert!(
            page.contains("\"name\":\"h (e = 0.6)\"") && page.contains("\"name\":\"h (e = 0.8)\""),
            "{both}: {page}"
        );
    }
    run(&["plot", &last, "h", "-o", &dir.path("p.svg")], 0);
    let svg = dir.read("p.svg");
    assert!(svg.contains(">e<") && !svg.contains("time"), "{svg}");
    run(&["plot", &last, "-o", &dir.path("p.html")], 0);
    let page = dir.read("p.html");
    assert!(
        page.contains("\"name\":\"h\"") && !page.contains("\"name\":\"ok\"") && !page.contains("\"name\":\"run\""),
        "{page}"
    );
    let failed = dir.file("failed.csv", "run,e,ok,time,h\n0,0.6,0,,\n");
    let (_, said) = run(&["plot", &failed], 1);
    assert!(said.contains("no run of the study went well"), "{said}");
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

/// The curve of a page by its name: what stands between `"t":` and the end of the curve.
fn curve_of<'p>(page: &'p str, name: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("\"name\":\"{name}\"")).unwrap_or_else(|| panic!("no {name} in {page}"));
    rest.split_once('}').unwrap().0
}

#[test]
fn files_over_each_other_signals_over_each_other_and_panels() {
    let dir = Scratch::new("plot_overlay");
    let a = dir.file("a.csv", "\"time\",\"x\",\"y\"\n0,1,10\n1,2,20\n2,3,10\n");
    let b = dir.file("b.csv", "\"time\",\"x\"\n0,5\n2,6\n");
    let page = |arguments: &[&str]| {
        let output = dir.path("p.html");
        run(&[&["plot", &a], arguments, &["--output", &output]].concat(), 0);
        dir.read("p.html")
    };
    let both = page(&["x", "y", "--with", &b, "--panel", "y,x"]);
    assert!(curve_of(&both, "x (a)").contains("\"t\":[0,1,2],\"y\":[1,2,3]"), "{both}");
    assert!(curve_of(&both, "x (b)").contains("\"t\":[0,2],\"y\":[5,6]"));
    assert!(!both.contains("\"name\":\"y (b)\""), "the other file does not have it");
    // One panel by unit, and one that was asked for.
    assert_eq!(both.matches("\"bands\":").count(), 2);

    let over = page(&["y", "--x", "x", "--x-label", "place", "--y-label", "height", "--from", "0.5"]);
    assert!(curve_of(&over, "y").contains("\"t\":[2,3],\"y\":[20,10]"), "{over}");
    assert!(
        over.contains("\"xy\":true") && over.contains("\"xName\":\"place\"") && over.contains("\"label\":\"height\"")
    );
    let early = page(&["y", "--to", "1.5"]);
    assert!(curve_of(&early, "y").contains("\"t\":[0,1],\"y\":[10,20]"), "{early}");
    let (_, said) = run(&["plot", &a, "y", "--x", "z"], 1);
    assert!(said.starts_with("error[E0089]"), "{said}");
    let (_, said) = run(&["plot", &a, "z", "--with", &b], 1);
    assert!(said.starts_with("error[E0089]"), "{said}");
    run(&["plot", &a, "y", "--x", "x"], 0);
}

#[test]
fn display_units_are_those_of_the_model() {
    let dir = Scratch::new("plot_units");
    let model = "model Warm Real T(start = 293.15, fixed = true, unit = \"K\", displayUnit = \"degC\"); equation der(T) = 0; end Warm;";
    let result = dir.path("warm.mat");
    run(&["simulate", &dir.file("Warm.mo", model), "--quiet", "--output", &result], 0);
    let value = |arguments: &[&str]| {
        run(&[&["plot", &result, "T", "--output", &dir.path("p.html")], arguments].concat(), 0);
        let page = dir.read("p.html");
        let (_, values) = curve_of(&page, "T").rsplit_once('[').unwrap();
        (values.split(',').next().unwrap().parse::<f64>().unwrap(), page.contains("[degC]"))
    };
    // 293.15 K are 20 °C.
    assert_eq!(value(&[]), (293.15, false));
    let (celsius, has_unit) = value(&["--display-units"]);
    assert!((celsius - 20.0).abs() < 1e-9 && has_unit, "{celsius}");
}

#[test]
fn a_difference_has_no_offset_in_any_unit() {
    let dir = Scratch::new("plot_differences");
    let model = "model Gap Real dT(unit = \"K\", displayUnit = \"degC\") = 10 * (1 + time) annotation(absoluteValue = false); end Gap;";
    let file = dir.file("Gap.mo", model);
    // The table that says so, and the one that cannot: there is no unit to display then.
    for (result, unit) in [("gap.parquet", "degC"), ("gap.mat", "K")] {
        run(&["simulate", &file, "--quiet", "--output", &dir.path(result)], 0);
        run(&["plot", &dir.path(result), "dT", "--display-units", "--output", &dir.path("p.html")], 0);
        let page = dir.read("p.html");
        let (_, values) = curve_of(&page, "dT").rsplit_once('[').unwrap();
        // 10 K between two temperatures are 10 degrees of Celsius, too.
        assert_eq!(values.split(',').next().unwrap(), "10", "{result}");
        assert!(page.contains(&format!("[{unit}]")), "{result}");
    }
}
