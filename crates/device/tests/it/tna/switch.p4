// SPDX-License-Identifier: Apache-2.0
// A layer 2 and 3 switch as programs for Tofino are written: port metadata, VLAN tags, IPv4 with options,
// host and prefix routes, a selector, an ACL with counters and meters, learning, mirroring, checksums.
#include <core.p4>
#if __TARGET_TOFINO__ == 3
#include <t3na.p4>
#elif __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

#define CPU_PORT 64
typedef bit<48> mac_t;
typedef bit<32> ip_t;
typedef bit<12> vlan_id_t;
enum bit<16> ether_type_t { IPV4 = 0x0800, ARP = 0x0806, TPID = 0x8100, MIRROR = 0xBEEF }
const bit<8> PROTO_TCP = 6;
const bit<3> ING_PORT_MIRROR = 3;
const bit<3> L2_LEARN_DIGEST = 2;
const int IPV4_HOST_SIZE = 1024;
const int IPV4_LPM_SIZE  = 512;

header ethernet_h { mac_t dst_addr; mac_t src_addr; bit<16> ether_type; }
header vlan_tag_h { bit<3> pcp; bit<1> cfi; vlan_id_t vid; bit<16> ether_type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<8> diffserv; bit<16> total_len; bit<16> identification;
    bit<3> flags; bit<13> frag_offset; bit<8> ttl; bit<8> protocol; bit<16> hdr_checksum; ip_t src_addr; ip_t dst_addr;
}
header ipv4_options_h { varbit<320> data; }
header tcp_h { bit<16> src_port; bit<16> dst_port; bit<32> seq; bit<32> ack; bit<4> off; bit<4> res; bit<8> flags; bit<16> window; bit<16> checksum; bit<16> urgent; }
@flexible
header bridged_h { bit<8> mark; bit<9> port; @padding bit<7> _pad; bit<16> csum; }
header mirror_h { bit<8> kind; @padding bit<7> _pad0; PortId_t port; bit<48> tstamp; }
struct port_metadata_t { bit<3> port_pcp; vlan_id_t port_vid; bit<9> l2_xid; }
struct my_ingress_headers_t { bridged_h bridged; ethernet_h ethernet; vlan_tag_h[2] vlan_tag; ipv4_h ipv4; ipv4_options_h ipv4_options; tcp_h tcp; }
struct my_ingress_metadata_t {
    port_metadata_t port_properties; bit<1> ipv4_csum_err; bit<16> tcp_csum; bit<1> first_frag; mac_t mac; bit<8> color;
    MirrorId_t session; bit<10> idx; bit<32> l4; bool nat; PortId_t port; bit<1> learn;
}
struct learn_t { mac_t src; PortId_t port; vlan_id_t vid; }

parser IngressParser(packet_in pkt, out my_ingress_headers_t hdr, out my_ingress_metadata_t meta,
    out ingress_intrinsic_metadata_t ig_intr_md)
{
    Checksum() ipv4_checksum;
    Checksum() tcp_checksum;
    ParserCounter() options;
    value_set<bit<16>>(4) tpids;
    state start {
        pkt.extract(ig_intr_md);
        meta.port_properties = port_metadata_unpack<port_metadata_t>(pkt);
        transition meta_init;
    }
    @critical
    state meta_init {
        meta.nat = false;
        meta.first_frag = 0; meta.mac = 0;
        hdr.bridged.setValid();
        hdr.bridged.port = ig_intr_md.ingress_port;
        transition parse_ethernet;
    }
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            (bit<16>)ether_type_t.TPID &&& 0xEFFF : parse_vlan_tag;
            tpids : parse_vlan_tag;
            (bit<16>)ether_type_t.IPV4 : parse_ipv4;
            default : accept;
        }
    }
    state parse_vlan_tag {
        pkt.extract(hdr.vlan_tag.next);
        transition select(hdr.vlan_tag.last.ether_type) {
            0x8100 : parse_vlan_tag;
            0x0800 : parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        tcp_checksum.subtract({hdr.ipv4.src_addr, hdr.ipv4.dst_addr});
        options.set((bit<8>) hdr.ipv4.ihl - 5);
        transition select(hdr.ipv4.ihl) {
            5 : parse_ipv4_no_options;
            6 &&& 6 : parse_ipv4_options;
            8 &&& 8 : parse_ipv4_options;
            default : reject;
        }
    }
    state parse_ipv4_options {
        pkt.extract(hdr.ipv4_options, ((bit<32>) hdr.ipv4.ihl - 5) * 32);
        ipv4_checksum.add(hdr.ipv4_options);
        transition parse_ipv4_no_options;
    }
    state parse_ipv4_no_options {
        meta.ipv4_csum_err = (bit<1>) ipv4_checksum.verify();
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol, options.is_zero()) {
            (0, PROTO_TCP, true) : parse_tcp;
            (0, _, _) : parse_first_fragment;
            default : accept;
        }
    }
    state parse_first_fragment { meta.l4 = pkt.lookahead<bit<32>>(); transition accept; }
    state parse_tcp {
        pkt.extract(hdr.tcp);
        tcp_checksum.subtract({hdr.tcp.checksum});
        meta.tcp_csum = tcp_checksum.get();
        meta.first_frag = 1;
        transition accept;
    }
}

control Ingress(inout my_ingress_headers_t hdr, inout my_ingress_metadata_t meta,
    in ingress_intrinsic_metadata_t ig_intr_md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, inout ingress_intrinsic_metadata_for_tm_t ig_tm_md)
{
    bit<3> mac_move;
    Hash<bit<14>>(HashAlgorithm_t.CRC16) lag_hash;
    ActionProfile(size = 256) lag_ap;
    ActionSelector(action_profile = lag_ap, hash = lag_hash, mode = SelectorMode_t.FAIR, max_group_size = 64, num_groups = 16) lag;
    DirectMeter(MeterType_t.BYTES) acl_meter;
    Meter<bit<10>>(1024, MeterType_t.PACKETS) flow_meter;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) acl_counter;
    Counter<bit<64>, bit<10>>(1024, CounterType_t.BYTES) flow_counter;
    Hash<bit<10>>(HashAlgorithm_t.IDENTITY) identity;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) copy32;

    action send(PortId_t port) { ig_tm_md.ucast_egress_port = port; }
    action drop() { ig_dprsr_md.drop_ctl = 1; }
    action l3_switch(PortId_t port, mac_t new_mac_da, mac_t new_mac_sa) {
        hdr.ethernet.dst_addr = new_mac_da;
        hdr.ethernet.src_addr = new_mac_sa;
        hdr.ipv4.ttl = hdr.ipv4.ttl |-| 1;
        send(port);
    }
    @idletime_precision(3)
    table ipv4_host {
        key = { hdr.ipv4.dst_addr : exact; }
        actions = { send; drop; l3_switch; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0x0a000001 : l3_switch(1, 0x000000000110, 0x000000000001);
            0x0a000002 : drop();
        }
        size = IPV4_HOST_SIZE;
        idle_timeout = true;
    }
    @alpm(1)
    @alpm_partitions(1024)
    table ipv4_lpm {
        key = { hdr.ipv4.dst_addr : lpm @name("dst"); }
        actions = { send; drop; l3_switch; }
        default_action = send(CPU_PORT);
        const entries = {
            0x0a000000 &&& 0xffffff00 : l3_switch(2, 0x000000000220, 0x000000000002);
            0x0a000000 &&& 0xff000000 : send(3);
        }
        size = IPV4_LPM_SIZE;
    }
    action mirror(MirrorId_t session) { ig_dprsr_md.mirror_type = ING_PORT_MIRROR; meta.session = session; acl_counter.count(); }
    action color_it() { meta.color = acl_meter.execute(); acl_counter.count(); }
    action just_count() { acl_counter.count(); }
    @placement_priority(127)
    table acl {
        key = { hdr.ipv4.src_addr : ternary; hdr.ipv4.dst_addr : ternary; hdr.tcp.dst_port : range; hdr.tcp.isValid() : exact; ig_intr_md.ingress_port : ternary; }
        actions = { mirror; color_it; just_count; }
        size = 128;
        default_action = just_count();
        const entries = {
            (_, 0x0a000001, 80 .. 90, true, _) : mirror(5);
            (0x0a000000 &&& 0xff000000, _, _, false, 1 &&& 1) : color_it();
        }
        counters = acl_counter;
        meters = acl_meter;
    }
    table lag_table {
        key = { ig_tm_md.ucast_egress_port : exact; hdr.ipv4.src_addr : selector; hdr.ipv4.dst_addr : selector; }
        actions = { send; NoAction; }
        size = 64;
        implementation = lag;
    }
    action learn() { ig_dprsr_md.digest_type = L2_LEARN_DIGEST; }
    action known(PortId_t port) { mac_move = (bit<3>)(port == ig_intr_md.ingress_port ? 3w0 : 3w1); }
    table smac {
        key = { hdr.ethernet.src_addr : exact @name("mac"); }
        actions = { learn; known; }
        const default_action = learn();
        size = 4096;
    }
    apply {
        smac.apply();
        if (hdr.ipv4.isValid() && meta.ipv4_csum_err == 0 && hdr.ipv4.ttl > 1) {
            if (!ipv4_host.apply().hit) { ipv4_lpm.apply(); }
            acl.apply();
            meta.idx = identity.get({hdr.ipv4.dst_addr[9:0]});
            flow_counter.count(meta.idx);
            if (flow_meter.execute(meta.idx) == (bit<8>) MeterColor_t.RED) { drop(); }
            lag_table.apply();
            hdr.bridged.mark = copy32.get({hdr.ipv4.src_addr, 3w1, hdr.ipv4.protocol})[7:0] & 0x7f;
        } else if (ig_prsr_md.parser_err != PARSER_ERROR_OK) {
            drop();
        } else {
            ig_tm_md.mcast_grp_a = (MulticastGroupId_t) 7;
            ig_tm_md.rid = (bit<16>) 5; ig_tm_md.level1_exclusion_id = 3; ig_tm_md.level2_exclusion_id = meta.port_properties.l2_xid;
        }
        hdr.bridged.csum = min(meta.tcp_csum, 16w0xfff0);
    }
}

control IngressDeparser(packet_out pkt, inout my_ingress_headers_t hdr, in my_ingress_metadata_t meta,
    in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, in ingress_intrinsic_metadata_t ig_intr_md)
{
    Checksum() ipv4_checksum;
    Checksum() tcp_checksum;
    Mirror() mirror;
    Digest<learn_t>() learn_digest;
    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.hdr_checksum = ipv4_checksum.update({ hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
        }
        if (meta.first_frag == 1) {
            hdr.tcp.checksum = tcp_checksum.update(data = { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, meta.tcp_csum }, zeros_as_ones = true);
        }
        if (ig_dprsr_md.mirror_type == ING_PORT_MIRROR) {
            mirror.emit<mirror_h>(meta.session, { 0xA5, 0, ig_intr_md.ingress_port, ig_intr_md.ingress_mac_tstamp });
        }
        if (ig_dprsr_md.digest_type == L2_LEARN_DIGEST) {
            learn_digest.pack({ hdr.ethernet.src_addr, ig_intr_md.ingress_port, meta.port_properties.port_vid });
        }
        pkt.emit(hdr);
    }
}

struct my_egress_headers_t { bridged_h bridged; mirror_h mirror; ethernet_h ethernet; }
struct my_egress_metadata_t { bit<8> kind; }
parser EgressParser(packet_in pkt, out my_egress_headers_t hdr, out my_egress_metadata_t meta, out egress_intrinsic_metadata_t eg_intr_md)
{
    state start {
        pkt.extract(eg_intr_md);
        meta.kind = pkt.lookahead<bit<8>>();
        transition select(meta.kind) {
            0xA5 : parse_mirror;
            default : parse_bridged;
        }
    }
    state parse_mirror { pkt.extract(hdr.mirror); transition accept; }
    state parse_bridged { pkt.extract(hdr.bridged); transition accept; }
}
control Egress(inout my_egress_headers_t hdr, inout my_egress_metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md,
    in egress_intrinsic_metadata_from_parser_t eg_prsr_md, inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
    inout egress_intrinsic_metadata_for_output_port_t eg_oport_md)
{
    apply {
        hdr.bridged.setInvalid();
        if (hdr.mirror.isValid()) {
            hdr.ethernet.setValid();
            hdr.ethernet = { 0xffffffffffff, hdr.mirror.tstamp, (bit<16>)ether_type_t.MIRROR };
            hdr.mirror.setInvalid();
        }
    }
}
control EgressDeparser(packet_out pkt, inout my_egress_headers_t hdr, in my_egress_metadata_t meta, in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md)
{
    apply { pkt.emit(hdr); }
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
