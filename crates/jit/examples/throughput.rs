// SPDX-License-Identifier: Apache-2.0
//! scratch
use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, PacketContext};
use ir::{Bits, KeyPattern, SlotId};
use jit::*;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use state::*;
use std::sync::Arc;
use std::time::Instant;

struct NoFiles;
impl IncludeLoader for NoFiles {
    fn load(&self, _path: &str) -> Result<Option<String>, String> { Ok(None) }
}
struct Quiet;
impl Environment for Quiet {
    fn now_ps(&self) -> u64 { 0 }
    fn packet_length_bytes(&self) -> u64 { 64 }
    fn random_key(&self) -> RandomKey { RandomKey::default() }
    fn log_line(&mut self, _: &str) {}
    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> { Err(String::new()) }
}

fn through(program: &ir::Program) -> Unit {
    let slot = |n: &str| program.slot_named(&format!("standard_metadata.{n}")).or_else(|| program.slot_named(&format!("standard.{n}"))).unwrap_or_else(|| panic!("{n}"));
    let block = |r: &str| program.blocks.iter().position(|b| &*b.role == r).unwrap();
    use StepValue::*;
    let steps = vec![
        Step::Set(slot("ingress_port"), Input(0)),
        Step::Set(slot("ingress_global_timestamp"), Input(1)),
        Step::Set(slot("packet_length"), Input(2)),
        Step::Block(block("p")),
        Step::Measure(0),
        Step::Block(block("vr")),
        Step::Block(block("ig")),
        Step::Measure(1),
        Step::ExitIf(Condition::RequestsPending, 1),
        Step::ExitIf(Condition::Differs(slot("mcast_grp"), 0), 1),
        Step::ExitIf(Condition::Equals(slot("egress_spec"), 511), FIRST_WITHOUT_STORAGE),
        Step::ExitIf(Condition::AtLeast(slot("priority"), 8), 1),
        Step::Set(slot("egress_port"), Slot(slot("egress_spec"))),
        Step::Set(slot("egress_spec"), Constant(0)),
        Step::Set(slot("packet_length"), Length { plus: 1, minus: 0 }),
        Step::Block(block("eg")),
        Step::ExitIf(Condition::RequestsPending, 2),
        Step::ExitIf(Condition::Equals(slot("egress_spec"), 511), FIRST_WITHOUT_STORAGE + 1),
        Step::Block(block("ck")),
        Step::Block(block("dep")),
        Step::Output(0, Slot(slot("egress_port"))),
    ];
    Unit { name: "through".into(), steps, storage: Storage::Fresh, observed: Vec::new(), in_place: true }
}

fn main() {
    let file = std::env::args().nth(1).unwrap();
    let routes: u32 = std::env::args().nth(2).map_or(1000, |n| n.parse().unwrap());
    let text = std::fs::read_to_string(&file).unwrap();
    let mut compiled = p4::compile::compile(&file, text, &NoFiles, &PreprocessorOptions::default());
    let typed = compiled.program.as_ref().expect("it compiles");
    let mut program = ir::lowering::lower(typed, &mut compiled.diagnostics).expect("it lowers");
    ir::passes::simplify(&mut program);
    ir::transactions::fuse_register_accesses(&mut program);
    let program = Arc::new(program);
    let unit = through(&program);
    let compiled = Compiled::new(program.clone(), &[unit]).unwrap();
    eprintln!("{compiled:?}");
    let store = Store::new(program.clone()).unwrap();
    let mut cells = Cells::new(&program);
    let table = program.tables.iter().position(|t| t.keys.iter().any(|k| k.match_kind == ir::MatchKind::Lpm)).unwrap();
    let declared = &program.tables[table];
    let prefix = |n: u32| 0x0a00_0000u32.wrapping_add(n << 8);
    let with_hop = declared.actions[0].action;
    let mut items = Vec::new();
    for n in 0..routes {
        let args: Vec<Bits> = program.actions[with_hop.index()].parameters.iter().enumerate().map(|(i, p)| {
            let w = program.slots[p.slot.index()].ty.width_bits();
            Bits::from_u64(w, if i == 0 { u64::from(n % 3 + 1) } else { 0x0200_0000_0001 })
        }).collect();
        let key = KeyPattern::Prefix { value: Bits::from_u64(32, u64::from(prefix(n))), length_bits: 24 };
        items.push(BatchItem::Update(Update::InsertEntry { table: ir::TableId(table as u32), entry: NewEntry::direct(vec![key], 0, BoundAction { action: with_hop, arguments: args }) }));
    }
    if let Some(hops) = program.tables.iter().position(|t| t.name.ends_with("next_hops")) {
        let action = program.tables[hops].actions[0].action;
        for n in 1..=3u64 {
            let args = program.actions[action.index()].parameters.iter().enumerate().map(|(i, p)| Bits::from_u64(program.slots[p.slot.index()].ty.width_bits(), n + i as u64)).collect();
            items.push(BatchItem::Update(Update::InsertEntry { table: ir::TableId(hops as u32), entry: NewEntry::direct(vec![KeyPattern::Exact(Bits::from_u64(16, n))], 0, BoundAction { action, arguments: args }) }));
        }
    }
    let outcome = store.write_batch(&mut cells, Batch { items, atomicity: Atomicity::ContinueOnError, now_ps: 0 });
    assert!(outcome.results.iter().all(|r| r.is_ok()), "{:?}", outcome.results.iter().find(|r| r.is_err()));
    let forwarding = store.forwarding();
    let mut instance = BoundInstance::new();
    let mut environment = Quiet;
    let mut context = PacketContext::new(&program);
    let count = 1024usize;
    let cell = 512usize;
    let mut arena = vec![0u8; count * cell];
    let pristine: Vec<[u8; 64]> = (0..count).map(|n| packet(prefix((n as u32).wrapping_mul(2654435761) % routes) | 7)).collect();
    let mut burst = Burst::new(&compiled, &mut instance, &forwarding, &mut cells, &mut environment);
    let rounds = std::env::args().nth(3).map_or(2000, |n| n.parse().unwrap());
    let mut sent = 0u64;
    let mut descriptors = [Descriptor { length_bytes: 64, input: 1, ..Descriptor::default() }; 32];
    for trial in 0..3 {
        let start = Instant::now();
        sent = 0;
        for _ in 0..rounds {
            for group in (0..count).step_by(32) {
                for n in group..group + 32 {
                    arena[n * cell + 256..n * cell + 320].copy_from_slice(&pristine[n]);
                }
                let mut packets = Packets { memory: &mut arena[group * cell..(group + 32) * cell], first: 256, stride_bytes: cell, headroom_bytes: 256, descriptors: &mut descriptors[..] };
                let (n, ending) = burst.run(0, &mut packets, 0, &mut context, 0);
                sent += n as u64;
                if trial == 9 { panic!("{ending:?}") }
            }
        }
        let total = (rounds * count) as f64;
        println!("{:.1} ns/packet, {:.2} M/s, sent {sent}", start.elapsed().as_secs_f64() / total * 1e9, total / start.elapsed().as_secs_f64() / 1e6);
    }
    println!("{sent} {:02x?}", &arena[256..256 + 40]);
    let _ = SlotId(0);
}

fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum > 0xffff { sum = (sum & 0xffff) + (sum >> 16); }
    !(sum as u16)
}
fn packet(destination: u32) -> [u8; 64] {
    let mut packet = [0u8; 64];
    packet[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    packet[6..12].copy_from_slice(&[2, 0, 0, 0, 1, 1]);
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[14] = 0x45;
    packet[16..18].copy_from_slice(&50u16.to_be_bytes());
    packet[22] = 64;
    packet[23] = 17;
    packet[26..30].copy_from_slice(&[10, 0, 1, 10]);
    packet[30..34].copy_from_slice(&destination.to_be_bytes());
    let sum = checksum(&packet[14..34]);
    packet[24..26].copy_from_slice(&sum.to_be_bytes());
    packet
}
