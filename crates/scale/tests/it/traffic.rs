// SPDX-License-Identifier: Apache-2.0
//! Traffic has the distributions of the paper's artifact, and its files are read or refused with a line.

use scale::traffic::{
    Flows, PacketOptions, Pattern, Sharing, Sizes, TrafficPacket, WebSearch, csv, packets,
    web_search,
};
use std::collections::BTreeSet;

fn flows(sharing: Sharing) -> Vec<Vec<(usize, u32)>> {
    Flows { stages: 16, stateful: 4, cells: 512, sharing }.generate(3)
}

#[test]
fn flows_with_own_cells_share_none_and_fill_an_array() {
    let flows = flows(Sharing::Own);
    let accesses: Vec<(usize, u32)> = flows.iter().flatten().copied().collect();
    let distinct: BTreeSet<&(usize, u32)> = accesses.iter().collect();
    assert_eq!(distinct.len(), accesses.len());
    let stages: BTreeSet<usize> = accesses.iter().map(|(stage, _)| *stage).collect();
    assert_eq!(stages.len(), 4);
    assert!(stages.iter().all(|stage| *stage < 15));
    let most = accesses.iter().map(|(_, cell)| *cell).max();
    assert_eq!(most, Some(511));
    // 1 to 4 accesses, evenly: about 2.5 a flow, so about 820 flows.
    assert!((750..900).contains(&flows.len()), "{} flows", flows.len());
}

#[test]
fn flows_that_meet_every_array_have_one_cell_in_each() {
    let own = flows(Sharing::OwnEverywhere);
    assert_eq!(own.len(), 512);
    for (flow, accesses) in own.iter().enumerate() {
        assert_eq!(accesses.len(), 4);
        assert!(accesses.iter().all(|(_, cell)| *cell as usize == flow));
    }
    assert_eq!(flows(Sharing::Everywhere { flows: 9 }).len(), 9);
}

fn options(pattern: Pattern, sizes: Sizes) -> PacketOptions {
    PacketOptions { ports: 64, pipelines: 4, per_port: 100, sizes, pattern, flows: 800 }
}

#[test]
fn ports_send_at_line_rate() {
    let packets = packets(&options(Pattern::Uniform, Sizes::Bimodal(256, 1472)), 5);
    assert_eq!(packets.len(), 6400);
    for port in 0..64 {
        let of_port: Vec<&TrafficPacket> = packets.iter().filter(|one| one.port == port).collect();
        assert!(of_port[0].cycle < 16);
        for pair in of_port.windows(2) {
            let units = u64::from(pair[0].bytes / 64);
            assert_eq!(pair[1].cycle - pair[0].cycle, 16 * units);
        }
    }
    let small = packets.iter().filter(|packet| packet.bytes == 256).count();
    assert!((3000..3400).contains(&small), "{small} small packets");
}

#[test]
fn skewed_packets_belong_to_few_flows() {
    let share = |pattern| {
        let packets = packets(&options(pattern, Sizes::Fixed(64)), 5);
        let long = packets.iter().filter(|packet| packet.flow.is_some_and(|flow| flow < 240));
        long.count() as f64 / packets.len() as f64
    };
    assert!((0.94..0.96).contains(&share(Pattern::Skewed)), "{}", share(Pattern::Skewed));
    assert!((0.28..0.32).contains(&share(Pattern::Uniform)), "{}", share(Pattern::Uniform));
}

#[test]
fn flows_of_given_sizes_end() {
    let options = WebSearch {
        ports: 2,
        pipelines: 2,
        per_port: 50,
        sizes: Sizes::Fixed(100),
        flows_at_a_time: 1,
    };
    let packets = web_search(&options, 1, |_| 1000);
    for flow in 0..10 {
        let count = packets.iter().filter(|packet| packet.flow == Some(flow)).count();
        assert_eq!(count, 10, "flow {flow}");
    }
    // A hundred bytes are 1.5625 cycles.
    let of_port: Vec<u64> =
        packets.iter().filter(|packet| packet.port == 0).map(|packet| packet.cycle).collect();
    let span = of_port[49] - of_port[0];
    assert!((76..=77).contains(&span), "{span}");
}

#[test]
fn files_of_the_artifact_are_read() {
    let flows = csv::flows("flowid,stage_num_1,state_in_stage_1,...\n1,10,0,4,7\n2,4,1\n");
    assert_eq!(flows, Ok(vec![vec![(10, 0), (4, 7)], vec![(4, 1)]]));
    let packets = csv::packets("port,pkt_size,flowid,time\n0,64,2,0\r\n3,1472,0,15\n", 2);
    let packet = |port, bytes, flow, cycle| TrafficPacket { cycle, port, bytes, flow };
    assert_eq!(packets, Ok(vec![packet(0, 64, Some(1), 0), packet(3, 1472, None, 15)]));
}

#[test]
fn wrong_files_are_refused_with_a_line() {
    let of_flows = |text: &str| csv::flows(text).map(|_| ()).map_err(|error| error.to_string());
    let of_packets =
        |text: &str| csv::packets(text, 2).map(|_| ()).map_err(|error| error.to_string());
    let refused = |text: &str| Err(text.to_string());
    assert_eq!(of_flows("head\n1,a,0\n"), refused("line 2: `a` is no number"));
    assert_eq!(
        of_flows("head\n1,1,0\n3,1,0\n"),
        refused("line 3: flow 3 stands where flow 2 should")
    );
    assert_eq!(of_flows("head\n1,1\n"), refused("line 2: a stage without a cell at the end"));
    let fields = "line 2: 3 fields, not port, size, flow and time";
    assert_eq!(of_packets("head\n0,64,1\n"), refused(fields));
    assert_eq!(of_packets("head\n0,64,3,0\n"), refused("line 2: flow 3 of 2"));
}
