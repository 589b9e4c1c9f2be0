// SPDX-License-Identifier: Apache-2.0
//! Replays a schedule: runs each dispatch's handler on the state that the dispatches before it and the
//! commands of the run left. It does not check that the schedule is legal.

use super::super::inputs::{Input, Inputs};
use super::super::observation::Stage;
use super::super::route::{Route, for_each_route};
use super::super::setup::Setup;
use super::{Dispatch, Rule, Schedule, Violation};
use crate::interpreter::{
    Arguments, EventValue, Generated, Interpreter, LogRecord, Place, PreparedBody, RandomSource,
    State, SwitchContext,
};
use lucid::core::NO_PORT;
use network::links::Links;
use std::sync::Arc;

/// The destination of a copy of a generated event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentTo {
    /// Back into the switch.
    Recirculated,
    /// To another switch by its number.
    Switch(u32),
    /// Out of a port, [`NO_PORT`] if none in particular.
    Port(u32),
}

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct Replay {
    /// State of each switch at the end.
    pub states: Vec<State>,
    /// Of each dispatch, the events that it generated, one for each copy, in order.
    pub generated: Vec<Vec<(Arc<EventValue>, SentTo)>>,
}

/// Runs a schedule. An error is a dispatch that does not fit the program or its random numbers.
pub fn replay(setup: &Setup, schedule: &Schedule) -> Result<Replay, Violation> {
    let mut replayer = Replayer::new(setup);
    let mut generated = Vec::with_capacity(schedule.dispatches.len());
    for (number, dispatch) in schedule.dispatches.iter().enumerate() {
        let mut copies = Vec::new();
        for one in replayer.dispatch(setup, number, dispatch)? {
            let slots = &setup.prepared.events[one.event.0 as usize].slots;
            let event = Arc::new(EventValue {
                event: one.event,
                arguments: one.arguments.values(slots),
                delay_ns: one.delay_ns,
                place: Place::Here,
            });
            if dispatch.stage == Stage::Egress {
                copies.push((event, SentTo::Port(dispatch.port)));
                continue;
            }
            let from = (dispatch.switch, one.event);
            for_each_route(setup, &replayer.topology, from, &one.to, &mut |route| {
                let sent = match route {
                    Route::Recirculate => SentTo::Recirculated,
                    Route::Switch(switch) => SentTo::Switch(switch),
                    Route::Port(port) => SentTo::Port(port),
                    Route::Outside => SentTo::Port(NO_PORT),
                };
                copies.push((event.clone(), sent));
            });
        }
        generated.push(copies);
    }
    replayer.commands_until(setup, setup.timing.max_time_ps);
    Ok(Replay { states: replayer.states, generated })
}

/// Recorded random numbers, and the first mismatch with the draws.
struct RecordedDraws<'a> {
    draws: &'a [u128],
    position: usize,
    misfit: Option<String>,
}

impl RandomSource for RecordedDraws<'_> {
    fn draw(&mut self, mask: u128) -> u128 {
        let drawn = self.draws.get(self.position).copied();
        self.position += 1;
        match drawn {
            Some(drawn) if drawn <= mask => drawn,
            Some(drawn) => {
                let message = format!("the random number {drawn} is larger than {mask}");
                self.misfit.get_or_insert(message);
                drawn & mask
            }
            None => {
                let message = format!("more than {} random numbers were drawn", self.draws.len());
                self.misfit.get_or_insert(message);
                0
            }
        }
    }
}

/// State of all switches during a replay. Its methods take the setup that it was made for.
#[derive(Debug)]
pub struct Replayer {
    /// The links as they are now.
    pub topology: Links,
    /// The state of each switch.
    pub states: Vec<State>,
    /// Commands and links of the run; events are left out.
    controls: Inputs,
    /// Runs the handlers.
    pub interpreter: Interpreter,
}

impl Replayer {
    /// Before the first dispatch.
    pub fn new(setup: &Setup) -> Replayer {
        Replayer {
            topology: setup.topology(),
            states: (0..setup.switches).map(|_| State::new(&setup.program)).collect(),
            controls: Inputs::new(setup.controls(), setup.seed),
            interpreter: Interpreter::default(),
        }
    }

    /// Runs the commands due until a time, included.
    pub fn commands_until(&mut self, setup: &Setup, time_ps: u64) {
        while self.controls.peek().is_some_and(|next| next.0 <= time_ps) {
            if let Some((_, Input::Command { switch, command })) = self.controls.pop() {
                command.run(&setup.program, &mut self.states[switch as usize]);
            }
        }
    }

    /// Runs a dispatch's handler; returns the generated events.
    pub fn dispatch(
        &mut self,
        setup: &Setup,
        number: usize,
        dispatch: &Dispatch,
    ) -> Result<Vec<Generated>, Violation> {
        let body =
            body(setup, dispatch).map_err(|why| Violation::new(Some(number), Rule::Fit, why))?;
        self.commands_until(setup, dispatch.time_ps);
        let event = dispatch.event.event;
        let mut arguments = Arguments::default();
        let slots = &setup.prepared.events[event.0 as usize].slots;
        arguments.set(&dispatch.event.arguments, slots);
        let at = dispatch.switch as usize;
        let context = SwitchContext {
            dequeue_depth: dispatch.dequeue_depth,
            ..surroundings(setup, dispatch.switch, dispatch.port, dispatch.time_ps)
        };
        let mut recorded = RecordedDraws { draws: &dispatch.draws, position: 0, misfit: None };
        self.interpreter.run(
            &setup.prepared,
            (event, body),
            &arguments,
            &mut self.states[at],
            &context,
            &mut recorded,
        );
        if recorded.position < dispatch.draws.len() {
            let (drawn, given) = (recorded.position, dispatch.draws.len());
            let message = format!("{drawn} random numbers were drawn, not {given}");
            recorded.misfit.get_or_insert(message);
        }
        match recorded.misfit {
            Some(message) => Err(Violation::new(Some(number), Rule::Draws, message)),
            None => Ok(std::mem::take(&mut self.interpreter.output.generated)),
        }
    }

    /// Whether the last dispatch accessed something beyond the end of an array.
    pub fn was_out_of_range(&self) -> bool {
        self.interpreter.output.log.iter().any(|note| matches!(note, LogRecord::OutOfRange(..)))
    }
}

/// The switch context of a handler, with an empty queue.
pub fn surroundings(setup: &Setup, switch: u32, port: u32, time_ps: u64) -> SwitchContext<'_> {
    SwitchContext {
        switch,
        ingress_port: port,
        recirculation_port: setup.recirculation_ports[switch as usize],
        time_ns: time_ps / 1000,
        dequeue_depth: 0,
        externs: &setup.externs[switch as usize],
    }
}

/// The handler, if the dispatch fits the program.
fn body<'s>(setup: &'s Setup, dispatch: &Dispatch) -> Result<&'s PreparedBody, String> {
    let event = dispatch.event.event.0 as usize;
    let Some(prepared) = setup.prepared.events.get(event) else {
        return Err(format!("there is no event number {event}"));
    };
    if dispatch.switch >= setup.switches {
        return Err(format!("there is no switch {}", dispatch.switch));
    }
    let declared = &setup.program.events[event];
    if dispatch.event.arguments.len() != prepared.slots.len() {
        return Err(format!("`{}` takes {} arguments", declared.name, prepared.slots.len()));
    }
    let body = match dispatch.stage {
        Stage::Ingress => &prepared.ingress,
        Stage::Egress => &prepared.egress,
        Stage::Control => &prepared.control,
    };
    body.as_ref().ok_or_else(|| format!("`{}` has no such handler", declared.name))
}
