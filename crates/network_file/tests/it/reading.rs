// SPDX-License-Identifier: Apache-2.0
//! What networks say: the files of `files/right`, each read without a message.

use network::links::{LinkOptions, LossModel};
use network_file::model::*;
use network_file::{Format, Kind, Located, Mac, Options, QueueLimit, read};
use source::{Diagnostics, RenderOptions, SourceMap};
use std::path::{Path, PathBuf};

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/files").join(name)
}

pub fn read_text(name: &str, text: &str) -> (Option<Kind>, Diagnostics, SourceMap) {
    let mut map = SourceMap::new();
    let file = map.add(name, text);
    let (kind, diagnostics) = read(&map, file, Format::of_name(name), &Options::default());
    (kind, diagnostics, map)
}

pub fn messages(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    source::render_text(map, diagnostics, RenderOptions::default())
}

pub fn network_of(name: &str, text: &str) -> Network {
    let (kind, diagnostics, map) = read_text(name, text);
    assert!(diagnostics.is_empty(), "{}", messages(&map, &diagnostics));
    match kind.expect("no errors, so a result") {
        Kind::Network(network) => *network,
        Kind::LucidRun => panic!("{name} is a Lucid run"),
    }
}

fn right(name: &str) -> Network {
    let text = std::fs::read_to_string(folder("right").join(name)).expect("a file");
    network_of(name, &text)
}

/// A direction without properties but the defaults.
fn plain_direction() -> Direction {
    Direction {
        options: LinkOptions { latency_ps: 10_000_000, ..LinkOptions::default() },
        rate_bps: Some(1_000_000_000),
        queue: None,
        overhead_bytes: 0,
        is_default_rate: true,
        is_default_latency: true,
    }
}

const SECOND_PS: u64 = 1_000_000_000_000;

#[test]
fn links_and_their_defaults() {
    let network = right("everything.yaml");
    let defaults = Direction {
        rate_bps: Some(100_000_000),
        overhead_bytes: 20,
        is_default_rate: false,
        ..plain_direction()
    };
    assert_eq!(network.links[0].directions, [defaults; 2]);
    let [jittered, back] = network.links[2].directions;
    assert_eq!(jittered, back);
    assert_eq!(
        jittered.options,
        LinkOptions {
            latency_ps: 5_000_000,
            jitter_ps: 1_000_000,
            keeps_order: false,
            loss: LossModel::Random(0.001),
            corruption: 0.0001,
            duplication: 0.001,
            ..LinkOptions::default()
        }
    );
    let long = &network.links[3];
    assert_eq!(long.name.as_deref(), Some("long"));
    let bursts = LossModel::GilbertElliott {
        to_bad: 0.01,
        to_good: 0.1,
        loss_in_bad: 0.7,
        loss_in_good: 0.001,
    };
    let [forth, back] = &long.directions;
    assert_eq!((forth.rate_bps, forth.options.loss), (Some(5_000_000), bursts));
    assert_eq!((forth.queue, forth.options.keeps_order), (Some(QueueLimit::Bytes(64_000)), true));
    // `loss` of one direction replaces the burst loss of both.
    assert_eq!((back.rate_bps, back.options.loss), (Some(10_000_000), LossModel::Random(0.0)));
    assert_eq!((back.queue, back.options.reordering), (Some(QueueLimit::Packets(100)), 0.25));
    assert!(!back.options.keeps_order);
    assert_eq!(
        network.defaults_in_words().as_deref(),
        Some("2 links have the default latency 10 us")
    );
}

#[test]
fn links_between_lucid_switches_have_no_default() {
    let network = network_of(
        "x.yaml",
        "defaults: {switches: {program: x.dpt}}
switches: {a: , b: , c: {program: c.p4}}
hosts: {h: }
links: [[a:1, b:1], [a:2, c:1], [h, b:2]]",
    );
    let none = Direction {
        options: LinkOptions::default(),
        rate_bps: None,
        is_default_rate: false,
        is_default_latency: false,
        ..plain_direction()
    };
    assert_eq!(network.links[0].directions, [none; 2]);
    assert_eq!(network.links[1].directions, [plain_direction(); 2]);
    assert_eq!(network.links[2].directions, [plain_direction(); 2]);
    assert_eq!(
        network.defaults_in_words().as_deref(),
        Some("2 links have the default rate 1 Gb/s, 2 links have the default latency 10 us")
    );
}

#[test]
fn switches_and_hosts() {
    let network = right("everything.yaml");
    let s1 = &network.switches[0];
    let value = |text: &Option<Located<String>>| text.as_ref().map(|text| text.value.clone());
    assert_eq!(value(&s1.program).as_deref(), Some("basic.p4"));
    assert_eq!(s1.entries[0].value, "s1.json");
    assert_eq!(value(&s1.device).as_deref(), Some("s1.toml"));
    assert_eq!(s1.engine.as_ref().map(|engine| engine.value), Some(Engine::Jit));
    assert_eq!(s1.cpu_port.as_ref().map(|port| port.value), Some(510));
    assert_eq!(network.controllers[s1.controller.expect("a controller")].name, "reactive");
    assert!(network.switches[2].is_lucid() && !s1.is_lucid());
    let h1 = &network.hosts[0];
    let addresses: Vec<String> = h1.addresses().map(|own| own.value.to_string()).collect();
    assert_eq!(addresses, ["10.0.1.1/24", "10.0.9.1/24"]);
    assert_eq!((h1.mac(), h1.interfaces[0].is_mac_generated), (Mac([8, 0, 0, 0, 1, 0x11]), false));
    assert_eq!(
        h1.gateways.first().map(|gateway| gateway.value.to_string()).as_deref(),
        Some("10.0.1.10")
    );
    assert_eq!(h1.routes.len(), 3);
    assert_eq!(h1.routes[2].via, None);
    assert_eq!(h1.arp[0].mac, Mac([8, 0, 0, 0, 1, 0]));
    let h2 = &network.hosts[1];
    assert_eq!((h2.mac(), h2.interfaces[0].is_mac_generated), (Mac([2, 0, 0, 0, 0, 2]), true));
    // Its command adds to the entries that `defaults` give.
    assert_eq!(h2.arp.len(), 2);
}

#[test]
fn applications() {
    let network = right("everything.yaml");
    let names: Vec<&str> =
        network.hosts[0].applications.iter().map(|application| application.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "h1.ping",
            "bulk",
            "h1.request_response",
            "h1.udp",
            "h1.udp2",
            "h1.flows",
            "h1.flows2",
            "h1.flows3",
            "h1.flows4",
            "h1.memcached_client",
            "h1.replay",
            "h1.incast",
            "h1.send",
            "everyone.h1"
        ]
    );
    let application = |name: &str| {
        let all = network.hosts.iter().flat_map(|host| &host.applications);
        all.clone().find(|application| application.name == name).expect(name)
    };
    let ApplicationKind::Ping { to, count, interval_ps, .. } = &application("h1.ping").kind else {
        panic!("a ping")
    };
    assert_eq!((to[0].value, *count, *interval_ps), (Destination::Host(1), 3, SECOND_PS / 10));
    assert_eq!(to[1].value, Destination::Address("10.0.2.2".parse().expect("an address")));
    let bulk = application("bulk");
    assert_eq!(bulk.start_ps, SECOND_PS);
    let ApplicationKind::Tcp { amount, rate_bps, parallel, tcp, .. } = &bulk.kind else {
        panic!("TCP")
    };
    assert_eq!((*amount, *rate_bps, *parallel), (Amount::Bytes(10_000_000), Some(5_000_000), 4));
    assert_eq!(
        *tcp,
        TcpOptions {
            control: CongestionControl::Dctcp,
            segment_bytes: 1_460,
            window_bytes: 262_144,
            initial_window: 4,
            min_rto_ps: SECOND_PS / 100,
            delayed_ack: DelayedAck::Off,
            has_ecn: true,
            has_sack: false,
            has_small_queue: false,
            port: Some(5_001),
            tos: 2,
        }
    );
    let ApplicationKind::Udp { rate, arrivals, amount, .. } = &application("h1.udp").kind else {
        panic!("UDP")
    };
    assert_eq!((*rate, *arrivals), (UdpRate::Bits(1_050_000), Arrivals::Poisson));
    assert_eq!(*amount, Amount::Duration(15 * SECOND_PS));
    let ApplicationKind::Udp { rate, size, amount, .. } = &application("h1.udp2").kind else {
        panic!("UDP")
    };
    assert_eq!((*rate, *amount), (UdpRate::Datagrams(100), Amount::Count(10)));
    assert_eq!(*size, DatagramSize::Exponential(500));
    let sizes = |name: &str| match &application(name).kind {
        ApplicationKind::Flows { sizes, rate, .. } => (sizes.clone(), *rate),
        _ => panic!("flows"),
    };
    assert_eq!(sizes("h1.flows"), (FlowSizes::WebSearch, FlowRate::Load(0.3)));
    assert!(
        matches!(sizes("h1.flows2"), (FlowSizes::File(file), FlowRate::Bits(1_000_000)) if file.value == "sizes.txt")
    );
    assert_eq!(sizes("h1.flows3").0, FlowSizes::Points(vec![(1_000, 0.5), (1_000_000, 1.0)]));
    assert_eq!(sizes("h1.flows4").0, FlowSizes::Points(vec![(10_000, 1.0)]));
    let ApplicationKind::Send { frames } = &application("h1.send").kind else { panic!("frames") };
    assert_eq!((frames[0].bytes.len(), frames[0].at_ps), (30, SECOND_PS));
    assert_eq!((frames[1].count, frames[1].interval_ps), (3, SECOND_PS / 1_000));
    // The list of the file: all hosts but the destination, and the senders of an incast.
    let pinging = |host: &&Host| {
        host.applications.iter().any(|each| each.group.as_deref() == Some("everyone"))
    };
    let names: Vec<&str> =
        network.hosts.iter().filter(pinging).map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["h1", "h2"]);
    let ApplicationKind::Incast { from, .. } = &application("h3.incast").kind else {
        panic!("an incast")
    };
    assert_eq!(from.iter().map(|sender| sender.value).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn events_controllers_and_captures() {
    let network = right("everything.yaml");
    let events: Vec<_> = network
        .events
        .iter()
        .map(|event| (event.at_ps / SECOND_PS, event.subject, event.is_up))
        .collect();
    let (long, s2) = (EventSubject::Link(3), EventSubject::Node(Node::Switch(1)));
    assert_eq!(
        events,
        [
            (5, long, false),
            (6, long, true),
            (7, s2, false),
            (8, s2, true),
            (8, EventSubject::Controller(0), false)
        ]
    );
    let [reactive, scheduled] = network.controllers.as_slice() else { panic!("two controllers") };
    assert_eq!((reactive.switches.as_slice(), reactive.latency_ps), (&[0][..], 100_000_000));
    assert!(
        matches!(&reactive.behaviour, Behaviour::Program(words) if words[1].value == "control.py")
    );
    let Behaviour::Commands(commands) = &scheduled.behaviour else { panic!("commands") };
    assert!(
        matches!(&commands[1].commands, CommandSource::File(file) if file.value == "later.txt")
    );
    assert_eq!(commands[2].at_ps, 0);
    let captures: Vec<_> =
        network.captures.iter().map(|capture| (capture.file.as_str(), capture.direction)).collect();
    assert_eq!(
        captures,
        [("h1.pcap", CaptureDirection::Both), ("middle.pcap", CaptureDirection::Out)]
    );
    assert_eq!(
        (network.seed, network.until_ps.map(|until| until.value)),
        (Some(1), Some(30 * SECOND_PS))
    );
}

#[test]
fn expectations() {
    let network = right("everything.yaml");
    let first = &network.expectations[0];
    assert_eq!(
        first.subject,
        Subject::Ping { application: ApplicationIndex { host: 0, application: 0 }, destination: 0 }
    );
    let condition = |number: usize, metric: Metric| {
        let conditions = &network.expectations[number].conditions;
        conditions.iter().find(|each| each.metric == metric).expect("a condition").range
    };
    const MILLISECOND_PS: u128 = 1_000_000_000;
    let rtt = condition(0, Metric::Rtt);
    assert!(rtt.contains(49 * MILLISECOND_PS) && !rtt.contains(50 * MILLISECOND_PS));
    assert!(condition(0, Metric::Loss).contains_fraction(0.0));
    assert!(!condition(0, Metric::Loss).contains_fraction(0.01));
    let Subject::Applications(everyone) = &network.expectations[1].subject else {
        panic!("two pings")
    };
    assert_eq!(everyone.len(), 2);
    let goodput = condition(2, Metric::Goodput);
    assert!(goodput.contains(1_000_000) && !goodput.contains(999_999));
    let loss = condition(3, Metric::Loss);
    assert!(loss.contains_fraction(0.02) && !loss.contains_fraction(0.04));
    assert_eq!(network.expectations[3].subject, Subject::Link(3));
    let Subject::Received { host, fields, .. } = &network.expectations[5].subject else {
        panic!("a host")
    };
    assert_eq!(
        (*host, fields[0].0.value.as_str(), fields[0].1.value.as_str()),
        (1, "ipv4.ttl", "62")
    );
    let Subject::Counter(cell) = &network.expectations[6].subject else { panic!("a counter") };
    assert_eq!((cell.switch, cell.index, cell.at_ps), (0, 100, Some(2 * SECOND_PS)));
    let count = network.expectations.iter().map(|each| each.conditions.len()).sum::<usize>();
    assert_eq!((network.expectations.len(), count), (8, 29));
}

#[test]
fn a_topology_of_the_tutorials() {
    let network = right("pod.topology.json");
    assert_eq!(network.origin, Origin::Tutorial);
    let programs: Vec<Option<&str>> = network
        .switches
        .iter()
        .map(|switch| switch.program.as_ref().map(|program| program.value.as_str()))
        .collect();
    assert_eq!(programs, [Some("firewall.p4"), None, None, None]);
    assert_eq!(network.switches[1].cpu_port.as_ref().map(|port| port.value), Some(510));
    let entries: Vec<&str> =
        network.switches[2].entries.iter().map(|file| file.value.as_str()).collect();
    assert_eq!(entries, ["pod/s3-runtime.json", "pod/s3-commands.txt"]);
    let gateways: Vec<Option<String>> = network
        .hosts
        .iter()
        .map(|host| host.gateways.first().map(|gateway| gateway.value.to_string()))
        .collect();
    let gateway = |text: &str| Some(text.to_string());
    assert_eq!(gateways, [gateway("10.0.1.10"), gateway("10.0.2.20"), gateway("10.0.3.30"), None]);
    assert_eq!(network.hosts[3].routes[0].to.to_string(), "10.0.0.0/8");
    assert_eq!(network.links[0].directions, [plain_direction(); 2]);
    let slow = network.links[2].directions[0];
    assert_eq!((slow.rate_bps, slow.options.latency_ps), (Some(500_000), 0));
    assert_eq!((slow.is_default_rate, slow.is_default_latency), (false, false));
    assert_eq!(network.links[6].directions[0].options.latency_ps, 5_000_000_000);
    // The program of the command line is that of the others.
    let text = std::fs::read_to_string(folder("right").join("pod.topology.json")).expect("a file");
    let mut map = SourceMap::new();
    let file = map.add("topology.json", text.as_str());
    let options = Options { program: Some("basic.p4".to_string()), ..Options::default() };
    let (kind, _) = read(&map, file, Format::Json, &options);
    let Some(Kind::Network(network)) = kind else { panic!("a network") };
    let s2 = network.switches[1].program.as_ref();
    assert_eq!(s2.map(|program| program.value.as_str()), Some("basic.p4"));
}

#[test]
fn a_lucid_run_is_left_to_its_reader() {
    let text = std::fs::read_to_string(folder("right").join("lucid_run.json")).expect("a file");
    let (kind, diagnostics, _) = read_text("lucid_run.json", &text);
    assert_eq!((kind, diagnostics.len()), (Some(Kind::LucidRun), 0));
    // So are all specifications of the tests of their reader.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../lucid_reference/tests/it/specification/same");
    for name in ["everything.json", "everything.yaml", "everything.toml"] {
        let text = std::fs::read_to_string(folder.join(name)).expect("a specification");
        assert_eq!(read_text(name, &text).0, Some(Kind::LucidRun), "{name}");
    }
}

#[test]
fn three_notations_say_the_same() {
    let toml = right("leaf_spine.toml");
    let yaml = network_of(
        "x.yaml",
        "seed: 3
until: 1s
topology:
  kind: leaf-spine
  leaves: 3
  spines: 2
  hosts_per_leaf: 2
  program: router.p4
  entries: common.txt
  rate: 10Gbps
  latency: 1us
  queue: 100p
  hosts: {applications: [flows: {to: all, sizes: data-mining, load: 0.5, name: background}]}
hosts: {h1: {applications: []}}
expect: [{application: background, completed: '>= 10'}]
",
    );
    let json = network_of(
        "x.json",
        r#"{"seed": 3, "until": "1s", // the end
            "topology": {"kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 2, "program": "router.p4",
              "entries": "common.txt", "rate": "10Gbps", "latency": "1us", "queue": "100p",
              "hosts": {"applications": [{"flows":
                {"to": "all", "sizes": "data-mining", "load": "50%", "name": "background"}}]}},
            "hosts": {"h1": {"applications": []}},
            "expect": [{"application": "background", "completed": "10.."}]}"#,
    );
    let shown = |network: &Network| {
        let text = format!("{network:?}");
        let parts =
            text.split("Span {").map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
        // The braces of a file's number are inside those of the place.
        parts.collect::<String>()
    };
    assert_eq!(shown(&toml), shown(&yaml));
    assert_eq!(shown(&toml), shown(&json));
    assert_eq!(toml.hosts[0].applications, []);
    assert_eq!(toml.hosts[1].applications[0].name, "background.h2");
}

/// `name`, `start` and `from` may stand beside the kind, in every form of its value.
#[test]
fn common_fields_stand_inside_or_beside_the_kind() {
    let read = |applications: &str| {
        let text = format!(
            "topology: {{kind: star, size: 3, program: a.p4}}\napplications: [{applications}]\n"
        );
        let mut network = network_of("x.yaml", &text);
        let applications = network.hosts.iter_mut().flat_map(|host| host.applications.drain(..));
        let kept = applications.map(|one| (one.name, one.start_ps, one.kind.name()));
        kept.collect::<Vec<_>>()
    };
    for (beside, inside) in [
        (
            "{ping: h2, from: h1, start: 1s, name: p}",
            "{ping: {to: h2, from: h1, start: 1s, name: p}}",
        ),
        (
            "{tcp: {to: h2, bytes: 1KB}, from: [h1, h3]}",
            "{tcp: {to: h2, bytes: 1KB, from: [h1, h3]}}",
        ),
        ("{sink: , from: h1}", "{sink: {from: h1}}"),
        (
            "{from: h1, replay: x.pcap, start: 2ms}",
            "{replay: {capture: x.pcap, from: h1, start: 2ms}}",
        ),
    ] {
        assert_eq!(read(beside), read(inside), "{beside}");
        assert!(!read(beside).is_empty());
    }
}

/// An entry of `links` changes a link of the topology and leaves the others, its other properties and its ports.
#[test]
fn a_file_changes_links_of_its_topology() {
    let with = |links: &str| {
        network_of(
            "x.yaml",
            &format!(
                "topology: {{kind: line, switches: 3, program: a.p4, rate: 10Gbps, latency: 2us}}\n{links}"
            ),
        )
    };
    let plain = with("");
    let changed = with(
        "links: [{link: s1-s2, rate: 1Gbps, loss: 1%, name: slow, back: {latency: 5us}}, {link: h3, jitter: 1us}]\n\
         events: [{at: 1ms, link: slow, state: down}]",
    );
    assert_eq!(plain.links.len(), changed.links.len());
    let mut differing = Vec::new();
    for (number, (one, other)) in plain.links.iter().zip(&changed.links).enumerate() {
        assert_eq!(
            one.ends.map(|end| (end.node, end.port)),
            other.ends.map(|end| (end.node, end.port))
        );
        if one.directions != other.directions {
            differing.push(number);
        }
    }
    let name =
        |number: usize| changed.links[number].ends.map(|end| changed.name_of(end.node).to_string());
    let names: Vec<[String; 2]> = differing.iter().map(|number| name(*number)).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let slow = changed.links.iter().find(|link| link.name.as_deref() == Some("slow")).expect("one");
    assert_eq!(slow.directions.map(|one| one.rate_bps), [Some(1_000_000_000); 2]);
    assert_eq!(slow.directions.map(|one| one.options.latency_ps), [2_000_000, 5_000_000]);
    assert_eq!(slow.directions[0].options.loss, network::links::LossModel::Random(0.01));
}

/// Hosts with both versions of IP and with several interfaces; destinations have a version of the sender.
#[test]
fn hosts_have_both_versions_and_several_interfaces() {
    let text = "
switches: {s1: {program: a.p4}, s2: {program: a.p4}}
hosts:
  h1:
    address: [10.0.1.1/24, \"2001:db8:1::1/64\"]
    gateway: [10.0.1.254, \"fe80::1\"]
    routes: [{to: \"2001:db8:9::/48\", via: \"2001:db8:1::9\"}]
    arp: {\"fe80::1\": \"02:00:00:00:01:00\"}
    applications: [{udp: {to: h2, rate: 1Mbps}}, {udp: {to: \"2001:db8:2::1\", rate: 1Mbps}}]
  h2:
    interfaces:
      - {address: \"2001:db8:2::1/64\", mac: \"08:00:00:00:00:02\"}
      - {address: 10.0.3.1/24}
    applications: [{udp: {to: h1, rate: 1Mbps}}]
links:
  - [h1, \"s1:1\"]
  - [\"h2:1\", \"s1:2\"]
  - [h2, \"s2:1\"]
";
    let network = network_of("x.yaml", text);
    let [h1, h2] = [&network.hosts[0], &network.hosts[1]];
    let gateways: Vec<String> = h1.gateways.iter().map(|one| one.value.to_string()).collect();
    assert_eq!(gateways, ["10.0.1.254", "fe80::1"]);
    let macs: Vec<String> = h2.interfaces.iter().map(|own| own.mac.to_string()).collect();
    assert_eq!(macs, ["08:00:00:00:00:02", "02:00:01:00:00:02"]);
    let ports: Vec<u32> = network.links.iter().map(|link| link.ends[0].port).collect();
    assert_eq!(ports, [0, 1, 0], "h2 alone is its first port without a link");
    assert_eq!(h2.address_for(h1).map(|to| to.to_string()).as_deref(), Some("2001:db8:2::1"));
    assert_eq!(h1.address_for(h2).map(|to| to.to_string()).as_deref(), Some("10.0.1.1"));
    let sizes = network.hosts.iter().flat_map(|host| &host.applications).map(|one| &one.kind);
    let sizes: Vec<u64> = sizes
        .filter_map(|kind| match kind {
            ApplicationKind::Udp { size, .. } => Some(size.mean_bytes()),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [1450, 1450, 1470], "what 1,500 bytes have room for");
}

/// Each metric has a name, and each name of the table a metric: an expectation of each of them has one condition.
#[test]
fn every_metric_is_read() {
    for (name, metric) in Metric::ALL {
        assert_eq!(Metric::of_name(name), Some(*metric));
        assert_eq!(metric.name(), *name);
    }
}
