// SPDX-License-Identifier: Apache-2.0
// MP5's machine, specialised for one program: PIPELINES pipelines, STAGES stages, arrays of CELLS cells in stages ARRAY_0, ARRAY_1 ...,
// Figure 6 every REMAP_EVERY cycles. Packets are those of `scale::synthetic`: cell = 31 * cell + id + 1, value = 33 * value ^ old cell.
//
//   PROGRAM FILE    FILE has the numbers of flows, packets and rounds; for each flow its accesses (count, then array and cell); for
//                   each packet its cycle and flow, in order of arrival
//
// Prints the last departure, the number of remaps, sums over packets and cells, and the nanoseconds of the fastest round.
// It uses that only stages with arrays need a cycle's work: the stages between two arrays are a delay line.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#ifdef ARRAY_3
constexpr int ARRAY_STAGES[] = {ARRAY_0, ARRAY_1, ARRAY_2, ARRAY_3};
#elif defined(ARRAY_2)
constexpr int ARRAY_STAGES[] = {ARRAY_0, ARRAY_1, ARRAY_2};
#elif defined(ARRAY_1)
constexpr int ARRAY_STAGES[] = {ARRAY_0, ARRAY_1};
#else
constexpr int ARRAY_STAGES[] = {ARRAY_0};
#endif
constexpr int ARRAYS = sizeof ARRAY_STAGES / sizeof *ARRAY_STAGES;
constexpr uint32_t NONE = UINT32_MAX;

struct access {
    uint8_t array;
    uint16_t cell;
};

struct flow {
    uint8_t count;
    access accesses[ARRAYS];
};

struct arrival {
    uint64_t cycle;
    uint32_t flow;
};

// A packet in flight. The place of its phantom in each array's queue stands in `address`.
struct packet {
    uint64_t value;
    uint32_t id, flow;
    uint32_t address[ARRAYS];
    uint8_t pipeline[ARRAYS];
    uint8_t next, next_array;
};

struct entry {
    uint32_t packet;
    bool is_data;
};

// A queue of a stage and pipeline: rings in one order, because all are filled in the order of arrival.
struct queue {
    std::vector<entry> ring = std::vector<entry>(1024);
    uint32_t head = 0, tail = 0;

    uint32_t push(entry added) {
        if (tail - head == ring.size()) {
            std::vector<entry> larger(2 * ring.size());
            for (uint32_t at = head; at != tail; at++)
                larger[at & (larger.size() - 1)] = ring[at & (ring.size() - 1)];
            ring.swap(larger);
        }
        ring[tail & (ring.size() - 1)] = added;
        return tail++;
    }
    entry &at(uint32_t address) { return ring[address & (ring.size() - 1)]; }
};

// The phantoms of one array on their way: a slot for each cycle of the way.
struct channel {
    struct message {
        uint32_t packet;
    };
    std::array<std::array<message, PIPELINES>, STAGES> slots;
    std::array<uint8_t, STAGES> counts{};
};

struct machine {
    uint64_t cells[ARRAYS][PIPELINES][CELLS] = {};
    uint8_t map[ARRAYS][CELLS];
    uint16_t counts[ARRAYS][CELLS] = {};
    uint8_t in_flight[ARRAYS][CELLS] = {};
    queue queues[ARRAYS][PIPELINES];
    channel channels[ARRAYS];
    // Delay lines: in front of array 0, between arrays, behind the last.
    std::array<std::array<uint32_t, PIPELINES>, STAGES + 1> lines[ARRAYS + 1];
    std::vector<packet> packets;
    std::vector<uint32_t> unused;
    uint64_t remaps = 0, last_departure = 0, sum = 0;

    machine() {
        for (auto &line : lines)
            for (auto &slot : line)
                slot.fill(NONE);
        for (auto &array : map)
            for (int cell = 0; cell < CELLS; cell++)
                array[cell] = cell % PIPELINES;
    }
};

static void remap(machine &m) {
    for (int array = 0; array < ARRAYS; array++) {
        uint64_t sums[PIPELINES] = {};
        for (int cell = 0; cell < CELLS; cell++)
            sums[m.map[array][cell]] += m.counts[array][cell];
        int high = 0, low = 0;
        for (int p = 1; p < PIPELINES; p++) {
            if (sums[p] >= sums[high])
                high = p;
            if (sums[p] <= sums[low])
                low = p;
        }
        uint64_t difference = sums[high] - sums[low];
        int best = -1;
        if (difference > 0)
            for (int cell = 0; cell < CELLS; cell++)
                if (m.map[array][cell] == high && 2 * uint64_t(m.counts[array][cell]) < difference
                    && (best < 0 || m.counts[array][cell] > m.counts[array][best]))
                    best = cell;
        if (best >= 0 && m.in_flight[array][best] == 0) {
            m.remaps++;
            m.cells[array][low][best] = m.cells[array][high][best];
            m.map[array][best] = low;
        }
        memset(m.counts[array], 0, sizeof m.counts[array]);
    }
}

// The length of the delay line in front of an array, or behind the last.
constexpr int length(int line) {
    int from = line == 0 ? -1 : ARRAY_STAGES[line - 1];
    int to = line == ARRAYS ? STAGES : ARRAY_STAGES[line];
    return to - from - 1;
}

static void run(machine &m, const std::vector<flow> &flows, const std::vector<arrival> &arrivals) {
    size_t next = 0, left = arrivals.size();
    int spray = 0;
    for (uint64_t cycle = 0; left > 0; cycle++) {
        // As the machine in Rust: the first remap is due after REMAP_EVERY cycles.
        if (cycle > 0 && cycle % REMAP_EVERY == 0)
            remap(m);
        auto &entered = m.lines[0][cycle % (length(0) + 1)];
        for (int count = 0; count < PIPELINES && next < arrivals.size() && arrivals[next].cycle <= cycle; count++, next++) {
            uint32_t slot;
            if (m.unused.empty()) {
                slot = m.packets.size();
                m.packets.emplace_back();
            } else {
                slot = m.unused.back();
                m.unused.pop_back();
            }
            packet &p = m.packets[slot];
            const flow &f = flows[arrivals[next].flow];
            p.id = next;
            p.value = next;
            p.flow = arrivals[next].flow;
            p.next = 0;
            p.next_array = f.count ? f.accesses[0].array : ARRAYS;
            for (int i = 0; i < f.count; i++) {
                auto [array, cell] = f.accesses[i];
                if (m.counts[array][cell] != UINT16_MAX)
                    m.counts[array][cell]++;
                if (m.in_flight[array][cell] != UINT8_MAX)
                    m.in_flight[array][cell]++;
                p.pipeline[i] = m.map[array][cell];
                channel &c = m.channels[array];
                int due = (cycle + ARRAY_STAGES[array]) % STAGES;
                c.slots[due][c.counts[due]++].packet = slot | i << 28;
            }
            entered[spray] = slot;
            spray = spray + 1 == PIPELINES ? 0 : spray + 1;
        }
        for (int array = 0; array < ARRAYS; array++) {
            channel &c = m.channels[array];
            int due = cycle % STAGES;
            for (int i = 0; i < c.counts[due]; i++) {
                uint32_t message = c.slots[due][i].packet;
                uint32_t slot = message & 0xfffffff, index = message >> 28;
                packet &p = m.packets[slot];
                p.address[index] = m.queues[array][p.pipeline[index]].push({slot, false});
            }
            c.counts[due] = 0;
        }
        auto &leaving = m.lines[ARRAYS][(cycle + 1) % (length(ARRAYS) + 1)];
        // From the last array to the first, so that a packet moves one stage a cycle. What a stage puts into the line behind it is taken
        // `length` cycles after the next one.
        auto depart = [&](std::array<uint32_t, PIPELINES> &slots) {
            for (uint32_t &slot : slots) {
                if (slot == NONE)
                    continue;
                const packet &p = m.packets[slot];
                uint64_t word = p.value + (cycle + 1) * 0x9e3779b97f4a7c15;
                m.sum += word * (uint64_t(p.id) + 1);
                m.last_departure = cycle + 1;
                m.unused.push_back(slot);
                slot = NONE;
                left--;
            }
        };
        if (length(ARRAYS) > 0)
            depart(leaving);
        for (int array = ARRAYS - 1; array >= 0; array--) {
            auto &arriving = m.lines[array][array == 0 && length(0) == 0 ? 0 : (cycle + (array == 0)) % (length(array) + 1)];
            std::array<uint32_t, PIPELINES> slots;
            slots.fill(NONE);
            for (int p = 0; p < PIPELINES; p++) {
                uint32_t slot = arriving[p];
                if (slot == NONE)
                    continue;
                arriving[p] = NONE;
                packet &moving = m.packets[slot];
                if (moving.next_array == array) {
                    int to = moving.pipeline[moving.next];
                    m.queues[array][to].at(moving.address[moving.next]).is_data = true;
                } else {
                    slots[p] = slot;
                }
            }
            auto &behind = m.lines[array + 1][cycle % (length(array + 1) + 1)];
            for (int p = 0; p < PIPELINES; p++) {
                if (slots[p] == NONE) {
                    queue &q = m.queues[array][p];
                    if (q.head == q.tail || !q.at(q.head).is_data)
                        continue;
                    uint32_t slot = q.at(q.head++).packet;
                    packet &served = m.packets[slot];
                    const flow &f = flows[served.flow];
                    int cell = f.accesses[served.next].cell;
                    uint64_t &value = m.cells[array][p][cell];
                    served.value = served.value * 33 ^ value;
                    value = value * 31 + served.id + 1;
                    if (m.in_flight[array][cell] != UINT8_MAX)
                        m.in_flight[array][cell]--;
                    served.next++;
                    served.next_array = served.next < f.count ? f.accesses[served.next].array : ARRAYS;
                    slots[p] = slot;
                }
                behind[p] = slots[p];
            }
        }
        if (length(ARRAYS) == 0)
            depart(m.lines[ARRAYS][0]);
    }
}

// The time of this thread on its core.
static uint64_t busy_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return uint64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : nullptr;
    size_t flow_count, packet_count;
    unsigned rounds;
    if (!file || fscanf(file, "%zu %zu %u", &flow_count, &packet_count, &rounds) != 3)
        return 1;
    std::vector<flow> flows(flow_count);
    for (flow &f : flows) {
        unsigned count, array, cell;
        if (fscanf(file, "%u", &count) != 1 || count > ARRAYS)
            return 1;
        f.count = count;
        for (unsigned i = 0; i < count; i++) {
            if (fscanf(file, "%u %u", &array, &cell) != 2)
                return 1;
            f.accesses[i] = {uint8_t(array), uint16_t(cell)};
        }
    }
    std::vector<arrival> arrivals(packet_count);
    for (arrival &a : arrivals) {
        unsigned long long cycle;
        if (fscanf(file, "%llu %u", &cycle, &a.flow) != 2)
            return 1;
        a.cycle = cycle;
    }
    uint64_t fastest = UINT64_MAX, cells = 0;
    machine *last = nullptr;
    for (unsigned round = 0; round < rounds; round++) {
        delete last;
        last = new machine;
        uint64_t start = busy_nanoseconds();
        run(*last, flows, arrivals);
        fastest = std::min(fastest, busy_nanoseconds() - start);
    }
    for (int array = 0; array < ARRAYS; array++)
        for (int cell = 0; cell < CELLS; cell++) {
            uint8_t pipeline = last->map[array][cell];
            cells = cells * 31 + last->cells[array][pipeline][cell] + pipeline;
        }
    printf("%llu %llu %llu %llu %llu\n", (unsigned long long)last->last_departure, (unsigned long long)last->remaps,
           (unsigned long long)last->sum, (unsigned long long)cells, (unsigned long long)fastest);
}
