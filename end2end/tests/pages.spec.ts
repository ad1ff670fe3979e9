/** The table of pages from the daily history: sorting, search, folders, and the report of each page. */
import { readFile } from "node:fs/promises";
import type { Page, Route } from "@playwright/test";
import { expectAccessible } from "../fixtures/accessibility.ts";
import type { Counts } from "../fixtures/api.ts";
import { WITHOUT_SCRIPT, day, grouped, inUrl, stored, shownRange } from "../fixtures/days.ts";
import { PROJECT, at, delay, expect, open, opener, test } from "../fixtures/docket.ts";
import { type Emulator, type PathCounts, change, changes, mergedOn, percentage, points, sum } from "../fixtures/emulator.ts";

const ANALYTICS = at("/analytics");
/** A complete range: two requests get the same response. */
const range = () => ({ from: day(28), to: day(1) });
const TABLE = `${ANALYTICS}?${inUrl(range())}`;

test.beforeEach(async ({ api }) => {
  test.setTimeout(300_000);
  await stored(api, { from: day(56), to: day(0) });
});

const paths = (page: Page) => page.locator("table.daily tr[data-path]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-path")));

const pathsOf = (rows: { path: string }[]) => rows.map((row) => row.path);

const NOTHING = { human: 0, ai: 0, total: 0 };

type Compared = PathCounts & { previous: Counts };

/** The platform's pages in the range or in the 28 days before it, with both views. */
async function comparedPages(emulator: Emulator): Promise<Compared[]> {
  const before = await emulator.pages(PROJECT, { from: day(56), to: day(29) });
  const previous = new Map(before.map((row) => [row.path, row]));
  const now = await emulator.pages(PROJECT, range());
  const listed = new Set(pathsOf(now));
  const gone = before.filter(({ path, total }) => total > 0 && !listed.has(path)).map(({ path }) => ({ path, ...NOTHING }));
  return [...now, ...sorted(gone, () => 0)].map((row) => ({ ...row, previous: previous.get(row.path) ?? NOTHING }));
}

/** Rows by a key, largest first. Those without a key come last in both directions; equal ones are in the order of their paths. */
function sorted<Of extends PathCounts>(rows: Of[], key: (row: Of) => number | undefined, isReversed = false): Of[] {
  const compare = (a: Of, b: Of) => {
    const [first, second] = [key(a), key(b)];
    if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
    return isReversed ? first - second : second - first;
  };
  return rows.toSorted((a, b) => compare(a, b) || (a.path < b.path ? -1 : 1));
}

/** The share of a page with too few views says nothing. */
const share = ({ ai, total }: Counts) => (total >= 20 ? ai / total : undefined);

/** The entries of a folder: its pages, and its folders as one row each, most views first. */
function entries(rows: PathCounts[], folder: string): PathCounts[] {
  const names = rows.map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`));
  const entryOf = (path: string) => path.replace(new RegExp(`^(${folder}/[^/]+)/.*`), "$1/*");
  const summed = [...new Set(names.map(entryOf))].map((entry) => ({ path: entry, ...sum(rows.filter(({ path }) => entryOf(path) === entry)) }));
  return sorted(summed, ({ total }) => total);
}

/** Waits until the table shows these rows. */
async function expectRows(page: Page, rows: { path: string }[]): Promise<void> {
  await expect.poll(() => paths(page)).toEqual(pathsOf(rows));
}

test("figures and rows are the platform's, with their change", async ({ page, emulator }) => {
  await open(page, TABLE);
  const rows = await comparedPages(emulator);
  const [totals, before] = [sum(rows), sum(await emulator.pages(PROJECT, { from: day(56), to: day(29) }))];
  const figures = await page.locator(".figures .figure dd:not(.change)").allTextContents();
  expect(figures).toEqual([...[totals.total, totals.human, totals.ai].map(grouped), `${percentage(totals)}%`]);
  await expect(page.getByText(`Compared with ${shownRange(56, 29)}.`)).toBeVisible();
  await expect(page.locator(".figures .change")).toHaveText([
    change(totals.total, before.total),
    change(totals.human, before.human),
    change(totals.ai, before.ai),
    points(totals, before),
  ]);
  const shown = rows.slice(0, 50);
  await expectRows(page, shown);
  const cells = await page.locator("table.daily tr[data-path]").evaluateAll((rows) =>
    rows.map((row) => [...row.querySelectorAll("td.numeric")].slice(0, 3).map((cell) => cell.textContent)),
  );
  expect(cells).toEqual(shown.map(({ human, ai, total }) => [human, ai, total].map(grouped)));
  await expect(page.getByText(`Rows 1 to 50 of ${grouped(rows.length)}`)).toBeVisible();
});

type Key = (row: Compared) => number | undefined;

const COLUMNS: Record<string, [string, Key]> = {
  People: ["human", ({ human }) => human],
  AI: ["ai", ({ ai }) => ai],
  "AI share": ["share", share],
  // By people, which is the default of the switch.
  Change: ["difference", ({ human, previous }) => human - previous.human],
  "Change %": ["change", ({ human, previous }) => (previous.human ? human / previous.human : undefined)],
};

for (const [name, [word, key]] of Object.entries(COLUMNS)) {
  test(`head “${name}” sorts and reverses the order`, async ({ page, emulator }) => {
    await open(page, TABLE);
    const rows = await comparedPages(emulator);
    const head = page.getByRole("columnheader", { name: new RegExp(`^${name}( [↑↓])?$`) });
    await head.getByRole("link").click();
    await expect(page).toHaveURL(`${TABLE}&sort=${word}`);
    await expect(head).toHaveAttribute("aria-sort", "descending");
    await expectRows(page, sorted(rows, key).slice(0, 50));
    await head.getByRole("link").click();
    await expect(page).toHaveURL(`${TABLE}&sort=-${word}`);
    await expect(head).toHaveAttribute("aria-sort", "ascending");
    await expectRows(page, sorted(rows, key, true).slice(0, 50));
    await page.goBack();
    await expect(head).toHaveAttribute("aria-sort", "descending");
    await expectRows(page, sorted(rows, key).slice(0, 50));
  });
}

test("head “Page” sorts by path and reverses the order", async ({ page, emulator }) => {
  await open(page, TABLE);
  const byPath = sorted(await comparedPages(emulator), () => 0);
  const head = page.getByRole("columnheader", { name: /^Page( [↑↓])?$/ });
  await head.getByRole("link").click();
  await expect(page).toHaveURL(`${TABLE}&sort=path`);
  await expect(head).toHaveAttribute("aria-sort", "ascending");
  await expectRows(page, byPath.slice(0, 50));
  await head.getByRole("link").click();
  await expect(page).toHaveURL(`${TABLE}&sort=-path`);
  await expect(head).toHaveAttribute("aria-sort", "descending");
  await expectRows(page, byPath.toReversed().slice(0, 50));
  await page.goBack();
  await expect(head).toHaveAttribute("aria-sort", "ascending");
});

test("search finds parts of paths, and Back undoes it", async ({ page, emulator }) => {
  await open(page, TABLE);
  const all = await comparedPages(emulator);
  const found = all.filter(({ path }) => path.includes("guide"));
  expect(found.length).toBeGreaterThan(50);
  expect(found.length).toBeLessThan(all.length);
  await page.getByRole("searchbox", { name: "Search pages" }).fill("GUIDE");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp("[?&]q=GUIDE"));
  await expectRows(page, found.slice(0, 50));
  await expect(page.getByText(`${grouped(found.length)} rows with ${grouped(sum(found).total)} views`)).toBeVisible();
  await page.goBack();
  await expectRows(page, all.slice(0, 50));
  await expect(page.getByRole("searchbox", { name: "Search pages" })).toHaveValue("");
});

test("search without a match has a message and link back", async ({ page }) => {
  await open(page, `${TABLE}&q=nothing-is-called-so`);
  await expect(page.getByRole("heading", { name: "No page matches" })).toBeVisible();
  await page.getByRole("link", { name: "Show all pages" }).click();
  await expect(page).toHaveURL(TABLE);
});

test("folders open, down to pages and up again", async ({ page, emulator }) => {
  await open(page, TABLE);
  const pages = await comparedPages(emulator);
  const cells = () => page.locator("table.daily tr[data-path] td.numeric:nth-child(5)").allTextContents();
  await page.getByRole("link", { name: "By folder" }).click();
  await expect(page).toHaveURL(`${TABLE}&folder=/`);
  const root = entries(pages, "");
  await expectRows(page, root.slice(0, 50));
  expect(await cells()).toEqual(root.slice(0, 50).map(({ total }) => grouped(total)));
  await page.locator('tr[data-path="/guides/*"] a').first().click();
  await expect(page).toHaveURL(`${TABLE}&folder=/guides`);
  await expectRows(page, entries(pages, "/guides").slice(0, 50));
  await expect(page.getByRole("heading", { name: "Views by day: /guides" })).toBeVisible();
  await page.getByRole("navigation", { name: "Folder" }).getByRole("link", { name: "All folders" }).click();
  await expect(page).toHaveURL(`${TABLE}&folder=/`);
  await expectRows(page, root.slice(0, 50));
  await page.getByRole("link", { name: "All pages", exact: true }).click();
  await expect(page).toHaveURL(TABLE);
});

test("table is paged with totals, and keeps its order", async ({ page, emulator }) => {
  // Compared, the table also has pages that had views only before.
  await open(page, `${TABLE}&compare=none&sort=share&limit=25`);
  const rows = sorted(await emulator.pages(PROJECT, range()), share);
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page).toHaveURL(/sort=share&page=2&limit=25$/);
  await expect(page.getByText(`Rows 26 to 50 of ${grouped(rows.length)}`)).toBeVisible();
  await expectRows(page, rows.slice(25, 50));
});

test("page has its own report with figures and trend", async ({ page, emulator }) => {
  await open(page, TABLE);
  const first = (await emulator.pages(PROJECT, range()))[0] as PathCounts;
  await page.locator(`tr[data-path="${first.path}"] a.row-target`).click();
  await expect(page).toHaveURL(`${TABLE}&path=${first.path}`);
  await expect(page.getByRole("heading", { name: first.path, exact: true })).toBeVisible();
  await expect(page.locator(".figures dd").first()).toHaveText(grouped(first.total));
  const cells = await page.locator(".as-table tbody tr td:nth-child(2)").allTextContents();
  const days = await emulator.byDay(PROJECT, range(), (path) => path === first.path);
  expect(cells).toEqual(days.map(({ total }) => grouped(total)));
  await page.getByRole("link", { name: "All pages" }).click();
  await expect(page).toHaveURL(TABLE);
});

test("jobs about a page have views before and after", async ({ page, api, emulator }) => {
  const job = await api.jobThat(({ prompt, changed_at }) => prompt.startsWith("Rewrite the quickstart") && changed_at < day(17));
  await open(page, `${TABLE}&path=/quickstart`);
  await expect(page.getByText("Correlation, not proof.")).toBeVisible();
  const row = page.locator(".effects tbody tr").filter({ has: page.locator(`a[href="${at(`/jobs/${job.id}`)}"]`) });
  await expect(row.locator("time")).toHaveAttribute("datetime", mergedOn(job.changed_at));
  const { before, after } = await emulator.around(PROJECT, "/quickstart", mergedOn(job.changed_at));
  await expect(row.locator("td.numeric")).toHaveText([
    "14 days",
    grouped(before.human),
    grouped(after.human),
    changes(after, before),
    `${percentage(before)}% → ${percentage(after)}%`,
  ]);
});

test("job about a page starts with its path and figures", async ({ page, emulator }) => {
  await open(page, TABLE);
  const row = (await emulator.pages(PROJECT, range()))[1];
  await page.getByRole("link", { name: `Start a job about ${row?.path}`, exact: true }).click();
  await expect(page).toHaveURL(/\/jobs\/new/);
  await expect(page.getByLabel("Pages")).toHaveValue(row?.path ?? "");
  await expect(page.getByLabel("Prompt")).toHaveValue(
    new RegExp(
      `had ${grouped(row?.total ?? 0)} views? from ${shownRange(28, 1, WITHOUT_SCRIPT)}: ${grouped(row?.human ?? 0)} by people, ${grouped(row?.ai ?? 0)} by AI agents\\. ` +
        `Views .+: .+ from ${shownRange(28, 1, WITHOUT_SCRIPT)}, compared with .+ from ${shownRange(56, 29, WITHOUT_SCRIPT)} \\(same weekdays\\)\\.`,
    ),
  );
});

/** The column that a tab is sorted by, and its direction. */
const SORTED = {
  Rising: ["Change", "descending"],
  Falling: ["Change", "ascending"],
  "AI share": ["AI share change", "descending"],
  New: ["Change", "descending"],
} as const;

const difference = (views: number) => (views > 0 ? "+" : views < 0 ? "−" : "") + grouped(Math.abs(views));

/** How much the AI share of a page moved. */
const shift = ({ ai, total, previous }: Compared) => Math.round(Math.abs(ai / total - previous.ai / previous.total) * 1e6);
/** By people, which is the default of the switch. */
const gained = ({ human, previous }: Compared) => human - previous.human;
const ratio = ({ human, previous }: Compared) => (previous.human > 0 ? human / previous.human : undefined);
const lost = (row: Compared) => -gained(row);
/** Pages with few views in both periods are on no tab. */
const isKnown = ({ human, previous }: Compared) => previous.total > 0 && Math.max(human, previous.human) >= 20;

/** Of each tab: its word in the URL, its pages and their order. */
const TABS = {
  Rising: ["rising", (row) => isKnown(row) && gained(row) > 0, gained],
  Falling: ["falling", (row) => isKnown(row) && lost(row) > 0, lost],
  "AI share": ["share", (row) => Math.min(row.total, row.previous.total) >= 100 && shift(row) > 0, shift],
  New: ["new", (row) => row.previous.total === 0 && row.total >= 20, gained],
} satisfies Record<string, [string, (row: Compared) => boolean, (row: Compared) => number]>;

for (const [name, [value, fits, key]] of Object.entries(TABS)) {
  test(`tab “${name}” lists the largest changes first`, async ({ page, emulator }) => {
    await open(page, TABLE);
    const compared = await comparedPages(emulator);
    const movers = sorted(compared.filter(fits), key);
    const tab = page.getByRole("list", { name: "Pages by change" }).getByRole("link", { name, exact: true });
    await tab.click();
    await expect(tab).toHaveAttribute("aria-current", "true");
    await expect(page).toHaveURL(`${TABLE}&tab=${value}`);
    // In some weeks the platform has no new page.
    if (movers.length === 0 && name === "New") return expect(page.getByRole("heading", { name: "No page matches" })).toBeVisible();
    expect(movers.length, "pages on the tab").toBeGreaterThan(0);
    const listed = movers.slice(0, 50);
    await expectRows(page, listed);
    const head = page.getByRole("columnheader").and(page.locator("[aria-sort]"));
    await expect(head).toHaveCount(1);
    const [column, direction] = SORTED[name as keyof typeof TABS];
    await expect(head).toHaveText(new RegExp(`^${column} [↑↓]$`));
    await expect(head).toHaveAttribute("aria-sort", direction);
    // The rows show the sorted column.
    const texts = await page.locator("table.daily tr[data-path] td.numeric:nth-child(7)").allTextContents();
    expect(texts.map((text) => text.trim())).toEqual(listed.map((row) => difference(gained(row))));
    if (column !== "Change") return;
    // The same column reverses the order, and the other one sorts too.
    await head.getByRole("link").click();
    await expect(head).not.toHaveAttribute("aria-sort", direction);
    await expectRows(page, sorted(movers, key, true).slice(0, 50));
    await page.getByRole("columnheader", { name: "Change %" }).getByRole("link").click();
    await expect(head).toHaveText("Change % ↓");
    await expectRows(page, sorted(movers, ratio).slice(0, 50));
    await head.getByRole("link").click();
    await expect(head).toHaveText("Change % ↑");
    await expectRows(page, sorted(movers, ratio, true).slice(0, 50));
  });
}

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("row fits its path, views and both changes", async ({ page }) => {
    await open(page, `${TABLE}&tab=rising`);
    for (const name of ["Views", "Change", "Change %"]) {
      await expect(page.getByRole("columnheader", { name: new RegExp(`^${name}( ↓)?$`) })).toBeVisible();
    }
    const path = await page.locator("table.daily td.numeric:visible, table.daily th:visible").evaluateAll((cells) =>
      cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
    );
    expect(path, "cells whose content is wider than the cell").toEqual([]);
    expect((await page.locator("table.daily tbody th").first().boundingBox())?.width).toBeGreaterThanOrEqual(110);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });
});

test("search applies to figures, chart and table without scrolling", async ({ page, emulator }) => {
  await open(page, TABLE);
  await page.evaluate(() => document.body.setAttribute("data-stays", "yes"));
  const all = await emulator.pages(PROJECT, range());
  const found = all.filter(({ path }) => path.includes("guide"));
  const search = page.getByRole("searchbox", { name: "Search pages" });
  await search.fill("guide");
  await search.scrollIntoViewIfNeeded();
  await page.mouse.wheel(0, 150);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(100);
  const scrolled = await page.evaluate(() => window.scrollY);
  await search.press("Enter");
  const views = page.locator(".figures dd").first();
  await expect(views).toHaveText(grouped(sum(found).total));
  const total = async () =>
    (await page.locator(".as-table tbody tr td:nth-child(2)").allTextContents()).reduce((sum, cell) => sum + Number(cell.replaceAll(",", "")), 0);
  expect(await total()).toBe(sum(found).total);
  await expectRows(page, found.slice(0, 50));
  expect(await page.evaluate(() => window.scrollY)).toBe(scrolled);
  await expect(page.getByRole("list", { name: "Filters" }).getByRole("link", { name: "Remove filter: Search: guide" })).toBeVisible();

  await page.goBack();
  await expect(views).toHaveText(grouped(sum(all).total));
  await expect.poll(total).toBe(sum(all).total);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(scrolled);
  await page.goForward();
  await expect(views).toHaveText(grouped(sum(found).total));
  await page.getByRole("link", { name: "Remove filter: Search: guide" }).click();
  await expectRows(page, all.slice(0, 50));
  await expect(search).toHaveValue("");
  await expect(page.locator("body")).toHaveAttribute("data-stays", "yes");
});

test("days are compared with the selected period", async ({ page, api }) => {
  const week = { from: day(7), to: day(5) };
  await open(page, `${ANALYTICS}?${inUrl(week)}`);
  await expect(page.getByText(`Compared with ${shownRange(10, 8)}.`)).toBeVisible();
  await expect(page.locator(".chart .previous-line")).toHaveCount(1);
  const choose = async (name: string) => {
    await page.getByText(/^Compare:/).click();
    await page.getByRole("list", { name: "Compare with" }).getByRole("link", { name }).click();
  };
  await choose("Same weekdays");
  await expect(page.getByText(`Compared with ${shownRange(14, 12)}.`)).toBeVisible();
  const { rows, comparison } = await api.pages({ ...week, compare: "weekdays" });
  expect(comparison?.from).toBe(day(14));
  await expectRows(page, rows);
  await choose("A year before");
  await expect(page.getByText(`Not compared: ${shownRange(371, 369)} are not in the daily history.`)).toBeVisible();
  await expect(page.locator(".fetch-days")).toContainText(`${shownRange(371, 369)}: 0 of 3 days in the daily history.`);
  await choose("Nothing");
  await expect(page.locator(".chart .previous-line")).toHaveCount(0);
  await expect(page.locator(".change")).toHaveCount(0);
  await page.getByRole("link", { name: "Remove filter: Not compared" }).click();
  await expect(page.getByText(`Compared with ${shownRange(10, 8)}.`)).toBeVisible();
});

test("at 1280x800 the table begins within 600 px and stays", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, ANALYTICS);
  await expect(page.locator(".chart")).toBeVisible();
  expect((await page.locator("table.daily").boundingBox())?.y).toBeLessThanOrEqual(600);
  const [views, share] = [await page.locator(".figure").first().boundingBox(), await page.locator(".figure").last().boundingBox()];
  expect(views?.y, "the figures stand on one line").toBe(share?.y);
  expect((await page.locator(".chart-plot").boundingBox())?.height).toBe(200);
});

test("selected pages become the values of a batch", async ({ page, api }) => {
  await open(page, TABLE);
  const [first, second] = pathsOf((await api.pages(range())).rows) as [string, string];
  const start = page.getByRole("button", { name: /^Start batch for / });
  await expect(start).toBeHidden();
  await page.getByRole("checkbox", { name: `Select ${first}`, exact: true }).check();
  await page.getByRole("checkbox", { name: `Select ${second}`, exact: true }).check();
  await expect(start).toHaveText("Start batch for 2 pages");
  await start.click();
  await expect(page).toHaveURL(/\/jobs\/batch\?pick=/);
  await expect(page.getByLabel("Values, one line per job")).toHaveValue(`${first}\n${second}`);
});

test("selected pages stay selected until they are cleared", async ({ page, api }) => {
  const small = `${TABLE}&limit=25`;
  const all = pathsOf((await api.pages({ ...range(), limit: 60 })).rows);
  const [first, second] = [all[0], all[30]] as [string, string];
  const choose = (path: string) => page.getByRole("checkbox", { name: `Select ${path}`, exact: true });
  const chosen = page.locator("#picked-count");
  await open(page, small);
  await choose(first).check();
  await expect(chosen).toHaveText("1 page selected");
  await page.getByRole("link", { name: "Next" }).click();
  await choose(second).check();
  await expect(chosen).toHaveText("2 pages selected");
  await page.getByRole("columnheader", { name: "Page", exact: true }).getByRole("link").click();
  await expect(page).toHaveURL(/sort=path/);
  await expect(chosen).toHaveText("2 pages selected");
  const search = page.getByRole("searchbox", { name: "Search pages" });
  await search.fill(first);
  await search.press("Enter");
  await expect(page).toHaveURL(/[?&]q=/);
  await expect(choose(first)).toBeChecked();
  await expect(chosen).toHaveText("2 pages selected");
  await page.reload();
  await expect(choose(first), "also for this tab").toBeChecked();
  await page.getByRole("button", { name: /^Start batch for / }).click();
  await expect(page).toHaveURL(/\/jobs\/batch\?pick=/);
  const values = page.getByLabel("Values, one line per job");
  expect((await values.inputValue()).split("\n").toSorted()).toEqual([first, second].toSorted());
  await page.goBack();
  await expect(chosen).toHaveText("2 pages selected");
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect(choose(first)).not.toBeChecked();
  await expect(page.getByRole("button", { name: /^Start batch for / })).toBeHidden();
  await open(page, small);
  await expect(choose(first)).not.toBeChecked();
});

test("all rows are selected at once, a range with Shift", async ({ page, api }) => {
  const all = pathsOf((await api.pages({ ...range(), limit: 25 })).rows);
  const select = (at: number) => page.getByRole("checkbox", { name: `Select ${all[at]}`, exact: true });
  const selected = page.locator("#picked-count");
  const every = page.getByRole("checkbox", { name: "Select all pages of this table" });
  const start = page.getByRole("button", { name: /^Start batch for / });
  await open(page, `${TABLE}&limit=25`);
  await every.check();
  await expect(selected).toHaveText("25 pages selected");
  await expect(select(24)).toBeChecked();
  for (const top of [0, 1e6]) {
    await page.evaluate((y) => window.scrollTo(0, y), top);
    await expect(start, "the actions stay in the window").toBeInViewport();
  }
  await every.uncheck();
  await expect(start).toBeHidden();

  await select(2).click();
  await select(6).click({ modifiers: ["Shift"] });
  await expect(selected).toHaveText("5 pages selected");
  expect(await every.evaluate((box) => (box as HTMLInputElement).indeterminate)).toBe(true);
  await page.getByRole("link", { name: "Next" }).click();
  await expect(every).not.toBeChecked();
  await expect(selected, "also of other pages of the table").toHaveText("5 pages selected");
});

test("more pages than a batch has jobs start none", async ({ page, api }) => {
  const { rows } = await api.pages({ ...range(), limit: 250 });
  expect(rows.length).toBeGreaterThan(200);
  const selected = page.locator("#picked-count");
  const start = page.getByRole("button", { name: /^Start batch for / });
  await open(page, `${TABLE}&limit=250`);
  await page.getByRole("checkbox", { name: "Select all pages of this table" }).check();
  await expect(selected).toHaveText(`${rows.length} pages selected. A batch has at most 200 pages, or fewer if their paths are long.`);
  await expect(start).toBeDisabled();
  // Unticks all pages after the first 200.
  const select = (at: number) => page.getByRole("checkbox", { name: `Select ${rows[at]?.path}`, exact: true });
  await select(200).uncheck();
  if (rows.length > 201) await select(rows.length - 1).click({ modifiers: ["Shift"] });
  await expect(selected).toHaveText("200 pages selected");
  await expect(start).toBeEnabled();
  await start.click();
  await expect(page.getByLabel("Values, one line per job")).toHaveValue(/^(.+\n){199}.+$/);
});

test("pages whose paths are too long for a URL start no batch", async ({ page }) => {
  const path = (at: number) => `/${at}/${"ページ".repeat(20)}`;
  await open(page, TABLE);
  await page.evaluate(([key, pages]) => sessionStorage.setItem(key as string, pages as string), [
    `docket.picked/${PROJECT}`,
    Array.from({ length: 100 }, (_, at) => path(at)).join("\n"),
  ]);
  await page.reload();
  await expect(page.locator("#picked-count")).toHaveText(/^100 pages selected\. A batch has at most 200 pages, or fewer/);
  await expect(page.getByRole("button", { name: /^Start batch for / })).toBeDisabled();
});

test("selection of all matching pages replaces the stored pages", async ({ page, api }) => {
  const q = "/guides";
  const [first] = pathsOf((await api.pages({ ...range(), q })).rows) as [string];
  const choose = page.getByRole("checkbox", { name: `Select ${first}`, exact: true });
  await open(page, `${TABLE}&limit=25&q=${q}`);
  await choose.check();
  await expect(page.locator("#picked-count")).toHaveText("1 page selected");
  await page.getByRole("checkbox", { name: /^Select all \d+ pages that match/ }).check();
  await expect(page.locator("#picked-count")).toHaveText(/^\d\d+ pages selected$/);
  await open(page, `${TABLE}&limit=25&q=${q}`);
  await expect(choose).not.toBeChecked();
  await expect(page.locator("#picked-count")).toBeEmpty();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });
    const goTo = opener(javaScriptEnabled);

    test("all matching pages are selected, also on other table pages", async ({ page, api }) => {
      const q = "/guides";
      const matching = await api.pages({ ...range(), q, limit: 200 });
      expect(matching.rows.length).toBeGreaterThan(25);
      expect(matching.rows.length).toBeLessThan(200);
      await goTo(page, `${TABLE}&limit=25&q=${q}`);
      await page.getByRole("checkbox", { name: `Select all ${matching.rows.length} pages that match` }).check();
      if (javaScriptEnabled) await expect(page.locator("#picked-count")).toHaveText(`${matching.rows.length} pages selected`);
      await page.getByRole("button", { name: /^Start batch for / }).click();
      await expect(page).toHaveURL(/\/jobs\/batch\?.*matching=/);
      const values = (await page.getByLabel("Values, one line per job").inputValue()).split("\n");
      expect(values.toSorted()).toEqual(pathsOf(matching.rows).toSorted());
    });
  });
}

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("selected pages are in the URL and in links", async ({ page, api }) => {
    const all = pathsOf((await api.pages({ ...range(), limit: 60 })).rows);
    const [first, second] = [all[0], all[30]] as [string, string];
    const choose = (path: string) => page.getByRole("checkbox", { name: `Select ${path}`, exact: true });
    await page.goto(`${TABLE}&limit=25`);
    await choose(first).check();
    await page.getByRole("button", { name: "Keep selection and continue" }).click();
    await expect(choose(first)).toBeChecked();
    await page.getByRole("link", { name: "Next" }).click();
    await expect(page.getByText("1 page selected elsewhere")).toBeVisible();
    await choose(second).check();
    await page.getByRole("button", { name: /^Start batch for / }).click();
    expect(new Set((await page.getByLabel("Values, one line per job").inputValue()).split("\n"))).toEqual(new Set([first, second]));
    await page.goBack();
    await page.getByRole("link", { name: "Clear all", exact: true }).click();
    await expect(page).not.toHaveURL(/pick=/);
  });
});

test("row links to the report, the published page and jobs", async ({ page, api }) => {
  await open(page, TABLE);
  const path = pathsOf((await api.pages(range())).rows)[0] as string;
  const row = page.locator(`tr[data-path="${path}"]`);
  await expect(row.getByRole("link", { name: path, exact: true })).toHaveAttribute("href", new RegExp(`[?&]path=${path}$`));
  await expect(row.getByRole("link", { name: `Open the published page ${path}` })).toHaveAttribute("href", `https://docs.example.com${path}`);
  await row.getByRole("link", { name: `Jobs about ${path}` }).click();
  await expect(page).toHaveURL(at(`/jobs?tag=${path}`));
});

test("sort by share puts pages with few views last", async ({ page, emulator }) => {
  const rows = sorted(await emulator.pages(PROJECT, range()), share);
  const few = rows.filter((row) => share(row) === undefined);
  expect(few.length).toBeGreaterThan(0);
  const last = Math.ceil(rows.length / 250);
  await open(page, `${TABLE}&compare=none&sort=share&page=${last}&limit=250`);
  await expectRows(page, rows.slice(250 * (last - 1)));
  expect((await paths(page)).slice(-few.length)).toEqual(pathsOf(few));
  await expect(page.getByText("Pages with fewer than 20 views come last.")).toBeVisible();
});

test("exported files have all rows of the table, in its order", async ({ page, emulator }) => {
  await open(page, `${TABLE}&compare=none&q=guide&sort=ai&page=2&limit=25`);
  const file = page.waitForEvent("download");
  await page.getByRole("link", { name: "CSV" }).click();
  const download = await file;
  expect(download.url()).toContain(at("/analytics/export.csv?"));
  for (const part of [inUrl(range()), "compare=none", "q=guide", "sort=ai"]) expect(download.url()).toContain(part);
  const [head, ...lines] = (await readFile(await download.path(), "utf8")).replace(/^\uFEFF/, "").trim().split("\r\n");
  expect(head).toMatch(/^"path","pages","human","ai","total",/);
  const rows = sorted((await emulator.pages(PROJECT, range())).filter(({ path }) => path.includes("guide")), ({ ai }) => ai);
  const cells = lines.map((line) => line.replaceAll('"', "").split(","));
  expect(cells.map(([path, , ...counts]) => [path, ...counts.slice(0, 3)])).toEqual(
    rows.map(({ path, human, ai, total }) => [path, ...[human, ai, total].map(String)]),
  );
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("sort, search, folders and reports are links and a form", async ({ page, emulator }) => {
    const rows = sorted(await emulator.pages(PROJECT, range()), share);
    await page.goto(TABLE);
    await page.getByRole("columnheader", { name: "AI share" }).getByRole("link").click();
    await expectRows(page, rows.slice(0, 50));
    await page.getByRole("searchbox", { name: "Search pages" }).fill("guide");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/[?&]q=guide/);
    await expectRows(page, rows.filter(({ path }) => path.includes("guide")).slice(0, 50));
    await page.getByRole("link", { name: "By folder" }).click();
    await expect(page).toHaveURL(/[?&]folder=\/&q=guide/);
    await page.goto(TABLE);
    await page.locator("table.daily .path a").first().click();
    await expect(page.locator(".one-page")).toBeVisible();
    await expect(page.locator(".chart")).toBeVisible();
  });
});

test("table changes in place, keeps focus, and has a URL", async ({ page, api }) => {
  await open(page, `${TABLE}&limit=25`);
  await page.evaluate(() => document.body.setAttribute("data-stays", "yes"));
  const position = page.locator(".pager-position");
  const next = page.getByRole("link", { name: "Next" });
  await next.press("Enter");
  await expect(position).toHaveText(/^Rows 26 to 50 of/);
  await expect(next).toBeFocused();
  await expect(page.getByRole("status").filter({ hasText: /^Rows 26 to 50 of/ })).toHaveCount(1);
  await page.getByRole("columnheader", { name: "AI share" }).getByRole("link").press("Enter");
  await expectRows(page, (await api.pages({ ...range(), sort: "share", limit: 25 })).rows);
  await expect(page.getByRole("columnheader", { name: "AI share" }).getByRole("link")).toBeFocused();
  await page.getByRole("link", { name: "50", exact: true }).press("Enter");
  await expect(page).toHaveURL(`${TABLE}&sort=share`);
  await expect(page.getByRole("link", { name: "50", exact: true })).toBeFocused();
  const search = page.getByRole("searchbox", { name: "Search pages" });
  await search.fill("guide");
  await search.press("Enter");
  const found = (await api.pages({ ...range(), sort: "share", q: "guide" })).rows;
  await expectRows(page, found);
  await expect(search).toBeFocused();
  await expect(page.locator("body")).toHaveAttribute("data-stays", "yes");
  // Everything that depends on the URL is updated.
  await expect(page.getByRole("link", { name: "CSV" })).toHaveAttribute("href", /q=guide&sort=share/);
  await expect(page.getByRole("link", { name: "7 days", exact: true })).toHaveAttribute("href", /q=guide&sort=share/);
  await expect(page.locator("#save-view input[name=query]")).toHaveValue(/q=guide&sort=share/);
  await page.reload();
  await expectRows(page, found);
});

test("search during a pending request keeps the page size", async ({ page, api }) => {
  await open(page, `${TABLE}&limit=25`);
  const release = await delay(page, "**/analytics?*", { times: 1 });
  await page.getByRole("link", { name: "50", exact: true }).click();
  await expect(page).toHaveURL(TABLE);
  await page.getByRole("searchbox", { name: "Search pages" }).fill("guide");
  await page.getByRole("searchbox", { name: "Search pages" }).press("Enter");
  await expectRows(page, (await api.pages({ ...range(), q: "guide" })).rows);
  await expect(page).toHaveURL(`${TABLE}&q=guide`);
  release();
  await page.unrouteAll({ behavior: "wait" });
});

test("text typed while the table loads stays in the search field", async ({ page }) => {
  await open(page, `${TABLE}&limit=25`);
  const release = await delay(page, "**/analytics?*");
  await page.getByRole("columnheader", { name: "Page", exact: true }).getByRole("link").click();
  const search = page.getByRole("searchbox", { name: "Search pages" });
  await search.fill("guide");
  release();
  await expect(page.getByRole("columnheader", { name: /^Page( [↑↓])?$/ })).toHaveAttribute("aria-sort", "ascending");
  await expect(search).toHaveValue("guide");
});

test("opened folder has the focus and its own trend", async ({ page, emulator }) => {
  await open(page, `${TABLE}&folder=/`);
  const name = "/guides";
  await page.locator(`tr[data-path="${name}/*"] a`).first().press("Enter");
  await expect(page.getByRole("navigation", { name: "Folder" }).getByText(name, { exact: true })).toBeFocused();
  await expect(page.getByRole("heading", { name: `Views by day: ${name}` })).toBeVisible();
  const days = await emulator.byDay(PROJECT, range(), (path) => path.startsWith(`${name}/`));
  await expect
    .poll(() => page.locator(".as-table tbody tr td:nth-child(2)").allTextContents())
    .toEqual(days.map(({ total }) => grouped(total)));
});

test("blocked request of a script is made by the browser", async ({ page, trouble }) => {
  trouble.expects(/request failed: (GET|POST)|Failed to load resource/);
  await open(page, `${TABLE}&limit=25`);
  const blocked = (route: Route) => (route.request().resourceType() === "fetch" ? route.abort("blockedbyclient") : route.continue());
  await page.route("**/analytics?*", blocked);
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page.locator(".pager-position")).toHaveText(/^Rows 26 to 50 of/);
  await page.goBack();
  await expect(page.locator(".pager-position")).toHaveText(/^Rows 1 to 25 of/);
});

test("Back before the page is interactive shows the rows of its URL", async ({ page }) => {
  await open(page, `${TABLE}&limit=25`);
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page.locator(".pager-position")).toHaveText(/^Rows 26 to 50 of/);
  const release = await delay(page, "**/*.wasm");
  await page.reload();
  await page.evaluate(() => history.back());
  await expect(page).toHaveURL(`${TABLE}&limit=25`);
  await expect(page.locator(".pager-position")).toHaveText(/^Rows 26 to 50 of/);
  release();
  await expect(page.locator(".pager-position")).toHaveText(/^Rows 1 to 25 of/);
});

test("request without a connection has a message and keeps the rows", async ({ page, context, api, trouble }) => {
  trouble.expects(/request failed: (GET|POST)|Failed to load resource/);
  await open(page, `${TABLE}&limit=25`);
  const { rows } = await api.pages({ ...range(), limit: 25 });
  await context.setOffline(true);
  await page.getByRole("link", { name: "Next" }).click();
  const alert = page.locator("#report-problem").getByRole("alert");
  await expect(alert).toContainText("Docket could not be reached");
  await expectRows(page, rows);
  await expect(alert.getByRole("link", { name: "Try again" })).toBeVisible();
  // The page follows by itself.
  await context.setOffline(false);
  await expect(page.locator(".pager-position")).toHaveText(/^Rows 26 to 50 of/);
  await expect(alert).toHaveCount(0);
});

test("table shows that it loads", async ({ page }) => {
  await open(page, `${TABLE}&limit=25`);
  const release = await delay(page, "**/analytics?*");
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page.locator("#report")).toHaveAttribute("aria-busy", "true");
  release();
  await expect(page.locator(".pager-position")).toHaveText(/^Rows 26 to 50 of/);
  await expect(page.locator("#report")).not.toHaveAttribute("aria-busy", "true");
});

const VIEWS = { "the trend and the table": TABLE, "a folder, side by side": `${TABLE}&folder=/&chart=side` };

for (const [name, path] of Object.entries({ ...VIEWS, "one page": "" })) {
  for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 844 }]) {
    test(`${name}, ${viewport.width} px wide, is accessible and fits`, async ({ page, api }) => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ reducedMotion: "reduce" });
      await open(page, path || `${TABLE}&path=${(await api.pages(range())).rows[0]?.path}`);
      await page.getByText("Show as a table").click();
      await expectAccessible(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
    });
  }
}

test("printed page has figures, trend and table, without controls", async ({ page }) => {
  await open(page, TABLE);
  await page.emulateMedia({ media: "print" });
  for (const shown of [".figures", ".chart", "table.daily", ".readout"]) await expect(page.locator(shown)).toBeVisible();
  const pressed = page.getByRole("main").locator("button, input, summary, .segments, .pager, .ranges").filter({ visible: true });
  await expect(pressed).toHaveCount(0);
});
