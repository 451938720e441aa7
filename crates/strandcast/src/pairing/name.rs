//! Names that the user gives to receivers and senders.

use std::str::FromStr;

/// Maximum length of a name.
const LONGEST: usize = 32;

/// A name that consists of letters, digits, `-`, `_` and `.`. The first character is a letter or a digit, so that a
/// name cannot be an option or a hidden file. A name needs no quotes in a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `strandcast send` accepts names with this prefix.
        let text = text.strip_prefix('@').unwrap_or(text);
        let first = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let rest = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        match text.len() {
            1..=LONGEST if first && rest => Ok(Name(text.to_owned())),
            1..=LONGEST => Err("a name has letters, digits, -, _ and ., and begins with a letter or a digit"),
            _ => Err("a name has 1 to 32 characters"),
        }
    }
}

/// Returns the name among `known` that the user probably meant by `name`.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|other| (strsim::damerau_levenshtein(name, other), other));
    near.min().filter(|(distance, other)| *distance <= 1 + other.len() / 4).map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["studio", "a", "7", "Van-2.left_side"] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        assert_eq!("@studio".parse::<Name>().unwrap().as_str(), "studio");
        for bad in ["", "@", "-x", ".hidden", "a b", "a/b", "größe", "a\n", &"x".repeat(33)] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_nearest_name_is_one_that_was_meant() {
        let known = ["studio", "van", "helicopter"];
        let near = |name: &str| nearest(name, known.into_iter());
        assert_eq!(near("studoi"), Some("studio"));
        assert_eq!(near("helicoper"), Some("helicopter"));
        assert_eq!(near("vna"), Some("van"));
        assert_eq!(near("kitchen"), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }
}
