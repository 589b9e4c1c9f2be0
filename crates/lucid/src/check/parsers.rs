// SPDX-License-Identifier: Apache-2.0
//! Checks parsers: reads and skips, branches, and the end of each path.

use super::Checker;
use super::body::{DeferredCheck, Frame};
use super::checked::{Builtin, Definition, Signature, Type};
use super::codes;
use super::reports::TypeExpectation;
use super::scopes::{Namespace, Resolution, show_path};
use crate::syntax::ast::{
    Binder, Expression, ExpressionKind, Parameter, ParserAction, ParserActionKind, ParserBlock,
    ParserStep, Path,
};
use source::{Diagnostic, Span};

impl Checker {
    pub(super) fn parser(&mut self, name: &Binder, parameters: &[Parameter], body: &ParserBlock) {
        self.begin(Frame::Parser);
        let types = self.parameters(parameters);
        if &*name.name == "main" {
            let good = matches!(types[..], [Type::Bitstring]);
            if !good {
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::PARSER,
                        name.span,
                        "the parser `main` takes the packet and nothing else",
                    )
                    .help("write `parser main(bitstring pkt) { ... }`"),
                );
            }
        }
        self.function_name = Some(name.name.clone());
        self.parser_block(body);
        self.function_name = None;
        self.remember_parameters(name.id, parameters);
        let signature = Signature { parameters: types, result: Type::Void, variables: Vec::new() };
        self.finish(vec![(name.id, signature)]);
        self.declare_named(Namespace::Parsers, name, Definition::Parser(name.id));
    }

    fn parser_block(&mut self, block: &ParserBlock) {
        let locals = self.body.locals.len();
        for action in &block.actions {
            self.parser_action(action);
        }
        self.parser_step(&block.step);
        self.body.locals.truncate(locals);
    }

    fn packet(&mut self, source: &Expression, what: &str) {
        let why = TypeExpectation::new(source.span, format!("{what} a packet, {{}}"));
        self.expect(source, &Type::Bitstring, Some(&why));
    }

    fn parser_action(&mut self, action: &ParserAction) {
        match &action.kind {
            ParserActionKind::Read { name, ty, source } => {
                let ty = self.resolve_type(ty);
                self.packet(source, "`read` reads from");
                self.body.later.push(DeferredCheck::Readable { ty: ty.clone(), span: name.span });
                self.local(name, ty);
            }
            ParserActionKind::Skip { ty: written, source } => {
                let ty = self.resolve_type(written);
                self.packet(source, "`skip` leaves out bits of");
                self.body
                    .later
                    .push(DeferredCheck::Readable { ty: ty.clone(), span: written.span });
                self.out.skipped_types.insert(source.id, ty);
                self.body.skipped.push(source.id);
            }
            ParserActionKind::Local { name, ty: written, value } => {
                let ty = self.resolve_type(written);
                let why = TypeExpectation::new(
                    written.span.to(name.span),
                    format!("`{}` is {{}}", name.name),
                );
                self.expect(value, &ty, Some(&why));
                self.local(name, ty);
            }
            ParserActionKind::Assign { target, value } => {
                let ty = self.infer(target);
                if let Some(path) = changed(target) {
                    let local = matches!(
                        self.out.definitions.get(&path.id),
                        Some(Definition::Local(_)) | None
                    );
                    if !local {
                        self.diagnostics.push(Diagnostic::error(
                            codes::NOT_ASSIGNABLE,
                            target.span,
                            format!("`{}` is no local and cannot be assigned to", show_path(path)),
                        ));
                    }
                } else {
                    self.diagnostics.push(Diagnostic::error(
                        codes::NOT_ASSIGNABLE,
                        target.span,
                        "only locals and their fields can be assigned to",
                    ));
                }
                let why = TypeExpectation::new(target.span, "this is {}");
                self.expect(value, &ty, Some(&why));
            }
        }
    }

    fn parser_step(&mut self, step: &ParserStep) {
        match step {
            ParserStep::Match { subjects, branches, span: _ } => {
                let types: Vec<(Type, Span)> =
                    subjects.iter().map(|subject| (self.infer(subject), subject.span)).collect();
                for branch in branches {
                    self.patterns(&branch.patterns, &types, branch.span);
                    self.parser_block(&branch.body);
                }
            }
            ParserStep::Generate { event, span } => {
                let why = TypeExpectation::new(*span, "what is generated is an event");
                self.expect(event, &Type::Event, Some(&why));
            }
            ParserStep::Call { parser, arguments, span } => {
                self.parser_call(parser, arguments, *span);
            }
            ParserStep::Drop { .. } => {}
        }
    }

    fn parser_call(&mut self, path: &Path, arguments: &[Expression], span: Span) {
        self.at = path.span;
        let shown = show_path(path);
        let own = self.function_name.as_ref().is_some_and(|own| **own == *shown);
        if own && self.peek(Namespace::Parsers, path).is_none() {
            for argument in arguments {
                self.infer(argument);
            }
            self.diagnostics.push(
                Diagnostic::error(
                    codes::RECURSION,
                    path.span,
                    format!("parser `{shown}` calls itself"),
                )
                .note("parsers are put in place of their calls, so they must end somewhere"),
            );
            return;
        }
        let (types, declared, names) = match self.lookup(Namespace::Parsers, path) {
            Resolution::Builtin(Builtin::LucidParser) => (vec![Type::Bitstring], None, Vec::new()),
            Resolution::Entry(entry) => {
                let Some((types, _)) = self.instantiate(path, &entry) else { return };
                let names = super::scopes::binder_of(&entry.definition)
                    .and_then(|id| self.parameters.get(&id).cloned());
                (types, Some(entry.span), names.unwrap_or_default())
            }
            Resolution::Builtin(_) | Resolution::Missing => {
                for argument in arguments {
                    self.infer(argument);
                }
                return;
            }
        };
        if types.len() != arguments.len() {
            let what = format!("parser `{shown}`");
            let expected = self.typed_arguments(&types, &names);
            self.wrong_count(span, &what, &expected, arguments.len(), declared);
        }
        for (at, argument) in arguments.iter().enumerate() {
            match types.get(at) {
                Some(ty) => {
                    let why = names.get(at).map(|segment| {
                        TypeExpectation::new(
                            segment.span,
                            format!("parameter `{}` is {{}}", segment.name),
                        )
                    });
                    self.expect(argument, ty, why.as_ref());
                }
                None => {
                    self.infer(argument);
                }
            }
        }
    }
}

/// The local that an assignment to it, or to a field of it, changes.
fn changed(target: &Expression) -> Option<&Path> {
    match &target.kind {
        ExpressionKind::Name(path) => Some(path),
        ExpressionKind::Field { record, .. } => changed(record),
        _ => None,
    }
}
