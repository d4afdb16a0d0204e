//! Files of our own: compiled models and states of simulations.
//!
//! ```text
//! "SALTUS\0" kind   version   length   checksum   content, compressed
//! ```
//!
//! In: data that serde can write. Out: bytes, and from bytes the data or a [`BadFile`] that says what is wrong with them. What is
//! read was complete and unchanged; whether it makes sense is for its reader to verify.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Changes with everything that is written. A reader accepts its own version only: what is written is compiled anew from its
/// sources in less time than a conversion would take to write.
pub const VERSION: u32 = 11;

const MAGIC: &[u8; 7] = b"SALTUS\0";
const HEADER: usize = 7 + 1 + 4 + 8 + 4;
/// Contents larger than this are refused.
const MOST_BYTES: usize = 2 << 30;
const COMPRESSION: u8 = 6;

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    Model,
    State,
}

impl Content {
    fn letter(self) -> u8 {
        match self {
            Content::Model => b'M',
            Content::State => b'S',
        }
    }

    fn name(self) -> &'static str {
        match self {
            Content::Model => "a compiled model",
            Content::State => "the state of a simulation",
        }
    }
}

/// Why a file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BadFile {
    /// Something else altogether.
    Foreign { expected: Content },
    /// One of ours, with other content.
    Other { expected: Content, found: Content },
    /// Written by another version of the program.
    Version { found: u32 },
    /// Bytes are missing.
    Truncated,
    /// Bytes have changed, or make no sense.
    Damaged(String),
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            BadFile::Foreign { expected } => write!(f, "it is not {}", expected.name()),
            BadFile::Other { expected, found } => write!(f, "it is {}, not {}", found.name(), expected.name()),
            BadFile::Version { found } => {
                write!(f, "it was written in version {found} of the format, and this program reads version {VERSION}")
            }
            BadFile::Truncated => f.write_str("its end is missing"),
            BadFile::Damaged(why) => write!(f, "it is damaged: {why}"),
        }
    }
}

impl std::error::Error for BadFile {}

/// Do these bytes begin as a file with this content does?
pub fn is(content: Content, bytes: &[u8]) -> bool {
    bytes.strip_prefix(MAGIC).and_then(|rest| rest.first()) == Some(&content.letter())
}

/// The bytes of a file.
pub fn encode(content: Content, data: &impl Serialize) -> Result<Vec<u8>, BadFile> {
    let plain = postcard::to_allocvec(data).map_err(|error| BadFile::Damaged(error.to_string()))?;
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&plain, COMPRESSION);
    let mut bytes = Vec::with_capacity(HEADER + packed.len());
    bytes.extend_from_slice(MAGIC);
    bytes.push(content.letter());
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(packed.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&packed).to_le_bytes());
    bytes.extend_from_slice(&packed);
    Ok(bytes)
}

/// The data in the bytes of a file.
pub fn decode<T: DeserializeOwned>(expected: Content, bytes: &[u8]) -> Result<T, BadFile> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(BadFile::Foreign { expected })?;
    let (&letter, rest) = rest.split_first().ok_or(BadFile::Truncated)?;
    if letter != expected.letter() {
        let found = [Content::Model, Content::State].into_iter().find(|c| c.letter() == letter);
        return Err(found.map_or(BadFile::Foreign { expected }, |found| BadFile::Other { expected, found }));
    }
    let (version, rest) = rest.split_first_chunk::<4>().ok_or(BadFile::Truncated)?;
    let found = u32::from_le_bytes(*version);
    if found != VERSION {
        return Err(BadFile::Version { found });
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(BadFile::Truncated)?;
    let (sum, packed) = rest.split_first_chunk::<4>().ok_or(BadFile::Truncated)?;
    match u64::from_le_bytes(*length).cmp(&(packed.len() as u64)) {
        std::cmp::Ordering::Greater => return Err(BadFile::Truncated),
        std::cmp::Ordering::Less => return Err(BadFile::Damaged("something follows its end".to_owned())),
        std::cmp::Ordering::Equal => {}
    }
    if crc32fast::hash(packed) != u32::from_le_bytes(*sum) {
        return Err(BadFile::Damaged("its checksum is wrong".to_owned()));
    }
    let plain = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, MOST_BYTES)
        .map_err(|error| BadFile::Damaged(error.to_string()))?;
    postcard::from_bytes(&plain).map_err(|error| BadFile::Damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let data = (vec![1.5, f64::NAN, -0.0], "text".to_owned());
        let bytes = encode(Content::State, &data).unwrap();
        let (numbers, text): (Vec<f64>, String) = decode(Content::State, &bytes).unwrap();
        assert_eq!(numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), data.0.map_bits());
        assert_eq!(text, "text");
    }

    trait Bits {
        fn map_bits(&self) -> Vec<u64>;
    }

    impl Bits for Vec<f64> {
        fn map_bits(&self) -> Vec<u64> {
            self.iter().map(|x| x.to_bits()).collect()
        }
    }

    #[test]
    fn every_single_change_is_noticed() {
        let bytes = encode(Content::Model, &vec![3u32; 40]).unwrap();
        let read = |bytes: &[u8]| decode::<Vec<u32>>(Content::Model, bytes);
        assert!(read(&bytes).is_ok());
        for i in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[i] ^= 0x10;
            assert!(read(&changed).is_err(), "byte {i}");
            assert!(read(&bytes[..i]).is_err(), "{i} bytes");
        }
        assert_eq!(read(b"PK\x03\x04"), Err(BadFile::Foreign { expected: Content::Model }));
        assert_eq!(read(&bytes[..20]), Err(BadFile::Truncated));
        let state = encode(Content::State, &1u8).unwrap();
        assert_eq!(read(&state), Err(BadFile::Other { expected: Content::Model, found: Content::State }));
        let mut newer = bytes.clone();
        newer[8] = 99;
        assert_eq!(read(&newer), Err(BadFile::Version { found: 99 }));
    }
}
