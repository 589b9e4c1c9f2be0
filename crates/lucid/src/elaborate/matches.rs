// SPDX-License-Identifier: Apache-2.0
//! Elaborates `match`: integer patterns become values with masks. Arms on events, and patterns that are
//! known only at run time (externs), become conditions, in order with the other arms.

use super::builder::{Builder, Purpose};
use super::statements::Continuation;
use super::values::Value;
use super::{Elaborated, Elaborator, Scope, codes};
use crate::check::{Builtin, Definition};
use crate::core::{
    self, Constant, EventId, Expression, ExpressionKind, LUCID_ETHER_TYPE, LocalId,
    StatementKind as Core, Type, arithmetic,
};
use crate::syntax::ast::{self, BinaryOperator, Parameter, Pattern, PatternKind, Statement};
use source::{Diagnostic, Span};

/// Whether a pattern matches everything.
pub(super) fn is_wildcard(pattern: &Pattern) -> bool {
    pattern.kind == PatternKind::Wildcard
}

/// What matches one number; `None` if the width has no such number.
pub(super) fn number_pattern(value: u128, width: u32) -> Option<core::Pattern> {
    let mask = arithmetic::mask(width);
    (value <= mask).then_some(core::Pattern { value, mask })
}

/// What matches these bits, the most significant first; bits in front of them are zero. `None` if
/// nothing of the width does.
pub(super) fn bits_pattern(bits: &[Option<bool>], width: u32) -> Option<core::Pattern> {
    let all = arithmetic::mask(width);
    let mut pattern = core::Pattern { value: 0, mask: 0 };
    for (at, bit) in bits.iter().rev().enumerate() {
        let place = u32::try_from(at).ok().and_then(|at| 1u128.checked_shl(at)).unwrap_or(0);
        match bit {
            Some(true) if place & all == 0 => return None,
            Some(true) => {
                pattern.value |= place;
                pattern.mask |= place;
            }
            Some(false) => pattern.mask |= place & all,
            None => {}
        }
    }
    let written = u32::try_from(bits.len()).unwrap_or(u32::MAX);
    pattern.mask |= all & !arithmetic::mask(written);
    Some(pattern)
}

/// The test of a pattern on its subject.
enum Test<'a> {
    /// Nothing.
    Any,
    /// Bits.
    Bits(core::Pattern),
    /// That it equals this, which is known only in the run.
    Equals(Expression),
    /// That it is one of these events.
    Event { copies: Vec<EventId>, parameters: &'a [Parameter] },
}

/// A branch that may match.
struct PreparedBranch<'a> {
    tests: Vec<Test<'a>>,
    body: &'a [Statement],
    span: Span,
}

impl PreparedBranch<'_> {
    fn is_plain(&self) -> bool {
        self.tests.iter().all(|test| matches!(test, Test::Any | Test::Bits(_)))
    }

    fn is_irrefutable(&self) -> bool {
        self.tests.iter().all(|test| match test {
            Test::Any => true,
            Test::Bits(pattern) => pattern.mask == 0,
            _ => false,
        })
    }
}

impl<'a> Elaborator<'a> {
    #[allow(clippy::too_many_arguments, reason = "the parts of the statement")]
    pub(super) fn match_statement(
        &mut self,
        subjects: &'a [ast::Expression],
        branches: &'a [ast::Branch],
        rest: Option<&Continuation<'_, 'a>>,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let subjects = self.subjects(subjects, scope, builder)?;
        let mut prepared = Vec::with_capacity(branches.len());
        for branch in branches {
            let Some(tests) = self.tests(&branch.patterns, &subjects, branch.span, scope)? else {
                continue;
            };
            let body = branch.body.statements.as_slice();
            prepared.push(PreparedBranch { tests, body, span: branch.span });
        }
        if let Some(chosen) = decided(&subjects, &prepared) {
            let body = chosen.map_or(&[][..], |chosen| prepared[chosen].body);
            return self.statements(body, rest, scope, builder);
        }
        self.branches(&subjects, &prepared, rest, span, scope, builder)
    }

    /// Subjects as single values; booleans as one bit, events under a name.
    pub(super) fn subjects(
        &mut self,
        subjects: &'a [ast::Expression],
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Vec<Expression>> {
        let mut values = Vec::new();
        for subject in subjects {
            let span = subject.span;
            let value = self.expression(subject, scope, builder)?;
            for leaf in value.leaves() {
                let leaf = self.as_scalar(leaf.clone(), span)?;
                let leaf = match leaf.ty {
                    Type::Int(_) => leaf,
                    Type::Bool => Expression::cast(leaf, 1, span),
                    Type::Event => {
                        let simple =
                            matches!(leaf.kind, ExpressionKind::Local(_) | ExpressionKind::This);
                        if simple {
                            leaf
                        } else {
                            let local = builder.temporary("matched", Type::Event, span);
                            builder.assign(local, leaf, false, span);
                            Expression { kind: ExpressionKind::Local(local), ty: Type::Event, span }
                        }
                    }
                    Type::Group | Type::Payload => {
                        let what = super::operators::describe(&Value::Scalar(leaf));
                        let message = format!("{what} cannot be matched");
                        let diagnostic = Diagnostic::error(codes::OPERAND, span, message);
                        return Err(self.report_in(builder, diagnostic));
                    }
                };
                values.push(leaf);
            }
        }
        Ok(values)
    }

    /// What the patterns of a branch ask; `None` if it can never match.
    fn tests(
        &mut self,
        patterns: &'a [Pattern],
        subjects: &[Expression],
        span: Span,
        scope: &Scope,
    ) -> Elaborated<Option<Vec<Test<'a>>>> {
        if let [single] = patterns
            && is_wildcard(single)
        {
            return Ok(Some(subjects.iter().map(|_| Test::Any).collect()));
        }
        if patterns.len() != subjects.len() {
            return Err(self.internal(span, "a branch with another number of patterns"));
        }
        let mut tests = Vec::with_capacity(patterns.len());
        for (pattern, subject) in patterns.iter().zip(subjects) {
            match self.test(pattern, subject, scope)? {
                Some(test) => tests.push(test),
                None => return Ok(None),
            }
        }
        Ok(Some(tests))
    }

    fn test(
        &mut self,
        pattern: &'a Pattern,
        subject: &Expression,
        scope: &Scope,
    ) -> Elaborated<Option<Test<'a>>> {
        let width = match subject.ty {
            Type::Int(width) => width,
            _ => 0,
        };
        Ok(match &pattern.kind {
            PatternKind::Wildcard => Some(Test::Any),
            PatternKind::Number(value) => number_pattern(*value, width).map(Test::Bits),
            PatternKind::Bits(bits) => bits_pattern(bits, width).map(Test::Bits),
            PatternKind::Named(path) => {
                let value = self.pattern_value(path, width, scope)?;
                match value.as_constant() {
                    Some(Constant::Int(value, _)) => number_pattern(*value, width).map(Test::Bits),
                    _ => Some(Test::Equals(value)),
                }
            }
            PatternKind::Event { event, parameters } => {
                let Definition::Event(id) = self.definition(event)? else {
                    return Err(self.internal(event.span, "an arm of something that is no event"));
                };
                let copies = self.copies_to_match(id, event, scope)?;
                (!copies.is_empty()).then_some(Test::Event { copies, parameters })
            }
        })
    }

    /// The value of a name in a pattern, as an integer of the subject's width.
    fn pattern_value(
        &mut self,
        path: &ast::Path,
        width: u32,
        scope: &Scope,
    ) -> Elaborated<Expression> {
        let span = path.span;
        let value = match self.definition(path)? {
            Definition::Constant(id) | Definition::Extern(id) => self.declared_value(id)?,
            Definition::Symbolic(id) => self.symbolic_value(id, span)?,
            Definition::Loop(id) => {
                let size = crate::check::Size::term(crate::check::SizeTerm::Loop(id));
                Value::int(self.size(&size, scope, span)?, core::MAX_INTEGER_BITS, span)
            }
            Definition::Size(id) => {
                let value = match self.checked.declared_sizes.get(&id).cloned().flatten() {
                    Some(size) => self.size(&size, scope, span)?,
                    None => self.symbolic_size(id, span)?,
                };
                Value::int(value, core::MAX_INTEGER_BITS, span)
            }
            Definition::Builtin(Builtin::LucidEtherType) => {
                Value::int(u128::from(LUCID_ETHER_TYPE), core::MAX_INTEGER_BITS, span)
            }
            Definition::Builtin(builtin) => {
                let kind = match builtin {
                    Builtin::SelfSwitch => ExpressionKind::SelfSwitch,
                    Builtin::RecirculationPort => ExpressionKind::RecirculationPort,
                    Builtin::IngressPort => ExpressionKind::IngressPort,
                    _ => {
                        let message = "this is no value that a pattern can have";
                        let diagnostic = Diagnostic::error(codes::OPERAND, span, message);
                        let help = "write a number, bits, a constant, a symbolic or an extern";
                        return Err(self.report(diagnostic.help(help)));
                    }
                };
                Value::Scalar(Expression { kind, ty: Type::Int(width), span })
            }
            Definition::Local(id) => match scope.locals.get(&id) {
                Some(value) => value.clone(),
                None => return Err(self.internal(span, "a local without a value")),
            },
            _ => return Err(self.internal(span, "a pattern that is no value")),
        };
        let value = Expression { span, ..self.as_scalar(value, span)? };
        Ok(match value.ty {
            Type::Bool => Expression::cast(value, 1, span),
            _ => value,
        })
    }

    /// Elaborates branches in order; one of them, or nothing, runs, and then what follows.
    fn branches(
        &mut self,
        subjects: &[Expression],
        branches: &[PreparedBranch<'a>],
        rest: Option<&Continuation<'_, 'a>>,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || {
            let Some(first) = branches.first() else {
                return self.statements(&[], rest, scope, builder);
            };
            if first.is_irrefutable() {
                return self.statements(first.body, rest, scope, builder);
            }
            if first.is_plain() {
                self.plain_branches(subjects, branches, rest, span, scope, builder)
            } else {
                self.tested_branch(subjects, first, &branches[1..], rest, span, scope, builder)
            }
        })
    }

    fn plain_branches(
        &mut self,
        subjects: &[Expression],
        branches: &[PreparedBranch<'a>],
        rest: Option<&Continuation<'_, 'a>>,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let is_int = |at: usize| matches!(subjects[at].ty, Type::Int(_));
        let kept: Vec<usize> = (0..subjects.len()).filter(|at| is_int(*at)).collect();
        let mut made = Vec::new();
        let mut closed = false;
        let mut taken = 0;
        for branch in branches.iter().take_while(|branch| branch.is_plain()) {
            taken += 1;
            if closed {
                // Behind a branch that matches everything.
                continue;
            }
            closed = branch.is_irrefutable();
            let pattern = |at: &usize| match branch.tests[*at] {
                Test::Bits(pattern) => pattern,
                _ => core::Pattern { value: 0, mask: 0 },
            };
            let patterns = kept.iter().map(pattern).collect();
            let statements = self.block(branch.body, rest, scope, builder)?;
            made.push(core::Branch { patterns, statements, span: branch.span });
        }
        if !closed {
            let outer = builder.open();
            let done = self.branches(subjects, &branches[taken..], rest, span, scope, builder);
            let statements = builder.close(outer);
            done?;
            if !statements.is_empty() {
                let patterns = kept.iter().map(|_| core::Pattern { value: 0, mask: 0 }).collect();
                made.push(core::Branch { patterns, statements, span });
            }
        }
        let subjects = kept.iter().map(|at| subjects[*at].clone()).collect();
        builder.emit(Core::Match { subjects, branches: made }, span);
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of the statement")]
    fn tested_branch(
        &mut self,
        subjects: &[Expression],
        branch: &PreparedBranch<'a>,
        others: &[PreparedBranch<'a>],
        rest: Option<&Continuation<'_, 'a>>,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        // Values are one condition; each event is a statement of its own around the body.
        let mut condition = Expression::bool(true, branch.span);
        let mut events = Vec::new();
        for (test, subject) in branch.tests.iter().zip(subjects) {
            let holds = match test {
                Test::Any => continue,
                Test::Event { copies, parameters } => {
                    events.push((subject, copies.as_slice(), *parameters));
                    continue;
                }
                Test::Equals(value) => Expression::binary(
                    BinaryOperator::Equal,
                    subject.clone(),
                    value.clone(),
                    Type::Bool,
                    branch.span,
                ),
                Test::Bits(pattern) => bits_hold(subject, *pattern, branch.span),
            };
            let and = BinaryOperator::And;
            condition = Expression::binary(and, condition, holds, Type::Bool, branch.span);
        }
        let unconditional = Self::known_truth(&condition) == Some(true);
        if let ([(subject, copies, parameters)], true) = (events.as_slice(), unconditional) {
            // The common case: an event alone. Its `otherwise` are the other branches.
            let Some((event, copies)) = copies.split_first() else {
                return self.branches(subjects, others, rest, span, scope, builder);
            };
            let locals = self.bind_event(*event, parameters, scope, builder)?;
            let then = self.block(branch.body, rest, scope, builder)?;
            let outer = builder.open();
            let copies = copies.to_vec();
            let mut tests: Vec<Test<'a>> = subjects.iter().map(|_| Test::Any).collect();
            let at = branch.tests.iter().position(|test| matches!(test, Test::Event { .. }));
            if let Some(test) = at.and_then(|at| tests.get_mut(at)) {
                *test = Test::Event { copies, parameters };
            }
            let next = PreparedBranch { tests, body: branch.body, span: branch.span };
            let done = self.tested_branch(subjects, &next, others, rest, span, scope, builder);
            let otherwise = builder.close(outer);
            done?;
            let (value, event) = ((*subject).clone(), *event);
            builder.emit(Core::IfEvent { value, event, locals, then, otherwise }, branch.span);
            return Ok(());
        }
        if events.is_empty() {
            let then = self.block(branch.body, rest, scope, builder)?;
            let outer = builder.open();
            let done = self.branches(subjects, others, rest, span, scope, builder);
            let otherwise = builder.close(outer);
            done?;
            builder.choose(condition, then, otherwise, branch.span);
            return Ok(());
        }
        let matched = builder.temporary("matched", Type::Bool, branch.span);
        builder.assign(matched, Expression::bool(false, branch.span), false, branch.span);
        let outer = builder.open();
        let done = self.nested_events(&events, matched, branch, rest, scope, builder);
        let then = builder.close(outer);
        done?;
        if unconditional {
            builder.statements.extend(then);
        } else {
            builder.choose(condition, then, Vec::new(), branch.span);
        }
        let outer = builder.open();
        let done = self.branches(subjects, others, rest, span, scope, builder);
        let otherwise = builder.close(outer);
        done?;
        let kind = ExpressionKind::Local(matched);
        let condition = Expression { kind, ty: Type::Bool, span: branch.span };
        builder.choose(condition, Vec::new(), otherwise, branch.span);
        Ok(())
    }

    /// The body of a branch inside a test for each event it asks for, once a copy of each.
    fn nested_events(
        &mut self,
        events: &[(&Expression, &[EventId], &'a [Parameter])],
        matched: LocalId,
        branch: &PreparedBranch<'a>,
        rest: Option<&Continuation<'_, 'a>>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let Some(((subject, copies, parameters), others)) = events.split_first() else {
            let truth = Expression::bool(true, branch.span);
            builder.assign(matched, truth, false, branch.span);
            return self.statements(branch.body, rest, scope, builder);
        };
        for event in *copies {
            let locals = self.bind_event(*event, parameters, scope, builder)?;
            let outer = builder.open();
            let done = self.nested_events(others, matched, branch, rest, scope, builder);
            let then = builder.close(outer);
            done?;
            let (value, event, otherwise) = ((*subject).clone(), *event, Vec::new());
            builder.emit(Core::IfEvent { value, event, locals, then, otherwise }, branch.span);
        }
        Ok(())
    }

    /// Patterns of a parser's branch, which have to be known; `None` if it can never match.
    pub(super) fn parser_patterns(
        &mut self,
        patterns: &'a [Pattern],
        subjects: &[Expression],
        span: Span,
        scope: &Scope,
        builder: &Builder,
    ) -> Elaborated<Option<Vec<core::Pattern>>> {
        debug_assert_eq!(builder.purpose, Purpose::Parser);
        let Some(tests) = self.tests(patterns, subjects, span, scope)? else { return Ok(None) };
        let mut made = Vec::with_capacity(tests.len());
        for test in tests {
            made.push(match test {
                Test::Any => core::Pattern { value: 0, mask: 0 },
                Test::Bits(pattern) => pattern,
                Test::Equals(value) => {
                    return Err(self.not_known(value.span, "a pattern of a parser"));
                }
                Test::Event { .. } => {
                    let message = "a parser cannot match events";
                    return Err(self.error(codes::PARSER_EXPRESSION, span, message));
                }
            });
        }
        Ok(Some(made))
    }
}

/// `subject & mask == value`
fn bits_hold(subject: &Expression, pattern: core::Pattern, span: Span) -> Expression {
    let Type::Int(width) = subject.ty else { return Expression::bool(true, span) };
    let number = |value| Expression::int(value, width, span);
    let masked = if pattern.mask == arithmetic::mask(width) {
        subject.clone()
    } else {
        let and = BinaryOperator::BitAnd;
        Expression::binary(and, subject.clone(), number(pattern.mask), subject.ty, span)
    };
    Expression::binary(BinaryOperator::Equal, masked, number(pattern.value), Type::Bool, span)
}

/// The branch that runs, or that none does, if all subjects are known.
fn decided(subjects: &[Expression], branches: &[PreparedBranch<'_>]) -> Option<Option<usize>> {
    let mut values = Vec::with_capacity(subjects.len());
    for subject in subjects {
        match subject.as_constant() {
            Some(Constant::Int(value, _)) => values.push(*value),
            _ => return None,
        }
    }
    for (at, branch) in branches.iter().enumerate() {
        let mut holds = true;
        for (test, value) in branch.tests.iter().zip(&values) {
            holds &= match test {
                Test::Any => true,
                Test::Bits(pattern) => value & pattern.mask == pattern.value,
                Test::Equals(_) | Test::Event { .. } => return None,
            };
        }
        if holds {
            return Some(Some(at));
        }
    }
    Some(None)
}
