/** Texts that were lost, sent twice or sent in another version than shown, when two things happen at once. */
import type { Page } from "@playwright/test";
import { PROJECT, at, badge, delay, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";
import { Api } from "../fixtures/api.ts";
import { saveTemplate, unique } from "../fixtures/templates.ts";

const NEW_JOB = at("/jobs/new");
const BATCH = at("/jobs/batch");
const PART = "**/split_on_demand.wasm";

const prompt = (page: Page) => page.getByLabel("Prompt", { exact: true });
const template = (page: Page) => page.getByLabel("Prompt template");
const values = (page: Page) => page.getByLabel("Values, one line per job");
const pages = (page: Page) => page.getByLabel("Pages", { exact: true });
const followUp = (page: Page) => page.getByLabel("Follow-up");
const saved = (page: Page) => page.getByText("Draft saved", { exact: true });
const undo = (page: Page) => page.getByRole("button", { name: "Undo" });
const beside = (page: Page) => page.getByRole("complementary", { name: "Templates and advice" });
const filling = (page: Page) => page.getByRole("form", { name: /^Fill in / });

/** An active job, on its page. */
async function activeJob(page: Page, api: Api): Promise<string> {
  const { id } = await api.start(`emulator:slow ${unique("Explain the quotas")}`);
  await open(page, at(`/jobs/${id}`));
  await expect(badge(page, id)).toHaveAttribute("data-status", "active");
  return id;
}

/** Opens the first follow-up of a job to edit it again, beside a draft. */
async function editFirst(page: Page, api: Api): Promise<void> {
  const job = await activeJob(page, api);
  await followUp(page).fill("The first one");
  await page.getByRole("button", { name: "Send follow-up" }).click();
  await expect(followUp(page)).toHaveValue("");
  await followUp(page).fill("My own unsent draft");
  await expect(saved(page)).toBeVisible();
  await open(page, at(`/jobs/${job}?again=1`));
}

test("follow-up whose reply was lost is sent once, also after a reload", async ({ page, api, trouble }) => {
  trouble.expects(/ERR_FAILED/);
  const job = await activeJob(page, api);
  await page.route(
    "**/api/jobs/message",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await followUp(page).fill("And the limits");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("alert")).toContainText("could not be reached");
  await page.reload();
  await interactive(page);
  await expect(followUp(page)).toHaveValue("And the limits");
  await followUp(page).press("Control+Enter");
  await expect(followUp(page)).toHaveValue("");
  expect((await api.job(job)).follow_ups.filter((sent) => sent.prompt === "And the limits")).toHaveLength(1);
});

test("click at the moment when the page becomes interactive sends and forgets the text", async ({ page, api }) => {
  const text = unique("Sort the glossary");
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await expect(saved(page)).toBeVisible();
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const button = [...document.querySelectorAll("button")].find((found) => found.textContent === "Start job");
      if (!document.documentElement.hasAttribute("data-hydrated") || button === undefined) return;
      observer.disconnect();
      button.click();
    }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-hydrated"] });
  });
  await page.goto(NEW_JOB);
  await jobOf(page);
  expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
  expect(await page.evaluate(() => Object.values(localStorage).join())).not.toContain(text);
});

test("text that is typed after a discard while sending survives the refusal", async ({ page, trouble }) => {
  trouble.expects(/status of 503/);
  await open(page, NEW_JOB);
  await prompt(page).fill(unique("First"));
  await expect(saved(page)).toBeVisible();
  let refuse = () => {};
  const held = new Promise<void>((resolve) => (refuse = resolve));
  await page.route("**/api/jobs/create", async (route) => {
    await held;
    await route.fulfill({ status: 503, json: { code: "busy", message: "Too many requests at once." } });
  });
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("button", { name: "Discard draft" }).click();
  const second = unique("Second, long and good");
  await prompt(page).fill(second);
  await expect(saved(page)).toBeVisible();
  refuse();
  await expect(page.getByRole("alert").filter({ hasText: "Too many requests" })).toBeVisible();
  await expect(saved(page)).toBeVisible();
  await page.reload();
  await expect(prompt(page)).toHaveValue(second);
});

test("draft is kept when the text of an earlier follow-up is edited, and the edits too", async ({ page, api }) => {
  await editFirst(page, api);
  await expect(followUp(page)).toHaveValue("The first one");
  await undo(page).click();
  await expect(followUp(page)).toHaveValue("My own unsent draft");
  await undo(page).click();
  await followUp(page).fill("The first one, with more");
  await expect(saved(page)).toBeVisible();
  await page.reload();
  await interactive(page);
  await expect(followUp(page)).toHaveValue("The first one, with more");
});

test("draft that another text replaced returns when that one was sent", async ({ page, api }) => {
  await editFirst(page, api);
  await followUp(page).press("Control+Enter");
  await expect(followUp(page)).toHaveValue("My own unsent draft");
  await expect(saved(page)).toBeVisible();
  await page.reload();
  await expect(followUp(page)).toHaveValue("My own unsent draft");
});

test("batch with chosen pages keeps what is typed", async ({ page }) => {
  const url = `${BATCH}?pick=/${unique("a").replace(" ", "-")}&pick=/b`;
  await open(page, url);
  const given = await values(page).inputValue();
  await template(page).fill("Check {{page}}");
  await values(page).fill(`${given}\n/c\n/d`);
  await page.reload();
  await interactive(page);
  await expect(template(page)).toHaveValue("Check {{page}}");
  await expect(values(page)).toHaveValue(`${given}\n/c\n/d`);
  // Another URL has its own values.
  await open(page, `${BATCH}?pick=/other`);
  await expect(values(page)).toHaveValue("/other");
  await open(page, url);
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(values(page)).toHaveValue(given);
  await expect(template(page)).toHaveValue("");
  await undo(page).click();
  await expect(template(page)).toHaveValue("Check {{page}}");
  await expect(values(page)).toHaveValue(`${given}\n/c\n/d`);
});

test("batch that another tab changed is shown there", async ({ page, context }) => {
  await open(page, BATCH);
  const other = await context.newPage();
  await open(other, BATCH);
  await template(page).fill("Check {{page}} for an hour");
  await values(page).fill("/a\n/b");
  await template(other).fill("x");
  await expect(other.getByRole("alert")).toContainText("Check {{page}} for an hour");
  await values(other).fill("y");
  await expect(other.getByRole("alert").filter({ hasText: "/a" })).toBeVisible();
  await other.getByRole("alert").filter({ hasText: "for an hour" }).getByRole("button", { name: "Use this version" }).click();
  await expect(template(other)).toHaveValue("Check {{page}} for an hour");
});

test("value of a template that was typed early is not left out", async ({ page, api, trouble }) => {
  trouble.expects(/split_on_demand\.wasm/, /__wasm_split/);
  const name = unique("Check");
  await saveTemplate(page, name, `${name}: version {{version=3.2}}`);
  await page.route(PART, (route) => route.abort());
  const release = await delay(page, "**/docket.wasm");
  await page.getByRole("listitem").filter({ hasText: name }).getByRole("link", { name: /^Use / }).first().click();
  await filling(page).getByLabel("version").fill("5");
  release();
  await interactive(page);
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "could not be filled in" })).toBeVisible();
  expect((await api.jobs({ q: name })).jobs).toHaveLength(0);
});

test("text that is typed while values are filled in is not sent half", async ({ page, api }) => {
  const name = unique("Check");
  await saveTemplate(page, name, `${name}: version {{version=3.2}}`);
  const release = await delay(page, PART);
  await page.getByRole("listitem").filter({ hasText: name }).getByRole("link", { name: /^Use / }).first().click();
  await interactive(page);
  await filling(page).getByLabel("version").fill("5");
  await page.getByRole("button", { name: "Start job" }).click();
  await prompt(page).press("End");
  await prompt(page).pressSequentially(" and also half a sent");
  release();
  await expect(page.getByRole("alert").filter({ hasText: "The prompt changed" })).toBeVisible();
  expect((await api.jobs({ q: name })).jobs).toHaveLength(0);
  await expect(prompt(page)).toHaveValue(/version 5/);
  await page.getByRole("button", { name: "Start job" }).click();
  await jobOf(page);
  expect((await api.jobs({ q: name })).jobs[0]?.prompt).toContain("and also half a sent");
});

test("duplicated tab does not replace the text of the first one", async ({ page, context }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("Shared");
  await expect(saved(page)).toBeVisible();
  // As a browser duplicates a tab: with its session storage.
  const opened = context.waitForEvent("page");
  await page.evaluate(() => window.open(location.href));
  const other = await opened;
  await interactive(other);
  await expect(prompt(other)).toHaveValue("Shared");
  await prompt(page).fill("Shared, and an hour of work");
  await expect(saved(page)).toBeVisible();
  await prompt(other).fill("Shared!");
  await expect(other.getByRole("alert")).toContainText("Shared, and an hour of work");
  await expect(saved(other)).toBeVisible();
  await page.reload();
  await expect(prompt(page)).toHaveValue("Shared, and an hour of work");
});

test("sending in one tab leaves the text of another", async ({ page, context }) => {
  await open(page, NEW_JOB);
  const common = unique("Common");
  await prompt(page).fill(common);
  await expect(saved(page)).toBeVisible();
  const other = await context.newPage();
  await open(other, NEW_JOB);
  await other.route("**/api/jobs/draft", (route) => route.abort());
  await prompt(other).fill(`${common}, changed`);
  await page.getByRole("button", { name: "Start job" }).click();
  await jobOf(page);
  await other.unroute("**/api/jobs/draft");
  await other.reload();
  await expect(prompt(other)).toHaveValue(`${common}, changed`);
});

test("values of a template return with undo when another one is chosen", async ({ page }) => {
  await open(page, NEW_JOB);
  await beside(page).getByRole("link", { name: "Changelog entry" }).click();
  await filling(page).getByLabel("version").fill("a whole sentence about the version");
  await beside(page).getByRole("link", { name: "Check a page" }).click();
  await expect(prompt(page)).not.toHaveValue(/a whole sentence/);
  await undo(page).click();
  await expect(prompt(page)).toHaveValue(/a whole sentence about the version/);
});

for (const javaScriptEnabled of [true, false]) {
  test(`prompt is queued while the hour is full, with JavaScript ${javaScriptEnabled ? "on" : "off"}`, async ({ serve, visit }) => {
    const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1" } });
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    await new Api(page.request, docket.url, PROJECT).start("The only one");
    await page.goto(NEW_JOB);
    if (javaScriptEnabled) await interactive(page);
    await prompt(page).fill("One too many");
    await expect(page.getByRole("button", { name: "Start job" })).toHaveCount(0);
    await page.getByRole("button", { name: "Add to queue" }).click();
    const job = await jobOf(page);
    await expect(badge(page, job)).toHaveAttribute("data-status", "queued");
  });
}

test("template that is chosen offline leaves the page and its text", async ({ page, context, trouble }) => {
  trouble.expects(/ERR_INTERNET_DISCONNECTED|split_on_demand|__wasm_split/);
  await open(page, NEW_JOB);
  await pages(page).fill("/faq");
  await context.setOffline(true);
  await beside(page).getByRole("link", { name: "Changelog entry" }).click();
  await expect(page.getByRole("alert")).toContainText("could not be reached");
  await expect(page).toHaveURL(NEW_JOB);
  await expect(pages(page)).toHaveValue("/faq");
  await context.setOffline(false);
});

test("pages that are written before the prompt are kept", async ({ page }) => {
  await open(page, NEW_JOB);
  await pages(page).fill("/a, /b, /c");
  await page.reload();
  await interactive(page);
  await expect(pages(page)).toHaveValue("/a, /b, /c");
});

test("version of another tab is used with its pages", async ({ page, context }) => {
  await open(page, NEW_JOB);
  const other = await context.newPage();
  await open(other, NEW_JOB);
  await prompt(page).fill("A version with a page");
  await pages(page).fill("/other");
  await expect(saved(page)).toBeVisible();
  await pages(other).fill("/mine");
  await prompt(other).fill("My version");
  const notice = other.getByRole("alert");
  await expect(notice).toContainText("/other");
  await notice.getByRole("button", { name: "Use this version" }).click();
  await expect(prompt(other)).toHaveValue("A version with a page");
  await expect(pages(other)).toHaveValue("/other");
  await undo(other).click();
  await expect(prompt(other)).toHaveValue("My version");
  await expect(pages(other)).toHaveValue("/mine");
});

test("Ctrl+Enter in the values shows the preview", async ({ page }) => {
  await open(page, BATCH);
  await template(page).fill("Check {{page}}");
  await values(page).fill("/a");
  await values(page).press("Control+Enter");
  await expect(page).toHaveURL(/\/batches\//);
});
