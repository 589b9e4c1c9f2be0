// SPDX-License-Identifier: Apache-2.0
//! TCP as a state machine over segments, independent of hosts: [`Connection`], its [`TcpOptions`] and [`TcpStatistics`].

mod congestion;
mod connection;
mod options;
mod ranges;
mod receiver;
mod recovery;
mod round_trip;
mod scoreboard;
mod sender;
mod statistics;
mod stream;

pub use connection::{Connection, Outgoing, TcpEvents, TcpState};
pub use options::{Control, TcpOptions};
pub use statistics::TcpStatistics;
pub use stream::Payload;

#[cfg(test)]
mod tests;
