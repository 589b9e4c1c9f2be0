// SPDX-License-Identifier: Apache-2.0
//! Files that describe networks: a text in, a [`model::Network`] and diagnostics out. `docs/networks.md` describes the
//! format. Files that a network names are relative to it; the caller reads them.

pub mod codes;
mod explanations;
mod fields;
mod format;
mod generate;
pub mod model;
mod read;
mod schema;

pub use document::Format;
pub use explanations::EXPLANATIONS;
pub use format::address::{Mac, Prefix};
pub use format::condition::{Bound, Number, Range};
pub use format::value::{Located, QueueLimit};
pub use read::{Kind, Options, base_of, is_network, read};
pub use schema::json_schema;
