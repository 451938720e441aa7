// The API of `serve`, `send` and `receive` (docs/operate/api.md). All strings of a response are text from a peer, and are shown as text.

/** Right of this browser. */
export type Right = "none" | "look" | "control";

export interface Session {
  right: Right;
  /** Whether the server has tokens for control. */
  control: boolean;
  /** Whether a cookie gives the right. */
  cookie: boolean;
}

export interface Path {
  id: number;
  name: string;
  state: string;
  rate_bps?: number | null;
  rtt_ms?: number | null;
  loss?: number | null;
  bytes?: number;
  down_s?: number;
  allowance_bytes?: number | null;
}

export interface Media {
  messages?: number;
  rate_bps?: number;
  late?: number;
  lost?: number;
  messages_dropped?: number;
  late_by?: Record<string, number>;
  buffer_ms?: number | null;
  shift_ms?: number;
}

export interface Output {
  name: string;
  unread: number;
  unsent: Record<string, number>;
  failed?: string;
  stopped?: boolean;
}

/** A link of a sender, and what can be changed about it. */
export interface LinkSetting {
  link: string;
  on: boolean;
  tariff: {
    class: number;
    price?: number | null;
    left_bytes?: number | null;
    lasts_s?: number | null;
    month_bytes?: number | null;
    month_begins?: number | null;
  } | null;
}

export interface Stream {
  name: string;
  state?: string;
  stream?: string | null;
  peer?: string;
  seconds?: number;
  senders: string[];
  latency_ms: number | null;
  outputs: Output[] | null;
  media?: Media;
  paths?: Path[];
  /** A sender has it alone. */
  links?: LinkSetting[];
  advice?: { rate_bps: number; safe_bps: number };
}

export interface Event {
  time: string;
  event: string;
  name?: string;
  text: string;
}

/** A response that is not the one that the page asked for. */
export class Refused extends Error {
  constructor(readonly status: number, why: string) {
    super(why);
  }
}

/** Time after which a request counts as lost. */
const PATIENCE_MS = 10_000;

async function ask<T>(path: string, more: RequestInit = {}): Promise<T> {
  const response = await fetch(path, { ...more, signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Refused(response.status, await reason(response));
  return (await response.json()) as T;
}

/** The line of a refusal. */
export async function reason(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: unknown };
    if (typeof error === "string") return error;
  } catch {
    // Another program than the server has responded.
  }
  return `the server responds with status ${response.status}`;
}

export const pathOf = (name: string): string => `/v1/streams/${encodeURIComponent(name)}`;

export const session = (): Promise<Session> => ask("/v1/session");
export const streams = async (): Promise<Stream[]> => (await ask<{ streams: Stream[] }>("/v1/streams")).streams;
export const stream = (name: string): Promise<Stream> => ask(pathOf(name));

/** Gives a token, for which the server returns a cookie. */
export const begin = (token: string): Promise<Session> =>
  ask("/v1/session", { method: "POST", headers: { authorization: `Bearer ${token}` } });

export const end = (): Promise<Session> => ask("/v1/session/end", { method: "POST" });

/** Stops or starts a stream, or one of its outputs. */
export const turn = (name: string, output: number | null, on: boolean): Promise<unknown> =>
  ask(`${pathOf(name)}${output === null ? "" : `/outputs/${output}`}/${on ? "start" : "stop"}`, { method: "POST" });

const linkOf = (name: string, link: string): string => `${pathOf(name)}/links/${encodeURIComponent(link)}`;

/** Switches a link of a sender off or on. */
export const switchLink = (name: string, link: string, on: boolean): Promise<unknown> =>
  ask(`${linkOf(name, link)}/${on ? "on" : "off"}`, { method: "POST" });

/** Replaces the costs of a link of a sender. */
export const price = (name: string, link: string, costs: (readonly [string, string])[]): Promise<unknown> =>
  ask(`${linkOf(name, link)}/tariff?${costs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`,
    { method: "POST" });
