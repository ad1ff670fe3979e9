/** Live or daily data: the page shows which, with the progress of the history and the cost of missing days. */
import { day, grouped, inUrl, stored, lately, longAgo, UNTIL_STORED, shownRange } from "../fixtures/days.ts";
import { PROJECT, UNTIL_DONE, at, expect, open, test } from "../fixtures/docket.ts";
import { changes, mergedOn, percentage, sum } from "../fixtures/emulator.ts";

const ANALYTICS = at("/analytics");
const notice = ".history-notice";

test("days outside the history are live, with cost of fetching", async ({ page, api }) => {
  const range = longAgo();
  await open(page, `${ANALYTICS}?${inUrl(range)}`);
  const missing = await api.missing(range);
  expect(missing.days).toBe(28);
  await expect(page.locator(notice)).toContainText("These figures come live from the platform");
  await expect(page.locator(notice)).toContainText("lacks 28 of 28 days of this range");
  await expect(page.locator(notice)).toContainText(/History: \d+ of \d+ days are fetched.*; [\d,]+ calls? left this hour above the reserve\./);
  await expect(page.getByRole("button", { name: `Fetch these days (at least ${missing.calls} calls)` })).toBeVisible();
  await expect(page.locator(".chart"), "no trend without days").toHaveCount(0);
  await expect(page.getByText(/^Live from the platform, fetched/)).toBeVisible();
});

test("stored days come from the history without a notice", async ({ page, api }) => {
  test.setTimeout(300_000);
  await stored(api, lately());
  await open(page, ANALYTICS);
  await expect(page.locator(".chart")).toBeVisible();
  await expect(page.locator(notice)).toHaveCount(0);
  await expect(page.getByText(/^From the daily history \(UTC days\), updated .+/)).toBeVisible();
  await expect(page.getByText(/^Live from the platform/)).toHaveCount(0);
});

test("days before the window are fetched for 90-day comparisons", async ({ page, api }) => {
  test.setTimeout(420_000);
  await stored(api, { from: day(179), to: day(0) });
  await open(page, ANALYTICS);
  await page.getByRole("link", { name: "90 days", exact: true }).click();
  await expect(page.getByText(`Compared with ${shownRange(179, 91)}; part of today is left out.`)).toBeVisible();
  await expect(page.locator(".change").first()).toHaveText(/^[+−].+%$|^0%$/);
});

test("today is not compared with the complete day before", async ({ page, api, emulator }) => {
  test.setTimeout(300_000);
  await stored(api, { from: day(1), to: day(0) });
  const yesterday = sum(await emulator.pages(PROJECT, { from: day(1), to: day(1) })).total;
  await open(page, ANALYTICS);
  await page.getByRole("link", { name: "Today", exact: true }).click();
  const beside = page.locator(".change").first().or(page.getByRole("heading", { name: "No views in these days" }));
  await expect(beside).toHaveText(new RegExp(`^\\d+ [A-Z][a-z]{2,3}: ${grouped(yesterday)}$|^No views`));
  await expect(page.locator(".chart"), "one day is a table").toHaveCount(0);
});

test("job page shows views before and after, or a notice", async ({ page, api, emulator }) => {
  test.setTimeout(300_000);
  await stored(api);
  const first = await api.jobThat(({ prompt, changed_at }) => prompt.startsWith("Rewrite the quickstart") && changed_at < day(17));
  const { before, after } = await emulator.around(PROJECT, "/quickstart", mergedOn(first.changed_at));
  const last = await api.start("emulator:pull-request Check the steps", { paths: "/quickstart" });
  await expect.poll(async () => (await api.job(last.id)).state, UNTIL_DONE).toBe("completed");
  await open(page, at(`/jobs/${last.id}`));
  await expect(page.locator(".job-effects li").first()).toContainText("Not merged yet: views are compared from the merge on");
  await open(page, at(`/jobs/${first.id}`));
  const effect = page.locator(".job-effects li").first();
  const views = `${grouped(before.human)} views by people before, ${grouped(after.human)} after`;
  const moved = `AI share ${percentage(before)}% → ${percentage(after)}%`;
  await expect(effect).toContainText(`${changes(after, before)}: ${views}; ${moved}. Compared over 14 days each`);
  await effect.getByRole("link").click();
  await expect(page.locator(".one-page")).toBeVisible();
  await expect(page.getByText(/^Compares full weeks before and after the merge, .+ \(pages with 20\+ views, otherwise –\)\. Correlation, not proof\.$/)).toBeVisible();
});

test("missing days are fetched on request, then shown by day", async ({ page, api, emulator }) => {
  test.setTimeout(300_000);
  // A separate range, so that no other test uses it.
  const range = { from: day(301), to: day(300) };
  await open(page, `${ANALYTICS}?${inUrl(range)}`);
  await expect(page.locator(notice)).toContainText("lacks 2 of 2 days of this range");
  await page.getByRole("button", { name: /^Fetch these days/ }).click();
  await expect(page).toHaveURL(`${ANALYTICS}?${inUrl(range)}`);
  await expect.poll(async () => (await api.missing(range)).days, UNTIL_STORED).toBe(0);
  // The open page updates itself.
  await expect(page.locator(".chart")).toBeVisible({ timeout: 30_000 });
  await expect(page.locator(notice)).toHaveCount(0);
  const days = await emulator.byDay(PROJECT, range);
  await expect(page.locator(".as-table tbody tr td:nth-child(2)")).toHaveText(days.map(({ total }) => grouped(total)));
});

test("days for a comparison are fetched in place; figures update", async ({ page, api }) => {
  test.setTimeout(300_000);
  // A separate range, so that no other test uses it.
  const [own, before] = [{ from: day(331), to: day(330) }, { from: day(333), to: day(332) }];
  await open(page, `${ANALYTICS}?${inUrl(own)}`);
  await page.getByRole("button", { name: /^Fetch these days/ }).click();
  await expect.poll(async () => (await api.missing(own)).days, UNTIL_STORED).toBe(0);
  await open(page, `${ANALYTICS}?${inUrl(own)}`);
  await page.evaluate(() => document.body.setAttribute("data-stays", "yes"));
  await expect(page.getByText(`Not compared: ${shownRange(333, 332)} are not in the daily history.`)).toBeVisible();
  await page.getByRole("button", { name: /^Fetch these days/ }).click();
  await expect(page.getByText("The days are being fetched")).toBeVisible();
  const progress = page.locator(".fetch-days").getByRole("status").filter({ hasText: "are being fetched" });
  const done = page.getByText(`Compared with ${shownRange(333, 332)}.`);
  await expect(progress.or(done).first()).toBeVisible();
  await expect.poll(async () => (await api.missing(before)).days, UNTIL_STORED).toBe(0);
  await expect(done, "the open page follows").toBeVisible({ timeout: 30_000 });
  await expect(page.locator(".fetch-days")).toHaveCount(0);
  await expect(page.locator(".change").first()).toBeVisible();
  await expect(page.locator("body"), "without leaving it").toHaveAttribute("data-stays", "yes");
});

test("viewer sees missing days and cannot fetch them", async ({ serve, visit }) => {
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const page = await visit(await serve({ people: [viewer] }), { as: viewer });
  await open(page, `${ANALYTICS}?${inUrl(longAgo())}`);
  await expect(page.locator(notice)).toContainText("lacks 28 of 28 days");
  await expect(page.getByRole("button", { name: /^Fetch these days/ })).toHaveCount(0);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("notice is the same, and fetching returns to the days", async ({ page }) => {
    const range = { from: day(311), to: day(310) };
    await page.goto(`${ANALYTICS}?${inUrl(range)}&compare=weekdays`);
    await expect(page.locator(notice)).toContainText("lacks 2 of 2 days of this range");
    await page.getByRole("button", { name: /^Fetch these days/ }).click();
    await expect(page).toHaveURL(`${ANALYTICS}?${inUrl(range)}&compare=weekdays`);
    await expect(page.locator("tr[data-path]").first()).toBeVisible();
  });
});
