// SPDX-License-Identifier: Apache-2.0
//! [`Description`]: an architecture as data: its package, blocks, metadata, requests, ports and table
//! properties. Every tool that has to know an architecture asks its description; `registry` lists all of them.
//! The meaning of externs is code, in `lowering::ExternMeaning`.

use crate::BlockKind;
use p4::typed::TypedProgram;
use std::sync::Arc;

/// A half of the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gress {
    /// From a port, or a loop back, to the queues.
    #[default]
    Ingress,
    /// From a queue to the wire.
    Egress,
}

impl Gress {
    /// Its name in reports and traces.
    pub fn name(self) -> &'static str {
        match self {
            Gress::Ingress => "ingress",
            Gress::Egress => "egress",
        }
    }
}

/// An architecture: P4_16 v1.2.5 §17.
#[derive(Debug)]
pub struct Description {
    /// The name in [`crate::Program::architecture`].
    pub name: &'static str,
    /// A short title for lists of architectures.
    pub title: &'static str,
    /// The package of `main`.
    pub package: &'static str,
    /// A declaration that tells the package from those of other interfaces with the same name.
    pub marker: Option<&'static str>,
    /// The built-in interface that declares the package.
    pub interface: &'static str,
    /// Programmable blocks, in the order in which a device runs them.
    pub blocks: &'static [BlockRole],
    /// Fields that a device reads or writes.
    pub metadata: &'static [MetadataField],
    /// Requests that a device carries out.
    pub requests: &'static [&'static str],
    /// Ports of a device; `None` without a device.
    pub ports: Option<Ports>,
    /// Table properties besides `size`.
    pub table_properties: &'static [(&'static str, TableProperty)],
    /// Name of the first custom CRC that is called as a function; the next ones append `_0`, `_1`.
    pub calculation_stem: Option<&'static str>,
    /// Whether devices only read and write headers of whole bytes.
    pub whole_byte_headers: bool,
    /// Whether tables have at most one `lpm` key.
    pub single_prefix_key: bool,
    /// The most bits of arguments of one action; `None` is no limit.
    pub action_data_bits: Option<u32>,
}

/// A programmable block of a package.
#[derive(Debug)]
pub struct BlockRole {
    /// The role: the package parameter's name, dotted through nested packages ([`crate::Block::role`]).
    pub role: &'static str,
    /// Kind.
    pub kind: BlockKind,
    /// The half of the pipeline that it stands in.
    pub gress: Gress,
    /// Whether match-action stages of hardware hold it.
    pub takes_stages: bool,
    /// The name in traces and reports: `ingress parser`.
    pub display_name: &'static str,
    /// The storage that each parameter shares with other blocks; empty for packets and parameters with storage
    /// of their own.
    pub storage: &'static [&'static str],
    /// Where a rejecting parser's error goes.
    pub parser_error: Option<MetadataField>,
    /// Whether a packet's storage begins here, all slots zero except those that a device writes.
    pub is_first: bool,
    /// Whether a device measures the valid headers behind the block.
    pub measures_headers: bool,
    /// Fields that a device reads behind the block, whatever runs next.
    pub reads: &'static [MetadataField],
    /// Fields among these of which a device only asks whether they hold the drop port.
    pub drop_only: &'static [MetadataField],
    /// Requests that have a meaning in the block.
    pub requests: &'static [&'static str],
    /// Blocks that may run next on the block's storage, or on storage that keeps part of it.
    pub transitions: &'static [Transition],
}

/// A packet's storage passes from the end of a block to the beginning of another.
#[derive(Debug)]
pub struct Transition {
    /// The role of the block that runs next.
    pub to: &'static str,
    /// Happens only in programs with one of these requests; empty for always.
    pub on_requests: &'static [&'static str],
    /// What keeps its values.
    pub kept: Kept,
    /// Fields that a device reads to decide about the transition.
    pub reads: &'static [MetadataField],
    /// Fields that a device writes in between.
    pub writes: &'static [MetadataField],
}

/// Which slots keep their values in a transition, apart from those that the device writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// All.
    All,
    /// Headers and stacks.
    Headers,
    /// Slots in field lists.
    FieldLists,
    /// Headers, stacks and slots in field lists.
    HeadersAndFieldLists,
}

/// A field of an architecture's metadata, in storage that blocks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetadataField {
    /// The storage, as in [`BlockRole::storage`].
    pub storage: &'static str,
    /// The field.
    pub name: &'static str,
    /// Whether interfaces in use may lack the field.
    pub is_optional: bool,
}

impl BlockRole {
    /// A block without parameters, reads and transitions; stages hold it if it is a control.
    pub(super) const fn new(kind: BlockKind, gress: Gress) -> BlockRole {
        BlockRole {
            role: "",
            kind,
            gress,
            takes_stages: matches!(kind, BlockKind::Control),
            display_name: "",
            storage: &[],
            parser_error: None,
            is_first: false,
            measures_headers: false,
            reads: &[],
            drop_only: &[],
            requests: &[],
            transitions: &[],
        }
    }
}

impl Transition {
    /// A transition in every program that keeps everything.
    pub(super) const fn new(to: &'static str) -> Transition {
        Transition { to, on_requests: &[], kept: Kept::All, reads: &[], writes: &[] }
    }
}

impl MetadataField {
    /// A field that each edition of the interface has.
    pub const fn new(storage: &'static str, name: &'static str) -> MetadataField {
        MetadataField { storage, name, is_optional: false }
    }

    /// A field that some editions of the interface lack.
    pub const fn optional(storage: &'static str, name: &'static str) -> MetadataField {
        MetadataField { storage, name, is_optional: true }
    }

    /// The full name of its slot.
    pub fn slot_name(&self) -> String {
        MetadataField::slot_name_of(self.storage, self.name)
    }

    /// The full name of the slot of a field in some storage.
    pub fn slot_name_of(storage: &str, name: &str) -> String {
        format!("{storage}.{name}")
    }
}

/// Numbers of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// Width of a port number in metadata.
    pub width_bits: u32,
    /// The port number that drops a packet.
    pub drop: Option<u32>,
    /// The port whose packets return to ingress unless it is configured otherwise.
    pub recirculation: Option<u32>,
}

impl Ports {
    /// The largest port number.
    pub const fn largest(&self) -> u32 {
        (1 << self.width_bits) - 1
    }
}

/// What a table property declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableProperty {
    /// Number of entries.
    Size,
    /// Whether entries time out.
    IdleTimeout,
    /// An action profile, direct counters or direct meters.
    Object,
}

impl Description {
    /// Whether a package of this name, as a program declares it, is the architecture's.
    pub(crate) fn has_package(&self, package: &str, typed: &TypedProgram) -> bool {
        let declares = |name: &str| {
            typed.program.declarations.iter().any(|declaration| &*declaration.name.text == name)
        };
        self.package == package && self.marker.is_none_or(declares)
    }

    /// The block with a role.
    pub fn block(&self, role: &str) -> Option<&'static BlockRole> {
        self.blocks.iter().find(|block| block.role == role)
    }

    /// What a table property declares.
    pub fn table_property(&self, name: &str) -> Option<TableProperty> {
        self.table_properties
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, property)| *property)
    }

    /// The name of the custom CRC with this place among those that are called as functions.
    pub fn calculation_name(&self, place: u32) -> Option<Arc<str>> {
        let stem = self.calculation_stem?;
        Some(match place.checked_sub(1) {
            None => stem.into(),
            Some(number) => format!("{stem}_{number}").into(),
        })
    }
}
