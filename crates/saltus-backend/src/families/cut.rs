//! Cut a box into smaller ones in which all elements are of one kind and what they touch moves on evenly.
//!
//! ```text
//! 1 2 3 4 5 6 7      kinds a b b b b b c, touching 9 1 2 3 4 5 5     ⇒     a: one element;  b: five, first 1, stride 1;  c: one
//! ```

/// A box of elements of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    pub kind: u32,
    /// Row-major position of its first element in the whole box.
    pub start: usize,
    pub sizes: Vec<u32>,
    /// What the first element touches, and how each moves on in each dimension.
    pub firsts: Vec<i64>,
    pub strides: Vec<Vec<i64>>,
}

impl Cut {
    pub fn n_elements(&self) -> usize {
        self.sizes.iter().map(|&n| n as usize).product()
    }

    /// What the element behind the last one in the outermost dimension would touch.
    fn continues_at(&self, other: &[i64]) -> bool {
        let n = i64::from(self.sizes[0]);
        let pairs = self.firsts.iter().zip(&self.strides).zip(other);
        pairs.into_iter().all(|((&first, strides), &other)| first + strides[0] * n == other)
    }
}

/// The cuts of a box in the order of their first elements. `describe` gives the kind of the element at a row-major position, and writes what
/// it touches: as many numbers for all elements of a kind. Elements without a kind are in no cut.
pub fn cut(sizes: &[u32], describe: &mut dyn FnMut(usize, &mut Vec<i64>) -> Option<u32>) -> Vec<Cut> {
    let mut cuts = level(sizes, 0, describe);
    cuts.sort_by_key(|cut| cut.start);
    cuts
}

/// Cuts of the part of the box that begins at `start` and has these dimensions.
fn level(sizes: &[u32], start: usize, describe: &mut dyn FnMut(usize, &mut Vec<i64>) -> Option<u32>) -> Vec<Cut> {
    match sizes {
        [] => Vec::new(),
        [n] => runs(*n, start, describe),
        [n, inner @ ..] => {
            let n_inner: usize = inner.iter().map(|&n| n as usize).product();
            let (mut done, mut open): (Vec<Cut>, Vec<Cut>) = (Vec::new(), Vec::new());
            for k in 0..*n as usize {
                let begin = start + k * n_inner;
                let mut next = Vec::new();
                let mut before = open.into_iter().peekable();
                let mut parts = level(inner, begin, describe);
                parts.sort_by_key(|part| part.start);
                for part in parts {
                    let place = |cut: &Cut| cut.start % n_inner.max(1);
                    let at = place(&part);
                    while before.peek().is_some_and(|cut| place(cut) < at) {
                        done.extend(before.next());
                    }
                    let last = if before.peek().is_some_and(|cut| place(cut) == at) { before.next() } else { None };
                    match last.map(|cut| extended(cut, &part)) {
                        Some(Ok(cut)) => next.push(cut),
                        Some(Err(cut)) => {
                            done.push(cut);
                            next.push(outer(part));
                        }
                        None => next.push(outer(part)),
                    }
                }
                done.extend(before);
                open = next;
            }
            done.extend(open);
            done
        }
    }
}

/// As a box with one more dimension.
fn outer(mut part: Cut) -> Cut {
    part.sizes.insert(0, 1);
    part.strides.iter_mut().for_each(|strides| strides.insert(0, 0));
    part
}

/// A box with a part appended to it; the box alone if the part does not continue it.
fn extended(mut cut: Cut, part: &Cut) -> Result<Cut, Cut> {
    let is_alike = cut.kind == part.kind
        && cut.sizes[1..] == part.sizes[..]
        && cut.strides.iter().zip(&part.strides).all(|(outer, inner)| outer[1..] == inner[..]);
    if !is_alike || cut.sizes[0] > 1 && !cut.continues_at(&part.firsts) {
        return Err(cut);
    }
    if cut.sizes[0] == 1 {
        let steps = cut.firsts.iter().zip(&part.firsts).map(|(a, b)| b - a);
        cut.strides.iter_mut().zip(steps).for_each(|(strides, step)| strides[0] = step);
    }
    cut.sizes[0] += 1;
    Ok(cut)
}

/// Cuts of the last dimension.
fn runs(n: u32, start: usize, describe: &mut dyn FnMut(usize, &mut Vec<i64>) -> Option<u32>) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    let mut touched = Vec::new();
    let mut is_open = false;
    for position in start..start + n as usize {
        touched.clear();
        let Some(kind) = describe(position, &mut touched) else {
            is_open = false;
            continue;
        };
        if let Some(run) = cuts.last_mut().filter(|run| is_open && run.kind == kind) {
            if run.sizes[0] == 1 {
                let steps = run.firsts.iter().zip(&touched).map(|(a, b)| b - a);
                run.strides = steps.map(|step| vec![step]).collect();
                run.sizes[0] = 2;
                continue;
            }
            if run.continues_at(&touched) {
                run.sizes[0] += 1;
                continue;
            }
            // Two elements are always even; the second one may belong to what follows.
            if run.sizes[0] == 2 {
                run.sizes[0] = 1;
                let second: Vec<i64> = run.firsts.iter().zip(&run.strides).map(|(a, s)| a + s[0]).collect();
                let strides = second.iter().zip(&touched).map(|(a, b)| vec![b - a]).collect();
                run.strides.iter_mut().for_each(|strides| strides[0] = 0);
                cuts.push(Cut { kind, start: position - 1, sizes: vec![2], firsts: second, strides });
                continue;
            }
        }
        let strides = vec![vec![0]; touched.len()];
        cuts.push(Cut { kind, start: position, sizes: vec![1], firsts: touched.clone(), strides });
        is_open = true;
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_cut_off() {
        let touches = [9, 1, 2, 3, 4, 5, 5];
        let kinds = [0, 1, 1, 1, 1, 1, 2];
        let cuts = cut(&[7], &mut |k, touched| {
            touched.push(touches[k]);
            Some(kinds[k])
        });
        let found: Vec<(usize, u32, i64)> = cuts.iter().map(|c| (c.start, c.sizes[0], c.firsts[0])).collect();
        assert_eq!(found, [(0, 1, 9), (1, 5, 1), (6, 1, 5)]);
    }

    #[test]
    fn an_uneven_first_element_is_cut_off() {
        let touches = [7, 1, 2, 3];
        let cuts = cut(&[4], &mut |k, touched| {
            touched.push(touches[k]);
            Some(0)
        });
        let found: Vec<(usize, u32)> = cuts.iter().map(|c| (c.start, c.sizes[0])).collect();
        assert_eq!(found, [(0, 1), (1, 3)]);
    }

    #[test]
    fn the_middle_of_a_plate_is_one_box() {
        // Four rows of five; the border has no kind.
        let cuts = cut(&[4, 5], &mut |k, touched| {
            touched.push(10 * (k / 5) as i64 + (k % 5) as i64);
            let (i, j) = (k / 5, k % 5);
            ((1..3).contains(&i) && (1..4).contains(&j)).then_some(0)
        });
        let middle = Cut { kind: 0, start: 6, sizes: vec![2, 3], firsts: vec![11], strides: vec![vec![10, 1]] };
        assert_eq!(cuts, [middle]);
    }

    #[test]
    fn every_element_is_in_one_cut() {
        let kind = |k: usize| (k * k / 7) as u32 % 2;
        let cuts = cut(&[3, 4, 5], &mut |k, touched| {
            touched.push((k * k % 11) as i64);
            Some(kind(k))
        });
        let n: usize = cuts.iter().map(Cut::n_elements).sum();
        assert_eq!(n, 60);
    }
}
