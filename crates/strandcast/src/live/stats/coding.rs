//! Results of coding: numbers of symbols sent and of messages recovered.

use serde::Serialize;
use strandcast_proto::coding::{Coding, CodingMode, CodingStats};

use crate::text::{bytes, count, percent};

/// Counters of the symbols of a stream. The counters are absent if neither side codes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CodingNow {
    /// Code of the data that this side sends: `blocks` or `repair`. `None` if this side does not code.
    pub sends: Option<&'static str>,
    /// Code of the data that this side receives: `blocks` or `repair`. `None` if the peer does not code.
    pub receives: Option<&'static str>,
    /// Maximum redundancy that is allowed; `None`: there is no cap.
    pub allowed: Option<f64>,
    /// Bytes of repair symbols divided by bytes of source symbols sent; `None`: no source symbol was sent.
    pub redundancy: Option<f64>,
    /// Number of source symbols sent, each once.
    pub sources_sent: u64,
    /// Bytes of source symbols sent, including symbol headers.
    pub source_bytes: u64,
    /// Number of repair symbols sent.
    pub repairs_sent: u64,
    /// Bytes of repair symbols sent, including symbol headers.
    pub repair_bytes: u64,
    /// Number of source symbols that arrived.
    pub sources_received: u64,
    /// Number of source symbols that had already been recovered, or had already arrived.
    pub sources_late: u64,
    /// Number of repair symbols that arrived.
    pub repairs_received: u64,
    /// Number of repair symbols that were redundant.
    pub repairs_unused: u64,
    /// Number of messages that were computed from repair symbols. With blocks, number of source symbols.
    pub recovered: u64,
    /// Number of symbols that the decoder dropped.
    pub symbols_refused: u64,
    /// Number of computed results that are not messages because a symbol was forged.
    pub damaged: u64,
}

/// Coding of both sides of an association.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sides {
    /// Coding of this side.
    pub sends: Option<Coding>,
    /// Coding of the peer.
    pub receives: Option<CodingMode>,
}

/// Adds the counters of two associations, or of both ends of one association.
pub fn sum(a: &CodingStats, b: &CodingStats) -> CodingStats {
    CodingStats {
        sources_sent: a.sources_sent + b.sources_sent,
        source_bytes: a.source_bytes + b.source_bytes,
        repairs_sent: a.repairs_sent + b.repairs_sent,
        repair_bytes: a.repair_bytes + b.repair_bytes,
        sources_received: a.sources_received + b.sources_received,
        repairs_received: a.repairs_received + b.repairs_received,
        repairs_unused: a.repairs_unused + b.repairs_unused,
        recovered: a.recovered + b.recovered,
        symbols_refused: a.symbols_refused + b.symbols_refused,
        symbols_shed: a.symbols_shed + b.symbols_shed,
        work: a.work + b.work,
        sources_late: a.sources_late + b.sources_late,
        damaged: a.damaged + b.damaged,
    }
}

const BLOCKS: &str = "blocks";
const REPAIR: &str = "repair";

/// Name of the coding that a side sends.
fn sent_as(coding: Coding) -> &'static str {
    match coding {
        Coding::Blocks(_) => BLOCKS,
        Coding::Repair(_) => REPAIR,
    }
}

/// Name of the coding that a side receives.
fn received_as(mode: CodingMode) -> &'static str {
    match mode {
        CodingMode::Blocks => BLOCKS,
        CodingMode::Repair => REPAIR,
    }
}

impl CodingNow {
    /// Returns the counters. Returns `None` if no symbol was sent or received.
    pub fn of(stats: &CodingStats, sides: Sides) -> Option<CodingNow> {
        if *stats == CodingStats::default() {
            return None;
        }
        let allowed = match sides.sends {
            Some(Coding::Repair(repair)) => Some(repair.redundancy),
            Some(Coding::Blocks(_)) | None => None,
        };
        Some(CodingNow {
            sends: sides.sends.map(sent_as),
            receives: sides.receives.map(received_as),
            allowed,
            redundancy: stats.redundancy(),
            sources_sent: stats.sources_sent,
            source_bytes: stats.source_bytes,
            repairs_sent: stats.repairs_sent,
            repair_bytes: stats.repair_bytes,
            sources_received: stats.sources_received,
            repairs_received: stats.repairs_received,
            repairs_unused: stats.repairs_unused,
            recovered: stats.recovered,
            symbols_refused: stats.symbols_refused,
            sources_late: stats.sources_late,
            damaged: stats.damaged,
        })
    }

    /// Returns the line of a summary with the counters of sending and of receiving.
    pub fn line(&self) -> String {
        let parts: Vec<String> = self.sent().into_iter().chain(self.received()).collect();
        format!("{}: {}", self.what(), parts.join(", "))
    }

    /// Returns the counters in less than 80 columns, for the table.
    pub fn brief(&self) -> String {
        let share = self.redundancy.map(percent);
        let of = match (share, self.allowed.map(percent)) {
            (Some(share), Some(allowed)) => format!(" ({share} of {allowed})"),
            _ => String::new(),
        };
        let sent = (self.repairs_sent > 0).then(|| format!("{}{of}", count(self.repairs_sent, "symbol")));
        let parts: Vec<String> = sent.into_iter().chain(self.recovered()).collect();
        format!("{}: {}", self.what(), parts.join(", "))
    }

    fn what(&self) -> &'static str {
        if self.sends.or(self.receives) == Some(BLOCKS) { "coding" } else { "repair" }
    }

    /// Text with the symbols sent, and the used share of the allowed redundancy.
    fn sent(&self) -> Option<String> {
        let CodingNow { sources_sent, repairs_sent, .. } = *self;
        if sources_sent + repairs_sent == 0 {
            return None;
        }
        let share = self.redundancy.map(percent);
        Some(match (self.sends, self.allowed, share) {
            (_, Some(allowed), _) if repairs_sent == 0 => {
                format!("no symbol sent ({} allowed)", percent(allowed))
            }
            (_, Some(allowed), Some(share)) => {
                format!("{} sent ({share} of {} allowed)", count(repairs_sent, "symbol"), percent(allowed))
            }
            _ => {
                let all = bytes(self.source_bytes + self.repair_bytes);
                let sources = count(sources_sent, "source symbol");
                format!("{sources}, {} sent ({all})", count(repairs_sent, "repair symbol"))
            }
        })
    }

    /// Text with the messages computed from the symbols that arrived.
    fn recovered(&self) -> Option<String> {
        let arrived = self.sources_received + self.repairs_received + self.symbols_refused;
        let what = if self.what() == "coding" { "source symbol" } else { "packet" };
        (arrived > 0).then(|| format!("{} recovered", count(self.recovered, what)))
    }

    /// Text with the messages computed from the symbols that arrived, and the number of redundant symbols.
    fn received(&self) -> Option<String> {
        let recovered = self.recovered()?;
        if self.repairs_received + self.symbols_refused + self.damaged == 0 {
            return Some(recovered);
        }
        let came = count(self.repairs_received, "repair symbol");
        let (unused, refused) = (self.repairs_unused, self.symbols_refused);
        let damaged = match self.damaged {
            0 => String::new(),
            n => format!(", {n} damaged by forged symbols"),
        };
        Some(format!("{recovered} by {came} ({unused} unused, {refused} refused{damaged})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::time::Duration;
    use strandcast_proto::coding::{BlockCoding, Code, RepairCode, RepairCoding, RepairWhen};

    fn repair() -> Coding {
        let (code, when) = (RepairCode::Rlc, RepairWhen::Late);
        Coding::Repair(RepairCoding { code, redundancy: 0.05, when, window: 64 })
    }

    fn blocks() -> Coding {
        Coding::Blocks(BlockCoding { code: Code::Fountain, sources: 16, flush: Duration::ZERO })
    }

    /// 812 repair symbols of 1200 bytes for 16 572 messages of 1200 bytes: 4.9 %.
    fn sent() -> CodingStats {
        CodingStats {
            sources_sent: 16_572,
            source_bytes: 16_572 * 1200,
            repairs_sent: 812,
            repair_bytes: 812 * 1200,
            ..CodingStats::default()
        }
    }

    fn received() -> CodingStats {
        CodingStats {
            sources_received: 16_500,
            repairs_received: 790,
            repairs_unused: 701,
            recovered: 37,
            symbols_refused: 2,
            sources_late: 3,
            ..CodingStats::default()
        }
    }

    fn sends(coding: Coding) -> Sides {
        Sides { sends: Some(coding), receives: None }
    }

    fn receives(mode: CodingMode) -> Sides {
        Sides { sends: None, receives: Some(mode) }
    }

    #[test]
    fn nothing_is_shown_where_nothing_is_coded() {
        assert_eq!(CodingNow::of(&CodingStats::default(), Sides::default()), None);
        assert_eq!(CodingNow::of(&CodingStats::default(), sends(repair())), None, "nothing was sent yet");
    }

    #[test]
    fn each_side_says_what_it_knows() {
        let line = |stats: &CodingStats, sides| CodingNow::of(stats, sides).unwrap().line();
        let (sent, received) = (sent(), received());
        let mine = "repair: 812 symbols sent (4.9 % of 5.0 % allowed)";
        let theirs = "37 packets recovered by 790 repair symbols (701 unused, 2 refused)";
        assert_eq!(line(&sent, sends(repair())), mine);
        assert_eq!(line(&received, receives(CodingMode::Repair)), format!("repair: {theirs}"));
        assert_eq!(line(&sum(&sent, &received), sends(repair())), format!("{mine}, {theirs}"));
        let none = CodingStats { repairs_sent: 0, repair_bytes: 0, ..sent };
        let arrived = CodingStats { sources_received: 16_572, ..CodingStats::default() };
        let nothing = "repair: no symbol sent (5.0 % allowed), 0 packets recovered";
        assert_eq!(line(&sum(&none, &arrived), sends(repair())), nothing);
        let forged = line(&CodingStats { damaged: 1, ..received }, receives(CodingMode::Repair));
        assert!(forged.ends_with("(701 unused, 2 refused, 1 damaged by forged symbols)"), "{forged}");
        let repairs =
            CodingStats { repairs_sent: 20_000, repair_bytes: 24_000_000, ..CodingStats::default() };
        let blocks_sent = "coding: 0 source symbols, 20 000 repair symbols sent (24.0 MB)";
        assert_eq!(line(&repairs, sends(blocks())), blocks_sent);
        let symbols = "coding: 37 source symbols recovered by 790 repair symbols (701 unused, 2 refused)";
        assert_eq!(line(&received, receives(CodingMode::Blocks)), symbols);
    }

    #[test]
    fn the_tables_line_fits_a_terminal() {
        let most = CodingStats { repairs_sent: 9_999_999, recovered: 9_999_999, ..sum(&sent(), &received()) };
        for sides in [sends(repair()), sends(blocks())] {
            let line = CodingNow::of(&most, sides).unwrap().brief();
            assert!(line.chars().count() < 78, "{line}");
        }
    }

    #[test]
    fn both_ends_add_up() {
        let both = sum(&sent(), &received());
        assert_eq!(sum(&CodingStats::default(), &both), both);
        assert_eq!((both.repairs_sent, both.recovered, both.repairs_received), (812, 37, 790));
        assert_eq!(sum(&both, &both).source_bytes, 2 * both.source_bytes);
    }

    #[test]
    fn json_has_every_counter() {
        let json = serde_json::to_value(CodingNow::of(&sum(&sent(), &received()), sends(repair()))).unwrap();
        let at = |key: &str| json[key].as_f64().unwrap_or_else(|| panic!("{key}"));
        assert_eq!((at("allowed"), at("recovered"), at("repairs_unused")), (0.05, 37.0, 701.0));
        assert!((at("redundancy") - 812.0 / 16_572.0).abs() < 1e-12);
        assert_eq!(
            (at("symbols_refused"), &json["sends"], &json["receives"]),
            (2.0, &"repair".into(), &Value::Null)
        );
        let none = serde_json::to_value(CodingNow::of(&received(), receives(CodingMode::Blocks))).unwrap();
        assert!(none["sends"].is_null() && none["redundancy"].is_null() && none["allowed"].is_null());
        assert_eq!(none["receives"], "blocks");
    }
}
