/** The switch People · AI · All, the tab of the AI share, and the ranges behind the button Custom range. */
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { day, grouped, inUrl, stored } from "../fixtures/days.ts";
import { PROJECT, at, expect, interactive, open, test } from "../fixtures/docket.ts";
import { changes, mergedOn } from "../fixtures/emulator.ts";

const ANALYTICS = at("/analytics");
/** A complete range: two requests get the same response. */
const range = () => ({ from: day(28), to: day(1) });
const TABLE = `${ANALYTICS}?${inUrl(range())}`;

test.beforeEach(async ({ api }) => {
  test.setTimeout(300_000);
  await stored(api, { from: day(56), to: day(0) });
});

const readers = (page: Page, name: string) => page.getByRole("list", { name: "Changes by" }).getByRole("link", { name, exact: true });

const rows = (page: Page) => page.locator("table.daily tr[data-path]");

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });
    const visit = (page: Page, path: string) => (javaScriptEnabled ? open(page, path) : page.goto(path));

    test("switch drives the changes of the table and of its export", async ({ page, emulator }) => {
      await visit(page, `${TABLE}&q=quickstart&sort=path`);
      await expect(readers(page, "People")).toHaveAttribute("aria-current", "true");
      const now = (await emulator.pages(PROJECT, range())).find(({ path }) => path === "/quickstart");
      const before = (await emulator.pages(PROJECT, { from: day(56), to: day(29) })).find(({ path }) => path === "/quickstart");
      if (!now || !before) throw new Error("the platform has no such page");
      const row = rows(page).and(page.locator('[data-path="/quickstart"]')).locator("td.numeric");
      const [people, ai] = changes(now, before).split(" · ");
      await expect(row.last()).toHaveText(`${people?.replace("People ", "")} · ${ai}`);
      const all = await rows(page).count();

      await readers(page, "AI").click();
      await expect(page).toHaveURL(`${TABLE}&readers=ai&q=quickstart&sort=path`);
      await expect(readers(page, "AI")).toHaveAttribute("aria-current", "true");
      await expect(row.last()).toHaveText(`${ai?.replace("AI ", "")} · ${people}`);
      // The columns stay, and no row disappears.
      await expect(row.nth(0)).toHaveText(grouped(now.human));
      await expect(row.nth(1)).toHaveText(grouped(now.ai));
      await expect(row.nth(2)).toHaveText(grouped(now.total));
      await expect(rows(page)).toHaveCount(all);
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "JSON", exact: true }).click()]);
      const exported = JSON.parse(await readFile(await download.path(), "utf8")) as Record<string, unknown>[];
      expect(exported).toHaveLength(all);
      expect(exported.find(({ path }) => path === "/quickstart")).toMatchObject({
        readers: "ai",
        difference: now.ai - before.ai,
        previous_human: before.human,
        previous_ai: before.ai,
        previous_total: before.total,
      });
      await readers(page, "People").click();
      await expect(page).toHaveURL(`${TABLE}&q=quickstart&sort=path`);
    });

    test("AI share lists the pages where it rose, and where it fell", async ({ page }) => {
      await visit(page, `${TABLE}&tab=share`);
      const directions = page.getByRole("list", { name: "Change of the AI share" });
      const tab = page.getByRole("list", { name: "Pages by change" }).getByRole("link", { name: "AI share", exact: true });
      for (const [name, word] of [["Rising", "share-rising"], ["Falling", "share-falling"], ["All", "share"]] as const) {
        await directions.getByRole("link", { name, exact: true }).click();
        await expect(page).toHaveURL(`${TABLE}&tab=${word}`);
        await expect(directions.getByRole("link", { name, exact: true })).toHaveAttribute("aria-current", "true");
        await expect(tab).toHaveAttribute("aria-current", "true");
        const shares = await rows(page).locator("td.numeric").evaluateAll((cells) =>
          cells.map((cell) => cell.textContent ?? "").filter((text) => text.includes("→")),
        );
        for (const text of shares) {
          // They are rounded, so equal ones may have changed by less.
          const [before, now] = text.split("→").map((share) => Number.parseInt(share.replace(/[<>]/, ""), 10));
          if (name === "Rising") expect(now).toBeGreaterThanOrEqual(before ?? 0);
          if (name === "Falling") expect(now).toBeLessThanOrEqual(before ?? 0);
        }
      }
    });

    test("page of a job has the effect on people, AI or all", async ({ page, api, emulator }) => {
      const job = await api.jobThat(({ prompt, changed_at }) => prompt.startsWith("Rewrite the quickstart") && changed_at < day(17));
      const { before, after } = await emulator.around(PROJECT, "/quickstart", mergedOn(job.changed_at));
      await visit(page, at(`/jobs/${job.id}`));
      const effect = page.locator(".job-effects li").filter({ has: page.getByRole("link", { name: "/quickstart", exact: true }) });
      await expect(effect).toContainText(`${changes(after, before)}: ${grouped(before.human)} views by people before`);
      await readers(page, "All").click();
      if (javaScriptEnabled) await interactive(page);
      await expect(page).toHaveURL(at(`/jobs/${job.id}?readers=all#job-effects`));
      await expect(effect).toContainText(`${changes(after, before)}: ${grouped(before.total)} views before, ${grouped(after.total)} after`);
    });

    test("last month is behind the button, which shows the range", async ({ page }) => {
      await visit(page, ANALYTICS);
      const button = page.locator(".ranges").getByRole("button").first();
      await expect(button).toHaveText("Custom range");
      await button.click();
      await page.getByRole("list", { name: "Past days" }).getByRole("link", { name: "Last month", exact: true }).click();
      await expect(page).toHaveURL(`${ANALYTICS}?days=last-month`);
      await expect(button).toHaveText("Last month");
      const first = new Date(`${day(0).slice(0, 8)}01`);
      const last = new Date(first.getTime() - 86_400_000).toISOString().slice(0, 10);
      await button.click();
      await expect(page.getByLabel("From", { exact: true })).toHaveValue(`${last.slice(0, 8)}01`);
      await expect(page.getByLabel("to", { exact: true })).toHaveValue(last);
      await page.goto(TABLE);
      await expect(button).toHaveText(/^Custom range: \S+ .+ \S+$/);
    });
  });
}

test("tooltip and legend of the chart have the notes", async ({ page, person }) => {
  await open(page, TABLE);
  const text = `Version 4 was announced, ${person.username}`;
  await page.getByText("Add a note", { exact: true }).click();
  const add = page.locator(".note-form").filter({ has: page.getByText("Add a note") });
  await add.getByLabel("Day").fill(day(1));
  await add.getByLabel("Note").fill(text);
  await add.getByRole("button", { name: "Save" }).click();
  await expect(page.locator(".event-list li").filter({ hasText: person.username })).toHaveCount(1);
  const legend = page.locator(".trend .legend");
  await expect(legend).toContainText(/People\s*AI\s*Previous period\s*(Job finished\s*)?Note/);
  await page.getByRole("slider", { name: "Days" }).focus();
  await page.keyboard.press("End");
  await expect(page.locator(".chart-tip")).toContainText("Notes");
  await expect(page.locator(".chart-tip")).toContainText(person.username);
  await page.locator(".events > summary").click();
  const note = page.locator(".event-list li").filter({ hasText: person.username });
  await note.getByText("Edit", { exact: true }).click();
  await note.getByRole("button", { name: "Delete this note" }).click();
  await expect(note).toHaveCount(0);
});
