// What the page remembers of a stream since it was opened.

import type { Path, Stream } from "./api";
import { cause, count, duration } from "./words";

/** Seconds that plots show. */
export const SPAN_S = 600;
/** Late messages that are listed. Older ones stay as marks of the plots. */
export const LISTED = 30;
/** Time in which late messages of one cause are one entry, and in which a link's trouble counts as their cause. */
const TOGETHER_MS = 5_000;

export interface Sample {
  /** Time of this browser in milliseconds. */
  at: number;
  margin: number | null;
  /** Rates of links by number. */
  rates: Map<number, number>;
}

export interface Late {
  from: number;
  to: number;
  messages: number;
  cause: string;
  /** Links that were not usable at that time, in words. */
  links: string;
}

/** Counts of one sender. */
interface Counts {
  sender: string;
  late: Record<string, number>;
  down: Map<number, number>;
}

export class History {
  samples: Sample[] = [];
  late: Late[] = [];
  #counts: Counts | null = null;
  /** Times for which links were not usable of late: their time, their name and the seconds. */
  #down: { at: number; name: string; seconds: number }[] = [];

  /** Adds the stream as it is now. */
  add(stream: Stream, at: number): void {
    const paths = stream.paths ?? [];
    const rates = new Map(paths.map((path) => [path.id, path.rate_bps ?? 0]));
    this.samples.push({ at, margin: stream.media?.buffer_ms ?? null, rates });
    while (this.samples[0] && this.samples[0].at < at - SPAN_S * 1000) this.samples.shift();
    this.late = this.late.filter((late, place) => place < LISTED || late.to >= at - SPAN_S * 1000);
    if (stream.media) this.#count(stream, paths, at);
  }

  #count(stream: Stream, paths: Path[], at: number): void {
    const late = stream.media?.late_by ?? {};
    const down = new Map(paths.map((path) => [path.id, path.down_s ?? 0]));
    const sender = stream.stream ?? "";
    const before = this.#counts;
    this.#counts = { sender, late, down };
    // The page does not know when earlier messages were late.
    if (!before) return;
    const same = before.sender === sender;
    for (const path of paths) {
      const seconds = (path.down_s ?? 0) - (same ? (before.down.get(path.id) ?? 0) : 0);
      if (seconds > 0.05) this.#down.push({ at, name: path.name, seconds });
    }
    this.#down = this.#down.filter((one) => one.at > at - TOGETHER_MS);
    const known = same ? before.late : {};
    for (const name of new Set([...Object.keys(known), ...Object.keys(late)])) {
      const more = (late[name] ?? 0) - (known[name] ?? 0);
      if (more > 0) this.#entry(name, more, at);
      else if (more < 0) this.#moved(name, -more);
    }
  }

  #entry(name: string, messages: number, at: number): void {
    const links = this.#links();
    const last = this.late.find((one) => one.cause === name);
    if (last && at - last.to < TOGETHER_MS) {
      last.to = at;
      last.messages += messages;
      last.links = links || last.links;
      return;
    }
    this.late = [{ from: at, to: at, messages, cause: name, links }, ...this.late];
  }

  /** Takes messages from a cause: the server has learned of another one. */
  #moved(name: string, messages: number): void {
    for (const late of this.late) {
      if (late.cause !== name) continue;
      const taken = Math.min(messages, late.messages);
      late.messages -= taken;
      messages -= taken;
    }
    this.late = this.late.filter((late) => late.messages > 0);
  }

  /** Links that were not usable of late: "lte was not usable for 0.4 s". */
  #links(): string {
    const sums = new Map<string, number>();
    for (const { name, seconds } of this.#down) sums.set(name, (sums.get(name) ?? 0) + seconds);
    const words = [...sums].map(([name, seconds]) => `${name} was not usable for ${duration(seconds)}`);
    return words.slice(0, 4).join(", ");
  }

  /** The least margin that is shown. */
  least(): number | null {
    const known = this.samples.flatMap((one) => (one.margin === null ? [] : [one.margin]));
    return known.length ? Math.min(...known) : null;
  }
}

/** An entry of late messages: what happened, and what to do. */
export function explained(late: Late): [string, string] {
  const [why, remedy] = cause(late.cause);
  const links = late.links ? ` (${late.links})` : "";
  return [`${count(late.messages, "message")} late or lost: ${why}${links}`, remedy];
}
