// SPDX-License-Identifier: Apache-2.0
//! Calls (P4_16 v1.2.5 §8.22, §8.24): resolves the callee and dispatches to its lowering. `inlining` inlines
//! bodies.

use super::instances::ordered;
use super::nodes::Node;
use super::{Binding, ExternCall, Lowered, Lowering, ObjectId, Value, bit, codes};
use crate::{RegionKind, Terminator};
use p4::ast::{Call, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId};
use p4::typed::{CallInfo, Callee, TypeKind};
use std::sync::Arc;

impl<'a> Lowering<'a> {
    /// The value of a call; `Void` when it has none.
    pub(crate) fn call(&mut self, expression: &'a Expression, call: &'a Call) -> Lowered<Value> {
        let Some(info) = self.typed.calls.get(&expression.id) else {
            self.span = expression.span;
            return Err(self.missing_fact("what is called"));
        };
        self.at(expression.id, expression.span);
        self.check_growth()?;
        let site = match self.random_sites.label(expression.id) {
            Some(label) => p4::random_sites::join(&self.random_scope, label),
            None => self.random_scope.clone(),
        };
        let outer = std::mem::replace(&mut self.call_site, site);
        let outcome = self.call_of(info, expression, call);
        self.call_site = outer;
        outcome
    }

    fn call_of(
        &mut self,
        info: &'a CallInfo,
        expression: &'a Expression,
        call: &'a Call,
    ) -> Lowered<Value> {
        match info.callee {
            Callee::Function(id) | Callee::AbstractMethod(id) => self.call_function(id, info, call),
            Callee::Action(id) => self.call_action(id, info, call),
            Callee::ExternFunction(id) => self.call_extern_function(id, info, call),
            Callee::ExternMethod(id) => self.call_extern_method(id, info, call),
            Callee::TableApply(table) => {
                self.apply_table(table)?;
                Ok(Value::Void)
            }
            Callee::BlockApply(_) => {
                let instance = match self.base_binding(call)? {
                    Binding::Block(instance) => instance,
                    _ => return Err(self.not_expressible("only parsers and controls are applied")),
                };
                self.apply_block(instance, info, &call.arguments)?;
                Ok(Value::Void)
            }
            Callee::DirectApply(id) => {
                let instance = self.direct_instance(id, call)?;
                self.apply_block(instance, info, &call.arguments)?;
                Ok(Value::Void)
            }
            Callee::Constructor(..) => {
                let binding = self.construct_call(expression, &call.arguments, None)?;
                Ok(Value::Object(Box::new(binding)))
            }
            Callee::IsValid => Ok(Value::Scalar(self.is_valid(base_of(call))?)),
            Callee::SetValid => self.set_valid(base_of(call), true).map(|()| Value::Void),
            Callee::SetInvalid => self.set_valid(base_of(call), false).map(|()| Value::Void),
            Callee::PushFront | Callee::PopFront => {
                let Some(argument) = call.arguments.first() else {
                    return Err(self.missing_fact("the amount of a shift"));
                };
                let sign = if info.callee == Callee::PushFront { 1 } else { -1 };
                self.shift_stack(base_of(call), &argument.value, sign)?;
                Ok(Value::Void)
            }
            Callee::SizeOf => self.size_of(call),
        }
    }

    /// What the base of a method call is bound to.
    fn base_binding(&mut self, call: &'a Call) -> Lowered<Binding> {
        self.object_binding(base_of(call))
    }

    /// What an expression that names an object is bound to.
    fn object_binding(&mut self, base: &'a Expression) -> Lowered<Binding> {
        if let Some(binding) = self.binding(base) {
            return Ok(binding.clone());
        }
        if let ExpressionKind::Index(array, index) = &base.kind
            && let Binding::Objects(objects) = self.object_binding(array)?
        {
            let index = self.index_operand(index)?;
            let known = super::constant(&index).and_then(crate::Bits::to_u64);
            let Some(at) = known.and_then(|at| usize::try_from(at).ok()) else {
                return Ok(Binding::Choice(objects, index));
            };
            return match objects.into_iter().nth(at) {
                Some(object) => Ok(object),
                None => {
                    Err(self.error_at(base.span, codes::NOT_EXPRESSIBLE, "this index lies outside"))
                }
            };
        }
        match self.evaluate(base)? {
            Value::Object(binding) => Ok(*binding),
            _ => {
                self.span = base.span;
                Err(self.not_expressible("the object of this call is not known at compile time"))
            }
        }
    }

    fn call_function(&mut self, id: NodeId, info: &'a CallInfo, call: &'a Call) -> Lowered<Value> {
        match self.nodes.get(id) {
            Some(Node::Declaration(declaration)) => {
                let DeclarationKind::Function { signature, body } = &declaration.kind else {
                    return Err(self.missing_fact("the body of a function"));
                };
                self.inline_function(declaration, signature, body, info, &call.arguments)
            }
            Some(Node::Method(..)) => self.call_extern_method(id, info, call),
            _ => Err(self.missing_fact("the function that is called")),
        }
    }

    fn call_action(&mut self, id: NodeId, info: &'a CallInfo, call: &'a Call) -> Lowered<Value> {
        let Some(declaration) = self.nodes.declaration(id) else {
            return Err(self.missing_fact("the action that is called"));
        };
        let DeclarationKind::Action { parameters, body } = &declaration.kind else {
            return Err(self.missing_fact("the body of an action"));
        };
        self.inline_action(declaration, parameters, body, info, &call.arguments)?;
        Ok(Value::Void)
    }

    fn call_extern_function(
        &mut self,
        id: NodeId,
        info: &'a CallInfo,
        call: &'a Call,
    ) -> Lowered<Value> {
        let Some(declaration) = self.nodes.declaration(id) else {
            return Err(self.missing_fact("the extern function that is called"));
        };
        let DeclarationKind::ExternFunction(signature) = &declaration.kind else {
            return Err(self.missing_fact("the signature of an extern function"));
        };
        let name = declaration.name.text.clone();
        let arguments = ordered(info, &call.arguments, signature.parameters.len());
        match (&*name, arguments.as_slice()) {
            ("verify", [Some(check), Some(error)]) if self.builder.kind() == RegionKind::Parser => {
                return self.verify(check, error);
            }
            ("static_assert", [Some(check), ..]) => {
                let check = self.operand(check)?;
                if super::constant(&check).is_some_and(crate::Bits::is_zero) {
                    return Err(self.error(codes::NOT_EXPRESSIBLE, "static assertion failed"));
                }
                return Ok(Value::Scalar(bit(true)));
            }
            _ => {}
        }
        let call = ExternCall {
            name,
            object: None,
            annotations: [&declaration.annotations, &[]],
            parameters: &signature.parameters,
            arguments,
            type_arguments: info.type_arguments.iter().map(|ty| self.close(ty)).collect(),
            result: self.close(&info.result),
        };
        self.described_or_unknown(&call)
    }

    /// `verify(check, error)` (P4_16 v1.2.5 §13.7): the parser rejects when the check fails.
    fn verify(&mut self, check: &'a Expression, error: &'a Expression) -> Lowered<Value> {
        let check = self.operand(check)?;
        let error = self.operand(error)?;
        let (go_on, raise) = self.branch(check);
        self.start_block(raise);
        self.terminate(Terminator::Reject(error));
        self.start_block(go_on);
        Ok(Value::Void)
    }

    fn call_extern_method(
        &mut self,
        id: NodeId,
        info: &'a CallInfo,
        call: &'a Call,
    ) -> Lowered<Value> {
        let Some(Node::Method(method, owner)) = self.nodes.get(id) else {
            return Err(self.missing_fact("the method that is called"));
        };
        let arguments = ordered(info, &call.arguments, method.signature.parameters.len());
        let binding = self.base_binding(call)?;
        let type_arguments = info.type_arguments.iter().map(|ty| self.close(ty)).collect();
        let result = self.close(&info.result);
        let call = ExternCall {
            name: method.name.text.clone(),
            object: None,
            annotations: [&method.annotations, &owner.annotations],
            parameters: &method.signature.parameters,
            arguments,
            type_arguments,
            result,
        };
        match binding {
            Binding::Packet => {
                self.packet_method(&owner.name.text, method, &call.arguments, &call.result)
            }
            Binding::Object(object) => {
                self.described_or_unknown(&ExternCall { object: Some(object), ..call })
            }
            Binding::Choice(objects, index) => self.chosen_method(call, objects, index),
            _ => Err(self.not_expressible("the object of this call is no extern object")),
        }
    }

    /// A method of the object that an index chooses; outside of the array nothing happens.
    fn chosen_method(
        &mut self,
        mut call: ExternCall<'a>,
        objects: Vec<Binding>,
        index: crate::Operand,
    ) -> Lowered<Value> {
        let shape = self.shape(&call.result)?;
        let name = self.local_name("$result");
        let result = self.allocate(&shape, &name)?;
        self.clear(&result);
        let width = self.width(&index);
        for (at, object) in objects.into_iter().enumerate() {
            let Binding::Object(object) = object else {
                return Err(self.not_expressible("arrays of arrays of objects need known indices"));
            };
            let at = at as u64;
            if width < 64 && at >> width != 0 {
                break;
            }
            let here =
                self.binary(crate::BinaryOperation::Equal, index.clone(), super::number(width, at));
            let (then, end) = self.branch(here);
            self.start_block(then);
            call.object = Some(object);
            let value = self.described_or_unknown(&call)?;
            if result != super::Location::Nothing {
                self.store(&result, &value)?;
            }
            self.goto_and_start(end);
        }
        Ok(self.load(&result))
    }

    fn described_or_unknown(&mut self, call: &ExternCall<'a>) -> Lowered<Value> {
        if let Some(meaning) = self.extern_meaning()
            && let Some(value) = meaning.call(self, call)?
        {
            return Ok(value);
        }
        self.unknown_call(call)
    }

    /// `Type.apply(...)`: an instance of its own a declaration and scope (P4_16 v1.2.5 §15.1), named by the type.
    fn direct_instance(
        &mut self,
        id: NodeId,
        call: &'a Call,
    ) -> Lowered<super::instances::InstanceId> {
        let key = (self.instance, base_of(call).id);
        if let Some(Binding::Block(known)) = self.local_instances.get(&key) {
            return Ok(*known);
        }
        let Some(declaration) = self.nodes.declaration(id) else {
            return Err(self.missing_fact("what is applied"));
        };
        let ty = self.type_of(base_of(call))?;
        let type_arguments = match &*ty {
            TypeKind::Parser(_, arguments) | TypeKind::Control(_, arguments) => arguments.clone(),
            _ => Vec::new(),
        };
        let type_parameters = match &declaration.kind {
            DeclarationKind::Parser(parser) => &parser.signature.type_parameters,
            DeclarationKind::Control(control) => &control.signature.type_parameters,
            _ => return Err(self.missing_fact("what is applied")),
        };
        let prefix = self.prefix();
        let name: Arc<str> = match &*prefix {
            "" => declaration.name.text.clone(),
            prefix => format!("{prefix}.{}", declaration.name.text).into(),
        };
        let context = self.new_context();
        let taken = self.instances.iter().filter(|instance| instance.name == name).count();
        let name = if taken > 0 { format!("{name}_{}", taken - 1).into() } else { name };
        self.instances.push(super::instances::BlockInstance {
            declaration: id,
            type_arguments: type_parameters
                .iter()
                .map(|parameter| parameter.id)
                .zip(type_arguments)
                .collect(),
            constructor: Vec::new(),
            locals: None,
            name,
            context,
            sites: if self.repeating { 2 } else { 1 },
        });
        let instance = super::instances::InstanceId(self.instances.len() as u32 - 1);
        self.local_instances.insert(key, Binding::Block(instance));
        Ok(instance)
    }

    /// `minSizeInBits()` and the like, where a type parameter hid the size from the checker.
    fn size_of(&mut self, call: &'a Call) -> Lowered<Value> {
        let ExpressionKind::Member(base, method) = &call.callee.kind else {
            return Err(self.missing_fact("the size of a type"));
        };
        let ty = self.type_of(base)?;
        let shape = self.shape(&ty)?;
        let (smallest, largest) = self.size_bounds(&shape);
        let bits = if method.text.starts_with("min") { smallest } else { largest };
        let size = if method.text.ends_with("Bytes") { bits.div_ceil(8) } else { bits };
        Ok(Value::Integer(size.into()))
    }

    fn size_bounds(&mut self, shape: &super::Shape) -> (u64, u64) {
        use super::Shape;
        match shape {
            Shape::Union(members) => {
                let mut bounds = (0u64, 0u64);
                for (_, ty) in members.iter() {
                    let (small, large) = self.size_bounds(&Shape::Header(*ty));
                    bounds = (bounds.0.max(small), bounds.1.max(large));
                }
                bounds
            }
            Shape::Struct(fields) => {
                let mut bounds = (0u64, 0u64);
                for (_, shape) in fields.iter() {
                    let (small, large) = self.size_bounds(shape);
                    bounds = (bounds.0.saturating_add(small), bounds.1.saturating_add(large));
                }
                bounds
            }
            Shape::Stack(element, size) => {
                let (small, large) = self.size_bounds(element);
                let size = u64::from(*size);
                (small.saturating_mul(size), large.saturating_mul(size))
            }
            Shape::Header(ty) => {
                let mut bounds = (0u64, 0u64);
                for field in self.flat_fields(*ty) {
                    let width = u64::from(field.ty.width_bits());
                    let small =
                        if matches!(field.ty, crate::ValueType::Varbit(_)) { 0 } else { width };
                    bounds = (bounds.0 + small, bounds.1 + width);
                }
                bounds
            }
            Shape::Scalar(crate::ValueType::Varbit(width), _) => (0, u64::from(*width)),
            Shape::Scalar(ty, _) => (u64::from(ty.width_bits()), u64::from(ty.width_bits())),
            Shape::Empty => (0, 0),
        }
    }

    /// The object that an expression names, if it does.
    pub(crate) fn binding_of_object(&self, expression: &Expression) -> Option<ObjectId> {
        match self.binding(expression) {
            Some(Binding::Object(object)) => Some(*object),
            _ => None,
        }
    }

    /// The declaration with this number.
    pub(crate) fn declaration_of(&self, id: NodeId) -> Option<&'a Declaration> {
        self.nodes.declaration(id)
    }

    /// The object that an expression is at compile time.
    pub(crate) fn object_of(&mut self, expression: &'a Expression) -> Lowered<Option<ObjectId>> {
        if let Some(Binding::Object(object)) = self.binding(expression) {
            return Ok(Some(*object));
        }
        match self.evaluate(expression)? {
            Value::Object(binding) => match *binding {
                Binding::Object(object) => Ok(Some(object)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

/// The object of a method call.
fn base_of(call: &Call) -> &Expression {
    match &call.callee.kind {
        ExpressionKind::Member(base, _) => base,
        _ => &call.callee,
    }
}
