// SPDX-License-Identifier: Apache-2.0
//! [`FlowKey`]: which flow a frame belongs to: addresses, protocol and ports of IP, or the Ethernet header of others.

use network::frame::Frame;
use network_file::Mac;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const ETHERNET_BYTES: usize = 14;
const IPV4_TYPE: u16 = 0x0800;
const IPV6_TYPE: u16 = 0x86dd;
const ARP_TYPE: u16 = 0x0806;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Frames with equal keys belong to one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FlowKey {
    /// IPv4 or IPv6. Ports are 0 for protocols other than TCP and UDP and for later fragments; the protocol of IPv6 is the
    /// first one behind its header.
    Ip {
        /// Source and destination.
        addresses: [IpAddr; 2],
        protocol: u8,
        ports: [u16; 2],
    },
    /// Another Ethernet frame.
    Ethernet {
        /// Source and destination.
        addresses: [[u8; 6]; 2],
        ether_type: u16,
    },
    /// Shorter than an Ethernet header.
    Short,
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

impl FlowKey {
    /// The flow of a frame.
    pub(crate) fn of(frame: &Frame) -> FlowKey {
        let bytes = frame.bytes.as_slice();
        let Some(header) = bytes.first_chunk::<ETHERNET_BYTES>() else { return FlowKey::Short };
        let ether_type = u16::from_be_bytes([header[12], header[13]]);
        if ether_type == IPV4_TYPE
            && let Some(key) = FlowKey::of_ipv4(&bytes[ETHERNET_BYTES..])
        {
            return key;
        }
        if ether_type == IPV6_TYPE
            && let Some(key) = FlowKey::of_ipv6(&bytes[ETHERNET_BYTES..])
        {
            return key;
        }
        let mut addresses = [[0; 6]; 2];
        addresses[0].copy_from_slice(&header[6..12]);
        addresses[1].copy_from_slice(&header[..6]);
        FlowKey::Ethernet { addresses, ether_type }
    }

    fn of_ipv4(packet: &[u8]) -> Option<FlowKey> {
        let header = packet.first_chunk::<20>()?;
        let header_bytes = usize::from(header[0] & 15) * 4;
        if header[0] >> 4 != 4 || header_bytes < 20 {
            return None;
        }
        let address =
            |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
        let protocol = header[9];
        let is_first_fragment = number(header, 6)? & 0x1fff == 0;
        let ports = match protocol {
            TCP | UDP if is_first_fragment => {
                let port = |at| number(packet, at).unwrap_or(0);
                [port(header_bytes), port(header_bytes + 2)]
            }
            _ => [0, 0],
        };
        Some(FlowKey::Ip { addresses: [address(12).into(), address(16).into()], protocol, ports })
    }

    fn of_ipv6(packet: &[u8]) -> Option<FlowKey> {
        let header = packet.first_chunk::<40>()?;
        if header[0] >> 4 != 6 {
            return None;
        }
        let address =
            |at: usize| IpAddr::from(Ipv6Addr::from(std::array::from_fn(|n| header[at + n])));
        let protocol = header[6];
        let port = |at| number(packet, at).unwrap_or(0);
        let ports = if matches!(protocol, TCP | UDP) { [port(40), port(42)] } else { [0, 0] };
        Some(FlowKey::Ip { addresses: [address(8), address(24)], protocol, ports })
    }

    /// Source and destination, for people.
    pub(crate) fn ends(&self) -> [String; 2] {
        match self {
            FlowKey::Ip { addresses, protocol: TCP | UDP, ports } => {
                [0, 1].map(|end| SocketAddr::new(addresses[end], ports[end]).to_string())
            }
            FlowKey::Ip { addresses, .. } => addresses.map(|address| address.to_string()),
            FlowKey::Ethernet { addresses, .. } => addresses.map(|bytes| Mac(bytes).to_string()),
            FlowKey::Short => [String::new(), String::new()],
        }
    }

    /// The protocol, for people.
    pub(crate) fn protocol(&self) -> String {
        match self {
            FlowKey::Ip { protocol: TCP, .. } => "TCP".to_string(),
            FlowKey::Ip { protocol: UDP, .. } => "UDP".to_string(),
            FlowKey::Ip { protocol: ICMP, addresses: [IpAddr::V4(_), _], .. } => "ICMP".to_string(),
            FlowKey::Ip { protocol: ICMPV6, addresses: [IpAddr::V6(_), _], .. } => {
                "ICMPv6".to_string()
            }
            FlowKey::Ip { protocol, addresses: [address, _], .. } => {
                let version = if address.is_ipv4() { 4 } else { 6 };
                format!("IPv{version} protocol {protocol}")
            }
            FlowKey::Ethernet { ether_type: ARP_TYPE, .. } => "ARP".to_string(),
            FlowKey::Ethernet { ether_type, .. } => format!("Ethernet type 0x{ether_type:04x}"),
            FlowKey::Short => "short frame".to_string(),
        }
    }
}

/// Flows by number, in the order in which they were first seen. Flow 0 stands for all that had no room.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowNumbers {
    numbers: HashMap<FlowKey, u32>,
    keys: Vec<FlowKey>,
}

/// The most flows with a number of their own.
const MAX_FLOWS: usize = 1 << 16;

impl FlowNumbers {
    /// The number of a flow.
    pub(crate) fn number(&mut self, key: FlowKey) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        if self.keys.len() >= MAX_FLOWS {
            return 0;
        }
        self.keys.push(key);
        let number = self.keys.len() as u32;
        self.numbers.insert(key, number);
        number
    }

    /// The number of flows, without flow 0.
    pub(crate) fn count(&self) -> u32 {
        self.keys.len() as u32
    }

    /// The flow of a number other than 0.
    pub(crate) fn key(&self, number: u32) -> Option<&FlowKey> {
        self.keys.get((number as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(hexadecimal: &str) -> Frame {
        let digits: Vec<u8> = hexadecimal.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16);
        let bytes: Result<Vec<u8>, _> = digits.chunks(2).map(byte).collect();
        bytes.expect("bytes").into()
    }

    #[test]
    fn frames_are_named_by_their_headers() {
        let check = |hexadecimal: &str, source: &str, destination: &str, protocol: &str| {
            let key = FlowKey::of(&frame(hexadecimal));
            assert_eq!(key.ends(), [source, destination]);
            assert_eq!(key.protocol(), protocol);
        };
        let ethernet = "020000000002 020000000001";
        let ipv4 = |protocol, fragment| {
            format!("{ethernet} 0800 4500002800000{fragment}4{protocol} 0000 0a000101 0a000202")
        };
        let tcp = ipv4("006", "000") + "1f90 0050";
        assert_eq!(frame(&tcp).bytes.len(), 38, "{tcp}");
        check(&tcp, "10.0.1.1:8080", "10.0.2.2:80", "TCP");
        check(&(ipv4("001", "000") + "0800"), "10.0.1.1", "10.0.2.2", "ICMP");
        check(&ipv4("011", "000"), "10.0.1.1:0", "10.0.2.2:0", "UDP");
        check(&ipv4("059", "000"), "10.0.1.1", "10.0.2.2", "IPv4 protocol 89");
        let (one, other) = ("02:00:00:00:00:01", "02:00:00:00:00:02");
        check(&format!("{ethernet} 0806 0001"), one, other, "ARP");
        check(&format!("{ethernet} 1212 0001"), one, other, "Ethernet type 0x1212");
        check(&format!("{ethernet} 0800 4500"), one, other, "Ethernet type 0x0800");
        check("0200", "", "", "short frame");
    }
}
