// SPDX-License-Identifier: Apache-2.0
//! Programmable blocks of a package, and what a program uses of its device: requests and externs.

use crate::{OriginId, RegionId, SlotId, ValueType};
use std::sync::Arc;

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
    /// `ig`, `eg`, `ck`, `dep`). A control that is cut into stages is several blocks with one role, which run in
    /// order.
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
    /// The name of its storage, which prefixes its slots' names; empty for packets.
    pub storage: Arc<str>,
    /// Whether the block reads the previous value (`in`, `inout`).
    pub is_input: bool,
    /// Whether the block leaves something there (`out`, `inout`).
    pub is_output: bool,
    /// Its slots, in order.
    pub slots: Vec<SlotId>,
}

/// A request of a program to its device, such as v1model's `clone` or `digest`. Requests are
/// collected in order while a block runs; the device acts on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The request by the architecture's name: `clone_i2e`, `digest`, `truncate`.
    pub name: Arc<str>,
    /// Further name where there is one: the digest's control-plane name.
    pub label: Arc<str>,
    /// Names and types of its arguments.
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
