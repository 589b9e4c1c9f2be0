// SPDX-License-Identifier: Apache-2.0
//! The program in the making: what its variables are called in P4_16, and the pieces of text with the
//! places in the Lucid source that they stand for. What the pieces say is decided by the other modules.

use super::event_headers::EventHeaders;
use super::indexes::{self, ParserIndex};
use super::parts::Part;
use crate::atomic::program::{
    ArrayId, AtomicProgram, Given, Hash, Index, Operand, SlotField, VariableKind,
};
use crate::compiled::{GlobalPlace, TableCopy};
use crate::expressions::{literal, wire_bits};
use crate::interface::TargetInterface;
use crate::names::Names;
use crate::options::Options;
pub(super) use crate::template::Piece;
use lucid::core::{EventId, GlobalId, Program, Type};
use pisa::{Gress, Layout, Problem, VariableId};
use source::{Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// Names that the compiler declares in a program.
const OWN_NAMES: &[&str] = &[
    "EgressDeparser",
    "EgressParser",
    "Egress",
    "IngressDeparser",
    "IngressParser",
    "Ingress",
    "bridge_h",
    "eg_dprsr_md",
    "eg_intr_md",
    "eg_md",
    "eg_md_t",
    "eg_oport_md",
    "eg_prsr_md",
    "frame_h",
    "hdr",
    "headers_t",
    "ig_dprsr_md",
    "ig_intr_md",
    "ig_md",
    "ig_md_t",
    "ig_prsr_md",
    "ig_tm_md",
    "log_msg",
    "number_h",
    "pipe",
    "pkt",
    "this_switch",
    "dispatch",
    "forward",
    "forward_to",
    "serialise",
    "switch_values",
    "set_switch_values",
    "leave",
    "before",
    "after",
    "before_here",
    "after_here",
    "own_recirculation_port",
    "set_egress_values",
    "egress_values",
    "wait",
    "waited",
    "mask",
    "masked",
    "count_down",
    "counted",
    "counted_here",
    "keep_stamp",
    "PLACE_HERE",
    "PLACE_SWITCH",
    "PLACE_PORT",
    "PLACE_GROUP",
    "PLACE_FLOOD",
    "PLACE_SWITCHES",
    "PLACE_LATER",
    "SOURCE",
    "SOURCE_CUT",
    "mirror_h",
    "mirror",
    "cut",
    "ETHERTYPE_LUCID",
    "ETHERTYPE_FLOW_CONTROL",
    "GENERATOR_PORT",
    "pause_h",
    "member",
    "at_switch",
    "RECIRCULATION_PORT",
    "DELAY_QUEUE",
    "EVENT_QUEUE",
];

/// The interface that programs include.
static INTERFACE: LazyLock<TargetInterface> =
    LazyLock::new(|| TargetInterface::new("tna.p4", OWN_NAMES));

/// Where a value is: a field of the surroundings or of the packet, or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// What P4 calls it.
    pub(super) text: String,
    /// Its width there, in bits.
    pub(super) width_bits: u32,
    /// Known before the program runs.
    pub(super) known: Option<u128>,
}

/// What a program is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'p> {
    pub(super) program: &'p Program,
    pub(super) atomic: &'p AtomicProgram,
    pub(super) problem: &'p Problem,
    pub(super) parts: &'p [Part],
    pub(super) layout: &'p Layout,
    pub(super) options: &'p Options,
}

/// Instances that were declared, by control.
#[derive(Clone, Debug, Default)]
pub(super) struct Hashes {
    pub(super) known: Vec<(Gress, Hash, Vec<String>)>,
}

/// What a register and its actions are called.
#[derive(Clone, Debug, Default)]
pub(super) struct RegisterNames {
    pub(super) actions: Vec<String>,
    /// Widths of what they return.
    pub(super) returned_bits: Vec<u32>,
    /// Width of the index.
    pub(super) index_bits: u32,
}

/// What tables of one stage may both write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touched {
    /// A variable.
    Variable(VariableId),
    /// The headers of a slot.
    Slot(u32),
}

/// The program in the making.
pub(super) struct Context<'p> {
    pub(super) program: &'p Program,
    pub(super) atomic: &'p AtomicProgram,
    pub(super) problem: &'p Problem,
    pub(super) layout: &'p Layout,
    pub(super) parts: &'p [Part],
    pub(super) options: &'p Options,
    pub(super) pieces: Vec<Piece>,
    /// Types that declarations inside controls need; they stand before.
    pub(super) types: Vec<Piece>,
    pub(super) comments: Vec<(String, String)>,
    pub(super) found: Diagnostics,
    pub(super) names: Names,
    pub(super) events: EventHeaders,
    pub(super) hashes: Hashes,
    pub(super) registers: Vec<RegisterNames>,
    pub(super) globals: Vec<GlobalPlace>,
    /// Fields of metadata by variable, without the struct's name; empty for those that have none.
    pub(super) fields: Vec<String>,
    /// Tables that were declared: half, stage, name, what their actions write.
    pub(super) placed: Vec<(Gress, usize, String, BTreeSet<Touched>)>,
    /// Fields of metadata for externs.
    pub(super) externs: Vec<String>,
    /// Indexes of arrays that the parser sets.
    pub(super) indexes: BTreeMap<ArrayId, ParserIndex>,
}

impl<'p> Context<'p> {
    pub(super) fn new(made: &Made<'p>) -> Context<'p> {
        let Made { program, atomic, problem, parts, layout, options } = *made;
        let mut names = INTERFACE.names();
        let events = EventHeaders::new(program, atomic, &mut names);
        let mut metadata = Names::new(&[
            "dispatched",
            "route",
            "ingress_port",
            "self_switch",
            "recirculation_port",
            "elapsed",
            "arrived",
            "kept",
            "leaves",
            "generated",
            "session",
            "mirrored",
        ]);
        let fields = atomic
            .variables
            .iter()
            .map(|variable| match variable.kind {
                VariableKind::Temporary => metadata.fresh(&variable.name),
                _ => String::new(),
            })
            .collect();
        let externs = program.externs.iter().map(|one| metadata.fresh(&one.name)).collect();
        let indexes = indexes::of(program, atomic, options, &mut metadata);
        Context {
            program,
            atomic,
            problem,
            layout,
            parts,
            options,
            pieces: Vec::new(),
            types: Vec::new(),
            comments: Vec::new(),
            found: Diagnostics::new(),
            names,
            events,
            hashes: Hashes::default(),
            registers: Vec::new(),
            globals: Vec::new(),
            fields,
            placed: Vec::new(),
            externs,
            indexes,
        }
    }

    /// Adds text of the program.
    pub(super) fn put(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
    }

    /// A comment before the top-level declaration of this name.
    pub(super) fn comment(&mut self, declaration: &str, text: impl Into<String>) {
        self.comments.push((declaration.to_string(), text.into()));
    }

    /// The control-plane and register name of a global.
    pub(super) fn place(&mut self, place: GlobalPlace) {
        self.globals.push(place);
    }

    /// A table that stands for a global, perhaps beside others.
    pub(super) fn place_copy(&mut self, id: GlobalId, copy: TableCopy) {
        let placed = self.globals.iter_mut().find_map(|place| match place {
            GlobalPlace::Table { global, copies } if *global == id => Some(copies),
            _ => None,
        });
        match placed {
            Some(copies) => copies.push(copy),
            None => self.place(GlobalPlace::Table { global: id, copies: vec![copy] }),
        }
    }

    /// Width of an atomic variable in bits.
    pub(super) fn width(&self, id: VariableId) -> u32 {
        self.atomic.variables.get(id.0 as usize).map_or(1, |variable| variable.width_bits)
    }

    /// Where the value of a variable is in a half of the switch.
    pub(super) fn base(&self, id: VariableId, gress: Gress) -> Base {
        let Some(variable) = self.atomic.variables.get(id.0 as usize) else {
            return Base { text: "1w0".into(), width_bits: 1, known: Some(0) };
        };
        let metadata = match gress {
            Gress::Ingress => "ig_md",
            Gress::Egress => "eg_md",
        };
        let field = |text: String, width_bits: u32| Base { text, width_bits, known: None };
        match variable.kind {
            VariableKind::Dispatched(_) => field(format!("{metadata}.dispatched"), 16),
            VariableKind::Parameter { event, parameter } => {
                field(self.events.incoming(gress, event, parameter), variable.width_bits)
            }
            VariableKind::Temporary => {
                field(format!("{metadata}.{}", self.fields[id.0 as usize]), variable.width_bits)
            }
            VariableKind::Slot { gress: Gress::Egress, field: of, .. } => {
                // What an egress handler generates stands in the frame of the packet that leaves.
                field(format!("hdr.frame.{}", frame_field(of)), variable.width_bits)
            }
            VariableKind::Slot { slot, field: of, .. } => {
                field(format!("hdr.slot{slot}.{}", frame_field(of)), variable.width_bits)
            }
            VariableKind::Argument { gress: Gress::Egress, event, parameter, .. } => {
                field(self.events.leaving(event, parameter), variable.width_bits)
            }
            VariableKind::Argument { slot, event, parameter, .. } => {
                field(self.events.outgoing(slot, event, parameter), variable.width_bits)
            }
            VariableKind::Given(given) => self.given(given, gress, metadata),
        }
    }

    fn given(&self, given: Given, gress: Gress, metadata: &str) -> Base {
        let field = |text: String, width_bits: u32| Base { text, width_bits, known: None };
        match given {
            Given::SelfSwitch => field(format!("{metadata}.self_switch"), 32),
            Given::IngressPort => match gress {
                Gress::Ingress => field("ig_md.ingress_port".into(), 9),
                // Egress handlers see the port by which the event leaves.
                Gress::Egress => field("eg_intr_md.egress_port".into(), 9),
            },
            Given::RecirculationPort if self.options.has_own_recirculation_ports() => {
                field(format!("{metadata}.recirculation_port"), 9)
            }
            Given::RecirculationPort => Base {
                text: "RECIRCULATION_PORT".into(),
                width_bits: 9,
                known: Some(u128::from(self.options.recirculation_port)),
            },
            Given::Time => match gress {
                // When the pass began; the packet may have waited for it since it arrived.
                Gress::Ingress => field("ig_prsr_md.global_tstamp".into(), 48),
                Gress::Egress => field("eg_prsr_md.global_tstamp".into(), 48),
            },
            Given::DequeueDepth => match gress {
                Gress::Egress => field("eg_intr_md.deq_qdepth".into(), 19),
                Gress::Ingress => Base { text: "19w0".into(), width_bits: 19, known: Some(0) },
            },
            Given::Extern(id) => {
                let ty =
                    self.program.externs.get(id.0 as usize).map_or(Type::Int(32), |one| one.ty);
                let name = self.externs.get(id.0 as usize).cloned().unwrap_or_default();
                field(format!("{metadata}.{name}"), wire_bits(ty).max(1))
            }
        }
    }

    /// The value of a variable, cut or filled with zeros to a width.
    pub(super) fn value(&self, id: VariableId, width_bits: u32, gress: Gress) -> String {
        let base = self.base(id, gress);
        if let Some(known) = base.known {
            return literal(known & ones(self.width(id)), width_bits);
        }
        // What the variable holds of the field, then what the use takes of the variable.
        let taken = base.width_bits.min(self.width(id)).min(width_bits);
        resized(&base.text, base.width_bits, taken, width_bits)
    }

    /// The value of an operand at a width.
    pub(super) fn operand(&self, operand: Operand, width_bits: u32, gress: Gress) -> String {
        match operand {
            Operand::Variable(id) => self.value(id, width_bits, gress),
            Operand::Constant(value) => literal(value, width_bits),
        }
    }

    /// The recirculation port in tables of ingress.
    pub(super) fn back(&self) -> &'static str {
        match self.options.has_own_recirculation_ports() {
            true => "ig_md.recirculation_port",
            false => "RECIRCULATION_PORT",
        }
    }

    /// The time stamp of a waiting event: 16 bits of a time.
    pub(super) fn stamp(&self, time: &str) -> String {
        let shift = self.options.stamp_shift();
        format!("{time}[{}:{shift}]", 15 + shift)
    }

    /// The recirculation port as a keyset of the ingress parser; a set stands alone in its `select`.
    pub(super) fn back_keyset(&self) -> &'static str {
        match self.options.has_own_recirculation_ports() {
            true => "own_recirculation_port",
            false => "RECIRCULATION_PORT",
        }
    }

    /// The index that the parser sets, where it is the one of an access.
    pub(super) fn parser_index(&self, array: ArrayId, index: &Index) -> Option<&ParserIndex> {
        let Index::Operand(Operand::Variable(id)) = index else { return None };
        let VariableKind::Parameter { event, parameter } = self.atomic.variable(*id).kind else {
            return None;
        };
        let set = self.indexes.get(&array)?;
        (set.parameters.get(&event) == Some(&parameter)).then_some(set)
    }

    /// What the parser does for the indexes of an event's handler; `value` is the text of a parameter.
    pub(super) fn set_indexes(&self, event: EventId, value: impl Fn(u32) -> String) -> String {
        let set = |one: &ParserIndex| {
            let parameter = one.parameters.get(&event)?;
            Some(format!("ig_md.{} = {};", one.field, value(*parameter)))
        };
        self.indexes.values().filter_map(set).collect()
    }

    /// What is assigned to.
    pub(super) fn target(&self, id: VariableId, gress: Gress) -> String {
        self.base(id, gress).text
    }
}

/// A field of a frame, as the program calls it.
pub(super) fn frame_field(of: SlotField) -> &'static str {
    match of {
        SlotField::PlaceKind => "place_kind",
        SlotField::Place => "place",
        SlotField::DelayNs => "delay_ns",
        SlotField::Number => "number",
    }
}

/// The low bits of a field, filled with zeros to a width.
pub(super) fn resized(field: &str, field_bits: u32, taken_bits: u32, width_bits: u32) -> String {
    let low = match taken_bits < field_bits {
        true => format!("{field}[{}:0]", taken_bits - 1),
        false => field.to_string(),
    };
    if taken_bits < width_bits { format!("(bit<{width_bits}>){low}") } else { low }
}

/// That many ones at the low end.
pub(super) fn ones(width_bits: u32) -> u128 {
    lucid::core::arithmetic::mask(width_bits)
}

/// A name as the control plane has it.
pub(super) fn control_name(control: &str, name: &str) -> Arc<str> {
    format!("{control}.{name}").into()
}
