// Codecs of an MPEG transport stream, from its tables (ISO/IEC 13818-1).

const PACKET = 188;
const SYNC = 0x47;

export interface Codecs {
  /** Codecs for MediaSource's own MPEG-TS. */
  list: string[];
  /** Streams that no browser plays from MPEG-TS, in words. */
  other: string[];
  /** The video needs another container. */
  hevc: boolean;
  video: boolean;
}

const VIDEO: Record<number, string> = { 0x01: "MPEG-1 video", 0x02: "MPEG-2 video", 0x10: "MPEG-4 video", 0x33: "H.266" };
const AUDIO: Record<number, string> = { 0x03: "MPEG audio", 0x04: "MPEG audio", 0x11: "LATM audio", 0x81: "AC-3", 0x87: "E-AC-3" };

/** The section that begins in a packet: the bytes after its pointer, and its table's number. */
function section(packet: Uint8Array): Uint8Array | null {
  const control = (packet[3] ?? 0) >> 4 & 3;
  if (!((packet[1] ?? 0) & 0x40) || !(control & 1)) return null;
  const payload = control & 2 ? 5 + (packet[4] ?? 0) : 4;
  const begin = payload + 1 + (packet[payload] ?? 0);
  return begin + 8 < PACKET ? packet.subarray(begin) : null;
}

const pair = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0);

/** End of a section without its checksum, within its packet. */
const endOf = (bytes: Uint8Array): number => Math.min(bytes.length, 3 + (pair(bytes, 1) & 0xfff) - 4);

/** PID of the first program's map. */
function mapPid(bytes: Uint8Array): number | null {
  for (let at = 8; at + 4 <= endOf(bytes); at += 4) {
    if (pair(bytes, at) !== 0) return pair(bytes, at + 2) & 0x1fff;
  }
  return null;
}

/** Codecs of a program's map: the first video and the first audio. */
function mapped(bytes: Uint8Array): Codecs {
  const found: Codecs = { list: [], other: [], hevc: false, video: false };
  let audio = false;
  for (let at = 12 + (pair(bytes, 10) & 0xfff); at + 5 <= endOf(bytes); at += 5 + (pair(bytes, at + 3) & 0xfff)) {
    const type = bytes[at] ?? 0;
    const video = type === 0x1b || type === 0x24 || type in VIDEO;
    if (video && !found.video) {
      found.video = true;
      found.hevc = type === 0x24;
      if (type === 0x1b) found.list.push("avc1.64001f");
      else if (type !== 0x24) found.other.push(VIDEO[type] ?? "");
    } else if (type === 0x0f && !audio) {
      audio = true;
      found.list.push("mp4a.40.2");
    } else if (type in AUDIO && !audio) {
      audio = true;
      found.other.push(AUDIO[type] ?? "");
    }
  }
  return found;
}

/** Returns the codecs of a stream that begins with its tables; null: they have not come yet. */
export function codecs(bytes: Uint8Array): Codecs | null {
  let map: number | null = null;
  for (let at = 0; at + PACKET <= bytes.length; at += PACKET) {
    const packet = bytes.subarray(at, at + PACKET);
    if (packet[0] !== SYNC) return null;
    const pid = pair(packet, 1) & 0x1fff;
    const table = pid === 0 || pid === map ? section(packet) : null;
    if (table && pid === 0 && table[0] === 0) map = mapPid(table);
    else if (table && table[0] === 2) return mapped(table);
  }
  return null;
}
