#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs networks of TCP flows in ns-3 and in `plane net`, and compares goodput, queues, drops and completion times.

Needs a C++ compiler and ns-3's headers and libraries (Debian: libns3-dev), and `cargo build --release --bin plane`.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
LIBRARIES = ["core", "network", "internet", "point-to-point", "applications", "traffic-control"]
CONTROLS = {"reno": "TcpNewReno", "linux-reno": "TcpLinuxReno", "cubic": "TcpCubic", "dctcp": "TcpDctcp"}
SEEDS = (1, 2, 3)

# Greatest differences.
GOODPUT = 0.03
GOODPUT_UNDER_LOSS = 0.10
MEAN_QUEUE = 0.10
MEAN_QUEUE_PACKETS = 1.5
P99_QUEUE_PACKETS = 3
COMPLETION = 0.05
DROPS_OF_INCAST = 0.10


@dataclasses.dataclass
class Scenario:
    """A network for both simulators. Times are in seconds, latencies in microseconds, rates in Mb/s."""

    name: str
    compares: str  # `queue`, `loss`, `completion`, `incast`, `lossy incast` or `speed`
    kind: str = "dumbbell"
    control: str = "reno"
    rate: float = 10
    latency: int = 18_000
    access_rate: float = 1_000
    access_latency: int = 1_000
    queue: int = 50
    # Packets in the queue disc from which on it marks.
    mark: int = 0
    flows: int = 1
    # Starts are 10 ms apart, and a random part of this.
    spread: float = 1.0
    bytes: int = 0
    loss: float = 0.0
    until: float = 120
    min_rto_ms: int = 1_000
    segment: int = 1_448
    initial_window: int = 10
    delayed_ack: bool = True
    sack: bool = True
    # What judges in place of ns-3, its goodput in Mb/s and the greatest difference.
    judge: tuple | None = None

    def seeds(self):
        return SEEDS if self.loss > 0 or self.kind == "dumbbell" and self.flows > 1 else SEEDS[:1]

    def hosts(self):
        return {"dumbbell": self.flows, "star": self.flows + 1, "fat-tree": 16}[self.kind]

    def pairs(self, seed):
        """The flows: sender, receiver, start."""
        draw = random.Random(seed)
        if self.kind == "star":
            return [(flow, self.flows, 0.0) for flow in range(self.flows)]
        if self.kind == "fat-tree":
            return [(*draw.sample(range(16), 2), round(draw.uniform(0, 0.001), 9)) for _ in range(self.flows)]
        starts = [0.0]
        if self.flows > 1:
            starts = [round(0.01 * flow + draw.uniform(0, self.spread), 9) for flow in range(self.flows)]
        return [(flow, self.flows + flow, start) for flow, start in enumerate(starts)]

    def ns3_arguments(self, seed):
        flows = ",".join(f"{one}-{other}@{start}" for one, other, start in self.pairs(seed))
        values = {
            "kind": self.kind,
            "control": CONTROLS[self.control],
            "rate": f"{self.rate}Mbps",
            "latency": f"{self.latency}us",
            "access-rate": f"{self.access_rate}Mbps",
            "access-latency": f"{self.access_latency}us",
            "min-rto": f"{self.min_rto_ms}ms",
            "flows": flows,
            "hosts": self.hosts(),
            "queue": self.queue,
            "mark": self.mark,
            "segment": self.segment,
            "initial-window": self.initial_window,
            "bytes": self.bytes,
            "loss": self.loss,
            "until": self.until,
            "delayed-ack": int(self.delayed_ack),
            "sack": int(self.sack),
            "seed": seed,
        }
        return [f"--{name}={value}" for name, value in values.items()]

    def network(self, seed):
        """The network file."""
        bottleneck = {
            "rate": f"{self.rate}Mbps",
            "latency": f"{self.latency}us",
            # The disc's packets, and the one in the device behind it.
            "queue": f"{self.queue + (1 if self.mark else 0)}p",
        }
        topology = {"kind": self.kind, "program": str(FOLDER / "router.p4"), **bottleneck}
        if self.kind == "dumbbell":
            access = {"rate": f"{self.access_rate}Mbps", "latency": f"{self.access_latency}us", "queue": "1000p"}
            topology.update(access, hosts_per_side=self.flows, bottleneck=bottleneck)
        elif self.kind == "star":
            topology["size"] = self.hosts()
        else:
            topology["k"] = 4
        tcp = {
            "control": self.control,
            "segment": self.segment,
            "window": "8MiB",
            "initial_window": self.initial_window,
            "min_rto": f"{self.min_rto_ms}ms",
            "delayed_ack": "200ms" if self.delayed_ack else False,
            "sack": self.sack,
            # ns-3 has none.
            "small_queue": False,
        }
        if self.bytes:
            tcp["bytes"] = self.bytes
        applications = []
        for number, (one, other, start) in enumerate(self.pairs(seed)):
            flow = {"from": f"h{one + 1}", "to": f"h{other + 1}", "name": f"f{number}", "port": 5001 + number, **tcp}
            applications.append({"tcp": {**flow, "start": f"{start * 1e6:.3f}us"}})
        network = {"topology": topology, "applications": applications, "until": f"{self.until}s", "seed": seed}
        if self.loss > 0:
            # Only the data packets are lost, so the receiver has a link whose directions differ.
            router = {"gateway": "10.0.9.1", "arp": {"10.0.9.1": "02:00:00:00:09:01"}}
            network["hosts"] = {"receiver": {"address": "10.0.9.9/24", **router}}
            network["links"] = [{"ends": ["s2:9", "receiver"], **access, "forth": {"loss": self.loss}}]
            applications[0]["tcp"]["to"] = "receiver"
        if self.mark:
            command = f"table_set_default RouterEgress.marking RouterEgress.mark_from {self.mark + 1}"
            network["controllers"] = {"marking": {"switches": "all", "commands": [command]}}
        return network


@dataclasses.dataclass
class Measured:
    """What a run measured."""

    goodput: float  # Mb/s
    queue_mean: float
    queue_p99: float
    drops: float
    completions: list  # ms
    frames: int


def dumbbell_a(name, **changes):
    return Scenario(f"A: 10 Mb/s, 40 ms, queue 50: {name}", "queue", **changes)


def dumbbell_b(name, **changes):
    shape = dict(rate=100, latency=4_000, access_latency=500, queue=100, until=40, spread=0.5)
    return Scenario(f"B: 100 Mb/s, 10 ms, queue 100: {name}", "queue", **{**shape, **changes})


def dumbbell_c(name, **changes):
    shape = dict(rate=1_000, latency=400, access_rate=10_000, access_latency=50, queue=100, until=4, spread=0.5)
    return Scenario(f"C: 1 Gb/s, 1 ms, queue 100: {name}", "queue", **{**shape, **changes})


def dumbbell_d(name, **changes):
    shape = dict(control="dctcp", queue=250, until=2, spread=0.2)
    scenario = dumbbell_c("", **{**shape, **changes})
    scenario.name = name
    return scenario


def loss(name, **changes):
    shape = dict(rate=100, latency=48_000, queue=5_000, until=300)
    return Scenario(f"100 Mb/s, 100 ms, loss {name}", "loss", **{**shape, **changes})


def completion(name, **changes):
    shape = dict(rate=100, latency=8_000, queue=300, until=30)
    return Scenario(f"one flow, 100 Mb/s, 20 ms: {name}", "completion", **{**shape, **changes})


def incast(name, compares, **changes):
    shape = dict(kind="star", rate=1_000, latency=30, flows=32, bytes=65_536, until=5, min_rto_ms=200)
    return Scenario(f"incast of 32 x 64 KiB, 1 Gb/s: {name}", compares, **{**shape, **changes})


def fat_tree():
    return Scenario(
        "fat tree, k = 4, 100 Reno flows, 1 Gb/s, queue 100",
        "speed",
        kind="fat-tree",
        rate=1_000,
        latency=10,
        queue=100,
        flows=100,
        until=0.2,
    )


def scenarios():
    found = [
        dumbbell_a("Reno"),
        dumbbell_a("Linux's Reno", control="linux-reno"),
        dumbbell_a("Cubic", control="cubic"),
        dumbbell_a("Reno, no delayed ACK", delayed_ack=False),
        dumbbell_a("Reno, no SACK", sack=False),
        dumbbell_a("Reno, segments of 536", segment=536),
        dumbbell_a("Reno, queue 10", queue=10),
        dumbbell_a("Reno, queue 200", queue=200),
        dumbbell_a("2 Reno", flows=2),
        dumbbell_a("10 Reno", flows=10),
        dumbbell_a("10 Linux's Reno", flows=10, control="linux-reno"),
        dumbbell_a("2 Cubic", flows=2, control="cubic"),
        dumbbell_a("10 Cubic", flows=10, control="cubic"),
        dumbbell_b("Reno"),
        dumbbell_b("Linux's Reno", control="linux-reno"),
        dumbbell_b("Cubic", control="cubic"),
        dumbbell_b("10 Reno", flows=10),
        dumbbell_b("10 Cubic", flows=10, control="cubic"),
        dumbbell_c("Reno"),
        dumbbell_c("Cubic", control="cubic"),
        dumbbell_d("D: 1 Gb/s, 1 ms, marks at 20: 1 DCTCP", mark=20),
        dumbbell_d("D: 1 Gb/s, 1 ms, marks at 20: 2 DCTCP", flows=2, mark=20),
        dumbbell_d("D: 1 Gb/s, 1 ms, marks at 20: 10 DCTCP", flows=10, mark=20),
        dumbbell_d("D: 1 Gb/s, 1 ms, marks at 65: 2 DCTCP", flows=2, mark=65),
        dumbbell_d("E: 100 Mb/s, 2 ms, marks at 20: 2 DCTCP", flows=2, mark=20, rate=100, latency=900, until=15),
        loss("1 %: Reno", loss=0.01),
        loss("0.1 %: Reno", loss=0.001),
        loss("1 %: Reno, no delayed ACK", loss=0.01, delayed_ack=False),
        # See docs/networks.md for why ns-3 is no judge of these.
        loss("1 %: Linux's Reno", loss=0.01, control="linux-reno", judge=("PFTK", 1.157, 0.15)),
        loss("1 %: Cubic", loss=0.01, control="cubic", judge=("square root law", 1.419, 0.10)),
        completion("10 KB", bytes=10_000),
        completion("100 KB", bytes=100_000),
        completion("1 MB", bytes=1_000_000),
        completion("10 MB", bytes=10_000_000),
        completion("100 KB, initial window 2", bytes=100_000, initial_window=2),
        completion("1 MB, no delayed ACK", bytes=1_000_000, delayed_ack=False),
        incast("queue 4,000", "incast", queue=4_000),
        incast("queue 256", "lossy incast", queue=256),
        incast("queue 64", "lossy incast", queue=64),
    ]
    return found


def build_ns3(folder):
    """Compiles the program for ns-3; returns its path, or why it does not run."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None, "there is no C++ compiler"
    program = folder / "network"
    source = FOLDER / "network.cc"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program, None
    command = [compiler, "-std=c++17", "-O2", "-o", program, source, *(f"-lns3-{name}" for name in LIBRARIES)]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode != 0:
        first = (compiled.stderr.strip().splitlines() or ["no message"])[0]
        return None, f"the compiler does not find ns-3, or does not take its headers: {first}"
    return program, None


def run(command):
    """Runs a program that prints JSON, and returns that."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = process.communicate()
    if process.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in command)}\n{errors}\nexit status {process.returncode}")
    return json.loads(output)


def run_ns3(program, scenario, seed):
    found = run([program, *scenario.ns3_arguments(seed)])
    times = [flow["completion"] for flow in found["flows"] if flow["completion"] is not None]
    return Measured(
        goodput=sum(flow["bytes"] for flow in found["flows"]) * 8e-6 / scenario.until,
        queue_mean=found.get("queue_mean", 0),
        queue_p99=found.get("queue_p99", 0),
        drops=found["drops"],
        completions=[1e3 * seconds for seconds in times],
        frames=found["frames"],
    )


def run_plane(plane, folder, scenario, seed):
    file = folder / f"{scenario.name.replace('/', ' per ')}, seed {seed}.json"
    file.write_text(json.dumps(scenario.network(seed), indent=1))
    found = run([plane, "net", file, "--json", "-q"])
    port = {"dumbbell": f"s1:{scenario.flows + 1} -> ", "star": f"s1:{scenario.hosts()} -> "}.get(scenario.kind)
    links = found["links"]
    bottleneck = next((link for link in links if port and link["link"].startswith(port)), {})
    times = [flow["completion_ps"] for flow in found["tcp"] if flow["completion_ps"] is not None]
    return Measured(
        goodput=sum(flow["bytes"] for flow in found["tcp"]) * 8e-6 / scenario.until,
        queue_mean=bottleneck.get("queue_mean_packets", 0),
        queue_p99=bottleneck.get("queue_p99_packets", 0),
        drops=bottleneck.get("queue_full", 0),
        completions=[1e-9 * ps for ps in times],
        frames=found["frames"],
    )


def share(ours, theirs):
    return (ours / theirs - 1) if theirs else (0.0 if ours == theirs else float("inf"))


def compare(scenario, theirs, ours):
    """Rows: measure, ns-3, ours, difference, whether it is small enough; `None` is not judged."""

    def mean(runs, value):
        return statistics.fmean(value(one) for one in runs)

    def row(measure, value, limit, packets=None, digits=2):
        one, other = mean(theirs, value), mean(ours, value)
        relative = share(other, one)
        agrees = limit is not None and abs(relative) <= limit
        if packets is not None and abs(other - one) <= packets:
            agrees = True
        shown = f"{other - one:+.1f}" if limit is None else f"{100 * relative:+.1f} %"
        return [measure, f"{one:.{digits}f}", f"{other:.{digits}f}", shown, agrees]

    goodput = lambda one: one.goodput
    drops = lambda one: one.drops
    rows = []
    if scenario.compares == "queue":
        rows.append(row("goodput Mb/s", goodput, GOODPUT))
        rows.append(row("mean queue", lambda one: one.queue_mean, MEAN_QUEUE, MEAN_QUEUE_PACKETS))
        rows.append(row("p99 queue", lambda one: one.queue_p99, None, P99_QUEUE_PACKETS, 1))
    elif scenario.compares == "loss":
        found = row("goodput Mb/s", goodput, GOODPUT_UNDER_LOSS, digits=3)
        if scenario.judge:
            found[4] = None
            name, value, limit = scenario.judge
            relative = share(mean(ours, goodput), value)
            judged = [f"goodput by {name}", f"{value:.3f}", found[2], f"{100 * relative:+.1f} %", abs(relative) <= limit]
            rows.append(found)
            found = judged
        rows.append(found)
    elif scenario.compares == "completion":
        rows.append(row("completion ms", lambda one: max(one.completions), COMPLETION))
    elif scenario.compares == "incast":
        rows.append(row("mean completion ms", lambda one: statistics.fmean(one.completions), COMPLETION))
        rows.append(row("last completion ms", lambda one: max(one.completions), COMPLETION))
        rows.append(row("drops", drops, 0, digits=0))
    else:
        rows.append(row("drops", drops, DROPS_OF_INCAST, digits=0))
    return rows


def print_table(heads, rows):
    """A table in Markdown with columns of equal width."""
    widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    line = lambda row: "| " + " | ".join(word.ljust(width) for word, width in zip(row, widths)) + " |"
    print(line(heads))
    print(line(["-" * width for width in widths]))
    for row in rows:
        print(line(row))


def verdict(agree):
    if False in agree:
        return "DIFFERS"
    return "not judged" if None in agree else "agrees"


def compare_all(chosen, ns3, plane, folder, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = []
        for scenario in chosen:
            theirs = [pool.submit(run_ns3, ns3, scenario, seed) for seed in scenario.seeds()]
            ours = [pool.submit(run_plane, plane, folder, scenario, seed) for seed in scenario.seeds()]
            runs.append((scenario, theirs, ours))
        rows = []
        verdicts = []
        for scenario, theirs, ours in runs:
            print(scenario.name, file=sys.stderr)
            found = compare(scenario, [one.result() for one in theirs], [one.result() for one in ours])
            # What ns-3 does not judge has a row of its own.
            for group in ([found] if scenario.judge is None else [[one] for one in found]):
                texts = ["; ".join(row[at] for row in group) for at in range(4)]
                verdicts += [row[4] for row in group]
                rows.append([scenario.name, *texts, verdict([row[4] for row in group])])
    print_table(["network", "measures", "ns-3", "ours", "difference", "verdict"], rows)
    failed = verdicts.count(False)
    print(f"\n{len(verdicts)} measures, {failed} differ")
    return failed


def measure_speed(ns3, plane, folder, rounds):
    """Frames on wires a second of processor time of the whole process, medians of alternating rounds."""
    scenario = fat_tree()

    def time(what):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        frames = what().frames
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return frames, frames / seconds

    pairs = []
    for _ in range(rounds):
        pairs.append((time(lambda: run_ns3(ns3, scenario, 1)), time(lambda: run_plane(plane, folder, scenario, 1))))
    theirs = statistics.median(one[1] for one, _ in pairs)
    ours = statistics.median(other[1] for _, other in pairs)
    ratio = statistics.median(other[1] / one[1] for one, other in pairs)
    print(f"{scenario.name}, {scenario.until} s: frames on wires a second")
    rows = [
        ["ns-3", f"{pairs[0][0][0]:,}", f"{theirs:,.0f}"],
        ["plane net", f"{pairs[0][1][0]:,}", f"{ours:,.0f}"],
    ]
    print_table(["simulator", "frames", "frames a second"], rows)
    print(f"ratio {ratio:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", help="networks whose names contain the text")
    parser.add_argument("--speed", action="store_true", help="measure speed instead of agreement")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the speed measurement (5)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--plane", type=pathlib.Path, default=ROOT / "target/release/plane")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep the network files here")
    options = parser.parse_args()
    if not options.plane.exists():
        sys.exit(f"there is no {options.plane}: run `cargo build --release --bin plane`, or give `--plane`")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        ns3, missing = build_ns3(folder)
        if ns3 is None:
            print(f"NOT RUN: {missing} (Debian: apt-get install g++ libns3-dev)")
            return 0
        if options.speed:
            measure_speed(ns3, options.plane, folder, options.rounds)
            return 0
        chosen = [one for one in scenarios() if (options.only or "").lower() in one.name.lower()]
        if not chosen:
            sys.exit(f"no network has `{options.only}` in its name")
        return 1 if compare_all(chosen, ns3, options.plane, folder, options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
