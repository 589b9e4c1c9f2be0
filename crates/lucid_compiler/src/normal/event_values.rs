// SPDX-License-Identifier: Apache-2.0
//! Event values taken apart: the constructor or the local that has it, its delay and its place.

use lucid::core::{EventId, Expression, ExpressionKind, LocalId};

/// The parts of an event value. The outermost delay and place count.
pub(super) struct EventParts<'a> {
    pub(super) base: Base<'a>,
    pub(super) delay: Option<&'a Expression>,
    pub(super) place: Option<Place<'a>>,
}

#[derive(Clone, Copy)]
pub(super) enum Base<'a> {
    Constructor(EventId, &'a [Expression]),
    Local(LocalId),
}

#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Switch(&'a Expression),
    Switches(&'a Expression),
}

/// Takes an event value apart; `None` for what is no event value of a handler.
pub(super) fn taken_apart(value: &Expression) -> Option<EventParts<'_>> {
    let (mut inner, mut delay, mut place) = (value, None, None);
    let base = loop {
        match &inner.kind {
            ExpressionKind::Delay { event, nanoseconds } => {
                delay = delay.or(Some(&**nanoseconds));
                inner = event;
            }
            ExpressionKind::Locate { event, switch } => {
                place = place.or(Some(Place::Switch(switch)));
                inner = event;
            }
            ExpressionKind::LocateMany { event, switches } => {
                place = place.or(Some(Place::Switches(switches)));
                inner = event;
            }
            ExpressionKind::Event { event, arguments } => {
                break Base::Constructor(*event, arguments);
            }
            ExpressionKind::Local(local) => break Base::Local(*local),
            _ => return None,
        }
    };
    Some(EventParts { base, delay, place })
}
