// SPDX-License-Identifier: Apache-2.0
//! Scopes of a tree that is not checked yet: which names are declared or used where, and what the
//! names in new code refer to (P4_16 v1.2.5 §6.9). Members of values need types and stay unknown.

use crate::ast::*;
use crate::visit::{
    Visit, walk_block, walk_declaration, walk_expression, walk_statement, walk_type_ref,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Collects the names that a new name must differ from: those of declarations, parameters, states and
/// variables, those used in paths, and control-plane names. Members are left out.
#[derive(Default)]
pub(super) struct TakenNames {
    pub(super) names: FxHashSet<Arc<str>>,
}

impl TakenNames {
    /// Adds the name of a declaration, without those inside of it.
    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        self.names.insert(declaration.name.text.clone());
    }
}

impl<'a> Visit<'a> for TakenNames {
    fn path(&mut self, path: &'a Path) {
        self.names.insert(path.name.text.clone());
    }

    fn annotation(&mut self, annotation: &'a Annotation) {
        if let AnnotationBody::Unstructured(tokens) = &annotation.body {
            for token in tokens {
                let last = token.text.rsplit('.').next().unwrap_or(&token.text);
                self.names.insert(last.into());
            }
        }
    }

    fn enter<T: Node>(&mut self, node: &'a T) -> bool {
        let node = node as &dyn std::any::Any;
        let name = if let Some(node) = node.downcast_ref::<Declaration>() {
            &node.name
        } else if let Some(node) = node.downcast_ref::<Parameter>() {
            &node.name
        } else if let Some(node) = node.downcast_ref::<State>() {
            &node.name
        } else if let Some(node) = node.downcast_ref::<StateRef>() {
            &node.name
        } else if let Some(node) = node.downcast_ref::<DeclaredName>() {
            &node.name
        } else if let Some(node) = node.downcast_ref::<Variable>() {
            &node.name
        } else {
            return true;
        };
        self.names.insert(name.text.clone());
        true
    }
}

/// Finds what the references refer to that `is_unknown` names: the innermost declaration of the name
/// that is in scope.
pub(super) struct Bind<F> {
    is_unknown: F,
    scopes: Vec<FxHashMap<Arc<str>, Vec<Declared>>>,
    /// For each reference its declaration.
    pub(super) found: Vec<(NodeId, NodeId)>,
}

#[derive(Clone, Copy)]
struct Declared {
    id: NodeId,
    is_type: bool,
}

impl<F: Fn(NodeId) -> bool> Bind<F> {
    pub(super) fn new(is_unknown: F) -> Bind<F> {
        Bind { is_unknown, scopes: vec![FxHashMap::default()], found: Vec::new() }
    }

    pub(super) fn program(&mut self, program: &Program) {
        // Errors and match kinds have scopes of their own.
        for declaration in &program.declarations {
            self.declare_declaration(declaration);
            self.declaration(declaration);
        }
    }

    fn declare(&mut self, name: &Name, id: NodeId, is_type: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.entry(name.text.clone()).or_default().push(Declared { id, is_type });
        }
    }

    fn declare_declaration(&mut self, declaration: &Declaration) {
        let is_type = match &declaration.kind {
            DeclarationKind::ExternObject { .. }
            | DeclarationKind::Parser(_)
            | DeclarationKind::Control(_)
            | DeclarationKind::ParserType(_)
            | DeclarationKind::ControlType(_)
            | DeclarationKind::PackageType(_)
            | DeclarationKind::Header(_)
            | DeclarationKind::HeaderUnion(_)
            | DeclarationKind::Struct(_)
            | DeclarationKind::Enum { .. }
            | DeclarationKind::Typedef(_)
            | DeclarationKind::NewType(_) => true,
            DeclarationKind::Error(_) | DeclarationKind::MatchKind(_) => return,
            DeclarationKind::Constant { .. }
            | DeclarationKind::Variable { .. }
            | DeclarationKind::Instance { .. }
            | DeclarationKind::Action { .. }
            | DeclarationKind::Function { .. }
            | DeclarationKind::ExternFunction(_)
            | DeclarationKind::Table(_)
            | DeclarationKind::ValueSet { .. }
            | DeclarationKind::Extension(_)
            | DeclarationKind::Invalid => false,
        };
        self.declare(&declaration.name, declaration.id, is_type);
    }

    fn refer(&mut self, id: NodeId, path: &Path, wants_type: bool) {
        if !(self.is_unknown)(id) {
            return;
        }
        let scopes = if path.absolute { &self.scopes[..1] } else { &self.scopes[..] };
        let found = scopes.iter().rev().find_map(|scope| {
            let declared = scope.get(&path.name.text)?;
            declared.iter().find(|each| !wants_type || each.is_type)
        });
        if let Some(found) = found {
            self.found.push((id, found.id));
        }
    }

    fn in_scope(&mut self, work: impl FnOnce(&mut Self)) {
        self.scopes.push(FxHashMap::default());
        work(self);
        self.scopes.pop();
    }
}

impl<'a, F: Fn(NodeId) -> bool> Visit<'a> for Bind<F> {
    fn enter<T: Node>(&mut self, node: &'a T) -> bool {
        if let Some(node) = (node as &dyn std::any::Any).downcast_ref::<DeclaredName>() {
            self.declare(&node.name, node.id, true);
        }
        true
    }

    fn leave<T: Node>(&mut self, node: &'a T) {
        // A parameter is in scope after its own type and default.
        let node = node as &dyn std::any::Any;
        if let Some(node) = node.downcast_ref::<Parameter>() {
            self.declare(&node.name, node.id, false);
        } else if let Some(node) = node.downcast_ref::<Variable>() {
            self.declare(&node.name, node.id, false);
        }
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        self.in_scope(|bind| {
            if let DeclarationKind::Parser(parser) = &declaration.kind {
                for state in &parser.states {
                    bind.declare(&state.name, state.id, false);
                }
            }
            walk_declaration(bind, declaration);
        });
        let is_local = self.scopes.len() > 1;
        if is_local {
            self.declare_declaration(declaration);
        }
    }

    fn method(&mut self, method: &'a Method) {
        self.in_scope(|bind| crate::visit::walk_method(bind, method));
    }

    fn state(&mut self, state: &'a State) {
        self.in_scope(|bind| crate::visit::walk_state(bind, state));
    }

    fn state_ref(&mut self, state: &'a StateRef) {
        let path = Path { absolute: false, name: state.name.clone() };
        self.refer(state.id, &path, false);
    }

    fn block(&mut self, block: &'a Block) {
        self.in_scope(|bind| walk_block(bind, block));
    }

    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::For { .. } | StatementKind::ForIn { .. } => {
                self.in_scope(|bind| walk_statement(bind, statement));
            }
            _ => walk_statement(self, statement),
        }
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Path(path) = &expression.kind {
            self.refer(expression.id, path, false);
        }
        walk_expression(self, expression);
    }

    fn type_ref(&mut self, ty: &'a TypeRef) {
        if let TypeRefKind::Named(path) | TypeRefKind::Specialized(path, _) = &ty.kind {
            self.refer(ty.id, path, true);
        }
        walk_type_ref(self, ty);
    }

    fn action_ref(&mut self, action: &'a ActionRef) {
        self.refer(action.id, &action.path, false);
        crate::visit::walk_action_ref(self, action);
    }
}
