// SPDX-License-Identifier: Apache-2.0
// A calculator on the wire: a request carries an operation and two operands, and goes back to its
// sender with the result. The table of operations is part of the program (const entries).

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;

// IEEE 802 local experimental Ethernet type 2.
const bit<16> ETHERTYPE_CALCULATOR = 0x88b6;
// "P4" and version 1.
const bit<24> CALCULATOR_MAGIC = 0x503401;

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

header calculator_t {
    bit<24> magic;
    bit<8>  operation;
    bit<32> left;
    bit<32> right;
    bit<32> result;
}

struct headers_t {
    ethernet_t   ethernet;
    calculator_t calculator;
}

struct metadata_t { }

parser CalculatorParser(packet_in packet,
                        out headers_t hdr,
                        inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_CALCULATOR: check_magic;
            default: accept;
        }
    }

    // Looks before it extracts: what only resembles a request stays payload.
    state check_magic {
        transition select(packet.lookahead<bit<24>>()) {
            CALCULATOR_MAGIC: parse_calculator;
            default: accept;
        }
    }

    state parse_calculator {
        packet.extract(hdr.calculator);
        transition accept;
    }
}

control CalculatorVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CalculatorIngress(inout headers_t hdr,
                          inout metadata_t meta,
                          inout standard_metadata_t standard_metadata) {
    action answer(in bit<32> result) {
        mac_addr_t requester = hdr.ethernet.src_addr;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = requester;
        hdr.calculator.result = result;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }

    action add() {
        answer(hdr.calculator.left + hdr.calculator.right);
    }

    action add_saturating() {
        answer(hdr.calculator.left |+| hdr.calculator.right);
    }

    action subtract() {
        answer(hdr.calculator.left - hdr.calculator.right);
    }

    action bitwise_and() {
        answer(hdr.calculator.left & hdr.calculator.right);
    }

    action bitwise_or() {
        answer(hdr.calculator.left | hdr.calculator.right);
    }

    action bitwise_xor() {
        answer(hdr.calculator.left ^ hdr.calculator.right);
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // The keys are ASCII: + s - & | ^
    table operations {
        key = {
            hdr.calculator.operation: exact;
        }
        actions = {
            add;
            add_saturating;
            subtract;
            bitwise_and;
            bitwise_or;
            bitwise_xor;
            drop;
        }
        const entries = {
            0x2b: add();
            0x73: add_saturating();
            0x2d: subtract();
            0x26: bitwise_and();
            0x7c: bitwise_or();
            0x5e: bitwise_xor();
        }
        const default_action = drop();
    }

    apply {
        if (hdr.calculator.isValid()) {
            operations.apply();
        } else {
            drop();
        }
    }
}

control CalculatorEgress(inout headers_t hdr,
                         inout metadata_t meta,
                         inout standard_metadata_t standard_metadata) {
    apply { }
}

control CalculatorComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CalculatorDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.calculator);
    }
}

V1Switch(
    CalculatorParser(),
    CalculatorVerifyChecksum(),
    CalculatorIngress(),
    CalculatorEgress(),
    CalculatorComputeChecksum(),
    CalculatorDeparser()
) main;
