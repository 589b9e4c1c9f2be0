// SPDX-License-Identifier: Apache-2.0
//! Updates, their errors, and undo in batches.

use ir::{
    ActionId, ActionProfileId, Bits, CalculationId, CounterId, CrcParameters, KeyPattern, MeterId,
    RegisterId, TableId, ValueSetId,
};
use state::*;
use std::sync::Arc;

const PROGRAM: &str = r#"ir test
calculation calc width 16 polynomial 32773 initial 0 final_xor 0 reflect_input reflect_output @0
origin @0
slot port: bit<9> unsigned @0
action set(port at port) runs set @0
action drop() runs drop @0
action only_default() runs drop @0
region action set {
  block0:
    return @0
}
region action drop {
  block0:
    return @0
}
table routes {
  key dst: lpm bit<32> unsigned
  action set
  action drop table_only
  action only_default default_only
  default only_default()
  entry priority 0 (prefix 32w0xc0a80000 length 16) runs set(9w1) @0
  size 3
  direct_counter hits
  direct_meter rates
  idle_timeout
} @0
table fixed {
  key dst: exact bit<8> unsigned
  action set
  const_default set(9w0)
  entry priority 0 (exact 8w1) runs set(9w1) @0
  entry priority 0 (exact 8w1) runs set(9w2) @0
  const_entries
} @0
table balanced {
  key dst: ternary bit<8> unsigned
  key flow: selector bit<16> unsigned
  action set
  default set(9w0)
  implementation selector
} @0
counter hits: packets_and_bytes direct @0
counter packets: packets size 4 @0
meter rates: packets direct @0
meter indexed: bytes size 4 @0
register counts: bit<12> unsigned size 8 initial 12w5 @0
register wide: bit<100> unsigned size 8 initial 100w0 @0
action_profile selector size 2 selector crc16 16 @0
value_set set size 2 {
  key type: ternary bit<16> unsigned
} @0
"#;

const ROUTES: TableId = TableId(0);
const FIXED: TableId = TableId(1);
const BALANCED: TableId = TableId(2);
const SELECTOR: ActionProfileId = ActionProfileId(0);

struct Switch {
    store: Store,
    cells: Cells,
}

fn switch() -> Switch {
    let program = ir::text::parse(PROGRAM).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let program = Arc::new(program);
    Switch { cells: Cells::new(&program), store: Store::new(program).expect("a sound program") }
}

impl Switch {
    fn update(&mut self, update: Update) -> Result<Reply, UpdateError> {
        let batch = Batch::updates(1_000, [update]);
        self.store.write_batch(&mut self.cells, batch).results.remove(0)
    }

    fn read(&mut self, read: Read) -> Reply {
        self.store.configuration().answer(&self.cells, &read).expect("it can be read")
    }

    /// Code and message of the refusal.
    fn refused(&mut self, update: Update) -> String {
        let error = self.update(update).expect_err("it is refused");
        format!("{} {error}", error.code())
    }

    fn together(&mut self, updates: Vec<Update>) -> BatchOutcome {
        let batch = Batch { atomicity: Atomicity::RollbackOnError, ..Batch::updates(0, updates) };
        self.store.write_batch(&mut self.cells, batch)
    }
}

fn set(port: u64) -> BoundAction {
    BoundAction { action: ActionId(0), arguments: vec![Bits::from_u64(9, port)] }
}

fn prefix(value: u64, length_bits: u32) -> Vec<KeyPattern> {
    vec![KeyPattern::Prefix { value: Bits::from_u64(32, value), length_bits }]
}

fn route(value: u64, length_bits: u32, port: u64) -> Update {
    Update::InsertEntry {
        table: ROUTES,
        entry: NewEntry::direct(prefix(value, length_bits), 0, set(port)),
    }
}

#[test]
fn entries_come_and_go() {
    let mut switch = switch();
    assert!(matches!(switch.update(route(0x0a000000, 8, 2)), Ok(Reply::Inserted(_))));
    // Bits beyond the prefix do not matter: it is the same entry.
    assert_eq!(
        switch.refused(route(0x0a000001, 8, 3)),
        "ST-E03 table `routes` already has an entry for (0xa000000/8); modify or delete that one"
    );
    assert!(switch.update(route(0x0b000000, 8, 3)).is_ok());
    assert_eq!(
        switch.refused(route(0x0c000000, 8, 3)),
        "ST-E02 table `routes` is full: it is declared with 3 entries; it keeps what it has"
    );
    let update = Update::ModifyEntry {
        table: ROUTES,
        entry: NewEntry::direct(prefix(0x0b000000, 8), 0, set(7)),
    };
    assert!(switch.update(update).is_ok());
    let Reply::Entries(entries) = switch.read(Read::Entries { table: ROUTES }) else { panic!() };
    let actions: Vec<_> = entries.iter().map(|entry| entry.action.clone()).collect();
    assert_eq!(actions, [1, 2, 7].map(|port| ActionData::Direct(set(port))));
    let delete = Update::DeleteEntry { table: ROUTES, keys: prefix(0x0b000000, 8), priority: 0 };
    assert!(switch.update(delete.clone()).is_ok());
    assert_eq!(switch.refused(delete), "ST-E04 table `routes` has no entry for (0xb000000/8)");
    assert!(switch.update(Update::ClearEntries { table: ROUTES }).is_ok());
    assert!(switch.store.configuration().table(ROUTES).expect("routes").is_empty());
}

#[test]
fn actions_are_checked() {
    let mut switch = switch();
    let entry = |action, arguments: &[u64]| Update::InsertEntry {
        table: ROUTES,
        entry: NewEntry::direct(
            prefix(0, 0),
            0,
            BoundAction {
                action: ActionId(action),
                arguments: arguments.iter().map(|&value| Bits::from_u64(32, value)).collect(),
            },
        ),
    };
    assert_eq!(switch.refused(entry(0, &[])), "ST-E15 action `set` takes 1 argument(s), 0 given");
    assert_eq!(
        switch.refused(entry(0, &[512])),
        "ST-E16 512 does not fit parameter `port` of action `set`, which has 9 bits"
    );
    assert_eq!(
        switch.refused(entry(2, &[])),
        "ST-E13 action `only_default` is `@defaultonly` in table `routes`: entries cannot use it"
    );
    assert_eq!(switch.refused(entry(9, &[])), "ST-E01 the program has no action number 9");
    let default = |action| Update::SetDefaultAction { table: ROUTES, action: Some(action) };
    let drop = BoundAction { action: ActionId(1), arguments: vec![] };
    assert_eq!(
        switch.refused(default(drop)),
        "ST-E14 action `drop` is `@tableonly` in table `routes`: it cannot be the default action"
    );
    assert!(switch.update(default(set(3))).is_ok());
    let read = Read::DefaultAction { table: ROUTES };
    let changed = Reply::DefaultAction { action: set(3), is_initial: false };
    assert_eq!(switch.read(read.clone()), changed);
    assert!(switch.update(Update::SetDefaultAction { table: ROUTES, action: None }).is_ok());
    assert!(matches!(switch.read(read), Reply::DefaultAction { is_initial: true, .. }));
}

#[test]
fn what_is_const_stays() {
    let mut switch = switch();
    let entry = NewEntry::direct(vec![KeyPattern::Exact(Bits::from_u64(8, 3))], 0, set(1));
    assert_eq!(
        switch.refused(Update::InsertEntry { table: FIXED, entry }),
        "ST-E05 the entries of table `fixed` are `const`: the program fixes them"
    );
    assert_eq!(
        switch.refused(Update::SetDefaultAction { table: FIXED, action: Some(set(1)) }),
        "ST-E06 the default action of table `fixed` is `const`: the program fixes it"
    );
    let configuration = switch.store.configuration();
    let first = configuration.table(FIXED).and_then(|table| table.lookup(&[Bits::from_u64(8, 1)]));
    assert_eq!(first.map(|entry| &entry.action), Some(&ActionData::Direct(set(1))));
}

#[test]
fn keys_are_checked() {
    let mut switch = switch();
    let entry =
        |keys| Update::InsertEntry { table: ROUTES, entry: NewEntry::direct(keys, 0, set(1)) };
    assert_eq!(switch.refused(entry(vec![])), "ST-E07 `routes` matches on 1 key(s), 0 given");
    assert_eq!(
        switch.refused(entry(vec![KeyPattern::Exact(Bits::from_u64(64, 1 << 40))])),
        "ST-E08 0x10000000000 does not fit key `dst` of `routes`, which has 32 bits"
    );
    assert_eq!(
        switch.refused(entry(vec![KeyPattern::Range {
            low: Bits::from_u64(32, 1),
            high: Bits::from_u64(32, 2)
        }])),
        "ST-E09 key `dst` of `routes` is matched by `lpm`, which takes no range"
    );
    assert_eq!(
        switch.refused(entry(prefix(0, 33))),
        "ST-E10 a prefix of 33 bits does not fit key `dst` of `routes`, which has 32 bits"
    );
    // A mask that is a prefix is one.
    let keys = vec![KeyPattern::Ternary {
        value: Bits::from_u64(32, 0x0a000000),
        mask: Bits::from_u64(32, 0xff000000),
    }];
    assert!(switch.update(entry(keys)).is_ok());
    assert!(switch.refused(route(0x0a000000, 8, 1)).starts_with("ST-E03"));
    let idle =
        NewEntry { idle_timeout_ns: 1, ..NewEntry::direct(vec![KeyPattern::Any], 1, set(1)) };
    let refused = switch.refused(Update::InsertEntry { table: BALANCED, entry: idle });
    assert!(refused.starts_with("ST-E17"), "{refused}");
}

#[test]
fn members_and_groups() {
    let mut switch = switch();
    let member = |number, port| Update::InsertMember {
        profile: SELECTOR,
        member: MemberId(number),
        action: set(port),
    };
    assert!(switch.update(member(7, 1)).is_ok());
    assert!(switch.update(member(3, 2)).is_ok());
    assert!(switch.refused(member(3, 2)).starts_with("ST-E21"));
    assert!(switch.refused(member(4, 2)).starts_with("ST-E23"));
    let group = Group {
        members: [(7, 1), (3, 2)]
            .map(|(member, weight)| GroupMember {
                member: MemberId(member),
                weight,
                watch_port: vec![],
            })
            .to_vec(),
        max_size: 0,
    };
    let insert = Update::InsertGroup { profile: SELECTOR, group: GroupId(1), content: group };
    assert!(switch.update(insert).is_ok());
    let delete = Update::DeleteMember { profile: SELECTOR, member: MemberId(7) };
    assert!(switch.refused(delete.clone()).starts_with("ST-E22"));
    let entry = NewEntry {
        action: ActionData::Group(GroupId(1)),
        ..NewEntry::direct(vec![KeyPattern::Any], 1, set(0))
    };
    assert!(switch.update(Update::InsertEntry { table: BALANCED, entry }).is_ok());

    let configuration = switch.store.configuration();
    let keys = [Bits::from_u64(8, 9), Bits::from_u64(16, 1)];
    let entry = configuration.table(BALANCED).and_then(|table| table.lookup(&keys)).expect("a hit");
    // Members by ascending number, by weight: 3, 3, 7.
    let ports = [0, 1, 2, 3]
        .map(|hash| configuration.select_action(BALANCED, &entry.action, || hash).cloned());
    assert_eq!(ports, [2, 2, 1, 2].map(|port| Some(set(port))));

    let delete_group = Update::DeleteGroup { profile: SELECTOR, group: GroupId(1) };
    assert!(switch.refused(delete_group.clone()).starts_with("ST-E26"));
    assert!(switch.update(Update::ClearEntries { table: BALANCED }).is_ok());
    assert!(switch.update(delete_group).is_ok());
    assert!(switch.update(delete).is_ok());

    let one_shot = |weight| {
        let choice = WeightedAction { action: set(4), weight, watch_port: vec![] };
        let entry = NewEntry {
            action: ActionData::OneShot(vec![choice]),
            ..NewEntry::direct(vec![KeyPattern::Any], 1, set(0))
        };
        Update::InsertEntry { table: BALANCED, entry }
    };
    assert!(switch.refused(one_shot(0)).starts_with("ST-E28"));
    assert!(switch.update(one_shot(2)).is_ok());
}

#[test]
fn cells_are_written_and_read() {
    let mut switch = switch();
    let write = |index, value| Update::WriteRegister {
        register: RegisterId(0),
        cells: CellRange::from(index),
        values: Bits::from_u64(16, value).into(),
    };
    let read = |index| Read::Register { register: RegisterId(0), cells: CellRange::from(index) };
    assert_eq!(switch.read(read(Some(3))), Reply::Registers(vec![Bits::from_u64(12, 5)]));
    assert!(switch.update(write(Some(3), 0xfff)).is_ok());
    assert_eq!(
        switch.refused(write(Some(3), 0x1000)),
        "ST-E34 4096 does not fit a cell of register `counts`, which has 12 bits"
    );
    assert_eq!(
        switch.refused(write(Some(8), 1)),
        "ST-E33 index 8 is outside `counts`, which has 8 cells"
    );
    assert_eq!(switch.read(read(Some(3))), Reply::Registers(vec![Bits::from_u64(12, 0xfff)]));
    assert!(switch.update(write(None, 1)).is_ok());
    assert_eq!(switch.read(read(None)), Reply::Registers(vec![Bits::from_u64(12, 1); 8]));

    let counter = CounterId(1);
    switch.cells.count(counter, 2, 100);
    switch.cells.count(counter, 4, 100);
    let value = CounterValue { packets: 1, bytes: 100 };
    assert_eq!(
        switch.read(Read::Counter { counter, cells: CellRange::one(2) }),
        Reply::Counters(vec![value])
    );
    assert_eq!(
        switch.refused(Update::WriteCounter {
            counter: CounterId(0),
            cells: CellRange::all(),
            values: value.into()
        }),
        "ST-E35 `hits` is attached to a table: name an entry instead of an index"
    );
    let rates = |committed, peak| MeterConfiguration {
        committed: TokenRate::per_second(committed, 1),
        peak: TokenRate::per_second(peak, 1),
    };
    let meter = |configuration| Update::WriteMeter {
        meter: MeterId(1),
        cells: CellRange::one(0),
        values: CellValues::Same(configuration),
    };
    assert!(switch.refused(meter(Some(rates(2, 1)))).starts_with("ST-E37"));
    assert!(switch.update(meter(Some(rates(1, 2)))).is_ok());
    assert_eq!(
        switch.read(Read::Meter { meter: MeterId(1), cells: CellRange::one(0) }),
        Reply::Meters(vec![Some(rates(1, 2))])
    );
    assert_eq!(switch.cells.mark(MeterId(1), 0, 1, 0), Colour::Green);
    assert_eq!(switch.cells.mark(MeterId(1), 0, 1, 0), Colour::Red);
    assert_eq!(switch.cells.mark(MeterId(1), 1, 1, 0), Colour::Green);
}

#[test]
fn direct_cells_belong_to_their_entries() {
    let mut switch = switch();
    let counter = CounterId(0);
    assert!(switch.update(route(0x0a000000, 8, 2)).is_ok());
    let key = [Bits::from_u64(32, 0x0a000001)];
    let before = switch.store.configuration();
    let entry = before.table(ROUTES).and_then(|table| table.lookup(&key)).expect("a route").clone();
    switch.cells.count_direct(counter, Some(&entry), 64);
    switch.cells.count_direct(counter, None, 1);
    let Reply::DirectCounters(values) = switch.read(Read::DirectCounter { counter, entry: None })
    else {
        panic!()
    };
    let counts: Vec<_> = values.iter().map(|(_, value)| (value.packets, value.bytes)).collect();
    assert_eq!(counts, [(1, 1), (0, 0), (1, 64)]);

    // Another entry in the same place starts at zero, and packets that still see the old one do not count there.
    let keys = prefix(0x0a000000, 8);
    assert!(switch.update(Update::DeleteEntry { table: ROUTES, keys, priority: 0 }).is_ok());
    assert!(switch.update(route(0x0a000000, 9, 2)).is_ok());
    let after = switch.store.configuration();
    let next = after.table(ROUTES).and_then(|table| table.lookup(&key)).expect("a route");
    assert_eq!(next.handle, entry.handle);
    assert_eq!(switch.cells.direct_counter(counter, Some(next)), CounterValue::default());
    switch.cells.count_direct(counter, Some(next), 10);
    switch.cells.count_direct(counter, Some(&entry), 99);
    assert_eq!(switch.cells.direct_counter(counter, Some(next)).bytes, 10);
    // The held version still has its entry.
    assert!(before.table(ROUTES).and_then(|table| table.lookup(&key)).is_some());
}

#[test]
fn failed_batches_change_nothing() {
    let mut switch = switch();
    let register = |value| Update::WriteRegister {
        register: RegisterId(0),
        cells: CellRange::one(0),
        values: Bits::from_u64(12, value).into(),
    };
    let all = |value| Update::WriteRegister {
        register: RegisterId(1),
        cells: CellRange::all(),
        values: Bits::from_u64(100, value).into(),
    };
    let direct = |packets| Update::WriteDirectCounter {
        counter: CounterId(0),
        entry: EntryReference::Entry { keys: prefix(0xc0a80000, 16), priority: 0 },
        value: CounterValue { packets, bytes: 0 },
    };
    assert!(switch.together(vec![register(9), all(3), direct(4)]).is_ok());
    let version = switch.store.configuration().version();
    let delete = Update::DeleteEntry { table: ROUTES, keys: prefix(0xc0a80000, 16), priority: 0 };
    let outcome = switch.together(vec![
        register(1),
        all(1),
        direct(1),
        delete,
        route(0xc0a80000, 16, 5),
        direct(2),
        Update::DeleteMulticastGroup { group: 1 },
        register(2),
    ]);
    assert!(outcome.rolled_back);
    let (at, error) = outcome.first_error().expect("an error");
    assert_eq!((at, error.code()), (6, "ST-E38"));
    assert_eq!(outcome.results[0], Err(UpdateError::Aborted));
    assert_eq!(switch.store.configuration().version(), version);
    let read =
        |register| Read::Register { register: RegisterId(register), cells: CellRange::one(0) };
    assert_eq!(switch.read(read(0)), Reply::Registers(vec![Bits::from_u64(12, 9)]));
    assert_eq!(switch.read(read(1)), Reply::Registers(vec![Bits::from_u64(100, 3)]));
    let Reply::DirectCounters(values) =
        switch.read(Read::DirectCounter { counter: CounterId(0), entry: None })
    else {
        panic!()
    };
    assert_eq!(values[1].1.packets, 4);
    assert!(
        matches!(&values[1].0, EntryTarget::Entry(entry) if entry.action == ActionData::Direct(set(1)))
    );
}

#[test]
fn continuing_batches_apply_valid_items() {
    let mut switch = switch();
    let batch =
        Batch::updates(0, [Update::DeleteCloneSession { session: 1 }, route(0x0a000000, 8, 2)]);
    let outcome = switch.store.write_batch(&mut switch.cells, batch);
    assert_eq!(outcome.results[0], Err(UpdateError::NoSuchCloneSession { session: 1 }));
    assert!(outcome.results[1].is_ok());
}

#[test]
fn held_versions_do_not_change() {
    let mut switch = switch();
    let held = switch.store.configuration();
    assert!(switch.update(route(0x0a000000, 8, 2)).is_ok());
    assert_eq!(held.table(ROUTES).map(|table| table.len()), Some(1));
    assert_eq!(switch.store.configuration().table(ROUTES).map(|table| table.len()), Some(2));
}

#[test]
fn replication_value_sets_and_crcs() {
    let mut switch = switch();
    let replica = Replica { egress_port: 1, instance: 2 };
    let group = |replicas: &[Replica]| Update::InsertMulticastGroup {
        group: 1,
        content: MulticastGroup { replicas: replicas.to_vec(), metadata: vec![] },
    };
    assert!(switch.refused(group(&[replica, replica])).starts_with("ST-E42"));
    assert!(switch.update(group(&[replica])).is_ok());
    assert!(switch.refused(group(&[])).starts_with("ST-E39"));
    let session = CloneSession { replicas: vec![replica], ..CloneSession::default() };
    let insert = Update::InsertCloneSession { session: 5, content: session.clone() };
    assert!(switch.update(insert).is_ok());
    assert_eq!(switch.store.configuration().clone_session(5), Some(&session));

    let set = ValueSetId(0);
    let member = |value: u64, mask: u64| {
        vec![KeyPattern::Ternary {
            value: Bits::from_u64(16, value),
            mask: Bits::from_u64(16, mask),
        }]
    };
    for value in [1, 2] {
        let member = member(value, 0xffff);
        assert!(switch.update(Update::InsertValueSetMember { set, member }).is_ok());
    }
    let third = Update::InsertValueSetMember { set, member: member(3, 0xffff) };
    assert!(switch.refused(third).starts_with("ST-E30"));
    let members = vec![member(0x800, 0xff00)];
    assert!(switch.update(Update::SetValueSet { set, members }).is_ok());
    let configuration = switch.store.configuration();
    let contains = |value| {
        configuration.value_set(set).is_some_and(|set| set.contains(&[Bits::from_u64(16, value)]))
    };
    assert!(contains(0x855) && !contains(1));

    let wide = CrcParameters { polynomial: 0x10000, ..CrcParameters::CRC16 };
    let calculation = CalculationId(0);
    let crc = |parameters| Update::SetCrcParameters { calculation, parameters };
    assert!(switch.refused(crc(Some(wide))).starts_with("ST-E43"));
    let changed = CrcParameters { initial: 0xffff, ..CrcParameters::CRC16 };
    assert!(switch.update(crc(Some(changed))).is_ok());
    let set = switch.store.configuration().crc(calculation).map(|crc| crc.parameters());
    assert_eq!(set, Some(changed));
    let unknown = Update::SetCrcParameters { calculation: CalculationId(7), parameters: None };
    assert!(switch.refused(unknown).starts_with("ST-E47"));
}

#[test]
fn idle_entries_are_notified_once() {
    let mut switch = switch();
    let entry =
        NewEntry { idle_timeout_ns: 10, ..NewEntry::direct(prefix(0x0a000000, 8), 0, set(1)) };
    assert!(switch.update(Update::InsertEntry { table: ROUTES, entry }).is_ok());
    let configuration = switch.store.configuration();
    let entry = configuration
        .table(ROUTES)
        .and_then(|table| table.lookup(&[Bits::from_u64(32, 0x0a000000)]))
        .expect("a route");
    let idle = |cells: &mut Cells, now_ps| cells.take_idle_entries(&configuration, now_ps).len();
    let next = |cells: &Cells, now_ps| cells.next_idle_check_ps(&configuration, now_ps);
    let cells = &mut switch.cells;
    // Inserted at 1,000 ps; the timeout is 10,000 ps.
    assert_eq!(next(cells, 1_000), Some(11_000));
    assert_eq!(idle(cells, 10_999), 0);
    cells.note_hit(ROUTES, entry, 5_000);
    assert_eq!(next(cells, 5_000), Some(15_000));
    assert_eq!(idle(cells, 14_999), 0);
    assert_eq!(idle(cells, 15_000), 1);
    // It was reported; a hit after the report would make it idle again.
    assert_eq!(next(cells, 15_000), Some(25_000));
    assert_eq!(idle(cells, 16_000), 0);
    cells.note_hit(ROUTES, entry, 17_000);
    assert_eq!(next(cells, 17_000), Some(27_000));
    assert_eq!(idle(cells, 27_000), 1);
}

#[test]
fn entries_are_named_by_their_place() {
    let mut switch = switch();
    assert!(switch.update(route(0x0a000000, 8, 2)).is_ok());
    let read = Read::Entry { table: ROUTES, keys: prefix(0x0a000000, 8), priority: 0 };
    let Reply::Entries(entries) = switch.read(read.clone()) else { panic!() };
    let EntryRecord { handle, generation, .. } = *entries[0];
    let modify = |port| {
        let action = ActionData::Direct(set(port));
        Update::ModifyEntryAt { table: ROUTES, handle, generation, action }
    };
    let entry = EntryReference::At { handle, generation };
    let value = CounterValue { packets: 3, bytes: 300 };
    let count = Update::WriteDirectCounter { counter: CounterId(0), entry: entry.clone(), value };
    assert!(switch.together(vec![modify(7), count.clone()]).is_ok());
    let read_cells = |entry| Read::EntriesWithCells { table: ROUTES, entry };
    let Reply::EntriesWithCells(list) = switch.read(read_cells(Some(entry.clone()))) else {
        panic!()
    };
    let [with_cells] = &*list else { panic!("{list:?}") };
    assert_eq!((&*with_cells.counters, &*with_cells.meters), (&[value][..], &[None][..]));
    let record = with_cells.target.entry().expect("an entry");
    assert_eq!(record.action, ActionData::Direct(set(7)));
    assert_eq!(with_cells.last_hit_ps, Some(record.inserted_ps));
    let configuration = switch.store.configuration();
    for found in [
        configuration.entry(ROUTES, &prefix(0x0a000000, 8), 0),
        configuration.entry_at(ROUTES, handle, generation),
    ] {
        assert_eq!(found.map(|found| &**found), Ok(record));
    }
    drop(configuration);
    // Other parts of the entry are unchanged.
    assert_eq!(EntryRecord { action: entries[0].action.clone(), ..record.clone() }, *entries[0]);
    // Arguments are checked.
    let wide = BoundAction { action: ActionId(0), arguments: vec![Bits::from_u64(16, 512)] };
    let action = ActionData::Direct(wide);
    let modify_wide = Update::ModifyEntryAt { table: ROUTES, handle, generation, action };
    assert!(switch.refused(modify_wide).starts_with("ST-E16"));

    // All entries, after the default action.
    let Reply::EntriesWithCells(list) = switch.read(read_cells(None)) else { panic!() };
    let packets: Vec<_> = list.iter().map(|entry| entry.counters[0].packets).collect();
    assert_eq!((list[0].target.entry(), list[0].last_hit_ps), (None, None));
    assert_eq!(packets, [0, 0, 3]);

    // Another entry in the same place does not match.
    let delete = Update::DeleteEntryAt { table: ROUTES, handle, generation };
    assert!(switch.update(delete.clone()).is_ok());
    let gone = |switch: &mut Switch| {
        for update in [modify(1), delete.clone(), count.clone()] {
            assert_eq!(
                switch.refused(update),
                format!(
                    "ST-E49 table `routes` no longer has entry {generation} at place {}: look the \
                     entry up again",
                    handle.0
                )
            );
        }
    };
    gone(&mut switch);
    assert!(switch.update(route(0x0b000000, 8, 3)).is_ok());
    let Reply::Entries(entries) = switch.read(Read::Entries { table: ROUTES }) else { panic!() };
    assert_eq!(entries[1].handle, handle);
    gone(&mut switch);
    let delete = Update::DeleteEntryAt { table: FIXED, handle: EntryHandle(0), generation: 1 };
    assert!(switch.refused(delete).starts_with("ST-E05"));
}

#[test]
fn one_object_is_read_by_its_number() {
    let mut switch = switch();
    let member = |member, port| Update::InsertMember {
        profile: SELECTOR,
        member: MemberId(member),
        action: set(port),
    };
    let group = Group {
        members: vec![GroupMember { member: MemberId(4), weight: 1, watch_port: vec![] }],
        max_size: 0,
    };
    let replicas = vec![Replica { egress_port: 1, instance: 2 }];
    let multicast = MulticastGroup { replicas: replicas.clone(), metadata: vec![] };
    let session = CloneSession { replicas, ..CloneSession::default() };
    let updates = vec![
        member(4, 1),
        member(5, 2),
        Update::InsertGroup { profile: SELECTOR, group: GroupId(6), content: group.clone() },
        Update::InsertMulticastGroup { group: 7, content: multicast.clone() },
        Update::InsertCloneSession { session: 8, content: session.clone() },
        Update::SetNodeExclusion { instance: 9, exclusion: Some(10) },
        Update::SetPortExclusion { exclusion: 11, ports: vec![12, 13] },
    ];
    assert!(switch.together(updates).is_ok());
    let members = |member| Read::Members { profile: SELECTOR, member };
    let groups = |group| Read::Groups { profile: SELECTOR, group };
    let cases = [
        (members(Some(MemberId(5))), Reply::Members(vec![(MemberId(5), set(2))])),
        (members(None), Reply::Members(vec![(MemberId(4), set(1)), (MemberId(5), set(2))])),
        (groups(Some(GroupId(6))), Reply::Groups(vec![(GroupId(6), group)])),
        (Read::MulticastGroups { group: Some(7) }, Reply::MulticastGroups(vec![(7, multicast)])),
        (Read::CloneSessions { session: Some(8) }, Reply::CloneSessions(vec![(8, session)])),
    ];
    for (read, expected) in cases {
        assert_eq!(switch.read(read), expected);
    }
    let Reply::Exclusions(exclusions) = switch.read(Read::Exclusions) else { panic!() };
    assert_eq!(exclusions.nodes().collect::<Vec<_>>(), [(9, 10)]);
    assert_eq!(exclusions.ports().collect::<Vec<_>>(), [(11, &[12, 13][..])]);
    let missing = [
        (members(Some(MemberId(6))), "ST-E20"),
        (groups(Some(GroupId(7))), "ST-E24"),
        (Read::MulticastGroups { group: Some(8) }, "ST-E38"),
        (Read::CloneSessions { session: Some(9) }, "ST-E40"),
    ];
    for (read, code) in missing {
        let answer = switch.store.configuration().answer(&switch.cells, &read);
        assert_eq!(answer.map_err(|error| error.code()), Err(code));
    }
}

#[test]
fn entries_are_read_back_as_written() {
    let mut switch = switch();
    let mut entry = NewEntry {
        idle_timeout_ns: 70,
        metadata: vec![1, 2, 3],
        cookie: 99,
        ..NewEntry::direct(prefix(0x0a000000, 8), 17, set(1))
    };
    assert!(switch.update(Update::InsertEntry { table: ROUTES, entry: entry.clone() }).is_ok());
    let read = |switch: &mut Switch| {
        let read = Read::Entry { table: ROUTES, keys: prefix(0x0a000000, 8), priority: 17 };
        let Reply::Entries(entries) = switch.read(read) else { panic!() };
        entries[0].clone()
    };
    let before = read(&mut switch);
    assert_eq!(before.to_new_entry(), entry);
    entry = NewEntry {
        idle_timeout_ns: 0,
        metadata: vec![],
        cookie: 1,
        action: ActionData::Direct(set(2)),
        ..entry
    };
    assert!(switch.update(Update::ModifyEntry { table: ROUTES, entry: entry.clone() }).is_ok());
    let after = read(&mut switch);
    assert_eq!(after.to_new_entry(), entry);
    let identity = |entry: &EntryRecord| (entry.handle, entry.generation, entry.inserted_ps);
    assert_eq!(identity(&after), identity(&before));
}
