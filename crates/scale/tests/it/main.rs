// SPDX-License-Identifier: Apache-2.0
//! Tests of `scale` as a whole.
