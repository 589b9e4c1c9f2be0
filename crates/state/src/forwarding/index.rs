// SPDX-License-Identifier: Apache-2.0
//! Match indexes: from the key of a packet to the leaf of the entry that wins. What a leaf stands for,
//! when entries change and who looks up is decided elsewhere.
