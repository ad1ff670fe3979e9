/** What is typed into plain forms with a text survives a reload, the end of the session and a failed sign-out, and is nobody else's. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { post } from "../fixtures/api.ts";
import { stored } from "../fixtures/days.ts";
import { OTHER_PROJECT, PROJECT, type Person, at, expect, interactive, open, test } from "../fixtures/docket.ts";

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

const field = (page: Page, label: string) => page.getByRole("textbox", { name: label }).first();

async function fill(page: Page, { fields }: Form, suffix: string): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await field(page, label).fill(text + suffix);
}

/** Opens the page of a form and types into it, until that is kept. Returns the end of the typed texts. */
async function typeInto(page: Page, form: Form): Promise<string> {
  const suffix = ` ${randomUUID().slice(0, 8)}`;
  await open(page, form.path);
  await form.show?.(page);
  await fill(page, form, suffix);
  // What keeps it is loaded when somebody types.
  await expect.poll(() => kept(page)).toHaveLength(1);
  return suffix;
}

async function expectFilled(page: Page, { fields }: Form, suffix: string): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await expect(field(page, label)).toHaveValue(text + suffix);
}

for (const [name, form] of Object.entries(FORMS)) {
  test(`${name} that was typed is in the form after a reload`, async ({ page, api }) => {
    test.setTimeout(300_000);
    if (name === "note") await stored(api);
    const suffix = await typeInto(page, form);
    await open(page, form.path);
    await expect(page.getByText(RESTORED)).toBeVisible();
    await expectFilled(page, form, suffix);
    // Only in this form. The query of analytics changes while the form stays.
    await open(page, name === "note" ? at("/analytics", OTHER_PROJECT) : `${form.path}${form.path.includes("?") ? "&" : "?"}other=1`);
    await expect(page.getByText(RESTORED)).toHaveCount(0);
    // Undo returns to what the server has.
    await open(page, form.path);
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await kept(page)).toEqual([]);
    await open(page, form.path);
    await expect(page.getByText(RESTORED)).toHaveCount(0);
  });

  test(`${name} that was typed survives a sign-out in another tab`, async ({ page, api, person, trouble }) => {
    test.setTimeout(300_000);
    trouble.expects(/status of 401/);
    if (name === "note") await stored(api);
    const suffix = await typeInto(page, form);
    const other = await page.context().newPage();
    await open(other, at(""));
    await other.getByRole("button", { name: "Sign out" }).click();
    await expect(other).toHaveURL("/login");
    expect(await kept(page)).toEqual([]);
    if (name === "import") await field(page, "Id of the job on the platform").fill("job_1");
    await page.getByRole("button", { name: form.button, exact: true }).first().click();
    await signIn(page, person);
    await expect(page).toHaveURL(form.path);
    await expectFilled(page, form, suffix);
  });

  test(`${name} that was typed in another tab stays there`, async ({ page, api }) => {
    test.setTimeout(300_000);
    if (name === "note") await stored(api);
    const other = await page.context().newPage();
    const tabs = [page, other].map((tab) => ({ tab, suffix: ` ${randomUUID().slice(0, 8)}` }));
    for (const { tab } of tabs) {
      await open(tab, form.path);
      await form.show?.(tab);
    }
    for (const { tab, suffix } of tabs) await fill(tab, form, suffix);
    await expect.poll(() => kept(page)).toHaveLength(2);
    for (const { tab, suffix } of tabs) {
      await tab.reload();
      await expectFilled(tab, form, suffix);
    }
    // Discarding one leaves the other.
    await page.getByRole("button", { name: "Undo" }).click();
    await other.reload();
    await expectFilled(other, form, tabs[1]?.suffix ?? "");
    expect(await kept(page)).toHaveLength(1);
  });
}

test("new tab takes over what was typed, and nothing comes back after it was saved", async ({ page }) => {
  const path = at("/templates?edit=new");
  await open(page, path);
  await page.getByLabel("Name").fill(`Taken over ${randomUUID()}`);
  await page.getByLabel("Text").fill("Check {{page}}");
  await expect.poll(() => kept(page)).toHaveLength(1);
  const other = await page.context().newPage();
  await open(other, path);
  await expect(other.getByLabel("Text")).toHaveValue("Check {{page}}");
  await other.getByRole("button", { name: "Save template" }).click();
  await expect(other).toHaveURL(/\/templates$/);
  await page.reload();
  await interactive(page);
  await expect(page.getByLabel("Name")).toHaveValue("");
  expect(await kept(page)).toEqual([]);
});

test("note that was typed stays when the range changes", async ({ page, api, demo }) => {
  test.setTimeout(300_000);
  await stored(api);
  const note = FORMS["note"] as Form;
  const suffix = await typeInto(page, note);
  await page.getByRole("list", { name: "Days" }).getByRole("link", { name: "7 days" }).click();
  await expect(page).toHaveURL(/days=7/);
  await page.reload();
  await expectFilled(page, note, suffix);
  // Saved at another URL, it does not come back.
  await page.getByRole("button", { name: note.button, exact: true }).first().click();
  await expect.poll(() => kept(page)).toEqual([]);
  // Other tests use this demonstration without notes.
  await open(page, note.path);
  const id = await page.locator("form[action$='/annotations/save'] [name=id]:not([value=''])").first().getAttribute("value");
  await post(page.request, demo.url, "annotations/remove", { project: PROJECT, id: id ?? "" });
});

test("note that was emptied is not written", async ({ page, api }) => {
  test.setTimeout(300_000);
  await stored(api);
  const note = FORMS["note"] as Form;
  await open(page, note.path);
  await note.show?.(page);
  await fill(page, note, "");
  await expect.poll(() => kept(page)).toHaveLength(1);
  await field(page, "Note").fill("");
  await expect.poll(() => kept(page)).toEqual([]);
  await open(page, note.path);
  await expect(page.getByText(RESTORED)).toHaveCount(0);
});

test("saved template is not in the form for the next one", async ({ page }) => {
  await open(page, at("/templates?edit=new"));
  await page.getByLabel("Name").fill(`Saved ${randomUUID()}`);
  await page.getByLabel("Text").fill("Check {{page}}");
  await expect.poll(() => kept(page)).toHaveLength(1);
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
  await page.getByRole("button", { name: form.button, exact: true }).click();
  await signIn(page, person);
  await expect(page).toHaveURL(form.path);
  await expectFilled(page, form, suffix);
  await page.getByRole("button", { name: form.button, exact: true }).click();
  await expect(page).toHaveURL(/\/templates$/);
  await expect(page.getByRole("heading", { name: `Check links${suffix}` })).toBeVisible();
});

async function signIn(page: Page, { username, password }: Person): Promise<void> {
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
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
  await expect(page.getByRole("button", { name: "Sign in", exact: true })).toBeVisible();
  expect(await kept(page)).toEqual([]);
});
