// SPDX-License-Identifier: Apache-2.0
//! The normal form: what each pass makes of small programs, and that programs do the same before and
//! after every pass: the examples with their runs, the library's, and generated programs.

mod constructs;
mod generated;
mod oracle;
mod passes;
mod shipped;
mod slots;
