// SPDX-License-Identifier: Apache-2.0
control c(inout bit<32> address, in bit<16> port, out bool same) {
    apply {
        address = port;
        address = address + port;
        same = address == port;
        if (address) { address = 0; }
    }
}
