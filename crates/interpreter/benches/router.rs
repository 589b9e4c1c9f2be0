// SPDX-License-Identifier: Apache-2.0
//! Packets a second through the blocks of an IPv4 router with 1,000 routes, on one core. Ports, queues
//! and files are not in it.

use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, Interpreter, PacketContext};
use ir::{ActionId, Bits, KeyPattern, TableId};
use state::{Batch, BoundAction, Cells, NewEntry, Store, Update};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

struct Quiet;

impl Environment for Quiet {
    fn now_ps(&self) -> u64 {
        0
    }

    fn packet_length_bytes(&self) -> u64 {
        64
    }

    fn random_key(&self) -> RandomKey {
        RandomKey::default()
    }

    fn log_line(&mut self, _: &str) {}

    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err("there are no externs".into())
    }
}

const PACKETS: u32 = 500_000;

fn main() {
    let program = Arc::new(
        ir::text::parse(include_str!("../tests/data/router.ir")).expect("the program parses"),
    );
    let store = Store::new(program.clone()).expect("the program is sound");
    let mut cells = Cells::new(&program);
    let route = |value: u64, length_bits: u32, number: u64| Update::InsertEntry {
        table: TableId(0),
        entry: NewEntry::direct(
            vec![KeyPattern::Prefix { value: Bits::from_u64(32, value), length_bits }],
            0,
            BoundAction {
                action: ActionId(0),
                arguments: vec![Bits::from_u64(48, number), Bits::from_u64(9, number % 8)],
            },
        ),
    };
    let routes = (0..999u64)
        .map(|number| route(0x0a00_0000 + (number << 8), 24 + (number % 9) as u32, number))
        .chain([route(0x0a00_0000, 8, 999)]);
    let inserted = store.write_batch(&mut cells, Batch::updates(0, routes));
    let route_count = inserted.results.iter().filter(|result| result.is_ok()).count();

    let interpreter = Interpreter::new(program.clone());
    let mut context = PacketContext::new(&program);
    let mut packet = [0u8; 64];
    packet[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
    packet[22..24].copy_from_slice(&[64, 17]);
    let start = Instant::now();
    let mut forwarded = 0;
    for number in 0..PACKETS {
        packet[30..34].copy_from_slice(&(0x0a00_0000 + (number % 1000) * 256 + 5).to_be_bytes());
        context.reset(&program);
        context.set_packet(&packet);
        let configuration = store.configuration();
        for block in 0..program.blocks.len() {
            black_box(interpreter.run_block(
                block,
                &mut context,
                &configuration,
                &mut cells,
                &mut Quiet,
                None,
            ));
        }
        forwarded += u32::from(context.requests.is_empty());
        black_box(context.outgoing_packet());
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:.0} packets/s ({route_count} routes, {forwarded} of {PACKETS} forwarded)",
        f64::from(PACKETS) / seconds
    );
}
