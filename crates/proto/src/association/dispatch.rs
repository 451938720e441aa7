//! Packets in: which chunk means what (RFC 9260 §8.5, §3.2).

use bytes::Bytes;

use super::data_rx::PacketData;
use super::event::CloseReason;
use super::join::From;
use super::state::{Association, State};
use crate::path::FourTuple;
use crate::policy::PathId;
use crate::time::Instant;
use crate::wire::chunk::{Abort, Asconf, AsconfAck, ChunkEncode as _, ErrorChunk, Init, UnknownChunk};
use crate::wire::{Cause, Chunk, Packet, Param, Span};

/// Requests of an ASCONF that are answered, and its bytes; the answer is kept, in case it is asked for again.
const MAX_ASCONF_PARAMS: usize = 64;
const MAX_ASCONF: usize = 2048;

/// What is known while the chunks of one packet are read.
struct Reading<'a> {
    packet: &'a Packet,
    on: PathId,
    from: From,
    /// A good AUTH chunk came before.
    authenticated: bool,
    data: PacketData,
}

/// Whether the rest of a packet is read.
#[derive(PartialEq, Eq)]
enum Go {
    On,
    Stop,
}

impl Association {
    /// Takes a packet with the right verification tag from `tuple`.
    pub(crate) fn handle_packet(&mut self, now: Instant, tuple: FourTuple, packet: &Packet) {
        if self.state == State::Closed {
            return;
        }
        let len = packet.bytes().len();
        let path = self.path_of(&tuple).or_else(|| self.candidate_of(&tuple));
        let Some(on) = path.or_else(|| self.follow_port(now, tuple)) else {
            self.stranger(now, tuple, packet);
            return;
        };
        self.earn(on, &tuple, len);
        let there = self.paths[on.index()].tuple == tuple;
        if !there {
            self.probe_candidate(now, on);
        }
        let from = From { path: Some(on).filter(|_| there), tuple };
        let p = &mut self.paths[on.index()];
        p.stats.packets_received += 1;
        p.stats.bytes_received += packet.bytes().len() as u64;
        p.last_heard = Some(now);
        self.silence_ends();
        self.tx.pick = None;
        self.driver.set_held(false);
        let mut reading = Reading { packet, on, from, authenticated: false, data: PacketData::default() };
        for chunk in packet.chunks() {
            match chunk {
                Ok((span, chunk)) => {
                    if self.on_chunk(now, span, chunk, &mut reading) == Go::Stop {
                        break;
                    }
                }
                Err(_) => self.stats.bad_chunks += 1,
            }
        }
        self.after_packet(now, on, len as u64, &reading.data);
        self.maybe_progress_shutdown(now);
    }

    /// What follows a batch of input or a timeout: reports that travel on their own, heartbeats the scheme asks for.
    pub(crate) fn after_input(&mut self, now: Instant) {
        if self.speaks() {
            if let Some(reports) = self.collect_reports(now, crate::policy::Occasion::Tick) {
                self.push_control_anywhere(reports);
            }
            self.maybe_heartbeat(now);
        }
    }

    /// A packet from a 4-tuple that is no path: only authenticated reports on paths are read.
    fn stranger(&mut self, now: Instant, tuple: FourTuple, packet: &Packet) {
        self.stats.bad_packets += 1;
        let from = From { path: None, tuple };
        let mut authenticated = false;
        let mut heartbeats = Vec::new();
        for (span, chunk) in packet.chunks().flatten() {
            match chunk {
                Chunk::Auth(auth) => {
                    authenticated = self.auth.as_ref().is_some_and(|keys| keys.verify(packet, span, &auth));
                    self.stats.bad_auth += u64::from(!authenticated);
                }
                Chunk::Report(report) if authenticated => self.on_report(now, report, from, true),
                Chunk::Heartbeat(h) if authenticated => heartbeats.push(h),
                _ => {}
            }
        }
        let path = self.path_of(&tuple).or_else(|| self.candidate_of(&tuple));
        if let Some(path) = path.filter(|_| authenticated) {
            self.stats.bad_packets -= 1;
            self.earn(path, &tuple, packet.bytes().len());
            self.paths[path.index()].last_heard = Some(now);
            self.silence_ends();
            for h in heartbeats {
                self.on_heartbeat(now, h, path, &tuple);
            }
            self.probe_candidate(now, path);
        }
    }

    fn on_chunk(&mut self, now: Instant, span: Span, chunk: Chunk, r: &mut Reading<'_>) -> Go {
        match chunk {
            Chunk::Data(data) => self.on_data(now, data, r.on, &mut r.data),
            Chunk::Sack(sack) => {
                self.stats.sacks_received += 1;
                if self.takes_acks() {
                    self.on_sack(now, &sack, r.on);
                }
            }
            Chunk::Heartbeat(h) if self.state != State::CookieWait => {
                self.on_heartbeat(now, h, r.on, &r.from.tuple)
            }
            Chunk::HeartbeatAck(h) => self.on_heartbeat_ack(now, &h.info),
            Chunk::ForwardTsn(f) => self.on_forward_tsn(now, &f, r.on),
            Chunk::Auth(auth) => {
                r.authenticated = self.auth.as_ref().is_some_and(|k| k.verify(r.packet, span, &auth));
                if !r.authenticated {
                    // RFC 4895 §6.3: a packet whose HMAC is wrong is discarded.
                    self.stats.bad_auth += 1;
                    return Go::Stop;
                }
            }
            Chunk::Report(report) => self.on_report(now, report, r.from, r.authenticated),
            Chunk::InitAck(ack) => self.on_init_ack(now, &ack, r.on),
            Chunk::CookieAck(_) => self.on_cookie_ack(now, r.on),
            Chunk::Abort(abort) => {
                self.on_abort(&abort);
                return Go::Stop;
            }
            Chunk::Shutdown(s) => self.on_shutdown(now, s, r.on),
            Chunk::ShutdownAck(_) => self.on_shutdown_ack(r.on),
            Chunk::ShutdownComplete(_) => self.on_shutdown_complete(),
            Chunk::Error(error) => self.on_error(now, &error),
            Chunk::Asconf(_) | Chunk::AsconfAck(_) if !r.authenticated => self.stats.bad_auth += 1,
            Chunk::Asconf(a) => self.on_asconf(&a, r.on),
            Chunk::Unknown(unknown) => return self.on_unknown(&unknown, r.packet.chunk_bytes(span), r.on),
            // Negotiated away (I-DATA, I-FORWARD-TSN, RE-CONFIG), or the endpoint's business (INIT, COOKIE ECHO).
            Chunk::IData(_) | Chunk::IForwardTsn(_) | Chunk::ReConfig(_) | Chunk::AsconfAck(_) => {
                self.stats.bad_chunks += 1;
            }
            Chunk::Init(_) | Chunk::CookieEcho(_) | Chunk::Heartbeat(_) => {}
        }
        if self.state == State::Closed { Go::Stop } else { Go::On }
    }

    fn takes_acks(&self) -> bool {
        use State::{Closed, CookieWait, ShutdownAckSent};
        !matches!(self.state, CookieWait | Closed | ShutdownAckSent)
    }

    fn on_abort(&mut self, abort: &Abort) {
        let words: Vec<String> = abort.causes.iter().map(words_of).collect();
        let words = if words.is_empty() { "no reason given".to_owned() } else { words.join("; ") };
        self.control.clear();
        // A peer that does not know us any more once everything was delivered has closed: its last word was lost.
        let done = self.state == State::ShutdownAckSent && abort.reflected_tag;
        self.close(if done { CloseReason::Shutdown } else { CloseReason::PeerAborted(words) });
    }

    fn on_error(&mut self, now: Instant, error: &ErrorChunk) {
        for cause in &error.causes {
            if matches!(cause, Cause::StaleCookie { .. }) && self.state == State::CookieEchoed {
                // RFC 9260 §5.2.6: begin again with a new INIT.
                self.cookie = None;
                self.state = State::CookieWait;
                self.t1 = Some(now);
            } else {
                self.stats.peer_errors += 1;
            }
        }
    }

    fn on_unknown(&mut self, chunk: &UnknownChunk, bytes: Bytes, on: PathId) -> Go {
        let action = chunk.action();
        if action.reports() {
            self.push_control(on, ErrorChunk { causes: vec![Cause::UnrecognizedChunkType(bytes)] });
        }
        if action.stops() { Go::Stop } else { Go::On }
    }

    /// Tells the peer which parameters of its INIT ACK were not understood, where they ask for it.
    pub(super) fn report_unrecognized(&mut self, init: &Init) {
        for p in &init.params {
            if let Param::Unknown(u) = p {
                if u.action().reports() {
                    let cause = Cause::UnrecognizedParameters(p.to_bytes());
                    self.push_control_anywhere(ErrorChunk { causes: vec![cause] });
                }
                if u.action().stops() {
                    break;
                }
            }
        }
    }

    /// ASCONF (RFC 5061 §5.2): answered, each request refused; paths change by REPORT here.
    fn on_asconf(&mut self, asconf: &Asconf, on: PathId) {
        if let Some((serial, answer)) = &self.asconf
            && *serial == asconf.serial
        {
            let answer = answer.clone();
            self.push_control(on, answer);
            return;
        }
        if asconf.params.len() > MAX_ASCONF_PARAMS || asconf.encoded_len() > MAX_ASCONF {
            self.stats.bad_chunks += 1;
            return;
        }
        let refuse = |p: &Param| {
            let correlation_id = match p {
                Param::AddIpAddress(r) | Param::DeleteIpAddress(r) | Param::SetPrimaryAddress(r) => {
                    r.correlation_id
                }
                _ => return None,
            };
            let causes = vec![Cause::OperationRefused(p.to_bytes())];
            Some(Param::ErrorCauseIndication { correlation_id, causes })
        };
        let params = asconf.params.iter().filter_map(refuse).collect();
        let answer = AsconfAck { serial: asconf.serial, params };
        self.asconf = Some((asconf.serial, answer.clone()));
        self.push_control(on, answer);
    }
}

/// An error cause for people.
fn words_of(cause: &Cause) -> String {
    match cause {
        Cause::UserInitiatedAbort(text) | Cause::ProtocolViolation(text) => {
            String::from_utf8_lossy(text).into_owned()
        }
        Cause::OutOfResource => "out of resource".into(),
        other => format!("{other:?}"),
    }
}
