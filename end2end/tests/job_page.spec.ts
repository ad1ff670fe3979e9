/** The page of one job: conversation, facts and explanations of states. */
import type { Page } from "@playwright/test";
import { Api } from "../fixtures/api.ts";
import { PROJECT, at, badge, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";

const conversation = (page: Page) => page.getByRole("list", { name: "Conversation" }).getByRole("listitem");
const facts = (page: Page) => page.getByRole("complementary", { name: "Facts" });

test("conversation is in order, with authors and outcomes", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.follow_ups.some(({ author }) => author === "maya"));
  await open(page, at(`/jobs/${job.id}`));
  await expect(conversation(page)).toHaveCount(2);
  await expect(conversation(page).nth(0)).toContainText("priya");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Explain how to verify webhook signatures.");
  await expect(conversation(page).nth(0).locator("[data-delivery]")).toHaveAttribute("data-delivery", "accepted");
  await expect(conversation(page).nth(1)).toContainText("maya");
  await expect(conversation(page).nth(1)).toContainText("Please also say what happens with clock skew");
  await expect(conversation(page).nth(0)).toContainText(/Pull request #238 opened · \d+ /);
  await page.getByText(/^Timeline, \d+ entries$/).click();
  await expect(page.locator(".history li").first()).toBeVisible();
});

test("facts come from the upstream, and id can be copied", async ({ page, context, api }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const job = await api.jobThat((job) => job.paths.includes("/guides/migration"));
  await open(page, at(`/jobs/${job.id}`));
  const { id = "" } = job.remote ?? {};
  expect(id).toMatch(/^job_[0-9a-f]{12,}$/);
  for (const fact of [id, "docs-writer-2", `acme/${PROJECT}`, `docket/agent-${id.slice(4, 10)}`, "/guides/migration", "/quickstart"]) {
    await expect(facts(page)).toContainText(fact);
  }
  await page.getByRole("button", { name: "Copy the platform id" }).click();
  await expect(page.getByRole("status").getByText("Id copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(id);
  await page.getByRole("button", { name: "Dismiss" }).click();
  await expect(page.getByText("Id copied")).toHaveCount(0);
});

test("time of a running job counts every second", async ({ page, api }) => {
  const { id } = await api.start("emulator:slow Count the seconds");
  await expect.poll(async () => (await api.job(id)).state).toBe("active");
  await open(page, at(`/jobs/${id}`));
  const timer = facts(page).getByRole("timer");
  const seen = new Set<string>();
  await expect.poll(async () => seen.add((await timer.textContent()) ?? "").size, { intervals: [200], timeout: 8_000 }).toBeGreaterThan(3);
});

test("running job has a notice that its page updates automatically", async ({ page, api }) => {
  const { id } = await api.start("emulator:slow Wait for the result");
  await open(page, at(`/jobs/${id}`));
  await expect(page.getByText("This page updates automatically; you can leave it.")).toBeVisible();
  await expect(page.getByText(/Refresh the page/)).toBeHidden();
});
test("earlier follow-ups are on pages of their own, with and without JavaScript", async ({ serve, visit }) => {
  test.setTimeout(90_000);
  const docket = await serve({ environment: { DOCKET_AGENT_PER_HOUR: "3600" } });
  const first = await visit(docket, { storageState: docket.session });
  const api = new Api(first.request, docket.url, PROJECT);
  const { id } = await api.start("emulator:no-changes Add a table");
  for (let number = 1; number <= 53; number++) await api.follow(id, `emulator:no-changes Row ${number} of it`);
  const row = (page: Page, number: number) => conversation(page).filter({ hasText: `Row ${number} of it` });
  for (const javaScriptEnabled of [true, false]) {
    const page = await visit(docket, { storageState: docket.session, javaScriptEnabled });
    await page.goto(at(`/jobs/${id}`));
    if (javaScriptEnabled) await interactive(page);
    await expect(row(page, 4)).toBeVisible();
    await expect(row(page, 3)).toHaveCount(0);
    await expect(page.getByText("3 earlier follow-ups")).toBeVisible();
    await page.getByRole("link", { name: "Show earlier" }).click();
    await expect(page).toHaveURL(/\?before=4$/);
    await expect(row(page, 3)).toBeVisible();
    await expect(row(page, 4)).toHaveCount(0);
    await expect(page.getByText("50 later follow-ups")).toBeVisible();
    await page.getByRole("link", { name: "Show the latest" }).click();
    await expect(row(page, 53)).toBeVisible();
  }
  // An earlier page is refreshed as it is.
  await open(first, at(`/jobs/${id}?before=4`));
  await api.follow(id, "emulator:no-changes Row 54 of it");
  await expect(first.getByText("51 later follow-ups")).toBeVisible();
  await expect(row(first, 3)).toBeVisible();
  await expect(row(first, 54)).toHaveCount(0);
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });

    test("page can be removed from a job", async ({ page, api }) => {
      const job = await api.start("emulator:slow Compare the two", { paths: "/quickstart, /v3/regions" });
      const pages = facts(page).locator(".tag-page");
      await page.goto(at(`/jobs/${job.id}`));
      if (javaScriptEnabled) await interactive(page);
      await expect(pages).toHaveText(["/quickstart", "/v3/regions"]);
      await page.getByRole("button", { name: "Remove the page /v3/regions" }).click();
      await expect(pages).toHaveText(["/quickstart"]);
      if (javaScriptEnabled) {
        await page.getByRole("button", { name: "Undo" }).click();
        await expect(pages).toHaveText(["/quickstart", "/v3/regions"]);
        await page.getByRole("button", { name: "Remove the page /v3/regions" }).click();
        await expect(pages).toHaveText(["/quickstart"]);
      }
      await page.reload();
      await expect(pages).toHaveText(["/quickstart"]);
    });
  });
}

test("unknown outcome is explained and not sent again automatically", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.state === "unknown");
  await open(page, at(`/jobs/${job.id}`));
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "unknown");
  await expect(conversation(page).locator("[data-delivery]")).toHaveAttribute("data-delivery", "unknown");
  const notice = page.locator(".notice").filter({ hasText: "may or may not have started the work" });
  await expect(notice).toContainText("Docket itself sends a prompt at most once");
  await expect(notice).toContainText("The platform did not answer in time.");
  await expect(page.getByLabel("Follow-up")).toHaveCount(0);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("link", { name: "Run again" }).click();
  await expect(page.getByLabel("Prompt")).toHaveValue(job.prompt);
  await expect(page.getByLabel("Pages")).toHaveValue("/integrations/slack");
});

test("rejected job shows the reason; its text can be resent", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.state === "rejected");
  await open(page, at(`/jobs/${job.id}`));
  const notice = page.locator(".notice").filter({ hasText: "The job was not started." });
  await expect(notice).toContainText("prompt mentions a repository this key cannot write to");
  await expect(page.getByLabel("Follow-up")).toHaveCount(0);
  await notice.getByRole("link", { name: "Edit and send again" }).click();
  await expect(page).toHaveURL(at(`/jobs/new?from=${job.id}`));
  await expect(page.getByLabel("Prompt")).toHaveValue(job.prompt);
  await page.getByRole("button", { name: "Start job" }).click();
  const again = await jobOf(page);
  expect(again).not.toBe(job.id);
  await expect(badge(page, again)).toHaveAttribute("data-status", "active");
  await expect(page.locator(".retry")).toContainText("Retry of");
});

test("failed job and job without changes offer a next step", async ({ page, api }) => {
  const failed = await api.jobThat((job) => job.state === "failed");
  await open(page, at(`/jobs/${failed.id}`));
  await expect(page.getByText("The agent failed. Run the job again")).toBeVisible();
  await expect(page.getByRole("link", { name: "Run again" })).toBeVisible();
  await expect(page.getByLabel("Follow-up")).toBeVisible();

  const unchanged = await api.jobThat((job) => job.state === "completed" && !job.remote?.pr_link);
  await open(page, at(`/jobs/${unchanged.id}`));
  await expect(badge(page, unchanged.id)).toHaveText("Completed, no changes");
  await expect(page.getByText("The agent finished, and the platform named no pull request.")).toBeVisible();
  await expect(page.getByRole("main").getByRole("link", { name: /^Pull request/ })).toHaveCount(0);
});

test("prompt with markup is shown as text", async ({ page, api }) => {
  const prompt = `<img src=x onerror="document.title='taken'"> & <script>document.title="taken"</script>\n\n  indented`;
  const job = await api.start(prompt);
  await open(page, at(`/jobs/${job.id}?source=on`));
  await expect(conversation(page).locator(".message-text")).toHaveText(prompt, { useInnerText: true });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(prompt.split("\n")[0] ?? "");
  await expect(page).toHaveTitle(`${prompt.split("\n")[0]} · Docket`);
  await open(page, at("/jobs"));
  await expect(page.getByRole("link", { name: prompt.split("\n")[0] })).toBeVisible();
  await expect(page.locator("main img")).toHaveCount(0);
});

test("text too long for a URL is prefilled too", async ({ page, api }) => {
  const prompt = `emulator:fail ${"A long story. ".repeat(300)}The end.`;
  const job = await api.start(prompt);
  await expect.poll(async () => (await api.job(job.id)).state, { timeout: 25_000 }).toBe("failed");
  await open(page, at(`/jobs/${job.id}`));
  await page.getByRole("link", { name: "Run again" }).click();
  await expect(page).toHaveURL(at(`/jobs/new?from=${job.id}`));
  await expect(page.getByLabel("Prompt")).toHaveValue(prompt);
});

test("navigating to another job shows that job and its form", async ({ page, api }) => {
  const { jobs } = await api.jobs({ status: "completed" });
  // Long prompts are truncated in lists.
  const [first, second] = jobs.filter(({ prompt }) => prompt.length < 250);
  await open(page, at(`/jobs/${first?.id}`));
  await page.getByLabel("Follow-up").fill("For the first one");
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Jobs" }).click();
  await page.locator(`a[href$="/jobs/${second?.id}"]`).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(second?.prompt.split("\n")[0] ?? "");
  await expect(page.getByLabel("Follow-up")).toHaveValue("");
  await page.goBack();
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(first?.prompt.split("\n")[0] ?? "");
  await expect(page.getByLabel("Follow-up")).toHaveValue("For the first one");
});

test.describe("a missing job", () => {
  for (const [id, status] of [["01920000-0000-7000-8000-000000000000", 404], ["nonsense", 400]] as const) {
    test(`${id} returns ${status} and a link`, async ({ page, trouble }) => {
      trouble.expects(new RegExp(`status of ${status}`));
      const response = await page.goto(at(`/jobs/${id}`));
      expect(response?.status()).toBe(status);
      await interactive(page);
      await expect(page.getByRole("alert")).toBeVisible();
      await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
      await expect(page).toHaveTitle(/^.+ · Docket$/);
    });
  }

  test("of another project is not found", async ({ page, api, trouble }) => {
    trouble.expects(/status of 404/);
    const job = await api.jobThat(() => true);
    const response = await page.goto(at(`/jobs/${job.id}`, "acme-api"));
    expect(response?.status()).toBe(404);
    await expect(page.getByRole("alert")).toContainText("Not found");
    const title = job.prompt.split("\n")[0] ?? "";
    await expect(page.getByText(title)).toHaveCount(0);
    await open(page, at(`/jobs/${job.id}`));
    await expect(page.getByText(title).first()).toBeVisible();
    expect(job.project).toBe(PROJECT);
  });
});

test("links to a pull request have distinct labels", async ({ page, api }) => {
  const job = await api.jobThat((job) => job.state === "completed" && Boolean(job.remote?.pr_link));
  await open(page, at(`/jobs/${job.id}`));
  const names = await page.getByRole("main").getByRole("link", { name: /^Pull request #\d+/ }).evaluateAll((links) =>
    links.map((link) => link.getAttribute("aria-label") ?? link.textContent?.trim()),
  );
  expect(names).toHaveLength(3);
  expect(names[0]).toMatch(/^Pull request #\d+$/);
  expect(names[1]).toMatch(/^Pull request #\d+, result of (the first prompt|follow-up \d+)$/);
  expect(names[2], "in the facts").toMatch(/^Pull request #\d+, (open|draft|merged|closed)$/);
  await expect(page.getByRole("complementary", { name: "Facts" })).toContainText(/Pull request #\d+ opened/);
});

for (const javaScriptEnabled of [true, false]) {
  test(`prompt is rendered as Markdown, with source, JavaScript ${javaScriptEnabled ? "on" : "off"}`, async ({ demo, person, visit }) => {
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    const prompt = [
      "## Fix the guide",
      "Use `npm` in [the guide](https://example.com/guide), not [this](javascript:alert(1)) or [that](/account).",
      "- one",
      "- two",
      "",
      "<u>raw</u> ![a chart](https://example.com/chart.png)",
    ].join("\n");
    const job = await new Api(page.request, demo.url, PROJECT).start(prompt);
    await page.goto(at(`/jobs/${job.id}`));
    const text = conversation(page).locator(".message-text");
    await expect(text.locator("strong")).toHaveText("Fix the guide");
    await expect(text.locator("code")).toHaveText("npm");
    await expect(text.getByRole("listitem")).toHaveText(["one", "two"]);
    await expect(text.getByRole("link")).toHaveCount(1);
    await expect(text.getByRole("link", { name: "the guide" })).toHaveAttribute("href", "https://example.com/guide");
    await expect(text).toContainText("<u>raw</u> a chart");
    await expect(text.locator("u, img, h1, h2")).toHaveCount(0);
    await page.getByRole("link", { name: "View source" }).click();
    await expect(text).toHaveText(prompt, { useInnerText: true });
    await page.getByRole("link", { name: "View formatted" }).click();
    await expect(text.locator("code")).toHaveText("npm");
  });
}

test("link and prompt are copied, and prompt becomes a template", async ({ page, context, api, demo }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const prompt = "Check every link\n\nof the guide for {{release}}";
  const job = await api.start(prompt);
  await open(page, at(`/jobs/${job.id}`));
  const actions = page.getByRole("button", { name: "More actions" });
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await actions.click();
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect.poll(clipboard).toBe(new URL(at(`/jobs/${job.id}`), demo.url).href);
  await page.getByRole("button", { name: "Copy prompt" }).click();
  await expect.poll(clipboard).toBe(prompt);
  await page.getByRole("link", { name: "Save as template" }).click();
  await expect(page.getByLabel("Text")).toHaveValue(prompt);
});
