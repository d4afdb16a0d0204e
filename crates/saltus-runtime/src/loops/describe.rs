//! Says why a loop has no solution: position of its switches, equations with residuals, unknowns with values.

use saltus_base::Span;
use saltus_numerics::NewtonError;
use saltus_program::blame::number;
use saltus_program::{Details, EvalFailure, SimProgram, SlotId};

use super::{FARTHEST, LoopWork, NoSolution, Why};
use crate::linear::NotLinear;

/// Unknowns named in a message.
const MOST_NAMED: usize = 8;

impl LoopWork {
    /// What is wrong, in words, with the equation that is violated most.
    pub fn describe(&self, program: &SimProgram) -> EvalFailure {
        EvalFailure { is_unsolved: true, ..self.describe_unsolved(program) }
    }

    fn describe_unsolved(&self, program: &SimProgram) -> EvalFailure {
        let name = |slot: SlotId| program.memory.slot_name(slot).into_owned();
        match self.why {
            Why::Mixed { tried } => {
                let slots = self.l.discrete.iter().flat_map(|d| &d.stores).map(|s| name(s.1));
                let message = format!(
                    "{}no values of {} agree with the equations they switch ({tried} combinations tried)",
                    self.reals.switches.position(program),
                    listed(slots.collect())
                );
                let span = self.l.discrete.as_ref().map_or(self.l.body.span, |d| d.span);
                let mut failure = EvalFailure::new(message, span);
                failure.details.labels = self.equations();
                failure
            }
            why => {
                let reason = match why {
                    Why::Reals(NoSolution::Linear(NotLinear::CannotEvaluate))
                    | Why::Reals(NoSolution::Newton(NewtonError::StartFails)) => {
                        "its equations cannot be evaluated at these values"
                    }
                    Why::Reals(NoSolution::Newton(NewtonError::JacobianFails(_))) => {
                        "its derivatives cannot be evaluated at these values"
                    }
                    Why::Reals(NoSolution::Inaccurate) => {
                        "rounding errors grow from variable to variable, so that what was found does not fulfil the equations"
                    }
                    Why::Reals(NoSolution::RanAway) => "the iteration runs away to infinity",
                    Why::Reals(NoSolution::Linear(NotLinear::Contradiction)) => "the equations contradict each other",
                    Why::Reals(NoSolution::Newton(NewtonError::TooManyIterations(_))) => {
                        "the iteration does not converge"
                    }
                    _ => "no step brings the equations closer to their solution",
                };
                self.describe_reals(program, reason)
            }
        }
    }

    fn describe_reals(&self, program: &SimProgram, reason: &str) -> EvalFailure {
        let kind = if self.l.is_linear { "linear" } else { "nonlinear" };
        let n = self.l.unknowns.len();
        let equations = if n == 1 { "equation" } else { "equations" };
        let position = self.reals.switches.position(program);
        let message = format!("{position}a {kind} loop of {n} {equations} has no solution: {reason}");
        let mut failure = EvalFailure::new(message, self.worst_equation());
        failure.details = Details { labels: self.equations(), notes: self.unknowns(program) };
        failure.details.notes.extend(self.tried());
        failure
    }

    /// What was done for a solution, where that was more than at any trial point.
    fn tried(&self) -> Option<String> {
        let tried = self.reals.tried;
        let furthest = tried.furthest?;
        Some(format!(
            "tried: Newton's method from {} starts, and paths from start values to the equations, of which the longest went \
             {:.0} % of the way",
            tried.starts,
            100.0 * furthest
        ))
    }

    /// The equations of the loop: those that are not fulfilled with their residuals, then those that are solved for the
    /// other variables on the way.
    fn equations(&self) -> Vec<(Span, String)> {
        let residuals = self.reals.failed_residuals.iter().map(|r| format!("left minus right side: {r:.3e}"));
        let solved = self.l.body.stores.iter().map(|_| "belongs to the loop".to_owned());
        let mut labels: Vec<(Span, String)> = self.l.spans.iter().copied().zip(residuals.chain(solved)).collect();
        labels.truncate(MOST_NAMED);
        labels
    }

    /// The iteration variables, one a line.
    fn unknowns(&self, program: &SimProgram) -> Vec<String> {
        let scales = self.reals.start.iter().zip(&self.reals.nominal);
        let text = |unknown: &saltus_program::Unknown, x: f64, start: f64, nominal: f64| {
            let mut text = format!(
                "unknown {} = {} (start {}, nominal {}",
                program.memory.slot_name(unknown.slot),
                number(x),
                number(start),
                number(nominal)
            );
            for (name, bound) in [("min", unknown.min), ("max", unknown.max)] {
                if bound.is_finite() && bound.abs() < FARTHEST {
                    text += &format!(", {name} {}", number(bound));
                }
            }
            text + ")"
        };
        let unknowns = self.l.unknowns.iter().zip(&self.reals.failed_x).zip(scales);
        let mut notes: Vec<String> =
            unknowns.map(|((u, &x), (&start, &nominal))| text(u, x, start, nominal)).take(MOST_NAMED).collect();
        if self.l.unknowns.len() > MOST_NAMED {
            notes.push(format!("and {} more unknowns", self.l.unknowns.len() - MOST_NAMED));
        }
        notes
    }

    fn worst_equation(&self) -> Span {
        let redundant = self.reals.linear.iter().flat_map(|l| &l.redundant).next();
        let redundant = redundant.and_then(|&i| self.l.spans.get(i));
        let residuals = self.reals.failed_residuals.iter().zip(&self.l.spans);
        let worst = residuals.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).map(|(_, span)| span);
        redundant.or(worst).copied().unwrap_or(self.l.body.span)
    }
}

fn listed(mut items: Vec<String>) -> String {
    if items.len() > MOST_NAMED {
        let more = items.len() - MOST_NAMED;
        items.truncate(MOST_NAMED);
        items.push(format!("… {more} more"));
    }
    items.join(", ")
}
