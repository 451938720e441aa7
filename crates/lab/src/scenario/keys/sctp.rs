//! Constants of SCTP.

use core::time::Duration;

use serde::Serialize;
use serde_json::{Value as Json, json};
use strandcast_keys::words;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::path::Envelope;

use crate::scenario::sorts::{SPAN, SWITCH, TEXT, TIME, Words, size, whole, words_of};
use crate::scenario::spec::ValueType;
use crate::scenario::table::{Read, Table};
use crate::scenario::typed::{Entry, Optional, Sort, table};
use crate::scenario::warning::Longest;

/// Bytes of IPv4 header.
pub(in crate::scenario) const IP: u16 = 20;
/// Bytes of IPv4 and UDP header.
const IP_UDP: u16 = 28;

words! {
    /// Source of the constants of an SCTP flow.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SctpProfile {
        /// RFC 9260's.
        Rfc = "rfc",
        /// Constants of the commands that use real paths: [`TransportConfig::live`], without path MTU discovery.
        Live = "live",
        /// The SCTP agent of ns-2.35.
        Ns2 = "ns2",
    }
}

words! {
    /// Protocols that carry SCTP's packets.
    enum Encapsulation {
        /// UDP.
        Udp = "udp",
        /// Nothing but IP.
        None = "none",
    }
}

words_of!(SctpProfile, Encapsulation);

impl SctpProfile {
    /// Returns the name of the profile in scenarios.
    pub fn name(self) -> &'static str {
        self.word()
    }

    /// Configuration of the transport. The constants of the flow replace some of its values.
    pub fn transport(self) -> TransportConfig {
        match self {
            // Simulated links carry packets of any size: there is no MTU to discover.
            // Interfaces that are up work.
            SctpProfile::Live => {
                TransportConfig { mtu_discovery: None, proves_resumed: false, ..TransportConfig::live() }
            }
            SctpProfile::Rfc | SctpProfile::Ns2 => TransportConfig::default(),
        }
    }
}

/// Declares constants. The declaration consists of their struct in a scenario, the keys of its table, and the
/// configuration of the transport.
///
/// Constants in the first braces are fields of [`TransportConfig`] with the same name. A time without a unit causes a
/// warning if it is longer than the time after `=>`.
macro_rules! constants {
    (
        transport {$(
            $(#[doc = $doc:literal])+
            $(#[serde($($serde:tt)+)])?
            $field:ident: $ty:ty = $sort:expr $(=> $longest:ident)?,
        )+}
        scheme {$( $(#[doc = $own_doc:literal])+ $own:ident: $own_ty:ty = $own_sort:expr, )+}
    ) => {
        /// `profile = "rfc" | "live" | "ns2"` of an SCTP flow. Single constants can be replaced: `sctp.rto_min = "0.2
        /// s"`.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct Sctp {
            /// The profile. It determines everything that the constants here do not determine.
            pub profile: SctpProfile,
            /// True if the packets of the flow are sealed: its key `seal`.
            #[serde(skip_serializing_if = "core::ops::Not::not")]
            pub seal: bool,
            $($(#[doc = $doc])+ $(#[serde($($serde)+)])? pub $field: $ty,)+
            $($(#[doc = $own_doc])+ pub $own: $own_ty,)+
        }

        table! {
            /// Constants of SCTP.
            SCTP: SctpKeys = "sctp" {
                $(
                    $(#[doc = $doc])+
                    $field: Optional<$ty> = $sort.otherwise("the profile's")$(.at_most(Longest::$longest))?,
                )+
                $($(#[doc = $own_doc])+ $own: Optional<$own_ty> = $own_sort.otherwise("the profile's"),)+
            }
        }

        impl Sctp {
            /// The constants of the transport in this profile.
            pub(in crate::scenario) fn of(profile: SctpProfile) -> Self {
                let own = profile.transport();
                Sctp {
                    profile,
                    seal: false,
                    $($field: Constant::from_transport(own.$field),)+
                    $($own: Default::default(),)+
                }
            }

            /// Configuration of a flow's transport with these constants. The flow's scheme has not yet added its own
            /// settings.
            pub fn transport(&self) -> TransportConfig {
                TransportConfig {
                    auth: self.reports,
                    envelope: self.envelope(),
                    $($field: Constant::for_transport(self.$field),)+
                    ..self.profile.transport()
                }
            }

            /// Number of bytes that surround each packet.
            fn envelope(&self) -> Envelope {
                if self.seal { strandcast_seal::ENVELOPE } else { Envelope::NONE }
            }

            /// Number of header bytes before each packet, including the bytes of its envelope.
            pub fn headers(&self) -> u32 {
                u32::from(self.encapsulation) + self.envelope().len() as u32
            }

            /// Replaces the constants that a table gives.
            pub(in crate::scenario) fn replace(&mut self, table: &Table<'_>) -> Read<()> {
                $(if let Some(value) = table.maybe(&SCTP.$field)? {
                    self.$field = value;
                })+
                $(if let Some(value) = table.maybe(&SCTP.$own)? {
                    self.$own = value;
                })+
                Ok(())
            }

            /// All constants, as entries of a table.
            pub(in crate::scenario) fn entries(&self) -> Vec<Entry> {
                vec![
                    $(SCTP.$field.write(Some(&self.$field)),)+
                    $(SCTP.$own.write(Some(&self.$own)),)+
                ]
            }
        }
    };
}

constants! {
    transport {
        /// IP-level MTU
        mtu: u16 = size::<u16, 296, 65_535>(),
        /// in UDP (RFC 6951): 28 bytes of header, or straight in IP: 20
        encapsulation: u16 = ENCAPSULATION,
        /// receive buffer
        receive_buffer: u32 = size::<u32, 1500, { 1 << 31 }>(),
        /// send buffer
        send_buffer: u32 = size::<u32, 1500, { 1 << 31 }>(),
        /// limit of both buffers, which grow as the paths need it; in `rfc` and `ns2` they grow only if it is given
        #[serde(skip_serializing_if = "Option::is_none")]
        buffer_limit: Option<u32> = BUFFER_LIMIT,
        /// RTO.Initial
        rto_initial: Duration = SPAN => Minute,
        /// RTO.Min
        rto_min: Duration = SPAN => Minute,
        /// RTO.Min between two Strandcast peers; `rto_min` alone sets both
        #[serde(skip_serializing_if = "Option::is_none")]
        rto_min_strandcast: Option<Duration> = OTHER_SPAN,
        /// RTO.Max
        rto_max: Duration = SPAN => Hour,
        /// Max.Burst, packets
        max_burst: u32 = whole::<u32, 1, 1_000_000>(),
        /// SACK.Delay
        sack_delay: Duration = TIME => Delay,
        /// SACK.Delay between two Strandcast peers; `sack_delay` alone sets both
        #[serde(skip_serializing_if = "Option::is_none")]
        sack_delay_strandcast: Option<Duration> = OTHER_TIME,
        /// data that get no answer are sent again before their timer expires
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        tail_probes: bool = SWITCH,
        /// if true, the sender waits for overtaken packets before it judges them lost, and restores windows after
        /// spurious losses
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        reordering: bool = SWITCH,
        /// if true, round-trip times leave out the time for which the peer may have held an acknowledgement back
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        ack_delays: bool = SWITCH,
        /// greatest number of packets per SACK
        sack_frequency: u32 = whole::<u32, 1, 1_000_000>(),
        /// HB.interval
        heartbeat_interval: Duration = SPAN => Hour,
        /// Path.Max.Retrans
        path_max_retrans: u32 = whole::<u32, 0, 1_000_000>(),
        /// Association.Max.Retrans
        association_max_retrans: u32 = whole::<u32, 0, 1_000_000>(),
        /// silence on all paths that ends an association; 0: errors end it
        #[serde(skip_serializing_if = "Option::is_none")]
        silence_timeout: Option<Duration> = TIME_OR_ERRORS,
        /// least time without an answer until a path is inactive; 0: errors decide
        #[serde(skip_serializing_if = "Option::is_none")]
        failed_after: Option<Duration> = TIME_OR_ERRORS,
        /// REPORT and AUTH: what schemes say to each other
        reports: bool = SWITCH,
    }
    scheme {
        /// parameters added to every scheme before its own, as in `initial-cwnd=2`, or to one, as in `sctp:half-floor=4`
        scheme_defaults: String = TEXT,
    }
}

/// Number of header bytes before SCTP's header. It depends on the protocol that carries SCTP's packets.
const ENCAPSULATION: Sort<u16> = Sort {
    value_type: ValueType::Word(Encapsulation::WORDS),
    read: |item| {
        let encapsulation = item.word(Encapsulation::WORDS.iter().copied(), Encapsulation::find)?;
        Ok(match encapsulation {
            Encapsulation::Udp => IP_UDP,
            Encapsulation::None => IP,
        })
    },
    write: |header| json!(if *header == IP { Encapsulation::None } else { Encapsulation::Udp }.word()),
};

/// Limit of the buffers in bytes. `None` if the buffers do not grow.
const BUFFER_LIMIT: Sort<Option<u32>> = {
    const BYTES: Sort<u32> = size::<u32, 1500, { 1 << 31 }>();
    Sort {
        value_type: BYTES.value_type,
        read: |item| (BYTES.read)(item).map(Some),
        write: |limit| json!(limit),
    }
};

/// A time above zero between two Strandcast peers, if it differs from the time with other peers.
const OTHER_SPAN: Sort<Option<Duration>> =
    Sort { value_type: SPAN.value_type, read: |item| (SPAN.read)(item).map(Some), write: other };

/// A time between two Strandcast peers, if it differs from the time with other peers.
const OTHER_TIME: Sort<Option<Duration>> =
    Sort { value_type: TIME.value_type, read: |item| (TIME.read)(item).map(Some), write: other };

fn other(time: &Option<Duration>) -> Json {
    time.as_ref().map_or(Json::Null, TIME.write)
}

/// A time. 0 if errors decide instead.
const TIME_OR_ERRORS: Sort<Option<Duration>> = Sort {
    value_type: TIME.value_type,
    read: |item| Ok(Some((TIME.read)(item)?).filter(|time| !time.is_zero())),
    write: |time| (TIME.write)(&time.unwrap_or_default()),
};

/// Conversion of a constant from the transport's type.
trait Constant<T> {
    fn from_transport(constant: T) -> Self;
    fn for_transport(self) -> T;
}

impl<T> Constant<T> for T {
    fn from_transport(constant: T) -> T {
        constant
    }
    fn for_transport(self) -> T {
        self
    }
}

impl Constant<usize> for u32 {
    fn from_transport(bytes: usize) -> u32 {
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
    fn for_transport(self) -> usize {
        self as usize
    }
}

impl Constant<Option<usize>> for Option<u32> {
    fn from_transport(bytes: Option<usize>) -> Option<u32> {
        bytes.map(Constant::from_transport)
    }
    fn for_transport(self) -> Option<usize> {
        self.map(Constant::for_transport)
    }
}
