/** An open page updates itself without moving content, in one or several tabs, and notifies people while it is hidden. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import type { Job } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, interactive, open, test } from "../fixtures/docket.ts";

const STATUSES = "**/api/jobs/statuses";

/** The button on the page of notifications. */
const bell = (page: Page) => page.getByRole("button", { name: "Notify me in this browser" });

/** Opens the notifications by the bell and enables the browser's own. */
async function enableNotifications(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Notifications" }).click();
  await expect(page).toHaveURL(at("/notifications"));
  await interactive(page);
  await bell(page).click();
  await expect(bell(page)).toHaveAttribute("aria-pressed", "true");
}

const toasts = (page: Page) => page.locator(".toast");

/** Counts the status requests of `page` from now on. */
function countRequests(page: Page): () => number {
  let count = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/api/jobs/statuses")) count += 1;
  });
  return () => count;
}

async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

/** Responds to every status request of `page`: `jobs` were completed without changes. */
async function finish(page: Page, jobs: Job[]): Promise<void> {
  const changed_at = new Date(Date.now() + 60_000).toISOString();
  const badges = jobs.map(({ id }) => ({ id, state: "completed", status: "completed", pr_link: null, changed_at, tracked: false }));
  await page.route(STATUSES, (route) => route.fulfill({ json: badges }));
}

/** Replaces the browser's notifications; the permission request returns `response`. */
async function standIn(page: Page, response: "granted" | "denied"): Promise<void> {
  await page.addInitScript((response) => {
    const shown: object[] = [];
    class Notification {
      static permission = localStorage.getItem("permission") ?? "default";
      static async requestPermission(): Promise<string> {
        localStorage.setItem("permission", response);
        return (Notification.permission = response);
      }
      onclick: (() => void) | null = null;
      readonly title: string;
      readonly options: object;
      constructor(title: string, options: object) {
        this.title = title;
        this.options = options;
        shown.push(this);
      }
      close(): void {}
    }
    Object.assign(window, { Notification, shown });
  }, response);
}

/** The notifications that were shown. */
function shown(page: Page): Promise<{ title: string; options: { body: string } }[]> {
  return page.evaluate(() => (window as unknown as { shown: { title: string; options: { body: string } }[] }).shown);
}

test("untracked job has a notice, slow status requests and recheck", async ({ page, api }) => {
  const job = await api.start("emulator:slow Lose this job");
  const changed_at = new Date(Date.now() + 60_000).toISOString();
  const lost = { state: "other", changed_at, tracked: false };
  await page.route(STATUSES, (route) => route.fulfill({ json: [{ id: job.id, status: "not found", pr_link: null, ...lost }] }));
  // The page refreshes itself; tests/api/tracking.rs checks what the server renders then.
  await page.route(`**/jobs/${job.id}`, async (route) => {
    if (!route.request().headers()["docket-refresh"]) return route.continue();
    const rendered = await (await route.fetch()).text();
    const check = `<p>There is no such job.</p><form method="post" action="/api/jobs/check"><input type="hidden" name="project" value="${PROJECT}"><input type="hidden" name="job" value="${job.id}"><button type="submit">Check again</button></form>`;
    await route.fulfill({ contentType: "text/html", body: rendered.replace(/data-region="job"[^>]*>/, (region) => region + check) });
  });
  await page.clock.install();
  await open(page, at(`/jobs/${job.id}`));
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(badge(page, job.id)).toHaveText("Not found");
  await expect(page.getByText("There is no such job.")).toBeVisible();
  const requests = countRequests(page);
  await page.clock.runFor(60_000);
  expect(requests(), "requests in a minute").toBeLessThanOrEqual(4);
  expect(requests(), "it is still asked about").toBeGreaterThan(0);

  await page.getByRole("button", { name: "Check again" }).click();
  await expect(page).toHaveURL(at(`/jobs/${job.id}`));
  await expect(badge(page, job.id), "as the server has it").toHaveAttribute("data-status", /active|other/);
  // The page may still be refreshing itself.
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("rows that no longer match the filter stay current", async ({ page, api }) => {
  test.setTimeout(120_000);
  const job = await api.start("emulator:pull-request Describe the retry header");
  const row = page.locator(".job-row").filter({ has: badge(page, job.id) });
  await open(page, at("/jobs?status=active"));
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "active");
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  await expect(row.getByRole("link", { name: /^Pull request #/ })).toBeVisible();

  await open(page, at("/jobs?status=completed"));
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "completed");
  await api.follow(job.id, "emulator:slow Shorten it");
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "active");
});

test("new state does not move rows or scroll position", async ({ page, api }) => {
  test.setTimeout(60_000);
  const ends = [["pull-request", "completed"], ["no-changes", "completed"], ["fail", "failed"]] as const;
  // The list has no other jobs, whose end would show a toast above it.
  const word = `w${randomUUID().slice(0, 8)}`;
  const jobs = await Promise.all(ends.map(async ([end, state]) => ({ id: (await api.start(`emulator:${end} Stay where you are, ${word}`)).id, state })));
  await page.setViewportSize({ width: 1280, height: 220 });
  await open(page, at(`/jobs?q=${word}`));
  await page.mouse.wheel(0, 120);
  const places = () =>
    page.locator("[data-job]").evaluateAll((badges) => badges.map((it) => [it.getAttribute("data-job"), Math.round(it.closest("li")!.getBoundingClientRect().top)]));
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(0);
  const before = await places();
  for (const { id, state } of jobs) await expect(badge(page, id)).toHaveAttribute("data-status", state, UNTIL_DONE);
  expect(await places()).toEqual(before);
});

test("two tabs show the same end; hidden tab sends nothing", async ({ page, context, api }) => {
  test.setTimeout(60_000);
  const job = await api.start("emulator:no-changes Seen from two sides");
  const other = await context.newPage();
  await open(page, at("/jobs"));
  await open(other, at(`/jobs/${job.id}`));
  await hide(other, true);
  const requests = countRequests(other);
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  expect(requests(), "requests of the hidden tab").toBe(0);
  const response = other.waitForResponse(STATUSES);
  await hide(other, false);
  expect((await response).status()).toBe(200);
  await expect(badge(other, job.id)).toHaveAttribute("data-status", "completed");
  await expect(other.getByText("The agent finished, and the platform named no pull request.")).toBeVisible();
});

test("enabled notification has the job's title and opens the job", async ({ page, api }) => {
  test.setTimeout(60_000);
  await standIn(page, "granted");
  // A page without jobs: one of the demo that happens to finish now would come first.
  await open(page, at("/templates"));
  await enableNotifications(page);
  await expect(page.getByRole("status").getByText("this browser notifies you when a job finishes")).toBeVisible();
  const job = await api.start("emulator:pull-request Ring the bell\n\nThis is nobody's business.");
  await page.reload();
  await interactive(page);
  await expect(bell(page), "the choice is stored").toHaveAttribute("aria-pressed", "true");
  await open(page, at(`/jobs/${job.id}`));
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Analytics" }).click();
  await page.evaluate(() => (document.hasFocus = () => false));

  await expect.poll(async () => (await shown(page)).length, UNTIL_DONE).toBe(1);
  const [notification] = await shown(page);
  expect(notification?.title).toBe("Pull request opened");
  expect(notification?.options.body).toBe("emulator:pull-request Ring the bell");
  await expect(page).toHaveTitle("(1) Analytics · Docket");
  await page.evaluate(() => (window as unknown as { shown: { onclick(): void }[] }).shown[0]?.onclick());
  await expect(page).toHaveURL(at(`/jobs/${job.id}`));

  await open(page, at("/notifications"));
  await bell(page).click();
  await expect(bell(page)).toHaveAttribute("aria-pressed", "false");
});

test("visible page or disabled notifications send no notification", async ({ page, api }) => {
  test.setTimeout(60_000);
  await standIn(page, "granted");
  const job = await api.start("emulator:no-changes Ring no bell");
  await open(page, at(`/jobs/${job.id}`));
  await page.evaluate(() => (document.hasFocus = () => false));
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  expect(await shown(page)).toEqual([]);

  await page.evaluate(() => (document.hasFocus = () => true));
  await enableNotifications(page);
  const watched = await api.start("emulator:no-changes Ring no bell either");
  await page.goto(at(`/jobs/${watched.id}`));
  await interactive(page);
  await page.evaluate(() => (document.hasFocus = () => true));
  await expect(badge(page, watched.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  expect(await shown(page)).toEqual([]);
});

test("refused permission for notifications shows a message", async ({ page }) => {
  await standIn(page, "denied");
  await open(page, at("/notifications"));
  await bell(page).click();
  await expect(page.getByRole("status").getByText("This browser blocks notifications.")).toBeVisible();
  await expect(bell(page)).toHaveAttribute("aria-pressed", "false");
});

test("hidden page with notifications sends slow status requests", async ({ page, api }) => {
  await standIn(page, "granted");
  const job = await api.start("emulator:slow Take your time");
  await open(page, at(""));
  await enableNotifications(page);
  await page.clock.install();
  await open(page, at(`/jobs/${job.id}`));
  await page.clock.runFor(1_000);
  await hide(page, true);
  const requests = countRequests(page);
  for (let minutes = 0; minutes < 5; minutes++) {
    const answered = page.waitForResponse(STATUSES);
    await page.clock.runFor(60_000);
    await answered;
  }
  expect(requests(), "requests in five minutes").toBeLessThanOrEqual(10);
});

test("hidden page with throttled timers sends one request per timer", async ({ page, api }) => {
  await standIn(page, "granted");
  const job = await api.start("emulator:slow Take a minute");
  await open(page, at(""));
  await enableNotifications(page);
  await page.clock.install();
  await open(page, at(`/jobs/${job.id}`));
  await hide(page, true);
  for (let minute = 1; minute <= 3; minute++) {
    const answered = page.waitForResponse(STATUSES);
    await page.clock.fastForward(60_000);
    await answered;
  }
});

test("many finished jobs are one toast that links to changes", async ({ page, api }) => {
  const jobs = await Promise.all([1, 2, 3, 4].map((at) => api.start(`emulator:slow One of a crowd, number ${at}`)));
  await finish(page, jobs);
  await open(page, at("/jobs"));
  await expect(toasts(page)).toHaveText(["4 jobs finished"]);
  await toasts(page).getByRole("link").click();
  await expect(page).toHaveURL(at("/jobs?sort=changed"));
});

test("toast on a hidden page stays until it is visible", async ({ page, api }) => {
  const job = await api.start("emulator:slow End behind their backs");
  await finish(page, [job]);
  await page.clock.install();
  await page.addInitScript(() => (document.hasFocus = () => false));
  await open(page, at("/jobs"));
  await expect(toasts(page)).toHaveText([/^Completed, no changes: .*End behind their backs$/]);
  await page.clock.runFor(30_000);
  await expect(toasts(page)).toHaveCount(1);
  await page.evaluate(() => {
    document.hasFocus = () => true;
    window.dispatchEvent(new Event("focus"));
  });
  await page.clock.runFor(5_000);
  await expect(toasts(page)).toHaveCount(1);
  await page.clock.runFor(6_000);
  await expect(toasts(page)).toHaveCount(0);
});
