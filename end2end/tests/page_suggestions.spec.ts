/** Known pages are suggested in fields for paths, and the page of a template is a page of its job. */
import { at, expect, jobOf, open, opener, test } from "../fixtures/docket.ts";
import { saveTemplate, unique } from "../fixtures/templates.ts";

test("pages of the daily history are suggested while typing", async ({ page }) => {
  await open(page, at("/jobs/new"));
  const pages = page.getByLabel("Pages");
  const suggested = () => page.locator("#known-pages option").evaluateAll((all) => all.map((it) => (it as HTMLOptionElement).value));
  await pages.pressSequentially("/guides/migrate-sec");
  await expect.poll(suggested).toEqual(["/guides/migrate-secrets"]);
  await pages.fill("/quickstart, MIGRATE-SEC");
  await expect.poll(suggested, "the last path is completed").toEqual(["/quickstart, /guides/migrate-secrets"]);
  await pages.fill("/quickstart, 100%");
  await expect.poll(suggested, "no pattern").toEqual([]);
  await pages.fill("/guides/");
  await expect.poll(async () => (await suggested()).length).toBeGreaterThan(1);
  expect((await suggested()).length).toBeLessThanOrEqual(10);
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    test.use({ javaScriptEnabled });
    const goTo = opener(javaScriptEnabled);

    test("page of a template is a page of its job", async ({ page, api }) => {
      const template = unique("Check");
      await saveTemplate(page, template, "Check {{page}} against the product.");
      await goTo(page, at("/templates"));
      await page.getByRole("link", { name: `Use ${template}`, exact: true }).click();
      const field = page.getByRole("textbox", { name: "page", exact: true }).or(page.getByRole("combobox", { name: "page", exact: true }));
      const pages = page.getByLabel("Pages", { exact: true });
      await field.fill("/faq/unknown-page");
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Fill in the prompt" }).click();
      await expect(pages).toHaveValue("/faq/unknown-page");
      if (javaScriptEnabled) {
        await field.fill("/faq/another");
        await expect(pages).toHaveValue("/faq/another");
      }
      const path = await pages.inputValue();
      await page.getByRole("button", { name: "Start job" }).click();
      const job = await api.job(await jobOf(page));
      expect(job.paths).toContain(path);
      expect(job.prompt).toContain(path);
    });

    test("Enter in the field for pages starts no job", async ({ page, api }) => {
      const text = unique("Check the pages");
      await goTo(page, at("/jobs/new"));
      let posts = 0;
      page.on("request", (request) => (posts += request.url().endsWith("/api/jobs/create") ? 1 : 0));
      await page.getByLabel("Prompt").fill(text);
      const pages = page.getByLabel("Pages", { exact: true });
      await pages.pressSequentially("/quickstart");
      await pages.press("Enter");
      await expect(pages).toHaveValue(javaScriptEnabled ? "/quickstart, " : "/quickstart");
      if (javaScriptEnabled) {
        await pages.pressSequentially("/installation");
        await pages.press("Enter");
        await expect(pages).toHaveValue("/quickstart, /installation, ");
        await pages.press("Enter");
        await expect(pages, "there is no page to add").toHaveValue("/quickstart, /installation, ");
        await expect(page).toHaveURL(at("/jobs/new"));
        expect(posts).toBe(0);
        await pages.press("Control+Enter");
      } else {
        await expect(page).toHaveURL(at("/jobs/new"));
        expect(posts).toBe(0);
        await page.getByRole("button", { name: "Start job" }).click();
      }
      const { paths } = await api.job(await jobOf(page));
      expect(paths.toSorted()).toEqual(javaScriptEnabled ? ["/installation", "/quickstart"] : ["/quickstart"]);
    });

    test("page in no list of known pages gets a hint", async ({ page }) => {
      const hint = page.getByText("Not in the list of known pages: /guides/serach.");
      await goTo(page, `${at("/jobs/new")}?path=/guides/serach`);
      await expect(hint).toBeVisible();
      if (!javaScriptEnabled) return;
      const pages = page.getByLabel("Pages", { exact: true });
      await pages.fill("/quickstart");
      await pages.blur();
      await expect(hint).toBeHidden();
      await pages.fill("/quickstart, /guides/serach");
      await pages.press("Enter");
      await expect(hint).toBeVisible();
    });

    test("page with a comma is one page", async ({ page, api }) => {
      // Another page for each, because jobs about the same one are similar.
      const path = `/faq/this,that-${javaScriptEnabled}`;
      const template = unique("Check");
      await saveTemplate(page, template, "Check {{page}} against the product.");
      await goTo(page, at("/templates"));
      await page.getByRole("link", { name: `Use ${template}`, exact: true }).click();
      const field = page.getByRole("textbox", { name: "page", exact: true }).or(page.getByRole("combobox", { name: "page", exact: true }));
      await field.fill(path);
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Fill in the prompt" }).click();
      await expect(page.getByLabel("Pages", { exact: true })).toHaveValue(path.replace(",", "%2C"));
      await page.getByRole("button", { name: "Start job" }).click();
      expect((await api.job(await jobOf(page))).paths).toEqual([path]);
    });

    test("published URL and other spellings mean the page of the history", async ({ page, api }) => {
      const [mentioned, typed] = javaScriptEnabled ? ["/guides/migrate-secrets", "/quickstart"] : ["/guides/migrate-webhooks", "/pricing"];
      await goTo(page, at("/jobs/new"));
      await page.getByLabel("Prompt").fill(`Compare them: https://docs.example.com${mentioned}/?tab=2`);
      if (javaScriptEnabled) await expect(page.locator("#detected")).toHaveText(`Detected in prompt: ${mentioned}`);
      await page.getByLabel("Pages", { exact: true }).fill(`${typed.toUpperCase()}/, HTTPS://docs.example.com${mentioned}`);
      await page.getByRole("button", { name: "Start job" }).click();
      expect((await api.job(await jobOf(page))).paths).toEqual([mentioned, typed].toSorted());
    });
  });
}

test("Ctrl+Enter in the field of a template starts the job", async ({ page, api }) => {
  const template = unique("Check");
  await saveTemplate(page, template, "Check {{page}} against the product.");
  await open(page, at("/templates"));
  await page.getByRole("link", { name: `Use ${template}`, exact: true }).click();
  const field = page.getByRole("textbox", { name: "page", exact: true }).or(page.getByRole("combobox", { name: "page", exact: true }));
  await field.fill("/faq/ctrl-enter");
  await field.press("Control+Enter");
  expect((await api.job(await jobOf(page))).paths).toEqual(["/faq/ctrl-enter"]);
});
