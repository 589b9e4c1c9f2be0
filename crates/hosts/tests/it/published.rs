// SPDX-License-Identifier: Apache-2.0
//! Figures of ns-3 3.37 for the same networks. Longer runs and more cases are in the example `compare`.

use crate::support::dumbbell::Dumbbell;
use crate::support::{MS, SECOND, incast};
use hosts::tcp::Control;

fn near(found: f64, published: f64, share: f64, what: &str) {
    let error = found / published - 1.0;
    assert!(error.abs() <= share, "{what}: {found:.3}, published {published}");
}

#[test]
fn completion_times_of_single_flows_are_ns3s() {
    for (bytes, published_ms) in
        [(10_000, 30.86), (100_000, 93.37), (1_000_000, 218.10), (10_000_000, 964.94)]
    {
        let outcome = Dumbbell::flow(bytes).run(0, 10 * SECOND);
        near(outcome.completion_ms(), published_ms, 0.005, &format!("{bytes} bytes"));
    }
    // 234 drops: slow start overshoots.
    let drops = Dumbbell::flow(10_000_000).run(0, 10 * SECOND).queue.drops;
    near(drops as f64, 234.0, 0.05, "drops");
}

/// Goodput is the link's; the queue's mean is within a tenth.
#[test]
fn one_flow_fills_the_bottleneck_and_its_queue_as_ns3s() {
    for (control, published) in
        [(Control::Reno, 30.7), (Control::LinuxReno, 31.7), (Control::Cubic, 38.3)]
    {
        let outcome = Dumbbell::a(control).run(20 * SECOND, 80 * SECOND);
        near(outcome.goodput(), 9.640, 0.003, control.name());
        near(outcome.queue.mean, published, 0.1, control.name());
        assert_eq!(outcome.senders[0].statistics.timeouts, 0);
    }
}

#[test]
fn a_queue_below_the_bandwidth_delay_product_leaves_the_link_idle_as_ns3s() {
    let mut dumbbell = Dumbbell::a(Control::Reno);
    dumbbell.queue_packets = 10;
    let outcome = dumbbell.run(20 * SECOND, 80 * SECOND);
    near(outcome.goodput(), 8.491, 0.03, "goodput");
    assert!((outcome.queue.mean - 2.6).abs() < 1.5, "{:?}", outcome.queue);
}

/// A step at K of ns-3's queue disc; its device holds a packet more.
#[test]
fn dctcp_keeps_the_queue_of_ns3() {
    for (k, published) in [(20, 17.7), (65, 61.4)] {
        let flows = if k == 20 { 1 } else { 2 };
        let outcome = Dumbbell::d(flows, k).run(SECOND / 5, SECOND / 2);
        near(outcome.goodput(), 964.0, 0.003, "goodput");
        let mean = outcome.queue.mean - 1.0;
        assert!((mean - published).abs() < 1.5, "K {k}: {mean}, published {published}");
        assert_eq!(outcome.queue.drops, 0);
    }
}

/// One seed of few losses: chance alone passes 5 %. Reno is judged by ns-3 (.774), and Reno that counts segments by PFTK (Padhye
/// et al. 1998, one acknowledgement a segment: 1.157), because ns-3 adds two segments to its window after each recovery.
/// Cubic's Reno-friendly region (RFC 9438 section 4.3) keeps the square root law (1.419), which ns-3.37's Cubic does not have.
#[test]
fn goodput_under_random_loss_is_that_of_ns3_and_of_theory() {
    for (control, published, share) in [
        (Control::Reno, 0.774, 0.1),
        (Control::LinuxReno, 1.157, 0.15),
        (Control::Cubic, 1.419, 0.1),
    ] {
        let outcome = Dumbbell::lossy(0.01, control).run(20 * SECOND, 320 * SECOND);
        near(outcome.goodput(), published, share, control.name());
    }
}

#[test]
fn lossless_incast_takes_the_time_of_ns3() {
    let incast = incast::run(32, 65_536, 4000, 200 * MS);
    assert_eq!((incast.drops, incast.timeouts), (0, 0));
    let times = &incast.completions_ms;
    near(times.iter().sum::<f64>() / 32.0, 17.56, 0.05, "mean");
    near(times.iter().copied().fold(0.0, f64::max), 17.61, 0.05, "largest");
}

/// With a floor of two segments (RFC 8257 has none, Linux has) no flow waits for a timeout.
#[test]
fn dctcp_incast_needs_no_timeouts() {
    let incast = incast::run_with(Control::Dctcp, Some(21), 32, 65_536, 1000, SECOND);
    assert_eq!((incast.drops, incast.timeouts), (0, 0));
    near(incast.completions_ms.iter().copied().fold(0.0, f64::max), 17.5, 0.05, "largest");
}
