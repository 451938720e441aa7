// The picture and the sound of a stream: by the browser's own MPEG-TS, else by mpegts.js.

import type mpegts from "mpegts.js";

import { reason } from "./api";
import { codecs, type Codecs } from "./transport";

/** Media that should wait in the browser, in seconds; above FAST it plays faster, above FAR it jumps. */
const TARGET_S = 0.4;
const FAST_S = 0.9;
const FAR_S = 2.5;
/** Played media that the browser keeps: more than lies between key frames, because it removes up to a key frame. */
const KEPT_S = 30;
/** Interval at which media are given to the browser once there is a picture, and the picture is checked. */
const LOOK_MS = 50;
/** Time without progress after which the picture begins again. */
const STUCK_MS = 4_000;
const AGAIN_MS = 1_000;
/** The same if the stream has to change first. */
const LATER_MS = 30_000;
/** Bytes in which the tables of a stream have to come. */
const TABLES = 256 << 10;

/** The end of an attempt; `final`: another one would end in the same way until the stream changes. */
class Ended extends Error {
  constructor(why: string, readonly final = false) {
    super(why);
  }
}

type Player = ReturnType<typeof mpegts.createPlayer>;

export class Picture {
  #stop = new AbortController();

  /** Plays the stream at `url` until `stop`. `say` gets a line whenever there is something to say, or "". */
  constructor(readonly video: HTMLVideoElement, readonly url: string, readonly say: (line: string) => void) {
    void this.#run();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const all = this.#stop.signal;
    if (!("MediaSource" in window) && !("ManagedMediaSource" in window)) {
      this.say("This browser has no MediaSource, and cannot show the picture. Use a player: see docs/operate/page.md.");
      return;
    }
    while (!all.aborted) {
      const attempt = new AbortController();
      const ends = (): void => attempt.abort();
      all.addEventListener("abort", ends);
      let wait = AGAIN_MS;
      try {
        await this.#attempt(attempt);
      } catch (error) {
        if (!all.aborted) this.say(error instanceof Error ? error.message : String(error));
        if (error instanceof Ended && error.final) wait = LATER_MS;
      } finally {
        attempt.abort();
        all.removeEventListener("abort", ends);
        if (this.video.hasAttribute("src")) {
          this.video.removeAttribute("src");
          this.video.load();
        }
      }
      if (!all.aborted) await new Promise((done) => { setTimeout(done, wait); });
    }
  }

  async #attempt(attempt: AbortController): Promise<void> {
    const response = await fetch(this.url, { signal: attempt.signal });
    if (!response.ok || !response.body) throw new Ended(await reason(response));
    this.say("waits for a key frame");
    const reader = response.body.getReader();
    const [first, found] = await begun(reader);
    if (!found.video) throw new Ended("The stream has no video that is known here.", true);
    if (found.other.length && !found.hevc && !found.list.some((one) => one.startsWith("avc1"))) {
      throw new Ended(`This browser cannot show ${found.other.join(" and ")}.`, true);
    }
    if (found.hevc && !takes('video/mp4; codecs="hvc1.1.6.L93.B0"')) {
      throw new Ended("This browser cannot show H.265.", true);
    }
    const type = `video/mp2t; codecs="${found.list.join(",")}"`;
    const silent = found.other.length ? `The sound is ${found.other.join(" and ")}, which is not played here.` : "";
    if (!found.hevc && "MediaSource" in window && takes(type)) {
      await this.#own(reader, first, type, silent, attempt);
    } else {
      await reader.cancel();
      await this.#library(found, silent, attempt);
    }
  }

  /** Plays by the browser's own MPEG-TS. */
  async #own(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    first: Uint8Array<ArrayBuffer>,
    type: string,
    silent: string,
    attempt: AbortController,
  ): Promise<void> {
    const source = new MediaSource();
    const opened = event(source, "sourceopen", attempt.signal);
    const place = URL.createObjectURL(source);
    this.video.src = place;
    await opened;
    URL.revokeObjectURL(place);
    source.duration = Infinity;
    const buffer = source.addSourceBuffer(type);
    const watch = new Watch(this.video, () => this.say(silent), () => void reader.cancel());
    const waiting: Uint8Array[] = [first];
    const give = (): void => watch.tried(() => feed(buffer, waiting, this.video));
    // The first picture gets its media at once, and is looked for as soon as the browser has taken them.
    const hasten = (): void => {
      if (watch.shown) return;
      watch.look();
      give();
    };
    buffer.addEventListener("updateend", hasten, { signal: attempt.signal });
    const timer = setInterval(() => {
      watch.look();
      give();
    }, LOOK_MS);
    give();
    try {
      for (;;) {
        const { value } = await reader.read();
        if (!value) throw watch.ended ?? new Ended("the stream has ended");
        waiting.push(value);
        if (!watch.shown) give();
      }
    } finally {
      clearInterval(timer);
    }
  }

  /** Plays by mpegts.js, which is loaded now. */
  async #library(found: Codecs, silent: string, attempt: AbortController): Promise<void> {
    const place = "/mpegts.js";
    const library = ((await import(place)) as { default: typeof mpegts }).default;
    attempt.signal.throwIfAborted();
    if (!library.isSupported()) throw new Ended("This browser's MediaSource cannot show the picture.", true);
    const hasAudio = found.list.some((one) => one.startsWith("mp4a"));
    const player: Player = library.createPlayer(
      { type: "mpegts", isLive: true, url: this.url, hasAudio, hasVideo: true },
      { enableWorker: false, enableStashBuffer: false, lazyLoad: false, autoCleanupSourceBuffer: true },
    );
    let timer = 0;
    try {
      await new Promise<never>((_, fails) => {
        const watch: Watch = new Watch(this.video, () => this.say(silent), () => fails(watch.ended));
        timer = setInterval(() => watch.look(), LOOK_MS);
        player.on(library.Events.ERROR, (kind: unknown, detail: unknown) => {
          fails(new Ended(`the picture has ended: ${String(kind)}, ${String(detail)}`));
        });
        player.on(library.Events.LOADING_COMPLETE, () => fails(new Ended("the stream has ended")));
        attempt.signal.addEventListener("abort", () => fails(new Ended("")));
        player.attachMediaElement(this.video);
        player.load();
      });
    } finally {
      clearInterval(timer);
      player.destroy();
    }
  }
}

/** Returns whether the browser's MediaSource takes media of this type. */
function takes(type: string): boolean {
  const { ManagedMediaSource: managed } = window as { ManagedMediaSource?: typeof MediaSource };
  return ("MediaSource" in window ? MediaSource : managed)?.isTypeSupported(type) ?? false;
}

/** Keeps a picture near the end of what has come, and ends it when it makes no progress. */
class Watch {
  ended: Ended | null = null;
  /** Whether there is a picture. */
  shown = false;
  #at = -1;
  #moved = performance.now();

  constructor(readonly video: HTMLVideoElement, readonly shows: () => void, readonly ends: () => void) {}

  /** Does what may fail. */
  tried(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  look(): void {
    const { video } = this;
    if (video.error) return this.#end(`the picture has ended: ${video.error.message}`);
    const last = video.buffered.length - 1;
    if (last >= 0) this.#follow(video.buffered.start(last), video.buffered.end(last));
    if (video.currentTime !== this.#at) {
      if (!this.shown && video.readyState >= video.HAVE_CURRENT_DATA && video.videoWidth) {
        this.shown = true;
        this.shows();
      }
      this.#at = video.currentTime;
      this.#moved = performance.now();
    } else if (performance.now() - this.#moved > STUCK_MS && !document.hidden) {
      this.#end("no picture comes: begins again");
    }
  }

  #follow(start: number, end: number): void {
    const { video } = this;
    const ahead = end - video.currentTime;
    // The media begin with the last key frame, and the picture near their end.
    const far = this.shown ? FAR_S : FAST_S;
    if (!video.seeking && (video.currentTime < start || ahead > far)) {
      video.currentTime = Math.max(start, end - TARGET_S);
      // A jump is no progress.
      this.#at = video.currentTime;
    }
    if (ahead > FAST_S) video.playbackRate = 1.1;
    else if (ahead < TARGET_S) video.playbackRate = 1;
    // A browser that refuses sound without a gesture shows the picture without it.
    const refused = (why: Error): void => { if (why.name === "NotAllowedError") video.muted = true; };
    if (video.paused) video.play().catch(refused);
  }

  #end(why: string): void {
    if (this.ended) return;
    this.ended = new Ended(why);
    this.ends();
  }
}

/** Reads until the codecs are known. */
async function begun(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<[Uint8Array<ArrayBuffer>, Codecs]> {
  const parts: Uint8Array[] = [];
  for (let size = 0; size < TABLES;) {
    const { value } = await reader.read();
    if (!value) throw new Ended("the stream has ended");
    parts.push(value);
    size += value.length;
    const all = joined(parts);
    const found = codecs(all);
    if (found) return [all, found];
  }
  throw new Ended("the stream has no tables");
}

/** Gives the browser what has come, and removes what was played. */
function feed(buffer: SourceBuffer, waiting: Uint8Array[], video: HTMLVideoElement): void {
  if (buffer.updating) return;
  const { buffered } = buffer;
  if (buffered.length && video.currentTime - buffered.start(0) > 2 * KEPT_S) {
    buffer.remove(0, video.currentTime - KEPT_S);
  } else if (waiting.length) {
    buffer.appendBuffer(joined(waiting.splice(0)));
  }
}

function joined(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Waits for an event. */
function event(target: EventTarget, name: string, signal: AbortSignal): Promise<void> {
  return new Promise((done, fails) => {
    const stop = (): void => fails(new Ended(""));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    target.addEventListener(name, () => {
      signal.removeEventListener("abort", stop);
      done();
    }, { once: true });
  });
}
