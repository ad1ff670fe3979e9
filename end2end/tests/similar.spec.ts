/** Similar jobs are shown before a prompt is sent; only the same text in progress needs a confirmation, once. */
import type { Page } from "@playwright/test";
import { day, stored } from "../fixtures/days.ts";
import { at, badge, delay, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";

const NEW_JOB = at("/jobs/new");

const prompt = (page: Page) => page.getByLabel("Prompt");
const start = (page: Page) => page.getByRole("button", { name: "Start job" });
const notice = (page: Page) => page.locator(".similar");
const confirmation = (page: Page) => page.getByRole("alert").filter({ hasText: "Nothing was sent: a similar job is running" });
const another = (page: Page) => page.getByRole("button", { name: "Start another" });
/** The browser's note about the server's answer. */
const REFUSED = /status of 409.*jobs\/create/;

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
  test(`same text in progress needs one confirmation, ${pause ? "after a pause" : "without a pause"}`, async ({ page, api, trouble }) => {
    trouble.expects(REFUSED);
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
    await expect(notice(page)).toContainText("nearly the same text");
    await expect(page).toHaveURL(NEW_JOB);
    await expect(another(page)).toBeFocused();
    // Pressing the same keys again is not a confirmation.
    await prompt(page).press("Control+Enter");
    await expect(page).toHaveURL(NEW_JOB);
    await expect(another(page)).toBeFocused();
    await page.keyboard.press("Enter");
    expect(await jobOf(page)).not.toBe(first.id);
    expect((await api.jobs({ q: text })).jobs).toHaveLength(2);
  });
}

test("changed text needs no confirmation", async ({ page, api, trouble }) => {
  trouble.expects(REFUSED);
  const text = words();
  await api.start(text);
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await start(page).click();
  await expect(confirmation(page)).toBeVisible();
  await prompt(page).fill(words());
  await expect(confirmation(page)).toBeHidden();
  await expect(another(page)).toBeHidden();
  await start(page).click();
  await jobOf(page);
});

for (const ended of [false, true]) {
  test(`two tabs with one draft start one job, ${ended ? "which ended" : "which runs"}`, async ({ page, api, trouble }) => {
    trouble.expects(REFUSED);
    const text = ended ? words().replace("emulator:slow", "emulator:fail") : words();
    await open(page, NEW_JOB);
    await prompt(page).fill(text);
    await expect(page.getByText("Draft saved", { exact: true })).toBeVisible();
    const other = await page.context().newPage();
    await open(other, NEW_JOB);
    await expect(prompt(other)).toHaveValue(text);
    await start(page).click();
    const job = await jobOf(page);
    if (ended) await expect(badge(page, job)).toHaveAttribute("data-status", "failed", { timeout: 20_000 });
    await start(other).click();
    const alert = other.getByRole("alert").filter({ hasText: /This draft was started \d+ seconds? ago/ });
    await expect(alert).toBeVisible();
    await expect(alert.getByRole("link", { name: "View the job" })).toHaveAttribute("href", at(`/jobs/${job}`));
    await expect(start(other)).toBeEnabled();
    await expect(prompt(other)).toHaveValue(text);
    expect((await api.jobs({ q: text })).jobs.map((found) => found.id)).toEqual([job]);
    await another(other).click();
    expect(await jobOf(other)).not.toBe(job);
    expect((await api.jobs({ q: text })).jobs).toHaveLength(2);
  });
}

test("unsaved text in two tabs starts one job", async ({ page, api, trouble }) => {
  trouble.expects(REFUSED);
  const text = words();
  await open(page, NEW_JOB);
  await page.context().route("**/api/jobs/draft", () => {});
  await prompt(page).fill(text);
  const other = await page.context().newPage();
  await open(other, NEW_JOB);
  await expect(prompt(other)).toHaveValue(text);
  await start(page).click();
  const job = await jobOf(page);
  await start(other).click();
  await expect(other.getByRole("alert").filter({ hasText: "This draft was started" })).toBeVisible();
  expect((await api.jobs({ q: text })).jobs.map((found) => found.id)).toEqual([job]);
});

test("what is typed while sending stays, and is not sent", async ({ page, api }) => {
  const text = words();
  await open(page, NEW_JOB);
  const release = await delay(page, "**/api/jobs/create");
  await prompt(page).fill(text);
  await start(page).click();
  await expect(page.getByRole("button", { name: "Starting…" })).toBeDisabled();
  await prompt(page).fill("Another thought");
  release();
  const job = await jobOf(page);
  expect((await api.jobs({ q: text })).jobs.map((job) => job.id)).toEqual([job]);
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("Another thought");
});

test("text that is discarded before it is sent does not come back", async ({ page }) => {
  let creates = 0;
  page.on("request", (request) => (creates += request.url().endsWith("/api/jobs/create") ? 1 : 0));
  // The form waits for this part before it sends.
  const release = await delay(page, "**/split_on_demand.wasm");
  await open(page, NEW_JOB);
  await prompt(page).fill(words());
  await start(page).click();
  await expect(page.getByRole("button", { name: "Starting…" })).toBeDisabled();
  const discarded = page.waitForResponse("**/api/jobs/draft");
  await page.getByRole("button", { name: "Discard draft" }).click();
  await discarded;
  release();
  await expect(start(page)).toBeEnabled();
  await expect(prompt(page)).toHaveValue("");
  expect(creates).toBe(0);
  await page.reload();
  await interactive(page);
  await expect(prompt(page)).toHaveValue("");
});

test("confirmation sends with the button that was pressed first", async ({ page, api, trouble }) => {
  trouble.expects(/status of 409.*jobs\/create/);
  const text = `${words()} in {{language}}`;
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await start(page).click();
  const sendAnyway = page.getByRole("button", { name: "Send anyway" });
  await expect(sendAnyway).toBeEnabled();
  await api.start(text);
  await prompt(page).fill(`${text}!`);
  await sendAnyway.click();
  await expect(confirmation(page)).toBeVisible();
  await another(page).click();
  await jobOf(page);
  expect((await api.jobs({ q: text })).jobs).toHaveLength(2);
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
    await expect(another(page)).toBeVisible();
    await start(page).click();
    expect(await jobOf(page)).not.toBe(first.id);
    expect((await api.jobs({ q: text })).jobs).toHaveLength(2);
  });

  test("form of a started draft offers its job and another", async ({ page, context, api }) => {
    const text = words();
    // An unfilled placeholder is refused once, which saves a draft.
    await page.goto(NEW_JOB);
    await prompt(page).fill(`${text} {{language}}`);
    await start(page).click();
    await expect(page.getByRole("button", { name: "Send anyway" })).toBeVisible();
    const other = await context.newPage();
    await other.goto(NEW_JOB);
    await page.getByRole("button", { name: "Send anyway" }).click();
    const job = await jobOf(page);
    await prompt(other).fill(text);
    await start(other).click();
    await expect(other.getByRole("alert")).toContainText(/This draft was started \d+ seconds? ago/);
    await expect(other.getByRole("alert").getByRole("link", { name: "View the job" })).toHaveAttribute("href", at(`/jobs/${job}`));
    expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
    await another(other).click();
    expect(await jobOf(other)).not.toBe(job);
  });
});
