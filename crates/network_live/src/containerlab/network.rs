// SPDX-License-Identifier: Apache-2.0
//! The network file of the switches' containers: the same network, with files beside it, without applications and
//! expectations.

use super::SwitchFiles;
use network::links::LossModel;
use network_file::QueueLimit;
use network_file::model::{
    Behaviour, CommandSource, Controller, Direction, Engine, Event, EventSubject, Host, Link,
    Network, Switch,
};
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

fn time(time_ps: u64) -> Value {
    json!(format!("{time_ps}ps"))
}

pub(super) fn write(network: &Network, switches: &[SwitchFiles]) -> String {
    let mut file = Object::new();
    let of_switches = network.switches.iter().zip(switches);
    let of_switches: Object = of_switches
        .map(|(switch, files)| (switch.name.clone(), of_switch(switch, files)))
        .collect();
    file.insert("switches".to_string(), of_switches.into());
    let hosts: Object =
        network.hosts.iter().map(|host| (host.name.clone(), of_host(host))).collect();
    file.insert("hosts".to_string(), hosts.into());
    let links: Vec<Value> = network.links.iter().map(|link| of_link(network, link)).collect();
    file.insert("links".to_string(), links.into());
    let controllers: Object = network
        .controllers
        .iter()
        .filter_map(|one| Some((one.name.clone(), of_controller(network, one)?)))
        .collect();
    if !controllers.is_empty() {
        file.insert("controllers".to_string(), controllers.into());
    }
    let events: Vec<Value> =
        network.events.iter().filter_map(|event| of_event(network, event)).collect();
    if !events.is_empty() {
        file.insert("events".to_string(), events.into());
    }
    if let Some(seed) = network.seed {
        file.insert("seed".to_string(), json!(seed));
    }
    format!("{:#}\n", Value::Object(file))
}

fn of_switch(switch: &Switch, files: &SwitchFiles) -> Value {
    let mut object = Object::new();
    let mut entries = Vec::new();
    for (name, _) in files.named(&switch.name) {
        let file = name.rsplit('/').next().unwrap_or_default().to_string();
        match file.split('.').next() {
            Some("program") => drop(object.insert("program".to_string(), json!(name))),
            Some("device") => drop(object.insert("device".to_string(), json!(name))),
            _ => entries.push(name),
        }
    }
    if !entries.is_empty() {
        object.insert("entries".to_string(), json!(entries));
    }
    if let Some(engine) = &switch.engine {
        let name = match engine.value {
            Engine::Jit => "jit",
            Engine::Interpreter => "interp",
            Engine::Reference => "reference",
        };
        object.insert("engine".to_string(), json!(name));
    }
    if let Some(port) = &switch.cpu_port {
        object.insert("cpu_port".to_string(), json!(port.value));
    }
    if let Some(queues) = &switch.priority_queues {
        object.insert("priority_queues".to_string(), json!(queues.value));
    }
    object.into()
}

fn of_host(host: &Host) -> Value {
    let mut object = Object::new();
    let addresses: Vec<String> =
        host.addresses().map(|own| format!("{}/{}", own.value.address, own.value.length)).collect();
    if !addresses.is_empty() {
        object.insert("address".to_string(), json!(addresses));
    }
    object.insert("mac".to_string(), json!(host.mac().to_string()));
    let gateways: Vec<String> =
        host.gateways.iter().map(|gateway| gateway.value.to_string()).collect();
    match gateways.as_slice() {
        [] => {}
        [gateway] => drop(object.insert("gateway".to_string(), json!(gateway))),
        gateways => drop(object.insert("gateway".to_string(), json!(gateways))),
    }
    let routes = host.routes.iter().map(|route| {
        let mut object = Object::new();
        let to = format!("{}/{}", route.to.address, route.to.length);
        object.insert("to".to_string(), json!(to));
        if let Some(via) = route.via {
            object.insert("via".to_string(), json!(via.to_string()));
        }
        Value::Object(object)
    });
    let routes: Vec<Value> = routes.collect();
    if !routes.is_empty() {
        object.insert("routes".to_string(), routes.into());
    }
    let arp: Object = host
        .arp
        .iter()
        .map(|entry| (entry.address.to_string(), json!(entry.mac.to_string())))
        .collect();
    if !arp.is_empty() {
        object.insert("arp".to_string(), arp.into());
    }
    object.into()
}

fn of_link(network: &Network, link: &Link) -> Value {
    let mut object = Object::new();
    let ends = link.ends.each_ref().map(|end| match end.node {
        network_file::model::Node::Host(number) => network.hosts[number].name.clone(),
        node => format!("{}:{}", network.name_of(node), end.port),
    });
    object.insert("ends".to_string(), json!(ends));
    if let Some(name) = &link.name {
        object.insert("name".to_string(), json!(name));
    }
    let [forth, back] = link.directions.each_ref().map(of_direction);
    if forth == back {
        object.extend(forth);
    } else {
        object.insert("forth".to_string(), forth.into());
        object.insert("back".to_string(), back.into());
    }
    object.into()
}

/// Properties of a direction; those that the file left to defaults stay left.
fn of_direction(direction: &Direction) -> Object {
    let mut object = Object::new();
    let mut set = |name: &str, value: Value| drop(object.insert(name.to_string(), value));
    let options = &direction.options;
    if let Some(rate_bps) = direction.rate_bps.filter(|_| !direction.is_default_rate) {
        set("rate", json!(format!("{rate_bps}bps")));
    }
    if !direction.is_default_latency {
        set("latency", time(options.latency_ps));
    }
    if options.jitter_ps > 0 {
        set("jitter", time(options.jitter_ps));
    }
    if options.reordering > 0.0 {
        set("reorder", json!(options.reordering));
    } else if !options.keeps_order {
        set("reorder", json!(true));
    }
    match options.loss {
        LossModel::Random(loss) if loss > 0.0 => set("loss", json!(loss)),
        LossModel::Random(_) => {}
        LossModel::GilbertElliott { to_bad, to_good, loss_in_bad, loss_in_good } => {
            let model = json!({"p": to_bad, "r": to_good, "loss_in_bad": loss_in_bad, "loss_in_good": loss_in_good});
            set("burst_loss", model);
        }
    }
    if options.corruption > 0.0 {
        set("corrupt", json!(options.corruption));
    }
    if options.duplication > 0.0 {
        set("duplicate", json!(options.duplication));
    }
    match direction.queue {
        Some(QueueLimit::Packets(packets)) => set("queue", json!(format!("{packets}p"))),
        Some(QueueLimit::Bytes(bytes)) => set("queue", json!(format!("{bytes}B"))),
        None => {}
    }
    if direction.overhead_bytes > 0 {
        set("overhead", json!(direction.overhead_bytes));
    }
    object
}

/// A controller with commands in the file; `None` for programs.
fn of_controller(network: &Network, controller: &Controller) -> Option<Value> {
    let Behaviour::Commands(timed) = &controller.behaviour else { return None };
    let names: Vec<&str> =
        controller.switches.iter().map(|switch| network.switches[*switch].name.as_str()).collect();
    let commands = timed.iter().map(|commands| {
        let mut object = Object::new();
        object.insert("at".to_string(), time(commands.at_ps));
        match &commands.commands {
            CommandSource::Text(text) => object.insert("text".to_string(), json!(text.value)),
            CommandSource::File(file) => object.insert("file".to_string(), json!(file.value)),
        };
        Value::Object(object)
    });
    let commands: Vec<Value> = commands.collect();
    Some(json!({"switches": names, "latency": time(controller.latency_ps), "commands": commands}))
}

fn of_event(network: &Network, event: &Event) -> Option<Value> {
    let state = if event.is_up { "up" } else { "down" };
    Some(match event.subject {
        EventSubject::Link(link) => {
            let end = network.port_name(&network.links[link].ends[0]);
            json!({"at": time(event.at_ps), "link": end, "state": state})
        }
        EventSubject::Node(node) => {
            json!({"at": time(event.at_ps), "node": network.name_of(node), "state": state})
        }
        EventSubject::Controller(_) => return None,
    })
}
