// Time until the page shows the picture of a stream that runs.
//
//   node web/test/first.mjs URL STREAM LOADS
//
// Prints the times in ms as JSON. Each load has an empty cache.

import process from "node:process";
import { check, opened, picture, run } from "./browser.mjs";

const [url, name, loads] = process.argv.slice(2);

run(async (browser) => {
  const first_frame_ms = [];
  for (let load = 0; load < Number(loads); load++) {
    const { context, page, wrong } = await opened(browser);
    await page.goto(`${url}/#/${name}`);
    first_frame_ms.push(await picture(page));
    check(!wrong.length, wrong.join("\n"));
    await context.close();
  }
  return { first_frame_ms };
});
