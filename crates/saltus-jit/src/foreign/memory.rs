//! Values as C and FORTRAN have them in memory, and back.
//!
//! ```text
//! Real 8 bytes, Integer, Boolean and enumeration 4 (`int`), String a pointer, record a struct with the usual padding;
//! arrays row by row for C, column by column for FORTRAN
//! ```
//!
//! In C scalars that are not written are passed as they are, everything else by its address; in FORTRAN everything is
//! passed by its address. (Specification: section 12.9.1.)

use std::ffi::CString;

use saltus_eval::{Items, Reached, Value};

/// How an argument travels: in a register for floating-point numbers, or in one for integers and addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Real,
    Word,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    C,
    Fortran,
}

/// The arguments of one call.
pub struct Passed {
    pub kinds: Vec<Kind>,
    pub words: Vec<u64>,
    language: Language,
    /// What is passed by its address, by argument; in words, so that everything in it is aligned.
    memory: Vec<Vec<u64>>,
    /// What pointers in `words` and `memory` point to.
    strings: Vec<CString>,
}

impl Passed {
    pub fn new(arguments: &[Value], is_output: &[bool], language: Language) -> Reached<Passed> {
        let n = arguments.len();
        let mut passed = Passed {
            kinds: Vec::with_capacity(n),
            words: Vec::with_capacity(n),
            language,
            memory: Vec::with_capacity(n),
            strings: Vec::new(),
        };
        for (i, argument) in arguments.iter().enumerate() {
            let is_output = is_output.get(i).copied().unwrap_or(false);
            passed.pass(argument, is_output).map_err(|why| format!("argument {}: {why}", i + 1))?;
        }
        Ok(passed)
    }

    fn pass(&mut self, value: &Value, is_output: bool) -> Reached {
        let is_direct = self.language == Language::C && !is_output;
        let (kind, word, memory) = match value {
            Value::Real(x) if is_direct => (Kind::Real, x.to_bits(), Vec::new()),
            Value::Integer(_) | Value::Boolean(_) | Value::Enum(..) if is_direct => {
                // As wide as `size_t`: what is an `int` for the function is in the lower half.
                (Kind::Word, i64::from(int(value)?) as u64, Vec::new())
            }
            // Strings are passed by the address of their text in both languages.
            Value::String(text) if !is_output => (Kind::Word, self.string(text)?, Vec::new()),
            Value::Object(object) if is_direct => {
                let address = object.address().ok_or("this object belongs to the simulator, not to foreign code")?;
                (Kind::Word, address as u64, Vec::new())
            }
            _ => {
                let mut memory = words(&self.encode(value)?);
                (Kind::Word, memory.as_mut_ptr() as usize as u64, memory)
            }
        };
        self.kinds.push(kind);
        self.words.push(word);
        self.memory.push(memory);
        Ok(())
    }

    fn encode(&mut self, value: &Value) -> Reached<Vec<u8>> {
        let mut bytes = Vec::new();
        let value = if self.language == Language::Fortran { by_columns(value)? } else { value.clone() };
        self.append(&value, &mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, value: &Value, bytes: &mut Vec<u8>) -> Reached {
        align(bytes, alignment(value)?);
        match value {
            Value::Real(x) => bytes.extend(x.to_ne_bytes()),
            Value::Integer(_) | Value::Boolean(_) | Value::Enum(..) => bytes.extend(int(value)?.to_ne_bytes()),
            Value::String(_) | Value::Record(..) if self.language == Language::Fortran => {
                return Err("Strings that are written and records cannot be passed to FORTRAN".to_owned());
            }
            Value::String(text) => {
                let address = self.string(text)?;
                bytes.extend(address.to_ne_bytes());
            }
            Value::Record(_, fields) => {
                for field in fields.iter() {
                    if matches!(field, Value::Array(_)) {
                        return Err("a record that contains an array has no form in C".to_owned());
                    }
                    self.append(field, bytes)?;
                }
                align(bytes, alignment(value)?);
            }
            Value::Array(array) => match array.items() {
                Items::Real(all) => all.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
                _ => value.elements().iter().try_for_each(|element| self.append(element, bytes))?,
            },
            Value::Function(_) | Value::Object(_) => return Err("it has no form in memory".to_owned()),
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Reached<u64> {
        let text = CString::new(text).map_err(|_| "the String contains a zero byte".to_owned())?;
        let address = text.as_ptr() as usize as u64;
        self.strings.push(text);
        Ok(address)
    }

    /// Reads the arguments that the function has written.
    pub fn write_back(&self, arguments: &mut [Value], is_output: &[bool]) -> Reached {
        for ((value, memory), &is_output) in arguments.iter_mut().zip(&self.memory).zip(is_output) {
            if is_output {
                let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_ne_bytes()).collect();
                let mut reader = Reader { bytes: &bytes, at: 0 };
                let form = if self.language == Language::Fortran { by_columns(value)? } else { value.clone() };
                let read = reader.value(&form)?;
                *value = if self.language == Language::Fortran { by_rows(&read, value.dims())? } else { read };
            }
        }
        Ok(())
    }
}

/// As `int`.
fn int(value: &Value) -> Reached<i32> {
    match value {
        Value::Integer(i) => i32::try_from(*i).map_err(|_| format!("{i} does not fit into an `int`")),
        Value::Boolean(b) => Ok(i32::from(*b)),
        Value::Enum(_, ordinal) => i32::try_from(*ordinal).map_err(|_| format!("{ordinal} does not fit into an `int`")),
        _ => Err("no integer".to_owned()),
    }
}

/// The ordinal of an enumeration value.
pub fn ordinal(i: i64) -> Reached<u32> {
    u32::try_from(i).ok().filter(|&i| i > 0).ok_or_else(|| format!("{i} is not a value of an enumeration"))
}

fn alignment(value: &Value) -> Reached<usize> {
    Ok(match value {
        Value::Real(_) | Value::String(_) => 8,
        Value::Integer(_) | Value::Boolean(_) | Value::Enum(..) => 4,
        Value::Record(_, fields) => {
            let mut most = 1;
            for field in fields.iter() {
                most = most.max(alignment(field)?);
            }
            most
        }
        Value::Array(array) => match array.get(0) {
            Some(first) => alignment(&first)?,
            None => 8,
        },
        Value::Function(_) | Value::Object(_) => return Err("it has no form in memory".to_owned()),
    })
}

fn align(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut full = [0; 8];
        full[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(full)
    };
    bytes.chunks(8).map(word).collect()
}

/// Positions in row-major order of the elements in column-major order.
fn column_order(dims: &[usize]) -> Vec<usize> {
    let n: usize = dims.iter().product();
    let position = |mut k: usize| {
        let mut index = Vec::with_capacity(dims.len());
        for &size in dims {
            index.push(k % size);
            k /= size;
        }
        dims.iter().zip(index).fold(0, |position, (&size, i)| position * size + i)
    };
    (0..n).map(position).collect()
}

fn by_columns(value: &Value) -> Reached<Value> {
    let Value::Array(array) = value else { return Ok(value.clone()) };
    let items = array.items().gather(&column_order(array.dims()));
    items.and_then(|items| Value::from_parts(array.dims().to_vec(), items)).ok_or_else(|| "wrong sizes".to_owned())
}

fn by_rows(value: &Value, dims: &[usize]) -> Reached<Value> {
    let Value::Array(array) = value else { return Ok(value.clone()) };
    let mut inverse = vec![0; array.len()];
    for (k, position) in column_order(dims).into_iter().enumerate() {
        inverse[position] = k;
    }
    let items = array.items().gather(&inverse);
    items.and_then(|items| Value::from_parts(dims.to_vec(), items)).ok_or_else(|| "wrong sizes".to_owned())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Reached<[u8; N]> {
        let bytes = self.bytes.get(self.at..self.at + N).and_then(|b| b.try_into().ok());
        self.at += N;
        bytes.ok_or_else(|| "the memory of an argument is too short".to_owned())
    }

    fn int(&mut self) -> Reached<i32> {
        Ok(i32::from_ne_bytes(self.take()?))
    }

    /// A value of the same form as `form`.
    fn value(&mut self, form: &Value) -> Reached<Value> {
        let alignment = alignment(form)?;
        self.at = self.at.next_multiple_of(alignment);
        Ok(match form {
            Value::Real(_) => Value::Real(f64::from_ne_bytes(self.take()?)),
            Value::Integer(_) => Value::Integer(self.int()?.into()),
            Value::Boolean(_) => Value::Boolean(self.int()? != 0),
            Value::Enum(id, _) => Value::Enum(*id, ordinal(self.int()?.into())?),
            Value::String(_) => super::text_at(u64::from_ne_bytes(self.take()?))?,
            Value::Record(id, fields) => {
                let fields: Reached<Vec<Value>> = fields.iter().map(|field| self.value(field)).collect();
                self.at = self.at.next_multiple_of(alignment);
                Value::record(*id, fields?)
            }
            Value::Array(array) => {
                let mut items = Items::with_capacity(array.items().base_type(), array.len());
                for element in form.elements() {
                    items.push(self.value(&element)?);
                }
                Value::from_parts(array.dims().to_vec(), items).ok_or("wrong sizes")?
            }
            Value::Function(_) | Value::Object(_) => return Err("it has no form in memory".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use saltus_base::Index;
    use saltus_flat::RecordId;

    use super::*;

    /// What comes back if the function changes nothing.
    fn echo(value: &Value, language: Language) -> Value {
        let passed = Passed::new(std::slice::from_ref(value), &[true], language).unwrap();
        let mut arguments = [value.clone()];
        passed.write_back(&mut arguments, &[true]).unwrap();
        let [echo] = arguments;
        echo
    }

    fn matrix() -> Value {
        Value::from_parts(vec![2, 3], Items::Real(vec![11.0, 12.0, 13.0, 21.0, 22.0, 23.0])).unwrap()
    }

    #[test]
    fn values_survive_memory() {
        let record = Value::record(
            RecordId::from_usize(0),
            vec![Value::Integer(1), Value::Real(2.5), Value::Boolean(true), Value::string("text")],
        );
        let booleans = Value::booleans(vec![true, false, true]);
        for value in [Value::Real(-1.5), Value::Integer(-3), Value::string("ä"), record, booleans, matrix()] {
            assert_eq!(echo(&value, Language::C), value);
        }
        assert_eq!(echo(&matrix(), Language::Fortran), matrix());
    }

    #[test]
    fn a_struct_has_the_padding_of_c() {
        // struct { int a; double b; int c; } has the offsets 0, 8, 16 and the size 24.
        let record =
            Value::record(RecordId::from_usize(0), vec![Value::Integer(1), Value::Real(2.0), Value::Integer(3)]);
        let mut passed = Passed::new(&[], &[], Language::C).unwrap();
        let bytes = passed.encode(&record).unwrap();
        let mut expected = Vec::new();
        expected.extend(1i32.to_ne_bytes());
        expected.extend([0; 4]);
        expected.extend(2f64.to_ne_bytes());
        expected.extend(3i32.to_ne_bytes());
        expected.extend([0; 4]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn fortran_has_columns_one_after_the_other() {
        let mut passed = Passed::new(&[], &[], Language::Fortran).unwrap();
        let bytes = passed.encode(&matrix()).unwrap();
        let reals: Vec<f64> = bytes.chunks(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect();
        assert_eq!(reals, [11.0, 21.0, 12.0, 22.0, 13.0, 23.0]);
        // Scalars are passed by address, too.
        let passed = Passed::new(&[Value::Real(1.0)], &[false], Language::Fortran).unwrap();
        assert_eq!((passed.kinds[0], passed.memory[0].as_slice()), (Kind::Word, &[1f64.to_bits()][..]));
    }

    #[test]
    fn what_has_no_form_is_refused() {
        let nested = Value::record(RecordId::from_usize(0), vec![matrix()]);
        assert!(Passed::new(&[nested], &[false], Language::C).is_err());
        let record = Value::record(RecordId::from_usize(0), vec![Value::Real(1.0)]);
        assert!(Passed::new(&[record], &[false], Language::Fortran).is_err());
    }
}
