//! Families as loops against the same equations as scalars, on hand-built models.

use saltus_base::Span;
use saltus_flat::build::*;
use saltus_flat::family::{Affine, Counter, affine_expr, spread};
use saltus_flat::{BaseType, Dim, Expr, ExprKind, Local, LocalId, Subscript, Type, VarId, Variability};
use saltus_program::{Block, Section, SimProgram, print, verify};

/// Elements of arrays.
const N: u64 = 100;

struct Arrays {
    b: Builder,
    i: LocalId,
}

impl Arrays {
    fn new() -> Arrays {
        let mut b = Builder::new("M");
        let local = Local { name: "i".into(), ty: Type::INTEGER, sizes: vec![], default: None, span: Span::nowhere() };
        let i = b.model.iterators.push(local);
        Arrays { b, i }
    }

    fn array(&mut self, name: &str) -> VarId {
        self.b.declare(name, Type::array(BaseType::Real, [Dim::Known(N)]), Variability::Continuous)
    }

    fn state(&mut self, name: &str, start: f64) -> VarId {
        let id = self.array(name);
        self.b.start_value(id, real(start), true);
        id
    }

    fn counter(&self, first: i64, last: i64) -> Counter {
        Counter { local: self.i, first, step: 1, n: (last - first + 1) as u64 }
    }

    /// `x[factor * i + constant]`
    fn element(&self, id: VarId, factor: i64, constant: i64) -> Expr {
        let form = Affine { constant, factors: vec![factor] };
        self.at(id, affine_expr(&form, &[self.counter(1, 1)], Span::nowhere()))
    }

    fn at(&self, id: VarId, subscript: Expr) -> Expr {
        let kind = ExprKind::Index { base: self.b.var(id).into(), subscripts: vec![Subscript::Index(subscript)] };
        Expr::new(kind, Type::REAL, Span::nowhere())
    }

    fn each(&mut self, first: i64, last: i64, left: Expr, right: Expr) {
        let counters = [self.counter(first, last)];
        let side = |e: Expr| spread(e, &counters, Span::nowhere());
        self.b.equation(side(left), side(right));
    }
}

/// The programs with families as loops, if they are kept, and with scalars.
fn both(arrays: &Arrays) -> (SimProgram, SimProgram) {
    let model = &arrays.b.model;
    assert_eq!(saltus_flat::verify(model), Ok(()));
    let kept = crate::sort(model).expect("sorts").emit(model);
    let scalar = crate::sort_scalars(model).expect("sorts").emit(model);
    assert_eq!(verify(&kept), Ok(()));
    (kept, scalar)
}

fn has_loops(program: &SimProgram) -> bool {
    program.sections.named().iter().any(|(_, section)| section.has_repeats())
}

/// What the sections assign, in any order. Between events it does not matter which section does.
fn assignments(program: &SimProgram) -> [Vec<String>; 3] {
    let lines = |sections: &[&Section]| {
        let blocks: Vec<Block> = sections.iter().flat_map(|section| section.unrolled().into_owned().blocks).collect();
        let mut only = program.clone();
        only.sections = Default::default();
        only.sections.derivatives = Section { blocks };
        let text = print(&only);
        let mut lines: Vec<String> = text.lines().filter(|l| l.contains(":=")).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let s = &program.sections;
    [lines(&[&s.initial]), lines(&[&s.events]), lines(&[&s.derivatives, &s.crossings, &s.outputs])]
}

fn assert_kept(arrays: &Arrays) {
    let (kept, scalar) = both(arrays);
    assert!(has_loops(&kept), "no family was kept");
    assert_eq!(assignments(&kept), assignments(&scalar));
    assert_eq!(kept.states.len(), scalar.states.len());
}

fn assert_not_kept(arrays: &Arrays) {
    let (kept, scalar) = both(arrays);
    assert!(!has_loops(&kept), "a family was kept");
    assert_eq!(assignments(&kept), assignments(&scalar));
}

/// Heat along a rod, with flows between the cells and a source at its begin.
fn rod() -> Arrays {
    let mut a = Arrays::new();
    let (k, c) = (a.b.parameter("k", 2.0), a.b.parameter("c", 3.0));
    let (t, q) = (a.state("T", 300.0), a.array("Q"));
    let u = a.b.real("u");
    let flow = mul(a.b.var(k), sub(a.element(t, 1, -1), a.element(t, 1, 0)));
    a.each(2, N as i64, a.element(q, 1, 0), flow);
    a.b.equation(a.at(q, integer(1)), sub(a.b.var(u), a.at(t, integer(1))));
    a.b.equation(a.b.var(u), apply(saltus_flat::Builtin::Sin, vec![time()]));
    a.each(1, N as i64 - 1, mul(a.b.var(c), der(a.element(t, 1, 0))), sub(a.element(q, 1, 0), a.element(q, 1, 1)));
    a.b.equation(der(a.at(t, integer(N as i64))), mul(real(0.5), a.at(q, integer(N as i64))));
    a
}

#[test]
fn a_rod_is_two_loops() {
    let a = rod();
    assert_kept(&a);
    let (kept, scalar) = both(&a);
    let count = |program: &SimProgram| program.sections.derivatives.blocks.len();
    // u, Q[1], the flows, the cells, the last cell; as scalars u, 100 flows, 100 derivatives.
    assert_eq!((count(&kept), count(&scalar)), (5, 201));
    let states = |program: &SimProgram| -> Vec<String> {
        program.states.iter().map(|s| program.memory.slot_name(s.value).into_owned()).collect()
    };
    assert_eq!(states(&kept), states(&scalar));
}

#[test]
fn elements_may_need_those_before_and_those_behind() {
    for (first, last, offset) in [(2, N as i64, -1), (1, N as i64 - 1, 1)] {
        let mut a = Arrays::new();
        let y = a.array("y");
        a.each(first, last, a.element(y, 1, 0), mul(real(0.5), a.element(y, 1, offset)));
        let end = if offset < 0 { 1 } else { N as i64 };
        a.b.equation(a.at(y, integer(end)), time());
        assert_kept(&a);
    }
}

#[test]
fn elements_that_need_each_other_are_scalars() {
    let mut a = Arrays::new();
    let y = a.array("y");
    let n = N as i64;
    let mean = mul(real(0.4), add(a.element(y, 1, -1), a.element(y, 1, 1)));
    a.each(2, n - 1, a.element(y, 1, 0), mean);
    a.b.equation(a.at(y, integer(1)), time());
    a.b.equation(a.at(y, integer(n)), real(0.0));
    assert_not_kept(&a);
}

#[test]
fn only_the_elements_in_a_loop_with_others_are_scalars() {
    let mut a = Arrays::new();
    let y = a.array("y");
    let s = a.b.real("s");
    a.each(1, N as i64, a.element(y, 1, 0), mul(real(0.1), a.b.var(s)));
    a.b.equation(a.b.var(s), add(a.at(y, integer(3)), time()));
    assert_kept(&a);
}

#[test]
fn a_family_determines_what_no_other_one_does() {
    let mut a = Arrays::new();
    let (y, x) = (a.array("y"), a.array("x"));
    a.each(1, N as i64, a.element(y, 1, 0), mul(real(2.0), a.element(x, 1, 0)));
    a.each(1, N as i64, a.element(y, 1, 0), time());
    assert_kept(&a);
}

#[test]
fn constraints_between_states_are_scalars() {
    let mut a = Arrays::new();
    let x = a.array("x");
    let v = a.array("v");
    a.each(1, N as i64, der(a.element(x, 1, 0)), a.element(v, 1, 0));
    a.each(1, N as i64 - 1, a.element(x, 1, 0), a.element(x, 1, 1));
    a.b.equation(a.at(x, integer(1)), apply(saltus_flat::Builtin::Sin, vec![time()]));
    assert_not_kept(&a);
}

#[test]
fn elements_that_equal_others_have_values_of_their_own() {
    let mut a = rod();
    let of_name = |name: &str| a.b.model.variables.iter().find(|(_, v)| v.name == name).map(|(id, _)| id);
    let (Some(t), Some(q)) = (of_name("T"), of_name("Q")) else { panic!("no arrays") };
    let y = a.b.real("y");
    // `y` equals a state of the family; `Q[1]` equals the state `w`, and the family reads it.
    a.b.equation(a.b.var(y), a.at(t, integer(5)));
    let w = a.b.real("w");
    a.b.model.equations.remove(1);
    a.b.equation(a.at(q, integer(1)), a.b.var(w));
    a.b.equation(der(a.b.var(w)), apply(saltus_flat::Builtin::Cos, vec![time()]));
    let (kept, _) = both(&a);
    assert!(has_loops(&kept));
    let [_, _, between] = assignments(&kept);
    assert!(between.iter().any(|line| line.trim() == "Q[1] := w"), "{between:?}");
}
