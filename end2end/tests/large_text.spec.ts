/** Pages with text of twice the size, as people set it in their browser, lose nothing (WCAG 1.4.4). */
import { chromium } from "../chromium.ts";
import { expectFitting, expectNoViolations } from "../fixtures/accessibility.ts";
import { expect, test } from "../fixtures/docket.ts";
import { testEachPage } from "../fixtures/pages.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  launchOptions: { ...chromium.launchOptions, args: [...(chromium.launchOptions?.args ?? []), "--blink-settings=defaultFontSize=32"] },
});

testEachPage("is readable with text of twice the size", async (page) => {
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("32px");
  await expectFitting(page);
  await expectNoViolations(page);
  await page.setViewportSize({ width: 640, height: 800 });
  await expectFitting(page, "at 640 px");
});
