//! Remembers what pure functions gave for which arguments.
//!
//! ```text
//! a := first(f(x))    b := second(f(x))       f is called once, also where the blocks belong to different sections
//! ```
//!
//! The same call comes again when a block is evaluated at the same point for another purpose (crossing functions after
//! derivatives, the discrete part after the reals of a mixed loop), and when a vector of results is stored element by
//! element. A few calls of every function are kept; a new one takes the place of another with the same hash.

use saltus_base::Index as _;
use saltus_program::{Argument, CallableId, SimProgram};

/// Calls of one function, and fewer of a function with many scalars.
const MOST_CALLS: usize = 64;
const FEW_CALLS: usize = 4;
const MANY_SCALARS: usize = 200;

pub(crate) struct Memo {
    /// By callable.
    tables: Vec<Table>,
}

struct Table {
    is_pure: bool,
    calls: Vec<Call>,
}

#[derive(Default)]
struct Call {
    is_set: bool,
    arguments: Vec<f64>,
    /// None if the call failed.
    results: Option<Vec<f64>>,
}

fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

fn hash(arguments: &[f64]) -> usize {
    let mix = |h: u64, x: &f64| (h.rotate_left(5) ^ x.to_bits()).wrapping_mul(0x517c_c1b7_2722_0a95);
    (arguments.iter().fold(0, mix) >> 32) as usize
}

impl Memo {
    pub fn new(program: &SimProgram) -> Memo {
        let is_pure = |c: &saltus_program::Callable| {
            // An external function alone is a table or elementary, and faster than remembering it.
            let procedure = program.routines.procedures.get(c.function);
            procedure.is_some_and(|p| p.is_pure() && p.external().is_none())
                && !c.arguments.iter().any(|a| a.any(|a| matches!(a, Argument::Object(_))))
        };
        let tables = program.routines.callables.values().map(|c| Table { is_pure: is_pure(c), calls: Vec::new() });
        Memo { tables: tables.collect() }
    }

    /// Appends the results of an earlier call: true if it went well, false if it failed, `None` if it is not known.
    pub fn find(&self, callable: CallableId, arguments: &[f64], results: &mut Vec<f64>) -> Option<bool> {
        let table = self.tables.get(callable.index()).filter(|t| !t.calls.is_empty())?;
        let call = table.calls.get(hash(arguments) % table.calls.len())?;
        if !call.is_set || !is_same(&call.arguments, arguments) {
            return None;
        }
        if let Some(known) = &call.results {
            results.extend_from_slice(known);
        }
        Some(call.results.is_some())
    }

    pub fn keep(&mut self, callable: CallableId, arguments: &[f64], results: Option<&[f64]>) {
        let Some(table) = self.tables.get_mut(callable.index()).filter(|t| t.is_pure) else { return };
        if table.calls.is_empty() {
            let is_large = arguments.len() + results.map_or(0, <[f64]>::len) > MANY_SCALARS;
            table.calls.resize_with(if is_large { FEW_CALLS } else { MOST_CALLS }, Call::default);
        }
        let place = hash(arguments) % table.calls.len();
        let Some(call) = table.calls.get_mut(place) else { return };
        call.is_set = true;
        call.arguments.clear();
        call.arguments.extend_from_slice(arguments);
        match (&mut call.results, results) {
            (Some(own), Some(new)) => {
                own.clear();
                own.extend_from_slice(new);
            }
            (own, new) => *own = new.map(<[f64]>::to_vec),
        }
    }
}

#[cfg(test)]
mod tests {
    use saltus_flat::{Function, Purity};
    use saltus_program::Callable;

    use super::*;
    use crate::tests::{empty_program, square_function};

    fn memo(change: impl FnOnce(&mut Function)) -> (Memo, CallableId) {
        let mut program = empty_program();
        let mut function = square_function();
        change(&mut function);
        let function = program.routines.procedures.push(std::sync::Arc::new(saltus_procedure::lower(&function)));
        let callable = program.routines.callables.push(Callable {
            function,
            arguments: vec![],
            results: vec![],
            unused: Vec::new(),
            effect: None,
            derivative: None,
        });
        (Memo::new(&program), callable)
    }

    #[test]
    fn a_call_is_found_by_its_arguments() {
        let (mut memo, f) = memo(|_| {});
        memo.keep(f, &[1.0, f64::NAN], Some(&[2.0]));
        memo.keep(f, &[3.0], None);
        let mut results = Vec::new();
        assert_eq!(memo.find(f, &[1.0, f64::NAN], &mut results), Some(true));
        assert_eq!(memo.find(f, &[3.0], &mut results), Some(false));
        assert_eq!(memo.find(f, &[0.0], &mut results), None);
        assert_eq!(results, [2.0]);
    }

    #[test]
    fn zeros_of_different_sign_are_different_arguments() {
        let (mut memo, f) = memo(|_| {});
        memo.keep(f, &[0.0], Some(&[1.0]));
        assert_eq!(memo.find(f, &[-0.0], &mut Vec::new()), None);
    }

    #[test]
    fn impure_functions_are_called_again() {
        let (mut memo, f) = memo(|f| f.purity = Purity::Impure);
        memo.keep(f, &[1.0], Some(&[2.0]));
        assert_eq!(memo.find(f, &[1.0], &mut Vec::new()), None);
    }
}
