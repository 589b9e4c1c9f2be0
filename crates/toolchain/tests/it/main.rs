// SPDX-License-Identifier: Apache-2.0
//! Tests of the toolchain with languages of its own and of the tests.

mod architecture_words;
mod computing_extern;
mod controllers;
mod file_circles;
mod hardware;
mod lucid;
mod pipelines;
mod recording;
mod rewrites;
mod sources;
