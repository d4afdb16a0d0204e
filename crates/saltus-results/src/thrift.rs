//! The compact protocol of Thrift, as far as the footer of a Parquet file needs it.
//!
//! A struct is a list of fields, each with a number and a type, ended by a zero byte; integers are variable-length and
//! zigzag.

use crate::ReadError;
use crate::bytes::Bytes;

/// Values nested deeper than this are no footer.
const DEEPEST: u32 = 32;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Integer(i64),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    /// Field number and value.
    Struct(Vec<(i16, Value)>),
}

impl Value {
    pub fn text(text: &str) -> Value {
        Value::Bytes(text.as_bytes().to_vec())
    }

    pub fn field(&self, number: i16) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(n, _)| *n == number).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn integer(&self, number: i16) -> Option<i64> {
        match self.field(number)? {
            Value::Integer(i) => Some(*i),
            _ => None,
        }
    }

    pub fn string(&self, number: i16) -> Option<String> {
        match self.field(number)? {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    pub fn list(&self, number: i16) -> &[Value] {
        match self.field(number) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// Type number in the compact protocol. All integers are written as 32 or 64 bits, which look the same.
    fn ty(&self) -> u8 {
        match self {
            Value::Integer(i) if i32::try_from(*i).is_ok() => 5,
            Value::Integer(_) => 6,
            Value::Bytes(_) => 8,
            Value::List(_) => 9,
            Value::Struct(_) => 12,
        }
    }
}

/// A field whose type must be 64 bits although its value is small.
pub(crate) fn write_struct(out: &mut Vec<u8>, value: &Value, long: &dyn Fn(&[i16]) -> bool) {
    write(out, value, &mut Vec::new(), long);
}

fn write(out: &mut Vec<u8>, value: &Value, path: &mut Vec<i16>, long: &dyn Fn(&[i16]) -> bool) {
    match value {
        Value::Integer(i) => varint(out, zigzag(*i)),
        Value::Bytes(bytes) => {
            varint(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        Value::List(items) => {
            let ty = items.first().map_or(12, Value::ty);
            if items.len() < 15 {
                out.push((items.len() as u8) << 4 | ty);
            } else {
                out.push(0xf0 | ty);
                varint(out, items.len() as u64);
            }
            items.iter().for_each(|item| write(out, item, path, long));
        }
        Value::Struct(fields) => {
            let mut last = 0;
            for (number, field) in fields {
                path.push(*number);
                let ty = if matches!(field, Value::Integer(_)) && long(path) { 6 } else { field.ty() };
                let step = number - last;
                if (1..=15).contains(&step) {
                    out.push((step as u8) << 4 | ty);
                } else {
                    out.push(ty);
                    varint(out, zigzag(i64::from(*number)));
                }
                last = *number;
                write(out, field, path, long);
                path.pop();
            }
            out.push(0);
        }
    }
}

fn zigzag(i: i64) -> u64 {
    ((i << 1) ^ (i >> 63)) as u64
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn read_struct(bytes: &mut Bytes<'_>) -> Result<Value, ReadError> {
    read(bytes, 12, 0)
}

fn read_varint(bytes: &mut Bytes<'_>) -> Result<u64, ReadError> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = bytes.u8()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(odd())
}

fn odd() -> ReadError {
    ReadError::new("expected the footer of a Parquet file, found something else")
}

fn read_integer(bytes: &mut Bytes<'_>) -> Result<i64, ReadError> {
    let value = read_varint(bytes)?;
    Ok((value >> 1) as i64 ^ -((value & 1) as i64))
}

fn read(bytes: &mut Bytes<'_>, ty: u8, depth: u32) -> Result<Value, ReadError> {
    if depth > DEEPEST {
        return Err(odd());
    }
    Ok(match ty {
        1 => Value::Integer(1),
        2 => Value::Integer(0),
        3 => Value::Integer(i64::from(bytes.u8()?)),
        4..=6 => Value::Integer(read_integer(bytes)?),
        7 => Value::Integer(bytes.i64()?),
        8 => {
            let n = usize::try_from(read_varint(bytes)?).map_err(|_| odd())?;
            Value::Bytes(bytes.take(n)?.to_vec())
        }
        9 | 10 => {
            let head = bytes.u8()?;
            let n = if head >> 4 == 15 { read_varint(bytes)? } else { u64::from(head >> 4) };
            let mut items = Vec::new();
            for _ in 0..n {
                // A list of Booleans has a byte for each; every other item takes one at least, so this ends.
                items.push(read(bytes, if head & 15 <= 2 { 3 } else { head & 15 }, depth + 1)?);
            }
            Value::List(items)
        }
        12 => {
            let mut fields = Vec::new();
            let mut last = 0i16;
            loop {
                let head = bytes.u8()?;
                if head == 0 {
                    return Ok(Value::Struct(fields));
                }
                let number = match head >> 4 {
                    0 => i16::try_from(read_integer(bytes)?).map_err(|_| odd())?,
                    step => last.checked_add(i16::from(step)).ok_or_else(odd)?,
                };
                last = number;
                fields.push((number, read(bytes, head & 15, depth + 1)?));
            }
        }
        _ => return Err(odd()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_survive_writing_and_reading() {
        let value = Value::Struct(vec![
            (1, Value::Integer(-3)),
            (2, Value::List((0..20).map(Value::Integer).collect())),
            (40, Value::Struct(vec![(5, Value::text("grün")), (6, Value::Integer(1 << 40))])),
        ]);
        let mut out = Vec::new();
        write_struct(&mut out, &value, &|path| path == [1]);
        assert_eq!(read_struct(&mut Bytes::new(&out)), Ok(value));
    }
}
