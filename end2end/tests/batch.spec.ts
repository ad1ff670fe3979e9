/** Batches: previewed before they are queued, sent one after another, cancelled half-way. */
import type { Page } from "@playwright/test";
import { PROJECT, UNTIL_DONE, at, expect, opener, test } from "../fixtures/docket.ts";

const jobs = (page: Page) => page.getByRole("list", { name: "Jobs of the batch" }).getByRole("listitem");
const text = (page: Page) => page.getByLabel("Prompt template");
const values = (page: Page) => page.getByLabel("Values, one line per job");

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    const open = opener(javaScriptEnabled);

    test("a text and a list become jobs that go one after another", async ({ serve, visit }) => {
      // One every two seconds.
      const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1800" } });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await open(page, at("/jobs"));
      await page.getByRole("button", { name: "More ways to start" }).click();
      await page.getByRole("link", { name: "Batch" }).click();
      await text(page).fill("emulator:slow Check {{page}} for {{reader}}");
      await values(page).fill('/quickstart, "writers, and ""reviewers"""\n/guides/webhooks, developers');
      await page.getByRole("button", { name: "Preview" }).click();
      await expect(page).toHaveURL(new RegExp(`/p/${PROJECT}/batches/`));
      const texts = page.getByRole("list", { name: "Prompts" }).getByRole("listitem");
      await expect(texts).toHaveCount(2);
      await expect(page.getByText(/^Uses 2 of the 1800 calls left this hour\. All are sent at once\./)).toBeVisible();
      await expect(texts.nth(0)).toHaveText('emulator:slow Check /quickstart for writers, and "reviewers"');
      await expect(texts.nth(1)).toContainText("Check /guides/webhooks for developers");

      await page.getByRole("link", { name: "Edit" }).click();
      await expect(text(page)).toHaveValue("emulator:slow Check {{page}} for {{reader}}");
      await values(page).fill(`${await values(page).inputValue()}\n/api, both`);
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByRole("button", { name: "Queue 3 jobs" }).click();
      await expect(jobs(page)).toHaveCount(3);
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(page.getByText("3 of 3 sent")).toBeVisible({ timeout: 500 });
        await expect(page.locator('[data-status="active"]')).toHaveCount(3, { timeout: 500 });
      }).toPass(UNTIL_DONE);
      await expect(jobs(page).first()).toContainText("/quickstart");
    });

    test("a mistake is named with its line, and the texts stay", async ({ serve, visit, trouble }) => {
      if (javaScriptEnabled) trouble.expects(/status of 400.*batches\/prepare/);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await open(page, at("/jobs/batch"));
      await text(page).fill("Check {{page}} </textarea> for {{reader}}");
      await values(page).fill("/a, writers\n/b");
      await page.getByRole("button", { name: "Preview" }).click();
      await expect(page.getByRole("alert")).toContainText("Line 2 has 1 value; expected 2: {{page}}, {{reader}}");
      await expect(text(page)).toHaveValue("Check {{page}} </textarea> for {{reader}}");
      await expect(values(page)).toHaveValue("/a, writers\n/b");
      for (const [list, message] of [
        ['/a, "writers, readers"\n/b, writers, readers', "Line 2 has 3 values; expected 2: {{page}}, {{reader}}"],
        ['/a, writers\n/b, "readers', "Line 2: A value begins with a quote that is not closed"],
      ] as const) {
        await values(page).fill(list);
        await page.getByRole("button", { name: "Preview" }).click();
        await expect(page.getByRole("alert")).toContainText(message);
        await expect(values(page)).toHaveValue(list);
      }
    });

    test("what is not sent yet is cancelled together", async ({ serve, visit }) => {
      const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "2" } });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await open(page, at(`/jobs/batch?prompt=${encodeURIComponent("emulator:slow Check {{page}}")}`));
      await values(page).fill("/a\n/b\n/c");
      await page.getByRole("button", { name: "Preview" }).click();
      await expect(page.getByText(/^Needs 3 calls: the 2 left this hour, and 1 later\. The last one is sent in /)).toBeVisible();
      await page.getByRole("button", { name: "Queue 3 jobs" }).click();
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(page.getByText("1 of 3 sent")).toBeVisible({ timeout: 500 });
      }).toPass(UNTIL_DONE);
      await page.getByText("Cancel queued jobs…").click();
      await page.getByRole("button", { name: "Cancel jobs" }).click();
      await expect(page.locator('[data-status="cancelled"]')).toHaveCount(2);
      await expect(page.getByText("1 of 3 sent")).toBeVisible();
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
      await expect(page.locator(".batch-row summary")).toContainText(/\d of 3/);
    });
  });
}
