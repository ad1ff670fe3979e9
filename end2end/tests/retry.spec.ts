/** Retries of a failed job: both jobs link to each other, and a retry with a pull request resolves the first one. */
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, jobOf, opener, test } from "../fixtures/docket.ts";

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });
    const goTo = opener(javaScriptEnabled);


    test("successful retry takes the failed job off the inbox", async ({ serve, visit }) => {
      test.setTimeout(90_000);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      const failed = await api.start("emulator:fail Draw the diagram");
      await expect.poll(async () => (await api.job(failed.id)).state, UNTIL_DONE).toBe("failed");
      const needing = page.locator("section").filter({ has: page.getByRole("heading", { name: "Needs attention", exact: true }) });
      await goTo(page, at(""));
      await expect(badge(needing, failed.id)).toBeVisible();

      await goTo(page, at(`/jobs/${failed.id}`));
      await page.getByRole("link", { name: "Run again" }).click();
      await expect(page.getByText("Retry of emulator:fail Draw the diagram")).toBeVisible();
      await page.getByLabel("Prompt").fill("emulator:pull-request Draw a smaller diagram");
      await page.getByRole("button", { name: "Start job" }).click();
      const again = await jobOf(page);
      const origin = page.locator(".retry").filter({ hasText: "Retry of" });
      await expect(origin.getByRole("link", { name: "emulator:fail Draw the diagram" })).toHaveAttribute("href", at(`/jobs/${failed.id}`));
      await expect(badge(origin, failed.id)).toHaveAttribute("data-status", "failed");

      await goTo(page, at(`/jobs/${failed.id}`));
      const retry = page.locator(".retry").filter({ hasText: "Retried as" });
      await expect(retry.getByRole("link", { name: "emulator:pull-request Draw a smaller diagram" })).toHaveAttribute("href", at(`/jobs/${again}`));
      await expect.poll(async () => (await api.job(again)).state, UNTIL_DONE).toBe("completed");
      if (!javaScriptEnabled) await page.reload();
      await expect(badge(retry, again)).toHaveAttribute("data-status", "completed");
      await expect(page.getByText("Resolved: a retry opened a pull request.")).toBeVisible();
      await expect(page.locator(".job-head").getByRole("button", { name: "Dismiss" })).toHaveCount(0);

      await goTo(page, at(""));
      await expect(needing).toContainText("Nothing needs your attention.");
      expect((await api.jobs({ needs: "attention" })).total).toBe(0);
    });
  });
}
