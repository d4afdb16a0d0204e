//! Sensitivities along one run, from step to step.

use std::sync::Arc;

use saltus_program::{ModelFunctions, SimProgram, SlotId};
use saltus_sim::{Foreseen, SimError, Simulation};

use super::linear::{Matrix, Node, Stretch};
use super::series::Series;
use super::{Beginning, Followed, Follower, advance_to};

/// How long after an event it is tried, as a part of the step that leads to it: long enough for relations to have changed, too short for
/// anything else.
const BESIDE: f64 = 1e-9;
/// The same in rounding errors of time, at least.
const BESIDE_ULPS: f64 = 16.0;

/// Events that may follow each other without any time in between.
const MOST_AT_ONE_TIME: usize = 1000;

/// Why sensitivities end.
pub(super) type Refusal = String;

pub(super) struct Path<'a> {
    pub follower: &'a Follower,
    pub run: &'a mut Simulation,
    pub program: &'a Arc<SimProgram>,
    pub parameters: &'a [f64],
    pub states: Vec<SlotId>,
    pub slopes: Vec<SlotId>,
    pub held: Vec<SlotId>,
    /// Whatever moves with the parameters by itself: these, what is held and its `pre`.
    pub seeds: Vec<SlotId>,
    /// By position in `held`.
    pre: Vec<Option<SlotId>>,
    /// How states and held values move with the parameters.
    pub s: Matrix,
    pub h: Matrix,
    pub moves_samples: bool,
    /// How long after the next event it is tried.
    pub beside: f64,
    /// The relations that cause the next event, by position.
    pub causes: Vec<usize>,
    /// The next time of a measurement.
    next: usize,
}

/// The wanted variables at a time: their values, derivatives by states and by parameters.
struct Look {
    time: f64,
    values: Vec<f64>,
    c: Matrix,
    d: Matrix,
}

impl<'a> Path<'a> {
    pub fn new(
        follower: &'a Follower,
        run: &'a mut Simulation,
        program: &'a Arc<SimProgram>,
        held: Vec<SlotId>,
        parameters: &'a [f64],
        beginning: Beginning,
    ) -> Self {
        let pre_of =
            |slot: &SlotId| program.memory.pre.iter().find(|(variable, _)| variable == slot).map(|&(_, pre)| pre);
        let pre: Vec<Option<SlotId>> = held.iter().map(pre_of).collect();
        let seeds = follower.parameters.iter().chain(&held).copied().chain(pre.iter().flatten().copied()).collect();
        Path {
            states: program.states.iter().map(|state| state.value).collect(),
            slopes: program.states.iter().map(|state| state.derivative).collect(),
            pre,
            seeds,
            held,
            s: beginning.states,
            h: beginning.held,
            moves_samples: beginning.moves_samples,
            beside: 0.0,
            causes: Vec::new(),
            follower,
            run,
            program,
            parameters,
            next: 0,
        }
    }

    /// Appends what it finds, as far as sensitivities reach.
    pub fn follow(&mut self, found: &mut Followed) -> Result<(), SimError> {
        let refused = self.follow_or_refuse(found)?;
        if let Err(why) = refused {
            // What was measured at this very time is not known any more.
            found.valid_until = self.run.time();
            found.why = Some(why);
        }
        Ok(())
    }

    fn follow_or_refuse(&mut self, found: &mut Followed) -> Result<Result<(), Refusal>, SimError> {
        let Some(mut left) = self.node()? else { return Ok(Err(no_derivatives())) };
        let (mut since, mut n_here) = (self.run.time(), 0);
        loop {
            n_here = if self.run.time() > since { 0 } else { n_here + 1 };
            since = self.run.time();
            if n_here > MOST_AT_ONE_TIME {
                return Ok(Err("events follow each other at one time".to_owned()));
            }
            while self.measurement().is_some_and(|time| time <= self.run.time()) {
                let Some(look) = self.look()? else { return Ok(Err(no_derivatives())) };
                self.tell(&look, found);
                self.next += 1;
            }
            if self.measurement().is_none() || self.run.is_over() {
                return Ok(Ok(()));
            }
            left = match self.run.foresee()? {
                Foreseen::Happened => return Ok(Err("the solution goes on in another way".to_owned())),
                Foreseen::Step(to) => match self.stretch(&left, to, to, found)? {
                    Ok(end) => {
                        self.run.advance(to)?;
                        end
                    }
                    Err(why) => return Ok(Err(why)),
                },
                Foreseen::Event { at, is_timed } => {
                    self.causes.clear();
                    self.causes.extend(self.run.foreseen_relations().filter(|_| !is_timed));
                    let before = match self.stretch(&left, at.next_down(), at, found)? {
                        Ok(before) => before,
                        Err(why) => return Ok(Err(why)),
                    };
                    let shortest = BESIDE_ULPS * (at.abs().next_up() - at.abs());
                    self.beside = (BESIDE * (at - left.time)).max(shortest);
                    match self.cross(at, is_timed, &before)? {
                        Ok(after) => after,
                        Err(why) => return Ok(Err(why)),
                    }
                }
            };
        }
    }

    fn measurement(&self) -> Option<f64> {
        self.follower.times.get(self.next).copied()
    }

    /// Goes on within a step; measurements before `end` are taken on the way.
    fn stretch(
        &mut self,
        left: &Node,
        to: f64,
        end: f64,
        found: &mut Followed,
    ) -> Result<Result<Node, Refusal>, SimError> {
        if to <= self.run.time() {
            return Ok(Ok(Node { time: self.run.time(), ..left.clone() }));
        }
        if self.run.is_sliding() {
            return Ok(Err("the run slides along a threshold".to_owned()));
        }
        let mut looks = Vec::new();
        let middle = left.time + 0.5 * (to - left.time);
        let mut between = None;
        loop {
            let time = self.measurement().filter(|&time| time < end && time < to).unwrap_or(f64::INFINITY);
            if between.is_none() && middle <= time {
                advance_to(self.run, middle)?;
                between = self.node()?;
                if between.is_none() {
                    return Ok(Err(no_derivatives()));
                }
            } else if time.is_finite() {
                advance_to(self.run, time)?;
                let Some(look) = self.look()? else { return Ok(Err(no_derivatives())) };
                looks.push(look);
                self.next += 1;
            } else {
                break;
            }
        }
        advance_to(self.run, to)?;
        let (Some(middle), Some(right)) = (between, self.node()?) else { return Ok(Err(no_derivatives())) };
        let stretch = Stretch([left, &middle, &right]);
        let series = Series::new(&stretch, &self.s);
        let mut now = left.time;
        for look in looks.iter().map(Some).chain([None]) {
            let time = look.map_or(to, |look| look.time);
            let is_known = match &series {
                Some(series) => {
                    self.s = series.at(time);
                    self.s.is_finite()
                }
                None => stretch.take(&mut self.s, now, time),
            };
            if !is_known {
                return Ok(Err("the sensitivities grow beyond all bounds".to_owned()));
            }
            now = time;
            look.into_iter().for_each(|look| self.tell(look, found));
        }
        Ok(Ok(right))
    }

    fn tell(&self, look: &Look, found: &mut Followed) {
        found.values.extend(&look.values);
        for i in 0..look.values.len() {
            for p in 0..self.parameters.len() {
                let moved: f64 = look.c.row(i).iter().enumerate().map(|(j, c)| c * self.s.at(j, p)).sum();
                found.derivatives.push(moved + look.d.at(i, p));
            }
        }
    }

    /// The direction in which a parameter moves what depends on it by itself, besides the states.
    pub fn direction(&self, p: usize) -> Vec<(SlotId, f64)> {
        let mut seeds = vec![(self.follower.parameters[p], 1.0)];
        for (i, (&slot, pre)) in self.held.iter().zip(&self.pre).enumerate() {
            let moved = self.h.at(i, p);
            if moved != 0.0 {
                seeds.push((slot, moved));
                seeds.extend(pre.map(|pre| (pre, moved)));
            }
        }
        seeds
    }

    /// The linear model at the present time; none if it cannot be differentiated there.
    pub fn node(&mut self) -> Result<Option<Node>, SimError> {
        let time = self.run.time();
        let (states, slopes) = (self.states.clone(), self.slopes.clone());
        let linear = self.linear(&slopes)?;
        Ok(linear.map(|(memory, a, b)| {
            let of = |slots: &[SlotId]| slots.iter().map(|&slot| memory[saltus_base::Index::index(slot)]).collect();
            Node { time, x: of(&states), f: of(&slopes), a, b }
        }))
    }

    fn look(&mut self) -> Result<Option<Look>, SimError> {
        let time = self.run.time();
        let wanted = &self.follower.wanted;
        let linear = self.linear(wanted)?;
        Ok(linear.map(|(memory, c, d)| {
            let values = wanted.iter().map(|&slot| memory[saltus_base::Index::index(slot)]).collect();
            Look { time, values, c, d }
        }))
    }

    /// All values at the present time, and derivatives of some by states and by parameters.
    fn linear(&mut self, of: &[SlotId]) -> Result<Option<(Vec<f64>, Matrix, Matrix)>, SimError> {
        let directions: Vec<Vec<(SlotId, f64)>> = (0..self.parameters.len()).map(|p| self.direction(p)).collect();
        let (states, seeds) = (&self.states, &self.seeds);
        self.run.examine(|f| {
            let memory = f.memory().to_vec();
            if !f.linearise_by(of, seeds).is_ok() {
                return None;
            }
            let by_state = columns(f, of.len(), states.iter().map(|&slot| vec![(slot, 1.0)]))?;
            let by_parameter = columns(f, of.len(), directions.into_iter())?;
            Some((memory, by_state, by_parameter))
        })
    }
}

pub(super) fn no_derivatives() -> Refusal {
    "the model has no directional derivatives there".to_owned()
}

/// Derivatives along directions, column by column.
pub(super) fn columns(
    f: &mut dyn ModelFunctions,
    n_rows: usize,
    directions: impl ExactSizeIterator<Item = Vec<(SlotId, f64)>>,
) -> Option<Matrix> {
    let mut matrix = Matrix::zeros(n_rows, directions.len());
    let mut column = vec![0.0; n_rows];
    for (j, direction) in directions.enumerate() {
        if !f.directional(&direction, &mut column).is_ok() {
            return None;
        }
        matrix.set_column(j, &column);
    }
    Some(matrix)
}
