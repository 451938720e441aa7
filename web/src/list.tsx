// All streams.

import { useState } from "preact/hooks";

import * as api from "./api";
import { Badge, Trouble, useAsked } from "./parts";
import { colourName } from "./plot";
import { count, ms, rate, streamState } from "./words";

/** Rates of links, next to each other. The bar is one background, whose change moves no other part of the page. */
export function LinkBar({ paths }: { paths: api.Path[] }) {
  const sum = paths.reduce((all, path) => all + (path.rate_bps ?? 0), 0);
  let end = 0;
  const stops = sum > 0 ? paths.map((path, place) => {
    const from = end;
    end += (100 * (path.rate_bps ?? 0)) / sum;
    return `var(${colourName(place)}) ${from.toFixed(2)}% ${end.toFixed(2)}%`;
  }) : [];
  const background = stops.length ? `linear-gradient(90deg, ${stops.join(", ")})` : "";
  return <div class="bar" aria-hidden="true" style={{ background }} />;
}

function Card({ stream }: { stream: api.Stream }) {
  const { media, paths = [] } = stream;
  const open = paths.filter((path) => path.state === "active").length;
  const figures = [
    media?.rate_bps === undefined ? "" : rate(media.rate_bps),
    typeof media?.buffer_ms === "number" ? `margin ${ms(media.buffer_ms)}` : "",
    media ? `${open} of ${count(paths.length, "link")}` : "",
  ].filter(Boolean);
  return (
    <li>
      <a class="card" href={`#/${encodeURIComponent(stream.name)}`}>
        <h2><span>{stream.name}</span><Badge state={streamState(stream.state)} /></h2>
        <LinkBar paths={paths} />
        <p class="small muted">{figures.join(", ") || (stream.senders.length ? `may be sent by ${stream.senders.join(", ")}` : "no figures yet")}</p>
      </a>
    </li>
  );
}

export function List({ refused }: { refused: (error: unknown) => void }) {
  const [streams, setStreams] = useState<api.Stream[] | null>(null);
  const trouble = useAsked(api.streams, setStreams, refused, "");
  return (
    <main>
      <Trouble line={trouble} />
      <div class="title"><h1>Streams</h1></div>
      <ul class="list">{streams?.map((stream) => <Card key={stream.name} stream={stream} />)}</ul>
    </main>
  );
}
