use std::path::PathBuf;

use strandcast_net::interface::{Hardware, Mac};
use strandcast_proto::policy::LinkId;

use super::super::allowance::note;
use super::*;
use crate::live::ledger::Month;
use crate::live::tariff::LinkTariff;

const CAP: u64 = 1_000_000;

/// A monthly allowance for the link with this name.
fn plan(name: &str) -> Link {
    let mut spec = LinkTariff::new(name);
    (spec.left, spec.month_begins) = (Some(CAP), Some(1));
    let mut link = Link::new(spec);
    link.fresh = false;
    link
}

/// A link of the association. Modem 0 has no hardware.
fn seen(id: u32, name: &str, modem: u8, used: u64) -> Seen {
    let mac = (modem > 0).then_some(Mac([0x0c, 0x5b, 0x8f, 0, 0, modem]));
    Seen { id: LinkId(id), name: name.to_owned(), hardware: Hardware::new(mac, None), used }
}

/// A ledger in memory: the bytes of each modem and month, as `credit` gets them.
#[derive(Default)]
struct Sums(Vec<(Hardware, String, u64)>);

impl Sums {
    fn write(&mut self, deposits: Vec<Deposit>) -> Outcome {
        let add = |deposit: Deposit| {
            let (of, since) = (deposit.link.hardware.clone(), deposit.month.begin());
            let at = self.0.iter().position(|(h, s, _)| (h, s) == (&of, &since)).unwrap_or_else(|| {
                self.0.push((of, since, 0));
                self.0.len() - 1
            });
            self.0[at].2 += deposit.bytes;
            (deposit, Ok(self.0[at].2))
        };
        deposits.into_iter().map(add).collect()
    }

    fn of(&self, modem: u8) -> u64 {
        let mac = Some(Mac([0x0c, 0x5b, 0x8f, 0, 0, modem]));
        self.0.iter().filter(|(h, ..)| h.mac == mac).map(|(_, _, sum)| sum).sum()
    }
}

/// A poll of the association, and a write. Returns the events.
fn tick(links: &mut [Link], sums: &mut Sums, now: &[Seen]) -> Vec<Event> {
    note(links, now);
    let mut deposits = Vec::new();
    let rest = collect(links, now, &mut deposits);
    deposits.extend(rest);
    settle(links, sums.write(deposits)).0
}

fn left(links: &[Link]) -> Vec<Option<u64>> {
    links.iter().map(|link| link.left).collect()
}

#[test]
fn an_allowance_is_known_once_its_link_is_there() {
    let (mut links, mut sums) = (vec![plan("wwan0")], Sums::default());
    sums.0.push((seen(1, "", 1, 0).hardware, Month::of(SystemTime::now(), 1).begin(), 300));
    assert!(capped(&links[0]).is_none(), "the ledger was not read");
    assert!(tick(&mut links, &mut sums, &[]).is_empty());
    let news = tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 50)]);
    assert!(matches!(&news[..], [Event::Allowance { left, of: CAP, .. }] if *left == CAP - 350), "{news:?}");
    assert!(links[0].fresh, "the association has another figure");
    assert!(tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 70)]).is_empty());
    assert_eq!((left(&links), sums.of(1)), (vec![Some(CAP - 370)], 370));
}

#[test]
fn exchanged_names_change_no_count() {
    let (mut links, mut sums) = (vec![plan("wwan0"), plan("wwan1")], Sums::default());
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 100), seen(2, "wwan1", 2, 500_000)]);
    tick(&mut links, &mut sums, &[seen(1, "wwan1", 1, 110), seen(2, "wwan0", 2, 500_000)]);
    assert_eq!(left(&links), [Some(CAP - 110), Some(CAP - 500_000)]);
    assert_eq!((sums.of(1), sums.of(2)), (110, 500_000));
    // In a new association counts begin again, and the hardware identifies the links.
    for link in &mut links {
        link.fresh = false;
        link.forget();
    }
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 5)]);
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 5), seen(7, "wwan1", 2, 1)]);
    assert_eq!(left(&links), [Some(CAP - 115), Some(CAP - 500_001)]);
    assert_eq!((sums.of(1), sums.of(2)), (115, 500_001));
}

#[test]
fn another_device_under_the_name_has_its_own_sum() {
    let (mut links, mut sums) = (vec![plan("wwan0")], Sums::default());
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 100)]);
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 2, 130)]);
    assert_eq!((sums.of(1) + sums.of(2), left(&links)), (130, vec![Some(CAP - sums.of(2))]));
    // No answer of the kernel is no other device.
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 0, 140)]);
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 2, 150)]);
    assert_eq!(sums.of(1) + sums.of(2), 150);
}

#[test]
fn bytes_that_were_not_written_are_written_later() {
    let (mut links, mut sums) = (vec![plan("wwan0")], Sums::default());
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 10)]);
    note(&mut links, &[seen(1, "wwan0", 1, 90)]);
    let failed = || Err(Error::Store("no room".into()));
    let deposits = collect(&mut links, &[], &mut Vec::new());
    let (news, lost) = settle(&mut links, deposits.into_iter().map(|one| (one, failed())).collect());
    assert!(news.is_empty() && lost.is_empty());
    assert_eq!(left(&links), [Some(CAP - 90)]);
    // The month ends before it succeeds.
    links[0].monthly.as_mut().expect("it is monthly").month = Month::of(SystemTime::UNIX_EPOCH, 1);
    let mut closed = Vec::new();
    let next = collect(&mut links, &[], &mut closed);
    assert_eq!((closed.len(), closed[0].bytes, next[0].bytes), (1, 80, 0));
    assert_eq!(left(&links), [Some(CAP)], "another month");
    let (_, lost) = settle(&mut links, closed.into_iter().map(|one| (one, failed())).collect());
    assert_eq!(lost[0].bytes, 80, "it is tried again");
}

/// A tariff is replaced, or the stream is cancelled, while a deposit is written: no byte counts twice, and none is lost.
#[test]
fn bytes_that_are_being_written_count_once() {
    for works in [true, false] {
        let (mut links, mut sums) = (vec![plan("wwan0")], Sums::default());
        tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 10)]);
        let now = [seen(1, "wwan0", 1, 90)];
        note(&mut links, &now);
        let written = collect(&mut links, &now, &mut Vec::new());
        note(&mut links, &[seen(1, "wwan0", 1, 95)]);
        let rest = links[0].monthly.as_ref().and_then(Monthly::rest).expect("five bytes");
        assert_eq!(rest.bytes, 5);
        // The new tariff.
        links[0] = plan("wwan0");
        let outcome = match works {
            true => sums.write(written),
            false => written.into_iter().map(|one| (one, Err(Error::Store("no room".into())))).collect(),
        };
        let (_, lost) = settle(&mut links, outcome);
        sums.write(lost);
        sums.write(vec![rest]);
        assert_eq!(sums.of(1), 95, "the write succeeds: {works}");
    }
}

#[test]
fn another_process_uses_the_link_too() {
    let (mut links, mut sums) = (vec![plan("wwan0")], Sums::default());
    tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 10)]);
    links[0].fresh = false;
    sums.0[0].2 += 4000;
    assert!(tick(&mut links, &mut sums, &[seen(1, "wwan0", 1, 20)]).is_empty());
    assert_eq!((left(&links), links[0].fresh), (vec![Some(CAP - 4020)], true));
}

#[tokio::test]
async fn the_end_of_a_stream_writes_the_rest_or_says_that_it_cannot() {
    let folder = std::env::temp_dir().join(format!("strandcast-monthly-{}", std::process::id()));
    let links = Mutex::new(vec![plan("wwan0")]);
    let lock = || links.lock().expect("no holder panics");
    for (path, works) in
        [(folder.join("ledger.toml"), true), (PathBuf::from("/proc/none/ledger.toml"), false)]
    {
        let keeper = Keeper::new(Ledger::at(path.clone()));
        let now = [seen(1, "wwan0", 1, if works { 40 } else { 90 })];
        note(&mut lock(), &now);
        collect(&mut lock(), &now, &mut Vec::new());
        let said = keeper.finish(lock).await;
        assert_eq!(matches!(said, Some(Event::Ledger { .. })), !works, "{said:?}");
        if works {
            let text = std::fs::read_to_string(&path).expect("it was written");
            assert!(text.contains("used = 40\n"), "{text}");
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
