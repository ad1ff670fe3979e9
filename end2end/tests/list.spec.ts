/** The list of jobs: filters and search are in the URL, and the counts are correct. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, interactive, open, test } from "../fixtures/docket.ts";
import { Platform } from "../fixtures/platform.ts";

// Jobs of other tests would move the samples to the second page.
test.use({ demoFor: "list" });

const LIST = at("/jobs");

/** The rows of jobs, including folded ones. */
const rows = (page: Page) => page.getByRole("list", { name: "Jobs", exact: true }).locator(".job-row");
const menu = (page: Page, name: string) =>
  page.locator("details.filter-menu").filter({ has: page.locator("summary", { hasText: name }) });
/** An entry of an open menu. */
const entry = (page: Page, name: string) =>
  page.locator("details.filter-menu[open]").getByRole("link", { name: new RegExp(`^${name}( \\d|$)`) });
const applied = (page: Page) => page.getByRole("list", { name: "Applied filters" });
/** The chip that removes a filter. */
const removes = (page: Page, name: string) => applied(page).getByRole("link", { name: `Remove the filter ${name}`, exact: true });
async function choose(page: Page, of: string, name: string): Promise<void> {
  await menu(page, of).locator("summary").click();
  await entry(page, name).click();
}
const search = (page: Page) => page.getByRole("searchbox", { name: "Search jobs" });
/** A section of the overview. */
const group = (page: Page, name: string) =>
  page.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });

/** The row of one of the demonstration's jobs, which begins with this text. */
const sample = (page: Page, title: string) => rows(page).filter({ has: page.locator(".job-title", { hasText: title }) });
const SAMPLES = {
  quickstart: "Rewrite the quickstart so that a newcomer",
  authentication: "Check the authentication guide",
  webhooks: "Explain how to verify webhook signatures",
  diagrams: "Convert all diagrams",
  sdks: "Move the SDK pages",
  migration: "Write a migration guide from version 2 to version 3.",
  screenshots: "Add screenshots of the new Slack app",
  assistant: "Answer the five questions",
};

test("menu of states lists and counts only existing states", async ({ serve, visit }) => {
  const platform = await Platform.start();
  const docket = await serve({ environment: { DOCKET_UPSTREAM_URL: platform.url } });
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  for (const status of ["active", "completed", "completed", "completed", "failed", "failed"]) await api.start(status);
  const entries = page.getByRole("list", { name: "Filter by status" }).getByRole("link");
  const shown = async () => {
    await open(page, LIST);
    await menu(page, "Status").locator("summary").click();
    return (await entries.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
  };
  const rest = ["Needs attention 5", "Archived in Docket 0"];
  expect(await shown()).toEqual(["All 6", "Running 1", "Completed 3", "Completed, no changes 3", "Failed 2", ...rest]);
  await api.start("archived");
  expect(await shown()).toEqual(["All 7", "Running 1", "Completed 3", "Completed, no changes 3", "Archived 1", "Failed 2", ...rest]);
  await platform.stop();
});

const FILTERED = [
  ["failed", "Failed", SAMPLES.diagrams],
  ["rejected", "Rejected", SAMPLES.sdks],
  ["unknown", "Outcome unknown", SAMPLES.screenshots],
] as const;

for (const [state, name, title] of FILTERED) {
  test(`state ${name} filters the list until its chip is pressed`, async ({ page, api }) => {
    await open(page, LIST);
    await choose(page, "Status", name);
    await expect(page).toHaveURL(`${LIST}?status=${state}`);
    await expect(removes(page, name)).toBeVisible();
    const { jobs, counts } = await api.jobs({ status: state });
    await expect(rows(page)).toHaveCount(jobs.length);
    expect(jobs.length).toBe(counts[state]);
    for (const job of jobs) await expect(badge(page, job.id)).toHaveAttribute("data-status", state);
    await expect(sample(page, title), "the demonstration has one").toHaveCount(1);

    await page.reload();
    await interactive(page);
    await expect(rows(page)).toHaveCount(jobs.length);
    await removes(page, name).click();
    await expect(page).toHaveURL(LIST);
    await expect.poll(async () => rows(page).count()).toBeGreaterThan(jobs.length);
  });
}

test("search finds prompts and follow-ups, and is in the URL", async ({ page }) => {
  await open(page, LIST);
  const found = { "Legacy Tokens": SAMPLES.quickstart, "Clock Skew": SAMPLES.webhooks };
  for (const [text, title] of Object.entries(found)) {
    await search(page).fill(text);
    await search(page).press("Enter");
    await expect(page).toHaveURL(new RegExp(`/jobs\\?q=${text.replace(" ", "(\\+|%20)")}$`));
    await expect(rows(page)).toHaveCount(1);
    await expect(sample(page, title)).toBeVisible();
  }

  await search(page).fill("");
  await search(page).press("Enter");
  await expect(page).toHaveURL(LIST);
  await expect.poll(async () => rows(page).count()).toBeGreaterThan(1);
});

test("search takes wildcards literally", async ({ page }) => {
  for (const text of ["gu%de", "gu_de", "guide' OR '1", "gu!de", "<b>guide"]) {
    await open(page, `${LIST}?q=${encodeURIComponent(text)}`);
    await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
    await expect(search(page)).toHaveValue(text);
  }
  await page.getByRole("link", { name: "Show all jobs" }).click();
  await expect(page).toHaveURL(LIST);
  await expect(rows(page).first()).toBeVisible();
  await expect(search(page)).toHaveValue("");
});

test("state, search and author combine, and Back undoes each", async ({ page }) => {
  // Each of the three filters leaves out one of the jobs that the other two find.
  const { quickstart, migration, screenshots, authentication } = SAMPLES;
  const q = "new";
  const expectJobs = async (found: string[], others: string[]) => {
    for (const title of found) await expect(sample(page, title)).toHaveCount(1);
    for (const title of others) await expect(sample(page, title)).toHaveCount(0);
  };
  const searched = () => expectJobs([quickstart, migration, screenshots], [authentication]);
  const completed = () => expectJobs([quickstart, migration], [screenshots, authentication]);
  await open(page, LIST);
  await expectJobs([quickstart, migration, screenshots, authentication], []);
  await search(page).fill(q);
  await search(page).press("Enter");
  await expect(page).toHaveURL(`${LIST}?q=${q}`);
  await searched();

  await choose(page, "Status", "Completed");
  await expect(page).toHaveURL(`${LIST}?status=completed&q=${q}`);
  await completed();

  await choose(page, "Person", "jonas");
  await expect(page).toHaveURL(`${LIST}?status=completed&q=${q}&author=jonas`);
  await expect(applied(page).getByRole("listitem")).toHaveText([/Completed/, /new/, /By jonas/, "Clear all"]);
  await expect(rows(page).locator(".job-title")).toHaveText([migration]);

  await page.goBack();
  await expect(page).toHaveURL(`${LIST}?status=completed&q=${q}`);
  await completed();
  await expect(search(page)).toHaveValue(q);
  await page.goBack();
  await expect(page).toHaveURL(`${LIST}?q=${q}`);
  await searched();
  await page.goBack();
  await expect(page).toHaveURL(LIST);
  await expectJobs([quickstart, migration, screenshots, authentication], []);
  await expect(search(page)).toHaveValue("");
  await page.goForward();
  await expect(search(page)).toHaveValue(q);
});

test("author of a row links to all of their jobs", async ({ page }) => {
  await open(page, `${LIST}?status=completed&q=migration`);
  await sample(page, SAMPLES.migration).getByRole("link", { name: "jonas", exact: true }).click();
  await expect(page).toHaveURL(`${LIST}?author=jonas`);
  await expect(removes(page, "By jonas")).toBeVisible();
  const titles = rows(page).locator(".job-title");
  await expect(titles).toHaveText([/^Add a troubleshooting section/, SAMPLES.migration, /^Write the changelog/, /^Check the authentication/]);
});

test("search keeps the state and the author", async ({ page }) => {
  await open(page, `${LIST}?status=completed&author=jonas`);
  await search(page).fill("migration");
  await search(page).press("Enter");
  await expect(rows(page)).toHaveCount(1);
  const fields = Object.fromEntries(new URL(page.url()).searchParams);
  expect(fields).toEqual({ status: "completed", q: "migration", author: "jonas" });
  await removes(page, "By jonas").click();
  await expect(page).toHaveURL(`${LIST}?status=completed&q=migration`);
});

test("unknown filter has a message", async ({ page, trouble }) => {
  trouble.expects(/status of 400/);
  const response = await page.goto(`${LIST}?status=finished`);
  expect(response?.status()).toBe(400);
  await expect(page.getByRole("alert")).toContainText("That cannot be shown");
});

test("row links to job and pull request, with author", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
  await open(page, LIST);
  const row = rows(page).filter({ has: badge(page, job.id) });
  await expect(row).toContainText("/guides/migration");
  await expect(row).toContainText("+1");
  await expect(row.getByRole("link", { name: "jonas" })).toBeVisible();
  await expect(row.getByTitle("1 follow-up")).toBeVisible();
  await expect(row.locator("time")).toHaveText("2d");
  await expect(row.locator("time")).toHaveAttribute("title", /\d{4}/);
  await expect(row.getByRole("link", { name: "Pull request #256" })).toHaveAttribute(
    "href",
    new RegExp(`^http://127\\.0\\.0\\.1:\\d+/acme/${PROJECT}/pull/256$`),
  );
  await row.getByRole("link", { name: "Write a migration guide from version 2 to version 3." }).click();
  await expect(page).toHaveURL(`${LIST}/${job.id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Write a migration guide from version 2 to version 3.");
});

test("empty list shows the first step", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, LIST);
  await expect(page.getByRole("heading", { name: "No jobs yet" })).toBeVisible();
  await page.getByRole("link", { name: "Start with an example" }).click();
  await expect(page.getByLabel("Prompt")).toHaveValue(/^Check the quickstart/);
  await open(page, at(""));
  await expect(page.getByRole("heading", { name: "No jobs yet" })).toBeVisible();
});

test("older jobs are on further pages, each job on one", async ({ serve, visit, playwright }) => {
  test.setTimeout(60_000);
  const docket = await serve();
  const request = await playwright.request.newContext({ storageState: docket.session });
  const api = new Api(request, docket.url, PROJECT);
  const prompts = Array.from({ length: 53 }, (_, at) => `Job number ${at + 1}`);
  for (const prompt of prompts) await api.start(prompt);
  await request.dispose();

  const page = await visit(docket, { storageState: docket.session });
  const titles = () => rows(page).locator(".job-title").allTextContents();
  await open(page, LIST);
  await expect(rows(page)).toHaveCount(50);
  const newest = await titles();
  await expect(page.getByText("1–50 of 53 jobs")).toBeVisible();
  await page.getByRole("link", { name: "Older" }).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(page).toHaveURL(/\?cursor=/);
  expect([...newest, ...(await titles())]).toEqual(prompts.toReversed());
  await expect(page.getByRole("link", { name: "Older" })).toHaveCount(0);
  await page.getByRole("navigation", { name: "Pages of the list" }).getByRole("link", { name: "Newest" }).click();
  await expect(page).toHaveURL(LIST);
  await expect(rows(page)).toHaveCount(50);

  const matching = page.getByRole("checkbox", { name: "Select all 53 that match" });
  const first = rows(page).first().getByRole("checkbox");
  await first.check();
  await matching.check();
  await expect(page.getByText("53 selected")).toBeVisible();
  await first.uncheck();
  await expect(page.getByText("49 selected"), "the others of the page").toBeVisible();
  await expect(matching).not.toBeChecked();
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await expect(page.getByText("50 selected")).toBeVisible();
  await matching.check();
  await page.getByRole("button", { name: "Archive" }).click();
  await expect(page.getByText("53 jobs archived")).toBeVisible();
  await expect(page.getByRole("heading", { name: "No jobs yet" })).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(rows(page)).toHaveCount(50);
});

test("overview lists running, waiting and finished jobs", async ({ page, api }) => {
  const running = await api.start("emulator:slow Keep the overview busy");
  await open(page, at(""));
  await expect(badge(group(page, "Running now"), running.id)).toHaveAttribute("data-status", "active");
  // The page shows the newest jobs, and jobs finish all the time.
  await expect(async () => {
    const needing = await api.jobs({ needs: "attention" });
    const changed = await api.jobs({ pr: "yes", sort: "changed" });
    const finished = changed.jobs.filter(({ state }) => state === "completed" || state === "archived");
    expect(finished.length, "finished jobs").toBeGreaterThan(0);
    await open(page, at(""));
    expect(needing.jobs.length, "jobs that need attention").toBeGreaterThan(0);
    for (const job of needing.jobs.slice(0, 5)) {
      await expect(badge(group(page, "Needs attention"), job.id)).toHaveAttribute("data-status", job.state, { timeout: 1_000 });
    }
    for (const job of finished.slice(0, 3)) {
      await expect(badge(group(page, "Recently finished"), job.id)).toHaveAttribute("data-status", job.state, { timeout: 1_000 });
    }
  }).toPass();
  await page.getByRole("link", { name: "All jobs" }).click();
  await expect(page).toHaveURL(LIST);
});

test("many newer jobs remove nothing from the overview", async ({ serve, visit }) => {
  test.setTimeout(60_000);
  const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "10" } });
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  const finished = await api.start("emulator:pull-request Done before the crowd came");
  await expect.poll(async () => (await api.job(finished.id)).state, UNTIL_DONE).toBe("completed");
  for (let at = 0; at < 9; at++) await api.start(`emulator:slow Running ${at}`);
  for (let at = 0; at < 45; at++) await api.start(`Waiting ${at}`, { queue: "on" });

  await open(page, at(""));
  await expect(badge(group(page, "Recently finished"), finished.id)).toHaveAttribute("data-status", "completed");
  await expect(group(page, "Running now").getByRole("listitem")).toHaveCount(8);
  await expect(page.getByRole("main").getByRole("link", { name: "45 prompts queued" })).toHaveAttribute("href", at("/queue"));
  await group(page, "Running now").getByRole("link", { name: "Show all 9" }).click();
  await expect(page).toHaveURL(`${LIST}?status=active`);
  await expect(rows(page)).toHaveCount(9);
});

test("filters and orders are in the URL; list has totals", async ({ page, api }) => {
  await open(page, LIST);
  await choose(page, "Status", "Needs attention");
  await expect(page).toHaveURL(`${LIST}?needs=attention`);
  const needing = await api.jobs({ needs: "attention" });
  await expect(rows(page)).toHaveCount(needing.jobs.length);
  await expect(page.getByText(`${needing.total} jobs`, { exact: true })).toBeVisible();
  await removes(page, "Needs attention").click();
  await expect(page).toHaveURL(LIST);
  await menu(page, "Sort: ").locator("summary").click();
  await page.getByRole("list", { name: "Sort" }).getByRole("link", { name: "Oldest" }).click();
  await expect(page).toHaveURL(`${LIST}?sort=oldest`);
  const first = rows(page).first().locator(".job-title");
  await expect(first).toContainText(SAMPLES.quickstart);
  await choose(page, "Pull request", "With pull request");
  await expect(page).toHaveURL(`${LIST}?pr=yes&sort=oldest`);
  await expect(first).toContainText(SAMPLES.quickstart);
  await expect(sample(page, SAMPLES.authentication)).toHaveCount(0);
  await choose(page, "Pull request", "Without pull request");
  await expect(page).toHaveURL(`${LIST}?pr=no&sort=oldest`);
  await expect(first).toContainText(SAMPLES.authentication);
  await choose(page, "Status", "Failed");
  await applied(page).getByRole("link", { name: "Clear all" }).click();
  await expect(page, "the order is no filter").toHaveURL(`${LIST}?sort=oldest`);
});

test("filter menus begin with Me, and typing finds other entries", async ({ page, api, person }) => {
  await open(page, `${LIST}?sort=oldest`);
  await menu(page, "Person").locator("summary").click();
  await expect(page.getByRole("list", { name: "Filter by person" }).getByRole("link").first()).toHaveText(/^Me/);
  await entry(page, "Me").click();
  await expect(page).toHaveURL(`${LIST}?author=${person.username}&sort=oldest`);
  await removes(page, `By ${person.username}`).click();
  await expect(page).toHaveURL(`${LIST}?sort=oldest`);

  const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
  await menu(page, "Page").locator("summary").click();
  const typed = page.getByRole("textbox", { name: "Page" });
  await typed.fill("migra");
  await expect(page.getByRole("list", { name: "Filter by page" }).getByRole("link")).toHaveText([/\/guides\/migration/]);
  await typed.press("Enter");
  await expect(badge(page, job.id)).toBeVisible();
  await choose(page, "Person", "jonas");
  const fields = Object.fromEntries(new URL(page.url()).searchParams);
  expect(fields).toEqual({ tag: "/guides/migration", author: "jonas", sort: "oldest" });
});

for (const javaScriptEnabled of [true, false]) {
  test(`applied status is marked in its menu ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo, person }) => {
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    for (const [query, isOn] of [["", false], ["?status=failed", true], ["?needs=attention", true], ["?author=jonas", false]] as const) {
      await page.goto(at(`/jobs${query}`));
      if (javaScriptEnabled) await interactive(page);
      const status = menu(page, "Status");
      if (isOn) await expect(status, query).toHaveClass(/filter-menu-on/);
      else await expect(status, query).not.toHaveClass(/filter-menu-on/);
    }
  });
}

test("tag keeps its capitals, and is marked in any case", async ({ page, api }) => {
  const word = `Tag-${randomUUID().slice(0, 8)}`;
  const { id } = await api.start("emulator:slow Keep the capitals");
  await open(page, at(`/jobs/${id}`));
  await page.getByLabel("New tag").fill(word);
  await page.getByRole("button", { name: "Add tag" }).click();
  await expect(page.getByRole("link", { name: word, exact: true })).toBeVisible();
  await open(page, at("/jobs"));
  await choose(page, "Tag", word);
  await expect(page).toHaveURL(at(`/jobs?tag=${word}`));
  await expect(badge(page, id)).toBeVisible();
  await open(page, at(`/jobs?tag=${word.toLowerCase()}`));
  await expect(badge(page, id)).toBeVisible();
  await menu(page, "Tag").locator("summary").click();
  await expect(entry(page, word)).toHaveAttribute("aria-current", "true");
});

test("menu closes with Escape or outside; letters move in it", async ({ page }) => {
  await open(page, LIST);
  const status = menu(page, "Status").locator("summary");
  await status.press("Enter");
  await page.keyboard.press("f");
  await expect(entry(page, "Failed")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(status).toBeFocused();
  await expect(menu(page, "Status")).not.toHaveAttribute("open");
  await status.click();
  await page.getByRole("heading", { name: "Jobs", level: 1 }).click();
  await expect(menu(page, "Status")).not.toHaveAttribute("open");

  await page.keyboard.press("/");
  await expect(search(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(search(page)).not.toBeFocused();
  await page.keyboard.press("j");
  await expect(rows(page).first().locator(".job-title")).toBeFocused();
});

test("back from a job, its row has the focus", async ({ page }) => {
  await open(page, LIST);
  const title = rows(page).nth(2).locator(".job-title");
  await title.focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/jobs\/[0-9a-f-]{20,}$/);
  await page.goBack();
  await interactive(page);
  await expect(title).toBeFocused();
});

test("two skip links lead to the list and the search", async ({ page }) => {
  await open(page, LIST);
  await page.locator("main").focus();
  await page.keyboard.press("Tab");
  const skip = page.getByRole("link", { name: "Skip to the list" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(rows(page).first().locator(":focus")).toHaveCount(1);
  await page.locator("main").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(search(page)).toBeFocused();
});

test("matches of a search are marked with an excerpt", async ({ page, api }) => {
  const far = `emulator:slow ${"Nothing to see here yet. ".repeat(20)}Then the ztopic appears.`;
  const near = await api.start("emulator:slow Rewrite the ztopic page");
  const job = await api.start(far);
  const followed = await api.start("emulator:slow Something else");
  await api.follow(followed.id, "And mention the ztopic too");
  await open(page, `${LIST}?q=ztop`);
  await expect(rows(page)).toHaveCount(3);
  for (const id of [near.id, job.id, followed.id]) {
    await expect(rows(page).filter({ has: badge(page, id) }).locator("mark")).toHaveText(["ztop"]);
  }
  const row = rows(page).filter({ has: badge(page, job.id) });
  await expect(row.locator(".job-excerpt")).toHaveText(/^….{0,30}Then the ztopic appears\.$/);
  const box = await row.locator("mark").boundingBox();
  const whole = await row.boundingBox();
  expect((box?.x ?? 0) + (box?.width ?? 0), "in sight").toBeLessThan((whole?.x ?? 0) + (whole?.width ?? 0));
});

test("jobs of a batch are one row that opens", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  const batch = await api.batch("emulator:pull-request Add samples to {{page}}", ["/a", "/b", "/c"]);
  const single = await api.start("emulator:slow By itself");
  await open(page, LIST);
  const row = page.locator(".batch-row");
  await expect(row.locator("summary")).toContainText("emulator:pull-request Add samples to a page · 3 pages");
  await expect(row.locator("summary")).toContainText(/\d of 3/);
  await expect(page.getByRole("list", { name: "Jobs", exact: true }).getByRole("listitem")).toHaveCount(2);
  await expect(badge(page, single.id)).toBeVisible();
  await row.locator("summary").click();
  await expect(row.locator(".job-row")).toHaveCount(3);
  await expect(row.locator(".job-title").first()).toBeVisible();
  await row.getByRole("link", { name: "Open the batch" }).click();
  await expect(page).toHaveURL(at(`/batches/${batch}`));
});

test("filtered batch counts all jobs, and matches are visible", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  const batch = await api.batch("emulator:pull-request Add samples to {{page}}", ["/a", "/b", "/c"]);
  await expect.poll(async () => (await api.jobs({ status: "completed" })).total, UNTIL_DONE).toBe(3);
  const { jobs } = await api.jobs();
  for (const job of jobs.slice(0, 2)) await api.tag(job.id, "release");
  const row = page.locator(".batch-row");
  await open(page, `${LIST}?pr=yes`);
  await expect(row.locator(".batch-facts")).toHaveText("· 3 of 3 sent · 3 finished");
  await expect(rows(page).first()).toBeHidden();
  await open(page, `${LIST}?tag=release`);
  await expect(row.locator(".batch-facts")).toHaveText("· 3 of 3 sent · 3 finished · 2 on this page");
  await row.locator("summary").click();
  await expect(row.locator(".job-row").filter({ visible: true })).toHaveCount(2);
  await expect(row.getByRole("link", { name: "Open the batch with all 3 jobs" })).toHaveAttribute("href", at(`/batches/${batch}`));
  await open(page, `${LIST}?tag=/c`);
  await expect(row, "one row needs no fold").toHaveCount(0);
  await expect(rows(page)).toHaveCount(1);
  await open(page, `${LIST}?q=samples`);
  await expect(row.locator(".job-row").filter({ visible: true })).toHaveCount(3);
  // Also when the list is searched in place.
  await open(page, LIST);
  await expect(rows(page).first()).toBeHidden();
  await page.getByRole("searchbox", { name: "Search jobs" }).pressSequentially("samples");
  await expect(page).toHaveURL(/q=samples/);
  await expect(row.locator(".job-row").filter({ visible: true })).toHaveCount(3);
});

const top = (page: Page) => rows(page).first().evaluate((row) => row.getBoundingClientRect().top);

// Applied filters have a row of their own, on a phone too.
for (const [width, height, first, filtered] of [[1280, 800, 170, 206], [390, 844, 260, 310]] as const) {
  test(`at ${width} px filters and saved views use one row each`, async ({ page, api }) => {
    await page.setViewportSize({ width, height });
    const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
    await api.tag(job.id, "release");
    const filters = `status=completed&q=write%20a%20migration%20guide%20from%20version&author=jonas&tag=/guides/migration&pr=yes`;
    await open(page, `${LIST}?${filters}`);
    await page.getByText("Save this view").click();
    await page.getByLabel("Name").fill("A view with quite a long name");
    await page.getByRole("button", { name: "Save view" }).click();
    await expect(page.getByText("View saved")).toBeVisible();
    for (const [at, name] of ["Another one that is long", "And yet another view", "The last of them all", "One more"].entries()) {
      await open(page, `${LIST}?${filters.replace("version", `version%20${at}`)}`);
      await page.getByText("Save this view").click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Save view" }).click();
      await expect(page.getByText("View saved")).toBeVisible();
    }
    const searchWidth = () => page.locator("form.search").evaluate((form) => form.getBoundingClientRect().width);
    await open(page, LIST);
    expect(await top(page)).toBeLessThanOrEqual(first);
    const unfiltered = await searchWidth();
    await open(page, `${LIST}?${filters}`);
    await expect(rows(page)).toHaveCount(1);
    expect(await top(page)).toBeLessThanOrEqual(filtered);
    expect(await searchWidth()).toBe(unfiltered);
    await applied(page).getByRole("link", { name: "Clear all" }).focus();
    await expect(applied(page).getByRole("link", { name: "Clear all" })).toBeInViewport();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBe(0);
  });

  test(`queued prompts do not move the first job, ${width} px`, async ({ serve, visit }) => {
    const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1" } });
    const page = await visit(docket, { storageState: docket.session, viewport: { width, height } });
    const api = new Api(page.request, docket.url, PROJECT);
    await api.start("emulator:slow The one of this hour");
    for (let at = 0; at < 3; at++) await api.start(`Waits ${at}`, { queue: "on" });
    await open(page, LIST);
    await expect(rows(page)).toHaveCount(4);
    expect(await top(page)).toBeLessThanOrEqual(first);
  });
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`views and dates with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });

    test("tabs show jobs that need attention, run, or are mine", async ({ page, api, person }) => {
      const running = await api.start("emulator:slow Run while the tabs are read");
      const tabs = page.getByRole("list", { name: "Views", exact: true }).getByRole("link");
      await page.goto(LIST);
      await expect(tabs).toHaveText(["All", "Needs attention", "Running", "Mine"]);
      await expect(tabs.first()).toHaveAttribute("aria-current", "true");
      for (const [name, query] of [["Needs attention", "needs=attention"], ["Running", "status=active"], ["Mine", `author=${person.username}`]] as const) {
        await tabs.filter({ hasText: name }).click();
        await expect(page).toHaveURL(`${LIST}?${query}`);
        await expect(tabs.filter({ hasText: name })).toHaveAttribute("aria-current", "true");
        await expect(tabs.first()).not.toHaveAttribute("aria-current");
      }
      await expect(badge(page, running.id)).toBeVisible();
      await page.goto(`${LIST}?sort=oldest`);
      await tabs.filter({ hasText: "Running" }).click();
      await expect(page).toHaveURL(`${LIST}?status=active&sort=oldest`);
    });

    test("date limits the list to days, presets move with today", async ({ page, api }) => {
      const job = await api.start("Say on which day it was");
      const today = new Date().toISOString().slice(0, 10);
      const date = page.locator("summary", { hasText: /^Date/ });
      await page.goto(LIST);
      if (javaScriptEnabled) await interactive(page);
      await date.click();
      await page.getByRole("list", { name: "Filter by date" }).getByRole("link", { name: "Last 7 days" }).click();
      await expect(page).toHaveURL(`${LIST}?from=7d`);
      await expect(removes(page, "Last 7 days")).toBeVisible();
      await expect(badge(page, job.id)).toBeVisible();
      if (javaScriptEnabled) await interactive(page);
      await date.click();
      await page.getByLabel("From", { exact: true }).fill("2020-01-01");
      await page.getByLabel("To", { exact: true }).fill("2020-01-31");
      // Enter filters, too: it opens no preset.
      await page.getByLabel("To", { exact: true }).press("Enter");
      await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
      await expect(removes(page, "From Jan 1, 2020")).toBeVisible();
      await removes(page, "Until Jan 31, 2020").click();
      await expect(page).toHaveURL(`${LIST}?from=2020-01-01`);
      await page.goto(`${LIST}?from=${today}&to=${today}&q=${encodeURIComponent("on which day")}`);
      await expect(badge(page, job.id)).toBeVisible();
      await page.goto(`${LIST}?from=${today}&to=2020-01-01`);
      await expect(page.getByText("The first day must not be after the last one.")).toBeVisible();
    });
  });
}

for (const [width, height, first] of [[1280, 800, 170], [390, 844, 260]] as const) {
  test(`at ${width} px the first job is visible without scrolling`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await open(page, LIST);
    const top = await rows(page).first().evaluate((row) => row.getBoundingClientRect().top);
    expect(top).toBeLessThanOrEqual(first);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBe(0);
  });
}

test("row has 40 px and 65 characters, optionally 56 px", async ({ page, api }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const text = "Compare every code sample of the reference with the current SDK, fix what is wrong and list what is missing";
  const job = await api.start(`${text} /concepts/limits /concepts/agents`);
  await open(page, LIST);
  const row = rows(page).filter({ has: badge(page, job.id) });
  const shown = () =>
    row.locator(".job-title").evaluate((title) => {
      const right = title.getBoundingClientRect().right;
      const walker = document.createTreeWalker(title, NodeFilter.SHOW_TEXT);
      const node = walker.nextNode() as Text;
      const range = document.createRange();
      let count = 0;
      for (let at = 0; at < node.length; at++) {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        if (range.getBoundingClientRect().right <= right) count += 1;
      }
      return count;
    });
  expect(await shown()).toBeGreaterThanOrEqual(65);
  const heights = () => rows(page).evaluateAll((rows) => [...new Set(rows.slice(1).map((row) => row.getBoundingClientRect().height))]);
  expect(await heights()).toEqual([40]);
  await menu(page, "Sort: ").locator("summary").click();
  await page.getByRole("button", { name: "Row height: comfortable / compact" }).click();
  expect(await heights()).toEqual([56]);
  await open(page, LIST);
  expect(await heights(), "stored for the next page").toEqual([56]);
});

test("on a phone the filters are one sheet", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, LIST);
  await expect(menu(page, "Status")).toBeHidden();
  await page.getByRole("button", { name: "Filters" }).click();
  await choose(page, "Status", "Failed");
  await expect(page).toHaveURL(`${LIST}?status=failed`);
  await expect(page.getByRole("button", { name: "Filters 1" })).toBeVisible();
  await removes(page, "Failed").click();
  await expect(page).toHaveURL(LIST);
});

test("page of the documentation links to all jobs about it", async ({ page }) => {
  await open(page, LIST);
  await expect(sample(page, SAMPLES.assistant)).toBeVisible();
  await sample(page, SAMPLES.quickstart).getByRole("link", { name: "/quickstart" }).click();
  await expect(page).toHaveURL(`${LIST}?tag=/quickstart`);
  await expect(sample(page, SAMPLES.assistant)).toHaveCount(0);
  for (const title of [SAMPLES.quickstart, SAMPLES.migration]) await expect(sample(page, title)).toBeVisible();
  await removes(page, "/quickstart").click();
  await expect(page).toHaveURL(LIST);
  await expect(sample(page, SAMPLES.assistant)).toBeVisible();
});
