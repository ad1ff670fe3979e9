/** The pictures of the README, taken from the demonstration soon after its start. */
import { join, resolve } from "node:path";
import type { Page } from "@playwright/test";
import { day } from "../fixtures/days.ts";
import { at, expect, interactive, test } from "../fixtures/docket.ts";

const FOLDER = resolve(import.meta.dirname, "../../docs/screenshots");

async function take(page: Page, path: string, name: string): Promise<void> {
  await page.goto(path);
  await interactive(page);
  await expect(page.locator(".skeleton")).toHaveCount(0);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled" });
}

test("the overview, a job and the list in light", async ({ page, api }) => {
  const { id } = await api.jobThat((job) => job.remote?.pr_link != null && job.follow_ups.length > 0);
  await page.emulateMedia({ colorScheme: "light" });
  await take(page, at(""), "overview-light");
  await take(page, at(`/jobs/${id}`), "job-light");
  await take(page, at("/jobs"), "jobs-light");
});

test("readership in dark", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  test.setTimeout(180_000);
  const week = at(`/analytics?from=${day(6)}&to=${day(0)}`);
  // The daily history is fetched in the background, the newest days first.
  await expect(async () => {
    await page.goto(week);
    await expect(page.locator(".trend svg").first()).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 170_000 });
  await take(page, week, "analytics-dark");
});

test("the overview on a phone", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 844 });
  await take(page, at(""), "overview-phone");
});
