// SPDX-License-Identifier: Apache-2.0
//! `LinkDirection`: latency, rate and loss of one direction of a link. The simulation delivers the messages.

use arithmetic::random::mix;
use device::traffic_manager::transmission_ps;

/// Options of a direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    /// From the last bit sent to the last bit received, in picoseconds.
    pub latency_ps: u64,
    /// Bits per second; `None` is infinite. Messages of a faster sender wait in an unlimited queue.
    pub rate_bps: Option<u64>,
    /// Lost messages per million.
    pub loss_per_million: u32,
}

impl Default for LinkOptions {
    /// No latency, an infinite rate, no loss.
    fn default() -> LinkOptions {
        LinkOptions { latency_ps: 0, rate_bps: None, loss_per_million: 0 }
    }
}

/// Counters of a direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStatistics {
    /// Messages delivered.
    pub delivered: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Messages lost at random or because the link was down.
    pub lost: u64,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkDirection {
    options: LinkOptions,
    is_up: bool,
    busy_until_ps: u64,
    seed: u64,
    messages: u64,
    statistics: LinkStatistics,
}

impl LinkDirection {
    /// Makes a direction that is up. Losses depend on the seed and the message's number only.
    pub fn new(options: LinkOptions, seed: u64) -> LinkDirection {
        LinkDirection {
            options,
            is_up: true,
            busy_until_ps: 0,
            seed,
            messages: 0,
            statistics: LinkStatistics::default(),
        }
    }

    /// Transmits a message. Returns its arrival, or `None` if it is lost.
    pub fn carry(&mut self, sent_ps: u64, length_bytes: u64) -> Option<u64> {
        let number = self.messages;
        self.messages += 1;
        let draw = mix(self.seed ^ mix(number)) % 1_000_000;
        if !self.is_up || draw < u64::from(self.options.loss_per_million) {
            self.statistics.lost += 1;
            return None;
        }
        let start_ps = sent_ps.max(self.busy_until_ps);
        self.busy_until_ps =
            start_ps.saturating_add(transmission_ps(length_bytes, self.options.rate_bps));
        self.statistics.delivered += 1;
        self.statistics.delivered_bytes += length_bytes;
        Some(self.busy_until_ps.saturating_add(self.options.latency_ps))
    }

    /// Takes the link down or up. Messages in flight still arrive.
    pub fn set_up(&mut self, is_up: bool) {
        self.is_up = is_up;
    }

    /// Returns its options.
    pub fn options(&self) -> &LinkOptions {
        &self.options
    }

    /// Returns its counters.
    pub fn statistics(&self) -> LinkStatistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_link_spaces_messages() {
        let options =
            LinkOptions { latency_ps: 5, rate_bps: Some(8_000_000_000), loss_per_million: 0 };
        let mut link = LinkDirection::new(options, 0);
        assert_eq!(link.carry(0, 1), Some(1_005));
        assert_eq!(link.carry(0, 1), Some(2_005));
        assert_eq!(link.carry(10_000, 2), Some(12_005));
    }

    #[test]
    fn loss_is_repeatable_and_near_its_rate() {
        let options = LinkOptions { loss_per_million: 100_000, ..LinkOptions::default() };
        let run = |seed| -> Vec<bool> {
            let mut link = LinkDirection::new(options, seed);
            (0..10_000).map(|time| link.carry(time, 1).is_none()).collect()
        };
        let lost = run(1).iter().filter(|lost| **lost).count();
        assert!((900..1100).contains(&lost), "{lost} of 10000 lost");
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn a_link_that_is_down_loses_everything() {
        let mut link = LinkDirection::new(LinkOptions::default(), 0);
        link.set_up(false);
        assert_eq!(link.carry(0, 1), None);
        link.set_up(true);
        assert_eq!(link.carry(0, 1), Some(0));
        assert_eq!(link.statistics(), LinkStatistics { delivered: 1, delivered_bytes: 1, lost: 1 });
    }
}
