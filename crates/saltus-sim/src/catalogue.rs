//! What is shown of a program: columns of rows, variables whose changes at events are listed, texts of relations and clocks.

use std::borrow::Cow;
use std::sync::Arc;

use saltus_base::Index;
use saltus_program::{SimProgram, SlotId, SlotKind, SlotType, SubClock, Variable};

use crate::options::Recorded;
use crate::trajectory::Column;

pub(crate) struct Catalogue {
    /// As they are in all configurations; those of a program with one structure are made when they are asked for.
    columns: Option<Vec<Column>>,
    /// Slots of a row of results.
    places: Vec<usize>,
    /// The same as first slots and numbers of neighbours.
    stretches: Vec<(usize, usize)>,
    /// Slots that a row would have if all variables were recorded; `None` if they are.
    all: Option<Vec<usize>>,
    /// Slots whose changes at events are recorded.
    pub watched: Vec<(SlotId, Arc<str>)>,
    /// Integers, each slot under one name.
    pub integers: Vec<(SlotId, Arc<str>)>,
    /// Texts of relations, timers and clocks, shared by all records.
    pub relations: Vec<Arc<str>>,
    pub timers: Vec<Arc<str>>,
    pub clocks: Vec<Arc<str>>,
}

impl Catalogue {
    pub fn new(program: &SimProgram, recorded: &Recorded) -> Self {
        let kept = || kept(program, recorded);
        // What is equal in one configuration may differ in another one.
        let column = |(place, v): (usize, Variable)| Column { name: v.name().into_owned(), ty: v.ty, place };
        let columns = program.configuration.is_some().then(|| kept().enumerate().map(column).collect());
        let places = match &columns {
            Some(_) => kept().map(|v| v.slot.index()).collect(),
            None => slots_of(kept()),
        };
        Catalogue {
            stretches: stretches_of(&places),
            places,
            all: (columns.is_some() || *recorded != Recorded::All).then(|| slots_of(shown(program))),
            columns,
            watched: watched_slots(program),
            integers: integers(program),
            relations: program.events.relations.values().map(|r| r.text.as_str().into()).collect(),
            timers: program.events.time_events.iter().map(|e| e.text.as_str().into()).collect(),
            clocks: sub_clocks(program).map(|c| c.text.as_str().into()).collect(),
        }
    }

    /// Slots that a row would have if all variables were recorded.
    pub fn shown(&self) -> &[usize] {
        self.all.as_deref().unwrap_or(&self.places)
    }

    /// The same with the columns of another configuration, whose values are at these places.
    pub fn with_columns(self, columns: Vec<Column>, places: Vec<usize>) -> Self {
        let all = Some(self.shown().to_vec());
        Catalogue { columns: Some(columns), stretches: stretches_of(&places), places, all, ..self }
    }

    pub fn places(&self) -> &[usize] {
        &self.places
    }

    pub fn stretches(&self) -> &[(usize, usize)] {
        &self.stretches
    }

    /// Lets the values of rows come from elsewhere.
    pub fn change_places(&mut self, place: impl Fn(usize) -> usize) {
        self.places.iter_mut().for_each(|own| *own = place(*own));
        self.stretches = stretches_of(&self.places);
    }

    /// The columns of rows in order of declaration; `program` and `recorded` are what the catalogue was made of.
    pub fn columns(&self, program: &SimProgram, recorded: &Recorded) -> Cow<'_, [Column]> {
        match &self.columns {
            Some(columns) => Cow::Borrowed(columns),
            None => Cow::Owned(columns_at(program, recorded, &self.places)),
        }
    }

    /// What [`columns`](Self::columns) gives, for later.
    pub fn columns_for_later(&self, program: &Arc<SimProgram>, recorded: &Recorded) -> Columns {
        match &self.columns {
            Some(columns) => Columns::Listed(columns.clone()),
            None => Columns::Of(program.clone(), recorded.clone()),
        }
    }
}

/// What rows mean, as long as nobody asks for it.
#[derive(Clone, PartialEq, Debug)]
pub enum Columns {
    Listed(Vec<Column>),
    /// Of a program with one structure.
    Of(Arc<SimProgram>, Recorded),
}

/// A column whose name and place are found when they are asked for.
#[derive(Clone, Copy)]
pub enum Listed<'a> {
    Column(&'a Column),
    Variable(Variable<'a>),
}

impl<'a> Listed<'a> {
    pub fn name(&self) -> Cow<'a, str> {
        match *self {
            Listed::Column(column) => Cow::Borrowed(&column.name),
            Listed::Variable(variable) => variable.name(),
        }
    }
}

impl Columns {
    /// In order of declaration.
    pub fn each(&self) -> Box<dyn Iterator<Item = Listed<'_>> + '_> {
        match self {
            Columns::Listed(columns) => Box::new(columns.iter().map(Listed::Column)),
            Columns::Of(program, recorded) => Box::new(kept(program, recorded).map(Listed::Variable)),
        }
    }

    /// These as they are in rows.
    pub fn columns(&self, some: &[Listed]) -> Vec<Column> {
        let places = match self {
            Columns::Listed(_) => Vec::new(),
            Columns::Of(program, recorded) => slots_of(kept(program, recorded)),
        };
        let column = |listed: &Listed| match *listed {
            Listed::Column(column) => column.clone(),
            Listed::Variable(variable) => column_at(variable, &places),
        };
        some.iter().map(column).collect()
    }

    /// In order of declaration.
    pub fn all(&self) -> Cow<'_, [Column]> {
        match self {
            Columns::Listed(columns) => Cow::Borrowed(columns),
            Columns::Of(program, recorded) => {
                Cow::Owned(columns_at(program, recorded, &slots_of(kept(program, recorded))))
            }
        }
    }
}

/// Neighbours whose slots are neighbours, too.
fn stretches_of(places: &[usize]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for &slot in places {
        match stretches.last_mut() {
            Some((first, n)) if first.checked_add(*n) == Some(slot) => *n += 1,
            _ => stretches.push((slot, 1)),
        }
    }
    stretches
}

/// Columns of rows with these slots, ascending.
fn columns_at(program: &SimProgram, recorded: &Recorded, places: &[usize]) -> Vec<Column> {
    kept(program, recorded).map(|v| column_at(v, places)).collect()
}

/// The slot of the variable is among the places.
fn column_at(v: Variable, places: &[usize]) -> Column {
    let place = places.partition_point(|&slot| slot < v.slot.index());
    Column { name: v.name().into_owned(), ty: v.ty, place }
}

pub(crate) fn sub_clocks(program: &SimProgram) -> impl Iterator<Item = &SubClock> {
    program.clocks.base_partitions.iter().flat_map(|p| &p.sub_clocks)
}

/// Variables that have values over time and a name of their own.
fn shown(program: &SimProgram) -> impl Iterator<Item = Variable<'_>> {
    program.variables.iter().filter(|v| !v.is_parameter() && !v.is_hidden)
}

/// Those of them that are recorded.
fn kept<'a>(program: &'a SimProgram, recorded: &'a Recorded) -> impl Iterator<Item = Variable<'a>> {
    shown(program).filter(|v| *recorded == Recorded::All || recorded.contains(&v.name()))
}

/// Discrete variables and states that a `reinit` may set, each slot under one name.
fn watched_slots(program: &SimProgram) -> Vec<(SlotId, Arc<str>)> {
    let is_change = |s: &saltus_program::Slot| matches!(s.kind, SlotKind::Discrete | SlotKind::Clocked);
    if program.events.reinits.is_empty() && !program.memory.slots.values().any(is_change) {
        return Vec::new();
    }
    let mut seen = vec![false; program.memory.slots.len()];
    let mut watched = Vec::new();
    // A variable that equals a derivative goes by its own name.
    let is_derivative = Variable::is_derivative;
    for variable in shown(program).filter(|v| !is_derivative(v)).chain(shown(program).filter(is_derivative)) {
        let is_discrete = program.memory.slots.get(variable.slot).is_some_and(is_change);
        let is_set = || program.events.reinits.iter().any(|r| r.state == variable.slot);
        let is_new = seen.get_mut(variable.slot.index()).is_some_and(|s| !std::mem::replace(s, true));
        if is_new && (is_discrete || is_set()) {
            watched.push((variable.slot, (*variable.name()).into()));
        }
    }
    watched
}

fn integers(program: &SimProgram) -> Vec<(SlotId, Arc<str>)> {
    let mut integers: Vec<(SlotId, Arc<str>)> = Vec::new();
    for variable in program.variables.iter().filter(|v| v.ty == SlotType::Integer) {
        integers.push((variable.slot, (*variable.name()).into()));
    }
    integers.sort_by_key(|(slot, _)| *slot);
    integers.dedup_by_key(|(slot, _)| *slot);
    integers
}

/// The slots of some variables, each once, ascending.
fn slots_of<'a>(variables: impl Iterator<Item = Variable<'a>>) -> Vec<usize> {
    let mut is_there: Vec<bool> = Vec::new();
    for slot in variables.map(|v| v.slot.index()) {
        if slot >= is_there.len() {
            is_there.resize(slot + 1, false);
        }
        is_there[slot] = true;
    }
    let n = is_there.iter().filter(|is_there| **is_there).count();
    let mut slots = Vec::with_capacity(n);
    slots.extend(is_there.iter().enumerate().filter(|(_, is_there)| **is_there).map(|(slot, _)| slot));
    slots
}
