/** Pages that cannot be kept current say so, and a refresh waits for an open menu. */
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
