// SPDX-License-Identifier: Apache-2.0
//! Replays captures through one device: packets arrive at the times of their captures, in order of time over all ports.
//! A sink receives the transmitted packets with times of the same clock. Device time 0 is the time of the first packet.

use crate::capture::{ArrivingPacket, CaptureError};
use device::{Device, DeviceError, Transmitted};

/// Device time between two drains of outputs in a run to a given time, in picoseconds.
const SLICE_PS: u64 = 1_000_000_000;

/// Largest time of a packet after the first one, in picoseconds: about 106 days.
const LARGEST_DEVICE_TIME_PS: i128 = u64::MAX as i128 / 2;

/// Why a replay stopped.
#[derive(Debug)]
pub enum ReplayError {
    /// A capture could not be read further. The packets before the error were run.
    Capture(CaptureError),
    /// The device stopped.
    Device(DeviceError),
    /// A packet is too late after the first one, in picoseconds.
    TooFar(i128),
    /// The sink failed, with its own message.
    Sink(String),
    /// The agent failed, with its own message.
    Agent(String),
}

/// Control-plane code that acts between packets at times that it chooses.
pub trait Agent {
    /// Returns the device time of its next action, in picoseconds; `None` if it has none.
    fn next_ps(&self) -> Option<u64>;

    /// Acts at its time.
    ///
    /// # Errors
    ///
    /// Why the run cannot continue.
    fn act(&mut self, device: &mut Device) -> Result<(), String>;

    /// Returns lines about the whole run.
    fn summaries(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An agent that never acts.
#[derive(Clone, Copy, Debug)]
pub struct NoAgent;

impl Agent for NoAgent {
    fn next_ps(&self) -> Option<u64> {
        None
    }

    fn act(&mut self, _device: &mut Device) -> Result<(), String> {
        Ok(())
    }
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayError::Capture(error) => error.fmt(formatter),
            ReplayError::Device(error) => error.fmt(formatter),
            ReplayError::TooFar(distance) => write!(
                formatter,
                "a packet lies {} days after the first; a run covers at most {} days",
                distance / 86_400_000_000_000_000,
                LARGEST_DEVICE_TIME_PS / 86_400_000_000_000_000
            ),
            ReplayError::Sink(message) | ReplayError::Agent(message) => {
                formatter.write_str(message)
            }
        }
    }
}

impl std::error::Error for ReplayError {}

/// The progress of a replay, and the capture time of device time 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Capture time of device time 0, in picoseconds since 1970.
    pub start_ps: i128,
    /// Packets given to the device.
    pub packets_in: u64,
    /// Number of these packets that their capture has cut.
    pub packets_snapped: u64,
    /// Whether the captures have packets after the end of the run.
    pub is_cut: bool,
}

/// Converts times of captures to device time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    progress: Progress,
    /// End of the run in device time, in picoseconds; `None` to end with the last packet.
    until_ps: Option<u64>,
}

impl Clock {
    /// Makes the clock of a run that ends at this time after its first packet, in picoseconds.
    pub fn until(until_ps: Option<u64>) -> Clock {
        Clock { until_ps, ..Clock::default() }
    }

    /// Counts a packet and returns its arrival at a device whose clock is `now_ps`; `None` if it is after the end of the
    /// run. Captures may be out of order; a packet from the past arrives now.
    pub fn arrival_ps(
        &mut self,
        arriving: &ArrivingPacket,
        now_ps: u64,
    ) -> Result<Option<u64>, ReplayError> {
        let progress = &mut self.progress;
        if progress.packets_in == 0 {
            progress.start_ps = arriving.packet.timestamp_ps;
        }
        let distance = arriving.packet.timestamp_ps - progress.start_ps;
        if self.until_ps.is_some_and(|until_ps| distance > i128::from(until_ps)) {
            progress.is_cut = true;
            return Ok(None);
        }
        progress.packets_in += 1;
        progress.packets_snapped += u64::from(arriving.is_snapped);
        if distance > LARGEST_DEVICE_TIME_PS {
            return Err(ReplayError::TooFar(distance));
        }
        Ok(Some(u64::try_from(distance).unwrap_or(0).max(now_ps)))
    }

    /// Converts a device time to capture time, in picoseconds since 1970.
    pub fn capture_time_ps(&self, device_ps: u64) -> i128 {
        self.progress.start_ps + i128::from(device_ps)
    }

    /// Returns the progress.
    pub fn progress(&self) -> Progress {
        self.progress
    }
}

/// Runs all packets, or until a time after the first packet, in picoseconds. Without such a time the agent acts as long as
/// the device has events. After each step `sink` receives the device, so that it can drain traces and digests, and the
/// transmitted packets with their capture times in picoseconds since 1970.
pub fn replay(
    device: &mut Device,
    packets: impl Iterator<Item = Result<ArrivingPacket, CaptureError>>,
    until_ps: Option<u64>,
    agent: &mut dyn Agent,
    mut sink: impl FnMut(&mut Device, &Progress, Vec<(i128, Transmitted)>) -> Result<(), String>,
) -> Result<Progress, ReplayError> {
    let mut clock = Clock::until(until_ps);
    let mut stopped = None;
    for packet in packets {
        let arriving = match packet {
            Ok(arriving) => arriving,
            Err(error) => {
                stopped = Some(ReplayError::Capture(error));
                break;
            }
        };
        let time_ps = match clock.arrival_ps(&arriving, device.now_ps()) {
            Ok(Some(time_ps)) => time_ps,
            Ok(None) => break,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        let ran = advance(device, time_ps, agent).and_then(|()| {
            let injected = device.inject(arriving.port, time_ps, arriving.packet.data);
            injected.map(drop).map_err(ReplayError::Device)
        });
        drain(device, &clock, &mut sink)?;
        ran?;
    }
    loop {
        let slice_ps = until_ps.map(|until_ps| match device.next_event_ps() {
            Some(next_ps) => next_ps.saturating_add(SLICE_PS).min(until_ps),
            None => until_ps,
        });
        let ran = match slice_ps {
            Some(slice_ps) => advance(device, slice_ps, agent),
            None => complete(device, agent),
        };
        drain(device, &clock, &mut sink)?;
        ran?;
        if slice_ps == until_ps {
            break;
        }
    }
    match stopped {
        Some(error) => Err(error),
        None => Ok(clock.progress()),
    }
}

/// Advances a device to a time and runs the agent's actions at their times.
fn advance(device: &mut Device, until_ps: u64, agent: &mut dyn Agent) -> Result<(), ReplayError> {
    while let Some(at_ps) = agent.next_ps().filter(|at_ps| *at_ps <= until_ps) {
        device.advance(at_ps.max(device.now_ps())).map_err(ReplayError::Device)?;
        agent.act(device).map_err(ReplayError::Agent)?;
    }
    device.advance(until_ps).map_err(ReplayError::Device)
}

/// Runs a device to completion and the agent's actions at their times.
fn complete(device: &mut Device, agent: &mut dyn Agent) -> Result<(), ReplayError> {
    while device.next_event_ps().is_some()
        && let Some(at_ps) = agent.next_ps()
    {
        advance(device, at_ps.max(device.now_ps()), agent)?;
    }
    device.run_to_completion().map_err(ReplayError::Device)
}

fn drain(
    device: &mut Device,
    clock: &Clock,
    sink: &mut impl FnMut(&mut Device, &Progress, Vec<(i128, Transmitted)>) -> Result<(), String>,
) -> Result<(), ReplayError> {
    let sent = device.drain_transmitted();
    let sent = sent.into_iter().map(|each| (clock.capture_time_ps(each.time_ps), each)).collect();
    sink(device, &clock.progress(), sent).map_err(ReplayError::Sink)
}
