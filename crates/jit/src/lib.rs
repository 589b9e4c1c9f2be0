// SPDX-License-Identifier: Apache-2.0
//! Regions of the pipeline IR to machine code, with Cranelift. The meaning of every instruction is
//! the interpreter's, to the bit; what lives here is how to get there fast.
//!
//! This is the only crate with `unsafe` code: it calls what it compiled, and what it compiled reads
//! memory by address.

pub(crate) mod codegen;
#[allow(unsafe_code)] // Called from compiled code, with addresses that compiled code hands in.
pub(crate) mod runtime;
