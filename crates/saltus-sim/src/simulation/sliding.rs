//! When the model begins to slide along thresholds, goes on after an event, and leaves them.
//!
//! In: relations that alternate, or a slide that an event has interrupted. Out: a slide along those thresholds that all sides point at,
//! or the region that is entered. What the regions are like is found by [`super::regions`].

use saltus_base::Index;
use saltus_program::{ModelFunctions, Moment, RelationId};

use super::regions::Around;
use super::{Phase, Simulation};
use crate::constants::{ERRORS_OFF_THRESHOLD, MOST_PROJECTIONS, MOVED_AWAY, NO_PROGRESS};
use crate::error::{Failure, SimErrorKind};
use crate::event;
use crate::options::ZenoPolicy;
use crate::record::EventKind;
use crate::sliding::{Outcome, Slide, nominal_values};
use crate::surfaces::{Meeting, Surfaces};

impl Simulation {
    /// The event at `t` is over. Where a relation has just changed and is about to change back, a slide begins; true if so.
    pub(super) fn slide_at_once(&mut self, t: f64, changed: &[RelationId]) -> Result<bool, Failure> {
        let may_slide = matches!(self.options.on_zeno, ZenoPolicy::Auto | ZenoPolicy::Slide);
        let returning: Vec<RelationId> = changed.iter().copied().filter(|id| self.driver.search.returns(*id)).collect();
        if !may_slide || returning.is_empty() || self.model.is_sliding() || self.driver.zeno.is_dismissed(&returning) {
            return Ok(false);
        }
        // The search has looked ahead.
        event::eval_continuous(&mut self.model, t)?;
        let attempt = self.slide_along_many(t, &returning, None)?;
        match attempt {
            Attempt::Slides => {
                self.schedule(t);
                self.write_event_row(t)?;
            }
            Attempt::Leaves => self.driver.zeno.dismiss(returning),
            Attempt::Unknown | Attempt::TooMany => {}
        }
        Ok(attempt == Attempt::Slides)
    }

    /// Relations that alternate: slides if that is possible. Otherwise rounding errors are larger than the band around
    /// the threshold, which is widened.
    pub(super) fn slide_or_widen(
        &mut self,
        t: f64,
        changed: &[RelationId],
        alternating: &[RelationId],
    ) -> Result<(), Failure> {
        if self.slide_along(t, changed, alternating)? {
            return Ok(());
        }
        let is_single = alternating == changed;
        // Several thresholds in turn are not rounding of one.
        for &id in changed.iter().filter(|_| is_single) {
            let Some(slot) = self.program.events.relations.get(id).map(|r| r.scale) else { continue };
            // The function may be another one on the other side, with operands that are larger by orders of magnitude.
            let scale = self.model.get(slot).min(self.value_before(slot));
            self.driver.search.widen(id.index(), scale);
        }
        Ok(())
    }

    /// Slides along the thresholds of relations that alternate, if all sides point at them; true if so.
    pub(super) fn slide_along(
        &mut self,
        t: f64,
        changed: &[RelationId],
        alternating: &[RelationId],
    ) -> Result<bool, Failure> {
        if alternating == changed && self.slide_along_one(t, changed) {
            return Ok(true);
        }
        match self.slide_along_many(t, alternating, None)? {
            Attempt::Slides => Ok(true),
            Attempt::TooMany => Err(self.too_many_thresholds(t, alternating)),
            Attempt::Leaves | Attempt::Unknown => Ok(false),
        }
    }

    /// Slides along the threshold of one of the relations that have just changed, if both its sides point at it and nothing else
    /// moves the others.
    fn slide_along_one(&mut self, t: f64, changed: &[RelationId]) -> bool {
        for &id in changed {
            let (before, after) = (self.driver.before.clone(), self.model.snapshot());
            let Some(slide) = Slide::between(&self.program, id, before, after) else { continue };
            if changed.len() > 1 && !self.is_one_threshold(changed) {
                return false;
            }
            if self.model.try_to_slide(slide).is_none() {
                continue;
            }
            self.tell_slide(t);
            return true;
        }
        false
    }

    /// Are the thresholds of these relations the same surface?
    fn is_one_threshold(&mut self, relations: &[RelationId]) -> bool {
        let nominal = nominal_values(&self.program);
        let Some((first, others)) = relations.split_first() else { return false };
        Surfaces::are_among(&mut self.model, others, &[*first], &nominal)
    }

    /// Slides along as many of these thresholds as all sides point at, coming from the shares of `last` and from the sides on which
    /// the relations were before the event.
    fn slide_along_many(&mut self, t: f64, relations: &[RelationId], last: Option<&Slide>) -> Result<Attempt, Failure> {
        let nominal = nominal_values(&self.program);
        let Some(meeting) = Meeting::find(&mut self.model, relations, &nominal) else { return Ok(Attempt::Unknown) };
        let (groups, checks) = match self.regions_around(t, &meeting, &nominal) {
            Around::Known(groups, checks) => (groups, checks),
            Around::Unknown => return Ok(Attempt::Unknown),
            Around::TooMany => return Ok(Attempt::TooMany),
        };
        let before = |id: RelationId| {
            let relation = self.program.events.relations.get(id)?;
            let is_above = relation.op.is_true_below() != (self.value_before(relation.memory) != 0.0);
            Some(f64::from(u8::from(is_above)))
        };
        let share = |&id: &RelationId| last.and_then(|slide| slide.share_of(id)).or_else(|| before(id)).unwrap_or(0.5);
        let from: Vec<f64> = meeting.relations.iter().map(share).collect();
        // Relations that alternate without end do so because of something that a point on the threshold does not show.
        let mut is_apart = last.is_some_and(Slide::is_apart);
        loop {
            let slide = Slide::new(&self.program, meeting.relations.clone(), groups.clone(), checks.clone());
            let Some(mut slide) = slide else { return Ok(Attempt::Unknown) };
            if is_apart && meeting.dependence.is_none() {
                slide.move_apart(meeting.surfaces.clone());
            }
            let now = self.model.snapshot();
            let status = slide.eval_regions(&mut self.model);
            self.model.restore(&now);
            if !status.is_ok() {
                return Ok(Attempt::Unknown);
            }
            let near = last.map_or_else(|| meeting.relations.clone(), |last| self.still_near(&slide, last));
            if near.is_empty() {
                return Ok(Attempt::Unknown);
            }
            if near.len() < meeting.relations.len() {
                return self.slide_along_many(t, &near, last);
            }
            let lands = slide.eval_on_thresholds(&mut self.model, &meeting.surfaces, &meeting.dependence.basis);
            self.model.restore(&now);
            if !lands {
                return Ok(Attempt::Unknown);
            }
            slide.set_shares(&from);
            let Ok(outcome) = slide.outcome(&self.program) else { return Ok(Attempt::Unknown) };
            if let Outcome::Partly(memory, kept) = outcome {
                self.enter(t, Outcome::Leaves(memory))?;
                return self.slide_along_many(t, &kept, last);
            }
            let slides = matches!(outcome, Outcome::Slides(_));
            // Without a slide before it the event has already settled where it goes on.
            if slides || last.is_some() {
                self.enter(t, outcome)?;
            }
            if slides {
                if self.put_on_thresholds(t, NO_PROGRESS * self.options.time_span())? == Place::Elsewhere {
                    self.model.end_slide();
                    self.model.restore(&now);
                    return Ok(Attempt::Unknown);
                }
                self.tell_slide(t);
                return Ok(Attempt::Slides);
            }
            if is_apart || last.is_some() {
                return Ok(Attempt::Leaves);
            }
            is_apart = true;
        }
    }

    /// Thresholds at which the model still is after an event: one that the event has moved away is not where the states are, and states do not
    /// follow it at once. Test: `SlidesToMovedThreshold.mo`.
    fn still_near(&self, slide: &Slide, last: &Slide) -> Vec<RelationId> {
        let (now, before) = (slide.distances(), last.distances());
        let is_near = |(id, z): (&RelationId, f64)| {
            let place = last.relations().iter().position(|known| known == id);
            let (Some(place), Some(relation)) = (place, self.program.events.relations.get(*id)) else { return true };
            let scale = self.model.get(relation.scale);
            let (left, right) = (self.value_before(relation.crossing), self.model.get(relation.crossing));
            let has_moved = (right - left).abs() > 0.5 * right.abs();
            !has_moved || z.abs() <= (MOVED_AWAY * before[place].abs()).max(self.options.tolerance * scale)
        };
        slide.relations().iter().zip(now).filter(|&pair| is_near(pair)).map(|(&id, _)| id).collect()
    }

    /// Goes where the fast motion around thresholds leads; true if it slides on.
    fn enter(&mut self, t: f64, outcome: Outcome) -> Result<bool, Failure> {
        let slides = match outcome {
            Outcome::Slides(slide) => {
                self.model.set_slide(slide);
                true
            }
            Outcome::Leaves(memory) | Outcome::Partly(memory, _) => {
                self.model.get_states(&mut self.work.x);
                self.model.restore(&memory);
                self.model.set_continuous(t, &self.work.x);
                false
            }
        };
        event::eval_continuous(&mut self.model, t)?;
        Ok(slides)
    }

    fn too_many_thresholds(&self, t: f64, relations: &[RelationId]) -> Failure {
        let span = relations.first().and_then(|&id| self.program.events.relations.get(id)).map(|r| r.span);
        let failure = Failure::new(t, SimErrorKind::TooManyThresholds { relations: self.texts(relations) });
        span.map_or(failure.clone(), |span| failure.at(span))
    }

    fn texts(&self, relations: &[RelationId]) -> String {
        let text = |&id: &RelationId| Some(format!("`{}`", self.program.events.relations.get(id)?.text));
        relations.iter().filter_map(text).collect::<Vec<_>>().join(", ")
    }

    /// An event has interrupted a slide: it goes on along thresholds at which the model still is, together with those of relations
    /// that have just changed. True if so.
    pub(super) fn resume_slide(&mut self, t: f64, last: &Slide, changed: &[RelationId]) -> Result<bool, Failure> {
        let mut relations = last.relations().to_vec();
        relations.extend(changed.iter().filter(|id| !last.relations().contains(id)));
        let attempt = self.slide_along_many(t, &relations, Some(last))?;
        if matches!(attempt, Attempt::Slides | Attempt::Leaves) {
            return Ok(attempt == Attempt::Slides);
        }
        // A relation that has changed for another reason than its threshold must not end the slide.
        let is_alone = relations.len() == last.relations().len();
        Ok(!is_alone && self.slide_along_many(t, last.relations(), Some(last))? == Attempt::Slides)
    }

    /// A side of a threshold along which the model slid does not point at it any more: on without it.
    pub(super) fn leave(&mut self, t: f64, slide: Slide) -> Result<bool, Failure> {
        self.write_event_row(t)?;
        self.skip_output_point(t);
        self.remember_memory();
        let relations = slide.relations().to_vec();
        // If no combination lasts, it goes on in the region that had the largest part.
        let slides_on = match slide.clone().outcome(&self.program) {
            Ok(Outcome::Partly(memory, kept)) => {
                self.enter(t, Outcome::Leaves(memory))?;
                self.slide_along_many(t, &kept, Some(&slide))? == Attempt::Slides
            }
            Ok(outcome) => self.enter(t, outcome)?,
            Err(_) => false,
        };
        // Relations have the values of the region that is entered; the next event agrees with the rest.
        self.model.show(Moment::Sliding);
        self.record(t, EventKind::Leave, Vec::new(), 0, true)?;
        if let Some(events) = self.driver.zeno.count(t, &self.options) {
            return Err(self.chattering(t, &relations, events));
        }
        if slides_on {
            self.tell_slide(t);
        }
        self.schedule(t);
        self.start_integrator(t, false, false)?;
        Ok(true)
    }

    fn tell_slide(&mut self, t: f64) {
        let Some(slide) = self.model.slide() else { return };
        let relations = slide.relations().to_vec();
        let texts = self.texts(&relations);
        let note = if relations.len() == 1 {
            let (below, above) = slide.rates();
            format!(
                "slides along the threshold of {texts}: its difference changes by {below:.3e} a second below and by {above:.3e} above"
            )
        } else {
            format!("slides along the thresholds of {texts} at the same time")
        };
        self.driver.zeno.has_slid(&relations);
        self.model.show(Moment::Sliding);
        self.note_event(&note);
        if !self.driver.notes.iter().any(|(_, known)| known.contains(&format!(" of {texts}"))) {
            self.driver.notes.push((t, note));
        }
    }

    /// The error of the integrator moves the model off thresholds that are not planes: back to where their functions are zero. Where
    /// there is no way back the model is not at the threshold any more, and an event says on which side it is.
    pub(super) fn stay_on_thresholds(&mut self, from: f64, t: f64) -> Result<(), Failure> {
        if !self.model.is_sliding() {
            return Ok(());
        }
        self.go_to(t)?;
        if !self.model.slide_adds_up() {
            let relations = self.model.slide().map_or(Vec::new(), |slide| slide.relations().to_vec());
            return Err(self.too_many_thresholds(t, &relations));
        }
        match self.put_on_thresholds(t, t - from)? {
            Place::There => Ok(()),
            Place::MovedThere => self.start_integrator(t, true, false),
            Place::Elsewhere => {
                self.model.end_slide();
                let is_restarted = self.event(t, EventKind::State)?;
                // The slide is over, whether the event has changed anything or not.
                if is_restarted || self.driver.phase == Phase::Over {
                    return Ok(());
                }
                self.start_integrator(t, false, false)
            }
        }
    }

    /// Are the functions of the thresholds as close to zero as the error of the integration lets them be? Moving the states back then would gain nothing, and a method of
    /// several steps begins anew after it: with steps so short that the next one is off again.
    fn is_within_error(&self) -> bool {
        let Some(slide) = self.model.slide() else { return true };
        let allowed = ERRORS_OFF_THRESHOLD * self.options.tolerance;
        slide.relations().iter().zip(slide.distances()).all(|(id, z)| {
            let relation = self.program.events.relations.get(*id);
            relation.is_some_and(|r| z.abs() <= allowed * self.model.get(r.scale))
        })
    }

    /// Moves the states to where the functions of the thresholds are zero, if they are further from it than the tolerance allows in
    /// a step `h`, and than the error of many steps.
    fn put_on_thresholds(&mut self, t: f64, h: f64) -> Result<Place, Failure> {
        let drift = |simulation: &Simulation| simulation.model.slide().map_or(0.0, |s| s.drift(h));
        let allowed = self.options.tolerance;
        if drift(self) <= allowed || self.is_within_error() {
            return Ok(Place::There);
        }
        // In the region that is left over the functions are not suspended.
        let Some(slide) = self.model.end_slide() else { return Ok(Place::There) };
        let relations = slide.relations().to_vec();
        let found = Surfaces::find(&mut self.model, &relations, &nominal_values(&self.program));
        self.model.set_slide(slide);
        for _ in 0..MOST_PROJECTIONS {
            let Some((surfaces, own)) = &found else { break };
            if drift(self) <= allowed * allowed.sqrt() {
                break;
            }
            let all: Vec<f64> = self.model.slide().map_or(Vec::new(), |s| s.distances());
            let z = |id: &RelationId| relations.iter().position(|r| r == id).map_or(0.0, |i| all[i]);
            let z: Vec<f64> = own.iter().map(z).collect();
            self.model.get_states(&mut self.work.x);
            surfaces.move_back(&z, &mut self.work.x);
            self.model.set_continuous(t, &self.work.x);
            event::eval_continuous(&mut self.model, t)?;
        }
        Ok(if drift(self) <= allowed { Place::MovedThere } else { Place::Elsewhere })
    }
}

/// What came of trying to slide.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Attempt {
    Slides,
    /// All thresholds are left.
    Leaves,
    /// The regions around the point are not known, or no combination of them lasts.
    Unknown,
    /// More thresholds influence each other than can be combined.
    TooMany,
}

/// Where a model is that should be on thresholds.
#[derive(PartialEq)]
enum Place {
    There,
    MovedThere,
    Elsewhere,
}
