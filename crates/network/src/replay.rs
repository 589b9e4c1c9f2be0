// SPDX-License-Identifier: Apache-2.0
//! Captures through one device: packets go in at the times of their captures, in order of time over
//! all ports, and what the device sends is handed to a sink with times of the same clock. Device time
//! 0 is the time of the first packet.

use crate::capture::{ArrivingPacket, CaptureError};
use device::{Device, DeviceError, Transmitted};

/// How long a device works between looks at what it sent, in picoseconds, when it runs to a time.
const SLICE_PS: u64 = 1_000_000_000;

/// The farthest from its first packet that a run goes, in picoseconds: about 106 days.
const LARGEST_DEVICE_TIME_PS: i128 = u64::MAX as i128 / 2;

/// Why a replay stopped.
#[derive(Debug)]
pub enum ReplayError {
    /// A capture could not be read further. What came before was run.
    Capture(CaptureError),
    /// The device stopped.
    Device(DeviceError),
    /// A packet lies too far from the first one in time, in picoseconds.
    TooFar(i128),
    /// The sink failed, with its own message.
    Sink(String),
    /// The agent failed, with its own message.
    Agent(String),
}

/// Control-plane code that acts between packets, at times of its own.
pub trait Agent {
    /// When it acts next, by the device's clock, in picoseconds; `None` if never.
    fn next_ps(&self) -> Option<u64>;

    /// Acts, when it is time.
    ///
    /// # Errors
    ///
    /// Why the run cannot go on.
    fn act(&mut self, device: &mut Device) -> Result<(), String>;
}

/// No agent.
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

/// Where a replay stands, and what the device's clock means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Capture time of device time 0, in picoseconds since 1970.
    pub start_ps: i128,
    /// Packets given to the device.
    pub packets_in: u64,
    /// Of these, packets that their capture had cut short.
    pub packets_snapped: u64,
    /// Whether the captures have packets after the end of the run.
    pub is_cut: bool,
}

/// Makes times of the device of times of captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    progress: Progress,
    /// When the run ends, by the device's clock, in picoseconds; with its last packet if nobody says.
    until_ps: Option<u64>,
}

impl Clock {
    /// A clock of a run that ends at this time after its first packet, in picoseconds.
    pub fn until(until_ps: Option<u64>) -> Clock {
        Clock { until_ps, ..Clock::default() }
    }

    /// Counts a packet and tells when it arrives at a device whose clock stands at `now_ps`; `None` if it
    /// comes after the end of the run. A capture may be out of order; a packet from the past arrives now.
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
        progress.packets_snapped += u64::from(arriving.packet.is_snapped());
        if distance > LARGEST_DEVICE_TIME_PS {
            return Err(ReplayError::TooFar(distance));
        }
        Ok(Some(u64::try_from(distance).unwrap_or(0).max(now_ps)))
    }

    /// The time of the captures, in picoseconds since 1970, at a time of the device.
    pub fn capture_time_ps(&self, device_ps: u64) -> i128 {
        self.progress.start_ps + i128::from(device_ps)
    }

    /// Where the replay stands.
    pub fn progress(&self) -> Progress {
        self.progress
    }
}

/// Runs all packets, or until a time after the first packet, in picoseconds. Without such a time an agent acts
/// as long as the device has something to do. The sink is called after each step of the device with the
/// device, so that it can drain traces and digests too, and with what was sent: the capture time in
/// picoseconds since 1970.
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

/// Runs a device to a time, with the agent's actions on the way.
fn advance(device: &mut Device, until_ps: u64, agent: &mut dyn Agent) -> Result<(), ReplayError> {
    while let Some(at_ps) = agent.next_ps().filter(|at_ps| *at_ps <= until_ps) {
        device.advance(at_ps.max(device.now_ps())).map_err(ReplayError::Device)?;
        agent.act(device).map_err(ReplayError::Agent)?;
    }
    device.advance(until_ps).map_err(ReplayError::Device)
}

/// Runs a device until it has nothing left to do, with the agent's actions on the way.
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
