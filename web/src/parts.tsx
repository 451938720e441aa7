// Small parts of the page.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import type { Grade } from "./words";

export function Badge({ state: [words, grade] }: { state: [string, Grade] }) {
  return <span class={`badge ${grade}`}>{words}</span>;
}

export function Trouble({ line }: { line: string }) {
  return line ? <p class="trouble" role="alert">{line}</p> : null;
}

export const lineOf = (error: unknown): string => {
  if (error instanceof api.Refused) return error.message;
  return "The server does not answer. The page asks again each second.";
};

/** The line of a change that failed, which is not asked for again. */
export const lineOfChange = (error: unknown): string => {
  if (error instanceof api.Refused) return error.message;
  return "The server does not answer. Look at the state, and try again.";
};

/** Returns a place for an element, and whether the element is in sight. */
export function useInSight<T extends Element>(): [RefObject<T | null>, boolean] {
  const place = useRef<T>(null);
  const [is, setIs] = useState(true);
  useEffect(() => {
    if (!place.current) return undefined;
    const watch = new IntersectionObserver((seen) => setIs(seen.at(-1)?.isIntersecting ?? true));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return [place, is];
}

/** Calls `ask` now and a second after each answer. Returns the last answer, and a line while there is none. */
export function useAsked<T>(
  ask: () => Promise<T>,
  seen: (answer: T) => void,
  refused: (error: unknown) => void,
  key: string,
): string {
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let timer = 0;
    let gone = false;
    const again = async (): Promise<void> => {
      try {
        const answer = await ask();
        if (!gone) {
          setTrouble("");
          seen(answer);
        }
      } catch (error) {
        if (!gone) {
          setTrouble(lineOf(error));
          refused(error);
        }
      }
      if (!gone) timer = setTimeout(() => void again(), 1000);
    };
    void again();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [key]);
  return trouble;
}

/** A button that asks before it does something. */
export function Turn({ words, label = words, question, does }: {
  words: string;
  /** Name of the button, where several have the same words. */
  label?: string;
  question: string;
  does: () => Promise<unknown>;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [trouble, setTrouble] = useState("");
  const [busy, setBusy] = useState(false);
  const sure = async (): Promise<void> => {
    setBusy(true);
    try {
      await does();
      dialog.current?.close();
    } catch (error) {
      setTrouble(lineOfChange(error));
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" aria-label={label} onClick={() => { setTrouble(""); dialog.current?.showModal(); }}>{words}</button>
      <dialog ref={dialog} aria-label={label}>
        <p>{question}</p>
        <Trouble line={trouble} />
        <div class="tools">
          <button type="button" class="primary" disabled={busy} onClick={() => void sure()}>{words}</button>
          <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
        </div>
      </dialog>
    </>
  );
}

/** The form for a token. */
export function Login({ needs, done, cancel }: {
  needs: string;
  done: (session: api.Session) => void;
  cancel?: (() => void) | undefined;
}) {
  const [trouble, setTrouble] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const give = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    try {
      // Other signs cannot be part of a header.
      if (!/^[!-~]+$/.test(token)) throw new api.Refused(400, "A token has letters, digits and signs.");
      done(await api.begin(token));
    } catch (error) {
      setTrouble(lineOfChange(error));
    }
  };
  return (
    <main>
      <div class="card login">
        <h1>Token</h1>
        <p>{needs} It is a line of a file of tokens at the server, or in the address that <code>--page</code> printed.</p>
        <Trouble line={trouble} />
        <form onSubmit={(event) => void give(event as SubmitEvent)}>
          <input ref={field} type="password" autocomplete="current-password" aria-label="Token" required />
          <button class="primary">Use</button>
          {cancel && <button type="button" onClick={cancel}>Cancel</button>}
        </form>
      </div>
    </main>
  );
}
