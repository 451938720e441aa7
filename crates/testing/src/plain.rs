//! The smallest scheme that works. Each path has a fixed window, paths are used in turn, and fast retransmit is split
//! (SFR).

use strandcast_proto::policy::{
    AckInfo, Act, Assignment, Backlog, ChunkInfo, CongestionControl, Feedback, Flight, Limit, LossCause,
    LossPolicy, Parts, PathId, Policy, Retransmit, Scheduler, Scheme, SymbolAssignment, SymbolChoice, View,
};

pub const WINDOW: u64 = 48_000;

#[derive(Debug)]
struct Fixed(u64);
impl Policy for Fixed {}
impl CongestionControl for Fixed {
    fn limit(&self, _: PathId) -> Limit {
        Limit { cwnd: self.0, ssthresh: None, pacing: None }
    }
}

#[derive(Debug)]
struct InTurn;
impl Policy for InTurn {}
impl Scheduler for InTurn {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let after = view.last_path_used.map_or(0, |p| p.index() + 1);
        let mut with_room = view.usable_paths().filter(|p| p.has_room()).map(|p| p.id);
        let first = with_room.next()?;
        let next = core::iter::once(first).chain(with_room).find(|p| p.index() >= after);
        Some(Assignment::on(next.unwrap_or(first), 1))
    }
}

#[derive(Debug)]
pub struct Split;
impl Policy for Split {}
impl LossPolicy for Split {
    fn misses(&mut self, _: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        let Some((_, highest)) = ack.newly_acked_range else { return 0 };
        let sent_later = |next| !highest.is_before(next);
        u8::from(chunk.on(ack.path).is_some_and(|t| t.in_flight && sent_later(t.next_tsn)))
    }

    fn retransmit(&mut self, view: &View<'_>, _: &ChunkInfo, _: LossCause) -> Retransmit {
        let best = view.usable_paths().max_by_key(|p| (p.room(), std::cmp::Reverse(p.id)));
        best.map_or(Retransmit::Hold, |p| Retransmit::On(p.id))
    }
}

#[derive(Debug)]
struct Plain;
impl Policy for Plain {}
impl Feedback for Plain {}

pub fn simple() -> Box<dyn Scheme> {
    windowed(WINDOW)
}

pub fn windowed(window: u64) -> Box<dyn Scheme> {
    Box::new(parts(window))
}

/// Returns the parts of the scheme. A test may replace some of them.
pub fn parts(window: u64) -> Parts {
    Parts {
        name: "simple".into(),
        estimators: Vec::new(),
        loss: Box::new(Split),
        cc: Box::new(Fixed(window)),
        scheduler: Box::new(InTurn),
        feedback: Box::new(Plain),
    }
}

/// Loss policy [`Split`] that also requests arrivals and acts. The policy never requests an action.
#[derive(Debug)]
struct Watching;
impl Policy for Watching {
    fn hears_arrivals(&self) -> bool {
        true
    }

    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        let oldest = view.paths.iter().filter_map(|p| flight.on(p.id).next()?.transmissions.last());
        core::hint::black_box(oldest.map(|t| t.at).min());
        None
    }
}
impl LossPolicy for Watching {
    fn misses(&mut self, view: &View<'_>, ack: &AckInfo, chunk: &ChunkInfo) -> u8 {
        Split.misses(view, ack, chunk)
    }

    fn retransmit(&mut self, view: &View<'_>, chunk: &ChunkInfo, cause: LossCause) -> Retransmit {
        Split.retransmit(view, chunk, cause)
    }
}

/// Returns the scheme with fixed windows that visits the oldest chunk in flight on each path whenever it may act.
pub fn watching(window: u64) -> Box<dyn Scheme> {
    Box::new(Parts { loss: Box::new(Watching), ..parts(window) })
}

/// Scheduler of symbols in blocks. The scheduler sends source symbols in order, if it sends any, and repair symbols
/// until each block has the needed number and `margin` more in flight. Each symbol takes the path with the most room.
#[derive(Debug)]
pub struct Symbols {
    pub sources: bool,
    pub margin: u32,
}
impl Policy for Symbols {}
impl Scheduler for Symbols {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        InTurn.next(view, backlog)
    }

    fn next_symbol(&mut self, view: &View<'_>, _: &Backlog) -> Option<SymbolAssignment> {
        let with_room = view.usable_paths().filter(|p| p.has_room());
        let path = with_room.max_by_key(|p| (p.room(), std::cmp::Reverse(p.id)))?.id;
        let chosen = view.blocks.iter().find_map(|b| {
            if self.sources && b.sources_sent < b.sources {
                return Some((b.number, SymbolChoice::Source));
            }
            let flying: u32 = b.in_flight.iter().map(|f| f.sources + f.repairs).sum();
            let wants = u32::from(b.sources) + self.margin;
            (b.closed && u32::from(b.rank) + flying < wants).then_some((b.number, SymbolChoice::Repair))
        });
        chosen.map(|(block, what)| SymbolAssignment { path, block, what })
    }
}

/// Returns a scheme of a fixed window and [`Symbols`].
pub fn symbols(sources: bool, margin: u32) -> Box<dyn Scheme> {
    windowed_symbols(WINDOW, sources, margin)
}

pub fn windowed_symbols(window: u64, sources: bool, margin: u32) -> Box<dyn Scheme> {
    Box::new(Parts { scheduler: Box::new(Symbols { sources, margin }), ..parts(window) })
}
