//! Keys of flows.

use core::time::Duration;

use strandcast_sim::tcp::Profile;

use super::app::{APP, AppKind};
use super::sctp::{SctpKeys, SctpProfile};
use crate::scenario::constants::TCP_CONSTANTS;
use crate::scenario::model::Ends;
use crate::scenario::sorts::{DRAWN_TIME, LINKS, SPAN, SWITCH, TEXT, TIME, size, whole, word, words_of};
use crate::scenario::typed::{Constants, Each, Given, Inner, OneOf, Optional, table, variants};
use crate::scenario::value::Number;

words_of!(Ends);

variants! {
    /// the protocol
    FLOW: FlowKind = "flow" by "transport", Some("sctp"), {
        /// This project's transport.
        Sctp = "sctp": SctpFlowKeys,
        /// One path.
        Tcp = "tcp": TcpFlowKeys,
        /// One subflow a path.
        Mptcp = "mptcp": MptcpFlowKeys,
        /// Datagrams.
        Udp = "udp": UdpFlowKeys,
    }
}

table! {
    /// Keys of all flows.
    ENDS: EndKeys {
        /// choice of the ends: as `from` and `to` say, or stations drawn for each run, a pair for each of `count`
        ends: Given<Ends> = word().or("given"),
        /// the sending node
        from: Optional<String> = TEXT.otherwise("required, if `ends` is not `random`"),
        /// the receiving node
        to: Optional<String> = TEXT.otherwise("required, if `ends` is not `random`"),
        /// data that it sends
        app: OneOf<AppKind> = OneOf::of(&APP, "`bulk`; required for udp"),
        /// start time; drawn for each of `count`
        start: Given<Number> = DRAWN_TIME.or("0 s"),
        /// end time
        stop: Optional<Duration> = SPAN.otherwise("the run's end"),
        /// number of such flows, each with its own random draws
        count: Given<u32> = whole::<u32, 1, 100_000>().or("1"),
    }
}

const SHORTEST: &str = "one, `default`: the radio of both ends, else the route with the fewest links";

table! {
    /// Keys of flows with several paths.
    SEVERAL: SeveralKeys {
        /// its ways through the network, by name
        paths: Each = Each::of(&JoiningPathKeys::KEYS, SHORTEST),
    }
}

table! {
    /// Keys of flows with one path.
    SINGLE: SingleKeys {
        /// its way through the network, by a name of your own
        paths: Each = Each::of(&PathKeys::KEYS, SHORTEST),
    }
}

table! {
    /// A flow of this project's transport: SCTP over one or more paths.
    SCTP_FLOW: SctpFlowKeys = "flow_sctp" with EndKeys, SeveralKeys {
        /// scheme, with parameters as in `cmt,rtx=same`
        scheme: Given<String> = TEXT.or("cmt"),
        /// `--scheme a,b` replaces this flow's `scheme` or `cc`
        compare: Given<bool> = SWITCH.or("false"),
        /// the path that the flow prefers; it becomes the primary path once it is confirmed
        primary: Optional<String> = TEXT.otherwise("the path of the handshake; INIT tries the first path by name first"),
        /// set of constants from which `sctp` starts
        profile: Given<SctpProfile> = word().or("rfc"),
        /// single constants
        sctp: Inner = Inner::of(&SctpKeys::KEYS, "the profile's"),
        /// packets are encrypted and authenticated, with a handshake before the association's own: 29 bytes more on
        /// each
        seal: Given<bool> = SWITCH.or("false"),
    }
}

table! {
    /// The constants of a TCP.
    TCP: TcpKeys {
        /// set of constants from which `tcp` starts
        profile: Given<Profile> = word().or("rfc"),
        /// single constants
        tcp: Constants = Constants::of(&TCP_CONSTANTS, "the profile's"),
    }
}

table! {
    /// A TCP connection.
    TCP_FLOW: TcpFlowKeys = "flow_tcp" with EndKeys, SingleKeys {
        /// congestion window, with parameters as in `cubic,beta=0.7`
        cc: Given<String> = TEXT.or("reno"),
        compare: Given<bool> = SCTP_FLOW.compare,
        profile: Given<Profile> = TCP.profile,
        tcp: Constants = TCP.tcp,
    }
}

table! {
    /// An MPTCP connection: a subflow on each path.
    MPTCP_FLOW: MptcpFlowKeys = "flow_mptcp" with EndKeys, SeveralKeys {
        /// congestion window over all subflows, with parameters
        cc: Given<String> = TEXT.or("lia"),
        /// scheduler that chooses the subflow of the next segment, with parameters as in `redundant,copies=2`
        scheduler: Given<String> = TEXT.or("lowest-rtt"),
        compare: Given<bool> = SCTP_FLOW.compare,
        profile: Given<Profile> = TCP.profile,
        tcp: Constants = TCP.tcp,
    }
}

table! {
    /// Datagrams, never sent again.
    UDP_FLOW: UdpFlowKeys = "flow_udp" with EndKeys, SingleKeys {
        /// bytes of IP and UDP header on each
        header: Given<u32> = size::<u32, 0, 1000>().or("28"),
    }
}

table! {
    /// A way through the network.
    PATH: PathKeys = "path" {
        /// links and radios from sender to receiver, in order
        via: Given<Vec<String>> = LINKS.required(),
        /// links and radios back, in order
        back: Optional<Vec<String>> = LINKS.otherwise("`via` backwards"),
    }
}

table! {
    /// A way through the network, which may come and go.
    JOINING_PATH: JoiningPathKeys = "joining_path" with PathKeys {
        /// time at which the path joins
        join: Optional<Duration> = TIME.otherwise("from the start"),
        /// time at which the path leaves
        leave: Optional<Duration> = TIME.otherwise("never"),
    }
}
