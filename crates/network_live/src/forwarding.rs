// SPDX-License-Identifier: Apache-2.0
//! [`Forwarder`]: runs the switches and links of a network in real time. Frames of hosts enter the simulation at the time
//! at which they arrive, and what reaches a host leaves by its interface. Rates, queues and delays are those of the
//! simulation, whose time is the clock's.

use crate::kernel::Interfaces;
use crate::system::{FrameBuffers, Received, wait};
use network_run::{Built, CaptureSink, RunError};
use std::time::{Duration, Instant};

/// The longest wait, so that the caller sees signals.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// The most batches of a host's frames before the others have their turn.
const BATCHES: usize = 4;

/// How well the machine kept up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Frames of hosts that were lost before the switches, because these were busy.
    pub missed: u64,
    /// Frames that an interface did not take.
    pub refused: u64,
    /// The longest time by which an event was late, in picoseconds.
    pub latest_ps: u64,
    /// Frames that the switches took from hosts.
    pub taken: u64,
}

/// Why a live network cannot go on.
#[derive(Debug)]
pub enum StepError {
    /// An interface is gone; a sentence.
    Interface(String),
    /// A switch or controller failed.
    Run(RunError),
}

/// Runs switches and links in real time.
pub struct Forwarder {
    interfaces: Interfaces,
    buffers: FrameBuffers,
    started: Instant,
    pace: Pace,
}

impl Forwarder {
    /// Starts the clock at time 0.
    pub fn start(interfaces: Interfaces) -> Forwarder {
        crate::system::wake_on_time();
        Forwarder {
            interfaces,
            buffers: FrameBuffers::default(),
            started: Instant::now(),
            pace: Pace::default(),
        }
    }

    /// When the clock was at 0.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        picoseconds(self.started.elapsed())
    }

    /// Frames that the switches took from hosts so far.
    pub fn taken(&self) -> u64 {
        self.pace.taken
    }

    /// How well the machine kept up so far.
    pub fn pace(&mut self) -> Pace {
        self.pace.missed +=
            self.interfaces.sockets.iter().map(|socket| socket.take_drops()).sum::<u64>();
        self.pace
    }

    /// Waits for the next frame or event, or for a short while, and handles what is due.
    ///
    /// # Errors
    ///
    /// A switch or controller failed, or an interface is gone.
    pub fn step(&mut self, built: &mut Built, sink: &mut dyn CaptureSink) -> Result<(), StepError> {
        let next_ps = built.simulation.next_event_ps().unwrap_or(u64::MAX);
        let rest = Duration::from_nanos(next_ps.saturating_sub(self.now_ps()) / 1_000);
        let has_frames = wait(self.interfaces.sockets.iter(), rest.min(LONGEST_WAIT));
        for (host, _) in has_frames.iter().enumerate().filter(|(_, has)| **has) {
            let time_ps = self.now_ps();
            let Some(external) = built.external_host_mut(host) else { continue };
            for _ in 0..BATCHES {
                let more = self.interfaces.sockets[host].receive(&mut self.buffers, |received| {
                    self.pace.taken += 1;
                    external.offer(time_ps, complete(received));
                });
                match more {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        let name = &built.network().hosts[host].name;
                        let why = source::reason(&error);
                        let message = format!("the interface of host `{name}` failed: {why}");
                        return Err(StepError::Interface(message));
                    }
                }
            }
        }
        let now_ps = self.now_ps();
        if let Some(due_ps) = built.simulation.next_event_ps() {
            self.pace.latest_ps = self.pace.latest_ps.max(now_ps.saturating_sub(due_ps));
        }
        built.run_until(now_ps, sink).map_err(StepError::Run)?;
        for host in 0..self.interfaces.sockets.len() {
            if !built.has_received(host) {
                continue;
            }
            let Some(external) = built.external_host_mut(host) else { continue };
            let frames: Vec<Vec<u8>> =
                external.take_received().into_iter().map(|frame| frame.into_bytes()).collect();
            let sent = self.interfaces.sockets[host].send(frames.iter().map(Vec::as_slice));
            self.pace.refused += (frames.len() - sent) as u64;
        }
        Ok(())
    }
}

fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() * 1_000).unwrap_or(u64::MAX)
}

/// A frame with all its checksums.
fn complete(received: Received) -> Vec<u8> {
    let Received { mut bytes, lacks_checksum } = received;
    if lacks_checksum {
        crate::checksums::complete(&mut bytes);
    }
    bytes
}
