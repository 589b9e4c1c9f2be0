// SPDX-License-Identifier: Apache-2.0
//! Reactions that are exchanged, crash or never return while packets flow: no packet is lost, no dialogue is missed, state
//! is carried, and nothing that a dead reaction set reaches a packet.

use crate::compiled::compiled_with_code;
use crate::equal::mapped;
use crate::worker::options;
use control::latency::DriverModel;
use control::target::Target;
use device::{Device, DeviceOptions, EngineChoice};
use react::agent::{Agent, AgentOptions, AgentStatistics, Reload, StopEnds};
use react::compiler::CompiledProgram;
use react::module::{Code, InProcess, Module, StateAfterReload, WorkerProcess};
use std::time::{Duration, Instant};

/// From packet to packet.
const STEP_PS: u64 = 1_000_000;
const PACKETS: u64 = 2_000;
/// The packet before which something happens.
const MIDDLE: u64 = 1_000;

/// A program whose packets leave with the value `level`, and which counts packets.
fn text(extra: &str, argument: &str, body: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header ip_t {{ bit<32> src; bit<32> dst; }}
struct headers_t {{ ip_t ip; }}
struct meta_t {{ }}
malleable value bit<32> level {{ init = 1; }}
{extra}
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    state start {{ p.extract(hdr.ip); transition accept; }}
}}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    register<bit<32>>(1) seen;
    action send(bit<9> port) {{ s.egress_spec = port; }}
    malleable table t {{ key = {{ hdr.ip.dst: exact; }} actions = {{ send; NoAction; }} default_action = send(1); size = 8; }}
    apply {{
        bit<32> count;
        seen.read(count, 0);
        seen.write(0, count + 1);
        t.apply();
        hdr.ip.src = ${{level}};
    }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.ip); }} }}
reaction r({argument}) {{ {body} }}
V1Switch(P(), C(), I(), E(), C(), D()) main;
"
    )
}

fn program(state: &str, body: &str) -> (CompiledProgram, Code) {
    compiled_with_code(&text(&format!("state {{ {state} }}"), "reg seen[0:0]", body))
}

/// A switch with an agent, and packets at a constant rate.
struct Run {
    device: Device,
    target: Box<dyn Target>,
    agent: Agent,
    next_ps: Option<u64>,
    /// The values that packets carry when they leave.
    levels: Vec<u32>,
}

impl Run {
    fn new(compiled: &CompiledProgram, reactions: Box<dyn Module>) -> Run {
        Run::with_calls(compiled, reactions, false)
    }

    fn with_calls(
        compiled: &CompiledProgram,
        reactions: Box<dyn Module>,
        polls_calls: bool,
    ) -> Run {
        let engine = EngineChoice::Jit;
        let options = DeviceOptions { engine, ..DeviceOptions::default() };
        let mut device = Device::new(compiled.run.program().clone(), options).expect("it loads");
        let (mut target, legacy) = mapped(compiled, &device);
        let stop_ends = StopEnds::Dialogues;
        let options =
            AgentOptions { stop_ends, polls_calls, is_traced: true, ..AgentOptions::default() };
        let mut agent = Agent::new(compiled, reactions, legacy, options).expect("all is there");
        let next_ps = agent.prologue(target.as_mut()).expect("it begins");
        device.set_control_latency(Some(DriverModel::pcie_chip().model));
        Run { device, target, agent, next_ps, levels: Vec::new() }
    }

    /// Runs packets of these numbers, with the rounds of the agent between them.
    fn packets(&mut self, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let arrival_ps = (number + 1) * STEP_PS;
            while let Some(at_ps) = self.next_ps.filter(|at_ps| *at_ps <= arrival_ps) {
                self.device.advance(at_ps.max(self.device.now_ps())).expect("it runs");
                self.next_ps = self.agent.round(self.target.as_mut()).expect("it goes on");
            }
            self.device.inject(0, arrival_ps, vec![0; 64]).expect("it is taken");
            self.device.advance(arrival_ps).expect("it runs");
            for sent in self.device.drain_transmitted() {
                let word = sent.bytes[..4].try_into().expect("four bytes");
                self.levels.push(u32::from_be_bytes(word));
            }
        }
    }

    fn statistics(&self) -> AgentStatistics {
        self.agent.statistics()
    }
}

const COUNTS: (&str, &str) = ("uint32_t n;", "n++; ${level} = n;");

#[test]
fn a_reload_misses_no_dialogue_and_loses_no_packet() {
    let (compiled, code) = program(COUNTS.0, COUNTS.1);
    let other = program("long added = 7; uint32_t n = 3;", "n++; ${level} = 100000 + n;");
    let load = || InProcess::load(&code).expect("code that loads");
    let mut undisturbed = Run::new(&compiled, Box::new(load()));
    undisturbed.packets(0..PACKETS);
    let mut run = Run::new(&compiled, Box::new(load()));
    run.packets(0..MIDDLE);
    let before = *run.levels.last().expect("a packet");
    let reload = Reload::new(&compiled, &other.0, other.1, StateAfterReload::Carried, false);
    run.agent.reload(reload.expect("equal programs"));
    run.packets(MIDDLE..PACKETS);
    let after = run.levels.iter().copied().find(|level| *level > 100_000).expect("new reactions");
    let last = *run.levels.last().expect("a packet");
    let missed = undisturbed.statistics().dialogues - run.statistics().dialogues;
    let lost = PACKETS - run.levels.len() as u64;
    println!(
        "reload under load: {} dialogues, {missed} missed; {PACKETS} packets, {lost} lost; n before {before}, first after \
         {after}, at the end {last}",
        run.statistics().dialogues
    );
    assert_eq!((missed, lost), (0, 0));
    // Each dialogue counts once, on both sides of the reload.
    assert!(after - 100_000 - before <= 2, "{before}, {after}");
    assert_eq!(u64::from(last) - 100_000, u64::from(*undisturbed.levels.last().expect("a packet")));
    assert_eq!(run.agent.take_log(), ["reloaded: state is carried, `init` does not run"]);
}

#[test]
fn init_runs_and_state_is_fresh_on_demand() {
    let (compiled, code) = program(COUNTS.0, COUNTS.1);
    let text = text(
        "state { uint32_t n = 5000; }\ninit { ${level} = 9; t_add_send(0, 2); }",
        "reg seen[0:0]",
        "n++; if (n > 5010) ${level} = n;",
    );
    let other = compiled_with_code(&text);
    let mut run = Run::new(&compiled, Box::new(InProcess::load(&code).expect("code that loads")));
    run.packets(0..MIDDLE);
    let reload = Reload::new(&compiled, &other.0, other.1, StateAfterReload::Fresh, true);
    run.agent.reload(reload.expect("equal programs"));
    run.packets(MIDDLE..PACKETS);
    assert!(run.levels.contains(&9), "`init` of the new program is committed");
    assert!(run.levels.last().is_some_and(|level| *level > 5010), "{:?}", run.levels.last());
    let trace = run.agent.take_trace();
    let init = trace.iter().find(|dialogue| dialogue.is_init).expect("a record of `init`");
    assert_eq!(init.decisions, ["${level} = 9", "I.t: add [0] I.send(2)"]);
    assert!(init.committed_ps > init.began_ps);
}

/// Caches and write counts survive: a measurement after the reload is never older than one before. The commits of `init`
/// flip no copy that was not read.
#[test]
fn measurements_survive_a_reload() {
    let init = "init { t_default_send(1); }";
    let (compiled, code) = compiled_with_code(&text(init, "reg seen[0:0]", "${level} = seen[0];"));
    let mut run = Run::new(&compiled, Box::new(InProcess::load(&code).expect("code that loads")));
    for part in 0..10 {
        run.packets(part * 20..(part + 1) * 20);
        let reload =
            Reload::new(&compiled, &compiled, code.clone(), StateAfterReload::Carried, true);
        run.agent.reload(reload.expect("equal programs"));
    }
    assert!(run.levels.is_sorted(), "{:?}", run.levels);
    assert_eq!(run.statistics().reloads, 9);
}

#[test]
fn code_that_does_not_load_leaves_the_old_one_running() {
    let (compiled, code) = program(COUNTS.0, COUNTS.1);
    let mut run = Run::new(&compiled, Box::new(InProcess::load(&code).expect("code that loads")));
    run.packets(0..MIDDLE);
    let broken = Code::new(b"no shared object".to_vec(), code.shape().clone());
    let reload = Reload::new(&compiled, &compiled, broken, StateAfterReload::Carried, true);
    run.agent.reload(reload.expect("equal programs"));
    let before = run.statistics().dialogues;
    run.packets(MIDDLE..PACKETS);
    assert!(run.statistics().dialogues > before);
    assert_eq!((run.statistics().reloads, run.statistics().failed_reloads), (0, 1));
    assert_eq!(run.levels.len() as u64, PACKETS);
    assert!(run.agent.take_log()[0].starts_with("not reloaded: "));
}

#[test]
fn dead_reactions_leave_the_last_configuration_and_a_reload_revives_them() {
    let deaths = [("crash", "*(volatile int *)0 = 1;", "SIGSEGV"), ("endless", "for (;;);", "ms")];
    for (name, death, said) in deaths {
        let body = format!("n++; ${{level}} = n; if (n == 20) {{ t_add_send(0, 3); {death} }}");
        let (compiled, code) = program("uint32_t n;", &body);
        let reactions = WorkerProcess::start(&code, options()).expect("a process");
        let mut run = Run::new(&compiled, Box::new(reactions));
        run.packets(0..MIDDLE);
        let forwarded = run.levels.len() as u64;
        let largest = *run.levels.last().expect("a packet");
        let log = run.agent.take_log();
        println!(
            "{name}: {forwarded} of {MIDDLE} packets forwarded, all after the death with the value of the last commit, \
             {largest}; {}",
            log[0]
        );
        assert_eq!(forwarded, MIDDLE);
        assert_eq!(largest, 19, "what the dead reaction set is not written");
        assert!(log[0].contains(said) && log[0].contains("last commit"), "{log:?}");
        assert_eq!(run.statistics().stops, 1);
        let next = program("uint32_t n;", "n++; ${level} = 1000 + n;");
        let reload = Reload::new(&compiled, &next.0, next.1, StateAfterReload::Carried, false);
        run.agent.reload(reload.expect("equal programs"));
        let end = MIDDLE + 30_000;
        run.packets(MIDDLE..end);
        assert!(run.levels.last().is_some_and(|level| *level > 1000), "{:?}", run.levels.last());
        assert_eq!(run.levels.len() as u64, end);
    }
}

/// The thread that forwards also serves the agent, as beside a live switch: it does not wait for reactions.
#[test]
fn packets_flow_while_a_polled_call_does_not_return() {
    let body = "n++; ${level} = n; if (n == 5) { t_add_send(0, 3); for (;;) now(); }";
    let (compiled, code) = program("uint32_t n;", body);
    let reactions = WorkerProcess::start(&code, options()).expect("a process");
    let mut run = Run::with_calls(&compiled, Box::new(reactions), true);
    let (mut sent, mut longest) = (0, Duration::ZERO);
    while run.statistics().stops == 0 {
        let begin = Instant::now();
        run.packets(sent..sent + 1);
        sent += 1;
        longest = longest.max(begin.elapsed());
    }
    run.packets(sent..sent + 100);
    println!(
        "endless call, polled: {} of {} packets forwarded, longest pause {longest:?} of a limit of {:?}",
        run.levels.len(),
        sent + 100,
        options().limit
    );
    assert_eq!(run.levels.len() as u64, sent + 100);
    assert!(longest < options().limit / 2, "{longest:?}");
    assert_eq!(run.levels.last(), Some(&4));
}

#[test]
fn a_program_whose_p4_differs_is_refused() {
    let old = "state { int n; }";
    let (compiled, _) = compiled_with_code(&text(old, "reg seen[0:0]", "n++;"));
    let check = |new: &str, expected: &str| {
        let (other, code) = compiled_with_code(new);
        let reload = Reload::new(&compiled, &other, code, StateAfterReload::Carried, false);
        assert_eq!(reload.map(drop), Err(expected.to_string()));
    };
    let base = text(old, "reg seen[0:0]", "n++;");
    check(
        &base
            .replace("bit<32> level", "bit<31> level")
            .replace("= ${level}", "= (bit<32>)${level}"),
        "the type of malleable value `level` differs",
    );
    check(
        &base.replace("init = 1", "init = 2"),
        "the initial value of malleable value `level` differs",
    );
    check(
        &base.replace("reg seen[0:0]", "reg seen[0:0], ing hdr.ip.src"),
        "the list of arguments of reaction `r` differs",
    );
    check(&base.replace("malleable table", "table"), "malleable table `t` is gone");
    check(&base.replace("reaction r(", "reaction s("), "reaction `r` is gone");
    check(
        &base.replace("= send(1)", "= send(2)"),
        "the P4 code differs: `default_action = send(1);` became `default_action = send(2);`",
    );
    check(
        &base.replace("hdr.ip.dst: exact", "hdr.ip.dst: ternary"),
        "the key of malleable table `t` differs",
    );
    let (other, code) =
        compiled_with_code(&base.replace("reaction r", "@rate(\"1ms\") @cost(\"2us\") reaction r"));
    Reload::new(&compiled, &other, code, StateAfterReload::Carried, false)
        .expect("only C, rate and cost differ");
}
