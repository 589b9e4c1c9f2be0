// SPDX-License-Identifier: Apache-2.0
//! The event loop of a switch: handles dequeues and events in the order that the crate documents, and passes packets to
//! their programs.

use crate::event::{CONTROL_CLASS, Event, EventKey, NextEvent, RECEPTION_CLASS};
use crate::ingress_source::IngressSource;
use crate::output::DeviceError;
use crate::packet::{Arrival, ProgramId, Queued};
use crate::packet_generator::TrainTarget;
use crate::switch::{AdmissionOutcome, Switch};
use crate::traffic_manager::Dequeued;
use crate::wire::OutputPath;

/// The next step of the loop: a dequeue or an event.
enum Next {
    Path(OutputPath),
    Event(EventKey, NextEvent),
}

impl Switch {
    /// See [`crate::Device::inject`].
    pub fn inject(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<u64, DeviceError> {
        let number = self.check_arrival(port, time_ps)?;
        let arrival = Arrival::from_wire(number, port, time_ps, (bytes, 0));
        self.core.schedule(time_ps, Event::Reception(Box::new(arrival)));
        Ok(number)
    }

    /// Checks port and time of a packet that is to arrive, and returns its number.
    pub fn check_arrival(&mut self, port: u32, time_ps: u64) -> Result<u64, DeviceError> {
        let largest = self.largest_port;
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        let now_ps = self.core.now_ps;
        if time_ps < now_ps {
            return Err(DeviceError::TimeWentBack { now_ps, given_ps: time_ps });
        }
        let number = self.receptions;
        self.receptions += 1;
        Ok(number)
    }

    /// See [`crate::Device::receive`].
    pub fn receive(
        &mut self,
        port: u32,
        time_ps: u64,
        (mut bytes, absent_bytes): (Vec<u8>, u32),
    ) -> Result<(), DeviceError> {
        let largest = self.largest_port;
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        self.serve_waiting();
        let number = self.receptions;
        if self.core.circulating.count > 0 || !self.core.looped_back.is_empty() {
            bytes.resize(bytes.len() + absent_bytes as usize, 0);
            return self.inject(port, time_ps.max(self.core.now_ps), bytes).map(|_| ());
        }
        self.advance_to_arrival(time_ps)?;
        self.receptions += 1;
        let mut arrival = self.core.arrival(number, port, (bytes, absent_bytes));
        if self.core.has_flow_control() || self.only_program.is_none() {
            arrival.store_absent();
        }
        self.arrive_at_mac(arrival)?;
        self.empty_ready_queues(time_ps)
    }

    /// Handles everything that comes before packets that arrive at a time, in the order of events.
    pub fn advance_to_arrival(&mut self, time_ps: u64) -> Result<(), DeviceError> {
        let is_before = |(due_ps, next): &(u64, Next)| match next {
            Next::Path(_) => *due_ps <= time_ps,
            Next::Event(key, _) => (key.time_ps, key.class) <= (time_ps, RECEPTION_CLASS),
        };
        while let Some((due_ps, next)) = self.next().filter(is_before) {
            self.step(due_ps, next)?;
        }
        self.core.now_ps = self.core.now_ps.max(time_ps);
        self.core.interrupt_circulation();
        Ok(())
    }

    /// Lets what may leave the queues now leave: no event comes between a packet that has arrived and it.
    pub fn empty_ready_queues(&mut self, time_ps: u64) -> Result<(), DeviceError> {
        while let Some((due_ps, next @ Next::Path(_))) = self.next()
            && due_ps <= time_ps
        {
            self.step(due_ps, next)?;
        }
        self.check_barriers();
        Ok(())
    }

    fn next(&self) -> Option<(u64, Next)> {
        if self.core.has_no_event() && self.core.traffic.next_ready().is_none() {
            return None;
        }
        let path = self.core.traffic.next_ready();
        let event = self.core.next_event();
        match (path, event) {
            (Some((path_ps, path)), event)
                if event
                    .is_none_or(|(key, _)| (path_ps, CONTROL_CLASS) < (key.time_ps, key.class)) =>
            {
                Some((path_ps, Next::Path(path)))
            }
            (_, Some((key, next))) => Some((key.time_ps, Next::Event(key, next))),
            (_, None) => None,
        }
    }

    /// See [`crate::Device::next_event_ps`].
    pub fn next_event_ps(&self) -> Option<u64> {
        self.next().map(|(time_ps, _)| time_ps.max(self.core.now_ps))
    }

    /// See [`crate::Device::advance`].
    pub fn advance(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        self.serve_waiting();
        self.run_circulation(until_ps);
        while let Some((time_ps, next)) = self.next().filter(|next| next.0 <= until_ps) {
            self.step(time_ps, next)?;
            self.run_loopback_bursts(until_ps)?;
            self.run_circulation(until_ps);
        }
        self.core.now_ps = self.core.now_ps.max(until_ps);
        Ok(())
    }

    /// See [`crate::Device::run_to_completion`].
    pub fn run_to_completion(&mut self) -> Result<(), DeviceError> {
        self.serve_waiting();
        while let Some((time_ps, next)) = self.next() {
            if self.core.has_only_endless_events() {
                break;
            }
            self.step(time_ps, next)?;
            self.run_loopback_bursts(u64::MAX)?;
        }
        Ok(())
    }

    /// See [`crate::Device::is_busy`].
    pub fn is_busy(&self) -> bool {
        self.core.traffic.buffered_bytes() > 0 || self.has_work()
    }

    /// See [`crate::Device::has_work`].
    pub fn has_work(&self) -> bool {
        self.next().is_some() && !self.core.has_only_endless_events()
    }

    fn step(&mut self, time_ps: u64, next: Next) -> Result<(), DeviceError> {
        self.serve_waiting();
        let done = self.take_step(time_ps, next);
        self.check_barriers();
        done
    }

    fn take_step(&mut self, time_ps: u64, next: Next) -> Result<(), DeviceError> {
        let core = &mut self.core;
        core.now_ps = core.now_ps.max(time_ps);
        core.interrupt_circulation();
        match next {
            Next::Path(path) => {
                let Some(dequeued) = core.traffic.dequeue(path, core.now_ps) else {
                    return Ok(());
                };
                self.leave_queue(path, dequeued)
            }
            Next::Event(key, NextEvent::Listed) => match core.take_event(&key) {
                Some(event) => self.handle_event(event),
                None => Ok(()),
            },
            Next::Event(_, NextEvent::LoopedBack) => match core.looped_back.pop_front() {
                Some((_, arrival)) => self.arrive_at_mac(arrival),
                None => Ok(()),
            },
            Next::Event(_, NextEvent::IngressSlot) => match core.take_waiting() {
                Some((program, arrival)) => self.enter_ingress(program, arrival),
                None => Ok(()),
            },
        }
    }

    fn leave_queue(
        &mut self,
        path: OutputPath,
        dequeued: Dequeued<Queued>,
    ) -> Result<(), DeviceError> {
        let Dequeued { item, queue, enqueued_ps, depth_packets } = dequeued;
        match (item, path) {
            (Queued::Packet(id, packet), OutputPath::Port(port)) => {
                let dequeued = Dequeued { item: packet, queue, enqueued_ps, depth_packets };
                self.with_program(id, |program, core| {
                    program.membership.in_flight -= 1;
                    program.egress(core, port, dequeued)
                })
            }
            (Queued::Arrival(program, arrival), path) => {
                let length = arrival.bytes.len() as u64;
                let core = &mut self.core;
                let arrives_ps = core.traffic.transmit(path, length, core.now_ps);
                let arrival = Box::new(Arrival { arrived_ps: arrives_ps, ..*arrival });
                core.schedule(arrives_ps, Event::Reentry { program, arrival });
                Ok(())
            }
            (Queued::Emitted(id, packet), OutputPath::Port(port)) => {
                self.with_program(id, |program, core| {
                    program.membership.in_flight -= 1;
                    program.send_emitted(core, (port, queue), *packet);
                    Ok(())
                })
            }
            // Internal paths have only arrivals in their queues.
            (Queued::Packet(..) | Queued::Emitted(..), _) => Ok(()),
        }
    }

    fn handle_event(&mut self, event: Event) -> Result<(), DeviceError> {
        match event {
            Event::Control(work) => {
                self.control_due(work);
                Ok(())
            }
            Event::FlowControl { path, queue, paused } => {
                let core = &mut self.core;
                core.traffic.set_paused(path, queue, paused, core.now_ps);
                Ok(())
            }
            Event::IngressDone { program: id, port, packet } => {
                self.with_program(id, |program, core| {
                    program.membership.in_flight -= 1;
                    program.enqueue(core, port, packet);
                    Ok(())
                })
            }
            Event::Reentry { program, arrival } => {
                let statistics = &mut self.core.statistics;
                match arrival.source {
                    IngressSource::Resubmission => statistics.resubmitted += 1,
                    IngressSource::Recirculation => statistics.recirculated += 1,
                    IngressSource::Wire
                    | IngressSource::Loopback
                    | IngressSource::Generator
                    | IngressSource::Extern => {}
                }
                self.arrive_at_ingress(Some(program), arrival)
            }
            Event::Loopback(arrival) | Event::Reception(arrival) => self.arrive_at_mac(arrival),
            Event::Generation(source) => match self.core.generate(source) {
                Some((arrival, TrainTarget::Mac)) => self.arrive_at_mac(arrival),
                Some((arrival, TrainTarget::Ingress)) => self.arrive_at_ingress(None, arrival),
                None => Ok(()),
            },
            Event::Pass { program: id, pass } => self.with_program(id, |program, core| {
                program.membership.in_flight -= 1;
                program.resume_timed(core, *pass)
            }),
            Event::Emission { program: id, port, packet } => {
                self.with_program(id, |program, core| {
                    program.membership.in_flight -= 1;
                    program.queue_emitted(core, port, packet);
                    Ok(())
                })
            }
            Event::Release { program: id, key, serial } => {
                self.with_program(id, |program, core| {
                    program.membership.in_flight -= 1;
                    program.release_at(core, key, serial)
                })
            }
            Event::FlowControlEnd { path, queue } => {
                let core = &mut self.core;
                core.traffic.end_flow_pause(path, queue, core.now_ps);
                Ok(())
            }
        }
    }

    /// Handles a packet at the MAC of its port, where flow control frames end.
    fn arrive_at_mac(&mut self, arrival: Box<Arrival>) -> Result<(), DeviceError> {
        match self.core.obey_flow_control(&arrival) {
            true => Ok(()),
            false => self.arrive_at_ingress(None, arrival),
        }
    }

    /// Handles a packet at ingress: it enters ingress now or waits. Without a program the admission rule chooses one when
    /// the packet enters.
    fn arrive_at_ingress(
        &mut self,
        program: Option<ProgramId>,
        arrival: Box<Arrival>,
    ) -> Result<(), DeviceError> {
        match self.core.wait_for_ingress(program, arrival) {
            Some(arrival) => self.enter_ingress(program, arrival),
            None => Ok(()),
        }
    }

    fn enter_ingress(
        &mut self,
        program: Option<ProgramId>,
        arrival: Box<Arrival>,
    ) -> Result<(), DeviceError> {
        if let Some(id) = program {
            return self.with_program(id, |program, core| {
                program.membership.in_flight -= 1;
                program.ingress(core, *arrival)
            });
        }
        let Some(arrival) = self.circulate(arrival) else { return Ok(()) };
        let number = arrival.reception.number;
        let id = match self.admit_packet(arrival.port, &arrival.bytes) {
            AdmissionOutcome::Program(id) => id,
            AdmissionOutcome::Dropped(reason) => {
                self.core.statistics.received(arrival.port, arrival.bytes.len());
                if let Some(tap) = &mut self.core.tap {
                    tap.set_pass(number, arrival.reception.passes());
                }
                self.core.drop_packet(reason, arrival.parent);
                return Ok(());
            }
        };
        let Some(arrival) = self.receive_fast(id, arrival)? else { return Ok(()) };
        self.core.statistics.received(arrival.port, arrival.bytes.len());
        self.with_program(id, |program, core| program.ingress(core, *arrival))
    }
}
