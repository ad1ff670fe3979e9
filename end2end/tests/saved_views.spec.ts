/** Saved views: own and shared ones. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { expectAccessible } from "../fixtures/accessibility.ts";
import { at, expect, open, test } from "../fixtures/docket.ts";

const views = (page: Page) => page.getByRole("list", { name: "Saved views" });

async function save(page: Page, name: string): Promise<void> {
  await page.getByText("Save this view").click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Save view" }).click();
}

test("view is saved, opened, renamed and removed", async ({ page }) => {
  const name = `View ${randomUUID().slice(0, 8)}`;
  await open(page, at("/jobs"));
  await expect(page.getByText("Save this view")).toHaveCount(0);
  await open(page, at("/jobs?status=completed&sort=oldest"));
  await save(page, name);
  const view = views(page).getByRole("link", { name });
  await expect(view).toHaveAttribute("aria-current", "true");
  await expect(page.getByRole("status").getByText("View saved")).toBeVisible();

  await open(page, at("/jobs"));
  await view.click();
  await expect(page).toHaveURL(at("/jobs?status=completed&sort=oldest"));
  await page.getByText("Edit this view").click();
  await page.getByLabel("Name", { exact: true }).fill(`${name} renamed`);
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(views(page).getByRole("link", { name: `${name} renamed` })).toBeVisible();
  await page.getByText("Edit this view").click();
  await expect(page.getByRole("button", { name: "Remove view" })).toBeHidden();
  await page.getByText("Remove…", { exact: true }).click();
  await page.getByRole("button", { name: "Remove view" }).click();
  await expect(page.getByText(name)).toHaveCount(0);
  await expect(page.getByText("Save this view")).toBeVisible();
});

test("shared view is in a colleague's list with its owner", async ({ serve, visit }) => {
  const olga = { username: "olga", password: "writes-docs-1", role: "operator" } as const;
  const victor = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const docket = await serve({ people: [olga, victor] });
  const [hers, his] = [await visit(docket, { as: olga }), await visit(docket, { as: victor })];
  await open(hers, at("/jobs?needs=attention"));
  await hers.getByText("Save this view").click();
  await expect(hers.getByLabel("For everyone")).toBeVisible();
  await hers.getByLabel("Name", { exact: true }).fill("Needs a look");
  await hers.getByRole("button", { name: "Save view" }).click();
  await expect(views(hers).getByRole("link", { name: "Needs a look" })).toBeVisible();
  await open(his, at("/jobs"));
  await expect(views(his)).toHaveCount(0);

  await hers.getByText("Edit this view").click();
  const share = hers.getByRole("button", { name: "Share with everyone" });
  await share.click();
  // The response closes the menu.
  await expect(share).toBeHidden();
  await hers.getByText("Edit this view").click();
  await expect(hers.getByRole("button", { name: "Stop sharing" })).toBeVisible();
  await hers.getByText("Remove…", { exact: true }).click();
  await expect(hers.getByText("This removes it for everyone: Needs a look")).toBeVisible();
  await open(his, at("/jobs"));
  await views(his).getByRole("link", { name: "Needs a look by olga" }).click();
  await expect(his).toHaveURL(at("/jobs?needs=attention"));
  await expect(his.getByText("Edit this view")).toHaveCount(0);
  // His own views are private.
  await open(his, at("/jobs?q=sdk"));
  await his.getByText("Save this view").click();
  await expect(his.getByLabel("For everyone")).toHaveCount(0);
});

test("view of analytics is saved and removed; its days move", async ({ page, person }) => {
  const shown = at("/analytics?days=7&sort=share");
  const name = `Week of ${person.username}`;
  await open(page, at("/analytics"));
  await expect(page.getByText("Save this view")).toHaveCount(0);
  await open(page, shown);
  await save(page, name);
  await expect(page).toHaveURL(shown);
  await expect(views(page).getByRole("link", { name })).toHaveAttribute("aria-current", "true");
  await open(page, at("/jobs"));
  await expect(page.getByText(name), "jobs have views of their own").toHaveCount(0);

  await open(page, at("/analytics"));
  await views(page).getByRole("link", { name }).click();
  await expect(page).toHaveURL(shown);
  await page.getByText("Edit this view").click();
  await page.getByLabel("Name", { exact: true }).fill(`${name}, again`);
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(views(page).getByRole("link", { name: `${name}, again` })).toBeVisible();
  await page.getByText("Edit this view").click();
  await expect(page.getByRole("button", { name: "Remove view" })).toBeHidden();
  await page.getByText("Remove…", { exact: true }).click();
  await page.getByRole("button", { name: "Remove view" }).click();
  await expect(views(page).getByText(name)).toHaveCount(0);
});

test("duplicate name is refused with a message", async ({ page, trouble }) => {
  trouble.expects(/status of 400/);
  for (const [query, name] of [["q=one", "One"], ["q=two", "Two"]] as const) {
    await open(page, at(`/jobs?${query}`));
    await save(page, name);
    await expect(views(page).getByRole("link", { name })).toBeVisible();
  }
  await page.getByText("Edit this view").click();
  await page.getByLabel("Name", { exact: true }).fill("One");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("alert")).toContainText("already have a view with that name");
});

test("view is named in a popover, by keyboard", async ({ page }) => {
  await open(page, at("/jobs?q=keyboard"));
  const top = () => page.locator(".list-head, .empty").first().evaluate((list) => list.getBoundingClientRect().top);
  const before = await top();
  await page.getByRole("button", { name: "Save this view" }).press("Enter");
  await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
  expect(await top(), "the list does not move").toBe(before);
  await page.keyboard.press("Escape");
  await expect(page.getByLabel("Name", { exact: true })).toBeHidden();
  await expect(page.getByRole("button", { name: "Save this view" })).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await expect(views(page).getByRole("link", { name: "By keyboard" })).toHaveAttribute("aria-current", "true");
  await expect(page.getByLabel("Name", { exact: true })).toBeHidden();
});

for (const width of [1280, 390]) {
  test(`saved views and their forms are accessible, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 844 });
    await open(page, at("/jobs?status=completed&q=guide"));
    await save(page, "A view with quite a long name, as people give them");
    await page.getByText("Edit this view").click();
    await expectAccessible(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBe(0);
  });
}

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("view is saved, renamed and removed by plain forms", async ({ page }) => {
    await page.goto(at("/jobs?tag=/quickstart"));
    await save(page, "About the quickstart");
    await expect(page).toHaveURL(/\/jobs\?tag=(\/|%2F)quickstart$/);
    await page.goto(at("/jobs"));
    await views(page).getByRole("link", { name: "About the quickstart" }).click();
    await page.getByText("Edit this view").click();
    await page.getByLabel("Name", { exact: true }).fill("Quickstart");
    await page.getByRole("button", { name: "Rename" }).click();
    await expect(views(page).getByRole("link", { name: "Quickstart", exact: true })).toBeVisible();
    await page.getByText("Edit this view").click();
    await expect(page.getByRole("button", { name: "Remove view" })).toBeHidden();
    await page.getByText("Remove…", { exact: true }).click();
    await page.getByRole("button", { name: "Remove view" }).click();
    await expect(views(page)).toHaveCount(0);
  });
});
