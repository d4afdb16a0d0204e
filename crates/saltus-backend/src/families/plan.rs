//! Which families are computed as loops: found before anything is lowered.
//!
//! ```text
//! C * der(T[i]) = a_Q[i] + b_Q[i];  a_Q[i] = G * (a_T[i] - T[i]);  b_T[i] = a_T[i + 1];  b_Q[i] + a_Q[i + 1] = 0;  …
//!     ⇒   der(T[i]) for i in 1:n from the first;  a_T[i] and a_Q[i] for i in 2:n from two equations in a circle;
//!         b_T, b_Q as copies of what equals them;  the equations of both ends are left to the scalars
//! ```
//!
//! In: families as they stand in the model ([`read`]). Which element equals which, and which equation determines which element, is found
//! element by element ([`elements`], [`determine`]): only integers are looked at, and what is found holds in every matching of the model. Where the
//! same holds for all elements of a box ([`cut`]), that is a [`Piece`]; all other elements are left to the scalars.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use saltus_base::{Index, Span};
use saltus_flat::{Attributes, BaseType, Causality, Expr, ExprKind, FlatModel, LocalId, VarId, Variability};

use super::cut::{Cut, cut};
use super::determine::{Determined, Group, NOBODY, Rows, determine};
use super::elements::{Column, Elements};
use super::equal::{equal_accesses, has_wishes, is_bare, is_literal, literal};
use super::linear::Parts;
use super::others::{Mention, Others, Role};
use super::piece::{Element, Left, Located, Operand, Piece, PieceEquation, ordered};
use super::read::{self, Family, Source};
use super::{dims, sizes, walk};

/// Smaller pieces cost less as scalars.
const FEWEST_ELEMENTS_OF_PIECE: usize = 16;

#[derive(Default)]
pub struct Plan {
    pub families: Vec<Family>,
    pub pieces: Vec<Piece>,
    /// Elements that stay scalar equations, of each family of which others do not.
    pub left: BTreeMap<Source, (usize, Vec<Left>)>,
    /// Elements that equal others, and which other equations want to see.
    pub equal: Vec<(Element, Element)>,
}

pub fn plan(model: &FlatModel) -> Plan {
    plan_if_possible(model).unwrap_or_default()
}

fn plan_if_possible(model: &FlatModel) -> Option<Plan> {
    if model.active_states.is_some() {
        return None;
    }
    let families = read::families(model);
    if families.is_empty() || model.variables.values().any(|v| wants_to_be_state(v.attributes.state_select.as_ref())) {
        return None;
    }
    let others = Others::new(model, &families);
    let differentiated = families.iter().flat_map(|f| &f.accesses).filter(|a| a.is_derivative).map(|a| a.variable);
    let own: BTreeSet<VarId> = differentiated.collect();
    let is_fixed = |&id: &VarId| is_true(model.variables[id].attributes.fixed.as_ref());
    let are_fixed = own.iter().all(is_fixed);
    // Which start values are taken where conditions are missing is a question of the whole initial system.
    if has_conditions(model) && !are_fixed {
        return None;
    }
    let of_others = others.differentiated.iter().map(|(id, _)| *id);
    let elements = Elements::new(model, own.iter().copied().chain(of_others))?;
    let mut planner = Planner { model, families, others, elements, are_fixed, is_mentioned: Vec::new() };
    planner.mark_states();
    planner.plan()
}

fn is_true(attribute: Option<&Expr>) -> bool {
    attribute.is_some_and(|e| matches!(e.kind, ExprKind::Boolean(true)))
}

/// Does anything but start values that may be taken say how the simulation begins?
fn has_conditions(model: &FlatModel) -> bool {
    let is_condition = |fixed: &Expr| !matches!(fixed.kind, ExprKind::Boolean(false));
    !model.initial_equations.is_empty()
        || !model.initial_algorithms.is_empty()
        || model
            .variables
            .values()
            .any(|v| v.variability == Variability::Continuous && v.attributes.fixed.as_ref().is_some_and(is_condition))
}

/// A variable that shall be a state may take the place of others.
fn wants_to_be_state(select: Option<&Expr>) -> bool {
    // never, avoid, default, prefer, always
    select.is_some_and(|e| !matches!(e.kind, ExprKind::EnumLiteral(_, 1..=3)))
}

struct Planner<'m> {
    model: &'m FlatModel,
    families: Vec<Family>,
    others: Others,
    elements: Elements,
    /// All states of families have start values that are fixed.
    are_fixed: bool,
    /// By column: does it occur outside of families?
    is_mentioned: Vec<bool>,
}

/// What becomes of a family.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Its elements are rows.
    Rows,
    /// It says that elements are equal.
    Equal,
    /// Scalars, as it stands.
    Scalars,
}

impl Planner<'_> {
    fn mark_states(&mut self) {
        let Planner { model, families, elements, others, .. } = self;
        for family in families.iter() {
            let box_sizes = sizes(&family.counters);
            for access in family.accesses.iter().filter(|a| a.is_derivative) {
                let Some(first) = elements.first(access.variable, false) else { continue };
                let (at, strides) = access.positions(&dims(model, access.variable), &family.counters);
                walk(at, &strides, &box_sizes).for_each(|k| elements.is_known[first as usize + k] = true);
            }
        }
        for (id, position) in &others.differentiated {
            if let Some(first) = elements.first(*id, false) {
                elements.is_known[first as usize + position] = true;
            }
        }
    }

    fn plan(mut self) -> Option<Plan> {
        let uses: Vec<Use> = (0..self.families.len()).map(|k| self.use_of(k)).collect();
        self.is_mentioned = vec![false; self.elements.len()];
        let mut rows = Rows::new();
        let mut is_touched = vec![false; self.elements.len()];
        self.unite(&uses)?;
        let starts = self.add_rows(&uses, &mut rows, &mut is_touched);
        let determined = determine(&rows, &is_touched)?;
        let mut plan = Plan::default();
        let mut is_placed = vec![false; rows.len()];
        self.add_pieces(&determined, &uses, &starts, &mut plan, &mut is_placed);
        self.add_copies(&mut plan);
        if plan.pieces.is_empty() {
            return None;
        }
        for (k, &usage) in uses.iter().enumerate() {
            let n: usize = sizes(&self.families[k].counters).iter().map(|&n| n as usize).product();
            let left = match usage {
                Use::Scalars => continue,
                Use::Equal => Vec::new(),
                Use::Rows => {
                    let is_left = |at: &usize| !is_placed[starts[k].start as usize + at];
                    let left: Vec<usize> = (0..n).filter(is_left).collect();
                    // Where nothing equals anything else the equation may as well be lowered as it stands.
                    if left.len() == n && !uses.contains(&Use::Equal) {
                        continue;
                    }
                    left
                }
            };
            let left = left.into_iter().map(|at| Left { operands: self.operands_at(k, at) }).collect();
            plan.left.insert(self.families[k].source, (k, left));
        }
        plan.families = self.families;
        Some(plan)
    }

    fn use_of(&self, k: usize) -> Use {
        let family = &self.families[k];
        // What is constant makes others simpler.
        let is_derivative = family.accesses.iter().any(|a| a.is_derivative);
        let is_constant = family.accesses.len() == 1 && family.scalars.is_empty() && !is_derivative;
        if is_constant && [&family.left, &family.right].into_iter().all(is_literal) {
            return Use::Scalars;
        }
        // What equals a scalar has its attributes.
        if let ([access], [scalar]) = (&family.accesses[..], &family.scalars[..])
            && !is_derivative
            && is_bare(&family.left)
            && is_bare(&family.right)
            && [access.variable, *scalar].into_iter().any(|id| has_wishes(self.model, id))
        {
            return Use::Scalars;
        }
        let Some((a, b, _)) = equal_accesses(self.model, family) else { return Use::Rows };
        let (a, b) = (family.accesses[a].variable, family.accesses[b].variable);
        if self.elements.first(a, false).is_none() || self.elements.first(b, false).is_none() {
            // A parameter, or what comes from outside.
            return if [a, b].into_iter().any(|id| has_wishes(self.model, id)) { Use::Scalars } else { Use::Rows };
        }
        if self.wish_alike(family, a, b) { Use::Equal } else { Use::Scalars }
    }

    /// May two variables be one without anything being lost?
    fn wish_alike(&self, family: &Family, a: VarId, b: VarId) -> bool {
        let is_negated = equal_accesses(self.model, family).is_some_and(|(_, _, is_negated)| is_negated);
        let of = |id: VarId| &self.model.variables[id].attributes;
        let number = |e: &Option<Expr>| e.as_ref().map(|e| literal(e).map(f64::to_bits));
        let magnitudes = |a: &Attributes| [&a.nominal, &a.min, &a.max, &a.unbounded].map(number);
        let (first, second) = (magnitudes(of(a)), magnitudes(of(b)));
        // What is no number may be anything.
        let is_plain = first.iter().flatten().all(Option::is_some) && first == second;
        let has_bounds = [&of(a).min, &of(a).max].into_iter().any(Option::is_some);
        let is_state = |id: VarId| self.elements.first(id, true).is_some() && !self.others.excluded.contains(&id);
        let may_lead = |id: VarId| is_state(id) || self.may_be_determined(id, false);
        let has_start = [a, b].into_iter().any(|id| of(id).start.is_some());
        is_plain && !(is_negated && has_bounds) && (self.are_fixed || !has_start) && may_lead(a) && may_lead(b)
    }

    /// May a family determine this? What starts with other values than others, or shall be a state, is for scalars.
    fn may_be_determined(&self, id: VarId, is_derivative: bool) -> bool {
        let variable = &self.model.variables[id];
        variable.ty.base == BaseType::Real
            && variable.variability == Variability::Continuous
            && variable.causality != Causality::Input
            && variable.attributes.state_select.is_none()
            && (is_derivative || variable.attributes.fixed.is_none())
            && !self.others.excluded.contains(&id)
    }

    fn unite(&mut self, uses: &[Use]) -> Option<()> {
        for (k, _) in uses.iter().enumerate().filter(|(_, usage)| **usage == Use::Equal) {
            let family = &self.families[k];
            let (a, b, is_negated) = equal_accesses(self.model, family)?;
            let box_sizes = sizes(&family.counters);
            let run = |access: usize| -> Vec<usize> {
                let access = &family.accesses[access];
                let (at, strides) = access.positions(&dims(self.model, access.variable), &family.counters);
                let first = self.elements.first(access.variable, false).unwrap_or(0);
                walk(first as usize + at, &strides, &box_sizes).collect()
            };
            let pairs: Vec<(usize, usize)> = run(a).into_iter().zip(run(b)).collect();
            let [may_a, may_b] = [a, b].map(|k| self.may_be_determined(family.accesses[k].variable, false));
            for (a, b) in pairs {
                let may_go = |may: bool, at: usize| may || self.elements.is_known[at];
                if !may_go(may_a, a) || !may_go(may_b, b) || !self.elements.unite(a as Column, b as Column, is_negated)
                {
                    return None;
                }
            }
        }
        self.elements.settle();
        Some(())
    }

    /// The rows of families that have some, and of scalar equations; by family those that are its own.
    fn add_rows(&mut self, uses: &[Use], rows: &mut Rows, is_touched: &mut [bool]) -> Vec<Range<u32>> {
        let mut starts = Vec::with_capacity(uses.len());
        let mut columns: Vec<Column> = Vec::new();
        for (k, &usage) in uses.iter().enumerate() {
            let start = rows.len() as u32;
            if usage == Use::Equal {
                starts.push(start..start);
                continue;
            }
            let family = &self.families[k];
            let runs = self.runs(k);
            let scalars: Vec<Column> =
                family.scalars.iter().filter_map(|&id| self.elements.first(id, false)).map(|c| self.kept(c)).collect();
            let box_sizes = sizes(&family.counters);
            let n: usize = box_sizes.iter().map(|&n| n as usize).product();
            let mut walks: Vec<_> = runs.iter().map(|(at, strides)| walk(*at, strides, &box_sizes)).collect();
            for _ in 0..n {
                columns.clear();
                columns.extend(scalars.iter().copied());
                for walk in &mut walks {
                    let Some(column) = walk.next() else { continue };
                    if usage == Use::Scalars {
                        self.is_mentioned[column] = true;
                    }
                    columns.push(self.kept(column as Column));
                }
                columns.retain(|&column| !self.elements.is_known[column as usize]);
                rows.push(&mut columns);
            }
            starts.push(start..rows.len() as u32);
        }
        for item in std::mem::take(&mut self.others.items) {
            columns.clear();
            for mention in &item.mentions {
                let Some((first, n)) = self.range(mention) else { continue };
                for column in first..first + n {
                    self.is_mentioned[column as usize] = true;
                    columns.push(self.kept(column));
                }
            }
            columns.retain(|&column| !self.elements.is_known[column as usize]);
            match item.role {
                // An equation that only speaks of what is known is for the scalars to judge.
                Role::Row if !columns.is_empty() => rows.push(&mut columns),
                Role::Row | Role::Reads => {}
                Role::Touches => columns.iter().for_each(|&column| is_touched[column as usize] = true),
            }
        }
        starts
    }

    fn kept(&self, column: Column) -> Column {
        self.elements.find(column).0
    }

    fn range(&self, mention: &Mention) -> Option<(Column, Column)> {
        let first = self.elements.first(mention.variable, mention.is_derivative)?;
        let n = self.model.variables[mention.variable].ty.n_elements()? as usize;
        match mention.position {
            Some(position) if position < n => Some((first + position as Column, 1)),
            Some(_) => None,
            None => Some((first, n as Column)),
        }
    }

    /// Where the accesses of a family that are unknowns begin, and how they move on.
    fn runs(&self, k: usize) -> Vec<(usize, Vec<i64>)> {
        let family = &self.families[k];
        let run = |access: &read::Access| {
            let first = self.elements.first(access.variable, access.is_derivative)?;
            let (at, strides) = access.positions(&dims(self.model, access.variable), &family.counters);
            Some((first as usize + at, strides))
        };
        family.accesses.iter().filter_map(run).collect()
    }

    /// What the accesses of a family stand for, at a row-major position of its box.
    fn operands_at(&self, k: usize, at: usize) -> Vec<Element> {
        let moving = self.moving(k);
        let mut position = Vec::new();
        position_in(&moving.sizes, at, &mut position);
        moving.accesses.iter().map(|access| self.operand_at(access, &position)).collect()
    }

    /// The accesses of a family, to be looked up element by element.
    fn moving(&self, k: usize) -> Moving {
        let family = &self.families[k];
        let access = |access: &read::Access| {
            let (first, strides) = access.positions(&dims(self.model, access.variable), &family.counters);
            MovingAccess { variable: access.variable, is_derivative: access.is_derivative, first, strides }
        };
        Moving { sizes: sizes(&family.counters), accesses: family.accesses.iter().map(access).collect() }
    }

    fn operand_at(&self, access: &MovingAccess, position: &[i64]) -> Element {
        let moved: i64 = access.strides.iter().zip(position).map(|(stride, at)| stride * at).sum();
        self.standing_for(access.variable, access.is_derivative, (access.first as i64 + moved) as usize)
    }

    fn standing_for(&self, variable: VarId, is_derivative: bool, position: usize) -> Element {
        let own = Element { variable, is_derivative, position, is_negated: false };
        let Some(first) = self.elements.first(variable, is_derivative) else { return own };
        let (column, is_negated) = self.elements.find(first + position as Column);
        let (variable, is_derivative, position) = self.elements.owner(column);
        Element { variable, is_derivative, position, is_negated }
    }

    fn add_pieces(
        &self,
        determined: &Determined,
        uses: &[Use],
        starts: &[Range<u32>],
        plan: &mut Plan,
        is_placed: &mut [bool],
    ) {
        // Family and position of a row.
        let member = |row: u32| {
            let k = starts.partition_point(|range| range.end <= row);
            starts.get(k).filter(|range| range.contains(&row)).map(|range| (k, (row - range.start) as usize))
        };
        let leaders: HashMap<u32, &Group> = determined.groups.iter().map(|group| (group.rows[0], group)).collect();
        let moving: Vec<Moving> = (0..self.families.len()).map(|k| self.moving(k)).collect();
        let mut members: Vec<(usize, usize)> = Vec::new();
        for (k, range) in starts.iter().enumerate().filter(|(k, _)| uses[*k] == Use::Rows) {
            let box_sizes = sizes(&self.families[k].counters);
            let mut kinds = Kinds::default();
            let mut describe = |at: usize, touched: &mut Vec<i64>| {
                let row = range.start + at as u32;
                let column = determined.column_of_row[row as usize];
                members.clear();
                if column != NOBODY {
                    members.push((k, at));
                    return self.describe(&moving, &members, &[column], &mut kinds, touched);
                }
                let group = leaders.get(&row)?;
                for &row in &group.rows {
                    members.push(member(row).filter(|(k, _)| uses[*k] == Use::Rows)?);
                }
                self.describe(&moving, &members, &group.columns, &mut kinds, touched)
            };
            let cuts = cut(&box_sizes, &mut describe);
            for cut in cuts.into_iter().filter(|cut| cut.n_elements() >= FEWEST_ELEMENTS_OF_PIECE) {
                let Some(piece) = ordered(self.piece(&kinds.all[cut.kind as usize], &cut)) else { continue };
                for at in walk(cut.start, &row_strides(&box_sizes), &cut.sizes) {
                    let row = range.start + at as u32;
                    let rows = leaders.get(&row).map_or_else(|| vec![row], |group| group.rows.clone());
                    rows.into_iter().for_each(|row| is_placed[row as usize] = true);
                }
                plan.pieces.push(piece);
            }
        }
    }

    /// The kind of a unit of rows; writes the positions of its operands and targets. `None` if families may not determine its targets.
    fn describe(
        &self,
        moving: &[Moving],
        members: &[(usize, usize)],
        targets: &[Column],
        kinds: &mut Kinds,
        touched: &mut Vec<i64>,
    ) -> Option<u32> {
        kinds.scratch.clear();
        kinds.owners.clear();
        kinds.owners.extend(targets.iter().map(|&column| self.elements.owner(column)));
        let mut is_linear = true;
        for &(k, at) in members {
            kinds.scratch.push(Part::Family(k));
            position_in(&moving[k].sizes, at, &mut kinds.position);
            kinds.unknowns.clear();
            for access in &moving[k].accesses {
                let element = self.operand_at(access, &kinds.position);
                touched.push(element.position as i64);
                kinds.scratch.push(Part::Operand(element.variable, element.is_derivative, element.is_negated));
                kinds.unknowns.push(kinds.owners.contains(&(
                    element.variable,
                    element.is_derivative,
                    element.position,
                )));
            }
            is_linear = is_linear && self.is_linear(&mut kinds.linear, k, &kinds.unknowns, targets.len() == 1);
        }
        if !is_linear {
            return None;
        }
        for &column in targets {
            let (variable, is_derivative, position) = self.elements.owner(column);
            let is_array = !self.model.variables[variable].ty.is_scalar();
            if !is_array
                || !self.may_be_determined(variable, is_derivative)
                || is_derivative && self.is_mentioned[column as usize]
            {
                return None;
            }
            touched.push(position as i64);
            kinds.scratch.push(Part::Target(variable, is_derivative));
        }
        Some(kinds.number())
    }

    /// Is the equation linear in these of its operands? Alone, an unknown may have a factor that varies, as with scalars.
    fn is_linear(
        &self,
        known: &mut Vec<(usize, Vec<bool>, bool)>,
        k: usize,
        unknowns: &[bool],
        is_alone: bool,
    ) -> bool {
        if let Some((.., known)) = known.iter().find(|(other, own, _)| *other == k && own == unknowns) {
            return *known;
        }
        let family = &self.families[k];
        let n_iterators = self.model.iterators.len();
        let access = |local: LocalId| local.index().checked_sub(n_iterators);
        let is_unknown = |local: LocalId| access(local).is_some_and(|k| unknowns.get(k) == Some(&true));
        let is_parameter = |id: VarId| self.model.variables[id].variability <= Variability::Parameter;
        let is_factor = |e: &Expr| {
            let mut is_constant = true;
            e.walk(&mut |e| {
                is_constant &= match &e.kind {
                    ExprKind::Local(local) => {
                        access(*local).and_then(|k| family.accesses.get(k)).is_some_and(|a| is_parameter(a.variable))
                    }
                    ExprKind::Var(id) => is_parameter(*id),
                    ExprKind::Time => false,
                    _ => true,
                }
            });
            is_alone || is_constant
        };
        let parts = Parts { is_unknown: &is_unknown, is_factor: &is_factor };
        let is_linear = [&family.left, &family.right].into_iter().all(|side| parts.contains(side).is_some());
        known.push((k, unknowns.to_vec(), is_linear));
        is_linear
    }

    fn piece(&self, kind: &[Part], cut: &Cut) -> Piece {
        let mut equations: Vec<PieceEquation> = Vec::new();
        let mut targets = Vec::new();
        let mut places = cut.firsts.iter().zip(&cut.strides);
        let mut located = |variable: VarId, is_derivative: bool| {
            let (first, strides) = places.next().map_or((0, Vec::new()), |(f, s)| (*f as usize, s.clone()));
            Located { variable, is_derivative, first, strides }
        };
        for part in kind {
            match *part {
                Part::Family(k) => equations.push(PieceEquation { family: Some(k), operands: Vec::new() }),
                Part::Operand(variable, is_derivative, is_negated) => {
                    let operand = Operand { is_negated, of: located(variable, is_derivative) };
                    equations.iter_mut().last().into_iter().for_each(|e| e.operands.push(operand.clone()));
                }
                Part::Target(variable, is_derivative) => targets.push(located(variable, is_derivative)),
            }
        }
        let span = equations.first().and_then(|e| e.family).map_or(Span::nowhere(), |k| self.families[k].span);
        Piece { sizes: cut.sizes.clone(), equations, targets, span }
    }

    /// Elements that stand for others get their values in loops, but for those that other equations mention.
    fn add_copies(&self, plan: &mut Plan) {
        let mut united: BTreeSet<VarId> = BTreeSet::new();
        for family in &self.families {
            united.extend(family.accesses.iter().filter(|a| !a.is_derivative).map(|a| a.variable));
        }
        for variable in united {
            let Some(first) = self.elements.first(variable, false) else { continue };
            let box_sizes: Vec<u32> = dims(self.model, variable).iter().map(|&n| n as u32).collect();
            let n: usize = box_sizes.iter().map(|&n| n as usize).product();
            let stands_for = |at: usize| {
                let found = self.elements.find(first + at as Column).0 != first + at as Column;
                found.then(|| self.standing_for(variable, false, at))
            };
            let mut kinds = Kinds::default();
            let mut is_copied = vec![false; n];
            let mut describe = |at: usize, touched: &mut Vec<i64>| {
                let other = stands_for(at).filter(|_| !self.is_mentioned[first as usize + at])?;
                touched.extend([at as i64, other.position as i64]);
                kinds.scratch.clear();
                kinds.scratch.push(Part::Operand(other.variable, other.is_derivative, other.is_negated));
                Some(kinds.number())
            };
            for cut in cut(&box_sizes, &mut describe) {
                let [Part::Operand(other, is_derivative, is_negated)] = kinds.all[cut.kind as usize][..] else {
                    continue;
                };
                if cut.n_elements() < FEWEST_ELEMENTS_OF_PIECE {
                    continue;
                }
                let located = |k: usize, variable: VarId, is_derivative: bool| Located {
                    variable,
                    is_derivative,
                    first: cut.firsts[k] as usize,
                    strides: cut.strides[k].clone(),
                };
                let (target, other) = (located(0, variable, false), located(1, other, is_derivative));
                target.elements(&cut.sizes).for_each(|at| is_copied[at] = true);
                let operands =
                    vec![Operand { is_negated: false, of: target.clone() }, Operand { is_negated, of: other }];
                let span = self.model.variables[variable].span;
                let equations = vec![PieceEquation { family: None, operands }];
                plan.pieces.push(Piece { sizes: cut.sizes, equations, targets: vec![target], span });
            }
            for at in (0..n).filter(|&at| !is_copied[at]) {
                if let Some(other) = stands_for(at) {
                    let own = Element { variable, is_derivative: false, position: at, is_negated: false };
                    plan.equal.push((other, own));
                }
            }
        }
    }
}

/// What units of one kind have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Part {
    Family(usize),
    Operand(VarId, bool, bool),
    Target(VarId, bool),
}

#[derive(Default)]
struct Kinds {
    numbers: HashMap<Vec<Part>, u32>,
    all: Vec<Vec<Part>>,
    scratch: Vec<Part>,
    /// Which operands of an equation are unknowns, and by family whether it is linear in these.
    unknowns: Vec<bool>,
    linear: Vec<(usize, Vec<bool>, bool)>,
    /// Of the unit that is described.
    owners: Vec<(VarId, bool, usize)>,
    position: Vec<i64>,
    /// The kind of the unit before.
    last: u32,
}

impl Kinds {
    /// The number of the kind in the scratch.
    fn number(&mut self) -> u32 {
        // Neighbours are of one kind nearly everywhere.
        if self.all.get(self.last as usize).is_some_and(|last| *last == self.scratch) {
            return self.last;
        }
        if let Some(&known) = self.numbers.get(&self.scratch) {
            self.last = known;
            return known;
        }
        let number = self.all.len() as u32;
        self.all.push(self.scratch.clone());
        self.numbers.insert(self.scratch.clone(), number);
        self.last = number;
        number
    }
}

/// Where an access of a family is for each element of its box.
struct Moving {
    sizes: Vec<u32>,
    accesses: Vec<MovingAccess>,
}

struct MovingAccess {
    variable: VarId,
    is_derivative: bool,
    first: usize,
    strides: Vec<i64>,
}

fn position_in(sizes: &[u32], at: usize, position: &mut Vec<i64>) {
    let mut rest = at;
    position.clear();
    position.resize(sizes.len(), 0);
    for (d, &n) in sizes.iter().enumerate().rev() {
        position[d] = (rest % n as usize) as i64;
        rest /= n as usize;
    }
}

fn row_strides(sizes: &[u32]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for d in (1..sizes.len()).rev() {
        strides[d - 1] = strides[d] * i64::from(sizes[d]);
    }
    strides
}
