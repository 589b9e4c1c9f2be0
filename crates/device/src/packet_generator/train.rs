// SPDX-License-Identifier: Apache-2.0
//! `PacketTrain`: equal packets at equal intervals, and the numbers of generated packets.

use crate::flow_control::PauseFrame;

/// This bit marks the numbers of generated packets. Below it are 15 bits for the train (0x7ff8 plus the id for an
/// application) and 48 bits for the position in it.
pub const GENERATED_PACKET: u64 = 1 << 63;

/// Where generated packets enter the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrainTarget {
    /// At the MAC of the port, which consumes flow control frames.
    #[default]
    Mac,
    /// At the ingress pipeline.
    Ingress,
}

/// Equal packets at equal intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketTrain {
    /// The ingress port.
    pub port: u32,
    /// Where they enter the device.
    pub target: TrainTarget,
    /// Time of the first packet, in picoseconds.
    pub offset_ps: u64,
    /// Interval between packets, in picoseconds; at least 1.
    pub period_ps: u64,
    /// Number of packets; `None` is endless.
    pub count: Option<u64>,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// Largest number of pause frames that a pausable queue needs within a period.
const MAX_RENEWALS: u64 = 1000;

impl PacketTrain {
    /// Checks a period for [`PacketTrain::pausable_queue`]; returns the requirement that it does not meet. On a fast port
    /// a frame pauses only for a short time, so a long period needs many frames.
    pub fn unfit_period(period_ps: u64, rate_bps: Option<u64>) -> Option<String> {
        let is_unfit = period_ps / PauseFrame::longest_ps(rate_bps) > MAX_RENEWALS;
        is_unfit.then(|| {
            format!(
                "at most {MAX_RENEWALS} times as long as a frame of flow control can pause this port"
            )
        })
    }

    /// Makes the trains of a pausable queue (Lucid §3.2): at each multiple of the period a frame resumes the queue of a
    /// class, `open_ps` later a frame pauses it again, and further frames renew the pause where one frame cannot cover
    /// the period at the port's rate. The frames enter at the MAC of the port. The first frame, at time 0, pauses the
    /// queue; the first frame that resumes it is at `period_ps`.
    pub fn pausable_queue(
        port: u32,
        class: u8,
        period_ps: u64,
        open_ps: u64,
        rate_bps: Option<u64>,
    ) -> Vec<PacketTrain> {
        let train = |offset_ps: u64, quanta: u16, count: Option<u64>| PacketTrain {
            port,
            target: TrainTarget::Mac,
            offset_ps,
            period_ps,
            count,
            bytes: PauseFrame::of_class(class, quanta).bytes([0; 6]),
        };
        let longest_ps = PauseFrame::longest_ps(rate_bps);
        let mut trains = vec![
            train(0, u16::MAX, Some(1)),
            train(open_ps, u16::MAX, None),
            train(period_ps, 0, None),
        ];
        let mut refresh_ps = open_ps.saturating_add(longest_ps);
        while refresh_ps < period_ps {
            trains.push(train(refresh_ps, u16::MAX, None));
            refresh_ps = refresh_ps.saturating_add(longest_ps);
        }
        trains
    }

    /// Returns the time of the packet at a position in the train, if there is one.
    pub(crate) fn time_ps(&self, place: u64) -> Option<u64> {
        let is_there = self.count.is_none_or(|count| place < count);
        is_there.then(|| self.period_ps.max(1).checked_mul(place)?.checked_add(self.offset_ps))?
    }
}

/// Returns the number of a generated packet.
pub(crate) fn packet_number(train: usize, place: u64) -> u64 {
    GENERATED_PACKET | (train as u64 & 0x7fff) << 48 | place & 0xffff_ffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_comes_at_its_times() {
        let train = PacketTrain {
            port: 1,
            target: TrainTarget::Ingress,
            offset_ps: 5,
            period_ps: 10,
            count: Some(3),
            bytes: Vec::new(),
        };
        let times: Vec<_> = (0..5).map(|place| train.time_ps(place)).collect();
        assert_eq!(times, [Some(5), Some(15), Some(25), None, None]);
        let endless = PacketTrain { count: None, ..train };
        assert_eq!(endless.time_ps(u64::MAX), None);
    }

    #[test]
    fn a_queue_is_paused_but_for_the_beginning_of_each_period() {
        let trains = PacketTrain::pausable_queue(68, 2, 100, 7, None);
        let [first, pause, release] = &trains[..] else { panic!("{trains:?}") };
        let read = |train: &PacketTrain| PauseFrame::read(&train.bytes);
        assert_eq!((first.time_ps(0), first.time_ps(1)), (Some(0), None));
        assert_eq!((pause.time_ps(0), pause.time_ps(1)), (Some(7), Some(107)));
        assert_eq!((release.time_ps(0), release.time_ps(1)), (Some(100), Some(200)));
        assert_eq!(read(first), read(pause));
        assert_eq!(read(release), Some(PauseFrame::of_class(2, 0)));
        assert_eq!(read(pause), Some(PauseFrame::of_class(2, u16::MAX)));
    }

    #[test]
    fn long_pauses_are_renewed_when_they_end() {
        // At 100 Gb/s a frame pauses for 335,539,200 ps at most.
        let rate_bps = Some(100_000_000_000);
        let trains = PacketTrain::pausable_queue(68, 0, 1_000_000_000, 1_000_000, rate_bps);
        let offsets: Vec<u64> = trains.iter().map(|train| train.offset_ps).collect();
        assert_eq!(offsets, [0, 1_000_000, 1_000_000_000, 336_539_200, 672_078_400]);
    }
}
