// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
control c(inout bit<32> key_field, inout bit<9> port) {
    action forward(bit<9> to) { port = to; }
    action drop() { port = 511; }
    table routes {
        key = { key_field: lmp; }
        actions = { forwad; drop; }
        default_action = forward(1);
        size = 1024;
    }
    apply { routes.apply(); }
}
