// SPDX-License-Identifier: Apache-2.0
//! What an IR program consists of, apart from its code: storage, state objects, actions, blocks and
//! origins. Handles are indices into the program's lists.

use crate::{Bits, Calculation, CrcParameters, Operation, Region};
use source::Span;
use std::sync::Arc;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub u32);

            impl $name {
                /// As an index into the program's list.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

handles! {
    /// Index into [`Program::slots`].
    SlotId;
    /// Index into [`Program::header_types`].
    HeaderTypeId;
    /// Index into [`Program::headers`].
    HeaderId;
    /// Index into [`Program::stacks`].
    StackId;
    /// Index into [`Program::tables`].
    TableId;
    /// Index into [`Program::actions`].
    ActionId;
    /// Index into [`Program::registers`].
    RegisterId;
    /// Index into [`Program::counters`].
    CounterId;
    /// Index into [`Program::meters`].
    MeterId;
    /// Index into [`Program::action_profiles`].
    ActionProfileId;
    /// Index into [`Program::value_sets`].
    ValueSetId;
    /// Index into [`Program::calculations`].
    CalculationId;
    /// Index into [`Program::requests`].
    RequestId;
    /// Index into [`Program::externs`].
    ExternId;
    /// Index into [`Program::regions`].
    RegionId;
    /// Index into [`Program::origins`].
    OriginId;
}

/// A whole lowered program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Name of the architecture description that lowered it, such as `v1model`; the package's name
    /// when nobody describes it.
    pub architecture: Arc<str>,
    /// Error names; index 0 is `NoError`.
    pub errors: Vec<Arc<str>>,
    /// Per-packet storage.
    pub slots: Vec<Slot>,
    /// Header layouts.
    pub header_types: Vec<HeaderType>,
    /// Header instances, stack elements and union members among them.
    pub headers: Vec<Header>,
    /// Header stacks and stacks of unions.
    pub stacks: Vec<Stack>,
    /// Header unions: each lists its members.
    pub unions: Vec<Union>,
    /// Match-action tables.
    pub tables: Vec<Table>,
    /// Actions of tables.
    pub actions: Vec<Action>,
    /// Register arrays.
    pub registers: Vec<RegisterArray>,
    /// Counters, indirect and direct.
    pub counters: Vec<Counter>,
    /// Meters, indirect and direct.
    pub meters: Vec<Meter>,
    /// Action profiles and selectors.
    pub action_profiles: Vec<ActionProfile>,
    /// Parser value sets.
    pub value_sets: Vec<ValueSet>,
    /// CRCs whose parameters can be set, each on its own.
    pub calculations: Vec<Calculation>,
    /// What the program may ask of its device.
    pub requests: Vec<Request>,
    /// Extern objects and functions that no description explains.
    pub externs: Vec<Extern>,
    /// Lists of slots that survive a new pass: v1model's `@field_list(N)` by number.
    pub field_lists: Vec<FieldList>,
    /// Code of blocks and actions.
    pub regions: Vec<Region>,
    /// Programmable blocks in the order of the package's parameters.
    pub blocks: Vec<Block>,
    /// Where items come from.
    pub origins: Vec<Origin>,
}

/// The type of a slot or temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// Exactly this many bits (0 is allowed: the value is 0).
    Bits(u32),
    /// Up to this many bits; the length is part of the value.
    Varbit(u32),
}

impl ValueType {
    /// The width, or the largest width, in bits.
    pub fn width_bits(self) -> u32 {
        match self {
            ValueType::Bits(width) | ValueType::Varbit(width) => width,
        }
    }
}

/// How a value is shown to people and typed in control messages; it does not change its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Display {
    /// A number without sign.
    Unsigned,
    /// A two's complement number.
    Signed,
    /// `true` or `false`.
    Bool,
    /// An error name.
    Error,
    /// An enum: its name and its members with their values.
    Enum(Arc<str>, Vec<(Arc<str>, Bits)>),
}

/// One piece of per-packet storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Full name such as `hdr.ipv4.ttl`, `hdr.ipv4.$valid`, `ingress.tmp`.
    pub name: Arc<str>,
    /// Type.
    pub ty: ValueType,
    /// How to show it.
    pub display: Display,
    /// Where it is declared.
    pub origin: OriginId,
}

/// A header's layout: fields in wire order.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderType {
    /// Name.
    pub name: Arc<str>,
    /// Fields in wire order; at most one is `Varbit`.
    pub fields: Vec<HeaderField>,
}

impl HeaderType {
    /// Bits of all fields but a varbit.
    pub fn fixed_bits(&self) -> u32 {
        let bits = |field: &HeaderField| match field.ty {
            ValueType::Bits(width_bits) => width_bits,
            ValueType::Varbit(_) => 0,
        };
        self.fields.iter().map(bits).sum()
    }

    /// Index of the varbit among the fields.
    pub fn varbit_field(&self) -> Option<usize> {
        self.fields.iter().position(|field| matches!(field.ty, ValueType::Varbit(_)))
    }
}

/// A field of a header type.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderField {
    /// Name.
    pub name: Arc<str>,
    /// Type.
    pub ty: ValueType,
    /// How to show it.
    pub display: Display,
}

/// A header instance. Its slots are consecutive: the validity bit at `first_slot`, then one a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Full name such as `hdr.ipv4` or `hdr.mpls[2]`.
    pub name: Arc<str>,
    /// Layout.
    pub ty: HeaderTypeId,
    /// The validity slot (one bit).
    pub first_slot: SlotId,
}

impl Header {
    /// The validity slot.
    pub fn valid_slot(&self) -> SlotId {
        self.first_slot
    }

    /// The slot of the field with this index.
    pub fn field_slot(&self, field: usize) -> SlotId {
        SlotId(self.first_slot.0 + 1 + field as u32)
    }
}

/// A header stack, or a stack of unions. Element `i`'s headers are
/// `first_header + i * headers_per_element ..`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Full name.
    pub name: Arc<str>,
    /// First header of element 0.
    pub first_header: HeaderId,
    /// 1 for a header stack, the number of members for a stack of unions.
    pub headers_per_element: u32,
    /// How many elements.
    pub size: u32,
    /// `nextIndex` (32 bits).
    pub next: SlotId,
}

/// A header union: at most one member is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// Full name.
    pub name: Arc<str>,
    /// Members.
    pub members: Vec<HeaderId>,
}

/// How a key is matched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MatchKind {
    /// Equal.
    Exact,
    /// Longest prefix.
    Lpm,
    /// Value and mask.
    Ternary,
    /// Low and high, both inside.
    Range,
    /// Equal, or any.
    Optional,
    /// Not matched: input of an action selector's hash.
    Selector,
    /// A match kind that no description explains.
    Other(Arc<str>),
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Control-plane name.
    pub name: Arc<str>,
    /// How it is matched.
    pub match_kind: MatchKind,
    /// Width in bits.
    pub width_bits: u32,
    /// How to show it.
    pub display: Display,
}

/// What an entry, or one component of a value set's member, asks of one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyPattern {
    /// Anything.
    Any,
    /// Equal to this.
    Exact(Bits),
    /// The first `length_bits` bits equal to those of `value`.
    Prefix {
        /// The value; bits beyond the prefix are zero.
        value: Bits,
        /// Length of the prefix.
        length_bits: u32,
    },
    /// Equal where the mask has ones.
    Ternary {
        /// The value; zero where the mask is.
        value: Bits,
        /// The mask.
        mask: Bits,
    },
    /// Between both, inclusive, as unsigned numbers.
    Range {
        /// Lowest.
        low: Bits,
        /// Highest.
        high: Bits,
    },
}

/// A match-action table (P4_16 v1.2.5 §14.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Keys in order.
    pub keys: Vec<Key>,
    /// Actions in the order of the program.
    pub actions: Vec<TableAction>,
    /// The action on a miss, as an index into `actions`, with its arguments.
    pub default_action: ActionCall,
    /// Whether the default action is `const`.
    pub const_default_action: bool,
    /// Entries that the program gives, in order.
    pub entries: Vec<Entry>,
    /// Whether the entries are `const`: then the control plane adds none.
    pub const_entries: bool,
    /// Declared number of entries.
    pub size: Option<u64>,
    /// Action profile or selector.
    pub implementation: Option<ActionProfileId>,
    /// Direct counters.
    pub direct_counters: Vec<CounterId>,
    /// Direct meters.
    pub direct_meters: Vec<MeterId>,
    /// Whether entries may time out.
    pub idle_timeout: bool,
    /// Annotations as written, for P4Info.
    pub annotations: Vec<Arc<str>>,
    /// The table's declaration.
    pub origin: OriginId,
}

/// An action in a table's list.
#[derive(Clone, Debug, PartialEq)]
pub struct TableAction {
    /// The action.
    pub action: ActionId,
    /// `@tableonly`
    pub table_only: bool,
    /// `@defaultonly`
    pub default_only: bool,
}

/// An action of a table with its control-plane arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionCall {
    /// Index into [`Table::actions`].
    pub action: u32,
    /// Arguments in the order of [`Action::parameters`].
    pub arguments: Vec<Bits>,
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// One pattern a key (selector keys left out).
    pub keys: Vec<KeyPattern>,
    /// What to do.
    pub call: ActionCall,
    /// Among matching entries of ternary, range or optional tables the largest wins.
    pub priority: i64,
    /// Where it stands.
    pub origin: OriginId,
}

/// An action: control-plane parameters and code. The engine stores the arguments in the parameters'
/// slots, then runs the region.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Parameters.
    pub parameters: Vec<ActionParameter>,
    /// Code.
    pub region: RegionId,
    /// Annotations as written, for P4Info.
    pub annotations: Vec<Arc<str>>,
    /// The action's declaration.
    pub origin: OriginId,
}

/// A parameter that the control plane gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionParameter {
    /// Name.
    pub name: Arc<str>,
    /// Where the engine puts it.
    pub slot: SlotId,
    /// Annotations as written.
    pub annotations: Vec<Arc<str>>,
}

/// A register array.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterArray {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Width of a cell: a struct's fields are concatenated, the first in the highest bits.
    pub width_bits: u32,
    /// Number of cells.
    pub size: u64,
    /// First value of every cell.
    pub initial: Bits,
    /// How to show a cell.
    pub display: Display,
    /// Its declaration.
    pub origin: OriginId,
}

/// What a counter or meter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Both.
    PacketsAndBytes,
}

/// A counter array, or a direct counter with a cell an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Control-plane name.
    pub name: Arc<str>,
    /// What is counted.
    pub unit: CountUnit,
    /// Number of cells; `None` for a direct counter.
    pub size: Option<u64>,
    /// Its declaration.
    pub origin: OriginId,
}

/// A two-rate three-colour meter array (RFC 2698), or a direct meter with a cell an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    /// Control-plane name.
    pub name: Arc<str>,
    /// What is metered: packets or bytes.
    pub unit: CountUnit,
    /// Number of cells; `None` for a direct meter.
    pub size: Option<u64>,
    /// Its declaration.
    pub origin: OriginId,
}

/// An action profile; with `selector` it chooses among the members of a group by hash.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionProfile {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Declared number of members.
    pub size: Option<u64>,
    /// Hash algorithm and output width of a selector.
    pub selector: Option<(HashAlgorithm, u32)>,
    /// Its declaration.
    pub origin: OriginId,
}

/// A parser value set.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSet {
    /// Control-plane name.
    pub name: Arc<str>,
    /// Components of a member.
    pub components: Vec<Key>,
    /// Declared number of members.
    pub size: u64,
    /// Its declaration.
    pub origin: OriginId,
}

/// Something a program may ask of its device, such as v1model's `clone` or `digest`. Requests are
/// collected in order while a block runs; the device acts on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is asked, in the words of the architecture: `clone_i2e`, `digest`, `truncate`.
    pub name: Arc<str>,
    /// Further name where there is one: the digest's control-plane name.
    pub label: Arc<str>,
    /// Names and types of what comes with it.
    pub fields: Vec<(Arc<str>, ValueType)>,
}

/// An extern object or function that no description explains; a device may provide it by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Extern {
    /// The extern type's or function's name.
    pub type_name: Arc<str>,
    /// The instance's full name; empty for a function.
    pub instance: Arc<str>,
    /// Constructor arguments, printed as P4.
    pub arguments: Vec<Arc<str>>,
    /// Its declaration.
    pub origin: OriginId,
}

/// Slots that survive a new pass of the packet.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldList {
    /// The list's number in the program.
    pub number: u32,
    /// What survives.
    pub slots: Vec<SlotId>,
}

/// Hash and checksum algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashAlgorithm {
    /// CRC-32 (ISO-HDLC).
    Crc32,
    /// CRC-16/ARC.
    Crc16,
    /// A CRC with parameters of its own.
    Custom(CalculationId),
    /// Always the same: 0 (BMv2's `random` is not supported as a hash of its own there either).
    Random,
    /// The input itself: its first 64 bits as a number (as BMv2 has it), or all of a shorter one.
    Identity,
    /// Internet checksum (RFC 1071).
    Csum16,
    /// Exclusive or of 16-bit words.
    Xor16,
    /// One's complement sum as PSA's `ONES_COMPLEMENT16`.
    OnesComplement16,
    /// Toeplitz or target's own choice, as PNA and PSA's `TARGET_DEFAULT`: CRC-32 here.
    TargetDefault,
    /// A CRC with parameters that the program gives.
    Crc(CrcParameters),
}

impl HashAlgorithm {
    /// The parameters of a CRC that the program fixes; `None` for calculations, which the control plane sets.
    pub fn crc(self) -> Option<CrcParameters> {
        match self {
            HashAlgorithm::Crc32 | HashAlgorithm::TargetDefault => Some(CrcParameters::CRC32),
            HashAlgorithm::Crc16 => Some(CrcParameters::CRC16),
            HashAlgorithm::Crc(parameters) => Some(parameters),
            _ => None,
        }
    }
}

/// What kind of block it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// A parser: has `packet_in`.
    Parser,
    /// A control.
    Control,
    /// A control with `packet_out`.
    Deparser,
}

/// A programmable block of the package.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The role: the package parameter's name, dotted through nested packages (v1model: `p`, `vr`,
    /// `ig`, `eg`, `ck`, `dep`).
    pub role: Arc<str>,
    /// The name of the parser or control in the program.
    pub name: Arc<str>,
    /// Kind.
    pub kind: BlockKind,
    /// Code.
    pub region: RegionId,
    /// Parameters in order.
    pub parameters: Vec<BlockParameter>,
    /// Where a rejecting parser's error goes.
    pub parser_error: Option<SlotId>,
    /// The declaration.
    pub origin: OriginId,
}

/// A parameter of a block and the storage it is bound to. Blocks that an architecture connects share
/// storage, so what one writes the next reads.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockParameter {
    /// The name in the program.
    pub name: Arc<str>,
    /// What its storage is called: the prefix of its slots' names; empty for packets.
    pub storage: Arc<str>,
    /// Whether the block reads what was there before (`in`, `inout`).
    pub is_input: bool,
    /// Whether the block leaves something there (`out`, `inout`).
    pub is_output: bool,
    /// Its slots, in order.
    pub slots: Vec<SlotId>,
}

/// Where an item comes from: a chain through inlined calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Place in the source.
    pub span: Span,
    /// The node of the typed program, by its number.
    pub node: Option<u32>,
    /// Control-plane name of what it belongs to, where there is one.
    pub name: Option<Arc<str>>,
    /// The call or instance through which it was inlined.
    pub parent: Option<OriginId>,
    /// The outermost `@atomic` block that it stands in, by a number that each run of the block's code through
    /// lowering has for itself (P4_16 v1.2.5 §18.4.1).
    pub atomic: Option<u32>,
    /// Which of several accesses to the same state that lowering made of the same node this is, from 0: an
    /// unrolled loop has many. Passes keep it.
    pub repetition: u32,
    /// The origins of all accesses that a pass fused into one, in order; those have none themselves. Empty
    /// for what comes from one place.
    pub merged: Vec<OriginId>,
}

impl Origin {
    /// A place in the source, of nothing else.
    pub fn at(span: Span) -> Origin {
        Origin {
            span,
            node: None,
            name: None,
            parent: None,
            atomic: None,
            repetition: 0,
            merged: Vec::new(),
        }
    }
}

impl Program {
    /// The atomic block that an instruction of this origin belongs to.
    pub fn atomic_block(&self, origin: OriginId) -> Option<u32> {
        self.origins.get(origin.index())?.atomic
    }

    /// The origins that stand together for this one: those that were merged, or itself.
    pub fn merged_origins(&self, origin: OriginId) -> Vec<OriginId> {
        match self.origins.get(origin.index()) {
            Some(Origin { merged, .. }) if !merged.is_empty() => merged.clone(),
            _ => vec![origin],
        }
    }

    /// The slot with this full name.
    pub fn slot_named(&self, name: &str) -> Option<SlotId> {
        self.slots.iter().position(|slot| &*slot.name == name).map(|at| SlotId(at as u32))
    }

    /// The block with this role.
    pub fn block_with_role(&self, role: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| &*block.role == role)
    }

    /// The layout of a header.
    pub fn header_type(&self, header: HeaderId) -> &HeaderType {
        &self.header_types[self.headers[header.index()].ty.index()]
    }

    /// Regions that a block runs: its own first, then those of the actions of its tables.
    pub fn regions_of_block(&self, block: usize) -> Vec<RegionId> {
        let own = self.blocks[block].region;
        let mut regions = vec![own];
        for instruction in self.regions[own.index()].blocks.iter().flat_map(|it| &it.instructions) {
            let Operation::Apply { table, .. } = &instruction.operation else { continue };
            for listed in &self.tables[table.index()].actions {
                let region = self.actions[listed.action.index()].region;
                if !regions.contains(&region) {
                    regions.push(region);
                }
            }
        }
        regions
    }

    /// Direct counters of a table that count by themselves on a hit: no action of the table counts
    /// them explicitly ([`Operation::Apply`]).
    pub fn automatic_counters(&self, table: TableId) -> Vec<CounterId> {
        let table = &self.tables[table.index()];
        let regions = table.actions.iter().filter_map(|listed| {
            let action = self.actions.get(listed.action.index())?;
            self.regions.get(action.region.index())
        });
        let explicit: Vec<CounterId> = regions
            .flat_map(|region| &region.blocks)
            .flat_map(|block| &block.instructions)
            .filter_map(|instruction| match &instruction.operation {
                Operation::CountDirect { counter } => Some(*counter),
                _ => None,
            })
            .collect();
        table.direct_counters.iter().copied().filter(|it| !explicit.contains(it)).collect()
    }

    /// The number of an error by name.
    pub fn error_number(&self, name: &str) -> Option<u32> {
        self.errors.iter().position(|error| &**error == name).map(|at| at as u32)
    }
}
