// SPDX-License-Identifier: Apache-2.0
//! Parsers and controls as declarations: their parameters, local declarations and bodies (P4_16
//! v1.2.5 §7.2.13.1, §7.2.13.2, §13.2, §14). States and tables have their own files.

use super::parameters::ParameterOwner;
use super::{Checker, Node, SyntacticContext};
use crate::ast::{BlockType, ControlDeclaration, Declaration, Parameter, ParserDeclaration};

impl<'a> Checker<'a> {
    /// Declares the parameters that a block's body sees.
    fn declare_block_signature(
        &mut self,
        declaration: &'a Declaration,
        signature: &'a BlockType,
        constructor_parameters: &'a [Parameter],
        owners: (ParameterOwner, ParameterOwner),
    ) {
        self.declare_type_parameters(declaration.id, &signature.type_parameters);
        self.declare_parameters(&signature.parameters, owners.0);
        self.declare_parameters(constructor_parameters, owners.1);
    }

    pub(super) fn check_parser(
        &mut self,
        declaration: &'a Declaration,
        parser: &'a ParserDeclaration,
    ) {
        self.set_node(declaration.id, Node::Declaration(declaration));
        self.open_declarations.push(declaration);
        self.in_scope(|checker| {
            checker.declare_block_signature(
                declaration,
                &parser.signature,
                &parser.constructor_parameters,
                (ParameterOwner::Parser, ParameterOwner::ParserConstructor),
            );
            checker.in_scope(|checker| {
                checker.in_context(SyntacticContext::ParserLocals, |checker| {
                    for local in &parser.locals {
                        checker.check_local_declaration(local);
                    }
                });
                checker.check_states(declaration, parser);
            });
        });
        self.open_declarations.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    pub(super) fn check_control(
        &mut self,
        declaration: &'a Declaration,
        control: &'a ControlDeclaration,
    ) {
        self.set_node(declaration.id, Node::Declaration(declaration));
        self.open_declarations.push(declaration);
        self.in_scope(|checker| {
            checker.declare_block_signature(
                declaration,
                &control.signature,
                &control.constructor_parameters,
                (ParameterOwner::Control, ParameterOwner::ControlConstructor),
            );
            checker.in_scope(|checker| {
                checker.in_context(SyntacticContext::ControlLocals, |checker| {
                    for local in &control.locals {
                        checker.check_local_declaration(local);
                    }
                });
                let void = checker.known.void.clone();
                let outer_result = checker.result.replace(void);
                checker.in_context(SyntacticContext::ControlApply, |checker| {
                    checker.check_block(&control.body)
                });
                checker.result = outer_result;
            });
        });
        self.open_declarations.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }
}
