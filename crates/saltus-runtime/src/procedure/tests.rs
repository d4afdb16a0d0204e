//! Procedures and the evaluator agree bit for bit: the evaluator is the source of every expected number here.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::{BaseType, Dim, FunctionId, Type};
use saltus_library::{Library, MemoryFiles};
use saltus_program::{Argument, Callable, CallableId, SimProgram};

use super::{Entry, Kind, Procedures, Trouble};
use crate::calls::{CallHost, n_scalars};
use crate::tests::empty_program;

/// Sizes that a declaration leaves open.
const OPEN_SIZE: u64 = 3;

/// A program with the functions of a package and one callable for the function `f`.
fn program(functions: &str, call: &str) -> (SimProgram, CallableId) {
    let text = format!("package P\n{functions}\nmodel M\n  Real y = {call};\nend M;\nend P;");
    let library = Library::new(Box::new(MemoryFiles::new()));
    library.load_text("test.mo", &text);
    let class = library.find("P.M").expect("the model");
    let flattened = saltus_frontend::flatten(&library, class, &saltus_frontend::Options::default());
    let messages: Vec<String> = flattened.diagnostics.iter().map(|d| d.message.clone()).collect();
    assert!(!flattened.diagnostics.has_errors(), "{messages:?}");
    let flat = flattened.model.expect("a flat model");
    let function = flat.functions.iter().find(|(_, f)| f.name == "P.f").map(|(id, _)| id).expect("the function");
    let mut program = SimProgram {
        routines: saltus_program::Routines {
            procedures: flat.functions.values().map(|f| Arc::new(saltus_procedure::lower(f))).collect(),
            records: flat.records,
            enumerations: flat.enumerations,
            ..Default::default()
        },
        ..empty_program()
    };
    let callable = callable(&program, function);
    let id = program.routines.callables.push(callable);
    (program, id)
}

fn callable(program: &SimProgram, id: FunctionId) -> Callable {
    let function = &program.routines.procedures[id];
    let closed = |ty: &Type| {
        let dims: Vec<Dim> = ty.dims.iter().map(|d| Dim::Known(d.known().unwrap_or(OPEN_SIZE))).collect();
        Type { base: ty.base, dims }
    };
    let input = |ty: &Type| match ty.base {
        BaseType::Function => {
            let (given, _) =
                program.routines.procedures.iter().find(|(_, f)| f.name == "P.given").expect("a function to give");
            Argument::Function { function: given, bound: vec![(1, Type::REAL)] }
        }
        _ => Argument::Scalars(closed(ty)),
    };
    Callable {
        function: id,
        arguments: function.inputs.iter().map(|&i| input(&function.local(i).expect("a local").ty)).collect(),
        results: function.outputs.iter().map(|&o| closed(&function.local(o).expect("a local").ty)).collect(),
        unused: Vec::new(),
        effect: None,
        derivative: None,
    }
}

/// Numbers without pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (self.0 >> 33) as f64 / f64::from(1u32 << 31);
        // Some whole numbers, zeros of both signs among them, because they are special cases of many operations.
        match self.0 >> 62 {
            0 => (x * 9.0 - 4.0).round(),
            1 => x,
            _ => x * 20.0 - 10.0,
        }
    }
}

/// How many of the calls with arbitrary arguments went well; fails where procedure and evaluator disagree.
fn agreed(functions: &str, call: &str) -> usize {
    let (program, id) = program(functions, call);
    let mut procedures = Procedures::new(Arc::new(program.clone()));
    let mut host = CallHost::new(Arc::new(program.clone()));
    let types = program.routines.callables[id].arguments.iter().flat_map(|a| match a {
        Argument::Scalars(ty) => vec![ty.clone()],
        Argument::Function { bound, .. } => bound.iter().map(|b| b.1.clone()).collect(),
        _ => vec![],
    });
    let n: usize = types.map(|ty| n_scalars(&ty, &program, 0).expect("known sizes")).sum();
    let mut numbers = Numbers(7);
    let mut n_fine = 0;
    let (mut n_differentiated, mut directions) = (0, Numbers(11));
    for _ in 0..300 {
        let arguments: Vec<f64> = (0..n).map(|_| numbers.next()).collect();
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        let called = procedures.call(id, &arguments, &mut found);
        let is_fine = called.is_ok();
        let outcome = host.evaluate(id, &arguments, &[], Span::nowhere(), &mut expected);
        assert_eq!(called, outcome.as_ref().map(|_| ()).map_err(|_| Trouble::Failure), "f({arguments:?}): {outcome:?}");
        if is_fine {
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert_eq!(bits(&found), bits(&expected), "f({arguments:?}) is {expected:?}, not {found:?}");
            n_fine += 1;
            n_differentiated += usize::from(is_differentiated(&mut procedures, id, &arguments, &mut directions));
        }
    }
    assert!(matches!(procedures.entries[0], Entry::Compiled(_)));
    assert!(3 * n_differentiated >= n_fine, "{n_differentiated} of {n_fine} calls were differentiated");
    n_fine
}

/// Is the derivative along some direction that of differences? Where these do not seem to converge (at a kink or a step),
/// nothing is known.
fn is_differentiated(procedures: &mut Procedures, id: CallableId, arguments: &[f64], numbers: &mut Numbers) -> bool {
    let Entry::Compiled(call) = &procedures.entries[0] else { return false };
    let direction: Vec<f64> =
        call.inputs.iter().map(|kind| if *kind == Kind::Real { numbers.next() + 0.3 } else { 0.0 }).collect();
    let mut at = |h: f64| {
        let moved: Vec<f64> = arguments.iter().zip(&direction).map(|(x, d)| x + h * d).collect();
        let mut results = Vec::new();
        procedures.call(id, &moved, &mut results).ok().map(|()| results)
    };
    let h = 1e-5;
    let (Some(after), Some(here), Some(before)) = (at(h), at(0.0), at(-h)) else { return false };
    let slope = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) / h).collect::<Vec<f64>>();
    let (right, left) = (slope(&after, &here), slope(&here, &before));
    let mut found = Vec::new();
    let given: Vec<f64> = arguments.iter().chain(&direction).copied().collect();
    if procedures.call_tangent(id, &given, &mut found).is_err() {
        return false;
    }
    assert_eq!(found.len(), right.len());
    for ((found, right), left) in found.iter().zip(&right).zip(&left) {
        let (mean, size) = (0.5 * (right + left), 1.0 + right.abs());
        // The two sides differ by h times the second derivative, unless there is a kink.
        if (right - left).abs().is_nan() || (right - left).abs() >= 1e-2 * size {
            return false;
        }
        assert!((found - mean).abs() < 1e-4 * size, "f({arguments:?}) along {direction:?}: {found} is not {mean}");
    }
    true
}

fn all_agree(functions: &str, call: &str) {
    assert_eq!(agreed(functions, call), 300);
}

/// Some calls fail in both, some go well in both.
fn some_agree(functions: &str, call: &str) {
    let n = agreed(functions, call);
    assert!(n > 9 && n < 300, "{n} went well");
}

#[test]
fn arithmetic_of_reals_and_its_errors() {
    some_agree(
        "function f
          input Real a; input Real b;
          output Real y; output Real z; output Boolean c;
        algorithm
          y := (a + b)*(a - b)/b + a^2 + abs(a)^b - (-a);
          z := sqrt(a) + log(b) + sin(a)*cos(b) + atan2(a, b) + tanh(a) + floor(a) + ceil(b) + exp(a/10);
          c := a < b and b <= 3 or not a > 2 and a <> b;
        end f;",
        "f(time, 1.0)",
    );
}

#[test]
fn integers_stay_integers() {
    some_agree(
        "function f
          input Integer i; input Integer j; input Real x;
          output Integer k; output Integer l; output Real y; output Integer m;
        algorithm
          k := i*j - 3*i + abs(j) + sign(x);
          l := div(i, j) + mod(i, j)*rem(j, 3) + integer(x) - min(i, j) + max(i, 2);
          y := i/4 + j^2 + mod(x, 0.7) + div(x, 0.3);
          m := -i*0;
        end f;",
        "f(1, 2, time)",
    );
}

#[test]
fn large_integers_are_left_to_the_evaluator() {
    let (program, id) = program(
        "function f
          input Integer n; output Integer y = 3;
        algorithm
          for i in 1:n loop y := y*3; end for;
        end f;",
        "f(1)",
    );
    let mut procedures = Procedures::new(Arc::new(program.clone()));
    let mut results = Vec::new();
    // 3^31 < 2^53 < 3^41
    assert!(procedures.call(id, &[30.0], &mut results).is_ok());
    assert_eq!(results, [3f64.powi(31)]);
    assert!(procedures.call(id, &[40.0], &mut results).is_err());
}

#[test]
fn loops_of_all_kinds() {
    all_agree(
        "function f
          input Real x; input Integer n;
          output Real y = 0; output Integer rounds = 0;
        protected
          Real z = x; Real table[4] = {0.5, x, 2, n};
        algorithm
          while abs(z) > 0.1 and rounds < 30 loop
            z := z/2;
            rounds := rounds + 1;
            if z > 4 then break; end if;
          end while;
          for i in 1:n loop y := y + i*x; end for;
          for i in n:-2:-3 loop y := y - i/7; end for;
          for v in table loop
            if v > 5 then break; end if;
            y := y + v;
            table[2] := -1;
          end for;
          for i in 1:4, j in 1:3 loop y := y + table[i]*j; end for;
          for i in 1:200 loop y := y/2 + i; rounds := rounds + mod(i, 2); end for;
        end f;",
        "f(time, 3)",
    );
}

#[test]
fn early_return_and_branches() {
    all_agree(
        "function f
          input Real x;
          output Real y = 1; output Integer way = 0;
        algorithm
          if x > 5 then
            way := 1;
            return;
          elseif x > 0 then
            way := 2;
            for i in 1:5 loop
              y := y*x;
              if y > 3 then return; end if;
            end for;
          else
            way := if x < -5 then 3 elseif x < -2 then 4 else 5;
          end if;
          y := y + (if noEvent(x > 1) then x else smooth(0, way));
        end f;",
        "f(time)",
    );
}

#[test]
fn arrays_with_subscripts_at_run_time() {
    some_agree(
        "function f
          input Real a[3, 4]; input Integer i; input Integer j; input Real v[4];
          output Real y[4]; output Real s; output Real b[3, 4];
        protected
          Integer order[2];
        algorithm
          b := a;
          y := a[i, :];
          order := {i, 2};
          b[i, 2:3] := a[order, j];
          b[:, 1] := a[:, j] + {1, 2, 3};
          b[{3, 1}, 4] := b[{1, 3}, 4];
          y[j] := v*a[i, :] + a[2, 1];
          s := sum(a) + product(v) + min(v) - max(a) + a[i, j];
        end f;",
        "sum(f(fill(time, 3, 4), 1, 2, fill(time, 4)))",
    );
}

#[test]
fn matrix_and_array_functions() {
    all_agree(
        "function f
          input Real a[3, 3]; input Real v[3];
          output Real y[3]; output Real m[3, 3]; output Real c[6]; output Real s;
        algorithm
          y := a*v + v*a - 2*v + v.*v + skew(v)*cross(v, a[1, :]);
          m := transpose(a)*a + identity(3) + diagonal(v) + outerProduct(v, y) + symmetric(a) - ones(3, 3);
          c := cat(1, v, linspace(v[1], v[2], 3));
          s := v*v + sum(v[i]*i for i in 1:3) + sum(a[i, j]*v[j] for i in 1:3, j in 1:2) + max(v[i] for i in 1:3)
            + scalar([v[1]]) + size(a, 1)*ndims(a) + sum({i*v[i] for i in 1:3}) + sum(vector(a[:, 1:1]));
        end f;",
        "sum(f(fill(time, 3, 3), fill(time, 3)))",
    );
}

#[test]
fn open_sizes_follow_the_arguments() {
    all_agree(
        "function f
          input Real x[:]; input Real p[size(x, 1)]; input Integer n;
          output Real y; output Real z[size(x, 1)];
        protected
          Integer m = size(x, 1); Real w[m + 1] = cat(1, x, {1}); Real q[2*m];
        algorithm
          for i in 1:m loop
            q[i:i + 1] := x[i]*{1, 2};
            z[i] := sum(w[1:i]) + q[m] + p[m - i + 1];
          end for;
          y := sum(x[i] for i in 1:min(n, 3)) + product(x[i] for i in 1:min(n, 2));
        end f;",
        "f({time, 1, 2}, {1, 2, 3}, 2)",
    );
}

#[test]
fn records_inside_of_arrays_and_records() {
    some_agree(
        "type E = enumeration(a, b, c);
        record Q Real x[2]; Boolean b; E e; end Q;
        record R String name; Q q; Real z; Q many[2]; end R;
        function change
          input R r; input Integer i; output R s = r;
        algorithm
          s.q.x[i] := r.z;
          s.many[i].x := r.q.x + {1, i};
          s.many[1].e := E.c;
        end change;
        function f
          input R r; input Integer i;
          output R s; output Real y; output Q partly;
        algorithm
          s := change(r, i);
          partly.b := true;
          y := sum(s.many.x[1]) + s.many[i].x[2] + Integer(s.many[1].e);
          if s.many[i].b then
            s.many[2] := Q({y, 2}, r.z > 1, r.q.e);
          end if;
        end f;
        function use input R r; output Real y; algorithm (, y) := f(r, 1); end use;",
        "use(R(\"\", Q({time, 1}, true, E.a), 2, fill(Q({time, 1}, true, E.b), 2)))",
    );
}

#[test]
fn calls_with_several_results_and_recursion() {
    all_agree(
        "function two input Real x; output Real a = x + 1; output Real b = 2*x; end two;
        function fibonacci
          input Integer n; output Integer y;
        algorithm
          y := if n < 2 then n else fibonacci(n - 1) + fibonacci(n - 2);
        end fibonacci;
        function even input Integer n; output Boolean y; algorithm y := if n == 0 then true else odd(n - 1); end even;
        function odd input Integer n; output Boolean y; algorithm y := if n == 0 then false else even(n - 1); end odd;
        function f
          input Real x; input Integer n;
          output Real y; output Integer k; output Boolean c;
        protected
          Real a; Real b;
        algorithm
          (a, b) := two(x);
          (b, a) := two(a);
          (y, ) := two(two(a*two(b)));
          k := fibonacci(mod(n, 8)) + fibonacci(9);
          c := even(abs(n));
        end f;",
        "f(time, 3)",
    );
}

#[test]
fn endless_recursion_ends() {
    let (program, id) = program(
        "function g input Real x; output Real y; algorithm y := g(x + 1) + 1; end g;
        function f input Real x; output Real y; algorithm y := if x > 0 then g(x) else x; end f;",
        "f(time)",
    );
    let mut procedures = Procedures::new(Arc::new(program.clone()));
    assert!(procedures.call(id, &[-1.0], &mut Vec::new()).is_ok());
    assert!(procedures.call(id, &[1.0], &mut Vec::new()).is_err());
}

#[test]
fn endless_loops_end() {
    let (program, id) = program(
        "function f input Real x; output Real y = x; algorithm while y > 0 loop y := y + 1; end while; end f;",
        "f(time)",
    );
    let mut procedures = Procedures::new(Arc::new(program.clone()));
    assert!(procedures.call(id, &[-1.0], &mut Vec::new()).is_ok());
    assert!(procedures.call(id, &[1.0], &mut Vec::new()).is_err());
}

#[test]
fn functions_as_arguments() {
    all_agree(
        "partial function Shape input Real x; output Real y; end Shape;
        function given extends Shape; input Real factor; algorithm y := x*factor + 1; end given;
        function integral
          input Shape shape; input Real a; input Real b; input Integer n; output Real y = 0;
        algorithm
          for i in 1:n loop y := y + shape(a + (b - a)*i/n)*(b - a)/n; end for;
        end integral;
        function f
          input Shape shape; input Real a; input Real b; output Real y;
        algorithm
          y := integral(shape, a, b, 5) + integral(function given(factor = a), 0, b, 3);
        end f;",
        "f(function given(factor = time), time, 1)",
    );
}

#[test]
fn failed_assertions_and_unsupported_branches_are_trouble() {
    some_agree(
        "function text input String s; output Integer n; algorithm n := if s == \"x\" then 1 else 2; end text;
        function f
          input Real x; output Real y = x;
        algorithm
          assert(x > -8, \"too small: \" + String(x));
          if x > 9 then
            assert(false, \"too large\");
          end if;
        end f;",
        "f(time)",
    );
    let (program, id) = program(
        "function text input String s; output Integer n; algorithm n := if s == \"x\" then 1 else 2; end text;
        function f
          input Real x; output Real y = x;
        algorithm
          if x > 1 then y := text(String(x)); end if;
        end f;",
        "f(time)",
    );
    let mut procedures = Procedures::new(Arc::new(program.clone()));
    assert!(procedures.call(id, &[0.5], &mut Vec::new()).is_ok());
    assert!(procedures.call(id, &[1.5], &mut Vec::new()).is_err());
}

#[test]
fn external_functions_of_the_c_library() {
    some_agree(
        "function ln input Real u; output Real y; external \"C\" y = log(u); end ln;
        function power input Real u; input Real v; output Real y; external \"C\" y = pow(u, v); end power;
        function f input Real a; input Real b; output Real y; algorithm y := ln(a) + power(a, b)*ln(2.5); end f;",
        "f(time, 2)",
    );
}

#[test]
fn what_cannot_be_compiled_is_left_alone() {
    let (program, id) = program(
        "function f
          input Integer n; output Real y;
        protected
          Real x[n];
        algorithm
          x := fill(1.5, n);
          y := sum(x);
        end f;",
        "f(3)",
    );
    let mut procedures = Procedures::new(Arc::new(program.clone()));
    assert!(procedures.call(id, &[2.0], &mut Vec::new()).is_err());
    assert!(matches!(procedures.entries[0], Entry::Unsupported));
}
