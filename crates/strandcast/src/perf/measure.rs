//! A measurement over real networks.

use std::net::SocketAddr;
use std::time::Duration;

use strandcast_net::driver::{self, Uplink};
use strandcast_net::interface::PathSpec;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::Instant;

use super::client::{Client, Report};
use super::control::{MAX_MESSAGE, MAX_TIME, MIN_MESSAGE, MIN_TIME};
use super::result::{Interval, Outcome, Setup};
use crate::UDP_PORT;
use crate::error::Error;
use crate::live::Taps;
use crate::pairing::{Destination, SealReports};
use crate::route;
use crate::scheme::Scheme;
use crate::transport::{TransportOptions, policies};

/// Timeout for the server's first answer.
const CONNECT: Duration = Duration::from_secs(8);
/// Timeout for the first answer of the server if the server has another host that can be tried.
const CONNECT_NEXT: Duration = Duration::from_secs(3);
/// Time limit for the last packets of an association.
const FAREWELL: Duration = Duration::from_secs(2);

/// A bulk transfer to or from a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measurement {
    /// The server.
    pub to: Destination,
    /// Scheme of the data that the client sends.
    pub scheme: Scheme,
    /// Paths of the client. Without any, all interfaces are used.
    pub paths: Vec<PathSpec>,
    /// Time to send, from [`MIN_TIME`] to [`MAX_TIME`].
    pub time: Duration,
    /// Bytes per message, from [`MIN_MESSAGE`] to [`MAX_MESSAGE`], or 0 for as many as fit in one packet.
    pub message: u32,
    /// True if the server sends.
    pub reverse: bool,
    /// Parameters of the transport.
    pub transport: TransportOptions,
}

/// A measurement whose server has addresses to which paths lead.
#[derive(Debug)]
pub struct Resolved {
    measurement: Measurement,
    /// Addresses of each host of the server.
    remotes: Vec<Vec<SocketAddr>>,
}

/// Progress of a measurement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Progress {
    /// The client connects over these paths.
    Connecting {
        /// Name of the server.
        to: String,
        /// The paths.
        over: String,
    },
    /// An interval has ended.
    Interval(Interval),
    /// A diagnostic line of the scheme.
    Diagnostic(String),
    /// The result is there. The client only waits until the server has it as well.
    Measured,
}

impl Measurement {
    /// Makes a measurement of ten seconds to this server.
    pub fn new(to: Destination, scheme: Scheme) -> Measurement {
        let (time, transport) = (Duration::from_secs(10), TransportOptions::default());
        Measurement { to, scheme, paths: Vec::new(), time, message: 0, reverse: false, transport }
    }

    /// Resolves the names of the server.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the time or the size of messages is out of its range. Returns [`Error::Network`] if a
    /// name has no address, or no path leads to the server.
    pub async fn resolve(self) -> Result<Resolved, Error> {
        self.check()?;
        let (remotes, _) = route::routes(&self.to.hosts, &self.paths.clone().into()).await?;
        Ok(Resolved { measurement: self, remotes })
    }

    /// Checks the ranges of the time and of the size of messages.
    fn check(&self) -> Result<(), Error> {
        if !(MIN_TIME..=MAX_TIME).contains(&self.time) {
            let seconds = self.time.as_secs_f64();
            return Err(Error::Usage(format!("a measurement of {seconds} s: expected 0.1 s to 86400 s")));
        }
        if self.message != 0 && !(MIN_MESSAGE..=MAX_MESSAGE).contains(&self.message) {
            let bytes = self.message;
            return Err(Error::Usage(format!(
                "messages of {bytes} bytes: expected {MIN_MESSAGE} to {MAX_MESSAGE} bytes, or 0"
            )));
        }
        Ok(())
    }

    fn setup(&self, host: usize) -> Setup {
        let host = &self.to.hosts[host];
        Setup {
            host: host.host.clone(),
            port: host.port.unwrap_or(UDP_PORT),
            scheme: self.scheme.name().to_owned(),
            time: self.time,
            message: self.message as usize,
            reverse: self.reverse,
        }
    }
}

impl Resolved {
    /// Measures, and reports the progress. `taps` observe every packet. Dropping the future ends the measurement. Call
    /// it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Peer`] if the server does not answer, refuses or leaves. Other errors are [`Error::Network`].
    pub async fn run(
        &self,
        taps: Option<&Taps>,
        mut report: impl FnMut(Progress),
    ) -> Result<Box<Outcome>, Error> {
        let Resolved { measurement, remotes } = self;
        let (paths, reports) = (measurement.paths.clone().into(), SealReports::default());
        let last = remotes.len().saturating_sub(1);
        for host in 0..remotes.len() {
            let limit = if host < last { CONNECT_NEXT } else { CONNECT };
            // If no path leads to the addresses of this host, the next host is tried.
            let Ok(uplinks) = route::uplinks(&paths, &route::in_turn(remotes, host)) else { continue };
            let (to, over) = (measurement.to.label.clone(), route::describe(&uplinks));
            report(Progress::Connecting { to, over });
            let attempt = Attempt { measurement, host, limit, taps, reports: &reports };
            if let Some(outcome) = attempt.run(uplinks, &mut report).await? {
                return Ok(outcome);
            }
        }
        Err(refused(&reports, &measurement.to, "the server does not answer"))
    }
}

/// An attempt to measure that begins with one of the server's hosts.
struct Attempt<'a> {
    measurement: &'a Measurement,
    host: usize,
    /// Time limit for the first answer.
    limit: Duration,
    taps: Option<&'a Taps>,
    reports: &'a SealReports,
}

impl Attempt<'_> {
    /// Measures. Returns `None` if the server does not answer in time.
    async fn run(
        &self,
        uplinks: Vec<Uplink>,
        report: &mut impl FnMut(Progress),
    ) -> Result<Option<Box<Outcome>>, Error> {
        let Attempt { measurement, reports, .. } = self;
        let Measurement { to, transport, .. } = measurement;
        let endpoint = transport.endpoint(&measurement.scheme, false);
        let (port, scheme) = (transport.sctp_port, policies(&measurement.scheme)?);
        let (seal, tap) = (reports.seal(to), self.taps.map(Taps::tap));
        let client = driver::Client { endpoint, uplinks, port, scheme, seal, tap };
        let (sends, mut progress) = unbounded_channel();
        let started = client.run(|_| Client::new(measurement.setup(self.host), sends));
        let (driver, _task) = started.map_err(|error| Error::Network(error.to_string()))?;
        let mut limit = Some(Instant::now() + self.limit);
        let outcome = loop {
            let next = tokio::select! {
                next = progress.recv() => next,
                () = sleep_until(limit) => return Ok(None),
            };
            match next {
                Some(Report::Connected) => limit = None,
                Some(Report::Interval(interval)) => report(Progress::Interval(interval)),
                Some(Report::Diagnostic(line)) => report(Progress::Diagnostic(line)),
                Some(Report::Done(outcome)) => break outcome,
                None => break Err("the transport stopped".into()),
            }
        };
        let outcome = outcome.map_err(|why| refused(reports, to, &why))?;
        report(Progress::Measured);
        // The server may have to retransmit its last packet, so that the client waits for a while.
        let _ = tokio::time::timeout(FAREWELL, driver.finished()).await;
        Ok(Some(Box::new(Outcome { cipher: reports.cipher(), ..*outcome })))
    }
}

/// Returns the reason why there was no measurement. If encryption failed, its more precise reason is used.
fn refused(reports: &SealReports, to: &Destination, why: &str) -> Error {
    match reports.refusal(to) {
        Some((words, _)) => Error::Peer(format!("{} {words}", to.label)),
        None => Error::Peer(why.to_owned()),
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_of_messages_have_ranges() {
        let to = Destination::plain("127.0.0.1:9".parse().expect("an address"));
        let check = |time: Duration, message: u32| {
            let measurement = Measurement::new(to.clone(), Scheme::rfc9260());
            Measurement { time, message, ..measurement }.check()
        };
        for (time, message) in [(MIN_TIME, 0), (MAX_TIME, MIN_MESSAGE), (MAX_TIME, MAX_MESSAGE)] {
            assert_eq!(check(time, message), Ok(()));
        }
        let milli = Duration::from_millis(1);
        for (time, message, words) in [
            (Duration::ZERO, 0, "a measurement of 0 s: expected 0.1 s to 86400 s"),
            (MAX_TIME + milli, 0, "a measurement of 86400.001 s"),
            (MIN_TIME, MIN_MESSAGE - 1, "messages of 63 bytes: expected 64 to 262144 bytes, or 0"),
            (MIN_TIME, MAX_MESSAGE + 1, "messages of 262145 bytes"),
        ] {
            let refused = check(time, message).expect_err("it is out of its range");
            assert!(matches!(&refused, Error::Usage(line) if line.starts_with(words)), "{refused}");
        }
    }
}
