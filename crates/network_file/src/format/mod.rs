// SPDX-License-Identifier: Apache-2.0
//! The notation of network files: quantities, addresses and conditions; shapes of values; decoding of a document by
//! shapes. Which fields exist is known to `fields`, their meaning to `read`.

pub mod address;
pub mod condition;
mod decode;
pub mod quantity;
mod scalar;
pub mod shape;
pub mod value;

pub use decode::decode;
