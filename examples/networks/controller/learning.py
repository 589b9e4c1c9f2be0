#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The controller of learning switches: a digest names an address and the port where it was seen."""
import json
import sys

known = set()


def command(switch, text):
    print(json.dumps({"switch": switch, "command": text}))


for line in sys.stdin:
    message = json.loads(line)
    if message["event"] == "hello":
        for name, switch in message["switches"].items():
            ports = " ".join(str(port) for port in switch["ports"])
            command(name, "mc_mgrp_create 1")
            command(name, f"mc_node_create 0 {ports}")
            command(name, "mc_node_associate 1 0")
    elif message["event"] == "digest":
        switch, fields = message["switch"], message["fields"]
        address, port = hex(fields["src_addr"]), fields["ingress_port"]
        # Packets that come before the entry cause more digests.
        if (switch, address) not in known:
            known.add((switch, address))
            command(switch, f"table_add sources known {address} {port} =>")
            command(switch, f"table_add destinations forward {address} => {port}")
    print(json.dumps({"done": True}), flush=True)
