// SPDX-License-Identifier: Apache-2.0
//! A memcached client and server over UDP, with the text or the binary protocol.

mod client;
mod protocol;
mod server;

pub(crate) use client::MemcachedClient;
pub use client::{MemcachedClientOptions, MemcachedClientReport, Pacing};
pub use protocol::Protocol;
pub(crate) use server::MemcachedServer;
pub use server::{MemcachedServerOptions, MemcachedServerReport};
