#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fills fuzz/corpus from the examples and, with arguments, from further folders of .p4 and .stf files.
set -euo pipefail
cd "$(dirname "$0")"
for target in lexer preprocessor parser checker formatter; do
    mkdir -p "corpus/$target"
    find ../examples ../tests ../crates/p4/include "$@" -name '*.p4' -size -40k -exec cp -n -t "corpus/$target" {} +
done
mkdir -p corpus/entries corpus/capture corpus/stf corpus/packets corpus/ir_text
find ../examples -name '*.txt' -o -name '*.json' | xargs -r cp -n -t corpus/entries
find ../examples -name '*.pcap' | while read -r file; do
    head -c 4096 "$file" > "corpus/capture/$(echo "$file" | tr / _)"
done
find ../examples ../tests "$@" -name '*.stf' -exec cp -n -t corpus/stf {} +
