// SPDX-License-Identifier: Apache-2.0
//! The benchmark running itself as a child: one engine with one workload, in the same modes and with
//! the same answers as the programs in C (`benches/c/measuring_main.h`).

use super::engine::{self, Engine, EngineName, Preparation};
use super::packets::Sizes;
use super::workload::{self, Workload};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

/// Runs a child: engine, workload, mode and its arguments.
pub fn run(arguments: &[String], corpus_program: Option<&Path>) -> Result<(), String> {
    let [name, workload, mode, rest @ ..] = arguments else {
        return Err("a child needs engine, workload and mode".to_string());
    };
    let name = EngineName::ALL.into_iter().find(|engine| engine.name() == name);
    let name = name.ok_or("no such engine")?;
    let workload = workload::catalogue(corpus_program)
        .into_iter()
        .find(|description| description.name == *workload)
        .map(|description| (description.make)())
        .ok_or("no such workload")?;
    let (mut engine, preparation) = engine::prepare(&workload, name);
    match (mode.as_str(), rest) {
        ("serve", []) => serve(&workload, engine.as_mut(), preparation),
        ("count", [sizes, count]) => {
            let count = count.parse().map_err(|_| "the count is a number")?;
            load_ring(&workload, engine.as_mut(), sizes)?;
            // As in C: once before, when code and tables are not where they will be.
            engine.forward(count);
            counted_packets(engine.as_mut(), count);
            Ok(())
        }
        ("check", [path]) => check(&workload, engine.as_mut(), Path::new(path)),
        _ => Err(format!("no such mode {mode}")),
    }
}

/// Callgrind counts from here on, by the function's name.
#[inline(never)]
fn counted_packets(engine: &mut dyn Engine, count: u64) {
    std::hint::black_box(engine.forward(count));
}

fn load_ring(workload: &Workload, engine: &mut dyn Engine, name: &str) -> Result<(), String> {
    let sizes = Sizes::named(name).ok_or_else(|| format!("no such ring {name}"))?;
    engine.load_ring((workload.ring)(sizes));
    Ok(())
}

fn serve(
    workload: &Workload,
    engine: &mut dyn Engine,
    preparation: Preparation,
) -> Result<(), String> {
    let Preparation { front_end, load, entries, compile } = preparation;
    let mut ready = format!(
        "ready front_end={} load={} entries={}",
        front_end.as_nanos(),
        load.as_nanos(),
        entries.as_nanos()
    );
    if let Some(compile) = compile {
        ready.push_str(&format!(" compile={}", compile.as_nanos()));
    }
    answer(&ready)?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        match line.split_once(' ') {
            Some(("ring", name)) => {
                load_ring(workload, engine, name)?;
                answer("ready")?;
            }
            Some(("round", count)) => {
                let count = count.parse().map_err(|_| "the count is a number")?;
                let start = Instant::now();
                let start_on_core_ns = on_core_ns();
                let sent = engine.forward(count);
                let taken_on_core_ns = on_core_ns() - start_on_core_ns;
                let taken_ns = start.elapsed().as_nanos();
                answer(&format!("{taken_ns} {sent} {taken_on_core_ns}"))?;
            }
            _ => return Err(format!("no such request: {line}")),
        }
    }
    Ok(())
}

/// How long this thread has been on a core, in nanoseconds.
fn on_core_ns() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn answer(text: &str) -> Result<(), String> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{text}").and_then(|()| output.flush()).map_err(|error| error.to_string())
}

fn check(workload: &Workload, engine: &mut dyn Engine, path: &Path) -> Result<(), String> {
    let (outputs, digests) = engine.outputs(&workload.check);
    let mut file = Vec::new();
    for (packet, port, bytes) in outputs {
        file.extend(workload::words([packet, port, bytes.len() as u32]));
        file.extend(bytes);
    }
    file.extend(workload::words([u32::MAX, digests as u32, 0]));
    std::fs::write(path, file).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
