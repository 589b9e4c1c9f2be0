// SPDX-License-Identifier: Apache-2.0
//! The normal form: what each pass makes of small programs, and that programs do the same before and
//! after every pass: the examples with their runs, the library's, and generated programs.

#[path = "normal/constructs.rs"]
mod constructs;
#[path = "normal/generated.rs"]
mod generated;
mod generator;
#[path = "normal/oracle.rs"]
mod oracle;
#[path = "normal/passes.rs"]
mod passes;
#[path = "normal/shipped.rs"]
mod shipped;
#[allow(dead_code, reason = "not every test shows sources")]
mod shipped_runs;
#[path = "normal/slots.rs"]
mod slots;
