//! Random edits: every answer equals the answer of a new session with the same texts, byte for byte.

use crate::bench::{Disk, shown};

/// Texts for the files of the user.
const OWN: [(&str, &[&str]); 3] = [
    (
        "A.mo",
        &[
            "model A Real x = 1; end A;",
            "model A extends B; Real y = 2; end A;",
            "model A P.X p; Real z = p.x; end A;",
            "model A Real x = 1 end A;",
            "model A Q.M m; Real z = undefined; end A;",
            "package A model N Real q = P.c; end N; end A;",
            "within P; model A Real w = c; end A;",
            "",
            "model A import P.X; X x; end A; model Extra end Extra;",
            "model A annotation(uses(Q(version=\"2\"))); Q.M m; end A;",
            "model A \n\n Real x = 1; Real x = 2; end A;",
            "garbage ( [",
        ],
    ),
    (
        "B.mo",
        &[
            "model B Real b = 7; end B;",
            "model B extends A; end B;",
            "partial model B Real b; end B;",
            "model B extends C(c = 3); end B;",
            "model A Real other = 5; end A; model B A a; end B;",
            "model B Real b = ; end B;",
            "within A; model B Real b = 1; end B;",
        ],
    ),
    (
        "C.mo",
        &["model C parameter Real c = 1; end C;", "model C B b; end C;", "type C = Real(min = 0);", "model D end D;"],
    ),
];

/// Texts for the files on disk; the empty one stands for no file.
const STORED: [(&str, &[&str]); 6] = [
    (
        "lib/P/package.mo",
        &[
            "package P constant Real c = 2; end P;",
            "package P constant Real c = 3; model X Real x = 9; end X; end P;",
            "package P constant Real c = 2; annotation(uses(Q(version=\"1\"))); end P;",
            "package P constant Real c = end P;",
            "",
        ],
    ),
    (
        "lib/P/X.mo",
        &[
            "within P; model X Real x = c; end X;",
            "within P; model X Y y; Real x = y.v; end X;",
            "model X Real x = 1; end X;",
            "within P; model Z end Z;",
            "within P; model X Real x = (1; end X;",
            "",
        ],
    ),
    ("lib/P/Y.mo", &["within P; model Y Real v = 4; end Y;", "within P; model Y extends X; Real v = 1; end Y;", ""]),
    ("lib/P/package.order", &["X\nY\n", "Y\nX\nNothing\n", ""]),
    (
        "lib/Q.mo",
        &[
            "package Q model M Real m = 1; end M; annotation(version=\"1\"); end Q;",
            "package Q model M Real m = 1; end M; annotation(version=\"2\"); end Q;",
            "package Q model M P.X x; end M; end Q;",
            "package Q end Q; package R end R;",
            "",
        ],
    ),
    ("lib/Q 2.mo", &["package Q model M Real m = 2; end M; annotation(version=\"2\"); end Q;", ""]),
];

const CLASSES: [&str; 11] = ["A", "B", "C", "D", "A.N", "A.B", "P.X", "P.Y", "P.A", "Q.M", "Nothing.At.All"];

/// A linear congruential generator (Knuth, MMIX); the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

#[test]
fn every_answer_is_that_of_a_new_session() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let disk = Disk::with(&STORED.map(|(path, texts)| (path, texts[0])));
        let mut session = disk.session();
        let mut own: Vec<(&str, &str)> = Vec::new();
        let mut steps = Vec::new();
        for _ in 0..60 {
            match random.below(5) {
                0 => {
                    let &(path, _) = random.of(&OWN);
                    session.remove_text(path);
                    own.retain(|(known, _)| *known != path);
                    steps.push(format!("remove {path}"));
                }
                1 | 2 => {
                    let &(path, texts) = random.of(&OWN);
                    let text = *random.of(texts);
                    session.set_text(path, text);
                    match own.iter_mut().find(|(known, _)| *known == path) {
                        Some(known) => known.1 = text,
                        None => own.push((path, text)),
                    }
                    steps.push(format!("set {path}: {text}"));
                }
                _ => {
                    let &(path, texts) = random.of(&STORED);
                    let text = *random.of(texts);
                    if text.is_empty() {
                        disk.remove(path)
                    } else {
                        disk.write(path, text)
                    }
                    session.reload(path);
                    steps.push(format!("write {path}: {text}"));
                }
            }
            for _ in 0..3 {
                let class = *random.of(&CLASSES);
                let mut fresh = disk.session();
                own.iter().for_each(|(path, text)| fresh.set_text(path, text));
                let (found, expected) = (shown(&session.check(class)), shown(&fresh.check(class)));
                assert_eq!(found, expected, "seed {seed}, class {class} after\n{}", steps.join("\n"));
                assert_eq!(shown(&session.check(class)), expected, "the second time, seed {seed}, class {class}");
            }
        }
    }
}
