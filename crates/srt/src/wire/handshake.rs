//! Layout of handshakes and their extensions.

use core::net::IpAddr;

use super::word;

/// Number of bytes of a handshake before its extensions.
const FIXED: usize = 48;
/// Value of the extension field in an induction response that marks version 5.
pub(crate) const MAGIC: u16 = 0x4a17;
/// Maximum length of a stream id in bytes.
pub(crate) const MAX_STREAM_ID: usize = 512;

/// Flags of the handshake extension message.
pub(crate) mod flag {
    pub const TSBPD_SEND: u32 = 1;
    pub const TSBPD_RECEIVE: u32 = 1 << 1;
    pub const CRYPT: u32 = 1 << 2;
    pub const TOO_LATE_DROP: u32 = 1 << 3;
    pub const PERIODIC_NAK: u32 = 1 << 4;
    pub const RETRANSMITTED: u32 = 1 << 5;
    pub const STREAM: u32 = 1 << 6;
}

/// Flags that live mode sets.
pub(crate) const LIVE_FLAGS: u32 = flag::TSBPD_SEND
    | flag::TSBPD_RECEIVE
    | flag::CRYPT
    | flag::TOO_LATE_DROP
    | flag::PERIODIC_NAK
    | flag::RETRANSMITTED;

/// Protocol version that this crate reports: 1.5.0.
const VERSION: u32 = 0x0001_0500;

/// Types of handshake extensions.
const HS_REQUEST: u16 = 1;
const HS_RESPONSE: u16 = 2;
const KM_REQUEST: u16 = 3;
const KM_RESPONSE: u16 = 4;
const STREAM_ID: u16 = 5;
const CONGESTION: u16 = 6;
const FILTER: u16 = 7;
const GROUP: u16 = 8;

/// Flags in the extension field of a conclusion.
const HAS_HS: u16 = 1;
const HAS_KM: u16 = 1 << 1;
const HAS_CONFIG: u16 = 1 << 2;

/// Type of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Induction,
    Conclusion,
    /// The handshake is a refusal with this code.
    Refused(u32),
    /// The handshake has another type, such as those of rendezvous mode.
    Other,
}

/// The fields of a handshake before its extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    pub version: u32,
    /// Advertised key length in units of 8 bytes. 0 means that none is advertised.
    pub encryption: u16,
    pub extension: u16,
    pub first_seq: u32,
    pub mtu: u32,
    pub window: u32,
    pub kind: Kind,
    /// Id of the socket that sent the handshake.
    pub id: u32,
    pub cookie: u32,
    pub address: [u8; 16],
}

impl Handshake {
    /// Reads the contents of a handshake packet. Returns the handshake and its extensions.
    pub fn read(data: &[u8]) -> Option<(Handshake, Extensions<'_>)> {
        let fixed = data.get(..FIXED)?;
        let at = |n: usize| word(fixed, 4 * n).unwrap_or(0);
        let kind = match at(5) {
            1 => Kind::Induction,
            0xffff_ffff => Kind::Conclusion,
            code @ 1000..0x8000_0000 => Kind::Refused(code),
            _ => Kind::Other,
        };
        let handshake = Handshake {
            version: at(0),
            encryption: (at(1) >> 16) as u16,
            extension: at(1) as u16,
            first_seq: at(2) & 0x7fff_ffff,
            mtu: at(3),
            window: at(4),
            kind,
            id: at(6),
            cookie: at(7),
            address: fixed[32..].try_into().ok()?,
        };
        Some((handshake, Extensions { data: &data[FIXED..] }))
    }

    /// Appends the handshake and its extensions. For a conclusion, it also sets the flags of the extensions.
    pub fn write(&self, out: &mut Vec<u8>, extensions: &[Extension<'_>]) {
        let flags = extensions.iter().fold(0, |flags, e| flags | e.flag());
        let extension = if extensions.is_empty() { self.extension } else { flags };
        let kind = match self.kind {
            Kind::Induction => 1,
            Kind::Conclusion => 0xffff_ffff,
            Kind::Refused(code) => code,
            Kind::Other => 0,
        };
        let field = u32::from(self.encryption) << 16 | u32::from(extension);
        let words = [self.version, field, self.first_seq, self.mtu, self.window, kind, self.id, self.cookie];
        words.iter().for_each(|w| out.extend_from_slice(&w.to_be_bytes()));
        out.extend_from_slice(&self.address);
        extensions.iter().for_each(|e| e.write(out));
    }
}

/// Returns the bytes of an address in a handshake. An IPv4 address takes the first word. The bytes of each word are
/// reversed.
pub(crate) fn address_field(address: IpAddr) -> [u8; 16] {
    let mut field = [0; 16];
    match address.to_canonical() {
        IpAddr::V4(a) => field[..4].copy_from_slice(&a.octets()),
        IpAddr::V6(a) => field = a.octets(),
    }
    field.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    field
}

/// Contents of the handshake extension message. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HsMessage {
    pub version: u32,
    pub flags: u32,
    pub receive_delay: u16,
    pub send_delay: u16,
}

impl HsMessage {
    /// Returns the message of a live peer with this latency in both directions.
    pub fn live(latency_ms: u16) -> HsMessage {
        HsMessage { version: VERSION, flags: LIVE_FLAGS, receive_delay: latency_ms, send_delay: latency_ms }
    }

    fn read(data: &[u8]) -> Option<HsMessage> {
        let delays = word(data, 8)?;
        let (receive_delay, send_delay) = ((delays >> 16) as u16, delays as u16);
        Some(HsMessage { version: word(data, 0)?, flags: word(data, 4)?, receive_delay, send_delay })
    }
}

/// An extension of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extension<'a> {
    HsRequest(HsMessage),
    HsResponse(HsMessage),
    KmRequest(&'a [u8]),
    KmResponse(&'a [u8]),
    StreamId(String),
    /// Name of the congestion control.
    Congestion(String),
    Filter,
    Group,
    /// An unknown extension, which is skipped.
    Other,
}

impl<'a> Extension<'a> {
    fn read(kind: u16, data: &'a [u8]) -> Option<Extension<'a>> {
        Some(match kind {
            HS_REQUEST => Extension::HsRequest(HsMessage::read(data)?),
            HS_RESPONSE => Extension::HsResponse(HsMessage::read(data)?),
            KM_REQUEST => Extension::KmRequest(data),
            KM_RESPONSE => Extension::KmResponse(data),
            STREAM_ID => Extension::StreamId(text(data)?),
            CONGESTION => Extension::Congestion(text(data)?),
            FILTER => Extension::Filter,
            GROUP => Extension::Group,
            _ => Extension::Other,
        })
    }

    fn flag(&self) -> u16 {
        match self {
            Extension::HsRequest(_) | Extension::HsResponse(_) => HAS_HS,
            Extension::KmRequest(_) | Extension::KmResponse(_) => HAS_KM,
            _ => HAS_CONFIG,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut put = |kind: u16, contents: &[u8]| {
            let words = contents.len().div_ceil(4);
            out.extend_from_slice(&kind.to_be_bytes());
            out.extend_from_slice(&(words as u16).to_be_bytes());
            out.extend_from_slice(contents);
            out.resize(out.len() + words * 4 - contents.len(), 0);
        };
        let message = |m: &HsMessage| {
            let delays = u32::from(m.receive_delay) << 16 | u32::from(m.send_delay);
            [m.version, m.flags, delays].map(u32::to_be_bytes).concat()
        };
        match self {
            Extension::HsRequest(m) => put(HS_REQUEST, &message(m)),
            Extension::HsResponse(m) => put(HS_RESPONSE, &message(m)),
            Extension::KmRequest(data) => put(KM_REQUEST, data),
            Extension::KmResponse(data) => put(KM_RESPONSE, data),
            Extension::StreamId(id) => put(STREAM_ID, &reversed(id)),
            // Nothing else is sent.
            Extension::Congestion(_) | Extension::Filter | Extension::Group | Extension::Other => {}
        }
    }
}

/// Returns the text in an extension. The text is stored in words with reversed bytes, and is filled with zeros.
fn text(data: &[u8]) -> Option<String> {
    let mut bytes = data.get(..data.len().min(MAX_STREAM_ID))?.to_vec();
    bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    let len = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    bytes.truncate(len);
    String::from_utf8(bytes).ok()
}

fn reversed(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    bytes
}

/// The extensions of a handshake. The iterator ends at an extension that is truncated or malformed.
/// [`Extensions::is_whole`] reports this case.
#[derive(Clone, Debug)]
pub(crate) struct Extensions<'a> {
    data: &'a [u8],
}

impl Extensions<'_> {
    /// Returns true if no bytes are left that are not extensions.
    pub fn is_whole(&self) -> bool {
        self.data.is_empty()
    }
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Extension<'a>;

    fn next(&mut self) -> Option<Extension<'a>> {
        let head = word(self.data, 0)?;
        let (kind, len) = ((head >> 16) as u16, (head & 0xffff) as usize * 4);
        let extension = Extension::read(kind, self.data.get(4..4 + len)?)?;
        self.data = &self.data[4 + len..];
        Some(extension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conclusion() -> Handshake {
        Handshake {
            version: 5,
            encryption: 2,
            extension: 0,
            first_seq: 11,
            mtu: 1500,
            window: 8192,
            kind: Kind::Conclusion,
            id: 77,
            cookie: 0xdead_beef,
            address: address_field("127.0.0.1".parse().unwrap()),
        }
    }

    /// The bytes are assembled by hand from the figures "Handshake packet structure" and "Handshake Extension Message
    /// structure".
    #[test]
    fn a_conclusion_has_the_fields_of_the_draft() {
        let mut out = Vec::new();
        let message = HsMessage::live(120);
        let extensions = [Extension::HsRequest(message), Extension::StreamId("abcde".to_owned())];
        conclusion().write(&mut out, &extensions);
        assert_eq!(out[..8], [0, 0, 0, 5, 0, 2, 0, 5], "version, AES-128, HSREQ and CONFIG");
        assert_eq!(out[20..24], [0xff; 4]);
        assert_eq!(out[48..52], [0, 1, 0, 3], "three words of HSREQ");
        assert_eq!(out[52..64], [0, 1, 5, 0, 0, 0, 0, 0x3f, 0, 120, 0, 120]);
        assert_eq!(out[64..], *b"\0\x05\0\x02dcba\0\0\0e", "words of little endian");
        let (read, mut found) = Handshake::read(&out).unwrap();
        assert_eq!(read, Handshake { extension: 5, ..conclusion() });
        assert_eq!(found.by_ref().collect::<Vec<_>>(), extensions);
        assert!(found.is_whole());
    }

    #[test]
    fn cut_extensions_are_reported() {
        let mut out = Vec::new();
        conclusion().write(&mut out, &[Extension::HsRequest(HsMessage::live(120))]);
        for len in FIXED + 1..out.len() {
            let (_, mut found) = Handshake::read(&out[..len]).unwrap();
            assert_eq!(found.by_ref().count(), 0);
            assert!(!found.is_whole(), "{len} bytes");
        }
        assert!(Handshake::read(&out[..FIXED - 1]).is_none());
    }

    #[test]
    fn refusals_are_types_from_a_thousand() {
        for (word, kind) in [
            (1_u32, Kind::Induction),
            (0xffff_ffff, Kind::Conclusion),
            (0xffff_fffe, Kind::Other),
            (0, Kind::Other),
            (1010, Kind::Refused(1010)),
            (2404, Kind::Refused(2404)),
        ] {
            let mut out = Vec::new();
            conclusion().write(&mut out, &[]);
            out[20..24].copy_from_slice(&word.to_be_bytes());
            assert_eq!(Handshake::read(&out).unwrap().0.kind, kind, "{word}");
        }
    }
}
