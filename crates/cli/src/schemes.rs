//! `strandcast schemes`.

use crate::args::SchemesArgs;
use serde_json::{Value, json};
use strandcast_schemes::{Key, Preset, presets};

/// Lists the presets.
pub(crate) fn run(args: &SchemesArgs) {
    if args.json {
        let all: Vec<Value> = presets().iter().map(as_json).collect();
        println!("{:#}", json!({ "schemes": all }));
        return;
    }
    for preset in presets() {
        println!("{}: {}", preset.name, preset.summary);
        println!("  paper: {}", preset.paper);
        for (role, part) in preset.parts {
            println!("  {role}: {part}");
        }
        for key in preset.keys {
            println!("  {}", line(preset, key));
        }
        println!();
    }
    println!("Parameters follow the name: --scheme cmt,rtx=ssthresh,dac=off");
}

fn line(preset: &Preset, key: &Key) -> String {
    let (name, default) = (key.name, preset.default_of(key));
    format!("  {name}={default:<12} {} ({})", key.summary, key.values.describe())
}

fn as_json(preset: &Preset) -> Value {
    let key = |key: &Key| {
        json!({
            "name": key.name, "default": preset.default_of(key), "values": key.values.describe(),
            "summary": key.summary,
        })
    };
    let parts: serde_json::Map<String, Value> =
        preset.parts.iter().map(|(role, part)| ((*role).to_owned(), json!(part))).collect();
    json!({
        "name": preset.name, "paper": preset.paper, "summary": preset.summary, "parts": parts,
        "parameters": preset.keys.iter().map(key).collect::<Vec<_>>(),
    })
}
