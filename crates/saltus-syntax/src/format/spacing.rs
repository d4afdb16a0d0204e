//! Spaces between two tokens of one line.

use super::marks::Mark;
use crate::token::Kind;

/// Two neighbours and what is known about them.
pub(super) struct Neighbours {
    pub left: Kind,
    pub left_mark: Mark,
    pub right: Kind,
    pub right_mark: Mark,
    /// `left` is a sign, not the operator of a sum.
    pub left_is_sign: bool,
    /// The source has white space before the `=` of a declaration (`left` or `right`).
    pub equals_is_spaced: bool,
    /// Inside `{…}` of an annotation, where points and colours stand.
    pub is_dense: bool,
    /// In subscripts and ranges, where sums are written without spaces.
    pub is_tight: bool,
    /// `right` or `left` is the `.*` of an import.
    pub is_import_all: bool,
}

pub(super) fn has_space(n: &Neighbours) -> bool {
    use Kind::*;
    let (left, right) = (n.left, n.right);
    if left.is_opening() || right.is_closing() || matches!(right, Comma | Semicolon) {
        return false;
    }
    if would_merge(left, right) {
        return true;
    }
    if n.is_import_all && matches!(right, DotStar | Star) {
        return false;
    }
    match (left, right) {
        (Comma, _) => !n.is_dense || matches!(right, Ident | String),
        (Semicolon, _) => true,
        (Dot, _) => false,
        (_, Dot) if ends_operand(left) => false,
        (Equals, _) => n.left_mark.is_spaced || (n.left_mark.is_free && n.equals_is_spaced),
        (_, Equals) => n.right_mark.is_spaced || (n.right_mark.is_free && n.equals_is_spaced),
        (Colon, _) | (_, Colon) => false,
        (Annotation, LeftParen) => true,
        (_, LeftParen) if is_called(left) => false,
        (_, LeftBracket) if ends_operand(left) => false,
        (Plus | Minus | DotPlus | DotMinus, _) if n.left_is_sign => false,
        (Plus | Minus, _) | (_, Plus | Minus) if n.is_tight && !left.is_keyword() && !right.is_keyword() => false,
        (Star | Slash | Caret, _) | (_, Star | Slash | Caret) => false,
        _ => true,
    }
}

/// A value can end with this token, so that a sign behind it is an operator.
pub(super) fn ends_operand(kind: Kind) -> bool {
    use Kind::*;
    kind.is_closing() || matches!(kind, Ident | Integer | Real | String | End | True | False)
}

fn is_called(kind: Kind) -> bool {
    use Kind::*;
    kind.is_closing() || matches!(kind, Ident | Der | Initial | Pure | Connect | Enumeration)
}

/// Without a space the two would be read as other tokens. Files without errors have few such neighbours.
fn would_merge(left: Kind, right: Kind) -> bool {
    use Kind::*;
    match left {
        Dot => matches!(right, Star | Plus | Minus | Slash | Caret | Integer | Real),
        Slash => matches!(right, Star | Slash),
        Star => right == Star,
        Integer => matches!(right, Dot | DotPlus | DotMinus | DotStar | DotSlash | DotCaret),
        Less | Greater | Equals | Colon => matches!(right, Equals | EqualEqual | Greater | GreaterEqual),
        _ => false,
    }
}
