//! Fewer points for the same picture: of all points in one column of pixels the first, the last, the lowest and the highest
//! are enough.

/// Points of a curve in picture coordinates, in pieces without gaps, at most four for each unit of x.
pub fn pieces(points: impl Iterator<Item = (f64, f64)>, per_unit: f64) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    let mut column: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        let is_gap = !(x.is_finite() && y.is_finite());
        let starts_column = column.first().is_none_or(|(x0, _)| (x * per_unit).floor() != (x0 * per_unit).floor());
        if is_gap || starts_column {
            flush(&mut column, &mut pieces);
        }
        if is_gap {
            pieces.push(Vec::new());
        } else {
            column.push((x, y));
        }
    }
    flush(&mut column, &mut pieces);
    pieces.retain(|p| !p.is_empty());
    pieces
}

fn flush(column: &mut Vec<(f64, f64)>, pieces: &mut [Vec<(f64, f64)>]) {
    let Some(piece) = pieces.last_mut() else { return };
    if column.len() <= 4 {
        piece.append(column);
        return;
    }
    let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let lowest = column.iter().min_by(by_height).copied();
    let highest = column.iter().max_by(by_height).copied();
    let mut inner: Vec<(f64, f64)> = [lowest, highest].into_iter().flatten().collect();
    inner.sort_by(|a, b| a.0.total_cmp(&b.0));
    piece.extend(column.first());
    piece.extend(inner);
    piece.extend(column.last());
    column.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spikes_survive_and_gaps_divide() {
        let many = (0..10_000).map(|i| (f64::from(i) / 1000.0, if i == 5_555 { 9.0 } else { 0.0 }));
        let pieces = pieces(many, 1.0);
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() <= 40 && pieces[0].iter().any(|p| p.1 == 9.0));
        let gap = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 1.0)];
        assert_eq!(super::pieces(gap.into_iter(), 1.0).len(), 2);
    }
}
