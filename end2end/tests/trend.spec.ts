/** The trend: its columns match the endpoint's figures, by sight, pointer, keyboard and screen reader. */
import type { Page } from "@playwright/test";
import type { Counts } from "../fixtures/api.ts";
import { WITHOUT_SCRIPT, day, grouped, inUrl, stored, lately, shown, shownRange, shownWithWeekday } from "../fixtures/days.ts";
import { PROJECT, at, expect, open, test } from "../fixtures/docket.ts";
import { percentage } from "../fixtures/emulator.ts";

const ANALYTICS = at("/analytics");

test.beforeEach(async ({ api }) => {
  test.setTimeout(300_000);
  await stored(api);
});

type Point = Counts & { day: string };

/** The first lines of the tooltip of a complete day. */
function readout(point: Point | undefined): RegExp {
  if (!point) throw new Error("there is no such day");
  const { day, human, ai, total } = point;
  const lines = [`${shownWithWeekday(day)}(?: \\(provisional\\))?`, `Views\\s${grouped(total)}`, `People\\s${grouped(human)}`, `AI\\s${grouped(ai)}`, `AI share\\s${percentage(point)}%`];
  return new RegExp(`^${lines.join(",?\\s+")}`);
}

/** The rendered columns: each day with the heights of its parts, as fractions of the plot. */
async function columns(page: Page) {
  return page.locator(".chart-plot [data-day]").evaluateAll((columns) =>
    columns.map((column) => {
      const plot = column.closest("svg")?.getBoundingClientRect().height ?? 1;
      const heights = [...column.querySelectorAll("rect")].map((part) => part.getBoundingClientRect().height / plot);
      return { day: column.getAttribute("data-day"), heights };
    }),
  );
}

/** The rows of the trend in the table, without the note on days that may still change. */
async function tableOfTrend(page: Page): Promise<string[][]> {
  return page.locator(".as-table tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].slice(0, 4).map((cell) => (cell.textContent ?? "").replace(" (provisional)", ""))));
}

/** The rows of a trend in the table. */
const written = (points: Point[], locale?: string) =>
  points.map(({ day, human, ai, total }) => [shownWithWeekday(day, locale), ...[total, human, ai].map(grouped)]);

/** A complete range, so that two requests get the same response. */
const complete = () => ({ from: day(28), to: day(1) });

test("columns of days are proportional to the platform's figures", async ({ page, emulator }) => {
  await open(page, `${ANALYTICS}?${inUrl(complete())}`);
  const points = await emulator.byDay(PROJECT, complete());
  const shown = await columns(page);
  expect(shown.map((column) => column.day)).toEqual(points.map((point) => point.day));
  const tallest = Math.max(...points.map(({ human, ai }) => human + ai));
  const top = Math.max(...shown.map(({ heights }) => heights.reduce((sum, height) => sum + height)));
  expect(top).toBeLessThanOrEqual(1);
  expect(top).toBeGreaterThan(0.4);
  for (const [at, { human, ai }] of points.entries()) {
    for (const [part, count] of [human, ai].entries()) {
      expect(shown[at]?.heights[part]).toBeCloseTo((count / tallest) * top, 1.9);
    }
  }
  expect(await tableOfTrend(page)).toEqual(written(points));
});

test("side by side is a link and in the URL", async ({ page }) => {
  await open(page, ANALYTICS);
  await page.getByRole("link", { name: "Side by side" }).click();
  await expect(page).toHaveURL(`${ANALYTICS}?chart=side`);
  await expect(page.getByRole("link", { name: "Side by side" })).toHaveAttribute("aria-current", "true");
  const bottoms = await page.locator(".chart-plot [data-day] rect").evaluateAll((parts) =>
    parts.map((part) => Math.round(part.getBoundingClientRect().bottom)),
  );
  expect(new Set(bottoms).size).toBe(1);
  await page.getByRole("link", { name: "Stacked" }).click();
  await expect(page).toHaveURL(ANALYTICS);
});

test("arrow keys move between days and announce each", async ({ page, emulator }) => {
  await open(page, `${ANALYTICS}?${inUrl(complete())}`);
  const points = await emulator.byDay(PROJECT, complete());
  const status = page.getByRole("figure").getByRole("status");
  await expect(status).toContainText("By day");
  await page.getByRole("slider", { name: "Days" }).focus();
  await expect(status).toHaveText(readout(points[27]));
  await page.keyboard.press("ArrowLeft");
  await expect(status).toHaveText(readout(points[26]));
  await page.keyboard.press("Home");
  await expect(status).toHaveText(readout(points[0]));
  await page.keyboard.press("ArrowRight");
  await expect(status).toHaveText(readout(points[1]));
  const second = points[1]?.day ?? "";
  await expect(page.getByRole("slider", { name: "Days" })).toHaveAttribute("aria-valuetext", shownWithWeekday(second));
  await expect(page.locator(".chart-cursor")).toHaveCount(1);
});

/** The middle of a column of 28. */
async function middle(page: Page, at: number) {
  const box = await page.locator(".chart-plot").boundingBox();
  return { x: (box?.x ?? 0) + ((box?.width ?? 0) * (at + 0.5)) / 28, y: (box?.y ?? 0) + 40 };
}

test("pointer opens the column's tooltip with comparison and jobs", async ({ page, api, emulator }) => {
  await open(page, `${ANALYTICS}?${inUrl(complete())}`);
  const { markers } = await api.trend(complete());
  const [points, before] = [await emulator.byDay(PROJECT, complete()), await emulator.byDay(PROJECT, { from: day(56), to: day(29) })];
  const tip = page.locator(".chart-tip");
  await expect(tip).toBeHidden();
  for (const at of [0, 10, 27]) {
    const { x, y } = await middle(page, at);
    await page.mouse.move(x, y);
    await expect(tip).toHaveText(readout(points[at]));
    await expect(tip).toContainText(new RegExp(`Previous period\\s${grouped(before[at]?.total ?? 0)}\\b`));
    const [box, plot] = [await tip.boundingBox(), await page.locator(".chart-plot").boundingBox()];
    expect(Math.abs((box?.x ?? 0) + (at < 14 ? 0 : (box?.width ?? 0)) - x), "the tooltip is at the pointer").toBeLessThan(20);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((plot?.x ?? 0) + (plot?.width ?? 0) + 1);
  }
  const marked = points.findIndex(({ day }) => day === markers[0]?.day);
  expect(marked).toBeGreaterThanOrEqual(0);
  const { x, y } = await middle(page, marked);
  await page.mouse.move(x, y);
  await expect(tip).toContainText("Jobs");
  await expect(tip).toContainText(markers[0]?.title ?? "");
  await page.mouse.move(5, 5);
  await expect(tip).toBeHidden();
});

test("drag opens days, click opens one, and Back returns", async ({ page, api }) => {
  const url = `${ANALYTICS}?${inUrl(complete())}`;
  await open(page, url);
  await page.evaluate(() => document.body.setAttribute("data-stays", "yes"));
  const { points } = await api.trend(complete());
  const days = (from: number, to: number) => `${ANALYTICS}?from=${points[from]?.day}&to=${points[to]?.day}`;
  const [start, end] = [await middle(page, 12), await middle(page, 6)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(days(6, 12));
  await expect(page.locator(".chart-plot [data-day]")).toHaveCount(7);
  await page.goBack();
  await expect(page.locator(".chart-plot [data-day]")).toHaveCount(28);

  // Fewer than 6 px are a click, and a day is a table without a chart.
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + 4, start.y);
  await page.mouse.up();
  await expect(page).toHaveURL(days(12, 12));
  await expect(page.locator(".chart")).toHaveCount(0);
  await expect(page.locator("table.daily")).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(url);
  await expect(page.locator(".chart-plot [data-day]")).toHaveCount(28);
  await expect(page.locator("body")).toHaveAttribute("data-stays", "yes");
  // 6 px are a drag, here within one day.
  await page.mouse.move(start.x - 3, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + 3, start.y);
  await expect(page.locator(".chart-chosen")).not.toHaveAttribute("width", "0");
  await page.mouse.up();
  await expect(page).toHaveURL(days(12, 12));
});

test("Shift with arrow keys selects days, and Enter opens them", async ({ page, api }) => {
  await open(page, `${ANALYTICS}?${inUrl(complete())}`);
  const { points } = await api.trend(complete());
  await page.getByRole("slider", { name: "Days" }).focus();
  for (let n = 0; n < 3; n += 1) await page.keyboard.press("Shift+ArrowLeft");
  await expect(page.locator(".chart-chosen")).not.toHaveAttribute("width", "0");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${ANALYTICS}?from=${points[24]?.day}&to=${points[27]?.day}`);
  await expect(page.locator(".chart-plot [data-day]")).toHaveCount(4);
  await page.getByRole("slider", { name: "Days" }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/from=([\d-]+)&to=\1$/);
});

/** The days that are chosen: a highlight as wide as `count` columns of 28. */
async function expectChosen(page: Page, count: number): Promise<void> {
  const width = async () => {
    const [plot, chosen] = [await page.locator(".chart-plot").boundingBox(), await page.locator(".chart-chosen").boundingBox()];
    return Math.round(((chosen?.width ?? 0) / (plot?.width ?? 1)) * 28);
  };
  await expect.poll(width).toBe(count);
}

test("days chosen with the keyboard stay chosen under a moving pointer", async ({ page, api }) => {
  const url = `${ANALYTICS}?${inUrl(complete())}`;
  await open(page, url);
  const { points } = await api.trend(complete());
  const slider = page.getByRole("slider", { name: "Days" });
  await slider.focus();
  for (let n = 0; n < 3; n += 1) await page.keyboard.press("Shift+ArrowLeft");
  const { x, y } = await middle(page, 5);
  await page.mouse.move(x, y);
  await expect(page.locator(".chart-tip")).toHaveText(readout(points[5]));
  await expectChosen(page, 4);
  await expect(slider).toHaveValue("24");
  await page.keyboard.press("Shift+ArrowLeft");
  await expectChosen(page, 5);
  await page.mouse.move(x - 2, y);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${ANALYTICS}?from=${points[23]?.day}&to=${points[27]?.day}`);

  // A key without Shift ends the choice, and moves on from its end.
  await page.mouse.move(5, 5);
  await open(page, url);
  await slider.focus();
  for (let n = 0; n < 3; n += 1) await page.keyboard.press("Shift+ArrowLeft");
  await page.mouse.move(x, y);
  await expect(page.locator(".chart-tip")).toHaveText(readout(points[5]));
  await page.keyboard.press("ArrowLeft");
  await expect(page.locator(".chart-tip")).toHaveText(readout(points[23]));
  await expectChosen(page, 0);
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Home");
  await expect(slider).toHaveValue("0");
  await expectChosen(page, 0);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${ANALYTICS}?from=${points[0]?.day}&to=${points[0]?.day}`);
});

test("refresh of the page keeps the chosen days and the tooltip", async ({ page, api }) => {
  await open(page, `${ANALYTICS}?${inUrl(complete())}`);
  const { points } = await api.trend(complete());
  const slider = page.getByRole("slider", { name: "Days" });
  await slider.focus();
  for (let n = 0; n < 3; n += 1) await page.keyboard.press("Shift+ArrowLeft");
  await expectChosen(page, 4);
  // The server's chart has no such attribute, so its end shows the refresh.
  await page.locator(".chart").evaluate((chart) => chart.setAttribute("data-before", ""));
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await expect(page.locator(".chart[data-before]")).toHaveCount(0);
  await expectChosen(page, 4);
  await expect(page.locator(".chart-tip")).toHaveText(readout(points[24]));
  await expect(slider).toHaveAttribute("aria-valuetext", new RegExp(`^${shownWithWeekday(points[24]?.day ?? "")}`));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${ANALYTICS}?from=${points[24]?.day}&to=${points[27]?.day}`);
});

test.describe("by touch", () => {
  test.use({ hasTouch: true });

  test("tooltip stays, and a second touch opens the day", async ({ page, emulator }) => {
    await open(page, `${ANALYTICS}?${inUrl(complete())}`);
    const points = await emulator.byDay(PROJECT, complete());
    const { x, y } = await middle(page, 10);
    await page.touchscreen.tap(x, y);
    await expect(page.locator(".chart-tip")).toHaveText(readout(points[10]));
    await expect(page).toHaveURL(`${ANALYTICS}?${inUrl(complete())}`);
    await page.touchscreen.tap(x, y);
    await expect(page).toHaveURL(`${ANALYTICS}?from=${points[10]?.day}&to=${points[10]?.day}`);
  });
});

test("today is marked as incomplete", async ({ page, api }) => {
  await open(page, ANALYTICS);
  const { points } = await api.trend(lately());
  expect(points.at(-1)?.unfinished_days).toBe(1);
  await expect(page.locator(".chart-plot .unfinished")).toHaveAttribute("data-day", day(0));
});

test("note is written below its day, changed, and deleted", async ({ page, person }) => {
  await open(page, ANALYTICS);
  const text = `Version 3 <was> released & "announced", ${person.username}`;
  await page.getByText("Add a note", { exact: true }).click();
  const add = page.locator(".note-form").filter({ has: page.getByText("Add a note") });
  await add.getByLabel("Day").fill(day(5));
  await add.getByLabel("Note").fill(text);
  await add.getByRole("button", { name: "Save" }).click();
  const note = page.locator(".event-list li").filter({ hasText: person.username });
  await page.locator(".events > summary").click();
  await expect(note).toContainText(text);
  await expect(note).toContainText(shown(day(5)));
  await expect(page.getByRole("group", { name: "Notes" }).getByRole("link").first()).toBeVisible();

  await note.getByText("Edit", { exact: true }).click();
  await note.getByLabel("Note").fill(`Version 4, ${person.username}`);
  await note.getByRole("button", { name: "Save" }).click();
  await expect(note).toContainText("Version 4");
  await expect(note).toHaveCount(1);

  await note.getByText("Edit", { exact: true }).click();
  await note.getByRole("button", { name: "Delete this note" }).click();
  await expect(note).toHaveCount(0);
});

test("invalid note is refused with a message; text stays", async ({ page, trouble }) => {
  trouble.expects(/status of 400/);
  await open(page, ANALYTICS);
  await page.getByText("Add a note", { exact: true }).click();
  const add = page.locator(".note-form").filter({ has: page.getByText("Add a note") });
  await add.getByLabel("Note").fill("x".repeat(5_000));
  await add.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toContainText("280 characters");
  await expect(add.getByLabel("Note")).toHaveValue("x".repeat(5_000));
  await expect(page).toHaveURL(ANALYTICS);
});

test("finished job has a linked mark below its day", async ({ page, api }) => {
  const fold = page.locator(".events > summary");
  let markers: Awaited<ReturnType<typeof api.trend>>["markers"] = [];
  // Jobs of other tests may finish between the page and the query.
  await expect(async () => {
    await open(page, ANALYTICS);
    ({ markers } = await api.trend(lately()));
    expect(await fold.textContent()).toMatch(new RegExp(`^${markers.length} jobs?(, \\d+ notes?)?$`));
  }).toPass();
  expect(markers.length).toBeGreaterThan(0);
  const marks = page.getByRole("group", { name: "Jobs that finished" }).getByRole("link");
  expect(await marks.count()).toBeGreaterThan(0);
  await expect(page.locator(".event-list")).toBeHidden();
  await fold.click();
  await expect(page.locator(".event-list")).toBeVisible();
  for (const { job, title } of markers) {
    await expect(page.locator(`.event-list a[href="${at(`/jobs/${job}`)}"]`)).toHaveText(title);
  }
});

test("overview shows the same week", async ({ page, api }) => {
  const week = { from: day(6), to: day(0) };
  await open(page, at(""));
  const { points } = await api.trend(week);
  const { rows } = await api.pages({ ...week, limit: 6 });
  expect((await columns(page)).map((column) => column.day)).toEqual(points.map((point) => point.day));
  await expect(page.locator(".week [data-path]")).toHaveCount(6);
  expect(await page.locator(".week [data-path]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-path")))).toEqual(
    rows.map((row) => row.path),
  );
  const tops = await page.locator(".week .figures dt").evaluateAll((names) => names.map((name) => name.getBoundingClientRect().top));
  expect([tops.length, new Set(tops).size], "the figures are on one line").toEqual([4, 1]);
  const caption = await page.locator(".week figcaption").boundingBox();
  expect([caption?.width, caption?.height], "the caption takes no room").toEqual([1, 1]);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("chart, summary and table are the same", async ({ page, emulator, visit, demo, person }) => {
    const url = `${ANALYTICS}?${inUrl(complete())}`;
    await page.goto(url);
    const plain = await page.locator(".chart-plot svg[role=img]").innerHTML();
    await expect(page.locator(".readout")).toContainText(`By day, ${shownRange(28, 1, WITHOUT_SCRIPT)}:`);
    await expect(page.getByRole("slider")).toHaveCount(0);
    expect(await tableOfTrend(page)).toEqual(written(await emulator.byDay(PROJECT, complete()), WITHOUT_SCRIPT));
    const lively = await visit(demo, { storageState: person.session, javaScriptEnabled: true });
    await open(lively, url);
    expect(await lively.locator(".chart-plot svg[role=img]").innerHTML()).toBe(plain);
  });

  test("invalid note is refused with a message; text stays", async ({ page }) => {
    await page.goto(ANALYTICS);
    await page.getByText("Add a note", { exact: true }).click();
    const add = page.locator(".note-form").filter({ has: page.getByText("Add a note") });
    await add.getByLabel("Note").fill("x".repeat(300));
    await add.getByRole("button", { name: "Save" }).click();
    await expect(page).toHaveURL(ANALYTICS);
    await expect(page.getByRole("alert")).toContainText("280 characters");
    await expect(add.getByLabel("Note")).toHaveValue("x".repeat(300));
  });

  test("note is written and deleted", async ({ page, person }) => {
    await page.goto(ANALYTICS);
    await page.getByText("Add a note", { exact: true }).click();
    const add = page.locator(".note-form").filter({ has: page.getByText("Add a note") });
    await add.getByLabel("Note").fill(`Plain, ${person.username}`);
    await add.getByRole("button", { name: "Save" }).click();
    const note = page.locator(".event-list li").filter({ hasText: person.username });
    await expect(note).toContainText("Plain");
    await page.locator(".events > summary").click();
    await note.getByText("Edit", { exact: true }).click();
    await note.getByRole("button", { name: "Delete this note" }).click();
    await expect(note).toHaveCount(0);
  });
});
