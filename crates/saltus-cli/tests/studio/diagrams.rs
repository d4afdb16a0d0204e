//! Diagrams are edited by pointer and by keyboard; what is done at once is one step.

use serde_json::json;

use super::READY;
use super::browser::{Browser, Studio};
use super::common::Scratch;

const BENCH: &str = "model Bench
  connector Pin
    Real v;
    flow Real i;
    annotation (Icon(graphics = {Rectangle(extent = {{-100, -100}, {100, 100}}, fillPattern = FillPattern.Solid)}));
  end Pin;
  model Part
    Pin p annotation (Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Pin n annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
    parameter Real angle(unit = \"rad\", displayUnit = \"deg\") = 0;
    annotation (Icon(graphics = {Rectangle(extent = {{-90, -40}, {90, 40}})}));
  end Part;
  Pin top[2] annotation (Placement(transformation(extent = {{-10, 70}, {10, 90}})));
  Part a annotation (Placement(transformation(extent = {{-70, -10}, {-50, 10}})));
  Part b annotation (Placement(transformation(extent = {{-10, -10}, {10, 10}})));
  Part c annotation (Placement(transformation(extent = {{50, -10}, {70, 10}})));
equation
  connect(a.n, b.p) annotation (Line(points = {{-50, 0}, {-10, 0}}));
  connect(b.n, c.p) annotation (Line(points = {{10, 0}, {50, 0}}));
end Bench;
";

/// The bench in a browser, with its diagram.
struct Bench {
    browser: Browser,
    dir: Scratch,
    studio: Studio,
}

impl Bench {
    fn open(name: &str) -> Option<Bench> {
        let browser = Browser::start()?;
        let dir = Scratch::new(name);
        let studio = Studio::start(&[&dir.file("Bench.mo", BENCH)], &dir.path("state"));
        browser.go(&studio.address);
        browser.wait(READY);
        browser.wait("document.querySelectorAll('.stage .component').length === 4");
        Some(Bench { browser, dir, studio })
    }

    /// Where something of the picture is on the page.
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let at = self.browser.script(&format!(
            "const p = new DOMPoint({x}, {}).matrixTransform(saltus.diagram.root.getScreenCTM()); return [p.x, p.y]",
            -y
        ));
        (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
    }

    fn text(&self) -> String {
        self.browser.script("return saltus.editor.known").as_str().unwrap().to_owned()
    }

    /// Waits for another text, undoes it with one step, and gives the lines that were new.
    fn undone(&self, undo: &str) -> Vec<String> {
        self.browser.wait(&format!("saltus.store.current.document.undo === {undo:?}"));
        self.browser.wait(&format!("saltus.editor.known !== {}", json!(BENCH)));
        let changed = self.text();
        self.browser.script("return saltus.editor.command('undo')");
        self.browser.wait(&format!("saltus.editor.known === {}", json!(BENCH)));
        self.browser.wait("document.querySelectorAll('.stage .component').length === 4");
        self.browser.wait("saltus.store.current.document.undo === null");
        changed.lines().filter(|line| !BENCH.contains(line)).map(str::to_owned).collect()
    }
}

#[test]
fn of_an_array_of_connectors_an_element_is_asked_for() {
    let Some(bench) = Bench::open("studio-elements") else { return };
    let browser = &bench.browser;
    browser.drag(bench.place(10.0, 0.0), bench.place(0.0, 80.0));
    browser.wait(
        "document.querySelector('#element-dialog .hint')?.textContent.includes('`top` is an array of 2 elements')",
    );
    let choices = browser.script("return [...document.querySelectorAll('#element-dialog option')].map((o) => o.value)");
    assert_eq!(choices, json!(["1", "2"]));
    // The list has the focus: a digit and Enter are enough.
    browser.keys("#element-dialog select", "2\u{e007}");
    let lines = bench.undone("Connect");
    assert!(lines.len() == 1 && lines[0].contains("connect(b.n, top[2])"), "{lines:?}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn what_is_done_with_several_components_is_one_step() {
    let Some(bench) = Bench::open("studio-several") else { return };
    let browser = &bench.browser;
    let choose = || browser.script("saltus.diagram.selected = new Set(['a', 'b']); saltus.diagram.decorate()");
    choose();
    browser.keys(".stage", "\u{e017}");
    assert_eq!(bench.undone("Delete a, b"), Vec::<String>::new());
    // With the pointer, the keyboard, and turned.
    choose();
    browser.drag(bench.place(-60.0, 2.0), bench.place(-60.0, 22.0));
    let moved = bench.undone("Move a, b");
    assert_eq!(moved.iter().filter(|line| line.contains("Placement")).count(), 2, "{moved:?}");
    assert!(moved[0].contains("{{-70,10},{-50,30}}") && moved[1].contains("{{-10,10},{10,30}}"), "{moved:?}");
    choose();
    browser.keys(".stage", "\u{e012}");
    let moved = bench.undone("Move a, b");
    assert!(moved[0].contains("{{-72,-10},{-52,10}}") && moved[1].contains("{{-12,-10},{8,10}}"), "{moved:?}");
    choose();
    browser.keys(".stage", "r");
    assert_eq!(bench.undone("Move a, b").iter().filter(|line| line.contains("rotation")).count(), 2);
    // All or nothing: one of them is not there.
    browser.script("saltus.diagram.editAll(['a', 'nothing'].map((component) => ({ action: 'delete', component })))");
    browser.wait("document.getElementById('notice')?.textContent.includes('nothing')");
    assert_eq!(bench.text(), BENCH);
    assert_eq!(bench.dir.read("Bench.mo"), BENCH);
}

#[test]
fn moves_in_two_windows_add_up() {
    let Some(bench) = Bench::open("studio-moves") else { return };
    let browser = &bench.browser;
    let first = browser.window();
    browser.switch(&browser.new_window());
    browser.go(&bench.studio.address);
    browser.wait(READY);
    browser.wait("document.querySelectorAll('.stage .component').length === 4");
    // Faster than any picture comes back, and in both windows at once.
    let moves = |dx: i32, dy: i32| {
        browser.script(&format!(
            "saltus.diagram.selected = new Set(['a']); for (let i = 0; i < 5; i++) saltus.diagram.shift({dx}, {dy})"
        ))
    };
    moves(2, 0);
    browser.switch(&first);
    moves(0, 2);
    browser.wait("saltus.editor.known.includes('{{-60,0},{-40,20}}')");
}

#[test]
fn a_component_is_resized_by_its_corner() {
    let Some(bench) = Bench::open("studio-resize") else { return };
    let browser = &bench.browser;
    browser.drag(bench.place(60.0, 4.0), bench.place(60.0, 4.0));
    browser.wait("document.querySelectorAll('.handle').length === 4");
    browser.drag(bench.place(70.0, 10.0), bench.place(90.0, 30.0));
    let lines = bench.undone("Move c");
    let expected = "  Part c annotation (Placement(transformation(extent = {{50,-10},{90,30}})));";
    let placements: Vec<&String> = lines.iter().filter(|line| line.contains("Placement")).collect();
    assert!(placements.len() == 1 && placements[0].replace(' ', "") == expected.replace(' ', ""), "{lines:?}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn components_are_added_and_connected_by_keyboard() {
    let Some(bench) = Bench::open("studio-keyboard") else { return };
    let browser = &bench.browser;
    browser.keys("#class-search", "Resistor");
    browser.wait("document.querySelector('.tree:not([hidden]) .row')?.dataset.class.endsWith('Resistor')");
    browser.keys("#class-search", "\u{e015}");
    browser.wait("document.activeElement.dataset.class === 'Saltus.Electrical.Resistor'");
    browser.script("document.activeElement.id = 'row-of-test'");
    browser.keys("#row-of-test", "a");
    browser.wait("document.querySelectorAll('.stage .component').length === 5");
    browser.wait("document.activeElement === saltus.diagram.stage && saltus.diagram.selected.has('resistor')");
    assert!(bench.text().contains("Saltus.Electrical.Resistor resistor annotation"), "{}", bench.text());
    // It has room of its own.
    let covers = browser.script(
        "const box = (n) => saltus.diagram.component(n).bounds; const [[x1, y1], [x2, y2]] = box('resistor');
        return ['a', 'b', 'c', 'top'].some((n) => { const [[u1, v1], [u2, v2]] = box(n); return x1 < u2 && u1 < x2 && y1 < v2 && v1 < y2; })",
    );
    assert_eq!(covers, json!(false));
    // From its first pin, which is taken, to the pin of `c` that is not connected.
    browser.keys(".stage", "c");
    browser
        .wait("saltus.diagram.wiring.now === 'resistor.p' && saltus.diagram.hint.textContent.includes('resistor.p')");
    browser.keys(".stage", "\u{e007}");
    browser.wait("saltus.diagram.wiring.from === 'resistor.p'");
    for _ in 0..20 {
        if browser.script("return saltus.diagram.wiring.now") == "c.n" {
            break;
        }
        browser.keys(".stage", "\u{e004}");
    }
    browser.wait("document.querySelector('.rubber')");
    browser.keys(".stage", "\u{e007}");
    browser.wait("saltus.editor.known.includes('connect(resistor.p, c.n)')");
    browser.wait("saltus.diagram.wiring.now === null");
    // What is not wanted any more is given up; arrows go to the next one on their side.
    browser.script("saltus.diagram.selected = new Set(['a'])");
    browser.keys(".stage", "c");
    browser.keys(".stage", "\u{e014}");
    browser.wait("saltus.diagram.wiring.now === 'a.n'");
    browser.keys(".stage", "\u{e00c}");
    browser.wait("saltus.diagram.wiring.now === null");
    // The keys are written down.
    browser.keys("body", "\u{e031}");
    browser.wait("document.getElementById('help-dialog')?.textContent.includes('Connect')");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn angles_are_entered_in_degrees_and_written_in_radians() {
    let Some(bench) = Bench::open("studio-degrees") else { return };
    let browser = &bench.browser;
    let look = |what: &str| browser.script(&format!("return document.getElementById('dialog-angle').{what}"));
    let open = || {
        browser.script("saltus.diagram.selected = new Set(['a']); saltus.diagram.parameters()");
        browser.wait("document.getElementById('dialog-angle')");
    };
    let unit = || browser.script("return document.querySelector('#parameter-dialog .unit').textContent");
    let write = |text: &str| {
        open();
        browser.keys("#dialog-angle", &format!("\u{e009}a\u{e000}{text}"));
        let unit = unit();
        browser.click("#parameter-dialog .primary");
        browser.wait("!document.querySelector('dialog')");
        unit
    };
    assert_eq!(write("90"), "deg");
    // π/2 as the nearest number.
    browser.wait("/a\\(angle ?= ?1\\.5707963267948966\\)/.test(saltus.editor.known)");
    open();
    assert_eq!((look("value"), unit()), (json!("90"), json!("deg")));
    // Nothing was entered: not a byte changes.
    let before = bench.text();
    browser.click("#parameter-dialog .primary");
    browser.wait("!document.querySelector('dialog')");
    assert_eq!(bench.text(), before);
    // An expression is in the unit of the model, and stays as it is.
    assert_eq!(write("2*asin(0.5)"), "rad");
    browser.wait("/a\\(angle ?= ?2\\*asin\\(0\\.5\\)\\)/.test(saltus.editor.known)");
    open();
    assert_eq!((look("value"), unit()), (json!("2*asin(0.5)"), json!("rad")));
    browser.click("#dialog-next-run");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
