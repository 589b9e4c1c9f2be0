// SPDX-License-Identifier: Apache-2.0
//! Tests of control sessions and recordings on a program with every kind of object.

mod recording;
mod session;
