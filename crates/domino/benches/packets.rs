// SPDX-License-Identifier: Apache-2.0
//! Packets a second of the programs in `examples/domino`: the reference interpreter, the compiled program on a device, the
//! device with frames that stay in their burst, and the same source compiled by `gcc -O3`, on frames of the same form and on
//! structs without frames. Run with `cargo bench -p domino --bench packets`; names of programs select them.

use device::{Burst, Device, DeviceOptions, EngineChoice};
use domino::compiler::{Layout, compile};
use domino::interpreter::{State, run};
use ir::ready::ReadyProgram;
use p4::compile::Compilation;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use testing::choices::Choices;

/// Packets of one measurement.
const PACKETS: usize = 200_000;

/// Packets of a burst.
const BURST: usize = 1000;

/// Measurements, of which the fastest counts.
const ROUNDS: usize = 3;

fn main() {
    println!(
        "million packets a second; the ratio is that of the device and gcc, both on frames in place"
    );
    println!(
        "{:16} {:>11} {:>8} {:>8} {:>10} {:>11} {:>6}",
        "program", "interpreter", "device", "in place", "gcc frames", "gcc structs", "ratio"
    );
    let selected: Vec<String> =
        std::env::args().skip(1).filter(|one| !one.starts_with('-')).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/domino");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("examples/domino")
        .flatten()
        .map(|one| one.path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "domino"));
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !selected.is_empty() && !selected.contains(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("readable");
        let checked =
            domino::front("bench", text.as_str(), &InterfacesOnly, &PreprocessorOptions::default())
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
        let frames: Vec<Vec<u8>> = packets
            .iter()
            .map(|packet| packet.iter().flat_map(|word| word.to_be_bytes()).collect())
            .collect();
        let device = || {
            let options = DeviceOptions { engine: EngineChoice::Jit, ..DeviceOptions::default() };
            Device::new(ready.program().clone(), options).expect("a device")
        };
        // From words to frames, through the device, and back.
        let on_device = fastest(|| {
            let mut device = device();
            let mut burst = Burst::new(BURST, fields * 4);
            let (mut frame, mut sum) = (Vec::new(), 0u32);
            let began = Instant::now();
            for packets in packets.chunks(BURST) {
                burst.clear();
                for packet in packets {
                    frame.clear();
                    packet.iter().for_each(|word| frame.extend(word.to_be_bytes()));
                    burst.push(0, &frame).expect("a place");
                }
                device.forward(&mut burst).expect("a run");
                for output in burst.outputs() {
                    for word in output.bytes.chunks_exact(4) {
                        sum = sum
                            .wrapping_add(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
                    }
                }
            }
            black_box(sum);
            began.elapsed().as_secs_f64()
        });
        // The frames lie in bursts, where a network card would put them.
        let in_place = fastest(|| {
            let mut device = device();
            let mut bursts: Vec<Burst> = frames
                .chunks(BURST)
                .map(|frames| {
                    let mut burst = Burst::new(BURST, fields * 4);
                    for frame in frames {
                        burst.push(0, frame).expect("a place");
                    }
                    burst
                })
                .collect();
            let began = Instant::now();
            for burst in &mut bursts {
                device.forward(burst).expect("a run");
            }
            let took = began.elapsed().as_secs_f64();
            assert_eq!(
                device.fast_path_packets(),
                PACKETS as u64,
                "the fast path takes all packets"
            );
            took
        });
        let rate = |seconds: f64| PACKETS as f64 / seconds / 1e6;
        let (of_frames, of_structs, ratio) = match by_gcc(&text, &checked.program) {
            None => ("NOT RUN".to_string(), "NOT RUN".to_string(), String::new()),
            Some([frames, structs]) => {
                let [frames, structs] = [frames, structs].map(|nanoseconds| 1e3 / nanoseconds);
                let ratio = format!("{:.2}", rate(in_place) / frames);
                (format!("{frames:.1}"), format!("{structs:.1}"), ratio)
            }
        };
        println!(
            "{name:16} {:>11.2} {:>8.2} {:>8.2} {of_frames:>10} {of_structs:>11} {ratio:>6}",
            rate(interpreted),
            rate(on_device),
            rate(in_place)
        );
    }
}

fn fastest(mut measure: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// `hashes.h` with a table of 256 words.
const HASHES: &str = "
struct Table {
  unsigned short of[256];
  Table() {
    for (int byte = 0; byte < 256; byte++) {
      unsigned crc = byte;
      for (int bit = 0; bit < 8; bit++) crc = (crc & 1u) ? (crc >> 1) ^ 0xa001u : crc >> 1;
      of[byte] = crc;
    }
  }
};
static const Table table;
static inline unsigned step(unsigned crc, unsigned value) {
  for (int byte = 0; byte < 32; byte += 8)
    crc = (crc >> 8) ^ table.of[(crc ^ (value >> byte)) & 0xffu];
  return crc;
}
static inline int hash2(int a, int b) { return step(step(0, a), b); }
static inline int hash3(int a, int b, int c) { return step(step(step(0, a), b), c); }
";

/// Returns nanoseconds a packet: on frames of big-endian words, and on structs.
fn by_gcc(text: &str, program: &domino::program::Program) -> Option<[f64; 2]> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let function = &program.packet().name;
    let by_reference =
        text.replace(&format!("{function}(struct Packet"), &format!("{function}(struct Packet &"));
    let each = |of: &dyn Fn(usize, &str) -> String| -> String {
        program.fields.iter().enumerate().map(|(at, field)| of(at, &field.name)).collect()
    };
    let fields = program.fields.len();
    let random = each(&|_, name| format!("packets[i].{name} = rand() % 5000;\n"));
    let to_frame =
        each(&|at, name| format!("frames[i][{at}] = __builtin_bswap32(packets[i].{name});\n"));
    let load = each(&|at, name| format!("packet.{name} = __builtin_bswap32(frames[i][{at}]);\n"));
    let store = each(&|at, name| format!("frames[i][{at}] = __builtin_bswap32(packet.{name});\n"));
    let sum = each(&|_, name| format!("sum += packets[i].{name};\n"));
    let source = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n{by_reference}
struct Packet packets[{PACKETS}];
unsigned frames[{PACKETS}][{fields}];
template <typename Run> double measure(Run run) {{
  double best = 1e30;
  for (int round = 0; round < {ROUNDS}; round++) {{
    srand(1);
    for (int i = 0; i < {PACKETS}; i++) {{\n{random}{to_frame}}}
    timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < {PACKETS}; i++) run(i);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double took = (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec);
    if (took < best) best = took;
  }}
  return best / {PACKETS};
}}
int main() {{
  double on_frames = measure([](int i) {{ struct Packet packet;\n{load}{function}(packet);\n{store}}});
  double on_structs = measure([](int i) {{ {function}(packets[i]); }});
  unsigned sum = 0;
  for (int i = 0; i < {PACKETS}; i++) {{\n{sum}for (unsigned word : frames[i]) sum += word; }}
  fprintf(stderr, \"%u\", sum);
  printf(\"%f %f\", on_frames, on_structs);
}}
"
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
    let said = String::from_utf8_lossy(&ran.stdout);
    let (frames, structs) = said.split_once(' ')?;
    Some([frames.parse().ok()?, structs.parse().ok()?])
}
