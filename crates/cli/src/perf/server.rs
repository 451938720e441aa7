//! The server's side of measurements, one client at a time.

use super::bulk::{Receiving, Sending};
use super::control::{BULK, BUSY, CONTROL, Control, LARGEST, SMALLEST, Totals, VERSION};
use super::usage::Cpu;
use crate::print::said;
use std::time::Duration;
use strandcast_proto::app::App;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

/// A client says nothing for so long: it is given up, so that the next one gets its turn.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest measurement served.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What the server tells while it runs.
#[derive(Debug)]
pub(super) enum Served {
    /// A client begins.
    Begun {
        /// Its address.
        client: String,
        /// It wants to receive.
        reverse: bool,
    },
    /// A client's measurement is over: what was received by whoever received, and the processor time here.
    Done(Totals, Cpu),
    /// What the scheme that sent has to say.
    Remark(String),
    /// A client is gone after its measurement.
    Left,
    /// A client was turned away or lost, in one line.
    Failed(String),
}

#[derive(Debug)]
enum Phase {
    Waiting,
    Sending(Sending),
    Receiving(Receiving),
}

/// The client being served.
#[derive(Debug)]
struct Guest {
    id: AssociationId,
    phase: Phase,
    cpu: Cpu,
    /// When something last came.
    heard: Instant,
    finished: bool,
}

/// Serves one client at a time.
pub(super) struct Server {
    guest: Option<Guest>,
    served: UnboundedSender<Served>,
    readable: bool,
}

impl Server {
    /// A server without client.
    pub(super) fn new(served: UnboundedSender<Served>) -> Self {
        Server { guest: None, served, readable: false }
    }

    /// Nobody listens any more: then nobody misses it.
    fn tell(&self, what: Served) {
        let _ = self.served.send(what);
    }

    fn welcome(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        if self.guest.is_some() {
            endpoint.abort(id, BUSY);
            self.tell(Served::Failed(format!("{} turned away: busy", peer(endpoint, id))));
            return;
        }
        let (phase, cpu) = (Phase::Waiting, Cpu::now());
        self.guest = Some(Guest { id, phase, cpu, heard: now, finished: false });
    }

    fn read(&mut self, now: Instant, endpoint: &mut Endpoint) {
        let Some(id) = self.guest.as_ref().map(|g| g.id) else { return };
        while let Some(message) = endpoint.recv(id) {
            let Some(guest) = &mut self.guest else { return };
            guest.heard = now;
            match (message.stream.0, &mut guest.phase) {
                (BULK, Phase::Receiving(receiving)) => receiving.on_message(now, message.payload.len()),
                (CONTROL, _) => match Control::parse(&message.payload) {
                    Some(control) => self.on_control(now, endpoint, control),
                    None => self.dismiss(endpoint, "not a strandcast perf client"),
                },
                _ => {}
            }
        }
        let Some(guest) = &mut self.guest else { return };
        if let Phase::Receiving(receiving) = &guest.phase
            && receiving.complete()
            && !guest.finished
        {
            guest.finished = true;
            let (totals, cpu) = (receiving.totals(), Cpu::now() - guest.cpu);
            self.answer(now, endpoint, &Control::Result { totals, cpu });
            self.tell(Served::Done(totals, cpu));
        }
    }

    fn on_control(&mut self, now: Instant, endpoint: &mut Endpoint, control: Control) {
        let Some(guest) = &mut self.guest else { return };
        let id = guest.id;
        match (control, &mut guest.phase) {
            (Control::Start { version, reverse, time_ms, message }, Phase::Waiting) => {
                let longest = endpoint.association(id).map_or(1200, |a| a.max_unfragmented());
                let size = if message == 0 { longest } else { message as usize };
                let time = Duration::from_millis(time_ms);
                if version != VERSION || time > LONGEST {
                    return self.dismiss(endpoint, "another version of strandcast perf");
                }
                if message != 0 && !(SMALLEST..=LARGEST).contains(&message) {
                    let words = format!("messages of {message} bytes: {SMALLEST} to {LARGEST} are served");
                    return self.dismiss(endpoint, &words);
                }
                guest.cpu = Cpu::now();
                guest.phase = if reverse {
                    Phase::Sending(Sending::new(now, size, time))
                } else {
                    Phase::Receiving(Receiving::default())
                };
                let client = peer(endpoint, id);
                self.answer(now, endpoint, &Control::Ready);
                self.tell(Served::Begun { client, reverse });
            }
            (Control::End(totals), Phase::Receiving(receiving)) => receiving.on_end(totals),
            (Control::Result { totals, .. }, Phase::Sending(sending)) => {
                guest.finished = true;
                let (sent, cpu) = (sending.totals(), Cpu::now() - guest.cpu);
                self.answer(now, endpoint, &Control::Result { totals: sent, cpu });
                self.tell(Served::Done(totals, cpu));
                if let Some(association) = endpoint.association(id) {
                    let line = |remark| format!("scheme {}: {remark}", association.scheme_name());
                    association.remarks(now).into_iter().for_each(|r| self.tell(Served::Remark(line(r))));
                }
            }
            _ => self.dismiss(endpoint, "out of turn"),
        }
    }

    /// A control message to the client; if it does not go out, the association is at its end and says so itself.
    fn answer(&self, now: Instant, endpoint: &mut Endpoint, control: &Control) {
        if let Some(guest) = &self.guest {
            let _ = endpoint.send(now, guest.id, control.to_bytes(), Control::options());
        }
    }

    fn dismiss(&mut self, endpoint: &mut Endpoint, words: &str) {
        if let Some(guest) = self.guest.take() {
            self.tell(Served::Failed(format!("{} dismissed: {words}", peer(endpoint, guest.id))));
            endpoint.abort(guest.id, words);
        }
    }
}

/// Why a client is gone, after its name.
fn left(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Shutdown | CloseReason::Aborted => "left before its result".into(),
        CloseReason::PeerAborted(words) => format!("broke off: {}", said(words)),
        CloseReason::Protocol(words) => format!("breaks the protocol: {}", said(words)),
        _ => "can no longer be reached".into(),
    }
}

/// The address of the other side, as far as it is known.
fn peer(endpoint: &Endpoint, id: AssociationId) -> String {
    let association = endpoint.association(id);
    let tuple = association.and_then(|a| a.paths().iter().find_map(|p| a.tuple(p.id)));
    tuple.map_or_else(|| "a client".to_owned(), |t| t.remote.to_string())
}

impl App for Server {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        let own = self.guest.as_ref().is_some_and(|g| g.id == id);
        match event {
            Event::Connected { .. } => self.welcome(now, endpoint, id),
            Event::Readable if own => self.readable = true,
            Event::Writable if own => {
                if let Some(Guest { phase: Phase::Sending(sending), .. }) = &mut self.guest {
                    sending.on_writable();
                }
            }
            Event::Closed(reason) => {
                if own {
                    self.read(now, endpoint);
                }
                match self.guest.take_if(|_| own) {
                    Some(guest) if guest.finished => self.tell(Served::Left),
                    Some(_) => self.tell(Served::Failed(format!("{} {}", peer(endpoint, id), left(reason)))),
                    None => {}
                }
                endpoint.release(id);
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if std::mem::take(&mut self.readable) {
            self.read(now, endpoint);
        }
        let Some(guest) = &mut self.guest else { return };
        let id = guest.id;
        if let Phase::Sending(sending) = &mut guest.phase {
            if !sending.ended {
                guest.heard = now;
            }
            sending.poll(now, endpoint, id);
        }
        if now >= guest.heard + PATIENCE {
            self.dismiss(endpoint, "silent for 30 s");
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let guest = self.guest.as_ref()?;
        let end = match &guest.phase {
            Phase::Sending(sending) => sending.poll_timeout(),
            _ => None,
        };
        end.into_iter().chain([guest.heard + PATIENCE]).min()
    }
}
