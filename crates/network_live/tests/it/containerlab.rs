// SPDX-License-Identifier: Apache-2.0
//! What `--emit containerlab` writes: golden files, the published schema if it is there, and a network file that says the
//! same as the original.

use network_file::model::{Host, Network};
use network_file::{Format, Kind, Options};
use network_live::containerlab::{SCHEMA_VERSION, SwitchFiles, emit};
use serde_json::Value;
use source::SourceMap;
use std::path::Path;
use testing::golden;
use testing::json_schema::{Validator, document_value};

/// The variable with the path of containerlab's schema.
const SCHEMA: &str = "PLANEWRIGHT_CONTAINERLAB_SCHEMA";

/// Two switches with every property of links, and port 0 at one of them.
const ALL_PROPERTIES: &str = r#"
switches:
  s1: {program: a.p4, entries: [a.txt, b.json], cpu_port: 510, priority_queues: 4, engine: interp}
  "s.2": {program: a.p4, device: d.toml}
hosts:
  h1:
    address: [10.0.1.1/24, 10.0.9.1/31]
    gateway: 10.0.1.254
    arp: {10.0.1.254: "08:00:00:00:01:00"}
    routes: [{to: 10.7.0.0/16, via: 10.0.1.9}, {to: 10.8.0.0/16}]
    applications: [ping: h2]
  h2: {address: 10.0.2.2/24, mac: "02:00:00:00:00:77"}
links:
  - {ends: [h1, "s1:0"], rate: 10Mbps, latency: 5ms, jitter: 2ms, loss: 0.5%, corrupt: 1%, duplicate: 2%, queue: 64p}
  - {ends: ["s1:1", "s.2:3"], name: backbone, forth: {rate: 2Gbps, reorder: 10%, latency: 1us}, back: {jitter: 3us, reorder: true}}
  - {ends: ["s.2:1", h2], burst_loss: {p: 1%, r: 10%, loss_in_bad: 90%, loss_in_good: 0.1%}, queue: 64KB, overhead: 24}
events:
  - {at: 1s, link: backbone, state: down, for: 500ms}
  - {at: 3s, node: s1, state: down}
controllers:
  c1: {switches: s1, latency: 100us, commands: [{at: 2s, text: "table_clear t"}]}
seed: 7
"#;

fn read(name: &str, text: &str) -> Network {
    let mut map = SourceMap::new();
    let file = map.add(name.to_string(), text);
    let (kind, found) = network_file::read(&map, file, Format::of_name(name), &Options::default());
    assert!(!found.has_errors(), "{}", source::render_text(&map, &found, Default::default()));
    match kind {
        Some(Kind::Network(network)) => *network,
        _ => panic!("not a network"),
    }
}

fn files_of(network: &Network) -> Vec<SwitchFiles> {
    let files = network.switches.iter().map(|switch| SwitchFiles {
        program: "#include <core.p4>\n".to_string(),
        entries: switch
            .entries
            .iter()
            .map(|file| {
                (file.value.rsplit('.').next().unwrap_or_default().to_string(), "text".to_string())
            })
            .collect(),
        device: switch.device.as_ref().map(|_| ("toml".to_string(), "ports = 4\n".to_string())),
    });
    files.collect()
}

fn emitted(text: &str, lab: &str) -> (Network, Vec<(String, String)>) {
    let network = read("n.yaml", text);
    let files = emit(&network, lab, &files_of(&network));
    (network, files)
}

fn text<'f>(files: &'f [(String, String)], name: &str) -> &'f str {
    let found = files.iter().find(|(known, _)| known == name);
    found.map_or_else(|| panic!("no {name}"), |(_, text)| text)
}

fn fat_tree() -> &'static str {
    "topology: {kind: fat-tree, k: 4, program: a.p4, rate: 10Mbps, latency: 1ms}\n"
}

#[test]
fn the_files_are_as_expected() {
    let (_, files) = emitted(ALL_PROPERTIES, "lab");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/containerlab");
    for name in ["lab.clab.yml", "links.sh", "network.json", "Dockerfile"] {
        golden::check(folder.join(format!("{name}.expected")), text(&files, name));
    }
    let names: Vec<&str> = files[4..].iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "switches/s1/program.p4",
        "switches/s1/entries1.txt",
        "switches/s1/entries2.json",
        "switches/s.2/program.p4",
        "switches/s.2/device.toml",
    ];
    assert_eq!(names, expected);
}

#[test]
fn the_topology_keeps_containerlabs_schema() {
    let Some(path) = std::env::var_os(SCHEMA) else {
        testing::programs::not_run("containerlab's schema", &format!("{SCHEMA} names no file"));
        return;
    };
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the schema"))
        .expect("a schema in JSON");
    let validator = Validator::new(schema);
    for network in [ALL_PROPERTIES, fat_tree()] {
        let (_, files) = emitted(network, "lab");
        let topology = text(&files, "lab.clab.yml");
        assert!(topology.contains(&format!("version {SCHEMA_VERSION}")));
        let value = document_value(Format::Yaml, topology);
        assert_eq!(validator.check(&value), Ok(()));
        // The schema refuses what it does not know.
        let wrong = topology.replace("kind: linux", "kind: linux\n      rate: 3");
        assert!(validator.check(&document_value(Format::Yaml, &wrong)).is_err());
    }
}

/// What a host is, without places.
fn host(host: &Host) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        host.name.clone(),
        host.addresses().map(|own| own.value).collect::<Vec<_>>(),
        host.mac(),
        host.gateways.iter().map(|gateway| gateway.value).collect::<Vec<_>>(),
        host.routes.iter().map(|route| (route.to, route.via)).collect::<Vec<_>>(),
        host.arp.iter().map(|entry| (entry.address, entry.mac)).collect::<Vec<_>>(),
    )
}

#[test]
fn the_network_file_says_the_same() {
    for original in [ALL_PROPERTIES, fat_tree()] {
        let (network, files) = emitted(original, "lab");
        let again = read("network.json", text(&files, "network.json"));
        let links = |network: &Network| -> Vec<_> {
            let ends = |link: &network_file::model::Link| link.ends.map(|end| (end.node, end.port));
            network
                .links
                .iter()
                .map(|link| (ends(link), link.name.clone(), link.directions))
                .collect()
        };
        assert_eq!(links(&again), links(&network));
        let hosts = |network: &Network| network.hosts.iter().map(host).collect::<Vec<_>>();
        assert_eq!(hosts(&again), hosts(&network));
        let events = |network: &Network| -> Vec<_> {
            network.events.iter().map(|event| (event.at_ps, event.subject, event.is_up)).collect()
        };
        assert_eq!(events(&again), events(&network));
        assert_eq!(again.controllers.len(), network.controllers.len());
        assert_eq!(again.seed, network.seed);
        let settings = |network: &Network| -> Vec<_> {
            let of = |switch: &network_file::model::Switch| {
                (
                    switch.name.clone(),
                    switch.cpu_port.as_ref().map(|port| port.value),
                    switch.priority_queues.as_ref().map(|queues| queues.value),
                    switch.engine.as_ref().map(|engine| engine.value),
                    switch.entries.len(),
                    switch.device.is_some(),
                )
            };
            network.switches.iter().map(of).collect()
        };
        if original == ALL_PROPERTIES {
            assert_eq!(settings(&again), settings(&network));
        }
    }
}
