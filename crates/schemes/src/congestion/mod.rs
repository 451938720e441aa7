//! Congestion control: the amount of data that may be in flight.

mod balia;
mod bbr;
mod binomial;
mod coupled;
mod cubic;
mod ewtcp;
mod flow;
mod friendliness;
mod fully_coupled;
mod hystart;
mod lia;
mod mean_windows;
mod mpcubic;
mod mpmtp;
mod olia;
mod queue_aware;
mod receiver_rate;
mod reno;
mod rfc;
mod sctp;
mod shared;
mod table;
mod tcp;
#[cfg(test)]
mod tests;
mod window;
mod wvegas;

pub use balia::Balia;
pub use bbr::{BbrConfig, GuardConfig, Version as BbrVersion};
pub use binomial::{Binomial, InverseConfig, SqrtConfig};
pub use coupled::Coupled;
pub use cubic::{Cubic, CubicConfig};
pub use ewtcp::Ewtcp;
pub use flow::{FlowConfig, WindowSetup};
pub use friendliness::{
    Balance, FAST_RETRANSMIT_COUNTS, Friendliness, Member, Members, TIMEOUT_COUNTS, penalized,
};
pub use fully_coupled::FullyCoupled;
pub use lia::Lia;
pub use mpcubic::{MpCubic, MpCubicConfig};
pub use mpmtp::{Fairness, LinearEnds, Mpmtp, MpmtpConfig};
pub use olia::{Olia, OliaConfig, Ranking};
pub use queue_aware::QueueAware;
pub use receiver_rate::ReceiverPaced;
pub use sctp::{SctpConfig, StartConfig};
pub use table::{Cc, Congestion, Congestions, congestion, congestions};
pub use tcp::{Counting, DecreaseBase, InitialWindow, TcpConfig, TcpWindows};
pub use wvegas::{Wvegas, WvegasConfig};
