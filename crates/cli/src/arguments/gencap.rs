// SPDX-License-Identifier: Apache-2.0
//! The options of `plane gencap`.

use clap::Args;
use hosts::packet_trace::{AddressPool, Ipv4Network, TraceOptions};
use hosts::wire::MacAddress;
use source::quantity::{Decimals, Notation, Units};
use std::path::PathBuf;

/// Numbers of packets, flows and hosts.
const COUNT: Notation = Notation {
    units: Units::Metric(&[""]),
    unit_list: "k, M, G",
    default_scale: Some(1),
    decimals: Decimals::Exact,
};

/// Arguments of `plane gencap`.
#[derive(Debug, Args)]
pub struct Gencap {
    /// The capture to write, in pcap format.
    #[arg(value_name = "FILE.pcap")]
    pub file: PathBuf,
    /// Packets, such as 8.9M; 24 for each flow without it.
    #[arg(long, value_name = "N", value_parser = count)]
    pub packets: Option<u64>,
    /// Flows, such as 370k; each has addresses, protocol and ports of its own.
    #[arg(long, value_name = "N", value_parser = count, default_value = "10k")]
    pub flows: u64,
    /// The time from the first to the last packet.
    #[arg(long, value_name = "TIME", value_parser = source::quantity::duration_ps, default_value = "1s")]
    pub duration: u64,
    /// The median number of packets of a flow; a sixth of the mean without it.
    #[arg(long, value_name = "N")]
    pub median: Option<f64>,
    /// The network of senders, such as 10.0.0.0/8; public addresses without it.
    #[arg(long, value_name = "PREFIX", value_parser = network)]
    pub source_net: Option<Ipv4Network>,
    /// The network of receivers.
    #[arg(long, value_name = "PREFIX", value_parser = network)]
    pub destination_net: Option<Ipv4Network>,
    /// Senders; a fourth of the flows without it. With as many as flows each flow has a sender of its own.
    #[arg(long, value_name = "N", value_parser = count)]
    pub sources: Option<u64>,
    /// Receivers; a fourth of the flows without it.
    #[arg(long, value_name = "N", value_parser = count)]
    pub destinations: Option<u64>,
    /// The Ethernet address of the sender of all frames.
    #[arg(long, value_name = "MAC", value_parser = mac, default_value = "02:00:00:00:00:01")]
    pub source_mac: MacAddress,
    /// The Ethernet address of the receiver of all frames.
    #[arg(long, value_name = "MAC", value_parser = mac, default_value = "02:00:00:00:00:02")]
    pub destination_mac: MacAddress,
    /// Write at most so many bytes of each packet; 64 has all headers.
    #[arg(long, short, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(14..=262_144))]
    pub snaplen: Option<u32>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = super::number::<u64>)]
    pub seed: u64,
}

impl Gencap {
    /// Returns the options of the trace.
    pub fn options(&self) -> TraceOptions {
        let pool = |network: Option<Ipv4Network>, hosts| AddressPool {
            network: network.unwrap_or(Ipv4Network::ALL),
            hosts,
        };
        TraceOptions {
            packets: self.packets.unwrap_or(self.flows.saturating_mul(24)),
            flows: self.flows,
            duration_ps: self.duration,
            median: self.median,
            sources: pool(self.source_net, self.sources),
            destinations: pool(self.destination_net, self.destinations),
            source_mac: self.source_mac,
            destination_mac: self.destination_mac,
            seed: self.seed,
        }
    }
}

fn count(text: &str) -> Result<u64, String> {
    COUNT.parse(text).map_err(|_| "write a whole number such as 10000, 370k or 8.9M".to_string())
}

fn network(text: &str) -> Result<Ipv4Network, String> {
    text.parse().map_err(|()| "write an IPv4 prefix such as 10.0.0.0/8".to_string())
}

fn mac(text: &str) -> Result<MacAddress, String> {
    let mac = network_file::Mac::parse(text).map(|mac| MacAddress(mac.0));
    mac.ok_or_else(|| "write an Ethernet address such as 02:00:00:00:00:01".to_string())
}
