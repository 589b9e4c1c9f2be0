// SPDX-License-Identifier: Apache-2.0
//! Tests of P4R programs, from their text to the two programs that the compiler makes, and of reactions. Those that run C
//! need a C compiler.

mod c_arguments;
mod c_calls;
mod c_diagnostics;
mod compiled;
mod fixture;
mod reload;
mod worker;
