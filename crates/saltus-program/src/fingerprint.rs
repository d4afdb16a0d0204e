//! A number that tells programs apart: equal for programs with the same content, whatever process made them.

use crate::SimProgram;

/// The fingerprint of a program.
pub fn fingerprint(program: &SimProgram) -> u64 {
    // Encoding into memory does not fail for data without maps.
    fnv1a(&postcard::to_allocvec(program).unwrap_or_default())
}

/// The hash of Fowler, Noll and Vo with 64 bits.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_other_content_have_other_fingerprints() {
        let (a, b) = (SimProgram::empty("A"), SimProgram::empty("B"));
        assert_eq!(fingerprint(&a), fingerprint(&a.clone()));
        assert_ne!(fingerprint(&a), fingerprint(&b));
        // The value of the empty text is that of the definition of the hash.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    }
}
