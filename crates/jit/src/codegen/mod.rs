// SPDX-License-Identifier: Apache-2.0
//! Machine code for one unit. `values` has the arithmetic, `call` the way to functions of the runtime.

pub(crate) mod call;
pub(crate) mod values;
pub(crate) mod hashes;
