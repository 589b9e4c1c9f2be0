// SPDX-License-Identifier: Apache-2.0
header h_t {
    bit<8> a
    bit<8> b;
}
control c(inout h_t h) {
    action set(bit<8> value) { h.a = value }
    table t {
        key = { h.a; }
        actions = { set }
    }
    apply { t.apply() }
}
