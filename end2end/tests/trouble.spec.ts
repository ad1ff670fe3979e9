/** Tests of the test fixture: every warning or error of a browser is detected. */
import type { Page } from "@playwright/test";
import { at, expect, interactive, test } from "../fixtures/docket.ts";
import { Trouble } from "../fixtures/trouble.ts";

const TROUBLE: Record<string, { make: (page: Page) => Promise<unknown>; message: RegExp }> = {
  "a warning": { make: (page) => page.evaluate(() => console.warn("look out")), message: /console warning.*look out/ },
  "an error": { make: (page) => page.evaluate(() => console.error("oh no")), message: /console error.*oh no/ },
  "an exception": {
    make: (page) => page.evaluate(() => void setTimeout(() => { throw new Error("thrown"); })),
    message: /exception.*thrown/,
  },
  "a promise that nobody catches": {
    make: (page) => page.evaluate(() => void Promise.reject(new Error("rejected"))),
    message: /exception.*rejected/,
  },
  "a failed request": {
    make: async (page) => {
      await page.route("**/gone", (route) => route.abort("connectionreset"));
      await page.evaluate(() => fetch("/gone").catch(() => {}));
    },
    message: /request failed: GET .*\/gone/,
  },
  "a refused request": {
    make: (page) => page.evaluate(() => fetch("/pkg/none/none.js").then(() => {})),
    message: /status of 404/,
  },
  "what the policy forbids": {
    make: (page) =>
      page.evaluate(() => {
        document.body.setAttribute("onclick", "document.title = 'taken'");
        document.body.click();
      }),
    message: /the policy script-src-attr forbids inline/,
  },
};

for (const [name, { make, message }] of Object.entries(TROUBLE)) {
  test(`${name} fails a test that did not announce it`, async ({ browser, demo }) => {
    const context = await browser.newContext({ baseURL: demo.url, storageState: demo.session });
    const trouble = new Trouble();
    await trouble.watch(context, true);
    const page = await context.newPage();
    await page.goto(at("/jobs"));
    await interactive(page);
    expect(() => trouble.verify()).not.toThrow();
    await make(page);
    await expect.poll(() => messageOf(trouble)).toMatch(message);
    trouble.expects(/.*/);
    expect(() => trouble.verify()).not.toThrow();
    await context.close();
  });
}

test("announced trouble must occur", () => {
  const trouble = new Trouble();
  trouble.expects(/anything/);
  expect(messageOf(trouble)).toMatch(/anything/);
});

function messageOf(trouble: Trouble): string {
  try {
    trouble.verify();
    return "";
  } catch (error) {
    return String(error);
  }
}
