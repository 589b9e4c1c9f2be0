// SPDX-License-Identifier: Apache-2.0
//! Random programs of tables, random batches for them, and keys to look up.

use ir::{
    ActionId, ActionProfileId, Bits, CalculationId, CrcParameters, KeyPattern, TableId, ValueSetId,
};
use proptest::prelude::*;
use state::{
    ActionData, Atomicity, Batch, BoundAction, CloneSession, Group, GroupId, GroupMember, MemberId,
    MulticastGroup, NewEntry, Read, Replica, Reply, Store, Update, WeightedAction,
};

/// One table: its keys (match kind by its word in the text form, width), whether it has a direct
/// counter, whether its actions come from the selector, and whether all its actions' arguments are short.
#[derive(Clone, Debug)]
pub struct TableShape {
    pub keys: Vec<(&'static str, u32)>,
    pub is_counted: bool,
    pub is_selected: bool,
    pub is_short: bool,
}

impl TableShape {
    /// The table's actions, by what an update chooses.
    fn actions(&self) -> [usize; 3] {
        if self.is_short && !self.is_selected { [0, 1, 3] } else { OF_MEMBERS }
    }
}

pub type Shape = Vec<TableShape>;

/// Widths of the parameters of each action.
const ACTIONS: [&[u32]; 4] = [&[], &[9], &[128, 64, 200], &[3, 12]];

/// The actions that members have.
const OF_MEMBERS: [usize; 3] = [0, 1, 2];

pub fn program(shape: &Shape) -> ir::Program {
    let mut text = String::from("ir test\norigin @0\n");
    text.push_str(
        "calculation calc width 16 polynomial 32773 initial 0 final_xor 0 reflect_input @0\n",
    );
    for (at, widths) in ACTIONS.iter().enumerate() {
        for (parameter, width) in widths.iter().enumerate() {
            text.push_str(&format!("slot a{at}p{parameter}: bit<{width}> unsigned @0\n"));
        }
    }
    for (at, widths) in ACTIONS.iter().enumerate() {
        let parameters: Vec<String> =
            (0..widths.len()).map(|p| format!("a{at}p{p} at a{at}p{p}")).collect();
        text.push_str(&format!("action act{at}({}) runs run{at} @0\n", parameters.join(", ")));
        text.push_str(&format!("region action run{at} {{\n block0:\n return @0\n}}\n"));
    }
    for (at, table) in shape.iter().enumerate() {
        text.push_str(&format!("table t{at} {{\n"));
        for (key, (kind, width)) in table.keys.iter().enumerate() {
            text.push_str(&format!("key k{key}: {kind} bit<{width}> unsigned\n"));
        }
        if table.is_selected {
            text.push_str("key flow: selector bit<8> unsigned\n");
        }
        // Not every table lists every action in the same order.
        let mut actions = table.actions();
        if at % 2 == 1 {
            actions.reverse();
        }
        actions.iter().for_each(|action| text.push_str(&format!("action act{action}\n")));
        text.push_str("default act0()\n");
        if table.is_selected {
            text.push_str("implementation selector\n");
        }
        if table.is_counted {
            text.push_str(&format!("direct_counter hits{at}\n"));
        }
        text.push_str("} @0\n");
    }
    for (at, table) in shape.iter().enumerate() {
        if table.is_counted {
            text.push_str(&format!("counter hits{at}: packets direct @0\n"));
        }
    }
    text.push_str("action_profile selector size 8 selector crc16 16 @0\n");
    text.push_str("value_set set size 4 {\n key type: exact bit<16> unsigned\n} @0\n");
    ir::text::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]))
}

fn key_shapes() -> impl Strategy<Value = Vec<(&'static str, u32)>> {
    let width = prop::sample::select(vec![1u32, 3, 8, 32, 64, 100, 128]);
    let kinds = prop::sample::select(vec!["exact", "lpm", "ternary", "range", "optional"]);
    prop_oneof![
        prop::collection::vec((kinds, width.clone()), 1..4),
        prop::collection::vec((Just("exact"), width.clone()), 1..4),
        width.prop_map(|width| vec![("lpm", width)]),
    ]
}

pub fn shapes() -> impl Strategy<Value = Shape> {
    let table = (key_shapes(), any::<[bool; 3]>()).prop_map(|(keys, chosen)| {
        let [is_counted, is_selected, is_short] = chosen;
        TableShape { keys, is_counted, is_selected, is_short }
    });
    prop::collection::vec(table, 1..4)
}

/// Numbers of a wide value repeat, so that matches are common.
fn bits(width: u32, number: u64) -> Bits {
    let bytes: Vec<u8> = number.to_be_bytes().repeat(4);
    Bits::from_bytes_be(width, &bytes)
}

fn pattern(kind: &str, width: u32, [a, b]: [u64; 2]) -> KeyPattern {
    match kind {
        "exact" => KeyPattern::Exact(bits(width, a)),
        "lpm" => KeyPattern::Prefix {
            value: bits(width, a),
            // Mostly long ones, since the numbers are small.
            length_bits: width - (b % 4).min(u64::from(width)) as u32,
        },
        "ternary" => KeyPattern::Ternary { value: bits(width, a), mask: bits(width, b) },
        "range" => KeyPattern::Range {
            low: Bits::from_u64(width, a.min(b) & 1),
            high: bits(width, a.max(b) | 1),
        },
        _ if b % 2 == 0 => KeyPattern::Any,
        _ => KeyPattern::Exact(bits(width, a)),
    }
}

/// Every key worth looking up in a table: small numbers in every combination, as far as they are few.
pub fn keys_of(shape: &Shape, table: usize) -> Vec<Vec<Bits>> {
    let table = &shape[table];
    let mut all: Vec<Vec<Bits>> = vec![vec![]];
    for (_, width) in &table.keys {
        all = (0..5u64)
            .flat_map(|number| {
                all.iter().map(move |keys| {
                    let mut keys = keys.clone();
                    keys.push(bits(*width, number));
                    keys
                })
            })
            .collect();
    }
    if table.is_selected {
        all.iter_mut().for_each(|keys| keys.push(Bits::from_u64(8, 1)));
    }
    all
}

/// Random numbers for the parts of an update.
type Seed = (u8, [[u64; 2]; 3], i64, u64);

fn action(actions: [usize; 3], [choice, value]: [u64; 2]) -> BoundAction {
    let number = actions[(choice % 3) as usize];
    let arguments = ACTIONS[number].iter().map(|width| bits(*width, value)).collect();
    BoundAction { action: ActionId(number as u32), arguments }
}

fn update(shape: &Shape, (kind, seeds, priority, choice): Seed) -> Update {
    let at = seeds[2][1] as usize % shape.len();
    let table = TableId(at as u32);
    let keys: Vec<KeyPattern> = shape[at]
        .keys
        .iter()
        .zip(seeds)
        .map(|((kind, width), seed)| pattern(kind, *width, seed))
        .collect();
    let actions = shape[at].actions();
    let data = match (shape[at].is_selected, choice % 4) {
        (false, _) => ActionData::Direct(action(actions, [choice, seeds[0][1]])),
        (true, 0) => ActionData::Member(MemberId((choice / 4 % 4) as u32)),
        (true, 1 | 2) => ActionData::Group(GroupId((choice / 4 % 3) as u32)),
        (true, _) => ActionData::OneShot(
            seeds
                .iter()
                .map(|seed| WeightedAction {
                    action: action(actions, *seed),
                    weight: 1 + (choice % 3) as u32,
                    watch_port: vec![],
                })
                .collect(),
        ),
    };
    let entry = NewEntry {
        action: data,
        ..NewEntry::direct(keys.clone(), priority, action(actions, [0, 0]))
    };
    let profile = ActionProfileId(0);
    let member = MemberId((choice % 4) as u32);
    let group = GroupId((choice % 3) as u32);
    let content = || Group {
        members: seeds[..(choice % 4).min(3) as usize]
            .iter()
            .map(|seed| GroupMember {
                member: MemberId((seed[0] % 4) as u32),
                weight: 1 + (seed[1] % 3) as u32,
                watch_port: vec![],
            })
            .collect(),
        max_size: 0,
    };
    let replicas = vec![Replica { egress_port: choice as u32, instance: 1 }];
    let number = (choice % 3) as u32;
    let set_member = vec![KeyPattern::Exact(Bits::from_u64(16, choice % 6))];
    match kind {
        0..20 => Update::InsertEntry { table, entry },
        20..26 => Update::ModifyEntry { table, entry },
        26..34 => Update::DeleteEntry { table, keys, priority },
        34 => Update::ClearEntries { table },
        35..37 => {
            Update::SetDefaultAction { table, action: Some(action(actions, [choice, choice])) }
        }
        37 => Update::SetDefaultAction { table, action: None },
        38..42 => Update::InsertMember { profile, member, action: action(OF_MEMBERS, seeds[0]) },
        42 => Update::ModifyMember { profile, member, action: action(OF_MEMBERS, seeds[0]) },
        43 => Update::DeleteMember { profile, member },
        44..48 => Update::InsertGroup { profile, group, content: content() },
        48..50 => Update::ModifyGroup { profile, group, content: content() },
        50 => Update::DeleteGroup { profile, group },
        51 => Update::InsertValueSetMember { set: ValueSetId(0), member: set_member },
        52 => Update::DeleteValueSetMember { set: ValueSetId(0), member: set_member },
        53 => Update::InsertMulticastGroup {
            group: number,
            content: MulticastGroup { replicas, metadata: vec![] },
        },
        54 => Update::DeleteMulticastGroup { group: number },
        55 => Update::InsertCloneSession {
            session: number,
            content: CloneSession { replicas, ..CloneSession::default() },
        },
        56 => Update::DeleteCloneSession { session: number },
        57 => Update::SetNodeExclusion {
            instance: number,
            exclusion: (choice % 2 == 0).then_some(number),
        },
        58 => Update::SetPortExclusion { exclusion: number, ports: vec![number] },
        _ => Update::SetCrcParameters {
            calculation: CalculationId(0),
            parameters: (number > 0)
                .then_some(CrcParameters { initial: number.into(), ..CrcParameters::CRC16 }),
        },
    }
}

/// Members and groups for later entries, which would rarely find random ones.
fn members_and_groups() -> Batch {
    let profile = ActionProfileId(0);
    let members = (0..4).map(|number| Update::InsertMember {
        profile,
        member: MemberId(number),
        action: action(OF_MEMBERS, [u64::from(number), u64::from(number)]),
    });
    let member =
        |number| GroupMember { member: MemberId(number), weight: 1 + number, watch_port: vec![] };
    let groups = (0..2).map(|number| Update::InsertGroup {
        profile,
        group: GroupId(number),
        content: Group { members: (number..4).map(member).collect(), max_size: 0 },
    });
    Batch::updates(0, members.chain(groups))
}

pub fn batches(shape: Shape) -> impl Strategy<Value = Vec<Batch>> {
    let seed = (0u8..58, prop::array::uniform3(prop::array::uniform2(0u64..5)), 1i64..4, 0u64..24);
    let batch =
        (prop::collection::vec(seed, 1..12), any::<bool>()).prop_map(move |(seeds, is_atomic)| {
            let mut batch = Batch::updates(0, seeds.into_iter().map(|seed| update(&shape, seed)));
            if is_atomic {
                batch.atomicity = Atomicity::RollbackOnError;
            }
            batch
        });
    (prop::collection::vec(batch, 1..8), any::<bool>()).prop_map(|(mut batches, begins_filled)| {
        if begins_filled {
            batches.insert(0, members_and_groups());
        }
        batches
    })
}

/// Checks that a control plane reads equal configurations.
pub fn assert_same_content(one: &Store, other: &Store) {
    let program = one.configuration().program().clone();
    let profile = ActionProfileId(0);
    let mut reads = vec![
        Read::MulticastGroups { group: None },
        Read::CloneSessions { session: None },
        Read::Exclusions,
        Read::CrcParameters { calculation: CalculationId(0) },
        Read::Members { profile, member: None },
        Read::Groups { profile, group: None },
        Read::ValueSet { set: ValueSetId(0) },
    ];
    for at in 0..program.tables.len() {
        let table = TableId(at as u32);
        reads.extend([Read::Entries { table }, Read::DefaultAction { table }]);
    }
    for read in reads {
        let answer = |store: &Store| -> Reply {
            let batch = Batch {
                items: vec![state::BatchItem::Read(read.clone())],
                ..Batch::updates(0, [])
            };
            store.write_configuration(batch).results.remove(0).expect("configuration")
        };
        assert_eq!(answer(one), answer(other));
    }
}
