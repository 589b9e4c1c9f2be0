// SPDX-License-Identifier: Apache-2.0
//! The identity of a call site that draws random numbers. It comes from the program's text
//! (`p4::random_sites` says how), never from places in regions, so it survives every pass. What is drawn there
//! is the engines' matter.

use std::sync::Arc;

/// The key of a call site. Instructions with one key are copies of one call, and share the sequence of draws of
/// a pass.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RandomSite(Arc<str>);

impl RandomSite {
    /// A site by its key.
    pub fn new(key: impl Into<Arc<str>>) -> RandomSite {
        RandomSite(key.into())
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.0
    }

    /// The key as a number: FNV-1a of 64 bits.
    pub fn number(&self) -> u64 {
        self.0.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_fnv_1a() {
        // From the algorithm's published test vectors.
        assert_eq!(RandomSite::new("").number(), 0xcbf2_9ce4_8422_2325);
        assert_eq!(RandomSite::new("foobar").number(), 0x8594_4171_f739_67e8);
    }
}
