// SPDX-License-Identifier: Apache-2.0
//! Events whose parameters are what the program's parsers read, field by field in the same order. Their handlers read
//! the parser's headers, and frames with such an event are read into the same headers: Tofino's parser has no access to
//! bytes that are more than 32 bytes behind it, so it cannot copy them into a header of the event's own at the end.

use super::event_headers::{Chunk, EventHeaders, ParsedEvent};
use lucid::core::EventId;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Index into the headers that the program's parsers read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChunkId(pub(super) u32);

/// Where a parser makes an event.
#[derive(Clone, Debug)]
pub(super) struct Generated {
    pub(super) event: EventId,
    /// Text of each argument that has bits, by parameter.
    pub(super) arguments: BTreeMap<u32, String>,
    /// What was read on the path to it, in order.
    pub(super) read: Vec<ChunkId>,
    /// Constants that fields are known to equal on this path.
    pub(super) known: HashMap<String, String>,
}

/// The events that come in by the headers of parsers. `again` has the headers that some path reads before it finds a
/// whole event behind them, which is read into its own headers: hardware fills a header once.
pub(super) fn of(
    events: &EventHeaders,
    chunks: &[Chunk],
    generated: &[Generated],
    again: &BTreeSet<ChunkId>,
) -> BTreeMap<EventId, ParsedEvent> {
    let mut found = BTreeMap::new();
    for id in generated.iter().map(|one| one.event).collect::<BTreeSet<_>>() {
        if !events.event(id).is_handled || events.event(id).ty.is_none() {
            continue;
        }
        let mut of_event = generated.iter().filter(|one| one.event == id);
        let Some(first) = of_event.next() else { continue };
        let is_free = first.read.iter().all(|chunk| !again.contains(chunk));
        if is_free
            && is_read_in_order(events, chunks, first)
            && of_event.all(|one| one.read == first.read && is_read_in_order(events, chunks, one))
        {
            found.insert(id, parsed(events, chunks, first));
        }
    }
    found
}

/// Fields that were read, with their widths in bits.
fn fields<'c>(
    chunks: &'c [Chunk],
    read: &'c [ChunkId],
) -> impl Iterator<Item = (String, u32)> + 'c {
    read.iter().flat_map(|id| {
        let chunk = &chunks[id.0 as usize];
        let field = |(name, width_bits): &(String, u32)| (chunk.field(name), *width_bits);
        chunk.fields.iter().map(field)
    })
}

/// Whether the arguments are the fields on the path, in order, or constants that these fields have there.
fn is_read_in_order(events: &EventHeaders, chunks: &[Chunk], made: &Generated) -> bool {
    let event = events.event(made.event);
    let parameters = event.fields.iter().zip(0..).filter_map(|(field, at)| {
        let (_, width_bits) = field.as_ref()?;
        Some((made.arguments.get(&at)?, *width_bits))
    });
    let mut read = fields(chunks, &made.read);
    let same = parameters.into_iter().all(|(argument, width_bits)| {
        read.next().is_some_and(|(field, field_bits)| {
            let is_it = *argument == field || made.known.get(&field) == Some(argument);
            is_it && width_bits == field_bits
        })
    });
    same && read.next().is_none() && event.padding_bits == 0
}

fn parsed(events: &EventHeaders, chunks: &[Chunk], made: &Generated) -> ParsedEvent {
    let mut read = fields(chunks, &made.read);
    let fields = events.event(made.event).fields.iter();
    ParsedEvent {
        headers: made.read.iter().map(|id| chunks[id.0 as usize].header()).collect(),
        fields: fields
            .map(|field| field.as_ref().and_then(|_| read.next()).map(|(text, _)| text))
            .collect(),
    }
}
