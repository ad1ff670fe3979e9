/** Pages that cannot be kept current say so, and a refresh waits for an open menu. */
import type { Request } from "@playwright/test";
import { at, expect, open, test } from "../fixtures/docket.ts";

const PAGES = { queue: "/queue", reviews: "/reviews", notifications: "/notifications?who=all" };

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name} says since when it is old, and tries again`, async ({ page, trouble }) => {
    trouble.expects(/ERR_CONNECTION_FAILED|ERR_FAILED|status of 503/);
    await page.clock.install();
    await open(page, at(path));
    let isBroken = true;
    await page.route(`**${at(path)}`, (route) => (isBroken ? route.fulfill({ status: 503, body: "" }) : route.continue()));
    const notice = page.getByText(/Not up to date since \d/);
    await expect(async () => {
      await page.clock.runFor(5_000);
      await expect(notice).toBeVisible({ timeout: 200 });
    }).toPass();
    isBroken = false;
    await page.getByRole("link", { name: "Try again" }).click();
    await expect(notice).toHaveCount(0);
  });
}

test("queue shows that the session has ended", async ({ page, context }) => {
  await open(page, at("/queue"));
  await context.clearCookies();
  await expect(page.getByText("Your session has ended. What you are writing is saved in this browser.")).toBeVisible();
});

test("open menu is not changed by a refresh, which follows when it is closed", async ({ page, api }) => {
  await open(page, at("/jobs"));
  const menu = page.locator(".filter-menu summary").first();
  await menu.click();
  let refreshes = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === at("/jobs")) refreshes += 1;
  });
  const polled = () => page.waitForResponse("**/api/jobs/statuses");
  await api.start("emulator:slow Explain the menus");
  await polled();
  await polled();
  expect(refreshes, "refreshes while the menu is open").toBe(0);
  await expect(page.locator(".filter-menu[open]")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "1 new job · Show" })).toBeVisible();
  expect(refreshes).toBeGreaterThan(0);
});

test("ages use the clock of the server", async ({ page, api }) => {
  const job = await api.start("emulator:slow Explain the clocks");
  await page.clock.install({ time: Date.now() + 3 * 3_600_000 });
  await open(page, at("/jobs"));
  const polled = page.waitForResponse("**/api/jobs/statuses");
  await page.clock.runFor(2_000);
  await (await polled).finished();
  await page.clock.runFor(16_000);
  const age = page.getByRole("listitem").filter({ hasText: job.prompt }).locator("time").last();
  await expect(age).toHaveText(/^(now|\d+ ?[sm])/);
});

test("page is not offline while the server responds", async ({ page, trouble }) => {
  trouble.expects(/ERR_FAILED/);
  await open(page, at("/jobs"));
  let isDown = false;
  await page.route("**/api/jobs/statuses", (route) => (isDown ? route.abort() : route.continue()));
  const offline = async () => {
    const isAsked = (request: Request) => request.url().endsWith("/api/jobs/statuses");
    const asked = isDown ? page.waitForEvent("requestfailed", isAsked) : page.waitForEvent("requestfinished", isAsked);
    await page.evaluate(() => {
      Object.defineProperty(navigator, "onLine", { value: false, configurable: true });
      window.dispatchEvent(new Event("offline"));
    });
    await asked;
  };
  await offline();
  const notice = page.getByText("You are offline");
  await expect(notice).toHaveCount(0);
  isDown = true;
  await offline();
  await expect(notice).toBeVisible();
});

test("settings are not offline either, and say so once the server is away", async ({ page, context, trouble }) => {
  trouble.expects(/ERR_INTERNET_DISCONNECTED|status of 404/);
  await open(page, "/account");
  await context.setOffline(true);
  await expect(page.getByText("You are offline")).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText("You are offline")).toHaveCount(0);
});

test("list that was prefetched before a change is not shown after it", async ({ page, api }) => {
  const { id, prompt } = await api.start(`emulator:slow Explain prefetching ${Date.now()}`);
  await open(page, at(`/jobs/${id}`));
  const link = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" });
  const prefetched = page.context().waitForEvent("response", (response) => new URL(response.url()).pathname === at("/jobs"));
  await link.hover();
  await (await prefetched).finished();
  await page.getByRole("button", { name: "More actions" }).click();
  const archived = page.waitForResponse("**/api/jobs/archive");
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await archived;
  const again: string[] = [];
  page.context().on("response", (response) => {
    if (new URL(response.url()).pathname === at("/jobs")) again.push(response.url());
  });
  await link.click();
  await page.waitForURL(at("/jobs"));
  await expect(page.getByRole("list", { name: "Jobs" })).not.toContainText(prompt);
  expect(again.length, "the list is fetched again").toBeGreaterThan(0);
});
