//! What functions with effects reach beyond the model: the terminal, files and directories, the process.
//!
//! In: names as a model writes them; relative ones start at the work directory of the simulation. Out: what was found, or
//! why not, in words for the user. There is no `Outside` at compile time: functions with effects have no value then.
//! Who implements this decides what is permitted. (Specification: section 12.9.)

use saltus_flat::{BaseType, Passing};

use crate::{FileKind, Value};

pub type Reached<T = ()> = Result<T, String>;

/// The time of day in the calendar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    pub year: i64,
    /// From 1.
    pub month: i64,
    /// From 1.
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub millisecond: i64,
}

impl Clock {
    /// The calendar of a number of seconds since the beginning of 1970, by the rules of the Gregorian calendar.
    pub fn of_seconds(seconds: i64, millisecond: i64) -> Clock {
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Years that begin in March have their leap day at the end; 400 of them have 146 097 days.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Clock {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
            millisecond,
        }
    }
}

/// A call of a function in a library of the user.
#[derive(Clone, Copy, Debug)]
pub struct ForeignCall<'a> {
    /// The Modelica function.
    pub function: &'a str,
    /// The C or FORTRAN function.
    pub name: &'a str,
    /// `"C"` or `"FORTRAN 77"`.
    pub language: &'a str,
    pub libraries: &'a [String],
    /// Where they may lie, as URIs or paths.
    pub directories: &'a [String],
    /// C text that comes with the function, and the directories of the files that it includes.
    pub includes: &'a [String],
    pub include_directories: &'a [String],
    /// How each argument is passed.
    pub passing: &'a [Passing],
    /// Which arguments the function writes.
    pub is_output: &'a [bool],
    /// The type of what is returned, always a scalar; `None` if nothing is.
    pub result: Option<BaseType>,
}

/// C text that external functions bring along; one translation unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inclusion {
    /// `Include`
    pub texts: Vec<String>,
    /// `IncludeDirectory`, as URIs or paths.
    pub directories: Vec<String>,
    pub functions: Vec<IncludedFunction>,
}

/// A C function of an inclusion as a Modelica function calls it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncludedFunction {
    pub name: String,
    pub passing: Vec<Passing>,
    pub result: Option<Passing>,
}

/// A matrix, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct UserTable {
    pub rows: usize,
    pub columns: usize,
    pub items: Vec<f64>,
}

pub trait Outside: Send {
    /// The C text of all external functions of the model, before any of them is called: they may need one another.
    fn include(&mut self, units: Vec<Inclusion>) {
        let _ = units;
    }

    /// Contents of a file named by a path or a `modelica://` URI.
    fn read(&mut self, name: &str) -> Reached<Vec<u8>>;

    /// The path that a `modelica://` or `file://` URI stands for.
    fn resolve(&mut self, uri: &str) -> Option<String>;

    fn kind(&mut self, name: &str) -> Reached<FileKind> {
        Ok(if self.read(name).is_ok() { FileKind::RegularFile } else { FileKind::NoFile })
    }

    fn full_path_name(&mut self, name: &str) -> String {
        name.to_owned()
    }

    /// A line for the user.
    fn print(&mut self, line: &str);

    fn write(&mut self, name: &str, bytes: &[u8]) -> Reached;
    fn append(&mut self, name: &str, bytes: &[u8]) -> Reached;
    fn make_directory(&mut self, name: &str) -> Reached;
    /// Of an empty directory.
    fn remove_directory(&mut self, name: &str) -> Reached;
    fn remove_file(&mut self, name: &str) -> Reached;
    fn rename(&mut self, from: &str, to: &str) -> Reached;
    /// Names of files and directories, without `.` and `..`, sorted.
    fn list(&mut self, directory: &str) -> Reached<Vec<String>>;
    /// The name of a file that does not exist yet.
    fn temporary_file_name(&mut self) -> Reached<String>;
    fn work_directory(&mut self) -> Reached<String>;
    fn set_work_directory(&mut self, name: &str) -> Reached;
    /// `None` if there is no such variable.
    fn environment_variable(&mut self, name: &str) -> Reached<Option<String>>;
    fn set_environment_variable(&mut self, name: &str, content: &str) -> Reached;
    /// Exit code of a command for the shell.
    fn command(&mut self, text: &str) -> Reached<i64>;
    fn clock(&mut self) -> Clock;
    fn process_id(&mut self) -> i64;

    /// The table that the C function `usertab` of the model has under a name. `n_variables` is 0 for a table over time.
    fn user_table(&mut self, name: &str, n_variables: u32) -> Reached<UserTable> {
        let _ = n_variables;
        Err(format!("`usertab`, which is to give the table `{name}`, is not available"))
    }

    /// Do objects of foreign code want to know where steps of the integrator end?
    fn watches_steps(&self) -> bool {
        false
    }

    /// A step has ended at this time, and what is evaluated there is part of the solution; true if an event is wanted there.
    fn end_step(&mut self, time: f64) -> bool {
        let _ = time;
        false
    }

    /// The state of an object of foreign code as bytes; an error says why it cannot be saved.
    fn save_object(&self, address: usize) -> Reached<Vec<u8>> {
        let _ = address;
        Err("it lives in foreign code".to_owned())
    }

    /// Gives an object, which its constructor has just made again, the state that it had.
    fn restore_object(&mut self, address: usize, state: &[u8]) -> Reached {
        let _ = (address, state);
        Err("it lives in foreign code".to_owned())
    }

    /// Calls a function of the user's own libraries. It writes into the arguments that are outputs.
    fn call(&mut self, call: &ForeignCall, arguments: &mut [Value]) -> Reached<Option<Value>> {
        let _ = arguments;
        Err(format!("`{}` is not available", call.name))
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn the_calendar_knows_leap_years() {
        let date = |seconds| {
            let clock = Clock::of_seconds(seconds, 0);
            (clock.year, clock.month, clock.day, clock.hour, clock.minute, clock.second)
        };
        // Figures from `date --utc --date=@…`.
        assert_eq!(date(0), (1970, 1, 1, 0, 0, 0));
        assert_eq!(date(951_782_399), (2000, 2, 28, 23, 59, 59));
        assert_eq!(date(951_782_400), (2000, 2, 29, 0, 0, 0));
        assert_eq!(date(1_709_251_199), (2024, 2, 29, 23, 59, 59));
        assert_eq!(date(4_107_542_400), (2100, 3, 1, 0, 0, 0));
        assert_eq!(date(-1), (1969, 12, 31, 23, 59, 59));
    }
}
