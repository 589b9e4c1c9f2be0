// SPDX-License-Identifier: Apache-2.0
control inner(in bit<8> a, out bit<8> b) { apply { a = 1; b = a; } }
control outer(inout bit<8> x) {
    inner() run;
    const bit<8> LIMIT = 5;
    apply {
        run.apply(x, LIMIT);
        run.apply(x, x + 1);
        run.apply(x);
    }
}
