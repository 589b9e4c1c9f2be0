// SPDX-License-Identifier: Apache-2.0
//! The compiler: a core program as P4_16 for v1model. It guards indices and shift counts unless `core::ranges` proves them
//! in range, and writes divisions as multiplications or as a function without loops, so other P4 toolchains give the same
//! results. First values of cells are control commands.

mod bound;
mod division;
mod expressions;
mod names;
mod packets;
mod parts;
mod statements;

use crate::core::{Core, Ranges};
use crate::program::Global;
use names::Names;
use p4::build::{BuiltProgram, ProgramBuilder};
pub use packets::Layout;
use packets::PREFIX;
use source::{Diagnostics, SourceMap, Span};
use std::fmt::Write;

/// The architecture that programs are compiled for.
pub const TARGET: &str = "v1model";

/// A compiled program.
#[derive(Debug)]
pub struct Compiled {
    /// The P4_16 program.
    pub built: BuiltProgram,
    /// The control-plane name of each global's register: the global's own. A scalar that no statement writes has none.
    pub registers: Vec<Option<String>>,
    /// The commands that write the cells whose first value is not 0.
    pub commands: String,
}

/// Compiles a program.
///
/// # Errors
///
/// The P4_16 program is wrong, which is a mistake of the compiler.
#[allow(clippy::result_large_err, reason = "once a program")]
pub fn compile(
    core: &Core,
    map: SourceMap,
    layout: &Layout,
) -> Result<Compiled, (Diagnostics, SourceMap)> {
    let mut names = Names::new();
    let fields = core.fields.iter().map(|field| match layout {
        Layout::Words { .. } => format!("{PREFIX}{}", names::of_field(&field.name)),
        Layout::Bound(_) => names.fresh(&field.name),
    });
    let fields: Vec<String> = fields.collect();
    let registers: Vec<String> =
        core.globals.iter().map(|global| names.fresh(&global.name)).collect();
    let mut variables = fields.clone();
    let locals = core.variables.iter().skip(core.fields.len()).map(|name| names.fresh(name));
    variables.extend(locals);
    let mut printer = Printer {
        core,
        names,
        variables,
        registers,
        ranges: Ranges::new(core.variables.len()),
        pieces: Vec::new(),
        has_division: false,
    };
    printer.statements(&core.body);
    let Printer { variables, registers, pieces, has_division, .. } = printer;
    let mut builder = ProgramBuilder::new(map, &["core.p4", &format!("{TARGET}.p4")]);
    let parts = packets::parts(core, layout, &fields);
    packets::declare(&mut builder, core, layout, &fields);
    if has_division {
        builder.comment("divide", "The quotient and the remainder of numbers without a sign.");
        builder.put(Span::NONE, &division::function());
    }
    builder.put(Span::NONE, &parts.control_begin);
    let has_register = |global: &Global| global.size.is_some() || global.is_written;
    for (global, register) in core.globals.iter().zip(&registers) {
        if has_register(global) {
            let annotation = match **register == *global.name {
                true => String::new(),
                false => format!("@name(\"{}\") ", global.name),
            };
            let cells = global.cells();
            let text = format!("{annotation}register<bit<32>>(32w{cells}) {register};");
            builder.put(global.span, &text);
        }
    }
    let registers = core.globals.iter();
    let registers: Vec<Option<String>> =
        registers.map(|global| has_register(global).then(|| global.name.to_string())).collect();
    builder.put(Span::NONE, &parts.apply_begin);
    for variable in variables.iter().skip(core.fields.len()) {
        builder.put(Span::NONE, &format!("bit<32> {variable};"));
    }
    for (span, piece) in &pieces {
        builder.put(*span, piece);
    }
    builder.put(Span::NONE, &parts.apply_end);
    builder.put(Span::NONE, &parts.rest);
    let commands = commands(core, &registers);
    Ok(Compiled { built: builder.finish()?, registers, commands })
}

/// Returns the commands that write first values.
fn commands(core: &Core, registers: &[Option<String>]) -> String {
    let mut text = String::new();
    for (global, register) in core.globals.iter().zip(registers) {
        let Some(register) = register else { continue };
        for (index, value) in global.initial.iter().enumerate().filter(|(_, value)| **value != 0) {
            let _ = writeln!(text, "register_write {register} {index} {value}");
        }
    }
    text
}

/// Prints statements.
struct Printer<'p> {
    core: &'p Core,
    names: Names,
    /// How each variable is written.
    variables: Vec<String>,
    /// How the register of each global is written.
    registers: Vec<String>,
    ranges: Ranges,
    pieces: Vec<(Span, String)>,
    has_division: bool,
}

impl Printer<'_> {
    fn put(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
    }

    /// Keeps a value in a new variable.
    fn keep(&mut self, span: Span, ty: &str, name: &str, value: &str) -> String {
        let name = self.names.fresh(name);
        self.put(span, format!("{ty} {name} = {value};"));
        name
    }
}
