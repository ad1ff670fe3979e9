/** Typed text is not lost, and is sent once. */
import type { Page } from "@playwright/test";
import { ANONYMOUS, at, delay, expect, fillInSignIn, interactive, jobOf, open, test } from "../fixtures/docket.ts";

const NEW_JOB = at("/jobs/new");
const TEXT = "Rewrite the quickstart.\n\nKeep the <b>structure</b> & the tone.";
/** Longer than a page's path may be: rejected before anything is sent upstream. */
const TOO_LONG = `/${"long".repeat(130)}`;

const prompt = (page: Page) => page.getByLabel("Prompt");
const start = (page: Page) => page.getByRole("button", { name: /^Start/ });

/** A text that no other test uses. */
function unique(text: string): string {
  return `${text} ${Math.random().toString(36).slice(2)}`;
}

test("text survives a reload and a visit of another page", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill(TEXT);
  await page.reload();
  await interactive(page);
  await expect(prompt(page)).toHaveValue(TEXT);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Analytics" }).click();
  await expect(page).toHaveTitle("Analytics · Docket");
  await page.goBack();
  await expect(prompt(page)).toHaveValue(TEXT);
});

test("text survives a refusal, which has a message", async ({ page, trouble }) => {
  trouble.expects(/status of 400.*jobs\/create/);
  await open(page, NEW_JOB);
  await prompt(page).fill(TEXT);
  await page.getByLabel("Pages").fill(TOO_LONG);
  await start(page).click();
  await expect(page.getByRole("alert")).toContainText("A page’s path has at most 500 characters");
  await expect(page).toHaveURL(NEW_JOB);
  await expect(prompt(page)).toHaveValue(TEXT);
  await expect(page.getByLabel("Pages")).toHaveValue(TOO_LONG);
  await page.reload();
  await interactive(page);
  await expect(prompt(page)).toHaveValue(TEXT);

  await page.getByLabel("Pages").fill("/quickstart");
  await start(page).click();
  await jobOf(page);
  await expect(page.getByRole("list", { name: "Conversation" })).toContainText("Keep the <b>structure</b> & the tone.");
});

test("text survives the end of the session", async ({ page, context, person, trouble, api }) => {
  trouble.expects(/status of 401.*jobs\/(create|draft|similar)/);
  const text = unique("Explain retries");
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await context.clearCookies();
  await start(page).click();
  await expect(page).toHaveURL(`/login?next=${NEW_JOB}`);
  await fillInSignIn(page, person);
  await expect(page).toHaveURL(NEW_JOB);
  await expect(prompt(page)).toHaveValue(text);
  await start(page).click();
  await jobOf(page);
  expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
});

test("text survives an outage of Docket", async ({ page, context, trouble, api }) => {
  trouble.expects(/ERR_INTERNET_DISCONNECTED/);
  const text = unique("Explain timeouts");
  const part = page.waitForResponse("**/split_on_demand.wasm");
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await (await part).finished();
  await context.setOffline(true);
  await start(page).click();
  await expect(page.getByRole("alert")).toContainText("Docket could not be reached.");
  await expect(prompt(page)).toHaveValue(text);
  await context.setOffline(false);
  await start(page).click();
  await jobOf(page);
  expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
});

test("text beyond the budget survives; form shows the wait", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 429.*jobs\/create/);
  const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "1" } });
  const page = await visit(docket, { storageState: docket.session });
  await open(page, NEW_JOB);
  const late = await page.context().newPage();
  await open(late, NEW_JOB);
  await expect(page.getByText("Uses the last call left this hour.")).toBeVisible();
  await prompt(page).fill("The only one");
  await start(page).click();
  await jobOf(page);
  await expect(page.getByRole("region", { name: "Hourly budget" })).toContainText(/1 of 1(?!\d|,)/);
  await open(page, NEW_JOB);
  await expect(page.getByText(/^Sent in about (1 h|1 h 1 min|\d+ min)\.\s*$/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Add to queue" })).toBeVisible();
  // In a page that was opened before.
  await prompt(late).fill(TEXT);
  await start(late).click();
  await expect(late.getByRole("alert")).toContainText(/budget|hour/);
  await expect(prompt(late)).toHaveValue(TEXT);
  await late.getByRole("button", { name: "Add to queue" }).click();
  await jobOf(late);
});

test("form stays busy and shows its text until the job opens", async ({ page }) => {
  // Chromium runs no scripts of a test while a navigation is delayed, so the page says what it shows then.
  await page.addInitScript(() => {
    const show = (form: HTMLFormElement) => {
      const [text, button] = [form.querySelector("textarea"), form.querySelector<HTMLButtonElement>("button.button-primary")];
      console.info("left:", text?.value, "|", button?.textContent, "|", button?.disabled);
    };
    new MutationObserver((changes) => {
      const form = changes.map(({ target }) => target).find((it) => it instanceof HTMLFormElement && it.inert);
      if (form) setTimeout(() => show(form as HTMLFormElement));
    }).observe(document, { subtree: true, attributeFilter: ["inert"] });
  });
  const text = unique("Explain quotas");
  const left = page.waitForEvent("console", (message) => message.text().startsWith("left:"));
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await start(page).click();
  expect((await left).text()).toBe(`left: ${text} | Starting… | true`);
  await jobOf(page);
  await page.goBack();
  await expect(prompt(page)).toHaveValue("");
  await expect(start(page)).toBeEnabled();
});

test("double click starts one job", async ({ page, api }) => {
  const text = unique("Sort the glossary");
  await open(page, NEW_JOB);
  await prompt(page).fill(text);
  await start(page).dblclick();
  await jobOf(page);
  expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
});

test("double click before the page is interactive starts one job", async ({ page, api }) => {
  await page.route("**/*.wasm", () => {});
  const text = unique("Sort the index");
  await page.goto(NEW_JOB, { waitUntil: "commit" });
  await prompt(page).fill(text);
  await start(page).dblclick();
  await jobOf(page);
  expect((await api.jobs({ q: text })).jobs).toHaveLength(1);
});

test("text typed before the page is interactive stays", async ({ page }) => {
  const release = await delay(page, "**/*.wasm");
  await page.goto(NEW_JOB, { waitUntil: "commit" });
  await prompt(page).fill(TEXT);
  await page.getByLabel("Pages").fill("/quickstart");
  release();
  await interactive(page);
  await expect(prompt(page)).toHaveValue(TEXT);
  await expect(page.getByLabel("Pages")).toHaveValue("/quickstart");
});

for (const keys of ["Control+Enter", "Meta+Enter"]) {
  test(`${keys} sends`, async ({ page }) => {
    await open(page, NEW_JOB);
    // A unique text: the same one again would be reported as similar while the first job is running.
    const text = unique(`With ${keys}`);
    await prompt(page).fill(text);
    await prompt(page).press(keys);
    await jobOf(page);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(text);
  });
}

test("empty prompt is not sent", async ({ page }) => {
  await open(page, NEW_JOB);
  let posts = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/api/jobs/create")) posts += 1;
  });
  await start(page).click();
  await expect(prompt(page)).toBeFocused();
  expect(await prompt(page).evaluate((field: HTMLTextAreaElement) => field.validity.valueMissing)).toBe(true);
  await prompt(page).press("Control+Enter");
  await expect(page).toHaveURL(NEW_JOB);
  expect(posts).toBe(0);
});

test("prompt and page in the URL win over a draft", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("Something else");
  await open(page, `${NEW_JOB}?prompt=${encodeURIComponent(TEXT)}&path=/guides/webhooks`);
  await expect(prompt(page)).toHaveValue(TEXT);
  await expect(page.getByLabel("Pages")).toHaveValue("/guides/webhooks");
});

test("form is empty after its text was sent", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("Fix the other typos");
  await start(page).click();
  await jobOf(page);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
  await page.getByRole("link", { name: "New job" }).click();
  await expect(prompt(page)).toHaveValue("");
  await page.reload();
  await interactive(page);
  await expect(prompt(page)).toHaveValue("");
});

test("follow-up survives a reload as a separate draft", async ({ page, api }) => {
  const [first, second] = (await api.jobs({ status: "completed" })).jobs;
  await open(page, at(`/jobs/${first?.id}`));
  await page.getByLabel("Follow-up").fill(TEXT);
  await page.reload();
  await interactive(page);
  await expect(page.getByLabel("Follow-up")).toHaveValue(TEXT);
  await open(page, at(`/jobs/${second?.id}`));
  await expect(page.getByLabel("Follow-up")).toHaveValue("");
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("");
});

test("follow-up is no draft after it was sent", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.state === "completed");
  await open(page, at(`/jobs/${job.id}`));
  const field = page.getByLabel("Follow-up");
  await field.fill("Mention the new sign-in");
  await page.getByRole("button", { name: "Send follow-up" }).click();
  await expect(field).toHaveValue("");
  await expect(page.getByRole("list", { name: "Conversation" })).toContainText("Mention the new sign-in");
  const drafts = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("docket.draft/")));
  expect(await drafts()).toEqual([]);
  await page.reload();
  await interactive(page);
  await expect(field).toHaveValue("");
});

test("sign-in returns to the job page after the session ended", async ({ page, context, api, person, trouble }) => {
  trouble.expects(/status of 401.*jobs\/(statuses|draft)/);
  const job = await api.start("emulator:slow Go on");
  await open(page, at(`/jobs/${job.id}`));
  await page.getByLabel("Follow-up").fill(TEXT);
  await context.clearCookies();
  await expect(page.getByText("Your session has ended. What you are writing is saved in this browser.")).toBeVisible();
  await page.getByRole("link", { name: "Sign in again" }).click();
  await fillInSignIn(page, person);
  await expect(page).toHaveURL(at(`/jobs/${job.id}`));
  await expect(page.getByLabel("Follow-up")).toHaveValue(TEXT);
});

test("drafts are removed from the browser after signing out", async ({ visit, demo }) => {
  const page = await visit(demo, { as: demo.administrator });
  await open(page, NEW_JOB);
  // The draft is only in the browser: its request is never answered.
  await page.route("**/api/jobs/draft", () => {});
  await prompt(page).fill(TEXT);
  const stored = () => page.evaluate(() => Object.keys(localStorage));
  await expect.poll(stored).not.toEqual([]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL("/login");
  expect(await stored()).toEqual([]);
});

for (const javaScriptEnabled of [true, false]) {
  test(`markup in a draft is inert, with JavaScript ${javaScriptEnabled ? "on" : "off"}`, async ({ demo, person, visit, trouble }) => {
    if (javaScriptEnabled) trouble.expects(/status of 400.*jobs\/create/);
    const markup = `\n</textarea><script>document.title="taken"</script><img src="/nothing" onerror="document.title='taken'">&lt;b>`;
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    await page.goto(NEW_JOB);
    if (javaScriptEnabled) await interactive(page);
    await prompt(page).fill(markup);
    await page.getByLabel("Pages").fill(TOO_LONG);
    await start(page).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await expect(prompt(page)).toHaveValue(markup);

    // From the server's copy, in a browser without one.
    const elsewhere = await visit(demo, { storageState: { ...ANONYMOUS, cookies: person.session.cookies }, javaScriptEnabled });
    await elsewhere.goto(NEW_JOB);
    if (javaScriptEnabled) await interactive(elsewhere);
    await expect(prompt(elsewhere)).toHaveValue(markup);
    await expect(elsewhere).toHaveTitle("New job · Docket");
    await expect(elsewhere.locator("textarea")).toHaveCount(1);
    await expect(elsewhere.locator("img")).toHaveCount(0);
    // The same with the URL.
    await elsewhere.goto(`${NEW_JOB}?prompt=${encodeURIComponent(markup)}`);
    await expect(prompt(elsewhere)).toHaveValue(markup);
    await expect(elsewhere).toHaveTitle("New job · Docket");
  });
}
