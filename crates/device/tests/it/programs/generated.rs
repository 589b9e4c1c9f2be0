// SPDX-License-Identifier: Apache-2.0
//! Random packets while rules, programs and code change, on the interpreter, on compiled code, and on compiled code with a
//! tap, which disables the fast path. All results are equal, and no packet mixes two programs.

use super::harness::{Left, device, left, packet, program, set_copies};
use device::{
    Admission, AdmissionRule, Admitted, Burst, Device, DeviceOptions, EngineChoice, MaskedBytes,
    OutputPath, ProgramId, Statistics,
};
use proptest::prelude::*;

/// The next event.
#[derive(Clone, Debug)]
enum Step {
    /// A packet arrives at a port.
    Packet(u32, u8, u8),
    /// A burst arrives, one packet per port from 0.
    Burst(u8, u8),
    /// The rule: bits of the key and their programs.
    Admit(u8, u8),
    /// One of the programs gets other code.
    Replace(u8, bool),
    /// A program is loaded, and swapped in.
    Swap,
    /// A program is loaded, or the last loaded one is unloaded.
    Load(bool),
    /// Queues of a port are paused or resumed.
    Pause(u32, bool),
    /// Time advances.
    Advance(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let port = prop::sample::select(vec![3u32, 7, 68]);
    prop_oneof![
        6 => (0u32..8, 0u8..7, 0u8..16).prop_map(|(port, what, key)| Step::Packet(port, what, key)),
        2 => (0u8..7, 0u8..16).prop_map(|(what, key)| Step::Burst(what, key)),
        1 => (0u8..16, any::<u8>()).prop_map(|(mask, which)| Step::Admit(mask, which)),
        1 => (0u8..4, any::<bool>()).prop_map(|(which, longer)| Step::Replace(which, longer)),
        1 => Just(Step::Swap),
        1 => any::<bool>().prop_map(Step::Load),
        1 => (port, any::<bool>()).prop_map(|(port, paused)| Step::Pause(port, paused)),
        3 => (0u64..1500).prop_map(Step::Advance),
    ]
}

#[derive(Debug, PartialEq)]
struct Shown {
    left: Vec<Left>,
    statistics: Statistics,
    counts: Vec<Vec<u64>>,
    loaded: Vec<usize>,
}

/// The programs of a device that rules may name, the main one first.
struct Programs {
    all: Vec<ProgramId>,
    /// The number that the next program writes.
    next: u8,
}

impl Programs {
    fn number(&mut self) -> u8 {
        self.next = if self.next == 9 { 2 } else { self.next + 1 };
        self.next
    }
}

fn take(device: &mut Device, programs: &mut Programs, step: &Step, seen: &mut Vec<Left>) {
    let set = |device: &Device, id| set_copies(&mut device.target_of(id).expect("it is loaded"));
    match *step {
        Step::Packet(port, what, key) => {
            device.inject(port, device.now_ps(), packet(what, key)).expect("it is on time");
        }
        Step::Burst(what, key) => {
            let mut burst = Burst::new(8, 64);
            for port in 0..8 {
                burst.push(port, &packet(what, key ^ (port / 3) as u8)).expect("it fits");
            }
            device.forward(&mut burst).expect("nothing fails");
            seen.extend(burst.outputs().map(|sent| {
                let bytes = sent.bytes;
                (sent.packet as u64, sent.port, (bytes[2], bytes[3]), bytes[7])
            }));
        }
        Step::Admit(mask, which) => {
            let at = |which: u8| programs.all[usize::from(which) % programs.all.len()];
            let bytes = vec![MaskedBytes { offset_bytes: 1, mask: vec![mask], value: vec![mask] }];
            let to = match which % 5 {
                0 => Admitted::Drop,
                _ => Admitted::Program(at(which)),
            };
            let rules = vec![AdmissionRule { bytes, ..AdmissionRule::all(to) }];
            let rules = if mask == 0 { Vec::new() } else { rules };
            let otherwise = Admitted::Program(programs.all[0]);
            device.admit(Admission { rules, otherwise }).expect("they are loaded");
        }
        Step::Replace(which, longer) => {
            let id = programs.all[usize::from(which) % programs.all.len()];
            let defines: &[_] = if longer { &[("LONGER", "1")] } else { &[] };
            let code = Device::prepare(program(programs.number(), defines), device.options());
            device.replace_code(id, code.expect("loads")).expect("state is equal");
        }
        Step::Swap => {
            device.load_second(program(programs.number(), &[])).expect("loads");
            assert!(device.swap());
            programs.all[0] = device.program_id();
        }
        Step::Load(true) => {
            let id = device.load(program(programs.number(), &[])).expect("loads");
            set(device, id);
            programs.all.push(id);
        }
        Step::Load(false) => {
            let last = programs.all[programs.all.len() - 1];
            if device.unload(last).is_ok() {
                programs.all.pop();
            }
        }
        Step::Pause(port, true) => drop(device.pause(OutputPath::Port(port), None)),
        Step::Pause(port, false) => drop(device.resume(OutputPath::Port(port), None)),
        Step::Advance(by_ps) => device.advance(device.now_ps() + by_ps).expect("nothing fails"),
    }
}

fn run(steps: &[Step], engine: EngineChoice, tap: bool) -> Shown {
    let mut device = device(engine, DeviceOptions { tap, ..DeviceOptions::default() });
    set_copies(&mut device.target());
    let mut programs = Programs { all: vec![device.program_id()], next: 1 };
    let (mut seen, mut loaded) = (Vec::new(), Vec::new());
    for step in steps {
        take(&mut device, &mut programs, step, &mut seen);
        seen.extend(left(&mut device));
        loaded.push(device.loaded_programs());
    }
    for port in [3, 7, 68] {
        device.resume(OutputPath::Port(port), None);
    }
    device.run_to_completion().expect("nothing fails");
    seen.extend(left(&mut device));
    loaded.push(device.loaded_programs());
    assert_eq!(device.loaded_programs(), programs.all.len());
    let counts = |id: &ProgramId| {
        let cells = device.cells_of(*id).expect("it is loaded");
        let cells = cells.register(ir::RegisterId(0)).expect("it is there");
        (0..cells.size()).filter_map(|at| cells.read(at)).map(|cell| cell.low_u64()).collect()
    };
    let counts = programs.all.iter().map(counts).collect();
    Shown { left: seen, statistics: device.statistics(), counts, loaded }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(16), ..ProptestConfig::default() })]

    #[test]
    fn engines_and_paths_agree_while_programs_change(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let expected = run(&steps, EngineChoice::Interpreter, false);
        for (_, _, (in_ingress, in_egress), _) in &expected.left {
            // A clone is the original packet without writes of ingress.
            prop_assert!(*in_ingress == 0 || in_ingress == in_egress, "{:?}", expected.left);
        }
        prop_assert_eq!(&run(&steps, EngineChoice::Jit, false), &expected);
        prop_assert_eq!(&run(&steps, EngineChoice::Jit, true), &expected);
    }
}
