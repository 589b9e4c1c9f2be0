// SPDX-License-Identifier: Apache-2.0
//! [`Neighbors`]: Ethernet addresses by IP address, and packets that wait for one. Learned addresses stay.

use crate::wire::MacAddress;
use network::frame::Frame;
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// Packets that may wait for one address (Linux: about 100).
const MAX_WAITING: usize = 100;

#[derive(Debug)]
enum Neighbor {
    Static(MacAddress),
    Learned(MacAddress),
    Pending { requests: u32, waiting: Vec<Frame> },
}

/// The answer for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    Known(MacAddress),
    /// It was asked for.
    Pending,
    Unknown,
}

#[derive(Debug, Default)]
pub(super) struct Neighbors(FxHashMap<IpAddr, Neighbor>);

impl Neighbors {
    pub(super) fn new(known: &[(IpAddr, MacAddress)]) -> Neighbors {
        Neighbors(known.iter().map(|(address, mac)| (*address, Neighbor::Static(*mac))).collect())
    }

    #[inline]
    pub(super) fn find(&self, address: IpAddr) -> Lookup {
        match self.0.get(&address) {
            Some(Neighbor::Static(mac) | Neighbor::Learned(mac)) => Lookup::Known(*mac),
            Some(Neighbor::Pending { .. }) => Lookup::Pending,
            None => Lookup::Unknown,
        }
    }

    /// Lets a packet wait. Returns whether there was room.
    pub(super) fn wait(&mut self, address: IpAddr, frame: Frame) -> bool {
        let unknown = || Neighbor::Pending { requests: 1, waiting: Vec::new() };
        match self.0.entry(address).or_insert_with(unknown) {
            Neighbor::Pending { waiting, .. } if waiting.len() < MAX_WAITING => {
                waiting.push(frame);
                true
            }
            _ => false,
        }
    }

    /// Learns an address that is known or asked for, or any if `is_new_accepted`. Returns the packets that waited for it.
    pub(super) fn learn(
        &mut self,
        address: IpAddr,
        mac: MacAddress,
        is_new_accepted: bool,
    ) -> Vec<Frame> {
        match self.0.get_mut(&address) {
            Some(Neighbor::Static(_)) => Vec::new(),
            Some(Neighbor::Learned(known)) => {
                *known = mac;
                Vec::new()
            }
            Some(neighbor @ Neighbor::Pending { .. }) => {
                match std::mem::replace(neighbor, Neighbor::Learned(mac)) {
                    Neighbor::Pending { waiting, .. } => waiting,
                    _ => Vec::new(),
                }
            }
            None if is_new_accepted && !address.is_unspecified() => {
                self.0.insert(address, Neighbor::Learned(mac));
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Counts a further request for an address. `None` if it is known by now; the packets that waited if it was asked for
    /// `most` times.
    pub(super) fn count_request(
        &mut self,
        address: IpAddr,
        most: u32,
    ) -> Option<Result<(), Vec<Frame>>> {
        let Some(Neighbor::Pending { requests, waiting }) = self.0.get_mut(&address) else {
            return None;
        };
        if *requests < most {
            *requests += 1;
            return Some(Ok(()));
        }
        let given_up = std::mem::take(waiting);
        self.0.remove(&address);
        Some(Err(given_up))
    }
}
