// SPDX-License-Identifier: Apache-2.0
//! Checks declarations in the order of the text, each as a whole; a name can be used only after its
//! declaration. Events and handlers, modules, aliases and parsers have files of their own.

use super::Checker;
use super::body::{DeferredCheck, Frame, NotGlobal};
use super::checked::{Definition, Signature, Size, Type};
use super::codes;
use super::reports::TypeExpectation;
use super::scopes::{Namespace, Resolution};
use crate::syntax::ast::{
    self, Binder, Block, Constraint, Declaration, DeclarationKind, Expression, Parameter, Segment,
};
use source::{Diagnostic, Span};
use std::collections::HashSet;

impl Checker {
    pub(super) fn declarations(&mut self, declarations: &[Declaration]) {
        let scope = self.innermost();
        for declaration in declarations {
            if let Some((namespace, name)) = declared_name(&declaration.kind) {
                let key = (scope, namespace, name.name.clone());
                self.later.entry(key).or_default().push(name.span);
            }
        }
        for declaration in declarations {
            self.declaration(declaration);
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.at = declaration.span;
        match &declaration.kind {
            DeclarationKind::Size { name, value } => self.size(name, value.as_ref()),
            DeclarationKind::Constant { name, ty, value } => self.constant(name, ty, value),
            DeclarationKind::Symbolic { name, ty } => self.symbolic(name, ty),
            DeclarationKind::Extern { name, ty } => self.external(name, ty),
            DeclarationKind::ExternFunction { name, parameters } => {
                self.extern_function(name, parameters);
            }
            DeclarationKind::Global { name, ty, value } => self.global(name, ty.as_ref(), value),
            DeclarationKind::Event { name, sort, wire_number, parameters, constraints, body } => {
                self.event(name, *sort, *wire_number, parameters, constraints, body.as_ref());
            }
            DeclarationKind::Handler { event, sort, parameters, body } => {
                self.handler(event, *sort, parameters, body);
            }
            DeclarationKind::Function { name, return_type, parameters, constraints, body } => {
                self.function(name, return_type, parameters, constraints, body);
            }
            DeclarationKind::Memop { name, parameters, body } => {
                self.memop(name, parameters, body);
            }
            DeclarationKind::UserType { name, parameters, ty } => {
                self.declare_user_type(name, parameters, ty);
            }
            DeclarationKind::Constructor { name, ty, parameters, value } => {
                self.constructor(name, ty, parameters, value);
            }
            DeclarationKind::Module { name, interface, declarations } => {
                self.module(name, interface.as_deref(), declarations);
            }
            DeclarationKind::ModuleAlias { name, condition, then, otherwise } => {
                self.module_alias(name, condition, then, otherwise);
            }
            DeclarationKind::Action {
                name,
                return_type,
                install_parameters,
                match_parameters,
                body,
                spelling: _,
            } => self.action(name, return_type, install_parameters, match_parameters, body),
            DeclarationKind::Parser { name, parameters, body } => {
                self.parser(name, parameters, body);
            }
        }
    }

    fn size(&mut self, name: &Binder, value: Option<&ast::Size>) {
        self.begin(Frame::Value);
        self.body.closed = true;
        let value = value.map(|value| self.resolve_size(value));
        let open = value.as_ref().is_some_and(|value| {
            value.terms.iter().any(|term| matches!(term, super::SizeTerm::Variable(_)))
        });
        // Its errors are already reported.
        let value = if open { Some(Size::constant(super::body::DEFAULT_WIDTH)) } else { value };
        self.finish(Vec::new());
        self.out.declared_sizes.insert(name.id, value);
        self.declare_named(Namespace::Sizes, name, Definition::Size(name.id));
    }

    fn constant(&mut self, name: &Binder, written: &ast::Type, value: &Expression) {
        self.begin(Frame::Value);
        let ty = self.resolve_type(written);
        let why =
            TypeExpectation::new(written.span.to(name.span), format!("`{}` is {{}}", name.name));
        self.expect(value, &ty, Some(&why));
        self.forbid_global(&ty, NotGlobal::Constant(name.name.clone()), name.span);
        self.bind_name(name, ty);
        self.finish(Vec::new());
        self.declare_named(Namespace::Values, name, Definition::Constant(name.id));
    }

    fn symbolic(&mut self, name: &Binder, written: &ast::Type) {
        self.begin(Frame::Value);
        let ty = self.resolve_type(written);
        self.forbid_global(&ty, NotGlobal::Symbolic(name.name.clone()), name.span);
        self.bind_name(name, ty);
        self.finish(Vec::new());
        self.outside_value(name, written.span, "symbolic");
        self.declare_named(Namespace::Values, name, Definition::Symbolic(name.id));
    }

    fn external(&mut self, name: &Binder, written: &ast::Type) {
        self.begin(Frame::Value);
        let ty = self.resolve_type(written);
        self.forbid_global(&ty, NotGlobal::Extern(name.name.clone()), name.span);
        self.bind_name(name, ty);
        self.finish(Vec::new());
        self.outside_value(name, written.span, "extern");
        self.declare_named(Namespace::Values, name, Definition::Extern(name.id));
    }

    /// Externs are integers, booleans or groups; symbolics integers, booleans, and records and
    /// vectors of them.
    fn outside_value(&mut self, name: &Binder, span: Span, what: &str) {
        let Some(ty) = self.out.types.get(&name.id).cloned() else { return };
        let symbolic = what == "symbolic";
        let good = if symbolic {
            self.is_symbolic_type(&ty, &mut HashSet::new())
        } else {
            let seen = self.out.expand(&ty);
            matches!(seen, Type::Int(_) | Type::Bool | Type::Group | Type::Error)
        };
        if !good && !self.out.is_global(&ty) {
            let shown = self.describe(&ty);
            let diagnostic = Diagnostic::error(
                codes::TYPE_MISMATCH,
                span,
                format!("{what} `{}` cannot be {shown}", name.name),
            );
            self.diagnostics.push(diagnostic.note(if symbolic {
                "symbolics are integers, booleans, and records and vectors of these"
            } else {
                "externs are integers, booleans and groups"
            }));
        }
    }

    fn is_symbolic_type(&self, ty: &Type, seen: &mut HashSet<ast::NodeId>) -> bool {
        if let Type::User { definition, .. } = ty
            && !seen.insert(*definition)
        {
            return true;
        }
        match self.out.expand(ty) {
            Type::Int(_) | Type::Bool | Type::Error => true,
            Type::Vector(element, _) => self.is_symbolic_type(&element, seen),
            Type::Record(fields) => fields.iter().all(|(_, ty)| self.is_symbolic_type(ty, seen)),
            _ => false,
        }
    }

    fn extern_function(&mut self, name: &Binder, parameters: &[Parameter]) {
        self.begin(Frame::Value);
        let types = self.parameters(parameters);
        for (ty, parameter) in types.iter().zip(parameters) {
            let what = NotGlobal::Extern(parameter.name.name.clone());
            self.forbid_global(ty, what, parameter.ty.span);
        }
        self.remember_parameters(name.id, parameters);
        let signature = Signature { parameters: types, result: Type::Void, variables: Vec::new() };
        self.finish(vec![(name.id, signature)]);
        self.declare_named(Namespace::Values, name, Definition::ExternFunction(name.id));
    }

    fn global(&mut self, name: &Binder, written: Option<&ast::Type>, value: &Expression) {
        self.begin(Frame::Global);
        if self.stack.len() > 1 {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::GLOBAL_MISUSE,
                    name.span,
                    format!("global `{}` is declared inside a module", name.name),
                )
                .note("globals are declared outside of modules, as their order is that of access")
                .help("declare a type and a constructor in the module, and the global outside"),
            );
        }
        let ty = match written {
            Some(written) => {
                let ty = self.resolve_type(written);
                let why = TypeExpectation::new(
                    written.span.to(name.span),
                    format!("`{}` is {{}}", name.name),
                );
                self.expect(value, &ty, Some(&why));
                ty
            }
            None => self.infer(value),
        };
        let segment = Segment { name: name.name.clone(), span: name.span };
        self.body.later.push(DeferredCheck::Global { ty: ty.clone(), name: segment });
        self.bind_name(name, ty);
        self.finish(Vec::new());
        self.declare_named(Namespace::Values, name, Definition::Global(name.id));
    }

    fn function(
        &mut self,
        name: &Binder,
        return_type: &ast::Type,
        parameters: &[Parameter],
        constraints: &[Constraint],
        body: &Block,
    ) {
        self.begin(Frame::Value);
        let types = self.parameters(parameters);
        let result = self.resolve_type(return_type);
        self.body.frame = Frame::Function(result.clone(), return_type.span);
        self.function_name = Some(name.name.clone());
        self.constraints(constraints);
        let returned = self.block(body);
        self.function_name = None;
        self.must_return(returned, &result, return_type, "function", name);
        self.forbid_global(&result, NotGlobal::Result(name.name.clone()), return_type.span);
        self.remember_parameters(name.id, parameters);
        let signature = Signature { parameters: types, result, variables: Vec::new() };
        self.finish(vec![(name.id, signature)]);
        self.declare_named(Namespace::Values, name, Definition::Function(name.id));
    }

    fn must_return(
        &mut self,
        returned: bool,
        result: &Type,
        written: &ast::Type,
        what: &str,
        name: &Binder,
    ) {
        let head = self.variables.head(result);
        if returned || matches!(head, Type::Void | Type::Error) {
            return;
        }
        if let Type::Variable(variable) = head
            && !self.variables.is_rigid(variable)
            && matches!(written.kind, ast::TypeKind::Auto)
        {
            // `fun auto f` without any `return` returns nothing.
            self.variables.bind_type(variable, Type::Void);
            return;
        }
        let shown = self.describe(&self.variables.resolve(&head));
        self.diagnostics.push(
            Diagnostic::error(
                codes::MISSING_RETURN,
                name.span,
                format!("{what} `{}` does not return a value on every path", name.name),
            )
            .label(written.span, format!("it returns {shown}"))
            .help(
                "return a value at its end; a `match` that returns needs a last branch `| _ -> { ... }`",
            ),
        );
    }

    /// Records what the names in constraints of the order mean.
    pub(super) fn constraints(&mut self, constraints: &[Constraint]) {
        let operands = constraints.iter().flat_map(|constraint| match constraint {
            Constraint::Chain { operands, .. } => operands.iter().collect::<Vec<_>>(),
            Constraint::End { operand, .. } => vec![operand],
        });
        for path in operands {
            if let [segment] = &path.segments[..] {
                if &*segment.name == "start" {
                    continue;
                }
                if let Some(id) = self.body.locals.get(&segment.name) {
                    self.out.definitions.insert(path.id, Definition::Local(id));
                    let ty = self.out.types.get(&id).cloned().unwrap_or(Type::Error);
                    let seen = self.variables.resolve(&ty);
                    let open = matches!(seen, Type::Variable(_) | Type::Error);
                    if !open && !self.out.is_global(&seen) {
                        self.not_ordered(path.span, &segment.name, &seen);
                    }
                    continue;
                }
            }
            self.at = path.span;
            if let Resolution::Entry(entry) = self.lookup(Namespace::Values, path)
                && !matches!(entry.definition, Definition::Global(_))
            {
                self.not_ordered(path.span, &super::scopes::show_path(path), &Type::Error);
            }
        }
    }

    fn not_ordered(&mut self, span: Span, name: &str, ty: &Type) {
        let mut diagnostic = Diagnostic::error(
            codes::GLOBAL_MISUSE,
            span,
            format!("`{name}` holds no persistent state, so it has no place in the order"),
        );
        if *ty != Type::Error {
            diagnostic = diagnostic.here(format!("this is {}", self.describe(ty)));
        }
        self.diagnostics.push(diagnostic);
    }

    fn memop(&mut self, name: &Binder, parameters: &[Parameter], body: &Block) {
        self.begin(Frame::Value);
        let types = self.parameters(parameters);
        let width = self.variables.fresh_size();
        let cell = Type::Int(width.clone());
        for (ty, parameter) in types.iter().zip(parameters) {
            self.at = parameter.ty.span;
            if !self.unify(ty, &cell) {
                let first = parameters[0].ty.span;
                let why = TypeExpectation::new(
                    first,
                    "all parameters of a memop are as wide as the cell, {}",
                );
                let why = (parameter.ty.span != first).then_some(why);
                self.mismatch(parameter.ty.span, ty, &cell, why.as_ref());
            }
        }
        self.body.frame = Frame::Memop(parameters.len(), width.clone());
        self.block(body);
        self.remember_parameters(name.id, parameters);
        let signature = Signature { parameters: types, result: cell, variables: Vec::new() };
        self.finish(vec![(name.id, signature)]);
        self.declare_named(Namespace::Values, name, Definition::Memop(name.id));
    }

    fn constructor(
        &mut self,
        name: &Binder,
        written: &ast::Type,
        parameters: &[Parameter],
        value: &Expression,
    ) {
        self.begin(Frame::Constructor);
        let types = self.parameters(parameters);
        let result = self.resolve_type(written);
        let why = TypeExpectation::new(written.span, "the constructor makes {}");
        self.expect(value, &result, Some(&why));
        self.remember_parameters(name.id, parameters);
        let signature = Signature { parameters: types, result, variables: Vec::new() };
        self.finish(vec![(name.id, signature)]);
        self.declare_named(Namespace::Constructors, name, Definition::Constructor(name.id));
    }

    fn action(
        &mut self,
        name: &Binder,
        return_type: &ast::Type,
        install_parameters: &[Parameter],
        match_parameters: &[Parameter],
        body: &Block,
    ) {
        self.begin(Frame::Value);
        let all: Vec<Parameter> =
            install_parameters.iter().chain(match_parameters).cloned().collect();
        let types = self.parameters(&all);
        let result = self.resolve_type(return_type);
        self.body.frame = Frame::Action(result.clone(), return_type.span);
        let returned = self.block(body);
        self.must_return(returned, &result, return_type, "action", name);
        for (ty, parameter) in types.iter().zip(&all) {
            let what = NotGlobal::Local(parameter.name.name.clone());
            self.forbid_global(ty, what, parameter.ty.span);
        }
        self.remember_parameters(name.id, &all);
        self.install_counts.insert(name.id, install_parameters.len());
        let signature = Signature { parameters: types, result, variables: Vec::new() };
        self.finish(vec![(name.id, signature)]);
        self.declare_named(Namespace::Values, name, Definition::Action(name.id));
    }
}

/// What a declaration declares.
fn declared_name(kind: &DeclarationKind) -> Option<(Namespace, &Binder)> {
    Some(match kind {
        DeclarationKind::Size { name, .. } => (Namespace::Sizes, name),
        DeclarationKind::Constant { name, .. }
        | DeclarationKind::Symbolic { name, .. }
        | DeclarationKind::Extern { name, .. }
        | DeclarationKind::ExternFunction { name, .. }
        | DeclarationKind::Global { name, .. }
        | DeclarationKind::Event { name, .. }
        | DeclarationKind::Function { name, .. }
        | DeclarationKind::Memop { name, .. }
        | DeclarationKind::Action { name, .. } => (Namespace::Values, name),
        DeclarationKind::Constructor { name, .. } => (Namespace::Constructors, name),
        DeclarationKind::UserType { name, .. } => (Namespace::Types, name),
        DeclarationKind::Module { name, .. } | DeclarationKind::ModuleAlias { name, .. } => {
            (Namespace::Modules, name)
        }
        DeclarationKind::Parser { name, .. } => (Namespace::Parsers, name),
        DeclarationKind::Handler { .. } => return None,
    })
}
