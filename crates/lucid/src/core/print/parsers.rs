// SPDX-License-Identifier: Apache-2.0
//! Prints the parsers of a core program.

use super::expressions::Names;
use super::{Printer, declared, list, patterns_text, type_text, width};
use crate::core::{Parser, ParserAction, ParserBlock, ParserStep};

impl Printer<'_> {
    pub(super) fn parser(&mut self, parser: &Parser) {
        let split = (parser.parameter_count as usize).min(parser.locals.len());
        let (parameters, locals) = parser.locals.split_at(split);
        self.line(&format!("parser {}({})", parser.name, declared(parameters)));
        let names = Names::locals(&parser.locals);
        self.indented(|printer| {
            for local in locals {
                printer.line(&format!("local {} {}", type_text(local.ty), local.name));
            }
            printer.parser_block(&parser.block, &names);
        });
    }

    fn parser_block(&mut self, block: &ParserBlock, names: &Names) {
        self.indented(|printer| {
            for action in &block.actions {
                let text = match action {
                    ParserAction::Read(locals) => {
                        format!("read {}", list(locals, |local| names.of(*local)))
                    }
                    ParserAction::Skip(bits) => format!("skip {bits}"),
                    ParserAction::Assign(local, value) => {
                        format!("{} = {}", names.of(*local), printer.expression(value, names))
                    }
                    ParserAction::Rest(local) => format!("{} = rest", names.of(*local)),
                };
                printer.line(&text);
            }
            stacker::maybe_grow(128 * 1024, 1024 * 1024, || printer.step(&block.step, names));
        });
    }

    fn step(&mut self, step: &ParserStep, names: &Names) {
        match step {
            ParserStep::Match { subjects, branches } => {
                let widths: Vec<u32> = subjects.iter().map(|subject| width(subject.ty)).collect();
                let subjects = list(subjects, |subject| self.expression(subject, names));
                self.line(&format!("match {subjects}"));
                for (patterns, block) in branches {
                    self.line(&format!("| {} ->", patterns_text(patterns, &widths)));
                    self.parser_block(block, names);
                }
            }
            ParserStep::Generate(event) => {
                let event = self.expression(event, names);
                self.line(&format!("generate {event}"));
            }
            ParserStep::Call { parser, arguments } => {
                let name = match self.program.parsers.get(parser.0 as usize) {
                    Some(parser) => parser.name.to_string(),
                    None => format!("parser?{}", parser.0),
                };
                let arguments = list(arguments, |argument| self.expression(argument, names));
                self.line(&format!("call {name}({arguments})"));
            }
            ParserStep::LucidEvent => self.line("lucid event"),
            ParserStep::Drop => self.line("drop"),
        }
    }
}
