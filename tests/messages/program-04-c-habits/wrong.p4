// SPDX-License-Identifier: Apache-2.0
control c(inout bit<32> x) {
    uint32_t y;
    apply {
        int total[4];
        x++;
        while (x > 0) { x = x - 1; }
    }
}
