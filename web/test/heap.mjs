// Memory of the page while it shows a stream.
//
//   node web/test/heap.mjs URL STREAM MINUTES [VIEW-TOKEN]
//
// Prints the heap of each minute in MB; exits 1 if it has grown by more than 20 MB.

import process from "node:process";
import { check, opened, picture, run } from "./browser.mjs";

const [url, name, minutes, token] = process.argv.slice(2);
const GROWTH_MB = 20;

run(async (browser) => {
  const { context, page, wrong } = await opened(browser);
  const devtools = await context.newCDPSession(page);
  await page.goto(`${url}/#/${name}`);
  if (token) {
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Use" }).click();
  }
  await picture(page);
  const heap_mb = [];
  for (let minute = 0; minute <= Number(minutes); minute++) {
    // The first minute fills what is kept.
    await page.waitForTimeout(60_000);
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    heap_mb.push(Number((usedSize / 1e6).toFixed(2)));
  }
  const [played, media_s, dropped] = await page.evaluate(() => {
    const video = document.querySelector("video");
    const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality();
    return [totalVideoFrames, video.buffered.end(0) - video.buffered.start(0), droppedVideoFrames];
  });
  check(played > Number(minutes) * 600, `the picture has ${played} frames after ${minutes} minutes`);
  check(media_s < 90, `the browser keeps ${media_s} s of media`);
  check(heap_mb.at(-1) - heap_mb[0] < GROWTH_MB, `the heap grows: ${heap_mb} MB`);
  check(!wrong.length, wrong.join("\n"));
  return { heap_mb, frames: played, dropped };
});
