//! Several mistakes in one file: one message each, and everything else is in the tree.

mod common;

use common::parse;
use saltus_syntax::ast::{ClassBody, ClassDef, ElementKind, EquationKind, Section};

/// Ten mistakes, marked in the text.
const TEN: &str = "\
package Ten
  model A
    Real x = ;                  // 1: no value
    Real y(start=1              // 2: not closed
    Real z;
    Integer n = 3 != 4;         // 3: operator of C
    parameter Real k = 2        // 4: no semicolon
    Real w = k^2^3;             // 5: power of a power
  equation
    x := 1;                     // 6: assignment
    y = (2;                     // 7: not closed
    z = 3;
    if k > 1 the                // 8: misspelled
      w = 1;
    end if;
    n = 4);                     // 9: closed too often
  end B;                        // 10: wrong name
  model C
    Real fine;
  end C;
end Ten;
";

#[test]
fn ten_mistakes_give_ten_messages() {
    let fixture = parse(TEN);
    let mut expected: Vec<u32> = Vec::new();
    for (line, text) in TEN.lines().enumerate() {
        if text.contains("// ") {
            expected.push(line as u32 + 1);
        }
    }
    assert_eq!(expected.len(), 10);
    let file = fixture.sources.get(fixture.parsed.tree.span.file).expect("the file was added");
    let found: Vec<u32> = fixture
        .parsed
        .diagnostics
        .iter()
        .map(|d| file.lines.line_column(&file.text, d.span.expect("has a place").start).line)
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn what_was_fine_is_in_the_tree() {
    let fixture = parse(TEN);
    let ClassBody::Long(package) = &fixture.parsed.tree.classes[0].class.body else { panic!("a long class") };
    let Section::Elements { elements: classes, .. } = &package.sections[0] else { panic!("elements") };
    let mut names = Vec::new();
    for element in classes {
        let ElementKind::Class(class) = &element.kind else { panic!("a class") };
        names.push(fixture.names.text(class.class.name.name));
        let ClassBody::Long(long) = &class.class.body else { panic!("a long class") };
        for section in &long.sections {
            match section {
                Section::Elements { elements, .. } => {
                    for element in elements {
                        let ElementKind::Components(clause) = &element.kind else { panic!("components") };
                        names.push(fixture.names.text(clause.components[0].name.name));
                    }
                }
                Section::Equations { equations, .. } => {
                    let broken = equations.iter().filter(|e| matches!(e.kind, EquationKind::Error)).count();
                    // Five equations stand in the text; each has two sides that could be read.
                    assert_eq!((equations.len(), broken), (5, 0));
                }
                Section::Algorithm { .. } => panic!("no algorithm stands in the text"),
            }
        }
    }
    assert_eq!(names, ["A", "x", "y", "z", "n", "k", "w", "C", "fine"]);
}

#[test]
fn any_prefix_of_a_file_is_parsed_without_a_panic() {
    for end in (0..TEN.len()).filter(|&i| TEN.is_char_boundary(i)) {
        parse(&TEN[..end]);
        parse(&TEN[end..]);
    }
}

#[test]
fn tokens_in_any_order_are_parsed_without_a_panic() {
    let words: Vec<&str> = TEN.split_whitespace().collect();
    // A linear congruential generator (Numerical Recipes) picks the words; any sequence would do.
    let mut state = 1u32;
    for _ in 0..200 {
        let mut text = String::new();
        for _ in 0..40 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(words[(state >> 8) as usize % words.len()]);
            text.push(if state & 0x80 == 0 { ' ' } else { '\n' });
        }
        parse(&text);
    }
}

/// Classes by their full names, in the order of the text.
fn classes(text: &str) -> Vec<String> {
    fn add(class: &ClassDef, around: &str, fixture: &common::Fixture, found: &mut Vec<String>) {
        let name = format!("{around}{}", fixture.names.text(class.name.name));
        found.push(name.clone());
        let ClassBody::Long(long) = &class.body else { return };
        for section in &long.sections {
            let Section::Elements { elements, .. } = section else { continue };
            for element in elements {
                if let ElementKind::Class(inner) = &element.kind {
                    add(&inner.class, &format!("{name}."), fixture, found);
                }
            }
        }
    }
    let fixture = parse(text);
    let mut found = Vec::new();
    fixture.parsed.tree.classes.iter().for_each(|definition| add(&definition.class, "", &fixture, &mut found));
    found
}

/// Wherever the typing of `B` stops, the class behind it is one, in general inside of `B`, which has no end.
#[test]
fn the_class_behind_a_half_typed_one() {
    let half = "  model B\n    A a(x = 3, f = {1, 2});\n  equation\n    for i in 1:3 loop\n      x[i] = (if a.x > 1 then 2 else 3);\n    end for;\n    when {a.x > 1, time > 2} then\n      reinit(y, -1);\n    end when;\n    connect(a.p, a.n) annotation(Line(points = {{0, 0}, {1, 1}}));\n  algorithm\n    while y > 0 loop\n      y := 1;\n    end while;\n";
    for cut in "  model B\n".len()..half.len() {
        let text = format!("package P\n{}\n  model C \"Third\"\n    Real z;\n  end C;\nend P;\n", &half[..cut]);
        let found = classes(&text);
        // `end f`, which is to become `end for`, may be the end of `B`.
        assert!(found == ["P", "P.B", "P.B.C"] || found == ["P", "P.B", "P.C"], "{found:?}\n{text}");
    }
}

#[test]
fn a_broken_end_does_not_end_the_class() {
    let text = "package P\n  model B\n    Real x;\n    end wh le;\n  end B;\n  model C\n  end C;\nend P;\n";
    assert_eq!(classes(text), ["P", "P.B", "P.C"]);
    // A wrong name at the end of a line is one.
    let text = "package P\n  model B\n    Real x;\n  end Bx;\n  model C\n  end C;\nend P;\n";
    assert_eq!(classes(text), ["P", "P.B", "P.C"]);
}

/// A text without its closing quote ends where classes go on, although there are texts behind it and before.
#[test]
fn the_class_behind_an_open_string() {
    let whole = "package P\n  model A \"First;\n of three\"\n  end A;\n  model B\n    Real x \"Height\";\n    Real y;\n    annotation(Documentation(info=\"<html>\n<p>Some text;\nand <a href=\\\"modelica://P.A\\\">more</a>.</p>\n</html>\"));\n  end B;\n  model C\n    \"Third\"\n    Real z \"Depth\";\n  end C;\n  model D \"Last\"\n  end D;\nend P;\n";
    assert_eq!(classes(whole), ["P", "P.A", "P.B", "P.C", "P.D"]);
    for open in ["\"Height\"", "</html>\""] {
        for cut in 2..open.len() {
            let broken = whole.replace(open, &open[..cut]);
            assert_eq!(classes(&broken), ["P", "P.A", "P.B", "P.C", "P.D"], "{broken}");
        }
    }
    // The class ends in the middle of its documentation.
    let start = whole.find("Some text").unwrap();
    let end = whole.find("  model C").unwrap();
    let broken = format!("{}\n{}", &whole[..start], &whole[end..]);
    assert_eq!(classes(&broken), ["P", "P.A", "P.B", "P.B.C", "P.B.D"], "{broken}");
}
