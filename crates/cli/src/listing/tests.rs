use super::*;

/// Output for people who ask for `specs`.
fn told(specs: &[&str], all: bool, columns: Option<usize>) -> String {
    let specs: Vec<String> = specs.iter().map(ToString::to_string).collect();
    list(&Listing { specs: &specs, all, json: false, columns }).expect("they are specs")
}

/// The keys that a description lists, each with its default.
fn keys(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    lines.filter_map(|line| line.split_whitespace().next()).filter(|word| word.contains('=')).collect()
}

#[test]
fn the_table_has_one_line_for_each_scheme() {
    let text = told(&[], false, None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), presets().len() + 2, "a heading and a line that says how to see more");
    for (line, preset) in lines[1..].iter().zip(presets()) {
        let words = [preset.name, preset.source(), preset.summary];
        assert!(line.starts_with(preset.name) && words.iter().all(|word| line.contains(word)), "{line}");
    }
    let last = lines[lines.len() - 1];
    assert!(last.contains("strandcast schemes NAME") && last.contains("--all"), "{last}");
}

#[test]
fn the_table_fits_the_terminal_and_marks_what_it_cuts() {
    for columns in [80, 100, 132, 200] {
        let text = told(&[], false, Some(columns));
        assert_eq!(text.lines().count(), presets().len() + 2, "{columns}");
        for (line, preset) in text.lines().skip(1).zip(presets()) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
            let begin: String = preset.summary.chars().take(20).collect();
            assert!(line.starts_with(preset.name) && line.contains(&begin), "{columns}: {line}");
            assert!(line.ends_with(preset.summary) || line.ends_with('…'), "{columns}: {line}");
        }
    }
    assert_eq!(told(&[], false, Some(200)), told(&[], false, None));
}

#[test]
fn a_source_is_short() {
    for preset in presets() {
        let source = preset.source();
        assert!(preset.paper.starts_with(source) && (4..=41).contains(&source.len()), "{source}");
    }
}

#[test]
fn a_description_lists_the_keys_of_the_chosen_parts_alone() {
    for preset in presets() {
        let spec = parse_spec(preset.name).expect("a preset alone is a spec");
        let wanted: Vec<String> =
            spec.keys().iter().map(|key| format!("{key}={}", spec.value(key).unwrap_or_default())).collect();
        let text = told(&[preset.name], false, None);
        let mut listed = keys(&text);
        let mut wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        listed.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(listed, wanted, "{}", preset.name);
    }
}

/// No key says that it belongs to another part than those chosen.
#[test]
fn a_description_names_no_other_part() {
    for preset in presets() {
        let spec = parse_spec(preset.name).expect("a preset alone is a spec");
        for key in spec.in_use() {
            let foreign = key.parts().find(|(role, word)| spec.value(role).as_deref() != Some(*word));
            assert_eq!(foreign, None, "{}: {}", preset.name, key.name);
        }
    }
}

#[test]
fn strand_lists_what_its_parts_have() {
    let text = told(&["strand"], false, None);
    let listed = keys(&text);
    for key in ["scheduler=wary", "cc=queue-aware", "loss=silence", "feedback=heartbeats", "rtx=scheduler"] {
        assert!(listed.contains(&key), "{key}: {text}");
    }
    for key in ["last-moment=on", "data-probe=25", "triage=off", "initial-cwnd=10", "pf=on", "fec=off"] {
        assert!(listed.contains(&key), "{key}: {text}");
    }
    let names: Vec<&str> = listed.iter().filter_map(|key| key.split('=').next()).collect();
    for key in ["m", "psi", "turn", "copies", "ecf-beta", "train", "head-of-line", "fmtcp-delta"] {
        assert!(!names.contains(&key), "{key}: {text}");
    }
    for part in ["loss=sfr", "loss=raf", "scheduler=loss-order", "feedback=dac"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("sfr, rfc, raf, silence)"), "which parts could be chosen: {text}");
    assert!(text.lines().last().is_some_and(|line| line.contains("--all")), "{text}");
}

#[test]
fn all_lists_every_key_of_every_part() {
    for preset in presets() {
        let text = told(&[preset.name], true, None);
        let all = keys(&text);
        let chosen = told(&[preset.name], false, None);
        assert!(keys(&chosen).iter().all(|key| all.contains(key)), "{}", preset.name);
        assert_eq!(all.len(), preset.keys().len(), "{}", preset.name);
    }
    let text = told(&[], true, None);
    assert!(presets().iter().all(|p| text.contains(&format!("{}: {}", p.name, &p.summary[..20]))));
    assert!(keys(&told(&["strand"], true, None)).contains(&"m=20"));
}

#[test]
fn only_schemes_with_other_parts_mention_all() {
    for (name, others) in [("cmt", true), ("cmt-qa", false)] {
        assert_eq!(told(&[name], false, None).contains("--all"), others, "{name}");
    }
}

#[test]
fn a_spec_lists_the_keys_of_the_parts_that_it_chooses() {
    let text = told(&["strand,loss=raf"], false, None);
    assert!(text.starts_with("strand,loss=raf: bond that learns"), "{text}");
    assert!(text.contains("  loss: raf, in place of: split fast"), "{text}");
    let listed = keys(&text);
    assert!(listed.contains(&"loss=raf") && listed.contains(&"m=20"), "{text}");
    assert!(!listed.iter().any(|key| key.starts_with("last-moment=")), "{text}");
    let text = told(&["cmt,cc=cubic,beta=0.5"], false, None);
    assert!(keys(&text).contains(&"beta=0.5") && keys(&text).contains(&"fast-convergence=on"), "{text}");
    let text = told(&["strand,rtx=same"], true, None);
    assert!(keys(&text).contains(&"rtx=same") && keys(&text).contains(&"m=20"), "{text}");
}

#[test]
fn mistakes_are_told_in_one_line() {
    let error = |spec: &str| {
        let specs = [spec.to_owned()];
        let asked = Listing { specs: &specs, all: false, json: false, columns: None };
        list(&asked).expect_err(spec).to_string()
    };
    for (spec, meant) in
        [("strnad", "did you mean strand?"), ("strand,los=raf", "did you mean loss?"), ("reno", "cc=reno")]
    {
        let line = error(spec);
        assert!(line.contains(meant) && !line.contains('\n'), "{line}");
    }
}

#[test]
fn json_has_every_key_whatever_is_asked_for() {
    let specs = ["strand".to_owned()];
    let json = |all| list(&Listing { specs: &specs, all, json: true, columns: Some(80) }).expect("it exists");
    assert_eq!(json(false), json(true));
    let value: serde_json::Value = serde_json::from_str(&json(false)).expect("it is JSON");
    let keys = value["schemes"][0]["parameters"].as_array().expect("a list");
    assert_eq!(keys.len(), keys_of("strand").len());
    assert_eq!((&keys[0]["name"], &keys[0]["default"]), (&"scheduler".into(), &"wary".into()));
    let none = Listing { specs: &[], all: false, json: true, columns: None };
    let all: serde_json::Value =
        serde_json::from_str(&list(&none).expect("all presets have descriptions")).expect("it is JSON");
    let names = all["schemes"].as_array().expect("a list").iter().map(|scheme| scheme["name"].as_str());
    assert!(names.eq(presets().iter().map(|preset| Some(preset.name))));
}

fn keys_of(name: &str) -> Vec<Listed> {
    presets().iter().find(|preset| preset.name == name).expect("it exists").keys()
}

#[test]
fn keys_stand_in_columns_and_fit_a_page() {
    for columns in [None, Some(80), Some(200)] {
        let text = told(&[], true, columns);
        let width = columns.unwrap_or(WIDTH).min(WIDTH);
        assert_eq!(text.lines().find(|line| line.chars().count() > width), None, "{columns:?}");
        for preset in presets() {
            for key in preset.keys() {
                let word = format!("    {}={}", key.name, key.default);
                assert!(text.lines().any(|line| line.starts_with(&word)), "{word}");
            }
        }
    }
}

#[test]
fn long_lines_are_wrapped() {
    let mut text = String::new();
    put(&mut text, "    key=1  ", 11, &"word ".repeat(41), WIDTH);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("    key=1  word") && lines[1].starts_with("           word"));
    assert_eq!(text.split_whitespace().filter(|w| *w == "word").count(), 41);
}
