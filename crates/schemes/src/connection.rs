//! Schedulers of simulated MPTCP flows. They are the same code as the schedulers of SCTP associations.

use strandcast_keys::catalog::FlowScheduler;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::HeadOfLineConfig;

use crate::congestion::congestions;
use crate::error::SpecError;
use crate::pairs::{pairs, split};
use crate::part::{Estimators, Paths, SchedulerPart, codes};
use crate::registry::lookup;
use crate::shelf::{SchedulerName, Schedulers};

/// Example for errors about text that is not a key and a value.
const EXAMPLE: &str = "redundant,copies=2";
/// The key that names the scheduler in the spec of a flow.
const KEY: &str = "scheduler";

/// Returns the scheduler that `spec` (`NAME[,key=value]...`) names, for one MPTCP flow. `own` is the flow's rule for
/// data that block its receive window. If the scheduler has a rule of its own, the scheduler's rule replaces it.
///
/// # Errors
/// [`SpecError`]. The single line of the error lists the possible values.
pub fn scheduler(spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, SpecError> {
    let (name, rest) = split(spec);
    let mut shelf = Schedulers::default();
    let name = SchedulerName::from_word(name).ok_or_else(|| SpecError::unknown_scheduler(name, known()))?;
    if let Some(why) = not_for_flows(shelf.part(name)) {
        return Err(SpecError::NotForMptcp { name: name.word(), why, known: crate::error::join(known()) });
    }
    let part = shelf.part_mut(name);
    for (key, text) in pairs(rest, EXAMPLE)? {
        if !part.set(key, text)? {
            let names: Vec<_> = part.keys().iter().map(|key| key.name).collect();
            return Err(SpecError::unknown_key(name.word(), key, &names, &names));
        }
    }
    let mut config = TransportConfig { head_of_line: own, ..TransportConfig::default() };
    part.tune(&mut config);
    Ok(FlowScheduler { scheduler: part.build(), head_of_line: config.head_of_line })
}

/// Names of the schedulers of MPTCP flows.
fn known() -> impl Iterator<Item = &'static str> + Clone {
    let shelf = Schedulers::default();
    let known = shelf.all().into_iter().filter(|(_, part)| not_for_flows(*part).is_none());
    known.map(|(word, _)| word).collect::<Vec<_>>().into_iter()
}

/// Returns the reason why MPTCP flows cannot use the scheduler, if there is one.
fn not_for_flows(part: &dyn SchedulerPart) -> Option<&'static str> {
    match part.paths() {
        Paths::Primary => return Some("it uses the primary path, which subflows do not have"),
        Paths::Chosen => return Some("the receiver chooses the path, by reports that TCP does not have"),
        Paths::All => {}
    }
    if codes(part) {
        return Some("it chooses coded symbols, which TCP does not send");
    }
    let mut estimators = Estimators::default();
    part.estimators(&mut estimators);
    (!estimators.is_empty()).then_some("it reads estimates that are made of SCTP's paths alone")
}

/// Returns two specs for an MPTCP flow: the windows and the scheduler that `spec` names
/// (`NAME[,scheduler=NAME][,key=value]...`). Keys of the scheduler belong to the scheduler's spec. All other keys
/// belong to the windows. If `spec` names a preset instead of a window, the preset's window and the preset's scheduler
/// are used, provided that MPTCP flows can use both.
///
/// # Errors
/// A word that is not a key with a value, or a key that is given twice.
pub fn window_and_scheduler(spec: &str) -> Result<(String, Option<String>), SpecError> {
    let (name, rest) = split(spec);
    let set = pairs(rest, "cubic,scheduler=lowest-rtt")?;
    let chosen = set.iter().find(|(key, _)| *key == KEY).map(|(_, text)| (*text).to_owned());
    let (window, own) = preset(name).map_or((name.to_owned(), None), |(cc, own)| (cc, Some(own)));
    let (mut window_spec, mut scheduler_spec) = (window.clone(), chosen.or(own));
    let part = scheduler_spec.as_deref().and_then(SchedulerName::from_word);
    let of_scheduler = part.map_or_else(Vec::new, |name| Schedulers::default().part(name).keys());
    let row = congestions().into_iter().find(|one| one.name == window);
    let of_window = row.map_or_else(Vec::new, |row| row.keys);
    for (key, text) in set.iter().filter(|(key, _)| *key != KEY) {
        let takes = of_scheduler.iter().any(|own| own.name == *key);
        if let Some(scheduler) = scheduler_spec.as_mut().filter(|_| takes) {
            *scheduler += &format!(",{key}={text}");
        }
        if !takes || of_window.iter().any(|(own, _)| own.name == *key) {
            window_spec += &format!(",{key}={text}");
        }
    }
    Ok((window_spec, scheduler_spec))
}

/// Returns windows and scheduler of the preset `name`. The preset must not be a window, and flows must be able to use
/// both parts.
fn preset(name: &str) -> Option<(String, String)> {
    if congestions().iter().any(|one| one.name == name) {
        return None;
    }
    let settings = (lookup(name).ok()?.settings)();
    let (cc, scheduler) = (settings.get("cc")?, settings.get(KEY)?);
    let window = congestions().iter().any(|one| one.name == cc && one.not_for_tcp.is_none());
    (window && known().any(|word| word == scheduler)).then_some((cc, scheduler))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(spec: &str) -> String {
        scheduler(spec, None).expect_err(spec).to_string()
    }

    #[test]
    fn mistakes_get_one_line_that_helps() {
        let names = format!("choose from {}", known().collect::<Vec<_>>().join(", "));
        assert!(names.starts_with("choose from round-robin, lowest-rtt, redundant"), "{names}");
        assert_eq!(
            error("lowest-rt"),
            format!("unknown scheduler 'lowest-rt', did you mean lowest-rtt?; {names}")
        );
        assert_eq!(error("fifo"), format!("unknown scheduler 'fifo'; {names}"));
        assert_eq!(
            error("redundant,copis=2"),
            "scheme redundant has no key 'copis', did you mean copies?; its keys are copies"
        );
        assert_eq!(
            error("lowest-rtt,beta=1"),
            "scheme lowest-rtt has no key 'beta'; its keys are head-of-line, penalty"
        );
        assert_eq!(error("redundant,copies=0"), "copies can't be '0'; it can be 1 to 16");
        assert_eq!(error("redundant,copies"), "'copies' is not key=value, as in redundant,copies=2");
    }

    /// A scheduler that needs more information than subflows provide is refused with a reason. All other registered
    /// schedulers are available.
    #[test]
    fn schedulers_that_flows_can_not_have_say_why() {
        for (name, why) in [
            ("primary", "it uses the primary path"),
            ("receiver", "the receiver chooses the path"),
            ("loss-order", "it reads estimates"),
            ("earliest-arrival", "it reads estimates"),
            ("fmtcp", "it chooses coded symbols"),
            ("nc-mptcp", "it chooses coded symbols"),
        ] {
            let said = error(name);
            assert!(
                said.starts_with(&format!("'{name}' is not a scheduler of an MPTCP flow: {why}")),
                "{said}"
            );
            assert!(!known().any(|word| word == name) && !said.contains('\n'));
        }
        for name in known() {
            scheduler(name, None).expect(name);
        }
    }

    /// The connection's rule for full receive windows applies unless the scheduler has its own rule.
    #[test]
    fn schedulers_say_what_is_done_about_full_receive_windows() {
        let linux = Some(HeadOfLineConfig::LINUX);
        let copies = Some(HeadOfLineConfig { penalty: false, ..HeadOfLineConfig::LINUX });
        for (spec, own, done) in [
            ("lowest-rtt", linux, linux),
            ("lowest-rtt", None, None),
            ("lowest-rtt,head-of-line=off", linux, None),
            ("lowest-rtt,penalty=off", linux, copies),
            ("ecf", None, linux),
            ("blest", None, linux),
            ("blest,penalty=off", None, copies),
            ("linux", linux, None),
            ("daps", linux, None),
        ] {
            assert_eq!(scheduler(spec, own).expect(spec).head_of_line, done, "{spec}");
        }
    }

    #[test]
    fn a_comparison_names_both() {
        let apart = |spec: &str| window_and_scheduler(spec).expect(spec);
        let both = |cc: &str, scheduler: Option<&str>| (cc.to_owned(), scheduler.map(str::to_owned));
        assert_eq!(apart("cubic"), both("cubic", None));
        assert_eq!(apart("lia"), both("lia", None), "the window, not the preset");
        assert_eq!(apart("cubic,beta=0.6"), both("cubic,beta=0.6", None));
        assert_eq!(apart("cubic,scheduler=round-robin"), both("cubic", Some("round-robin")));
        let (cc, scheduler) = ("cubic,beta=0.6", Some("redundant,copies=2"));
        assert_eq!(apart("cubic, beta=0.6, scheduler=redundant ,copies=2"), both(cc, scheduler));
        assert_eq!(apart("cubic,copies=2,scheduler=redundant,beta=0.6"), both(cc, scheduler), "in any order");
        assert_eq!(apart("cubic,copies=2"), both("cubic,copies=2", None), "the window refuses it");
        assert_eq!(apart("cmt"), both("cmt", None), "a preset with windows that flows can't have");
        let twice = window_and_scheduler("lia,scheduler=redundant,scheduler=redundant").expect_err("twice");
        assert_eq!(twice.to_string(), "scheduler is given twice");
    }
}
