//! Decides before code is written: which operations are needed, where long code is cut, what lies where in scratch memory.
//!
//! ```text
//! scratch:  results (residuals, entries of a Jacobian) | values that cross a cut | check | arguments of a call | results of calls
//! ```
//!
//! Compile time grows faster than the length of a function, and than the number of values alive in it, so that long code
//! becomes several functions, and an ending of many results becomes functions of its own. A value that is needed behind a
//! cut is kept in scratch memory, unless it is a constant or can be loaded again.

use std::ops::Range;

use saltus_program::{Code, Op, ValueId};

pub(crate) struct Layout {
    /// By operation: does anything that counts depend on it?
    pub needed: Vec<bool>,
    pub pieces: Vec<Range<usize>>,
    /// By operation: where it is kept for later functions; empty if there is one function only.
    kept: Vec<Option<usize>>,
    /// Where the functions of an ending add up their checks.
    pub check: usize,
    /// Where the arguments of a call go.
    pub arguments: usize,
    /// Where the results of each call are.
    results: Vec<Range<usize>>,
    /// Places used.
    pub n_scratch: usize,
}

impl Layout {
    /// `None` if an operation uses one that follows it. `roots` are the values that count; the scratch memory before
    /// `first_free` is in use. The last piece uses the roots, or functions behind it if the ending is apart.
    pub fn new(code: &Code, roots: &[ValueId], first_free: usize, longest: usize, is_apart: bool) -> Option<Layout> {
        let needed = needed(code, roots)?;
        let n = code.ops.len();
        let starts = (0..n).step_by(longest.max(1));
        let mut pieces: Vec<Range<usize>> = starts.map(|start| start..start.saturating_add(longest).min(n)).collect();
        if pieces.is_empty() {
            pieces.push(0..0);
        }
        let mut layout = Layout {
            needed,
            pieces,
            kept: Vec::new(),
            check: 0,
            arguments: 0,
            results: Vec::new(),
            n_scratch: first_free,
        };
        if layout.pieces.len() > 1 || is_apart {
            layout.keep_crossing(code, roots, longest, is_apart);
        }
        if is_apart {
            layout.check = layout.n_scratch;
            layout.n_scratch += 1;
        }
        layout.place_calls(code);
        Some(layout)
    }

    /// Keeps what later functions need. Those of an ending apart store one after the other, so that a root that is the old
    /// value of a slot cannot be loaded again there.
    fn keep_crossing(&mut self, code: &Code, roots: &[ValueId], longest: usize, is_apart: bool) {
        let ending = if is_apart { self.pieces.len() } else { self.pieces.len() - 1 };
        let mut last_use: Vec<usize> = vec![0; code.ops.len()];
        for (i, _) in code.ops.iter().enumerate().filter(|(i, _)| self.needed[*i]) {
            for_operands(code, i, &mut |v| last_use[v.0 as usize] = last_use[v.0 as usize].max(i / longest));
        }
        roots.iter().for_each(|root| last_use[root.0 as usize] = ending);
        self.kept = vec![None; code.ops.len()];
        for (i, op) in code.ops.iter().enumerate() {
            let again = match op {
                Op::Const(_) | Op::Call(_) | Op::Result(..) => true,
                Op::Load(_) => last_use[i] < self.pieces.len(),
                _ => false,
            };
            if self.needed[i] && last_use[i] > i / longest && !again {
                self.kept[i] = Some(self.n_scratch);
                self.n_scratch += 1;
            }
        }
    }

    fn place_calls(&mut self, code: &Code) {
        self.arguments = self.n_scratch;
        self.n_scratch += code.calls.iter().map(|c| c.arguments.len()).max().unwrap_or(0);
        let mut n_results = vec![0; code.calls.len()];
        for op in &code.ops {
            if let Op::Result(call, result) = *op
                && let Some(n) = n_results.get_mut(call as usize)
            {
                *n = (*n).max(result as usize + 1);
            }
        }
        for n in n_results {
            self.results.push(self.n_scratch..self.n_scratch + n);
            self.n_scratch += n;
        }
    }

    /// Where a value is kept for later functions.
    pub fn kept(&self, value: usize) -> Option<usize> {
        self.kept.get(value).copied().flatten()
    }

    pub fn results(&self, call: u32) -> Range<usize> {
        self.results.get(call as usize).cloned().unwrap_or(0..0)
    }
}

/// Visits the operands of operation `i`.
pub(crate) fn for_operands(code: &Code, i: usize, visit: &mut dyn FnMut(ValueId)) {
    match code.ops.get(i) {
        Some(&Op::Unary(_, a)) => visit(a),
        Some(&Op::Binary(_, a, b)) => [a, b].into_iter().for_each(visit),
        Some(&Op::Select(c, a, b)) => [c, a, b].into_iter().for_each(visit),
        Some(&Op::Call(k)) => {
            if let Some(call) = code.calls.get(k as usize) {
                call.operands().for_each(visit);
            }
        }
        Some(Op::Const(_) | Op::Load(_) | Op::Result(..)) | None => {}
    }
}

/// By operation; `None` if an operand does not come before its operation. Calls count by themselves.
fn needed(code: &Code, roots: &[ValueId]) -> Option<Vec<bool>> {
    let n = code.ops.len();
    let mut needed: Vec<bool> = code.ops.iter().map(|op| matches!(op, Op::Call(_))).collect();
    for root in roots {
        *needed.get_mut(root.0 as usize)? = true;
    }
    let mut in_order = true;
    for i in (0..n).rev() {
        if !needed[i] {
            continue;
        }
        for_operands(code, i, &mut |v| match needed.get_mut(v.0 as usize) {
            Some(place) if (v.0 as usize) < i => *place = true,
            _ => in_order = false,
        });
    }
    in_order.then_some(needed)
}
