/** Forms while the part of the module that they load on demand is on its way, and without it. */
import type { Page, Route } from "@playwright/test";
import { at, delay, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";
import { saveTemplate, unique } from "../fixtures/templates.ts";

const NEW_JOB = at("/jobs/new");
const PART = "**/split_on_demand.wasm";

const prompt = (page: Page) => page.getByLabel("Prompt");
const start = (page: Page) => page.getByRole("button", { name: /^Start/ });
const saved = (page: Page) => page.getByText("Draft saved");
const beside = (page: Page) => page.getByRole("complementary", { name: "Templates and advice" });
const filling = (page: Page) => page.getByRole("form", { name: /^Fill in / });
const palette = (page: Page) => page.getByRole("dialog", { name: "Command palette" });

/** The number of requests for a URL that ends so. */
function counted(page: Page, end: string): () => number {
  let requests = 0;
  page.on("request", (request) => (requests += request.url().endsWith(end) ? 1 : 0));
  return () => requests;
}

for (const [failure, fail] of [
  ["lost connection", (route: Route) => route.abort()],
  ["missing file after an upgrade", (route: Route) => route.fulfill({ status: 404 })],
] as const) {
  test(`${failure}: a job is started, and its draft was saved`, async ({ page, api, trouble }) => {
    // The browser's own message, and that of the loader.
    trouble.expects(/split_on_demand\.wasm/, /__wasm_split/);
    await page.route(PART, fail);
    await open(page, NEW_JOB);
    const text = unique("Sort the glossary");
    await prompt(page).fill(text);
    await expect(saved(page)).toBeVisible();
    await start(page).click();
    await jobOf(page);
    expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
    await open(page, NEW_JOB);
    await expect(prompt(page)).toHaveValue("");
  });
}

test("hanging request: the form sends after ten seconds, the palette has a message until the answer", async ({ page, api }) => {
  const release = await delay(page, PART);
  const requests = counted(page, "split_on_demand.wasm");
  await open(page, NEW_JOB);
  const text = unique("Sort the index");
  await prompt(page).fill(text);
  await page.keyboard.press("Control+k");
  await expect(palette(page).getByRole("status")).toHaveText("Loading…");
  await expect(palette(page).getByRole("status")).toContainText("The commands could not be loaded.");
  release();
  await expect(palette(page).getByRole("option", { selected: true })).toHaveCount(1);
  await expect(palette(page).getByText("The commands could not be loaded.")).toBeHidden();
  expect(requests(), "the palette and the form share an attempt").toBe(1);
  await page.keyboard.press("Escape");

  const again = await delay(page, PART);
  await page.reload();
  await interactive(page);
  await start(page).click();
  await expect(page.getByRole("button", { name: "Starting…" })).toBeDisabled();
  await jobOf(page);
  expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
  again();
});

test("draft that is discarded before a page is left does not come back", async ({ page }) => {
  const release = await delay(page, PART);
  await open(page, NEW_JOB);
  await prompt(page).fill("Away with it");
  await expect(saved(page)).toBeVisible();
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(prompt(page)).toHaveValue("");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Analytics" }).click();
  await expect(page).toHaveTitle("Analytics · Docket");
  release();
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("");
});

test("click on a template is applied when the part is there", async ({ page }) => {
  const release = await delay(page, PART);
  await open(page, NEW_JOB);
  await beside(page).getByRole("link", { name: "Check a page" }).click();
  await beside(page).getByRole("link", { name: "Changelog entry" }).click();
  await page.getByLabel("Pages").fill("/faq");
  await expect(page).toHaveURL(NEW_JOB);
  release();
  await expect(prompt(page)).toHaveValue(/version \{\{version\}\}/);
  await expect(page, "the later one, in place").toHaveURL(NEW_JOB);
  await expect(page.getByLabel("Pages")).toHaveValue("/faq");
  await expect(filling(page).getByLabel("version")).toBeVisible();
});

test("values of a template that are typed before the part is there are sent", async ({ page, api }) => {
  const name = unique("Check");
  await saveTemplate(page, name, `${name}: check {{method}} for {{elements}} and {{submit}}`);
  const release = await delay(page, PART);
  await page.getByRole("listitem").filter({ hasText: name }).getByRole("link", { name: /^Use / }).first().click();
  await interactive(page);
  const url = page.url();
  await filling(page).getByLabel("method").fill("POST");
  await filling(page).getByLabel("elements").fill("all");
  await filling(page).getByLabel("submit").fill("Send");
  await filling(page).getByLabel("submit").press("Enter");
  await expect(page, "Enter does not leave the page").toHaveURL(url);
  await expect(filling(page).getByLabel("submit")).toHaveValue("Send");
  await start(page).click();
  await expect(page.getByRole("button", { name: "Starting…" })).toBeDisabled();
  release();
  await jobOf(page);
  const [job] = (await api.jobs({ q: name })).jobs;
  expect(job?.prompt).toBe(`${name}: check POST for all and Send`);
});

test("values of a template are not left out without the part", async ({ page, trouble }) => {
  trouble.expects(/split_on_demand\.wasm/, /__wasm_split/);
  const name = unique("Check");
  await saveTemplate(page, name, `${name}: check version {{version=3.2}}`);
  await page.route(PART, (route) => route.abort());
  await page.getByRole("listitem").filter({ hasText: name }).getByRole("link", { name: /^Use / }).first().click();
  await interactive(page);
  await filling(page).getByLabel("version").fill("5");
  const creates = counted(page, "/api/jobs/create");
  await start(page).click();
  await expect(page.getByRole("alert")).toContainText("The fields of the template could not be filled in.");
  expect(creates()).toBe(0);
  await filling(page).getByRole("button", { name: "Fill in the prompt" }).click();
  await expect(prompt(page)).toHaveValue(`${name}: check version 5`);
});
