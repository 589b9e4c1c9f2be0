// SPDX-License-Identifier: Apache-2.0
//! A run on captures by one engine, with traces if the user wants them.

use super::TraceFormat;
use super::ended::Ended;
use super::ready_run::{Beginning, ReadyRun, Unready};
use super::report::{deliver_messages, place};
use crate::threads::Pipelines;
use device::Device;
use frontend::ExitStatus;
use network::replay::replay;

/// Runs a program on the engine of the options. `pipelines` is for the report.
pub(super) fn run(
    beginning: Beginning<'_>,
    pipelines: Option<Pipelines>,
) -> Result<ExitStatus, Unready> {
    let engine = beginning.options.engine;
    let made = Device::new(beginning.program(), beginning.options.clone());
    let mut device = made.map_err(|error| beginning.load_error(&error))?;
    let mut ready = beginning.set_up(&mut [&mut device])?;
    if !ready.console.is_quiet() && device.engine_choice() != engine {
        ready.console.note("traces come from the interpreter, so it runs everything");
    }
    let spinner = ready.spinner();
    let packets = ready.packets.take().into_iter().flatten();
    let ReadyRun { run, console, controllers, recorder, captures, digests, map, .. } = &mut ready;
    let program = device.program();
    let places = |origin| place(&program, map, origin);
    let reports = controllers.reports();
    let ran = replay(&mut device, packets, run.until_ps, controllers, |device, progress, sent| {
        spinner.set_position(progress.packets_in);
        recorder.take(device);
        if let Some(format) = run.trace {
            for trace in device.drain_traces() {
                console.print(&match format {
                    TraceFormat::Text => device::trace::text_with_places(&trace, &places),
                    TraceFormat::Json => device::trace::json_with_places(&trace, &places) + "\n",
                });
            }
        }
        reports.print(run.trace.is_some(), *console);
        let messages = (device.drain_digests(), &device.drain_log()[..]);
        deliver_messages(run, messages, digests, *console);
        sent.iter().try_for_each(|(time_ps, sent)| captures.write(*time_ps, sent))
    });
    drop(spinner);
    let error = ran.as_ref().err().map(|error| ready.error_text(error, &device));
    let digests = std::mem::take(&mut ready.digests);
    let ended = Ended { progress: ran.ok(), error, digests, pipelines };
    ready.end(&mut [&mut device], ended, None)
}
