// SPDX-License-Identifier: Apache-2.0
//! Tables that several places of a program look up: each copy gets the entries of the run, and of the commands that
//! `plane emit` writes.

use crate::departures::{compiled, departures};
use control::session::Session;
use device::{Device, DeviceOptions};
use lucid_compiler::{Backend, GlobalPlace};
use lucid_network::deploy::{self, SwitchSetup};
use lucid_network::{ready, script};

/// Two handlers look `tbl` up, one of them in two branches.
const SEVERAL_PLACES: &str = "
    action int give(int found)(int asked) { return found + asked; }
    action int flip(int found)(int asked) { return found ^^ asked; }
    global Table.t<<(int, int<8>), int, int, int>> tbl = Table.create(8, [give; flip], give, 5);
    packet event one(int<112> fill, int<8> which, int key, int<8> other, Payload.t rest);
    packet event two(int<112> fill, int<8> which, int key, int<8> other, Payload.t rest);
    handle one(int<112> fill, int<8> which, int key, int<8> other, Payload.t rest) {
        int result = 0;
        if (other == 1) {
            result = Table.lookup(tbl, (key, other), 100);
        } else {
            result = Table.lookup(tbl, (key + 1, other), 200);
        }
        generate_port(1, one(fill, 1, result, other, rest));
    }
    handle two(int<112> fill, int<8> which, int key, int<8> other, Payload.t rest) {
        int result = Table.lookup(tbl, (key, 0), 300);
        generate_port(2, two(fill, 2, result, other, rest));
    }
    parser main(bitstring pkt) {
        int<112> fill = read(pkt);
        int<8> which = read(pkt);
        int key = read(pkt);
        int<8> other = read(pkt);
        match which with
        | 1 -> { generate(one(fill, which, key, other, Payload.parse(pkt))); }
        | _ -> { generate(two(fill, which, key, other, Payload.parse(pkt))); }
    }";

/// An entry of the run: key, mask and value of its second field, whether the action is `give`, argument.
type Entry = (u32, u8, u8, bool, u32);

/// Looks up as the source says; the first entry that fits.
fn found(entries: &[Entry], key: u32, other: u8, asked: u32) -> u32 {
    let fits = |entry: &&Entry| entry.0 == key && entry.2 & entry.1 == other & entry.1;
    match entries.iter().find(fits) {
        Some((_, _, _, true, argument)) => argument.wrapping_add(asked),
        Some((_, _, _, false, argument)) => argument ^ asked,
        None => asked + 5,
    }
}

/// Port and bytes of the packet that answers one.
fn answer(entries: &[Entry], which: u8, key: u32, other: u8) -> (u32, String) {
    let result = match (which, other) {
        (1, 1) => found(entries, key, other, 100),
        (1, _) => found(entries, key + 1, other, 200),
        _ => found(entries, key, 0, 300),
    };
    (u32::from(which), packet(which, result, other))
}

fn packet(which: u8, number: u32, other: u8) -> String {
    format!("{:028x}{which:02x}{number:08x}{other:02x}aabbcc", 0x0102)
}

/// Keys that are tried at each time.
const TRIED: [(u8, u32, u8); 6] =
    [(1, 7, 1), (1, 6, 0), (2, 7, 0), (1, 8, 1), (2, 8, 3), (1, 7, 9)];

const FIRST: &[Entry] = &[(7, 0xff, 1, true, 9), (7, 0, 0, false, 33)];
const LATER: &[Entry] = &[(7, 0xff, 1, true, 9), (7, 0, 0, false, 33), (8, 0, 0, true, 77)];
const LAST: &[Entry] = &[(7, 0xff, 1, true, 9), (8, 0, 0, true, 77)];

fn install(entry: &Entry, priority: u32, time_ns: u64) -> String {
    let (key, mask, value, gives, argument) = entry;
    let action = if *gives { "give" } else { "flip" };
    format!(
        "{{\"type\": \"command\", \"name\": \"Table.install\", \"timestamp\": {time_ns}, \"args\": \
         {{\"table\": \"tbl\", \"key\": [{key}, {value}], \"mask\": [4294967295, {mask}], \
         \"priority\": {priority}, \"action\": \"{action}\", \"args\": [{argument}]}}}}"
    )
}

fn run() -> String {
    // Of equal fields the one of lower priority counts, whichever comes first.
    let mut inputs = vec![install(&FIRST[1], 9, 0), install(&FIRST[0], 2, 0)];
    inputs.push(install(&LATER[2], 5, 20_000));
    inputs.push(
        "{\"type\": \"command\", \"name\": \"Table.remove\", \"timestamp\": 40000, \"args\": \
         {\"table\": \"tbl\", \"key\": [7, \"_\"]}}"
            .into(),
    );
    for begin_ns in [10_000, 30_000, 50_000] {
        for ((which, key, other), at) in TRIED.into_iter().zip(0..) {
            let bytes = packet(which, key, other);
            let time_ns = begin_ns + 1000 * at;
            inputs.push(format!(
                "{{\"type\": \"packet\", \"bytes\": \"{bytes}\", \"timestamp\": {time_ns}}}"
            ));
        }
    }
    format!("{{\"max time\": \"100us\", \"events\": [{}]}}", inputs.join(",\n"))
}

#[test]
fn entries_are_in_every_copy_of_a_table() {
    let mut expected = Vec::new();
    for entries in [FIRST, LATER, LAST] {
        expected.extend(TRIED.map(|(which, key, other)| answer(entries, which, key, other)));
    }
    for target in Backend::ALL {
        let left = departures(SEVERAL_PLACES, &run(), target);
        let left: Vec<_> = left.into_iter().map(|(_, port, bytes)| (port, bytes)).collect();
        assert_eq!(left, expected, "{target:?}");
    }
}

/// The program and the commands that `plane emit` writes, on a device alone.
#[test]
fn emitted_commands_fill_every_copy() {
    for target in Backend::ALL {
        let (setup, compiled) = compiled(SEVERAL_PLACES, &run(), target);
        let site = SwitchSetup::of(&setup, 0);
        let commands = deploy::commands(&compiled, setup.program(), &site);
        let program = ready(&compiled).expect("a program").program().clone();
        let options = DeviceOptions { ..deploy::device_options(&compiled, &site) };
        let mut device = Device::new(program.clone(), options).expect("a device");
        let done = Session::new(program).run("commands", &commands, &mut device.target());
        assert!(done.is_ok(), "{done:?}\n{commands}");
        for ((which, key, other), at) in TRIED.into_iter().zip(1..) {
            let digits = packet(which, key, other);
            let bytes = (0..digits.len()).step_by(2);
            let bytes =
                bytes.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("a byte"));
            device.inject(3, at * 1_000_000, bytes.collect()).expect("a port");
        }
        device.advance(20_000_000).expect("it runs");
        let sent = device.drain_transmitted().into_iter();
        let sent: Vec<(u32, String)> = sent
            .map(|sent| {
                let digits = sent.bytes.iter().map(|byte| format!("{byte:02x}"));
                (sent.port, digits.collect())
            })
            .filter(|(port, _)| *port < 3)
            .collect();
        let expected = TRIED.map(|(which, key, other)| answer(FIRST, which, key, other));
        assert_eq!(sent, expected, "{target:?}\n{commands}");
    }
}

/// The script for a Tofino has each entry of time 0 once a copy, with the names of the program's fields.
#[test]
fn scripts_fill_every_copy() {
    let (setup, compiled) = compiled(SEVERAL_PLACES, &run(), Backend::Tna);
    let script = script::script(&compiled, setup.program(), &SwitchSetup::of(&setup, 0), "several");
    let GlobalPlace::Table { copies, .. } = &compiled.globals[0] else { panic!("no table") };
    assert!(copies.len() > 1, "{copies:?}");
    for copy in copies {
        let lines: Vec<&str> = script
            .lines()
            .filter(|line| line.starts_with(&format!("p4.{}.add", copy.name)))
            .collect();
        let [first, second] = lines.as_slice() else { panic!("{lines:?}") };
        let action = |at: usize| copy.actions[at].rsplit('.').next().expect("a name");
        let keys = |mask: u8, value: u8| {
            format!("key0=0x7, key0_mask=0xffffffff, key1={value:#x}, key1_mask={mask:#x}")
        };
        let given = format!(
            "p4.{}.add_with_{}({}, MATCH_PRIORITY=1, data0_found=9)",
            copy.name,
            action(0),
            keys(0xff, 1)
        );
        let flipped = format!(
            "p4.{}.add_with_{}({}, MATCH_PRIORITY=2, data0_found=33)",
            copy.name,
            action(1),
            keys(0, 0)
        );
        assert_eq!((*first, *second), (given.as_str(), flipped.as_str()));
    }
}
