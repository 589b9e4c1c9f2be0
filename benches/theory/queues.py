#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares queues of `plane net` with theory: M/D/1 and M/M/1, without a limit and with one.

Runs each queue with more and more seeds until the 95 % confidence interval of the mean is narrow enough, and says how many
packets that took. Needs `cargo build --release --bin plane`.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "examples/networks/queueing/payload.p4"
# The width of the confidence interval, and the greatest deviation of its middle, as shares of theory's value.
WIDTH = 0.03
DEVIATION = 0.03
# The port sends this many payloads of mean length a second. With 100 bytes the MTU cuts off 4 of 10^7 exponential payloads;
# with 200 bytes it cuts off 6 of 10^4, and the queue is .6 to .9 % shorter than theory's.
SERVICES = 1_000
PAYLOAD_BYTES = 100
HOSTS = 4
# Runs of a batch.
BATCH = 20
LEAST_RUNS = 20
# Two-sided 95 % quantile of the normal distribution, and the next term of Student's t for n degrees of freedom.
NORMAL = 1.960
STUDENT_TERM = 2.372


def student(freedom):
    return NORMAL + STUDENT_TERM / freedom + 2.82 / freedom**2


@dataclasses.dataclass
class Queue:
    """A queue: `D` or `M` for its service, its load, and the most packets in it with the one in service."""

    service: str
    load: float
    most: int | None = None

    def name(self):
        limit = f"/{self.most}" if self.most else ""
        return f"M/{self.service}/1{limit}"

    def measure(self):
        return "loss" if self.most else "mean queue"

    def theory(self):
        """Waiting packets by Pollaczek and Khinchine, or the share of lost packets."""
        if self.most is None:
            waiting = self.load**2 / (1 - self.load)
            return waiting / 2 if self.service == "D" else waiting
        if self.service == "M":
            return (1 - self.load) * self.load**self.most / (1 - self.load ** (self.most + 1))
        return lost_of_constant(self.load, self.most)

    def packets(self):
        """Packets of a run. A run begins with an empty queue; on these the mean is at most .1 % lower for that."""
        return round(max(20_000, 1_000 / (self.load * (1 - self.load) ** 2)))

    def warm_up(self):
        """What the empty queue at the beginning takes from the mean of an M/M/1 queue, as a share of it.

        The deficit of packets in the system, integrated over time, is load / (1 - load)^3 services: the solution of
        Poisson's equation for the birth and death process, n (n + 1) / (2 (1 - load)), in the mean.
        """
        services = self.packets() / self.load
        return self.load / (1 - self.load) ** 3 / services / (self.load**2 / (1 - self.load))

    def network(self):
        """The network file: hosts with Poisson traffic, and a port that sends payloads without headers."""
        size = PAYLOAD_BYTES if self.service == "D" else {"exponential": PAYLOAD_BYTES}
        bits = PAYLOAD_BYTES * 8 * SERVICES
        udp = {
            "to": "sink",
            "rate": f"{round(self.load * bits / HOSTS)}bps",
            "size": size,
            "arrivals": "poisson",
            "duration": f"{round(1_000 * self.packets() / (SERVICES * self.load))}ms",
        }
        mac = "02:00:00:00:00:99"
        hosts = {"sink": {"address": "10.0.0.9/24", "mac": mac}}
        waiting = self.most - 1 if self.most else 4_000_000_000
        links = [{"ends": ["s1:1", "sink"], "rate": f"{bits}bps", "latency": "0s", "queue": f"{waiting}p"}]
        for host in range(1, HOSTS + 1):
            hosts[f"h{host}"] = {"address": f"10.0.0.{host}/24", "arp": {"10.0.0.9": mac}, "applications": [{"udp": udp}]}
            links.append({"ends": [f"s1:{host + 1}", f"h{host}"], "rate": "1Tbps", "latency": "1us"})
        return {"switches": {"s1": {"program": str(PROGRAM)}}, "hosts": hosts, "links": links}


def lost_of_constant(load, most):
    """M/D/1/K by the Markov chain of the numbers of packets that departures leave behind."""

    def arrivals(count):
        return math.exp(-load) * load**count / math.factorial(count)

    left = [1.0]
    for at in range(most - 1):
        from_others = sum(left[start] * arrivals(at + 1 - start) for start in range(1, at + 1))
        left.append((left[at] - left[0] * arrivals(at) - from_others) / arrivals(0))
    return 1 - 1 / (1 / sum(left) + load)


def queues():
    loads = [0.5, 0.8, 0.9, 0.95]
    found = [Queue(service, load) for service in "DM" for load in loads]
    limits = [(0.5, 2), (0.8, 5), (0.9, 10), (0.95, 20)]
    return found + [Queue(service, load, most) for service in "DM" for load, most in limits]


def run(plane, file, first, last):
    command = [plane, "net", file, "--json", "-q", "--seeds", f"{first}..{last}"]
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in command)}\n{ran.stderr}exit status {ran.returncode}")
    links = [next(one for one in run["links"] if one["link"] == "s1:1 -> sink") for run in json.loads(ran.stdout)["runs"]]
    return links


def judge(plane, folder, number, queue, most_runs):
    """Runs a queue until its interval is narrow; returns the row and whether it agrees."""
    file = folder / f"queue-{number}.json"
    file.write_text(json.dumps(queue.network(), indent=1))
    theory = queue.theory()
    values = []
    packets = 0
    # Runs with one seed have the same gaps at every load. Other seeds make the deviations of queues independent.
    first = 1 + number * 1_000_000
    while len(values) < most_runs:
        for link in run(plane, file, first + len(values), first + len(values) + BATCH - 1):
            lost, sent = link["queue_full"], link["frames"]
            packets += lost + sent
            values.append(lost / (lost + sent) if queue.most else link["queue_mean_packets"])
        half = student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
        if len(values) >= LEAST_RUNS and 2 * half <= WIDTH * theory:
            break
    mean = statistics.fmean(values)
    deviation = mean / theory - 1
    is_narrow = 2 * half <= WIDTH * theory
    agrees = is_narrow and abs(deviation) <= DEVIATION
    covers = abs(mean - theory) <= half
    verdict = "agrees" if agrees else "DIFFERS" if is_narrow else "too few packets"
    warm_up = "" if queue.most else f"-{100 * queue.warm_up():.2f} %"
    row = [
        queue.name(),
        f"{queue.load:.2f}",
        queue.measure(),
        f"{theory:.5g}",
        f"{mean:.5g} ± {half:.2g}",
        f"{100 * deviation:+.2f} % ± {100 * half / theory:.2f} %",
        warm_up,
        f"{len(values)}",
        f"{packets / 1e6:.2f}",
        verdict,
    ]
    return row, agrees, covers


def print_table(heads, rows):
    widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    for row in [heads, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(word.ljust(width) for word, width in zip(row, widths)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plane", type=pathlib.Path, default=ROOT / "target/release/plane")
    parser.add_argument("--only", metavar="TEXT", help="queues whose names contain the text, such as M/D/1")
    parser.add_argument("--most-runs", type=int, default=2_000, help="runs of a queue (2000)")
    options = parser.parse_args()
    if not options.plane.exists():
        sys.exit(f"there is no {options.plane}: run `cargo build --release --bin plane`, or give `--plane`")
    # Published values of both formulas for finite queues.
    assert abs(Queue("D", 0.9, 10).theory() - 0.0166) < 5e-5
    assert abs(Queue("M", 0.9, 10).theory() - 0.0508) < 5e-5
    rows = []
    agreed = []
    covered = []
    with tempfile.TemporaryDirectory() as folder:
        for number, queue in enumerate(queues()):
            if options.only and options.only not in queue.name():
                continue
            print(queue.name(), queue.load, file=sys.stderr)
            row, agrees, covers = judge(options.plane, pathlib.Path(folder), number, queue, options.most_runs)
            rows.append(row)
            agreed.append(agrees)
            covered.append(covers)
    heads = ["queue", "load", "measure", "theory", "measured", "deviation", "warm-up", "runs", "10^6 packets", "verdict"]
    print_table(heads, rows)
    below = sum(row[5].startswith("-") for row in rows)
    print(f"\n{sum(agreed)} of {len(rows)} agree; {sum(covered)} intervals contain theory's value; {below} lie below it")
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
