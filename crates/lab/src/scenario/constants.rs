//! Constants that other crates declare.

use std::collections::BTreeMap;

use strandcast_keys::{Key, Keyed, Values};
use strandcast_radio::{DcfConfig, MediumConfig, MobilityConfig};
use strandcast_sim::tcp::{self, Config, ConfigError};

use super::error::hint;
use super::model::Tcp;
use super::spec::{Constant, ConstantSet};
use super::table::{Item, Read, Table};
use super::tree::Value;
use super::typed::Constants;
use super::units::Quantity;
use super::value::{Named, TcpValue};

impl Tcp {
    /// Constants of the scenario: those of a profile, with the values that the scenario replaces.
    ///
    /// # Errors
    /// Returns the first invalid key or value, with the nearest valid one.
    pub fn config(&self) -> Result<Config, ConfigError> {
        Config::of_profile(&self.profile, self.set.iter().map(|(key, value)| (key.as_str(), value.into())))
    }
}

impl From<&TcpValue> for tcp::TcpValue {
    fn from(value: &TcpValue) -> Self {
        match value {
            TcpValue::Number(number) => tcp::TcpValue::Number(*number),
            TcpValue::Word(word) => tcp::TcpValue::Word(word.clone()),
            TcpValue::Switch(on) => tcp::TcpValue::Switch(*on),
        }
    }
}

/// Constants of TCP, which docs/models/tcp.md describes.
pub(super) static TCP_CONSTANTS: ConstantSet = ConstantSet {
    name: "tcp",
    keys: || Config::keys().map(|key| Constant { name: key.into(), described: None }).collect(),
};

/// Constants of a radio's medium.
pub(super) static MEDIUM: ConstantSet =
    ConstantSet { name: "radio_medium", keys: || listed(&MediumConfig::default()) };

/// Constants of IEEE 802.11's distributed coordination function.
pub(super) static DCF: ConstantSet =
    ConstantSet { name: "radio_dcf", keys: || listed(&DcfConfig::default()) };

/// Constants of moving stations.
pub(super) static MOBILITY: ConstantSet =
    ConstantSet { name: "radio_mobility", keys: || listed(&MobilityConfig::default()) };

fn listed(keyed: &dyn Keyed) -> Vec<Constant> {
    let constant = |key: Key| {
        let value = match key.values {
            Values::OneOf(words) => {
                words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
            }
            Values::Switch => "true or false".into(),
            Values::Number(..) | Values::Decimal(..) => key.values.describe(),
        };
        let default = match keyed.get(key.name).as_deref() {
            Some("on") => "true".into(),
            Some("off") if key.values == Values::Switch => "false".into(),
            other => other.unwrap_or_default().to_owned(),
        };
        Constant { name: key.name.replace('-', "_"), described: Some([value, default, key.summary.into()]) }
    };
    keyed.keys().into_iter().map(constant).collect()
}

/// Reads the constants in a key's table into `config`. Returns them in the form that `config` writes.
pub(super) fn keyed(table: &Table<'_>, key: &Constants, config: &mut dyn Keyed) -> Read<Named<String>> {
    let mut set = BTreeMap::new();
    for (name, item) in table.item_or_empty(&key.key).children()? {
        let word = name.replace('_', "-");
        let keys = config.keys();
        let Some(known) = keys.iter().find(|known| known.name == word && !name.contains('-')) else {
            let names: Vec<String> = keys.iter().map(|known| known.name.replace('-', "_")).collect();
            let hint = hint(&name, names.iter().map(String::as_str));
            return Err(item.error(format!("unknown key{hint}")));
        };
        let text = text(&item, known)?;
        config.set(known.name, &text).map_err(|bad| item.wrong(&bad.expected))?;
        set.insert(name, config.get(known.name).unwrap_or(text));
    }
    Ok(set)
}

/// A value in the format of the key's own crate. The value is in the unit of the key.
fn text(item: &Item<'_>, key: &Key) -> Read<String> {
    Ok(match &item.node.value {
        Value::Integer(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        Value::Switch(on) => if *on { "on" } else { "off" }.into(),
        Value::Text(text) => match key.values {
            Values::OneOf(_) => text.strip_suffix("Mbit/s").unwrap_or(text).trim().into(),
            Values::Switch => text.clone(),
            Values::Number(_, _, unit) => libm::round(measured(item, text, unit)?).to_string(),
            Values::Decimal(_, _, unit) => measured(item, text, unit)?.to_string(),
        },
        Value::Date(_) | Value::List(_) | Value::Table(_) => return Err(item.wrong(&key.values.describe())),
    })
}

/// Reads a number with or without a unit. Returns it in multiples of `unit`.
fn measured(item: &Item<'_>, text: &str, unit: &str) -> Read<f64> {
    let (quantity, times) = match unit {
        "m" => (Quantity::Distance, 1.0),
        "m/s" => (Quantity::Speed, 1.0),
        "s" => (Quantity::Time, 1.0),
        "ms" => (Quantity::Time, 1e3),
        "us" => (Quantity::Time, 1e6),
        "bytes" => (Quantity::Size, 1.0),
        "packets" => (Quantity::Packets, 1.0),
        "dB" => (Quantity::Decibel, 1.0),
        _ => (Quantity::Plain, 1.0),
    };
    let own = text.strip_suffix(unit).unwrap_or(text).trim();
    match own.parse::<f64>() {
        Ok(n) => Ok(n),
        Err(_) => quantity.parse(text).map(|n| n * times).map_err(|wrong| item.error(wrong)),
    }
}
