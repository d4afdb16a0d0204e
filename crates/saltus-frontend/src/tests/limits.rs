//! Texts that are too large to be written on a page: they end with one message, or are taken, and soon.

use saltus_base::Diagnostics;
use saltus_library::{Library, MemoryFiles};

use crate::{Options, flatten};

/// What is said about the class `M` of a text, on a stack as large as that of the program, and its number of functions.
fn flattened(text: &str) -> (Diagnostics, usize) {
    std::thread::scope(|scope| {
        let work = || {
            let library = Library::new(Box::new(MemoryFiles::new()));
            library.load_text("own.mo", text);
            let class = library.find("M").expect("the text declares M");
            let flattened = flatten(&library, class, &Options::default());
            (flattened.diagnostics, flattened.model.map_or(0, |m| m.functions.len()))
        };
        let thread = std::thread::Builder::new().stack_size(512 << 20).spawn_scoped(scope, work).unwrap();
        thread.join().unwrap()
    })
}

/// Code, marked text and message of the only diagnostic.
fn only_message(text: &str) -> (String, String, String) {
    let (found, _) = flattened(text);
    let all: Vec<_> = found.iter().collect();
    let [one] = all.as_slice() else { panic!("expected one message, found {all:?}") };
    let span = one.span.expect("a place");
    let marked = text[span.start as usize..span.end as usize].to_string();
    (one.code.0.to_string(), marked, one.message.clone())
}

fn chain(n: usize, link: impl Fn(usize) -> String, last: &str) -> String {
    (0..n).map(link).collect::<String>() + last
}

#[test]
fn components_may_not_be_nested_without_end() {
    let text = chain(
        3000,
        |i| format!("model A{i} A{} a; end A{i};\n", i + 1),
        "model A3000 Real x = 1; end A3000;\nmodel M A0 a; end M;\n",
    );
    let (code, marked, message) = only_message(&text);
    assert_eq!((code.as_str(), marked.as_str()), ("E0246", "a"));
    assert_eq!(message, "components are nested more than 100 deep");
}

#[test]
fn base_classes_may_not_be_stacked_without_end() {
    let text = chain(
        3000,
        |i| format!("model A{i} extends A{}; end A{i};\n", i + 1),
        "model A3000 Real x = 1; end A3000;\nmodel M extends A0; end M;\n",
    );
    let (code, _, message) = only_message(&text);
    assert_eq!((code.as_str(), message.as_str()), ("E0246", "base classes are nested more than 100 deep"));
}

#[test]
fn inheriting_twice_on_every_level_ends() {
    let text = chain(
        30,
        |i| format!("model A{i} extends A{n}; extends A{n}; end A{i};\n", n = i + 1),
        "model A30 Real x = 1; end A30;\nmodel M extends A0; end M;\n",
    );
    assert_eq!(only_message(&text).0, "E0246");
}

#[test]
fn records_that_double_on_every_level_end() {
    let text = chain(
        30,
        |i| format!("record R{i} R{n} a; R{n} b; end R{i};\n", n = i + 1),
        "record R30 Real x = 1; end R30;\nmodel M R0 r; end M;\n",
    );
    assert_eq!(only_message(&text).0, "E0234");
}

#[test]
fn long_chains_of_parameters_types_and_functions_are_taken() {
    let parameters = chain(5000, |i| format!("  parameter Integer p{i} = p{};\n", i + 1), "");
    let text = format!("model M\n{parameters}  parameter Integer p5000 = 3;\n  Real x[p0] = {{1, 2, 3}};\nend M;\n");
    let (found, _) = flattened(&text);
    assert!(found.is_empty(), "{:?}", found.iter().next());

    let types = chain(2000, |i| format!("type T{i} = T{};\n", i + 1), "type T2000 = Real(unit = \"m\");\n");
    let text = format!("{types}model M T0 x = 1; end M;\n");
    assert!(flattened(&text).0.is_empty());

    let functions = chain(
        1000,
        |i| format!("function f{i} input Real x; output Real y = f{}(x); end f{i};\n", i + 1),
        "function f1000 input Real x; output Real y = x; end f1000;\n",
    );
    let (found, n_functions) = flattened(&format!("{functions}model M Real x = f0(time); end M;\n"));
    assert!(found.is_empty());
    assert_eq!(n_functions, 1001);
}

#[test]
fn nested_sums_stay_loops() {
    let text = "model M\n  Real x = sum(sum(i * j for i in 1:50000) for j in 1:50000);\nend M;\n";
    assert!(flattened(text).0.is_empty());
}

#[test]
fn a_mistake_in_a_thousand_components_is_one_message() {
    let text = "model A Real x = y; end A;\nmodel M A a[1000]; end M;\n";
    assert_eq!(only_message(text).0, "E0202");
}

#[test]
fn suggestions_end_where_mistakes_are_countless() {
    // Each mistake is compared with a thousand names.
    let names = chain(1000, |i| format!("Real variable{i} = varable{i};\n"), "");
    let (found, _) = flattened(&format!("model M\n{names}end M;"));
    let errors: Vec<_> = found.iter().filter(|d| d.code.0 == "E0202").collect();
    assert_eq!(errors.len(), 1000, "each is reported");
    assert!(errors[0].hints.iter().any(|h| h.contains("variable0")), "{:?}", errors[0]);
    assert!(!errors[999].hints.iter().any(|h| h.contains("variable999")), "{:?}", errors[999]);
}
