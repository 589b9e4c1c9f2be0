// SPDX-License-Identifier: Apache-2.0
//! Tests of network files.

mod documentation;
mod random;
mod reading;
mod schema;
mod topologies;
mod wrong;
