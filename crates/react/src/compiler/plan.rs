// SPDX-License-Identifier: Apache-2.0
//! [`Plan`]: what the compiler made of a program, by control-plane names: init tables, expanded tables, measured words and
//! registers. The control map and the agent read it.

use crate::language::Gress;
use std::sync::Arc;

/// A parameter of an init action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitParameter {
    /// The version of malleable tables (`vv`, Mantis §5.1).
    Version,
    /// The working copy of the group of measurements with this number (`mv`, Mantis §5.2).
    WorkingCopy(usize),
    /// The malleable value of this index.
    Value(usize),
    /// The selector of the malleable field of this index.
    Selector(usize),
}

/// An init table. The first one of a pipeline is the master, which has no key; the others are keyed by the version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitTable {
    /// The table.
    pub table: Arc<str>,
    /// Its action.
    pub action: Arc<str>,
    /// What the parameters of the action are, in order, with their widths in bits.
    pub parameters: Vec<(InitParameter, u32)>,
}

/// Where bits of an argument of a reaction are in the measured words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredBits {
    /// The word of the reaction and pipeline.
    pub word: usize,
    /// The lowest bit in the word.
    pub low: u32,
    /// How many bits.
    pub width: u32,
}

/// A value of a reaction's input that packets write: a field, or the validity of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredValue {
    /// The first word of the reaction's input that it fills.
    pub input: usize,
    /// Its bits, the lowest ones first.
    pub pieces: Vec<MeasuredBits>,
}

/// The fields that one reaction takes of one pipeline (Mantis §4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredPack {
    /// The reaction.
    pub reaction: usize,
    /// The group of measurements that it belongs to.
    pub group: usize,
    /// Whose packets.
    pub gress: Gress,
    /// Registers of two cells, one for each copy, of 32 bits.
    pub words: Vec<Arc<str>>,
    /// The register of two cells that counts the packets of each copy.
    pub sequence: Arc<str>,
    /// What the words hold.
    pub values: Vec<MeasuredValue>,
}

/// A register that is an argument of a reaction (Mantis §5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredRegister {
    /// The register as written.
    pub register: Arc<str>,
    /// The name of its declaration.
    pub name: Arc<str>,
    /// The group of measurements that it belongs to.
    pub group: usize,
    /// Whose packets write it.
    pub gress: Gress,
    /// The register of both copies.
    pub copies: Arc<str>,
    /// The register of the number of writes to each cell of the copies. On Tofino it is in the cells of the copies, which have
    /// 64 bits: the value above, the number of writes below.
    pub times: Option<Arc<str>>,
    /// The cells of each copy; copy c of cell i is at `c * copy_cells + i`.
    pub copy_cells: u64,
    /// Cells of the register.
    pub size: u64,
}

/// A pipeline of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelinePlan {
    /// Which half.
    pub gress: Gress,
    /// Its init tables, the master first.
    pub inits: Vec<InitTable>,
}

/// A key of a table as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlan {
    /// One column.
    Plain,
    /// A column for each combination of the alternatives of these malleable fields, the first field's changing slowest.
    Malleable(Vec<usize>),
}

impl KeyPlan {
    /// The malleable fields in the key.
    pub fn fields(&self) -> &[usize] {
        match self {
            KeyPlan::Plain => &[],
            KeyPlan::Malleable(fields) => fields,
        }
    }
}

/// An action of a table as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionPlan {
    /// The action as written.
    pub action: Arc<str>,
    /// The malleable fields that it uses.
    pub fields: Vec<usize>,
    /// The actions as run, one for each combination of alternatives, the first field's changing slowest.
    pub specialised: Vec<Arc<str>>,
}

/// A table that is malleable, or whose entries multiply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePlan {
    /// The table, as written and as run.
    pub table: Arc<str>,
    /// Whether it is malleable; then the last key is the version.
    pub is_malleable: bool,
    /// The half of the pipeline that applies it, whose version counts.
    pub gress: Gress,
    /// The keys as written.
    pub keys: Vec<KeyPlan>,
    /// The malleable fields whose selectors are keys, behind the columns of the keys as written.
    pub selectors: Vec<usize>,
    /// The actions as written.
    pub actions: Vec<ActionPlan>,
    /// The table that is applied on a miss, keyed by the selectors of `default_selectors` and the version.
    pub default_table: Option<Arc<str>>,
    /// The malleable fields whose selectors are keys of the default table.
    pub default_selectors: Vec<usize>,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The pipelines.
    pub pipelines: Vec<PipelinePlan>,
    /// Tables that differ from the program as written.
    pub tables: Vec<TablePlan>,
    /// Measured fields.
    pub packs: Vec<MeasuredPack>,
    /// Measured registers.
    pub registers: Vec<MeasuredRegister>,
    /// The reactions that take the measurements of each group. Measurements of a group have one working copy.
    pub groups: Vec<Vec<usize>>,
    /// The number of alternatives of each malleable field.
    pub alternatives: Vec<usize>,
}

impl Plan {
    /// The number of combinations of alternatives of these fields.
    pub fn combinations(&self, fields: &[usize]) -> usize {
        fields.iter().map(|field| self.alternatives[*field]).product()
    }

    /// The alternatives of these fields in a combination.
    pub fn combination(&self, fields: &[usize], index: usize) -> Vec<(usize, usize)> {
        combination(&self.alternatives, fields, index)
    }
}

/// The alternatives of fields in the combination of this index, the first field's changing slowest.
pub fn combination(
    alternatives: &[usize],
    fields: &[usize],
    mut index: usize,
) -> Vec<(usize, usize)> {
    let mut choice: Vec<(usize, usize)> = Vec::with_capacity(fields.len());
    for field in fields.iter().rev() {
        choice.push((*field, index % alternatives[*field]));
        index /= alternatives[*field];
    }
    choice.reverse();
    choice
}
