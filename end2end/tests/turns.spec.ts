/** The result of each prompt of a job, the next action of a job, and dismissing it. */
import type { Page } from "@playwright/test";
import { day, stored } from "../fixtures/days.ts";
import { UNTIL_DONE, at, badge, expect, interactive, open, test } from "../fixtures/docket.ts";

const turn = (page: Page, number: number) => page.getByRole("list", { name: "Conversation" }).getByRole("listitem").nth(number);
const facts = (page: Page) => page.getByRole("complementary", { name: "Facts" });
const request = (page: Page) => page.getByRole("banner").or(page.locator(".job-head")).getByRole("link", { name: /^Pull request #\d+$/ });
const toasts = (page: Page) => page.locator(".toast");

test("results are between prompts, and pull request stays during follow-up", async ({ page, api }) => {
  test.setTimeout(90_000);
  const job = await api.start("emulator:pull-request Explain the limits of the API");
  await open(page, at(`/jobs/${job.id}`));
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  await expect(turn(page, 0)).toContainText(/Pull request #\d+ opened · \d+ s/);
  const name = (await request(page).textContent()) ?? "";

  await page.getByLabel("Follow-up").fill("emulator:no-changes Is it all there?");
  await page.getByRole("button", { name: "Send follow-up" }).click();
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "active");
  await expect(request(page), "what exists stays").toHaveText(name);
  await expect(page.getByRole("status").filter({ hasText: "Running for" })).toContainText("Running jobs can’t be cancelled");
  const elsewhere = await page.context().newPage();
  await open(elsewhere, at("/jobs?sort=changed"));
  await expect(elsewhere.getByRole("listitem").filter({ hasText: "Explain the limits of the API" }).first().getByRole("link", { name })).toBeVisible();
  await elsewhere.close();

  await expect(badge(page, job.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  await expect(turn(page, 1)).toContainText(/No changes · \d+ s/);
  await expect(turn(page, 1)).not.toContainText("opened");
  await expect(page.getByRole("status").getByText(/^Follow-up finished: /)).toBeAttached();
  await expect(toasts(page), "the page shows it").toHaveCount(0);
  await expect(request(page)).toHaveText(name);
  await expect(facts(page)).toContainText(/Result\s*No changes/);
  await expect(facts(page)).toContainText(/Time\s*\d+ s.*usually/s);
});

test("failed job shows the platform's reason and runs again", async ({ page, api }) => {
  test.setTimeout(60_000);
  const prompt = "emulator:fail Rewrite everything at once";
  const job = await api.start(prompt);
  await open(page, at(`/jobs/${job.id}`));
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "failed", UNTIL_DONE);
  await expect(page.getByRole("status").getByText(/^Failed: /)).toBeAttached();
  await expect(toasts(page), "the page shows it").toHaveCount(0);
  await expect(turn(page, 0)).toContainText(/Failed · \d+ s/);
  const notice = page.getByRole("alert").filter({ hasText: "The agent failed." });
  await expect(notice).toContainText("The platform reported: “failed”");
  await expect(page.getByRole("link", { name: "Run again" }), "once").toHaveCount(1);
  await notice.getByRole("link", { name: "Run again" }).click();
  await expect(page.getByLabel("Prompt")).toHaveValue(prompt);
  await expect(page.getByLabel("Prompt")).toBeFocused();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });

    test("dismissing a job applies to everyone and can be undone", async ({ page, api, person }) => {
      test.setTimeout(60_000);
      const job = await api.start(`emulator:fail Dismiss me ${javaScriptEnabled}`);
      await expect.poll(async () => (await api.job(job.id)).state, UNTIL_DONE).toBe("failed");
      const needing = async () => (await api.jobs({ needs: "attention" })).jobs.some(({ id }) => id === job.id);
      expect(await needing()).toBe(true);
      await page.goto(at(`/jobs/${job.id}`));
      if (javaScriptEnabled) await interactive(page);
      await page.getByRole("button", { name: "Dismiss for everyone", exact: true }).first().click();
      if (!javaScriptEnabled) await page.goto(at(`/jobs/${job.id}`));
      await expect(page.getByText(`Dismissed by ${person.username}`)).toBeVisible();
      expect(await needing()).toBe(false);
      expect((await api.job(job.id)).history?.at(-1)).toMatchObject({ state: "dismissed", detail: `by ${person.username}` });
      await page.goto("/admin/audit");
      await expect(page.getByRole("row").filter({ hasText: "Attention dismissed" }).filter({ hasText: person.username })).toBeVisible();

      await page.goto(at(`/jobs/${job.id}`));
      if (javaScriptEnabled) await interactive(page);
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("button", { name: "Undo dismissal" }).click();
      await expect.poll(needing).toBe(true);
    });
  });
}

test("long prompt is folded, short one is shown once", async ({ page, api }) => {
  const long = `Rewrite this page:\n${"A sentence that goes on. ".repeat(1_200)}\nThe end.`;
  const job = await api.start(long);
  await open(page, at(`/jobs/${job.id}`));
  await expect(page.getByText("The end.")).toBeHidden();
  await page.getByText(/^Show all 30,0\d\d characters$/).click();
  await expect(page.getByText("The end.")).toBeVisible();
  await page.getByText("Show less").click();
  await expect(page.getByText("The end.")).toBeHidden();

  const short = await api.start("emulator:slow Fix one typo");
  await open(page, at(`/jobs/${short.id}`));
  await expect(page.getByText("emulator:slow Fix one typo")).toHaveCount(1);
  await expect(turn(page, 0)).toContainText("Accepted by the agent");
});

test("facts link to report, repository and branch; follow-ups add pages", async ({ page, api }) => {
  await stored(api, { from: day(1), to: day(1) });
  const job = await api.jobThat((job) => job.state === "completed" && job.paths.length > 0 && !!job.remote?.pr_link);
  await open(page, at(`/jobs/${job.id}`));
  const { repository = "", ref = "" } = job.remote ?? {};
  expect([repository, ref]).toEqual([expect.stringMatching(/^acme\//), expect.stringMatching(/^docket\/agent-/)]);
  await expect(facts(page).getByRole("link", { name: repository })).toHaveAttribute("href", new RegExp(`/${repository}$`));
  await expect(facts(page).getByRole("link", { name: ref })).toHaveAttribute("href", new RegExp(`/tree/${ref}$`));
  await page.getByLabel("Follow-up").fill("emulator:slow Do the same for /faq");
  await page.getByRole("button", { name: "Send follow-up" }).click();
  const added = facts(page).getByRole("link", { name: "/faq", exact: true });
  await expect(added).toHaveAttribute("href", /\/analytics\?path=\/faq$/);
});

test("composer stays at the bottom without overlap", async ({ page, api }) => {
  for (const state of ["unknown", "rejected", "failed", "completed"]) {
    const job = await api.jobThat((job) => job.state === state);
    for (const size of [{ width: 1280, height: 700 }, { width: 390, height: 844 }]) {
      await page.setViewportSize(size);
      await open(page, at(`/jobs/${job.id}`));
      const composer = page.locator(".follow-up");
      const hasComposer = ["failed", "completed"].includes(state);
      await expect(composer, state).toHaveCount(hasComposer ? 1 : 0);
      if (hasComposer) {
        const box = await composer.boundingBox();
        const bottom = Math.round((box?.y ?? 0) + (box?.height ?? 0));
        // On a phone the foot of the page may follow below.
        if (size.width > 390) expect(bottom, state).toBe(size.height);
        else expect(bottom, state).toBeLessThanOrEqual(size.height);
      }
      const boxes = await page.locator("main :is(.button, summary):visible").evaluateAll((all) =>
        all.filter((it) => !it.closest(".follow-up")).map((it) => {
          const { left, top, right, bottom } = it.getBoundingClientRect();
          return { name: it.textContent, left, top, right, bottom };
        }),
      );
      expect(boxes.length, state).toBeGreaterThan(1);
      const overlaps = boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1).map((b) => [a.name, b.name]));
      expect(overlaps, `${state} at ${size.width}`).toEqual([]);
    }
  }
});
