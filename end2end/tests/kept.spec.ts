/** What is typed into plain forms with a text survives a reload, the end of the session and a failed sign-out, and is nobody else's. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { stored } from "../fixtures/days.ts";
import { type Person, at, expect, open, test } from "../fixtures/docket.ts";

const RESTORED = "What you wrote before is here again";

const kept = (page: Page) => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("docket.draft/")));

interface Form {
  path: string;
  /** Shows the form. */
  show?: (page: Page) => Promise<void>;
  fields: Record<string, string>;
  button: string;
}

const FORMS: Record<string, Form> = {
  template: { path: at("/templates?edit=new"), fields: { Name: "Check links", Text: "Check the links of {{page}}\nand fix them" }, button: "Save template" },
  import: { path: at("/jobs/import"), fields: { Note: "It fixes the guide" }, button: "Import job" },
  note: {
    path: at("/analytics"),
    show: (page) => page.getByText("Add a note", { exact: true }).click(),
    fields: { Note: "Version 3 was released" },
    button: "Save",
  },
};

async function fill(page: Page, { fields }: Form, suffix: string): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: label !== "Note" }).first().fill(text + suffix);
}

async function expectFilled(page: Page, { fields }: Form, suffix: string): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await expect(page.getByLabel(label, { exact: label !== "Note" }).first()).toHaveValue(text + suffix);
}

for (const [name, form] of Object.entries(FORMS)) {
  test(`${name} that was typed is in the form after a reload`, async ({ page, api }) => {
    test.setTimeout(300_000);
    if (name === "note") await stored(api);
    const suffix = ` ${randomUUID().slice(0, 8)}`;
    await open(page, form.path);
    await form.show?.(page);
    await fill(page, form, suffix);
    await open(page, form.path);
    await expect(page.getByText(RESTORED)).toBeVisible();
    await expectFilled(page, form, suffix);
    // Only in this form.
    await open(page, `${form.path}${form.path.includes("?") ? "&" : "?"}other=1`);
    await expect(page.getByText(RESTORED)).toHaveCount(0);
    // Undo returns to what the server has.
    await open(page, form.path);
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await kept(page)).toEqual([]);
    await open(page, form.path);
    await expect(page.getByText(RESTORED)).toHaveCount(0);
  });
}

test("saved template is not in the form for the next one", async ({ page }) => {
  await open(page, at("/templates?edit=new"));
  await page.getByLabel("Name").fill(`Saved ${randomUUID()}`);
  await page.getByLabel("Text").fill("Check {{page}}");
  expect(await kept(page)).toHaveLength(1);
  await page.getByRole("button", { name: "Save template" }).click();
  await expect(page).toHaveURL(/\/templates$/);
  expect(await kept(page)).toEqual([]);
  await open(page, at("/templates?edit=new"));
  await expect(page.getByLabel("Name")).toHaveValue("");
});

test("template survives the end of the session", async ({ page, person, trouble }) => {
  trouble.expects(/status of 401/);
  const form = FORMS["template"] as Form;
  const suffix = ` ${randomUUID().slice(0, 8)}`;
  await open(page, form.path);
  await fill(page, form, suffix);
  await page.context().clearCookies();
  await page.getByRole("button", { name: form.button }).click();
  await signIn(page, person);
  await expect(page).toHaveURL(form.path);
  await expectFilled(page, form, suffix);
  await page.getByRole("button", { name: form.button }).click();
  await expect(page).toHaveURL(/\/templates$/);
  await expect(page.getByRole("heading", { name: `Check links${suffix}` })).toBeVisible();
});

async function signIn(page: Page, { username, password }: Person): Promise<void> {
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("failed sign-out keeps drafts, the session and the page; the next one removes the drafts", async ({ page, context, trouble }) => {
  trouble.expects(/ERR_INTERNET_DISCONNECTED/);
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("Written before leaving");
  await expect(page.getByText("Draft saved", { exact: true })).toBeVisible();
  await context.setOffline(true);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByText(/You are still signed in/)).toBeVisible();
  expect(await kept(page)).not.toEqual([]);
  await expect(page.getByLabel("Prompt")).toHaveValue("Written before leaving");
  await context.setOffline(false);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  expect(await kept(page)).toEqual([]);
});
