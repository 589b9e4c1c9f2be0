// SPDX-License-Identifier: Apache-2.0
//! A copied body moved to another place: parameters become arguments or variables, its own names become
//! fresh ones, and names of the top level stay what they are where the new surroundings hide them.

use super::node_builder::NodeBuilder;
use crate::ast::{
    ActionRef, Block, Declaration, DeclarationKind, DeclaredName, Expression, ExpressionKind, Node,
    NodeId, Parameter, Path, State, StateRef, Statement, StatementKind, TypeRef, TypeRefKind,
    Variable,
};
use crate::rewrite::Rewriter;
use crate::typed::Definition;
use crate::visit::{Visit, walk_expression as look_expression};
use crate::visit_mut::{
    VisitMut, walk_action_ref, walk_declaration, walk_expression, walk_state, walk_statement,
    walk_type_ref, walk_variable,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The replacement of a declaration of the copied body.
#[derive(Clone, Debug)]
pub(super) enum Replacement {
    /// Another name.
    Name(Arc<str>),
    /// An expression of the caller.
    Expression(Expression),
    /// A type.
    Type(TypeRef),
}

/// Replaces the references to declarations of a copied body.
pub(super) struct Substitution<'m, 'r> {
    pub(super) builder: &'m mut NodeBuilder<'r>,
    pub(super) replacements: FxHashMap<NodeId, Replacement>,
    /// The state that stands for `accept`.
    pub(super) accept: Option<Arc<str>>,
    /// Names that the caller uses.
    pub(super) hidden: &'m FxHashSet<Arc<str>>,
}

impl Substitution<'_, '_> {
    fn target(&self, reference: NodeId) -> Option<NodeId> {
        match self.builder.rewriter.definition(reference)? {
            Definition::Node(node) => Some(node),
            Definition::Accept | Definition::Reject => None,
        }
    }

    /// Renames a reference.
    fn rename_path(&self, reference: NodeId, path: &mut Path) {
        let Some(target) = self.target(reference) else { return };
        if let Some(Replacement::Name(name)) = self.replacements.get(&target) {
            path.name.text = name.clone();
        } else if !path.absolute
            && self.hidden.contains(&path.name.text)
            && is_top_level(self.builder.rewriter, target)
        {
            path.absolute = true;
        }
    }
}

/// Whether a node is declared at top level.
fn is_top_level(rewriter: &Rewriter, node: NodeId) -> bool {
    rewriter.original().program.declarations.iter().any(|declaration| declaration.id == node)
}

impl VisitMut for Substitution<'_, '_> {
    fn expression(&mut self, expression: &mut Expression) {
        if let ExpressionKind::Path(path) = &mut expression.kind {
            let target = self.target(expression.id);
            if let Some(Replacement::Expression(value)) =
                target.and_then(|target| self.replacements.get(&target))
            {
                let mut copy = self.builder.rewriter.copy(value);
                copy.span = expression.span;
                *expression = copy;
                return;
            }
            self.rename_path(expression.id, path);
            return;
        }
        walk_expression(self, expression);
    }

    fn type_ref(&mut self, ty: &mut TypeRef) {
        if let TypeRefKind::Named(path) = &mut ty.kind {
            let target = self.target(ty.id);
            if let Some(Replacement::Type(written)) =
                target.and_then(|target| self.replacements.get(&target))
            {
                *ty = self.builder.rewriter.copy(written);
                return;
            }
            self.rename_path(ty.id, path);
            return;
        }
        if let TypeRefKind::Specialized(path, _) = &mut ty.kind {
            self.rename_path(ty.id, path);
        }
        walk_type_ref(self, ty);
    }

    fn action_ref(&mut self, action: &mut ActionRef) {
        self.rename_path(action.id, &mut action.path);
        walk_action_ref(self, action);
    }

    fn declaration(&mut self, declaration: &mut Declaration) {
        walk_declaration(self, declaration);
        if let Some(Replacement::Name(name)) = self.replacements.get(&declaration.id) {
            declaration.name.text = name.clone();
        }
    }

    fn state(&mut self, state: &mut State) {
        walk_state(self, state);
        if let Some(Replacement::Name(name)) = self.replacements.get(&state.id) {
            state.name.text = name.clone();
        }
    }

    fn state_ref(&mut self, state: &mut StateRef) {
        match self.builder.rewriter.definition(state.id) {
            Some(Definition::Node(node)) => {
                if let Some(Replacement::Name(name)) = self.replacements.get(&node) {
                    state.name.text = name.clone();
                }
            }
            Some(Definition::Accept) => {
                if let Some(accept) = &self.accept {
                    state.name.text = accept.clone();
                }
            }
            _ => {}
        }
    }

    fn variable(&mut self, variable: &mut Variable) {
        walk_variable(self, variable);
        if let Some(Replacement::Name(name)) = self.replacements.get(&variable.id) {
            variable.name.text = name.clone();
        }
    }
}

/// Puts statements before each `exit` of a body.
pub(super) struct BeforeExit<'m, 'r> {
    pub(super) builder: &'m mut NodeBuilder<'r>,
    pub(super) statements: &'m [Statement],
}

impl BeforeExit<'_, '_> {
    fn copies(&mut self) -> Vec<Statement> {
        self.statements.iter().map(|each| self.builder.rewriter.copy(each)).collect()
    }
}

impl VisitMut for BeforeExit<'_, '_> {
    fn block(&mut self, block: &mut Block) {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            match statement.kind {
                StatementKind::Exit => statements.extend(self.copies()),
                _ => self.statement(&mut statement),
            }
            statements.push(statement);
        }
        block.statements = statements;
    }

    fn statement(&mut self, statement: &mut Statement) {
        if matches!(statement.kind, StatementKind::Exit) && !self.statements.is_empty() {
            let mut block = self.copies();
            block.push(self.builder.statement(StatementKind::Exit));
            *statement = self.builder.block(block);
            return;
        }
        walk_statement(self, statement);
    }
}

/// Collects the declarations in statements and loops of a part, and all names.
#[derive(Default)]
pub(super) struct Declared {
    /// Declarations, with the names that they have.
    pub(super) nodes: Vec<(NodeId, Arc<str>)>,
    /// All names that are declared, those of parameters, type parameters and states too.
    pub(super) declared: FxHashSet<Arc<str>>,
    /// All names that are declared or used.
    pub(super) names: FxHashSet<Arc<str>>,
}

impl<'a> Visit<'a> for Declared {
    fn declaration(&mut self, declaration: &'a Declaration) {
        self.nodes.push((declaration.id, declaration.name.text.clone()));
        self.declared.insert(declaration.name.text.clone());
        crate::visit::walk_declaration(self, declaration);
    }

    fn variable(&mut self, variable: &'a Variable) {
        self.nodes.push((variable.id, variable.name.text.clone()));
        self.declared.insert(variable.name.text.clone());
        crate::visit::walk_variable(self, variable);
    }

    fn parameter(&mut self, parameter: &'a Parameter) {
        self.declared.insert(parameter.name.text.clone());
        crate::visit::walk_parameter(self, parameter);
    }

    fn declared_name(&mut self, declared: &'a DeclaredName) {
        self.declared.insert(declared.name.text.clone());
        crate::visit::walk_declared_name(self, declared);
    }

    fn state(&mut self, state: &'a State) {
        self.declared.insert(state.name.text.clone());
        crate::visit::walk_state(self, state);
    }

    fn name(&mut self, name: &'a crate::ast::Name) {
        self.names.insert(name.text.clone());
    }
}

/// The nodes that expressions and actions of tables refer to.
pub(super) struct ReferencedNodes<'r> {
    pub(super) rewriter: &'r Rewriter,
    pub(super) nodes: FxHashSet<NodeId>,
}

impl ReferencedNodes<'_> {
    pub(super) fn note(&mut self, reference: NodeId) {
        if let Some(Definition::Node(node)) = self.rewriter.definition(reference) {
            self.nodes.insert(node);
        }
    }
}

impl<'a> Visit<'a> for ReferencedNodes<'_> {
    fn expression(&mut self, expression: &'a Expression) {
        if matches!(expression.kind, ExpressionKind::Path(_)) {
            self.note(expression.id);
        }
        look_expression(self, expression);
    }

    fn action_ref(&mut self, action: &'a ActionRef) {
        self.note(Node::id(action));
        crate::visit::walk_action_ref(self, action);
    }
}

/// Whether a declaration is removed when nothing refers to it.
pub(super) fn is_action(declaration: &Declaration) -> bool {
    matches!(declaration.kind, DeclarationKind::Action { .. })
}
