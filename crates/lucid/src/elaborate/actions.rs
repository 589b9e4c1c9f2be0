// SPDX-License-Identifier: Apache-2.0
//! Elaborates actions of tables to expressions over installed and matched parameters. An action may bind
//! values to names; its statements must have no effects.

use super::builder::Environment;
use super::builder::{Builder, Purpose};
use super::values::Value;
use super::{Elaborated, Elaborator, Scope, codes};
use crate::check::Type;
use crate::core::{Action, ActionId, Expression};
use crate::syntax::ast::{self, NodeId, Parameter, StatementKind};
use source::{Diagnostic, Span};

impl<'a> Elaborator<'a> {
    /// The action that a name means where an action of a table type is expected.
    pub(super) fn action_value(
        &mut self,
        id: NodeId,
        path: &ast::Path,
        ty: &Type,
        scope: &Scope,
    ) -> Elaborated<Value> {
        let Some(declaration) = self.index.actions.get(&id).copied() else {
            return Err(self.internal(path.span, "an action that is not declared"));
        };
        let mut inner = self.instantiated(path.id, scope, path.span)?;
        if let Type::Action(table) = self.shape(ty, path.span)? {
            self.match_parameters(declaration.install_parameters, &table.install, &mut inner)?;
            self.match_parameters(declaration.match_parameters, &table.argument, &mut inner)?;
            if let Some(signature) = self.checked.signatures.get(&id) {
                let result = signature.result.clone();
                self.match_types(&result, &table.result, &mut inner, path.span)?;
            }
        }
        let mut types = Vec::new();
        let parameters = declaration.install_parameters.iter().chain(declaration.match_parameters);
        for parameter in parameters.clone() {
            types.push(self.type_of(parameter.name.id, &inner, parameter.name.span)?);
        }
        if let Some(signature) = self.checked.signatures.get(&id) {
            let result = signature.result.clone();
            types.push(self.close(&result, &inner, path.span)?);
        }
        let key = (id, types);
        if let Some(action) = self.actions.get(&key) {
            return Ok(Value::Action(*action));
        }
        let mut builder = Builder::new(Purpose::Action);
        let mut install_count = 0;
        for (at, parameter) in parameters.enumerate() {
            let name = &parameter.name;
            let value = self.declare(&mut builder, &name.name, &key.1[at], name.span)?;
            inner.locals.insert(name.id, value);
            if at + 1 == declaration.install_parameters.len() {
                install_count = builder.locals.len() as u32;
            }
        }
        let parameters = builder.locals.clone();
        let results = self.action_results(declaration.body, &mut inner, &mut builder)?;
        let action = ActionId(self.program.actions.len() as u32);
        self.program.actions.push(Action {
            name: self.full_name(id),
            span: declaration.span,
            parameters,
            install_count,
            results,
        });
        self.actions.insert(key, action);
        Ok(Value::Action(action))
    }

    fn match_parameters(
        &mut self,
        parameters: &[Parameter],
        ty: &Type,
        scope: &mut Scope,
    ) -> Elaborated<()> {
        let types = match ty {
            Type::Tuple(types) => types.as_slice(),
            single => std::slice::from_ref(single),
        };
        for (parameter, ty) in parameters.iter().zip(types) {
            if let Some(pattern) = self.checked.types.get(&parameter.name.id).cloned() {
                self.match_types(&pattern, ty, scope, parameter.name.span)?;
            }
        }
        Ok(())
    }

    fn action_results(
        &mut self,
        body: &'a ast::Block,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Vec<Expression>> {
        let Some((last, front)) = body.statements.split_last() else {
            return Ok(Vec::new());
        };
        let value = match &last.kind {
            StatementKind::Return(value) if front.iter().all(is_step) => value.as_ref(),
            StatementKind::Skip if front.is_empty() => None,
            _ => return Err(self.not_only_a_value(body.span, &[])),
        };
        self.statements(front, None, scope, builder)?;
        let Some(value) = value else { return Ok(Vec::new()) };
        let value = self.expression(value, scope, builder)?;
        let mut environment = Environment::new();
        self.run(&builder.statements, &mut environment, Purpose::Action)?;
        let mut results = Vec::new();
        for leaf in value.leaves() {
            let leaf = self.as_scalar(leaf.clone(), last.span)?;
            results.push(self.replaced(&leaf, &environment)?);
        }
        Ok(results)
    }

    pub(super) fn not_only_a_value(&mut self, span: Span, calls: &[Span]) -> super::Reported {
        let message = "an action does nothing but return a value";
        let diagnostic = Diagnostic::error(codes::ACTION_BODY, span, message).help(
            "write `return` with an expression of the parameters; decide after the lookup, on its \
             result",
        );
        self.report_through(calls, diagnostic)
    }
}

/// Whether a statement names or changes a local and nothing else.
fn is_step(statement: &ast::Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Local { .. } | StatementKind::Assign { .. } | StatementKind::Skip
    )
}
