//! The shape of the trees. Expressions are written with every operation in brackets.

mod common;

use common::{check, parse, report};
use saltus_base::{Interner, SourceMap};
use saltus_syntax::ast::{
    Argument, Call, ClassBody, ClassKind, ComponentRef, Connection, Direction, Element, ElementKind, EquationKind,
    Expr, ExprKind, ImportKind, LongClass, Purity, RedeclarationKind, Section, StatementKind, Subscript, Variability,
};

struct Show<'n>(&'n Interner);

impl Show<'_> {
    fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Integer(value) => value.to_string(),
            ExprKind::Real(value) => format!("{value:?}"),
            ExprKind::String(value) => format!("{value:?}"),
            ExprKind::Boolean(value) => value.to_string(),
            ExprKind::Ref(reference) => self.reference(reference),
            ExprKind::Call(call) => self.call(call),
            ExprKind::Unary(operator, operand) => format!("({operator:?} {})", self.expr(operand)),
            ExprKind::Binary(operator, a, b) => format!("({} {operator:?} {})", self.expr(a), self.expr(b)),
            ExprKind::If(branches, otherwise) => {
                let branches: Vec<_> =
                    branches.iter().map(|(c, e)| format!("{} -> {}", self.expr(c), self.expr(e))).collect();
                format!("(if {} else {})", branches.join(" | "), self.expr(otherwise))
            }
            ExprKind::Range { start, step, stop } => {
                let step = step.as_ref().map_or(String::new(), |s| format!(" step {}", self.expr(s)));
                format!("(from {}{step} to {})", self.expr(start), self.expr(stop))
            }
            ExprKind::Array(entries) => format!("{{{}}}", self.list(entries)),
            ExprKind::Comprehension(body, indices) => format!("{{{} for {}}}", self.expr(body), indices.len()),
            ExprKind::Matrix(rows) => {
                format!("[{}]", rows.iter().map(|r| self.list(r)).collect::<Vec<_>>().join("; "))
            }
            ExprKind::Parenthesised(entries) => {
                let entries: Vec<_> = entries.iter().map(|e| e.as_ref().map_or("_".into(), |e| self.expr(e))).collect();
                format!("p({})", entries.join(", "))
            }
            ExprKind::Access { base, subscripts, parts } => {
                format!("{} at {} {}", self.expr(base), self.subscripts(subscripts), parts.len())
            }
            ExprKind::End => "end".into(),
            ExprKind::PartialFunction(call) => format!("function {}", self.call(call)),
            ExprKind::Error => "error".into(),
        }
    }

    fn list(&self, entries: &[Expr]) -> String {
        entries.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    fn subscripts(&self, subscripts: &[Subscript]) -> String {
        let texts: Vec<_> = subscripts
            .iter()
            .map(|s| match s {
                Subscript::Colon(_) => ":".into(),
                Subscript::Expr(e) => self.expr(e),
            })
            .collect();
        if texts.is_empty() { String::new() } else { format!("[{}]", texts.join(", ")) }
    }

    fn reference(&self, reference: &ComponentRef) -> String {
        let parts: Vec<_> = reference
            .parts
            .iter()
            .map(|p| format!("{}{}", self.0.text(p.name.name), self.subscripts(&p.subscripts)))
            .collect();
        format!("{}{}", if reference.is_global { "." } else { "" }, parts.join("."))
    }

    fn call(&self, call: &Call) -> String {
        let mut arguments: Vec<_> = call.arguments.iter().map(|a| self.expr(a)).collect();
        arguments.extend(call.named.iter().map(|n| format!("{}={}", self.0.text(n.name.name), self.expr(&n.value))));
        let iterators =
            if call.iterators.is_empty() { String::new() } else { format!(" for {}", call.iterators.len()) };
        format!("{}({}{iterators})", self.reference(&call.name), arguments.join(", "))
    }
}

#[track_caller]
fn expression(text: &str, expected: &str) {
    let (mut sources, mut names) = (SourceMap::new(), Interner::new());
    let file = sources.add("", text);
    let (expr, diagnostics) = saltus_syntax::parse_expression(file, text, &mut names);
    assert_eq!(report(&sources, &diagnostics), "");
    assert_eq!(Show(&names).expr(&expr), expected);
    assert_eq!((expr.span.start as usize, expr.span.end as usize), (0, text.len()));
}

#[test]
fn operators_bind_as_the_specification_says() {
    expression("-a*b", "(Minus (a Multiply b))");
    expression("-a + b", "((Minus a) Add b)");
    expression("-a^2", "(Minus (a Power 2))");
    expression("a - b - c", "((a Subtract b) Subtract c)");
    expression("a + b*c^d", "(a Add (b Multiply (c Power d)))");
    expression("a .+ b .* c .^ d", "(a ElementAdd (b ElementMultiply (c ElementPower d)))");
    expression("not a == b and c or d", "(((Not (a Equal b)) And c) Or d)");
    expression("a < -b", "(a Less (Minus b))");
    expression("a or b:c or d", "(from (a Or b) to (c Or d))");
    expression("1:2:n", "(from 1 step 2 to n)");
    expression("(-a)^(-b)", "(p((Minus a)) Power p((Minus b)))");
}

#[test]
fn numbers() {
    expression("1e3", "1000.0");
    expression("1.", "1.0");
    expression(".5", "0.5");
    expression("2.5E-1", "0.25");
    expression("9223372036854775807", "9223372036854775807");
    // 2^63 does not fit into 64 bits.
    expression("9223372036854775808", "9.223372036854776e18");
    expression("1.*x", "(1.0 Multiply x)");
}

#[test]
fn strings_and_quoted_identifiers() {
    expression(r#""a\"b\n\\""#, r#""a\"b\n\\""#);
    expression("\"zwölf\n\"", "\"zwölf\\n\"");
    expression("'+'.'a\\'b'", "'+'.'a\\'b'");
    expression("'a\\?'", "'a?'");
}

#[test]
fn references_and_calls() {
    expression(".A.b[1, :].c[end - 1]", ".A.b[1, :].c[(end Subtract 1)]");
    expression("f()", "f()");
    expression("f(1, x=2)", "f(1, x=2)");
    expression("sum(x[i] for i in 1:3)", "sum(x[i] for 1)");
    expression("f(function g(k=1), h=function g())", "f(function g(k=1), h=function g())");
    expression("der(x) + pure(f(x))", "(der(x) Add pure(f(x)))");
    expression("initial()", "initial()");
    expression("(a, , b)", "p(a, _, b)");
    expression("()", "p()");
    expression("(a + b)[1]", "p((a Add b)) at [1] 0");
    expression("(a).b.c", "p(a) at  2");
}

#[test]
fn arrays_and_conditions() {
    expression("{1, {2}}", "{1, {2}}");
    expression("[1, 2; 3, 4]", "[1, 2; 3, 4]");
    expression("{i*j for i in 1:2, j in 1:3}", "{(i Multiply j) for 2}");
    expression("if a then 1 elseif b then 2 else 3", "(if a -> 1 | b -> 2 else 3)");
}

#[test]
fn a_component_reference_alone() {
    let (mut sources, mut names) = (SourceMap::new(), Interner::new());
    let text = "a.b[2].c + 1";
    let file = sources.add("", text);
    let (reference, diagnostics) = saltus_syntax::parse_component_ref(file, text, &mut names);
    assert_eq!(Show(&names).reference(&reference), "a.b[2].c");
    assert_eq!(report(&sources, &diagnostics), "1:10 E0108 expected the end of the expression, found `+`\n");
}

/// The only class of a text without errors.
#[track_caller]
fn with_class(text: &str, test: impl FnOnce(&Interner, &LongClass)) {
    let fixture = parse(text);
    assert_eq!(report(&fixture.sources, &fixture.parsed.diagnostics), "");
    match &fixture.parsed.tree.classes[0].class.body {
        ClassBody::Long(long) => test(&fixture.names, long),
        other => panic!("expected a long class, found {other:?}"),
    }
}

fn elements(long: &LongClass) -> Vec<&Element> {
    let mut all = Vec::new();
    for section in &long.sections {
        if let Section::Elements { elements, .. } = section {
            all.extend(elements);
        }
    }
    all
}

#[test]
fn kinds_of_classes() {
    let text = "within A.B;
final encapsulated partial model M end M;
expandable connector C end C;
operator record R end R;
impure function F end F;
operator function O end O;
operator '+' end '+';
type E = enumeration(a \"first\", b annotation (x=1));
type U = enumeration(:);
connector I = input Real[3](unit=\"m\") \"d\";
function D = der(f, x, y);
";
    let fixture = parse(text);
    assert_eq!(report(&fixture.sources, &fixture.parsed.diagnostics), "");
    let tree = &fixture.parsed.tree;
    assert_eq!(tree.within.as_ref().map(|w| w.path.len()), Some(2));
    let kinds: Vec<_> = tree.classes.iter().map(|d| d.class.kind).collect();
    use ClassKind::*;
    let expected = [
        Model,
        ExpandableConnector,
        OperatorRecord,
        Function,
        OperatorFunction,
        Operator,
        Type,
        Type,
        Connector,
        Function,
    ];
    assert_eq!(kinds, expected);
    assert!(tree.classes[0].is_final && tree.classes[0].class.is_encapsulated && tree.classes[0].class.is_partial);
    assert_eq!(tree.classes[3].class.purity, Some(Purity::Impure));
    let ClassBody::Enumeration(body) = &tree.classes[6].class.body else { panic!("an enumeration") };
    assert_eq!(body.literals.as_ref().map(Vec::len), Some(2));
    let ClassBody::Enumeration(body) = &tree.classes[7].class.body else { panic!("an enumeration") };
    assert!(body.literals.is_none());
    let ClassBody::Short(short) = &tree.classes[8].class.body else { panic!("a short class") };
    assert_eq!((short.direction, short.subscripts.len()), (Some(Direction::Input), 1));
    let ClassBody::Derivative { variables, .. } = &tree.classes[9].class.body else { panic!("a derivative") };
    assert_eq!(variables.len(), 2);
}

#[test]
fn declarations() {
    let text = "model M
  import A.B;
  import C = A.B;
  import A.B.*;
  import A.{B, C};
  extends .Base(x=1, break y, break connect(a, b)) annotation (z=1);
  flow parameter input Real[3] a[2](each start=1, final min=0) = 1 if c \"one\" + \"two\", b := 2;
  redeclare final inner outer replaceable model N = O constrainedby P(q=1) \"d\";
  stream Real s = break;
protected
  M2 m(redeclare package Medium = Water(x=1), each final replaceable Real r constrainedby T);
end M;";
    with_class(text, |names, long| {
        let all = elements(long);
        let imports: Vec<_> = all[..4]
            .iter()
            .map(|e| match &e.kind {
                ElementKind::Import(import) => match &import.kind {
                    ImportKind::Qualified => 'q',
                    ImportKind::Renamed(_) => 'r',
                    ImportKind::All => 'a',
                    ImportKind::Some(list) if list.len() == 2 => '2',
                    ImportKind::Some(_) => 's',
                },
                _ => '?',
            })
            .collect();
        assert_eq!(imports, ['q', 'r', 'a', '2']);
        let ElementKind::Extends(extends) = &all[4].kind else { panic!("extends") };
        assert!(extends.base.is_global && extends.annotation.is_some());
        let arguments = extends.modification.as_ref().map(|m| &m.arguments[..]);
        assert!(matches!(
            arguments,
            Some([Argument::Modification(_), Argument::BreakElement(_), Argument::BreakConnect { .. }])
        ));
        let ElementKind::Components(clause) = &all[5].kind else { panic!("components") };
        assert_eq!(clause.connection, Some(Connection::Flow));
        assert_eq!(clause.variability, Some(Variability::Parameter));
        assert_eq!(clause.direction, Some(Direction::Input));
        assert_eq!((clause.subscripts.len(), clause.components.len()), (1, 2));
        let (a, b) = (&clause.components[0], &clause.components[1]);
        assert_eq!(names.text(a.name.name), "a");
        assert_eq!((a.subscripts.len(), a.condition.is_some(), a.comment.description.parts.len()), (1, true, 2));
        let value = b.modification.as_ref().and_then(|m| m.value.as_ref());
        assert!(value.is_some_and(|v| v.is_assignment));
        let ElementKind::Class(class) = &all[6].kind else { panic!("a class") };
        let p = class.prefixes;
        assert!(p.is_redeclare && p.is_final && p.is_inner && p.is_outer && p.is_replaceable);
        assert_eq!(class.constrained_by.as_ref().map(|c| c.comment.description.parts.len()), Some(1));
        let ElementKind::Components(clause) = &all[7].kind else { panic!("components") };
        let value = clause.components[0].modification.as_ref().and_then(|m| m.value.as_ref());
        assert!(value.is_some_and(|v| v.expr.is_none()));
        let ElementKind::Components(clause) = &all[8].kind else { panic!("components") };
        let arguments = clause.components[0].modification.as_ref().and_then(|m| m.class.as_ref()).map(|c| &c.arguments);
        let Some([Argument::Redeclaration(first), Argument::Redeclaration(second)]) = arguments.map(|a| &a[..]) else {
            panic!("two redeclarations")
        };
        assert!(matches!(first.kind, RedeclarationKind::Class(_)));
        assert!(matches!(second.kind, RedeclarationKind::Component(_)));
        assert!(second.is_each && second.is_final && second.constrained_by.is_some());
    });
}

#[test]
fn sections_and_external() {
    let text = "function f \"d\"
  input Real x;
public
protected
initial equation
equation
initial algorithm
algorithm
  external \"C\" y = c_name(x, 2) annotation (Library=\"l\");
  annotation (Inline=true);
end f;";
    with_class(text, |names, long| {
        // Six keywords and the elements before the first of them.
        assert_eq!(long.sections.len(), 7);
        let external = long.external.as_ref().expect("an external clause");
        let call = external.call.as_ref().expect("a call");
        assert_eq!((names.text(call.name.name), call.arguments.len(), call.result.is_some()), ("c_name", 2, true));
        assert!(external.annotation.is_some() && long.annotation.is_some());
    });
}

#[test]
fn class_extends() {
    with_class("model extends M(x=1) \"d\" Real y; end M;", |_, long| {
        assert!(matches!(&long.extends, Some(Some(m)) if m.arguments.len() == 1));
        assert_eq!(elements(long).len(), 1);
    });
}

#[test]
fn equations() {
    let text = "model M
equation
  a = b \"d\" annotation (x=1);
  (a, , b) = f(x);
  connect(p.a[1], q);
  if c then elseif d then a = 1; else b = 2; end if;
  for i in 1:3, j loop a[i] = j; end for;
  when {c, d} then a = 1; elsewhen e then end when;
  assert(true, \"m\");
  der(x) = if a then b else c;
end M;";
    with_class(text, |_, long| {
        let [Section::Equations { equations, .. }] = &long.sections[..] else { panic!("one section") };
        let kinds: Vec<_> = equations
            .iter()
            .map(|e| match &e.kind {
                EquationKind::Equality { .. } => "=".to_owned(),
                EquationKind::Connect { .. } => "connect".into(),
                EquationKind::If { branches, otherwise } => format!("if {} {}", branches.len(), otherwise.is_some()),
                EquationKind::For { indices, body } => format!("for {} {}", indices.len(), body.len()),
                EquationKind::When { branches } => format!("when {}", branches.len()),
                EquationKind::Call(_) => "call".into(),
                EquationKind::Error => "error".into(),
            })
            .collect();
        assert_eq!(kinds, ["=", "=", "connect", "if 2 true", "for 2 1", "when 2", "call", "="]);
        assert!(equations[0].comment.annotation.is_some());
    });
}

#[test]
fn statements() {
    let text = "function f
algorithm
  a.b[1] := 2;
  (a, , b) := f(x);
  print(\"m\");
  if c then a := 1; end if;
  for i in 1:3 loop break; end for;
  while c loop return; end while;
  when c then a := 1; end when;
end f;";
    with_class(text, |_, long| {
        let [Section::Algorithm { statements, .. }] = &long.sections[..] else { panic!("one section") };
        let kinds: Vec<_> = statements
            .iter()
            .map(|s| match &s.kind {
                StatementKind::Assign { .. } => ":=".to_owned(),
                StatementKind::AssignTuple { targets, .. } => format!("({})", targets.len()),
                StatementKind::Call(_) => "call".into(),
                StatementKind::If { .. } => "if".into(),
                StatementKind::For { body, .. } => format!("for {}", matches!(body[0].kind, StatementKind::Break)),
                StatementKind::While { body, .. } => format!("while {}", matches!(body[0].kind, StatementKind::Return)),
                StatementKind::When { .. } => "when".into(),
                StatementKind::Break | StatementKind::Return | StatementKind::Error => "?".into(),
            })
            .collect();
        assert_eq!(kinds, [":=", "(3)", "call", "if", "for true", "while true", "when"]);
    });
}

#[test]
fn byte_order_mark_and_carriage_returns_are_white_space() {
    check("\u{feff}model A\r\n  Real x; // c\r\nend A;\r\n", "");
}

#[test]
fn comments_know_whether_they_stand_alone() {
    let fixture = parse("// a\nmodel A // b\n  /* c */ Real x; /* d */ // e\nend A; /*/ f */\n");
    let alone: Vec<_> = fixture.parsed.tree.comments.iter().map(|c| c.own_line).collect();
    assert_eq!(alone, [true, false, true, false, false, false]);
}
