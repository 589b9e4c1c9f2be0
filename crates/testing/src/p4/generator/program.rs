// SPDX-License-Identifier: Apache-2.0
//! A whole program from its pieces.

use super::{Generated, Generator, Place};
use crate::p4::piece::{Piece, Role};

impl Generator<'_> {
    /// Makes the program.
    pub(super) fn program(mut self) -> Generated {
        let mut parts = vec![Piece::text("#include <core.p4>\n#include <v1model.p4>\n")];
        parts.extend(self.enums_and_errors());
        let count = self.amount(2, 5);
        for at in 0..count {
            let varbit = at > 0 && self.choices.chance(18);
            let header = self.header_type(varbit);
            parts.push(header);
        }
        for _ in 0..self.choices.between(0, 2) {
            let declared = self.struct_type();
            parts.push(declared);
        }
        for _ in 0..self.choices.between(0, 2) {
            let function = self.function();
            parts.push(function);
        }
        parts.push(self.headers_struct());
        parts.push(self.metadata_struct());
        let (parser, model) = self.parser();
        parts.push(parser);
        parts.push(self.checksum("MyVerify", "verify_checksum"));
        parts.push(self.pipeline(Place::Ingress));
        parts.push(self.pipeline(Place::Egress));
        parts.push(self.checksum("MyCompute", "update_checksum"));
        parts.push(self.deparser());
        parts.push(Piece::text(
            "V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), \
             MyDeparser()) main;\n",
        ));
        Generated {
            tree: Piece::sequence(Role::Fixed, parts),
            parser: model,
            palette: self.palette.clone(),
        }
    }
}
