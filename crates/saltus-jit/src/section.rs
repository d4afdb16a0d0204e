//! Compiles the blocks of a section to units of machine code.
//!
//! In: a [`Section`]. Out: a [`NativeSection`]: consecutive `Assign` blocks merged to chunks of bounded size, small linear loops
//! among them, and units for the equations and the Jacobian of each other loop.
//!
//! A chunk is written in groups of a few stores. A group first computes all its values, then checks them, then stores: if a
//! value is not a number the chunk ends before the group, whose blocks have not stored anything. A block with calls is a
//! group of its own, so that its calls are known to have been made.
//!
//! Where many blocks do the same with other slots ([`crate::runs`]), or where the program says that the elements of arrays do, they become
//! loops ([`crate::run_loops`]) in functions of their own.

use std::ops::Range;
use std::sync::{Arc, Weak};

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Value, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module};
use saltus_base::Span;
use saltus_program::{Assign, Block, Code, Jacobian, Loop, Op, Repeat, Section, SimProgram, SlotId, SlotKind, ValueId};
use saltus_runtime::native::{CallSite, LoopUnits, NativeSection, Step, UnitId};

use crate::arithmetic::{Elementary, declare_import, signature};
use crate::layout::{Layout, for_operands};
use crate::lower::{Imports, Lowering, Storage};
use crate::machine_code::{MAKE_CALL, MachineCode, Site, Unit};
use crate::run_loops::{Nest, write_nest};
use crate::runs::{Item, Run, Stretch};
use crate::small_loops::{self, SmallLayout};
use crate::{JitError, JitOptions};

/// Bytes that an offset in machine code may reach, in places of memory.
const MOST_PLACES: usize = i32::MAX as usize / 8;

pub(crate) struct SectionCompiler<'p> {
    program: &'p SimProgram,
    options: JitOptions,
    module: JITModule,
    imports: Imports,
    context: Context,
    storage: Storage,
    functions: Vec<FuncId>,
    units: Vec<Unit>,
    sites: Vec<Site>,
    /// Once nobody holds it, the code is not wanted any more.
    wanted: Option<Weak<()>>,
}

/// What is done with the values of code.
enum Ending<'c> {
    /// Number of the block.
    Assign(usize, &'c Assign),
    Body(&'c Loop),
    Jacobian(&'c Jacobian),
}

impl Ending<'_> {
    fn n_results(&self) -> usize {
        match self {
            Ending::Assign(..) => 0,
            Ending::Body(l) => l.residuals.len(),
            Ending::Jacobian(jacobian) => jacobian.entries.len(),
        }
    }

    fn is_of_a_loop(&self) -> bool {
        matches!(self, Ending::Body(_) | Ending::Jacobian(_))
    }

    fn roots(&self) -> Vec<ValueId> {
        self.outlets().iter().map(Outlet::value).collect()
    }

    fn outlets(&self) -> Vec<Outlet> {
        let store = |&(value, slot): &(ValueId, SlotId)| Outlet::Slot(value, slot);
        match self {
            Ending::Assign(_, assign) => assign.stores.iter().map(store).collect(),
            Ending::Body(l) => {
                let residuals = l.residuals.iter().enumerate().map(|(i, &r)| Outlet::Residual(r, i));
                residuals.chain(l.body.stores.iter().map(store)).collect()
            }
            Ending::Jacobian(jacobian) => {
                jacobian.entries.iter().enumerate().map(|(i, entry)| Outlet::Entry(entry.2, i)).collect()
            }
        }
    }
}

/// A value and where it goes: to a slot, or to the results in scratch memory.
enum Outlet {
    Slot(ValueId, SlotId),
    Residual(ValueId, usize),
    /// Of a Jacobian; the solver looks at it.
    Entry(ValueId, usize),
}

impl Outlet {
    fn value(&self) -> ValueId {
        match *self {
            Outlet::Slot(value, _) | Outlet::Residual(value, _) | Outlet::Entry(value, _) => value,
        }
    }
}

/// A block that can be part of a chunk.
enum Part<'s> {
    Assign(&'s Assign),
    Loop(&'s Loop, &'s Jacobian),
}

enum PartLayout {
    Assign(Layout),
    Loop(SmallLayout),
}

impl<'s> Part<'s> {
    fn of(block: &'s Block) -> Option<Self> {
        match block {
            Block::Assign(assign) => Some(Part::Assign(assign)),
            Block::Loop(l) => small_loops::is_small(l).map(|jacobian| Part::Loop(l, jacobian)),
            Block::Repeat(_) => None,
        }
    }

    fn n_operations(&self) -> usize {
        match self {
            Part::Assign(assign) => assign.code.ops.len(),
            Part::Loop(l, _) => small_loops::n_operations(l),
        }
    }

    fn layout(&self) -> Result<PartLayout, JitError> {
        Ok(match self {
            Part::Assign(assign) => {
                PartLayout::Assign(layout(&assign.code, &Ending::Assign(0, assign).roots(), 0, usize::MAX, false)?)
            }
            Part::Loop(l, jacobian) => PartLayout::Loop(SmallLayout {
                body: layout(&l.body.code, &Ending::Body(l).roots(), 0, usize::MAX, false)?,
                jacobian: layout(&jacobian.code, &Ending::Jacobian(jacobian).roots(), 0, usize::MAX, false)?,
            }),
        })
    }
}

impl PartLayout {
    fn n_scratch(&self) -> usize {
        match self {
            PartLayout::Assign(layout) => layout.n_scratch,
            PartLayout::Loop(layout) => layout.body.n_scratch.max(layout.jacobian.n_scratch),
        }
    }
}

/// Compiles a section, of which the stretches with runs have been found. Ends early once nobody holds `wanted`, if there is one.
pub(crate) fn compile(
    program: &SimProgram,
    section: &Section,
    stretches: Vec<Stretch>,
    isa: &OwnedTargetIsa,
    options: JitOptions,
    wanted: Option<Weak<()>>,
) -> Result<NativeSection, JitError> {
    if program.memory.slots.len() >= MOST_PLACES {
        return Err(JitError::TooLarge);
    }
    let mut compiler = SectionCompiler { wanted, ..SectionCompiler::new(program, isa, options)? };
    let steps = compiler.section(section, stretches)?;
    Ok(NativeSection { code: Arc::new(compiler.finish()?), steps })
}

impl<'p> SectionCompiler<'p> {
    fn new(program: &'p SimProgram, isa: &OwnedTargetIsa, options: JitOptions) -> Result<Self, JitError> {
        let mut builder = JITBuilder::with_isa(isa.clone(), cranelift_module::default_libcall_names());
        Elementary::add_symbols(&mut builder);
        builder.symbol(MAKE_CALL, MachineCode::make_call_address());
        let mut module = JITModule::new(builder);
        let imports = declare_imports(&mut module)?;
        Ok(SectionCompiler {
            program,
            options,
            context: module.make_context(),
            module,
            imports,
            storage: Storage::new(program.memory.slots.len()),
            functions: Vec::new(),
            units: Vec::new(),
            sites: Vec::new(),
            wanted: None,
        })
    }

    fn finish(mut self) -> Result<MachineCode, JitError> {
        self.module.finalize_definitions().map_err(JitError::from_module)?;
        Ok(MachineCode::new(self.module, &self.functions, self.units, self.sites, self.program.memory.slots.len()))
    }

    fn section(&mut self, section: &Section, stretches: Vec<Stretch>) -> Result<Vec<Step>, JitError> {
        let mut steps = Vec::new();
        let mut end = 0;
        for stretch in stretches {
            let Stretch { blocks, items } = stretch;
            self.blocks(section, end..blocks.start, &mut steps)?;
            end = blocks.end;
            let unit = self.stretch(section, blocks.start, &items)?;
            steps.push(Step::Chunk { unit, blocks, n_loops: 0 });
        }
        self.blocks(section, end..section.blocks.len(), &mut steps)?;
        Ok(steps)
    }

    /// Blocks in the order in which they are.
    fn blocks(&mut self, section: &Section, range: Range<usize>, steps: &mut Vec<Step>) -> Result<(), JitError> {
        let mut chunk: Vec<(usize, Part)> = Vec::new();
        let mut n_ops = 0;
        for (number, block) in range.clone().zip(&section.blocks[range]) {
            let part = Part::of(block);
            let size = part.as_ref().map_or(usize::MAX, Part::n_operations);
            if n_ops > 0 && size.saturating_add(n_ops) > self.options.chunk_operations {
                self.end_chunk(&mut chunk, steps)?;
                n_ops = 0;
            }
            match (part, block) {
                (Some(part), _) => {
                    chunk.push((number, part));
                    n_ops += size.max(1);
                }
                (None, Block::Loop(l)) => {
                    let units = LoopUnits {
                        body: Some(self.whole(&l.body.code, l.body.span, Ending::Body(l))?),
                        jacobian: l
                            .jacobian
                            .as_ref()
                            .map(|j| self.whole(&j.code, l.body.span, Ending::Jacobian(j)))
                            .transpose()?,
                    };
                    steps.push(Step::Loop { block: number, units });
                }
                (None, Block::Repeat(repeat)) => steps.push(self.repeat(number, repeat)?),
                (None, Block::Assign(_)) => {}
            }
        }
        self.end_chunk(&mut chunk, steps)
    }

    /// Functions for blocks and runs of blocks; what goes wrong makes all of the stretch be interpreted.
    fn stretch(&mut self, section: &Section, first: usize, items: &[Item]) -> Result<UnitId, JitError> {
        let mut parts = Vec::with_capacity(items.len());
        for item in items {
            let (Item::Block(number) | Item::Run(Run { first: number, .. })) = item;
            if let Some(Block::Assign(assign)) = section.blocks.get(*number) {
                let layout = layout(&assign.code, &Ending::Assign(0, assign).roots(), 0, usize::MAX, false)?;
                parts.push((item, assign, layout));
            }
        }
        let (program, options) = (self.program, self.options);
        let mut n_functions = 0;
        let mut rest = &parts[..];
        while !rest.is_empty() {
            let mut n_ops = 0;
            let fits = |(_, assign, _): &&(&Item, &Assign, Layout)| {
                n_ops += assign.code.ops.len();
                n_ops <= options.chunk_operations
            };
            let (now, later) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            rest = later;
            n_functions += 1;
            self.function(|lowering| {
                for (item, assign, layout) in now {
                    if lowering.n_pending() + assign.stores.len() > options.group_stores || matches!(item, Item::Run(_))
                    {
                        end_group(lowering, program, &[], first);
                    }
                    match item {
                        Item::Block(_) => drop(write_assign(lowering, assign, layout, 0)),
                        Item::Run(run) => {
                            let must_be_finite = |store: usize| must_be_finite(program, assign.stores[store].1);
                            let checks = write_nest(lowering, assign, layout, &run.into(), &must_be_finite);
                            lowering.exit_if(checks, &[], first as i64 + 1);
                        }
                    }
                }
                end_group(lowering, program, &[], first);
            })?;
        }
        Ok(self.unit(n_functions, 0))
    }

    /// The same code for all elements, as a function of its own; what goes wrong makes all of them be interpreted.
    fn repeat(&mut self, number: usize, repeat: &Repeat) -> Result<Step, JitError> {
        let Some(nest) = Nest::of(repeat, self.program.memory.slots.len()) else {
            return Ok(Step::Interpreted { block: number });
        };
        let program = self.program;
        let assign = &repeat.first;
        let layout = layout(&assign.code, &Ending::Assign(0, assign).roots(), 0, usize::MAX, false)?;
        let must_be_finite = |store: usize| {
            let place = assign.stores.get(store).zip(repeat.strides.get(repeat.n_loads() + store));
            place.is_some_and(|(&(_, slot), strides)| {
                repeat.touched(slot, strides).any(|slot| must_be_finite(program, slot))
            })
        };
        self.function(|lowering| {
            let checks = write_nest(lowering, assign, &layout, &nest, &must_be_finite);
            lowering.exit_if(checks, &[], number as i64 + 1);
        })?;
        let unit = self.unit(1, layout.n_scratch);
        Ok(Step::Chunk { unit, blocks: number..number + 1, n_loops: 0 })
    }

    fn end_chunk(&mut self, chunk: &mut Vec<(usize, Part)>, steps: &mut Vec<Step>) -> Result<(), JitError> {
        let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { return Ok(()) };
        let blocks = first.0..last.0 + 1;
        let unit = match chunk[..] {
            [(number, Part::Assign(assign))] => {
                self.whole(&assign.code, assign.span, Ending::Assign(number, assign))?
            }
            _ => self.chunk(chunk)?,
        };
        let n_loops = chunk.iter().filter(|(_, part)| matches!(part, Part::Loop(..))).count();
        steps.push(Step::Chunk { unit, blocks, n_loops });
        chunk.clear();
        Ok(())
    }

    /// A function of several blocks.
    fn chunk(&mut self, parts: &[(usize, Part)]) -> Result<UnitId, JitError> {
        let mut n_scratch = 0;
        let mut layouts = Vec::with_capacity(parts.len());
        let first_site = self.sites.len();
        for (_, part) in parts {
            let layout = part.layout()?;
            n_scratch = n_scratch.max(layout.n_scratch());
            if let (Part::Assign(assign), PartLayout::Assign(layout)) = (part, &layout) {
                self.sites.extend(sites(&assign.code, assign.span, layout));
            }
            layouts.push(layout);
        }
        let program = self.program;
        let options = self.options;
        self.function(|lowering| {
            let mut group = 0;
            let mut site = first_site;
            for ((number, part), layout) in parts.iter().zip(&layouts) {
                match (part, layout) {
                    (Part::Assign(assign), PartLayout::Assign(layout)) => {
                        let has_calls = !assign.code.calls.is_empty();
                        if has_calls || lowering.n_pending() + assign.stores.len() > options.group_stores {
                            end_group(lowering, program, &[], group);
                        }
                        if lowering.n_pending() == 0 {
                            group = *number;
                        }
                        let made = write_assign(lowering, assign, layout, site);
                        site += assign.code.calls.len();
                        if has_calls {
                            end_group(lowering, program, &made, group);
                        }
                    }
                    (Part::Loop(l, jacobian), PartLayout::Loop(layout)) => {
                        end_group(lowering, program, &[], group);
                        small_loops::write_loop(lowering, l, jacobian, layout, *number);
                    }
                    _ => {}
                }
            }
            end_group(lowering, program, &[], group);
        })?;
        Ok(self.unit(1, n_scratch))
    }

    /// Code on its own, as one function or several.
    fn whole(&mut self, code: &Code, span: Span, ending: Ending) -> Result<UnitId, JitError> {
        let roots = ending.roots();
        let is_apart = ending.is_of_a_loop() && roots.len() > self.options.ending_values;
        let layout = layout(code, &roots, ending.n_results(), self.options.piece_operations, is_apart)?;
        let site = self.sites.len();
        self.sites.extend(sites(code, span, &layout));
        let program = self.program;
        let n_pieces = layout.pieces.len();
        for piece in 0..n_pieces {
            let is_last = piece + 1 == n_pieces && !is_apart;
            self.function(|lowering| {
                lowering.begin_code(code.ops.len());
                let mut made = Vec::new();
                write(lowering, code, &layout, piece, site, &mut made);
                if is_last {
                    if n_pieces > 1 && !code.calls.is_empty() {
                        made = vec![lowering.no_call_failed()];
                    }
                    roots.iter().for_each(|&root| bring(lowering, code, &layout, root));
                    end_whole(lowering, program, &ending, &made);
                }
            })?;
        }
        let n_endings = if is_apart { self.ending_apart(code, &layout, &ending)? } else { 0 };
        Ok(self.unit(n_pieces + n_endings, layout.n_scratch))
    }

    /// Functions that write the results of a loop, a few values each; their number. All of them run, so that everything is
    /// stored, and the last one tells whether a value is not a number.
    fn ending_apart(&mut self, code: &Code, layout: &Layout, ending: &Ending) -> Result<usize, JitError> {
        let outlets = ending.outlets();
        let parts = outlets.chunks(self.options.ending_values.max(1));
        let n_parts = parts.len();
        for (part, outlets) in parts.enumerate() {
            self.function(|lowering| {
                lowering.begin_code(code.ops.len());
                outlets.iter().for_each(|outlet| bring(lowering, code, layout, outlet.value()));
                let checks = write_outlets(lowering, outlets);
                if matches!(ending, Ending::Body(_)) {
                    let sum = lowering.add_checks(checks, layout.check, part == 0);
                    if part + 1 == n_parts {
                        lowering.exit_if(vec![sum], &[], 1);
                    }
                }
            })?;
        }
        Ok(n_parts)
    }

    fn unit(&mut self, n_functions: usize, n_scratch: usize) -> UnitId {
        let end = self.functions.len();
        self.units.push(Unit { functions: end - n_functions..end, n_scratch });
        UnitId(self.units.len() as u32 - 1)
    }

    fn function(&mut self, write: impl FnOnce(&mut Lowering)) -> Result<(), JitError> {
        if self.wanted.as_ref().is_some_and(|wanted| wanted.strong_count() == 0) {
            return Err(JitError::NotWanted);
        }
        let mut lowering = Lowering::new(&mut self.context.func, &mut self.storage, &mut self.module, &self.imports);
        write(&mut lowering);
        lowering.finish();
        let signature = signature(self.module.isa().default_call_conv());
        let id = self.module.declare_anonymous_function(&signature).map_err(JitError::from_module)?;
        self.module.define_function(id, &mut self.context).map_err(JitError::from_module)?;
        self.module.clear_context(&mut self.context);
        self.functions.push(id);
        Ok(())
    }
}

fn declare_imports(module: &mut JITModule) -> Result<Imports, JitError> {
    // Context, site, whether its conditions hold.
    let parameters = [types::I64, types::I32, types::I32].map(AbiParam::new).to_vec();
    let make_call = declare_import(module, MAKE_CALL, parameters, types::I32)?;
    Ok(Imports { elementary: Elementary::declare(module)?, make_call })
}

fn layout(
    code: &Code,
    roots: &[ValueId],
    first_free: usize,
    longest: usize,
    is_apart: bool,
) -> Result<Layout, JitError> {
    let layout = Layout::new(code, roots, first_free, longest, is_apart).ok_or(JitError::NotInOrder)?;
    if layout.n_scratch >= MOST_PLACES { Err(JitError::TooLarge) } else { Ok(layout) }
}

fn sites(code: &Code, span: Span, layout: &Layout) -> Vec<Site> {
    let site = |(k, call): (usize, &saltus_program::Call)| Site {
        call: CallSite { callable: call.callable, number: k as u32, n_calls: code.calls.len(), span },
        arguments: layout.arguments..layout.arguments + call.arguments.len(),
        results: layout.results(k as u32),
    };
    code.calls.iter().enumerate().map(site).collect()
}

/// Writes a block, its stores pending; a value for each call, as [`write`].
fn write_assign(lowering: &mut Lowering, assign: &Assign, layout: &Layout, first_site: usize) -> Vec<Value> {
    let mut made = Vec::new();
    lowering.begin_code(assign.code.ops.len());
    write(lowering, &assign.code, layout, 0, first_site, &mut made);
    for &(id, slot) in &assign.stores {
        lowering.store(id, slot);
    }
    made
}

/// Writes a piece of code; `made` gets a value for each call, which is 0 if it failed.
pub(crate) fn write(
    lowering: &mut Lowering,
    code: &Code,
    layout: &Layout,
    piece: usize,
    first_site: usize,
    made: &mut Vec<Value>,
) {
    let Some(range) = layout.pieces.get(piece).cloned() else { return };
    let is_cut = layout.pieces.len() > 1;
    for i in range.filter(|&i| layout.needed[i]) {
        if is_cut {
            for_operands(code, i, &mut |v| bring(lowering, code, layout, v));
        }
        match code.ops[i] {
            Op::Call(k) => {
                if let Some(call) = code.calls.get(k as usize) {
                    made.push(lowering.call(first_site as u32 + k, call, layout.arguments));
                }
                lowering.op(i, Op::Const(0.0));
            }
            op => define(lowering, layout, i, op),
        }
        if let Some(place) = layout.kept(i) {
            lowering.write_scratch(place, ValueId(i as u32));
        }
    }
}

fn define(lowering: &mut Lowering, layout: &Layout, i: usize, op: Op) {
    match op {
        Op::Result(k, result) => lowering.read_scratch(i, layout.results(k).start + result as usize),
        op => lowering.op(i, op),
    }
}

/// Makes a value of an earlier piece known in this one.
fn bring(lowering: &mut Lowering, code: &Code, layout: &Layout, id: ValueId) {
    let i = id.0 as usize;
    if lowering.is_known(id) {
        return;
    }
    match layout.kept(i) {
        Some(place) => lowering.read_scratch(i, place),
        None => {
            if let Some(&op) = code.ops.get(i) {
                define(lowering, layout, i, op);
            }
        }
    }
}

fn must_be_finite(program: &SimProgram, slot: SlotId) -> bool {
    program.memory.slots.get(slot).is_some_and(|s| s.kind == SlotKind::Derivative)
}

/// Checks what the group has computed and stores it; the chunk ends before block `first` if something is wrong.
fn end_group(lowering: &mut Lowering, program: &SimProgram, made: &[Value], first: usize) {
    let check = lowering.pending_check(&|slot| must_be_finite(program, slot));
    lowering.exit_if(check.into_iter().collect(), made, first as i64 + 1);
    lowering.flush();
}

fn end_whole(lowering: &mut Lowering, program: &SimProgram, ending: &Ending, made: &[Value]) {
    match ending {
        Ending::Assign(number, assign) => {
            for &(id, slot) in &assign.stores {
                lowering.store(id, slot);
            }
            end_group(lowering, program, made, *number);
        }
        Ending::Body(_) | Ending::Jacobian(_) => {
            let checks = write_outlets(lowering, &ending.outlets());
            lowering.exit_if(checks, &[], 1);
        }
    }
}

/// Writes results of a loop and stores its values; the sum of what it returns is NaN if a residual is not finite or a stored value
/// is not a number.
fn write_outlets(lowering: &mut Lowering, outlets: &[Outlet]) -> Vec<Value> {
    let mut checks = Vec::new();
    for outlet in outlets {
        match *outlet {
            Outlet::Slot(value, slot) => lowering.store(value, slot),
            Outlet::Entry(value, position) => lowering.write_scratch(position, value),
            Outlet::Residual(value, position) => {
                lowering.write_scratch(position, value);
                checks.push(lowering.finite_check(value));
            }
        }
    }
    checks.extend(lowering.pending_check(&|_| false));
    lowering.flush();
    checks
}
