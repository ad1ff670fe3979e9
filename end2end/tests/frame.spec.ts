/** The frame of every page: projects, theme, keyboard, budget, and small screens. */
import type { Page } from "@playwright/test";
import { inUrl, longAgo } from "../fixtures/days.ts";
import { OTHER_PROJECT, ANONYMOUS, UNTIL_DONE, at, badge, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";

const html = (page: Page) => page.locator("html");
const shortcuts = (page: Page) => page.getByRole("dialog", { name: "Keyboard shortcuts" });

/** The background color of the page. */
function ground(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
}

test("another project has its own overview and jobs", async ({ page, api }) => {
  await open(page, at(""));
  await page.getByRole("button", { name: "Project: Acme Docs" }).click();
  await page.getByRole("link", { name: "Acme API" }).click();
  await expect(page).toHaveURL(at("", OTHER_PROJECT));
  await expect(page.getByRole("button", { name: "Project: Acme API" })).toBeVisible();
  await interactive(page);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
  await expect(page).toHaveURL(at("/jobs", OTHER_PROJECT));
  const theirs = await api.jobs({ project: OTHER_PROJECT });
  await expect(page.getByRole("list", { name: "Jobs" }).getByRole("listitem")).toHaveCount(theirs.jobs.length);
  for (const job of theirs.jobs) await expect(badge(page, job.id)).toBeVisible();
  for (const title of ["Document the retry schedule", "Make sure every list endpoint", "Add the new error codes"]) {
    await expect(page.locator(".job-title", { hasText: title })).toHaveCount(1);
  }
  await expect(page.locator(".job-title", { hasText: "Rewrite the quickstart" }), "a job of Acme Docs").toHaveCount(0);
});

test("switching the project stays in the same section", async ({ page, api }) => {
  const { jobs } = await api.jobs();
  for (const [path, there] of [["/jobs?status=failed", "/jobs"], [`/jobs/${jobs[0]?.id}`, "/jobs"], ["/analytics", "/analytics"], ["/jobs/new", "/jobs/new"], ["/notifications", "/notifications"]] as const) {
    await open(page, at(path));
    await page.getByRole("button", { name: "Project: Acme Docs" }).click();
    await page.getByRole("link", { name: "Acme API" }).click();
    await expect(page, path).toHaveURL(at(there, OTHER_PROJECT));
  }
});

for (const javaScriptEnabled of [true, false]) {
  test(`settings behind the gear keep the project's navigation, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo, person }) => {
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    await page.goto(at("/jobs", OTHER_PROJECT));
    const main = page.getByRole("navigation", { name: "Main" });
    await page.getByRole("link", { name: "Settings" }).click();
    await expect(page).toHaveURL("/account");
    const icons = await main.locator("li i").evaluateAll((all) => all.map((icon) => icon.className));
    expect(new Set(icons).size, "each has an icon of its own").toBe(icons.length);
    for (const name of ["Account", "People", "Platform", "Webhooks", "Audit log"]) {
      await main.getByRole("link", { name }).click();
      await expect(main.locator("[aria-current=page]")).toHaveText(name);
      await expect(main.getByRole("link", { name: "Jobs" })).toHaveAttribute("href", at("/jobs", OTHER_PROJECT));
    }
    await page.getByRole("button", { name: "Project: Acme API" }).click();
    await page.getByRole("link", { name: "Acme Docs" }).click();
    await expect(page).toHaveURL(at(""));
    await page.getByRole("link", { name: "Settings" }).click();
    await main.getByRole("link", { name: "Analytics" }).click();
    await expect(page).toHaveURL(at("/analytics"));
  });

  test(`bell lists changes since the last look, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({ visit, demo, person, api }) => {
    test.setTimeout(60_000);
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    const group = (name: RegExp) => page.getByRole("region", { name }).getByRole("listitem");
    const bell = async () => {
      await page.goto(at("/jobs"));
      if (javaScriptEnabled) await interactive(page);
      await page.getByRole("link", { name: "Notifications" }).click();
      await expect(page.getByRole("heading", { level: 1, name: "Notifications" })).toBeVisible();
    };
    const first = await api.start("emulator:no-changes First of mine");
    await expect.poll(async () => (await api.job(first.id)).state, UNTIL_DONE).toBe("completed");
    await bell();
    await expect(group(/^New/)).toHaveCount(1);
    await expect(group(/^New/)).toContainText("First of mine");
    await expect(badge(page, first.id)).toBeVisible();
    await expect(page.getByRole("button", { name: "Notify me in this browser" })).toHaveCount(javaScriptEnabled ? 1 : 0);

    const second = await api.start("emulator:fail Second of mine");
    await expect.poll(async () => (await api.job(second.id)).state, UNTIL_DONE).toBe("failed");
    await bell();
    await expect(group(/^New since you last looked/)).toHaveCount(1);
    await expect(group(/^New since you last looked/)).toContainText("Second of mine");
    await expect(group(/^Earlier/)).toContainText("First of mine");
    await bell();
    await expect(page.getByRole("heading", { name: "Nothing new" })).toBeVisible();

    await page.getByRole("link", { name: "Everyone’s jobs" }).click();
    await expect(page).toHaveURL(at("/notifications?who=all"));
    expect(await group(/^New/).count(), "of the others' jobs none was looked at").toBeGreaterThan(2);
    await group(/^New/).getByRole("link", { name: "Second of mine" }).click();
    expect(await jobOf(page)).toBe(second.id);
  });
}

test("rail marks the current page", async ({ page }) => {
  for (const [path, name] of [["", "Overview"], ["/jobs", "Jobs"], ["/jobs/new", "Jobs"], ["/jobs/batch", "Jobs"], ["/queue", "Queue"], ["/analytics", "Analytics"]] as const) {
    await open(page, at(path));
    const current = page.getByRole("navigation", { name: "Main" }).locator("[aria-current=page]");
    await expect(current).toHaveText(name);
  }
});

for (const system of ["light", "dark"] as const) {
  const other = system === "light" ? "dark" : "light";

  test.describe(`on a ${system} system`, () => {
    test.use({ colorScheme: system });

    test(`theme is ${system} until the other is chosen, without flash`, async ({ page, context }) => {
      await open(page, at("/jobs"));
      await expect(html(page)).not.toHaveAttribute("data-theme");
      const before = await ground(page);
      const theme = page.getByLabel("Theme");
      await expect(theme).toHaveValue("");
      await theme.selectOption({ label: other === "dark" ? "Dark" : "Light" });
      await expect(html(page)).toHaveAttribute("data-theme", other);
      const after = await ground(page);
      expect(after).not.toBe(before);

      const cookie = (await context.cookies()).find(({ name }) => name === "theme");
      expect(cookie?.value).toBe(other);
      // The document itself has the chosen theme: no script repaints it.
      const document = await (await page.request.get(at("/analytics"))).text();
      expect(document).toContain(`data-theme="${other}"`);
      await page.route("**/*.{js,wasm}", () => {});
      await page.goto(at("/analytics"), { waitUntil: "domcontentloaded" });
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      expect(await ground(page)).toBe(after);
      await page.unroute("**/*.{js,wasm}");

      await open(page, at("/jobs"));
      await expect(theme).toHaveValue(other);
      await theme.selectOption({ label: "System" });
      await expect(html(page)).not.toHaveAttribute("data-theme");
      await open(page, at("/analytics"));
      await expect(html(page)).not.toHaveAttribute("data-theme");
      expect(await ground(page)).toBe(before);
    });
  });
}

test.describe("by keyboard", () => {
  test("? lists the shortcuts, Escape closes and restores the focus", async ({ page }) => {
    await open(page, at("/jobs"));
    await page.getByRole("link", { name: "New job" }).focus();
    await page.keyboard.press("?");
    await expect(shortcuts(page)).toBeVisible();
    await expect(shortcuts(page).getByRole("term")).toHaveCount(14);
    for (const cap of await shortcuts(page).locator("kbd").all()) await expect(cap, "no key without a name").not.toBeEmpty();
    await page.keyboard.press("Escape");
    await expect(shortcuts(page)).toBeHidden();
    await expect(page.getByRole("link", { name: "New job" })).toBeFocused();
    await page.keyboard.press("?");
    await shortcuts(page).getByRole("button", { name: "Close" }).click();
    await expect(shortcuts(page)).toBeHidden();
  });

  test("/ searches, c starts a job, g with letters navigates", async ({ page }) => {
    await open(page, at(""));
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await expect(page).toHaveURL(at("/jobs"));
    await interactive(page);
    await page.keyboard.press("/");
    await expect(page.getByRole("searchbox", { name: "Search jobs" })).toBeFocused();
    await page.keyboard.type("c?.gj");
    await expect(page.getByRole("searchbox", { name: "Search jobs" }), "while typing, keys are letters").toHaveValue("c?.gj");
    await expect(page).toHaveURL(at("/jobs"));
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await expect(page).toHaveURL(at("/analytics"));
    for (const [key, path] of [["q", "/queue"], ["r", "/reviews"]] as const) {
      await interactive(page);
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await expect(page).toHaveURL(at(path));
    }
    await interactive(page);
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await expect(page).toHaveURL(at(""));
    await interactive(page);
    await page.keyboard.press("c");
    await expect(page).toHaveURL(at("/jobs/new"));
  });

  test("/ opens the search of jobs from other pages", async ({ page }) => {
    await open(page, at("/templates"));
    await page.keyboard.press("/");
    await expect(page).toHaveURL(at("/jobs"));
    await expect(page.getByRole("searchbox", { name: "Search jobs" })).toBeFocused();
  });

  test("j and k move over the rows, Enter opens one", async ({ page, api }) => {
    await open(page, at("/jobs"));
    const titles = page.locator(".job-title");
    await page.keyboard.press("j");
    await expect(titles.nth(0)).toBeFocused();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await expect(titles.nth(2)).toBeFocused();
    await page.keyboard.press("k");
    await expect(titles.nth(1)).toBeFocused();
    await page.keyboard.press("Enter");
    expect(await jobOf(page)).toBe((await api.jobs()).jobs[1]?.id);
  });

  test("j and k move over the pages of analytics", async ({ page }) => {
    await open(page, at(`/analytics?${inUrl(longAgo())}`));
    await page.keyboard.press("k");
    await expect(page.locator("tr[data-path] a").last()).toBeFocused();
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/jobs\/new\?.*path=/);
  });

  test("shortcuts of a single key are switched off in the account", async ({ page }) => {
    await open(page, "/account");
    const choice = page.getByRole("checkbox", { name: "Shortcuts of a single key" });
    await expect(choice).toBeChecked();
    await choice.uncheck();
    await open(page, at("/jobs"));
    await page.keyboard.press("c");
    await page.keyboard.press("?");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.keyboard.press(".");
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("dialog", { name: "Command palette" })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(shortcuts(page)).toBeHidden();
    await expect(html(page)).not.toHaveAttribute("data-theme");
    await expect(page).toHaveURL(at("/jobs"));

    await open(page, "/account");
    await expect(choice).not.toBeChecked();
    await choice.check();
    await page.keyboard.press("?");
    await expect(shortcuts(page)).toBeVisible();
  });

  test(". changes the theme; Control with a key is ignored", async ({ page }) => {
    await open(page, at("/analytics"));
    await page.keyboard.press("Control+.");
    await page.keyboard.press("Control+c");
    await expect(html(page)).not.toHaveAttribute("data-theme");
    await expect(page).toHaveURL(at("/analytics"));
    await page.keyboard.press(".");
    await expect(html(page)).toHaveAttribute("data-theme", "dark");
    await page.keyboard.press(".");
    await expect(html(page)).toHaveAttribute("data-theme", "light");
  });

  test("skip link passes the rail, and navigation focuses the content", async ({ page }) => {
    await open(page, at("/jobs"));
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "Skip to content" });
    await expect(skip).toBeFocused();
    await expect(skip).toBeInViewport();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("main")).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(page.getByRole("main").getByRole("link").first()).toBeFocused();

    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Analytics" }).click();
    await expect(page).toHaveURL(at("/analytics"));
    await expect(page.getByRole("main")).toBeFocused();
  });
});

test("budget meter counts used calls", async ({ page, api }) => {
  const { creates } = await api.budgets();
  await open(page, at("/jobs/new"));
  const meter = page.getByRole("region", { name: "Hourly budget" });
  await expect(meter).toContainText(`New jobs${creates.used} of ${creates.limit}`);
  await expect(meter).toContainText(/Analytics[\d,]+ of 2,000/);
  await page.getByLabel("Prompt").fill("Spend one");
  await page.getByRole("button", { name: "Start job" }).click();
  await jobOf(page);
  await expect(meter).toContainText(`New jobs${creates.used + 1} of ${creates.limit}`);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("settings are one row that scrolls, from the current page", async ({ page }) => {
    await open(page, "/admin/audit");
    const row = page.locator(".nav-settings");
    expect((await row.boundingBox())?.height).toBeLessThan(60);
    await expect(row.getByRole("link", { name: "Audit log" })).toBeInViewport();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await row.getByRole("link", { name: "Account" }).click();
    await expect(page).toHaveURL("/account");
  });

  test("keys are not shown", async ({ page }) => {
    await open(page, at("/jobs/new"));
    await expect(page.getByRole("button", { name: "Start job" })).toBeVisible();
    await expect(page.locator("kbd").filter({ visible: true })).toHaveCount(0);
    await page.getByRole("button", { name: "Search and go anywhere" }).click();
    const palette = page.getByRole("dialog", { name: "Command palette" });
    await expect(palette.getByRole("option", { name: /^New job/ }).first()).toBeVisible();
    await expect(palette.locator("kbd").filter({ visible: true })).toHaveCount(0);
  });
});

test.describe("on a screen 390 px wide", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test("no page is wider than the screen", async ({ page, api, visit, demo }) => {
    const long = await api.start(`${"Unbreakable".repeat(40)} ${"https://example.com/".repeat(10)}`, {
      paths: `/${"deep/".repeat(60)}, /quickstart`,
    });
    const states: string[] = [];
    for (const state of ["completed", "failed", "rejected", "unknown"]) states.push((await api.jobThat((job) => job.state === state)).id);
    const paths = ["", "/jobs", "/jobs?q=nothing-is-called-so", "/jobs/new", "/analytics", "/analytics?limit=250&page=2", "/analytics?from=2020-01-01&to=2020-01-02", "/analytics/check"];
    for (const path of [...paths, ...[long.id, ...states].map((id) => `/jobs/${id}`)]) {
      await open(page, at(path));
      expect.soft(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
    }
    const anonymous = await visit(demo, { viewport: { width: 390, height: 844 } });
    for (const path of ["/login", "/setup?token=none"]) {
      await open(anonymous, path);
      expect.soft(await anonymous.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
    }
  });

  test("main use case works on a phone", async ({ page }) => {
    await open(page, at(""));
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).tap();
    await expect(page).toHaveURL(at("/jobs"));
    await interactive(page);
    // The content has the focus, and the header stays in view.
    await expect(page.locator("#content")).toBeFocused();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.getByRole("link", { name: "New job" }).tap();
    await page.getByLabel("Prompt").fill("Sent from a train");
    await page.getByRole("button", { name: "Start job" }).tap();
    const job = await jobOf(page);
    await expect(badge(page, job)).toBeInViewport();
    await expect(page.getByRole("button", { name: "Send follow-up" })).toBeInViewport();
  });
});

test("unknown path returns 404 with a link back", async ({ page, trouble }) => {
  trouble.expects(/status of 404/);
  for (const path of ["/nowhere", at("/nowhere"), at("/jobs/new/nowhere")]) {
    const response = await page.goto(path);
    expect(response?.status(), path).toBe(404);
    await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
    await expect(page).toHaveTitle("Not found · Docket");
  }
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await expect(page).toHaveURL(at(""));
});

test("unknown project has a message on each of its pages", async ({ page, trouble }) => {
  trouble.expects(/status of 404/);
  for (const path of ["", "/jobs", "/jobs/new", "/analytics"]) {
    const response = await page.goto(at(path, "nobodys"));
    expect(response?.status(), path).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Project not found");
    await expect(page, path).toHaveTitle("Project not found · Docket");
    await expect(page.getByRole("navigation")).toHaveCount(0);
  }
  await page.getByRole("link", { name: "Acme API" }).click();
  await expect(page).toHaveURL(at("", OTHER_PROJECT));
});

test("viewer reads everything and has no controls to start jobs", async ({ serve, visit }) => {
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const docket = await serve({ people: [viewer] });
  const administrator = await visit(docket, { storageState: docket.session });
  await open(administrator, at("/jobs/new"));
  await administrator.getByLabel("Prompt").fill("emulator:slow Written by another person");
  await administrator.getByRole("button", { name: "Start job" }).click();
  const job = await jobOf(administrator);

  const page = await visit(docket, { as: viewer });
  for (const path of ["", "/jobs", "/analytics", `/jobs/${job}`]) {
    await open(page, at(path));
    await expect(page.getByText("viewer", { exact: true })).toBeVisible();
    await expect(page.getByRole("link", { name: /New job|Start a job|Run again|Edit and send/ })).toHaveCount(0);
    await expect(page.getByRole("button", { name: /Start|Send/ })).toHaveCount(0);
  }
  await expect(badge(page, job)).toHaveAttribute("data-status", "active");
  await expect(page.getByLabel("Follow-up")).toHaveCount(0);
  await page.keyboard.press("c");
  await page.keyboard.press("?");
  await expect(shortcuts(page)).toBeVisible();
  await expect(page).toHaveURL(at(`/jobs/${job}`));
  await open(page, at("/jobs/new"));
  await expect(page.getByRole("heading", { name: "Your role is read-only" })).toBeVisible();
  await expect(page.getByLabel("Prompt")).toHaveCount(0);
});

test("empty list has no start button for a viewer", async ({ serve, visit }) => {
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const docket = await serve({ people: [viewer] });
  const page = await visit(docket, { as: viewer });
  for (const path of ["", "/jobs"]) {
    await open(page, at(path));
    await expect(page.getByRole("heading", { name: "No jobs yet" })).toBeVisible();
    await expect(page.getByRole("link", { name: "Start with an example" })).toHaveCount(0);
  }
});

test("offline shows a notice and keeps text; online page continues", async ({ page, context, trouble }) => {
  trouble.expects(/ERR_INTERNET_DISCONNECTED/);
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("Written on a train");
  await expect(page.getByText("Draft saved", { exact: true })).toBeVisible();
  await context.setOffline(true);
  await expect(page.getByRole("status").getByText("You are offline")).toBeVisible();
  // The page requests similar jobs when typing pauses.
  const failed = page.waitForEvent("requestfailed");
  await page.getByLabel("Prompt").fill("Written on a train, in a tunnel");
  await expect(page.getByText("Draft saved in this browser", { exact: true })).toBeVisible();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
  await expect(page.getByRole("status").getByText("This page stays open")).toBeVisible();
  await expect(page).toHaveURL(at("/jobs/new"));
  await expect(page.getByLabel("Prompt")).toHaveValue("Written on a train, in a tunnel");

  await failed;
  const saved = page.waitForResponse("**/api/jobs/draft");
  await context.setOffline(false);
  expect((await saved).status()).toBe(200);
  await expect(page.getByText("Draft saved", { exact: true })).toBeVisible();
  await expect(page.getByText("You are offline")).toHaveCount(0);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
  await expect(page).toHaveURL(at("/jobs"));
  await open(page, at("/jobs/new"));
  await expect(page.getByLabel("Prompt")).toHaveValue("Written on a train, in a tunnel");
});

test.describe("times", () => {
  for (const [locale, timezoneId] of [["en-US", "America/New_York"], ["de-DE", "Europe/Berlin"]] as const) {
    test(`are relative for a week, then dates in ${locale}`, async ({ visit, demo, person }) => {
      const page = await visit(demo, { storageState: person.session, locale, timezoneId });
      const seen = new Set<string>();
      await open(page, at("/jobs?sort=oldest"));
      const oldest = await page.locator("main [data-job]").first().getAttribute("data-job");
      for (const path of [at("/jobs"), at(`/jobs/${oldest}`), at("/templates"), "/account", "/admin/users", "/admin/audit", "/admin/upstream"]) {
        await open(page, path);
        await expect(async () => {
          const times = await page.locator("main time").evaluateAll((all) =>
            all.map((time) => {
              const at = new Date(time.getAttribute("datetime") ?? "");
              return {
                title: time.getAttribute("title"),
                full: at.toLocaleString("default", { dateStyle: "medium", timeStyle: "medium" }),
                text: time.textContent ?? "",
                date: at.toLocaleDateString("default", { dateStyle: "medium" }),
                days: (Date.now() - at.getTime()) / 86_400_000,
              };
            }),
          );
          for (const { title, full, text, date, days } of times) {
            expect(title, path).toBe(full);
            // In a row of the list the age is always one short unit.
            if (/^\d+(m|h|d|mo|y)$/.test(text)) continue;
            if (days > 7) expect(text, path).toBe(date);
            else expect(text, path).toMatch(/^(just now|now|\d+ (min|h|days?) ago|in \d+ (min|h|days?))$/);
            seen.add(days > 7 ? "date" : "age");
          }
        }).toPass();
      }
      expect([...seen].sort()).toEqual(["age", "date"]);
    });
  }
});

test.describe("printed", () => {
  test("page names its project", async ({ page }) => {
    await open(page, at("/jobs"));
    const name = page.getByRole("main").getByText("Acme Docs", { exact: true });
    await expect(name).toBeHidden();
    await page.emulateMedia({ media: "print" });
    await expect(name).toBeVisible();
  });

  test("analytics page is a report, without the rail", async ({ page }) => {
    await open(page, at("/analytics"));
    await page.emulateMedia({ media: "print" });
    await expect(page.getByRole("navigation", { name: "Main" })).toBeHidden();
    await expect(page.getByRole("button", { name: "Sign out" })).toBeHidden();
    await expect(page.locator(".figures")).toBeVisible();
    await expect(page.locator("tr[data-path]").first()).toBeVisible();
  });
});

test("any path without a session redirects to sign-in", async ({ demo, visit }) => {
  const page = await visit(demo, { storageState: ANONYMOUS });
  for (const path of [at(""), at("/jobs/new?prompt=x"), "/nowhere"]) {
    await page.goto(path);
    await expect(page).toHaveURL(`/login?next=${encodeURIComponent(path)}`);
  }
});
