// Settings of a sender's links: on or off, and their costs.

import { useRef, useState } from "preact/hooks";

import * as api from "./api";
import { Trouble, Turn, lineOfChange } from "./parts";
import { bytes, duration } from "./words";

/** Costs of a link in words. */
export function costs({ tariff }: api.LinkSetting): string {
  if (!tariff) return "";
  const parts = [`class ${tariff.class}`];
  if (typeof tariff.price === "number") parts.push(`${tariff.price} per GB`);
  const of = typeof tariff.month_bytes === "number" ? ` of ${bytes(tariff.month_bytes)}` : "";
  if (typeof tariff.left_bytes === "number") parts.push(`${bytes(tariff.left_bytes)}${of} left`);
  if (typeof tariff.lasts_s === "number") parts.push(`for ${duration(tariff.lasts_s)}`);
  return parts.join(", ");
}

/** A size that the server reads, with all its digits. */
const size = (left: number | null | undefined): string => (typeof left === "number" ? `${left / 1e6}MB` : "");

/** Fields of the form: key of the query, label, example. */
const FIELDS: [string, string, string][] = [
  ["class", "Class: links of a higher one are used where the others do not suffice", "0"],
  ["left", "Allowance", "5GB"],
  ["for", "Time for which it has to last", "30d"],
  ["month", "Monthly allowance, in place of these two", "5GB"],
  ["day", "Day on which a month begins", "15"],
  ["price", "Price of 10⁹ bytes", "4.5"],
];

/** A button with a form for the costs of a link. */
function Costs({ stream, setting }: { stream: string; setting: api.LinkSetting }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const [trouble, setTrouble] = useState("");
  const { link, tariff } = setting;
  const monthly = typeof tariff?.month_bytes === "number";
  // A time that has run out cannot be given again.
  const lasts = typeof tariff?.lasts_s === "number" && tariff.lasts_s >= 1 ? `${Math.round(tariff.lasts_s)}s` : "";
  const now: Record<string, string> = {
    class: String(tariff?.class ?? 0),
    left: monthly ? "" : size(tariff?.left_bytes),
    for: monthly ? "" : lasts,
    month: size(tariff?.month_bytes),
    day: monthly ? String(tariff.month_begins ?? 1) : "",
    price: typeof tariff?.price === "number" ? String(tariff.price) : "",
  };
  const open = (): void => {
    setTrouble("");
    for (const [key] of FIELDS) {
      const field = form.current?.elements.namedItem(key);
      if (field instanceof HTMLInputElement) field.value = now[key] ?? "";
    }
    dialog.current?.showModal();
  };
  const give = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.target as HTMLFormElement);
    const parts = FIELDS.map(([key]) => [key, String(given.get(key) ?? "").replaceAll(" ", "")] as const);
    try {
      await api.price(stream, link, parts.filter(([, value]) => value !== ""));
      dialog.current?.close();
    } catch (error) {
      setTrouble(lineOfChange(error));
    }
  };
  return (
    <>
      <button type="button" aria-label={`Costs of ${link}`} onClick={open}>Costs</button>
      <dialog ref={dialog} aria-label={`Costs of ${link}`}>
        <form ref={form} class="costs" onSubmit={(event) => void give(event as SubmitEvent)}>
          <p>Costs of {link}, from now on. An empty field has no value.</p>
          {FIELDS.map(([key, label, example]) => (
            <label key={key}>{label}<input name={key} placeholder={example} autocomplete="off" /></label>
          ))}
          <Trouble line={trouble} />
          <div class="tools">
            <button class="primary">Set the costs</button>
            <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
          </div>
        </form>
      </dialog>
    </>
  );
}

/** Settings of the links of a sender. */
export function Switches({ stream, control }: { stream: api.Stream; control: boolean }) {
  const links = stream.links ?? [];
  if (!links.length) return null;
  return (
    <section class="card" aria-label="Switches">
      <h2>On and off</h2>
      <ul class="lines">
        {links.map((setting) => {
          const { link, on } = setting;
          const words = on ? "Switch off" : "Switch on";
          const question = on
            ? `Switch ${link} off? It carries no media until it is switched on. The other links carry the stream.`
            : `Switch ${link} on?`;
          return (
            <li key={link} class="output">
              <div>
                {link} <span class={on ? "good" : "idle"}>{on ? "on" : "off"}</span>
                <p class="small muted">{costs(setting)}</p>
              </div>
              {control && (
                <div class="tools">
                  <Costs stream={stream.name} setting={setting} />
                  <Turn words={words} label={`${words}: ${link}`} question={question}
                    does={() => api.switchLink(stream.name, link, !on)} />
                </div>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
