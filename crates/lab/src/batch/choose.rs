//! Parsing of `--scheme`, and the flows to which it applies.

use strandcast_keys::catalog::{Catalog, Description};

use crate::scenario::{Flow, Scenario, Transport};

/// Splits a list of specs such as `a,b,key=value,c`. A word with `=` belongs to the previous spec.
///
/// # Errors
/// A one-line diagnostic.
pub fn split(list: &str, catalog: &dyn Catalog) -> Result<Vec<String>, String> {
    let wrong = |what: String| format!("--scheme {list}: {what}");
    let mut specs: Vec<String> = Vec::new();
    for word in list.split(',').map(str::trim) {
        match specs.last_mut() {
            _ if word.is_empty() => return Err(wrong("a name is missing, as in cmt,sctp".into())),
            Some(spec) if word.contains('=') => {
                spec.push(',');
                spec.push_str(word);
            }
            None if word.contains('=') => {
                return Err(wrong(format!("'{word}' needs a scheme before it, as in cmt,rtx=same")));
            }
            Some(spec) if is_key_of(word, spec, catalog) => {
                let name = spec.split(',').next().unwrap_or(spec);
                return Err(wrong(format!(
                    "'{word}' of {name} has no value, as in {word}=…; see `schemes {name}`"
                )));
            }
            _ => specs.push(word.to_owned()),
        }
    }
    match specs.iter().enumerate().find(|(i, spec)| specs[..*i].contains(spec)) {
        Some((_, spec)) => Err(wrong(format!("{spec} is given twice"))),
        None => Ok(specs),
    }
}

/// Returns whether `word` is a parameter of the scheme in `spec`, and not the name of another scheme.
fn is_key_of(word: &str, spec: &str, catalog: &dyn Catalog) -> bool {
    let name = spec.split(',').next().unwrap_or(spec);
    let has_key = |scheme: Description| scheme.keys.iter().any(|key| key.name == word);
    catalog.describe(word).is_err() && catalog.describe(name).is_ok_and(has_key)
}

/// Error for a scenario in which no flow is marked for comparison, although there are several candidates.
#[derive(Debug, PartialEq, Eq)]
pub struct AmbiguousFlow {
    /// Key that resolves the ambiguity.
    pub key: String,
    /// Description of the mistake and its remedy.
    pub message: String,
}

/// Ensures that a flow of `scenario` is marked for comparison. If no flow is marked, it marks the only multipath flow.
/// If there is no multipath flow, it marks the only flow over TCP.
///
/// # Errors
/// [`AmbiguousFlow`].
pub fn mark_compared(scenario: &mut Scenario) -> Result<(), AmbiguousFlow> {
    if scenario.flows.values().any(|flow| flow.compare) {
        return Ok(());
    }
    let named = |kind: fn(&Flow) -> bool| {
        let found = scenario.flows.iter().filter(|(_, flow)| kind(flow));
        found.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let several = named(|flow| matches!(flow.transport, Transport::Sctp { .. } | Transport::Mptcp { .. }));
    let candidates = match several.as_slice() {
        [] => named(|flow| matches!(flow.transport, Transport::Tcp { .. })),
        _ => several,
    };
    match candidates.as_slice() {
        [only] => {
            scenario.flows.entry(only.clone()).and_modify(|flow| flow.compare = true);
            Ok(())
        }
        [] => Err(AmbiguousFlow {
            key: "flows".into(),
            message: "no flow has a scheme that --scheme could replace; give one transport = \"sctp\"".into(),
        }),
        [first, ..] => Err(AmbiguousFlow {
            key: format!("flows.{first}.compare"),
            message: format!(
                "--scheme may apply to any of {}; set `compare = true` in those that it applies to",
                candidates.join(", ")
            ),
        }),
    }
}

/// Returns whether `key` (such as `flows.video.scheme`) sets the scheme of a compared flow.
pub fn is_of_scheme(scenario: &Scenario, key: &str) -> bool {
    let compared = scenario.flows.iter().filter(|(_, flow)| flow.compare);
    let mut names = compared.map(|(name, _)| name);
    names.any(|name| ["scheme", "cc"].iter().any(|last| key == format!("flows.{name}.{last}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandcast_schemes::Presets;

    fn specs(list: &str) -> Vec<String> {
        split(list, &Presets).expect(list)
    }

    #[test]
    fn parameters_belong_to_the_scheme_before_them() {
        assert_eq!(specs("cmt,rtx=cwnd,lia"), ["cmt,rtx=cwnd", "lia"]);
        assert_eq!(specs("cmt, rtx=cwnd, dac=off ,sctp"), ["cmt,rtx=cwnd,dac=off", "sctp"]);
        assert_eq!(specs("cmt,cmt,rtx=same"), ["cmt", "cmt,rtx=same"]);
        assert_eq!(specs("mine.py:Mine,base=cmt,cmt-la"), ["mine.py:Mine,base=cmt", "cmt-la"]);
        assert_eq!(
            specs("cmt,lab.m:A,lab.m:B,base=cmt,rtx=same"),
            ["cmt", "lab.m:A", "lab.m:B,base=cmt,rtx=same"]
        );
    }

    #[test]
    fn invalid_lists_are_refused() {
        for (list, word) in [
            ("", "missing"),
            ("cmt,,lia", "missing"),
            ("cmt-cl-fd,alpha", "'alpha' of cmt-cl-fd has no value"),
            ("rtx=same,cmt", "needs a scheme before it"),
            ("cmt,lia,cmt", "cmt is given twice"),
            ("cmt,rtx=same,cmt,rtx=same", "cmt,rtx=same is given twice"),
        ] {
            let error = split(list, &Presets).expect_err(list);
            assert!(error.contains(word) && !error.contains('\n'), "{error}");
        }
    }
}
