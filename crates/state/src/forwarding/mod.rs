// SPDX-License-Identifier: Apache-2.0
//! The forwarding side of the state store: what compiled packets look up in. Control planes write to
//! the master tables; here lives what is derived from them for speed, and nothing else.

pub mod index;
