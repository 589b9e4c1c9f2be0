// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `ir`, one program.

mod analysis;
mod lints;
mod meaning;
mod reading;
mod stages;
mod text_files;
