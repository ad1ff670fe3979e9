/** Two processes on one PostgreSQL database act as one server. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, open, test } from "../fixtures/docket.ts";

const olga = { username: "olga", password: "writes-docs-1", role: "operator" } as const;

/** Advances the frozen clock of a page by two seconds. */
const twoSeconds = (page: Page) => page.clock.runFor(2_000);

test("changes at one process reach another's pages in two seconds", async ({ postgres, serve, visit }) => {
  const server = await serve({ environment: { DOCKET_DATABASE_URL: postgres.url }, people: [olga] });
  const beside = { ...server, url: await server.startBeside() };
  const hers = await visit(beside, { as: olga });
  const her = new Api(hers.request, beside.url, PROJECT);
  const done = await her.start("Finish before anybody looks");
  await open(hers, at(`/jobs/${done.id}`));
  await expect(badge(hers, done.id)).toHaveAttribute("data-status", "completed", UNTIL_DONE);

  const [list, overview, job] = await Promise.all(
    [at("/jobs"), at(""), at(`/jobs/${done.id}`)].map(async (path) => {
      const page = await visit(server, { storageState: server.session });
      await page.clock.install();
      await open(page, path);
      await page.clock.pauseAt(Date.now() + 60_000);
      return page;
    }),
  ) as [Page, Page, Page];

  const second = await her.start("emulator:slow Appear everywhere");
  await Promise.all([list, overview].map(twoSeconds));
  await expect(list.getByRole("button", { name: "1 new job · Show" })).toBeVisible();
  await expect(badge(overview, second.id)).toBeVisible();

  await her.follow(done.id, "emulator:slow Go on with it");
  await Promise.all([list, overview, job].map(twoSeconds));
  for (const page of [list, overview, job]) {
    await expect(badge(page, done.id).first()).toHaveAttribute("data-status", /queued|sending|active/);
  }
  await expect(job.getByText("Go on with it")).toBeVisible();
});
