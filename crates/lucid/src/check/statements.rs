// SPDX-License-Identifier: Apache-2.0
//! Checks statements: scopes of locals, assignments, types of returned values, and whether all paths
//! return.

use super::Checker;
use super::body::{Frame, NotGlobal};
use super::checked::{Definition, Size, TableType, Type};
use super::codes;
use super::expressions::cell;
use super::printing::FormatPiece;
use super::reports::TypeExpectation;
use super::scopes::{Namespace, Resolution, show_path};
use crate::syntax::ast::{
    self, Binder, Block, Expression, ExpressionKind, GenerateTarget, Path, Statement,
    StatementKind, TableEntry,
};
use source::{Diagnostic, Span};

impl Checker {
    /// Checks a block; returns whether every path through it returns.
    pub(super) fn block(&mut self, block: &Block) -> bool {
        let locals = self.body.locals.len();
        let mut returned = false;
        for statement in &block.statements {
            returned |= self.statement(statement);
        }
        self.body.locals.truncate(locals);
        returned
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Skip => false,
            StatementKind::Local { name, ty, value, no_inline: _ } => {
                self.local_statement(name, ty, value);
                false
            }
            StatementKind::Assign { target, value, no_inline: _ } => {
                self.assign(target, value);
                false
            }
            StatementKind::Call(call) => {
                let ty = self.infer(call);
                self.dropped(call, ty);
                false
            }
            StatementKind::If { condition, then, otherwise } => {
                self.condition(condition, "the condition of `if`");
                let then = self.block(then);
                let otherwise = otherwise.as_ref().is_some_and(|block| self.block(block));
                then && otherwise
            }
            StatementKind::Match { subjects, branches } => self.match_statement(subjects, branches),
            StatementKind::Return(value) => {
                self.return_statement(value.as_ref(), statement.span);
                true
            }
            StatementKind::Print { format, format_span, arguments } => {
                self.print(format, *format_span, arguments);
                false
            }
            StatementKind::Generate { target, event } => {
                self.generate(target, event, statement.span);
                false
            }
            StatementKind::For { variable, bound, body } => {
                self.loop_variable(variable, bound);
                self.block(body);
                self.body.loops.pop();
                false
            }
            StatementKind::TableInstall { table, entries } => {
                self.table_install(table, entries);
                false
            }
        }
    }

    fn local_statement(&mut self, name: &Binder, written: &ast::Type, value: &Expression) {
        let ty = self.resolve_type(written);
        if ty == Type::Void {
            self.diagnostics.push(Diagnostic::error(
                codes::TYPE_MISMATCH,
                written.span,
                format!("local `{}` cannot be `void`", name.name),
            ));
            self.infer(value);
            self.local(name, Type::Error);
            return;
        }
        let why =
            TypeExpectation::new(written.span.to(name.span), format!("`{}` is {{}}", name.name));
        let found = self.expect(value, &ty, Some(&why));
        if self.variables.head(&found) == Type::Void {
            self.diagnostics.push(Diagnostic::error(
                codes::TYPE_MISMATCH,
                value.span,
                format!("this gives nothing that `{}` could hold", name.name),
            ));
        }
        // The constructor call reports what it builds.
        if matches!(
            value.kind,
            ExpressionKind::Name(_) | ExpressionKind::Field { .. } | ExpressionKind::Index { .. }
        ) {
            self.forbid_global(&ty, NotGlobal::Local(name.name.clone()), name.span);
        }
        self.local(name, ty);
    }

    fn assign(&mut self, target: &Path, value: &Expression) {
        if let [segment] = &target.segments[..] {
            if let Some(id) = self.body.locals.get(&segment.name) {
                self.out.definitions.insert(target.id, Definition::Local(id));
                let ty = self.out.types.get(&id).cloned().unwrap_or(Type::Error);
                let place = self.out.binders.get(&id).map_or(target.span, |binder| binder.span);
                let why = TypeExpectation::new(place, format!("`{}` is {{}}", segment.name));
                self.expect(value, &ty, Some(&why));
                return;
            }
            if let Frame::Memop(arguments, width) = &self.body.frame
                && let Some(cell) = cell(&segment.name).filter(|_| *arguments > 2)
            {
                let ty = Type::Int(width.clone());
                self.out.definitions.insert(target.id, Definition::Builtin(cell));
                let why = TypeExpectation::new(target.span, "cells are {}");
                self.expect(value, &ty, Some(&why));
                return;
            }
        }
        self.infer(value);
        self.at = target.span;
        let shown = show_path(target);
        let (what, span, help) = match self.peek(Namespace::Values, target) {
            None => return self.undeclared(Namespace::Values, target),
            Some(Resolution::Entry(entry)) => {
                self.out.definitions.insert(target.id, entry.definition.clone());
                let (what, help) = match &entry.definition {
                    Definition::Constant(_) => ("a constant", "use a local of another name"),
                    Definition::Symbolic(_) => ("symbolic", "use a local of another name"),
                    Definition::Extern(_) => ("extern", "use a local of another name"),
                    Definition::Global(_) => {
                        ("a global", "change an array with `Array.set(a, i, value)`")
                    }
                    Definition::Event(_) => ("an event", "use a local of another name"),
                    _ => ("not a local", "use a local of another name"),
                };
                (what, Some(entry.span), help)
            }
            Some(_) => ("built in", None, "use a local of another name"),
        };
        let mut diagnostic = Diagnostic::error(
            codes::NOT_ASSIGNABLE,
            target.span,
            format!("`{shown}` is {what} and cannot be assigned to"),
        )
        .help(help);
        if let Some(span) = span {
            diagnostic = diagnostic.label(span, "declared here");
        }
        self.diagnostics.push(diagnostic);
    }

    fn return_statement(&mut self, value: Option<&Expression>, span: Span) {
        let (ty, place) = match self.body.frame.clone() {
            Frame::Function(ty, place) | Frame::Action(ty, place) => (ty, place),
            Frame::Memop(_, width) => {
                let cell =
                    self.body.locals.first().and_then(|id| self.out.binders.get(&id)).cloned();
                let why = cell.map(|cell| TypeExpectation::new(cell.span, "the cell is {}"));
                match value {
                    Some(value) => {
                        self.expect(value, &Type::Int(width), why.as_ref());
                    }
                    None => self.diagnostics.push(Diagnostic::error(
                        codes::RETURN,
                        span,
                        "a memop returns a value",
                    )),
                }
                return;
            }
            _ => {
                if let Some(value) = value {
                    self.infer(value);
                }
                self.diagnostics.push(
                    Diagnostic::error(codes::RETURN, span, "handlers do not return")
                        .note("`return` is allowed only in functions, memops and actions")
                        .help(
                            "put what follows into the other branch of an `if`, or into a function",
                        ),
                );
                return;
            }
        };
        match (value, self.variables.head(&ty)) {
            (None, Type::Void | Type::Error) => {}
            (None, _) => {
                let shown = self.describe(&self.variables.resolve(&ty));
                self.diagnostics.push(
                    Diagnostic::error(codes::RETURN, span, "this returns no value")
                        .label(place, format!("the function returns {shown}")),
                );
            }
            (Some(value), Type::Void) => {
                let found = self.infer(value);
                let shown = self.describe(&self.variables.resolve(&found));
                self.diagnostics.push(
                    Diagnostic::error(codes::RETURN, value.span, "this returns a value")
                        .here(format!("this is {shown}"))
                        .label(place, "the function returns nothing"),
                );
            }
            (Some(value), _) => {
                let why = TypeExpectation::new(place, "the function returns {}");
                self.expect(value, &ty, Some(&why));
            }
        }
    }

    fn print(&mut self, format: &str, span: Span, arguments: &[Expression]) {
        let pieces = match super::format_pieces(format) {
            Ok(pieces) => pieces,
            Err(error) => {
                for argument in arguments {
                    self.infer(argument);
                }
                self.diagnostics.push(
                    Diagnostic::error(codes::FORMAT, span, error.message())
                        .note("`%d` prints an integer, `%b` a boolean, `\\%` a percent sign"),
                );
                return;
            }
        };
        let values = pieces.iter().filter(|piece| !matches!(piece, FormatPiece::Text(_)));
        let values: Vec<&FormatPiece> = values.collect();
        if values.len() != arguments.len() {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::FORMAT,
                    span,
                    format!(
                        "the text has {}, but {} given",
                        count(values.len(), "place for a value"),
                        match arguments.len() {
                            0 => "no value is".to_owned(),
                            1 => "1 value is".to_owned(),
                            number => format!("{number} values are"),
                        }
                    ),
                )
                .note("`%d` and `%b` are places for values"),
            );
        }
        for (at, argument) in arguments.iter().enumerate() {
            let found = self.infer(argument);
            let (letter, wanted) = match values.get(at) {
                Some(FormatPiece::Integer) => ("%d", self.variables.fresh_int()),
                Some(FormatPiece::Boolean) => ("%b", Type::Bool),
                _ => continue,
            };
            if !self.unify(&found, &wanted) {
                let shown = self.describe(&self.variables.resolve(&found));
                let wanted = self.describe(&self.variables.resolve(&wanted));
                let mut diagnostic = Diagnostic::error(
                    codes::FORMAT,
                    argument.span,
                    format!("`{letter}` prints {wanted}, but this is {shown}"),
                )
                .label(span, "in this text");
                match (letter, self.variables.head(&found)) {
                    ("%d", Type::Bool) => diagnostic = diagnostic.help("print it with `%b`"),
                    ("%b", Type::Int(_)) => diagnostic = diagnostic.help("print it with `%d`"),
                    _ => {}
                }
                self.diagnostics.push(diagnostic);
            }
        }
    }

    fn generate(&mut self, target: &GenerateTarget, event: &Expression, span: Span) {
        match target {
            GenerateTarget::Event | GenerateTarget::Many => {}
            GenerateTarget::Switch(switch) => {
                self.integer(switch, "a switch");
            }
            GenerateTarget::Port(port) => {
                self.integer(port, "a port");
            }
            GenerateTarget::Ports(ports) => {
                let why = TypeExpectation::new(ports.span, "ports are a group, such as `{1, 2}`");
                self.expect(ports, &Type::Group, Some(&why));
            }
        }
        let why = TypeExpectation::new(span, "what is generated is an event");
        self.expect(event, &Type::Event, Some(&why));
        if matches!(self.body.frame, Frame::Memop(..) | Frame::Action(..)) {
            self.diagnostics.push(Diagnostic::error(
                codes::WRONG_KIND,
                span,
                "events are generated only in handlers and functions",
            ));
        }
    }

    fn table_install(&mut self, table: &Expression, entries: &[TableEntry]) {
        let found = self.infer(table);
        let ty = match self.see_through(&found) {
            Type::Table(table) => *table,
            other => {
                let wanted = TableType {
                    key: self.variables.fresh_type(),
                    install: self.variables.fresh_type(),
                    argument: self.variables.fresh_type(),
                    result: self.variables.fresh_type(),
                };
                let table_type = Type::Table(Box::new(wanted.clone()));
                if !self.unify(&other, &table_type) {
                    self.expression_mismatch(table, &found, &table_type, None);
                }
                wanted
            }
        };
        let keys = match self.see_through(&ty.key) {
            Type::Tuple(types) => types,
            Type::Record(fields) => fields.into_iter().map(|(_, ty)| ty).collect(),
            single => vec![single],
        };
        for entry in entries {
            if entry.patterns.len() != keys.len() {
                let patterns = count(entry.patterns.len(), "pattern");
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::ARGUMENT_COUNT,
                        entry.span,
                        format!("{patterns} here, but keys of the table have {}", keys.len()),
                    )
                    .label(table.span, "this table"),
                );
            }
            for (at, pattern) in entry.patterns.iter().enumerate() {
                let found = self.infer(pattern);
                let Some(key) = keys.get(at) else { continue };
                let key = self.see_through(key);
                let fits = match (self.variables.head(&found), &key) {
                    (Type::Pattern(width), Type::Int(key)) => self.unify_sizes(&width, key),
                    (Type::Pattern(width), Type::Bool) => {
                        self.unify_sizes(&width, &Size::constant(1))
                    }
                    (other, key) => self.unify(&other, key),
                };
                if !fits {
                    let why = TypeExpectation::new(table.span, "the table's key has {} here");
                    self.mismatch(pattern.span, &found, &key, Some(&why));
                }
            }
            self.installed_action(entry, &ty);
        }
    }

    fn installed_action(&mut self, entry: &TableEntry, table: &TableType) {
        let path = &entry.action;
        let mut installed = None;
        if let Resolution::Entry(found) = self.lookup(Namespace::Values, path) {
            let mut definition = &found.definition;
            while let Definition::Aliased { then, .. } = definition {
                definition = then;
            }
            if !matches!(definition, Definition::Action(_)) {
                let shown = show_path(path);
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::WRONG_KIND,
                        path.span,
                        format!("`{shown}` is no action"),
                    )
                    .label(found.span, "declared here"),
                );
            } else {
                let action = self.action_value(path, &found);
                let wanted = Type::Action(Box::new(table.clone()));
                if !self.unify(&action, &wanted) {
                    self.diagnostics.push(
                        Diagnostic::error(
                            codes::TYPE_MISMATCH,
                            path.span,
                            format!("action `{}` does not fit the table", show_path(path)),
                        )
                        .label(found.span, "declared here"),
                    );
                }
                if let Type::Action(action) = action {
                    installed = Some(match self.variables.head(&action.install) {
                        Type::Tuple(types) => types,
                        single => vec![single],
                    });
                }
            }
        }
        let Some(wanted) = installed else {
            for argument in &entry.arguments {
                self.infer(argument);
            }
            return;
        };
        if wanted.len() != entry.arguments.len() {
            let what = format!("action `{}`", show_path(path));
            let expected = self.typed_arguments(&wanted, &[]);
            self.wrong_count(entry.span, &what, &expected, entry.arguments.len(), None);
        }
        for (argument, ty) in entry.arguments.iter().zip(&wanted) {
            let why = TypeExpectation::new(path.span, "this action is installed with {}");
            self.expect(argument, ty, Some(&why));
        }
    }
}

/// A number of things, in words.
pub(super) fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        _ => match what.split_once(' ') {
            Some((noun, rest)) => format!("{number} {noun}s {rest}"),
            None => format!("{number} {what}s"),
        },
    }
}
