//! Executes procedures on a stack of frames.
//!
//! In: the number of a procedure whose inputs have been written at the beginning of the stack. Out: its outputs, in the
//! same frame. Nothing is allocated once the stack is large enough.

use super::code::{At, Binary, Instruction, Op, Procedure, Unary};
use saltus_program::BinaryFn;

/// Calls inside of calls, as many as the evaluator allows.
const MOST_CALLS: usize = 200;
/// Instructions in one call, loops and calls counted with their whole length.
pub const MOST_WORK: u64 = 1_000_000_000;
/// Scalars of all frames.
const MOST_SCALARS: usize = 50_000_000;

/// The call cannot be completed here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The evaluator fails as well, and says why.
    Failure,
    /// Only the evaluator knows what comes out.
    Unclear,
}

#[derive(Default)]
pub struct Stack {
    pub scalars: Vec<f64>,
    /// Callers: procedure, position of the call, start of the frame.
    callers: Vec<(usize, usize, usize)>,
}

/// Scalars that instructions of one frame see.
struct View<'s> {
    constants: &'s [f64],
    frame: &'s mut [f64],
}

impl View<'_> {
    #[inline(always)]
    fn get(&self, at: At) -> f64 {
        let of = if at.is_constant() { self.constants } else { &*self.frame };
        of.get(at.position()).copied().unwrap_or(f64::NAN)
    }

    #[inline(always)]
    fn set(&mut self, at: At, value: f64) {
        if let Some(place) = self.frame.get_mut(at.position()) {
            *place = value;
        }
    }

    fn copy(&mut self, to: usize, from: At, moved: usize, n: usize) -> Result<(), Trouble> {
        // Far outside stays outside.
        let start = from.position().saturating_add(moved).min(usize::MAX / 2);
        let to = to.min(usize::MAX / 2);
        let (to, from_range) = (to..to + n, start..start + n);
        if from.is_constant() {
            let source = self.constants.get(from_range).ok_or(Trouble::Unclear)?;
            self.frame.get_mut(to).ok_or(Trouble::Unclear)?.copy_from_slice(source);
        } else if from_range.end <= self.frame.len() && to.end <= self.frame.len() {
            self.frame.copy_within(from_range, to.start);
        } else {
            return Err(Trouble::Unclear);
        }
        Ok(())
    }
}

impl Stack {
    /// Makes room for the frame of a procedure at the beginning.
    pub fn prepare(&mut self, procedure: &Procedure) {
        let n = procedure.frame as usize;
        if self.scalars.len() < n {
            self.scalars.resize(n, 0.0);
        }
    }

    pub fn run(&mut self, procedures: &[Procedure], constants: &[f64], first: usize) -> Result<(), Trouble> {
        self.callers.clear();
        let (mut current, mut start, mut position) = (first, 0usize, 0usize);
        let mut left = MOST_WORK;
        loop {
            let procedure = procedures.get(current).ok_or(Trouble::Unclear)?;
            let frame = self.scalars.get_mut(start..start + procedure.frame as usize).ok_or(Trouble::Unclear)?;
            let mut view = View { constants, frame };
            match execute(&procedure.code, position, &mut view, &mut left)? {
                // A call, at which to go on afterwards.
                Some(at) => {
                    let number = procedure.code.get(at).map_or(0, |i| i.n as usize);
                    let site = procedure.calls.get(number).ok_or(Trouble::Unclear)?;
                    let called =
                        procedures.get(site.procedure).filter(|p| !p.code.is_empty()).ok_or(Trouble::Unclear)?;
                    let next = start + procedure.frame as usize;
                    let end = next + called.frame as usize;
                    if self.callers.len() + 1 >= MOST_CALLS || end > MOST_SCALARS {
                        return Err(Trouble::Unclear);
                    }
                    left = left.checked_sub(called.code.len() as u64).ok_or(Trouble::Unclear)?;
                    if self.scalars.len() < end {
                        self.scalars.resize(end, 0.0);
                    }
                    let (own, other) = self.scalars.split_at_mut(next);
                    let own = own.get(start..).ok_or(Trouble::Unclear)?;
                    for t in &site.arguments {
                        let from = t.here.position()..t.here.position() + t.n as usize;
                        let of = if t.here.is_constant() { constants } else { own };
                        let to = t.there as usize..(t.there + t.n) as usize;
                        other
                            .get_mut(to)
                            .ok_or(Trouble::Unclear)?
                            .copy_from_slice(of.get(from).ok_or(Trouble::Unclear)?);
                    }
                    self.callers.push((current, at, start));
                    (current, start, position) = (site.procedure, next, 0);
                }
                None => {
                    let Some((caller, at, caller_start)) = self.callers.pop() else { return Ok(()) };
                    let procedure = procedures.get(caller).ok_or(Trouble::Unclear)?;
                    let number = procedure.code.get(at).map_or(0, |i| i.n as usize);
                    let site = procedure.calls.get(number).ok_or(Trouble::Unclear)?;
                    let (own, other) = self.scalars.split_at_mut(start);
                    let own = own.get_mut(caller_start..).ok_or(Trouble::Unclear)?;
                    for t in &site.results {
                        let to = t.here.position()..t.here.position() + t.n as usize;
                        let from = t.there as usize..(t.there + t.n) as usize;
                        own.get_mut(to)
                            .ok_or(Trouble::Unclear)?
                            .copy_from_slice(other.get(from).ok_or(Trouble::Unclear)?);
                    }
                    (current, start, position) = (caller, caller_start, at + 1);
                }
            }
        }
    }
}

/// Of an operation without result; one that may only have left the range of exact Integers is unclear.
fn trouble(is_unclear: bool) -> Trouble {
    if is_unclear { Trouble::Unclear } else { Trouble::Failure }
}

/// Executes instructions up to a call, whose position is the result, or to the end.
fn execute(code: &[Instruction], start: usize, view: &mut View, left: &mut u64) -> Result<Option<usize>, Trouble> {
    let mut position = start;
    while let Some(i) = code.get(position) {
        position += 1;
        match i.op {
            Op::Add => view.set(i.to, view.get(i.a) + view.get(i.b)),
            Op::Sub => view.set(i.to, view.get(i.a) - view.get(i.b)),
            Op::Mul => view.set(i.to, view.get(i.a) * view.get(i.b)),
            Op::Move => view.set(i.to, view.get(i.a)),
            Op::Copy => view.copy(i.to.position(), i.a, 0, i.n as usize)?,
            Op::Unary(f) => {
                let y = f.apply(view.get(i.a)).ok_or(trouble(f == Unary::Floor))?;
                view.set(i.to, y);
            }
            Op::Binary(Binary::Function(BinaryFn::Div)) => {
                let b = view.get(i.b);
                if b == 0.0 {
                    return Err(Trouble::Failure);
                }
                view.set(i.to, view.get(i.a) / b);
            }
            Op::Binary(f) => {
                let is_limit = matches!(f, Binary::AddInteger | Binary::SubInteger | Binary::MulInteger);
                let y = f.apply(view.get(i.a), view.get(i.b)).ok_or(trouble(is_limit))?;
                view.set(i.to, y);
            }
            Op::Subscript => {
                let index = view.get(i.a);
                if !(index >= 1.0 && index <= f64::from(i.n)) {
                    return Err(Trouble::Failure);
                }
                view.set(i.to, (index - 1.0) * i.b.position() as f64);
            }
            Op::Load => {
                let moved = view.get(i.b) as usize;
                view.copy(i.to.position(), i.a, moved, i.n as usize)?;
            }
            Op::Store => {
                let moved = view.get(i.b) as usize;
                view.copy(i.to.position().saturating_add(moved), i.a, 0, i.n as usize)?;
            }
            Op::Jump => position = i.n as usize,
            Op::Again => {
                let target = i.n as usize;
                *left = left.checked_sub((position - target.min(position)) as u64).ok_or(Trouble::Unclear)?;
                position = target;
            }
            Op::JumpIf => {
                if view.get(i.a) != 0.0 {
                    position = i.n as usize;
                }
            }
            Op::JumpUnless => {
                if view.get(i.a) == 0.0 {
                    position = i.n as usize;
                }
            }
            Op::Call => return Ok(Some(position - 1)),
            Op::Return => return Ok(None),
            Op::Trouble => return Err(trouble(i.n == 0)),
        }
    }
    Ok(None)
}
