//! The simulation program: what is computed when, on which memory. Data only, made by `saltus-backend`, evaluated by
//! `saltus-runtime` (later also compiled), driven by `saltus-sim`.
//!
//! ```text
//! der(h) = v;                                  Derivatives: der(h) := v, der(v) := -9.81
//! der(v) = -9.81;                  ⇒           Crossings:   z1 := h - 0
//! when h < 0 then                              Events:      h < 0 := h < 0; c1 := h < 0;
//!   reinit(v, -e * pre(v));                                 reinit1 := c1 and not pre(c1); …
//! end when;                                    pre pairs:   (v, pre(v)), (c1, pre(c1))
//! ```
//!
//! All mutable data sit in one block of `f64` slots: time, parameters, variables, `pre` values, relation memory.
//! Booleans are 0 and 1, enumerations their ordinals, Integers exact up to 2⁵³. The program has no pointers.
//!
//! Invariants: within a section a slot is stored before it is loaded, unless it is an input of that section; a relation's
//! memory is stored in the sections `Initial` and `Events` only.

pub mod blame;
pub mod clock;
pub mod code;
mod configuration;
mod costs;
mod events;
mod files_used;
mod fingerprint;
pub mod functions;
mod history;
mod memory;
mod moment;
mod names;
pub mod print;
mod program;
mod repeat;
mod routines;
mod states;
mod stop;
mod stopwatch;
mod variables;
pub mod verify;

pub use blame::{Blame, blame};
pub use clock::{Activity, BaseClock, BasePartition, Clocks, SubClock};
pub use code::{Assign, Block, Call, Code, Condition, Jacobian, Loop, Op, Original, Section, Unknown, ValueId};
pub use configuration::{Configuration, Constraint, Entry, Integration, Key, Region, Switch, Verdict};
pub use costs::{BlockCosts, CallCosts, Cost, InstanceCosts, SectionCosts, TangentCosts};
pub use events::{
    Assertion, Events, InitialCheck, Message, RELATION_BAND, Reinit, Relation, RelationOp, Sample, Termination,
    TimeEvent,
};
pub use files_used::files_used;
pub use fingerprint::{fingerprint, fnv1a};
pub use functions::{
    Activation, DerivativeStatistics, Details, EvalFailure, Held, LoopStatistics, MixedMethod, MixedSolution,
    MixedStrategy, ModelFunctions, Round, Status, read,
};
pub use history::{Delay, History, Transport};
pub use memory::{Memory, Slot, SlotKind, SlotType, Slots};
pub use moment::Moment;
pub use names::{ElementNames, derivative_name};
pub use print::print;
pub use program::{Experiment, Sections, SimProgram};
pub use repeat::{ElementOrder, MOST_DIMENSIONS, Repeat};
pub use routines::{Argument, CallDerivative, Callable, Effect, Routines};
pub use saltus_procedure::{BinaryFn, LARGEST_INTEGER, UnaryFn};
pub use states::{State, StateSet, StateSetLevel};
pub use stop::Stop;
pub use stopwatch::{Stopwatch, WallClock};
pub use variables::{Causality, Declared, Element, Variability, Variable, Variables};
pub use verify::verify;

saltus_base::define_id! {
    /// A place in the memory of an instance.
    pub struct SlotId;
    /// A relation whose change is an event.
    pub struct RelationId;
    /// A function that the program calls.
    pub struct CallableId;
}
