//! Which relation would change first in a step of the integrator, and exactly when.
//!
//! In: the dense output of a step (through [`Probe`]) and the relation memory. Out: nothing, or a bracket of a few units
//! in the last place at whose right end the relations have changed. All that cross within it fire together.
//!
//! For each relation g > 0 means "as remembered", g < 0 "changed". The step is looked at in a few points; where the
//! values of g suggest a dip between them, its minimum is searched, so that two crossings in one step are not missed.
//!
//! **Restart near zero.** A restart with |z| ≤ ε would be torn between the two values by rounding. There the function is
//! shifted by ε in favour of the remembered value until |z| > 2ε (table in the 1999 report on mixed systems). If z was
//! heading for the change, yet leaves the band on the remembered side, it has crossed twice within the resolution. After a
//! jump of states (a ball that bounced) going on would mean to tunnel through the threshold, so this is reported.

use saltus_base::{IdVec, Index};
use saltus_numerics::{Bracket, locate_sign_change};
use saltus_program::{Held, RELATION_BAND, Relation, RelationId, RelationOp, SimProgram, SlotId};

use crate::constants::{
    FAR, LARGEST_SHIFT, MOST_DIP_STEPS, MOST_LOOKS, N_INTERIOR, PUT_RIGHT, SAME_LOOK, SMALL_DIP, TOGETHER_BAND,
    TOGETHER_ULPS, WIDEST_BAND,
};
use crate::error::{Failure, SimErrorKind};
use crate::proof::Watched;
use crate::record::EventKind;

/// After the relations come the smallest shares of a slide, of positive and of negative sides, which ends when one is not positive,
/// and the distance of the next jump in a profile from where it leaves.
pub(crate) const N_WEIGHTS: usize = 3;

/// Is there anything to search for in steps?
pub(crate) fn has_state_events(program: &SimProgram) -> bool {
    !program.events.relations.is_empty() || !program.history.transports.is_empty()
}

/// The crossing functions at a point of time within the step.
pub(crate) trait Probe {
    /// Writes z of each relation, and the magnitude of its operands.
    fn crossings(&mut self, t: f64, z: &mut [f64], scale: &mut [f64]) -> Result<(), Failure>;
}

/// One relation as seen by the search.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Watch {
    op: RelationOp,
    memory: bool,
    /// Zero if the function is not shifted.
    epsilon: f64,
    /// Was it heading for the change when it was shifted?
    heads_for_change: bool,
    /// Half-width of the band around zero in which a value is rounding only.
    hysteresis: f64,
    /// Cannot change anything in the present mode.
    is_masked: bool,
}

/// Part of a band that is its far end.
const END_OF_BAND: f64 = 0.1;

/// Error of the operands of a relation that loops compute, as a part of their magnitude.
pub(crate) const ERROR_OF_LOOPS: f64 = 1e-10;

/// The function of a masked relation: far from zero, without movement.
const MASKED: f64 = 1e100;

impl Watch {
    /// +1 if the remembered value belongs to positive z.
    fn side(self) -> f64 {
        if self.op.is_true_below() == self.memory { -1.0 } else { 1.0 }
    }

    fn g(self, z: f64) -> f64 {
        if self.is_masked {
            return MASKED;
        }
        let g = self.side() * z + self.epsilon;
        let changed = self.op.holds(self.side() * g) != self.memory;
        // The sign decides, also where g is exactly zero.
        match (changed, g < 0.0) {
            (true, false) => -f64::MIN_POSITIVE,
            (false, true) => f64::MIN_POSITIVE,
            (false, false) => g.max(f64::MIN_POSITIVE),
            (true, true) => g,
        }
    }
}

/// What is known where a search begins; by relation.
pub(crate) struct Restart<'a> {
    pub t: f64,
    pub memory: &'a [bool],
    /// The crossing functions.
    pub now: &'a [f64],
    /// The magnitude of their operands.
    pub scale: &'a [f64],
    /// The crossing functions a little later along the tangent.
    pub soon: &'a [f64],
    /// Did the event change states?
    pub jumped: bool,
    /// The bands of those that leave their threshold, by what rounding makes of them; infinite where nothing is known.
    pub tight: &'a [f64],
    /// How exactly the states are on thresholds that the model slides along, as a part of the magnitude of the operands.
    pub slack: f64,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct CrossingSearch {
    watches: Vec<Watch>,
    /// The largest value of each function so far, but for slides, in which some are not what the model says.
    farthest: Vec<f64>,
    is_slide: bool,
    /// Relations that are shifted and whose functions have never been anything but zero when the search was armed: their magnitudes are not known.
    at_rest: Vec<usize>,
    /// By how much each function changed in the last step.
    variation: Vec<f64>,
    /// Is a double crossing within the resolution the end, or ignored?
    pub stops_at_zeno: bool,
    /// Relations of assertions: they may rest at their threshold for long, which costs no looks.
    is_of_bounds: bool,
    z: Vec<f64>,
    scale: Vec<f64>,
    /// The largest value of each function since then, as a part of the magnitude of its operands.
    extent: Vec<f64>,
    /// When the search was armed last.
    armed_at: f64,
    /// Did states jump then? Only then there is something to tunnel through.
    jumped: bool,
    /// The end of the last step, where the next one begins.
    last: Option<Sampled>,
    /// Functions that were negative at the end of the bracket found last.
    fired: Vec<usize>,
    /// Thresholds that were passed in a double crossing within the resolution, and ignored.
    tunnelled: Vec<usize>,
    pub evaluations: u64,
    /// Storage of points that nobody needs any more.
    #[serde(skip)]
    spare: Vec<Vec<f64>>,
}

/// A point of the step that has been looked at.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Sampled {
    t: f64,
    g: Vec<f64>,
}

impl Sampled {
    fn least(&self) -> f64 {
        self.g.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

impl CrossingSearch {
    /// A search for all that makes events in steps.
    pub fn new(program: &SimProgram) -> Self {
        let relations = &program.events.relations;
        Self::with_shares(relations, if has_state_events(program) { N_WEIGHTS } else { 0 })
    }

    /// A search for changes of relations alone.
    pub fn of_bounds(relations: &IdVec<RelationId, Relation>) -> Self {
        CrossingSearch { stops_at_zeno: false, is_of_bounds: true, ..Self::with_shares(relations, 0) }
    }

    fn with_shares(relations: &IdVec<RelationId, Relation>, n_shares: usize) -> Self {
        let watch =
            |op| Watch { op, memory: false, epsilon: 0.0, heads_for_change: false, hysteresis: 0.0, is_masked: false };
        let weights = std::iter::repeat_n(watch(RelationOp::Greater), n_shares);
        let n = relations.len() + n_shares;
        CrossingSearch {
            watches: relations.values().map(|r| watch(r.op)).chain(weights).collect(),
            farthest: vec![0.0; n],
            is_slide: false,
            at_rest: Vec::new(),
            variation: vec![f64::INFINITY; n],
            stops_at_zeno: true,
            is_of_bounds: false,
            z: vec![0.0; n],
            scale: vec![0.0; n],
            extent: vec![0.0; n],
            armed_at: 0.0,
            jumped: false,
            last: None,
            fired: Vec::new(),
            tunnelled: Vec::new(),
            evaluations: 0,
            spare: Vec::new(),
        }
    }

    /// Is a function with the value `z` and operands of the magnitude `scale` near its threshold, where a search that begins there must know
    /// which way it goes? By relation.
    pub fn is_near(&self, i: usize, z: f64, scale: f64) -> bool {
        self.watches.get(i).is_some_and(|w| z.abs() <= w.hysteresis.max(RELATION_BAND * scale))
    }

    /// The largest value of a function so far, `z` included.
    pub fn farthest(&self, i: usize, z: f64) -> f64 {
        self.farthest.get(i).map_or(f64::INFINITY, |farthest| farthest.max(z.abs()))
    }

    /// Begins to watch after an event or the start. Masked relations are not watched until the next event.
    pub fn arm(&mut self, restart: &Restart, masked: &[RelationId]) {
        let &Restart { t, memory, now, scale, soon, jumped, tight, slack } = restart;
        self.armed_at = t;
        self.jumped = jumped;
        self.is_slide = slack > 0.0;
        self.variation.fill(f64::INFINITY);
        for (i, watch) in self.watches.iter_mut().enumerate() {
            watch.memory = memory[i];
            let epsilon = match watch.hysteresis {
                0.0 => tight[i].min(RELATION_BAND * scale[i]),
                hysteresis => hysteresis.max(RELATION_BAND * scale[i]),
            };
            // Moved to the other side of its threshold where the states were put back on those that are slid along.
            let is_moved = watch.op.holds(now[i]) != watch.memory && now[i].abs() <= slack * scale[i];
            let epsilon = if is_moved { epsilon.max(2.0 * now[i].abs()) } else { epsilon };
            let is_near = now[i].abs() <= epsilon;
            watch.epsilon = if is_near { epsilon } else { 0.0 };
            watch.heads_for_change = is_near && watch.side() * (soon[i] - now[i]) < 0.0;
            watch.is_masked = false;
        }
        for id in masked {
            if let Some(watch) = self.watches.get_mut(id.index()) {
                (watch.is_masked, watch.epsilon, watch.heads_for_change) = (true, 0.0, false);
            }
        }
        for (extent, (z, scale)) in self.extent.iter_mut().zip(now.iter().zip(scale)) {
            *extent = z.abs() / scale;
        }
        self.begin_at(t, now);
        let watched = self.watches.iter().zip(&self.farthest).enumerate();
        self.at_rest.clear();
        self.at_rest.extend(watched.filter(|(_, (w, farthest))| w.epsilon > 0.0 && **farthest == 0.0).map(|(i, _)| i));
    }

    /// Relations that have been exactly zero so far.
    pub fn at_rest(&self) -> &[usize] {
        &self.at_rest
    }

    /// The function of relation `i`, which was zero so far, moves: its magnitude makes its band no wider than this.
    pub fn narrow(&mut self, i: usize, band: f64) {
        if let Some(watch) = self.watches.get_mut(i).filter(|w| w.epsilon > 0.0) {
            watch.epsilon = watch.epsilon.min(band.max(watch.hysteresis));
        }
        self.at_rest.retain(|k| *k != i);
    }

    /// Relations that keep their values at an event, whose functions are `z` there, because whether they hold is rounding:
    /// - those that have been at their thresholds since the last event and have not changed;
    /// - those that change only beyond a threshold which the event is on, because another relation changes there already: where `v > 0` ends,
    ///   `v < 0` does not hold yet. Whether it ever will is for the equations after the event to say.
    pub fn held(&self, program: &SimProgram, kind: EventKind, z: impl Fn(&Relation) -> f64) -> Vec<Held> {
        let has_fired = |i: usize| kind == EventKind::State && self.fired.contains(&i);
        let changes_at_zero = |w: &Watch| w.op.holds(0.0) != w.memory;
        let ends: Vec<f64> = program
            .events
            .relations
            .values()
            .zip(&self.watches)
            .enumerate()
            .filter(|(i, (_, w))| has_fired(*i) && w.epsilon == 0.0 && changes_at_zero(w))
            .map(|(_, (r, _))| z(r).abs())
            .collect();
        let held = |(i, (r, w)): (usize, (&Relation, &Watch))| {
            let here = z(r).abs();
            // A function that jumps is not on its threshold, whatever it has in common with another one.
            let is_there = self.scale.get(i).is_some_and(|scale| here <= WIDEST_BAND * scale);
            let band = match has_fired(i) {
                false => w.epsilon,
                true if is_there && w.epsilon == 0.0 && !changes_at_zero(w) && ends.contains(&here) => 2.0 * here,
                true => 0.0,
            };
            (band > 0.0 && !w.is_masked).then_some(Held { memory: r.memory, value: w.memory, band })
        };
        program.events.relations.values().zip(&self.watches).enumerate().filter_map(held).collect()
    }

    /// Is this relation at its threshold and about to change back?
    pub fn returns(&self, id: RelationId) -> bool {
        self.watches.get(id.index()).is_some_and(|w| w.epsilon > 0.0 && w.heads_for_change)
    }

    /// From the next arming on, z of relation `i` up to this counts as zero.
    pub fn set_hysteresis(&mut self, i: usize, z: f64) {
        if let Some(watch) = self.watches.get_mut(i).filter(|_| z.is_finite()) {
            watch.hysteresis = watch.hysteresis.max(z);
        }
    }

    /// Widens the band around zero of relation `i`, whose operands have this magnitude, within reason.
    pub fn widen(&mut self, i: usize, scale: f64) {
        let now = self.watches.get(i).map_or(0.0, |w| w.hysteresis.max(RELATION_BAND * scale));
        self.set_hysteresis(i, (2.0 * now).min(WIDEST_BAND * scale));
    }

    /// Widens the bands of the relations whose sign changed in the bracket found last.
    pub fn widen_fired(&mut self) {
        for i in std::mem::take(&mut self.fired) {
            self.widen(i, self.scale.get(i).copied().unwrap_or(1.0));
        }
    }

    /// Relations seen to change during integration, but not at the event, whose memory before and after it this is, may go as far again.
    /// `is_progress`: the last such event is some time ago.
    pub fn widen_unconfirmed(&mut self, program: &SimProgram, before: &[f64], after: &[f64], is_progress: bool) {
        let at = |memory: &[f64], slot: SlotId| memory.get(slot.index()).copied().unwrap_or(f64::NAN);
        let mut is_any = false;
        for (i, relation) in program.events.relations.values().enumerate() {
            let z = at(before, relation.crossing);
            if relation.op.holds(z) != (at(after, relation.memory) != 0.0) {
                // Where the equations leave open how a load is shared the event has moved it away from this threshold. Many
                // such events follow the limits of all that share it, one long violation would miss the last of them.
                let is_put_right = is_progress && at(after, relation.crossing).abs() <= PUT_RIGHT * z.abs();
                let most = if is_put_right { LARGEST_SHIFT * at(after, relation.scale) } else { f64::INFINITY };
                self.set_hysteresis(i, (2.0 * z.abs()).min(most));
                is_any = true;
            }
        }
        // The search saw a change that the event did not see even before it was settled.
        if !is_any {
            self.widen_fired();
        }
    }

    /// Takes the functions at the point of an event that another search has found: which relations have changed there.
    pub fn note_fired(&mut self, z: &[f64], scale: &[f64]) {
        self.scale.copy_from_slice(scale);
        self.fired.clear();
        self.fired.extend(self.watches.iter().zip(z).enumerate().filter(|(_, (w, z))| w.g(**z) < 0.0).map(|(i, _)| i));
    }

    /// At an event that another search has found: relations at the far ends of their bands have changed too. Evaluated again a function
    /// differs by rounding, and so close to zero it may have the other sign for the other search, which would miss the change.
    pub fn note_nearly_fired(&mut self, z: &[f64]) {
        let is_at_end =
            |w: &Watch, z: f64| w.epsilon > 0.0 && !w.is_masked && (0.0..END_OF_BAND * w.epsilon).contains(&w.g(z));
        let nearly = self.watches.iter().zip(z).enumerate().filter(|(_, (w, z))| is_at_end(w, **z)).map(|(i, _)| i);
        self.fired.extend(nearly);
    }

    /// The relation closest to its change, if it is there but for the errors of loops that its operands come from: the one that has changed
    /// where another search has found an event at which nothing changes here. That search sees shifted functions: of two relations about one
    /// value, at the end of the band of one the other is as far from changing back as the band is wide.
    pub fn nearest(&self, z: &[f64], scale: &[f64]) -> Option<usize> {
        let watched = self.watches.iter().zip(z).zip(scale).enumerate().filter(|(_, ((w, _), _))| !w.is_masked);
        let distances = watched.map(|(i, ((w, z), scale))| (w.g(*z).abs() / scale.max(f64::MIN_POSITIVE), i));
        let nearest = distances.min_by(|(a, _), (b, _)| a.total_cmp(b));
        nearest.filter(|(distance, _)| *distance <= ERROR_OF_LOOPS).map(|(_, i)| i)
    }

    /// What another search shall watch instead: z of a relation where it is positive if the remembered value belongs to positive z, shifted
    /// as here, so that its sign changes where the relation does. The function of a masked relation does not move.
    pub fn indicator(&self, i: usize, z: f64) -> f64 {
        self.watches.get(i).map_or(1.0, |w| w.side() * if w.is_masked { 1.0 } else { w.g(z) })
    }

    /// When the search was armed last.
    pub fn armed_at(&self) -> f64 {
        self.armed_at
    }

    /// Has the relation changed where its function is `z`?
    pub fn has_changed(&self, i: usize, z: f64) -> bool {
        self.watches.get(i).is_some_and(|w| w.g(z) < 0.0)
    }

    /// Relations whose thresholds were passed without a change since this was asked last, and when.
    pub fn take_tunnelled(&mut self) -> (f64, Vec<usize>) {
        (self.armed_at, std::mem::take(&mut self.tunnelled))
    }

    /// Have the functions of these relations been smaller than this part of their operands since the search was armed?
    pub fn have_been_within(&self, part: f64, relations: &[RelationId]) -> bool {
        relations.iter().all(|id| self.extent.get(id.index()).is_some_and(|extent| *extent <= part))
    }

    /// Relations whose sign changed in the bracket found last.
    pub fn fired(&self) -> &[usize] {
        &self.fired
    }

    /// The next search begins with a new look.
    pub fn forget(&mut self) {
        let last = self.last.take();
        self.drop_points(last);
    }

    /// The functions at `t`, where their values are `z`.
    fn point(&mut self, t: f64, z: &[f64]) -> Sampled {
        let mut g = self.spare.pop().unwrap_or_default();
        g.clear();
        g.extend(self.watches.iter().zip(z).map(|(w, &z)| w.g(z)));
        if !self.is_slide {
            self.farthest.iter_mut().zip(z).for_each(|(farthest, z)| *farthest = farthest.max(z.abs()));
        }
        Sampled { t, g }
    }

    /// The functions at `t`, where they have just been evaluated.
    fn point_here(&mut self, t: f64) -> Sampled {
        let z = std::mem::take(&mut self.z);
        let point = self.point(t, &z);
        self.z = z;
        point
    }

    /// The values that have just been evaluated.
    fn copy_of_z(&mut self) -> Vec<f64> {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clone_from(&self.z);
        copy
    }

    /// Keeps the storage of points that are not needed any more.
    fn drop_points(&mut self, points: impl IntoIterator<Item = Sampled>) {
        self.spare.extend(points.into_iter().map(|point| point.g));
    }

    /// Is it certain without another look that nothing changes until `to`, where the functions have the values `z`?
    pub fn is_quiet(&mut self, program: &SimProgram, from: f64, to: f64, z: &[f64]) -> Result<bool, Failure> {
        let Some(first) = self.last.take_if(|last| last.t == from) else { return Ok(false) };
        let end = self.point(to, z);
        if end.least() < 0.0 || !self.is_far(&first, &end) {
            self.last = Some(first);
            self.drop_points([end]);
            return Ok(false);
        }
        self.extent.fill(f64::INFINITY);
        self.note_variation(&first, &end);
        self.leave_band(program, z)?;
        self.last = Some(end);
        self.drop_points([first]);
        Ok(true)
    }

    /// The functions have the values `z` where the search begins.
    fn begin_at(&mut self, t: f64, z: &[f64]) {
        self.forget();
        self.last = Some(self.point(t, z));
    }

    fn sample(&mut self, probe: &mut dyn Probe, t: f64) -> Result<Sampled, Failure> {
        self.evaluations += 1;
        probe.crossings(t, &mut self.z, &mut self.scale)?;
        for (extent, (z, scale)) in self.extent.iter_mut().zip(self.z.iter().zip(&self.scale)) {
            *extent = extent.max(z.abs() / scale);
        }
        Ok(self.point_here(t))
    }

    /// How a relation is watched; `None` if it is masked.
    pub fn watched(&self, i: usize) -> Option<Watched> {
        let watch = self.watches.get(i).filter(|w| !w.is_masked)?;
        Some(Watched { op: watch.op, memory: watch.memory, shift: watch.epsilon })
    }

    /// The first change between two points, if relations have changed at the second. Shifts end where the first one is beyond them.
    pub fn change_between(
        &mut self,
        probe: &mut dyn Probe,
        program: &SimProgram,
        before: f64,
        after: f64,
    ) -> Result<Option<Bracket>, Failure> {
        let first = self.sample(probe, before)?;
        let z = self.copy_of_z();
        self.drop_points([first]);
        self.leave_band(program, &z)?;
        let first = self.point(before, &z);
        self.spare.push(z);
        let second = self.sample(probe, after)?;
        let is_change = second.least() < 0.0;
        let located = if is_change { Some(self.locate(probe, &first, &second)?) } else { None };
        if is_change {
            self.forget();
        }
        self.drop_points([first, second]);
        Ok(located)
    }

    /// The first change in `from..=to`, if there is one. Between two looks lies at most `longest`.
    pub fn first_change(
        &mut self,
        probe: &mut dyn Probe,
        program: &SimProgram,
        from: f64,
        to: f64,
        longest: f64,
    ) -> Result<Option<Bracket>, Failure> {
        if self.watches.is_empty() || to <= from {
            return Ok(None);
        }
        let first = match self.last.take() {
            Some(last) if last.t == from => last,
            _ => self.sample(probe, from)?,
        };
        let end = self.sample(probe, to)?;
        let end_z = self.copy_of_z();
        let n_looks = ((to - from) / longest).ceil().clamp(1.0, MOST_LOOKS) as usize;
        if end.least() >= 0.0 && n_looks == 1 && self.is_far(&first, &end) {
            self.note_variation(&first, &end);
            self.leave_band(program, &end_z)?;
            self.last = Some(end);
            self.drop_points([first]);
            self.spare.push(end_z);
            return Ok(None);
        }
        if let Some(point) = self.look_after_restart(probe, &first, to)? {
            return self.locate(probe, &first, &point).map(Some);
        }
        self.first_change_between(probe, program, first, (end, end_z), n_looks.max(N_INTERIOR + 1))
    }

    /// The first change between two points with `n_parts - 1` looks between them.
    fn first_change_between(
        &mut self,
        probe: &mut dyn Probe,
        program: &SimProgram,
        first: Sampled,
        (end, end_z): (Sampled, Vec<f64>),
        n_parts: usize,
    ) -> Result<Option<Bracket>, Failure> {
        let (from, to) = (first.t, end.t);
        let mut end = Some((end, end_z));
        let mut begin = self.spare.pop().unwrap_or_default();
        begin.clone_from(&first.g);
        let (mut before_last, mut last) = (None, first);
        for k in 1..=n_parts {
            let t = from + (to - from) * k as f64 / n_parts as f64;
            let (point, z) = match if k == n_parts { end.take() } else { None } {
                Some(end) => end,
                None => (self.sample(probe, t)?, self.copy_of_z()),
            };
            if point.least() < 0.0 {
                let located = self.locate(probe, &last, &point)?;
                self.drop_points([last, point].into_iter().chain(before_last).chain(end.map(|end| end.0)));
                self.spare.extend([z, begin]);
                return Ok(Some(located));
            }
            // A dip before this point comes first; the band is left only if there was none.
            if let Some(before) = &before_last
                && let Some(low) = self.find_dip(probe, before, &last, &point)?
            {
                return self.locate(probe, before, &low).map(Some);
            }
            self.leave_band(program, &z)?;
            self.drop_points(before_last.replace(std::mem::replace(&mut last, point)));
            self.spare.push(z);
        }
        for (variation, (a, b)) in self.variation.iter_mut().zip(begin.iter().zip(&last.g)) {
            *variation = (a - b).abs();
        }
        self.drop_points(before_last);
        self.spare.push(begin);
        self.last = Some(last);
        Ok(None)
    }

    /// A function that starts in the band and heads for the change crosses right away, and may be back at the first
    /// interior point: a look at ever earlier points.
    fn look_after_restart(
        &mut self,
        probe: &mut dyn Probe,
        first: &Sampled,
        to: f64,
    ) -> Result<Option<Sampled>, Failure> {
        if first.t != self.armed_at || !self.watches.iter().any(|w| w.epsilon > 0.0 && w.heads_for_change) {
            return Ok(None);
        }
        let mut ahead = (to - first.t) / (N_INTERIOR + 1) as f64;
        while first.t + ahead > first.t {
            let point = self.sample(probe, first.t + ahead)?;
            if point.least() < 0.0 {
                return Ok(Some(point));
            }
            self.drop_points([point]);
            ahead *= 0.25;
        }
        Ok(None)
    }

    /// Are all functions far from zero, compared with how much they change?
    fn is_far(&self, a: &Sampled, b: &Sampled) -> bool {
        (0..self.watches.len()).all(|i| {
            let moved = (a.g[i] - b.g[i]).abs().max(self.variation[i]);
            let watch = self.watches[i];
            let is_restart = watch.epsilon > 0.0 && !self.is_of_bounds;
            !is_restart && a.g[i].min(b.g[i]) > FAR * moved
        })
    }

    fn note_variation(&mut self, a: &Sampled, b: &Sampled) {
        for (i, v) in self.variation.iter_mut().enumerate() {
            // Half of what was, so that one flat step does not make it forget.
            *v = (a.g[i] - b.g[i]).abs().max(0.5 * *v);
        }
    }

    /// Ends shifts where the crossing functions have the values `z`.
    pub fn leave_band(&mut self, program: &SimProgram, z: &[f64]) -> Result<(), Failure> {
        for (i, watch) in self.watches.iter_mut().enumerate() {
            if watch.epsilon == 0.0 || z[i].abs() <= 2.0 * watch.epsilon {
                continue;
            }
            if watch.heads_for_change && self.jumped && self.stops_at_zeno {
                let relation = program.events.relations.get(RelationId::from_usize(i));
                let text = relation.map_or(String::new(), |r| r.text.clone());
                let failure = Failure::new(self.armed_at, SimErrorKind::Zeno { relation: text, accumulation: None });
                return Err(relation.map_or(failure.clone(), |r| failure.at(r.span)));
            }
            if watch.heads_for_change && self.jumped {
                self.tunnelled.push(i);
            }
            watch.epsilon = 0.0;
        }
        Ok(())
    }

    fn locate(&mut self, probe: &mut dyn Probe, before: &Sampled, after: &Sampled) -> Result<Bracket, Failure> {
        let bracket = Bracket { before: before.t, after: after.t };
        // At a restart the function may be exactly on the edge; that counts as "as remembered".
        let value_before = before.least().max(f64::MIN_POSITIVE);
        let mut near: Option<Sampled> = None;
        let mut scale = self.spare.pop().unwrap_or_default();
        let found = locate_sign_change(bracket, value_before, after.least(), &mut |t| {
            let sampled = self.sample(probe, t)?;
            let least = sampled.least();
            let unused = if least < 0.0 {
                scale.clone_from(&self.scale);
                near.replace(sampled)
            } else {
                Some(sampled)
            };
            self.drop_points(unused);
            Ok(least)
        })?;
        let at_end = near.as_ref().unwrap_or(after);
        self.fired.clear();
        self.fired.extend(at_end.g.iter().enumerate().filter(|(_, g)| **g < 0.0).map(|(i, _)| i));
        let found = match near.as_ref().filter(|sampled| sampled.t == found.after) {
            Some(sampled) => self.gather(probe, found, sampled, &scale, after.t),
            None => Ok(found),
        };
        self.drop_points(near);
        self.spare.push(scale);
        let found = found?;
        match self.beyond_shift(probe, before.t, found.before)? {
            Some(point) => self.locate(probe, &point, after),
            None => Ok(found),
        }
    }

    /// A point between these two at which a function that has fired is beyond its shift, which ends there: it has left the band around its
    /// threshold and comes back, and the shift would move the time of that.
    fn beyond_shift(&mut self, probe: &mut dyn Probe, from: f64, to: f64) -> Result<Option<Sampled>, Failure> {
        // What a jump of states sends back to its threshold is for `leave_band` to judge.
        let jumped = self.jumped;
        let is_shifted = |w: &Watch| w.epsilon > 0.0 && !(w.heads_for_change && jumped);
        let middle = from + 0.5 * (to - from);
        if !self.fired.iter().any(|&i| is_shifted(&self.watches[i])) || middle <= from || middle >= to {
            return Ok(None);
        }
        let point = self.sample(probe, middle)?;
        let is_kept = point.least() >= 0.0;
        self.drop_points([point]);
        let mut is_beyond = false;
        for &i in self.fired.iter().filter(|_| is_kept) {
            let watch = &mut self.watches[i];
            if is_shifted(watch) && watch.side() * self.z[i] > 2.0 * watch.epsilon {
                (watch.epsilon, is_beyond) = (0.0, true);
            }
        }
        Ok(if is_beyond { Some(self.point_here(middle)) } else { None })
    }

    /// Relations that change at the same time do so at times that differ by rounding. Where others are about to change at
    /// the end of the bracket, it is moved by a few units in the last place if they have changed there.
    fn gather(
        &mut self,
        probe: &mut dyn Probe,
        found: Bracket,
        there: &Sampled,
        scale: &[f64],
        limit: f64,
    ) -> Result<Bracket, Failure> {
        let is_about_to = |(g, scale): (&f64, &f64)| *g >= 0.0 && *g <= TOGETHER_BAND * scale;
        let later = found.after + TOGETHER_ULPS * (found.after.abs().next_up() - found.after.abs());
        if later > limit || !there.g.iter().zip(scale).any(is_about_to) {
            return Ok(found);
        }
        let next = self.sample(probe, later)?;
        let changes = || there.g.iter().zip(&next.g);
        let stay = changes().all(|(here, next)| *here >= 0.0 || *next < 0.0);
        let follow = changes().any(|(here, next)| *here >= 0.0 && *next < 0.0);
        let found = if stay && follow { Bracket { after: later, ..found } } else { found };
        self.drop_points([next]);
        Ok(found)
    }

    /// A point with a changed relation between `a` and `c`, if the values suggest a minimum near zero.
    fn find_dip(
        &mut self,
        probe: &mut dyn Probe,
        a: &Sampled,
        b: &Sampled,
        c: &Sampled,
    ) -> Result<Option<Sampled>, Failure> {
        for i in 0..self.watches.len() {
            let points = [a, b, c].map(|point| (point.t, point.g[i]));
            if dip(points).is_none() {
                continue;
            }
            if let Some(low) = self.search_minimum(probe, i, points)? {
                return Ok(Some(low));
            }
        }
        Ok(None)
    }

    /// A point with a changed relation, by parabolas through the three lowest neighbours, as long as these suggest a minimum near zero.
    fn search_minimum(
        &mut self,
        probe: &mut dyn Probe,
        i: usize,
        mut points: [(f64, f64); 3],
    ) -> Result<Option<Sampled>, Failure> {
        for _ in 0..MOST_DIP_STEPS {
            let Some(t) = dip(points) else { break };
            let point = self.sample(probe, t)?;
            if point.least() < 0.0 {
                return Ok(Some(point));
            }
            points = lowest_with(points, (t, point.g[i]));
            self.drop_points([point]);
        }
        Ok(None)
    }
}

/// Where three points of a function suggest a minimum between them that is small compared with each.
fn dip([(ta, ga), (tb, gb), (tc, gc)]: [(f64, f64); 3]) -> Option<f64> {
    // Newton's form of the parabola through the points.
    let (left, right) = ((gb - ga) / (tb - ta), (gc - gb) / (tc - tb));
    let curvature = (right - left) / (tc - ta);
    if curvature.is_nan() || curvature <= 0.0 {
        return None;
    }
    let t = 0.5 * (ta + tb) - 0.5 * left / curvature;
    if !(ta..=tc).contains(&t) {
        return None;
    }
    let least = ga + (t - ta) * (left + curvature * (t - tb));
    if least > SMALL_DIP * ga.min(gb).min(gc) {
        return None;
    }
    // Not where it has been looked already: half way to the farther neighbour instead.
    let apart = SAME_LOOK * (tc - ta);
    if [ta, tb, tc].iter().all(|known| (t - known).abs() > apart) {
        return Some(t);
    }
    let t = if tb - ta > tc - tb { 0.5 * (ta + tb) } else { 0.5 * (tb + tc) };
    (t > ta && t < tc && t != tb).then_some(t)
}

/// Three neighbours of four points, with the lowest of them in the middle if possible.
fn lowest_with(points: [(f64, f64); 3], new: (f64, f64)) -> [(f64, f64); 3] {
    let [a, b, c] = points;
    let four = if new.0 < b.0 { [a, new, b, c] } else { [a, b, new, c] };
    let is_left = four[0].1.min(four[1].1) <= four[2].1.min(four[3].1);
    if is_left { [four[0], four[1], four[2]] } else { [four[1], four[2], four[3]] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(op: RelationOp, memory: bool, epsilon: f64) -> Watch {
        Watch { op, memory, epsilon, heads_for_change: false, hysteresis: 0.0, is_masked: false }
    }

    #[test]
    fn the_sign_of_g_says_whether_the_relation_has_changed() {
        for op in [RelationOp::Less, RelationOp::LessEqual, RelationOp::Greater, RelationOp::GreaterEqual] {
            for memory in [false, true] {
                for z in [-1.0, -1e-300, 0.0, 1e-300, 1.0] {
                    let changed = op.holds(z) != memory;
                    assert_eq!(watch(op, memory, 0.0).g(z) < 0.0, changed, "{op:?} {memory} {z}");
                }
            }
        }
    }

    #[test]
    fn a_shift_favours_the_memory() {
        // h < 0 is remembered as true; it becomes false only above ε
        let w = watch(RelationOp::Less, true, 1e-3);
        assert!(w.g(0.0) > 0.0 && w.g(0.5e-3) > 0.0 && w.g(1.1e-3) < 0.0);
        let w = watch(RelationOp::Less, false, 1e-3);
        assert!(w.g(0.0) > 0.0 && w.g(-0.5e-3) > 0.0 && w.g(-1.1e-3) < 0.0);
    }

    /// One function that is zero all the time, and one that falls through zero at t = 0.5.
    struct FlatAndFalling;

    impl Probe for FlatAndFalling {
        fn crossings(&mut self, t: f64, z: &mut [f64], scale: &mut [f64]) -> Result<(), Failure> {
            z.copy_from_slice(&[0.0, 0.5 - t]);
            scale.fill(1.0);
            Ok(())
        }
    }

    fn search(watches: Vec<Watch>) -> CrossingSearch {
        let n = watches.len();
        CrossingSearch {
            watches,
            farthest: vec![0.0; n],
            is_slide: false,
            at_rest: Vec::new(),
            variation: vec![0.0; n],
            stops_at_zeno: true,
            is_of_bounds: false,
            z: vec![0.0; n],
            scale: vec![0.0; n],
            extent: vec![0.0; n],
            armed_at: 0.0,
            jumped: false,
            last: None,
            fired: Vec::new(),
            tunnelled: Vec::new(),
            evaluations: 0,
            spare: Vec::new(),
        }
    }

    #[test]
    fn the_relation_whose_sign_changed_is_blamed() {
        let mut search = search(vec![watch(RelationOp::Greater, false, 0.0), watch(RelationOp::Greater, true, 0.0)]);
        let before = search.sample(&mut FlatAndFalling, 0.0).expect("defined everywhere");
        let after = search.sample(&mut FlatAndFalling, 1.0).expect("defined everywhere");
        let found = search.locate(&mut FlatAndFalling, &before, &after).expect("a change");
        assert!((found.after - 0.5).abs() < 1e-12);
        search.widen_fired();
        assert!(search.watches[0].hysteresis == 0.0 && search.watches[1].hysteresis > 0.0, "{:?}", search.watches);
    }

    /// z > 0 is remembered as false and shifted by 1e-13: just inside of the end of its band it has changed for whoever says so, in the
    /// middle of the band it has not, and neither has a function without a shift.
    #[test]
    fn at_the_end_of_its_band_a_relation_has_changed_for_another_search() {
        let shifted = watch(RelationOp::Greater, false, 1e-13);
        let mut search = search(vec![shifted, shifted, watch(RelationOp::Greater, false, 0.0)]);
        let z = [1e-13 - 1e-16, 0.5e-13, -1e-16];
        search.note_fired(&z, &[1.0; 3]);
        assert!(search.fired().is_empty());
        search.note_nearly_fired(&z);
        assert_eq!(search.fired(), [0]);
    }

    /// Where v > 0 has ended v < 0 is still to come. Near the end of its band another search has seen that one change, not the first change
    /// back, though both have the same function.
    #[test]
    fn the_relation_closest_to_its_change_is_the_one_that_changed() {
        let ended = watch(RelationOp::Greater, false, 1e-13);
        let search = search(vec![ended, watch(RelationOp::Less, false, 1e-13), watch(RelationOp::Less, false, 0.0)]);
        assert_eq!(search.nearest(&[-0.8e-13, -0.8e-13, 1.0], &[1.0; 3]), Some(1));
        assert_eq!(search.nearest(&[0.5, 0.5, 0.5], &[1.0; 3]), None);
    }
}
