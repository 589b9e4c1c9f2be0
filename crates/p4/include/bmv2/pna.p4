// SPDX-License-Identifier: Apache-2.0
// The Portable NIC Architecture as BMv2 has it: no pre-control, conditional entries.
#define PLANEWRIGHT_PNA_SHORT
#include <pna.p4>
