// The page of a server, a sender or a receiver.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { List } from "./list";
import { Login, Trouble, lineOf, lineOfChange } from "./parts";
import { Stream } from "./stream";

/** Events that are kept. */
const EVENTS = 200;
/** Time after which refused events are asked for again. */
const AGAIN_MS = 3_000;

/** The stream that the address names; null: all streams. */
function place(): string | null {
  const found = /^#\/([^?]+)/.exec(location.hash)?.[1];
  try {
    return found ? decodeURIComponent(found) : null;
  } catch {
    return null;
  }
}

/** Gives the token of the address, which is then no longer there. */
async function takeToken(): Promise<void> {
  const token = /\?token=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  const take = (): void => history.replaceState(null, "", location.hash.replace(/\?.*$/, ""));
  try {
    await api.begin(token);
  } catch (error) {
    // A token whose request was lost stays, so that loading the page again gives it again.
    if (error instanceof api.Refused) take();
    throw error;
  }
  take();
}

function useEvents(right: api.Right): api.Event[] {
  const [events, setEvents] = useState<api.Event[]>([]);
  useEffect(() => {
    if (right === "none") return undefined;
    const add = (event: api.Event): void => setEvents((known) => [event, ...known].slice(0, EVENTS));
    let source: EventSource;
    let timer = 0;
    let told = false;
    const open = (): void => {
      source = new EventSource("/v1/events");
      source.onopen = () => { told = false; };
      source.onmessage = ({ data }: MessageEvent<string>) => add(JSON.parse(data) as api.Event);
      source.addEventListener("lost", ({ data }: MessageEvent<string>) => {
        const { events: lost } = JSON.parse(data) as { events: number };
        add({ time: new Date().toISOString(), event: "lost", text: `${lost} events came too fast for this page` });
      });
      // A browser connects again by itself, but not after a refusal.
      source.onerror = () => {
        if (!told) add({ time: new Date().toISOString(), event: "lost", text: "no events come: the page asks again" });
        told = true;
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
      };
    };
    open();
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [right]);
  return events;
}

function Page() {
  const [session, setSession] = useState<api.Session | null>(null);
  const [name, setName] = useState(place());
  const [asks, setAsks] = useState(false);
  const [trouble, setTrouble] = useState("");
  const [refusal, setRefusal] = useState("");
  const events = useEvents(session?.right ?? "none");

  const look = async (): Promise<void> => {
    try {
      setSession(await api.session());
      setTrouble("");
    } catch (error) {
      setTrouble(lineOf(error));
      setTimeout(() => void look(), 1000);
    }
  };
  const end = async (): Promise<void> => {
    try {
      setSession(await api.end());
    } catch (error) {
      setTrouble(lineOfChange(error));
    }
  };
  useEffect(() => {
    // The form for a token says what is wrong with one that is refused.
    const given = (): void => {
      void takeToken().then(() => setRefusal(""), (error: unknown) => setRefusal(lineOfChange(error))).then(look);
    };
    given();
    const moved = (): void => {
      setName(place());
      // The address of another run was put in its place.
      given();
    };
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => { document.title = name === null ? "Strandcast" : `${name} – Strandcast`; }, [name]);

  if (!session) return <main><Trouble line={trouble} /></main>;
  const done = (next: api.Session): void => {
    setSession(next);
    setAsks(false);
  };
  if (session.right === "none") return <Login needs={refusal || "This page needs a token."} done={done} />;
  if (asks) return <Login needs="Changes need a token for control." done={done} cancel={() => setAsks(false)} />;
  const control = session.right === "control";
  // The server has begun again, or has other tokens now.
  const refused = (error: unknown): void => {
    if (error instanceof api.Refused && (error.status === 401 || error.status === 403)) void look();
  };
  return (
    <>
      <header>
        <a href="#/">Strandcast</a>
        {name !== null && <a href="#/" class="small">all streams</a>}
        <span class="space" />
        {!control && session.control && <button type="button" onClick={() => setAsks(true)}>Control</button>}
        {session.cookie && <button type="button" onClick={() => void end()}>Log out</button>}
      </header>
      {name === null
        ? <List refused={refused} />
        : <Stream key={name} {...{ name, control, events, refused }} />}
    </>
  );
}

const root = document.getElementById("page");
if (root) render(<Page />, root);
