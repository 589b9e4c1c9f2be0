// SPDX-License-Identifier: Apache-2.0
//! What holds for all documents of one kind: the codes of their diagnostics, the spelling of field names,
//! and the severity of fields that no reader asks for.

use source::{Code, Severity};

/// What holds for all documents of one kind.
#[derive(Debug)]
pub struct Conventions {
    /// The text is not of its notation.
    pub syntax: Code,
    /// How such a document is written, as advice about a mistake of notation; may be empty.
    pub syntax_help: &'static str,
    /// A value of another type.
    pub wrong_type: Code,
    /// A value of the right type that is out of range.
    pub wrong_value: Code,
    /// A required field is missing.
    pub missing: Code,
    /// A field that no reader asks for.
    pub unknown_field: Code,
    /// A field that is there twice.
    pub repeated_field: Code,
    /// The severity of unknown and of repeated fields.
    pub unused_fields: Severity,
    /// How field names are compared.
    pub field_names: FieldNames,
    /// Fields for the author's notes, which are not read.
    pub note_fields: &'static [&'static str],
    /// The document for users that lists all fields.
    pub reference: &'static str,
    /// The spellings of whole numbers within texts; `None` where a number must not be a text.
    pub number_in_text: Option<fn(&str) -> Option<u128>>,
}

/// How field names are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldNames {
    /// As they are written.
    Exact,
    /// Spaces, underscores and hyphens are alike, and so are upper and lower case; readers ask for names in
    /// lower case with spaces.
    Loose,
}
