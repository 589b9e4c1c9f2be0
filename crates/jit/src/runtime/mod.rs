// SPDX-License-Identifier: Apache-2.0
//! What compiled code calls: functions with the C calling convention whose parameters are 64 bits
//! wide. `wide` has arithmetic on words in memory.

pub(crate) mod wide;
pub(crate) mod hashes;
