// SPDX-License-Identifier: Apache-2.0
//! Yosys at work: modules of a machine with their own gates, once each, and the numbers of their instances.

use rtl::File;
use std::collections::BTreeMap;
use std::process::Command;

/// What a module has of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Synthesised {
    pub gates: i64,
    pub flip_flops: i64,
    /// Areas in units of a NAND gate with two inputs.
    pub equivalents: f64,
}

impl Synthesised {
    pub fn plus(&self, other: &Synthesised, count: u64) -> Synthesised {
        Synthesised {
            gates: self.gates + other.gates * count as i64,
            flip_flops: self.flip_flops + other.flip_flops * count as i64,
            equivalents: self.equivalents + other.equivalents * count as f64,
        }
    }

    pub fn minus(&self, other: &Synthesised) -> Synthesised {
        Synthesised {
            gates: self.gates - other.gates,
            flip_flops: self.flip_flops - other.flip_flops,
            equivalents: self.equivalents - other.equivalents,
        }
    }

    pub fn scaled(&self, factor: f64) -> Synthesised {
        Synthesised {
            gates: (self.gates as f64 * factor).round() as i64,
            flip_flops: (self.flip_flops as f64 * factor).round() as i64,
            equivalents: self.equivalents * factor,
        }
    }
}

/// The area of a cell in units of a NAND gate with two inputs, as libraries of standard cells have it, and whether it is a flip-flop.
fn area(cell: &str) -> Option<(f64, bool)> {
    let cell = cell.strip_prefix("$_")?;
    Some(match cell {
        "NOT_" => (0.67, false),
        "AND_" | "OR_" | "ANDNOT_" | "ORNOT_" => (1.33, false),
        "NAND_" | "NOR_" => (1.0, false),
        "XOR_" | "XNOR_" | "MUX_" | "NMUX_" => (2.33, false),
        _ if cell.starts_with("DFFE")
            || cell.starts_with("SDFFE")
            || cell.starts_with("SDFFCE") =>
        {
            (8.0, true)
        }
        _ if cell.starts_with("SDFF") => (7.0, true),
        _ if cell.starts_with("DFF") => (5.67, true),
        _ => return None,
    })
}

/// A module.
pub struct Module {
    pub name: String,
    /// Its name without parameters.
    pub base: String,
    /// The width of a hop; Yosys names modules of one parameter by it.
    pub width: usize,
    pub own: Synthesised,
    /// The gates of the longest path through it; a module in it is one.
    pub levels: usize,
    children: BTreeMap<String, u64>,
}

/// The modules of a machine.
pub struct Modules(BTreeMap<String, Module>);

impl Modules {
    pub fn list(&self) -> impl Iterator<Item = &Module> {
        self.0.values()
    }

    /// The number of instances of a module in the machine.
    pub fn instances(&self, name: &str) -> u64 {
        if self.0.get(name).is_some_and(|module| module.base == "mp5_machine") {
            return 1;
        }
        let parents = self.0.values().filter_map(|module| {
            module.children.get(name).map(|count| count * self.instances(&module.name))
        });
        parents.sum()
    }

    /// The forms of a module, the smallest first: they differ in one parameter.
    pub fn forms(&self, base: &str) -> Vec<Synthesised> {
        let mut forms: Vec<Synthesised> =
            self.0.values().filter(|module| module.base == base).map(|module| module.own).collect();
        forms.sort_by(|left, right| left.equivalents.total_cmp(&right.equivalents));
        forms
    }

    /// The levels of the longest path through each module without parameters.
    pub fn levels(&self) -> BTreeMap<&str, usize> {
        let mut levels = BTreeMap::new();
        for module in self.0.values() {
            let longest = levels.entry(&*module.base).or_insert(0);
            *longest = module.levels.max(*longest);
        }
        levels
    }

    /// The only form of a module.
    pub fn one(&self, base: &str) -> Synthesised {
        self.forms(base).pop().unwrap_or_default()
    }
}

pub fn is_there() -> bool {
    Command::new("yosys").arg("-V").output().is_ok_and(|output| output.status.success())
}

/// Runs a script on files, and returns what it wrote to `result`.
fn run(files: &[File], script: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut names = Vec::new();
    for file in files.iter().filter(|file| file.name != "mp5_bench.sv") {
        std::fs::write(folder.path().join(&file.name), &file.text).expect("a file");
        names.push(file.name.clone());
    }
    let script = format!("read_verilog -sv {}; {script}", names.join(" "));
    let output = Command::new("yosys")
        .current_dir(folder.path())
        .args(["-q", "-p", &script])
        .output()
        .expect("yosys starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    std::fs::read_to_string(folder.path().join("result")).expect("a result")
}

/// Synthesises each module of a machine once. Rings are flip-flops, maps, counters and arrays stay memories. Paths are those of modules
/// without others in them: outputs of a module do not depend on all of its inputs, so paths through several would be loops.
pub fn synthesise(files: &[File]) -> Modules {
    let script = "hierarchy -check -top mp5_machine; proc; opt -fast; memory -nomap; opt -fast; \
                  memory_map *mp5_ring*; opt -fast; wreduce; techmap; opt -fast; tee -q -o result stat; \
                  tee -q -a result ltp -noff * mp5_machine %d *mp5_queue* %d";
    let text = run(files, script);
    let mut modules = BTreeMap::new();
    let mut name = String::new();
    let mut is_hierarchy = false;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("=== ").and_then(|line| line.strip_suffix(" ===")) {
            is_hierarchy = title == "design hierarchy";
            if !is_hierarchy {
                name = title.trim_start_matches('\\').to_owned();
                modules.insert(name.clone(), module(&name));
            }
            continue;
        }
        if let Some((module, length)) = longest_path(line) {
            if let Some(module) = modules.get_mut(module.trim_start_matches('\\')) {
                module.levels = length;
            }
            continue;
        }
        if is_hierarchy {
            continue;
        }
        let Some(module) = modules.get_mut(&name) else { continue };
        let mut words = line.split_whitespace();
        let (Some(cell), Some(count), None) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Ok(count) = count.parse::<u64>() else { continue };
        match area(cell) {
            Some((area, is_flip_flop)) => {
                let counts =
                    if is_flip_flop { &mut module.own.flip_flops } else { &mut module.own.gates };
                *counts += count as i64;
                module.own.equivalents += area * count as f64;
            }
            None if cell.contains("mp5_") => {
                module.children.insert(cell.trim_start_matches('\\').to_owned(), count);
            }
            None => {}
        }
    }
    Modules(modules)
}

/// The module and the length in a line that `ltp` prints.
fn longest_path(line: &str) -> Option<(&str, usize)> {
    let line = line.strip_prefix("Longest topological path in ")?;
    let (module, length) = line.split_once(" (length=")?;
    Some((module, length.split_once(')')?.0.parse().ok()?))
}

/// A module by its name with parameters, such as `$paramod\mp5_hop\WIDTH=s32'...`.
fn module(name: &str) -> Module {
    let base = name.split('\\').find(|part| part.starts_with("mp5_")).unwrap_or(name).to_owned();
    let number = |parameter: &str| {
        let at = name.find(&format!("\\{parameter}=s32'"))?;
        let digits = name[at..].split('\'').nth(1)?;
        let digits: String = digits.chars().take_while(|digit| "01".contains(*digit)).collect();
        usize::from_str_radix(&digits, 2).ok()
    };
    Module {
        base,
        width: number("WIDTH").unwrap_or(0),
        own: Synthesised::default(),
        levels: 0,
        children: BTreeMap::new(),
        name: name.to_owned(),
    }
}

/// The longest path of a whole machine in levels of gates.
pub fn levels(files: &[File]) -> usize {
    let script = "hierarchy -check -top mp5_machine; proc; flatten; opt -fast; memory -nomap; opt -fast; techmap; \
                  simplemap; abc -g AND,OR,XOR,MUX; opt_clean; tee -q -o result ltp -noff";
    let text = run(files, script);
    text.lines().find_map(longest_path).map_or(0, |(_, length)| length)
}
