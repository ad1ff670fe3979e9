/** Single sign-on with a real OpenID Connect provider. */
import { expectAccessible } from "../fixtures/accessibility.ts";
import { at, expect, interactive, test as base } from "../fixtures/docket.ts";
import { IdentityProvider } from "../fixtures/identity_provider.ts";

const test = base.extend<{ provider: IdentityProvider }>({
  provider: async ({}, use) => {
    const provider = await IdentityProvider.start();
    await use(provider);
    await provider.stop();
  },
});

for (const javaScriptEnabled of [true, false]) {
  test(`sign-in at provider leads to the requested page, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ serve, visit, provider }) => {
    const docket = await serve({ environment: provider.environment });
    const page = await visit(docket, { javaScriptEnabled });
    await page.goto(at("/jobs?q=x"));
    if (javaScriptEnabled) await interactive(page);
    await page.getByRole("link", { name: "Sign in with Example Account" }).click();
    await provider.continueAs(page, "mia");
    await expect(page).toHaveURL(at("/jobs?q=x"));
    await expect(page.getByText("mia@example.com", { exact: true })).toBeVisible();
    await expect(page.getByText("operator", { exact: true })).toBeVisible();

    // Signs out and in again, without loading the page in between.
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login$/);
    await page.getByRole("link", { name: "Sign in with Example Account" }).click();
    await expect(page).toHaveURL(at(""));
  });
}

test("refused person sees the reason and a link back", async ({ serve, visit, provider, trouble }) => {
  trouble.expects(/status of 403.*\/login\/sso\/callback/);
  const docket = await serve({ environment: provider.environment });
  const page = await visit(docket);
  await page.goto("/login");
  await interactive(page);
  await page.getByRole("link", { name: "Sign in with Example Account" }).click();
  await provider.continueAs(page, "nora");
  await expect(page.getByRole("alert")).toContainText("None of your groups may use Docket");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Go to the sign-in page" }).click();
  await expect(page.getByLabel("Username")).toBeVisible();
});

test("sign-in page without a provider has no button", async ({ visit, demo }) => {
  const page = await visit(demo);
  await page.goto("/login");
  await interactive(page);
  await expect(page.getByRole("link")).toHaveCount(0);
});
