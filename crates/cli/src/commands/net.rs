// SPDX-License-Identifier: Apache-2.0
//! `plane net`: runs a network of switches, hosts and links.

use crate::arguments::{EmittedNetwork, Engine, Net, NetCommand};
use crate::programs::ended;
use crate::signals;
use device::EngineChoice;
use frontend::{Console, ExitStatus, Failure};
use toolchain::net::{self, NetRun, Views, Window, live};

/// Runs it.
pub fn run(arguments: &Net, console: &dyn Console) -> ExitStatus {
    if arguments.schema {
        console.print(&network_file::json_schema());
        return ExitStatus::Fine;
    }
    match &arguments.command {
        Some(NetCommand::Exec(exec)) => {
            return ended(live::exec(exec.name.as_deref(), &exec.host, &exec.words), console);
        }
        Some(NetCommand::Pingall(pingall)) => {
            return ended(live::pingall(pingall.name.as_deref(), console), console);
        }
        None if arguments.clean => return ended(live::clean(console), console),
        None => {}
    }
    let Some(file) = &arguments.file else { return ExitStatus::WrongUsage };
    let engine = match arguments.engine {
        Some(Engine::Reference) => {
            let message = "plane net runs devices: --engine is jit or interp";
            return ended(Err(Failure::Usage(message.to_string())), console);
        }
        given => given.and_then(Engine::choice).unwrap_or(EngineChoice::Jit),
    };
    let preprocessing = arguments.reading.options();
    let interrupted = match arguments.live {
        true => signals::flag_ends(),
        false => signals::flag_interrupts(),
    };
    let run = NetRun {
        file,
        program: arguments.program.as_deref(),
        preprocessing: &preprocessing,
        engine,
        until_ps: arguments.until,
        seed: arguments.seed,
        pingall: arguments.pingall,
        json: arguments.json,
        csv: arguments.csv.as_deref(),
        out: &arguments.out,
        rows: arguments.rows,
        views: Views {
            timeline: arguments.timeline.as_deref(),
            window: Window {
                from_ps: arguments.timeline_from.unwrap_or(0),
                to_ps: arguments.timeline_to.unwrap_or(u64::MAX),
            },
            picture: arguments.picture.as_deref(),
        },
        pace: arguments.pace,
        live: arguments.live.then_some(live::Live {
            name: arguments.name.as_deref(),
            has_applications: !arguments.no_applications,
            only: arguments
                .only
                .as_deref()
                .map(|switch| live::Only { switch, interfaces: &arguments.interfaces }),
        }),
        emit: arguments.emit.map(|EmittedNetwork::Containerlab| net::Emit::Containerlab),
        interrupted: &interrupted,
    };
    ended(toolchain::net::run(&run, console), console)
}
