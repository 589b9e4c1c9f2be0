// SPDX-License-Identifier: Apache-2.0
//! The packet generator's part in the delay queue (Lucid §3.2): what it makes, and how the ingress parser
//! makes frames of flow control of it that release the queue and pause it again. The table `dispatch`
//! sends them to the recirculation port (`scheduler_tables`), whose MAC obeys them when they come round.
//!
//! All frames of a period are one application's, so that they stay in step: two packets, the first of which
//! releases the queue, and where one frame cannot pause for a whole period, more batches of two that pause it
//! again. Another application, once, pauses the queue at the beginning. The generator's header stands in
//! place of the destination address and says which packet it is.

use crate::options::Options;
use device::{GENERATOR_PORT, GeneratorApplication, GeneratorTimer, MAX_BATCHES, PauseFrame};

/// Bytes of the generator's header, which are those of the destination address.
const HEADER_BYTES: usize = 6;

/// The application of each period, and the one of the beginning.
const EACH_PERIOD: u8 = 0;
const BEGINNING: u8 = 1;

/// When the application of the beginning makes its packet, in picoseconds.
const BEGINNING_PS: u64 = 1000;

/// The part of a period in which the delay queue is open.
pub const OPEN_PART: u64 = 100;

/// The port of the generator's packets: one that packets do not come round by at any switch.
pub fn port(options: &Options) -> u32 {
    let goes_round = |port: &u32| {
        *port == options.recirculation_port || options.own_recirculation_ports.contains(port)
    };
    let mut ports = (GENERATOR_PORT..).filter(|port| !goes_round(port));
    ports.next().unwrap_or(GENERATOR_PORT)
}

/// The class of flow control of the delay queue.
pub fn class(options: &Options) -> u8 {
    (options.delay_queue & 7) as u8
}

/// What the generator makes for a queue that is released once in so many picoseconds. The rate is the
/// recirculation port's.
pub fn applications(
    options: &Options,
    period_ps: u64,
    rate_bps: Option<u64>,
) -> [GeneratorApplication; 2] {
    let open_ps = period_ps / OPEN_PART;
    // The next frame comes a little before a pause is over.
    let longest_ps = PauseFrame::longest_ps(rate_bps).max(2 * open_ps);
    let again_ps = longest_ps - open_ps;
    let count = |pauses: u64| pauses.clamp(1, MAX_BATCHES.into()) as u32;
    let bytes = PauseFrame::of_class(class(options), u16::MAX).bytes([0; 6]);
    let application = |id, timer, period_ps, (batches, packets)| GeneratorApplication {
        id,
        port: port(options),
        timer,
        offset_ps: 0,
        period_ps,
        batches,
        batch_gap_ps: if batches > 1 { again_ps } else { 0 },
        packets,
        packet_gap_ps: if packets > 1 { open_ps } else { 0 },
        bytes: bytes[HEADER_BYTES..].to_vec(),
    };
    // Its last packet is before the next release.
    let pairs = count((period_ps - open_ps).div_ceil(longest_ps));
    let first = count(period_ps.div_ceil(again_ps));
    [
        application(EACH_PERIOD, GeneratorTimer::Periodic, period_ps, (pairs, 2)),
        application(BEGINNING, GeneratorTimer::Once, BEGINNING_PS, (first, 1)),
    ]
}

/// The header of a frame up to the quanta of the queue's class, whose destination the generator's header is
/// at first. What follows stays behind it.
pub(super) fn header(options: &Options) -> String {
    let before = match u32::from(class(options)) {
        0 => String::new(),
        classes => format!("bit<{}> before;", 16 * classes),
    };
    format!(
        "header pause_h {{ bit<48> destination; bit<48> source; bit<16> ether_type; \
         bit<16> opcode; bit<16> classes; {before} bit<16> quanta; }}"
    )
}

/// States of the ingress parser: the frame, as the generator has it, pauses the queue; that of the first packet of
/// a period releases it. The texts say what the table `dispatch` is to do then.
pub(super) fn states(pauses: &str, releases: &str) -> [String; 3] {
    // Three bits, two of the pipe, three of the application, eight, then batch and packet.
    let first = u64::from(EACH_PERIOD) << 8;
    // Tofino matches at most 32 bits of a field at once.
    [
        format!(
            "state pause {{ pkt.extract(hdr.pause); \
             transition select(hdr.pause.destination[47:32], hdr.pause.destination[31:0]) {{ \
             ({first:#06x} &&& 0x0700, 0) : release; default : keep_pause; }} }}"
        ),
        format!("state keep_pause {{ {pauses} transition accept; }}"),
        format!("state release {{ {releases} transition accept; }}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When and for which period the queue is paused or released, in nanoseconds, in the first periods.
    fn check(period_ns: u64, rate_bps: Option<u64>, expected: &str) {
        let options = Options { recirculation_port: 68, delay_queue: 3, ..Options::default() };
        let made = applications(&options, period_ns * 1000, rate_bps);
        let text: Vec<String> = made
            .iter()
            .map(|one| {
                assert_eq!((one.port, one.bytes.len()), (69, 54));
                format!(
                    "{:?} {}: {} of {}, {} and {} apart",
                    one.timer,
                    one.period_ps / 1000,
                    one.batches,
                    one.packets,
                    one.batch_gap_ps / 1000,
                    one.packet_gap_ps / 1000
                )
            })
            .collect();
        assert_eq!(text.join("; "), expected);
    }

    #[test]
    fn frames_come_before_a_pause_is_over() {
        let once = "Once 1: 1 of 1, 0 and 0 apart";
        check(100_000, None, &format!("Periodic 100000: 1 of 2, 0 and 1000 apart; {once}"));
        let rate_bps = Some(100_000_000_000);
        check(100_000, rate_bps, &format!("Periodic 100000: 1 of 2, 0 and 1000 apart; {once}"));
        // A frame pauses for 335,539 ns at most.
        check(
            1_000_000,
            rate_bps,
            "Periodic 1000000: 3 of 2, 325539 and 10000 apart; Once 1: 4 of 1, 325539 and 0 apart",
        );
    }
}
