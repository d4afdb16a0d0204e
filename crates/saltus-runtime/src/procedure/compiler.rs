//! Which functions are compiled for which arguments, and the constants they share.
//!
//! A function is compiled anew for every combination of argument sizes, of functions given as arguments, and of constant
//! arguments that may decide sizes and branches: Integers, Booleans, enumeration values, and whole constant arrays and
//! records, which need not be copied then.

use std::collections::HashMap;

use saltus_flat::{BaseType, FunctionId};
use saltus_program::SimProgram;

use super::body::Body;
use super::code::{At, Procedure};
use super::layout::{Compiled, Layout, Operand, Place, Unsupported};

/// Specialisations of one function for constant arguments; beyond that constants are passed as any other argument.
const MOST_FOR_CONSTANTS: usize = 24;
const MOST_PROCEDURES: usize = 2_000;
/// Nested expressions, statements and functions together.
const MOST_LEVELS: u32 = 400;

/// What has been compiled so far.
#[derive(Default)]
pub struct Store {
    pub constants: Constants,
    /// Empty while being compiled and if that failed.
    pub procedures: Vec<Procedure>,
    specialised: HashMap<(FunctionId, Vec<ArgumentKey>), Specialised>,
    n_for_constants: HashMap<FunctionId, usize>,
}

/// Adds functions of a program to a store.
pub struct Compiler<'a> {
    pub layout: Layout<'a>,
    pub store: &'a mut Store,
    levels: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum ArgumentKey {
    Value { base: BaseType, dims: Vec<usize>, constant: Option<At> },
    Function(FunctionId, Vec<(u32, ArgumentKey)>),
}

enum Specialised {
    /// Its inputs and outputs are not known yet.
    Begun,
    Known(Signature),
    Failed(Unsupported),
}

/// Where a procedure expects its inputs and leaves its outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Signature {
    pub procedure: usize,
    pub inputs: Vec<Operand>,
    pub outputs: Vec<Place>,
    /// By output: the scalar that says whether it has a value, where that is not certain.
    pub flags: Vec<Option<At>>,
}

/// Scalars that never change; equal ones are kept once.
#[derive(Default)]
pub struct Constants {
    pub scalars: Vec<f64>,
    blocks: HashMap<Vec<u64>, u32>,
}

impl Constants {
    pub fn add(&mut self, scalars: &[f64]) -> At {
        let bits: Vec<u64> = scalars.iter().map(|x| x.to_bits()).collect();
        let at = *self.blocks.entry(bits).or_insert_with(|| {
            let at = self.scalars.len() as u32;
            self.scalars.extend_from_slice(scalars);
            at
        });
        At::constant(at)
    }

    pub fn get(&self, at: At) -> Option<f64> {
        if at.is_constant() { self.scalars.get(at.position()).copied() } else { None }
    }
}

impl<'a> Compiler<'a> {
    pub fn new(program: &'a SimProgram, store: &'a mut Store) -> Self {
        Compiler { layout: Layout { program }, store, levels: 0 }
    }

    /// One level of nesting more; every success needs a [`Compiler::leave`].
    pub fn enter(&mut self) -> Compiled<()> {
        if self.levels >= MOST_LEVELS {
            return Err(Unsupported("deep nesting"));
        }
        self.levels += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.levels -= 1;
    }

    /// The procedure for a function with these arguments, compiled if it is new.
    pub fn specialise(&mut self, id: FunctionId, arguments: &[Operand]) -> Compiled<Signature> {
        let keys = |keep: bool| (id, arguments.iter().map(|a| key(a, keep)).collect::<Vec<_>>());
        let mut key = keys(true);
        let n = self.store.n_for_constants.get(&id).copied().unwrap_or(0);
        if n >= MOST_FOR_CONSTANTS && !self.store.specialised.contains_key(&key) {
            key = keys(false);
        }
        match self.store.specialised.get(&key) {
            Some(Specialised::Known(signature)) => return Ok(signature.clone()),
            Some(Specialised::Failed(why)) => return Err(*why),
            Some(Specialised::Begun) => return Err(Unsupported("a recursive declaration")),
            None => {}
        }
        if self.store.procedures.len() >= MOST_PROCEDURES {
            return Err(Unsupported("too many functions"));
        }
        if key.1.iter().any(ArgumentKey::has_constant) {
            self.store.n_for_constants.insert(id, n + 1);
        }
        let number = self.store.procedures.len();
        self.store.procedures.push(Procedure::default());
        self.store.specialised.insert(key.clone(), Specialised::Begun);
        match self.compile(number, &key, arguments) {
            Ok(signature) => Ok(signature),
            Err(why) => {
                self.store.specialised.insert(key, Specialised::Failed(why));
                Err(why)
            }
        }
    }

    fn compile(
        &mut self,
        number: usize,
        key: &(FunctionId, Vec<ArgumentKey>),
        arguments: &[Operand],
    ) -> Compiled<Signature> {
        let function = self.layout.program.routines.procedures.get(key.0).ok_or(Unsupported("an unknown function"))?;
        self.enter()?;
        let result = Body::new(self, function).and_then(|mut body| {
            let inputs =
                arguments.iter().zip(&key.1).map(|(a, k)| body.adopt(a, k)).collect::<Compiled<Vec<Operand>>>()?;
            body.set_inputs(&inputs)?;
            let (outputs, flags) = (body.outputs()?, body.output_flags()?);
            let signature = Signature { procedure: number, inputs, outputs, flags };
            body.compiler.store.specialised.insert(key.clone(), Specialised::Known(signature.clone()));
            let procedure = body.finish()?;
            Ok((signature, procedure))
        });
        self.leave();
        let (signature, procedure) = result?;
        if let Some(place) = self.store.procedures.get_mut(number) {
            *place = procedure;
        }
        Ok(signature)
    }
}

/// `keep`: constants that may decide something are part of the key.
fn key(operand: &Operand, keep: bool) -> ArgumentKey {
    match operand {
        Operand::Value(place) => {
            let decides = place.base != BaseType::Real || !place.is_scalar();
            let constant = (keep && decides && place.at.is_constant()).then_some(place.at);
            ArgumentKey::Value { base: place.base, dims: place.dims.clone(), constant }
        }
        Operand::Function(id, bound) => {
            ArgumentKey::Function(*id, bound.iter().map(|(i, o)| (*i, key(o, keep))).collect())
        }
    }
}

impl ArgumentKey {
    fn has_constant(&self) -> bool {
        match self {
            ArgumentKey::Value { constant, .. } => constant.is_some(),
            ArgumentKey::Function(_, bound) => bound.iter().any(|(_, k)| k.has_constant()),
        }
    }
}

impl Body<'_, '_> {
    /// The place of an argument in the frame of the procedure; constants stay where they are.
    fn adopt(&mut self, argument: &Operand, key: &ArgumentKey) -> Compiled<Operand> {
        Ok(match (argument, key) {
            (Operand::Value(place), ArgumentKey::Value { constant: Some(_), .. }) => Operand::Value(place.clone()),
            (Operand::Value(place), _) => Operand::Value(self.storage(place.base, &place.dims)?),
            (Operand::Function(id, bound), ArgumentKey::Function(_, keys)) => {
                let bound = bound.iter().zip(keys).map(|((i, o), (_, k))| Ok((*i, self.adopt(o, k)?)));
                Operand::Function(*id, bound.collect::<Compiled<Vec<_>>>()?)
            }
            _ => return Err(Unsupported("an argument of another kind")),
        })
    }
}
