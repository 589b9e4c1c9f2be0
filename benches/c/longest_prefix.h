// SPDX-License-Identifier: Apache-2.0
// Longest-prefix match of IPv4 addresses in one memory access, two for prefixes beyond 24 bits: a
// table of 2^24 entries by the address's first 24 bits, and groups of 256 for the last 8.

#ifndef LONGEST_PREFIX_H
#define LONGEST_PREFIX_H

#include "forwarding.h"

// An entry is 0 for no route, the value plus 1, or, with the top bit set, the number of a group.
enum { GROUP = 0x8000, LARGEST_GROUPS = 0x8000 };

static uint16_t *by_24_bits;
static uint16_t (*groups)[256];
static unsigned groups_used;

struct route {
    uint32_t address; // in the machine's order
    uint32_t length_bits;
    uint32_t value; // below 0x7fff
};

static int by_length(const void *left, const void *right) {
    const struct route *a = left, *b = right;
    return (a->length_bits > b->length_bits) - (a->length_bits < b->length_bits);
}

// Shorter prefixes first, so that longer ones overwrite them.
static void load_routes(struct section section) {
    size_t count = section.length_bytes / sizeof(struct route);
    struct route *routes = malloc(section.length_bytes + 1);
    memcpy(routes, section.content, section.length_bytes);
    qsort(routes, count, sizeof *routes, by_length);
    by_24_bits = allocate_table(sizeof(uint16_t) << 24);
    groups = allocate_table(LARGEST_GROUPS * sizeof *groups);
    for (size_t i = 0; i < count; i++) {
        struct route route = routes[i];
        uint16_t entry = route.value + 1;
        uint32_t first = route.address >> 8;
        if (route.length_bits <= 24) {
            for (uint32_t at = 0; at < 1u << (24 - route.length_bits); at++) {
                by_24_bits[first + at] = entry;
            }
            continue;
        }
        if (!(by_24_bits[first] & GROUP)) {
            if (groups_used == LARGEST_GROUPS) fail("too many long prefixes", "routes");
            for (unsigned at = 0; at < 256; at++) {
                groups[groups_used][at] = by_24_bits[first];
            }
            by_24_bits[first] = GROUP | groups_used++;
        }
        uint16_t *group = groups[by_24_bits[first] & ~GROUP];
        for (unsigned at = 0; at < 1u << (32 - route.length_bits); at++) {
            group[(route.address & 0xff) + at] = entry;
        }
    }
    free(routes);
}

static inline void prefetch_route(uint32_t address) {
    __builtin_prefetch(&by_24_bits[address >> 8]);
}

// The value plus 1, or 0.
static inline unsigned find_route(uint32_t address) {
    unsigned entry = by_24_bits[address >> 8];
    if (__builtin_expect(entry & GROUP, 0)) entry = groups[entry & ~GROUP][address & 0xff];
    return entry;
}

#endif
