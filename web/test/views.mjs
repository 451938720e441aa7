// The page with what a server may say: many links, hostile names, late messages, each width and colour scheme.
//
//   node web/test/views.mjs URL FOLDER [links]
//
// With `links` only the tasks with 50 links are measured. The page is the server's, and the responses of its API are made here. Pictures of the page go to FOLDER. Prints
// measurements as JSON; exits 1 with the reason if the page is wrong.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { check, opened, run } from "./browser.mjs";

const [url, folder, only] = process.argv.slice(2);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [360, 1280, 2560];
const HOSTILE = "<img src=x onerror=alert(1)>\"'&amp;</script>";
const STATES = ["active", "active", "active", "potentially-failed", "inactive", "closed"];

let asked = 0;

/** A stream with this number of links, as the API describes it. Its figures move with each request. */
function stream(name, links, more = {}) {
  const at = asked++;
  const dip = at % 12 > 8;
  const paths = [...Array(links).keys()].map((id) => ({
    id, name: links > 10 ? `wwan${id}` : ["lte", "wlan0", HOSTILE][id] ?? `eth${id}`,
    state: links > 10 ? STATES[id % STATES.length] : dip && id === 0 ? "inactive" : "active",
    rate_bps: dip && id === 0 ? 0 : 9e5 + 3e5 * Math.sin(at / 5 + id), rtt_ms: 30 + 7 * id, loss: null,
    bytes: 1e6 * at * (id + 1), down_s: id === 0 ? Math.floor(at / 12) * 0.4 + (dip ? 0.4 : 0) : 0,
  }));
  const late = Math.floor(at / 12) * 7;
  const media = {
    messages: at * 300, rate_bps: 2.7e6, late, lost: 0, late_by: { "link-lost": late }, shift_ms: 0,
    buffer_ms: dip ? 60 : 700 + 120 * Math.sin(at / 3),
  };
  return {
    name, state: "streaming", stream: "5f3a91c2", peer: "van1", seconds: at, senders: ["van1"], latency_ms: 1000,
    outputs: [
      { name: "recordings/van1-20261128-172239.ts", unread: 0, unsent: {} },
      { name: `udp://127.0.0.1:5001`, unread: 3, unsent: { "no-receiver": 4 } },
      { name: HOSTILE, unread: 0, unsent: {}, failed: HOSTILE },
    ],
    media, paths, ...more,
  };
}

/** A stream as its sender describes it. */
const sent = (name) => stream(name, 3, {
  peer: "@studio", outputs: [], senders: [], advice: { rate_bps: 2.1e6, safe_bps: 9e5 },
  links: [
    { link: "lte", on: true, tariff: { class: 2, price: 4.5, left_bytes: 4.2e9, lasts_s: 86400 } },
    { link: HOSTILE, on: false, tariff: null },
  ],
});

const waiting = (name) => ({ name, state: "waiting", senders: ["van2"], latency_ms: null, outputs: [] });

const EVENTS = ["receiving from van1, latency 1.0 s", `${HOSTILE} joined`, "lte is back after 0.4 s"].map(
  (text, number) => `data: ${JSON.stringify({ time: `2026-11-28T17:22:4${number}.000Z`, event: "path", name: "van1", text })}\n\n`,
).join("");

/** Responds in place of the server. */
async function feign(page, links) {
  const json = (value) => ({ json: value });
  await page.route("**/v1/session", (route) => route.fulfill(json({ right: "control", control: true, cookie: true })));
  await page.route("**/v1/streams", (route) => route.fulfill(json({
    streams: [stream("van1", links), stream("van2", 2, { state: "outage" }), waiting("van3"), stream(HOSTILE, 3),
      { ...waiting("van4"), state: "stopped" }],
  })));
  await page.route("**/v1/streams/*", (route) => {
    const name = decodeURIComponent(new URL(route.request().url()).pathname.split("/")[3]);
    return route.fulfill(json(name === "field" ? sent(name) : stream(name, links)));
  });
  await page.route("**/v1/events", (route) => route.fulfill({
    contentType: "text/event-stream", body: `retry: 10000000\n\n${EVENTS}`,
  }));
  await page.route("**/streams/*.ts?*", (route) => route.fulfill({ status: 409, ...json({ error: HOSTILE }) }));
}

/** Elements that are wider than the page. */
const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function views(browser, dark) {
  const colorScheme = dark ? "dark" : "light";
  const { context, page, wrong } = await opened(browser, { colorScheme });
  await feign(page, 4);
  for (const [view, hash] of [["list", ""], ["sender", "#/field"], ["stream", "#/van1"]]) {
    await page.goto(`${url}/${hash}`);
    // Samples for the plots.
    await page.waitForTimeout(view === "stream" ? 16_000 : 1_500);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width === 360 ? 760 : width * 9 / 16 });
      await page.waitForTimeout(300);
      const name = `${view}-${width}${dark ? "-dark" : ""}.png`;
      await page.screenshot({ path: path.join(folder, name), fullPage: true });
      check(await wide(page) <= 0, `${name} is wider than the page by ${await wide(page)} px`);
    }
    if (view === "sender") {
      await page.getByText("At most 2.10 Mbit/s").waitFor();
      await page.getByText("class 2, 4.5 per GB, 4.20 GB left, for 24 h 00 min").waitFor();
    }
    const found = await serious(page);
    check(!found.length, `${view}, ${colorScheme}: ${found.join("\n")}`);
  }
  await page.getByText(HOSTILE, { exact: true }).first().waitFor();
  check(await page.locator("img").count() === 0, "a name of a peer became an element");
  await page.getByText("lte was not usable for").first().waitFor();
  check(!wrong.length, wrong.join("\n"));
  await context.close();
}

/** Serious findings of axe. The devtools protocol runs it, since the page's policy permits no other script. */
async function serious(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run());
  const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return bad.map(({ id, help, nodes }) => `axe: ${id}: ${help}: ${nodes.slice(0, 3).map((one) => one.html).join(" ")}`);
}

/** Durations of the page's tasks with 50 links, in ms: script, style and layout of each second. */
async function tasks(browser) {
  const { context, page, wrong } = await opened(browser);
  await feign(page, 50);
  await page.addInitScript(() => {
    window.__long = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.__long.push(entry.duration);
    }).observe({ entryTypes: ["longtask"] });
  });
  await page.goto(`${url}/#/van1`);
  await page.getByRole("row", { name: /wwan49/ }).waitFor();
  await page.waitForTimeout(2_000);
  const started = asked;
  await page.evaluate(() => { window.__long = []; });
  await page.waitForTimeout(20_000);
  const long = await page.evaluate(() => window.__long);
  check(!wrong.length, wrong.join("\n"));
  await context.close();
  return { links: 50, updates: asked - started, tasks_over_50_ms: long.length, longest_ms: Math.round(Math.max(0, ...long)) };
}

run(async (browser) => {
  if (only !== "links") {
    await views(browser, false);
    await views(browser, true);
  }
  return tasks(browser);
});
