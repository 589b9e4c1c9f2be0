// SPDX-License-Identifier: Apache-2.0
//! [`Binding`]: which header fields, time, length or port each field of the packet stands for, so that a program runs on
//! frames of real traffic. A binding file is TOML; [`read`] reports all its mistakes.

use crate::codes::binding as codes;
use crate::program::{Field, Program};
use document::{Conventions, FieldNames, Fields, Format, Messages};
use source::{Diagnostic, Diagnostics, FileId, Severity, nearest};

/// The end of a binding file's name; before it stands the name of its program without extension.
pub const SUFFIX: &str = ".bind.toml";

static CONVENTIONS: Conventions = Conventions {
    syntax: codes::SYNTAX,
    syntax_help: "a binding file has sections in brackets and lines such as `source = \"ipv4.source\"`",
    wrong_type: codes::VALUE,
    wrong_value: codes::VALUE,
    missing: codes::VALUE,
    unknown_field: codes::UNKNOWN_SECTION,
    repeated_field: codes::VALUE,
    unused_fields: Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: &[],
    reference: "docs/domino.md",
    number_in_text: None,
};

/// What a field stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A field of a header: its value at the beginning, and written back if the program assigns to it.
    Header(&'static HeaderField),
    /// The number of bytes of the frame.
    Length,
    /// The time of arrival in microseconds.
    Time,
    /// The port that the frame entered by.
    IngressPort,
    /// The port that the frame leaves by.
    EgressPort,
    /// The frame is dropped if the value is not 0.
    Drop,
    /// The frame is marked as having met congestion if the value is not 0 and its sender supports ECN.
    Congestion,
}

/// A field of a header, of at most 32 bits.
#[derive(Debug, PartialEq, Eq)]
pub struct HeaderField {
    /// How binding files name it.
    pub name: &'static str,
    /// The header.
    pub header: Header,
    /// The name of the field in the P4_16 program.
    pub p4_name: &'static str,
    /// Its width.
    pub width_bits: u32,
}

/// A header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Header {
    /// Ethernet.
    Ethernet,
    /// IPv4 without options.
    Ipv4,
    /// The ports, the first words of TCP and UDP alike.
    Ports,
    /// TCP behind its ports.
    Tcp,
    /// UDP behind its ports.
    Udp,
}

impl Header {
    /// Returns the name in the P4_16 program.
    pub fn p4_name(self) -> &'static str {
        match self {
            Header::Ethernet => "ethernet",
            Header::Ipv4 => "ipv4",
            Header::Ports => "ports",
            Header::Tcp => "tcp",
            Header::Udp => "udp",
        }
    }
}

macro_rules! header_fields {
    ($($name:literal = $header:ident $p4_name:literal $width:literal,)*) => {
        &[$(HeaderField { name: $name, header: Header::$header, p4_name: $p4_name, width_bits: $width },)*]
    };
}

/// The fields of headers that a binding can name.
pub static HEADER_FIELDS: &[HeaderField] = header_fields! {
    "ethernet.type" = Ethernet "ether_type" 16,
    "ipv4.dscp" = Ipv4 "dscp" 6,
    "ipv4.ecn" = Ipv4 "ecn" 2,
    "ipv4.length" = Ipv4 "total_length" 16,
    "ipv4.identification" = Ipv4 "identification" 16,
    "ipv4.ttl" = Ipv4 "ttl" 8,
    "ipv4.protocol" = Ipv4 "protocol" 8,
    "ipv4.source" = Ipv4 "source" 32,
    "ipv4.destination" = Ipv4 "destination" 32,
    "l4.source_port" = Ports "source_port" 16,
    "l4.destination_port" = Ports "destination_port" 16,
    "tcp.sequence" = Tcp "sequence" 32,
    "tcp.acknowledgement" = Tcp "acknowledgement" 32,
    "tcp.flags" = Tcp "flags" 8,
    "tcp.window" = Tcp "window" 16,
    "udp.length" = Udp "udp_length" 16,
};

/// What is no field of a header.
const OTHERS: &[(&str, Bound)] = &[
    ("length", Bound::Length),
    ("time", Bound::Time),
    ("ingress_port", Bound::IngressPort),
    ("egress_port", Bound::EgressPort),
    ("drop", Bound::Drop),
    ("congestion", Bound::Congestion),
];

/// A binding of a program's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// What each field stands for. Others are 0 at the beginning.
    pub fields: Vec<Option<Bound>>,
    /// Ports by which frames leave, by the port that they entered by; frames of other ports leave by their own.
    pub ports: Vec<(u32, u32)>,
}

impl Binding {
    /// Returns the field that drops packets.
    pub fn drop_field(&self) -> Option<usize> {
        self.fields.iter().position(|bound| *bound == Some(Bound::Drop))
    }

    /// Returns the headers that a frame needs, in the order in which they stand.
    pub fn headers(&self) -> Vec<Header> {
        let mut headers: Vec<Header> = Vec::new();
        for bound in self.fields.iter().flatten() {
            match bound {
                Bound::Header(field) => headers.push(field.header),
                Bound::Congestion => headers.push(Header::Ipv4),
                _ => {}
            }
        }
        headers.sort();
        headers.dedup();
        headers
    }
}

/// The largest port of v1model.
const MAX_PORT: u64 = 510;

/// Reads a binding file.
///
/// # Errors
///
/// What is wrong, with places in `file`, whose text this is.
pub fn read(file: FileId, text: &str, program: &Program) -> Result<Binding, Diagnostics> {
    let messages = Messages::new(&CONVENTIONS, Format::Toml);
    let mut binding = Binding { fields: vec![None; program.fields.len()], ports: Vec::new() };
    if let Some(root) = messages.parse(file, text)
        && let Some(mut sections) = Fields::of(&root, "the binding file", &messages)
    {
        let fields = sections.section("fields");
        for field in fields.all() {
            if let Some((index, bound)) =
                bound_field(&field.name, field.name_span, &field.value, program, &messages)
            {
                binding.fields[index] = Some(bound);
            }
        }
        let ports = sections.section("ports");
        for field in ports.all() {
            let from: Option<u32> =
                field.name.parse().ok().filter(|port| u64::from(*port) <= MAX_PORT);
            let to = messages.number(&field.value, "a port", 0..=MAX_PORT);
            match (from, to) {
                (Some(from), Some(to)) => binding.ports.push((from, to as u32)),
                (None, _) => {
                    let message = format!("`{}` is no port", field.name);
                    let help = format!("ports are numbers from 0 to {MAX_PORT}");
                    messages.error(codes::VALUE, field.name_span, message, &help);
                }
                (Some(_), None) => {}
            }
        }
        sections.finish();
    }
    match messages.has_errors() {
        true => Err(messages.into_diagnostics()),
        false => Ok(binding),
    }
}

/// Reads what a field stands for.
fn bound_field(
    name: &str,
    name_span: source::Span,
    value: &document::Node,
    program: &Program,
    messages: &Messages,
) -> Option<(usize, Bound)> {
    let index = program.fields.iter().position(|field: &Field| &*field.name == name);
    if index.is_none() {
        let message = format!("the packet has no field `{name}`");
        let found = Diagnostic::error(codes::UNKNOWN_FIELD, name_span, message);
        let names = program.fields.iter().map(|field| &*field.name);
        messages.push(match nearest(name, names.clone()) {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found.help(format!("the fields are {}", names.collect::<Vec<_>>().join(", "))),
        });
    }
    let text = messages.text(value, &format!("`{name}`"))?;
    let header = HEADER_FIELDS.iter().find(|field| field.name == text).map(Bound::Header);
    let bound =
        header.or_else(|| OTHERS.iter().find(|(other, _)| *other == text).map(|(_, bound)| *bound));
    if bound.is_none() {
        let message = format!("no header has a field `{text}`");
        let found = Diagnostic::error(codes::UNKNOWN_SOURCE, value.span, message);
        let names = HEADER_FIELDS
            .iter()
            .map(|field| field.name)
            .chain(OTHERS.iter().map(|(name, _)| *name));
        messages.push(match nearest(text, names.clone()) {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found.help(format!(
                "a field stands for one of {}",
                names.collect::<Vec<_>>().join(", ")
            )),
        });
    }
    Some((index?, bound?))
}
