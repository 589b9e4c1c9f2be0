#!/bin/sh
# Rates, delays, jitter, losses and corruption of what the hosts of `lab` send; containerlab's topology has no fields
# for them. What switches send has those of network.json already. It needs root, and netem in the kernel.
set -e
# h1: duplicate cannot be set; --live has it
containerlab tools netem set -n clab-lab-h1 -i eth1 --rate 10000 --delay 6000000ns --jitter 1000000ns --loss 0.5 --corruption 1
# h2: burst_loss cannot be set; --live has it
# h2: overhead cannot be set; --live has it
containerlab tools netem set -n clab-lab-h2 -i eth1 --rate 1000000 --delay 10000ns
