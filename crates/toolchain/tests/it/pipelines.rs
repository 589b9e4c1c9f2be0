// SPDX-License-Identifier: Apache-2.0
//! Programs of all languages on several pipelines: which of them run there, and each that does against an ordinary device,
//! under schedules that seeds choose. `DOMINO_EXAMPLES` names a folder with the thirty programs of domino-examples.

use crate::recording::Recording;
use control::session::Session;
use device::side_by_side::AgreedOutputs;
use device::{Device, DeviceOptions, EngineChoice};
use frontend::{Compiled, Deployment, ProgramFile};
use ir::RegisterId;
use p4::preprocessor::PreprocessorOptions;
use scale::ahead::{AheadDevice, Obstacle, of_device, staged};
use scale::staged::StagedControl;
use scale::threads::{Schedule, Window};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testing::Choices;
use toolchain::files::Disk;
use toolchain::{control_files, selection};

/// Packets of a run.
const PACKETS: usize = 120;
/// Words of a packet; programs read the first ones.
const WORDS: usize = 40;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn compile(path: &Path) -> Compiled {
    let preprocessing = PreprocessorOptions::default();
    let file = ProgramFile { path, files: &Disk, preprocessing: &preprocessing };
    let language = selection::of(path).expect("a language");
    match language.compile(&file, None) {
        Ok(compiled) => compiled,
        Err(failure) => panic!("{}: {}", path.display(), failure.text()),
    }
}

/// A program that runs on pipelines, or why it does not.
struct Case {
    name: String,
    compiled: Compiled,
    planned: Result<Arc<StagedControl>, Obstacle>,
}

impl Case {
    fn new(path: &Path) -> Case {
        let compiled = compile(path);
        let options = compiled.setup.first().map(|setup| setup.options.clone());
        let obstacle = of_device(&options.unwrap_or_default());
        let planned = obstacle.map_or_else(|| staged(compiled.ready.program()), Err);
        let parent = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = format!(
            "{}/{}",
            parent.to_string_lossy(),
            path.file_name().unwrap_or_default().to_string_lossy()
        );
        Case { name, compiled, planned: planned.map(Arc::new) }
    }

    /// A row of the table: what is sharded, or what is in the way.
    fn row(&self) -> String {
        let text = match &self.planned {
            Err(Obstacle { reason, span }) => match self.compiled.map.location(*span) {
                Some(place) => format!("one thread: {reason} (line {})", place.line),
                None => format!("one thread: {reason}"),
            },
            Ok(control) => {
                let (sharded, whole): (Vec<_>, Vec<_>) =
                    control.groups.iter().partition(|group| group.cells > 1);
                let names = |groups: &[&scale::staged::StagedGroup]| {
                    let last = |name: &str| name.split('.').next_back().unwrap_or("").to_string();
                    let of_group = |group: &&scale::staged::StagedGroup| {
                        group.name.split('+').map(last).collect::<Vec<_>>().join("+")
                    };
                    groups.iter().map(of_group).collect::<Vec<_>>().join(", ")
                };
                match (sharded.is_empty(), whole.is_empty()) {
                    (true, true) => "pipelines, without state".to_string(),
                    (false, true) => format!("pipelines, spread: {}", names(&sharded)),
                    (true, false) => format!("pipelines, on one each: {}", names(&whole)),
                    (false, false) => format!(
                        "pipelines, spread: {}; on one each: {}",
                        names(&sharded),
                        names(&whole)
                    ),
                }
            }
        };
        format!("{}: {text}\n", self.name)
    }

    fn device(&self, program: &Arc<ir::Program>, engine: EngineChoice) -> Device {
        let empty =
            Deployment { switch: 0, options: DeviceOptions::default(), commands: String::new() };
        let Deployment { options, commands, .. } = self.compiled.setup.first().unwrap_or(&empty);
        let options = DeviceOptions { engine, ..options.clone() };
        let device = Device::new(program.clone(), options).expect("it loads");
        command(&device, commands);
        device
    }

    /// Compares a run on pipelines with one on one thread. In the middle the control plane writes the first cell of all
    /// registers.
    fn check(&self, control: &Arc<StagedControl>, workers: usize, engine: EngineChoice, seed: u64) {
        assert!(control.stages.len() <= control.groups.len() + 1, "{}", self.name);
        let mut choices = Choices::from_seed(seed);
        let mut ordinary = self.device(self.compiled.ready.program(), engine);
        let ahead = self.device(&control.program, engine);
        let window = Window { batch: 1 + choices.below(6), packets: 1 + choices.below(50) };
        let mut random = Choices::from_seed(choices.word());
        let schedule: Schedule = Box::new(move |among| random.below(among));
        let started = AheadDevice::scheduled(ahead, control.clone(), workers, (window, schedule));
        let mut ahead = started.expect("it starts");
        let mut sent = [AgreedOutputs::default(), AgreedOutputs::default()];
        for number in 0..PACKETS {
            // Some packets arrive at the same time.
            let time_ps = (number - number % 3) as u64 * 700_000;
            let bytes = frame(&mut choices);
            if number == PACKETS / 2 {
                while ahead.finish_next().expect("it runs") {}
                ahead.halt();
                for device in [&mut ahead.device, &mut ordinary] {
                    device.advance(time_ps).expect("it runs");
                    write_registers(device);
                }
                ahead.resume();
            }
            if ahead.is_full() {
                ahead.finish_next().expect("it runs");
            }
            ahead.begin(0, time_ps, bytes.clone()).expect("it is later");
            ordinary.advance(time_ps).expect("it runs");
            ordinary.inject(0, time_ps, bytes).expect("it is later");
        }
        while ahead.finish_next().expect("it runs") {}
        ahead.halt();
        let (mut ahead, counts) = ahead.end();
        for (device, sent) in [&mut ahead, &mut ordinary].into_iter().zip(&mut sent) {
            device.run_to_completion().expect("it runs");
            sent.transmitted = device.drain_transmitted();
            sent.digests = device.drain_digests();
            sent.log = device.drain_log();
        }
        let what = format!("{}, {workers} workers, {engine:?}, seed {seed}", self.name);
        let [found, expected] = &sent;
        assert_eq!(found.transmitted, expected.transmitted, "{what}");
        assert_eq!(found.digests, expected.digests, "{what}");
        assert_eq!(found.log, expected.log, "{what}");
        assert_eq!(ahead.statistics(), ordinary.statistics(), "{what}");
        assert_eq!(counts.iter().map(|one| one.packets).sum::<u64>(), PACKETS as u64);
        let (found, expected) = (ahead.cells(), ordinary.cells());
        for (at, register) in (0..).zip(&self.compiled.ready.program().registers) {
            let cells = |cells: &state::Cells| {
                let cells = cells.register(RegisterId(at)).expect("the register");
                (0..cells.size().min(1 << 14)).map(|cell| cells.read(cell)).collect::<Vec<_>>()
            };
            assert!(cells(&found) == cells(&expected), "{what}: {}", register.name);
        }
        assert!(found.has_counts_of(&expected), "{what}");
    }
}

fn command(device: &Device, commands: &str) {
    let console = Recording::default();
    let mut session = Session::new(device.program());
    let target = &mut device.target();
    let done =
        control_files::apply_text("commands", commands, None, &mut session, target, &console);
    assert!(done.is_some(), "{}", console.text());
}

fn write_registers(device: &Device) {
    let program = device.program();
    let commands: Vec<String> =
        program.registers.iter().map(|one| format!("register_write {} 0 1\n", one.name)).collect();
    command(device, &commands.concat());
}

/// A frame of words, most of them small, so that packets meet in cells.
fn frame(choices: &mut Choices) -> Vec<u8> {
    let word = |choices: &mut Choices| match choices.below(8) {
        0 => choices.word() as u32,
        _ => choices.below(6) as u32,
    };
    (0..WORDS).flat_map(|_| word(choices).to_be_bytes()).collect()
}

/// The programs in folders, in order of names.
fn programs(folders: &[PathBuf], extensions: &[&str]) -> Vec<Case> {
    let mut paths = Vec::new();
    for folder in folders {
        let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|file| file.path());
        let is_program = |path: &PathBuf| {
            let end = path.extension().and_then(|end| end.to_str()).unwrap_or("");
            extensions.contains(&end)
        };
        paths.extend(files.filter(is_program));
    }
    paths.sort();
    paths.iter().map(|path| Case::new(path)).collect()
}

fn folders_of(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder").flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Runs each case that runs on pipelines, with one number of workers and one engine in turn.
fn check_all(cases: &[Case], seed: u64) {
    for (at, case) in cases.iter().enumerate() {
        let Ok(control) = &case.planned else { continue };
        let workers = [2, 3, 8, 1][at % 4];
        let engine = if at % 4 == 3 { EngineChoice::Jit } else { EngineChoice::Interpreter };
        case.check(control, workers, engine, seed + at as u64);
    }
}

#[test]
fn examples_on_pipelines_equal_one_thread() {
    let mut p4: Vec<PathBuf> = folders_of("examples");
    p4.retain(|folder| !folder.ends_with("react"));
    let mut table = String::new();
    let cases = programs(&p4, &["p4", "domino"]);
    check_all(&cases, 1);
    cases.iter().for_each(|case| table.push_str(&case.row()));
    let mut lucid: Vec<PathBuf> = folders_of("examples/lucid");
    lucid.retain(|folder| !folder.ends_with("library"));
    programs(&lucid, &["dpt"]).iter().for_each(|case| table.push_str(&case.row()));
    testing::golden::check(root().join("tests/pipelines.txt"), &table);
}

#[test]
fn thirty_programs_on_pipelines_equal_one_thread() {
    let Some(folder) = std::env::var_os("DOMINO_EXAMPLES").map(PathBuf::from) else {
        return testing::programs::not_run(
            "the thirty programs",
            "DOMINO_EXAMPLES names no folder",
        );
    };
    let folders = ["domino_programs", "generalize"].map(|part| folder.join(part));
    let cases = programs(&folders, &["c"]);
    check_all(&cases, 100);
    cases.iter().for_each(|case| print!("{}", case.row()));
}
