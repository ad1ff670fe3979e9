/** Batches: previewed before they are queued, sent one after another, cancelled half-way, named, listed, retried. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, delay, expect, interactive, opener, test } from "../fixtures/docket.ts";
import { saveTemplate } from "../fixtures/templates.ts";

const jobs = (page: Page) => page.getByRole("list", { name: "Jobs of the batch" }).getByRole("listitem");
const text = (page: Page) => page.getByLabel("Prompt template");
const values = (page: Page) => page.getByLabel("Values, one line per job");
const batches = (page: Page) => page.getByRole("list", { name: "Batches" }).getByRole("listitem");
/** The number of the batch with this name. */
const figure = (page: Page, name: string) => page.locator(".batch-figures > div").filter({ hasText: name }).locator("dd");

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    const open = opener(javaScriptEnabled);

    test("prompt and list become jobs, sent one after another", async ({ serve, visit }) => {
      // One every two seconds.
      const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1800" } });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await open(page, at("/jobs"));
      await page.getByRole("button", { name: "More ways to start" }).click();
      await page.getByRole("link", { name: "Batch", exact: true }).click();
      await text(page).fill("emulator:slow Check {{page}} for {{reader}}");
      await values(page).fill('/quickstart, "writers, and ""reviewers"""\n/guides/webhooks, developers');
      await page.getByRole("button", { name: "Preview" }).click();
      await expect(page).toHaveURL(new RegExp(`/p/${PROJECT}/batches/`));
      const texts = page.getByRole("table", { name: "Prompts" }).locator("[data-label=Prompt]");
      await expect(texts).toHaveCount(2);
      await expect(page.getByText(/^Uses 2 of the 1800 calls left this hour\. All are sent at once\./)).toBeVisible();
      await expect(texts.nth(0)).toHaveText('emulator:slow Check /quickstart for writers, and "reviewers"');
      await expect(texts.nth(1)).toContainText("Check /guides/webhooks for developers");
      const rows = page.getByRole("table", { name: "Prompts" }).getByRole("row");
      await expect(rows.first().getByRole("columnheader")).toHaveText(["Line", "Page", "Prompt"]);
      await expect(rows.nth(1).getByRole("cell").first()).toHaveText("1");
      await expect(rows.nth(1).locator("mark")).toHaveText(["/quickstart", 'writers, and "reviewers"']);

      await page.getByRole("link", { name: "Edit" }).click();
      await expect(text(page)).toHaveValue("emulator:slow Check {{page}} for {{reader}}");
      await values(page).fill(`${await values(page).inputValue()}\n/api, both`);
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByRole("button", { name: "Start batch for 3 pages" }).click();
      await expect(jobs(page)).toHaveCount(3);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("emulator:slow Check a page for a reader · 3 pages");
      await expect(page.getByText(/^Batch by /)).toBeVisible();
      await expect(page.getByText(/preview/i)).toHaveCount(0);
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(page.getByText("3 of 3 sent")).toBeVisible({ timeout: 500 });
        await expect(page.locator('[data-status="active"]')).toHaveCount(3, { timeout: 500 });
      }).toPass(UNTIL_DONE);
      await expect(jobs(page).first()).toContainText("/quickstart");
    });

    test("mistake is shown with its line, and the texts stay", async ({ serve, visit, trouble }) => {
      if (javaScriptEnabled) trouble.expects(/status of 400.*batches\/prepare/);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await open(page, at("/jobs/batch"));
      await text(page).fill("Check {{page}} </textarea> for {{reader}}");
      await values(page).fill("/a, writers\n/b");
      await page.getByRole("button", { name: "Preview" }).click();
      await expect(page.getByRole("alert")).toContainText("Line 2 has 1 value; expected 2: {{page}}, {{reader}}");
      await expect(text(page)).toHaveValue("Check {{page}} </textarea> for {{reader}}");
      await expect(values(page)).toHaveValue("/a, writers\n/b");
      for (const [list, message] of [
        ['/a, "writers, readers"\n/b, writers, readers', "Line 2 has 3 values; expected 2: {{page}}, {{reader}}"],
        ['/a, writers\n/b, "readers', "Line 2: A value begins with a quote that is not closed"],
      ] as const) {
        await values(page).fill(list);
        await page.getByRole("button", { name: "Preview" }).click();
        await expect(page.getByRole("alert")).toContainText(message);
        await expect(values(page)).toHaveValue(list);
      }
    });

    test("unsent jobs are cancelled together", async ({ serve, visit }) => {
      const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "2" } });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await open(page, at(`/jobs/batch?prompt=${encodeURIComponent("emulator:slow Check {{page}}")}`));
      await values(page).fill("/a\n/b\n/c");
      await page.getByRole("button", { name: "Preview" }).click();
      await expect(page.getByText(/^Needs 3 calls: the 2 left this hour, and 1 later\. The last one is sent in /)).toBeVisible();
      await page.getByRole("button", { name: "Start batch for 3 pages" }).click();
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(page.getByText("1 of 3 sent")).toBeVisible({ timeout: 500 });
      }).toPass(UNTIL_DONE);
      await page.getByText("Cancel queued jobs…").click();
      await page.getByRole("button", { name: "Cancel jobs" }).click();
      await expect(page.locator('[data-status="cancelled"]')).toHaveCount(2);
      await expect(page.getByText("1 of 3 sent")).toBeVisible();
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
      await expect(page.locator(".batch-row summary")).toContainText(/\d of 3/);
    });

    test("batch is named and listed; failed jobs are retried once", async ({ serve, visit }) => {
      test.setTimeout(90_000);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      const id = await api.batch("emulator:{{how}} Check {{page}}", ["fail, /a", "pull-request, /b", "no-changes, /c"]);
      const other = await api.batch("emulator:pull-request Look at {{page}}", ["/a"]);
      await open(page, at(`/batches/${id}`));
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(figure(page, "Failed")).toHaveText("1", { timeout: 500 });
        await expect(figure(page, "Finished")).toHaveText("1", { timeout: 500 });
        await expect(figure(page, "No changes")).toHaveText("1", { timeout: 500 });
      }).toPass(UNTIL_DONE);
      for (const [name, number] of [["Sent", "3"], ["Running", "0"], ["Pull requests", "1"]] as const) {
        await expect(figure(page, name)).toHaveText(number);
      }

      await page.getByText("Rename…").click();
      await page.getByLabel("Name").fill("Spring <b>cleaning</b>");
      await page.getByRole("button", { name: "Save name" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Spring <b>cleaning</b>");
      await expect(page).toHaveTitle("Spring <b>cleaning</b> · Docket");
      if (javaScriptEnabled) await interactive(page);

      await page.getByText("Retry failed…").click();
      await expect(page.getByText(/^Starts failed and rejected jobs again, with the same prompts\.\s+Uses 1 of the \d+ calls left this hour\.$/)).toBeVisible();
      await page.getByRole("button", { name: "Retry 1 job" }).click();
      await expect(page.getByText("1 job was retried")).toBeVisible();
      await expect(jobs(page)).toHaveCount(3);
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(figure(page, "Failed")).toHaveText("1", { timeout: 500 });
        await expect(page.getByText("Retry failed…")).toBeVisible({ timeout: 500 });
      }).toPass(UNTIL_DONE);
      expect((await api.jobs()).total).toBe(5);

      await page.getByRole("link", { name: "All batches" }).click();
      await expect(page).toHaveURL(at("/batches"));
      await expect(batches(page)).toHaveCount(2);
      await expect(batches(page).nth(0).getByRole("link")).toHaveAttribute("href", at(`/batches/${other}`));
      await expect(batches(page).nth(1)).toContainText("Spring <b>cleaning</b>");
      await expect(batches(page).nth(1)).toContainText("3 of 3 sent · 1 finished · 1 failed · 1 no changes");
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
      await page.getByRole("main").getByRole("link", { name: "Batches" }).click();
      await expect(page).toHaveURL(at("/batches"));
    });

    test("batch that is not started is found again, to continue or discard", async ({ serve, visit }) => {
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const unstarted = page.getByRole("list", { name: "Batches that are not started" }).getByRole("listitem");
      for (const list of ["/a\n/b", "/c"]) {
        await open(page, at(`/jobs/batch?prompt=${encodeURIComponent("emulator:slow Check {{page}}")}`));
        await values(page).fill(list);
        await page.getByRole("button", { name: "Preview" }).click();
        await expect(page.getByRole("button", { name: /^Start batch for / })).toBeVisible();
      }
      await page.getByRole("link", { name: "All batches" }).click();
      await expect(unstarted).toHaveCount(2);
      await expect(unstarted.nth(0)).toContainText("/c");
      await unstarted.filter({ hasText: "/a · /b" }).getByRole("link", { name: "Continue" }).click();
      await page.getByRole("button", { name: "Start batch for 2 pages" }).click();
      await expect(jobs(page)).toHaveCount(2);

      await open(page, at("/jobs/batch"));
      await page.getByText("Batches that are not started (1)").click();
      await unstarted.getByText("Discard…").click();
      await unstarted.getByRole("button", { name: "Discard this batch" }).click();
      await expect(unstarted).toHaveCount(0);
      await expect(page.getByText(/^Batches that are not started/)).toHaveCount(0);
      await open(page, at("/batches"));
      await expect(batches(page)).toHaveCount(1);
      await expect(page.getByRole("heading", { name: "Not started" })).toHaveCount(0);
    });

    test("notice says that only the first 200 picked pages are selected", async ({ page }) => {
      const picked = Array.from({ length: 201 }, (_, at) => `/page-${at}`);
      const url = (pages: string[]) => at(`/jobs/batch?${new URLSearchParams(pages.map((page) => ["pick", page]))}`);
      await open(page, url(picked));
      await expect(page.getByText("The first 200 of 201 pages are selected.")).toBeVisible();
      await expect(values(page)).toHaveValue(picked.slice(0, 200).join("\n"));
      await open(page, url(picked.slice(1)));
      await expect(values(page)).toHaveValue(picked.slice(1).join("\n"));
      await expect(page.getByText(/^The first \d+ of/)).toHaveCount(0);
    });

    test("template for pages from analytics fills in its default", async ({ serve, visit }) => {
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await saveTemplate(page, "Check a version", "Check {{page}} for version {{version=3.2}}");
      await saveTemplate(page, "No gaps", "Look at everything");
      const entry = (name: string) => page.getByRole("list", { name: "Templates" }).getByRole("listitem").filter({ hasText: name });
      await expect(entry("No gaps").getByRole("link", { name: "Use for many pages" })).toHaveCount(0);
      await expect(entry("Check a version")).toContainText("version = 3.2");

      // The URL of the form with the selected pages.
      await open(page, at("/jobs/batch?pick=%2Fa&pick=%2Fb%2C%20c"));
      await expect(values(page)).toHaveValue('/a\n"/b, c"');
      const template = page.getByLabel("Template", { exact: true });
      await expect(template.getByRole("option")).toHaveText(["None", "Check a version"]);
      await template.selectOption("Check a version");
      await page.getByRole("button", { name: "Use template" }).click();
      await expect(text(page)).toHaveValue("Check {{page}} for version {{version=3.2}}");
      await expect(values(page)).toHaveValue('/a\n"/b, c"');
      if (javaScriptEnabled) await interactive(page);
      await values(page).fill('/a\n"/b, c", 4');
      await page.getByRole("button", { name: "Preview" }).click();
      const texts = page.getByRole("table", { name: "Prompts" }).locator("[data-label=Prompt]");
      await expect(texts).toHaveText(["Check /a for version 3.2", "Check /b, c for version 4"]);
      await expect(page.getByRole("button", { name: "Start batch for 2 pages" })).toBeVisible();

      // Typed text stays: the template is inserted below it. The unchanged text of a template is replaced by another one.
      await saveTemplate(page, "Update a page", "Update {{page}}");
      await open(page, at("/jobs/batch?pick=%2Fa"));
      await text(page).fill("Mind the style guide.");
      await values(page).fill("/a\n/typed");
      await template.selectOption("Check a version");
      await page.getByRole("button", { name: "Use template" }).click();
      await expect(text(page)).toHaveValue("Mind the style guide.\n\nCheck {{page}} for version {{version=3.2}}");
      await expect(values(page)).toHaveValue("/a\n/typed");
      await expect(template.locator("option:checked")).toHaveText("Check a version");
      if (javaScriptEnabled) await interactive(page);
      await text(page).fill("");
      for (const [name, filled] of [["Check a version", "Check {{page}} for version {{version=3.2}}"], ["Update a page", "Update {{page}}"]] as const) {
        await template.selectOption(name);
        await page.getByRole("button", { name: "Use template" }).click();
        await expect(text(page)).toHaveValue(filled);
        await expect(values(page)).toHaveValue("/a\n/typed");
      }

      await page.goto(at("/templates"));
      await entry("Check a version").getByRole("link", { name: "Use for many pages" }).click();
      await expect(text(page)).toHaveValue("Check {{page}} for version {{version=3.2}}");

      await page.goto(at("/templates"));
      if (javaScriptEnabled) await interactive(page);
      await entry("Check a version").getByRole("link", { name: /^Use / }).first().click();
      const prompt = page.getByLabel("Prompt");
      const filling = page.getByRole("form", { name: /^Fill in / });
      await expect(prompt).toHaveValue("Check {{page}} for version 3.2");
      await expect(filling.getByLabel("version")).toHaveValue("3.2");
      if (javaScriptEnabled) await interactive(page);
      await filling.getByLabel("page").fill("/faq");
      await filling.getByLabel("version").fill("");
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Fill in the prompt" }).click();
      await expect(prompt).toHaveValue("Check /faq for version 3.2");
      await filling.getByLabel("version").fill("5");
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Fill in the prompt" }).click();
      await expect(prompt).toHaveValue("Check /faq for version 5");
    });
  });
}

test("preview is requested once", async ({ page }) => {
  await page.goto(at("/jobs/batch"));
  await interactive(page);
  await text(page).fill("Check {{page}}");
  await values(page).fill("/a");
  const release = await delay(page, "**/api/batches/prepare");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("button", { name: "Preview" })).toBeDisabled();
  release();
  await expect(page.getByRole("button", { name: /^Start batch for 1/ })).toBeVisible();
});

test("on a phone, the row of a batch shows its name above its facts", async ({ serve, visit }) => {
  const open = opener(true);
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session, viewport: { width: 390, height: 844 } });
  const api = new Api(page.request, docket.url, PROJECT);
  const lines = ["fail, /a", "fail, /b", "pull-request, /c", "pull-request, /d", "no-changes, /e"];
  await api.batch("emulator:{{how}} Check every example in the reference and in {{page}}", lines);
  const row = page.locator(".batch-row");
  const facts = row.locator(".batch-facts");
  await open(page, at("/jobs"));
  await expect(async () => {
    await page.reload();
    await expect(facts).toContainText("5 of 5 sent · 2 finished · 2 failed · 1 no changes", { timeout: 500 });
  }).toPass(UNTIL_DONE);
  await interactive(page);
  const name = row.locator(".batch-name");
  await expect(name).toBeVisible();
  await expect(name).toHaveText("emulator:a how Check every example in the reference and in a page · 5 pages");
  const boxes = async () => {
    const [of, below] = [await name.boundingBox(), await facts.boundingBox()];
    if (!of || !below) throw new Error("the name or the facts have no box");
    return { of, below };
  };
  const { of, below } = await boxes();
  expect(of.width, "room for the name").toBeGreaterThan(200);
  expect(below.y, "the facts are below the name").toBeGreaterThanOrEqual(of.y + of.height - 1);
  expect(below.x + below.width).toBeLessThanOrEqual(390);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

  // The overview has the same row as a link.
  await open(page, at(""));
  const link = page.locator(".batch-link-row");
  await expect(link.getByRole("link")).toBeVisible();
  expect((await link.getByRole("link").boundingBox())?.width, "room for the name").toBeGreaterThan(200);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

  // On a wide screen, name and facts share a line.
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, at("/jobs"));
  const wide = await boxes();
  expect(Math.abs(wide.of.y + wide.of.height / 2 - wide.below.y - wide.below.height / 2)).toBeLessThan(4);
});
