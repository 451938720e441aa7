//! Keys and tokens in the files of the store.

/// A public key as text.
pub(super) mod key_form {
    use crate::pairing::forms::{key_text, parse_key};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use strandcast_seal::PublicKey;

    pub(in super::super) fn serialize<S: Serializer>(key: &PublicKey, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&key_text(key))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PublicKey, D::Error> {
        parse_key(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// A token as text. Copies in this program are erased after use.
pub(super) mod token_form {
    use crate::pairing::forms::{parse_token, token_text};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use strandcast_seal::Token;
    use zeroize::Zeroizing;

    pub(in super::super) fn serialize<S: Serializer>(token: &Token, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&token_text(token))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Token, D::Error> {
        let text = Zeroizing::new(String::deserialize(from)?);
        parse_token(&text).map_err(D::Error::custom)
    }
}
