// SPDX-License-Identifier: Apache-2.0
//! Paths through the pipe: copies, mirroring, resubmission, loopback, drops, and time stamps.

use super::harness::{on_both, on_both_and_timed, program, sent, side_by_side};
use crate::setup::{group, replicas};
use device::{Device, DeviceOptions, DropReason, EngineChoice};
use proptest::prelude::*;
use state::{CloneSession, Update};

const PROGRAM: &str = include_str!("packet_paths.p4");

/// Groups 1 (ports 1 and 2, replication ids 11 and 12; port 3 with 12) and 2 (port 4, id 13); sessions 5
/// (port 7, queue 2) and 6 (port 8, cut to 5 bytes).
fn updates() -> Vec<Update> {
    let to_seven = CloneSession {
        replicas: replicas(&[(7, 0)]),
        class_of_service: 2,
        ..CloneSession::default()
    };
    let to_eight = CloneSession {
        replicas: replicas(&[(8, 0)]),
        packet_length_bytes: Some(10),
        ..CloneSession::default()
    };
    vec![
        group(1, &[(1, 11), (2, 12), (3, 12)]),
        group(2, &[(4, 13)]),
        Update::InsertCloneSession { session: 5, content: to_seven },
        Update::InsertCloneSession { session: 6, content: to_eight },
    ]
}

fn options() -> DeviceOptions {
    DeviceOptions { cpu_port: Some(64), ..DeviceOptions::default() }
}

/// A packet with an order for a port and two more bytes: nine bytes.
fn order(what: u8, port: u8) -> Vec<u8> {
    vec![what, port, 0, 0, 0, 0, 0, 0xaa, 0xbb]
}

/// The expected output: replication id, queue with 0x20 for the first with that id, rounds, length.
fn seen(what: u8, port: u8, (id, queue): (u8, u8), rounds: u8, length: u8) -> Vec<u8> {
    vec![what, port, id, queue, rounds, 0, length, 0xaa, 0xbb]
}

fn check(device: &mut Device, bytes: &[u8], expected: &[(u32, Vec<u8>)]) {
    assert_eq!(sent(device, 5, bytes), expected, "for {bytes:?}");
}

#[test]
fn devices_report_that_packets_run_block_by_block() {
    let options = DeviceOptions { engine: EngineChoice::Jit, ..options() };
    let device = Device::new(program(PROGRAM), options).expect("loads");
    let note = "every packet goes block by block: devices have no fast path for `tna`";
    assert_eq!(device.notes(), [note]);
}

#[test]
fn all_paths_through_the_pipe() {
    on_both_and_timed(&program(PROGRAM), &options(), &updates(), |mut device| {
        let device = &mut device;
        let one = |what, port| seen(what, port, (0, 0x20), 0, 9);
        check(device, &order(1, 9), &[(9, one(1, 9))]);
        let copies = |what, port, queue: u8| {
            [
                (1, seen(what, port, (11, 0x20 | queue), 0, 9)),
                (2, seen(what, port, (12, 0x20 | queue), 0, 9)),
                (3, seen(what, port, (12, queue), 0, 9)),
            ]
        };
        check(device, &order(2, 9), &copies(2, 9, 0));
        let [first, second, third] = copies(3, 9, 3);
        let fourth = (4, seen(3, 9, (13, 0x23), 0, 9));
        let unicast = (9, seen(3, 9, (0, 0x23), 0, 9));
        check(device, &order(3, 9), &[first, second, third, fourth, unicast]);
        check(device, &order(4, 9), &[]);
        check(device, &order(5, 9), &[]);
        check(device, &order(13, 9), &[]);
        check(device, &order(14, 9), &[(0, one(14, 9))]);
        let drops = &device.statistics().drops;
        assert_eq!(drops[&DropReason::NoDestination], 2);
        assert_eq!(drops[&DropReason::DropControl], 1);

        // Three more passes through ingress, counted in the resubmitted header.
        check(device, &order(6, 9), &[(9, seen(6, 9, (0, 0x20), 3, 9))]);
        assert_eq!(device.statistics().resubmitted, 3);
        // The mirror copy is the original packet after its own header.
        let mirrored = [vec![0xc0, 9], seen(7, 9, (0, 0x22), 0, 11)].concat();
        check(device, &order(7, 9), &[(7, mirrored), (9, one(7, 9))]);
        check(device, &order(8, 9), &[]);
        check(device, &order(9, 9), &[(9, seen(1, 9, (0, 0x20), 0, 9))]);
        let mut bypassed = order(10, 9);
        bypassed[4] = 0;
        check(device, &order(10, 9), &[(9, bypassed)]);
        check(device, &order(11, 9), &[(9, one(11, 9))]);
        let digests = device.drain_digests();
        let fields: Vec<(String, u64)> = digests[0]
            .fields
            .iter()
            .map(|(name, value)| (name.to_string(), value.low_u64()))
            .collect();
        assert_eq!(fields, [("what".to_string(), 11), ("port".to_string(), 5)]);
        assert_eq!(digests.len(), 1);
        check(device, &order(12, 9), &[(64, one(12, 9))]);
    });
}

#[test]
fn exclusion_ids_leave_copies_out() {
    let asks = PROGRAM.replace(
        "2: { for_tm.mcast_grp_a = 1; }",
        "2: {
            for_tm.mcast_grp_a = 1;
            for_tm.rid = 12;
            for_tm.level1_exclusion_id = (bit<16>) hdr.order.port;
            for_tm.level2_exclusion_id = (bit<9>) hdr.order.rounds;
        }",
    );
    let asks = asks.replace("hdr.order.rounds = md.rounds;", "");
    let mut updates = updates();
    updates.push(Update::SetNodeExclusion { instance: 11, exclusion: Some(77) });
    updates.push(Update::SetPortExclusion { exclusion: 5, ports: vec![1, 3] });
    on_both_and_timed(&program(&asks), &options(), &updates, |mut device| {
        let mut ports = |level_1: u8, level_2: u8| -> Vec<u32> {
            let mut order = order(2, level_1);
            order[4] = level_2;
            sent(&mut device, 5, &order).into_iter().map(|(port, _)| port).collect()
        };
        assert_eq!(ports(0, 0), [1, 2, 3]);
        assert_eq!(ports(77, 0), [2, 3]);
        // Port 1 has another replication id than the packet.
        assert_eq!(ports(0, 5), [1, 2]);
        assert_eq!(ports(77, 5), [2]);
    });
}

#[test]
fn egress_mirrors_what_leaves() {
    on_both_and_timed(&program(PROGRAM), &options(), &updates(), |mut device| {
        let device = &mut device;
        let left = |what| seen(what, 9, (0, 0x20), 0, 9);
        // The session truncates to ten bytes, more than the packet has.
        let copy = |what| [vec![0xe0, 9], seen(what, 9, (0, 0x20), 0, 11)].concat();
        check(device, &order(20, 9), &[(8, copy(20)), (9, left(20))]);
        check(device, &order(21, 9), &[]);
        check(device, &order(22, 9), &[(8, copy(22))]);
        let long = [order(20, 9), vec![0; 20]].concat();
        let sent = sent(device, 5, &long);
        assert_eq!(
            sent.iter().map(|(port, bytes)| (*port, bytes.len())).collect::<Vec<_>>(),
            [(8, 12), (9, 29)]
        );
        assert_eq!(device.statistics().cloned, 3);
    });
}

#[test]
fn a_packet_that_is_too_short_is_dropped() {
    on_both_and_timed(&program(PROGRAM), &options(), &updates(), |mut device| {
        check(&mut device, &[1, 9, 0], &[]);
        assert_eq!(device.statistics().drops[&DropReason::ParserError], 1);
    });
}

#[test]
fn a_program_that_reads_the_error_gets_the_packet() {
    let reads = PROGRAM.replace(
        "hdr.order.rounds = md.rounds;",
        "hdr.order.rounds = md.rounds;
        if (from_parser.parser_err == PARSER_ERROR_PARTIAL_HDR) {
            for_tm.ucast_egress_port = 6;
            for_tm.bypass_egress = 1;
            return;
        }",
    );
    on_both_and_timed(&program(&reads), &options(), &updates(), |mut device| {
        check(&mut device, &[4, 9, 0], &[(6, vec![4, 9, 0])]);
        check(&mut device, &order(1, 9), &[(9, seen(1, 9, (0, 0x20), 0, 9))]);
    });
}

#[test]
fn time_stamps_are_nanoseconds() {
    let stamps = PROGRAM
        .replace(
            "1: { for_tm.ucast_egress_port = (PortId_t) hdr.order.port; }",
            "1: {
                for_tm.ucast_egress_port = (PortId_t) hdr.order.port;
                hdr.order.rounds = intrinsic.ingress_mac_tstamp[7:0];
                hdr.order.port = from_parser.global_tstamp[7:0];
            }",
        )
        .replace(
            "hdr.order.length = intrinsic.pkt_length;",
            "hdr.order.length = intrinsic.enq_tstamp[15:0] + intrinsic.deq_timedelta[15:0];",
        );
    on_both(&program(&stamps), &options(), &updates(), |mut device| {
        device.inject(5, 7_000_999, order(1, 9)).expect("not in the past");
        device.run_to_completion().expect("no assertion fails");
        let sent = device.drain_transmitted();
        let expected = vec![1, (7000 & 0xff) as u8, 0, 0x20, (7000 & 0xff) as u8, 0x1b, 0x58];
        assert_eq!(sent[0].bytes[..7], expected);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(8), ..ProptestConfig::default() })]

    /// Any packets give the same on both engines.
    #[test]
    fn engines_agree(packets in prop::collection::vec(
        (0u32..80, prop::collection::vec(prop_oneof![0u8..24, any::<u8>()], 0..24)),
        1..40,
    )) {
        let program = program(PROGRAM);
        let mut both = side_by_side(&program, &options(), &updates());
        for (at, (port, bytes)) in packets.into_iter().enumerate() {
            let time_ps = at as u64 * 12_345;
            prop_assert!(both.receive(port, time_ps, bytes).is_ok());
        }
    }
}
