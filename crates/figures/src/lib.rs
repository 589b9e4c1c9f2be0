// SPDX-License-Identifier: Apache-2.0
//! The figures of papers' evaluations, measured again, a module a paper. Tables come out; `plane bench`
//! prints them.

pub mod lucid;
