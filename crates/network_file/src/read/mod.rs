// SPDX-License-Identifier: Apache-2.0
//! Reads a network from a document: recognises the kind of the file, decodes it by the table of `fields`, resolves names
//! and checks what the items say together.

mod addresses;
mod applications;
mod checks;
mod context;
mod controllers;
mod events;
mod expectations;
mod kind;
mod links;
mod network;
mod nodes;
mod shell;
mod tcp;
mod tutorial;

use crate::codes;
use crate::model::Network;
use document::{Conventions, FieldNames, Format, Messages, NodeKind};
use source::{Diagnostics, FileId, Severity, SourceMap};

/// How network files are written.
static CONVENTIONS: Conventions = Conventions {
    syntax: codes::SYNTAX,
    syntax_help: "",
    wrong_type: codes::WRONG_TYPE,
    wrong_value: codes::BAD_VALUE,
    missing: codes::MISSING,
    unknown_field: codes::UNKNOWN_FIELD,
    repeated_field: codes::REPEATED_FIELD,
    unused_fields: Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: NOTE_FIELDS,
    reference: "docs/networks.md",
    // Some files of the tutorials write numbers as texts.
    number_in_text: Some(|text| text.trim().parse().ok()),
};

/// Fields of every object for the author's notes.
pub const NOTE_FIELDS: &[&str] = &["$schema", "comment", "description"];

/// What the reader accepts, and what the command line adds to the file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The program of switches without one.
    pub program: Option<String>,
    /// The file that the network completes ([`base_of`]).
    pub base: Option<FileId>,
}

/// What a file describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A network.
    Network(Box<Network>),
    /// A run of a Lucid program, which another reader reads.
    LucidRun,
}

/// Returns whether a file has fields that network files have and specifications of Lucid runs have not.
pub fn is_network(map: &SourceMap, file: FileId, format: Format) -> bool {
    let messages = Messages::new(&CONVENTIONS, format);
    messages.parse(file, map.text(file)).is_some_and(|root| kind::is_network(&root))
}

/// Returns the file that a network file completes, if it names one.
pub fn base_of(map: &SourceMap, file: FileId, format: Format) -> Option<String> {
    let messages = Messages::new(&CONVENTIONS, format);
    let root = messages.parse(file, map.text(file))?;
    let NodeKind::Object(fields) = &root.kind else { return None };
    let base = fields.iter().find(|field| field.name == "base")?;
    match &base.value.kind {
        NodeKind::Text(name) => Some(name.clone()),
        _ => None,
    }
}

/// Reads a file. There is a result unless the diagnostics hold an error.
pub fn read(
    map: &SourceMap,
    file: FileId,
    format: Format,
    options: &Options,
) -> (Option<Kind>, Diagnostics) {
    let messages = Messages::new(&CONVENTIONS, format);
    let root = messages.parse(file, map.text(file));
    let read = root.and_then(|root| {
        Some(match kind::of(&root) {
            kind::FileKind::LucidRun => Kind::LucidRun,
            kind::FileKind::Tutorial => {
                Kind::Network(Box::new(tutorial::read(&root, options, &messages)?))
            }
            kind::FileKind::Network => {
                let base = options
                    .base
                    .and_then(|base| messages.parse_as(Format::Json, base, map.text(base)));
                let network = network::read(&root, base.as_ref(), options, &messages)?;
                Kind::Network(Box::new(network))
            }
        })
    });
    (read.filter(|_| !messages.has_errors()), messages.into_diagnostics())
}
