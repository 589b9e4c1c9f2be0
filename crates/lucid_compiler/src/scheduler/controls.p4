// SPDX-License-Identifier: Apache-2.0
//
// The event scheduler for v1model (Lucid section 3.2): the dispatcher in ingress, the serialiser in egress, and the
// blocks around them. `wire.rs` says what frames are. Macros are choices of the compiler; a name that begins with
// PART_ stands for text that `scheduler` writes for the program at hand.

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // What differs from switch to switch, as the data of a default action.
    @name(".configure") action configure(bit<32> self_number, bit<9> recirculation_port PART_EXTERN_PARAMETERS) {
        meta.self = self_number;
        meta.recirculation_port = recirculation_port;
        PART_EXTERN_VALUES
    }
    @name(".configuration") table configuration {
        actions = { configure; }
        default_action = configure(0, RECIRCULATION_PORT PART_EXTERN_DEFAULTS);
        size = 1;
    }
#if MIXES
    // The ports that an event may leave by while others go round.
    action known() { }
    @name(".at_once") table at_once {
        key = { meta.direct_port: exact @name("port"); }
        actions = { known; }
        size = 512;
    }
#endif
    action forward_to(bit<9> port) { standard_metadata.egress_spec = port; }
    action unreachable() { mark_to_drop(standard_metadata); }
    @name(".forward") table forward {
        key = { hdr.frame.place: exact @name("switch"); }
        actions = { forward_to; unreachable; }
        default_action = unreachable();
        size = 4096;
    }
    PART_INGRESS_INSTANCES
#if HAS_BEFORE
    before() before_here;
#endif
#if HAS_AFTER
    after() after_here;
#endif
    apply {
        if (standard_metadata.parser_error != error.NoError) {
            mark_to_drop(standard_metadata);
            return;
        }
        configuration.apply();
#if RECIRCULATES
        // What the primitive brings back has both from egress.
        if (!(standard_metadata.instance_type == RECIRCULATED)) {
            meta.ingress_port = standard_metadata.ingress_port;
            meta.ingress_time = standard_metadata.ingress_global_timestamp;
        }
#else
        meta.ingress_port = standard_metadata.ingress_port;
#endif
#if ADDRESSES_PACKETS
        // The parser has read a packet event that came to this switch by its number.
        if (meta.addressed == 1) {
            hdr.frame.setInvalid();
            meta.ingress_port = 0;
        }
#endif
#if HAS_BEFORE
        before_here.apply(hdr, meta, standard_metadata);
#endif
        // Place and remaining delay of a frame. Both ends of the recirculation port are the switch's, so 16 bits of
        // the time tell how long a packet was between them; what the primitive brings back counts it in egress.
        if (hdr.frame.isValid()) {
            if (hdr.frame.place_kind < PLACE_HERE || hdr.frame.place_kind > PLACE_SWITCHES) {
                hdr.frame.place_kind = PLACE_HERE;
            }
#if HAS_EGRESS_HANDLERS
            meta.waited = hdr.frame.delay_ns != 0 && hdr.frame.place_kind != PLACE_SWITCH ? 1w1 : 0;
#endif
            if (hdr.frame.source_kind != SOURCE) {
                hdr.frame.delay_ns = meta.ingress_port == meta.recirculation_port ? hdr.frame.delay_ns
#if !RECIRCULATES && COUNTS_MICROSECONDS
                    |-| ((bit<32>)(standard_metadata.ingress_global_timestamp[15:0] - hdr.frame.source_kind) * 1000)
#elif !RECIRCULATES
                    |-| (bit<32>)(standard_metadata.ingress_global_timestamp[15:0] - hdr.frame.source_kind)
#endif
                    : 0;
            }
            if (hdr.frame.place_kind == PLACE_SWITCH && hdr.frame.place == meta.self && hdr.frame.delay_ns == 0
#if ADDRESSES_PACKETS
                // The parser takes it when it comes round without a delay.
                && !(PART_IS_FOR_PARSER)
#endif
            ) {
                hdr.frame.place_kind = PLACE_HERE;
                meta.ingress_port = 0;
            }
        }
        if (!hdr.frame.isValid() || hdr.frame.place_kind == PLACE_HERE && hdr.frame.delay_ns == 0
#if HAS_EGRESS_HANDLERS
            // Once its delay is over it goes round once more, to meet its egress handler.
            && !(meta.waited == 1 && (PART_MEETS_EGRESS))
#endif
        ) {
            PART_DISPATCH
            PART_GENERATED
        }
#if HAS_EGRESS_HANDLERS
        else if (meta.ingress_port != meta.recirculation_port) { meta.transit = 1; }
#endif
#if SLOTS > 1
        if (meta.generated > 1) {
            SET_EVENT_QUEUE
            PART_SEVERAL
        } else
#endif
        if (!hdr.frame.isValid()) {
            mark_to_drop(standard_metadata);
        } else if (hdr.frame.delay_ns != 0) {
            standard_metadata.egress_spec = meta.recirculation_port;
            SET_DELAY_QUEUE
        } else if (hdr.frame.place_kind == PLACE_HERE
            || hdr.frame.place_kind == PLACE_SWITCH && hdr.frame.place == meta.self) {
            standard_metadata.egress_spec = meta.recirculation_port;
            SET_EVENT_QUEUE
#if HAS_BARE
            if (hdr.frame.place_kind == PLACE_HERE) {
                if (PART_IS_BARE) { meta.leaves = 1; }
            }
#endif
        } else if (hdr.frame.place_kind == PLACE_SWITCH) {
            forward.apply();
        } else if (hdr.frame.place_kind == PLACE_PORT && hdr.frame.place < 511) {
            standard_metadata.egress_spec = hdr.frame.place[8:0];
            PART_EXITS
            meta.leaves = 1;
        } else if (hdr.frame.place_kind == PLACE_GROUP) {
            standard_metadata.mcast_grp = hdr.frame.place[15:0] + FIRST_GROUP;
            meta.leaves = 1;
        } else if (hdr.frame.place_kind == PLACE_FLOOD) {
            standard_metadata.mcast_grp =
                FIRST_FLOOD + (hdr.frame.place < 511 ? hdr.frame.place[15:0] : 511);
            meta.leaves = 1;
        }
#if HAS_SWITCH_GROUPS
        else if (hdr.frame.place_kind == PLACE_SWITCHES) {
            SET_EVENT_QUEUE
            standard_metadata.mcast_grp = hdr.frame.place[15:0] + FIRST_SWITCHES;
        }
#endif
        else {
            mark_to_drop(standard_metadata);
        }
#if HAS_AFTER
        after_here.apply(hdr, meta, standard_metadata);
#endif
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
#if SLOTS > 1
    bit<16> place;
#endif
#if HAS_SWITCH_GROUPS
    // Of an event to a group of switches each copy is for one.
    action at_switch(bit<32> number) {
        hdr.frame.place_kind = PLACE_SWITCH;
        hdr.frame.place = number;
    }
    @name(".member") table member {
        key = { standard_metadata.egress_rid: exact @name("replica"); }
        actions = { at_switch; }
        size = 4096;
    }
#endif
    // How long each event is on the wire.
    bit<32> length;
    bit<1> has_payload;
    bit<1> is_bare;
    action measure(bit<32> bytes, bit<1> payload, bit<1> bare) {
        length = bytes;
        has_payload = payload;
        is_bare = bare;
    }
    table lengths {
        key = { hdr.frame.number: exact; }
        actions = { measure; }
        const default_action = measure(0, 1, 0);
        const entries = { PART_LENGTHS }
    }
    PART_EGRESS_INSTANCES
    apply {
        PART_COPIES
#if HAS_SWITCH_GROUPS
        if (standard_metadata.egress_rid >= FIRST_MEMBER && hdr.frame.isValid()) { member.apply(); }
#endif
        if (hdr.frame.isValid()) {
            // The time in the queue is taken off the delay of what comes back; on links there is none.
            if (standard_metadata.egress_port == meta.recirculation_port) {
                hdr.frame.delay_ns = (bit<32>)((bit<48>)hdr.frame.delay_ns |-|
#if COUNTS_MICROSECONDS
                    ((standard_metadata.egress_global_timestamp - INGRESS_TIME) * 1000)
#else
                    (standard_metadata.egress_global_timestamp - INGRESS_TIME)
#endif
                );
                hdr.frame.source_kind = standard_metadata.egress_global_timestamp[15:0];
                // The stamp of an event that has one differs from the address of one that has none.
                if (hdr.frame.source_kind == SOURCE) {
                    hdr.frame.source_kind = SOURCE - 1;
#if !RECIRCULATES && COUNTS_MICROSECONDS
                    if (hdr.frame.delay_ns != 0) { hdr.frame.delay_ns = hdr.frame.delay_ns |+| 1000; }
#elif !RECIRCULATES
                    if (hdr.frame.delay_ns != 0) { hdr.frame.delay_ns = hdr.frame.delay_ns |+| 1; }
#endif
                }
            } else {
                hdr.frame.source_kind = SOURCE;
                hdr.frame.delay_ns = 0;
            }
            if (meta.leaves == 1) {
                hdr.frame.place_kind = PLACE_HERE;
                hdr.frame.place = 0;
            }
#if HAS_EGRESS_HANDLERS
            // What is for a switch by number meets no egress handler.
            if (hdr.frame.delay_ns == 0 && meta.transit == 0 && hdr.frame.place_kind == PLACE_HERE) {
                PART_EGRESS_HANDLERS
            }
#endif
            lengths.apply();
#if HAS_BARE
            // A packet event that is due here goes round as its bytes, and meets no egress handler after this one.
            if (hdr.frame.place_kind == PLACE_HERE && hdr.frame.delay_ns == 0) { meta.leaves = 1; }
#endif
            if (is_bare == 1 && meta.leaves == 1) {
                hdr.frame.setInvalid();
            } else {
                length = length + FRAME_BYTES;
            }
            if (meta.whole == 0 && (has_payload == 0 || meta.empty == 1)) { truncate(length); }
        }
#if RECIRCULATES
        if (standard_metadata.egress_port == meta.recirculation_port) {
            meta.ingress_port = meta.recirculation_port;
            meta.ingress_time = standard_metadata.egress_global_timestamp;
            recirculate_preserving_field_list(0);
        }
#endif
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) { apply { } }
control compute_checksums(inout headers_t hdr, inout metadata_t meta) { apply { } }
control deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.frame);
        PART_EMITS
    }
}
V1Switch(packet_parser(), verify_checksums(), ingress(), egress(), compute_checksums(), deparser()) main;
