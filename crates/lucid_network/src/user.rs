// SPDX-License-Identifier: Apache-2.0
//! Passes through ingress with P4 of the user's around the dispatcher: what came in is not what is handled,
//! and what was generated is not what leaves. The program tells what happens at these two places
//! ([`Options::observed`]); here it is read, and what it means for the account of a pass is decided.
//!
//! [`Options::observed`]: lucid_compiler::Options::observed

use super::arrival::Arrival;
use super::flight::Given;
use super::network::CompiledSimulation;
use super::replaying::Ran;
use super::watch::Watch;
use lucid::core::{EventId, Type};
use lucid_compiler::wire::{EGRESS_LOG, GENERATED_LOG, INGRESS_LOG, USER_LOG};
use lucid_reference::interpreter::{Arguments, EventValue, Place, Value};
use lucid_reference::simulation::schedule::Dispatch;
use lucid_reference::simulation::{Setup, Stage};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a line of the log tells what cannot be seen from outside, and is no print of the program's.
pub(super) fn is_told(line: &str) -> bool {
    [EGRESS_LOG, INGRESS_LOG, GENERATED_LOG, USER_LOG].iter().any(|begin| line.starts_with(begin))
}

/// The event that a line tells of, behind what it begins with: its number, numbers that are not parameters,
/// whether the payload is empty, the parameters with bits.
pub(super) fn told_event(
    setup: &Setup,
    payload: Option<&Arc<[u8]>>,
    (begin, line): (&str, &str),
    others: usize,
) -> Option<(Arc<EventValue>, Vec<u128>)> {
    let (number, rest) = line.strip_prefix(begin)?.split_once(": ")?;
    let number: u32 = number.parse().ok()?;
    let mut values = rest.split(' ').map(str::parse::<u128>);
    let others = (0..others).map(|_| values.next()?.ok()).collect::<Option<Vec<_>>>()?;
    let payload_is_empty = values.next()?.ok()? == 1;
    let declared = setup.program().events.get(number as usize)?;
    let mut arguments = Vec::new();
    for parameter in &declared.parameters {
        arguments.push(match parameter.ty {
            Type::Int(_) => Value::Int(values.next()?.ok()?),
            Type::Bool => Value::Bool(values.next()?.ok()? != 0),
            Type::Payload if payload_is_empty => Value::Payload(Arc::from([])),
            Type::Payload => Value::Payload(payload.cloned().unwrap_or_else(|| [].into())),
            Type::Event | Type::Group => return None,
        });
    }
    let event = EventId(number);
    Some((Arc::new(EventValue { event, arguments, delay_ns: 0, place: Place::Here }), others))
}

/// A pass as the program tells it.
#[derive(Debug, Default)]
struct Told {
    /// Which handler ran, and the port that it saw.
    handled: Option<(Arc<EventValue>, u32)>,
    /// Whether `before` made something else of the packet.
    is_remade: bool,
    /// Whether it goes where neither its handler nor the dispatcher sent it, or as something else.
    is_diverted: bool,
    generated: Vec<Arc<EventValue>>,
}

/// Reads the lines of a pass; the error is one that means nothing.
fn read(setup: &Setup, payload: Option<&Arc<[u8]>>, lines: &[String]) -> Result<Told, String> {
    let mut told = Told::default();
    // What went into a control of the user's and what came out, by control and whether it is the packet or its
    // way. What `exit` left has not come out.
    let mut around: BTreeMap<(&str, &str), [Vec<&str>; 2]> = BTreeMap::new();
    for line in lines {
        let meaningless = || line.clone();
        if line.starts_with(INGRESS_LOG) {
            let found = told_event(setup, payload, (INGRESS_LOG, line), 1);
            let (event, others) = found.ok_or_else(meaningless)?;
            let port = u32::try_from(others[0]).map_err(|_| line.clone())?;
            told.handled = Some((event, port));
        } else if line.starts_with(GENERATED_LOG) {
            let found = told_event(setup, payload, (GENERATED_LOG, line), 0);
            told.generated.push(found.ok_or_else(meaningless)?.0);
        } else if let Some(rest) = line.strip_prefix(USER_LOG) {
            let mut words = rest.splitn(3, ' ');
            let mut word = || words.next().ok_or_else(meaningless);
            let (hook, when, what) = (word()?, word()?, word()?);
            let kind = if what.starts_with("way") { "way" } else { "packet" };
            around.entry((hook, kind)).or_default()[usize::from(when == "out")].push(what);
        }
    }
    for ((hook, kind), [before, after]) in around {
        if before != after {
            told.is_remade |= (hook, kind) == ("before", "packet");
            told.is_diverted |= hook == "after" || kind == "way";
        }
    }
    Ok(told)
}

/// An arrival that P4 of the user's took: nothing handles it, or another event in its place.
pub(super) struct Taken {
    pub(super) time_ps: u64,
    /// Switch and port where it was taken.
    pub(super) at: (u32, u32),
    pub(super) occurrence: u64,
    pub(super) cause: Option<u64>,
    pub(super) event: EventId,
    pub(super) arguments: Arguments,
}

/// What P4 of the user's has to do with a handler that ran.
#[derive(Debug, Default)]
pub(super) struct ByUser {
    /// It made the event that is handled.
    pub(super) made: bool,
    /// It changed what was generated, or where that goes.
    pub(super) diverted: bool,
    /// What was generated before that.
    pub(super) generated: Option<Vec<Arc<EventValue>>>,
}

/// A pass to account for.
pub(super) struct Pass<'a> {
    pub(super) at: (u32, u32),
    pub(super) arrival: &'a Arrival,
    /// Whether what came in is the user's already.
    pub(super) is_users: bool,
    pub(super) lines: &'a [String],
}

impl CompiledSimulation {
    /// What a pass means of which the program tells: the handler that ran in it, and whether what leaves is
    /// the user's. `given` and `ran` are as they would be without P4 of the user's. False if that stops the run.
    pub(super) fn account_for_user(
        &mut self,
        setup: &Setup,
        watch: &mut Watch<'_>,
        pass: Pass<'_>,
        given: &mut Given,
        ran: &mut Option<Ran>,
    ) -> bool {
        let Pass { at, arrival, is_users, lines } = pass;
        let told = match read(setup, given.payload.as_ref(), lines) {
            Ok(told) => told,
            Err(line) => {
                self.fault(at.0, &format!("it logged `{line}`"));
                return false;
            }
        };
        let Told { handled, is_remade, is_diverted, generated } = told;
        let due = ran.as_ref().map(|ran| (ran.dispatch.event.clone(), ran.dispatch.port));
        let is_due = due.is_some() && due == handled;
        let (occurrence, cause) = (given.occurrence, given.cause);
        let came = match arrival {
            Arrival::Dispatch { event, arguments, .. }
            | Arrival::Transit(Some((event, arguments))) => Some((*event, arguments.clone())),
            Arrival::NoHandler { .. } | Arrival::Transit(None) | Arrival::Dropped => None,
        };
        let is_taken = match handled {
            Some(_) => !is_due,
            None => is_remade || is_diverted,
        };
        if let Some((event, arguments)) = came
            && is_taken
            && !is_users
        {
            let time_ps = self.now_ps;
            watch.observer.takes(Taken { time_ps, at, occurrence, cause, event, arguments });
        }
        self.by_user += u64::from(is_taken || is_diverted);
        given.is_users = is_diverted || handled.is_none() && (is_remade || is_users);
        let by_user =
            ByUser { made: !is_due || is_users, diverted: is_diverted, generated: Some(generated) };
        match (handled, ran.as_mut()) {
            (Some(_), Some(ran)) if is_due => ran.by_user = by_user,
            (Some((event, port)), _) => {
                given.occurrence = self.next_occurrence();
                given.handled = Some(event.event);
                given.unhandled = None;
                *ran = Some(Ran {
                    occurrence: given.occurrence,
                    cause,
                    is_packet: matches!(arrival, Arrival::Dispatch { is_packet: true, .. }),
                    dispatch: Dispatch {
                        time_ps: self.now_ps,
                        switch: at.0,
                        port,
                        stage: Stage::Ingress,
                        event,
                        cause: None,
                        draws: Vec::new(),
                        dequeue_depth: 0,
                    },
                    by_user,
                });
            }
            (None, _) => {
                given.handled = None;
                *ran = None;
            }
        }
        true
    }
}

/// An event as text, without its payload.
pub(super) fn event_text(setup: &Setup, event: &EventValue) -> String {
    let name = &setup.program().events[event.event.0 as usize].name;
    let values = event.arguments.iter().filter_map(|value| match value {
        Value::Int(value) => Some(value.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Payload(_) | Value::Event(_) | Value::Group(_) => None,
    });
    format!("{name}({})", values.collect::<Vec<_>>().join(", "))
}
