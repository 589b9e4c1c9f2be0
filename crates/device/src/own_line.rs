// SPDX-License-Identifier: Apache-2.0
//! `OwnLine`: a value that one thread writes often and another one reads, apart from what else they use.

/// A value without neighbours in its cache line and in the one that a processor fetches with it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct OwnLine<T>(pub T);
