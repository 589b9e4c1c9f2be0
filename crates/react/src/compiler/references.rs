// SPDX-License-Identifier: Apache-2.0
//! References `${name}` become P4_16. A value is a field of the state. A field that is read is a chain of conditional
//! expressions over its selector; a statement that writes one stands once for each alternative. Where the alternative is
//! known, as in a specialised action, it stands there itself (Mantis §4.1, Figures 4 to 6).

use super::Mode;
use super::architectures::Style;
use super::names::STATE;
use super::translator::{Choice, Specialised, Translator};
use crate::language::dialect::referred;
use p4::ast::{
    Argument, Block, Declaration, DeclarationKind, Direction, Expression, ExpressionKind,
    Statement, StatementKind,
};
use p4::typed::Callee;
use p4::visit::Visit;
use p4::visit_mut::{VisitMut, VisitedMut, walk_declaration, walk_expression, walk_statement};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Replaces the references in a part of the tree.
pub(super) struct References<'t, 'p> {
    translator: &'t mut Translator<'p>,
    /// Alternatives that are known.
    choice: Choice,
    /// Variables that hold fields.
    loaded: BTreeMap<usize, String>,
    /// Inside an action, where BMv2 and Tofino have no `if`.
    in_action: bool,
}

impl<'p> Translator<'p> {
    /// Replaces all references in a part of the tree.
    pub(super) fn replace_references<T: VisitedMut>(
        &mut self,
        part: &mut T,
        choice: &Choice,
        in_action: bool,
    ) {
        self.replace_loaded(part, choice, BTreeMap::new(), in_action);
    }

    /// The same where variables hold some fields.
    pub(super) fn replace_loaded<T: VisitedMut>(
        &mut self,
        part: &mut T,
        choice: &Choice,
        loaded: BTreeMap<usize, String>,
        in_action: bool,
    ) {
        let mut references =
            References { translator: self, choice: choice.clone(), loaded, in_action };
        T::accept_mut(part, &mut references);
    }

    /// Declares the variables that a control loads fields to.
    pub(super) fn declare_variables(&mut self, control: &mut Declaration) {
        let DeclarationKind::Control(control) = &mut control.kind else { return };
        let text: String = std::mem::take(&mut self.loads.variables).into_iter().collect();
        let mut locals = self.locals(Span::NONE, &text);
        locals.append(&mut control.locals);
        control.locals = locals;
    }

    /// The fields that the outermost expressions of a statement write, without those inside of other statements.
    pub(super) fn written_fields(&self, statement: &Statement) -> BTreeSet<usize> {
        let mut written = Written { translator: self, fields: BTreeSet::new() };
        match &statement.kind {
            StatementKind::Assign { target, value, .. } => {
                written.target(target);
                written.expression(value);
            }
            StatementKind::Call(call) => written.expression(call),
            StatementKind::Declaration(declaration) => {
                if let DeclarationKind::Variable { initializer: Some(value), .. } =
                    &declaration.kind
                {
                    written.expression(value);
                }
            }
            _ => {}
        }
        written.fields
    }
}

/// Finds fields that are assigned to or passed as `out` or `inout` arguments.
struct Written<'t, 'p> {
    translator: &'t Translator<'p>,
    fields: BTreeSet<usize>,
}

impl Written<'_, '_> {
    fn target(&mut self, target: &Expression) {
        if let Some(name) = root(target) {
            self.fields.extend(self.translator.field_index(name));
        }
    }
}

impl<'a> Visit<'a> for Written<'_, '_> {
    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Call(call) = &expression.kind {
            let typed = &self.translator.program.typed;
            let node = self.translator.model(expression.id);
            for (argument, direction) in self.translator.directions.of_arguments(typed, node, call)
            {
                if matches!(direction, Direction::Out | Direction::InOut) {
                    self.target(&argument.value);
                }
            }
        }
        p4::visit::walk_expression(self, expression);
    }
}

/// The name of the malleable that an l-value is, or is bits of.
fn root(target: &Expression) -> Option<&str> {
    match &target.kind {
        ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => root(base),
        ExpressionKind::Extension(reference) => referred(reference),
        _ => None,
    }
}

impl References<'_, '_> {
    /// What a reference reads.
    fn read(&mut self, span: Span, name: &str) -> Option<Expression> {
        let Some(field) = self.translator.field_index(name) else {
            return self.translator.expression(span, &format!("{STATE}.{name}"), Vec::new());
        };
        if let Some(variable) = self.loaded.get(&field) {
            return self.translator.expression(span, variable, Vec::new());
        }
        let known = self.choice.get(&field).copied();
        let known = known.or((self.translator.alternatives[field] == 1).then_some(0));
        let text = match (known, self.translator.selector(field)) {
            (Some(alternative), _) => self.translator.alternative(field, alternative),
            (None, Some(selector)) => {
                let mut text = self.translator.alternative(field, 0);
                for alternative in 1..self.translator.alternatives[field] {
                    let other = self.translator.alternative(field, alternative);
                    text = format!("({selector} == {alternative} ? {other} : {text})");
                }
                text
            }
            (None, None) => return None,
        };
        self.translator.expression(span, &text, Vec::new())
    }

    /// A statement that writes fields, once for each combination of their alternatives.
    fn for_each_alternative(
        &mut self,
        statement: &Statement,
        fields: &[usize],
    ) -> Option<Statement> {
        let (field, others) = fields.split_first()?;
        let mut chain: Option<Statement> = None;
        for alternative in (0..self.translator.alternatives[*field]).rev() {
            let mut copy = self.translator.rewriter.copy(statement);
            self.choice.insert(*field, alternative);
            copy = match others {
                [] => {
                    walk_statement(self, &mut copy);
                    copy
                }
                others => self.for_each_alternative(&copy, others)?,
            };
            self.choice.remove(field);
            let selector = self.translator.selector(*field);
            chain = Some(match (chain, selector) {
                (Some(rest), Some(selector)) => {
                    let text = format!("if ({selector} == {alternative}) ${{then}} else ${{rest}}");
                    let holes = vec![("then", copy.into()), ("rest", rest.into())];
                    self.translator.statement(statement.span, &text, holes)?
                }
                _ => copy,
            });
        }
        // The last alternative needs no test, so the chain was built from the first one on.
        chain
    }

    /// An assignment to a field in an action: one assignment to each alternative, which keeps its value if it is not the
    /// chosen one.
    fn conditional_assignments(
        &mut self,
        statement: &Statement,
        field: usize,
    ) -> Option<Statement> {
        let StatementKind::Assign { target, operator, value } = &statement.kind else {
            return None;
        };
        let span = statement.span;
        let selector = self.translator.selector(field)?;
        let mut assignments = Vec::new();
        for alternative in 0..self.translator.alternatives[field] {
            self.choice.insert(field, alternative);
            let mut targets = [0, 1, 2].map(|_| self.translator.rewriter.copy(target));
            targets.iter_mut().for_each(|target| self.expression(target));
            let mut value = self.translator.rewriter.copy(value);
            self.expression(&mut value);
            self.choice.remove(&field);
            let [target, old, kept] = targets;
            let value = match operator {
                None => value,
                Some(operator) => {
                    let id = self.translator.rewriter.fresh_id();
                    let kind = ExpressionKind::Binary(*operator, Box::new(old), Box::new(value));
                    Expression { id, span, kind }
                }
            };
            let text =
                format!("${{target}} = {selector} == {alternative} ? ${{value}} : ${{kept}};");
            let holes =
                vec![("target", target.into()), ("value", value.into()), ("kept", kept.into())];
            assignments.extend(self.translator.statement(span, &text, holes));
        }
        self.translator.statement(
            span,
            "{ ${assignments} }",
            vec![("assignments", assignments.into())],
        )
    }

    /// A call in an action with a field as `out` or `inout` argument: through a variable.
    fn through_variables(&mut self, statement: &Statement, fields: &[usize]) -> Option<Statement> {
        let span = statement.span;
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut copy = self.translator.rewriter.copy(statement);
        for field in fields {
            let declaration = &self.translator.program.declarations.fields[*field];
            let ty = p4::printer::print_type_ref(&declaration.ty);
            let name = declaration.name.text.clone();
            let variable = format!("p4r_{name}");
            let read = self.read(span, &name)?;
            let text = format!("{ty} {variable} = ${{read}};");
            before.extend(self.translator.statement(span, &text, vec![("read", read.into())]));
            struct Rename<'n> {
                name: &'n str,
                made: Vec<Expression>,
            }
            impl VisitMut for Rename<'_> {
                fn expression(&mut self, expression: &mut Expression) {
                    if let ExpressionKind::Extension(reference) = &expression.kind
                        && referred(reference) == Some(self.name)
                        && let Some(made) = self.made.pop()
                    {
                        *expression = made;
                        return;
                    }
                    walk_expression(self, expression);
                }
            }
            let count = super::usage::count(&copy, &name);
            let made = (0..count)
                .filter_map(|_| self.translator.expression(span, &variable, Vec::new()))
                .collect();
            VisitMut::statement(&mut Rename { name: &name, made }, &mut copy);
            let selector = self.translator.selector(*field);
            for alternative in 0..self.translator.alternatives[*field] {
                let path = self.translator.alternative(*field, alternative);
                let text = match &selector {
                    Some(selector) => {
                        format!("{path} = {selector} == {alternative} ? {variable} : {path};")
                    }
                    None => format!("{path} = {variable};"),
                };
                after.extend(self.translator.statement(span, &text, Vec::new()));
            }
        }
        walk_statement(self, &mut copy);
        let mut all = before;
        all.push(copy);
        all.extend(after);
        self.translator.statement(span, "{ ${all} }", vec![("all", all.into())])
    }
}

impl References<'_, '_> {
    /// The fields that decide which action a statement calls, on Tofino, where actions have no conditions.
    fn called_fields(&self, statement: &Statement) -> Vec<usize> {
        let StatementKind::Call(call) = &statement.kind else { return Vec::new() };
        let specialised = self.specialised(call).map(|(fields, _)| fields.clone());
        specialised.unwrap_or_default()
    }

    /// The action that an expression calls, if it stands once for each combination of alternatives.
    fn specialised(&self, call: &Expression) -> Option<&Specialised> {
        if self.translator.style != Style::Tna || self.in_action {
            return None;
        }
        match self.translator.program.typed.calls.get(&self.translator.model(call.id))?.callee {
            Callee::Action(action) => self.translator.specialised.get(&action),
            _ => None,
        }
    }

    /// Calls the action for the known alternatives.
    fn name_specialised(&self, expression: &mut Expression) {
        let Some((fields, names)) = self.specialised(expression) else { return };
        let known = fields.iter().map(|field| self.choice.get(field).copied());
        let Some(known) = known.collect::<Option<Vec<usize>>>() else { return };
        let at = fields
            .iter()
            .zip(known)
            .fold(0, |at, (field, known)| at * self.translator.alternatives[*field] + known);
        if let ExpressionKind::Call(call) = &mut expression.kind
            && let ExpressionKind::Path(path) = &mut call.callee.kind
            && let Some((_, name)) = names.get(at)
        {
            path.name.text = name.as_str().into();
        }
    }

    /// A statement with loads in front of it.
    fn with_loads(&mut self, statement: &mut Statement) -> Vec<Statement> {
        if self.in_action || self.translator.mode == Mode::Written {
            self.translate(statement);
            return Vec::new();
        }
        let (made, mut loaded) = self.translator.loads_before(statement);
        loaded.retain(|field, _| !self.choice.contains_key(field));
        let outer = std::mem::replace(&mut self.loaded, loaded);
        match &mut statement.kind {
            StatementKind::If { condition, then, otherwise } => {
                self.expression(condition);
                self.loaded.clone_from(&outer);
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
            }
            StatementKind::Switch { subject, cases } => {
                self.expression(subject);
                self.loaded.clone_from(&outer);
                for case in cases {
                    p4::visit_mut::walk_switch_case(self, case);
                }
            }
            _ => self.translate(statement),
        }
        self.loaded = outer;
        made
    }

    fn translate(&mut self, statement: &mut Statement) {
        let written = self.translator.written_fields(statement);
        let called = self.called_fields(statement);
        let fields: Vec<usize> = written
            .into_iter()
            .chain(called)
            .collect::<BTreeSet<usize>>()
            .into_iter()
            .filter(|field| {
                !self.choice.contains_key(field) && self.translator.alternatives[*field] > 1
            })
            .collect();
        let replaced = match (self.in_action, fields.as_slice()) {
            (_, []) => {
                walk_statement(self, statement);
                return;
            }
            (false, fields) => self.for_each_alternative(statement, fields),
            (true, [field]) if matches!(&statement.kind, StatementKind::Assign { target, .. } if root(target).is_some()) => {
                self.conditional_assignments(statement, *field)
            }
            (true, fields) => self.through_variables(statement, fields),
        };
        if let Some(replaced) = replaced {
            *statement = replaced;
        }
    }
}

impl VisitMut for References<'_, '_> {
    fn declaration(&mut self, declaration: &mut Declaration) {
        let (outer, early) = (self.in_action, self.translator.early_of(declaration.id));
        self.in_action |= matches!(
            declaration.kind,
            DeclarationKind::Action { .. } | DeclarationKind::Instance { .. }
        );
        let loaded = self.loaded.clone();
        self.loaded.extend(early);
        walk_declaration(self, declaration);
        self.loaded = loaded;
        self.in_action = outer;
    }

    fn block(&mut self, block: &mut Block) {
        for mut statement in std::mem::take(&mut block.statements) {
            let loads = self.with_loads(&mut statement);
            block.statements.extend(loads);
            block.statements.push(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        let span = statement.span;
        let mut all = self.with_loads(statement);
        if all.is_empty() {
            return;
        }
        all.push(statement.clone());
        let made = self.translator.statement(span, "{ ${all} }", vec![("all", all.into())]);
        if let Some(made) = made {
            *statement = made;
        }
    }

    fn argument(&mut self, argument: &mut Argument) {
        self.expression(&mut argument.value);
    }

    fn expression(&mut self, expression: &mut Expression) {
        let name = match &expression.kind {
            ExpressionKind::Extension(reference) => referred(reference).map(str::to_string),
            _ => None,
        };
        match name {
            Some(name) => {
                if let Some(read) = self.read(expression.span, &name) {
                    *expression = read;
                }
            }
            None => {
                self.name_specialised(expression);
                walk_expression(self, expression);
            }
        }
    }
}
