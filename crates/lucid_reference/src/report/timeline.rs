// SPDX-License-Identifier: Apache-2.0
//! The time line of a run: collects observations and writes one self-contained HTML file. The folder `timeline`
//! has what the page shows; the crate `page` has its shell.

mod outages;

use super::counters::{counter, counter_names};
use super::values::{
    call_argument_text, event_text, global_name, hexadecimal, real_port, reason_text, value_text,
};
use crate::interpreter::{EventValue, Value};
use crate::simulation::{
    Counts, Destination, Observation, ObservationKind, Observer, Occurrence, Stage,
};
use lucid::core::Program;
use outages::Outages;
use page::{Page, in_page};
use serde_json::{Value as Json, json};
use source::quantity::nanoseconds;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Most happenings of one page; later ones are counted and left out.
pub const MAX_ITEMS: usize = 200_000;

const FILTERS: &str = include_str!("timeline/filters.html");
const BELOW: &str = include_str!("timeline/below.html");
const STYLE: &str = include_str!("timeline/page.css");
const SCRIPTS: [&str; 3] = [
    include_str!("timeline/model.js"),
    include_str!("timeline/drawing.js"),
    include_str!("timeline/page.js"),
];

/// Kinds of items, as numbers of the page.
const HANDLED: u8 = 0;
const LEFT: u8 = 1;
const DROPPED: u8 = 2;
const COMMAND: u8 = 3;
const LINK: u8 = 4;

/// Collects a run.
pub struct TimeLine<'p> {
    program: &'p Program,
    title: String,
    switches: u32,
    links: Vec<[(u32, u32); 2]>,
    items: Vec<Item>,
    /// What handlers did, by item: elements of a JSON list.
    details: BTreeMap<usize, String>,
    /// Which occurrence generated which, for those that may not have an item yet.
    generated_by: HashMap<Occurrence, Occurrence>,
    /// The last handler of each switch: what it did follows.
    handler: HashMap<Occurrence, usize>,
    outages: Outages,
    omitted: u64,
}

/// Something with a mark of its own.
struct Item {
    kind: u8,
    time_ps: u64,
    switch: u32,
    /// Number of the event's name.
    name: Option<u32>,
    port: Option<u32>,
    stage: Stage,
    occurrence: Option<Occurrence>,
    cause: Option<Occurrence>,
    /// JSON text.
    arguments: Box<str>,
    note: Option<String>,
}

impl<'p> TimeLine<'p> {
    /// The time line of a run of this program in a network of `switches` and `links`.
    pub fn new(
        program: &'p Program,
        title: impl Into<String>,
        switches: u32,
        links: Vec<[(u32, u32); 2]>,
    ) -> TimeLine<'p> {
        TimeLine {
            program,
            title: title.into(),
            switches,
            links,
            items: Vec::new(),
            details: BTreeMap::new(),
            generated_by: HashMap::new(),
            handler: HashMap::new(),
            outages: Outages::default(),
            omitted: 0,
        }
    }

    /// The page, with the counters of each switch.
    pub fn html(&self, counts: &[Counts]) -> String {
        let page = Page {
            title: &self.title,
            filters: FILTERS,
            below: BELOW,
            style: STYLE,
            scripts: &SCRIPTS,
        };
        // Items and details.
        let details: usize = self.details.values().map(|text| text.len() + 16).sum();
        page.html(details + 160 * self.items.len(), |to| self.write_data(to, counts))
    }

    fn write_data(&self, page: &mut String, counts: &[Counts]) {
        let program = self.program;
        let names: Vec<&str> = program.events.iter().map(|event| &*event.name).collect();
        let parameters: Vec<Vec<&str>> = program
            .events
            .iter()
            .map(|event| event.parameters.iter().map(|each| &*each.name).collect())
            .collect();
        let links: Vec<[u32; 4]> =
            self.links.iter().map(|[from, to]| [from.0, from.1, to.0, to.1]).collect();
        let counters: Vec<&str> = counter_names().collect();
        let rows: Vec<Vec<u64>> = counts
            .iter()
            .map(|counts| counters.iter().map(|name| counter(counts, name).unwrap_or(0)).collect())
            .collect();
        let run = in_page(&json!({
            "title": self.title,
            "switches": self.switches,
            "links": links,
            "names": names,
            "parameters": parameters,
            "outages": self.outages.json(),
            "omitted": self.omitted,
            "counters": { "names": counters, "rows": rows },
        }));
        page.push_str(run.strip_suffix('}').unwrap_or(&run));
        page.push_str(",\"items\":{");
        type Column = (&'static str, fn(&Item, &mut String));
        let columns: [Column; 10] = [
            ("kind", |item, page| number(page, Some(item.kind.into()))),
            ("time", |item, page| number(page, Some(item.time_ps))),
            ("switch", |item, page| number(page, Some(item.switch.into()))),
            ("name", |item, page| match item.name {
                Some(name) => number(page, Some(name.into())),
                None => page.push_str("-1"),
            }),
            ("port", |item, page| number(page, item.port.map(u64::from))),
            ("stage", |item, page| number(page, Some(item.stage as u64))),
            ("occurrence", |item, page| number(page, item.occurrence.map(|each| each.0))),
            ("cause", |item, page| number(page, item.cause.map(|each| each.0))),
            ("arguments", |item, page| page.push_str(&item.arguments)),
            ("note", |item, page| page.push_str(&in_page(&json!(item.note)))),
        ];
        for (at, (name, value)) in columns.iter().enumerate() {
            page.push_str(if at == 0 { "\"" } else { ",\"" });
            page.push_str(name);
            page.push_str("\":[");
            for (at, item) in self.items.iter().enumerate() {
                if at > 0 {
                    page.push(',');
                }
                value(item, page);
            }
            page.push(']');
        }
        page.push_str("},\"details\":{");
        for (count, (at, list)) in self.details.iter().enumerate() {
            if count > 0 {
                page.push(',');
            }
            let _ = write!(page, "\"{at}\":[{list}]");
        }
        page.push_str("}}");
    }

    fn push(&mut self, item: Item) {
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        if item.kind == HANDLED
            && item.stage != Stage::Egress
            && let Some(occurrence) = item.occurrence
        {
            self.handler.insert(occurrence, self.items.len());
        }
        self.items.push(item);
        if self.is_full() {
            self.generated_by = HashMap::new();
        }
    }

    /// Whether further items are left out.
    fn is_full(&self) -> bool {
        self.items.len() >= MAX_ITEMS
    }

    fn item(&self, observation: &Observation, kind: u8) -> Item {
        Item {
            kind,
            time_ps: observation.time_ps,
            // Nothing is drawn of switches that are not there.
            switch: observation.switch.min(self.switches.saturating_sub(1)),
            name: None,
            port: None,
            stage: Stage::Ingress,
            occurrence: None,
            cause: None,
            arguments: "null".into(),
            note: None,
        }
    }

    fn event_item(
        &self,
        observation: &Observation,
        kind: u8,
        occurrence: Occurrence,
        event: &EventValue,
    ) -> Item {
        let arguments = event.arguments.iter().map(|value| argument(self.program, value));
        Item {
            name: Some(event.event.0),
            occurrence: Some(occurrence),
            cause: self.generated_by.get(&occurrence).copied(),
            arguments: in_page(&arguments.collect()).into(),
            ..self.item(observation, kind)
        }
    }

    fn detail(&mut self, by: Occurrence, detail: impl FnOnce() -> Json) {
        if let Some(at) = self.handler.get(&by) {
            let list = self.details.entry(*at).or_default();
            if !list.is_empty() {
                list.push(',');
            }
            list.push_str(&in_page(&detail()));
        }
    }
}

impl Observer for TimeLine<'_> {
    fn wants_accesses(&self) -> bool {
        true
    }

    fn observe(&mut self, observation: Observation) {
        let program = self.program;
        match &observation.kind {
            ObservationKind::Handled {
                occurrence, cause, event, port, stage, is_packet, ..
            } => {
                let item = self.event_item(&observation, HANDLED, *occurrence, event);
                self.push(Item {
                    port: Some(*port),
                    stage: *stage,
                    // The egress handler of an event is drawn where the event leaves.
                    cause: cause.or(item.cause),
                    note: is_packet.then(|| "It came as a packet.".to_string()),
                    ..item
                });
            }
            ObservationKind::Generated { occurrence, by, event, destination } => {
                if !self.is_full() {
                    self.generated_by.insert(*occurrence, *by);
                }
                self.detail(*by, || {
                    let (text, to) = (event_text(program, event), destination_text(destination));
                    json!(["generated", occurrence.0, text, to])
                });
            }
            ObservationKind::Printed { by, text } => {
                self.detail(*by, || json!(["printed", text.trim_end_matches('\n')]));
            }
            ObservationKind::LeftAsBytes { port, bytes } => {
                let item = self.item(&observation, LEFT);
                let note = Some(format!("Bytes: {}, no event of a handler", hexadecimal(bytes)));
                self.push(Item { port: real_port(*port), note, ..item });
            }
            ObservationKind::Left { occurrence, event, port, bytes, .. } => {
                let item = self.event_item(&observation, LEFT, *occurrence, event);
                let note = bytes.as_ref().map(|bytes| format!("Bytes: {}", hexadecimal(bytes)));
                self.push(Item { port: real_port(*port), note, ..item });
            }
            ObservationKind::Dropped { occurrence, event, reason } => {
                let item = match event {
                    Some(event) => self.event_item(&observation, DROPPED, *occurrence, event),
                    None => self.item(&observation, DROPPED),
                };
                self.push(Item { note: Some(reason_text(*reason).to_string()), ..item });
            }
            ObservationKind::Commanded { text, result } => {
                let item = self.item(&observation, COMMAND);
                let note = result.as_ref().map(|result| format!("Result: {result}"));
                self.push(Item { arguments: in_page(&json!([text])).into(), note, ..item });
            }
            ObservationKind::OutOfRange { by, global, index } => {
                let global = global_name(program, *global);
                let text = || format!("index {index} is beyond the end of {global}");
                self.detail(*by, || json!(["fault", text()]));
            }
            ObservationKind::TableFull { by, table } => {
                let text = || format!("table {} is full", global_name(program, *table));
                self.detail(*by, || json!(["fault", text()]));
            }
            ObservationKind::Accessed { by, global, index, before, after, result } => {
                let global = global_name(program, *global);
                let cell = super::values::cell_text;
                let mut text = match before == after {
                    true => format!("{global}[{index}] is {}", cell(before)),
                    false => {
                        format!("{global}[{index}]: {} \u{2192} {}", cell(before), cell(after))
                    }
                };
                // What is read is mostly the value before or after; only else it is news.
                if let Some(result) = result
                    && !before.contains(result)
                    && !after.contains(result)
                {
                    text.push_str(&format!(", gives {result}"));
                }
                self.detail(*by, || json!(["access", text]));
            }
            ObservationKind::LookedUp { by, table, key, action, hit } => {
                let key: Vec<String> = key.iter().map(u128::to_string).collect();
                let action =
                    program.actions.get(action.0 as usize).map_or("?", |action| &action.name);
                let how = if *hit { "hit" } else { "miss" };
                let table = global_name(program, *table);
                let text = format!("{table}[{}]: {how}, {action}", key.join(", "));
                self.detail(*by, || json!(["access", text]));
            }
            ObservationKind::Called { by, function, arguments } => {
                let arguments: Vec<String> =
                    arguments.iter().map(|each| call_argument_text(program, each)).collect();
                let text = format!("{function}({})", arguments.join(", "));
                self.detail(*by, || json!(["call", text]));
            }
            ObservationKind::Link { ends: [from, to], up } => {
                self.outages.link([*from, *to], observation.time_ps, *up);
                let state = if *up { "up" } else { "down" };
                let text = format!("link {}:{} - {}:{} {state}", from.0, from.1, to.0, to.1);
                let item = self.item(&observation, LINK);
                self.push(Item { arguments: in_page(&json!([text])).into(), ..item });
            }
        }
    }
}

/// A number of a column, or nothing.
fn number(page: &mut String, value: Option<u64>) {
    match value {
        Some(value) => drop(write!(page, "{value}")),
        None => page.push_str("null"),
    }
}

/// Small integers and truth values as they are, everything else as text: numbers of scripts are
/// exact to 2^53.
fn argument(program: &Program, value: &Value) -> Json {
    match value {
        Value::Int(value) if *value < 1 << 53 => json!(*value as u64),
        Value::Bool(value) => json!(value),
        other => json!(value_text(program, other)),
    }
}

fn destination_text(destination: &Destination) -> String {
    match destination {
        Destination::Recirculated { due_ps } => format!("to itself, {} ns", nanoseconds(*due_ps)),
        Destination::Switch { switch, arrives_ps } => {
            format!("to switch {switch}, {} ns", nanoseconds(*arrives_ps))
        }
        Destination::Port { port, to: Some((switch, at)), arrives_ps } => {
            format!("by port {port} to switch {switch} port {at}, {} ns", nanoseconds(*arrives_ps))
        }
        Destination::Port { port, to: None, .. } => match real_port(*port) {
            Some(port) => format!("by port {port}"),
            None => "out of the network".to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn page(title: &str) -> String {
        let program = example::program();
        let mut line = TimeLine::new(&program, title, 2, vec![[(0, 1), (1, 1)]]);
        for observation in example::observations() {
            line.observe(observation);
        }
        line.html(&[Counts { handled: 3, ..Counts::default() }, Counts::default()])
    }

    fn data(page: &str) -> Json {
        let start = "<script id=\"run\" type=\"application/json\">";
        let (_, rest) = page.split_once(start).expect("data");
        let (data, _) = rest.split_once("</script>").expect("its end");
        serde_json::from_str(data).expect("JSON")
    }

    #[test]
    fn what_the_page_knows() {
        let data = data(&page("example"));
        testing::assert_snapshot!(format!("{:#}", data));
    }

    #[test]
    fn nothing_in_names_ends_the_page_or_loads_anything() {
        let title = "</script><script>alert(1)</script>{{DATA}}&{{SCRIPT}}";
        let page = page(title);
        assert_eq!(data(&page)["title"], title);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("alert(1)</script>"));
        for outside in ["http://", "https://", "src=\"", "@import", "url("] {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(outside);
            assert!(!found, "{outside}");
        }
    }

    #[test]
    fn later_happenings_are_counted_and_left_out() {
        let program = example::program();
        let mut line = TimeLine::new(&program, "many", 1, Vec::new());
        for time in 0..MAX_ITEMS as u64 + 5 {
            line.observe(Observation {
                time_ps: time,
                switch: 0,
                kind: ObservationKind::Commanded { text: String::new(), result: None },
            });
        }
        assert_eq!((line.items.len(), line.omitted), (MAX_ITEMS, 5));
        // Nothing is kept of what is left out.
        let event = example::observations().into_iter().find_map(|one| match one.kind {
            ObservationKind::Generated { event, .. } => Some(event),
            _ => None,
        });
        let destination = Destination::Recirculated { due_ps: 0 };
        line.observe(Observation {
            time_ps: 1 << 40,
            switch: 0,
            kind: ObservationKind::Generated {
                occurrence: Occurrence(9),
                by: Occurrence(8),
                event: event.expect("the example generates an event"),
                destination,
            },
        });
        assert!(line.generated_by.is_empty() && line.details.is_empty());
    }
}
