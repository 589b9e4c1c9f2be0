// SPDX-License-Identifier: Apache-2.0
//! Elaborates the `generate` statements.

use super::builder::Builder;
use super::{Elaborated, Elaborator, Scope};
use crate::core::{Destination, StatementKind as Core, Type};
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
    ) -> Elaborated<()> {
        self.effects_allowed(span, builder)?;
        let destination = match target {
            GenerateTarget::Event | GenerateTarget::Many => Destination::Event,
            GenerateTarget::Switch(switch) => {
                Destination::Switch(self.scalar(switch, scope, builder)?)
            }
            GenerateTarget::Port(port) => Destination::Port(self.scalar(port, scope, builder)?),
            GenerateTarget::Ports(ports) => {
                let ports = self.scalar(ports, scope, builder)?;
                match ports.ty {
                    Type::Group => Destination::Ports(ports),
                    _ => Destination::Port(ports),
                }
            }
        };
        let event = self.scalar(event, scope, builder)?;
        builder.emit(Core::Generate { event, destination }, span);
        Ok(())
    }
}
