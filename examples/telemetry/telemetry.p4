// SPDX-License-Identifier: Apache-2.0
// In-band telemetry: every switch on the path adds its number and the length of the queue the
// packet waited in to a stack in an IPv4 option, newest first. The header checksum is updated
// incrementally (RFC 1624), so it is right whatever the options hold.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9> port_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
// An unregistered option type: not copied on fragmentation, class 0, number 31.
const bit<8> OPTION_TELEMETRY = 31;

// An IPv4 header has at most 15 words; five are fixed, one is the option's head, a report has two.
#define MAXIMUM_REPORTS 4

error {
    Ipv4HeaderTooShort,
    TelemetryLengthMismatch
}

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<8>      diffserv;
    bit<16>     total_len;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     frag_offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     hdr_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

header telemetry_t {
    bit<8>  option_type;
    bit<8>  option_length;
    bit<16> report_count;
}

header report_t {
    bit<32> switch_id;
    bit<32> queue_length;
}

struct headers_t {
    ethernet_t                 ethernet;
    ipv4_t                     ipv4;
    telemetry_t                telemetry;
    report_t[MAXIMUM_REPORTS]  reports;
}

struct metadata_t {
    bit<16> remaining_reports;
}

parser TelemetryParser(packet_in packet,
                       out headers_t hdr,
                       inout metadata_t meta,
                       inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ihl >= 5, error.Ipv4HeaderTooShort);
        transition select(hdr.ipv4.ihl) {
            5: accept;
            default: look_for_telemetry;
        }
    }

    // Other options stay in the payload and are sent on as they are.
    state look_for_telemetry {
        transition select(packet.lookahead<bit<8>>()) {
            OPTION_TELEMETRY: parse_telemetry;
            default: accept;
        }
    }

    // The option must fill the header, and its length and count must agree.
    state parse_telemetry {
        packet.extract(hdr.telemetry);
        verify(hdr.telemetry.report_count <= MAXIMUM_REPORTS, error.TelemetryLengthMismatch);
        verify((bit<16>) hdr.telemetry.option_length == 4 + (hdr.telemetry.report_count << 3),
               error.TelemetryLengthMismatch);
        verify((bit<16>) hdr.ipv4.ihl == 6 + (hdr.telemetry.report_count << 1),
               error.TelemetryLengthMismatch);
        meta.remaining_reports = hdr.telemetry.report_count;
        transition select(hdr.telemetry.report_count) {
            0: accept;
            default: parse_report;
        }
    }

    state parse_report {
        packet.extract(hdr.reports.next);
        meta.remaining_reports = meta.remaining_reports - 1;
        transition select(meta.remaining_reports) {
            0: accept;
            default: parse_report;
        }
    }
}

control TelemetryVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TelemetryIngress(inout headers_t hdr,
                         inout metadata_t meta,
                         inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(port_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    table routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            forward;
            drop;
        }
        size = 1024;
        default_action = drop();
    }

    apply {
        if (standard_metadata.parser_error != error.NoError || !hdr.ipv4.isValid()
            || hdr.ipv4.ttl <= 1) {
            drop();
        } else {
            routes.apply();
        }
    }
}

control TelemetryEgress(inout headers_t hdr,
                        inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    // What the 16-bit words of the header have grown by, as a sum.
    bit<32> growth;

    action report(bit<32> switch_id) {
        hdr.reports.push_front(1);
        // A pushed header is not valid yet (P4_16, operations on header stacks).
        hdr.reports[0].setValid();
        hdr.reports[0].switch_id = switch_id;
        hdr.reports[0].queue_length = (bit<32>) standard_metadata.deq_qdepth;

        hdr.telemetry.report_count = hdr.telemetry.report_count + 1;
        hdr.telemetry.option_length = hdr.telemetry.option_length + 8;
        hdr.ipv4.ihl = hdr.ipv4.ihl + 2;
        hdr.ipv4.total_len = hdr.ipv4.total_len + 8;

        // Count, option length, total length, and ihl, which is the low half of a word's high byte.
        growth = growth + 1 + 8 + 8 + 0x0200;
        growth = growth + (bit<32>) hdr.reports[0].switch_id[31:16];
        growth = growth + (bit<32>) hdr.reports[0].switch_id[15:0];
        growth = growth + (bit<32>) hdr.reports[0].queue_length[31:16];
        growth = growth + (bit<32>) hdr.reports[0].queue_length[15:0];
    }

    action decrement_ttl() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        // Less 0x0100 in one's complement.
        growth = growth + 0xfeff;
    }

    action update_checksum_incrementally() {
        growth = growth + (bit<32>) (~hdr.ipv4.hdr_checksum);
        growth = (growth & 0xffff) + (growth >> 16);
        growth = (growth & 0xffff) + (growth >> 16);
        hdr.ipv4.hdr_checksum = ~growth[15:0];
    }

    // No key: what the control plane sets is the default action.
    table identity {
        actions = {
            report;
            NoAction;
        }
        default_action = NoAction();
    }

    apply {
        growth = 0;
        decrement_ttl();
        // Two more words must fit. A full header is sent on as it is.
        if (hdr.telemetry.isValid() && hdr.ipv4.ihl <= 13) {
            identity.apply();
        }
        update_checksum_incrementally();
    }
}

control TelemetryComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TelemetryDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.telemetry);
        packet.emit(hdr.reports);
    }
}

V1Switch(
    TelemetryParser(),
    TelemetryVerifyChecksum(),
    TelemetryIngress(),
    TelemetryEgress(),
    TelemetryComputeChecksum(),
    TelemetryDeparser()
) main;
