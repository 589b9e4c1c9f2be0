// SPDX-License-Identifier: Apache-2.0
// What single operations of the driver touch in figures 10a and 10b: registers of one word, an array, a table, and a table
// whose default action holds malleables.
#include <core.p4>
#include <v1model.p4>

header words_t {
    bit<32> key;
    bit<32> value;
}

struct headers_t {
    words_t words;
}

struct metadata_t {
    bit<32> scalar;
}

parser OperationsParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    state start {
        packet.extract(hdr.words);
        transition accept;
    }
}

control OperationsVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control OperationsIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    register<bit<32>>(256) array;
    register<bit<32>>(1) word_0;
    register<bit<32>>(1) word_1;
    register<bit<32>>(1) word_2;
    register<bit<32>>(1) word_3;
    register<bit<32>>(1) word_4;
    register<bit<32>>(1) word_5;
    register<bit<32>>(1) word_6;
    register<bit<32>>(1) word_7;
    register<bit<32>>(1) word_8;
    register<bit<32>>(1) word_9;
    register<bit<32>>(1) word_10;
    register<bit<32>>(1) word_11;
    register<bit<32>>(1) word_12;
    register<bit<32>>(1) word_13;
    register<bit<32>>(1) word_14;
    register<bit<32>>(1) word_15;
    register<bit<32>>(1) word_16;
    register<bit<32>>(1) word_17;
    register<bit<32>>(1) word_18;
    register<bit<32>>(1) word_19;
    register<bit<32>>(1) word_20;
    register<bit<32>>(1) word_21;
    register<bit<32>>(1) word_22;
    register<bit<32>>(1) word_23;
    register<bit<32>>(1) word_24;
    register<bit<32>>(1) word_25;
    register<bit<32>>(1) word_26;
    register<bit<32>>(1) word_27;
    register<bit<32>>(1) word_28;
    register<bit<32>>(1) word_29;
    register<bit<32>>(1) word_30;
    register<bit<32>>(1) word_31;
    register<bit<32>>(1) word_32;
    register<bit<32>>(1) word_33;
    register<bit<32>>(1) word_34;
    register<bit<32>>(1) word_35;
    register<bit<32>>(1) word_36;
    register<bit<32>>(1) word_37;
    register<bit<32>>(1) word_38;
    register<bit<32>>(1) word_39;
    register<bit<32>>(1) word_40;
    register<bit<32>>(1) word_41;
    register<bit<32>>(1) word_42;
    register<bit<32>>(1) word_43;
    register<bit<32>>(1) word_44;
    register<bit<32>>(1) word_45;
    register<bit<32>>(1) word_46;
    register<bit<32>>(1) word_47;
    register<bit<32>>(1) word_48;
    register<bit<32>>(1) word_49;
    register<bit<32>>(1) word_50;
    register<bit<32>>(1) word_51;
    register<bit<32>>(1) word_52;
    register<bit<32>>(1) word_53;
    register<bit<32>>(1) word_54;
    register<bit<32>>(1) word_55;
    register<bit<32>>(1) word_56;
    register<bit<32>>(1) word_57;
    register<bit<32>>(1) word_58;
    register<bit<32>>(1) word_59;
    register<bit<32>>(1) word_60;
    register<bit<32>>(1) word_61;
    register<bit<32>>(1) word_62;
    register<bit<32>>(1) word_63;

    action set(bit<32> scalar) {
        meta.scalar = scalar;
    }

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table init {
        actions = {
            set;
        }
        default_action = set(1);
    }

    table entries {
        key = {
            hdr.words.key: exact;
        }
        actions = {
            send;
        }
        size = 1024;
    }

    apply {
        init.apply();
        entries.apply();
    }
}

control OperationsEgress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    apply {}
}

control OperationsComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control OperationsDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.words);
    }
}

V1Switch(
    OperationsParser(),
    OperationsVerifyChecksum(),
    OperationsIngress(),
    OperationsEgress(),
    OperationsComputeChecksum(),
    OperationsDeparser()
) main;
