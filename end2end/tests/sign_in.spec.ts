/** Signing in and out. */
import { STRANGER, at, expect, fillInSignIn, interactive, open, test } from "../fixtures/docket.ts";

test.use({ storageState: STRANGER });

test("a wrong password is answered with a sentence, and the name is still there", async ({ page, demo }) => {
  await open(page, "/login");
  await expect(page.getByLabel("Username")).toBeFocused();
  await fillInSignIn(page, { ...demo.administrator, password: "not the password" });
  await expect(page.getByRole("alert")).toHaveText("Incorrect username or password.");
  await expect(page.getByLabel("Username")).toHaveValue(demo.administrator.username);
  await page.getByLabel("Password").fill(demo.administrator.password);
  await page.getByLabel("Password").press("Enter");
  await expect(page).toHaveURL(at(""));
});

test("one lands where one wanted to go", async ({ page, demo }) => {
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

test("who is signed in has no use for the sign-in page", async ({ visit, demo }) => {
  const page = await visit(demo, { storageState: demo.session });
  await page.goto("/login");
  await expect(page).toHaveURL(at(""));
});

test("signing out ends the session on the server, and the back button shows nothing", async ({ visit, demo }) => {
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

test("the session's cookie is not for scripts, nor for other sites", async ({ demo }) => {
  const cookie = demo.session.cookies.find(({ name }) => name === "docket");
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax" });
});

test("without an account the log has a link, with which the first administrator is made, once", async ({ serve, visit }) => {
  const docket = await serve({ withoutAccounts: true });
  const [, link = ""] = (await docket.processes[0]?.says(/(http\S+\/setup\?token=[^"\\\s]+)/)) ?? [];
  const page = await visit(docket);
  await open(page, link);
  await expect(page.getByRole("heading", { name: "Set up Docket" })).toBeVisible();
  await page.getByLabel("Username").fill("ada");
  await page.getByLabel("Password").fill("a long sentence");
  await page.getByRole("button", { name: "Create and sign in" }).click();
  await expect(page).toHaveURL(at(""));
  await expect(page.getByText("ada", { exact: true })).toBeVisible();
  await expect(page.getByText("admin", { exact: true })).toBeVisible();

  const other = await visit(docket);
  await open(other, link);
  await other.getByLabel("Password").fill("another long sentence");
  await other.getByRole("button", { name: "Create and sign in" }).click();
  await expect(other.getByRole("alert")).toContainText("This set-up link is no longer valid.");
});
