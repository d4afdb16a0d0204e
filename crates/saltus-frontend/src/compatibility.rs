//! Whether the elements of a replacement are what those of the original are (specification 6.4): built-in type, kind of class, number of
//! dimensions, variability, `input` or `output`, `flow` or `stream`.
//!
//! ```text
//! replaceable model A = One;        model One Real x; end One;
//! … (redeclare model A = Two)       model Two Integer x; end Two;      error[E0394]: … its `x` is Integer, but … Real
//! ```
//!
//! Elements that a replacement lacks are another matter ([`crate::redeclaration`]), and so are its additional ones (6.5).

use std::rc::Rc;

use saltus_base::Name;
use saltus_flat::BaseType;
use saltus_library::ClassId;
use saltus_syntax::ast::{self, ClassKind};

use crate::Front;
use crate::class_rules::kind_word;
use crate::instance::{CompId, InstId, Member, SimpleType, SlotId};
use crate::redeclaration::direction_word;

/// Components of components that are compared.
const MOST_LEVELS: usize = 8;

/// An element that is not what it was promised to be: its name, what it is and what it should be.
pub struct Mismatch {
    pub element: String,
    pub given: String,
    pub wanted: String,
}

/// What a declaration says of a component.
struct Shape<'a> {
    slot: SlotId,
    simple: Option<Rc<SimpleType<'a>>>,
    /// `None` if its class has dimensions of its own.
    rank: Option<usize>,
    variability: u8,
    direction: Option<ast::Direction>,
    connection: Option<ast::Connection>,
}

impl<'a> Front<'a> {
    /// The first public component of `promised` that is something else in `given`.
    pub fn first_mismatch(&mut self, promised: InstId, given: InstId) -> Option<Mismatch> {
        self.mismatch(promised, given, &mut Vec::new())
    }

    fn mismatch(&mut self, promised: InstId, given: InstId, around: &mut Vec<(ClassId, ClassId)>) -> Option<Mismatch> {
        let classes = (self.tree[promised].class, self.tree[given].class);
        if classes.0 == classes.1 || around.contains(&classes) || around.len() >= MOST_LEVELS {
            return None;
        }
        self.expand(promised);
        self.expand(given);
        around.push(classes);
        let components = self.tree[promised].members.components.clone();
        let found = components.into_iter().filter(|&c| !self.tree[c].declared.is_hidden).collect::<Vec<_>>();
        let found = found.into_iter().find_map(|wanted| {
            let name = self.tree[wanted].name;
            match self.member(given, name)? {
                Member::Component(found) if found != wanted => {
                    self.component_mismatch(name, wanted, found, given, around)
                }
                Member::Component(_) => None,
                Member::Class(_) => Some(self.tell(name, "a class", "a component")),
            }
        });
        around.pop();
        found
    }

    fn tell(&self, name: Name, given: &str, wanted: &str) -> Mismatch {
        Mismatch { element: self.text(name).to_owned(), given: given.to_owned(), wanted: wanted.to_owned() }
    }

    fn component_mismatch(
        &mut self,
        name: Name,
        wanted: CompId,
        found: CompId,
        inst: InstId,
        around: &mut Vec<(ClassId, ClassId)>,
    ) -> Option<Mismatch> {
        let outer = self.tree[inst].prefixes;
        let (wanted, found) = (self.shape(wanted)?, self.shape(found)?);
        if let Some((given, promised)) = self.type_mismatch(&found, &wanted) {
            return Some(self.tell(name, &given, &promised));
        }
        if let (Some(given), Some(promised)) = (found.rank, wanted.rank)
            && given != promised
        {
            return Some(self.tell(name, &rank_text(given), &rank_text(promised)));
        }
        if found.variability > wanted.variability {
            return Some(self.tell(name, variability_text(found.variability), variability_text(wanted.variability)));
        }
        // What the whole replacement is declared with holds for its elements as well.
        if found.direction != wanted.direction && outer.direction.is_none() {
            let text = |d: Option<ast::Direction>| d.map_or("neither input nor output", direction_word);
            return Some(self.tell(name, text(found.direction), text(wanted.direction)));
        }
        if found.connection != wanted.connection && outer.connection.is_none() {
            return Some(self.tell(name, connection_text(found.connection), connection_text(wanted.connection)));
        }
        if found.simple.is_some() {
            return None;
        }
        let (promised, given) = (self.slot_instance(wanted.slot), self.slot_instance(found.slot));
        let inside = self.mismatch(promised, given, around)?;
        let element = format!("{}.{}", self.text(name), inside.element);
        Some(Mismatch { element, ..inside })
    }

    /// What the types are, if one cannot stand for the other.
    fn type_mismatch(&mut self, found: &Shape<'a>, wanted: &Shape<'a>) -> Option<(String, String)> {
        let of_class = |front: &Self, slot: SlotId| format!("a {}", kind_word(front.tree[slot].definition.kind));
        let text = |front: &Self, shape: &Shape<'a>| match &shape.simple {
            Some(simple) => front.types.base_text(simple.base),
            None => of_class(front, shape.slot),
        };
        let is_same = match (&found.simple, &wanted.simple) {
            (Some(found), Some(wanted)) => {
                found.base == BaseType::Error
                    || wanted.base == BaseType::Error
                    || self.types.is_subtype(found.base, wanted.base)
            }
            (None, None) => {
                let kinds = [found, wanted].map(|shape| self.tree[shape.slot].definition.kind);
                is_same_kind(kinds[0], kinds[1])
            }
            // A class that could not be read may be anything.
            (None, Some(_)) => self.is_incomplete(found.slot),
            (Some(_), None) => self.is_incomplete(wanted.slot),
        };
        (!is_same).then(|| (text(self, found), text(self, wanted)))
    }

    fn is_incomplete(&mut self, slot: SlotId) -> bool {
        let inst = self.slot_instance(slot);
        self.expand(inst);
        self.tree[inst].members.is_incomplete
    }

    fn shape(&mut self, comp: CompId) -> Option<Shape<'a>> {
        let (scope, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
        let mark = self.messages.mark();
        let slot = self.lookup_class(scope, &clause.type_name);
        self.messages.take_back(mark);
        let slot = slot?;
        let simple = self.simple_type(slot);
        let declared = &self.tree[comp].declared;
        let own = declared.declaration.subscripts.len() + clause.subscripts.len();
        let rank = match (own, declared.dims_from) {
            (0, Some((of_name, of_type, _))) => of_name.len() + of_type.len(),
            _ => own,
        };
        let is_array_class =
            matches!(&self.tree[slot].definition.body, ast::ClassBody::Short(short) if !short.subscripts.is_empty());
        let rank = match &simple {
            Some(simple) => Some(rank + simple.subscripts.len()),
            None => (!is_array_class).then_some(rank),
        };
        let prefixes = self.tree[comp].prefixes;
        let of_type = simple.as_deref();
        let variability = prefixes.variability.or(of_type.and_then(|s| s.variability));
        Some(Shape {
            slot,
            rank,
            variability: variability_rank(variability, of_type.map(|s| s.base)),
            direction: prefixes.direction.or(of_type.and_then(|s| s.direction)),
            connection: prefixes.connection.or(of_type.and_then(|s| s.connection)),
            simple,
        })
    }
}

/// The order of variability: what varies less may stand for what varies more.
fn variability_rank(declared: Option<ast::Variability>, base: Option<BaseType>) -> u8 {
    match (declared, base) {
        (Some(ast::Variability::Constant), _) => 0,
        (Some(ast::Variability::Parameter), _) | (None, Some(BaseType::ExternalObject(_))) => 1,
        (None, None | Some(BaseType::Real | BaseType::Error)) => 3,
        (Some(ast::Variability::Discrete), _) | (None, Some(_)) => 2,
    }
}

fn variability_text(rank: u8) -> &'static str {
    ["a constant", "a parameter", "discrete", "continuous"].get(usize::from(rank)).copied().unwrap_or("continuous")
}

fn connection_text(connection: Option<ast::Connection>) -> &'static str {
    match connection {
        Some(ast::Connection::Flow) => "flow",
        Some(ast::Connection::Stream) => "stream",
        None => "neither flow nor stream",
    }
}

fn rank_text(rank: usize) -> String {
    match rank {
        0 => "a scalar".to_owned(),
        1 => "a vector".to_owned(),
        n => format!("an array with {n} dimensions"),
    }
}

fn is_same_kind(a: ClassKind, b: ClassKind) -> bool {
    use ClassKind::{Block, Class, Connector, ExpandableConnector, Model, OperatorRecord, Record, Type};
    let group = |kind| match kind {
        Model | Block => Some(0),
        Record | OperatorRecord | Type => Some(1),
        Connector | ExpandableConnector => Some(2),
        Class => None,
        _ => Some(3),
    };
    match (group(a), group(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}
