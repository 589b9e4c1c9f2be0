// SPDX-License-Identifier: Apache-2.0
//! Externs with providers: they compute, keep state by instance, drop, hold, release and emit packets. Outputs, statistics
//! and taps are equal on both engines, in bursts and for single packets.

use crate::setup::ENGINES;
use device::{
    Burst, Device, DeviceOptions, DropReason, EngineChoice, ExternAction, LoadError, PassTiming,
    Statistics, Tapped, TappedEvent,
};
use ir::ready::ReadyProgram;
use ir::{Bits, ExternId, Program};
use state::externs::{
    CallShape, EmitTo, ExternInstance, ExternPacket, ExternProvider, ExternRegistry,
    ProviderEffects, PureExtern,
};
use std::sync::Arc;

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
@pure extern bit<8> popcount(in bit<8> x);
extern Fec { Fec(bit<8> k); bit<8> add(in bit<8> kind, in bit<8> ticket); }
header packet_t { bit<8> kind; bit<8> ticket; bit<8> ones; bit<8> seen; bit<8> egress_seen; bit<8> port; }
struct headers_t { packet_t h; }
struct meta_t { }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    Fec(3) fec;
    apply {
        s.egress_spec = 9w4;
        hdr.h.ones = popcount(hdr.h.ticket);
        if (hdr.h.kind < 128) { hdr.h.seen = fec.add(hdr.h.kind, hdr.h.ticket); }
        hdr.h.port = s.ingress_port[7:0];
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    Fec(100) late;
    apply {
        if (hdr.h.kind > 127) { hdr.h.egress_seen = late.add(hdr.h.kind & 127, hdr.h.ticket); }
    }
}
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// Passes the packet.
const PLAIN: u8 = 0;
/// Holds the packet until a release.
const HOLD: u8 = 1;
/// Holds it for a nanosecond.
const HOLD_SHORTLY: u8 = 2;
/// Releases the packet with this ticket first.
const RELEASE: u8 = 3;
/// Drops it.
const DROP: u8 = 4;
/// Drops the held packet with this ticket.
const DROP_HELD: u8 = 5;
/// Emits a plain packet to ingress.
const COME: u8 = 6;
/// Emits to a port that does not exist.
const LOST: u8 = 7;
/// Emits a packet of the same kind to ingress.
const FOR_EVER: u8 = 8;

fn popcount() -> PureExtern {
    PureExtern {
        name: "popcount".into(),
        signature: (1, 1),
        evaluate: |arguments, widths_bits| {
            let ones = u64::from(arguments[0].low_u64().count_ones());
            vec![Bits::from_u64(widths_bits[0], ones)]
        },
    }
}

/// Forward error correction with one parity packet for k packets, and the actions of the kinds above.
struct Fec;

struct Group {
    k: u8,
    seen: u8,
    parity: Vec<u8>,
}

impl ExternProvider for Fec {
    fn name(&self) -> &str {
        "Fec"
    }

    fn effects(&self, _: &str) -> ProviderEffects {
        ProviderEffects { draws_random: false, ..ProviderEffects::ALL }
    }

    fn check(&self, call: &CallShape) -> Result<(), String> {
        match (&*call.method, call.argument_widths_bits.as_slice()) {
            ("add", [8, 8]) => Ok(()),
            _ => Err("it has `add(bit<8>, bit<8>)` only".to_string()),
        }
    }

    fn instantiate(&self, arguments: &[Arc<str>]) -> Result<Box<dyn ExternInstance>, String> {
        let k = arguments.first().and_then(|k| k.parse().ok());
        let k = k.ok_or_else(|| "it takes one number".to_string())?;
        Ok(Box::new(Group { k, seen: 0, parity: Vec::new() }))
    }
}

impl ExternInstance for Group {
    fn call(
        &mut self,
        _: &str,
        arguments: &[Bits],
        packet: &mut ExternPacket<'_>,
    ) -> Result<Vec<Bits>, String> {
        let [kind, ticket] = [0, 1].map(|at: usize| arguments[at].low_u64());
        match kind as u8 {
            HOLD => packet.hold(ticket, None),
            HOLD_SHORTLY => packet.hold(ticket, Some(packet.now_ps() + 1_000)),
            RELEASE => packet.release(ticket),
            DROP => packet.drop_packet(),
            DROP_HELD => packet.drop_held(ticket),
            COME => packet.emit(vec![PLAIN | 128, 255, 0, 0, 0, 0, 1, 2, 3], EmitTo::Ingress(6)),
            LOST => packet.emit(vec![1, 2], EmitTo::Port(511 + 1)),
            FOR_EVER => packet.emit(packet.bytes().to_vec(), EmitTo::Ingress(7)),
            _ => {}
        }
        self.seen += 1;
        self.parity.resize(self.parity.len().max(packet.bytes().len()), 0);
        for (sum, byte) in self.parity.iter_mut().zip(packet.bytes()) {
            *sum ^= byte;
        }
        if self.seen.is_multiple_of(self.k) {
            packet.forward();
            packet.emit(std::mem::take(&mut self.parity), EmitTo::Port(9));
        }
        Ok(vec![Bits::from_u64(8, self.seen.into())])
    }

    fn snapshot(&self) -> Vec<u8> {
        [&[self.seen][..], &self.parity].concat()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), String> {
        let (seen, parity) = snapshot.split_first().ok_or_else(|| "it is empty".to_string())?;
        (self.seen, self.parity) = (*seen, parity.to_vec());
        Ok(())
    }
}

fn program(text: &str) -> Arc<Program> {
    let ready = ReadyProgram::of_text("externs.p4", text);
    ready.unwrap_or_else(|why| panic!("{why}")).program().clone()
}

fn options(engine: EngineChoice) -> DeviceOptions {
    let externs = ExternRegistry::new().with(popcount()).with(Fec);
    DeviceOptions { engine, externs, pass_limit: Some(40), tap: true, ..DeviceOptions::default() }
}

fn packet(kind: u8, ticket: u8, payload: &[u8]) -> Vec<u8> {
    [&[kind, ticket, 0, 0, 0, 0][..], payload].concat()
}

/// Outputs: port, time in picoseconds, bytes.
type Sent = (u32, u64, Vec<u8>);

fn sent(device: &mut Device) -> Vec<Sent> {
    device.drain_transmitted().into_iter().map(|it| (it.port, it.time_ps, it.bytes)).collect()
}

/// Outputs of packets, each run to completion before the next.
fn run(device: &mut Device, packets: &[Vec<u8>]) -> Vec<Sent> {
    let mut all = Vec::new();
    for bytes in packets {
        device.inject(0, device.now_ps(), bytes.clone()).expect("not in the past");
        device.run_to_completion().expect("no assertion fails");
        all.extend(sent(device));
    }
    all
}

type Observed = (Vec<Sent>, Statistics, Vec<Tapped>, Vec<Option<Vec<u8>>>);

/// Runs packets on both engines and compares the results.
fn on_both(packets: &[Vec<u8>]) -> Observed {
    let program = program(PROGRAM);
    let mut observed = ENGINES.map(|engine| {
        let mut device = Device::new(program.clone(), options(engine)).expect("it loads");
        let sent = run(&mut device, packets);
        let statistics = device.statistics();
        let taps = device.drain_taps();
        let states = (0..program.externs.len() as u32)
            .map(|at| device.cells().extern_snapshot(ExternId(at)))
            .collect();
        (sent, statistics, taps, states)
    });
    assert_eq!(observed[0], observed[1], "the engines differ");
    std::mem::take(&mut observed[0])
}

#[test]
fn parity_follows_every_third_packet() {
    let packets = [7, 3, 1, 15].map(|ticket| packet(PLAIN, ticket, &[ticket, 0x10]));
    let (sent, statistics, _, states) = on_both(&packets);
    let leaves = |ticket: u8, ones: u8, seen: u8| {
        (4, 0, vec![PLAIN, ticket, ones, seen, 0, 0, ticket, 0x10])
    };
    let parity = (9, 0, vec![0, 7 ^ 3 ^ 1, 0, 0, 0, 0, 7 ^ 3 ^ 1, 0x10]);
    assert_eq!(sent, [leaves(7, 3, 1), leaves(3, 2, 2), leaves(1, 1, 3), parity, leaves(15, 4, 4)]);
    assert_eq!((statistics.emitted, statistics.ports[&9].sent_packets), (1, 1));
    assert_eq!(states.iter().flatten().count(), 3);
}

#[test]
fn held_packets_leave_when_they_are_released() {
    for half in [0, 128] {
        let kinds = [(HOLD, 1), (HOLD, 2), (PLAIN, 9), (RELEASE, 2), (DROP_HELD, 1), (RELEASE, 1)];
        let packets = kinds.map(|(kind, ticket)| packet(kind | half, ticket, &[kind]));
        let (sent, statistics, taps, _) = on_both(&packets);
        let order: Vec<u8> =
            sent.iter().filter(|sent| sent.0 == 4).map(|(_, _, bytes)| bytes[6]).collect();
        // The third packet of the group leaves before the parity, after the packets that it released.
        assert_eq!(order, [PLAIN, HOLD, RELEASE, DROP_HELD, RELEASE]);
        assert_eq!((statistics.held, statistics.released), (2, 1));
        assert_eq!(statistics.drops[&DropReason::Extern], 1);
        let actions: Vec<String> = taps
            .into_iter()
            .filter_map(|tapped| match tapped.what {
                TappedEvent::Extern { action: ExternAction::Emitted { .. }, .. } => None,
                TappedEvent::Extern { name, action } => {
                    Some(format!("#{} {name} {action:?}", tapped.packet))
                }
                TappedEvent::Dropped { reason, .. } => Some(format!("#{} {reason}", tapped.packet)),
                _ => None,
            })
            .collect();
        let name = if half == 0 { "I.fec" } else { "E.late" };
        let expected = [
            format!("#0 {name} Held {{ ticket: 1, until_ps: None }}"),
            format!("#1 {name} Held {{ ticket: 2, until_ps: None }}"),
            format!("#1 {name} Released {{ ticket: 2 }}"),
            "#0 extern".to_string(),
        ];
        assert_eq!(actions, expected);
    }
}

#[test]
fn time_releases_held_packets() {
    let packets = [packet(HOLD_SHORTLY, 1, &[]), packet(PLAIN, 0, &[]), packet(DROP, 0, &[])];
    let (sent, statistics, ..) = on_both(&packets);
    let times: Vec<(u32, u64, u8)> =
        sent.iter().map(|(port, time_ps, bytes)| (*port, *time_ps, bytes[0])).collect();
    // The dropped packet is the third of its group.
    assert_eq!(times[..2], [(4, 1_000, HOLD_SHORTLY), (4, 1_000, PLAIN)]);
    assert_eq!(times[2], (9, 1_000, HOLD_SHORTLY ^ DROP));
    assert_eq!(statistics.drops[&DropReason::Extern], 1);
    // A second hold with the same ticket drops the first, whose time limit does not release the second.
    let packets = [packet(HOLD, 1, &[1]), packet(HOLD_SHORTLY, 1, &[2])];
    let (sent, statistics, ..) = on_both(&packets);
    assert_eq!(sent.iter().map(|sent| sent.2[6]).collect::<Vec<u8>>(), [2]);
    assert_eq!((statistics.held, statistics.drops[&DropReason::Extern]), (2, 1));
}

#[test]
fn emitted_packets_come_to_ingress() {
    let (sent, statistics, ..) = on_both(&[packet(COME, 1, &[])]);
    let came = vec![PLAIN | 128, 255, 8, 0, 1, 6, 1, 2, 3];
    assert_eq!(sent, [(4, 0, packet_with(COME, [1, 1, 1, 0, 0])), (4, 0, came)]);
    assert_eq!(statistics.ports[&6].received_packets, 1);
    let (_, statistics, ..) = on_both(&[packet(LOST, 1, &[])]);
    assert_eq!(statistics.drops[&DropReason::NoSuchPort], 1);
    // Endless emissions end at the pass limit: 40 passes, two per output.
    let (sent, statistics, ..) = on_both(&[packet(FOR_EVER, 1, &[])]);
    assert_eq!(statistics.drops.keys().collect::<Vec<_>>(), [&DropReason::PassLimit]);
    assert!(sent.len() > 15, "{}", sent.len());
}

fn packet_with(kind: u8, rest: [u8; 5]) -> Vec<u8> {
    [&[kind][..], &rest].concat()
}

#[test]
fn bursts_give_what_single_packets_give() {
    let kinds =
        [PLAIN, HOLD, HOLD_SHORTLY, RELEASE, COME, DROP, PLAIN | 128, HOLD | 128, RELEASE | 128];
    let packets: Vec<Vec<u8>> =
        (0..64u8).map(|at| packet(kinds[usize::from(at) * 7 % 9], at % 4, &[at])).collect();
    let program = program(PROGRAM);
    let mut all = Vec::new();
    for engine in ENGINES {
        let options = DeviceOptions { tap: false, ..options(engine) };
        let mut device = Device::new(program.clone(), options).expect("it loads");
        all.push((run(&mut device, &packets), device.statistics(), device.now_ps()));
        if engine == EngineChoice::Jit {
            let note = "calls externs that keep state";
            assert!(device.notes().iter().any(|it| it.contains(note)), "{:?}", device.notes());
        }
        let mut device = device.sharing_code_with(device.options().clone()).expect("it loads");
        let mut burst = Burst::new(packets.len(), 256);
        for bytes in &packets {
            burst.push(0, bytes).expect("it fits");
        }
        device.forward(&mut burst).expect("no assertion fails");
        let sent: Vec<(u32, Vec<u8>)> =
            burst.outputs().map(|sent| (sent.port, sent.bytes.to_vec())).collect();
        let single = &all[all.len() - 1];
        let expected: Vec<(u32, Vec<u8>)> =
            single.0.iter().map(|(port, _, bytes)| (*port, bytes.clone())).collect();
        assert_eq!(sent, expected);
        assert_eq!((&device.statistics(), device.now_ps()), (&single.1, single.2));
    }
    assert_eq!(all[0], all[1]);
    assert!(all[0].1.held > 10 && all[0].1.emitted > 15);
}

#[test]
fn externs_that_compute_stay_on_the_fast_path() {
    let text = PROGRAM
        .replace("if (hdr.h.kind < 128) { hdr.h.seen = fec.add(hdr.h.kind, hdr.h.ticket); }", "")
        .replace(
            "if (hdr.h.kind > 127) { hdr.h.egress_seen = late.add(hdr.h.kind & 127, hdr.h.ticket); }",
            "hdr.h.egress_seen = popcount(hdr.h.kind);",
        );
    let program = program(&text);
    let options = DeviceOptions { tap: false, ..options(EngineChoice::Jit) };
    let mut device = Device::new(program, options).expect("it loads");
    let sent = run(&mut device, &[packet(3, 7, &[1]), packet(255, 0, &[])]);
    assert_eq!(sent, [(4, 0, vec![3, 7, 3, 0, 2, 0, 1]), (4, 0, vec![255, 0, 0, 0, 8, 0])]);
    assert_eq!(device.fast_path_packets(), 2, "{:?}", device.notes());
}

#[test]
fn programs_are_swapped_with_packets_held() {
    let text = program(PROGRAM);
    for engine in ENGINES {
        let mut device = Device::new(text.clone(), options(engine)).expect("it loads");
        assert_eq!(run(&mut device, &[packet(HOLD, 1, &[])]), []);
        device.inject(0, 0, packet(HOLD_SHORTLY, 2, &[])).expect("not in the past");
        device.advance(10).expect("no assertion fails");
        device.load_second(program(PROGRAM)).expect("it loads");
        assert!(device.swap());
        // One packet leaves with its program; the other is dropped with it.
        assert_eq!(device.loaded_programs(), 2);
        device.run_to_completion().expect("no assertion fails");
        assert_eq!(sent(&mut device).len(), 1);
        assert_eq!(device.loaded_programs(), 1);
        assert_eq!(device.statistics().drops[&DropReason::Extern], 1);
        // The state migrated: two packets are counted.
        let sent = run(&mut device, &[packet(RELEASE, 1, &[])]);
        assert_eq!(sent[0].2[..4], [RELEASE, 1, 1, 3]);
    }
}

#[test]
fn passes_that_take_time_hold_packets_too() {
    let timing = PassTiming { first_stage_ps: 3, stage_ps: 2, ..PassTiming::default() };
    let options = DeviceOptions { pass_timing: Some(timing), ..options(EngineChoice::Interpreter) };
    let mut device = Device::new(program(PROGRAM), options).expect("it loads");
    let packets = [(HOLD, 1), (RELEASE, 1), (PLAIN, 0)];
    let packets = packets.map(|(kind, ticket)| packet(kind, ticket, &[]));
    let kinds: Vec<(u32, u8)> =
        run(&mut device, &packets).iter().map(|sent| (sent.0, sent.2[0])).collect();
    assert_eq!(kinds, [(4, HOLD), (4, RELEASE), (4, PLAIN), (9, HOLD ^ RELEASE)]);
}

#[test]
fn refusals_name_externs_and_places() {
    let check = |text: &str, registry: ExternRegistry, expected: &str| {
        let options = DeviceOptions { externs: registry, ..options(EngineChoice::Interpreter) };
        let error = Device::new(program(text), options).expect_err("it is refused");
        assert_eq!(error.to_string(), expected);
        let LoadError::UnsupportedExterns(problems) = error else { panic!("{error}") };
        assert!(problems.iter().all(|problem| !problem.span.is_none()), "{problems:?}");
    };
    check(
        PROGRAM,
        ExternRegistry::new().with(popcount()),
        "the device does not provide these externs, which the program calls: I.fec.add (of Fec), \
         E.late.add (of Fec)",
    );
    check(
        &PROGRAM.replace("@pure extern", "extern").replace("@pure", ""),
        ExternRegistry::new().with(Fec).with(PureExtern { signature: (2, 1), ..popcount() }),
        "these externs cannot run: `popcount`: the provider takes 2 values and gives 1, but here are 1 \
         and 1",
    );
    let in_checksum = PROGRAM.replace(
        "control C(inout headers_t hdr, inout meta_t m) { apply { } }",
        "control C(inout headers_t hdr, inout meta_t m) {
            Fec(4) last;
            apply { hdr.h.seen = last.add(0, 0); }
        }",
    );
    check(
        &in_checksum,
        ExternRegistry::new().with(Fec).with(popcount()),
        "these externs cannot run: `Fec`: it may drop, hold or emit packets, which it cannot in `C`: \
         call it in a parser or control before",
    );
}
