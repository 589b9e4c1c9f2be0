// SPDX-License-Identifier: Apache-2.0
// What the architectures of Tofino 1 have in common: types, intrinsic metadata and externs. Included by
// `tna.p4`, where the blocks are.
#ifndef _TOFINO_P4_
#define _TOFINO_P4_

#include "core.p4"

typedef bit<9> PortId_t;             // two bits of pipe, seven of port
typedef bit<16> MulticastGroupId_t;  // 0 is none
typedef bit<5> QueueId_t;
typedef bit<3> MirrorType_t;
typedef bit<10> MirrorId_t;          // a mirror session
typedef bit<3> ResubmitType_t;
typedef bit<3> DigestType_t;
typedef bit<16> ReplicationId_t;

typedef error ParserError_t;

// What stands between the ingress intrinsic metadata and the packet, in bits; a resubmitted packet has
// its resubmit header there.
const bit<32> PORT_METADATA_SIZE = 32w64;

// Bits of `parser_err`.
const bit<16> PARSER_ERROR_OK = 16w0x0000;
const bit<16> PARSER_ERROR_NO_TCAM = 16w0x0001;       // no case of a select fits
const bit<16> PARSER_ERROR_PARTIAL_HDR = 16w0x0002;   // the packet ends inside of a header
const bit<16> PARSER_ERROR_CTR_RANGE = 16w0x0004;     // a parser counter out of its range
const bit<16> PARSER_ERROR_TIMEOUT_USER = 16w0x0008;
const bit<16> PARSER_ERROR_TIMEOUT_HW = 16w0x0010;
const bit<16> PARSER_ERROR_SRC_EXT = 16w0x0020;
const bit<16> PARSER_ERROR_DST_CONT = 16w0x0040;
const bit<16> PARSER_ERROR_PHV_OWNER = 16w0x0080;
const bit<16> PARSER_ERROR_MULTIWRITE = 16w0x0100;
const bit<16> PARSER_ERROR_ARAM_SBE = 16w0x0200;
const bit<16> PARSER_ERROR_ARAM_MBE = 16w0x0400;
const bit<16> PARSER_ERROR_FCS = 16w0x0800;
const bit<16> PARSER_ERROR_CSUM = 16w0x1000;
const bit<16> PARSER_ERROR_ARRAY_OOB = 16w0xC000;     // a header stack has no such element

error {
    CounterRange,
    Timeout,
    PhvOwner,
    MultiWrite,
    IbufOverflow,
    IbufUnderflow
}

match_kind {
    range,                  // between two bounds, both included
    selector,               // no match: input to the choice of a group's member
    atcam_partition_index   // equal: which part of a table that is split is searched
}

enum MeterType_t {
    PACKETS,
    BYTES
}

enum bit<8> MeterColor_t {
    GREEN = 8w0,
    YELLOW = 8w1,
    RED = 8w3
}

enum CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

enum SelectorMode_t {
    FAIR,
    RESILIENT
}

enum HashAlgorithm_t {
    IDENTITY,
    RANDOM,
    CRC8,
    CRC16,
    CRC32,
    CRC64,
    CUSTOM  // as a CRCPolynomial says
}

// In front of each packet that comes to the ingress parser.
@__intrinsic_metadata
header ingress_intrinsic_metadata_t {
    bit<1> resubmit_flag;        // 1 for a resubmitted packet
    @padding bit<1> _pad1;
    bit<2> packet_version;
    @padding bit<3> _pad2;
    PortId_t ingress_port;
    bit<48> ingress_mac_tstamp;  // nanoseconds, when the packet came
}

struct ingress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;  // nanoseconds, when the packet came to ingress
    bit<32> global_ver;
    bit<16> parser_err;     // PARSER_ERROR_...
}

struct ingress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;  // bit 0: no unicast, multicast, resubmission; bit 1: no copy to the CPU; bit 2: no mirroring
    DigestType_t digest_type;
    ResubmitType_t resubmit_type;
    MirrorType_t mirror_type;
}

// For the traffic manager. A unicast copy is made when `ucast_egress_port` was set, copies of a multicast
// group when a group is not 0, all of them when all are.
struct ingress_intrinsic_metadata_for_tm_t {
    PortId_t ucast_egress_port;
    bit<1> bypass_egress;        // straight to the port
    bit<1> deflect_on_drop;
    bit<3> ingress_cos;
    QueueId_t qid;
    bit<3> icos_for_copy_to_cpu;
    bit<1> copy_to_cpu;
    bit<2> packet_color;
    bit<1> disable_ucast_cutthru;
    bit<1> enable_mcast_cutthru;
    MulticastGroupId_t mcast_grp_a;
    MulticastGroupId_t mcast_grp_b;
    bit<13> level1_mcast_hash;
    bit<13> level2_mcast_hash;
    bit<16> level1_exclusion_id;
    bit<9> level2_exclusion_id;
    bit<16> rid;
}

// In front of each packet that comes to the egress parser.
@__intrinsic_metadata
header egress_intrinsic_metadata_t {
    @padding bit<7> _pad0;
    PortId_t egress_port;
    @padding bit<5> _pad1;
    bit<19> enq_qdepth;         // of the queue when the packet came to it
    @padding bit<6> _pad2;
    bit<2> enq_congest_stat;
    @padding bit<14> _pad3;
    bit<18> enq_tstamp;         // nanoseconds
    @padding bit<5> _pad4;
    bit<19> deq_qdepth;         // and when it left
    @padding bit<6> _pad5;
    bit<2> deq_congest_stat;
    bit<8> app_pool_congest_stat;
    @padding bit<14> _pad6;
    bit<18> deq_timedelta;      // nanoseconds in the queue
    bit<16> egress_rid;         // of a multicast copy
    @padding bit<7> _pad7;
    bit<1> egress_rid_first;    // the first copy with its replication id
    @padding bit<3> _pad8;
    QueueId_t egress_qid;
    @padding bit<5> _pad9;
    bit<3> egress_cos;
    @padding bit<7> _pad10;
    bit<1> deflection_flag;
    bit<16> pkt_length;         // bytes
}

struct egress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;  // nanoseconds, when the packet came to egress
    bit<32> global_ver;
    bit<16> parser_err;
}

struct egress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;  // bit 0: no packet; bit 2: no mirroring
    MirrorType_t mirror_type;
    bit<1> coalesce_flush;
    bit<7> coalesce_length;
}

struct egress_intrinsic_metadata_for_output_port_t {
    bit<1> capture_tstamp_on_tx;
    bit<1> update_delay_on_tx;
    bit<1> force_tx_error;
}

// In front of packets from the packet generator.
header pktgen_timer_header_t {
    @padding bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;   // from 0
    bit<16> packet_id;  // in its batch, from 0
}

header pktgen_port_down_header_t {
    @padding bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    @padding bit<15> _pad2;
    PortId_t port_num;
    bit<16> packet_id;
}

header pktgen_recirc_header_t {
    @padding bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    bit<24> key;
    bit<16> packet_id;
}

header ptp_metadata_t {
    bit<8> udp_cksum_byte_offset;
    bit<8> cf_byte_offset;
    bit<48> updated_cf;
}

// The larger and the smaller of two numbers.
@pure
extern T max<T>(in T t1, in T t2);
@pure
extern T min<T>(in T t1, in T t2);

// The field is as if it had never been set.
extern void invalidate<T>(in T field);

// The port's metadata as a struct of 64 bits; moves behind it.
extern T port_metadata_unpack<T>(packet_in pkt);

// The length of a header.
@pure
extern bit<32> sizeInBits<H>(in H h);
@pure
extern bit<32> sizeInBytes<H>(in H h);

// A ones' complement sum, in parsers to verify and in deparsers to compute (RFC 1071, RFC 1624).
@noWarn("unused")
extern Checksum {
    Checksum();
    // Adds a header or fields to the sum, or takes them out of it.
    void add<T>(in T data);
    void subtract<T>(in T data);
    // Whether the sum is not that of data with a right checksum in it.
    bool verify();
    // The sum, to be added in a deparser.
    bit<16> get();
    // The same; what was not subtracted counts as added.
    void subtract_all_and_deposit<T>(out T residual);
    // The checksum of this data; with the flag, 0xffff in place of 0, as UDP has it.
    bit<16> update<T>(in T data, @optional in bool zeros_as_ones);
}

// A counter in a parser, for headers of variable length.
@noWarn("unused")
extern ParserCounter {
    ParserCounter();
    void set<T>(in T value);
    void set<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<8> mask, in bit<8> add);
    bool is_zero();
    bool is_negative();
    void increment(in bit<8> value);
    void decrement(in bit<8> value);
}

@noWarn("unused")
extern ParserPriority {
    ParserPriority();
    void set(in bit<3> prio);
}

// Parameters of a CRC: the polynomial without its highest term (as in the catalogues of CRCs), whether bits
// are reflected, whether the highest term is written too, what the register begins with, and what the end is
// combined with.
@noWarn("unused")
extern CRCPolynomial<T> {
    CRCPolynomial(T coeff, bool reversed, bool msb, bool extended, T init, T xor);
}

// A hash of `data`; with bounds, from `base` up to `base + max - 1`.
@noWarn("unused")
extern Hash<W> {
    Hash(HashAlgorithm_t algo);
    Hash(HashAlgorithm_t algo, CRCPolynomial<_> poly);
    @pure
    W get<D>(in D data);
    @pure
    W get<D>(in D data, in W base, in W max);
}

// Uniform numbers of W.
@noWarn("unused")
extern Random<W> {
    Random();
    W get();
}

// The program counts, the control plane reads.
@noWarn("unused")
extern Counter<W, I> {
    Counter(bit<32> size, CounterType_t type);
    void count(in I index, @optional in bit<32> adjust_byte_count);
}

// A counter for each entry of the table whose property `counters` names it.
@noWarn("unused")
extern DirectCounter<W> {
    DirectCounter(CounterType_t type);
    void count(@optional in bit<32> adjust_byte_count);
}

// Meters of two rates and three colours (RFC 2698). The result is a MeterColor_t, or the number given for
// the colour.
@noWarn("unused")
extern Meter<I> {
    Meter(bit<32> size, MeterType_t type);
    Meter(bit<32> size, MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green);
    bit<8> execute(in I index, in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(in I index, @optional in bit<32> adjust_byte_count);
}

// A meter for each entry of the table whose property `meters` names it.
@noWarn("unused")
extern DirectMeter {
    DirectMeter(MeterType_t type);
    DirectMeter(MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green);
    bit<8> execute(in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(@optional in bit<32> adjust_byte_count);
}

// Low pass filters and random early drops, in arrays and one an entry.
@noWarn("unused")
extern Lpf<T, I> {
    Lpf(bit<32> size);
    T execute(in T val, in I index);
}
@noWarn("unused")
extern DirectLpf<T> {
    DirectLpf();
    T execute(in T val);
}
@noWarn("unused")
extern Wred<T, I> {
    Wred(bit<32> size, bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val, in I index);
}
@noWarn("unused")
extern DirectWred<T> {
    DirectWred(bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val);
}

// Values that packets and the control plane read and write: bits, or a struct of two fields.
@noWarn("unused")
extern Register<T, I> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in I index);
    void write(in I index, in T value);
}

// A value for each entry of the table whose property `registers` names it.
@noWarn("unused")
extern DirectRegister<T> {
    DirectRegister();
    DirectRegister(T initial_value);
    T read();
    void write(in T value);
}

// A value that only the control plane writes.
@noWarn("unused")
extern RegisterParam<T> {
    RegisterParam(T initial_value);
    T read();
}

enum MathOp_t {
    MUL,
    SQR,
    SQRT,
    DIV,
    RSQR,
    RSQRT
}

// A table look-up of the stateful ALU that comes close to a function.
@noWarn("unused")
extern MathUnit<T> {
    MathUnit(bool invert, int<2> shift, int<6> scale,
             tuple<bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>,
                   bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>> data);
    MathUnit(MathOp_t op, int factor);
    MathUnit(MathOp_t op, int A, int B);
    T execute(in T x);
}

// What a packet does to a cell of a register, as one transaction: `apply` makes a new value of the old one,
// and results for the packet.
@noWarn("unused")
extern RegisterAction<T, I, U> {
    RegisterAction(Register<T, I> reg);
    U execute(in I index);
    // The same on a cell of its own for each call, in turn.
    U execute_log();
    @synchronous(execute, execute_log)
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}
@noWarn("unused")
extern RegisterAction2<T, I, U1, U2> {
    RegisterAction2(Register<T, I> reg);
    U1 execute(in I index, out U2 rv2);
    U1 execute_log(out U2 rv2);
    @synchronous(execute, execute_log)
    abstract void apply(inout T value, @optional out U1 rv1, @optional out U2 rv2);
    U1 predicate(@optional in bool cmplo, @optional in bool cmphi);
}
@noWarn("unused")
extern RegisterAction3<T, I, U1, U2, U3> {
    RegisterAction3(Register<T, I> reg);
    U1 execute(in I index, out U2 rv2, out U3 rv3);
    U1 execute_log(out U2 rv2, out U3 rv3);
    @synchronous(execute, execute_log)
    abstract void apply(inout T value, @optional out U1 rv1, @optional out U2 rv2,
                        @optional out U3 rv3);
    U1 predicate(@optional in bool cmplo, @optional in bool cmphi);
}
@noWarn("unused")
extern RegisterAction4<T, I, U1, U2, U3, U4> {
    RegisterAction4(Register<T, I> reg);
    U1 execute(in I index, out U2 rv2, out U3 rv3, out U4 rv4);
    U1 execute_log(out U2 rv2, out U3 rv3, out U4 rv4);
    @synchronous(execute, execute_log)
    abstract void apply(inout T value, @optional out U1 rv1, @optional out U2 rv2,
                        @optional out U3 rv3, @optional out U4 rv4);
    U1 predicate(@optional in bool cmplo, @optional in bool cmphi);
}
@noWarn("unused")
extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute();
    @synchronous(execute)
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}

// As the property `implementation` of a table: entries share actions with their arguments, and with a
// selector, groups of them.
@noWarn("unused")
extern ActionProfile {
    ActionProfile(bit<32> size);
}
@noWarn("unused")
extern ActionSelector {
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode,
                   bit<32> max_group_size, bit<32> num_groups);
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode,
                   Register<bit<1>, _> reg, bit<32> max_group_size, bit<32> num_groups);
    @deprecated("Please name an ActionProfile as the first argument instead")
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode);
    @deprecated("Please name an ActionProfile as the first argument instead")
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode, Register<bit<1>, _> reg);
}
@noWarn("unused")
extern SelectorAction {
    SelectorAction(ActionSelector sel);
    bit<1> execute(@optional in bit<32> index);
    @synchronous(execute)
    abstract void apply(inout bit<1> value, @optional out bit<1> rv);
}

// Copies of packets for egress, as a session of the control plane says: of the received packet, from the
// ingress deparser, and as it leaves, from the egress deparser. The header stands in front of the copy.
@noWarn("unused")
extern Mirror {
    Mirror();
    Mirror(MirrorType_t mirror_type);
    void emit(in MirrorId_t session_id);
    void emit<T>(in MirrorId_t session_id, in T hdr);
}

// The received packet goes through ingress once more, with this header of at most 64 bits.
@noWarn("unused")
extern Resubmit {
    Resubmit();
    Resubmit(ResubmitType_t resubmit_type);
    void emit();
    void emit<T>(in T hdr);
}

// Messages to the control plane.
@noWarn("unused")
extern Digest<T> {
    Digest();
    Digest(DigestType_t digest_type);
    void pack(in T data);
}

// How a table with `lpm` or `ternary` keys is put into memory; what it means does not change.
@noWarn("unused")
extern Atcam {
    Atcam(@optional bit<32> number_partitions);
}
@noWarn("unused")
extern Alpm {
    Alpm(@optional bit<32> number_partitions, @optional bit<32> subtrees_per_partition,
         @optional bit<32> atcam_subset_width, @optional bit<32> shift_granularity);
}

#endif
