/** Every page becomes interactive, and hydrates the server's HTML without warnings. */
import { Api } from "../fixtures/api.ts";
import { OTHER_PROJECT, PROJECT, ANONYMOUS, at, badge, expect, open, test } from "../fixtures/docket.ts";
import { Platform } from "../fixtures/platform.ts";

const PAGES = {
  "the overview": at(""),
  "the list of jobs": at("/jobs"),
  "a filtered list": at("/jobs?status=completed&q=guide&author=jonas"),
  "a list without matches": at("/jobs?q=nothing-is-called-so"),
  "the form for a new job": at("/jobs/new"),
  "a form that is filled in": at("/jobs/new?prompt=Fix+it&path=/quickstart"),
  analytics: at("/analytics"),
  "a later page of analytics": at("/analytics?page=3&limit=25"),
  "the comparison with the platform, for administrators": at("/analytics/check"),
  "the upstream, for administrators": "/admin/upstream",
  "another project": at("", OTHER_PROJECT),
};

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name} becomes interactive`, async ({ page }) => {
    await open(page, path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page).toHaveTitle(/ · Docket$/);
    await expect(page.locator(".no-js").filter({ visible: true }), "what stands in for JavaScript").toHaveCount(0);
  });
}

test("icons of a page are one image, loaded once for each release", async ({ page, context }) => {
  const client = await context.newCDPSession(page);
  await client.send("Network.enable");
  const images = new Set<string>();
  const cached = new Set<string>();
  const loaded: string[] = [];
  client.on("Network.requestWillBeSent", ({ type, request }) => type === "Image" && images.add(request.url));
  client.on("Network.requestServedFromCache", ({ requestId }) => cached.add(requestId));
  client.on("Network.responseReceived", ({ type, requestId, response }) => {
    if (type === "Image" && !response.fromDiskCache && !cached.has(requestId)) loaded.push(response.url);
  });
  const icons = expect.stringMatching(/\/pkg\/\w+\/icons\.svg$/);
  for (const path of ["", "/jobs", "/analytics"]) {
    images.clear();
    await open(page, at(path));
    await expect.poll(() => images.size > 0 && loaded.length > 0, "a busy browser requests an image late").toBe(true);
    // What the first frames request, too. Events arrive before a later response.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await client.send("Runtime.evaluate", { expression: "0" });
    expect([...images], `images of ${at(path)}, with those in the stylesheet`).toEqual([icons]);
    expect(loaded, "sent by the server, not from the cache").toEqual([icons]);
  }
  const response = await page.request.get(loaded[0] ?? "");
  expect(response.headers()["cache-control"]).toContain("immutable");
  expect(response.headers()["content-type"]).toBe("image/svg+xml");
});

for (const state of ["active", "completed", "failed", "rejected", "unknown"]) {
  test(`page of a job with state ${state} becomes interactive`, async ({ page, api }) => {
    const job = state === "active" ? await api.start("emulator:slow Keep at it") : await api.jobThat((job) => job.state === state);
    await open(page, at(`/jobs/${job.id}`));
    await expect(page.locator(`[data-job="${job.id}"]`)).toHaveAttribute("data-status", state);
  });
}

test("pages of jobs with all other states become interactive", async ({ serve, visit }) => {
  const platform = await Platform.start();
  const docket = await serve({
    environment: { DOCKET_UPSTREAM_URL: platform.url, DOCKET_AGENT_PER_HOUR: "3", DOCKET_UPSTREAM_TIMEOUT_SECONDS: "100" },
  });
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  const jobs = new Map<string, string>();
  for (const status of ["archived", "other"]) jobs.set(status, (await api.start(status)).id);
  // Its prompt is on its way until the platform stops.
  const sending = api.start("sending");
  await expect.poll(async () => (await api.jobs({ status: "sending" })).total).toBe(1);
  jobs.set("sending", (await api.jobThat((job) => job.state === "sending")).id);
  for (const prompt of ["queued", "cancelled"]) jobs.set(prompt, (await api.start(prompt, { queue: "on" })).id);
  await api.cancel((await api.queue()).find(({ prompt }) => prompt === "cancelled")?.message ?? "");

  expect(jobs.size).toBe(5);
  for (const [state, id] of jobs) {
    await open(page, at(`/jobs/${id}`));
    await expect(badge(page, id).first()).toHaveAttribute("data-status", state);
  }
  await platform.stop();
  expect((await sending).state).toBe("unknown");
});

test("unknown path becomes interactive", async ({ page, trouble }) => {
  trouble.expects(/status of 404/);
  await open(page, "/nowhere");
});

test.describe("without a session", () => {
  test.use({ storageState: ANONYMOUS });

  for (const path of ["/login", `/login?next=/p/${PROJECT}/jobs`]) {
    test(`${path} becomes interactive`, async ({ page }) => {
      await open(page, path);
      await expect(page.getByLabel("Password")).toBeVisible();
    });
  }

  test("page of invalid link has a message and becomes interactive", async ({ page }) => {
    await open(page, "/setup?token=nothing");
    await expect(page.getByRole("heading", { level: 1, name: "This link is not valid" })).toBeVisible();
    await expect(page.getByLabel("Password")).toHaveCount(0);
  });
});
