// SPDX-License-Identifier: Apache-2.0
//! Real-time priority and a processor of its own for the thread that forwards.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The priority of SCHED_FIFO: above ordinary threads, below those of the kernel.
const PRIORITY: u8 = 50;

/// Puts the calling thread on the last of its processors, with SCHED_FIFO. Other threads keep what they have. Returns what
/// the system refused, in sentences.
pub fn run_in_real_time() -> Vec<String> {
    let mut refused = Vec::new();
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriorityValue::try_from(PRIORITY).map(ThreadPriority::Crossplatform);
    let set = priority.map_err(|error| error.to_string()).and_then(|priority| {
        set_thread_priority_and_policy(thread_native_id(), priority, policy)
            .map_err(|error| format!("{error:?}"))
    });
    if set.is_err() {
        refused.push(
            "--realtime: the system refuses SCHED_FIFO (it needs root or the capability CAP_SYS_NICE); the switches \
             run with ordinary priority"
                .to_string(),
        );
    }
    let pinned = sched_getaffinity(None).and_then(|all| {
        let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| all.is_set(*cpu)).unwrap_or(0);
        let mut own = CpuSet::new();
        own.set(last);
        sched_setaffinity(None, &own)
    });
    if let Err(error) = pinned {
        let why = source::reason(&error.into());
        refused.push(format!("--realtime: the switches share their processor: {why}"));
    }
    refused
}
