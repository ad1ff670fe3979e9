/** Without JavaScript, Docket is forms and links, and its main use case works. */
import type { Page } from "@playwright/test";
import { PROJECT, ANONYMOUS, UNTIL_DONE, at, badge, expect, fillInSignIn, jobOf, test } from "../fixtures/docket.ts";

test.use({ javaScriptEnabled: false });

/** Reloads the page with its own link until the badge of `job` shows `state`. */
async function refreshUntil(page: Page, job: string, state: string): Promise<void> {
  await expect(async () => {
    await page.getByRole("link", { name: "Refresh" }).click();
    await expect(badge(page, job)).toHaveAttribute("data-status", state, { timeout: 500 });
  }).toPass({ ...UNTIL_DONE, intervals: [1_000] });
}

test.describe("from sign-in to sign-out", () => {
  test.use({ storageState: ANONYMOUS });

  test("prompt becomes a pull request; follow-up restarts the agent", async ({ page, demo }) => {
    test.setTimeout(90_000);
    await page.goto(at("/jobs"));
    await expect(page).toHaveURL(/\/login\?next=/);
    await fillInSignIn(page, demo.administrator);
    await expect(page).toHaveURL(at("/jobs"));

    await page.getByRole("link", { name: "New job" }).click();
    await page.getByLabel("Prompt").fill("emulator:pull-request Describe the audit log");
    await page.getByLabel("Pages").fill("/guides/audit, /guides/audit-events");
    await page.getByRole("button", { name: "Start job" }).click();
    const job = await jobOf(page);
    await expect(badge(page, job)).toHaveAttribute("data-status", "active");
    await expect(page.getByRole("complementary", { name: "Facts" })).toContainText("/guides/audit");
    await refreshUntil(page, job, "completed");
    const request = page.locator(".job-head").getByRole("link", { name: /^Pull request #\d+$/ });
    await expect(request).toHaveAttribute("href", /^http:\/\/127\.0\.0\.1:\d+\//);
    await expect(request).toHaveAttribute("rel", "noopener noreferrer");

    await page.getByLabel("Follow-up").fill("emulator:no-changes Add a table of events");
    await page.getByRole("button", { name: "Send follow-up" }).click();
    await expect(page).toHaveURL(at(`/jobs/${job}`));
    await expect(page.getByRole("list", { name: "Conversation" })).toContainText("Add a table of events");
    await expect(page.getByLabel("Follow-up")).toHaveValue("");
    await refreshUntil(page, job, "active");
    await refreshUntil(page, job, "completed");

    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
    const row = page.getByRole("list", { name: "Jobs" }).getByRole("listitem").filter({ has: badge(page, job) });
    await expect(row).toContainText("Describe the audit log");
    await expect(row.getByRole("link", { name: /^Pull request/ })).toBeVisible();

    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL("/login");
    await page.goto(at("/jobs"));
    await expect(page).toHaveURL(/\/login\?next=/);
  });

  test("wrong password has a message and keeps the requested page", async ({ page, demo }) => {
    await page.goto(at("/analytics"));
    await fillInSignIn(page, { ...demo.administrator, password: "not the password" });
    await expect(page.getByRole("alert")).toHaveText("Incorrect username or password.");
    await fillInSignIn(page, demo.administrator);
    await expect(page).toHaveURL(at("/analytics"));
  });
});

test("list is filtered and searched by its URL", async ({ page, api }) => {
  await page.goto(at("/jobs"));
  const rows = page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
  await page.locator("summary", { hasText: "Status" }).click();
  await page.getByRole("link", { name: /^Rejected/ }).click();
  await expect(page).toHaveURL(at("/jobs?status=rejected"));
  await expect(rows).toHaveCount((await api.jobs({ status: "rejected" })).jobs.length);
  await expect(rows.filter({ hasText: "Move the SDK pages" })).toHaveCount(1);

  await page.getByRole("link", { name: /^Remove the filter/ }).click();
  await expect(page).toHaveURL(at("/jobs"));
  await page.getByRole("searchbox", { name: "Search jobs" }).fill("webhook");
  await page.getByRole("searchbox", { name: "Search jobs" }).press("Enter");
  await expect(page).toHaveURL(/[?&]q=webhook/);
  const found = await api.jobs({ q: "webhook" });
  await expect(rows).toHaveCount(found.jobs.length);
  await expect(rows.filter({ hasText: "Explain how to verify webhook signatures" })).toHaveCount(1);
  await expect(rows.filter({ hasText: "Move the SDK pages" })).toHaveCount(0);
  await expect(page.getByRole("searchbox", { name: "Search jobs" })).toHaveValue("webhook");

  await rows.first().locator("a.job-author").click();
  await expect(page).toHaveURL(/[?&]author=/);
  await rows.first().locator("a.job-title").click();
  await expect(page.getByRole("list", { name: "Conversation" })).toBeVisible();
});

test("filters for page and person keep the other filters", async ({ page, api }) => {
  await page.goto(at("/jobs?sort=oldest"));
  await page.locator("summary", { hasText: "Page" }).click();
  await page.getByRole("textbox", { name: "Page" }).fill("/guides/migration");
  await page.getByRole("textbox", { name: "Page" }).press("Enter");
  await page.locator("summary", { hasText: "Person" }).click();
  await page.getByRole("textbox", { name: "Person" }).fill("jonas");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await expect(page.getByRole("link", { name: "Remove the filter By jonas" })).toBeVisible();
  const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
  await expect(badge(page, job.id)).toBeVisible();
  await expect(page.getByRole("list", { name: "Jobs", exact: true }).locator(".job-row")).toHaveCount(1);
  const fields = Object.fromEntries(new URL(page.url()).searchParams);
  expect(fields).toMatchObject({ tag: "/guides/migration", author: "jonas", sort: "oldest" });
  await page.locator("summary", { hasText: "Person" }).click();
  await expect(page.getByRole("list", { name: "Filter by person" }).getByRole("link", { name: /^Me / })).toHaveAttribute(
    "href",
    /[?&]author=.*&tag=\/guides\/migration&sort=oldest$/,
  );
});

test("days and pages of analytics are links and a form", async ({ page, emulator }) => {
  await page.goto(at("/analytics"));
  await page.getByRole("link", { name: "7 days", exact: true }).click();
  await expect(page).toHaveURL(/\?days=7$/);
  await expect(page.getByRole("link", { name: "7 days", exact: true })).toHaveAttribute("aria-current", "true");

  await page.getByRole("link", { name: "25", exact: true }).click();
  await expect(page).toHaveURL(/&limit=25$/);
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page).toHaveURL(/&page=2&limit=25$/);
  await expect(page.getByText("Rows 26 to 50")).toBeVisible();
  await page.getByRole("link", { name: "Previous" }).click();
  await expect(page.getByText("Rows 1 to 25")).toBeVisible();

  await page.getByText("Custom range").click();
  const from = await page.getByLabel("From", { exact: true }).inputValue();
  await page.getByLabel("From", { exact: true }).fill(from);
  await page.getByLabel("to", { exact: true }).fill(from);
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page).toHaveURL(new RegExp(`from=${from}&to=${from}`));
  const pages = (await emulator.pages(PROJECT, { from, to: from })).slice(0, 25).map(({ path }) => path);
  const rows = page.locator("tr[data-path]");
  await expect(rows).toHaveCount(25);
  expect(await rows.evaluateAll((rows) => rows.map((row) => row.getAttribute("data-path")))).toEqual(pages);
});

test("refusal has a message and keeps text and pages", async ({ page }) => {
  await page.goto(at("/jobs/new"));
  const pages = `/${"long".repeat(130)}`;
  await page.getByLabel("Prompt").fill("First line\n\n  second & <b>third</b>");
  await page.getByLabel("Pages").fill(pages);
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByRole("alert")).toContainText("A page’s path has at most 500 characters");
  await expect(page.getByLabel("Prompt")).toHaveValue("First line\n\n  second & <b>third</b>");
  await page.goto(at("/jobs/new"));
  await expect(page.getByLabel("Prompt"), "after a reload").toHaveValue("First line\n\n  second & <b>third</b>");
});

test("text beyond the budget stays in the form", async ({ serve, visit }) => {
  const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1" } });
  const page = await visit(docket, { storageState: docket.session, javaScriptEnabled: false });
  await page.goto(at("/jobs/new"));
  await page.getByLabel("Prompt").fill("The only one");
  await page.getByRole("button", { name: "Start job" }).click();
  const job = await jobOf(page);

  await page.goto(at("/jobs/new"));
  await expect(page.getByLabel("Prompt")).toHaveValue("");
  await page.getByLabel("Prompt").fill("One too many,\nin two lines");
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByRole("alert")).toContainText(/budget|hour/);
  await expect(page.getByLabel("Prompt")).toHaveValue("One too many,\nin two lines");

  await page.goto(at(`/jobs/${job}`));
  for (const [text, taken] of [["Follow-up one", true], ["Follow-up\ntwo", false]] as const) {
    await page.getByLabel("Follow-up").fill(text);
    await page.getByRole("button", { name: "Send follow-up" }).click();
    await expect(page.getByLabel("Follow-up")).toHaveValue(taken ? "" : text);
  }
  await expect(page.getByRole("alert")).toContainText(/budget|hour/);
  await expect(page.getByRole("list", { name: "Conversation" }).getByRole("listitem")).toHaveCount(2);
});

test("form sent twice starts one job", async ({ page, api, demo }) => {
  await page.goto(at("/jobs/new"));
  const prompt = `Check the links, run ${Date.now()}`;
  await page.getByLabel("Prompt").fill(prompt);
  const hidden = (name: string) => page.locator(`input[name=${name}]`).inputValue();
  const form = { project: await hidden("project"), intent: await hidden("intent"), paths: "", prompt };
  await page.getByRole("button", { name: "Start job" }).dblclick();
  const job = await jobOf(page);

  // The browser drops one of two concurrent clicks; a slow connection would not.
  const again = await Promise.all(
    [1, 2].map(() =>
      page.request.post("/api/jobs/create", {
        form,
        headers: { origin: demo.url, referer: demo.url + at("/jobs/new"), accept: "text/html" },
        maxRedirects: 0,
      }),
    ),
  );
  for (const response of again) {
    expect(response.status()).toBe(302);
    expect(response.headers().location).toBe(at(`/jobs/${job}`));
  }
  expect((await api.jobs({ q: prompt })).jobs).toHaveLength(1);
});

test("running job has a notice to refresh the page", async ({ page, api }) => {
  const { id } = await api.start("emulator:slow Wait for the result");
  await page.goto(at(`/jobs/${id}`));
  await expect(page.getByText("Refresh the page to see the result; you can leave it.")).toBeVisible();
  await expect(page.getByText(/updates automatically/)).toBeHidden();
});

test("controls that need JavaScript are hidden", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.remote !== null);
  // Switching the project stays in the section.
  for (const [path, section] of [[at(""), ""], [at("/jobs"), "/jobs"], [at("/jobs/new"), "/jobs/new"], [at("/analytics"), "/analytics"], [at(`/jobs/${job.id}`), "/jobs"]] as const) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.locator(".js-only").filter({ visible: true })).toHaveCount(0);
    await page.getByRole("button", { name: "Project: Acme Docs" }).click();
    await expect(page.getByRole("link", { name: "Acme API" }), "the other project").toHaveAttribute("href", `/p/acme-api${section}`);
  }
  expect(page.url()).toContain(PROJECT);
});
