//! Keys with their types. The declaration of a table creates them, and readers and writers use them.

use serde_json::Value as Json;

use super::spec::{ConstantSet, Default, Key, Keys, ValueType, Variants};
use super::table::{Item, Read, Table};
use super::tree::Value;
use super::warning::Longest;

/// A type of value: its meaning, its parser and its output.
pub(super) struct Sort<T> {
    pub value_type: ValueType,
    pub read: fn(&Item<'_>) -> Read<T>,
    /// Function that writes a value. `Null`: the value is not written.
    pub write: fn(&T) -> Json,
}

impl<T> Sort<T> {
    /// Creates a key that must be given.
    pub const fn required(&self) -> Given<T> {
        self.given(Default::Required)
    }

    /// Creates a key with this default.
    pub const fn or(&self, value: &'static str) -> Given<T> {
        self.given(Default::Is(value))
    }

    const fn given(&self, default: Default) -> Given<T> {
        Given { key: Key::new(self.value_type, default), read: self.read, write: self.write }
    }

    /// Creates a key that has no value if it is not given. `words` describe that case.
    pub const fn otherwise(&self, words: &'static str) -> Optional<T> {
        Optional { key: Key::new(self.value_type, Default::Else(words)), read: self.read, write: self.write }
    }
}

/// Declaration of a key of any type.
pub(super) trait Declared {
    fn key(&self) -> &Key;

    /// Returns the entry of a written scenario with this value.
    fn with(&self, value: Json) -> Entry {
        (self.key().name, value)
    }
}

/// A key and its written value. If the value is `Null`, the entry is not written.
pub(super) type Entry = (&'static str, Json);

macro_rules! declared {
    ($($(#[$meta:meta])* $name:ident<$($generic:ident)?> { $($field:ident: $ty:ty,)* })+) => {$(
        $(#[$meta])*
        pub(super) struct $name$(<$generic: 'static>)? {
            pub key: Key,
            $(pub $field: $ty,)*
        }

        impl$(<$generic>)? $name$(<$generic>)? {
            /// Sets name and meaning of the key. An empty `doc` keeps the meaning.
            pub const fn named(&self, name: &'static str, doc: &'static str) -> Self {
                $name { key: self.key.named(name, doc), $($field: self.$field,)* }
            }
        }

        impl$(<$generic>)? Declared for $name$(<$generic>)? {
            fn key(&self) -> &Key {
                &self.key
            }
        }
    )+};
}

declared! {
    /// A key that always has a value. It is required, or has a default.
    Given<T> { read: fn(&Item<'_>) -> Read<T>, write: fn(&T) -> Json, }
    /// A key that may have no value.
    Optional<T> { read: fn(&Item<'_>) -> Read<T>, write: fn(&T) -> Json, }
    /// A key for a table.
    Inner<> { keys: &'static Keys, }
    /// A key for tables by name.
    Each<> { keys: &'static Keys, }
    /// A key for one outage or pause, or for several tables of outages or pauses, each under a name.
    Outages<> { keys: &'static Keys, }
    /// A key for a table of several kinds.
    OneOf<K> { kinds: &'static VariantsOf<K>, }
    /// A key for tables of several kinds, by name.
    EachOf<K> { kinds: &'static VariantsOf<K>, }
    /// A key for constants that another crate declares.
    Constants<> { set: &'static ConstantSet, }
}

/// Kinds of tables, with the value of each kind.
pub(super) struct VariantsOf<K: 'static> {
    pub kinds: Variants,
    /// Values of the kinds, in the same order.
    pub each: &'static [K],
}

impl<K: Kind> VariantsOf<K> {
    /// Entry of a written scenario with a table's kind.
    pub fn tag(&self, kind: K) -> Entry {
        (self.kinds.tag, kind.word().into())
    }
}

/// A kind of table.
pub(super) trait Kind {
    fn word(&self) -> &'static str;
}

impl<T> Given<T> {
    /// Returns the key with this bound. A longer time without a unit causes a warning.
    pub const fn at_most(&self, longest: Longest) -> Self {
        Given { key: Key { longest, ..self.key }, read: self.read, write: self.write }
    }

    pub fn write(&self, value: &T) -> Entry {
        self.with((self.write)(value))
    }

    /// The key for the other direction of a link. Unless it is given, it has the value of the forward direction.
    pub const fn as_forward(&self) -> Optional<T> {
        let key = Key { default: Default::Else("as forward"), ..self.key };
        Optional { key, read: self.read, write: self.write }
    }
}

impl<T> Optional<T> {
    /// Returns the key with this bound. A longer time without a unit causes a warning.
    pub const fn at_most(&self, longest: Longest) -> Self {
        Optional { key: Key { longest, ..self.key }, read: self.read, write: self.write }
    }

    /// Key for the other direction of a link. By default it has the value of the forward direction.
    pub const fn as_forward(&self) -> Self {
        let key = Key { default: Default::Else("as forward"), ..self.key };
        Optional { key, read: self.read, write: self.write }
    }

    pub fn write(&self, value: Option<&T>) -> Entry {
        self.with(value.map_or(Json::Null, self.write))
    }
}

impl Inner {
    pub const fn of(keys: &'static Keys, otherwise: &'static str) -> Self {
        Inner { key: Key::new(ValueType::Table(keys), Default::Else(otherwise)), keys }
    }
}

impl Each {
    pub const fn of(keys: &'static Keys, otherwise: &'static str) -> Self {
        Each { key: Key::new(ValueType::NamedTables(keys), Default::Else(otherwise)), keys }
    }
}

impl Outages {
    pub const fn of(keys: &'static Keys, otherwise: &'static str) -> Self {
        Outages { key: Key::new(ValueType::Down(keys), Default::Else(otherwise)), keys }
    }
}

impl<K> OneOf<K> {
    pub const fn of(kinds: &'static VariantsOf<K>, otherwise: &'static str) -> Self {
        OneOf { key: Key::new(ValueType::Variant(&kinds.kinds), Default::Else(otherwise)), kinds }
    }
}

impl<K> EachOf<K> {
    pub const fn of(kinds: &'static VariantsOf<K>, otherwise: &'static str) -> Self {
        EachOf { key: Key::new(ValueType::NamedVariants(&kinds.kinds), Default::Else(otherwise)), kinds }
    }
}

impl Constants {
    pub const fn of(set: &'static ConstantSet, otherwise: &'static str) -> Self {
        Constants { key: Key::new(ValueType::Constants(set), Default::Else(otherwise)), set }
    }
}

impl<'a> Table<'a> {
    /// Returns the value of a key that always has one.
    pub fn get<T>(&self, key: &Given<T>) -> Read<T> {
        (key.read)(&self.item(&key.key)?)
    }

    /// Returns the value of a key, if it is given.
    pub fn maybe<T>(&self, key: &Optional<T>) -> Read<Option<T>> {
        self.given(&key.key).map(|item| (key.read)(&item)).transpose()
    }

    /// Returns the value of a key that must be given here.
    pub fn need<T>(&self, key: &Optional<T>) -> Read<T> {
        (key.read)(&self.item(&key.key)?)
    }

    /// Returns the table of a key. If the key is not given, the table is empty.
    pub fn inner(&self, key: &Inner) -> Read<Table<'a>> {
        self.item_or_empty(&key.key).table(key.keys)
    }

    /// Returns the tables of a key, by name.
    pub fn each(&self, key: &Each) -> Read<Vec<(String, Table<'a>)>> {
        self.named(&key.key, |_, item| item.table(key.keys), |table| table)
    }

    /// Returns one table under the name of the key, or several tables under their own names. `like` is an example for
    /// errors.
    pub fn one_or_more(&self, key: &Outages, like: &str) -> Read<Vec<(String, Table<'a>)>> {
        let item = self.item_or_empty(&key.key);
        let several = match &item.node.value {
            Value::Table(branch) => branch.values().all(|node| matches!(node.value, Value::Table(_))),
            _ => return Err(item.wrong(&format!("{like}, or several tables, each under a name"))),
        };
        let each = if several { item.children()? } else { vec![(key.key.name.into(), item)] };
        each.into_iter().map(|(name, item)| Ok((name, item.table(key.keys)?))).collect()
    }

    /// Returns the table of a key and its kind.
    pub fn kind<K: Copy>(&self, key: &OneOf<K>) -> Read<(K, Table<'a>)> {
        kind(self.item_or_empty(&key.key), key.kinds, "")
    }

    /// Returns the tables of a key and their kinds, by name.
    pub fn kinds<K: Copy>(&self, key: &EachOf<K>) -> Read<Vec<(String, (K, Table<'a>))>> {
        self.named(&key.key, |name, item| kind(item, key.kinds, name), |(_, table)| table)
    }

    /// Returns whether the file or an argument gives the key.
    pub fn has(&self, key: &impl Declared) -> bool {
        self.gives(key.key().name)
    }
}

/// Reads a table of one of these kinds. The name of the table selects the kind, unless a key does.
fn kind<'a, K: Copy>(item: Item<'a>, kinds: &'static VariantsOf<K>, name: &str) -> Read<(K, Table<'a>)> {
    let (at, table) = item.kind(&kinds.kinds, kinds.kinds.default.unwrap_or(name))?;
    Ok((kinds.each[at], table))
}

/// Keys that are declared together.
pub(super) trait Group {
    /// All keys of the group, without the keys that a table shares with other tables.
    const OWN: &'static [Key];
}

/// Declares the keys of a table. The declaration creates a struct with one field per key, a constant of the struct's
/// type, and the description of the table. If there is no name for the table, the keys are a group that several tables
/// share.
///
/// A field consists of documentation, a name, a type and a constructor. The documentation is the key's meaning. If a
/// field has no documentation, another table has the same key with the same meaning.
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        $name:ident: $keys:ident = $table:literal $(with $($shared:ident),+)? { $($fields:tt)* }
    ) => {
        $crate::scenario::typed::table! { $(#[doc = $doc])+ $name: $keys { $($fields)* } }

        impl $keys {
            /// Description of the table.
            pub(in crate::scenario) const KEYS: $crate::scenario::spec::Keys = $crate::scenario::spec::Keys {
                name: $table,
                doc: concat!($($doc),+).trim_ascii(),
                groups: &[
                    $($(<$shared as $crate::scenario::typed::Group>::OWN,)+)?
                    <$keys as $crate::scenario::typed::Group>::OWN,
                ],
            };
        }
    };

    (
        $(#[doc = $doc:literal])+
        $name:ident: $keys:ident {
            $($(#[doc = $key_doc:literal])* $field:ident $(as $key:literal)?: $ty:ty = $make:expr,)*
        }
    ) => {
        $(#[doc = $doc])+
        pub(in crate::scenario) struct $keys {
            $($(#[doc = $key_doc])* pub $field: $ty,)*
        }

        $(#[doc = $doc])+
        pub(in crate::scenario) const $name: $keys = $keys {
            $($field: $make.named(
                $crate::scenario::typed::key_name!($field $($key)?),
                concat!("", $($key_doc),*).trim_ascii(),
            ),)*
        };

        impl $crate::scenario::typed::Group for $keys {
            const OWN: &'static [$crate::scenario::spec::Key] = &[$($name.$field.key),*];
        }
    };
}

/// The name of a field's key.
macro_rules! key_name {
    ($field:ident $key:literal) => {
        $key
    };
    ($field:ident) => {
        stringify!($field)
    };
}

/// Declares kinds of tables. The declaration creates an enum, and a constant that lists the keys of each kind.
macro_rules! variants {
    (
        $(#[doc = $doc:literal])+
        $name:ident: $kind:ident = $table:literal by $tag:literal, $default:expr, {
            $($(#[doc = $kind_doc:literal])+ $variant:ident = $word:literal: $keys:ident,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(in crate::scenario) enum $kind {
            $($(#[doc = $kind_doc])+ $variant,)+
        }

        impl $crate::scenario::typed::Kind for $kind {
            fn word(&self) -> &'static str {
                match self {
                    $($kind::$variant => $word,)+
                }
            }
        }

        $(#[doc = $doc])+
        pub(in crate::scenario) const $name: $crate::scenario::typed::VariantsOf<$kind> =
            $crate::scenario::typed::VariantsOf {
                kinds: $crate::scenario::spec::Variants {
                    name: $table,
                    tag: $tag,
                    default: $default,
                    doc: concat!($($doc),+).trim_ascii(),
                    each: &[$(($word, &$keys::KEYS)),+],
                },
                each: &[$($kind::$variant),+],
            };
    };
}

pub(in crate::scenario) use {key_name, table, variants};
