// SPDX-License-Identifier: Apache-2.0
//! TCP as a state machine over segments, independent of hosts: [`Connection`], its [`TcpOptions`] and [`TcpStatistics`].
//! Beside the RFCs that files cite it has, as ns-3, no RACK and no tail loss probes (RFC 8985), no F-RTO (RFC 5682), no
//! quick acknowledgements at the begin, no pacing; a retransmission that is lost waits for the timer.

mod congestion;
mod connection;
mod options;
mod ranges;
mod receiver;
mod recovery;
mod round_trip;
mod scoreboard;
mod sender;
mod small_queue;
mod statistics;
mod stream;

pub use connection::{Connection, Outgoing, TcpEvents, TcpState};
pub use options::{Control, TcpOptions};
pub(crate) use small_queue::SmallQueue;
pub use statistics::TcpStatistics;
pub use stream::Payload;

#[cfg(test)]
mod tests;
