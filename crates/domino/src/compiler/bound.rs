// SPDX-License-Identifier: Apache-2.0
//! The parts around the statements of a program with a binding: Ethernet, IPv4 without options, TCP and UDP. Header fields
//! that the program assigns to are written back, and the IPv4 checksum is updated; those of TCP and UDP are not.

use super::parts::{CONTROL, EGRESS, PACKAGE, Parts};
use crate::binding::{Binding, Bound, Header};
use std::collections::HashSet;
use std::fmt::Write;

/// Headers and parser.
pub(super) const DECLARATIONS: &str = "
header ethernet_t { bit<48> destination; bit<48> source; bit<16> ether_type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> total_length;
    bit<16> identification; bit<3> fragment_flags; bit<13> fragment_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum;
    bit<32> source; bit<32> destination;
}
header ports_t { bit<16> source_port; bit<16> destination_port; }
header tcp_t {
    bit<32> sequence; bit<32> acknowledgement; bit<4> data_offset; bit<4> reserved; bit<8> flags; bit<16> window;
    bit<16> checksum; bit<16> urgent;
}
header udp_t { bit<16> udp_length; bit<16> checksum; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; ports_t ports; tcp_t tcp; udp_t udp; }
struct metadata_t { }
parser DominoParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) { 16w0x800: parse_ipv4; default: accept; }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (4w4, 4w5, 13w0, 8w6): parse_tcp;
            (4w4, 4w5, 13w0, 8w17): parse_udp;
            default: accept;
        }
    }
    state parse_tcp { packet.extract(hdr.ports); packet.extract(hdr.tcp); transition accept; }
    state parse_udp { packet.extract(hdr.ports); packet.extract(hdr.udp); transition accept; }
}
control DominoVerifyChecksum(inout headers_t hdr, inout metadata_t meta) { apply { } }
";

const CHECKSUM: &str = "
control DominoComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 4w5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.fragment_flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}
";

const NO_CHECKSUM: &str = "
control DominoComputeChecksum(inout headers_t hdr, inout metadata_t meta) { apply { } }
";

const DEPARSER: &str = "
control DominoDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}
";

/// Returns the parts. `assigned` are the fields that the program assigns to.
pub(super) fn parts(binding: &Binding, fields: &[String], assigned: &HashSet<usize>) -> Parts {
    let mut begin =
        String::from("apply { bit<32> leaves_by = (bit<32>) standard_metadata.ingress_port;");
    for (at, (from, to)) in binding.ports.iter().enumerate() {
        let otherwise = if at > 0 { "else " } else { "" };
        let _ = write!(
            begin,
            "{otherwise}if (standard_metadata.ingress_port == 9w{from}) {{ leaves_by = 32w{to}; }}"
        );
    }
    begin.push_str("standard_metadata.egress_spec = leaves_by[8:0];");
    let valid: Vec<String> = binding
        .headers()
        .iter()
        .map(|header| format!("hdr.{}.isValid()", header.p4_name()))
        .collect();
    let condition = if valid.is_empty() { "true".to_string() } else { valid.join(" && ") };
    let _ = write!(begin, "if ({condition}) {{");
    let mut end = String::new();
    let mut changes_ipv4 = false;
    for (at, (bound, name)) in binding.fields.iter().zip(fields).enumerate() {
        let value = match bound {
            Some(Bound::Header(field)) => {
                let place = format!("hdr.{}.{}", field.header.p4_name(), field.p4_name);
                if assigned.contains(&at) {
                    changes_ipv4 |= field.header == Header::Ipv4;
                    let _ = match field.width_bits {
                        32 => write!(end, "{place} = {name};"),
                        width => write!(end, "{place} = {name}[{}:0];", width - 1),
                    };
                }
                format!("(bit<32>) {place}")
            }
            Some(Bound::Length) => "(bit<32>) standard_metadata.packet_length".to_string(),
            Some(Bound::Time) => "standard_metadata.ingress_global_timestamp[31:0]".to_string(),
            Some(Bound::IngressPort) => "(bit<32>) standard_metadata.ingress_port".to_string(),
            Some(Bound::EgressPort) => {
                let _ = write!(end, "standard_metadata.egress_spec = {name}[8:0];");
                "leaves_by".to_string()
            }
            Some(Bound::Congestion) => {
                changes_ipv4 = true;
                let _ = write!(
                    end,
                    "if ({name} != 32w0 && hdr.ipv4.ecn != 2w0) {{ hdr.ipv4.ecn = 2w3; }}"
                );
                "32w0".to_string()
            }
            Some(Bound::Drop) | None => "32w0".to_string(),
        };
        let _ = write!(begin, "bit<32> {name} = {value};");
    }
    // After the egress port, which a drop replaces.
    for (bound, name) in binding.fields.iter().zip(fields) {
        if *bound == Some(Bound::Drop) {
            let _ = write!(end, "if ({name} != 32w0) {{ mark_to_drop(standard_metadata); }}");
        }
    }
    end.push_str("} else { other_packets.count(32w0); } } }");
    let checksum = if changes_ipv4 { CHECKSUM } else { NO_CHECKSUM };
    Parts {
        control_begin: format!("{CONTROL} counter(32w1, CounterType.packets) other_packets;"),
        apply_begin: begin,
        apply_end: end,
        rest: format!("{EGRESS}{checksum}{DEPARSER}{PACKAGE}"),
    }
}
