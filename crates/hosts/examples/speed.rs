// SPDX-License-Identifier: Apache-2.0
//! Prints how many packets a second one core moves from host to host over one link:
//! `cargo run --release -p hosts --example speed`.

#[path = "../tests/support/mod.rs"]
mod support;

use hosts::Host;
use hosts::applications::Application;
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;
use hosts::applications::udp_sender::UdpSenderOptions;
use hosts::applications::udp_server::UdpServerOptions;
use std::time::Instant;
use support::{Pair, SECOND, US};

fn measure(name: &str, seconds: u64, applications: impl FnOnce(&mut Pair)) {
    let mut pair = Pair::simple(10_000_000_000, 10 * US);
    applications(&mut pair);
    let begun = Instant::now();
    pair.simulation.run_until(seconds * SECOND).expect("a run");
    let elapsed = begun.elapsed().as_secs_f64();
    let packets: u64 = pair
        .hosts
        .iter()
        .filter_map(|host| pair.simulation.node::<Host>(*host))
        .map(|host| host.interface_statistics(u64::MAX).received)
        .sum();
    println!(
        "{name}: {:.2} million packets/s ({packets} packets, {elapsed:.2} s of real time for {seconds} s)",
        packets as f64 / elapsed / 1e6
    );
}

fn main() {
    let to = ([10, 0, 0, 2].into(), 5001);
    measure("TCP, 1 connection", 5, |pair| {
        pair.add(0, Application::TcpBulk(TcpBulkOptions::to(to)));
        pair.add(1, Application::TcpServer(TcpServerOptions::at(5001)));
    });
    measure("TCP, 1,000 connections", 5, |pair| {
        for _ in 0..1000 {
            pair.add(0, Application::TcpBulk(TcpBulkOptions::to(to)));
        }
        pair.add(1, Application::TcpServer(TcpServerOptions::at(5001)));
    });
    measure("UDP", 5, |pair| {
        let mut options = UdpSenderOptions::to(to);
        options.rate_bps = 9_000_000_000;
        pair.add(0, Application::UdpSender(options));
        pair.add(1, Application::UdpServer(UdpServerOptions::at(5001)));
    });
}
