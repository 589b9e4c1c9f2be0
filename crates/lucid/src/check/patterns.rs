// SPDX-License-Identifier: Apache-2.0
//! Checks the patterns of `match` against the types of its subjects, in statements and in parsers.

use super::Checker;
use super::body::DeferredCheck;
use super::checked::{Definition, Size, Type};
use super::codes;
use super::reports::TypeExpectation;
use super::scopes::{Namespace, Resolution, show_path};
use super::statements::count;
use crate::syntax::ast::{self, Branch, Expression, Path, Pattern, PatternKind};
use source::{Diagnostic, Span};

impl Checker {
    pub(super) fn match_statement(&mut self, subjects: &[Expression], branches: &[Branch]) -> bool {
        let types: Vec<(Type, Span)> =
            subjects.iter().map(|subject| (self.infer(subject), subject.span)).collect();
        let mut all_return = !branches.is_empty();
        let mut complete = false;
        for branch in branches {
            let locals = self.body.locals.len();
            self.patterns(&branch.patterns, &types, branch.span);
            all_return &= self.block(&branch.body);
            self.body.locals.truncate(locals);
            complete |=
                branch.patterns.iter().all(|pattern| matches!(pattern.kind, PatternKind::Wildcard));
        }
        all_return && complete
    }

    /// Checks a branch's patterns against the types that are matched on.
    pub(super) fn patterns(&mut self, patterns: &[Pattern], types: &[(Type, Span)], span: Span) {
        let single_wildcard = matches!(patterns, [Pattern { kind: PatternKind::Wildcard, .. }]);
        if single_wildcard {
            return;
        }
        if patterns.len() != types.len() {
            let place = match (patterns.first(), patterns.last()) {
                (Some(first), Some(last)) => first.span.to(last.span),
                _ => span,
            };
            let mut diagnostic = Diagnostic::error(
                codes::PATTERN,
                place,
                format!(
                    "{} here, but {} matched",
                    count(patterns.len(), "pattern"),
                    match types.len() {
                        1 => "1 value is".to_owned(),
                        number => format!("{number} values are"),
                    }
                ),
            );
            if let (Some((_, first)), Some((_, last))) = (types.first(), types.last()) {
                diagnostic = diagnostic.label(first.to(*last), "matched here");
            }
            self.diagnostics.push(diagnostic);
        }
        for (at, pattern) in patterns.iter().enumerate() {
            let subject = types.get(at).cloned().unwrap_or((Type::Error, span));
            self.pattern(pattern, &subject);
        }
    }

    fn pattern(&mut self, pattern: &Pattern, subject: &(Type, Span)) {
        self.at = pattern.span;
        let (ty, place) = subject;
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Number(value) => {
                let width = self.variables.fresh_size();
                if self.unify(ty, &Type::Int(width.clone())) {
                    let later = DeferredCheck::Pattern { value: *value, width, span: pattern.span };
                    self.body.later.push(later);
                } else {
                    self.pattern_mismatch(pattern.span, "an integer", ty, *place);
                }
            }
            PatternKind::Bits(bits) => {
                let width = Size::constant(bits.len() as u128);
                if !self.unify(ty, &Type::Int(width)) {
                    let what = format!("{} bits", bits.len());
                    self.pattern_mismatch(pattern.span, &what, ty, *place);
                }
            }
            PatternKind::Named(path) => {
                let found = self.pattern_name(path);
                if !self.unify(&found, ty) {
                    let shown = self.describe(&self.variables.resolve(&found));
                    self.pattern_mismatch(pattern.span, &shown, ty, *place);
                }
            }
            PatternKind::Event { event, parameters } => {
                if !self.unify(ty, &Type::Event) {
                    self.pattern_mismatch(pattern.span, "an event", ty, *place);
                }
                self.event_pattern(event, parameters);
            }
        }
    }

    fn pattern_mismatch(&mut self, span: Span, found: &str, ty: &Type, place: Span) {
        let wanted = self.describe(&self.variables.resolve(ty));
        self.diagnostics.push(
            Diagnostic::error(
                codes::PATTERN,
                span,
                format!("the pattern is {found}, but {wanted} is matched"),
            )
            .label(place, "matched here"),
        );
    }

    /// A name as a pattern: something that has one value in the whole run.
    fn pattern_name(&mut self, path: &Path) -> Type {
        if let [segment] = &path.segments[..]
            && let Some(id) = self.body.locals.get(&segment.name)
            && self.lookup_name(Namespace::Values, &segment.name).is_none()
        {
            self.used.insert(id);
            let mut diagnostic = Diagnostic::error(
                codes::PATTERN,
                path.span,
                format!("`{}` is a local, and patterns are constants", segment.name),
            )
            .help(format!("compare it in an `if`: `... == {}`", segment.name));
            if let Some(binder) = self.out.binders.get(&id) {
                diagnostic = diagnostic.label(binder.span, "declared here");
            }
            self.diagnostics.push(diagnostic);
            return Type::Error;
        }
        let Resolution::Entry(entry) = self.lookup(Namespace::Values, path) else {
            return match self.out.definitions.get(&path.id) {
                Some(Definition::Builtin(builtin)) => {
                    let builtin = *builtin;
                    self.builtin_value_type(builtin).unwrap_or(Type::Error)
                }
                _ => Type::Error,
            };
        };
        let mut definition = &entry.definition;
        while let Definition::Aliased { then, .. } = definition {
            definition = then;
        }
        match definition {
            Definition::Constant(id) | Definition::Symbolic(id) | Definition::Extern(id) => {
                match &entry.view {
                    Some(view) => view.signature.result.clone(),
                    None => self.out.types.get(id).cloned().unwrap_or(Type::Error),
                }
            }
            _ => {
                let shown = show_path(path);
                let mut diagnostic = Diagnostic::error(
                    codes::PATTERN,
                    path.span,
                    format!("`{shown}` is no constant, and patterns are constants"),
                )
                .label(entry.span, "declared here");
                if matches!(definition, Definition::Event(_)) {
                    diagnostic = diagnostic
                        .help(format!("match on the event with its parameters: `{shown}(...)`"));
                }
                self.diagnostics.push(diagnostic);
                Type::Error
            }
        }
    }

    fn event_pattern(&mut self, path: &Path, parameters: &[ast::Parameter]) {
        let Resolution::Entry(entry) = self.lookup(Namespace::Values, path) else {
            self.parameters(parameters);
            return;
        };
        let types = self.parameters(parameters);
        let shown = show_path(path);
        let mut definition = &entry.definition;
        while let Definition::Aliased { then, .. } = definition {
            definition = then;
        }
        if !matches!(definition, Definition::Event(_)) {
            self.diagnostics.push(
                Diagnostic::error(codes::PATTERN, path.span, format!("`{shown}` is no event"))
                    .label(entry.span, "declared here"),
            );
            return;
        }
        let Some((declared, _)) = self.instantiate(path, &entry) else { return };
        if declared.len() != types.len() {
            let expected = self.declared_arguments(&entry, &declared);
            let what = format!("event `{shown}`");
            self.wrong_count(path.span, &what, &expected, types.len(), Some(entry.span));
        }
        for ((found, declared), parameter) in types.iter().zip(&declared).zip(parameters) {
            self.at = parameter.ty.span;
            if !self.unify(found, declared) {
                let why = TypeExpectation::new(entry.span, "the event has {} here");
                self.mismatch(parameter.ty.span, found, declared, Some(&why));
            }
        }
    }
}
