//! Expressions as Modelica text with no more parentheses than needed.
//!
//! ```text
//! (a + b) * c^2 - (if u < 0 then -1 else f(a, b)[2])
//! ```
//!
//! A graph written out as text can be exponentially longer than it is, so the length is always bounded.

use saltus_program::{BinaryFn, CallableId, SlotId, UnaryFn};

use crate::dag::{Dag, Node, NodeId};

/// What slots and functions are called.
pub trait Names {
    fn slot(&self, slot: SlotId) -> String;
    fn function(&self, function: CallableId) -> String;
}

/// How tightly an expression holds together, by the grammar of Modelica.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    If,
    Or,
    And,
    Not,
    Relation,
    Sum,
    Product,
    Power,
    Primary,
}

enum Piece {
    Text(&'static str),
    Owned(String),
    /// In parentheses if it is looser than this.
    Node(NodeId, Level),
}

impl Dag {
    /// The text of `root`, cut with `…` after `max_length` bytes.
    pub fn text(&self, root: NodeId, names: &dyn Names, max_length: usize) -> String {
        let mut out = String::new();
        let mut stack = vec![Piece::Node(root, Level::If)];
        while let Some(piece) = stack.pop() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Owned(text) => out.push_str(&text),
                Piece::Node(id, least) => self.expand(id, least, names, &mut stack),
            }
            if out.len() > max_length {
                let cut = (0..=max_length).rev().find(|&i| out.is_char_boundary(i)).unwrap_or(0);
                out.truncate(cut);
                out.push('…');
                return out;
            }
        }
        out
    }

    /// Replaces a node on the stack by its pieces.
    fn expand(&self, id: NodeId, least: Level, names: &dyn Names, stack: &mut Vec<Piece>) {
        let (level, mut pieces) = self.pieces(id, names);
        if level < least {
            pieces.insert(0, Piece::Text("("));
            pieces.push(Piece::Text(")"));
        }
        stack.extend(pieces.into_iter().rev());
    }

    fn pieces(&self, id: NodeId, names: &dyn Names) -> (Level, Vec<Piece>) {
        use Piece::{Node as At, Owned, Text};
        match self.node(id) {
            Node::Const(bits) => {
                let value = f64::from_bits(bits);
                let level = if value.is_sign_negative() { Level::Sum } else { Level::Primary };
                (level, vec![Owned(number(value))])
            }
            Node::Load(slot) => (Level::Primary, vec![Owned(names.slot(slot))]),
            Node::Unary(UnaryFn::Negate, x) => (Level::Sum, vec![Text("-"), At(x, Level::Product)]),
            Node::Unary(UnaryFn::Not, x) => (Level::Not, vec![Text("not "), At(x, Level::Relation)]),
            Node::Unary(f, x) => (Level::Primary, vec![Text(f.name()), Text("("), At(x, Level::If), Text(")")]),
            // `-2 * x` is `-(2 * x)` in the grammar, and the same number.
            Node::Binary(f @ (BinaryFn::Mul | BinaryFn::Div), a, b) if self.value(a).is_some_and(|c| c < 0.0) => {
                (Level::Sum, binary_pieces(f, a, b, Level::Sum).1)
            }
            Node::Binary(f, a, b) => binary_pieces(f, a, b, Level::Product),
            Node::Select(c, a, b) => {
                let at = |id| At(id, Level::If);
                (Level::If, vec![Text("if "), at(c), Text(" then "), at(a), Text(" else "), at(b)])
            }
            Node::Result(call, k) => {
                let call = self.called(call);
                let mut pieces = vec![Owned(names.function(call.function)), Text("(")];
                for (i, &argument) in call.arguments.iter().enumerate() {
                    pieces.extend((i > 0).then_some(Text(", ")));
                    pieces.push(At(argument, Level::If));
                }
                pieces.push(Text(")"));
                if call.n_results > 1 {
                    pieces.push(Owned(format!("[{}]", k + 1)));
                }
                (Level::Primary, pieces)
            }
        }
    }
}

/// `first` is how tight the first factor of a product must be.
fn binary_pieces(function: BinaryFn, a: NodeId, b: NodeId, first: Level) -> (Level, Vec<Piece>) {
    use Piece::{Node as At, Text};
    let infix = |text, level, left, right| (level, vec![At(a, left), Text(text), At(b, right)]);
    match function {
        BinaryFn::Add => infix(" + ", Level::Sum, Level::Sum, Level::Product),
        BinaryFn::Sub => infix(" - ", Level::Sum, Level::Sum, Level::Product),
        BinaryFn::Mul => infix(" * ", Level::Product, first, Level::Power),
        BinaryFn::Div => infix(" / ", Level::Product, first, Level::Power),
        BinaryFn::Pow => infix("^", Level::Power, Level::Primary, Level::Primary),
        BinaryFn::And => infix(" and ", Level::And, Level::And, Level::Not),
        BinaryFn::Or => infix(" or ", Level::Or, Level::Or, Level::And),
        BinaryFn::Less => infix(" < ", Level::Relation, Level::Sum, Level::Sum),
        BinaryFn::LessEqual => infix(" <= ", Level::Relation, Level::Sum, Level::Sum),
        BinaryFn::Greater => infix(" > ", Level::Relation, Level::Sum, Level::Sum),
        BinaryFn::GreaterEqual => infix(" >= ", Level::Relation, Level::Sum, Level::Sum),
        BinaryFn::Equal => infix(" == ", Level::Relation, Level::Sum, Level::Sum),
        BinaryFn::NotEqual => infix(" <> ", Level::Relation, Level::Sum, Level::Sum),
        BinaryFn::Atan2 | BinaryFn::IntDiv | BinaryFn::Mod | BinaryFn::Rem | BinaryFn::Min | BinaryFn::Max => {
            let arguments = [At(a, Level::If), Text(", "), At(b, Level::If)];
            let mut pieces = vec![Text(function.name()), Text("(")];
            pieces.extend(arguments);
            pieces.push(Text(")"));
            (Level::Primary, pieces)
        }
    }
}

/// The shortest text that reads back as the same number; whole numbers without a point.
fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
