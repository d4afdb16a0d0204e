//! The schema of Arrow as text in the metadata of a Parquet file: names, types and metadata of the columns.
//!
//! It is a message of Arrow's inter-process format (`Message.fbs`, `Schema.fbs`) in base64. Such a message is a *flatbuffer*: tables that
//! refer to each other by distances. A table begins with the distance back to its *vtable*, which lists at which place of the table each
//! field is, 0 for those that are not there.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::signal::Kind;

pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
    pub is_nullable: bool,
    pub metadata: Vec<(&'static str, String)>,
}

/// Numbers of the specification: version 5 of the metadata, a message that is a schema, types of columns, double precision.
const VERSION_5: u16 = 4;
const HEADER_SCHEMA: u8 = 1;
const TYPE_INT: u8 = 2;
const TYPE_FLOAT: u8 = 3;
const TYPE_BOOL: u8 = 6;
const DOUBLE: u16 = 2;
/// Stands before the length of a message.
const CONTINUATION: u32 = u32::MAX;

pub(super) fn encode(fields: &[Field]) -> String {
    let mut b = Builder { bytes: vec![0; 4] };
    let message = b.table(&[Slot::U16(VERSION_5), Slot::U8(HEADER_SCHEMA), Slot::Reference, Slot::I64(0)]);
    b.refer(0, message.at);
    // Little-endian, which is the default; fields.
    let schema = b.table(&[Slot::None, Slot::Reference]);
    b.refer(message.places[2], schema.at);
    let list = b.vector(fields.len());
    b.refer(schema.places[1], list.at);
    for (place, field) in list.places.iter().zip(fields) {
        let at = b.field(field);
        b.refer(*place, at);
    }
    b.align(8);
    let mut message = CONTINUATION.to_le_bytes().to_vec();
    message.extend((b.bytes.len() as u32).to_le_bytes());
    message.extend(b.bytes);
    STANDARD.encode(message)
}

enum Slot {
    None,
    U8(u8),
    U16(u16),
    I32(i32),
    I64(i64),
    /// Filled in when the place of what it refers to is known.
    Reference,
}

impl Slot {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Slot::None => Vec::new(),
            Slot::U8(v) => vec![*v],
            Slot::U16(v) => v.to_le_bytes().to_vec(),
            Slot::I32(v) => v.to_le_bytes().to_vec(),
            Slot::I64(v) => v.to_le_bytes().to_vec(),
            Slot::Reference => vec![0; 4],
        }
    }
}

/// Where something was put, and where its parts are.
struct Placed {
    at: usize,
    places: Vec<usize>,
}

/// Puts what is referred to behind what refers to it, as distances of references are positive.
struct Builder {
    bytes: Vec<u8>,
}

impl Builder {
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    fn table(&mut self, slots: &[Slot]) -> Placed {
        self.align(8);
        let vtable = self.bytes.len();
        // The table comes right after its vtable, at a multiple of 8 plus 4, so that the first field is at a multiple of 8.
        let at = (vtable + 4 + 2 * slots.len() + 4).next_multiple_of(8) - 4;
        let at = if at < vtable + 4 + 2 * slots.len() { at + 8 } else { at };
        let mut inline: Vec<u8> = ((at - vtable) as i32).to_le_bytes().to_vec();
        let mut places = Vec::new();
        let mut offsets = Vec::new();
        for slot in slots {
            let value = slot.bytes();
            while !value.is_empty() && !(at + inline.len()).is_multiple_of(value.len()) {
                inline.push(0);
            }
            places.push(at + inline.len());
            offsets.push(if value.is_empty() { 0 } else { inline.len() as u16 });
            inline.extend(value);
        }
        self.bytes.extend((4 + 2 * slots.len() as u16).to_le_bytes());
        self.bytes.extend((inline.len() as u16).to_le_bytes());
        self.bytes.extend(offsets.iter().flat_map(|o| o.to_le_bytes()));
        self.bytes.resize(at, 0);
        self.bytes.extend(inline);
        Placed { at, places }
    }

    /// References to be filled in.
    fn vector(&mut self, n: usize) -> Placed {
        self.align(4);
        let at = self.bytes.len();
        self.bytes.extend((n as u32).to_le_bytes());
        self.bytes.resize(self.bytes.len() + 4 * n, 0);
        Placed { at, places: (0..n).map(|i| at + 4 + 4 * i).collect() }
    }

    fn string(&mut self, text: &str) -> usize {
        self.align(4);
        let at = self.bytes.len();
        self.bytes.extend((text.len() as u32).to_le_bytes());
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
        at
    }

    fn refer(&mut self, place: usize, to: usize) {
        self.bytes[place..place + 4].copy_from_slice(&((to - place) as u32).to_le_bytes());
    }

    /// Name, may be null, number of the type, type, dictionary, children, metadata.
    fn field(&mut self, field: &Field) -> usize {
        let (ty, parts): (u8, &[Slot]) = match field.kind {
            Kind::Real => (TYPE_FLOAT, &[Slot::U16(DOUBLE)]),
            Kind::Boolean => (TYPE_BOOL, &[]),
            Kind::Integer | Kind::Enumeration => (TYPE_INT, &[Slot::I32(64), Slot::U8(1)]),
        };
        let is_nullable = u8::from(field.is_nullable);
        let reference = || Slot::Reference;
        let table = self.table(&[
            reference(),
            Slot::U8(is_nullable),
            Slot::U8(ty),
            reference(),
            Slot::None,
            reference(),
            reference(),
        ]);
        let name = self.string(&field.name);
        self.refer(table.places[0], name);
        let ty = self.table(parts);
        self.refer(table.places[3], ty.at);
        let children = self.vector(0);
        self.refer(table.places[5], children.at);
        let pairs = self.vector(field.metadata.len());
        self.refer(table.places[6], pairs.at);
        for (place, (key, value)) in pairs.places.iter().zip(&field.metadata) {
            let pair = self.table(&[Slot::Reference, Slot::Reference]);
            self.refer(*place, pair.at);
            for (place, text) in pair.places.iter().zip([*key, value.as_str()]) {
                let at = self.string(text);
                self.refer(*place, at);
            }
        }
        table.at
    }
}

/// Metadata of the columns by their names; nothing where the text is not a schema.
pub(super) fn decode(text: &str) -> HashMap<String, HashMap<String, String>> {
    STANDARD.decode(text).ok().and_then(|bytes| fields(&bytes)).unwrap_or_default()
}

fn fields(message: &[u8]) -> Option<HashMap<String, HashMap<String, String>>> {
    // Old files have no mark before the length.
    let skipped = if u32_at(message, 0)? == CONTINUATION { 8 } else { 4 };
    let bytes = message.get(skipped..)?;
    let root = Table { bytes, at: follow(bytes, 0)? };
    let schema = root.table(2)?;
    let mut found = HashMap::new();
    for field in schema.tables(1)? {
        let pairs = field.tables(6).unwrap_or_default();
        let pairs = pairs.iter().filter_map(|pair| Some((pair.string(0)?, pair.string(1)?)));
        found.insert(field.string(0)?, pairs.collect());
    }
    Some(found)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn follow(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(u32_at(bytes, at)? as usize)
}

struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    /// The place of a reference, followed.
    fn field(&self, number: usize) -> Option<usize> {
        let back = u32_at(self.bytes, self.at)? as i32;
        let vtable = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        let u16_at = |at: usize| Some(u16::from_le_bytes(self.bytes.get(at..)?.first_chunk().copied()?) as usize);
        let entry = 4 + 2 * number;
        if entry >= u16_at(vtable)? {
            return None;
        }
        let offset = u16_at(vtable + entry)?;
        if offset == 0 { None } else { follow(self.bytes, self.at.checked_add(offset)?) }
    }

    fn table(&self, number: usize) -> Option<Table<'a>> {
        Some(Table { bytes: self.bytes, at: self.field(number)? })
    }

    fn tables(&self, number: usize) -> Option<Vec<Table<'a>>> {
        let at = self.field(number)?;
        let n = u32_at(self.bytes, at)? as usize;
        // Each takes four bytes at least.
        let places = self.bytes.get(at + 4..)?.chunks_exact(4).take(n).enumerate();
        places.map(|(i, _)| Some(Table { bytes: self.bytes, at: follow(self.bytes, at + 4 + 4 * i)? })).collect()
    }

    fn string(&self, number: usize) -> Option<String> {
        let at = self.field(number)?;
        let n = u32_at(self.bytes, at)? as usize;
        let text = self.bytes.get(at + 4..)?.get(..n)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_survive() {
        let field = |name: &str, kind, metadata| Field {
            name: name.to_owned(),
            kind,
            is_nullable: kind != Kind::Real,
            metadata,
        };
        let text = encode(&[
            field("h", Kind::Real, vec![("unit", "m".to_owned()), ("description", "Höhe".to_owned())]),
            field("on", Kind::Boolean, Vec::new()),
            field("n", Kind::Integer, vec![("type", "Integer".to_owned())]),
        ]);
        let found = decode(&text);
        assert_eq!(found.len(), 3);
        assert_eq!(found["h"].get("unit").map(String::as_str), Some("m"));
        assert_eq!(found["h"].get("description").map(String::as_str), Some("Höhe"));
        assert!(found["on"].is_empty());
    }

    #[test]
    fn damaged_schemas_are_no_schemas() {
        let metadata = vec![("unit", "m".to_owned())];
        let field = Field { name: "h".to_owned(), kind: Kind::Real, is_nullable: true, metadata };
        let whole = STANDARD.decode(encode(&[field])).expect("base64");
        for i in 0..whole.len() {
            let _ = fields(&whole[..i]);
            for value in [0, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[i] = value;
                let _ = fields(&damaged);
            }
        }
    }
}
