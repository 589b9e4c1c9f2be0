// SPDX-License-Identifier: Apache-2.0
//! What people and tools read of a run: event log, JSON lines, final state, counters, time line,
//! verdicts on expectations. Nothing here runs anything.
