//! Kinds of files other than transport streams, by their first bytes.

/// Beginnings of files, by offset.
const KINDS: [(usize, &[u8], &str); 14] = [
    (4, b"ftyp", "MP4"),
    (0, &[0x1a, 0x45, 0xdf, 0xa3], "Matroska or WebM"),
    (0, b"FLV", "FLV"),
    (0, b"RIFF", "AVI or WAV"),
    (0, b"OggS", "Ogg"),
    (0, &[0, 0, 1, 0xba], "an MPEG program stream"),
    (0, &[0, 0, 0, 1], "H.264 or H.265 without a container"),
    (0, &[0, 0, 1], "video without a container"),
    (0, b"ID3", "MP3"),
    (0, &[0xff, 0xf1], "AAC without a container"),
    (0, b"\x89PNG", "PNG"),
    (0, &[0xff, 0xd8, 0xff], "JPEG"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, &[0x06, 0x0e, 0x2b, 0x34], "MXF"),
];

/// Returns the probable kind of an input with this beginning.
pub(super) fn looks_like(head: &[u8]) -> Option<&'static str> {
    let is =
        |(at, begin, _): &&(usize, &[u8], &str)| head.get(*at..).is_some_and(|rest| rest.starts_with(begin));
    if let Some((_, _, kind)) = KINDS.iter().find(is) {
        return Some(kind);
    }
    let text = head.iter().all(|&byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    (text && head.len() >= 4).then_some("text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_beginnings() {
        for (head, kind) in [
            (&b"\0\0\0\x20ftypisom"[..], Some("MP4")),
            (b"\x1a\x45\xdf\xa3\x9f", Some("Matroska or WebM")),
            (b"\0\0\0\x01\x67\x42", Some("H.264 or H.265 without a container")),
            (b"\0\0\x01\xba\x44", Some("an MPEG program stream")),
            (b"#!/bin/sh\n", Some("text")),
            (b"\x80\x21\xff\0", None),
            (b"", None),
        ] {
            assert_eq!(looks_like(head), kind, "{head:?}");
        }
    }
}
