/** Webhooks for finished jobs: administrators add, test, inspect and delete them, with and without JavaScript. */
import type { Page } from "@playwright/test";
import { expectAccessible } from "../fixtures/accessibility.ts";
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, expect, interactive, jobOf, open, test as base } from "../fixtures/docket.ts";
import { Platform } from "../fixtures/platform.ts";
import { Receiver, signature } from "../fixtures/receiver.ts";

const test = base.extend<{ receiver: Receiver }>({
  receiver: async ({}, use) => {
    const receiver = await Receiver.start();
    await use(receiver);
    await receiver.stop();
  },
});

const WEBHOOKS = "/admin/webhooks";

const row = (page: Page, address: string) => page.getByRole("table", { name: "Webhooks" }).getByRole("row", { name: address });
const events = (page: Page) => page.getByRole("table", { name: "Log" }).locator("tbody tr");
/** A cell of the only event. */
const cell = (page: Page, column: string) => events(page).locator(`td[data-label="${column}"]`);
const secret = (page: Page) => page.locator("code.secret");
/** Opens the menu of the only webhook. */
const openMenu = (page: Page) => page.getByRole("table", { name: "Webhooks" }).getByRole("button", { name: /^⋯?\s*Actions of/ }).click();
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

async function add(page: Page, address: string, form?: string): Promise<void> {
  if (form) await page.getByLabel("Format").selectOption(form);
  await page.getByLabel("Address").fill(address);
  await page.getByRole("button", { name: "Add webhook" }).click();
}

for (const javaScriptEnabled of [true, false]) {
  test(`added, tested, notified of a job, and deleted ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ serve, visit, receiver }) => {
    const docket = await serve();
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    const ready = async () => {
      if (javaScriptEnabled) await interactive(page);
    };
    await page.goto("/admin/upstream");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Webhooks" }).click();
    await expect(page.getByText("No webhooks yet")).toBeVisible();
    await ready();
    await add(page, receiver.address);
    await expect(secret(page)).toHaveText(SECRET);
    const key = (await secret(page).textContent()) ?? "";
    await expect(row(page, receiver.address)).toContainText("Enabled");
    await page.goto(WEBHOOKS);
    await ready();
    await expect(row(page, receiver.address)).toBeVisible();
    await expect(secret(page), "it is shown once").toHaveCount(0);

    await expect(page.getByRole("button", { name: "Send a test" })).toBeHidden();
    await openMenu(page);
    await page.getByRole("button", { name: "Send a test" }).click();
    await expect(page).toHaveURL(/\?webhook=/);
    await expect(events(page)).toHaveCount(1);
    await expect(events(page).first()).toContainText("Delivered (200) thanks");
    const [received] = receiver.received;
    expect(received?.headers["docket-signature"]).toBe(signature(received!, key));
    expect(JSON.parse(received!.body)).toMatchObject({ type: "webhook.test", job: null });

    await page.goto(at("/jobs/new"));
    await ready();
    await page.getByLabel("Prompt").fill("emulator:no-changes Look for dead links\n\nNobody else needs to know this.");
    await page.getByRole("button", { name: "Start job" }).click();
    const job = await jobOf(page);
    await expect.poll(() => receiver.received.length, UNTIL_DONE).toBe(2);
    const event = JSON.parse(receiver.received[1]!.body);
    expect(receiver.received[1]!.headers["docket-signature"]).toBe(signature(receiver.received[1]!, key));
    expect(event).toMatchObject({
      type: "job.completed",
      job: { id: job, title: "emulator:no-changes Look for dead links", state: "completed", url: docket.url + at(`/jobs/${job}`) },
    });
    expect(receiver.received[1]!.body).not.toContain("Nobody else");

    await page.goto(WEBHOOKS);
    await row(page, receiver.address).getByRole("link", { name: "Log" }).click();
    await expect(events(page).filter({ hasText: "webhook.test" })).toContainText("None, this is a test");
    const named = events(page).filter({ hasText: "job.completed" }).getByRole("link");
    await expect(named).toHaveText("emulator:no-changes Look for dead links");
    await expect(named).toHaveAttribute("href", at(`/jobs/${job}`));
    await page.goto(WEBHOOKS);
    await openMenu(page);
    await page.getByRole("button", { name: "Disable" }).click();
    await expect(row(page, receiver.address)).toContainText("Disabled");
    await openMenu(page);
    await page.getByRole("button", { name: "Enable" }).click();
    await expect(row(page, receiver.address)).toContainText("Enabled");

    await openMenu(page);
    await expect(page.getByRole("button", { name: "Delete webhook" })).toBeHidden();
    await page.locator("summary", { hasText: "Delete" }).click();
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await expect(page.getByText("No webhooks yet")).toBeVisible();
  });
}

test("failed test shows reason, and is resent", async ({ serve, visit, receiver }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, WEBHOOKS);
  await add(page, receiver.address, "slack");
  await expect(row(page, "…hook")).toContainText("Slack");
  await expect(page.getByText(receiver.address)).toHaveCount(0);
  await expect(secret(page)).toHaveCount(0);
  receiver.response = { status: 503, text: "closed for today" };
  await openMenu(page);
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(events(page).first()).toContainText("Failed (503) closed for today");
  await expect(cell(page, "Next attempt"), "a test is sent once").toHaveText("None");
  receiver.response = { status: 200, text: "ok" };
  await page.getByRole("button", { name: "Send again" }).click();
  await expect(events(page)).toHaveCount(1);
  await expect(events(page).first()).toContainText("Delivered (200) ok");
  expect(receiver.received.map(({ body }) => Object.keys(JSON.parse(body)))).toEqual([["text"], ["text"]]);
});

for (const javaScriptEnabled of [true, false]) {
  test(`webhook gets only the chosen events ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ serve, visit, receiver }) => {
    const docket = await serve();
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    await page.goto(WEBHOOKS);
    await page.locator("summary", { hasText: "Choose events" }).click();
    await page.getByLabel("Job failed").check();
    await page.getByLabel("Pull request merged").check();
    await add(page, receiver.address);
    await expect(row(page, receiver.address)).toContainText("job.failed, pull_request.merged");
    const api = new Api(page.request, docket.url, PROJECT);
    const completed = await api.start("emulator:no-changes Look for dead links");
    await expect.poll(async () => (await api.job(completed.id)).state, UNTIL_DONE).toBe("completed");
    expect(receiver.received).toHaveLength(0);

    await openMenu(page);
    await page.locator("summary", { hasText: "Events" }).click();
    const menu = page.locator(".menu:popover-open");
    await expect(menu.getByLabel("Job failed")).toBeChecked();
    await expect(menu.getByLabel("Job completed")).not.toBeChecked();
    for (const name of ["Job failed", "Pull request merged"]) await menu.getByLabel(name).uncheck();
    await menu.getByRole("button", { name: "Save events" }).click();
    await expect(row(page, receiver.address).getByRole("cell", { name: "All", exact: true })).toBeVisible();
    await api.start("emulator:no-changes Look for typos");
    await expect.poll(() => receiver.received.length, UNTIL_DONE).toBe(1);
  });
}

test("failed event of a job shows its next attempt", async ({ serve, visit, receiver }) => {
  const platform = await Platform.start();
  const docket = await serve({ environment: { DOCKET_UPSTREAM_URL: platform.url } });
  const page = await visit(docket, { storageState: docket.session });
  await open(page, WEBHOOKS);
  await add(page, receiver.address);
  await expect(row(page, receiver.address)).toBeVisible();
  receiver.response = { status: 503, text: "closed for today" };
  await new Api(page.request, docket.url, PROJECT).start("completed");
  await expect.poll(() => receiver.received.length).toBe(1);
  await row(page, receiver.address).getByRole("link", { name: "Log" }).click();
  await expect(async () => {
    await page.reload();
    await expect(events(page)).toContainText("Pending (503) closed for today", { timeout: 1_000 });
  }).toPass();
  await expect(cell(page, "Next attempt")).toHaveText(/^in /);
  await platform.stop();
});

test("forbidden URL is refused with a message, stays in form", async ({ serve, visit }) => {
  const docket = await serve({ environment: { DOCKET_WEBHOOK_PRIVATE: "false" } });
  const page = await visit(docket, { storageState: docket.session });
  await open(page, WEBHOOKS);
  await add(page, "https://10.0.0.8/hook");
  await expect(page.getByRole("alert")).toContainText("leads into a private network");
  await expect(page.getByLabel("Address")).toHaveValue("https://10.0.0.8/hook");
});

test("new secret needs confirmation and is shown once", async ({ serve, visit, receiver }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, WEBHOOKS);
  await add(page, receiver.address);
  await expect(secret(page)).toHaveText(SECRET);
  const first = (await secret(page).textContent()) ?? "";
  await openMenu(page);
  const create = page.getByRole("button", { name: "Create new secret" });
  await expect(create, "it asks first").toBeHidden();
  await page.locator("summary", { hasText: "New secret" }).click();
  await expect(page.getByText("The old secret signs, too, for 24 hours.")).toBeVisible();
  await create.click();
  await expect(secret(page)).not.toHaveText(first);
  await expect(secret(page)).toHaveText(SECRET);
  const second = (await secret(page).textContent()) ?? "";
  await page.reload();
  await expect(row(page, receiver.address)).toBeVisible();
  await expect(secret(page)).toHaveCount(0);

  await openMenu(page);
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(events(page).first()).toContainText("Delivered (200) thanks");
  const [received] = receiver.received;
  expect(received?.headers["docket-signature"], "the new secret signs").toBe(signature(received!, second));
});

for (const [name, viewport] of [["wide", { width: 1280, height: 800 }], ["390 px", { width: 390, height: 844 }]] as const) {
  test(`page with a log is accessible on a ${name} screen`, async ({ serve, visit, receiver }) => {
    const docket = await serve();
    const page = await visit(docket, { storageState: docket.session, viewport, reducedMotion: "reduce" });
    await open(page, WEBHOOKS);
    await add(page, receiver.address);
    await expect(secret(page)).toBeVisible();
    await openMenu(page);
    await page.locator("summary", { hasText: "Delete" }).click();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Send a test" }).click();
    await expect(events(page)).toHaveCount(1);
    await interactive(page);
    await expectAccessible(page, "with a log");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
  });
}

test("operator cannot open the page", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 403/);
  const operator = { username: "olga", password: "starts-jobs-1", role: "operator" } as const;
  const page = await visit(await serve({ people: [operator] }), { as: operator });
  const response = await page.goto(WEBHOOKS);
  expect(response?.status()).toBe(403);
  await interactive(page);
  await expect(page.getByRole("alert")).toContainText("Not allowed");
  await expect(page.getByRole("button", { name: "Add webhook" })).toHaveCount(0);
});

test("states and buttons do not wrap in a narrow table", async ({ serve, visit, receiver }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, WEBHOOKS);
  await add(page, receiver.address);
  await expect(page.getByRole("cell", { name: "Enabled" })).toBeVisible();
  for (const width of [1280, 1024, 800, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const lines = await page.getByRole("cell", { name: "Enabled" }).evaluate((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size;
    });
    expect.soft(lines, `${width} px`).toBe(1);
    await openMenu(page);
    const disable = page.getByRole("button", { name: "Disable" });
    expect.soft((await disable.boundingBox())?.height, `${width} px`).toBeLessThanOrEqual(44);
    await page.keyboard.press("Escape");
    await expect(disable).toBeHidden();
    expect.soft(await page.evaluate(() => document.documentElement.scrollWidth), `${width} px`).toBeLessThanOrEqual(width);
  }
});
