// SPDX-License-Identifier: Apache-2.0
//! Arithmetic that results of runs depend on in every language: CRCs by their parameters, and random numbers as
//! a function of a seed and counters. Nothing here knows programs or packets.

pub mod crc;
pub mod random;
