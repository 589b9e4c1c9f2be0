// SPDX-License-Identifier: Apache-2.0
//! Warnings about a whole package: what its blocks do to the same packet one after the other, as the
//! description of the architecture says. Warnings about single blocks are the type checker's (`p4::check`).

mod accesses;
mod direct_objects;
mod emitted_headers;
mod gress;
mod invalid_headers;

use crate::Program;
use crate::analysis::Analysis;
use accesses::Accesses;
use p4::typed::TypedProgram;
use source::{Code, Diagnostic, Diagnostics, Span};
use std::cell::OnceCell;

/// Adds the warnings about a program as it was lowered.
pub fn warn(typed: &TypedProgram, program: &Program, diagnostics: &mut Diagnostics) {
    let analysis = Analysis::of(program);
    let mut lints =
        Lints { typed, program, analysis, accesses: OnceCell::new(), found: Vec::new() };
    lints.invalid_headers();
    lints.emitted_headers();
    lints.gress();
    lints.direct_objects();
    let mut found = lints.found;
    found.sort_by_key(|diagnostic| (diagnostic.primary.span, diagnostic.code));
    found.dedup_by_key(|diagnostic| (diagnostic.primary.span, diagnostic.code));
    for diagnostic in found {
        if !is_reported(diagnostics, diagnostic.code, diagnostic.primary.span) {
            diagnostics.push(diagnostic);
        }
    }
}

/// Whether the type checker has said the same of one block, or that nothing uses the object.
fn is_reported(diagnostics: &Diagnostics, code: Code, span: Span) -> bool {
    let unused = p4::codes::typing::UNUSED;
    diagnostics.iter().any(|known| {
        (known.code == code && known.primary.span == span)
            || (known.code == unused && contains(span, known.primary.span))
    })
}

struct Lints<'p> {
    typed: &'p TypedProgram,
    program: &'p Program,
    analysis: Analysis<'p>,
    accesses: OnceCell<Accesses<'p>>,
    found: Vec<Diagnostic>,
}

impl<'p> Lints<'p> {
    /// The places of fields in the source; the tree is searched at the first use.
    fn accesses(&self) -> &Accesses<'p> {
        self.accesses.get_or_init(|| Accesses::of(self.typed))
    }

    fn span(&self, origin: crate::OriginId) -> Span {
        self.program.origins.get(origin.index()).map_or(Span::NONE, |origin| origin.span)
    }
}

/// Whether one place holds another.
fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The last part of a dotted name: `ipv4` of `hdr.ipv4`.
fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
