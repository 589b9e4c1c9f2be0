// SPDX-License-Identifier: Apache-2.0
//! Modules in Yosys: they synthesise, and have the flip-flops and memory that their parameters say.

use std::process::Command;

/// What Yosys says of a module: cells by type, as they stand in `stat`.
#[track_caller]
fn cells(module: &str, parameters: &[(&str, usize)]) -> Vec<(String, usize)> {
    let folder = tempfile::tempdir().unwrap();
    let mut script = String::from("read_verilog -sv");
    for file in rtl::modules::MODULES {
        std::fs::write(folder.path().join(format!("{}.sv", file.name)), file.text).unwrap();
        script += &format!(" {}.sv", file.name);
    }
    script += "; chparam";
    for (name, value) in parameters {
        script += &format!(" -set {name} {value}");
    }
    script += &format!(
        " {module}; hierarchy -check -top {module}; proc; flatten; opt -fast; memory -nomap; \
         memory_map *mp5_ring*; opt -fast; techmap; opt -fast; check -assert; tee -q -o result stat"
    );
    testing::verilator::run(
        Command::new("yosys").current_dir(folder.path()).args(["-q", "-p", &script]),
    );
    let text = std::fs::read_to_string(folder.path().join("result")).unwrap();
    let count = |line: &str| {
        let (cell, count) = line.trim().split_once(char::is_whitespace)?;
        Some((cell.to_owned(), count.trim().parse().ok()?))
    };
    text.lines().filter_map(count).collect()
}

/// Flip-flops of any kind.
fn flip_flops(cells: &[(String, usize)]) -> usize {
    let of = cells.iter().filter(|(cell, _)| cell.contains("DFF"));
    of.map(|(_, count)| count).sum()
}

#[test]
fn ring_crossbar_and_map_synthesise() {
    if !testing::verilator::has_tool("yosys", "modules in Yosys") {
        return;
    }
    let (depth, id, stamp, note, width) = (4, 8, 12, 5, 20);
    let ring = cells(
        "mp5_ring",
        &[
            ("PIPELINES", 2),
            ("DEPTH", depth),
            ("ID", id),
            ("STAMP", stamp),
            ("NOTE", note),
            ("WIDTH", width),
        ],
    );
    // Entries that keep their bits, and little besides: three bits of state each, head, tail, the number of entries.
    let kept = ring.iter().find(|(cell, _)| cell == "$_DFFE_PP_").map_or(0, |(_, count)| *count);
    assert_eq!(kept, depth * (id + stamp + note + width), "{ring:?}");
    assert!(flip_flops(&ring) - kept < 3 * depth + 10, "{ring:?}");
    let crossbar = cells("mp5_crossbar", &[("PIPELINES", 4), ("LANE", 2), ("WIDTH", 20)]);
    assert_eq!(flip_flops(&crossbar), 0, "{crossbar:?}");
    // Each crosspoint passes a packet or nothing.
    let gates: usize = crossbar
        .iter()
        .filter(|(cell, _)| cell == "$_AND_" || cell == "$_MUX_")
        .map(|(_, count)| count)
        .sum();
    assert!(gates >= 4 * 4 * 20, "{crossbar:?}");
    let map = cells("mp5_map", &[("PIPELINES", 4), ("LANE", 2), ("CELLS", 100), ("CELL", 7)]);
    assert_eq!(flip_flops(&map), 0, "{map:?}");
    assert!(map.iter().any(|(cell, count)| cell.starts_with("$mem") && *count == 1), "{map:?}");
}
