// SPDX-License-Identifier: Apache-2.0
//! Verifies parsers.

use super::Verifier;
use super::expressions::Scope;
use crate::core::{Parser, ParserAction, ParserBlock, ParserStep, Type};

impl Verifier<'_> {
    pub(super) fn whole_parser(&mut self, parser: &Parser) {
        self.locals(&parser.locals);
        self.ensure(parser.parameter_count as usize <= parser.locals.len(), || {
            "more parameters than locals".to_owned()
        });
        self.parser_block(&parser.block, &Scope::locals(&parser.locals));
    }

    fn parser_block(&mut self, block: &ParserBlock, scope: &Scope) {
        for action in &block.actions {
            match action {
                ParserAction::Read(locals) => {
                    for local in locals {
                        let found = scope.of(*local);
                        let fits = matches!(found, Some(Type::Int(_) | Type::Bool));
                        self.ensure(fits, || format!("bits are read into {found:?}"));
                    }
                }
                ParserAction::Skip(_) => {}
                ParserAction::Assign(local, value) => {
                    self.expression(value, scope);
                    let found = scope.of(*local);
                    self.ensure(found == Some(value.ty), || {
                        format!("local {} of type {found:?} receives {:?}", local.0, value.ty)
                    });
                }
                ParserAction::Rest(local) => {
                    let found = scope.of(*local);
                    self.ensure(found == Some(Type::Payload), || {
                        format!("the rest of a packet goes to {found:?}")
                    });
                }
            }
        }
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.step(&block.step, scope));
    }

    fn step(&mut self, step: &ParserStep, scope: &Scope) {
        match step {
            ParserStep::Match { subjects, branches } => {
                let widths: Vec<u32> =
                    subjects.iter().map(|subject| self.expect_int(subject, scope)).collect();
                for (patterns, block) in branches {
                    self.patterns(patterns, &widths);
                    self.parser_block(block, scope);
                }
            }
            ParserStep::Generate(event) => self.expect(event, Type::Event, scope),
            ParserStep::Call { parser: id, arguments } => {
                let Some(parser) = self.program.parsers.get(id.0 as usize) else {
                    self.say(format!("there is no parser {}", id.0));
                    return;
                };
                self.ensure(arguments.len() == parser.parameter_count as usize, || {
                    format!("`{}` called with {} arguments", parser.name, arguments.len())
                });
                for (argument, parameter) in arguments.iter().zip(&parser.locals) {
                    self.expect(argument, parameter.ty, scope);
                }
            }
            ParserStep::LucidEvent | ParserStep::Drop => {}
        }
    }
}
