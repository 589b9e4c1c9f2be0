// SPDX-License-Identifier: Apache-2.0
//! Circulating packets: looped-back packets of which the caller knows that the program only sends them round again until
//! some time ([`CirculationRule`]). The device makes their rounds without running the program, and many rounds at once
//! while nothing else happens. Times, counters and random draws are those of rounds that the program makes.

use std::fmt::Debug;
use std::sync::Arc;

/// What a caller knows of the packets that a program sends round.
pub trait CirculationRule: Debug + Send + Sync {
    /// Returns how long the program sends a packet round that it sent by a loopback port at a time; `None` if the packet
    /// needs the program. Each pass until then has to send the packet by the same port at once, without other effects,
    /// and with the bytes of [`CirculationRule::update`].
    fn circulation(&self, port: u32, bytes: &[u8], sent_ps: u64) -> Option<Circulation>;

    /// Gives a circulating packet the bytes that the program sends by its last pass, instead of those of an earlier pass.
    fn update(&self, bytes: &mut [u8], circulation: Circulation, passes: LastPasses);
}

/// How long a program sends a packet round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circulation {
    /// Passes that begin at this time or later need the program.
    pub until_ps: u64,
    /// Passes that begin later than this after the one before need the program.
    pub max_round_ps: u64,
}

/// When the last two passes of a circulating packet began, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPasses {
    /// The last pass, which sent it.
    pub last_ps: u64,
    /// The one before.
    pub before_ps: u64,
}

/// The circulation of a recirculating packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circulating {
    pub circulation: Circulation,
    pub passes: LastPasses,
    /// Whether its bytes are those of an earlier pass.
    pub is_stale: bool,
}

impl Circulating {
    /// Returns whether a pass at this time needs no program.
    pub fn skips(&self, now_ps: u64) -> bool {
        now_ps < self.circulation.until_ps
            && now_ps - self.passes.last_ps <= self.circulation.max_round_ps
    }
}

/// The circulating packets of a device.
#[derive(Debug, Default)]
pub(crate) struct CirculatingPackets {
    pub rule: Option<Arc<dyn CirculationRule>>,
    /// Circulating packets on the recirculation path and in the wait for ingress.
    pub count: usize,
    /// No circulating packet needs the program before this time.
    pub earliest_until_ps: u64,
    /// For how long each circulating packet may wait for ingress.
    pub longest_wait_ps: u64,
    /// The length of the last skipped rounds, in picoseconds, and how many were skipped one after the other with it.
    pub round_ps: u64,
    pub equal_rounds: usize,
}
