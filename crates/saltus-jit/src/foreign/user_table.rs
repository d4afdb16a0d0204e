//! Tables that a C function `usertab` of the model defines, as the standard library describes it.
//!
//! ```text
//! int usertab(char *tableName, int nipo, int dim[2], int *colWise, double **table)      0 if the table is there
//! ```
//!
//! The numbers stay with the function, row by row or, if it sets `colWise`, column by column; they are copied here.

use std::ffi::CString;
use std::path::Path;

use saltus_eval::{Reached, UserTable};

use super::memory::Kind;
use super::trampoline::Returned;
use super::{ForeignFunctions, utilities};

/// Numbers of a table that are believed; more of them are a mistake in `dim`.
const MOST_NUMBERS: usize = 1 << 28;

impl ForeignFunctions {
    /// Asks the function of a library that is loaded.
    pub fn user_table(&mut self, library: &Path, name: &str, n_variables: u32) -> Reached<UserTable> {
        let function = self
            .find("usertab", &[library.to_owned()])
            .ok_or_else(|| format!("the C source of the model has no function `usertab` for the table `{name}`"))?;
        let text = CString::new(name).map_err(|_| "the name of a table contains a zero byte".to_owned())?;
        let kinds = [Kind::Word; 5];
        let trampoline = self.trampolines()?.get(&kinds, Some(Returned::Int)).map_err(|e| e.to_string())?;
        let mut dim = [0i32; 2];
        let mut is_by_columns = 0i32;
        let mut numbers: *mut f64 = std::ptr::null_mut();
        let words = [
            text.as_ptr() as u64,
            u64::from(n_variables),
            &raw mut dim as u64,
            &raw mut is_by_columns as u64,
            &raw mut numbers as u64,
        ];
        let mut result = 0u64;
        // SAFETY: the trampoline reads five words and writes one; they are what the function is declared to take, and what they
        // point to lives until it has returned.
        unsafe { utilities::call(trampoline, words.as_ptr(), &raw mut result, function) }?;
        if result as u32 != 0 {
            return Err(format!("`usertab` does not give the table `{name}`: it returns {}", result as u32 as i32));
        }
        let [rows, columns] = dim.map(|n| usize::try_from(n).unwrap_or(0));
        let n = rows.checked_mul(columns).filter(|&n| n > 0 && n <= MOST_NUMBERS && !numbers.is_null());
        let Some(n) = n else {
            return Err(format!("`usertab` gives no usable table `{name}`: {} rows, {} columns", dim[0], dim[1]));
        };
        // SAFETY: the function says that so many numbers are there.
        let given = unsafe { std::slice::from_raw_parts(numbers, n) };
        let items = match is_by_columns {
            0 => given.to_vec(),
            _ => (0..n).map(|k| given[k % columns * rows + k / columns]).collect(),
        };
        Ok(UserTable { rows, columns, items })
    }
}
