// SPDX-License-Identifier: Apache-2.0
// The learning switch of ../p4/switch.p4 by hand. An address and its port fit a 64-bit word, so one
// open-addressing table serves both lookups: the program's two tables hold the same addresses.

#include "forwarding.h"

static uint64_t *addresses; // address << 16 | port; 0 is free
static unsigned address_shift;
static uint64_t address_mask;
static uint32_t flood_ports[LARGEST_FLOOD_PORTS];
static unsigned flood_count;

// The digest of an unknown source.
enum { DIGESTS = 1024 };
static struct {
    uint64_t address;
    uint32_t port;
} digests[DIGESTS];

static inline uint64_t first_place(uint64_t address) {
    return address * 0x9e3779b97f4a7c15u >> address_shift;
}

static void load_tables(const struct workload *workload) {
    struct section section = find_section(workload, "macs");
    size_t count = section.length_bytes / 8;
    unsigned bits = 4;
    // At most half full.
    while ((size_t)1 << bits < 2 * count) bits++;
    address_shift = 64 - bits;
    address_mask = ((uint64_t)1 << bits) - 1;
    addresses = allocate_table(sizeof *addresses << bits);
    for (size_t i = 0; i < count; i++) {
        uint64_t entry;
        memcpy(&entry, section.content + 8 * i, 8);
        uint64_t at = first_place(entry >> 16);
        while (addresses[at]) at = (at + 1) & address_mask;
        addresses[at] = entry;
    }
    section = find_section(workload, "flood");
    flood_count = section.length_bytes / 4;
    if (flood_count > LARGEST_FLOOD_PORTS) fail("too many ports in", "flood");
    memcpy(flood_ports, section.content, section.length_bytes);
}

// Address and port, or 0.
static inline uint64_t find_address(uint64_t address, uint64_t at) {
    for (;;) {
        uint64_t entry = addresses[at];
        if (entry >> 16 == address || !entry) return entry;
        at = (at + 1) & address_mask;
    }
}

static inline unsigned forward_burst(struct packet *burst, unsigned count, struct output *outputs) {
    uint64_t destination_places[BURST_PACKETS], source_places[BURST_PACKETS];
    for (unsigned i = 0; i < count; i++) {
        destination_places[i] = first_place(load_48(burst[i].bytes));
        source_places[i] = first_place(load_48(burst[i].bytes + 6));
        __builtin_prefetch(&addresses[destination_places[i]]);
        __builtin_prefetch(&addresses[source_places[i]]);
    }
    unsigned sent = 0;
    for (unsigned i = 0; i < count; i++) {
        struct packet *packet = &burst[i];
        if (__builtin_expect(packet->length_bytes < 14, 0)) continue;
        uint64_t source_address = load_48(packet->bytes + 6);
        uint64_t source = find_address(source_address, source_places[i]);
        if (__builtin_expect(!source || (source & 0xffff) != packet->ingress_port, 0)) {
            unsigned at = digests_sent++ % DIGESTS;
            digests[at].address = source_address;
            digests[at].port = packet->ingress_port;
        }
        uint64_t destination = find_address(load_48(packet->bytes), destination_places[i]);
        if (__builtin_expect(!!destination, 1)) {
            uint32_t port = destination & 0xffff;
            outputs[sent] = (struct output){packet->bytes, packet->length_bytes, port, i};
            sent += port != packet->ingress_port;
            continue;
        }
        for (unsigned at = 0; at < flood_count; at++) {
            outputs[sent] = (struct output){packet->bytes, packet->length_bytes, flood_ports[at], i};
            sent += flood_ports[at] != packet->ingress_port;
        }
    }
    return sent;
}

#include "measuring_main.h"
