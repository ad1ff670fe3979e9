/** Changes by colleagues appear on open pages within five seconds, and do not move visible content. */
import type { Locator, Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, open, test } from "../fixtures/docket.ts";

const rows = (page: Page) => page.getByRole("list", { name: "Jobs" }).locator(".job-row");
const group = (page: Page, name: string): Locator =>
  page.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });
const SOON = { timeout: 5_000 };

const olga = { username: "olga", password: "writes-docs-1", role: "operator" } as const;

test("colleague's new jobs wait behind a bar until requested", async ({ serve, visit }) => {
  const docket = await serve({ people: [olga] });
  const mine = await visit(docket, { storageState: docket.session });
  const hers = await visit(docket, { as: olga });
  const [me, her] = [mine, hers].map((page) => new Api(page.request, docket.url, PROJECT)) as [Api, Api];
  const first = await me.start("emulator:slow The first of all");
  await open(mine, at("/jobs"));
  await expect(rows(mine)).toHaveCount(1);
  const top = () => badge(mine, first.id).evaluate((it) => it.getBoundingClientRect().top);
  const before = await top();

  const second = await her.start("emulator:slow The second");
  const show = mine.getByRole("button", { name: "1 new job · Show" });
  await expect(show).toBeVisible(SOON);
  await mine.locator("summary", { hasText: "Status" }).click();
  const all = mine.getByRole("list", { name: "Filter by status" }).getByRole("link", { name: "All 2" });
  await expect(all, "the counts follow").toBeVisible();
  await mine.keyboard.press("Escape");
  const third = await her.start("emulator:slow The third");
  await expect(mine.getByRole("button", { name: "2 new jobs · Show" })).toBeVisible(SOON);
  expect(await top(), "nothing moved").toBe(before);
  await expect(rows(mine)).toHaveCount(1);

  await mine.getByRole("button", { name: "2 new jobs · Show" }).click();
  await expect(rows(mine)).toHaveCount(3);
  await expect(rows(mine).first().locator(`[data-job="${third.id}"]`)).toBeVisible();
  await expect(badge(mine, second.id)).toBeVisible();
  await expect(mine.getByRole("button", { name: /Show$/ })).toHaveCount(0);
  await expect(mine.getByRole("list", { name: "Jobs" })).toBeFocused();
});

test("changes by a colleague appear in existing rows", async ({ serve, visit }) => {
  const docket = await serve({ people: [olga] });
  const mine = await visit(docket, { storageState: docket.session });
  const hers = await visit(docket, { as: olga });
  const her = new Api(hers.request, docket.url, PROJECT);
  const [first, second] = [await her.start("emulator:slow One"), await her.start("emulator:slow Two")];
  await open(mine, at("/jobs"));
  await her.tag(first.id, "release");
  await expect(rows(mine).filter({ has: badge(mine, first.id) }).getByRole("link", { name: "release" })).toBeVisible(SOON);
  await her.archive(second.id);
  await expect(mine.getByRole("button", { name: "The list has changed · Show" })).toBeVisible(SOON);
  await expect(rows(mine)).toHaveCount(2);
  await mine.getByRole("button", { name: "The list has changed · Show" }).click();
  await expect(rows(mine)).toHaveCount(1);
});

test("empty list fills without a reload", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, at("/jobs"));
  await expect(page.getByRole("heading", { name: "No jobs yet" })).toBeVisible();
  const job = await new Api(page.request, docket.url, PROJECT).start("emulator:slow From another tab");
  await expect(badge(page, job.id)).toBeVisible(SOON);
});

test("sections of the overview update with jobs of all people", async ({ serve, visit }) => {
  test.setTimeout(60_000);
  const docket = await serve({ people: [olga] });
  const mine = await visit(docket, { storageState: docket.session });
  const hers = await visit(docket, { as: olga });
  const her = new Api(hers.request, docket.url, PROJECT);
  await open(mine, at(""));
  const job = await her.start("emulator:fail Break before their eyes");
  await expect(badge(group(mine, "Running now"), job.id)).toBeVisible(SOON);
  await expect(badge(group(mine, "Needs attention"), job.id)).toHaveAttribute("data-status", "failed", UNTIL_DONE);
  await expect(badge(group(mine, "Running now"), job.id)).toHaveCount(0);
});

test("page sends one status request for all of its jobs", async ({ page, api }) => {
  await api.start("emulator:slow Be asked about");
  await page.clock.install();
  await open(page, at("/jobs"));
  const requested: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") requested.push(new URL(request.url()).pathname);
  });
  await page.clock.runFor(10_000);
  expect(requested.filter((path) => path === "/api/jobs/statuses").length).toBeLessThanOrEqual(6);
  expect(new Set(requested)).toEqual(new Set(["/api/jobs/statuses"]));
});
