// SPDX-License-Identifier: Apache-2.0
//! Where included files are searched, what the command line defines, and the built-in interfaces.

use super::super::PreprocessorOptions;
use super::{Files, Run};
use crate::interfaces::{interface, interface_names};

fn options(dirs: &[&str]) -> PreprocessorOptions {
    let include_dirs = dirs.iter().map(|dir| (*dir).to_owned()).collect();
    PreprocessorOptions { include_dirs, defines: Vec::new() }
}

#[test]
fn search_order() {
    let files = Files::default()
        .with("main.p4", "#include \"a.p4\"\n#include <a.p4>\n#include \"lib/b.p4\"\n")
        .with("a.p4", "beside")
        .with("one/a.p4", "one")
        .with("two/a.p4", "two")
        .with("lib/b.p4", "#include \"c.p4\"\n#include \"a.p4\"\n")
        .with("lib/c.p4", "c");
    let run = Run::new(&files, &options(&["one", "two/"]));
    assert_eq!(run.text(), "beside one c one");
    let run = Run::new(&files, &options(&["two/"]));
    assert_eq!(run.text(), "beside two c two");
    assert_eq!(run.reports(), [""; 0]);
}

#[test]
fn names_from_macros_and_odd_names() {
    let files = Files::default()
        .with("main.p4", "#define F \"a.p4\"\n#define G <d//a b.p4>\n#include F\n#include <d//a b.p4> // x\n#include G\n")
        .with("a.p4", "a")
        .with("d//a b.p4", "d");
    let run = Run::new(&files, &options(&[""]));
    assert_eq!(
        run.reports(),
        ["P4-E0011 main.p4:5:10 `#include` needs a file in double quotes or angle brackets"]
    );
    assert_eq!(run.text(), "a d");
}

#[test]
fn a_file_twice_and_once() {
    let files = Files::default()
        .with(
            "main.p4",
            "#include \"a.p4\"\n#include \"a.p4\"\n#include \"b.p4\"\n#include \"b.p4\"",
        )
        .with("a.p4", "a")
        .with("b.p4", "#pragma once\nb");
    let run = Run::new(&files, &options(&[]));
    assert_eq!(run.text(), "a a b");
}

#[test]
fn missing_files() {
    let files = Files::default()
        .with("main.p4", "#include <v1mode.p4>\n#include \"sub/x.p4\"\n#include \"header\"\n#include \"bad.p4\"\n#include\n#include \"\"\n")
        .with("header.p4", "")
        .with("bad.p4", "unreadable");
    let run = Run::new(&files, &options(&["lib"]));
    assert_eq!(
        run.reports(),
        [
            "P4-E0010 main.p4:1:10 there is no file `v1mode.p4`",
            "P4-E0010 main.p4:2:10 there is no file `sub/x.p4`",
            "P4-E0010 main.p4:3:10 there is no file `header`",
            "P4-E0013 main.p4:4:10 `bad.p4` cannot be read: permission denied",
            "P4-E0011 main.p4:5:9 `#include` needs a file in double quotes or angle brackets",
            "P4-E0011 main.p4:6:10 `#include` needs a file in double quotes or angle brackets",
        ]
    );
    let list: Vec<_> = run.diagnostics.iter().collect();
    assert_eq!(list[0].help, ["did you mean `v1model.p4`?"]);
    assert_eq!(list[1].notes, ["searched: the current directory, lib, the built-in interfaces"]);
    assert_eq!(list[2].help, ["did you mean `header.p4`?"]);
}

#[test]
fn a_condition_ends_with_its_file() {
    let files = Files::default()
        .with("main.p4", "#include \"a.p4\"\n#endif\n#define f(x) x\n#include \"b.p4\"\n(1)")
        .with("a.p4", "#if 1\na\n")
        .with("b.p4", "f");
    let run = Run::new(&files, &options(&[]));
    assert_eq!(
        run.reports(),
        [
            "P4-E0030 a.p4:1:1 this condition is never closed",
            "P4-E0031 main.p4:2:1 `#endif` belongs to no `#if`",
        ]
    );
    assert_eq!(run.text(), "a f ( 1 )");
}

#[test]
fn command_line_definitions() {
    let files = Files::default().with("main.p4", "A B MAX(1, 2) C\n#define A 3\n");
    let define = |name: &str, body: Option<&str>| (name.to_owned(), body.map(str::to_owned));
    let options = PreprocessorOptions {
        include_dirs: Vec::new(),
        defines: vec![
            define("A", None),
            define("B", Some("8w5 +\n#error")),
            define("MAX(x,y)", Some("y \\")),
            define("C", Some("")),
            define("1", None),
        ],
    };
    let run = Run::new(&files, &options);
    assert_eq!(run.text(), "1 8w5 + # error 2");
    assert_eq!(
        run.reports(),
        [
            "P4-E0020 <command line>:5:9 `1` cannot be the name of a macro",
            "P4-E0001 main.p4:1:3 `#` does not belong here",
            "P4-W0002 main.p4:2:9 the macro `A` is defined again, differently",
        ]
    );
}

#[test]
fn built_in_interfaces() {
    for name in interface_names() {
        assert!(interface(name).is_some());
        let files = Files::default()
            .with("main.p4", format!("#include <core.p4>\n#include \"{name}\"\n#include <{name}>"));
        let run = Run::new(&files, &options(&[]));
        assert_eq!(run.reports(), [""; 0], "for {name}");
        assert_eq!(run.text().matches("extern packet_in").count(), 1, "for {name}");
    }
    assert!(interface("none.p4").is_none());
}

#[test]
fn versions_of_v1model() {
    let old = Run::of("#include <v1model.p4>\n").text();
    let new = Run::of("#define V1MODEL_VERSION 20200408\n#include <v1model.p4>\n").text();
    assert!(old.contains("extern register < T > {") && !old.contains("PortId_t"));
    assert!(new.contains("extern register < T , I > {") && new.contains("PortId_t ingress_port"));
}

#[test]
fn a_user_s_file_comes_before_a_built_in_one_but_not_between_them() {
    let files = Files::default()
        .with("main.p4", "#include <v1model.p4>\n#include <core.p4>\n#include \"psa.p4\"\n")
        .with("inc/core.p4", "mine")
        .with("psa.p4", "mine_too");
    let text = Run::new(&files, &options(&["inc"])).text();
    assert!(text.contains("extern packet_in") && text.ends_with("mine mine_too"));
}
