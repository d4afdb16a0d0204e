//! Partial derivatives at the present point, relations frozen.

use saltus_program::{SlotId, SlotKind};

use super::{Instance, Phase, Run, Severity};
use crate::references::Target;

impl Instance {
    /// Slots of all elements of these variables.
    pub(super) fn slots_of(&mut self, references: &[u32]) -> Result<Vec<SlotId>, Severity> {
        let mut slots = Vec::with_capacity(references.len());
        for &reference in references {
            match self.references.target(reference) {
                Some(Target::Time) => slots.push(self.model.program().memory.time),
                Some(Target::Slot(slot)) => slots.push(slot),
                Some(Target::Group(group)) => slots.extend_from_slice(group),
                Some(Target::Indicator(i)) => match self.model.program().events.relations.values().nth(i) {
                    Some(relation) => slots.push(relation.crossing),
                    None => {
                        return Err(
                            self.say(Severity::Error, format!("event indicator {} is not differentiable", i + 1))
                        );
                    }
                },
                Some(Target::Text(_) | Target::Clock(_)) | None => {
                    return Err(
                        self.say(Severity::Error, format!("the value reference {reference} is not that of a number"))
                    );
                }
            }
        }
        Ok(slots)
    }

    fn knowns_of(&mut self, references: &[u32]) -> Result<Vec<SlotId>, Severity> {
        let slots = self.slots_of(references)?;
        let program = self.model.program();
        let is_known = |slot: &SlotId| {
            let kind = program.memory.slots.get(*slot).map(|s| s.kind);
            matches!(kind, Some(SlotKind::State | SlotKind::Input | SlotKind::Time))
        };
        if let Some(&other) = slots.iter().find(|slot| !is_known(slot)) {
            let name = program.memory.slot_name(other).into_owned();
            let text = format!("`{name}` is neither a state nor an input: there are no derivatives by it");
            return Err(self.say(Severity::Error, text));
        }
        Ok(slots)
    }

    /// Derivatives of the unknowns along the direction that the seeds of the knowns give.
    pub fn directional(&mut self, unknowns: &[u32], knowns: &[u32], seed: &[f64]) -> Result<Vec<f64>, Severity> {
        let (unknowns, knowns) = (self.slots_of(unknowns)?, self.knowns_of(knowns)?);
        if knowns.len() != seed.len() {
            return Err(self.say(Severity::Error, format!("{} seeds for {} knowns", seed.len(), knowns.len())));
        }
        let seeds: Vec<(SlotId, f64)> = knowns.into_iter().zip(seed.iter().copied()).collect();
        self.differentiate(&unknowns, &[seeds]).map(|mut columns| columns.pop().unwrap_or_default())
    }

    /// For each known the sum of its derivatives of the unknowns, each times its seed.
    pub fn adjoint(&mut self, unknowns: &[u32], knowns: &[u32], seed: &[f64]) -> Result<Vec<f64>, Severity> {
        let (unknowns, knowns) = (self.slots_of(unknowns)?, self.knowns_of(knowns)?);
        if unknowns.len() != seed.len() {
            return Err(self.say(Severity::Error, format!("{} seeds for {} unknowns", seed.len(), unknowns.len())));
        }
        let directions: Vec<Vec<(SlotId, f64)>> = knowns.iter().map(|&slot| vec![(slot, 1.0)]).collect();
        let columns = self.differentiate(&unknowns, &directions)?;
        Ok(columns.iter().map(|column| column.iter().zip(seed).map(|(d, s)| d * s).sum()).collect())
    }

    fn differentiate(
        &mut self,
        unknowns: &[SlotId],
        directions: &[Vec<(SlotId, f64)>],
    ) -> Result<Vec<Vec<f64>>, Severity> {
        if matches!(self.book.phase, Phase::Instantiated | Phase::Initialisation | Phase::Failed) {
            return Err(self.refuse("a derivative"));
        }
        let along = |functions: &mut dyn saltus_program::ModelFunctions| {
            let columns = directions.iter().map(|seeds| saltus::linearize::directional(functions, unknowns, seeds));
            columns.collect::<Vec<Vec<f64>>>()
        };
        let found = match &mut self.run {
            Run::New => return Err(self.refuse("a derivative")),
            Run::Exchange(exchange) => exchange.examine(along),
            Run::Simulation(simulation) => simulation.examine(along),
        };
        found.map_err(|error| self.discard(&error))
    }
}
