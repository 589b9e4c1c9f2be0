// SPDX-License-Identifier: Apache-2.0
//! Packets a second of the programs in `examples/domino`: the reference interpreter, the compiled program on a device, and
//! the same source compiled by `gcc -O3`, which handles no frames. Run with `cargo bench -p domino --bench packets`.

use device::{Device, DeviceOptions, EngineChoice};
use domino::compiler::{Layout, compile};
use domino::interpreter::{State, run};
use ir::ready::ReadyProgram;
use p4::compile::Compilation;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use testing::choices::Choices;

struct NoFiles;

impl IncludeLoader for NoFiles {
    fn load(&self, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// Packets of one measurement.
const PACKETS: usize = 200_000;

/// Measurements, of which the fastest counts.
const ROUNDS: usize = 3;

fn main() {
    println!("million packets a second: interpreter, device (jit), gcc -O3");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/domino");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("examples/domino")
        .flatten()
        .map(|one| one.path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "domino"));
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let checked =
            domino::front("bench", text.as_str(), &NoFiles, &PreprocessorOptions::default())
                .expect("a program");
        let fields = checked.program.fields.len();
        let mut choices = Choices::from_seed(1);
        let packets: Vec<Vec<u32>> = (0..PACKETS)
            .map(|_| (0..fields).map(|_| choices.below(5000) as u32).collect())
            .collect();
        let interpreted = fastest(|| {
            let mut state = State::initial(&checked.program);
            let began = Instant::now();
            for packet in &packets {
                let mut packet = packet.clone();
                run(&checked.program, &mut state, &mut packet);
                black_box(packet);
            }
            began.elapsed().as_secs_f64()
        });
        let compiled =
            compile(&checked.core, checked.map.clone(), &Layout::default()).expect("it compiles");
        let ready = ReadyProgram::of(&mut Compilation::from(compiled.built)).expect("it lowers");
        let on_device = fastest(|| {
            let options = DeviceOptions { engine: EngineChoice::Jit, ..DeviceOptions::default() };
            let mut device = Device::new(ready.program().clone(), options).expect("a device");
            let began = Instant::now();
            for (at, packet) in packets.iter().enumerate() {
                let bytes = packet.iter().flat_map(|word| word.to_be_bytes()).collect();
                device.inject(0, (at as u64 + 1) * 1_000_000, bytes).expect("a packet");
                if at % 1024 == 1023 {
                    device.run_to_completion().expect("a run");
                    black_box(device.drain_transmitted());
                }
            }
            device.run_to_completion().expect("a run");
            began.elapsed().as_secs_f64()
        });
        let in_c = by_gcc(&text, &checked.program);
        let rate = |seconds: f64| PACKETS as f64 / seconds / 1e6;
        let in_c = in_c.map_or("NOT RUN (no gcc)".to_string(), |nanoseconds| {
            format!("{:.1}", 1e3 / nanoseconds)
        });
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        println!("{name}: {:.2}, {:.2}, {in_c}", rate(interpreted), rate(on_device));
    }
}

fn fastest(mut measure: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

const HASHES: &str = "
static int crc(const int *values, int count) {
  unsigned crc = 0;
  for (int at = 0; at < count; at++)
    for (int byte = 0; byte < 32; byte += 8) {
      crc ^= ((unsigned) values[at] >> byte) & 0xffu;
      for (int bit = 0; bit < 8; bit++) crc = (crc & 1u) ? (crc >> 1) ^ 0xa001u : crc >> 1;
    }
  return (int) crc;
}
static int hash2(int a, int b) { int values[2] = {a, b}; return crc(values, 2); }
static int hash3(int a, int b, int c) { int values[3] = {a, b, c}; return crc(values, 3); }
";

/// Returns nanoseconds a packet.
fn by_gcc(text: &str, program: &domino::program::Program) -> Option<f64> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let function = &program.packet().name;
    let by_reference =
        text.replace(&format!("{function}(struct Packet"), &format!("{function}(struct Packet &"));
    let mut source =
        format!("#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n{by_reference}\n");
    let _ = writeln!(source, "int main() {{ static struct Packet packets[{PACKETS}]; srand(1);");
    let _ =
        writeln!(source, "double best = 1e30; for (int round = 0; round < {ROUNDS}; round++) {{");
    let _ = writeln!(source, "for (int i = 0; i < {PACKETS}; i++) {{");
    for field in &program.fields {
        let _ = writeln!(source, "packets[i].{} = rand() % 5000;", field.name);
    }
    let _ = writeln!(
        source,
        "}} timespec from, to; clock_gettime(CLOCK_MONOTONIC, &from);
         for (int i = 0; i < {PACKETS}; i++) {function}(packets[i]);
         clock_gettime(CLOCK_MONOTONIC, &to);
         double took = (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec);
         if (took < best) best = took; }}
         unsigned sum = 0; for (int i = 0; i < {PACKETS}; i++) sum += packets[i].{}; 
         fprintf(stderr, \"%u\", sum); printf(\"%f\", best / {PACKETS}); }}",
        program.fields[0].name
    );
    std::fs::write(folder.path().join("bench.cpp"), source).expect("writable");
    std::fs::write(folder.path().join("hashes.h"), HASHES).expect("writable");
    let built = Command::new("g++")
        .args(["-O3", "-fwrapv", "-w", "-o", "bench", "bench.cpp"])
        .current_dir(folder.path())
        .status()
        .ok()?;
    let ran =
        Command::new(folder.path().join("bench")).output().ok().filter(|_| built.success())?;
    String::from_utf8_lossy(&ran.stdout).parse().ok()
}
