// SPDX-License-Identifier: Apache-2.0
// The Portable NIC Architecture as Linux traffic control has it.
#define PLANEWRIGHT_PNA_SHORT
#define PLANEWRIGHT_PNA_TC
#include <pna.p4>
