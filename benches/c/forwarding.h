// SPDX-License-Identifier: Apache-2.0
// What every workload in C works with: packets, outputs, the file that the benchmark writes for both
// sides, and loads and stores of network byte order. The timed loop is in measuring_main.h.

#ifndef FORWARDING_H
#define FORWARDING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BURST_PACKETS = 32, LARGEST_FLOOD_PORTS = 32 };
enum { OUTPUTS_A_BURST = BURST_PACKETS * LARGEST_FLOOD_PORTS };

struct packet {
    uint8_t *bytes; // with 64 bytes of room before
    uint32_t length_bytes;
    uint32_t ingress_port;
};

struct output {
    const uint8_t *bytes;
    uint32_t length_bytes;
    uint32_t port;
    uint32_t packet; // place in the burst
};

// The file: 8 bytes of magic, then sections of an 8-byte name, a 64-bit length and the content, which
// is filled up to 8 bytes. Numbers are in the machine's order; addresses and MACs in the packet's.
struct workload {
    uint8_t *content;
    size_t length_bytes;
};

struct section {
    const uint8_t *content;
    size_t length_bytes;
};

static inline void fail(const char *what, const char *which) {
    fprintf(stderr, "%s: %s\n", what, which);
    exit(2);
}

static struct workload read_workload(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("cannot open workload", path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    struct workload workload = {malloc(length), length};
    if (fread(workload.content, 1, length, file) != (size_t)length) fail("cannot read", path);
    fclose(file);
    if (length < 8 || memcmp(workload.content, "PLNWRT01", 8)) fail("not a workload", path);
    return workload;
}

static struct section find_section(const struct workload *workload, const char *name) {
    char wanted[8] = {0};
    memcpy(wanted, name, strlen(name));
    for (size_t at = 8; at + 16 <= workload->length_bytes;) {
        uint64_t length;
        memcpy(&length, workload->content + at + 8, 8);
        if (!memcmp(workload->content + at, wanted, 8)) {
            return (struct section){workload->content + at + 16, length};
        }
        at += 16 + ((length + 7) & ~(uint64_t)7);
    }
    fail("the workload has no section", name);
    return (struct section){0};
}

// Zeroed memory for tables, on huge pages where the system has them.
static void *allocate_table(size_t length_bytes) {
    const size_t huge = (size_t)2 << 20;
    size_t rounded = (length_bytes + huge - 1) & ~(huge - 1);
    void *table = NULL;
    if (length_bytes < huge) {
        rounded = (length_bytes + 63) & ~(size_t)63;
        table = aligned_alloc(64, rounded);
    } else {
        table = aligned_alloc(huge, rounded);
        if (table) madvise(table, rounded, MADV_HUGEPAGE);
    }
    if (!table) fail("no memory for", "table");
    memset(table, 0, rounded);
    return table;
}

static inline uint16_t load_16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, 2);
    return __builtin_bswap16(value);
}

static inline uint32_t load_32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

static inline uint64_t load_48(const uint8_t *at) {
    return (uint64_t)load_16(at) << 32 | load_32(at + 2);
}

static inline void store_16(uint8_t *at, uint16_t value) {
    value = __builtin_bswap16(value);
    memcpy(at, &value, 2);
}

static inline void store_32(uint8_t *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

// What a workload counts where its program would send a digest.
static uint64_t digests_sent __attribute__((unused));

// What a workload defines.
static void load_tables(const struct workload *workload);
// Runs a burst to its end and says how many outputs it wrote.
static inline unsigned forward_burst(struct packet *burst, unsigned count, struct output *outputs);

#endif
