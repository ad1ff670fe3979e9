/** The search finds a job by its names: pull request, platform id, branch, author and tag. The list and the palette search while typing. */
import type { Page } from "@playwright/test";
import { UNTIL_DONE, at, badge, delay, expect, open, opener, test } from "../fixtures/docket.ts";
import type { Api, Job } from "../fixtures/api.ts";

const search = (page: Page) => page.getByRole("searchbox", { name: "Search jobs" });
const rows = (page: Page) => page.getByRole("list", { name: "Jobs", exact: true }).locator(".job-row");
const palette = (page: Page) => page.getByRole("dialog", { name: "Command palette" });

/** A job of this test with a pull request, and all of its names. */
async function named(api: Api): Promise<{ job: Job; number: string; names: string[] }> {
  const { id } = await api.start("emulator:pull-request Describe the search");
  const tag = `Tag ${Math.random().toString(36).slice(2)}`;
  await api.tag(id, tag);
  await expect.poll(async () => (await api.job(id)).remote?.pr_link, UNTIL_DONE).toBeTruthy();
  const job = await api.job(id);
  const number = job.remote?.pr_link?.split("/").at(-1) ?? "";
  const names = [`#${number}`, number, job.remote?.id ?? "", job.remote?.ref ?? "", job.author, tag, tag.toUpperCase()];
  expect(names).not.toContain("");
  return { job, number, names };
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });
    const goTo = opener(javaScriptEnabled);


    test("list finds a job by each of its names", async ({ page, api }) => {
      test.setTimeout(60_000);
      const { job, number, names } = await named(api);
      for (const name of names) {
        await goTo(page, at("/jobs"));
        await search(page).fill(name);
        await search(page).press("Enter");
        await expect(page).toHaveURL((url) => url.searchParams.get("q") === name);
        await expect(badge(page, job.id), name).toHaveCount(1);
        expect(await rows(page).count(), "others are not found").toBeLessThan(20);
      }
      const { jobs } = await api.jobs({ q: `#${number}` });
      expect(jobs.map(({ id }) => id)).toEqual([job.id]);
    });

    test("row shows the matching branch or id", async ({ page, api }) => {
      test.setTimeout(60_000);
      const { job } = await named(api);
      for (const [what, name] of [["Branch", job.remote?.ref], ["Platform id", job.remote?.id]]) {
        await goTo(page, at(`/jobs?q=${encodeURIComponent(name ?? "")}`));
        await expect(rows(page)).toHaveCount(1);
        await expect(rows(page).locator(".job-excerpt")).toHaveText(`${what} ${name}`);
      }
    });
  });
}

test("palette finds job by its names, before jobs with words", async ({ page, api }) => {
  test.setTimeout(60_000);
  const { job, number, names } = await named(api);
  for (let n = 0; n < 9; n++) await api.start(`emulator:slow Mention ${number} and ${job.remote?.ref}`);
  await open(page, at("/templates"));
  for (const name of names.filter((name) => name !== job.author)) {
    await page.keyboard.press("Control+k");
    await palette(page).getByRole("combobox").fill(name);
    const first = palette(page).getByRole("group", { name: "Jobs" }).getByRole("option").first();
    await expect(first, name).toHaveAttribute("href", at(`/jobs/${job.id}`));
    await page.keyboard.press("Escape");
    await expect(palette(page)).toBeHidden();
  }
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").fill(job.author);
  await expect(palette(page).getByRole("group", { name: "Jobs" }).getByRole("option").first()).toContainText(job.author);
});

test("list searches after typing, keeps the focus, and Back undoes", async ({ page, api }) => {
  test.setTimeout(60_000);
  const { job, number } = await named(api);
  const q = `#${number}`;
  await open(page, at("/jobs?sort=oldest"));
  const all = await rows(page).count();
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  let requests = 0;
  page.on("request", (request) => (requests += request.url().includes("/jobs?") ? 1 : 0));
  await search(page).pressSequentially(q);
  await expect(rows(page)).toHaveCount(1);
  await expect(badge(page, job.id)).toBeVisible();
  await expect(page).toHaveURL(at(`/jobs?sort=oldest&q=%23${number}`));
  await expect(search(page)).toBeFocused();
  await expect(search(page)).toHaveValue(q);
  expect(requests, "not for each letter").toBeLessThan(4);
  await expect(page.getByRole("link", { name: `Remove the filter “${q}”` })).toBeVisible();
  await expect(page.getByRole("button", { name: "Save this view" })).toBeVisible();

  await search(page).fill("no such words anywhere");
  await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
  await search(page).fill("");
  await expect(rows(page)).toHaveCount(all);
  await search(page).fill(q);
  await expect(rows(page)).toHaveCount(1);
  expect(await page.evaluate(() => "isSamePage" in window), "the page stays").toBe(true);

  await page.goBack();
  await expect(page).toHaveURL(at("/jobs?sort=oldest"));
  await expect(rows(page)).toHaveCount(all);
  await expect(search(page)).toHaveValue("");
  await page.goForward();
  await expect(rows(page)).toHaveCount(1);
  await expect(search(page)).toHaveValue(q);
});

test("search announces the number of results, or that there are none", async ({ page, api }) => {
  const word = `w${Math.random().toString(36).slice(2)}`;
  for (const number of [1, 2]) await api.start(`emulator:slow Number ${number} of ${word}`);
  await open(page, at("/jobs"));
  const field = page.getByRole("searchbox", { name: "Search jobs" });
  await field.pressSequentially(word);
  await expect(page.getByRole("status").getByText("2 jobs", { exact: true })).toBeAttached();
  await field.pressSequentially("-nothing");
  await expect(page.getByRole("status").getByText("No jobs match your filters", { exact: true })).toBeAttached();
});

test("Back before the page is interactive undoes a search", async ({ page }) => {
  await open(page, at("/jobs"));
  const all = await rows(page).count();
  await search(page).fill("no such words anywhere");
  await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
  const release = await delay(page, "**/*.wasm");
  await page.reload();
  await page.evaluate(() => history.back());
  await expect(page).toHaveURL(at("/jobs"));
  await expect(rows(page)).toHaveCount(0);
  release();
  await expect(rows(page)).toHaveCount(all);
  await expect(search(page)).toHaveValue("");
});

test("failed search keeps the list and shows a message", async ({ page, trouble }) => {
  trouble.expects(/ERR_FAILED|Failed to load resource/);
  await open(page, at("/jobs"));
  const all = await rows(page).count();
  await page.route(/\/jobs\?q=/, (route) => route.abort());
  await search(page).pressSequentially("guide");
  await expect(page.getByRole("status").getByText("Docket could not be reached")).toBeVisible();
  await expect(rows(page)).toHaveCount(all);
});

test("failed search is repeated until the list has its results", async ({ page, trouble }) => {
  trouble.expects(/ERR_FAILED|Failed to load resource/);
  await open(page, at("/jobs"));
  await expect(rows(page).first()).toBeVisible();
  await page.route(/\/jobs\?q=/, (route) => route.abort());
  await search(page).fill("no such words anywhere");
  await expect(page.getByRole("status").getByText("Docket could not be reached")).toBeVisible();
  await page.unroute(/\/jobs\?q=/);
  await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
  await expect(page).toHaveURL(/[?&]q=no\+such\+words\+anywhere/);
});

test("failed Back is repeated, and its search is in the field at once", async ({ page, trouble }) => {
  trouble.expects(/ERR_FAILED|Failed to load resource/);
  await open(page, at("/jobs"));
  const all = await rows(page).count();
  await search(page).fill("no such words anywhere");
  await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
  const list = new RegExp(`${at("/jobs")}$`);
  await page.route(list, (route) => route.abort());
  await page.goBack();
  await expect(search(page)).toHaveValue("");
  await expect(page.getByRole("status").getByText("Docket could not be reached")).toBeVisible();
  await page.unroute(list);
  await expect(rows(page)).toHaveCount(all);
  await expect(search(page)).toHaveValue("");
});
