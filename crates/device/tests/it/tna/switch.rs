// SPDX-License-Identifier: Apache-2.0
//! A switch with most features of Tofino on random packets: engines agree, and checksums are correct.

use super::harness::{device, program, sent, short_passes, side_by_side};
use crate::setup::{group, session};
use device::{DeviceOptions, EngineChoice};
use proptest::prelude::*;
use state::Update;

const PROGRAM: &str = include_str!("switch.p4");

/// One's complement sum of words of 16 bits.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u64::from(high) << 8 | u64::from(low),
        [high] => u64::from(high) << 8,
        _ => 0,
    });
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// An arbitrary packet for the switch.
#[derive(Clone, Debug)]
struct Packet {
    tags: usize,
    option_words: usize,
    is_tcp: bool,
    source: [u8; 4],
    destination: [u8; 4],
    ttl: u8,
    port: u16,
    is_damaged: bool,
    payload: Vec<u8>,
}

impl Packet {
    fn ip_offset(&self) -> usize {
        14 + 4 * self.tags
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 0, 1, 16, 0, 0, 0, 0, 2, 32];
        for _ in 0..self.tags {
            bytes.extend_from_slice(&[0x81, 0, 0, 7]);
        }
        bytes.extend_from_slice(&[0x08, 0]);
        let header_bytes = 20 + 4 * self.option_words;
        let segment = self.segment();
        let total = (header_bytes + segment.len()) as u16;
        let mut header = vec![0x40 | (header_bytes / 4) as u8, 0];
        header.extend_from_slice(&total.to_be_bytes());
        header.extend_from_slice(&[
            0,
            1,
            0x40,
            0,
            self.ttl,
            if self.is_tcp { 6 } else { 17 },
            0,
            0,
        ]);
        header.extend_from_slice(&self.source);
        header.extend_from_slice(&self.destination);
        header.resize(header_bytes, 1);
        let checksum = !sum(&header) ^ u16::from(self.is_damaged);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        [bytes, header, segment].concat()
    }

    fn segment(&self) -> Vec<u8> {
        let mut segment = vec![0x12, 0x34];
        segment.extend_from_slice(&self.port.to_be_bytes());
        segment.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
        segment.extend_from_slice(&self.payload);
        let checksum = !self.segment_sum(&segment);
        segment[16..18].copy_from_slice(&checksum.to_be_bytes());
        segment
    }

    /// With the pseudo header.
    fn segment_sum(&self, segment: &[u8]) -> u16 {
        let length = (segment.len() as u16).to_be_bytes();
        let pseudo = [&self.source[..], &self.destination[..], &[0, 6], &length].concat();
        sum(&[&pseudo, segment].concat())
    }
}

fn packet() -> impl Strategy<Value = Packet> {
    let address = prop_oneof![
        2 => Just([10, 0, 0, 1]),
        1 => Just([10, 0, 0, 2]),
        2 => Just([10, 0, 0, 9]),
        1 => Just([10, 1, 2, 3]),
        1 => any::<[u8; 4]>(),
    ];
    (
        (0usize..3, prop_oneof![3 => Just(0usize), 1 => 1usize..4], prop::bool::weighted(0.8)),
        (any::<[u8; 4]>(), address, prop_oneof![Just(64u8), 0u8..3]),
        (prop_oneof![Just(80u16), any::<u16>()], prop::bool::weighted(0.1)),
        prop::collection::vec(any::<u8>(), 0..20),
    )
        .prop_map(|(shape, (source, destination, ttl), (port, is_damaged), payload)| Packet {
            tags: shape.0,
            option_words: shape.1,
            is_tcp: shape.2,
            source,
            destination,
            ttl,
            port,
            is_damaged,
            payload,
        })
}

fn updates() -> Vec<Update> {
    vec![group(7, &[(10, 1), (11, 2)]), session(5, &[(20, 0)])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(6), ..ProptestConfig::default() })]

    #[test]
    fn packets_are_routed_with_right_checksums(packets in prop::collection::vec(packet(), 20..60)) {
        let program = program(PROGRAM);
        let mut both = side_by_side(&program, &DeviceOptions::default(), &updates());
        let timing = DeviceOptions { pass_timing: Some(short_passes()), ..DeviceOptions::default() };
        let mut timed = device(&program, &timing, EngineChoice::Interpreter, &updates());
        for packet in packets {
            let now_ps = both.now_ps();
            let bytes = packet.bytes();
            let agreed = both.receive(1, now_ps, bytes.clone()).expect("engines agree");
            // The copy has the time of arrival, which increases with packets.
            let without_time = |port: u32, mut bytes: Vec<u8>| {
                if port == 20 {
                    bytes[6..12].fill(0);
                }
                (port, bytes)
            };
            let at_once = agreed.transmitted.iter();
            let at_once: Vec<_> =
                at_once.map(|it| without_time(it.port, it.bytes.clone())).collect();
            let in_time: Vec<_> = sent(&mut timed, 1, &bytes)
                .into_iter()
                .map(|(port, bytes)| without_time(port, bytes))
                .collect();
            prop_assert_eq!(in_time, at_once);
            let ports: Vec<u32> = agreed.transmitted.iter().map(|it| it.port).collect();
            prop_assert_eq!(agreed.digests.len(), 1);
            let is_routed = !packet.is_damaged && packet.ttl > 1;
            let is_plain = packet.is_tcp && packet.option_words == 0;
            if !is_routed {
                prop_assert_eq!(ports, [10, 11]);
                continue;
            }
            let mut expected = match packet.destination {
                [10, 0, 0, 1] => vec![1],
                [10, 0, 0, 2] => vec![],
                [10, 0, 0, _] => vec![2],
                [10, ..] => vec![3],
                _ => vec![64],
            };
            if is_plain && packet.destination == [10, 0, 0, 1] && (80..=90).contains(&packet.port) {
                expected.push(20);
            }
            prop_assert_eq!(&ports, &expected);
            for sent in agreed.transmitted.iter().filter(|sent| sent.port != 20) {
                let ip = &sent.bytes[packet.ip_offset()..];
                prop_assert_eq!(sent.bytes.len(), bytes.len());
                let is_rewritten = sent.port < 3;
                prop_assert_eq!(ip[8], packet.ttl - u8::from(is_rewritten));
                if packet.option_words == 0 {
                    prop_assert_eq!(sum(&ip[..20]), 0xffff);
                }
                if is_plain {
                    prop_assert_eq!(packet.segment_sum(&ip[20..]), 0xffff);
                }
            }
            // The copy is the original packet after its own header.
            for sent in agreed.transmitted.iter().filter(|sent| sent.port == 20) {
                prop_assert_eq!(&sent.bytes[..6], [0xff; 6]);
                prop_assert_eq!(&sent.bytes[12..14], [0xbe, 0xef]);
                prop_assert_eq!(&sent.bytes[14..], &bytes[..]);
            }
        }
        prop_assert!(both.finish(None).is_ok());
    }
}
