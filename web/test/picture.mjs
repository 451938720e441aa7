// Draws the pictures of the page that the documentation shows (tools/page-pictures).
//
//   node web/test/picture.mjs URL STREAM SECONDS FOLDER

import path from "node:path";
import process from "node:process";
import { check, opened, picture, run } from "./browser.mjs";

const [url, name, seconds, folder] = process.argv.slice(2);

run(async (browser) => {
  const { page, wrong } = await opened(browser, { viewport: { width: 1280, height: 1000 } });
  await page.goto(`${url}/#/${name}`);
  await picture(page);
  await page.waitForTimeout(Number(seconds) * 1000);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    // The plots are drawn anew.
    await page.waitForTimeout(1_500);
    await page.screenshot({ path: path.join(folder, `page${colorScheme === "dark" ? "-dark" : ""}.png`), fullPage: true });
  }
  check(!wrong.length, wrong.join("\n"));
  return { seconds: Number(seconds) };
});
