// SPDX-License-Identifier: Apache-2.0
//! Mantis: programs that change themselves in microseconds (Yu, Sonchack, Liu, SIGCOMM 2020). P4R extends P4_16 by
//! malleable values, fields and tables and by reactions in C. Opens no source files; `c` and `module` have
//! temporary files for the C compiler and the loader.

pub mod agent;
pub mod c;
pub mod compiler;
pub mod interface;
pub mod language;
pub mod map;
pub mod module;
