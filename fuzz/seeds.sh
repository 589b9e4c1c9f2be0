#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fills fuzz/corpus from the examples and, with arguments, from further folders of .p4, .stf, .dpt and .domino files.
set -euo pipefail
folders=()
for folder in "$@"; do
    folders+=("$(realpath "$folder")")
done
cd "$(dirname "$0")"

# Copies files under names made of their paths, so that none hides another.
seed() {
    mkdir -p "corpus/$1"
    while read -r file; do
        head -c "$2" "$file" > "corpus/$1/$(printf '%s' "$file" | tr -c 'A-Za-z0-9.' _)"
    done
}

for target in lexer preprocessor parser checker formatter; do
    find ../examples ../tests ../crates/p4/include "${folders[@]}" -name '*.p4' -size -40k \
        | seed "$target" 40000
done
find ../examples -name '*.txt' -o -name '*.json' | seed entries 40000
find ../examples -name '*.pcap' | seed capture 4096
find ../examples "${folders[@]}" -name '*.stf' | seed stf 40000
find ../crates/ir/tests -name '*.txt' | seed ir_text 40000
find ../examples ../crates/lucid/tests "${folders[@]}" -name '*.dpt' -size -40k \
    | seed lucid_parser 40000
find ../crates/lucid_reference/tests/it/specification -name '*.json' -o -name '*.yaml' -o -name '*.toml' \
    | seed lucid_specification 40000
find ../examples "${folders[@]}" -name '*.domino' -size -40k | seed domino 40000
mkdir -p corpus/packets
