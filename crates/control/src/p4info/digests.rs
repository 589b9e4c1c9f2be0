// SPDX-License-Identifier: Apache-2.0
//! Reads digests: calls of `digest<T>(...)` and objects of the type `Digest<T>`.

use super::build::Builder;
use ir::lowering::control_plane_name;
use p4::ast::{Declaration, DeclarationKind, NodeId};
use p4::typed::{Callee, Type, TypeKind};
use std::collections::BTreeMap;
use std::sync::Arc;

impl<'a> Builder<'a> {
    /// The digests in the order of the IR: name, type of the data, and the declaration of a digest object.
    #[allow(clippy::type_complexity, reason = "three facts of a digest")]
    pub(super) fn digest_types(&self) -> Vec<(Arc<str>, Option<Type>, Option<&'a Declaration>)> {
        // The data's types of v1model's `digest<T>(...)`: of structs by control-plane name, of others in order.
        let mut by_name: BTreeMap<Arc<str>, Type> = BTreeMap::new();
        let mut unnamed: BTreeMap<NodeId, Type> = BTreeMap::new();
        for (node, call) in &self.typed.calls {
            let Callee::ExternFunction(function) = call.callee else { continue };
            let declared = self.declarations.get(&function);
            let is_digest = declared.is_some_and(|each| *each.name.text == *"digest");
            let Some(ty) = call.type_arguments.first().filter(|_| is_digest) else { continue };
            let declaration = match &**ty {
                TypeKind::Struct(id, _) => self.declarations.get(id),
                _ => None,
            };
            match declaration {
                Some(declaration) => by_name.insert(
                    control_plane_name("", &declaration.annotations, &declaration.name.text),
                    ty.clone(),
                ),
                None => unnamed.insert(*node, ty.clone()),
            };
        }
        let mut unnamed = unnamed.into_values();
        // Objects of the type `Digest<T>`; their names end with the declared one.
        let objects: Vec<&Declaration> = self
            .declarations
            .values()
            .copied()
            .filter(|each| matches!(each.kind, DeclarationKind::Instance { .. }))
            .filter(|each| !self.type_arguments(Some(each)).is_empty())
            .filter(|each| self.is_extern(each, "Digest"))
            .collect();
        let mut found: Vec<(Arc<str>, Option<Type>, Option<&Declaration>)> = Vec::new();
        for request in self.program.requests.iter().filter(|each| &*each.name == "digest") {
            if found.iter().any(|(name, _, _)| *name == request.label) {
                continue;
            }
            let object = objects.iter().copied().find(|object| {
                let name = control_plane_name("", &object.annotations, &object.name.text);
                request
                    .label
                    .strip_suffix(&*name)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            });
            let ty = match object {
                Some(object) => self.type_arguments(Some(object)).first().cloned(),
                None => by_name.get(&request.label).cloned().or_else(|| unnamed.next()),
            };
            found.push((request.label.clone(), ty, object));
        }
        found
    }

    fn is_extern(&self, instance: &Declaration, name: &str) -> bool {
        let ty = self.typed.declared_types.get(&instance.id);
        let Some(TypeKind::Extern(node, _)) = ty.map(|ty| &**ty) else { return false };
        self.declarations.get(node).is_some_and(|declared| *declared.name.text == *name)
    }
}
