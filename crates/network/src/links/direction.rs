// SPDX-License-Identifier: Apache-2.0
//! One direction of a link: latency, jitter, loss, corruption, duplication and reordering. The terms and the defaults are
//! those of Linux's `tc-netem`. Frames wait in the sender's port, never here, unless the sender has no ports of its own
//! ([`LinkOptions::sender_rate_bps`]).

use super::{End, Purpose};
use arithmetic::random::stream::Stream;
use device::traffic_manager::transmission_ps;

/// Which frames a link loses, beside all of them while it is down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossModel {
    /// Each frame with this probability, independent of the others.
    Random(f64),
    /// The Gilbert-Elliott model: a state, good or bad, that may change at each frame, then a loss by the state.
    GilbertElliott {
        /// Probability to change from good to bad.
        to_bad: f64,
        /// Probability to change from bad to good.
        to_good: f64,
        /// Probability of loss in the bad state.
        loss_in_bad: f64,
        /// Probability of loss in the good state.
        loss_in_good: f64,
    },
}

impl LossModel {
    /// No loss.
    pub const NONE: LossModel = LossModel::Random(0.0);

    pub(super) fn may_lose(&self) -> bool {
        match *self {
            LossModel::Random(probability) => probability > 0.0,
            LossModel::GilbertElliott { to_bad, loss_in_bad, loss_in_good, .. } => {
                loss_in_good > 0.0 || to_bad > 0.0 && loss_in_bad > 0.0
            }
        }
    }
}

/// Options of a direction of a link. Probabilities are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkOptions {
    /// From the last bit sent to the last bit received, in picoseconds.
    pub latency_ps: u64,
    /// The largest random additional latency, in picoseconds; uniform.
    pub jitter_ps: u64,
    /// Whether a frame never overtakes another one by a smaller jitter.
    pub keeps_order: bool,
    /// Which frames are lost.
    pub loss: LossModel,
    /// Probability that one bit of a frame is inverted.
    pub corruption: f64,
    /// Probability that a frame arrives twice.
    pub duplication: f64,
    /// Probability that a frame arrives without latency and jitter, before those sent earlier.
    pub reordering: f64,
    /// Bits per second of the sender, if its ports have no rate: an unlimited queue before the link.
    pub sender_rate_bps: Option<u64>,
}

impl Default for LinkOptions {
    /// No latency, nothing lost or changed.
    fn default() -> LinkOptions {
        LinkOptions {
            latency_ps: 0,
            jitter_ps: 0,
            keeps_order: true,
            loss: LossModel::NONE,
            corruption: 0.0,
            duplication: 0.0,
            reordering: 0.0,
            sender_rate_bps: None,
        }
    }
}

/// Counters of a direction of a link. A duplicate counts as delivered too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStatistics {
    /// Frames delivered.
    pub delivered: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Frames lost at random.
    pub lost: u64,
    /// Frames lost because the link was down.
    pub lost_while_down: u64,
    /// Frames with an inverted bit.
    pub corrupted: u64,
    /// Frames that arrived twice.
    pub duplicated: u64,
    /// Frames that overtook others.
    pub reordered: u64,
}

/// Why a frame is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// By the loss model.
    Random,
    /// The link is down.
    Down,
}

/// What a link makes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// When it arrives, in picoseconds.
    pub arrives_ps: u64,
    /// A number that chooses the inverted bit, if one is.
    pub flipped_bit: Option<u64>,
    /// When a second copy arrives, if one does.
    pub copy_arrives_ps: Option<u64>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    to: End,
    options: LinkOptions,
    is_up: bool,
    busy_until_ps: u64,
    /// The latest arrival so far.
    last_arrival_ps: u64,
    is_bad: bool,
    /// Times from and to which the link was down, the last one possibly open.
    outages: Vec<(u64, u64)>,
    jitter: Stream,
    loss: Stream,
    loss_state: Stream,
    corruption: Stream,
    duplication: Stream,
    reordering: Stream,
    statistics: LinkStatistics,
}

impl Direction {
    /// Makes a direction that is up. Random numbers depend on seed, number and the count of draws only.
    pub(super) fn new(to: End, options: LinkOptions, seed: u64, number: u32) -> Direction {
        Direction {
            to,
            options,
            is_up: true,
            busy_until_ps: 0,
            last_arrival_ps: 0,
            is_bad: false,
            outages: Vec::new(),
            jitter: Purpose::Jitter.stream(seed, number),
            loss: Purpose::Loss.stream(seed, number),
            loss_state: Purpose::LossState.stream(seed, number),
            corruption: Purpose::Corruption.stream(seed, number),
            duplication: Purpose::Duplication.stream(seed, number),
            reordering: Purpose::Reordering.stream(seed, number),
            statistics: LinkStatistics::default(),
        }
    }

    pub(super) fn to(&self) -> End {
        self.to
    }

    pub(super) fn is_up(&self) -> bool {
        self.is_up
    }

    pub(super) fn options(&self) -> &LinkOptions {
        &self.options
    }

    pub(super) fn statistics(&self) -> LinkStatistics {
        self.statistics
    }

    pub(super) fn set_up(&mut self, is_up: bool, now_ps: u64) {
        match (self.is_up, is_up) {
            (true, false) => self.outages.push((now_ps, u64::MAX)),
            (false, true) => {
                if let Some(outage) = self.outages.last_mut() {
                    outage.1 = now_ps;
                }
            }
            _ => {}
        }
        self.is_up = is_up;
    }

    pub(super) fn was_down_at(&self, time_ps: u64) -> bool {
        self.outages.iter().rev().any(|(from, to)| (*from..*to).contains(&time_ps))
    }

    pub(super) fn count_lost_on_departure(&mut self, length_bytes: u64) {
        self.statistics.delivered -= 1;
        self.statistics.delivered_bytes -= length_bytes;
        self.statistics.lost_while_down += 1;
    }

    fn loses(&mut self) -> bool {
        match self.options.loss {
            LossModel::Random(probability) => self.loss.chance(probability),
            LossModel::GilbertElliott { to_bad, to_good, loss_in_bad, loss_in_good } => {
                let change = if self.is_bad { to_good } else { to_bad };
                if self.loss_state.chance(change) {
                    self.is_bad = !self.is_bad;
                }
                self.loss.chance(if self.is_bad { loss_in_bad } else { loss_in_good })
            }
        }
    }

    /// When a frame arrives, or why it does not.
    pub(super) fn carry(
        &mut self,
        departs_ps: u64,
        length_bytes: impl FnOnce() -> u64,
    ) -> Result<Carried, Loss> {
        if !self.is_up {
            self.statistics.lost_while_down += 1;
            return Err(Loss::Down);
        }
        if self.loses() {
            self.statistics.lost += 1;
            return Err(Loss::Random);
        }
        let length_bytes = length_bytes();
        let sent_ps = match self.options.sender_rate_bps {
            None => departs_ps,
            rate => {
                let begins_ps = departs_ps.max(self.busy_until_ps);
                self.busy_until_ps = begins_ps.saturating_add(transmission_ps(length_bytes, rate));
                self.busy_until_ps
            }
        };
        let arrives_ps = if self.reordering.chance(self.options.reordering) {
            self.statistics.reordered += 1;
            sent_ps
        } else {
            let late_ps = self.jitter.spread_ps(self.options.jitter_ps);
            let mut arrives_ps =
                sent_ps.saturating_add(self.options.latency_ps).saturating_add(late_ps);
            if self.options.keeps_order {
                arrives_ps = arrives_ps.max(self.last_arrival_ps);
                self.last_arrival_ps = arrives_ps;
            }
            arrives_ps
        };
        let is_corrupted = self.corruption.chance(self.options.corruption);
        let is_duplicated = self.duplication.chance(self.options.duplication);
        let copies = 1 + u64::from(is_duplicated);
        self.statistics.corrupted += u64::from(is_corrupted);
        self.statistics.duplicated += u64::from(is_duplicated);
        self.statistics.delivered += copies;
        self.statistics.delivered_bytes += copies * length_bytes;
        Ok(Carried {
            arrives_ps,
            flipped_bit: is_corrupted.then(|| self.corruption.bits()),
            copy_arrives_ps: is_duplicated.then_some(arrives_ps),
        })
    }
}
