// SPDX-License-Identifier: Apache-2.0
//! Reads applications: those of a host, those of all hosts of a topology or of `defaults`, and those of the file's list.

use super::context::Context;
use super::tcp::{self, port, tos};
use crate::codes;
use crate::format::address::{Mac, Prefix};
use crate::format::value::{Located, Record, Value, ValueKind};
use crate::model::{
    Amount, Application, ApplicationKind, Arrivals, DatagramSize, Destination, FlowRate, FlowSizes,
    TimedFrame, UdpRate,
};
use source::{Diagnostic, Span};
use std::collections::BTreeMap;

const SECOND_PS: u64 = 1_000_000_000_000;
const MEMCACHED_PORT: u16 = 11_211;

/// The largest payload of a UDP datagram over IPv4.
const MAX_DATAGRAM_BYTES: u64 = 65_507;

/// Most applications of a network, which `from: all` and `to: all` multiply.
const MAX_APPLICATIONS: usize = 1_000_000;

/// Whether an entry stands for one host or for several. Of several hosts, one that is the destination itself is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    OneHost,
    SeveralHosts,
}

/// Reads the applications of a host.
pub(super) fn of_host(list: &[Value], host: usize, sharing: Sharing, context: &mut Context<'_>) {
    for value in list {
        let Some((kind, record)) = tagged(value) else { continue };
        if kind.value != "incast" && record.is_written("from") {
            let message = format!("`from` of {} is the host itself", article(kind.value));
            let help = "leave it out, or write the application in the file's list `applications`";
            context.messages.error(codes::CONFLICT, record.span_of("from"), message, help);
        }
        if kind.value == "incast" && record.is_written("to") {
            let message = "an incast of a host has this host as its receiver";
            let help = "leave `to` out, or write the application in the file's list `applications`";
            context.messages.error(codes::CONFLICT, record.span_of("to"), message, help);
        }
        add(kind, record, host, sharing, context);
    }
}

/// Reads the file's list of applications, which name their hosts.
pub(super) fn of_file(list: &[Value], context: &mut Context<'_>) {
    for value in list {
        let Some((kind, record)) = tagged(value) else { continue };
        if kind.value == "incast" {
            match record.text("to") {
                Some(to) => {
                    if let Some(host) = context.host(&to, "only hosts run applications") {
                        add(kind, record, host, Sharing::OneHost, context);
                    }
                }
                None if !record.is_written("to") => missing(record, "to", "`to: h1`", context),
                None => {}
            }
            continue;
        }
        if !record.is_written("from") {
            missing(record, "from", "`from: h1`, or `from: all`", context);
            continue;
        }
        let hosts = hosts(record, "from", context);
        let sharing = if hosts.len() == 1 { Sharing::OneHost } else { Sharing::SeveralHosts };
        for host in hosts {
            add(kind, record, host.value, sharing, context);
        }
    }
}

fn missing(record: &Record, name: &str, example: &str, context: &Context<'_>) {
    let message = format!("an application of the list `applications` has no `{name}`");
    context.messages.error(codes::MISSING, record.span, message, &format!("such as {example}"));
}

fn tagged(value: &Value) -> Option<(&Located<&'static str>, &Record)> {
    match &value.kind {
        ValueKind::Tagged { kind, value } => Some((kind, value.record()?)),
        _ => None,
    }
}

/// The kind with its article.
fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} `{kind}`")
}

/// Hosts by their names, or all.
fn hosts(record: &Record, name: &str, context: &Context<'_>) -> Vec<Located<usize>> {
    let mut hosts: Vec<Located<usize>> = Vec::new();
    for text in record.texts(name) {
        let span = text.span;
        if text.value == "all" {
            let all = 0..context.network.hosts.len();
            hosts.extend(all.map(|value| Located { value, span }));
        } else if let Some(value) = context.host(&text, "only hosts run applications") {
            hosts.push(Located { value, span });
        }
    }
    let mut seen = std::collections::HashSet::new();
    hosts.retain(|host| seen.insert(host.value));
    hosts
}

/// Adds an application to a host.
fn add(
    kind: &Located<&'static str>,
    record: &Record,
    host: usize,
    sharing: Sharing,
    context: &mut Context<'_>,
) {
    let Some(read) = read_kind(kind.value, record, host, sharing, context) else { return };
    let group = record.text("name");
    if let Some(name) = &group
        && !context.check_name(&name.value, name.span)
    {
        return;
    }
    context.network.hosts[host].applications.push(Application {
        name: String::new(),
        group: group.map(|name| name.value),
        span: kind.span,
        start_ps: record.number("start").unwrap_or(0),
        kind: read,
    });
}

fn read_kind(
    kind: &str,
    record: &Record,
    host: usize,
    sharing: Sharing,
    context: &Context<'_>,
) -> Option<ApplicationKind> {
    let reader = Reader { record, host, sharing, context };
    let tcp = || tcp::options(record, context.messages);
    let has_destinations = !matches!(
        kind,
        "memcached_server"
            | "replay"
            | "trace"
            | "incast"
            | "send"
            | "listen"
            | "sink"
            | "echo"
            | "command"
    );
    let to = if has_destinations { reader.destinations() } else { None };
    Some(match kind {
        "ping" => ApplicationKind::Ping {
            to: to?,
            count: record.number("count").unwrap_or(5),
            interval_ps: reader.period("interval").unwrap_or(SECOND_PS),
            size_bytes: reader.datagram("size", 56),
            timeout_ps: reader.period("timeout").unwrap_or(SECOND_PS),
            tos: tos(record),
        },
        "tcp" => ApplicationKind::Tcp {
            to: to?,
            amount: reader.amount(&["bytes", "duration"]),
            rate_bps: record.number("rate"),
            parallel: record.number("parallel").unwrap_or(1) as u32,
            tcp: tcp(),
        },
        "request_response" => ApplicationKind::RequestResponse {
            to: to?,
            request_bytes: reader.positive("request")?,
            response_bytes: reader.positive("response")?,
            count: record.number("count").unwrap_or(1),
            interval_ps: reader.period("interval"),
            tcp: tcp(),
        },
        "udp" => ApplicationKind::Udp {
            size: reader.datagram_size(reader.default_datagram(to.as_deref().unwrap_or(&[]))),
            to: to?,
            rate: match (reader.positive("rate")?, reader.is_frequency()) {
                (rate, true) => UdpRate::Datagrams(rate),
                (rate, false) => UdpRate::Bits(rate),
            },
            amount: reader.amount(&["duration", "count"]),
            arrivals: arrivals(record, Arrivals::Constant),
            port: port(record, "port"),
            source_port: port(record, "source_port"),
            tos: tos(record),
        },
        "flows" => {
            let (sizes, rate) = (reader.sizes(), reader.flow_rate());
            let amount = reader.amount(&["count", "duration"]);
            ApplicationKind::Flows { to: to?, sizes: sizes?, rate: rate?, amount, tcp: tcp() }
        }
        "memcached_server" => ApplicationKind::MemcachedServer {
            port: port(record, "port").unwrap_or(MEMCACHED_PORT),
            value_bytes: reader.datagram("value", 64),
            service_time_ps: record.number("service_time").unwrap_or(0),
        },
        "memcached_client" => ApplicationKind::MemcachedClient {
            to: to?,
            rate: reader.positive("rate")?,
            keys: record.number("keys").unwrap_or(10_000),
            key_bytes: reader.key_bytes(),
            value_bytes: reader.datagram("value", 64),
            zipf: record.decimal("zipf"),
            get_share: record.decimal("get_share").unwrap_or(0.95),
            arrivals: arrivals(record, Arrivals::Poisson),
            amount: reader.amount(&["count", "duration"]),
            port: port(record, "port").unwrap_or(MEMCACHED_PORT),
        },
        "replay" => ApplicationKind::Replay {
            capture: record.text("capture")?,
            scale: record.decimal("scale").unwrap_or(1.0),
        },
        "trace" => ApplicationKind::Trace {
            flows: reader.positive("flows")?,
            packets: record.number("packets"),
            duration_ps: reader.positive("duration")?,
            median: record.decimal("median"),
            source_net: reader.network_of_trace("source_net"),
            destination_net: reader.network_of_trace("destination_net"),
            sources: record.number("sources"),
            destinations: record.number("destinations"),
            destination_mac: mac(record, "destination_mac"),
        },
        "incast" => ApplicationKind::Incast {
            from: reader.senders()?,
            bytes: reader.positive("bytes")?,
            count: record.number("count").unwrap_or(1),
            interval_ps: reader.period("interval"),
            tcp: tcp(),
        },
        "send" => ApplicationKind::Send { frames: reader.frames() },
        "listen" => ApplicationKind::Listen { port: port(record, "port") },
        "sink" => ApplicationKind::Sink { port: port(record, "port") },
        "command" => ApplicationKind::Command { run: record.text("run")?.value },
        "echo" => ApplicationKind::Echo { port: port(record, "port") },
        _ => return None,
    })
}

fn arrivals(record: &Record, default: Arrivals) -> Arrivals {
    match record.word("arrivals") {
        Some("poisson") => Arrivals::Poisson,
        Some(_) => Arrivals::Constant,
        None => default,
    }
}

fn mac(record: &Record, name: &str) -> Option<Mac> {
    match record.get(name)?.kind {
        ValueKind::Mac(mac) => Some(mac),
        _ => None,
    }
}

/// The fields of one application.
struct Reader<'r, 'm> {
    record: &'r Record,
    host: usize,
    sharing: Sharing,
    context: &'r Context<'m>,
}

impl Reader<'_, '_> {
    fn error(&self, code: source::Code, name: &str, message: String, help: &str) {
        self.context.messages.error(code, self.record.span_of(name), message, help);
    }

    /// The field `to`; `None` if nothing is left to send to.
    fn destinations(&self) -> Option<Vec<Located<Destination>>> {
        let mut list: Vec<Located<Destination>> = Vec::new();
        for text in self.record.texts("to") {
            let span = text.span;
            if text.value == "all" {
                let others =
                    (0..self.context.network.hosts.len()).filter(|host| *host != self.host);
                list.extend(others.map(|host| Located { value: Destination::Host(host), span }));
                continue;
            }
            if self.context.find(&text.value).is_none()
                && let Ok(address) = text.value.trim().parse()
            {
                list.push(Located { value: Destination::Address(address), span });
                continue;
            }
            match self.context.host(&text, "applications send to hosts or addresses") {
                Some(host) if host != self.host => {
                    list.push(Located { value: Destination::Host(host), span });
                }
                Some(_) if self.sharing == Sharing::OneHost => {
                    let message = format!("`{}` sends to itself", text.value);
                    self.context.messages.error(
                        codes::CONFLICT,
                        span,
                        message,
                        "name another host",
                    );
                }
                _ => {}
            }
        }
        (!list.is_empty()).then_some(list)
    }

    /// The field `from` of an incast.
    fn senders(&self) -> Option<Vec<Located<usize>>> {
        if !self.record.is_written("from") {
            let message = "an incast has no `from`".to_string();
            let help = "such as `from: [h2, h3]`, or `from: all`";
            self.error(codes::MISSING, "from", message, help);
            return None;
        }
        let mut senders = hosts(self.record, "from", self.context);
        senders.retain(|sender| sender.value != self.host);
        (!senders.is_empty()).then_some(senders)
    }

    /// A time above zero.
    fn period(&self, name: &str) -> Option<u64> {
        let time = self.record.number(name)?;
        if time == 0 {
            let help = "endless events at one instant would follow; write a time such as 1ms";
            self.error(codes::BAD_VALUE, name, format!("`{name}` is zero"), help);
        }
        Some(time.max(1))
    }

    /// A number above zero.
    fn positive(&self, name: &str) -> Option<u64> {
        let value = self.record.number(name)?;
        if value == 0 {
            self.error(codes::BAD_VALUE, name, format!("`{name}` is zero"), "");
            return None;
        }
        Some(value)
    }

    /// A network of addresses of a trace.
    fn network_of_trace(&self, name: &str) -> Option<Prefix> {
        let ValueKind::Prefix(prefix) = self.record.get(name)?.kind else { return None };
        if prefix.address.is_ipv4() {
            return Some(prefix);
        }
        let help = "write a prefix such as 10.0.0.0/8";
        self.error(codes::BAD_ADDRESS, name, "packet traces have IPv4 addresses".to_string(), help);
        None
    }

    /// The payload of a datagram.
    fn datagram(&self, name: &str, default: u64) -> u64 {
        let size = self.record.number(name).unwrap_or(default);
        if size > MAX_DATAGRAM_BYTES {
            let message =
                format!("`{name}` must be at most {MAX_DATAGRAM_BYTES} bytes, not {size}");
            self.error(codes::BAD_VALUE, name, message, "");
        }
        size.min(MAX_DATAGRAM_BYTES)
    }

    /// The payload that iperf sends: what leaves room for the headers in 1,500 bytes.
    fn default_datagram(&self, destinations: &[Located<Destination>]) -> u64 {
        let hosts = &self.context.network.hosts;
        let is_ipv6 = |to: &Located<Destination>| match to.value {
            Destination::Host(to) => {
                hosts[to].address_for(&hosts[self.host]).is_some_and(|address| address.is_ipv6())
            }
            Destination::Address(address) => address.is_ipv6(),
        };
        if destinations.iter().any(is_ipv6) { 1_450 } else { 1_470 }
    }

    /// The field `size` of UDP.
    fn datagram_size(&self, default: u64) -> DatagramSize {
        match self.record.get("size").and_then(Value::record) {
            None => DatagramSize::Fixed(self.datagram("size", default)),
            Some(distribution) => {
                let reader = Reader { record: distribution, ..*self };
                let mean = reader.positive("exponential").unwrap_or(default);
                DatagramSize::Exponential(mean)
            }
        }
    }

    /// The length of memcached's keys.
    fn key_bytes(&self) -> u64 {
        let size = self.record.number("key").unwrap_or(16);
        if !(1..=250).contains(&size) {
            let message = format!("`key` must be from 1 to 250 bytes, not {size}");
            self.error(codes::BAD_VALUE, "key", message, "");
        }
        size.clamp(1, 250)
    }

    /// The one of these fields that is there.
    fn amount(&self, names: &[&str]) -> Amount {
        let written: Vec<&str> =
            names.iter().copied().filter(|name| self.record.is_written(name)).collect();
        if let [one, other, ..] = written.as_slice() {
            let message = format!("an application has both `{one}` and `{other}`");
            let span = self.record.span_of(other);
            let diagnostic = Diagnostic::error(codes::CONFLICT, span, message);
            let diagnostic = diagnostic.label(self.record.span_of(one), "the other one");
            self.context.messages.push(diagnostic.help("leave one out"));
        }
        let Some(value) = written.first().and_then(|name| self.positive(name)) else {
            return Amount::Unlimited;
        };
        match written[0] {
            "bytes" => Amount::Bytes(value),
            "duration" => Amount::Duration(value),
            _ => Amount::Count(value),
        }
    }

    /// Whether the rate of UDP is a number of datagrams.
    fn is_frequency(&self) -> bool {
        matches!(self.record.get("rate").map(|value| &value.kind), Some(ValueKind::Frequency(_)))
    }

    fn flow_rate(&self) -> Option<FlowRate> {
        match (self.record.decimal("load"), self.record.number("rate")) {
            (Some(_), Some(_)) => {
                let message = "a group of flows has both `load` and `rate`".to_string();
                self.error(codes::CONFLICT, "rate", message, "leave one out");
                None
            }
            (Some(0.0), None) => {
                self.error(codes::BAD_VALUE, "load", "`load` is zero".to_string(), "");
                None
            }
            (Some(load), None) => Some(FlowRate::Load(load)),
            (None, Some(rate)) => Some(FlowRate::Bits(rate)),
            (None, None) => {
                if !self.record.is_written("load") && !self.record.is_written("rate") {
                    let message = "a group of flows has neither `load` nor `rate`".to_string();
                    self.error(codes::MISSING, "load", message, "such as `load: 50%`");
                }
                None
            }
        }
    }

    fn sizes(&self) -> Option<FlowSizes> {
        let value = self.record.get("sizes")?;
        match &value.kind {
            ValueKind::Word("data-mining") => Some(FlowSizes::DataMining),
            ValueKind::Word(_) => Some(FlowSizes::WebSearch),
            ValueKind::Number(size) => {
                let _ = self.positive("sizes")?;
                Some(FlowSizes::Points(vec![(*size, 1.0)]))
            }
            ValueKind::Record(record) => record.text("file").map(FlowSizes::File),
            ValueKind::List(points) => self.points(points, value.span),
            _ => None,
        }
    }

    fn points(&self, list: &[Value], span: Span) -> Option<FlowSizes> {
        let mut points: Vec<(u64, f64)> = Vec::new();
        for point in list.iter().filter_map(Value::record) {
            let (size, probability) = (point.number("size")?, point.decimal("probability")?);
            if points.last().is_some_and(|last| last.0 > size || last.1 > probability) {
                let message = "sizes and probabilities of a distribution never decrease";
                let help = "a point is the share of flows of at most its size";
                self.context.messages.error(codes::BAD_VALUE, point.span, message, help);
                return None;
            }
            points.push((size, probability));
        }
        match points.last() {
            Some((size, 1.0)) if *size > 0 => Some(FlowSizes::Points(points)),
            _ => {
                let message = "a distribution of sizes ends with the probability 1";
                let help = "write a last point such as {size: 1MB, probability: 100%}";
                self.context.messages.error(codes::BAD_VALUE, span, message, help);
                None
            }
        }
    }

    fn frames(&self) -> Vec<TimedFrame> {
        let mut frames = Vec::new();
        for frame in self.record.list("frames").iter().filter_map(Value::record) {
            let Some(ValueKind::Bytes(bytes)) = frame.get("bytes").map(|value| &value.kind) else {
                continue;
            };
            let span = frame.span_of("bytes");
            if bytes.len() < 14 {
                let message = format!("a frame has 14 bytes at least, not {}", bytes.len());
                let help = "it begins with two Ethernet addresses and the EtherType";
                self.context.messages.error(codes::BAD_VALUE, span, message, help);
            }
            frames.push(TimedFrame {
                at_ps: frame.number("at").unwrap_or(0),
                bytes: bytes.clone(),
                count: frame.number("count").unwrap_or(1),
                interval_ps: frame.number("interval").unwrap_or(SECOND_PS),
                span,
            });
        }
        frames
    }
}

/// Names all applications: by the file's name, with the host if several have it, or by host and kind.
pub(super) fn give_names(context: &mut Context<'_>) {
    let messages = context.messages;
    let mut entries: BTreeMap<String, Vec<(usize, Span)>> = BTreeMap::new();
    for (number, host) in context.network.hosts.iter().enumerate() {
        for application in &host.applications {
            if let Some(group) = &application.group {
                entries.entry(group.clone()).or_default().push((number, application.span));
            }
        }
    }
    for (group, places) in &entries {
        let first = places[0];
        let other = places.iter().skip(1).find(|place| place.1 != first.1 || place.0 == first.0);
        if let Some((_, span)) = other {
            let message = format!("two applications have the name `{group}`");
            let diagnostic = Diagnostic::error(codes::BAD_NAME, *span, message);
            messages.push(diagnostic.label(first.1, "the other one").help("rename one of them"));
        }
    }
    let count = context.network.hosts.iter().map(|host| host.applications.len()).sum::<usize>();
    if count > MAX_APPLICATIONS {
        let message =
            format!("the network has {count} applications, at most {MAX_APPLICATIONS} can run");
        messages.error(codes::BAD_VALUE, Span::NONE, message, "");
    }
    for host in &mut context.network.hosts {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for application in &mut host.applications {
            application.name = match &application.group {
                Some(group) if entries[group].len() == 1 => group.clone(),
                Some(group) => format!("{group}.{}", host.name),
                None => {
                    let kind = application.kind.name();
                    let count = counts.entry(kind).or_default();
                    *count += 1;
                    match *count {
                        1 => format!("{}.{kind}", host.name),
                        count => format!("{}.{kind}{count}", host.name),
                    }
                }
            };
        }
    }
}
