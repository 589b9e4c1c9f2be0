// SPDX-License-Identifier: Apache-2.0
//! Two-rate three-colour markers (RFC 2698, colour-blind) in exact integer arithmetic, and arrays of
//! them. Meters that belong to entries are in `entry_cells`.

use foldhash::fast::FixedState;
use ir::CountUnit;
use std::collections::HashMap;

/// The colour of a packet, with the numbers that programs see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Colour {
    /// Within the committed rate.
    Green = 0,
    /// Above the committed rate, within the peak rate.
    Yellow = 1,
    /// Above the peak rate.
    Red = 2,
}

/// Micro-units in a unit a microsecond, taken a second.
const MICRO_UNITS_PER_SECOND: f64 = 1e12;

/// Rate and size of a token bucket. A unit is a packet or a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenRate {
    /// Rate in millionths of a unit a second, so that six decimals of a rate a second, or twelve of a
    /// rate a microsecond, are exact.
    pub rate_micro_units_per_second: u64,
    /// Size of the bucket in units.
    pub burst_units: u64,
}

impl TokenRate {
    /// From whole units a second, as P4Runtime gives rates.
    pub fn per_second(rate_units_per_second: u64, burst_units: u64) -> TokenRate {
        TokenRate {
            rate_micro_units_per_second: rate_units_per_second.saturating_mul(1_000_000),
            burst_units,
        }
    }

    /// From units a microsecond, as BMv2 gives rates. Negative numbers and NaN count as zero.
    pub fn per_microsecond(rate_units_per_microsecond: f64, burst_units: u64) -> TokenRate {
        // A float-to-integer cast saturates, and takes NaN to zero.
        let rate = (rate_units_per_microsecond * MICRO_UNITS_PER_SECOND).round() as u64;
        TokenRate { rate_micro_units_per_second: rate, burst_units }
    }
}

/// The two buckets of a meter cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeterConfiguration {
    /// Committed rate and burst.
    pub committed: TokenRate,
    /// Peak rate and burst.
    pub peak: TokenRate,
}

/// Tokens are counted in 10^-18 units: a picosecond at a millionth of a unit a second gives one.
const TOKENS_PER_UNIT: u128 = 1_000_000_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    rate: TokenRate,
    tokens: u128,
    filled_ps: u64,
}

impl Bucket {
    fn full(rate: TokenRate, now_ps: u64) -> Bucket {
        Bucket { rate, tokens: capacity(rate), filled_ps: now_ps }
    }

    fn fill(&mut self, now_ps: u64) {
        let elapsed_ps = u128::from(now_ps.saturating_sub(self.filled_ps));
        let gained = elapsed_ps * u128::from(self.rate.rate_micro_units_per_second);
        self.tokens = self.tokens.saturating_add(gained).min(capacity(self.rate));
        self.filled_ps = self.filled_ps.max(now_ps);
    }

    fn take(&mut self, tokens: u128) -> bool {
        let enough = self.tokens >= tokens;
        if enough {
            self.tokens -= tokens;
        }
        enough
    }
}

fn capacity(rate: TokenRate) -> u128 {
    u128::from(rate.burst_units) * TOKENS_PER_UNIT
}

/// A configured meter cell with its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeterCell {
    committed: Bucket,
    peak: Bucket,
}

impl MeterCell {
    /// A cell whose buckets are full.
    pub(crate) fn new(configuration: MeterConfiguration, now_ps: u64) -> MeterCell {
        MeterCell {
            committed: Bucket::full(configuration.committed, now_ps),
            peak: Bucket::full(configuration.peak, now_ps),
        }
    }

    pub(crate) fn configuration(&self) -> MeterConfiguration {
        MeterConfiguration { committed: self.committed.rate, peak: self.peak.rate }
    }

    /// Marks a packet of this number of units (RFC 2698 §3).
    pub(crate) fn mark(&mut self, units: u64, now_ps: u64) -> Colour {
        self.committed.fill(now_ps);
        self.peak.fill(now_ps);
        let tokens = u128::from(units) * TOKENS_PER_UNIT;
        if !self.peak.take(tokens) {
            Colour::Red
        } else if !self.committed.take(tokens) {
            Colour::Yellow
        } else {
            Colour::Green
        }
    }
}

/// Returns the units that a packet takes.
pub(crate) fn metered_units(unit: CountUnit, packet_bytes: u64) -> u64 {
    match unit {
        CountUnit::Packets => 1,
        CountUnit::Bytes | CountUnit::PacketsAndBytes => packet_bytes,
    }
}

/// Cells of arrays up to this size are found by index; of larger ones by hash.
const LARGEST_FLAT_ARRAY_CELLS: u64 = 1 << 16;

/// The cells of one meter array. Unconfigured cells mark green and take no memory.
#[derive(Clone, Debug)]
pub(crate) struct MeterCells {
    unit: CountUnit,
    size: u64,
    /// Up to the last one that was ever configured.
    flat: Vec<Option<MeterCell>>,
    /// Configured ones only.
    scattered: HashMap<u64, MeterCell, FixedState>,
}

impl MeterCells {
    pub(crate) fn new(unit: CountUnit, size: u64) -> MeterCells {
        MeterCells { unit, size, flat: Vec::new(), scattered: HashMap::default() }
    }

    pub(crate) fn unit(&self) -> CountUnit {
        self.unit
    }

    fn is_flat(&self) -> bool {
        self.size <= LARGEST_FLAT_ARRAY_CELLS
    }

    pub(crate) fn cell(&self, index: u64) -> Option<MeterCell> {
        match self.is_flat() {
            true => self.flat.get(usize::try_from(index).ok()?).copied().flatten(),
            false => self.scattered.get(&index).copied(),
        }
    }

    /// The number of cells up to the last one that is configured.
    pub(crate) fn configured_size(&self) -> u64 {
        let scattered = self.scattered.keys().map(|index| index + 1).max().unwrap_or(0);
        scattered.max(self.flat.len() as u64)
    }

    /// Whether any cell is.
    pub(crate) fn is_configured(&self) -> bool {
        !self.scattered.is_empty() || self.flat.iter().any(Option::is_some)
    }

    /// Nothing happens outside the array.
    pub(crate) fn set(&mut self, index: u64, cell: Option<MeterCell>) {
        if index >= self.size {
            return;
        }
        match cell {
            cell if self.is_flat() => {
                let at = index as usize;
                if at >= self.flat.len() && cell.is_some() {
                    self.flat.resize(at + 1, None);
                }
                if let Some(place) = self.flat.get_mut(at) {
                    *place = cell;
                }
            }
            Some(cell) => {
                self.scattered.insert(index, cell);
            }
            None => {
                self.scattered.remove(&index);
            }
        }
    }

    pub(crate) fn mark(&mut self, index: u64, packet_bytes: u64, now_ps: u64) -> Colour {
        let cell = match self.is_flat() {
            true => usize::try_from(index)
                .ok()
                .and_then(|at| self.flat.get_mut(at))
                .and_then(Option::as_mut),
            false => self.scattered.get_mut(&index),
        };
        let units = metered_units(self.unit, packet_bytes);
        cell.map_or(Colour::Green, |cell| cell.mark(units, now_ps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND_PS: u64 = 1_000_000;

    fn colours(cell: &mut MeterCell, packets: &[(u64, u64)]) -> String {
        packets
            .iter()
            .map(|&(units, at_us)| match cell.mark(units, at_us * MICROSECOND_PS) {
                Colour::Green => 'g',
                Colour::Yellow => 'y',
                Colour::Red => 'r',
            })
            .collect()
    }

    #[test]
    fn marks_by_two_buckets() {
        let configuration = MeterConfiguration {
            committed: TokenRate::per_microsecond(0.5, 1),
            peak: TokenRate::per_microsecond(1.0, 2),
        };
        let mut cell = MeterCell::new(configuration, 0);
        assert_eq!(colours(&mut cell, &[(1, 0), (1, 0), (1, 0)]), "gyr");
        // One microsecond later the peak bucket has one token, the committed one half a token.
        assert_eq!(colours(&mut cell, &[(1, 1), (1, 1)]), "yr");
        assert_eq!(colours(&mut cell, &[(1, 100), (1, 100), (1, 100)]), "gyr");
    }

    #[test]
    fn a_packet_larger_than_the_bucket_is_red_and_takes_nothing() {
        let configuration = MeterConfiguration {
            committed: TokenRate::per_second(1, 100),
            peak: TokenRate::per_second(1, 100),
        };
        let mut cell = MeterCell::new(configuration, 0);
        assert_eq!(colours(&mut cell, &[(101, 0), (100, 0), (1, 0)]), "rgr");
    }

    #[test]
    fn tiny_rates_lose_nothing_by_rounding() {
        let rate = TokenRate::per_second(1, 1);
        let mut cell = MeterCell::new(MeterConfiguration { committed: rate, peak: rate }, 0);
        assert_eq!(cell.mark(1, 0), Colour::Green);
        for step in 1..1000 {
            assert_eq!(cell.mark(1, step * 1_000_000_000), Colour::Red);
        }
        assert_eq!(cell.mark(1, 1_000_000_000_000), Colour::Green);
    }

    #[test]
    fn large_and_small_arrays_do_the_same() {
        let rate = TokenRate::per_second(1, 1);
        let configuration = MeterConfiguration { committed: rate, peak: rate };
        for size in [8, LARGEST_FLAT_ARRAY_CELLS + 1] {
            let mut cells = MeterCells::new(CountUnit::Packets, size);
            for index in [5, size] {
                cells.set(index, Some(MeterCell::new(configuration, 0)));
            }
            let marks = [5, 5, 4, 6, size].map(|index| cells.mark(index, 1, 0));
            use Colour::{Green, Red};
            assert_eq!(marks, [Green, Red, Green, Green, Green]);
            assert_eq!(cells.cell(5).map(|cell| cell.configuration()), Some(configuration));
            assert_eq!(cells.cell(size), None);
            cells.set(5, None);
            cells.set(7, None);
            assert_eq!(cells.mark(5, 1, 0), Green);
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let rate = TokenRate { rate_micro_units_per_second: u64::MAX, burst_units: u64::MAX };
        let mut cell = MeterCell::new(MeterConfiguration { committed: rate, peak: rate }, 0);
        assert_eq!(cell.mark(u64::MAX, u64::MAX), Colour::Green);
        assert_eq!(TokenRate::per_microsecond(f64::NAN, 1).rate_micro_units_per_second, 0);
        assert_eq!(TokenRate::per_microsecond(-1.0, 1).rate_micro_units_per_second, 0);
    }
}
