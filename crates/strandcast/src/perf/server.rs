//! The server's side of measurements. The server serves one client at a time.

use std::time::Duration;

use strandcast_proto::app::App;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

use super::bulk::{Receiving, Sending};
use super::client::coding;
use super::control::{BULK, BUSY, CONTROL, Control, MAX_MESSAGE, MAX_TIME, MIN_MESSAGE, Totals, VERSION};
use super::usage::Cpu;
use crate::live::parts::REFUSED;
use crate::text::quoted;

/// If a client sends nothing for this time, the server drops the client and serves the next one.
const RESULT_TIMEOUT: Duration = Duration::from_secs(30);
/// While other clients wait, maximum time for which a client is served. Afterwards the next client replaces it, so that
/// no client blocks the server forever.
const TURN: Duration = Duration::from_secs(600);

/// Reason for refusing a peer that sends media, if the configuration gives no other.
pub(super) const NO_STREAM: &str = "this is a server of measurements, and plays no stream";

/// Reports of a running server.
#[derive(Debug)]
pub(super) enum Served {
    /// A client starts.
    Begun {
        /// Address of the client.
        client: String,
        /// True if the client receives.
        reverse: bool,
    },
    /// A client's measurement has ended. Contains the totals of the receiver, and the processor time of the server.
    Done(Totals, Cpu),
    /// A diagnostic line of the scheme with which the server sends.
    Diagnostic(String),
    /// A client has left after its measurement.
    Left,
    /// A client was refused or lost. Contains one line with the reason.
    Failed(String),
}

#[derive(Debug)]
enum Phase {
    Waiting,
    Sending(Sending),
    Receiving(Receiving),
}

/// The client that the server is serving.
#[derive(Debug)]
struct ActiveClient {
    id: AssociationId,
    phase: Phase,
    cpu: Cpu,
    began: Instant,
    /// Time at which the last packet was received.
    last_received: Instant,
    finished: bool,
}

/// Serves one client at a time.
pub(super) struct Desk {
    client: Option<ActiveClient>,
    served: UnboundedSender<Served>,
    readable: bool,
    /// Reason for refusing a peer that sends media.
    no_stream: String,
}

impl Desk {
    /// Makes a server without a client. `no_stream` is the reason for refusing a peer that sends media.
    pub(super) fn new(served: UnboundedSender<Served>, no_stream: &str) -> Self {
        // After a reason with this prefix, a sender of media does not connect again.
        Desk { client: None, served, readable: false, no_stream: format!("{REFUSED}{no_stream}") }
    }

    /// Sends an event. If the receiver of events was dropped, nothing happens.
    fn report(&self, what: Served) {
        let _ = self.served.send(what);
    }

    fn welcome(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        if self.client.as_ref().is_some_and(|client| now >= client.began + TURN) {
            self.dismiss(endpoint, "ten minutes are over, and another client has come");
        }
        if self.client.is_some() {
            endpoint.abort(id, BUSY);
            self.report(Served::Failed(format!("{} turned away: busy", peer(endpoint, id))));
            return;
        }
        let (phase, cpu) = (Phase::Waiting, Cpu::now());
        self.client = Some(ActiveClient { id, phase, cpu, began: now, last_received: now, finished: false });
    }

    fn read(&mut self, now: Instant, endpoint: &mut Endpoint) {
        let Some(id) = self.client.as_ref().map(|g| g.id) else { return };
        while let Some(message) = endpoint.recv(id) {
            let Some(client) = &mut self.client else { return };
            client.last_received = now;
            match (message.stream.0, &mut client.phase) {
                (BULK, Phase::Receiving(receiving)) => receiving.on_message(now, message.payload.len()),
                (CONTROL, _) => match Control::parse(&message.payload) {
                    Some(control) => self.on_control(now, endpoint, control),
                    // A message of a media sender begins with 1 or 0: the sender names its stream, or reports that it
                    // has no input.
                    None if matches!(message.payload.first(), Some(0 | 1)) => self.refuse_media(endpoint),
                    None => self.dismiss(endpoint, "not a client of measurements"),
                },
                (BULK, Phase::Waiting) => self.refuse_media(endpoint),
                _ => {}
            }
        }
        let Some(client) = &mut self.client else { return };
        if let Phase::Receiving(receiving) = &client.phase
            && receiving.complete()
            && !client.finished
        {
            client.finished = true;
            let (totals, cpu) = (receiving.totals(), Cpu::now() - client.cpu);
            self.answer(now, endpoint, &Control::Result { totals, cpu });
            self.report(Served::Done(totals, cpu));
            self.report_coding(endpoint, id);
        }
    }

    /// Reports the counters of symbols, if there were any symbols.
    fn report_coding(&self, endpoint: &Endpoint, id: AssociationId) {
        let line = endpoint.association(id).and_then(coding).map(|coding| coding.line());
        line.into_iter().for_each(|line| self.report(Served::Diagnostic(line)));
    }

    fn on_control(&mut self, now: Instant, endpoint: &mut Endpoint, control: Control) {
        let Some(client) = &mut self.client else { return };
        let id = client.id;
        match (control, &mut client.phase) {
            (Control::Start { version, reverse, time_ms, message }, Phase::Waiting) => {
                let longest = endpoint.association(id).map_or(1200, |a| a.max_unfragmented());
                let size = if message == 0 { longest } else { message as usize };
                let time = Duration::from_millis(time_ms);
                if version != VERSION {
                    let words = format!(
                        "the server has version {VERSION} of measurements, and the client {version}: update one"
                    );
                    return self.dismiss(endpoint, &words);
                }
                if time > MAX_TIME {
                    let (asked, most) = (time.as_secs_f64(), MAX_TIME.as_secs());
                    let words =
                        format!("a measurement of {asked} s is refused: the server takes at most {most} s");
                    return self.dismiss(endpoint, &words);
                }
                if message != 0 && !(MIN_MESSAGE..=MAX_MESSAGE).contains(&message) {
                    let words = format!(
                        "messages of {message} bytes are refused: the server takes {MIN_MESSAGE} to {MAX_MESSAGE} bytes"
                    );
                    return self.dismiss(endpoint, &words);
                }
                client.cpu = Cpu::now();
                client.phase = if reverse {
                    Phase::Sending(Sending::new(now, size, time))
                } else {
                    Phase::Receiving(Receiving::default())
                };
                let client = peer(endpoint, id);
                self.answer(now, endpoint, &Control::Ready);
                self.report(Served::Begun { client, reverse });
            }
            (Control::End(totals), Phase::Receiving(receiving)) => receiving.on_end(totals),
            (Control::Result { totals, .. }, Phase::Sending(sending)) => {
                client.finished = true;
                let (sent, cpu) = (sending.totals(), Cpu::now() - client.cpu);
                self.answer(now, endpoint, &Control::Result { totals: sent, cpu });
                self.report(Served::Done(totals, cpu));
                self.report_coding(endpoint, id);
                if let Some(association) = endpoint.association(id) {
                    let line = |diagnostic| format!("scheme {}: {diagnostic}", association.scheme().name());
                    association
                        .diagnostics(now)
                        .into_iter()
                        .for_each(|r| self.report(Served::Diagnostic(line(r))));
                }
            }
            _ => self.dismiss(endpoint, "out of turn"),
        }
    }

    /// Sends a control message. If that fails, the association has ended and reports it.
    fn answer(&self, now: Instant, endpoint: &mut Endpoint, control: &Control) {
        if let Some(client) = &self.client {
            let _ = endpoint.send(now, client.id, control.to_bytes(), Control::options());
        }
    }

    fn refuse_media(&mut self, endpoint: &mut Endpoint) {
        let words = self.no_stream.clone();
        self.dismiss(endpoint, &words);
    }

    fn dismiss(&mut self, endpoint: &mut Endpoint, words: &str) {
        if let Some(client) = self.client.take() {
            let (peer, why) = (peer(endpoint, client.id), words.strip_prefix(REFUSED).unwrap_or(words));
            self.report(Served::Failed(format!("{peer} dismissed: {why}")));
            endpoint.abort(client.id, words);
        }
    }
}

/// Returns the reason why a client has left, in words that follow its name.
fn left(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Shutdown | CloseReason::Aborted => "left before its result".into(),
        CloseReason::PeerAborted(words) => format!("broke off: {}", quoted(words)),
        CloseReason::Protocol(words) => format!("breaks the protocol: {}", quoted(words)),
        _ => "can no longer be reached".into(),
    }
}

/// Returns the address of the peer, if it is known.
fn peer(endpoint: &Endpoint, id: AssociationId) -> String {
    let association = endpoint.association(id);
    let tuple = association.and_then(|a| a.paths().iter().find_map(|p| a.tuple(p.id)));
    tuple.map_or_else(|| "a client".to_owned(), |t| t.remote.to_string())
}

impl App for Desk {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        let own = self.client.as_ref().is_some_and(|g| g.id == id);
        match event {
            Event::Connected { .. } => self.welcome(now, endpoint, id),
            Event::Readable if own => self.readable = true,
            Event::Writable if own => {
                if let Some(ActiveClient { phase: Phase::Sending(sending), .. }) = &mut self.client {
                    sending.on_writable();
                }
            }
            Event::Closed(reason) => {
                if own {
                    self.read(now, endpoint);
                }
                match self.client.take_if(|_| own) {
                    Some(client) if client.finished => self.report(Served::Left),
                    Some(_) => {
                        self.report(Served::Failed(format!("{} {}", peer(endpoint, id), left(reason))))
                    }
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
        let Some(client) = &mut self.client else { return };
        let id = client.id;
        if let Phase::Sending(sending) = &mut client.phase {
            if !sending.ended {
                client.last_received = now;
            }
            sending.poll(now, endpoint, id);
        }
        if now >= client.last_received + RESULT_TIMEOUT {
            self.dismiss(endpoint, "silent for 30 s");
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let client = self.client.as_ref()?;
        let end = match &client.phase {
            Phase::Sending(sending) => sending.poll_timeout(),
            _ => None,
        };
        end.into_iter().chain([client.last_received + RESULT_TIMEOUT]).min()
    }
}
