//! Throughput of a sender with a congestion window under random losses.

use super::losses::Losses;

/// Parameters of the formula for a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sender {
    /// Round-trip time in seconds.
    pub(super) rtt: f64,
    /// First retransmission timeout and greatest retransmission timeout, in seconds.
    pub(super) t0: f64,
    pub(super) longest: f64,
    /// Number of packets for one increase of the window.
    pub(super) b: f64,
    /// Receive window of the peer in packets.
    pub(super) most: f64,
    /// Minimum window in packets after a loss other than a timeout (RFC 9260 §7.2.3: 4). 0 if there is no minimum.
    pub(super) least: f64,
    /// Losses that the sender repairs without a timeout.
    pub(super) repair: Repair,
}

/// The losses that lead to a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// The paper's model of Reno. A timeout follows a second loss in a window, or a loss after which fewer than three
    /// packets arrive.
    Reno,
    /// Selective acknowledgements repair all losses of a window. A timeout follows only if too few packets arrive after
    /// the losses, or if a retransmission is lost.
    Sack,
    /// Retransmissions that are lost are also repaired without a timeout. A timeout follows only if too few packets
    /// arrive after the losses.
    SackAgain,
}

/// Three probabilities that a packet is lost: after a packet that arrived, after a packet that was lost, and for any
/// packet.
#[derive(Clone, Copy, Debug)]
struct Chain {
    begins: f64,
    goes_on: f64,
    mean: f64,
}

/// Number of iterations in the fixed-point search for the rate if losses depend on time.
const ROUNDS: usize = 40;
/// Number of later acknowledgements that are needed to declare a loss (RFC 5681 §3.2, RFC 9260 §7.2.4).
const NEEDED: usize = 3;
/// Number of packets after a loss that are considered.
const LOOKED_AT: f64 = 5000.0;

/// Packets per second of `sender` over a path with these losses. The result is infinite if neither losses nor the
/// receive window limit the rate.
///
/// The formula is the full model with timeouts and receive window (equations 13, 24, 28, 30 and 32) of Padhye J.,
/// Firoiu V., Towsley D., Kurose J., "Modeling TCP Reno performance: a simple model and its empirical validation"
/// (IEEE/ACM Transactions on Networking 8(2), 2000). The formula follows the transports of this project if they differ
/// from the paper's Reno. With selective acknowledgements, fewer losses lead to timeouts. The window of SCTP does not
/// fall below four packets. Timeouts double up to RTO.Max, and not six times. A packet that is sent after a timeout is
/// lost with the path's probability of a loss after a loss. If losses are independent, this equals the probability for
/// any packet.
pub(super) fn packets_per_s(sender: &Sender, losses: &Losses) -> f64 {
    let mean = losses.mean();
    if mean <= 0.0 {
        return sender.most / sender.rtt;
    }
    let silence = silence(sender, losses.after_loss(sender.t0));
    let at = |rate: f64| {
        let gap = 1.0 / rate;
        let (begins, goes_on) = (losses.after_success(gap), losses.after_loss(gap));
        formula(sender, Chain { begins, goes_on, mean }, silence)
    };
    // The probability of a new loss may depend on the spacing of packets.
    let independent = Chain { begins: mean, goes_on: mean, mean };
    let mut rate: f64 = formula(sender, independent, silence).max(f64::MIN_POSITIVE);
    for _ in 0..ROUNDS {
        rate = (rate * at(rate)).sqrt().max(f64::MIN_POSITIVE);
    }
    at(rate)
}

/// Rate in packets per second by the formula. `silence` contains two numbers about a sequence of timeouts: the number
/// of packets sent, and the duration in seconds.
fn formula(sender: &Sender, chain: Chain, silence: (f64, f64)) -> f64 {
    if chain.begins <= 0.0 {
        return sender.most / sender.rtt;
    }
    let p = chain.begins.min(1.0 - 1e-9);
    let (window, rounds) = window(sender, p);
    let few = || too_few(window - 1.0, chain);
    let timeout = match sender.repair {
        Repair::Reno => reno(window, p),
        Repair::Sack => 1.0 - (1.0 - few()) * (1.0 - chain.mean),
        Repair::SackAgain => few(),
    };
    let packets = (1.0 - p) / p + window + timeout * silence.0;
    packets / (sender.rtt * rounds + timeout * silence.1)
}

/// Mean window in packets at a loss that is not a timeout. The second value is the number of round trips from one such
/// loss to the next.
fn window(&Sender { b, most, least, .. }: &Sender, p: f64) -> (f64, f64) {
    let third = (2.0 + b) / (3.0 * b);
    let free = third + (8.0 * (1.0 - p) / (3.0 * b * p) + third * third).sqrt();
    let (window, rounds) = if free / 2.0 >= least {
        (free, b / 2.0 * free + 1.0)
    } else {
        // The window starts at `least` and grows by 1/b per round trip. It grows until (1 - p)/p packets plus one
        // window have been sent.
        let (grows, all) = (1.0 / b, (1.0 - p) / p + least);
        let slope = least - grows;
        let rounds = ((slope * slope + 2.0 * grows * all).sqrt() - slope) / grows;
        (least + grows * rounds, rounds + 1.0)
    };
    match window < most {
        true => (window.max(1.0), rounds),
        false => (most.max(1.0), b / 8.0 * most + (1.0 - p) / (p * most) + 2.0),
    }
}

/// Probability that a loss leads to a timeout in Reno (equation 24).
fn reno(window: f64, p: f64) -> f64 {
    let kept = |packets: f64| libm::pow(1.0 - p, packets);
    let timeout = (1.0 - kept(3.0)) * (1.0 + kept(3.0) * (1.0 - kept(window - 3.0))) / (1.0 - kept(window));
    timeout.clamp(0.0, 1.0)
}

/// Probability that too few of the next `behind` packets after a loss arrive to declare the loss.
fn too_few(behind: f64, chain: Chain) -> f64 {
    // Probabilities by the number of arrivals. The first list applies if the last packet was lost, and the second if it
    // was not lost.
    let (mut lost, mut kept) = ([0.0; NEEDED], [0.0; NEEDED]);
    lost[0] = 1.0;
    for _ in 0..behind.round().clamp(0.0, LOOKED_AT) as u32 {
        let (before, after) = (lost, kept);
        for n in 0..NEEDED {
            lost[n] = before[n] * chain.goes_on + after[n] * chain.begins;
            let one_less = n.checked_sub(1).map(|less| (before[less], after[less]));
            kept[n] = one_less
                .map_or(0.0, |(lost, kept)| lost * (1.0 - chain.goes_on) + kept * (1.0 - chain.begins));
        }
    }
    lost.iter().chain(&kept).sum()
}

/// Mean number of packets that are sent in a sequence of timeouts. The second value is the mean duration of the
/// sequence in seconds.
fn silence(sender: &Sender, again: f64) -> (f64, f64) {
    let again = again.min(1.0 - 1e-9);
    (1.0 / (1.0 - again), seconds(sender.t0, sender.longest, again))
}

/// Mean duration of a sequence of timeouts in seconds. Each timeout is twice as long as the previous one, but at most
/// `longest`. Another timeout follows with probability `again`.
fn seconds(t0: f64, longest: f64, again: f64) -> f64 {
    let (mut timeout, mut likely, mut sum) = (t0, 1.0, 0.0);
    while timeout < longest && likely > 1e-12 {
        sum += likely * timeout;
        timeout *= 2.0;
        likely *= again;
    }
    sum + likely * longest.max(t0) / (1.0 - again)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandcast_netem::link::LinkConfig;
    use strandcast_netem::loss::LossModel;

    const SENDER: Sender =
        Sender { rtt: 0.1, t0: 1.0, longest: 64.0, b: 2.0, most: 1e9, least: 0.0, repair: Repair::Reno };

    /// The formula of the paper is f(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶.
    fn paper(p: f64, b: f64) -> f64 {
        let (rest, cube) = ((2.0 + b) / (3.0 * b), libm::pow(1.0 - p, 3.0));
        let w = rest + (8.0 * (1.0 - p) / (3.0 * b * p) + rest * rest).sqrt();
        let q =
            (1.0 - cube) * (1.0 + cube * (1.0 - libm::pow(1.0 - p, w - 3.0))) / (1.0 - libm::pow(1.0 - p, w));
        let q = q.min(1.0);
        let f = 1.0 + p + (1..6).map(|n| p * libm::pow(2.0 * p, n.into())).sum::<f64>();
        ((1.0 - p) / p + w + q / (1.0 - p)) / (0.1 * (b / 2.0 * w + 1.0) + q * f / (1.0 - p))
    }

    #[test]
    fn independent_losses_match_the_paper() {
        for b in [1.0, 2.0] {
            for p in [0.001, 0.01, 0.05, 0.2, 0.5] {
                let (ours, theirs) =
                    (packets_per_s(&Sender { b, ..SENDER }, &Losses::uniform(p)), paper(p, b));
                assert!((ours / theirs - 1.0).abs() < 1e-6, "{b} {p}: {ours} {theirs}");
            }
        }
    }

    #[test]
    fn windows_are_bounds() {
        let small = Sender { most: 10.0, ..SENDER };
        assert_eq!(packets_per_s(&small, &Losses::default()), 100.0);
        assert!(packets_per_s(&Sender { most: f64::INFINITY, ..SENDER }, &Losses::default()).is_infinite());
        // If there are few losses, the window limits the rate. If there are many, losses limit it.
        let rate = |sender: &Sender, p| packets_per_s(sender, &Losses::uniform(p));
        assert!((80.0..100.0).contains(&rate(&small, 1e-4)), "{}", rate(&small, 1e-4));
        assert_eq!(rate(&small, 0.1), rate(&SENDER, 0.1));
        assert!(rate(&SENDER, 1.0) < 0.02);
    }

    #[test]
    fn bursts_that_outlast_timeouts_stall_a_sender() {
        let losses = |burst| {
            let mut losses = Losses::default();
            let losses_of = vec![LossModel::bursts(0.2, burst)];
            losses.add(&LinkConfig { losses: losses_of, ..LinkConfig::default() });
            losses
        };
        // If losses are independent, a burst has 1/(1 - p) packets. Bursts of 6 packets last until the sixth timeout,
        // which is 63 s on average or more.
        let (short, long) = (packets_per_s(&SENDER, &losses(1.25)), packets_per_s(&SENDER, &losses(6.0)));
        let uniform = packets_per_s(&SENDER, &Losses::uniform(0.2));
        assert!((short / uniform - 1.0).abs() < 1e-6, "{short} {uniform}");
        assert!(long < uniform / 2.0, "{long} {uniform}");
    }

    #[test]
    fn silences_add_up_until_the_longest() {
        // The sum is 1 + 2·½ + 4·¼, and 8·⅛/(1 - ½) for all further timeouts.
        assert_eq!(seconds(1.0, 8.0, 0.5), 3.0 + 2.0);
        assert_eq!(seconds(1.0, 8.0, 0.0), 1.0);
        assert_eq!(seconds(3.0, 1.0, 0.0), 3.0);
    }

    #[test]
    fn a_loss_needs_three_packets_behind_it() {
        let independent = |p| Chain { begins: p, goes_on: p, mean: p };
        assert_eq!(too_few(2.0, independent(0.1)), 1.0);
        // If three packets follow, all of them must arrive. If five follow, the distribution is binomial.
        assert!((too_few(3.0, independent(0.1)) - (1.0 - 0.729)).abs() < 1e-12);
        let of_five = 1e-5 + 5.0 * 0.9 * 1e-4 + 10.0 * 0.81 * 0.001;
        assert!((too_few(5.0, independent(0.1)) - of_five).abs() < 1e-12);
        // In bursts of ten, all five packets are lost with probability 0.9⁵. At most two packets arrive unless the
        // burst ends within two packets.
        let few = too_few(5.0, Chain { begins: 0.0, goes_on: 0.9, mean: 0.1 });
        assert!((few - 0.729).abs() < 1e-12, "{few}");
    }

    #[test]
    fn a_window_with_a_floor_is_the_larger_one() {
        let sctp = Sender { b: 1.0, least: 4.0, ..SENDER };
        let reno = Sender { b: 1.0, ..SENDER };
        assert_eq!(window(&sctp, 0.01), window(&reno, 0.01));
        // Two round trips from a window of 4 to 6 carry 4·2 + ½·2² packets. These are (1 - p)/p = 4 packets before the
        // loss and a window of 6.
        let (packets, rounds) = window(&sctp, 0.2);
        assert!((packets - 6.0).abs() < 1e-12 && (rounds - 3.0).abs() < 1e-12, "{packets} {rounds}");
    }
}
