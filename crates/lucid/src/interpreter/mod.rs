// SPDX-License-Identifier: Apache-2.0
//! Runs the handlers of a core program at one switch.

mod value;

pub use value::*;
