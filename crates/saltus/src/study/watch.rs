//! What is watched while a run goes on, so that the expressions of a study have values at its end.
//!
//! In: expressions. Out: a [`Watch`], the list of names, extrema, integrals and events that they need; an [`Observer`], a sink that
//! collects these from the rows and events of one run with a memory that does not grow; the values of the expressions.
//!
//! Extrema, means and integrals are those of parabolas through the rows: output points and both sides of each event. They are exact up to the
//! third power of the distance of output points. Where a variable has no value (a state that is not active) nothing is added.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use saltus_sim::{EventCause, EventRecord, Header, Sink, SinkError};

use super::expression::{Binary, Event, Expr, Function, Over, Pattern, Relation, Unary, What, parse};

/// Everything that some expressions need of a run.
#[derive(Clone, Default, Debug)]
pub struct Watch {
    /// Variables by name.
    pub names: Vec<String>,
    over: Vec<(Over, Formula)>,
    pub times: Vec<(f64, Formula)>,
    events: Vec<Watched>,
    counts: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Watched {
    event: Event,
    what: Wanted,
}

#[derive(Clone, Debug)]
enum Wanted {
    Time,
    After(Formula),
    Before(Formula),
}

/// An expression whose names are positions in a [`Watch`].
#[derive(Clone, Debug)]
pub enum Formula {
    Number(f64),
    Name(usize),
    Time,
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<Formula>, Box<Formula>),
    Call(Function, Vec<Formula>),
    Over(usize),
    At(usize),
    Event(usize),
    Count(usize),
}

impl Watch {
    /// The formula of an expression; what it needs is added.
    pub fn add(&mut self, e: &Expr) -> Formula {
        let boxed = |watch: &mut Watch, e: &Expr| Box::new(watch.add(e));
        match e {
            Expr::Number(value) => Formula::Number(*value),
            Expr::Name(name) if name == "time" => Formula::Time,
            Expr::Name(name) => Formula::Name(self.name(name)),
            Expr::Unary(op, e) => Formula::Unary(*op, boxed(self, e)),
            Expr::Binary(op, a, b) => Formula::Binary(*op, boxed(self, a), boxed(self, b)),
            Expr::Call(function, arguments) => {
                Formula::Call(*function, arguments.iter().map(|e| self.add(e)).collect())
            }
            Expr::Over(over, e) => {
                let formula = self.add(e);
                self.over.push((*over, formula));
                Formula::Over(self.over.len() - 1)
            }
            Expr::At(e, t) => {
                let formula = self.add(e);
                self.times.push((*t, formula));
                Formula::At(self.times.len() - 1)
            }
            Expr::Event { event, what } => {
                let what = match what {
                    What::Time => Wanted::Time,
                    What::After(e) => Wanted::After(self.add(e)),
                    What::Before(e) => Wanted::Before(self.add(e)),
                };
                self.events.push(Watched { event: event.clone(), what });
                Formula::Event(self.events.len() - 1)
            }
            Expr::Count(pattern) => Formula::Count(self.count(pattern)),
        }
    }

    /// The position of a counter of events.
    pub fn count(&mut self, pattern: &Pattern) -> usize {
        self.counts.push(pattern.clone());
        self.counts.len() - 1
    }

    fn name(&mut self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// Are transitions of state machines looked for?
    pub fn has_transitions(&self) -> bool {
        let of_events = self.events.iter().map(|w| &w.event.pattern);
        of_events.chain(&self.counts).any(|p| matches!(p, Pattern::Transition { .. }))
    }

    fn has_events(&self) -> bool {
        !(self.events.is_empty() && self.counts.is_empty())
    }
}

impl Formula {
    /// The value, by those of names and of everything that was collected.
    fn value(&self, values: &Values) -> f64 {
        match self {
            Formula::Number(value) => *value,
            Formula::Time => values.time,
            Formula::Name(i) => values.names.get(*i).copied().unwrap_or(f64::NAN),
            Formula::Unary(Unary::Minus, e) => -e.value(values),
            Formula::Unary(Unary::Not, e) => truth(e.value(values) == 0.0),
            Formula::Binary(op, a, b) => binary(*op, a.value(values), b.value(values)),
            Formula::Call(function, arguments) => {
                let argument = |i: usize| arguments.get(i).map_or(f64::NAN, |e| e.value(values));
                call(*function, argument(0), argument(1))
            }
            Formula::Over(i) => values.collected.and_then(|c| c.over.get(*i)).map_or(f64::NAN, Accumulator::value),
            Formula::At(i) => values.collected.and_then(|c| c.at.get(i).copied()).unwrap_or(f64::NAN),
            Formula::Event(i) => values.collected.and_then(|c| c.event(*i)).unwrap_or(f64::NAN),
            Formula::Count(i) => values.collected.and_then(|c| c.counts.get(*i)).map_or(f64::NAN, |n| *n as f64),
        }
    }

    /// The value at one point, for expressions without events and history.
    pub fn at_point(&self, time: f64, names: &[f64]) -> f64 {
        self.value(&Values { time, names, collected: None })
    }
}

struct Values<'a> {
    time: f64,
    names: &'a [f64],
    collected: Option<&'a Collected>,
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn binary(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Power => a.powf(b),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Greater => truth(a > b),
        Binary::GreaterEqual => truth(a >= b),
        Binary::And => truth(a != 0.0 && b != 0.0),
        Binary::Or => truth(a != 0.0 || b != 0.0),
    }
}

fn call(function: Function, a: f64, b: f64) -> f64 {
    match function {
        Function::Abs => a.abs(),
        Function::Sqrt => a.sqrt(),
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.tan(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Atan2 => a.atan2(b),
        Function::Exp => a.exp(),
        Function::Log => a.ln(),
        Function::Min => a.min(b),
        Function::Max => a.max(b),
    }
}

/// Collects what a watch asks for; clones share it.
#[derive(Clone)]
pub struct Observer(Arc<Mutex<Collected>>);

struct Collected {
    /// Borrowed at every row, never counted there: runs on several threads share it, and would wait for each other's count.
    watch: Arc<Watch>,
    /// Where the values of names are in a row, or what they are.
    places: Vec<Place>,
    time: f64,
    /// Values of names before and after what happens at the present time.
    left: Vec<f64>,
    right: Vec<f64>,
    over: Vec<Accumulator>,
    at: BTreeMap<usize, f64>,
    /// By watched event: how many there were, and their values, as many as are needed.
    events: Vec<(i64, VecDeque<f64>)>,
    counts: Vec<u64>,
    /// Watched events at the present time.
    pending: Vec<usize>,
    /// Texts of relations of the model, as expressions.
    parsed: BTreeMap<Arc<str>, Option<Expr>>,
}

#[derive(Clone, Copy)]
enum Place {
    Column(usize),
    Constant(f64),
}

impl Observer {
    pub fn new(watch: &Arc<Watch>) -> Self {
        Observer(Arc::new(Mutex::new(Collected {
            places: Vec::new(),
            time: f64::NAN,
            left: Vec::new(),
            right: Vec::new(),
            over: watch.over.iter().map(|(over, _)| Accumulator::new(*over)).collect(),
            at: BTreeMap::new(),
            events: vec![(0, VecDeque::new()); watch.events.len()],
            counts: vec![0; watch.counts.len()],
            pending: Vec::new(),
            parsed: BTreeMap::new(),
            watch: watch.clone(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often events of a counter have happened.
    pub fn count(&self, counter: usize) -> u64 {
        self.lock().counts.get(counter).copied().unwrap_or(0)
    }

    /// A state machine has gone from one state to another at the present time.
    pub fn transition(&self, from: &str, to: &str) {
        self.lock()
            .happened(&|pattern| matches!(pattern, Pattern::Transition { from: a, to: b } if a == from && b == to));
    }

    /// The values of names where the run is, which may be behind its last row.
    pub fn reach(&self, time: f64, names: &[f64]) {
        let mut collected = self.lock();
        if time > collected.time {
            collected.point(time, names);
        }
    }

    /// The values of names at a time that was asked for.
    pub fn see(&self, position: usize, time: f64, names: &[f64]) {
        let mut collected = self.lock();
        let Some((_, formula)) = collected.watch.times.get(position).cloned() else { return };
        collected.at.insert(position, formula.at_point(time, names));
    }

    /// The values of expressions at the end of a run.
    pub fn values(&self, formulas: &[Formula]) -> Vec<f64> {
        let mut collected = self.lock();
        collected.resolve();
        let names = collected.right.clone();
        let values = Values { time: collected.time, names: &names, collected: Some(&collected) };
        formulas.iter().map(|formula| formula.value(&values)).collect()
    }
}

impl Collected {
    fn event(&self, i: usize) -> Option<f64> {
        let (n, values) = self.events.get(i)?;
        let number = self.watch.events.get(i)?.event.number;
        match number {
            number if number > 0 => (*n >= number).then(|| values.front().copied())?,
            number => {
                let from_end = usize::try_from(-number).ok()?;
                values.len().checked_sub(from_end).and_then(|k| values.get(k)).copied()
            }
        }
    }

    /// Marks the events that fit; their values are taken when all is settled at this time.
    fn happened(&mut self, fits: &dyn Fn(&Pattern) -> bool) {
        for (count, pattern) in self.counts.iter_mut().zip(&self.watch.counts) {
            *count += u64::from(fits(pattern));
        }
        let fitting = self.watch.events.iter().enumerate().filter(|(_, w)| fits(&w.event.pattern));
        self.pending.extend(fitting.map(|(i, _)| i));
    }

    fn resolve(&mut self) {
        for i in self.pending.drain(..) {
            let Watched { event, what } = &self.watch.events[i];
            let value = match what {
                Wanted::Time => self.time,
                Wanted::After(formula) => formula.at_point(self.time, &self.right),
                Wanted::Before(formula) => formula.at_point(self.time, &self.left),
            };
            let (n, values) = &mut self.events[i];
            *n += 1;
            if event.number > 0 {
                if *n == event.number {
                    values.push_back(value);
                }
            } else {
                values.push_back(value);
                if values.len() as i64 > -event.number {
                    values.pop_front();
                }
            }
        }
    }

    fn row(&mut self, time: f64, row: &[f64]) {
        let value = |place: &Place| match place {
            Place::Column(i) => row.get(*i).copied().unwrap_or(f64::NAN),
            Place::Constant(value) => *value,
        };
        let names: Vec<f64> = self.places.iter().map(value).collect();
        self.point(time, &names);
    }

    fn point(&mut self, time: f64, names: &[f64]) {
        let is_same_time = time == self.time;
        if !is_same_time {
            self.resolve();
            self.left.clear();
            self.left.extend_from_slice(names);
        }
        self.right.clear();
        self.right.extend_from_slice(names);
        self.time = time;
        for (accumulator, (_, formula)) in self.over.iter_mut().zip(&self.watch.over) {
            accumulator.add(time, formula.at_point(time, &self.right), is_same_time);
        }
    }

    fn record(&mut self, event: &EventRecord) {
        for cause in &event.causes {
            let (EventCause::Relation { text, value, .. } | EventCause::Timer { text, value, .. }) = cause else {
                continue;
            };
            self.relation(text, *value);
        }
        for consequence in &event.consequences {
            self.relation(&consequence.relation.clone(), consequence.value);
        }
        for change in &event.changes {
            let name = &*change.variable;
            let became = |value: bool| (change.after != 0.0) == value && (change.before != 0.0) != value;
            self.happened(&|pattern| match pattern {
                Pattern::Variable { name: wanted, value } => wanted == name && became(*value),
                Pattern::Change(wanted) => wanted == name,
                _ => false,
            });
        }
    }

    fn relation(&mut self, text: &Arc<str>, value: bool) {
        let parsed = self.parsed.entry(text.clone()).or_insert_with(|| parse(text).ok());
        let Some(relation) = parsed.as_ref().and_then(|e| Relation::of(e, value)) else { return };
        self.happened(&|pattern| matches!(pattern, Pattern::Relation(wanted) if *wanted == relation));
    }
}

impl Sink for Observer {
    fn begin(&mut self, header: &Header) -> Result<(), SinkError> {
        let mut collected = self.lock();
        let watch = collected.watch.clone();
        let (columns, parameters) = (header.columns(), header.parameters());
        let place = |name: &String| {
            let column = columns.iter().find(|c| c.name == *name).map(|c| Place::Column(c.place));
            let constant = || parameters.iter().find(|(n, _)| n == name).map(|(_, value)| Place::Constant(*value));
            column.or_else(constant).unwrap_or(Place::Constant(f64::NAN))
        };
        collected.places = watch.names.iter().map(place).collect();
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        self.lock().row(time, values);
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), SinkError> {
        let mut collected = self.lock();
        if collected.watch.has_events() {
            collected.record(event);
        }
        Ok(())
    }
}

/// Extremum, mean or integral of one signal.
struct Accumulator {
    over: Over,
    /// The last points of a stretch without event: at most two, and the one before them.
    points: Vec<(f64, f64)>,
    before: Option<(f64, f64)>,
    /// The interval between the last two points has not been integrated yet: it waits for a third one.
    is_open: bool,
    integral: f64,
    length: f64,
    extremum: Option<(f64, f64)>,
}

impl Accumulator {
    fn new(over: Over) -> Self {
        Accumulator {
            over,
            points: Vec::new(),
            before: None,
            is_open: false,
            integral: 0.0,
            length: 0.0,
            extremum: None,
        }
    }

    fn add(&mut self, time: f64, value: f64, is_jump: bool) {
        if is_jump || !value.is_finite() {
            self.close();
        }
        if !value.is_finite() {
            return;
        }
        self.propose(time, value);
        let c = (time, value);
        if let &[a, b] = self.points.as_slice() {
            if (self.is_smallest() && b.1 <= a.1.min(c.1)) || (self.is_largest() && b.1 >= a.1.max(c.1)) {
                let (time, value) = vertex(a, b, c);
                self.propose(time, value);
            }
            if self.is_open {
                self.integral += parabola_integral(a, b, c);
                self.length += c.0 - a.0;
            }
            self.is_open = !self.is_open;
            self.before = Some(self.points.remove(0));
        } else {
            self.is_open = self.points.len() == 1;
        }
        self.points.push(c);
    }

    /// The end of a stretch.
    fn close(&mut self) {
        (self.integral, self.length) = self.complete();
        self.points.clear();
        self.before = None;
        self.is_open = false;
    }

    /// Integral and length with the interval that is left over.
    fn complete(&self) -> (f64, f64) {
        match (self.is_open, self.points.as_slice()) {
            (true, &[b, c]) => {
                let width = c.0 - b.0;
                // The parabola through the point before as well, if there is one.
                let bend = self.before.map_or(0.0, |a| {
                    let slopes = (c.1 - b.1) / width - (b.1 - a.1) / (b.0 - a.0);
                    width.powi(3) / (6.0 * (c.0 - a.0)) * slopes
                });
                (self.integral + 0.5 * width * (b.1 + c.1) - bend, self.length + width)
            }
            _ => (self.integral, self.length),
        }
    }

    fn is_smallest(&self) -> bool {
        matches!(self.over, Over::Min | Over::ArgMin)
    }

    fn is_largest(&self) -> bool {
        matches!(self.over, Over::Max | Over::ArgMax)
    }

    fn propose(&mut self, time: f64, value: f64) {
        let is_better = |known: f64| if self.is_smallest() { value < known } else { value > known };
        if self.extremum.is_none_or(|(_, known)| is_better(known)) {
            self.extremum = Some((time, value));
        }
    }

    fn value(&self) -> f64 {
        let (integral, length) = self.complete();
        match self.over {
            Over::Min | Over::Max => self.extremum.map_or(f64::NAN, |(_, value)| value),
            Over::ArgMin | Over::ArgMax => self.extremum.map_or(f64::NAN, |(time, _)| time),
            Over::Integral => integral,
            Over::Mean => integral / length,
        }
    }
}

/// Time and value where the parabola through three points turns, if that is between them.
fn vertex(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> (f64, f64) {
    let (left, right) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let curvature = (right - left) / (c.0 - a.0);
    let slope = left + curvature * (b.0 - a.0);
    let shift = -slope / (2.0 * curvature);
    let time = b.0 + shift;
    if shift.is_finite() && time >= a.0 && time <= c.0 { (time, b.1 + 0.5 * slope * shift) } else { b }
}

/// The integral of the parabola through three points.
fn parabola_integral(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    let (h, k) = (b.0 - a.0, c.0 - b.0);
    let width = h + k;
    width / 6.0 * ((2.0 - k / h) * a.1 + width * width / (h * k) * b.1 + (2.0 - h / k) * c.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(over: Over, pieces: &[&[(f64, f64)]]) -> f64 {
        let mut accumulator = Accumulator::new(over);
        for piece in pieces {
            for (i, (t, v)) in piece.iter().enumerate() {
                accumulator.add(*t, *v, i == 0);
            }
        }
        accumulator.value()
    }

    #[test]
    fn parabolas_are_integrated_exactly() {
        // ∫ t² over 0 … 3 = 9, at uneven points, with an even and an odd number of intervals.
        let points = |times: &[f64]| times.iter().map(|t| (*t, t * t)).collect::<Vec<_>>();
        let even = points(&[0.0, 0.5, 1.2, 2.0, 3.0]);
        assert!((over(Over::Integral, &[&even]) - 9.0).abs() < 1e-12);
        assert!((over(Over::Mean, &[&even]) - 3.0).abs() < 1e-12);
        let odd = points(&[0.0, 0.5, 1.2, 3.0]);
        assert!((over(Over::Integral, &[&odd]) - 9.0).abs() < 1e-12);
        let jump = over(Over::Integral, &[&[(0.0, 1.0), (1.0, 1.0)], &[(1.0, 5.0), (3.0, 5.0)]]);
        assert_eq!(jump, 11.0);
    }

    #[test]
    fn extrema_lie_between_rows() {
        // 1 - (t - 0.4)², largest at 0.4.
        let points: Vec<(f64, f64)> = [0.0, 0.3, 0.7, 1.0].map(|t: f64| (t, 1.0 - (t - 0.4).powi(2))).to_vec();
        assert!((over(Over::Max, &[&points]) - 1.0).abs() < 1e-12);
        assert!((over(Over::ArgMax, &[&points]) - 0.4).abs() < 1e-12);
        assert!((over(Over::Min, &[&points]) - 0.64).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_value_adds_nothing() {
        let mut accumulator = Accumulator::new(Over::Mean);
        for (t, v) in [(0.0, 2.0), (1.0, 2.0), (1.5, f64::NAN), (2.0, 4.0), (3.0, 4.0)] {
            accumulator.add(t, v, false);
        }
        assert_eq!(accumulator.value(), 3.0);
    }
}
