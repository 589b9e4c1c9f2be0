// SPDX-License-Identifier: Apache-2.0
//! What compiled code calls: functions with the C calling convention whose parameters are 64 bits
//! wide. `pass` has the structures that compiled code and its callers share.

pub(crate) mod hashes;
pub(crate) mod packet;
pub(crate) mod pass;
pub(crate) mod seldom;
pub(crate) mod state;
pub(crate) mod tables;
pub(crate) mod wide;
