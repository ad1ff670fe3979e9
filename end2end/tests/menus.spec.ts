/** Menus: opening and closing them, also without JavaScript. */
import type { Page } from "@playwright/test";
import { stored } from "../fixtures/days.ts";
import { at, expect, interactive, test } from "../fixtures/docket.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

/** The menus of a page: the name of the button, and a part of the menu. */
const MENUS: Record<string, [RegExp, (page: Page) => ReturnType<Page["locator"]>][]> = {
  "/jobs": [
    [/^More ways to start/, (page) => page.getByRole("link", { name: "Import a job" })],
    [/^Project: /, (page) => page.getByRole("link", { name: "Acme API" })],
  ],
  "/analytics?limit=25": [
    [/^Custom range/, (page) => page.getByRole("button", { name: "Show", exact: true })],
    [/^Compare: /, (page) => page.getByRole("list", { name: "Compare with" })],
    [/^Project: /, (page) => page.getByRole("link", { name: "Acme API" })],
  ],
  job: [
    [/^More actions/, (page) => page.getByRole("button", { name: "Archive", exact: true })],
    [/^Project: /, (page) => page.getByRole("link", { name: "Acme API" })],
  ],
};

for (const javaScriptEnabled of [true, false]) {
  for (const [path, menus] of Object.entries(MENUS)) {
    test(`menus of ${path} close on Escape or outside, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo, person, api }) => {
      if (path.startsWith("/analytics")) {
        // Without its days in the history, the page compares nothing.
        test.slow();
        await stored(api);
      }
      const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
      const job = await api.jobThat((job) => job.state === "completed");
      await page.goto(at(path === "job" ? `/jobs/${job.id}` : path));
      if (javaScriptEnabled) await interactive(page);
      for (const [name, content] of menus) {
        const opener = button(page, name);
        await expect(content(page)).toBeHidden();
        await opener.press("Enter");
        await expect(content(page)).toBeVisible();
        await page.keyboard.press("Tab");
        await expect(opener, "the focus is in the menu").not.toBeFocused();
        await page.keyboard.press("Escape");
        await expect(content(page)).toBeHidden();
        await expect(opener).toBeFocused();

        await opener.click();
        await expect(content(page)).toBeVisible();
        const [below, above] = [await content(page).boundingBox(), await opener.boundingBox()];
        expect(below?.y, "it opens below the button").toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));
        await page.getByRole("heading", { level: 1 }).click();
        await expect(content(page)).toBeHidden();
      }
      for (const [index, [name, content]] of menus.entries()) {
        const [other, otherContent] = menus[(index + 1) % menus.length] as (typeof menus)[number];
        await button(page, name).press("Enter");
        await expect(content(page)).toBeVisible();
        await button(page, other).press("Enter");
        await expect(otherContent(page)).toBeVisible();
        await expect(content(page)).toBeHidden();
        await page.keyboard.press("Escape");
      }
    });
  }
}

test("menu closes when a filter is opened by keyboard", async ({ visit, demo, person }) => {
  const page = await visit(demo, { storageState: person.session });
  await page.goto(at("/jobs"));
  await interactive(page);
  await button(page, /^More ways to start/).press("Enter");
  const entry = page.getByRole("link", { name: "Import a job" });
  await expect(entry).toBeVisible();
  const status = page.locator("summary", { hasText: "Status" });
  await status.press("Enter");
  await expect(page.getByRole("list", { name: "Filter by status" })).toBeVisible();
  await expect(entry).toBeHidden();
  await button(page, /^More ways to start/).press("Enter");
  await expect(page.getByRole("list", { name: "Filter by status" })).toBeHidden();
});

for (const width of [390, 1280]) {
  test(`menus stay inside a window of ${width} px`, async ({ visit, demo, person, api }) => {
    const page = await visit(demo, { storageState: person.session, viewport: { width, height: 844 } });
    const job = await api.jobThat((job) => job.state === "completed");
    for (const [path, menus] of Object.entries(MENUS)) {
      await page.goto(at(path === "job" ? `/jobs/${job.id}` : path));
      await interactive(page);
      for (const [name] of menus) {
        await button(page, name).click();
        const box = await page.locator(":popover-open").boundingBox();
        expect(box, `${name}`).not.toBeNull();
        expect(box?.x, `${name}`).toBeGreaterThanOrEqual(0);
        expect((box?.x ?? 0) + (box?.width ?? 0), `${name}`).toBeLessThanOrEqual(width);
        await page.keyboard.press("Escape");
      }
    }
  });
}
