// SPDX-License-Identifier: Apache-2.0
//! Fields of packets by name, as specifications and expectations write them.

use crate::capture::{CapturedPacket, LinkType};
use etherparse::{LaxNetSlice, LaxSlicedPacket, LinkSlice, TransportSlice};

/// A field of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the field of its name")]
pub enum PacketField {
    Length,
    Timestamp,
    EthernetDestination,
    EthernetSource,
    EtherType,
    VlanIdentifier,
    Ipv4Source,
    Ipv4Destination,
    Ipv4Protocol,
    Ipv4TotalLength,
    Ipv4TimeToLive,
    Ipv4Dscp,
    Ipv4Ecn,
    Ipv4Tos,
    Ipv4HeaderLength,
    Ipv4Identification,
    Ipv6Source,
    Ipv6Destination,
    Ipv6NextHeader,
    SourcePort,
    DestinationPort,
    TcpSourcePort,
    TcpDestinationPort,
    TcpSequence,
    TcpAcknowledgement,
    TcpFlags,
    TcpWindow,
    UdpSourcePort,
    UdpDestinationPort,
    UdpLength,
    IcmpType,
    /// Bytes from an offset on, at most 16.
    Bytes(usize, usize),
}

impl PacketField {
    /// Names in specifications.
    pub const NAMES: &[(&'static str, PacketField)] = &[
        ("length", PacketField::Length),
        ("timestamp", PacketField::Timestamp),
        ("ethernet.dst", PacketField::EthernetDestination),
        ("ethernet.src", PacketField::EthernetSource),
        ("ethernet.type", PacketField::EtherType),
        ("vlan.id", PacketField::VlanIdentifier),
        ("ipv4.src", PacketField::Ipv4Source),
        ("ipv4.dst", PacketField::Ipv4Destination),
        ("ipv4.protocol", PacketField::Ipv4Protocol),
        ("ipv4.length", PacketField::Ipv4TotalLength),
        ("ipv4.ttl", PacketField::Ipv4TimeToLive),
        ("ipv4.dscp", PacketField::Ipv4Dscp),
        ("ipv4.ecn", PacketField::Ipv4Ecn),
        ("ipv4.tos", PacketField::Ipv4Tos),
        ("ipv4.ihl", PacketField::Ipv4HeaderLength),
        ("ipv4.id", PacketField::Ipv4Identification),
        ("ipv6.src", PacketField::Ipv6Source),
        ("ipv6.dst", PacketField::Ipv6Destination),
        ("ipv6.next_header", PacketField::Ipv6NextHeader),
        ("src_port", PacketField::SourcePort),
        ("dst_port", PacketField::DestinationPort),
        ("tcp.src_port", PacketField::TcpSourcePort),
        ("tcp.dst_port", PacketField::TcpDestinationPort),
        ("tcp.seq", PacketField::TcpSequence),
        ("tcp.ack", PacketField::TcpAcknowledgement),
        ("tcp.flags", PacketField::TcpFlags),
        ("tcp.window", PacketField::TcpWindow),
        ("udp.src_port", PacketField::UdpSourcePort),
        ("udp.dst_port", PacketField::UdpDestinationPort),
        ("udp.length", PacketField::UdpLength),
        ("icmp.type", PacketField::IcmpType),
    ];

    /// The field of a name; `bytes[14:4]` is the number in four bytes from offset 14 on.
    pub fn named(name: &str) -> Option<PacketField> {
        if let Some(range) = name.strip_prefix("bytes[").and_then(|rest| rest.strip_suffix(']')) {
            let (offset, length) = range.split_once(':').unwrap_or((range, "1"));
            let (offset, length) = (offset.trim().parse().ok()?, length.trim().parse().ok()?);
            return (1..=16).contains(&length).then_some(PacketField::Bytes(offset, length));
        }
        Self::NAMES.iter().find(|known| known.0 == name).map(|known| known.1)
    }

    /// Its value in a packet, if the packet has it. `length` is in bytes on the wire, `timestamp` in
    /// nanoseconds since 1970.
    pub fn read(self, packet: &CapturedPacket) -> Option<u128> {
        match self {
            PacketField::Length => return Some(u128::from(packet.original_length_bytes)),
            PacketField::Timestamp => return u128::try_from(packet.timestamp_ps / 1000).ok(),
            PacketField::Bytes(offset, length) => return number_at(&packet.data, offset, length),
            _ => {}
        }
        match packet.link_type == LinkType::ETHERNET {
            true => self.read_frame(&packet.data),
            false => self.read_sliced(&LaxSlicedPacket::from_ip(&packet.data).ok()?),
        }
    }

    /// Its value in an Ethernet frame whose bytes are all there, if the frame has it; `timestamp` has none.
    pub fn read_frame(self, bytes: &[u8]) -> Option<u128> {
        match self {
            PacketField::Length => return Some(bytes.len() as u128),
            PacketField::Bytes(offset, length) => return number_at(bytes, offset, length),
            _ => {}
        }
        self.read_sliced(&LaxSlicedPacket::from_ethernet(bytes).ok()?)
    }

    fn read_sliced(self, sliced: &LaxSlicedPacket<'_>) -> Option<u128> {
        let ethernet = || match &sliced.link {
            Some(LinkSlice::Ethernet2(ethernet)) => Some(ethernet.to_header()),
            _ => None,
        };
        let ipv4 = || match &sliced.net {
            Some(LaxNetSlice::Ipv4(ipv4)) => Some(ipv4.header().to_header()),
            _ => None,
        };
        let ipv6 = || match &sliced.net {
            Some(LaxNetSlice::Ipv6(ipv6)) => Some(ipv6.header().to_header()),
            _ => None,
        };
        let tcp = || match &sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => Some(tcp.to_header()),
            _ => None,
        };
        let udp = || match &sliced.transport {
            Some(TransportSlice::Udp(udp)) => Some(udp.to_header()),
            _ => None,
        };
        let number =
            |bytes: &[u8]| bytes.iter().fold(0u128, |number, byte| number << 8 | u128::from(*byte));
        Some(match self {
            PacketField::Length | PacketField::Timestamp | PacketField::Bytes(..) => return None,
            PacketField::EthernetDestination => number(&ethernet()?.destination),
            PacketField::EthernetSource => number(&ethernet()?.source),
            PacketField::EtherType => u128::from(ethernet()?.ether_type.0),
            PacketField::VlanIdentifier => u128::from(sliced.vlan_ids().first().copied()?.value()),
            PacketField::Ipv4Source => number(&ipv4()?.source),
            PacketField::Ipv4Destination => number(&ipv4()?.destination),
            PacketField::Ipv4Protocol => u128::from(ipv4()?.protocol.0),
            PacketField::Ipv4TotalLength => u128::from(ipv4()?.total_len),
            PacketField::Ipv4TimeToLive => u128::from(ipv4()?.time_to_live),
            PacketField::Ipv4Dscp => u128::from(ipv4()?.dscp.value()),
            PacketField::Ipv4Ecn => u128::from(ipv4()?.ecn.value()),
            PacketField::Ipv4Tos => {
                let ipv4 = ipv4()?;
                u128::from(ipv4.dscp.value() << 2 | ipv4.ecn.value())
            }
            PacketField::Ipv4HeaderLength => u128::from(ipv4()?.ihl()),
            PacketField::Ipv4Identification => u128::from(ipv4()?.identification),
            PacketField::Ipv6Source => number(&ipv6()?.source),
            PacketField::Ipv6Destination => number(&ipv6()?.destination),
            PacketField::Ipv6NextHeader => u128::from(ipv6()?.next_header.0),
            PacketField::SourcePort => match (tcp(), udp()) {
                (Some(tcp), _) => u128::from(tcp.source_port),
                (_, udp) => u128::from(udp?.source_port),
            },
            PacketField::DestinationPort => match (tcp(), udp()) {
                (Some(tcp), _) => u128::from(tcp.destination_port),
                (_, udp) => u128::from(udp?.destination_port),
            },
            PacketField::TcpSourcePort => u128::from(tcp()?.source_port),
            PacketField::TcpDestinationPort => u128::from(tcp()?.destination_port),
            PacketField::TcpSequence => u128::from(tcp()?.sequence_number),
            PacketField::TcpAcknowledgement => u128::from(tcp()?.acknowledgment_number),
            PacketField::TcpFlags => {
                let tcp = tcp()?;
                let flags =
                    [tcp.cwr, tcp.ece, tcp.urg, tcp.ack, tcp.psh, tcp.rst, tcp.syn, tcp.fin];
                flags.iter().fold(0, |flags, flag| flags << 1 | u128::from(*flag))
            }
            PacketField::TcpWindow => u128::from(tcp()?.window_size),
            PacketField::UdpSourcePort => u128::from(udp()?.source_port),
            PacketField::UdpDestinationPort => u128::from(udp()?.destination_port),
            PacketField::UdpLength => u128::from(udp()?.length),
            PacketField::IcmpType => match &sliced.transport {
                Some(TransportSlice::Icmpv4(icmp)) => u128::from(icmp.type_u8()),
                Some(TransportSlice::Icmpv6(icmp)) => u128::from(icmp.type_u8()),
                _ => return None,
            },
        })
    }
}

/// The number in bytes of a packet, the first one highest.
fn number_at(bytes: &[u8], offset: usize, length: usize) -> Option<u128> {
    let bytes = bytes.get(offset..offset.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_frame() {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0xb9, 0, 20, 0, 0, 0, 0, 63, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        for (name, expected) in [
            ("length", Some(34)),
            ("ipv4.tos", Some(0xb9)),
            ("ipv4.dscp", Some(46)),
            ("ipv4.ecn", Some(1)),
            ("ipv4.ihl", Some(5)),
            ("ipv4.ttl", Some(63)),
            ("ipv4.src", Some(0x0a00_0001)),
            ("bytes[12:2]", Some(0x800)),
            ("bytes[33]", Some(2)),
            ("bytes[33:2]", None),
            ("tcp.seq", None),
        ] {
            let field = PacketField::named(name).expect(name);
            assert_eq!(field.read_frame(&frame), expected, "{name}");
        }
        for name in ["bytes[1:17]", "bytes[1:0]", "bytes[]", "ipv4.t"] {
            assert_eq!(PacketField::named(name), None, "{name}");
        }
    }
}
