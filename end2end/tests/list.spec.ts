/** The list of jobs: filters and search are in the address, and the counts are correct. */
import type { Page } from "@playwright/test";
import { Api, type State } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, interactive, open, test } from "../fixtures/docket.ts";

const LIST = at("/jobs");

const rows = (page: Page) => page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
const chip = (page: Page, name: string) =>
  page.getByRole("list", { name: "Filter by state" }).getByRole("link", { name: new RegExp(`^${name} `) });
const search = (page: Page) => page.getByRole("searchbox", { name: "Search jobs" });
/** A section of the overview. */
const group = (page: Page, name: string) =>
  page.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });

const NAMES: Partial<Record<State, string>> = {
  active: "Active",
  completed: "Completed",
  failed: "Failed",
  rejected: "Rejected",
  unknown: "Unknown",
};

test("the chips count what there is, and only what there is", async ({ page, api }) => {
  await open(page, LIST);
  await expect(async () => {
    const { counts } = await api.jobs();
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    await expect(chip(page, "All").locator(".count")).toHaveText(String(total), { timeout: 100 });
    for (const [state, name] of Object.entries(NAMES)) {
      const count = counts[state as State] ?? 0;
      await expect(chip(page, name).filter({ visible: true })).toHaveCount(count > 0 ? 1 : 0, { timeout: 100 });
      if (count > 0) await expect(chip(page, name).locator(".count")).toHaveText(String(count), { timeout: 100 });
    }
  }).toPass();
  await expect(chip(page, "Archived").filter({ visible: true })).toHaveCount(0);
});

for (const [state, name] of [["failed", "Failed"], ["rejected", "Rejected"], ["unknown", "Unknown"]] as const) {
  test(`the chip ${name} shows those jobs alone, and lifts the filter when it is chosen again`, async ({ page, api }) => {
    await open(page, LIST);
    await chip(page, name).click();
    await expect(page).toHaveURL(`${LIST}?status=${state}`);
    await expect(chip(page, name)).toHaveAttribute("aria-current", "true");
    const { jobs, counts } = await api.jobs({ status: state });
    await expect(rows(page)).toHaveCount(jobs.length);
    expect(jobs.length).toBe(counts[state]);
    for (const job of jobs) await expect(badge(page, job.id)).toHaveAttribute("data-status", state);

    await page.reload();
    await interactive(page);
    await expect(rows(page)).toHaveCount(jobs.length);
    await chip(page, name).click();
    await expect(page).toHaveURL(LIST);
    await expect.poll(async () => rows(page).count()).toBeGreaterThan(jobs.length);
  });
}

test("the search finds texts in prompts and follow-ups, and stands in the address", async ({ page, api }) => {
  await open(page, LIST);
  await search(page).fill("Clock Skew");
  await search(page).press("Enter");
  await expect(page).toHaveURL(/\/jobs\?q=Clock(\+|%20)Skew$/);
  await expect(rows(page)).toHaveCount(1);
  const job = await api.jobThat((job) => job.follow_ups.some(({ prompt }) => prompt.includes("clock skew")));
  await expect(badge(page, job.id)).toBeVisible();

  await search(page).fill("");
  await search(page).press("Enter");
  await expect(page).toHaveURL(LIST);
  await expect.poll(async () => rows(page).count()).toBeGreaterThan(1);
});

test("a search is no pattern", async ({ page }) => {
  for (const text of ["gu%de", "gu_de", "guide' OR '1", "gu!de", "<b>guide"]) {
    await open(page, `${LIST}?q=${encodeURIComponent(text)}`);
    await expect(page.getByRole("heading", { name: "No job matches" })).toBeVisible();
    await expect(search(page)).toHaveValue(text);
  }
  await page.getByRole("link", { name: "Show all jobs" }).click();
  await expect(page).toHaveURL(LIST);
  await expect(rows(page).first()).toBeVisible();
  await expect(search(page)).toHaveValue("");
});

test("state, search and author narrow the list together, and the back button undoes them one by one", async ({ page, api }) => {
  // None of the jobs found is active: a job that ends meanwhile would change the counts.
  const q = "version";
  await open(page, LIST);
  const all = await rows(page).count();
  await search(page).fill(q);
  await search(page).press("Enter");
  await expect(page).toHaveURL(`${LIST}?q=${q}`);
  const found = await api.jobs({ q });
  expect(found.counts.active ?? 0).toBe(0);
  await expect(rows(page)).toHaveCount(found.jobs.length);

  await chip(page, "Completed").click();
  await expect(page).toHaveURL(`${LIST}?status=completed&q=${q}`);
  const completed = await api.jobs({ q, status: "completed" });
  await expect(rows(page)).toHaveCount(completed.jobs.length);

  const author = completed.jobs[0]?.author ?? "";
  await rows(page).first().getByRole("link", { name: author, exact: true }).click();
  await expect(page).toHaveURL(`${LIST}?author=${author}`);
  await expect(page.getByText(`Started by ${author}`)).toBeVisible();
  const theirs = await api.jobs({ author });
  await expect(rows(page)).toHaveCount(theirs.jobs.length);

  await page.goBack();
  await expect(page).toHaveURL(`${LIST}?status=completed&q=${q}`);
  await expect(rows(page)).toHaveCount(completed.jobs.length);
  await expect(search(page)).toHaveValue(q);
  await page.goBack();
  await expect(page).toHaveURL(`${LIST}?q=${q}`);
  await expect(rows(page)).toHaveCount(found.jobs.length);
  await page.goBack();
  await expect(page).toHaveURL(LIST);
  await expect(rows(page)).toHaveCount(all);
  await expect(search(page)).toHaveValue("");
  await page.goForward();
  await expect(search(page)).toHaveValue(q);
});

test("a search keeps the state and the author", async ({ page }) => {
  await open(page, `${LIST}?status=completed&author=jonas`);
  await search(page).fill("migration");
  await search(page).press("Enter");
  await expect(rows(page)).toHaveCount(1);
  const fields = Object.fromEntries(new URL(page.url()).searchParams);
  expect(fields).toEqual({ status: "completed", q: "migration", author: "jonas" });
  await page.getByRole("link", { name: "show everyone’s" }).click();
  await expect(page).toHaveURL(`${LIST}?status=completed&q=migration`);
});

test("a filter that does not exist is said to be none", async ({ page, trouble }) => {
  trouble.expects(/status of 400/);
  const response = await page.goto(`${LIST}?status=finished`);
  expect(response?.status()).toBe(400);
  await expect(page.getByRole("alert")).toContainText("That cannot be shown");
});

test("a row leads to its job and its pull request, and says who, when and about which page", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
  await open(page, LIST);
  const row = rows(page).filter({ has: badge(page, job.id) });
  await expect(row).toContainText("/guides/migration");
  await expect(row).toContainText("+1");
  await expect(row.getByRole("link", { name: "jonas" })).toBeVisible();
  await expect(row.getByTitle("1 follow-up")).toBeVisible();
  await expect(row.locator("time")).toHaveText("2 d ago");
  await expect(row.locator("time")).toHaveAttribute("title", /\d{4}/);
  await expect(row.getByRole("link", { name: "Pull request #256" })).toHaveAttribute(
    "href",
    `https://git.example/acme/${PROJECT}/pull/256`,
  );
  await row.getByRole("link", { name: "Write a migration guide from version 2 to version 3." }).click();
  await expect(page).toHaveURL(`${LIST}/${job.id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Write a migration guide from version 2 to version 3.");
});

test("an empty list teaches the first step", async ({ serve, visit }) => {
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
  await expect(chip(page, "All").locator(".count")).toHaveText("53");
  await page.getByRole("link", { name: "Older" }).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(page).toHaveURL(/\?cursor=/);
  expect([...newest, ...(await titles())]).toEqual(prompts.toReversed());
  await expect(page.getByRole("link", { name: "Older" })).toHaveCount(0);
  await page.getByRole("navigation", { name: "Pages of the list" }).getByRole("link", { name: "Newest" }).click();
  await expect(page).toHaveURL(LIST);
  await expect(rows(page)).toHaveCount(50);
});

test("the overview says what runs, what needs a person and what finished", async ({ page, api }) => {
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

test("many newer jobs push nothing off the overview", async ({ serve, visit }) => {
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
  await expect(page.getByRole("main").getByRole("link", { name: "45 prompts wait to be sent" })).toHaveAttribute("href", at("/queue"));
  await group(page, "Running now").getByRole("link", { name: "Show all 9" }).click();
  await expect(page).toHaveURL(`${LIST}?status=active`);
  await expect(rows(page)).toHaveCount(9);
});

test("switches and orders stand in the address, and the list says how much it holds", async ({ page, api }) => {
  await open(page, LIST);
  const more = page.getByRole("list", { name: "More filters" });
  const { attention } = await api.jobs();
  await expect(more.getByRole("link", { name: `Needs attention ${attention}` })).toBeVisible();
  await more.getByRole("link", { name: /^Needs attention/ }).click();
  await expect(page).toHaveURL(`${LIST}?needs=attention`);
  const needing = await api.jobs({ needs: "attention" });
  await expect(rows(page)).toHaveCount(needing.jobs.length);
  await expect(page.getByText(`${needing.total} jobs`, { exact: true })).toBeVisible();
  await more.getByRole("link", { name: /^Needs attention/ }).click();
  await more.getByRole("link", { name: "With pull request" }).click();
  await expect(page).toHaveURL(`${LIST}?pr=yes`);
  await more.getByRole("link", { name: "Without pull request" }).click();
  await expect(page).toHaveURL(`${LIST}?pr=no`);
  await page.getByRole("navigation", { name: "Order" }).getByRole("link", { name: "Oldest" }).click();
  await expect(page).toHaveURL(`${LIST}?pr=no&sort=oldest`);
  const oldest = await api.jobs({ pr: "no", sort: "oldest" });
  await expect(rows(page).first().locator("[data-job]")).toHaveAttribute("data-job", oldest.jobs[0]?.id ?? "");
});

test("one's own jobs are a chip, and any page, tag or person can be asked for", async ({ page, api, person }) => {
  await open(page, `${LIST}?sort=oldest`);
  const mine = page.getByRole("list", { name: "More filters" }).getByRole("link", { name: "Mine" });
  await mine.click();
  await expect(page).toHaveURL(`${LIST}?author=${person.username}&sort=oldest`);
  await expect(mine).toHaveAttribute("aria-current", "true");
  await mine.click();
  await expect(page).toHaveURL(`${LIST}?sort=oldest`);

  const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
  await page.getByText("By page, tag or person").click();
  await page.getByLabel("Page or tag").fill("/guides/migration");
  await page.getByLabel("Person", { exact: true }).fill("jonas");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await expect(page.getByText("Started by jonas")).toBeVisible();
  await expect(badge(page, job.id)).toBeVisible();
  const fields = Object.fromEntries(new URL(page.url()).searchParams);
  expect(fields).toEqual({ tag: "/guides/migration", author: "jonas", sort: "oldest" });
});

test("a page of the documentation leads to all jobs about it", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
  await open(page, LIST);
  await rows(page).filter({ has: badge(page, job.id) }).getByRole("link", { name: "/guides/migration" }).click();
  await expect(page).toHaveURL(`${LIST}?tag=/guides/migration`);
  await expect(badge(page, job.id)).toBeVisible();
  await page.getByRole("link", { name: "show all tags" }).click();
  await expect(page).toHaveURL(LIST);
});
