//! Input of packets: each chunk goes to the part that handles it (RFC 9260 §8.5, §3.2).

use super::context::Context;
use super::lifecycle::State;
use super::path_manager::PacketOrigin;
use super::receiver::PacketData;
use super::shutdown::Closing;
use super::state::Association;
use crate::path::FourTuple;
use crate::policy::{PathId, ReportTrigger};
use crate::time::Instant;
use crate::wire::chunk::Auth;
use crate::wire::{Chunk, Packet, Span};

/// State while the chunks of one packet are read.
struct ParseContext<'a> {
    packet: &'a Packet,
    on: PathId,
    from: PacketOrigin,
    /// True after a correct AUTH chunk, or if the packet arrived through a seal.
    authenticated: bool,
    data: PacketData,
}

/// Decision whether to read the rest of a packet.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Stop,
}

impl Association {
    /// Handles a packet from `tuple` that has the correct verification tag.
    pub(crate) fn handle_packet(&mut self, now: Instant, tuple: FourTuple, packet: &Packet) {
        if self.cx.state == State::Closed {
            return;
        }
        let len = packet.bytes().len();
        let path = self.cx.path_of(&tuple).or_else(|| self.cx.candidate_of(&tuple));
        let Some(on) = path.or_else(|| self.cx.follow_port(now, tuple)) else {
            return self.on_unknown_source(now, tuple, packet);
        };
        self.cx.earn(on, &tuple, len);
        let there = self.cx.paths[on.index()].tuple == tuple;
        if !there {
            self.cx.probe_candidate(now, on);
        }
        let from = PacketOrigin { path: Some(on).filter(|_| there), tuple };
        self.cx.packet_came(now, on, &tuple, len);
        self.tx.reconsider();
        let (authenticated, data) = (self.cx.config.sealed(), PacketData::default());
        let mut reading = ParseContext { packet, on, from, authenticated, data };
        for chunk in packet.chunks() {
            match chunk {
                Ok((span, chunk)) => {
                    if self.on_chunk(now, span, chunk, &mut reading) == Flow::Stop {
                        break;
                    }
                }
                Err(_) => self.cx.stats.bad_chunks += 1,
            }
        }
        self.rx.after_packet(&mut self.cx, now, on, len as u64, &reading.data, self.tx.heap());
        self.progress_closing(now);
        self.let_go();
    }

    /// Sends reports and heartbeats that are due after a batch of input or a timeout.
    pub(crate) fn after_input(&mut self, now: Instant) {
        if self.cx.state.is_open() {
            if let Some(reports) = self.cx.collect_reports(now, ReportTrigger::Tick) {
                self.cx.push_control_anywhere(reports);
            }
            self.manager().probe_and_ask(now);
        }
        self.manager().give_up_reports(now);
        self.let_go();
    }

    /// Handles a packet from a 4-tuple without a path. Only authenticated reports about paths are read.
    fn on_unknown_source(&mut self, now: Instant, tuple: FourTuple, packet: &Packet) {
        self.cx.stats.bad_packets += 1;
        let from = PacketOrigin { path: None, tuple };
        let mut authenticated = self.cx.config.sealed();
        let mut heartbeats = Vec::new();
        for (span, chunk) in packet.chunks().flatten() {
            match chunk {
                Chunk::Auth(auth) if !authenticated => {
                    authenticated = is_signed(&mut self.cx, packet, span, &auth);
                    if !authenticated {
                        break;
                    }
                }
                Chunk::Report(report) if authenticated => self.manager().on_report(now, report, from, true),
                Chunk::Heartbeat(h) if authenticated => heartbeats.push(h),
                _ => {}
            }
        }
        let path = self.cx.path_of(&tuple).or_else(|| self.cx.candidate_of(&tuple));
        if let Some(path) = path.filter(|_| authenticated) {
            self.cx.stats.bad_packets -= 1;
            self.cx.earn(path, &tuple, packet.bytes().len());
            self.cx.paths[path.index()].last_received = Some(now);
            self.cx.silence_ends();
            for h in heartbeats {
                self.manager().on_heartbeat(now, h, path, &tuple);
            }
            self.cx.probe_candidate(now, path);
        }
        self.let_go();
    }

    pub(super) fn progress_closing(&mut self, now: Instant) {
        let (mut m, _, closing) = self.split();
        closing.progress(&mut m, now);
    }

    fn on_chunk(&mut self, now: Instant, span: Span, chunk: Chunk, r: &mut ParseContext<'_>) -> Flow {
        match chunk {
            Chunk::Data(data) => self.rx.on_data(&mut self.cx, now, data, r.on, &mut r.data, self.tx.heap()),
            Chunk::Sack(sack) => {
                self.cx.stats.sacks_received += 1;
                if self.cx.state.takes_acks() {
                    self.tx.on_sack(&mut self.cx, now, &sack, r.on);
                }
            }
            Chunk::Heartbeat(h) if self.cx.state != State::CookieWait => {
                self.manager().on_heartbeat(now, h, r.on, &r.from.tuple)
            }
            Chunk::HeartbeatAck(h) => self.manager().on_heartbeat_ack(now, &h.info),
            Chunk::ForwardTsn(f) => self.rx.on_forward_tsn(&mut self.cx, now, &f, r.on),
            Chunk::Auth(_) if r.authenticated => self.cx.stats.bad_chunks += 1,
            Chunk::Auth(auth) => {
                r.authenticated = is_signed(&mut self.cx, r.packet, span, &auth);
                if !r.authenticated {
                    // RFC 4895 §6.3: a packet with a wrong HMAC is discarded.
                    return Flow::Stop;
                }
            }
            Chunk::Report(report) => self.manager().on_report(now, report, r.from, r.authenticated),
            Chunk::InitAck(ack) => {
                let (mut m, handshake, _) = self.split();
                handshake.on_init_ack(&mut m, now, &ack, r.on);
            }
            Chunk::CookieAck(_) => {
                let (mut m, handshake, _) = self.split();
                handshake.on_cookie_ack(&mut m, now, r.on);
            }
            Chunk::Abort(abort) => {
                Closing::on_abort(&mut self.cx, &abort);
                return Flow::Stop;
            }
            Chunk::Shutdown(s) => {
                let (mut m, _, closing) = self.split();
                closing.on_shutdown(&mut m, now, s, r.on);
            }
            Chunk::ShutdownAck(_) => Closing::on_shutdown_ack(&mut self.cx, r.on),
            Chunk::ShutdownComplete(_) => Closing::on_shutdown_complete(&mut self.cx),
            Chunk::Error(error) => self.handshake.on_error(&mut self.cx, now, &error),
            Chunk::Asconf(_) | Chunk::AsconfAck(_) if !r.authenticated => self.cx.stats.bad_auth += 1,
            Chunk::Asconf(a) => self.asconf.answer(&mut self.cx, &a, r.on),
            Chunk::Unknown(unknown) => {
                self.cx.report_unknown(&unknown, r.packet.chunk_bytes(span), r.on);
                return if unknown.action().stops() { Flow::Stop } else { Flow::On };
            }
            // Not negotiated (I-DATA, I-FORWARD-TSN, RE-CONFIG), or for the endpoint (INIT, COOKIE ECHO).
            Chunk::IData(_) | Chunk::IForwardTsn(_) | Chunk::ReConfig(_) | Chunk::AsconfAck(_) => {
                self.cx.stats.bad_chunks += 1;
            }
            Chunk::Init(_) | Chunk::CookieEcho(_) | Chunk::Heartbeat(_) | Chunk::Pad(_) => {}
        }
        if self.cx.state == State::Closed { Flow::Stop } else { Flow::On }
    }
}

/// Returns whether an AUTH chunk is correct. Each call computes an HMAC over everything after the AUTH chunk, so call
/// it only once.
fn is_signed(cx: &mut Context, packet: &Packet, span: Span, auth: &Auth) -> bool {
    let right = cx.peer.keys.as_ref().is_some_and(|keys| keys.verify(packet, span, auth));
    cx.stats.bad_auth += u64::from(!right);
    right
}
