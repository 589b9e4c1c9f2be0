// SPDX-License-Identifier: Apache-2.0
//! Tests that open what `plane` writes in a real browser. They need Chromium and the feature
//! `browser-tests`; `.ci/run` runs them.

mod chromium;
mod lucid_timeline;
mod net_timeline;
