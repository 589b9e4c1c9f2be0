// SPDX-License-Identifier: Apache-2.0
// The access list of ../p4/access_list.p4 by hand. A short list is compared whole, sixteen rules a
// vector. A long one is searched by its masks: rules of one mask share a hash table, tables with the
// most urgent rules come first, and the search ends when no later table can win. Which masks can match
// at all, the addresses tell: each address lies in an interval that knows the masks of its rules.

#include "forwarding.h"

// Rules are in order of urgency. Fields have the width of a vector's element.
struct rule {
    uint32_t source, destination, ports, protocol;
    uint32_t source_mask, destination_mask, ports_mask, protocol_mask;
    uint32_t permits;
};

enum { SHORT_LIST_RULES = 256, LARGEST_TUPLES = 64, LARGEST_PORT = 511 };

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

#define KEY_BITS 0xffffffffffu

struct entry {
    uint64_t addresses;
    uint64_t rest; // 40 bits of the key, whether it permits, the rule's number plus 1; 0 is free
};

static unsigned tuple_count;
static uint64_t address_masks[LARGEST_TUPLES], rest_masks[LARGEST_TUPLES];
static uint32_t best_rules[LARGEST_TUPLES];
static struct entry *tuple_entries[LARGEST_TUPLES];
static uint32_t tuple_place_masks[LARGEST_TUPLES];

// Intervals of addresses, in order; those that begin in one block of 65,536 addresses follow each
// other. A bit of `tuples` says that some rule of that tuple has the interval's addresses.
struct interval {
    uint32_t first_address;
    uint64_t tuples;
};

struct intervals {
    struct interval *list;
    uint32_t first_of_block[65537];
};

static struct intervals sources, destinations;

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

static int by_address(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

// `is_source` says which address of the rules.
static void load_intervals(struct intervals *intervals, int is_source, const uint32_t *tuples) {
    uint32_t *firsts = malloc((2 * (size_t)rule_count + 1) * sizeof *firsts);
    size_t count = 0;
    firsts[count++] = 0;
    for (uint32_t i = 0; i < rule_count; i++) {
        uint32_t first = is_source ? rules[i].source : rules[i].destination;
        uint32_t mask = is_source ? rules[i].source_mask : rules[i].destination_mask;
        firsts[count++] = first;
        if ((first | ~mask) != UINT32_MAX) firsts[count++] = (first | ~mask) + 1;
    }
    qsort(firsts, count, sizeof *firsts, by_address);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        if (!distinct || firsts[distinct - 1] != firsts[i]) firsts[distinct++] = firsts[i];
    }
    intervals->list = allocate_table(distinct * sizeof *intervals->list);
    for (size_t i = 0; i < distinct; i++) {
        struct interval *interval = &intervals->list[i];
        interval->first_address = firsts[i];
        for (uint32_t at = 0; at < rule_count; at++) {
            uint32_t value = is_source ? rules[at].source : rules[at].destination;
            uint32_t mask = is_source ? rules[at].source_mask : rules[at].destination_mask;
            if ((firsts[i] & mask) == value) interval->tuples |= (uint64_t)1 << tuples[at];
        }
    }
    size_t at = 0;
    for (uint32_t block = 0; block <= 65536; block++) {
        while (at < distinct && (uint64_t)firsts[at] < (uint64_t)block << 16) at++;
        intervals->first_of_block[block] = at;
    }
    free(firsts);
}

// Where to look for an address is fetched in two steps, each for the whole burst.
static inline void prefetch_block(const struct intervals *intervals, uint32_t address) {
    __builtin_prefetch(&intervals->first_of_block[address >> 16]);
}

static inline void prefetch_interval(const struct intervals *intervals, uint32_t address) {
    __builtin_prefetch(&intervals->list[intervals->first_of_block[address >> 16]]);
}

// The tuples with a rule for this address.
static inline uint64_t tuples_of(const struct intervals *intervals, uint32_t address) {
    uint32_t at = intervals->first_of_block[address >> 16];
    uint32_t end = intervals->first_of_block[(address >> 16) + 1];
    while (at < end && intervals->list[at].first_address <= address) at++;
    // The first interval begins at address 0, so there is one before.
    return intervals->list[at - 1].tuples;
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
        uint32_t at = hash_key(addresses, rest) & tuple_place_masks[tuple];
        struct entry *entries = tuple_entries[tuple];
        while (entries[at].rest
               && (entries[at].addresses != addresses || (entries[at].rest & KEY_BITS) != rest)) {
            at = (at + 1) & tuple_place_masks[tuple];
        }
        // An equal key of a more urgent rule is there already.
        if (entries[at].rest) continue;
        uint64_t rule_bits = (uint64_t)(i + 1) << 1 | !!rule->permits;
        entries[at] = (struct entry){addresses, rest | rule_bits << 40};
    }
    load_intervals(&sources, 1, tuples);
    load_intervals(&destinations, 0, tuples);
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

static inline struct entry *first_place(unsigned tuple, uint64_t addresses, uint64_t rest) {
    uint64_t hash = hash_key(addresses & address_masks[tuple], rest & rest_masks[tuple]);
    return &tuple_entries[tuple][hash & tuple_place_masks[tuple]];
}

// Whether the first rule that matches permits.
static inline int tuples_permit(uint64_t candidates, uint64_t addresses, uint64_t rest) {
    // Number plus 1, then whether it permits.
    uint32_t best = UINT32_MAX - 1;
    for (; candidates; candidates &= candidates - 1) {
        unsigned tuple = __builtin_ctzll(candidates);
        if (best_rules[tuple] >= best >> 1) break;
        uint64_t wanted_addresses = addresses & address_masks[tuple];
        uint64_t wanted_rest = rest & rest_masks[tuple];
        const struct entry *entries = tuple_entries[tuple];
        for (uint32_t at = first_place(tuple, addresses, rest) - entries; entries[at].rest;
             at = (at + 1) & tuple_place_masks[tuple]) {
            if (entries[at].addresses == wanted_addresses
                && (entries[at].rest & KEY_BITS) == wanted_rest) {
                uint32_t found = entries[at].rest >> 40;
                best = found < best ? found : best;
                break;
            }
        }
    }
    return best & 1;
}

// What the parser keeps of a packet.
struct flow {
    uint32_t source, destination, ports, protocol;
    uint64_t candidates;
};

static inline uint64_t addresses_of(const struct flow *flow) {
    return (uint64_t)flow->source << 32 | flow->destination;
}

static inline uint64_t rest_of(const struct flow *flow) {
    return (uint64_t)flow->protocol << 32 | flow->ports;
}

// Finds the tuples that may match, and fetches where the first of them begins to look.
static inline void prefetch_entries(struct flow *flows, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        prefetch_interval(&sources, flows[i].source);
        prefetch_interval(&destinations, flows[i].destination);
    }
    for (unsigned i = 0; i < count; i++) {
        uint64_t candidates =
            tuples_of(&sources, flows[i].source) & tuples_of(&destinations, flows[i].destination);
        flows[i].candidates = candidates;
        if (!candidates) continue;
        unsigned tuple = __builtin_ctzll(candidates);
        __builtin_prefetch(first_place(tuple, addresses_of(&flows[i]), rest_of(&flows[i])));
    }
}

static inline unsigned forward_burst(struct packet *burst, unsigned count, struct output *outputs) {
    struct flow flows[BURST_PACKETS];
    uint8_t kept[BURST_PACKETS];
    unsigned kept_count = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *bytes = burst[i].bytes;
        uint32_t kind;
        memcpy(&kind, bytes + 12, 4);
        // TCP or UDP over IPv4 without options, first fragment.
        if (burst[i].length_bytes < 34 || (kind & 0xffffff) != 0x450008) continue;
        if (load_16(bytes + 20) & 0x1fff) continue;
        uint32_t protocol = bytes[23];
        uint32_t header_bytes = protocol == 6 ? 20 : 8;
        if (protocol != 6 && protocol != 17) continue;
        if (burst[i].length_bytes < 34 + header_bytes) continue;
        struct flow flow = {load_32(bytes + 26), load_32(bytes + 30), load_32(bytes + 34), protocol, 0};
        if (rule_count > SHORT_LIST_RULES) {
            prefetch_block(&sources, flow.source);
            prefetch_block(&destinations, flow.destination);
        }
        flows[kept_count] = flow;
        kept[kept_count++] = i;
    }
    if (rule_count > SHORT_LIST_RULES) prefetch_entries(flows, kept_count);
    unsigned sent = 0;
    for (unsigned i = 0; i < kept_count; i++) {
        const struct flow *flow = &flows[i];
        int permits;
        if (rule_count <= SHORT_LIST_RULES) {
            uint32_t first =
                first_in_blocks(flow->source, flow->destination, flow->ports, flow->protocol);
            permits = first < rule_count && rules[first].permits;
        } else {
            permits = tuples_permit(flow->candidates, addresses_of(flow), rest_of(flow));
        }
        const struct packet *packet = &burst[kept[i]];
        int port = wires[packet->ingress_port & LARGEST_PORT];
        outputs[sent] = (struct output){packet->bytes, packet->length_bytes, port, kept[i]};
        sent += permits && port >= 0;
    }
    return sent;
}

#include "measuring_main.h"
