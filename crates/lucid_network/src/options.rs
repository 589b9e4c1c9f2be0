// SPDX-License-Identifier: Apache-2.0
//! The options of the compiler that follow from a run: recirculation ports, and how delayed events wait. All
//! others stay as the user has them.

use lucid_compiler::{Delay, Options};
use lucid_reference::simulation::Setup;

/// The recirculation port of compiled switches, or that each has its own.
pub fn port_options(setup: &Setup, options: Options) -> Options {
    let ports = setup.recirculation_ports();
    let differ = ports.windows(2).any(|two| two[0] != two[1]);
    Options {
        recirculation_port: setup.recirculation_port(),
        own_recirculation_ports: if differ { ports.to_vec() } else { Vec::new() },
        ..options
    }
}

/// The run's ports, and its delay granularity, if it has one, as the period of delay queues. How events wait
/// stays as it is.
pub fn queue_options(setup: &Setup, options: Options) -> Options {
    let options = port_options(setup, options);
    match setup.delay_granularity_ps() {
        0 => options,
        delay_period_ps => Options { delay_period_ps, ..options },
    }
}

/// How compiled switches keep delays as this run has them: in a queue that is released at its
/// granularity; without one, going round until they are due, which is exact to a round. And whether they
/// have recirculation ports of their own.
pub fn delay_options(setup: &Setup, options: Options) -> Options {
    let delay = match setup.delay_granularity_ps() {
        0 => Delay::Recirculation,
        _ => Delay::Queue,
    };
    Options { delay, ..queue_options(setup, options) }
}
