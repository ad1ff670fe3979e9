/** Pages with text of twice the size, as people set it in their browser, lose nothing (WCAG 1.4.4). */
import type { Page } from "@playwright/test";
import { chromium } from "../chromium.ts";
import { expectFitting, expectNoViolations } from "../fixtures/accessibility.ts";
import { ANONYMOUS, at, expect, open, test } from "../fixtures/docket.ts";
import { JOBS, PAGES } from "../fixtures/pages.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  launchOptions: { ...chromium.launchOptions, args: [...(chromium.launchOptions?.args ?? []), "--blink-settings=defaultFontSize=32"] },
});

async function expectReadable(page: Page): Promise<void> {
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("32px");
  await expectFitting(page);
  await expectNoViolations(page);
}

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name} is readable with text of twice the size`, async ({ page }) => {
    await open(page, path);
    await expectReadable(page);
  });
}

for (const [name, fits] of Object.entries(JOBS)) {
  test(`job ${name} is readable with text of twice the size`, async ({ page, api }) => {
    const job = await api.jobThat(fits);
    await open(page, at(`/jobs/${job.id}`));
    await expectReadable(page);
  });
}

test.describe("without a session", () => {
  test.use({ storageState: ANONYMOUS });

  test("sign-in is readable with text of twice the size", async ({ page }) => {
    await open(page, "/login");
    await expectReadable(page);
  });
});
