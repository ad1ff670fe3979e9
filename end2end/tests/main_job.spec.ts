/** The main use case: a prompt becomes a pull request, without any action by the people watching. */
import type { Page, Request } from "@playwright/test";
import { PROJECT, ANONYMOUS, UNTIL_DONE, at, badge, expect, fillInSignIn, jobOf, open, test } from "../fixtures/docket.ts";

const STATUSES = "**/api/jobs/statuses";

/** The ids in a status request. */
function idsOf(request: Request): string[] {
  return new URLSearchParams(request.postData() ?? "").get("jobs")?.split(",") ?? [];
}

/** Counts the documents that `page` loads from now on. */
function loads(page: Page): () => number {
  let count = 0;
  page.on("domcontentloaded", () => (count += 1));
  return () => count;
}

test.describe("from sign-in", () => {
  test.use({ storageState: ANONYMOUS });

  test("prompt becomes a pull request; follow-up restarts the agent", async ({ page, demo }) => {
    test.setTimeout(90_000);
    await open(page, "/");
    await expect(page).toHaveURL("/login");
    await fillInSignIn(page, demo.administrator);
    await expect(page).toHaveURL(`/p/${PROJECT}`);

    await page.getByRole("link", { name: "New job" }).click();
    await page.getByLabel("Prompt").fill("emulator:pull-request Say how to rotate a key\n\nKeep it short.");
    await page.getByRole("button", { name: "Start job" }).click();
    const job = await jobOf(page);
    const loaded = loads(page);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("emulator:pull-request Say how to rotate a key");
    await expect(badge(page, job)).toHaveAttribute("data-status", "active");
    await expect(page.getByRole("link", { name: /^Pull request/ })).toHaveCount(0);

    await expect(badge(page, job)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
    const request = page.locator(".job-head").getByRole("link", { name: /^Pull request #\d+$/ });
    await expect(request).toBeVisible();
    await expect(request).toHaveAttribute("href", /^http:\/\/127\.0\.0\.1:\d+\/.+\/pull\/\d+$/);
    await expect(request).toHaveAttribute("target", "_blank");
    await expect(request).toHaveAttribute("rel", "noopener noreferrer");

    const conversation = page.getByRole("list", { name: "Conversation" }).getByRole("listitem");
    await expect(conversation).toHaveCount(1);
    await page.getByLabel("Follow-up").fill("emulator:no-changes Mention the dashboard too");
    await page.getByRole("button", { name: "Send follow-up" }).click();
    await expect(conversation).toHaveCount(2);
    await expect(conversation.last()).toContainText("Mention the dashboard too");
    await expect(conversation.last().locator("[data-delivery]")).toHaveAttribute("data-delivery", "accepted");
    await expect(page.getByLabel("Follow-up")).toHaveValue("");
    await expect(badge(page, job)).toHaveAttribute("data-status", "active", UNTIL_DONE);
    await expect(badge(page, job)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
    await expect(request).toBeVisible();
    expect(loaded(), "pages loaded meanwhile").toBe(0);
  });
});

test("jobs finish in the list, one status request for all that run", async ({ page, api }) => {
  test.setTimeout(60_000);
  const started = {
    pullRequest: await api.start("emulator:pull-request Describe the webhook headers"),
    noChanges: await api.start("emulator:no-changes Look for broken links"),
    failed: await api.start("emulator:fail Convert the diagrams"),
  };
  const requests: Request[] = [];
  const others: string[] = [];
  let unanswered = 0;
  let mostUnanswered = 0;
  page.on("request", (request) => {
    if (!request.url().includes("/api/")) return;
    if (!request.url().endsWith("/statuses")) return void others.push(request.url());
    requests.push(request);
    unanswered += 1;
    mostUnanswered = Math.max(mostUnanswered, unanswered);
  });
  page.on("requestfinished", (request) => {
    if (request.url().endsWith("/statuses")) unanswered -= 1;
  });

  await open(page, at("/jobs"));
  const loaded = loads(page);
  const rows = page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
  const order = await rows.locator("[data-job]").evaluateAll((badges) => badges.map((it) => it.getAttribute("data-job")));
  expect(order.slice(0, 3)).toEqual([started.failed.id, started.noChanges.id, started.pullRequest.id]);
  for (const { id } of Object.values(started)) await expect(badge(page, id)).toHaveAttribute("data-status", "active");

  await expect(badge(page, started.pullRequest.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  await expect(badge(page, started.noChanges.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  await expect(badge(page, started.failed.id)).toHaveAttribute("data-status", "failed", UNTIL_DONE);
  await expect(badge(page, started.noChanges.id)).toHaveText("Completed, no changes");
  const rowOf = (job: string) => rows.filter({ has: badge(page, job) });
  // Its state is added as soon as Docket knows it.
  const link = rowOf(started.pullRequest.id).getByRole("link", { name: /^Pull request #\d+(, (open|draft))?$/ });
  await expect(link).toHaveAttribute("rel", "noreferrer");
  await expect(rowOf(started.noChanges.id).getByRole("link", { name: /^Pull request/ })).toHaveCount(0);

  const after = await rows.locator("[data-job]").evaluateAll((badges) => badges.map((it) => it.getAttribute("data-job")));
  expect(after, "rows stay where they were").toEqual(order);
  expect(loaded(), "pages loaded meanwhile").toBe(0);
  expect(requests.length).toBeGreaterThan(1);
  expect(idsOf(requests[0] as Request)).toEqual(expect.arrayContaining(Object.values(started).map(({ id }) => id)));
  for (const request of requests) expect(order, "only jobs of the list").toEqual(expect.arrayContaining(idsOf(request)));
  expect(mostUnanswered, "requests at once").toBe(1);
  expect(others.filter((url) => !url.endsWith("/upstream/budgets")), "other requests").toEqual([]);
});

test("finished job on another page shows toast, title and icon", async ({ page, api }) => {
  test.setTimeout(60_000);
  const job = await api.start("emulator:pull-request Explain idempotency keys");
  await open(page, at(`/jobs/${job.id}`));
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Analytics" }).click();
  await expect(page).toHaveTitle("Analytics · Docket");
  await page.evaluate(() => {
    document.hasFocus = () => false;
  });

  const note = page.getByRole("status").getByRole("link", { name: /^Pull request opened: .*Explain idempotency keys/ });
  await expect(note).toBeVisible(UNTIL_DONE);
  await expect(page).toHaveTitle("(1) Analytics · Docket");
  const tabIcon = page.locator("link[rel=icon]");
  await expect(tabIcon).toHaveAttribute("href", "/favicon-unseen.svg");
  expect((await page.request.get("/favicon-unseen.svg")).status()).toBe(200);
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(page).toHaveTitle("Analytics · Docket");
  await expect(tabIcon).toHaveAttribute("href", "/favicon.svg");
  await note.click();
  await expect(page).toHaveURL(at(`/jobs/${job.id}`));
  await expect(note).toHaveCount(0);
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "completed");
});

test("finished job on its own page adds no title count", async ({ page, api }) => {
  test.setTimeout(60_000);
  const job = await api.start("emulator:fail Redraw the sequence diagram");
  await open(page, at(`/jobs/${job.id}`));
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "failed", UNTIL_DONE);
  await expect(page.getByRole("status").getByText(/^Failed: /)).toBeVisible();
  await expect(page).toHaveTitle("emulator:fail Redraw the sequence diagram · Docket");
  await expect(page.getByText("The agent failed. Run the job again")).toBeVisible();
  await expect(page.getByRole("link", { name: "Run again" })).toHaveAttribute("href", at(`/jobs/new?from=${job.id}`));
});

test("title of a job that begins with a number keeps it", async ({ page, api }) => {
  const job = await api.start("(2) Fix the second step");
  await open(page, at(`/jobs/${job.id}`));
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(page).toHaveTitle("(2) Fix the second step · Docket");
});

test("hidden page sends no requests, one at once when visible", async ({ page, api }) => {
  const job = await api.start("emulator:slow Go through every page");
  await page.clock.install();
  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/")) requests += 1;
  });
  const hide = (hidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);

  await open(page, at(`/jobs/${job.id}`));
  const answered = page.waitForResponse(STATUSES);
  await page.clock.runFor(2_000);
  await answered;
  await hide(true);
  requests = 0;
  await page.clock.runFor(10 * 60_000);
  expect(requests, "requests of a hidden page in ten minutes").toBe(0);

  const response = page.waitForResponse(STATUSES);
  await hide(false);
  expect((await response).status()).toBe(200);
});

test("page shows an outage of Docket and recovers", async ({ page, api, context, trouble }) => {
  trouble.expects(/statuses/);
  const job = await api.start("emulator:slow Take your time");
  await open(page, at(`/jobs/${job.id}`));
  await context.setOffline(true);
  const warning = page.getByRole("status").getByText("Docket cannot be reached.");
  await expect(warning).toBeVisible();
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "active");
  await context.setOffline(false);
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(warning).toHaveCount(0);
});
