// SPDX-License-Identifier: Apache-2.0
// v1model: the architecture of BMv2's simple_switch. Define V1MODEL_VERSION as 20200408 or later
// before including this file to have indices and ports as types of their own.
#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include "core.p4"

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

match_kind {
    range,     // between two bounds, both included
    optional,  // equal, or anything
    selector   // no match: input to the choice of a group's member
}

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

// What the switch and the program tell each other about a packet.
@metadata @name("standard_metadata")
struct standard_metadata_t {
#if V1MODEL_VERSION >= 20200408
    PortId_t ingress_port;  // where the packet came in
    PortId_t egress_spec;   // set in ingress: where it shall leave
    PortId_t egress_port;   // read in egress: where it leaves
#else
    bit<9> ingress_port;
    bit<9> egress_spec;
    bit<9> egress_port;
#endif
    bit<32> instance_type;  // normal, clone, resubmitted, recirculated, replica
    bit<32> packet_length;  // bytes
    // Queueing: the time in microseconds and the queue's length in packets.
    @alias("queueing_metadata.enq_timestamp")
    bit<32> enq_timestamp;
    @alias("queueing_metadata.enq_qdepth")
    bit<19> enq_qdepth;
    @alias("queueing_metadata.deq_timedelta")
    bit<32> deq_timedelta;
    @alias("queueing_metadata.deq_qdepth")
    bit<19> deq_qdepth;
    // Microseconds since the switch started.
    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48> ingress_global_timestamp;
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48> egress_global_timestamp;
    // The multicast group to replicate to; 0 for none. Each copy has its replication id.
    @alias("intrinsic_metadata.mcast_grp")
    bit<16> mcast_grp;
    @alias("intrinsic_metadata.egress_rid")
    bit<16> egress_rid;
    bit<1> checksum_error;  // 1 when verify_checksum found a wrong one
    error parser_error;     // how the parser ended
    @alias("intrinsic_metadata.priority")
    bit<3> priority;        // of the egress queue
}

enum CounterType {
    packets,
    bytes,
    packets_and_bytes
}

enum MeterType {
    packets,
    bytes
}

// An array of counters. The program counts, the control plane reads. An index that is not below
// `size` counts nothing.
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

// A counter for each entry of the one table whose property `counters` names it. It counts each hit
// by itself, whether or not an action calls `count`.
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

#define V1MODEL_METER_COLOR_GREEN 0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED 2

// An array of two-rate three-colour meters (RFC 2698). The result is one of the colours above; for
// an index that is not below `size` it is not specified.
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

// A meter for each entry of the one table whose property `meters` names it, to be read in that
// table's actions.
extern direct_meter<T> {
    direct_meter(MeterType type);
    void read(out T result);
}

// An array of values that packets and the control plane read and write. Outside the array a read
// gives an unspecified value and a write does nothing.
#if V1MODEL_VERSION >= 20200408
extern register<T, I>
#else
extern register<T>
#endif
{
    register(bit<32> size);
#if V1MODEL_VERSION >= 20200408
    @noSideEffects
    void read(out T result, in I index);
    void write(in I index, in T value);
#else
    @noSideEffects
    void read(out T result, in bit<32> index);
    void write(in bit<32> index, in T value);
#endif
}

enum HashAlgorithm {
    crc32,
    crc32_custom,
    crc16,
    crc16_custom,
    random,
    identity,
    csum16,  // ones' complement sum, as in IPv4
    xor16
}

// As the property `implementation` of a table: entries share actions with their arguments.
extern action_profile {
    action_profile(bit<32> size);
}

// The same with groups, one member of which is chosen by a hash of the table's selector keys.
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

// A pseudo-random value, both bounds included.
extern void random<T>(out T result, in T lo, in T hi);

// Sends `data` to the control plane.
extern void digest<T>(in bit<32> receiver, in T data);

@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

// Sets egress_spec to the port that drops and mcast_grp to 0. Later assignments of these can still
// undo it.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

// A hash of `data`, from `base` up to `base + max - 1`; just `base` when `max` is 0.
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

// Ingress to egress, and egress to egress.
enum CloneType {
    I2E,
    E2E
}

@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

// Only in VerifyChecksum: sets checksum_error when `condition` holds and the checksum is wrong.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

// Only in ComputeChecksum: writes the checksum when `condition` holds.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum,
                                  HashAlgorithm algo);

// The same two with the payload, that is, all bytes the parser did not extract, after the data.
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum,
                                               HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum,
                                               HashAlgorithm algo);

// Another pass for the packet. Each takes effect when its control has ended, the last call
// counts, and nothing undoes it. `resubmit` starts again with the received packet, in ingress;
// `recirculate` from the packet as it would leave, in egress; `clone` makes copies for egress as a
// session says. With a field list, the user metadata fields annotated `@field_list` with that
// number come along.
extern void resubmit_preserving_field_list(bit<8> index);
extern void recirculate_preserving_field_list(bit<8> index);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
extern void clone(in CloneType type, in bit<32> session);

@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);
@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);

// Cuts the packet after this many bytes when it leaves.
extern void truncate(in bit<32> length);

// What the author believes to be true. A false `assert` is recorded; `assume` also tells a
// verifier to leave out all other packets.
extern void assert(in bool check);
extern void assume(in bool check);

// Writes to the switch's log; each `{}` in the text takes the next value of `data`.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

// The programmable blocks in the order a packet meets them. H is the struct of headers, M the
// program's own metadata.
parser Parser<H, M>(packet_in b, out H parsedHdr, inout M meta,
                    inout standard_metadata_t standard_metadata);

control VerifyChecksum<H, M>(inout H hdr, inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

control ComputeChecksum<H, M>(inout H hdr, inout M meta);

@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(
    Parser<H, M> p,
    VerifyChecksum<H, M> vr,
    Ingress<H, M> ig,
    Egress<H, M> eg,
    ComputeChecksum<H, M> ck,
    Deparser<H> dep);

#endif
