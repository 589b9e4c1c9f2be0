// SPDX-License-Identifier: Apache-2.0
//! Tests of reactions. Those that run C need a C compiler.

mod c_arguments;
mod c_calls;
mod c_diagnostics;
mod fixture;
mod reload;
