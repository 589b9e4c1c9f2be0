// SPDX-License-Identifier: Apache-2.0
//! Builds the nodes that inlining adds to a rewriter's tree: a few forms of expressions and statements.

use crate::ast::{
    Annotation, AnnotationBody, Block, Call, Declaration, DeclarationKind, Expression,
    ExpressionKind, Name, NodeId, Path, Statement, StatementKind, TypeRef, TypeRefKind,
    UnaryOperator,
};
use crate::rewrite::Rewriter;
use crate::token::{Token, TokenKind};
use source::Span;
use std::sync::Arc;

/// Builds nodes with the place of the inlined call.
pub(super) struct NodeBuilder<'r> {
    pub(super) rewriter: &'r mut Rewriter,
    pub(super) span: Span,
}

impl NodeBuilder<'_> {
    fn id(&mut self) -> NodeId {
        self.rewriter.fresh_id()
    }

    pub(super) fn name(&self, text: &Arc<str>) -> Name {
        Name { text: text.clone(), span: self.span }
    }

    pub(super) fn expression(&mut self, kind: ExpressionKind) -> Expression {
        Expression { id: self.id(), span: self.span, kind }
    }

    pub(super) fn path(&mut self, name: &Arc<str>) -> Expression {
        let path = Path { absolute: false, name: self.name(name) };
        self.expression(ExpressionKind::Path(path))
    }

    pub(super) fn statement(&mut self, kind: StatementKind) -> Statement {
        Statement { id: self.id(), span: self.span, kind }
    }

    pub(super) fn assign(&mut self, target: Expression, value: Expression) -> Statement {
        self.statement(StatementKind::Assign { target, operator: None, value })
    }

    pub(super) fn block(&mut self, statements: Vec<Statement>) -> Statement {
        let block = Block { annotations: Vec::new(), statements, span: self.span };
        self.statement(StatementKind::Block(block))
    }

    pub(super) fn variable(
        &mut self,
        name: &Arc<str>,
        ty: TypeRef,
        initializer: Option<Expression>,
    ) -> Declaration {
        let kind = DeclarationKind::Variable { ty, initializer };
        let name = self.name(name);
        Declaration { id: self.id(), span: self.span, annotations: Vec::new(), name, kind }
    }

    pub(super) fn declare(&mut self, declaration: Declaration) -> Statement {
        self.statement(StatementKind::Declaration(Box::new(declaration)))
    }

    pub(super) fn type_ref(&mut self, kind: TypeRefKind) -> TypeRef {
        TypeRef { id: self.id(), span: self.span, kind }
    }

    /// `base.method();`
    pub(super) fn method_call(&mut self, base: Expression, method: &str) -> Statement {
        let name = self.name(&method.into());
        let callee = self.expression(ExpressionKind::Member(Box::new(base), name));
        let call = Call { callee, type_arguments: Vec::new(), arguments: Vec::new() };
        let call = self.expression(ExpressionKind::Call(Box::new(call)));
        self.statement(StatementKind::Call(call))
    }

    /// `if (!flag) { statements }`
    pub(super) fn unless(&mut self, flag: &Arc<str>, statements: Vec<Statement>) -> Statement {
        let flag = self.path(flag);
        let condition = self.expression(ExpressionKind::Unary(UnaryOperator::Not, Box::new(flag)));
        let then = Box::new(self.block(statements));
        self.statement(StatementKind::If { condition, then, otherwise: None })
    }

    /// `@name("text")`
    pub(super) fn name_annotation(&self, text: &str) -> Annotation {
        let token = Token { kind: TokenKind::String, span: self.span, text: Arc::from(text) };
        Annotation {
            name: self.name(&"name".into()),
            body: AnnotationBody::Unstructured(vec![token]),
            span: self.span,
        }
    }
}

/// Returns the string in the `@name` among annotations.
pub(super) fn given_name(annotations: &[Annotation]) -> Option<Arc<str>> {
    let annotation = annotations.iter().find(|annotation| &*annotation.name.text == "name")?;
    match &annotation.body {
        AnnotationBody::Unstructured(tokens) => {
            Some(tokens.iter().map(|token| &*token.text).collect::<String>().into())
        }
        AnnotationBody::Expressions(items) => match items.as_slice() {
            [Expression { kind: ExpressionKind::String(text), .. }] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the control-plane name of a declaration in an instance, relative to the block around the
/// instance.
pub(super) fn qualified(prefix: &str, annotations: &[Annotation], name: &str) -> String {
    match given_name(annotations) {
        Some(given) if given.starts_with('.') => given.to_string(),
        Some(given) => format!("{prefix}.{given}"),
        None => format!("{prefix}.{name}"),
    }
}
