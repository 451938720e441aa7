//! What can be set of the transport below any scheme.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::time::Duration;

keys! {
    /// Path failure, probing and timeouts.
    #[derive(Copy)]
    pub struct TransportKeys {
        /// doubt a path at its first timeout (potentially failed, RFC 7829)
        pf: bool = true,
        /// probe failed paths at least this often, 0: RFC 9260's back-off
        probe_interval: Option<Duration> [0, 60_000, "ms"] = Some(Duration::from_millis(500)),
        /// RTO.Min, 0: the transport's own
        rto_min: Option<Duration> [0, 60_000, "ms"] = None,
    }
}

impl TransportKeys {
    /// Sets them; `strict` is that of the windows.
    pub fn tune(&self, strict: bool, config: &mut TransportConfig) {
        config.pf_max_retrans = self.pf.then_some(0);
        config.failed_probe_interval = self.probe_interval;
        if let Some(least) = self.rto_min {
            (config.rto_min, config.rto_min_ours) = (least, None);
        }
        config.rto_max = config.rto_max.max(config.rto_min);
        config.strict_rfc |= strict;
    }
}
