//! Group clocked equations into base- and sub-partitions and infer the clock of each.
//!
//! In: what lowering found ([`Clocks`]). Out: [`Base`]s with their equations by sub-partition, clocks and solver methods.
//! Two things belong to one sub-partition if an equation, a `when` with a clock or an association with a clock
//! connects them; conversions connect sub-partitions of one base-partition. (Specification: sections 16.7 and 16.8.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Index, Span};
use saltus_clocks::{ClockError, Conversion, ConversionKind, Graph, Rational, Source, Ticks, infer};
use saltus_graph::{Sign, SignedUnionFind};
use saltus_program::{BaseClock, SlotId};

use super::emit::declare_sub_slots;
use super::solve::distribute_initial_equations;
use super::survey::{owners, unite, variables_of};
use super::{Clocks, ConstructorKind, ConversionPort, Query};
use crate::dag::NodeId;
use crate::diagnostics;
use crate::system::{ScalarEquation, System};

/// A base-partition with the equations of all its sub-partitions.
pub struct Base {
    pub clock: BaseClock,
    pub subs: Vec<Sub>,
    pub equations: Vec<ScalarEquation>,
    /// Sub-partition of each clocked slot.
    pub sub_of: BTreeMap<SlotId, usize>,
    pub initial_equations: Vec<ScalarEquation>,
    /// Slots whose values come from other partitions.
    pub ports: BTreeSet<SlotId>,
    pub span: Span,
}

/// A sub-partition.
pub struct Sub {
    pub ticks: Ticks,
    pub method: Option<Method>,
    pub slots: SubSlots,
    /// For messages: its clock, or a variable of it.
    pub text: String,
    pub span: Span,
}

/// Where the driver counts the ticks of a sub-clock.
#[derive(Clone, Copy, Debug)]
pub struct SubSlots {
    pub tick: SlotId,
    pub next: SlotId,
    pub last: SlotId,
    pub interval_value: SlotId,
    pub first_tick: SlotId,
}

/// How derivatives are computed from tick to tick (specification 16.8.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    ExplicitEuler,
    ExplicitMidPoint2,
    ExplicitRungeKutta4,
    ImplicitEuler,
    ImplicitTrapezoid,
}

impl Method {
    /// A method by its standardised name. `External` leaves the choice to the tool.
    pub fn from_name(name: &str) -> Option<Method> {
        Some(match name {
            "ExplicitEuler" => Method::ExplicitEuler,
            "ExplicitMidPoint2" => Method::ExplicitMidPoint2,
            "ExplicitRungeKutta4" => Method::ExplicitRungeKutta4,
            "ImplicitEuler" => Method::ImplicitEuler,
            "ImplicitTrapezoid" | "External" => Method::ImplicitTrapezoid,
            _ => return None,
        })
    }
}

/// The base-partitions of the system; their equations are not among its own.
pub fn partition(system: &mut System, diagnostics: &mut Diagnostics) -> Vec<Base> {
    let clocks = std::mem::take(&mut system.clocks);
    let mut parts = Parts::find(system, &clocks);
    let n_bases = parts.n_bases;
    let mut bases = Vec::new();
    for base in 0..n_bases {
        match parts.build(system, &clocks, base, diagnostics) {
            // A clock that nothing is associated with never ticks.
            Some(built) if built.equations.is_empty() => {}
            Some(built) => bases.push(built),
            None => {}
        }
    }
    system.clocks = clocks;
    // What was only kept to infer clocks goes.
    for equation in bases.iter_mut().flat_map(|base| &mut base.equations) {
        if let [left, right] = system.dag.simplify_all(&[equation.left, equation.right])[..] {
            (equation.left, equation.right) = (left, right);
        }
    }
    distribute_initial_equations(system, &mut bases);
    bases
}

/// Sub-partitions of the whole model, numbered in order of their first slot.
struct Parts {
    sub_of: BTreeMap<SlotId, usize>,
    /// Base-partition of each sub-partition.
    base_of: Vec<usize>,
    n_bases: usize,
    /// Sub-partition of each clocked equation.
    equations: Vec<Option<usize>>,
    /// Ports that occur in equations.
    used: BTreeSet<SlotId>,
}

impl Parts {
    fn find(system: &System, clocks: &Clocks) -> Parts {
        let owners = owners(system);
        // `system.clocks` is away; the table says which slots belong to clocks.
        let of = |roots: &[NodeId]| -> Vec<SlotId> {
            let mut slots = variables_of(system, &owners, roots);
            slots.extend(system.dag.loads(roots).into_iter().filter(|s| clocks.clock_slots.contains(s)));
            slots
        };
        let mut classes = SignedUnionFind::new(system.slots.len());
        let mut together: BTreeMap<usize, SlotId> = BTreeMap::new();
        let mut members: BTreeSet<SlotId> = clocks.clock_slots.clone();
        let mut firsts = Vec::with_capacity(clocks.equations.len());
        for clocked in &clocks.equations {
            let slots = of(&[clocked.equation.left, clocked.equation.right]);
            unite(&mut classes, &slots);
            if let (Some(number), Some(&first)) = (clocked.whole, slots.first()) {
                let other = *together.entry(number).or_insert(first);
                unite(&mut classes, &[first, other]);
            }
            firsts.push(slots.first().copied());
            members.extend(slots);
        }
        // The value may be a constant, which is part of nothing by itself.
        for reinit in system.events.reinits.iter().filter(|r| members.contains(&r.state)) {
            unite(&mut classes, &[reinit.state, reinit.active, reinit.value]);
        }
        for (nodes, clock) in &clocks.associations {
            let mut slots = of(nodes);
            slots.push(*clock);
            unite(&mut classes, &slots);
        }
        for sample in clocks.samples.iter().filter(|s| members.contains(&s.port)) {
            sample.clock.iter().for_each(|&clock| unite(&mut classes, &[sample.port, clock]));
        }
        for query in clocks.queries.iter().filter(|q| members.contains(&q.port)) {
            let mut slots = of(&query.argument);
            slots.push(query.port);
            unite(&mut classes, &slots);
        }
        let used = members.clone();
        members.extend(used_conversions(clocks, &used).flat_map(|c| [c.port, c.source]));
        let mut number_of: BTreeMap<usize, usize> = BTreeMap::new();
        let mut sub_of = BTreeMap::new();
        for &slot in &members {
            let next = number_of.len();
            let number = *number_of.entry(classes.find(slot.index()).0).or_insert(next);
            sub_of.insert(slot, number);
        }
        let equations = firsts.iter().map(|first| first.and_then(|s| sub_of.get(&s).copied())).collect();
        let mut bases = SignedUnionFind::new(number_of.len());
        for conversion in used_conversions(clocks, &used) {
            let _ = bases.unite(sub_of[&conversion.port], sub_of[&conversion.source], Sign::Plus);
        }
        let mut base_number: BTreeMap<usize, usize> = BTreeMap::new();
        let base_of: Vec<usize> = (0..number_of.len())
            .map(|sub| {
                let next = base_number.len();
                *base_number.entry(bases.find(sub).0).or_insert(next)
            })
            .collect();
        Parts { sub_of, base_of, n_bases: base_number.len(), equations, used }
    }

    /// The base-partition with this number; `None` if its clocks contradict each other.
    fn build(
        &mut self,
        system: &mut System,
        clocks: &Clocks,
        base: usize,
        diagnostics: &mut Diagnostics,
    ) -> Option<Base> {
        let subs: Vec<usize> = (0..self.base_of.len()).filter(|&s| self.base_of[s] == base).collect();
        let local: BTreeMap<usize, usize> = subs.iter().enumerate().map(|(k, &sub)| (sub, k)).collect();
        let place = |slot: &SlotId| self.sub_of.get(slot).and_then(|sub| local.get(sub)).copied();
        let mut conversions: Vec<(&ConversionPort, Conversion)> = Vec::new();
        for port in used_conversions(clocks, &self.used) {
            if let (Some(from), Some(to)) = (place(&port.source), place(&port.port)) {
                conversions.push((port, Conversion { from, to, kind: port.kind }));
            }
        }
        let constructors: Vec<_> =
            clocks.constructors.iter().filter_map(|c| place(&c.clock).map(|sub| (c, sub))).collect();
        let graph = Graph {
            n_partitions: subs.len(),
            conversions: conversions.iter().map(|c| c.1).collect(),
            sources: constructors.iter().map(|(c, sub)| (*sub, source(c.kind))).collect(),
        };
        let names = self.names(system, clocks, &local, &constructors);
        let equations: Vec<ScalarEquation> = clocks
            .equations
            .iter()
            .zip(&self.equations)
            .filter(|(_, sub)| sub.is_some_and(|s| local.contains_key(&s)))
            .map(|(e, _)| e.equation.clone())
            .collect();
        let inferred = match infer(&graph) {
            Ok(inferred) => inferred,
            Err(error) => {
                let spans: Vec<Span> = constructors.iter().map(|(c, _)| c.span).collect();
                let ports: Vec<&ConversionPort> = conversions.iter().map(|c| c.0).collect();
                diagnostics.push(describe(&error, &ports, &graph, &names, &spans));
                return None;
            }
        };
        let first_equation = equations.first().map_or(Span::nowhere(), |e| e.span);
        if inferred.is_default && !equations.is_empty() {
            diagnostics.push(diagnostics::clocks::default_clock(&names[0].0, first_equation));
        }
        let (clock, span) = match inferred.opaque.and_then(|k| constructors.get(k)) {
            Some((constructor, _)) => (base_clock(constructor.kind), constructor.span),
            None => (BaseClock::Seconds, constructors.first().map_or(first_equation, |c| c.0.span)),
        };
        let methods = self.methods(clocks, &local, &graph, &names, diagnostics);
        let subs = inferred.ticks.iter().zip(names).zip(methods).enumerate();
        let subs = subs
            .map(|(k, ((&ticks, (text, span)), method))| {
                // Declared variables come first.
                let variable = self.sub_of.iter().find(|(_, sub)| local.get(sub) == Some(&k));
                let variable = variable.map_or_else(|| text.clone(), |(&slot, _)| system.name(slot).into_owned());
                let slots = declare_sub_slots(system, &variable);
                Sub { ticks, method, slots, text, span }
            })
            .collect();
        let sub_of = self.sub_of.iter().filter_map(|(&slot, sub)| local.get(sub).map(|&k| (slot, k))).collect();
        let mut built =
            Base { clock, subs, equations, sub_of, initial_equations: Vec::new(), ports: BTreeSet::new(), span };
        add_port_equations(system, clocks, &self.used, &mut built);
        Some(built)
    }

    /// Each sub-partition's clock, or a variable of it.
    fn names(
        &self,
        system: &System,
        clocks: &Clocks,
        local: &BTreeMap<usize, usize>,
        constructors: &[(&super::Constructor, usize)],
    ) -> Vec<(String, Span)> {
        let mut names: Vec<Option<(String, Span)>> = vec![None; local.len()];
        for (constructor, sub) in constructors {
            names[*sub].get_or_insert((constructor.text.clone(), constructor.span));
        }
        for (slot, sub) in &self.sub_of {
            if let Some(&k) = local.get(sub)
                && names[k].is_none()
            {
                let equation = self.equations.iter().position(|s| s == &Some(*sub)).map(|i| &clocks.equations[i]);
                let span = equation.map_or(Span::nowhere(), |e| e.equation.span);
                names[k] = Some((format!("the clock of {}", system.name(*slot)), span));
            }
        }
        names.into_iter().map(|n| n.unwrap_or((String::new(), Span::nowhere()))).collect()
    }

    /// The solver method of each sub-partition: its own, or that of the sub-partitions it is connected with.
    fn methods(
        &self,
        clocks: &Clocks,
        local: &BTreeMap<usize, usize>,
        graph: &Graph,
        names: &[(String, Span)],
        diagnostics: &mut Diagnostics,
    ) -> Vec<Option<Method>> {
        let mut own: Vec<Option<Method>> = vec![None; local.len()];
        for (clock, name, span) in &clocks.solvers {
            let Some(&k) = self.sub_of.get(clock).and_then(|sub| local.get(sub)) else { continue };
            match (Method::from_name(name), own[k]) {
                (None, _) => diagnostics.push(diagnostics::clocks::unknown_method(name, *span)),
                (Some(method), Some(other)) if method != other => {
                    diagnostics.push(diagnostics::clocks::two_methods(&names[k].0, *span));
                }
                (method, _) => own[k] = method,
            }
        }
        // Each method spreads through partitions without one.
        let mut reached: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); local.len()];
        for (start, method) in own.iter().enumerate() {
            let Some(method) = method else { continue };
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                for c in graph.conversions.iter().filter(|c| c.kind != ConversionKind::Same) {
                    let other = if c.from == at {
                        c.to
                    } else if c.to == at {
                        c.from
                    } else {
                        continue;
                    };
                    if own[other].is_none() && reached[other].insert(*method as usize) {
                        open.push(other);
                    }
                }
            }
        }
        let all = [
            Method::ExplicitEuler,
            Method::ExplicitMidPoint2,
            Method::ExplicitRungeKutta4,
            Method::ImplicitEuler,
            Method::ImplicitTrapezoid,
        ];
        let single = |set: &BTreeSet<usize>| {
            let mut methods = all.into_iter().filter(|m| set.contains(&(*m as usize)));
            methods.next().filter(|_| set.len() == 1)
        };
        own.iter().zip(&reached).map(|(own, reached)| own.or_else(|| single(reached))).collect()
    }
}

/// Conversions between clocks, and those of values that some equation uses.
fn used_conversions<'a>(clocks: &'a Clocks, used: &'a BTreeSet<SlotId>) -> impl Iterator<Item = &'a ConversionPort> {
    clocks.conversions.iter().filter(|c| used.contains(&c.port) && used.contains(&c.source))
}

fn source(kind: ConstructorKind) -> Source {
    match kind {
        ConstructorKind::Rational(interval) => Source::Rational(interval),
        ConstructorKind::Period(_) | ConstructorKind::Intervals { .. } => Source::Opaque { is_indivisible: false },
        ConstructorKind::Events { .. } => Source::Opaque { is_indivisible: true },
    }
}

fn base_clock(kind: ConstructorKind) -> BaseClock {
    match kind {
        ConstructorKind::Rational(_) => BaseClock::Seconds,
        ConstructorKind::Period(interval) => BaseClock::Period { interval },
        ConstructorKind::Intervals { interval, resolution } => BaseClock::Intervals { interval, resolution },
        ConstructorKind::Events { condition, start_interval } => BaseClock::Events { condition, start_interval },
    }
}

/// `port := source` of conversions and samples; equations between clocks have served their purpose.
fn add_port_equations(system: &mut System, clocks: &Clocks, used: &BTreeSet<SlotId>, base: &mut Base) {
    let is_clock = |system: &System, node: NodeId| match system.dag.node(node) {
        crate::dag::Node::Load(slot) => clocks.clock_slots.contains(&slot),
        _ => false,
    };
    base.equations.retain(|e| !is_clock(system, e.left) && !is_clock(system, e.right));
    let mut ports: Vec<(SlotId, NodeId, Span)> = Vec::new();
    for sample in clocks.samples.iter().filter(|s| base.sub_of.contains_key(&s.port)) {
        ports.push((sample.port, sample.value, sample.span));
    }
    for conversion in used_conversions(clocks, used).filter(|c| base.sub_of.contains_key(&c.port)) {
        if !clocks.clock_slots.contains(&conversion.port) {
            ports.push((conversion.port, system.load(conversion.source), conversion.span));
        }
    }
    for query in clocks.queries.iter() {
        if let Some(&sub) = base.sub_of.get(&query.port) {
            let slots = base.subs[sub].slots;
            let slot = match query.query {
                Query::Interval => slots.interval_value,
                Query::FirstTick => slots.first_tick,
            };
            ports.push((query.port, system.load(slot), query.span));
        }
    }
    for (port, value, span) in ports {
        base.ports.insert(port);
        let left = system.load(port);
        let is_real = system.slots[port].ty == saltus_program::SlotType::Real;
        base.equations.push(ScalarEquation {
            left,
            right: value,
            target: Some(port),
            initially: None,
            is_real,
            span,
            linearized: None,
        });
    }
}

fn describe(
    error: &ClockError,
    ports: &[&ConversionPort],
    graph: &Graph,
    names: &[(String, Span)],
    sources: &[Span],
) -> saltus_base::Diagnostic {
    let ticks = |t: &Ticks| {
        if t.shift == Rational::ZERO {
            format!("every {}", t.interval)
        } else {
            format!("every {} from {}", t.interval, t.shift)
        }
    };
    match error {
        ClockError::Contradiction { conversion, from, to } => {
            let port = ports[*conversion];
            let c = graph.conversions[*conversion];
            diagnostics::clocks::contradiction(
                &port.text,
                [&names[c.from].0, &names[c.to].0],
                [&ticks(from), &ticks(to)],
                port.span,
                &sources.iter().copied().filter(|&s| s != port.span).collect::<Vec<_>>(),
            )
        }
        ClockError::Disagreement { first, second, expected, found } => {
            let name = |k: usize| &names[graph.sources[k].0].0;
            diagnostics::clocks::disagreement(
                name(*second),
                &ticks(found),
                &ticks(expected),
                name(*first),
                [sources[*second], sources[*first]],
            )
        }
        ClockError::TwoClocks { first, second } => diagnostics::clocks::two_clocks([sources[*first], sources[*second]]),
        ClockError::TooEarly { partition, ticks } => {
            diagnostics::clocks::too_early(&names[*partition].0, &ticks.shift.to_string(), names[*partition].1)
        }
        ClockError::BetweenTicks { partition, .. } => {
            diagnostics::clocks::between_ticks(&names[*partition].0, names[*partition].1)
        }
        ClockError::Overflow => diagnostics::clocks::overflow(sources.first().copied().unwrap_or(Span::nowhere())),
    }
}
