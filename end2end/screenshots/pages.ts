/** The pictures of the README: the demonstration at a time that does not pass. They are compared with the pages as they are. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { type Demo, PROJECT, at, test as base, expect, interactive, startDemo, stopped } from "../fixtures/docket.ts";

const DAY = "2026-11-25";
const WEEK = at(`/analytics?from=2026-11-19&to=${DAY}`);

const test = base.extend<object, { demo: Demo }>({
  demo: [
    async ({ binary, browser }, use) => {
      const data = await mkdtemp(join(tmpdir(), "docket-data-"));
      const demo = await startDemo(binary, browser, data, "--at", `${DAY}T10:00:00Z`);
      await use(demo);
      await stopped(demo);
      await rm(data, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 60_000 },
  ],
  storageState: async ({ demo }, use) => use(demo.session),
});

async function taken(page: Page, path: string, name: string): Promise<void> {
  await page.goto(path);
  await interactive(page);
  await expect(page.locator(".skeleton")).toHaveCount(0);
  // Of what is compared, one pixel in 500 may differ: the number of calls in this hour.
  await expect(page).toHaveScreenshot(`${name}.png`, { animations: "disabled", scale: "device", maxDiffPixelRatio: 0.002 });
}

test.beforeEach(async ({ page }) => {
  // The daily history is fetched in the background, the newest days first.
  await expect(async () => {
    await page.goto(WEEK);
    await expect(page.locator(".trend svg").first()).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 170_000 });
});

test("overview, list and job in light", async ({ page, demo }) => {
  const api = new Api(page.request, demo.url, PROJECT);
  const { id } = await api.jobThat((job) => job.remote?.pr_link != null && job.follow_ups.length > 0);
  await page.emulateMedia({ colorScheme: "light" });
  await taken(page, at(""), "overview-light");
  await taken(page, at("/jobs"), "jobs-light");
  await taken(page, at(`/jobs/${id}`), "job-light");
});

test("analytics in dark", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await taken(page, WEEK, "analytics-dark");
});

test("overview on a phone", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 844 });
  await taken(page, at(""), "overview-phone");
});
