// SPDX-License-Identifier: Apache-2.0
//! Handles an event at a switch: the parser if it is a packet, then the handler, and the observations.

use super::super::faults;
use super::super::observation::{DropReason, ObservationKind, Occurrence, Stage};
use super::super::setup::Setup;
use super::{Content, EVENT_TIME_PS, InFlightEvent, NO_CAUSE, Notifier, Simulation};
use crate::interpreter::{Arguments, EventValue, LogRecord, PreparedBody, SwitchContext};
use lucid::core::{EventId, GlobalId};
use lucid::syntax::ast::EventSort;
use network::event_loop::Flight;
use source::Span;
use std::sync::Arc;

/// One run of a handler.
pub(super) struct HandlerRun {
    pub(super) at: u32,
    pub(super) occurrence: u64,
    pub(super) cause: u64,
    pub(super) event: EventId,
    pub(super) port: u32,
    pub(super) is_packet: bool,
    pub(super) stage: Stage,
}

impl Simulation {
    pub(super) fn surroundings<'s>(
        &self,
        setup: &'s Setup,
        at: u32,
        port: u32,
    ) -> SwitchContext<'s> {
        SwitchContext {
            switch: at,
            ingress_port: port,
            recirculation_port: setup.recirculation_ports[at as usize],
            time_ns: self.now_ps() / 1000,
            dequeue_depth: self.switches[at as usize].waiting.len() as u64,
            externs: &setup.externs[at as usize],
        }
    }

    /// The switch takes an event now and is busy for a while.
    pub(super) fn handle(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        at: u32,
        flight: Flight,
    ) {
        let InFlightEvent { occurrence, cause, content, is_packet, port, value, .. } =
            self.fabric.take(flight);
        let Content::Event(event, arguments) = content else { return };
        self.switches[at as usize].free_at_ps = self.now_ps().saturating_add(EVENT_TIME_PS);
        let prepared = &setup.prepared.events[event.0 as usize];
        let sort = setup.program.events[event.0 as usize].sort;
        if matches!(sort, EventSort::Packet | EventSort::Entry) {
            self.switches[at as usize].counts.packets += 1;
        }
        let stages = [(Stage::Ingress, &prepared.ingress), (Stage::Control, &prepared.control)];
        for (stage, body) in stages {
            if let Some(body) = body {
                let handling = HandlerRun { at, occurrence, cause, event, port, is_packet, stage };
                self.run_body(setup, notifier, &handling, body, &arguments, value.clone());
                let mut generated = std::mem::take(&mut self.interpreter.output.generated);
                for one in generated.drain(..) {
                    self.send(setup, notifier, at, occurrence, one);
                }
                self.interpreter.output.generated = generated;
            }
        }
        self.interpreter.pool.give(arguments);
    }

    /// Runs one handler and reports its effects, except for the events that it generated.
    pub(super) fn run_body(
        &mut self,
        setup: &Setup,
        notifier: &mut Notifier<'_>,
        handling: &HandlerRun,
        body: &PreparedBody,
        arguments: &Arguments,
        value: Option<Arc<EventValue>>,
    ) {
        let HandlerRun { at, event, port, .. } = *handling;
        let context = self.surroundings(setup, at, port);
        let dequeue_depth = context.dequeue_depth;
        let switch = &mut self.switches[at as usize];
        self.interpreter.run(
            &setup.prepared,
            (event, body),
            arguments,
            &mut switch.state,
            &context,
            &mut switch.draws,
        );
        switch.counts.handled += 1;
        self.handled += 1;
        let (now_ps, occurrence) = (self.now_ps(), handling.occurrence);
        let draws = &self.interpreter.output.draws;
        notifier.notify(now_ps, at, || ObservationKind::Handled {
            occurrence: Occurrence(occurrence),
            cause: (handling.cause != NO_CAUSE).then_some(Occurrence(handling.cause)),
            event: value.unwrap_or_else(|| setup.event_value(event, arguments, 0)),
            port,
            stage: handling.stage,
            is_packet: handling.is_packet,
            draws: draws.clone(),
            dequeue_depth,
        });
        if !self.interpreter.output.log.is_empty() {
            self.tell_notes(setup, notifier, handling);
        }
    }

    fn tell_notes(&mut self, setup: &Setup, notifier: &mut Notifier<'_>, handling: &HandlerRun) {
        let (now_ps, at, by) = (self.now_ps(), handling.at, Occurrence(handling.occurrence));
        let mut log = std::mem::take(&mut self.interpreter.output.log);
        for record in log.drain(..) {
            match record {
                LogRecord::Printed(text) => {
                    notifier.notify(now_ps, at, || ObservationKind::Printed { by, text });
                }
                LogRecord::OutOfRange(global, index, span) => {
                    self.switches[at as usize].counts.out_of_range += 1;
                    notifier.notify(now_ps, at, || ObservationKind::OutOfRange {
                        by,
                        global,
                        index,
                    });
                    if setup.timing.stop_on_out_of_range && self.stopped.is_none() {
                        let place = (at, now_ps, handling.event);
                        let what = (global, index, span);
                        let fault = faults::out_of_range(&setup.program, place, what);
                        self.stopped = Some(Box::new(fault));
                    }
                }
                LogRecord::TableFull(table, span) => {
                    self.switches[at as usize].counts.tables_full += 1;
                    self.warn_table_full(setup, table, at, Some(span));
                    notifier.notify(now_ps, at, || ObservationKind::TableFull { by, table });
                }
                LogRecord::Called(function, arguments) => {
                    notifier.notify(now_ps, at, || ObservationKind::Called {
                        by,
                        function,
                        arguments,
                    });
                }
                LogRecord::Accessed { global, index, before, after, result } => {
                    let pairs = self.switches[at as usize]
                        .state
                        .cells(global)
                        .is_some_and(|cells| cells.is_pairs());
                    let cells = if pairs { 2 } else { 1 };
                    notifier.notify(now_ps, at, || ObservationKind::Accessed {
                        by,
                        global,
                        index,
                        before: before[..cells].to_vec(),
                        after: after[..cells].to_vec(),
                        result,
                    });
                }
                LogRecord::LookedUp { table, key, action, hit } => {
                    notifier.notify(now_ps, at, || ObservationKind::LookedUp {
                        by,
                        table,
                        key,
                        action,
                        hit,
                    });
                }
            }
        }
        self.interpreter.output.log = log;
    }

    pub(super) fn warn_table_full(
        &mut self,
        setup: &Setup,
        table: GlobalId,
        switch: u32,
        span: Option<Span>,
    ) {
        let place = (switch, self.now_ps());
        faults::warn_table_full(&mut self.warnings, &setup.program, table, place, span);
    }

    pub(super) fn drop_event(
        &mut self,
        notifier: &mut Notifier<'_>,
        at: u32,
        occurrence: u64,
        event: Option<Arc<EventValue>>,
        reason: DropReason,
    ) {
        self.switches[at as usize].counts.dropped += 1;
        let occurrence = Occurrence(occurrence);
        notifier.notify(self.now_ps(), at, || ObservationKind::Dropped {
            occurrence,
            event,
            reason,
        });
    }
}
