// SPDX-License-Identifier: Apache-2.0
//! Routes of the copies of a generated event, and when they are due. The simulation and the check of schedules
//! share this part of the semantics.

use super::setup::{Setup, Timing};
use crate::interpreter::{Group, SendTo};
use lucid::core::EventId;
use lucid::syntax::ast::EventSort;
use network::links::Links;

/// Where one copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// Back into the switch by its recirculation port.
    Recirculate,
    /// To a switch, along a shortest path of links.
    Switch(u32),
    /// Out of a port that is not the recirculation port.
    Port(u32),
    /// Out by no port in particular.
    Outside,
}

/// The earliest time at which an event generated now is due, in picoseconds: after its delay and
/// the switch's own; a pausable queue lets delayed events go at multiples of its period.
pub fn due_ps(timing: &Timing, now_ps: u64, delay_ns: u64) -> u64 {
    let soonest_ps = now_ps.saturating_add(timing.generate_delay_ps);
    if delay_ns == 0 {
        return soonest_ps;
    }
    let wanted_ps = now_ps.saturating_add(delay_ns.saturating_mul(1000));
    let wanted_ps = match timing.delay_granularity_ps {
        0 => wanted_ps,
        period_ps => wanted_ps.checked_next_multiple_of(period_ps).unwrap_or(u64::MAX),
    };
    wanted_ps.max(soonest_ps)
}

/// The routes of an event's copies, in order.
pub fn for_each_route(
    setup: &Setup,
    links: &Links,
    (from, event): (u32, EventId),
    to: &SendTo,
    each: &mut dyn FnMut(Route),
) {
    let recirculation_port = setup.recirculation_ports[from as usize];
    let is_exit = setup.program.events[event.0 as usize].sort == EventSort::Exit;
    let mut one = |route| {
        each(match route {
            Route::Switch(to) if to == from && is_exit => Route::Outside,
            Route::Port(port) if port == recirculation_port && is_exit => Route::Outside,
            Route::Port(port) if port == recirculation_port => Route::Recirculate,
            Route::Recirculate if is_exit => Route::Outside,
            other => other,
        });
    };
    match to {
        SendTo::Here => one(Route::Recirculate),
        SendTo::Switch(switch) => one(Route::Switch(*switch)),
        SendTo::Port(port) => one(Route::Port(*port)),
        SendTo::Switches(Group::Members(switches)) => {
            switches.iter().for_each(|to| one(Route::Switch(*to)));
        }
        // A flood of ports that is used as a group of switches: all switches but one.
        SendTo::Switches(Group::AllBut(but)) => {
            (0..setup.switches).filter(|other| other != but).for_each(|to| one(Route::Switch(to)));
        }
        SendTo::Ports(Group::Members(ports)) => {
            ports.iter().for_each(|port| one(Route::Port(*port)))
        }
        SendTo::Ports(Group::AllBut(but)) => {
            let ports = links.ports_to_others(from).filter(|port| port != but);
            ports.for_each(|port| one(Route::Port(port)));
            one(Route::Outside);
        }
    }
}
