// SPDX-License-Identifier: Apache-2.0
//! Time lines of a [`Built`] network: begins one, and writes it with the names of applications.

use crate::built::Built;
use crate::controllers::ControlPlane;
use crate::timeline::{Activity, FlowNames, TimeLine, Window};
use hosts::applications::Report;
use std::net::IpAddr;

impl Built {
    /// Records the run from now on. The devices must have [`device::DeviceOptions::tap`] set.
    pub fn begin_timeline(&mut self, window: Window) {
        self.watched.timeline = Some(Box::new(TimeLine::new(&self.network, window)));
        if let Some(plane) = self.simulation.agent_mut::<ControlPlane>() {
            plane.begin_journal();
        }
    }

    /// Records a dialogue of a switch's agent, if there is a time line.
    pub fn record_activity(&mut self, switch: usize, activity: Activity) {
        if let Some(timeline) = &mut self.watched.timeline {
            timeline.activity(switch, activity);
        }
    }

    /// Ends the time line and writes it as HTML. `None` without one.
    pub fn finish_timeline(&mut self, title: &str) -> Option<FinishedTimeLine> {
        let names = self.flow_names();
        let end_ps = self.simulation.now_ps();
        let mut timeline = self.watched.timeline.take()?;
        if let Some(plane) = self.simulation.agent_mut::<ControlPlane>() {
            for act in plane.take_journal() {
                timeline.remark(act.time_ps, &act.controller, act.switch, &act.text);
            }
        }
        timeline.finish(end_ps);
        let omitted = timeline.omitted();
        Some(FinishedTimeLine {
            html: timeline.html(&self.network, title, end_ps, &names),
            omitted,
        })
    }

    /// The applications of flows, as far as hosts report them.
    fn flow_names(&self) -> FlowNames {
        let mut names = FlowNames::new();
        for application in &self.applications {
            let number = application.index.host;
            let host = &self.network.hosts[number];
            let name = &host.applications[application.index.application].name;
            let mut add = |port: Option<u16>, destination: Option<(IpAddr, u16)>| {
                let (Some(port), Some(destination)) = (port, destination) else { return };
                for own in host.addresses() {
                    let own = (own.value.address, port);
                    names.entry([own, destination]).or_insert_with(|| name.clone());
                }
            };
            for part in &application.parts {
                match self.host(number).and_then(|host| host.report(part.number)) {
                    Some(Report::TcpBulk(report)) => add(report.local_port, part.destination()),
                    Some(Report::UdpSender(report)) => add(report.local_port, part.destination()),
                    Some(Report::Flows(report)) => {
                        report
                            .flows
                            .iter()
                            .for_each(|flow| add(flow.local_port, Some(flow.destination)));
                    }
                    _ => {}
                }
            }
        }
        names
    }
}

/// A time line that is written.
#[derive(Clone, Debug)]
pub struct FinishedTimeLine {
    /// The page.
    pub html: String,
    /// How many events of frames were left out, and the time of the last one that was kept.
    pub omitted: Option<(u64, u64)>,
}
