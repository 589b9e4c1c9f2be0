// SPDX-License-Identifier: Apache-2.0
//! [`Context`]: the network as far as it is read, its names and ports, and the messages about them.

use super::Options;
use crate::codes;
use crate::format::value::Located;
use crate::model::{End, Network, Node};
use document::Messages;
use source::{Diagnostic, Span, printable};
use std::collections::{HashMap, HashSet};

/// The network as far as it is read.
pub(super) struct Context<'m> {
    pub messages: &'m Messages,
    pub options: &'m Options,
    pub network: Network,
    nodes: HashMap<String, Node>,
    /// The link of each port, and where the port is written.
    ports: HashMap<(Node, u32), (usize, Span)>,
    host_ports: HashMap<usize, u32>,
    /// Hosts with an address that is wrong, which is reported.
    pub wrong_addresses: HashSet<usize>,
}

/// The longest name of a node.
const MAX_NAME_LENGTH: usize = 64;

impl<'m> Context<'m> {
    pub fn new(options: &'m Options, messages: &'m Messages) -> Context<'m> {
        Context {
            messages,
            options,
            network: Network::default(),
            nodes: HashMap::new(),
            ports: HashMap::new(),
            host_ports: HashMap::new(),
            wrong_addresses: HashSet::new(),
        }
    }

    /// Adds the name of a node; false, with a diagnostic, if the node cannot have it.
    pub fn add_name(&mut self, name: &str, span: Span, node: Node) -> bool {
        if !self.check_name(name, span) {
            return false;
        }
        if let Some(earlier) = self.nodes.get(name) {
            let message = match (earlier, node) {
                (Node::Switch(_), Node::Host(_)) | (Node::Host(_), Node::Switch(_)) => {
                    format!("`{name}` is a host and a switch")
                }
                _ => format!("`{name}` is there twice"),
            };
            let diagnostic = Diagnostic::error(codes::BAD_NAME, span, message);
            let diagnostic = diagnostic.help("rename one of them");
            let other = match earlier {
                Node::Switch(number) => self.network.switches[*number].span,
                Node::Host(number) => self.network.hosts[*number].span,
            };
            self.messages.push(diagnostic.label(other, "the other one"));
            return false;
        }
        self.nodes.insert(name.to_string(), node);
        true
    }

    /// Checks that a name of a node or controller can be written in ends and pairs.
    pub fn check_name(&self, name: &str, span: Span) -> bool {
        let is_part = |each: char| each.is_alphanumeric() || "_-.".contains(each);
        let message = if name == "all" {
            "`all` stands for all items, so none can have this name".to_string()
        } else if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(is_part) {
            format!("`{}` cannot be a name", printable(name, 40))
        } else {
            return true;
        };
        let help = "names have letters, digits, `_`, `-` and `.`, at most 64";
        self.messages.error(codes::BAD_NAME, span, message, help);
        false
    }

    /// The node of a name, without a message.
    pub fn find(&self, name: &str) -> Option<Node> {
        self.nodes.get(name).copied()
    }

    /// Reports that no node has this name; `wanted` is what the place takes: `host`, `switch or host`.
    pub fn unknown_node(&self, name: &Located<String>, wanted: &str) {
        let message = format!("the network has no {wanted} `{}`", printable(&name.value, 40));
        let of_kind = self.nodes.iter().filter(|(_, node)| match wanted {
            "host" => matches!(node, Node::Host(_)),
            "switch" => matches!(node, Node::Switch(_)),
            _ => true,
        });
        let names: Vec<&str> = of_kind.map(|(name, _)| name.as_str()).collect();
        let help = match source::nearest(&name.value, names.iter().copied()) {
            Some(near) => format!("`{near}` may be meant"),
            None => String::new(),
        };
        self.messages.error(codes::UNKNOWN_NODE, name.span, message, &help);
    }

    /// The node of a name.
    pub fn node(&self, name: &Located<String>) -> Option<Node> {
        let found = self.find(&name.value);
        if found.is_none() {
            self.unknown_node(name, "switch or host");
        }
        found
    }

    /// The host of a name; `why` says what takes hosts only.
    pub fn host(&self, name: &Located<String>, why: &str) -> Option<usize> {
        match self.find(&name.value) {
            Some(Node::Host(number)) => Some(number),
            Some(Node::Switch(number)) => {
                let message = format!("`{}` is a switch, and {why}", name.value);
                let diagnostic = Diagnostic::error(codes::UNKNOWN_NODE, name.span, message);
                let at = self.network.switches[number].span;
                self.messages.push(diagnostic.label(at, "the switch"));
                None
            }
            None => {
                self.unknown_node(name, "host");
                None
            }
        }
    }

    /// The switch of a name; `why` says what takes switches only.
    pub fn switch(&self, name: &Located<String>, why: &str) -> Option<usize> {
        match self.find(&name.value) {
            Some(Node::Switch(number)) => Some(number),
            Some(Node::Host(number)) => {
                let message = format!("`{}` is a host, and {why}", name.value);
                let diagnostic = Diagnostic::error(codes::UNKNOWN_NODE, name.span, message);
                let at = self.network.hosts[number].span;
                self.messages.push(diagnostic.label(at, "the host"));
                None
            }
            None => {
                self.unknown_node(name, "switch");
                None
            }
        }
    }

    /// The nodes of a pair such as `h1-h2` or `h1->h2`.
    pub fn pair(&self, text: &str) -> Option<[Node; 2]> {
        let parts = |at: usize, length: usize| {
            let (one, other) = (text[..at].trim(), text[at + length..].trim());
            Some([self.find(one)?, self.find(other)?])
        };
        if let Some(at) = text.find("->") {
            return parts(at, 2);
        }
        text.match_indices('-').find_map(|(at, _)| parts(at, 1))
    }

    /// A port as text, split into node and number: `s1:1`, `s1-p1`, `s1-eth1`; a node alone has no number.
    fn split_port<'t>(&self, text: &'t str) -> (&'t str, Option<&'t str>) {
        let text = text.trim();
        if self.find(text).is_some() {
            return (text, None);
        }
        for separator in [":", "-p", "-eth"] {
            if let Some((node, port)) = text.rsplit_once(separator)
                && (separator == ":" || self.find(node).is_some())
            {
                return (node.trim(), Some(port.trim()));
            }
        }
        (text, None)
    }

    /// A port of a link or of something at a port. A host alone is its first port, or for a new link its next one.
    fn port(&self, text: &Located<String>) -> Option<(Node, Option<u32>)> {
        let (name, number) = self.split_port(&text.value);
        let located = Located { value: name.to_string(), span: text.span };
        let Some(node) = self.find(name) else {
            self.unknown_node(&located, "switch or host");
            return None;
        };
        let Some(number) = number else { return Some((node, None)) };
        match number.parse::<u32>().ok().filter(|number| *number <= u32::from(u16::MAX)) {
            Some(number) => Some((node, Some(number))),
            None => {
                let shown = printable(number, 40);
                let message = format!("`{shown}` in `{}` is not a port number", text.value);
                let help = format!("write `{name}:1` for port 1");
                self.messages.error(codes::BAD_VALUE, text.span, message, &help);
                None
            }
        }
    }

    fn switch_needs_port(&self, name: &str, span: Span, what: &str) {
        let message = format!("{what} at a port of switch `{name}`");
        let help = format!("write `{name}:1` for port 1");
        self.messages.error(codes::MISSING, span, message, &help);
    }

    /// An end of a new link.
    pub fn new_end(&mut self, text: &Located<String>) -> Option<End> {
        let (node, number) = self.port(text)?;
        let port = match (node, number) {
            (_, Some(number)) => number,
            (Node::Host(host), None) => self.next_host_port(host),
            (Node::Switch(_), None) => {
                self.switch_needs_port(text.value.trim(), text.span, "a link ends");
                return None;
            }
        };
        Some(End { node, port, span: text.span })
    }

    /// The first port of a host without a link.
    pub fn next_host_port(&mut self, host: usize) -> u32 {
        let next = self.host_ports.entry(host).or_default();
        while self.ports.contains_key(&(Node::Host(host), *next)) {
            *next += 1;
        }
        *next
    }

    /// A port with a link.
    pub fn linked_port(&self, text: &Located<String>, what: &str) -> Option<End> {
        let (node, number) = self.port(text)?;
        let port = match (node, number) {
            (_, Some(number)) => number,
            (Node::Host(_), None) => 0,
            (Node::Switch(_), None) => {
                self.switch_needs_port(text.value.trim(), text.span, &format!("{what} is"));
                return None;
            }
        };
        if !self.ports.contains_key(&(node, port)) {
            let message = match node {
                Node::Host(_) if port == 0 => format!("host `{}` has no link", text.value.trim()),
                _ => format!("port {port} of `{}` has no link", self.network.name_of(node)),
            };
            self.messages.error(
                codes::UNKNOWN_NODE,
                text.span,
                message,
                &self.ports_in_words(node),
            );
            return None;
        }
        Some(End { node, port, span: text.span })
    }

    fn ports_in_words(&self, node: Node) -> String {
        let mut ports: Vec<u32> =
            self.ports.keys().filter(|(other, _)| *other == node).map(|(_, port)| *port).collect();
        ports.sort_unstable();
        match ports.as_slice() {
            [] => "`links` connects nodes".to_string(),
            ports => {
                let shown: Vec<String> = ports.iter().take(16).map(u32::to_string).collect();
                format!("its ports with links are {}", shown.join(", "))
            }
        }
    }

    /// Connects the ends of the next link; false, with a diagnostic, if they cannot be connected.
    pub fn connect(&mut self, ends: [End; 2], span: Span) -> bool {
        let [one, other] = ends;
        let is_same_host = one.node == other.node && matches!(one.node, Node::Host(_));
        if is_same_host || (one.node, one.port) == (other.node, other.port) {
            let message = match is_same_host {
                true => format!("a link joins `{}` with itself", self.network.name_of(one.node)),
                false => {
                    format!("a link joins port `{}` with itself", self.network.port_name(&one))
                }
            };
            self.messages.error(codes::BAD_LINK, span, message, "a link has two different ends");
            return false;
        }
        let mut is_free = true;
        for end in ends {
            if let Some((_, earlier)) = self.ports.get(&(end.node, end.port)) {
                let name = self.network.name_of(end.node);
                let message = format!("port {} of `{name}` has two links", end.port);
                let diagnostic = Diagnostic::error(codes::BAD_LINK, end.span, message);
                self.messages.push(diagnostic.label(*earlier, "the other link"));
                is_free = false;
            }
        }
        if is_free {
            let number = self.network.links.len();
            for end in ends {
                self.ports.insert((end.node, end.port), (number, end.span));
            }
        }
        is_free
    }

    /// The link at a port.
    pub fn link_at(&self, node: Node, port: u32) -> Option<usize> {
        self.ports.get(&(node, port)).map(|(link, _)| *link)
    }

    /// The nodes that have links.
    pub fn linked_nodes(&self) -> impl Iterator<Item = Node> {
        self.ports.keys().map(|(node, _)| *node)
    }

    /// The link that a text names: by its name, an end, or its nodes (`s1-s2`).
    pub fn link(&self, text: &Located<String>) -> Option<usize> {
        let name = text.value.trim();
        let named = |link: &crate::model::Link| link.name.as_deref() == Some(name);
        if let Some(found) = self.network.links.iter().position(named) {
            return Some(found);
        }
        match self.find(name) {
            // Its first link.
            Some(Node::Host(_)) => {}
            Some(Node::Switch(_)) => {
                let message = format!("`{name}` is a switch, not a link");
                let help = format!("write an end such as `{name}:1`, or both nodes: `{name}-s2`");
                self.messages.error(codes::UNKNOWN_NODE, text.span, message, &help);
                return None;
            }
            None => {
                if let Some(pair) = self.pair(name) {
                    return self.link_between(pair, text);
                }
            }
        }
        let (node, number) = self.split_port(name);
        if self.find(node).is_none() && number.is_none() {
            let message = format!("the network has no link `{}`", printable(name, 40));
            let names = self.network.links.iter().filter_map(|link| link.name.as_deref());
            let help = match source::nearest(name, names) {
                Some(near) => format!("`{near}` may be meant"),
                None => {
                    "write a link's name, an end such as `s1:1`, or its nodes: `s1-s2`".to_string()
                }
            };
            self.messages.error(codes::UNKNOWN_NODE, text.span, message, &help);
            return None;
        }
        let end = self.linked_port(text, "the end of a link")?;
        self.link_at(end.node, end.port)
    }

    fn link_between(&self, pair: [Node; 2], text: &Located<String>) -> Option<usize> {
        let joins = |link: &crate::model::Link| {
            let nodes = link.ends.map(|end| end.node);
            nodes == pair || nodes == [pair[1], pair[0]]
        };
        let mut found = self.network.links.iter().enumerate().filter(|(_, link)| joins(link));
        let (first, second) = (found.next(), found.next());
        let [one, other] = pair.map(|node| self.network.name_of(node));
        match (first, second) {
            (Some((number, _)), None) => Some(number),
            (Some((_, link)), Some(_)) => {
                let message = format!("several links join `{one}` and `{other}`");
                let help = format!(
                    "name one by an end, such as `{}`",
                    self.network.port_name(&link.ends[0])
                );
                self.messages.error(codes::UNKNOWN_NODE, text.span, message, &help);
                None
            }
            (None, _) => {
                let message = format!("no link joins `{one}` and `{other}`");
                self.messages.error(codes::UNKNOWN_NODE, text.span, message, "");
                None
            }
        }
    }
}
