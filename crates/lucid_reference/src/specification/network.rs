// SPDX-License-Identifier: Apache-2.0
//! Reads the links of a specification, and places written as `switch:port`.

use super::codes;
use super::run::{Link, Links, Run};
use super::values::RunValues;
use document::{Fields, Messages, Node, NodeKind};
use source::{Diagnostic, Span};
use std::collections::HashMap;

/// The part of the network that readers of entries check against.
pub(super) struct Network {
    pub switches: u32,
    /// The span of `switches`.
    said: Option<Span>,
    /// The other end of each port, and where the link is written.
    ends: HashMap<(u32, u32), ((u32, u32), Span)>,
    pub full_mesh: bool,
}

impl Network {
    pub fn new(switches: u32, said: Option<Span>) -> Network {
        Network { switches, said, ends: HashMap::new(), full_mesh: false }
    }

    /// The network of a specification that was read.
    pub fn of(run: &Run) -> Network {
        let mut network = Network::new(run.switches, None);
        match &run.links {
            Links::FullMesh => network.full_mesh = true,
            Links::List(list) => {
                for link in list {
                    let [one, other] = link.ends;
                    network.ends.insert(one, (other, Span::NONE));
                    network.ends.insert(other, (one, Span::NONE));
                }
            }
        }
        network
    }

    /// Where the link of a port leads.
    pub fn other_end(&self, end: (u32, u32)) -> Option<(u32, u32)> {
        let (switch, port) = end;
        if self.full_mesh {
            return (port < self.switches && port != switch).then_some((port, switch));
        }
        self.ends.get(&end).map(|(other, _)| *other)
    }

    /// Where each end of a link is written.
    pub fn places(&self) -> impl Iterator<Item = ((u32, u32), Span)> {
        self.ends.iter().map(|(end, (_, span))| (*end, *span))
    }

    /// Checks that a switch is there.
    pub fn switch(&self, node: &Node, switch: u128, messages: &Messages) -> Option<u32> {
        if switch < u128::from(self.switches) {
            return Some(switch as u32);
        }
        let last = self.switches - 1;
        let message = match last {
            0 => format!("there is no switch {switch}: the only switch is 0"),
            _ => format!("there is no switch {switch}: they are numbered 0 to {last}"),
        };
        let mut diagnostic = Diagnostic::error(codes::BAD_LOCATION, node.span, message);
        diagnostic = match self.said {
            Some(said) => diagnostic.label(said, "so many switches are there"),
            None => diagnostic.help(format!("say `\"switches\": {}`", switch + 1)),
        };
        messages.push(diagnostic);
        None
    }

    /// A place: `"switch:port"`, or a switch's number (port 0).
    pub fn location(&self, node: &Node, messages: &Messages) -> Option<(u32, u32)> {
        if let NodeKind::Int(switch) = node.kind {
            return Some((self.switch(node, switch, messages)?, 0));
        }
        let NodeKind::Text(text) = &node.kind else {
            messages.wrong_type(node, "a place", "a text \"switch:port\" or a switch's number");
            return None;
        };
        self.written_location(node, text, messages)
    }

    /// The same from a text that stands at this node (or is the name of a field there).
    pub fn written_location(
        &self,
        node: &Node,
        text: &str,
        messages: &Messages,
    ) -> Option<(u32, u32)> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let (switch, port) = match text.split_once(':') {
            Some((switch, port)) => (number(switch), number(port)),
            None => (number(text), Some(0)),
        };
        let (Some(switch), Some(port)) = (switch, port) else {
            let message = format!("{text:?} is no place");
            let help = "write \"switch:port\" with two numbers, such as \"0:3\"";
            messages.error(codes::BAD_LOCATION, node.span, message, help);
            return None;
        };
        Some((self.switch(node, switch.into(), messages)?, port))
    }

    fn connect(&mut self, ends: [(u32, u32); 2], span: Span, messages: &Messages) -> LinkAddition {
        let name = |end: (u32, u32)| format!("{}:{}", end.0, end.1);
        if ends[0] == ends[1] {
            let message = format!("port {} is linked with itself", name(ends[0]));
            messages.error(codes::BAD_LINK, span, message, "");
            return LinkAddition::Rejected;
        }
        for (end, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            match self.ends.get(&end) {
                Some((earlier, _)) if *earlier == other => return LinkAddition::Duplicate,
                Some((earlier, at)) => {
                    let message = format!(
                        "port {} has two links, to {} and to {}",
                        name(end),
                        name(*earlier),
                        name(other)
                    );
                    let diagnostic = Diagnostic::error(codes::BAD_LINK, span, message);
                    messages.push(diagnostic.label(*at, "the other link"));
                    return LinkAddition::Rejected;
                }
                None => {}
            }
        }
        self.ends.insert(ends[0], (ends[1], span));
        self.ends.insert(ends[1], (ends[0], span));
        LinkAddition::New
    }
}

#[derive(PartialEq, Eq)]
enum LinkAddition {
    New,
    /// The same link is already there (the reference implementation allows both directions).
    Duplicate,
    Rejected,
}

/// `links`: `"full mesh"`, an object from end to end, or a list of links.
pub(super) fn links(node: &Node, network: &mut Network, messages: &Messages) -> Links {
    let mut list = Vec::new();
    match &node.kind {
        NodeKind::Text(text) if document::normalized(text) == "full mesh" => {
            if network.switches > MAX_MESHED {
                let message = format!(
                    "a full mesh of {} switches is too large: at most {MAX_MESHED}",
                    network.switches
                );
                messages.error(codes::BAD_LINK, node.span, message, "name the links");
            }
            return Links::FullMesh;
        }
        NodeKind::Text(text) => {
            let message = format!("`links` is \"full mesh\" or names the links, not {text:?}");
            messages.error(codes::BAD_LINK, node.span, message, LINK_HELP);
        }
        NodeKind::Object(_) => pairs(node, network, &mut list, messages),
        NodeKind::List(links) => {
            for link in links {
                one(link, network, &mut list, messages);
            }
        }
        _ => messages.wrong_type(node, "`links`", "\"full mesh\", an object or a list"),
    }
    Links::List(list)
}

/// Most switches of a full mesh, whose links grow with the square.
const MAX_MESHED: u32 = 1024;

const LINK_HELP: &str =
    "write {\"0:1\": \"1:1\"}, or [{\"ends\": [\"0:1\", \"1:1\"], \"latency\": \"5us\"}]";

/// `{"0:1": "1:1", "0:2": {"to": "2:1", "latency": "5us"}}`
fn pairs(node: &Node, network: &mut Network, list: &mut Vec<Link>, messages: &Messages) {
    let NodeKind::Object(fields) = &node.kind else { return };
    for field in fields {
        let named = Node { span: field.name_span, kind: NodeKind::Null };
        let from = network.written_location(&named, &field.name, messages);
        match &field.value.kind {
            NodeKind::Object(_) => {
                let Some(mut link) = Fields::of(&field.value, "a link", messages) else { continue };
                let to = link.need(&["to"], "{\"to\": \"1:1\"}");
                let to = to.and_then(|to| network.location(to, messages));
                let made = properties(&mut link, messages);
                link.finish();
                add(from, to, made, field.value.span, network, list, messages);
            }
            _ => {
                let to = network.location(&field.value, messages);
                let span = field.name_span.to(field.value.span);
                add(from, to, unlimited(), span, network, list, messages);
            }
        }
    }
}

/// A link in a list: `{"ends": [...], ...}`, `{"0:1": "1:1"}` or `["0:1", "1:1"]`.
fn one(node: &Node, network: &mut Network, list: &mut Vec<Link>, messages: &Messages) {
    match &node.kind {
        NodeKind::Object(fields) if fields.iter().any(|field| field.name.contains(':')) => {
            pairs(node, network, list, messages);
        }
        NodeKind::Object(_) => {
            let Some(mut link) = Fields::of(node, "a link", messages) else { return };
            let ends = link.need(&["ends"], "\"ends\": [\"0:1\", \"1:1\"]");
            let ends = ends.and_then(|ends| two_ends(ends, network, messages));
            let made = properties(&mut link, messages);
            link.finish();
            if let Some([from, to]) = ends {
                add(Some(from), Some(to), made, node.span, network, list, messages);
            }
        }
        NodeKind::List(_) => {
            if let Some([from, to]) = two_ends(node, network, messages) {
                add(Some(from), Some(to), unlimited(), node.span, network, list, messages);
            }
        }
        _ => messages.wrong_type(node, "a link", "an object or a list of two ends"),
    }
}

fn two_ends(node: &Node, network: &Network, messages: &Messages) -> Option<[(u32, u32); 2]> {
    match messages.list(node, "`ends`")? {
        [from, to] => {
            let (from, to) = (network.location(from, messages), network.location(to, messages));
            Some([from?, to?])
        }
        list => {
            let message = format!("a link has two ends, not {}", list.len());
            messages.error(codes::BAD_LINK, node.span, message, LINK_HELP);
            None
        }
    }
}

fn add(
    from: Option<(u32, u32)>,
    to: Option<(u32, u32)>,
    made: Link,
    span: Span,
    network: &mut Network,
    list: &mut Vec<Link>,
    messages: &Messages,
) {
    let (Some(from), Some(to)) = (from, to) else { return };
    if network.connect([from, to], span, messages) == LinkAddition::New {
        list.push(Link { ends: [from, to], ..made });
    }
}

fn unlimited() -> Link {
    Link { ends: [(0, 0), (0, 0)], latency_ps: None, jitter_ps: None, loss: None, rate_bps: None }
}

fn properties(fields: &mut Fields<'_>, messages: &Messages) -> Link {
    let latency = fields.get(&["latency"]);
    let jitter = fields.get(&["jitter"]);
    let loss = fields.get(&["loss"]);
    let rate = fields.get(&["rate"]);
    let loss = loss.and_then(|node| match node.kind.probability() {
        Some(loss) => Some(loss),
        None => {
            let message = "`loss` is a probability from 0 to 1, or \"0%\" to \"100%\"";
            messages.error(codes::BAD_QUANTITY, node.span, message, "");
            None
        }
    });
    let rate = rate.and_then(|node| {
        let rate = messages.rate(node, "`rate`")?;
        if rate == 0 {
            let help = "leave `rate` out for an unlimited link; `\"loss\": 1` loses everything";
            messages.error(codes::BAD_QUANTITY, node.span, "`rate` is zero", help);
            return None;
        }
        Some(rate)
    });
    Link {
        latency_ps: latency.and_then(|node| messages.time(node, "`latency`")),
        jitter_ps: jitter.and_then(|node| messages.time(node, "`jitter`")),
        loss,
        rate_bps: rate,
        ..unlimited()
    }
}
