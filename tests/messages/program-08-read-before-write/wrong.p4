// SPDX-License-Identifier: Apache-2.0
header h_t { bit<8> a; }
control c(out bit<8> result, inout h_t h) {
    bit<8> local;
    apply {
        result = local + 1;
        h.setInvalid();
        result = h.a;
    }
}
