//! `--tariff`: the costs of data on a link.

use std::time::Duration;

use strandcast::live::LinkTariff;

use crate::memory::size;

/// Parses the costs of data on an interface, such as `if=wwan0,class=2,left=5GB`.
pub(crate) fn tariff(text: &str) -> Result<LinkTariff, String> {
    let mut link = "";
    let mut others = Vec::new();
    for part in text.split(',') {
        match part.strip_prefix("if=") {
            Some(name) if !link.is_empty() && !name.is_empty() => return Err("if= is given twice".to_owned()),
            Some(name) if !name.is_empty() => link = name,
            _ => others.push(part),
        }
    }
    let spec = tariff_of(link, others.into_iter(), LIST)?;
    if link.is_empty() {
        return Err(format!("{text:?} names no interface: add if=NAME"));
    }
    Ok(spec)
}

/// Keys of `--tariff`.
const LIST: &str =
    "if=INTERFACE, class=N, left=SIZE, for=TIME, month=SIZE, day=N or price=N, separated by commas";

/// Parses the costs of data on a link, given in parts such as `class=2`. `wanted` lists the keys in the form in which a
/// user writes them.
pub(crate) fn tariff_of<'a>(
    link: &str,
    parts: impl Iterator<Item = &'a str>,
    wanted: &str,
) -> Result<LinkTariff, String> {
    let expected = |part: &str| format!("{part:?}: expected {wanted}");
    let mut spec = LinkTariff::new(link);
    let (mut month, mut day) = (None, None);
    let mut seen: Vec<&str> = Vec::new();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| expected(part))?;
        if seen.contains(&key) {
            return Err(format!("{key}= is given twice"));
        }
        seen.push(key);
        match key {
            "class" => spec.class = value.parse().map_err(|_| wrong(key, value, "0 to 255"))?,
            "price" => spec.price = Some(price(value)?),
            "left" => spec.left = Some(size(value)? as u64),
            "for" => spec.lasts = Some(span(value)?),
            "month" => month = Some(size(value)? as u64),
            "day" => {
                day = Some(value.parse().ok().filter(|day| (1..=28).contains(day)).ok_or_else(|| {
                    wrong(key, value, "1 to 28, the day on which a month of the plan begins")
                })?)
            }
            _ => return Err(expected(part)),
        }
    }
    set_month(&mut spec, month, day)?;
    Ok(spec)
}

/// Sets an allowance of each month.
fn set_month(spec: &mut LinkTariff, month: Option<u64>, day: Option<u8>) -> Result<(), String> {
    match (month, day) {
        (Some(_), _) if spec.left.is_some() || spec.lasts.is_some() => {
            return Err("month= is the allowance of each month: it has no left= or for=".to_owned());
        }
        (Some(_), day) => (spec.left, spec.month_begins) = (month, day.or(Some(1))),
        (None, Some(_)) => return Err("day= needs month=SIZE, the allowance of each month".to_owned()),
        (None, None) => {}
    }
    Ok(())
}

fn wrong(key: &str, value: &str, wanted: &str) -> String {
    format!("{key}={value}: expected {wanted}")
}

fn price(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|p: &f64| p.is_finite() && *p >= 0.0);
    parsed.ok_or_else(|| wrong("price", text, "a number, the price of 10^9 bytes"))
}

/// Parses a time in seconds, hours (`12h`) or days (`30d`).
fn span(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.as_bytes().last() {
        Some(b'd') => (&text[..text.len() - 1], 86_400.0),
        Some(b'h') => (&text[..text.len() - 1], 3600.0),
        Some(b's') => (&text[..text.len() - 1], 1.0),
        _ => (text, 1.0),
    };
    let parsed = number.parse().ok().map(|n: f64| n * unit).filter(|s| (1.0..=1e9).contains(s));
    parsed.map(Duration::from_secs_f64).ok_or_else(|| wrong("for", text, "a time, as 12h or 30d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_any_order() {
        let all = tariff("left=5GB,if=wwan0,for=30d,class=2,price=4.5").expect("it is one");
        assert_eq!((all.link.as_str(), all.class, all.price), ("wwan0", 2, Some(4.5)));
        assert_eq!((all.left, all.lasts), (Some(5_000_000_000), Some(Duration::from_secs(30 * 86_400))));
        let least = tariff("if=wwan0").expect("it is one");
        assert_eq!((least.class, least.left, least.lasts, least.price), (0, None, None, None));
    }

    #[test]
    fn an_allowance_of_each_month() {
        let plan = tariff("if=wwan0,month=5GB,day=15").expect("it is one");
        assert_eq!((plan.left, plan.month_begins, plan.lasts), (Some(5_000_000_000), Some(15), None));
        assert_eq!(tariff("if=wwan0,month=5GB").expect("it is one").month_begins, Some(1));
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| tariff(text).expect_err(text);
        assert!(why("class=1").contains("names no interface"));
        assert!(why("if=").contains("expected if=INTERFACE"));
        assert!(why("if=a,class=1,class=2").contains("class= is given twice"));
        assert!(why("if=a,class=256").contains("0 to 255"));
        assert!(why("if=a,price=-1").contains("price"));
        assert!(why("if=a,for=0d").contains("30d"));
        assert!(why("if=a,cap=5GB").contains("left=SIZE"));
        assert!(why("if=a,month=5GB,day=29").contains("1 to 28"));
        assert!(why("if=a,month=5GB,left=1GB").contains("no left= or for="));
        assert!(why("if=a,day=3").contains("needs month=SIZE"));
    }
}
