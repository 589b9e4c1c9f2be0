// SPDX-License-Identifier: Apache-2.0
//! Packets of the workloads: Ethernet, IPv4, ports, in the sizes that are measured. Which addresses
//! they carry, each workload decides.

use super::random::Random;

/// A packet and the port it arrives at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub ingress_port: u32,
    pub bytes: Vec<u8>,
}

/// How long packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    Bytes64,
    Bytes1500,
    /// Two humps, as captures of the Internet's backbones have: many short ones and many full ones.
    Mix,
}

impl Sizes {
    pub const ALL: [Sizes; 3] = [Sizes::Bytes64, Sizes::Bytes1500, Sizes::Mix];

    pub fn name(self) -> &'static str {
        match self {
            Sizes::Bytes64 => "64",
            Sizes::Bytes1500 => "1500",
            Sizes::Mix => "mix",
        }
    }

    pub fn named(name: &str) -> Option<Sizes> {
        Sizes::ALL.into_iter().find(|sizes| sizes.name() == name)
    }

    /// The length of the next packet in bytes.
    pub fn next_bytes(self, random: &mut Random) -> usize {
        match self {
            Sizes::Bytes64 => 64,
            Sizes::Bytes1500 => 1500,
            Sizes::Mix => {
                // First length, how many lengths, and their share in percent.
                let (first, count) = random.weighted(&[
                    ((64, 1), 40),
                    ((65, 63), 12),
                    ((128, 384), 8),
                    ((512, 512), 5),
                    ((1024, 476), 5),
                    ((1500, 1), 30),
                ]);
                first + random.below(count) as usize
            }
        }
    }
}

/// The checksum of an IPv4 header (RFC 1071); its own field counts as it stands.
pub fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 =
        header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// What an IPv4 packet says.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4 {
    pub source: u32,
    pub destination: u32,
    pub protocol: u8,
    pub source_port: u16,
    pub destination_port: u16,
    pub tcp_flags: u8,
}

pub const TCP: u8 = 6;
pub const UDP: u8 = 17;

/// An IPv4 packet in an Ethernet frame of this length, with random payload and a right checksum.
/// `options` come between header and ports.
pub fn ipv4(fields: Ipv4, options: &[u8], length_bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::with_capacity(length_bytes);
    bytes.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0]);
    let header_bytes = 20 + options.len();
    let total = (length_bytes - 14) as u16;
    bytes.extend([0x40 | (header_bytes / 4) as u8, 0]);
    bytes.extend(total.to_be_bytes());
    bytes.extend((random.next() as u16).to_be_bytes());
    bytes.extend([0x40, 0, 2 + random.below(250) as u8, fields.protocol, 0, 0]);
    bytes.extend(fields.source.to_be_bytes());
    bytes.extend(fields.destination.to_be_bytes());
    bytes.extend(options);
    let sum = checksum(&bytes[14..14 + header_bytes]);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(fields.source_port.to_be_bytes());
    bytes.extend(fields.destination_port.to_be_bytes());
    if fields.protocol == TCP {
        bytes.extend((random.next() as u32).to_be_bytes());
        bytes.extend((random.next() as u32).to_be_bytes());
        bytes.extend([0x50, fields.tcp_flags, 0x20, 0, 0, 0, 0, 0]);
    } else {
        bytes.extend((total - header_bytes as u16).to_be_bytes());
        bytes.extend([0, 0]);
    }
    while bytes.len() < length_bytes {
        bytes.push(random.next() as u8);
    }
    bytes.truncate(length_bytes);
    bytes
}

/// Versions of packets with something wrong in them: cut, other EtherType, version, header length,
/// fragment, protocol, TTL, checksum. What happens to them both sides must agree on.
pub fn damaged(packets: &[Packet], random: &mut Random) -> Vec<Packet> {
    let mut list = Vec::new();
    for packet in packets {
        let mut bytes = packet.bytes.clone();
        let set_checksum = |bytes: &mut Vec<u8>| {
            if bytes.len() >= 34 {
                bytes[24..26].copy_from_slice(&[0, 0]);
                let sum = checksum(&bytes[14..34]);
                bytes[24..26].copy_from_slice(&sum.to_be_bytes());
            }
        };
        match random.below(12) {
            0 => bytes.truncate(random.below(14) as usize),
            1 => bytes.truncate(14 + random.below(20) as usize),
            2 => bytes.truncate(34 + random.below(20) as usize),
            3 => bytes[12..14].copy_from_slice(&0x86ddu16.to_be_bytes()),
            4 => bytes[12..14].copy_from_slice(&0x0806u16.to_be_bytes()),
            5 => bytes[14] = random.next() as u8,
            6 => {
                bytes[22] = random.below(3) as u8;
                set_checksum(&mut bytes);
            }
            7 => bytes[24 + random.below(2) as usize] ^= 1 << random.below(8),
            8 => {
                bytes[21] = random.next() as u8;
                set_checksum(&mut bytes);
            }
            9 => {
                bytes[23] = *random.pick(&[1, 6, 17, 50]);
                set_checksum(&mut bytes);
            }
            10 => bytes[25..34].fill_with(|| random.next() as u8),
            _ => bytes[..12].fill_with(|| random.next() as u8),
        }
        list.push(Packet { ingress_port: packet.ingress_port, bytes });
    }
    list
}
