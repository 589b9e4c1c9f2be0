// SPDX-License-Identifier: Apache-2.0
//! Random, well-typed v1model programs over the whole language that lowers. This file has the
//! generator's memory: what is declared and what is in scope. Each kind of piece has a file of its
//! own; entries and packets are made elsewhere.

mod actions;
mod controls;
mod declarations;
mod expressions;
mod externs;
mod parsers;
mod program;
mod statements;
mod tables;
mod types;

pub use parsers::{
    CaseModel, FieldModel, KeyModel, ParserModel, Pattern, StateModel, Step, Target,
};
pub use types::Type;
pub(super) use types::hexadecimal;

use super::piece::Piece;
use crate::Choices;
use actions::{Action, Function, Parameter};
use declarations::{EnumType, HeaderPlace, StackPlace};
use ir::Bits;

/// What the user of the generator may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// How large programs are, from 1 to 10; 3 makes about 150 lines.
    pub size: u32,
    /// Whether programs draw random numbers; what is drawn depends on the places of instructions, so
    /// engines that run different IR of one program differ.
    pub random: bool,
    /// Whether programs are about calls: nested controls of every kind of parameter, in several levels, by
    /// instance and by type; and no variable is read before it has a value, because calls that are
    /// inlined have other variables.
    pub calls: bool,
}

impl Default for Knobs {
    fn default() -> Knobs {
        Knobs { size: 3, random: true, calls: false }
    }
}

/// A generated program and what the generator of packets wants to know of it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The program.
    pub tree: Piece,
    /// Its parser.
    pub parser: ParserModel,
    /// Numbers that keys, constants and fields prefer, so that they meet.
    pub palette: Vec<u64>,
}

/// Makes a program.
pub fn generate(choices: &mut Choices, knobs: Knobs) -> Generated {
    Generator::new(choices, knobs).program()
}

/// Something that can be read and perhaps written.
#[derive(Clone, Debug)]
struct Variable {
    /// The text; `$` stands for a run-time index.
    path: String,
    ty: Type,
    is_writable: bool,
    /// Elements of the stack that `$` chooses from.
    indexed: Option<u32>,
}

impl Variable {
    /// Whether its value is only known at run time: loops that are unrolled make constants of theirs,
    /// and a constant may be no divisor and no index where it is wrong.
    fn is_run_time(&self) -> bool {
        !self.path.starts_with('i') && !self.path.starts_with("CONSTANT")
    }
}

/// Which part of a program is being made; it decides what may be called there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Parser,
    Checksum,
    Ingress,
    Egress,
    Action,
    Function,
}

/// A table as statements see it.
#[derive(Clone, Debug)]
struct TableName {
    name: String,
    actions: Vec<String>,
}

/// State that statements of a control may use.
#[derive(Clone, Debug, Default)]
struct Objects {
    /// Name, cell type, size.
    registers: Vec<(String, Type, u64)>,
    /// Name, index of the struct type, size.
    struct_registers: Vec<(String, usize, u64)>,
    /// Name, size.
    counters: Vec<(String, u64)>,
    /// Name, size.
    meters: Vec<(String, u64)>,
    /// Applied at most once more each.
    tables: Vec<TableName>,
    /// Nested controls, by instance or type, and what they take besides headers and metadata.
    controls: Vec<(String, Vec<Parameter>)>,
    actions: Vec<Action>,
}

struct Generator<'c> {
    choices: &'c mut Choices,
    knobs: Knobs,
    palette: Vec<u64>,
    /// Widths that fields prefer, so that expressions find operands of their type.
    widths: Vec<u32>,
    serial: u32,
    errors: Vec<String>,
    enums: Vec<EnumType>,
    header_types: Vec<declarations::HeaderType>,
    struct_types: Vec<declarations::StructType>,
    headers: Vec<HeaderPlace>,
    stacks: Vec<StackPlace>,
    /// Structs in scope: path and index of the type.
    structs: Vec<(String, usize)>,
    functions: Vec<Function>,
    variables: Vec<Variable>,
    objects: Objects,
    place: Place,
    in_loop: bool,
    returns: Option<Type>,
    /// Names for widths: `typedef`s.
    typedefs: Vec<(u32, String)>,
    /// How many more statements this part may have.
    budget: u32,
}

impl<'c> Generator<'c> {
    fn new(choices: &'c mut Choices, knobs: Knobs) -> Generator<'c> {
        let mut palette: Vec<u64> = (0..2).map(|_| choices.below(16) as u64).collect();
        palette.extend((0..2).map(|_| choices.below(256) as u64));
        palette.extend((0..1).map(|_| choices.below(1 << 16) as u64));
        palette.extend((0..1).map(|_| choices.bits(64).low_u64()));
        let mut widths = vec![8, 16, 32];
        for _ in 0..4 {
            widths.push(choices.between(1, 64));
        }
        if choices.chance(50) {
            widths.push(choices.between(65, 128));
        }
        if choices.chance(25) {
            widths.push(choices.between(129, 300));
        }
        if choices.chance(2) {
            widths.push(2048);
        }
        Generator {
            choices,
            knobs,
            palette,
            widths,
            serial: 0,
            errors: Vec::new(),
            enums: Vec::new(),
            header_types: Vec::new(),
            struct_types: Vec::new(),
            headers: Vec::new(),
            stacks: Vec::new(),
            structs: Vec::new(),
            functions: Vec::new(),
            variables: Vec::new(),
            objects: Objects::default(),
            place: Place::Ingress,
            in_loop: false,
            returns: None,
            typedefs: Vec::new(),
            budget: 0,
        }
    }

    /// A name that no other thing has.
    fn fresh(&mut self, stem: &str) -> String {
        self.serial += 1;
        format!("{stem}{}", self.serial)
    }

    fn value(&mut self, width_bits: u32) -> Bits {
        self.choices.value(width_bits, &self.palette)
    }

    /// From `low` to `high`, more with the size of the program.
    fn amount(&mut self, low: u32, high: u32) -> u32 {
        let high = low + (high - low) * self.knobs.size.clamp(1, 10) / 5;
        self.choices.between(low, high)
    }

    fn declare(&mut self, path: impl Into<String>, ty: Type, is_writable: bool) {
        self.variables.push(Variable { path: path.into(), ty, is_writable, indexed: None });
    }

    /// Makes something in a scope of its own.
    fn scoped<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let (variables, headers) = (self.variables.len(), self.headers.len());
        let structs = self.structs.len();
        let result = make(self);
        self.variables.truncate(variables);
        self.headers.truncate(headers);
        self.structs.truncate(structs);
        result
    }

    /// Makes something that sees no variables and headers but what it declares.
    fn apart<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let variables = std::mem::take(&mut self.variables);
        let headers = std::mem::take(&mut self.headers);
        let stacks = std::mem::take(&mut self.stacks);
        let structs = std::mem::take(&mut self.structs);
        let result = make(self);
        self.structs = structs;
        self.variables = variables;
        self.headers = headers;
        self.stacks = stacks;
        result
    }
}
