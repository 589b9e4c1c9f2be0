// SPDX-License-Identifier: Apache-2.0
//! Random programs, entries and packets on two subjects that must agree:
//!
//!     cargo run --release -p differential --example campaign -- --programs 1000 --packets 100
//!
//! `--help` lists the options. It ends with a table, and fails when a program is refused or two
//! subjects differ; then the program made small is printed.

use differential::campaign::{self, Failure};
use differential::coverage::Coverage;
use differential::forms::Form;
use differential::subject::DeviceSubject;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;
use testing::Choices;
use testing::p4::{self, Knobs};

const HELP: &str = "\
Random programs, entries and packets on two subjects that must agree.

  --programs N     how many programs (100)
  --packets M      packets for each (20)
  --seed S         the first program's seed; the others count on from it (1)
  --size K         how large programs are, 1 to 10 (3)
  --engines A,B    two of the subjects below (lowered,interpreter)
  --failures N     stop after so many failures (1)
  --no-random      programs draw no random numbers
  --calls          programs are about calls, as `inlined` wants them
  --coverage       print in how many programs each operation occurred
  --print          print the programs only
";

struct Options {
    programs: u64,
    packets: usize,
    seed: u64,
    knobs: Knobs,
    engines: (String, String),
    failures: u64,
    coverage: bool,
    print: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        programs: 100,
        packets: 20,
        seed: 1,
        knobs: Knobs::default(),
        engines: ("lowered".to_string(), "interpreter".to_string()),
        failures: 1,
        coverage: false,
        print: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
        match word.as_str() {
            "--programs" => options.programs = number(value()?)?,
            "--packets" => options.packets = number(value()?)? as usize,
            "--seed" => options.seed = number(value()?)?,
            "--size" => options.knobs.size = number(value()?)?.clamp(1, 10) as u32,
            "--failures" => options.failures = number(value()?)?,
            "--no-random" => options.knobs.random = false,
            "--calls" => options.knobs.calls = true,
            "--coverage" => options.coverage = true,
            "--print" => options.print = true,
            "--engines" => {
                let both = value()?;
                let (left, right) =
                    both.split_once(',').ok_or("--engines takes two names with a comma between")?;
                options.engines = (left.to_string(), right.to_string());
            }
            "--help" => {
                return Err(format!("{HELP}\nsubjects: {}", DeviceSubject::NAMES.join(", ")));
            }
            _ => return Err(format!("there is no option {word}; see --help")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let subject = |name: &str| {
        let names = DeviceSubject::NAMES.join(", ");
        DeviceSubject::named(name).ok_or_else(|| format!("no subject `{name}`; there are: {names}"))
    };
    let (mut left, mut right) = (subject(&options.engines.0)?, subject(&options.engines.1)?);
    let mut knobs = options.knobs;
    if left.form() != right.form() {
        // What is drawn depends on the places of instructions.
        knobs.random = false;
    }
    let is_inlined = [&left, &right].iter().any(|subject| subject.form() == Form::Inlined);
    let mut calls: BTreeMap<String, u64> = BTreeMap::new();
    let start = Instant::now();
    let mut coverage = Coverage::default();
    let (mut agreed, mut failures) = (0u64, 0u64);
    let (mut transmitted, mut errors, mut digests, mut observations) = (0u64, 0u64, 0u64, 0u64);
    for number in 0..options.programs {
        let seed = options.seed + number;
        let mut choices = Choices::from_seed(seed);
        if options.print {
            println!("// seed {seed}\n{}", p4::generate(&mut choices, knobs).tree.print());
            continue;
        }
        match campaign::run(&mut choices, knobs, options.packets, (&mut left, &mut right)) {
            Ok((agreement, forms)) => {
                agreed += 1;
                transmitted += agreement.transmitted;
                errors += agreement.errors;
                digests += agreement.digests;
                observations += agreement.observations;
                if options.coverage
                    && let Ok(program) = forms.form(Form::Simplified)
                {
                    coverage.add(&program);
                }
                if is_inlined && let Ok((inlined, _)) = forms.inlined() {
                    for (kind, count) in &inlined.inlined {
                        *calls.entry(format!("{kind:?} inlined")).or_default() += *count as u64;
                    }
                    for (_, obstacle) in &inlined.refused {
                        *calls.entry(format!("refused: {obstacle}")).or_default() += 1;
                    }
                }
            }
            Err(failure) => {
                failures += 1;
                let kind = match &failure {
                    Failure::Program(_) => "program",
                    Failure::Difference { .. } => "difference",
                };
                println!("seed {seed}, {kind}: {failure}");
                if failures >= options.failures {
                    break;
                }
            }
        }
        if number % 100 == 99 {
            eprint!("\r{} programs, {failures} failures, {:.0?}", number + 1, start.elapsed());
        }
    }
    if options.print {
        return Ok(true);
    }
    let elapsed = start.elapsed();
    eprintln!();
    println!("{} and {}", options.engines.0, options.engines.1);
    println!("{:<28} {agreed:>12}", "programs that agree");
    println!("{:<28} {failures:>12}", "failures");
    println!("{:<28} {:>12}", "packets in", agreed * options.packets as u64);
    println!("{:<28} {transmitted:>12}", "packets out");
    println!("{:<28} {digests:>12}", "digests");
    println!("{:<28} {errors:>12}", "commands refused, stops");
    println!("{:<28} {observations:>12}", "observations compared");
    for (what, count) in &calls {
        println!("{count:>12} {what}");
    }
    let each = elapsed.as_secs_f64() * 1000.0 / (agreed + failures).max(1) as f64;
    println!("{:<28} {each:>9.1} ms", "time for each program");
    if options.coverage {
        println!("\n{}", coverage.table());
    }
    Ok(failures == 0)
}
