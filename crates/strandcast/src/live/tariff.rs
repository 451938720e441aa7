//! Costs of a link.

use std::time::Duration;

use crate::text::size;

/// Costs of data on a link, and the part of them that may be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkTariff {
    /// Name of the path: its interface or address.
    pub link: String,
    /// Cost class. Links of a higher class are used only if links of lower classes do not suffice.
    pub class: u8,
    /// Price of 10^9 bytes.
    pub price: Option<f64>,
    /// Bytes that may be used. If [`LinkTariff::month_begins`] is set, they are the allowance of each month.
    pub left: Option<u64>,
    /// Day of the calendar month on which a month of the plan begins, 1 to 28, by the date in UTC. The bytes that were
    /// used before in this month are in the [ledger](crate::live::SenderConfig::ledger). `None`: the allowance counts
    /// from the start of the stream.
    pub month_begins: Option<u8>,
    /// Time for which these bytes have to last.
    pub lasts: Option<Duration>,
}

impl LinkTariff {
    /// Makes the tariff of a link without costs.
    pub fn new(link: impl Into<String>) -> LinkTariff {
        LinkTariff { link: link.into(), class: 0, price: None, left: None, month_begins: None, lasts: None }
    }

    /// Parses the costs of data on a link, given in parts such as `class=2` and `left=5GB`. `wanted` lists the keys in
    /// the form in which a user writes them.
    ///
    /// # Errors
    /// Returns a line with the part that is wrong, and the remedy.
    pub fn parse<'a>(
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
