// SPDX-License-Identifier: Apache-2.0
//! Table 1: what the use cases take beyond a basic router, by the layout model of Tofino.

use super::examples;
use super::network::plain_program;
use super::published::TABLE_1;
use super::switch::Program;
use crate::{Measuring, Table};
use ir::Program as Pipeline;
use pisa::{HardwareModel, Resource};
use source::Span;

const ROUTER: &str = include_str!("basic_router.p4");

/// What a program takes.
#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    stages: i64,
    tables: i64,
    registers: i64,
    sram_blocks: i64,
    tcam_blocks: i64,
    metadata_bits: i64,
}

/// Lines that are neither empty nor comments.
fn lines(text: &str) -> i64 {
    let is_counted = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    text.lines().filter(is_counted).count() as i64
}

/// Bits of the metadata of packets: slots of the user's metadata and locals that are no headers and no metadata of the
/// architecture.
fn metadata_bits(program: &Pipeline) -> i64 {
    let is_metadata = |name: &str| {
        !name.starts_with("hdr.") && !name.contains("standard_metadata") && !name.contains('$')
    };
    let slots = program.slots.iter().filter(|slot| is_metadata(&slot.name));
    slots.map(|slot| i64::from(slot.ty.width_bits())).sum()
}

fn amounts(program: &Pipeline, target: &HardwareModel) -> Result<Amounts, String> {
    let problem = pisa::graph::problem_of(program);
    let layout = pisa::greedy::greedy_unlimited(&problem, target).map_err(|found| {
        found.iter().next().map_or_else(String::new, |error| error.message.clone())
    })?;
    let costs = pisa::cost::Model::new(&problem, target);
    let mut amounts = Amounts {
        stages: layout.stages.len() as i64,
        tables: problem.units.iter().filter(|unit| unit.table.is_some()).count() as i64,
        registers: problem.arrays.len() as i64,
        metadata_bits: metadata_bits(program),
        ..Amounts::default()
    };
    for table in layout.stages.iter().flat_map(|stage| &stage.tables) {
        let cost = costs.table(&table.units);
        let of = |resource| cost.demand.get(&resource).copied().unwrap_or(0) as i64;
        amounts.sram_blocks += of(Resource::SramBlocks);
        amounts.tcam_blocks += of(Resource::TcamBlocks);
    }
    Ok(amounts)
}

/// Lines, stages, tables, registers, memory and metadata of the use cases over a basic router.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn table_1(measuring: &mut Measuring<'_>) -> Result<Table, String> {
    let mut table = Table::new(
        "Table 1: the use cases over a basic router; published, and ours",
        &[
            "use case",
            "by",
            "P4R lines",
            "P4 lines",
            "stages",
            "tables",
            "registers",
            "SRAM",
            "TCAM",
            "metadata bits",
        ],
    );
    let target =
        HardwareModel::named("tofino", Span::NONE).map_err(|error| error.message.clone())?;
    let router = plain_program("basic_router.p4", ROUTER, &[])?;
    let base = amounts(router.program(), &target)?;
    let router_lines = lines(ROUTER);
    let memory = &target.memory;
    let sram_block = (memory.sram_block_words * memory.sram_block_bits / 8) as i64;
    let tcam_block = (memory.tcam_block_words * memory.tcam_block_bits / 8) as i64;
    let kilobytes = |bytes: i64| format!("{:.1} KB", bytes as f64 / 1024.0);
    for (at, (case, published)) in examples::USE_CASES.iter().zip(&TABLE_1).enumerate() {
        (measuring.progress)(case.title, at as f64 / examples::USE_CASES.len() as f64);
        let program = Program::compile(case.name, case.text, &[])?;
        let own = amounts(program.compiled.run.program(), &target)?;
        table.row([
            case.title.to_string(),
            "paper".to_string(),
            published.p4r_lines.to_string(),
            published.p4_lines.to_string(),
            published.stages.to_string(),
            published.tables.to_string(),
            published.registers.to_string(),
            published.sram.to_string(),
            published.tcam.to_string(),
            published.metadata_bits.to_string(),
        ]);
        table.row([
            case.title.to_string(),
            "ours".to_string(),
            (lines(case.text) - router_lines).to_string(),
            (lines(&program.compiled.text) - router_lines).to_string(),
            (own.stages - base.stages).to_string(),
            (own.tables - base.tables).to_string(),
            (own.registers - base.registers).to_string(),
            kilobytes((own.sram_blocks - base.sram_blocks) * sram_block),
            kilobytes((own.tcam_blocks - base.tcam_blocks) * tcam_block),
            (own.metadata_bits - base.metadata_bits).to_string(),
        ]);
    }
    table.remark(
        "Ours: programs for v1model as `plane layout` lays them out on the model of Tofino, greedily. Lines are neither empty \
         nor comments; those of P4R contain the C. Memory is that of whole blocks; TCAM has the static \
         rules that stand for branches, too.",
    );
    Ok(table)
}
