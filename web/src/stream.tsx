// One stream: its picture, its margin, its links, its outputs and its events.

import { useMemo, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { History, LISTED, SPAN_S, explained } from "./history";
import { LinkBar } from "./list";
import { Badge, Trouble, Turn, useAsked, useInSight } from "./parts";
import { LinkPlot, MarginPlot, colourName } from "./plot";
import { Screen } from "./screen";
import { Switches } from "./switches";
import { bytes, clock, count, duration, linkState, ms, rate, share, streamState } from "./words";

type Column = [string, (path: api.Path) => number | null | undefined, (value: number) => string];

/** Columns of links. One that no link has is not drawn. */
const COLUMNS: Column[] = [
  ["rate", (path) => path.rate_bps, rate],
  ["round trip", (path) => path.rtt_ms, ms],
  ["loss", (path) => path.loss, share],
  ["carried", (path) => path.bytes, bytes],
  ["allowance left", (path) => path.allowance_bytes, bytes],
];

/** Number of rows that are in sight together. */
const ROWS = 8;

/** Rows of the links from `begin` on. Rows out of sight stay as they are. */
function Rows({ paths, columns, begin }: { paths: api.Path[]; columns: Column[]; begin: number }) {
  const [place, inSight] = useInSight<HTMLTableSectionElement>();
  const drawn = useRef({ paths, columns });
  if (inSight) drawn.current = { paths, columns };
  const now = drawn.current;
  return useMemo(() => (
    <tbody ref={place}>
      {now.paths.slice(begin, begin + ROWS).map((path, number) => {
        const [words, grade] = linkState(path.state);
        return (
          <tr key={path.id}>
            <td title={path.name}>
              <span class="swatch" style={{ background: `var(${colourName(begin + number)})` }} />{path.name}
              <p class="small">
                <span class={grade}>{words}</span>
                {(path.down_s ?? 0) > 0.05 && <span class="muted">, was not usable for {duration(path.down_s ?? 0)}</span>}
              </p>
            </td>
            {now.columns.map(([name, value, text]) => {
              const known = value(path);
              return <td key={name} class={name}>{typeof known === "number" ? text(known) : ""}</td>;
            })}
          </tr>
        );
      })}
    </tbody>
  ), [now]);
}

function Links({ stream, history, version }: { stream: api.Stream; history: History; version: number }) {
  const paths = stream.paths ?? [];
  if (!paths.length) return null;
  const columns = COLUMNS.filter(([, value]) => paths.some((path) => typeof value(path) === "number"));
  return (
    <section class="card" aria-label="Links">
      <h2>Links</h2>
      <LinkBar paths={paths} />
      <LinkPlot {...{ history, paths, version }} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of links">
        <table>
          <thead><tr><th scope="col">link</th>{columns.map(([name]) => <th scope="col" key={name} class={name}>{name}</th>)}</tr></thead>
          {paths.map((_, begin) => begin % ROWS === 0 && <Rows key={begin} {...{ paths, columns, begin }} />)}
        </table>
      </div>
    </section>
  );
}

function Margin({ stream, history, version }: { stream: api.Stream; history: History; version: number }) {
  const { media } = stream;
  const least = history.least();
  if (!media && least === null) return null;
  return (
    <section class="card" aria-label={stream.links ? "Late messages of the sender" : "Margin"}>
      <h2>{stream.links ? "Late messages" : "Margin"}</h2>
      {!stream.links && (
        <p class="small muted">Media that have arrived and wait to be played. At 0 ms there is nothing left to play.</p>
      )}
      <p>
        {typeof media?.buffer_ms === "number" && <>Now <b>{ms(media.buffer_ms)}</b></>}
        {least !== null && <>, least in the last {SPAN_S / 60} min {ms(least)}</>}
        {stream.latency_ms !== null && <>{stream.links ? "Latency" : ", latency of the configuration"} {ms(stream.latency_ms)}</>}
        {media?.shift_ms ? <>, playout is {ms(media.shift_ms)} later</> : null}
      </p>
      {least !== null && <MarginPlot {...{ history, version }} />}
      <p>
        {stream.links
          ? <>Since the start of the sender: {count((media?.late ?? 0) + (media?.messages_dropped ?? 0), "message")} not
            delivered in time.</>
          : <>Since the start of the sender: {count(media?.late ?? 0, "message")} too late, {media?.lost ?? 0} lost.</>}
      </p>
      <ul class="lines" tabIndex={0} aria-label="Late messages">
        {history.late.slice(0, LISTED).map((late) => {
          const [why, remedy] = explained(late);
          return (
            <li key={`${late.from} ${late.cause}`}>
              <span class="muted">{clock(late.from)}</span> {why}. <span class="muted">To do: {remedy}.</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The rate that an encoder should send now. */
function Advice({ stream }: { stream: api.Stream }) {
  if (!stream.links) return null;
  const { advice, media } = stream;
  const above = advice !== undefined && (media?.rate_bps ?? 0) > advice.rate_bps * 1.05;
  return (
    <section class="card" aria-label="Encoder">
      <h2>Encoder</h2>
      {advice
        ? <>
          <p class="advised">At most <b class={above ? "warn" : "good"}>{rate(advice.rate_bps)}</b></p>
          <p class="muted">
            It sends {rate(media?.rate_bps ?? 0)} now. Without the link that carries most, {rate(advice.safe_bps)} would
            still be in time.
          </p>
        </>
        : <p class="muted">
          There is no advice. It needs <code>--advice FILE</code>, some seconds of media, and links that limit the stream.
        </p>}
    </section>
  );
}

/** Messages that an output missed, with the reasons. */
function missed({ unread, unsent }: api.Output): string[] {
  const reasons = Object.entries(unsent).filter(([, messages]) => messages > 0);
  const lines = reasons.map(([why, messages]) => `${count(messages, "message")} missed so far: ${why}`);
  return unread > 0 ? [...lines, `${count(unread, "message")} missed so far: not read in time`] : lines;
}

function Outputs({ stream, control }: { stream: api.Stream; control: boolean }) {
  const outputs = stream.outputs ?? [];
  if (!outputs.length) return null;
  return (
    <section class="card" aria-label="Outputs">
      <h2>Outputs</h2>
      <ul class="lines">
        {outputs.map((output, number) => (
          <li key={number} class="output">
            <div>
              {output.name}
              {output.stopped && <> <Badge state={["stopped", "idle"]} /></>}
              {output.failed && <p class="small bad">failed: {output.failed}</p>}
              {missed(output).map((line) => <p key={line} class="small warn">{line}</p>)}
            </div>
            {control && stream.state !== "stopped" && (
              <Turn
                words={output.stopped ? "Start" : "Stop"}
                question={`${output.stopped ? "Start" : "Stop"} the output ${output.name} of ${stream.name}?`}
                does={() => api.turn(stream.name, number, output.stopped === true)}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Events({ events, name }: { events: api.Event[]; name: string }) {
  const shown = events.filter((event) => event.name === undefined || event.name === name);
  return (
    <section class="card" aria-label="Events">
      <h2>Events</h2>
      {!shown.length && <p class="muted">None since the page was opened.</p>}
      <ul class="lines" tabIndex={0} aria-label="List of events">
        {shown.map((event, number) => (
          <li key={shown.length - number} class="event"><span class="muted">{clock(Date.parse(event.time))}</span> {event.text}</li>
        ))}
      </ul>
    </section>
  );
}

export function Stream({ name, control, events, refused }: {
  name: string;
  control: boolean;
  events: api.Event[];
  refused: (error: unknown) => void;
}) {
  const history = useRef(new History()).current;
  const [seen, setSeen] = useState<{ stream: api.Stream; version: number } | null>(null);
  const trouble = useAsked(() => api.stream(name), (stream) => {
    const now = Date.now();
    history.add(stream, now);
    setSeen({ stream, version: now });
  }, refused, name);
  if (!seen) return <main><Trouble line={trouble} /></main>;
  const { stream, version } = seen;
  const stopped = stream.state === "stopped";
  const sends = stream.links !== undefined;
  return (
    <main>
      <Trouble line={trouble} />
      <div class="title">
        <h1>{stream.name}</h1>
        <Badge state={streamState(stream.state)} />
        <span class="muted">
          {[stream.peer && `${stream.links ? "to" : "from"} ${stream.peer}`, stream.media?.rate_bps !== undefined && rate(stream.media.rate_bps),
            stream.seconds !== undefined && `for ${duration(stream.seconds)}`].filter(Boolean).join(", ")}
        </span>
        <span class="space" />
        {control && !sends && (
          <Turn
            words={stopped ? "Start the stream" : "Stop the stream"}
            question={stopped
              ? `Start ${name}? It waits for its sender.`
              : `Stop ${name}? Its outputs are closed, and its sender is refused until it is started.`}
            does={() => api.turn(name, null, stopped)}
          />
        )}
      </div>
      <div class="stream">
        <div class="column">
          {!stopped && !sends && <Screen name={name} />}
          <Advice stream={stream} />
          <Switches {...{ stream, control }} />
          <Margin {...{ stream, history, version }} />
        </div>
        <div class="column">
          <Links {...{ stream, history, version }} />
          <Outputs {...{ stream, control }} />
        </div>
        <div class="column last">
          <Events {...{ events, name }} />
        </div>
      </div>
    </main>
  );
}
