// The pages of a sender and of its receiver, with a stream that runs.
//
//   node web/test/ends.mjs SENDER RECEIVER LINK FOLDER
//
// SENDER and RECEIVER are the addresses that `send --page` and `receive --page` print. Pictures of the pages go to FOLDER. Prints
// measurements as JSON; exits 1 with the reason if a page is wrong.

import path from "node:path";
import process from "node:process";
import { check, opened, picture, run } from "./browser.mjs";

const [sender, receiver, link, folder] = process.argv.slice(2);

/** Opens the page at an address with a token, which is then neither in the address nor in the history. */
async function enter(browser, address, options) {
  const { context, page, wrong } = await opened(browser, options);
  await page.goto(address);
  await page.getByRole("heading", { name: "live" }).waitFor();
  check(!page.url().includes("token"), `the address is ${page.url()}`);
  return { context, page, wrong };
}

const shot = (page, name) => page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });

async function sends(browser) {
  const { context, page, wrong } = await enter(browser, sender);
  const posts = [];
  page.on("request", (request) => { if (request.method() === "POST") posts.push(new URL(request.url()).pathname); });
  const row = page.getByRole("row", { name: new RegExp(link) });
  await row.getByText("works").waitFor();
  check(await page.locator("video").count() === 0, "a sender has no picture");
  check(await page.getByRole("button", { name: /^(Stop|Start)/ }).count() === 0, "a sender can stop its stream");
  // Links that nothing limits have no advice.
  await page.getByRole("region", { name: "Encoder" }).getByText(/At most .*bit\/s|There is no advice/).waitFor();

  const off = page.getByRole("button", { name: `Switch off: ${link}` });
  await off.click();
  await page.getByRole("button", { name: "Cancel" }).locator("visible=true").click();
  check(!posts.length, `something was asked for without a confirmation: ${posts}`);
  await off.click();
  await shot(page, "sender-asks");
  await page.getByRole("dialog").getByRole("button", { name: "Switch off", exact: true }).click();
  await row.getByText("switched off").waitFor();
  await page.getByRole("region", { name: "Events" }).getByText(`${link} switched off by request`).waitFor();
  await shot(page, "sender");

  // The last link stays on, and the dialog says why.
  await page.getByRole("button", { name: /^Switch off: / }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Switch off", exact: true }).click();
  await page.getByRole("dialog").getByText("no other link works that is on").waitFor();
  await page.getByRole("button", { name: "Cancel" }).locator("visible=true").click();

  await page.getByRole("button", { name: `Switch on: ${link}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Switch on", exact: true }).click();
  await row.getByText("works").waitFor();
  await page.getByRole("button", { name: `Costs of ${link}` }).click();
  await page.getByLabel(/^Class/).locator("visible=true").fill("900");
  await page.getByRole("button", { name: "Set the costs" }).locator("visible=true").click();
  await page.getByRole("dialog").getByText("class=900: expected 0 to 255").waitFor();
  await page.getByLabel(/^Class/).locator("visible=true").fill("2");
  await page.getByLabel(/^Allowance/).locator("visible=true").fill("5 GB");
  await shot(page, "sender-costs");
  await page.getByRole("button", { name: "Set the costs" }).locator("visible=true").click();
  await page.getByText(/class 2, .*GB left/).waitFor();
  check(!wrong.length, wrong.join("\n"));
  await context.close();
  const narrow = await enter(browser, sender, { viewport: { width: 360, height: 760 }, colorScheme: "dark" });
  await narrow.page.getByRole("row", { name: new RegExp(link) }).waitFor();
  await shot(narrow.page, "sender-360-dark");
  const wide = await narrow.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(wide <= 0, `the page is too wide by ${wide} px`);
  await narrow.context.close();
}

async function receives(browser) {
  const { context, page, wrong } = await enter(browser, receiver);
  const first_frame_ms = await picture(page);
  await page.getByRole("row", { name: new RegExp(link) }).waitFor();
  const buttons = await page.getByRole("button").allInnerTexts();
  check(!buttons.some((words) => /Stop|Start|Switch|Costs|Control/.test(words)), `a receiver has ${buttons}`);
  await page.getByText(/Now \d/).waitFor();
  await shot(page, "receiver");
  check(!wrong.length, wrong.join("\n"));
  await context.close();
  // Without its token the address shows nothing.
  const other = await opened(browser);
  await other.page.goto(receiver.replace(/\?.*/, ""));
  await other.page.getByLabel("Token").waitFor();
  check(await other.page.locator("video").count() === 0, "a picture is there without a token");
  await other.context.close();
  return { first_frame_ms };
}

run(async (browser) => {
  await sends(browser);
  return receives(browser);
});
