/** Live page views: the figures are the platform's, and all filters are in the URL. */
import type { Locator, Page } from "@playwright/test";
import { Api, type Counts } from "../fixtures/api.ts";
import { type PathCounts, percentage, sum } from "../fixtures/emulator.ts";
import { WITHOUT_SCRIPT, day, grouped, inUrl, stored, longAgo, shown, shownRange, shownWithWeekday } from "../fixtures/days.ts";
import { PROJECT, at, expect, interactive, open, test } from "../fixtures/docket.ts";
import { viewsRequested } from "../fixtures/faults.ts";

const ANALYTICS = at("/analytics");
/** Days that are not in the daily history. */
const LIVE = `${ANALYTICS}?${inUrl(longAgo())}`;

const tableRows = (page: Page) => page.locator("tr[data-path]");

/** The figures above the table, formatted. */
async function expectFigures(page: Page, totals: Counts): Promise<void> {
  const figure = (name: string) => page.locator(".figure").filter({ has: page.getByText(name, { exact: true }) }).locator("dd").first();
  await expect(figure("Views")).toHaveText(grouped(totals.total));
  await expect(figure("People")).toHaveText(grouped(totals.human));
  await expect(figure("AI")).toHaveText(grouped(totals.ai));
  await expect(figure("AI share")).toHaveText(`${percentage(totals)}%`);
}

test("figures and every row are the platform's", async ({ page, emulator }) => {
  await open(page, LIVE);
  const pages = await emulator.pages(PROJECT, longAgo());
  await expectFigures(page, sum(pages));
  await expect(tableRows(page)).toHaveCount(50);
  const cells = await tableRows(page).evaluateAll((rows) =>
    rows.map((row) => [row.getAttribute("data-path"), ...[...row.querySelectorAll("td.numeric")].map((cell) => cell.textContent)]),
  );
  const written = pages.slice(0, 50).map((row) => [row.path, ...[row.human, row.ai, row.total].map(grouped), `${percentage(row)}%`]);
  expect(cells).toEqual(written);
  await expect(page.getByText(/^Live from the platform, fetched just now$/)).toBeVisible();
});

test("bars of people and agents are proportional to the longest", async ({ page, emulator }) => {
  await open(page, LIVE);
  const views = (await emulator.pages(PROJECT, longAgo())).slice(0, 50);
  const longest = Math.max(...views.map(({ human, ai }) => human + ai));
  const bars = await page.locator("tr[data-path] svg.bar").evaluateAll((bars) =>
    bars.map((bar) => ({
      label: bar.getAttribute("aria-label"),
      widths: [...bar.querySelectorAll("rect")].map((part) => part.getBoundingClientRect().width / bar.getBoundingClientRect().width),
    })),
  );
  expect(bars).toHaveLength(views.length);
  for (const [at, { human, ai }] of views.entries()) {
    expect(bars[at]?.label).toBe(`${grouped(human)} people, ${grouped(ai)} AI`);
    for (const [part, count] of [human, ai].entries()) {
      // A nonzero part is at least 4 thousandths long.
      const width = count > 0 ? Math.max(count / longest, 0.004) : 0;
      expect(bars[at]?.widths[part]).toBeCloseTo(width, 2);
    }
  }
  await expect(page.locator(".legend")).toHaveText(/People\s*AI/);
});

test("without daily history, the legend has space above and below", async ({ page }) => {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await open(page, LIVE);
    const box = async (part: Locator) => {
      const found = await part.boundingBox();
      if (!found) throw new Error("a part of the page has no box");
      return { top: found.y, bottom: found.y + found.height };
    };
    const [figures, legend] = [await box(page.locator(".figures")), await box(page.locator(".legend"))];
    const heading = await box(page.getByRole("heading", { name: "Pages", exact: true }));
    expect(legend.top - figures.bottom, `${width} px`).toBeGreaterThanOrEqual(8);
    expect(heading.top - legend.bottom, `${width} px`).toBeGreaterThanOrEqual(12);
  }
});

const PRESETS = { Today: ["today", 0], "7 days": ["7", 6], "90 days": ["90", 89] } as const;

for (const [name, [word, ago]] of Object.entries(PRESETS)) {
  test(`preset ${name} counts today and the days before it`, async ({ page, emulator }) => {
    const [from, to] = [day(ago), day(0)];
    await open(page, ANALYTICS);
    await page.getByRole("link", { name, exact: true }).click();
    await expect(page).toHaveURL(`${ANALYTICS}?days=${word}`);
    await expect(page.getByRole("link", { name, exact: true })).toHaveAttribute("aria-current", "true");
    await expect(page.getByLabel("From", { exact: true })).toHaveValue(from);
    await expect(page.getByLabel("to", { exact: true })).toHaveValue(to);
    const days = ago ? `${ago + 1} days, ${shownRange(ago, 0)}` : `1 day, ${shownWithWeekday(to)}`;
    await expect(page.getByText(`${days} (UTC). Today is incomplete.`)).toBeVisible();
    const least = ago ? sum(await emulator.pages(PROJECT, { from, to: day(1) })).total : 0;
    const figure = page.locator(".figures dd").first();
    // A day that has just started may have no views yet.
    const none = page.getByRole("heading", { name: "No views in these days" });
    await expect(async () => {
      const views = (await none.isVisible()) ? 0 : Number((await figure.innerText()).replaceAll(",", ""));
      expect(views, "the complete days").toBeGreaterThanOrEqual(least);
      expect(views, "and today so far").toBeLessThanOrEqual(sum(await emulator.pages(PROJECT, { from, to })).total);
    }).toPass();
  });
}

for (const width of [1280, 1024, 800]) {
  test(`“Today” leaves Compare in the first row at ${width} px`, async ({ page, api, emulator }) => {
    await stored(api, { from: day(1), to: day(0) });
    await page.setViewportSize({ width, height: 900 });
    await open(page, `${ANALYTICS}?from=${day(0)}&to=${day(0)}`);
    const none = page.getByRole("heading", { name: "No views in these days" });
    const before = page.locator(".figure .change").first();
    await expect(before.or(none)).toBeVisible();
    // A day that has just started may have no views yet.
    if (await none.isVisible()) return;
    const yesterday = sum(await emulator.pages(PROJECT, { from: day(1), to: day(1) })).total;
    await expect(before).toHaveText(new RegExp(`^\\d+ \\w+: ${grouped(yesterday)}$`));
    const [figure, compare] = [await page.locator(".figure").first().boundingBox(), await page.getByText("Compare: previous period").boundingBox()];
    expect(compare?.y).toBeLessThan((figure?.y ?? 0) + (figure?.height ?? 0) / 2);
    expect(compare?.height, "on one line").toBeLessThan(48);
  });
}

test("on a phone the presets are on one line", async ({ page }) => {
  for (const width of [390, 360]) {
    await page.setViewportSize({ width, height: 844 });
    await open(page, ANALYTICS);
    const presets = page.getByRole("list", { name: "Days", exact: true }).getByRole("link");
    await expect(presets).toHaveCount(6);
    const boxes = await presets.evaluateAll((links) => links.map((link) => link.getBoundingClientRect().toJSON() as DOMRect));
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(1);
    expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(width);
    expect(Math.min(...boxes.map(({ height }) => height))).toBeGreaterThanOrEqual(40);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});

test("default preset of 28 days is not in the URL", async ({ page }) => {
  await open(page, `${ANALYTICS}?from=${day(6)}&to=${day(0)}`);
  await page.getByRole("link", { name: "28 days", exact: true }).click();
  await expect(page).toHaveURL(ANALYTICS);
  await expect(page.getByRole("link", { name: "28 days", exact: true })).toHaveAttribute("aria-current", "true");
  const sentence = page.getByText(`28 days, ${shownRange(27, 0)} (UTC).`);
  await expect(sentence).toBeVisible();
  expect(await sentence.evaluate((text) => text.getClientRects().length), "one line, with the spaces of a sentence").toBe(1);
});

test("days change in place, and Back undoes them", async ({ page }) => {
  await open(page, LIVE);
  await page.evaluate(() => document.body.setAttribute("data-stays", "yes"));
  await page.getByText("Custom range").click();
  await page.getByLabel("From", { exact: true }).fill(day(220));
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page.getByText(`21 days, ${shownRange(220, 200)} (UTC)`)).toBeVisible();
  await expect(page.getByRole("button", { name: "Show" }), "the menu closes").toBeHidden();
  const chip = page.getByRole("list", { name: "Filters" }).getByRole("link", { name: `Remove filter: ${shownRange(220, 200)}` });
  await expect(chip).toBeVisible();
  await page.mouse.wheel(0, 500);
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(400);
  const scrolled = await page.evaluate(() => window.scrollY);
  await page.getByRole("link", { name: "7 days", exact: true }).evaluate((link: HTMLElement) => link.click());
  await expect(page.getByText(`7 days, ${shownRange(6, 0)} (UTC).`)).toBeVisible();
  await page.goBack();
  await expect(page.getByText(`21 days, ${shownRange(220, 200)} (UTC)`)).toBeVisible();
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(scrolled);
  await chip.evaluate((link: HTMLElement) => link.click());
  await expect(page.getByText(`28 days, ${shownRange(27, 0)} (UTC).`)).toBeVisible();
  await expect(page).toHaveURL(ANALYTICS);
  await expect(page.locator("body")).toHaveAttribute("data-stays", "yes");
});

test("filter without a connection shows a message and keeps the figures", async ({ page, context, trouble }) => {
  trouble.expects(/request failed: (GET|POST)|Failed to load resource/);
  await open(page, LIVE);
  const before = await page.locator(".figures").textContent();
  await context.setOffline(true);
  await page.getByRole("link", { name: "7 days", exact: true }).click();
  const alert = page.getByRole("alert").filter({ hasText: "Docket could not be reached" });
  await expect(alert).toBeVisible();
  expect(await page.locator(".figures").textContent()).toBe(before);
  await expect(alert.getByRole("link", { name: "Try again" })).toBeVisible();
  // The page follows by itself.
  await context.setOffline(false);
  await expect(page.getByText(`7 days, ${shownRange(6, 0)} (UTC).`)).toBeVisible();
  await expect(alert).toHaveCount(0);
});

test("month to date begins on the first", async ({ page }) => {
  await open(page, ANALYTICS);
  await page.getByRole("link", { name: "Month to date" }).click();
  await expect(page).toHaveURL(`${ANALYTICS}?days=month`);
  await expect(page.getByLabel("From", { exact: true })).toHaveValue(`${day(0).slice(0, 8)}01`);
  await expect(page.getByRole("link", { name: "Month to date", exact: true })).toHaveAttribute("aria-current", "true");
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });

    test("all time is what the platform has counted, page by page", async ({ page, emulator }) => {
      await page.goto(`${ANALYTICS}?q=guide&tab=falling`);
      if (javaScriptEnabled) await interactive(page);
      await page.getByRole("link", { name: "All time", exact: true }).click();
      await expect(page).toHaveURL(`${ANALYTICS}?days=all`);
      await expect(page.getByRole("link", { name: "All time", exact: true })).toHaveAttribute("aria-current", "true");
      await expect(page.getByText("Everything that the platform has counted")).toBeVisible();
      await expect(page.getByText("The platform counted these figures")).toBeVisible();
      const views = Number((await page.locator(".figures dd").first().innerText()).replaceAll(",", ""));
      // More is counted meanwhile.
      expect(views).toBeGreaterThan(sum(await emulator.pages(PROJECT, { from: day(400), to: day(1) })).total);
      expect(views).toBeLessThanOrEqual(sum(await emulator.pages(PROJECT)).total);
      await page.getByRole("link", { name: "Next", exact: true }).click();
      await expect(page).toHaveURL(`${ANALYTICS}?days=all&page=2`);
      await expect(page.getByText(/^Rows 51 to \d+$/)).toBeVisible();
      await page.getByRole("link", { name: "Remove filter: All time" }).click();
      await expect(page).toHaveURL(ANALYTICS);
    });
  });
}

test("range of two days is the sum of both", async ({ page, emulator }) => {
  const [first, second] = [day(9), day(8)];
  await open(page, ANALYTICS);
  await page.getByText("Custom range").click();
  await page.getByLabel("From", { exact: true }).fill(first);
  await page.getByLabel("to", { exact: true }).fill(second);
  await page.getByRole("button", { name: "Show" }).click();
  await expect.poll(() => Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ from: first, to: second });
  await expect(page.getByText(`2 days, ${shownRange(9, 8)} (UTC)`)).toBeVisible();
  const each = [await emulator.pages(PROJECT, { from: first, to: first }), await emulator.pages(PROJECT, { from: second, to: second })];
  expect(each.every((day) => sum(day).total > 0)).toBe(true);
  await expectFigures(page, sum(each.flat()));
});

test("pages and page sizes are links and in the URL", async ({ page, emulator }) => {
  await open(page, LIVE);
  await expect(page.getByRole("link", { name: "Previous" })).toHaveCount(0);
  await page.getByRole("link", { name: "25", exact: true }).click();
  await expect(page).toHaveURL(`${LIVE}&limit=25`);
  await expect(tableRows(page)).toHaveCount(25);
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page).toHaveURL(`${LIVE}&page=2&limit=25`);
  await expect(page.getByText("Rows 26 to 50")).toBeVisible();
  const pages = await emulator.pages(PROJECT, longAgo());
  await expect(tableRows(page).first()).toHaveAttribute("data-path", pages[25]?.path ?? "");
  await expect(tableRows(page).first().locator("td.rank")).toHaveText("26");

  await page.reload();
  await interactive(page);
  await expect(page.getByText("Rows 26 to 50")).toBeVisible();
  await page.getByRole("link", { name: "250", exact: true }).click();
  await expect(page, "another page size begins at the first page").toHaveURL(`${LIVE}&limit=250`);
  await expect(tableRows(page)).toHaveCount(250);
  await page.goBack();
  await expect(page.getByText("Rows 26 to 50")).toBeVisible();
  await page.getByRole("link", { name: "Previous" }).click();
  await expect(page).toHaveURL(`${LIVE}&limit=25`);
  await expect(page.getByText("Rows 1 to 25")).toBeVisible();
});

test("last page has no next one", async ({ page, emulator }) => {
  const all = await emulator.pages(PROJECT, longAgo());
  const pages = Math.ceil(all.length / 250);
  expect(pages).toBeGreaterThan(1);
  await open(page, `${LIVE}&page=${pages - 1}&limit=250`);
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page).toHaveURL(`${LIVE}&page=${pages}&limit=250`);
  await expect(tableRows(page)).toHaveCount(all.length - 250 * (pages - 1));
  await expect(tableRows(page).last()).toHaveAttribute("data-path", all.at(-1)?.path ?? "");
  await expect(page.getByRole("link", { name: "Next" })).toHaveCount(0);
  await open(page, `${LIVE}&page=${pages + 1}&limit=250`);
  await expect(page.getByText("No more rows")).toBeVisible();
  await page.getByRole("link", { name: "Previous" }).click();
  await expect(tableRows(page).first()).toBeVisible();
});

test("back button undoes a range, in the form too", async ({ page }) => {
  await open(page, ANALYTICS);
  await page.getByText("Custom range").click();
  await page.getByLabel("From", { exact: true }).fill(day(3));
  await page.getByLabel("to", { exact: true }).fill(day(2));
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page.getByText(`2 days, ${shownRange(3, 2)} (UTC)`)).toBeVisible();
  await page.goBack();
  await expect(page.getByText(`28 days, ${shownRange(27, 0)} (UTC).`)).toBeVisible();
  await expect(page.getByLabel("From", { exact: true })).toHaveValue(day(27));
  await expect(page.getByLabel("to", { exact: true })).toHaveValue(day(0));
});

for (const named of ["7", "all"]) {
  test(`custom range replaces days=${named}`, async ({ page }) => {
    await open(page, `${ANALYTICS}?days=${named}`);
    await page.getByText("Custom range").click();
    await page.getByLabel("From", { exact: true }).fill(day(3));
    await page.getByLabel("to", { exact: true }).fill(day(2));
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page.getByText(`2 days, ${shownRange(3, 2)} (UTC)`)).toBeVisible();
    expect(new URL(page.url()).searchParams.has("days")).toBe(false);
  });
}

const BAD = {
  "of what is no day": "from=yesterday&to=today",
  "of a day that does not exist": "from=2026-02-30&to=2026-03-01",
  "in pages of too many rows": "limit=251",
  "in pages of no rows": "limit=0",
};

for (const [name, query] of Object.entries(BAD)) {
  test(`range ${name} is refused with a message`, async ({ page, trouble }) => {
    trouble.expects(/status of 400/);
    const response = await page.goto(`${ANALYTICS}?${query}`);
    expect(response?.status()).toBe(400);
    await interactive(page);
    await expect(page.getByRole("alert").getByRole("heading")).toHaveText("That cannot be shown");
    await expect(page.getByRole("alert").getByRole("paragraph")).toHaveText(/^[A-Z“].+\.$/);
    await page.getByRole("link", { name: "7 days", exact: true }).click();
    await expect(page.locator(".figures")).toBeVisible();
  });
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });
    const locale = javaScriptEnabled ? undefined : WITHOUT_SCRIPT;
    const visit = (page: Page, path: string) => (javaScriptEnabled ? open(page, path) : page.goto(path));

    test("range with future end shows days until today, with note", async ({ page }) => {
      await visit(page, `${ANALYTICS}?from=${day(6)}&to=${day(-5)}`);
      await expect(page.getByText(`7 days, ${shownRange(6, 0, locale)} (UTC).`)).toBeVisible();
      const note = `Page views end today, ${shown(day(0), locale)} (UTC). Later days, up to ${shown(day(-5), locale)}, are not available yet.`;
      await expect(page.getByText(note)).toBeVisible();
      await expect(page.locator(".figures")).toBeVisible();
      await expect(page.getByRole("alert")).toHaveCount(0);
      await page.getByText("Custom range").click();
      await expect(page.getByLabel("to", { exact: true })).toHaveValue(day(0));
      await page.getByRole("link", { name: "90 days", exact: true }).click();
      await expect(page.getByText(`90 days, ${shownRange(89, 0, locale)} (UTC).`)).toBeVisible();
      await expect(page.getByText(note)).toHaveCount(0);
    });

    test("reversed dates have an error at their field", async ({ page, trouble }) => {
      trouble.expects(/status of 400/);
      await visit(page, ANALYTICS);
      const [from, to] = [page.getByLabel("From", { exact: true }), page.getByLabel("to", { exact: true })];
      await page.getByText("Custom range").click();
      await from.fill(day(1));
      await to.fill(day(5));
      await page.getByRole("button", { name: "Show" }).click();
      await expect(page.getByRole("alert")).toHaveText("Start date must be before end date");
      await expect(from).toHaveAccessibleDescription("Start date must be before end date");
      await expect(from).toHaveAttribute("aria-invalid", "true");
      await expect(from).toHaveValue(day(1));
      await expect(to).toHaveValue(day(5));
      await expect(page.getByRole("heading", { name: "No days to show" })).toBeVisible();
      await from.fill(day(9));
      await page.getByRole("button", { name: "Show" }).click();
      await expect(page.getByText(`5 days, ${shownRange(9, 5, locale)} (UTC)`)).toBeVisible();
      await expect(page.getByRole("alert")).toHaveCount(0);
    });
  });
}

test("range with future start has an error at its field", async ({ page, trouble }) => {
  trouble.expects(/status of 400/);
  const response = await page.goto(`${ANALYTICS}?from=${day(-1)}&to=${day(-5)}`);
  expect(response?.status()).toBe(400);
  await expect(page.getByLabel("From", { exact: true })).toHaveAccessibleDescription("Start date must not be in the future");
});

test("days without views have a message", async ({ page }) => {
  await open(page, `${ANALYTICS}?from=2020-01-01&to=2020-01-02`);
  await expect(page.getByRole("heading", { name: "No views in these days" })).toBeVisible();
  await page.getByRole("link", { name: "Show the last 28 days" }).click();
  await expect(page).toHaveURL(ANALYTICS);
  await expect(tableRows(page).first()).toBeVisible();
});

test("row starts a job with the page's path and figures", async ({ page, emulator }) => {
  await open(page, LIVE);
  const { path, human, ai, total } = (await emulator.pages(PROJECT, longAgo()))[2] as PathCounts;
  await page.getByRole("link", { name: `Start a job about ${path}`, exact: true }).click();
  await expect(page.getByLabel("Pages")).toHaveValue(path);
  await expect(page.getByLabel("Prompt")).toHaveValue(
    `${path} had ${grouped(total)} views from ${shownRange(227, 200, WITHOUT_SCRIPT)}: ${grouped(human)} by people, ${grouped(ai)} by AI agents.\n\n`,
  );
});

test("query beyond the hourly budget is refused with a message", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 429/);
  const docket = await serve({ environment: { DOCKET_ANALYTICS_PER_HOUR: "1" } });
  const page = await visit(docket, { storageState: docket.session });
  // The overview spends the one call.
  await page.goto(at(""));
  const response = await page.goto(ANALYTICS);
  expect(response?.status()).toBe(429);
  await interactive(page);
  await expect(page.getByRole("alert")).toContainText("The hourly budget is used up");
  await expect(page.getByRole("region", { name: "Hourly budget" })).toContainText(/1 of 1(?!\d|,)/);
});

test("refreshing the figures uses one call", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  await open(page, ANALYTICS);
  const before = await viewsRequested(docket);
  expect((await api.budgets()).analytics.used).toBe(before);
  await page.getByRole("button", { name: "Refresh (uses 1 call)" }).click();
  await expect.poll(() => viewsRequested(docket)).toBe(before + 1);
  await expect.poll(async () => (await api.budgets()).analytics.used).toBe(before + 1);
  await expect(page.getByText("fetched just now")).toBeVisible();
  await expect(page.getByRole("button", { name: "Refresh (uses 1 call)" })).toBeEnabled();
});
