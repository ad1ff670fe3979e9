/** A draft is available on other devices, and removed everywhere after it was sent. */
import type { Page } from "@playwright/test";
import { ANONYMOUS, type Visitor, type VisitOptions, at, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";

const NEW_JOB = at("/jobs/new");
const HOSTILE = `\n</textarea><script>document.title="taken"</script> \u202Eabc\u2066 👩‍💻 שלום\n\n  end `;

const prompt = (page: Page) => page.getByLabel("Prompt");
const pages = (page: Page) => page.getByLabel("Pages");
const saved = (page: Page) => page.getByText("Draft saved");

/** A browser of `person` that has only the session. */
function another(person: Visitor): VisitOptions {
  return { storageState: { ...ANONYMOUS, cookies: person.session.cookies } };
}

test("draft and its pages appear in another browser", async ({ page, demo, person, visit }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill(HOSTILE);
  await pages(page).fill("/guides/search, /faq");
  await expect(saved(page)).toBeVisible();
  for (const javaScriptEnabled of [true, false]) {
    const elsewhere = await visit(demo, { ...another(person), javaScriptEnabled });
    await elsewhere.goto(NEW_JOB);
    await expect(prompt(elsewhere)).toHaveValue(HOSTILE);
    await expect(pages(elsewhere)).toHaveValue("/guides/search, /faq");
    await expect(elsewhere).toHaveTitle("New job · Docket");
  }
});

test("newest text of several browsers wins", async ({ page, demo, person, visit }) => {
  const elsewhere = await visit(demo, another(person));
  await open(page, NEW_JOB);
  await prompt(page).fill("First, here");
  await expect(saved(page)).toBeVisible();
  await open(elsewhere, NEW_JOB);
  await expect(prompt(elsewhere)).toHaveValue("First, here");
  await prompt(elsewhere).fill("Second, there");
  await expect(saved(elsewhere)).toBeVisible();
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("Second, there");

  // Typed last, and not on the server yet.
  await page.route("**/api/jobs/draft", () => {});
  await prompt(page).fill("Third, here again");
  await page.reload();
  await expect(prompt(page)).toHaveValue("Third, here again");
});

test("text sent in one browser is no draft in another", async ({ page, demo, person, visit }) => {
  const elsewhere = await visit(demo, another(person));
  const text = `Sent elsewhere ${Math.random().toString(36).slice(2)}`;
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await expect(saved(page)).toBeVisible();
  await open(elsewhere, NEW_JOB);
  await expect(prompt(elsewhere)).toHaveValue(text);
  await elsewhere.getByRole("button", { name: "Start job" }).click();
  await jobOf(elsewhere);
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("");
});

test("draft is discarded everywhere", async ({ page, demo, person, visit }) => {
  const elsewhere = await visit(demo, another(person));
  await open(page, NEW_JOB);
  await expect(page.getByRole("button", { name: "Discard draft" })).toBeHidden();
  await prompt(page).fill("Away with it");
  await expect(saved(page)).toBeVisible();
  const dropped = page.waitForResponse("**/api/jobs/draft");
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(prompt(page)).toHaveValue("");
  await expect(prompt(page)).toBeFocused();
  expect((await dropped).status()).toBe(200);
  await open(elsewhere, NEW_JOB);
  await expect(prompt(elsewhere)).toHaveValue("");
  await page.reload();
  await expect(prompt(page)).toHaveValue("");
});

test("repeated undo alternates between the discarded and the later text", async ({ page, demo, person, visit }) => {
  await open(page, NEW_JOB);
  const undo = page.getByRole("button", { name: "Undo" });
  await expect(undo).toBeHidden();
  await prompt(page).fill("Dear to me");
  await expect(saved(page)).toBeVisible();
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(page.getByRole("status").getByText("Draft discarded")).toBeVisible();
  await prompt(page).fill("Another");
  await undo.click();
  await expect(prompt(page)).toHaveValue("Dear to me");
  await expect(prompt(page)).toBeFocused();
  await undo.click();
  await expect(prompt(page)).toHaveValue("Another");
  await undo.click();
  await expect(prompt(page)).toHaveValue("Dear to me");
  await expect(saved(page)).toBeVisible();
  const elsewhere = await visit(demo, another(person));
  await open(elsewhere, NEW_JOB);
  await expect(prompt(elsewhere)).toHaveValue("Dear to me");
});

test("undo survives a reload", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("Dear to me");
  await expect(saved(page)).toBeVisible();
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(prompt(page)).toHaveValue("");
  await page.reload();
  await interactive(page);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(prompt(page)).toHaveValue("Dear to me");
  // Saving it after the sign-out would be refused.
  await expect(saved(page)).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL("/login");
  expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("docket.draft/")))).toEqual([]);
});

const others = (page: Page) => page.getByRole("list", { name: "Other drafts" });
const entry = (page: Page, text: string) => others(page).getByRole("listitem").filter({ hasText: text });

test("each prefilled form has its own draft and lists others", async ({ page, demo, person, visit }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("My first thought");
  await expect(saved(page)).toBeVisible();
  await open(page, `${NEW_JOB}?path=/guides/search`);
  await expect(prompt(page)).toHaveValue("");
  await prompt(page).fill("About the search");
  await expect(saved(page)).toBeVisible();
  await open(page, `${NEW_JOB}?prompt=Brought`);
  await expect(prompt(page)).toHaveValue("Brought");
  await page.getByText("Other drafts (2)").click();
  await expect(entry(page, "About the search")).toContainText("/guides/search");
  // A reload of each URL shows its draft.
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("My first thought");
  await open(page, `${NEW_JOB}?path=/guides/search`);
  await expect(prompt(page)).toHaveValue("About the search");
  await expect(pages(page)).toHaveValue("/guides/search");

  for (const javaScriptEnabled of [true, false]) {
    const elsewhere = await visit(demo, { ...another(person), javaScriptEnabled });
    await elsewhere.goto(`${NEW_JOB}?prompt=Brought`);
    if (javaScriptEnabled) await interactive(elsewhere);
    await elsewhere.getByText(/^Other drafts/).click();
    await entry(elsewhere, "About the search").getByRole("link", { name: "Restore" }).click();
    await expect(prompt(elsewhere)).toHaveValue("About the search");
    await expect(pages(elsewhere)).toHaveValue("/guides/search");
    if (javaScriptEnabled) await interactive(elsewhere);
    await elsewhere.getByText("Other drafts (1)").click();
    await entry(elsewhere, "My first thought").getByText("Discard…").click();
    await entry(elsewhere, "My first thought").getByRole("button", { name: "Discard this draft" }).click();
    await expect(elsewhere.getByText(/^Other drafts/)).toHaveCount(0);
    await expect(prompt(elsewhere), "this form's own text stays").toHaveValue("About the search");
    await open(page, NEW_JOB);
    await expect(prompt(page)).toHaveValue("");
    await prompt(page).fill("My first thought");
    await expect(saved(page)).toBeVisible();
  }
});

test("prefilled form shows its draft, or its values without one", async ({ page }) => {
  await open(page, `${NEW_JOB}?prompt=Brought`);
  await expect(page.getByText("This is your draft")).toHaveCount(0);
  await prompt(page).fill("Brought, and changed");
  await expect(saved(page)).toBeVisible();
  await open(page, `${NEW_JOB}?prompt=Brought`);
  await expect(prompt(page)).toHaveValue("Brought, and changed");
  await expect(page.getByText("This is your draft")).toBeVisible();
  await page.getByRole("button", { name: "Discard draft" }).click();
  await expect(prompt(page)).toHaveValue("Brought");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(prompt(page)).toHaveValue("Brought, and changed");
});

const notice = (page: Page) => page.getByRole("alert").filter({ hasText: "changed in another tab" });

for (const where of ["tab", "browser"]) {
  test(`draft changed in another ${where} shows and saves both versions`, async ({ page, context, demo, person, visit }) => {
    await open(page, NEW_JOB);
    await prompt(page).fill("Shared");
    await expect(saved(page)).toBeVisible();
    const second = where === "tab" ? await context.newPage() : await visit(demo, another(person));
    await open(second, NEW_JOB);
    await expect(prompt(second)).toHaveValue("Shared");
    await prompt(page).fill("Shared, first version");
    await expect(saved(page)).toBeVisible();
    await prompt(second).fill("Shared, second version");
    await expect(notice(second)).toContainText("Shared, first version");
    await expect(prompt(second)).toHaveValue("Shared, second version");
    await expect(saved(second)).toBeVisible();

    // Both versions are still there after a reload and in another browser.
    await second.reload();
    await interactive(second);
    await expect(prompt(second)).toHaveValue("Shared, second version");
    await open(page, NEW_JOB);
    await expect(prompt(page)).toHaveValue("Shared, first version");
    await page.getByText("Other drafts (1)").click();
    await expect(entry(page, "Shared, second version")).toBeVisible();
  });
}

test("version of another tab can be used; undo reverts that", async ({ page, context }) => {
  await open(page, NEW_JOB);
  const second = await context.newPage();
  await open(second, NEW_JOB);
  await prompt(page).fill("First version");
  await expect(saved(page)).toBeVisible();
  await prompt(second).fill("Second version");
  await expect(notice(second)).toContainText("First version");
  await second.getByRole("button", { name: "Use this version" }).click();
  await expect(prompt(second)).toHaveValue("First version");
  await expect(notice(second)).toBeHidden();
  await second.getByRole("button", { name: "Undo" }).click();
  await expect(prompt(second)).toHaveValue("Second version");
});

test("follow-up changed in another browser shows both versions", async ({ page, api, demo, person, visit }) => {
  const elsewhere = await visit(demo, another(person));
  const job = await api.jobThat((job) => job.state === "completed");
  for (const each of [page, elsewhere]) await open(each, at(`/jobs/${job.id}`));
  await page.getByLabel("Follow-up").fill("First version");
  await expect(saved(page)).toBeVisible();
  await elsewhere.getByLabel("Follow-up").fill("Second version");
  await expect(notice(elsewhere)).toContainText("First version");
  await expect(elsewhere.getByLabel("Follow-up")).toHaveValue("Second version");
  await expect(saved(elsewhere)).toBeVisible();
  await elsewhere.getByRole("button", { name: "Undo" }).click();
  await expect(elsewhere.getByLabel("Follow-up")).toHaveValue("First version");
});

test("follow-up has its own draft on the server", async ({ page, api, demo, person, visit }) => {
  const elsewhere = await visit(demo, another(person));
  const job = await api.jobThat((job) => job.state === "completed");
  await open(page, at(`/jobs/${job.id}`));
  await page.getByLabel("Follow-up").fill("One more thing");
  await expect(saved(page)).toBeVisible();
  await open(elsewhere, at(`/jobs/${job.id}`));
  await expect(elsewhere.getByLabel("Follow-up")).toHaveValue("One more thing");
  await open(elsewhere, NEW_JOB);
  await expect(prompt(elsewhere)).toHaveValue("");
});

test("next person at a browser does not see earlier drafts", async ({ page, demo, person }) => {
  await page.route("**/api/jobs/draft", () => {});
  await open(page, NEW_JOB);
  await prompt(page).fill("Nobody else's business");
  await page.reload();
  await expect(prompt(page)).toHaveValue("Nobody else's business");

  // The session ends without a sign-out, and another person signs in. An open page would be refused as that of the first person.
  await page.goto("about:blank");
  await page.context().clearCookies();
  await page.context().addCookies(demo.session.cookies);
  await open(page, NEW_JOB);
  await expect(prompt(page)).not.toHaveValue("Nobody else's business");

  await page.goto("about:blank");
  await page.context().clearCookies();
  await page.context().addCookies(person.session.cookies);
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("Nobody else's business");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL("/login");
  expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("docket.draft/")))).toEqual([]);
});

test("near the limit the characters are counted", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("x".repeat(1_000));
  await expect(page.getByText(/of 32,768 characters/)).toHaveCount(0);
  await prompt(page).fill("é".repeat(32_700));
  await expect(page.getByText("32,700 of 32,768 characters")).toBeVisible();
  await prompt(page).fill("é".repeat(32_769));
  await expect(page.getByText("32,769 of 32,768 characters")).toHaveAttribute("data-over", "true");
  // Nothing this long is stored on the server, which is not an error.
  await prompt(page).fill("short again");
  await expect(saved(page)).toBeVisible();
});
