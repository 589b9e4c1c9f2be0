// SPDX-License-Identifier: Apache-2.0
//! `plane net`: runs a network of switches, hosts and links.

use crate::arguments::{
    DriverName, EmittedNetwork, Engine, Merge, Net, NetCommand, Seeds, ShardChoice, SweepOptions,
};
use crate::programs::ended;
use crate::signals;
use device::EngineChoice;
use frontend::{Console, ExitStatus, Failure};
use std::ffi::OsString;
use std::sync::Arc;
use toolchain::net::sweep::{self, Report, Shard, Sweep};
use toolchain::net::{self, NetRun, Views, Window, live};

/// Runs it.
pub fn run(arguments: &Net, console: &dyn Console) -> ExitStatus {
    if arguments.schema {
        console.print(&network_file::json_schema());
        return ExitStatus::Fine;
    }
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match &arguments.command {
        Some(NetCommand::Exec(exec)) => {
            return ended(
                live::exec(exec.name.as_deref(), &exec.host, &exec.words, &words),
                console,
            );
        }
        Some(NetCommand::Pingall(pingall)) => {
            return ended(live::pingall(pingall.name.as_deref(), &words, console), console);
        }
        Some(NetCommand::Merge(merge)) => {
            let Merge { files, json, csv, rows } = merge;
            let report = Report { json: *json, csv: csv.as_deref(), rows: *rows };
            return ended(sweep::merge(files, report, console), console);
        }
        None if arguments.clean => return ended(live::clean(console), console),
        None => {}
    }
    if arguments.live
        && arguments.only.is_none()
        && let Err(failure) = live::enter(&words)
    {
        return ended(Err(failure), console);
    }
    let Some(file) = &arguments.file else { return ExitStatus::WrongUsage };
    let engine = match arguments.engine {
        Some(Engine::Reference) => {
            let message = "plane net runs devices: --engine is jit or interp";
            return ended(Err(Failure::Usage(message.to_string())), console);
        }
        given => given.and_then(Engine::choice).unwrap_or(EngineChoice::Jit),
    };
    let SweepOptions { seeds, jobs, shard, results } = &arguments.sweep;
    if let Some(EmittedNetwork::Job) = arguments.emit {
        let Some(seeds) = seeds else {
            let message = "--emit job writes a sweep: --seeds 1..20 names its seeds";
            return ended(Err(Failure::Usage(message.to_string())), console);
        };
        let shards = match shard {
            Some(ShardChoice::Auto(Some(count))) => *count,
            Some(ShardChoice::Given(_)) => {
                let message = "--emit job writes all shards: --shard auto/N sets their number";
                return ended(Err(Failure::Usage(message.to_string())), console);
            }
            Some(ShardChoice::Auto(None)) | None => seeds.list.len(),
        };
        let words = job_options(arguments, seeds);
        return ended(sweep::emit_job(file, &words, shards, &arguments.out, console), console);
    }
    let shard = match shard {
        None => None,
        Some(ShardChoice::Given(shard)) => Some(*shard),
        Some(ShardChoice::Auto(count)) => {
            match Shard::of_environment(*count, |name| std::env::var(name).ok()) {
                Ok(shard) => Some(shard),
                Err(why) => return ended(Err(Failure::Usage(why)), console),
            }
        }
    };
    if shard.is_some() && results.is_none() {
        let message =
            "--shard needs --results FILE: `plane net merge` prints the results of all shards";
        return ended(Err(Failure::Usage(message.to_string())), console);
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let sweep = seeds.as_ref().map(|seeds| Sweep {
        seeds: &seeds.list,
        jobs: jobs.map_or(all, usize::from),
        shard,
        results: results.as_deref(),
    });
    let preprocessing = arguments.reading.options();
    let (interrupted, reload_asked) = match arguments.live || arguments.pace.is_some() {
        true => signals::flag_ends_and_reloads(),
        false => (signals::flag_interrupts(), Arc::default()),
    };
    let run = NetRun {
        file,
        program: arguments.program.as_deref(),
        preprocessing: &preprocessing,
        engine,
        driver_model: arguments.reactions.driver_model.as_deref(),
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
        reactions: arguments.reactions.options(arguments.live.then_some(arguments.agent_pace)),
        reload_asked: &reload_asked,
        live: arguments.live.then_some(live::Live {
            name: arguments.name.as_deref(),
            has_applications: !arguments.no_applications,
            is_realtime: arguments.realtime,
            only: arguments
                .only
                .as_deref()
                .map(|switch| live::Only { switch, interfaces: &arguments.interfaces }),
        }),
        sweep,
        emit: arguments.emit.map(|_| net::Emit::Containerlab),
        interrupted: &interrupted,
    };
    ended(toolchain::net::run(&run, console), console)
}

/// The options of a sweep that every task of a job has.
fn job_options(arguments: &Net, seeds: &Seeds) -> Vec<String> {
    let mut words = vec!["--seeds".to_string(), seeds.text.clone()];
    let mut add = |option: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [option.to_string(), value]));
    };
    add("--program", arguments.program.as_ref().map(|program| program.display().to_string()));
    add(
        "--engine",
        arguments.engine.and_then(Engine::choice).map(|engine| match engine {
            EngineChoice::Jit => "jit".to_string(),
            EngineChoice::Interpreter => "interp".to_string(),
        }),
    );
    add(
        "--driver-model",
        arguments.reactions.driver_model.as_ref().map(|file| file.display().to_string()),
    );
    add("--until", arguments.until.map(|time_ps| format!("{time_ps}ps")));
    let reactions = &arguments.reactions;
    if reactions.boot_time > 0 {
        add("--boot-time", Some(format!("{}ps", reactions.boot_time)));
    }
    if matches!(reactions.driver, DriverName::InProcess) {
        add("--driver", Some("in-process".to_string()));
    }
    for folder in &arguments.reading.include_dirs {
        add("-I", Some(folder.clone()));
    }
    for define in &arguments.reading.defines {
        add("-D", Some(define.clone()));
    }
    if arguments.pingall {
        words.push("--pingall".to_string());
    }
    words
}
