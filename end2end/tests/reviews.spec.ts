/** The page of reviews, and the state of pull requests where jobs are listed. */
import { at, expect, interactive, open, opener, test } from "../fixtures/docket.ts";

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    const goTo = opener(javaScriptEnabled);
    test.use({ javaScriptEnabled });

    test("open pull requests are listed by who acts next", async ({ page }) => {
      await goTo(page, at(""));
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /^Reviews/ }).click();
      await expect(page).toHaveURL(at("/reviews"));
      await expect(page.getByRole("heading", { level: 1, name: "Reviews" })).toBeVisible();
      const group = page.locator("section.group").first();
      await expect(group.getByRole("heading", { level: 2 })).toHaveText(/^(Waiting for|Ready to merge)/);
      const row = group.getByRole("listitem").first();
      await expect(row.getByRole("link", { name: /^Pull request #\d+, (open|draft)$/ })).toBeVisible();
      await expect(row).toContainText(/Checks: (passing|failing|running|none)/);
      await row.getByRole("link").nth(1).click();
      await expect(page).toHaveURL(/\/jobs\/[0-9a-f-]+$/);
      const facts = page.getByRole("complementary", { name: "Facts" });
      await expect(facts).toContainText("Waiting for");
      await expect(facts).toContainText("Last checked");
    });

    test("list of jobs is filtered by the state of pull requests", async ({ page }) => {
      await goTo(page, at("/jobs?pr=merged"));
      const rows = page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
      await expect(rows.first()).toBeVisible();
      const links = page.getByRole("link", { name: /^Pull request #\d+/ });
      await expect(links).not.toHaveCount(0);
      // "Earlier": another test's job got a follow-up after its pull request was merged.
      for (const link of await links.all()) await expect(link).toHaveAccessibleName(/, merged(, earlier)?$/);
      await expect(page.getByRole("list", { name: "Applied filters" })).toContainText("Merged");
    });
  });
}

test("keys move through the reviews", async ({ page }) => {
  await open(page, at("/reviews"));
  await interactive(page);
  await page.keyboard.press("j");
  await expect(page.locator(".review-row .row-target").first()).toBeFocused();
});

test("without a connection there are no reviews, but how to connect", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, at(""));
  await expect(page.getByRole("link", { name: "Reviews" })).toHaveCount(0);
  await open(page, at("/reviews"));
  await page.getByRole("link", { name: "How to connect GitHub or GitLab" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Pull requests" })).toBeVisible();
  await open(page, "/admin/upstream");
  await expect(page.getByText("Docket is not connected to GitHub or GitLab")).toBeVisible();
});
