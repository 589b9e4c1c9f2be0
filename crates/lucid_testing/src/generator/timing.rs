// SPDX-License-Identifier: Apache-2.0
//! Generates times: how long a run takes, how long events are delayed and by what, periodic events.

use super::Generator;

/// Times of a run, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) max_time_ns: u64,
    /// Of the delay queue; 0 is none.
    pub(super) granularity_ns: u64,
    /// Delays are numbers of so many bits.
    delay_bits: u32,
}

impl Timing {
    pub(super) const SHORT: Timing =
        Timing { max_time_ns: 20_000, granularity_ns: 0, delay_bits: 10 };
}

/// Runs by their scale: longest delays in bits of nanoseconds, and periods of the delay queue. Without a queue events
/// go round all the time that they wait.
const SCALES: [(u32, &[u64]); 6] = [
    (10, &[0]),
    (10, &[0, 1_000, 20_000]),
    (17, &[0, 0, 10_000, 100_000]),
    (20, &[20_000, 100_000, 50_001, 300_000]),
    (24, &[100_000, 300_000, 1_000_000, 3_000_000]),
    (30, &[10_000_000, 5_000_000, 30_000_000, 200_000_000]),
];

impl Generator {
    pub(super) fn choose_timing(&mut self) -> Timing {
        let (delay_bits, periods) = SCALES[[0, 1, 2, 3, 2, 3, 4, 5][self.choose(8)]];
        let granularity_ns = periods[self.choose(periods.len())];
        let longest_ns = 1u64 << delay_bits;
        let max_time_ns = match delay_bits {
            10 => 20_000 + 10 * granularity_ns,
            _ => 3 * longest_ns + 3 * granularity_ns,
        };
        Timing { max_time_ns, granularity_ns, delay_bits }
    }

    /// A delay: a number or a variable one.
    pub(super) fn delay(&mut self) -> String {
        if !self.features.timing {
            return match self.choose(2) {
                0 => format!("{}", self.choose(3000)),
                _ => format!("((int<32>)(int<10>)({}))", self.integer(32, 1)),
            };
        }
        let bits = self.timing.delay_bits;
        match self.choose(5) {
            0 => format!("{}", self.choose(3000)),
            1 => format!("((int<32>)(int<10>)({}))", self.integer(32, 1)),
            2 => format!("{}", (1u64 << (bits - self.choose(4) as u32)) - self.choose(3) as u64),
            3 => {
                let value = self.integer(32, 1);
                format!("({value} & {})", (1u64 << bits) - 1)
            }
            _ => format!("((int<32>)(int<{bits}>)({}))", self.integer(32, 1)),
        }
    }

    /// The end of a periodic event's handler: it generates itself.
    pub(super) fn come_again(&mut self, event: usize) {
        self.line("// Again and again.");
        let event = self.constructor_of(event, "hops");
        let period_ns = self.timing.max_time_ns / (8 + self.choose(16) as u64);
        let period = match self.choose(3) {
            0 => format!("{period_ns}"),
            1 => format!("({period_ns} + (Sys.random() & 255))"),
            _ => format!("({period_ns} - (int<32>)hops)"),
        };
        let event = format!("Event.delay({event}, {period})");
        let text = match self.choose(if self.features.network { 4 } else { 1 }) {
            1 => format!("generate_switch(self, {event});"),
            2 => format!("generate_switch((self + 1) & 1, {event});"),
            _ => format!("generate {event};"),
        };
        self.line(&text);
    }
}
