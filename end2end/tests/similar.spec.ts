/** Similar jobs are shown before a prompt is sent; only the same text in progress needs a confirmation, once. */
import type { Page } from "@playwright/test";
import { day, stored } from "../fixtures/days.ts";
import { at, badge, expect, jobOf, open, test } from "../fixtures/docket.ts";

const NEW_JOB = at("/jobs/new");

const prompt = (page: Page) => page.getByLabel("Prompt");
const start = (page: Page) => page.getByRole("button", { name: "Start job" });
const notice = (page: Page) => page.locator(".similar");
const confirmation = (page: Page) => page.getByText("A similar job is running. Start anyway?");

/** Words that no other test uses. */
function words(): string {
  const word = () => Math.random().toString(36).slice(2);
  return `emulator:slow Describe ${word()} and ${word()} in the ${word()} guide`;
}

test("job about the same page is shown, without confirmation", async ({ page, api }) => {
  await stored(api, { from: day(1), to: day(1) });
  await open(page, NEW_JOB);
  await prompt(page).fill("emulator:fail Something else about `/guides/search` and `/faq`, such as POST /v3/regions");
  await expect(notice(page)).toContainText("about /guides/search");
  await expect(notice(page)).toContainText("maya");
  await expect(notice(page).locator("[data-status=completed]").first()).toBeVisible();
  // A path that no page of the history has is not a page.
  await expect(page.locator("#detected")).toHaveText("Detected in prompt: /faq");
  await prompt(page).fill("emulator:fail Something else about POST /v3/regions");
  await expect(page.locator("#detected")).toHaveText("");
  await prompt(page).fill("emulator:fail Something else about /faq and POST /v3/regions");
  await start(page).click();
  await jobOf(page);
  await expect(page.getByRole("complementary", { name: "Facts" }).locator(".tag-page")).toHaveText(["/faq"]);
});

for (const pause of [true, false]) {
  test(`same text in progress needs one confirmation, ${pause ? "after a pause" : "without a pause"}`, async ({ page, api }) => {
    const text = words();
    const first = await api.start(text);
    await open(page, NEW_JOB);
    await prompt(page).fill(`${text}!`);
    if (pause) {
      await expect(notice(page)).toContainText("nearly the same text");
      await expect(badge(page, first.id)).toHaveAttribute("data-status", "active");
      await expect(confirmation(page)).toBeHidden();
    }
    await prompt(page).press("Control+Enter");
    await expect(confirmation(page)).toBeVisible();
    await expect(page).toHaveURL(NEW_JOB);
    await expect(page.getByRole("button", { name: "Start anyway" })).toBeFocused();
    // Pressing the same keys again is not a confirmation.
    await prompt(page).press("Control+Enter");
    await expect(page).toHaveURL(NEW_JOB);
    await expect(page.getByRole("button", { name: "Start anyway" })).toBeFocused();
    await page.keyboard.press("Enter");
    expect(await jobOf(page)).not.toBe(first.id);
    expect((await api.jobs({ q: text })).jobs).toHaveLength(2);
  });
}

test("changed text needs no confirmation", async ({ page, api }) => {
  const text = words();
  await api.start(text);
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await start(page).click();
  await expect(confirmation(page)).toBeVisible();
  await prompt(page).fill(words());
  await expect(confirmation(page)).toBeHidden();
  await start(page).click();
  await jobOf(page);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("form returns once with similar job; second click starts it", async ({ page, api }) => {
    const text = words();
    const first = await api.start(text);
    await page.goto(NEW_JOB);
    await prompt(page).fill(`${text}!`);
    await start(page).click();
    await expect(page.getByRole("alert")).toContainText("Nothing was sent: a similar job");
    await expect(notice(page).locator("a").first()).toHaveAttribute("href", at(`/jobs/${first.id}`));
    await expect(notice(page)).toContainText("nearly the same text");
    await expect(prompt(page)).toHaveValue(`${text}!`);
    expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
    await start(page).click();
    expect(await jobOf(page)).not.toBe(first.id);
    expect((await api.jobs({ q: text })).jobs).toHaveLength(2);
  });
});
