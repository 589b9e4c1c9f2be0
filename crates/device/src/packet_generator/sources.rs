// SPDX-License-Identifier: Apache-2.0
//! `Sources`: the trains and applications of a packet generator by number, with their progress. `switch_core` schedules
//! their events.

use super::application::{GENERATOR_APPLICATIONS, GeneratorApplication, GeneratorTimer};
use super::train::{PacketTrain, TrainTarget, packet_number};
use std::collections::BTreeMap;

/// Packet numbers have 15 bits for the source; the last numbers are applications, the others trains.
const FIRST_APPLICATION: usize = MAX_TRAINS;

/// Largest number of trains.
pub(crate) const MAX_TRAINS: usize = (1 << 15) - GENERATOR_APPLICATIONS as usize;

#[derive(Debug)]
enum SourceKind {
    Train(PacketTrain),
    /// With the time at which it was set.
    Application(GeneratorApplication, u64),
}

#[derive(Debug)]
struct Source {
    kind: SourceKind,
    /// Number of packets made.
    made: u64,
    /// The number of its first packet among those of equal source number.
    first: u64,
}

/// A generated packet.
#[derive(Debug)]
pub(crate) struct GeneratedPacket {
    pub number: u64,
    pub port: u32,
    pub target: TrainTarget,
    pub bytes: Vec<u8>,
}

/// The sources of a device by number.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    by_number: BTreeMap<usize, Source>,
    /// Numbers of packets of removed applications.
    made_before: [u64; GENERATOR_APPLICATIONS as usize],
}

impl Source {
    fn time_ps(&self) -> Option<u64> {
        match &self.kind {
            SourceKind::Train(train) => train.time_ps(self.made),
            SourceKind::Application(application, set_ps) => {
                application.time_ps(self.made)?.checked_add(*set_ps)
            }
        }
    }
}

impl Sources {
    pub fn new(trains: &[PacketTrain]) -> Sources {
        let source = |train: &PacketTrain| Source {
            kind: SourceKind::Train(train.clone()),
            made: 0,
            first: 0,
        };
        let by_number = trains.iter().map(source).enumerate().take(MAX_TRAINS).collect();
        Sources { by_number, ..Sources::default() }
    }

    /// Returns the numbers of all sources.
    pub fn numbers(&self) -> Vec<usize> {
        self.by_number.keys().copied().collect()
    }

    /// Returns the source number of an application.
    pub fn number_of(id: u8) -> usize {
        FIRST_APPLICATION + usize::from(id % GENERATOR_APPLICATIONS)
    }

    /// Sets an application and restarts it. Returns its source number.
    pub fn set(&mut self, application: GeneratorApplication, now_ps: u64) -> usize {
        let id = application.id;
        self.remove(id);
        let number = Sources::number_of(id);
        let first = self.made_before[number - FIRST_APPLICATION];
        let kind = SourceKind::Application(application, now_ps);
        self.by_number.insert(number, Source { kind, made: 0, first });
        number
    }

    /// Returns whether an application is set.
    pub fn has(&self, id: u8) -> bool {
        self.by_number.contains_key(&Sources::number_of(id))
    }

    /// Removes an application. Returns whether it was set.
    pub fn remove(&mut self, id: u8) -> bool {
        let number = Sources::number_of(id);
        let Some(before) = self.by_number.remove(&number) else { return false };
        self.made_before[number - FIRST_APPLICATION] += before.made;
        true
    }

    /// Returns the ingress port of a source's packets.
    pub fn port(&self, number: usize) -> u32 {
        match self.by_number.get(&number).map(|source| &source.kind) {
            Some(SourceKind::Train(train)) => train.port,
            Some(SourceKind::Application(application, _)) => application.port,
            None => 0,
        }
    }

    /// Returns whether a source has no last packet.
    pub fn is_endless(&self, number: usize) -> bool {
        match self.by_number.get(&number).map(|source| &source.kind) {
            Some(SourceKind::Train(train)) => train.count.is_none(),
            Some(SourceKind::Application(application, _)) => {
                application.timer == GeneratorTimer::Periodic
            }
            None => false,
        }
    }

    /// Returns the time of a source's next packet.
    pub fn next_ps(&self, number: usize) -> Option<u64> {
        self.by_number.get(&number)?.time_ps()
    }

    /// Makes a source's next packet.
    pub fn make(&mut self, number: usize) -> Option<GeneratedPacket> {
        let source = self.by_number.get_mut(&number)?;
        let place = source.made;
        source.made += 1;
        let (port, target, bytes) = match &source.kind {
            SourceKind::Train(train) => (train.port, train.target, train.bytes.clone()),
            SourceKind::Application(application, _) => {
                (application.port, TrainTarget::Ingress, application.packet(place))
            }
        };
        Some(GeneratedPacket {
            number: packet_number(number, source.first + place),
            port,
            target,
            bytes,
        })
    }
}
