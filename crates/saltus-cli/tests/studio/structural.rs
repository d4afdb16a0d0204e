//! Parameters that decide about the structure, for the next run.

use serde_json::{Value, json};

use super::READY;
use super::browser::{Browser, Studio};
use super::common::Scratch;

const SIZES: &str = "model Sizes
  type Kind = enumeration(slow, fast);
  parameter Integer n = 2 \"How many\";
  parameter Boolean has = false annotation (Evaluate = true);
  parameter Kind kind = Kind.slow annotation (Evaluate = true);
  final parameter Real fixedValue = 7;
  parameter Integer sizes[2] = {1, 2};
  parameter Real k = 1;
  Real x[n](each start = 1, each fixed = true);
  Real y[sizes[2]] = fill(k, sizes[2]);
  Real extra = 5 if has;
equation
  if kind == Kind.slow then
    der(x) = -k*x;
  else
    der(x) = -10*k*x;
  end if;
  annotation (experiment(StopTime = 1));
end Sizes;
";

#[test]
fn values_that_decide_about_the_structure_are_compiled_anew() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-structural");
    let file = dir.file("Sizes.mo", SIZES);
    let studio = Studio::start(&[&file], &dir.path("state"));
    let answer = serde_json::from_str::<Value>(&studio.get("/api/parameters?class=Sizes").1).unwrap();
    let is = |name: &str| {
        let all = answer["parameters"].as_array().unwrap();
        let found = all.iter().find(|p| p["name"] == name).unwrap_or_else(|| panic!("{name}: {answer}"));
        (found["structural"] == true, found["fixed"].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(is("k"), (false, String::new()));
    for name in ["n", "has", "kind"] {
        assert_eq!(is(name), (true, String::new()), "{name}");
    }
    assert_eq!(is("fixedValue"), (false, "final".to_owned()));
    assert!(is("sizes[2]").1.contains("set the array in the text"));

    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#tab-parameters");
    browser.wait("document.querySelector('#parameter-n')");
    assert_eq!(
        browser.script(
            "return document.querySelector('label[for=parameter-n]').parentElement.querySelector('.tag').textContent"
        ),
        "compiles"
    );
    assert_eq!(browser.script("return document.getElementById('parameter-fixedValue').disabled"), true);
    browser.keys("#parameter-n", "3\u{e007}");
    browser.wait("saltus.currentValues().get('n') === '3'");
    // The same once more: it is not the value of the text.
    browser.wait("document.getElementById('parameter-n').placeholder === '3'");
    browser.keys("#parameter-n", "\u{e009}a\u{e000}4\u{e007}");
    browser.wait("document.getElementById('parameter-n').placeholder === '4'");
    browser.keys("#parameter-n", "\u{e009}a\u{e000}3\u{e007}");
    browser.wait("document.getElementById('parameter-n').placeholder === '3'");
    browser.script("const e = document.getElementById('parameter-n'); e.dispatchEvent(new Event('change'))");
    assert_eq!(browser.script("return saltus.currentValues().get('n')"), "3");
    for (name, value) in [("has", "true"), ("kind", "fast")] {
        browser.script(&format!(
            "const e = document.getElementById('parameter-{name}'); e.value = {value:?}; e.dispatchEvent(new Event('change'))"
        ));
        browser.wait(&format!("saltus.currentValues().get({name:?}) === {value:?}"));
    }
    browser.click("#run");
    browser.wait("['done', 'failed'].includes(saltus.store.runs.get(1)?.phase)");
    assert_eq!(browser.script("return saltus.store.runs.get(1).messages.map((m) => m.message)"), json!([]));
    browser.wait("saltus.store.variables.has('x[3]')");
    // Closed form: exp(-10) after a second.
    browser.script("for (const v of ['x[3]', 'extra']) saltus.plots.toggle(v)");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('extra')?.length >= 2");
    let end = browser.script("return saltus.plots.value(saltus.store.run, 'x[3]', 1)").as_f64().unwrap();
    assert!((end - (-10.0f64).exp()).abs() < 1e-5, "{end}");
    assert_eq!(browser.script("return saltus.plots.value(saltus.store.run, 'extra', 1)"), 5.0);
    assert_eq!(dir.read("Sizes.mo"), SIZES, "a run changes no text");
    // A value that only the new structure has.
    let (status, said) =
        studio.post("/api/run", &json!({"class": "Sizes", "values": [["n", "4"], ["x[4].start", "2"]]}));
    assert_eq!(status, 200, "{said}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
