// SPDX-License-Identifier: Apache-2.0
//! Sessions on a program with every kind of object: command text in, messages and state out.

use control::map::{Instances, Mapped, Owner, Virtual};
use control::session::{Answer, Session};
use control::state_target::StateTarget;
use control::target::{
    Batch, DeviceItem, Fault, Item, Notification, Outcome, Target, Ticket, Visibility,
    prepare_default_action, prepare_entry, prepare_register,
};
use ir::ready::ReadyProgram;
use ir::{ActionId, Bits, KeyPattern, TableId};
use state::{Atomicity, BoundAction, NewEntry, Read, Update};
use std::num::NonZeroUsize;
use std::sync::Arc;

const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<16> b; bit<32> c; bit<48> d; }
struct headers_t { h_t h; }
enum bit<8> Kind { Small = 1, Large = 2 }
struct metadata_t { Kind kind; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<8>>(4) kinds;
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) { kinds: accept; _: accept; }
    }
}
control V(inout headers_t hdr, inout metadata_t meta) {
    apply { verify_checksum(true, { hdr.h.a }, hdr.h.c, HashAlgorithm.crc32_custom); }
}
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<16>>(8) cells;
    counter(8, CounterType.packets) hits;
    meter(4, MeterType.bytes) rates;
    direct_counter(CounterType.packets_and_bytes) by_entry;
    action_selector(HashAlgorithm.crc16, 16, 16) chooser;
    action forward(bit<9> port, bit<48> mac) { std.egress_spec = port; hdr.h.d = mac; }
    action drop() { mark_to_drop(std); }
    table exact_table {
        key = { hdr.h.a: exact; hdr.h.b: exact @name("second"); }
        actions = { forward; drop; NoAction; }
        size = 2;
        counters = by_entry;
    }
    table lpm_table { key = { hdr.h.c: lpm; } actions = { forward; drop; } default_action = drop(); }
    table ternary_table {
        key = { hdr.h.c: ternary; hdr.h.b: range; }
        actions = { forward; @defaultonly drop; }
        default_action = drop();
    }
    table aging { key = { hdr.h.a: exact; } actions = { drop; forward; } support_timeout = true; }
    table by_names { key = { std.parser_error: exact; meta.kind: exact; } actions = { drop; NoAction; } }
    table fixed { key = { hdr.h.a: exact; } actions = { drop; } const entries = { 1: drop(); } }
    table balanced {
        key = { hdr.h.a: exact; hdr.h.c: selector; }
        actions = { forward; drop; }
        implementation = chooser;
    }
    action mark(inout bit<16> value) {
        hash(value, HashAlgorithm.crc16, 16w0, { hdr.h.a }, 32w65536);
        hash(value, HashAlgorithm.crc32_custom, 16w0, { hdr.h.a }, 32w65536);
        hash(value, HashAlgorithm.crc16_custom, 16w0, { hdr.h.a }, 32w65536);
    }
    apply {
        exact_table.apply(); lpm_table.apply(); ternary_table.apply(); fixed.apply(); by_names.apply(); balanced.apply(); aging.apply();
        bit<16> value; bit<2> color;
        cells.read(value, 0); mark(value); cells.write(1, value); hits.count(1); rates.execute_meter(0, color);
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) {
    apply { update_checksum(true, { hdr.h.a }, hdr.h.c, HashAlgorithm.crc32_custom); }
}
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

pub fn program() -> Arc<ir::Program> {
    let ready = ReadyProgram::of_text("objects.p4", PROGRAM).unwrap_or_else(|why| panic!("{why}"));
    ready.lowered().clone()
}

/// The state of the program, and what was asked of its device.
struct QueuesToo(StateTarget, Vec<DeviceItem>);

impl Target for QueuesToo {
    fn program(&self) -> Arc<ir::Program> {
        self.0.program()
    }

    fn now_ps(&self) -> u64 {
        self.0.now_ps()
    }

    fn visibility(&self) -> Visibility {
        self.0.visibility()
    }

    fn submit(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        let of_device = |item: &Item| match item {
            Item::Device(item) => Some(item.clone()),
            Item::State(_) => None,
        };
        self.1.extend(batch.items.iter().filter_map(of_device));
        self.0.submit(batch, at_ps)
    }

    fn reserve(&mut self, batch: Batch, at_ps: u64) -> Ticket {
        self.0.reserve(batch, at_ps)
    }

    fn commit(&mut self, reservation: Ticket, at_ps: u64) -> Ticket {
        self.0.commit(reservation, at_ps)
    }

    fn release(&mut self, reservation: Ticket) {
        self.0.release(reservation);
    }

    fn barrier(&mut self, at_ps: u64) -> Ticket {
        self.0.barrier(at_ps)
    }

    fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        self.0.poll(ticket)
    }

    fn notifications(&mut self) -> Vec<Notification> {
        self.0.notifications()
    }
}

/// Runs commands one by one, in one batch, and in batches of two; each answers on a line, always the same.
fn check(commands: &str, expected: &str) {
    let program = program();
    let (commands, errors) = control::entries::read("c", commands);
    for size in [Some(1), Some(2), None] {
        let state = StateTarget::new(program.clone()).expect("the program's own entries fit");
        let mut target = QueuesToo(state, Vec::new());
        let mut session = Session::new(program.clone());
        let mut found: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
        let answers = session.apply_all(&commands, &mut target, size.and_then(NonZeroUsize::new));
        for (located, answer) in commands.iter().zip(answers) {
            let place = &located.origin.place;
            found.push(match answer {
                Ok(Answer::Done) => format!("{place}: done"),
                Ok(Answer::Handle(handle)) => format!("{place}: handle {handle}"),
                Ok(Answer::Registers(values)) => {
                    let values: Vec<String> =
                        values.iter().map(|value| value.low_u64().to_string()).collect();
                    format!("{place}: {}", values.join(" "))
                }
                Ok(Answer::Counter(value)) => format!("{place}: {} {}", value.packets, value.bytes),
                Err(error) => error.to_string(),
            });
        }
        found.extend(target.1.iter().map(|item| format!("device: {item:?}")));
        let expected: Vec<&str> =
            expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let found: Vec<&str> = found.iter().flat_map(|text| text.lines()).map(str::trim).collect();
        assert_eq!(found, expected, "in batches of {size:?}");
    }
}

#[test]
fn exact_entries() {
    check(
        "table_add exact_table forward 1 2 => 3 00:00:00:00:00:01
         table_add exact_table drop 1 0x10000 =>
         table_add exact_table drop 1 =>
         table_add exact_table forward 1 3 => 512 0
         table_add exact_table forward 1 3 => 5
         table_add exact_table forwrd 1 3 =>
         table_add exact_tabel drop 1 3 =>
         table_add exact_table drop 1 2 =>
         table_add I.exact_table I.drop 1 3 =>
         table_add exact_table drop 1 4 =>
         table_modify exact_table drop 0
         table_delete exact_table 0
         table_delete exact_table 0
         table_add exact_table drop 1 4 =>",
        "1: handle 0
         error[CTL-E0105]: c:2: table `I.exact_table`, key `second`: `0x10000` does not fit in 16 bits
         error[CTL-E0106]: c:3: table `I.exact_table` has 2 keys (hdr.h.a, second), the entry gives 1
         error[CTL-E0105]: c:4: table `I.exact_table`, action `I.forward`, parameter `port`: `512` does not fit in 9 bits
         error[CTL-E0106]: c:5: table `I.exact_table`, action `I.forward` has 2 parameters (port, mac), the entry gives 1
         error[CTL-E0103]: c:6: table `I.exact_table` has no action `forwrd`
         help: did you mean `I.forward`?
         error[CTL-E0103]: c:7: the program has no table `exact_tabel`
         help: did you mean `I.exact_table`?
         error[CTL-E0108]: c:8: table `I.exact_table` already has an entry for (1, 2); modify or delete that one
         9: handle 1
         error[CTL-E0108]: c:10: table `I.exact_table` is full: it is declared with 2 entries; it keeps what it has
         11: done
         12: done
         error[CTL-E0110]: c:13: table `I.exact_table` has no entry with handle 0
         14: handle 16777216",
    );
}

#[test]
fn prefixes_say_their_length() {
    check(
        "table_add lpm_table forward 10.0.0.1 => 1 2
         table_add lpm_table forward 10.0.0.300 => 1 2
         table_add lpm_table forward 10.0.0.1/32 => 1 2
         table_add lpm_table forward 0x0a000002 => 1 2",
        "error[CTL-E0107]: c:1: table `I.lpm_table`, key `hdr.h.c`: lpm keys take value/length, not the value `10.0.0.1`
         help: write `10.0.0.1/32` for this value alone
         error[CTL-E0105]: c:2: table `I.lpm_table`, key `hdr.h.c`: `10.0.0.300` is not an IPv4 address: `300` is not a number from 0 to 255
         3: handle 0
         error[CTL-E0107]: c:4: table `I.lpm_table`, key `hdr.h.c`: lpm keys take value/length, not the value `0x0a000002`
         help: write `0x0a000002/32` for this value alone",
    );
    check(
        r#"{"table_entries": [
            {"table": "I.lpm_table", "match": {"hdr.h.c": "10.0.0.1"}, "action_name": "I.drop"},
            {"table": "I.lpm_table", "match": {"hdr.h.c": ["10.0.0.1"]}, "action_name": "I.drop"},
            {"table": "I.lpm_table", "match": {"hdr.h.c": ["10.0.0.1", 32]}, "action_name": "I.drop"}
        ]}"#,
        "error[CTL-E0107]: c:2:13: table `I.lpm_table`, key `hdr.h.c`: lpm keys take value/length, not the value `10.0.0.1`
         help: write `10.0.0.1/32` for this value alone
         error[CTL-E0107]: c:3:13: table `I.lpm_table`, key `hdr.h.c`: lpm keys take value/length, not the value `10.0.0.1`
         help: write `10.0.0.1/32` for this value alone
         4:13: handle 0",
    );
}

#[test]
fn priorities_and_match_kinds() {
    check(
        "table_add ternary_table forward 1&&&0xff 0->5 => 1 2 10
         table_add ternary_table forward 1&&&0xff 0->5 => 1 2
         table_add ternary_table forward 1/8 7 => 1 2 11
         table_add ternary_table drop 1 1 => 12
         table_add lpm_table forward 10.0.0.0/8 => 1 2
         table_add lpm_table forward 10.1.0.0&&&255.255.0.0 => 1 2
         table_add lpm_table forward 10.1.0.0->10.2.0.0 => 1 2
         table_add fixed drop 2 =>",
        "1: handle 0
         error[CTL-E0109]: c:2: table `I.ternary_table`: the entry needs a priority
         help: tables with ternary, range or optional keys choose among entries by priority
         3: handle 1
         error[CTL-E0108]: c:4: action `I.drop` is `@defaultonly` in table `I.ternary_table`: entries cannot use it
         5: handle 0
         6: handle 1
         error[CTL-E0107]: c:7: table `I.lpm_table`, key `hdr.h.c`: lpm keys take value/length, not the range `10.1.0.0->10.2.0.0`
         error[CTL-E0108]: c:8: the entries of table `I.fixed` are `const`: the program fixes them",
    );
}

#[test]
fn values_that_do_not_fit_their_type() {
    check(
        "table_add lpm_table forward 10.0.0.1/32 => -1 2
         table_add ternary_table forward 1&&&0xff 5-9 => 1 2 10
         table_add by_names drop NoEror Small =>
         table_add by_names drop error.NoMatch Kind.Large =>
         table_add by_names drop 1 Tiny =>
         mc_mgrp_create 0",
        "error[CTL-E0105]: c:1: table `I.lpm_table`, action `I.forward`, parameter `port`: `-1` is negative; bit<9> holds numbers from 0 to 511
         error[CTL-E0107]: c:2: table `I.ternary_table`, key `hdr.h.b`: `5-9` is not a range: write `5->9`
         error[CTL-E0105]: c:3: table `I.by_names`, key `std.parser_error`: `NoEror` is no member of `error`; did you mean `NoError`?
         4: handle 0
         error[CTL-E0105]: c:5: table `I.by_names`, key `meta.kind`: `Tiny` is no member of `Kind`; write a number or one of `Small`, `Large`
         error[CTL-E0105]: c:6: multicast group 0 stands for no multicast; groups count from 1",
    );
}

#[test]
fn default_entries_and_groups_as_p4runtime_has_them() {
    check(
        r#"{"table_entries": [
            {"table": "I.lpm_table", "match": {}, "default_action": true, "action_name": "I.drop"},
            {"table": "I.lpm_table", "match": {"hdr.h.c": ["10.0.0.1", 32]}, "default_action": true,
             "action_name": "I.drop"}],
         "multicast_group_entries": [
            {"multicast_group_id": 0, "replicas": [{"egress_port": 1, "instance": 1}]}]}"#,
        "error[CTL-E0101]: c:3:47: a default entry applies where no entry matches: it has no `match`
         help: remove `match` or `default_action`
         2:13: done
         error[CTL-E0105]: c:6:13: multicast group 0 stands for no multicast; groups count from 1",
    );
    check(
        r#"updates { type: MODIFY entity { table_entry {
             table_id: "lpm_table" is_default_action: true action { action { action_id: "drop" } } } } }
         updates { type: MODIFY entity { table_entry { table_id: "I.lpm_table" is_default_action: true } } }
         updates { entity { table_entry { table_id: "lpm_table" is_default_action: true
             match { field_id: 1 lpm { value: "a" prefix_len: 8 } } } } }
         updates { type: MODIFY entity { table_entry { table_id: "lpm_table" } } }
         updates { entity { table_entry { table_id: 99 } } }
         updates { entity { table_entry { table_id: "lpm_table" } } }
         updates { entity { table_entry { table_id: "lpm_table"
             match { field_id: "hdr.h.c" lpm { value: "\n\000\000\001" prefix_len: 32 } }
             action { action { action_id: "forward" params { param_id: "mac" value: "\001" }
                 params { param_id: "port" value: "\002" } } } } } }"#,
        "error[CTL-E0101]: c:4: a default entry applies where no entry matches: it has no `match`
         error[CTL-E0101]: c:6: an entries file inserts entries and modifies default entries; `type: MODIFY` is not supported
         1: done
         3: done
         error[CTL-E0103]: c:7: the program has no table with P4Info number 99
         error[CTL-E0101]: c:8: table `I.lpm_table`: `action` is missing
         9: handle 0",
    );
}

#[test]
fn profiles_groups_and_replication() {
    check(
        "act_prof_create_member chooser forward 1 2
         act_prof_create_member chooser drop
         act_prof_create_group chooser
         act_prof_add_member_to_group chooser 0 0
         act_prof_add_member_to_group chooser 1 0
         act_prof_add_member_to_group chooser 5 0
         table_indirect_add_with_group balanced 1 => 0
         table_indirect_add balanced 2 => 1
         mc_mgrp_create 7
         mc_node_create 1 2 3
         mc_node_associate 7 0
         mc_node_associate 8 0
         mc_node_associate 7 4
         mirroring_add 5 3
         mirroring_add 5 4
         mirroring_delete 6",
        "1: handle 0
         2: handle 1
         3: handle 0
         4: done
         5: done
         error[CTL-E0108]: c:6: action profile `I.chooser` has no member 5
         7: handle 0
         8: handle 1
         9: handle 7
         10: handle 0
         11: done
         error[CTL-E0110]: c:12: no multicast group 8
         help: make it first: mc_mgrp_create 8
         error[CTL-E0110]: c:13: no multicast node with handle 4
         14: done
         15: done
         error[CTL-E0108]: c:16: there is no clone session 6",
    );
}

#[test]
fn registers_counters_meters_value_sets_and_queues() {
    check(
        "register_write cells 3 0xffff
         register_write cells 3 65536
         register_write cells 8 1
         register_read cells 3
         register_read cells
         register_reset cells
         register_read cells 3
         counter_write hits 2 5 0
         counter_read hits 2
         counter_read hits 9
         table_add exact_table drop 1 1 =>
         counter_write by_entry 0 7 700
         counter_read by_entry 0
         counter_reset by_entry
         counter_read by_entry 0
         meter_array_set_rates rates 0.001:10 0.002:20
         meter_set_rates rates 9 0.001:10 0.002:20
         meter_set_rates rates 1 0.001:10
         pvs_add kinds 5
         pvs_add kinds 256
         pvs_remove kinds 5
         set_queue_depth 16 2
         set_queue_rate 100",
        "1: done
         error[CTL-E0105]: c:2: register `I.cells`: `65536` does not fit in 16 bits
         error[CTL-E0108]: c:3: index 8 is outside `I.cells`, which has 8 cells
         4: 65535
         5: 0 0 0 65535 0 0 0 0
         6: done
         7: 0
         8: done
         9: 5 0
         error[CTL-E0108]: c:10: index 9 is outside `I.hits`, which has 8 cells
         11: handle 0
         12: done
         13: 7 700
         14: done
         15: 0 0
         16: done
         error[CTL-E0108]: c:17: index 9 is outside `I.rates`, which has 4 cells
         error[CTL-E0106]: c:18: meter `rates`: give two rates, committed and peak, as RATE:BURST
         19: done
         error[CTL-E0105]: c:20: value set `P.kinds`: `256` does not fit in 8 bits
         21: done
         error[CTL-E0105]: c:22: this target has no device
         error[CTL-E0105]: c:23: this target has no device
         device: QueueDepth { packets: 16, port: Some(2), priority: None }
         device: QueueRate { packets_per_second: 100, port: None, priority: None }",
    );
}

#[test]
fn calculations_have_parameters_of_their_own() {
    // The first hash is no custom CRC, but counts; then those of checksums.
    check(
        "set_crc32_parameters calc_0 0x1edc6f41 0xffffffff 0xffffffff true true
         set_crc32_parameters calc_2 0x04c11db7 0 0 false false
         set_crc32_parameters calc_3 0x04c11db7 0 0 false false
         set_crc16_parameters calc_1 0x1021 0xffff 0 false false
         set_crc16_parameters calc_1 0x11021 0xffff 0 false false
         set_crc32_parameters calc_1 0x1021 0xffff 0 false false
         set_crc32_parameters calc 0x1021 0xffff 0 false false
         set_crc16_parameters checksum 0x1021 0xffff 0 false false",
        "1: done
         2: done
         3: done
         4: done
         error[CTL-E0108]: c:5: polynomial, initial value and final exclusive-or of this CRC have 16 bits
         error[CTL-E0103]: c:6: the program has no custom CRC of 32 bits `calc_1`
         help: it has `calc_0`, `calc_2`, `calc_3`
         error[CTL-E0103]: c:7: the program has no custom CRC of 32 bits `calc`
         help: it has `calc_0`, `calc_2`, `calc_3`
         error[CTL-E0103]: c:8: the program has no custom CRC of 16 bits `checksum`
         help: it has `calc_1`",
    );
}

#[test]
fn prepared_operations_take_values_of_their_widths() {
    let program = program();
    let mut target = StateTarget::new(program.clone()).expect("the program's own entries fit");
    let mut session = Session::new(program.clone());
    let done = session.run("c", "table_add exact_table forward 1 2 => 3 4", &mut target);
    done.expect("the entry fits");
    let table = ir::TableId(0);
    let key = |width_bits, value| ir::KeyPattern::Exact(ir::Bits::from_u64(width_bits, value));
    let keys = || vec![key(8, 1), key(16, 2)];
    let action = |name: &str| {
        let at = program.actions.iter().position(|action| &*action.name == name);
        ir::ActionId(at.expect("it is there") as u32)
    };
    let (forward, mark) = (action("I.forward"), action("I.drop"));
    let entry = prepare_entry(&mut target, table, keys(), 0, forward).expect("the entry is there");
    let values = |port, mac| vec![ir::Bits::from_u64(9, port), ir::Bits::from_u64(48, mac)];
    assert!(target.execute(entry.batch(values(7, 8)).expect("widths fit")).is_ok());
    let read = || state::Read::Entry { table, keys: keys(), priority: 0 };
    let arguments = |reply| match reply {
        Ok(state::Reply::Entries(entries)) => entries[0].action.clone(),
        other => panic!("{other:?}"),
    };
    let now = arguments(target.execute(Batch::one(read())).into_reply());
    let wanted = state::BoundAction { action: forward, arguments: values(7, 8) };
    assert_eq!(now, state::ActionData::Direct(wanted));
    let wrong = entry.batch(vec![ir::Bits::from_u64(9, 1)]).expect_err("a value is missing");
    assert_eq!(wrong.to_string(), "the prepared operation takes 2 values of 9, 48 bits");
    // A default action and cells of a register, and what does not fit them.
    let default = prepare_default_action(&target, table, mark).expect("the table lists it");
    assert!(target.execute(default.batch(Vec::new()).expect("no values")).is_ok());
    let (cells, register) = (state::CellRange::range(6, 2), ir::RegisterId(0));
    let prepared = prepare_register(&target, register, cells).expect("the cells are there");
    let two = vec![ir::Bits::from_u64(16, 5), ir::Bits::from_u64(16, 6)];
    assert!(target.execute(prepared.batch(two.clone()).expect("widths fit")).is_ok());
    let read = state::Read::Register { register, cells };
    let seen = target.execute(Batch::one(read)).into_reply();
    assert_eq!(seen, Ok(state::Reply::Registers(two)));
    let beyond = prepare_register(&target, register, state::CellRange::range(7, 2));
    assert_eq!(
        beyond.expect_err("the last is not there").to_string(),
        "index 8 is outside `I.cells`, which has 8 cells"
    );
    // The entry is another one after it was deleted and added again, though all its values are the same.
    for line in ["table_delete exact_table 0", "table_add exact_table forward 1 2 => 3 4"] {
        session.run("c", line, &mut target).expect("it works");
    }
    let late = target.execute(entry.batch(values(1, 1)).expect("widths fit"));
    let Some((0, Fault::Refused(error))) = late.first_fault() else { panic!("{late:?}") };
    assert_eq!(error.class(), state::ErrorClass::FailedPrecondition);
}

/// Far more updates than versions of a store may be pinned at once.
#[test]
fn a_long_batch_goes_through_a_map() {
    let program = program();
    let below = StateTarget::new(program.clone()).expect("the program's entries are right");
    let map = Virtual::new(Instances::new(program.clone(), 1, Owner::first()));
    let map = map.expect("the program is whole");
    let mut target = Mapped::new(map, vec![Box::new(below)]);
    let table = program.tables.iter().position(|table| table.name.ends_with("lpm_table"));
    let table = TableId(table.expect("it is there") as u32);
    let drop = program.actions.iter().position(|action| action.name.ends_with("drop"));
    let drop = drop.expect("it is there") as u32;
    let insert = |value: u64| {
        let value = Bits::from_u64(32, value << 8);
        let keys = vec![KeyPattern::Prefix { value, length_bits: 24 }];
        let action = BoundAction { action: ActionId(drop), arguments: Vec::new() };
        Item::from(Update::InsertEntry { table, entry: NewEntry::direct(keys, 0, action) })
    };
    let batch = Batch::of((0..300).map(insert)).with(Atomicity::RollbackOnError);
    let outcome = target.execute(batch);
    assert!(outcome.is_ok(), "{:?}", outcome.first_fault());
    let entries = target.execute(Batch::one(Read::Entries { table })).into_reply();
    let Ok(state::Reply::Entries(entries)) = entries else { panic!("{entries:?}") };
    assert_eq!(entries.len(), 300);
}

/// The timeout stays when the action changes.
#[test]
fn entries_get_idle_timeouts() {
    let program = program();
    let mut target = StateTarget::new(program.clone()).expect("the program's entries are right");
    let mut session = Session::new(program.clone());
    let table = program.tables.iter().position(|table| table.name.ends_with("aging"));
    let table = TableId(table.expect("it is there") as u32);
    let commands = "table_add aging drop 5 =>
        table_add aging drop 6 =>
        table_set_timeout aging 1 3000
        table_modify aging forward 1 => 3 4";
    session.run("c", commands, &mut target).expect("they work");
    let read = state::Read::Entries { table };
    let Ok(state::Reply::Entries(entries)) = target.execute(Batch::one(read)).into_reply() else {
        panic!("the entries")
    };
    let timeouts: Vec<u64> = entries.iter().map(|entry| entry.idle_timeout_ns).collect();
    assert_eq!(timeouts, [0, 3_000_000_000]);
    assert_eq!(session.handle_of(table, &entries[1].keys, entries[1].priority), Some(1));
    let refused = session.run(
        "c",
        "table_add exact_table drop 1 2 =>\ntable_set_timeout exact_table 0 5",
        &mut target,
    );
    let errors = refused.expect_err("the table has no timeouts");
    assert_eq!(errors[0].code.0, "CTL-E0108");
    let gone = session.run("c", "table_delete aging 0\ntable_set_timeout aging 0 5", &mut target);
    assert_eq!(gone.expect_err("the entry is gone")[0].code.0, "CTL-E0110");
    let keys = vec![ir::KeyPattern::Exact(ir::Bits::from_u64(8, 5))];
    assert_eq!(session.handle_of(table, &keys, 0), None);
}
