//! Table data in text files: the `#1` format and comma-separated values.
//!
//! ```text
//! #1
//! double tab(2, 2)   # sizes; comments run to the end of the line
//!   0 0
//!   1 1
//! ```

use saltus_results::matlab::{self, Matrix};

/// Reads a table from the contents of a file: MATLAB by its ending, CSV by its ending, text otherwise.
pub fn read_table(
    file: &str,
    bytes: &[u8],
    name: &str,
    delimiter: &str,
    n_header_lines: usize,
    most: u64,
) -> Result<Matrix, String> {
    let lower = file.to_ascii_lowercase();
    if lower.ends_with(".mat") {
        return matlab::read_matrix(bytes, name, most);
    }
    let text = String::from_utf8_lossy(bytes);
    if lower.ends_with(".csv") {
        return csv(&text, delimiter, n_header_lines, most);
    }
    text_table(&text, name, most)
}

fn csv(text: &str, delimiter: &str, n_header_lines: usize, most: u64) -> Result<Matrix, String> {
    let delimiter = if delimiter.is_empty() { "," } else { delimiter };
    let (mut rows, mut columns, mut items) = (0, 0, Vec::new());
    for (i, line) in text.lines().enumerate().skip(n_header_lines) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let before = items.len();
        for field in line.split(delimiter) {
            items.push(number(field).ok_or_else(|| format!("line {}: `{}` is not a number", i + 1, field.trim()))?);
        }
        let found = items.len() - before;
        if rows > 0 && found != columns {
            return Err(format!("line {}: {found} values, the lines before have {columns}", i + 1));
        }
        (rows, columns) = (rows + 1, found);
        too_many(items.len(), most)?;
    }
    Ok(Matrix { rows, columns, items })
}

fn too_many(n: usize, most: u64) -> Result<(), String> {
    if n as u64 > most { Err(format!("the table has more than {most} elements")) } else { Ok(()) }
}

fn number(text: &str) -> Option<f64> {
    text.trim().trim_matches('"').parse().ok()
}

fn text_table(text: &str, name: &str, most: u64) -> Result<Matrix, String> {
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, first)) if first.trim_start_matches('\u{feff}').starts_with("#1") => {}
        _ => return Err("a table file must begin with `#1`".into()),
    }
    while let Some((_, line)) = lines.next() {
        let Some((found, rows, columns)) = header(line) else { continue };
        if found != name {
            continue;
        }
        let n = rows.checked_mul(columns).ok_or("the sizes are too large")?;
        too_many(n, most)?;
        let mut items = Vec::with_capacity(n);
        for (i, line) in lines.by_ref() {
            if items.len() >= n {
                break;
            }
            let line = line.split('#').next().unwrap_or("");
            for field in line.split([' ', '\t', ',', ';', '\r']).filter(|f| !f.is_empty()) {
                if items.len() < n {
                    items.push(number(field).ok_or_else(|| format!("line {}: `{field}` is not a number", i + 1))?);
                }
            }
        }
        if items.len() < n {
            return Err(format!("table `{name}` has {} values, its sizes say {n}", items.len()));
        }
        return Ok(Matrix { rows, columns, items });
    }
    Err(format!("there is no table `{name}`"))
}

/// `double name(rows, columns)`
fn header(line: &str) -> Option<(&str, usize, usize)> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("double").or_else(|| line.strip_prefix("float"))?;
    let rest = rest.strip_prefix([' ', '\t'])?;
    let (name, sizes) = rest.split_once('(')?;
    let (sizes, _) = sizes.split_once(')')?;
    let (rows, columns) = sizes.split_once(',')?;
    Some((name.trim(), rows.trim().parse().ok()?, columns.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_tables_are_found_by_name() {
        let text = b"#1\n# a comment\ndouble other(1,1)\n 7\ndouble tab(2, 3) # sizes\n 1, 2; 3 # row\n4\t5 6e1\n";
        let table = read_table("t.txt", text, "tab", ",", 0, 100).expect("table");
        assert_eq!((table.rows, table.columns), (2, 3));
        assert_eq!(table.items, [1.0, 2.0, 3.0, 4.0, 5.0, 60.0]);
        assert_eq!(read_table("t.txt", text, "no", ",", 0, 100), Err("there is no table `no`".into()));
        assert!(read_table("t.txt", b"#1\ndouble tab(2,2)\n1 2 3", "tab", ",", 0, 100).is_err());
        assert!(read_table("t.txt", b"#1\ndouble tab(99,99)\n", "tab", ",", 0, 100).is_err());
    }

    #[test]
    fn comma_separated_values_skip_header_lines() {
        let table = read_table("t.csv", b"time;x\n0;1.5\n1;-2\n\n", "", ";", 1, 100).expect("table");
        assert_eq!((table.rows, table.columns, table.items), (2, 2, vec![0.0, 1.5, 1.0, -2.0]));
        assert!(read_table("t.csv", b"0,1\n2\n", "", ",", 0, 100).is_err());
    }
}
