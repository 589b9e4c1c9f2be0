// SPDX-License-Identifier: Apache-2.0
//! Tests of the reference machine from outside, one module a subject.

mod elaborated;
mod simulation;
mod specification;
