/** Templates, with and without JavaScript. */
import type { Locator, Page, Route } from "@playwright/test";
import { day, stored } from "../fixtures/days.ts";
import { at, badge, delay, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";
import { saveTemplate, unique } from "../fixtures/templates.ts";

const TEMPLATES = at("/templates");
const NEW_JOB = at("/jobs/new");
const MARKUP = `</textarea><script>document.title="taken"</script><img src="/nothing" onerror="document.title='taken'">`;

const prompt = (page: Page) => page.getByLabel("Prompt");
const beside = (page: Page) => page.getByRole("complementary", { name: "Templates and advice" });
/** The form with a field for each placeholder. */
const filling = (page: Page) => page.getByRole("form", { name: /^Fill in / });

function entry(page: Page, name: string): Locator {
  return page.getByRole("list", { name: "Templates" }).getByRole("listitem").filter({ hasText: name });
}

test("templates open by rail and keys, with outcomes of jobs", async ({ page }) => {
  await open(page, at(""));
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await expect(page).toHaveURL(TEMPLATES);
  await expect(page.getByRole("navigation", { name: "Main" }).locator("[aria-current=page]")).toHaveText("Templates");
  await expect(entry(page, "Check a page")).toContainText(/Runs\s*\d+.*\d+%.*\d+%.*\d+%.*\d+ min \d+ s/s);
  await expect(entry(page, "Troubleshooting section")).toContainText(/Runs\s*1(?!\d)/);
  await expect(page.getByText("A run is a job that the agent accepted.")).toBeVisible();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });

    test("template is created, changed, used for a job, and deleted", async ({ page, api }) => {
      await stored(api, { from: day(1), to: day(1) });
      const name = unique("Check");
      await saveTemplate(page, name, `${MARKUP} Check {{page}} for {{audience}} 日本語 \u202Eabc`);
      await expect(page).toHaveTitle("Templates · Docket");
      await expect(page.locator("main img")).toHaveCount(0);
      await expect(entry(page, name)).toContainText("No runs yet");
      await entry(page, name).getByRole("link", { name: /^Edit/ }).click();
      const text = `${name}: check {{page}} for {{audience}}`;
      await page.getByLabel("Text").fill(text);
      await page.getByRole("button", { name: "Save template" }).click();
      await expect(entry(page, name)).toContainText(`${name}: check`);

      await entry(page, name).getByRole("link", { name: /^Use / }).first().click();
      await expect(prompt(page)).toHaveValue(text);
      await filling(page).getByLabel("page").fill("/faq");
      await filling(page).getByLabel("audience").fill("newcomers & <b>others</b>");
      await filling(page).getByRole("button", { name: "Fill in the prompt" }).click();
      const filled = `${name}: check /faq for newcomers & <b>others</b>`;
      await expect(prompt(page)).toHaveValue(filled);
      // A plain form is returned once if a similar job is running, and still has its template.
      if (!javaScriptEnabled) await api.start(filled);
      await page.getByRole("button", { name: "Start job" }).click();
      if (!javaScriptEnabled) {
        await expect(page.getByText("Nothing was sent: a similar job")).toBeVisible();
        await expect(prompt(page)).toHaveValue(filled);
        await page.getByRole("button", { name: "Start job" }).click();
      }
      const job = await jobOf(page);
      await expect(badge(page, job)).toHaveAttribute("data-status", "active");
      const facts = page.getByRole("complementary", { name: "Facts" });
      await expect(facts).toContainText(name);
      await expect(facts.getByRole("link", { name: "/faq" })).toHaveAttribute("href", /\/analytics\?path=\/faq$/);

      await page.goto(TEMPLATES);
      await expect(entry(page, name)).toContainText(/Runs\s*1(?!\d)/);
      if (javaScriptEnabled) await interactive(page);
      await entry(page, name).getByText("Delete…").click();
      await entry(page, name).getByRole("button", { name: /^Delete/ }).click();
      await expect(entry(page, name)).toHaveCount(0);
      if (javaScriptEnabled) await expect(page.getByRole("status").getByText("Template deleted")).toBeVisible();
      await page.goto(at(`/jobs/${job}`));
      await expect(facts).toContainText("(deleted)");
    });

    test("duplicate name is refused with a message; text stays", async ({ page, trouble }) => {
      if (javaScriptEnabled) trouble.expects(/status of 400.*templates\/save/);
      await page.goto(at("/templates?edit=new"));
      if (javaScriptEnabled) await interactive(page);
      await page.getByLabel("Name").fill("Check a page");
      await page.getByLabel("Text").fill("Line one\n\n  line {{two}}");
      await page.getByRole("button", { name: "Save template" }).click();
      await expect(page.getByRole("alert")).toContainText("A template with that name already exists in this project.");
      await expect(page.getByLabel("Name")).toHaveValue("Check a page");
      await expect(page.getByLabel("Text")).toHaveValue("Line one\n\n  line {{two}}");
    });
  });
}

test("page in the URL fills its placeholder", async ({ page }) => {
  await open(page, `${NEW_JOB}?path=/guides/search`);
  await beside(page).getByRole("link", { name: "Check a page" }).click();
  await expect(filling(page).getByLabel("page")).toHaveValue("/guides/search");
  await filling(page).getByRole("button", { name: "Fill in the prompt" }).click();
  await expect(prompt(page)).toHaveValue(/^Check \/guides\/search against/);
  await expect(page.getByText("Template: Check a page")).toBeVisible();
  await expect(page.getByText("Draft saved")).toBeVisible();
  await open(page, `${NEW_JOB}?path=/guides/search`);
  await expect(prompt(page)).toHaveValue(/^Check \/guides\/search against/);
  await expect(page.getByText("Template: Check a page"), "after a while").toBeVisible();
  await page.getByRole("link", { name: "Remove" }).click();
  await expect(page.locator("input[name=template_id]:enabled"), "nothing of it is sent").toHaveCount(0);
});

const confirmation = (page: Page) => page.getByRole("alert").filter({ hasText: "The prompt already has text" });

test("template replaces own text after confirmation, and undo restores it", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("My own words");
  await beside(page).getByRole("link", { name: "Changelog entry" }).click();
  await expect(confirmation(page)).toBeVisible();
  await expect(confirmation(page).getByRole("button", { name: "Replace" })).toBeFocused();
  await expect(filling(page), "no field before the template is applied").toHaveCount(0);
  await confirmation(page).getByRole("button", { name: "Cancel" }).click();
  await expect(confirmation(page)).toBeHidden();
  await expect(prompt(page)).toHaveValue("My own words");
  await expect(prompt(page)).toBeFocused();

  await beside(page).getByRole("link", { name: "Changelog entry" }).click();
  await confirmation(page).getByRole("button", { name: "Replace" }).click();
  await expect(filling(page).getByLabel("version")).toBeFocused();
  await filling(page).getByLabel("version").fill("4.0");
  await expect(prompt(page)).toHaveValue(/version 4\.0 from .* last \{\{weeks\}\} weeks/);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(prompt(page)).toHaveValue("My own words");
  await expect(filling(page), "a field that changes nothing").toBeHidden();
  // The note about the draft changes its width, which moves the button.
  await expect(page.getByText("Draft saved")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await filling(page).getByLabel("weeks").fill("three");
  await expect(prompt(page)).toHaveValue(/version 4\.0 from .* last three weeks/);

  // Only a changed template counts as a person's own text.
  await beside(page).getByRole("link", { name: "Check a page" }).click();
  await expect(prompt(page)).toHaveValue(/^Check \{\{page\}\} against/);
  await expect(confirmation(page)).toBeHidden();
  await prompt(page).press("End");
  await prompt(page).pressSequentially(" Be brief.");
  await expect(page.getByText("Draft saved")).toBeVisible();
  await page.reload();
  await interactive(page);
  await beside(page).getByRole("link", { name: "Changelog entry" }).click();
  await expect(confirmation(page)).toBeVisible();
  await expect(prompt(page)).toHaveValue(/Be brief\./);
});

test("template is inserted below own text, and its fields work", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("My own words");
  await beside(page).getByRole("link", { name: "Check a page" }).click();
  await confirmation(page).getByRole("button", { name: "Insert below" }).click();
  await expect(prompt(page)).toHaveValue(/^My own words\n\nCheck \{\{page\}\} against/);
  await filling(page).getByLabel("page").fill("/guides/search");
  await expect(prompt(page)).toHaveValue(/^My own words\n\nCheck \/guides\/search against/);
  // The field still works after edits around its value.
  const written = await prompt(page).inputValue();
  await prompt(page).fill(written.replace("My own words", "My own better words"));
  await filling(page).getByLabel("page").fill("/faq");
  await expect(prompt(page)).toHaveValue(/^My own better words\n\nCheck \/faq against/);
  await expect(page.getByText("Template: Check a page")).toBeVisible();
});

test("later of two picks wins", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill(" ");
  const held: Route[] = [];
  await page.route(/jobs\/new\?template=/, async (route) => {
    if (held.push(route) > 1) await route.continue();
  });
  await beside(page).getByRole("link", { name: "Check a page" }).click();
  await expect.poll(() => held.length).toBe(1);
  await beside(page).getByRole("link", { name: "Changelog entry" }).click();
  await expect(prompt(page)).toHaveValue(/version \{\{version\}\}/);
  const late = page.waitForResponse(/jobs\/new\?template=/);
  await held[0]?.continue();
  await (await late).finished();
  await page.evaluate(() => new Promise((rendered) => setTimeout(rendered, 100)));
  await expect(prompt(page)).toHaveValue(/version \{\{version\}\}/, { timeout: 1 });
});

test("placeholder named path leaves the page of the job", async ({ page }) => {
  const name = unique("Move");
  await saveTemplate(page, name, `${name}: move {{path}} to {{method}}`);
  await open(page, `${NEW_JOB}?path=/guides/search`);
  await beside(page).getByRole("link", { name }).click();
  await filling(page).getByLabel("path").fill("/elsewhere");
  await filling(page).getByLabel("method").fill("GET");
  await filling(page).getByRole("button", { name: "Fill in the prompt" }).click();
  await expect(prompt(page)).toHaveValue(`${name}: move /elsewhere to GET`);
  await expect(page.getByLabel("Pages")).toHaveValue("/guides/search");
});

test("form of a template has its own draft", async ({ page }) => {
  await open(page, NEW_JOB);
  await prompt(page).fill("My own words");
  await expect(page.getByText("Draft saved")).toBeVisible();
  await page.goto(TEMPLATES);
  await interactive(page);
  await entry(page, "Check a page").getByRole("link", { name: "Use Check a page", exact: true }).click();
  await interactive(page);
  await filling(page).getByLabel("page").fill("/a");
  await expect(prompt(page)).toHaveValue(/^Check \/a against/);
  await expect(page.getByText("Draft saved")).toBeVisible();
  await open(page, NEW_JOB);
  await expect(prompt(page)).toHaveValue("My own words");
  await expect(page.getByText("Other drafts (1)")).toBeVisible();
});

test("Use opens a field per placeholder and updates the prompt", async ({ page }) => {
  await page.goto(TEMPLATES);
  await interactive(page);
  await entry(page, "Check a page").getByRole("link", { name: "Use Check a page", exact: true }).click();
  await interactive(page);
  await expect(filling(page).getByLabel("page")).toBeFocused();
  await page.keyboard.type("/guides/sea");
  await expect(prompt(page)).toHaveValue(/^Check \/guides\/sea against/);
  await page.keyboard.type("rch");
  await expect(prompt(page)).toHaveValue(/^Check \/guides\/search against/);
  await expect(filling(page).getByLabel("page"), "the field keeps the focus").toBeFocused();
  await prompt(page).fill("My own words");
  await expect(filling(page), "a field that changes nothing").toBeHidden();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`an unfilled placeholder with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });

    const endpoints = /\/api\/jobs\/(create|message)/;
    const confirmation = (page: Page) => page.getByRole("alert").filter({ hasText: "{{language}}" });

    test("needs confirmation for a job and a follow-up", async ({ page, trouble }) => {
      if (javaScriptEnabled) trouble.expects(new RegExp(`status of 409.*${endpoints.source}`));
      const text = `${unique("Translate")} into {{language}}`;
      await page.goto(NEW_JOB);
      if (javaScriptEnabled) await interactive(page);
      await expect(page.getByRole("button", { name: "Send anyway" })).toBeHidden();
      await prompt(page).fill(text);
      await page.getByRole("button", { name: "Start job" }).click();
      await expect(confirmation(page)).toContainText("Fill in {{language}} first");
      await expect(prompt(page)).toHaveValue(text);
      await page.getByRole("button", { name: "Start job" }).click();
      await expect(confirmation(page), "it stays until it is confirmed").toBeVisible();
      await page.getByRole("button", { name: "Send anyway" }).click();
      await jobOf(page);

      if (javaScriptEnabled) await interactive(page);
      const followUp = page.getByLabel("Follow-up");
      await followUp.fill("And now in {{language}}");
      await page.getByRole("button", { name: "Send follow-up" }).click();
      await expect(confirmation(page)).toContainText("Fill in {{language}} first");
      await expect(followUp).toHaveValue("And now in {{language}}");
      await followUp.fill("And now in Danish");
      if (javaScriptEnabled) {
        await expect(confirmation(page), "it is confirmed").toHaveCount(0);
        await expect(page.getByRole("button", { name: "Send anyway" })).toBeHidden();
      }
      await page.getByRole("button", { name: "Send follow-up" }).click();
      await expect(page.getByRole("list", { name: "Conversation" })).toContainText("And now in Danish");
      await expect(page.getByRole("list", { name: "Conversation" })).not.toContainText("And now in {{language}}");
    });

    if (javaScriptEnabled) {
      test("cannot be confirmed while the same prompt is being sent", async ({ page, trouble }) => {
        trouble.expects(new RegExp(`status of 409.*${endpoints.source}`));
        const sendAnyway = page.getByRole("button", { name: "Send anyway" });
        await open(page, NEW_JOB);
        await prompt(page).fill(`${unique("Translate")} into {{language}}`);
        await page.getByRole("button", { name: "Start job" }).click();
        await expect(sendAnyway).toBeEnabled();
        const release = await delay(page, "**/api/jobs/create");
        await page.getByRole("button", { name: "Start job" }).click();
        await expect(page.getByRole("button", { name: "Starting…" })).toBeDisabled();
        await expect(sendAnyway).toBeDisabled();
        release();
        await expect(page.getByRole("button", { name: "Start job" })).toBeEnabled();
        await sendAnyway.click();
        await jobOf(page);
      });
    }

    test("needs no confirmation after all fields are filled", async ({ page, trouble }) => {
      if (javaScriptEnabled) trouble.expects(new RegExp(`status of 409.*${endpoints.source}`));
      const name = unique("Translate");
      await saveTemplate(page, name, `${name}: from {{source}} into {{language}}`);
      await entry(page, name).getByRole("link", { name: /^Use / }).first().click();
      if (javaScriptEnabled) await interactive(page);
      await page.getByRole("button", { name: "Start job" }).click();
      await expect(page.getByRole("alert").filter({ hasText: "{{source}}" })).toBeVisible();
      await expect(page.getByRole("button", { name: "Send anyway" })).toBeVisible();
      await filling(page).getByLabel("source").fill("Danish");
      if (javaScriptEnabled) {
        await expect(page.getByRole("button", { name: "Send anyway" }), "one is left").toBeVisible();
      }
      await filling(page).getByLabel("language").fill("Finnish");
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Fill in the prompt" }).click();
      await expect(prompt(page)).toHaveValue(`${name}: from Danish into Finnish`);
      await expect(page.getByRole("alert").filter({ hasText: "{{source}}" })).toHaveCount(0);
      await expect(page.getByRole("button", { name: "Send anyway" })).toBeHidden();
      await page.getByRole("button", { name: "Start job" }).click();
      await jobOf(page);
    });

    test("is listed in the preview of a batch", async ({ page }) => {
      await page.goto(at("/jobs/batch"));
      if (javaScriptEnabled) await interactive(page);
      await page.getByLabel("Prompt template").fill("Translate {{page}} into {{ the language }}");
      await page.getByLabel("Values, one line per job").fill("/a\n/b");
      await page.getByRole("button", { name: "Preview" }).click();
      await expect(page.getByText("Fill in {{the language}} first.")).toBeVisible();
      await expect(page.getByRole("button", { name: "Start batch for 2 pages anyway" })).toBeVisible();
    });
  });
}

test("viewer reads templates and has no controls to change them", async ({ serve, visit }) => {
  const viewer = { username: "victor", password: "reads-only-1", role: "viewer" } as const;
  const docket = await serve({ people: [viewer] });
  const administrator = await visit(docket, { storageState: docket.session });
  await saveTemplate(administrator, "Check a page", "Check {{page}}");
  const page = await visit(docket, { as: viewer });
  await open(page, TEMPLATES);
  await expect(entry(page, "Check a page")).toContainText("No runs yet");
  await expect(entry(page, "Check a page").getByRole("link")).toHaveCount(0);
  await expect(page.getByText("Delete…")).toHaveCount(0);
  await expect(page.getByRole("link", { name: "New template" })).toHaveCount(0);
});
