// Times at which the page shows the frames of a stream. The number of a frame is in its picture: bar k is white if bit k is 1.
//
//   node web/test/behind.mjs URL STREAM SECONDS
//
// Prints pairs as JSON: the number of a frame, and the time in ms since 1970.

import process from "node:process";
import { check, opened, picture, run } from "./browser.mjs";

const [url, name, seconds] = process.argv.slice(2);

run(async (browser) => {
  const { page, wrong } = await opened(browser);
  await page.goto(`${url}/#/${name}`);
  await picture(page);
  const frames = await page.evaluate((until) => new Promise((done) => {
    const bits = 12;
    const video = document.querySelector("video");
    const context = new OffscreenCanvas(320, 180).getContext("2d", { willReadFrequently: true });
    const end = performance.now() + 1000 * until;
    const frames = [];
    const look = (_, { expectedDisplayTime }) => {
      context.drawImage(video, 0, 0, 320, 180);
      const { data } = context.getImageData(0, 90, 320, 1);
      let number = 0;
      for (let bit = 0; bit < bits; bit++) if (data[4 * (26 * bit + 12)] > 127) number |= 1 << bit;
      frames.push([number, performance.timeOrigin + expectedDisplayTime]);
      if (performance.now() < end) video.requestVideoFrameCallback(look);
      else done(frames);
    };
    video.requestVideoFrameCallback(look);
  }), Number(seconds));
  check(!wrong.length, wrong.join("\n"));
  return { frames };
});
