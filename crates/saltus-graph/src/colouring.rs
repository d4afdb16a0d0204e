//! Groups of columns of a sparse Jacobian that share no row, so that one directional derivative gives them all.
//!
//! In: the pattern. Out: a colour per column; per colour the columns to seed and where the results belong:
//!
//! ```
//! use saltus_graph::{Incidence, colour_columns};
//! // tridiagonal: three evaluations instead of four
//! let pattern = Incidence::from_rows(&[vec![0, 1], vec![0, 1, 2], vec![1, 2, 3], vec![2, 3]], 4);
//! let colouring = colour_columns(&pattern);
//! assert_eq!(colouring.groups, [vec![0, 3], vec![1], vec![2]]);
//! // After seeding columns 0 and 3 with one, row 0 of the result is entry 0 of the pattern, and so on.
//! assert_eq!(colouring.recover[0], [(0, 0), (1, 2), (2, 7), (3, 9)]);
//! ```
//!
//! Sequential colouring of the column intersection graph (Curtis, Powell & Reid 1974; Coleman & Moré 1983), in natural
//! order (best for bands) and by descending degree; the result with fewer colours is taken. No column graph is built:
//! long rows keep the set of colours they have seen as bits.

use crate::incidence::{Incidence, Rows};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Colouring {
    /// Columns without entries have colour 0 and are in no group.
    pub colour_of_column: Vec<usize>,
    /// The columns of each colour, ascending: seed these with one.
    pub groups: Vec<Vec<usize>>,
    /// For each colour (row of the result, entry of the pattern); rows ascend.
    pub recover: Vec<Vec<(usize, usize)>>,
}

impl Colouring {
    pub fn n_colours(&self) -> usize {
        self.groups.len()
    }
}

/// Colours the columns such that columns of one colour have no row in common.
pub fn colour_columns(pattern: &Incidence) -> Colouring {
    let rows_of = pattern.transpose();
    let natural: Vec<usize> = (0..pattern.n_columns()).filter(|&c| !rows_of.columns(c).is_empty()).collect();
    let lower_bound = (0..pattern.n_rows()).map(|row| pattern.columns(row).len()).max().unwrap_or(0);
    let first = sequential(pattern, &rows_of, &natural);
    let best = if first.1 == lower_bound {
        first
    } else {
        let degree = |&c: &usize| rows_of.columns(c).iter().map(|&row| pattern.columns(row).len()).sum::<usize>();
        let mut descending = natural.clone();
        descending.sort_by_cached_key(|c| std::cmp::Reverse(degree(c)));
        let second = sequential(pattern, &rows_of, &descending);
        if second.1 < first.1 { second } else { first }
    };
    tables(pattern, &natural, best.0, best.1)
}

/// Rows longer than this keep their colours as bits; shorter ones are walked.
const LONG: usize = 128;
const UNCOLOURED: usize = usize::MAX;

/// Gives each column in turn the least colour that none of its rows has. Returns the colours and their number.
fn sequential(pattern: &Incidence, rows_of: &Incidence, order: &[usize]) -> (Vec<usize>, usize) {
    let mut colours = vec![UNCOLOURED; pattern.n_columns()];
    let mut long_row: Vec<Option<usize>> = vec![None; pattern.n_rows()];
    let mut bits: Vec<Vec<u64>> = Vec::new();
    for (row, columns) in pattern.rows() {
        if columns.len() > LONG {
            long_row[row] = Some(bits.len());
            bits.push(Vec::new());
        }
    }
    // The last column that must not have this colour.
    let mut forbidden: Vec<usize> = Vec::new();
    for &column in order {
        let mut long: Vec<usize> = Vec::new();
        for &row in rows_of.columns(column) {
            match long_row[row] {
                Some(set) => long.push(set),
                None => pattern.columns(row).iter().map(|&c| colours[c]).filter(|&k| k != UNCOLOURED).for_each(|k| {
                    forbidden[k] = column;
                }),
            }
        }
        let colour = least_colour(&forbidden, column, &bits, &long);
        if colour == forbidden.len() {
            forbidden.push(UNCOLOURED);
        }
        colours[column] = colour;
        for set in long {
            let words = &mut bits[set];
            if words.len() <= colour / 64 {
                words.resize(colour / 64 + 1, 0);
            }
            words[colour / 64] |= 1 << (colour % 64);
        }
    }
    (colours, forbidden.len())
}

fn least_colour(forbidden: &[usize], column: usize, bits: &[Vec<u64>], long: &[usize]) -> usize {
    let mut word = 0;
    loop {
        let taken = long.iter().fold(0, |taken, &set| taken | bits[set].get(word).copied().unwrap_or(0));
        for colour in word * 64..(word + 1) * 64 {
            let is_taken = taken == u64::MAX || taken & (1 << (colour % 64)) != 0;
            if !is_taken && forbidden.get(colour) != Some(&column) {
                return colour;
            }
            if taken == u64::MAX {
                break;
            }
        }
        word += 1;
    }
}

fn tables(pattern: &Incidence, columns: &[usize], colours: Vec<usize>, n_colours: usize) -> Colouring {
    let mut groups = vec![Vec::new(); n_colours];
    let mut recover = vec![Vec::new(); n_colours];
    for &column in columns {
        groups[colours[column]].push(column);
    }
    for (entry, (row, column)) in pattern.pairs().enumerate() {
        recover[colours[column]].push((row, entry));
    }
    let colour_of_column = colours.into_iter().map(|colour| if colour == UNCOLOURED { 0 } else { colour }).collect();
    Colouring { colour_of_column, groups, recover }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Seeds every group and recovers: must give back the value of each entry.
    fn check(pattern: &Incidence, colouring: &Colouring) {
        let value = |entry: usize| (entry + 1) as f64;
        let mut recovered = vec![0.0; pattern.n_entries()];
        for (group, places) in colouring.groups.iter().zip(&colouring.recover) {
            let mut seed = vec![0.0; pattern.n_columns()];
            group.iter().for_each(|&column| seed[column] = 1.0);
            let mut result = vec![0.0; pattern.n_rows()];
            for (entry, (row, column)) in pattern.pairs().enumerate() {
                result[row] += value(entry) * seed[column];
            }
            places.iter().for_each(|&(row, entry)| recovered[entry] = result[row]);
        }
        assert!(recovered.iter().enumerate().all(|(entry, &v)| v == value(entry)));
    }

    fn fewest(pattern: &Incidence, colours: &mut Vec<usize>) -> usize {
        let column = colours.len();
        if column == pattern.n_columns() {
            return colours.iter().max().map_or(0, |&k| k + 1);
        }
        let n_used = colours.iter().max().map_or(0, |&k| k + 1);
        let mut best = usize::MAX;
        for colour in 0..=n_used {
            let clash = |(_, row): (usize, &[usize])| {
                row.contains(&column) && row.iter().any(|&c| c < column && colours[c] == colour)
            };
            if !pattern.rows().any(clash) {
                colours.push(colour);
                best = best.min(fewest(pattern, colours));
                colours.pop();
            }
        }
        best
    }

    #[test]
    fn random_patterns_are_recovered_with_few_colours() {
        let mut random = Random::new(29);
        for _ in 0..60 {
            let pattern = Incidence::from_rows(&random.graph(6, 6, 4), 6);
            let colouring = colour_columns(&pattern);
            check(&pattern, &colouring);
            let optimum = fewest(&pattern, &mut Vec::new());
            // Columns without entries cost nothing here but one colour in the exhaustive search.
            let n = colouring.n_colours();
            assert!(n <= optimum + 1 && n + usize::from(n == 0) >= optimum, "{n} colours, optimum {optimum}");
        }
    }

    #[test]
    fn an_arrow_needs_a_colour_per_column() {
        let mut rows: Vec<Vec<usize>> = (0..300).map(|i| vec![0, i]).collect();
        rows.push((0..300).collect());
        let pattern = Incidence::from_rows(&rows, 300);
        let colouring = colour_columns(&pattern);
        assert_eq!(colouring.n_colours(), 300);
        check(&pattern, &colouring);
    }

    #[test]
    fn columns_without_entries_are_never_seeded() {
        let colouring = colour_columns(&Incidence::from_rows(&[vec![2]], 3));
        assert_eq!(colouring.groups, [[2]]);
    }

    #[test]
    fn a_large_band_needs_as_many_colours_as_it_is_wide() {
        let n = 100_000usize;
        let rows: Vec<Vec<usize>> = (0..n).map(|i| (i.saturating_sub(2)..(i + 3).min(n)).collect()).collect();
        assert_eq!(colour_columns(&Incidence::from_rows(&rows, n)).n_colours(), 5);
    }

    #[test]
    fn a_large_dense_row_is_no_obstacle() {
        let n = 20_000usize;
        let mut rows: Vec<Vec<usize>> = (0..n).map(|i| vec![i, (i + 1) % n]).collect();
        rows.push((0..n).collect());
        assert_eq!(colour_columns(&Incidence::from_rows(&rows, n)).n_colours(), n);
    }
}
