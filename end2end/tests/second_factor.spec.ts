/** The second factor: set up on the account page, requested after the password, and removed. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { codeOf } from "../fixtures/authenticator.ts";
import { at, expect, fillInSignIn, interactive, test } from "../fixtures/docket.ts";

const section = (page: Page) => page.getByRole("region", { name: "Second factor" });

/** Enters a code. */
async function enter(page: Page, code: string): Promise<void> {
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
}

for (const javaScriptEnabled of [true, false]) {
  test(`switched on, asked for and switched off ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo, person }) => {
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    const ready = async () => {
      if (javaScriptEnabled) await interactive(page);
    };
    await page.goto("/account");
    await ready();
    await section(page).getByLabel("Password").fill(person.password);
    await section(page).getByRole("button", { name: "Set up" }).click();
    await expect(section(page).getByRole("img", { name: "QR code of the secret" })).toBeVisible();
    const secret = (await section(page).locator("code.secret").first().textContent()) ?? "";
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    await ready();
    await section(page).getByRole("textbox", { name: "Code" }).fill(codeOf(secret));
    await section(page).getByRole("button", { name: "Switch on" }).click();
    const recovery = (await section(page).getByRole("status").locator("code.secret").textContent())?.split(" ") ?? [];
    expect(recovery).toHaveLength(10);
    await page.reload();
    await expect(section(page), "they are shown once").not.toContainText(recovery[0] as string);
    await expect(section(page)).toContainText("10 recovery codes are left");

    const again = await visit(demo, { javaScriptEnabled });
    const elsewhere = async () => {
      await again.goto("/login");
      if (javaScriptEnabled) await interactive(again);
      await fillInSignIn(again, person);
      await expect(again).toHaveURL("/login/code");
    };
    await elsewhere();
    await expect(again.getByLabel("Code")).toBeFocused();
    await enter(again, "000000");
    await expect(again.getByRole("alert")).toContainText("Incorrect code");
    await enter(again, codeOf(secret, 1));
    await expect(again).toHaveURL(at(""));

    await again.context().clearCookies();
    await elsewhere();
    await enter(again, recovery[4] as string);
    await expect(again).toHaveURL(at(""));

    await page.goto("/account");
    await ready();
    await section(page).getByText("Switch off").first().click();
    await section(page).getByLabel("Password").fill(person.password);
    await section(page).getByLabel("Code, or a recovery code").fill(recovery[5] as string);
    await section(page).getByRole("button", { name: "Switch off" }).click();
    await expect(section(page).getByRole("status")).toContainText("your password is enough");
    await again.context().clearCookies();
    await again.goto("/login");
    if (javaScriptEnabled) await interactive(again);
    await fillInSignIn(again, person);
    await expect(again).toHaveURL(at(""));
  });
}

test("what was typed wrongly is said beside the form", async ({ page, person }) => {
  await page.goto("/account");
  await interactive(page);
  await section(page).getByLabel("Password").fill(`${person.password}x`);
  await section(page).getByRole("button", { name: "Set up" }).click();
  await expect(section(page).getByRole("alert")).toContainText("Incorrect password");
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`everybody can use the page for the code, narrow and ${colorScheme}`, async ({ visit, demo, person }) => {
    const page = await visit(demo, { storageState: person.session, colorScheme, viewport: { width: 390, height: 800 } });
    await page.goto("/account");
    await interactive(page);
    await section(page).getByLabel("Password").fill(person.password);
    await section(page).getByRole("button", { name: "Set up" }).click();
    const secret = (await section(page).locator("code.secret").first().textContent()) ?? "";
    const narrow = async () =>
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await narrow();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await section(page).getByRole("textbox", { name: "Code" }).fill(codeOf(secret));
    await section(page).getByRole("button", { name: "Switch on" }).click();
    await expect(section(page).getByRole("status")).toBeVisible();
    await page.context().clearCookies();
    await page.goto("/login");
    await interactive(page);
    await fillInSignIn(page, person);
    await expect(page).toHaveURL("/login/code");
    await narrow();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  });
}
