// SPDX-License-Identifier: Apache-2.0
// The router of ../p4/router.p4 by hand. The whole burst is parsed and its route entries are
// prefetched before the first one is looked at.

#include "longest_prefix.h"

struct next_hop {
    uint8_t macs[12]; // destination and source, as in the packet
    uint32_t port;
};

static struct next_hop *next_hops;

static void load_tables(const struct workload *workload) {
    load_routes(find_section(workload, "routes"));
    struct section section = find_section(workload, "hops");
    next_hops = allocate_table(section.length_bytes);
    memcpy(next_hops, section.content, section.length_bytes);
}

// Whether the header's words add up, in one's complement, to 0xffff.
static inline int is_checksum_right(const uint8_t *header) {
    uint64_t first, second;
    uint32_t third;
    memcpy(&first, header, 8);
    memcpy(&second, header + 8, 8);
    memcpy(&third, header + 16, 4);
    // The order of bytes does not matter to the sum.
    uint64_t sum = (first & 0xffffffff) + (first >> 32) + (second & 0xffffffff) + (second >> 32) + third;
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    // v1model compares with the computed checksum, which is never 0xffff.
    return ((sum & 0xffff) + (sum >> 16)) == 0xffff && load_16(header + 10) != 0xffff;
}

static inline unsigned forward_burst(struct packet *burst, unsigned count, struct output *outputs) {
    uint32_t destinations[BURST_PACKETS];
    uint8_t kept[BURST_PACKETS];
    unsigned kept_count = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *bytes = burst[i].bytes;
        // EtherType IPv4, then version 4 with a header of five words.
        uint32_t kind = 0;
        if (burst[i].length_bytes >= 34) memcpy(&kind, bytes + 12, 4);
        int keeps = (kind & 0xffffff) == 0x450008 && bytes[22] > 1 && is_checksum_right(bytes + 14);
        destinations[kept_count] = load_32(bytes + 30);
        prefetch_route(destinations[kept_count]);
        kept[kept_count] = i;
        kept_count += keeps;
    }
    unsigned sent = 0;
    for (unsigned i = 0; i < kept_count; i++) {
        unsigned route = find_route(destinations[i]);
        if (__builtin_expect(!route, 0)) continue;
        const struct next_hop *hop = &next_hops[route - 1];
        struct packet *packet = &burst[kept[i]];
        uint8_t *bytes = packet->bytes;
        memcpy(bytes, hop->macs, 12);
        bytes[22]--;
        // One less in the high byte of a word: 0x0100 more in the checksum (RFC 1624).
        uint32_t checksum = load_16(bytes + 24) + 0x0100u;
        store_16(bytes + 24, checksum + (checksum >= 0xffff));
        outputs[sent++] = (struct output){bytes, packet->length_bytes, hop->port, kept[i]};
    }
    return sent;
}

#include "measuring_main.h"
