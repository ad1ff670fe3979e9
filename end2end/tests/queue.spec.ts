/** The queue: people add prompts, see them, change their order, and cancel them. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { next } from "../fixtures/faults.ts";
import { PROJECT, type Server, at, badge, expect, interactive, jobOf, opener, test } from "../fixtures/docket.ts";

const ONE_AN_HOUR = { environment: { DOCKET_AGENT_PER_HOUR: "1" } };

const rows = (page: Page) => page.getByRole("list", { name: "Queued prompts" }).getByRole("listitem");
const apiOf = (page: Page, docket: Server) => new Api(page.request, docket.url, PROJECT);

/** Uses up the hourly budget. */
async function spend(page: Page, docket: Server): Promise<Api> {
  const api = apiOf(page, docket);
  await api.start("The only one");
  return api;
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    const open = opener(javaScriptEnabled);

    test("refused prompt is queued with one click; everyone sees it", async ({ serve, visit, trouble }) => {
      if (javaScriptEnabled) trouble.expects(/status of 429.*jobs\/create/);
      const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1" } });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await open(page, at("/jobs/new"));
      await spend(page, docket);
      await page.getByLabel("Prompt").fill("One too many,\nin two lines");
      await page.getByRole("button", { name: "Start job" }).click();
      await expect(page.getByRole("alert")).toContainText(/budget|hour/);
      await page.getByRole("button", { name: "Add to queue" }).click();
      const job = await jobOf(page);
      await expect(badge(page, job)).toHaveAttribute("data-status", "queued");
      await page.getByRole("main").getByRole("link", { name: "View the queue" }).click();
      await expect(page).toHaveURL(at("/queue"));
      await expect(rows(page)).toHaveCount(1);
      await expect(rows(page)).toContainText("One too many,");
      await expect(rows(page)).toContainText("Waiting for the hourly budget, in about");
      await open(page, at("/jobs"));
      await expect(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Queue" })).toHaveText("Queue 1");
      await page.getByRole("main").getByRole("link", { name: "1 prompt queued" }).click();
      await expect(page).toHaveURL(at("/queue"));
    });

    test("prompt waits for AI credits until somebody tries again", async ({ serve, visit, trouble }) => {
      test.setTimeout(60_000);
      // The first try may come too soon after the last one.
      if (javaScriptEnabled) trouble.expects(/status of 409.*queue\/try/);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await next(docket, "create", { kind: "status", code: 402 });
      await open(page, at("/jobs/new"));
      await page.getByLabel("Prompt").fill("Explain the credits");
      await page.getByRole("button", { name: "Start job" }).click();
      const job = await jobOf(page);
      await expect(badge(page, job)).toHaveAttribute("data-status", "queued");
      await expect(page.getByText("it has no AI credits, or could not check them.")).toBeVisible();
      await open(page, at("/queue"));
      await expect(rows(page)).toContainText("Waiting for AI credits");
      await expect(async () => {
        await page.getByRole("button", { name: "Try now" }).click();
        await expect(page.getByText("Docket sends the next prompt as soon as the budget has room.")).toBeVisible({ timeout: 2_000 });
      }).toPass({ timeout: 30_000, intervals: [11_000] });
      await open(page, at(`/jobs/${job}`));
      await expect(async () => {
        if (!javaScriptEnabled) await page.reload();
        await expect(badge(page, job)).toHaveAttribute("data-status", /active|completed/, { timeout: 1_000 });
      }).toPass({ timeout: 20_000 });
    });

    test("form offers the queue when the budget is used up", async ({ serve, visit }) => {
      const docket = await serve(ONE_AN_HOUR);
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await spend(page, docket);
      await open(page, at("/jobs/new"));
      await page.getByLabel("Prompt").fill("For later");
      await expect(page.getByText(/^Sent in about (1 h|1 h 1 min|\d+ min)\.\s*$/)).toBeVisible();
      await expect(page.getByRole("button", { name: "Send first" })).toHaveCount(0);
      await page.getByRole("button", { name: "Add to queue" }).click();
      const job = await jobOf(page);
      await expect(badge(page, job)).toHaveAttribute("data-status", "queued");
      // A follow-up of that job is queued behind it.
      await page.getByLabel("Follow-up").fill("And then this");
      await page.getByRole("button", { name: "Send follow-up" }).click();
      await expect(page.getByRole("list", { name: "Conversation" })).toContainText("And then this");
      await open(page, at("/queue"));
      await expect(rows(page).nth(1)).toContainText("Waiting for the previous prompt of its job");
    });

    test("form and job show the wait; send first, then cancel", async ({ serve, visit }) => {
      const docket = await serve(ONE_AN_HOUR);
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = await spend(page, docket);
      for (const prompt of ["First", "Second"]) await api.start(prompt, { queue: "on" });
      await open(page, at("/jobs/new"));
      const wait = page.getByText(/^Sent in about (3 h|2 h \d+ min), after 2 others\./);
      await expect(wait).toBeVisible();
      await page.getByLabel("Prompt").fill("Third");
      await page.getByRole("button", { name: "Add to queue" }).click();
      await jobOf(page);
      await expect(wait).toBeVisible();

      await open(page, at("/jobs/new"));
      await page.getByLabel("Prompt").fill("Urgent");
      await page.getByRole("button", { name: "Send first" }).click();
      const job = await jobOf(page);
      await expect(page.getByText(/^Sent in about (1 h|1 h 1 min|\d+ min)\.\s*$/)).toBeVisible();
      await expect(page.getByRole("button", { name: "Send first" })).toHaveCount(0);
      expect((await api.queue()).map(({ prompt }) => prompt)).toEqual(["Urgent", "First", "Second", "Third"]);

      await page.getByText("Cancel…", { exact: true }).click();
      await page.getByRole("button", { name: "Cancel job" }).click();
      await expect(page).toHaveURL(at(`/jobs/${job}`));
      await expect(badge(page, job)).toHaveAttribute("data-status", "cancelled");
      const [, , third] = await api.queue();
      await open(page, at(`/jobs/${third?.job}`));
      await page.getByRole("button", { name: "Send first" }).click();
      await expect(page.getByText(/^Sent in about (1 h|1 h 1 min|\d+ min)\.\s*$/)).toBeVisible();
      expect((await api.queue()).map(({ prompt }) => prompt)).toEqual(["Third", "First", "Second"]);
    });

    test("order is changed and a queued prompt is cancelled", async ({ serve, visit }) => {
      const docket = await serve(ONE_AN_HOUR);
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = await spend(page, docket);
      for (const prompt of ["First", "Second", "Third"]) await api.start(prompt, { queue: "on" });
      await open(page, at("/queue"));
      const order = async (...prompts: string[]) => {
        for (const [at, prompt] of prompts.entries()) await expect(rows(page).nth(at)).toContainText(prompt);
        await expect(rows(page)).toHaveCount(prompts.length);
      };
      await order("First", "Second", "Third");
      await page.getByRole("button", { name: "To the front: Third" }).click();
      await order("Third", "First", "Second");
      await page.getByRole("button", { name: "Down: First" }).click();
      await order("Third", "Second", "First");
      await page.getByRole("button", { name: "Up: Second" }).click();
      await order("Second", "Third", "First");

      await page.getByRole("link", { name: "Cancel: Third" }).click();
      await page.getByRole("link", { name: "Keep in queue" }).click();
      await expect(page.getByRole("button", { name: /^Cancel job/ })).toHaveCount(0);
      await page.getByRole("link", { name: "Cancel: Third" }).click();
      await page.getByRole("button", { name: "Cancel job: Third" }).click();
      await order("Second", "First");
      expect((await api.queue()).map(({ prompt }) => prompt)).toEqual(["Second", "First"]);
      const [cancelled] = (await api.jobs({ status: "cancelled" })).jobs;
      await open(page, at(`/jobs/${cancelled?.id}`));
      await expect(page.getByText("Cancelled by admin before it was sent.").first()).toBeVisible();
      await page.locator(".notice").getByRole("link", { name: "Edit and send again" }).click();
      await expect(page.getByLabel("Prompt")).toHaveValue("Third");
    });

    test("prompts of a batch are one row of 40 px, which opens and is cancelled", async ({ serve, visit }) => {
      const docket = await serve(ONE_AN_HOUR);
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const api = await spend(page, docket);
      await api.start("Before it", { queue: "on" });
      await api.batch("Check {{page}}", ["/a", "/b", "/c"]);
      await api.start("After it", { queue: "on" });
      await open(page, at("/queue"));
      const batch = page.locator(".queue-batch");
      await expect(rows(page)).toHaveCount(3);
      await expect(rows(page).nth(1)).toContainText("Check a page · 3 pages");
      await expect(batch.locator("summary")).toContainText("3 of 3 left");
      for (const row of await page.locator(".queue-row").filter({ visible: true }).all()) {
        expect((await row.boundingBox())?.height).toBe(40);
      }
      await batch.locator("summary").click();
      await expect(batch.getByRole("listitem")).toHaveCount(3);
      await batch.getByRole("link", { name: "Cancel: Check /b", exact: true }).click();
      // The confirmation is inside, so the row is open.
      await batch.getByRole("button", { name: "Cancel job: Check /b" }).click();
      await expect(batch.locator("summary")).toContainText("2 of 3 left");

      await batch.getByRole("link", { name: "Cancel: Check a page · 3 pages", exact: true }).click();
      await batch.getByRole("link", { name: "Keep in queue" }).click();
      await batch.getByRole("link", { name: "Cancel: Check a page · 3 pages", exact: true }).press("Enter");
      if (javaScriptEnabled) await expect(batch.getByRole("button", { name: "Cancel 2 jobs" })).toBeFocused();
      await batch.getByRole("button", { name: "Cancel 2 jobs" }).click();
      await expect.poll(async () => (await api.queue()).map(({ prompt }) => prompt)).toEqual(["Before it", "After it"]);
      if (!javaScriptEnabled) await open(page, at("/queue"));
      await expect(batch).toHaveCount(0);
      await expect(rows(page)).toHaveCount(2);
    });
  });
}

test("keyboard keeps the focus on the prompt and announces changes", async ({ serve, visit }) => {
  const docket = await serve(ONE_AN_HOUR);
  const page = await visit(docket, { storageState: docket.session });
  const api = await spend(page, docket);
  for (const prompt of ["First", "Second", "Third"]) await api.start(prompt, { queue: "on" });
  await page.goto(at("/queue"));
  await interactive(page);
  const status = page.getByRole("main").getByRole("status");
  const up = page.getByRole("button", { name: "Up: Third" });
  await up.focus();
  await page.keyboard.press("Enter");
  await expect(status.filter({ hasText: "Now 2 of 3" })).toHaveCount(1);
  await expect(rows(page).nth(1)).toContainText("Third");
  await expect(up).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(status.filter({ hasText: "Now 1 of 3" })).toHaveCount(1);
  await expect(rows(page).first()).toContainText("Third");
  await expect(up).toBeFocused();

  const cancel = page.getByRole("link", { name: "Cancel: First" });
  await cancel.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Cancel job: First" })).toBeFocused();
  await page.getByRole("link", { name: "Keep in queue" }).focus();
  await page.keyboard.press("Enter");
  await expect(cancel).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Cancel job: First" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(status.filter({ hasText: "2 prompts in the queue" })).toHaveCount(1);
  await expect(rows(page)).toHaveCount(2);
  await expect(page.getByRole("main")).toBeFocused();
});

test("change by one person is shown to another, conflicts too", async ({ serve, visit }) => {
  const olga = { username: "olga", password: "starts-jobs-1", role: "operator" } as const;
  const docket = await serve({ ...ONE_AN_HOUR, people: [olga] });
  const page = await visit(docket, { storageState: docket.session });
  const api = await spend(page, docket);
  for (const prompt of ["First", "Second"]) await api.start(prompt, { queue: "on" });
  await page.goto(at("/queue"));
  await interactive(page);
  const colleague = await visit(docket, { as: olga, javaScriptEnabled: false });
  await colleague.goto(at("/queue"));
  await expect(rows(colleague)).toHaveCount(2);

  await page.getByRole("link", { name: "Cancel: First" }).click();
  await page.getByRole("button", { name: "Cancel job: First" }).click();
  await expect(rows(page)).toHaveCount(1);
  // The colleague's page is older than that.
  await colleague.getByRole("button", { name: "Down: First" }).click();
  await expect(colleague.getByRole("alert")).toContainText("no longer queued");
  await expect(rows(colleague)).toHaveCount(1);

  await colleague.getByRole("link", { name: "Cancel: Second" }).click();
  await colleague.getByRole("button", { name: "Cancel job: Second" }).click();
  await expect(colleague.getByRole("heading", { name: "The queue is empty" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "The queue is empty" }), "by itself").toBeVisible();
});

/** Queues a prompt. The page is that of its job then. */
async function queued(page: Page, docket: Server): Promise<{ api: Api; job: string }> {
  const api = await spend(page, docket);
  await page.goto(`${docket.url}${at("/jobs/new")}`);
  await interactive(page);
  await page.getByLabel("Prompt").fill("Wait for the budget");
  await page.getByRole("button", { name: "Add to queue" }).click();
  const job = await jobOf(page);
  await interactive(page);
  return { api, job };
}

test("follow-up that cannot be sent any more stays, to copy", async ({ serve, visit }) => {
  const docket = await serve(ONE_AN_HOUR);
  const page = await visit(docket, { storageState: docket.session, permissions: ["clipboard-read", "clipboard-write"] });
  const { api } = await queued(page, docket);
  await page.getByLabel("Follow-up").fill("And then the tables");
  const [waiting] = await api.queue();
  await api.cancel(waiting?.message ?? "");
  const field = page.getByLabel("Follow-up");
  await expect(field).toBeDisabled();
  await expect(field).toHaveValue("And then the tables");
  await expect(page.getByText("This job accepts no follow-ups any more.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Send follow-up" })).toBeDisabled();
  await page.getByRole("button", { name: "Copy the text" }).click();
  await expect(page.getByText("Text copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("And then the tables");
  // Also after a reload, from the draft.
  await page.reload();
  await interactive(page);
  await expect(field).toBeDisabled();
  await expect(field).toHaveValue("And then the tables");
});

test("without a text nothing is left of a follow-up that cannot be sent", async ({ serve, visit }) => {
  const docket = await serve(ONE_AN_HOUR);
  const page = await visit(docket, { storageState: docket.session });
  const { api, job } = await queued(page, docket);
  await expect(page.getByLabel("Follow-up")).toBeVisible();
  const [waiting] = await api.queue();
  await api.cancel(waiting?.message ?? "");
  await expect(badge(page, job)).toHaveAttribute("data-status", "cancelled");
  await expect(page.getByLabel("Follow-up")).toBeHidden();
  await expect(page.getByText("This job accepts no follow-ups any more.")).toBeHidden();
});
