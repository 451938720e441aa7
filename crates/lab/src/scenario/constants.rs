//! Constants of TCP as the simulator takes them.

use strandcast_sim::tcp::{self, Config, ConfigError};

use super::model::Tcp;
use super::value::TcpValue;

impl Tcp {
    /// The constants that the scenario asks for: those of a profile with single ones replaced.
    ///
    /// # Errors
    /// The first thing that is wrong, with the nearest right one.
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
