// SPDX-License-Identifier: Apache-2.0
//! Packet events for switches by number: they arrive at port 0, whatever port their frame came by.

use crate::alike::{check, check_delayed};
use lucid_compiler::{Backend, Delay};

const BOTH: &[Backend] = &[Backend::V1Model, Backend::Tna];

/// Sent to itself, to others, to a group, with a delay, beside other events.
const SENDER: &str = "
    packet event go(int<8> kind, int x, int<80> fill, Payload.t rest);
    packet event bare(int<8> kind, int x, int<80> fill);
    packet event none(int<8> kind, int x, int<80> fill, Payload.t rest);
    event note(int x);
    global Array.t<32> ports = Array.create(16);
    global Array.t<32> others = Array.create(2);
    memop plus(int stored, int x) { return stored + x; }
    handle note(int x) { Array.setm(others, 0, plus, x); }
    handle go(int<8> kind, int x, int<80> fill, Payload.t rest) {
        Array.set(ports, (int<32>)kind, 1 + (int<32>)ingress_port);
        match kind with
        | 1 -> { generate_switch(self, go(9, x, fill, rest)); }
        | 2 -> { generate_switch(1 - self, go(9, x, fill, rest)); }
        | 3 -> { generate Event.locate(go(9, x, fill, rest), {0, 1}); }
        | 4 -> { generate Event.delay(Event.locate(go(9, x, fill, rest), self), 7000); generate note(x); }
        | 5 -> { generate Event.delay(Event.locate(go(9, x, fill, Payload.empty()), 1 - self), 7000); }
        | 6 -> { generate go(9, x, fill, rest); generate_switch(1 - self, bare(200, x, fill)); }
        | 7 -> { generate_switch(self, none(201, x, fill, rest)); generate_switch(1 - self, none(201, x, fill, rest)); }
        | 8 -> { generate_switch(self, bare(202, x, fill)); generate_switch(self, note(x)); }
        | 10 -> { generate Event.delay(Event.locate(go(9, x, fill, rest), self), 150000); }
        | _ -> { Array.setm(others, 1, plus, x); }
    }
    handle bare(int<8> kind, int x, int<80> fill) {
        Array.set(ports, (int<32>)kind & 15, 1 + (int<32>)ingress_port);
        generate_port(7, bare(kind, x, fill));
    }
    parser main(bitstring pkt) {
        int<8> kind = read(pkt);
        int x = read(pkt);
        int<80> fill = read(pkt);
        match kind with
        | 200 -> { generate(bare(kind, x, fill)); }
        | 201 -> { generate(none(kind, x, fill, Payload.parse(pkt))); }
        | 202 -> { drop; }
        | _ -> { generate(go(kind, x, fill, Payload.parse(pkt))); }
    }";

fn run(network: &str) -> String {
    let kinds = [1, 2, 3, 4, 5, 6, 7, 8, 10].into_iter().zip(0..);
    let packets = kinds.map(|(kind, at)| {
        format!(
            "{{\"type\": \"packet\", \"bytes\": \"{kind:02x}{:08x}{:020x}a1a2a3\", \
             \"locations\": [\"0:3\"], \"timestamp\": {}}}",
            1u32 << at,
            10,
            20_000 * at
        )
    });
    let packets: Vec<String> = packets.collect();
    format!(
        "{{\"switches\": 2, {network}\"max time\": \"500us\", \"events\": [{}]}}",
        packets.join(", ")
    )
}

#[test]
fn packet_events_for_switches_arrive_at_port_0() {
    for network in ["\"links\": {\"0:1\": \"1:2\"}, ", ""] {
        for delay in [None, Some(Delay::Queue)] {
            let words = ["at port", "left", "dropped", "ports["];
            let expected = ["go(kind=9, x=1, fill=10, rest=a1a2a3) at port 0"];
            check_delayed(SENDER, &run(network), (BOTH, delay), &words, &expected);
        }
    }
}

/// The parser asks for the port.
#[test]
fn parsers_see_port_0() {
    check(
        "packet event go(int<8> kind, int<112> fill, Payload.t rest);
         event came(int<8> kind, int<9> port);
         handle go(int<8> kind, int<112> fill, Payload.t rest) {
             if (kind == 1) { generate_switch(self, go(9, fill, rest)); }
             if (kind == 2) { generate_switch(1, go(9, fill, rest)); }
             if (kind == 3) { generate_port(1, go(9, fill, rest)); }
             if (kind == 4) { generate go(9, fill, rest); }
         }
         handle came(int<8> kind, int<9> port) { skip; }
         parser main(bitstring pkt) {
             int<8> kind = read(pkt);
             int<112> fill = read(pkt);
             match (kind, ingress_port) with
             | 9, 0 -> { generate(came(kind, ingress_port)); }
             | 9, 2 -> { generate(came(kind, ingress_port)); }
             | _, _ -> { generate(go(kind, fill, Payload.parse(pkt))); }
         }",
        r#"{"switches": 2, "links": {"0:1": "1:2"}, "max time": "100us", "events": [
            {"type": "packet", "bytes": "010000000000000000000000000005aabb", "locations": ["0:3"]},
            {"type": "packet", "bytes": "020000000000000000000000000005aabb", "timestamp": 5000},
            {"type": "packet", "bytes": "030000000000000000000000000005aabb", "timestamp": 9000},
            {"type": "packet", "bytes": "040000000000000000000000000005aabb", "timestamp": 15000}]}"#,
        BOTH,
        &["at port"],
        &["came(kind=9, port=0) at port 0", "came(kind=9, port=2) at port 2", "at port 196"],
    );
}
