//! A program as deterministic text: memory, then the sections, one block a line.
//!
//! ```text
//! derivatives
//!   der(h) := v
//! ```

use std::fmt::Write;

use saltus_base::Index;

use crate::{Assign, BinaryFn, Block, Code, Op, Section, SimProgram, UnaryFn, ValueId};

pub fn print(program: &SimProgram) -> String {
    let mut out = format!("program {}\nmemory\n", program.name);
    for (id, slot) in program.memory.slots.iter() {
        let name = program.memory.slots.name(id);
        let _ = writeln!(out, "  {:>4} {:?} {:?} {name} = {:?}", id.index(), slot.kind, slot.ty, slot.initial);
    }
    for (title, section) in program.sections.named() {
        print_section(&mut out, program, title, section);
    }
    for partition in &program.clocks.base_partitions {
        for activity in partition.first_activities.iter().chain(&partition.activities) {
            let text = partition.sub_clocks.get(activity.sub_clock).map_or("?", |c| &c.text);
            if let Some(section) = program.clocks.sections.get(activity.section as usize) {
                print_section(&mut out, program, &format!("clocked by {text}"), section);
            }
        }
    }
    out
}

fn print_section(out: &mut String, program: &SimProgram, title: &str, section: &Section) {
    let _ = writeln!(out, "{title}");
    for block in &section.blocks {
        match block {
            Block::Assign(assign) => print_assign(out, program, assign, "  "),
            Block::Repeat(repeat) => {
                let sizes: Vec<String> = repeat.sizes.iter().map(u32::to_string).collect();
                let _ = writeln!(out, "  for {} elements, the first of which is", sizes.join(" x "));
                print_assign(out, program, &repeat.first, "    ");
            }
            Block::Loop(l) => {
                let names: Vec<_> = l.unknowns.iter().map(|u| program.memory.slot_name(u.slot)).collect();
                let kind = if l.is_linear { "linear" } else { "nonlinear" };
                let _ = writeln!(out, "  solve {kind} for {}", names.join(", "));
                print_assign(out, program, &l.body, "    ");
                let values = value_texts(program, &l.body.code);
                for residual in &l.residuals {
                    let _ = writeln!(out, "    0 = {}", values.get(residual.0 as usize).map_or("?", String::as_str));
                }
                if let Some(discrete) = &l.discrete {
                    print_assign(out, program, discrete, "    until ");
                }
            }
        }
    }
}

fn print_assign(out: &mut String, program: &SimProgram, assign: &Assign, indent: &str) {
    let values = value_texts(program, &assign.code);
    for (value, slot) in &assign.stores {
        let text = values.get(value.0 as usize).map_or("?", String::as_str);
        let _ = writeln!(out, "{indent}{} := {text}", program.memory.slot_name(*slot));
    }
}

fn is_logical(function: BinaryFn) -> bool {
    matches!(function, BinaryFn::And | BinaryFn::Or)
}

/// Values that are used more than once would be written out each time; past this length they get a number instead.
const LONGEST_INLINE: usize = 200;

fn call_text(program: &SimProgram, code: &Code, k: u32, at: &dyn Fn(&ValueId) -> String) -> String {
    let Some(call) = code.calls.get(k as usize) else { return "?".to_owned() };
    let function =
        program.routines.callables.get(call.callable).and_then(|c| program.routines.procedures.get(c.function));
    let arguments: Vec<String> = call.arguments.iter().map(at).collect();
    format!("{}({})", function.map_or("?", |f| &f.name), arguments.join(", "))
}

/// Without brackets around all of it.
pub(crate) fn bare(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    inner.filter(|t| is_balanced(t)).unwrap_or(text)
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    })
}

pub(crate) fn value_texts(program: &SimProgram, code: &Code) -> Vec<String> {
    let mut texts: Vec<String> = Vec::with_capacity(code.ops.len());
    for (i, op) in code.ops.iter().enumerate() {
        let at = |v: &ValueId| texts.get(v.0 as usize).cloned().unwrap_or_else(|| "?".to_owned());
        let text = match op {
            Op::Const(value) => format!("{value:?}"),
            Op::Load(slot) => program.memory.slot_name(*slot).into_owned(),
            Op::Unary(f @ (UnaryFn::Negate | UnaryFn::Not), v) => format!("({}{})", f.name(), at(v)),
            Op::Unary(f, v) => format!("{}({})", f.name(), bare(&at(v))),
            Op::Binary(f, a, b) if f.name().starts_with(char::is_alphabetic) && !is_logical(*f) => {
                format!("{}({}, {})", f.name(), bare(&at(a)), bare(&at(b)))
            }
            Op::Binary(f, a, b) => format!("({} {} {})", at(a), f.name(), at(b)),
            Op::Select(c, a, b) => format!("(if {} then {} else {})", at(c), at(a), at(b)),
            Op::Call(k) => call_text(program, code, *k, &at),
            Op::Result(k, result) => format!("call{k}.{}", result + 1),
        };
        texts.push(if text.len() > LONGEST_INLINE { format!("%{i}") } else { text });
    }
    texts
}
