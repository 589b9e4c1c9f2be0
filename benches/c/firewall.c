// SPDX-License-Identifier: Apache-2.0
// The stateful firewall of examples/stateful_firewall by hand. CRCs are linear, so both hashes of a
// flow come from one table of 64-bit words for each of its 13 bytes.

#include "forwarding.h"

enum { FILTER_CELLS = 4096, FLOW_BYTES = 13, LARGEST_PORT = 511 };
enum { NOT_TRACKED, FROM_INSIDE_OPENING, FROM_INSIDE, FROM_OUTSIDE_ALLOWED, REFUSED, UNSUPPORTED };

static uint8_t filter_rows[2][FILTER_CELLS];
static uint64_t verdicts[6];

struct side {
    uint16_t egress_port;
    uint8_t is_known, is_inside;
};
static struct side sides[LARGEST_PORT + 1];

// CRC-32 in the upper half, CRC-16 in the lower, of each byte at each place.
static uint64_t flow_hashes[FLOW_BYTES][256];
static uint64_t empty_flow_hash;

static uint32_t reflected_crc(const uint8_t *bytes, uint32_t polynomial, uint32_t remainder) {
    for (unsigned i = 0; i < FLOW_BYTES; i++) {
        remainder ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            remainder = remainder >> 1 ^ (remainder & 1 ? polynomial : 0);
        }
    }
    return remainder;
}

static void load_tables(const struct workload *workload) {
    struct section section = find_section(workload, "sides");
    for (size_t i = 0; i < section.length_bytes / 12; i++) {
        uint32_t record[3]; // ingress port, egress port, whether it is inside
        memcpy(record, section.content + 12 * i, 12);
        sides[record[0] & LARGEST_PORT] = (struct side){record[1], 1, record[2]};
    }
    section = find_section(workload, "allowed");
    for (size_t i = 0; i < section.length_bytes / 8; i++) {
        uint32_t record[2]; // row, cell
        memcpy(record, section.content + 8 * i, 8);
        filter_rows[record[0]][record[1]] = 1;
    }
    uint8_t bytes[FLOW_BYTES] = {0};
    empty_flow_hash = (uint64_t)~reflected_crc(bytes, 0xedb88320, UINT32_MAX) << 32;
    for (unsigned at = 0; at < FLOW_BYTES; at++) {
        for (unsigned value = 0; value < 256; value++) {
            bytes[at] = value;
            flow_hashes[at][value] = (uint64_t)reflected_crc(bytes, 0xedb88320, 0) << 32
                                     | reflected_crc(bytes, 0xa001, 0);
        }
        bytes[at] = 0;
    }
}

// In the order in which the program hashes: inside address, outside address, inside port, outside
// port, protocol.
static inline uint64_t hash_flow(uint64_t addresses, uint32_t ports, uint8_t protocol) {
    uint64_t hash = empty_flow_hash ^ flow_hashes[12][protocol];
    for (unsigned i = 0; i < 8; i++) hash ^= flow_hashes[i][addresses >> 8 * i & 0xff];
    for (unsigned i = 0; i < 4; i++) hash ^= flow_hashes[8 + i][ports >> 8 * i & 0xff];
    return hash;
}

static inline int passes(const struct packet *packet, const struct side *side) {
    const uint8_t *bytes = packet->bytes;
    uint32_t length = packet->length_bytes;
    uint16_t kind;
    memcpy(&kind, bytes + 12, 2);
    if (length < 14) kind = 0;
    if (__builtin_expect(kind == 0x0608, 0)) {
        verdicts[NOT_TRACKED]++;
        return 1;
    }
    if (__builtin_expect(kind != 0x0008 || length < 34, 0)) {
        verdicts[UNSUPPORTED]++;
        return 0;
    }
    uint8_t protocol = bytes[23];
    if (__builtin_expect(protocol == 1, 0)) {
        verdicts[NOT_TRACKED]++;
        return 1;
    }
    int is_tcp = protocol == 6;
    uint32_t needed = is_tcp ? 54 : 42;
    if (__builtin_expect((!is_tcp && protocol != 17) || (bytes[14] & 15) != 5
                             || load_16(bytes + 20) & 0x1fff || length < needed,
                         0)) {
        verdicts[UNSUPPORTED]++;
        return 0;
    }
    uint64_t addresses;
    uint32_t ports;
    memcpy(&addresses, bytes + 26, 8);
    memcpy(&ports, bytes + 34, 4);
    if (!side->is_inside) {
        addresses = addresses >> 32 | addresses << 32;
        ports = ports >> 16 | ports << 16;
    }
    uint64_t hash = hash_flow(addresses, ports, protocol);
    uint8_t *first = &filter_rows[0][hash % FILTER_CELLS];
    uint8_t *second = &filter_rows[1][(hash >> 32) % FILTER_CELLS];
    if (side->is_inside) {
        // Any UDP, and SYN without ACK.
        int opens = !is_tcp || (bytes[47] & 0x12) == 0x02;
        if (opens) *first = *second = 1;
        verdicts[opens ? FROM_INSIDE_OPENING : FROM_INSIDE]++;
        return 1;
    }
    int is_allowed = *first & *second;
    verdicts[is_allowed ? FROM_OUTSIDE_ALLOWED : REFUSED]++;
    return is_allowed;
}

static inline unsigned forward_burst(struct packet *burst, unsigned count, struct output *outputs) {
    unsigned sent = 0;
    for (unsigned i = 0; i < count; i++) {
        struct packet *packet = &burst[i];
        const struct side *side = &sides[packet->ingress_port & LARGEST_PORT];
        outputs[sent] = (struct output){packet->bytes, packet->length_bytes, side->egress_port, i};
        sent += side->is_known && passes(packet, side);
    }
    return sent;
}

#include "measuring_main.h"
