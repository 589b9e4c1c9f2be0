// SPDX-License-Identifier: Apache-2.0
//! `generate` and its relatives.

use super::builder::Builder;
use super::{Done, Elaborator, Scope};
use crate::core::{StatementKind as Core, Target, Type};
use crate::syntax::ast::{self, GenerateTarget};
use source::Span;

impl<'a> Elaborator<'a> {
    pub(super) fn generate(
        &mut self,
        target: &'a GenerateTarget,
        event: &'a ast::Expression,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Done<()> {
        self.effects_allowed(span, builder)?;
        let target = match target {
            GenerateTarget::Event | GenerateTarget::Many => Target::Event,
            GenerateTarget::Switch(switch) => Target::Switch(self.scalar(switch, scope, builder)?),
            GenerateTarget::Port(port) => Target::Port(self.scalar(port, scope, builder)?),
            GenerateTarget::Ports(ports) => {
                let ports = self.scalar(ports, scope, builder)?;
                match ports.ty {
                    Type::Group => Target::Ports(ports),
                    _ => Target::Port(ports),
                }
            }
        };
        let event = self.scalar(event, scope, builder)?;
        builder.emit(Core::Generate { event, target }, span);
        Ok(())
    }
}
