/** The second factor: set up on the account page, requested after the password, and removed. */
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { expectNoViolations } from "../fixtures/accessibility.ts";
import { codeOf } from "../fixtures/authenticator.ts";
import { at, expect, fillInSignIn, interactive, test } from "../fixtures/docket.ts";

const section = (page: Page) => page.getByRole("region", { name: "Second factor" });

/** The secrets of people with a second factor, by username. */
const secrets = new Map<string, string>();

/** Enters a code. */
async function enter(page: Page, code: string): Promise<void> {
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

for (const javaScriptEnabled of [true, false]) {
  test(`set up, required and removed ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo, person }) => {
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
    const codes = section(page).getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await expect(codes).toHaveCount(10);
    const recovery = await codes.allTextContents();
    for (const code of recovery) expect(code).toMatch(/^[a-z2-7]{5}(-[a-z2-7]{5}){4}$/);
    const download = page.waitForEvent("download");
    await section(page).getByRole("link", { name: "Download" }).click();
    const file = await (await download).path();
    expect((await readFile(file, "utf8")).trim().split("\n").slice(-10)).toEqual(recovery);
    expect((await download).suggestedFilename()).toBe("docket-recovery-codes.txt");
    await expect(section(page).getByRole("button", { name: /Copy|Print/ })).toHaveCount(javaScriptEnabled ? 2 : 0);
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
    expect(new URL(again.url()).search, "nothing of it is in the address").toBe("");
    await enter(again, codeOf(secret, 1));
    await expect(again).toHaveURL(at(""));

    await again.context().clearCookies();
    await elsewhere();
    await enter(again, recovery[4] as string);
    await expect(again).toHaveURL(at(""));

    await page.goto("/account");
    await ready();
    await section(page).getByText("Switch off").first().click();
    const removal = section(page).locator("form", { has: page.getByRole("button", { name: "Switch off" }) });
    await removal.getByLabel("Password").fill(person.password);
    await removal.getByLabel("Code, or a recovery code").fill(recovery[5] as string);
    await removal.getByRole("button", { name: "Switch off" }).click();
    await expect(section(page).getByRole("status")).toContainText("your password is enough");
    await again.context().clearCookies();
    await again.goto("/login");
    if (javaScriptEnabled) await interactive(again);
    await fillInSignIn(again, person);
    await expect(again).toHaveURL(at(""));
  });
}

test("recovery codes are copied and printed without broken lines", async ({ visit, demo, person }) => {
  for (const width of [1280, 390]) {
    const page = await visit(demo, { storageState: person.session, viewport: { width, height: 844 }, permissions: ["clipboard-read", "clipboard-write"] });
    await page.addInitScript(() => (window.print = () => document.documentElement.setAttribute("data-printed", "")));
    await page.goto("/account");
    await interactive(page);
    if (width === 1280) {
      await section(page).getByLabel("Password").fill(person.password);
      await section(page).getByRole("button", { name: "Set up" }).click();
      const secret = (await section(page).locator("code.secret").first().textContent()) ?? "";
      const url = await section(page).locator("code.secret").last().textContent();
      expect(new URL(url ?? "").searchParams.get("issuer"), "the product and the host").toBe(`Docket (${new URL(demo.url).hostname})`);
      await interactive(page);
      await section(page).getByRole("textbox", { name: "Code" }).fill(codeOf(secret, -1));
      await section(page).getByRole("button", { name: "Switch on" }).click();
      secrets.set(person.username, secret);
    } else {
      await section(page).getByText("New recovery codes").click();
      const renewal = section(page).locator("form", { has: page.getByRole("button", { name: "Create ten new codes" }) });
      await renewal.getByLabel("Password").fill(person.password);
      await renewal.getByLabel("Code, or a recovery code").fill(codeOf(secrets.get(person.username) ?? "", 1));
      await section(page).getByRole("button", { name: "Create ten new codes" }).click();
    }
    const codes = section(page).getByRole("list", { name: "Recovery codes" }).locator("code");
    await expect(codes).toHaveCount(10);
    const heights = await codes.evaluateAll((all) => all.map((code) => code.getClientRects().length));
    expect(heights, "one line each").toEqual(Array(10).fill(1));
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await interactive(page);
    await expectNoViolations(page);

    await section(page).getByRole("button", { name: "Copy" }).click();
    await expect(page.getByRole("status").getByText("Copied to the clipboard")).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe((await codes.allTextContents()).join("\n"));
    await section(page).getByRole("button", { name: "Print" }).click();
    await expect(page.locator("html")).toHaveAttribute("data-printed", "");
    await page.emulateMedia({ media: "print" });
    await expect(codes.first()).toBeVisible();
    await expect(page.getByRole("heading", { name: "Active sessions" })).toBeHidden();
  }
});

test("too many wrong codes lead back to the password", async ({ visit, demo, person }) => {
  const page = await visit(demo, { storageState: person.session });
  await page.goto("/account");
  await interactive(page);
  await section(page).getByLabel("Password").fill(person.password);
  await section(page).getByRole("button", { name: "Set up" }).click();
  const secret = (await section(page).locator("code.secret").first().textContent()) ?? "";
  await section(page).getByRole("textbox", { name: "Code" }).fill(codeOf(secret));
  await section(page).getByRole("button", { name: "Switch on" }).click();
  await expect(section(page).getByRole("list", { name: "Recovery codes" })).toBeVisible();

  const again = await visit(demo);
  await again.goto("/login");
  await interactive(again);
  await fillInSignIn(again, person);
  for (let tries = 0; tries < 4; tries += 1) {
    const answered = again.waitForResponse("**/login/code");
    await enter(again, "000000");
    await answered;
    await expect(again.getByRole("alert")).toContainText("Incorrect code");
  }
  await enter(again, "000000");
  await expect(again).toHaveURL("/login");
  await expect(again.getByRole("alert")).toContainText("too many codes were wrong");
});

test("error is shown beside the form", async ({ page, person }) => {
  await page.goto("/account");
  await interactive(page);
  await section(page).getByLabel("Password").fill(`${person.password}x`);
  await section(page).getByRole("button", { name: "Set up" }).click();
  await expect(section(page).getByRole("alert")).toContainText("Incorrect current password");
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`page for the code is accessible, narrow and ${colorScheme}`, async ({ visit, demo, person }) => {
    const page = await visit(demo, { storageState: person.session, colorScheme, viewport: { width: 390, height: 800 } });
    await page.goto("/account");
    await interactive(page);
    await section(page).getByLabel("Password").fill(person.password);
    await section(page).getByRole("button", { name: "Set up" }).click();
    const secret = (await section(page).locator("code.secret").first().textContent()) ?? "";
    const narrow = async () =>
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await narrow();
    await expectNoViolations(page);
    await section(page).getByRole("textbox", { name: "Code" }).fill(codeOf(secret));
    await section(page).getByRole("button", { name: "Switch on" }).click();
    await expect(section(page).getByRole("status")).toBeVisible();
    await page.context().clearCookies();
    await page.goto("/login");
    await interactive(page);
    await fillInSignIn(page, person);
    await expect(page).toHaveURL("/login/code");
    await narrow();
    await expectNoViolations(page);
  });
}

for (const javaScriptEnabled of [true, false]) {
  test(`required second factor is set up first, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ serve, visit }) => {
    const ivan = { username: "ivan", password: "a few unrelated words" };
    const docket = await serve({ environment: { DOCKET_REQUIRE_SECOND_FACTOR: "true" }, withoutAccounts: true, people: [{ ...ivan, role: "viewer" }] });
    const page = await visit(docket, { javaScriptEnabled });
    const ready = async () => {
      if (javaScriptEnabled) await interactive(page);
    };
    await page.goto("/login");
    await ready();
    await fillInSignIn(page, ivan);
    await expect(page).toHaveURL("/account/second-factor");
    await ready();
    await expect(page.getByRole("heading", { level: 1, name: "Set up a second factor" })).toBeVisible();
    if (javaScriptEnabled) await expectNoViolations(page);
    await page.goto(at("/jobs"));
    await expect(page).toHaveURL("/account/second-factor");
    await ready();
    await section(page).getByLabel("Password").fill(ivan.password);
    await section(page).getByRole("button", { name: "Set up" }).click();
    const secret = (await section(page).locator("code.secret").first().textContent()) ?? "";
    await ready();
    await section(page).getByRole("textbox", { name: "Code" }).fill(codeOf(secret));
    await section(page).getByRole("button", { name: "Switch on" }).click();
    await expect(page).toHaveURL("/account");
    await expect(section(page).getByRole("list", { name: "Recovery codes" }).getByRole("listitem")).toHaveCount(10);
    await page.goto(at("/jobs"));
    await expect(page).toHaveURL(at("/jobs"));
  });
}
