// SPDX-License-Identifier: Apache-2.0
//! Compile-time evaluation of instances (P4_16 v1.2.5 §6.6.2, §15, §18.2): constructors of externs, parsers,
//! controls and packages, their arguments and their control-plane names. `inlining` applies them.

use super::externs::Construction;
use super::names::control_plane_name;
use super::{Binding, ExternObject, Lowered, Lowering, ObjectId, ObjectKind, Value, codes};
use p4::ast::{
    Argument, Declaration, DeclarationKind, Expression, NodeId, Parameter, TypeParameter,
};
use p4::typed::{CallInfo, Callee, Type, TypeKind};
use std::sync::Arc;

/// Index into the instances of parsers and controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InstanceId(pub(crate) u32);

impl InstanceId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An instance of a parser or control.
pub(crate) struct BlockInstance {
    /// The declaration of the parser or control.
    pub(crate) declaration: NodeId,
    /// Type arguments by parameter.
    pub(crate) type_arguments: Vec<(NodeId, Type)>,
    /// Constructor arguments by parameter.
    pub(crate) constructor: Vec<(NodeId, Binding)>,
    /// Instances declared inside, once they are needed.
    pub(crate) locals: Option<Vec<(NodeId, Binding)>>,
    /// Control-plane name.
    pub(crate) name: Arc<str>,
    /// The expansion of its variables.
    pub(crate) context: u32,
    /// How many places apply it.
    pub(crate) sites: u32,
}

impl<'a> Lowering<'a> {
    /// The instance that a declaration makes; made once a scope.
    pub(crate) fn instance_named(&mut self, declaration: &'a Declaration) -> Lowered<Binding> {
        let is_top = self
            .nodes
            .top_level(&declaration.name.text)
            .is_some_and(|top| top.id == declaration.id);
        if is_top {
            if let Some(known) = self.top_instances.get(&declaration.id) {
                return Ok(known.clone());
            }
            let instance = self.instance.take();
            let binding = self.construct_declared(declaration);
            self.instance = instance;
            let binding = binding?;
            self.top_instances.insert(declaration.id, binding.clone());
            return Ok(binding);
        }
        let key = (self.instance, declaration.id);
        if let Some(known) = self.local_instances.get(&key) {
            return Ok(known.clone());
        }
        let binding = self.construct_declared(declaration)?;
        self.local_instances.insert(key, binding.clone());
        Ok(binding)
    }

    fn construct_declared(&mut self, declaration: &'a Declaration) -> Lowered<Binding> {
        let DeclarationKind::Instance { ty, arguments, body } = &declaration.kind else {
            return Err(self.missing_fact("an instance"));
        };
        let Some(info) = self.typed.calls.get(&declaration.id) else {
            self.span = declaration.span;
            return Err(self.missing_fact("the constructor of an instance"));
        };
        let prefix = self.prefix();
        let name = control_plane_name(&prefix, &declaration.annotations, &declaration.name.text);
        let sites = self.nodes.apply_sites(declaration.id);
        let (origin, span) = (self.origin, self.span);
        self.span = declaration.span;
        self.origin = self.add_origin(declaration.span, Some(declaration.id), Some(name.clone()));
        let sizes = self.written_type(ty).map(|ty| array_sizes(&ty)).unwrap_or_default();
        let written = (arguments.as_slice(), body.as_deref().unwrap_or_default());
        let outcome = self.construct_array(info, written, name, (sites, &sizes));
        self.origin = origin;
        self.span = span;
        outcome
    }

    /// An instance, or an array of them with these sizes, the outermost first.
    fn construct_array(
        &mut self,
        info: &'a CallInfo,
        written: (&'a [Argument], &'a [Declaration]),
        name: Arc<str>,
        (sites, sizes): (u32, &[u32]),
    ) -> Lowered<Binding> {
        let Some((size, inner)) = sizes.split_first() else {
            return self.construct(info, written, name, sites);
        };
        let mut objects = Vec::new();
        for index in 0..*size {
            self.instruction_count += 1;
            self.check_growth()?;
            let name = format!("{name}[{index}]").into();
            objects.push(self.construct_array(info, written, name, (sites, inner))?);
        }
        Ok(Binding::Objects(objects))
    }

    /// A constructor call as an expression, under a given name or that of its type.
    pub(crate) fn construct_call(
        &mut self,
        expression: &'a Expression,
        arguments: &'a [Argument],
        name: Option<Arc<str>>,
    ) -> Lowered<Binding> {
        let Some(info) = self.typed.calls.get(&expression.id) else {
            self.span = expression.span;
            return Err(self.missing_fact("a constructor"));
        };
        let Callee::Constructor(declaration, _) = info.callee else {
            return Err(self.missing_fact("a constructor"));
        };
        let name = match name {
            Some(name) => name,
            None => {
                let prefix = self.prefix();
                match self.nodes.declaration(declaration) {
                    Some(found) => {
                        control_plane_name(&prefix, &found.annotations, &found.name.text)
                    }
                    None => prefix,
                }
            }
        };
        let (origin, span) = (self.origin, self.span);
        self.span = expression.span;
        self.origin = self.add_origin(expression.span, Some(expression.id), Some(name.clone()));
        let outcome = self.construct(info, (arguments, &[]), name, 1);
        self.origin = origin;
        self.span = span;
        outcome
    }

    /// Makes an instance, with its initializer.
    fn construct(
        &mut self,
        info: &'a CallInfo,
        (arguments, initializer): (&'a [Argument], &'a [Declaration]),
        name: Arc<str>,
        sites: u32,
    ) -> Lowered<Binding> {
        let Callee::Constructor(id, method) = info.callee else {
            return Err(self.missing_fact("a constructor"));
        };
        let Some(declaration) = self.nodes.declaration(id) else {
            return Err(self.missing_fact("the declaration of an instance's type"));
        };
        let type_arguments: Vec<Type> =
            info.type_arguments.iter().map(|ty| self.close(ty)).collect();
        match &declaration.kind {
            DeclarationKind::ExternObject { methods, .. } => {
                let constructor = method
                    .and_then(|method| methods.iter().find(|candidate| candidate.id == method));
                let parameters = constructor.map_or(&[][..], |method| &method.signature.parameters);
                let construction = Construction {
                    type_name: declaration.name.text.clone(),
                    name,
                    type_arguments,
                    arguments: ordered(info, arguments, parameters.len()),
                    initializer,
                    origin: self.origin,
                };
                self.construct_extern(&construction)
            }
            DeclarationKind::Parser(parser) => self.construct_block(
                declaration,
                (&parser.signature.type_parameters, &parser.constructor_parameters),
                type_arguments,
                (info, arguments),
                (name, sites),
            ),
            DeclarationKind::Control(control) => self.construct_block(
                declaration,
                (&control.signature.type_parameters, &control.constructor_parameters),
                type_arguments,
                (info, arguments),
                (name, sites),
            ),
            DeclarationKind::PackageType(package) => {
                let mut parts = Vec::with_capacity(package.parameters.len());
                for (index, parameter) in package.parameters.iter().enumerate() {
                    let Some(argument) = argument_of(info, arguments, index) else { continue };
                    let value = self.evaluate(argument)?;
                    parts.push((parameter.name.text.clone(), binding_of(value)));
                }
                Ok(Binding::Package(parts))
            }
            _ => {
                Err(self
                    .not_expressible(format!("`{}` cannot be instantiated", declaration.name.text)))
            }
        }
    }

    fn construct_extern(&mut self, construction: &Construction<'a>) -> Lowered<Binding> {
        let known = match self.extern_meaning() {
            Some(meaning) => meaning.construct(self, construction)?,
            None => None,
        };
        let kind = match known {
            Some(kind) => kind,
            None => ObjectKind::Unknown(self.unknown_object(construction)),
        };
        let type_name = construction.type_name.clone();
        self.objects.push(ExternObject { type_name, kind });
        Ok(Binding::Object(ObjectId(self.objects.len() as u32 - 1)))
    }

    fn construct_block(
        &mut self,
        declaration: &'a Declaration,
        (type_parameters, parameters): (&'a [TypeParameter], &'a [Parameter]),
        type_arguments: Vec<Type>,
        (info, arguments): (&'a CallInfo, &'a [Argument]),
        (name, sites): (Arc<str>, u32),
    ) -> Lowered<Binding> {
        if self.constructing.contains(&declaration.id) {
            return Err(self.error(
                codes::RECURSION,
                format!("`{}` contains an instance of itself", declaration.name.text),
            ));
        }
        let type_arguments: Vec<(NodeId, Type)> =
            type_parameters.iter().map(|parameter| parameter.id).zip(type_arguments).collect();
        let mut values = Vec::with_capacity(parameters.len());
        for (index, parameter) in parameters.iter().enumerate() {
            let value = match argument_of(info, arguments, index).or(parameter.default.as_ref()) {
                Some(argument) => self.evaluate(argument)?,
                None => Value::Default,
            };
            values.push(value);
        }
        for (parameter, ty) in &type_arguments {
            self.type_arguments.insert(*parameter, ty.clone());
        }
        let mut constructor = Vec::with_capacity(parameters.len());
        for (parameter, value) in parameters.iter().zip(values) {
            let binding = match value {
                Value::Object(binding) => {
                    if let Binding::Block(inner) = *binding {
                        // How often the parameter is applied is not counted.
                        self.instances[inner.index()].sites += 2;
                    }
                    *binding
                }
                value => {
                    let ty = self.declared_type(parameter.id)?;
                    Binding::Value(self.cast(value, None, &ty)?)
                }
            };
            constructor.push((parameter.id, binding));
        }
        let context = self.new_context();
        self.instances.push(BlockInstance {
            declaration: declaration.id,
            type_arguments,
            constructor,
            locals: None,
            name,
            context,
            sites,
        });
        Ok(Binding::Block(InstanceId(self.instances.len() as u32 - 1)))
    }

    /// Does something inside an instance: its parameters, constants and local instances are bound.
    pub(crate) fn within<T>(
        &mut self,
        id: InstanceId,
        work: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<T> {
        let outer = (self.instance, self.context, std::mem::take(&mut self.scope));
        self.instance = Some(id);
        let found = &self.instances[id.index()];
        self.context = found.context;
        let declaration = found.declaration;
        for (parameter, ty) in found.type_arguments.clone() {
            self.type_arguments.insert(parameter, ty);
        }
        let bound = found.constructor.iter().chain(found.locals.iter().flatten());
        for (node, binding) in bound {
            self.bindings.insert(*node, binding.clone());
        }
        self.constructing.push(declaration);
        let outcome = match self.instances[id.index()].locals {
            Some(_) => Ok(()),
            None => self.local_instances_of(id, declaration),
        };
        let outcome = outcome.and_then(|()| work(self));
        self.constructing.pop();
        (self.instance, self.context, self.scope) = outer;
        outcome
    }

    fn local_instances_of(&mut self, id: InstanceId, declaration: NodeId) -> Lowered<()> {
        let declarations: &'a [Declaration] =
            match self.nodes.declaration(declaration).map(|found| &found.kind) {
                Some(DeclarationKind::Parser(parser)) => &parser.locals,
                Some(DeclarationKind::Control(control)) => &control.locals,
                _ => &[],
            };
        let mut locals = Vec::new();
        for local in declarations {
            if let DeclarationKind::Instance { .. } = &local.kind {
                let binding = self.instance_named(local)?;
                self.bindings.insert(local.id, binding.clone());
                locals.push((local.id, binding));
            }
        }
        self.instances[id.index()].locals = Some(locals);
        Ok(())
    }
}

/// The argument of a parameter.
pub(super) fn argument_of<'e>(
    info: &CallInfo,
    arguments: &'e [Argument],
    parameter: usize,
) -> Option<&'e Expression> {
    let at = info.arguments.get(parameter).copied().flatten()?;
    arguments.get(at).map(|argument| &argument.value)
}

/// An argument a parameter.
pub(super) fn ordered<'e>(
    info: &CallInfo,
    arguments: &'e [Argument],
    count: usize,
) -> Vec<Option<&'e Expression>> {
    (0..count.max(info.arguments.len())).map(|index| argument_of(info, arguments, index)).collect()
}

/// The sizes of an array type, the outermost first.
fn array_sizes(ty: &Type) -> Vec<u32> {
    match &**ty {
        TypeKind::Stack(element, size) => {
            std::iter::once(*size).chain(array_sizes(element)).collect()
        }
        _ => Vec::new(),
    }
}

fn binding_of(value: Value) -> Binding {
    match value {
        Value::Object(binding) => *binding,
        value => Binding::Value(value),
    }
}
