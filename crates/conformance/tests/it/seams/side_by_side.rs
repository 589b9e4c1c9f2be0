// SPDX-License-Identifier: Apache-2.0
//! Programs side by side on one device, chosen by ingress port, each with a target of its own; names of tables may be
//! equal. While packets flow the code of one is replaced, and another one is replaced by a program that is loaded anew. Each has
//! to be as alone on a device of its own.

use crate::seams::program;
use crate::seams::share::{NAMES, PROGRAMS};
use crate::seams::tenants::{Counts, History, Tenant};
use control::target::Target;
use device::{Admission, Device, DeviceOptions, EngineChoice, ProgramId};
use ir::Program;
use std::sync::{Arc, LazyLock};
use testing::{Choices, cases};

/// What is wrong, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// Packets for program 2 meet program 1.
    WrongPort,
    /// The controller of program 2 has the target of the main program.
    WrongTarget,
    /// Program 1 is loaded anew in place of a replacement of its code.
    StateLost,
    /// The rule keeps naming the program before.
    RuleForgotten,
}

/// Program 1 with other code and equal state.
static REPLACEMENT: LazyLock<Arc<Program>> = LazyLock::new(|| {
    let [first, second] = NAMES[0];
    let text = include_str!("share.p4").replace(
        "hdr.work.one = value;",
        "bit<16> kept = value ^ 0x55aa; hdr.work.one = kept ^ 0x55aa;",
    );
    assert!(text.contains("kept"), "the program has the statement that is rewritten");
    program(&format!(
        "#define FIRST {first}\n#define FIRST_NAME \"{first}\"\n#define SECOND {second}\n\
         #define SECOND_NAME \"{second}\"\n{text}"
    ))
});

struct Scene {
    mistake: Mistake,
    options: DeviceOptions,
    /// Devices of programs 1 to 3, which those of histories are like.
    like: [Device; 3],
}

impl Scene {
    fn new(mistake: Mistake, engine: EngineChoice) -> Scene {
        let options = DeviceOptions { engine, ..DeviceOptions::default() };
        let device = |program: &Arc<Program>| {
            Device::new(program.clone(), options.clone()).expect("it loads")
        };
        let [one, two, three] = &PROGRAMS.written;
        let like = [one, two, three].map(device);
        Scene { mistake, options, like }
    }

    fn alone(&self, number: usize) -> Device {
        self.like[number - 1].sharing_code_with(self.options.clone()).expect("it loads")
    }

    fn tenant(&self, device: &Device, number: usize, id: ProgramId) -> Tenant {
        let alone = self.alone(number);
        let target = match (self.mistake, number) {
            (Mistake::WrongTarget, 2) => device.target(),
            _ => device.target_of(id).expect("it is loaded"),
        };
        let (program, alone_target) = (alone.program(), alone.target());
        let knows_living_entries = false;
        let shared = Box::new(target);
        Tenant { program, number, shared, alone, alone_target, knows_living_entries }
    }

    /// The rule: each program's packets come by the port of its number.
    fn rule(&self, ids: [ProgramId; 3]) -> Admission {
        let of_second = if self.mistake == Mistake::WrongPort { ids[0] } else { ids[1] };
        Admission::by_port([(1..=1, ids[0]), (2..=2, of_second), (3..=3, ids[2])])
    }

    fn run(&self, seed: u64, counts: &mut Counts) -> Result<(), String> {
        let mut device = self.alone(1);
        let mut ids = [device.program_id(); 3];
        for (id, like) in ids.iter_mut().zip(&self.like).skip(1) {
            *id = device.load(like.program()).expect("it loads");
        }
        device.admit(self.rule(ids)).expect("all are loaded");
        let tenants = (1..=3).map(|number| self.tenant(&device, number, ids[number - 1])).collect();
        let between = |round: u64, device: &mut Device, tenants: &mut [Tenant]| match round {
            3 => {
                let code = Device::prepare(REPLACEMENT.clone(), &self.options).expect("it loads");
                if self.mistake == Mistake::StateLost {
                    let before = ids[0];
                    ids[0] = device.load_prepared(code);
                    device.admit(self.rule(ids)).expect("all are loaded");
                    let target = device.target_of(ids[0]).expect("it is loaded");
                    tenants[0].shared = Box::new(target);
                    device.unload(before).ok();
                } else {
                    device.replace_code(ids[0], code).expect("its state is equal");
                }
            }
            5 => {
                let now_ps = device.now_ps();
                let before = ids[2];
                ids[2] = device.load(self.like[2].program()).expect("it loads");
                if self.mistake != Mistake::RuleForgotten {
                    device.admit(self.rule(ids)).expect("all are loaded");
                    device.unload(before).expect("no rule names it");
                }
                tenants[2] = self.tenant(device, 3, ids[2]);
                tenants[2].alone.advance(now_ps).expect("nothing fails");
                tenants[2].shared.notifications();
                tenants[2].alone_target.notifications();
            }
            _ => {}
        };
        History { device, tenants }.play(&mut Choices::from_seed(seed), counts, between)
    }
}

#[test]
fn programs_side_by_side_do_not_see_one_another() {
    for (engine, default) in [(EngineChoice::Interpreter, 30), (EngineChoice::Jit, 15)] {
        let scene = Scene::new(Mistake::None, engine);
        let mut counts = Counts::default();
        let histories = cases(default);
        for seed in 0..histories {
            if let Err(what) = scene.run(seed, &mut counts) {
                panic!("seed {seed} on {engine:?}: {what}");
            }
        }
        println!("{histories} histories on {engine:?}: {counts:?}");
        assert!(counts.sent * 8 > counts.packets && counts.notifications > 0, "{counts:?}");
    }
}

#[test]
fn mistakes_of_rules_and_targets_are_caught() {
    for mistake in
        [Mistake::WrongPort, Mistake::WrongTarget, Mistake::StateLost, Mistake::RuleForgotten]
    {
        for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
            let scene = Scene::new(mistake, engine);
            let is_caught = |seed| scene.run(seed, &mut Counts::default()).is_err();
            let caught = (0..8).filter(|seed| is_caught(*seed)).count();
            println!("{mistake:?} on {engine:?}: caught in {caught} of 8 histories");
            assert!(caught > 0, "{mistake:?} on {engine:?} is not caught");
        }
    }
}
