//! The macros that declare configuration.

/// Declares a struct whose fields are keys.
///
/// A field has documentation, which is the summary of its key, and a name, a type, a range and a default:
///
/// ```text
/// /// what it does
/// loss_gain: f64 [0.01, 1.0] = 0.25,                      the key loss-gain, a number
/// /// what it does
/// history as "kappa": usize [1, 64, "rates"] = 8,         a key of another name, a whole number with a unit
/// /// what it does
/// frozen: bool = false,                                   on or off
/// ```
///
/// A type must implement [`Setting`](crate::Setting). The types that do are `bool`, `f64`, whole numbers, durations in
/// milliseconds, options of these whose `None` is 0, and enums by [`words!`](crate::words). `with NAME: TYPE,` before
/// the first field includes the keys of another such struct. `and NAME: TYPE,` after the last field does the same.
///
/// `struct NAME in snake_case { ... } and { ... }` declares a struct without defaults. The names of its fields are the
/// keys, with underscores. The fields in the second pair of braces are not keys.
#[macro_export]
macro_rules! keys {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(with $before:ident: $before_ty:ty,)*
            $(
                #[doc = $doc:literal] $(#[doc = $more:literal])*
                $field:ident $(as $key:literal)?: $ty:ty $([$($range:tt)+])? = $default:expr,
            )*
            $(and $after:ident: $after_ty:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        $vis struct $name {
            $(
                #[doc = concat!("The keys of [`", stringify!($before_ty), "`].")]
                pub $before: $before_ty,
            )*
            $(
                #[doc = $doc] $(#[doc = $more])*
                pub $field: $ty,
            )*
            $(
                #[doc = concat!("The keys of [`", stringify!($after_ty), "`].")]
                pub $after: $after_ty,
            )*
        }

        impl ::core::default::Default for $name {
            fn default() -> Self {
                $name {
                    $($before: ::core::default::Default::default(),)*
                    $($field: $default,)*
                    $($after: ::core::default::Default::default(),)*
                }
            }
        }

        $crate::keyed! {
            $name { $($before)* } { $($field ($($key)?) $ty [$($($range)+)?] ($doc $($more)*);)* } { $($after)* }
        }
    };

    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident in snake_case {
            $(
                #[doc = $doc:literal] $(#[doc = $more:literal])*
                $field:ident: $ty:ty $([$($range:tt)+])?,
            )*
        } and {
            $($(#[$plain_meta:meta])* $plain:ident: $plain_ty:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        $vis struct $name {
            $(
                #[doc = $doc] $(#[doc = $more])*
                pub $field: $ty,
            )*
            $($(#[$plain_meta])* pub $plain: $plain_ty,)*
        }

        $crate::keyed! {
            $name {} { $($field (snake_case) $ty [$($($range)+)?] ($doc $($more)*);)* } {}
        }
    };
}

/// Implements [`Keyed`](crate::Keyed).
#[doc(hidden)]
#[macro_export]
macro_rules! keyed {
    (
        $name:ident
        { $($before:ident)* }
        { $($field:ident ($($key:tt)?) $ty:ty [$($range:tt)*] ($($doc:literal)+);)* }
        { $($after:ident)* }
    ) => {
        impl $crate::Keyed for $name {
            fn keys(&self) -> ::std::vec::Vec<$crate::Key> {
                let own: ::std::vec::Vec<$crate::Key> =
                    ::std::vec![$($crate::key!($field ($($key)?) $ty [$($range)*] $($doc)+)),*];
                let all: ::std::vec::Vec<::std::vec::Vec<$crate::Key>> = ::std::vec![
                    $($crate::Keyed::keys(&self.$before),)*
                    own,
                    $($crate::Keyed::keys(&self.$after),)*
                ];
                all.concat()
            }

            fn set(&mut self, key: &str, text: &str) -> ::core::result::Result<bool, $crate::BadValue> {
                let _ = (key, text);
                let found: ::std::vec::Vec<bool> = ::std::vec![
                    $($crate::Keyed::set(&mut self.$before, key, text)?,)*
                    $(
                        $crate::assign(
                            &mut self.$field,
                            &$crate::key!($field ($($key)?) $ty [$($range)*] $($doc)+),
                            key,
                            text,
                        )?,
                    )*
                    $($crate::Keyed::set(&mut self.$after, key, text)?,)*
                ];
                ::core::result::Result::Ok(found.contains(&true))
            }

            fn get(&self, key: &str) -> ::core::option::Option<::std::string::String> {
                let _ = key;
                let found: ::std::vec::Vec<::core::option::Option<::std::string::String>> = ::std::vec![
                    $($crate::Keyed::get(&self.$before, key),)*
                    $(
                        $crate::written(
                            &self.$field,
                            &$crate::key!($field ($($key)?) $ty [$($range)*] $($doc)+),
                            key,
                        ),
                    )*
                    $($crate::Keyed::get(&self.$after, key),)*
                ];
                found.into_iter().flatten().next()
            }
        }
    };
}

/// The [`Key`](crate::Key) of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! key {
    ($field:ident ($($key:tt)?) $ty:ty [$($range:tt)*] $($doc:literal)+) => {{
        const SUMMARY: &str = concat!($($doc),+).trim_ascii();
        $crate::Key {
            name: $crate::key_name!($field ($($key)?)),
            summary: SUMMARY,
            values: <$ty as $crate::Setting>::values($crate::range!($($range)*)),
        }
    }};
}

/// The name of a field's key.
#[doc(hidden)]
#[macro_export]
macro_rules! key_name {
    ($field:ident (snake_case)) => {
        stringify!($field)
    };
    ($field:ident ($key:literal)) => {
        $key
    };
    ($field:ident ()) => {{
        const FIELD: &str = stringify!($field);
        const BYTES: [u8; FIELD.len()] = $crate::hyphens(FIELD);
        const NAME: &str = match ::core::str::from_utf8(&BYTES) {
            Ok(name) => name,
            Err(_) => panic!("names of keys are ASCII"),
        };
        NAME
    }};
}

/// Range of a field. The range is empty, or a minimum and a maximum, or these and a unit.
#[doc(hidden)]
#[macro_export]
macro_rules! range {
    () => {
        ()
    };
    ($least:expr, $most:expr) => {
        ($least, $most, "")
    };
    ($least:expr, $most:expr, $unit:literal) => {
        ($least, $most, $unit)
    };
}

/// Declares an enum whose values have words as their text.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// The words, in the order they are listed.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word of the value.
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// Returns the value for `word`.
            pub fn from_word(word: &str) -> ::core::option::Option<Self> {
                match word {
                    $($word => ::core::option::Option::Some($name::$variant),)+
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl $crate::Setting for $name {
            type Range = ();
            fn values((): ()) -> $crate::Values {
                $crate::Values::OneOf($name::WORDS)
            }
            fn read(text: &str, _: &$crate::Values) -> ::core::option::Option<Self> {
                $name::from_word(text)
            }
            fn write(&self, _: &$crate::Values) -> ::std::string::String {
                self.word().into()
            }
        }
    };
}
