/** Organizing jobs: archive, restore and tag, one or many at once, by keyboard, mouse and without JavaScript. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { expectAccessible } from "../fixtures/accessibility.ts";
import { Api } from "../fixtures/api.ts";
import { PROJECT, at, badge, delay, expect, interactive, open, test } from "../fixtures/docket.ts";

const rows = (page: Page) => page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
const checks = (page: Page) => rows(page).getByRole("checkbox");

/** Creates jobs for this test. Returns the URL of the list that shows only them, newest first. */
async function jobs(api: Api, count: number): Promise<{ list: string; word: string; ids: string[] }> {
  const word = `w${randomUUID().slice(0, 8)}`;
  const ids: string[] = [];
  for (let at = 1; at <= count; at++) ids.unshift((await api.start(`emulator:slow Number ${at} of ${word}`)).id);
  return { list: at(`/jobs?q=${word}`), word, ids };
}

test("selected jobs are archived together, and undo restores them", async ({ page, api }) => {
  const { list, word, ids } = await jobs(api, 3);
  await open(page, list);
  const archive = page.getByRole("button", { name: "Archive" });
  await expect(archive).toBeHidden();
  await checks(page).nth(0).check();
  await checks(page).nth(2).check();
  await expect(page.getByText("2 selected")).toBeVisible();
  await archive.click();
  await expect(page.getByText("2 jobs archived")).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await expect(badge(page, ids[1] ?? "")).toBeVisible();

  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Undone: 2 jobs archived")).toBeVisible();
  await expect(rows(page)).toHaveCount(3);

  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await expect(page.getByText("3 selected")).toBeVisible();
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(archive).toBeHidden();
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await archive.click();
  await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
  await page.getByText("Status", { exact: true }).click();
  await page.getByRole("link", { name: "Archived in Docket" }).click();
  await expect(page).toHaveURL(at(`/jobs?q=${word}&archived=yes`));
  await expect(rows(page)).toHaveCount(3);
  await checks(page).first().check();
  await page.getByRole("button", { name: "Restore" }).click();
  await expect(rows(page)).toHaveCount(2);
});

test("focus stays on the page after each bulk action", async ({ page, api }) => {
  const { list } = await jobs(api, 3);
  const hasFocus = () => page.evaluate(() => document.activeElement?.localName !== "body");
  await open(page, list);
  await checks(page).first().check();
  await page.getByRole("button", { name: "Clear" }).press("Enter");
  await expect(page.getByText("1 selected")).toBeHidden();
  await expect.poll(hasFocus, "after Clear").toBe(true);
  await checks(page).first().check();
  await page.getByLabel("Tag", { exact: true }).fill("Focused");
  await page.getByLabel("Tag", { exact: true }).press("Enter");
  await expect(page.getByText("1 job tagged")).toBeVisible();
  await expect(page.getByText("1 selected")).toBeHidden();
  await expect.poll(hasFocus, "after a tag").toBe(true);
  await page.getByRole("button", { name: "Dismiss" }).click();
  await checks(page).first().check();
  await page.getByRole("button", { name: "Archive" }).press("Enter");
  await expect(rows(page)).toHaveCount(2);
  await expect.poll(hasFocus, "after Archive").toBe(true);
  await page.getByRole("button", { name: "Undo" }).press("Enter");
  await expect(rows(page)).toHaveCount(3);
  await expect.poll(hasFocus, "after Undo").toBe(true);
});

test("undo that fails is offered again", async ({ page, api, context, trouble }) => {
  trouble.expects(/ERR_INTERNET_DISCONNECTED/);
  const { list } = await jobs(api, 2);
  await open(page, list);
  await checks(page).first().check();
  await page.getByRole("button", { name: "Archive" }).click();
  await expect(rows(page)).toHaveCount(1);
  await context.setOffline(true);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText(/could not be reached/).first()).toBeVisible();
  await context.setOffline(false);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(rows(page)).toHaveCount(2);
});

test("selected jobs are tagged together; tags link to their jobs", async ({ page, api }) => {
  const { list, word } = await jobs(api, 2);
  await open(page, list);
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  await page.getByLabel("Tag", { exact: true }).fill(`Tag ${word}`);
  await page.getByRole("button", { name: "Add tag" }).click();
  await expect(page.getByText("2 jobs tagged")).toBeVisible();
  await rows(page).first().getByRole("link", { name: `Tag ${word}`, exact: true }).click();
  await expect(page.getByRole("link", { name: `Remove the filter tag ${word}` })).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  expect(new URL(page.url()).searchParams.get("tag")).toBe(`Tag ${word}`);
});

test("Shift and click selects all rows between", async ({ page, api }) => {
  const { list } = await jobs(api, 4);
  await open(page, list);
  await checks(page).nth(0).click();
  await checks(page).nth(2).click({ modifiers: ["Shift"] });
  await expect(page.getByText("3 selected")).toBeVisible();
  await expect(checks(page).nth(3)).not.toBeChecked();
  await checks(page).nth(1).click({ modifiers: ["Shift"] });
  await expect(page.getByText("1 selected")).toBeVisible();
});

test("Shift and click selects from the last row, also below new rows", async ({ page, api }) => {
  const { list, word } = await jobs(api, 4);
  await open(page, list);
  await checks(page).nth(1).click();
  await api.start(`emulator:slow Number 5 of ${word}`);
  await page.getByRole("button", { name: "1 new job · Show" }).click();
  await expect(rows(page)).toHaveCount(5);
  await expect(checks(page).nth(2)).toBeChecked();
  await checks(page).nth(3).click({ modifiers: ["Shift"] });
  await expect(page.getByText("2 selected")).toBeVisible();
  for (const row of [2, 3]) await expect(checks(page).nth(row)).toBeChecked();
  await expect(checks(page).nth(1), "above the last row").not.toBeChecked();
});

test("row ticked during an action stays ticked, the others do not", async ({ page, api }) => {
  const { list, word } = await jobs(api, 3);
  await open(page, list);
  await checks(page).nth(0).check();
  await checks(page).nth(1).check();
  await page.getByLabel("Tag", { exact: true }).fill(word);
  const release = await delay(page, "**/api/jobs/tag");
  await page.getByRole("button", { name: "Add tag" }).click();
  await checks(page).nth(2).check();
  await expect(page.getByText("3 selected")).toBeVisible();
  release();
  await expect(page.getByText("2 jobs tagged")).toBeVisible();
  await expect(page.getByText("1 selected")).toBeVisible();
  await expect(checks(page).nth(2)).toBeChecked();
  for (const row of [0, 1]) await expect(checks(page).nth(row)).not.toBeChecked();
});

test("undo of a tag is about the posted tag, not one typed meanwhile", async ({ page, api }) => {
  const { list, word, ids } = await jobs(api, 1);
  await open(page, list);
  await checks(page).nth(0).check();
  const tag = page.getByLabel("Tag", { exact: true });
  await tag.fill(word);
  const release = await delay(page, "**/api/jobs/tag");
  await page.getByRole("button", { name: "Add tag" }).click();
  await tag.fill("Another");
  release();
  await expect(page.getByText("1 job tagged")).toBeVisible();
  expect((await api.job(ids[0] ?? "")).tags).toContain(word);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(async () => (await api.job(ids[0] ?? "")).tags).not.toContain(word);
});

test("another search ends the selection", async ({ page, api }) => {
  const { list, word } = await jobs(api, 2);
  await open(page, list);
  await checks(page).nth(0).check();
  await expect(page.getByText("1 selected")).toBeVisible();
  await page.getByRole("searchbox").fill(`1 of ${word}`);
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole("searchbox").fill(word);
  await expect(rows(page)).toHaveCount(2);
  for (const row of [0, 1]) await expect(checks(page).nth(row)).not.toBeChecked();
  await expect(page.getByRole("button", { name: "Archive" })).toBeHidden();
});

test("rows are focused, selected and opened by keyboard", async ({ page, api }) => {
  const { list, ids } = await jobs(api, 3);
  await open(page, list);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(checks(page).nth(0)).toBeChecked();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(rows(page).nth(2).locator(".job-title")).toBeFocused();
  await page.keyboard.press("k");
  await page.keyboard.press("x");
  await expect(page.getByText("2 selected")).toBeVisible();
  await page.keyboard.press("x");
  await expect(checks(page).nth(1)).not.toBeChecked();
  // From any focused element in the row.
  await checks(page).nth(1).focus();
  await page.keyboard.press("j");
  await expect(rows(page).nth(2).locator(".job-title")).toBeFocused();
  await page.keyboard.press("k");
  await expect(rows(page).nth(1).locator(".job-title")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(at(`/jobs/${ids[1]}`));
});

test("job is tagged, archived and restored on its own page", async ({ page, api }) => {
  const { ids, word } = await jobs(api, 1);
  await open(page, at(`/jobs/${ids[0]}`));
  await page.getByLabel("New tag").fill(word);
  await page.getByRole("button", { name: "Add tag" }).click();
  const facts = page.getByRole("complementary", { name: "Facts" });
  await expect(facts.getByRole("link", { name: word, exact: true })).toHaveAttribute("href", at(`/jobs?tag=${word}`));
  await facts.getByRole("button", { name: `Remove the tag ${word}` }).click();
  await expect(facts.getByRole("link", { name: word, exact: true })).toHaveCount(0);

  const act = async (name: string) => {
    if ((await page.locator("#job-actions:popover-open").count()) === 0) await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("button", { name, exact: true }).click();
  };
  const archived = page.getByText(/Archived by/);
  await act("Archive");
  await expect(archived).toBeVisible();
  await act("Restore");
  await expect(archived).toHaveCount(0);
  await act("Archive");
  await expect(archived).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).last().click();
  await expect(archived).toHaveCount(0);
});

test("text typed while a form is posted stays in its field", async ({ page, api }) => {
  const { ids, word } = await jobs(api, 1);
  await open(page, at(`/jobs/${ids[0]}`));
  const field = page.getByLabel("New tag");
  const tag = (name: string) => page.getByRole("complementary", { name: "Facts" }).getByRole("link", { name, exact: true });
  const release = await delay(page, "**/api/jobs/tag");
  await field.fill(`First ${word}`);
  await field.press("Enter");
  await field.fill(`Second ${word}`);
  release();
  await expect(tag(`First ${word}`)).toBeVisible();
  await expect(field).toHaveValue(`Second ${word}`);
  await field.press("Enter");
  await expect(tag(`Second ${word}`)).toBeVisible();
  await expect(field).toHaveValue("");
});

test("invalid tag is refused with a message", async ({ page, api, trouble }) => {
  trouble.expects(/status of 400/);
  const { ids } = await jobs(api, 1);
  await open(page, at(`/jobs/${ids[0]}`));
  await page.getByLabel("New tag").fill("a,b");
  await page.getByRole("button", { name: "Add tag" }).click();
  await expect(page.getByRole("alert")).toContainText("1 to 40 letters");
});

test("viewer has no controls to organize jobs", async ({ serve, visit }) => {
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const docket = await serve({ people: [viewer] });
  const administrator = await visit(docket, { storageState: docket.session });
  const job = await new Api(administrator.request, docket.url, PROJECT).start("emulator:slow Not for a viewer");
  const page = await visit(docket, { as: viewer });
  for (const [each, boxes] of [[administrator, 1], [page, 0]] as const) {
    await open(each, at("/jobs"));
    await expect(badge(each, job.id)).toBeVisible();
    await expect(checks(each)).toHaveCount(boxes);
  }
  await expect(page.getByRole("checkbox")).toHaveCount(0);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("list is one form that archives, tags and restores", async ({ page, api }) => {
    const { list, word } = await jobs(api, 2);
    await page.goto(list);
    await checks(page).first().check();
    await page.getByLabel("Tag", { exact: true }).fill(word);
    await page.getByRole("button", { name: "Add tag" }).click();
    await expect(rows(page).first().getByRole("link", { name: word, exact: true })).toBeVisible();
    await checks(page).first().check();
    await page.getByRole("button", { name: "Archive" }).click();
    await expect(rows(page)).toHaveCount(1);
    await page.getByText("Status", { exact: true }).click();
    await page.getByRole("link", { name: "Archived in Docket" }).click();
    await checks(page).first().check();
    await page.getByRole("button", { name: "Restore" }).click();
    await expect(page.getByRole("heading", { name: "No jobs match your filters" })).toBeVisible();
    await page.goto(list);
    await expect(rows(page)).toHaveCount(2);
  });
});

for (const [where, width] of [["a wide screen", 1280], ["a screen 390 px wide", 390]] as const) {
  test(`list with selected and tagged jobs is accessible on ${where}`, async ({ page, api }) => {
    const { list, word } = await jobs(api, 3);
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ reducedMotion: "reduce" });
    await open(page, list);
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    await page.getByLabel("Tag", { exact: true }).fill(word);
    await page.getByRole("button", { name: "Add tag" }).click();
    await expect(page.getByText("3 jobs tagged")).toBeVisible();
    await interactive(page);
    await checks(page).first().check();
    await expectAccessible(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBe(0);
    const box = await checks(page).first().boundingBox();
    expect(box?.width).toBeGreaterThanOrEqual(16);
  });
}
