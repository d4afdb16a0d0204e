//! The layout that the formatter gives, and that it gives it twice.

mod common;

use common::formatted;
use saltus_syntax::{comment_texts, same_tokens};

/// `text` becomes `expected`, which stays as it is. Both begin behind their first line break.
#[track_caller]
fn check(text: &str, expected: &str) {
    let (text, expected) = (text.trim_start(), expected.trim_start());
    let once = formatted(text);
    assert_eq!(once, expected);
    assert_eq!(formatted(&once), once);
}

#[track_caller]
fn unchanged(text: &str) {
    check(text, text);
}

#[test]
fn one_line_becomes_a_class() {
    check(
        "
model A \"d\" Real x(start=1) \"state\" annotation(Evaluate=true); equation der(x)=-x; annotation(Icon()); end A;",
        "
model A \"d\"
  Real x(start=1) \"state\"
    annotation (Evaluate=true);
equation
  der(x) = -x;
  annotation (Icon());
end A;
",
    );
}

#[test]
fn sections_stand_at_the_indentation_of_the_class() {
    check(
        "
within P;
package Q
package R
function f input Real x; output Real y; protected Real z;
algorithm y:=x; z :=  y;
end f;
end R;
end Q;",
        "
within P;
package Q
  package R
    function f
      input Real x;
      output Real y;
    protected
      Real z;
    algorithm
      y := x;
      z := y;
    end f;
  end R;
end Q;
",
    );
}

#[test]
fn blocks_are_indented() {
    check(
        "
model A
equation
if a then x=1; elseif b then else x=3; end if;
for i in 1 : n-1 loop for j loop y[i-1,j]=1; end for; end for;
when c then reinit(x,1); elsewhen d then end when;
algorithm
while c loop if d then break; end if; end while;
for k in 1:x[end] loop end for;
end A;",
        "
model A
equation
  if a then
    x = 1;
  elseif b then
  else
    x = 3;
  end if;
  for i in 1:n-1 loop
    for j loop
      y[i-1, j] = 1;
    end for;
  end for;
  when c then
    reinit(x, 1);
  elsewhen d then
  end when;
algorithm
  while c loop
    if d then
      break;
    end if;
  end while;
  for k in 1:x[end] loop
  end for;
end A;
",
    );
}

#[test]
fn operators_have_their_usual_spaces() {
    check(
        "
model A
  Real x=a+b* c ^ 2-(-d)/e;
  Boolean y = not a==b and c<>d or x>=- 1;
  Real z = 1 .* x .^ 2 ./ (if c then 1else - 2);
  Real[3] w [ 2 ] = {1,2 , 3};
  Real v[:,2] = [1,2;3,4];
  import A.B . *;
  import C=A.B;
  import A.{B,C};
  type T=Real ( unit = \"m\" );
  B b ( redeclare  package M=N ( p = 1 ) , each final c = 2 );
  .A.B c=.D.e + der ( x ) + initial ( );
end A;",
        "
model A
  Real x=a + b*c^2 - (-d)/e;
  Boolean y = not a == b and c <> d or x >= -1;
  Real z = 1 .* x .^ 2 ./ (if c then 1 else -2);
  Real[3] w[2] = {1, 2, 3};
  Real v[:, 2] = [1, 2; 3, 4];
  import A.B. *;
  import C = A.B;
  import A.{B, C};
  type T = Real(unit=\"m\");
  B b(redeclare package M = N(p=1), each final c=2);
  .A.B c=.D.e + der(x) + initial();
end A;
",
    );
}

#[test]
fn literals_are_printed_as_written() {
    unchanged("model A\n  Real x = 1.50e+03 + .5 + 1. + 007;\n  String s = \"a\\tb\n  c\";\nend A;\n");
}

#[test]
fn blank_lines_are_kept_up_to_one() {
    check(
        "


model A


  Real x;
  Real y;



  Real z;

end A;


model B
end B;


",
        "
model A

  Real x;
  Real y;

  Real z;

end A;

model B
end B;
",
    );
}

#[test]
fn line_breaks_of_the_author_stay() {
    unchanged(
        "
model A
  parameter Real k = 1
    \"Gain\"
    annotation (Dialog(
      group=\"a\",
      tab=\"b\"));
  Pump pump(
    redeclare package Medium = Water,
    n=2,
    x={1,
      2}) \"d\";
equation
  y = a
    + b
    + c;
  connect(a, b)
    annotation (Line(points={{-80,0},{10,0}}, color={0,0,127}));
end A;
",
    );
}

#[test]
fn contents_of_brackets_stand_deeper_where_the_outer_one_goes_on() {
    unchanged(
        "
model A
  annotation (Icon(coordinateSystem(
      extent={{-100,-100},{100,100}}),
    graphics={Rectangle(
        extent={{-1,-1},{1,1}}),
      Text(
        textString=\"a\")}));
end A;
",
    );
}

#[test]
fn long_modifications_are_broken_into_one_argument_a_line() {
    check(
        "
model A
  Modelica.Blocks.Sources.CombiTimeTable table(final tableOnFile=true, final tableName=\"data\", columns=2:5, smoothness=1);
end A;",
        "
model A
  Modelica.Blocks.Sources.CombiTimeTable table(
    final tableOnFile=true,
    final tableName=\"data\",
    columns=2:5,
    smoothness=1);
end A;
",
    );
}

#[test]
fn comments_stay_where_they_were() {
    check(
        "
// before everything

/* second */
model A // behind the head
// before x
Real x; // behind x
/* leading */ Real y(start=1, // behind an argument
    fixed=true); /* behind y */
  // at the end of the declarations
equation // behind the keyword
if c then // behind then
    // alone in the branch
else /* inline */ x /* in the middle */ = 1;
// before end
end if;
    // last of the class
end A; // behind the end
// after everything",
        "
// before everything

/* second */
model A // behind the head
  // before x
  Real x; // behind x
  /* leading */ Real y(start=1, // behind an argument
    fixed=true); /* behind y */
  // at the end of the declarations
equation // behind the keyword
  if c then // behind then
    // alone in the branch
  else /* inline */
    x /* in the middle */ = 1;
  // before end
  end if;
  // last of the class
end A; // behind the end
// after everything
",
    );
}

#[test]
fn carriage_returns_are_kept() {
    check("model A\r\n Real x;\r\nend A;\r\n", "model A\r\n  Real x;\r\nend A;\r\n");
}

#[test]
fn text_that_is_not_modelica_comes_back_unchanged() {
    let text = "model A § end A;";
    let fixture = common::parse(text);
    assert_eq!(saltus_syntax::format(&fixture.parsed.tree, text, &fixture.names), text);
}

#[test]
fn comparing_tokens_ignores_white_space_and_comments_only() {
    assert!(same_tokens("a + b", "a/* c */+b // d"));
    assert!(!same_tokens("a + b", "a + c"));
    assert!(!same_tokens("1.0", "1.00"));
    assert!(!same_tokens("a b", "ab"));
    assert_eq!(comment_texts("a // x \nb /* y */"), ["// x", "/* y */"]);
}

/// One of everything, with its tokens separated by single spaces.
const EVERYTHING: &str = "\
within A . B ; final encapsulated partial model M \"d\" + \"e\" import A . B . * ; import C = A ; extends B ( x = 1 , \
break y ) annotation ( z = { { - 1 , 2 } , f ( a = 1 ) } ) ; parameter Real [ 3 ] a [ 2 ] ( each start = 1 ) = - 1 if \
c \"d\" annotation ( e = 1 ) , b = 2 ; replaceable model N = O ( p = 1 ) constrainedby P ( q = 1 ) \"d\" annotation ( \
r = 1 ) ; type E = enumeration ( a \"x\" , b ) ; protected M2 m ( redeclare package Medium = W ( x = 1 ) \"d\" , u . v \
= if a then b else - c ) ; model I Real x ; end I ; initial equation x [ 1 : n - 1 ] = { i + 1 for i in 1 : n + 1 } ; \
equation if a then x = 1 ; elseif b then else y = 2 ; end if ; for i in 1 : 3 loop z = [ 1 , 2 ; 3 , 4 ] ; end for \
\"d\" ; when c then reinit ( x , - 1 ) ; elsewhen d then end when ; connect ( a . b [ 1 ] , c ) annotation ( Line ( \
points = { { 1 , 2 } } ) ) ; algorithm ( a , , b ) := f ( x , y = 2 ) ; while not a < b and c loop break ; end while ; \
annotation ( Icon ( graphics = { 0 } ) ) ; end M ; function g external \"C\" y = h ( x ) annotation ( l = 1 ) ; end g ;";

#[test]
fn any_white_space_and_any_comments_survive() {
    let words: Vec<&str> = EVERYTHING.split(' ').collect();
    let gaps =
        ["", " ", "\n", "\n\n\n", " // c\n", "\n// d\n", " /* e */ ", "\n/* f */", "\n  /* g\nh */\n", " /* i */\n"];
    // A linear congruential generator (Numerical Recipes) picks the gaps; any sequence would do.
    let mut state = 7u32;
    for round in 0..300 {
        let mut text = String::new();
        for word in &words {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let is_plain = (state >> 24) % 10 >= round % 10;
            let gap = if is_plain { gaps[(state >> 8) as usize % 3] } else { gaps[(state >> 8) as usize % gaps.len()] };
            text.push_str(word);
            text.push_str(if gap.is_empty() { " " } else { gap });
        }
        survives(&text);
    }
}

#[track_caller]
fn survives(text: &str) {
    let once = formatted(text);
    assert_ne!(once, text, "formatting must not give up");
    assert!(same_tokens(text, &once), "tokens\n{text}\n-----\n{once}");
    assert_eq!(comment_texts(text), comment_texts(&once), "comments\n{text}\n-----\n{once}");
    assert_eq!(once, formatted(&once), "idempotence of\n{text}");
}

#[test]
fn annotations_of_other_vendors_are_kept() {
    unchanged(
        "
model A
  Real x
    annotation (__Acme(keep=true, table={1,2}));
  annotation (__Acme_setting=\"kept\");
end A;
",
    );
}
