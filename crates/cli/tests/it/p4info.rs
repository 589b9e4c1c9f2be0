// SPDX-License-Identifier: Apache-2.0
//! `plane p4info`: the P4Info of a program with every kind of object, as text and JSON, and entries that use its ids.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/p4info")
}

fn plane(words: &[&str]) -> Output {
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words)
        .current_dir(folder())
        .output()
        .expect("plane starts");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    ran
}

fn printed(words: &[&str]) -> String {
    String::from_utf8_lossy(&plane(words).stdout).into_owned()
}

/// Compares the P4Info of a program with a file beside it.
fn check(program: &str, format: &str, file: &str) {
    let found = printed(&["p4info", program, "--format", format]);
    let path = folder().join(file);
    if testing::golden::is_blessing() {
        std::fs::write(path, found).expect("writable");
        return;
    }
    let expected = std::fs::read_to_string(path).expect("the expected P4Info");
    assert_eq!(found, expected, "{file}");
}

#[test]
fn text_and_json_of_every_kind_of_object() {
    check("objects.p4", "text", "objects.p4info.txtpb");
    check("objects.p4", "json", "objects.p4info.json");
}

/// Actions that controls call are listed without parameters; those that only actions call, or that nothing reaches,
/// are not.
#[test]
fn actions_that_no_table_has() {
    check("actions.p4", "text", "actions.p4info.txtpb");
}

#[test]
fn a_lucid_program_has_the_p4info_of_its_p4() {
    let text = printed(&["p4info", "../../examples/lucid/nat/nat.dpt"]);
    assert!(text.contains("arch: \"v1model\"") && text.contains("registers {"), "{text}");
}

/// Entries name a table and its action by the printed ids, by names, and by both.
#[test]
fn entries_use_the_printed_ids_or_names() {
    let router = "../../examples/router/router.p4";
    let json: Value =
        serde_json::from_str(&printed(&["p4info", router, "--format", "json"])).expect("JSON");
    let id = |list: &str, alias: &str| {
        let mut all = json[list].as_array().expect("a list").iter();
        let found = all.find(|each| each["preamble"]["alias"] == alias).expect("an object");
        found["preamble"]["id"].as_u64().expect("an id").to_string()
    };
    let (table, action) = (id("tables", "ipv4_routes"), id("actions", "set_next_hop"));
    let out = tempfile::tempdir().expect("a temporary folder");
    for (table, action) in [
        (table.clone(), action.clone()),
        ("\"ipv4_routes\"".to_string(), action),
        (table, "\"RouterIngress.set_next_hop\"".to_string()),
    ] {
        let entry = format!(
            "updates {{ type: INSERT entity {{ table_entry {{ table_id: {table} match {{ field_id: 1 \
             lpm {{ value: \"\\n\\000\\000\\000\" prefix_len: 8 }} }} action {{ action {{ \
             action_id: {action} params {{ param_id: 1 value: \"\\001\" }} }} }} }} }} }}\n"
        );
        let file = out.path().join("entries.txtpb");
        std::fs::write(&file, entry).expect("written");
        let folder = out.path().join("out");
        let capture = "1=../../examples/router/captures/host1.pcap";
        let words = ["run", router, "--in", capture, "--entries", &file.display().to_string()];
        let ran = plane(&[&words[..], &["--out", &folder.display().to_string()]].concat());
        assert!(String::from_utf8_lossy(&ran.stderr).contains("1 control command applied"));
    }
}

/// Ids that the program gives to match fields and parameters with `@id` are those of entries too.
#[test]
fn entries_use_the_ids_that_the_program_gives() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let program = out.path().join("given.p4");
    let text = "#include <core.p4>\n#include <v1model.p4>\n\
        header h_t { bit<8> a; bit<16> b; bit<32> c; }\nstruct headers_t { h_t h; }\nstruct metadata_t { }\n\
        parser P(packet_in p, out headers_t hdr, inout metadata_t m, inout standard_metadata_t s) {\n\
            state start { p.extract(hdr.h); transition accept; }\n}\n\
        control V(inout headers_t hdr, inout metadata_t m) { apply { } }\n\
        control I(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t s) {\n\
            action send(@id(2) bit<9> port, bit<32> c, @id(7) bit<16> b) {\n\
                s.egress_spec = port; hdr.h.c = c; hdr.h.b = b;\n}\n\
            table t {\n\
                key = { hdr.h.a: exact @id(3); hdr.h.b: exact; hdr.h.c: exact @id(1); }\n\
                actions = { send; NoAction; }\n}\n\
            apply { t.apply(); }\n}\n\
        control E(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t s) { apply { } }\n\
        control C(inout headers_t hdr, inout metadata_t m) { apply { } }\n\
        control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }\n\
        V1Switch(P(), V(), I(), E(), C(), D()) main;\n";
    std::fs::write(&program, text).expect("written");
    let program = program.display().to_string();
    let json: Value =
        serde_json::from_str(&printed(&["p4info", &program, "--format", "json"])).expect("JSON");
    let ids = |list: &Value| -> Vec<u64> {
        list.as_array()
            .expect("a list")
            .iter()
            .map(|each| each["id"].as_u64().expect("an id"))
            .collect()
    };
    let (fields, parameters) =
        (ids(&json["tables"][0]["matchFields"]), ids(&json["actions"][0]["params"]));
    assert_eq!((fields.as_slice(), parameters.as_slice()), (&[3, 2, 1][..], &[2, 3, 7][..]));
    // Each value has the width of its field, so it fits into none before.
    let matches = "match { field_id: 1 exact { value: \"\\001\\002\\003\\004\" } } \
                   match { field_id: 2 exact { value: \"\\001\\002\" } } \
                   match { field_id: 3 exact { value: \"\\001\" } }";
    let params = "params { param_id: 7 value: \"\\001\\002\" } params { param_id: 2 value: \"\\001\" } \
                  params { param_id: 3 value: \"\\001\\002\\003\\004\" }";
    let entry = format!(
        "updates {{ type: INSERT entity {{ table_entry {{ table_id: {} {matches} action {{ action {{ \
         action_id: {} {params} }} }} }} }} }}\n",
        json["tables"][0]["preamble"]["id"], json["actions"][0]["preamble"]["id"],
    );
    let file = out.path().join("entries.txtpb");
    std::fs::write(&file, entry).expect("written");
    let folder = out.path().join("out");
    let capture = "1=../../examples/router/captures/host1.pcap";
    let words = ["run", &program, "--in", capture, "--entries", &file.display().to_string()];
    let ran = plane(&[&words[..], &["--out", &folder.display().to_string()]].concat());
    assert!(String::from_utf8_lossy(&ran.stderr).contains("1 control command applied"));
}
