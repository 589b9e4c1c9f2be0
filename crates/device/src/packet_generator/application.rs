// SPDX-License-Identifier: Apache-2.0
//! An application of Tofino's packet generator: a timer that makes batches of packets. Each packet starts with the
//! generator's header and arrives at the ingress parser by a port of the pipe.

/// Number of applications of a generator.
pub const GENERATOR_APPLICATIONS: u8 = 8;

/// Default ingress port of an application's packets: on Tofino one of the ports 68 to 71 of the pipe.
pub const GENERATOR_PORT: u32 = 68;

/// Largest number of batches of a timer and of packets of a batch: their numbers have 16 bits.
pub const MAX_BATCHES: u32 = 1 << 16;

/// How often a timer fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeneratorTimer {
    /// At the end of each period.
    #[default]
    Periodic,
    /// Once, at the end of the first period.
    Once,
}

/// An application: each time its timer fires it makes `batches` batches of `packets` packets. The timer does not fire
/// while packets of the previous time are outstanding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorApplication {
    /// Its number, below [`GENERATOR_APPLICATIONS`].
    pub id: u8,
    /// The ingress port of the packets.
    pub port: u32,
    /// How often the timer fires.
    pub timer: GeneratorTimer,
    /// Start of the timer after the application is set, in picoseconds.
    pub offset_ps: u64,
    /// Time from the timer's start until it fires, in picoseconds; at least 1.
    pub period_ps: u64,
    /// Batches per timer event; 1 to [`MAX_BATCHES`].
    pub batches: u32,
    /// From the last packet of a batch to the first of the next, in picoseconds.
    pub batch_gap_ps: u64,
    /// Packets per batch; 1 to [`MAX_BATCHES`].
    pub packets: u32,
    /// From packet to packet of a batch, in picoseconds.
    pub packet_gap_ps: u64,
    /// The bytes after the header.
    pub bytes: Vec<u8>,
}

impl Default for GeneratorApplication {
    /// Application 0 at port 68, one packet without content each microsecond.
    fn default() -> GeneratorApplication {
        GeneratorApplication {
            id: 0,
            port: GENERATOR_PORT,
            timer: GeneratorTimer::Periodic,
            offset_ps: 0,
            period_ps: 1_000_000,
            batches: 1,
            batch_gap_ps: 0,
            packets: 1,
            packet_gap_ps: 0,
            bytes: Vec::new(),
        }
    }
}

/// The position of a packet among those of an application.
struct Place {
    /// Number of earlier timer events.
    timer: u64,
    batch: u64,
    packet: u64,
}

impl GeneratorApplication {
    fn place(&self, number: u64) -> Place {
        let packets = u64::from(self.packets.max(1));
        let each_time = packets * u64::from(self.batches.max(1));
        let within = number % each_time;
        Place { timer: number / each_time, batch: within / packets, packet: within % packets }
    }

    /// Returns the time of a packet after the first one of its timer event.
    fn after_first_ps(&self, batch: u64, packet: u64) -> u64 {
        let gaps = u64::from(self.packets.max(1)) - 1;
        let of_batch = gaps.saturating_mul(self.packet_gap_ps).saturating_add(self.batch_gap_ps);
        let before = batch.saturating_mul(of_batch);
        before.saturating_add(packet.saturating_mul(self.packet_gap_ps))
    }

    /// Returns the time of a packet after the application was set; `number` counts its packets from 0. `None` after the
    /// last packet.
    pub(crate) fn time_ps(&self, number: u64) -> Option<u64> {
        let Place { timer, batch, packet } = self.place(number);
        if self.timer == GeneratorTimer::Once && timer > 0 {
            return None;
        }
        let period_ps = self.period_ps.max(1);
        let last = (u64::from(self.batches.max(1)) - 1, u64::from(self.packets.max(1)) - 1);
        let periods = self.after_first_ps(last.0, last.1) / period_ps + 1;
        let ends_ps = periods.checked_mul(timer)?.checked_add(1)?.checked_mul(period_ps)?;
        ends_ps.checked_add(self.offset_ps)?.checked_add(self.after_first_ps(batch, packet))
    }

    /// Makes the packet: `pktgen_timer_header_t` and the payload.
    pub(crate) fn packet(&self, number: u64) -> Vec<u8> {
        let Place { batch, packet, .. } = self.place(number);
        let pipe = (self.port >> 7 & 3) as u8;
        let mut bytes = vec![pipe << 3 | self.id & 7, 0];
        bytes.extend((batch as u16).to_be_bytes());
        bytes.extend((packet as u16).to_be_bytes());
        bytes.extend_from_slice(&self.bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(application: &GeneratorApplication, expected: &[(u64, &[u8])]) {
        let made: Vec<(u64, Vec<u8>)> = (0..expected.len() as u64 + 1)
            .map_while(|at| Some((application.time_ps(at)?, application.packet(at))))
            .take(expected.len())
            .collect();
        let expected: Vec<_> = expected.iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect();
        assert_eq!(made, expected, "{application:?}");
    }

    #[test]
    fn a_timer_that_is_over_makes_batches() {
        let once = GeneratorApplication {
            id: 5,
            port: 68 + 2 * 128,
            timer: GeneratorTimer::Once,
            offset_ps: 1000,
            period_ps: 100,
            batches: 2,
            batch_gap_ps: 30,
            packets: 2,
            packet_gap_ps: 7,
            bytes: vec![0xab],
        };
        // Pipe 2, application 5.
        check(
            &once,
            &[
                (1100, &[0x15, 0, 0, 0, 0, 0, 0xab]),
                (1107, &[0x15, 0, 0, 0, 0, 1, 0xab]),
                (1137, &[0x15, 0, 0, 1, 0, 0, 0xab]),
                (1144, &[0x15, 0, 0, 1, 0, 1, 0xab]),
            ],
        );
        assert_eq!(once.time_ps(4), None);
        let periodic = GeneratorApplication { timer: GeneratorTimer::Periodic, ..once.clone() };
        assert_eq!((periodic.time_ps(4), periodic.time_ps(9)), (Some(1200), Some(1307)));
        // Its packets take 44 ps, so timers after 20 and 40 ps are missed.
        let fast = GeneratorApplication { period_ps: 20, ..periodic };
        let times: Vec<_> = [0, 3, 4, 8].into_iter().map(|at| fast.time_ps(at)).collect();
        assert_eq!(times, [Some(1020), Some(1064), Some(1080), Some(1140)]);
    }

    #[test]
    fn numbers_are_16_bits_and_times_end() {
        let many = GeneratorApplication { packets: MAX_BATCHES, ..Default::default() };
        assert_eq!(many.packet(65_535), [0, 0, 0, 0, 0xff, 0xff]);
        assert_eq!(many.packet(65_536), [0; 6]);
        assert_eq!(many.time_ps(u64::MAX), None);
        let huge = GeneratorApplication { batch_gap_ps: u64::MAX, batches: 3, ..many };
        assert_eq!(huge.time_ps(3 << 16), None);
    }
}
