// SPDX-License-Identifier: Apache-2.0
//! SIGINT and SIGTERM during a run: the captures are completed with the packets sent so far, then the process ends by the
//! signal. A second signal ends the process at once.

use crate::output;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::{flag as signal_flag, low_level};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolchain::port_captures;

/// Completes captures when a signal arrives, until the process ends.
pub fn complete_captures() {
    let has_come = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order the first signal finds the flag unset. Without the handlers a signal ends the process at once.
        let _ = signal_flag::register_conditional_default(signal, has_come.clone());
        let _ = signal_flag::register(signal, has_come.clone());
    }
    let waiting = Signals::new([SIGINT, SIGTERM]).and_then(|mut signals| {
        std::thread::Builder::new().spawn(move || signals.forever().next().map(end))
    });
    // Without a thread that waits, the first signal would do nothing.
    if waiting.is_err() {
        has_come.store(true, Ordering::Relaxed);
    }
}

/// Returns a flag that the first SIGINT or SIGTERM sets. A second signal ends the process at once.
pub fn flag_interrupts() -> Arc<AtomicBool> {
    flag(&[SIGINT, SIGTERM])
}

/// As above, with a flag that SIGHUP sets. If the terminal closes, the run ends instead.
pub fn flag_ends_and_reloads() -> (Arc<AtomicBool>, Arc<AtomicBool>) {
    let (ends, reloads) = (flag_interrupts(), Arc::new(AtomicBool::new(false)));
    let had_terminal = std::io::stderr().is_terminal();
    let (ended, asked) = (ends.clone(), reloads.clone());
    let waiting = Signals::new([SIGHUP]).and_then(|mut signals| {
        std::thread::Builder::new().spawn(move || {
            for _ in signals.forever() {
                // A terminal that closed is one no more.
                let is_closed = had_terminal && !std::io::stderr().is_terminal();
                let flag = if is_closed { &ended } else { &asked };
                flag.store(true, Ordering::Relaxed);
            }
        })
    });
    // Without a thread that waits, SIGHUP ends the process as it does by default.
    drop(waiting);
    (ends, reloads)
}

fn flag(signals: &[i32]) -> Arc<AtomicBool> {
    let has_come = Arc::new(AtomicBool::new(false));
    for signal in signals.iter().copied() {
        let _ = signal_flag::register_conditional_default(signal, has_come.clone());
        let _ = signal_flag::register(signal, has_come.clone());
    }
    has_come
}

/// Completes the captures and ends the process by the signal.
fn end(signal: i32) {
    let mut names = Vec::new();
    for completed in port_captures::complete_all() {
        match completed {
            Ok(path) => names.push(path.display().to_string()),
            Err(error) => output::error(&error),
        }
    }
    let written = match names.is_empty() {
        true => "no packet was written".to_string(),
        false => format!("{} with the packets sent until then", names.join(", ")),
    };
    output::note(&format!("interrupted: {written}"));
    let _ = low_level::emulate_default_handler(signal);
}
