// SPDX-License-Identifier: Apache-2.0
//! The table of all fields of a network file: names, shapes, and descriptions. The reader decodes documents by it, and
//! the JSON schema is written from it.

pub mod application;
pub mod expectation;
pub mod link;
pub mod network;
pub mod node;
pub mod topology;
