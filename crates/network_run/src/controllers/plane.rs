// SPDX-License-Identifier: Apache-2.0
//! [`ControlPlane`]: the controllers of a network as the agent of its simulation. Commands, notifications, timers, and the
//! failures of controllers and switches are in one order of time; things of one time keep the order in which they were
//! scheduled.

use super::interface::{ControlInputs, Conversation, NoLine, Programs, TimedCommands};
use super::journal::{Act, Journal};
use super::messages::{self, Message};
use super::mistakes::{self, Line, Mistake, Refusal, Who};
use super::packet_header::one_of;
use super::replies::{self, Body, Reply, Request};
use super::switch::Switch;
use control::command::{Command, Located, Origin};
use control::command_text;
use control::session::Answer;
use device::Device;
use network::node::{NodeError, NodeId};
use network::simulation::{Agent, Nodes};
use network_file::model::{Behaviour, EventSubject, Network, Node};
use serde_json::{Map, Value};
use source::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Why the control plane ends a run.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A mistake of a controller or its program.
    Mistake(Box<Diagnostic>),
    /// The user interrupted the run.
    Interrupted,
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Stop {
        Stop::Mistake(Box::new(diagnostic))
    }
}

/// A controller at work.
struct Controller {
    name: String,
    span: Span,
    latency_ps: u64,
    switches: Vec<usize>,
    is_program: bool,
    is_up: bool,
    /// How often it has failed: messages to an earlier life are lost.
    lives: u64,
    conversation: Option<Box<dyn Conversation>>,
    /// Lines that its programs have written.
    lines: u64,
    /// How often its timer was set: earlier settings are void.
    timer: u64,
}

/// Something that happens at a time.
enum Due {
    /// A controller begins: at the start of the run, and when it returns.
    Begin { controller: usize },
    /// A controller fails.
    Fail { controller: usize },
    /// A controller sends commands to its switches.
    Send { controller: usize, commands: TimedCommands },
    /// Commands of a time reach a switch.
    Commands { switch: usize, controller: usize, commands: TimedCommands },
    /// The request of a program reaches a switch.
    Order { switch: usize, controller: usize, order: Order },
    /// A message reaches a program.
    Deliver { controller: usize, life: u64, message: Message },
    /// The timer of a program ends.
    Timer { controller: usize, timer: u64 },
    /// A switch loses its state.
    SwitchFails { switch: usize },
    /// A switch returns.
    SwitchReturns { switch: usize },
}

/// A request of a program on its way to a switch.
struct Order {
    line: Line,
    id: Option<Value>,
    action: Action,
}

enum Action {
    Command(Box<Located>),
    /// A packet for the CPU port, with the controller's header.
    PacketOut {
        port: u32,
        bytes: Vec<u8>,
    },
}

/// The controllers of a network and the switches that they control.
pub(crate) struct ControlPlane {
    controllers: Vec<Controller>,
    switches: Vec<Switch>,
    /// The ports of each switch that have links.
    ports: Vec<Vec<u32>>,
    programs: Box<dyn Programs>,
    seed: u64,
    due: BTreeMap<(u64, u64), Due>,
    scheduled: u64,
    /// What commands at times have read.
    reads: Vec<String>,
    stop: Option<Stop>,
    journal: Journal,
}

/// The node of a switch: switches come first.
fn node(switch: usize) -> NodeId {
    NodeId(switch as u32)
}

impl ControlPlane {
    /// Makes the controllers of a network, and schedules what the file says of them.
    pub fn new(network: &Network, inputs: ControlInputs) -> ControlPlane {
        let ControlInputs { commands, sessions, interfaces, own, programs, seed } = inputs;
        let is_program = |behaviour: &Behaviour| matches!(behaviour, Behaviour::Program(_));
        let controllers = network.controllers.iter().map(|described| Controller {
            name: described.name.clone(),
            span: described.span,
            latency_ps: described.latency_ps,
            switches: described.switches.clone(),
            is_program: is_program(&described.behaviour),
            is_up: false,
            lives: 0,
            conversation: None,
            lines: 0,
            timer: 0,
        });
        let sessions = sessions.into_iter().zip(own);
        let switches = network.switches.iter().zip(sessions.zip(interfaces));
        let switches = switches.map(|(described, (session, info))| {
            Switch::new(described.name.clone(), described.controller, session, info)
        });
        let ports = (0..network.switches.len()).map(|number| {
            let ends = network.links.iter().flat_map(|link| &link.ends);
            let own = ends.filter(|end| end.node == Node::Switch(number));
            let mut ports: Vec<u32> = own.map(|end| end.port).collect();
            ports.sort_unstable();
            ports
        });
        let mut plane = ControlPlane {
            controllers: controllers.collect(),
            switches: switches.collect(),
            ports: ports.collect(),
            programs,
            seed,
            due: BTreeMap::new(),
            scheduled: 0,
            reads: Vec::new(),
            stop: None,
            journal: Journal::default(),
        };
        for controller in 0..plane.controllers.len() {
            plane.schedule(0, Due::Begin { controller });
        }
        for event in &network.events {
            let due = match (event.subject, event.is_up) {
                (EventSubject::Controller(controller), false) => Due::Fail { controller },
                (EventSubject::Controller(controller), true) => Due::Begin { controller },
                (EventSubject::Node(Node::Switch(switch)), false) => Due::SwitchFails { switch },
                (EventSubject::Node(Node::Switch(switch)), true) => Due::SwitchReturns { switch },
                (EventSubject::Node(Node::Host(_)) | EventSubject::Link(_), _) => continue,
            };
            plane.schedule(event.at_ps, due);
        }
        for (controller, list) in commands.into_iter().enumerate() {
            for commands in list {
                plane.schedule(commands.at_ps, Due::Send { controller, commands });
            }
        }
        plane
    }

    /// Keeps the state of switches that fail during the run, and listens to those of programs. Returns the switches to
    /// observe.
    ///
    /// # Errors
    ///
    /// The state of a switch cannot be kept.
    pub fn prepare<'d>(
        &mut self,
        network: &Network,
        device: impl Fn(usize) -> Option<&'d Device>,
    ) -> Result<Vec<NodeId>, String> {
        let mut observed = Vec::new();
        for number in 0..self.switches.len() {
            let Some(device) = device(number) else { continue };
            self.switches[number].cpu_port = device.options().cpu_port;
            let fails = |event: &network_file::model::Event| {
                event.subject == EventSubject::Node(Node::Switch(number))
            };
            if network.events.iter().any(fails) {
                self.switches[number].keep_beginning(device)?;
            }
            if self.listens(number) {
                self.switches[number].listen(device);
                observed.push(node(number));
            }
        }
        Ok(observed)
    }

    /// Takes what commands at times have read since the last call.
    pub fn take_reads(&mut self) -> Vec<String> {
        std::mem::take(&mut self.reads)
    }

    /// Ends all programs.
    pub fn end(&mut self) {
        self.controllers.iter_mut().for_each(|controller| controller.conversation = None);
    }

    /// Takes the reason for which it ended the run.
    pub fn take_stop(&mut self) -> Option<Stop> {
        self.stop.take()
    }

    /// The devices that a switch had before it failed.
    pub fn retired(&self, switch: usize) -> &[Device] {
        self.switches.get(switch).map_or(&[], |switch| &switch.retired)
    }

    /// Lines about the whole run of controllers that programs of switches bring, with the names of the switches.
    pub fn summaries(&self) -> Vec<String> {
        let of_switch = |switch: &Switch| {
            let lines = switch.summaries().into_iter();
            lines.map(|line| format!("{}: {line}", switch.name)).collect::<Vec<_>>()
        };
        self.switches.iter().flat_map(of_switch).collect()
    }

    /// Begins to keep what controllers do.
    pub fn begin_journal(&mut self) {
        self.journal.begin();
    }

    /// Takes what controllers did since the last call.
    pub fn take_journal(&mut self) -> Vec<Act> {
        self.journal.take()
    }

    /// When something that is scheduled happens next.
    fn next_due_ps(&self) -> Option<u64> {
        self.due.first_key_value().map(|((time_ps, _), _)| *time_ps)
    }

    fn listens(&self, switch: usize) -> bool {
        let controller = self.switches[switch].controller;
        controller.is_some_and(|controller| self.controllers[controller].is_program)
    }

    fn schedule(&mut self, time_ps: u64, due: Due) {
        self.due.insert((time_ps, self.scheduled), due);
        self.scheduled += 1;
    }

    fn who(&self, controller: usize) -> Who<'_> {
        let Controller { name, span, .. } = &self.controllers[controller];
        Who { name, span: *span }
    }

    /// Sends a message to a program. It is lost if the program is not up.
    fn send(&mut self, controller: usize, now_ps: u64, message: Message) {
        let Controller { is_program, is_up, lives: life, latency_ps, .. } =
            self.controllers[controller];
        if is_program && is_up {
            let due = Due::Deliver { controller, life, message };
            self.schedule(now_ps.saturating_add(latency_ps), due);
        }
    }

    fn take(&mut self, due: Due, nodes: &mut Nodes<'_>) -> Result<(), Stop> {
        let now_ps = nodes.now_ps();
        match due {
            Due::Begin { controller } => self.begin(controller, now_ps),
            Due::Fail { controller } => {
                let failing = &mut self.controllers[controller];
                self.journal.note(now_ps, &failing.name, None, "fails");
                failing.is_up = false;
                failing.lives += 1;
                failing.timer += 1;
                failing.conversation = None;
                Ok(())
            }
            Due::Send { controller, commands } => {
                if self.controllers[controller].is_up {
                    let at_ps = now_ps.saturating_add(self.controllers[controller].latency_ps);
                    for switch in self.controllers[controller].switches.clone() {
                        let commands = commands.clone();
                        self.schedule(at_ps, Due::Commands { switch, controller, commands });
                    }
                }
                Ok(())
            }
            Due::Commands { switch, controller, commands } => {
                self.apply(switch, controller, &commands, nodes)
            }
            Due::Order { switch, controller, order } => {
                self.carry_out(switch, controller, &order, nodes)
            }
            Due::Deliver { controller, life, message } => {
                match self.controllers[controller].lives == life {
                    true => self.converse(controller, message, now_ps),
                    false => Ok(()),
                }
            }
            Due::Timer { controller, timer } => match self.controllers[controller].timer == timer {
                true => self.converse(controller, messages::timer(), now_ps),
                false => Ok(()),
            },
            Due::SwitchFails { switch } => self.change_switch(switch, false, nodes),
            Due::SwitchReturns { switch } => self.change_switch(switch, true, nodes),
        }
    }

    fn begin(&mut self, number: usize, now_ps: u64) -> Result<(), Stop> {
        if self.controllers[number].is_up {
            return Ok(());
        }
        self.controllers[number].is_up = true;
        if !self.controllers[number].is_program {
            return Ok(());
        }
        let conversation = self.programs.start(number);
        let conversation = conversation.map_err(|why| self.no_line(number, why))?;
        let controller = &mut self.controllers[number];
        controller.conversation = Some(conversation);
        controller.lines = 0;
        let switches: Map<String, Value> = controller
            .switches
            .iter()
            .filter_map(|at| {
                let switch = &self.switches[*at];
                let cpu_port = switch.cpu_port;
                let info = switch.info.as_ref()?;
                let interface = messages::interface(info, cpu_port, &self.ports[*at]);
                Some((switch.name.clone(), interface))
            })
            .collect();
        let hello = messages::hello(&controller.name, (controller.latency_ps, self.seed), switches);
        self.converse(number, hello, now_ps)
    }

    fn no_line(&self, controller: usize, why: NoLine) -> Stop {
        match mistakes::no_line(self.who(controller), why) {
            Some(diagnostic) => diagnostic.into(),
            None => Stop::Interrupted,
        }
    }

    /// Gives a program a message, and takes its lines until the end of its turn.
    fn converse(&mut self, number: usize, message: Message, now_ps: u64) -> Result<(), Stop> {
        let line = message.line(now_ps);
        self.journal.note(now_ps, &self.controllers[number].name, None, &line);
        let conversation = &mut self.controllers[number].conversation;
        let written = conversation.as_mut().map_or(Ok(()), |one| one.write(&line));
        written.map_err(|why| self.no_line(number, why))?;
        loop {
            let Some(conversation) = &mut self.controllers[number].conversation else {
                return Ok(());
            };
            let text = conversation.read().map_err(|why| self.no_line(number, why))?;
            self.controllers[number].lines += 1;
            if text.trim().is_empty() {
                continue;
            }
            let line = Line { number: self.controllers[number].lines, text };
            let reply = replies::read(&line.text);
            let wrong = |plane: &ControlPlane, mistake: &Mistake| -> Stop {
                mistakes::wrong_line(plane.who(number), &line, mistake).into()
            };
            match reply.map_err(|mistake| wrong(self, &mistake))? {
                Reply::Done => return Ok(()),
                Reply::Wake(time_ps) => {
                    let timer = self.controllers[number].timer + 1;
                    self.controllers[number].timer = timer;
                    match time_ps {
                        None => {}
                        Some(time_ps) if time_ps > now_ps => {
                            self.schedule(time_ps, Due::Timer { controller: number, timer });
                        }
                        Some(time_ps) => {
                            let what = format!("`wake_ps` is {time_ps}, and it is {now_ps} ps now");
                            let help = "add a time to the message's `time_ps`";
                            return Err(wrong(self, &Mistake::new(what, help)));
                        }
                    }
                    return Ok(());
                }
                Reply::Request(request) => {
                    let id = request.id.clone();
                    let (switch, action) = self
                        .understand(number, request, line.number)
                        .map_err(|mistake| wrong(self, &mistake))?;
                    let at_ps = now_ps.saturating_add(self.controllers[number].latency_ps);
                    let order = Order { line, id, action };
                    self.schedule(at_ps, Due::Order { switch, controller: number, order });
                }
            }
        }
    }

    /// Reads a request: its switch, and what to do there.
    fn understand(
        &self,
        number: usize,
        request: Request,
        line: u64,
    ) -> Result<(usize, Action), Mistake> {
        let own = &self.controllers[number].switches;
        let names = || own.iter().map(|at| self.switches[*at].name.as_str());
        let at = match (&request.switch, &own[..]) {
            (Some(name), _) => {
                own.iter().copied().find(|at| self.switches[*at].name == *name).ok_or_else(
                    || {
                        let what = format!("it does not control a switch `{name}`");
                        Mistake::new(what, one_of(name, names()))
                    },
                )?
            }
            (None, [only]) => *only,
            (None, _) => {
                let what = "a request does not name its switch";
                return Err(Mistake::new(what, format!("add `switch`: {}", one_of("", names()))));
            }
        };
        let switch = &self.switches[at];
        let action = match request.body {
            Body::Command { text, idle_timeout_ms } => {
                let file = format!("controller `{}`", self.controllers[number].name);
                let (mut commands, errors) = command_text::read(&file, &text);
                if let Some(error) = errors.into_iter().next() {
                    return Err(Mistake::new(error.message, error.help));
                }
                let (Some(mut located), true) = (commands.pop(), commands.is_empty()) else {
                    let what = "`command` is not one command";
                    return Err(Mistake::new(what, "write one command, and a line for each"));
                };
                located.origin = Origin { file, place: format!("line {line}") };
                match (&mut located.command, idle_timeout_ms) {
                    (Command::TableAdd { timeout_ms, .. }, given) => *timeout_ms = given,
                    (_, None) => {}
                    (_, Some(_)) => {
                        let what = "`idle_timeout_ms` is only for `table_add`";
                        let help = "`table_set_timeout` changes the timeout of an entry";
                        return Err(Mistake::new(what, help));
                    }
                }
                Action::Command(Box::new(located))
            }
            Body::PacketOut { bytes, metadata } => {
                let Some(port) = switch.cpu_port else {
                    let what = format!("switch `{}` has no CPU port for a packet", switch.name);
                    return Err(Mistake::new(what, "write `cpu_port: 510` for the switch"));
                };
                let mut packet = match (&metadata, &switch.packet_out) {
                    (None, _) => Vec::new(),
                    (Some(metadata), Some(header)) => header.encode(metadata)?,
                    (Some(_), None) => {
                        let what = format!(
                            "the program of `{}` has no header for `metadata`",
                            switch.name
                        );
                        let help = "it needs a header with @controller_header(\"packet_out\"); without `metadata` the \
                                    bytes are the whole packet";
                        return Err(Mistake::new(what, help));
                    }
                };
                packet.extend(bytes);
                Action::PacketOut { port, bytes: packet }
            }
        };
        Ok((at, action))
    }

    /// Carries out a program's request, and sends the result back if the request has an id.
    fn carry_out(
        &mut self,
        at: usize,
        controller: usize,
        order: &Order,
        nodes: &mut Nodes<'_>,
    ) -> Result<(), Stop> {
        let now_ps = nodes.now_ps();
        let Some(device) = nodes.node_mut::<Device>(node(at)) else { return Ok(()) };
        let switch = &mut self.switches[at];
        self.journal.note(now_ps, &self.controllers[controller].name, Some(at), &order.line.text);
        let outcome =
            match switch.is_up {
                false => Err(format!("switch `{}` is down", switch.name).into()),
                true => Switch::bring_to(device, now_ps).map_err(Refusal::from).and_then(|()| {
                    match &order.action {
                        Action::Command(command) => switch.apply(command, device),
                        Action::PacketOut { port, bytes } => device
                            .inject(*port, now_ps, bytes.clone())
                            .map(|_| Answer::Done)
                            .map_err(|error| error.to_string().into()),
                    }
                }),
            };
        let is_up = switch.is_up;
        self.observe(node(at), now_ps);
        match (&outcome, &order.id) {
            (Err(refusal), None) if is_up => {
                let failed = mistakes::command_failed(self.who(controller), &order.line, refusal);
                return Err(failed.into());
            }
            (_, Some(_)) | (Ok(Answer::Registers(_) | Answer::Counter(_)), None) => {
                let name = self.switches[at].name.clone();
                let message = messages::result(&name, now_ps, order.id.as_ref(), &outcome);
                self.send(controller, now_ps, message);
            }
            (_, None) => {}
        }
        Ok(())
    }

    /// Applies commands of a time. They are lost if the switch is down.
    fn apply(
        &mut self,
        at: usize,
        controller: usize,
        commands: &TimedCommands,
        nodes: &mut Nodes<'_>,
    ) -> Result<(), Stop> {
        let now_ps = nodes.now_ps();
        let Some(device) = nodes.node_mut::<Device>(node(at)) else { return Ok(()) };
        let switch = &mut self.switches[at];
        if !switch.is_up {
            return Ok(());
        }
        self.journal.note(now_ps, &self.controllers[controller].name, Some(at), &commands.text);
        let mut errors = Vec::new();
        errors.extend(Switch::bring_to(device, now_ps).err());
        let answers = switch.apply_all(&commands.commands, device);
        for (located, answer) in commands.commands.iter().zip(answers) {
            match answer {
                Ok(answer) => self.reads.extend(answer.read_text(&located.command)),
                Err(error) => errors.push(error.to_string()),
            }
        }
        match errors.is_empty() {
            true => Ok(()),
            false => {
                let who = self.who(controller);
                Err(mistakes::commands_wrong(who, commands.span, &errors).into())
            }
        }
    }

    /// A switch fails or returns.
    fn change_switch(&mut self, at: usize, is_up: bool, nodes: &mut Nodes<'_>) -> Result<(), Stop> {
        let now_ps = nodes.now_ps();
        let listens = self.listens(at);
        let Some(device) = nodes.node_mut::<Device>(node(at)) else { return Ok(()) };
        let switch = &mut self.switches[at];
        if switch.is_up == is_up {
            return Ok(());
        }
        let changed = match is_up {
            true => switch.restart(device, listens),
            false => switch.fail(device, now_ps),
        };
        let name = switch.name.clone();
        let controller = switch.controller;
        changed.map_err(|why| {
            let message = format!("switch `{name}` cannot start again: {why}");
            Stop::from(Diagnostic::error(mistakes::COMMAND_FAILED, Span::NONE, message))
        })?;
        if let Some(controller) = controller {
            self.send(controller, now_ps, messages::switch_changed(&name, now_ps, is_up));
        }
        Ok(())
    }
}

impl Agent for ControlPlane {
    fn next_act_ps(&self) -> Option<u64> {
        let own = self.switches.iter().filter_map(Switch::next_act_ps).min();
        self.next_due_ps().into_iter().chain(own).min()
    }

    fn act(&mut self, nodes: &mut Nodes<'_>) -> Result<(), NodeError> {
        let now_ps = nodes.now_ps();
        for number in 0..self.switches.len() {
            if self.switches[number].next_act_ps().is_none_or(|time_ps| time_ps > now_ps) {
                continue;
            }
            let Some(device) = nodes.node_mut::<Device>(node(number)) else { continue };
            let acted = self.switches[number].act(device, now_ps);
            let name = &self.switches[number].name;
            acted.map_err(|why| NodeError { message: format!("switch `{name}`: {why}") })?;
        }
        while self.next_due_ps().is_some_and(|time_ps| time_ps <= nodes.now_ps()) {
            let Some((_, due)) = self.due.pop_first() else { break };
            if let Err(stop) = self.take(due, nodes) {
                self.stop = Some(stop);
                return Err(NodeError { message: "a controller stopped the run".to_string() });
            }
        }
        Ok(())
    }

    fn observe(&mut self, observed: NodeId, now_ps: u64) {
        let number = observed.0 as usize;
        for notification in self.switches[number].notifications() {
            let switch = &self.switches[number];
            let Some(controller) = switch.controller.filter(|_| switch.is_up) else { continue };
            // A packet leaves when its last bit does. The clock of an idle switch may be behind.
            let time_ps = notification.time_ps().max(now_ps);
            let message = messages::notification(switch, time_ps, &notification);
            let Some(message) = message else { continue };
            self.send(controller, time_ps, message);
        }
    }
}
