// SPDX-License-Identifier: Apache-2.0
// The telemetry program of examples/telemetry by hand. A new report goes before the others, so the
// headers in front of it move 8 bytes into the room before the packet.

#include "longest_prefix.h"

enum { ETHERNET_BYTES = 14, HEAD_BYTES = 38, REPORT_BYTES = 8, OPTION_TELEMETRY = 31 };

struct next_hop {
    uint8_t macs[12];
    uint32_t port;
};

static struct next_hop *next_hops;
static uint32_t switch_id;

static void load_tables(const struct workload *workload) {
    load_routes(find_section(workload, "routes"));
    struct section section = find_section(workload, "hops");
    next_hops = allocate_table(section.length_bytes);
    memcpy(next_hops, section.content, section.length_bytes);
    section = find_section(workload, "switch");
    memcpy(&switch_id, section.content, 4);
}

// Whether the header has a telemetry option, 1 or 0, or -1 where it is wrong.
static inline int telemetry_option(const uint8_t *bytes, uint32_t length) {
    uint32_t words = bytes[14] & 15;
    if (words < 5) return -1;
    if (words == 5) return 0;
    if (length < 35) return -1;
    if (bytes[34] != OPTION_TELEMETRY) return 0;
    if (length < HEAD_BYTES) return -1;
    uint32_t reports = load_16(bytes + 36);
    if (reports > 4 || bytes[35] != 4 + 8 * reports || words != 6 + 2 * reports) return -1;
    return length < HEAD_BYTES + REPORT_BYTES * reports ? -1 : 1;
}

static inline unsigned forward_burst(struct packet *burst, unsigned count, struct output *outputs) {
    int8_t options[BURST_PACKETS];
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *bytes = burst[i].bytes;
        uint16_t kind;
        memcpy(&kind, bytes + 12, 2);
        options[i] = -1;
        if (burst[i].length_bytes < 34 || kind != 0x0008 || bytes[22] <= 1) continue;
        prefetch_route(load_32(bytes + 30));
        options[i] = telemetry_option(bytes, burst[i].length_bytes);
    }
    unsigned sent = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] < 0) continue;
        uint8_t *bytes = burst[i].bytes;
        uint32_t length = burst[i].length_bytes;
        unsigned route = find_route(load_32(bytes + 30));
        if (!route) continue;
        const struct next_hop *hop = &next_hops[route - 1];
        // One less in the TTL is 0x0100 less in one's complement.
        uint32_t growth = 0xfeff;
        if (options[i] && (bytes[14] & 15) <= 13) {
            memmove(bytes - REPORT_BYTES, bytes, HEAD_BYTES);
            bytes -= REPORT_BYTES;
            length += REPORT_BYTES;
            bytes[14] += 2;
            store_16(bytes + 16, load_16(bytes + 16) + 8);
            bytes[35] += 8;
            store_16(bytes + 36, load_16(bytes + 36) + 1);
            store_32(bytes + HEAD_BYTES, switch_id);
            // Packets leave at once here, without queues.
            store_32(bytes + HEAD_BYTES + 4, 0);
            growth += 1 + 8 + 8 + 0x0200 + (switch_id >> 16) + (switch_id & 0xffff);
        }
        memcpy(bytes, hop->macs, 12);
        bytes[22]--;
        growth += (uint16_t)~load_16(bytes + 24);
        growth = (growth & 0xffff) + (growth >> 16);
        growth = (growth & 0xffff) + (growth >> 16);
        store_16(bytes + 24, ~growth);
        outputs[sent++] = (struct output){bytes, length, hop->port, i};
    }
    return sent;
}

#include "measuring_main.h"
