//! Inputs and outputs that a text names.

use std::path::{Path, PathBuf};

#[cfg(feature = "srt")]
use super::srt::SrtUrl;
use super::url::UdpUrl;
use crate::error::Error;

/// An input or an output that is not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::live) enum MediaPlace {
    /// A file, a named pipe or a device.
    Path(PathBuf),
    /// Datagrams, with a header of RTP or without.
    Udp(UdpUrl),
    /// SRT, as caller or as listener.
    #[cfg(feature = "srt")]
    Srt(SrtUrl),
}

impl MediaPlace {
    /// Returns the place that a path or a URL names. A path need not be Unicode.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the URL is of another kind or is not valid.
    pub(in crate::live) fn of(place: &Path) -> Result<MediaPlace, Error> {
        let url = place.to_str().and_then(|text| Some((text.split_once("://")?.0, text)));
        match url {
            Some(("udp" | "rtp", text)) => text.parse().map(MediaPlace::Udp).map_err(Error::Usage),
            #[cfg(feature = "srt")]
            Some(("srt", text)) => text.parse().map(MediaPlace::Srt).map_err(Error::Usage),
            Some((kind, _)) => Err(Error::Usage(format!("{kind}:// is not supported: expected {PLACES}"))),
            None => Ok(MediaPlace::Path(place.to_owned())),
        }
    }
}

/// Text for messages that lists the kinds of places.
pub(in crate::live) const PLACES: &str = if cfg!(feature = "srt") {
    "a path, udp://, rtp:// or srt://"
} else {
    "a path, udp:// or rtp://; srt:// needs the feature srt of the library"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_path_or_a_url_of_a_kind_that_is_known() {
        let of = |text: &str| MediaPlace::of(Path::new(text));
        assert_eq!(of("a/b.ts"), Ok(MediaPlace::Path("a/b.ts".into())));
        assert!(matches!(of("udp://127.0.0.1:5004"), Ok(MediaPlace::Udp(url)) if url.port == 5004));
        assert!(matches!(of("rtp://127.0.0.1:5004"), Ok(MediaPlace::Udp(url)) if url.rtp));
        assert_eq!(of("srt://:7002").is_ok(), cfg!(feature = "srt"));
        for (wrong, words) in
            [("gopher://a", "gopher:// is not supported: expected a path"), ("udp://h", "port")]
        {
            let error = of(wrong).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
    }
}
