// SPDX-License-Identifier: Apache-2.0
//! Tests of reading and writing captures: files built byte by byte in both formats and byte orders,
//! damaged ones, and properties over arbitrary packets and arbitrary bytes.

use super::*;
use proptest::prelude::*;

const SECOND_PS: i128 = 1_000_000_000_000;

/// Builds files in one byte order.
#[derive(Clone, Copy)]
struct Builder {
    is_big: bool,
}

impl Builder {
    fn u16(self, value: u16) -> Vec<u8> {
        if self.is_big { value.to_be_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
    }

    fn u32(self, value: u32) -> Vec<u8> {
        if self.is_big { value.to_be_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
    }

    fn pcap_header(self, magic: u32, network: u32) -> Vec<u8> {
        [
            self.u32(magic),
            self.u16(2),
            self.u16(4),
            self.u32(0),
            self.u32(0),
            self.u32(65535),
            self.u32(network),
        ]
        .concat()
    }

    fn pcap_record(self, seconds: u32, fraction: u32, data: &[u8], original: u32) -> Vec<u8> {
        let captured = u32::try_from(data.len()).expect("short");
        [
            self.u32(seconds),
            self.u32(fraction),
            self.u32(captured),
            self.u32(original),
            data.to_vec(),
        ]
        .concat()
    }

    fn block(self, block_type: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let total = u32::try_from(body.len() + 12).expect("short");
        [self.u32(block_type), self.u32(total), body, self.u32(total)].concat()
    }

    fn section(self) -> Vec<u8> {
        let body = [self.u32(0x1a2b_3c4d), self.u16(1), self.u16(0), vec![0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    fn interface(self, link_type: u16, snapshot: u32, options: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut body = [self.u16(link_type), self.u16(0), self.u32(snapshot)].concat();
        for (code, value) in options {
            body.extend(self.u16(*code));
            body.extend(self.u16(u16::try_from(value.len()).expect("short")));
            body.extend(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    fn enhanced(self, interface: u32, ticks: u64, data: &[u8], original: u32) -> Vec<u8> {
        let captured = u32::try_from(data.len()).expect("short");
        let body = [
            self.u32(interface),
            self.u32((ticks >> 32) as u32),
            self.u32(ticks as u32),
            self.u32(captured),
            self.u32(original),
            data.to_vec(),
        ]
        .concat();
        self.block(6, &body)
    }
}

const BIG: Builder = Builder { is_big: true };
const LITTLE: Builder = Builder { is_big: false };

/// Reads everything; one line a packet, and the error, if any, as the last line.
fn listing(file: &[u8]) -> String {
    let reader = match CaptureReader::new(file) {
        Ok(reader) => reader,
        Err(error) => return format!("{} {error}", error.code()),
    };
    reader
        .map(|item| match item {
            Ok(packet) => format!(
                "{} {:02x?} of {}{}",
                packet.timestamp_ps,
                packet.data,
                packet.original_length_bytes,
                if packet.is_snapped() { " snapped" } else { "" }
            ),
            Err(error) => format!("{} {error}", error.code()),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn check(file: &[u8], expected: &str) {
    assert_eq!(listing(file), expected);
}

#[test]
fn reads_pcap_in_both_byte_orders_and_resolutions() {
    for builder in [BIG, LITTLE] {
        for (magic, expected) in [
            (0xa1b2_c3d4, "7000003000000 [01, 02] of 2\n8000000000000 [03] of 9 snapped"),
            (0xa1b2_3c4d, "7000000003000 [01, 02] of 2\n8000000000000 [03] of 9 snapped"),
        ] {
            let file = [
                builder.pcap_header(magic, 1),
                builder.pcap_record(7, 3, &[1, 2], 2),
                builder.pcap_record(8, 0, &[3], 9),
            ]
            .concat();
            check(&file, expected);
        }
    }
}

#[test]
fn strips_the_frame_check_sequence() {
    let file = [
        LITTLE.pcap_header(0xa1b2_c3d4, 0x2400_0001),
        LITTLE.pcap_record(0, 0, &[1, 2, 3, 4, 5, 6], 6),
        LITTLE.pcap_record(0, 0, &[1, 2, 3, 4, 5], 8),
    ]
    .concat();
    check(&file, "0 [01, 02] of 2\n0 [01, 02, 03, 04] of 4");
}

#[test]
fn reads_pcapng_sections_interfaces_and_clocks() {
    let file = [
        BIG.section(),
        BIG.interface(1, 0, &[(2, b"eth0".to_vec()), (9, vec![9]), (0, vec![])]),
        BIG.interface(1, 0, &[(9, vec![0x80 | 10]), (14, 5_u64.to_be_bytes().to_vec())]),
        BIG.block(0x0bad, &[1, 2, 3, 4, 5]),
        BIG.enhanced(0, 1_000_000_001, &[1], 1),
        BIG.enhanced(1, 1536, &[2], 3),
        LITTLE.section(),
        LITTLE.interface(1, 2, &[(14, (-2_i64).to_le_bytes().to_vec())]),
        LITTLE.enhanced(0, 1, &[3], 1),
        // A simple packet block, cut at the snapshot length, with the time of the one before.
        LITTLE.block(3, &[LITTLE.u32(5), vec![4, 4, 0, 0]].concat()),
        // The obsolete packet block.
        LITTLE.block(
            2,
            &[
                LITTLE.u16(0),
                LITTLE.u16(7),
                LITTLE.u32(0),
                LITTLE.u32(9_000_000),
                LITTLE.u32(1),
                LITTLE.u32(1),
                vec![5],
            ]
            .concat(),
        ),
    ]
    .concat();
    check(
        &file,
        "1000000001000 [01] of 1\n\
         6500000000000 [02] of 3 snapped\n\
         -1999999000000 [03] of 1\n\
         -1999999000000 [04, 04] of 5 snapped\n\
         7000000000000 [05] of 1",
    );
}

#[test]
fn every_resolution_is_read_without_overflow() {
    for resolution in 0..=255_u8 {
        for offset in [i64::MIN, 0, i64::MAX] {
            let file = [
                LITTLE.section(),
                LITTLE.interface(
                    1,
                    0,
                    &[(9, vec![resolution]), (14, offset.to_le_bytes().to_vec())],
                ),
                LITTLE.enhanced(0, u64::MAX, &[], 0),
            ]
            .concat();
            assert!(listing(&file).ends_with("[] of 0"), "{resolution}");
        }
    }
}

#[test]
fn what_is_no_capture_is_refused() {
    check(&[], "NET-E0102 at byte 0: not a pcap or pcapng file: the file is empty");
    check(&[0xd4], "NET-E0102 at byte 0: not a pcap or pcapng file: the file has only 1 bytes");
    check(
        b"hello",
        "NET-E0102 at byte 0: not a pcap or pcapng file: its first bytes are 68 65 6c 6c",
    );
    check(
        &[0x1f, 0x8b, 8, 0],
        "NET-E0102 at byte 0: not a pcap or pcapng file: it is compressed with gzip; decompress \
         it first",
    );
    check(
        &LITTLE.pcap_header(0xa1b2_c3d4, 1)[..10],
        "NET-E0103 at byte 0: the file ends inside the file header: 20 bytes needed, 6 present",
    );
}

#[test]
fn packets_before_the_damage_are_delivered() {
    let whole = [
        LITTLE.pcap_header(0xa1b2_c3d4, 1),
        LITTLE.pcap_record(1, 0, &[1], 1),
        LITTLE.pcap_record(2, 0, &[2; 8], 8),
    ]
    .concat();
    check(
        &whole[..whole.len() - 3],
        "1000000000000 [01] of 1\n\
         NET-E0103 record 2 at byte 41: the file ends inside a packet's data: 8 bytes needed, 5 \
         present",
    );
    check(
        &whole[..45],
        "1000000000000 [01] of 1\n\
         NET-E0103 record 2 at byte 41: the file ends inside a packet's header: 16 bytes needed, \
         4 present",
    );
    let mut long = whole.clone();
    long[49..53].copy_from_slice(&[0xff; 4]);
    check(
        &long,
        "1000000000000 [01] of 1\n\
         NET-E0104 record 2 at byte 41: a packet claims 4294967295 bytes; the most that is \
         accepted is 262144",
    );
    let mut short = whole;
    short[53..57].copy_from_slice(&[1, 0, 0, 0]);
    check(
        &short,
        "1000000000000 [01] of 1\n\
         NET-E0105 record 2 at byte 41: 8 bytes were captured of a packet said to have only 1",
    );
}

#[test]
fn damaged_pcapng_says_where() {
    let start = [LITTLE.section(), LITTLE.interface(1, 0, &[])].concat();
    let at = start.len();
    let cases: [(Vec<u8>, String); 5] = [
        (
            LITTLE.enhanced(3, 0, &[], 0),
            format!(
                "NET-E0105 record 2 at byte {at}: a packet names interface 3, but the section \
                 describes 1"
            ),
        ),
        (
            [LITTLE.u32(6), LITTLE.u32(13)].concat(),
            format!(
                "NET-E0105 record 2 at byte {at}: a block's length is 13; it must be a multiple \
                 of 4 and at least 12"
            ),
        ),
        (
            [LITTLE.u32(6), LITTLE.u32(0xffff_fffc)].concat(),
            format!(
                "NET-E0104 record 2 at byte {at}: a block claims 4294967280 bytes; the most that \
                 is accepted is 16777216"
            ),
        ),
        (
            {
                let mut block = LITTLE.enhanced(0, 0, &[1, 2, 3, 4], 4);
                block[20..24].copy_from_slice(&LITTLE.u32(5));
                block
            },
            format!(
                "NET-E0105 record 2 at byte {at}: a packet claims 5 captured bytes, but its block \
                 has room for 4"
            ),
        ),
        (
            {
                let mut block = LITTLE.enhanced(0, 0, &[], 0);
                let end = block.len() - 4;
                block[end] ^= 4;
                block
            },
            format!(
                "NET-E0105 record 2 at byte {at}: a block says 32 bytes at its start and 36 at \
                 its end"
            ),
        ),
    ];
    for (block, expected) in cases {
        check(&[start.clone(), block].concat(), &expected);
    }
}

#[test]
fn other_link_types_need_asking_for() {
    let file = [LITTLE.pcap_header(0xa1b2_c3d4, 113), LITTLE.pcap_record(0, 0, &[1], 1)].concat();
    check(
        &file,
        "NET-E0106 record 1 at byte 24: the packet has link type 113 (LINUX_SLL (Linux \"any\" \
         device)); a port carries Ethernet, link type 1",
    );
    let packets: Vec<_> = CaptureReader::new(file.as_slice())
        .expect("a capture")
        .accepting_any_link_type()
        .collect::<Result<_, _>>()
        .expect("readable");
    assert_eq!(packets[0].link_type, LinkType(113));
}

#[test]
fn merging_orders_by_time_then_port() {
    let one = [
        LITTLE.pcap_header(0xa1b2_c3d4, 1),
        LITTLE.pcap_record(2, 0, &[1], 1),
        // The clock stepped back: the packet still comes after the one before it.
        LITTLE.pcap_record(1, 0, &[2], 1),
    ]
    .concat();
    let two = [
        LITTLE.pcap_header(0xa1b2_c3d4, 1),
        LITTLE.pcap_record(0, 0, &[3], 1),
        LITTLE.pcap_record(2, 0, &[4], 1),
        vec![0],
    ]
    .concat();
    let readers = [(9, two.as_slice()), (4, one.as_slice())]
        .map(|(port, file)| (port, CaptureReader::new(file).expect("a capture")));
    let order: Vec<_> = MergedCaptures::new(readers)
        .map(|item| item.map(|arriving| (arriving.port, arriving.packet.data[0])))
        .map(|item| item.map_err(|error| error.code().0))
        .collect();
    assert_eq!(order, [Ok((9, 3)), Ok((4, 1)), Ok((4, 2)), Ok((9, 4)), Err("NET-E0103")]);
}

#[test]
fn a_file_appears_only_when_finished() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("1.pcap");
    let entries = || std::fs::read_dir(directory.path()).expect("readable").count();

    let mut dropped = CaptureWriter::create(&path).expect("created");
    dropped.write(0, &[1]).expect("written");
    assert!(!path.exists());
    drop(dropped);
    assert_eq!(entries(), 0);

    let mut writer = CaptureWriter::create(&path).expect("created");
    writer.write(5 * SECOND_PS + 1_999, &[1, 2, 3]).expect("written");
    assert_eq!(writer.finish(), Ok(1));
    assert_eq!(entries(), 1);
    let packets: Vec<_> =
        CaptureReader::open(&path).expect("opens").collect::<Result<_, _>>().expect("readable");
    assert_eq!(packets[0].timestamp_ps, 5 * SECOND_PS + 1_000);
    assert_eq!(packets[0].data, [1, 2, 3]);

    let missing = CaptureWriter::create(&directory.path().join("no/such/1.pcap"));
    assert_eq!(missing.expect_err("no directory").code().0, "NET-E0108");
    let missing = CaptureReader::open(&directory.path().join("none.pcap"));
    assert_eq!(missing.err().expect("no file").code().0, "NET-E0101");
}

#[test]
fn what_pcap_cannot_hold_is_refused() {
    let mut encoder = PcapEncoder::new(Vec::new()).expect("to memory");
    let too_long = vec![0; MAXIMUM_PACKET_LENGTH_BYTES as usize + 1];
    for (timestamp_ps, data) in
        [(-1, &[][..]), (SECOND_PS << 32, &[][..]), (i128::MAX, &[][..]), (0, &too_long[..])]
    {
        let error = encoder.write(timestamp_ps, data).expect_err("refused");
        assert_eq!(error.code().0, "NET-E0109");
    }
    encoder.write(SECOND_PS * (1 << 32) - 1, &[]).expect("the last moment");
}

#[test]
fn every_code_is_explained_once() {
    let codes: Vec<_> = EXPLANATIONS.iter().map(|explanation| explanation.code.0).collect();
    let errors = (1..=9).map(|number| format!("NET-E010{number}"));
    let warnings = (1..=2).map(|number| format!("NET-W010{number}"));
    let expected: Vec<_> = errors.chain(warnings).collect();
    assert_eq!(codes, expected);
}

fn arbitrary_packet() -> impl Strategy<Value = CapturedPacket> {
    (0..SECOND_PS / 1000 * (1 << 32), prop::collection::vec(any::<u8>(), 0..300), 0..2000_u32)
        .prop_map(|(time_ns, data, cut)| CapturedPacket {
            timestamp_ps: time_ns * 1000,
            original_length_bytes: u32::try_from(data.len()).expect("short") + cut,
            data,
            link_type: LinkType::ETHERNET,
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read(packets in prop::collection::vec(arbitrary_packet(), 0..20)) {
        let mut encoder = PcapEncoder::new(Vec::new()).expect("to memory");
        for packet in &packets {
            encoder.write_captured(packet).expect("to memory");
        }
        let file = encoder.finish().expect("to memory");
        let read: Vec<_> = CaptureReader::new(file.as_slice())
            .expect("a capture")
            .collect::<Result<_, _>>()
            .expect("readable");
        prop_assert_eq!(read, packets);
    }

    #[test]
    fn hostile_bytes_give_an_error_or_packets(
        start in prop::sample::select(vec![
            vec![],
            LITTLE.pcap_header(0xa1b2_c3d4, 1),
            BIG.pcap_header(0xa1b2_3c4d, 1),
            LITTLE.section(),
            [LITTLE.section(), LITTLE.interface(1, 0, &[])].concat(),
            [BIG.section(), BIG.interface(1, 64, &[(9, vec![200])])].concat(),
        ]),
        // Small words make plausible lengths and block types, so that the reader gets further in.
        rest in prop::collection::vec(prop_oneof![0..40_u32, any::<u32>()], 0..100),
        order in any::<bool>(),
    ) {
        let builder = Builder { is_big: order };
        let bytes: Vec<u8> = rest.into_iter().flat_map(|word| builder.u32(word)).collect();
        listing(&[start, bytes].concat());
    }

    #[test]
    fn a_flipped_bit_never_panics(position in 0..2000_usize, bit in 0..8_u8) {
        let mut file = [
            LITTLE.section(),
            LITTLE.interface(1, 0, &[(9, vec![9]), (14, vec![1; 8])]),
            LITTLE.enhanced(0, 77, &[7; 30], 40),
            LITTLE.block(3, &[LITTLE.u32(4), vec![4; 4]].concat()),
        ]
        .concat();
        let place = position % file.len();
        file[place] ^= 1 << bit;
        listing(&file);
    }
}
