use super::*;
use crate::random::Random;

fn is_valid(m: &Matching, adjacency: &[Vec<usize>]) -> bool {
    m.column_of_row
        .iter()
        .enumerate()
        .all(|(row, column)| column.is_none_or(|c| adjacency[row].contains(&c) && m.row_of_column[c] == Some(row)))
}

/// Exhaustive search: the largest matching of the rows from `row` on, without the `used` columns.
fn largest(adjacency: &[Vec<usize>], row: usize, used: u32) -> usize {
    let Some(edges) = adjacency.get(row) else { return 0 };
    let taken = edges.iter().filter(|&&c| used & (1 << c) == 0);
    let best = taken.map(|&c| 1 + largest(adjacency, row + 1, used | (1 << c))).max().unwrap_or(0);
    best.max(largest(adjacency, row + 1, used))
}

#[test]
fn a_chain_needs_augmenting() {
    let adjacency = vec![vec![0, 1], vec![0], vec![1, 2]];
    let m = Matching::maximum(&adjacency, 3);
    assert!(is_valid(&m, &adjacency));
    assert_eq!(m.column_of_row, [Some(1), Some(0), Some(2)]);
}

#[test]
fn a_row_takes_the_column_it_names_first() {
    let m = Matching::maximum(&[vec![1, 0], vec![0, 1]], 2);
    assert_eq!(m.column_of_row, [Some(1), Some(0)]);
}

#[test]
fn a_singular_graph_leaves_rows_free_and_names_the_competitors() {
    let adjacency = vec![vec![0], vec![0], vec![1, 2]];
    let m = Matching::maximum(&adjacency, 3);
    assert_eq!(m.size(), 2);
    assert_eq!(m.free_rows(), [1]);
    assert_eq!(m.rows_competing_with(&adjacency, 1), [0, 1]);
}

#[test]
fn a_row_that_cannot_be_matched_tells_what_it_reached() {
    let adjacency = vec![vec![0, 1], vec![1], vec![0], vec![2]];
    let mut m = Matching::new(4, 3);
    assert_eq!([m.augment(&adjacency, 0), m.augment(&adjacency, 1)], [Ok(()), Ok(())]);
    assert_eq!(m.augment(&adjacency, 3), Ok(()));
    assert_eq!(m.augment(&adjacency, 2), Err(Reached { rows: vec![0, 1, 2], columns: vec![0, 1] }));
}

#[test]
fn a_fixed_pair_is_never_moved() {
    let adjacency = vec![vec![0, 1], vec![0], vec![0, 1]];
    let mut m = Matching::new(3, 2);
    m.fix(0, 0);
    m.extend(&adjacency);
    assert_eq!(m.column_of_row, [Some(0), None, Some(1)]);
    assert_eq!(m.augment(&adjacency, 1), Err(Reached { rows: vec![1], columns: vec![] }));
}

#[test]
fn matched_rows_stay_matched_and_early_rows_come_first() {
    let adjacency = vec![vec![0], vec![0], vec![0]];
    assert_eq!(Matching::maximum(&adjacency, 1).free_rows(), [1, 2]);
    let mut m = Matching::new(3, 1);
    m.assign(2, 0);
    m.extend(&adjacency);
    assert_eq!(m.free_rows(), [0, 1]);
}

#[test]
fn the_matching_is_maximum_on_random_graphs() {
    let mut random = Random::new(1);
    for _ in 0..300 {
        let adjacency = random.graph(6, 6, 4);
        let m = Matching::maximum(&adjacency, 6);
        assert!(is_valid(&m, &adjacency));
        assert_eq!(m.size(), largest(&adjacency, 0, 0));
    }
}

#[test]
fn early_rows_are_matched_as_if_rows_were_added_one_by_one() {
    let mut random = Random::new(7);
    for _ in 0..300 {
        let adjacency = random.graph(8, 5, 4);
        let mut one_by_one = Matching::new(8, 5);
        for row in 0..8 {
            let size = one_by_one.size();
            let grown = one_by_one.augment(&adjacency, row).is_ok();
            // Adding a row to the graph enlarges the largest matching exactly when the row could be matched.
            assert_eq!(largest(&adjacency[..=row], 0, 0), size + usize::from(grown));
        }
        assert_eq!(Matching::maximum(&adjacency, 5).free_rows(), one_by_one.free_rows());
    }
}

#[test]
fn a_failed_row_reaches_one_row_more_than_columns() {
    let mut random = Random::new(11);
    for _ in 0..200 {
        let adjacency = random.graph(8, 6, 4);
        let m = Matching::maximum(&adjacency, 6);
        for row in m.free_rows() {
            let reached = m.reached_from(&adjacency, [row]);
            assert_eq!(reached.rows.len(), reached.columns.len() + 1);
            // Hall's condition fails here: these rows have no other columns.
            assert!(reached.rows.iter().all(|&r| adjacency[r].iter().all(|c| reached.columns.contains(c))));
        }
    }
}

#[test]
fn long_augmenting_paths_do_not_exhaust_the_stack() {
    // Row i prefers column i, row i+1 is already there: the last row pushes all others along.
    let n = 100_000;
    let mut adjacency: Vec<Vec<usize>> = (0..n - 1).map(|i| vec![i, i + 1]).collect();
    adjacency.push(vec![0]);
    let m = Matching::maximum(&adjacency, n);
    assert_eq!(m.size(), n);
    assert!(is_valid(&m, &adjacency));
}

#[test]
fn a_large_random_graph_is_matched() {
    let adjacency = Random::new(5).regular_graph(100_000, 3);
    let m = Matching::maximum(&adjacency, 100_000);
    assert_eq!(m.size(), 100_000);
    assert!(is_valid(&m, &adjacency));
}
