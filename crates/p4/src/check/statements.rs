// SPDX-License-Identifier: Apache-2.0
//! Statements (P4_16 v1.2.5 §12.1, §12.2, §12.3, §12.4, §12.5, §12.6, §12.7.1, §12.7.2,
//! §12.7.3, §12.8). Flow analyses over them are elsewhere.

use super::{Checker, Node, SyntacticContext};
use crate::ast::{
    BinaryOperator, Block, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId,
    Statement, StatementKind, SwitchCase, Variable,
};
use crate::codes::typing as codes;
use crate::typed::{Constant, Definition, Type, TypeKind};
use source::{Diagnostic, Span};

impl<'a> Checker<'a> {
    pub(super) fn check_block(&mut self, block: &'a Block) {
        self.check_annotations(&block.annotations);
        self.in_scope(|checker| checker.check_statements(&block.statements));
    }

    pub(super) fn check_statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            self.check_statement(statement);
        }
    }

    pub(super) fn check_statement(&mut self, statement: &'a Statement) {
        self.deeper(|checker| checker.check_statement_inner(statement));
    }

    fn check_statement_inner(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.check_assignment(statement, target, *operator, value);
            }
            StatementKind::Call(expression) => {
                self.synthesize(expression);
            }
            StatementKind::If { condition, then, otherwise } => {
                self.check_condition(condition);
                self.in_scope(|checker| checker.check_statement(then));
                if let Some(otherwise) = otherwise {
                    self.in_scope(|checker| checker.check_statement(otherwise));
                }
            }
            StatementKind::Block(block) => self.check_block(block),
            StatementKind::Empty => {}
            StatementKind::Extension(extension) => self.check_extension(statement.span, extension),
            StatementKind::Exit => {
                if matches!(
                    self.context,
                    SyntacticContext::ParserState | SyntacticContext::Function
                ) {
                    self.report_misplaced(
                        statement.span,
                        "exit",
                        "it ends the processing of a control or action",
                    );
                }
            }
            StatementKind::Return(value) => self.check_return(statement, value.as_ref()),
            StatementKind::Break | StatementKind::Continue => {
                if self.loop_depth == 0 {
                    let word = match statement.kind {
                        StatementKind::Break => "break",
                        _ => "continue",
                    };
                    self.error(
                        codes::MISPLACED_STATEMENT,
                        statement.span,
                        format!("`{word}` can only stand in a loop"),
                    );
                }
            }
            StatementKind::Switch { subject, cases } => self.check_switch(subject, cases),
            StatementKind::For { annotations, init, condition, update, body } => {
                self.check_annotations(annotations);
                self.in_scope(|checker| {
                    checker.check_statements(init);
                    checker.check_condition(condition);
                    checker.check_statements(update);
                    checker.check_loop_body(body);
                });
            }
            StatementKind::ForIn { annotations, variable, collection, body } => {
                self.check_annotations(annotations);
                self.check_for_in(variable, collection, body);
            }
            StatementKind::Declaration(declaration) => self.check_inner_declaration(declaration),
        }
    }

    fn report_misplaced(&mut self, span: Span, word: &str, note: &str) {
        let place = self.context.describe();
        self.report(
            Diagnostic::error(
                codes::MISPLACED_STATEMENT,
                span,
                format!("`{word}` cannot stand {place}"),
            )
            .note(note),
        );
    }

    fn check_loop_body(&mut self, body: &'a Statement) {
        self.loop_depth += 1;
        self.in_scope(|checker| checker.check_statement(body));
        self.loop_depth -= 1;
    }

    fn check_inner_declaration(&mut self, declaration: &'a Declaration) {
        match &declaration.kind {
            DeclarationKind::Constant { .. }
            | DeclarationKind::Variable { .. }
            | DeclarationKind::Invalid => self.check_local_declaration(declaration),
            DeclarationKind::Instance { ty, .. } => {
                let resolved = self.resolve_constructed_type(ty);
                self.report(
                    Diagnostic::error(
                        codes::MISPLACED_DECLARATION,
                        declaration.span,
                        format!(
                            "`{}` cannot be instantiated {}",
                            declaration.name.text,
                            self.context.describe()
                        ),
                    )
                    .help("declare it outside, before the statements"),
                );
                self.typed.declared_types.insert(declaration.id, resolved);
                self.declare(declaration.id, Node::Declaration(declaration));
            }
            _ => {
                self.error(
                    codes::MISPLACED_DECLARATION,
                    declaration.span,
                    format!("`{}` cannot be declared among statements", declaration.name.text),
                );
            }
        }
    }

    /// Reports an expression that cannot be assigned to; returns whether it can.
    fn require_l_value(&mut self, target: &'a Expression) -> bool {
        match self.l_value(target) {
            Ok(()) => true,
            Err(why) => {
                if !matches!(&*self.expression_type(target), TypeKind::Unknown) {
                    self.report(
                        Diagnostic::error(
                            codes::NOT_AN_L_VALUE,
                            target.span,
                            "this cannot be assigned to",
                        )
                        .here(why),
                    );
                }
                false
            }
        }
    }

    fn check_assignment(
        &mut self,
        statement: &'a Statement,
        target: &'a Expression,
        operator: Option<BinaryOperator>,
        value: &'a Expression,
    ) {
        let target_type = self.synthesize(target);
        let writable = self.require_l_value(target);
        let Some(operator) = operator else {
            self.synthesize(value);
            let what = match &target.kind {
                ExpressionKind::Path(path) => format!("`{}`", path.name.text),
                ExpressionKind::Member(_, name) => format!("`{}`", name.text),
                _ => "the target".to_string(),
            };
            if writable || !matches!(&*target_type, TypeKind::Unknown) {
                self.coerce(value, &target_type, &what);
            }
            return;
        };
        let value_type = self.synthesize(value);
        let result =
            self.type_binary(target, operator, (target, target_type.clone()), (value, value_type));
        if result != target_type
            && !matches!(&*result, TypeKind::Unknown)
            && !matches!(&*target_type, TypeKind::Unknown)
        {
            let (result_shown, target_shown) = (self.show(&result), self.show(&target_type));
            self.error(
                codes::TYPE_MISMATCH,
                statement.span,
                format!(
                    "the result has type `{result_shown}`, but the target has type `{target_shown}`"
                ),
            );
        }
    }

    fn check_return(&mut self, statement: &'a Statement, value: Option<&'a Expression>) {
        let result = self.result.clone().unwrap_or_else(|| self.known.void.clone());
        if self.context == SyntacticContext::ParserState {
            self.report_misplaced(
                statement.span,
                "return",
                "a parser state ends with `transition`",
            );
        }
        match (value, &*result) {
            (Some(value), TypeKind::Void) => {
                self.synthesize(value);
                self.report(
                    Diagnostic::error(
                        codes::INVALID_RETURN,
                        value.span,
                        "`return` has a value, but nothing is to be returned here",
                    )
                    .help("write `return;`"),
                );
            }
            (Some(value), _) => {
                self.check_against(value, &result, "the result");
            }
            (None, TypeKind::Void | TypeKind::Unknown) => {}
            (None, _) => {
                let shown = self.show(&result);
                self.error(
                    codes::INVALID_RETURN,
                    statement.span,
                    format!("`return` needs a value of type `{shown}`"),
                );
            }
        }
    }

    fn check_switch(&mut self, subject: &'a Expression, cases: &'a [SwitchCase]) {
        let ty = self.synthesize(subject);
        match &*ty {
            TypeKind::ActionRun(table) => {
                let table = *table;
                self.check_switch_cases(cases, |checker, label| {
                    checker.check_action_label(label, table)
                });
            }
            TypeKind::Bit(_)
            | TypeKind::Int(_)
            | TypeKind::Integer
            | TypeKind::Enum(_)
            | TypeKind::SerializableEnum(_)
            | TypeKind::Error
            | TypeKind::NewType(_)
            | TypeKind::Variable(_)
            | TypeKind::Unknown => {
                self.check_switch_cases(cases, |checker, label| {
                    checker.check_value_label(label, &ty)
                });
            }
            _ => {
                let shown = self.show(&ty);
                let mut diagnostic = Diagnostic::error(
                    codes::INVALID_SWITCH_SUBJECT,
                    subject.span,
                    format!("`switch` is not defined for type `{shown}`"),
                );
                if let TypeKind::ApplyResult(_) = &*ty {
                    diagnostic = diagnostic.help("switch on `.action_run`");
                } else if let TypeKind::Bool = &*ty {
                    diagnostic = diagnostic.help("write `if (...) { ... } else { ... }`");
                }
                self.report(diagnostic);
                for case in cases {
                    if let Some(body) = &case.body {
                        self.check_block(body);
                    }
                }
            }
        }
    }

    /// Checks the bodies, and the labels by `check`, which returns the identity of a label.
    fn check_switch_cases(
        &mut self,
        cases: &'a [SwitchCase],
        mut check: impl FnMut(&mut Self, &'a Expression) -> Option<LabelIdentity>,
    ) {
        let mut seen: Vec<(LabelIdentity, Span)> = Vec::new();
        let mut default: Option<Span> = None;
        for case in cases {
            if let Some(default) = default {
                let again = matches!(case.label.kind, ExpressionKind::Default);
                self.report(
                    Diagnostic::error(
                        codes::INVALID_SWITCH_LABEL,
                        case.label.span,
                        if again {
                            "`default` is given twice"
                        } else {
                            "this label comes after `default`"
                        },
                    )
                    .label(default, "`default` is here")
                    .help("`default` has to be the last label"),
                );
            }
            if matches!(case.label.kind, ExpressionKind::Default) {
                default = default.or(Some(case.label.span));
                self.typed.expression_types.insert(case.label.id, self.known.dont_care.clone());
            } else if let Some(identity) = check(self, &case.label) {
                match seen.iter().find(|(earlier, _)| *earlier == identity) {
                    Some((_, first)) => {
                        let first = *first;
                        self.report(
                            Diagnostic::error(
                                codes::INVALID_SWITCH_LABEL,
                                case.label.span,
                                "this label is given twice",
                            )
                            .label(first, "first given here"),
                        );
                    }
                    None => seen.push((identity, case.label.span)),
                }
            }
            if let Some(body) = &case.body {
                self.check_block(body);
            }
        }
    }

    fn check_action_label(
        &mut self,
        label: &'a Expression,
        table: NodeId,
    ) -> Option<LabelIdentity> {
        let ExpressionKind::Path(path) = &label.kind else {
            self.error(
                codes::INVALID_SWITCH_LABEL,
                label.span,
                "labels are names of actions when `switch` is on `action_run`",
            );
            return None;
        };
        let listed = self.table_actions.get(&table).cloned();
        let (node, _) = self.find_action(path)?;
        self.typed.definitions.insert(label.id, Definition::Node(node));
        self.typed.expression_types.insert(label.id, std::sync::Arc::new(TypeKind::Action(node)));
        if let Some(listed) = listed
            && !listed.iter().any(|action| action.node == node)
        {
            let name = self.name_of(table).to_string();
            let declared = self.span_of(table);
            self.report(
                Diagnostic::error(
                    codes::INVALID_SWITCH_LABEL,
                    label.span,
                    format!("table `{name}` has no action `{}`", path.name.text),
                )
                .label(declared, "the table"),
            );
            return None;
        }
        Some(LabelIdentity::Action(node))
    }

    fn check_value_label(&mut self, label: &'a Expression, ty: &Type) -> Option<LabelIdentity> {
        self.synthesize(label);
        if matches!(label.kind, ExpressionKind::DontCare | ExpressionKind::Dots) {
            self.report(
                Diagnostic::error(codes::INVALID_SWITCH_LABEL, label.span, "this is no label")
                    .help("the label for all other values is `default`"),
            );
            return None;
        }
        if !self.coerce(label, ty, "a label of this `switch`") {
            return None;
        }
        if !self.require_compile_time(label, "a label") {
            return None;
        }
        self.constant(label).cloned().map(LabelIdentity::Value)
    }

    fn check_for_in(
        &mut self,
        variable: &'a Variable,
        collection: &'a Expression,
        body: &'a Statement,
    ) {
        self.check_annotations(&variable.annotations);
        let ty = self.resolve_type(&variable.ty);
        self.typed.declared_types.insert(variable.id, ty.clone());
        match &collection.kind {
            ExpressionKind::Range(low, high) => {
                for bound in [&**low, &**high] {
                    self.check_against(bound, &ty, "a bound of this loop");
                }
                if !matches!(
                    &*ty,
                    TypeKind::Bit(_)
                        | TypeKind::Int(_)
                        | TypeKind::Integer
                        | TypeKind::Unknown
                        | TypeKind::SerializableEnum(_)
                ) {
                    let shown = self.show(&ty);
                    self.error(
                        codes::INVALID_FOR_COLLECTION,
                        variable.ty.span,
                        format!("a loop over a range of numbers has no variable of type `{shown}`"),
                    );
                }
                self.typed
                    .expression_types
                    .insert(collection.id, std::sync::Arc::new(TypeKind::Set(ty.clone())));
            }
            _ => {
                let found = self.synthesize(collection);
                let element = match &*found {
                    TypeKind::Stack(element, _) | TypeKind::List(element) => Some(element.clone()),
                    TypeKind::Unknown => None,
                    TypeKind::Tuple(elements) => {
                        for element in elements {
                            let fits = element == &ty || self.casts_implicitly(element, &ty);
                            if !fits {
                                self.report_for_element(collection, element, &ty);
                                break;
                            }
                        }
                        if let ExpressionKind::List(parts) = &collection.kind {
                            for part in parts {
                                self.coerce(part, &ty, "an element of this loop");
                            }
                        }
                        None
                    }
                    _ => {
                        let shown = self.show(&found);
                        self.error(
                            codes::INVALID_FOR_COLLECTION,
                            collection.span,
                            format!("a value of type `{shown}` has no elements to loop over"),
                        );
                        None
                    }
                };
                if let Some(element) = element
                    && element != ty
                    && !matches!(&*ty, TypeKind::Unknown)
                    && !matches!(&*element, TypeKind::Unknown)
                {
                    self.report_for_element(collection, &element, &ty);
                }
            }
        }
        self.in_scope(|checker| {
            checker.declare(variable.id, Node::LoopVariable(variable));
            checker.check_loop_body(body);
        });
    }

    fn report_for_element(&mut self, collection: &'a Expression, element: &Type, variable: &Type) {
        let (element_shown, variable_shown) = (self.show(element), self.show(variable));
        self.error(
            codes::INVALID_FOR_COLLECTION,
            collection.span,
            format!(
                "the elements have type `{element_shown}`, but the variable has type `{variable_shown}`"
            ),
        );
    }
}

/// What makes two labels of a `switch` the same.
#[derive(PartialEq, Eq)]
enum LabelIdentity {
    Action(NodeId),
    Value(Constant),
}

/// Whether statements always end with `return` or `exit`, on every path.
pub(super) fn always_leaves(statements: &[Statement]) -> bool {
    statements.iter().any(leaves)
}

fn leaves(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) | StatementKind::Exit => true,
        StatementKind::Block(block) => always_leaves(&block.statements),
        StatementKind::If { then, otherwise, .. } => {
            leaves(then) && otherwise.as_ref().is_some_and(|otherwise| leaves(otherwise))
        }
        StatementKind::Switch { cases, .. } => {
            cases.iter().any(|case| matches!(case.label.kind, ExpressionKind::Default))
                && cases.last().is_some_and(|last| last.body.is_some())
                && cases
                    .iter()
                    .filter_map(|case| case.body.as_ref())
                    .all(|body| always_leaves(&body.statements))
        }
        _ => false,
    }
}
