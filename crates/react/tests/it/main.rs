// SPDX-License-Identifier: Apache-2.0
//! Tests of P4R programs, from their text to the two programs that the compiler makes, of agents beside devices, and of
//! reactions in C, which need a C compiler.

mod agent_reload;
mod c_arguments;
mod c_calls;
mod c_diagnostics;
mod c_explanations;
mod compiled;
mod damage;
mod equal;
mod fixture;
mod generated;
mod idle;
mod isolation;
mod rates;
mod reload;
mod row_order;
mod script;
mod tables;
mod tails;
mod threads;
mod waiting_updates;
mod worker;
