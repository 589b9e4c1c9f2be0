// SPDX-License-Identifier: Apache-2.0
//! Resolves captures as inputs: packets for the program's parser, or events whose arguments are fields of
//! packets. The caller reads the bytes; `network::packet_fields` has the fields.

use super::super::codes;
use super::super::inputs::{Input, Source, SourceKind};
use super::super::setup::ReadCapture;
use super::Resolver;
use crate::interpreter::Value;
use crate::specification::{Argument, CaptureEvent, FieldSpans};
use lucid::core::arithmetic::mask;
use lucid::core::{EventId, Type};
use network::capture::{CaptureReader, CapturedPacket};
use network::links::End;
use network::packet_fields::PacketField;
use source::Diagnostic;
use std::sync::Arc;

/// A capture as an input.
pub(super) struct Capture<'a> {
    pub(super) file: &'a str,
    pub(super) event: Option<&'a CaptureEvent>,
    pub(super) time_scale: f64,
}

/// Where an argument of a captured packet's event comes from.
enum CaptureArgument {
    Constant(Value),
    Field(PacketField),
}

fn read_packets(file: &str, read: ReadCapture<'_>) -> Result<Vec<CapturedPacket>, String> {
    let bytes = read(file)?;
    let reader = CaptureReader::new(bytes.as_slice()).map_err(|error| error.to_string())?;
    reader.map(|packet| packet.map_err(|error| error.to_string())).collect()
}

impl Resolver<'_> {
    /// Adds the packets of a capture; the first comes at `time_ps`. A packet without one of the
    /// fields that an event wants is left out.
    pub(super) fn capture(
        &mut self,
        sources: &mut Vec<Source>,
        (time_ps, locations): (u64, &[End]),
        capture: &Capture<'_>,
        field_spans: &FieldSpans,
        read_capture: ReadCapture<'_>,
    ) {
        let event = match capture.event {
            None if self.has_parser(field_spans) => None,
            None => return,
            Some(event) => match self.capture_event(event, field_spans) {
                Some(event) => Some(event),
                None => return,
            },
        };
        let packets = match read_packets(capture.file, read_capture) {
            Ok(packets) => packets,
            Err(why) => {
                let message = format!("the capture `{}`: {why}", capture.file);
                self.found.push(Diagnostic::error(codes::CAPTURE, field_spans.whole, message));
                return;
            }
        };
        let first_ps = packets.first().map_or(0, |packet| packet.timestamp_ps);
        for packet in packets {
            let since_ps = (packet.timestamp_ps - first_ps).max(0) as f64 * capture.time_scale;
            let time_ps = time_ps.saturating_add(since_ps as u64);
            let bytes: Arc<[u8]> = Arc::from(packet.data.as_slice());
            let values = event.as_ref().map(|(event, arguments)| {
                (*event, self.packet_values(*event, arguments, &packet, &bytes))
            });
            for at in locations {
                let input = match &values {
                    None => Input::Packet { at: *at, bytes: bytes.clone() },
                    Some((_, None)) => continue,
                    Some((event, Some(values))) => {
                        let arguments = self.arguments(*event, values);
                        Input::Event { at: *at, event: *event, arguments }
                    }
                };
                sources.push(Source { time_ps, kind: SourceKind::Single(input) });
            }
        }
    }

    /// The event that packets become, and where its arguments come from.
    fn capture_event(
        &mut self,
        from: &CaptureEvent,
        field_spans: &FieldSpans,
    ) -> Option<(EventId, Vec<CaptureArgument>)> {
        let stand_ins: Vec<Argument> =
            from.arguments.iter().map(|text| Argument::Text(text.clone())).collect();
        let (event, parts) = self.event_and_parts(&from.name, &stand_ins, field_spans)?;
        self.count_fits(event, parts.len(), field_spans)?;
        let mut arguments = Vec::new();
        let count = self.program.events[event.0 as usize].parameters.len();
        for at in 0..count {
            let part = parts.get(at).copied();
            let ty = self.program.events[event.0 as usize].parameters[at].ty;
            let name = part.map(|part| part.argument.to_string()).unwrap_or_default();
            let field = PacketField::named(name.trim_matches('"'));
            arguments.push(match field {
                Some(field) if matches!(ty, Type::Int(_) | Type::Payload) => {
                    CaptureArgument::Field(field)
                }
                _ => {
                    let value = self.fit_argument(event, at, part, field_spans);
                    if value.is_none() {
                        let names = PacketField::NAMES.iter().map(|known| known.0);
                        let names: Vec<&str> = names.collect();
                        let message = format!("packets have no field {name}");
                        let place = part.map_or(field_spans.whole, |part| part.span(field_spans));
                        let error = Diagnostic::error(codes::CAPTURE, place, message);
                        self.found.push(error.help(format!("fields are {}", names.join(", "))));
                    }
                    CaptureArgument::Constant(value?)
                }
            });
        }
        Some((event, arguments))
    }

    fn packet_values(
        &self,
        event: EventId,
        arguments: &[CaptureArgument],
        packet: &CapturedPacket,
        bytes: &Arc<[u8]>,
    ) -> Option<Vec<Value>> {
        let parameters = &self.program.events[event.0 as usize].parameters;
        let values = arguments.iter().zip(parameters).map(|(argument, parameter)| match argument {
            CaptureArgument::Constant(value) => Some(value.clone()),
            CaptureArgument::Field(field) => match parameter.ty {
                Type::Int(width_bits) => {
                    field.read(packet).map(|value| Value::Int(value & mask(width_bits)))
                }
                _ => Some(Value::Payload(bytes.clone())),
            },
        });
        values.collect()
    }
}
