/** The commonest tasks by keyboard alone: the pointer is never used. */
import type { Locator, Page } from "@playwright/test";
import { PROJECT, at, badge, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";
import { unique } from "../fixtures/templates.ts";

/** Moves the focus with Tab until `target` has it. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let stops = 0; stops < 120; stops++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("Tab does not lead there");
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 });

test("a job is started, opened, followed up and archived", async ({ page }) => {
  await open(page, at("/jobs"));
  await page.keyboard.press("c");
  await expect(heading(page)).toHaveText("New job");
  await interactive(page);
  const text = unique("emulator:slow Explain the keys");
  await page.keyboard.type(text);
  await page.keyboard.press("Control+Enter");
  const job = await jobOf(page);
  await interactive(page);
  await expect(badge(page, job)).toHaveAttribute("data-status", "active");
  await tabTo(page, page.getByLabel("Follow-up"));
  await page.keyboard.type("And the menus");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("list", { name: "Conversation" }).getByText("And the menus")).toBeVisible();
  await page.getByLabel("Follow-up").evaluate((field: HTMLElement) => field.blur());
  await tabTo(page, page.getByRole("button", { name: "More actions" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Archive", exact: true }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
});

test("jobs are searched, filtered, chosen and archived", async ({ page, api }) => {
  const word = unique("Keys").replace(" ", "");
  await api.start(`emulator:slow Explain ${word}`);
  await open(page, at("/jobs"));
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.type(word);
  const rows = page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
  await expect(rows).toHaveCount(1);
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await expect(rows.first().getByRole("link").first()).toBeFocused();
  await page.keyboard.press("x");
  await expect(rows.first().getByRole("checkbox")).toBeChecked();
  await tabTo(page, page.getByRole("button", { name: "Archive", exact: true }));
  await page.keyboard.press("Enter");
  await expect(rows).toHaveCount(0);
});

test("views of a page are found in the analytics", async ({ page }) => {
  await open(page, at(""));
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await expect(heading(page)).toHaveText("Analytics");
  await interactive(page);
  await tabTo(page, page.getByRole("link", { name: "7 days", exact: true }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/days=7/);
  await expect(page.getByRole("link", { name: "7 days", exact: true })).toBeFocused();
});

test("a template is written and used", async ({ page }) => {
  const name = unique("By keys");
  await open(page, at("/templates"));
  await tabTo(page, page.getByRole("link", { name: "New template" }));
  await page.keyboard.press("Enter");
  await interactive(page);
  await tabTo(page, page.getByLabel("Name"));
  await page.keyboard.type(name);
  await tabTo(page, page.getByLabel("Text"));
  await page.keyboard.type("Check the keys");
  await tabTo(page, page.getByRole("button", { name: "Save template" }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(at("/templates"));
  await interactive(page);
  await tabTo(page, page.getByRole("link", { name: `Use ${name}` }));
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Prompt", { exact: true })).toHaveValue("Check the keys");
});

test("the theme and the account are reached", async ({ page }) => {
  await open(page, at(""));
  const theme = () => page.locator("html").getAttribute("data-theme");
  const before = await theme();
  await page.keyboard.press(".");
  await expect.poll(theme).not.toBe(before);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("account");
  await expect(page.getByRole("dialog").getByRole("option", { selected: true })).toContainText("Account");
  await page.keyboard.press("Enter");
  await expect(heading(page)).toHaveText("Account");
  await interactive(page);
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await expect(page).toHaveURL(new RegExp(`/p/${PROJECT}/jobs$`));
});
