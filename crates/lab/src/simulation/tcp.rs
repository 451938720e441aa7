//! TCP and MPTCP flows, and background load.

use strandcast_keys::catalog::{CatalogError, WindowSetup};
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig};
use strandcast_proto::time::Instant;
use strandcast_sim::flow::{BackgroundSender, BackgroundSink, SubflowPlan, TcpReceiver, TcpSender};
use strandcast_sim::net::{AgentId, FlowId, Network, RouteId};
use strandcast_sim::tcp::{Config, Sender};
use strandcast_sim::traffic::{BackgroundLoad, BackgroundSource, PacketSize};

use super::endpoints::{BuiltPath, Common, FlowBuilder};
use super::plan::link_of;
use super::values::varying;
use super::{BuildError, Metrics};
use crate::result::meter::{BackgroundMeter, Window};
use crate::scenario::{self, Cross, Hop, Tcp};

/// Windows of the TCP in background load: NewReno.
const CROSS_WINDOWS: &str = "reno";

impl FlowBuilder<'_> {
    pub(super) fn tcp(
        &self,
        network: &mut Network<Metrics>,
        common: Common<'_>,
        cc: &str,
        tcp: &Tcp,
    ) -> Result<(AgentId, AgentId), BuildError> {
        let config = self.tcp_config(tcp, &format!("{}.tcp", common.key), false)?;
        let windows = self.windows(&config, cc, &format!("{}.cc", common.key))?;
        Ok(connection(network, common, Sender::new(config, windows)))
    }

    /// Builds an MPTCP flow. `own` gives windows and scheduler, unless `spec` of a comparison names others.
    pub(super) fn mptcp(
        &self,
        network: &mut Network<Metrics>,
        common: Common<'_>,
        own: (&str, &str),
        tcp: &Tcp,
        spec: Option<&str>,
    ) -> Result<(AgentId, AgentId), BuildError> {
        let config = self.tcp_config(tcp, &format!("{}.tcp", common.key), true)?;
        let [cc_key, scheduler_key] = ["cc", "scheduler"].map(|key| format!("{}.{key}", common.key));
        let wrong = |key: &str, error: CatalogError| BuildError::new(key, &error.to_string());
        let named = spec.map(|spec| self.catalog.window_and_scheduler(spec));
        let named = named.transpose().map_err(|error| wrong(&cc_key, error))?;
        let (cc, replaced) = named.unwrap_or_else(|| (own.0.to_owned(), None));
        let windows = self.windows(&config, &cc, &cc_key)?;
        let (scheduler, key) = match &replaced {
            Some(scheduler) => (scheduler.as_str(), cc_key),
            None => (own.1, scheduler_key),
        };
        let own = config.opportunistic.then_some(HeadOfLineConfig::LINUX);
        let chosen = self.catalog.scheduler(scheduler, own).map_err(|error| wrong(&key, error))?;
        let sender = Sender::multipath(config, windows, chosen.scheduler);
        Ok(connection(network, common, sender.with_head_of_line(chosen.head_of_line)))
    }

    fn tcp_config(&self, tcp: &Tcp, key: &str, multipath: bool) -> Result<Config, BuildError> {
        let config = tcp.config().map_err(|error| BuildError::new(key, &error.to_string()))?;
        Ok(Config { multipath, ..config })
    }

    fn windows(
        &self,
        config: &Config,
        cc: &str,
        key: &str,
    ) -> Result<Box<dyn CongestionControl>, BuildError> {
        let setup = WindowSetup {
            initial_window_bytes: config.initial_window_bytes(),
            initial_ssthresh_bytes: config.initial_ssthresh_bytes(),
        };
        let windows = self.catalog.congestion(cc, setup);
        windows.map_err(|error| BuildError::new(key, &error.to_string()))
    }

    /// Builds background load. `id` distinguishes its packets from the packets of flows.
    pub(super) fn background(
        &self,
        network: &mut Network<Metrics>,
        name: &str,
        cross: &Cross,
        id: FlowId,
    ) -> Result<BackgroundMeter, BuildError> {
        let key = format!("cross.{name}");
        let seeds = self.seeds.child(&key);
        let (_, hops) =
            self.scenario.cross_way(cross).map_err(|error| BuildError::new(&key, &error.to_string()))?;
        let out = self.plan.steps(&hops, &key)?;
        let back = self.plan.steps(&backwards(&hops), &key)?;
        let first = out.first().and_then(link_of);
        let rate = first.and_then(|wire| self.plan.rate_bps(wire)).ok_or_else(|| {
            BuildError::new(
                &format!("{key}.via"),
                "its first link has no rate, of which the load could be a share",
            )
        })?;
        let [sender, sink] = network.next_agents();
        let mut route = |ends, steps: Vec<_>, way: &str| {
            let overhead = self.overhead(&steps);
            let label = format!("cross {name} {way}");
            network.add_route(ends, 0, steps, overhead.map(|most| (most, label.as_str())))
        };
        let (out, back) = (route((sender, sink), out, "out"), route((sink, sender), back, "back"));
        let start = self.origin - cross.lead;
        let end = self.origin + self.scenario.run.time;
        let share = varying(&cross.load, (self.seeds, seeds.stream("load")), start, &format!("{key}.load"))?;
        let source = BackgroundSource::new(&load(cross), Box::new(share), rate, &seeds, start, end);
        let config = self.tcp_config(&cross.tcp, &format!("{key}.tcp"), false)?;
        let windows = self.windows(&config, CROSS_WINDOWS, &format!("{key}.tcp"))?;
        let sender = Sender::new(config.clone(), windows);
        network.add_agent(id, BackgroundSender::new(source, sender, out));
        network.add_agent(id, BackgroundSink::new(config, back));
        let window = Window { from: self.origin + self.scenario.run.warmup, to: end };
        Ok(BackgroundMeter::new(name.to_owned(), rate, window))
    }
}

/// The ends of a connection.
fn connection(network: &mut Network<Metrics>, common: Common<'_>, sender: Sender) -> (AgentId, AgentId) {
    let routes = |side: usize| common.paths.iter().map(|path| path.routes[side]).collect::<Vec<RouteId>>();
    let (out, back) = (routes(0), routes(1));
    let plan = subflows(&common.paths, common.order(), common.start);
    let stop = common.flow.stop.map(|_| common.end);
    let receiver = TcpReceiver::new(sender.config().clone(), back);
    let sender = TcpSender::new(sender, common.feed, (common.start, stop), out, plan);
    (network.add_agent(common.id, sender), network.add_agent(common.id, receiver))
}

/// Times at which subflows join and leave. The primary path comes first. By default all subflows join at the start.
fn subflows(paths: &[BuiltPath], order: impl Iterator<Item = usize>, start: Instant) -> Vec<SubflowPlan> {
    let mut plan = Vec::new();
    for i in order {
        let path = i as u8;
        plan.push(SubflowPlan { path, at: paths[i].join.unwrap_or(start).max(start), joins: true });
        plan.extend(paths[i].leave.map(|at| SubflowPlan { path, at, joins: false }));
    }
    plan.sort_by_key(|change| change.at);
    plan
}

/// Returns the background load in the form of its source.
fn load(cross: &Cross) -> BackgroundLoad {
    let size = |size: &scenario::PacketSize| PacketSize { bytes: size.bytes, share: size.share };
    BackgroundLoad {
        tcp_share: cross.tcp_share,
        sizes: cross.sizes.values().map(size).collect(),
        on: cross.on,
        off: cross.off,
        shape: cross.shape,
        sources: cross.sources,
    }
}

/// Reverses a route of links.
fn backwards(hops: &[Hop]) -> Vec<Hop> {
    let turned = |hop: &Hop| match hop.clone() {
        Hop::Link { link, reverse } => Hop::Link { link, reverse: !reverse },
        Hop::Radio { radio, from, to } => Hop::Radio { radio, from: to, to: from },
    };
    hops.iter().rev().map(turned).collect()
}
