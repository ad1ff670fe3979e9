/** Deliveries with an unknown outcome, and jobs that were started elsewhere: a person decides, and Docket tracks the job. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, type Server, at, badge, expect, jobOf, opener, test } from "../fixtures/docket.ts";
import { next, startElsewhere } from "../fixtures/faults.ts";

const SEND_AGAIN = "It was not started: send again";
const ENTER_ID = "It was started: enter its id";

const apiOf = (page: Page, docket: Server) => new Api(page.request, docket.url, PROJECT);

/** A job that the platform may have started: its connection failed. */
async function withUnknownOutcome(page: Page, docket: Server, prompt: string): Promise<string> {
  await next(docket, "create", { kind: "accept-then-drop" });
  const { id, state } = await apiOf(page, docket).start(prompt);
  expect(state).toBe("unknown");
  return id;
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    const open = opener(javaScriptEnabled);

    test("prompt that was not started is sent again after confirmation", async ({ serve, visit }) => {
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const job = await withUnknownOutcome(page, docket, "emulator:slow Fix the typos");
      await open(page, at(`/jobs/${job}`));
      await expect(page.getByRole("button", { name: "Send it again" })).toBeHidden();
      await page.getByText(SEND_AGAIN).click();
      await page.getByRole("button", { name: "Send it again" }).click();
      await expect(badge(page, job)).toHaveAttribute("data-status", "active");
      await expect(page.getByText(SEND_AGAIN)).toHaveCount(0);
      if (javaScriptEnabled) await expect(page.getByRole("status").getByText("Sent again")).toBeVisible();
      await page.getByText(/^Timeline, \d+ entries$/).click();
      await expect(page.getByText("admin marked it as not started. It is sent again.")).toBeVisible();
    });

    test("started job is tracked by id; wrong id changes nothing", async ({ serve, visit, trouble }) => {
      if (javaScriptEnabled) trouble.expects(/status of 404.*jobs\/resolve/);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const job = await withUnknownOutcome(page, docket, "Fix the typos");
      const upstream = await startElsewhere(docket, "emulator:slow Fix the typos");
      await open(page, at(`/jobs/${job}`));
      await page.getByText(ENTER_ID).click();
      await page.getByLabel("Id of the job on the platform").fill("job_nobody_has");
      await page.getByRole("button", { name: "Track this job" }).click();
      await expect(page.getByRole("alert")).toContainText("No job of this project has the id job_nobody_has");
      await expect(badge(page, job)).toHaveAttribute("data-status", "unknown");
      if (!javaScriptEnabled) await page.getByText(ENTER_ID).click();
      await page.getByLabel("Id of the job on the platform").fill(upstream);
      await page.getByRole("button", { name: "Track this job" }).click();
      await expect(badge(page, job)).toHaveAttribute("data-status", "active");
      await expect(page.getByRole("complementary", { name: "Facts" })).toContainText(upstream);
    });

    test("follow-up that was not accepted fills the form again", async ({ serve, visit }) => {
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const { id } = await apiOf(page, docket).start("emulator:slow Fix the typos");
      await open(page, at(`/jobs/${id}`));
      await next(docket, "follow-up", { kind: "status", code: 400 });
      await page.getByLabel("Follow-up").fill("And </textarea> this,\ntoo");
      await page.getByRole("button", { name: "Send follow-up" }).click();
      await expect(page.getByText("The agent did not accept this follow-up.")).toBeVisible();
      await expect(page.getByLabel("Follow-up")).toHaveValue("");
      if (javaScriptEnabled) {
        await expect(page.getByRole("status").getByText(/^Follow-up: /)).toBeVisible();
        await page.getByLabel("Follow-up").fill("Half written");
        await page.getByRole("link", { name: "Edit and send again" }).click();
        await expect(page.getByLabel("Follow-up")).not.toHaveValue("Half written");
        await page.getByRole("button", { name: "Undo" }).click();
        await expect(page.getByLabel("Follow-up")).toHaveValue("Half written");
      }
      await page.getByRole("link", { name: "Edit and send again" }).click();
      await expect(page.getByLabel("Follow-up")).toHaveValue("And </textarea> this,\ntoo");
      await page.getByRole("button", { name: "Send follow-up" }).click();
      await expect(page.locator('[data-delivery="accepted"]')).toHaveCount(2);
    });

    test("job started elsewhere is imported once", async ({ serve, visit, trouble }) => {
      if (javaScriptEnabled) trouble.expects(/status of 409.*jobs\/import/);
      const docket = await serve();
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      const upstream = await startElsewhere(docket, "emulator:slow Rewrite the guides");
      await open(page, at("/jobs"));
      await page.getByRole("button", { name: "More ways to start" }).click();
      await page.getByRole("link", { name: "Import a job" }).click();
      await page.getByLabel("Id of the job on the platform").fill(upstream);
      await page.getByLabel("Note").fill("Rewrite of the guides, from the terminal");
      await page.getByRole("button", { name: "Import job" }).click();
      const job = await jobOf(page);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Rewrite of the guides, from the terminal");
      await expect(badge(page, job)).toHaveAttribute("data-status", "active");

      await open(page, at("/jobs/import"));
      await page.getByLabel("Id of the job on the platform").fill(upstream);
      await page.getByRole("button", { name: "Import job" }).click();
      await expect(page.getByRole("alert")).toContainText("already has a job with this id");
      await page.getByRole("link", { name: "View the job" }).click();
      await expect(page).toHaveURL(at(`/jobs/${job}`));
    });
  });
}

test("two people who decide at once send once", async ({ serve, visit }) => {
  const olga = { username: "olga", password: "starts-jobs-1", role: "operator" } as const;
  const docket = await serve({ people: [olga] });
  const page = await visit(docket, { storageState: docket.session });
  const colleague = await visit(docket, { as: olga, javaScriptEnabled: false });
  const job = await withUnknownOutcome(page, docket, "emulator:slow Fix the typos");
  for (const person of [page, colleague]) {
    await person.goto(at(`/jobs/${job}`));
    await person.getByText(SEND_AGAIN).click();
  }
  await Promise.all([page, colleague].map((person) => person.getByRole("button", { name: "Send it again" }).click()));
  for (const person of [page, colleague]) await expect(badge(person, job)).toHaveAttribute("data-status", "active");
  const { history = [] } = await apiOf(page, docket).job(job);
  expect(history.filter(({ state }) => state === "sending"), "once with an unknown outcome, once again").toHaveLength(2);
});
