// SPDX-License-Identifier: Apache-2.0
//! A device of a program whose ingress is cut into stages, for measurements that feed its pipelines themselves.

use super::hardware::set_up;
use super::{ScaleRequest, Scaled};
use device::{Device, DeviceOptions};
use frontend::{Console, Failure, Frontend, ProgramFile};
use ir::Program;
use pisa::Gress;
use scale::staged::{StagedControl, stage};
use std::sync::Arc;

/// Compiles a program and cuts its ingress into stages. The cells of the device have the program's first values. The program as
/// written is beside it.
///
/// # Errors
///
/// Errors of the program or of the request, and why no machine runs it.
pub fn staged_device(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    request: &ScaleRequest<'_>,
    console: &dyn Console,
) -> Result<(Device, Arc<StagedControl>, Arc<Program>), Failure> {
    let scaled = Scaled::new(language, file, request, console)?;
    let program = scaled.compiled.ready.program();
    let mut controls = scaled.controls(program);
    let found = scaled.limits(program, &controls, request.pipelines);
    if found.has_errors() {
        return Err(Failure::Found(scaled.compiled.map.clone(), found));
    }
    controls.retain(|control| control.gress == Gress::Ingress && !control.is_empty());
    let staged = controls.first_mut().map(stage).and_then(Result::ok);
    let staged = staged.ok_or_else(|| format!("no machine runs {}", file.quoted_name()))?;
    let mut device = Device::new(staged.program.clone(), DeviceOptions::default())
        .map_err(|error| error.to_string())?;
    set_up(&mut device, &scaled.compiled, console)?;
    Ok((device, Arc::new(staged), program.clone()))
}
