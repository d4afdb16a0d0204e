//! A program as deterministic text: memory, then the sections, one block a line.
//!
//! ```text
//! derivatives
//!   der(h) := v
//! ```

use std::fmt::Write;

use saltus_base::Index;

use crate::{BinaryFn, Block, Op, Section, SimProgram, UnaryFn, ValueId};

pub fn print(program: &SimProgram) -> String {
    let mut out = format!("program {}\nmemory\n", program.name);
    for (id, slot) in program.slots.iter() {
        let _ = writeln!(out, "  {:>4} {:?} {:?} {} = {:?}", id.index(), slot.kind, slot.ty, slot.name, slot.initial);
    }
    let sections = [
        ("parameters", &program.parameter_section),
        ("initial", &program.initial_section),
        ("events", &program.event_section),
        ("derivatives", &program.derivative_section),
        ("crossings", &program.crossing_section),
        ("outputs", &program.output_section),
    ];
    for (title, section) in sections {
        print_section(&mut out, program, title, section);
    }
    out
}

fn print_section(out: &mut String, program: &SimProgram, title: &str, section: &Section) {
    let _ = writeln!(out, "{title}");
    for block in &section.blocks {
        let values = value_texts(program, block);
        for (value, slot) in &block.stores {
            let text = values.get(value.0 as usize).map_or("?", String::as_str);
            let _ = writeln!(out, "  {} := {text}", program.slot_name(*slot));
        }
    }
}

/// Values that are used more than once would be written out each time; past this length they get a number instead.
const LONGEST_INLINE: usize = 200;

fn value_texts(program: &SimProgram, block: &Block) -> Vec<String> {
    let mut texts: Vec<String> = Vec::with_capacity(block.code.ops.len());
    for (i, op) in block.code.ops.iter().enumerate() {
        let at = |v: &ValueId| texts.get(v.0 as usize).map_or("?", String::as_str);
        let text = match op {
            Op::Const(value) => format!("{value:?}"),
            Op::Load(slot) => program.slot_name(*slot).to_owned(),
            Op::Unary(f @ (UnaryFn::Negate | UnaryFn::Not), v) => format!("({}{})", f.name(), at(v)),
            Op::Unary(f, v) => format!("{}({})", f.name(), at(v)),
            Op::Binary(f @ (BinaryFn::Atan2 | BinaryFn::Min | BinaryFn::Max), a, b) => {
                format!("{}({}, {})", f.name(), at(a), at(b))
            }
            Op::Binary(f, a, b) => format!("({} {} {})", at(a), f.name(), at(b)),
            Op::Select(c, a, b) => format!("(if {} then {} else {})", at(c), at(a), at(b)),
        };
        texts.push(if text.len() > LONGEST_INLINE { format!("%{i}") } else { text });
    }
    texts
}
