// SPDX-License-Identifier: Apache-2.0
//! [`DepthTimes`]: for how long a queue had how many packets. Depths below 1,024 are exact; larger ones share classes of
//! at most 1/512 of the depth.

const EXACT_DEPTHS: u64 = 1024;
/// Classes of each power of two above them.
const CLASSES: u64 = EXACT_DEPTHS / 2;

/// Times in picoseconds by the number of packets in a queue. Times with an empty queue are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DepthTimes {
    times_ps: Vec<u64>,
}

fn class(depth: u64) -> usize {
    if depth < EXACT_DEPTHS {
        return depth as usize;
    }
    let shift = u64::from(depth.ilog2() - CLASSES.ilog2());
    (shift * CLASSES + (depth >> shift)) as usize
}

/// The least depth of a class.
fn depth(class: u64) -> u64 {
    if class < EXACT_DEPTHS {
        return class;
    }
    let shift = class / CLASSES - 1;
    (class - shift * CLASSES) << shift
}

impl DepthTimes {
    /// Adds a time with this many packets.
    #[inline]
    pub(super) fn add(&mut self, depth: usize, time_ps: u64) {
        if depth == 0 || time_ps == 0 {
            return;
        }
        let class = class(depth as u64);
        if self.times_ps.len() <= class {
            self.times_ps.resize(class + 1, 0);
        }
        self.times_ps[class] += time_ps;
    }

    /// Adds the times of another queue, or of the same queue before its device was replaced.
    pub fn merge(&mut self, other: &DepthTimes) {
        self.times_ps.resize(self.times_ps.len().max(other.times_ps.len()), 0);
        for (time_ps, more_ps) in self.times_ps.iter_mut().zip(&other.times_ps) {
            *time_ps += more_ps;
        }
    }

    /// The number of packets, integrated over time.
    #[cfg(test)]
    pub(super) fn packet_time_ps(&self) -> u128 {
        let classes = self.times_ps.iter().enumerate();
        classes.map(|(class, ps)| u128::from(depth(class as u64)) * u128::from(*ps)).sum()
    }

    /// Returns the least number of packets that the queue did not exceed for a share of `whole_ps`, over time and not over
    /// packets.
    pub fn percentile(&self, share: f64, whole_ps: u64) -> u64 {
        let mut above_ps = (whole_ps as f64 * (1.0 - share)).round() as u64;
        for (class, time_ps) in self.times_ps.iter().enumerate().rev() {
            if *time_ps > above_ps {
                return depth(class as u64);
            }
            above_ps -= time_ps;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_exact_below_1024_and_within_a_512th_above() {
        for packets in (0..5_000).chain([65_535, 65_536, 1_000_000, u64::from(u32::MAX)]) {
            let least = depth(class(packets).try_into().expect("a small number"));
            assert!(least <= packets && packets - least <= packets / 512, "{packets}: {least}");
            assert!(packets >= EXACT_DEPTHS || least == packets, "{packets}: {least}");
        }
    }

    #[test]
    fn percentiles_are_over_time() {
        let mut times = DepthTimes::default();
        // Empty for 900 ps, then 50 packets for 91, 60 for 9.
        times.add(50, 91);
        times.add(60, 9);
        for (share, packets) in [(0.9, 0), (0.901, 50), (0.99, 50), (0.992, 60), (1.0, 60)] {
            assert_eq!(times.percentile(share, 1_000), packets, "{share}");
        }
        times.merge(&times.clone());
        assert_eq!(times.percentile(0.99, 2_000), 50);
        assert_eq!(DepthTimes::default().percentile(0.99, 1_000), 0);
    }
}
