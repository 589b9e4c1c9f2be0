// SPDX-License-Identifier: Apache-2.0
//! Tests of the language from outside, one module a subject.

mod check;
mod elaborate;
mod hashes;
mod memop;
mod order;
mod order_soundness;
mod support;
mod syntax;
