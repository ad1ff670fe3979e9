/** Zoomed pages, large text, forced colors and print lose nothing (WCAG 1.4.1, 1.4.4, 1.4.10, 1.4.11). */
import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../fixtures/accessibility.ts";
import { stored } from "../fixtures/days.ts";
import { at, expect, interactive, open, test } from "../fixtures/docket.ts";

test.use({ contextOptions: { reducedMotion: "reduce" } });

const HEADINGS = ["Page", "People", "AI", "Views", "AI share", "Change", "Change %"];

const table = (page: Page) => page.getByRole("table", { name: "Views of each page" });

/** Whether the page scrolls sideways. */
const overflows = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

/** The texts of a row's cells that are visible, without those of checkbox and links. */
async function figures(row: Locator): Promise<string[]> {
  return row.locator("th, td.numeric").evaluateAll((cells) => cells.filter((cell) => cell.checkVisibility()).map((cell) => (cell as HTMLElement).innerText.trim()));
}

// 1280 px at 110, 133 and 200 %, a phone, and 1280 px at 400 %.
for (const width of [1280, 1163, 960, 640, 390, 320]) {
  test(`pages table has all figures and their order at ${width} px`, async ({ page, api }) => {
    test.setTimeout(300_000);
    await stored(api);
    await page.setViewportSize({ width, height: 800 });
    await open(page, at("/analytics"));
    for (const name of HEADINGS) await expect(table(page).getByRole("columnheader", { name, exact: true })).toBeVisible();
    const row = table(page).locator("tbody tr").first();
    expect((await figures(row)).filter((text) => text !== "")).toHaveLength(HEADINGS.length);
    // The heading of a column is above its figures.
    for (const [at, name] of HEADINGS.slice(1).entries()) {
      const heading = await table(page).getByRole("columnheader", { name, exact: true }).boundingBox();
      const cell = await row.locator("td.numeric").nth(at).boundingBox();
      expect(Math.abs((heading?.x ?? 0) - (cell?.x ?? 1_000)), name).toBeLessThan(2);
    }
    expect(await overflows(page)).toBe(false);
    await expect(row.getByRole("link", { name: /^Jobs about/ })).toBeVisible();
    await table(page).getByRole("columnheader", { name: "People", exact: true }).getByRole("link").click();
    await expect(page).toHaveURL(/sort=/);
    await expect(table(page).getByRole("columnheader", { name: /^People/ })).toHaveAttribute("aria-sort", /ending/);
  });
}

const PAGES = { overview: at(""), jobs: at("/jobs"), "new job": at("/jobs/new"), queue: at("/queue"), templates: at("/templates"), analytics: at("/analytics?limit=25"), account: "/account", people: "/admin/users" };

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name} fits 320 px and is accessible there`, async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 640 });
    await open(page, path);
    expect(await overflows(page)).toBe(false);
    await expectAccessible(page);
  });

  test(`${name} marks what is chosen with forced colors`, async ({ page }) => {
    await page.emulateMedia({ forcedColors: "active" });
    await open(page, path);
    const unmarked = await page.locator("[aria-current]:visible, [aria-pressed=true]:visible, [aria-selected=true]:visible").evaluateAll((all) =>
      all.filter((it) => getComputedStyle(it).outlineStyle === "none").map((it) => it.outerHTML.slice(0, 80)),
    );
    expect(unmarked).toEqual([]);
    await expectAccessible(page);
  });
}

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name} works with text of twice the size`, async ({ page }) => {
    await open(page, path);
    await page.evaluate(() => {
      document.documentElement.style.fontSize = "200%";
    });
    expect(await overflows(page)).toBe(false);
    await expectAccessible(page);
  });
}

test("printed report has all figures", async ({ page, api }) => {
  test.setTimeout(300_000);
  await stored(api);
  // A4 without its margins, at 96 px per inch.
  await page.setViewportSize({ width: 718, height: 1047 });
  await open(page, at("/analytics"));
  await page.emulateMedia({ media: "print" });
  const row = table(page).locator("tbody tr").first();
  expect((await figures(row)).filter((text) => text !== "")).toHaveLength(HEADINGS.length);
  for (const name of HEADINGS) await expect(table(page).getByRole("columnheader", { name, exact: true })).toBeVisible();
  expect(await overflows(page)).toBe(false);
});

test("wide tables scroll by keyboard on a phone, and have all columns", async ({ page, api }) => {
  test.setTimeout(300_000);
  await stored(api);
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, at("/analytics"));
  await page.getByText("Show as a table").click();
  const part = page.getByRole("region", { name: "Trend as a table" });
  for (const name of ["Day (UTC)", "Views", "People", "AI", "AI share", "Before", "Jobs"]) {
    await expect(part.getByRole("columnheader", { name, exact: true })).toHaveCount(1);
  }
  await part.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => part.evaluate((it) => it.scrollLeft)).toBeGreaterThan(0);
  expect(await overflows(page)).toBe(false);
  await interactive(page);
});
