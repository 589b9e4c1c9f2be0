// SPDX-License-Identifier: Apache-2.0
//! How fast our engines forward, beside the same programs written by hand in C:
//!
//!     cargo bench -p conformance --bench forwarding
//!
//! `benches/README.md` says what is compared and how to read it. Here is only the order of things:
//! compare outputs, measure, count instructions, report.

#[path = "forwarding/access_list.rs"]
mod access_list;
#[path = "forwarding/arguments.rs"]
mod arguments;
#[path = "forwarding/child.rs"]
mod child;
#[path = "forwarding/comparison.rs"]
mod comparison;
#[path = "forwarding/corpus_program.rs"]
mod corpus_program;
#[path = "forwarding/engine.rs"]
mod engine;
#[path = "forwarding/entries.rs"]
mod entries;
#[path = "forwarding/firewall.rs"]
mod firewall;
#[path = "forwarding/generated.rs"]
mod generated;
#[path = "forwarding/instructions.rs"]
mod instructions;
#[path = "forwarding/measurement.rs"]
mod measurement;
#[path = "forwarding/packets.rs"]
mod packets;
#[path = "forwarding/peers.rs"]
mod peers;
#[path = "forwarding/picture.rs"]
mod picture;
#[path = "forwarding/processes.rs"]
mod processes;
#[path = "forwarding/random.rs"]
mod random;
#[path = "forwarding/report.rs"]
mod report;
#[path = "forwarding/router.rs"]
mod router;
#[path = "forwarding/switch.rs"]
mod switch;
#[path = "forwarding/telemetry.rs"]
mod telemetry;
#[path = "forwarding/workload.rs"]
mod workload;

use arguments::Arguments;
use instructions::Callgrind;
use packets::Sizes;
use processes::{CCompiler, Prepared, Scratch, Side};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n{}", arguments::USAGE);
            return ExitCode::from(2);
        }
    };
    let corpus_program = arguments.corpus_program.as_deref();
    let done = match &arguments.child {
        Some(child) => child::run(child, corpus_program),
        None => run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let compiler = CCompiler::find();
    match &compiler {
        Some(compiler) => println!("C: {}, -O3 -march=native", compiler.version),
        None => println!("NO C COMPILER FOUND (gcc, cc): there is nothing to compare with"),
    }
    let callgrind = if arguments.without_instructions { None } else { Callgrind::find() };
    if callgrind.is_none() && !arguments.without_instructions {
        println!("VALGRIND NOT FOUND: no instructions are counted");
    }
    let corpus_program = arguments.corpus_program.as_deref();
    if corpus_program.is_none() {
        println!("corpus program: left out, for there is no --corpus-program FILE");
    }
    let scratch = Scratch::new()?;
    let mut all = Vec::new();
    for description in workload::catalogue(corpus_program) {
        let is_wanted = |text: &String| description.name.contains(text.as_str());
        if !arguments.only.is_empty() && !arguments.only.iter().any(is_wanted) {
            continue;
        }
        let workload = (description.make)();
        let prepared = Prepared::new(
            &description.name,
            &workload,
            corpus_program,
            compiler.as_ref(),
            &scratch,
        )?;
        let compared = comparison::compare(&prepared, &scratch)?;
        println!(
            "{}: {} packets in, {compared} out, the same from {}",
            description.name,
            workload.check.len(),
            prepared.sides().iter().map(|side| side.name()).collect::<Vec<_>>().join(", ")
        );
        if arguments.checks_only {
            continue;
        }
        let ring_packets = (workload.ring)(Sizes::Bytes64).len() as u64;
        drop(workload);
        let (rounds, seconds) = (arguments.rounds(), arguments.round_seconds());
        let mut results = measurement::measure(&prepared, ring_packets, rounds, seconds)?;
        if let Some(callgrind) = &callgrind {
            let is_counted = |side| side == Side::ByHand || !description.is_large;
            count_instructions(callgrind, &prepared, &mut results, ring_packets, &is_counted)?;
        }
        all.push(results);
    }
    if arguments.checks_only {
        return Ok(());
    }
    let tables = report::tables(&all);
    println!("\n{tables}");
    let away = all.iter().map(|results| results.away).fold(0.0, f64::max);
    if away > 0.05 {
        println!(
            "THE MACHINE WAS BUSY: up to {:.0} % of the time others had the core; caches were shared",
            100.0 * away
        );
    }
    peers::report(&scratch);
    if let Some(path) = &arguments.markdown {
        write(path, &tables)?;
    }
    if let Some(path) = &arguments.svg {
        write(path, &picture::svg(&all))?;
    }
    Ok(())
}

/// Of 64-byte packets: others take the same path.
fn count_instructions(
    callgrind: &Callgrind,
    prepared: &Prepared,
    results: &mut measurement::Results,
    ring_packets: u64,
    is_counted: &dyn Fn(Side) -> bool,
) -> Result<(), String> {
    let rows = results.rows.iter_mut().filter(|row| row.sizes == Sizes::Bytes64);
    let sides = rows.flat_map(|row| &mut row.sides);
    for measured in sides.filter(|measured| is_counted(measured.side)) {
        // Slow sides need fewer packets for the same precision.
        let packets = if measured.packets_per_second > 1e6 { ring_packets } else { 512 };
        let counted =
            callgrind.instructions(prepared, measured.side, Sizes::Bytes64.name(), packets)?;
        measured.instructions = Some(counted);
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
