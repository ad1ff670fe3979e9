/** `/docs/api`, the reference of the JSON API. */
import { PROJECT, expect, open, test } from "../fixtures/docket.ts";

for (const javaScriptEnabled of [true, false]) {
  test(`reference describes each endpoint, with JavaScript ${javaScriptEnabled ? "on" : "off"}`, async ({ demo, person, visit }) => {
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    await page.goto("/account/tokens");
    await page.getByRole("main").getByRole("link", { name: "JSON API" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("JSON API");
    const description = await (await page.request.get("/api/v1/openapi.json")).json();
    expect(Object.keys(description.paths)).toContain("/api/v1/projects/{project}/jobs");
    for (const [path, item] of Object.entries<Record<string, unknown>>(description.paths)) {
      for (const method of Object.keys(item)) {
        await expect(page.getByRole("heading", { name: `${method.toUpperCase()} ${path}`, exact: true })).toBeVisible();
      }
    }
    // The server and a project of the reader.
    await expect(page.getByText(`${demo.url}/api/v1/projects/${PROJECT}/jobs`).first()).toBeVisible();
    const contents = page.getByRole("navigation", { name: "Contents" });
    await contents.getByRole("link", { name: "Batches", exact: true }).click();
    await expect(page).toHaveURL(/#batches$/);
    await expect(page.getByRole("heading", { name: "Batches", exact: true })).toBeInViewport();
    await expect(contents).toBeInViewport();
    await expect(page.getByRole("button", { name: "Copy request" }).first()).toBeVisible({ visible: javaScriptEnabled });
  });
}

test("request of the reference is copied", async ({ page, context, demo }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, "/docs/api");
  await page.getByRole("button", { name: "Copy request" }).first().click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`curl "${demo.url}/api/v1/projects/${PROJECT}/`);
});
