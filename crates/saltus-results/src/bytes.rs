//! Reading numbers from bytes, never beyond their end.

use crate::ReadError;

pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    pub at: usize,
    pub is_big_endian: bool,
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Bytes { bytes, at: 0, is_big_endian: false }
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub fn take(&mut self, n: usize) -> Result<&'a [u8], ReadError> {
        let end = self.at.checked_add(n);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| ReadError::new("expected more bytes, found the end of the file"))?;
        self.at += n;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        if self.is_big_endian {
            array.reverse();
        }
        Ok(array)
    }

    pub fn u8(&mut self) -> Result<u8, ReadError> {
        Ok(self.array::<1>()?[0])
    }

    pub fn i16(&mut self) -> Result<i16, ReadError> {
        self.array().map(i16::from_le_bytes)
    }

    pub fn i32(&mut self) -> Result<i32, ReadError> {
        self.array().map(i32::from_le_bytes)
    }

    pub fn i64(&mut self) -> Result<i64, ReadError> {
        self.array().map(i64::from_le_bytes)
    }

    pub fn f32(&mut self) -> Result<f32, ReadError> {
        self.array().map(f32::from_le_bytes)
    }

    pub fn f64(&mut self) -> Result<f64, ReadError> {
        self.array().map(f64::from_le_bytes)
    }
}
