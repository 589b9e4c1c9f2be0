// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `ir`, one program.

mod analysis;
mod lints;
mod meaning;
mod text_files;
