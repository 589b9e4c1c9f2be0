// SPDX-License-Identifier: Apache-2.0
//! Headers against `etherparse`, an independent implementation.

use super::arp::{ArpPacket, Operation};
use super::ethernet::{self, EthernetHeader};
use super::icmp::IcmpHeader;
use super::icmpv6::{self, Icmpv6, Neighbor};
use super::ip::IpHeader;
use super::ipv4::{self, Ecn, Ipv4Header};
use super::tcp::{Flags, Options, SackBlocks, TcpHeader};
use super::udp::UdpHeader;
use super::{MacAddress, View, WireError};
use etherparse::{SlicedPacket, TcpOptionElement, TransportSlice};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const ONE4: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
const OTHER4: Ipv4Addr = Ipv4Addr::new(192, 168, 3, 4);
const ONE: IpAddr = IpAddr::V4(ONE4);
const OTHER: IpAddr = IpAddr::V4(OTHER4);

/// A frame with a payload of IPv4.
fn frame(header: Ipv4Header, payload: &[u8]) -> Vec<u8> {
    let ethernet = EthernetHeader {
        destination: MacAddress([1, 2, 3, 4, 5, 6]),
        source: MacAddress([7, 8, 9, 10, 11, 12]),
        ether_type: ethernet::IPV4,
    };
    let mut bytes = ethernet.to_bytes().to_vec();
    bytes.extend_from_slice(&header.to_bytes(payload.len()));
    bytes.extend_from_slice(payload);
    bytes
}

fn ipv4(protocol: u8, ecn: Ecn) -> Ipv4Header {
    Ipv4Header {
        source: ONE4,
        destination: OTHER4,
        protocol,
        dscp: 46,
        ecn,
        ttl: 17,
        identification: 0xbeef,
    }
}

fn check_tcp(header: TcpHeader, stored: &[u8], absent_bytes: u32, ecn: Ecn) {
    let mut payload = Vec::new();
    let view = View { bytes: stored, absent_bytes };
    header.write(ONE, OTHER, view, &mut payload);
    // Read again with a length in place of zeros.
    let segment = View { bytes: &payload, absent_bytes };
    let (read, data) = TcpHeader::read(ONE, OTHER, segment).expect("a header");
    assert_eq!(read, header);
    assert_eq!((data.bytes, data.absent_bytes), (stored, absent_bytes));
    // Read by etherparse with all zeros there; its checksum must agree.
    payload.resize(payload.len() + absent_bytes as usize, 0);
    let bytes = frame(ipv4(ipv4::TCP, ecn), &payload);
    let sliced = SlicedPacket::from_ethernet(&bytes).expect("a packet");
    let Some(etherparse::NetSlice::Ipv4(ip)) = &sliced.net else { panic!("{sliced:?}") };
    let ip = ip.header();
    assert_eq!(ip.to_header().calc_header_checksum(), ip.header_checksum());
    assert_eq!((ip.dcp().value(), ip.ecn().value(), ip.ttl()), (46, ecn as u8, 17));
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("{sliced:?}") };
    assert_eq!(tcp.calc_checksum_ipv4(ip.source(), ip.destination()), Ok(tcp.checksum()));
    assert_eq!(tcp.sequence_number(), header.sequence);
    assert_eq!(tcp.acknowledgment_number(), header.acknowledgement);
    assert_eq!(
        (tcp.ece(), tcp.cwr()),
        (header.flags.contains(Flags::ECE), header.flags.contains(Flags::CWR))
    );
    let mut options = Options::default();
    for option in tcp.options_iterator() {
        match option.expect("an option") {
            TcpOptionElement::Noop => {}
            TcpOptionElement::MaximumSegmentSize(size) => options.maximum_segment_size = Some(size),
            TcpOptionElement::WindowScale(shift) => options.window_scale = Some(shift),
            TcpOptionElement::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
            TcpOptionElement::Timestamp(value, echo) => options.timestamps = Some((value, echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, others) => {
                options.sack.push(first);
                others.into_iter().flatten().for_each(|block| options.sack.push(block));
            }
        }
    }
    assert_eq!(options, header.options);
}

proptest! {
    #[test]
    fn tcp_headers_are_what_etherparse_reads(
        ports in any::<(u16, u16)>(),
        numbers in any::<(u32, u32, u16)>(),
        flags in any::<u8>(),
        maximum_segment_size in any::<Option<u16>>(),
        window_scale in prop::option::of(0u8..15),
        sack_permitted in any::<bool>(),
        timestamps in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..4),
        stored in prop::collection::vec(any::<u8>(), 0..40),
        absent_bytes in 0u32..40,
        ecn in 0usize..4,
    ) {
        // SYN has no blocks: 40 bytes would not hold all options.
        let is_syn = sack_permitted || window_scale.is_some() || maximum_segment_size.is_some();
        let mut sack = SackBlocks::default();
        if !is_syn {
            blocks.into_iter().for_each(|block| sack.push(block));
        }
        let header = TcpHeader {
            source_port: ports.0,
            destination_port: ports.1,
            sequence: numbers.0,
            acknowledgement: numbers.1,
            flags: Flags(flags),
            window: numbers.2,
            options: Options {
                maximum_segment_size,
                window_scale,
                sack_permitted,
                timestamps,
                sack,
            },
        };
        let ecn = [Ecn::NotCapable, Ecn::Capable1, Ecn::Capable0, Ecn::Congestion][ecn];
        check_tcp(header, &stored, absent_bytes, ecn);
    }

    /// No bytes make a reader panic, and a flipped bit of a segment is found.
    #[test]
    fn readers_survive_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..90), absent_bytes in 0u32..9) {
        let view = View { bytes: &bytes, absent_bytes };
        let _ = EthernetHeader::read(view);
        let _ = ArpPacket::read(view);
        let _ = Ipv4Header::read(view);
        let _ = IpHeader::read_ipv6(view);
        let _ = Icmpv6::read(SIX, OTHER_SIX, view);
        let _ = IcmpHeader::read(view);
        let _ = UdpHeader::read(ONE, OTHER, view);
        let _ = TcpHeader::read(ONE, OTHER, view);
    }

    #[test]
    fn a_flipped_bit_is_found(bit in 0usize..(20 + 12 + 5) * 8) {
        let options = Options { timestamps: Some((1, 2)), ..Options::default() };
        let header = TcpHeader { sequence: 7, options, ..TcpHeader::default() };
        let mut bytes = Vec::new();
        header.write(ONE, OTHER, View::from(&b"hello"[..]), &mut bytes);
        bytes[bit / 8] ^= 0x80 >> (bit % 8);
        prop_assert!(TcpHeader::read(ONE, OTHER, View::from(bytes.as_slice())).is_err());
    }
}

#[test]
fn udp_headers_are_what_etherparse_reads() {
    let header = UdpHeader { source_port: 5000, destination_port: 53 };
    let mut payload = Vec::new();
    let absent = header.write(ONE, OTHER, View { bytes: b"odd", absent_bytes: 6 }, &mut payload);
    let (read, data) =
        UdpHeader::read(ONE, OTHER, View { bytes: &payload, absent_bytes: absent }).expect("one");
    assert_eq!((read, data.to_vec()), (header, b"odd\0\0\0\0\0\0".to_vec()));
    payload.resize(payload.len() + 6, 0);
    let bytes = frame(ipv4(ipv4::UDP, Ecn::NotCapable), &payload);
    let sliced = SlicedPacket::from_ethernet(&bytes).expect("a packet");
    let Some(TransportSlice::Udp(udp)) = &sliced.transport else { panic!("{sliced:?}") };
    let expected =
        udp.to_header().calc_checksum_ipv4_raw(ONE4.octets(), OTHER4.octets(), udp.payload());
    assert_eq!(Ok(udp.checksum()), expected);
    assert_eq!((udp.source_port(), udp.destination_port(), udp.length()), (5000, 53, 17));
}

#[test]
fn icmp_and_arp_are_read_as_written() {
    let echo = IcmpHeader::EchoRequest { identifier: 3, sequence: 4 };
    let mut bytes = Vec::new();
    echo.write(View::from(&b"abc"[..]), &mut bytes);
    let (read, payload) = IcmpHeader::read(View::from(bytes.as_slice())).expect("a message");
    assert_eq!((read, payload.bytes), (echo, &b"abc"[..]));
    bytes[9] ^= 1;
    assert_eq!(IcmpHeader::read(View::from(bytes.as_slice())), Err(WireError::Checksum));
    let arp = ArpPacket {
        operation: Operation::Reply,
        sender_mac: MacAddress([1; 6]),
        sender: ONE4,
        target_mac: MacAddress([2; 6]),
        target: OTHER4,
    };
    let mut bytes = Vec::new();
    arp.write(&mut bytes);
    assert_eq!(ArpPacket::read(View::from(bytes.as_slice())), Ok(arp));
    assert_eq!(bytes.len(), 28);
}

#[test]
fn packets_that_hosts_cannot_take_are_refused() {
    let whole = ipv4(ipv4::UDP, Ecn::NotCapable).to_bytes(8).to_vec();
    let refused = |change: fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        bytes.extend_from_slice(&[0; 8]);
        change(&mut bytes);
        bytes[10..12].fill(0);
        let length = (usize::from(bytes[0] & 15) * 4).min(bytes.len());
        let sum = super::checksum::of(&bytes[..length]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        Ipv4Header::read(View::from(bytes.as_slice())).err()
    };
    assert_eq!(refused(|_| {}), None);
    assert_eq!(refused(|bytes| bytes[6] = 0x20), Some(WireError::Fragment));
    assert_eq!(refused(|bytes| bytes[7] = 1), Some(WireError::Fragment));
    assert_eq!(refused(|bytes| bytes[3] = 29), Some(WireError::Truncated));
    assert_eq!(refused(|bytes| bytes[3] = 19), Some(WireError::Malformed));
    assert_eq!(refused(|bytes| bytes[0] = 0x65), Some(WireError::Malformed));
    assert_eq!(refused(|bytes| bytes[0] = 0x44), Some(WireError::Malformed));
}

const SIX: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 2);
const OTHER_SIX: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 9, 0xfe00, 0, 7, 0x1234);

fn ipv6(protocol: u8) -> IpHeader {
    IpHeader {
        source: SIX.into(),
        destination: OTHER_SIX.into(),
        protocol,
        dscp: 46,
        ecn: Ecn::Congestion,
        ttl: 17,
    }
}

/// A frame of IPv6.
fn frame6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let ethernet = EthernetHeader { ether_type: ethernet::IPV6, ..EthernetHeader::default() };
    let mut bytes = ethernet.to_bytes().to_vec();
    bytes.resize(14 + 40, 0);
    ipv6(protocol).write(payload.len(), 0, &mut bytes[14..]);
    bytes.extend_from_slice(payload);
    bytes
}

#[test]
fn ipv6_headers_are_what_etherparse_reads() {
    let mut payload = Vec::new();
    let udp = UdpHeader { source_port: 5000, destination_port: 53 };
    udp.write(SIX.into(), OTHER_SIX.into(), View::from(&b"odd"[..]), &mut payload);
    let bytes = frame6(ipv4::UDP, &payload);
    let sliced = SlicedPacket::from_ethernet(&bytes).expect("a packet");
    let Some(etherparse::NetSlice::Ipv6(ip)) = &sliced.net else { panic!("{sliced:?}") };
    let ip = ip.header();
    assert_eq!((ip.source_addr(), ip.destination_addr()), (SIX, OTHER_SIX));
    assert_eq!((ip.traffic_class(), ip.hop_limit(), ip.payload_length()), (46 << 2 | 3, 17, 11));
    let Some(TransportSlice::Udp(read)) = &sliced.transport else { panic!("{sliced:?}") };
    let expected =
        read.to_header().calc_checksum_ipv6_raw(SIX.octets(), OTHER_SIX.octets(), read.payload());
    assert_eq!(Ok(read.checksum()), expected);
    let packet = View::from(&bytes[14..]);
    let (header, read) = IpHeader::read_ipv6(packet).expect("a header");
    assert_eq!((header, read.bytes), (ipv6(ipv4::UDP), payload.as_slice()));
    let tcp = TcpHeader { sequence: 7, flags: Flags::ACK, ..TcpHeader::default() };
    let mut segment = Vec::new();
    tcp.write(SIX.into(), OTHER_SIX.into(), View { bytes: b"x", absent_bytes: 3 }, &mut segment);
    segment.resize(segment.len() + 3, 0);
    let bytes = frame6(ipv4::TCP, &segment);
    let sliced = SlicedPacket::from_ethernet(&bytes).expect("a packet");
    let Some(TransportSlice::Tcp(read)) = &sliced.transport else { panic!("{sliced:?}") };
    assert_eq!(read.calc_checksum_ipv6(SIX.octets(), OTHER_SIX.octets()), Ok(read.checksum()));
}

#[test]
fn extension_headers_are_skipped_and_fragments_refused() {
    let packet = |next: u8, extension: &[u8]| {
        let mut payload = extension.to_vec();
        payload.extend_from_slice(b"payload");
        let bytes = frame6(next, &payload);
        let read = IpHeader::read_ipv6(View::from(&bytes[14..]));
        read.map(|(header, payload)| (header.protocol, payload.to_vec()))
    };
    let read = Ok((ipv4::UDP, b"payload".to_vec()));
    assert_eq!(packet(ipv4::UDP, &[]), read);
    // Hop-by-hop options of 16 bytes, then destination options of 8.
    let mut extension = vec![60, 1];
    extension.resize(16, 0);
    extension.extend_from_slice(&[ipv4::UDP, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(packet(0, &extension), read);
    assert_eq!(packet(44, &[ipv4::UDP, 0, 0, 1, 0, 0, 0, 9]), Err(WireError::Fragment));
    assert_eq!(packet(0, &[17, 9, 0, 0]), Err(WireError::Truncated));
    let bytes = frame6(ipv4::UDP, b"cut");
    assert_eq!(
        IpHeader::read_ipv6(View::from(&bytes[14..bytes.len() - 1])).err(),
        Some(WireError::Truncated)
    );
    assert_eq!(IpHeader::read_ipv6(View::from(&[0x45; 60][..])).err(), Some(WireError::Malformed));
}

#[test]
fn icmpv6_messages_are_read_as_written() {
    let echo = IcmpHeader::EchoRequest { identifier: 3, sequence: 4 };
    let mut bytes = Vec::new();
    icmpv6::write(&echo, SIX, OTHER_SIX, View::from(&b"abc"[..]), &mut bytes);
    let sliced = etherparse::Icmpv6Slice::from_slice(&bytes).expect("a message");
    let sum = sliced.icmp_type().calc_checksum(SIX.octets(), OTHER_SIX.octets(), b"abc");
    assert_eq!(sum, Ok(sliced.checksum()));
    let read = Icmpv6::read(SIX, OTHER_SIX, View::from(bytes.as_slice()));
    assert_eq!(read, Ok(Icmpv6::Common(echo, View::from(&b"abc"[..]))));
    bytes[9] ^= 1;
    let read = Icmpv6::read(SIX, OTHER_SIX, View::from(bytes.as_slice()));
    assert_eq!(read, Err(WireError::Checksum));
    let mac = MacAddress([2, 4, 6, 8, 10, 12]);
    for message in [
        Neighbor::Solicitation { target: SIX, source: Some(mac) },
        Neighbor::Solicitation { target: SIX, source: None },
        Neighbor::Advertisement { target: SIX, mac: Some(mac), is_solicited: true },
        Neighbor::Advertisement { target: SIX, mac: None, is_solicited: false },
    ] {
        let mut bytes = Vec::new();
        message.write(SIX, OTHER_SIX, &mut bytes);
        let read = Icmpv6::read(SIX, OTHER_SIX, View::from(bytes.as_slice()));
        assert_eq!(read, Ok(Icmpv6::Neighbor(message)));
    }
    assert_eq!(icmpv6::solicited_node(OTHER_SIX).to_string(), "ff02::1:ff07:1234");
    assert_eq!(
        MacAddress::of_group(icmpv6::solicited_node(OTHER_SIX)).0,
        [0x33, 0x33, 255, 7, 0x12, 0x34]
    );
    assert_eq!(icmpv6::link_local(mac).to_string(), "fe80::4:6ff:fe08:a0c");
}
