// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `ir`, one program.

mod analysis;
mod meaning;
mod text_files;
