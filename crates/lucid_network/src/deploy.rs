// SPDX-License-Identifier: Apache-2.0
//! What the control plane sets up at each switch before a compiled program runs: its number and
//! externs, routes, multicast groups, hash polynomials, as commands that `control` and BMv2 read; and how
//! a device of ours is built for it. What the program does with all that is `scheduler`'s.

use super::installed;
use device::{DeviceOptions, GeneratorApplication, GeneratorTimer, PacketTrain, PauseFrame};
use lucid::core::{ExternId, GlobalId, GlobalKind, Program};
use lucid_compiler::generator::{self, OPEN_PART};
use lucid_compiler::scheduler::SERIALISER_PORTS;
use lucid_compiler::wire::{
    DIRECT_PORT, FIRST_CUT_SESSION, FIRST_FLOOD, FIRST_GROUP, FIRST_MEMBER, FIRST_MIXED,
    FIRST_SWITCHES, MIXED_STRIDE, OUTSIDE_PORT,
};
use lucid_compiler::{
    Backend, Clock, Compiled, Delay, GlobalPlace, LONGEST_TNA_PERIOD_PS, Options, PortGroup,
    Recirculation, codes, tna,
};
use lucid_reference::interpreter::{Entry, Group, Value};
use lucid_reference::simulation::Setup;
use network::links::Links;
use source::quantity::in_largest_unit;
use source::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Ports of a switch have numbers below this; the last one means no port.
const PORT_COUNT: u32 = 0x0200;

/// How deep the queues of the recirculation port are, in packets: delayed events wait there.
const RECIRCULATION_QUEUE_PACKETS: u32 = 1 << 16;

/// From one packet into the pipeline to the next (Lucid §7.3), in picoseconds.
const PIPELINE_INTERVAL_PS: u64 = 1000;

/// The rate of a recirculation port that is a port of the device, as in Lucid §7.3.
pub const RECIRCULATION_RATE_BPS: u64 = 100_000_000_000;

/// The first line of [`commands`].
pub const COMMANDS_BEGIN: &str = "# this switch: its number, its recirculation port, its externs";

/// The first line of a [`device_file`].
pub const DEVICE_BEGINS: &str = "# A device for the program; docs/device-files.md describes it.";

/// What a control plane and a device need to know of a switch of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchSetup {
    /// Its number.
    pub number: u32,
    /// The port whose packets come back.
    pub recirculation_port: u32,
    /// How long a packet is on its way back by that port, in picoseconds; `None` is as long as a wire of
    /// [`RECIRCULATION_RATE_BPS`] takes.
    pub round_ps: Option<u64>,
    /// Values of the program's externs, in order.
    pub externs: Vec<Value>,
    /// By which port each other switch is reached.
    pub routes: BTreeMap<u32, u32>,
    /// Ports with links to other switches, which floods go to.
    pub linked_ports: BTreeSet<u32>,
    /// Ports to elsewhere that floods go to as well; none is [`OUTSIDE_PORT`].
    pub outside_ports: BTreeSet<u32>,
    /// Entries of tables before the first packet, in the order in which they are tried.
    pub tables: Vec<(GlobalId, Vec<Entry>)>,
}

impl SwitchSetup {
    /// A switch of a run: routes by fewest links, of equal ones the lowest port at each switch, and
    /// directly to switches that no links lead to.
    pub fn of(setup: &Setup, switch: u32) -> SwitchSetup {
        let mut links = setup.topology();
        let routes = routes(&mut links, switch, setup.switches());
        SwitchSetup {
            number: switch,
            round_ps: Some(setup.timing().generate_delay_ps),
            recirculation_port: setup.recirculation_ports()[switch as usize],
            externs: setup.externs()[switch as usize].clone(),
            routes,
            linked_ports: links.ports_to_others(switch).collect(),
            outside_ports: BTreeSet::new(),
            tables: installed::tables(setup, switch),
        }
    }

    /// Ports that floods go to.
    fn flood_ports(&self) -> BTreeSet<u32> {
        let mut ports = self.linked_ports.clone();
        if self.outside_ports.is_empty() {
            ports.insert(OUTSIDE_PORT);
        }
        ports.extend(&self.outside_ports);
        ports
    }

    fn members(&self, group: &PortGroup) -> BTreeSet<u32> {
        match group {
            PortGroup::Ports(ports) => ports.iter().copied().collect(),
            PortGroup::Extern(ExternId(number)) => match self.externs.get(*number as usize) {
                Some(Value::Group(Group::Members(members))) => members.iter().copied().collect(),
                Some(Value::Group(Group::AllBut(port))) => {
                    let mut ports = self.flood_ports();
                    ports.remove(port);
                    ports
                }
                _ => BTreeSet::new(),
            },
        }
    }
}

/// By which port each other switch is reached as links are now.
pub(crate) fn routes(links: &mut Links, switch: u32, switches: u32) -> BTreeMap<u32, u32> {
    let mut route = |other| links.port_to_node(switch, other).unwrap_or(DIRECT_PORT);
    let others = (0..switches).filter(|other| *other != switch);
    others.map(|other| (other, route(other))).collect()
}

/// The commands that fill the forwarding table.
pub(crate) fn forwarding(routes: &BTreeMap<u32, u32>) -> String {
    let line = |(switch, port)| format!("table_add forward forward_to {switch} => {port}\n");
    routes.iter().map(line).collect()
}

/// Commands in the making; multicast nodes are numbered as they are made.
#[derive(Default)]
struct Commands {
    text: String,
    nodes: u32,
}

impl Commands {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A multicast group: replica numbers with their ports.
    fn group(&mut self, number: u32, replicas: &[(u32, Vec<u32>)]) {
        let _ = writeln!(self.text, "mc_mgrp_create {number}");
        for (replica, ports) in replicas {
            if ports.is_empty() {
                continue;
            }
            let ports: Vec<String> = ports.iter().map(u32::to_string).collect();
            let _ = writeln!(self.text, "mc_node_create {replica} {}", ports.join(" "));
            let _ = writeln!(self.text, "mc_node_associate {number} {}", self.nodes);
            self.nodes += 1;
        }
    }
}

/// The commands for a switch, a line each, with comments.
pub fn commands(compiled: &Compiled, program: &Program, switch: &SwitchSetup) -> String {
    set_up(compiled, program, switch) + &installed::commands(compiled, program, &switch.tables)
}

/// The commands for a switch without the entries of the program's own tables.
pub(crate) fn set_up(compiled: &Compiled, program: &Program, switch: &SwitchSetup) -> String {
    let mut commands = Commands::default();
    commands.line(COMMANDS_BEGIN);
    // Programs for TNA have a parser that knows the switch's number, and as a rule a constant port.
    let is_tna = compiled.options.target == Backend::Tna;
    let mut own = match is_tna {
        true if compiled.options.has_own_recirculation_ports() => {
            format!("{} {}", switch.number, switch.recirculation_port)
        }
        true => switch.number.to_string(),
        false => format!("{} {}", switch.number, switch.recirculation_port),
    };
    for value in &switch.externs {
        match value {
            Value::Int(value) => drop(write!(own, " {value}")),
            Value::Bool(value) => drop(write!(own, " {}", u8::from(*value))),
            // Groups are multicast groups.
            _ => {}
        }
    }
    if is_tna {
        commands.line(&format!("pvs_add this_switch {}", switch.number));
        if compiled.options.has_own_recirculation_ports() {
            commands.line(&format!("pvs_add own_recirculation_port {}", switch.recirculation_port));
        }
        commands.line(&format!("table_set_default switch_values set_switch_values {own}"));
        if compiled.egress_values {
            commands.line(&format!("table_set_default egress_values set_egress_values {own}"));
        }
    } else {
        if compiled.addresses_packets {
            commands.line(&format!("pvs_add this_switch {}", switch.number));
        }
        commands.line(&format!("table_set_default configuration configure {own}"));
    }
    if !switch.routes.is_empty() {
        commands.line("# other switches, and the ports on the way there");
    }
    commands.text.push_str(&forwarding(&switch.routes));
    initial_values(&mut commands, compiled, program);
    if !compiled.hashes.is_empty() {
        commands.line("# polynomials of the hashes");
    }
    for (name, polynomial) in &compiled.hashes {
        commands.line(&format!(
            "set_crc32_parameters {name} {polynomial:#010x} 0xffffffff 0xffffffff true true"
        ));
    }
    groups(&mut commands, compiled, switch);
    if !compiled.cut_lengths.is_empty() {
        commands
            .line("# events that lose the payload of their packet: mirror sessions of this length");
    }
    for (session, bytes) in (FIRST_CUT_SESSION..).zip(&compiled.cut_lengths) {
        let port = switch.recirculation_port;
        commands.line(&format!("mirroring_add {session} {port} {bytes} {}", tna::EVENT_QUEUE));
    }
    commands.text
}

/// Counters begin with a value.
fn initial_values(commands: &mut Commands, compiled: &Compiled, program: &Program) {
    for place in &compiled.globals {
        let GlobalPlace::Register { global, name, .. } = place else { continue };
        if let GlobalKind::Counter { initial, .. } = program.globals[global.0 as usize].kind
            && initial > 0
        {
            commands.line(&format!("register_write {name} 0 {initial}"));
        }
    }
}

fn groups(commands: &mut Commands, compiled: &Compiled, switch: &SwitchSetup) {
    let back = switch.recirculation_port;
    let copies = |count: u32| (1..=count).map(|replica| (replica, vec![back])).collect::<Vec<_>>();
    if compiled.most_generated > 1 {
        commands.line("# the serialiser: a copy for each of several events");
    }
    // One of several that goes round is alone where another left by a port at once.
    for count in 1..=compiled.most_generated {
        if compiled.most_generated > 1 {
            commands.group(count, &copies(count));
        }
    }
    if compiled.mixes {
        commands.line("# the same, and one copy out of a port");
        let mut ports: BTreeSet<u32> = (0..SERIALISER_PORTS).collect();
        ports.extend(switch.flood_ports());
        ports.insert(OUTSIDE_PORT);
        ports.remove(&back);
        for port in ports {
            commands.line(&format!("table_add at_once known {port} =>"));
            for count in 1..compiled.most_generated {
                let mut replicas = vec![(0, vec![port])];
                replicas.extend(copies(count));
                commands.group(FIRST_MIXED + count * MIXED_STRIDE + port, &replicas);
            }
        }
    }
    if !compiled.port_groups.is_empty() {
        commands.line("# groups of ports");
    }
    for (number, group) in compiled.port_groups.iter().enumerate() {
        let ports: Vec<u32> =
            switch.members(group).into_iter().filter(|port| *port < PORT_COUNT - 1).collect();
        commands.group(FIRST_GROUP + number as u32, &[(0, ports)]);
    }
    switch_groups(commands, compiled, switch);
    if compiled.floods {
        commands.line("# all ports but one");
        let ports = switch.flood_ports();
        for but in 0..PORT_COUNT {
            // The copy out of the network leaves whatever port is left out.
            let others = ports
                .iter()
                .copied()
                .filter(|port| *port != but || *port == OUTSIDE_PORT)
                .collect();
            commands.group(FIRST_FLOOD + but, &[(0, others)]);
        }
    }
}

/// Each member of a group of switches has a replica number of its own, and an entry that says which switch
/// it is.
fn switch_groups(commands: &mut Commands, compiled: &Compiled, switch: &SwitchSetup) {
    if !compiled.switch_groups.is_empty() {
        commands.line("# groups of switches");
    }
    let mut member = FIRST_MEMBER;
    for (number, group) in compiled.switch_groups.iter().enumerate() {
        let mut replicas = Vec::new();
        for other in switch.members(group) {
            commands.line(&format!("table_add member at_switch {member} => {other}"));
            replicas.push((member, vec![switch.recirculation_port]));
            member += 1;
        }
        commands.group(FIRST_SWITCHES + number as u32, &replicas);
    }
}

/// The device that the device file of a switch describes.
///
/// # Panics
///
/// If the file is not a right one, which is a mistake of this module.
pub fn device_options(compiled: &Compiled, switch: &SwitchSetup) -> DeviceOptions {
    let text = device_file(compiled, switch);
    let read = device::configuration::read(Span::NONE.file, &text);
    read.unwrap_or_else(|wrong| panic!("a wrong device file, {wrong:?}:\n{text}"))
}

/// Bits per second of the recirculation port of a switch, if it has a limit.
fn recirculation_rate_bps(compiled: &Compiled, switch: &SwitchSetup) -> Option<u64> {
    match switch.round_ps {
        None if compiled.options.recirculation == Recirculation::Port => {
            Some(RECIRCULATION_RATE_BPS)
        }
        _ => None,
    }
}

/// What is wrong with the run's delay granularity for the time stamps of compiled programs. The place is that of the
/// granularity.
pub fn granularity_beyond_stamps(options: &Options, place: Span) -> Option<Diagnostic> {
    let is_counted = options.delay == Delay::Queue && options.target == Backend::Tna;
    if !is_counted || options.delay_period_ps <= LONGEST_TNA_PERIOD_PS {
        return None;
    }
    let longest = in_largest_unit(LONGEST_TNA_PERIOD_PS);
    Some(
        Diagnostic::error(
            codes::DELAY_PERIOD,
            place,
            format!("`delay granularity` has to be at most {longest} on Tofino"),
        )
        .note("a waiting event counts its time in the queue by a time stamp of 16 bits")
        .help("write a shorter time, or omit `delay granularity`"),
    )
}

/// What is wrong with the run's delay granularity for devices whose recirculation ports come back by
/// themselves, as device files have them. The place is that of the granularity.
pub fn unfit_granularity(compiled: &Compiled, place: Span) -> Option<Diagnostic> {
    let options = &compiled.options;
    if options.delay != Delay::Queue {
        return None;
    }
    let rate_bps = (options.recirculation == Recirculation::Port).then_some(RECIRCULATION_RATE_BPS);
    let wanted = PacketTrain::unfit_period(compiled.delay_period_ps, rate_bps)?;
    let message = format!("`delay granularity` has to be {wanted}");
    let longest_us = PauseFrame::longest_ps(rate_bps) / 1_000_000;
    Some(
        Diagnostic::error(codes::DELAY_PERIOD, place, message)
            .note(format!(
                "the recirculation port has {} Gb/s, where a frame pauses for {longest_us} us",
                RECIRCULATION_RATE_BPS / 1_000_000_000
            ))
            .help("write a shorter time, or emit with --delay recirculation"),
    )
}

/// The device file of a switch.
pub fn device_file(compiled: &Compiled, switch: &SwitchSetup) -> String {
    let options = &compiled.options;
    let port = switch.recirculation_port;
    let mut text = format!("{DEVICE_BEGINS}\n");
    text.push_str(match options.clock {
        Clock::Nanoseconds => "clock = \"ns\"\n",
        Clock::Microseconds => "clock = \"us\"\n",
    });
    let _ = writeln!(text, "ingress_interval = \"{PIPELINE_INTERVAL_PS}ps\"");
    text.push_str("pass_limit = \"none\"\n");
    if switch.number > 0 {
        let _ = writeln!(text, "id = {}", switch.number);
    }
    let rate = RECIRCULATION_RATE_BPS / 1_000_000_000;
    let depth = RECIRCULATION_QUEUE_PACKETS;
    if options.recirculation == Recirculation::Primitive {
        let _ = write!(text, "\n[recirculation]\nqueue_depth = {depth}\nrate = \"{rate}Gb/s\"\n");
    }
    let _ = write!(text, "\n[port.{port}]\nqueue_depth = {depth}\n");
    if options.recirculation == Recirculation::Port {
        match switch.round_ps {
            None => drop(writeln!(text, "rate = \"{rate}Gb/s\"")),
            Some(round_ps) => drop(writeln!(text, "latency = \"{round_ps}ps\"")),
        }
        text.push_str("loopback = true\n");
    }
    let period_ps = compiled.delay_period_ps;
    if options.delay == Delay::Queue && period_ps > 0 {
        match options.target {
            Backend::V1Model => drop(write!(
                text,
                "\n# Delayed events wait in this queue (Lucid §3.2).\n[[pausable_queue]]\nport = {port}\n\
                 class = {}\nperiod = \"{period_ps}ps\"\nopen = \"{}ps\"\n",
                generator::class(options),
                period_ps / OPEN_PART
            )),
            Backend::Tna => {
                let rate_bps = recirculation_rate_bps(compiled, switch);
                text.push_str(
                    "# Delayed events wait in a queue of this port (Lucid §3.2), which frames of the packet\n\
                     # generator release and pause: the program sends them here.\nflow_control = true\n",
                );
                for application in generator::applications(options, period_ps, rate_bps) {
                    application_section(&mut text, &application);
                }
            }
        }
    }
    text
}

/// An application of the packet generator as a section of a device file.
fn application_section(text: &mut String, application: &GeneratorApplication) {
    let timer = match application.timer {
        GeneratorTimer::Periodic => "periodic",
        GeneratorTimer::Once => "once",
    };
    let bytes: String = application.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let _ = write!(
        text,
        "\n[[generator_application]]\nid = {}\nport = {}\ntimer = \"{timer}\"\nperiod = \"{}ps\"\n\
         batches = {}\nbatch_gap = \"{}ps\"\npackets = {}\npacket_gap = \"{}ps\"\nbytes = \"{bytes}\"\n",
        application.id,
        application.port,
        application.period_ps,
        application.batches,
        application.batch_gap_ps,
        application.packets,
        application.packet_gap_ps,
    );
}
