//! The simulation program as a whole.

use std::sync::Arc;

use crate::{
    Activation, Clocks, Configuration, Events, History, Memory, Routines, Section, State, StateSet, Variable, Variables,
};

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct SimProgram {
    /// Name of the model.
    pub name: String,
    pub memory: Memory,
    /// Everything a user may look at, in order of declaration.
    pub variables: Variables,
    pub states: Vec<State>,
    /// States that are chosen among several variables while the simulation runs.
    pub state_sets: Vec<StateSet>,
    pub sections: Sections,
    pub events: Events,
    pub clocks: Clocks,
    pub history: History,
    pub routines: Routines,
    pub experiment: Experiment,
    /// The positions of switches that it was made for, if the structure of the model changes.
    pub configuration: Option<Box<Configuration>>,
}

/// What is computed when, but for the sections of clocked partitions.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Sections {
    /// Parameters whose value is computed from others. Evaluated once.
    pub parameters: Section,
    /// Start values as first guesses of the initial system, and values of `pre` before it.
    pub guesses: Section,
    /// The initial system, relations literal.
    pub initial: Section,
    /// The same with the parameter of `homotopy` as a known variable; empty if the model does not use it.
    pub homotopy: Section,
    /// Continuous and discrete equations in event order, relations literal.
    pub events: Section,
    /// What the derivatives need, discrete variables and relations frozen.
    pub derivatives: Section,
    /// What the crossing functions need beyond that, and the crossing functions.
    pub crossings: Section,
    /// The rest of the continuous variables, and the conditions of assertions.
    pub outputs: Section,
    /// After the derivatives: the coefficients of the constraints of state sets.
    pub selection: Section,
    /// What jumps where the configuration is entered.
    pub entry: Section,
    /// Values with which states of machines are entered.
    pub arrival: Section,
}

impl Sections {
    /// All of them with their names.
    pub fn named(&self) -> [(&'static str, &Section); 11] {
        [
            ("parameters", &self.parameters),
            ("guesses", &self.guesses),
            ("initial", &self.initial),
            ("homotopy", &self.homotopy),
            ("events", &self.events),
            ("derivatives", &self.derivatives),
            ("crossings", &self.crossings),
            ("outputs", &self.outputs),
            ("selection", &self.selection),
            ("entry", &self.entry),
            ("arrival", &self.arrival),
        ]
    }

    fn all_mut(&mut self) -> [&mut Section; 11] {
        [
            &mut self.parameters,
            &mut self.guesses,
            &mut self.initial,
            &mut self.homotopy,
            &mut self.events,
            &mut self.derivatives,
            &mut self.crossings,
            &mut self.outputs,
            &mut self.selection,
            &mut self.entry,
            &mut self.arrival,
        ]
    }
}

/// What the `experiment` annotation asks for.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Experiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub interval: Option<f64>,
    pub tolerance: Option<f64>,
}

impl SimProgram {
    /// The same with every element of an array in a block of its own, in the same memory.
    pub fn unrolled(self: &Arc<Self>) -> Arc<SimProgram> {
        if !self.sections.named().iter().any(|(_, section)| section.has_repeats()) {
            return self.clone();
        }
        let mut program = (**self).clone();
        for section in program.sections.all_mut() {
            *section = section.unrolled().into_owned();
        }
        Arc::new(program)
    }

    /// A program without anything; time and the two flags have no slots yet.
    pub fn empty(name: &str) -> SimProgram {
        SimProgram {
            name: name.into(),
            memory: Memory::empty(),
            variables: Variables::default(),
            states: Vec::new(),
            state_sets: Vec::new(),
            sections: Sections::default(),
            events: Events::default(),
            clocks: Clocks::default(),
            history: History::default(),
            routines: Routines::default(),
            experiment: Experiment::default(),
            configuration: None,
        }
    }

    /// The section that is evaluated; `None` for a clocked one that does not exist.
    pub fn section(&self, activation: Activation) -> Option<&Section> {
        let sections = &self.sections;
        Some(match activation {
            Activation::Parameters => &sections.parameters,
            Activation::Guesses => &sections.guesses,
            Activation::Initial => &sections.initial,
            Activation::Homotopy => &sections.homotopy,
            Activation::Events => &sections.events,
            Activation::Derivatives => &sections.derivatives,
            Activation::Crossings => &sections.crossings,
            Activation::Outputs => &sections.outputs,
            Activation::Selection => &sections.selection,
            Activation::Entry => &sections.entry,
            Activation::Arrival => &sections.arrival,
            Activation::Clocked(k) => return self.clocks.sections.get(k as usize),
        })
    }

    /// Is this one of several programs of a model whose structure changes?
    pub fn changes_structure(&self) -> bool {
        self.configuration.as_deref().is_some_and(Configuration::changes_structure)
    }

    pub fn find_variable(&self, name: &str) -> Option<Variable<'_>> {
        self.variables.find(name)
    }
}

/// Several threads may run one program.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<SimProgram>();
};
