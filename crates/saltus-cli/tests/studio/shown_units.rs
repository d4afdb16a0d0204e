//! Units in which values are shown, entered and written back.

use serde_json::{Value, json};

use super::browser::{Studio, wait_until};
use super::common::Scratch;

const GAP: &str = "model Gap
  type Difference = Real(unit = \"K\", displayUnit = \"degC\") annotation(absoluteValue = false);
  type Step = Difference(min = 0);
  parameter Real T0(unit = \"K\", displayUnit = \"degC\") = 293.15;
  parameter Step dT0 = 10;
  Real T(unit = \"K\", displayUnit = \"degC\") = T0 + dT;
  Step dT = dT0 * time;
  Real own(unit = \"K\", displayUnit = \"degF\") = dT annotation(absoluteValue = false);
  Step absolute = T annotation(absoluteValue = true);
end Gap;
";

/// Factor and offset of the unit in which each variable of a list is shown.
fn conversions(all: &Value) -> Vec<(String, Value, Value)> {
    let line = |v: &Value| {
        (v["name"].as_str().unwrap().to_owned(), v["display"]["factor"].clone(), v["display"]["offset"].clone())
    };
    all.as_array().unwrap().iter().map(line).collect()
}

#[test]
fn differences_are_shown_without_an_offset() {
    let dir = Scratch::new("studio-differences");
    let file = dir.file("Gap.mo", GAP);
    let studio = Studio::start(&[&file], &dir.path("state"));
    let get = |path: &str| serde_json::from_str::<Value>(&studio.get(path).1).unwrap();
    // The declaration decides, then the type, then what this is made from. 0 °C are 273.15 K; 9 degrees of Fahrenheit are 5 K.
    let (absolute, difference) = (json!(-273.15), json!(0.0));
    let of = |name: &str, factor: f64, offset: &Value| (name.to_owned(), json!(factor), offset.clone());
    let parameters = [of("T0", 1.0, &absolute), of("dT0", 1.0, &difference)];
    assert_eq!(conversions(&get("/api/parameters?class=Gap")["parameters"]), parameters);
    assert_eq!(conversions(&get("/api/dialog?class=Gap")["parameters"]), parameters);
    assert_eq!(studio.post("/api/run", &json!({"class": "Gap"})).0, 200);
    wait_until("the run ends", || get("/api/state")["runs"][0]["phase"] == "done");
    let mut shown = conversions(&get("/api/variables?run=1")["variables"]);
    shown.sort_by(|a, b| a.0.cmp(&b.0));
    let fahrenheit = shown.iter().find(|(name, ..)| name == "own").unwrap();
    assert!((fahrenheit.1.as_f64().unwrap() - 1.8).abs() < 1e-12 && fahrenheit.2 == 0.0, "{fahrenheit:?}");
    shown.retain(|(name, ..)| name != "own" && name != "time");
    let [t0, dt0] = parameters;
    assert_eq!(shown, [of("T", 1.0, &absolute), t0, of("absolute", 1.0, &absolute), of("dT", 1.0, &difference), dt0]);
}
