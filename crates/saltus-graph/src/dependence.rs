//! Which rows of an integer matrix are combinations of others: exact elimination.
//!
//! ```text
//! a - b = x;  b - c = y;  a - c = z        ⇒   row 2 - row 0 - row 1:  z - x - y = 0, whatever a, b and c are
//! ```
//!
//! In: sparse rows with integer coefficients. Out: for each row that depends on earlier ones the combination that vanishes. A row whose
//! numbers become too large is left out.

use std::collections::BTreeMap;

/// Multiples of rows whose sum is zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependence {
    /// The row that the others make superfluous; its factor is not zero.
    pub row: usize,
    /// Rows with their factors, in order of rows, `row` among them.
    pub factors: Vec<(usize, i64)>,
}

type Sparse = BTreeMap<usize, i64>;

/// A row in echelon form and the multiples of the given rows that it is made of.
struct Reduced {
    coefficients: Sparse,
    factors: Sparse,
}

/// The dependences among rows of `(column, coefficient)`. Each entry that is touched takes one of `work`; when nothing is left of it, the
/// rest is not looked at.
pub fn dependences(rows: &[Vec<(usize, i64)>], work: &mut usize) -> Vec<Dependence> {
    let mut pivots: BTreeMap<usize, Reduced> = BTreeMap::new();
    let mut found = Vec::new();
    for (row, entries) in rows.iter().enumerate() {
        let mut coefficients = Sparse::new();
        for &(column, coefficient) in entries {
            *coefficients.entry(column).or_insert(0) += coefficient;
        }
        coefficients.retain(|_, coefficient| *coefficient != 0);
        let mut reduced = Some(Reduced { coefficients, factors: Sparse::from([(row, 1)]) });
        while let Some(now) = &reduced {
            let Some((&column, _)) = now.coefficients.first_key_value() else { break };
            let Some(pivot) = pivots.get(&column) else { break };
            let cost = pivot.coefficients.len() + pivot.factors.len();
            if cost > *work {
                return found;
            }
            *work -= cost;
            reduced = now.without(column, pivot);
        }
        let Some(reduced) = reduced else { continue };
        match reduced.coefficients.first_key_value() {
            Some((&column, _)) => {
                pivots.insert(column, reduced);
            }
            None => found.push(Dependence { row, factors: reduced.factors.into_iter().collect() }),
        }
    }
    found
}

impl Reduced {
    /// A multiple of this minus one of the pivot, without the column; `None` if a number is too large.
    fn without(&self, column: usize, pivot: &Reduced) -> Option<Reduced> {
        let (own, other) = (*self.coefficients.get(&column)?, *pivot.coefficients.get(&column)?);
        let divisor = greatest_common_divisor(own, other);
        let (own, other) = (own / divisor, other / divisor);
        let mut coefficients = combined(&self.coefficients, other, &pivot.coefficients, own)?;
        let mut factors = combined(&self.factors, other, &pivot.factors, own)?;
        let all = coefficients.values().chain(factors.values());
        let common = all.fold(0, |divisor, &value| greatest_common_divisor(divisor, value)).max(1);
        coefficients.values_mut().chain(factors.values_mut()).for_each(|value| *value /= common);
        Some(Reduced { coefficients, factors })
    }
}

/// `p * a - q * b`.
fn combined(a: &Sparse, p: i64, b: &Sparse, q: i64) -> Option<Sparse> {
    let mut sum = Sparse::new();
    for (&column, &value) in a {
        sum.insert(column, value.checked_mul(p)?);
    }
    for (&column, &value) in b {
        let place = sum.entry(column).or_insert(0);
        *place = place.checked_sub(value.checked_mul(q)?)?;
    }
    sum.retain(|_, value| *value != 0);
    Some(sum)
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_rows_is_found() {
        // i1 = u1 - d1, i2 = u2 - d2, u1 + u2 = i, d1 + d2 = i: rows 0 + 1 - 2 + 3 vanish.
        let (u1, u2, d1, d2, i) = (0, 1, 2, 3, 4);
        let rows = [
            vec![(u1, 1), (d1, -1)],
            vec![(u2, 1), (d2, -1)],
            vec![(u1, 1), (u2, 1), (i, -1)],
            vec![(d1, 1), (d2, 1), (i, -1)],
        ];
        let found = dependences(&rows, &mut 1000);
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!(found.row, 3);
        let sign = found.factors[3].1;
        assert_eq!(found.factors, [(0, sign), (1, sign), (2, -sign), (3, sign)]);
    }

    #[test]
    fn multiples_are_exact() {
        // Row 2 is 3 * row 0 - 2 * row 1.
        let rows = [vec![(0, 2), (1, 5)], vec![(0, 3), (2, 7)], vec![(1, 15), (2, -14)]];
        let found = dependences(&rows, &mut 1000);
        assert_eq!(found.len(), 1);
        let factor = |row: usize| found[0].factors.iter().find(|(r, _)| *r == row).map_or(0, |(_, f)| *f);
        for column in 0..3 {
            let sum: i64 = (0..3)
                .flat_map(|row| rows[row].iter().filter(move |(c, _)| *c == column).map(move |(_, v)| (row, v)))
                .map(|(row, value)| factor(row) * value)
                .sum();
            assert_eq!(sum, 0);
        }
        assert_ne!(factor(2), 0);
    }

    #[test]
    fn independent_rows_and_numbers_that_are_too_large_give_nothing() {
        assert!(dependences(&[vec![(0, 1), (1, 1)], vec![(0, 1), (1, -1)]], &mut 1000).is_empty());
        let large = i64::MAX - 1;
        assert!(
            dependences(&[vec![(0, large), (1, 2)], vec![(0, 3), (1, large)], vec![(0, 5), (1, 7)]], &mut 1000).len()
                < 2
        );
    }
}
