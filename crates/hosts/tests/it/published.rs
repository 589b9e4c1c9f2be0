// SPDX-License-Identifier: Apache-2.0
//! Figures of ns-3 for the same networks. Long runs are in the example `compare`.

use crate::support::SECOND;
use crate::support::dumbbell::Dumbbell;
use hosts::tcp::Control;

#[test]
fn completion_times_of_single_flows_are_ns3s() {
    for (bytes, published_ms) in
        [(10_000, 30.86), (100_000, 93.37), (1_000_000, 218.10), (10_000_000, 964.94)]
    {
        let outcome = Dumbbell::flow(bytes).run(0, 10 * SECOND);
        let ours_ms = outcome.completion_ms();
        println!("{bytes} {ours_ms} {published_ms} {:?}", outcome.queue);
        assert!((ours_ms / published_ms - 1.0).abs() < 0.05, "{bytes}: {ours_ms} {published_ms}");
    }
}

#[test]
fn one_reno_flow_fills_the_bottleneck_and_its_queue_as_ns3s() {
    let outcome = Dumbbell::a(Control::Reno).run(20 * SECOND, 120 * SECOND);
    println!("{outcome:?}");
    assert!((outcome.goodput() / 9.640 - 1.0).abs() < 0.003, "{}", outcome.goodput());
    assert!((outcome.queue.mean - 30.7).abs() < 3.07, "{}", outcome.queue.mean);
}
