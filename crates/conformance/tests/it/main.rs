// SPDX-License-Identifier: Apache-2.0
//! Integration tests of the crate: one program, so that it is linked once.

mod control_maps;
mod rewrites;
mod seams;
mod specification;
