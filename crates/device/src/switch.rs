// SPDX-License-Identifier: Apache-2.0
//! The switch behind a device's lock: the loaded programs, the switch core they share, and the loop that
//! takes the next event. The public interface and the lock are in `device`; what controllers ask for is
//! served in `driver`.

use crate::burst::Burst;
use crate::driver::Driver;
use crate::engine::Engine;
use crate::machine::{CONTROL_CLASS, Event, EventKey, Machine, NextEvent};
use crate::options::DeviceOptions;
use crate::output::{DeviceError, LoadError};
use crate::packet::{Arrival, Entrance, Generation, Queued, Reception};
use crate::packet_generator::{GeneratorApplication, TrainTarget};
use crate::traffic_manager::{Dequeued, OutputPath};
use ir::Program;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of a device.
#[derive(Debug)]
pub(crate) struct Switch {
    pub machine: Machine,
    /// Apart from the others, as nearly all packets meet it.
    pub current: Engine,
    /// One that waits, and those whose last packets are under way.
    pub others: BTreeMap<Generation, Engine>,
    pub receptions: u64,
    /// For packets that take the straight way one at a time.
    pub single: Option<Box<Burst>>,
    pub driver: Driver,
}

/// What comes next.
enum Next {
    Path(OutputPath),
    Event(EventKey, NextEvent),
}

impl Switch {
    /// A switch at time 0; code is shared with a loaded program that is like it.
    pub fn load(
        program: Arc<Program>,
        mut options: DeviceOptions,
        like: Option<&Engine>,
    ) -> Result<Switch, LoadError> {
        let engine = Engine::load(program, 0, &options, like)?;
        engine.set_defaults(&mut options);
        let model = options.control_latency.clone();
        let driver = Driver::new(model, options.seed, &engine.program, &engine.store);
        Ok(Switch {
            machine: Machine::new(options),
            current: engine,
            others: BTreeMap::new(),
            receptions: 0,
            single: None,
            driver,
        })
    }

    pub fn engine(&self) -> &Engine {
        &self.current
    }

    pub fn current_engine_and_machine(&mut self) -> (&mut Engine, &mut Machine) {
        (&mut self.current, &mut self.machine)
    }

    /// A packet will arrive at a port at a time, to be run by [`Device::advance`]. Packets of one
    /// time and port arrive in the order of the calls. Returns its number, which
    /// [`Transmitted::packet`] names.
    ///
    /// A time that is over and a port whose number the architecture has no bits for are errors.
    pub fn inject(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<u64, DeviceError> {
        let largest = self.engine().largest_port();
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        let now_ps = self.machine.now_ps;
        if time_ps < now_ps {
            return Err(DeviceError::TimeWentBack { now_ps, given_ps: time_ps });
        }
        let number = self.receptions;
        self.receptions += 1;
        let arrival = Arrival {
            reception: Reception::new(number),
            entrance: Entrance::Port,
            port,
            arrived_ps: time_ps,
            bytes,
            preserved: Vec::new(),
            parent: None,
        };
        self.machine.schedule(time_ps, Event::Reception(Box::new(arrival)));
        Ok(number)
    }

    fn next(&self) -> Option<(u64, Next)> {
        let path = self.machine.traffic.next_ready();
        let event = self.machine.next_event();
        match (path, event) {
            (Some((path_ps, path)), event)
                if event.is_none_or(|(key, _)| (path_ps, CONTROL_CLASS) < (key.0, key.1)) =>
            {
                Some((path_ps, Next::Path(path)))
            }
            (_, Some((key, next))) => Some((key.0, Next::Event(key, next))),
            (_, None) => None,
        }
    }

    /// When the device next has something to do, in picoseconds.
    pub fn next_event_ps(&self) -> Option<u64> {
        self.next().map(|(time_ps, _)| time_ps.max(self.machine.now_ps))
    }

    /// Does everything due until this time, included, and sets the clock to it.
    pub fn advance(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        self.serve_waiting();
        while let Some((time_ps, next)) = self.next().filter(|next| next.0 <= until_ps) {
            self.step(time_ps, next)?;
            self.run_rounds(until_ps)?;
        }
        self.machine.now_ps = self.machine.now_ps.max(until_ps);
        Ok(())
    }

    /// Runs until nothing is left to do but what is paused. Trains of generated packets that have no end
    /// go on as long as there is something else to do, or flow control holds packets up.
    pub fn run_to_completion(&mut self) -> Result<(), DeviceError> {
        self.serve_waiting();
        while let Some((time_ps, next)) = self.next() {
            if self.machine.has_only_endless_events() {
                break;
            }
            self.step(time_ps, next)?;
            self.run_rounds(u64::MAX)?;
        }
        Ok(())
    }

    /// Whether packets are on their way or wait, but for those that endless trains have still to make.
    pub fn is_busy(&self) -> bool {
        self.machine.traffic.buffered_bytes() > 0
            || self.next().is_some() && !self.machine.has_only_endless_events()
    }

    fn step(&mut self, time_ps: u64, next: Next) -> Result<(), DeviceError> {
        self.serve_waiting();
        let done = self.take_step(time_ps, next);
        self.check_barriers();
        done
    }

    fn take_step(&mut self, time_ps: u64, next: Next) -> Result<(), DeviceError> {
        let machine = &mut self.machine;
        machine.now_ps = machine.now_ps.max(time_ps);
        match next {
            Next::Path(path) => {
                let Some(dequeued) = machine.traffic.dequeue(path, machine.now_ps) else {
                    return Ok(());
                };
                self.leave_queue(path, dequeued)
            }
            Next::Event(key, NextEvent::Listed) => match machine.take_event(&key) {
                Some(event) => self.happen(event),
                None => Ok(()),
            },
            Next::Event(_, NextEvent::ComingBack) => match machine.coming_back.pop_front() {
                Some((_, arrival)) => self.come_by_port(arrival),
                None => Ok(()),
            },
            Next::Event(_, NextEvent::Admission) => match machine.admit() {
                Some((generation, arrival)) => self.enter_ingress(generation, arrival),
                None => Ok(()),
            },
        }
    }

    /// Runs something on the program that a packet belongs to; a program that was swapped out goes
    /// when its last packet is done.
    fn with_engine(
        &mut self,
        generation: Generation,
        work: impl FnOnce(&mut Engine, &mut Machine) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        if generation == self.current.generation {
            return work(&mut self.current, &mut self.machine);
        }
        let Some(engine) = self.others.get_mut(&generation) else { return Ok(()) };
        let result = work(engine, &mut self.machine);
        if engine.in_flight == 0 && !engine.is_waiting {
            self.others.remove(&generation);
        }
        result
    }

    fn leave_queue(
        &mut self,
        path: OutputPath,
        dequeued: Dequeued<Queued>,
    ) -> Result<(), DeviceError> {
        let Dequeued { item, queue, enqueued_ps, depth_packets } = dequeued;
        match (item, path) {
            (Queued::Traveller(generation, packet), OutputPath::Port(port)) => {
                let dequeued = Dequeued { item: *packet, queue, enqueued_ps, depth_packets };
                self.with_engine(generation, |engine, machine| {
                    engine.in_flight -= 1;
                    engine.egress(machine, port, dequeued)
                })
            }
            (Queued::Arrival(generation, arrival), path) => {
                let length = arrival.bytes.len() as u64;
                let machine = &mut self.machine;
                let arrives_ps = machine.traffic.transmit(path, length, machine.now_ps);
                let arrival = Box::new(Arrival { arrived_ps: arrives_ps, ..*arrival });
                machine.schedule(arrives_ps, Event::Reentry(generation, arrival));
                Ok(())
            }
            // Internal paths carry arrivals only.
            (Queued::Traveller(..), _) => Ok(()),
        }
    }

    fn happen(&mut self, event: Event) -> Result<(), DeviceError> {
        match event {
            Event::Control(work) => {
                self.control_due(work);
                Ok(())
            }
            Event::FlowControl { path, queue, paused } => {
                let machine = &mut self.machine;
                machine.traffic.set_paused(path, queue, paused, machine.now_ps);
                Ok(())
            }
            Event::Enqueue(generation, port, packet) => {
                self.with_engine(generation, |engine, machine| {
                    engine.in_flight -= 1;
                    engine.enqueue(machine, port, *packet);
                    Ok(())
                })
            }
            Event::Reentry(generation, arrival) => {
                let statistics = &mut self.machine.statistics;
                match arrival.entrance {
                    Entrance::Resubmission => statistics.resubmitted += 1,
                    Entrance::Recirculation => statistics.recirculated += 1,
                    Entrance::Port | Entrance::Loopback | Entrance::Generator => {}
                }
                self.come_to_ingress(Some(generation), arrival)
            }
            Event::Loopback(arrival) | Event::Reception(arrival) => self.come_by_port(arrival),
            Event::Generation(source) => match self.machine.generate(source) {
                Some((arrival, TrainTarget::Mac)) => self.come_by_port(arrival),
                Some((arrival, TrainTarget::Ingress)) => self.come_to_ingress(None, arrival),
                None => Ok(()),
            },
            Event::Pass(generation, pass) => self.with_engine(generation, |engine, machine| {
                engine.in_flight -= 1;
                engine.resume_timed(machine, *pass)
            }),
            Event::FlowControlEnd { path, queue } => {
                let machine = &mut self.machine;
                machine.traffic.end_flow_pause(path, queue, machine.now_ps);
                Ok(())
            }
        }
    }

    /// A packet comes to the MAC of its port.
    fn come_by_port(&mut self, arrival: Box<Arrival>) -> Result<(), DeviceError> {
        match self.machine.obey_flow_control(&arrival) {
            true => Ok(()),
            false => self.come_to_ingress(None, arrival),
        }
    }

    /// A packet is there for the program of this generation, or for whatever program runs now.
    fn come_to_ingress(
        &mut self,
        generation: Option<Generation>,
        arrival: Box<Arrival>,
    ) -> Result<(), DeviceError> {
        match self.machine.take_turn(generation, arrival) {
            Some(arrival) => self.enter_ingress(generation, arrival),
            None => Ok(()),
        }
    }

    fn enter_ingress(
        &mut self,
        generation: Option<Generation>,
        arrival: Box<Arrival>,
    ) -> Result<(), DeviceError> {
        if let Some(generation) = generation {
            return self.with_engine(generation, |engine, machine| {
                engine.in_flight -= 1;
                engine.ingress(machine, *arrival)
            });
        }
        let Some(arrival) = self.receive_straight(arrival)? else { return Ok(()) };
        self.machine.statistics.received(arrival.port, arrival.bytes.len());
        self.current.ingress(&mut self.machine, *arrival)
    }

    /// Sets an application of the packet generator, in place of what it was; its timer starts `offset_ps`
    /// from now. A port that the architecture has no bits for is an error.
    pub fn set_generator_application(
        &mut self,
        application: GeneratorApplication,
    ) -> Result<(), DeviceError> {
        let (port, largest) = (application.port, self.engine().largest_port());
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        self.machine.set_generator_application(application);
        Ok(())
    }

    /// Swaps the second program in: the next packet from a port meets it. Packets under way,
    /// resubmitted and recirculated ones too, end with the program that they began with. State of equal
    /// name and shape goes over as [`state::carry`] says: registers, counters, meters, and entries where
    /// the second program's tables are as the program gave them. Returns whether there was a second
    /// program.
    pub fn swap(&mut self) -> bool {
        self.serve_waiting();
        let waiting = self.others.iter().find(|(_, engine)| engine.is_waiting);
        let Some(next) = waiting.map(|(number, _)| *number) else { return false };
        let Some(mut engine) = self.others.remove(&next) else { return false };
        // No other thread writes from here until targets know the second program.
        let entry = self.driver.entry.clone();
        let mut known = entry.current_mut();
        engine.is_waiting = false;
        entry.watch(&engine.store);
        engine.carry_state_from(&self.current);
        known.program = engine.program.clone();
        known.store = engine.store.clone();
        drop(known);
        let before = std::mem::replace(&mut self.current, engine);
        if before.in_flight > 0 {
            self.others.insert(before.generation, before);
        }
        self.note_swap();
        true
    }

    /// Loads a second program beside the one that forwards, in place of one loaded before and not swapped
    /// in.
    pub fn take_second(&mut self, mut engine: Engine) {
        let last = self.others.last_key_value().map_or(0, |(last, _)| *last);
        let generation = last.max(self.current.generation) + 1;
        self.others.retain(|_, engine| !engine.is_waiting);
        (engine.generation, engine.is_waiting) = (generation, true);
        self.others.insert(generation, engine);
    }
}
