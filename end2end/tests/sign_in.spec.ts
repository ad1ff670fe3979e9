/** Signing in and out. */
import { ANONYMOUS, at, expect, fillInSignIn, interactive, open, test } from "../fixtures/docket.ts";

test.use({ storageState: ANONYMOUS });

test("wrong password has a message and keeps the username", async ({ page, demo }) => {
  await open(page, "/login");
  await expect(page.getByLabel("Username")).toBeFocused();
  await fillInSignIn(page, { ...demo.administrator, password: "not the password" });
  await expect(page.getByRole("alert")).toHaveText("Incorrect username or password.");
  await expect(page.getByLabel("Username")).toHaveValue(demo.administrator.username);
  await expect(page.getByLabel("Password")).toBeFocused();
  await page.getByLabel("Password").fill(demo.administrator.password);
  await page.getByLabel("Password").press("Enter");
  await expect(page).toHaveURL(at(""));
});

for (const javaScriptEnabled of [true, false]) {
  test(`wrong password focuses its field and shows help, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo }) => {
    const page = await visit(demo, { javaScriptEnabled });
    await page.goto("/login");
    if (javaScriptEnabled) await interactive(page);
    await expect(page.getByLabel("Username")).toBeFocused();
    const help = page.getByText("Ask an administrator for a link to set a new one");
    await expect(help).toBeHidden();
    await page.getByText("Forgot your password?").click();
    await expect(help).toBeVisible();
    await fillInSignIn(page, { ...demo.administrator, password: "not the password" });
    await expect(page.getByRole("alert")).toHaveText("Incorrect username or password.");
    await expect(page.getByLabel("Password")).toBeFocused();
  });
}

test("sign-in leads to the requested page", async ({ page, demo }) => {
  const wanted = `${at("/analytics")}?page=2&limit=25`;
  await page.goto(wanted);
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(wanted)}`);
  await interactive(page);
  await fillInSignIn(page, demo.administrator);
  await expect(page).toHaveURL(wanted);
  await expect(page.getByText("Rows 26 to 50")).toBeVisible();
});

for (const next of ["https://example.com/", "//example.com/", "/\\example.com", "javascript:alert(1)", "/api/session/logout"]) {
  test(`signing in does not lead to ${next}`, async ({ page, demo }) => {
    await open(page, `/login?next=${encodeURIComponent(next)}`);
    await fillInSignIn(page, demo.administrator);
    await expect(page).toHaveURL(at(""));
  });
}

test("sign-in page redirects a signed-in person", async ({ visit, demo }) => {
  const page = await visit(demo, { storageState: demo.session });
  await page.goto("/login");
  await expect(page).toHaveURL(at(""));
});

test("signing out ends the session, and Back shows nothing", async ({ visit, demo }) => {
  const page = await visit(demo, { as: demo.administrator });
  await open(page, at("/jobs"));
  const session = await page.context().storageState();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL("/login");
  await page.goBack();
  await expect(page).toHaveURL(/\/login/);
  await expect(page.getByRole("list", { name: "Jobs" })).toHaveCount(0);

  const thief = await visit(demo, { storageState: session });
  await thief.goto(at("/jobs"));
  await expect(thief).toHaveURL(/\/login/);
});

test("session cookie is HttpOnly and SameSite", async ({ demo }) => {
  const cookie = demo.session.cookies.find(({ name }) => name === "docket");
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax" });
});

test("one-time link in the log creates the first administrator", async ({ serve, visit }) => {
  const docket = await serve({ withoutAccounts: true });
  const [, link = ""] = (await docket.processes[0]?.waitForOutput(/(http\S+\/setup#token=[^"\\\s]+)/)) ?? [];
  const page = await visit(docket);
  await page.goto(link);
  await expect(page.getByRole("heading", { name: "Set up Docket" })).toBeVisible();
  await page.getByLabel("Username").fill("ada");
  await page.getByLabel("Password").fill("a long sentence");
  await page.getByRole("button", { name: "Create and sign in" }).click();
  await expect(page).toHaveURL(at(""));
  await expect(page.getByText("ada", { exact: true })).toBeVisible();
  await expect(page.getByText("admin", { exact: true })).toBeVisible();

  const other = await visit(docket);
  await other.goto(link);
  await expect(other.getByRole("heading", { name: "This link is not valid" })).toBeVisible();
  await expect(other.getByRole("alert")).toContainText("It was used already, has expired, or is incomplete.");
  await expect(other.getByLabel("Password")).toHaveCount(0);
});

test("link shows its form and leaves no token in URL", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, "/admin/users");
  await page.getByLabel("Username").fill("ivan");
  await page.getByRole("button", { name: "Create invite link" }).click();
  const url = (await page.locator("code.secret").textContent()) ?? "";
  const token = new URL(url).hash.replace("#token=", "");
  expect(token.length).toBeGreaterThan(32);

  const guest = await visit(docket);
  for (const path of [`/setup#token=${token}`, `/setup?token=${token}`, `/setup?token=${token}&name=mallory`]) {
    await guest.context().clearCookies();
    await guest.goto("/login");
    await guest.goto(path);
    await expect(guest.getByRole("heading", { name: "Welcome to Docket" })).toBeVisible();
    await expect(guest).toHaveURL("/setup");
    await expect(guest.getByLabel("Username")).toHaveValue("ivan");
  }
  // A link that is typed into the same tab changes only the fragment.
  await guest.evaluate(() => location.assign("#token=nothing"));
  await expect(guest.getByRole("heading", { name: "This link is not valid" })).toBeVisible();
  for (const path of ["/setup#token=nothing", "/setup?token=nothing", "/setup?token=nothing&name=ivan"]) {
    await guest.goto("/login");
    await guest.goto(path);
    await expect(guest.getByRole("heading", { name: "This link is not valid" })).toBeVisible();
    await expect(guest.getByText("first administrator")).toHaveCount(0);
    await expect(guest.getByLabel("Password")).toHaveCount(0);
  }

  const pasting = await visit(docket, { javaScriptEnabled: false });
  await pasting.goto(url);
  await pasting.getByLabel("Link").fill(url);
  await pasting.getByRole("button", { name: "Continue" }).click();
  await expect(pasting.getByRole("heading", { name: "Welcome to Docket" })).toBeVisible();
  await pasting.getByLabel("Password").fill("a few unrelated words");
  await pasting.getByRole("button", { name: "Save and sign in" }).click();
  await expect(pasting.getByText("ivan", { exact: true })).toBeVisible();
});

test("ended session is explained once, and only to its browser", async ({ visit, demo, person }) => {
  const page = await visit(demo, { storageState: person.session });
  await open(page, "/account");
  const elsewhere = await visit(demo, { as: person });
  await open(elsewhere, "/account");
  await elsewhere.getByRole("button", { name: "Sign out everywhere else" }).click();
  await expect(elsewhere.getByText("This session")).toHaveCount(1);
  await expect(elsewhere.getByRole("button", { name: "Sign out everywhere else" })).toHaveCount(0);

  await page.goto(at("/jobs"));
  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(at("/jobs"))}`);
  await expect(page.getByRole("status")).toContainText("Your session has ended");
  await interactive(page);
  await fillInSignIn(page, person);
  await expect(page).toHaveURL(at("/jobs"));
  await interactive(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL("/login");
  await expect(page.getByText("Your session has ended")).toHaveCount(0);

  const anonymous = await visit(demo);
  await anonymous.goto(at("/jobs"));
  await expect(anonymous).toHaveURL(/\/login/);
  await expect(anonymous.getByText("Your session has ended")).toHaveCount(0);
});
