#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The controller of learning switches. A switch that returns after a failure has lost its state, and learns anew."""
import json
import sys

# Addresses with their ports, by switch.
known = {}


def command(switch, text):
    print(json.dumps({"switch": switch, "command": text}))


def begin(switch, ports):
    known[switch] = {}
    command(switch, "mc_mgrp_create 1")
    command(switch, f"mc_node_create 1 {' '.join(str(port) for port in ports)}")
    command(switch, "mc_node_associate 1 0")


def learn(switch, address, port):
    # Packets that come before the entry cause more digests.
    earlier = known[switch].get(address)
    if earlier == port:
        return
    known[switch][address] = port
    command(switch, f"table_add sources known {address:#x} {port} =>")
    if earlier is None:
        command(switch, f"table_add destinations forward {address:#x} => {port}")
    else:
        command(switch, f"table_delete_match sources {address:#x} {earlier}")
        command(switch, f"table_delete_match destinations {address:#x}")
        command(switch, f"table_add destinations forward {address:#x} => {port}")


switches = {}
for line in sys.stdin:
    message = json.loads(line)
    if message["event"] == "hello":
        switches = message["switches"]
        for name, switch in switches.items():
            begin(name, switch["ports"])
    elif message["event"] == "switch" and message["up"]:
        begin(message["switch"], switches[message["switch"]]["ports"])
    elif message["event"] == "digest":
        fields = message["fields"]
        learn(message["switch"], fields["src_addr"], fields["ingress_port"])
    print(json.dumps({"done": True}), flush=True)
