// SPDX-License-Identifier: Apache-2.0
#include <cor.p4>
#include "missing/headers.p4"
#define WIDTH bit<8
control c(inout bit<8> x) {
    WIDTH y;
    apply { }
}
#ifdef DEBUG
