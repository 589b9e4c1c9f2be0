// SPDX-License-Identifier: Apache-2.0
//! The text of compiled programs: indices and shift counts are guarded unless they are proved in range, and nothing divides.
//! Devices here give the same results without guards; other toolchains do not.

use crate::{on_device, program};

/// Compiles statements on the fields `a`, `i` and `u`; each text stands in the result, or does not behind a `!`.
fn check(statements: &str, texts: &[&str]) {
    let text = format!(
        "#include \"hashes.h\"\nstruct Packet {{ int a; int i; unsigned u; }};\nint r[4] = {{0, 5}};\n\
         void func(struct Packet p) {{ {statements} }}\n"
    );
    let printed = on_device::compile(&program::read(&text)).built.print();
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in texts {
        let (text, stands) = wanted.strip_prefix('!').map_or((*wanted, true), |text| (text, false));
        assert_eq!(printed.contains(text), stands, "`{statements}`: `{text}`\n{printed}");
    }
}

#[test]
fn indices_are_guarded_unless_proved() {
    check("r[p.i] = 1;", &["if (hdr.packet.i < 32w4)"]);
    check("p.a = r[p.i];", &["r_value = 32w0;", "if (hdr.packet.i < 32w4)"]);
    for proved in [
        "r[p.i & 3] = 1;",
        "r[p.u % 4] = 1;",
        "r[hash2(p.a, p.i) % 4] = 1;",
        "if (p.i >= 0 && p.i < 4) r[p.i] = 1;",
        "r[p.i < 0 ? 0 : p.i % 4] = 1;",
        "int k = p.i & 1; k += 2; r[k] = 1;",
    ] {
        check(proved, &["r.write(", "! < 32w4) { r.write"]);
    }
    check("int k = p.i & 1; if (p.a) k = p.i; r[k] = 1;", &["if (k < 32w4)"]);
    check("r[7] = 1; p.a = r[-1];", &["!r.write", "!r.read"]);
}

#[test]
fn shift_counts_are_guarded_unless_proved() {
    check("p.a = p.a << p.i;", &["hdr.packet.i < 32w32 ?"]);
    check("p.a = p.a >> p.i;", &["hdr.packet.i < 32w32 ?", ">> 8w31"]);
    check("p.a = p.a << (p.i & 15);", &["<< (bit<8>)", "!< 32w32"]);
    check("p.a = p.a << 3; p.u = p.u >> 40;", &["<< 8w3", "hdr.packet.u = 32w0;"]);
}

#[test]
fn nothing_divides() {
    check("p.a = p.a / 30 + p.a % 30 + p.u / 7;", &["! / ", "! % ", "!divide"]);
    check("p.a = p.a / p.i; p.u = p.u % p.i;", &["divide(", "! % ", "== 32w0 ? 32w0"]);
}
