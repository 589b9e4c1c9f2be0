// SPDX-License-Identifier: Apache-2.0
//! From the package instance `main` to the program's blocks: which parsers and controls it consists
//! of, what their parameters are bound to, and their regions.

use super::builder::Builder;
use super::instances::InstanceId;
use super::{Binding, Flow, Lowered, Lowering, ProbeEnd};
use crate::{Block, BlockKind, BlockParameter, RegionId, RegionKind, Terminator, ValueType};
use p4::ast::{DeclarationKind, Direction, NodeId, Parameter};
use p4::typed::{Callee, TypeKind};
use std::sync::Arc;

/// Errors of core.p4, which engines raise by name.
const CORE_ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

impl<'a> Lowering<'a> {
    /// Lowers everything that `main` consists of.
    pub(super) fn main(&mut self, main: NodeId) -> Lowered<()> {
        self.errors();
        let Some(declaration) = self.nodes.declaration(main) else {
            return Err(self.missing_fact("the declaration of main"));
        };
        self.span = declaration.span;
        let package = match self.typed.calls.get(&main).map(|info| info.callee) {
            Some(Callee::Constructor(package, _)) => package,
            _ => return Err(self.missing_fact("the package of main")),
        };
        let package_name = match self.nodes.declaration(package) {
            Some(package) => package.name.text.clone(),
            None => return Err(self.missing_fact("the package of main")),
        };
        let mut architectures = self.architectures.iter();
        self.architecture =
            architectures.find(|each| each.description.has_package(&package_name, self.typed));
        self.program.architecture = match self.architecture() {
            Some(architecture) => architecture.name.into(),
            None => package_name,
        };
        let parts = match self.instance_named(declaration)? {
            Binding::Package(parts) => parts,
            // `main` of something else than a package cannot pass the checker.
            _ => return Err(self.missing_fact("a package")),
        };
        // Objects at the top level are state even where no block names them.
        let typed = self.typed;
        for declaration in &typed.program.declarations {
            if let DeclarationKind::Instance { .. } = &declaration.kind
                && let Some(ty) = typed.declared_types.get(&declaration.id)
                && matches!(**ty, TypeKind::Extern(..))
            {
                self.instance_named(declaration)?;
            }
        }
        let outcome = self.parts("", parts);
        for at in 0..self.program.blocks.len() {
            if self.program.blocks[at].kind == BlockKind::Parser {
                let role = self.program.blocks[at].role.clone();
                self.program.blocks[at].parser_error = self.parser_error_slot(&role);
            }
        }
        outcome?;
        match self.extern_meaning() {
            Some(meaning) => meaning.finish(self),
            None => Ok(()),
        }
    }

    fn errors(&mut self) {
        let mut errors: Vec<Arc<str>> = self.typed.errors.clone();
        if let Some(at) = errors.iter().position(|name| &**name == CORE_ERRORS[0]) {
            let no_error = errors.remove(at);
            errors.insert(0, no_error);
        }
        for (at, name) in CORE_ERRORS.iter().enumerate() {
            if errors.iter().all(|known| **known != **name) {
                errors.insert(if at == 0 { 0 } else { errors.len() }, (*name).into());
            }
        }
        self.program.errors = errors;
    }

    fn parts(&mut self, prefix: &str, parts: Vec<(Arc<str>, Binding)>) -> Lowered<()> {
        let mut outcome = Ok(());
        for (name, binding) in parts {
            let role: Arc<str> = match prefix {
                "" => name,
                _ => format!("{prefix}.{name}").into(),
            };
            let result = match binding {
                Binding::Block(instance) => self.block_of(role, instance),
                Binding::Package(parts) => self.parts(&role, parts),
                _ => Ok(()),
            };
            outcome = outcome.and(result);
            if self.exhausted {
                break;
            }
        }
        outcome
    }

    fn block_of(&mut self, role: Arc<str>, id: InstanceId) -> Lowered<()> {
        let declaration_id = self.instances[id.index()].declaration;
        let Some(declaration) = self.nodes.declaration(declaration_id) else {
            return Err(self.missing_fact("a block of the package"));
        };
        let parameters: &[Parameter] = match &declaration.kind {
            DeclarationKind::Parser(parser) => &parser.signature.parameters,
            DeclarationKind::Control(control) => &control.signature.parameters,
            _ => return Err(self.missing_fact("a block of the package")),
        };
        // The name for the control plane is that of the declaration, also when an instance of it is
        // declared outside.
        let name = super::control_plane_name("", &declaration.annotations, &declaration.name.text);
        // Two blocks of one declaration get their roles in their names.
        let taken = self.program.regions.iter().any(|region| region.name == name);
        let name = if taken { format!("{role}.{name}").into() } else { name };
        self.instances[id.index()].name = name.clone();
        self.at(declaration.id, declaration.span);
        let origin = self.add_origin(declaration.span, Some(declaration.id), Some(name.clone()));
        let mut kind = match &declaration.kind {
            DeclarationKind::Parser(_) => BlockKind::Parser,
            _ => BlockKind::Control,
        };
        self.enter(declaration)?;
        let mut bound = Vec::new();
        let outcome = self.within(id, |this| {
            for (index, parameter) in parameters.iter().enumerate() {
                bound.push(this.block_parameter(&role, index, parameter, &mut kind)?);
            }
            let region_kind = match kind {
                BlockKind::Parser => RegionKind::Parser,
                BlockKind::Control => RegionKind::Control,
                BlockKind::Deparser => RegionKind::Deparser,
            };
            this.builder = Builder::new(name.clone(), region_kind);
            this.flow = Flow::default();
            this.copy_outs.clear();
            this.repeating = false;
            let is_probed = this.is_probed(&name);
            let storage: Vec<_> =
                bound.iter().flat_map(|parameter| parameter.slots.iter().copied()).collect();
            if is_probed {
                this.probe(&name, ProbeEnd::Begin, &storage);
            }
            this.drawing_in(format!("block {role}").into(), |this| this.block_body(declaration))?;
            if is_probed {
                this.probe(&name, ProbeEnd::End, &storage);
            }
            this.terminate(Terminator::Return);
            Ok(())
        });
        self.active.pop();
        let builder = Builder::new("".into(), RegionKind::Control);
        let region = std::mem::replace(&mut self.builder, builder).finish(origin);
        outcome?;
        self.program.regions.push(region);
        let region = RegionId(self.program.regions.len() as u32 - 1);
        self.program.blocks.push(Block {
            role,
            name: declaration.name.text.clone(),
            kind,
            region,
            parameters: bound,
            parser_error: None,
            origin,
        });
        Ok(())
    }

    fn parser_error_slot(&self, role: &str) -> Option<crate::SlotId> {
        let field = self.architecture()?.block(role)?.parser_error?;
        match self.shared_slot(field.storage, field.name)? {
            crate::Place::Slot(slot) => Some(slot),
            crate::Place::Element { .. } => None,
        }
    }

    fn block_parameter(
        &mut self,
        role: &Arc<str>,
        index: usize,
        parameter: &Parameter,
        kind: &mut BlockKind,
    ) -> Lowered<BlockParameter> {
        let is_input =
            matches!(parameter.direction, Direction::In | Direction::InOut | Direction::None);
        let is_output = matches!(parameter.direction, Direction::Out | Direction::InOut);
        let mut result = BlockParameter {
            name: parameter.name.text.clone(),
            storage: "".into(),
            is_input,
            is_output,
            slots: Vec::new(),
        };
        let ty = self.declared_type(parameter.id)?;
        if let TypeKind::Extern(id, _) = &*ty {
            let packet = self.nodes.declaration(*id).map(|found| found.name.text.clone());
            match packet.as_deref() {
                Some("packet_in") => {}
                Some("packet_out") => *kind = BlockKind::Deparser,
                _ => {
                    let name = packet.unwrap_or_else(|| "".into());
                    self.external_parameter(role, parameter, name)?;
                    return Ok(result);
                }
            }
            self.bindings.insert(parameter.id, Binding::Packet);
            return Ok(result);
        }
        let block = self.architecture().and_then(|architecture| architecture.block(role));
        let shared = block.and_then(|block| block.storage.get(index));
        let storage: Arc<str> = match shared.filter(|shared| !shared.is_empty()) {
            Some(shared) => (*shared).into(),
            None => format!("{role}.{}", parameter.name.text).into(),
        };
        let shape = self.shape(&ty)?;
        let location = match self.shared.get(&storage) {
            Some(known) => known.clone(),
            None => {
                let location = self.allocate(&shape, &storage)?;
                self.shared.insert(storage.clone(), location.clone());
                self.storage_types.insert(storage.clone(), ty);
                location
            }
        };
        result.storage = storage;
        result.slots = self.slots_of(&location);
        self.bindings.insert(parameter.id, Binding::Location(location));
        Ok(result)
    }

    /// A parameter that is an object of the device, such as a packet path of another kind.
    fn external_parameter(
        &mut self,
        role: &Arc<str>,
        parameter: &Parameter,
        type_name: Arc<str>,
    ) -> Lowered<()> {
        let construction = super::Construction {
            type_name: type_name.clone(),
            name: format!("{role}.{}", parameter.name.text).into(),
            type_arguments: Vec::new(),
            arguments: Vec::new(),
            initializer: &[],
            origin: self.origin,
        };
        let target = self.unknown_object(&construction);
        let kind = super::ObjectKind::Unknown(target);
        self.objects.push(super::ExternObject { type_name, kind });
        let object = super::ObjectId(self.objects.len() as u32 - 1);
        self.bindings.insert(parameter.id, Binding::Object(object));
        Ok(())
    }

    /// A fresh scalar slot, for architectures.
    pub(crate) fn fresh_slot(&mut self, name: &str, width_bits: u32) -> crate::SlotId {
        self.add_slot(name, ValueType::Bits(width_bits), crate::Display::Unsigned)
    }
}
