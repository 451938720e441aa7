// Numbers and states in words.

const GROUPS: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

function scaled(value: number, unit: string): string {
  for (const [size, prefix] of GROUPS) {
    if (value >= size) return `${(value / size).toFixed(value / size < 10 ? 2 : 1)} ${prefix}${unit}`;
  }
  return `${Math.round(value)} ${unit}`;
}

export const rate = (bps: number): string => scaled(bps, "bit/s");
export const bytes = (count: number): string => scaled(count, "B");
export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const share = (value: number): string => `${(value * 100).toFixed(value < 0.1 ? 2 : 1)} %`;
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** A duration such as 1 h 04 min. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** Time of day of this browser. */
export const clock = (milliseconds: number): string =>
  new Date(milliseconds).toLocaleTimeString(undefined, { hour12: false });

/** Grade of a state, which has a colour. */
export type Grade = "good" | "warn" | "bad" | "idle";

const STREAM: Record<string, [string, Grade]> = {
  streaming: ["streaming", "good"],
  "no-input": ["the encoder is silent", "warn"],
  outage: ["outage: nothing comes", "bad"],
  connecting: ["connecting", "warn"],
  waiting: ["waits for a sender", "idle"],
  stopped: ["stopped", "idle"],
};

export const streamState = (state: string | undefined): [string, Grade] =>
  STREAM[state ?? "waiting"] ?? [state ?? "", "idle"];

const LINK: Record<string, [string, Grade]> = {
  active: ["works", "good"],
  unconfirmed: ["no answer yet", "warn"],
  "potentially-failed": ["does not answer", "warn"],
  inactive: ["given up, is probed", "bad"],
  suspended: ["switched off", "idle"],
  closed: ["gone", "idle"],
};

export const linkState = (state: string): [string, Grade] => LINK[state] ?? [state, "idle"];

/** Causes of late and lost messages, with the remedy (docs/operate/statistics.md). */
const CAUSES: Record<string, [string, string]> = {
  "congestion-window": ["the links carry less than the encoder sends", "a lower rate, or another link"],
  scheduler: ["the links with room would have delivered it too late", "more latency, or a link with a shorter delay"],
  "no-path": ["no link was usable, or none answered for 0.5 s or more", "look at the networks"],
  "receive-window": ["the buffer of the receiver was full", "look at the output and the machine of the studio"],
  pacing: ["it was not yet time for the next packet", "a smoother encoder, or more latency"],
  burst: ["too much was sent without an acknowledgement", "a smoother encoder, or more latency"],
  "aggregate-window": ["the limit of the scheme over all links was reached", "a lower rate"],
  handshake: ["there was no connection", "look at the studio and the networks"],
  "send-buffer": ["the send buffer was full", "a larger --buffer"],
  retransmission: ["a part was lost, and could not come again in time", "more latency"],
  suspended: ["the machine of the sender slept, or is too slow", "no sleep mode, fewer programs"],
  transit: ["the way took longer than the latency", "more latency"],
  silence: ["nothing came over any link for 0.5 s or more", "look at the networks of the field"],
  "link-lost": [
    "a link of the field was lost or fell silent shortly before",
    "give the stream more latency than such a change takes",
  ],
  sender: ["the links were there, and the field was late", "the statistics of the field (late_by) say why"],
};

export const cause = (name: string): [string, string] => CAUSES[name] ?? [name, "see docs/operate/statistics.md"];
