//! The transport packet (§2.4.3.2), its adaptation field (§2.4.3.4) and the program clock reference (§2.4.3.5).

use core::fmt;

/// Length of a transport packet in bytes.
pub const PACKET_LEN: usize = 188;
/// First byte of every transport packet.
pub const SYNC_BYTE: u8 = 0x47;
/// PID of null packets, which only fill a constant rate.
pub const NULL_PID: u16 = 0x1fff;

/// One transport packet. Only its first byte is known to be valid. Every field is read as far as the packet contains
/// it.
///
/// ```text
/// sync byte 0x47 | TEI | PUSI | prio | PID (13) | TSC (2) | AFC (2) | CC (4) | [adaptation field] | [payload]
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Packet([u8; PACKET_LEN]);

impl Packet {
    /// The packet with these bytes; `None` unless they begin with the sync byte.
    pub fn new(bytes: [u8; PACKET_LEN]) -> Option<Self> {
        (bytes[0] == SYNC_BYTE).then_some(Packet(bytes))
    }

    /// All 188 bytes.
    pub fn as_bytes(&self) -> &[u8; PACKET_LEN] {
        &self.0
    }

    /// `transport_error_indicator`: a demodulator marked the packet as damaged.
    pub fn transport_error(&self) -> bool {
        self.0[1] & 0x80 != 0
    }

    /// `payload_unit_start_indicator`: a PES packet or a section begins in the payload.
    pub fn unit_start(&self) -> bool {
        self.0[1] & 0x40 != 0
    }

    /// The packet's PID, 13 bits.
    pub fn pid(&self) -> u16 {
        u16::from_be_bytes([self.0[1], self.0[2]]) & 0x1fff
    }

    /// `continuity_counter`, 4 bits.
    pub fn continuity_counter(&self) -> u8 {
        self.0[3] & 0x0f
    }

    /// Returns whether `adaptation_field_control` announces a payload.
    pub fn has_payload(&self) -> bool {
        self.0[3] & 0x10 != 0
    }

    /// Returns whether `adaptation_field_control` announces an adaptation field.
    pub fn has_adaptation(&self) -> bool {
        self.0[3] & 0x20 != 0
    }

    /// Returns the adaptation field. Returns `None` if the packet has no adaptation field, or if it is empty or does
    /// not fit the packet.
    pub fn adaptation(&self) -> Option<Adaptation> {
        if !self.has_adaptation() {
            return None;
        }
        let field = self.0.get(5..5 + usize::from(self.0[4]))?;
        let flags = *field.first()?;
        let pcr = if flags & 0x10 != 0 { field.get(1..7).and_then(Pcr::parse) } else { None };
        Some(Adaptation { discontinuity: flags & 0x80 != 0, random_access: flags & 0x40 != 0, pcr })
    }

    /// Returns the payload. The payload is empty if the packet has no payload, or if the adaptation field leaves no
    /// room.
    pub fn payload(&self) -> &[u8] {
        if !self.has_payload() {
            return &[];
        }
        let start = if self.has_adaptation() { 5 + usize::from(self.0[4]) } else { 4 };
        self.0.get(start..).unwrap_or(&[])
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet(pid {}, cc {}, {:?})", self.pid(), self.continuity_counter(), self.adaptation())
    }
}

/// The parsed part of an adaptation field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptation {
    /// `discontinuity_indicator`: the time base or the continuity counter may jump here.
    pub discontinuity: bool,
    /// `random_access_indicator`: decoding may start here.
    pub random_access: bool,
    /// The program clock reference, if the packet carries one.
    pub pcr: Option<Pcr>,
}

/// A program clock reference: ticks of 27 MHz, modulo [`Pcr::WRAP`] (26.5 hours).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pcr(u64);

impl Pcr {
    /// Ticks per second.
    pub const HZ: u64 = 27_000_000;
    /// Modulus of the clock. A base of 33 bits counts ticks of 90 kHz, and an extension counts 300 ticks of 27 MHz per
    /// tick of the base.
    pub const WRAP: u64 = (1 << 33) * 300;

    /// The reference of `ticks`, taken modulo [`Pcr::WRAP`].
    pub const fn from_ticks(ticks: u64) -> Self {
        Pcr(ticks % Self::WRAP)
    }

    /// Ticks of 27 MHz.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// Ticks from `earlier` to this reference, modulo [`Pcr::WRAP`]. A small step back therefore appears as a huge step
    /// forward.
    pub const fn since(self, earlier: Pcr) -> u64 {
        (self.0 + Self::WRAP - earlier.0) % Self::WRAP
    }

    /// Reads `program_clock_reference_base` (33 bits), 6 reserved bits, `program_clock_reference_extension` (9 bits).
    fn parse(field: &[u8]) -> Option<Pcr> {
        let b: [u8; 6] = field.try_into().ok()?;
        let base = u64::from(u32::from_be_bytes([b[0], b[1], b[2], b[3]])) << 1 | u64::from(b[4] >> 7);
        let extension = u64::from(b[4] & 1) << 8 | u64::from(b[5]);
        Some(Pcr::from_ticks(base * 300 + extension))
    }
}
