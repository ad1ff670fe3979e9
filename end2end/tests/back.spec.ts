/** The browser's back/forward cache: Back restores a page, but not after a sign-out. */
import type { Page } from "@playwright/test";
import { chromium } from "../chromium.ts";
import { at, delay, expect, interactive, open, test } from "../fixtures/docket.ts";

// Playwright disables this cache, and headless Chromium has none.
test.use({
  launchOptions: {
    ...chromium.launchOptions,
    executablePath: process.env.CHROMIUM_WITH_WINDOWS,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  },
});

/** Presses Back. Playwright's own `goBack` waits for a load, and there is none. */
async function back(page: Page): Promise<void> {
  await page.evaluate(() => setTimeout(() => history.back()));
}

/** Marks the open page. A reloaded page has no mark. */
const mark = (page: Page) => page.evaluate(() => document.documentElement.setAttribute("data-mark", ""));

/** Opens a page, marks it when it is interactive, and follows a link to another page. */
async function leave(page: Page, path: string): Promise<void> {
  await open(page, path);
  await mark(page);
  await page.getByRole("link", { name: "Settings" }).click();
  await expect(page).toHaveURL("/account");
  await interactive(page);
}

for (const [name, path] of [["overview", at("")], ["list of jobs", at("/jobs")]] as const) {
  test(`Back to the ${name} restores the page and its updates`, async ({ page }) => {
    await leave(page, path);
    const requested = page.waitForRequest((request) => request.url().endsWith("/api/jobs/statuses"));
    await back(page);
    await expect(page).toHaveURL(path);
    await expect(page.locator("html[data-mark]")).toBeVisible();
    await requested;
  });
}

for (const where of ["in this tab", "in another tab"]) {
  test(`Back after a sign-out ${where} never shows the page`, async ({ page }) => {
    await leave(page, at("/jobs"));
    const other = where === "in this tab" ? page : await page.context().newPage();
    await open(other, at(""));
    await other.getByRole("button", { name: "Sign out" }).click();
    await expect(other).toHaveURL("/login");

    const shown: string[] = [];
    page.on("framenavigated", (frame) => shown.push(new URL(frame.url()).pathname));
    await back(page);
    await expect.poll(() => shown).toEqual(["/login"]);
    await expect(page.getByRole("list", { name: "Jobs" })).toHaveCount(0);
  });
}

test("page that signs out requests nothing else", async ({ page }) => {
  const sent: string[] = [];
  page.on("request", (request) => request.url().includes("/api/jobs/") && sent.push(request.url()));
  await page.clock.install();
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("Check the guide about webhooks");
  await page.clock.runFor(10_000);
  await expect.poll(() => sent).toContainEqual(expect.stringMatching(/draft$/));
  await expect(page.getByText("Draft saved", { exact: true })).toBeVisible();
  const release = await delay(page, "**/api/session/logout");
  const signsOut = page.waitForRequest("**/api/session/logout");
  await page.getByRole("button", { name: "Sign out" }).click();
  await signsOut;
  sent.length = 0;
  await page.getByLabel("Prompt").fill("Check the guide about webhooks again");
  await page.clock.runFor(30_000);
  expect(sent).toEqual([]);
  release();
  await expect(page).toHaveURL("/login");
});
