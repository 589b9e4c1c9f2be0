// SPDX-License-Identifier: Apache-2.0
//! What a run shows beside the reports of its nodes.

use crate::timeline::TimeLine;
use network::packet_fields::PacketField;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Packets that an expectation counts.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    /// The expectation's place in the list.
    pub(crate) expectation: usize,
    pub(crate) node: u32,
    pub(crate) fields: Vec<(PacketField, u128)>,
    pub(crate) times_ps: (u64, u64),
    pub(crate) count: u64,
}

/// What a cell of a counter or register has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellValue {
    Counter {
        packets: u64,
        bytes: u64,
    },
    /// `None` if the value has more than 64 bits.
    Register(Option<u64>),
}

/// What a run shows beside the reports of its nodes.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) counted: Vec<Counted>,
    pub(crate) captured: Captured,
    /// Cells that were read at their time, by the number of their expectation.
    pub(crate) cells: BTreeMap<usize, Result<CellValue, String>>,
    /// The time line, if the user wants one.
    pub(crate) timeline: Option<Box<TimeLine>>,
}

/// Time, number of the frame, number of its capture, bytes.
type CapturedFrame = (u64, u64, usize, Vec<u8>);

/// Captured frames in order of time: a frame is known to leave before it leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured {
    waiting: BinaryHeap<Reverse<CapturedFrame>>,
    count: u64,
}

/// Frames that wait at most before a flush.
const MAX_WAITING: usize = 4096;

impl Captured {
    pub(crate) fn push(&mut self, number: usize, time_ps: u64, bytes: Vec<u8>) {
        self.count += 1;
        self.waiting.push(Reverse((time_ps, self.count, number, bytes)));
    }

    /// Whether a flush would be good for memory.
    pub(crate) fn is_large(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
    }

    /// Takes the frames until a time, with the number of their capture.
    pub(crate) fn flush(&mut self, until_ps: u64, mut take: impl FnMut(usize, u64, &[u8])) {
        while self.waiting.peek().is_some_and(|Reverse((time_ps, ..))| *time_ps <= until_ps)
            && let Some(Reverse((time_ps, _, number, bytes))) = self.waiting.pop()
        {
            take(number, time_ps, &bytes);
        }
    }
}
