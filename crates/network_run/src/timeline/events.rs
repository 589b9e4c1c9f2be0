// SPDX-License-Identifier: Apache-2.0
//! [`Events`]: what happened to single frames, and how many packets waited at ports at each time, within a window and a
//! budget.

use super::{MAX_EVENTS, Window};

/// In place of the number of an event or port: none.
pub(crate) const NONE: u32 = u32::MAX;

/// What happens to a frame. The numbers are those of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// Its last bit left a port.
    Sent = 0,
    /// It arrived at a port.
    Received = 1,
    /// The link lost it.
    Lost = 2,
    /// A node dropped it.
    Dropped = 3,
}

impl EventKind {
    /// Whether people look for it among many others.
    fn is_rare(self) -> bool {
        matches!(self, EventKind::Lost | EventKind::Dropped)
    }
}

/// An event of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameEvent {
    pub(crate) time_ps: u64,
    pub(crate) kind: EventKind,
    /// Of a loss or drop: the number of the reason.
    pub(crate) reason: u8,
    /// The port, by number.
    pub(crate) port: u32,
    pub(crate) flow: u32,
    pub(crate) length_bytes: u32,
    /// The event from which it follows, or [`NONE`]: of an arrival the departure, of a departure the arrival before it.
    pub(crate) cause: u32,
}

/// How many packets wait at a port from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DepthSample {
    pub(crate) time_ps: u64,
    pub(crate) port: u32,
    pub(crate) depth: u32,
}

/// Events within a window.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    window: Window,
    /// In the order of the calls, then in that of times.
    pub(crate) frames: Vec<FrameEvent>,
    rare: usize,
    pub(crate) samples: Vec<DepthSample>,
    reasons: Vec<String>,
    omitted: u64,
    last_kept_ps: u64,
    omitted_samples: u64,
}

impl Events {
    pub(crate) fn new(window: Window) -> Events {
        Events {
            window,
            frames: Vec::new(),
            rare: 0,
            samples: Vec::new(),
            reasons: vec![String::new()],
            omitted: 0,
            last_kept_ps: 0,
            omitted_samples: 0,
        }
    }

    fn is_in_window(&self, time_ps: u64) -> bool {
        (self.window.from_ps..=self.window.to_ps).contains(&time_ps)
    }

    /// Adds an event. Returns its number, or [`NONE`] if there is no room or it is out of the window. Losses and drops
    /// have a budget of their own.
    pub(crate) fn add(&mut self, event: FrameEvent) -> u32 {
        if !self.is_in_window(event.time_ps) {
            return NONE;
        }
        let (is_rare, common) = (event.kind.is_rare(), self.frames.len() - self.rare);
        let room = if is_rare { MAX_EVENTS / 4 } else { MAX_EVENTS };
        if (if is_rare { self.rare } else { common }) >= room {
            self.omitted += 1;
            return NONE;
        }
        self.rare += usize::from(is_rare);
        if !is_rare {
            self.last_kept_ps = self.last_kept_ps.max(event.time_ps);
        }
        self.frames.push(event);
        (self.frames.len() - 1) as u32
    }

    /// Adds a change of the number of waiting packets.
    pub(crate) fn sample(&mut self, sample: DepthSample) {
        if !self.is_in_window(sample.time_ps) {
            return;
        }
        match self.samples.len() < MAX_EVENTS {
            true => self.samples.push(sample),
            false => self.omitted_samples += 1,
        }
    }

    /// The number of a reason.
    pub(crate) fn reason(&mut self, name: &str) -> u8 {
        let known = self.reasons.iter().position(|known| known == name);
        let at = known.unwrap_or_else(|| {
            // There are fewer reasons than numbers.
            self.reasons.push(name.to_string());
            self.reasons.len() - 1
        });
        u8::try_from(at).unwrap_or(0)
    }

    /// The reasons by number.
    pub(crate) fn reasons(&self) -> &[String] {
        &self.reasons
    }

    /// Brings events into the order of their times; causes name the new places.
    pub(crate) fn finish(&mut self) {
        let mut order: Vec<u32> = (0..self.frames.len() as u32).collect();
        order.sort_by_key(|at| self.frames[*at as usize].time_ps);
        let mut place = vec![NONE; order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old as usize] = new as u32;
        }
        let event = |old: &u32| {
            let event = self.frames[*old as usize];
            let cause = place.get(event.cause as usize).copied().unwrap_or(NONE);
            FrameEvent { cause, ..event }
        };
        self.frames = order.iter().map(event).collect();
        // Of each port in order of time, and only changes.
        self.samples.sort_by_key(|sample| (sample.port, sample.time_ps));
        self.samples.dedup_by(|next, before| {
            let is_same_moment = (next.port, next.time_ps) == (before.port, before.time_ps);
            if is_same_moment {
                before.depth = next.depth;
            }
            is_same_moment || (next.port, next.depth) == (before.port, before.depth)
        });
    }

    /// How many events in the window found no room, and the time of the last event that did.
    pub(crate) fn omitted(&self) -> Option<(u64, u64)> {
        (self.omitted > 0).then_some((self.omitted, self.last_kept_ps))
    }

    /// Until when the depths of queues are known change by change.
    pub(crate) fn samples_until_ps(&self) -> u64 {
        match self.omitted_samples {
            0 => self.window.to_ps,
            _ => self.samples.iter().map(|sample| sample.time_ps).max().unwrap_or(0),
        }
    }

    /// The window.
    pub(crate) fn window(&self) -> Window {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time_ps: u64, kind: EventKind, cause: u32) -> FrameEvent {
        FrameEvent { time_ps, kind, reason: 0, port: 0, flow: 1, length_bytes: 60, cause }
    }

    #[test]
    fn events_are_in_order_of_time_and_causes_follow_them() {
        let mut events = Events::new(Window { from_ps: 5, to_ps: 100 });
        assert_eq!(events.add(event(4, EventKind::Sent, NONE)), NONE);
        // A host hands over two frames, of which the second leaves behind the arrival of the first.
        let first = events.add(event(10, EventKind::Sent, NONE));
        let second = events.add(event(30, EventKind::Sent, NONE));
        events.add(event(20, EventKind::Received, first));
        events.add(event(40, EventKind::Received, second));
        events.finish();
        let times: Vec<(u64, u32)> =
            events.frames.iter().map(|one| (one.time_ps, one.cause)).collect();
        assert_eq!(times, [(10, NONE), (20, 0), (30, NONE), (40, 2)]);
    }

    #[test]
    fn drops_have_room_when_other_events_have_none() {
        let mut events = Events::new(Window::WHOLE);
        for time_ps in 0..MAX_EVENTS as u64 + 3 {
            events.add(event(time_ps, EventKind::Sent, NONE));
        }
        assert_ne!(events.add(event(1 << 30, EventKind::Dropped, NONE)), NONE);
        assert_eq!(events.omitted(), Some((3, MAX_EVENTS as u64 - 1)));
        assert_eq!(events.frames.len(), MAX_EVENTS + 1);
    }

    #[test]
    fn samples_of_one_moment_are_one() {
        let mut events = Events::new(Window::WHOLE);
        for (time_ps, port, depth) in
            [(1, 0, 1), (1, 1, 4), (1, 0, 2), (3, 0, 2), (4, 0, 1), (4, 0, 0)]
        {
            events.sample(DepthSample { time_ps, port, depth });
        }
        events.finish();
        let left: Vec<_> =
            events.samples.iter().map(|one| (one.port, one.time_ps, one.depth)).collect();
        assert_eq!(left, [(0, 1, 2), (0, 4, 0), (1, 1, 4)]);
    }
}
