// Chromium for the tests of the page, and what goes wrong in it.

import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Path of the browser that is installed. */
function installed() {
  const folders = (process.env.PATH ?? "").split(":");
  const found = folders.flatMap((folder) => NAMES.map((name) => path.join(folder, name))).find(existsSync);
  if (!found) throw new Error("there is no Chromium: apt-get install chromium");
  return found;
}

export const launch = () => chromium.launch({
  executablePath: installed(),
  // Chromium's sandbox refuses root; it loads our own page alone.
  chromiumSandbox: process.getuid?.() !== 0,
  args: ["--mute-audio", "--disable-gpu", "--disable-dev-shm-usage", "--enable-precise-memory-info"],
});

/** A page of a new context, with the list of all that went wrong in it. */
export async function opened(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const wrong = [];
  await context.exposeFunction("__violated", (what) => wrong.push(what));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      window.__violated(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => {
    // The page ends its own requests.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") wrong.push(`failed: ${request.url()}`);
  });
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") wrong.push(`elsewhere: ${request.url()}`);
  });
  return { context, page, wrong };
}

export function check(is, what) {
  if (!is) throw new Error(what);
}

/** Waits until the picture of a page has moved, and returns the milliseconds since its navigation. */
export async function picture(page, timeout = 60_000) {
  await page.waitForFunction(() => {
    const video = document.querySelector("video");
    return video && video.videoWidth > 0 && video.currentTime > 0 && video.readyState >= 2;
  }, null, { timeout, polling: 20 });
  return page.evaluate(() => Math.round(performance.now()));
}

/** The number of colours of the picture: one that is not there has one. */
export const colours = (page) => page.evaluate(() => {
  const canvas = new OffscreenCanvas(64, 36);
  const context = canvas.getContext("2d");
  context.drawImage(document.querySelector("video"), 0, 0, 64, 36);
  const { data } = context.getImageData(0, 0, 64, 36);
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) seen.add((data[at] >> 4) << 8 | (data[at + 1] >> 4) << 4 | data[at + 2] >> 4);
  return seen.size;
});

/** Runs a test with a browser, prints what it returns as JSON, and fails with one line. */
export async function run(test) {
  const browser = await launch();
  try {
    console.log(JSON.stringify(await test(browser)));
  } catch (error) {
    console.error(error.stack ?? String(error));
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}
