// SPDX-License-Identifier: Apache-2.0
//! Two instances of one program as one target against one device: packets, reads and notifications are equal, where
//! packets of one half of the cells go to one instance. Instances go and come back by random schedules: no batch is
//! lost, whatever the map does meanwhile, and one that comes back is brought up to date.

use crate::control_maps::comparison::{Compared, Course, Subject, compare, device};
use crate::control_maps::{batches, engine, generator};
use control::latency::LatencyModel;
use control::map::{
    Absence, Instances, Mapped, OwnedArray, Owner, Physical, TargetIndex, Translation, Virtual,
};
use control::target::{
    Batch, DeviceItem, Fault, Item, Notification, Outcome, Target, Ticket, Visibility,
};
use device::{Device, DeviceOptions, EngineChoice};
use ir::{Program, RegisterId, TableId};
use state::{Atomicity, BatchItem, CellRange, Configuration, Read, Reply, Update};
use std::sync::Arc;
use testing::{Choices, seeds};

/// What is wrong with a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// Counters and hits of the second instance are forgotten.
    FirstOnly,
    /// The first instance owns every cell.
    NoOwners,
    /// An entry idles when it does so at one instance.
    IdlesAnywhere,
    /// Updates go to the first instance only.
    NotEverywhere,
}

struct Faulty {
    instances: Instances,
    mistake: Mistake,
}

/// The second field of a packet is the index of the cell; the first instance owns the even ones.
fn owner() -> Owner {
    Owner::by(|_: OwnedArray, index| (index & 1) as usize)
}

fn instance_of(bytes: &[u8], count: usize) -> usize {
    if count == 1 { 0 } else { usize::from(bytes[1] & 1) }
}

impl Translation for Faulty {
    fn program(&self) -> Arc<Program> {
        self.instances.program()
    }

    fn targets(&self) -> Vec<TargetIndex> {
        self.instances.targets()
    }

    fn visibility(&self, below: Visibility) -> Visibility {
        self.instances.visibility(below)
    }

    fn update(&mut self, update: &Update, before: &Configuration) -> Result<Vec<Physical>, Fault> {
        let mut list = self.instances.update(update, before)?;
        if self.mistake == Mistake::NotEverywhere && !update.touches_cells() {
            list.truncate(1);
        }
        Ok(list)
    }

    fn read(&mut self, read: &Read, state: &Configuration) -> Result<Vec<Physical>, Fault> {
        self.instances.read(read, state)
    }

    fn combine(&mut self, read: &Read, mut replies: Vec<Reply>) -> Result<Reply, Fault> {
        let is_summed = !matches!(read, Read::Register { .. });
        if self.mistake == Mistake::FirstOnly && is_summed {
            replies.truncate(1);
        }
        self.instances.combine(read, replies)
    }

    fn device(&mut self, item: &DeviceItem) -> Result<Vec<Physical>, Fault> {
        self.instances.device(item)
    }

    fn notify(
        &mut self,
        from: TargetIndex,
        notification: Notification,
        state: &Configuration,
    ) -> Vec<Notification> {
        match (&notification, self.mistake) {
            (Notification::IdleTimeout { .. }, Mistake::IdlesAnywhere) => vec![notification],
            _ => self.instances.notify(from, notification, state),
        }
    }

    fn background(&mut self) -> Option<Batch> {
        self.instances.background()
    }

    fn background_answer(&mut self, outcome: Outcome) -> Vec<Notification> {
        self.instances.background_answer(outcome)
    }
}

fn run(seed: u64, mistake: Mistake) -> Result<Compared, String> {
    let mut choices = Choices::from_seed(seed);
    let program = generator::specification(&mut choices).compile();
    let engine = engine(seed);
    let one = device(&program, engine);
    let direct = Subject::new("direct", Box::new(one.target()), vec![one]);
    let devices = vec![device(&program, engine), device(&program, engine)];
    let targets: Vec<Box<dyn Target>> =
        devices.iter().map(|device| Box::new(device.target()) as Box<dyn Target>).collect();
    let owner = if mistake == Mistake::NoOwners { Owner::first() } else { owner() };
    let instances = Instances::new(program.clone(), 2, owner);
    let map = Virtual::new(Faulty { instances, mistake }).expect("the program is sound");
    let two = Subject::new("instances", Box::new(Mapped::new(map, targets)), devices);
    let course = Course {
        steps: 12,
        device_of: instance_of,
        compares_places: true,
        asks_for_moments: false,
    };
    compare(&mut choices, &mut [direct, two], &course).map_err(|why| format!("seed {seed}: {why}"))
}

#[test]
fn instances_are_one_target() {
    let mut all = Compared::default();
    for seed in seeds(8) {
        match run(seed, Mistake::None) {
            Ok(compared) => all.add(compared),
            Err(why) => panic!("{}", why.lines().take(60).collect::<Vec<_>>().join("\n")),
        }
    }
    println!("instances: {all:?}");
}

#[test]
fn broken_instances_are_noticed() {
    for mistake in
        [Mistake::FirstOnly, Mistake::NoOwners, Mistake::IdlesAnywhere, Mistake::NotEverywhere]
    {
        let caught = (0..60).find(|seed| run(*seed, mistake).is_err());
        println!("{mistake:?}: caught in case {caught:?}");
        assert!(caught.is_some(), "no case shows {mistake:?}");
    }
}

#[test]
fn what_packets_must_see_at_one_moment_is_refused_by_instances() {
    let mut refused = 0;
    for seed in seeds(8) {
        let mut choices = Choices::from_seed(seed);
        let program = generator::specification(&mut choices).compile();
        let mut scene = Scene::new(&program, Absence::Refuse, engine(seed), None);
        for _ in 0..10 {
            let state = scene.direct.configuration();
            let batch = batches::batch(&mut choices, &program, &state);
            let batch = batch.with(Atomicity::DataplaneAtomic);
            let before = scene.mapped.execute(batches::everything(&program));
            let outcome = scene.mapped.execute(batch.clone());
            // Of a table that is empty there is nothing to clear.
            let is_write = batch.items.iter().any(|item| match item {
                Item::State(BatchItem::Update(Update::ClearEntries { .. })) => false,
                Item::State(BatchItem::Update(update)) => !update.touches_cells(),
                _ => false,
            });
            // Configuration is at both; one that the program as written refuses is refused for that.
            if is_write && !outcome.is_ok() {
                let after = scene.mapped.execute(batches::everything(&program));
                assert_eq!(before.results, after.results, "seed {seed}: {outcome:?}");
                refused += 1;
            }
            assert!(!is_write || !outcome.is_ok(), "seed {seed}: {batch:?}");
        }
    }
    println!("{refused} batches were refused, and changed nothing");
    assert!(refused > 0);
}

/// A program at two instances that go and come back, and directly on a device.
struct Scene {
    program: Arc<Program>,
    mapped: Mapped<Virtual<Instances>>,
    devices: Vec<Device>,
    away: Vec<Option<Box<dyn Target>>>,
    direct: Device,
    /// Whether the order of entries is compared too.
    compares_ages: bool,
}

impl Scene {
    fn new(
        program: &Arc<Program>,
        absence: Absence,
        engine: EngineChoice,
        model: Option<LatencyModel>,
    ) -> Scene {
        let slow = || {
            let control_latency = model.clone();
            let options = DeviceOptions { engine, control_latency, ..DeviceOptions::default() };
            Device::new(program.clone(), options).expect("the program loads")
        };
        let devices = vec![slow(), slow()];
        let instances = Instances::new(program.clone(), 2, owner()).with_absence(absence);
        let map = Virtual::new(instances).expect("the program is sound");
        let targets = devices.iter().map(|device| Box::new(device.target()) as Box<dyn Target>);
        Scene {
            mapped: Mapped::new(map, targets.collect()),
            devices,
            away: vec![None, None],
            direct: device(program, engine),
            program: program.clone(),
            compares_ages: absence != Absence::Refuse,
        }
    }

    /// The answer, in the time that it takes; nothing for one that waits for an instance.
    fn answer(&mut self, ticket: Ticket) -> Option<Outcome> {
        loop {
            if let Some(outcome) = self.mapped.poll(ticket) {
                return Some(outcome);
            }
            let due = self.devices.iter().filter_map(Device::next_event_ps).min()?;
            self.devices.iter_mut().for_each(|device| {
                device.advance(due.max(device.now_ps())).expect("no assertion fails");
            });
        }
    }

    /// What an instance, or the direct device, has been configured to.
    fn configuration(&self, device: &Device) -> String {
        let state = device.configuration();
        let mut text = String::new();
        for table in (0..self.program.tables.len() as u32).map(TableId) {
            let table = state.table(table).expect("it is there");
            let mut entries: Vec<_> = table.entries().collect();
            match self.compares_ages {
                true => entries.sort_by_key(|entry| entry.generation),
                false => entries.sort_by_key(|entry| format!("{:?}", entry.to_new_entry())),
            }
            let entries = entries.into_iter().map(|entry| entry.to_new_entry());
            text += &format!("{:?} {:#?}\n", table.default_action(), entries.collect::<Vec<_>>());
        }
        text
    }

    /// A register as the owners of its cells have it.
    fn registers(&self, devices: &[&Device]) -> Vec<String> {
        let ids = (0..self.program.registers.len() as u32).map(RegisterId);
        let cell = |id: RegisterId, index: u64| {
            let device = devices[index as usize % devices.len()];
            let cells = device.cells();
            format!("{:?}", cells.register(id).and_then(|cells| cells.read(index)))
        };
        ids.flat_map(|id| {
            (0..self.program.registers[id.index()].size).map(move |index| (id, index))
        })
        .map(|(id, index)| cell(id, index))
        .collect()
    }
}

/// What random schedules did.
#[derive(Clone, Copy, Debug, Default)]
struct Schedule {
    batches: u64,
    while_away: u64,
    refused: u64,
    deferred: u64,
    returns: u64,
}

/// One item that goes to both instances, or to the owner of a cell.
fn item(choices: &mut Choices, program: &Program, state: &Configuration, absence: Absence) -> Item {
    loop {
        let item = batches::item(choices, program, state);
        match &item {
            Item::State(BatchItem::Update(
                Update::WriteCounter { .. }
                | Update::WriteDirectCounter { .. }
                | Update::WriteMeter { .. },
            )) => {}
            // Cells that the other instance has written stay written when one is away.
            Item::State(BatchItem::Update(Update::WriteRegister { cells, .. }))
                if absence == Absence::Refuse && cells.count != Some(1) => {}
            // An entry whose removal is undone has another place and age.
            Item::State(BatchItem::Update(
                Update::ModifyEntryAt { .. } | Update::DeleteEntryAt { .. },
            )) if absence == Absence::Refuse => {}
            Item::State(BatchItem::Update(_)) => return item,
            _ => {}
        }
    }
}

fn schedule(
    seed: u64,
    absence: Absence,
    model: Option<LatencyModel>,
    forgets: bool,
) -> Result<Schedule, String> {
    let mut choices = Choices::from_seed(seed);
    let program = generator::specification(&mut choices).compile();
    let mut scene = Scene::new(&program, absence, engine(seed), model);
    let mut done = Schedule::default();
    let mut waiting: Vec<(Ticket, Batch, Outcome)> = Vec::new();
    for step in 0..40 {
        let at = choices.below(2);
        match (choices.below(10), scene.away[at].is_some()) {
            (0..=2, false) => {
                scene.away[at] = scene.mapped.detach(TargetIndex(at));
                continue;
            }
            (0..=3, true) => {
                back(&mut scene, at, forgets, &mut done)?;
                continue;
            }
            _ => {}
        }
        let state = scene.direct.configuration();
        let batch = Batch::one(item(&mut choices, &program, &state, absence));
        let is_away = scene.away.iter().any(Option::is_some);
        let now_ps = scene.mapped.now_ps();
        let ticket = scene.mapped.submit(batch.clone(), now_ps);
        let outcome = scene.answer(ticket);
        done.batches += 1;
        done.while_away += u64::from(is_away);
        match outcome {
            Some(outcome)
                if outcome.first_fault().is_some_and(|(_, fault)| *fault == Fault::Away) =>
            {
                // It is not done anywhere.
                done.refused += 1;
                if absence != Absence::Refuse || !is_away {
                    return Err(format!("seed {seed}, step {step}: {outcome:?} of {batch:?}"));
                }
            }
            Some(outcome) => {
                let expected = scene.direct.target().execute(batch.clone());
                if outcome.is_ok() != expected.is_ok() {
                    let why = format!("{outcome:?} instead of {expected:?} of {batch:?}");
                    return Err(format!("seed {seed}, step {step}: {why}"));
                }
            }
            None => {
                // The direct device does it now: plans are begun in their order.
                let expected = scene.direct.target().execute(batch.clone());
                waiting.push((ticket, batch, expected));
                done.deferred += 1;
            }
        }
    }
    for at in 0..2 {
        if scene.away[at].is_some() {
            back(&mut scene, at, forgets, &mut done)?;
        }
    }
    for (ticket, batch, expected) in waiting {
        let outcome = scene.answer(ticket);
        let outcome = outcome.ok_or_else(|| format!("seed {seed}: {batch:?} was lost"))?;
        if outcome.is_ok() != expected.is_ok() {
            let why = format!("{outcome:?} instead of {expected:?} of {batch:?}");
            return Err(format!("seed {seed}, in the end: {why}"));
        }
    }
    let wanted = scene.configuration(&scene.direct);
    for (at, device) in scene.devices.iter().enumerate() {
        let has = scene.configuration(device);
        if has != wanted {
            return Err(format!("seed {seed}: instance {at} has {has} instead of {wanted}"));
        }
    }
    let [one, two] = &scene.devices[..] else { unreachable!("there are two") };
    let (has, wanted) = (scene.registers(&[one, two]), scene.registers(&[&scene.direct]));
    match has == wanted {
        true => Ok(done),
        false => Err(format!("seed {seed}: registers {has:?} instead of {wanted:?}")),
    }
}

/// An instance comes back.
fn back(scene: &mut Scene, at: usize, forgets: bool, done: &mut Schedule) -> Result<(), String> {
    let Some(target) = scene.away[at].take() else { return Ok(()) };
    done.returns += 1;
    if forgets {
        // What was written meanwhile is forgotten: another map, which knows nothing, has the targets.
        let program = scene.program.clone();
        let instances = Instances::new(program.clone(), 2, owner());
        let map = Virtual::new(instances).expect("the program is sound");
        let targets =
            scene.devices.iter().map(|device| Box::new(device.target()) as Box<dyn Target>);
        scene.mapped = Mapped::new(map, targets.collect());
        return Ok(());
    }
    let ticket = scene.mapped.attach(TargetIndex(at), target);
    let outcome = scene.answer(ticket);
    let outcome = outcome.ok_or_else(|| format!("instance {at} is not brought up to date"))?;
    match outcome.is_ok() {
        true => Ok(()),
        false => Err(format!("instance {at} refuses what it lacks: {outcome:?}")),
    }
}

const MODES: [Absence; 3] = [Absence::Refuse, Absence::Defer, Absence::GoOn];

fn schedules(model: Option<LatencyModel>) {
    for absence in MODES {
        let mut all = Schedule::default();
        for seed in seeds(12) {
            let done = schedule(seed, absence, model.clone(), false);
            let done = done.unwrap_or_else(|why| panic!("{absence:?}: {why}"));
            all.batches += done.batches;
            all.while_away += done.while_away;
            all.refused += done.refused;
            all.deferred += done.deferred;
            all.returns += done.returns;
        }
        println!("{absence:?}: {all:?}");
        assert!(all.while_away > 0 && all.returns > 0);
        assert_eq!(all.refused > 0, absence == Absence::Refuse);
        assert_eq!(all.deferred > 0, absence == Absence::Defer);
    }
}

#[test]
fn no_batch_is_lost_while_instances_go_and_come_back() {
    schedules(None);
}

#[test]
fn no_batch_is_lost_where_drivers_take_time() {
    schedules(Some(LatencyModel::per_item(1_000)));
}

#[test]
fn an_instance_that_is_not_brought_up_to_date_is_noticed() {
    let caught = (0..40).find(|seed| schedule(*seed, Absence::GoOn, None, true).is_err());
    println!("forgotten updates: caught in case {caught:?}");
    assert!(caught.is_some());
}

/// Reads of everything, for the range of cells that generated programs have.
#[test]
fn instances_know_the_owners_of_all_cells() {
    let program = generator::specification(&mut Choices::from_seed(0)).compile();
    let mut scene = Scene::new(&program, Absence::Refuse, EngineChoice::Interpreter, None);
    let register = RegisterId(0);
    let size = program.registers[0].size;
    let width_bits = program.registers[0].width_bits;
    let values: Vec<ir::Bits> =
        (0..size).map(|at| ir::Bits::from_u64(width_bits, at + 1)).collect();
    let write = Update::WriteRegister {
        register,
        cells: CellRange::all(),
        values: state::CellValues::Each(values.clone()),
    };
    assert!(scene.mapped.execute(Batch::one(write)).is_ok());
    let read = Read::Register { register, cells: CellRange::all() };
    assert_eq!(scene.mapped.execute(Batch::one(read)).into_reply(), Ok(Reply::Registers(values)));
    for (at, device) in scene.devices.iter().enumerate() {
        let cells = device.cells();
        let array = cells.register(register).expect("it is there");
        let own = (0..size).map(|index| array.read(index).map_or(0, |value| value.low_u64()));
        let wanted = (0..size).map(|index| if index % 2 == at as u64 { index + 1 } else { 0 });
        assert!(own.eq(wanted), "instance {at}");
    }
}
