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
use p4::typed::{Callee, Definition, TypedProgram};
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

    /// The control of a half of the pipeline.
    pub fn pipeline(&self, gress: Gress) -> Option<(&Declaration, &ControlDeclaration)> {
        let found = self.pipelines.iter().find(|pipeline| pipeline.gress == gress)?;
        self.control(found.control)
    }
}

/// Finds the controls that `main` makes the ingress and the egress of a described architecture.
pub(super) fn pipelines(
    typed: &TypedProgram,
) -> Option<(&'static Description, Vec<PipelineControl>)> {
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
    (!pipelines.is_empty()).then_some((description, pipelines))
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
