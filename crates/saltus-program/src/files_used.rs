//! Which source files a program points into, wherever in it a [`Span`](saltus_base::Span) stands.
//!
//! In: anything that can be written by serde. Out: the file ids in it. The program is walked by writing it to nowhere, so that a new
//! table of the program cannot be forgotten.

use std::collections::BTreeSet;
use std::fmt;

use saltus_base::{FileId, Index};
use serde::ser::{self, Serialize};

/// The files that are mentioned in a value.
pub fn files_used(value: &impl Serialize) -> BTreeSet<FileId> {
    let mut files = BTreeSet::new();
    // Nothing is written, so nothing can fail.
    let _ = value.serialize(Walk { files: &mut files, is_file: false });
    files
}

/// The name under which ids of files are written.
const FILE_ID: &str = "FileId";

struct Walk<'a> {
    files: &'a mut BTreeSet<FileId>,
    is_file: bool,
}

impl Walk<'_> {
    fn inside(&mut self) -> Walk<'_> {
        Walk { files: self.files, is_file: false }
    }
}

#[derive(Debug)]
struct Impossible;

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("walking over data failed")
    }
}

impl std::error::Error for Impossible {}

impl ser::Error for Impossible {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Impossible
    }
}

type Walked = Result<(), Impossible>;

macro_rules! ignore {
    ($($method:ident($ty:ty);)*) => {$(
        fn $method(self, _: $ty) -> Walked {
            Ok(())
        }
    )*};
}

impl<'a> ser::Serializer for Walk<'a> {
    type Ok = ();
    type Error = Impossible;
    type SerializeSeq = Walk<'a>;
    type SerializeTuple = Walk<'a>;
    type SerializeTupleStruct = Walk<'a>;
    type SerializeTupleVariant = Walk<'a>;
    type SerializeMap = Walk<'a>;
    type SerializeStruct = Walk<'a>;
    type SerializeStructVariant = Walk<'a>;

    ignore! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_unit_struct(&'static str);
    }

    fn serialize_u32(self, value: u32) -> Walked {
        if self.is_file {
            self.files.insert(FileId::from_usize(value as usize));
        }
        Ok(())
    }

    fn serialize_none(self) -> Walked {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Walked {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Walked {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Walked {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Walked {
        value.serialize(Walk { is_file: name == FILE_ID, ..self })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Walked {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Impossible> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Impossible> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Impossible> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Impossible> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Impossible> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Impossible> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Impossible> {
        Ok(self)
    }
}

macro_rules! walk_elements {
    ($($kind:ident :: $method:ident;)*) => {$(
        impl ser::$kind for Walk<'_> {
            type Ok = ();
            type Error = Impossible;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Walked {
                value.serialize(self.inside())
            }

            fn end(self) -> Walked {
                Ok(())
            }
        }
    )*};
}

walk_elements! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

macro_rules! walk_fields {
    ($($kind:ident;)*) => {$(
        impl ser::$kind for Walk<'_> {
            type Ok = ();
            type Error = Impossible;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Walked {
                value.serialize(self.inside())
            }

            fn end(self) -> Walked {
                Ok(())
            }
        }
    )*};
}

walk_fields! {
    SerializeStruct;
    SerializeStructVariant;
}

impl ser::SerializeMap for Walk<'_> {
    type Ok = ();
    type Error = Impossible;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Walked {
        key.serialize(self.inside())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Walked {
        value.serialize(self.inside())
    }

    fn end(self) -> Walked {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Assign, Block, Code, SimProgram};
    use saltus_base::Span;

    #[test]
    fn files_of_all_spans_are_found() {
        let mut program = SimProgram::empty("M");
        let span = |file: usize| Span::new(FileId::from_usize(file), 1, 2);
        let block = |file| Block::Assign(Assign { code: Code::default(), stores: Vec::new(), span: span(file) });
        program.sections.events.blocks.extend([block(7), block(3), block(7)]);
        let found: Vec<usize> = files_used(&program).into_iter().map(Index::index).collect();
        assert_eq!(found, [3, 7]);
    }
}
