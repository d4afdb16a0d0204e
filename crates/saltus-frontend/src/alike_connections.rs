//! Connections of components in arrays whose elements are alike (see [`template`](crate::template)).
//!
//! ```text
//! Cell c[100];   for i in 1:99 loop connect(c[i].b, c[i + 1].a); end for;
//!     ⇒   99 × (c[:].b.v[1], c[:].a.v[2]), both by one further each time      one box of pairs for `saltus-connect`
//! ```
//!
//! The only instance of such an array stands for all elements. Which one is meant is the *place* of an end: its row-major position in
//! the arrays that a name leads into. The arrays around the `connect` itself are not part of that: the connection stands for each of
//! their elements.

use saltus_connect::{End, Face, Folding, Stride};
use saltus_eval::Value;
use saltus_flat::family::{Affine, Counter};
use saltus_flat::{self as flat, Expr, Type};
use saltus_syntax::ast;

use crate::Front;
use crate::connection::{Connection, Connector, Resolved};
use crate::family::MOST_ITERATORS;
use crate::instance::{CompId, CompKind, InstId, Member};
use crate::reference::Iterated;
use crate::state::Network;

/// Connections that differ in their places only.
#[derive(Clone)]
pub struct Row {
    places: [u64; 2],
    /// How the places move on.
    each: Vec<Stride>,
}

/// An end of a connection in a loop: the connector and its place.
type MovingEnd = ((Connector, Face), Affine);

/// A variable of a connector with all elements that a connection means.
struct Ends {
    /// The first of them.
    end: End,
    /// It stands for all elements of all arrays around it.
    is_whole: bool,
    /// By how many elements it moves on in each of the arrays around the `connect`, and from one place to the next.
    outer: Vec<i64>,
    n_own: i64,
    own_dims: Vec<u64>,
}

impl Row {
    pub fn one(places: [u64; 2]) -> Row {
        Row { places, each: Vec::new() }
    }

    /// Goes on with another connection, if that is the next.
    fn takes(&mut self, next: &Row) -> bool {
        let [a, b] = [0, 1].map(|k| next.places[k] as i64 - self.places[k] as i64);
        match &mut self.each[..] {
            _ if !next.each.is_empty() => false,
            [] => {
                self.each.push(Stride { n: 2, a, b });
                true
            }
            [row] => {
                let n = row.n as i64;
                let goes_on = (a, b) == (n * row.a, n * row.b);
                row.n += u64::from(goes_on);
                goes_on
            }
            _ => false,
        }
    }
}

impl Network<'_> {
    /// Adds a connection, to the row that it continues if there is one.
    pub fn connect_alike(&mut self, connection: Connection) {
        let latest = self.latest.get(&connection.span).and_then(|&k| self.connections.get_mut(k));
        if let Some(latest) = latest
            && latest.ends == connection.ends
            && latest.scope == connection.scope
            && latest.row.takes(&connection.row)
        {
            return;
        }
        self.latest.insert(connection.span, self.connections.len());
        self.connections.push(connection);
    }
}

impl<'a> Front<'a> {
    /// Collects the connections of a loop at once, if they lead into arrays of alike components with places that are affine. The first of them is
    /// made like any other, which finds what there is to complain about.
    pub fn connect_in_loop(&mut self, scope: InstId, indices: &'a [ast::ForIndex], body: &'a [ast::Equation]) -> bool {
        if self.templates.n_kept == 0 {
            return false;
        }
        let (messages, n_iterators) = (self.messages.mark(), self.context.iterators.len());
        let mut counters = Vec::new();
        let found = self.rows_of_loop(scope, indices, body, &mut counters);
        self.messages.take_back(messages);
        let mut iterators = self.context.iterators.split_off(n_iterators);
        let Some((body, connections)) = found else { return false };
        for ((_, iterated), counter) in iterators.iter_mut().zip(&counters) {
            *iterated = Iterated::Value(Value::Integer(counter.first), Type::INTEGER);
        }
        self.context.iterators.append(&mut iterators);
        self.connections_in(scope, body);
        self.context.iterators.truncate(n_iterators);
        let n = counters.iter().fold(1, |n: u64, c| n.saturating_mul(c.n));
        for connection in connections {
            // The first has been counted.
            for (end, _) in connection.ends {
                *self.network.cardinalities.entry(end).or_insert(0) += n as i64 - 1;
            }
            self.network.connections.push(connection);
        }
        true
    }

    /// The connections of a loop of nothing else, with the innermost body.
    fn rows_of_loop(
        &mut self,
        scope: InstId,
        indices: &'a [ast::ForIndex],
        body: &'a [ast::Equation],
        counters: &mut Vec<Counter>,
    ) -> Option<(&'a [ast::Equation], Vec<Connection>)> {
        let body = self.innermost(scope, indices, body, counters)?;
        let component = self.component_path(scope);
        let connections = body.iter().map(|equation| {
            let ast::EquationKind::Connect { from, to } = &equation.kind else { return None };
            if self.is_deselected_connection(scope, from, to) {
                return None;
            }
            let ends = [self.moving_end(scope, from, counters)?, self.moving_end(scope, to, counters)?];
            let places = [0, 1].map(|k| ends[k].1.first(counters) as u64);
            let steps = ends[0].1.steps(counters).zip(ends[1].1.steps(counters));
            let each = counters.iter().zip(steps).map(|(c, (a, b))| Stride { n: c.n, a, b }).collect();
            let (row, span) = (Row { places, each }, equation.span);
            Some(Connection { ends: ends.map(|end| end.0), row, scope, span, component: component.clone() })
        });
        let connections: Option<Vec<Connection>> = connections.collect();
        Some((body, connections?))
    }

    /// The connector that a name means for all values of the iterators, if it is one, with a place that is affine.
    fn moving_end(
        &mut self,
        scope: InstId,
        reference: &'a ast::ComponentRef,
        counters: &[Counter],
    ) -> Option<MovingEnd> {
        let Some(Member::Component(mut comp)) = self.lookup_name(scope, reference.parts.first()?.name.name) else {
            return None;
        };
        let face = self.face(comp);
        let mut place = Affine { constant: 0, factors: vec![0; counters.len()] };
        let mut parts = reference.parts.iter().peekable();
        while let Some(part) = parts.next() {
            comp = self.actual(comp);
            if !self.is_present(comp) {
                return None;
            }
            let (kind, sizes) = (self.comp_kind(comp), self.comp_dims(comp));
            let of_each = if let CompKind::Class(class) = &kind { &class.counters[..] } else { &[] };
            let is_alike = !of_each.is_empty();
            if self.tree[scope].outer.iter().any(|own| of_each.contains(own)) {
                return None;
            }
            let mut own = Affine { constant: 0, factors: vec![0; counters.len()] };
            let position = if is_alike { &mut place } else { &mut own };
            self.move_position(scope, &part.subscripts, &sizes, counters, position)?;
            let element = own.is_constant().then_some(own.constant as u64)?;
            let class = match kind {
                CompKind::Leaf(_) if parts.peek().is_none() => {
                    let connector = Connector::Leaf(comp, Some(element).filter(|_| !sizes.is_empty()));
                    return Some(((connector, face), place));
                }
                CompKind::Class(class) => class,
                CompKind::Leaf(_) | CompKind::Error => return None,
            };
            let inst = *class.elements.get(element as usize)?;
            let Some(next) = parts.peek() else { return Some(((Connector::Inst(inst), face), place)) };
            comp = match self.member(inst, next.name.name)? {
                Member::Component(inner) if !self.is_expandable(inst) => inner,
                _ => return None,
            };
        }
        None
    }

    /// Adds the position in an array to a row-major position in those around it.
    fn move_position(
        &mut self,
        scope: InstId,
        subscripts: &'a [ast::Subscript],
        sizes: &[u64],
        counters: &[Counter],
        position: &mut Affine,
    ) -> Option<()> {
        if subscripts.len() != sizes.len() {
            return None;
        }
        for (subscript, &size) in subscripts.iter().zip(sizes) {
            let ast::Subscript::Expr(e) = subscript else { return None };
            self.context.ends.push(Expr::integer(size as i64, e.span));
            let typed = self.expression(scope, e);
            self.context.ends.pop();
            let form = self.affine_subscript(&typed, size, counters).filter(|_| typed.ty == Type::INTEGER)?;
            let size = i64::try_from(size).ok()?;
            let ravel = |at: i64, value: i64| at.checked_mul(size)?.checked_add(value);
            position.constant = ravel(position.constant, form.constant - 1)?;
            for (at, factor) in position.factors.iter_mut().zip(form.factors) {
                *at = ravel(*at, factor)?;
            }
        }
        Some(())
    }

    /// Refuses templates if connectors of one are asked for one by one.
    pub fn refuse_alike(&mut self, connectors: &Resolved) {
        let is_inside = |item: &Connector| {
            let inst = match *item {
                Connector::Inst(inst) => inst,
                Connector::Leaf(comp, _) => self.tree[comp].owner,
            };
            !self.tree[inst].outer.is_empty()
        };
        if connectors.is_in_alike || connectors.items.iter().any(is_inside) {
            self.refuse_templates();
        }
    }

    /// Whether one of two variables stands for those of alike components.
    pub fn are_alike(&mut self, variables: [CompId; 2]) -> bool {
        variables.into_iter().any(|comp| {
            let comp = self.actual(comp);
            !self.tree[self.tree[comp].owner].outer.is_empty()
        })
    }

    /// Hands over a connection of two variables, with all elements that it stands for.
    pub fn pair_alike(
        &mut self,
        a: (CompId, Option<u64>, Face),
        b: (CompId, Option<u64>, Face),
        connection: &Connection,
    ) {
        let row = &connection.row;
        let ends = [(a, row.places[0]), (b, row.places[1])].map(|(end, place)| self.ends(end, place, connection));
        let [Some(a), Some(b)] = ends else { return };
        let (span, component) = (connection.span, connection.component.clone());
        if a.is_whole && b.is_whole {
            let [a, b] = [a, b].map(|ends| End { element: None, ..ends.end });
            return self.network.sets.connect(a, b, span, component);
        }
        if a.own_dims != b.own_dims {
            return self.refuse_templates();
        }
        let n_each: u64 = a.own_dims.iter().product();
        let outer = self.tree[connection.scope].outer.iter().zip(a.outer.iter().zip(&b.outer));
        let mut each: Vec<Stride> = outer.map(|(counter, (&a, &b))| Stride { n: counter.n, a, b }).collect();
        let by_place = |stride: &Stride| Stride { n: stride.n, a: stride.a * a.n_own, b: stride.b * b.n_own };
        each.extend(row.each.iter().map(by_place));
        each.push(Stride { n: n_each, a: 1, b: 1 });
        each.retain(|stride| stride.n != 1);
        self.network.sets.connect_each(a.end, b.end, each, span, component);
    }

    fn ends(
        &mut self,
        (comp, element, face): (CompId, Option<u64>, Face),
        place: u64,
        connection: &Connection,
    ) -> Option<Ends> {
        let comp = self.actual(comp);
        if self.tree[comp].prefixes.connection == Some(ast::Connection::Stream) {
            self.refuse_templates();
            return None;
        }
        self.describe_connector(comp);
        let var = self.tree[comp].var?;
        let dims = self.comp_dims(comp);
        let n_own = dims.iter().product::<u64>().min(i64::MAX as u64);
        let around = &self.tree[self.tree[comp].owner].outer;
        let scope = &self.tree[connection.scope].outer;
        let n_shared = around.iter().zip(scope).take_while(|(a, b)| a == b).count();
        let is_whole = element.is_none() && n_shared == scope.len() && n_shared == around.len();
        let size = |counters: &[Counter]| counters.iter().fold(n_own, |n, c| n.saturating_mul(c.n));
        let n_inside = size(&around[n_shared..]);
        let outer = (0..scope.len()).map(|k| match k < n_shared {
            true => around[k + 1..n_shared].iter().fold(n_inside, |n, c| n.saturating_mul(c.n)) as i64,
            false => 0,
        });
        let first = place.saturating_mul(n_own).saturating_add(element.unwrap_or(0));
        let own_dims = if element.is_none() { dims.to_vec() } else { Vec::new() };
        let end = End { var, element: Some(first), face };
        Some(Ends { end, is_whole, outer: outer.collect(), n_own: n_own as i64, own_dims })
    }

    /// Has connection sets that differ by a shift made equations for all of them, if there are arrays of alike components.
    pub fn fold_connections(&mut self) {
        let Some(fewest) = self.templates.fewest.filter(|_| self.templates.n_kept > 0) else { return };
        let span = saltus_base::Span::nowhere();
        let iterators = (1..=MOST_ITERATORS).map(|k| {
            let name = format!("$k{k}");
            let local = flat::Local { name, ty: Type::INTEGER, sizes: Vec::new(), default: None, span };
            self.functions.model_locals.push(local)
        });
        let iterators = iterators.collect();
        self.network.sets.fold(Folding { fewest, iterators });
    }
}
