//! ASCONF (RFC 5061 §5.2). This side answers ASCONF but refuses each request in it, because paths change by REPORT.

use super::context::Context;
use crate::policy::PathId;
use crate::wire::chunk::{Asconf, AsconfAck, ChunkEncode as _};
use crate::wire::{Cause, Param};

/// Maximum number of requests of an ASCONF that are answered.
const MAX_ASCONF_PARAMS: usize = 64;
const MAX_ASCONF: usize = 2048;

/// The last answer. The answer is sent again if the peer repeats the request.
#[derive(Debug, Default)]
pub(super) struct AsconfAnswer {
    last: Option<(u32, AsconfAck)>,
}

impl AsconfAnswer {
    /// Answers `asconf`, which arrived on `on`.
    pub fn answer(&mut self, cx: &mut Context, asconf: &Asconf, on: PathId) {
        if let Some((serial, answer)) = &self.last
            && *serial == asconf.serial
        {
            let answer = answer.clone();
            cx.push_control(on, answer);
            return;
        }
        if asconf.params.len() > MAX_ASCONF_PARAMS || asconf.encoded_len() > MAX_ASCONF {
            cx.stats.bad_chunks += 1;
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
        self.last = Some((asconf.serial, answer.clone()));
        cx.push_control(on, answer);
    }
}
