// The page with a server and a sender that run.
//
//   node web/test/live.mjs URL STREAM VIEW-TOKEN CONTROL-TOKEN LINK ...
//
// Prints measurements as JSON; exits 1 with the reason if the page is wrong.

import process from "node:process";
import { check, colours, opened, picture, run } from "./browser.mjs";

const [url, name, view, control, ...links] = process.argv.slice(2);

/** Gives a token to the form. */
async function give(page, token) {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Use" }).click();
}

/** The page in a browser whose MediaSource is changed by `script`. */
async function otherwise(browser, script) {
  const { context, page, wrong } = await opened(browser);
  await context.addInitScript(script);
  await page.goto(`${url}/#/${name}`);
  await give(page, view);
  return { context, page, wrong };
}

/** Other browsers: with mpegts.js, and without a picture. */
async function others(browser) {
  const second = await otherwise(browser, () => {
    const own = MediaSource.isTypeSupported;
    MediaSource.isTypeSupported = (type) => !type.includes("mp2t") && own.call(MediaSource, type);
  });
  const loaded = second.page.waitForResponse(/\/mpegts\.js$/);
  await picture(second.page);
  check(await colours(second.page) > 10, "the picture of mpegts.js has no colours");
  check((await loaded).ok(), "mpegts.js was not loaded");
  check(!second.wrong.length, second.wrong.join("\n"));
  await second.context.close();
  const third = await otherwise(browser, () => {
    delete window.MediaSource;
    delete window.ManagedMediaSource;
  });
  await third.page.getByText("This browser has no MediaSource").waitFor();
  await third.page.getByRole("row", { name: new RegExp(links[0]) }).waitFor();
  await third.context.close();
}

run(async (browser) => {
  const { context, page, wrong } = await opened(browser);
  await page.goto(`${url}/#/${name}`);
  await give(page, "a-token-that-nobody-has");
  await page.getByText("this token is not known here").waitFor();
  check(await page.locator("video").count() === 0, "a picture is there without a token");
  await give(page, view);
  await picture(page);
  const [cookie] = await context.cookies();
  check(cookie.httpOnly && cookie.sameSite === "Strict", `the cookie is ${JSON.stringify(cookie)}`);
  check(!cookie.value.includes(view), "the cookie has the token");
  check(await page.getByRole("button", { name: /Stop/ }).count() === 0, "a viewer can stop something");

  // As somebody who opens the page again.
  const responses = [];
  page.on("response", (response) => responses.push(response));
  await page.reload();
  const first_frame_ms = await picture(page);
  const sizes = responses.filter((one) => /\/(page\.(js|css))?(#|$)/.test(one.url()))
    .map((one) => Number(one.headers()["content-length"]));
  const first_load_bytes = sizes.reduce((sum, size) => sum + size, 0);
  check(sizes.length === 3 && first_load_bytes < 60_000, `the first load has ${sizes} bytes`);
  check(!responses.some((one) => one.url().endsWith("/mpegts.js")), "the player was loaded, which is not needed");
  const before = await page.evaluate(() => document.querySelector("video").currentTime);
  await page.waitForFunction((at) => document.querySelector("video").currentTime > at + 1, before);
  check(await colours(page) > 10, "the picture has no colours");
  await page.getByRole("button", { name: "Sound on" }).click();
  await page.waitForFunction(() => document.querySelector("video").webkitAudioDecodedByteCount > 10_000);
  for (const link of links) await page.getByRole("row", { name: new RegExp(`${link}.*works.*bit/s`) }).waitFor();
  await page.getByText(/Now \d/).waitFor();
  const held_s = await page.evaluate(() => {
    const { buffered, currentTime } = document.querySelector("video");
    return Number((buffered.end(buffered.length - 1) - currentTime).toFixed(2));
  });

  await page.getByRole("button", { name: "Control" }).click();
  await give(page, control);
  const outputs = page.getByRole("region", { name: "Outputs" });
  const stop = outputs.getByRole("button", { name: "Stop", exact: true }).first();
  const posts = [];
  page.on("request", (request) => { if (request.method() === "POST") posts.push(request.url()); });
  await stop.click();
  await page.getByRole("button", { name: "Cancel" }).locator("visible=true").click();
  check(!posts.length, `something was asked for without a confirmation: ${posts}`);
  await stop.click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop", exact: true }).click();
  await outputs.getByText("stopped").waitFor();
  await page.getByRole("region", { name: "Events" }).getByText("stopped by request").waitFor();
  await outputs.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
  await outputs.getByText("stopped").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Token").waitFor();
  check((await context.cookies()).length === 0, "the cookie is still there");
  check(!wrong.length, wrong.join("\n"));
  await others(browser);
  return { first_frame_ms, first_load_bytes, held_s };
});
