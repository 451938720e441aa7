//! An examination in the process of its receiver, over loopback.

use std::time::{Duration, SystemTime};

use strandcast::doctor::{Doctor, Report, Wait};
use strandcast::pairing::{Destination, Gate, Pairing, Store};

use crate::common::{Collect, Folder, receiver};

/// A clock that is two days fast.
fn fast() -> SystemTime {
    SystemTime::now() + Duration::from_secs(2 * 86_400)
}

fn codes(report: &Report) -> Vec<&str> {
    report.findings.iter().map(|finding| finding.code).collect()
}

#[tokio::test]
async fn a_clock_that_is_two_days_off_is_named_and_a_right_one_is_not() {
    let folder = Folder::new();
    let (studio, van) = (Store::at(folder.join("studio/identity")), Store::at(folder.join("van/identity")));
    let gate = Gate::open(&studio, None).expect("a new identity");
    let (_receiver, address) = receiver(None, |config| config.gate = Some(gate), Collect::default());
    let host = address.to_string().parse().expect("it is a host");
    let string = studio.pair(&[host], false, None).expect("a new pairing");
    let to = Destination::paired(&van, Pairing::decode(&string).expect("it is one")).expect("a new identity");
    let mut doctor = Doctor::default();
    doctor.target = Some((to.label.clone(), to.hosts.clone()));
    (doctor.to, doctor.store, doctor.wait) = (Some(to), Some(van), Wait::None);
    let report = doctor.examine().await.expect("loopback is there");
    assert!(codes(&report).is_empty(), "{report:?}");
    doctor.now = fast;
    let report = doctor.examine().await.expect("loopback is there");
    assert_eq!(codes(&report), ["clock"], "{report:?}");
}
