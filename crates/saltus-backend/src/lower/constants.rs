//! What is known at compile time: constants, structural parameters, calls with constant arguments.
//!
//! In: variables and values. Out: their constant values, as far as they have some. `parameter Integer n = size(a, 1)` that
//! was used for an array size has the value it was used with; ordinary parameters stay in memory, so that changing one
//! does not recompile, except where a String or a `fixed` attribute depends on it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::{FileId, Span};
use saltus_eval::{Environment, EvalError, Evaluator, FunctionValue as EvalFunction, Items, Limits, Value as Known};
use saltus_flat::{
    BaseType, EnumId, EnumType, Expr, ExprKind, FlatModel, Function, FunctionId, RecordId, RecordType, VarId,
    Variability, Variable,
};
use saltus_procedure::Procedure;
use saltus_program::{CallableId, SlotId, SlotKind};

use super::function_assertions::{FunctionAssertion, Times};
use super::functions::known_dims;
use super::statements::State;
use super::value::{FunctionValue, Value};
use super::{Lowered, Lowering};
use crate::dag::NodeId;

/// Tables that lowering keeps so that nothing is done twice.
#[derive(Default)]
pub struct Memo {
    /// Values of variables as loads of their slots.
    pub loaded: HashMap<VarId, Value>,
    /// Values of variables as constants: structural ones, and with all parameters as constants.
    constants: [HashMap<VarId, Constant>; 2],
    /// Results of calls, by function and arguments.
    pub calls: HashMap<Vec<u64>, Rc<Vec<Value>>>,
    /// What executed calls assert, by the same keys.
    pub call_assertions: HashMap<Vec<u64>, Rc<Vec<FunctionAssertion>>>,
    /// Assertions of functions that are assertions of the model already.
    pub asserted: HashSet<(FileId, u32, NodeId, Times)>,
    /// Calls that could not be executed, by function and shapes.
    pub not_executed: HashSet<Vec<u64>>,
    pub callables: HashMap<String, CallableId>,
    /// Number of nodes at which the execution of a function ends.
    pub node_limit: Option<usize>,
    /// Nodes of abandoned executions.
    pub n_wasted: usize,
    /// Parameters that have decided between calls: changing one needs recompilation.
    pub structural: BTreeSet<SlotId>,
    /// Variable and position of each slot.
    owners: HashMap<SlotId, (VarId, usize)>,
    /// Functions that have been evaluated, lowered.
    pub procedures: HashMap<FunctionId, Arc<Procedure>>,
    /// Texts with holes, behind the functions of the model, and their numbers by what they say.
    pub texts: Vec<Arc<Procedure>>,
    pub text_ids: HashMap<String, FunctionId>,
    /// By function: is it treated as impure? Empty until asked for.
    pub impure: Vec<bool>,
    pub n_effects: u32,
    pub n_templates: u32,
}

#[derive(Clone)]
enum Constant {
    /// Being found; a cycle has no value.
    Pending,
    Found(Option<Value>),
}

/// A bound on the work for one call at compile time; what takes longer is left to the simulation.
const LIMITS: Limits = Limits { steps: 2_000_000, depth: 100, elements: 200_000 };

impl<'a> Lowering<'a, '_> {
    /// The constant value of a variable, if it counts as constant here.
    pub fn constant_variable(&mut self, id: VarId) -> Option<Value> {
        let variable = self.model.variables.get(id)?;
        let is_parameter = variable.variability == Variability::Parameter;
        let is_text = variable.ty.base == BaseType::String;
        let counts = variable.variability == Variability::Constant
            || is_parameter && (variable.is_structural || self.folds_parameters || is_text);
        if !counts || matches!(variable.ty.base, BaseType::ExternalObject(_)) {
            return None;
        }
        let table = usize::from(self.folds_parameters || is_text);
        if let Some(constant) = self.system.memo.constants[table].get(&id) {
            return match constant {
                Constant::Found(value) => value.clone(),
                Constant::Pending => None,
            };
        }
        self.system.memo.constants[table].insert(id, Constant::Pending);
        let before = std::mem::replace(&mut self.folds_parameters, table == 1);
        let value = self.declared_constant(id);
        self.folds_parameters = before;
        self.system.memo.constants[table].insert(id, Constant::Found(value.clone()));
        value
    }

    fn declared_constant(&mut self, id: VarId) -> Option<Value> {
        let model = self.model;
        let variable = model.variables.get(id)?;
        let dims = known_dims(&variable.ty)?;
        let value = match variable.binding.as_ref() {
            Some(binding) => self.outside(|l| l.value(binding)).ok()?,
            None => {
                // Without a value the start value counts, unless the initial system finds it.
                let is_free = match variable.attributes.fixed.as_ref() {
                    Some(fixed) => self.outside(|l| l.scalars(fixed)).ok()?.iter().any(|&f| self.system.dag.is_zero(f)),
                    None => false,
                };
                if is_free {
                    return None;
                }
                let start = variable.attributes.start.as_ref()?;
                self.outside(|l| l.value(start)).ok()?
            }
        };
        let value = match value.dims().is_empty() && !dims.is_empty() {
            true => self.repeat(&value, dims, variable.span).ok()?,
            false => value,
        };
        self.is_known(&value).then_some(value)
    }

    /// The program is made for the values of the parameters in `e`, and of those that their values are computed from.
    pub fn mark_structural(&mut self, e: &'a Expr) {
        let model = self.model;
        let mut open = vec![e];
        let mut seen = BTreeSet::new();
        while let Some(e) = open.pop() {
            let mut found = Vec::new();
            e.walk(&mut |part| {
                if let ExprKind::Var(id) = part.kind {
                    found.push(id);
                }
            });
            for id in found.into_iter().filter(|&id| seen.insert(id)) {
                let Some(variable) = model.variables.get(id) else { continue };
                if variable.variability == Variability::Parameter {
                    self.system.memo.structural.extend(&self.system.elements[id]);
                    open.extend(&variable.binding);
                }
            }
        }
    }

    /// Outside the algorithm or function that is being executed, without events.
    fn outside<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let no = self.system.dag.boolean(false);
        let state = std::mem::replace(&mut self.state, State::new(self.model.iterators.len(), no));
        let function = self.function.take();
        let result = self.acting_always(|l| l.literally(act));
        self.function = function;
        self.state = state;
        result
    }

    /// What parameters decide between values one of which is computed by a call at run time: such a call may be costly, and
    /// may have no derivative where the other value has one. So between values of different sizes, of which there is no
    /// choice at run time. The parameters become structural by this.
    pub fn decision(&mut self, condition: NodeId, a: &Value, b: &Value) -> Option<bool> {
        let is_wanted = || self.has_calls(a) || self.has_calls(b) || self.settles && !a.has_shape_of(b);
        if self.system.dag.value(condition).is_some() || !is_wanted() {
            return None;
        }
        self.value_by_parameters(condition).map(|decided| decided != 0.0)
    }

    /// The value of what depends on parameters alone; they become structural by this.
    pub fn value_by_parameters(&mut self, node: NodeId) -> Option<f64> {
        let slots = self.system.dag.loads(&[node]);
        if slots.is_empty() || slots.iter().any(|&s| self.system.slots[s].kind != SlotKind::Parameter) {
            return None;
        }
        let mut values = HashMap::new();
        for &slot in &slots {
            values.insert(slot, self.parameter_value(slot)?);
        }
        let value = self.system.dag.substitute(node, &|slot| values.get(&slot).copied());
        let value = self.system.dag.value(value)?;
        self.system.memo.structural.extend(slots);
        Some(value)
    }

    fn has_calls(&self, value: &Value) -> bool {
        let mut calls = Vec::new();
        self.system.dag.calls_of(&value.scalars(), &mut calls);
        !calls.is_empty()
    }

    /// The value that a parameter has before the simulation, if it is known.
    pub fn parameter_value(&mut self, slot: SlotId) -> Option<NodeId> {
        if self.system.memo.owners.is_empty() {
            let elements = self.system.elements.iter();
            let owners = elements.flat_map(|(id, slots)| slots.iter().enumerate().map(move |(i, &s)| (s, (id, i))));
            self.system.memo.owners = owners.collect();
        }
        let &(id, position) = self.system.memo.owners.get(&slot)?;
        let value = self.folding(|l| l.constant_variable(id))?;
        value.scalars().get(position).copied()
    }

    /// Are all numbers constant and all Strings known?
    pub fn is_known(&self, value: &Value) -> bool {
        match value {
            Value::Number(node) => self.system.dag.value(*node).is_some(),
            Value::Numbers(a) => a.items.iter().all(|&n| self.system.dag.value(n).is_some()),
            Value::Text(text) => text.is_some(),
            Value::Record(fields) => fields.iter().all(|f| self.is_known(f)),
            Value::Others(a) => a.items.iter().all(|v| self.is_known(v)),
            Value::Function(f) => f.bound.iter().all(|(_, v)| self.is_known(v)),
            Value::Object(_) | Value::Template(_) => false,
        }
    }

    /// The results of a call whose arguments are all constant; `None` if it cannot be evaluated now.
    pub fn evaluated_call(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: &[Value],
        span: Span,
    ) -> Option<Vec<Value>> {
        if !arguments.iter().all(|a| self.is_known(a)) {
            return None;
        }
        let results_object = |&o: &saltus_flat::LocalId| {
            function.locals.get(o).is_some_and(|l| matches!(l.ty.base, BaseType::ExternalObject(_)))
        };
        if function.outputs.iter().any(results_object) {
            return None;
        }
        let mut known = Vec::with_capacity(arguments.len());
        for (argument, &input) in arguments.iter().zip(&function.inputs) {
            known.push(self.known(argument, function.locals.get(input)?.ty.base)?);
        }
        let procedures = std::mem::take(&mut self.system.memo.procedures);
        let mut surroundings = Surroundings { model: self.model, procedures };
        let mut evaluator = Evaluator::new(&mut surroundings, LIMITS);
        let used = self.used;
        let results = evaluator.call_for(id, known, &|k| used.contains(k), span);
        // What prints is called when it shall print.
        let is_silent = evaluator.messages().is_empty();
        let sizes = evaluator.take_warnings().into_iter().filter(saltus_eval::is_array_warning);
        sizes.for_each(|warning| self.tell(warning));
        self.system.memo.procedures = surroundings.procedures;
        results.ok().filter(|_| is_silent)?.iter().map(|v| self.recognised(v)).collect()
    }

    /// The value of an expression whose parts are literals.
    pub fn evaluated(&mut self, e: &Expr) -> Option<Value> {
        let procedures = std::mem::take(&mut self.system.memo.procedures);
        let mut surroundings = Surroundings { model: self.model, procedures };
        let value = Evaluator::new(&mut surroundings, LIMITS).evaluate(e);
        self.system.memo.procedures = surroundings.procedures;
        self.recognised(&value.ok()?)
    }

    fn known(&self, value: &Value, base: BaseType) -> Option<Known> {
        match value {
            Value::Number(node) => known_number(self.system.dag.value(*node)?, base),
            Value::Numbers(a) => {
                let mut items = Items::with_capacity(base, a.items.len());
                for &node in &a.items {
                    if !items.push(known_number(self.system.dag.value(node)?, base)?) {
                        return None;
                    }
                }
                Known::from_parts(a.dims.clone(), items)
            }
            Value::Text(text) => Some(Known::String(text.clone()?)),
            Value::Record(fields) => {
                let BaseType::Record(id) = base else { return None };
                let record = self.model.records.get(id)?;
                let fields: Option<Vec<Known>> =
                    fields.iter().zip(&record.fields).map(|(v, f)| self.known(v, f.ty.base)).collect();
                Some(Known::record(id, fields?))
            }
            Value::Others(a) => {
                let mut items = Items::with_capacity(base, a.items.len());
                for value in &a.items {
                    if !items.push(self.known(value, base)?) {
                        return None;
                    }
                }
                Known::from_parts(a.dims.clone(), items)
            }
            Value::Function(f) => self.known_function(f),
            Value::Object(_) | Value::Template(_) => None,
        }
    }

    fn known_function(&self, f: &FunctionValue) -> Option<Known> {
        let function = self.model.functions.get(f.function)?;
        let mut bound = Vec::new();
        for (position, value) in &f.bound {
            let input = *function.inputs.get(*position as usize)?;
            bound.push((*position, self.known(value, function.locals.get(input)?.ty.base)?));
        }
        Some(Known::Function(EvalFunction { function: f.function, bound: Arc::new(bound) }))
    }

    fn recognised(&mut self, value: &Known) -> Option<Value> {
        Some(match value {
            Known::Real(x) => self.number(*x),
            Known::Integer(i) => self.number(*i as f64),
            Known::Boolean(b) => Value::Number(self.system.dag.boolean(*b)),
            Known::Enum(_, ordinal) => self.number(f64::from(*ordinal)),
            Known::String(text) => Value::Text(Some(text.clone())),
            Known::Array(a) => {
                let mut items = Vec::with_capacity(a.len());
                for i in 0..a.len() {
                    items.push(self.recognised(&a.get(i)?)?);
                }
                Value::assemble(a.dims().to_vec(), items)?
            }
            Known::Record(_, fields) => {
                let fields: Option<Vec<Value>> = fields.iter().map(|f| self.recognised(f)).collect();
                Value::record(fields?)
            }
            Known::Function(_) | Known::Object(_) => return None,
        })
    }

    /// The scalars of the value of a variable that has `n` elements; a scalar holds for all.
    pub fn bound(&mut self, variable: &Variable, e: &'a Expr, n: usize) -> Lowered<Vec<NodeId>> {
        let value = self.value(e)?;
        self.check_known_sizes(&variable.ty, &value, &variable.name, e.span)?;
        let nodes = value.scalars();
        Ok(if nodes.len() == 1 && n != 1 { vec![nodes[0]; n] } else { nodes })
    }

    /// The scalars of an attribute or value for `n` elements; a scalar holds for all.
    pub fn spread(&mut self, e: &'a Expr, n: usize) -> Lowered<Vec<NodeId>> {
        let nodes = self.scalars(e)?;
        Ok(if nodes.len() == 1 && n != 1 { vec![nodes[0]; n] } else { nodes })
    }
}

fn known_number(value: f64, base: BaseType) -> Option<Known> {
    Some(match base {
        BaseType::Real => Known::Real(value),
        BaseType::Integer => Known::Integer(value as i64),
        BaseType::Boolean => Known::Boolean(value != 0.0),
        BaseType::Enumeration(id) => Known::Enum(id, value as u32),
        _ => return None,
    })
}

/// The flat model as the evaluator sees it. There are no files here: what reads one is done by the simulation.
struct Surroundings<'a> {
    model: &'a FlatModel,
    procedures: HashMap<FunctionId, Arc<Procedure>>,
}

impl Environment for Surroundings<'_> {
    fn variable(&mut self, id: VarId, span: Span) -> Result<Known, EvalError> {
        let name = self.model.variables.get(id).map_or("?", |v| &v.name);
        Err(EvalError::not_constant(span, format!("the variable `{name}`")))
    }

    fn procedure(&mut self, id: FunctionId) -> Result<Arc<Procedure>, EvalError> {
        if let Some(procedure) = self.procedures.get(&id) {
            return Ok(procedure.clone());
        }
        let function = self.model.functions.get(id);
        let function = function.ok_or_else(|| EvalError::not_constant(Span::nowhere(), "an unknown function"))?;
        let procedure = Arc::new(saltus_procedure::lower(function));
        self.procedures.insert(id, procedure.clone());
        Ok(procedure)
    }

    fn record_type(&self, id: RecordId) -> Arc<RecordType> {
        let nothing = || RecordType { name: String::new(), fields: Vec::new() };
        Arc::new(self.model.records.get(id).cloned().unwrap_or_else(nothing))
    }

    fn enum_type(&self, id: EnumId) -> Arc<EnumType> {
        let nothing = || EnumType { name: String::new(), literals: Vec::new() };
        Arc::new(self.model.enumerations.get(id).cloned().unwrap_or_else(nothing))
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{name}` is read during the simulation"))
    }

    /// A URI stays what it is until the file is opened.
    fn resolve_uri(&mut self, uri: &str) -> Option<String> {
        Some(uri.to_owned())
    }

    fn instance_name(&self) -> String {
        self.model.name.clone()
    }
}
