//! Texts that are nested without end: a message, never a stack overflow.
//!
//! The limits are those of the parser: 200 levels of brackets and blocks, 4000 levels of operators. The tests run
//! on threads with 2 MiB of stack, a quarter of the usual stack of the main thread.

mod common;

use common::{parse, report};

fn messages(text: String) -> String {
    let run = move || {
        let fixture = parse(&text);
        report(&fixture.sources, &fixture.parsed.diagnostics)
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
    thread.join().expect("no overflow")
}

fn with_value(value: &str) -> String {
    format!("model A\n  Real x = {value};\nend A;\n")
}

fn codes(report: &str) -> Vec<&str> {
    report.lines().filter(|l| !l.starts_with(' ')).filter_map(|l| l.split(' ').nth(1)).collect()
}

#[test]
fn brackets_within_the_limit_are_fine() {
    // One level is the class itself.
    let value = format!("{}1{}", "(".repeat(199), ")".repeat(199));
    assert_eq!(messages(with_value(&value)), "");
}

#[test]
fn too_many_brackets_are_one_message() {
    for (open, close) in [("(", ")"), ("{", "}"), ("[", "]"), ("f(", ")"), ("x[", "]"), ("-(", ")"), ("not (", ")")] {
        let value = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        assert_eq!(codes(&messages(with_value(&value))), ["E0130"], "{open}");
    }
}

#[test]
fn unclosed_brackets_without_end_are_one_message() {
    assert_eq!(codes(&messages(with_value(&"(".repeat(50_000)))), ["E0130"]);
}

#[test]
fn nested_conditions_are_one_message() {
    let value = format!("{}1", "if c then 0 else ".repeat(10_000));
    assert_eq!(codes(&messages(with_value(&value))), ["E0130"]);
}

#[test]
fn nested_classes_and_blocks_are_one_message() {
    assert_eq!(codes(&messages("model A\n".repeat(10_000))), ["E0130"]);
    assert_eq!(codes(&messages(format!("model A\nequation\n{}", "if c then\n".repeat(10_000)))), ["E0130"]);
    assert_eq!(codes(&messages(format!("function f\nalgorithm\n{}", "while c loop\n".repeat(10_000)))), ["E0130"]);
    assert_eq!(codes(&messages(format!("model A\n  Real x{}", "(a".repeat(10_000)))), ["E0130"]);
}

#[test]
fn long_sums_are_fine_up_to_the_limit() {
    // A chain of n operators has n + 1 levels.
    assert_eq!(messages(with_value(&format!("1{}", " + 1".repeat(3_999)))), "");
    let report = messages(with_value(&format!("1{}", " + 1".repeat(100_000))));
    assert_eq!(
        report,
        "2:12 E0131 expression too deeply nested: expected at most 4000 levels of operators, found more\n  \
         hint split it, for example with auxiliary variables or `sum(…)`\n"
    );
}

#[test]
fn long_sums_inside_each_other_are_limited_together() {
    let mut value = String::from("1");
    for _ in 0..5 {
        value = format!("({value}{})", "*2".repeat(1_000));
    }
    assert_eq!(codes(&messages(with_value(&value))), ["E0131"]);
}

#[test]
fn long_lists_are_not_deep() {
    let value = format!("{{{}1}}", "1 + 2, ".repeat(20_000));
    assert_eq!(messages(with_value(&value)), "");
}
