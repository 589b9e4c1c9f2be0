// SPDX-License-Identifier: Apache-2.0
//! [`P4rProgram`]: a checked P4R program with its pipelines, malleables and reactions.

use super::declarations::Declarations;
use crate::interface::Interface;
use ir::BlockKind;
use ir::architecture::Description;
pub use ir::architecture::Gress;
use p4::ast::{
    Argument, ControlDeclaration, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId,
};
use p4::typed::{Callee, Definition, TypeKind, TypedProgram};
use source::SourceMap;
use std::sync::Arc;

/// The control of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct PipelineControl {
    /// Which half.
    pub gress: Gress,
    /// The declaration of the control.
    pub control: NodeId,
}

/// A control or deparser that runs behind a pipeline's control and shares its metadata, such as `update_checksum`'s.
#[derive(Clone, Debug)]
pub struct Tail {
    /// Behind which half.
    pub gress: Gress,
    /// The declaration of the control.
    pub control: NodeId,
    /// The struct of metadata that both have as a parameter.
    pub metadata: NodeId,
    /// The name of this parameter in the control, and in the pipeline's control.
    pub parameters: (Arc<str>, Arc<str>),
}

/// A checked P4R program.
#[derive(Clone, Debug)]
pub struct P4rProgram {
    /// The checked tree, with the extensions of P4R.
    pub typed: Arc<TypedProgram>,
    /// Its files.
    pub map: SourceMap,
    /// Its malleables and reactions as written.
    pub declarations: Declarations,
    /// The ingress and the egress control, as far as the package has them.
    pub pipelines: Vec<PipelineControl>,
    /// What runs behind them.
    pub tails: Vec<Tail>,
    /// The name of its architecture, such as `v1model`.
    pub architecture: &'static str,
    /// What reactions see, without tables, which the compiler adds.
    pub interface: Interface,
}

impl P4rProgram {
    /// The declaration of a control.
    pub fn control(&self, node: NodeId) -> Option<(&Declaration, &ControlDeclaration)> {
        let declaration = self.typed.program.declarations.iter().find(|found| found.id == node)?;
        match &declaration.kind {
            DeclarationKind::Control(control) => Some((declaration, control)),
            _ => None,
        }
    }

    /// The halves that a control runs behind.
    pub fn tails_of(&self, control: NodeId) -> impl Iterator<Item = &Tail> {
        self.tails.iter().filter(move |tail| tail.control == control)
    }

    /// The control of a half of the pipeline.
    pub fn pipeline(&self, gress: Gress) -> Option<(&Declaration, &ControlDeclaration)> {
        let found = self.pipelines.iter().find(|pipeline| pipeline.gress == gress)?;
        self.control(found.control)
    }
}

/// Finds the controls that `main` makes the ingress and the egress of a described architecture.
pub(super) fn pipelines(
    typed: &TypedProgram,
) -> Option<(&'static Description, Vec<PipelineControl>, Vec<Tail>)> {
    let main = typed.main?;
    let declaration = typed.program.declarations.iter().find(|found| found.id == main)?;
    let DeclarationKind::Instance { arguments, .. } = &declaration.kind else { return None };
    let mut roles = Vec::new();
    let package = collect(typed, main, arguments, "", &mut roles)?;
    let is_it = |description: &&Description| description.package == &*package;
    let description = ir::architecture::descriptions().find(is_it)?;
    let of_role = |role: &str| {
        let mut blocks = description.blocks.iter();
        blocks.find(|block| {
            block.role == role && block.kind == BlockKind::Control && block.takes_stages
        })
    };
    let pipelines = roles.iter().filter_map(|(role, control)| {
        Some(PipelineControl { gress: of_role(role)?.gress, control: *control })
    });
    let mut pipelines: Vec<PipelineControl> = pipelines.collect();
    // v1model's checksum controls take stages in no hardware; only the first of each half is the pipeline.
    pipelines.dedup_by_key(|pipeline| pipeline.gress);
    let tails = tails(typed, description, &roles, &pipelines);
    (!pipelines.is_empty()).then_some((description, pipelines, tails))
}

/// Finds the controls behind those of the pipelines.
fn tails(
    typed: &TypedProgram,
    description: &Description,
    roles: &[(String, NodeId)],
    pipelines: &[PipelineControl],
) -> Vec<Tail> {
    let mut tails = Vec::new();
    let mut passed = Vec::new();
    for block in description.blocks {
        let of_role = roles.iter().find(|(role, _)| block.role == role.as_str());
        let Some((_, control)) = of_role else { continue };
        if block.kind == BlockKind::Control && block.takes_stages {
            passed.push(block.gress);
            continue;
        }
        let pipeline = pipelines.iter().find(|one| one.gress == block.gress);
        let (true, Some(pipeline)) = (passed.contains(&block.gress), pipeline) else { continue };
        if let Some((metadata, own, other)) = shared_metadata(typed, *control, pipeline.control) {
            let parameters = (own, other);
            tails.push(Tail { gress: block.gress, control: *control, metadata, parameters });
        }
    }
    tails
}

/// The struct that is a parameter of two controls, behind the headers, with the names of the parameters.
fn shared_metadata(
    typed: &TypedProgram,
    control: NodeId,
    pipeline: NodeId,
) -> Option<(NodeId, Arc<str>, Arc<str>)> {
    let structs = |control: NodeId| {
        let all = typed.program.declarations.iter();
        let found = all.clone().find(|found| found.id == control);
        let parameters = match found.map(|found| &found.kind) {
            Some(DeclarationKind::Control(control)) => control.signature.parameters.as_slice(),
            _ => &[],
        };
        let is_struct = |node: NodeId| {
            let mut all = all.clone();
            all.any(|one| one.id == node && matches!(one.kind, DeclarationKind::Struct(_)))
        };
        let structs = parameters.iter().filter_map(|parameter| {
            match &**typed.declared_types.get(&parameter.id)? {
                TypeKind::Struct(node, arguments) if arguments.is_empty() && is_struct(*node) => {
                    Some((*node, parameter.name.text.clone()))
                }
                _ => None,
            }
        });
        structs.collect::<Vec<_>>()
    };
    // The headers come first.
    let (own, other) = (structs(control), structs(pipeline));
    let (node, name) = own.get(1)?;
    let (_, theirs) = other.iter().skip(1).find(|(other, _)| other == node)?;
    Some((*node, name.clone(), theirs.clone()))
}

/// Collects the controls of a package instance by their roles; returns the name of the package.
fn collect(
    typed: &TypedProgram,
    instance: NodeId,
    arguments: &[Argument],
    prefix: &str,
    roles: &mut Vec<(String, NodeId)>,
) -> Option<Arc<str>> {
    let call = typed.calls.get(&instance)?;
    let Callee::Constructor(package, _) = call.callee else { return None };
    let package = typed.program.declarations.iter().find(|found| found.id == package)?;
    let DeclarationKind::PackageType(signature) = &package.kind else { return None };
    for (parameter, index) in signature.parameters.iter().zip(&call.arguments) {
        let Some(argument) = index.and_then(|index| arguments.get(index)) else { continue };
        let role = format!("{prefix}{}", parameter.name.text);
        collect_argument(typed, &argument.value, &role, roles);
    }
    Some(package.name.text.clone())
}

fn collect_argument(
    typed: &TypedProgram,
    value: &Expression,
    role: &str,
    roles: &mut Vec<(String, NodeId)>,
) {
    let (instance, arguments) = match &value.kind {
        ExpressionKind::Call(call) => (value.id, &call.arguments[..]),
        ExpressionKind::Path(_) => {
            let Some(Definition::Node(node)) = typed.definitions.get(&value.id) else { return };
            let found = typed.program.declarations.iter().find(|found| found.id == *node);
            match found.map(|found| &found.kind) {
                Some(DeclarationKind::Instance { arguments, .. }) => (*node, &arguments[..]),
                _ => return,
            }
        }
        _ => return,
    };
    let Some(call) = typed.calls.get(&instance) else { return };
    let Callee::Constructor(node, _) = call.callee else { return };
    let found = typed.program.declarations.iter().find(|found| found.id == node);
    match found.map(|found| &found.kind) {
        Some(DeclarationKind::Control(_)) => roles.push((role.to_string(), node)),
        Some(DeclarationKind::PackageType(_)) => {
            collect(typed, instance, arguments, &format!("{role}."), roles);
        }
        _ => {}
    }
}
