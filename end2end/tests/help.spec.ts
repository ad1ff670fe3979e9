/** Help pages, with and without JavaScript, and links to them. */
import { at, expect, open, test } from "../fixtures/docket.ts";

const AREAS = ["Job states", "Hourly budget", "Templates and batches", "Pull requests", "Analytics", "Keyboard"];

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test("every help page is in navigation and links to others", async ({ demo, person, visit }) => {
      const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
      await page.goto(at(""));
      await page.getByRole("link", { name: "Help", exact: true }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Help");
      for (const area of AREAS) {
        await page.getByRole("main").getByRole("link", { name: area }).click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText(area);
        await expect(page.getByRole("navigation", { name: "Help pages" }).getByRole("link")).toHaveText(AREAS);
        await page.getByRole("main").getByRole("link", { name: "Help", exact: true }).click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("Help");
      }
    });

    test("search finds the section with the words, and says if there is none", async ({ demo, person, visit }) => {
      const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
      await page.goto("/help");
      const field = page.getByRole("searchbox", { name: "Search the help" });
      await field.fill("unknown outcome");
      await field.press("Enter");
      await expect(page).toHaveURL("/help?q=unknown+outcome");
      await expect(field).toHaveValue("unknown outcome");
      await expect(page.getByRole("status").filter({ hasText: /results/ })).toBeVisible();
      await page.getByRole("main").getByRole("link", { name: "Job states: Outcome unknown" }).click();
      await expect(page).toHaveURL("/help/job-states#outcome-unknown");
      await expect(page.getByRole("heading", { name: "Outcome unknown" })).toBeInViewport();
      await field.fill("zebra crossing");
      await field.press("Enter");
      await expect(page.getByText("No help page has all of these words")).toBeVisible();
      await page.getByRole("main").getByRole("link", { name: "All help pages" }).click();
      await expect(page.getByRole("main").getByRole("link", { name: "Job states" })).toBeVisible();
    });
  });
}

test("list of shortcuts links to help", async ({ page }) => {
  await open(page, at("/jobs"));
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByRole("link", { name: "Help" }).click();
  await expect(page).toHaveURL("/help");
});

test("unknown help page has a message and a link", async ({ page, trouble }) => {
  trouble.expects(/status of 404.*help/);
  const response = await page.goto("/help/nothing");
  expect(response?.status()).toBe(404);
  await page.getByRole("link", { name: "All help pages" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Help");
});

test("empty queue links to the help page about the budget", async ({ page }) => {
  await open(page, at("/queue"));
  await page.getByRole("main").getByRole("link", { name: "Learn about the hourly budget" }).click();
  await expect(page).toHaveURL("/help/hourly-budget");
});
