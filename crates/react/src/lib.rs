// SPDX-License-Identifier: Apache-2.0
//! Mantis: programs that change themselves in microseconds (Yu, Sonchack, Liu, SIGCOMM 2020). P4R extends P4_16 by
//! malleable values, fields and tables and by reactions in C. Opens no files.

pub mod interface;
