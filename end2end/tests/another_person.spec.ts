/** A second person signs in in another tab of the same browser: the first tab does nothing as them. */
import { randomUUID } from "node:crypto";
import type { BrowserContext, Page } from "@playwright/test";
import { post } from "../fixtures/api.ts";
import { type Server, at, expect, interactive, open, test } from "../fixtures/docket.ts";

const OLGA = { username: "olga", password: "writes-the-docs-1", role: "operator" } as const;
const OTTO = { username: "otto", password: "writes-the-docs-2", role: "operator" } as const;

/** Olga's browser, at the form for a new job. */
async function opened(visit: (docket: Server, options: object) => Promise<Page>, docket: Server, options = {}): Promise<Page> {
  const page = await visit(docket, { as: OLGA, ...options });
  await page.goto(at("/jobs/new"));
  if (!("javaScriptEnabled" in options)) await interactive(page);
  return page;
}

/** Otto signs in in another tab: the tabs share cookies. */
async function signInAsOtto(context: BrowserContext, docket: Server): Promise<void> {
  await context.request.post(`${docket.url}/api/session/logout`, { headers: { origin: docket.url, accept: "application/json" }, form: {} });
  await post(context.request, docket.url, "session/login", { username: OTTO.username, password: OTTO.password });
}

const drafts = (page: Page) => page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.includes("draft")));

test("tab of the first person starts no job as the second, and keeps the text", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 409/);
  const docket = await serve({ people: [OLGA, OTTO] });
  const page = await opened(visit, docket);
  const text = `Written by Olga ${randomUUID()}`;
  await page.getByLabel("Prompt").fill(text);
  await expect(page.getByText("Draft saved", { exact: true })).toBeVisible();
  await signInAsOtto(page.context(), docket);

  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.getByRole("alert")).toContainText("You are now signed in as otto");
  await expect(page.getByLabel("Prompt")).toHaveValue(text);
  await page.getByLabel("Prompt").fill(`${text}, and more`);
  // Neither the draft nor the job is Otto's.
  await expect.poll(() => drafts(page)).toContainEqual([expect.stringContaining("/"), expect.stringContaining(`${text}, and more`)]);

  await open(page, at("/jobs"));
  await expect(page.getByText("otto", { exact: true })).toBeVisible();
  await expect(page.getByRole("main")).not.toContainText(text);
  await open(page, at("/jobs/new"));
  await expect(page.getByLabel("Prompt")).toHaveValue("");
});

test("open page says that another person has signed in", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 409/);
  const docket = await serve({ people: [OLGA, OTTO] });
  const page = await opened(visit, docket);
  await open(page, at("/jobs"));
  await signInAsOtto(page.context(), docket);
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  const notice = page.getByRole("status").filter({ hasText: "You are now signed in as otto" });
  await expect(notice).toBeVisible();
  await notice.getByRole("link", { name: "Reload" }).click();
  await interactive(page);
  await expect(page.getByText("otto", { exact: true })).toBeVisible();
  await expect(notice).toHaveCount(0);
});

test("plain form of the first person is refused, too", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 409/);
  const docket = await serve({ people: [OLGA, OTTO] });
  const page = await opened(visit, docket, { javaScriptEnabled: false });
  await page.getByLabel("Prompt").fill("Written by Olga");
  await signInAsOtto(page.context(), docket);
  await page.getByRole("button", { name: "Start job" }).click();
  await expect(page.locator("body")).toHaveText(/You are now signed in as otto in this browser/);
  await page.goto(at("/jobs"));
  await expect(page.getByText("otto", { exact: true })).toBeVisible();
  await expect(page.getByText("Written by Olga")).toHaveCount(0);
});
