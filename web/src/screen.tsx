// The picture of a stream on the page.

import { useEffect, useRef, useState } from "preact/hooks";

import { Picture } from "./picture";

/** Time after which a page that nobody sees or listens to ends its picture. */
const HIDDEN_MS = 10_000;

export function Screen({ name }: { name: string }) {
  const video = useRef<HTMLVideoElement>(null);
  const [on, setOn] = useState(true);
  const [muted, setMuted] = useState(true);
  const [seen, setSeen] = useState(true);
  const [line, setLine] = useState("");

  useEffect(() => {
    let timer = 0;
    const changed = (): void => {
      clearTimeout(timer);
      if (!document.hidden) setSeen(true);
      else if (muted) timer = setTimeout(() => setSeen(false), HIDDEN_MS);
    };
    changed();
    document.addEventListener("visibilitychange", changed);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", changed);
    };
  }, [muted]);

  useEffect(() => {
    if (!on || !seen || !video.current) return undefined;
    const picture = new Picture(video.current, `/streams/${encodeURIComponent(name)}.ts?from=last`, setLine);
    return () => {
      picture.stop();
      setLine("");
    };
  }, [name, on, seen]);

  return (
    <section class="card" aria-label="Picture">
      <div class="screen">
        <video ref={video} muted={muted} playsInline onVolumeChange={() => setMuted(video.current?.muted ?? true)} />
        {(line || !on) && <p role="status">{line || "The picture is off."}</p>}
      </div>
      <div class="tools">
        <button type="button" onClick={() => setOn(!on)}>{on ? "Picture off" : "Picture on"}</button>
        {on && <button type="button" onClick={() => setMuted(!muted)}>{muted ? "Sound on" : "Sound off"}</button>}
        {on && <button type="button" onClick={() => void video.current?.requestFullscreen()}>Full screen</button>}
      </div>
    </section>
  );
}
