/** The command palette: finds pages, jobs and actions by keyboard alone. */
import type { Page, Route } from "@playwright/test";
import { expectAccessible } from "../fixtures/accessibility.ts";
import { OTHER_PROJECT, at, delay, expect, open, test } from "../fixtures/docket.ts";
import { unique } from "../fixtures/templates.ts";

const palette = (page: Page) => page.getByRole("dialog", { name: "Command palette" });
const field = (page: Page) => palette(page).getByRole("combobox");
const options = (page: Page) => palette(page).getByRole("option");
const chosen = (page: Page) => palette(page).getByRole("option", { selected: true });

test("Ctrl+K opens it even while typing, Escape restores the focus", async ({ page }) => {
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("Half a sentence");
  for (const key of ["Control+k", "Meta+k"]) {
    await page.keyboard.press(key);
    await expect(field(page)).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(palette(page)).toBeHidden();
    await expect(page.getByLabel("Prompt")).toBeFocused();
  }
  await page.getByRole("button", { name: "Search and go anywhere" }).click();
  await expect(field(page)).toBeFocused();
  await expect(palette(page).getByRole("option", { name: "New job c" }).locator("kbd"), "it lists what the keys are").toHaveText("c");
  await expect(palette(page).getByRole("option", { name: /^Jobs/ }).locator("kbd")).toHaveText(["g", "j"]);
});

test("arrows select, Enter opens, and typing filters", async ({ page }) => {
  await open(page, at("/jobs"));
  await page.keyboard.press("Control+k");
  await expect(chosen(page)).toHaveCount(1);
  const first = await chosen(page).getAttribute("id");
  await expect(field(page)).toHaveAttribute("aria-activedescendant", first as string);
  await page.keyboard.press("ArrowDown");
  await expect(chosen(page)).not.toHaveAttribute("id", first as string);
  await page.keyboard.press("ArrowUp");
  await expect(chosen(page)).toHaveAttribute("id", first as string);
  await page.keyboard.press("ArrowUp");
  await expect(chosen(page), "before the first one is the last one").toHaveAttribute("id", (await options(page).last().getAttribute("id")) as string);

  await field(page).fill("analyt");
  await expect(chosen(page)).toHaveText(/Analytics/);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(at("/analytics"));

  await open(page, at("/jobs"));
  await page.keyboard.press("Control+k");
  await field(page).fill("acme api");
  await page.keyboard.press("Enter");
  await expect(page, "another project, in the same section").toHaveURL(at("/jobs", OTHER_PROJECT));

  await open(page, "/account");
  await page.keyboard.press("Control+k");
  await field(page).fill("light dark");
  await page.keyboard.press("Enter");
  await expect(palette(page)).toBeHidden();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");

  await page.keyboard.press("Control+k");
  await field(page).fill("nothing-is-called-so");
  await expect(palette(page).getByRole("status")).toHaveText("Nothing matches");
  await page.keyboard.press("Enter");
  await expect(palette(page)).toBeVisible();
});

test("jobs are found with one request, templates by name", async ({ page, api }) => {
  const word = `zebra${Math.random().toString(36).slice(2)}`;
  const job = await api.start(`emulator:slow Explain the ${word} crossing`);
  await open(page, at("/templates?edit=new"));
  await page.getByLabel("Name").fill(`Check ${word}`);
  await page.getByLabel("Text").fill("Check {{page}}");
  await page.getByRole("button", { name: "Save template" }).click();
  await expect(page).toHaveURL(at("/templates"));
  await open(page, at(""));
  await page.keyboard.press("Control+k");
  await expect(palette(page).getByRole("group", { name: "Jobs" })).toBeVisible();
  let requests = 0;
  page.on("request", (request) => (requests += request.url().endsWith("/api/palette/find") ? 1 : 0));
  await field(page).pressSequentially(word);
  await expect(palette(page).getByRole("group", { name: "Templates" }).getByRole("option")).toHaveText(new RegExp(`Check ${word}`));
  await expect(palette(page).getByRole("group", { name: "Jobs" }).getByRole("option")).toHaveCount(1);
  expect(requests).toBeLessThan(word.length / 2);
  await palette(page).getByRole("group", { name: "Jobs" }).getByRole("option").click();
  await expect(page).toHaveURL(at(`/jobs/${job.id}`));
});

test("viewer has no commands to start jobs", async ({ serve, visit }) => {
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const page = await visit(await serve({ people: [viewer] }), { as: viewer });
  await open(page, at(""));
  await page.keyboard.press("Control+k");
  await expect(palette(page).getByRole("option", { name: /^Overview/ })).toBeVisible();
  await expect(palette(page).getByRole("option", { name: /New job|New batch|Import|New template|People|Audit/ })).toHaveCount(0);
});

for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
  test(`it is accessible, ${viewport.width} px wide`, async ({ page }) => {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await open(page, at("/jobs"));
    await page.keyboard.press("Control+k");
    await expect(palette(page).getByRole("group", { name: "Jobs" })).toBeVisible();
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
  });
}

const OPTIONS = "**/split_on_demand.wasm";

test("options load when it is opened first, and what is typed meanwhile counts", async ({ page }) => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await open(page, at("/jobs"));
  expect(requests.filter((url) => url.endsWith(".wasm"))).toHaveLength(1);
  const release = await delay(page, OPTIONS);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("analyt");
  await expect(options(page)).toHaveCount(0);
  release();
  await expect(chosen(page)).toHaveText(/Analytics/);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(at("/analytics"));
});

test("Enter that is pressed while options load opens the first one that matches", async ({ page, api }) => {
  const job = await api.start(`emulator:slow ${unique("Describe")}`);
  await open(page, at("/jobs"));
  const release = await delay(page, OPTIONS);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("analyt");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(at("/jobs"));
  release();
  await expect(page).toHaveURL(at("/analytics"));

  await open(page, at("/jobs"));
  await page.keyboard.press("Control+k");
  await expect(chosen(page)).toHaveCount(1);
  await field(page).fill(job.prompt.replace("emulator:slow ", ""));
  await page.keyboard.press("Enter");
  await expect(page, "the option of an answer that was still to come").toHaveURL(at(`/jobs/${job.id}`));
});

test("it finds pages without a place in the navigation", async ({ serve, visit }) => {
  const docket = await serve();
  const page = await visit(docket, { as: docket.administrator });
  for (const [typed, path] of [
    ["reviews", at("/reviews")],
    ["password", "/account#password"],
    ["budgets", "/admin/upstream#limits"],
    ["pull requests help", "/help/pull-requests"],
  ] as const) {
    await open(page, at("/jobs"));
    await page.keyboard.press("Control+k");
    await field(page).fill(typed);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(path);
  }
  await open(page, at("/reviews"));
  await page.getByRole("main").getByRole("link", { name: "How to connect GitHub or GitLab" }).click();
  await expect(page).toHaveURL("/help/pull-requests");
  await open(page, at(""));
  await page.keyboard.press("Control+k");
  await field(page).fill("sign out");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/login/);
});

test("it finds saved views and documentation pages", async ({ page }) => {
  const name = unique("Finished");
  await open(page, at("/jobs?status=completed"));
  await page.getByText("Save this view").click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Save view" }).click();
  await expect(page.getByRole("list", { name: "Saved views" }).getByRole("link", { name })).toBeVisible();
  await open(page, at(""));
  await page.keyboard.press("Control+k");
  await field(page).fill(name);
  await palette(page).getByRole("group", { name: "Saved views" }).getByRole("option", { name }).click();
  await expect(page).toHaveURL(at("/jobs?status=completed"));

  const known = "/guides/migrate-secrets";
  await open(page, at(""));
  await page.keyboard.press("Control+k");
  await field(page).fill(known);
  await palette(page).getByRole("group", { name: "Documentation pages" }).getByRole("option").first().click();
  await expect(page).toHaveURL((url) => url.pathname === at("/analytics") && url.searchParams.get("path") === known);
});

test("it has the actions of the open job", async ({ page, api }) => {
  const job = await api.start(unique("emulator:slow Explain"));
  await open(page, at(`/jobs/${job.id}`));
  const actions = palette(page).getByRole("group", { name: "This job" });
  await page.keyboard.press("Control+k");
  await expect(actions.getByRole("option", { name: "Save as template" })).toBeVisible();
  await field(page).fill("follow-up");
  await page.keyboard.press("Enter");
  await expect(palette(page)).toBeHidden();
  await expect(page.getByLabel("Follow-up")).toBeFocused();
  await page.keyboard.press("Control+k");
  await field(page).fill("archive");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main").getByText("Archived by")).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(actions.getByRole("option", { name: "Restore" })).toBeVisible();
  await page.keyboard.press("Escape");
  await open(page, at("/jobs"));
  await page.keyboard.press("Control+k");
  await expect(chosen(page)).toHaveCount(1);
  await expect(actions).toHaveCount(0);
});

for (const [failure, fail] of [
  ["lost connection", (route: Route) => route.abort()],
  ["missing file after an upgrade", (route: Route) => route.fulfill({ status: 404 })],
] as const) {
  test(`${failure}: the palette shows an error, the page works, and the next try loads the options`, async ({ page, trouble }) => {
    // The browser's own message, and that of the loader.
    trouble.expects(/split_on_demand\.wasm/, /__wasm_split/);
    await open(page, at("/jobs"));
    await page.route(OPTIONS, fail);
    await page.keyboard.press("Control+k");
    await expect(palette(page).getByRole("status")).toHaveText(
      "The commands could not be loaded. Open this again in a moment. If that does not help, reload the page.",
    );
    await page.keyboard.press("Escape");
    await expect(palette(page)).toBeHidden();
    const shortcuts = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await page.keyboard.press("?");
    await expect(shortcuts).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(shortcuts).toBeHidden();
    await page.unroute(OPTIONS);
    await page.keyboard.press("Control+k");
    await expect(chosen(page)).toHaveCount(1);
    await expect(palette(page).getByText("The commands could not be loaded.")).toBeHidden();
  });
}

test("late answer to an earlier search changes nothing", async ({ page, api }) => {
  const searched = unique("Compare");
  await api.start(searched);
  await open(page, at("/jobs"));
  const held: Route[] = [];
  await page.route("**/api/palette/find", async (route) => {
    if (held.push(route) > 1) await route.continue();
  });
  await page.keyboard.press("Control+k");
  await expect.poll(() => held.length, "the search at the opening").toBe(1);
  await field(page).fill(searched);
  const jobs = palette(page).getByRole("group", { name: "Jobs" }).getByRole("option");
  await expect(jobs).toContainText([searched]);
  const late = page.waitForResponse("**/api/palette/find");
  await held[0]?.continue();
  await (await late).finished();
  await page.evaluate(() => new Promise((rendered) => setTimeout(rendered, 100)));
  await expect(jobs).toContainText([searched], { timeout: 1 });
  await expect(palette(page).getByRole("status")).toHaveText("", { timeout: 1 });
});

test("failed search shows an error, and pages are still found", async ({ page, trouble }) => {
  trouble.expects(/api\/palette\/find/);
  await open(page, at("/jobs"));
  await page.route("**/api/palette/find", (route) => route.abort());
  await page.keyboard.press("Control+k");
  await expect(palette(page).getByRole("status")).toContainText("Jobs, templates, saved views and pages were not searched.");
  await field(page).fill("analyt");
  await expect(chosen(page)).toHaveText(/Analytics/);
});

test("palette closes by its button", async ({ page }) => {
  await open(page, at("/jobs"));
  const palette = page.getByRole("dialog", { name: "Command palette" });
  await page.keyboard.press("Control+k");
  await expect(palette.getByRole("combobox")).toBeFocused();
  await palette.getByRole("button", { name: "Close" }).click();
  await expect(palette).toBeHidden();
});

test("palette closes by a click beside it, also in browsers that do not know closedby", async ({ page }) => {
  await open(page, at("/jobs"));
  const palette = page.getByRole("dialog", { name: "Command palette" });
  for (const isKnown of [true, false]) {
    if (!isKnown) await page.locator("dialog.palette").evaluate((dialog) => dialog.removeAttribute("closedby"));
    await page.keyboard.press("Control+k");
    await expect(palette.getByRole("combobox")).toBeFocused();
    const box = await palette.boundingBox();
    // On its edge it stays open.
    await page.mouse.click((box?.x ?? 0) + 40, (box?.y ?? 0) + 3);
    await expect(palette).toBeVisible();
    await page.mouse.click(5, 5);
    await expect(palette).toBeHidden();
  }
});
