// SPDX-License-Identifier: Apache-2.0
//! Workers against one pipeline: packets and cells must be equal in every schedule. Most tests run the workers by a schedule on
//! one thread: a seed draws it, or the test tries all schedules of a small run.

use crate::generate::{Case, case};
use scale::synthetic::{Packet, Program, Step, Synthetic};
use scale::threads::{Schedule, Window, Workers};
use scale::work::{Access, Group, Work};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use testing::choices::Choices;
use testing::{seeds, tape};

/// Packets and cells after a run.
type Ended = (Vec<Packet>, Vec<u64>);

/// Runs packets one after the other.
fn one_after_the_other(program: &Arc<Program>, packets: &[Packet]) -> Ended {
    let mut work = Synthetic::new(program.clone(), 1);
    let mut packets = packets.to_vec();
    for packet in &mut packets {
        work.resolve(packet, &mut Vec::new());
        for stage in 0..program.stages {
            if work.run(stage, 0, packet).is_dropped {
                break;
            }
        }
    }
    let cells = accesses(program).map(|access| work.value(access, 0)).collect();
    (packets, cells)
}

fn accesses(program: &Program) -> impl Iterator<Item = Access> {
    let cells =
        |(group, one): (u32, &Group)| (0..one.cells).map(move |cell| Access { group, cell });
    (0..).zip(&program.groups).flat_map(cells)
}

/// Runs packets on workers; halts before the packets of these numbers.
fn on_workers(
    program: &Arc<Program>,
    packets: &[Packet],
    mut workers: Workers<Synthetic>,
    halts: &[usize],
) -> Ended {
    let mut ended = Vec::new();
    for (number, packet) in packets.iter().enumerate() {
        if halts.contains(&number) {
            ended.extend(std::iter::from_fn(|| workers.pop()));
            workers.with_works(|works| assert!(works.len() <= 64));
        }
        if workers.is_full() {
            ended.extend(workers.pop());
        }
        workers.push(packet.clone());
    }
    ended.extend(std::iter::from_fn(|| workers.pop()));
    let placement = workers.placement().clone();
    let cells = workers.with_works(|works| {
        let value = |access| works[placement.owner(access)].value(access, 0);
        accesses(program).map(value).collect()
    });
    let counts = workers.end();
    assert_eq!(counts.iter().map(|count| count.packets).sum::<u64>(), packets.len() as u64);
    (ended, cells)
}

fn works(program: &Arc<Program>, workers: usize) -> Vec<Synthetic> {
    vec![Synthetic::new(program.clone(), 1); workers]
}

/// Says what is wrong with a generated run under a generated schedule.
fn difference(tape: &[u32]) -> Option<String> {
    let mut choices = Choices::from_tape(tape.iter().copied());
    let Case { program, arrivals, .. } = case(&mut choices);
    let packets: Vec<Packet> = arrivals.into_iter().map(|arrival| arrival.packet).collect();
    let count = *choices.pick(&[2, 3, 8, 1]);
    let window = Window { batch: 1 + choices.below(5), packets: 1 + choices.below(40) };
    let halts = [choices.below(packets.len()), choices.below(200)];
    let mut random = Choices::from_seed(choices.word());
    let schedule: Schedule = Box::new(move |among| random.below(among));
    let workers = Workers::scheduled(works(&program, count), window, schedule);
    let found = on_workers(&program, &packets, workers, &halts);
    let expected = one_after_the_other(&program, &packets);
    (found != expected).then(|| {
        format!("{count} workers, {window:?}\n{program:?}\n{packets:?}\n{found:?}\n{expected:?}")
    })
}

#[test]
fn workers_equal_one_pipeline_in_any_order_of_steps() {
    for seed in seeds(300) {
        let numbers = tape::from_seed(seed, 800);
        if difference(&numbers).is_some() {
            let small = tape::shrink(&numbers, 300, &mut |numbers| difference(numbers).is_some());
            panic!("seed {seed}: {}", difference(&small).unwrap_or_default());
        }
    }
}

/// Two arrays of two cells, with a predicate on state and a drop.
fn small_program() -> Arc<Program> {
    let group = |name: &str, stage| Group { name: name.to_string(), stage, cells: 2 };
    let step = |group, cell| Step::plain(Access { group, cell });
    Arc::new(Program {
        stages: 2,
        groups: vec![group("first", 0), group("second", 1)],
        flows: vec![
            vec![step(0, 0), Step { predicate: Some((0, true)), ..step(1, 1) }],
            vec![Step { drops: 2, ..step(0, 1) }, step(1, 1)],
        ],
    })
}

/// What a run chose: at each choice the alternative and their number.
type Tape = Rc<RefCell<Vec<(usize, usize)>>>;

/// Repeats the choices of a tape, and takes the first alternative behind its end.
fn repeat(tape: &Tape) -> Schedule {
    let (tape, mut at) = (tape.clone(), 0);
    Box::new(move |among| {
        let mut tape = tape.borrow_mut();
        if at == tape.len() {
            tape.push((0, among));
        }
        at += 1;
        tape[at - 1].0
    })
}

#[test]
fn all_schedules_of_a_small_run_give_the_same() {
    let program = small_program();
    let packets: Vec<Packet> =
        [0, 1, 0, 1].into_iter().zip(0..).map(|(flow, id)| Packet::new(id, flow)).collect();
    let expected = one_after_the_other(&program, &packets);
    let tape = Tape::default();
    let mut runs = 0;
    loop {
        let window = Window { batch: 1, packets: 4 };
        let workers = Workers::scheduled(works(&program, 2), window, repeat(&tape));
        let found = on_workers(&program, &packets, workers, &[]);
        assert_eq!(found, expected, "{:?}", tape.borrow());
        runs += 1;
        // The next schedule: the last choice that has another alternative takes it.
        let mut tape = tape.borrow_mut();
        while tape.last().is_some_and(|(chosen, among)| chosen + 1 == *among) {
            tape.pop();
        }
        match tape.last_mut() {
            Some((chosen, _)) => *chosen += 1,
            None => break,
        }
    }
    assert!(runs > 1000, "{runs} schedules");
    println!("{runs} schedules");
}

#[test]
fn threads_equal_one_pipeline() {
    for seed in seeds(4) {
        let Case { program, .. } = case(&mut Choices::from_seed(seed));
        let flows = program.flows.len();
        let mut choices = Choices::from_seed(seed);
        let packets: Vec<Packet> =
            (0..3000).map(|id| Packet::new(id, choices.below(flows) as u32)).collect();
        let expected = one_after_the_other(&program, &packets);
        for count in [1, 2, 3, 8] {
            let workers = Workers::start(works(&program, count), Window::default());
            let workers = workers.expect("threads");
            let found = on_workers(&program, &packets, workers, &[1000, 1001]);
            assert!(found == expected, "seed {seed}, {count} workers");
        }
    }
}

#[test]
fn run_that_stops_early_leaves_no_thread() {
    let program = small_program();
    let mut workers = Workers::start(works(&program, 3), Window::default()).expect("threads");
    (0..500).for_each(|id| workers.push(Packet::new(id, 0)));
    assert_eq!(workers.pop().map(|packet| packet.id), Some(0));
    drop(workers);
}
