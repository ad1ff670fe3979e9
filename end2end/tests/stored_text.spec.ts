/**
 * Texts of people and of the platform never become markup in a browser, with and without JavaScript: none becomes an element,
 * runs or is opened as a link. Violations of the policy would be in the console, which every test checks.
 */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { lately, inUrl } from "../fixtures/days.ts";
import { OTHER_PROJECT, PROJECT, at, expect, interactive, test as base } from "../fixtures/docket.ts";
import { HostileUpstream } from "../fixtures/hostile.ts";

/** Short enough for every name. */
const TEXT = `"></textarea></script><img src=x onerror=taken=1>`;
/** A URL that must not become a link. */
const LINKS = ["javascript:taken=2", "data:text/html;taken=3", "//evil.example/taken"];

const person = { username: "hostile", password: "hostile-password-1", role: "admin" as const };

const test = base.extend<{ hostile: HostileUpstream; linking: HostileUpstream[] }>({
  hostile: async ({}, use) => {
    const hostile = await HostileUpstream.start(TEXT);
    await use(hostile);
    await hostile.stop();
  },
  linking: async ({}, use) => {
    const linking = await Promise.all(LINKS.map((link) => HostileUpstream.start(link)));
    await use(linking);
    for (const upstream of linking) await upstream.stop();
  },
});

/** Calls an endpoint with the cookies of `page`. */
async function call<Body>(page: Page, endpoint: string, fields: Record<string, string> = {}): Promise<Body> {
  const origin = new URL(page.url()).origin;
  const response = await page.request.post(`${origin}/api/${endpoint}`, {
    form: { project: PROJECT, ...fields },
    headers: { origin, accept: "application/json" },
  });
  expect(response.status(), await response.text()).toBe(200);
  return (await response.json()) as Body;
}

/** Stores `text` in every field. Returns the pages that show it. */
async function leave(page: Page, text: string, receiver: string): Promise<string[]> {
  const template = await call<string>(page, "templates/save", { name: text, text: `${text} {{page}}` });
  const intent = randomUUID();
  const job = await call<{ id: string }>(page, "jobs/create", { prompt: text, paths: text, template_id: template, intent });
  await call(page, "jobs/message", { job: job.id, prompt: text, intent: randomUUID() });
  await call(page, "jobs/draft", { text, paths: text });
  await call(page, "jobs/draft", { job: job.id, text });
  const batch = await call<{ id: string }>(page, "batches/prepare", { prompt: `${text} {{place}}`, values: `"${text.replaceAll('"', '""')}"`, intent: randomUUID() });
  await call(page, "saved-views/save", { name: text, query: `q=${encodeURIComponent(text)}`, shared: "true" });
  await call(page, "annotations/save", { day: lately().to, text });
  const webhook = await call<{ id: string }>(page, "webhooks/add", { kind: "json", address: `${receiver}/${text}` });
  await call(page, "webhooks/test", { webhook: webhook.id });
  const words = encodeURIComponent(text);
  return [
    at(""),
    at("/jobs"),
    at(`/jobs?q=${words}`),
    at("/jobs/new"),
    at(`/jobs/new?template=${template}`),
    at(`/jobs/new?prompt=${words}&path=${words}`),
    at(`/jobs/${job.id}`),
    at(`/jobs/batch?from=${batch.id}`),
    at(`/batches/${batch.id}`),
    at("/queue"),
    at("/templates"),
    at(`/templates?edit=${template}`),
    at(`/analytics?${inUrl(lately())}`),
    at(`/analytics?${inUrl(lately())}&q=${words}`),
    at(`/analytics/check?${inUrl(lately())}`),
    at("/jobs", OTHER_PROJECT),
    `/admin/webhooks?webhook=${webhook.id}`,
    "/admin/upstream",
  ];
}

async function expectInert(page: Page, path: string): Promise<void> {
  await expect(page.locator("img, [onerror], [onload], [onfocus], iframe, object, embed"), path).toHaveCount(0);
  const targets = await page
    .locator("a, form, button[formaction]")
    .evaluateAll((elements) =>
      elements.map((element) => {
        const { href, action, formAction } = element as HTMLAnchorElement & HTMLFormElement & HTMLButtonElement;
        return element.localName === "a" ? href : element.localName === "form" ? action : formAction;
      }),
    );
  expect(targets.length, path).toBeGreaterThan(0);
  const { origin } = new URL(page.url());
  for (const target of targets.filter((target) => target !== "")) expect(new URL(target).origin, `${target} on ${path}`).toBe(origin);
}

for (const javaScriptEnabled of [true, false]) {
  const how = `${javaScriptEnabled ? "with" : "without"} JavaScript`;

  test(`markup in a text is shown as text, ${how}`, async ({ serve, visit, hostile }) => {
    test.setTimeout(120_000);
    const environment = { DOCKET_UPSTREAM_URL: hostile.url, DOCKET_PROJECTS: `${PROJECT}=${TEXT},${OTHER_PROJECT}=${TEXT}` };
    const docket = await serve({ environment, people: [person] });
    const page = await visit(docket, { as: person, javaScriptEnabled });
    for (const path of await leave(page, TEXT, hostile.url)) {
      await page.goto(path);
      if (javaScriptEnabled) await interactive(page);
      await expect(page.locator("body"), path).toContainText("onerror=taken=1");
      await expectInert(page, path);
    }
    await expect(page).toHaveTitle(/Docket$/);

    // HTML that the browser renders when it changes pages.
    await page.goto(at("/jobs"));
    if (javaScriptEnabled) await interactive(page);
    await page.getByRole("list", { name: "Jobs" }).getByRole("link", { name: TEXT, exact: true }).first().click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(TEXT);
    await expect(page.getByRole("complementary", { name: "Facts" })).toContainText(TEXT);
    await expectInert(page, page.url());
  });

  test(`pull request is a link for http(s) only, ${how}`, async ({ serve, visit, linking }) => {
    for (const upstream of linking) {
      const docket = await serve({ environment: { DOCKET_UPSTREAM_URL: upstream.url } });
      const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
      await page.goto(at("/jobs"));
      const job = await call<{ id: string }>(page, "jobs/create", { prompt: "Fix typos", intent: randomUUID() });
      for (const path of [at(""), at("/jobs"), at(`/jobs/${job.id}`)]) {
        await page.goto(path);
        if (javaScriptEnabled) await interactive(page);
        await expectInert(page, path);
      }
      await expect(page.getByRole("main")).toContainText("taken");
    }
  });
}
