// SPDX-License-Identifier: Apache-2.0
//! Resolves inputs of a specification: their times, places and kinds.

use super::super::codes;
use super::super::inputs::{Generator, Input, ResolvedDraw, Source, SourceKind};
use super::super::setup::ReadCapture;
use super::captures::Capture;
use super::{Resolver, parameter_types, type_name};
use crate::interpreter::{Arguments, Slot, Value, slots};
use crate::specification::{self, Argument, Draw, FieldSpans, InputKind};
use lucid::core::arithmetic::mask;
use lucid::core::{EventId, Type};
use network::links::End;
use source::{Diagnostic, Span};
use std::sync::Arc;

impl Resolver<'_> {
    /// All inputs in the order of the file. An input without a time comes the default gap after the
    /// one before it; the first at 0.
    pub(in super::super) fn sources(&mut self, read_capture: ReadCapture<'_>) -> Vec<Source> {
        let run = self.run;
        let mut sources = Vec::new();
        let mut next_ps = 0u64;
        for input in &run.inputs {
            let time_ps = input.time_ps.unwrap_or(next_ps);
            next_ps = time_ps.saturating_add(run.default_input_gap_ps);
            let field_spans = &input.field_spans;
            let locations =
                if input.locations.is_empty() { &[(0, 0)] } else { input.locations.as_slice() };
            if !locations.iter().all(|location| self.switch_exists(location.0, field_spans.whole)) {
                continue;
            }
            self.source(&mut sources, time_ps, locations, &input.kind, field_spans, read_capture);
        }
        sources
    }

    /// One input of its own, except for generators and captures.
    pub(in super::super) fn single_inputs(&mut self, input: &specification::Input) -> Vec<Input> {
        let locations =
            if input.locations.is_empty() { &[(0, 0)] } else { input.locations.as_slice() };
        let field_spans = &input.field_spans;
        if !locations.iter().all(|location| self.switch_exists(location.0, field_spans.whole)) {
            return Vec::new();
        }
        if matches!(input.kind, InputKind::Generator(_)) {
            let message = "a generator can only stand in a specification";
            let error = Diagnostic::error(codes::MISFIT, field_spans.whole, message);
            self.found.push(error.help("give its events one by one"));
            return Vec::new();
        }
        let mut sources = Vec::new();
        let mut none = |_: &str| Err("a capture can only stand in a specification".to_string());
        self.source(&mut sources, 0, locations, &input.kind, field_spans, &mut none);
        let single = |source: Source| match source.kind {
            SourceKind::Single(input) => Some(input),
            SourceKind::Generator(_) => None,
        };
        sources.into_iter().filter_map(single).collect()
    }

    fn source(
        &mut self,
        sources: &mut Vec<Source>,
        time_ps: u64,
        locations: &[End],
        kind: &InputKind,
        field_spans: &FieldSpans,
        read_capture: ReadCapture<'_>,
    ) {
        let mut single = |input| {
            sources.push(Source { time_ps, kind: SourceKind::Single(input) });
        };
        match kind {
            InputKind::Event { name, arguments } => {
                let Some((event, values)) = self.event(name, arguments, field_spans) else {
                    return;
                };
                let arguments = self.arguments(event, &values);
                for at in locations {
                    single(Input::Event { at: *at, event, arguments: arguments.clone() });
                }
            }
            InputKind::Packet { bytes } => {
                if !self.has_parser(field_spans) {
                    return;
                }
                let bytes: Arc<[u8]> = Arc::from(bytes.as_slice());
                for at in locations {
                    single(Input::Packet { at: *at, bytes: bytes.clone() });
                }
            }
            InputKind::Command(command) => {
                let Some(command) = self.command(command, field_spans) else { return };
                let command = Arc::new(command);
                for (switch, _) in locations {
                    single(Input::Command { switch: *switch, command: command.clone() });
                }
            }
            InputKind::Link { ends, up } => {
                if self.link_exists(*ends, field_spans) {
                    single(Input::Link { ends: *ends, up: *up });
                }
            }
            InputKind::Generator(generator) => {
                let Some(generator) = self.generator(generator, locations, field_spans) else {
                    return;
                };
                sources.push(Source { time_ps, kind: SourceKind::Generator(generator) });
            }
            InputKind::Capture { file, event, time_scale } => {
                let capture = Capture { file, event: event.as_ref(), time_scale: *time_scale };
                self.capture(sources, (time_ps, locations), &capture, field_spans, read_capture);
            }
        }
    }

    fn slots(&self, event: EventId) -> Vec<Slot> {
        slots(&parameter_types(&self.program.events[event.0 as usize])).0
    }

    pub(in super::super) fn arguments(&self, event: EventId, values: &[Value]) -> Arguments {
        let mut arguments = Arguments::default();
        arguments.set(values, &self.slots(event));
        arguments
    }

    pub(in super::super) fn has_parser(&mut self, field_spans: &FieldSpans) -> bool {
        if self.program.main_parser.is_some() {
            return true;
        }
        let message = "a packet for a program without a parser";
        let help = "declare `parser main(bitstring pkt) { ... }`, or give events by name";
        // Captures of the command line have no place; one error at the program stands for all of them.
        let events = self.program.events.first().map_or(Span::NONE, |event| event.span);
        let (span, label) = match field_spans.whole == Span::NONE {
            true => (events, "no parser makes events of bytes"),
            false => (field_spans.whole, ""),
        };
        let is_told = |one: &Diagnostic| one.code == codes::NO_PARSER && one.primary.span == span;
        if !self.found.iter().any(is_told) {
            let error = Diagnostic::error(codes::NO_PARSER, span, message);
            self.found.push(error.here(label).help(help));
        }
        false
    }

    fn link_exists(&mut self, ends: [End; 2], field_spans: &FieldSpans) -> bool {
        let run = self.run;
        let joined = match &run.links {
            crate::specification::Links::FullMesh => {
                let [one, other] = ends;
                let count = self.switches;
                one.0 < count && other.0 < count && one != other && one == (other.1, other.0)
            }
            crate::specification::Links::List(list) => {
                list.iter().any(|link| link.ends == ends || link.ends == [ends[1], ends[0]])
            }
        };
        if !joined {
            let [one, other] = ends;
            let message =
                format!("there is no link between {}:{} and {}:{}", one.0, one.1, other.0, other.1);
            let error = Diagnostic::error(codes::UNKNOWN_PLACE, field_spans.whole, message);
            self.found.push(error.help("name both ends as `links` does, \"switch:port\""));
        }
        joined
    }

    fn generator(
        &mut self,
        generator: &crate::specification::Generator,
        locations: &[End],
        field_spans: &FieldSpans,
    ) -> Option<Generator> {
        // Names are looked up as for a single event; a value that is drawn stands there as 0.
        let stand_ins: Vec<Argument> = generator
            .arguments
            .iter()
            .map(|draw| match draw {
                Draw::Constant(argument) => argument.clone(),
                _ => Argument::Int(0),
            })
            .collect();
        let (event, parts) = self.event_and_parts(&generator.name, &stand_ins, field_spans)?;
        self.count_fits(event, parts.len(), field_spans)?;
        let mut draws = Vec::new();
        for at in 0..self.program.events[event.0 as usize].parameters.len() {
            let part = parts.get(at).copied();
            draws.push(match part.map(|part| &generator.arguments[part.number]) {
                None | Some(Draw::Constant(_)) => {
                    ResolvedDraw::Constant(self.fit_argument(event, at, part, field_spans)?)
                }
                Some(draw) => {
                    let place = part.map_or(field_spans.whole, |part| part.span(field_spans));
                    self.draw(draw, event, at, place)?
                }
            });
        }
        let mut locations = locations.to_vec();
        locations.sort_unstable();
        let slots = self.slots(event);
        let (count, gap) = (generator.count, generator.gap.clone());
        Some(Generator { locations, event, slots, draws, count, gap })
    }

    /// A draw whose values all fit their parameter.
    fn draw(
        &mut self,
        draw: &Draw,
        event: EventId,
        at: usize,
        place: Span,
    ) -> Option<ResolvedDraw> {
        let parameter = &self.program.events[event.0 as usize].parameters[at];
        let mut wrong = |message: String| {
            let error = Diagnostic::error(codes::MISFIT, place, message);
            self.found.push(error.label(parameter.span, "declared here"));
            None
        };
        let Type::Int(width_bits) = parameter.ty else {
            let ty = type_name(parameter.ty);
            return wrong(format!("`{}` is of type {ty} and cannot be drawn", parameter.name));
        };
        let (ready, most, sound) = match draw {
            Draw::Constant(_) => return None,
            Draw::Uniform(low, high) => (ResolvedDraw::Uniform(*low, *high), *high, low <= high),
            Draw::Zipf { items, exponent, offset } => {
                let most = offset.saturating_add(u128::from(*items));
                let (items, exponent, offset) = (*items, *exponent, *offset);
                let sound = items > 0 && exponent.is_finite() && exponent >= 0.0;
                (ResolvedDraw::Zipf { items, exponent, offset }, most, sound)
            }
            Draw::Sequence { start, step } => {
                let (start, step) = (*start, *step);
                (ResolvedDraw::Sequence { start, step, width_bits }, start, true)
            }
        };
        if !sound {
            return wrong(format!("values of `{}` are drawn from nothing", parameter.name));
        }
        if most > mask(width_bits) {
            let name = &parameter.name;
            return wrong(format!(
                "values of `{name}` up to {most} do not fit in int<{width_bits}>"
            ));
        }
        Some(ready)
    }
}
