// SPDX-License-Identifier: Apache-2.0
//! `plane gencap`: writes a generated packet trace.

use crate::arguments::Gencap;
use crate::programs::ended;
use crate::signals;
use frontend::{Console, ExitStatus};
use toolchain::packet_trace::{self, TraceFile};

/// Runs it.
pub fn run(arguments: &Gencap, console: &dyn Console) -> ExitStatus {
    let interrupted = signals::flag_interrupts();
    let options = arguments.options();
    let file = TraceFile {
        options: &options,
        snap_bytes: arguments.snaplen,
        path: &arguments.file,
        interrupted: &interrupted,
    };
    ended(packet_trace::write(&file, console), console)
}
