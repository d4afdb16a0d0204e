//! A compiled model: owned, shared by threads, and complete without its sources.
//!
//! In: a program with what it needs of its library at run time. Out: a [`Model`] that describes its variables, says which of them
//! can be set without compiling again, makes instances, and can be written to a file and read on another machine.
//!
//! ```
//! use std::sync::{Arc, OnceLock};
//! use saltus::{Model, Session};
//! use saltus::pipeline::Options;
//! use saltus_library::MemoryFiles;
//!
//! let mut session = Session::new(Box::new(MemoryFiles::new()));
//! session.set_text("Decay.mo", "model Decay parameter Real k = 2; Real x(start = 1); equation der(x) = -k*x; end Decay;");
//! let class = session.class(None).unwrap();
//! let model: Arc<Model> = saltus::pipeline::compile(&session, class, &Options::default()).unwrap();
//! let copy = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
//! assert_eq!(copy.variable("k").unwrap().start, None);
//! assert!(copy.variable("K").is_err_and(|unknown| unknown.similar.as_deref() == Some("k")));
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use saltus_base::{SourceMap, SourceTexts, nearest};
use saltus_flat::element::n_outer_dimensions;
use saltus_flat::{BaseType, ExprKind, FlatModel};
#[cfg(feature = "jit")]
use saltus_jit::{Jit, JitOptions};
use saltus_library::{DiskFiles, FileSource, Packages};
use saltus_program::{
    Key, ModelFunctions, SimProgram, SlotId, SlotKind, SlotType, Stopwatch, Variable, Variables, files_used,
};
use saltus_results::Kept;
use saltus_runtime::Interpreter;
use saltus_sim::{Configurations, Solver};
use serde::{Deserialize, Serialize};

use crate::configurations::{Maker, Pool, Programs};
use crate::container::{self, BadFile, Content};
#[cfg(feature = "jit")]
use crate::free_cores::{FreeCores, Threads};
use crate::pipeline::Engine;
use crate::resources::Resources;
use crate::{Flattening, Permissions};

pub struct Model {
    data: Data,
    /// Where resources are read.
    files: Arc<dyn FileSource>,
    /// Position in the variables of the program, by name.
    names: OnceLock<BTreeMap<String, usize>>,
    /// Parameters that are computed from others.
    computed: OnceLock<BTreeSet<SlotId>>,
    /// Programs of other configurations, as far as they have been entered.
    programs: Programs,
    /// Where machine code is made while runs go on.
    #[cfg(feature = "jit")]
    threads: Arc<Threads>,
}

/// Memory holds Integers as floating-point numbers, which are exact below.
const LARGEST_INTEGER: f64 = (1_u64 << 53) as f64;

/// What is written.
#[derive(Clone, Serialize, Deserialize)]
struct Data {
    program: Arc<SimProgram>,
    packages: Arc<Packages>,
    sources: SourceTexts,
    /// Variables without a place in memory, with their values where these are written in the model: texts are part of the program.
    texts: BTreeMap<String, Option<String>>,
    /// What programs of other configurations are made of, if the structure of the model changes.
    flat: Option<Arc<FlatModel>>,
}

/// There is no such variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownVariable {
    pub name: String,
    pub similar: Option<String>,
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the model has no variable `{}`", self.name)?;
        self.similar.as_ref().map_or(Ok(()), |similar| write!(f, "; did you mean `{similar}`?"))
    }
}

impl std::error::Error for UnknownVariable {}

/// Why a variable cannot be set in the compiled model.
#[derive(Clone, PartialEq, Debug)]
pub enum Unchangeable {
    Unknown(UnknownVariable),
    /// The program was made for its value.
    Structural,
    /// It follows from other parameters.
    Computed,
    Final,
    Constant,
    /// Its value is what the model computes.
    Variable,
    /// Outside of `min` … `max`.
    OutOfRange {
        min: Option<f64>,
        max: Option<f64>,
    },
    /// A text, which the program contains as it was when the model was compiled.
    Text,
    /// An array needs a value for each of its elements.
    NotOfItsSizes {
        sizes: Vec<u32>,
    },
    /// Not a number, or not one of its type.
    NotOfItsType {
        expected: &'static str,
    },
}

impl fmt::Display for Unchangeable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unchangeable::Unknown(unknown) => unknown.fmt(f),
            Unchangeable::Structural => f.write_str("the structure of the model depends on its value"),
            Unchangeable::Computed => f.write_str("it is computed by the model"),
            Unchangeable::Final => f.write_str("it is final"),
            Unchangeable::Constant => f.write_str("it is a constant"),
            Unchangeable::Variable => f.write_str("it is neither a parameter nor an input"),
            Unchangeable::OutOfRange { min: Some(min), max: Some(max) } => write!(f, "it must be from {min} to {max}"),
            Unchangeable::OutOfRange { min: Some(min), .. } => write!(f, "it must be at least {min}"),
            Unchangeable::OutOfRange { max, .. } => write!(f, "it must be at most {}", max.unwrap_or(f64::INFINITY)),
            Unchangeable::Text => f.write_str("texts are part of the compiled model"),
            Unchangeable::NotOfItsSizes { sizes } => {
                let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                write!(f, "expected an array of {} elements, as in `{{1, 2}}`", sizes.join(" × "))
            }
            Unchangeable::NotOfItsType { expected } => write!(f, "expected {expected}"),
        }
    }
}

impl std::error::Error for Unchangeable {}

impl Model {
    pub(crate) fn new(program: SimProgram, made_of: &Flattening, files: Arc<dyn FileSource>) -> Model {
        let (packages, sources) = (Arc::new(made_of.packages().clone()), made_of.sources().texts());
        let variables = made_of.model.iter().flat_map(|model| model.variables.values());
        let texts = variables.filter(|v| v.ty.base == BaseType::String).map(|v| (v.name.clone(), written(v))).collect();
        let flat = made_of.model.clone().filter(|_| program.configuration.is_some());
        Model::of(Data { program: Arc::new(program), packages, sources, texts, flat }, files)
    }

    fn of(data: Data, files: Arc<dyn FileSource>) -> Model {
        Model {
            data,
            files,
            names: OnceLock::new(),
            computed: OnceLock::new(),
            programs: Programs::default(),
            #[cfg(feature = "jit")]
            threads: Arc::default(),
        }
    }

    /// Variables that are no elements of arrays.
    fn names(&self) -> &BTreeMap<String, usize> {
        let all = || self.variables().alone().map(|(i, name)| (name.to_owned(), i)).collect();
        self.names.get_or_init(all)
    }

    fn is_computed(&self, slot: SlotId) -> bool {
        let all = || self.program().sections.parameters.blocks.iter().flat_map(|block| block.stored()).collect();
        self.computed.get_or_init(all).contains(&slot)
    }

    /// The name of its class.
    pub fn name(&self) -> &str {
        &self.data.program.name
    }

    pub fn program(&self) -> &Arc<SimProgram> {
        &self.data.program
    }

    /// All variables, in the order of their declaration.
    pub fn variables(&self) -> &Variables {
        &self.data.program.variables
    }

    pub fn variable(&self, name: &str) -> Result<Variable<'_>, UnknownVariable> {
        let found = self.names().get(name).copied().or_else(|| self.variables().find_element(name));
        found.and_then(|i| self.variables().get(i)).ok_or_else(|| {
            let mut all: Vec<_> = self.variables().iter().map(|v| v.name()).collect();
            all.sort_unstable();
            let similar = nearest(name, all.iter().map(|name| &**name)).map(str::to_owned);
            UnknownVariable { name: name.to_owned(), similar }
        })
    }

    /// The files that messages point into.
    pub fn sources(&self) -> SourceMap {
        self.data.sources.to_map()
    }

    /// The slot of a parameter or input whose value can be set without compiling again.
    pub fn changeable(&self, name: &str) -> Result<SlotId, Unchangeable> {
        use saltus_program::{Causality, Variability};
        let variable = self.known(name)?;
        let kind = self.program().memory.slots.get(variable.slot).map(|s| s.kind);
        match (variable.variability, kind) {
            (Variability::Constant, _) => Err(Unchangeable::Constant),
            (Variability::Parameter, _) if variable.is_final => Err(Unchangeable::Final),
            (Variability::Parameter, _) if self.program().memory.structural.binary_search(&variable.slot).is_ok() => {
                Err(Unchangeable::Structural)
            }
            // The initial system finds one that is not fixed.
            (Variability::Parameter, _) if variable.fixed == Some(false) || self.is_computed(variable.slot) => {
                Err(Unchangeable::Computed)
            }
            (Variability::Parameter, Some(SlotKind::Parameter)) => Ok(variable.slot),
            (_, Some(SlotKind::Input)) if variable.causality == Causality::Input => Ok(variable.slot),
            _ => Err(Unchangeable::Variable),
        }
    }

    /// Like [`changeable`](Self::changeable), for this value.
    pub fn changeable_to(&self, name: &str, value: f64) -> Result<SlotId, Unchangeable> {
        let slot = self.changeable(name)?;
        let variable = self.variable(name).map_err(Unchangeable::Unknown)?;
        let (is_fine, expected) = match variable.ty {
            SlotType::Real => (value.is_finite(), "a finite number"),
            // Beyond that two Integers have the same number in memory.
            SlotType::Integer => (value.fract() == 0.0 && value.abs() < LARGEST_INTEGER, "an Integer below 2^53"),
            SlotType::Boolean => (value == 0.0 || value == 1.0, "true or false"),
            SlotType::Enumeration => (value.fract() == 0.0 && value >= 1.0, "the position of a literal"),
        };
        if !is_fine {
            return Err(Unchangeable::NotOfItsType { expected });
        }
        let (min, max) = (variable.min, variable.max);
        if min.is_some_and(|min| value < min) || max.is_some_and(|max| value > max) {
            return Err(Unchangeable::OutOfRange { min, max });
        }
        Ok(slot)
    }

    fn known(&self, name: &str) -> Result<Variable<'_>, Unchangeable> {
        let is_text = |unknown| {
            if self.is_text(name) { Unchangeable::Text } else { Unchangeable::Unknown(unknown) }
        };
        self.variable(name).map_err(is_text)
    }

    /// The sizes of an array of which the variables `name[1]`, `name[2]`, … are the elements.
    pub fn sizes(&self, name: &str) -> Option<Vec<u32>> {
        if let Some(sizes) = self.variables().sizes(name) {
            return Some(sizes);
        }
        let begin = format!("{name}[");
        let inside = self.names().range(begin.clone()..).map_while(|(other, _)| other.strip_prefix(&begin));
        let index =
            |text: &str| text.strip_suffix(']')?.split(',').map(|i| i.parse().ok()).collect::<Option<Vec<u32>>>();
        let indices = inside.filter_map(index);
        indices.reduce(|largest, index| largest.into_iter().zip(index).map(|(a, b)| a.max(b)).collect())
    }

    /// Patterns that fit no variable, with the one that is spelt most like them. `time` is part of every result, and variables that only
    /// other configurations have count, too.
    pub fn idle_patterns(&self, kept: &Kept) -> Vec<UnknownVariable> {
        if !kept.is_choice() {
            return Vec::new();
        }
        let own: Vec<_> = self.variables().iter().map(|v| v.name()).collect();
        let own = own.iter().map(|name| &**name);
        let others = self.flat().into_iter().flat_map(|flat| flat.variables.values().map(|v| v.name.as_str()));
        // Those of component arrays are here by their elements.
        let others = others.filter(|name| n_outer_dimensions(name) == 0);
        let names: Vec<&str> = own.chain(others).chain(["time"]).collect();
        let similar = |text: &str| nearest(text, names.iter().copied()).map(str::to_owned);
        kept.idle_patterns(&names)
            .map(|text| UnknownVariable { name: text.to_owned(), similar: similar(text) })
            .collect()
    }

    /// A value of a variable as a user writes it: a number, `true`, `false` or the name of a literal.
    pub fn parse_value(&self, name: &str, text: &str) -> Result<f64, Unchangeable> {
        let variable = self.known(name)?;
        let literals =
            variable.enumeration.and_then(|id| self.program().routines.enumerations.get(id)).map(|e| &e.literals);
        let last = text.rsplit('.').next().unwrap_or(text);
        let literal = literals.and_then(|all| all.iter().position(|l| l == last)).map(|i| (i + 1) as f64);
        match (variable.ty, text) {
            (SlotType::Boolean, "true") => Ok(1.0),
            (SlotType::Boolean, "false") => Ok(0.0),
            (SlotType::Boolean, _) => Err(Unchangeable::NotOfItsType { expected: "true or false" }),
            (SlotType::Enumeration, _) => {
                literal.ok_or(Unchangeable::NotOfItsType { expected: "the name of a literal" })
            }
            _ => text.parse().map_err(|_| Unchangeable::NotOfItsType { expected: "a number" }),
        }
    }

    /// What functions of the model may reach.
    pub(crate) fn resources(&self, permissions: Permissions) -> Resources {
        Resources::new(self.data.packages.clone(), self.files.clone(), permissions)
    }

    /// A new instance, ready to run.
    pub fn instance(&self, engine: Engine, permissions: Permissions) -> Box<dyn ModelFunctions> {
        self.timed_instance(engine, permissions, &Stopwatch::default())
    }

    /// The same; the stopwatch measures how long compiling to machine code takes. What cannot be compiled on this machine,
    /// or by a build without the feature `jit`, is interpreted.
    pub fn timed_instance(
        &self,
        engine: Engine,
        permissions: Permissions,
        stopwatch: &Stopwatch,
    ) -> Box<dyn ModelFunctions> {
        self.instance_of(self.program().clone(), engine, permissions, stopwatch)
    }

    /// The same for runs by a solver: quantised states are evaluated one at a time, also those of loops over arrays.
    pub fn instance_for(
        &self,
        solver: Solver,
        engine: Engine,
        permissions: Permissions,
        stopwatch: &Stopwatch,
    ) -> Box<dyn ModelFunctions> {
        let program = self.program();
        let program = if solver == Solver::Liqss2 { program.unrolled() } else { program.clone() };
        self.instance_of(program, engine, permissions, stopwatch)
    }

    /// The same for another program with its memory: one of its configurations, or a part.
    pub(crate) fn instance_of(
        &self,
        program: Arc<SimProgram>,
        engine: Engine,
        permissions: Permissions,
        stopwatch: &Stopwatch,
    ) -> Box<dyn ModelFunctions> {
        let outside = Box::new(self.resources(permissions));
        #[cfg(feature = "jit")]
        if let Some(compiled) = compiled(program.clone(), engine, stopwatch, &self.threads) {
            return Box::new(compiled.with_outside(outside));
        }
        #[cfg(not(feature = "jit"))]
        let _ = (engine, stopwatch);
        Box::new(Interpreter::new(program).with_outside(outside))
    }

    /// Who makes instances for other configurations, if the structure of the model changes.
    pub fn configurations(
        self: &Arc<Self>,
        engine: Engine,
        permissions: Permissions,
        stopwatch: &Stopwatch,
    ) -> Option<Box<dyn Configurations>> {
        self.pooled_configurations(engine, permissions, stopwatch, Pool::default())
    }

    /// The same; instances that a run has made come from the pool and go back there, with their machine code.
    pub fn pooled_configurations(
        self: &Arc<Self>,
        engine: Engine,
        permissions: Permissions,
        stopwatch: &Stopwatch,
        pool: Pool,
    ) -> Option<Box<dyn Configurations>> {
        self.flat()?;
        Some(Box::new(Maker { model: self.clone(), pool, engine, permissions, stopwatch: stopwatch.clone() }))
    }

    /// Programs of further configurations that have been compiled so far, by their keys. The one of the model itself is not among
    /// them.
    pub fn compiled_configurations(&self) -> Vec<(Key, Arc<SimProgram>)> {
        self.programs.known()
    }

    pub(crate) fn flat(&self) -> Option<&FlatModel> {
        self.data.flat.as_deref()
    }

    /// How many programs have been compiled for it: one, and one for each further configuration that a run has entered.
    pub fn n_programs(&self) -> usize {
        1 + self.programs.len()
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The binary form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BadFile> {
        let sources = self.data.sources.only(&files_used(&*self.data.program));
        container::encode(Content::Model, &Data { sources, ..self.data.clone() })
    }

    /// Texts of the model whose values are written in it, by name.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.data.texts.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_deref()?)))
    }

    /// Is it a text, or an array of them?
    pub fn is_text(&self, name: &str) -> bool {
        self.data.texts.contains_key(name)
    }

    /// The same model with resources from elsewhere.
    pub fn with_files(&self, files: Arc<dyn FileSource>) -> Model {
        Model::of(self.data.clone(), files)
    }

    /// Where its resources are read.
    pub fn files(&self) -> &Arc<dyn FileSource> {
        &self.files
    }

    /// A model from its binary form; its resources are read from the disk.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, BadFile> {
        let data: Data = container::decode(Content::Model, bytes)?;
        saltus_program::verify(&data.program).map_err(|problems| BadFile::Damaged(problems.join("; ")))?;
        Ok(Model::of(data, Arc::new(DiskFiles)))
    }
}

/// The text that the declaration of a variable gives it.
fn written(variable: &saltus_flat::Variable) -> Option<String> {
    match &variable.binding.as_ref()?.kind {
        ExprKind::String(text) => Some(text.to_string()),
        _ => None,
    }
}

#[cfg(feature = "jit")]
fn compiled(
    program: Arc<SimProgram>,
    engine: Engine,
    stopwatch: &Stopwatch,
    threads: &Arc<Threads>,
) -> Option<saltus_jit::CompiledModel> {
    let jit = || Some(Jit::new(JitOptions::default()).ok()?.with_stopwatch(stopwatch.clone()));
    match engine {
        Engine::Auto => Some(jit()?.with_background(Arc::new(FreeCores::of_run(threads))).watch_program(program)),
        Engine::Jit => jit()?.compile_program(program).ok(),
        Engine::Interpreter => None,
    }
}

/// Several threads may use one model.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Model>();
};
