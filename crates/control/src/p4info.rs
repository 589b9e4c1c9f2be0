// SPDX-License-Identifier: Apache-2.0
//! [`P4Info`]: the control-plane interface of a program as P4Runtime describes it: tables, actions, state objects, digests,
//! packet headers of the controller, and their types, with the ids of `p4info_ids`. `build` reads it off a program, `types`
//! its types; `fields` gives the protobuf messages that `message` renders as text and JSON.

mod annotations;
mod build;
mod controller_headers;
mod digests;
mod fields;
mod message;
mod names;
mod tables;
mod types;

pub use annotations::{Annotations, Literal, StructuredAnnotation, StructuredBody};
pub use types::{BitType, NewType, SdnType, TypeDefinitions, TypeSpec};

use ir::{
    ActionId, ActionProfileId, Bits, CountUnit, CounterId, MatchKind, MeterId, RegisterId, TableId,
    ValueSetId,
};
use std::sync::Arc;

/// The control-plane interface of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct P4Info {
    /// The package `main`.
    pub package: Package,
    /// Tables, in the order of the IR.
    pub tables: Vec<TableInfo>,
    /// Actions of tables, and those that only controls call, without their parameters. The uses of an action that
    /// bind arguments are one; actions that only actions call are left out.
    pub actions: Vec<ActionInfo>,
    /// Action profiles and selectors.
    pub profiles: Vec<ProfileInfo>,
    /// Counters, indexed and direct; direct ones that no table has are left out, and so are such meters.
    pub counters: Vec<CellsInfo<CounterId>>,
    /// Meters, indexed and direct.
    pub meters: Vec<CellsInfo<MeterId>>,
    /// Headers of packets to and from the controller.
    pub controller_headers: Vec<ControllerHeader>,
    /// Parser value sets.
    pub value_sets: Vec<ValueSetInfo>,
    /// Register arrays.
    pub registers: Vec<RegisterInfo>,
    /// Digests.
    pub digests: Vec<DigestInfo>,
    /// The definitions of types that the others name.
    pub types: TypeDefinitions,
}

/// The package.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Package {
    /// The architecture, such as `v1model`.
    pub architecture: Arc<str>,
    /// `name`, `version`, `organization`, `contact` and `url` of `@pkginfo`.
    pub properties: Vec<(Arc<str>, Arc<str>)>,
    /// The numbers of `@platform_property`.
    pub platform: Vec<(Arc<str>, u32)>,
    /// Other annotations.
    pub annotations: Annotations,
}

/// Identity and documentation of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Preamble {
    /// Id, unique in the program.
    pub id: u32,
    /// Control-plane name.
    pub name: Arc<str>,
    /// The shortest dotted suffix of the name that no other object has.
    pub alias: Arc<str>,
    /// Annotations.
    pub annotations: Annotations,
}

/// A match field of a table or value set.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchField {
    /// Id, unique in its table.
    pub id: u32,
    /// Name; may be empty in a value set.
    pub name: Arc<str>,
    /// Width in bits as the controller sees it; 0 for a text.
    pub width_bits: u32,
    /// How it is matched.
    pub match_kind: MatchKind,
    /// The `type` declaration of its type, if any.
    pub type_name: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
}

/// Where a table may use an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionScope {
    /// In entries and as default action.
    TableAndDefault,
    /// Only in entries.
    TableOnly,
    /// Only as default action.
    DefaultOnly,
}

/// An action in a table's list.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionReference {
    /// Id of the action.
    pub id: u32,
    /// Where the table may use it.
    pub scope: ActionScope,
    /// Annotations in the list.
    pub annotations: Annotations,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableInfo {
    /// The table in the IR.
    pub object: TableId,
    /// Identity.
    pub preamble: Preamble,
    /// Match fields, selector keys left out.
    pub match_fields: Vec<MatchField>,
    /// Actions.
    pub actions: Vec<ActionReference>,
    /// Default action of the program: its id, and values by parameter id.
    pub default_action: (u32, Vec<(u32, Bits)>),
    /// Whether the default action is `const`.
    pub has_const_default: bool,
    /// Id of the action profile.
    pub implementation: Option<u32>,
    /// Ids of direct counters and meters.
    pub direct_resources: Vec<u32>,
    /// Number of entries.
    pub size: u64,
    /// Whether entries may time out.
    pub idle_timeout: bool,
    /// Whether the entries are `const`.
    pub is_const: bool,
    /// Whether the program has entries for it.
    pub has_initial_entries: bool,
}

/// A parameter of an action, or a field of a controller header.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Id, unique in its action or header.
    pub id: u32,
    /// Name.
    pub name: Arc<str>,
    /// Width in bits as the controller sees it; `None` for a text and for an enum without representation.
    pub width_bits: Option<u32>,
    /// The `type` or enum declaration of its type, if any.
    pub type_name: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
}

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionInfo {
    /// The action in the IR, the first one of several uses; `None` if no table has it.
    pub object: Option<ActionId>,
    /// Identity.
    pub preamble: Preamble,
    /// Parameters that the control plane gives.
    pub parameters: Vec<Parameter>,
}

/// How the size of a selector's group is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeSemantics {
    /// The sum of its members' weights.
    SumOfWeights,
    /// The number of its members, each with at most this weight; 0 is no limit.
    SumOfMembers {
        /// Largest weight.
        max_weight: u32,
    },
}

/// An action profile or selector.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileInfo {
    /// The profile in the IR.
    pub object: ActionProfileId,
    /// Identity.
    pub preamble: Preamble,
    /// Ids of the tables that use it.
    pub tables: Vec<u32>,
    /// Whether it has groups.
    pub has_selector: bool,
    /// Number of members.
    pub size: u64,
    /// Largest group; 0 is not given.
    pub max_group_size: u32,
    /// What the size of a group counts, where the program says it.
    pub size_semantics: Option<SizeSemantics>,
}

/// Counters or meters: an array, or one cell for each entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct CellsInfo<Id> {
    /// The object in the IR.
    pub object: Id,
    /// Identity.
    pub preamble: Preamble,
    /// What is counted.
    pub unit: CountUnit,
    /// The array, or the table of a direct object.
    pub extent: CellsExtent,
}

/// The cells of counters or meters.
#[derive(Clone, Debug, PartialEq)]
pub enum CellsExtent {
    /// An array.
    Array {
        /// Number of cells.
        size: u64,
        /// The `type` declaration of the index's type, if any.
        index_type: Option<Arc<str>>,
    },
    /// A cell for each entry of the table with this id.
    Direct {
        /// Id of the table.
        table: u32,
    },
}

/// A header of packets to or from the controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerHeader {
    /// Identity; the name is that of `@controller_header`.
    pub preamble: Preamble,
    /// Fields.
    pub fields: Vec<Parameter>,
}

/// A parser value set.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSetInfo {
    /// The value set in the IR.
    pub object: ValueSetId,
    /// Identity.
    pub preamble: Preamble,
    /// Fields.
    pub fields: Vec<MatchField>,
    /// Number of members.
    pub size: u64,
}

/// A register array.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterInfo {
    /// The register in the IR.
    pub object: RegisterId,
    /// Identity.
    pub preamble: Preamble,
    /// Type of a cell.
    pub ty: TypeSpec,
    /// Number of cells.
    pub size: u64,
    /// The `type` declaration of the index's type, if any.
    pub index_type: Option<Arc<str>>,
}

/// A digest.
#[derive(Clone, Debug, PartialEq)]
pub struct DigestInfo {
    /// Identity.
    pub preamble: Preamble,
    /// Type of its data.
    pub ty: TypeSpec,
}
