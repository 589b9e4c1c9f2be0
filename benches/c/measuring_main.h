// SPDX-License-Identifier: Apache-2.0
// The program around a workload: a ring of packet buffers, the loop that is timed, and three modes.
//
//   PROGRAM FILE serve              reads "ring NAME" and "round COUNT" from its input, and answers a
//                                   round with nanoseconds, the number of outputs, and
//                                   nanoseconds of this thread on its core
//   PROGRAM FILE count NAME COUNT   forwards so many packets in counted_packets(), for callgrind
//   PROGRAM FILE check OUTPUT       forwards the section "check" once and writes every output
//
// Before a packet is forwarded its first 64 bytes are set back to what they were, inside the timed
// loop; the other side of the benchmark does the same.

#ifndef MEASURING_MAIN_H
#define MEASURING_MAIN_H

#include "forwarding.h"
#include <time.h>

// A buffer has the size of DPDK's usual one, so that neighbours do not fall on the same cache sets.
enum { BUFFER_BYTES = 2304, HEADROOM_BYTES = 64, RESTORED_BYTES = 64 };

struct ring {
    char name[8];
    unsigned count;
    unsigned next;
    struct packet *packets;
    uint8_t (*pristine)[RESTORED_BYTES];
};

static struct ring make_ring(const struct workload *workload, const char *name) {
    struct section section = find_section(workload, name);
    uint32_t count;
    memcpy(&count, section.content, 4);
    struct ring ring = {.count = count};
    strncpy(ring.name, name, sizeof ring.name - 1);
    ring.packets = allocate_table(count * sizeof *ring.packets);
    ring.pristine = allocate_table((size_t)count * RESTORED_BYTES);
    uint8_t *buffers = allocate_table((size_t)count * BUFFER_BYTES);
    const uint8_t *at = section.content + 4;
    for (unsigned i = 0; i < count; i++) {
        struct packet *packet = &ring.packets[i];
        memcpy(&packet->ingress_port, at, 4);
        memcpy(&packet->length_bytes, at + 4, 4);
        packet->bytes = buffers + (size_t)i * BUFFER_BYTES + HEADROOM_BYTES;
        memcpy(packet->bytes, at + 8, packet->length_bytes);
        memcpy(ring.pristine[i], packet->bytes, RESTORED_BYTES);
        at += 8 + ((packet->length_bytes + 3) & ~3u);
    }
    return ring;
}

static uint64_t forward_packets(struct ring *ring, uint64_t count) {
    struct packet burst[BURST_PACKETS];
    struct output outputs[OUTPUTS_A_BURST];
    uint64_t sent = 0, ports = 0;
    for (uint64_t done = 0; done < count; done += BURST_PACKETS) {
        unsigned ahead = ring->next + BURST_PACKETS < ring->count ? ring->next + BURST_PACKETS : 0;
        for (unsigned i = 0; i < BURST_PACKETS; i++) {
            burst[i] = ring->packets[ring->next + i];
            __builtin_prefetch(ring->packets[ahead + i].bytes, 1);
            memcpy(burst[i].bytes, ring->pristine[ring->next + i], RESTORED_BYTES);
        }
        ring->next = ahead;
        unsigned number = forward_burst(burst, BURST_PACKETS, outputs);
        for (unsigned i = 0; i < number; i++) {
            ports += outputs[i].port;
        }
        sent += number;
    }
    // The sender inspects every output.
    __asm__ volatile("" ::"r"(ports));
    return sent;
}

__attribute__((noinline)) static uint64_t counted_packets(struct ring *ring, uint64_t count) {
    return forward_packets(ring, count);
}

static void check(const struct workload *workload, const char *path) {
    struct ring ring = make_ring(workload, "check");
    FILE *file = fopen(path, "wb");
    if (!file) fail("cannot write", path);
    struct packet burst[BURST_PACKETS];
    struct output outputs[OUTPUTS_A_BURST];
    for (unsigned first = 0; first < ring.count; first += BURST_PACKETS) {
        unsigned rest = ring.count - first;
        unsigned count = rest < BURST_PACKETS ? rest : BURST_PACKETS;
        memcpy(burst, ring.packets + first, count * sizeof *burst);
        unsigned number = forward_burst(burst, count, outputs);
        for (unsigned i = 0; i < number; i++) {
            uint32_t head[3] = {first + outputs[i].packet, outputs[i].port, outputs[i].length_bytes};
            fwrite(head, 4, 3, file);
            fwrite(outputs[i].bytes, 1, outputs[i].length_bytes, file);
        }
    }
    // The last record has no packet and says how many digests there were.
    uint32_t last[3] = {UINT32_MAX, digests_sent, 0};
    fwrite(last, 4, 3, file);
    if (fclose(file)) fail("cannot write", path);
}

static long long clock_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void serve(const struct workload *workload) {
    struct ring rings[8];
    unsigned known = 0, current = 0;
    char line[64], name[8];
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long count;
        if (sscanf(line, "ring %7s", name) == 1) {
            for (current = 0; current < known && strcmp(rings[current].name, name); current++) {}
            if (current == known) rings[known++] = make_ring(workload, name);
            puts("ready");
        } else if (sscanf(line, "round %llu", &count) == 1) {
            long long start_ns = clock_ns(CLOCK_MONOTONIC);
            long long start_on_core_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
            uint64_t sent = forward_packets(&rings[current], count);
            long long on_core_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_on_core_ns;
            long long taken_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
            printf("%lld %llu %lld\n", taken_ns, (unsigned long long)sent, on_core_ns);
        }
        fflush(stdout);
    }
}

int main(int count, char **arguments) {
    if (count < 3) fail("usage", "FILE serve | count RING PACKETS | check OUTPUT");
    struct workload workload = read_workload(arguments[1]);
    load_tables(&workload);
    if (!strcmp(arguments[2], "serve")) {
        serve(&workload);
    } else if (!strcmp(arguments[2], "check") && count == 4) {
        check(&workload, arguments[3]);
    } else if (!strcmp(arguments[2], "count") && count == 5) {
        struct ring ring = make_ring(&workload, arguments[3]);
        forward_packets(&ring, ring.count);
        counted_packets(&ring, strtoull(arguments[4], NULL, 10));
    } else {
        fail("no such mode", arguments[2]);
    }
    return 0;
}

#endif
