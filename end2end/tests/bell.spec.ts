/** Results since the last look: the number at the bell, and the line on the overview. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { OTHER_PROJECT, PROJECT, UNTIL_DONE, at, badge, expect, interactive, open, test } from "../fixtures/docket.ts";

const bell = (page: Page) => page.getByRole("banner").getByRole("link", { name: /^Notifications/ });
const since = (page: Page) => page.locator("details.since");

test("bell counts unread results; overview does not mark them read", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  await open(page, at("/jobs"));
  await expect(bell(page)).toHaveAccessibleName("Notifications");
  const first = await api.start("emulator:no-changes Check the links");
  await expect(bell(page), "an open list is updated").toHaveAccessibleName("Notifications, 1 new", UNTIL_DONE);
  await expect(bell(page)).toHaveText("1");
  const second = await api.start("emulator:pull-request Add an example");
  await expect(bell(page)).toHaveAccessibleName("Notifications, 2 new", UNTIL_DONE);
  const running = await api.start("emulator:slow Rewrite everything");

  for (let visit = 0; visit < 2; visit++) {
    await open(page, at(""));
    await expect(since(page).locator("summary")).toHaveText("2 of your jobs finished or need attention since you last looked");
    await expect(bell(page)).toHaveText("2");
  }
  await since(page).locator("summary").click();
  for (const job of [first, second]) await expect(badge(since(page), job.id)).toBeVisible();
  await expect(badge(since(page), running.id)).toHaveCount(0);
  await since(page).getByRole("link", { name: "Open the notifications" }).click();

  await interactive(page);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Notifications");
  await expect(page.locator(".notifications li")).toHaveCount(2);
  await expect(page.getByRole("button", { name: "Notify me in this browser" }), "the permission is beside the list").toBeVisible();
  await expect(page.getByRole("navigation", { name: "Whose jobs" }).getByRole("link")).toHaveText(["My jobs", "Everyone’s jobs", "All projects"]);
  await expect(bell(page), "they are being read").toHaveText("");
  await open(page, at(""));
  await expect(since(page)).toHaveCount(0);
  await expect(bell(page)).toHaveAccessibleName("Notifications");
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("number and line are shown", async ({ page, api }) => {
    const job = await api.start("emulator:no-changes Look at the tables");
    await expect.poll(async () => (await api.job(job.id)).state, UNTIL_DONE).toBe("completed");
    await page.goto(at(""));
    await expect(bell(page)).toHaveAccessibleName("Notifications, 1 new");
    await since(page).locator("summary").click();
    await expect(badge(since(page), job.id)).toBeVisible();
  });
});

for (const javaScriptEnabled of [true, false]) {
  test(`notification is archived ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ serve, visit }) => {
    const docket = await serve();
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    const api = new Api(page.request, docket.url, PROJECT);
    const jobs = [await api.start("emulator:no-changes Check the links"), await api.start("emulator:no-changes Describe the zebra")];
    for (const job of jobs) await expect.poll(async () => (await api.job(job.id)).state, UNTIL_DONE).toBe("completed");
    await page.goto(at("/notifications"));
    if (javaScriptEnabled) await interactive(page);
    await expect(page.locator(".notifications li")).toHaveCount(2);
    await page.getByRole("button", { name: /^Archive: .*zebra/ }).click();
    await expect(page.locator(".notifications li")).toHaveCount(1);
    await page.reload();
    await expect(page.locator(".notifications li")).toHaveCount(1);
    await expect(page.locator(".notifications li")).toContainText("Check the links");
  });
}

for (const javaScriptEnabled of [true, false]) {
  test(`all projects have their unread results ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ serve, visit }) => {
    const docket = await serve();
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    const api = new Api(page.request, docket.url, OTHER_PROJECT);
    const job = await api.start("emulator:no-changes Check the links");
    await expect.poll(async () => (await api.job(job.id)).state, UNTIL_DONE).toBe("completed");
    await page.goto(at("/notifications"));
    await page.getByRole("link", { name: "All projects" }).click();
    await expect(page).toHaveURL(at("/notifications?who=projects"));
    const row = page.getByRole("listitem").filter({ hasText: "Acme API" }).filter({ hasText: /unread|Nothing new/ });
    await expect(row).toContainText("1 unread");
    await row.getByRole("button", { name: "Mark as read" }).click();
    await expect(row).toContainText("Nothing new");
    await row.getByRole("link", { name: "Acme API" }).click();
    await expect(page).toHaveURL(at("/notifications", OTHER_PROJECT));
  });
}

test("Mark all as read removes the notice of older changes and the number", async ({ serve, visit }) => {
  test.setTimeout(120_000);
  // More than a page of them.
  const count = 53;
  const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1000" } });
  const page = await visit(docket, { storageState: docket.session });
  const api = new Api(page.request, docket.url, PROJECT);
  for (let number = 1; number <= count; number++) await api.start(`emulator:no-changes Check the links, ${number}`);
  await open(page, at("/jobs"));
  await expect(bell(page)).toHaveText(`${count}`, { timeout: 90_000 });
  await open(page, at("/notifications"));
  const older = page.getByText(/older changes are unread/);
  await expect(older).toBeVisible();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(page.getByText("Marked as read")).toBeAttached();
  await expect(older).toHaveCount(0);
  await expect(bell(page)).toHaveText("");
});
