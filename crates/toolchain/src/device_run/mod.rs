// SPDX-License-Identifier: Apache-2.0
//! `plane run` of a compiled program on captures, through one device, with the controllers that the program
//! brings: by one engine, or by both side by side.

mod one_engine;
mod report;
mod request;
mod side_by_side;

use frontend::{Compiled, Console, ExitStatus, Failure};
pub(crate) use report::place;
pub use request::{DeviceRun, inputs};

/// Runs a program.
///
/// # Errors
///
/// Why there is no run. What goes wrong in the run is printed.
pub fn run(
    compiled: Compiled,
    run: &DeviceRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let Compiled { ready, map, setup, controllers, .. } = compiled;
    let (program, setup) = (ready.program().clone(), setup.first());
    let options = request::device_options(run, setup)?;
    let run_on = match run.verify {
        true => side_by_side::run,
        false => one_engine::run,
    };
    run_on(program, options, setup, controllers, run, &map, console)
}
