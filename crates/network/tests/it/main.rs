// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `network`, one program.

mod example_captures;
mod simulation_devices;
