//! The incidence matrix of an order as a picture: rows are equations, columns unknowns, both in order of computation. What
//! lies above the diagonal belongs to a loop, which is framed.

use std::collections::BTreeSet;
use std::fmt::Write;

use saltus_backend::describe::{BlockKind, Order};

/// Larger matrices are drawn with several rows and columns in one square.
const MOST_SQUARES: usize = 600;
/// Side of the picture.
const PIXELS: usize = 720;

pub fn svg(order: &Order) -> String {
    let n = order.unknowns.len().max(order.blocks.iter().map(|b| b.equations.len()).sum());
    if n == 0 {
        return String::new();
    }
    let n_squares = n.min(MOST_SQUARES);
    let square = |position: usize| position * n_squares / n;
    let mut entries: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut frames = String::new();
    let mut row = 0;
    for block in &order.blocks {
        let first = row;
        for equation in &block.equations {
            entries.extend(equation.columns.iter().map(|&column| (square(row), square(column))));
            row += 1;
        }
        if block.kind != BlockKind::Assignment {
            let (from, to) = (square(first), square(row - 1) + 1);
            let side = to - from;
            let class = if matches!(block.kind, BlockKind::Loop { is_mixed: true, .. }) { "mixed" } else { "loop" };
            let _ = write!(frames, "<rect class='{class}' x='{from}' y='{from}' width='{side}' height='{side}'/>");
        }
    }
    let mut path = String::new();
    for (row, column) in entries {
        let _ = write!(path, "M{column} {row}h1v1h-1z");
    }
    let size = PIXELS.min(n_squares * 16);
    format!(
        "<svg width='{size}' height='{size}' viewBox='0 0 {n_squares} {n_squares}' role='img' \
         aria-label='incidence matrix of {n} equations'>\
         <rect class='paper' width='{n_squares}' height='{n_squares}'/>{frames}<path d='{path}'/></svg>"
    )
}
