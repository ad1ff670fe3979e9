/** Days and numbers have the format of the browser's locale; attributes have ISO days and plain digits. */
import type { Page } from "@playwright/test";
import { day, grouped, inUrl, stored } from "../fixtures/days.ts";
import { PROJECT, at, expect, open, test } from "../fixtures/docket.ts";
import { sum } from "../fixtures/emulator.ts";

const ANALYTICS = at("/analytics");
const RANGE = () => ({ from: day(28), to: day(1) });

test.beforeEach(async ({ api }) => {
  test.setTimeout(300_000);
  await stored(api, { from: day(56), to: day(0) });
});

/** The visible and accessible text, without the values of fields. */
const visibleText = (page: Page) => page.locator("main").evaluate((main: HTMLElement) => [main.innerText, ...[...main.querySelectorAll("details")].map((it) => it.textContent)].join("\n"));

for (const [locale, days, number] of [
  ["en-US", /[A-Z][a-z]{2} \d{1,2}, 20\d\d/, /^\d{1,3}(,\d{3})+$/],
  ["de-DE", /\d{1,2}\. [A-ZÄ][a-zä]{2,4}\.? 20\d\d/, /^\d{1,3}(\.\d{3})+$/],
] as const) {
  test.describe(`in ${locale}`, () => {
    test.use({ locale });

    test("days and numbers of analytics have the locale's format", async ({ page, api, emulator }) => {
      const rows = await emulator.pages(PROJECT, RANGE());
      const { path = "", total = 0 } = rows[0] ?? {};
      expect(total, "more than a thousand views").toBeGreaterThan(999);
      const note = await api.annotate(day(5), "Version 3 was released");
      for (const query of [inUrl(RANGE()), `${inUrl(RANGE())}&compare=weekdays`, `${inUrl(RANGE())}&path=${path}`]) {
        await open(page, `${ANALYTICS}?${query}`);
        await expect(page.locator(".context")).toHaveText(days);
        await expect(page.locator(".provenance").filter({ hasText: "Compared with" })).toHaveText(days);
        await expect(page.locator(".figure dd").first()).toHaveText((query.includes("path=") ? total : sum(rows).total).toLocaleString(locale));
        await expect(page.locator(".as-table tbody tr").first().locator("th")).toHaveText(/^\p{L}{2,3}\.?,? .*20\d\d$/u);
        await expect.poll(() => visibleText(page)).not.toMatch(/\d{4}-\d{2}-\d{2}/);
      }
      await expect(page.locator(".context time").first()).toHaveAttribute("datetime", day(28));
      await expect(page.getByLabel("From", { exact: true })).toHaveValue(day(28));

      await open(page, `${ANALYTICS}?${inUrl(RANGE())}`);
      await expect(page.locator("tr[data-path] td.numeric").nth(2)).toHaveText(total.toLocaleString(locale));
      await expect(page.locator("tr[data-path] td.numeric").nth(2)).toHaveAttribute("data-number", grouped(total));
      await page.getByRole("columnheader", { name: "AI", exact: true }).getByRole("link").click();
      await expect(page).toHaveURL(/sort=ai/);
      await expect(page.locator("tr[data-path] td.numeric").nth(2), "rows that the browser renders too").toHaveText(number);
      await page.getByRole("slider", { name: "Days" }).focus();
      await expect(page.getByRole("slider", { name: "Days" })).toHaveAttribute("aria-valuetext", /20\d\d( \(provisional\))?$/);
      expect(await page.locator(".chart-tip").innerText()).not.toMatch(/\d{4}-\d{2}-\d{2}/);
      await open(page, at(""));
      await expect.poll(() => visibleText(page)).not.toMatch(/\d{4}-\d{2}-\d{2}/);
      await api.removeAnnotation(note.id);
    });
  });
}

/** Locales whose usual calendar counts other years. Random names of people and tags may have the same digits. */
for (const [locale, years] of [
  ["th-TH", /(?<![\p{L}\p{N}-])25[67]\d(?![\p{L}\p{N}])/u],
  ["fa-IR", /(?<![\p{L}\p{N}-])[1\u06f1][4\u06f4][0\u06f0]\p{Nd}(?![\p{L}\p{N}])/u],
] as const) {
  test.describe(`in ${locale}`, () => {
    test.use({ locale });

    test("all dates of a page have one calendar", async ({ page, api }) => {
      const { id } = await api.annotate(day(5), "Version 3 was released");
      for (const path of [`${ANALYTICS}?${inUrl(RANGE())}`, at("/jobs"), at("")]) {
        await open(page, path);
        await expect.poll(() => visibleText(page)).not.toMatch(/\d{4}-\d{2}-\d{2}/);
        expect(await visibleText(page)).not.toMatch(years);
      }
      await api.removeAnnotation(id);
    });
  });
}
