// SPDX-License-Identifier: Apache-2.0
// The access list of ../p4/access_list.p4 by hand. A short list is compared whole, sixteen rules a
// vector. A long one is searched by its masks: rules of one mask share a hash table, tables with the
// most urgent rules come first, and the search ends when no later table can win. The hashes of all
// masks are computed as vectors, and a filter of one bit a hash spares most of the tables.

#include "forwarding.h"

// Rules are in order of urgency. Fields have the width of a vector's element.
struct rule {
    uint32_t source, destination, ports, protocol;
    uint32_t source_mask, destination_mask, ports_mask, protocol_mask;
    uint32_t permits;
};

enum { SHORT_LIST_RULES = 256, LARGEST_TUPLES = 64, LARGEST_PORT = 511 };
enum { FILTER_BITS_LOG = 12 };

static uint32_t rule_count;
static struct rule *rules;
static int16_t wires[LARGEST_PORT + 1]; // from ingress to egress port, -1 for none

typedef uint32_t lanes __attribute__((vector_size(64)));
enum { LANES = 16 };

struct block {
    lanes source, destination, ports, protocol;
    lanes source_mask, destination_mask, ports_mask, protocol_mask;
};

static struct block *blocks;
static unsigned block_count;

// Addresses in one word, ports and protocol in another.
struct key {
    uint64_t addresses, rest;
};

struct entry {
    uint64_t addresses;
    uint64_t rest; // 40 bits of the key, then the rule's number plus 1; 0 is free
};

static unsigned tuple_count;
static uint64_t address_masks[LARGEST_TUPLES], rest_masks[LARGEST_TUPLES];
static uint32_t best_rules[LARGEST_TUPLES];
static struct entry *tuple_entries[LARGEST_TUPLES];
static uint32_t tuple_place_masks[LARGEST_TUPLES];
static uint32_t (*filters)[1 << (FILTER_BITS_LOG - 5)];

static inline uint64_t hash_key(uint64_t addresses, uint64_t rest) {
    uint64_t mixed = (addresses ^ rest * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 32;
}

static void load_blocks(void) {
    block_count = (rule_count + LANES - 1) / LANES;
    blocks = allocate_table(block_count * sizeof *blocks);
    for (unsigned i = 0; i < block_count * LANES; i++) {
        struct block *block = &blocks[i / LANES];
        unsigned lane = i % LANES;
        if (i >= rule_count) {
            // Nothing equals a one outside the mask of a protocol.
            block->protocol[lane] = 0x100;
            block->protocol_mask[lane] = 0x100;
            continue;
        }
        block->source[lane] = rules[i].source;
        block->destination[lane] = rules[i].destination;
        block->ports[lane] = rules[i].ports;
        block->protocol[lane] = rules[i].protocol;
        block->source_mask[lane] = rules[i].source_mask;
        block->destination_mask[lane] = rules[i].destination_mask;
        block->ports_mask[lane] = rules[i].ports_mask;
        block->protocol_mask[lane] = rules[i].protocol_mask;
    }
}

static unsigned tuple_of(struct key mask) {
    for (unsigned i = 0; i < tuple_count; i++) {
        if (address_masks[i] == mask.addresses && rest_masks[i] == mask.rest) return i;
    }
    if (tuple_count == LARGEST_TUPLES) fail("too many masks in", "rules");
    address_masks[tuple_count] = mask.addresses;
    rest_masks[tuple_count] = mask.rest;
    return tuple_count++;
}

static void load_tuples(void) {
    uint32_t *tuples = malloc(rule_count * sizeof *tuples), sizes[LARGEST_TUPLES] = {0};
    // The most urgent rule comes first, so tuples are found in the order of their best rules.
    for (uint32_t i = 0; i < rule_count; i++) {
        struct rule *rule = &rules[i];
        struct key mask = {(uint64_t)rule->source_mask << 32 | rule->destination_mask,
                           (uint64_t)rule->protocol_mask << 32 | rule->ports_mask};
        tuples[i] = tuple_of(mask);
        if (!sizes[tuples[i]]++) best_rules[tuples[i]] = i;
    }
    filters = allocate_table(LARGEST_TUPLES * sizeof *filters);
    for (unsigned i = 0; i < tuple_count; i++) {
        uint32_t places = 8;
        while (places < 2 * sizes[i]) places *= 2;
        tuple_place_masks[i] = places - 1;
        tuple_entries[i] = allocate_table(places * sizeof(struct entry));
    }
    for (uint32_t i = 0; i < rule_count; i++) {
        struct rule *rule = &rules[i];
        unsigned tuple = tuples[i];
        uint64_t addresses = (uint64_t)rule->source << 32 | rule->destination;
        uint64_t rest = (uint64_t)rule->protocol << 32 | rule->ports;
        uint64_t hash = hash_key(addresses, rest);
        uint32_t at = hash & tuple_place_masks[tuple];
        struct entry *entries = tuple_entries[tuple];
        const uint64_t key_bits = 0xffffffffff;
        while (entries[at].rest
               && (entries[at].addresses != addresses || (entries[at].rest & key_bits) != rest)) {
            at = (at + 1) & tuple_place_masks[tuple];
        }
        // An equal key of a more urgent rule is there already.
        if (entries[at].rest) continue;
        entries[at] = (struct entry){addresses, rest | (uint64_t)(i + 1) << 40};
        uint32_t bit = hash & ((1 << FILTER_BITS_LOG) - 1);
        filters[tuple][bit >> 5] |= 1u << (bit & 31);
    }
    free(tuples);
}

static void load_tables(const struct workload *workload) {
    struct section section = find_section(workload, "rules");
    rule_count = section.length_bytes / sizeof *rules;
    rules = malloc(section.length_bytes + 1);
    memcpy(rules, section.content, section.length_bytes);
    if (rule_count <= SHORT_LIST_RULES) {
        load_blocks();
    } else {
        load_tuples();
    }
    memset(wires, 0xff, sizeof wires);
    section = find_section(workload, "wires");
    for (size_t i = 0; i < section.length_bytes / 8; i++) {
        uint32_t pair[2];
        memcpy(pair, section.content + 8 * i, 8);
        wires[pair[0] & LARGEST_PORT] = pair[1];
    }
}

static inline uint32_t first_in_blocks(uint32_t source, uint32_t destination, uint32_t ports,
                                       uint32_t protocol) {
    static const lanes numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    lanes best = numbers | 0xffffff00u;
    for (unsigned i = block_count; i-- > 0;) {
        const struct block *block = &blocks[i];
        lanes different = ((block->source ^ source) & block->source_mask)
                          | ((block->destination ^ destination) & block->destination_mask)
                          | ((block->ports ^ ports) & block->ports_mask)
                          | ((block->protocol ^ protocol) & block->protocol_mask);
        lanes number = numbers + i * LANES;
        lanes equal = (lanes)(different == 0);
        best = (number & equal) | (best & ~equal);
    }
    uint32_t first = UINT32_MAX;
    for (unsigned lane = 0; lane < LANES; lane++) {
        first = best[lane] < first ? best[lane] : first;
    }
    return first;
}

static inline uint32_t first_in_tuples(uint64_t addresses, uint64_t rest) {
    uint64_t hashes[LARGEST_TUPLES];
    uint8_t passes[LARGEST_TUPLES];
    for (unsigned i = 0; i < LARGEST_TUPLES; i++) {
        hashes[i] = hash_key(addresses & address_masks[i], rest & rest_masks[i]);
    }
    for (unsigned i = 0; i < LARGEST_TUPLES; i++) {
        uint32_t bit = hashes[i] & ((1 << FILTER_BITS_LOG) - 1);
        passes[i] = filters[i][bit >> 5] >> (bit & 31) & 1;
    }
    uint64_t candidates = 0;
    for (unsigned i = 0; i < LARGEST_TUPLES; i++) {
        candidates |= (uint64_t)passes[i] << i;
    }
    uint32_t first = UINT32_MAX;
    for (; candidates; candidates &= candidates - 1) {
        unsigned tuple = __builtin_ctzll(candidates);
        if (best_rules[tuple] > first) break;
        uint64_t wanted_addresses = addresses & address_masks[tuple];
        uint64_t wanted_rest = rest & rest_masks[tuple];
        const struct entry *entries = tuple_entries[tuple];
        for (uint32_t at = hashes[tuple] & tuple_place_masks[tuple]; entries[at].rest;
             at = (at + 1) & tuple_place_masks[tuple]) {
            if (entries[at].addresses == wanted_addresses
                && (entries[at].rest & 0xffffffffff) == wanted_rest) {
                uint32_t found = (uint32_t)(entries[at].rest >> 40) - 1;
                first = found < first ? found : first;
                break;
            }
        }
    }
    return first;
}

static inline unsigned forward_burst(struct packet *burst, unsigned count, struct output *outputs) {
    unsigned sent = 0;
    for (unsigned i = 0; i < count; i++) {
        struct packet *packet = &burst[i];
        const uint8_t *bytes = packet->bytes;
        uint32_t kind;
        memcpy(&kind, bytes + 12, 4);
        // TCP or UDP over IPv4 without options, first fragment.
        if (packet->length_bytes < 34 || (kind & 0xffffff) != 0x450008) continue;
        if (load_16(bytes + 20) & 0x1fff) continue;
        uint32_t protocol = bytes[23];
        uint32_t header_bytes = protocol == 6 ? 20 : 8;
        if ((protocol != 6 && protocol != 17) || packet->length_bytes < 34 + header_bytes) continue;
        uint32_t source = load_32(bytes + 26), destination = load_32(bytes + 30);
        uint32_t ports = load_32(bytes + 34);
        uint32_t first =
            rule_count <= SHORT_LIST_RULES
                ? first_in_blocks(source, destination, ports, protocol)
                : first_in_tuples((uint64_t)source << 32 | destination, (uint64_t)protocol << 32 | ports);
        if (first >= rule_count || !rules[first].permits) continue;
        int port = wires[packet->ingress_port & LARGEST_PORT];
        if (port < 0) continue;
        outputs[sent++] = (struct output){bytes, packet->length_bytes, port, i};
    }
    return sent;
}

#include "measuring_main.h"
