/** People and their accounts: invitations, limits, disabling, passwords and sessions. */
import type { Page } from "@playwright/test";
import { codeOf } from "../fixtures/authenticator.ts";
import { OTHER_PROJECT, ANONYMOUS, type Person, at, expect, fillInSignIn, interactive, open, test } from "../fixtures/docket.ts";

const USERS = "/admin/users";
const ACCOUNT = "/account";
const CHOSEN = "a sentence of my own";

const row = (page: Page, name: string) => page.getByRole("table", { name: "People" }).getByRole("row", { name });
const link = (page: Page) => page.locator("code.secret");

async function switchOnSecondFactor(page: Page, password: string): Promise<void> {
  const section = page.getByRole("region", { name: "Second factor" });
  await section.getByLabel("Password").fill(password);
  await section.getByRole("button", { name: "Set up" }).click();
  const secret = (await section.locator("code.secret").first().textContent()) ?? "";
  await section.getByRole("textbox", { name: "Code" }).fill(codeOf(secret));
  await section.getByRole("button", { name: "Switch on" }).click();
  await expect(section.getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? "with" : "without";

  test(`person is invited, signs in, limited and disabled, ${how} JavaScript`, async ({ serve, visit, trouble }) => {
    const docket = await serve();
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    const ready = async (shown: Page) => {
      if (javaScriptEnabled) await interactive(shown);
    };
    await page.goto(ACCOUNT);
    await ready(page);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "People" }).click();
    await expect(page.getByRole("heading", { name: "People" })).toBeVisible();
    await page.getByLabel("Username").fill("ivan");
    const access = page.getByRole("group", { name: "Project access" }).last();
    await expect(access.getByLabel("Acme Docs")).toBeHidden();
    await access.getByLabel("Selected projects").check();
    await access.getByLabel("Acme Docs").check();
    await page.getByRole("button", { name: "Create invite link" }).click();
    await expect(page.getByRole("status").filter({ hasText: "ivan is invited." })).toBeVisible();
    const url = (await link(page).textContent()) ?? "";
    await expect(page.getByRole("button", { name: "Copy" })).toHaveCount(javaScriptEnabled ? 1 : 0);
    await expect(row(page, "ivan")).toContainText("Invited");
    await page.goto(USERS);
    await expect(row(page, "ivan")).toContainText("Acme Docs");
    await expect(link(page), "it is shown once").toHaveCount(0);

    const guest = await visit(docket, { javaScriptEnabled });
    await guest.goto(url);
    if (!javaScriptEnabled) {
      await guest.getByLabel("Link").fill(url);
      await guest.getByRole("button", { name: "Continue" }).click();
    }
    await expect(guest.getByRole("heading", { name: "Welcome to Docket" })).toBeVisible();
    await ready(guest);
    await expect(guest.getByLabel("Username")).toHaveValue("ivan");
    await guest.getByLabel("Password").fill(CHOSEN);
    await guest.getByRole("button", { name: "Save and sign in" }).click();
    await expect(guest).toHaveURL(at(""));
    await expect(guest.getByText("viewer", { exact: true })).toBeVisible();

    trouble.expects(/status of 404/);
    await guest.goto(at("", OTHER_PROJECT));
    await expect(guest.getByRole("heading", { name: "Not found" }).first()).toBeVisible();

    await page.goto(USERS);
    await ready(page);
    await row(page, "ivan").getByRole("link", { name: "Manage ivan" }).click();
    await expect(page.getByRole("heading", { name: "ivan", level: 1 })).toBeVisible();
    await page.getByRole("button", { name: "Disable" }).click();
    await expect(page.getByRole("status").filter({ hasText: "ivan is disabled" })).toBeVisible();
    await guest.goto(at("/jobs"));
    await expect(guest).toHaveURL(/\/login/);
  });

  test(`forgotten password and lost second factor are reset, ${how} JavaScript`, async ({ serve, visit }) => {
    const olga = { username: "olga", password: "writes-the-docs-1", role: "operator" } as const;
    const docket = await serve({ people: [olga] });
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    const ready = async (shown: Page) => {
      if (javaScriptEnabled) await interactive(shown);
    };
    const guest = await visit(docket, { as: olga, javaScriptEnabled });
    await guest.goto(ACCOUNT);
    await ready(guest);
    await switchOnSecondFactor(guest, olga.password);

    await page.goto(USERS);
    await ready(page);
    await row(page, "olga").getByRole("link", { name: "Manage olga" }).click();
    await expect(page).toHaveURL(/\/admin\/users\/.{36}$/);
    await ready(page);
    const reset = page.getByRole("button", { name: "Remove second factor" });
    await expect(reset, "it asks first").toBeHidden();
    await page.getByText("Reset second factor", { exact: true }).click();
    await reset.click();
    await expect(page.getByRole("status").filter({ hasText: "The second factor of olga was removed" })).toBeVisible();
    await expect(page.getByText("They have no second factor.")).toBeVisible();
    await guest.goto(ACCOUNT);
    await expect(guest, "her session has ended").toHaveURL(/\/login/);

    const create = page.getByRole("button", { name: "Create link" });
    await expect(create, "it asks first").toBeHidden();
    await page.getByText("Create link for a new password", { exact: true }).click();
    await create.click();
    await expect(page.getByRole("status").filter({ hasText: "Send olga this link" })).toBeVisible();
    const url = (await link(page).textContent()) ?? "";

    await guest.goto(url);
    if (!javaScriptEnabled) {
      await guest.getByLabel("Link").fill(url);
      await guest.getByRole("button", { name: "Continue" }).click();
    }
    await expect(guest.getByRole("heading", { name: "Set a new password" })).toBeVisible();
    await ready(guest);
    await expect(guest.getByLabel("Username")).toHaveValue("olga");
    await guest.getByLabel("Password").fill(CHOSEN);
    await guest.getByRole("button", { name: "Save and sign in" }).click();
    await expect(guest).toHaveURL(at(""));

    await page.goto("/admin/audit");
    const log = page.getByRole("table").first();
    for (const action of ["Second factor switched off", "Link for a new password created", "Password changed"]) {
      await expect(log.getByText(action).first()).toBeVisible();
    }
  });

  test(`password is changed, and other sessions end, ${how} JavaScript`, async ({ demo, person, visit }) => {
    const here = await visit(demo, { storageState: person.session, javaScriptEnabled });
    const there = await visit(demo, { javaScriptEnabled });
    await there.goto("/login");
    if (javaScriptEnabled) await interactive(there);
    await fillInSignIn(there, person);
    await expect(there).toHaveURL(at(""));
    // A page without background requests, which would report that its session has ended.
    await there.goto(ACCOUNT);

    await here.goto(ACCOUNT);
    if (javaScriptEnabled) await interactive(here);
    const places = here.getByRole("table", { name: "Active sessions" });
    await expect(places.getByRole("row")).toHaveCount(3);
    await expect(places.getByText("This session")).toHaveCount(1);

    await expect(here.getByLabel("New password"), "the rule is visible before it fails").toHaveAccessibleDescription(/At least 12 characters\. Not a common password/);
    await here.getByLabel("Current password").fill("not the password");
    await here.getByLabel("New password").fill(CHOSEN);
    await here.getByRole("button", { name: "Change password" }).click();
    await expect(here.getByRole("alert")).toContainText("Incorrect current password");
    await here.getByLabel("Current password").fill(person.password);
    await here.getByLabel("New password").fill(CHOSEN);
    await here.getByRole("button", { name: "Change password" }).click();
    await expect(here.getByRole("status").filter({ hasText: "Password changed." })).toBeVisible();
    await expect(places.getByRole("row")).toHaveCount(2);
    await there.goto(at("/jobs"));
    await expect(there).toHaveURL(/\/login/);
  });
}

test("account page opens from any page and works by keyboard", async ({ page, person }) => {
  await open(page, at("/jobs"));
  await page.getByRole("link", { name: "Settings" }).press("Enter");
  await expect(page).toHaveURL(ACCOUNT);
  await expect(page.getByText(`You are ${person.username}`)).toBeVisible();
  const people = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "People" });
  await people.press("Enter");
  await expect(page).toHaveURL(USERS);
  await expect(page).toHaveTitle(/^People/);
  await row(page, person.username).getByRole("link", { name: `Manage ${person.username}` }).press("Enter");
  await expect(page).toHaveTitle(new RegExp(`^${person.username}`));
  await page.getByLabel("Role").focus();
  await page.keyboard.press("Tab");
  await expect(page.getByLabel("All projects")).toBeFocused();
});

test("invite link is copied with a button", async ({ visit, demo, person }) => {
  const page = await visit(demo, { storageState: person.session, permissions: ["clipboard-read", "clipboard-write"] });
  await open(page, USERS);
  await page.getByLabel("Username").fill(`guest-of-${person.username}`);
  await page.getByRole("button", { name: "Create invite link" }).click();
  await interactive(page);
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.getByRole("status").getByText("Copied to the clipboard")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await link(page).textContent());
});

for (const javaScriptEnabled of [true, false]) {
  test(`odd username is refused at the field ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo, person }) => {
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    await page.goto(USERS);
    if (javaScriptEnabled) await interactive(page);
    const name = page.getByLabel("Username");
    await expect(name).toHaveAccessibleDescription(/^Letters, digits and \. _ - @ \+, without spaces\./);
    await name.fill("Jane Doe!");
    await page.getByRole("button", { name: "Create invite link" }).click();
    expect(await name.evaluate((field: HTMLInputElement) => field.validity.patternMismatch)).toBe(true);
    await expect(name).toBeFocused();
    await expect(link(page)).toHaveCount(0);
    await name.evaluate((field: HTMLInputElement) => field.removeAttribute("pattern"));
    await page.getByRole("button", { name: "Create invite link" }).click();
    await expect(page.getByRole("alert")).toContainText("For example, jane.doe.");
    await expect(name).toHaveValue("Jane Doe!");
    for (const fine of ["jane.doe", "Dörte", "山田", "a_b-c+d@e"]) {
      await name.fill(fine);
      expect(await name.evaluate((field: HTMLInputElement) => field.checkValidity()), fine).toBe(true);
    }
  });
}

test("refused invitation keeps the typed text", async ({ page, person }) => {
  await open(page, USERS);
  await page.getByLabel("Username").fill(person.username);
  await page.getByLabel("Role").last().selectOption("operator");
  await page.getByRole("button", { name: "Create invite link" }).click();
  await expect(page.getByRole("alert")).toContainText(`The username ${person.username} is taken.`);
  await expect(page.getByLabel("Username")).toHaveValue(person.username);
  await expect(page.getByLabel("Role").last()).toHaveValue("operator");
});

test("viewer has an account page and no list of people", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 403/);
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const page = await visit(await serve({ people: [viewer] }), { as: viewer });
  await open(page, ACCOUNT);
  await expect(page.getByRole("button", { name: "Change password" })).toBeVisible();
  await expect(page.getByRole("link", { name: "People" })).toHaveCount(0);
  await open(page, USERS);
  await expect(page.getByRole("heading", { name: "Not allowed" })).toBeVisible();
});

test.describe("at sign-in", () => {
  test.use({ storageState: ANONYMOUS });

  test("too many attempts must wait; other people elsewhere can sign in", async ({ serve, visit }) => {
    const olga = { username: "olga", password: "writes-the-docs-1", role: "operator" } as const;
    const docket = await serve({ people: [olga], environment: { DOCKET_TRUSTED_PROXIES: "127.0.0.1" } });
    const page = await visit(docket);
    await open(page, "/login");
    const attempt = async (page: Page, person: Person) => {
      const answered = page.waitForResponse(/session\/login/);
      await fillInSignIn(page, person);
      await answered;
    };
    for (let tries = 0; tries < 11; tries += 1) await attempt(page, { username: docket.administrator.username, password: "guessed" });
    await expect(page.getByRole("alert")).toHaveText(/Too many tries. Wait \d+ seconds, then try again./);
    await attempt(page, docket.administrator);
    await expect(page.getByRole("alert"), "not even with the right password").toHaveText(/Too many tries/);
    await expect(page).toHaveURL("/login");
    // The limit is per address, too.
    const elsewhere = await visit(docket, { extraHTTPHeaders: { "x-forwarded-for": "192.0.2.7" } });
    await open(elsewhere, "/login");
    await attempt(elsewhere, olga);
    await expect(elsewhere).toHaveURL(at(""));
    await expect(elsewhere.getByText("olga", { exact: true })).toBeVisible();
  });
});
