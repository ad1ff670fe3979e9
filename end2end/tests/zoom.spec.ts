/** Zoomed pages, large text, forced colors and print lose nothing (WCAG 1.4.1, 1.4.4, 1.4.10, 1.4.11). */
import type { Locator, Page } from "@playwright/test";
import { expectFitting, expectNoViolations } from "../fixtures/accessibility.ts";
import { stored } from "../fixtures/days.ts";
import { at, expect, interactive, open, test } from "../fixtures/docket.ts";
import { testEachPage } from "../fixtures/pages.ts";
import { saveTemplate, unique } from "../fixtures/templates.ts";

test.use({ contextOptions: { reducedMotion: "reduce" } });

const HEADINGS = ["Page", "People", "AI", "Views", "AI share", "Change", "Change %"];

const table = (page: Page) => page.getByRole("table", { name: "Views of each page" });

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
    await expectFitting(page);
    await expect(row.getByRole("link", { name: /^Jobs about/ })).toBeVisible();
    await table(page).getByRole("columnheader", { name: "People", exact: true }).getByRole("link").click();
    await expect(page).toHaveURL(/sort=/);
    await expect(table(page).getByRole("columnheader", { name: /^People/ })).toHaveAttribute("aria-sort", /ending/);
  });
}

/** A4 without its margins, at 96 px per inch. */
const A4 = { width: 718, height: 1047 };

/** Checks the open page on a small screen, with forced colors and on paper. */
async function expectReadable(page: Page): Promise<void> {
  const desktop = page.viewportSize() ?? { width: 1280, height: 720 };
  await page.setViewportSize({ width: 320, height: 640 });
  await expectFitting(page, "at 320 px");
  await expectNoViolations(page, "at 320 px");

  await page.setViewportSize(desktop);
  await page.emulateMedia({ forcedColors: "active" });
  const unmarked = await page.locator("[aria-current]:visible, [aria-pressed=true]:visible, [aria-selected=true]:visible").evaluateAll((all) =>
    all.filter((it) => getComputedStyle(it).outlineStyle === "none").map((it) => it.outerHTML.slice(0, 80)),
  );
  expect.soft(unmarked, "is not marked as chosen").toEqual([]);
  await expectNoViolations(page, "with forced colors");

  await page.emulateMedia({ forcedColors: "none", media: "print" });
  await page.setViewportSize(A4);
  await expectFitting(page, "on paper");
  await expectNoViolations(page, "on paper");
  const cut = await page.locator("main *").evaluateAll((all) =>
    all
      .filter((it) => it.checkVisibility() && getComputedStyle(it).overflow === "hidden" && (getComputedStyle(it).textOverflow === "ellipsis" || getComputedStyle(it).webkitLineClamp !== "none"))
      .filter((it) => it.scrollWidth > it.clientWidth || it.scrollHeight > it.clientHeight)
      .map((it) => it.outerHTML.slice(0, 120)),
  );
  expect.soft(cut, "is cut on paper").toEqual([]);
  const over = await page.locator("main li").evaluateAll((all) => all.filter((it) => it.checkVisibility() && it.scrollHeight > it.clientHeight + 1).map((it) => it.outerHTML.slice(0, 120)));
  expect.soft(over, "is printed over the next row").toEqual([]);
}

testEachPage("is readable at 320 px, with forced colors, and on paper", expectReadable);

test("long name of a template does not widen the forms at 320 px", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await saveTemplate(page, unique("Check every page of the guides against the reference"), "Check {{page}}");
  for (const path of [at("/jobs/batch"), at("/jobs/new"), at("/templates")]) {
    await open(page, path);
    await expectFitting(page, path);
  }
});

test("wide Markdown of a prompt is whole on paper", async ({ page, api }) => {
  const columns = Array.from({ length: 14 }, (_, at) => `A column ${at}`);
  const table = [columns.join(" | "), columns.map(() => "---").join(" | "), columns.join(" | ")].map((row) => `| ${row} |`).join("\n");
  const command = "curl ".padEnd(300, "--header 'Accept: application/json' ");
  const job = await api.start(`Check the examples\n\n${table}\n\n\`\`\`\n${command}\n\`\`\``);
  await page.setViewportSize(A4);
  await open(page, at(`/jobs/${job.id}`));
  await page.emulateMedia({ media: "print" });
  const parts = page.locator(".markdown pre, .markdown .wide");
  await expect(parts).toHaveCount(2);
  expect(await parts.evaluateAll((all) => all.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.className || it.localName))).toEqual([]);
  await expectFitting(page);
});

test("paper is light, whatever the theme", async ({ page }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await open(page, at(""));
  const light = await background();
  for (const theme of ["light", "dark", ""]) {
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    await page.evaluate((theme) => (document.documentElement.dataset["theme"] = theme), theme);
    expect((await background()) === light, `on screen with the theme "${theme}"`).toBe(theme === "light");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await background(), `on paper with the theme "${theme}"`).toBe(light);
  }
});

test("long word in a prompt does not widen the preview of a batch at 320 px", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await open(page, at("/jobs/batch"));
  await page.getByLabel("Prompt template").fill(`Check {{page}} against https://github.com/acme/docs/blob/main/${"guides/".repeat(12)}retries.md`);
  await page.getByLabel("Values, one line per job").fill("/a");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("table", { name: "Prompts" })).toBeVisible();
  await expectFitting(page);
});

test("printed report has all figures", async ({ page, api }) => {
  test.setTimeout(300_000);
  await stored(api);
  await page.setViewportSize(A4);
  await open(page, at("/analytics"));
  await page.emulateMedia({ media: "print" });
  const row = table(page).locator("tbody tr").first();
  expect((await figures(row)).filter((text) => text !== "")).toHaveLength(HEADINGS.length);
  for (const name of HEADINGS) await expect(table(page).getByRole("columnheader", { name, exact: true })).toBeVisible();
  await expectFitting(page);
});

test("wide tables scroll by keyboard on a phone, and have all columns", async ({ page, api }) => {
  test.setTimeout(300_000);
  await stored(api);
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, at("/analytics"));
  await page.getByText("Show as a table").click();
  const part = page.getByRole("region", { name: "Trend as a table" });
  for (const name of ["Day (UTC)", "Views", "People", "AI", "AI share", "Previous period", "Jobs", "Notes"]) {
    await expect(part.getByRole("columnheader", { name, exact: true })).toHaveCount(1);
  }
  await part.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => part.evaluate((it) => it.scrollLeft)).toBeGreaterThan(0);
  await expectFitting(page);
  await interactive(page);
});
