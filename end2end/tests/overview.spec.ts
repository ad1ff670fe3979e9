/** The overview: one list of jobs that need attention, running jobs with their times, batches as one row, first steps. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, interactive, opener, test } from "../fixtures/docket.ts";
import { next } from "../fixtures/faults.ts";

const section = (page: Page, name: string) =>
  page.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });
const row = (page: Page, job: string) => section(page, "Needs attention").locator(".job-row").filter({ has: badge(page, job) });
const olga = { username: "olga", password: "writes-docs-1", role: "operator" } as const;

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    const goTo = opener(javaScriptEnabled);

    test("list has every job that needs attention with next action", async ({ serve, visit }) => {
      test.setTimeout(60_000);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      const unchanged = await api.start("emulator:no-changes Check the links");
      const failed = await api.start("emulator:fail Draw a diagram");
      await next(docket, "create", { kind: "accept-then-drop" });
      const unknown = await api.start("Fix the typos");
      await next(docket, "create", { kind: "status", code: 422 });
      const rejected = await api.start("Do what the platform refuses");
      await expect.poll(async () => (await api.jobs({ needs: "attention" })).total, UNTIL_DONE).toBe(4);
      const expected = (await api.jobs({ needs: "attention" })).jobs.map(({ id }) => id);

      await goTo(page, at(""));
      const shown = section(page, "Needs attention").locator("[data-job]");
      await expect(shown).toHaveCount(4);
      expect(await shown.evaluateAll((all) => all.map((it) => it.getAttribute("data-job")))).toEqual(expected);
      const actions: [string, string, string][] = [
        [unknown.id, "Resolve", at(`/jobs/${unknown.id}`)],
        [failed.id, "Run again", at(`/jobs/new?from=${failed.id}`)],
        [unchanged.id, "Send follow-up", at(`/jobs/${unchanged.id}#follow-up`)],
        [rejected.id, "Edit and send again", at(`/jobs/new?from=${rejected.id}`)],
      ];
      for (const [job, name, href] of actions) {
        const action = row(page, job).getByRole("link", { name: new RegExp(`^${name}`) });
        await expect(action).toHaveAttribute("href", href);
        await expect(row(page, job).locator(".row-end a")).toHaveCount(1);
      }
      const lefts = await section(page, "Needs attention").locator(".job-title").evaluateAll((titles) =>
        titles.map((title) => title.getBoundingClientRect().left),
      );
      expect(new Set(lefts).size, "titles align").toBe(1);

      await row(page, unchanged.id).getByRole("button", { name: "Dismiss for everyone: emulator:no-changes Check the links" }).click();
      if (!javaScriptEnabled) await goTo(page, at(""));
      await expect(shown).toHaveCount(3);
      await row(page, unknown.id).getByRole("link", { name: /^Resolve/ }).click();
      await expect(page).toHaveURL(at(`/jobs/${unknown.id}`));
    });

    test("running job shows its elapsed and its usual time", async ({ serve, visit }) => {
      test.setTimeout(60_000);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      const first = await api.start("emulator:pull-request Add an example");
      await expect.poll(async () => (await api.job(first.id)).state, UNTIL_DONE).toBe("completed");
      const running = await api.start("emulator:slow Rewrite everything");
      await goTo(page, at(""));
      const shown = section(page, "Running now").locator(".job-row").filter({ has: badge(page, running.id) });
      await expect(shown.locator(".running-time")).toHaveText(/^\d+ s · usually \d+ s$/);
    });

    test("finished jobs of a batch are one row", async ({ serve, visit }) => {
      test.setTimeout(90_000);
      const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "3600" } });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      await goTo(page, at("/jobs/batch"));
      await page.getByLabel("Prompt template").fill("emulator:pull-request Check {{page}}");
      await page.getByLabel("Values, one line per job").fill("/quickstart\n/guides/webhooks\n/guides/migration");
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByRole("button", { name: /3 (jobs|pages)$/ }).click();
      await expect(page).toHaveURL(/\/batches\//);
      const batch = new URL(page.url()).pathname;
      await expect.poll(async () => (await api.jobs({ status: "completed" })).total, { timeout: 60_000 }).toBe(3);
      const alone = await api.start("emulator:pull-request Add an example");
      await expect.poll(async () => (await api.job(alone.id)).state, UNTIL_DONE).toBe("completed");

      await goTo(page, at(""));
      const finished = section(page, "Recently finished");
      await expect(finished.getByRole("listitem")).toHaveCount(2);
      await expect(badge(finished, alone.id)).toBeVisible();
      const line = finished.locator(".batch-link-row");
      await expect(line).toContainText("3 of 3 sent · 3 finished");
      await line.getByRole("link").click();
      await expect(page).toHaveURL(batch);
    });

    test("failures of a batch are one row, own jobs before those of others", async ({ serve, visit }) => {
      test.setTimeout(90_000);
      const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "3600" }, people: [olga] });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = new Api(page.request, docket.url, PROJECT);
      const hers = await visit(docket, { as: olga, javaScriptEnabled });
      const failed = await new Api(hers.request, docket.url, PROJECT).start("emulator:fail Draw a diagram");
      await goTo(page, at("/jobs/batch"));
      await page.getByLabel("Prompt template").fill("emulator:fail Check {{page}}");
      await page.getByLabel("Values, one line per job").fill("/quickstart\n/guides/webhooks\n/guides/migration");
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByRole("button", { name: /3 (jobs|pages)$/ }).click();
      await expect(page).toHaveURL(/\/batches\//);
      await expect.poll(async () => (await api.jobs({ needs: "attention" })).total, { timeout: 60_000 }).toBe(4);

      const list = (of: Page, name: string) => section(of, "Needs attention").getByRole("list", { name, exact: true });
      await goTo(page, at(""));
      await expect(badge(list(page, "Your team’s"), failed.id)).toBeVisible();
      const batch = list(page, "Yours").locator(".batch-row");
      await expect(list(page, "Yours").locator("> li")).toHaveCount(1);
      await expect(batch.locator("summary")).toContainText("3 of 3 sent · 3 failed");
      await expect(batch.locator(".job-row").first()).toBeHidden();
      await goTo(hers, at(""));
      await expect(badge(list(hers, "Yours"), failed.id)).toBeVisible();
      await expect(list(hers, "Your team’s").locator("> li")).toHaveCount(1);

      await batch.locator("summary").click();
      await expect(batch.locator(".job-row")).toHaveCount(3);
      await expect(batch.getByRole("link", { name: /^Run again/ })).toHaveCount(3);
      await batch.getByRole("button", { name: /^Dismiss for everyone: emulator:fail Check a page/ }).click();
      if (!javaScriptEnabled) await goTo(page, at(""));
      await expect(list(page, "Yours")).toHaveCount(0);
      expect((await api.jobs({ needs: "attention" })).jobs.map(({ id }) => id)).toEqual([failed.id]);
    });

    test("administrator of a new installation sees first steps until done", async ({ serve, visit }) => {
      test.setTimeout(60_000);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const steps = page.getByRole("region", { name: "Get started" });
      await goTo(page, at(""));
      await expect(steps.getByRole("heading")).toHaveText("Get started 0 of 4 done");
      const links = { "Start a job": at("/jobs/new"), "Save a template": at("/templates?edit=new"), "Invite a person": "/admin/users", "Add a webhook": "/admin/webhooks" };
      for (const name of Object.keys(links)) await expect(steps.getByRole("link", { name })).toBeVisible();

      await new Api(page.request, docket.url, PROJECT).start("emulator:slow Check the quickstart");
      await steps.getByRole("link", { name: "Save a template" }).click();
      await page.getByLabel("Name").fill("Check a page");
      await page.getByLabel("Text").fill("Check {{page}}");
      await page.getByRole("button", { name: "Save template" }).click();
      await expect(page.getByText("Check a page").first()).toBeVisible();
      await goTo(page, at(""));
      await expect(steps.getByRole("heading")).toHaveText("Get started 2 of 4 done");
      await expect(steps.getByText("Start a job (done)")).toBeVisible();

      await steps.getByRole("link", { name: "Invite a person" }).click();
      await page.getByLabel("Username").fill("jonas");
      await page.getByRole("button", { name: "Create invite link" }).click();
      await expect(page.locator(".secret")).toBeVisible();
      // The last step is one line.
      await goTo(page, at(""));
      await expect(steps.getByRole("heading")).toHaveText("Get started 3 of 4 done");
      await expect(steps.getByRole("listitem")).toHaveCount(0);
      expect((await steps.boundingBox())?.height).toBeLessThan(40);
      await steps.getByRole("link", { name: "Add a webhook" }).click();
      await expect(page).toHaveURL("/admin/webhooks");
      await page.getByLabel("Address").fill("https://hooks.example/docket");
      await page.getByRole("button", { name: "Add webhook" }).click();
      await expect(page.locator(".secret")).toBeVisible();
      await goTo(page, at(""));
      await expect(section(page, "Needs attention")).toBeVisible();
      await expect(steps).toHaveCount(0);
    });
  });
}

test("readership is beside the lists from 1440 px, and states have full words", async ({ page, api }) => {
  const job = await api.start("emulator:fail Compare every code sample of the reference with the current SDK and fix what is wrong");
  await expect.poll(async () => (await api.job(job.id)).state, UNTIL_DONE).toBe("failed");
  for (const width of [1280, 1440, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(at(""));
    await interactive(page);
    const lists = await section(page, "Needs attention").boundingBox();
    const views = await section(page, "Page views, last 7 days").boundingBox();
    const isBeside = (views?.x ?? 0) >= (lists?.x ?? 0) + (lists?.width ?? 0);
    expect(isBeside, `${width} px`).toBe(width >= 1440);
    const cut = await page.locator(".job-row .badge > span").evaluateAll((words) =>
      words.filter((word) => word.scrollWidth > word.clientWidth).map((word) => word.textContent),
    );
    expect(cut, `${width} px`).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});

test("operator does not see the first steps of an installation", async ({ serve, visit }) => {
  const docket = await serve({ people: [olga] });
  const page = await visit(docket, { as: olga });
  await page.goto(at(""));
  await interactive(page);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await expect(page.getByRole("region", { name: "Get started" })).toHaveCount(0);
});

test("unknown outcome is explained once, with the repository's pull requests", async ({ serve, visit }) => {
  test.setTimeout(60_000);
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  await next(docket, "create", { kind: "accept-then-drop" });
  const alone = await api.start("Fix the first typo");
  await page.goto(at(`/jobs/${alone.id}`));
  await expect(page.getByText("Look for a new pull request before you decide")).toHaveCount(1);
  await expect(page.getByRole("link", { name: "Pull requests of the repository" }), "no pull request is known").toHaveCount(0);

  const finished = await api.start("emulator:pull-request Add an example");
  await expect.poll(async () => (await api.job(finished.id)).state, UNTIL_DONE).toBe("completed");
  const link = (await api.job(finished.id)).remote?.pr_link ?? "";
  await page.reload();
  await interactive(page);
  const requests = page.getByRole("link", { name: "Pull requests of the repository" });
  await expect(requests).toHaveAttribute("href", link.replace(/\/pull\/\d+$/, "/pulls"));
  await expect(page.getByText(/may or may not have/).filter({ visible: true })).toHaveCount(1);
});

test("phone shows two lines of a title, large check boxes", async ({ page, api }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const job = await api.start("Compare every code sample of the reference with the current SDK and fix what is wrong in all of them");
  await page.goto(at("/jobs"));
  await interactive(page);
  const title = page.locator(".job-row").filter({ has: badge(page, job.id) }).locator(".job-title");
  expect(await title.evaluate((shown) => shown.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(shown).lineHeight))).toBe(2);
  for (const path of ["/jobs", "/analytics"]) {
    await page.goto(at(path));
    await interactive(page);
    const boxes = page.getByRole("main").locator("input[type=checkbox]:visible");
    expect(await boxes.count()).toBeGreaterThan(0);
    for (const box of await boxes.all()) {
      const size = await box.boundingBox();
      expect(Math.min(size?.width ?? 0, size?.height ?? 0), path).toBeGreaterThanOrEqual(24);
    }
  }
});
