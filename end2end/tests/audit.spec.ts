/** The audit log: administrators search, verify and export it, with and without JavaScript. */
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { at, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";

const AUDIT = "/admin/audit";

const rows = (page: Page) => page.getByRole("table", { name: "Records" }).locator("tbody tr");

// Different texts: otherwise the second job is similar to the first while that is running.
for (const [javaScriptEnabled, text] of [[true, "A sentence that nobody else needs to read"], [false, "Private words about the mobile app"]] as const) {
  test(`job is found by author and action ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ demo, person, visit }) => {
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    const ready = async () => {
      if (javaScriptEnabled) await interactive(page);
    };
    await page.goto(at("/jobs/new"));
    await ready();
    await page.getByLabel("Prompt").fill(`emulator:no-changes ${text}\n\nOnly the title is shown elsewhere.`);
    await page.getByRole("button", { name: "Start job" }).click();
    const job = await jobOf(page);
    await expect(page.getByText(text).first()).toBeVisible();

    await page.goto("/admin/upstream");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Audit log" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Audit log" })).toBeVisible();
    await page.getByLabel("Person").selectOption(person.username);
    await page.getByLabel("Action").selectOption("Job started");
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page).toHaveURL(/person=writer-.*action=job_start/);
    await expect(rows(page)).toHaveCount(1);
    await expect(rows(page).first()).toContainText(person.username);
    await expect(page.getByText("Only the title")).toHaveCount(0);
    await expect(rows(page).locator("time"), "in full on hover").toHaveAttribute("title", /\b20\d\d\b.*\d\d:\d\d/);
    await expect(page.getByLabel("Person")).toHaveValue(person.username);
    await expect(page.getByLabel("Action")).toHaveValue("job_start");
    await rows(page).first().getByRole("link", { name: `emulator:no-changes ${text}` }).click();
    await expect(page).toHaveURL(new RegExp(`/jobs/${job}$`));

    await page.goto(`${AUDIT}?project=nowhere`);
    await expect(page.getByText("No matching records")).toBeVisible();
    await page.getByRole("link", { name: "All records" }).last().click();
    await expect(page).toHaveURL(new RegExp(`${AUDIT}$`));
    await expect(rows(page)).not.toHaveCount(0);
  });
}

test("log has pages in both directions", async ({ page, person, demo }) => {
  const post = (endpoint: string, form: Record<string, string>) =>
    page.request.post(`${demo.url}/api/users/${endpoint}`, { form, headers: { origin: demo.url, accept: "application/json" } });
  // Each new link is a record of its own; exports are only counted after the first 20 of an hour.
  const invited = `guest-of-${person.username}`;
  expect((await post("invite", { name: invited, role: "viewer", access: "all" })).ok()).toBe(true);
  const { people } = (await (await post("list", {})).json()) as { people: { id: string; name: string }[] };
  const { id } = people.find(({ name }) => name === invited)!;
  for (let link = 0; link < 51; link += 1) {
    expect((await post("renew", { user: id })).ok()).toBe(true);
  }
  const mine = `${AUDIT}?person=${person.username}&action=user_invite_again`;
  await open(page, mine);
  await expect(rows(page)).toHaveCount(50);
  await page.getByRole("link", { name: "Older" }).click();
  await expect(page).toHaveURL(/&before=\d+$/);
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole("link", { name: "Newest" }).click();
  await expect(page).toHaveURL(new RegExp(`${AUDIT}\\?person=${person.username}&action=user_invite_again$`));
  await expect(rows(page)).toHaveCount(50);
});

test("records beyond the hourly limit are counted in a notice", async ({ page, person, demo, playwright }) => {
  const request = await playwright.request.newContext();
  for (let times = 0; times < 25; times += 1) {
    const signedIn = await request.post(`${demo.url}/api/session/login`, { form: { username: person.username, password: person.password }, headers: { origin: demo.url }, maxRedirects: 0 });
    expect(signedIn.status()).toBeLessThan(400);
  }
  await request.dispose();
  // The limit of sessions has ended the session of this page.
  await page.request.post("/api/session/login", { form: { username: person.username, password: person.password }, headers: { origin: demo.url } });
  await open(page, `${AUDIT}?person=${person.username}&action=sign_in`);
  await expect(rows(page)).toHaveCount(20);
  await expect(page.getByRole("status").getByRole("listitem")).toHaveText(new RegExp(`^${person.username}: Sign-in, .*: 7 more since `, "i"));
  await expect(page.getByText("Not recorded one by one")).toBeVisible();
  await expect(page.getByText(/The first 20 events an hour .* Further ones are counted/)).toBeVisible();
  await open(page, `${AUDIT}?person=nobody`);
  await expect(page.getByText("Not recorded one by one")).toHaveCount(0);
});

test("log shows its verification and can be exported", async ({ page, person }) => {
  await open(page, AUDIT);
  await page.getByRole("link", { name: "Check all records" }).click();
  await expect(page.locator(".notice-ok")).toContainText("All records are whole and in order");
  await expect(page.locator("code.secret")).toHaveText(/^\d+:[0-9a-f]{64}$/);
  await page.getByLabel("Person").selectOption(person.username);
  await page.getByRole("button", { name: "Show" }).click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV" }).click()]);
  expect(file.suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await readFile((await file.path())!, "utf8")).trim().split("\r\n");
  expect(lines[0]).toBe('"number","at","who","from","action","outcome","project","subject","detail","who_id"');
  expect(lines.length, "the head and records").toBeGreaterThan(1);
  expect(lines.slice(1).every((line) => line.includes(`,"${person.username}",`))).toBe(true);
});

test("log and its filters fit on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, AUDIT);
  await expect(page.getByLabel("Person")).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
