/** Passkeys: added on the account page, and used alone or after the password, with a device that Chromium simulates. */
import type { Page } from "@playwright/test";
import { expectNoViolations } from "../fixtures/accessibility.ts";
import { at, expect, fillInSignIn, interactive, open, test } from "../fixtures/docket.ts";
import { Device, named } from "../fixtures/passkeys.ts";

const section = (page: Page) => page.getByRole("region", { name: "Passkeys" });

/** Adds a passkey on the account page. */
async function add(page: Page, password: string, name?: string): Promise<void> {
  await open(page, "/account");
  if (name) await section(page).getByLabel("Name", { exact: true }).fill(name);
  await section(page).getByLabel("Password", { exact: true }).last().fill(password);
  await section(page).getByRole("button", { name: "Add a passkey" }).click();
  await expect(section(page).getByRole("status")).toContainText("The passkey was added");
}

test("passkey is added, signs in, replaces the code, is removed", async ({ serve, visit }) => {
  const docket = await serve({ environment: await named() });
  const { administrator } = docket;
  const page = await visit(docket, { storageState: docket.session });
  const device = await Device.in(page);
  await add(page, administrator.password);
  await expect(section(page).getByRole("row", { name: /Chrome on Linux/ })).toBeVisible();
  expect(await device.passkeys(), "found without a username").toEqual([true]);
  const codes = section(page).getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await expect(codes).toHaveCount(10);
  const recovery = await codes.allTextContents();
  await expectNoViolations(page);

  const again = await visit(docket);
  await device.takenTo(again);
  await open(again, at("/jobs?q=x"));
  await expectNoViolations(again);
  await again.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(again).toHaveURL(at("/jobs?q=x"));
  await expect(again.getByRole("button", { name: "Sign out" })).toBeVisible();

  await again.context().clearCookies();
  await again.goto("/login");
  await fillInSignIn(again, administrator);
  await expect(again).toHaveURL("/login/code");
  await expectNoViolations(again);
  await again.getByRole("button", { name: "Use a passkey" }).click();
  await expect(again).toHaveURL(at(""));

  await open(page, "/account");
  const row = section(page).getByRole("row", { name: /Chrome on Linux/ });
  await row.locator("summary", { hasText: "Rename" }).click();
  await row.getByLabel("New name").fill("Work laptop");
  await expectNoViolations(page);
  await row.getByRole("button", { name: "Rename passkey" }).click();
  await expect(section(page).getByRole("status")).toContainText("renamed");

  const renamed = section(page).getByRole("row", { name: /Work laptop/ });
  await renamed.locator("summary", { hasText: "Remove" }).click();
  await renamed.getByLabel("Password").fill(administrator.password);
  await renamed.getByLabel("Recovery code").fill(recovery[3] as string);
  await expectNoViolations(page);
  await renamed.getByRole("button", { name: "Remove passkey" }).click();
  await expect(section(page).getByRole("status")).toContainText("your password is enough");
  await expect(section(page).getByRole("table")).toHaveCount(0);

  await again.context().clearCookies();
  await again.goto("/login");
  await again.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(again.getByRole("alert")).toContainText("does not sign you in");
  await fillInSignIn(again, administrator);
  await expect(again).toHaveURL(at(""));
});

test("another second factor needs a confirmation, with and without JavaScript", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 400.*\/api\/passkeys\/begin/);
  const docket = await serve({ environment: await named() });
  const { administrator } = docket;
  const page = await visit(docket, { storageState: docket.session });
  const device = await Device.in(page);
  await add(page, administrator.password);
  const codes = await section(page).getByRole("list", { name: "Recovery codes" }).getByRole("listitem").allTextContents();

  // The same device cannot have two passkeys. A wrong code keeps what was typed.
  await open(page, "/account");
  const form = section(page).locator("form[data-passkey=create]");
  await expectNoViolations(page);
  await form.getByLabel("Name").fill("Blue key");
  await form.getByLabel("Password").fill(administrator.password);
  await form.getByLabel("Recovery code").fill("aaaaa-aaaaa");
  await form.getByRole("button", { name: "Add a passkey" }).click();
  await expect(form.getByRole("alert")).toContainText("Incorrect code");
  await expect(form.getByLabel("Name")).toHaveValue("Blue key");
  await form.getByLabel("Recovery code").fill("");
  await form.getByRole("button", { name: "Add a passkey" }).click();
  await expect(form.getByRole("alert")).toContainText(/already has a passkey|No passkey was used/);
  expect(await device.passkeys()).toHaveLength(1);

  const plain = await visit(docket, { javaScriptEnabled: false, storageState: docket.session });
  await plain.goto("/account");
  const unscripted = plain.getByRole("region", { name: "Second factor" });
  await expect(unscripted.getByText("Leave it empty to use your passkey instead.")).toBeHidden();
  await unscripted.getByLabel("Password").fill(administrator.password);
  await unscripted.getByRole("button", { name: "Set up" }).click();
  await expect(unscripted.getByRole("alert")).toContainText("Confirm with it first");
  await unscripted.getByLabel("Password").fill(administrator.password);
  await unscripted.getByLabel("Recovery code").fill(codes[0] as string);
  await unscripted.getByRole("button", { name: "Set up" }).click();
  await expect(unscripted.getByRole("img", { name: "QR code of the secret" })).toBeVisible();
});

test("passkey confirms an authenticator", async ({ serve, visit }) => {
  const docket = await serve({ environment: await named() });
  const { administrator } = docket;
  const page = await visit(docket, { storageState: docket.session });
  await Device.in(page);
  await add(page, administrator.password);
  await open(page, "/account");
  const factor = page.getByRole("region", { name: "Second factor" });
  await factor.getByLabel("Password").fill(administrator.password);
  await expect(factor.getByText("Leave it empty to use your passkey instead.")).toBeVisible();
  await factor.getByRole("button", { name: "Set up" }).click();
  await expect(factor.getByRole("img", { name: "QR code of the secret" })).toBeVisible();

  await expect(factor.getByRole("status")).toContainText("Add the secret");
});

test("passkey confirms its own removal", async ({ serve, visit }) => {
  const docket = await serve({ environment: await named() });
  const page = await visit(docket, { storageState: docket.session });
  await Device.in(page);
  await add(page, docket.administrator.password, "Phone");
  await open(page, "/account");
  const row = section(page).getByRole("row", { name: /Phone/ });
  await row.locator("summary", { hasText: "Remove" }).click();
  await row.getByLabel("Password").fill(docket.administrator.password);
  await row.getByRole("button", { name: "Remove passkey" }).click();
  await expect(section(page).getByRole("status")).toContainText("your password is enough");
});

test("failed user verification changes nothing and shows the next step", async ({ serve, visit }) => {
  const docket = await serve({ environment: await named() });
  const page = await visit(docket, { storageState: docket.session });
  const device = await Device.in(page);
  await add(page, docket.administrator.password, "Phone");
  await device.refuse();
  await open(page, "/account");
  const form = section(page).locator("form[data-passkey=create]");
  await form.getByLabel("Password").fill(docket.administrator.password);
  await form.getByRole("button", { name: "Add a passkey" }).click();
  await expect(form.getByRole("alert")).toContainText(/already has a passkey|No passkey was used/);
  await expect(section(page).getByRole("row", { name: /Phone/ })).toHaveCount(1);

  const again = await visit(docket);
  const elsewhere = await device.takenTo(again);
  await elsewhere.refuse();
  await again.goto("/login");
  await again.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(again.getByRole("alert")).toContainText("No passkey was used");
  await expectNoViolations(again);
  await expect(again).toHaveURL("/login");
});

test("wrong password for a new passkey is shown in form", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 400.*\/api\/passkeys\/begin/);
  const docket = await serve({ environment: await named() });
  const page = await visit(docket, { storageState: docket.session });
  const device = await Device.in(page);
  await open(page, "/account");
  const form = section(page).locator("form[data-passkey=create]");
  await form.getByLabel("Name").fill("Blue key");
  await form.getByLabel("Password").fill("wrong");
  await form.getByRole("button", { name: "Add a passkey" }).click();
  await expect(form.getByRole("alert")).toContainText("Incorrect current password");
  await expect(form.getByLabel("Name"), "what was typed stays").toHaveValue("Blue key");
  expect(await device.passkeys()).toEqual([]);
});

test("password and recovery code sign in without JavaScript", async ({ serve, visit }) => {
  const docket = await serve({ environment: await named() });
  const page = await visit(docket, { storageState: docket.session });
  await Device.in(page);
  await add(page, docket.administrator.password);
  const codes = await section(page).getByRole("list", { name: "Recovery codes" }).getByRole("listitem").allTextContents();

  const plain = await visit(docket, { javaScriptEnabled: false });
  await plain.goto("/login");
  await expect(plain.getByRole("button")).toHaveCount(1);
  await fillInSignIn(plain, docket.administrator);
  await expect(plain).toHaveURL("/login/code");
  await expect(plain.getByRole("button")).toHaveCount(1);
  await expect(plain.getByText("Your passkeys need JavaScript")).toBeVisible();
  await plain.getByLabel("Code").fill(codes[0] as string);
  await plain.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(plain).toHaveURL(at(""));
  await plain.goto("/account");
  await expect(section(plain).getByText("Adding a passkey needs JavaScript")).toBeVisible();
  await expect(section(plain).getByRole("button", { name: "Add a passkey" })).toHaveCount(0);
  await section(plain).locator("summary", { hasText: "Remove" }).click();
  await section(plain).getByRole("table").getByLabel("Password").fill(docket.administrator.password);
  await section(plain).getByRole("table").getByLabel("Recovery code").fill(codes[1] as string);
  await section(plain).getByRole("button", { name: "Remove passkey" }).click();
  await expect(section(plain).getByRole("status")).toContainText("your password is enough");
});

test("host without passkeys shows the reason instead of the form", async ({ page, visit, demo }) => {
  await open(page, "/account");
  await expect(section(page)).toContainText("Passkeys need an https address with a host name");
  await expect(section(page).getByRole("button")).toHaveCount(0);
  const anonymous = await visit(demo);
  await anonymous.goto("/login");
  await interactive(anonymous);
  await expect(anonymous.getByText("passkey")).toHaveCount(0);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`pages with passkeys are accessible, narrow and ${colorScheme}`, async ({ serve, visit }) => {
    const docket = await serve({ environment: await named() });
    const narrow = { colorScheme, viewport: { width: 390, height: 800 } };
    const page = await visit(docket, { storageState: docket.session, ...narrow });
    await Device.in(page);
    await add(page, docket.administrator.password, "A phone with quite a long name of somebody who is rather exact");
    const fits = async (of: Page) => expect(await of.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await fits(page);
    await expectNoViolations(page);
    const again = await visit(docket, narrow);
    await again.goto("/login");
    await fits(again);
    await expectNoViolations(again);
    await fillInSignIn(again, docket.administrator);
    await expect(again).toHaveURL("/login/code");
    await expect(again.getByRole("button", { name: "Use a passkey" })).toBeVisible();
    await fits(again);
    await expectNoViolations(again);
  });
}
