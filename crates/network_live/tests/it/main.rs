// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `network_live`, one program.

mod containerlab;
