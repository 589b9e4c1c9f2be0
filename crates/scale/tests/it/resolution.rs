// SPDX-License-Identifier: Apache-2.0
//! Address resolution against what packets do: generated controls run in the interpreter, and each access of state must be
//! one that the code in front has foretold. Of groups that state does not decide about nothing more may be foretold.

use crate::controls::{PACKETS, Silent, declarations, packet, statements};
use crate::v1model::program;
use interpreter::{Event, Interpreter, Observer, PacketContext};
use ir::effects::Location;
use ir::{OriginId, RegisterId};
use scale::resolution::{Resolution, resolution};
use scale::sharding::{ControlSharding, ShardOptions, shard};
use state::{Cells, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use testing::{Choices, seeds, tape};

/// The cells that a packet accessed.
#[derive(Default)]
struct Accessed(BTreeSet<(RegisterId, u64)>);

impl Observer for Accessed {
    fn observe(&mut self, _: Option<OriginId>, event: Event<'_>) {
        if let Event::RegisterAccessed { register, index, .. } = event {
            self.0.insert((register, index.low_u64()));
        }
    }
}

/// Runs packets, and returns what was not as foretold.
fn failure(choices: &mut Choices) -> Option<String> {
    let body = statements(choices, 2);
    let most_stages = choices.between(1, 8) as usize;
    let ready = program(&declarations(), &body, "");
    let original = ready.program();
    let mut controls = shard(original, ShardOptions::default(), &|_| None, &|_| most_stages);
    let control = controls.iter_mut().find(|control| !control.groups.is_empty())?;
    let resolved = resolution(control)?;
    if let Err(errors) = ir::verify(&resolved.program) {
        return Some(format!("{body}\nthe code is wrong: {errors:?}"));
    }
    let mut runs = Runs::new(original, &resolved);
    for _ in 0..PACKETS {
        let packet = packet(choices);
        if let Some(found) = runs.packet(&packet, control, &resolved) {
            return Some(format!("{found}\n{body}"));
        }
    }
    None
}

/// The program and the code in front of it, on one state.
struct Runs {
    original: Interpreter,
    front: Interpreter,
    store: Store,
    cells: Cells,
    parser: usize,
}

impl Runs {
    fn new(original: &Arc<ir::Program>, resolved: &Resolution) -> Runs {
        let parser = original.blocks.iter().position(|block| &*block.role == "p");
        Runs {
            original: Interpreter::new(original.clone()),
            front: Interpreter::new(Arc::new(resolved.program.clone())),
            store: Store::new(original.clone()).expect("a store"),
            cells: Cells::new(original),
            parser: parser.expect("a parser"),
        }
    }

    fn packet(
        &mut self,
        bytes: &[u8],
        control: &ControlSharding<'_>,
        resolved: &Resolution,
    ) -> Option<String> {
        let configuration = self.store.configuration();
        let mut context = self.original.context();
        context.set_packet(bytes);
        let Runs { original, front, cells, .. } = self;
        let mut run = |block: usize, context: &mut PacketContext, seen: &mut Accessed| {
            original.run_block(block, context, &configuration, cells, &mut Silent, Some(seen))
        };
        run(self.parser, &mut context, &mut Accessed::default());
        let mut before = front.context();
        before.storage_mut()[..context.storage().len()].copy_from_slice(context.storage());
        let mut accessed = Accessed::default();
        run(control.block, &mut context, &mut accessed);
        let mut none = Accessed::default();
        let block = resolved.block;
        front.run_block(block, &mut before, &configuration, cells, &mut Silent, Some(&mut none));
        for (group, slots) in control.groups.iter().zip(&resolved.slots) {
            let mut cells_of_group = BTreeSet::new();
            let mut happened = false;
            for array in &group.arrays {
                let array = &control.arrays[*array];
                let Location::Register(register) = array.object else { continue };
                let of_array = accessed.0.iter().filter(|(of, _)| *of == register);
                for (_, cell) in of_array.filter(|(_, cell)| *cell < array.cells) {
                    happened = true;
                    cells_of_group.insert(*cell);
                }
            }
            let foretold = before.flag(slots.happens);
            let names: Vec<&str> =
                group.arrays.iter().map(|at| &*control.arrays[*at].name).collect();
            let said = |what: &str| Some(format!("{names:?} {what}, packet {bytes:?}, {group:?}"));
            if happened && !foretold {
                return said("was accessed and not foretold");
            }
            if group.is_sharded && group.is_certain() && foretold != happened {
                return said("was foretold and not accessed");
            }
            if group.is_sharded && happened {
                let index = slots.index.map(|slot| before.number(slot));
                if cells_of_group.into_iter().collect::<Vec<u64>>() != Vec::from_iter(index) {
                    return said("was accessed at other cells");
                }
            }
        }
        None
    }
}

#[test]
fn accesses_are_foretold() {
    for seed in seeds(150) {
        let numbers = tape::from_seed(seed, 400);
        let mut fails =
            |numbers: &[u32]| failure(&mut Choices::from_tape(numbers.to_vec())).is_some();
        if fails(&numbers) {
            let small = tape::shrink(&numbers, 300, &mut fails);
            let found = failure(&mut Choices::from_tape(small)).unwrap_or_default();
            panic!("seed {seed}: {found}");
        }
    }
}
