//! Infer intervals and shifts of the sub-clocks of one base-partition.
//!
//! In: sub-partitions as numbers, conversions between them, clocks given to some of them. Out: for each sub-partition its
//! [`Ticks`], at `shift + k * interval` for k = 0, 1, …, in seconds or (if the clock is not a periodic rational one) in
//! intervals of that clock.
//!
//! Conversions with known numbers tie sub-partitions rigidly together: relative to the first of them, with ticks at a +
//! k·b, another one ticks at (a + p·b) + k·(q·b). A given clock fixes a and b of such a group. A conversion with an
//! unknown factor only demands that the shifts agree and that one interval is a multiple of the other; where nothing
//! else determines a group it gets the interval of its neighbour. (Specification: sections 16.3.1 and 16.7.5.)

use crate::Rational;

/// A base-partition.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    pub n_partitions: usize,
    pub conversions: Vec<Conversion>,
    /// Sub-partition and the clock that a constructor gives it.
    pub sources: Vec<(usize, Source)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    pub from: usize,
    pub to: usize,
    pub kind: ConversionKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConversionKind {
    /// `subSample`; `None` if the factor is to be inferred.
    Slower(Option<Rational>),
    /// `superSample`
    Faster(Option<Rational>),
    /// `shiftSample` (positive) and `backSample` (negative), in intervals of the source.
    Shifted(Rational),
    /// The same clock, as with a solver method.
    Same,
    /// `noClock`: nothing but the base-partition is shared.
    Unrelated,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// `Clock(n, resolution)` with constants: the interval in seconds.
    Rational(Rational),
    /// A clock with intervals that are not known here, of which a base-partition can have only one.
    Opaque {
        /// It cannot tick between its ticks, as an event clock.
        is_indivisible: bool,
    },
}

/// When a clock ticks: at `shift + k * interval`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks {
    pub shift: Rational,
    pub interval: Rational,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClockError {
    /// This conversion contradicts what its ends are known to be.
    Contradiction {
        conversion: usize,
        from: Box<Ticks>,
        to: Box<Ticks>,
    },
    /// Two clocks (positions in `sources`) are not what the conversions between them say.
    Disagreement {
        first: usize,
        second: usize,
        expected: Box<Ticks>,
        found: Box<Ticks>,
    },
    /// Two clocks of which a base-partition can have only one.
    TwoClocks {
        first: usize,
        second: usize,
    },
    /// This sub-partition would tick before the clock starts.
    TooEarly {
        partition: usize,
        ticks: Ticks,
    },
    /// This sub-partition would tick between the ticks of an event clock.
    BetweenTicks {
        partition: usize,
        ticks: Ticks,
    },
    Overflow,
}

/// What was found about a base-partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inferred {
    pub ticks: Vec<Ticks>,
    /// The opaque clock in whose intervals `ticks` count; `None` for seconds.
    pub opaque: Option<usize>,
    /// No clock is given: the fastest sub-partition ticks every second.
    pub is_default: bool,
}

pub fn infer(graph: &Graph) -> Result<Inferred, ClockError> {
    check_sources(graph)?;
    let mut groups = Groups::of(graph)?;
    groups.place_given(graph)?;
    groups.place_neighbours(graph)?;
    let is_default = graph.sources.is_empty();
    let opaque = graph.sources.iter().position(|(_, s)| matches!(s, Source::Opaque { .. }));
    let mut ticks = groups.ticks()?;
    if is_default {
        speed_up(&mut ticks)?;
    }
    check_inferred(graph, &ticks)?;
    check_start(graph, &ticks)?;
    Ok(Inferred { ticks, opaque, is_default })
}

/// An opaque clock cannot be compared with any other.
fn check_sources(graph: &Graph) -> Result<(), ClockError> {
    let opaque = graph.sources.iter().position(|(_, s)| matches!(s, Source::Opaque { .. }));
    match opaque {
        Some(first) if graph.sources.len() > 1 => {
            let second = if first == 0 { 1 } else { 0 };
            Err(ClockError::TwoClocks { first: first.min(second), second: first.max(second) })
        }
        _ => Ok(()),
    }
}

/// Sub-partitions that are rigidly tied together.
struct Groups {
    /// Group of each sub-partition, with p and q relative to the group's first.
    of: Vec<(usize, Ticks)>,
    /// Ticks of the first sub-partition of each group, once known.
    place: Vec<Option<Ticks>>,
}

fn fits<T>(value: Option<T>) -> Result<T, ClockError> {
    value.ok_or(ClockError::Overflow)
}

impl Ticks {
    /// What `self` is if its ticks are counted in the intervals and from the start of `unit`.
    fn within(self, unit: Ticks) -> Option<Ticks> {
        Some(Ticks {
            shift: unit.shift.checked_add(self.shift.checked_mul(unit.interval)?)?,
            interval: self.interval.checked_mul(unit.interval)?,
        })
    }

    /// The unit in which `self` would be `relative`.
    fn unit_of(self, relative: Ticks) -> Option<Ticks> {
        let interval = self.interval.checked_div(relative.interval)?;
        Some(Ticks { shift: self.shift.checked_sub(relative.shift.checked_mul(interval)?)?, interval })
    }
}

/// The ticks after a conversion, counted in those before it; `None` if it is not rigid.
fn rigid(kind: ConversionKind) -> Option<Option<Ticks>> {
    let factor = |interval| Ticks { shift: Rational::ZERO, interval };
    match kind {
        ConversionKind::Slower(Some(f)) => Some(Some(factor(f))),
        ConversionKind::Faster(Some(f)) => Some(Rational::ONE.checked_div(f).map(factor)),
        ConversionKind::Shifted(shift) => Some(Some(Ticks { shift, interval: Rational::ONE })),
        ConversionKind::Same => Some(Some(factor(Rational::ONE))),
        ConversionKind::Slower(None) | ConversionKind::Faster(None) | ConversionKind::Unrelated => None,
    }
}

impl Groups {
    fn of(graph: &Graph) -> Result<Groups, ClockError> {
        let unit = Ticks { shift: Rational::ZERO, interval: Rational::ONE };
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); graph.n_partitions];
        for (k, conversion) in graph.conversions.iter().enumerate() {
            if rigid(conversion.kind).is_some() {
                neighbours[conversion.from].push(k);
                neighbours[conversion.to].push(k);
            }
        }
        let mut of: Vec<Option<(usize, Ticks)>> = vec![None; graph.n_partitions];
        let mut n_groups = 0;
        for first in 0..graph.n_partitions {
            if of[first].is_some() {
                continue;
            }
            of[first] = Some((n_groups, unit));
            let mut open = vec![first];
            while let Some(at) = open.pop() {
                for &k in &neighbours[at] {
                    let Conversion { from, to, kind } = graph.conversions[k];
                    let Some(step) = rigid(kind) else { continue };
                    let step = fits(step)?;
                    let Some((_, here)) = of[at] else { continue };
                    let (other, there) =
                        if at == from { (to, fits(step.within(here))?) } else { (from, fits(here.unit_of(step))?) };
                    match of[other] {
                        None => {
                            of[other] = Some((n_groups, there));
                            open.push(other);
                        }
                        Some((_, known)) if known != there => {
                            let (from, to) = if at == from { (here, known) } else { (known, here) };
                            return Err(contradiction(k, from, to));
                        }
                        Some(_) => {}
                    }
                }
            }
            n_groups += 1;
        }
        let of = of.into_iter().map(|g| g.unwrap_or((0, unit))).collect();
        Ok(Groups { of, place: vec![None; n_groups] })
    }

    fn place_given(&mut self, graph: &Graph) -> Result<(), ClockError> {
        let mut given_by: Vec<Option<usize>> = vec![None; self.place.len()];
        for (k, &(partition, source)) in graph.sources.iter().enumerate() {
            let interval = match source {
                Source::Rational(interval) => interval,
                Source::Opaque { .. } => Rational::ONE,
            };
            let found = Ticks { shift: Rational::ZERO, interval };
            let (group, relative) = self.of[partition];
            match (self.place[group], given_by[group]) {
                (Some(place), Some(first)) => {
                    let expected = fits(relative.within(place))?;
                    if expected != found {
                        let (expected, found) = (Box::new(expected), Box::new(found));
                        return Err(ClockError::Disagreement { first, second: k, expected, found });
                    }
                }
                _ => {
                    self.place[group] = Some(fits(found.unit_of(relative))?);
                    given_by[group] = Some(k);
                }
            }
        }
        Ok(())
    }

    /// Groups without a clock get the ticks of a neighbour; if there is no clock at all, the first starts it.
    fn place_neighbours(&mut self, graph: &Graph) -> Result<(), ClockError> {
        if self.place.iter().all(Option::is_none)
            && let Some(first) = self.place.first_mut()
        {
            *first = Some(Ticks { shift: Rational::ZERO, interval: Rational::ONE });
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for conversion in graph.conversions.iter().filter(|c| rigid(c.kind).is_none()) {
                for (known, open) in [(conversion.from, conversion.to), (conversion.to, conversion.from)] {
                    let ((from, there), (to, here)) = (self.of[known], self.of[open]);
                    if let (Some(place), None) = (self.place[from], self.place[to]) {
                        let ticks = fits(there.within(place))?;
                        self.place[to] = Some(fits(ticks.unit_of(here))?);
                        has_changed = true;
                    }
                }
            }
        }
        Ok(())
    }

    fn ticks(&self) -> Result<Vec<Ticks>, ClockError> {
        let unit = Ticks { shift: Rational::ZERO, interval: Rational::ONE };
        self.of.iter().map(|&(group, relative)| fits(relative.within(self.place[group].unwrap_or(unit)))).collect()
    }
}

/// Makes the fastest clock tick every second, and the first tick be at the start.
fn speed_up(ticks: &mut [Ticks]) -> Result<(), ClockError> {
    let (Some(fastest), Some(first)) = (ticks.iter().map(|t| t.interval).min(), ticks.iter().map(|t| t.shift).min())
    else {
        return Ok(());
    };
    for t in ticks {
        t.interval = fits(t.interval.checked_div(fastest))?;
        t.shift = fits(t.shift.checked_sub(first).and_then(|s| s.checked_div(fastest)))?;
    }
    Ok(())
}

/// The factors that were to be inferred must be positive integers.
fn check_inferred(graph: &Graph, ticks: &[Ticks]) -> Result<(), ClockError> {
    for (k, conversion) in graph.conversions.iter().enumerate() {
        let (from, to) = (ticks[conversion.from], ticks[conversion.to]);
        let factor = match conversion.kind {
            ConversionKind::Slower(None) => fits(to.interval.checked_div(from.interval))?,
            ConversionKind::Faster(None) => fits(from.interval.checked_div(to.interval))?,
            _ => continue,
        };
        if !factor.is_integer() || from.shift != to.shift {
            return Err(contradiction(k, from, to));
        }
    }
    Ok(())
}

fn check_start(graph: &Graph, ticks: &[Ticks]) -> Result<(), ClockError> {
    let is_indivisible = graph.sources.iter().any(|(_, s)| *s == Source::Opaque { is_indivisible: true });
    for (partition, &ticks) in ticks.iter().enumerate() {
        if ticks.shift.is_negative() {
            return Err(ClockError::TooEarly { partition, ticks });
        }
        if is_indivisible && !(ticks.shift.is_integer() && ticks.interval.is_integer()) {
            return Err(ClockError::BetweenTicks { partition, ticks });
        }
    }
    Ok(())
}

fn contradiction(conversion: usize, from: Ticks, to: Ticks) -> ClockError {
    ClockError::Contradiction { conversion, from: Box::new(from), to: Box::new(to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ConversionKind::*;

    fn r(numerator: i64, denominator: i64) -> Rational {
        Rational::new(numerator, denominator).unwrap()
    }

    fn graph(n: usize, sources: &[(usize, Source)], conversions: &[(usize, usize, ConversionKind)]) -> Graph {
        let conversions = conversions.iter().map(|&(from, to, kind)| Conversion { from, to, kind }).collect();
        Graph { n_partitions: n, conversions, sources: sources.to_vec() }
    }

    fn period(n: i64, resolution: i64) -> Source {
        Source::Rational(r(n, resolution))
    }

    fn ticks(shift: Rational, interval: Rational) -> Ticks {
        Ticks { shift, interval }
    }

    #[test]
    fn conversions_scale_and_shift() {
        // u = Clock(3, 10); y1 = shiftSample(u, 3): 9/10, 12/10; y2 = backSample(y1, 2): 3/10, 6/10 (specification 16.5.2)
        let shifted = [(0, 1, Shifted(r(3, 1))), (1, 2, Shifted(r(-2, 1))), (0, 3, Shifted(r(2, 3)))];
        let found = infer(&graph(4, &[(0, period(3, 10))], &shifted)).unwrap();
        let at = |shift| ticks(shift, r(3, 10));
        assert_eq!(found.ticks, [at(r(0, 1)), at(r(9, 10)), at(r(3, 10)), at(r(2, 10))]);
        // A clock at the slow end determines the fast one.
        let found = infer(&graph(2, &[(1, period(6, 10))], &[(0, 1, Slower(Some(r(3, 1))))])).unwrap();
        assert_eq!(found.ticks[0], ticks(Rational::ZERO, r(2, 10)));
    }

    #[test]
    fn a_factor_is_inferred_from_the_clocks_at_its_ends() {
        let sources = [(0, period(1, 10)), (1, period(2, 10))];
        assert!(infer(&graph(2, &sources, &[(0, 1, Slower(None))])).is_ok());
        assert!(infer(&graph(2, &sources, &[(1, 0, Faster(None))])).is_ok());
        // 1/3 is not a multiple of 1/10 (specification 16.3.1).
        let sources = [(0, period(1, 10)), (1, period(1, 3))];
        let error = infer(&graph(2, &sources, &[(0, 1, Slower(None))])).unwrap_err();
        assert!(matches!(error, ClockError::Contradiction { conversion: 0, .. }), "{error:?}");
    }

    #[test]
    fn contradictions_are_found() {
        let sources = [(0, period(1, 10)), (1, period(3, 10))];
        let error = infer(&graph(2, &sources, &[(0, 1, Slower(Some(r(2, 1))))])).unwrap_err();
        let (expected, found) = (ticks(Rational::ZERO, r(2, 10)), ticks(Rational::ZERO, r(3, 10)));
        let (expected, found) = (Box::new(expected), Box::new(found));
        assert_eq!(error, ClockError::Disagreement { first: 0, second: 1, expected, found });
        // Two ways with different factors, though no clock is given.
        let ways = [(0, 1, Slower(Some(r(2, 1)))), (0, 1, Slower(Some(r(3, 1))))];
        assert!(matches!(infer(&graph(2, &[], &ways)), Err(ClockError::Contradiction { .. })));
    }

    #[test]
    fn no_clock_ticks_before_its_base_clock() {
        let back = [(0, 1, Shifted(r(-1, 1)))];
        let error = infer(&graph(2, &[(0, period(1, 10))], &back)).unwrap_err();
        assert!(matches!(error, ClockError::TooEarly { partition: 1, .. }));
    }

    #[test]
    fn an_event_clock_is_not_divided() {
        let event = (0, Source::Opaque { is_indivisible: true });
        // superSample(subSample(u, 4), 2) is subSample(u, 2); by 5 it is an error (specification 16.5.2).
        let by = |n| [(0, 1, Slower(Some(r(4, 1)))), (1, 2, Faster(Some(r(n, 1))))];
        let found = infer(&graph(3, &[event], &by(2))).unwrap();
        assert_eq!(found.ticks[2], ticks(Rational::ZERO, r(2, 1)));
        assert!(matches!(infer(&graph(3, &[event], &by(5))), Err(ClockError::BetweenTicks { partition: 2, .. })));
        let two = [event, (1, period(1, 10))];
        assert_eq!(infer(&graph(2, &two, &[(0, 1, Slower(None))])), Err(ClockError::TwoClocks { first: 0, second: 1 }));
    }

    #[test]
    fn without_a_clock_the_fastest_part_ticks_every_second() {
        let found = infer(&graph(2, &[], &[(0, 1, Faster(Some(r(5, 1))))])).unwrap();
        assert!(found.is_default);
        assert_eq!(found.ticks, [ticks(Rational::ZERO, r(5, 1)), ticks(Rational::ZERO, r(1, 1))]);
    }

    #[test]
    fn large_factors_overflow_in_words() {
        let huge = Rational::integer(i64::MAX);
        let conversions = [(0, 1, Slower(Some(huge))), (1, 2, Slower(Some(huge)))];
        assert_eq!(infer(&graph(3, &[(0, period(1, 1))], &conversions)), Err(ClockError::Overflow));
    }

    /// Specification 16.7.5: from 1 to 2⁶³. The last clock is as fast as the first, which nothing but exact arithmetic finds.
    #[test]
    fn factors_up_to_the_limit_are_exact() {
        let (a, b) = (Rational::integer(1 << 31), Rational::integer(1 << 32));
        let there = [(0, 1, Slower(Some(a))), (1, 2, Slower(Some(b)))];
        let back = [(2, 3, Faster(Some(b))), (3, 4, Faster(Some(a)))];
        let conversions: Vec<_> = there.into_iter().chain(back).collect();
        let found = infer(&graph(5, &[(0, period(1, 10))], &conversions)).unwrap();
        assert_eq!(found.ticks[4], found.ticks[0]);
        let limit = Rational::new(i64::MIN, -1).unwrap();
        assert_eq!(found.ticks[2].interval.checked_div(found.ticks[0].interval), Some(limit));
    }
}
