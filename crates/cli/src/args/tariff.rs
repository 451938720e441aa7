//! `--tariff`: the costs of data on a link.

use strandcast::live::LinkTariff;

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
    let spec = LinkTariff::parse(link, others.into_iter(), LIST)?;
    if link.is_empty() {
        return Err(format!("{text:?} names no interface: add if=NAME"));
    }
    Ok(spec)
}

/// Keys of `--tariff`.
const LIST: &str =
    "if=INTERFACE, class=N, left=SIZE, for=TIME, month=SIZE, day=N or price=N, separated by commas";

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
