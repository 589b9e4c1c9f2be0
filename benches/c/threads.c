// SPDX-License-Identifier: Apache-2.0
// One program by hand on threads without MP5: locks by cell, and RSS. Each packet computes, then updates a cell of its flow and one
// of its destination, which other flows share; updates do not commute (cell = 31 * cell + id + 1), so another order gives other values.
//
//   PROGRAM PACKETS THREADS LOOPS    LOOPS is the computation of a packet, in steps of xorshift
//
// locks: packet i is of thread i mod THREADS; each cell has a lock. rss: a flow is of one thread, cells are read and written without a
// lock. Prints a line for each: its name, nanoseconds a packet, and the packets and cells that differ from the sequential run.

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FLOWS = 1024, DESTINATIONS = 64, CELLS = FLOWS + DESTINATIONS };

static long packets;
static int threads;
static long loops;
static uint32_t *flow_of;
static uint64_t *values;
static _Atomic uint64_t cells[CELLS];
static pthread_mutex_t locks[CELLS];
static pthread_barrier_t barrier;

static uint64_t compute(uint64_t seed, long steps) {
    uint64_t x = seed | 1;
    for (long step = 0; step < steps; step++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static uint64_t update(uint64_t cell, long id) { return cell * 31 + (uint64_t)id + 1; }

static void run_packet(long id, int with_locks) {
    uint32_t flow = flow_of[id];
    uint32_t accessed[2] = {flow, FLOWS + flow % DESTINATIONS};
    uint64_t value = compute((uint64_t)id, loops) & 1;
    for (int at = 0; at < 2; at++) {
        uint32_t cell = accessed[at];
        if (with_locks) pthread_mutex_lock(&locks[cell]);
        uint64_t found = atomic_load_explicit(&cells[cell], memory_order_relaxed);
        atomic_store_explicit(&cells[cell], update(found, id), memory_order_relaxed);
        if (with_locks) pthread_mutex_unlock(&locks[cell]);
        value = value * 33 ^ found;
    }
    values[id] = value;
}

struct work {
    int thread;
    int is_rss;
};

static void *run_thread(void *argument) {
    struct work *work = argument;
    pthread_barrier_wait(&barrier);
    for (long id = 0; id < packets; id++) {
        uint64_t key = work->is_rss ? flow_of[id] * 2654435761u >> 16 : (uint64_t)id;
        if ((int)(key % (uint64_t)threads) == work->thread) run_packet(id, !work->is_rss);
    }
    return NULL;
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    packets = atol(arguments[1]);
    threads = atoi(arguments[2]);
    loops = atol(arguments[3]);
    flow_of = malloc((size_t)packets * sizeof *flow_of);
    values = malloc((size_t)packets * sizeof *values);
    uint64_t *expected = malloc((size_t)packets * sizeof *expected);
    uint64_t expected_cells[CELLS];
    for (long id = 0; id < packets; id++) flow_of[id] = (uint32_t)(compute((uint64_t)id + 7, 9) % FLOWS);
    for (int cell = 0; cell < CELLS; cell++) pthread_mutex_init(&locks[cell], NULL);
    for (long id = 0; id < packets; id++) run_packet(id, 0);
    memcpy(expected, values, (size_t)packets * sizeof *values);
    for (int cell = 0; cell < CELLS; cell++) expected_cells[cell] = cells[cell];
    for (int is_rss = 0; is_rss < 2; is_rss++) {
        for (int cell = 0; cell < CELLS; cell++) cells[cell] = 0;
        pthread_t *handles = malloc((size_t)threads * sizeof *handles);
        struct work *work = malloc((size_t)threads * sizeof *work);
        pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
        for (int thread = 0; thread < threads; thread++) {
            work[thread] = (struct work){thread, is_rss};
            if (pthread_create(&handles[thread], NULL, run_thread, &work[thread]) != 0) return 1;
        }
        double start = now_ns();
        pthread_barrier_wait(&barrier);
        for (int thread = 0; thread < threads; thread++) pthread_join(handles[thread], NULL);
        double taken = (now_ns() - start) / (double)packets;
        long other_packets = 0, other_cells = 0;
        for (long id = 0; id < packets; id++) other_packets += values[id] != expected[id];
        for (int cell = 0; cell < CELLS; cell++) other_cells += cells[cell] != expected_cells[cell];
        printf("%s %.0f %ld %ld\n", is_rss ? "rss" : "locks", taken, other_packets, other_cells);
        free(handles);
        free(work);
    }
    return 0;
}
