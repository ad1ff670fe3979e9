/** axe finds no violations on any page, light or dark. */
import { expectAccessible } from "../fixtures/accessibility.ts";
import { Api, type Job, type State } from "../fixtures/api.ts";
import { day, inUrl, stored } from "../fixtures/days.ts";
import { ANONYMOUS, PROJECT, at, badge, expect, interactive, open, test } from "../fixtures/docket.ts";
import { JOBS, PAGES } from "../fixtures/pages.ts";

// Colors are checked after transitions have ended.
test.use({ contextOptions: { reducedMotion: "reduce" } });

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name} is accessible`, async ({ page }) => {
    await open(page, path);
    await expectAccessible(page);
  });
}

test("comparison with the platform is accessible", async ({ page, api }) => {
  test.setTimeout(300_000);
  const range = { from: day(8), to: day(5) };
  await stored(api, range);
  await open(page, at(`/analytics/check?${inUrl(range)}`));
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page.getByRole("table", { name: "Totals" })).toBeVisible();
  await expectAccessible(page);
});

test("page of a person and its confirmations are accessible", async ({ serve, visit }) => {
  const olga = { username: "olga", password: "writes-the-docs-1", role: "operator" } as const;
  const docket = await serve({ people: [olga] });
  const page = await visit(docket, { storageState: docket.session, reducedMotion: "reduce" });
  await open(page, "/admin/users");
  await page.getByRole("link", { name: "Manage olga" }).click();
  await interactive(page);
  await page.getByText("Create link for a new password", { exact: true }).click();
  await expect(page.getByRole("button", { name: "Create link" })).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectAccessible(page);
});

test("batch and its queue are accessible", async ({ serve, visit }) => {
  const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1" } });
  const page = await visit(docket, { storageState: docket.session, reducedMotion: "reduce" });
  await open(page, at("/jobs/batch"));
  await page.getByLabel("Prompt template").fill("Check {{page}}");
  await page.getByLabel("Values, one line per job").fill("/a\n/b\n/c");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("table", { name: "Prompts" }).getByRole("row")).toHaveCount(4);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Start batch for 3 pages" }).click();
  await expect(page.getByText("1 of 3 sent")).toBeVisible();
  await page.getByText("Cancel queued jobs…").click();
  await expectAccessible(page);
  await page.getByRole("main").getByRole("link", { name: "2 prompts in the queue" }).click();
  await expect(page.getByRole("list", { name: "Queued prompts" }).getByRole("listitem")).toHaveCount(1);
  await expectAccessible(page);
  await page.locator(".queue-batch summary").click();
  await expect(page.getByRole("list", { name: /^Prompts of / }).getByRole("listitem")).toHaveCount(2);
  await page.getByRole("link", { name: "Cancel: Check /b" }).click();
  await expect(page.getByRole("button", { name: "Cancel job" })).toBeVisible();
  await expectAccessible(page);
});

for (const [name, fits] of Object.entries(JOBS)) {
  test(`job ${name} is accessible`, async ({ page, api }) => {
    const job = await api.jobThat(fits);
    await open(page, at(`/jobs/${job.id}`));
    const history = page.locator("details.history summary");
    if (await history.isVisible()) await history.click();
    await expectAccessible(page);
  });
}

/** States that the demo's jobs do not reach, as the endpoints return them. */
for (const state of ["active", "queued", "sending", "archived", "other"] satisfies State[]) {
  test(`job that is ${state} is accessible`, async ({ page, api }) => {
    const job = await api.start("emulator:slow Work on");
    const changed_at = new Date(Date.now() + 60_000).toISOString();
    const status = state === "other" ? "paused" : state;
    await page.route("**/api/jobs/statuses", (route) =>
      route.fulfill({ json: [{ id: job.id, state, status, pr_link: null, changed_at }] }),
    );
    await page.route("**/api/jobs/get", async (route) => {
      const reported = (await (await route.fetch()).json()) as Job;
      await route.fulfill({ json: { ...reported, state, changed_at, remote: { ...reported.remote, status } } });
    });
    await open(page, at(`/jobs/${job.id}`));
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await expect(badge(page, job.id)).toHaveAttribute("data-status", state);
    await expectAccessible(page);
  });
}

test("list with a job in every state is accessible", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  const states: State[] = ["queued", "sending", "active", "completed", "archived", "failed", "rejected", "cancelled", "unknown", "other"];
  const jobs = await Promise.all(states.map(() => api.start("emulator:slow Work on")));
  const changed_at = new Date(Date.now() + 60_000).toISOString();
  const badges = states.map((state, at) => ({ id: jobs[at]?.id, state, status: "paused", pr_link: null, changed_at }));
  await page.route("**/api/jobs/statuses", (route) => route.fulfill({ json: badges }));
  await open(page, at("/jobs"));
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  for (const { id, state } of badges) await expect(badge(page, id ?? "")).toHaveAttribute("data-status", state);
  await expectAccessible(page);
});

test("list of shortcuts is accessible", async ({ page }) => {
  await open(page, at("/jobs"));
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await expectAccessible(page);
});

test("open menu of projects and a note are accessible", async ({ page, api, context }) => {
  await context.grantPermissions(["clipboard-write"]);
  const job = await api.jobThat((job) => job.remote !== null);
  await open(page, at(`/jobs/${job.id}`));
  await page.getByRole("button", { name: "Copy the platform id" }).click();
  await page.getByRole("button", { name: "Project: Acme Docs" }).click();
  await expect(page.getByRole("link", { name: "Acme API" })).toBeVisible();
  await expect(page.getByText("Id copied")).toBeVisible();
  await expectAccessible(page);
});

test("refused form is accessible", async ({ page, trouble }) => {
  trouble.expects(/status of 400/);
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("Too much");
  await page.getByLabel("Pages").fill(`/${"long".repeat(130)}`);
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await expectAccessible(page);
});

test("pages for missing data and for errors are accessible", async ({ page, trouble }) => {
  trouble.expects(/status of 404/, /status of 400/);
  for (const path of ["/nowhere", at("/jobs/01920000-0000-7000-8000-000000000000"), at("/jobs?status=finished")]) {
    await open(page, path);
    await expectAccessible(page);
  }
});

test("empty Docket and used-up budget are accessible", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 429/);
  const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1", DOCKET_ANALYTICS_PER_HOUR: "1" } });
  const page = await visit(docket, { storageState: docket.session, reducedMotion: "reduce" });
  for (const path of [at(""), at("/jobs")]) {
    await open(page, path);
    await expect(page.getByRole("heading", { name: "No jobs yet" })).toBeVisible();
    await expectAccessible(page);
  }
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("The only one");
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByRole("list", { name: "Conversation" })).toBeVisible();
  for (const path of [at("/jobs/new"), at("/analytics")]) {
    await open(page, path);
    await expectAccessible(page);
  }
});

test("pages of a viewer are accessible", async ({ serve, visit }) => {
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const page = await visit(await serve({ people: [viewer] }), { as: viewer, reducedMotion: "reduce" });
  for (const path of [at("/jobs/new"), at("/analytics?limit=25")]) {
    await open(page, path);
    await expectAccessible(page);
  }
});

test.describe("on a screen 390 px wide", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  for (const path of [at(""), at("/jobs"), at("/jobs/new"), at("/analytics?limit=25"), at("/analytics/check"), "/account", "/admin/users", "/admin/audit", "/admin/upstream", "/admin/webhooks"]) {
    test(`${path} is accessible too`, async ({ page }) => {
      await open(page, path);
      await expectAccessible(page);
    });
  }

  test("job is accessible too", async ({ page, api }) => {
    const job = await api.jobThat((job) => job.follow_ups.length > 0);
    await open(page, at(`/jobs/${job.id}`));
    await expectAccessible(page);
  });
});

test.describe("without a session", () => {
  test.use({ storageState: ANONYMOUS });

  for (const path of ["/login", "/setup?token=nothing"]) {
    test(`${path} is accessible`, async ({ page }) => {
      await open(page, path);
      await expectAccessible(page);
    });
  }

  test("refused sign-in is accessible", async ({ page }) => {
    await open(page, "/login");
    await page.getByLabel("Username").fill("nobody");
    await page.getByLabel("Password").fill("nothing at all");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await expectAccessible(page);
  });
});
