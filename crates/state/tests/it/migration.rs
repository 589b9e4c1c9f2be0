// SPDX-License-Identifier: Apache-2.0
//! Migration of state with equal name and shape to the next program.

use ir::{
    ActionId, ActionProfileId, Bits, CounterId, KeyPattern, MeterId, RegisterId, TableId,
    ValueSetId,
};
use state::*;
use std::sync::Arc;

/// Differences of programs: an action before the others, a width, a size.
fn program(extra_action: &str, port_bits: u32, size: u32) -> Arc<ir::Program> {
    let text = format!(
        r#"ir test
origin @0
slot port: bit<{port_bits}> unsigned @0
{extra_action}
action set(port at port) runs set @0
action drop() runs set @0
region action set {{
  block0:
    return @0
}}
table routes {{
  key dst: lpm bit<32> unsigned
  action drop
  action set
  default drop()
  entry priority 0 (prefix 32w0xc0a80000 length 16) runs drop() @0
  size {size}
  direct_counter hits
  direct_meter rates
  idle_timeout
}} @0
table balanced {{
  key dst: exact bit<8> unsigned
  key flow: selector bit<16> unsigned
  action set
  action drop
  default drop()
  implementation selector
}} @0
table fixed {{
  key dst: exact bit<8> unsigned
  action drop
  default drop()
  entry priority 0 (exact 8w1) runs drop() @0
  const_entries
  direct_counter fixed_hits
}} @0
counter hits: packets direct @0
counter fixed_hits: packets direct @0
counter packets: bytes size 4 @0
meter rates: packets direct @0
meter indexed: packets size 4 @0
register wide: bit<100> unsigned size 8 initial 100w0 @0
action_profile selector size 4 selector crc16 16 @0
value_set set size 2 {{
  key type: exact bit<16> unsigned
}} @0
"#
    );
    Arc::new(ir::text::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0])))
}

const ROUTES: TableId = TableId(0);
const BALANCED: TableId = TableId(1);
const FIXED: TableId = TableId(2);
const SELECTOR: ActionProfileId = ActionProfileId(0);

struct Switch {
    program: Arc<ir::Program>,
    store: Store,
    cells: Cells,
}

impl Switch {
    fn new(program: Arc<ir::Program>) -> Switch {
        let store = Store::new(program.clone()).expect("a sound program");
        Switch { cells: Cells::new(&program), store, program }
    }

    fn update(&mut self, update: Update) {
        let outcome = self.store.write_batch(&mut self.cells, Batch::updates(1_000, [update]));
        assert!(outcome.is_ok(), "{outcome:?}");
    }

    fn action(&self, name: &str, arguments: Vec<Bits>) -> BoundAction {
        let at = self.program.actions.iter().position(|action| &*action.name == name);
        BoundAction { action: ActionId(at.expect("an action") as u32), arguments }
    }

    fn set(&self, port: u64) -> BoundAction {
        self.action("set", vec![Bits::from_u64(9, port)])
    }

    fn entry(&self, table: TableId, key: Bits) -> Arc<EntryRecord> {
        let configuration = self.store.configuration();
        // `balanced` has a selector key besides.
        let keys = [key, Bits::from_u64(16, 0)];
        let keys = if table == BALANCED { &keys[..] } else { &keys[..1] };
        let table = configuration.table(table).expect("a table");
        let entry = table.lookup(keys).expect("a hit").handle;
        table.shared_entry(entry).expect("an entry")
    }

    fn migrate_to(&self, other: &mut Switch) -> Vec<Arc<str>> {
        migrate(
            (&self.store, &self.cells, &self.program),
            (&mut other.store, &mut other.cells, &other.program),
        )
    }
}

fn address(value: u64) -> Bits {
    Bits::from_u64(32, value)
}

/// A configuration with content in all parts.
fn filled() -> Switch {
    let mut switch = Switch::new(program("", 9, 8));
    let set = |port| switch.set(port);
    let idle = NewEntry {
        idle_timeout_ns: 10,
        cookie: 77,
        ..NewEntry::direct(
            vec![KeyPattern::Prefix { value: address(0x0a00_0000), length_bits: 8 }],
            0,
            set(3),
        )
    };
    let member = |number, port| Update::InsertMember {
        profile: SELECTOR,
        member: MemberId(number),
        action: set(port),
    };
    let members = [1, 2].map(|member| GroupMember {
        member: MemberId(member),
        weight: member,
        watch_port: vec![],
    });
    let group = NewEntry {
        action: ActionData::Group(GroupId(5)),
        ..NewEntry::direct(vec![KeyPattern::Exact(Bits::from_u64(8, 1))], 0, set(0))
    };
    let rates = |units| MeterConfiguration {
        committed: TokenRate::per_second(units, units),
        peak: TokenRate::per_second(units, units),
    };
    let exact = |value| vec![KeyPattern::Exact(Bits::from_u64(16, value))];
    let updates = [
        Update::InsertEntry { table: ROUTES, entry: idle },
        Update::SetDefaultAction { table: ROUTES, action: Some(set(8)) },
        member(1, 11),
        member(2, 12),
        Update::InsertGroup {
            profile: SELECTOR,
            group: GroupId(5),
            content: Group { members: members.to_vec(), max_size: 0 },
        },
        Update::InsertEntry { table: BALANCED, entry: group },
        Update::InsertValueSetMember { set: ValueSetId(0), member: exact(0x800) },
        Update::InsertMulticastGroup { group: 4, content: MulticastGroup::default() },
        Update::WriteRegister {
            register: RegisterId(0),
            cells: CellRange::one(3),
            values: Bits::from_u128(100, 1 << 99 | 5).into(),
        },
        Update::WriteMeter {
            meter: MeterId(1),
            cells: CellRange::one(2),
            values: Some(rates(1)).into(),
        },
        Update::WriteDirectMeter {
            meter: MeterId(0),
            entry: EntryReference::Default,
            configuration: Some(rates(2)),
        },
    ];
    for update in updates {
        switch.update(update);
    }
    let entry = switch.entry(ROUTES, address(0x0a01_0203));
    let fixed = switch.entry(FIXED, Bits::from_u64(8, 1));
    switch.cells.count_direct(CounterId(0), Some(&entry), 64);
    switch.cells.count_direct(CounterId(0), None, 32);
    switch.cells.count_direct(CounterId(1), Some(&fixed), 16);
    switch.cells.count(CounterId(2), 1, 100);
    switch.cells.note_hit(ROUTES, &entry, 123_456);
    switch
}

#[test]
fn equal_names_and_shapes_migrate() {
    let from = filled();
    // Actions have other numbers.
    let mut to = Switch::new(program("action other() runs set @0", 9, 16));
    let flow_before = to.store.forwarding();
    let identity = to.cells.identity();
    assert_eq!(from.migrate_to(&mut to), []);
    assert_eq!(to.cells.identity(), identity);

    let entry = to.entry(ROUTES, address(0x0a01_0203));
    assert_eq!(entry.action, ActionData::Direct(to.set(3)));
    assert_eq!((entry.cookie, entry.idle_timeout_ns, entry.inserted_ps), (77, 10, 1_000));
    let own = to.entry(ROUTES, address(0xc0a8_0001));
    assert!(own.origin.is_some() && entry.origin.is_none());
    let configuration = to.store.configuration();
    let default = configuration.table(ROUTES).expect("routes").default_action();
    assert_eq!((&default.action, default.action_index), (&to.set(8), 1));

    let counted = |counter, entry| to.cells.direct_counter(CounterId(counter), entry).bytes;
    let fixed = to.entry(FIXED, Bits::from_u64(8, 1));
    let counts = [counted(0, Some(&entry)), counted(0, Some(&own)), counted(0, None)];
    assert_eq!((counts, counted(1, Some(&fixed))), ([64, 0, 32], 16));
    assert_eq!(to.cells.last_hit_ps(ROUTES, &entry), 123_456);
    assert_eq!(to.cells.counter(CounterId(2), 1).map(|value| value.bytes), Some(100));
    let rates = |units| TokenRate::per_second(units, units);
    assert_eq!(to.cells.meter(MeterId(1), 2).map(|meter| meter.peak), Some(rates(1)));
    assert_eq!(to.cells.direct_meter(MeterId(0), None).map(|meter| meter.peak), Some(rates(2)));
    let register = to.cells.register(RegisterId(0)).expect("wide");
    assert_eq!(register.read(3), Some(Bits::from_u128(100, 1 << 99 | 5)));

    let group = to.entry(BALANCED, Bits::from_u64(8, 1));
    let ports = [0, 1, 2]
        .map(|hash| configuration.select_action(BALANCED, &group.action, || hash).cloned());
    assert_eq!(ports, [11, 12, 12].map(|port| Some(to.set(port))));
    let profile = configuration.action_profile(SELECTOR).expect("selector");
    assert_eq!(profile.members().count(), 2);
    assert!(configuration.multicast_group(4).is_some());
    let set = configuration.value_set(ValueSetId(0)).expect("set");
    assert!(set.contains(&[Bits::from_u64(16, 0x800)]));

    // The forwarding side follows. A version held by a packet does not change.
    let flow = to.store.forwarding();
    let found = |state: &state::forwarding::ForwardingState| {
        let table = state.table(ROUTES).expect("routes");
        let record = table.record_words(table.find_word(0x0a01_0203)?)?;
        Some(record[table.layout().argument_word(1, 0)])
    };
    assert_eq!((found(&flow_before), found(&flow)), (None, Some(3)));
    // References are still counted.
    let delete = Update::DeleteGroup { profile: SELECTOR, group: GroupId(5) };
    let outcome = to.store.write_configuration(Batch::updates(0, [delete]));
    assert_eq!(outcome.first_error().map(|(_, error)| error.code()), Some("ST-E26"));
}

/// Dropped items, and the number of entries in `routes`.
fn left(to: &mut Switch) -> (Vec<String>, usize) {
    let left = filled().migrate_to(to).iter().map(|name| name.to_string()).collect();
    (left, to.store.configuration().table(ROUTES).expect("routes").len())
}

#[test]
fn other_shapes_do_not_migrate() {
    // Another width of a parameter: no entry with this action migrates.
    let all = ["selector", "routes", "balanced"].map(String::from).to_vec();
    assert_eq!(left(&mut Switch::new(program("", 10, 8))), (all, 1));
    // No room.
    let routes = vec![String::from("routes")];
    assert_eq!(left(&mut Switch::new(program("", 9, 1))), (routes, 1));
}

#[test]
fn what_the_control_plane_prepared_stays() {
    let mut to = Switch::new(program("", 9, 8));
    to.update(Update::ClearEntries { table: ROUTES });
    assert_eq!(left(&mut to), (vec![String::from("routes")], 0));
}
