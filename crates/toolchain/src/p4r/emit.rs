// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: the program as run in P4_16, the C of its reactions, the control map, and the commands of the prologue.

use crate::files;
use control::recording::Recording;
use control::target::{Batch, Reply};
use frontend::{Console, EmitRequest, Failure, ProgramFile, count};
use ir::Program;
use react::c::{Compiler, generate};
use react::compiler::{CompiledProgram, InitParameter, Plan};
use react::map::MalleableMap;
use serde_json::{Value, json};
use std::sync::Arc;

/// Compiles the program, and prints or writes it.
pub(super) fn emit(
    file: &ProgramFile<'_>,
    request: &EmitRequest<'_>,
    console: &dyn Console,
) -> Result<(), Failure> {
    let (program, warnings) = super::read(file)?;
    if program.architecture != request.target {
        return Err(Failure::Message(format!(
            "{} is written for {}: use --target {}",
            file.quoted_name(),
            program.architecture,
            program.architecture
        )));
    }
    let (compiled, mut warnings) = super::compile(&program, warnings)?;
    let compiler = Compiler::from_environment();
    warnings.append(react::c::check(&compiled.interface, &program.map, &compiler));
    if warnings.has_errors() {
        return Err(Failure::Found(program.map, warnings));
    }
    console.warnings(&program.map, &warnings);
    if let Some(pass) = request.after {
        return match pass {
            "written" => {
                console.print(&compiled.written_text);
                Ok(())
            }
            _ => {
                Err(Failure::Usage(format!("there is no pass `{pass}`; the passes are `written`")))
            }
        };
    }
    let Some(folder) = request.output else {
        console.print(&compiled.text);
        return Ok(());
    };
    let title = file.title();
    let (written, run) = (compiled.written.program().clone(), compiled.run.program().clone());
    let map = MalleableMap::new(&compiled.plan, written, run.clone())
        .map_err(|name| format!("the compiled program has no `{name}`"))?;
    let generated = generate(&compiled.interface, &program.map);
    let texts = [
        (format!("{title}.p4"), compiled.text.clone()),
        (format!("{title}.c"), generated.text),
        (format!("{title}.map.json"), control_map(&compiled)),
        (format!("{title}.commands.txt"), commands(run, &map.prologue())),
    ];
    files::write_texts(folder, &texts)?;
    console.note(&format!("{} in {}", count(texts.len(), "file"), folder.display()));
    Ok(())
}

/// A batch as BMv2's commands.
fn commands(program: Arc<Program>, batch: &Batch) -> String {
    let mut recording = Recording::new(program);
    batch.items.iter().for_each(|item| recording.record(0, item, &Reply::Done));
    format!("# SPDX-License-Identifier: Apache-2.0\n{}", recording.text())
}

/// The control map as JSON.
fn control_map(compiled: &CompiledProgram) -> String {
    let Plan { pipelines, tables, packs, registers, .. } = &compiled.plan;
    let interface = &compiled.interface;
    let parameter = |parameter: &InitParameter| match parameter {
        InitParameter::Version => "version".to_string(),
        InitParameter::WorkingCopy(group) => format!("working copy {group}"),
        InitParameter::Value(index) => format!("value {}", interface.values[*index].name),
        InitParameter::Selector(index) => format!("field {}", interface.fields[*index].name),
    };
    let field = |index: &usize| interface.fields[*index].name.to_string();
    let map: Value = json!({
        "fields": interface.fields.iter().map(|field| json!({
            "name": *field.name,
            "alternatives": field.alternatives.iter().map(|path| path.to_string()).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "pipelines": pipelines.iter().map(|pipeline| json!({
            "pipeline": pipeline.gress.name(),
            "init": pipeline.inits.iter().map(|init| json!({
                "table": *init.table,
                "action": *init.action,
                "parameters": init.parameters.iter().map(|(one, width)| json!({
                    "is": parameter(one), "width_bits": width,
                })).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "tables": tables.iter().map(|table| json!({
            "table": *table.table,
            "malleable": table.is_malleable,
            "keys": table.keys.iter().map(|key| key.fields().iter().map(field).collect::<Vec<_>>()).collect::<Vec<_>>(),
            "selectors": table.selectors.iter().map(field).collect::<Vec<_>>(),
            "actions": table.actions.iter().map(|action| json!({
                "action": *action.action,
                "fields": action.fields.iter().map(field).collect::<Vec<_>>(),
                "specialised": action.specialised.iter().map(|name| name.to_string()).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "default_table": table.default_table.as_deref(),
        })).collect::<Vec<_>>(),
        "measured_fields": packs.iter().map(|pack| json!({
            "reaction": *interface.reactions[pack.reaction].name,
            "working_copy": pack.group,
            "pipeline": pack.gress.name(),
            "words": pack.words.iter().map(|name| name.to_string()).collect::<Vec<_>>(),
            "sequence": *pack.sequence,
        })).collect::<Vec<_>>(),
        "measured_registers": registers.iter().map(|register| json!({
            "register": *register.register,
            "working_copy": register.group,
            "copies": *register.copies,
            "times": register.times.as_deref(),
            "copy_cells": register.copy_cells,
        })).collect::<Vec<_>>(),
    });
    format!("{map:#}\n")
}
