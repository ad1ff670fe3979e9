/** API tokens: created on the account page and shown once, used by a script, revoked by administrators, with and without JavaScript. */
import type { Page } from "@playwright/test";
import { expectAccessible } from "../fixtures/accessibility.ts";
import { expect, interactive, test } from "../fixtures/docket.ts";

const OWN = "/account/tokens";
const ALL = "/admin/tokens";

const row = (page: Page, name: string) => page.getByRole("table").getByRole("row", { name });
const secret = (page: Page) => page.locator("code.secret");

/** The response of the API to a script with this token. */
async function call(url: string, token: string): Promise<Response> {
  return fetch(`${url}/api/v1/projects`, { headers: { authorization: `Bearer ${token}` } });
}

for (const javaScriptEnabled of [true, false]) {
  test(`token is created, used and revoked ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ serve, visit }) => {
    const docket = await serve();
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    const ready = async () => {
      if (javaScriptEnabled) await interactive(page);
    };
    await page.goto("/account");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "API tokens", exact: true }).click();
    await expect(page).toHaveURL(OWN);
    await expect(page.getByText("No API tokens yet")).toBeVisible();
    await ready();

    // Browsers accept the form without a scope, the server does not.
    await page.getByLabel("Name").fill("Nightly check");
    await page.getByLabel("Expires after, in days").fill("30");
    await page.getByLabel("Your password").fill(docket.administrator.password);
    await page.getByRole("button", { name: "Create token" }).click();
    await expect(page.getByRole("alert")).toContainText("at least one scope");
    await expect(page.getByLabel("Name")).toHaveValue("Nightly check");
    await expect(page.getByLabel("Expires after, in days")).toHaveValue("30");
    await ready();
    if (javaScriptEnabled) await expectAccessible(page);

    await page.getByLabel("jobs:read").check();
    await page.getByLabel("jobs:write").check();
    await page.getByLabel("Your password").fill(docket.administrator.password);
    await page.getByRole("button", { name: "Create token" }).click();
    await expect(secret(page)).toHaveText(/^dkt_[0-9A-Za-z]{38}$/);
    const token = (await secret(page).textContent()) ?? "";
    await expect(row(page, "Nightly check")).toContainText("Never");
    const response = await call(docket.url, token);
    expect(response.status).toBe(200);
    expect(((await response.json()) as { projects: { scopes: string[] }[] }).projects[0]?.scopes).toEqual(["jobs:read", "jobs:write"]);

    await page.goto(OWN);
    await ready();
    await expect(secret(page), "it is shown once").toHaveCount(0);
    await expect(row(page, "Nightly check")).toContainText(`…${token.slice(-4)}`);
    await expect(row(page, "Nightly check")).not.toContainText("Never");
    expect(await page.content()).not.toContain(token.slice(4, 20));

    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "All API tokens" }).click();
    await expect(page).toHaveURL(ALL);
    await ready();
    await expect(row(page, "Nightly check")).toContainText(docket.administrator.username);
    await row(page, "Nightly check").locator("summary", { hasText: "Revoke" }).click();
    if (javaScriptEnabled) await expectAccessible(page);
    await row(page, "Nightly check").getByRole("button", { name: "Revoke token" }).click();
    await expect(page.getByRole("status").filter({ hasText: "Token revoked" })).toBeVisible();
    await expect(row(page, "Nightly check")).toContainText("Revoked");
    const refused = await call(docket.url, token);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
  });
}
