/** A job that was completed without changes does not look like a success: it has its own icon, label and status. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, interactive, open, opener, test } from "../fixtures/docket.ts";

const LABEL = "Completed, no changes";
const icon = (page: Page, job: string) =>
  badge(page, job).evaluate((badge) => {
    // All outlines are one image: the position selects one of them.
    const { maskPosition, color } = getComputedStyle(badge, "::before");
    return { maskPosition, color };
  });

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });
    const goTo = opener(javaScriptEnabled);

    test("job without changes has its own icon and label everywhere", async ({ serve, visit }) => {
      test.setTimeout(60_000);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      const unchanged = await api.start("emulator:no-changes Check the links");
      const changed = await api.start("emulator:pull-request Add an example");
      await expect.poll(async () => (await api.jobs({ status: "completed" })).total, UNTIL_DONE).toBe(2);

      for (const path of ["/jobs", "/notifications", `/jobs/${unchanged.id}`]) {
        await goTo(page, at(path));
        await expect(badge(page, unchanged.id).first(), path).toHaveText(LABEL);
        await expect(badge(page, unchanged.id).first().getByText("no changes"), path).toBeVisible();
      }
      await goTo(page, at("/jobs"));
      await expect(badge(page, changed.id)).toHaveText("Completed");
      const [one, other] = await Promise.all([unchanged, changed].map((job) => icon(page, job.id)));
      expect(one?.maskPosition).not.toBe(other?.maskPosition);
      expect(one?.color).not.toBe(other?.color);
    });

    test("status filter finds jobs without changes alone", async ({ serve, visit }) => {
      test.setTimeout(60_000);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      const unchanged = await api.start("emulator:no-changes Check the links");
      await api.start("emulator:pull-request Add an example");
      await api.start("emulator:fail Draw a diagram");
      await expect.poll(async () => (await api.jobs({ status: "active" })).total, UNTIL_DONE).toBe(0);

      await goTo(page, at("/jobs"));
      await page.locator("summary", { hasText: "Status" }).click();
      const entry = page.getByRole("list", { name: "Filter by status" }).getByRole("link", { name: `${LABEL} 1` });
      await entry.click();
      await expect(page).toHaveURL(at("/jobs?status=no-changes"));
      const rows = page.getByRole("list", { name: "Jobs", exact: true }).locator(".job-row");
      await expect(rows).toHaveCount(1);
      await expect(badge(page, unchanged.id)).toBeVisible();
      await expect(page.getByText("1 job", { exact: true })).toBeVisible();
      await page.getByRole("link", { name: `Remove the filter ${LABEL}` }).click();
      await expect(rows).toHaveCount(3);
    });
  });
}

test("status without changes is in saved views and palette", async ({ serve, visit }) => {
  test.setTimeout(60_000);
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  const unchanged = await api.start("emulator:no-changes Check the links");
  await expect.poll(async () => (await api.job(unchanged.id)).state, UNTIL_DONE).toBe("completed");
  await open(page, at("/jobs?status=no-changes"));
  await page.getByText("Save this view").click();
  await page.getByLabel("Name").fill("To look at");
  await page.getByRole("button", { name: "Save view" }).click();
  await expect(page.getByText("View saved")).toBeVisible();
  await open(page, at("/jobs"));
  await page.getByRole("list", { name: "Saved views" }).getByRole("link", { name: "To look at" }).click();
  await expect(page).toHaveURL(at("/jobs?status=no-changes"));
  expect(await api.jobs({ status: "no-changes" })).toMatchObject({ total: 1, no_changes: 1, jobs: [{ id: unchanged.id }] });

  await interactive(page);
  await page.keyboard.press("Control+k");
  const option = page.getByRole("dialog", { name: "Command palette" }).getByRole("group", { name: "Jobs" }).getByRole("option");
  await expect(option).toContainText(LABEL);
});
